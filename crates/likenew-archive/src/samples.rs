//! Stores every I/O of a run in a file of columns (Parquet), and reads them back group by group. Writing takes constant memory,
//! and none of the measuring threads. The column `outcome` is [`Sample::signed_outcome`].

use std::fs::File;
use std::ops::ControlFlow;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use likenew_core::input::SAMPLES;
use likenew_core::io::{Op, Outcome, Sample};
use likenew_core::segment::{Recorder, Stop};
use likenew_core::units::Nanos;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::ColumnPath;

use super::error::ArchiveError;
use super::folder::SCHEMA;
use super::{folder, wording};

/// Samples that a lane hands over at a time.
const BATCH: usize = 8_192;
/// Batches that may wait for the writer. Beyond that, lanes wait, so that memory stays bounded and nothing is
/// lost.
const BATCHES_WAITING: usize = 16;
/// Rows that are compressed together, and kept in memory until then.
const GROUP_ROWS: usize = 128 * 1_024;

/// Writes one file of samples from its own thread.
///
/// Close it when every lane has ended, also after an interruption: a file without its end cannot be read.
/// Dropping the writer closes the file, too, but hides any error.
#[derive(Debug)]
pub struct SampleWriter {
    path: PathBuf,
    sender: SyncSender<Message>,
    thread: Option<JoinHandle<Result<u64, ArchiveError>>>,
    /// Counts the open recorders.
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

    /// The file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A recorder for one lane of the workload that becomes the segment with this index.
    ///
    /// If the file cannot be written any more, the recorder stops the workload as interrupted, and
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
    /// The file could not be written, now or earlier; then it cannot be read.
    ///
    /// # Panics
    /// A recorder is still open: its last samples would be missing.
    pub fn close(mut self) -> Result<u64, ArchiveError> {
        let ended = self.end().expect("a writer is closed once");
        let written = ended.unwrap_or_else(|panic| panic::resume_unwind(panic));
        assert_eq!(Arc::strong_count(&self.recorders), 1, "recorders end before their file does");
        written
    }

    /// Ends the thread; `None` if that was done already.
    fn end(&mut self) -> Option<thread::Result<Result<u64, ArchiveError>>> {
        let thread = self.thread.take()?;
        // A thread that has failed takes no message; joining it says why it failed.
        let _ = self.sender.send(Message::Close);
        Some(thread.join())
    }
}

impl Drop for SampleWriter {
    fn drop(&mut self) {
        let _ = self.end();
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

    fn end(&mut self, _at: Nanos) {
        // The writer keeps its error, and returns it when closed.
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

/// What the writer's thread runs.
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
    // Unsigned values keep their bits; the schema marks them as unsigned.
    column::<Int32Type>(group_ref, rows, |row| row.segment as i32)?;
    column::<Int32Type>(group_ref, rows, |row| row.sample.stream.into())?;
    column::<ByteArrayType>(group_ref, rows, |row| ops[row.sample.op.index()].clone())?;
    column::<Int64Type>(group_ref, rows, |row| row.sample.signed_outcome())?;
    column::<Int64Type>(group_ref, rows, |row| row.sample.offset as i64)?;
    column::<Int32Type>(group_ref, rows, |row| row.sample.length as i32)?;
    column::<Int64Type>(group_ref, rows, |row| row.sample.due.0 as i64)?;
    column::<Int64Type>(group_ref, rows, |row| row.sample.sent.0 as i64)?;
    column::<Int64Type>(group_ref, rows, |row| row.sample.done.0 as i64)?;
    group.close()?;
    Ok(())
}

/// Writes the next column.
fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    rows: &[Row],
    value: impl Fn(&Row) -> T::T,
) -> Result<(), ParquetError> {
    let values: Vec<T::T> = rows.iter().map(value).collect();
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
        // Few of these values repeat, but consecutive ones differ little.
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

/// The schema in Parquet's notation. Times and offsets are unsigned 64-bit integers.
const SCHEMA_TEXT: &str = "message sample {
    required int32 segment (INTEGER(32, false));
    required int32 stream (INTEGER(32, false));
    required byte_array op (STRING);
    required int64 outcome;
    required int64 offset (INTEGER(64, false));
    required int32 length (INTEGER(32, false));
    required int64 due_ns (INTEGER(64, false));
    required int64 sent_ns (INTEGER(64, false));
    required int64 done_ns (INTEGER(64, false));
}";

/// One I/O of one workload of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Row {
    segment: u32,
    sample: Sample,
}

