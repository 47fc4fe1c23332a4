//! Which bytes are examined: a systematic sample over all bytes of a group, taken in one pass over the files.

use std::rc::Rc;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The first distance between spots in bytes: what a drive compresses at a time.
const DISTANCE: u64 = 4096;

/// A place in a file.
#[derive(Debug)]
pub(super) struct Spot<F> {
    /// The file; spots of one file share it.
    pub(super) file: Rc<F>,
    /// Where in its data, as a share of it, `0 ..= 1`.
    pub(super) share: f64,
    /// Where in the bytes of the whole group.
    position: u64,
}

/// Keeps spots that lie equally far apart in all bytes that went by, from a random start: each byte has the
/// same chance, large files have many spots and small ones few. When there are too many, every other one is
/// dropped and the distance doubles, so that neither the number of files nor their size has to be known
/// beforehand (systematic sampling; Cochran, "Sampling Techniques", 1977, chapter 8).
pub(super) struct Spots<F> {
    spots: Vec<Spot<F>>,
    most: usize,
    distance: u64,
    next: u64,
    bytes: u64,
    random: Xoshiro256PlusPlus,
}

impl<F> Spots<F> {
    /// At most `most` spots, at least half as many once there are enough bytes.
    pub(super) fn new(most: usize, seed: u64) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let next = random.random_range(0..DISTANCE);
        Self { spots: Vec::new(), most: most.max(2), distance: DISTANCE, next, bytes: 0, random }
    }

    /// A file of so many bytes goes by.
    pub(super) fn add(&mut self, file: F, bytes: u64) {
        let end = self.bytes.saturating_add(bytes);
        if self.next < end {
            let file = Rc::new(file);
            while self.next < end {
                let share = (self.next - self.bytes) as f64 / bytes as f64;
                self.spots.push(Spot { file: Rc::clone(&file), share, position: self.next });
                self.next = self.next.saturating_add(self.distance);
                if self.spots.len() > self.most {
                    self.thin();
                }
            }
        }
        self.bytes = end;
    }

    fn thin(&mut self) {
        let first = self.random.random_range(0..2);
        let mut index = 0;
        self.spots.retain(|_| {
            index += 1;
            (index + first) % 2 == 0
        });
        self.distance = self.distance.saturating_mul(2);
        let last = self.spots.last().expect("of three or more, one stays").position;
        self.next = last.saturating_add(self.distance);
    }

    /// Bytes that have gone by.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// This many of the spots, or all there are, still spread evenly.
    pub(super) fn take(mut self, count: usize) -> Vec<Spot<F>> {
        let (kept, count) = (self.spots.len(), count.min(self.spots.len()));
        let offset: f64 = self.random.random();
        let chosen = |index: usize| ((index as f64 + offset) * kept as f64 / count as f64) as usize;
        let mut chosen = (0..count).map(|index| chosen(index).min(kept - 1)).peekable();
        let spots = self.spots.into_iter().enumerate();
        spots.filter_map(|(index, spot)| chosen.next_if_eq(&index).map(|_| spot)).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn spots_are_spread_by_bytes(files in prop::collection::vec(0u64..50_000_000, 1..200), seed: u64) {
            let mut spots = Spots::new(512, seed);
            files.iter().enumerate().for_each(|(index, bytes)| spots.add(index, *bytes));
            let total: u64 = files.iter().sum();
            prop_assert_eq!(spots.bytes(), total);
            let taken = spots.take(200);
            prop_assert!(taken.len() == 200 || taken.len() as u64 + 1 >= total / DISTANCE);
            for spot in &taken {
                prop_assert!((0.0..1.0).contains(&spot.share) && files[*spot.file] > 0);
            }
            // Each file's part of the spots is its part of the bytes, give or take what rounding does.
            for (index, bytes) in files.iter().enumerate() {
                let found = taken.iter().filter(|spot| *spot.file == index).count() as f64;
                let fair = taken.len() as f64 * *bytes as f64 / total.max(1) as f64;
                prop_assert!((found - fair).abs() <= 2.5, "{} of {} in file {}, {} are fair", found, taken.len(), index, fair);
            }
        }
    }

    #[test]
    fn every_byte_has_the_same_chance() {
        let mut in_first_half = 0;
        for seed in 0..400 {
            let mut spots = Spots::new(3, seed);
            spots.add((), 1 << 20);
            in_first_half += spots.take(1).iter().filter(|spot| spot.share < 0.5).count();
        }
        assert!((150..250).contains(&in_first_half), "{in_first_half} of 400");
    }
}
