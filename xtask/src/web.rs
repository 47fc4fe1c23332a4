//! Tests the page that reports embed, and the served page.

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

/// Checks types, runs unit tests, and uses the built page's main functions in a browser.
pub(crate) fn test() -> anyhow::Result<()> {
    scripts(&["check", "test", "journey"])
}

/// Uses the served page's main function in a browser, with the program of the test build.
pub(crate) fn test_served() -> anyhow::Result<()> {
    scripts(&["journey:serve"])
}

/// Tests both pages at all widths, in both themes and with several fonts.
pub(crate) fn test_in_full() -> anyhow::Result<()> {
    scripts(&["e2e", "e2e:serve"])
}

fn scripts(names: &[&str]) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    install(&sh)?;
    sh.change_dir(root().join("web"));
    let _program = sh.push_env("LIKENEW", target().join("debug/likenew"));
    names.iter().try_for_each(|script| Ok(cmd!(sh, "npm run --silent {script}").run()?))
}

/// Installs what builds and tests the page, unless the installation is newer than the lock file: `npm ci` always starts
/// from scratch.
pub(crate) fn install(sh: &Shell) -> anyhow::Result<()> {
    let _folder = sh.push_dir(root().join("web"));
    let modified = |path: &str| std::fs::metadata(root().join(path)).and_then(|metadata| metadata.modified());
    let locked = modified("web/package-lock.json")?;
    if modified("web/node_modules/.package-lock.json").is_ok_and(|installed| installed >= locked) {
        return Ok(());
    }
    cmd!(sh, "npm ci --no-audit --no-fund").run().context("could not install what the page is built with")
}
