//! Failed I/Os beside what else was found.

use likenew_core::answer::Standing;
use likenew_core::findings::Findings;
use likenew_core::procedure::Evidence;
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};

/// Whether the drive failed I/Os, which then head the report.
pub(crate) fn has_failed(evidence: &Evidence) -> bool {
    refusals(&evidence.segments).iter().any(|answer| answer.standing == Standing::Problem)
}

/// Adds the answers about failed I/Os. Nothing more is tested on a failing drive.
pub(crate) fn add_failed_ios(evidence: &Evidence, findings: &mut Findings) {
    findings.answers.extend(refusals(&evidence.segments));
    spare_failing_drive(&mut findings.answers, evidence);
}
