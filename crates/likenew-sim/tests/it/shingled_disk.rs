//! A shingled disk is fast until its persistent cache is full, and needs idle time to recover.

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::Op;
use likenew_core::laws;
use likenew_core::units::Nanos;
use likenew_sim::{SimDrive, Spec};

const NAME: &str = "sim:seagate-archive-8tb";
const TEXT: &str = include_str!("../../../../catalog/seagate-archive-8tb.toml");
const BAND: u64 = 30 << 20;
const HOUR: Nanos = Nanos::from_secs(3600);

/// The same disk with a map of only 1000 pieces.
fn small(settings: &str) -> SimDrive {
    let text = TEXT.replace("map_entries = { value = 250000", "map_entries = { value = 1000");
    assert_ne!(text, TEXT);
    Spec::parse(&format!("sim:small.toml{settings}")).unwrap().open(|_| Ok(text.clone().into())).unwrap()
}

/// Random writes over most of the disk; each round, of 4 at most, has its own addresses.
fn writes(drive: &mut SimDrive, round: u64, ios: u64) -> Rates {
    let (start, span) = (round << 38, drive.geometry().capacity - (4 << 38));
    run(drive, Load { op: Op::Write, random: true, length: 4096, depth: 1, start, span, ios })
}

fn sequential(op: Op, start: u64, bands: u64) -> Load {
    let length = 1 << 20;
    let span = bands * BAND;
    Load { op, random: false, length, depth: 4, start, span, ios: span / u64::from(length) }
}

fn rest(drive: &mut SimDrive, span: Nanos) {
    let mut lane =
        drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 512 }).unwrap().pop().unwrap();
    let until = lane.now() + span;
    lane.wait(until, &mut Vec::new()).unwrap();
}

fn media_bytes(drive: &SimDrive) -> u64 {
    drive.flash_counters().unwrap().flash_bytes_programmed
}

#[test]
fn whole_bands_stream_past_the_persistent_cache() {
    let mut drive = open(NAME);
    let rates = run(&mut drive, sequential(Op::Write, 0, 120));
    assert!((rates.bytes_per_s / 188e6 - 1.0).abs() < 0.06, "{rates:?}");
    rest(&mut drive, HOUR);
    assert_eq!(media_bytes(&drive), 120 * BAND, "each band is written once, and nothing is left to clean");
}

#[test]
fn what_begins_amid_a_band_goes_home_later() {
    let mut drive = open(NAME);
    let rates = run(&mut drive, sequential(Op::Write, BAND / 2, 40));
    assert!(rates.bytes_per_s > 0.8 * 188e6, "{rates:?}");
    rest(&mut drive, HOUR);
    // The halves at both ends are appended, and their two bands are rewritten.
    let appended = BAND + BAND / 256;
    assert_eq!(media_bytes(&drive), 39 * BAND + appended + 2 * BAND);
}

#[test]
fn scattered_writes_are_fast_until_the_persistent_cache_is_full() {
    let mut drive = small("");
    let fresh = writes(&mut drive, 1, 900);
    assert!(fresh.iops > 1000.0, "{fresh:?}");
    let flash_counters = drive.flash_counters().unwrap();
    assert!(flash_counters.write_amplification < 1.1, "{flash_counters:?}");
    writes(&mut drive, 2, 200);
    let before = media_bytes(&drive);
    let full = writes(&mut drive, 3, 300);
    assert!((1.0..6.0).contains(&full.iops), "{full:?}");
    assert!(full.latency_max < Nanos::from_secs(2), "nobody waits for more than a few bands: {full:?}");
    let bands = (media_bytes(&drive) - before) as f64 / BAND as f64;
    assert!((0.8..1.1).contains(&(bands / 300.0)), "each waits for a band to be rewritten: {bands}");
}

#[test]
fn a_used_one_begins_with_its_persistent_cache_full() {
    let mut drive = open(&format!("{NAME}?state=used"));
    let facts = drive.identity().facts;
    let fact = |name: &str| facts.iter().find(|(key, _)| key == name).unwrap().1.as_str();
    assert!(fact("state").contains("filled the persistent cache"), "{facts:?}");
    assert_eq!((fact("persistent cache"), fact("shingled band")), ("25 GiB", "30 MiB"));
    writes(&mut drive, 1, 100);
    let rates = writes(&mut drive, 2, 30);
    assert!(rates.iops < 6.0, "{rates:?}");
}

