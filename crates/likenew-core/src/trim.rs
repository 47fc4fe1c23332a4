//! What probes report about TRIM: the layers on its way, what a drive claims, and what became of bytes that
//! were freed.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// The path of TRIM from a file system or a host to the medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimPath {
    /// From the top to the medium; below an array come its members, one after the other.
    pub layers: Vec<Layer>,
    /// Whether TRIM is sent as soon as something is deleted (a mount with `discard`); unknown where nothing is mounted.
    pub immediate: Option<bool>,
    /// Whether the medium rotates.
    pub rotates: Option<bool>,
    /// Bytes of the medium.
    pub medium_bytes: Option<u64>,
}

impl TrimPath {
    /// The layer that blocks TRIM. Of several it is the lowest: those above report what it reports.
    pub fn blocked_by(&self) -> Option<&Layer> {
        self.layers.iter().rev().find(|layer| layer.passes == Some(false))
    }
}

/// One layer on the path of TRIM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layer {
    /// The system's name for it: `/mnt/x`, `dm-0`, `sda1`.
    pub name: String,
    /// What it is, in words: `ext4`, `partition`, `encryption (dm-crypt)`, `disk`.
    pub kind: String,
    /// Whether it reports to pass TRIM on.
    pub passes: Option<bool>,
    /// The most that one TRIM may cover, in bytes; 0 where it takes none.
    pub discard_max_bytes: Option<u64>,
    /// The granularity of TRIM, in bytes.
    pub granularity_bytes: Option<u64>,
    /// The source of this.
    pub evidence: String,
    /// What would let TRIM pass, where that is known.
    pub remedy: Option<String>,
}

/// What a drive reports of itself; any of it may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimCapabilities {
    /// Whether it supports TRIM (ATA: word 169 of IDENTIFY DEVICE; SCSI: LBPU; NVMe: Dataset Management).
    pub trims: Option<bool>,
    /// What it guarantees that trimmed addresses read as.
    pub reads_as: Option<ReadsAs>,
    /// The source of this.
    pub evidence: String,
}

/// What a drive guarantees that trimmed addresses read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadsAs {
    /// Zeros (ATA RZAT, SCSI LBPRZ, NVMe DLFEAT 1).
    Zeros,
    /// Bytes of 0xFF (NVMe DLFEAT 2).
    Ones,
    /// The same each time, whatever that is (ATA DRAT).
    Same,
    /// Nothing is guaranteed.
    Anything,
}

/// A test that writes bytes, frees half of them, and reads them again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadBack {
    /// The seed of the pattern.
    pub seed: u64,
    /// Bytes that are freed: a multiple of [`UNIT`]. As many again are written next to them and kept, to
    /// compare with.
    pub bytes: u64,
    /// How long to wait for a file system that sends TRIM by itself, and once more before the last reading
    /// where the first found the old pattern.
    pub wait: Nanos,
    /// Single reads of [`UNIT`] bytes in either half.
    pub probes: u32,
    /// Whether the addresses of a file may be read from the device below it.
    pub raw: bool,
}

impl ReadBack {
    /// Bytes that it writes.
    pub fn bytes_written(&self) -> u64 {
        self.bytes.saturating_mul(2)
    }
}

/// The result of a [`ReadBack`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadBackResult {
    /// Bytes that were written.
    pub bytes_written: u64,
    /// How TRIM was sent.
    pub sent: TrimReport,
    /// What could not be read, and why: a sentence without a full stop. Then none of the contents below is known.
    pub read_error: Option<String>,
    /// Both halves before anything was freed: all pattern, or the addresses are not those of the file.
    pub before_release: Option<Content>,
    /// The freed half, after TRIM was sent.
    pub released_half: Option<Content>,
    /// The same after a while, where the old pattern had still been there.
    pub released_half_later: Option<Content>,
    /// The half that was kept, after TRIM was sent: all pattern, or something went wrong.
    pub kept_half: Option<Content>,
    /// Latencies of single reads in the kept half, in nanoseconds, in turn with …
    pub probes_kept_ns: Vec<u64>,
    /// … those in the freed half.
    pub probes_released_ns: Vec<u64>,
    /// What the drive counted as in use.
    pub allocated: Option<AllocationChange>,
}

/// Bytes that a drive counts as in use, before and after some were freed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationChange {
    /// Before.
    pub before_bytes: u64,
    /// After.
    pub after_bytes: u64,
    /// The source of the count, in words.
    pub source: String,
}

/// How TRIM was sent for a range that holds nothing of use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimReport {
    /// How it was sent.
    pub means: TrimMethod,
    /// Bytes that were freed.
    pub bytes: u64,
    /// Bytes that were reported as sent, if any were reported.
    pub accepted_bytes: Option<u64>,
    /// How long that took; of a file system that sends TRIM by itself, the wait for it.
    pub elapsed: Nanos,
    /// Why nothing could be sent: a sentence without a full stop.
    pub refusal: Option<String>,
    /// How far the system's discard counters moved in that time, from the topmost device down; discards of
    /// other programs included.
    pub discard_counters: Vec<DiscardCounters>,
}

