//! Metrics as text, and the media types that it has.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::families::{Family, families};
use crate::fleet::Fleet;

/// A media type of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// As a reader asks for it: `text/plain`.
    pub essence: &'static str,
    /// As the answer names it, with version and charset.
    pub content_type: &'static str,
}

/// What the text can be called, the better one first.
pub const FORMATS: [MediaType; 2] = [
    MediaType {
        essence: "application/openmetrics-text",
        content_type: "application/openmetrics-text; version=1.0.0; charset=utf-8",
    },
    MediaType { essence: "text/plain", content_type: "text/plain; version=0.0.4; charset=utf-8" },
];

/// The metrics of a fleet.
pub fn text(fleet: &Fleet) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(families(fleet))));
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes everything");
    text
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in self.0.iter().filter(|family| !family.samples.is_empty()) {
            let unit = family.unit.map(|unit| Unit::Other(unit.to_owned()));
            // Information is a gauge of 1, because the older format has no type for it.
            let mut metrics =
                encoder.encode_descriptor(&family.name, &family.help, unit.as_ref(), MetricType::Gauge)?;
            for (labels, value) in &family.samples {
                metrics.encode_family(labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}
