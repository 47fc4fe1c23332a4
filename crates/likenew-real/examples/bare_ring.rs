//! The least that a program can do with an io_uring: random 4 KiB I/Os on one file or device, everything registered, no clock, no
//! sample and no fresh data per I/O. `cargo xtask bench limits` compares the engine with it.
//!
//! `cargo run --release -p likenew-real --example bare_ring -- PATH read|write DEPTH LANES SECONDS one|two`, where `one` submits
//! and waits in one call into the kernel, and `two` in two. PATH is overwritten by `write`. Prints IOPS and the user time of
//! one I/O in nanoseconds.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]
#![allow(unsafe_code, reason = "a ring takes addresses of buffers")]

use std::fs::{File, OpenOptions};
use std::io::Seek as _;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::time::{Duration, Instant};

use io_uring::{EnterFlags, IoUring, opcode, types};
use nix::errno::Errno;
use nix::sys::resource::{UsageWho, getrusage};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};

const LENGTH: usize = 4096;
/// Batches of completions between two looks at the clock.
const BATCHES_PER_CLOCK: u32 = 16;
const USAGE: &str = "usage: bare_ring PATH read|write DEPTH LANES SECONDS one|two";

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What a lane does.
#[derive(Clone, Copy)]
struct Task {
    is_write: bool,
    depth: usize,
    span: Duration,
    /// Whether one call into the kernel submits and waits.
    is_one_call: bool,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, op, depth, lanes, seconds, calls] = &arguments[..] else { return Err(USAGE.into()) };
    let (is_write, is_one_call) = match (op.as_str(), calls.as_str()) {
        (op @ ("read" | "write"), calls @ ("one" | "two")) => (op == "write", calls == "one"),
        _ => return Err(USAGE.into()),
    };
    let span = Duration::from_secs_f64(seconds.parse()?);
    let task = Task { is_write, depth: depth.parse()?, span, is_one_call };
    let file = OpenOptions::new().read(true).write(is_write).custom_flags(libc::O_DIRECT).open(path)?;
    let blocks = (&file).seek(std::io::SeekFrom::End(0))? / LENGTH as u64;
    let before = user_ns()?;
    let ran: Vec<(u64, Duration)> = std::thread::scope(|scope| {
        let lane = |lane| {
            let file = &file;
            scope.spawn(move || run(file, blocks, task, lane))
        };
        let lanes: Vec<_> = (0..lanes.parse()?).map(lane).collect();
        lanes
            .into_iter()
            .map(|lane| lane.join().expect("a lane does not panic"))
            .collect::<Result<_, Failure>>()
    })?;
    let user = user_ns()? - before;
    let ios: u64 = ran.iter().map(|(ios, _)| ios).sum();
    let iops: f64 = ran.iter().map(|(ios, elapsed)| *ios as f64 / elapsed.as_secs_f64()).sum();
    println!("{iops:.0} {:.1}", user / ios as f64);
    Ok(())
}

/// One thread with its own ring; returns I/Os and the time they took.
fn run(file: &File, blocks: u64, task: Task, lane: u64) -> Result<(u64, Duration), Failure> {
    let mut builder = IoUring::builder();
    builder.setup_submit_all().setup_single_issuer().setup_defer_taskrun();
    let mut ring: IoUring = builder.build(task.depth as u32)?;
    let bytes = task.depth * LENGTH;
    let flags = MapFlags::PRIVATE | MapFlags::POPULATE;
    // SAFETY: a new anonymous mapping touches no existing memory.
    let buffers =
        unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags)? };
    let address = |slot: usize| buffers.cast::<u8>().wrapping_add(slot * LENGTH);
    let vectors: Vec<libc::iovec> =
        (0..task.depth).map(|slot| libc::iovec { iov_base: address(slot).cast(), iov_len: LENGTH }).collect();
    // SAFETY: the mapping is never given back.
    unsafe { ring.submitter().register_buffers(&vectors)? };
    ring.submitter().register_files(&[file.as_raw_fd()])?;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(lane + 1);
    let mut entry = |slot: usize| {
        let offset = random.random_range(0..blocks) * LENGTH as u64;
        let (file, index) = (types::Fixed(0), slot as u16);
        let entry = if task.is_write {
            opcode::WriteFixed::new(file, address(slot), LENGTH as u32, index).offset(offset).build()
        } else {
            opcode::ReadFixed::new(file, address(slot), LENGTH as u32, index).offset(offset).build()
        };
        entry.user_data(slot as u64)
    };
    let (mut ios, mut ended) = (0u64, Vec::with_capacity(task.depth));
    ended.extend(0..task.depth);
    let started = Instant::now();
    loop {
        for _ in 0..BATCHES_PER_CLOCK {
            let unsent = ended.len() as u32;
            {
                let mut queue = ring.submission();
                for slot in ended.drain(..) {
                    // SAFETY: the buffer of a slot is used by one I/O at a time and is never given back.
                    unsafe { queue.push(&entry(slot))? };
                }
            }
            enter(&ring, unsent, task.is_one_call)?;
            for completion in ring.completion() {
                if completion.result() != LENGTH as i32 {
                    return Err(std::io::Error::from_raw_os_error(-completion.result()).into());
                }
                ended.push(completion.user_data() as usize);
            }
            ios += ended.len() as u64;
        }
        let elapsed = started.elapsed();
        if elapsed >= task.span {
            return Ok((ios, elapsed));
        }
    }
}

/// Submits what is queued and waits for one completion.
fn enter(ring: &IoUring, unsent: u32, is_one_call: bool) -> std::io::Result<()> {
    let nothing = None::<&libc::sigset_t>;
    let wait = EnterFlags::GETEVENTS.bits();
    // SAFETY: without an argument there is nothing to get wrong.
    unsafe {
        if is_one_call {
            ring.submitter().enter(unsent, 1, wait, nothing)?;
        } else {
            ring.submitter().enter(unsent, 0, 0, nothing)?;
            ring.submitter().enter(0, 1, wait, nothing)?;
        }
    }
    Ok(())
}

/// User time of this process so far, in nanoseconds.
fn user_ns() -> Result<f64, Errno> {
    let time = getrusage(UsageWho::RUSAGE_SELF)?.user_time();
    Ok(time.tv_sec() as f64 * 1e9 + time.tv_usec() as f64 * 1e3)
}
