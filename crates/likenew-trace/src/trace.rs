//! Opens a trace of any format and compression, and reads it record by record.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use likenew_core::input::{self, InputError};
use likenew_core::trace::{TraceIo, TraceSource};
use likenew_core::units::Nanos;

use crate::error::{FileProblem, LineError, LineProblem, Place, TraceError, locate, unit};
use crate::files::{Files, of_blktrace};
use crate::formats::likenew::TraceHead;
use crate::formats::{Format, Parse, is_header};
use crate::intake::{Intake, Volumes};
use crate::lines::{LINE_MAX, Lines, ReadFailure};
use crate::notes::Note;
use crate::wording;

/// Lines that are searched for volumes, to list them in an error.
const CENSUS_LINES: u64 = 1_000_000;

/// Options for opening a trace.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The format, if the file does not show it.
    pub format: Option<&'static Format>,
    /// The volume to read, if the file has several.
    pub volume: Option<String>,
}

/// An open trace: a source of I/Os, and the trace's properties.
pub struct Trace {
    format: &'static Format,
    /// The name that was given.
    file: String,
    compression: Option<&'static str>,
    files: Files,
    parser: Box<dyn Parse>,
    intake: Intake,
    /// Whether the first line was read.
    has_started: bool,
    /// Start of the first record, in the file's own time.
    first: Option<Nanos>,
    at_end: bool,
}

/// Opens a trace file, or the first of blktrace's files whose names begin with `path`. Refuses pipes and terminals,
/// which could block forever; a pipe that the shell opened has a writer.
///
/// # Errors
/// The path is not a regular file, or the system refuses.
pub fn file(path: &Path) -> Result<File, InputError> {
    match input::open(path, input::TRACE) {
        Err(error) if error.is_missing() => match of_blktrace(path) {
            Ok(files) if !files.is_empty() => input::open(&files[0], input::TRACE),
            _ => Err(error),
        },
        opened => opened,
    }
}

/// Opens a trace from a stream, such as standard input; errors call it `name`. If `name` belongs to files of blktrace,
/// the files of other processors are opened as well.
///
/// # Errors
/// Those of [`Trace::open`].
pub fn open_stream(
    name: &str,
    stream: Box<dyn Read + Send>,
    options: &OpenOptions,
) -> Result<Trace, TraceError> {
    let (lines, compression) = lines(name, stream)?;
    let unusable = |problem| TraceError::Unusable { file: name.to_owned(), problem };
    let format = options.format.map_or_else(|| Format::detect(lines.ahead()).map_err(unusable), Ok)?;
    let files =
        if format.framing.is_text() { vec![(name.to_owned(), lines)] } else { with_others(name, lines)? };
    let volumes = Volumes::new(options.volume.as_deref(), format.separators);
    let mut trace = Trace {
        format,
        file: name.to_owned(),
        compression,
        files: Files::new(files, format.framing),
        parser: (format.parser)(),
        intake: Intake::new(volumes, format.lateness),
        has_started: false,
        first: None,
        at_end: false,
    };
    for ahead in trace.files.ahead() {
        trace.parser.begin(ahead, &mut trace.intake);
    }
    while !trace.at_end && trace.intake.window.is_empty() {
        trace.advance()?;
    }
    Ok(trace)
}

/// The lines of a decompressed stream, and the name of the compression.
fn lines(name: &str, stream: Box<dyn Read + Send>) -> Result<(Lines, Option<&'static str>), TraceError> {
    let (stream, compression) = decompress(stream).map_err(TraceError::file("read", name))?;
    let mut lines = Lines::new(stream);
    if lines.ahead().is_empty()
        && let Some(error) = lines.failure()
    {
        return Err(TraceError::file("read", name)(error));
    }
    Ok((lines, compression))
}

