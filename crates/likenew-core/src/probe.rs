//! Probes, which find something out about a drive other than by timing I/O; their results are observations.
//!
//! A procedure requests a probe as it requests a workload. The drive's answer is kept as an [`Observation`],
//! so that it can be judged again without the drive. "Unknown" is an answer with a reason; only a target that
//! is gone is a `TargetError`.

use serde::{Deserialize, Serialize};

use crate::counters::{DiscardCounters, FlashCounters};
use crate::facts::Facts;
use crate::fix::{Feasibility, Fix, FixReport};
use crate::units::Nanos;
use crate::wording;
use crate::workload::{OLD_SEARCH, OldFiles};

/// How long [`Probe::Facts`] watches the I/O of other programs. Chosen: long enough to notice steady I/O, too
/// short to delay a command.
pub const FACTS_WAIT: Nanos = Nanos::from_millis(200);

/// What to find out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Probe {
    /// What the system and the drive report of the whole path from the folder to the medium.
    Facts,
    /// Which of the owner's files are old. Workloads may read [them](crate::workload::Workload::old_files)
    /// afterward.
    OldFiles,
    /// Where the file system has placed the data of the target.
    Extents,
    /// Which layers are between the addresses and the medium, and which of them pass TRIM on.
    TrimPath,
    /// What the drive itself reports of its TRIM support.
    TrimClaims,
    /// What reads return at addresses that were written and then freed.
    TrimReadBack(ReadBack),
    /// Frees a range of addresses, and does not end before the drive has received TRIM for it, if anything
    /// sends TRIM.
    Release {
        /// First byte.
        offset: u64,
        /// Length in bytes; in a folder, of whole files.
        bytes: u64,
        /// How long to wait for a file system that sends TRIM by itself.
        wait: Nanos,
    },
    /// What could restore the drive, and what prevents it.
    Feasibility,
    /// Applies a fix.
    Fix(Fix),
}

impl Probe {
    /// Its name in a progress bar.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Facts => wording::COLLECT_FACTS,
            Self::OldFiles => wording::FIND_OLD_FILES,
            Self::Extents => wording::MAP_FILES,
            Self::TrimPath => wording::CHECK_TRIM_PATH,
            Self::TrimClaims => wording::READ_TRIM_SUPPORT,
            Self::TrimReadBack(_) => wording::READ_BACK_TRIMMED,
            Self::Release { .. } => wording::RELEASE_TEST_DATA,
            Self::Feasibility => wording::CHECK_FIXES,
            Self::Fix(fix) => fix.name(),
        }
    }

    /// Whether it changes what the drive holds.
    pub fn writes(&self) -> bool {
        matches!(self, Self::TrimReadBack(_) | Self::Release { .. } | Self::Fix(_))
    }

    /// Bytes that it writes.
    pub fn bytes_written(&self) -> u64 {
        match self {
            Self::TrimReadBack(read_back) => read_back.bytes_written(),
            Self::Fix(fix) => fix.bytes_written(),
            Self::Facts
            | Self::OldFiles
            | Self::Extents
            | Self::TrimPath
            | Self::TrimClaims
            | Self::Release { .. }
            | Self::Feasibility => 0,
        }
    }

    /// The longest time that it may wait.
    pub fn waits(&self) -> Nanos {
        match self {
            Self::TrimReadBack(read_back) => read_back.wait,
            Self::Release { wait, .. } => *wait,
            Self::Facts | Self::Feasibility => FACTS_WAIT,
            Self::OldFiles => OLD_SEARCH,
            Self::Extents | Self::TrimPath | Self::TrimClaims | Self::Fix(_) => Nanos::ZERO,
        }
    }
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProbeResult {
    /// Nothing was found out: a sentence without a full stop says why, and what would help if anything would.
    Unknown(String),
    /// The result of [`Probe::Facts`].
    Facts(Box<Facts>),
    /// The result of [`Probe::OldFiles`].
    OldFiles(OldFiles),
    /// The result of [`Probe::Extents`].
    Extents(ExtentMap),
    /// The result of [`Probe::TrimPath`].
    TrimPath(TrimPath),
    /// The result of [`Probe::TrimClaims`].
    TrimClaims(TrimCapabilities),
    /// The result of [`Probe::TrimReadBack`].
    TrimReadBack(Box<ReadBackResult>),
    /// The result of [`Probe::Release`].
    Released(TrimReport),
    /// The result of [`Probe::Feasibility`].
    Feasibility(Feasibility),
    /// The result of [`Probe::Fix`].
    FixReport(FixReport),
}

