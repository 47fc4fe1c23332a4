//! Counterfeits of every kind, simulated sector by sector: the answers of verify are the truth.

use std::collections::HashMap;

use crate::support::evidence;
use likenew_core::damage::Damage;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::{DataClass, Op, Outcome, Sample};
use likenew_core::probe::{Extent, ExtentMap, Observation, ProbeResult};
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::segment::{Recorder as _, Segment, SegmentRecorder, Stop};
use likenew_core::stamp::{Label, SECTOR};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Workload};
use likenew_procedures::verify::{Verify, VerifyOptions};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCK: u64 = 4096;
const MIB: u64 = 1 << 20;

/// Sectors by physical address, with the label of each.
struct Stick {
    real: u64,
    wrap: u64,
    sectors: HashMap<u64, Label>,
    now: Nanos,
}

impl Stick {
    fn sound(bytes: u64) -> Self {
        Self::counterfeit(bytes, bytes)
    }

    /// Addresses wrap around at `wrap`, and those beyond `real` store nothing.
    fn counterfeit(real: u64, wrap: u64) -> Self {
        Self { real, wrap, sectors: HashMap::new(), now: Nanos::ZERO }
    }

    fn run(&mut self, workload: &Workload) -> Segment {
        self.run_at(workload, |address| address)
    }

    /// Runs a workload at the physical addresses that `on_stick` gives.
    fn run_at(&mut self, workload: &Workload, on_stick: impl Fn(u64) -> u64) -> Segment {
        let mut recorder = SegmentRecorder::default();
        recorder.begin(workload, self.now);
        let mut damage = workload.checks_stamps().then(Damage::default);
        for (stream, op, offset, length) in ios(workload) {
            let DataClass::Stamped(stamp) = workload.streams[usize::from(stream)].data else { continue };
            for address in (offset..offset + u64::from(length)).step_by(SECTOR) {
                let place = Some(on_stick(address) % self.wrap).filter(|place| *place < self.real);
                match (op, place) {
                    (Op::Write, Some(place)) => drop(self.sectors.insert(place, Label { address, stamp })),
                    (Op::Read, place) => {
                        let mut sector = [0; SECTOR];
                        if let Some(label) = place.and_then(|place| self.sectors.get(&place)) {
                            label.stamp.fill(label.address, &mut sector);
                        }
                        damage.as_mut().expect("reads are checked").inspect(stamp, address, &sector);
                    }
                    _ => {}
                }
            }
            let sent = self.now;
            self.now += Nanos(1000);
            let sample = Sample {
                stream,
                op,
                outcome: Outcome::Done,
                length,
                offset,
                due: sent,
                sent,
                done: self.now,
            };
            assert!(recorder.record(&[sample]).is_continue());
        }
        recorder.end(self.now);
        Segment { damage, ..SegmentRecorder::join(vec![recorder], workload, Stop::Reached) }
    }
}

/// The I/Os of a workload: each stream's addresses, sequential or random.
fn ios(workload: &Workload) -> Vec<(u16, Op, u64, u32)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(workload.seed);
    let mut ios = Vec::new();
    for (index, stream) in workload.streams.iter().enumerate() {
        let Mix::Only(op) = stream.op else { unreachable!("{}", stream.op) };
        let (length, range) = (u64::from(stream.size.max()), stream.pattern.region().resolve(u64::MAX, 512));
        let (range, mut push) = (range.unwrap(), |offset: u64, end: u64| {
            ios.push((index as u16, op, offset, (end - offset).min(length) as u32));
        });
        match stream.pattern {
            _ if op == Op::Flush => {}
            AccessPattern::Sequential(_) => {
                range.clone().step_by(length as usize).for_each(|at| push(at, range.end))
            }
            _ => (0..workload.until.ops.unwrap()).for_each(|_| {
                let at = range.start + random.random_range(0..(range.end - range.start) / length) * length;
                push(at, range.end);
            }),
        }
    }
    ios
}

fn options() -> VerifyOptions {
    VerifyOptions { block: BLOCK, file_size: BLOCK, parts: 10, probes: 400, ..VerifyOptions::default() }
}

