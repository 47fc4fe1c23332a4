//! Reads blktrace's binary files, one for each processor: records of 48 bytes, each followed by data.
//!
//! The magic number shows the byte order of the recording machine. Events are those that blkparse prints; notices give
//! names of processes. Source: `struct blk_io_trace` of `include/uapi/linux/blktrace_api.h`, and
//! `kernel/trace/blktrace.c` of Linux.

use std::io::Write as _;

use rustc_hash::FxHashMap;

use super::block_layer::{Event, EventKind, Layer, Layers, Range};
use super::{Format, Parse, SECTOR};
use crate::error::{FileProblem, LineError};
use crate::intake::Intake;
use crate::lines::{Framing, Value};
use crate::notes::Counted;
use crate::wording::expected;

/// The version of records that can be read.
const VERSION: u8 = 7;

pub(super) static FORMAT: Format = Format {
    magics: &[&[VERSION, b't', b'a', b'e'], &[b'e', b'a', b't', VERSION]],
    problem: |ahead| match ahead {
        [version, b't', b'a', b'e', ..] | [b'e', b'a', b't', version, ..] => {
            Some(FileProblem::BlktraceVersion { version: *version, known: VERSION })
        }
        _ => None,
    },
    framing: Framing::Records { length, time },
    ..Format::new("blktrace", || Box::<Blktrace>::default())
};

/// Bytes of a record without its data.
const RECORD_BYTES: usize = 48;

// ## Offsets of values in a record, in bytes

const TIME: usize = 8;
const SECTOR_AT: usize = 16;
const BYTES: usize = 24;
const ACTION: usize = 28;
const PROCESS: usize = 32;
const DEVICE: usize = 36;
const ERROR: usize = 44;
const DATA_LENGTH: usize = 46;

/// Event by the lower half of an action; the upper half holds categories.
const ACTIONS: [(u32, (Layer, EventKind)); 4] = [
    (1, (Layer::Bio, EventKind::Issue)),
    (6, (Layer::Request, EventKind::Requeued)),
    (7, (Layer::Request, EventKind::Issue)),
    (8, (Layer::Request, EventKind::Complete)),
];
/// Bit of an action: a control group's number precedes the data.
const WITH_GROUP: u32 = 1 << 8;
const GROUP_BYTES: usize = 8;

const WRITE: u32 = 1 << 17;
const FLUSH: u32 = 1 << 18;
const COMMAND: u32 = 1 << 25;
const NOTICE: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// Bits of a device's number for its minor number.
const MINOR_BITS: u32 = 20;

/// Most names of processes that are kept. Chosen: more than run at once on most machines, and a few MB.
const NAMES_MAX: usize = 1 << 16;

/// Reads records of blktrace.
#[derive(Default)]
struct Blktrace {
    layers: Layers,
    /// Name by process number.
    names: FxHashMap<u32, Box<[u8]>>,
}

/// A record and its byte order.
#[derive(Clone, Copy)]
struct Record<'l> {
    bytes: &'l [u8],
    is_big_endian: bool,
}

impl Parse for Blktrace {
    fn begin(&mut self, mut ahead: &[u8], _intake: &mut Intake) {
        let mut devices = Vec::new();
        while let Some(bytes) = length(ahead) {
            let (first, rest) = ahead.split_at(bytes);
            ahead = rest;
            devices
                .extend(Record::new(first).ok().and_then(|record| Some((record.device(), record.event()?))));
        }
        self.layers.learn(devices.iter().map(|(device, event)| (&**device, *event)));
    }

