//! The plan at the beginning of a journal: what is rewritten, on which store, and how.

use std::ops::Range;

use likenew_core::drive::BlockStore;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_64;

use crate::error::RefreshError;
use crate::ranges::{RANGES_MAX, Ranges, fingerprint, witnesses};
use crate::record::BLOCK;
use crate::wording;

/// As long as the units in which SD cards prefer writes. Making a journal durable costs little in comparison,
/// and a stop still comes within a second.
pub const CHUNK_BYTES_DEFAULT: u32 = 4 << 20;

/// Longest chunk: three chunks are in memory when a refresh is resumed.
pub const CHUNK_BYTES_MAX: u32 = 64 << 20;

/// Longest block of a store.
const STORE_BLOCK_MAX: u32 = 64 << 10;
/// Most bytes of a name or a note.
const TEXT_BYTES_MAX: usize = 64 << 10;
/// Most bytes of a plan.
pub(crate) const PLAN_BYTES_MAX: u64 = 64 << 20;

/// What is known of a store without its journal. The journal must agree with it.
#[derive(Clone, Copy, Debug)]
pub struct StoreFacts<'a> {
    /// The identity of the store.
    pub identity: &'a str,
    /// Further places that are not rewritten, as in [`Task::marks`].
    pub marks: &'a [Range<u64>],
}

impl<'a> From<&'a str> for StoreFacts<'a> {
    fn from(identity: &'a str) -> Self {
        Self { identity, marks: &[] }
    }
}

/// Settings of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Bytes that are read, saved and written at once: a power of two, at least 4096.
    pub chunk_bytes: u32,
    /// Whether chunks of only zeros are left unwritten, because writing them could allocate flash that was free.
    pub skips_zeros: bool,
    /// Whether written data is read back.
    pub verify: Verify,
}

/// Whether written data is read back through the store after a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verify {
    /// All written data is read back while the journal still holds it. A sample would release bytes from the
    /// journal that were never checked, and data just written reads fast.
    All,
    /// No check.
    Off,
}

impl Default for Settings {
    fn default() -> Self {
        Self { chunk_bytes: CHUNK_BYTES_DEFAULT, skips_zeros: true, verify: Verify::All }
    }
}

/// The whole plan as stored in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub(crate) identity: String,
    pub(crate) note: String,
    pub(crate) bytes: u64,
    pub(crate) block: u32,
    pub(crate) settings: Settings,
    pub(crate) fingerprint: u64,
    witnesses: Vec<[u64; 2]>,
    ranges: Vec<[u64; 2]>,
}

/// What to refresh: set once, and kept in the journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Task {
    /// The identity of the store, such as its drive's serial number. A refresh resumes only on the same store.
    pub identity: String,
    /// Anything else needed to resume.
    pub note: String,
    /// What to rewrite: ascending, in whole blocks, without overlaps. Leave out what is not in use.
    pub ranges: Vec<Range<u64>>,
    /// Further places that change whenever the store is used, such as the first MiB of each partition of a
    /// whole drive. They are not rewritten.
    pub marks: Vec<Range<u64>>,
    /// The settings.
    pub settings: Settings,
}

impl Plan {
    /// Checks the task and reads the witnesses.
    pub(crate) fn new(task: &Task, store: &mut impl BlockStore) -> Result<Self, RefreshError> {
        let (bytes, block) = (store.bytes(), store.block());
        let marks = witnesses(bytes, block, &task.marks);
        let ranges = Ranges::new(&task.ranges, bytes, block)?.subtract(&marks);
        let fingerprint = fingerprint(&marks, store)?;
        let plan = Self {
            identity: task.identity.clone(),
            note: task.note.clone(),
            bytes,
            block,
            settings: task.settings,
            fingerprint,
            witnesses: pairs(&marks),
            ranges: pairs(&ranges),
        };
        plan.validate().map_err(RefreshError::Unsuitable)?;
        Ok(plan)
    }

