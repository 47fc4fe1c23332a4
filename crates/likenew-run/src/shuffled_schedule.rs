//! Whose turn it is among streams that share a pace.

use rand::{Rng, RngExt as _};

/// A deck of cards that is shuffled when it is empty: so many cards of each stream, drawn without putting back. What is
/// drawn is in exact proportion at the end of every deck, and never further from it than chance would be.
pub(crate) struct ShuffledSchedule {
    full: Vec<u32>,
    remaining: Vec<u32>,
    entries: u64,
}

impl ShuffledSchedule {
    /// Cards of one stream.
    pub(crate) fn new(weight: u32) -> Self {
        Self { full: vec![weight], remaining: vec![weight], entries: u64::from(weight) }
    }

    /// One more stream; before the first card is drawn.
    pub(crate) fn add(&mut self, weight: u32) {
        self.full.push(weight);
        self.remaining.push(weight);
        self.entries += u64::from(weight);
    }

    /// Whose card is on top, by the order in which streams were added.
    pub(crate) fn draw(&mut self, random: &mut impl Rng) -> usize {
        if self.entries == 0 {
            self.remaining.copy_from_slice(&self.full);
            self.entries = self.full.iter().copied().map(u64::from).sum();
        }
        let mut card = random.random_range(0..self.entries);
        self.entries -= 1;
        for (index, left) in self.remaining.iter_mut().enumerate() {
            if card < u64::from(*left) {
                *left -= 1;
                return index;
            }
            card -= u64::from(*left);
        }
        unreachable!("a card is one of those that are left")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn every_round_issues_each_stream_by_its_weight_in_random_order() {
        let mut schedule = ShuffledSchedule::new(5);
        schedule.add(0);
        schedule.add(95);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut first = Vec::new();
        for _ in 0..200 {
            let drawn: Vec<usize> = (0..100).map(|_| schedule.draw(&mut random)).collect();
            let count = |of| drawn.iter().filter(|index| **index == of).count();
            assert_eq!((count(0), count(1), count(2)), (5, 0, 95));
            first.push(drawn[0]);
        }
        // The first card is one of five in a hundred: 10 of 200, give or take 3.1; five times that is beyond chance.
        let rare = first.iter().filter(|index| **index == 0).count();
        assert!((1..=25).contains(&rare), "{rare}");
    }
}
