//! The Python package: installed into an environment of its own as users install it, then tested.

use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

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
    let folder = target().join("python");
    let python = folder.join("bin/python");
    let (wanted, installed) = (sh.read_file(REQUIREMENTS)?, folder.join("requirements.txt"));
    if !sh.read_file(&installed).is_ok_and(|installed| installed == wanted) {
        cmd!(sh, "python3 -m venv --clear {folder}")
            .run()
            .context("could not make an environment for Python")?;
        cmd!(sh, "{python} -m pip install --quiet --disable-pip-version-check --no-deps --requirement {REQUIREMENTS}")
            .run()
            .with_context(|| format!("could not install {REQUIREMENTS}"))?;
        // Last, so that an installation that was cut off is made again.
        sh.write_file(&installed, wanted)?;
    }
    let profile = format!("build-args=--profile={profile}");
    let options =
        ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--force-reinstall"];
    // maturin is in the environment.
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    cmd!(sh, "{python} -m pip install {options...} --config-settings={profile} .").env("PATH", path).run()?;
    Ok(python)
}
