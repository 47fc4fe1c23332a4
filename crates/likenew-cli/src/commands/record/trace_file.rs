//! Writes one drive's trace and sums up the I/O and the waiting of each application. A separate
//! thread does this, so that the kernel's buffers are read in time.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use likenew_core::io::Op;
use likenew_core::segment::Windows;
use likenew_core::trace::{TraceIo, TraceSink};
use likenew_core::units::Nanos;
use likenew_real::tracefs::{WriteOut, step_back, this_thread};
use likenew_trace::{TraceError, TraceHead, TraceWriter};

/// I/Os in a batch for the writing thread.
const BATCH: usize = 4096;
/// Batches that may wait for the writing thread: a million I/Os.
const BATCHES: usize = 256;
/// Buffered records go to the file after this time without new ones. Chosen: a crash then loses a second.
const QUIET: Duration = Duration::from_secs(1);
/// Batches after which the file's cached pages are sent to the drive.
const BATCHES_KEPT: u32 = 32;

enum Message {
    /// From now on, this index stands for this application.
    Name(u16, String),
    Ios(Vec<TraceIo>),
    /// A remark at the end of the trace.
    Note(&'static str, String),
}

/// A trace that is being written.
pub(crate) struct TraceFile {
    path: PathBuf,
    batch: Vec<TraceIo>,
    name_sent: Vec<bool>,
    moved: u64,
    messages: SyncSender<Message>,
    used: Receiver<Vec<TraceIo>>,
    /// Number of the writing thread, as records of I/Os name it.
    pub(crate) thread_id: u32,
    thread: JoinHandle<std::io::Result<TraceResult>>,
}

/// A complete trace.
pub(crate) struct TraceResult {
    pub(crate) accounts: Accounts,
    /// Names of the applications by their index.
    pub(crate) names: Vec<String>,
}

impl TraceFile {
    /// Creates the trace. On a recorded drive, the writing thread itself sends the data there, so
    /// that the recording can leave out these writes.
    ///
    /// # Errors
    /// The file exists already, or cannot be written.
    pub(crate) fn create(path: &Path, head: &TraceHead, on_recorded: bool) -> Result<Self, TraceError> {
        let wrong = |error| TraceError::File { action: "write", file: path.display().to_string(), error };
        let writer = TraceWriter::create(path, head)?;
        let write_out = on_recorded.then(|| WriteOut::open(path)).transpose().map_err(wrong)?;
        let (messages, incoming) = sync_channel(BATCHES);
        let (back, used) = sync_channel(BATCHES);
        let (ready, thread_ids) = sync_channel(1);
        let thread = std::thread::Builder::new().name("trace".into()).spawn(move || {
            step_back();
            // This fails only if nobody waits for the number any more.
            let _ = ready.send(this_thread());
            write(writer, write_out, &incoming, &back)
        });
        let thread = thread.map_err(wrong)?;
        let thread_id = thread_ids.recv().map_err(|_| wrong(std::io::ErrorKind::BrokenPipe.into()))?;
        let batch = Vec::with_capacity(BATCH);
        let path = path.to_owned();
        Ok(Self { path, batch, name_sent: Vec::new(), moved: 0, messages, used, thread_id, thread })
    }

    /// Bytes read and written by the I/Os in the trace.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.moved
    }

    /// Size of the file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Hands all records to the writing thread, however few.
    pub(crate) fn hand_over(&mut self) -> std::io::Result<()> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let empty = self.used.try_recv().unwrap_or_else(|_| Vec::with_capacity(BATCH));
        let batch = std::mem::replace(&mut self.batch, empty);
        self.send(Message::Ios(batch))
    }

    /// Writes the rest, and the remarks at the end of the trace.
    ///
    /// # Errors
    /// The file could not be written, now or before.
    pub(crate) fn finish(mut self, notes: Vec<(&'static str, String)>) -> std::io::Result<TraceResult> {
        // If the thread has ended, joining it shows why.
        let _ = self.hand_over();
        for (key, value) in notes {
            let _ = self.send(Message::Note(key, value));
        }
        drop(self.messages);
        self.thread.join().expect("the writing thread does not panic")
    }

    fn send(&self, message: Message) -> std::io::Result<()> {
        self.messages.send(message).map_err(|_| std::io::ErrorKind::BrokenPipe.into())
    }
}

