//! A drive in memory that logs everything that reaches it, served to the kernel by the product's own server.

use std::collections::VecDeque;
use std::ops::Range;
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements, TargetKind};
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::target::{Clock, Geometry, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_nbd::Export;
use likenew_nbd::listener::{Listener, Stream};
use likenew_nbd::server::{self, Server, Service};
use likenew_real::clock::{Monotonic, WaitEvent, Waiter};

use crate::support::Sandbox;

/// The unit of fresh data.
const BLOCK: usize = 4096;
/// Time of writing one block: 100 MB/s, so that the owner's writes come in between.
const WRITTEN_BLOCK: Nanos = Nanos::from_micros(40);
/// Time of reading one block that is not fresh: 50 MB/s.
const OLD_BLOCK: Nanos = Nanos::from_micros(80);

/// An event at the drive.
pub(crate) enum Event {
    Write {
        offset: u64,
        bytes: Vec<u8>,
    },
    /// The range reads as zeros from here on.
    Trim(Range<u64>),
    /// Everything answered before it is durable: this many of the first events.
    Flush {
        covers: usize,
    },
}

/// The content of a drive, and its history.
#[derive(Default)]
pub(crate) struct Past {
    /// The content when recording began.
    pub(crate) base: Vec<u8>,
    pub(crate) events: Vec<Event>,
}

#[derive(Default)]
struct State {
    content: Vec<u8>,
    past: Past,
    is_recording: bool,
    answered: usize,
    /// Blocks written since recording began.
    fresh: Vec<bool>,
}

/// The drive's memory, as the test sees it.
#[derive(Clone, Default)]
pub(crate) struct Recording(Arc<Mutex<State>>);

impl Recording {
    fn of(bytes: u64) -> Self {
        Self(Arc::new(Mutex::new(State { content: vec![0; bytes as usize], ..State::default() })))
    }

    /// Starts recording; the current content is durable.
    pub(crate) fn begin(&self) {
        let mut state = self.state();
        state.past = Past { base: state.content.clone(), events: Vec::new() };
        (state.is_recording, state.answered) = (true, 0);
        state.fresh = vec![false; state.content.len() / BLOCK];
    }

    /// Number of events: after a sync returns, everything that it covers is among them, followed by a flush.
    pub(crate) fn position(&self) -> usize {
        self.state().past.events.len()
    }

    /// Everything recorded; recording ends.
    pub(crate) fn end(&self) -> Past {
        let mut state = self.state();
        state.is_recording = false;
        std::mem::take(&mut state.past)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it holds the drive")
    }

    fn geometry(&self) -> Geometry {
        Geometry {
            capacity: self.state().content.len() as u64,
            block: 512,
            boundary: None,
            writable: true,
            trims: true,
            carries_data: true,
            clock: Clock::Virtual,
        }
    }
}

impl State {
    /// Takes an I/O, and returns its time.
    fn take(&mut self, io: &Io, buffer: &mut [u8]) -> Nanos {
        let range = io.offset as usize..io.offset as usize + io.length as usize;
        let blocks = range.start / BLOCK..range.end.div_ceil(BLOCK);
        let mut takes = Nanos::ZERO;
        let event = match io.op {
            Op::Read => {
                buffer[..range.len()].copy_from_slice(&self.content[range]);
                let old = blocks.filter(|block| self.fresh.get(*block) == Some(&false)).count();
                return Nanos(old as u64 * OLD_BLOCK.0);
            }
            Op::Write => {
                if self.is_recording {
                    takes = Nanos(blocks.len() as u64 * WRITTEN_BLOCK.0);
                    self.fresh[blocks].fill(true);
                }
                let bytes = &buffer[..range.len()];
                self.content[range].copy_from_slice(bytes);
                Event::Write { offset: io.offset, bytes: bytes.to_vec() }
            }
            Op::Trim => {
                self.content[range].fill(0);
                Event::Trim(io.offset..io.offset + u64::from(io.length))
            }
            Op::Flush => Event::Flush { covers: self.answered },
        };
        if self.is_recording {
            self.past.events.push(event);
        }
        takes
    }
}

/// A drive whose old data is slow to read.
struct Aged {
    recording: Recording,
}

struct Only {
    recording: Recording,
    geometry: Geometry,
    length_max: usize,
    buffers: Vec<Vec<u8>>,
    /// I/Os in flight, one after the other: their end, and the number of events by then.
    flying: VecDeque<(Slot, Nanos, usize)>,
    free_at: Nanos,
    now: Nanos,
}

impl Drive for Aged {
    fn identity(&self) -> Identity {
        let Geometry { capacity, block, .. } = self.geometry();
        Identity {
            name: "recording".into(),
            kind: TargetKind::Simulated,
            model: None,
            engine: "memory".into(),
            capacity_bytes: capacity,
            block_bytes: block,
            facts: Vec::new(),
            caveats: Vec::new(),
            accounting: None,
        }
    }

    fn geometry(&self) -> Geometry {
        self.recording.geometry()
    }

    fn lanes_max(&self) -> u32 {
        1
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        Ok(vec![Box::new(Only {
            recording: self.recording.clone(),
            geometry: self.geometry(),
            length_max: need.length_max as usize,
            buffers: vec![Vec::new(); need.depth as usize],
            flying: VecDeque::new(),
            free_at: Nanos::ZERO,
            now: Nanos::ZERO,
        })])
    }
}

impl Target for Only {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        let buffer = &mut self.buffers[slot.index()];
        if buffer.is_empty() {
            buffer.resize(self.length_max, 0);
        }
        buffer
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        let recording = self.recording.clone();
        for io in batch {
            let takes = recording.state().take(io, self.buffer(io.slot));
            self.free_at = self.free_at.max(self.now) + takes;
            self.flying.push_back((io.slot, self.free_at, recording.position()));
        }
        Ok(self.now)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let next = self.next_at().filter(|next| *next <= until);
        self.now = self.now.max(next.unwrap_or(until));
        while let Some((slot, at, events)) = self.flying.front().copied().filter(|(_, at, _)| *at <= self.now)
        {
            self.flying.pop_front();
            done.push(Completion { slot, at, outcome: Outcome::Done });
            let mut state = self.recording.state();
            // Recording may have restarted since.
            state.answered = events.min(state.past.events.len());
        }
        Ok(())
    }

    fn next_at(&self) -> Option<Nanos> {
        self.flying.front().map(|(_, at, _)| *at)
    }
}