/// This file of blktrace and those of the other processors.
fn with_others(name: &str, lines: Lines) -> Result<Vec<(String, Lines)>, TraceError> {
    let path = Path::new(name);
    let files = of_blktrace(path).map_err(TraceError::file("read", name))?;
    if files.is_empty() {
        return Ok(vec![(name.to_owned(), lines)]);
    }
    // `name` may be the common beginning of the names. The first file was then opened in its place.
    let own = files.iter().position(|file| file.file_name() == path.file_name()).unwrap_or(0);
    let mut own_lines = Some(lines);
    let mut open = |(index, path): (usize, PathBuf)| {
        let name = path.display().to_string();
        if index == own
            && let Some(lines) = own_lines.take()
        {
            return Ok((name, lines));
        }
        let file = input::open(&path, input::TRACE).map_err(io::Error::from);
        let (lines, _) = self::lines(&name, Box::new(file.map_err(TraceError::file("read", &name))?))?;
        Ok((name, lines))
    };
    files.into_iter().enumerate().map(&mut open).collect()
}

impl Trace {
    /// Opens a trace and reads up to its first record. The format is detected from the file's contents, the compression
    /// (gzip or Zstandard) from its first bytes.
    ///
    /// # Errors
    /// The file cannot be read; it is no trace, or not in the requested format; or its beginning breaks the format.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let file = file(path).map_err(io::Error::from).map_err(TraceError::file("read", &name))?;
        open_stream(&name, Box::new(file), options)
    }

    /// The trace's format.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// The name of the trace's compression, if any.
    pub fn compression(&self) -> Option<&'static str> {
        self.compression
    }

    /// The header, if the format is the project's own; complete only at the end.
    pub fn head(&self) -> Option<&TraceHead> {
        self.parser.head()
    }

    /// What was skipped or could not be determined so far, as sentences without a full stop; complete only at the end.
    pub fn notes(&self) -> Vec<String> {
        wording::notes(&self.intake.notes)
    }

    /// The first names of events that are no I/O; complete only at the end.
    pub fn other_events(&self) -> &[String] {
        &self.intake.notes.events
    }

    /// The volume that is read, if the format names volumes.
    pub fn volume(&self) -> Option<String> {
        self.intake.volumes.selection()
    }

    /// Reads the next line.
    fn advance(&mut self) -> Result<(), TraceError> {
        let line = match self.files.next() {
            Ok(Some(line)) => line,
            Ok(None) => return self.end(),
            Err(broken) => return self.report_failure(broken),
        };
        if !line.is_complete {
            if let Some(error) = self.files.failure() {
                return self.report_failure(ReadFailure::Stream(error));
            }
            if self.parser.forgives_torn_end() {
                let is_text = self.format.framing.is_text();
                self.intake.notes.add(if is_text { Note::LastLineCut } else { Note::LastRecordCut });
                return Ok(());
            }
        }
        let (file, lines) = self.files.current();
        let text = lines.text(&line);
        if text.is_empty() {
            return Ok(());
        }
        if !std::mem::replace(&mut self.has_started, true)
            && !self.format.header.is_empty()
            && is_header(text)
        {
            return Ok(());
        }
        match self.parser.line(text, &mut self.intake) {
            Ok(()) => Ok(()),
            Err(LineError::AnotherVolume) => {
                self.intake.volumes.begin_census();
                // Records are only counted now, so a line of another volume is no error.
                let _ = self.parser.line(text, &mut self.intake);
                Err(self.census())
            }
            Err(line_error) => Err(locate(file, self.place(), text, line_error)),
        }
    }

    fn end(&mut self) -> Result<(), TraceError> {
        self.at_end = true;
        let ended = self.parser.end(&mut self.intake).and_then(|()| self.intake.end());
        ended.map_err(|line_error| locate(self.files.current().0, self.place(), b"", line_error))?;
        let Some(volume) = self.intake.volumes.missing() else { return Ok(()) };
        let volumes = self.intake.volumes.volume_list();
        Err(self.unusable(if volumes.is_empty() {
            FileProblem::NoRecords(volume)
        } else {
            FileProblem::NoSuchVolume { volume, volumes }
        }))
    }

    fn unusable(&self, problem: FileProblem) -> TraceError {
        TraceError::Unusable { file: self.file.clone(), problem }
    }

    /// Reports why the lines stop early. That is only a note where a killed recorder leaves such a file.
    fn report_failure(&mut self, broken: ReadFailure) -> Result<(), TraceError> {
        let error = match broken {
            ReadFailure::Endless => return Err(self.invalid_line(LineProblem::TooLong { max: LINE_MAX })),
            ReadFailure::Stream(error) => error,
        };
        if self.parser.forgives_torn_end() && error.kind() == io::ErrorKind::UnexpectedEof {
            self.intake.notes.add(Note::CompressedEnd);
            return Ok(());
        }
        match (self.compression, error.kind()) {
            (None, _) => Err(TraceError::file("read", self.files.current().0)(error)),
            (Some(compression), io::ErrorKind::UnexpectedEof) => {
                Err(self.invalid_line(LineProblem::CompressedEnd { compression }))
            }
            (Some(compression), _) => {
                let error = error.to_string();
                Err(self.invalid_line(LineProblem::CompressedDamage { compression, error }))
            }
        }
    }

    /// The error that the latest line is invalid.
    fn invalid_line(&self, problem: LineProblem) -> TraceError {
        TraceError::InvalidLine { file: self.files.current().0.to_owned(), place: self.place(), problem }
    }

    /// The position of the latest line.
    fn place(&self) -> Place {
        let number = self.files.current().1.number();
        Place { is_text: self.format.framing.is_text(), number, column: None }
    }

    /// Counts the volumes on the following lines and returns the error that lists them.
    fn census(&mut self) -> TraceError {
        let mut left = CENSUS_LINES;
        while left > 0
            && let Ok(Some(line)) = self.files.next()
        {
            let text = self.files.current().1.text(&line);
            if !text.is_empty() && self.parser.line(text, &mut self.intake).is_err() {
                break;
            }
            left -= 1;
        }
        self.unusable(FileProblem::SeveralVolumes {
            lines: self.files.current().1.number(),
            unit: unit(self.format.framing.is_text()),
            volumes: self.intake.volumes.volume_list(),
        })
    }

    fn step(&mut self) -> Result<Option<TraceIo>, TraceError> {
        loop {
            if let Some(mut io) = self.intake.window.pop(self.at_end) {
                let first = *self.first.get_or_insert(io.at);
                io.at = io.at - first;
                return Ok(Some(io));
            }
            if self.at_end {
                return Ok(None);
            }
            self.advance()?;
        }
    }
}