impl TraceSink for TraceFile {
    fn put(&mut self, io: &TraceIo, application: &str) -> std::io::Result<()> {
        let index = usize::from(io.application);
        if self.name_sent.len() <= index {
            self.name_sent.resize(index + 1, false);
        }
        if !std::mem::replace(&mut self.name_sent[index], true) {
            self.send(Message::Name(io.application, application.to_owned()))?;
        }
        if matches!(io.op, Op::Read | Op::Write) {
            self.moved += io.length;
        }
        self.batch.push(*io);
        if self.batch.len() < BATCH { Ok(()) } else { self.hand_over() }
    }
}

fn write(
    mut writer: TraceWriter,
    write_out: Option<WriteOut>,
    messages: &Receiver<Message>,
    back: &SyncSender<Vec<TraceIo>>,
) -> std::io::Result<TraceResult> {
    let mut written = TraceResult { accounts: Accounts::new(), names: Vec::new() };
    let mut kept = 0;
    loop {
        match messages.recv_timeout(QUIET) {
            Ok(Message::Name(index, name)) => {
                let index = usize::from(index);
                written.names.resize(written.names.len().max(index + 1), String::new());
                written.names[index] = name;
            }
            Ok(Message::Ios(mut ios)) => {
                for io in ios.drain(..) {
                    writer.put(&io, &written.names[usize::from(io.application)])?;
                    written.accounts.add(&io);
                }
                kept += 1;
                // If enough empty batches wait already, this one is dropped.
                let _ = back.try_send(ios);
            }
            Ok(Message::Note(key, value)) => writer.note(key, &value),
            Err(RecvTimeoutError::Timeout) => {
                writer.flush()?;
                kept = BATCHES_KEPT;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if let Some(write_out) = write_out.as_ref().filter(|_| kept >= BATCHES_KEPT) {
            write_out.start()?;
            kept = 0;
        }
    }
    writer.finish()?;
    Ok(written)
}

/// The I/O of one application, or of all together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Account {
    /// I/Os by [`Op::index`].
    pub(crate) ios: [u64; 4],
    /// Bytes by [`Op::index`].
    pub(crate) bytes: [u64; 4],
    /// Reads and writes that begin where the previous one of the same application and kind ended.
    pub(crate) sequential: u64,
    /// Sum of all latencies.
    pub(crate) waiting: Nanos,
    /// Time with at least one of its I/Os in flight.
    pub(crate) busy: Nanos,
    /// I/Os whose latency is known.
    pub(crate) timed_ios: u64,
    /// The longest latency.
    pub(crate) latency_max: Nanos,
    /// End address of the last I/O of each kind.
    ends: [Option<u64>; 4],
    /// Latest end of its I/Os so far.
    busy_until: Nanos,
}

impl Account {
    /// Adds an I/O. I/Os must be added in order of departure.
    fn add(&mut self, io: &TraceIo) {
        let kind = io.op.index();
        self.ios[kind] += 1;
        self.bytes[kind] += io.length;
        if matches!(io.op, Op::Read | Op::Write) {
            self.sequential += u64::from(self.ends[kind] == Some(io.offset));
            self.ends[kind] = Some(io.offset.saturating_add(io.length));
        }
        if let Some(latency) = io.latency {
            let end = io.at + latency;
            self.timed_ios += 1;
            self.waiting += latency;
            self.latency_max = self.latency_max.max(latency);
            self.busy += end.since(self.busy_until.max(io.at).min(end));
            self.busy_until = self.busy_until.max(end);
        }
    }

    /// Number of all I/Os.
    pub(crate) fn all(&self) -> u64 {
        self.ios.iter().sum()
    }

    /// Bytes read or written.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.bytes[Op::Read.index()] + self.bytes[Op::Write.index()]
    }

    /// Share of the reads and writes that continue a previous one.
    pub(crate) fn sequential_share(&self) -> Option<f64> {
        let ios = self.ios[Op::Read.index()] + self.ios[Op::Write.index()];
        (ios > 0).then(|| self.sequential as f64 / ios as f64)
    }

    /// Mean queue depth while there was an I/O in flight.
    pub(crate) fn depth_mean(&self) -> Option<f64> {
        (self.busy > Nanos::ZERO).then(|| self.waiting.0 as f64 / self.busy.0 as f64)
    }

    /// Mean latency.
    pub(crate) fn latency_mean(&self) -> Option<f64> {
        (self.timed_ios > 0).then(|| self.waiting.0 as f64 / self.timed_ios as f64)
    }
}