fn verify(stick: &mut Stick, announced: u64, options: VerifyOptions) -> (Evidence, Findings) {
    let procedure = Verify::new(options).unwrap();
    let mut evidence = evidence(announced, true);
    while let Step::Run(workload) = procedure.next(&evidence).unwrap() {
        assert_eq!(workload.check(&evidence.geometry), Ok(()));
        evidence.segments.push(stick.run(&workload));
    }
    let findings = procedure.judge(&evidence);
    (evidence, findings)
}

/// A folder of a file system that puts its files in pieces of 64 KiB anywhere on a stick.
struct Files {
    stick: Stick,
    places: Vec<u64>,
}

const PIECE: u64 = 64 << 10;

impl Files {
    fn on(stick: Stick, seed: u64, bytes: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut places: Vec<u64> = (0..2 * bytes / PIECE).collect();
        for last in (1..places.len()).rev() {
            places.swap(last, random.random_range(0..=last));
        }
        Self { stick, places }
    }

    fn extents(&self) -> ExtentMap {
        let extent = |(piece, place): (usize, &u64)| Extent {
            offset: piece as u64 * PIECE,
            device_offset: place * PIECE,
            bytes: PIECE,
        };
        ExtentMap::new(self.places.iter().enumerate().map(extent).collect())
    }
}

/// Verifies the free space of a folder; `tells` if the file system reports where files are.
fn verify_folder(files: &mut Files, bytes: u64, tells: bool, options: VerifyOptions) -> (Evidence, Findings) {
    let procedure = Verify::new(VerifyOptions { probes: 0, file_size: MIB, ..options }).unwrap();
    let mut evidence = evidence(bytes, true);
    evidence.identity.kind = TargetKind::Folder;
    evidence.geometry.boundary = Some(MIB);
    loop {
        match procedure.next(&evidence).unwrap() {
            Step::Run(workload) => {
                let places = files.places.clone();
                let place = |address: u64| places[(address / PIECE) as usize] * PIECE + address % PIECE;
                let segment = files.stick.run_at(&workload, place);
                evidence.segments.push(segment);
            }
            Step::Probe(probe) => {
                let result = if tells {
                    ProbeResult::Extents(files.extents())
                } else {
                    ProbeResult::Unknown("it is served by a program".into())
                };
                let after = evidence.segments.len();
                let (started_at, ended_at) = (Nanos::ZERO, Nanos::ZERO);
                evidence.observations.push(Observation {
                    probe,
                    result,
                    after,
                    started_at,
                    ended_at,
                    after_interruption: false,
                    accounting: None,
                });
            }
            Step::Done => break,
        }
    }
    let findings = procedure.judge(&evidence);
    (evidence, findings)
}

/// Bytes of a folder that the stick still holds as last written.
fn held(files: &Files, written: u64) -> u64 {
    let places = &files.places;
    let place = |address: u64| places[(address / PIECE) as usize] * PIECE + address % PIECE;
    let holds = |address: &u64| {
        let real = place(*address) % files.stick.wrap;
        files.stick.sectors.get(&real).is_some_and(|label| label.address == *address)
    };
    (0..written).step_by(SECTOR).filter(holds).count() as u64 * SECTOR as u64
}

#[test]
fn a_folder_on_a_counterfeit_is_counted_byte_by_byte_and_a_wrap_is_the_devices() {
    let (real, announced) = (4 * MIB, 10 * MIB);
    for (seed, full, tells) in [(1, false, true), (2, true, true), (3, false, false), (4, true, false)] {
        let mut files = Files::on(Stick::counterfeit(real, real), seed, announced);
        let (evidence, findings) =
            verify_folder(&mut files, announced, tells, VerifyOptions { full, ..options() });
        let (read, intact) = (capacity(&findings, "read_back_bytes"), capacity(&findings, "intact_bytes"));
        assert_eq!(read, Some(written(&evidence)), "all that was written is read back");
        assert_eq!(written(&evidence) == announced, full);
        assert_eq!(intact, Some(held(&files, read.unwrap())));
        assert_eq!(capacity(&findings, "damaged_bytes"), Some(read.unwrap() - intact.unwrap()));
        assert_eq!(capacity(&findings, "wraps_at_bytes"), tells.then_some(real), "{findings:#?}");
        assert_eq!(capacity(&findings, "holds_at_most_bytes"), tells.then_some(real));
        assert_eq!(capacity(&findings, "holds_at_least_bytes"), intact);
        assert!(findings.found_problem());
        assert_eq!(standing(&findings, INTEGRITY), Standing::Problem);
        assert!(answer(&findings, INTEGRITY).answer.contains("read back as written"), "{findings:#?}");
        let capacity = if tells { Standing::Problem } else { Standing::Unknown };
        assert_eq!(standing(&findings, CAPACITY), capacity);
        let first = if tells { CAPACITY } else { INTEGRITY };
        assert_eq!(findings.answers[0].id, first, "what is said first");
    }
}

