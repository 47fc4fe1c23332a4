//! Workloads and answers of replay, on records whose every number is known.

use crate::support::{answer, standing};
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::dry_run::DryRun;
use likenew_core::findings::{Findings, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::{Evidence, Plan, Procedure as _, Step};
use likenew_core::segment::{
    ReplayPair, ReplayRecord, ReplayStream, ReplayTally, Segment, SegmentRecorder, Stop, Windows,
};
use likenew_core::tally::Latencies;
use likenew_core::target::{Clock, Geometry};
use likenew_core::trace::{ReplayTiming, TraceIo, TraceSource};
use likenew_core::units::Nanos;
use likenew_procedures::replay::{Replay, ReplayMode, ReplayOptions, TraceSummary};

const WAITING: &str = "waiting_time";
const MS: u64 = 1_000_000;

fn evidence(capacity: u64, writable: bool) -> Evidence {
    let geometry = Geometry {
        capacity,
        block: 512,
        boundary: None,
        writable,
        trims: true,
        carries_data: false,
        clock: Clock::Virtual,
    };
    let identity = Identity {
        name: "played".into(),
        kind: TargetKind::Simulated,
        model: None,
        engine: "played".into(),
        capacity_bytes: capacity,
        block_bytes: 512,
        facts: Vec::new(),
        caveats: Vec::new(),
        accounting: None,
    };
    let plan = Plan::new("replay", None, 0, toml::Table::new());
    Evidence::new(plan, identity, geometry)
}

/// Whether the waiting here is shorter, if that is decided.
fn is_less(findings: &Findings, id: &str) -> Option<bool> {
    let answer = answer(findings, id);
    let is_of_one_pass = answer.answer.contains("in a single pass");
    (answer.standing == Standing::Info || is_of_one_pass)
        .then(|| answer.answer.contains("less than recorded"))
}

fn summary() -> TraceSummary {
    TraceSummary {
        digest: "d".into(),
        reads: 80,
        writes: 20,
        read_bytes: 80 << 12,
        written_bytes: 20 << 12,
        longest_bytes: 4096,
        extent_bytes: 1 << 20,
        ends: 100,
        elapsed: Nanos::from_secs(10),
        applications: vec!["make".into()],
        ..TraceSummary::default()
    }
}

fn options() -> ReplayOptions {
    ReplayOptions { summary: Some(summary()), ..ReplayOptions::new("day.csv") }
}

fn replay(options: ReplayOptions) -> Replay {
    Replay::new(options).unwrap()
}

/// A pass of 100 I/Os of `make` with these latencies here and in the trace, partly because they left late.
fn replay_record(replay_latency: u64, recording_latency: u64, lateness: u64, throttled: u64) -> ReplayRecord {
    let latencies = |each: u64| {
        let mut latencies = Latencies::default();
        latencies.record_n(Nanos(each), 100);
        latencies
    };
    let both = ReplayPair { replayed_ns: replay_latency, recorded_ns: recording_latency };
    ReplayRecord {
        ios: 100,
        skips: 0,
        remapped_ios: 0,
        tallies: vec![ReplayTally {
            stream: 1,
            op: Op::Read,
            ios: 100,
            bytes: 100 << 12,
            latency_ns_sum: replay_latency,
            paired: if recording_latency > 0 { 100 } else { 0 },
            waiting: if recording_latency > 0 { both } else { ReplayPair::default() },
        }],
        streams: vec![ReplayStream { stream: 1, busy: both }],
        busy: both,
        blocking: both,
        replay_latency: latencies(replay_latency / 100),
        recording_latency: if recording_latency > 0 {
            latencies(recording_latency / 100)
        } else {
            Latencies::default()
        },
        recorded_elapsed: Nanos::from_secs(10),
        replayed_windows: Windows::new(1_000_000_000),
        recorded_windows: Windows::new(1_000_000_000),
        lateness: latencies(lateness / 100),
        lateness_ns_sum: lateness,
        throttled_ns_sum: throttled,
        longest: Vec::new(),
    }
}

/// Runs a replay to its end with these passes as its results.
fn judged(options: ReplayOptions, passes: &[ReplayRecord], clock: Clock) -> Findings {
    let procedure = replay(ReplayOptions { passes: passes.len() as u32, ..options });
    let mut evidence = evidence(1 << 30, true);
    evidence.geometry.clock = clock;
    let mut left = passes.iter();
    while let Step::Run(workload) = procedure.next(&evidence).unwrap() {
        let prepares = workload.replay_spec.as_ref().unwrap().timing == ReplayTiming::Prepare;
        let mut segment: Segment =
            SegmentRecorder::join(vec![SegmentRecorder::default()], &workload, Stop::Reached);
        segment.ended_at = Nanos::from_secs(5);
        segment.replay_record = if prepares { None } else { left.next().cloned() };
        evidence.segments.push(segment);
    }
    procedure.judge(&evidence)
}

fn conclusion(passes: &[ReplayRecord]) -> Option<bool> {
    is_less(&judged(options(), passes, Clock::Virtual), WAITING)
}

#[test]
fn less_and_more_waiting_are_told_apart() {
    assert_eq!(conclusion(&[replay_record(10 * MS, 100 * MS, 0, 0)]), Some(true));
    assert_eq!(conclusion(&[replay_record(200 * MS, 100 * MS, 0, 0)]), Some(false));
    assert_eq!(conclusion(&[replay_record(98 * MS, 100 * MS, 0, 0)]), None, "within 5%");
    assert_eq!(conclusion(&[replay_record(98 * MS, 0, 0, 0)]), None, "nothing to compare with");
    let findings = judged(options(), &[replay_record(25 * MS, 100 * MS, 0, 0)], Clock::Virtual);
    assert_eq!(
        findings.summary,
        "Programs would wait 75% less on this drive: 100 ms → 25.0 ms (one replay)."
    );
}

#[test]
fn several_passes_decide_by_their_interval() {
    let agree = [97, 98, 98, 97].map(|here| replay_record(here * MS, 100 * MS, 0, 0));
    assert_eq!(conclusion(&agree), Some(true), "2 to 3% each time");
    let differ = [60, 140, 80, 110].map(|here| replay_record(here * MS, 100 * MS, 0, 0));
    assert_eq!(conclusion(&differ), None);
    let action = &judged(options(), &differ, Clock::Virtual).answers[0].actions[0];
    assert_eq!(action.id, "more_passes");
    let findings = judged(options(), &agree, Clock::Virtual);
    assert_eq!(findings.tables["summary"].len(), 4);
    let estimate = findings.answers[0].estimate.as_ref().unwrap();
    assert!(estimate.low < 2.5 && 2.5 < estimate.high && estimate.unit == "%", "{estimate:?}");
}

#[test]
fn a_replay_that_was_late_itself_makes_no_drive_slow() {
    let conclusion = |late, held| {
        let findings = judged(options(), &[replay_record(200 * MS, 100 * MS, late, held)], Clock::Wall);
        (is_less(&findings, WAITING), standing(&findings, "replay_timing"))
    };
    assert_eq!(conclusion(0, 0), (Some(false), Some(Standing::Good)));
    assert_eq!(conclusion(120 * MS, 0), (None, Some(Standing::Unknown)));
    assert_eq!(
        conclusion(120 * MS, 120 * MS),
        (Some(false), Some(Standing::Good)),
        "lateness that the drive caused"
    );
}

#[test]
fn as_fast_as_it_goes_busy_time_decides() {
    let mut pass = replay_record(500 * MS, 100 * MS, 0, 0);
    pass.busy = ReplayPair { replayed_ns: 20 * MS, recorded_ns: 100 * MS };
    let fast = ReplayOptions { mode: ReplayMode::Fast, ..options() };
    let findings = judged(fast, &[pass], Clock::Virtual);
    assert_eq!(is_less(&findings, "busy_time"), Some(true));
    assert_eq!(standing(&findings, WAITING), None);
    assert!(findings.answers[0].caveats.iter().any(|caveat| caveat.contains("think times")));
}

#[test]
fn tables_say_who_saved_what() {
    let findings = judged(options(), &[replay_record(25 * MS, 100 * MS, 0, 0)], Clock::Virtual);
    let row = &findings.tables["applications"][0];
    assert_eq!((&row["application"], &row["saved_percent"]), (&"make".into(), &75.0.into()));
    assert_eq!((&row["waiting_ns"], &row["recorded_busy_ns"]), (&(25 * MS).into(), &(100 * MS).into()));
    let sides: Vec<_> = findings.tables["latencies"].iter().map(|row| row["side"].clone()).collect();
    assert_eq!(sides, ["here", "recorded"]);
}

#[test]
fn what_does_not_fit_is_named() {
    let error = |options: ReplayOptions, evidence: &Evidence| match Replay::new(options) {
        Ok(replay) => replay.next(evidence).map(|_| ()).unwrap_err(),
        Err(error) => error,
    };
    let (whole, only_read) = (evidence(1 << 30, true), evidence(1 << 30, false));
    assert!(error(ReplayOptions { summary: None, ..options() }, &whole).contains("does not say"));
    assert!(error(options(), &only_read).contains("--reads-only"));
    assert!(error(ReplayOptions { span: Some(2 << 30), ..options() }, &whole).contains("at most 1GiB"));
    assert!(error(ReplayOptions { span: Some(77), ..options() }, &whole).contains("64KiB"));
    assert!(error(ReplayOptions { speed: f64::NAN, ..options() }, &whole).contains("speed"));
    assert!(error(ReplayOptions { passes: 0, ..options() }, &whole).contains("passes"));
    assert!(error(ReplayOptions { depth: 0, ..options() }, &whole).contains("depth"));
    let fast = ReplayOptions { mode: ReplayMode::Fast, speed: 2.0, ..options() };
    assert!(error(fast, &whole).contains("does not keep"));
    let nothing = TraceSummary { reads: 0, ..summary() };
    let reads_only = ReplayOptions { reads_only: true, summary: Some(nothing), ..options() };
    assert!(error(reads_only, &only_read).contains("no reads"));
}

#[test]
fn a_dry_run_says_what_is_written_and_how_long_it_takes() {
    let dry_run = DryRun::plan(&replay(options()), &evidence(1 << 30, true)).unwrap();
    // Addresses written at most once, a block more at both ends of each I/O, and the writes of the trace.
    let prepared = 100 * ((1 << 12) + 2 * 512);
    assert_eq!((dry_run.workloads.len(), dry_run.bytes_written), (2, prepared + (20 << 12)));
    assert!(dry_run.elapsed >= Nanos::from_secs(10) && dry_run.elapsed < Nanos::from_secs(11));
    let reads = ReplayOptions { reads_only: true, ..options() };
    let dry_run = DryRun::plan(&replay(reads), &evidence(1 << 30, false)).unwrap();
    assert_eq!((dry_run.workloads.len(), dry_run.bytes_written), (1, 0));
}

#[test]
fn a_summary_that_no_recording_comes_to_is_refused() {
    let of = |count: u64| ReplayOptions {
        summary: Some(TraceSummary { trims: count, longest_bytes: count, read_bytes: count, ..summary() }),
        ..options()
    };
    let error = Replay::new(of(u64::MAX)).err().unwrap();
    assert!(
        error.starts_with("summary.trims = 18446744073709551615 is more than any recording has"),
        "{error}"
    );
    let most = DryRun::plan(&replay(of(1 << 60)), &evidence(1 << 30, true)).unwrap();
    assert!(most.bytes_written >= 1 << 30);
}

struct Listed(Vec<TraceIo>, [String; 3]);

impl TraceSource for Listed {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        Ok(self.0.pop())
    }

    fn applications(&self) -> &[String] {
        &self.1
    }
}

