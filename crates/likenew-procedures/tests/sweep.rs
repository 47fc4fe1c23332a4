//! What sweep runs and says, on drives whose law is known: an access time, a rate, and so many I/Os served at once.

mod support;

use likenew_procedures::pattern::Pattern;
use std::collections::HashMap;

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::recorder::Stop;
use likenew_core::rehearsal::Rehearsal;
use likenew_core::units::Nanos;
use likenew_core::verdict::{Findings, Row, Shape, Standing, Verdict};
use likenew_core::workload::Workload;
use likenew_procedures::precise::Precise;
use likenew_procedures::sweep::{Block, Order, Preset, Sweep, SweepOptions};
use support::{evidence, play, segment, standing, steady};

const SPAN: u64 = 64 << 20;
const ACCESS_S: f64 = 50e-6;
const RATE: f64 = 500e6;
const READS: Mix = Mix::Only(Op::Read);
const WRITES: Mix = Mix::Only(Op::Write);

fn options() -> SweepOptions {
    SweepOptions {
        ops: vec![READS],
        patterns: vec![Pattern::Random],
        span: SPAN,
        bytes: 1 << 20,
        passes: 3,
        depths: vec![1, 4, 32],
        ..SweepOptions::default()
    }
}

fn sweep(options: SweepOptions) -> Sweep {
    Sweep::new(options).unwrap()
}

fn block(workload: &Workload) -> f64 {
    f64::from(workload.streams[0].size.max())
}

fn depth(workload: &Workload) -> f64 {
    f64::from(workload.streams[0].pace.depth())
}

fn is_random(workload: &Workload) -> bool {
    matches!(workload.streams[0].place, Place::Uniform(_))
}

/// Bytes a second of a drive that takes the access time and then moves the block, for `servers` I/Os at once.
fn law(workload: &Workload, servers: f64) -> f64 {
    depth(workload).min(servers) * block(workload) / (ACCESS_S + block(workload) / RATE)
}

/// A few percent of scatter, the same on every run.
fn scatter(index: usize, percent: f64) -> f64 {
    1.0 + percent / 100.0 * ((index * 7919 % 101) as f64 / 50.5 - 1.0)
}

fn findings(options: SweepOptions, speed: impl Fn(usize, &Workload) -> f64) -> Findings {
    play(&sweep(options), evidence(SPAN, true), |index, workload| steady(speed(index, workload)))
}

fn verdict<'a>(findings: &'a Findings, words: &str) -> &'a Verdict {
    findings
        .verdicts
        .iter()
        .find(|verdict| verdict.claim.contains(words))
        .unwrap_or_else(|| panic!("no verdict says \"{words}\": {:#?}", findings.verdicts))
}

fn cell<'a>(findings: &'a Findings, pattern: &str, op: &str, block: u64, depth: u64) -> &'a Row {
    let is = |row: &&Row| {
        row["pattern"] == pattern && row["op"] == op && row["block_bytes"] == block && row["depth"] == depth
    };
    findings.tables["matrix"].iter().find(is).expect("it was measured")
}

fn number(row: &Row, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row:?}"))
}

