//! Network volumes.

use super::dice::Dice;
use super::file::File;
use super::wording::NETWORK_VOLUME;

/// The file of such a volume, and its state.
pub(super) fn draw(dice: &mut Dice, seed: u64) -> (String, String) {
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
