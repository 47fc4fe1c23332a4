//! The explanation of a drive as data.

use serde::ser::{Serialize, SerializeStruct as _, Serializer};

use super::value::{Fact, Value, serialize_value};
use crate::section::SourceEntry;

/// The parts of a drive and the limits that follow from them.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Explanation {
    /// As the user typed it.
    pub target: String,
    /// `flash`, `disk` or `volume`.
    pub kind: &'static str,
    /// Maker and model.
    pub model: String,
    /// Such as `50 nm MLC flash`.
    pub technology: String,
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Smallest unit of address.
    pub sector_bytes: u32,
    /// Its past, in words.
    pub state: String,
    /// Its layers, from the host to the medium.
    pub layers: Vec<LayerBox>,
    /// How fast it can be at most, before use slows it down.
    pub ceilings: Vec<Ceiling>,
    /// How long some things take.
    pub times: Vec<Fact>,
    /// What an X-ray of it should find, by the keys of its table; only for generated drives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<Fact>,
    /// Why it is slower than it could be: names of the causes that are at work, as a diagnosis should give them.
    pub causes: Vec<&'static str>,
    /// Parameters that no source was found for.
    pub parameters_assumed: usize,
    /// Every parameter with its source.
    pub sources: Vec<SourceEntry>,
}

/// A layer of a drive.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct LayerBox {
    /// Its name.
    pub name: String,
    /// What it does, in a sentence.
    pub description: String,
    /// Its figures.
    pub facts: Vec<Fact>,
    /// Its picture, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub picture: Option<Picture>,
}

impl LayerBox {
    pub(crate) fn new(name: &str, description: &str, facts: Vec<Fact>) -> Self {
        Self { name: name.into(), description: description.into(), facts, picture: None }
    }
}

/// The picture of a layer.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Picture {
    /// Dies on the channels that they share.
    Dies {
        /// Channels.
        channels: u32,
        /// Dies on each.
        dies_per_channel: u32,
    },
    /// Rates of equal parts of the address space, ordered by address, in bytes a second.
    BytesPerSByAddress(Vec<f64>),
}

/// How fast something can be at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// What is done: `sequential read` …
    pub rate_name: &'static str,
    /// The rated or reviewed speed.
    pub advertised: Option<Value>,
    /// What bounds it; one at least, all in the same unit.
    pub bounds: Vec<Bound>,
}

impl Ceiling {
    /// A step that takes no time limits nothing.
    pub(crate) fn new(rate_name: &'static str, mut bounds: Vec<Bound>) -> Self {
        bounds.retain(|bound| bound.value.number().is_some_and(f64::is_finite));
        assert!(!bounds.is_empty(), "something bounds everything");
        Self { rate_name, advertised: None, bounds }
    }

    /// The lowest bound, which is the ceiling.
    pub fn limit(&self) -> &Bound {
        let key = |bound: &&Bound| bound.value.number().unwrap_or(f64::INFINITY);
        self.bounds.iter().min_by(|a, b| key(a).total_cmp(&key(b))).expect("one bound at least")
    }

    /// The advertised rate over the ceiling.
    pub fn advertised_share(&self) -> Option<f64> {
        Some(self.advertised.as_ref()?.number()? / self.limit().value.number()?)
    }
}

impl Serialize for Ceiling {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut fields = out.serialize_struct("Ceiling", 7)?;
        fields.serialize_field("of", self.rate_name)?;
        serialize_value(&self.limit().value, &mut fields)?;
        fields.serialize_field("limited_by", &self.limit().bottleneck)?;
        fields.serialize_field("advertised", &self.advertised.as_ref().and_then(Value::number))?;
        fields.serialize_field("bounds", &self.bounds)?;
        fields.end()
    }
}

/// What bounds a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// The layer.
    pub bottleneck: String,
    /// How it arises.
    pub method: String,
    /// The rate.
    pub value: Value,
}

impl Bound {
    pub(crate) fn new(bottleneck: &str, method: impl Into<String>, value: Value) -> Self {
        Self { bottleneck: bottleneck.into(), method: method.into(), value }
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut fields = out.serialize_struct("Bound", 5)?;
        fields.serialize_field("by", &self.bottleneck)?;
        fields.serialize_field("method", &self.method)?;
        serialize_value(&self.value, &mut fields)?;
        fields.end()
    }
}
