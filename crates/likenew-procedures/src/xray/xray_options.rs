//! The settings of an X-ray, and which of them make sense.

use likenew_core::target::Geometry;
use likenew_core::units::{amount, size_text};
use serde::{Deserialize, Serialize};

use super::EXPERIMENTS;

/// The settings of an X-ray.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct XrayOptions {
    /// Bytes of address space, from the start of the drive; all of it where this is not said.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Bytes that are written at most; four times the span where this is not said.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// The probes that are asked; all of them where none is named. Some need what others find.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

impl XrayOptions {
    /// The span of a folder, where nothing else is said.
    pub const SPAN_OF_FOLDER: u64 = 1 << 30;
    /// Less than this shows nothing.
    pub const SPAN_LEAST: u64 = 16 << 20;
    /// So many times the span may be written, where nothing else is said.
    const SPANS_WRITTEN: u64 = 4;

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|probe| probe.name()).collect();
        match self.only.iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => {
                Err(format!("only = \"{name}\": there is no such probe; there are {}", names.join(", ")))
            }
            None => Ok(()),
        }
    }

    /// Whether this probe is asked. What only makes ground for others always is.
    pub(super) fn is_wanted(&self, probe: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == probe) || super::is_groundwork(probe)
    }

    /// Bytes that may be written in all.
    pub(super) fn budget(&self, span: u64) -> u64 {
        self.bytes.unwrap_or(Self::SPANS_WRITTEN * span)
    }

    /// Bytes of address space on a drive.
    ///
    /// # Errors
    /// A sentence, when there is too little.
    pub(super) fn span_on(&self, geometry: &Geometry) -> Result<u64, String> {
        let capacity = geometry.capacity - geometry.capacity % (1 << 20);
        let span = self.span.unwrap_or(capacity);
        if span > geometry.capacity {
            let (span, capacity) = (amount(span), amount(geometry.capacity));
            return Err(format!(
                "a span of {span} is more than the {capacity} there are: give a smaller one"
            ));
        }
        if span < Self::SPAN_LEAST {
            let (span, least) = (amount(span), amount(Self::SPAN_LEAST));
            return Err(format!("{span} are too little to look into: give at least {least}"));
        }
        Ok(span - span % u64::from(geometry.block.max(4096)))
    }
}