    fn forgives_torn_end(&self) -> bool {
        true
    }

    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let record = Record::new(line)?;
        let action = record.word(ACTION);
        if action & NOTICE != 0 {
            self.notice(record, action);
            return Ok(());
        }
        let Some(event) = record.event() else { return Ok(()) };
        let device = record.device();
        if !self.layers.take(&device, event)? {
            return Ok(());
        }
        let bytes = u64::from(record.word(BYTES));
        if action & COMMAND != 0 || bytes % SECTOR != 0 {
            intake.notes.count(Counted::Commands);
            return Ok(());
        }
        let bracket = match event.1 {
            EventKind::Complete if record.half(ERROR) != 0 => &b"error"[..],
            EventKind::Complete => b"",
            _ => self.names.get(&record.word(PROCESS)).map_or(&b""[..], |name| name),
        };
        let value = |number, column| Value { number, column };
        let event = Event {
            at: value(record.long(TIME), TIME),
            kind: event.1,
            device: &device,
            letters: letters(action),
            letters_at: ACTION,
            range: Range {
                sector: value(record.long(SECTOR_AT), SECTOR_AT),
                sectors: value(bytes / SECTOR, BYTES),
                bracket,
            },
        };
        event.apply_to(intake)
    }
}

impl Blktrace {
    /// Learns the name of a process. Other notices do not concern I/Os.
    fn notice(&mut self, record: Record<'_>, action: u32) {
        let mut data = &record.bytes[RECORD_BYTES..];
        if action & WITH_GROUP != 0 {
            data = data.get(GROUP_BYTES..).unwrap_or_default();
        }
        let is_name = action & 0xff == 0;
        let process = record.word(PROCESS);
        if is_name && (self.names.len() < NAMES_MAX || self.names.contains_key(&process)) {
            let length = memchr::memchr(0, data).unwrap_or(data.len());
            self.names.insert(process, data[..length].into());
        }
    }
}

impl<'l> Record<'l> {
    fn new(bytes: &'l [u8]) -> Result<Self, LineError> {
        let is_big_endian = match bytes {
            _ if bytes.len() < RECORD_BYTES => return Err(LineError::at(0, expected::BLKTRACE_RECORD)),
            [VERSION, b't', b'a', b'e', ..] => false,
            [b'e', b'a', b't', VERSION, ..] => true,
            _ => return Err(LineError::at(0, expected::BLKTRACE_MAGIC)),
        };
        Ok(Self { bytes, is_big_endian })
    }

    fn number<const N: usize>(self, at: usize) -> [u8; N] {
        let mut number = [0; N];
        number.copy_from_slice(&self.bytes[at..at + N]);
        if self.is_big_endian {
            number.reverse();
        }
        number
    }

    fn half(self, at: usize) -> u16 {
        u16::from_le_bytes(self.number(at))
    }

    fn word(self, at: usize) -> u32 {
        u32::from_le_bytes(self.number(at))
    }

    fn long(self, at: usize) -> u64 {
        u64::from_le_bytes(self.number(at))
    }

    /// The step in an I/O's life, if the record is about an I/O.
    fn event(self) -> Option<(Layer, EventKind)> {
        let action = self.word(ACTION);
        let happens = action & 0xffff & !WITH_GROUP;
        let event = ACTIONS.iter().find(|(number, _)| *number == happens && action & NOTICE == 0)?;
        Some(event.1)
    }

    /// The device, as blkparse prints it: `8,0`.
    fn device(self) -> Vec<u8> {
        let number = self.word(DEVICE);
        let mut device = Vec::with_capacity(16);
        let (major, minor) = (number >> MINOR_BITS, number & ((1 << MINOR_BITS) - 1));
        write!(device, "{major},{minor}").expect("memory takes everything");
        device
    }
}

/// The letters of a request with these categories, as blkparse prints them.
fn letters(action: u32) -> &'static [u8] {
    match (action & FLUSH != 0, action & DISCARD != 0, action & WRITE != 0) {
        (true, _, true) => b"FW",
        (true, _, false) => b"F",
        (false, true, _) => b"D",
        (false, false, true) => b"W",
        (false, false, false) => b"R",
    }
}

/// Length of the first record with its data, once all bytes are there. Invalid bytes count as a record without data.
fn length(bytes: &[u8]) -> Option<usize> {
    let first = bytes.get(..RECORD_BYTES)?;
    let data = Record::new(first).map_or(0, |record| usize::from(record.half(DATA_LENGTH)));
    Some(RECORD_BYTES + data).filter(|length| *length <= bytes.len())
}

/// Time of a record's event; 0 for a damaged record.
fn time(bytes: &[u8]) -> u64 {
    Record::new(bytes).map_or(0, |record| record.long(TIME))
}