#[test]
fn rest_gives_the_persistent_cache_back() {
    let mut drive = small("?state=used");
    writes(&mut drive, 1, 100);
    let before = media_bytes(&drive);
    rest(&mut drive, HOUR);
    let cleaned = (media_bytes(&drive) - before) / BAND;
    // As many as there are pieces in the map and in memory.
    assert!((950..=1064).contains(&cleaned), "{cleaned} bands were rewritten");
    rest(&mut drive, HOUR);
    assert_eq!((media_bytes(&drive) - before) / BAND, cleaned, "then there is nothing left to do");
    let again = writes(&mut drive, 2, 900);
    assert!(again.iops > 1000.0, "{again:?}");
}

#[test]
fn cleaning_in_idle_time_gives_way_to_requests() {
    let mut drive = small("?state=used");
    for _ in 0..5 {
        rest(&mut drive, Nanos::from_secs(7));
        let span = drive.geometry().capacity;
        let read = Load { op: Op::Read, random: true, length: 4096, depth: 1, start: 0, span, ios: 1 };
        let rates = run(&mut drive, read);
        // A cleaning step moves a band at most.
        assert!(rates.latency_max < Nanos::from_millis(450), "{rates:?}");
    }
}

#[test]
fn reading_what_was_scattered_over_is_slow_until_it_is_cleaned() {
    let mut drive = open(NAME);
    let region = 20 * BAND;
    let load =
        Load { op: Op::Write, random: true, length: 4096, depth: 1, start: 0, span: region, ios: 1000 };
    run(&mut drive, load);
    let scattered = run(&mut drive, sequential(Op::Read, 0, 20));
    rest(&mut drive, HOUR);
    let cleaned = run(&mut drive, sequential(Op::Read, 0, 20));
    assert!(scattered.bytes_per_s < 0.5 * cleaned.bytes_per_s, "{scattered:?} {cleaned:?}");
    assert!((cleaned.bytes_per_s / 188e6 - 1.0).abs() < 0.06, "{cleaned:?}");
}

#[test]
fn without_a_write_cache_every_write_is_appended_by_itself() {
    let mut drive = small("?cache=off");
    let rates = writes(&mut drive, 1, 400);
    let turns = rates.latency_ns_mean / (60e9 / 5980.0);
    assert!((0.9..1.2).contains(&turns), "the place behind the last append has just passed by: {rates:?}");
    assert_eq!(drive.flash_counters().unwrap().write_amplification, 2.0, "a sector of header for each");
    writes(&mut drive, 2, 600);
    let full = writes(&mut drive, 3, 30);
    assert!(full.iops < 6.0, "{full:?}");
}

#[test]
fn it_keeps_the_laws_new_used_and_without_its_write_cache() {
    for settings in ["", "?state=used", "?state=used&cache=off", "?state=used&fill=0.001"] {
        laws::all(|| small(settings));
    }
}

#[test]
fn numbers_that_do_not_fit_each_other_are_explained() {
    for (from, to, word) in [
        (
            "band_bytes = { value = 31457280",
            "band_bytes = { value = 31457281",
            "multiple of identity.sector_bytes",
        ),
        ("band_bytes = { value = 31457280", "band_bytes = { value = 104857600", "has to hold two bands"),
        ("map_entries = { value = 250000", "map_entries = { value = 100", "four times"),
        (
            "memory_bytes = { value = 134217728",
            "memory_bytes = { value = 1048576",
            "cache.memory_bytes is 1048576",
        ),
        ("[shingles]", "[shingels]", "the file has no key shingels: it takes kind"),
    ] {
        assert!(TEXT.contains(from), "{from}");
        let text = TEXT.replacen(from, to, 1);
        let error =
            Spec::parse("sim:s.toml").unwrap().open(|_| Ok(text.clone().into())).err().expect(to).to_string();
        assert!(error.starts_with("s.toml:") && error.contains(word), "{error} does not say {word}");
    }
}
