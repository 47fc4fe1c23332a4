//! A drive whose blocks have failed reports it, and keeps its data.

use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use likenew_sim::Spec;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

const TINY: &str = include_str!("../../../../catalog/tiny-flash.toml");
const DEPTH: u32 = 4;
const BLOCK: u32 = 1 << 20;

/// Blocks are rated for five erases, so that the drive ends within a test.
fn short_lived() -> String {
    TINY.replace("[map]\n", "[map]\nendurance_erases = { value = 5, source = \"invented\" }\n")
}

#[test]
fn writes_are_refused_in_the_end_and_reads_are_not() {
    let mut drive = Spec::parse("sim:my.toml?state=new").unwrap().open(|_| Ok(short_lived().into())).unwrap();
    let places = drive.geometry().capacity / u64::from(BLOCK);
    let need = LaneRequirements { lanes: 1, depth: DEPTH, length_max: BLOCK };
    let mut lane = drive.lanes(&need).unwrap().pop().unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut write = |slot| Io {
        slot: Slot(slot),
        op: Op::Write,
        offset: random.random_range(0..places) * u64::from(BLOCK),
        length: BLOCK,
        data: DataClass::Random,
        sync: None,
    };
    let (mut done, mut written) = (Vec::new(), 0u64);
    (0..DEPTH).for_each(|slot| {
        lane.submit(&[write(slot)]).unwrap();
    });
    let mut in_flight = DEPTH;
    let mut refused = 0;
    while in_flight > 0 {
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        for completion in done.drain(..) {
            in_flight -= 1;
            match completion.outcome {
                Outcome::Done => written += 1,
                Outcome::Error(errno) => {
                    assert_eq!(errno, 5);
                    refused += 1;
                }
                other => panic!("{other:?}"),
            }
            if refused == 0 {
                assert!(written < 400 * places, "it wears out long before");
                lane.submit(&[write(completion.slot.0)]).unwrap();
                in_flight += 1;
            }
        }
    }
    assert!(written > 3 * places, "it lasted for {written} of {places} places");
    for op in [Op::Write, Op::Flush, Op::Read] {
        let length = if op == Op::Flush { 0 } else { BLOCK };
        lane.submit(&[Io { op, offset: 0, length, ..write(0) }]).unwrap();
        lane.wait(Nanos::NEVER, &mut done).unwrap();
        assert_eq!(done.pop().unwrap().outcome == Outcome::Done, op == Op::Read, "{op}");
    }
    drop(lane);
    assert!(drive.flash_counters().unwrap().wear.unwrap().bad_blocks > 0);
    let mut bytes = Vec::new();
    drive.save(&mut bytes).unwrap();
}
