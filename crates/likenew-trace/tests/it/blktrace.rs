//! Binary files of blktrace, made here after the public struct and compared with what blkparse prints of them.

use std::path::Path;
use std::process::Command;

use crate::formats::keeps_its_promises;
use crate::support::{Record, all_bytes, brief, drained, opened, read_as};
use likenew_trace::{OpenOptions, Trace};
use proptest::prelude::*;

const READ: u32 = 1;
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const QUEUE: u32 = 1 << 4;
const REQUEUE: u32 = 1 << 5;
const ISSUE: u32 = 1 << 6;
const COMPLETE: u32 = 1 << 7;
const COMMAND: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const DISCARD: u32 = 1 << 13;

const SDA: u32 = 8 << 20;

/// A record, in the order of its fields.
#[derive(Clone)]
struct Event {
    at: u64,
    sector: u64,
    bytes: u32,
    /// Categories.
    of: u32,
    /// What happens.
    act: u32,
    pid: u32,
    device: u32,
    cpu: u32,
    error: u16,
    data: Vec<u8>,
}

impl Event {
    fn new(at: u64, of: u32, act: u32, sector: u64, bytes: u32) -> Self {
        Self { at, sector, bytes, of, act, pid: 697, device: SDA, cpu: 0, error: 0, data: Vec::new() }
    }

    fn name(at: u64, pid: u32, name: &str) -> Self {
        let mut data = name.as_bytes().to_vec();
        data.resize(16, 0);
        Self { pid, data, ..Self::new(at, NOTIFY, 0, 0, 0) }
    }

    fn bytes(&self, is_big_endian: bool) -> Vec<u8> {
        let mut record = Vec::new();
        let mut put = |number: u64, bytes: usize| {
            let number = number.to_be_bytes();
            let number = &number[8 - bytes..];
            if is_big_endian {
                record.extend(number);
            } else {
                record.extend(number.iter().rev());
            }
        };
        put(0x6561_7407, 4);
        put(1, 4);
        put(self.at, 8);
        put(self.sector, 8);
        put(self.bytes.into(), 4);
        put((self.of << 16 | self.act).into(), 4);
        for number in [self.pid, self.device, self.cpu] {
            put(number.into(), 4);
        }
        put(self.error.into(), 2);
        put(self.data.len() as u64, 2);
        record.extend(&self.data);
        record
    }
}

fn joined(events: &[Event], is_big_endian: bool) -> Vec<u8> {
    events.iter().flat_map(|event| event.bytes(is_big_endian)).collect()
}

/// One processor's view of a short day.
fn short() -> Vec<Event> {
    vec![
        Event::name(1_000, 697, "kjournald"),
        Event { data: vec![0; 8], ..Event::new(1_000, NOTIFY, 1, 0, 0) },
        Event::new(2_000, WRITE | QUEUE, 1, 2048, 4096),
        Event { data: vec![1; 16], ..Event::new(2_500, WRITE | QUEUE, 15, 2048, 4096) },
        Event::new(3_000, WRITE | ISSUE, 7, 2048, 4096),
        Event { data: b"cfq: a message".to_vec(), ..Event::new(3_500, NOTIFY, 2, 0, 0) },
        Event { data: vec![0x12; 6], ..Event::new(4_000, READ | ISSUE | COMMAND, 7, 0, 36) },
        // From a control group, whose number stands before the data.
        Event { data: vec![7; 8], ..Event::new(5_000, READ | ISSUE, 7 | 1 << 8, 4096, 8192) },
        Event::new(6_000, WRITE | COMPLETE, 8, 2048, 4096),
        Event { error: 5, ..Event::new(7_000, READ | COMPLETE, 8, 4096, 8192) },
        Event::new(8_000, FLUSH | ISSUE, 7, 0, 0),
        Event::new(9_000, FLUSH | COMPLETE, 8, 0, 0),
        Event::new(10_000, WRITE | DISCARD | ISSUE, 7, 8, 1 << 20),
        Event::new(11_000, WRITE | DISCARD | COMPLETE, 8, 8, 1 << 20),
    ]
}

const SHORT: &str = "0 write 1048576+4096 3000 kjournald; 2000 read 2097152+8192 2000 kjournald; \
                     5000 flush 0+0 1000 kjournald; 7000 trim 4096+1048576 1000 kjournald";

