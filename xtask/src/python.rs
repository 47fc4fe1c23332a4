//! Tests the Python package: beside its sources, and as the wheel that users install. Python environments are below the
//! target folder, each with the versions of a list in the repository.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use super::{root, target};

/// Runs tests in as many processes as there are cores.
const ALL_CORES: [&str; 4] = ["-n", "logical", "--dist", "worksteal"];

/// Tests the package with the native module of the test build: types, stubs, examples, the notebook. Long tests are
/// left to [`test_wheel`].
pub(crate) fn test() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let python = with_sources(&sh, "debug")?;
    Ok(cmd!(sh, "{python} -m pytest -q {ALL_CORES...} -m 'not long'")
        .env("PYTHONPATH", root().join("python"))
        .run()?)
}

/// Runs a program of `python/` with the package as users build it.
pub(crate) fn run(program: &str, arguments: &[OsString]) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    cmd!(sh, "cargo build --profile source --package likenew-python").run()?;
    let python = with_sources(&sh, "source")?;
    Ok(cmd!(sh, "{python} python/{program} {arguments...}").env("PYTHONPATH", root().join("python")).run()?)
}

/// Copies a built native module, and the plans of its grammar, beside the sources. Returns the interpreter.
fn with_sources(sh: &Shell, built: &str) -> anyhow::Result<PathBuf> {
    let python = install(sh, &PACKAGE)?.join("python");
    let native = root().join("python/likenew/_native.abi3.so");
    // Renames the file into place, so that a process that has loaded the old one keeps it.
    let new = native.with_extension("new");
    sh.copy_file(target().join(built).join("liblikenew_native.so"), &new)?;
    std::fs::rename(&new, &native)?;
    cmd!(sh, "{python} python/build_backend.py {native} python/likenew/plans.py").run()?;
    Ok(python)
}

/// Builds the wheel as pip does for users, installs it, and tests it without the sources.
pub(crate) fn test_wheel() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let python = install(&sh, &PACKAGE)?.join("python");
    let folder = wheel_folder();
    sh.remove_path(&folder)?;
    cmd!(sh, "{python} -m pip wheel --quiet --no-deps --wheel-dir {folder} .").run()?;
    let wheel = wheel()?;
    let installed = target().join("python-installed");
    sh.remove_path(&installed)?;
    cmd!(sh, "{python} -m pip install --quiet --no-deps --no-index --target {installed} {wheel}").run()?;
    Ok(cmd!(sh, "{python} -P -m pytest -q {ALL_CORES...}").env("PYTHONPATH", installed).run()?)
}

/// The wheel that [`test_wheel`] built.
pub(crate) fn wheel() -> anyhow::Result<PathBuf> {
    let built = Shell::new()?.read_dir(wheel_folder()).unwrap_or_default();
    built.into_iter().next().context("there is no wheel yet: cargo xtask python --wheel")
}

fn wheel_folder() -> PathBuf {
    target().join("python-wheel")
}

/// A Python environment: its folder below the target folder, and its list of packages and versions, from the
/// repository's root.
pub(crate) struct Environment {
    folder: &'static str,
    list: &'static str,
}

const fn environment(folder: &'static str, list: &'static str) -> Environment {
    Environment { folder, list }
}

/// Ready-made programs that run and check tests.
pub(crate) const CHECKS: Environment = environment("tools", "xtask/requirements.txt");
/// Everything that tests of the Python package import.
pub(crate) const PACKAGE: Environment = environment("python", "python/requirements.txt");
/// Tools that check the examples in `contrib/` and the forge's files.
pub(crate) const EXAMPLES: Environment = environment("tools-examples", "xtask/requirements-examples.txt");
/// Tools that compile for older systems.
pub(crate) const DIST: Environment = environment("tools-dist", "xtask/requirements-dist.txt");

/// Creates an environment if its list has changed, and returns the folder of its programs.
///
/// # Errors
/// Python cannot create an environment, or a package cannot be installed.
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
    // Written last, so that an interrupted installation is repeated.
    sh.write_file(&installed, wanted)?;
    Ok(programs)
}