#[test]
fn the_law_of_the_drive_comes_out() {
    let options = SweepOptions { depths: vec![1, 2, 4, 8, 16, 32], ..options() };
    let findings = findings(options, |index, workload| law(workload, 8.0) * scatter(index, 0.5));
    assert_eq!(findings.tables["matrix"].len(), 30);
    for (block, depth) in [(4096, 1), (65_536, 8), (1 << 20, 32)] {
        let row = cell(&findings, "random", "read", block, depth);
        let expected = (depth as f64).min(8.0) * block as f64 / (ACCESS_S + block as f64 / RATE);
        assert!((number(row, "bytes_per_s") / expected - 1.0).abs() < 0.006, "{row:?}");
        assert!((number(row, "iops") * block as f64 / number(row, "bytes_per_s") - 1.0).abs() < 1e-6);
        assert!(number(row, "bytes_per_s_low") < expected && expected < number(row, "bytes_per_s_high"));
    }
    // One 1 MiB block takes 2.147 ms, so 488 MB/s; 256 KiB reach 456, 64 KiB 362 of them.
    let enough = verdict(&findings, "90 % of their peak rate from blocks of 256 KiB on");
    assert_eq!((enough.standing, enough.estimate.as_ref().unwrap().value), (Standing::Holds, 262_144.0));
    let gains = verdict(&findings, "Random reads of 4 KiB gain from a deeper queue, up to depth 8.");
    let estimate = gains.estimate.as_ref().unwrap();
    assert_eq!(
        (gains.standing, estimate.low, estimate.value, estimate.high),
        (Standing::Holds, 8.0, 8.0, 8.0)
    );
    assert_eq!(standing(&findings, "Speed never falls"), Some(Standing::Holds));
    assert_eq!(standing(&findings, "The queue was as deep"), Some(Standing::Holds));
    assert_eq!(standing(&findings, "stayed as fast"), Some(Standing::Holds));
    let peak = &findings.verdicts[0];
    assert!(
        peak.claim.starts_with("It reads at up to 39") && peak.claim.contains("(random, 1 MiB, depth"),
        "{}",
        peak.claim
    );
    assert!(!findings.found_problem());
    let depths: Vec<f64> = findings.tables["depths"].iter().map(|row| number(row, "enough_depth")).collect();
    assert_eq!(depths, [8.0; 5]);
}

#[test]
fn one_pass_decides_nothing() {
    let findings = findings(SweepOptions { passes: 1, ..options() }, |_, workload| law(workload, 8.0));
    for words in ["90 % of their peak", "Speed never falls", "gain from a deeper queue"] {
        assert_eq!(standing(&findings, words), Some(Standing::Undecided), "{words}");
    }
    let peak = &findings.verdicts[0];
    assert!(peak.estimate.is_none() && peak.caveats[0].contains("measured once"));
    assert!(cell(&findings, "random", "read", 4096, 1)["bytes_per_s_low"].is_null());
    assert_eq!(standing(&findings, "stayed as fast"), None);
}

#[test]
fn a_cliff_is_named_with_its_cell() {
    // Clusters of 128 KiB: a smaller write moves more than it was given, and 64 KiB at depth 32 are the worst.
    let cliff = |workload: &Workload| block(workload) == 65_536.0 && depth(workload) == 32.0;
    let findings = findings(SweepOptions { ops: vec![WRITES], ..options() }, |index, workload| {
        law(workload, 8.0) * scatter(index, 1.0) * if cliff(workload) { 0.1 } else { 1.0 }
    });
    let growth = verdict(&findings, "Speed never falls");
    assert_eq!(growth.standing, Standing::Fails);
    assert_eq!(growth.because.len(), 1);
    assert!(
        growth.because[0].starts_with("random writes of 64 KiB at depth 32 run at"),
        "{}",
        growth.because[0]
    );
    assert!(!findings.found_problem(), "a cliff is how the drive was built");
}

#[test]
fn a_dip_within_the_scatter_is_not_decided() {
    let findings =
        findings(options(), |index, workload| law(workload, 8.0).min(500e6) * scatter(index, 20.0));
    assert_eq!(standing(&findings, "Speed never falls"), Some(Standing::Undecided));
}

#[test]
fn a_drive_that_serves_one_at_a_time_gains_nothing_from_depth() {
    let findings = findings(options(), |index, workload| law(workload, 1.0) * scatter(index, 0.5));
    let gains = verdict(&findings, "Random reads of 4 KiB gain from a deeper queue.");
    assert_eq!(gains.standing, Standing::Fails);
    assert_eq!(number(&findings.tables["depths"][0], "enough_depth"), 1.0);
}

#[test]
fn a_drive_that_is_not_saturated_says_so() {
    let findings = findings(options(), |index, workload| law(workload, 256.0) * scatter(index, 0.5));
    let gains = verdict(&findings, "up to depth 32");
    assert!(gains.standing == Standing::Holds && gains.caveats[0].contains("deepest that was measured"));
}

