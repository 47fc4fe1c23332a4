//! Prints what the simulation predicts for every drive of the catalog, new, used, and without its write
//! cache.
//!
//! Run it with `cargo run --release -p likenew-sim --example drive_figures`, and a name to see one drive only.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use std::time::Instant;

use likenew_core::drive::Drive as _;
use likenew_core::io::Op;
use likenew_sim::catalog;

#[path = "../tests/it/closed_loop/mod.rs"]
mod closed_loop;

use closed_loop::{Load, open, run};

fn main() {
    let only = std::env::args().nth(1);
    for entry in catalog().iter().filter(|entry| only.as_ref().is_none_or(|name| name == entry.name)) {
        let cache_off = entry.model.mechanism.can_switch_write_cache().then_some("cache=off");
        for settings in ["state=new", "state=new&fill=1", "state=used"].into_iter().chain(cache_off) {
            report(&format!("sim:{}?{settings}", entry.name));
        }
    }
}

fn report(spec: &str) {
    let start = Instant::now();
    let mut drive = open(spec);
    println!("\n{spec}: made in {:.2} s", start.elapsed().as_secs_f64());
    let capacity = drive.geometry().capacity;
    let span = capacity.min(8 << 30);
    let flash = drive.identity().facts.iter().any(|(name, _)| name == "flash");
    let small = if flash { 200_000 } else { 5_000 };
    let load = |op, random, length, depth, ios| Load { op, random, length, depth, start: 0, span, ios };
    for (name, load) in [
        ("SEQ1M Q8 read", load(Op::Read, false, 1 << 20, 8, 1000)),
        ("SEQ128K Q1 read", load(Op::Read, false, 1 << 17, 1, 4000)),
        ("RND4K Q1 read", load(Op::Read, true, 4096, 1, small / 4)),
        ("RND4K Q32 read", load(Op::Read, true, 4096, 32, small)),
        ("RND512 Q1 read, whole", Load { span: capacity, ..load(Op::Read, true, 512, 1, small / 4) }),
        ("SEQ1M Q8 write", load(Op::Write, false, 1 << 20, 8, 1000)),
        ("SEQ128K Q1 write", load(Op::Write, false, 1 << 17, 1, 4000)),
        ("RND4K Q3 write", load(Op::Write, true, 4096, 3, small)),
        ("RND4K Q32 write", load(Op::Write, true, 4096, 32, small)),
        ("RND512 Q1 write, whole", Load { span: capacity, ..load(Op::Write, true, 512, 1, small / 4) }),
    ] {
        let before = drive.flash_counters().expect("a simulated drive has books");
        let start = Instant::now();
        let rates = run(&mut drive, load);
        let after = drive.flash_counters().expect("a simulated drive has books");
        let host = (after.host_bytes_written - before.host_bytes_written) as f64;
        let flash = (after.flash_bytes_programmed - before.flash_bytes_programmed) as f64;
        println!(
            "{name:<24} {:>8.1} MB/s {:>9.0} IOPS  mean {:>8.3} ms  max {:>8.1} ms  WA {:>6.2}  {:>9.0} I/O simulated a second",
            rates.bytes_per_s / 1e6,
            rates.iops,
            rates.latency_ns_mean / 1e6,
            rates.latency_max.0 as f64 / 1e6,
            flash / host.max(1.0),
            load.ios as f64 / start.elapsed().as_secs_f64(),
        );
    }
}
