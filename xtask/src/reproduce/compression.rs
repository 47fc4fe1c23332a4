//! Study 2: a drive that compresses, over fifteen drive fills.

use std::ops::Range;

use likenew_core::drive::Drive as _;
use likenew_core::io::{DataClass, Op};
use likenew_core::until::Until;
use likenew_sim::SimDrive;

use super::lab::{Lab, Load, mb_per_s, measure};
use super::page::{Published, number, table};
use super::{Section, Study};

/// "SSD Advertised Performance vs. Actual Performance" (Puget Systems).
pub(super) const STUDY: Study = Study {
    number: 2,
    title: "Advertised performance against actual (Puget Systems)",
    source: "Puget Systems, \"SSD advertised performance against actual\". CrystalDiskMark in a loop, 9.2 GB written each time, to 1.8 TB; a secure erase between sets.",
    published: &PUBLISHED,
    run,
};

const DRIVE: &str = "Intel 520 120 GB";

const PUBLISHED: [Published; 3] = [
    Published { drive: DRIVE, what: "sequential read, compressible, MB/s", printed: "515", value: 515.0 },
    Published { drive: DRIVE, what: "sequential write, compressible, MB/s", printed: "500", value: 500.0 },
    Published { drive: DRIVE, what: "sequential write, incompressible, MB/s", printed: "193", value: 193.0 },
];

/// The sets of the study.
const SETS: [(&str, DataClass, bool); 3] = [
    ("compressible, TRIM on", DataClass::Zero, true),
    ("incompressible, TRIM on", DataClass::Random, true),
    ("incompressible, TRIM off", DataClass::Random, false),
];

/// One line of the benchmark.
#[derive(Clone, Copy)]
struct Test {
    name: &'static str,
    op: Op,
    random: bool,
    block: u32,
    depth: u32,
    /// How much it moves, in thousandths of the test file.
    per_mille: u64,
}

const fn test(name: &'static str, op: Op, random: bool, block: u32, depth: u32, per_mille: u64) -> Test {
    Test { name, op, random, block, depth, per_mille }
}

/// Chosen so that a loop with the creation of its file writes 9.2 GB for a file of 1000 MiB.
const TESTS: [Test; 8] = [
    test("seq read", Op::Read, false, 1 << 20, 1, 1000),
    test("512K read", Op::Read, true, 512 << 10, 1, 500),
    test("4K Q1 read", Op::Read, true, 4096, 1, 40),
    test("4K Q32 read", Op::Read, true, 4096, 32, 100),
    test("seq write", Op::Write, false, 1 << 20, 1, 5000),
    test("512K write", Op::Write, true, 512 << 10, 1, 2000),
    test("4K Q1 write", Op::Write, true, 4096, 1, 387),
    test("4K Q32 write", Op::Write, true, 4096, 32, 387),
];
const SEQUENTIAL_READ: usize = 0;
const SEQUENTIAL_WRITE: usize = 4;

/// Mean speeds of the tests over the loops of one drive fill, in MB/s.
type Speeds = [f64; TESTS.len()];

struct Set {
    name: &'static str,
    fresh: Speeds,
    fills: Vec<Speeds>,
}

fn run(lab: Lab) -> anyhow::Result<Section> {
    let mut sets = Vec::new();
    for (name, data, trim) in SETS {
        let query = if trim { "state=new&trim=on" } else { "state=new&trim=off" };
        let Some(mut drive) = lab.open("intel-520", query)? else {
            let predictions = format!("Left out, because the catalogue has no {DRIVE}.\n");
            return Ok(Section { simulated: vec![None; PUBLISHED.len()], note: "", predictions });
        };
        sets.push(looped(lab, name, &mut drive, data)?);
    }
    let (compressible, random) = (&sets[0].fresh, &sets[1].fresh);
    let simulated = [compressible[SEQUENTIAL_READ], compressible[SEQUENTIAL_WRITE], random[SEQUENTIAL_WRITE]]
        .map(Some)
        .to_vec();
    let mut predictions: String = sets.iter().map(Set::page).collect();
    predictions += "A loop makes a file of 1000 MiB, runs the tests on it and deletes it; the file of the next loop takes the addresses after it, \
        round the whole drive, as an allocator does that prefers what was free for longest. With TRIM the deletion reaches the drive. \
        What compresses takes less flash than it has bytes and leaves the rest as spare; what does not takes all of it.\n";
    Ok(Section { simulated, note: "", predictions })
}

