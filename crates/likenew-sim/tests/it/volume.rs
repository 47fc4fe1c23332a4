//! A network volume's behavior follows from its credits, its limits and its latency.

use std::path::Path;

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::Op;
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_sim::model::{Mechanism, Model};
use likenew_sim::volume::VolumeParameters;
use likenew_sim::{SimDrive, Spec};
use proptest::prelude::{Strategy, any, proptest};

const NAME: &str = "sim:cloud-gp2-100gib";
const FILE: &str = include_str!("../../../../catalog/cloud-gp2-100gib.toml");
const GIB: u64 = 1 << 30;

fn set(text: &str, key: &str, value: &str) -> String {
    let before = format!("\n{key} = {{ value = ");
    let start = text.find(&before).expect(key) + before.len();
    let end = start + text[start..].find(',').unwrap();
    format!("{}{value}{}", &text[..start], &text[end..])
}

fn open_file(text: &str, state: &str) -> SimDrive {
    let spec = Spec::parse(&format!("sim:volume.toml?state={state}")).unwrap();
    spec.open(|_: &Path| Ok(text.into())).unwrap()
}

fn parameters(text: &str) -> VolumeParameters {
    match Model::parse("volume.toml", text).unwrap().mechanism {
        Mechanism::Volume(parameters) => parameters,
        other => panic!("{other:?}"),
    }
}

fn of_size(gib: u64) -> VolumeParameters {
    parameters(&set(FILE, "capacity_bytes", &(gib * GIB).to_string()))
}

fn random_reads(depth: u32, ios: u64) -> Load {
    Load { op: Op::Read, random: true, length: 4096, depth, start: 0, span: 100 * GIB, ios }
}

fn sequential(op: Op, length: u32, depth: u32, ios: u64) -> Load {
    Load { op, random: false, length, depth, start: 0, span: 100 * GIB, ios }
}

fn within(rates: Rates, iops: f64) {
    assert!((rates.iops / iops - 1.0).abs() < 0.01, "{rates:?} for {iops}");
}

fn rest(drive: &mut SimDrive, span: Nanos) {
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap().pop().unwrap();
    let until = lane.now() + span;
    lane.wait(until, &mut Vec::new()).unwrap();
}

#[test]
fn size_decides_baseline_and_throughput_as_the_maker_prints_them() {
    // Size in GiB, baseline, seconds that a full bucket lasts, MiB/s.
    for (gib, baseline, burst_s, mib) in [
        (1, 100, Some(1862.0), 128),
        (33, 100, Some(1862.0), 128),
        (100, 300, Some(2000.0), 128),
        (170, 510, Some(2168.7), 128),
        (334, 1002, Some(2702.7), 250),
        (500, 1500, Some(3600.0), 250),
        (1000, 3000, None, 250),
        (5334, 16_000, None, 250),
        (16_384, 16_000, None, 250),
    ] {
        let volume = of_size(gib);
        let span = volume.credits.burst_span().map(Nanos::as_secs_f64);
        assert_eq!(volume.credits.baseline_iops, baseline, "{gib}");
        assert_eq!(volume.bytes_per_s, mib << 20, "{gib}");
        assert_eq!(span.is_some(), burst_s.is_some(), "{gib}");
        assert!((span.unwrap_or(0.0) - burst_s.unwrap_or(0.0)).abs() < 0.5, "{gib}: {span:?}");
    }
}

#[test]
fn a_burst_ends_after_credits_over_burst_less_baseline_and_rest_brings_a_part_back() {
    let mut drive = open(NAME);
    // 5.4 million over 3000 − 300 is 2000 s, in which 6 million I/Os complete.
    within(run(&mut drive, random_reads(16, 5_999_000)), 3000.0);
    run(&mut drive, random_reads(16, 2_000));
    within(run(&mut drive, random_reads(16, 10_000)), 300.0);
    rest(&mut drive, Nanos::from_secs(600));
    // 180,000 credits: 66.7 s at 3,000 IOPS.
    within(run(&mut drive, random_reads(16, 199_000)), 3000.0);
    run(&mut drive, random_reads(16, 2_000));
    within(run(&mut drive, random_reads(16, 3_000)), 300.0);
}

#[test]
fn a_used_volume_starts_at_its_baseline_and_says_so() {
    let mut drive = open(&format!("{NAME}?state=used"));
    within(run(&mut drive, random_reads(16, 3_000)), 300.0);
    let says_so = |(name, value): &(String, String)| name == "state" && value.contains("no burst credits");
    assert!(drive.identity().facts.iter().any(says_so));
}

#[test]
fn large_ios_meet_the_throughput_limit_instead() {
    for op in [Op::Read, Op::Write] {
        let rates = run(&mut open(NAME), sequential(op, 1 << 20, 8, 4000));
        assert!((rates.bytes_per_s / f64::from(128 << 20) - 1.0).abs() < 0.01, "{op}: {rates:?}");
    }
}

