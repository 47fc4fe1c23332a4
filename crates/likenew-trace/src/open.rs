//! Opens a trace, whatever its format and compression.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use likenew_core::input::{self, InputError};
use likenew_core::trace::{TraceIo, TraceSource};

use super::error::TraceError;
use super::format::Format;
use super::formats::alibaba::Alibaba;
use super::formats::blkparse::Blkparse;
use super::formats::fiu::Fiu;
use super::formats::iolog::Iolog;
use super::formats::likenew::Likenew;
use super::formats::msr::Msr;
use super::formats::systor::Systor;
use super::formats::tencent::Tencent;
use super::formats::tracefs::Tracefs;
use super::head::TraceHead;
use super::intake::Intake;
use super::lines::Lines;
use super::reader::{Reader, Source, TraceReader};
use super::volumes::Volumes;

/// Where descriptors have names that this process was given, such as for `<(zcat day.gz)` (proc(5)).
const INHERITED: [&str; 3] = ["/dev/fd", "/dev/stdin", "/proc/self/fd"];

/// How to read a trace.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Its format, where the file does not show it.
    pub format: Option<Format>,
    /// Which of its volumes, where there are several.
    pub volume: Option<String>,
}

/// An open trace: a source of its I/Os, and its properties as a whole.
pub struct Trace {
    format: Format,
    compression: Option<&'static str>,
    reader: Box<dyn TraceReader>,
}

/// Opens a trace: [`Trace::open`] for those who want its I/Os alone.
///
/// # Errors
/// As [`Trace::open`].
pub fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn TraceSource>, TraceError> {
    Trace::open(path, options).map(|trace| Box::new(trace) as Box<dyn TraceSource>)
}

/// Opens the file of a trace. A named pipe or a terminal would keep the program waiting, deaf to signals; what the shell opened has a
/// writer.
///
/// # Errors
/// It is another kind of file, or the system refuses.
pub fn file(path: &Path) -> Result<File, InputError> {
    let is_inherited = INHERITED.iter().any(|folder| path.starts_with(folder));
    if is_inherited { Ok(File::open(path)?) } else { input::open(path, input::TRACE) }
}

/// Opens a trace from a stream, such as standard input, which errors call `name`.
///
/// # Errors
/// As [`Trace::open`].
pub fn open_stream(
    name: &str,
    stream: Box<dyn Read + Send>,
    options: &OpenOptions,
) -> Result<Trace, TraceError> {
    let wrong = |error| TraceError::File { action: "read", file: name.to_owned(), error };
    let (stream, compression) = decompress(stream).map_err(wrong)?;
    let mut lines = Lines::new(stream);
    if lines.ahead().is_empty()
        && let Some(error) = lines.failure()
    {
        return Err(wrong(error));
    }
    let format = match options.format {
        Some(format) => format,
        None => Format::detect(name, lines.ahead())?,
    };
    let source = Source { file: name.to_owned(), compression, lines };
    let intake = Intake::new(Volumes::new(options.volume.as_deref(), format.volumes()));
    let mut reader = reader(format, source, intake);
    reader.prime()?;
    Ok(Trace { format, compression, reader })
}

/// One reader for each format, so that parsing needs no indirect call.
fn reader(format: Format, source: Source, intake: Intake) -> Box<dyn TraceReader> {
    match format {
        Format::Likenew => Box::new(Reader::new(source, Likenew::default(), intake)),
        Format::Iolog => Box::new(Reader::new(source, Iolog::default(), intake)),
        Format::Blkparse => {
            let parser = Blkparse::new(source.lines.ahead());
            Box::new(Reader::new(source, parser, intake))
        }
        Format::Tracefs => Box::new(Reader::new(source, Tracefs, intake)),
        Format::Msr => Box::new(Reader::new(source, Msr::default(), intake)),
        Format::Systor => Box::new(Reader::new(source, Systor, intake)),
        Format::Alibaba => Box::new(Reader::new(source, Alibaba::default(), intake)),
        Format::Tencent => Box::new(Reader::new(source, Tencent::default(), intake)),
        Format::Fiu => Box::new(Reader::new(source, Fiu, intake)),
    }
}

impl Trace {
    /// Opens a trace and reads up to its first record. The format is found by what the file holds, the
    /// compression (gzip or Zstandard) by its first bytes.
    ///
    /// # Errors
    /// The file cannot be read; it is no trace, or not in the requested format; or it begins with something
    /// that breaks its format.
    pub fn open(path: &Path, options: &OpenOptions) -> Result<Self, TraceError> {
        let name = path.display().to_string();
        let file = file(path).map_err(|error| TraceError::File {
            action: "read",
            file: name.clone(),
            error: error.into(),
        })?;
        open_stream(&name, Box::new(file), options)
    }

    /// Its format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its compression.
    pub fn compression(&self) -> Option<&'static str> {
        self.compression
    }

    /// Its header, in the project's format; complete only at its end.
    pub fn head(&self) -> Option<&TraceHead> {
        self.reader.head()
    }

    /// What was skipped so far, and what could not be determined, as sentences without a full stop; complete
    /// only at the end.
    pub fn notes(&self) -> Vec<String> {
        self.reader.notes()
    }

    /// Events that are no I/O of a drive, by their first names; complete only at the end.
    pub fn other_events(&self) -> &[String] {
        self.reader.other_events()
    }

    /// The volume that is read, where the format names volumes.
    pub fn volume(&self) -> Option<String> {
        self.reader.volume()
    }
}

impl TraceSource for Trace {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        self.reader.next_io()
    }

    fn applications(&self) -> &[String] {
        self.reader.applications()
    }

    fn capacity(&self) -> Option<u64> {
        self.reader.capacity()
    }
}

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTANDARD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

const BUFFER: usize = 256 << 10;

/// Whether Zstandard data begins with a skippable frame, as that of some parallel compressors does.
fn is_skippable(magic: &[u8]) -> bool {
    matches!(magic, [0x50..=0x5f, 0x2a, 0x4d, 0x18])
}

/// The decompressed stream, and the name of its compression. Several gzip members or Zstandard frames are one
/// stream.
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
