//! Explains a hard disk, for [`explain`](super::explain).

use likenew_core::units::Nanos;

use super::{
    Bound, Ceiling, Fact, LayerBox, Parts, Picture, RANDOM_READ, SEQUENTIAL_READ, SEQUENTIAL_WRITE, Value,
    wording,
};
use crate::disk::DiskParameters;
use crate::disk::arm::Platters;
use crate::disk::shingles::ShingleParameters;
use crate::explain::flash::link;
use crate::timeline::transfer_time;

/// Number of equal parts of the address space for which a rate is shown.
const PARTS: u64 = 32;

pub(super) fn explain(disk: &DiskParameters, state: &str) -> Parts {
    let platters = Platters::new(disk.platters);
    let whole = Nanos(platters.place(platters.sectors() - 1).end);
    let bytes = platters.sectors() * u64::from(disk.platters.sector_bytes);
    let passing = whole.max(transfer_time(bytes, disk.link.bytes_per_s));
    let access = disk.command + disk.read_seek.average + Nanos(disk.platters.revolution.0 / 2);
    let mut layers = vec![link(&disk.link), firmware(disk), cache(disk)];
    layers.extend(disk.shingles.as_ref().map(|shingles| shingle_box(shingles, disk.platters.sector_bytes)));
    layers.extend([arm(disk), surface(disk, &platters, whole)]);
    let times = vec![
        Fact::new(wording::RANDOM_READ_ALONE, Value::Span(access)),
        Fact::new(
            wording::RANDOM_WRITE_ALONE,
            Value::Span(disk.command + disk.write_seek.average + Nanos(disk.platters.revolution.0 / 2)),
        ),
        Fact::new(wording::READ_ALL, Value::Span(passing)),
        Fact::new(wording::WRITE_ALL, Value::Span(passing)),
    ];
    Parts { state: state.into(), layers, ceilings: ceilings(disk, access), times }
}

fn firmware(disk: &DiskParameters) -> LayerBox {
    let facts = vec![
        Fact::new("command", Value::Span(disk.command)),
        Fact::new("TRIM", Value::text("not supported")),
    ];
    LayerBox::new("firmware", wording::ONE_COMMAND, facts)
}

fn cache(disk: &DiskParameters) -> LayerBox {
    let facts = vec![
        Fact::new(wording::CACHE_MEMORY, Value::Bytes(disk.memory_bytes)),
        Fact::new("read-ahead", Value::Bytes(disk.segment_bytes)),
        Fact::new(wording::CACHE_PLACES, Value::Count(disk.segments.into())),
        Fact::new("write cache", Value::Bytes(disk.write_cache_bytes)),
        Fact::new(wording::CACHED_WRITES_MAX, Value::Count(disk.write_cache_extents.into())),
    ];
    LayerBox::new("cache", wording::disk_cache(disk.write_cache_bytes > 0), facts)
}

fn shingle_box(shingles: &ShingleParameters, sector_bytes: u32) -> LayerBox {
    let bytes = |sectors: u64| Value::Bytes(sectors * u64::from(sector_bytes));
    let facts = vec![
        Fact::new("persistent cache", bytes(shingles.log_sectors)),
        Fact::new(wording::SHINGLE_PIECES, Value::Count(shingles.map_entries.into())),
        Fact::new("band", bytes(shingles.band_sectors)),
        Fact::new("cleans", Value::text(wording::cleaning(shingles.idle_after))),
    ];
    LayerBox::new("shingles", wording::SHINGLES, facts)
}

fn arm(disk: &DiskParameters) -> LayerBox {
    let facts = vec![
        Fact::new(wording::TRACK_SEEK, Value::Span(disk.read_seek.track)),
        Fact::new("write", Value::Span(disk.write_seek.track)),
        Fact::new(wording::AVERAGE_SEEK, Value::Span(disk.read_seek.average)),
        Fact::new("write", Value::Span(disk.write_seek.average)),
        Fact::new(wording::FULL_SEEK, Value::Span(disk.read_seek.full)),
        Fact::new("write", Value::Span(disk.write_seek.full)),
        Fact::new("head switch", Value::Span(disk.head_switch)),
    ];
    LayerBox::new("seeks", wording::SEEKS, facts)
}

fn surface(disk: &DiskParameters, platters: &Platters, whole: Nanos) -> LayerBox {
    let revolution = disk.platters.revolution;
    let bytes = (platters.sectors() * u64::from(disk.platters.sector_bytes)) as f64;
    let facts = vec![
        Fact::new("rpm", Value::Count((60e9 / revolution.0 as f64).round() as u64)),
        Fact::new("one revolution", Value::Span(revolution)),
        Fact::new("heads", Value::Count(disk.platters.heads.into())),
        Fact::new("cylinders", Value::Count(platters.cylinders().into())),
        Fact::new("zones", Value::Count(disk.platters.zones.into())),
        Fact::new("outer edge", Value::BytesPerSecond(disk.platters.outer_bytes_per_s as f64)),
        Fact::new("inner edge", Value::BytesPerSecond(disk.platters.inner_bytes_per_s as f64)),
        Fact::new(wording::MEAN_RATE, Value::BytesPerSecond(bytes / whole.as_secs_f64())),
    ];
    let picture = Picture::BytesPerSByAddress(rates(disk, platters));
    LayerBox { picture: Some(picture), ..LayerBox::new("platters and zones", wording::PLATTERS, facts) }
}

/// Mean rate of each part of the address space.
fn rates(disk: &DiskParameters, platters: &Platters) -> Vec<f64> {
    let parts = PARTS.min(platters.sectors());
    let at = |part: u64| (u128::from(platters.sectors()) * u128::from(part) / u128::from(parts)) as u64;
    let rate = |part: u64| {
        let (from, to) = (at(part), at(part + 1));
        let span = platters.place(to - 1).end - platters.place(from).start;
        ((to - from) * u64::from(disk.platters.sector_bytes)) as f64 / Nanos(span).as_secs_f64()
    };
    (0..parts).map(rate).collect()
}

fn ceilings(disk: &DiskParameters, access: Nanos) -> Vec<Ceiling> {
    let wire = Bound::new("host link", "its rate", Value::BytesPerSecond(disk.link.bytes_per_s as f64));
    let outer = Value::BytesPerSecond(disk.platters.outer_bytes_per_s as f64);
    let medium = Bound::new("platters", "the outer edge", outer);
    let alone =
        Bound::new("seeks", format!("1 / {access}, at QD1"), Value::PerSecond(1.0 / access.as_secs_f64()));
    vec![
        Ceiling::new(SEQUENTIAL_READ, vec![wire.clone(), medium.clone()]),
        Ceiling::new(SEQUENTIAL_WRITE, vec![wire, medium]),
        Ceiling::new(RANDOM_READ, vec![crate::explain::flash::link_iops(&disk.link), alone]),
    ]
}
