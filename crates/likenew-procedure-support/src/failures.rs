//! Answers about failed I/Os and the tests that they spoiled, for every procedure.

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Answer, Standing};
use likenew_core::io::Outcome;
use likenew_core::measurement_error::{DATA_DIFFERS, MeasurementError, RefusedIo};
use likenew_core::procedure::Evidence;
use likenew_core::segment::{Segment, Stop};

use crate::wording;

/// Most failed tests that an answer names.
const NAMED_MAX: usize = 3;

/// Answers about failed I/Os, and about failed jobs of another program. Only errors of the medium are problems of the
/// drive: a full file system or an unplugged drive says nothing about its health.
pub fn failure_answers<'a>(segments: impl IntoIterator<Item = &'a Segment, IntoIter: Clone>) -> Vec<Answer> {
    let segments = segments.into_iter();
    let failures = segments.clone().filter_map(|segment| match segment.stop {
        Stop::JobFailed { errno } => failed_job(segment, errno),
        _ => None,
    });
    failures.chain(failed_ios(segments)).collect()
}

/// Adds the answers about failed I/Os of a run and then `others`, and spares a failing drive.
pub fn add_failures(
    answers: &mut Vec<Answer>,
    evidence: &Evidence,
    others: impl IntoIterator<Item = Answer>,
) {
    answers.extend(failure_answers(&evidence.segments));
    answers.extend(others);
    spare_failing_drive(answers, evidence);
}

/// If the drive failed I/Os, removes the actions from all other answers: further tests and writes load a failing
/// drive whose data has yet to be saved. Instead, the owner of a real drive is told to read its SMART data.
pub fn spare_failing_drive(answers: &mut [Answer], evidence: &Evidence) {
    let is_failure =
        |answer: &Answer| answer.standing == Standing::Problem && wording::is_about_failures(answer);
    if !answers.iter().any(is_failure) {
        return;
    }
    for answer in answers {
        if !is_failure(answer) {
            answer.actions.clear();
        } else {
            answer.actions.extend(read_smart(evidence));
        }
    }
}

/// The action that reads a drive's SMART data; `None` for a simulated drive, which has none.
pub fn read_smart(evidence: &Evidence) -> Option<Action> {
    let kind = evidence.identity.kind;
    let device = evidence.plan.target.as_deref().filter(|_| kind == TargetKind::Device);
    matches!(kind, TargetKind::Folder | TargetKind::File | TargetKind::Device)
        .then(|| wording::read_smart(device))
}

/// The answer if another program's job met an error of the medium, or read other data than was written. Any other
/// error only means that the job was not measured.
fn failed_job(segment: &Segment, errno: i32) -> Option<Answer> {
    let job = &segment.workload.name;
    if errno == DATA_DIFFERS {
        return Some(wording::job_read_other_data(job));
    }
    Outcome::Error(errno).is_about_the_medium().then(|| wording::job_met_medium_error(job, errno))
}

fn failed_ios<'a>(segments: impl Iterator<Item = &'a Segment> + Clone) -> Option<Answer> {
    let counted = segments.clone().filter(|segment| !matches!(segment.stop, Stop::JobFailed { .. }));
    let errors: u64 = counted.map(Segment::errors).sum();
    let samples = || segments.clone().flat_map(|segment| &segment.refused_ios);
    if let Some(first) = samples().find(|sample| sample.outcome.is_about_the_medium()) {
        return Some(wording::drive_failed_ios(errors, first.into()));
    }
    if let Some(first) = samples().next() {
        return Some(wording::system_refused_ios(errors, first.into()));
    }
    // Another program may record only how many I/Os failed.
    (errors > 0).then(|| wording::failed_ios_without_reason(errors))
}

/// Whether two tests failed alike, so that one error explains both.
fn is_same_error(one: &MeasurementError, other: &MeasurementError) -> bool {
    let outcome = |first: &Option<RefusedIo>| first.map(|io| io.outcome);
    match (one, other) {
        (
            MeasurementError::Refused { op, first, .. },
            MeasurementError::Refused { op: other_op, first: other_first, .. },
        ) => op == other_op && outcome(first) == outcome(other_first),
        _ => one == other,
    }
}

/// Number of tests that ran, failed ones included.
pub fn tests_run(segments: &[Segment]) -> usize {
    segments.iter().filter(|segment| !segment.workload.is_rest()).count()
}

/// The answer that names the tests that failed, and why; tables have no rates for them.
pub fn unmeasured_workloads(segments: &[Segment]) -> Option<Answer> {
    let failures: Vec<(&str, MeasurementError)> = segments
        .iter()
        .filter_map(|segment| Some((segment.workload.name.as_str(), segment.measurement_error()?)))
        .collect();
    if failures.is_empty() {
        return None;
    }
    let names: Vec<&str> = failures.iter().take(NAMED_MAX).map(|(name, _)| *name).collect();
    let hidden = failures.len() - names.len();
    let mut answer = wording::not_measured(&names, hidden, tests_run(segments), &failures[0].1.reason());
    let mut kinds: Vec<&MeasurementError> = Vec::new();
    for (name, error) in &failures {
        if !kinds.iter().any(|kind| is_same_error(kind, error)) {
            kinds.push(error);
            answer = answer.with_evidence(wording::test_error(name, error));
        }
    }
    Some(answer)
}
