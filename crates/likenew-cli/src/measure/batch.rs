//! The targets of a command, on their way through its steps.

use crate::exit::{Exit, Failure};
use crate::output::FailedTarget;

/// What a step leaves for the next one, if the way goes on, and the exit code up to there.
pub(super) type StepEnd<T> = (Option<T>, Exit);

/// What happens to a target of several if a step fails for it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnFailure {
    /// The command ends.
    End,
    /// It is named and left out.
    LeaveOut,
}

/// The exit code of all targets together, and those that failed.
pub(super) struct Batch {
    is_several: bool,
    pub(super) exit: Exit,
    pub(super) failed: Vec<FailedTarget>,
}

impl Batch {
    pub(super) fn new(is_several: bool) -> Self {
        Self { is_several, exit: Exit::Fine, failed: Vec::new() }
    }

    /// Does a step for each target, before anything is measured.
    ///
    /// # Errors
    /// Those of the step, unless another target is left.
    pub(super) fn prepare_each<T, U>(
        &mut self,
        on_failure: OnFailure,
        items: Vec<T>,
        typed: fn(&T) -> &str,
        mut step: impl FnMut(T) -> Result<StepEnd<U>, Failure>,
    ) -> Result<Vec<U>, Failure> {
        let is_tolerant = self.is_several && on_failure == OnFailure::LeaveOut;
        self.each(items, is_tolerant, typed, |item| {
            let name = is_tolerant.then(|| typed(&item).to_owned());
            let ended = step(item);
            if let (Some(name), Err(_)) = (name, &ended) {
                crate::standard_error::note(format_args!("{name}:"));
            }
            ended
        })
    }

    /// Measures each target; several are named before, and of several targets one that fails is left out.
    ///
    /// # Errors
    /// Those of the only target.
    pub(super) fn run_each<T, U>(
        &mut self,
        items: Vec<T>,
        typed: fn(&T) -> &str,
        mut run: impl FnMut(T) -> Result<StepEnd<U>, Failure>,
    ) -> Result<Vec<U>, Failure> {
        let are_named = items.len() > 1;
        self.each(items, self.is_several, typed, |item| {
            if are_named {
                crate::standard_error::note(format_args!("{}:", typed(&item)));
            }
            run(item)
        })
    }

    /// Until the user stops it.
    fn each<T, U>(
        &mut self,
        items: Vec<T>,
        is_tolerant: bool,
        typed: fn(&T) -> &str,
        mut step: impl FnMut(T) -> Result<StepEnd<U>, Failure>,
    ) -> Result<Vec<U>, Failure> {
        let mut done = Vec::new();
        for item in items {
            if self.exit == Exit::Interrupted {
                break;
            }
            let name = typed(&item).to_owned();
            match step(item) {
                Ok((next, exit)) => {
                    done.extend(next);
                    self.exit = self.exit.of_targets(exit);
                }
                Err(failure) if is_tolerant => {
                    crate::standard_error::note(failure.message());
                    self.exit = self.exit.of_targets(failure.exit());
                    self.failed.push(FailedTarget::new(name, failure.reason(), failure.exit()));
                }
                Err(failure) => return Err(failure),
            }
        }
        Ok(done)
    }
}