#[test]
fn without_credits_large_ios_are_paid_for_by_their_length() {
    // 300 IOPS of 256 KiB are 75 MiB/s, whatever the length of the I/Os.
    for length in [1 << 15, 1 << 18, 1 << 20] {
        let ios = (2u64 << 30) / u64::from(length);
        let rates = run(&mut open(&format!("{NAME}?state=used")), sequential(Op::Read, length, 16, ios));
        assert!((rates.bytes_per_s / f64::from(75 << 20) - 1.0).abs() < 0.02, "{length}: {rates:?}");
    }
}

#[test]
fn one_at_a_time_costs_a_round_trip_and_two_transfers() {
    let volume = parameters(FILE);
    let rates = run(&mut open(NAME), random_reads(1, 20_000));
    let transfers_ns =
        4096.0 / volume.bytes_per_s as f64 * 1e9 + 4096.0 / volume.link.bytes_per_s as f64 * 1e9;
    let expected_ns = volume.latency.mean_ns() + transfers_ns;
    assert!((rates.latency_ns_mean / expected_ns - 1.0).abs() < 0.01, "{rates:?} for {expected_ns}");
}

#[test]
fn latencies_have_the_median_and_the_99th_percentile_that_were_given() {
    let volume = parameters(FILE);
    let mut drive = open(NAME);
    let transfers_ns =
        4096.0 / volume.bytes_per_s as f64 * 1e9 + 4096.0 / volume.link.bytes_per_s as f64 * 1e9;
    let mut latencies: Vec<f64> =
        (0..20_000).map(|_| run(&mut drive, random_reads(1, 1)).latency_ns_mean - transfers_ns).collect();
    latencies.sort_by(f64::total_cmp);
    assert!((latencies[10_000] / volume.latency.median.0 as f64 - 1.0).abs() < 0.02, "{}", latencies[10_000]);
    assert!((latencies[19_800] / volume.latency.p99.0 as f64 - 1.0).abs() < 0.06, "{}", latencies[19_800]);
}

#[test]
fn no_more_than_its_slots_are_under_way() {
    let unlimited = set(&set(FILE, "iops_min", "1000000"), "iops_max", "1000000");
    let narrow = set(&unlimited, "command_slots", "4");
    let mean_s = parameters(&narrow).latency.mean_ns() / 1e9;
    let rates = run(&mut open_file(&narrow, "new"), random_reads(32, 40_000));
    assert!((rates.iops * mean_s / 4.0 - 1.0).abs() < 0.06, "{rates:?}");
}

#[test]
fn a_volume_keeps_the_laws() {
    for state in ["state=new", "state=used", "state=new&trim=on", "state=used&fill=0.5"] {
        laws::all(|| open(&format!("{NAME}?{state}")));
    }
}

#[test]
fn trim_works_or_not() {
    assert!(!open(NAME).geometry().trims);
    assert!(open(&format!("{NAME}?trim=on")).geometry().trims);
}

fn small_volumes() -> impl Strategy<Value = String> {
    (
        (1u64..500, 1u64..5000, 0u64..3000),
        (9u32..21, 0u32..21, 9u32..21),
        (1u64..9, 1_000u64..5_000_000, 0u64..9),
    )
        .prop_map(|((baseline, burst, credits), (io, small, merge), (slots, median, spread))| {
            let io_bytes = 1u64 << io;
            [
                ("capacity_bytes", 1 << 26),
                ("command_slots", slots),
                ("iops_min", baseline),
                ("burst_iops", burst),
                ("credits_max", credits),
                ("io_bytes", io_bytes),
                ("small_io_bytes", (1u64 << small).min(io_bytes)),
                ("small_merge_bytes", (1u64 << merge).min(io_bytes)),
                ("latency_ns_median", median),
                ("latency_ns_p99", median * (1 + spread)),
            ]
            .iter()
            .fold(FILE.to_owned(), |text, (key, value)| set(&text, key, &value.to_string()))
        })
}

proptest! {
    #[test]
    fn volumes_of_any_dimension_complete_everything_once(text in small_volumes(), used in any::<bool>(), seed in any::<u64>()) {
        laws::completes_everything_once(&mut open_file(&text, if used { "used" } else { "new" }), seed, 500);
    }
}

#[test]
fn nonsense_is_refused_with_file_line_and_range() {
    for (key, value, words) in [
        ("iops_min", "0", "credits.iops_min is 0: it takes a whole number from 1"),
        ("iops_min", "20000", "credits.iops_min is 20000: it takes at most credits.iops_max, 16000"),
        ("small_merge_bytes", "1048576", "both take at most counting.io_bytes, 262144"),
        ("latency_ns_p99", "5", "store.latency_ns_p99 is 5: it takes from 1 to 100 times"),
        ("latency_ns_median", "0", "store.latency_ns_median is 0"),
        ("large_bytes_per_s", "1", "throughput.large_bytes_per_s is 1"),
        ("trim", "\"lazy\"", "store.trim is \"lazy\": it takes true or false"),
    ] {
        let error = Model::parse("v.toml", &set(FILE, key, value)).unwrap_err().to_string();
        assert!(error.contains(words) && error.starts_with("v.toml:"), "{error} does not say {words}");
    }
}
