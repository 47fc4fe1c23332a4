//! Generates the bytes of writes: fresh for every write, and faster than any drive takes them.

use likenew_core::io::DataClass;
use pulp::Arch;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::SplitMix64;

/// Words that are made at once, each by its own generator, so that the compiler can use the machine's widest
/// registers.
const LANES: usize = 32;
/// Bytes of a sector. Compressible data is compressible in each sector.
const SECTOR: usize = 512;
const SECTOR_WORDS: usize = SECTOR / size_of::<u64>();

/// A stream of bytes that never repeats within any run: 32 interleaved xorshift generators of 64 bits (Marsaglia,
/// "Xorshift RNGs", Journal of Statistical Software 8(14), 2003, triple 13, 7, 17), seeded apart.
///
/// This is for content that no compressor shortens, not for statistics or secrets.
pub struct Generator {
    state: [u64; LANES],
    arch: Arch,
    /// Part of a word of random data that rounding left over, in words.
    remainder: f64,
}

impl Generator {
    /// A different stream of bytes for every seed.
    pub fn new(seed: u64) -> Self {
        let mut seeds = SplitMix64::seed_from_u64(seed);
        // Zero is the one state that xorshift never leaves.
        let state = std::array::from_fn(|_| seeds.random::<u64>().max(1));
        Self { state, arch: Arch::new(), remainder: 0.0 }
    }

    /// Fills the buffer with fresh bytes of this class, or with the stamped sectors that belong at `address`.
    pub fn fill(&mut self, buffer: &mut [u8], class: DataClass, address: u64) {
        match class {
            DataClass::Zero => buffer.fill(0),
            DataClass::Random => self.randomise(buffer),
            DataClass::Ratio(share) => {
                self.randomise(buffer);
                self.blank(buffer, f64::from(share));
            }
            DataClass::Stamped(stamp) => stamp.fill(address, buffer),
        }
    }

    fn randomise(&mut self, buffer: &mut [u8]) {
        let (words, rest) = words_of(buffer);
        let state = &mut self.state;
        self.arch.dispatch(|| xorshift(state, words));
        if !rest.is_empty() {
            let mut last = [0u64; LANES];
            xorshift(state, &mut last);
            for (bytes, word) in rest.chunks_mut(size_of::<u64>()).zip(last) {
                bytes.copy_from_slice(&word.to_le_bytes()[..bytes.len()]);
            }
        }
    }

    /// Zeroes the end of every sector so that `share` of the bytes stay random. Rounding to words carries
    /// over to the next sector, so the share is exact in the long run.
    fn blank(&mut self, buffer: &mut [u8], share: f64) {
        for sector in buffer.chunks_mut(SECTOR) {
            let wanted = share * (sector.len() / size_of::<u64>()) as f64 + self.remainder;
            let kept = wanted.floor().clamp(0.0, SECTOR_WORDS as f64);
            self.remainder = wanted - kept;
            let bytes = (kept as usize * size_of::<u64>()).min(sector.len());
            sector[bytes..].fill(0);
        }
    }
}

/// Splits a buffer into whole groups of words and the rest.
fn words_of(buffer: &mut [u8]) -> (&mut [u64], &mut [u8]) {
    let bytes = buffer.len() - buffer.len() % (LANES * size_of::<u64>());
    let (head, rest) = buffer.split_at_mut(bytes);
    match bytemuck::try_cast_slice_mut(head) {
        Ok(words) => (words, rest),
        Err(error) => panic!("a lane's buffers are aligned to words: {error}"),
    }
}

#[inline(always)]
fn xorshift(state: &mut [u64; LANES], words: &mut [u64]) {
    let mut lanes = *state;
    for group in words.chunks_exact_mut(LANES) {
        for (lane, word) in lanes.iter_mut().zip(group) {
            *lane ^= *lane << 13;
            *lane ^= *lane >> 7;
            *lane ^= *lane << 17;
            *word = *lane;
        }
    }
    *state = lanes;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Word-aligned bytes, like a lane's buffers.
    fn bytes(length: usize) -> Vec<u64> {
        vec![0; length / 8]
    }

    fn compressed_share(class: DataClass) -> f64 {
        let mut words = bytes(1 << 20);
        let mut generator = Generator::new(7);
        let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        // Fills it in pieces, as writes do.
        buffer.chunks_mut(4096).for_each(|write| generator.fill(write, class, 0));
        lz4_flex::block::compress(buffer).len() as f64 / buffer.len() as f64
    }

    #[test]
    fn a_compressor_finds_what_was_asked_for() {
        assert!(compressed_share(DataClass::Zero) < 0.01);
        assert!(compressed_share(DataClass::Random) > 1.0);
        for share in [0.1, 0.25, 0.333, 0.5, 0.75, 0.9] {
            let measured = compressed_share(DataClass::Ratio(share as f32));
            assert!((measured - share).abs() < 0.02, "asked for {share}, LZ4 finds {measured}");
        }
    }

    #[test]
    fn no_write_repeats_another() {
        let mut generator = Generator::new(1);
        let mut visited = std::collections::HashSet::new();
        for _ in 0..1_000 {
            let mut words = bytes(4096);
            generator.fill(bytemuck::cast_slice_mut(&mut words), DataClass::Random, 0);
            assert!(words.into_iter().all(|word| visited.insert(word)));
        }
    }

    #[test]
    fn equal_seeds_make_equal_bytes_and_odd_lengths_are_filled() {
        for length in [512, 520, 4096, 4096 + 256 + 24] {
            let (mut first, mut second, mut other) = (bytes(length), bytes(length), bytes(length));
            Generator::new(5).fill(bytemuck::cast_slice_mut(&mut first), DataClass::Random, 0);
            Generator::new(5).fill(bytemuck::cast_slice_mut(&mut second), DataClass::Random, 0);
            Generator::new(6).fill(bytemuck::cast_slice_mut(&mut other), DataClass::Random, 0);
            assert_eq!(first, second);
            assert_ne!(first, other);
            assert!(first.iter().all(|word| *word != 0));
        }
    }
}
