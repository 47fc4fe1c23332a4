//! The page-mapped drives of 2008 to 2011 perform as published for new ones.
//!
//! Random writes are those of "The SSD Anthology" (AnandTech 2738, 2009): Iometer, 4 KiB, QD3, 8 GB, 3
//! minutes, after a secure erase. Published MB count as 10⁶ bytes.

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::io::Op;

const GIB: u64 = 1 << 30;
/// Largest deviation of a simulated value from the published one.
const TOLERANCE: f64 = 0.1;

fn within(what: &str, value: f64, printed: f64) {
    let ratio = value / printed;
    println!("{what}: {value:.3} / {printed} = {ratio:.3}");
    assert!((ratio - 1.0).abs() < TOLERANCE, "{what}: {value:.3} where {printed} is printed");
}

/// Half a minute of it: a new drive does not change in three.
fn random_writes(name: &str) -> Rates {
    let mut drive = open(&format!("sim:{name}?state=new"));
    let mut seconds = 0.0;
    let mut rates = None;
    while seconds < 30.0 {
        let load = Load {
            op: Op::Write,
            random: true,
            length: 4096,
            depth: 3,
            start: 0,
            span: 8 * GIB,
            ios: 50_000,
        };
        let part = run(&mut drive, load);
        seconds += 50_000.0 / part.iops;
        rates = Some(part);
    }
    rates.expect("it ran")
}

/// Large I/O over addresses with data, long enough to exceed any buffer.
fn sequential(name: &str, op: Op) -> f64 {
    let mut drive = open(&format!("sim:{name}?state=new&fill=0.1"));
    let load = Load { op, random: false, length: 1 << 20, depth: 4, start: 0, span: 2 * GIB, ios: 2000 };
    run(&mut drive, load).bytes_per_s / 1e6
}

#[test]
fn random_writes_of_a_new_x25_e() {
    within("X25-E random write MB/s", random_writes("intel-x25-e-32gb").bytes_per_s / 1e6, 31.7);
}

#[test]
fn random_writes_of_a_new_x25_m() {
    let rates = random_writes("intel-x25-m-80gb");
    within("X25-M random write MB/s", rates.bytes_per_s / 1e6, 39.3);
    println!("X25-M random write: mean {:.3} ms, printed: below 0.3 ms", rates.latency_ns_mean / 1e6);
    assert!(rates.latency_ns_mean < 0.3e6, "{} ns", rates.latency_ns_mean);
}

#[test]
fn random_writes_of_a_new_summit() {
    within("Summit random write MB/s", random_writes("ocz-summit").bytes_per_s / 1e6, 12.8);
}

#[test]
fn random_writes_of_a_new_vertex() {
    let rates = random_writes("ocz-vertex");
    within("Vertex random write MB/s", rates.bytes_per_s / 1e6, 8.2);
    within("Vertex random write mean ms", rates.latency_ns_mean / 1e6, 1.43);
}

#[test]
fn random_reads_of_a_new_vertex() {
    let mut drive = open("sim:ocz-vertex?state=new&fill=0.1");
    let load =
        Load { op: Op::Read, random: true, length: 4096, depth: 3, start: 0, span: 8 * GIB, ios: 50_000 };
    within("Vertex random read MB/s", run(&mut drive, load).bytes_per_s / 1e6, 32.0);
}

#[test]
fn sequential_speeds_of_a_new_x25_m() {
    within("X25-M sequential write MB/s", sequential("intel-x25-m-80gb", Op::Write), 76.5);
    within("X25-M sequential read MB/s", sequential("intel-x25-m-80gb", Op::Read), 251.0);
}

#[test]
fn sequential_speeds_of_a_new_x25_e() {
    within("X25-E sequential write MB/s", sequential("intel-x25-e-32gb", Op::Write), 170.0);
    within("X25-E sequential read MB/s", sequential("intel-x25-e-32gb", Op::Read), 250.0);
}

#[test]
fn sequential_speeds_of_a_new_vertex() {
    within("Vertex sequential read MB/s", sequential("ocz-vertex", Op::Read), 250.0);
    within("Vertex sequential write MB/s", sequential("ocz-vertex", Op::Write), 180.0);
}

#[test]
fn sequential_speeds_of_a_new_summit() {
    within("Summit sequential read MB/s", sequential("ocz-summit", Op::Read), 220.0);
    within("Summit sequential write MB/s", sequential("ocz-summit", Op::Write), 200.0);
}

#[test]
fn speeds_of_a_new_m4() {
    let name = "crucial-m4-128gb";
    within("m4 sequential read MB/s", sequential(name, Op::Read), 415.0);
    within("m4 sequential write MB/s", sequential(name, Op::Write), 175.0);
    let random = |op| {
        let mut drive = open(&format!("sim:{name}?state=new&fill=0.1"));
        let load = Load { op, random: true, length: 4096, depth: 32, start: 0, span: 8 * GIB, ios: 100_000 };
        run(&mut drive, load).iops
    };
    within("m4 random read IOPS", random(Op::Read), 40_000.0);
    within("m4 random write IOPS", random(Op::Write), 35_000.0);
}

#[test]
fn a_small_write_to_a_large_page_reads_and_rewrites_it() {
    use likenew_core::drive::Drive as _;
    let mut drive = open("sim:ocz-vertex?state=new&fill=0.1");
    let scattered =
        Load { op: Op::Write, random: true, length: 4096, depth: 3, start: 0, span: 8 * GIB, ios: 40_000 };
    run(&mut drive, scattered);
    let scattered = drive.flash_counters().expect("it has books").write_amplification;
    assert!((7.0..8.0).contains(&scattered), "32 KiB for 4 KiB, less what waits: {scattered}");
    let mut drive = open("sim:ocz-vertex?state=new&fill=0.1");
    let joined =
        Load { op: Op::Write, random: false, length: 4096, depth: 3, start: 0, span: GIB, ios: 40_000 };
    run(&mut drive, joined);
    let joined = drive.flash_counters().expect("it has books").write_amplification;
    assert!(joined <= 1.0, "the buffer joins what comes in order: {joined}");
}
