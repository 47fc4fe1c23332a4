//! Procedures that measure speed, one file pair each: the code and its manual page.
//!
//! A procedure decides what to run next and what the evidence says. It touches no drive, no clock and no file, so a
//! run can be judged again from its folder alone.

use likenew_procedure_support::fit::{Options, defaults};
use likenew_procedure_support::options::options;

pub mod age;
pub mod apps;
pub mod bench;
pub mod cache;
pub mod commits;
pub mod data;
pub mod endure;
pub mod fill;
pub mod replay;
pub mod run;
pub mod suits;
pub mod surface;
pub mod sweep;

/// Pairs procedures with options that are declared as a command line: a plan's options make the procedure, and those
/// that it leaves out are as if nothing was typed.
macro_rules! procedures {
    ($($procedure:ty: $options:ty;)+) => {$(
        impl $procedure {
            /// From the options of a plan.
            ///
            /// # Errors
            /// A sentence that names the option and what it may be.
            pub fn from_options(table: &toml::Table) -> Result<Self, String> {
                Self::new(options(<$options>::DESCRIPTOR.name, table)?)
            }
        }

        impl Default for $options {
            fn default() -> Self {
                defaults()
            }
        }
    )+};
}

procedures! {
    age::Age: age::AgeOptions;
    apps::Apps: apps::AppsOptions;
    bench::Bench: bench::BenchOptions;
    cache::Cache: cache::CacheOptions;
    data::Data: data::DataOptions;
    fill::Fill: fill::FillOptions;
    suits::Suits: suits::SuitsOptions;
    surface::Surface: surface::SurfaceOptions;
    sweep::Sweep: sweep::SweepOptions;
}
