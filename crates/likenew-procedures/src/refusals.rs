//! What a drive refused to do, and what was not measured therefore, said the same way by every procedure.

use likenew_core::io::Outcome;
use likenew_core::measurement_error::{MeasurementError, RefusedIo};
use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;
use likenew_core::verdict::{Standing, Verdict};

/// What was refused, if anything was, and which jobs of another program failed. Only what is about the medium is called a problem of the drive: a file system that
/// is full, or a drive that was unplugged, says nothing of its health.
pub(crate) fn refusals(segments: &[Segment]) -> Vec<Verdict> {
    let failures = segments.iter().filter_map(|segment| match segment.stop {
        Stop::JobFailed { errno } => job_failed(segment, errno),
        _ => None,
    });
    failures.chain(refused_ios(segments)).collect()
}

/// What an error of another program's job says of the drive: that its medium failed, or that it returned other data than was written. Any other error only
/// means that the job was not measured.
fn job_failed(segment: &Segment, errno: i32) -> Option<Verdict> {
    let name = &segment.workload.name;
    let error = std::io::Error::from_raw_os_error(errno);
    let claim = if errno == DIFFERS {
        format!("\"{name}\" read other data than was written.")
    } else if Outcome::Error(errno).is_about_the_medium() {
        format!("\"{name}\" failed: {error}.")
    } else {
        return None;
    };
    let how = format!(
        "it ended with error {errno} ({error}); the program that measured it does not say which I/O that was"
    );
    Some(Verdict::new(claim, Standing::Holds).problem().with_evidence(how))
}

/// `EILSEQ`, with which fio ends a job whose verify finds something else.
const DIFFERS: i32 = 84;

fn refused_ios(segments: &[Segment]) -> Option<Verdict> {
    let counted = segments.iter().filter(|segment| !matches!(segment.stop, Stop::JobFailed { .. }));
    let errors: u64 = counted.map(Segment::errors).sum();
    let samples = || segments.iter().flat_map(|segment| &segment.refused_ios);
    let medium = samples().find(|sample| sample.outcome.is_about_the_medium());
    let Some(first) = medium.or_else(|| samples().next()) else {
        // What another program measured may say no more than how many.
        return (errors > 0).then(|| {
            Verdict::new(format!("{errors} of the I/Os failed."), Standing::Holds)
                .with_evidence("where, and with which answer, was not recorded")
        });
    };
    let evidence = format!("the first was {}", RefusedIo::from(first));
    Some(if medium.is_some() {
        let claim = format!("The drive failed {errors} of the I/Os it was asked for.");
        Verdict::new(claim, Standing::Holds).problem().with_evidence(evidence)
    } else {
        Verdict::new(format!("The system refused {errors} I/Os, and the run ended there."), Standing::Holds)
            .with_evidence(evidence)
    })
}

/// More failed tests than this are not named one by one.
const NAMED_MAX: usize = 3;

/// Which tests were not measured and why, if any: their rates stand nowhere.
pub(crate) fn unmeasured_workloads(segments: &[Segment]) -> Option<Verdict> {
    let failures: Vec<(&Segment, MeasurementError)> =
        segments.iter().filter_map(|segment| Some((segment, segment.measurement_error()?))).collect();
    let names: Vec<String> = failures
        .iter()
        .take(NAMED_MAX)
        .map(|(segment, _)| format!("\"{}\"", segment.workload.name))
        .collect();
    let more = match failures.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let verb = if failures.len() == 1 { "was" } else { "were" };
    let claim = format!("{}{more} {verb} not measured.", names.join(", "));
    // One of each kind of error says what is wrong.
    let mut kinds: Vec<&MeasurementError> = Vec::new();
    let is_like = |one: &MeasurementError, other: &MeasurementError| match (one, other) {
        (
            MeasurementError::Refused { op, first, .. },
            MeasurementError::Refused { op: of, first: than, .. },
        ) => op == of && first.map(|io| io.outcome) == than.map(|io| io.outcome),
        _ => one == other,
    };
    let mut verdict = Verdict::new(claim, Standing::Undecided);
    for (segment, error) in &failures {
        if kinds.iter().all(|one| !is_like(one, error)) {
            kinds.push(error);
            verdict = verdict.with_evidence(format!("\"{}\": {error}", segment.workload.name));
        }
    }
    (!failures.is_empty()).then_some(verdict)
}
