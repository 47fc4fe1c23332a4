//! Findings of sweep on drives with a known law.

use likenew_core::findings::{Shape, Standing};
use likenew_core::io::{DataClass, Op, Outcome, Sample};
use likenew_core::procedure::{Procedure as _, Step};
use likenew_core::segment::Stop;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_procedures::pattern::Pattern;
use likenew_procedures::sweep::SweepOptions;

use super::{
    ACCESS_S, RATE, READS, SPAN, WRITES, answer_to, block, cell, depth, findings, is_random, law, number,
    options, scatter, sweep,
};
use crate::support::{answer, evidence, segment, standing, steady};

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
    let enough = answer(&findings, "enough_block");
    assert_eq!((enough.standing, enough.estimate.as_ref().unwrap().value), (Standing::Info, 262_144.0));
    assert!(enough.answer.starts_with("256 KiB reaches 90% of the peak"), "{}", enough.answer);
    let gains = answer(&findings, "queue_depth_read");
    let estimate = gains.estimate.as_ref().unwrap();
    assert_eq!(
        (gains.standing, estimate.low, estimate.value, estimate.high),
        (Standing::Info, 8.0, 8.0, 8.0)
    );
    assert!(gains.answer.starts_with("4 KiB random reads gain up to QD8"), "{}", gains.answer);
    for id in ["block_growth", "queue_fullness", "drift"] {
        assert_eq!(standing(&findings, id), Some(Standing::Good), "{id}");
    }
    let peak = &findings.answers[0];
    assert_eq!((peak.id.as_str(), peak.standing), ("peak_read", Standing::Info));
    assert!(peak.answer.starts_with("3,9") && peak.answer.contains("(1 MiB random, QD"), "{}", peak.answer);
    assert!(findings.summary.starts_with("Peak read 3,9"), "{}", findings.summary);
    assert_eq!(findings.overview.table.as_ref().unwrap().rows.len(), 1);
    assert_eq!(findings.overview.series.as_deref(), Some("heat_random_read"));
    assert!(!findings.found_problem());
    let depths: Vec<f64> = findings.tables["depths"].iter().map(|row| number(row, "enough_depth")).collect();
    assert_eq!(depths, [8.0; 5]);
}

#[test]
fn one_pass_decides_nothing() {
    let findings = findings(SweepOptions { passes: 1, ..options() }, |_, workload| law(workload, 8.0));
    for id in ["enough_block", "block_growth", "queue_depth_read"] {
        assert_eq!(standing(&findings, id), Some(Standing::Unknown), "{id}");
        assert_eq!(answer(&findings, id).actions[0].id, "more_passes");
    }
    let peak = &findings.answers[0];
    assert!(peak.estimate.is_none() && peak.caveats[0].contains("measured once"));
    assert!(cell(&findings, "random", "read", 4096, 1)["bytes_per_s_low"].is_null());
    assert_eq!(standing(&findings, "drift"), None);
}

#[test]
fn a_cliff_is_named_with_its_cell() {
    // Clusters of 128 KiB: a smaller write moves more than its own bytes, and 64 KiB at depth 32 are the
    // worst.
    let cliff = |workload: &Workload| block(workload) == 65_536.0 && depth(workload) == 32.0;
    let findings = findings(SweepOptions { ops: vec![WRITES], ..options() }, |index, workload| {
        law(workload, 8.0) * scatter(index, 1.0) * if cliff(workload) { 0.1 } else { 1.0 }
    });
    let growth = answer(&findings, "block_growth");
    assert_eq!((growth.standing, growth.evidence.len()), (Standing::Info, 1));
    assert!(growth.answer.contains("64 KiB random writes at QD32"), "{}", growth.answer);
    assert!(growth.evidence[0].starts_with("64 KiB random writes at QD32: "), "{}", growth.evidence[0]);
    assert!(!findings.found_problem(), "a cliff is how the drive was built");
}

#[test]
fn a_dip_within_the_scatter_is_not_decided() {
    let findings =
        findings(options(), |index, workload| law(workload, 8.0).min(500e6) * scatter(index, 20.0));
    assert_eq!(standing(&findings, "block_growth"), Some(Standing::Unknown));
}