#[test]
fn a_folder_on_a_sound_stick_asks_nothing_about_extents() {
    let mut files = Files::on(Stick::sound(64 * MIB), 1, 8 * MIB);
    let (evidence, findings) = verify_folder(&mut files, 8 * MIB, true, options());
    assert!(evidence.observations.is_empty() && !findings.found_problem());
    assert_eq!(capacity(&findings, "intact_bytes"), Some(8 * MIB));
}

#[test]
fn what_holds_more_than_a_distance_does_not_go_round_there() {
    let all = VerifyOptions { probes: 0, full: true, ..options() };
    let procedure = Verify::new(all).unwrap();
    let (mut evidence, mut stick) = (evidence(16 * MIB, true), Stick::sound(16 * MIB));
    while let Step::Run(workload) = procedure.next(&evidence).unwrap() {
        evidence.segments.push(stick.run(&workload));
        // Two writes go astray by 4 KiB.
        for place in [3 * MIB, 7 * MIB] {
            if let Some(label) = stick.sectors.get(&place).copied() {
                stick.sectors.insert(place + 4096, label);
            }
        }
    }
    let findings = procedure.judge(&evidence);
    assert!(findings.found_problem());
    assert_eq!(capacity(&findings, "wraps_at_bytes"), None, "{findings:#?}");
    assert_eq!(standing(&findings, CAPACITY), Standing::Unknown, "damage here and there is no counterfeit");
}

fn capacity(findings: &Findings, column: &str) -> Option<u64> {
    findings.tables["capacity"][0][column].as_u64()
}

const CAPACITY: &str = "capacity";
const INTEGRITY: &str = "integrity";

fn answer<'a>(findings: &'a Findings, id: &str) -> &'a Answer {
    findings
        .answers
        .iter()
        .find(|answer| answer.id == id)
        .unwrap_or_else(|| panic!("no {id} in {findings:#?}"))
}

fn standing(findings: &Findings, id: &str) -> Standing {
    answer(findings, id).standing
}

fn written(evidence: &Evidence) -> u64 {
    evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum()
}

#[test]
fn a_sound_drive_holds_whatever_its_length() {
    for announced in [16 * MIB, 16 * MIB + 512, 16 * MIB - 512, 5 * BLOCK] {
        let (_, findings) = verify(&mut Stick::sound(announced), announced, options());
        assert_eq!(standing(&findings, CAPACITY), Standing::Good, "{findings:#?}");
        assert_eq!(standing(&findings, INTEGRITY), Standing::Good);
        assert!(!findings.found_problem());
        assert_eq!(capacity(&findings, "holds_at_least_bytes"), Some(announced));
        assert_eq!(capacity(&findings, "holds_at_most_bytes"), None);
    }
}

#[test]
fn without_probes_everything_is_written_and_read_and_the_damage_is_exact() {
    let (real, announced) = (6 * MIB, 16 * MIB);
    let all = VerifyOptions { probes: 0, full: true, ..options() };
    let (_, findings) = verify(&mut Stick::counterfeit(real, real), announced, all.clone());
    assert!(findings.found_problem());
    assert_eq!(capacity(&findings, "holds_at_least_bytes"), Some(real));
    assert_eq!(capacity(&findings, "holds_at_most_bytes"), Some(real));
    assert_eq!(capacity(&findings, "wraps_at_bytes"), Some(real));
    assert_eq!(findings.summary, "Counterfeit capacity: it holds 6.29 MB, not the 16.8 MB it claims.");
    let map = &findings.series["addresses"];
    let far = map.lines.iter().find(|line| line.name == "written to another address").unwrap();
    let is_wrapped = |[at, label]: &[f64; 2]| at != label && (label - at) % real as f64 == 0.0;
    assert!(far.points.iter().all(is_wrapped), "{far:?}");
    assert_eq!(map.marks[0].x, real as f64);
    assert_eq!(findings.overview.series.as_deref(), Some("addresses"));
    let (_, findings) = verify(&mut Stick::counterfeit(real, announced), announced, all);
    assert_eq!(capacity(&findings, "holds_at_most_bytes"), Some(real));
    let rows = &findings.tables["damage"];
    assert_eq!(rows[0]["kind"], "missing");
    assert_eq!(rows[0]["from_byte"], real, "{rows:#?}");
    assert_eq!(rows.last().unwrap()["to_byte"], announced);
}

