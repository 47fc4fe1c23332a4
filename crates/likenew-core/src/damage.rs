//! Damage found by reading stamped sectors back: a drive's errors as data, in constant memory.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::is_default;
use crate::stamp::{Label, SECTOR, Stamp};

/// The result of checking the stamps of everything that a workload has read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Damage {
    /// Bytes that were checked.
    pub checked_bytes: u64,
    /// Bytes of sectors without a valid stamp.
    pub wrong_bytes: u64,
    /// Bytes of sectors that an older pass or another run wrote.
    pub stale_bytes: u64,
    /// Bytes of sectors that this run wrote for another address.
    pub wrapped_bytes: u64,
    /// Bytes of sectors that hold only zeros or only ones.
    pub missing_bytes: u64,
    /// Bits that differ in wrong sectors.
    pub wrong_bits: u64,
    /// The first damaged ranges in order of address, at most [`Damage::RANGES_MAX`]. Adjacent ranges of one
    /// kind are joined.
    pub ranges: Vec<DamagedRange>,
    /// Damaged or unreadable bytes outside of `ranges`.
    pub unlisted_bytes: u64,
    /// Bytes that could not be read, and so were not checked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unreadable_bytes: u64,
}

/// How a sector differs from what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum DamageKind {
    /// The sector has no valid stamp: it is garbage, or bits flipped.
    Wrong,
    /// An older pass or another run wrote the sector: a later write was lost.
    Stale,
    /// This run wrote the sector for another address: both addresses share one place.
    Wrapped,
    /// The sector is all zeros or all ones: it was never written, or its data was dropped.
    Missing,
    /// The drive did not return the sector.
    Unreadable,
}

/// Adjacent sectors that are damaged in the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DamagedRange {
    /// First byte.
    pub from: u64,
    /// The byte after the last one.
    pub to: u64,
    /// How these sectors are damaged.
    pub kind: DamageKind,
    /// Bits that differ from what was written; 0 where another whole sector is there.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bits: u64,
    /// What the first of these sectors holds.
    pub content: SectorContent,
}

/// What a damaged sector holds.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectorContent {
    /// The address it was written for, if it has a stamp.
    pub address: Option<u64>,
    /// The key of the run that wrote it, if it has a stamp.
    pub key: Option<u64>,
    /// The pass that wrote it, if it has a stamp.
    pub pass: Option<u32>,
    /// Its first 16 bytes.
    pub bytes: [u8; 16],
}

impl DamageKind {
    /// Every kind of damage in bytes that were read, the worst surprise first.
    pub const ALL: [Self; 4] = [Self::Wrapped, Self::Missing, Self::Stale, Self::Wrong];

    /// `wrong`, `stale`, `wrapped`, `missing` or `unreadable`.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Damage {
    /// Most ranges that are listed.
    pub const RANGES_MAX: usize = 1000;

    /// Checks what was read at `address`, where sectors of this stamp belong. A partial sector at the end of
    /// a short read is not checked.
    pub fn inspect(&mut self, stamp: Stamp, address: u64, read: &[u8]) {
        let (sectors, _) = read.as_chunks::<SECTOR>();
        let whole = sectors.as_flattened();
        self.checked_bytes += whole.len() as u64;
        if !stamp.is_intact(address, whole) {
            self.inspect_closely(stamp, address, sectors);
        }
    }

    /// Records bytes that the drive did not return.
    #[cold]
    pub fn add_unreadable(&mut self, address: u64, bytes: u64) {
        let content = SectorContent { address: None, key: None, pass: None, bytes: [0; 16] };
        let (from, to) = (address, address + bytes);
        self.add(DamagedRange { from, to, kind: DamageKind::Unreadable, bits: 0, content });
    }

    #[cold]
    fn inspect_closely(&mut self, stamp: Stamp, address: u64, sectors: &[[u8; SECTOR]]) {
        for (at, sector) in (address..).step_by(SECTOR).zip(sectors) {
            if !stamp.is_intact(at, sector) {
                self.add(to_damaged_range(stamp, at, sector));
            }
        }
    }

