//! The truth about pseudo-SLC caches of generated drives agrees with writing them.

use crate::closed_loop::{Load, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::Op;
use likenew_core::units::Nanos;
use likenew_sim::SimDrive;
use likenew_sim::generator::{Family, generate};
use likenew_sim::truth::TrueValue;

/// Parts in which the cache is written.
const PARTS: f64 = 100.0;
/// Number of generated drives.
const SEEDS: u64 = 110;

fn number(inside: TrueValue) -> f64 {
    match inside {
        TrueValue::Number(number) | TrueValue::Hidden { low: number, .. } => number,
        other => panic!("{other:?} is no number"),
    }
}

/// Rates of consecutive parts from `start` on, up to `most` bytes, each written sequentially.
fn rates(drive: &mut SimDrive, start: u64, part: u64, most: u64) -> Vec<f64> {
    let load = |start| Load {
        op: Op::Write,
        random: false,
        length: 1 << 16,
        depth: 8,
        start,
        span: part,
        ios: part >> 16,
    };
    (0..most / part).map(|index| run(drive, load(start + index * part)).bytes_per_s).collect()
}

/// Lets simulated time pass.
fn rest(drive: &mut SimDrive, span: Nanos) {
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap().pop().unwrap();
    let until = lane.now() + span;
    lane.wait(until, &mut Vec::new()).unwrap();
}

/// Bytes before the first part that is nearer to the slow rate than to the median one before, if it stays so.
/// Leftover work of a drive slows the first fifth down, and does not count.
fn fast_bytes(rates: &[f64], part: u64, slow: f64) -> f64 {
    let skipped = rates.len() / 5;
    let mut usual = rates[skipped..2 * skipped].to_vec();
    usual.sort_by(f64::total_cmp);
    let middle = (usual[usual.len() / 2] * slow).sqrt();
    let is_slow = |window: &[f64]| window.iter().all(|rate| *rate < middle);
    let parts = rates[skipped..].windows(3).position(is_slow).expect("it ends");
    ((skipped + parts) as u64 * part) as f64
}

#[test]
fn size_speed_after_and_recovery_are_what_the_truth_says() {
    let caches = [Family::StaticSlc, Family::DynamicSlc, Family::HybridSlc];
    for seed in (1..=SEEDS).filter(|seed| caches.contains(&generate(*seed).family)) {
        let target = format!("sim:generated-{seed}?state=new");
        let truth = {
            let spec = likenew_sim::Spec::parse(&target).unwrap();
            likenew_sim::truth::Truth::from_spec(&spec, &generate(seed).model().unwrap())
        };
        let (size, slow) = (number(truth.slc_cache_bytes), number(truth.slc_speed_after_bytes_per_s));
        let mut drive = open(&target);
        let part = ((size / PARTS) as u64).next_multiple_of(1 << 16);
        let most = (size * 1.3) as u64;
        let speeds = rates(&mut drive, 0, part, most);
        let found = fast_bytes(&speeds, part, slow);
        let after: Vec<f64> =
            speeds.iter().skip((found / part as f64) as usize + 3).take(15).copied().collect();
        let after = after.iter().sum::<f64>() / after.len() as f64;
        let recovery = number(truth.slc_recovery_ns);
        let mut drive = open(&target);
        rates(&mut drive, 0, part, (size * 1.02) as u64);
        rest(&mut drive, Nanos(recovery as u64));
        let again = rates(&mut drive, (size * 1.1) as u64 / 65_536 * 65_536, part, (size * 0.9) as u64);
        let back = fast_bytes(&again, part, slow);
        let near = |found: f64, truth: f64, share: f64| (found / truth - 1.0).abs() < share;
        assert!(near(found, size, 0.025), "{target}: {found:.0} bytes of {size:.0}");
        assert!(near(after, slow, 0.05), "{target}: {after:.0} bytes a second, {slow:.0} by theory");
        // Blocks become free one by one on each die.
        assert!(near(back, size / 2.0, 0.2), "{target}: {back:.0} bytes of half of {size:.0} are back");
    }
}
