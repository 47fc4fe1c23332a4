//! Stores every I/O, off the measuring threads and in constant memory.

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use likenew_core::io::{Op, Sample};
use likenew_core::segment::{Recorder, Stop};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use crate::error::ArchiveError;
use crate::machine::SCHEMA;
use crate::sample_columns::{Row, SCHEMA_TEXT, Values};
use crate::{folder, wording};

/// Samples that a lane hands over at once.
const BATCH: usize = 8_192;
/// Batches that may wait for the writer; beyond that the lanes wait, so that memory stays bounded and nothing
/// is lost.
const BATCHES_WAITING: usize = 16;
/// Rows that are compressed together, and held in memory until they are.
const GROUP_ROWS: usize = 128 * 1_024;

/// Writes one file of samples from its own thread.
///
/// Close it when every lane has ended, also after an interruption: without its end the file cannot be read.
/// Dropping it closes it as well, but hides any error.
#[derive(Debug)]
pub struct SampleWriter {
    path: PathBuf,
    sender: SyncSender<Message>,
    thread: Option<JoinHandle<Result<u64, ArchiveError>>>,
    /// Counts the recorders that are open.
    recorders: Arc<()>,
}

enum Message {
    Samples { segment: u32, samples: Vec<Sample> },
    Close,
}

impl SampleWriter {
    /// Creates a file that does not exist yet.
    pub(crate) fn create(path: &Path) -> Result<Self, ArchiveError> {
        let file = folder::create(path).map_err(ArchiveError::system("create", path))?;
        let schema = parse_message_type(SCHEMA_TEXT).expect("the schema is valid");
        let writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties()))
            .map_err(|error| failure(path, error))?;
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        let owned = path.to_owned();
        let thread = thread::Builder::new()
            .name("samples".to_owned())
            .spawn(move || write(writer, &receiver, &owned))
            .map_err(ArchiveError::system("start a thread for", path))?;
        Ok(Self { path: path.to_owned(), sender, thread: Some(thread), recorders: Arc::new(()) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A recorder for one lane of the workload that becomes the segment of this index.
    ///
    /// When the file cannot be written any more the recorder stops the workload as interrupted, and
    /// [`SampleWriter::close`] says why.
    pub fn recorder(&self, segment: u32) -> SampleRecorder {
        SampleRecorder {
            segment,
            sender: self.sender.clone(),
            samples: Vec::with_capacity(BATCH),
            _open: Arc::clone(&self.recorders),
        }
    }

    /// Ends the file and makes it durable; returns how many samples it holds.
    ///
    /// # Errors
    /// It could not be written, now or earlier; then the file cannot be read.
    ///
    /// # Panics
    /// When a recorder is still open: its last samples would be missing.
    pub fn close(mut self) -> Result<u64, ArchiveError> {
        let written = self.finish().expect("a writer is closed once");
        assert_eq!(Arc::strong_count(&self.recorders), 1, "recorders end before their file does");
        written
    }

    fn finish(&mut self) -> Option<Result<u64, ArchiveError>> {
        let thread = self.thread.take()?;
        // A thread that has already failed takes no message; joining says why it failed.
        let _ = self.sender.send(Message::Close);
        Some(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    }
}

impl Drop for SampleWriter {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.sender.send(Message::Close);
            let _ = thread.join();
        }
    }
}

/// Records the samples of one lane into the file of a [`SampleWriter`].
#[derive(Debug)]
pub struct SampleRecorder {
    segment: u32,
    sender: SyncSender<Message>,
    samples: Vec<Sample>,
    _open: Arc<()>,
}

impl Recorder for SampleRecorder {
    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        self.samples.extend_from_slice(samples);
        if self.samples.len() < BATCH { ControlFlow::Continue(()) } else { self.hand_over(BATCH) }
    }

    fn end(&mut self, _at: likenew_core::units::Nanos) {
        // The writer keeps its error, and returns it when it is closed.
        let _ = self.hand_over(0);
    }
}

