//! Probes of simulated drives show TRIM by their reads.

use likenew_core::drive::Drive as _;
use likenew_core::probe::{Probe, ProbeResult, ReadBack, ReadBackResult};
use likenew_core::units::Nanos;
use likenew_sim::{SimDrive, Spec};

const MIB: u64 = 1 << 20;

fn open(spec: &str, faults: &str) -> SimDrive {
    let file = |_: &std::path::Path| {
        let text =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml"))?;
        Ok(format!("{text}\n{faults}").into_bytes())
    };
    Spec::parse(spec).unwrap().open(file).unwrap()
}

fn asked() -> Probe {
    Probe::TrimReadBack(ReadBack {
        seed: 3,
        bytes: 2 * MIB,
        wait: Nanos::from_secs(5),
        probes: 50,
        raw: true,
    })
}

fn read_back(drive: &mut SimDrive) -> ReadBackResult {
    match drive.probe(&asked()).unwrap() {
        ProbeResult::TrimReadBack(result) => *result,
        other => panic!("{other:?}"),
    }
}

fn mean(ns: &[u64]) -> f64 {
    ns.iter().sum::<u64>() as f64 / ns.len() as f64
}

const DROPPED: &str = "[faults]\ntrim = { value = \"dropped\", source = \"test\" }";
const HIDDEN: &str = "[faults]\ntrim = { value = \"hidden\", source = \"test\" }";

#[test]
fn what_was_trimmed_reads_as_zeros_and_without_the_flash() {
    let mut drive = open("sim:x.toml?data=on", "");
    let result = read_back(&mut drive);
    assert_eq!(result.before_release.unwrap().pattern_bytes, 4 * MIB);
    assert_eq!(result.released_half.unwrap().zero_bytes, 2 * MIB);
    assert_eq!((result.released_half_later, result.kept_half.unwrap().pattern_bytes), (None, 2 * MIB));
    assert!(mean(&result.probes_kept_ns) > 1.5 * mean(&result.probes_released_ns));
    assert_eq!(result.sent.accepted_bytes, Some(2 * MIB));
    // The same without bytes.
    let result = read_back(&mut open("sim:x.toml", ""));
    assert_eq!((result.before_release, result.released_half, result.kept_half), (None, None, None));
    assert!(result.read_error.unwrap().contains("data=on"));
    assert!(mean(&result.probes_kept_ns) > 1.5 * mean(&result.probes_released_ns));
}

#[test]
fn what_drops_trim_answers_it_and_changes_nothing() {
    let mut drive = open("sim:x.toml?data=on", DROPPED);
    assert!(drive.geometry().trims);
    let result = read_back(&mut drive);
    assert_eq!(result.sent.accepted_bytes, Some(2 * MIB));
    assert_eq!(
        (result.released_half.unwrap().pattern_bytes, result.released_half_later.unwrap().pattern_bytes),
        (2 * MIB, 2 * MIB)
    );
    assert!((mean(&result.probes_kept_ns) / mean(&result.probes_released_ns) - 1.0).abs() < 0.05);
}

#[test]
fn what_hides_trim_is_a_layer_of_its_own() {
    let mut drive = open("sim:x.toml", HIDDEN);
    assert!(!drive.geometry().trims);
    let ProbeResult::TrimPath(path) = drive.probe(&Probe::TrimPath).unwrap() else { panic!("a path") };
    let passes: Vec<_> = path.layers.iter().map(|layer| (&*layer.kind, layer.passes)).collect();
    assert_eq!(passes, [("bridge", Some(false)), ("drive", Some(true))]);
    assert_eq!(path.blocked_by().unwrap().kind, "bridge");
    assert!(matches!(drive.probe(&asked()).unwrap(), ProbeResult::Unknown(_)));
    let mut off = open("sim:x.toml?trim=off", "");
    let ProbeResult::TrimPath(path) = off.probe(&Probe::TrimPath).unwrap() else { panic!("a path") };
    assert_eq!(path.blocked_by().unwrap().kind, "drive");
}

#[test]
fn a_lazy_drive_obeys_once_it_is_left_alone() {
    let file = |_: &std::path::Path| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml");
        Ok(std::fs::read_to_string(path)?.replace("\"immediate\"", "\"lazy\"").into_bytes())
    };
    let mut drive = Spec::parse("sim:x.toml?data=on").unwrap().open(file).unwrap();
    let result = read_back(&mut drive);
    assert_eq!(
        result.released_half.unwrap().pattern_bytes,
        2 * MIB,
        "it goes on showing what had been there"
    );
    assert_eq!(result.released_half_later.unwrap().zero_bytes, 2 * MIB, "and forgets it in idle time");
}

#[test]
fn equal_probes_at_equal_drives_are_equal_and_too_large_ones_are_refused() {
    for spec in ["sim:x.toml", "sim:x.toml?data=on", "sim:x.toml?state=used"] {
        assert_eq!(read_back(&mut open(spec, "")), read_back(&mut open(spec, "")), "{spec}");
    }
    let mut drive = open("sim:x.toml", "");
    let large =
        Probe::TrimReadBack(ReadBack { seed: 0, bytes: 1 << 30, wait: Nanos::ZERO, probes: 0, raw: true });
    assert!(
        matches!(drive.probe(&large).unwrap(), ProbeResult::Unknown(reason) if reason.contains("smaller than"))
    );
    let release = Probe::Release { offset: 0, bytes: 512 * MIB, wait: Nanos::ZERO };
    assert!(
        matches!(drive.probe(&release).unwrap(), ProbeResult::Released(sent) if sent.accepted_bytes == Some(512 * MIB))
    );
}
