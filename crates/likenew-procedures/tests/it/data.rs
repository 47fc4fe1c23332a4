//! Answers of data on drives whose speed by compressibility is known.

use crate::support::{answer, evidence, play, segment, standing, steady};
use likenew_core::dry_run::DryRun;
use likenew_core::findings::{Findings, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Procedure as _, Step};
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_procedures::data::files::{FileScan, FileType};
use likenew_procedures::data::{Data, DataOptions, Test};
use likenew_procedures::pattern::Pattern;

const MIB: u64 = 1 << 20;
const CAPACITY: u64 = 1 << 30;

/// Sequential writes, six steps of 4 MiB.
fn options() -> DataOptions {
    let tests = vec![Test { pattern: Pattern::Sequential, block: MIB, depth: 2 }];
    DataOptions { steps: 6, ops: vec![Op::Write], tests, span: 24 * MIB, ..DataOptions::default() }
}

/// A kind of files whose pieces all compress to one of these shares.
fn files(types: &[(&str, u64, f64)]) -> FileScan {
    let of = |(kind, bytes, share): &(&str, u64, f64)| {
        let pieces = vec![*share; 2000];
        FileType::of_pieces(kind, 3, *bytes, bytes / 2, &pieces, &pieces)
    };
    FileScan { types: types.iter().map(of).collect(), ..FileScan::default() }
}

/// Half a percent of scatter, the same on every run.
fn scatter(index: usize) -> f64 {
    1.0 + 0.005 * ((index * 7919 % 101) as f64 / 101.0 - 0.5)
}

fn share(workload: &Workload) -> f64 {
    workload.streams[0].data.compressed_share()
}

fn findings(options: DataOptions, speed: impl Fn(usize, f64) -> f64) -> Findings {
    let data = Data::new(options).unwrap();
    play(&data, evidence(CAPACITY, true), |index, workload| steady(speed(index, share(workload))))
}

/// The time of a byte is that of its compressed part: zeros 500 MB/s, random data 100 MB/s.
fn compressing(index: usize, share: f64) -> f64 {
    scatter(index) * 1e9 / (2.0 + 8.0 * share)
}

