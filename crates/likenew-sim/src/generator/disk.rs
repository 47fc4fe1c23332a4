//! Generates hard disks, conventional and shingled, and network volumes.

use super::parts::{Dice, File, Link, SATA, SATA_EARLY};
use crate::wording::NETWORK_VOLUME;

/// A class of disks, with ranges for its parameters.
struct Class {
    rpm: u64,
    average_seek_ms: (f64, f64),
    outer_mb_per_s: (f64, f64),
    heads: (u64, u64),
}

const CLASSES: [Class; 5] = [
    Class { rpm: 5400, average_seek_ms: (11.0, 13.0), outer_mb_per_s: (60.0, 140.0), heads: (1, 4) },
    Class { rpm: 5900, average_seek_ms: (10.0, 13.0), outer_mb_per_s: (100.0, 190.0), heads: (2, 12) },
    Class { rpm: 7200, average_seek_ms: (8.0, 10.0), outer_mb_per_s: (80.0, 250.0), heads: (1, 10) },
    Class { rpm: 10_000, average_seek_ms: (3.8, 5.0), outer_mb_per_s: (90.0, 200.0), heads: (2, 6) },
    Class { rpm: 15_000, average_seek_ms: (3.2, 3.8), outer_mb_per_s: (100.0, 220.0), heads: (2, 8) },
];

/// The file of a generated disk, and its state.
pub(super) fn draw_disk(dice: &mut Dice, seed: u64, is_shingled: bool) -> (String, String) {
    let class = &CLASSES[dice.integer(0..=if is_shingled { 2 } else { 4 }) as usize];
    let heads = dice.integer(class.heads.0..=class.heads.1);
    let capacity_bytes = heads * dice.steps(60e9, 900e9, 1 << 20);
    let (low, high) = class.outer_mb_per_s;
    let outer = dice.steps(1e6 * low, 1e6 * high, 100_000);
    let link = match outer {
        ..=110_000_000 => Link::draw(dice, &SATA_EARLY),
        _ => Link::draw(dice, &SATA),
    };
    let kind = if is_shingled { "shingled hard disk" } else { "hard disk" };
    let technology = format!("{kind}, {} rpm, {}", class.rpm, link.name);
    let mut file = File::new("disk", seed, &technology, capacity_bytes, 512);
    link.write(&mut file);
    file.table("firmware");
    file.value("command_ns", dice.steps(1e5, 4e5, 1000));
    file.value("aging_per_mille", dice.integer(5..=40));
    write_mechanics(dice, &mut file, class, heads, outer);
    let band = dice.steps(8e6, 40e6, 65_536);
    write_cache(dice, &mut file, is_shingled.then_some(band));
    if is_shingled {
        file.table("shingles");
        file.value("media_cache_bytes", dice.steps(3e8, 2e9, 1 << 20));
        file.value("band_bytes", band);
        file.value("map_entries", dice.steps(4e3, 4e4, 100));
        file.value("append_bytes_max", 1 << 20);
        file.value("header_bytes", 4096);
        file.value("gather_ns", dice.steps(2e7, 1e8, 1_000_000));
        file.value("idle_after_ns", dice.steps(2e8, 3e9, 10_000_000));
    }
    let state = if is_shingled && dice.chance(0.3) { "state=used" } else { "" };
    (file.finish(), state.to_owned())
}

fn write_mechanics(dice: &mut Dice, file: &mut File, class: &Class, heads: u64, outer: u64) {
    let (low, high) = class.average_seek_ms;
    let average = dice.steps(1e6 * low, 1e6 * high, 10_000);
    let track = dice.steps(3e5, 1.2e6, 10_000);
    let full = (average as f64 * (1.75 + 0.01 * dice.integer(0..=50) as f64)) as u64;
    // The head settles longer before a write.
    let settle = dice.steps(2e5, 8e5, 10_000);
    file.table("mechanics");
    file.value("rotations_per_minute", class.rpm);
    file.value("heads", heads);
    file.value("zones", dice.integer(8..=32));
    file.value("outer_bytes_per_s", outer);
    file.value("inner_bytes_per_s", outer * dice.integer(45..=62) / 100);
    for (key, extra) in [("", 0), ("write_", settle)] {
        file.value(&format!("{key}track_seek_ns"), track + extra);
        file.value(&format!("{key}average_seek_ns"), average + extra);
        file.value(&format!("{key}full_seek_ns"), full + extra);
    }
    file.value("head_switch_ns", (track * dice.integer(70..=100) / 100).max(1));
}

fn write_cache(dice: &mut Dice, file: &mut File, band: Option<u64>) {
    let segment = dice.steps(2e5, 1.5e6, 65_536);
    let writes = match band {
        // Room for one band to fill while another is written.
        Some(band) => dice.steps(2.1 * band as f64, 4.0 * band as f64, 65_536),
        None if dice.chance(0.12) => 0,
        None => dice.steps(1.5e6, 60e6, 65_536),
    };
    let segments = dice.integer(8..=32);
    file.table("cache");
    file.value("memory_bytes", writes + segment * dice.integer(4..=segments));
    file.value("segment_bytes", segment);
    file.value("segments", segments);
    file.value("write_cache_bytes", writes);
    file.value("write_cache_extents", dice.integer(24..=96));
}

/// The file of a generated volume, and its state.
pub(super) fn draw_volume(dice: &mut Dice, seed: u64) -> (String, String) {
    let capacity_bytes = dice.steps(8e9, 500e9, 1 << 30);
    let mut file = File::new("volume", seed, NETWORK_VOLUME, capacity_bytes, 512);
    file.table("link");
    file.value("bytes_per_s", dice.steps(2e8, 2e9, 1_000_000));
    file.value("duplex", true);
    file.value("command_slots", dice.one_of(&[32, 64, 128]));
    let by_size = dice.integer(2..=6);
    let baseline = (by_size * (capacity_bytes >> 30)).max(100);
    let bursts = dice.chance(0.75);
    file.table("credits");
    file.value("iops_per_gib", by_size);
    file.value("iops_min", 100);
    file.value("iops_max", 16_000);
    file.value("burst_iops", if bursts { dice.steps(2.0, 8.0, 1) * baseline } else { baseline });
    file.value("credits_max", if bursts { dice.steps(1e4, 3e5, 100) } else { 0 });
    let counted = dice.one_of(&[131_072, 262_144]);
    file.table("counting");
    file.value("io_bytes", counted);
    file.value("small_io_bytes", dice.one_of(&[0, 16_384, 32_768]));
    file.value("small_merge_bytes", dice.one_of(&[4096, 16_384]));
    let rate = dice.steps(6e7, 2.5e8, 1_000_000);
    file.table("throughput");
    file.value("small_capacity_bytes_max", 0);
    file.value("small_bytes_per_s", rate);
    file.value("large_bytes_per_s", rate);
    let median = dice.steps(2e5, 2e6, 10_000);
    file.table("store");
    file.value("latency_ns_median", median);
    file.value("latency_ns_p99", median * dice.integer(15..=50) / 10);
    file.value("trim", dice.chance(0.3));
    let state = if dice.chance(0.15) { "state=used" } else { "" };
    (file.finish(), state.to_owned())
}