    /// Bytes that differ from what was written.
    pub fn bytes(&self) -> u64 {
        DamageKind::ALL.iter().map(|kind| self.bytes_of(*kind)).sum()
    }

    /// Bytes with this kind of damage.
    pub fn bytes_of(&self, kind: DamageKind) -> u64 {
        match kind {
            DamageKind::Wrong => self.wrong_bytes,
            DamageKind::Stale => self.stale_bytes,
            DamageKind::Wrapped => self.wrapped_bytes,
            DamageKind::Missing => self.missing_bytes,
            DamageKind::Unreadable => self.unreadable_bytes,
        }
    }

    /// Adds the damage found by another lane, or by a workload at other addresses.
    pub fn merge(&mut self, other: Self) {
        self.checked_bytes += other.checked_bytes;
        self.wrong_bytes += other.wrong_bytes;
        self.stale_bytes += other.stale_bytes;
        self.wrapped_bytes += other.wrapped_bytes;
        self.missing_bytes += other.missing_bytes;
        self.wrong_bits += other.wrong_bits;
        self.unreadable_bytes += other.unreadable_bytes;
        self.unlisted_bytes += other.unlisted_bytes;
        other.ranges.into_iter().for_each(|range| self.list(range));
    }

    fn add(&mut self, range: DamagedRange) {
        let bytes = range.to - range.from;
        match range.kind {
            DamageKind::Wrong => {
                self.wrong_bytes += bytes;
                self.wrong_bits += range.bits;
            }
            DamageKind::Stale => self.stale_bytes += bytes,
            DamageKind::Wrapped => self.wrapped_bytes += bytes,
            DamageKind::Missing => self.missing_bytes += bytes,
            DamageKind::Unreadable => self.unreadable_bytes += bytes,
        }
        self.list(range);
    }

    /// Joins a range to adjacent ranges in the list, or adds it while the list is not full.
    fn list(&mut self, range: DamagedRange) {
        let at = self.ranges.partition_point(|listed| listed.from <= range.from);
        let joins = |first: Option<&DamagedRange>, second: &DamagedRange| {
            first.is_some_and(|first| first.continues(second))
        };
        let joins_before = joins(at.checked_sub(1).and_then(|before| self.ranges.get(before)), &range);
        let joins_after = self.ranges.get(at).is_some_and(|after| range.continues(after));
        match (joins_before, joins_after) {
            (true, true) => {
                let after = self.ranges.remove(at);
                self.ranges[at - 1].absorb(&range);
                self.ranges[at - 1].absorb(&after);
            }
            (true, false) => self.ranges[at - 1].absorb(&range),
            (false, true) => {
                let after = std::mem::replace(&mut self.ranges[at], range);
                self.ranges[at].absorb(&after);
            }
            (false, false) if self.ranges.len() < Self::RANGES_MAX => self.ranges.insert(at, range),
            (false, false) => self.unlisted_bytes += range.to - range.from,
        }
    }
}

impl DamagedRange {
    /// Whether `next` begins where this range ends and is damaged in the same way.
    fn continues(&self, next: &Self) -> bool {
        let (here, there) = (&self.content, &next.content);
        let same = match self.kind {
            DamageKind::Wrong | DamageKind::Unreadable => true,
            DamageKind::Missing => here.bytes == there.bytes,
            DamageKind::Stale | DamageKind::Wrapped => {
                let moved =
                    |range: &Self| range.content.address.map(|address| address.wrapping_sub(range.from));
                (here.key, here.pass, moved(self)) == (there.key, there.pass, moved(next))
            }
        };
        self.to == next.from && self.kind == next.kind && same
    }

    fn absorb(&mut self, next: &Self) {
        self.to = next.to;
        self.bits += next.bits;
    }
}