/// One probe and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The probe.
    pub probe: Probe,
    /// Its result.
    pub result: ProbeResult,
    /// The number of workloads that ran before it.
    pub after: usize,
    /// When it began on the drive's clock.
    pub started_at: Nanos,
    /// When it ended on the drive's clock.
    pub ended_at: Nanos,
    /// Whether the run was interrupted and then resumed before this probe.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub after_interruption: bool,
    /// A simulated drive's flash counters after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accounting: Option<FlashCounters>,
}

impl ProbeResult {
    /// The facts, if the probe collected them.
    pub fn facts(&self) -> Option<&Facts> {
        if let Self::Facts(facts) = self { Some(facts) } else { None }
    }

    /// The feasibility, if the probe asked for it.
    pub fn feasibility(&self) -> Option<&Feasibility> {
        if let Self::Feasibility(feasibility) = self { Some(feasibility) } else { None }
    }

    /// The report of a fix that was not refused.
    pub fn fix_report(&self) -> Option<&FixReport> {
        if let Self::FixReport(report) = self { Some(report) } else { None }
    }
}

impl Observation {
    /// Bytes that were written for it.
    pub fn bytes_written(&self) -> u64 {
        match &self.result {
            ProbeResult::TrimReadBack(result) => result.bytes_written,
            ProbeResult::FixReport(fix_report) => fix_report.bytes_written,
            _ => 0,
        }
    }
}

/// The path of TRIM from a file system or a host to the medium.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimPath {
    /// From the top to the medium. The members of an array follow it, one after the other.
    pub layers: Vec<Layer>,
    /// Whether deleting sends TRIM at once (a mount with `discard`); unknown where nothing is mounted.
    pub immediate: Option<bool>,
    /// Whether the medium rotates.
    pub rotates: Option<bool>,
    /// Bytes of the medium.
    pub medium_bytes: Option<u64>,
}

impl TrimPath {
    /// The lowest layer that blocks TRIM. Layers above it report the same.
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
    /// Whether it reports that it passes TRIM on.
    pub passes: Option<bool>,
    /// Most bytes that one TRIM may cover; 0 if it accepts none.
    pub discard_max_bytes: Option<u64>,
    /// The granularity of TRIM, in bytes.
    pub granularity_bytes: Option<u64>,
    /// The source of these values.
    pub evidence: String,
    /// What would let TRIM pass, where that is known.
    pub remedy: Option<String>,
}

/// What a drive reports about its own TRIM; any of it may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimCapabilities {
    /// Whether it supports TRIM (ATA: word 169 of IDENTIFY DEVICE; SCSI: LBPU; NVMe: Dataset Management).
    pub trims: Option<bool>,
    /// What it guarantees to return for trimmed addresses.
    pub reads_as: Option<ReadsAs>,
    /// The source of these values.
    pub evidence: String,
}

/// What a drive guarantees to return for trimmed addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReadsAs {
    /// Zeros (ATA RZAT, SCSI LBPRZ, NVMe DLFEAT 1).
    Zeros,
    /// Bytes of 0xFF (NVMe DLFEAT 2).
    Ones,
    /// The same bytes each time, whatever they are (ATA DRAT).
    Same,
    /// Nothing is guaranteed.
    Anything,
}

/// A test that writes bytes, frees half of them, and reads them again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadBack {
    /// The seed of the pattern.
    pub seed: u64,
    /// Bytes to free: a multiple of [`UNIT`]. As many again are written next to them and kept for comparison.
    pub bytes: u64,
    /// How long to wait for a file system that sends TRIM by itself. If the first read then finds the old
    /// pattern, the test waits as long again and reads once more.
    pub wait: Nanos,
    /// How many single reads of [`UNIT`] bytes go to each half.
    pub probes: u32,
    /// Whether a file's addresses may be read from the device below it.
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
    /// What could not be read and why, as a sentence without a full stop. The contents below are then unknown.
    pub read_error: Option<String>,
    /// Both halves before the release. If they are not all pattern, the addresses are not the file's.
    pub before_release: Option<Content>,
    /// The freed half, after TRIM was sent.
    pub released_half: Option<Content>,
    /// The freed half after another wait, if it still held the old pattern.
    pub released_half_later: Option<Content>,
    /// The kept half, after TRIM was sent. If it is not all pattern, something went wrong.
    pub kept_half: Option<Content>,
    /// Latencies of single reads in the kept half, in nanoseconds. Reads alternate between the halves.
    pub probes_kept_ns: Vec<u64>,
    /// Latencies of single reads in the freed half, in nanoseconds.
    pub probes_released_ns: Vec<u64>,
    /// Bytes that the drive counts as in use, before and after.
    pub allocated: Option<AllocationChange>,
}

