//! Explains the parts of a drive and the limits that follow from them, in words and numbers, without making
//! the drive. `likenew sim show` and reports show the result.

mod mechanisms;
mod wording;

use serde::{Serialize, Serializer};

use crate::drive_file::SourceEntry;
use crate::facts;
use crate::model::{Mechanism, Model, RatedSpeeds};
use crate::spec::{Spec, faults, with_cache};
use mechanisms::{explain_disk, explain_flash, explain_volume};

pub use crate::value::{Fact, Value};

/// What the explanations of flash, disk and volume have in common.
struct Parts {
    state: String,
    layers: Vec<LayerBox>,
    ceilings: Vec<Ceiling>,
    times: Vec<Fact>,
}

fn parts(spec: &Spec, model: &Model) -> Parts {
    match &model.mechanism {
        Mechanism::Flash(flash) => explain_flash(flash, facts::flash_state(spec, flash), spec),
        Mechanism::Disk(disk) => explain_disk(&with_cache(spec, *disk), &facts::disk_state(spec, disk)),
        Mechanism::Volume(volume) => explain_volume(volume, spec),
    }
}

/// Explains the drive of a spec. `inside` and `causes` stay empty; [`truth`](crate::truth) fills them.
pub(crate) fn explain(spec: &Spec, own: &Model) -> Explanation {
    let model = &spec.in_situation(own);
    let mut parts = parts(spec, model);
    if let Some(faults) = faults(spec, model) {
        let facts = faults.describe().into_iter().map(|(name, what)| Fact::new(name, Value::Text(what)));
        parts.layers.insert(0, LayerBox::new("faults", wording::FAULTS, facts.collect()));
    }
    let met = model.situations.describe();
    if !met.is_empty() {
        let facts = met.into_iter().map(|(name, what)| Fact::new(name, Value::Text(what)));
        parts.layers.insert(0, LayerBox::new("situations", wording::SITUATIONS, facts.collect()));
    }
    let limit = |rate_name: &str| {
        parts.ceilings.iter().find(|ceiling| ceiling.rate_name == rate_name).map(Ceiling::limit)
    };
    for (name, rate_name) in [(wording::READ_ALL, SEQUENTIAL_READ), (wording::WRITE_ALL, SEQUENTIAL_WRITE)] {
        if let Some(Value::BytesPerSecond(rate)) = limit(rate_name).map(|bound| bound.value.clone())
            && !parts.times.iter().any(|time| time.name == name)
        {
            parts.times.push(Fact::new(name, Value::seconds(model.capacity_bytes as f64 / rate)));
        }
    }
    parts
        .ceilings
        .iter_mut()
        .for_each(|ceiling| ceiling.advertised = advertised_value(&model.advertised, ceiling.rate_name));
    Explanation {
        target: spec.text.clone(),
        kind: model.mechanism.kind(),
        model: model.model.clone(),
        technology: model.technology.clone(),
        capacity_bytes: model.capacity_bytes,
        sector_bytes: model.sector_bytes,
        state: parts.state,
        layers: parts.layers,
        ceilings: parts.ceilings,
        times: parts.times,
        inside: Vec::new(),
        causes: Vec::new(),
        parameters_assumed: model.sources.iter().filter(|sourced| sourced.is_assumed()).count(),
        sources: model.sources.clone(),
    }
}

/// The lowest limit on sequential reads, the drive's link included.
pub(crate) fn sequential_read_bytes_per_s(spec: &Spec, model: &Model) -> f64 {
    let parts = parts(spec, model);
    let ceiling = parts.ceilings.iter().find(|ceiling| ceiling.rate_name == SEQUENTIAL_READ);
    ceiling.and_then(|ceiling| ceiling.limit().value.number()).unwrap_or(f64::INFINITY)
}

const SEQUENTIAL_READ: &str = "sequential read";
const SEQUENTIAL_WRITE: &str = "sequential write";
const RANDOM_READ: &str = "random 4 KiB read";
const RANDOM_WRITE: &str = "random 4 KiB write";

