//! Probes and fixes of a simulated drive: what its layers report, what reads and times show about TRIM, and
//! commands of the host. The drive executes them with its own mechanism in its own time. No probe asks the
//! model for the answer.

use likenew_core::counters::Counters;
use likenew_core::drive::{Drive as _, Lane, LaneRequirements};
use likenew_core::facts::Facts;
use likenew_core::facts::drive::Drive;
use likenew_core::fix::{
    AddressRange, Feasibility, Fix, FixEnd, FixReport, RewriteSettings, SkippedRange, WriteSpeeds,
};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::probe::{
    Content, FACTS_WAIT, Probe, ProbeResult, ReadBack, ReadBackResult, TrimMethod, TrimReport, UNIT, pattern,
};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;

use super::SimDrive;
use crate::device::{Device as _, SelfCounts};
use crate::machine_facts::{StaticFacts, fact, reported};
use crate::wording;

/// Runs a probe.
pub(super) fn probe(drive: &mut SimDrive, probe: &Probe) -> Result<ProbeResult, TargetError> {
    let unknown = |reason: &str| ProbeResult::Unknown(reason.to_owned());
    Ok(match probe {
        Probe::Facts => match current_facts(drive) {
            Some(facts) => ProbeResult::Facts(Box::new(facts)),
            None => unknown(wording::NO_FACTS),
        },
        Probe::OldFiles => unknown(wording::NO_OLD_FILES),
        Probe::Extents => unknown(wording::NO_FILE_SYSTEM),
        Probe::TrimPath if drive.static_facts.is_none() => unknown(wording::NO_FACTS),
        Probe::TrimPath => ProbeResult::TrimPath(drive.trim_path.clone()),
        Probe::TrimClaims => unknown(wording::NO_TRIM_DETAILS),
        Probe::TrimReadBack(_) | Probe::Release { .. } if !drive.geometry.trims => unknown(wording::NO_TRIM),
        Probe::TrimReadBack(request) if request.bytes_written() > drive.geometry.capacity => {
            unknown(wording::TOO_SMALL)
        }
        Probe::TrimReadBack(request) => ProbeResult::TrimReadBack(Box::new(read_back(drive, request)?)),
        Probe::Feasibility => ProbeResult::Feasibility(Feasibility::default()),
        Probe::Fix(fix) => fix_drive(drive, fix)?,
        Probe::Release { offset, bytes, wait } => {
            let mut host = Host::new(drive)?;
            let sent = host.trim(*offset, *bytes)?;
            // Some drives act on TRIM only when idle.
            host.rest(*wait)?;
            ProbeResult::Released(sent)
        }
    })
}

/// Writes two halves, trims the second, and reads both back.
fn read_back(drive: &mut SimDrive, read_back: &ReadBack) -> Result<ReadBackResult, TargetError> {
    let carries_data = drive.geometry.carries_data;
    let mut host = Host::new(drive)?;
    let (seed, bytes) = (read_back.seed, read_back.bytes);
    let mut result = ReadBackResult { bytes_written: read_back.bytes_written(), ..ReadBackResult::default() };
    host.write(seed, read_back.bytes_written())?;
    if carries_data {
        result.before_release = Some(host.content(seed, 0, read_back.bytes_written())?);
    } else {
        result.read_error = Some(wording::HOLDS_NO_BYTES.to_owned());
    }
    result.sent = host.trim(bytes, bytes)?;
    if carries_data {
        result.released_half = Some(host.content(seed, bytes, bytes)?);
    }
    if result.released_half.is_none_or(|content| content.pattern_bytes > 0) {
        host.rest(read_back.wait)?;
        result.released_half_later =
            if carries_data { Some(host.content(seed, bytes, bytes)?) } else { None };
    }
    if carries_data {
        result.kept_half = Some(host.content(seed, 0, bytes)?);
    }
    let units = bytes / UNIT as u64;
    let mut draw = [0; UNIT];
    for probe in 0..u64::from(read_back.probes) {
        pattern(!seed, probe, &mut draw);
        let word = |at: usize| u64::from_le_bytes(draw[at..at + 8].try_into().expect("eight bytes"));
        let (kept, released) = (word(0) % units, units + word(8) % units);
        result.probes_kept_ns.push(host.probe(kept)?.0);
        result.probes_released_ns.push(host.probe(released)?.0);
    }
    Ok(result)
}

