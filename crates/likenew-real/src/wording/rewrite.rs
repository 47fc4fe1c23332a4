//! Why a file is not rewritten in place.

use std::fmt::Display;

// ## Clauses: why a file is not rewritten in place (`not_rewritten` puts the path before them)

pub(crate) fn not_rewritten(path: impl Display, reason: &str) -> String {
    format!("{path} is not rewritten: {reason}. Nothing was changed")
}

pub(crate) const NOT_REGULAR: &str = "it is not a regular file";
pub(crate) const CAPABILITIES: &str = "it is a program with capabilities, which every write removes";
pub(crate) const REPLACED: &str = "it was replaced by another file during the check; start again";
pub(crate) const TIMES_DAMAGED: &str = "its recorded times cannot be read: the journal is damaged";
pub(crate) const OPEN_ELSEWHERE: &str =
    "another program has it open, runs it or maps it; close that program first";
pub(crate) const OTHER_WAYS: &str = "its file system shows a file of another one, through which programs may change it \
     meanwhile; rewrite it there";
pub(crate) const LOCK_NEEDS_OWNER: &str = "only its owner and root may lock it while it is rewritten";
pub(crate) const NO_LEASES: &str =
    "its file system has no leases to lock it while it is rewritten; copy it instead";
pub(crate) const IS_A_LINK: &str = "it is a symbolic link; give its target";
pub(crate) const EMPTY: &str = "it is empty";
pub(crate) const SET_ID: &str = "it is set-user-ID or set-group-ID, which a write may remove";
pub(crate) const IMMUTABLE: &str = "it is immutable; allow changes first (chattr -i)";
pub(crate) const APPEND_ONLY: &str = "it is append-only; allow changes first (chattr -a)";
pub(crate) const VERITY: &str = "fs-verity protects it from any change";
pub(crate) const COMPRESSED: &str =
    "its file system compresses it, so rewriting would move it; copy it instead";
pub(crate) const RUNNING_OR_SWAP: &str = "it is a running program or swap; stop that first";
pub(crate) const ACCESS_TIME_NEEDS_OWNER: &str =
    "only its owner and root may do this without changing its access time";
pub(crate) const PATH_HAS_A_LINK: &str = "a part of its path is a symbolic link; give its target";
pub(crate) const PATH_LEAVES_FOLDER: &str = "its path leads out of the folder, or to another file system";
pub(crate) const NO_OPENAT2: &str =
    "this kernel cannot open files without following links (openat2, Linux 5.6)";

pub(crate) fn wanted_elsewhere(path: impl Display) -> String {
    format!("another program wants to open {path}")
}

pub(crate) fn shared_blocks_unknown(kind: &str) -> String {
    format!("its file system ({kind}) does not report which of its blocks are shared; copy it instead")
}

pub(crate) const SHORTER_THAN_A_BLOCK: &str = "it is the end of the file, shorter than a block";

/// What a file is known by in a journal: it is compared whole, so its form must not change.
pub(crate) fn file_identity(
    inode: u64,
    birth_time: Option<(i64, u32)>,
    generation: Option<u32>,
    bytes: u64,
) -> String {
    let birth = birth_time
        .map_or(String::new(), |(seconds, nanoseconds)| format!(", made at {seconds}.{nanoseconds:09}"));
    let generation = generation.map_or(String::new(), |number| format!(", generation {number}"));
    format!("file with inode {inode}{birth}{generation}, {bytes} bytes")
}
