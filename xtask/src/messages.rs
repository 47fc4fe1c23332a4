//! Writes everything that the program says into `docs/messages/*.txt`.

use xshell::{Shell, cmd};

use crate::root;

/// Runs the tests that compare these files, and lets them write instead.
pub(crate) fn run() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    // Removes old messages that are no longer said.
    sh.remove_path("docs/messages")?;
    cmd!(sh, "cargo test --quiet --package likenew --test cli -- messages scenarios")
        .env("LIKENEW_UPDATE_MESSAGES", "1")
        .run()?;
    println!("docs/messages is written: read what changed with git diff docs/messages");
    Ok(())
}
