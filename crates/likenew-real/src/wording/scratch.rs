//! Refusals of folder targets: space, leftovers of other runs, the marker.

use std::fmt::Display;
use std::path::Path;

use likenew_core::units::amount;

// ## Folder targets: space, leftovers, the marker

pub(crate) fn leftover(path: &Path, started: Option<&str>, files: u64, bytes: u64) -> String {
    let started = started.map_or(String::new(), |date| format!(" of {date}"));
    format!(
        "{} was left by an earlier run{started} that could not delete it: {files} files, {}; let Likenew \
         remove it, or delete it yourself",
        path.display(),
        amount(bytes)
    )
}

pub(crate) fn busy(process: Option<&str>, folder: &Path) -> String {
    let process = process.map_or(String::new(), |id| format!(" (process {id})"));
    format!("another likenew run{process} is measuring {}: wait until it has ended", folder.display())
}

pub(crate) const NOT_A_FOLDER: &str = "is not a folder";
pub(crate) const NO_MARKER: &str = "has no Likenew marker in it";

pub(crate) fn in_the_way(path: impl Display, what: &str) -> String {
    format!(
        "{path} is in the way and {what}, so Likenew leaves it alone: move it away, or use another folder"
    )
}

pub(crate) fn foreign_files(names: &[String]) -> String {
    format!("it holds files that Likenew did not make ({})", names.join(", "))
}

pub(crate) fn run_just_ended(folder: impl Display) -> String {
    format!("another likenew run has just ended in {folder}: start again")
}

pub(crate) fn removed_meanwhile(path: impl Display) -> String {
    format!("another likenew run removed {path} just now: start again")
}

pub(crate) fn no_space(path: &Path, free: u64, reserve: u64) -> String {
    format!(
        "no space to write in {}: {} are free, and {} are reserved; free some space, or give a smaller \
         --reserve",
        path.display(),
        amount(free),
        amount(reserve)
    )
}

pub(crate) fn does_not_fit(path: &Path, wanted: u64, free: u64, reserve: u64, usable: u64) -> String {
    format!(
        "{} do not fit into {}: {} are free and {} of them stay in reserve, which leaves {}; use less, free \
         some space, or give a smaller --reserve",
        amount(wanted),
        path.display(),
        amount(free),
        amount(reserve),
        amount(usable)
    )
}

pub(crate) fn empty_layout(files: u32, file_bytes: u64) -> String {
    format!("{files} files of {file_bytes} bytes hold nothing: give at least one file of at least one byte")
}

pub(crate) fn layout_not_aligned(file_bytes: u64, block: &str, folder: impl Display) -> String {
    format!("files of {file_bytes} bytes are not a multiple of the {block}-byte blocks of {folder}")
}

pub(crate) fn is_scratch_folder(folder: impl Display) -> String {
    format!("{folder} is a temporary folder of Likenew: give its parent folder")
}

pub(crate) fn too_many_extents(extents: usize) -> String {
    format!("the files have {extents} extents or more, too many to keep")
}

pub(crate) const FILE_SYSTEM_NOT_LISTED: &str = "the file system is not listed in /proc";

pub(crate) fn too_little_left(needed: u64, left: u64) -> String {
    format!("it needs {}, and only {} are left above the reserve", amount(needed), amount(left))
}

pub(crate) const NOT_FOR_FOLDERS: &str = "a folder does not support this";

pub(crate) fn too_many_files(files: u64, limit: u64, kept: u64) -> String {
    format!(
        "{files} files are more than can be open at once (the limit is {limit}, and {kept} of them are \
         needed otherwise): use fewer and larger files, or raise the limit (ulimit -n)"
    )
}

/// The first line of every marker: what tells our directory from another of the same name.
pub(crate) const MARKER_LINE: &str = "This is a temporary folder of Likenew.";

/// The text of a marker file. `first_line` and the line of the process are read back by later runs.
pub(crate) fn marker(process_label: &str, process: u32, date: &str) -> String {
    format!(
        "{MARKER_LINE}\n\n\
         Likenew measures drives. It made this folder for temporary files, which hold no data of yours.\n\
         It removes the folder when it ends. If no likenew is running, the run was interrupted: you may delete\n\
         the folder with everything in it, or the next likenew in this place offers to do so.\n\n\
         {process_label}{process}\nstarted: {date}\n"
    )
}