/// The accounts of a trace.
#[derive(Clone, Debug)]
pub(crate) struct Accounts {
    /// All applications together.
    pub(crate) all: Account,
    /// One for each application, by its index.
    pub(crate) applications: Vec<Account>,
    /// Reads and writes over time. The axis is in nanoseconds.
    pub(crate) windows: [Windows; 2],
}

/// Initial width of the windows over time; it doubles as the recording gets longer. Chosen: fine
/// enough for short recordings.
const CELL: Nanos = Nanos::from_millis(100);

impl Accounts {
    pub(crate) fn new() -> Self {
        let windows = [Windows::new(CELL.0), Windows::new(CELL.0)];
        Self { all: Account::default(), applications: Vec::new(), windows }
    }

    /// Adds an I/O. I/Os must be added in order of departure.
    pub(crate) fn add(&mut self, io: &TraceIo) {
        self.all.add(io);
        let index = usize::from(io.application);
        if self.applications.len() <= index {
            self.applications.resize_with(index + 1, Account::default);
        }
        self.applications[index].add(io);
        if let Some(windows) = self.windows.get_mut(io.op.index()) {
            let latency = io.latency.unwrap_or(Nanos::ZERO);
            windows.add(io.at.0, io.length, latency, io.at + latency);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn io(at: u64, op: Op, offset: u64, length: u64, latency: Option<u64>, application: u16) -> TraceIo {
        TraceIo { at: Nanos(at), op, offset, length, latency: latency.map(Nanos), application }
    }

    #[test]
    fn waiting_is_a_sum_and_busy_is_a_union() {
        let mut accounts = Accounts::new();
        accounts.add(&io(0, Op::Read, 0, 4096, Some(100), 1));
        accounts.add(&io(50, Op::Read, 4096, 4096, Some(100), 1));
        accounts.add(&io(60, Op::Write, 8192, 512, Some(20), 2));
        accounts.add(&io(1000, Op::Flush, 0, 0, Some(500), 2));
        accounts.add(&io(1100, Op::Trim, 0, 1 << 30, None, 2));
        let reader = &accounts.applications[1];
        assert_eq!(
            (reader.waiting, reader.busy, reader.sequential_share()),
            (Nanos(200), Nanos(150), Some(0.5))
        );
        assert_eq!((reader.depth_mean(), reader.latency_mean()), (Some(200.0 / 150.0), Some(100.0)));
        let writer = &accounts.applications[2];
        assert_eq!((writer.ios, writer.bytes_moved(), writer.timed_ios), ([0, 1, 1, 1], 512, 2));
        let total = &accounts.all;
        assert_eq!(
            (total.all(), total.waiting, total.busy, total.latency_max),
            (5, Nanos(720), Nanos(650), Nanos(500))
        );
        assert_eq!(accounts.applications[0], Account::default());
        assert_eq!(accounts.applications[0].depth_mean(), None);
    }
}