#[test]
fn a_drive_that_serves_one_at_a_time_gains_nothing_from_depth() {
    let findings = findings(options(), |index, workload| law(workload, 1.0) * scatter(index, 0.5));
    let gains = answer(&findings, "queue_depth_read");
    assert_eq!(gains.standing, Standing::Info);
    assert!(gains.answer.contains("gain nothing from a deeper queue"), "{}", gains.answer);
    assert_eq!(number(&findings.tables["depths"][0], "enough_depth"), 1.0);
}

#[test]
fn a_drive_that_is_not_saturated_says_so() {
    let findings = findings(options(), |index, workload| law(workload, 256.0) * scatter(index, 0.5));
    let gains = answer(&findings, "queue_depth_read");
    assert!(gains.standing == Standing::Info && gains.answer.contains("up to QD32"), "{}", gains.answer);
    assert!(gains.caveats[0].contains("deepest"), "{gains:?}");
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
    for (id, question, words, ratio) in [
        ("random_vs_sequential", "Random vs sequential read", "4 KiB random reads run at 25%", 0.25),
        ("random_vs_sequential", "Random vs sequential write", "4 KiB random writes are no slower", 1.0),
        ("write_vs_read", "Sequential write vs read", "1 MiB sequential writes run at 50%", 0.5),
        ("write_vs_read", "Random write vs read", "4 KiB random writes run 2.0", 2.0),
        ("compressible_data", "Compressible data, write", "writes of zeros run 4.0", 4.0),
        ("compressible_data", "Compressible data, read", "reads of zeros are no faster", 1.0),
    ] {
        let answer = answer_to(&findings, id, question);
        assert_eq!(answer.standing, Standing::Info, "{question}");
        assert!(answer.answer.contains(words), "{}", answer.answer);
        assert!((answer.estimate.as_ref().unwrap().value / ratio - 1.0).abs() < 0.02, "{question}");
    }
    // Two comparisons of 15 cells with both data classes, one with each of two patterns, one of 60 with the harder data.
    assert_eq!(findings.tables["ratios"].len(), 2 * 2 * 15 + 2 * 2 * 15 + 60);
    assert_eq!(findings.tables["matrix"].len(), 120);
}

#[test]
fn a_drive_that_changes_during_the_sweep_is_found_out() {
    let falling = |index: usize, workload: &Workload| law(workload, 8.0) * 0.99f64.powi(index as i32);
    let fallen = findings(options(), falling);
    assert_eq!(standing(&fallen, "drift"), Some(Standing::Info));
    assert!(
        answer(&fallen, "drift").answer.contains("reads were 26% slower (24–28%)"),
        "{:?}",
        answer(&fallen, "drift")
    );
    let noisy = |index: usize, workload: &Workload| law(workload, 8.0) * scatter(index, 40.0);
    assert_eq!(standing(&findings(options(), noisy), "drift"), Some(Standing::Unknown));
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
    let queue = answer(&findings, "queue_fullness");
    assert_eq!((queue.standing, queue.evidence.len()), (Standing::Unknown, 1));
    assert!(queue.evidence[0].contains("4 KiB random reads at QD32"), "{}", queue.evidence[0]);
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
    let few = super::findings(super::options(), |_, workload| law(workload, 8.0));
    assert_eq!(
        few.series.keys().collect::<Vec<_>>(),
        ["heat_random_read", "speed_random_read", "iops_random_read"]
    );
    let line = &few.series["speed_random_read"].lines[0];
    assert_eq!((line.points.len(), line.band.len()), (5, 5));
}

#[test]
fn a_refused_io_is_data_and_a_pass_that_was_given_up_is_not_measured() {
    let (sweep, mut evidence) = (sweep(options()), evidence(SPAN, true));
    for _ in 0..2 {
        let Step::Run(workload) = sweep.next(&evidence).unwrap() else { panic!("2 are not all") };
        evidence.segments.push(segment(&workload, Nanos::ZERO, &steady(law(&workload, 8.0))));
    }
    let last = evidence.segments.last_mut().unwrap();
    let refused = Sample { outcome: Outcome::Error(5), ..last.slowest[0] };
    last.tallies[0].add(&refused);
    last.refused_ios.push(refused);
    let findings = sweep.judge(&evidence);
    assert!(findings.found_problem());
    assert_eq!(findings.tables["matrix"][0]["errors"], 1);
    evidence.segments.last_mut().unwrap().stop = Stop::Failed { op: Op::Read, offset: 0, errno: 5 };
    let findings = sweep.judge(&evidence);
    assert!(findings.found_problem() && findings.tables["matrix"].is_empty());
}
