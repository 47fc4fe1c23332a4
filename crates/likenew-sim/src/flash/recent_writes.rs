//! Which pages of the host are written often.

use serde::{Deserialize, Serialize};

/// A window takes this share of as many writes as the host has pages.
const WINDOWS_PER_DRIVE_WRITE: u32 = 4;

/// Remembers which pages the host wrote in the current window of its writes and in the one before, with two bits a page.
///
/// A page is hot if it was written in either of them. This is the sliding window over addresses that Park and Du take as the
/// ideal ("Hot data identification for flash-based storage systems using multiple Bloom filters", MSST 2011), with two
/// windows and without a filter's mistakes. A window of a quarter of a drive write is assumed.
#[derive(Serialize, Deserialize)]
pub(crate) struct RecentWrites {
    now: Vec<u64>,
    before: Vec<u64>,
    writes: u32,
    window: u32,
}

impl RecentWrites {
    pub(crate) fn new(user_pages: u32) -> Self {
        let words = user_pages.div_ceil(u64::BITS) as usize;
        let window = user_pages.div_ceil(WINDOWS_PER_DRIVE_WRITE);
        Self { now: vec![0; words], before: vec![0; words], writes: 0, window }
    }

    /// Notes a write; answers whether the page was hot before it.
    #[inline]
    pub(crate) fn note(&mut self, page: u32) -> bool {
        if self.writes == self.window {
            self.writes = 0;
            std::mem::swap(&mut self.now, &mut self.before);
            self.now.fill(0);
        }
        self.writes += 1;
        let (word, bit) = ((page / u64::BITS) as usize, 1 << (page % u64::BITS));
        let hot = (self.now[word] | self.before[word]) & bit != 0;
        self.now[word] |= bit;
        hot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_hot_within_two_windows() {
        let mut recent = RecentWrites::new(400);
        assert!(!recent.note(7));
        assert!(recent.note(7));
        // The rest of this window and all of the next.
        (100..298).for_each(|page| assert!(!recent.note(page)));
        assert!(recent.note(250), "it was written in the window before");
        assert!(!recent.note(7), "it was written two windows ago");
        assert!(recent.note(7));
    }
}
