//! Answers of model on drives whose times are known formulas.

use crate::support::evidence;
use likenew_core::dry_run::DryRun;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::{Op, Outcome, Sample};
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::segment::{Recorder as _, Segment, SegmentRecorder, Stop};
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Workload};
use likenew_procedures::model::{Model, ModelOptions};
use proptest::prelude::*;
use rand::SeedableRng as _;
use rand_xoshiro::Xoshiro256PlusPlus;

const CAPACITY: u64 = 8 << 30;
const READ_NS: f64 = 450_000.0;
const READ_BYTE_NS: f64 = 8.0;
const WRITE_NS: f64 = 100_000.0;
const WRITE_BYTE_NS: f64 = 13.0;
const PENALTY_NS: f64 = 40e6;
const CLUSTER: u64 = 3 << 20;

/// A drive by formula: the time of one request, and the number served at once.
struct Formula {
    ns: Box<dyn Fn(Op, u64, u64) -> f64>,
    immediate: f64,
    /// Of each I/O, as a share.
    scatter: f64,
    /// Of each workload, as a share.
    moments: f64,
}

/// Writes pay for each partial cluster, counted from their addresses.
fn clusters() -> Formula {
    let ns = |op: Op, offset: u64, length: u64| match op {
        Op::Read => READ_NS + READ_BYTE_NS * length as f64,
        _ => {
            let end = offset + length;
            let touched = offset / CLUSTER..end.div_ceil(CLUSTER);
            let partial = touched.filter(|at| offset > at * CLUSTER || end < (at + 1) * CLUSTER).count();
            WRITE_NS + WRITE_BYTE_NS * length as f64 + PENALTY_NS * partial as f64
        }
    };
    Formula { ns: Box::new(ns), immediate: 1.0, scatter: 0.02, moments: 0.0 }
}

/// Reads and writes alike, this many served at once.
fn plain(immediate: f64) -> Formula {
    let ns = |_: Op, _: u64, length: u64| READ_NS + READ_BYTE_NS * length as f64;
    Formula { ns: Box::new(ns), immediate, scatter: 0.02, moments: 0.0 }
}

impl Formula {
    /// One workload. A run of several I/Os in flight is one request, because it begins once.
    fn run(&self, workload: &Workload, started_at: Nanos) -> Segment {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(workload.seed);
        let mut recorder = SegmentRecorder::default();
        recorder.begin(workload, started_at);
        let stream = &workload.streams[0];
        let Mix::Only(op) = stream.op else { panic!("a model asks for one operation at a time") };
        let length = u64::from(stream.size.max());
        let region = stream.pattern.region().resolve(CAPACITY, 512).unwrap();
        let bytes = workload.until.bytes.unwrap_or(u64::MAX);
        let ios = bytes.div_ceil(length).min(workload.until.ops.unwrap_or(u64::MAX));
        let is_run =
            matches!(stream.pattern, AccessPattern::Sequential(_)) && workload.until.elapsed.is_none();
        let depth = f64::from(stream.arrival.depth()).min(self.immediate);
        let moment = 1.0 + self.moments * random.random::<f64>();
        let (mut now, mut at) = (started_at.0 as f64, region.start);
        for io in 0..ios {
            let align = match stream.pattern {
                AccessPattern::RandomAligned { align, .. } => align,
                _ => length,
            };
            if !matches!(stream.pattern, AccessPattern::Sequential(_)) {
                let places = (region.end - region.start - length) / align + 1;
                at = region.start + random.random_range(0..places) * align;
            }
            // A sequential request continues where the last one ended, without a partial cluster.
            let in_sequence = matches!(stream.pattern, AccessPattern::Sequential(_)) && !is_run;
            let whole = if is_run { region.end - region.start } else { length };
            let ns = match (is_run, in_sequence) {
                (true, _) => (self.ns)(op, region.start, whole) / (whole / length) as f64,
                (_, true) => (self.ns)(op, at / CLUSTER * CLUSTER, CLUSTER) / CLUSTER as f64 * length as f64,
                _ => (self.ns)(op, at, length) / depth,
            };
            let noise = 1.0 + self.scatter * (random.random::<f64>() - 0.5);
            let due = Nanos(now as u64);
            now += ns * moment * noise;
            let done = Nanos(now as u64);
            let sample = Sample {
                stream: 0,
                op,
                outcome: Outcome::Done,
                length: length as u32,
                offset: at,
                due,
                sent: due,
                done,
            };
            assert!(recorder.record(&[sample]).is_continue());
            if matches!(stream.pattern, AccessPattern::Sequential(_)) {
                at += length;
            }
            let elapsed =
                workload.until.elapsed.is_some_and(|most| now - started_at.0 as f64 >= most.0 as f64);
            if elapsed || io + 1 == ios {
                break;
            }
        }
        recorder.end(Nanos(now as u64));
        SegmentRecorder::join(vec![recorder], workload, Stop::Reached)
    }
}