#[test]
fn a_read_back_stops_early_where_there_are_no_probes() {
    let (real, announced) = (2 * MIB, 64 * MIB);
    let looking = VerifyOptions { probes: 0, parts: 64, ..options() };
    for wrap in [real, announced] {
        let (evidence, findings) = verify(&mut Stick::counterfeit(real, wrap), announced, looking.clone());
        assert!(findings.found_problem() && standing(&findings, INTEGRITY) == Standing::Problem);
        assert_ne!(standing(&findings, CAPACITY), Standing::Good);
        assert!(written(&evidence) <= 16 * MIB, "{} bytes", written(&evidence));
    }
}

#[test]
fn a_part_and_a_few_blocks_decide_nothing() {
    let announced = 64 * MIB;
    let mut stick = Stick::counterfeit(8 * MIB, 8 * MIB);
    let part = VerifyOptions { span: Some(8 * MIB), ..options() };
    let (_, findings) = verify(&mut stick, announced, part);
    assert_eq!(standing(&findings, CAPACITY), Standing::Unknown);
    assert!(answer(&findings, CAPACITY).answer.contains("only the first 8 MiB"), "{findings:#?}");
    let quick = VerifyOptions { quick: true, ..options() };
    let (evidence, findings) = verify(&mut Stick::sound(announced), announced, quick);
    assert_eq!(standing(&findings, CAPACITY), Standing::Unknown);
    assert!(written(&evidence) < 4 * MIB);
}

#[test]
fn memory_of_a_real_drive_may_have_answered() {
    let procedure = Verify::new(VerifyOptions { probes: 0, ..options() }).unwrap();
    let mut evidence = evidence(MIB, true);
    evidence.geometry.carries_data = true;
    evidence.geometry.clock = Clock::Wall;
    let mut stick = Stick::sound(MIB);
    while let Step::Run(workload) = procedure.next(&evidence).unwrap() {
        evidence.segments.push(stick.run(&workload));
        let findings = procedure.judge(&evidence);
        assert_eq!(standing(&findings, INTEGRITY), Standing::Unknown, "at every moment");
    }
    let small = Verify::new(VerifyOptions { probes: 0, cache: MIB, ..options() }).unwrap();
    assert_eq!(standing(&small.judge(&evidence), INTEGRITY), Standing::Good);
    evidence
        .identity
        .caveats
        .push("everything went through the page cache: these may be those of memory".into());
    assert_eq!(standing(&small.judge(&evidence), INTEGRITY), Standing::Unknown);
}