impl TraceSource for Trace {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        self.step().map_err(|error| {
            self.at_end = true;
            self.intake.clear();
            error.to_string()
        })
    }

    fn applications(&self) -> &[String] {
        &self.intake.applications.names
    }

    fn capacity(&self) -> Option<u64> {
        self.intake.capacity
    }
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

const BUFFER: usize = 256 << 10;

/// Whether Zstandard data begins with a skippable frame, as some parallel compressors write.
fn is_skippable(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

/// The decompressed stream, and the name of its compression. Several gzip members or Zstandard frames give one stream.
///
/// # Errors
/// The stream cannot be read.
pub fn decompress(
    mut stream: Box<dyn Read + Send>,
) -> io::Result<(Box<dyn Read + Send>, Option<&'static str>)> {
    let mut magic = Vec::with_capacity(ZSTANDARD.len());
    stream.by_ref().take(ZSTANDARD.len() as u64).read_to_end(&mut magic)?;
    let (gzip, zstandard) = (magic.starts_with(&GZIP), magic == ZSTANDARD || is_skippable(&magic));
    let whole = io::Cursor::new(magic).chain(stream);
    if gzip {
        let packed = BufReader::with_capacity(BUFFER, whole);
        return Ok((Box::new(MultiGzDecoder::new(packed)), Some("gzip")));
    }
    if zstandard {
        let packed = BufReader::with_capacity(BUFFER, whole);
        return Ok((Box::new(zstd::Decoder::with_buffer(packed)?), Some("Zstandard")));
    }
    Ok((Box::new(whole), None))
}
