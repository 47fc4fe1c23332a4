//! Tools of the Python world that check the examples, in an environment of their own.

use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

/// Names and versions of all packages.
const REQUIREMENTS: &str = "xtask/requirements.txt";

/// Installs the tools if their list has changed, and returns the folder of their programs.
///
/// # Errors
/// Python cannot make an environment, or a package cannot be installed.
pub(crate) fn install(sh: &Shell) -> anyhow::Result<PathBuf> {
    let (folder, requirements) = (target().join("python-tools"), root().join(REQUIREMENTS));
    let (programs, installed) = (folder.join("bin"), folder.join("requirements.txt"));
    let wanted = sh.read_file(&requirements)?;
    if sh.read_file(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    cmd!(sh, "python3 -m venv --clear {folder}")
        .run()
        .context("could not make an environment for Python's tools")?;
    let pip = programs.join("pip");
    cmd!(sh, "{pip} install --quiet --disable-pip-version-check --no-deps --requirement {requirements}")
        .run()
        .with_context(|| format!("could not install {REQUIREMENTS}"))?;
    // Last, so that an installation that was cut off is made again.
    sh.write_file(&installed, wanted)?;
    Ok(programs)
}
