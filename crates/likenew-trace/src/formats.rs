//! One file per format: what its lines mean.

pub(crate) mod likenew;

use crate::flaw::Flaw;
use crate::head::TraceHead;
use crate::intake::Intake;

/// The lines of one format.
pub(crate) trait Parse: Send {
    /// Whether a last line that was torn off is left out and told, as a recorder that was killed leaves one.
    const FORGIVES_TORN_END: bool = false;

    /// Takes one line without its end; never an empty one.
    fn line(&mut self, line: &[u8], intake: &mut Intake) -> Result<(), Flaw>;

    /// The file has ended.
    fn end(&mut self, _intake: &mut Intake) -> Result<(), Flaw> {
        Ok(())
    }

    /// What the trace says of itself.
    fn head(&self) -> Option<&TraceHead> {
        None
    }
}
