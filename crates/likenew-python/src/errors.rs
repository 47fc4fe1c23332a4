//! The exceptions: one family, by what went wrong. The package says what each of them means.

use likenew_cli::{CommandFailure, FailureKind};
use pyo3::PyErr;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyKeyboardInterrupt};

create_exception!(likenew, LikenewError, PyException);
create_exception!(likenew, UsageError, LikenewError);
create_exception!(likenew, RefusedError, LikenewError);
create_exception!(likenew, UnfinishedError, LikenewError);

/// The exception of a command that failed.
pub(crate) fn of_command(failure: CommandFailure) -> PyErr {
    let CommandFailure { kind, message } = failure;
    match kind {
        FailureKind::Usage => UsageError::new_err(message),
        FailureKind::Refused => RefusedError::new_err(message),
        FailureKind::Unfinished => UnfinishedError::new_err(message),
        FailureKind::Interrupted => PyKeyboardInterrupt::new_err(message),
    }
}

/// The exception of wrong arguments.
pub(crate) fn usage(reason: impl ToString) -> PyErr {
    UsageError::new_err(reason.to_string())
}

/// The exception of work that could not be finished.
pub(crate) fn unfinished(reason: impl ToString) -> PyErr {
    UnfinishedError::new_err(reason.to_string())
}