/// The outcome of an I/O of this length, from its form in the file ([`Sample::signed_outcome`]).
fn to_outcome(signed: i64, length: u32) -> Result<Outcome, &'static str> {
    Ok(match signed {
        bytes if bytes == i64::from(length) => Outcome::Done,
        0.. => Outcome::Short(u32::try_from(signed).map_err(|_| wording::OUTCOME_TOO_LARGE)?),
        _ => Outcome::Error(i32::try_from(-i128::from(signed)).map_err(|_| wording::ERRNO_IMPOSSIBLE)?),
    })
}

/// Most rows in a group. Our files have fewer, and more might not fit into memory.
const GROUP_ROWS_MAX: i64 = 1_000_000;

/// Reads the samples of a file with their segments' indices. Each lane's samples are in order of completion,
/// and lanes alternate batch by batch. It ends after an error. The file has no checksums, so damage to a
/// value can go unnoticed.
pub struct SampleReader {
    path: PathBuf,
    file: SerializedFileReader<File>,
    next_group: usize,
    rows: std::vec::IntoIter<Row>,
}

impl SampleReader {
    /// Opens a file that a [`crate::SampleWriter`] has closed.
    ///
    /// # Errors
    /// The file cannot be read, was not closed, or has other columns.
    pub fn open(path: &Path) -> Result<Self, ArchiveError> {
        let damaged_file =
            |error: ParquetError| ArchiveError::damaged_file(path, None, wording::no_samples(&error));
        let file = folder::input(path, SAMPLES).map_err(ArchiveError::input(path, None))?;
        let file = catch_panic(|| SerializedFileReader::new(file)).map_err(damaged_file)?;
        let schema = parse_message_type(SCHEMA_TEXT).expect("the schema is valid");
        if *file.metadata().file_metadata().schema() != schema {
            return Err(ArchiveError::damaged_file(path, None, wording::OTHER_COLUMNS));
        }
        Ok(Self { path: path.to_owned(), file, next_group: 0, rows: Vec::new().into_iter() })
    }

    /// The number of samples in the file.
    pub fn total(&self) -> u64 {
        self.file.metadata().file_metadata().num_rows().max(0) as u64
    }

    fn read_group(&self, index: usize) -> Result<Vec<Row>, ArchiveError> {
        let damaged_file = |reason: String| ArchiveError::damaged_file(&self.path, None, reason);
        let group = self.file.get_row_group(index).map_err(|error| damaged_file(error.to_string()))?;
        let count = group.metadata().num_rows();
        if !(0..=GROUP_ROWS_MAX).contains(&count) {
            return Err(damaged_file(wording::impossible_group(count)));
        }
        let columns = catch_panic(|| Columns::read(&*group, count as usize))
            .map_err(|error| damaged_file(error.to_string()))?;
        (0..count as usize)
            .map(|row| columns.row(row).map_err(|reason| damaged_file(reason.to_owned())))
            .collect()
    }
}

impl Iterator for SampleReader {
    type Item = Result<(u32, Sample), ArchiveError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.rows.next() {
                return Some(Ok((row.segment, row.sample)));
            }
            if self.next_group >= self.file.num_row_groups() {
                return None;
            }
            match self.read_group(self.next_group) {
                Ok(rows) => self.rows = rows.into_iter(),
                Err(error) => {
                    self.next_group = usize::MAX;
                    return Some(Err(error));
                }
            }
            self.next_group += 1;
        }
    }
}

/// The library trusts some of a file's numbers, and panics if they are damaged. Nothing that it touched is
/// used after that.
fn catch_panic<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err(ParquetError::General(wording::NUMBERS_CONTRADICT.to_owned())))
}

