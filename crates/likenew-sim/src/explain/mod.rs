//! Explains the parts of a drive and the limits that follow from them, in words and numbers, without making
//! the drive.

mod cluster_map;
mod compressing_map;
mod disk;
pub mod explanation;
mod flash;
mod flash_times;
mod page_map;
mod slc_cache;
pub mod value;
mod volume;
mod wording;

use crate::facts;
use crate::model::{Mechanism, Model, RatedSpeeds};
use crate::spec::Spec;
use crate::spec::parameters::{faults, with_cache};
use explanation::{Ceiling, Explanation, LayerBox};
use value::{Fact, Value};

/// The explanation of one kind of drive.
struct Parts {
    state: String,
    layers: Vec<LayerBox>,
    ceilings: Vec<Ceiling>,
    times: Vec<Fact>,
}

fn parts(spec: &Spec, model: &Model) -> Parts {
    match &model.mechanism {
        Mechanism::Flash(flash) => flash::explain(flash, facts::flash_state(spec, flash), spec),
        Mechanism::Disk(disk) => disk::explain(&with_cache(spec, *disk), &facts::disk_state(spec, disk)),
        Mechanism::Volume(volume) => volume::explain(volume, spec),
    }
}

/// Explains the drive that a spec asks for. What a measurement should find, and why it is slow, is left open: that
/// follows from the [truth](crate::truth).
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
    for (name, of) in [(wording::READ_ALL, SEQUENTIAL_READ), (wording::WRITE_ALL, SEQUENTIAL_WRITE)] {
        if let Some(Value::BytesPerSecond(rate)) = limit(of).map(|bound| bound.value.clone())
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

/// What limits reading a drive sequentially, its own link among the limits.
pub(crate) fn sequential_read_bytes_per_s(spec: &Spec, model: &Model) -> f64 {
    let parts = parts(spec, model);
    let ceiling = parts.ceilings.iter().find(|ceiling| ceiling.rate_name == SEQUENTIAL_READ);
    ceiling.and_then(|ceiling| ceiling.limit().value.number()).unwrap_or(f64::INFINITY)
}

const SEQUENTIAL_READ: &str = "sequential read";
const SEQUENTIAL_WRITE: &str = "sequential write";
const RANDOM_READ: &str = "random 4 KiB read";
const RANDOM_WRITE: &str = "random 4 KiB write";

/// Published figures of a new drive.
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
