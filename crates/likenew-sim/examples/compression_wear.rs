//! Prints how fast a drive that compresses is while it is written full many times over, as CrystalDiskMark in a loop does it.
//!
//! Run it with `cargo run --release -p likenew-sim --example compression_wear -- DRIVE DATA TRIM PLACES [TERABYTES]`: a drive
//! of the catalogue; `random`, `zero` or a share 0..1; `on` or `off`; how many places the file system puts the test file at
//! in turn (1: always the same); and how much is written in all.
//!
//! A run writes a file of 1000 MiB and then five times over in order, 2000 MiB of it at random by 512 KiB, and at
//! random by 4 KiB at depths 1 and 32, 9.2 GB in sum, and deletes it. How CrystalDiskMark divides the 9.2 GB is assumed.

use likenew_core::drive::Drive as _;
use likenew_core::io::{DataClass, Op};
use likenew_sim::SimDrive;

#[path = "../tests/closed_loop/mod.rs"]
mod closed_loop;

use closed_loop::{Load, open, run, run_with};

const MIB: u64 = 1 << 20;
const FILE_BYTES: u64 = 1000 * MIB;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [drive, data, trim, places, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: compression_wear DRIVE DATA TRIM PLACES [TERABYTES]");
        return;
    };
    let data: DataClass = data.parse().expect("a class of data");
    let places: u64 = places.parse().expect("how many places");
    let terabytes: f64 = rest.first().map_or(1.8, |text| text.parse().expect("a number of terabytes"));
    let mut drive = open(&format!("sim:{drive}?trim={trim}"));
    let places = places.clamp(1, drive.geometry().capacity / FILE_BYTES);
    println!("written GB   SEQ1M  512K  4K-Q1 4K-Q32 | read SEQ1M  512K  4K-Q1 4K-Q32 MB/s |  WA   stall ms");
    let mut file = 0;
    while (drive.accounting().expect("books").host_bytes_written as f64) < terabytes * 1e12 {
        report(&mut drive, data, file % places * FILE_BYTES, trim == "on");
        file += 1;
    }
}

fn report(drive: &mut SimDrive, data: DataClass, start: u64, trim: bool) {
    let books = |drive: &SimDrive| drive.accounting().expect("a simulated drive has books");
    let before = books(drive);
    let load =
        |op, random, length, depth, ios| Load { op, random, length, depth, start, span: FILE_BYTES, ios };
    let file = load(Op::Write, false, 1 << 20, 1, 1000);
    run_with(drive, file, data);
    let writes = [
        Load { ios: 5000, ..file },
        load(Op::Write, true, 512 << 10, 1, 4000),
        load(Op::Write, true, 4096, 1, 80_000),
        load(Op::Write, true, 4096, 32, 120_000),
    ];
    let writes = writes.map(|load| run_with(drive, load, data));
    let reads = [
        load(Op::Read, false, 1 << 20, 1, 200),
        load(Op::Read, true, 512 << 10, 1, 200),
        load(Op::Read, true, 4096, 1, 2000),
        load(Op::Read, true, 4096, 32, 4000),
    ];
    let reads = reads.map(|load| run(drive, load));
    if trim {
        run(drive, load(Op::Trim, false, FILE_BYTES as u32, 1, 1));
    }
    let after = books(drive);
    let host = (after.host_bytes_written - before.host_bytes_written) as f64;
    let flash = (after.flash_bytes_programmed - before.flash_bytes_programmed) as f64;
    let [seq, half, small, deep] = writes.map(|rates| rates.bytes_per_s / 1e6);
    let [read_seq, read_half, read_small, read_deep] = reads.map(|rates| rates.bytes_per_s / 1e6);
    let stall = writes.iter().map(|rates| rates.latency_max.0).max().unwrap_or(0) as f64 / 1e6;
    println!(
        "{:>9.1}  {seq:>6.1} {half:>6.1} {small:>6.1} {deep:>6.1} |  {read_seq:>6.1} {read_half:>6.1} {read_small:>6.1} {read_deep:>6.1}          | {:>5.3} {stall:>8.1}",
        after.host_bytes_written as f64 / 1e9,
        flash / host,
    );
}
