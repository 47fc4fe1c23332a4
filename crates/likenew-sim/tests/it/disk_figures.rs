//! New disks of the catalog are as fast as published for the real ones, within a tenth.
//!
//! Each test prints its result over the published value: `cargo test -p likenew-sim --test disk_figures --
//! --nocapture`.

use crate::closed_loop::{Load, open, run};
use likenew_core::drive::Drive as _;
use likenew_core::io::Op;

/// Within a tenth of the published value.
fn agrees(what: &str, found: f64, printed: f64) {
    let ratio = found / printed;
    println!("{what:<60} {found:>10.3} of {printed:>8.3} printed: {ratio:.3}");
    assert!((0.9..=1.1).contains(&ratio), "{what}: {found} is not within a tenth of {printed}");
}

/// Mean latency in milliseconds of random I/Os over the whole disk at QD1.
fn access_ms(spec: &str, op: Op, length: u32, ios: u64) -> f64 {
    let mut drive = open(spec);
    let span = drive.geometry().capacity;
    run(&mut drive, Load { op, random: true, length, depth: 1, start: 0, span, ios }).latency_ns_mean / 1e6
}

/// AnandTech, "The SSD Anthology" (2009): 4 KiB random writes at QD3 over 8 GB for three minutes, MB/s.
#[test]
fn random_writes_of_4_kib_over_8_gb_are_as_anandtech_printed() {
    for (name, printed) in
        [("seagate-momentus-5400.6", 0.81), ("wd-caviar-se16", 1.26), ("wd-velociraptor", 1.63)]
    {
        let ios = (180.0 * printed * 1e6 / 4096.0) as u64;
        let load =
            Load { op: Op::Write, random: true, length: 4096, depth: 3, start: 0, span: 8_000_000_000, ios };
        let rates = run(&mut open(&format!("sim:{name}")), load);
        agrees(&format!("{name}: 4 KiB random writes, MB/s"), rates.bytes_per_s / 1e6, printed);
    }
}

/// The rows below were measured by the owner of a WD6400AAKS with Iometer, beside his OCZ Core (2008).
const AAKS: &str = "sim:wd6400aaks";
const READ_ACCESS_MS: f64 = 12.85;
const MEAN_RATE_MIB_PER_S: f64 = 85.0;

#[test]
fn small_random_reads_of_the_wd6400aaks_take_the_printed_access_time() {
    agrees("512 B random reads, ms", access_ms(AAKS, Op::Read, 512, 4000), READ_ACCESS_MS);
}

#[test]
fn small_random_writes_of_the_wd6400aaks_are_as_printed_with_and_without_cache() {
    let cached = access_ms(AAKS, Op::Write, 512, 8000);
    agrees("512 B random writes, cached, ms", cached, 6.99);
    let bare = access_ms(&format!("{AAKS}?cache=off"), Op::Write, 512, 4000);
    agrees("512 B random writes, not cached, ms", bare, 17.06);
}

#[test]
fn huge_requests_of_the_wd6400aaks_run_at_the_printed_mean_rate() {
    for op in [Op::Read, Op::Write] {
        let rate = 512.0 / (access_ms(AAKS, op, 512 << 20, 300) / 1e3);
        agrees(&format!("512 MiB requests, {op}, MiB/s"), rate, MEAN_RATE_MIB_PER_S);
    }
}

#[test]
fn reads_of_every_size_take_an_access_and_a_transfer() {
    for length in [512u32, 4 << 10, 32 << 10, 256 << 10, 2 << 20, 16 << 20, 128 << 20, 512 << 20] {
        let found = access_ms(AAKS, Op::Read, length, if length < 1 << 20 { 3000 } else { 300 });
        let printed = READ_ACCESS_MS + f64::from(length) / f64::from(1 << 20) / MEAN_RATE_MIB_PER_S * 1e3;
        agrees(&format!("{length} B random reads, ms"), found, printed);
    }
}

/// The arm chooses among the requests that it knows, whether from the host's queue or from its cache: a deep
/// queue without cache is as good as QD1 with it.
#[test]
fn a_deep_queue_without_cache_does_what_the_cache_does_at_any_depth() {
    let rate = |cache: &str, depth| {
        let mut drive = open(&format!("{AAKS}?cache={cache}"));
        let span = drive.geometry().capacity;
        let load = Load { op: Op::Write, random: true, length: 64 << 10, depth, start: 0, span, ios: 4000 };
        run(&mut drive, load).bytes_per_s / 1e6
    };
    let deep = rate("off", 256);
    for depth in [1, 16, 256] {
        agrees(&format!("64 KiB random writes, cached at depth {depth}, MB/s"), rate("on", depth), deep);
    }
    assert!(rate("off", 1) < 0.6 * deep, "a queue is worth something");
}

/// dd on a MacBook Pro (2012) wrote 2 GiB in blocks of 1 MiB at 71.9 MB/s, and at 64.7 MB/s the second time.
#[test]
fn the_scorpio_black_writes_as_fast_as_dd_did() {
    let load =
        Load { op: Op::Write, random: false, length: 1 << 20, depth: 1, start: 0, span: 2 << 30, ios: 2048 };
    let rate = run(&mut open("sim:wd-scorpio-black-500gb"), load).bytes_per_s / 1e6;
    agrees("1 MiB sequential writes, MB/s", rate, (71.9 + 64.7) / 2.0);
}
