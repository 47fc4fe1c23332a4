//! What a drive refused to do, said the same way by every procedure.

use likenew_core::io::Outcome;
use likenew_core::segment::Segment;
use likenew_core::verdict::{Standing, Verdict};

/// What was refused, if anything was. Only what is about the medium is called a problem of the drive: a file system that
/// is full, or a drive that was unplugged, says nothing of its health.
pub(crate) fn refusals(segments: &[Segment]) -> Option<Verdict> {
    let errors: u64 = segments.iter().map(Segment::errors).sum();
    let refused = || segments.iter().flat_map(|segment| &segment.refused);
    let medium = refused().find(|sample| sample.outcome.is_about_the_medium());
    let Some(first) = medium.or_else(|| refused().next()) else {
        // What another program measured may say no more than how many.
        return (errors > 0).then(|| {
            Verdict::new(format!("{errors} of the I/Os failed."), Standing::Holds)
                .because("where, and with which answer, was not recorded")
        });
    };
    let answer = match first.outcome {
        Outcome::Error(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
        Outcome::Short(bytes) => format!("{bytes} bytes were moved"),
        Outcome::Done => unreachable!("what was done was not refused"),
    };
    let (op, length, offset) = (first.op, first.length, first.offset);
    let evidence = format!("the first was a {op} of {length} bytes at offset {offset}: {answer}");
    Some(if medium.is_some() {
        let claim = format!("The drive failed {errors} of the I/Os it was asked for.");
        Verdict::new(claim, Standing::Holds).problem().because(evidence)
    } else {
        Verdict::new(format!("The system refused {errors} I/Os, and the run ended there."), Standing::Holds)
            .because(evidence)
    })
}
