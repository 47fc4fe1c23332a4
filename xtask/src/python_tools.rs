//! Environments of Python packages below the target folder, each with the versions of a list in the repository.

use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

/// An environment: its folder below the target folder, and its list of names and versions of all packages, from the root.
pub(crate) struct Environment {
    folder: &'static str,
    list: &'static str,
}

const fn environment(folder: &'static str, list: &'static str) -> Environment {
    Environment { folder, list }
}

/// Ready-made programs that run and check the tests.
pub(crate) const CHECKS: Environment = environment("tools", "xtask/requirements.txt");
/// Everything that the tests of the Python package import.
pub(crate) const PACKAGE: Environment = environment("python", "python/requirements.txt");
/// What checks the examples in `contrib/` and the files of the forge.
pub(crate) const EXAMPLES: Environment = environment("tools-examples", "xtask/requirements-examples.txt");
/// What compiles for older systems.
pub(crate) const DIST: Environment = environment("tools-dist", "xtask/requirements-dist.txt");

/// Makes an environment if its list has changed, and returns the folder of its programs.
///
/// # Errors
/// Python cannot make an environment, or a package cannot be installed.
pub(crate) fn install(sh: &Shell, environment: &Environment) -> anyhow::Result<PathBuf> {
    let (folder, list) = (target().join(environment.folder), root().join(environment.list));
    let (programs, installed) = (folder.join("bin"), folder.join("requirements.txt"));
    let wanted = sh.read_file(&list)?;
    if sh.read_file(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    cmd!(sh, "python3 -m venv --clear {folder}")
        .run()
        .with_context(|| format!("could not make an environment for Python in {}", folder.display()))?;
    let pip = programs.join("pip");
    cmd!(sh, "{pip} install --quiet --disable-pip-version-check --no-compile --no-deps --requirement {list}")
        .run()
        .with_context(|| format!("could not install {}", list.display()))?;
    // Last, so that an installation that was cut off is made again.
    sh.write_file(&installed, wanted)?;
    Ok(programs)
}