/// One group of rows, as columns.
struct Columns {
    segment: Vec<i32>,
    stream: Vec<i32>,
    op: Vec<Option<Op>>,
    outcome: Vec<i64>,
    offset: Vec<i64>,
    length: Vec<i32>,
    times_ns: [Vec<i64>; 3],
}

impl Columns {
    fn read(group: &dyn RowGroupReader, count: usize) -> Result<Self, ParquetError> {
        let time = |index| read_column::<Int64Type>(group, index, count);
        let op = |name: &[u8]| Op::ALL.into_iter().find(|op| op.name().as_bytes() == name);
        Ok(Self {
            segment: read_column::<Int32Type>(group, 0, count)?,
            stream: read_column::<Int32Type>(group, 1, count)?,
            op: read_column::<ByteArrayType>(group, 2, count)?.iter().map(|name| op(name.data())).collect(),
            outcome: read_column::<Int64Type>(group, 3, count)?,
            offset: read_column::<Int64Type>(group, 4, count)?,
            length: read_column::<Int32Type>(group, 5, count)?,
            times_ns: [time(6)?, time(7)?, time(8)?],
        })
    }

    fn row(&self, row: usize) -> Result<Row, &'static str> {
        let length = self.length[row] as u32;
        let [due, sent, done] = self.times_ns.each_ref().map(|times| Nanos(times[row] as u64));
        let sample = Sample {
            stream: u16::try_from(self.stream[row]).map_err(|_| wording::STREAM_TOO_LARGE)?,
            op: self.op[row].ok_or(wording::OPERATION_UNKNOWN)?,
            outcome: to_outcome(self.outcome[row], length)?,
            length,
            offset: self.offset[row] as u64,
            due,
            sent,
            done,
        };
        Ok(Row { segment: self.segment[row] as u32, sample })
    }
}

/// Reads exactly `count` values of a column.
fn read_column<T: DataType>(
    group: &dyn RowGroupReader,
    index: usize,
    count: usize,
) -> Result<Vec<T::T>, ParquetError> {
    let mut reader = get_typed_column_reader::<T>(group.get_column_reader(index)?);
    let mut values = Vec::with_capacity(count);
    while values.len() < count {
        let (read, ..) = reader.read_records(count - values.len(), None, None, &mut values)?;
        if read == 0 {
            return Err(ParquetError::General(wording::short_column(index, values.len(), count)));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(sample: Sample) -> Outcome {
        to_outcome(sample.signed_outcome(), sample.length).unwrap()
    }

    fn sample(outcome: Outcome) -> Sample {
        let zero = Nanos::ZERO;
        Sample { stream: 0, op: Op::Flush, outcome, length: 0, offset: 0, due: zero, sent: zero, done: zero }
    }

    #[test]
    fn a_nonsensical_error_number_stays_an_error() {
        for errno in [0, -5, i32::MIN + 1] {
            assert!(matches!(round_trip(sample(Outcome::Error(errno))), Outcome::Error(1..)));
        }
        assert_eq!(round_trip(sample(Outcome::Done)), Outcome::Done);
    }

    #[test]
    fn impossible_values_are_named() {
        let columns = |outcome, stream| Columns {
            segment: vec![0],
            stream: vec![stream],
            op: vec![Some(Op::Flush)],
            outcome: vec![outcome],
            offset: vec![0],
            length: vec![0],
            times_ns: [0; 3].map(|time| vec![time]),
        };
        assert!(columns(0, 0).row(0).is_ok());
        assert!(columns(i64::MAX, 0).row(0).is_err());
        assert!(columns(i64::MIN, 0).row(0).is_err());
        assert!(columns(0, -1).row(0).is_err());
    }

    proptest! {
        #[test]
        fn every_outcome_reads_back(kind in 0..3usize, part: u32, errno in 1..=i32::MAX, length in 1..=u32::MAX) {
            let outcome = [Outcome::Done, Outcome::Short(part % length), Outcome::Error(errno)][kind];
            prop_assert_eq!(round_trip(Sample { length, ..sample(outcome) }), outcome);
        }
    }
}
