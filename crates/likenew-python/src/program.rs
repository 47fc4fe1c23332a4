//! The `likenew` program inside Python.

use std::collections::HashMap;
use std::ffi::OsString;

use likenew_cli::{Interruption, run_command as run_embedded};
use pyo3::prelude::*;

use crate::errors;
use crate::interruptible::interruptible;

/// Runs one command, such as `["bench", "sim:tiny-flash", "--plan"]`, and returns its output. `drives` are drive files
/// by name, read in place of those in the file system.
#[pyfunction]
#[pyo3(signature = (words, drives=HashMap::new()))]
pub(crate) fn run_command(
    py: Python<'_>,
    words: Vec<String>,
    drives: HashMap<String, String>,
) -> PyResult<String> {
    let drives = drives.into_iter().map(|(name, text)| (name.into(), text.into_bytes())).collect();
    interruptible(py, Interruption::request, move || run_embedded(&words, drives))?
        .map_err(errors::of_command)
}

/// Runs the program with this command line, which begins with the program's name, and returns the exit code. `program`
/// are the words with which it can be started again.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, command_line: Vec<OsString>, program: Vec<OsString>) -> u8 {
    py.detach(|| likenew_cli::main(command_line, program))
}

/// The options of all measuring commands, as JSON, from which the package makes its classes of plans.
#[pyfunction]
pub(crate) fn command_grammar() -> String {
    likenew_cli::plan_grammar()
}
