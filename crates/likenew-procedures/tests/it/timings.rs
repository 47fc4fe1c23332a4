//! Whatever was measured, as far as a drive can do it, a procedure comes to its end, and its document is one that others can read.

use std::sync::{Arc, Mutex, MutexGuard};

use jsonschema::Validator;
use likenew_core::drive::Lane;
use likenew_core::findings::Answer;
use likenew_core::instrument::Instrument;
use likenew_core::io::{Completion, Io, Slot};
use likenew_core::procedure::Evidence;
use likenew_core::target::{Clock, Geometry, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_procedures::all;
use likenew_report::run_document;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::questions::{QUESTIONS, Question};

/// How long I/Os take.
#[derive(Clone, Copy, Debug)]
enum Latency {
    /// All the same.
    Constant(Nanos),
    /// The second with this probability, and the first otherwise.
    Two(Nanos, f64, Nanos),
    /// Anything between, evenly over the orders of magnitude.
    Scattered(Nanos, Nanos),
}

/// Constant, longer than any workload has time for, two-valued, hardly any that takes time at all, and anything from a memory's
/// latency to that of a drive that has given up.
const LATENCIES: [Latency; 6] = [
    Latency::Constant(Nanos::from_millis(2)),
    Latency::Constant(Nanos::from_secs(700)),
    Latency::Two(Nanos::from_micros(100), 0.5, Nanos::from_millis(10)),
    Latency::Two(Nanos::ZERO, 0.01, Nanos::from_millis(400)),
    Latency::Scattered(Nanos(100), Nanos::from_secs(10)),
    Latency::Scattered(Nanos::from_micros(1), Nanos::from_millis(50)),
];

impl Latency {
    fn draw(self, random: &mut Xoshiro256PlusPlus) -> Nanos {
        match self {
            Self::Constant(latency) => latency,
            Self::Two(first, chance, second) => {
                if random.random_bool(chance) {
                    second
                } else {
                    first
                }
            }
            Self::Scattered(low, high) => {
                let exponent = random.random_range((low.0 as f64).ln()..(high.0 as f64).ln());
                Nanos(exponent.exp() as u64)
            }
        }
    }
}

/// The time of a drive, which its lanes have one after another.
struct DriveTime {
    now: Nanos,
    random: Xoshiro256PlusPlus,
}

/// A lane that does what another one does, in other times.
struct TimedLane<'a> {
    lane: Lane<'a>,
    latency: Latency,
    time: Arc<Mutex<DriveTime>>,
    /// What is done and has not ended yet.
    in_flight: Vec<Completion>,
}

impl TimedLane<'_> {
    fn time(&self) -> MutexGuard<'_, DriveTime> {
        self.time.lock().unwrap()
    }
}

impl Target for TimedLane<'_> {
    fn geometry(&self) -> &Geometry {
        self.lane.geometry()
    }

    fn now(&self) -> Nanos {
        self.time().now
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.lane.buffer(slot)
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        self.lane.submit(batch)?;
        let mut done = Vec::new();
        while done.len() < batch.len() {
            let until = self.lane.now() + Nanos::from_secs(3600);
            self.lane.wait(until, &mut done)?;
        }
        let mut time = self.time.lock().unwrap();
        let sent = time.now;
        for completion in done {
            let at = sent + self.latency.draw(&mut time.random);
            self.in_flight.push(Completion { at, ..completion });
        }
        self.in_flight.sort_by_key(|completion| completion.at);
        Ok(sent)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let first = self.next_at().filter(|first| *first <= until);
        let now = self.now();
        let then = first.unwrap_or(until).max(now);
        let rested = self.lane.now() + then.since(now);
        self.lane.wait(rested, &mut Vec::new())?;
        self.time().now = then;
        let ended = self.in_flight.partition_point(|completion| completion.at <= then);
        done.extend(self.in_flight.drain(..ended));
        Ok(())
    }

    fn next_at(&self) -> Option<Nanos> {
        self.in_flight.first().map(|completion| completion.at)
    }
}

