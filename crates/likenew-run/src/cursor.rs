//! Walks the addresses of one copy of a stream.

use std::ops::Range;

use likenew_core::target::Geometry;
use likenew_core::workload::AccessPattern;
use rand::{Rng, RngExt as _};
use rand_distr::{Distribution as _, Zipf};

/// A prime above any count of places on a drive of 2⁶³ bytes, so that multiplying by it modulo that count visits every
/// place once.
const SCATTER: u128 = 9_223_372_036_854_775_837;

/// The address of the next I/O.
pub(crate) enum Cursor {
    /// No I/O crosses a multiple of `boundary`.
    Sequential {
        range: Range<u64>,
        at: u64,
        boundary: u64,
    },
    Random {
        range: Range<u64>,
    },
    Strided {
        range: Range<u64>,
        at: u64,
        step: u64,
    },
    RandomAligned {
        range: Range<u64>,
        align: u64,
    },
    Zipf {
        range: Range<u64>,
        theta: f64,
        ranks: Option<(u64, Zipf<f64>)>,
    },
}

impl Cursor {
    /// For a copy of a stream whose resolved zone is `range`.
    pub(crate) fn new(
        place: &AccessPattern,
        range: Range<u64>,
        geometry: &Geometry,
        copy: u32,
        copies: u32,
    ) -> Self {
        match *place {
            AccessPattern::Sequential(_) => {
                let part = part(&range, geometry.block, copy, copies);
                Self::Sequential {
                    at: part.start,
                    range: part,
                    boundary: geometry.boundary.unwrap_or(u64::MAX),
                }
            }
            AccessPattern::Random(_) => Self::Random { range },
            AccessPattern::Strided { step, .. } => Self::Strided { at: range.start, range, step },
            AccessPattern::RandomAligned { align, .. } => Self::RandomAligned { range, align },
            AccessPattern::Zipf { theta, .. } => Self::Zipf { range, theta, ranks: None },
        }
    }

    /// The offset and length of the next I/O of `length` bytes. Only the last one before the end of a
    /// sequential zone, or of a file in it, is shorter.
    pub(crate) fn next(&mut self, length: u32, random: &mut impl Rng) -> (u64, u32) {
        match self {
            Self::Sequential { range, at, boundary } => {
                let offset = *at;
                let left = range.end - offset;
                let length = u64::from(length).min(left).min(*boundary - offset % *boundary);
                *at = if length == left { range.start } else { offset + length };
                (offset, length as u32)
            }
            Self::Random { range } => {
                let places = (range.end - range.start) / u64::from(length);
                (range.start + random.random_range(0..places) * u64::from(length), length)
            }
            Self::Strided { range, at, step } => {
                if *at > range.end - u64::from(length) {
                    *at = range.start;
                }
                let offset = *at;
                *at = offset.saturating_add(*step);
                (offset, length)
            }
            Self::RandomAligned { range, align } => {
                let places = (range.end - range.start - u64::from(length)) / *align + 1;
                (range.start + random.random_range(0..places) * *align, length)
            }
            Self::Zipf { range, theta, ranks } => {
                let places = (range.end - range.start) / u64::from(length);
                let law = match ranks {
                    Some((known, law)) if *known == places => law,
                    _ => &mut ranks.insert((places, zipf(places, *theta))).1,
                };
                let rank = law.sample(random) as u64 - 1;
                let place = (u128::from(rank) * SCATTER % u128::from(places)) as u64;
                (range.start + place * u64::from(length), length)
            }
        }
    }
}

fn zipf(places: u64, theta: f64) -> Zipf<f64> {
    Zipf::new(places as f64, theta).expect("a workload is checked before it runs: places ≥ 1, θ > 0")
}