#[test]
fn what_an_earlier_run_has_left_is_read_with_its_seed_alone() {
    let mut stick = Stick::sound(MIB);
    verify(&mut stick, MIB, VerifyOptions { probes: 0, ..options() });
    let again = VerifyOptions { read_only: true, ..options() };
    let (read, findings) = verify(&mut stick, MIB, again.clone());
    assert_eq!((written(&read), standing(&findings, INTEGRITY)), (0, Standing::Good));
    let procedure = Verify::new(again).unwrap();
    let mut other = evidence(MIB, false);
    other.plan.seed = 5;
    while let Step::Run(workload) = procedure.next(&other).unwrap() {
        other.segments.push(stick.run(&workload));
    }
    let findings = procedure.judge(&other);
    assert_eq!(standing(&findings, INTEGRITY), Standing::Problem);
    assert_eq!(findings.tables["damage"][0]["kind"], "stale");
    assert_eq!(findings.tables["damage"][0]["written_with_key"], 0);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let case = |change: &dyn Fn(&mut VerifyOptions), words: &str| {
        let mut options = options();
        change(&mut options);
        let error = Verify::new(options).err().expect(words);
        assert!(error.contains(words), "{error}");
    };
    case(&|o| o.block = 1000, "block = 1000");
    case(&|o| o.file_size = 1, "file_size = 1:");
    case(&|o| o.files = 0, "files = 0");
    case(&|o| o.depth = 0, "depth = 0");
    case(&|o| o.parts = 6000, "parts = 6000");
    case(&|o| o.passes = 0, "passes = 0");
    case(&|o| o.probes = 1 << 20, "probes = ");
    case(&|o| (o.quick, o.probes) = (true, 0), "quick");
    let table: toml::Table = toml::from_str("speed = 3").unwrap();
    assert!(Verify::from_options(&table).err().unwrap().contains("unknown option of verify"));
    let next =
        |capacity, writable, options| Verify::new(options).unwrap().next(&evidence(capacity, writable));
    assert!(next(MIB, false, options()).unwrap_err().contains("read-only"));
    assert!(next(512, true, options()).unwrap_err().contains("less than one block"));
    let far = VerifyOptions { span: Some(2 * MIB), ..options() };
    assert!(next(MIB, true, far).unwrap_err().contains("a --span of at most 1MiB"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// 400 blocks of 4 KiB on at most 2 MiB meet one another hundreds of times.
    #[test]
    fn probes_tell_where_a_counterfeit_wraps_around_or_ends(
        real_sectors in 64u64..4096, announced_mib in 16u64..64, kind in 0u8..3, more in 1u64..4096,
    ) {
        let (real, announced) = (real_sectors * 512, announced_mib * MIB);
        let wrap = match kind {
            0 => real,
            1 => announced,
            _ => real + (1 + more % real_sectors) * 512,
        };
        let (evidence, findings) = verify(&mut Stick::counterfeit(real, wrap), announced, options());
        prop_assert!(findings.found_problem());
        prop_assert_eq!(standing(&findings, CAPACITY), Standing::Problem);
        prop_assert_eq!(&*findings.answers[0].id, CAPACITY);
        prop_assert!(written(&evidence) < announced, "found early");
        let most = capacity(&findings, "holds_at_most_bytes").expect("a limit is found");
        let least = capacity(&findings, "holds_at_least_bytes").unwrap();
        let wraps = capacity(&findings, "wraps_at_bytes");
        prop_assert!(least <= real && real <= most, "{} <= {} <= {}", least, real, most);
        if kind == 1 {
            prop_assert_eq!(wraps, None);
            prop_assert!(most - real <= 2 * BLOCK, "{} for {}", most, real);
        } else {
            prop_assert_eq!(wraps, Some(wrap));
            prop_assert!(kind != 0 || most == real);
        }
    }

    #[test]
    fn no_sound_drive_is_ever_accused(sectors in 8u64..20_000, passes in 1u32..3, probes in 0u32..100, full in any::<bool>()) {
        let bytes = sectors * 512;
        let (evidence, findings) =
            verify(&mut Stick::sound(bytes), bytes, VerifyOptions { passes, probes, full, ..options() });
        prop_assert!(!findings.found_problem());
        prop_assert_eq!(standing(&findings, CAPACITY), Standing::Good);
        let read: u64 = evidence.segments.iter().filter_map(|segment| segment.damage.as_ref()).map(|damage| damage.checked_bytes).sum();
        prop_assert!(read >= u64::from(passes) * bytes);
        // An interrupted run says nothing wrong either.
        let procedure = Verify::new(VerifyOptions { passes, probes, full, ..options() }).unwrap();
        for end in 0..evidence.segments.len() {
            let cut = Evidence { segments: evidence.segments[..end].to_vec(), ..evidence.clone() };
            let findings = procedure.judge(&cut);
            prop_assert!(!findings.found_problem() && !findings.summary.is_empty());
        }
    }
}

/// Half of the size at which its addresses wrap is before its end, and was only read.
#[test]
fn what_was_never_written_is_not_missing() {
    let (real, announced) = (2855 * 512, 18 * MIB);
    let wrap = real + 2811 * 512;
    let (_, findings) = verify(&mut Stick::counterfeit(real, wrap), announced, options());
    assert_eq!(capacity(&findings, "wraps_at_bytes"), Some(wrap));
    let most = capacity(&findings, "holds_at_most_bytes").unwrap();
    assert!((real..=wrap).contains(&most), "{most}");
}