/// How TRIM is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimMethod {
    /// None.
    #[default]
    Nothing,
    /// The file system does it by itself: a mount with `discard`.
    Mount,
    /// The file system was asked to (FITRIM, as fstrim does), for this range alone.
    Fitrim,
    /// The command went to the drive itself.
    Command,
}

/// How far a device's discard counters moved (Documentation/block/stat.rst of the Linux sources).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscardCounters {
    /// The device.
    pub device: String,
    /// Discards that ended.
    pub ios: u64,
    /// Bytes of them.
    pub bytes: u64,
}

/// Bytes of the unit in which contents are compared, and of a probing read.
pub const UNIT: usize = 4096;

/// What bytes were found to be, in units of [`UNIT`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// The pattern that was written there.
    pub pattern_bytes: u64,
    /// Zeros.
    pub zero_bytes: u64,
    /// 0xFF.
    pub ones_bytes: u64,
    /// Anything else.
    pub other_bytes: u64,
    /// Not read, or not counted, because the file system did not say that the place was free before and after.
    pub taken_bytes: u64,
    /// Could not be read: the drive refused.
    pub refused_bytes: u64,
}

impl Content {
    /// Classifies units from number `first` on, which were written with the pattern of `seed`.
    pub fn add(&mut self, seed: u64, first: u64, bytes: &[u8]) {
        let mut expected = [0; UNIT];
        for (number, unit) in (first..).zip(bytes.chunks_exact(UNIT)) {
            let held = match unit[0] {
                0 if unit.iter().all(|byte| *byte == 0) => &mut self.zero_bytes,
                0xFF if unit.iter().all(|byte| *byte == 0xFF) => &mut self.ones_bytes,
                _ => {
                    pattern(seed, number, &mut expected);
                    if unit == expected { &mut self.pattern_bytes } else { &mut self.other_bytes }
                }
            };
            *held += UNIT as u64;
        }
    }

    /// Bytes whose content is known.
    pub fn known_bytes(&self) -> u64 {
        self.pattern_bytes + self.zero_bytes + self.ones_bytes + self.other_bytes
    }

    /// Adds the counts of other units.
    pub fn merge(&mut self, other: &Self) {
        self.pattern_bytes += other.pattern_bytes;
        self.zero_bytes += other.zero_bytes;
        self.ones_bytes += other.ones_bytes;
        self.other_bytes += other.other_bytes;
        self.taken_bytes += other.taken_bytes;
        self.refused_bytes += other.refused_bytes;
    }
}

/// The pattern of one or more units from number `first` on: SplitMix64 (Steele, Lea and Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014), so that each unit is unlike all others and can
/// be made again by itself.
pub fn pattern(seed: u64, first: u64, bytes: &mut [u8]) {
    const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;
    let words_before = first.wrapping_mul((UNIT / size_of::<u64>()) as u64);
    let mut state = seed.wrapping_add(words_before.wrapping_mul(GAMMA));
    for word in bytes.chunks_exact_mut(size_of::<u64>()) {
        state = state.wrapping_add(GAMMA);
        let mut mixed = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word.copy_from_slice(&(mixed ^ mixed >> 31).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_distinguished() {
        let mut bytes = vec![0; 5 * UNIT];
        pattern(7, 100, &mut bytes[..2 * UNIT]);
        bytes[3 * UNIT..4 * UNIT].fill(0xFF);
        bytes[4 * UNIT..].fill(1);
        let mut content = Content::default();
        content.add(7, 100, &bytes);
        let unit = UNIT as u64;
        let expected = Content {
            pattern_bytes: 2 * unit,
            zero_bytes: unit,
            ones_bytes: unit,
            other_bytes: unit,
            ..Content::default()
        };
        assert_eq!(content, expected);
        assert_eq!(content.known_bytes(), 5 * unit);
        let mut elsewhere = Content::default();
        elsewhere.add(7, 101, &bytes[..UNIT]);
        elsewhere.add(8, 100, &bytes[..UNIT]);
        assert_eq!(elsewhere.other_bytes, 2 * unit, "a pattern belongs to its place and its seed");
    }

    #[test]
    fn the_lowest_layer_that_blocks_is_the_one_to_blame() {
        let layer = |name: &str, passes| Layer {
            name: name.into(),
            kind: "disk".into(),
            passes,
            discard_max_bytes: None,
            granularity_bytes: None,
            evidence: String::new(),
            remedy: None,
        };
        let layers = vec![layer("top", None), layer("dm-0", Some(false)), layer("sda", Some(true))];
        let mut path = TrimPath { layers, ..TrimPath::default() };
        assert_eq!(path.blocked_by().unwrap().name, "dm-0");
        path.layers[2].passes = Some(false);
        assert_eq!(path.blocked_by().unwrap().name, "sda");
        path.layers.truncate(1);
        assert_eq!(path.blocked_by(), None);
    }
}