fn run_procedure(options: &ModelOptions, formula: &Formula, mut evidence: Evidence) -> Evidence {
    let model = Model::new(options.clone()).unwrap();
    let mut now = Nanos::ZERO;
    while let Step::Run(workload) = model.next(&evidence).unwrap() {
        assert_eq!(workload.check(&evidence.geometry), Ok(()), "{workload:?}");
        let segment = formula.run(&workload, now);
        now = segment.ended_at;
        evidence.segments.push(segment);
    }
    evidence
}

fn findings(options: &ModelOptions, formula: &Formula) -> Findings {
    let evidence = run_procedure(options, formula, evidence(CAPACITY, true));
    Model::new(options.clone()).unwrap().judge(&evidence)
}

fn metric(findings: &Findings, op: &str, key: &str) -> f64 {
    let row =
        findings.tables["fit"].iter().find(|row| row["op"] == op && row["pattern"] == "random").unwrap();
    row[key].as_f64().unwrap_or_else(|| panic!("no {key} in {row:?}"))
}

fn answer<'a>(findings: &'a Findings, id: &str) -> Option<&'a Answer> {
    findings.answers.iter().find(|answer| answer.id == id)
}

/// Asserts the standing and words of an answer.
fn assert_answer(findings: &Findings, id: &str, standing: Standing, words: &str) {
    let answer = answer(findings, id).unwrap_or_else(|| panic!("no {id} in {:#?}", findings.answers));
    assert!(answer.standing == standing && answer.answer.contains(words), "{answer:#?}");
}

fn assert_near(what: &str, value: f64, truth: f64, share: f64) {
    assert!((value / truth - 1.0).abs() <= share, "{what}: {value} is not {truth}");
}

#[test]
fn partial_clusters_are_found_with_their_size_and_their_price() {
    let findings = findings(&ModelOptions::default(), &clusters());
    assert_answer(&findings, "write_cluster", Standing::Info, "3 MiB");
    let penalty = answer(&findings, "write_cluster").unwrap().estimate.as_ref().unwrap();
    assert!(penalty.low <= PENALTY_NS * 1.05 && PENALTY_NS * 0.95 <= penalty.high, "{penalty:?}");
    assert_near("penalty", metric(&findings, "write", "penalty_ns"), PENALTY_NS, 0.05);
    assert_eq!(metric(&findings, "write", "aligned_from_bytes"), CLUSTER as f64);
    assert_near(
        "throughput",
        metric(&findings, "write", "throughput_bytes_per_s"),
        1e9 / WRITE_BYTE_NS,
        0.05,
    );
    assert_near("access", metric(&findings, "write", "access_time_ns"), WRITE_NS + PENALTY_NS, 0.05);
    let upper = PENALTY_NS / (WRITE_BYTE_NS + READ_BYTE_NS);
    assert_near("upper estimate", metric(&findings, "write", "cluster_bytes"), upper, 0.05);
    assert_near("reads", metric(&findings, "read", "access_time_ns"), READ_NS, 0.02);
    assert_answer(&findings, "random_read_model", Standing::Info, "access time + length/throughput,");
    assert!(findings.summary.contains("A read takes") && findings.summary.contains("A write takes"));
    assert_eq!(findings.answers[0].id, "random_read");
}

#[test]
fn a_drive_without_clusters_is_not_given_any_and_its_depth_is_reported() {
    let findings = findings(&ModelOptions::default(), &plain(8.0));
    assert_eq!(answer(&findings, "write_cluster"), None);
    assert_answer(&findings, "random_write_model", Standing::Info, "access time + length/throughput,");
    assert_answer(&findings, "random_read_depth_model", Standing::Info, "8 requests at once");
    assert_answer(&findings, "steadiness", Standing::Good, "repeats differ by");
    assert!(findings.answers.iter().all(|answer| !answer.id.contains("zones")), "{:#?}", findings.answers);
    let table = findings.overview.table.as_ref().unwrap();
    assert_eq!(table.rows.len(), 4, "{table:?}");
    for series in ["read_by_length", "write_by_length_linear", "read_residuals", "by_depth"] {
        assert!(findings.series.contains_key(series), "{series}");
    }
}

#[test]
fn what_no_model_explains_is_reported_to_be_so() {
    let erratic = |_: Op, _: u64, length: u64| {
        let times = if length.trailing_zeros().is_multiple_of(2) { 9.0 } else { 1.0 };
        (READ_NS + READ_BYTE_NS * length as f64) * times
    };
    let formula = Formula { ns: Box::new(erratic), ..plain(1.0) };
    let findings = findings(&ModelOptions { ops: vec![Op::Read], ..ModelOptions::default() }, &formula);
    assert_answer(&findings, "random_read_model", Standing::Info, "no model fits");
    assert_answer(&findings, "random_read", Standing::Unknown, "no model fits");
}

