//! A drive without a queue whose tracks, seek times, rotation and slow regions are known.

use likenew_core::io::{Op, Outcome, Sample};
use likenew_core::segment::{Recorder as _, Segment, SegmentRecorder, Stop};
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Workload};

pub(crate) const GIB: u64 = 1 << 30;
pub(crate) const CAPACITY: u64 = 100 * GIB;
pub(crate) const TURN_NS: f64 = 60e9 / 7200.0;
pub(crate) const TRACK_NS: f64 = 1e6;
pub(crate) const FULL_NS: f64 = 16e6;
pub(crate) const COMMAND_NS: f64 = 3e5;

/// Extra nanoseconds of an I/O, by workload and address.
pub(crate) type Extra = Box<dyn Fn(&str, u64) -> f64>;

/// A drive without a queue.
pub(crate) struct ReplayDisk {
    /// Bytes a second, by address.
    pub(crate) speed: fn(u64) -> f64,
    pub(crate) arm: bool,
    pub(crate) extra: Extra,
    pub(crate) bad: std::ops::Range<u64>,
    pub(crate) random: u64,
    pub(crate) head: u64,
    pub(crate) noise_ns: f64,
}

/// The square of the speed falls evenly over the addresses, from 120 to 60 MB/s.
pub(crate) fn disk_speed(offset: u64) -> f64 {
    (120e6f64.powi(2) * (1.0 - 0.75 * offset as f64 / CAPACITY as f64)).sqrt()
}

/// The same in sixteen steps.
pub(crate) fn zoned_speed(offset: u64) -> f64 {
    disk_speed(offset - offset % (CAPACITY / 16) + CAPACITY / 32)
}

/// How far the arm is at an address: the tracks outside it hold what the speeds add up to.
pub(crate) fn track(offset: u64) -> f64 {
    2.0 * (1.0 - disk_speed(offset) / 120e6)
}

impl ReplayDisk {
    pub(crate) fn new(speed: fn(u64) -> f64, arm: bool, seed: u64) -> Self {
        Self {
            speed,
            arm,
            extra: Box::new(|_, _| 0.0),
            bad: 0..0,
            random: seed,
            head: 0,
            noise_ns: if arm { 0.0 } else { 2e4 },
        }
    }

    pub(crate) fn slow(mut self, extra: impl Fn(&str, u64) -> f64 + 'static) -> Self {
        self.extra = Box::new(extra);
        self
    }

    /// SplitMix64, as a share.
    pub(crate) fn uniform(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn serve(&mut self, name: &str, offset: u64, length: u32) -> Nanos {
        let transfer = f64::from(length) / (self.speed)(offset) * 1e9;
        let from_memory = name == "burst" || name.starts_with("small");
        let way = if from_memory || offset == self.head || !self.arm {
            0.0
        } else {
            let share = (track(offset) - track(self.head)).abs();
            let wait = self.uniform() * TURN_NS;
            TRACK_NS + (FULL_NS - TRACK_NS) * share.sqrt() + wait
        };
        let noise = self.uniform() * self.noise_ns;
        self.head = offset + u64::from(length);
        let transfer = if from_memory { 1e4 } else { transfer };
        Nanos((COMMAND_NS + transfer + way + noise + (self.extra)(name, offset)) as u64)
    }

    pub(crate) fn run(&mut self, workload: &Workload, started_at: Nanos) -> Segment {
        let mut recorder = SegmentRecorder::default();
        recorder.begin(workload, started_at);
        let stream = &workload.streams[0];
        let range = stream.pattern.region().resolve(CAPACITY, 512).unwrap();
        let length = stream.size.max();
        let (mut now, mut at, mut moved, mut ios) = (started_at, range.start, 0, 0);
        let until = workload.until;
        let over = |moved: u64, ios: u64, now: Nanos| {
            until.bytes.is_some_and(|bytes| moved >= bytes)
                || until.ops.is_some_and(|ops| ios >= ops)
                || until.elapsed.is_some_and(|span| now.since(started_at) >= span)
        };
        while !over(moved, ios, now) {
            let offset = if matches!(stream.pattern, AccessPattern::Random(_)) {
                let places = (range.end - range.start) / u64::from(length);
                range.start + ((self.uniform() * places as f64) as u64) * u64::from(length)
            } else {
                at
            };
            let this = u64::from(length).min(range.end - offset) as u32;
            at = if offset + u64::from(this) >= range.end { range.start } else { offset + u64::from(this) };
            let done = now + self.serve(&workload.name, offset, this);
            let outcome = if self.bad.contains(&offset) { Outcome::Error(5) } else { Outcome::Done };
            let sample =
                Sample { stream: 0, op: Op::Read, outcome, length: this, offset, due: now, sent: now, done };
            assert!(recorder.record(&[sample]).is_continue());
            (now, moved, ios) = (done, moved + u64::from(this), ios + 1);
        }
        recorder.end(now);
        SegmentRecorder::join(vec![recorder], workload, Stop::Reached)
    }
}
