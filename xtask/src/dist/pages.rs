//! Manual pages and completions, written by the program that is packed.

use std::path::{Path, PathBuf};

use xshell::{Shell, cmd};

/// Writes them into a folder below this one.
pub(super) fn write(sh: &Shell, binary: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let pages = folder.join("pages");
    cmd!(sh, "{binary} help --write {pages}").quiet().ignore_stdout().run()?;
    Ok(pages)
}