struct Wall(Monotonic);

impl likenew_nbd::server::Clock for Wall {
    fn now(&self) -> Nanos {
        self.0.now()
    }
}

/// A server of a recording, which ends when it is dropped.
pub(crate) struct Recorder {
    pub(crate) recording: Recording,
    pub(crate) uri: String,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Recorder {
    /// Serves a drive of so many zeros.
    pub(crate) fn begin(sandbox: &Sandbox, bytes: u64) -> Self {
        let (recording, ends) = (Recording::of(bytes), Arc::new(AtomicBool::new(false)));
        let socket: PathBuf = sandbox.work().join("recorder.sock");
        let listener = Listener::unix(&socket).unwrap();
        let export = Export {
            name: String::new(),
            description: "what is written is written down".into(),
            capacity: bytes,
            block: 512,
            read_only: false,
            trims: true,
            rotates: false,
        };
        let uri = listener.uri("");
        let thread = std::thread::spawn({
            let (recording, ends) = (recording.clone(), ends.clone());
            move || serve(recording, &listener, export, &ends)
        });
        Self { recording, uri, ends, thread: Some(thread) }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        let ended = self.thread.take().map(JoinHandle::join);
        assert!(ended.is_none_or(|ended| ended.is_ok()) || std::thread::panicking(), "the recorder failed");
    }
}

fn serve(recording: Recording, listener: &Listener, export: Export, ends: &AtomicBool) {
    let clock = Monotonic::start();
    let waiter = Waiter::with_clock(clock);
    let mut drive = Aged { recording };
    let service = Service { export, store: None, speed: 1.0, compresses: false };
    let mut server: Server<'_, Stream, Wall> =
        Server::new(server::lane(&mut drive).unwrap(), service, Wall(clock));
    let (mut ready, mut readable) = (Vec::new(), Vec::new());
    while !ends.load(Ordering::Acquire) {
        let mut events = vec![WaitEvent { fd: listener.as_fd(), reads: true, writes: false }];
        let mut clients = Vec::new();
        for interest in server.interests().filter(|interest| interest.reads || interest.writes) {
            let (reads, writes) = (interest.reads, interest.writes);
            events.push(WaitEvent { fd: interest.stream.as_fd(), reads, writes });
            clients.push((interest.client, reads));
        }
        waiter.wait(&events, server.wake_at().min(clock.now() + Nanos::from_millis(50)), &mut ready);
        readable.clear();
        let heard = clients.iter().zip(&ready[1..]).filter(|((_, reads), ready)| *reads && **ready);
        readable.extend(heard.map(|((client, _), _)| *client));
        while let Some((stream, who)) = listener.accept().unwrap() {
            server.connect(stream, &who);
        }
        server.poll(&readable).unwrap();
    }
}
