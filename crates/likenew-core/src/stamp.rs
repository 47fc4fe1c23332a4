//! Stamped sectors, which say where they belong, and which pass of which run wrote them.
//!
//! A stamped sector of 512 bytes begins with a magic number, its address, the run's key, the pass, and a
//! checksum of these. The magic number includes the version of this format. All other bytes follow from this
//! header, so reads check every byte, and a sector at a wrong address shows where it came from. Sectors are
//! independent: any target whose blocks are whole sectors can be stamped, and read in I/Os of other lengths
//! than it was written.

use std::fmt;
use std::str::FromStr;

use pulp::Arch;

use crate::wording;

/// Bytes of a stamped sector.
pub const SECTOR: usize = 512;

const WORDS: usize = SECTOR / size_of::<u64>();
/// Words of a sector's header.
const HEAD: usize = 5;
/// The last digit is the version of the format.
const MAGIC: u64 = u64::from_le_bytes(*b"LIKENEW1");
/// 2⁶⁴ over the golden ratio: the increment of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;
/// Keeps the words of a sector apart before they are mixed.
const STEPS: [u64; WORDS] = {
    let mut steps = [0u64; WORDS];
    let mut index = 0;
    while index < WORDS {
        steps[index] = STEP.wrapping_mul(index as u64);
        index += 1;
    }
    steps
};

/// The writer of a sector: a run and its pass, spelled `KEY:PASS`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// The key of the run. Runs on the same real drive have different keys.
    pub key: u64,
    /// The pass of the run.
    pub pass: u32,
}

/// The header of an intact sector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The address that it was written for.
    pub address: u64,
    /// Its writer.
    pub stamp: Stamp,
}

impl Stamp {
    /// Fills the buffer with the sectors that belong at `address` and after it.
    ///
    /// # Panics
    /// The buffer does not consist of whole sectors.
    pub fn fill(self, address: u64, buffer: &mut [u8]) {
        let (sectors, rest) = buffer.as_chunks_mut::<SECTOR>();
        assert!(rest.is_empty(), "stamps fill whole sectors of {SECTOR} bytes");
        let base = self.base();
        Arch::new().dispatch(
            #[inline(always)]
            || {
                for (at, sector) in (address..).step_by(SECTOR).zip(sectors) {
                    let seed = seed(base, at);
                    let words = sector.as_chunks_mut::<8>().0;
                    for (bytes, step) in words.iter_mut().zip(&STEPS) {
                        *bytes = body(seed, *step).to_le_bytes();
                    }
                    for (bytes, word) in words.iter_mut().zip(self.head(at, seed)) {
                        *bytes = word.to_le_bytes();
                    }
                }
            },
        );
    }

    /// Whether every byte of the buffer is what [`fill`](Self::fill) puts there.
    ///
    /// # Panics
    /// The buffer does not consist of whole sectors.
    pub fn is_intact(self, address: u64, buffer: &[u8]) -> bool {
        let (sectors, rest) = buffer.as_chunks::<SECTOR>();
        assert!(rest.is_empty(), "stamps fill whole sectors of {SECTOR} bytes");
        let base = self.base();
        Arch::new().dispatch(
            #[inline(always)]
            || {
                let mut different = 0;
                for (at, sector) in (address..).step_by(SECTOR).zip(sectors) {
                    self.compare(base, at, sector, |bits| different |= bits);
                }
                different == 0
            },
        )
    }

    /// Bits of a sector that differ from those that belong at `address`.
    pub fn different_bits(self, address: u64, sector: &[u8; SECTOR]) -> u32 {
        let mut count = 0;
        self.compare(self.base(), address, sector, |bits| count += bits.count_ones());
        count
    }

    /// Calls `on_difference` for each word of the sector, with the bits that differ from what belongs at `address`.
    #[inline(always)]
    fn compare(self, base: u64, address: u64, sector: &[u8; SECTOR], mut on_difference: impl FnMut(u64)) {
        let seed = seed(base, address);
        let (head, rest) = sector.as_chunks::<8>().0.split_at(HEAD);
        for (bytes, word) in head.iter().zip(self.head(address, seed)) {
            on_difference(u64::from_le_bytes(*bytes) ^ word);
        }
        for (bytes, step) in rest.iter().zip(&STEPS[HEAD..]) {
            on_difference(u64::from_le_bytes(*bytes) ^ body(seed, *step));
        }
    }

    /// What all sectors of one pass have in common.
    fn base(self) -> u64 {
        mix(mix(self.key ^ MAGIC).wrapping_add(u64::from(self.pass)))
    }

    /// The header of a sector.
    #[inline(always)]
    fn head(self, address: u64, seed: u64) -> [u64; HEAD] {
        [MAGIC, address, self.key, u64::from(self.pass), seed]
    }
}

impl Label {
    /// The header of a sector, if it is intact.
    pub fn read(sector: &[u8; SECTOR]) -> Option<Self> {
        let (words, _) = sector.as_chunks::<8>();
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let stamp = Stamp { key: word(2), pass: u32::try_from(word(3)).ok()? };
        let address = word(1);
        (word(0) == MAGIC && word(4) == seed(stamp.base(), address)).then_some(Self { address, stamp })
    }
}

