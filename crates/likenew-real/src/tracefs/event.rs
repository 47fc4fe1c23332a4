//! The kernel's records of block requests, decoded.

use std::collections::HashMap;

use likenew_core::io::Op;

use crate::wording::record as wording;

/// What happened to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The program that the request comes from gave it to the scheduler.
    Insert,
    /// The request left for the drive.
    Issue,
    /// The drive did not take the request now; it will leave again.
    Requeue,
    /// The request ended, wholly or in part.
    Complete,
    /// Records of a processor are missing here.
    Lost,
}

impl Step {
    /// The recorded events, with what each stands for.
    pub(crate) const EVENTS: [(&str, Self); 4] = [
        ("block_rq_insert", Self::Insert),
        ("block_rq_issue", Self::Issue),
        ("block_rq_requeue", Self::Requeue),
        ("block_rq_complete", Self::Complete),
    ];
}

/// One step of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockEvent {
    /// The time in nanoseconds of the machine's monotonic clock.
    pub(crate) at: u64,
    /// First sector on the disk; 0 for a flush.
    pub(crate) sector: u64,
    /// How many sectors.
    pub(crate) sectors: u32,
    /// The number of the disk in the kernel: the major number is in the bits from 20 on.
    pub(crate) device: u32,
    /// The thread that ran when it happened.
    pub(crate) thread: u32,
    /// The index of that thread's name, if the record has a name.
    pub(crate) application: u16,
    pub(crate) op: Op,
    pub(crate) step: Step,
    /// Whether the request ended with an error.
    pub(crate) failed: bool,
}

/// Where the fields are in the records of one event.
#[derive(Debug)]
struct Layout {
    id: u64,
    step: Step,
    thread: Field,
    device: Field,
    sector: Field,
    sectors: Field,
    letters: Field,
    comm: Option<Field>,
    error: Option<Field>,
}

impl Layout {
    fn parse(step: Step, format: &str) -> Result<Self, String> {
        let fields = Fields::parse(format);
        let named = matches!(step, Step::Insert | Step::Issue);
        let ended = step == Step::Complete;
        Ok(Self {
            id: event_id(format)?,
            step,
            thread: fields.get("common_pid")?,
            device: fields.get("dev")?,
            sector: fields.get("sector")?,
            sectors: fields.get("nr_sector")?,
            letters: fields.get("rwbs")?,
            comm: named.then(|| fields.get("comm")).transpose()?,
            // This field had another name before 4.14; without it, a failed I/O is not counted as failed.
            error: fields.find("error").or_else(|| fields.find("errors")).filter(|_| ended),
        })
    }

    fn decode(&self, at: u64, record: &[u8], applications: &mut Applications) -> Option<BlockEvent> {
        let sectors = self.sectors.number(record)? as u32;
        let op = op(self.letters.bytes(record)?, sectors)?;
        let sector = self.sector.number(record)?;
        let comm = self.comm.and_then(|comm| comm.bytes(record));
        Some(BlockEvent {
            at,
            // A flush has no address, which the kernel spells in two ways.
            sector: if op == Op::Flush { 0 } else { sector },
            sectors: if op == Op::Flush { 0 } else { sectors },
            device: self.device.number(record)? as u32,
            thread: self.thread.number(record)? as u32,
            application: comm.map_or(0, |comm| applications.index(comm)),
            op,
            step: self.step,
            failed: self.error.and_then(|error| error.number(record)).is_some_and(|error| error != 0),
        })
    }
}

/// Decodes the records of all recorded events.
#[derive(Debug)]
pub(crate) struct Decoder {
    common_type: Field,
    layouts: Vec<Layout>,
}

impl Decoder {
    /// From each event's format file.
    ///
    /// # Errors
    /// A sentence that says which event lacks what.
    pub(crate) fn new(formats: &[(Step, &str, String)]) -> Result<Self, String> {
        let named = |name: &str, error: String| wording::in_event(name, &error);
        let layouts = formats
            .iter()
            .map(|(step, name, text)| Layout::parse(*step, text).map_err(|error| named(name, error)))
            .collect::<Result<_, _>>()?;
        let Some((_, name, text)) = formats.first() else { return Err(wording::NO_EVENTS.into()) };
        let common_type = Fields::parse(text).get("common_type").map_err(|error| named(name, error))?;
        Ok(Self { common_type, layouts })
    }

