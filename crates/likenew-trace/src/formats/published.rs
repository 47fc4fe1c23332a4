//! Reads published research traces: text with one I/O a line.
//!
//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, without a header. Times are Windows
//! file times, 100 ns each; offset and size are bytes. Source: README of the traces published with D. Narayanan, A.
//! Donnelly, A. Rowstron, "Write Off-Loading: Practical Power Management for Enterprise Storage", FAST 2008 (SNIA
//! IOTTA, block I/O traces 387).
//!
//! SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size` with a header, compressed with gzip. Times are seconds with
//! up to nine decimals, valid to the microsecond; offset and size are bytes. The type is R, W or empty; it is unknown
//! what empty ones moved. Source: README of the traces published with C. Lee et al., "Understanding storage traffic
//! characteristics on enterprise virtual desktop infrastructure", SYSTOR 2017 (SNIA IOTTA, block I/O traces 4928).
//!
//! Alibaba's block traces of 2020: `device_id,opcode,offset,length,timestamp`, without a header. The opcode is R or W,
//! offset and length are bytes, the time is in microseconds. Source: README of github.com/alibaba/block-traces,
//! published with J. Li et al., "An In-Depth Analysis of Cloud Block Storage Workloads in Large-Scale Production", IISWC
//! 2020.
//!
//! Tencent's cloud block storage of 2018: `Timestamp,Offset,Size,IOType,VolumeID`, without a header. The time is in whole
//! seconds, offset and size in sectors of 512 bytes; the type is 0 for a read and 1 for a write. Source: README of the
//! traces published with Y. Zhang et al., "OSCA: An Online-Model Based Cache Allocation Scheme in Cloud Block Storage
//! Systems", ATC 2020 (SNIA IOTTA, parallel traces 28064).
//!
//! Florida International University (SRCMap, I/O deduplication): `ts pid process lba size type major minor md5`. The time
//! is in nanoseconds, address and size in sectors of 512 bytes, the type R or W. Source: README of the traces published
//! with A. Verma et al., "SRCMap: Energy Proportional Storage using Dynamic Consolidation", FAST 2010 (SNIA IOTTA, block
//! I/O traces 390).
//!
//! Storage Performance Council (Financial and WebSearch of the UMass Trace Repository):
//! `ASU,LBA,size,opcode,timestamp`, and fields that a writer may add. The unit (ASU) is a number, the address is in
//! sectors of 512 bytes in these traces, the size in bytes. The opcode is R or W in either case; the time is in
//! seconds. Source: SPC, "Trace File Format Specification", revision 1.0.1 (2002), published with the traces
//! (traces.cs.umass.edu, Storage).

use likenew_core::io::Op;

use super::{Format, Parse, SECTOR, is_header};
use crate::error::LineError;
use crate::intake::{Intake, Row, Separators};
use crate::lines::{Fields, Separator};
use crate::notes::{Counted, Note};
use crate::wording::expected;

/// A volume is a host and a disk: `src1,2` in the file, `src1_2` in the files' names.
pub(super) const MSR: Format = Format {
    header: "timestamp,hostname,",
    separators: Separators { file: b',', display_name: b'_' },
    ..Format::new("msr", || Box::new(Lines(msr)))
};

pub(super) const SYSTOR: Format =
    Format { header: "timestamp,response,", ..Format::new("systor", || Box::new(Lines(systor))) };

pub(super) const ALIBABA: Format =
    Format { header: "device_id,opcode,", ..Format::new("alibaba", || Box::new(Lines(alibaba))) };

pub(super) const TENCENT: Format =
    Format { header: "timestamp,offset,", ..Format::new("tencent", || Box::new(Tencent)) };

/// A volume is `6 0` in the file and `6,0` elsewhere.
pub(super) const FIU: Format = Format {
    separators: Separators { file: b' ', display_name: b',' },
    ..Format::new("fiu", || Box::new(Lines(fiu)))
};

pub(super) const SPC: Format = Format::new("spc", || Box::new(Lines(spc)));

/// A parser for formats in which no line depends on another.
struct Lines(fn(&[u8], &mut Intake) -> Result<(), LineError>);

impl Parse for Lines {
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        self.0(line, intake)
    }
}

const READ_OR_WRITE: [(&str, Op); 2] = [("R", Op::Read), ("W", Op::Write)];

/// Unit of a Windows file time.
const TICK_NS: u64 = 100;

