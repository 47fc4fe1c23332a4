//! Maps host addresses to drive addresses, for a misaligned partition or a fragmented file.

use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use crate::device::{Device, NO_IO, grow};

#[derive(Clone, Copy)]
struct Request {
    io: Io,
    parts_left: u32,
    outcome: Outcome,
}

/// A part of a host I/O, by its own slot at the mechanism.
#[derive(Clone, Copy)]
struct Part {
    /// Slot of the host's I/O.
    parent: u32,
    /// Bytes of the host's I/O before this part.
    from: u32,
    io: Io,
}

/// A mechanism with remapped addresses.
pub(crate) struct RemappedDevice {
    places: AddressRemap,
    inner: Box<dyn Device>,
    inner_done: Vec<Completion>,
    /// By slot.
    requests: Vec<Request>,
    parts: Vec<Part>,
    free: Vec<u32>,
    /// Buffers of the host's I/Os, by slot, if the mechanism keeps data.
    data: Vec<Vec<u8>>,
}

impl RemappedDevice {
    pub(crate) fn new(places: AddressRemap, inner: Box<dyn Device>) -> Self {
        Self {
            places,
            inner,
            inner_done: Vec::new(),
            requests: Vec::new(),
            parts: Vec::new(),
            free: Vec::new(),
            data: Vec::new(),
        }
    }

    fn free_slot(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        let slot = u32::try_from(self.parts.len()).expect("parts in flight fit 32 bits");
        self.parts.push(Part { parent: 0, from: 0, io: NO_IO });
        self.inner.announce_slots(slot + 1);
        slot
    }

    fn send(&mut self, part: Part, now: Nanos) {
        let Part { parent, from, io } = part;
        self.parts[io.slot.index()] = part;
        // A read's buffer has the same position.
        if self.inner.brings_bytes(&io) {
            let bytes = &self.data[parent as usize][from as usize..(from + io.length) as usize];
            let below = self.inner.data(io.slot);
            below.clear();
            below.extend_from_slice(bytes);
        }
        self.inner.accept(&io, now);
    }

    fn part_done(&mut self, Completion { slot, at, outcome }: Completion, done: &mut Vec<Completion>) {
        let Part { parent, from, io } = self.parts[slot.index()];
        self.free.push(slot.0);
        if io.op == Op::Read && self.inner.brings_bytes(&io) {
            let bytes = self.inner.data(slot);
            self.data[parent as usize][from as usize..from as usize + bytes.len()].copy_from_slice(bytes);
        }
        let request = &mut self.requests[parent as usize];
        if request.outcome == Outcome::Done {
            request.outcome = outcome;
        }
        request.parts_left -= 1;
        if request.parts_left == 0 {
            done.push(Completion { slot: request.io.slot, at, outcome: request.outcome });
        }
    }
}

impl Device for RemappedDevice {
    fn inside(&self) -> Option<&dyn Device> {
        Some(&*self.inner)
    }

    fn inside_mut(&mut self) -> Option<&mut dyn Device> {
        Some(&mut *self.inner)
    }

    fn announce_slots(&mut self, count: u32) {
        grow(&mut self.requests, count, Request { io: NO_IO, parts_left: 0, outcome: Outcome::Done });
        grow(&mut self.data, count, Vec::new());
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        let parent = io.slot.0;
        let mut parts = Vec::new();
        let mut from = 0;
        loop {
            let left = io.length - from;
            let (offset, length) = match left {
                0 => (io.offset, 0),
                _ => self.places.locate(io.offset + u64::from(from), left.into()),
            };
            let slot = Slot(self.free_slot());
            let length = u32::try_from(length).expect("a part is no longer than its whole");
            parts.push(Part { parent, from, io: Io { slot, offset, length, ..*io } });
            from += length;
            if from == io.length {
                break;
            }
        }
        let parts_left = u32::try_from(parts.len()).expect("no more parts than bytes");
        self.requests[io.slot.index()] = Request { io: *io, parts_left, outcome: Outcome::Done };
        parts.into_iter().for_each(|part| self.send(part, now));
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let mut parts = std::mem::take(&mut self.inner_done);
        self.inner.step(&mut parts);
        parts.drain(..).for_each(|part| self.part_done(part, done));
        self.inner_done = parts;
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.data[slot.index()]
    }
}

/// Rounds of the permutation. Four make it pseudorandom (Luby and Rackoff, "How to Construct Pseudorandom
/// Permutations from Pseudorandom Functions", SIAM Journal on Computing 17(2), 1988).
const ROUNDS: u64 = 4;

/// How addresses are remapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressRemap {
    /// All addresses move by the same offset; those beyond the end of the drive wrap around.
    Shifted {
        /// Bytes of the drive.
        capacity: u64,
        /// The offset in bytes, less than `capacity`.
        by: u64,
    },
    /// Pieces of equal size are permuted, in the same way on all drives; the rest at the end stays in place.
    Pieces {
        /// Bytes of the drive.
        capacity: u64,
        /// Bytes per piece.
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

/// The image of `index` in a fixed permutation of `0 .. count`: a Feistel network over a power of four,
/// iterated until its result lies in the range.
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

/// SplitMix64's mixing function (Steele, Lea and Flood, OOPSLA 2014).
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