#[test]
fn orders_operations_and_data_are_compared() {
    let options = SweepOptions {
        ops: vec![WRITES, READS],
        patterns: vec![Pattern::Sequential, Pattern::Random],
        data: vec![DataClass::Zero, DataClass::Random],
        ..options()
    };
    let findings = findings(options, |index, workload| {
        let stream = &workload.streams[0];
        let times = match (stream.op, stream.data, is_random(workload)) {
            (WRITES, DataClass::Zero, _) => 2.0,
            (WRITES, _, _) => 0.5,
            (_, _, true) => 0.25,
            _ => 1.0,
        };
        times * law(workload, 8.0) * scatter(index, 0.5)
    });
    for (words, expected, ratio) in [
        ("Random reads of 4 KiB are slower than sequential ones", Standing::Holds, 0.25),
        ("Random writes of 4 KiB are slower than sequential ones", Standing::Fails, 1.0),
        ("Sequential writes of 1 MiB are slower than reads", Standing::Holds, 0.5),
        ("Random writes of 4 KiB are slower than reads", Standing::Fails, 2.0),
        ("Writes of 1 MiB are faster with data that is zeros than incompressible", Standing::Holds, 4.0),
        ("Reads of 1 MiB are faster with data that is zeros than incompressible", Standing::Fails, 1.0),
    ] {
        let verdict = verdict(&findings, words);
        assert_eq!(verdict.standing, expected, "{words}");
        assert!((verdict.estimate.as_ref().unwrap().value / ratio - 1.0).abs() < 0.02, "{words}");
    }
    // Two comparisons of 15 cells with both data classes, one with each of two patterns, one of 60 with the harder data.
    assert_eq!(findings.tables["ratios"].len(), 2 * 2 * 15 + 2 * 2 * 15 + 60);
    assert_eq!(findings.tables["matrix"].len(), 120);
}

#[test]
fn a_drive_that_changes_during_the_sweep_is_found_out() {
    let falling = |index: usize, workload: &Workload| law(workload, 8.0) * 0.99f64.powi(index as i32);
    assert_eq!(standing(&findings(options(), falling), "stayed as fast"), Some(Standing::Fails));
    let noisy = |index: usize, workload: &Workload| law(workload, 8.0) * scatter(index, 40.0);
    assert_eq!(standing(&findings(options(), noisy), "stayed as fast"), Some(Standing::Undecided));
}

#[test]
fn reads_come_before_writes_and_rounds_before_more_passes() {
    let sweep = sweep(SweepOptions { ops: vec![WRITES, "mix:70".parse().unwrap(), READS], ..options() });
    let names = names(&sweep, evidence(SPAN, true));
    assert_eq!(names.len(), 1 + 3 * 15 * 3);
    assert_eq!(names[0], "prepare");
    for (stage, op) in ["read", "mix:70", "write"].iter().enumerate() {
        for round in 0..3 {
            let first = 1 + (stage * 3 + round) * 15;
            let mut of_round = names[first..first + 15].to_vec();
            let suffix = format!(" {op} #{}", round + 1);
            assert!(of_round.iter().all(|name| name.ends_with(&suffix)), "{of_round:?}");
            of_round.sort();
            of_round.dedup();
            assert_eq!(of_round.len(), 15);
        }
    }
}

fn names(sweep: &Sweep, mut evidence: Evidence) -> Vec<String> {
    while let Step::Run(workload) = sweep.next(&evidence).unwrap() {
        assert_eq!(workload.seed, evidence.plan.seed_of(evidence.segments.len()));
        evidence.segments.push(segment(&workload, Nanos::ZERO, &steady(law(&workload, 8.0))));
    }
    evidence.segments.into_iter().map(|segment| segment.workload.name).collect()
}

