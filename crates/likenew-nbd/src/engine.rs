//! Passes requests of clients to the drive as they arrive, at full depth and in pieces that the drive takes, and
//! collects their results.

use std::collections::VecDeque;

use likenew_core::drive::Lane;
use likenew_core::io::{Completion, DataClass, Durability, Io, Op, Outcome, Slot};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;

use super::protocol::{DEPTH, Errno, PIECE_MAX, TRIM_MAX};
use super::request::{Command, ValidRequest};
use super::store::{Store, is_zero};

/// A request that has ended, and the drive's time at that moment.
#[derive(Debug)]
pub(crate) struct CompletedRequest {
    pub(crate) job: Job,
    pub(crate) at: Nanos,
}

/// The lane of the drive and all requests in progress.
pub(crate) struct Engine<'a> {
    pub(crate) lane: Lane<'a>,
    /// What holds the data beside the drive, which then only gives the timing; `None` if the drive holds them.
    pub(crate) store: Option<Box<dyn Store>>,
    content: Content,
    /// Whether TRIM may write zeros: only if the store answers reads.
    zeros_by_trim: bool,
    jobs: Vec<Option<Job>>,
    free_jobs: Vec<usize>,
    /// Jobs with pieces that the drive has not accepted yet.
    waiting: VecDeque<usize>,
    /// Job and piece by slot.
    pieces: Vec<Option<(usize, Piece)>>,
    free_slots: Vec<Slot>,
    batch: Vec<Io>,
    completions: Vec<Completion>,
    /// Most I/Os in flight at once so far.
    pub(crate) depth_max: u32,
}

impl<'a> Engine<'a> {
    /// Takes a lane that was opened at [`DEPTH`], with nothing in flight.
    pub(crate) fn new(lane: Lane<'a>, store: Option<Box<dyn Store>>, content: Content) -> Self {
        let zeros_by_trim = lane.geometry().trims && store.is_some();
        Self {
            lane,
            store,
            content,
            zeros_by_trim,
            jobs: Vec::new(),
            free_jobs: Vec::new(),
            waiting: VecDeque::new(),
            pieces: vec![None; DEPTH as usize],
            // The lowest slot is taken first, so that few slots are ever used.
            free_slots: (0..DEPTH).rev().map(Slot).collect(),
            batch: Vec::new(),
            completions: Vec::new(),
            depth_max: 0,
        }
    }

    /// The next event on the drive's clock, if any I/O is in flight.
    pub(crate) fn next_at(&self) -> Option<Nanos> {
        if self.in_flight() == 0 { None } else { self.lane.next_at() }
    }

    /// I/Os in flight.
    pub(crate) fn in_flight(&self) -> u32 {
        DEPTH - self.free_slots.len() as u32
    }

    /// Whether writing zeros is as fast as a TRIM.
    pub(crate) fn zeros_fast(&self, keep_allocated: bool) -> bool {
        self.zeros_by_trim && !keep_allocated
    }

    /// Lets the drive's time pass until `until`. Adds the requests that end by then, in the order of time.
    ///
    /// # Errors
    /// The target cannot continue.
    pub(crate) fn advance(
        &mut self,
        until: Nanos,
        ended: &mut Vec<CompletedRequest>,
    ) -> Result<(), TargetError> {
        while self.lane.now() < until || self.next_at().is_some_and(|next| next <= until) {
            let mut completions = std::mem::take(&mut self.completions);
            self.lane.wait(until, &mut completions)?;
            for completion in completions.drain(..) {
                self.end_piece(completion, ended);
            }
            self.completions = completions;
            self.submit_next()?;
        }
        Ok(())
    }

    /// Accepts a request that arrives now.
    pub(crate) fn take(&mut self, client: u64, request: ValidRequest, ended: &mut Vec<CompletedRequest>) {
        let mut job = Job::new(client, request, self.zeros_by_trim);
        if job.is_over() {
            ended.push(CompletedRequest { job, at: self.lane.now() });
            return;
        }
        if self.store.is_none() && matches!(job.request.command, Command::Read { .. }) {
            job.read = vec![0; job.request.length as usize];
        }
        let index = self.free_jobs.pop().unwrap_or_else(|| {
            self.jobs.push(None);
            self.jobs.len() - 1
        });
        self.jobs[index] = Some(job);
        self.waiting.push_back(index);
    }