    /// The event in a record; `None` if it is not a recorded one, or not of a read, a write, a discard or a flush.
    #[inline]
    pub(crate) fn decode(
        &self,
        at: u64,
        record: &[u8],
        applications: &mut Applications,
    ) -> Option<BlockEvent> {
        let id = self.common_type.number(record)?;
        self.layouts.iter().find(|layout| layout.id == id)?.decode(at, record, applications)
    }
}

/// What the letters of a record stand for (`blk_fill_rwbs` in kernel/trace/blktrace.c). An F before all
/// others asks for a flush first, which is a separate request; then comes the operation, and then what
/// qualifies it.
///
/// `None` for commands that move no data of a user: a drive's own commands, and those for a zone as a whole.
fn op(letters: &[u8], sectors: u32) -> Option<Op> {
    let (first, second) = (*letters.first()?, letters.get(1).copied().unwrap_or(0));
    let op = match (first, second) {
        (b'F', b'R' | b'W' | b'D') if sectors > 0 => second,
        (b'F', b'R' | b'W' | b'D') => b'F',
        _ => first,
    };
    match op {
        b'F' => Some(Op::Flush),
        _ if sectors == 0 => None,
        b'R' => Some(Op::Read),
        b'W' if second == b'Z' && first == b'W' => Some(Op::Trim),
        b'W' => Some(Op::Write),
        // Kernels without a letter for write zeroes give it an N: a range without data, as in a discard.
        b'D' | b'N' => Some(Op::Trim),
        // `ZA` appends to a zone; other letters after a Z manage zones.
        b'Z' if second == b'A' => Some(Op::Write),
        _ => None,
    }
}

// The layout of the kernel's records, as it describes it: `events/header_page` and the `format` file of each
// event.
//
// Offsets and sizes differ between kernels and builds, so none is assumed: a field is found by its name.

/// A field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Bytes before it.
    pub(crate) offset: usize,
    /// Bytes that it takes up.
    pub(crate) size: usize,
}

impl Field {
    /// The field's bytes; `None` if the record is too short for them.
    #[inline]
    pub(crate) fn bytes<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..)?.get(..self.size)
    }

    /// The field as an unsigned number; `None` if it is no number or the record is too short.
    #[inline]
    pub(crate) fn number(&self, record: &[u8]) -> Option<u64> {
        let bytes = self.bytes(record)?;
        Some(match bytes.len() {
            1 => bytes[0].into(),
            2 => u16::from_ne_bytes(bytes.try_into().ok()?).into(),
            4 => u32::from_ne_bytes(bytes.try_into().ok()?).into(),
            8 => u64::from_ne_bytes(bytes.try_into().ok()?),
            _ => return None,
        })
    }
}

/// The fields that a format file lists, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, Field)>);

impl Fields {
    /// Reads lines such as `field:unsigned short common_type; offset:0; size:2; signed:0;` and passes over all others.
    pub(crate) fn parse(text: &str) -> Self {
        Self(text.lines().filter_map(field).collect())
    }

    /// The field of this name.
    ///
    /// # Errors
    /// A sentence that names what is missing.
    pub(crate) fn get(&self, name: &str) -> Result<Field, String> {
        self.find(name).ok_or_else(|| wording::no_field(name))
    }

    /// The field of this name, if there is one.
    pub(crate) fn find(&self, name: &str) -> Option<Field> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, field)| *field)
    }
}

/// The number that every record of an event begins with, from the line `ID: 2104`.
///
/// # Errors
/// There is no such line.
pub(crate) fn event_id(text: &str) -> Result<u64, String> {
    let id = text.lines().find_map(|line| line.strip_prefix("ID:")?.trim().parse().ok());
    id.ok_or_else(|| wording::NO_ID.to_owned())
}

fn field(line: &str) -> Option<(String, Field)> {
    let declaration = line.trim_start().strip_prefix("field:")?.split(';').next()?;
    // `char rwbs[10]`, `__data_loc char[] cmd`
    let name = declaration.split_whitespace().next_back()?.split('[').next()?;
    let part = |key: &str| {
        let parts = || line.split(';').map(str::trim);
        parts().find_map(|part| part.strip_prefix(key)?.parse::<usize>().ok())
    };
    Some((name.to_owned(), Field { offset: part("offset:")?, size: part("size:")? }))
}

// Names of the programs that I/Os come from, each once.

/// Bytes of a name of a thread, its end included (`TASK_COMM_LEN`).
const NAME: usize = 16;
/// Most names that are kept, more than any machine has programs. Later ones stay unknown, so that memory stays bounded.
const NAMES_MOST: usize = 4096;