#[test]
fn the_order_is_drawn_from_the_seed_or_as_listed() {
    let of_seed = |seed, order| {
        let mut evidence = evidence(SPAN, true);
        evidence.plan.seed = seed;
        names(&sweep(SweepOptions { order, ..options() }), evidence)
    };
    assert_eq!(of_seed(1, Order::Shuffled), of_seed(1, Order::Shuffled));
    assert_ne!(of_seed(1, Order::Shuffled), of_seed(2, Order::Shuffled));
    let rounds = of_seed(1, Order::Shuffled);
    let forms = |round: &[String]| -> Vec<String> {
        round.iter().map(|name| name.split(" #").next().unwrap().to_owned()).collect()
    };
    assert_ne!(forms(&rounds[1..16]), forms(&rounds[16..31]), "each round has an order of its own");
    let listed = of_seed(1, Order::Listed);
    assert_eq!(
        listed[1..5],
        ["RND4K Q1 read #1", "RND4K Q4 read #1", "RND4K Q32 read #1", "RND16K Q1 read #1"]
    );
    assert_eq!(listed, of_seed(2, Order::Listed));
}

#[test]
fn precise_cells_are_done_early_and_others_are_named() {
    let options =
        SweepOptions { precise: Some(Precise(0.02)), passes_max: 9, blocks: vec![Block(4096)], ..options() };
    let findings = findings(options, |index, workload| {
        law(workload, 8.0) * if depth(workload) == 4.0 { scatter(index, 30.0) } else { scatter(index, 0.5) }
    });
    let passes = |depth| cell(&findings, "random", "read", 4096, depth)["passes"].as_u64().unwrap();
    assert_eq!((passes(1), passes(4), passes(32)), (5, 9, 5));
    let verdict = verdict(&findings, "The mean speed of every cell is known to ± 2%");
    assert_eq!((verdict.standing, verdict.because.len()), (Standing::Fails, 1));
    assert!(verdict.because[0].starts_with("random reads of 4 KiB at depth 4: ±"), "{}", verdict.because[0]);
}

#[test]
fn a_rehearsal_counts_on_every_pass_that_may_be_needed() {
    let sweep =
        sweep(SweepOptions { ops: vec![WRITES], precise: Some(Precise(0.02)), passes_max: 7, ..options() });
    let rehearsal = Rehearsal::of(&sweep, &evidence(SPAN, true)).unwrap();
    assert_eq!((rehearsal.workloads.len(), rehearsal.ends), (1 + 15 * 7, true));
}