/// The number that all bytes of a sector follow from; also the checksum of its header.
#[inline(always)]
fn seed(base: u64, address: u64) -> u64 {
    mix(base ^ address)
}

/// A word after the header: one xorshift step (Marsaglia, "Xorshift RNGs", Journal of Statistical Software
/// 8(14), 2003, triple 13, 7, 17) on a number of its own, so that the compiler uses the widest registers.
#[inline(always)]
fn body(seed: u64, step: u64) -> u64 {
    let mut word = seed.wrapping_add(step);
    word ^= word << 13;
    word ^= word >> 7;
    word ^ (word << 17)
}

/// The finalizer of SplitMix64: every bit of the input affects every bit of the result, and no two inputs
/// give the same result.
#[inline(always)]
fn mix(mut number: u64) -> u64 {
    number = number.wrapping_add(STEP);
    number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.key, self.pass)
    }
}

impl FromStr for Stamp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, pass) = text.split_once(':').unwrap_or((text, "1"));
        match (key.parse(), pass.parse()) {
            (Ok(key), Ok(pass)) => Ok(Self { key, pass }),
            _ => Err(wording::not_a_stamp(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp { key: 7, pass: 2 };

    fn stamped_bytes(stamp: Stamp, address: u64, sectors: usize) -> Vec<u8> {
        let mut buffer = vec![0; sectors * SECTOR];
        stamp.fill(address, &mut buffer);
        buffer
    }

    #[test]
    fn a_sector_says_what_it_is_wherever_it_was_filled() {
        let together = stamped_bytes(STAMP, 1 << 40, 8);
        for (index, sector) in together.as_chunks::<SECTOR>().0.iter().enumerate() {
            let address = (1 << 40) + (index * SECTOR) as u64;
            assert_eq!(stamped_bytes(STAMP, address, 1), sector);
            assert_eq!(Label::read(sector), Some(Label { address, stamp: STAMP }));
            assert!(STAMP.is_intact(address, sector));
            assert_eq!(STAMP.different_bits(address, sector), 0);
        }
        assert!(STAMP.is_intact(1 << 40, &together));
    }

    #[test]
    fn the_form_stays_what_it_is() {
        // A later version must read what an earlier version wrote; otherwise the magic number must change.
        let sector = stamped_bytes(STAMP, 4096, 1);
        assert_eq!(&sector[..8], b"LIKENEW1");
        assert_eq!(sector[8..32], [4096u64, 7, 2].map(u64::to_le_bytes).concat());
        let sum = sector.iter().fold(0u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(*byte)));
        assert_eq!(sum, 12_873_524_095_955_700_261);
    }

    #[test]
    fn stamps_read_back_and_nonsense_does_not() {
        assert_eq!("7:2".parse(), Ok(STAMP));
        assert_eq!("7".parse(), Ok(Stamp { pass: 1, ..STAMP }));
        assert_eq!(STAMP.to_string(), "7:2");
        for text in ["", ":", "7:", "-1:1", "7:1:1", "7:4294967296"] {
            assert!(text.parse::<Stamp>().unwrap_err().contains("KEY:PASS"), "{text}");
        }
    }

    #[test]
    fn no_compressor_shortens_them() {
        let sectors = stamped_bytes(STAMP, 0, 2048);
        let mut counts = [0u32; 256];
        let bodies = sectors.as_chunks::<SECTOR>().0.iter().flat_map(|sector| &sector[40..]);
        bodies.for_each(|byte| counts[usize::from(*byte)] += 1);
        let total = f64::from(counts.iter().sum::<u32>());
        let entropy: f64 =
            counts.iter().map(|count| f64::from(*count) / total).map(|share| -share * share.log2()).sum();
        assert!(entropy > 7.99, "{entropy} bits in a byte");
    }

    proptest! {
        #[test]
        fn any_change_of_any_byte_is_found(
            sector in 0u64..1 << 50, key in any::<u64>(), pass in any::<u32>(),
            at in 0usize..4 * SECTOR, change in 1u8..,
        ) {
            let (stamp, address) = (Stamp { key, pass }, sector * SECTOR as u64);
            let mut buffer = stamped_bytes(stamp, address, 4);
            prop_assert!(stamp.is_intact(address, &buffer));
            buffer[at] ^= change;
            prop_assert!(!stamp.is_intact(address, &buffer));
            let changed = buffer.as_chunks::<SECTOR>().0[at / SECTOR];
            let bits = stamp.different_bits(address + (at / SECTOR * SECTOR) as u64, &changed);
            prop_assert_eq!(bits, change.count_ones());
        }

        #[test]
        fn another_address_run_or_pass_is_another_sector(address in 0u64..1 << 40, by in 1u64..1 << 40) {
            let sector = stamped_bytes(STAMP, address * 512, 1);
            prop_assert!(!STAMP.is_intact((address + by) * 512, &sector));
            let far = STAMP.different_bits((address + by) * 512, sector.as_chunks().0.first().unwrap());
            // 472 unrelated bytes differ in half of their bits.
            prop_assert!((1500..2600).contains(&far), "{} bits", far);
            for other in [Stamp { key: by ^ 7, ..STAMP }, Stamp { pass: STAMP.pass.wrapping_add(by as u32 | 1), ..STAMP }] {
                prop_assert_eq!(other == STAMP, other.is_intact(address * 512, &sector));
            }
        }
    }
}
