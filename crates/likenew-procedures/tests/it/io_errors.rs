//! No procedure reports a rate of failed I/Os: refused I/O is not measured, and the error says why.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use likenew_core::drive::Lane;
use likenew_core::findings::{Findings, Standing};
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::procedure::Evidence;
use likenew_core::quantity::Offset;
use likenew_core::segment::Segment;
use likenew_core::target::{Geometry, Target};
use likenew_core::target_error::{TargetError, system_reason_of};
use likenew_core::units::Nanos;
use likenew_core::workload::Mix;
use likenew_procedures::all;

use crate::questions::{QUESTIONS, Question};

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// The I/Os that a drive refuses.
#[derive(Clone, Copy, Debug)]
struct Refusal {
    op: Op,
    errno: i32,
    when: When,
}

/// Which I/Os of the operation are refused.
#[derive(Clone, Copy, Debug, PartialEq)]
enum When {
    /// All after this many.
    After(u64),
    /// The last of this many, again and again.
    EachOf(u64),
    Never,
}

impl When {
    fn refuses(self, before: u64) -> bool {
        match self {
            Self::After(count) => before >= count,
            Self::EachOf(count) => before % count == count - 1,
            Self::Never => false,
        }
    }
}

/// Operations and their errors.
const ERRORS: [(Op, i32); 3] = [(Op::Read, EIO), (Op::Write, EIO), (Op::Write, ENOSPC)];

/// Share of a procedure's I/Os of an operation that are done before one is refused.
const DONE_BEFORE: [f64; 4] = [0.0, 0.1, 0.5, 0.95];

/// A lane that answers I/Os of one kind with an error, after their usual latency.
struct RefusingLane<'a> {
    lane: Lane<'a>,
    refusal: Refusal,
    asked: Arc<AtomicU64>,
    /// Slots whose I/O in flight will fail.
    refused_ios: HashSet<Slot>,
}

impl Target for RefusingLane<'_> {
    fn geometry(&self) -> &Geometry {
        self.lane.geometry()
    }

    fn now(&self) -> Nanos {
        self.lane.now()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.lane.buffer(slot)
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        let Refusal { op, when, .. } = self.refusal;
        let is_refused = |_: &&Io| when.refuses(self.asked.fetch_add(1, Ordering::Relaxed));
        self.refused_ios.extend(batch.iter().filter(|io| io.op == op).filter(is_refused).map(|io| io.slot));
        self.lane.submit(batch)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let before = done.len();
        self.lane.wait(until, done)?;
        for completion in &mut done[before..] {
            if self.refused_ios.remove(&completion.slot) {
                completion.outcome = Outcome::Error(self.refusal.errno);
            }
        }
        Ok(())
    }

    fn next_at(&self) -> Option<Nanos> {
        self.lane.next_at()
    }
}

/// The result of a procedure.
struct Outcomes {
    evidence: Evidence,
    findings: Findings,
    /// Number of I/Os of the operation.
    asked: u64,
}

/// Runs the procedure on a drive that refuses something, as far as that goes.
fn asked(question: &Question, refusal: Refusal) -> Outcomes {
    let asked = Arc::new(AtomicU64::new(0));
    let (evidence, findings) = question.ask(|lane| {
        Box::new(RefusingLane { lane, refusal, asked: Arc::clone(&asked), refused_ios: HashSet::new() })
    });
    Outcomes { evidence, findings, asked: asked.load(Ordering::Relaxed) }
}

/// Whether a segment measured nothing because I/Os of an operation were refused.
fn failed(segment: &Segment, op: Op) -> bool {
    segment.total_of(op).errors > 0 && segment.measurement_error().is_some()
}

/// The rates that a segment would have if it had measured something: overall, by operation, and by time and
/// bytes.
fn rates_of(segment: &Segment) -> Vec<f64> {
    let seconds = segment.elapsed().as_secs_f64();
    let tallies = [segment.total()].into_iter().chain(Op::ALL.map(|op| segment.total_of(op)));
    let whole = tallies
        .flat_map(|tally| [tally.bytes, tally.ios, tally.done_ios()])
        .map(|count| count as f64 / seconds);
    let width = segment.seconds.width;
    let by_time = segment.seconds.cells.iter().enumerate().map(|(index, cell)| {
        let from = index as u64 * width;
        cell.bytes as f64 * 1e9 / ((from + width).min(segment.elapsed().0) - from) as f64
    });
    let mut from = segment.started_at;
    let by_bytes = segment.gigabytes.cells.iter().map(|cell| {
        let span = cell.last.since(from.min(cell.last)).as_secs_f64();
        from = from.max(cell.last);
        cell.bytes as f64 / span
    });
    whole.chain(by_time).chain(by_bytes).filter(|rate| rate.is_finite() && *rate > 0.0).collect()
}

