//! Cures of a simulated drive: the host's commands, which the drive obeys by its own mechanism and in its own time.

use likenew_core::cure::{Cure, CureEnd, Cured, LeftOut, Piece};
use likenew_core::drive::Drive as _;
use likenew_core::fault::Fault;
use likenew_core::io::Op;
use likenew_core::look::Seen;

use crate::looking::{CHUNK, Host};
use crate::sim_drive::SimDrive;

/// Does it, as far as it can be done to such a drive.
pub(crate) fn cure(drive: &mut SimDrive, cure: &Cure) -> Result<Seen, Fault> {
    let geometry = drive.geometry();
    let free = drive.free();
    let unknown = |why: &str| Ok(Seen::Unknown(why.to_owned()));
    match cure {
        Cure::TrimFree | Cure::Discard if !geometry.trims => unknown("no TRIM can be sent to it"),
        Cure::TrimFree => give_up(drive, free.start, free.end - free.start),
        Cure::Discard => give_up(drive, 0, geometry.capacity),
        Cure::Refresh { pieces } => refresh(drive, pieces),
        Cure::DiscardUnused => unknown("it has no partitions"),
        Cure::RefreshFiles { .. } => unknown("a simulated drive has no files: its addresses are refreshed"),
        Cure::Format { .. } => unknown("a simulated drive has no such command"),
    }
}

fn give_up(drive: &mut SimDrive, offset: u64, bytes: u64) -> Result<Seen, Fault> {
    let sent = Host::new(drive)?.trim(offset, bytes)?;
    let told = sent.accepted_bytes.unwrap_or(0);
    let refused = LeftOut { bytes: bytes - told, why: "the drive refused it".to_owned() };
    let left_out = if refused.bytes > 0 { vec![refused] } else { Vec::new() };
    Ok(Seen::Cured(Cured { bytes: told, left_out, took: sent.took, ..Cured::default() }))
}

/// Reads and writes the same bytes, part by part. Nothing further is touched after a read that failed.
fn refresh(drive: &mut SimDrive, pieces: &[Piece]) -> Result<Seen, Fault> {
    let mut host = Host::new(drive)?;
    let began = host.now();
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
    let end = if failed.is_some() { CureEnd::Failed } else { CureEnd::Complete };
    let left_out = failed.map(|why| LeftOut { bytes: asked - written, why }).into_iter().collect();
    let took = host.now() - began;
    Ok(Seen::Cured(Cured { bytes: written, bytes_written: written, left_out, took, end, ..Cured::default() }))
}

#[cfg(test)]
mod tests {
    use likenew_core::look::Look;
    use likenew_core::units::Nanos;

    use super::*;
    use crate::spec::Spec;

    fn open(target: &str) -> SimDrive {
        Spec::parse(target).unwrap().open(|_| unreachable!("it is in the catalogue")).unwrap()
    }

    fn cured(drive: &mut SimDrive, cure: Cure) -> Result<Cured, String> {
        match drive.look(&Look::Cure(cure)).unwrap() {
            Seen::Cured(cured) => Ok(cured),
            Seen::Unknown(why) => Err(why),
            other => panic!("{other:?}"),
        }
    }

    fn free_blocks(drive: &SimDrive) -> u64 {
        drive.accounting().unwrap().free_blocks
    }

    #[test]
    fn what_files_were_deleted_from_is_told_and_nothing_else() {
        let mut drive = open("sim:tiny-flash?state=used&fill=0.95&deleted=0.4");
        let (capacity, before) = (drive.geometry().capacity, free_blocks(&drive));
        let told = cured(&mut drive, Cure::TrimFree).unwrap();
        assert!(told.left_out.is_empty() && told.bytes_written == 0, "{told:?}");
        let share = told.bytes as f64 / capacity as f64;
        assert!((0.44..0.451).contains(&share), "{share} is what holds no file");
        drive.rest(Nanos::from_secs(60));
        assert!(free_blocks(&drive) > before, "{} were free before", before);
        let mut drive = open("sim:tiny-flash?state=used&fill=0.95&deleted=0.4&trim=off");
        assert!(cured(&mut drive, Cure::TrimFree).unwrap_err().contains("no TRIM"));
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
        let written = drive.accounting().unwrap().host_bytes_written;
        let pieces = vec![Piece { offset: 0, bytes: 3 << 20 }, Piece { offset: 5 << 20, bytes: 4096 }];
        let told = cured(&mut drive, Cure::Refresh { pieces }).unwrap();
        assert_eq!((told.bytes, told.bytes_written), ((3 << 20) + 4096, (3 << 20) + 4096));
        assert_eq!(drive.accounting().unwrap().host_bytes_written - written, told.bytes_written);
        assert_eq!(fill(&mut Host::new(&mut drive).unwrap(), Op::Read, 0), [7; 4096]);
    }

    #[test]
    fn nothing_is_touched_after_a_read_that_failed() {
        let text =
            std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml"));
        let said =
            |name: &str, value: &str| format!("{name} = {{ value = {value}, source = \"invented\" }}\n");
        let faults =
            said("unreadable", "\"2MiB..3MiB\"") + &said("retry_ns", "1000000") + &said("retries_max", "2");
        let text = format!("{}\n[faults]\n{faults}\n", text.unwrap());
        let spec = Spec::parse("sim:tiny.toml?fill=1").unwrap();
        let mut drive = spec.open(|_| Ok(text.clone().into_bytes())).unwrap();
        let told =
            cured(&mut drive, Cure::Refresh { pieces: vec![Piece { offset: 0, bytes: 8 << 20 }] }).unwrap();
        assert_eq!((told.bytes, told.left_out[0].bytes), (2 << 20, 6 << 20));
        assert!(told.left_out[0].why.contains("a read at offset 2097152 failed"), "{told:?}");
        assert_eq!(drive.accounting().unwrap().host_bytes_written, 2 << 20);
        assert!(cured(&mut drive, Cure::Format { crypto: false }).is_err());
        let files = Cure::RefreshFiles { slower_than_bytes_per_s: 1.0 };
        assert!(cured(&mut drive, files).is_err());
    }

    #[test]
    fn a_drive_that_was_given_up_holds_nothing() {
        let mut drive = open("sim:tiny-flash?state=used");
        let told = cured(&mut drive, Cure::Discard).unwrap();
        assert_eq!(told.bytes, drive.geometry().capacity);
    }
}
