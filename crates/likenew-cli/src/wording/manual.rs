//! Headings and sentences of manual pages and of the reference in Markdown.

use std::path::Path;

/// The name under which all pages are collected.
pub(crate) const MANUAL: &str = "Likenew Manual";

// ---- sections of manual pages, as man(1) readers know them ----

pub(crate) const NAME: &str = "NAME";
pub(crate) const SYNOPSIS: &str = "SYNOPSIS";
pub(crate) const DESCRIPTION: &str = "DESCRIPTION";
pub(crate) const COMMANDS: &str = "COMMANDS";
pub(crate) const TARGETS: &str = "TARGETS";
pub(crate) const EXIT_STATUS: &str = "EXIT STATUS";
pub(crate) const EXAMPLES: &str = "EXAMPLES";
pub(crate) const SEE_ALSO: &str = "SEE ALSO";

/// The first line of the page of all causes.
pub(crate) const CAUSES: &str = "why a drive is slow, how that is found out, and what fixes it";

likenew_core::sentences! {
    /// The heading of a cause in that page.
    pub(crate) fn cause(name: &str, title: &str) = "{title} ({name})";
    /// What `likenew help --write` says.
    pub(crate) fn pages_written(folder: &Path, files: usize) =
        "{files} files written to {}: man/ has manual pages, completions/ those of shells, reference/ \
         Markdown.\n", folder.display();
    pub(crate) fn could_not_write(path: &Path) = "could not write {}", path.display();
}

// ---- the reference in Markdown ----

pub(crate) const COMMANDS_TITLE: &str = "Commands";
pub(crate) const CAUSES_TITLE: &str = "Causes of slowness";
pub(crate) const DRIVES_TITLE: &str = "Simulated drives";

/// The page of all commands begins with this.
pub(crate) const COMMANDS_INTRODUCTION: &str = "\
Every command has a page with its manual, its options and their defaults. `likenew help COMMAND` and
`man likenew-COMMAND` show the same.";

/// The page of all causes begins with this.
pub(crate) const CAUSES_INTRODUCTION: &str = "\
What `likenew check` can find. Each page says how the cause looks, what confirms it, what rules it
out, and what fixes it. `likenew help NAME` shows the same.";

/// The page of all simulated drives begins with this.
pub(crate) const DRIVES_INTRODUCTION: &str = "\
Any of these is measured like a real drive, as `sim:NAME`. `likenew sim show NAME` draws what is
inside, and `--sources` lists where each value comes from.";

/// The heading of all options; a manual may have its own heading for those that matter.
pub(crate) const ALL_OPTIONS: &str = "All options";

/// The heading of the settings of simulated drives.
pub(crate) const SETTINGS: &str = "Names and settings";

/// The heading of the table of simulated drives.
pub(crate) const DRIVES_HEADER: &str = "\
| drive | size | model | technology |
|---|---|---|---|
";