// Fixes: commands of the host that the drive executes with its own mechanism in its own time.

/// Applies a fix, as far as the drive supports it.
pub(super) fn fix_drive(drive: &mut SimDrive, fix: &Fix) -> Result<ProbeResult, TargetError> {
    let geometry = drive.geometry.clone();
    let free = drive.free.clone();
    let unknown = |reason: &str| Ok(ProbeResult::Unknown(reason.to_owned()));
    match fix {
        Fix::TrimFree | Fix::Discard if !geometry.trims => unknown(wording::NO_TRIM),
        Fix::TrimFree => trim_range(drive, free.start, free.end - free.start),
        Fix::Discard => trim_range(drive, 0, geometry.capacity),
        Fix::Refresh { pieces } => rewrite(drive, pieces, RewriteSettings::default())
            .map(|report| FixReport { write_speeds: WriteSpeeds::default(), ..report })
            .map(ProbeResult::FixReport),
        Fix::Rewrite { pieces, settings } => rewrite(drive, pieces, *settings).map(ProbeResult::FixReport),
        Fix::DiscardUnused => unknown(wording::NO_PARTITIONS),
        Fix::RefreshFiles { .. } | Fix::RewriteFiles { .. } => unknown(wording::NO_FILES),
        Fix::Format { .. } => unknown(wording::NO_SUCH_COMMAND),
    }
}

fn trim_range(drive: &mut SimDrive, offset: u64, bytes: u64) -> Result<ProbeResult, TargetError> {
    let sent = Host::new(drive)?.trim(offset, bytes)?;
    let accepted_bytes = sent.accepted_bytes.unwrap_or(0);
    let refused = SkippedRange { bytes: bytes - accepted_bytes, reason: wording::REFUSED.to_owned() };
    let skips = if refused.bytes > 0 { vec![refused] } else { Vec::new() };
    Ok(ProbeResult::FixReport(FixReport {
        bytes: accepted_bytes,
        skips,
        elapsed: sent.elapsed,
        ..FixReport::default()
    }))
}

/// Bytes rewritten at a time: the chunk of a refresh on a real drive.
const PART: u64 = 4 << 20;
/// Parts written before the drive is flushed and they are read back.
const PARTS_IN_FLIGHT: usize = 2;

/// Reads and rewrites data part by part, in the order of a refresh, whose journal would be on another drive.
/// Stops at the first error.
fn rewrite(
    drive: &mut SimDrive,
    pieces: &[AddressRange],
    settings: RewriteSettings,
) -> Result<FixReport, TargetError> {
    let mut rewriting =
        Rewriting { host: Host::new(drive)?, in_flight: Vec::new(), report: FixReport::default() };
    let started_at = rewriting.host.now();
    let requested_bytes: u64 = pieces.iter().map(|piece| piece.bytes).sum();
    let parts = pieces.iter().flat_map(|piece| {
        let end = piece.offset + piece.bytes;
        (piece.offset..end).step_by(PART as usize).map(move |offset| (offset, PART.min(end - offset)))
    });
    let rewrite_all = || -> Result<(), Stop> {
        for (offset, length) in parts {
            rewriting.part(offset, length)?;
            if let Some(most) = settings.bytes_per_s_max.filter(|most| *most > 0) {
                let due = Nanos::from_secs_f64(rewriting.report.bytes_written as f64 / most as f64);
                rewriting.host.rest_until(started_at + due)?;
            }
        }
        Ok(())
    };
    let rewritten = rewrite_all();
    let read_back = rewriting.flush_and_read_back();
    let Rewriting { host, mut report, .. } = rewriting;
    report.elapsed = host.now() - started_at;
    match rewritten.and(read_back) {
        Err(Stop::Target(error)) => return Err(error),
        Err(Stop::Failed(op, at)) => {
            report.end = FixEnd::Failed;
            report.skip(requested_bytes - report.bytes, wording::io_failed(op, at));
        }
        Ok(()) => {}
    }
    Ok(report)
}

