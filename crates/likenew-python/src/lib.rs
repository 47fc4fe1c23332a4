//! The native module of the Python package: runs plans on simulated drives, reads kept runs, hands columns over in Arrow's
//! memory format, and holds the whole `likenew` program.
//!
//! No Python code runs between two I/Os: a run is one call, which lets other Python threads run meanwhile, and Ctrl-C stops
//! it as it stops the program. Real drives are never opened here; the package starts the program for them.

mod columns;
mod errors;
mod run;
mod simulation;
mod wording;

/// Dask starts its workers with settings of glibc's allocator that give memory back at once: a study of small drives then spends
/// 15% of its time on memory that comes back for the next one (`cargo xtask bench python`). This one keeps it for a while.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[pyo3::pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use super::columns::Table;
    #[pymodule_export]
    use super::run::JoinedTables;
    #[pymodule_export]
    use super::run::{Run, load};
    #[pymodule_export]
    use super::simulation::{catalog, check_target, drive_file, drive_parameters};
    #[pymodule_export]
    use super::simulation::{command_grammar, main, run_command};
    #[pymodule_export]
    use super::simulation::{simulate, to_toml};
    #[pymodule_export]
    const SCHEMA: u32 = likenew_report::document::SCHEMA;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
