//! Tests the page that reports embed.

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

/// Types, unit tests, and the built page's main ways in a browser.
pub(crate) fn test() -> anyhow::Result<()> {
    scripts(&["check", "test", "journey"])
}

/// The served page's main way in a browser, with the program of the tests.
pub(crate) fn test_served() -> anyhow::Result<()> {
    scripts(&["journey:serve"])
}

/// Both pages at all widths, in both themes and with several fonts.
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

/// Installs what the page is built and tested with, unless the lock file is as old as the last installation: `npm ci` always starts
/// from nothing.
pub(crate) fn install(sh: &Shell) -> anyhow::Result<()> {
    let _folder = sh.push_dir(root().join("web"));
    let modified = |path: &str| std::fs::metadata(root().join(path)).and_then(|metadata| metadata.modified());
    let locked = modified("web/package-lock.json")?;
    if modified("web/node_modules/.package-lock.json").is_ok_and(|installed| installed >= locked) {
        return Ok(());
    }
    cmd!(sh, "npm ci --no-audit --no-fund").run().context("could not install what the page is built with")
}
