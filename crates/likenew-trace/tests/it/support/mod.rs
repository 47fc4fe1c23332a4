//! Traces from text.

use likenew_core::trace::{TraceIo, TraceSource as _};
use likenew_trace::{Format, OpenOptions, Trace, TraceError, open_stream};

/// A record and the name of its application.
pub(crate) type Record = (TraceIo, String);

/// A trace from these bytes.
pub(crate) fn opened(bytes: &[u8], options: &OpenOptions) -> Result<Trace, TraceError> {
    open_stream("the stream", Box::new(std::io::Cursor::new(bytes.to_vec())), options)
}

/// Everything up to the end or an error.
pub(crate) fn drained(trace: &mut Trace) -> (Vec<Record>, Option<String>) {
    let mut records = Vec::new();
    loop {
        match trace.next_io() {
            Ok(Some(io)) => records.push((io, trace.applications()[usize::from(io.application)].clone())),
            Ok(None) => return (records, None),
            Err(error) => return (records, Some(error)),
        }
    }
}

/// All records, and the error that ended them, including that of opening.
pub(crate) fn all_bytes(bytes: &[u8], options: &OpenOptions) -> (Vec<Record>, Option<String>) {
    match opened(bytes, options) {
        Ok(mut trace) => drained(&mut trace),
        Err(error) => (Vec::new(), Some(error.to_string())),
    }
}

pub(crate) fn all(
    text: &str,
    format: Option<&'static Format>,
    volume: Option<&str>,
) -> (Vec<Record>, Option<String>) {
    all_bytes(text.as_bytes(), &OpenOptions { format, volume: volume.map(str::to_owned) })
}

/// A whole trace that reads without an error.
#[track_caller]
pub(crate) fn read_as(
    text: &str,
    format: Option<&'static Format>,
    volume: Option<&str>,
) -> (Trace, Vec<Record>) {
    let options = OpenOptions { format, volume: volume.map(str::to_owned) };
    let mut trace = opened(text.as_bytes(), &options).unwrap_or_else(|error| panic!("{error}"));
    let (records, error) = drained(&mut trace);
    assert_eq!(error, None);
    (trace, records)
}

#[track_caller]
pub(crate) fn read(text: &str) -> (Trace, Vec<Record>) {
    read_as(text, None, None)
}

/// The error of an invalid or incomplete text.
#[track_caller]
pub(crate) fn refused(text: &str, volume: Option<&str>) -> String {
    all(text, None, volume).1.expect("an error")
}

#[track_caller]
pub(crate) fn refused_bytes(bytes: &[u8]) -> String {
    all_bytes(bytes, &OpenOptions::default()).1.expect("an error")
}

pub(crate) fn volume(text: &str) -> Option<String> {
    read(text).0.volume()
}

/// `AT OP OFFSET+LENGTH LATENCY APPLICATION; …`
pub(crate) fn brief(records: &[Record]) -> String {
    let records = records.iter().map(|(io, name)| {
        let latency = io.latency.map_or("-".to_owned(), |latency| latency.0.to_string());
        let text = format!("{} {} {}+{} {latency} {name}", io.at.0, io.op, io.offset, io.length);
        text.trim_end().to_owned()
    });
    records.collect::<Vec<_>>().join("; ")
}
