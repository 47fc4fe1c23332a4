//! The volume of a trace that is read, and the volumes it has.

use rustc_hash::FxHashMap;

use crate::error::LineError;

/// Of longer volume names only the beginning is compared.
const LENGTH_MAX: usize = 1024;

/// No more volumes are counted.
const VOLUMES_MAX: usize = 10_000;

/// Volumes that are named in an error.
const LISTED_MAX: usize = 12;

/// How the file spells a volume's name, and how users do: the byte between its two parts.
#[derive(Clone, Copy)]
pub(crate) struct Spelling {
    pub(crate) file: u8,
    pub(crate) display_name: u8,
}

impl Spelling {
    /// The file spells the name as users do.
    pub(crate) const PLAIN: Self = Self { file: b',', display_name: b',' };
}

/// The volume that is read.
pub(crate) struct Volumes {
    spelling: Spelling,
    /// The one that was asked for, or else that of the first record, as the file spells it.
    selection: Option<Box<[u8]>>,
    is_selected: bool,
    /// Records that were read.
    read: u64,
    /// Whether records are only counted by now.
    counting: bool,
    census: FxHashMap<Box<[u8]>, u64>,
}

impl Volumes {
    pub(crate) fn new(is_selected: Option<&str>, spelling: Spelling) -> Self {
        let selection = is_selected
            .map(|name| swap_separators(name.as_bytes(), spelling.display_name, spelling.file).into());
        let is_selected = is_selected.is_some();
        Self { spelling, selection, is_selected, read: 0, counting: false, census: FxHashMap::default() }
    }

    /// Whether a record of this volume is to be read; it counts.
    #[inline]
    pub(crate) fn selects(&mut self, name: &[u8]) -> Result<bool, LineError> {
        if self.is_chosen(name) {
            self.read += 1;
            return Ok(true);
        }
        self.skip_other(name)
    }

    /// Whether this is the volume that is read.
    #[inline]
    pub(crate) fn is_chosen(&self, name: &[u8]) -> bool {
        !self.counting && self.selection.as_deref() == Some(name)
    }

    fn skip_other(&mut self, name: &[u8]) -> Result<bool, LineError> {
        let name = &name[..name.len().min(LENGTH_MAX)];
        if self.selection.is_none() {
            self.selection = Some(name.into());
            self.read = 1;
            return Ok(true);
        }
        if !self.is_selected && !self.counting {
            return Err(LineError::AnotherVolume);
        }
        // Once the right one is found, the others are no longer needed.
        if self.counting || self.read == 0 {
            if let Some(count) = self.census.get_mut(name) {
                *count += 1;
            } else if self.census.len() < VOLUMES_MAX {
                self.census.insert(name.into(), 1);
            }
        }
        Ok(false)
    }

    /// From now on records are counted by volume, and none is read.
    pub(crate) fn begin_census(&mut self) {
        self.counting = true;
        if let Some(first) = self.selection.clone() {
            *self.census.entry(first).or_default() += self.read;
        }
    }

    /// The volume that is read, as users spell it.
    pub(crate) fn selection(&self) -> Option<String> {
        self.selection
            .as_ref()
            .filter(|name| self.read > 0 && !name.is_empty())
            .map(|name| self.display_name(name))
    }

    /// The volume that was asked for and not found.
    pub(crate) fn missing(&self) -> Option<String> {
        self.selection
            .as_ref()
            .filter(|_| self.is_selected && self.read == 0)
            .map(|name| self.display_name(name))
    }

    /// The volumes that were counted: those with most records, and how many more there are.
    pub(crate) fn volume_list(&self) -> String {
        let mut volumes: Vec<(&[u8], u64)> =
            self.census.iter().map(|(name, count)| (&**name, *count)).collect();
        volumes.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let named = volumes.iter().take(LISTED_MAX);
        let named: Vec<String> =
            named.map(|(name, count)| format!("{} ({count})", self.display_name(name))).collect();
        let more = volumes.len().saturating_sub(LISTED_MAX);
        let at_least = if volumes.len() == VOLUMES_MAX { "at least " } else { "" };
        match more {
            0 => named.join(", "),
            _ => format!("{} and {at_least}{more} more", named.join(", ")),
        }
    }

    fn display_name(&self, name: &[u8]) -> String {
        String::from_utf8_lossy(&swap_separators(name, self.spelling.file, self.spelling.display_name))
            .into_owned()
    }
}

/// The name with the last `from` of it replaced.
fn swap_separators(name: &[u8], from: u8, to: u8) -> Vec<u8> {
    let mut name = name.to_vec();
    if let Some(last) = name.iter_mut().rev().find(|byte| **byte == from) {
        *last = to;
    }
    name
}
