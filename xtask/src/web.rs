//! Tests the page that reports embed.

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{root, target};

/// Type checks, unit tests, and the built page in a browser, which builds it first.
pub(crate) fn test() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    install(&sh)?;
    for script in ["check", "test", "e2e"] {
        cmd!(sh, "npm run --silent {script}").run()?;
    }
    Ok(())
}

/// The served page in a browser, by the program of the tests.
pub(crate) fn test_served() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    install(&sh)?;
    cmd!(sh, "npm run --silent e2e:serve").env("LIKENEW", target().join("debug/likenew")).run()?;
    Ok(())
}

fn install(sh: &Shell) -> anyhow::Result<()> {
    sh.change_dir(root().join("web"));
    // `npm ci` always reinstalls everything; it is only needed if the lock file is newer than the
    // installation.
    let installed =
        std::fs::metadata(root().join("web/node_modules/.package-lock.json")).and_then(|m| m.modified());
    let locked = std::fs::metadata(root().join("web/package-lock.json")).and_then(|m| m.modified())?;
    if installed.is_ok_and(|installed| installed >= locked) {
        return Ok(());
    }
    cmd!(sh, "npm ci --no-audit --no-fund").run().context("could not install what the page is built with")
}
