//! A trace: the I/Os of programs, in the order in which they left.

use crate::io::Op;
use crate::units::Nanos;

/// One I/O of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceIo {
    /// When it left, since the first of its trace left.
    pub at: Nanos,
    /// What it did.
    pub op: Op,
    /// First byte of the range, on the drive that was recorded.
    pub offset: u64,
    /// Bytes; a discard can be longer than any read or write. Zero only for a flush.
    pub length: u64,
    /// How long it took there, where that is known.
    pub latency: Option<Nanos>,
    /// Its application: an index into [`TraceSource::applications`].
    pub application: u16,
}

/// I/Os of a trace, one after the other, in memory that does not grow with their number.
///
/// Times never go back.
pub trait TraceSource: Send {
    /// The next one, or none at the end.
    ///
    /// # Errors
    /// A sentence that names file, line and column, what is wrong there, and what was expected. Nothing
    /// follows an error.
    fn next_io(&mut self) -> Result<Option<TraceIo>, String>;

    /// Names of the applications met so far, by their index; the first is empty and stands for those that are
    /// not known.
    fn applications(&self) -> &[String];

    /// Bytes that the recorded drive can address, where the trace says so.
    fn capacity(&self) -> Option<u64> {
        None
    }
}

/// Takes the I/Os of a trace, in the order in which they left.
pub trait TraceSink {
    /// One more.
    ///
    /// # Errors
    /// It could not be kept.
    fn put(&mut self, io: &TraceIo, application: &str) -> std::io::Result<()>;
}