    /// Submits as many waiting pieces as the drive takes.
    ///
    /// # Errors
    /// The target cannot continue.
    pub(crate) fn submit_next(&mut self) -> Result<(), TargetError> {
        while let Some(index) = self.waiting.front().copied() {
            let Some(slot) = self.free_slots.pop() else { break };
            let job = self.jobs[index].as_mut().expect("what waits is there");
            match job.next() {
                Some(piece) => {
                    let io = self.io_of(index, piece, slot);
                    self.pieces[slot.index()] = Some((index, piece));
                    self.batch.push(io);
                }
                None => {
                    self.free_slots.push(slot);
                    self.waiting.pop_front();
                }
            }
        }
        self.depth_max = self.depth_max.max(self.in_flight());
        if !self.batch.is_empty() {
            self.lane.submit(&self.batch)?;
            self.batch.clear();
        }
        Ok(())
    }

    /// Makes the I/O of a piece. If the drive holds the data, the bytes of a write go along.
    fn io_of(&mut self, index: usize, piece: Piece, slot: Slot) -> Io {
        let job = self.jobs[index].as_ref().expect("a job with pieces is there");
        let offset = if piece.op == Op::Flush { 0 } else { job.request.offset + u64::from(piece.at) };
        let payload = payload(job, piece);
        let data = match (piece.op, payload) {
            (Op::Write, Some(bytes)) => self.content.class_of(bytes),
            (Op::Write, None) => DataClass::Zero,
            _ => DataClass::Random,
        };
        if self.store.is_none() && piece.op == Op::Write {
            let buffer = &mut self.lane.buffer(slot)[..piece.length as usize];
            match payload {
                Some(bytes) => buffer.copy_from_slice(bytes),
                None => buffer.fill(0),
            }
        }
        Io { slot, op: piece.op, offset, length: piece.length, data, sync: piece.sync }
    }

    fn end_piece(&mut self, completion: Completion, ended: &mut Vec<CompletedRequest>) {
        let Completion { slot, at, outcome } = completion;
        let (index, piece) = self.pieces[slot.index()].take().expect("only what was given ends");
        self.free_slots.push(slot);
        let job = self.jobs[index].as_mut().expect("a job with pieces is there");
        job.in_flight -= 1;
        let address = job.request.offset + u64::from(piece.at);
        let errno = Errno::of_outcome(outcome).or_else(|| {
            let kept = match &mut self.store {
                Some(store) => keep(&mut **store, job, piece, address),
                None => {
                    if piece.op == Op::Read && !job.read.is_empty() {
                        let range = piece.at as usize..(piece.at + piece.length) as usize;
                        let length = range.len();
                        job.read[range].copy_from_slice(&self.lane.buffer(slot)[..length]);
                    }
                    Ok(())
                }
            };
            kept.err().map(|error| Errno::of_store(&error))
        });
        if let Some(errno) = errno {
            let is_medium = matches!(outcome, Outcome::Error(_) | Outcome::Short(_)) && piece.op != Op::Flush;
            job.fail(errno, is_medium.then_some(address));
        }
        if job.is_over() {
            let job = self.jobs[index].take().expect("it was there just now");
            self.waiting.retain(|waiting| *waiting != index);
            self.free_jobs.push(index);
            ended.push(CompletedRequest { job, at });
        } else if job.has_more() && !self.waiting.contains(&index) {
            self.waiting.push_back(index);
        }
    }
}

/// The bytes of a piece, if the request is a write.
fn payload(job: &Job, piece: Piece) -> Option<&[u8]> {
    let range = piece.at as usize..(piece.at + piece.length) as usize;
    (job.request.command == Command::Write && piece.op == Op::Write).then(|| &job.request.payload[range])
}

/// Applies a finished I/O to the store.
fn keep(store: &mut dyn Store, job: &Job, piece: Piece, address: u64) -> std::io::Result<()> {
    match (piece.op, payload(job, piece)) {
        (Op::Read | Op::Flush, _) => Ok(()),
        (Op::Write, Some(bytes)) => store.write(address, bytes),
        (Op::Write, None) | (Op::Trim, _) => store.clear(address..address + u64::from(piece.length)),
    }
}

/// A request in progress.
#[derive(Debug)]
pub(crate) struct Job {
    /// The client that sent the request.
    pub(crate) client: u64,
    pub(crate) request: ValidRequest,
    /// The drive's operation; `None` if the request needs at most a flush.
    op: Option<Op>,
    piece_max: u32,
    /// Bytes of the range that were submitted so far.
    submitted_bytes: u32,
    /// Pieces in flight.
    pub(crate) in_flight: u32,
    /// Whether a flush still has to be submitted.
    flush_due: bool,
    /// The first error, and its address if it is the medium's.
    pub(crate) error: Option<(Errno, Option<u64>)>,
    /// Bytes read, if the drive holds the data.
    pub(crate) read: Vec<u8>,
}

/// One I/O of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) op: Op,
    /// Offset in the job's range.
    pub(crate) at: u32,
    pub(crate) length: u32,
    /// For a write with FUA: the data is durable when the write ends.
    pub(crate) sync: Option<Durability>,
}

