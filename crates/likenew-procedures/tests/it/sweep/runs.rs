//! Workloads of sweep, their order, and refused options.

use std::collections::HashMap;

use likenew_core::dry_run::DryRun;
use likenew_core::findings::Standing;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::segment::Stop;
use likenew_core::units::Nanos;
use likenew_core::workload::Mix;
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_procedures::sweep::{Block, Order, Preset, Sweep, SweepOptions};

use super::{READS, SPAN, WRITES, cell, depth, findings, law, number, options, scatter, sweep};
use crate::support::{answer, evidence, play, segment, steady};

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
    let options = SweepOptions {
        precise: Some(PrecisionGoal(0.02)),
        passes_max: 9,
        blocks: vec![Block(4096)],
        ..options()
    };
    let findings = findings(options, |index, workload| {
        law(workload, 8.0) * if depth(workload) == 4.0 { scatter(index, 30.0) } else { scatter(index, 0.5) }
    });
    let passes = |depth| cell(&findings, "random", "read", 4096, depth)["passes"].as_u64().unwrap();
    assert_eq!((passes(1), passes(4), passes(32)), (5, 9, 5));
    let precision = answer(&findings, "precision");
    assert_eq!((precision.standing, precision.evidence.len()), (Standing::Unknown, 1));
    assert!(precision.answer.contains("±2%"), "{}", precision.answer);
    let evidence = &precision.evidence[0];
    assert!(evidence.starts_with("4 KiB random reads at QD4: ±"), "{evidence}");
}

#[test]
fn a_dry_run_counts_on_every_pass_that_may_be_needed() {
    let sweep = sweep(SweepOptions {
        ops: vec![WRITES],
        precise: Some(PrecisionGoal(0.02)),
        passes_max: 7,
        ..options()
    });
    let dry_run = DryRun::plan(&sweep, &evidence(SPAN, true)).unwrap();
    assert_eq!((dry_run.workloads.len(), dry_run.is_finite), (1 + 15 * 7, true));
}

#[test]
fn what_does_not_fit_the_drive_is_left_out_and_reported() {
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
    let coverage = answer(&findings, "coverage");
    assert_eq!(coverage.standing, Standing::Info);
    let message = coverage.evidence.join("\n");
    for words in [
        "512 B: not a multiple",
        "12 KiB: does not divide",
        "8 MiB at QD16: the queue",
        "128 MiB: larger than the span",
    ] {
        assert!(message.contains(words), "{message}");
    }
}

#[test]
fn nothing_that_fits_is_refused_with_the_reasons() {
    let mut evidence = evidence(SPAN, true);
    evidence.geometry.block = 4096;
    let refusal = sweep(SweepOptions { blocks: vec![Block(512)], ..options() }).next(&evidence).unwrap_err();
    assert!(refusal.contains("512 B: not a multiple of the drive's 4096-byte blocks"), "{refusal}");
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
    let coverage = answer(&findings, "coverage");
    assert_eq!(
        (coverage.standing, coverage.answer.as_str()),
        (Standing::Unknown, "0 of 15 combinations have all their passes")
    );
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
        (SweepOptions { precise: Some(PrecisionGoal(0.02)), passes_max: 4, ..options() }, "passes_max"),
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
    for name in ["default", "quick", "atto", "iometer", "full"] {
        let preset: Preset = name.parse().unwrap();
        let sweep = sweep(SweepOptions { passes: 1, ..preset.options() });
        let dry_run = DryRun::plan(&sweep, &evidence(1 << 30, true)).unwrap();
        let mut cells: HashMap<&str, u32> = HashMap::new();
        dry_run.workloads.iter().for_each(|workload| *cells.entry(&workload.name).or_default() += 1);
        assert!(dry_run.is_finite && cells.values().all(|times| *times == 1), "{name}");
        let geometry = evidence(1 << 30, true).geometry;
        assert!(dry_run.workloads.iter().all(|workload| workload.check(&geometry).is_ok()), "{name}");
    }
}