/// Thousands of I/Os of three programs on four processors.
fn long() -> Vec<Vec<Event>> {
    let mut cpus: Vec<Vec<Event>> = vec![Vec::new(); 4];
    let mut all = Vec::new();
    for (pid, name) in [(11, "postgres"), (12, "a b"), (13, "kworker/u8:1")] {
        all.push(Event::name(500 + u64::from(pid), pid, name));
    }
    for n in 0..5_000u64 {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = 10_000 + n * 50_000;
        let of = [READ, WRITE, WRITE | FLUSH, WRITE | DISCARD][(mixed >> 60) as usize % 4];
        let (sector, bytes) = ((mixed >> 20) % (1 << 30), 512 * (1 + (mixed >> 50) as u32 % 64));
        let by = |at, of, act, cpu: u64| Event {
            pid: 11 + (mixed >> 33) as u32 % 3,
            cpu: cpu as u32 % 4,
            ..Event::new(at, of, act, sector, bytes)
        };
        all.push(by(at, of | QUEUE, 1, mixed >> 40));
        all.push(by(at + 2_000, of | ISSUE, 7, mixed >> 40));
        if mixed % 50 == 0 {
            all.push(by(at + 3_000, of | REQUEUE, 6, mixed >> 40));
            all.push(by(at + 4_000, of | ISSUE, 7, mixed >> 40));
        }
        all.push(by(at + 5_000 + (mixed >> 12) % 900_000, of | COMPLETE, 8, mixed >> 44));
    }
    all.sort_by_key(|event| event.at);
    for event in all {
        cpus[event.cpu as usize].push(event);
    }
    cpus
}

fn write(folder: &Path, drive: &str, cpus: &[Vec<Event>], is_big_endian: bool) {
    for (cpu, events) in cpus.iter().enumerate() {
        std::fs::write(folder.join(format!("{drive}.blktrace.{cpu}")), joined(events, is_big_endian))
            .unwrap();
    }
}

#[track_caller]
fn records(path: &Path, volume: Option<&str>) -> Vec<Record> {
    let options = OpenOptions { format: None, volume: volume.map(str::to_owned) };
    let mut trace = Trace::open(path, &options).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(trace.format().name, "blktrace");
    let (records, error) = drained(&mut trace);
    assert_eq!(error, None);
    records
}

/// What blkparse prints of these files.
fn blkparse(folder: &Path, drive: &str) -> String {
    let out = Command::new("blkparse").current_dir(folder).args(["-i", drive]).output();
    let out = out.expect("blkparse is installed: make test does that");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

#[test]
fn records_are_read_in_both_orders_of_bytes() {
    for is_big_endian in [false, true] {
        let mut trace = opened(&joined(&short(), is_big_endian), &OpenOptions::default()).unwrap();
        assert_eq!(brief(&drained(&mut trace).0), SHORT);
        assert_eq!((trace.format().name, trace.volume().as_deref()), ("blktrace", Some("8,0")));
        assert_eq!(trace.notes(), ["1 driver command was skipped", "1 I/O ended with an error"]);
    }
}

#[test]
fn files_hold_the_ios_that_blkparse_prints() {
    let folder = tempfile::tempdir().unwrap();
    // blkparse 1.2.0 leaves out what comes from a control group.
    let short = short().into_iter().map(|event| match event.act {
        0x107 => Event { act: 7, data: Vec::new(), ..event },
        _ => event,
    });
    let short: Vec<Event> = short.collect();
    for (drive, cpus, is_big_endian) in
        [("sda", vec![short], false), ("le", long(), false), ("be", long(), true)]
    {
        write(folder.path(), drive, &cpus, is_big_endian);
        let printed = blkparse(folder.path(), drive);
        let expected = read_as(&printed, Some("blkparse".parse().unwrap()), None).1;
        let found = records(&folder.path().join(format!("{drive}.blktrace.0")), None);
        assert!(found == expected, "{drive}: {} and {}", brief(&found), brief(&expected));
        assert!(found.len() == if drive == "sda" { 4 } else { 5_000 }, "{}", found.len());
    }
}

#[test]
fn a_stream_of_all_processors_with_much_data_is_read() {
    let mut events: Vec<Event> = long().concat();
    events.sort_by_key(|event| event.at);
    let expected = brief(&all_bytes(&joined(&events, false), &OpenOptions::default()).0);
    for at in [0, 3, 700, 4_000] {
        let message = Event::new(1 << 30, NOTIFY, 2, 0, 0);
        events.insert(at, Event { data: vec![b'm'; usize::from(u16::MAX) - at % 7], ..message });
    }
    let (records, error) = all_bytes(&joined(&events, false), &OpenOptions::default());
    assert!(error.is_none() && records.len() == 5_000 && brief(&records) == expected, "{error:?}");
}

#[test]
fn any_of_the_files_or_what_their_names_begin_with_stands_for_all() {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "sda", &long(), false);
    write(folder.path(), "sdb", &[short()], false);
    std::fs::write(folder.path().join("sda.blktrace.txt"), "no record").unwrap();
    let path = |name: &str| folder.path().join(name);
    let all = records(&path("sda"), None);
    assert_eq!(all.len(), 5_000);
    assert!(records(&path("sda.blktrace.2"), None) == all);
    // Packed, as one of them or in place of one.
    let third = std::fs::read(path("sda.blktrace.3")).unwrap();
    std::fs::write(path("sda.blktrace.3.zst"), zstd::encode_all(&third[..], 1).unwrap()).unwrap();
    assert!(records(&path("sda"), None) == all);
    std::fs::remove_file(path("sda.blktrace.3")).unwrap();
    for name in ["sda", "sda.blktrace.0", "sda.blktrace.3.zst"] {
        assert!(records(&path(name), None) == all, "{name}");
    }
    let missing = Trace::open(&path("sd"), &OpenOptions::default()).err().unwrap().to_string();
    assert!(missing.contains("could not read"), "{missing}");
    // What breaks one of them is named with its file.
    std::fs::write(path("sda.blktrace.1"), [&third[..480], &[b'x'; 60]].concat()).unwrap();
    let mut trace = Trace::open(&path("sda"), &OpenOptions::default()).unwrap();
    let error = drained(&mut trace).1.unwrap();
    assert!(error.contains("sda.blktrace.1, record 11, byte 1: expected the mark of a record"), "{error}");
}

