//! Which host pages have an entry in an erase block whose entries are of variable size.

use serde::{Deserialize, Serialize};

/// A block forgets its stale entries when they are more than the valid ones and so many, so that the lists of all blocks
/// together stay in proportion to the pages of the host, however small its entries are.
pub(super) const STALE_ENTRIES_SLACK: u32 = 64;

/// The valid and some stale entries of a block.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct BlockEntries {
    /// In the order in which they were written.
    pages: Vec<u32>,
    /// How many of them are valid.
    valid: u32,
}

impl BlockEntries {
    /// The host pages, in the order in which they were written.
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// A page is written to the block.
    #[inline]
    pub(super) fn push(&mut self, page: u32) {
        self.pages.push(page);
        self.valid += 1;
    }

    /// An entry is not valid any more; returns whether it is time to [forget](Self::forget_stale) such entries.
    #[inline]
    pub(super) fn lose(&mut self) -> bool {
        self.valid -= 1;
        self.pages.len() as u32 > 2 * self.valid + STALE_ENTRIES_SLACK
    }

    /// Keeps valid entries only: those that begin between `start` and `end`. A page that was written to the block more than
    /// once is valid where it was written last, so that a valid entry begins before all valid ones behind it.
    pub(super) fn forget_stale(&mut self, start: u32, mut end: u32, granule: impl Fn(u32) -> Option<u32>) {
        self.pages.reverse();
        self.pages.retain(|page| {
            let valid = granule(*page).filter(|granule| (start..end).contains(granule));
            end = valid.unwrap_or(end);
            valid.is_some()
        });
        self.pages.reverse();
        self.shrink();
        assert_eq!(self.pages.len() as u32, self.valid, "the valid entries of a block are in its list");
    }

    /// Gives back memory that a closed block does not need.
    pub(super) fn shrink(&mut self) {
        self.pages.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_entry_of_a_page_is_kept_and_only_if_it_is_here() {
        let mut entries = BlockEntries::default();
        [7, 3, 7, 5, 9].into_iter().for_each(|page| entries.push(page));
        // Page 7 is valid at its second entry, page 5 elsewhere, page 9 nowhere.
        (0..3).for_each(|_| assert!(!entries.lose()));
        let granule = |page: u32| [(7, 120), (3, 110), (5, 90)].into_iter().find(|(of, _)| *of == page);
        entries.forget_stale(100, 200, |page| granule(page).map(|(_, granule)| granule));
        assert_eq!(entries.pages(), [3, 7]);
    }

    #[test]
    fn it_is_time_to_forget_when_most_is_stale() {
        let mut entries = BlockEntries::default();
        (0..200).for_each(|page| entries.push(page));
        assert_eq!((0..200).position(|_| entries.lose()), Some(132), "67 valid, 133 stale");
    }
}