/// Classifies a sector that does not belong at `address`.
///
/// A whole sector of another run is stale, whatever address it was written for: this run's data in its place
/// is gone. A whole sector of this run for another address is wrapped, whatever its pass.
fn to_damaged_range(stamp: Stamp, address: u64, sector: &[u8; SECTOR]) -> DamagedRange {
    let label = Label::read(sector);
    let whole = label.filter(|label| label.stamp.is_intact(label.address, sector));
    let kind = match whole {
        Some(label) if label.stamp.key == stamp.key && label.address != address => DamageKind::Wrapped,
        Some(_) => DamageKind::Stale,
        None if [0x00, 0xFF].iter().any(|blank| sector.iter().all(|byte| byte == blank)) => {
            DamageKind::Missing
        }
        None => DamageKind::Wrong,
    };
    let bits = if kind == DamageKind::Wrong { stamp.different_bits(address, sector).into() } else { 0 };
    let content = SectorContent {
        address: label.map(|label| label.address),
        key: label.map(|label| label.stamp.key),
        pass: label.map(|label| label.stamp.pass),
        bytes: *sector.first_chunk().expect("a sector is longer"),
    };
    DamagedRange { from: address, to: address + SECTOR as u64, kind, bits, content }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp { key: 7, pass: 2 };
    const AT: u64 = 1 << 20;

    fn stamped_bytes(stamp: Stamp, address: u64, sectors: usize) -> Vec<u8> {
        let mut buffer = vec![0; sectors * SECTOR];
        stamp.fill(address, &mut buffer);
        buffer
    }

    /// The damage found where eight sectors of the stamp belong.
    fn inspect_all(read: &[u8]) -> Damage {
        let mut damage = Damage::default();
        damage.inspect(STAMP, AT, read);
        damage
    }

    #[track_caller]
    fn single_range(damage: &Damage, kind: DamageKind) -> &DamagedRange {
        let [range] = damage.ranges.as_slice() else { panic!("{damage:?}") };
        assert_eq!((range.kind, damage.bytes()), (kind, damage.bytes_of(kind)));
        assert_eq!(range.to - range.from, damage.bytes());
        range
    }

    #[test]
    fn what_is_as_written_is_no_damage() {
        let damage = inspect_all(&stamped_bytes(STAMP, AT, 8));
        assert_eq!(damage, Damage { checked_bytes: 4096, ..Damage::default() });
        assert_eq!(
            inspect_all(&stamped_bytes(STAMP, AT, 8)[..1000]).checked_bytes,
            512,
            "half a sector cannot be checked"
        );
    }

    #[test]
    fn each_kind_is_reported_with_what_was_found() {
        for (sectors, kind) in [
            (stamped_bytes(STAMP, AT + 4096, 8), DamageKind::Wrapped),
            (stamped_bytes(Stamp { pass: 1, ..STAMP }, AT - 4096, 8), DamageKind::Wrapped),
            (stamped_bytes(Stamp { pass: 1, ..STAMP }, AT, 8), DamageKind::Stale),
            (stamped_bytes(Stamp { key: 8, ..STAMP }, AT, 8), DamageKind::Stale),
            (stamped_bytes(Stamp { key: 8, ..STAMP }, AT + 512, 8), DamageKind::Stale),
        ] {
            let damage = inspect_all(&sectors);
            let label = Label::read(sectors.as_chunks().0.first().unwrap()).unwrap();
            let range = single_range(&damage, kind);
            assert_eq!((range.from, range.to, range.bits), (AT, AT + 4096, 0));
            let SectorContent { address, key, pass, bytes } = &range.content;
            let text = (*address, *key, *pass, &bytes[..]);
            let expected =
                (Some(label.address), Some(label.stamp.key), Some(label.stamp.pass), &sectors[..16]);
            assert_eq!(text, expected);
        }
        for blank in [0, 255] {
            assert_eq!(single_range(&inspect_all(&[blank; 4096]), DamageKind::Missing).content.address, None);
        }
        assert_eq!(single_range(&inspect_all(&[7; 4096]), DamageKind::Wrong).content.bytes, [7; 16]);
        let mut flipped = stamped_bytes(STAMP, AT, 8);
        flipped[2 * SECTOR + 300] ^= 0b101;
        let damage = inspect_all(&flipped);
        let range = single_range(&damage, DamageKind::Wrong);
        assert_eq!((range.from, range.bits, damage.wrong_bits), (AT + 1024, 2, 2));
        assert_eq!(range.content.address, Some(AT + 1024), "its head is whole");
    }

    #[test]
    fn zeros_and_ones_and_other_displacements_are_ranges_of_their_own() {
        let mut read = vec![0; 4096];
        read[1024..2048].fill(255);
        STAMP.fill(0, &mut read[2048..3072]);
        STAMP.fill(8192, &mut read[3072..]);
        let damage = inspect_all(&read);
        let ranges: Vec<_> =
            damage.ranges.iter().map(|range| (range.from - AT, range.to - AT, range.kind)).collect();
        let expected = [
            (0, 1024, DamageKind::Missing),
            (1024, 2048, DamageKind::Missing),
            (2048, 3072, DamageKind::Wrapped),
            (3072, 4096, DamageKind::Wrapped),
        ];
        assert_eq!(ranges, expected);
    }

    #[test]
    fn a_list_that_is_full_still_grows_at_its_ranges_and_counts_the_rest() {
        let mut damage = Damage::default();
        for index in 0..2 * Damage::RANGES_MAX as u64 {
            damage.inspect(STAMP, 2 * index * 512, &[1; SECTOR]);
        }
        assert_eq!(damage.ranges.len(), Damage::RANGES_MAX);
        assert_eq!((damage.bytes(), damage.unlisted_bytes), (2000 * 512, 1000 * 512));
        damage.inspect(STAMP, 512, &[1; SECTOR]);
        assert_eq!(damage.ranges.len(), Damage::RANGES_MAX - 1, "two have become one");
        assert_eq!(damage.ranges[0].to, 3 * 512);
    }

    #[test]
    fn it_is_stored_and_read_back() {
        let damage = inspect_all(&stamped_bytes(Stamp { key: 8, ..STAMP }, 0, 8));
        let text = serde_json::to_string(&damage).unwrap();
        assert_eq!(serde_json::from_str::<Damage>(&text).unwrap(), damage);
    }

    proptest! {
        /// The ranges are the same in whatever order sectors are checked, and with any number of lanes.
        #[test]
        fn order_and_lanes_do_not_matter(
            kinds in prop::collection::vec(0u8..4, 1..60),
            order in Just((0..60).collect::<Vec<usize>>()).prop_shuffle(),
            lanes in 1usize..4,
        ) {
            let inspect_one = |damage: &mut Damage, index: usize| {
                let at = (index * SECTOR) as u64;
                let sector = match kinds[index] {
                    0 => stamped_bytes(STAMP, at, 1),
                    1 => vec![0; SECTOR],
                    2 => stamped_bytes(STAMP, at + (1 << 30), 1),
                    _ => stamped_bytes(Stamp { pass: 1, ..STAMP }, at, 1),
                };
                damage.inspect(STAMP, at, &sector);
            };
            let mut straight = Damage::default();
            (0..kinds.len()).for_each(|index| inspect_one(&mut straight, index));
            let mut parts = vec![Damage::default(); lanes];
            for (turn, index) in order.into_iter().filter(|index| *index < kinds.len()).enumerate() {
                inspect_one(&mut parts[turn % lanes], index);
            }
            let mut joined = Damage::default();
            parts.into_iter().for_each(|part| joined.merge(part));
            prop_assert_eq!(&joined, &straight);
            let intact = kinds.iter().filter(|kind| **kind == 0).count();
            prop_assert_eq!(straight.bytes(), ((kinds.len() - intact) * SECTOR) as u64);
        }
    }
}