/// Runs the procedure, as far as that goes, on a drive whose I/Os take so long.
fn asked(question: &Question, latency: Latency) -> Evidence {
    let random = Xoshiro256PlusPlus::seed_from_u64(7);
    let time = Arc::new(Mutex::new(DriveTime { now: Nanos::ZERO, random }));
    question
        .ask(|lane| Box::new(TimedLane { lane, latency, time: Arc::clone(&time), in_flight: Vec::new() }))
        .0
}

/// What others cannot read in the document of this evidence.
fn fault(evidence: &Evidence, schema: &Validator) -> Option<String> {
    let procedure = all::from_plan(&evidence.plan).unwrap();
    let findings = all::judge(&*procedure, evidence);
    for Answer { id, estimate, .. } in &findings.answers {
        if let Some(one) = estimate.as_ref().filter(|one| !(one.low..=one.high).contains(&one.value)) {
            return Some(format!("{id}: {one:?}"));
        }
    }
    let instrument = Instrument {
        version: String::new(),
        clock: Clock::Virtual,
        engine: evidence.identity.engine.clone(),
        system: None,
        calibration: None,
    };
    let json = match run_document::of_run(evidence.clone(), findings, instrument).to_json() {
        Ok(json) => json,
        Err(error) => return Some(error.to_string()),
    };
    let no_number = json.lines().find(|line| line.contains("NaN") || line.contains("inf "));
    let value = serde_json::from_str(&json).unwrap();
    no_number.map(str::to_owned).or_else(|| schema.iter_errors(&value).next().map(|error| error.to_string()))
}

/// The first segments only, with what was found until then.
fn first(evidence: &Evidence, kept: usize) -> Evidence {
    let mut first = evidence.clone();
    first.segments.truncate(kept);
    first.observations.retain(|observation| observation.after <= kept);
    first
}

/// One segment in three in no time, or so many times as long.
fn stretched(mut evidence: Evidence, odd: usize, times: u64) -> Evidence {
    for segment in evidence.segments.iter_mut().skip(odd).step_by(3) {
        let started_at = segment.started_at;
        let of = |at: Nanos| Nanos(started_at.0 + at.since(started_at).0.saturating_mul(times));
        segment.ended_at = of(segment.ended_at);
        segment.busy = Nanos(segment.busy.0.saturating_mul(times));
        segment.gigabytes.cells.iter_mut().for_each(|cell| cell.last = of(cell.last));
        segment.seconds.cells.iter_mut().for_each(|cell| cell.last = of(cell.last));
    }
    evidence
}

/// The document is what it should be after the last segment, and after fewer.
fn faults(evidence: &Evidence, of: &str, schema: &Validator) -> Vec<String> {
    let count = evidence.segments.len();
    let kept = [1, 2, 3, count / 4, count / 2, count.saturating_sub(1), count];
    let fault = |kept: usize| {
        fault(&first(evidence, kept), schema).map(|fault| format!("{of}, {kept} of {count}: {fault}"))
    };
    kept.into_iter().filter_map(fault).collect()
}

fn schema() -> Validator {
    let schema = serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

#[test]
fn whatever_was_measured_is_a_document() {
    let schema = schema();
    let all: Vec<String> = QUESTIONS
        .iter()
        .flat_map(|question| LATENCIES.map(|latency| (question, latency)))
        .flat_map(|(question, latency)| {
            let of = format!("{} at {latency:?}", question.procedure);
            faults(&asked(question, latency), &of, &schema)
        })
        .collect();
    assert!(all.is_empty(), "{} faults: {:#?}", all.len(), &all[..all.len().min(20)]);
}

#[test]
fn some_in_no_time_and_some_far_too_slow_is_a_document() {
    let schema = schema();
    let mut all = Vec::new();
    for question in QUESTIONS {
        let evidence = question.ask(|lane| lane).0;
        for (odd, times) in [(0, 1), (0, 0), (1, 0), (2, 0), (0, 1000), (1, 1000)] {
            let of = format!("{} ({odd}, {times}×)", question.procedure);
            all.extend(faults(&stretched(evidence.clone(), odd, times), &of, &schema));
        }
    }
    assert!(all.is_empty(), "{} faults: {:#?}", all.len(), &all[..all.len().min(20)]);
}