#[test]
fn a_summary_counts_what_there_is() {
    let io = |at: u64, op, offset, length, latency: Option<u64>, application| TraceIo {
        at: Nanos::from_millis(at),
        op,
        offset,
        length,
        latency: latency.map(Nanos::from_millis),
        application,
    };
    let mut ios = vec![
        io(0, Op::Read, 0, 4096, Some(10), 2),
        io(5, Op::Write, 8192, 65_536, None, 1),
        io(2010, Op::Trim, 1 << 20, 1 << 30, Some(1), 0),
        io(2020, Op::Flush, 0, 0, Some(30), 2),
    ];
    ios.reverse();
    let names = ["", "cc", "make"].map(String::from);
    let found = TraceSummary::read(&mut Listed(ios, names), Some(Nanos::from_millis(500))).unwrap();
    assert_eq!((found.reads, found.writes, found.trims, found.flushes, found.ends), (1, 1, 1, 1, 3));
    assert_eq!((found.read_bytes, found.written_bytes, found.longest_bytes), (4096, 65_536, 65_536));
    assert_eq!(found.extent_bytes, (1 << 20) + (1 << 30));
    assert_eq!((found.elapsed, found.idle_cut), (Nanos::from_millis(2050), Nanos::from_millis(1500)));
    assert_eq!(found.pauses, Nanos::from_millis(2000 + 9));
    assert_eq!(found.applications, ["make", "cc"], "most first");
}
