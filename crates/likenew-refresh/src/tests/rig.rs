//! Stores and files for tests of refreshes.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use likenew_core::drive::BlockStore;
use likenew_core::powercut::{End, Power, VolatileDevice};
use rand::{Rng as _, RngExt as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::DurableFile;

/// A store that counts the writes to each place.
pub(super) struct Counted {
    pub(super) device: VolatileDevice,
    pub(super) writes: BTreeMap<u64, u64>,
}

impl BlockStore for Counted {
    fn bytes(&self) -> u64 {
        self.device.bytes()
    }

    fn block(&self) -> u32 {
        self.device.block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.device.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        *self.writes.entry(offset).or_default() += 1;
        self.device.write_at(offset, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.device.flush()
    }
}

/// A file on a device that can lose power. Its length is as volatile as its bytes.
pub(super) struct VolatileFile {
    device: VolatileDevice,
    power: Power,
    bytes: u64,
    durable_bytes: u64,
}

impl VolatileFile {
    pub(super) fn new(seed: u64, power: &Power) -> Self {
        let device = VolatileDevice::new(vec![0; 512 << 10], 512, seed, power);
        Self { device, power: power.clone(), bytes: 0, durable_bytes: 0 }
    }

    pub(super) fn restore_power(&mut self, end: End) {
        self.device.restore_power(end);
        if end == End::PowerLost {
            self.bytes = self.durable_bytes;
        }
    }
}

impl DurableFile for VolatileFile {
    fn bytes(&mut self) -> io::Result<u64> {
        if self.power.is_off() { Err(io::ErrorKind::Other.into()) } else { Ok(self.bytes) }
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        if offset + into.len() as u64 > self.bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.device.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let written = self.device.write_at(offset, bytes);
        self.bytes = self.bytes.max(offset + bytes.len() as u64);
        written
    }

    fn sync(&mut self) -> io::Result<()> {
        self.device.flush()?;
        self.durable_bytes = self.bytes;
        Ok(())
    }
}

/// An array that refuses a wrong write: each byte must be the true one, or equal what is already there.
pub(super) struct Guarded<'a> {
    pub(super) content: Vec<u8>,
    pub(super) truth: &'a [u8],
    pub(super) writes: u64,
}

impl BlockStore for Guarded<'_> {
    fn bytes(&self) -> u64 {
        self.content.len() as u64
    }

    fn block(&self) -> u32 {
        512
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        into.copy_from_slice(&self.content[offset as usize..][..into.len()]);
        Ok(())
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let range = offset as usize..offset as usize + bytes.len();
        if bytes != &self.truth[range.clone()] && bytes != &self.content[range.clone()] {
            let lying = self.truth[range.clone()].iter().zip(&self.content[range.clone()]);
            let is_right = bytes.iter().zip(lying).all(|(new, (truth, old))| new == truth || new == old);
            assert!(is_right, "a wrong write to {range:?}");
        }
        self.content[range].copy_from_slice(bytes);
        self.writes += 1;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Random bytes with runs of zeros in between.
pub(super) fn content(bytes: usize, random: &mut Xoshiro256PlusPlus) -> Vec<u8> {
    let mut content = vec![0; bytes];
    random.fill_bytes(&mut content);
    for _ in 0..random.random_range(0..6) {
        let start = random.random_range(0..bytes);
        let end = (start + random.random_range(0..bytes / 4)).min(bytes);
        content[start..end].fill(0);
    }
    content
}

/// Ascending ranges in whole blocks, at least one.
pub(super) fn ranges(bytes: u64, block: u64, random: &mut Xoshiro256PlusPlus) -> Vec<Range<u64>> {
    let mut edges: Vec<u64> =
        (0..2 * random.random_range(1..5)).map(|_| random.random_range(0..=bytes / block)).collect();
    edges.sort_unstable();
    edges.dedup();
    if edges.len() < 2 || random.random_range(0..3) == 0 {
        return std::iter::once(0..bytes).collect();
    }
    edges.chunks_exact(2).map(|pair| pair[0] * block..pair[1] * block).collect()
}