impl Job {
    /// `trims`: whether TRIM may write zeros.
    pub(crate) fn new(client: u64, request: ValidRequest, trims: bool) -> Self {
        let op = match request.command {
            Command::Read { .. } | Command::Cache => Some(Op::Read),
            Command::Write => Some(Op::Write),
            Command::Trim => Some(Op::Trim),
            Command::Zero { keep_allocated, .. } => {
                Some(if trims && !keep_allocated { Op::Trim } else { Op::Write })
            }
            Command::Flush | Command::Disconnect | Command::Status { .. } => None,
        };
        // TRIM has no FUA, so a flush follows.
        let flush_due = request.command == Command::Flush || (request.durable && op == Some(Op::Trim));
        let piece_max = if op == Some(Op::Trim) { TRIM_MAX } else { PIECE_MAX };
        Self {
            client,
            request,
            op,
            piece_max,
            submitted_bytes: 0,
            in_flight: 0,
            flush_due,
            error: None,
            read: Vec::new(),
        }
    }

    /// Takes the next piece. A flush waits until all other pieces have ended well, so that it covers them.
    pub(crate) fn next(&mut self) -> Option<Piece> {
        let at = self.submitted_bytes;
        let left = if self.op.is_some() { self.request.length - at } else { 0 };
        let piece = match self.op.filter(|_| left > 0 && self.error.is_none()) {
            Some(op) => {
                let sync = (self.request.durable && op == Op::Write).then_some(Durability::Data);
                Piece { op, at, length: left.min(self.piece_max), sync }
            }
            None if self.flush_due && self.in_flight == 0 && self.error.is_none() => {
                self.flush_due = false;
                Piece { op: Op::Flush, at, length: 0, sync: None }
            }
            None => return None,
        };
        self.submitted_bytes += piece.length;
        self.in_flight += 1;
        Some(piece)
    }

    /// Whether a piece can be submitted now.
    pub(crate) fn has_more(&self) -> bool {
        let left = self.op.is_some() && self.submitted_bytes < self.request.length;
        self.error.is_none() && (left || (self.flush_due && self.in_flight == 0))
    }

    /// Whether the request has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.in_flight == 0 && !self.has_more()
    }

    /// Records an error; only the first one is kept.
    pub(crate) fn fail(&mut self, errno: Errno, at: Option<u64>) {
        self.error.get_or_insert((errno, at));
    }
}

/// Bytes of a write that are compressed to estimate how far all of them compress.
const SAMPLE_BYTES: usize = 16 << 10;
/// zstd's fastest usual level; a drive's own compressor has no more time.
const LEVEL: i32 = 1;

/// Determines the data class of written bytes.
pub(crate) struct Content {
    /// `None` if the drive's speed does not depend on it.
    compressor: Option<zstd::bulk::Compressor<'static>>,
    compressed: Vec<u8>,
}

impl Content {
    /// `measures`: whether to measure how far bytes compress.
    pub(crate) fn new(measures: bool) -> Self {
        let compressor =
            measures.then(|| zstd::bulk::Compressor::new(LEVEL).expect("zstd has this level, and memory"));
        Self { compressor, compressed: vec![0; zstd::zstd_safe::compress_bound(SAMPLE_BYTES)] }
    }

    /// The class of these bytes.
    pub(crate) fn class_of(&mut self, bytes: &[u8]) -> DataClass {
        if is_zero(bytes) {
            return DataClass::Zero;
        }
        let Some(compressor) = &mut self.compressor else { return DataClass::Random };
        let looked_at = &bytes[..bytes.len().min(SAMPLE_BYTES)];
        let length =
            compressor.compress_to_buffer(looked_at, &mut self.compressed[..]).unwrap_or(looked_at.len());
        let share = length as f32 / looked_at.len() as f32;
        if share < 1.0 { DataClass::Ratio(share) } else { DataClass::Random }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn bytes_are_reported_by_what_they_compress_to() {
        let mut random = vec![0; 64 << 10];
        Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut random);
        let mut half = random.clone();
        half.chunks_mut(1024).for_each(|chunk| chunk[512..].fill(0));
        let mut content = Content::new(true);
        assert_eq!(content.class_of(&random), DataClass::Random);
        assert_eq!(content.class_of(&[0; 4096]), DataClass::Zero);
        let DataClass::Ratio(share) = content.class_of(&half) else { panic!("half of it is zeros") };
        assert!((0.45..0.6).contains(&share), "{share}");
        assert_eq!(Content::new(false).class_of(&half), DataClass::Random);
        assert_eq!(Content::new(false).class_of(&[0; 512]), DataClass::Zero);
    }
}
