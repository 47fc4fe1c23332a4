//! The settings of an X-ray, and which of them make sense.

use likenew_core::target::Geometry;
use likenew_core::units::size_text;
use likenew_procedure_support::wording::span_too_large;
use serde::{Deserialize, Serialize};

use super::{EXPERIMENTS, wording};

/// The settings of an X-ray.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct XrayOptions {
    /// Bytes of address space, from the start of the drive; all of it by default.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Most bytes to write; by default four times the span.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// The tests to run; all of them by default. Some need what others find.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

impl XrayOptions {
    /// Default span of a folder.
    pub const SPAN_OF_FOLDER: u64 = 1 << 30;
    /// A smaller span shows nothing.
    pub const SPAN_LEAST: u64 = 16 << 20;
    /// Default limit of writes, in spans.
    const SPANS_WRITTEN: u64 = 4;

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|probe| probe.name()).collect();
        match self.only.iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(wording::no_such_test(name, &names)),
            None => Ok(()),
        }
    }

    /// Whether this test runs. Tests that prepare the drive for others always do.
    pub(super) fn is_wanted(&self, probe: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == probe) || super::is_groundwork(probe)
    }

    /// Most bytes to write in all.
    pub(super) fn budget(&self, span: u64) -> u64 {
        self.bytes.unwrap_or(Self::SPANS_WRITTEN * span)
    }

    /// Bytes of address space on a drive.
    ///
    /// # Errors
    /// A sentence, when there are too few.
    pub(super) fn span_on(&self, geometry: &Geometry) -> Result<u64, String> {
        let capacity = geometry.capacity - geometry.capacity % (1 << 20);
        let span = self.span.unwrap_or(capacity);
        if span > geometry.capacity {
            return Err(span_too_large(span, geometry.capacity, 1 << 20));
        }
        if span < Self::SPAN_LEAST {
            return Err(wording::span_too_short(span, Self::SPAN_LEAST));
        }
        Ok(span - span % u64::from(geometry.block.max(4096)))
    }
}
