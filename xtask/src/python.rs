//! The Python package: installed into an environment of its own as users install it, then tested.

use std::path::PathBuf;

use xshell::{Shell, cmd};

use crate::{python_tools, root};

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

/// Installs what the tests need and the package of this profile, and returns the interpreter.
fn install(sh: &Shell, profile: &str) -> anyhow::Result<PathBuf> {
    let programs = python_tools::install(sh, "python", REQUIREMENTS)?;
    let python = programs.join("python");
    let profile = format!("build-args=--profile={profile}");
    let options =
        ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--force-reinstall"];
    // maturin is in the environment.
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path)))?;
    cmd!(sh, "{python} -m pip install {options...} --config-settings={profile} .").env("PATH", path).run()?;
    Ok(python)
}