/// The names met so far. The first is empty and stands for unknown names.
#[derive(Debug)]
pub(crate) struct Applications {
    names: Vec<String>,
    indices: HashMap<[u8; NAME], u16>,
    /// The last name that was asked for: most I/Os come from the same program as the one before.
    last: ([u8; NAME], u16),
}

impl Applications {
    pub(crate) fn new() -> Self {
        Self { names: vec![String::new()], indices: HashMap::new(), last: ([0; NAME], 0) }
    }

    /// All names, by index.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The index of the name in a record's `comm`.
    #[inline]
    pub(crate) fn index(&mut self, comm: &[u8]) -> u16 {
        let mut key = [0; NAME];
        // What follows the end of a name is left over from other names.
        for (to, from) in key.iter_mut().zip(comm.iter().take_while(|byte| **byte != 0)) {
            *to = *from;
        }
        if self.last.0 != key {
            self.last = (key, self.lookup(key));
        }
        self.last.1
    }

    fn lookup(&mut self, key: [u8; NAME]) -> u16 {
        if let Some(index) = self.indices.get(&key) {
            return *index;
        }
        let name = name(&key);
        let index = match self.names.iter().position(|known| *known == name) {
            Some(index) => index,
            None if self.names.len() < NAMES_MOST => {
                self.names.push(name);
                self.names.len() - 1
            }
            None => return 0,
        } as u16;
        if self.indices.len() < 4 * NAMES_MOST {
            self.indices.insert(key, index);
        }
        index
    }
}

