//! A saved drive is the same drive again.

use crate::closed_loop::{Load, open, run};
use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::units::Nanos;
use likenew_sim::{SimDrive, SimError, Spec};

fn save(drive: &mut SimDrive) -> Vec<u8> {
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
    bytes
}

fn restore(bytes: &[u8]) -> Result<SimDrive, SimError> {
    Spec::parse("sim:my.snapshot").unwrap().open(|_| Ok(bytes.to_vec()))
}

fn writes(ios: u64) -> Load {
    Load { op: Op::Write, random: true, length: 4096, depth: 5, start: 0, span: 1 << 30, ios }
}

#[test]
fn wear_and_free_blocks_are_those_of_the_drive_that_was_saved() {
    for name in [
        "sim:tiny-flash?state=used",
        "sim:wd6400aaks",
        "sim:seagate-archive-8tb",
        "sim:cloud-gp2-100gib",
        "sim:fake-stick-512gb",
    ] {
        let mut drive = open(name);
        run(&mut drive, writes(3000));
        let bytes = save(&mut drive);
        let (before, from_snapshot) = (drive.flash_counters().unwrap(), restore(&bytes).unwrap());
        let after = from_snapshot.flash_counters().unwrap();
        assert_eq!((after.wear, after.free_blocks), (before.wear, before.free_blocks));
        assert_eq!(after.host_bytes_written, 0, "the books begin when it is opened");
        assert_eq!(from_snapshot.identity().name, "sim:my.snapshot");
        assert_eq!(from_snapshot.geometry(), drive.geometry());
        let facts = from_snapshot.identity().facts;
        assert!(facts.contains(&("saved as".to_owned(), name.to_owned())), "{facts:?}");
    }
}

#[test]
fn it_goes_on_as_the_drive_that_was_saved_would() {
    let mut drive = open("sim:tiny-flash?state=used");
    run(&mut drive, writes(20_000));
    let bytes = save(&mut drive);
    let again = || run(&mut restore(&bytes).unwrap(), writes(20_000));
    assert_eq!(again(), again());
    let (from_snapshot, saved) = (again(), run(&mut drive, writes(20_000)));
    assert!((from_snapshot.iops / saved.iops - 1.0).abs() < 0.03, "{from_snapshot:?} {saved:?}");
    assert_eq!(save(&mut restore(&bytes).unwrap()), bytes, "nothing is lost on the way");
}

#[test]
fn data_and_age_come_back() {
    for name in [
        "sim:tiny-flash?data=on",
        "sim:wd6400aaks?data=on",
        "sim:seagate-archive-8tb?data=on",
        "sim:cloud-gp2-100gib?data=on",
        "sim:fake-stick-512gb?data=on",
        "sim:intel-520-120gb?data=on",
        "sim:samsung-slc?data=on",
    ] {
        let mut drive = open(name);
        let stamp = |index: u32| [index as u8 + 1; 512];
        let need = LaneRequirements { lanes: 1, depth: 1, length_max: 512 };
        let io = |op, index: u32| Io {
            slot: Slot(0),
            op,
            offset: u64::from(index) * 512 * 3,
            length: 512,
            data: DataClass::Random,
            sync: None,
        };
        let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
        for index in 0..100 {
            lane.buffer(Slot(0))[..512].copy_from_slice(&stamp(index));
            lane.submit(&[io(Op::Write, index)]).unwrap();
            lane.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
        }
        drop(lane);
        let mut from_snapshot = restore(&save(&mut drive)).unwrap();
        let mut lane = from_snapshot.lanes(&need).unwrap().pop().unwrap();
        for index in 0..100 {
            lane.submit(&[io(Op::Read, index)]).unwrap();
            lane.wait(Nanos::NEVER, &mut Vec::new()).unwrap();
            assert_eq!(lane.buffer(Slot(0))[..512], stamp(index), "{name} {index}");
        }
    }
}

#[test]
fn what_is_no_snapshot_is_explained() {
    let error = |result: Result<SimDrive, SimError>| result.err().unwrap().to_string();
    assert!(error(restore(b"nonsense")).contains("my.snapshot: it is not a saved drive"));
    let bytes = save(&mut open("sim:tiny-flash"));
    assert!(error(restore(&bytes[..bytes.len() - 9])).contains("damaged"));
    let query = Spec::parse("sim:my.snapshot?state=used").unwrap_err().to_string();
    assert!(query.contains("its state already"), "{query}");
}
