//! Reads a file of samples back, one group of rows at a time.

use std::fs::File;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};

use likenew_core::input::SAMPLES;
use likenew_core::io::{Op, Sample};
use parquet::column::reader::get_typed_column_reader;
use parquet::data_type::{ByteArrayType, DataType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, RowGroupReader, SerializedFileReader};
use parquet::schema::parser::parse_message_type;

use crate::error::ArchiveError;
use crate::sample_columns::{Row, SCHEMA_TEXT, Values};
use crate::{folder, wording};

/// More rows in one group than this are refused: our files have fewer, and they would have to fit the memory.
const GROUP_ROWS_MAX: i64 = 1_000_000;

/// The samples of a file with the index of their segment: those of one lane in order of completion, the lanes
/// interleaved by the batch. After an error it ends. The file has no checksums: damage to a value itself can
/// go unnoticed.
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
    /// It cannot be read, was not closed, or has other columns.
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

    /// How many samples the file holds.
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
        (0..count as usize).map(|row| columns.row(row).map_err(damaged_file)).collect()
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

/// The library trusts some of a file's numbers and panics if they are damaged. Nothing that it touched is
/// used after that.
fn catch_panic<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, ParquetError> {
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    read.unwrap_or_else(|_| Err(ParquetError::General(wording::NUMBERS_CONTRADICT.to_owned())))
}

/// One group of rows, column by column.
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
        let time = |index| column::<Int64Type>(group, index, count);
        let op = |name: &[u8]| Op::ALL.into_iter().find(|op| op.name().as_bytes() == name);
        Ok(Self {
            segment: column::<Int32Type>(group, 0, count)?,
            stream: column::<Int32Type>(group, 1, count)?,
            op: column::<ByteArrayType>(group, 2, count)?.iter().map(|name| op(name.data())).collect(),
            outcome: column::<Int64Type>(group, 3, count)?,
            offset: column::<Int64Type>(group, 4, count)?,
            length: column::<Int32Type>(group, 5, count)?,
            times_ns: [time(6)?, time(7)?, time(8)?],
        })
    }

    fn row(&self, row: usize) -> Result<Row, String> {
        Row::try_from(Values {
            segment: self.segment[row],
            stream: self.stream[row],
            op: self.op[row].ok_or(wording::OPERATION_UNKNOWN)?,
            outcome: self.outcome[row],
            offset: self.offset[row],
            length: self.length[row],
            due_ns: self.times_ns[0][row],
            sent_ns: self.times_ns[1][row],
            done_ns: self.times_ns[2][row],
        })
    }
}

/// Exactly `count` values of a column.
fn column<T: DataType>(
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
