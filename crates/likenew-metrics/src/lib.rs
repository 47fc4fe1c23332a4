//! The state of drives as metrics, in a text that Prometheus reads from a server and node_exporter from a file.
//!
//! The text is OpenMetrics, and uses only what the older text format of Prometheus has, too: every family is a gauge, so that the
//! same bytes serve readers of both. Labels are few and bounded, and none has a serial number.

mod exposition;
mod families;
mod fleet;
mod wording;

pub use exposition::{FORMATS, MediaType, text};
pub use families::{FamilyName, family_names};
pub use fleet::{Attempt, Fleet};