/// A rewrite in progress.
struct Rewriting<'a> {
    host: Host<'a>,
    /// Offset and length of parts that were written and not yet read back.
    in_flight: Vec<(u64, u64)>,
    report: FixReport,
}

/// Why a rewrite ends early.
enum Stop {
    Target(TargetError),
    /// Such an I/O failed at this address.
    Failed(Op, u64),
}

impl From<TargetError> for Stop {
    fn from(error: TargetError) -> Self {
        Self::Target(error)
    }
}

impl Rewriting<'_> {
    fn part(&mut self, offset: u64, length: u64) -> Result<(), Stop> {
        if self.in_flight.len() == PARTS_IN_FLIGHT {
            self.flush_and_read_back()?;
        }
        self.host.issue_part(Op::Read, offset, length)?;
        let elapsed = self.host.issue_part(Op::Write, offset, length)?;
        self.in_flight.push((offset, length));
        self.report.bytes += length;
        self.report.bytes_written += length;
        self.report.write_speeds.add(length, elapsed);
        Ok(())
    }

    fn flush_and_read_back(&mut self) -> Result<(), Stop> {
        if self.in_flight.is_empty() {
            return Ok(());
        }
        let (_, elapsed) = self.host.issue(Op::Flush, 0, 0)?;
        self.report.write_speeds.add(0, elapsed);
        for (offset, length) in std::mem::take(&mut self.in_flight) {
            self.host.issue_part(Op::Read, offset, length)?;
        }
        Ok(())
    }
}

/// The most bytes per I/O of a probe, for which the lane has buffers.
const CHUNK: u64 = 1 << 20;

/// I/Os in flight for parts longer than that.
const DEPTH: u32 = 4;

/// A host that sends one I/O or one part at a time, in the drive's time.
pub(super) struct Host<'a> {
    lane: Lane<'a>,
    carries_data: bool,
}

impl<'a> Host<'a> {
    pub(super) fn new(drive: &'a mut SimDrive) -> Result<Self, TargetError> {
        let carries_data = drive.geometry.carries_data;
        let lane = drive.lanes(&LaneRequirements { lanes: 1, depth: DEPTH, length_max: CHUNK as u32 })?.pop();
        Ok(Self { lane: lane.expect("a drive opens the lanes it was asked for"), carries_data })
    }

    pub(super) fn now(&self) -> Nanos {
        self.lane.now()
    }

    /// The bytes for the next write, or from the last read.
    #[cfg(test)]
    pub(super) fn buffer(&mut self) -> &mut [u8] {
        self.lane.buffer(Slot(0))
    }

    pub(super) fn rest(&mut self, span: Nanos) -> Result<(), TargetError> {
        self.rest_until(self.now() + span)
    }

    /// Leaves the drive idle until a time.
    pub(super) fn rest_until(&mut self, until: Nanos) -> Result<(), TargetError> {
        self.lane.wait(until, &mut Vec::new())
    }

    /// Issues a part of at most [`DEPTH`] times [`CHUNK`] bytes, all I/Os at once. Each I/O has a slot by its place,
    /// so that data from a read can be written again. Returns the time taken.
    fn issue_part(&mut self, op: Op, offset: u64, length: u64) -> Result<Nanos, Stop> {
        let batch: Vec<Io> = (0..length.div_ceil(CHUNK))
            .map(|index| Io {
                slot: Slot(index as u32),
                op,
                offset: offset + index * CHUNK,
                length: CHUNK.min(length - index * CHUNK) as u32,
                data: DataClass::Random,
                sync: None,
            })
            .collect();
        assert!(batch.len() <= DEPTH as usize, "{length} bytes are more than the buffers hold");
        let sent = self.lane.submit(&batch)?;
        let mut done = Vec::new();
        while done.len() < batch.len() {
            self.lane.wait(Nanos::NEVER, &mut done)?;
        }
        let failed = done.iter().filter(|completion| completion.outcome != Outcome::Done);
        if let Some(first) = failed.map(|completion| completion.slot.0).min() {
            return Err(Stop::Failed(op, offset + u64::from(first) * CHUNK));
        }
        Ok(done.iter().map(|completion| completion.at).max().unwrap_or(sent) - sent)
    }

