//! The Python package: installed into an environment of its own as users install it, then tested.

use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{python_tools, root, target};

/// Everything that the tests of the package import, with versions.
const REQUIREMENTS: &str = "python/requirements.txt";

/// Installs the package, built as the other tests are, and runs its tests: types, stubs, examples, the notebook.
pub(crate) fn test() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let python = install(&sh, "dev")?;
    Ok(cmd!(sh, "{python} -m pytest -q").run()?)
}

/// Measures the package: overhead of calls, and studies with one worker, two, and none.
pub(crate) fn bench() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let python = install(&sh, "demo")?;
    Ok(cmd!(sh, "{python} python/bench.py").run()?)
}

/// The wheel that the tests have installed.
pub(crate) fn tested_wheel(sh: &Shell) -> anyhow::Result<PathBuf> {
    let built = sh.read_dir(wheel_folder()).unwrap_or_default();
    built.into_iter().next().context("there is no wheel yet: cargo xtask python")
}

fn wheel_folder() -> PathBuf {
    target().join("python-wheel")
}

/// Builds a wheel with this profile as pip does it for users, installs it with what the tests need, and returns the interpreter.
fn install(sh: &Shell, profile: &str) -> anyhow::Result<PathBuf> {
    let programs = python_tools::install(sh, "python", REQUIREMENTS)?;
    let python = programs.join("python");
    // maturin is in the environment.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)))?;
    let _path = sh.push_env("PATH", path);
    let (folder, profile) = (wheel_folder(), format!("build-args=--profile={profile}"));
    sh.remove_path(&folder)?;
    let options = ["--quiet", "--disable-pip-version-check", "--no-deps"];
    cmd!(sh, "{python} -m pip wheel {options...} --no-build-isolation --config-settings={profile}")
        .args(["--wheel-dir".as_ref(), folder.as_os_str(), ".".as_ref()])
        .run()?;
    let wheel = tested_wheel(sh)?;
    cmd!(sh, "{python} -m pip install {options...} --force-reinstall {wheel}").run()?;
    Ok(python)
}
