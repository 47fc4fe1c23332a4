//! Every kind of real drive follows the laws of targets.

use std::path::Path;

use crate::support::{Loop, Mounted, agreed, filled_file};
use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::laws;
use likenew_core::procedure::Layout;
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_real::engine::Engine;
use likenew_real::nop::Nop;
use likenew_real::open::{Options, open};
use likenew_real::scratch::Scratch;

/// A boxed drive as a drive, which is what the laws take.
struct Boxed(Box<dyn Drive>);

impl Drive for Boxed {
    fn identity(&self) -> Identity {
        self.0.identity()
    }
    fn geometry(&self) -> Geometry {
        self.0.geometry()
    }
    fn lanes_max(&self) -> u32 {
        self.0.lanes_max()
    }
    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        self.0.lanes(need)
    }
}

const LAYOUT: Layout = Layout { files: 5, file_bytes: 256 << 10 };

fn folder(path: &Path, engine: Engine) -> Boxed {
    let options = Options { engine, layout: Some(LAYOUT), reserve: Some(0), ..Options::default() };
    Boxed(open(path, options).unwrap())
}

/// Writes all of a drive once, because the laws read addresses that they have not written.
fn fill(mut drive: Boxed) -> Boxed {
    let capacity = drive.geometry().capacity;
    let mut lanes = drive.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: 64 << 10 }).unwrap();
    let mut done = Vec::new();
    for offset in (0..capacity).step_by(64 << 10) {
        let io =
            Io { slot: Slot(0), op: Op::Write, offset, length: 64 << 10, data: DataClass::Zero, sync: None };
        lanes[0].submit(&[io]).unwrap();
        lanes[0].wait(Nanos::NEVER, &mut done).unwrap();
    }
    assert!(done.iter().all(|completion| completion.outcome == Outcome::Done), "{done:?}");
    drop(lanes);
    drive
}

fn folder_keeps_the_laws(engine: Engine, name: &str) {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    assert_eq!(folder(place.path(), engine).identity().engine, name);
    laws::all(|| fill(folder(place.path(), engine)));
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "everything was removed");
    if let Some(memory) = Mounted::tmpfs("size=64m") {
        laws::all(|| fill(folder(memory.path(), engine)));
    }
}

#[test]
fn a_folder_over_io_uring() {
    folder_keeps_the_laws(Engine::Uring, "io_uring");
}

#[test]
fn a_folder_over_threads() {
    folder_keeps_the_laws(Engine::Posix, "posix");
}

#[test]
fn a_file_that_is_only_read() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = filled_file(place.path(), (1 << 20) + 100);
    for engine in [Engine::Uring, Engine::Posix] {
        let drive = || Boxed(open(&path, Options { engine, ..Options::default() }).unwrap());
        assert_eq!(drive().geometry().capacity, 1 << 20);
        laws::all(drive);
    }
}

#[test]
fn a_loop_device_read_only_and_of_our_own() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let scratch = Scratch::create(place.path()).unwrap();
    let (file, path) = scratch.create_file(0).unwrap();
    file.set_len(8 << 20).unwrap();
    let Some(device) = Loop::attach(&path) else { return };
    for engine in [Engine::Uring, Engine::Posix] {
        laws::all(|| Boxed(open(&device.0, Options { engine, ..Options::default() }).unwrap()));
        let writable = || {
            let consent = Some(agreed(&device.0).unwrap());
            let drive = open(&device.0, Options { engine, consent, ..Options::default() }).unwrap();
            assert!(drive.geometry().writable && drive.geometry().trims);
            Boxed(drive)
        };
        laws::all(writable);
    }
}

#[test]
fn nothing_at_all() {
    laws::all(Nop::new);
}

#[test]
fn several_lanes_share_one_clock_and_one_drive() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for engine in [Engine::Uring, Engine::Posix] {
        let mut drive = folder(place.path(), engine);
        let lanes = drive.lanes(&LaneRequirements { lanes: 4, depth: 4, length_max: 4096 }).unwrap();
        // Created here, used there, dropped here, as the loop does.
        let lanes: Vec<Lane<'_>> = std::thread::scope(|scope| {
            let handles: Vec<_> = lanes
                .into_iter()
                .enumerate()
                .map(|(index, mut lane)| {
                    scope.spawn(move || {
                        write_and_read_back(&mut lane, index as u64);
                        lane
                    })
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().unwrap()).collect()
        });
        assert!(lanes.windows(2).all(|pair| pair[0].now() <= pair[1].now()));
    }
}

