//! What `?state=used` means, and what it costs.

use crate::closed_loop::{Load, Rates, open, run};
use likenew_core::drive::Drive as _;
use likenew_core::io::Op;
use likenew_sim::SimDrive;

const PAGE: u64 = 4096;

fn random_writes(capacity: u64, depth: u32, ios: u64) -> Load {
    let span = capacity / PAGE * PAGE;
    Load { op: Op::Write, random: true, length: PAGE as u32, depth, start: 0, span, ios }
}

/// Runs a load, and says what the flash programmed for each byte of it.
fn amplification(drive: &mut SimDrive, load: Load) -> (Rates, f64) {
    let counted = |drive: &SimDrive| {
        let counters = drive.flash_counters().expect("a simulated drive has books");
        (counters.host_bytes_written, counters.flash_bytes_programmed)
    };
    let (host, flash) = counted(drive);
    let rates = run(drive, load);
    let (host_after, flash_after) = counted(drive);
    (rates, (flash_after - flash) as f64 / (host_after - host) as f64)
}

/// The past is `likenew age --recipe overwrite`, without time: a fill in sequence, and so many overwrites at random.
#[test]
fn a_used_drive_is_one_that_was_filled_and_overwritten() {
    let mut aged = open("sim:tiny-flash?state=new&trim=off");
    let capacity = aged.geometry().capacity;
    let fill = Load { random: false, length: 1 << 20, ios: capacity >> 20, ..random_writes(capacity, 4, 0) };
    run(&mut aged, fill);
    // Its file says that twice of what it holds was overwritten.
    run(&mut aged, random_writes(capacity, 32, 2 * capacity / PAGE));
    let mut used = open("sim:tiny-flash?state=used&trim=off");
    let load = random_writes(capacity, 32, capacity / PAGE / 2);
    let (by_io, by_past) = (amplification(&mut aged, load), amplification(&mut used, load));
    println!("write amplification after I/O {:.3}, after the same past {:.3}", by_io.1, by_past.1);
    assert!((by_io.1 / by_past.1 - 1.0).abs() < 0.05);
    assert!((by_io.0.bytes_per_s / by_past.0.bytes_per_s - 1.0).abs() < 0.05);
}

/// Full drives with a map of pages have no erased block left but their reserve. Their flash is what limits small writes
/// of the new drive, so they lose all of what collection programs, and more, because it reads and erases as well.
#[test]
fn a_full_drive_loses_by_its_write_amplification() {
    for name in ["intel-x25-m-80gb", "intel-x25-e-32gb", "ocz-vertex", "ocz-summit"] {
        let mut new = open(&format!("sim:{name}?state=new&trim=off"));
        let load = random_writes(new.geometry().capacity, 3, 60_000);
        // What the write buffer takes at first costs no time yet.
        run(&mut new, load);
        let (new, new_amplification) = amplification(&mut new, load);
        let mut used = open(&format!("sim:{name}?state=used&trim=off"));
        run(&mut used, load);
        let (used, used_amplification) = amplification(&mut used, load);
        let (lost, grown) = (new.bytes_per_s / used.bytes_per_s, used_amplification / new_amplification);
        println!(
            "{name}: {:.1} to {:.1} MB/s, {lost:.2} times; write amplification {new_amplification:.2} to \
             {used_amplification:.2}, {grown:.2} times",
            new.bytes_per_s / 1e6,
            used.bytes_per_s / 1e6
        );
        assert!(
            lost > 1.2 && lost > 0.95 * grown,
            "{name} loses {lost} times where flash works {grown} times"
        );
    }
}