/// A name as it is shown. Names of the kernel's workers have numbers of processors and processes, and would
/// each count as a different application.
fn name(key: &[u8; NAME]) -> String {
    let bytes = key.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(bytes);
    let worker = ["kworker/", "iou-wrk-"].into_iter().find(|front| text.starts_with(front));
    let text = worker.map_or(text.as_ref(), |front| &front[..front.len() - 1]);
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;
\tfield:dev_t dev;\toffset:8;\tsize:4;\tsigned:0;
\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:unsigned int nr_sector;\toffset:24;\tsize:4;\tsigned:0;\n";

    /// Formats whose fields are elsewhere than in this machine's kernel.
    fn formats() -> Vec<(Step, &'static str, String)> {
        let issue = "\tfield:char rwbs[8];\toffset:30;\tsize:8;\tsigned:0;
\tfield:char comm[16];\toffset:38;\tsize:16;\tsigned:0;\n";
        let complete = "\tfield:int error;\toffset:28;\tsize:4;\tsigned:1;
\tfield:char rwbs[8];\toffset:32;\tsize:8;\tsigned:0;\n";
        vec![
            (Step::Issue, "block_rq_issue", format!("ID: 7\n{COMMON}{issue}")),
            (Step::Complete, "block_rq_complete", format!("ID: 9\n{COMMON}{complete}")),
        ]
    }

    fn record(id: u16, sector: u64, sectors: u32) -> Vec<u8> {
        let mut record = vec![0; 56];
        record[0..2].copy_from_slice(&id.to_ne_bytes());
        record[4..8].copy_from_slice(&42u32.to_ne_bytes());
        record[8..12].copy_from_slice(&(7 << 20 | 1u32).to_ne_bytes());
        record[16..24].copy_from_slice(&sector.to_ne_bytes());
        record[24..28].copy_from_slice(&sectors.to_ne_bytes());
        record
    }

    #[test]
    fn records_are_read_as_their_formats_say() {
        let decoder = Decoder::new(&formats()).unwrap();
        let mut applications = Applications::new();
        let mut issue = record(7, 2048, 8);
        issue[30..33].copy_from_slice(b"RA\0");
        issue[38..42].copy_from_slice(b"fio\0");
        let event = decoder.decode(5, &issue, &mut applications).unwrap();
        let expected = BlockEvent {
            at: 5,
            sector: 2048,
            sectors: 8,
            device: 7 << 20 | 1,
            thread: 42,
            application: 1,
            op: Op::Read,
            step: Step::Issue,
            failed: false,
        };
        assert_eq!(event, expected);
        let mut complete = record(9, u64::MAX, 0);
        complete[32..34].copy_from_slice(b"FF");
        complete[28..32].copy_from_slice(&(-5i32).to_ne_bytes());
        let event = decoder.decode(6, &complete, &mut applications).unwrap();
        assert_eq!((event.op, event.sector, event.failed, event.application), (Op::Flush, 0, true, 0));
        assert_eq!(decoder.decode(7, &record(8, 0, 8), &mut applications), None);
        assert_eq!(decoder.decode(7, &complete[..20], &mut applications), None);
    }

    #[test]
    fn a_format_that_lacks_something_is_named() {
        let mut formats = formats();
        formats[0].2 = formats[0].2.replace("comm[16]", "command[16]");
        let error = Decoder::new(&formats).unwrap_err();
        assert_eq!(error, "in the format of block_rq_issue, there is no field \"comm\"");
    }

    #[test]
    fn letters_are_operations() {
        for (letters, sectors, expected) in [
            ("R", 8, Some(Op::Read)),
            ("RA", 8, Some(Op::Read)),
            ("WFSM", 8, Some(Op::Write)),
            ("FWFS", 8, Some(Op::Write)),
            ("FWS", 0, Some(Op::Flush)),
            ("FF", 0, Some(Op::Flush)),
            ("WS", 0, None),
            ("D", 8, Some(Op::Trim)),
            ("DE", 8, Some(Op::Trim)),
            ("WZ", 8, Some(Op::Trim)),
            ("N", 8, Some(Op::Trim)),
            ("N", 0, None),
            ("ZA", 8, Some(Op::Write)),
            ("ZR", 8, None),
            ("", 8, None),
            ("?", 8, None),
        ] {
            assert_eq!(op(letters.as_bytes(), sectors), expected, "{letters} {sectors}");
        }
    }

    proptest! {
        #[test]
        fn nonsense_never_panics(id in 6u16..10, record in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut record = record;
            if let Some(start) = record.get_mut(0..2) {
                start.copy_from_slice(&id.to_ne_bytes());
            }
            let decoder = Decoder::new(&formats()).unwrap();
            decoder.decode(1, &record, &mut Applications::new());
        }
    }

    const ISSUE: &str = "name: block_rq_issue
ID: 2104
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;
\tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;

print fmt: \"%d,%d %s\", ((unsigned int) ((REC->dev) >> 20)), REC->rwbs
";

    #[test]
    fn fields_are_found_by_name() {
        let fields = Fields::parse(ISSUE);
        assert_eq!(event_id(ISSUE), Ok(2104));
        assert_eq!(fields.get("sector"), Ok(Field { offset: 16, size: 8 }));
        assert_eq!(fields.get("rwbs"), Ok(Field { offset: 34, size: 10 }));
        assert_eq!(fields.get("cmd"), Ok(Field { offset: 60, size: 4 }));
        assert_eq!(fields.get("ioprio").unwrap_err(), "there is no field \"ioprio\"");
        assert!(event_id("name: x\nID: many\n").is_err());
    }

    #[test]
    fn what_is_no_field_is_passed_over() {
        for line in ["", "field:", "field:int x;", "field:int x;\toffset:-1;\tsize:4;", "print fmt: field:x"]
        {
            assert_eq!(Fields::parse(line), Fields(Vec::new()), "{line}");
        }
    }

    #[test]
    fn a_short_record_has_no_such_field() {
        let record = 0x0102_0304_u32.to_ne_bytes();
        let field = |offset, size| Field { offset, size };
        assert_eq!(field(0, 4).number(&record), Some(0x0102_0304));
        assert_eq!(field(1, 4).number(&record), None);
        assert_eq!(field(usize::MAX, 4).number(&record), None);
        assert_eq!(field(0, 3).number(&record), None);
    }

    #[test]
    fn a_name_has_one_index() {
        let mut applications = Applications::new();
        let mut index = |name: &[u8]| applications.index(name);
        let fio = index(b"fio\0\0\0\0\0\0\0\0\0\0\0\0\0");
        assert_eq!(index(b"fio\0left over"), fio);
        assert_eq!((index(b"kworker/0:1H\0"), index(b"kworker/u4:3\0")), (2, 2));
        assert_eq!((index(b"iou-wrk-4711\0"), index(b"iou-wrk-815\0")), (3, 3));
        assert_eq!((index(b""), index(b"a\x1bb\0"), index(b"0123456789abcdef")), (0, 4, 5));
        assert_eq!(applications.names(), ["", "fio", "kworker", "iou-wrk", "a\u{fffd}b", "0123456789abcdef"]);
    }

    #[test]
    fn endless_names_do_not_take_endless_memory() {
        let mut applications = Applications::new();
        for number in 0..100_000 {
            applications.index(format!("job-{number}").as_bytes());
        }
        assert_eq!(applications.names().len(), NAMES_MOST);
        assert_eq!(applications.index(b"job-99999"), 0);
        assert_eq!(applications.index(b"job-7"), 8);
    }
}
