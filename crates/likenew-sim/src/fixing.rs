//! Fixes of a simulated drive: the host's commands, which the drive obeys by its own mechanism and in its own
//! time.

use likenew_core::drive::Drive as _;
use likenew_core::fix::{AddressRange, Fix, FixEnd, FixReport, SkippedRange};
use likenew_core::io::Op;
use likenew_core::lab_error::LabError;
use likenew_core::probe::ProbeResult;

use crate::probing::{CHUNK, Host};
use crate::sim_drive::SimDrive;

/// Applies it, as far as that works on such a drive.
pub(crate) fn fix(drive: &mut SimDrive, fix: &Fix) -> Result<ProbeResult, LabError> {
    let geometry = drive.geometry();
    let free = drive.free();
    let unknown = |reason: &str| Ok(ProbeResult::Unknown(reason.to_owned()));
    match fix {
        Fix::TrimFree | Fix::Discard if !geometry.trims => unknown("no TRIM can be sent to it"),
        Fix::TrimFree => give_up(drive, free.start, free.end - free.start),
        Fix::Discard => give_up(drive, 0, geometry.capacity),
        Fix::Refresh { pieces } => refresh(drive, pieces),
        Fix::DiscardUnused => unknown("it has no partitions"),
        Fix::RefreshFiles { .. } => unknown("a simulated drive has no files: its addresses are refreshed"),
        Fix::Format { .. } => unknown("a simulated drive has no such command"),
    }
}

fn give_up(drive: &mut SimDrive, offset: u64, bytes: u64) -> Result<ProbeResult, LabError> {
    let sent = Host::new(drive)?.trim(offset, bytes)?;
    let accepted_bytes = sent.accepted_bytes.unwrap_or(0);
    let refused = SkippedRange { bytes: bytes - accepted_bytes, reason: "the drive refused it".to_owned() };
    let skips = if refused.bytes > 0 { vec![refused] } else { Vec::new() };
    Ok(ProbeResult::FixReport(FixReport {
        bytes: accepted_bytes,
        skips,
        elapsed: sent.elapsed,
        ..FixReport::default()
    }))
}

/// Reads and writes the same bytes, part by part. Nothing further is touched after a read that failed.
fn refresh(drive: &mut SimDrive, pieces: &[AddressRange]) -> Result<ProbeResult, LabError> {
    let mut host = Host::new(drive)?;
    let started_at = host.now();
    let asked: u64 = pieces.iter().map(|piece| piece.bytes).sum();
    let mut written = 0;
    let mut failed = None;
    'pieces: for piece in pieces {
        for offset in (piece.offset..piece.offset + piece.bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(piece.offset + piece.bytes - offset);
            for op in [Op::Read, Op::Write] {
                if !host.issue(op, offset, length)?.0 {
                    failed =
                        Some(format!("a {op} at offset {offset} failed, and nothing after it was touched"));
                    break 'pieces;
                }
            }
            written += length;
        }
    }
    host.issue(Op::Flush, 0, 0)?;
    let end = if failed.is_some() { FixEnd::Failed } else { FixEnd::Complete };
    let skips = failed.map(|reason| SkippedRange { bytes: asked - written, reason }).into_iter().collect();
    let elapsed = host.now() - started_at;
    Ok(ProbeResult::FixReport(FixReport {
        bytes: written,
        bytes_written: written,
        skips,
        elapsed,
        end,
        ..FixReport::default()
    }))
}

#[cfg(test)]
mod tests {
    use likenew_core::probe::Probe;
    use likenew_core::units::Nanos;

    use super::*;
    use crate::spec::Spec;

    fn open(target: &str) -> SimDrive {
        Spec::parse(target).unwrap().open(|_| unreachable!("it is in the catalogue")).unwrap()
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

    #[test]
    fn nothing_is_touched_after_a_read_that_failed() {
        let text =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml"));
        let fault_line =
            |name: &str, value: &str| format!("{name} = {{ value = {value}, source = \"invented\" }}\n");
        let faults = fault_line("unreadable", "\"2MiB..3MiB\"")
            + &fault_line("retry_ns", "1000000")
            + &fault_line("retries_max", "2");
        let text = format!("{}\n[faults]\n{faults}\n", text.unwrap());
        let spec = Spec::parse("sim:tiny.toml?fill=1").unwrap();
        let mut drive = spec.open(|_| Ok(text.clone().into_bytes())).unwrap();
        let report =
            fix_report(&mut drive, Fix::Refresh { pieces: vec![AddressRange { offset: 0, bytes: 8 << 20 }] })
                .unwrap();
        assert_eq!((report.bytes, report.skips[0].bytes), (2 << 20, 6 << 20));
        assert!(report.skips[0].reason.contains("a read at offset 2097152 failed"), "{report:?}");
        assert_eq!(drive.flash_counters().unwrap().host_bytes_written, 2 << 20);
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