/// The copy's equal part of the range, in whole blocks; the last part takes the rest.
fn part(range: &Range<u64>, block: u32, copy: u32, copies: u32) -> Range<u64> {
    let length = (range.end - range.start) / u64::from(copies);
    let length = length - length % u64::from(block);
    let start = range.start + u64::from(copy) * length;
    let end = if copy + 1 == copies { range.end } else { start + length };
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::region::Region;
    use likenew_core::target::Clock;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn random() -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(1)
    }

    #[test]
    fn forward_covers_everything_once_a_round_whatever_the_copies() {
        for copies in [1, 3, 16] {
            let mut covered = vec![0; 1000];
            for copy in 0..copies {
                let place = AccessPattern::Sequential(Region::WHOLE);
                let mut cursor = Cursor::new(&place, 0..1_000 * 512, &geometry(512, None), copy, copies);
                loop {
                    let (offset, length) = cursor.next(8 * 512, &mut random());
                    for block in offset / 512..(offset + u64::from(length)) / 512 {
                        covered[block as usize] += 1;
                    }
                    if let Cursor::Sequential { range, at, .. } = &cursor
                        && *at == range.start
                    {
                        break;
                    }
                }
            }
            assert!(covered.iter().all(|times| *times == 1), "{copies} copies");
        }
    }

    fn geometry(block: u32, boundary: Option<u64>) -> Geometry {
        Geometry {
            capacity: 1 << 30,
            block,
            boundary,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Virtual,
        }
    }

    #[test]
    fn several_lengths_in_sequence_cross_no_file() {
        let place = AccessPattern::Sequential(Region::WHOLE);
        let mut cursor = Cursor::new(&place, 0..10 * 65_536, &geometry(4096, Some(65_536)), 0, 1);
        let mut at = 0;
        for io in 0..1000u32 {
            let (offset, length) = cursor.next([4096, 65_536, 16_384][io as usize % 3], &mut random());
            assert_eq!(offset, at % (10 * 65_536));
            assert_eq!(offset / 65_536, (offset + u64::from(length) - 1) / 65_536);
            at = offset + u64::from(length);
        }
    }

    #[test]
    fn random_places_stay_inside_and_reach_everything() {
        let range = 4096..4096 + 100 * 4096;
        for place in
            [AccessPattern::Random(Region::WHOLE), AccessPattern::Zipf { region: Region::WHOLE, theta: 0.5 }]
        {
            let mut cursor = Cursor::new(&place, range.clone(), &geometry(4096, None), 0, 1);
            let (mut random, mut visited) = (random(), std::collections::HashSet::new());
            for _ in 0..10_000 {
                let (offset, length) = cursor.next(4096, &mut random);
                assert!(
                    range.contains(&offset) && offset % 4096 == 0 && offset + u64::from(length) <= range.end
                );
                visited.insert(offset);
            }
            assert_eq!(visited.len(), 100, "{place:?}");
        }
    }

    #[test]
    fn strides_reach_every_step_and_begin_again() {
        let place = AccessPattern::Strided { region: Region::WHOLE, step: 12_288 };
        let mut cursor = Cursor::new(&place, 4096..65_536, &geometry(4096, None), 0, 1);
        let offsets: Vec<u64> = (0..7).map(|_| cursor.next(8192, &mut random()).0).collect();
        assert_eq!(offsets, [4096, 16_384, 28_672, 40_960, 53_248, 4096, 16_384]);
        assert_eq!(cursor.next(32_768, &mut random()).0, 28_672, "the last place where it fits");
        assert_eq!(cursor.next(32_768, &mut random()).0, 4096);
    }

    #[test]
    fn scattered_places_keep_to_their_alignment_alone() {
        let place = AccessPattern::RandomAligned { region: Region::WHOLE, align: 512 };
        let range = 4096..4096 + 16 * 512;
        let mut cursor = Cursor::new(&place, range.clone(), &geometry(512, None), 0, 1);
        let (mut random, mut visited) = (random(), std::collections::BTreeSet::new());
        for _ in 0..1000 {
            let (offset, length) = cursor.next(4096, &mut random);
            assert!(range.contains(&offset) && offset + u64::from(length) <= range.end);
            visited.insert(offset);
        }
        assert_eq!(visited.into_iter().collect::<Vec<_>>(), (8..17).map(|n| n * 512).collect::<Vec<_>>());
    }

    #[test]
    fn zipf_prefers_few_places() {
        let place = AccessPattern::Zipf { region: Region::WHOLE, theta: 1.2 };
        let mut cursor = Cursor::new(&place, 0..1_000 * 4096, &geometry(4096, None), 0, 1);
        let (mut random, mut counts) = (random(), std::collections::HashMap::new());
        for _ in 0..100_000 {
            *counts.entry(cursor.next(4096, &mut random).0).or_insert(0) += 1;
        }
        // P(rank 1) = 1 / Σ k^−1.2, k = 1..1000 = 0.2305.
        let most = f64::from(*counts.values().max().unwrap()) / 100_000.0;
        assert!((most - 0.2305).abs() < 0.01, "{most}");
    }
}
