//! The variable parts of the sentences of [`RefreshError`](crate::RefreshError): why a task, a journal or its file is refused.

use std::ops::Range;
use std::path::Path;

// Tasks that cannot be done

likenew_core::sentences! {
    pub(crate) fn empty_range(range: &Range<u64>) =
        "bytes {range:?} cannot be refreshed: there is nothing between them";
    pub(crate) fn range_beyond_end(range: &Range<u64>, bytes: u64) =
        "bytes {range:?} cannot be refreshed: there are only {bytes} bytes";
    pub(crate) fn range_not_in_blocks(range: &Range<u64>, block: u64) =
        "bytes {range:?} cannot be refreshed: they are not whole blocks of {block} bytes";
    /// `end` is where the previous range ends.
    pub(crate) fn overlapping_range(range: &Range<u64>, end: u64) =
        "bytes {range:?} cannot be refreshed: they begin before byte {end}, where those in front of them end";
    pub(crate) fn too_many_ranges(count: usize, most: usize) =
        "{count} ranges are more than the {most} that one refresh keeps; do them in several";
}

// Impossible plans, of a task or in a journal

likenew_core::sentences! {
    pub(crate) fn unsuitable_store(bytes: u64, block: u32) =
        "{bytes} bytes in blocks of {block} cannot be refreshed";
    pub(crate) fn unsuitable_chunk(bytes: u32, least: u32, most: u32) =
        "chunks of {bytes} bytes are not possible; use a power of two from {least} to {most}";
    pub(crate) fn ranges_beyond(most: usize) = "more than {most} ranges are too many";
}

pub(crate) const LONG_TEXT: &str = "its name or its note is too long";
pub(crate) const RANGES_OVERLAP: &str = "what is rewritten and what is left alone overlap";

// Files that are not a whole journal

pub(crate) const TOO_SHORT: &str = "it is too short";
pub(crate) const OTHER_BEGINNING: &str = "it is not a journal";
pub(crate) const SECOND_LINE_DAMAGED: &str = "its second line is damaged";
pub(crate) const PLAN_INCOMPLETE: &str = "its plan is incomplete";
pub(crate) const PLAN_DAMAGED: &str = "its plan is damaged";

// Journals that are damaged

likenew_core::sentences! {
    pub(crate) fn invalid_plan(error: &serde_json::Error) = "its plan is invalid: {error}";
    pub(crate) fn other_length(bytes: u64, expected: u64) = "it has {bytes} bytes instead of {expected}";
    pub(crate) fn foreign_slot(index: u64) = "copy {index} holds what this refresh has not written";
    pub(crate) fn chunks_without_plan(reason: &str) = "{reason}, and chunks were saved in it";
    pub(crate) fn copy_not_whole(offset: u64, length: u64) =
        "its copy of the {length} bytes at {offset} is damaged, and the data there does not match it";
    /// The store in a refusal of a journal that may belong to another store.
    pub(crate) fn store(identity: &str, bytes: u64, block: u32) =
        "{identity}, {bytes} bytes in blocks of {block}";
}

pub(crate) const SLOTS_OUT_OF_ORDER: &str = "its copies are out of order";
pub(crate) const NO_WHOLE_SLOT: &str = "both of its copies are damaged, which no power cut explains";

// Files in the place of a journal that need not be our own

likenew_core::sentences! {
    pub(crate) fn other_owner(owner: u32, own: u32) =
        "it belongs to user {owner}, and this runs as user {own}: only its owner can continue it";
    pub(crate) fn too_many_salvage_files(first: &Path, most: u32) =
        "{} and {most} files with further numbers are there already; check them, and move them away",
        first.display();
}

pub(crate) const EXISTS: &str = "it is there already, so no journal can be begun";
pub(crate) const REPLACED: &str = "the journal was replaced by another file";
pub(crate) const MOUNT_POINT: &str = "something is mounted on it";
pub(crate) const SYMLINK: &str = "it is a symbolic link";
pub(crate) const NOT_REGULAR: &str = "it is not a regular file";
pub(crate) const OTHERS_WRITE: &str = "users other than its owner can write to it";
pub(crate) const OTHER_LINKS: &str = "it has other names (hard links), or none";
pub(crate) const TOO_LONG: &str = "it is longer than any journal";