/// Loops the benchmark until the drive has been written so many times over.
fn looped(lab: Lab, name: &'static str, drive: &mut SimDrive, data: DataClass) -> anyhow::Result<Set> {
    let capacity = drive.geometry().capacity;
    let file = lab.pick(1000 << 20, 8 << 20);
    let places = capacity / file;
    let (fills, mut written, mut place) = (lab.pick(15, 2), 0, 0);
    let mut set = Set { name, fresh: [0.0; TESTS.len()], fills: Vec::new() };
    for fill in 1..=fills {
        let (mut sum, mut loops) = ([0.0; TESTS.len()], 0.0);
        while written < fill * capacity || loops == 0.0 {
            let start = place % places * file;
            let (speeds, bytes) = one_loop(drive, start..start + file, data)?;
            if place == 0 {
                set.fresh = speeds;
            }
            sum.iter_mut().zip(speeds).for_each(|(sum, speed)| *sum += speed);
            (written, place, loops) = (written + bytes, place + 1, loops + 1.0);
        }
        set.fills.push(sum.map(|sum| sum / loops));
        eprintln!("    {name}: fill {fill} of {fills}");
    }
    Ok(set)
}

/// Makes a file, tests it and deletes it; the speeds, and bytes written.
fn one_loop(drive: &mut SimDrive, file: Range<u64>, data: DataClass) -> anyhow::Result<(Speeds, u64)> {
    let length = file.end - file.start;
    let mut written = length;
    measure(drive, &Load { data, ..Load::sequential(Op::Write, file.clone()) })?;
    let mut speeds = [0.0; TESTS.len()];
    for (test, speed) in TESTS.iter().zip(&mut speeds) {
        let bytes = length / 1000 * test.per_mille;
        let load = Load {
            op: test.op,
            random: test.random,
            block: test.block,
            depth: test.depth,
            range: file.clone(),
            data,
            until: Until::bytes(bytes),
        };
        *speed = mb_per_s(&measure(drive, &load)?);
        written += if test.op == Op::Write { bytes } else { 0 };
    }
    if drive.geometry().trims {
        measure(drive, &Load { op: Op::Trim, ..Load::sequential(Op::Trim, file) })?;
    }
    Ok((speeds, written))
}

impl Set {
    fn page(&self) -> String {
        let head: Vec<&str> =
            std::iter::once("drive fill").chain(TESTS.iter().map(|test| test.name)).collect();
        let row = |name: String, speeds: &Speeds| {
            std::iter::once(name).chain(speeds.iter().map(|speed| number(*speed))).collect::<Vec<String>>()
        };
        let mut rows: Vec<Vec<String>> =
            (1..).zip(&self.fills).map(|(fill, speeds)| row(format!("{fill}"), speeds)).collect();
        let peak = std::array::from_fn(|test| {
            self.fills.iter().chain([&self.fresh]).map(|speeds| speeds[test]).fold(0.0, f64::max)
        });
        let last = &self.fills[self.fills.len() * 2 / 3..];
        let steady = std::array::from_fn(|test| {
            last.iter().map(|speeds| speeds[test]).sum::<f64>() / last.len() as f64
        });
        rows.push(row("peak".into(), &peak));
        rows.push(row("mean of the last third".into(), &steady));
        format!("{}, MB/s:\n\n{}\n", self.name, table(&head, &rows))
    }
}
