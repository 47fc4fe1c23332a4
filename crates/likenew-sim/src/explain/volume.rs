//! Explains a cloud volume, for [`explain`](super::explain).

use likenew_core::quantity::Iops;
use likenew_core::units::{Nanos, amount};

use super::{
    Bound, Ceiling, Fact, LayerBox, Parts, RANDOM_READ, RANDOM_WRITE, SEQUENTIAL_READ, SEQUENTIAL_WRITE,
    Value, wording,
};
use crate::explain::flash::{RANDOM_BYTES, link, link_iops};
use crate::spec::Spec;
use crate::state::State;
use crate::timeline::transfer_time;
use crate::volume::VolumeParameters;

pub(super) fn explain(volume: &VolumeParameters, spec: &Spec) -> Parts {
    let trims = spec.trim.unwrap_or(volume.trims);
    let layers = vec![link(&volume.link), bucket(volume), throughput(volume), store(volume, trims)];
    let transfers = transfer_time(RANDOM_BYTES, volume.bytes_per_s)
        + transfer_time(RANDOM_BYTES, volume.link.bytes_per_s);
    let mut times = vec![Fact::new(wording::IO_ALONE, Value::Span(volume.latency.median + transfers))];
    if let Some(span) = volume.credits.burst_span() {
        times.push(Fact::new(wording::BURST_SPAN, Value::Span(span)));
        times.push(Fact::new(wording::REFILL_SPAN, Value::Span(volume.credits.refill_span())));
    }
    Parts {
        state: crate::wording::volume_past(spec.state).into(),
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
        Fact::new(wording::ONE_IO, Value::Bytes(counting.io_bytes)),
        Fact::new(
            wording::MERGED_IOS,
            Value::text(wording::merged_ios(
                counting.io_bytes,
                counting.small_io_bytes,
                counting.small_merge_bytes,
            )),
        ),
    ];
    LayerBox::new("burst credits", wording::credits(credits.burst_span().is_some()), facts)
}

fn throughput(volume: &VolumeParameters) -> LayerBox {
    let facts = vec![
        Fact::new("rate", Value::BytesPerSecond(volume.bytes_per_s as f64)),
        Fact::new(
            wording::LARGEST_IO,
            Value::Span(transfer_time(volume.counting.io_bytes, volume.bytes_per_s)),
        ),
    ];
    LayerBox::new("throughput limit", wording::THROUGHPUT, facts)
}

fn store(volume: &VolumeParameters, trims: bool) -> LayerBox {
    let facts = vec![
        Fact::new("latency, median", Value::Span(volume.latency.median)),
        Fact::new("p99 latency", Value::Span(volume.latency.p99)),
        Fact::new("latency, mean", Value::Span(Nanos(volume.latency.mean_ns() as u64))),
        Fact::new("distribution", Value::text("log-normal")),
        Fact::new("TRIM", Value::text(wording::volume_trim(trims))),
    ];
    LayerBox::new("store", wording::STORE, facts)
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
            format!("{reason}, {} × {}", Iops(iops as f64), amount(io_bytes)),
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
            wording::store_limit(slots),
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
