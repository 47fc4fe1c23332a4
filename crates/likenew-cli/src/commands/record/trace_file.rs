//! One drive's trace: written and summed up on a separate thread, so that the kernel's buffers are read in
//! time.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use likenew_core::trace::{TraceIo, TraceSink};
use likenew_real::tracefs::{WriteOut, step_back, this_thread};
use likenew_trace::{TraceError, TraceHead, TraceWriter};

use super::account::Accounts;

/// I/Os go to the thread in batches of this size …
const BATCH: usize = 4096;
/// … of which this many may wait: a million I/Os.
const BATCHES: usize = 256;
/// Buffered records go to the file after this time without new ones. Chosen: a crash then loses a second.
const QUIET: Duration = Duration::from_secs(1);
/// The file's cached pages are sent to the drive after this many batches.
const BATCHES_KEPT: u32 = 32;

enum Message {
    /// From here on this index means this application.
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
    thread_id: u32,
    thread: JoinHandle<std::io::Result<TraceResult>>,
}

/// A complete trace.
pub(crate) struct TraceResult {
    pub(crate) accounts: Accounts,
    /// Names of the applications by their index.
    pub(crate) names: Vec<String>,
}

impl TraceFile {
    /// Creates the trace. If it is on a drive that is recorded, the writing thread itself sends its data
    /// there.
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
            // Only the creator of the thread waits for this.
            let _ = ready.send(this_thread());
            write(writer, write_out, &incoming, &back)
        });
        let thread = thread.map_err(wrong)?;
        let thread_id = thread_ids.recv().map_err(|_| wrong(std::io::ErrorKind::BrokenPipe.into()))?;
        let batch = Vec::with_capacity(BATCH);
        let path = path.to_owned();
        Ok(Self { path, batch, name_sent: Vec::new(), moved: 0, messages, used, thread_id, thread })
    }

    /// The writing thread, by its number in records of I/Os.
    pub(crate) fn thread_id(&self) -> u32 {
        self.thread_id
    }

    /// Bytes read and written by the I/Os in it.
    pub(crate) fn bytes_moved(&self) -> u64 {
        self.moved
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        std::fs::metadata(&self.path).map_or(0, |metadata| metadata.len())
    }

    /// Hands over all records, however few.
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
        if matches!(io.op, likenew_core::io::Op::Read | likenew_core::io::Op::Write) {
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
                // If there are enough of them already, this one is dropped.
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
