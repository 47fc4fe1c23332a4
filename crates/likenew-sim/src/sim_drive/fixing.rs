//! Fixes of a simulated drive: the host's commands, which the drive obeys by its own mechanism and in its own
//! time.

use likenew_core::drive::Drive as _;
use likenew_core::fix::{AddressRange, Fix, FixEnd, FixReport, RewriteSettings, SkippedRange, WriteSpeeds};
use likenew_core::io::Op;
use likenew_core::lab_error::LabError;
use likenew_core::probe::ProbeResult;
use likenew_core::units::Nanos;

use super::SimDrive;
use super::host::Host;
use crate::wording::host as wording;

/// Applies it, as far as that works on such a drive.
pub(super) fn fix(drive: &mut SimDrive, fix: &Fix) -> Result<ProbeResult, LabError> {
    let geometry = drive.geometry();
    let free = drive.free();
    let unknown = |reason: &str| Ok(ProbeResult::Unknown(reason.to_owned()));
    match fix {
        Fix::TrimFree | Fix::Discard if !geometry.trims => unknown(wording::NO_TRIM),
        Fix::TrimFree => give_up(drive, free.start, free.end - free.start),
        Fix::Discard => give_up(drive, 0, geometry.capacity),
        Fix::Refresh { pieces } => rewrite(drive, pieces, RewriteSettings::default())
            .map(|report| FixReport { write_speeds: WriteSpeeds::default(), ..report })
            .map(ProbeResult::FixReport),
        Fix::Rewrite { pieces, settings } => rewrite(drive, pieces, *settings).map(ProbeResult::FixReport),
        Fix::DiscardUnused => unknown(wording::NO_PARTITIONS),
        Fix::RefreshFiles { .. } | Fix::RewriteFiles { .. } => unknown(wording::NO_FILES),
        Fix::Format { .. } => unknown(wording::NO_SUCH_COMMAND),
    }
}

fn give_up(drive: &mut SimDrive, offset: u64, bytes: u64) -> Result<ProbeResult, LabError> {
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

/// As long as the chunks of the journalled refresh of a real drive.
const PART: u64 = 4 << 20;
/// After so many of them the drive is flushed, and they are read back.
const PARTS_IN_FLIGHT: usize = 2;

/// Reads and writes the same bytes, part by part, in the order of the journalled refresh; its journal lies on another drive.
/// Nothing further is touched after what failed.
fn rewrite(
    drive: &mut SimDrive,
    pieces: &[AddressRange],
    settings: RewriteSettings,
) -> Result<FixReport, LabError> {
    let mut rewriting =
        Rewriting { host: Host::new(drive)?, in_flight: Vec::new(), report: FixReport::default() };
    let started_at = rewriting.host.now();
    let asked: u64 = pieces.iter().map(|piece| piece.bytes).sum();
    let parts = pieces.iter().flat_map(|piece| {
        let end = piece.offset + piece.bytes;
        (piece.offset..end).step_by(PART as usize).map(move |offset| (offset, PART.min(end - offset)))
    });
    let mut failed = None;
    for (offset, length) in parts {
        if let Err(reason) = rewriting.part(offset, length)? {
            failed = Some(reason);
            break;
        }
        if let Some(most) = settings.bytes_per_s_max.filter(|most| *most > 0) {
            let due = Nanos::from_secs_f64(rewriting.report.bytes_written as f64 / most as f64);
            rewriting.host.rest_until(started_at + due)?;
        }
    }
    if let Err(reason) = rewriting.flush_and_read_back()? {
        failed = failed.or(Some(reason));
    }
    let Rewriting { host, mut report, .. } = rewriting;
    report.elapsed = host.now() - started_at;
    if let Some(reason) = failed {
        report.end = FixEnd::Failed;
        report.skip(asked - report.bytes, reason);
    }
    Ok(report)
}

/// Data of a simulated drive while it is rewritten.
struct Rewriting<'a> {
    host: Host<'a>,
    /// Offset and length of parts that were written and not read back yet.
    in_flight: Vec<(u64, u64)>,
    report: FixReport,
}

/// What is the matter, as a clause without a full stop.
type Attempt = Result<(), String>;

impl Rewriting<'_> {
    fn part(&mut self, offset: u64, length: u64) -> Result<Attempt, LabError> {
        if self.in_flight.len() == PARTS_IN_FLIGHT
            && let Err(reason) = self.flush_and_read_back()?
        {
            return Ok(Err(reason));
        }
        if let Err(at) = self.host.issue_part(Op::Read, offset, length)? {
            return Ok(Err(wording::io_failed(Op::Read, at)));
        }
        match self.host.issue_part(Op::Write, offset, length)? {
            Err(at) => Ok(Err(wording::io_failed(Op::Write, at))),
            Ok(elapsed) => {
                self.in_flight.push((offset, length));
                self.report.bytes += length;
                self.report.bytes_written += length;
                self.report.write_speeds.add(length, elapsed);
                Ok(Ok(()))
            }
        }
    }

    fn flush_and_read_back(&mut self) -> Result<Attempt, LabError> {
        if self.in_flight.is_empty() {
            return Ok(Ok(()));
        }
        let (_, elapsed) = self.host.issue(Op::Flush, 0, 0)?;
        self.report.write_speeds.add(0, elapsed);
        for (offset, length) in std::mem::take(&mut self.in_flight) {
            if let Err(at) = self.host.issue_part(Op::Read, offset, length)? {
                return Ok(Err(wording::io_failed(Op::Read, at)));
            }
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::probe::Probe;
    use likenew_core::units::Nanos;

    use super::*;
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
        let (capacity, before) = (drive.geometry().capacity, free_blocks(&drive));
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

    /// The speed of the last eighth of a rewriting, in bytes a second.
    fn last_speed(report: &FixReport) -> f64 {
        let points = report.write_speeds.points();
        let last = &points[points.len() * 7 / 8..];
        let (bytes, elapsed) = last
            .iter()
            .fold((0, Nanos::ZERO), |(bytes, elapsed), of| (bytes + of.bytes, elapsed + of.elapsed));
        bytes as f64 / elapsed.as_secs_f64()
    }

    #[test]
    fn a_full_used_drive_without_trim_is_as_fast_as_new_once_everything_was_rewritten() {
        let all = |drive: &SimDrive| Fix::Rewrite {
            pieces: vec![AddressRange { offset: 0, bytes: drive.geometry().capacity }],
            settings: RewriteSettings::default(),
        };
        let mut new = open("sim:tiny-flash?fill=1");
        let of_new = all(&new);
        let new = fix_report(&mut new, of_new).unwrap();
        let mut drive = open("sim:tiny-flash?state=used&trim=off");
        let fix = all(&drive);
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
        assert_eq!(second.bytes_written, drive.geometry().capacity);
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
        assert_eq!(report.bytes, drive.geometry().capacity);
    }
}
