//! A set of dies that is searched round robin.

/// More dies than this are not supported.
pub(crate) const DIES_MAX: u32 = 256;

/// Some of the dies `0 .. DIES_MAX`.
#[derive(Clone, Copy, Default)]
pub(crate) struct DieSet {
    words: [u64; DIES_MAX as usize / 64],
}

impl DieSet {
    pub(crate) fn set(&mut self, die: u32, member: bool) {
        let bit = 1 << (die % 64);
        let word = &mut self.words[die as usize / 64];
        if member { *word |= bit } else { *word &= !bit }
    }

    pub(crate) fn contains(&self, die: u32) -> bool {
        self.words[die as usize / 64] >> (die % 64) & 1 == 1
    }

    /// The first member from `start` on, going round.
    pub(crate) fn next_from(&self, start: u32) -> Option<u32> {
        let count = self.words.len() as u32;
        // The first word counts twice: from its bit on, and at the end of the round up to it.
        (0..=count).find_map(|step| {
            let index = (start / 64 + step) % count;
            let from_bit = u64::MAX << (start % 64);
            let mask = match step {
                0 => from_bit,
                _ if step == count => !from_bit,
                _ => u64::MAX,
            };
            let word = self.words[index as usize] & mask;
            (word != 0).then(|| index * 64 + word.trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_search_goes_round(members in prop::collection::btree_set(0..DIES_MAX, 0..5), start in 0..DIES_MAX) {
            let mut set = DieSet::default();
            members.iter().for_each(|die| set.set(*die, true));
            let expected = members.range(start..).next().or(members.first()).copied();
            prop_assert_eq!(set.next_from(start), expected);
            members.iter().for_each(|die| set.set(*die, false));
            prop_assert_eq!(set.next_from(start), None);
        }
    }
}
