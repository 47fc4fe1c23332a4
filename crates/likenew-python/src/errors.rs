//! The exceptions that the package defines, by what went wrong, and long work that lets other Python threads run and that Ctrl-C
//! stops.

use crossbeam_channel::RecvTimeoutError;
use likenew_cli::{CommandFailure, FailureKind};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::{PyErr, PyResult, Python, import_exception};
use std::time::Duration;

import_exception!(likenew.errors, RefusedError);
import_exception!(likenew.errors, UnfinishedError);
import_exception!(likenew.errors, UsageError);

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

/// Time between looks for Ctrl-C. Chosen: it feels immediate, and costs nothing.
const SLICE: Duration = Duration::from_millis(20);

/// Does the work on a thread of its own without the interpreter's lock. A signal calls `stop`, upon which the work has to end
/// soon; its result is then dropped.
///
/// # Errors
/// The exception of the signal's handler, usually `KeyboardInterrupt`.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: impl Fn(),
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        let worker = scope.spawn(move || {
            // Nobody waits for it only after a panic here.
            let _ = sender.send(work());
        });
        let mut signal: Option<PyErr> = None;
        loop {
            match py.detach(|| receiver.recv_timeout(SLICE)) {
                Ok(result) => return signal.map_or(Ok(result), Err),
                Err(RecvTimeoutError::Timeout) if signal.is_none() => {
                    if let Err(error) = py.check_signals() {
                        stop();
                        signal = Some(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => match worker.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("a worker that ends sends its result"),
                },
            }
        }
    })
}