    /// What is rewritten and what is never rewritten, if the plan is consistent.
    ///
    /// # Errors
    /// Why the plan is inconsistent: a sentence without a full stop.
    pub(crate) fn validate(&self) -> Result<(Ranges, Ranges), String> {
        let Self { bytes, block, settings: Settings { chunk_bytes, .. }, .. } = *self;
        if !block.is_power_of_two()
            || !(512..=STORE_BLOCK_MAX).contains(&block)
            || bytes % u64::from(block) != 0
        {
            return Err(wording::unsuitable_store(bytes, block));
        }
        let least = block.max(BLOCK as u32);
        if !chunk_bytes.is_power_of_two() || !(least..=CHUNK_BYTES_MAX).contains(&chunk_bytes) {
            return Err(wording::unsuitable_chunk(chunk_bytes, least, CHUNK_BYTES_MAX));
        }
        if self.identity.len() > TEXT_BYTES_MAX || self.note.len() > TEXT_BYTES_MAX {
            return Err(wording::LONG_TEXT.to_owned());
        }
        if self.ranges.len() > RANGES_MAX || self.witnesses.len() > RANGES_MAX {
            return Err(wording::ranges_beyond(RANGES_MAX));
        }
        let read = |pairs: &[[u64; 2]]| {
            let ranges: Vec<Range<u64>> = pairs.iter().map(|[start, end]| *start..*end).collect();
            Ranges::new(&ranges, bytes, block).map_err(|error| error.to_string())
        };
        let (ranges, witnesses) = (read(&self.ranges)?, read(&self.witnesses)?);
        if ranges.subtract(&witnesses) != ranges {
            return Err(wording::RANGES_OVERLAP.to_owned());
        }
        Ok((ranges, witnesses))
    }

    /// The head of a journal: a line for people, a line with length and hash, the plan as JSON, and zeros up
    /// to a whole block.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let json = serde_json::to_vec(self).expect("numbers and texts are JSON");
        let mut head = format!("{TITLE}{VERSION}\n{:010} {:016x}\n", json.len(), hash(&json)).into_bytes();
        head.extend(json);
        head.resize(head.len().next_multiple_of(BLOCK), 0);
        head
    }

    /// Reads the head of a journal of `bytes` bytes, and returns its plan, the plan's hash and the head's
    /// length. `read` returns this many bytes from the journal's beginning.
    ///
    /// # Errors
    /// The file is not our journal, or is damaged.
    pub(crate) fn decode(
        bytes: u64,
        mut read: impl FnMut(usize) -> Result<Vec<u8>, RefreshError>,
    ) -> Result<(Self, u64, u64), RefreshError> {
        let none = |reason: &str| RefreshError::NoJournal(reason.to_owned());
        if bytes < BLOCK as u64 {
            return Err(none(wording::TOO_SHORT));
        }
        let first = read(BLOCK)?;
        let other = || none(wording::OTHER_BEGINNING);
        let rest = first.strip_prefix(TITLE.as_bytes()).ok_or_else(other)?;
        let line = rest.iter().take(16).position(|byte| *byte == b'\n').ok_or_else(other)?;
        let (version, rest) = (&rest[..line], &rest[line + 1..]);
        if version != VERSION.as_bytes() {
            return Err(RefreshError::OtherVersion(
                String::from_utf8_lossy(version).escape_default().to_string(),
            ));
        }
        let line = std::str::from_utf8(&rest[..28]).ok().and_then(|line| line.strip_suffix('\n'));
        let (length, expected) = line
            .and_then(|line| line.split_once(' '))
            .and_then(|(length, hash)| Some((length.parse().ok()?, u64::from_str_radix(hash, 16).ok()?)))
            .ok_or_else(|| none(wording::SECOND_LINE_DAMAGED))?;
        let start = TITLE.len() + VERSION.len() + 1 + 28;
        let length: u64 = length;
        if length > PLAN_BYTES_MAX || start as u64 + length > bytes {
            return Err(none(wording::PLAN_INCOMPLETE));
        }
        let end = start + length as usize;
        let json = &read(end)?[start..];
        if hash(json) != expected {
            return Err(none(wording::PLAN_DAMAGED));
        }
        let plan: Self = serde_json::from_slice(json)
            .map_err(|error| RefreshError::Damaged(wording::invalid_plan(&error)))?;
        plan.validate().map_err(RefreshError::Damaged)?;
        Ok((plan, expected, end.next_multiple_of(BLOCK) as u64))
    }
}

const TITLE: &str = "likenew refresh journal: keep this file until the refresh has finished. Version ";
const VERSION: &str = "2";

fn hash(json: &[u8]) -> u64 {
    XxHash3_64::oneshot(json)
}

fn pairs(ranges: &Ranges) -> Vec<[u64; 2]> {
    ranges.as_slice().iter().map(|range| [range.start, range.end]).collect()
}
