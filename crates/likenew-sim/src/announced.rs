//! Facts of a simulated drive: what its layers announce and its counters count, as a real drive does. Nothing of what it is made of.

use likenew_core::counters::Counters;
use likenew_core::drive::Drive as _;
use likenew_core::facts::{Drive, DriveKind, Fact, Facts, Hop, Layer, LayerKind, Link};
use likenew_core::trim;

use crate::sim_drive::SimDrive;

/// Where everything here comes from.
const ORIGIN: &str = "announced by the simulated drive";
const SILENT: &str = "a simulated drive says nothing of it";

/// What it announces.
pub(crate) fn announced(drive: &mut SimDrive) -> Facts {
    let counters = drive.counters();
    let path = drive.trim_path();
    let count = path.layers.len();
    let names: Vec<String> =
        path.layers.iter().enumerate().map(|(at, layer)| name(layer, at, count)).collect();
    let layers = path.layers.iter().enumerate().map(|(at, announced)| {
        let layer = layer(announced, names[at].clone(), names.get(at + 1));
        if at + 1 == count { bottom(drive, layer) } else { layer }
    });
    Facts { stack: layers.collect(), drives: vec![of_drive(drive, counters)], ..Facts::default() }
}

/// The drive itself is called as it is everywhere; what lies above it by what it is.
fn name(layer: &trim::Layer, at: usize, count: usize) -> String {
    if at + 1 == count { DRIVE.to_owned() } else { layer.kind.clone() }
}

const DRIVE: &str = "drive";

fn layer(announced: &trim::Layer, name: String, below: Option<&String>) -> Layer {
    Layer {
        name,
        kind: LayerKind::Other,
        on: below.cloned().into_iter().collect(),
        label: Fact::known(announced.kind.clone(), ORIGIN),
        takes_trim: Fact::of(announced.passes, SILENT, ORIGIN),
        ..Layer::default()
    }
}

fn bottom(drive: &SimDrive, layer: Layer) -> Layer {
    let geometry = drive.geometry();
    Layer {
        kind: LayerKind::Disk,
        capacity_bytes: Fact::known(geometry.capacity, ORIGIN),
        logical_block_bytes: Fact::known(geometry.block.into(), ORIGIN),
        rotates: Fact::of(drive.trim_path().rotates, SILENT, ORIGIN),
        ..layer
    }
}

fn of_drive(drive: &SimDrive, counters: Option<Counters>) -> Drive {
    let (identity, health) = (drive.identity(), drive.health());
    let mut facts = Drive { name: DRIVE.to_owned(), kind: DriveKind::Simulated, ..Drive::default() };
    facts.identity.model = Fact::of(identity.model, SILENT, ORIGIN);
    facts.identity.capacity_bytes = Fact::known(identity.capacity_bytes, ORIGIN);
    facts.identity.knows_trim =
        Fact::of(drive.trim_path().layers.last().and_then(|layer| layer.passes), SILENT, ORIGIN);
    facts.link = link(drive.link_bytes_per_s());
    facts.health.failing = Fact::unknown(SILENT, ORIGIN);
    facts.health.temperature_c = Fact::of(health.temperature_c, SILENT, ORIGIN);
    facts.health.throttling = Fact::of(health.throttling, SILENT, ORIGIN);
    facts.health.used_percent = Fact::unknown(SILENT, ORIGIN);
    let throttled = drive.throttled();
    let seconds = throttled.map(|throttled| throttled.time.0 / 1_000_000_000);
    facts.counts.throttled_light_s = Fact::of(seconds, SILENT, ORIGIN);
    facts.counts.throttled_light_times = Fact::of(throttled.map(|throttled| throttled.times), SILENT, ORIGIN);
    if let Some(counters) = counters {
        let known = |count| Fact::known(count, ORIGIN);
        facts.counts.reads = known(counters.reads);
        facts.counts.writes = known(counters.writes);
        facts.counts.bytes_read = known(counters.bytes_read);
        facts.counts.bytes_written = known(counters.bytes_written);
        facts.counts.discards = Fact::of(counters.discards, SILENT, ORIGIN);
        facts.counts.bytes_discarded = Fact::of(counters.bytes_discarded, SILENT, ORIGIN);
        facts.counts.flushes = Fact::of(counters.flushes, SILENT, ORIGIN);
        facts.counts.busy_ms = known(counters.busy.0 / 1_000_000);
    }
    facts
}

/// One part, at its best as it is.
fn link(bytes_per_s: u64) -> Link {
    let known = || Fact::known(bytes_per_s, ORIGIN);
    let hop = Hop {
        name: DRIVE.to_owned(),
        what: "the drive".to_owned(),
        bytes_per_s: known(),
        bytes_per_s_max: known(),
        ..Hop::default()
    };
    Link {
        bus: Fact::known("simulated".to_owned(), ORIGIN),
        hops: vec![hop],
        ceiling_bytes_per_s: known(),
        possible_bytes_per_s: known(),
        ..Link::default()
    }
}
