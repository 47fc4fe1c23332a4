//! How fast one lane is: random 4 KiB reads in the smallest loop there can be.
//!
//! `cargo run --release -p likenew-real --example lane_speed -- PATH DEPTH SECONDS [uring|posix]`, where PATH
//! is a file, a block device, or `nop`. Prints IOPS, and the user and system time of one I/O. The same on
//! fio, for comparison:
//! `fio --name=x --filename=PATH --rw=randread --bs=4k --direct=1 --ioengine=io_uring --iodepth=DEPTH --runtime=SECONDS --time_based --fixedbufs --registerfiles --norandommap`.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use std::path::Path;

use likenew_core::drive::{Drive, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_real::engine::Engine;
use likenew_real::nop::Nop;
use likenew_real::open::{Options, open};
use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const LENGTH: u32 = 4096;
const USAGE: &str = "usage: lane_speed PATH|nop DEPTH SECONDS [uring|posix]";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, depth, seconds, engine @ ..] = &arguments[..] else { return Err(USAGE.into()) };
    let engine = match engine.first().map(String::as_str) {
        None => Engine::Auto,
        Some("uring") => Engine::Uring,
        Some("posix") => Engine::Posix,
        Some(_) => return Err(USAGE.into()),
    };
    let mut drive: Box<dyn Drive> = match path.as_str() {
        "nop" => Box::new(Nop::new()),
        path => open(Path::new(path), Options { engine, ..Options::default() })?,
    };
    let before = cpu_ns()?;
    let (ios, elapsed) = measure(&mut *drive, depth.parse()?, Nanos::from_secs_f64(seconds.parse()?))?;
    let after = cpu_ns()?;
    println!(
        "{} depth {depth}: {:.0} IOPS, user {:.0} ns/IO, system {:.0} ns/IO",
        drive.identity().engine,
        ios as f64 / elapsed.as_secs_f64(),
        (after.0 - before.0) / ios as f64,
        (after.1 - before.1) / ios as f64,
    );
    Ok(())
}

/// Reads at `depth` for a while; returns how many I/Os ended, and in which time.
fn measure(drive: &mut dyn Drive, depth: u32, span: Nanos) -> Result<(u64, Nanos), TargetError> {
    let blocks = drive.geometry().capacity / u64::from(LENGTH);
    let mut lanes = drive.lanes(&LaneRequirements { lanes: 1, depth, length_max: LENGTH })?;
    let lane = &mut lanes[0];
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut batch = Vec::with_capacity(depth as usize);
    let mut ended = Vec::with_capacity(depth as usize);
    let mut read = |slot| {
        let offset = random.random_range(0..blocks) * u64::from(LENGTH);
        Io { slot, op: Op::Read, offset, length: LENGTH, data: DataClass::Random, sync: None }
    };
    batch.extend((0..depth).map(Slot).map(&mut read));
    let (started_at, mut now, mut ios) = (lane.now(), lane.now(), 0);
    let deadline = started_at + span;
    let mut in_flight = 0;
    loop {
        if now < deadline {
            lane.submit(&batch)?;
            in_flight += batch.len();
        } else if in_flight == 0 {
            return Ok((ios, now - started_at));
        }
        batch.clear();
        lane.wait(deadline + Nanos::from_secs(1), &mut ended)?;
        in_flight -= ended.len();
        ios += ended.len() as u64;
        for completion in ended.drain(..) {
            assert_eq!(completion.outcome, Outcome::Done, "the drive refused");
            now = completion.at;
            batch.push(read(completion.slot));
        }
    }
}

/// User and system time of this process so far, in nanoseconds.
fn cpu_ns() -> Result<(f64, f64), Errno> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let ns = |time: TimeVal| time.tv_sec() as f64 * 1e9 + time.tv_usec() as f64 * 1e3;
    Ok((ns(usage.user_time()), ns(usage.system_time())))
}
