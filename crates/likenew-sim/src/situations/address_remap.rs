//! Maps the host's addresses to the drive's: a partition that is shifted, or a file in pieces.

/// Rounds of the permutation; four make it as good as random (Luby and Rackoff, "How to Construct
/// Pseudorandom Permutations from Pseudorandom Functions", SIAM Journal on Computing 17(2), 1988).
const ROUNDS: u64 = 4;

/// How addresses are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressRemap {
    /// All addresses move by so many bytes; those beyond the end of the drive continue at its beginning.
    Shifted {
        /// Bytes of the drive.
        capacity: u64,
        /// Less than those.
        by: u64,
    },
    /// Pieces of so many bytes in an order drawn once for all drives; what is left at the end stays there.
    Pieces {
        /// Bytes of the drive.
        capacity: u64,
        /// Bytes of a piece.
        piece: u64,
    },
}

impl AddressRemap {
    /// Where an address goes, and how many of the `length` bytes from there are contiguous.
    pub(crate) fn locate(&self, address: u64, length: u64) -> (u64, u64) {
        match *self {
            Self::Shifted { capacity, by } => {
                let place = (address + by) % capacity;
                (place, length.min(capacity - place))
            }
            Self::Pieces { capacity, piece } => {
                let (pieces, index, within) = (capacity / piece, address / piece, address % piece);
                if index == pieces {
                    return (address, length);
                }
                (permute(index, pieces) * piece + within, length.min(piece - within))
            }
        }
    }
}

/// The place of one of so many in a fixed permutation: a Feistel network over the next power of four, walked
/// until it comes back into the range.
fn permute(index: u64, count: u64) -> u64 {
    let half_bits = count.next_power_of_two().trailing_zeros().div_ceil(2).max(1);
    let mask = (1u64 << half_bits) - 1;
    let mut at = index;
    loop {
        let (mut left, mut right) = (at >> half_bits, at & mask);
        for round in 0..ROUNDS {
            (left, right) = (right, left ^ (mix_bits(right ^ (round << 32)) & mask));
        }
        at = left << half_bits | right;
        if at < count {
            return at;
        }
    }
}

/// SplitMix64's mixing (Steele, Lea and Flood, OOPSLA 2014).
fn mix_bits(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_reaches_every_place_once_and_far_away() {
        for count in [1, 2, 3, 64, 1000, 4097] {
            let mut places: Vec<u64> = (0..count).map(|index| permute(index, count)).collect();
            let steps = places.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > count / 10).count();
            assert!(count < 1000 || steps as u64 > count * 7 / 10, "{count}: {steps}");
            places.sort_unstable();
            assert!(places.into_iter().eq(0..count), "{count}");
        }
    }

    #[test]
    fn what_lies_behind_one_another_stays_so_up_to_the_end_of_a_piece() {
        let pieces = AddressRemap::Pieces { capacity: 10_500, piece: 1000 };
        let (place, length) = pieces.locate(3200, 5000);
        assert_eq!((place % 1000, length), (200, 800));
        assert_eq!(pieces.locate(3900, 50), (place + 700, 50));
        assert_eq!(pieces.locate(10_100, 400), (10_100, 400), "the rest stays");
        let shifted = AddressRemap::Shifted { capacity: 10_000, by: 512 };
        assert_eq!(shifted.locate(0, 4096), (512, 4096));
        assert_eq!(shifted.locate(9000, 1000), (9512, 488));
        assert_eq!(shifted.locate(9488, 512), (0, 512));
    }
}