fn is_rate(key: &str) -> bool {
    key.ends_with("per_s") || key.ends_with("iops") || key.contains("_per_s_")
}

/// Sentences of findings with a rate of nothing, and table cells or chart points with such a rate or with
/// that of a failed segment.
fn false_rates(evidence: &Evidence, findings: &Findings, refusal: Refusal) -> Vec<String> {
    let mut all = Vec::new();
    let of_failed = evidence.segments.iter().filter(|segment| failed(segment, refusal.op));
    let of_failed: Vec<f64> = of_failed.flat_map(rates_of).collect();
    let of_others = evidence.segments.iter().filter(|segment| !failed(segment, refusal.op));
    let of_others: Vec<f64> = of_others.flat_map(rates_of).collect();
    let is_like = |rates: &[f64], value: f64| rates.iter().any(|rate| (rate / value - 1.0).abs() < 1e-9);
    // A value that another workload has by chance belongs to that one.
    let is_of_failed = |value: f64| is_like(&of_failed, value) && !is_like(&of_others, value);
    let cells = findings.overview.table.iter().flat_map(|table| &table.rows).flat_map(|row| &row.cells);
    let texts = findings.answers.iter().flat_map(|answer| {
        let actions = answer.actions.iter().map(|action| &action.why);
        answer.evidence.iter().chain(&answer.caveats).chain([&answer.answer]).chain(actions)
    });
    for sentence in texts.chain(cells).chain([&findings.summary]) {
        let words = sentence.split([' ', '(', ')', ';']).map(|word| word.trim_end_matches([',', '.']));
        let words: Vec<&str> = words.collect();
        let is_rate = |unit: &str| unit.ends_with("B/s") || unit.starts_with("IOPS");
        // The interval of a few passes may reach down to 0.
        let rates_nothing = |at: usize| {
            let is_low_end = words.get(at + 2) == Some(&"to");
            let is_nothing = |value: f64| value <= 0.0 && !is_low_end || !value.is_finite();
            words.get(at + 1).is_some_and(|unit| is_rate(unit))
                && words[at].replace(',', "").parse::<f64>().is_ok_and(is_nothing)
        };
        if (0..words.len()).any(rates_nothing) || sentence.contains("NaN") {
            all.push(sentence.clone());
        }
    }
    for answer in &findings.answers {
        let rate = answer.estimate.as_ref().filter(|estimate| estimate.unit == "bytes/s");
        if let Some(estimate) =
            rate.filter(|rate| !(rate.value > 0.0 && rate.value.is_finite()) || is_of_failed(rate.value))
        {
            all.push(format!("{}: {estimate:?}", answer.id));
        }
    }
    for (name, rows) in &findings.tables {
        for row in rows {
            let text = |key: &str| row.get(key).and_then(|cell| cell.as_str());
            let is_refused = refusal.when == When::After(0)
                && text("op").and_then(|op| op.parse::<Mix>().ok()).is_some_and(|op| match op {
                    Mix::Only(op) => op == refusal.op,
                    Mix::Reads(_) => true,
                });
            for (key, cell) in row.iter().filter(|(key, _)| is_rate(key)) {
                let value = cell.as_f64();
                // The interval of a few passes may reach down to 0.
                let is_false =
                    |value| is_refused || is_of_failed(value) || (value <= 0.0 && !key.ends_with("_low"));
                if value.is_some_and(is_false) {
                    all.push(format!("table {name}: {key} = {cell}"));
                }
            }
        }
    }
    for (name, series) in &findings.series {
        let mut speeds = series.lines.iter().flat_map(|line| &line.points).map(|[_, speed]| *speed);
        if series.y.unit == "bytes/s" && speeds.clone().any(|speed| !(speed > 0.0 && speed.is_finite())) {
            all.push(format!("picture {name} draws a rate of nothing"));
        }
        if speeds.any(is_of_failed) {
            all.push(format!("picture {name} draws a rate of what failed"));
        }
    }
    all
}