/// Each lane writes its own blocks of one file, so that all of them meet on its first write.
fn write_and_read_back(lane: &mut Lane<'_>, index: u64) {
    let mut done = Vec::new();
    for op in [Op::Write, Op::Flush, Op::Read] {
        let count = if op == Op::Flush { 1 } else { 4 };
        let batch: Vec<Io> = (0..count)
            .map(|slot| {
                let length = if op == Op::Flush { 0 } else { 4096 };
                let offset = if op == Op::Flush { 0 } else { (index * 4 + u64::from(slot)) * 4096 };
                Io { slot: Slot(slot), op, offset, length, data: DataClass::Random, sync: None }
            })
            .collect();
        for io in &batch {
            lane.buffer(io.slot).fill(if op == Op::Write { (io.offset >> 12) as u8 + 1 } else { 0 });
        }
        lane.submit(&batch).unwrap();
        while done.len() < batch.len() {
            lane.wait(Nanos::NEVER, &mut done).unwrap();
        }
        assert!(done.drain(..).all(|completion| completion.outcome == Outcome::Done));
        for io in batch.iter().filter(|io| io.op == Op::Read) {
            assert!(lane.buffer(io.slot).iter().all(|byte| *byte == (io.offset >> 12) as u8 + 1));
        }
    }
}

#[test]
fn a_rest_needs_no_slots() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for engine in [Engine::Uring, Engine::Posix] {
        let mut drive = folder(place.path(), engine);
        let mut lanes = drive.lanes(&LaneRequirements { lanes: 2, depth: 0, length_max: 0 }).unwrap();
        let until = lanes[1].now() + Nanos::from_millis(1);
        lanes[1].wait(until, &mut Vec::new()).unwrap();
        assert!(lanes[0].now() >= until);
    }
}

#[test]
fn a_lane_is_dropped_while_io_is_in_flight() {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    for engine in [Engine::Uring, Engine::Posix] {
        // First writes go to threads, later writes and reads to the kernel.
        for (op, filled) in [(Op::Write, false), (Op::Write, true), (Op::Read, true)] {
            for elsewhere in [false, true] {
                let drive = folder(place.path(), engine);
                let mut drive = if filled { fill(drive) } else { drive };
                let mut lanes =
                    drive.lanes(&LaneRequirements { lanes: 1, depth: 8, length_max: 64 << 10 }).unwrap();
                let mut go = || submit_and_look_once(&mut lanes[0], op);
                if elsewhere {
                    std::thread::scope(|scope| scope.spawn(go).join().unwrap());
                } else {
                    go();
                }
                drop(lanes);
            }
        }
    }
}

fn submit_and_look_once(lane: &mut Lane<'_>, op: Op) {
    let io = |slot| {
        let offset = u64::from(slot % 4) * LAYOUT.file_bytes;
        Io { slot: Slot(slot), op, offset, length: 64 << 10, data: DataClass::Zero, sync: None }
    };
    lane.submit(&(0..8).map(io).collect::<Vec<_>>()).unwrap();
    let now = lane.now();
    lane.wait(now, &mut Vec::new()).unwrap();
}

#[test]
fn buffers_that_are_too_many_to_register_serve_as_well() {
    const LENGTH: u32 = 160 << 20;
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = filled_file(place.path(), 1 << 20);
    let file = Boxed(open(&path, Options { engine: Engine::Uring, ..Options::default() }).unwrap());
    for mut drive in [fill(folder(place.path(), Engine::Uring)), file] {
        let writable = drive.geometry().writable;
        let mut lanes = drive.lanes(&LaneRequirements { lanes: 1, depth: 8, length_max: LENGTH }).unwrap();
        for op in [Op::Write, Op::Read] {
            if op == Op::Write && !writable {
                continue;
            }
            let mut done = Vec::new();
            lanes[0]
                .submit(&[Io {
                    slot: Slot(7),
                    op,
                    offset: 4096,
                    length: 8192,
                    data: DataClass::Zero,
                    sync: None,
                }])
                .unwrap();
            lanes[0].wait(Nanos::NEVER, &mut done).unwrap();
            assert_eq!(done[0].outcome, Outcome::Done);
        }
        assert_eq!(lanes[0].buffer(Slot(7)).len(), LENGTH as usize);
        drop(lanes);
        let facts = drive.identity().facts;
        assert!(facts.contains(&("registered buffers".into(), "no".into())), "{facts:?}");
    }
}
