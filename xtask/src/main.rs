//! Automation of the project: `cargo xtask tidy | test | test-times | lines | messages | python | contrib |
//! guest-kernel | demo | dist | dist-test | book | bench NAME | fuzz | cuts | attacks | reproduce`.
//!
//! It depends on no other crate of the workspace, so that checks start before the first crate is built.

#![allow(clippy::disallowed_methods, reason = "automation measures time and writes files")]

mod attacks;
mod book;
mod contrib;
mod demo;
mod dist;
mod dist_test;
mod fuzz;
mod lines;
mod packages;
mod python;
mod tests;
mod tidy;
mod web;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Parser;
use xshell::{Shell, cmd};

#[derive(Parser)]
#[command(name = "cargo xtask", about = "All automation of the project")]
enum Task {
    /// Check the rules of the project that no compiler checks
    Tidy,
    /// Install what is missing, then check and test everything: what `make test` does; with --all what `make test-all` does
    Test(tests::Options),
    /// Write what each step and the slowest tests of the last `make test` took into CONTRIBUTING.md
    TestTimes,
    /// Count lines of code, wording, comments and tests of each crate
    Lines,
    /// Write everything that the program says into docs/messages, to be read in one sitting
    Messages,
    /// Test the Python package with the native module that `cargo build --workspace` has built
    Python {
        /// Build and install the wheel as users do, and test that
        #[arg(long)]
        wheel: bool,
    },
    /// Fetch the kernel of the guest in which facts are tested; if there is none, say so and continue
    GuestKernel,
    /// Check the examples in contrib/, each with its own tool
    Contrib,
    /// Measure a simulated drive, new and used, and write a page
    Demo,
    /// Build the archive and the Debian package that users install, into target/dist
    Dist(dist::Options),
    /// Install the Debian package into a clean Debian 11, use it there, and remove it
    DistTest(dist_test::Options),
    /// Build the documentation as a site, into target/book, and check its links
    Book(book::Options),
    /// Measure the instrument: `cargo xtask bench --help` lists what can be measured, `python` is the package
    #[command(disable_help_flag = true)]
    Bench {
        /// What to measure, and its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Feed damaged inputs to every parser, and count what was accepted, what was refused, and failures
    Fuzz(fuzz::Options),
    /// Cut the power and kill the program at hundreds of points; `make test` tries a few of them
    Cuts,
    /// Attack the program in every way known, and write what held into docs/explanation/safety.md: about an
    /// hour
    Attacks(attacks::Options),
    /// Repeat five studies on simulated drives and write docs/explanation/reproduction.md
    #[command(disable_help_flag = true)]
    Reproduce {
        /// Its options
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
}

fn main() -> anyhow::Result<()> {
    match Task::parse() {
        Task::Tidy => tidy::run(),
        Task::Test(options) => tests::run(&options),
        Task::TestTimes => tests::write_times(),
        Task::Lines => lines::print(),
        Task::Messages => messages(),
        Task::GuestKernel => packages::bring_if_possible(),
        Task::Contrib => contrib::check(),
        Task::Demo => demo::run(),
        Task::Dist(options) => dist::run(&options),
        Task::DistTest(options) => dist_test::run(&options),
        Task::Book(options) => book::run(&options),
        Task::Bench { arguments } if arguments == ["python"] => python::run("bench.py", &[]),
        Task::Bench { arguments } => bench(&arguments),
        Task::Python { wheel: false } => python::test(),
        Task::Python { wheel: true } => python::test_wheel(),
        Task::Reproduce { arguments } => python::run("studies/reproduce.py", &arguments),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Cuts => attacks::cuts(),
        Task::Attacks(options) => attacks::attacks(&options),
    }
}

/// Builds the instrument's benchmarks in release mode, and runs them.
fn bench(arguments: &[OsString]) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    Ok(cmd!(sh, "cargo run --release --quiet --package likenew-bench -- {arguments...}").quiet().run()?)
}

/// Rewrites `docs/messages/` and `schema/examples/`: lets the tests that compare these files write them instead.
fn messages() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    // Removes files of messages that no longer exist.
    sh.remove_path("docs/messages")?;
    cmd!(sh, "cargo test --quiet --package likenew --test cli -- messages scenarios examples")
        .env("LIKENEW_UPDATE_MESSAGES", "1")
        .run()?;
    println!("docs/messages and schema/examples are written: read what changed with git diff");
    Ok(())
}

/// Cargo's target folder.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root").to_owned()
}