/// Bytes that a drive counts as in use, before and after some were freed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocationChange {
    /// Bytes before.
    pub before_bytes: u64,
    /// Bytes after.
    pub after_bytes: u64,
    /// The source of the count, in words.
    pub source: String,
}

/// How TRIM was sent for a range whose content is no longer needed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrimReport {
    /// How it was sent.
    pub means: TrimMethod,
    /// Bytes that were freed.
    pub bytes: u64,
    /// Bytes reported as sent, if any were reported.
    pub accepted_bytes: Option<u64>,
    /// How long sending took; for a file system that sends TRIM by itself, the wait for it.
    pub elapsed: Nanos,
    /// Why nothing could be sent: a sentence without a full stop.
    pub refusal: Option<String>,
    /// How far the system's discard counters moved in that time, from the topmost device down, including
    /// discards by other programs.
    pub discard_counters: Vec<DiscardCounters>,
}

/// How TRIM is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrimMethod {
    /// It is not sent.
    #[default]
    Nothing,
    /// The file system sends it by itself: a mount with `discard`.
    Mount,
    /// The file system was asked to send it for this range alone (FITRIM, as fstrim does).
    Fitrim,
    /// The command went to the drive itself.
    Command,
}

/// Bytes of the unit in which contents are compared, and of a single read.
pub const UNIT: usize = 4096;

/// How many bytes were found to be what, in units of [`UNIT`].
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
    /// Bytes not read or not counted, as the file system did not report their place as free before and after.
    pub taken_bytes: u64,
    /// Bytes that the drive refused to read.
    pub refused_bytes: u64,
}

impl Content {
    /// Classifies units from number `first` on against the pattern of `seed`.
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

/// The pattern of units from number `first` on: SplitMix64 (Steele, Lea and Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014). Each unit is unlike all others and can be made again by
/// itself.
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

/// A range of a target's addresses that is contiguous on the device below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// First byte in the target's addresses.
    pub offset: u64,
    /// First byte on the file system's device.
    pub device_offset: u64,
    /// Length of the piece.
    pub bytes: u64,
}

/// All extents of a target, in order of its addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExtentMap {
    extents: Vec<Extent>,
}

impl ExtentMap {
    /// Files in more extents are not mapped, because a run folder keeps every extent.
    pub const EXTENTS_MAX: usize = 200_000;

    /// Extents in any order that do not overlap.
    pub fn new(mut extents: Vec<Extent>) -> Self {
        extents.sort_unstable_by_key(|extent| extent.offset);
        Self { extents }
    }

    /// The extents of `bytes` from `offset` on that have a place on the device.
    pub fn pieces(&self, offset: u64, bytes: u64) -> impl Iterator<Item = Extent> {
        let end = offset.saturating_add(bytes);
        let first = self.extents.partition_point(|extent| extent.offset + extent.bytes <= offset);
        self.extents[first..].iter().take_while(move |extent| extent.offset < end).map(move |extent| {
            let from = extent.offset.max(offset);
            let to = (extent.offset + extent.bytes).min(end);
            Extent {
                offset: from,
                device_offset: extent.device_offset + (from - extent.offset),
                bytes: to - from,
            }
        })
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

    #[test]
    fn a_range_is_cut_at_extents_and_leaves_out_holes() {
        let extent = |offset, device_offset, bytes| Extent { offset, device_offset, bytes };
        let map = ExtentMap::new(vec![extent(200, 5000, 50), extent(0, 1000, 100), extent(100, 7000, 50)]);
        let pieces = |offset, bytes| map.pieces(offset, bytes).collect::<Vec<_>>();
        assert_eq!(pieces(90, 20), [extent(90, 1090, 10), extent(100, 7000, 10)]);
        assert_eq!(pieces(140, 100), [extent(140, 7040, 10), extent(200, 5000, 40)]);
        assert_eq!(pieces(150, 50), []);
        assert_eq!(pieces(250, u64::MAX), []);
        assert_eq!(pieces(0, u64::MAX).len(), 3);
    }
}
