//! Explains a network volume.

use likenew_core::units::{Nanos, amount};

use super::explanation::{Bound, Ceiling, LayerBox};
use super::flash::{RANDOM_BYTES, link, link_iops};
use super::value::{Fact, Value};
use super::{Parts, RANDOM_READ, RANDOM_WRITE, SEQUENTIAL_READ, SEQUENTIAL_WRITE};
use crate::facts;
use crate::spec::Spec;
use crate::state::State;
use crate::timeline::transfer_time;
use crate::volume::volume_parameters::VolumeParameters;

pub(super) fn explain(volume: &VolumeParameters, spec: &Spec) -> Parts {
    let trims = spec.trim.unwrap_or(volume.trims);
    let layers = vec![link(&volume.link), bucket(volume), throughput(volume), store(volume, trims)];
    let transfers = transfer_time(RANDOM_BYTES, volume.bytes_per_s)
        + transfer_time(RANDOM_BYTES, volume.link.bytes_per_s);
    let mut times =
        vec![Fact::new("a 4 KiB I/O, alone (median)", Value::Span(volume.latency.median + transfers))];
    if let Some(span) = volume.credits.burst_span() {
        times.push(Fact::new("a full bucket lasts, at the burst rate", Value::Span(span)));
        times.push(Fact::new("an empty bucket fills, at rest", Value::Span(volume.credits.refill_span())));
    }
    Parts {
        state: facts::volume_state(spec.state).into(),
        layers,
        ceilings: ceilings(volume, spec.state),
        times,
    }
}

fn bucket(volume: &VolumeParameters) -> LayerBox {
    let (credits, counting) = (volume.credits, volume.counting);
    let facts = vec![
        Fact::new("baseline", Value::PerSecond(credits.baseline_iops as f64)),
        Fact::new("burst", Value::PerSecond(credits.iops_max() as f64)),
        Fact::new("credits when full", Value::Count(credits.credits_max)),
        Fact::new("one I/O at most", Value::Bytes(counting.io_bytes)),
        Fact::new(
            "sequential I/Os are one",
            Value::text(format!(
                "up to {}; those below {} up to {}",
                amount(counting.io_bytes),
                amount(counting.small_io_bytes),
                amount(counting.small_merge_bytes)
            )),
        ),
    ];
    let description = match credits.burst_span() {
        Some(_) => {
            "An I/O takes a credit; credits arrive at the baseline rate. Without credits an I/O waits for one."
        }
        None => "The IOPS that the size of the volume allows, no less than the burst rate.",
    };
    LayerBox::new("burst credits", description, facts)
}

fn throughput(volume: &VolumeParameters) -> LayerBox {
    let facts = vec![
        Fact::new("rate", Value::BytesPerSecond(volume.bytes_per_s as f64)),
        Fact::new(
            "the largest I/O takes",
            Value::Span(transfer_time(volume.counting.io_bytes, volume.bytes_per_s)),
        ),
    ];
    LayerBox::new("throughput limit", "Reads and writes share this throughput.", facts)
}

fn store(volume: &VolumeParameters, trims: bool) -> LayerBox {
    let facts = vec![
        Fact::new("latency, median", Value::Span(volume.latency.median)),
        Fact::new("p99 latency", Value::Span(volume.latency.p99)),
        Fact::new("latency, mean", Value::Span(Nanos(volume.latency.mean_ns() as u64))),
        Fact::new("distribution", Value::text("log-normal")),
        Fact::new("TRIM", Value::text(if trims { "takes effect at once" } else { "is ignored" })),
    ];
    LayerBox::new("store", "Serves all I/Os in parallel; acknowledged writes are durable.", facts)
}

fn ceilings(volume: &VolumeParameters, state: State) -> Vec<Ceiling> {
    let (iops, reason) = match state {
        State::New => (volume.credits.iops_max(), "burst"),
        State::Used => (volume.credits.baseline_iops, "baseline"),
    };
    let io_bytes = volume.counting.io_bytes;
    let large = vec![
        Bound::new("host link", "its rate", Value::BytesPerSecond(volume.link.bytes_per_s as f64)),
        Bound::new("throughput limit", "its rate", Value::BytesPerSecond(volume.bytes_per_s as f64)),
        Bound::new(
            "credits",
            format!("{reason}, {iops}/s × {}", amount(io_bytes)),
            Value::BytesPerSecond(iops as f64 * io_bytes as f64),
        ),
    ];
    let slots = f64::from(volume.link.command_slots);
    let small = vec![
        link_iops(&volume.link),
        Bound::new(
            "throughput limit",
            format!("its rate / {}", amount(RANDOM_BYTES)),
            Value::PerSecond(volume.bytes_per_s as f64 / RANDOM_BYTES as f64),
        ),
        Bound::new("credits", format!("{reason} rate"), Value::PerSecond(iops as f64)),
        Bound::new(
            "store",
            format!("{slots} I/Os in flight / mean latency"),
            Value::PerSecond(slots / (volume.latency.mean_ns() / 1e9)),
        ),
    ];
    vec![
        Ceiling::new(SEQUENTIAL_READ, large.clone()),
        Ceiling::new(SEQUENTIAL_WRITE, large),
        Ceiling::new(RANDOM_READ, small.clone()),
        Ceiling::new(RANDOM_WRITE, small),
    ]
}