impl SampleRecorder {
    fn hand_over(&mut self, capacity: usize) -> ControlFlow<Stop> {
        if self.samples.is_empty() {
            return ControlFlow::Continue(());
        }
        let samples = std::mem::replace(&mut self.samples, Vec::with_capacity(capacity));
        match self.sender.send(Message::Samples { segment: self.segment, samples }) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(Stop::Interrupted),
        }
    }
}

impl Drop for SampleRecorder {
    fn drop(&mut self) {
        let _ = self.hand_over(0);
    }
}

/// The writer's thread.
fn write(
    mut file: SerializedFileWriter<File>,
    messages: &Receiver<Message>,
    path: &Path,
) -> Result<u64, ArchiveError> {
    let (mut rows, mut written) = (Vec::with_capacity(GROUP_ROWS + BATCH), 0);
    while let Ok(Message::Samples { segment, samples }) = messages.recv() {
        rows.extend(samples.into_iter().map(|sample| Row { segment, sample }));
        while rows.len() >= GROUP_ROWS {
            write_group(&mut file, &rows[..GROUP_ROWS]).map_err(|error| failure(path, error))?;
            rows.drain(..GROUP_ROWS);
            written += GROUP_ROWS as u64;
        }
    }
    if !rows.is_empty() {
        write_group(&mut file, &rows).map_err(|error| failure(path, error))?;
        written += rows.len() as u64;
    }
    file.finish().map_err(|error| failure(path, error))?;
    file.inner().sync_all().map_err(ArchiveError::system("write", path))?;
    folder::sync(path.parent().expect("a file is in a folder"))?;
    Ok(written)
}

fn write_group(file: &mut SerializedFileWriter<File>, rows: &[Row]) -> Result<(), ParquetError> {
    let ops = Op::ALL.map(|op| ByteArray::from(op.name()));
    let mut group = file.next_row_group()?;
    let group_ref = &mut group;
    column::<Int32Type>(group_ref, rows, |values| values.segment)?;
    column::<Int32Type>(group_ref, rows, |values| values.stream)?;
    column::<ByteArrayType>(group_ref, rows, |values| ops[values.op.index()].clone())?;
    column::<Int64Type>(group_ref, rows, |values| values.outcome)?;
    column::<Int64Type>(group_ref, rows, |values| values.offset)?;
    column::<Int32Type>(group_ref, rows, |values| values.length)?;
    column::<Int64Type>(group_ref, rows, |values| values.due_ns)?;
    column::<Int64Type>(group_ref, rows, |values| values.sent_ns)?;
    column::<Int64Type>(group_ref, rows, |values| values.done_ns)?;
    group.close()?;
    Ok(())
}

/// Writes the next column.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Row],
    value: impl Fn(&Values) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = rows.iter().map(|row| value(&Values::from(row))).collect();
    let mut column = group.next_column()?.expect("the schema has this column");
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

fn properties() -> WriterProperties {
    let about = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let mut properties = WriterProperties::builder()
        .set_created_by(concat!("likenew ", env!("CARGO_PKG_VERSION")).to_owned())
        .set_key_value_metadata(Some(vec![
            about("likenew.schema", SCHEMA.to_string()),
            about("likenew.outcome", wording::OUTCOME_MEANING.to_owned()),
        ]))
        // The fastest level: the writer shares the machine with the measurement.
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).expect("level 1 exists")));
    for name in ["offset", "due_ns", "sent_ns", "done_ns"] {
        // Few of these values repeat, but consecutive ones are close.
        properties = properties
            .set_column_dictionary_enabled(ColumnPath::from(name), false)
            .set_column_encoding(ColumnPath::from(name), Encoding::DELTA_BINARY_PACKED);
    }
    properties.build()
}

fn failure(path: &Path, error: ParquetError) -> ArchiveError {
    match error {
        ParquetError::External(source) => match source.downcast::<std::io::Error>() {
            Ok(source) => ArchiveError::system("write", path)(*source),
            Err(source) => ArchiveError::damaged_file(path, None, source),
        },
        error => ArchiveError::damaged_file(path, None, error),
    }
}