#[test]
fn a_drive_that_compresses_is_found_and_is_no_problem() {
    let findings = findings(options(), compressing);
    let answer = &findings.answers[0];
    assert_eq!((&*answer.id, answer.standing), ("sequential_write", Standing::Info));
    assert!(answer.answer.contains("the drive compresses"), "{}", answer.answer);
    assert!(findings.summary.contains("Sequential write: zeros are 5.0"), "{}", findings.summary);
    assert!(!findings.found_problem());
    let estimate = answer.estimate.as_ref().unwrap();
    assert!(estimate.low > 4.8 && estimate.high < 5.2 && estimate.unit == "×", "{estimate:?}");
    let rows = &findings.tables["compressibility"];
    assert_eq!(rows.len(), 6);
    let column = |key: &str| rows.iter().map(|row| row[key].as_f64().unwrap()).collect::<Vec<_>>();
    assert_eq!(column("compresses_to_percent"), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
    assert_eq!(column("share_of_fastest_percent")[0], 100.0);
    assert!((column("share_of_fastest_percent")[5] - 20.0).abs() < 0.2);
    assert!(column("bytes_per_s_low")[2] < column("bytes_per_s")[2]);
    assert_eq!(findings.tables["passes"].len(), 18);
    // Compressible on the right, as usual.
    let line = &findings.series["compressibility"].lines[0];
    assert_eq!((line.points[0][0], line.points[5][0]), (0.0, 100.0));
    assert!(line.points[0][1] < line.points[5][1]);
    assert!(!findings.tables.contains_key("file_types") && !findings.tables.contains_key("expected"));
}

#[test]
fn a_drive_that_only_knows_zeros_does_not_compress() {
    let findings =
        findings(options(), |index, share| scatter(index) * if share == 0.0 { 300e6 } else { 100e6 });
    let answer = answer(&findings, "sequential_write");
    assert_eq!(answer.standing, Standing::Info);
    assert!(answer.answer.contains("as fast as any other data"), "{}", answer.answer);
    assert!(!answer.answer.contains("compresses"), "{}", answer.answer);
}

#[test]
fn with_two_steps_compression_stays_open() {
    let findings = findings(DataOptions { steps: 2, ..options() }, compressing);
    let answer = answer(&findings, "sequential_write");
    assert_eq!((answer.standing, answer.actions.len()), (Standing::Info, 1));
    let words = ["zeros are 5.0", "not known"];
    assert!(words.iter().all(|words| answer.answer.contains(words)), "{}", answer.answer);
}

#[test]
fn zeros_may_be_slower() {
    let findings = findings(options(), |index, share| scatter(index) * (50e6 + 50e6 * share));
    let answer = answer(&findings, "sequential_write");
    assert_eq!(answer.standing, Standing::Info);
    assert!(answer.answer.contains("only 0.50"), "{}", answer.answer);
}

#[test]
fn where_it_does_not_matter_the_summary_says_so() {
    let all =
        DataOptions { ops: vec![Op::Write, Op::Read], tests: DataOptions::default().tests, ..options() };
    let files = Some(files(&[("text", 1000, 0.3)]));
    let findings = findings(DataOptions { files, ..all }, |index, _| 100e6 * scatter(index));
    assert!(findings.summary.contains("does not change the speed"), "{}", findings.summary);
    for id in ["sequential_write", "sequential_read", "random_write", "random_read"] {
        let answer = answer(&findings, id);
        assert_eq!(answer.standing, Standing::Info);
        assert!(answer.answer.contains("equally fast, within"), "{}", answer.answer);
        assert_eq!(standing(&findings, &format!("expected_{id}")), None);
    }
    assert_eq!(findings.tables["expected"].len(), 4);
}

#[test]
fn one_pass_and_scattered_passes_decide_nothing() {
    let once = findings(DataOptions { passes: 1, ..options() }, compressing);
    assert_eq!(standing(&once, "sequential_write"), Some(Standing::Unknown));
    assert!(once.tables["compressibility"][0]["bytes_per_s_low"].is_null());
    let wild = |index: usize, _: f64| 100e6 * (1.0 + 0.9 * ((index * 7919 % 101) as f64 / 101.0));
    let wild = findings(options(), wild);
    assert_eq!(standing(&wild, "sequential_write"), Some(Standing::Unknown));
}

#[test]
fn a_drive_that_slows_down_is_not_taken_for_one_that_compresses() {
    // 6 workloads prepare, then come passes of 6. The speed falls from 200 MB/s to 100 MB/s meanwhile.
    for seed in 0..20 {
        let options = DataOptions { passes: 4, ..options() };
        let workloads = 6.0 + 24.0;
        let data = Data::new(options).unwrap();
        let mut evidence = evidence(CAPACITY, true);
        evidence.plan.seed = seed;
        let findings = play(&data, evidence, |index, _| steady(200e6 - 100e6 * index as f64 / workloads));
        let answer = answer(&findings, "sequential_write");
        let differs = ["compresses", "any other data", "not known", "only"];
        assert!(!differs.iter().any(|words| answer.answer.contains(words)), "seed {seed}: {}", answer.answer);
        let rows = &findings.tables["compressibility"];
        let (zeros, random) =
            (rows[0]["bytes_per_s"].as_f64().unwrap(), rows[5]["bytes_per_s"].as_f64().unwrap());
        assert!((zeros / random - 1.0).abs() < 0.02, "seed {seed}: {zeros} {random}");
    }
}

#[test]
fn what_files_can_expect_is_the_harmonic_mean_over_their_bytes() {
    let scan = files(&[("video", 3000, 1.0), ("text", 1000, 0.2), ("not sampled", 0, 0.5)]);
    let options =
        DataOptions { files: Some(scan), advertised_write_bytes_per_s: Some(500_000_000), ..options() };
    let findings = findings(options, compressing);
    // ¾ of the bytes take 10 ns each, ¼ take 3.6 ns: 8.4 ns, 119 MB/s; zeros take 2 ns.
    let row = &findings.tables["expected"][0];
    let value = |key: &str| row[key].as_f64().unwrap();
    assert!((value("bytes_per_s") / 119.0e6 - 1.0).abs() < 0.01, "{row:?}");
    assert!((value("share_of_zeros_percent") - 23.8).abs() < 0.3, "{row:?}");
    assert!((value("share_of_advertised_percent") - 23.8).abs() < 0.3, "{row:?}");
    assert!(
        value("bytes_per_s_low") < value("bytes_per_s") && value("bytes_per_s") < value("bytes_per_s_high")
    );
    let files = answer(&findings, "files");
    assert!(files.standing == Standing::Info && files.answer.contains("80%"), "{}", files.answer);
    let expected = answer(&findings, "expected_sequential_write");
    assert!(expected.standing == Standing::Info && expected.answer.contains("24%"), "{}", expected.answer);
    assert!(findings.summary.contains("compress to 80%"), "{}", findings.summary);
    let kinds: Vec<&str> =
        findings.tables["file_types"].iter().map(|row| row["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["video", "text", "not sampled"]);
    assert_eq!(findings.tables["file_types"][0]["share_percent"], 75.0);
    assert!((findings.series["compressibility"].marks[0].x - 20.0).abs() < 1e-9);
}

#[test]
fn a_sample_of_little_widens_what_is_expected() {
    let width = |pieces: usize| {
        let shares: Vec<f64> = (0..pieces).map(|piece| if piece % 2 == 0 { 0.2 } else { 1.0 }).collect();
        let kind = FileType::of_pieces("mixed", 1, 1000, 1000, &shares, &shares);
        let files = Some(FileScan { types: vec![kind], ..FileScan::default() });
        let findings = findings(DataOptions { files, ..options() }, compressing);
        let row = findings.tables["expected"][0].clone();
        row["bytes_per_s_high"].as_f64().unwrap() - row["bytes_per_s_low"].as_f64().unwrap()
    };
    assert!(width(20) > 5.0 * width(2000), "{} {}", width(20), width(2000));
}

#[test]
fn files_alone_are_described_without_measuring() {
    let scan = FileScan { unreadable: 2, out_of_time: true, ..files(&[("text", 1000, 0.3)]) };
    let data = Data::new(DataOptions { steps: 0, files: Some(scan), ..options() }).unwrap();
    assert_eq!(data.next(&evidence(CAPACITY, false)), Ok(Step::Done));
    let findings = data.judge(&evidence(CAPACITY, false));
    let answer = &findings.answers[0];
    assert_eq!((&*answer.id, answer.standing), ("files", Standing::Info));
    assert!((answer.estimate.as_ref().unwrap().value - 30.0).abs() < 1e-9);
    let caveats = answer.caveats.join(" ");
    assert!(caveats.contains("Time ran out") && caveats.contains("2 files or folders"), "{caveats}");
    assert_eq!(findings.answers.len(), 1);
    assert_eq!(findings.tables.keys().collect::<Vec<_>>(), ["file_types"]);
}

#[test]
fn an_interrupted_run_says_how_far_it_came_and_nothing_measured_says_nothing() {
    let data = Data::new(options()).unwrap();
    let mut evidence = evidence(CAPACITY, true);
    let nothing = data.judge(&evidence);
    assert_eq!(standing(&nothing, "completed"), Some(Standing::Unknown));
    assert!(nothing.tables["compressibility"].is_empty() && nothing.series.is_empty());
    for _ in 0..15 {
        let Step::Run(workload) = data.next(&evidence).unwrap() else { panic!("there are 24") };
        let started_at = evidence.segments.last().map_or(Nanos::ZERO, |segment| segment.ended_at);
        evidence.segments.push(segment(&workload, started_at, &steady(100e6)));
    }
    let findings = data.judge(&evidence);
    assert_eq!(standing(&findings, "completed"), Some(Standing::Unknown));
    assert_eq!(findings.tables["passes"].len(), 9);
}

#[test]
fn a_file_system_that_compresses_is_named() {
    let mut evidence = evidence(CAPACITY, true);
    evidence.identity.kind = likenew_core::drive::TargetKind::Folder;
    evidence.identity.facts.push(("file system".into(), "btrfs".into()));
    let data = Data::new(options()).unwrap();
    let findings = play(&data, evidence, |index, workload| steady(compressing(index, share(workload))));
    let answer = &findings.answers[0];
    assert_eq!((&*answer.id, answer.standing), ("sequential_write", Standing::Info));
    assert!(answer.answer.contains("the file system or the drive compresses"), "{}", answer.answer);
    assert!(answer.caveats[0].contains("btrfs"));
}

#[test]
fn a_plan_reads_back() {
    let options = DataOptions { files: Some(files(&[("text", 1000, 0.3)])), ..options() };
    let table = toml::Table::try_from(&options).unwrap();
    let text = toml::to_string(&table).unwrap();
    assert!(Data::from_options(&toml::from_str(&text).unwrap()).is_ok(), "{text}");
    assert_eq!(toml::from_str::<DataOptions>(&text).unwrap(), options);
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let data = Data::new(options()).unwrap();
    assert!(data.next(&evidence(MIB, true)).unwrap_err().contains("--span"));
    assert!(data.next(&evidence(CAPACITY, false)).unwrap_err().contains("read-only"));
    let test = options().tests[0];
    let mut unsound = files(&[("text", 1000, 0.3)]);
    unsound.types[0].compresses_to.as_mut().unwrap().low = 0.9;
    for (options, word) in [
        (DataOptions { steps: 0, ..options() }, "steps = 0"),
        (DataOptions { steps: 1, ..options() }, "steps"),
        (DataOptions { steps: 102, ..options() }, "steps"),
        (DataOptions { passes: 0, ..options() }, "passes"),
        (DataOptions { time: Nanos::ZERO, ..options() }, "time"),
        (DataOptions { idle: Nanos::NEVER, ..options() }, "idle"),
        (DataOptions { span: 5 * MIB, ..options() }, "span"),
        (DataOptions { ops: vec![], ..options() }, "op"),
        (DataOptions { ops: vec![Op::Trim], ..options() }, "op"),
        (DataOptions { ops: vec![Op::Read, Op::Read], ..options() }, "op"),
        (DataOptions { tests: vec![], ..options() }, "pattern"),
        (DataOptions { tests: vec![test, test], ..options() }, "pattern"),
        (DataOptions { tests: vec![Test { block: 1000, ..test }], ..options() }, "block"),
        (DataOptions { tests: vec![Test { depth: 0, ..test }], ..options() }, "depth"),
        (DataOptions { files: Some(unsound), ..options() }, "text"),
    ] {
        let error = Data::new(options).err().unwrap_or_else(|| panic!("{word} was taken"));
        assert!(error.contains(word), "{error}");
    }
    let random = Test { pattern: Pattern::Random, block: 4096, depth: 32 };
    assert_eq!(DataOptions::default().tests[1], random);
}

#[test]
fn each_step_stays_in_its_part_with_its_class() {
    let idle = Nanos::from_millis(1);
    let data = Data::new(DataOptions { steps: 3, passes: 2, idle, ..DataOptions::default() }).unwrap();
    let workloads = DryRun::plan(&data, &evidence(CAPACITY, true)).unwrap().workloads;
    assert_eq!(workloads.len(), 3 + 2 * 2 * 2 * 3 * 2);
    let part = (CAPACITY / 3) >> 20 << 20;
    for stream in workloads.iter().flat_map(|workload| &workload.streams) {
        let range = stream.pattern.region().resolve(CAPACITY, 512).unwrap();
        let step = [DataClass::Zero, DataClass::Ratio(0.5), DataClass::Random]
            .iter()
            .position(|class| *class == stream.data)
            .unwrap() as u64;
        assert_eq!(range, step * part..(step + 1) * part);
    }
    let idle = workloads.iter().filter(|workload| workload.streams.is_empty()).count();
    assert_eq!(idle, 24);
    let mut seeds: Vec<u64> = workloads.iter().map(|workload| workload.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), workloads.len());
}
