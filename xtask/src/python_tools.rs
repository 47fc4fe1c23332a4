//! Environments of Python packages below the target folder, each with the versions of a list in the repository.

use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

/// Makes an environment if its list has changed, and returns the folder of its programs. `list` is a file of names and versions
/// of all packages, from the root.
///
/// # Errors
/// Python cannot make an environment, or a package cannot be installed.
pub(crate) fn install(sh: &Shell, name: &str, list: &str) -> anyhow::Result<PathBuf> {
    let (folder, list) = (target().join(name), root().join(list));
    let (programs, installed) = (folder.join("bin"), folder.join("requirements.txt"));
    let wanted = sh.read_file(&list)?;
    if sh.read_file(&installed).is_ok_and(|installed| installed == wanted) {
        return Ok(programs);
    }
    cmd!(sh, "python3 -m venv --clear {folder}")
        .run()
        .with_context(|| format!("could not make an environment for Python in {}", folder.display()))?;
    let pip = programs.join("pip");
    cmd!(sh, "{pip} install --quiet --disable-pip-version-check --no-deps --requirement {list}")
        .run()
        .with_context(|| format!("could not install {}", list.display()))?;
    // Last, so that an installation that was cut off is made again.
    sh.write_file(&installed, wanted)?;
    Ok(programs)
}
