//! When a workload ends.

use serde::{Deserialize, Serialize};

use crate::units::{Nanos, duration_text, size_text};

/// Ends a workload at the first bound that is reached. A workload with streams has at least one bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// No I/O is issued after this much of the target's time.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub elapsed: Option<Nanos>,
    /// This many I/Os are issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
    /// I/Os are issued until they come to at least so many bytes.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
}

impl Until {
    /// After this much time.
    pub fn elapsed(span: Nanos) -> Self {
        Self { elapsed: Some(span), ..Self::default() }
    }

    /// After this many I/Os.
    pub fn ops(ops: u64) -> Self {
        Self { ops: Some(ops), ..Self::default() }
    }

    /// After this many bytes.
    pub fn bytes(bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..Self::default() }
    }
}
