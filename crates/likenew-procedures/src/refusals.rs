//! What a drive refused to do, said the same way by every procedure.

use likenew_core::segment::Segment;
use likenew_core::verdict::{Standing, Verdict};

/// What the drive refused, if it refused anything.
pub(crate) fn refusals(segments: &[Segment]) -> Option<Verdict> {
    let errors: u64 = segments.iter().map(Segment::errors).sum();
    let first = segments.iter().flat_map(|segment| &segment.refused).next()?;
    let claim = format!("The drive failed {errors} of the I/Os it was asked for.");
    Some(Verdict::new(claim, Standing::Holds).problem().because(format!(
        "the first was a {} of {} bytes at offset {}: {:?}",
        first.op, first.length, first.offset, first.outcome
    )))
}
