//! Writes what the program says into `docs/messages/` and its documents into `schema/examples/`.

use xshell::{Shell, cmd};

use crate::root;

/// Runs the tests that compare these files, and lets them write instead.
pub(crate) fn run() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    // Removes old messages that are no longer said.
    sh.remove_path("docs/messages")?;
    cmd!(sh, "cargo test --quiet --package likenew --test cli -- messages scenarios examples")
        .env("LIKENEW_UPDATE_MESSAGES", "1")
        .run()?;
    println!("docs/messages and schema/examples are written: read what changed with git diff");
    Ok(())
}
