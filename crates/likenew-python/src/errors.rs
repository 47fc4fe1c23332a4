//! Converts errors to the package's exceptions.

use likenew_cli::{CommandFailure, FailureKind};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::{PyErr, import_exception};

import_exception!(likenew.errors, RefusedError);
import_exception!(likenew.errors, UnfinishedError);
import_exception!(likenew.errors, UsageError);

/// The exception for a command that failed.
pub(crate) fn of_command(failure: CommandFailure) -> PyErr {
    let CommandFailure { kind, message } = failure;
    match kind {
        FailureKind::Usage => UsageError::new_err(message),
        FailureKind::Refused => RefusedError::new_err(message),
        FailureKind::Unfinished => UnfinishedError::new_err(message),
        FailureKind::Interrupted => PyKeyboardInterrupt::new_err(message),
    }
}

/// The exception for wrong arguments.
pub(crate) fn usage(reason: impl ToString) -> PyErr {
    UsageError::new_err(reason.to_string())
}

/// The exception for work that could not be finished.
pub(crate) fn unfinished(reason: impl ToString) -> PyErr {
    UnfinishedError::new_err(reason.to_string())
}