/// The faults of an answer after some I/Os were refused.
fn faults(question: &Question, refusal: Refusal, outcomes: &Outcomes) -> Vec<String> {
    let Outcomes { evidence, findings, .. } = outcomes;
    let of = format!("{} ({}) on {refusal:?}", question.procedure, question.options.replace('\n', "; "));
    let mut faults: Vec<String> =
        false_rates(evidence, findings, refusal).into_iter().map(|what| format!("{of}: {what}")).collect();
    let errors: u64 = evidence.segments.iter().map(Segment::errors).sum();
    // The refusal of a probe is in its result.
    if errors == 0 && evidence.observations.is_empty() {
        faults.push(format!("{of}: nothing was refused"));
    }
    let Some(segment) = evidence.segments.iter().find(|segment| failed(segment, refusal.op)) else {
        return faults;
    };
    let error = system_reason_of(refusal.errno);
    let names_error = |sentence: &String| {
        sentence.contains(&error)
            && sentence.contains(refusal.op.name())
            && sentence.contains(&format!("offset {}", Offset(segment.refused_ios[0].offset)))
    };
    let is_reported = findings.answers.iter().any(|answer| {
        answer.id == "not_measured"
            && answer.standing == Standing::Unknown
            && answer.evidence.iter().any(names_error)
    });
    if !is_reported {
        let answers: Vec<&String> = findings.answers.iter().map(|answer| &answer.answer).collect();
        faults
            .push(format!("{of}: \"{}\" failed, and nothing says that: {answers:#?}", segment.workload.name));
    }
    if findings.summary.is_empty() {
        faults.push(format!("{of}: no summary"));
    }
    faults
}

/// Procedures that never use an operation.
const NEVER_ASKED: &[(&str, Op)] = &[
    ("facts", Op::Read),
    ("facts", Op::Write),
    ("suits", Op::Read),
    ("surface", Op::Write),
    ("trim", Op::Read),
];

#[test]
fn no_procedure_states_a_rate_of_what_was_refused() {
    let asked_for: HashSet<&str> = QUESTIONS.iter().map(|question| question.procedure).collect();
    let all: HashSet<&str> = all::PROCEDURES.iter().map(|row| row.descriptor.name).collect();
    assert_eq!(asked_for, all, "every procedure is asked");
    let mut found = Vec::new();
    let (mut met, mut never) = (BTreeSet::new(), BTreeSet::new());
    for question in QUESTIONS {
        for (op, errno) in ERRORS {
            let on = |when| (Refusal { op, errno, when }, asked(question, Refusal { op, errno, when }));
            let ios = on(When::Never).1.asked;
            if ios == 0 {
                never.insert((question.procedure, op.name()));
                continue;
            }
            for share in DONE_BEFORE {
                let (refusal, answer) = on(When::After((ios as f64 * share) as u64));
                found.extend(faults(question, refusal, &answer));
                if answer.evidence.segments.iter().any(|segment| failed(segment, op)) {
                    met.insert((question.procedure, op.name()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{} faults:\n{}", found.len(), found.join("\n"));
    let expected: BTreeSet<_> = NEVER_ASKED.iter().map(|(procedure, op)| (*procedure, op.name())).collect();
    let unmet: BTreeSet<_> = never.difference(&met).copied().collect();
    assert_eq!(unmet, expected, "every other operation of every procedure failed at least once");
}

#[test]
fn an_io_that_was_refused_counts_into_no_rate() {
    for (procedure, is_of) in [("run", "workloads"), ("cache", "levels")] {
        for question in QUESTIONS.iter().filter(|question| question.procedure == procedure) {
            for op in [Op::Read, Op::Write] {
                let refusal = Refusal { op, errno: EIO, when: When::EachOf(4) };
                let Outcomes { evidence, findings, .. } = asked(question, refusal);
                assert!(evidence.segments.iter().any(|segment| segment.total_of(op).errors > 0));
                let rows = &findings.tables[is_of];
                let mut stated = 0;
                for row in rows.iter().filter(|row| row["op"] == op.name()) {
                    let (Some(iops), Some(speed)) = (row["iops"].as_f64(), row["bytes_per_s"].as_f64())
                    else {
                        continue;
                    };
                    stated += 1;
                    let each = speed / iops;
                    assert!(
                        // A mean of rates is not exactly the rate of the sums; one in four would show as 0.4.
                        (each.log2() - each.log2().round()).abs() < 0.02,
                        "{procedure}: {iops} IOPS moved {speed} bytes, {each} each"
                    );
                }
                assert!(stated > 0, "{procedure}: {rows:#?}");
            }
        }
    }
}