#[test]
fn what_does_not_fit_the_drive_is_left_out_and_said() {
    let mut evidence = evidence(SPAN, true);
    evidence.geometry.block = 4096;
    evidence.geometry.boundary = Some(SPAN);
    let blocks = [512, 4096, 12 << 10, 8 << 20, 128 << 20].map(Block).to_vec();
    let sweep = sweep(SweepOptions { blocks, depths: vec![1, 16], passes: 1, ..options() });
    let findings = play(&sweep, evidence, |_, workload| steady(law(workload, 8.0)));
    let measured: Vec<(f64, f64)> = findings.tables["matrix"]
        .iter()
        .map(|row| (number(row, "block_bytes"), number(row, "depth")))
        .collect();
    assert_eq!(measured, [(4096.0, 1.0), (4096.0, 16.0), (f64::from(8 << 20), 1.0)]);
    let verdict = verdict(&findings, "Every cell that was asked for was measured");
    assert_eq!(verdict.standing, Standing::Fails);
    let said = verdict.because.join("\n");
    for words in [
        "512 B: not a multiple",
        "12 KiB: does not divide",
        "8 MiB at depth 16: the queue",
        "128 MiB: more than the span",
    ] {
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn nothing_that_fits_is_refused_with_the_reasons() {
    let mut evidence = evidence(SPAN, true);
    evidence.geometry.block = 4096;
    let refusal = sweep(SweepOptions { blocks: vec![Block(512)], ..options() }).next(&evidence).unwrap_err();
    assert!(refusal.contains("512 B: not a multiple of this drive's block of 4096 bytes"), "{refusal}");
}

#[test]
fn a_target_that_may_only_be_read_is_only_read_and_its_data_is_not_known() {
    let evidence = || evidence(SPAN, false);
    let writes = sweep(SweepOptions { ops: vec![READS, WRITES], ..options() });
    assert!(writes.next(&evidence()).unwrap_err().contains("--op read"));
    let classes = SweepOptions { data: vec![DataClass::Zero, DataClass::Random], ..options() };
    assert!(sweep(classes).next(&evidence()).unwrap_err().contains("--data"));
    let names = names(&sweep(options()), evidence());
    assert!(names.len() == 45 && names.iter().all(|name| name.contains("read")), "{names:?}");
    let findings = play(&sweep(options()), evidence(), |_, workload| steady(law(workload, 8.0)));
    assert!(findings.tables["matrix"].iter().all(|row| row["data"].is_null()));
}

#[test]
fn an_interrupted_pass_is_measured_again_and_counts_for_nothing() {
    let (sweep, mut evidence) = (sweep(options()), evidence(SPAN, true));
    for _ in 0..20 {
        let Step::Run(workload) = sweep.next(&evidence).unwrap() else { panic!("20 are not all") };
        evidence.segments.push(segment(&workload, Nanos::ZERO, &steady(law(&workload, 8.0))));
    }
    let Step::Run(wanted) = sweep.next(&evidence).unwrap() else { panic!("20 are not all") };
    let mut cut = segment(&wanted, Nanos::ZERO, &steady(1.0));
    cut.stop = Stop::Interrupted;
    evidence.segments.push(cut);
    let Step::Run(again) = sweep.next(&evidence).unwrap() else { panic!("it was cut short") };
    assert_eq!(again.name, wanted.name);
    let findings = sweep.judge(&evidence);
    assert!(findings.tables["matrix"].iter().all(|row| number(row, "bytes_per_s") > 1e6));
    let verdict = verdict(&findings, "Every cell that was asked for was measured");
    assert!(verdict.because[0].starts_with("0 of 15 cells have all their passes"), "{}", verdict.because[0]);
}

#[test]
fn nothing_measured_judges_to_nothing_wrong() {
    let findings = sweep(options()).judge(&evidence(SPAN, true));
    assert!(!findings.found_problem() && findings.tables["matrix"].is_empty() && findings.series.is_empty());
}

#[test]
fn a_queue_that_ran_dry_is_named() {
    let (sweep, mut evidence) = (sweep(options()), evidence(SPAN, true));
    while let Step::Run(workload) = sweep.next(&evidence).unwrap() {
        let mut segment = segment(&workload, Nanos::ZERO, &steady(law(&workload, 8.0)));
        if depth(&workload) == 32.0 && block(&workload) == 4096.0 {
            segment.tallies[0].latency_ns_sum /= 2;
        }
        evidence.segments.push(segment);
    }
    let findings = sweep.judge(&evidence);
    let verdict = verdict(&findings, "The queue was as deep");
    assert_eq!((verdict.standing, verdict.because.len()), (Standing::Fails, 1));
    assert!(verdict.because[0].contains("random reads of 4 KiB at depth 32"), "{}", verdict.because[0]);
}

#[test]
fn mixes_are_split_and_pictures_stay_few() {
    let mut options = options();
    options.ops = ["read", "mix:75", "mix:50", "mix:25", "write"].map(|op| op.parse().unwrap()).to_vec();
    options.patterns = vec![Pattern::Sequential, Pattern::Random];
    let findings = findings(options, |_, workload| law(workload, 8.0));
    assert_eq!(findings.tables["mixes"].len(), 3 * 2 * 15 * 2);
    assert_eq!(findings.series.len(), 8, "one heat map for each of the first groups");
    let heat = &findings.series["heat_sequential_read"];
    assert_eq!((heat.shape, heat.lines.len(), heat.lines[0].points.len()), (Shape::Heat, 3, 5));
    let few = self::findings(self::options(), |_, workload| law(workload, 8.0));
    assert_eq!(
        few.series.keys().collect::<Vec<_>>(),
        ["heat_random_read", "speed_random_read", "iops_random_read"]
    );
    let line = &few.series["speed_random_read"].lines[0];
    assert_eq!((line.points.len(), line.band.len()), (5, 5));
}

#[test]
fn a_refused_pass_is_data() {
    use likenew_core::io::Outcome;
    use likenew_core::sample::Sample;
    let (sweep, mut evidence) = (sweep(options()), evidence(SPAN, true));
    for _ in 0..2 {
        let Step::Run(workload) = sweep.next(&evidence).unwrap() else { panic!("2 are not all") };
        evidence.segments.push(segment(&workload, Nanos::ZERO, &steady(law(&workload, 8.0))));
    }
    let last = evidence.segments.last_mut().unwrap();
    let refused = Sample { outcome: Outcome::Error(5), ..last.slowest[0] };
    last.tallies[0].add(&refused);
    last.refused.push(refused);
    last.stop = Stop::Failed { op: Op::Read, offset: 0, errno: 5 };
    let findings = sweep.judge(&evidence);
    assert!(findings.found_problem());
    assert_eq!(findings.tables["matrix"][0]["errors"], 1);
}

#[test]
fn nonsense_settings_are_refused_by_name() {
    for (options, word) in [
        (SweepOptions { ops: Vec::new(), ..options() }, "op"),
        (SweepOptions { ops: vec![Mix::Only(Op::Trim)], ..options() }, "op"),
        (SweepOptions { patterns: Vec::new(), ..options() }, "pattern"),
        (SweepOptions { blocks: Vec::new(), ..options() }, "block"),
        (SweepOptions { depths: vec![0], ..options() }, "depth"),
        (SweepOptions { depths: vec![4097], ..options() }, "depth"),
        (SweepOptions { depths: (1..2000).collect(), ..options() }, "cells"),
        (SweepOptions { data: Vec::new(), ..options() }, "data"),
        (SweepOptions { span: 1000, ..options() }, "span"),
        (SweepOptions { time: Nanos::ZERO, ..options() }, "time"),
        (SweepOptions { bytes: 0, ..options() }, "bytes"),
        (SweepOptions { passes: 0, ..options() }, "passes"),
        (SweepOptions { precise: Some(Precise(0.02)), passes_max: 4, ..options() }, "passes_max"),
    ] {
        let refusal = Sweep::new(options).err().unwrap_or_else(|| panic!("{word} was taken"));
        assert!(refusal.contains(word), "{refusal}");
    }
    assert!(sweep(options()).next(&evidence(SPAN / 2, true)).unwrap_err().contains("--span"));
    assert!(Sweep::from_options(&toml::from_str("block = ['4k']").unwrap()).err().unwrap().contains("block"));
    for (text, word) in
        [("blocks = ['0']", "block"), ("patterns = ['up']", "pattern"), ("precise = '0%'", "precision")]
    {
        assert!(Sweep::from_options(&toml::from_str(text).unwrap()).err().unwrap().contains(word), "{text}");
    }
}

#[test]
fn what_a_list_says_twice_is_measured_once() {
    let options = SweepOptions { blocks: vec![Block(4096), Block(4096)], depths: vec![1, 1], ..options() };
    assert_eq!(names(&sweep(options), evidence(SPAN, true)).len(), 1 + 3);
}

#[test]
fn every_preset_fits_a_drive_and_measures_each_cell() {
    for (name, preset) in Preset::ALL {
        let sweep = sweep(SweepOptions { passes: 1, ..preset.options() });
        let rehearsal = Rehearsal::of(&sweep, &evidence(1 << 30, true)).unwrap();
        let mut cells: HashMap<&str, u32> = HashMap::new();
        rehearsal.workloads.iter().for_each(|workload| *cells.entry(&workload.name).or_default() += 1);
        assert!(rehearsal.ends && cells.values().all(|times| *times == 1), "{name}");
        let geometry = evidence(1 << 30, true).geometry;
        assert!(rehearsal.workloads.iter().all(|workload| workload.check(&geometry).is_ok()), "{name}");
    }
}