    /// Issues an I/O; returns whether it succeeded, and its time.
    pub(super) fn issue(&mut self, op: Op, offset: u64, length: u64) -> Result<(bool, Nanos), TargetError> {
        let io = Io { slot: Slot(0), op, offset, length: length as u32, data: DataClass::Random, sync: None };
        let sent = self.lane.submit(&[io])?;
        let mut done = Vec::new();
        while done.is_empty() {
            self.lane.wait(Nanos::NEVER, &mut done)?;
        }
        Ok((done[0].outcome == Outcome::Done, done[0].at - sent))
    }

    pub(super) fn write(&mut self, seed: u64, bytes: u64) -> Result<(), TargetError> {
        for offset in (0..bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(bytes - offset);
            if self.carries_data {
                let buffer = &mut self.lane.buffer(Slot(0))[..length as usize];
                pattern(seed, offset / UNIT as u64, buffer);
            }
            self.issue(Op::Write, offset, length)?;
        }
        self.issue(Op::Flush, 0, 0).map(|_| ())
    }

    pub(super) fn content(&mut self, seed: u64, start: u64, bytes: u64) -> Result<Content, TargetError> {
        let mut content = Content::default();
        for offset in (start..start + bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(start + bytes - offset);
            if self.issue(Op::Read, offset, length)?.0 {
                let held = &self.lane.buffer(Slot(0))[..length as usize];
                content.add(seed, offset / UNIT as u64, held);
            } else {
                content.refused_bytes += length;
            }
        }
        Ok(content)
    }

    pub(super) fn trim(&mut self, offset: u64, bytes: u64) -> Result<TrimReport, TargetError> {
        let (started_at, mut accepted) = (self.now(), 0);
        for at in (offset..offset + bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(offset + bytes - at);
            accepted += if self.issue(Op::Trim, at, length)?.0 { length } else { 0 };
        }
        let elapsed = self.now() - started_at;
        let accepted_bytes = Some(accepted);
        Ok(TrimReport {
            means: TrimMethod::Command,
            bytes,
            accepted_bytes,
            elapsed,
            refusal: None,
            discard_counters: Vec::new(),
        })
    }

    /// Reads one unit; returns its time.
    pub(super) fn probe(&mut self, unit: u64) -> Result<Nanos, TargetError> {
        Ok(self.issue(Op::Read, unit * UNIT as u64, UNIT as u64)?.1)
    }
}

// Facts of a simulated drive at present. While it is open, only its counters, its temperature and the age of
// its data change.

const SECOND_NS: u64 = 1_000_000_000;

/// All facts of the drive at present. It is left idle for a while to measure I/O of other programs.
pub(super) fn current_facts(drive: &mut SimDrive) -> Option<Facts> {
    let StaticFacts { facts, age } = drive.static_facts.as_ref()?;
    let (mut facts, age) = (facts.clone(), *age);
    let before = drive.self_counts().neighbor_io;
    drive.rest(FACTS_WAIT);
    count(&mut facts.drives[0], drive, &before);
    if let Some(files) = &mut facts.files {
        let seconds = (age + drive.now).0 / SECOND_NS;
        for entry in [
            &mut files.content_age_s_p10,
            &mut files.content_age_s_p50,
            &mut files.content_age_s_p90,
            &mut files.inode_age_s_p50,
            &mut files.inode_age_s_p90,
        ] {
            *entry = fact(seconds);
        }
    }
    Some(facts)
}

