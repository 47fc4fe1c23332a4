//! Disturbances of a measured drive: a noisy neighbor, outliers, throttling.

use std::path::Path;

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::Op;
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_sim::{SimError, Spec};

const DRIVES: [&str; 4] = ["tiny-flash", "wd-velociraptor", "cloud-gp2-100gib", "generated-3"];

fn reads(ios: u64) -> Load {
    Load { op: Op::Read, random: true, length: 4096, depth: 1, start: 0, span: 1 << 30, ios }
}

fn with(drive: &str, settings: &str, ios: u64) -> Rates {
    run(&mut open(&format!("sim:{drive}?state=used&{settings}")), reads(ios))
}

#[test]
fn disturbed_drives_keep_the_laws() {
    for drive in DRIVES {
        for settings in ["busy=300", "outliers=50", "throttle=0.05", "busy=200&outliers=100&throttle=0.2"] {
            laws::all(|| open(&format!("sim:{drive}?{settings}")));
        }
    }
    laws::all(|| open("sim:tiny-flash?busy=300&data=on"));
}

#[test]
fn a_neighbor_makes_others_wait_and_equal_runs_are_equal() {
    for drive in ["tiny-flash", "wd-velociraptor"] {
        let quiet = run(&mut open(&format!("sim:{drive}?state=used")), reads(2000));
        let busy = with(drive, "busy=60", 2000);
        assert!(busy.latency_ns_mean > 1.003 * quiet.latency_ns_mean, "{drive}: {quiet:?} {busy:?}");
        assert!(busy.latency_max > quiet.latency_max, "{drive}: {quiet:?} {busy:?}");
        assert_eq!(busy, with(drive, "busy=60", 2000));
    }
}

#[test]
fn a_neighbor_really_does_its_share_of_writes() {
    let mut drive = open("sim:tiny-flash?busy=1000");
    {
        let mut lane =
            drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 4096 }).unwrap().pop().unwrap();
        lane.wait(Nanos::from_secs(20), &mut Vec::new()).unwrap();
    }
    // 40% of 1,000 I/Os of 16 KiB a second.
    let written = drive.flash_counters().unwrap().host_bytes_written as f64 / (20.0 * 400.0 * 16_384.0);
    assert!((written - 1.0).abs() < 0.05, "{written}");
}

#[test]
fn one_of_so_many_ios_takes_longer_and_the_others_do_not() {
    let [quiet, noisy] =
        ["trim=on", "trim=on&outliers=100"].map(|settings| with("tiny-flash", settings, 20_000));
    let late = (noisy.latency_ns_mean - quiet.latency_ns_mean) / 50e6;
    assert!((late - 0.01).abs() < 0.003, "{late}");
    assert!(noisy.latency_max >= Nanos::from_millis(50));
}

#[test]
fn a_throttled_drive_is_slow_for_a_part_of_the_time() {
    let load = Load {
        op: Op::Write,
        random: false,
        length: 1 << 17,
        depth: 8,
        start: 0,
        span: 1 << 30,
        ios: 1 << 13,
    };
    let mut quiet = open("sim:wd-velociraptor");
    let mut hot = open("sim:wd-velociraptor?throttle=0.05");
    let (quiet, hot) = (run(&mut quiet, load).bytes_per_s, run(&mut hot, load).bytes_per_s);
    assert!(hot < 0.95 * quiet && hot > 0.6 * quiet, "{quiet} {hot}");
}

#[test]
fn settings_out_of_range_are_refused_with_what_is_allowed() {
    let refused = |text: &str| match Spec::parse(text) {
        Err(error @ SimError::Spec { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    assert!(refused("sim:tiny-flash?busy=0").contains("from 1 to 1000000"));
    assert!(refused("sim:tiny-flash?throttle=2").contains("a share from 0.001 to 1"));
    assert!(refused("sim:tiny-flash?outliers=1").contains("from 2 to"));
    assert!(refused("sim:generated-x").contains("takes a whole number"));
    let text = include_str!("../../../../catalog/tiny-flash.toml");
    let text = format!(
        "{text}\n[faults]\nneighbor_ios_per_s = {{ value = 5, source = \"a test\" }}\nneighbor_io_bytes = {{ value = 700, source = \"a test\" }}\n"
    );
    let error = Spec::parse("sim:a.toml").unwrap().open(|_: &Path| Ok(text.clone().into())).err().unwrap();
    assert!(error.to_string().contains("a multiple of identity.sector_bytes, 512"), "{error}");
}
