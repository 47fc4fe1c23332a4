//! Installs what is missing, then checks and tests everything.

use std::time::Instant;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{book, contrib, dist_test, guest_kernel, packages, python, root, target, web};

/// Everything that must pass before a change may land, in the order in which it fails fastest.
pub(crate) fn run() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    step("packages", || packages::install(&sh))?;
    step("guest kernel", guest_kernel::bring_if_possible)?;
    step("fmt", || Ok(cmd!(sh, "cargo fmt --all --check").run()?))?;
    step("examples", contrib::check)?;
    // The page first: the tests of the report crate then use the page that users get.
    step("page", web::test)?;
    step("clippy", || Ok(cmd!(sh, "cargo clippy --workspace --all-targets -- -D warnings").run()?))?;
    step("build of the tests", || Ok(cmd!(sh, "cargo test --workspace --no-run --quiet").run()?))?;
    // Two per core: most of them wait for programs, devices and the disk.
    let threads = (2 * std::thread::available_parallelism()?.get()).to_string();
    step("tests", || {
        Ok(cmd!(sh, "cargo test --workspace --no-fail-fast").env("RUST_TEST_THREADS", threads).run()?)
    })?;
    step("served page", web::test_served)?;
    step("Python package", python::test)?;
    // Of what the tests have built: what releases install is compiled twice more, and tried by `cargo xtask dist-test`.
    step("packages of the tests", dist_test::run_of_tests)?;
    // The program of the tests.
    let likenew = target().join("debug/likenew");
    step("book", || book::run(&book::Options::with_program(likenew)))?;
    step("doc", || {
        Ok(cmd!(sh, "cargo doc --workspace --no-deps --quiet").env("RUSTDOCFLAGS", "-D warnings").run()?)
    })
}

/// Runs a step, and prints its time.
fn step(name: &str, take: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let begun = Instant::now();
    take().with_context(|| format!("{name} failed"))?;
    println!("{name}: {} s", begun.elapsed().as_secs());
    Ok(())
}