/// The published figure for a new drive, if there is one.
fn advertised_value(advertised: &RatedSpeeds, rate_name: &str) -> Option<Value> {
    let rate = |bytes_per_s: Option<u64>| bytes_per_s.map(|rate| Value::BytesPerSecond(rate as f64));
    let iops = |iops: Option<u64>| iops.map(|iops| Value::PerSecond(iops as f64));
    match rate_name {
        SEQUENTIAL_READ => rate(advertised.read_bytes_per_s),
        SEQUENTIAL_WRITE => rate(advertised.write_bytes_per_s),
        RANDOM_READ => iops(advertised.random_read_iops),
        RANDOM_WRITE => iops(advertised.random_write_iops),
        _ => None,
    }
}

/// The parts of a drive, and the limits that follow from them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The target as the user typed it.
    pub target: String,
    /// `flash`, `disk` or `volume`.
    pub kind: &'static str,
    /// Maker and model.
    pub model: String,
    /// The technology, such as `50 nm MLC flash`.
    pub technology: String,
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// The smallest addressable unit.
    pub sector_bytes: u32,
    /// Its history, in words.
    pub state: String,
    /// Its layers, from the host to the medium.
    pub layers: Vec<LayerBox>,
    /// Upper limits on its speed, before use slows it down.
    pub ceilings: Vec<Ceiling>,
    /// How long some operations take.
    pub times: Vec<Fact>,
    /// What `xray` should find, by the keys of its table; only for generated drives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<Fact>,
    /// Names of the causes of its slowness, as a diagnosis should find them.
    pub causes: Vec<&'static str>,
    /// How many parameters have no source.
    pub parameters_assumed: usize,
    /// Every parameter with its source.
    pub sources: Vec<SourceEntry>,
}

/// A layer of a drive.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LayerBox {
    /// Its name.
    pub name: String,
    /// What it does, in one sentence.
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
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Picture {
    /// Dies and the channels that they share.
    Dies {
        /// Channels.
        channels: u32,
        /// Dies on each channel.
        dies_per_channel: u32,
    },
    /// Rates of equal parts of the address space in bytes per second, ordered by address.
    BytesPerSByAddress(Vec<f64>),
}

/// An upper limit on a rate.
#[derive(Clone, Debug, PartialEq)]
pub struct Ceiling {
    /// The kind of I/O, such as `sequential read`.
    pub rate_name: &'static str,
    /// The rated or reviewed speed.
    pub advertised: Option<Value>,
    /// Everything that limits the rate; at least one bound, all in the same unit.
    pub bounds: Vec<Bound>,
}

impl Ceiling {
    /// A ceiling without the bounds of steps that take no time.
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

    /// The advertised rate as a share of the ceiling.
    pub fn advertised_share(&self) -> Option<f64> {
        Some(self.advertised.as_ref()?.number()? / self.limit().value.number()?)
    }
}

/// A ceiling and its limit, as documents store them.
#[derive(Serialize)]
struct LimitedCeiling<'a> {
    of: &'static str,
    #[serde(flatten)]
    limit: &'a Value,
    limited_by: &'a str,
    advertised: Option<f64>,
    bounds: &'a [Bound],
}

impl Serialize for Ceiling {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let Bound { bottleneck, value, .. } = self.limit();
        let advertised = self.advertised.as_ref().and_then(Value::number);
        let (of, bounds) = (self.rate_name, &self.bounds);
        LimitedCeiling { of, limit: value, limited_by: bottleneck, advertised, bounds }.serialize(out)
    }
}

/// One limit on a rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bound {
    /// The layer that sets it.
    #[serde(rename = "by")]
    pub bottleneck: String,
    /// How it is computed.
    pub method: String,
    /// The rate.
    #[serde(flatten)]
    pub value: Value,
}

impl Bound {
    pub(crate) fn new(bottleneck: &str, method: impl Into<String>, value: Value) -> Self {
        Self { bottleneck: bottleneck.into(), method: method.into(), value }
    }
}
