//! The native module of the Python package. It runs plans on simulated drives, reads kept runs, hands over columns in
//! Arrow's memory format, and contains the whole `likenew` program.
//!
//! No Python code runs between two I/Os. A run is one call that lets other Python threads run and that Ctrl-C stops, as
//! in the program. This module never opens real drives; the package starts the program for them.

mod columns;
mod drives;
mod errors;
mod interruptible;
mod joined_tables;
mod program;
mod run;
mod run_columns;
mod simulation;
mod wording;

/// Keeps freed memory for a while. Dask makes glibc's allocator return memory at once; a study of small drives then
/// spends 15% of its time on memory that it needs again (`cargo xtask bench python`).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pyo3::pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::columns::Table;
    #[pymodule_export]
    use super::drives::{catalog, check_target, draw_parameters, drive_file, drive_parameters};
    #[pymodule_export]
    use super::joined_tables::JoinedTables;
    #[pymodule_export]
    use super::program::{command_grammar, main, run_command};
    #[pymodule_export]
    use super::run::{Run, load};
    #[pymodule_export]
    use super::simulation::{simulate, to_toml};
    #[pymodule_export]
    const SCHEMA: u32 = likenew_report::document::SCHEMA;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