fn msr(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Comma);
    let at = fields.scale(TICK_NS, expected::WINDOWS_FILE_TIME)?;
    let volume = fields.next()?;
    fields.cursor.until(b',');
    fields.number(expected::DISK_NUMBER)?;
    let volume = fields.cursor.slice_from(volume);
    let op = fields.choice(&[("Read", Op::Read), ("Write", Op::Write)], expected::READ_OR_WRITE)?;
    let offset = fields.number(expected::OFFSET_BYTES)?;
    let length = fields.number(expected::SIZE_BYTES)?;
    let latency = Some(fields.scale(TICK_NS, expected::RESPONSE_TIME_TICKS)?);
    fields.cursor.end()?;
    intake.put_of(volume, Row { at, op, offset, length, latency })
}

fn systor(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    // Joined files contain several headers.
    if is_header(line) {
        return Ok(());
    }
    let mut fields = Fields::new(line, Separator::Comma);
    let at = fields.seconds(expected::TIME_SECONDS)?;
    let latency = fields.optional(|fields| fields.seconds(expected::RESPONSE_TIME_SECONDS))?;
    let types = [("R", Some(Op::Read)), ("W", Some(Op::Write)), ("", None)];
    let op = fields.choice(&types, expected::R_W_OR_NOTHING)?;
    let volume = fields.text()?;
    let Some(op) = op else {
        fields.next()?;
        intake.notes.count(Counted::Untyped);
        return Ok(());
    };
    let offset = fields.number(expected::OFFSET_BYTES)?;
    let length = fields.number(expected::SIZE_BYTES)?;
    fields.cursor.end()?;
    intake.put_of(volume, Row { at, op, offset, length, latency })
}

fn alibaba(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Comma);
    fields.number(expected::DEVICE_NUMBER)?;
    let volume = fields.cursor.slice_from(0);
    let op = fields.choice(&READ_OR_WRITE, expected::R_OR_W)?;
    let offset = fields.number(expected::OFFSET_BYTES)?;
    let length = fields.number(expected::LENGTH_BYTES)?;
    let at = fields.scale(1_000, expected::TIME_MICROSECONDS)?;
    fields.cursor.end()?;
    intake.put_of(volume, Row { at, op, offset, length, latency: None })
}

struct Tencent;

impl Parse for Tencent {
    fn begin(&mut self, _ahead: &[u8], intake: &mut Intake) {
        intake.notes.add(Note::WholeSeconds);
    }

    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
        let mut fields = Fields::new(line, Separator::Comma);
        let at = fields.scale(1_000_000_000, expected::TIME_SECONDS)?;
        let offset = fields.scale(SECTOR, expected::OFFSET_SECTORS)?;
        let length = fields.scale(SECTOR, expected::SIZE_SECTORS)?;
        let op = fields.choice(&[("0", Op::Read), ("1", Op::Write)], expected::ZERO_OR_ONE)?;
        let volume = fields.number(expected::VOLUME_NUMBER)?;
        let volume = fields.cursor.slice_from(volume.column);
        fields.cursor.end()?;
        intake.put_of(volume, Row { at, op, offset, length, latency: None })
    }
}

/// Fields after the process, whose name may contain blanks.
const FIELDS_BEHIND: usize = 6;

fn fiu(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Blanks);
    let at = fields.number(expected::TIME_NANOSECONDS)?;
    fields.text()?;
    fields.next()?;
    let process = fields.cursor.before_last_words(FIELDS_BEHIND);
    let process = process.ok_or_else(|| fields.cursor.line_error(expected::FIU_FIELDS))?;
    fields.cursor.skip(process.len());
    let offset = fields.scale(SECTOR, expected::ADDRESS_SECTORS)?;
    let length = fields.scale(SECTOR, expected::SIZE_SECTORS)?;
    let op = fields.choice(&READ_OR_WRITE, expected::R_OR_W)?;
    let major = fields.number(expected::MAJOR)?;
    fields.number(expected::MINOR)?;
    let volume = fields.cursor.slice_from(major.column);
    fields.text()?;
    fields.cursor.end()?;
    if !intake.volumes.selects(volume)? {
        return Ok(());
    }
    let application = intake.applications.index(process);
    intake.put(Row { at, op, offset, length, latency: None }, application)
}

fn spc(line: &[u8], intake: &mut Intake) -> Result<(), LineError> {
    let mut fields = Fields::new(line, Separator::Comma);
    fields.number(expected::VOLUME_NUMBER)?;
    let volume = fields.cursor.slice_from(0);
    let offset = fields.scale(SECTOR, expected::ADDRESS_SECTORS)?;
    let length = fields.number(expected::SIZE_BYTES)?;
    let types = [("R", Op::Read), ("r", Op::Read), ("W", Op::Write), ("w", Op::Write)];
    let op = fields.choice(&types, expected::R_OR_W)?;
    let at = fields.seconds(expected::TIME_SECONDS)?;
    if fields.cursor.peek() != Some(b',') {
        fields.cursor.end()?;
    }
    intake.put_of(volume, Row { at, op, offset, length, latency: None })
}