#[test]
fn noise_is_named_and_makes_no_confident_wrong_answer() {
    let quiet = findings(&ModelOptions::default(), &clusters());
    let noisy = findings(&ModelOptions::default(), &Formula { moments: 2.0, ..clusters() });
    assert_answer(&noisy, "steadiness", Standing::Info, "not steady");
    assert!(noisy.summary.contains("not steady"), "{}", noisy.summary);
    assert_answer(&noisy, "random_read", Standing::Unknown, "uncertain");
    let width = |findings: &Findings| {
        let of = |end: &str| metric(findings, "read", &format!("throughput_bytes_per_s_{end}"));
        of("high") / of("low")
    };
    assert!(width(&noisy) - 1.0 > 10.0 * (width(&quiet) - 1.0), "{} {}", width(&noisy), width(&quiet));
    // Times are one to three times as long, by chance; a penalty reported in spite of that must be within
    // that.
    if let Some(cluster) = answer(&noisy, "write_cluster").filter(|answer| answer.standing == Standing::Info)
    {
        let estimate = cluster.estimate.as_ref().unwrap();
        assert!(estimate.low <= 3.0 * PENALTY_NS && PENALTY_NS <= estimate.high, "{cluster:?}");
    }
}

#[test]
fn few_bytes_decide_nothing() {
    let options = ModelOptions { bytes: Some(16 << 20), ops: vec![Op::Read], ..ModelOptions::default() };
    let findings = findings(&options, &plain(1.0));
    assert_answer(&findings, "random_read_model", Standing::Unknown, "too few");
    let action = &answer(&findings, "random_read_model").unwrap().actions[0];
    assert_eq!((&*action.id, &action.command), ("more_points", &None), "this plan names no target");
}

#[test]
fn what_comes_next_follows_from_the_evidence_and_any_of_it_can_be_judged() {
    let options = ModelOptions { bytes: Some(512 << 20), ..ModelOptions::default() };
    let (model, whole) = (
        Model::new(options.clone()).unwrap(),
        run_procedure(&options, &clusters(), evidence(CAPACITY, true)),
    );
    assert!(whole.segments.len() > 60, "{}", whole.segments.len());
    for count in (0..whole.segments.len()).step_by(7) {
        let part = Evidence { segments: whole.segments[..count].to_vec(), ..whole.clone() };
        let Step::Run(next) = model.next(&part).unwrap() else { panic!("it goes on after {count}") };
        assert_eq!(next, whole.segments[count].workload, "after {count}");
        let _ = model.judge(&part);
    }
    let written: u64 = whole.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
    assert!(written <= 512 << 20, "{written}");
    let dry_run = DryRun::plan(&model, &evidence(CAPACITY, true)).unwrap();
    assert!(dry_run.is_finite && dry_run.bytes_written <= 512 << 20, "{}", dry_run.bytes_written);
}

#[test]
fn what_may_only_be_read_is_only_read() {
    let evidence = run_procedure(&ModelOptions::default(), &plain(1.0), evidence(CAPACITY, false));
    assert!(evidence.segments.iter().all(|segment| !segment.workload.writes()));
    let writes = Model::new(ModelOptions { ops: vec![Op::Write], ..ModelOptions::default() }).unwrap();
    assert!(writes.next(&crate::support::evidence(CAPACITY, false)).unwrap_err().contains("--op read"));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let case = |options: ModelOptions, word: &str| {
        let error = Model::new(options).err().unwrap_or_else(|| panic!("{word} was taken"));
        assert!(error.contains(word), "{error}");
    };
    let usual = ModelOptions::default;
    case(ModelOptions { ops: vec![Op::Trim], ..usual() }, "op");
    case(ModelOptions { depths: vec![0], ..usual() }, "depth");
    case(ModelOptions { longest: 3 << 20, ..usual() }, "longest");
    case(ModelOptions { bytes: Some(1), ..usual() }, "bytes");
    case(ModelOptions { time: Some(Nanos(1)), ..usual() }, "time");
    case(ModelOptions { visit: Some(Nanos(1)), ..usual() }, "visit");
    let model = Model::new(ModelOptions { span: Some(CAPACITY * 2), ..usual() }).unwrap();
    assert!(model.next(&evidence(CAPACITY, true)).unwrap_err().contains("span"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(6) })]

    /// For any drive size and limit, every workload fits and the run ends.
    #[test]
    fn any_drive_is_measured_to_an_end(capacity_mib in 1u64..3000, bytes_mib in 16u64..3000, block in prop::sample::select(vec![512u32, 4096, 8192])) {
        let mut evidence = evidence(capacity_mib << 20, true);
        evidence.geometry.block = block;
        let options = ModelOptions { bytes: Some(bytes_mib << 20), time: Some(Nanos::from_secs(60)), ..ModelOptions::default() };
        let evidence = run_procedure(&options, &plain(4.0), evidence);
        let findings = Model::new(options).unwrap().judge(&evidence);
        prop_assert!(findings.tables["points"].len() > 3);
    }
}
