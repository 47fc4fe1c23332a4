//! The project's own format: written traces read back, however the writer ended.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink as _, TraceSource as _};
use likenew_core::units::Nanos;
use likenew_trace::{OpenOptions, Trace, TraceError, TraceHead, TraceWriter};
use proptest::prelude::*;

/// Records of a source with the names of their applications, and the error that ended it.
fn drain(trace: &mut Trace) -> (Vec<(TraceIo, String)>, Option<String>) {
    let mut records = Vec::new();
    loop {
        match trace.next_io() {
            Ok(Some(io)) => {
                let name = trace.applications()[usize::from(io.application)].clone();
                records.push((io, name));
            }
            Ok(None) => return (records, None),
            Err(error) => return (records, Some(error)),
        }
    }
}

fn opened(path: &Path) -> Trace {
    Trace::open(path, &OpenOptions::default()).unwrap()
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn io(at: u64, op: Op, offset: u64, length: u64) -> TraceIo {
    TraceIo { at: Nanos(at), op, offset, length, latency: Some(Nanos(at + 1)), application: 0 }
}

fn text_file(folder: &tempfile::TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("trace.csv");
    std::fs::write(&path, text).unwrap();
    path
}

const HEAD: &str = "# likenew trace 1\n# name: sda\n# capacity_bytes: 1048576\n\
                    at_ns,op,offset,length,latency_ns,application\n";

fn records() -> impl Strategy<Value = Vec<(TraceIo, String)>> {
    let record =
        (0u64..5_000_000_000, 0usize..4, 0u64..1 << 50, 1u64..1 << 30, any::<Option<u32>>(), "[^\\pC]{0,12}");
    prop::collection::vec(record, 0..200).prop_map(|mut rows| {
        rows.sort_by_key(|row| row.0);
        let first = rows.first().map_or(0, |row| row.0);
        let records = rows.into_iter().map(|(at, op, offset, length, latency, name)| {
            let op = Op::ALL[op];
            let (offset, length) = if op == Op::Flush { (0, 0) } else { (offset, length) };
            let latency = latency.map(|ns| Nanos(u64::from(ns)));
            (TraceIo { at: Nanos(at - first), op, offset, length, latency, application: 0 }, name)
        });
        records.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_written_reads_back(records in records(), packed: bool) {
        let folder = folder();
        let path = folder.path().join(if packed { "t.csv.zst" } else { "t.csv" });
        let head = TraceHead {
            name: Some("sda".into()),
            model: Some("Likely, \"Model\" #1".into()),
            capacity: Some(1 << 52),
            block: Some(4096),
            clock: Some("mono".into()),
            recorded: Some("2026-03-01T12:00:00Z".into()),
            kernel: Some("6.1".into()),
            lost_events: Some(7),
            extra: vec![("idle".into(), "12 s".into())],
        };
        let mut writer = TraceWriter::create(&path, &head).unwrap();
        for (io, name) in &records {
            writer.put(io, name).unwrap();
        }
        prop_assert_eq!(writer.finish().unwrap(), records.len() as u64);
        let mut trace = opened(&path);
        prop_assert_eq!(trace.compression(), packed.then_some("Zstandard"));
        prop_assert_eq!(trace.capacity(), Some(1 << 52));
        let (found, error) = drain(&mut trace);
        prop_assert_eq!(error, None);
        let found: Vec<_> = found.into_iter().map(|(io, name)| (TraceIo { application: 0, ..io }, name)).collect();
        prop_assert_eq!(found, records);
        prop_assert_eq!(trace.head(), Some(&head));
        prop_assert!(trace.notes().is_empty(), "{:?}", trace.notes());
    }

    #[test]
    fn a_file_cut_anywhere_gives_what_was_whole(cut in 0usize..100_000, packed: bool) {
        let folder = folder();
        let path = folder.path().join(if packed { "t.csv.zst" } else { "t.csv" });
        let mut writer = TraceWriter::create(&path, &TraceHead::default()).unwrap();
        for n in 0..1000 {
            // More than a second apart every tenth time, so that the compressed file is flushed in pieces.
            writer.put(&io(n * 150_000_000, Op::Write, n * 4096, 4096), "dd").unwrap();
        }
        writer.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let cut = cut % bytes.len();
        std::fs::write(&path, &bytes[..cut]).unwrap();
        match Trace::open(&path, &OpenOptions::default()) {
            Err(error) => prop_assert!(cut < 200, "{cut}: {error}"),
            Ok(mut trace) => {
                let (found, error) = drain(&mut trace);
                prop_assert_eq!(error, None);
                prop_assert!(found.iter().enumerate().all(|(n, (io, _))| io.offset == n as u64 * 4096));
                let notes = trace.notes().join("; ");
                prop_assert!(notes.contains("no end mark") || found.len() == 1000, "{}", notes);
            }
        }
    }
}

#[test]
fn a_writer_that_was_killed_leaves_all_but_the_latest_second() {
    let folder = folder();
    for name in ["t.csv", "t.csv.zst"] {
        let path = folder.path().join(name);
        let mut writer = TraceWriter::create(&path, &TraceHead::default()).unwrap();
        for n in 0..100 {
            writer.put(&io(n * 100_000_000, Op::Read, n * 4096, 4096), "").unwrap();
        }
        // A killed program does not run this.
        std::mem::forget(writer);
        let mut trace = opened(&path);
        let (found, error) = drain(&mut trace);
        assert_eq!(error, None);
        assert!((90..100).contains(&found.len()), "{name}: {}", found.len());
        assert!(trace.notes().iter().any(|note| note.contains("no end mark")), "{:?}", trace.notes());
    }
}

#[test]
fn a_head_may_be_completed_while_records_come() {
    let folder = folder();
    let path = folder.path().join("t.csv");
    let head = TraceHead { lost_events: Some(0), ..TraceHead::default() };
    let mut writer = TraceWriter::create(&path, &head).unwrap();
    writer.put(&io(0, Op::Flush, 0, 0), "a\nb").unwrap();
    writer.note("lost_events", "3");
    writer.finish().unwrap();
    let mut trace = opened(&path);
    assert_eq!(drain(&mut trace).0[0].1, "a b");
    assert_eq!(trace.head().unwrap().lost_events, Some(3));
}

#[test]
fn no_existing_file_is_written_and_no_nonsense_recorded() {
    let folder = folder();
    let path = text_file(&folder, "mine");
    let created = TraceWriter::create(&path, &TraceHead::default());
    assert!(matches!(created, Err(TraceError::File { .. })));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let mut writer = TraceWriter::create(&folder.path().join("new.csv"), &TraceHead::default()).unwrap();
    writer.put(&io(5, Op::Read, 0, 1), "").unwrap();
    for wrong in [io(4, Op::Read, 0, 1), io(6, Op::Write, 0, 0), io(6, Op::Flush, 0, 1)] {
        let error = writer.put(&wrong, "").unwrap_err();
        assert!(error.to_string().starts_with("a trace cannot hold this record: it "), "{error}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let folder = folder();
    for (rows, message) in [
        ("x", "line 5, column 1: expected a time in nanoseconds, found \"x\""),
        ("5;read", "line 5, column 2: expected a comma, found \";read\""),
        ("5,erase,0,1,,", "column 3: expected read, write, trim or flush, found \"erase\""),
        ("5,read,-4,1,,", "column 8: expected an offset in bytes, found \"-4\""),
        ("5,read,4,0,,", "column 10: expected a length above 0, found \"0\""),
        ("5,read,4,1073741825,,", "expected a length of at most 1 GiB, found \"1073741825\""),
        ("5,read,1048000,1024,,", "column 8: expected a range that ends within the drive's 1048576 bytes"),
        ("5,read,18446744073709551615,2,,", "expected a range that ends within the drive's 1048576 bytes"),
        ("5,read,4,1,NaN,", "column 12: expected a latency in nanoseconds, or nothing, found \"NaN\""),
        ("5,read,4,1,99999999999999999,", "expected a latency below a year"),
        ("5,read,4,1", "column 11: expected a comma, found the end of the line"),
        ("5,read,4,1,,a,b", "column 14: expected the end of the line, or a name in quotes"),
        ("5,read,4,1,,\"a", "column 13: expected a name whose quote ends on its line"),
        ("5,read,4,1,,\"a\"b", "column 16: expected the end of the line, found \"b\""),
        ("0,read,4,1,,\n99999999999999999,read,4,1,,", "line 6, column 1: expected a time within a year"),
        ("# capacity_bytes: 0", "line 5, column 19: expected a number of bytes above 0"),
        ("# Name: x", "line 5, column 3: expected a key of lower-case letters"),
        ("0,read,4,1,,\n# end: 2", "line 6: the trace says here that it has 2 records, and 1 were found"),
        ("# end: 0\n0,read,4,1,,", "line 6, column 1: expected nothing after the end mark"),
        ("\0\0\0", "found \"\\x00\\x00\\x00\""),
    ] {
        let path = text_file(&folder, &format!("{HEAD}{rows}\n"));
        let error = match Trace::open(&path, &OpenOptions::default()) {
            Err(error) => error.to_string(),
            Ok(mut trace) => drain(&mut trace).1.unwrap_or_else(|| panic!("no error: {rows}")),
        };
        assert!(error.contains(message), "{rows}: {error}");
        assert!(error.starts_with(path.to_str().unwrap()), "{error}");
    }
}

#[test]
fn what_is_no_trace_is_not_opened() {
    let folder = folder();
    let refused = |path: &Path| Trace::open(path, &OpenOptions::default()).err().unwrap().to_string();
    assert!(refused(&folder.path().join("none")).contains("No such file"));
    assert!(refused(folder.path()).contains("a folder"));
    assert!(refused(&text_file(&folder, "")).ends_with("is empty"));
    assert!(refused(&text_file(&folder, "<html>")).contains("has an unknown trace format"));
}

#[test]
fn late_records_are_put_into_order() {
    let folder = folder();
    let path = text_file(&folder, &format!("{HEAD}7,read,0,512,,\n5,write,0,512,,\n6,trim,0,512,,\n"));
    let order: Vec<(u64, Op)> = drain(&mut opened(&path)).0.iter().map(|(io, _)| (io.at.0, io.op)).collect();
    assert_eq!(order, [(0, Op::Write), (1, Op::Trim), (2, Op::Read)]);
}

#[test]
fn packed_traces_may_come_in_several_pieces() {
    let folder = folder();
    let pieces = [HEAD, "1,read,0,512,,\n", "2,read,0,512,,\n# end: 2\n"];
    let gzip: Vec<u8> = pieces
        .iter()
        .flat_map(|piece| {
            let mut member = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            member.write_all(piece.as_bytes()).unwrap();
            member.finish().unwrap()
        })
        .collect();
    let zstandard: Vec<u8> =
        pieces.iter().flat_map(|piece| zstd::encode_all(piece.as_bytes(), 1).unwrap()).collect();
    for bytes in [gzip, zstandard] {
        // The compression is detected from the content, not from the name.
        let path = folder.path().join("trace");
        std::fs::write(&path, &bytes).unwrap();
        let (found, error) = drain(&mut opened(&path));
        assert_eq!((found.len(), error), (2, None));
        let mut damaged = bytes.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        std::fs::write(&path, &damaged).unwrap();
        let message = match Trace::open(&path, &OpenOptions::default()) {
            Err(error) => error.to_string(),
            // Some bytes, such as a date in a header, have no meaning.
            Ok(mut trace) => match drain(&mut trace) {
                (same, None) if same == found => "no end mark".to_owned(),
                (_, error) => error.unwrap_or_else(|| trace.notes().join("; ")),
            },
        };
        assert!(message.contains(path.to_str().unwrap()) || message.contains("no end mark"), "{message}");
    }
}
