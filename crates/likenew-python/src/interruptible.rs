//! Runs long work that lets other Python threads run and that Ctrl-C stops.

use std::thread::Builder;
use std::time::Duration;

use crossbeam_channel::RecvTimeoutError;
use pyo3::{PyErr, PyResult, Python};

/// Interval for checking Ctrl-C. Chosen: it feels immediate, and costs nothing.
const SLICE: Duration = Duration::from_millis(20);

/// Runs the work on its own thread without the interpreter's lock. A signal calls `stop`; the work must then end soon,
/// and its result is dropped.
///
/// # Errors
/// The exception from the signal's handler, usually `KeyboardInterrupt`; an `OSError` if the system gives no thread.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: impl Fn(),
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    std::thread::scope(|scope| {
        let (sender, receiver) = crossbeam_channel::bounded(1);
        let worker = Builder::new().spawn_scoped(scope, move || {
            // The receiver is gone only after a panic here.
            let _ = sender.send(work());
        })?;
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
