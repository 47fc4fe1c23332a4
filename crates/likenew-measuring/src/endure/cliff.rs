//! Where the writes of a test fell.

/// The fall of a test from its fastest loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cliff<'a> {
    pub(super) test: &'a str,
    /// Bytes written when it begins.
    pub(super) at_bytes: u64,
    /// Bytes a second of the fastest loop …
    pub(super) peak: f64,
    /// … and of what is left after the fall.
    pub(super) low: f64,
}

impl Cliff<'_> {
    /// What is left of the peak, in 0..1.
    pub(super) fn share(&self) -> f64 {
        (self.low / self.peak).min(1.0)
    }
}