/// Fills in the present counters. `before` is the other programs' I/O before the idle time.
fn count(facts: &mut Drive, drive: &mut SimDrive, before: &Counters) {
    let (own, health) = (drive.self_counts(), drive.device.health());
    let SelfCounts { throttled, neighbor_io, exceeded, media_errors, link_errors, kernel: _ } = own;
    let host = drive.counters().unwrap_or_default();
    let counts = &mut facts.counts;
    counts.reads = fact(host.reads);
    counts.writes = fact(host.writes);
    counts.bytes_read = fact(host.bytes_read);
    counts.bytes_written = fact(host.bytes_written);
    counts.discards = reported(host.discards);
    counts.bytes_discarded = reported(host.bytes_discarded);
    counts.flushes = reported(host.flushes);
    counts.busy_ms = fact(host.busy.0 / 1_000_000);
    if let Some((iops, throughput)) = exceeded {
        let micros = |span: Nanos| fact(span.0 / 1000);
        counts.volume_iops_exceeded_us = micros(iops);
        counts.volume_throughput_exceeded_us = micros(throughput);
    }
    // The kernel log is the host's own.
    counts.log_link_errors = fact(link_errors);
    let rate = |now: u64, then: u64| fact((now - then) * SECOND_NS / FACTS_WAIT.0);
    facts.others_read_bytes_per_s = rate(neighbor_io.bytes_read, before.bytes_read);
    facts.others_write_bytes_per_s = rate(neighbor_io.bytes_written, before.bytes_written);
    facts.in_flight = fact(0);
    // A layer that hides the drive's health also hides its counters.
    if facts.health.failing.value().is_none() {
        return;
    }
    facts.health.temperature_c = reported(health.temperature_c);
    facts.health.throttling = reported(health.throttling);
    let counts = &mut facts.counts;
    counts.media_errors = fact(media_errors);
    if counts.crc_errors.get().is_some() {
        counts.crc_errors = fact(link_errors);
    }
    counts.throttled_light_times = reported(throttled.map(|(times, _)| times));
    counts.throttled_light_s = reported(throttled.map(|(_, span)| span.0 / SECOND_NS));
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::probe::Probe;
    use likenew_core::units::Nanos;

    use crate::spec::Spec;

    fn open(target: &str) -> SimDrive {
        Spec::parse(target).unwrap().open(|_| unreachable!("it is in the catalog")).unwrap()
    }

    fn fix_report(drive: &mut SimDrive, fix: Fix) -> Result<FixReport, String> {
        match drive.probe(&Probe::Fix(fix)).unwrap() {
            ProbeResult::FixReport(fix_report) => Ok(fix_report),
            ProbeResult::Unknown(reason) => Err(reason),
            other => panic!("{other:?}"),
        }
    }

    fn free_blocks(drive: &SimDrive) -> u64 {
        drive.flash_counters().unwrap().free_blocks
    }

    #[test]
    fn what_files_were_deleted_from_is_reported_and_nothing_else() {
        let mut drive = open("sim:tiny-flash?state=used&fill=0.95&deleted=0.4");
        let (capacity, before) = (drive.geometry.capacity, free_blocks(&drive));
        let report = fix_report(&mut drive, Fix::TrimFree).unwrap();
        assert!(report.skips.is_empty() && report.bytes_written == 0, "{report:?}");
        let share = report.bytes as f64 / capacity as f64;
        assert!((0.44..0.451).contains(&share), "{share} is what holds no file");
        drive.rest(Nanos::from_secs(60));
        assert!(free_blocks(&drive) > before, "{} were free before", before);
        let mut drive = open("sim:tiny-flash?state=used&fill=0.95&deleted=0.4&trim=off");
        assert!(fix_report(&mut drive, Fix::TrimFree).unwrap_err().contains("no TRIM"));
    }

    #[test]
    fn what_is_refreshed_keeps_its_bytes() {
        let mut drive = open("sim:tiny-flash?data=on");
        let fill = |host: &mut Host<'_>, op, byte: u8| {
            if op == Op::Write {
                host.buffer()[..4096].fill(byte);
            }
            assert!(host.issue(op, 8192, 4096).unwrap().0);
            host.buffer()[..4096].to_vec()
        };
        fill(&mut Host::new(&mut drive).unwrap(), Op::Write, 7);
        let written = drive.flash_counters().unwrap().host_bytes_written;
        let pieces =
            vec![AddressRange { offset: 0, bytes: 3 << 20 }, AddressRange { offset: 5 << 20, bytes: 4096 }];
        let report = fix_report(&mut drive, Fix::Refresh { pieces }).unwrap();
        assert_eq!((report.bytes, report.bytes_written), ((3 << 20) + 4096, (3 << 20) + 4096));
        assert_eq!(drive.flash_counters().unwrap().host_bytes_written - written, report.bytes_written);
        assert_eq!(fill(&mut Host::new(&mut drive).unwrap(), Op::Read, 0), [7; 4096]);
    }

    /// Speed of the last eighth of a rewrite, in bytes per second.
    fn last_speed(report: &FixReport) -> f64 {
        let points = report.write_speeds.points();
        let last = &points[points.len() * 7 / 8..];
        let (bytes, elapsed) = last
            .iter()
            .fold((0, Nanos::ZERO), |(bytes, elapsed), point| (bytes + point.bytes, elapsed + point.elapsed));
        bytes as f64 / elapsed.as_secs_f64()
    }

    #[test]
    fn a_full_used_drive_without_trim_is_as_fast_as_new_once_everything_was_rewritten() {
        let rewrite_all = |drive: &SimDrive| Fix::Rewrite {
            pieces: vec![AddressRange { offset: 0, bytes: drive.geometry.capacity }],
            settings: RewriteSettings::default(),
        };
        let mut new = open("sim:tiny-flash?fill=1");
        let of_new = rewrite_all(&new);
        let new = fix_report(&mut new, of_new).unwrap();
        let mut drive = open("sim:tiny-flash?state=used&trim=off");
        let fix = rewrite_all(&drive);
        let first = fix_report(&mut drive, fix.clone()).unwrap();
        let start = first.write_speeds.points()[4].bytes_per_s().unwrap();
        assert!(start < 0.5 * last_speed(&new), "{start} of {}", last_speed(&new));
        let second = fix_report(&mut drive, fix).unwrap();
        assert!(
            last_speed(&second) >= 0.97 * last_speed(&new),
            "{} of {}",
            last_speed(&second),
            last_speed(&new)
        );
        assert_eq!(second.bytes_written, drive.geometry.capacity);
    }

    #[test]
    fn rewriting_is_no_faster_than_it_is_allowed_to_be() {
        let mut drive = open("sim:tiny-flash?fill=1");
        let settings = RewriteSettings { bytes_per_s_max: Some(8 << 20) };
        let pieces = vec![AddressRange { offset: 0, bytes: 80 << 20 }];
        let report = fix_report(&mut drive, Fix::Rewrite { pieces, settings }).unwrap();
        assert!((Nanos::from_secs(10)..Nanos::from_secs(11)).contains(&report.elapsed), "{report:?}");
        let own = report.write_speeds.bytes_per_s().unwrap();
        assert!(own > 2.0 * (8 << 20) as f64, "{own}: pauses are no part of its own speed");
    }

    #[test]
    fn nothing_is_touched_after_a_read_that_failed() {
        let text =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml"));
        let fault_line =
            |name: &str, value: &str| format!("{name} = {{ value = {value}, source = \"invented\" }}\n");
        let faults = fault_line("unreadable", "\"4MiB..5MiB\"")
            + &fault_line("retry_ns", "1000000")
            + &fault_line("retries_max", "2");
        let text = format!("{}\n[faults]\n{faults}\n", text.unwrap());
        let spec = Spec::parse("sim:tiny.toml?fill=1").unwrap();
        let mut drive = spec.open(|_| Ok(text.clone().into_bytes())).unwrap();
        let report =
            fix_report(&mut drive, Fix::Refresh { pieces: vec![AddressRange { offset: 0, bytes: 8 << 20 }] })
                .unwrap();
        assert_eq!((report.bytes, report.skips[0].bytes), (4 << 20, 4 << 20));
        assert!(report.skips[0].reason.contains("a read at offset 4 MiB failed"), "{report:?}");
        assert_eq!(drive.flash_counters().unwrap().host_bytes_written, 4 << 20);
        assert!(fix_report(&mut drive, Fix::Format { crypto: false }).is_err());
        let files = Fix::RefreshFiles { slower_than_bytes_per_s: 1.0 };
        assert!(fix_report(&mut drive, files).is_err());
    }

    #[test]
    fn a_drive_that_was_given_up_holds_nothing() {
        let mut drive = open("sim:tiny-flash?state=used");
        let report = fix_report(&mut drive, Fix::Discard).unwrap();
        assert_eq!(report.bytes, drive.geometry.capacity);
    }
}