#[test]
fn a_device_without_requests_is_read_by_its_bios_and_one_of_several_is_chosen() {
    let dm = |event: Event| Event { device: 253 << 20 | 3, ..event };
    let mut events = short();
    events.push(dm(Event::new(20_000, WRITE | QUEUE, 1, 64, 4096)));
    events.push(dm(Event::new(50_000, WRITE | COMPLETE, 8, 64, 4096)));
    let bytes = joined(&events, false);
    let (_, error) = all_bytes(&bytes, &OpenOptions::default());
    let error = error.unwrap();
    assert!(error.contains("in its first 16 records (with records): 8,0 (4), 253,3 (1)"), "{error}");
    for (volume, expected) in [("253,3", "0 write 32768+4096 30000 kjournald"), ("8,0", SHORT)] {
        let options = OpenOptions { format: None, volume: Some(volume.to_owned()) };
        assert_eq!(brief(&all_bytes(&bytes, &options).0), expected);
    }
}

#[test]
fn what_is_torn_or_of_another_kind_is_said() {
    let bytes = joined(&short(), false);
    let mut trace = opened(&bytes[..bytes.len() - 5], &OpenOptions::default()).unwrap();
    assert_eq!(drained(&mut trace).0.len(), 4);
    let notes = trace.notes();
    assert!(
        notes.contains(&"the last record of a file is incomplete and was skipped".to_owned()),
        "{notes:?}"
    );
    let blktrace = OpenOptions { format: Some("blktrace".parse().unwrap()), volume: None };
    for (bytes, options, message) in [
        (b"\x06taebinary".to_vec(), OpenOptions::default(), "of version 6, and this one reads version 7"),
        (vec![b'1'; 100], blktrace, "record 1, byte 1: expected the mark of a record of blktrace"),
        (
            joined(&[Event::new(1, READ | ISSUE, 7, 1 << 60, 512)], true),
            OpenOptions::default(),
            "record 1, byte 17: expected a sector within 1 EiB",
        ),
    ] {
        let error = all_bytes(&bytes, &options).1.unwrap();
        assert!(error.contains(message), "{error}");
    }
}

proptest! {
    #[test]
    fn nothing_that_is_nearly_a_record_breaks_the_reader(
        is_big_endian: bool,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 0..8),
    ) {
        let mut bytes = joined(&short(), is_big_endian);
        for (at, byte, kind) in changes {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.truncate(at.max(1)),
                _ => bytes.extend_from_within(at..),
            }
        }
        keeps_its_promises(&bytes, None)?;
        keeps_its_promises(&bytes, Some("blktrace".parse().unwrap()))?;
    }
}
