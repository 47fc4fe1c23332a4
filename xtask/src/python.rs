//! The Python package: beside its sources for tests, and as the wheel that users install.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{python_tools, root, target};

/// Tests the package with the native module that was built with everything else: types, stubs, examples, the notebook.
pub(crate) fn test() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let python = with_sources(&sh, "debug")?;
    Ok(cmd!(sh, "{python} -m pytest -q").env("PYTHONPATH", root().join("python")).run()?)
}

/// Runs a program of `python/` with the package built as users build it.
pub(crate) fn run(program: &str, arguments: &[OsString]) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    cmd!(sh, "cargo build --profile source --package likenew-python").run()?;
    let python = with_sources(&sh, "source")?;
    Ok(cmd!(sh, "{python} python/{program} {arguments...}").env("PYTHONPATH", root().join("python")).run()?)
}

/// Puts a built native module, and the plans of its grammar, beside the sources, and returns the interpreter.
fn with_sources(sh: &Shell, built: &str) -> anyhow::Result<PathBuf> {
    let python = python_tools::install(sh, &python_tools::PACKAGE)?.join("python");
    let native = root().join("python/likenew/_native.abi3.so");
    // Under another name first: a process that has loaded the last one keeps that.
    let new = native.with_extension("new");
    sh.copy_file(target().join(built).join("liblikenew_native.so"), &new)?;
    std::fs::rename(&new, &native)?;
    cmd!(sh, "{python} python/build_backend.py {native} python/likenew/plans.py").run()?;
    Ok(python)
}

/// Builds the wheel as pip does for users, installs it, and tests the package without its sources.
pub(crate) fn test_wheel() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let python = python_tools::install(&sh, &python_tools::PACKAGE)?.join("python");
    let folder = wheel_folder();
    sh.remove_path(&folder)?;
    cmd!(sh, "{python} -m pip wheel --quiet --no-deps --wheel-dir {folder} .").run()?;
    let wheel = wheel()?;
    let installed = target().join("python-installed");
    sh.remove_path(&installed)?;
    cmd!(sh, "{python} -m pip install --quiet --no-deps --no-index --target {installed} {wheel}").run()?;
    Ok(cmd!(sh, "{python} -P -m pytest -q").env("PYTHONPATH", installed).run()?)
}

/// The wheel that [`test_wheel`] has built.
pub(crate) fn wheel() -> anyhow::Result<PathBuf> {
    let built = Shell::new()?.read_dir(wheel_folder()).unwrap_or_default();
    built.into_iter().next().context("there is no wheel yet: cargo xtask python --wheel")
}

fn wheel_folder() -> PathBuf {
    target().join("python-wheel")
}
