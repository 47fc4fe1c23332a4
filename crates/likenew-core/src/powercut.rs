//! A block device in memory whose power can be cut, or whose program can be killed, between or within any
//! calls.
//!
//! Code that must not lose a byte is tested on it. Like a drive with a volatile write cache, it guarantees
//! nothing that was not flushed. After a power cut each later write is there, lost, or there in part, in any
//! order. Some of the sectors that were being written hold garbage or cannot be read. Several devices can
//! share one [`Power`].

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use rand::seq::SliceRandom as _;
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::drive::BlockStore;
use crate::wording;

/// The power switch of several devices, which counts their calls and turns off after a set number.
#[derive(Clone, Debug, Default)]
pub struct Power(Arc<Mutex<Switch>>);

#[derive(Debug, Default)]
struct Switch {
    is_off: bool,
    calls: u64,
    calls_left: Option<u64>,
}

/// The power during a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PowerState {
    On,
    /// The power fails during the call.
    Going,
    Off,
}

impl Power {
    /// Serves `calls` more calls of all devices together; the power fails during the next one.
    pub fn cut_after(&self, calls: u64) {
        self.switch().calls_left = Some(calls);
    }

    /// Turns the power on for good.
    pub fn switch_on(&self) {
        *self.switch() = Switch { calls: self.calls(), ..Switch::default() };
    }

    /// Whether the power is off.
    pub fn is_off(&self) -> bool {
        self.switch().is_off
    }

    /// Calls that were made while the power was on.
    pub fn calls(&self) -> u64 {
        self.switch().calls
    }

    fn call(&self) -> PowerState {
        let mut switch = self.switch();
        if switch.is_off {
            return PowerState::Off;
        }
        switch.calls += 1;
        if switch.calls_left == Some(0) {
            switch.is_off = true;
            return PowerState::Going;
        }
        switch.calls_left = switch.calls_left.map(|left| left - 1);
        PowerState::On
    }

    fn switch(&self) -> MutexGuard<'_, Switch> {
        self.0.lock().expect("nothing panics while it holds the switch")
    }
}

/// How the calls ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The program was killed: everything it had written stays, flushed or not.
    Killed,
    /// The machine lost power.
    PowerLost,
}

/// A device of whole sectors with a volatile write cache.
#[derive(Clone, Debug)]
pub struct VolatileDevice {
    power: Power,
    sector: usize,
    /// What reads return while the power is on.
    visible: Sectors,
    /// What the medium holds, without its cache.
    medium: Sectors,
    /// Writes since the last flush, the oldest first.
    cache: Vec<(usize, Vec<u8>)>,
    random: Xoshiro256PlusPlus,
}

#[derive(Clone, Debug)]
struct Sectors {
    bytes: Vec<u8>,
    /// Numbers of unreadable sectors.
    unreadable: BTreeSet<usize>,
}

/// Most places in the cache that one loss of power tears.
const TORN_MAX: usize = 4;
/// Bytes that a torn flash page destroys.
const PAGE_BYTES: usize = 16 << 10;

impl VolatileDevice {
    /// A device that holds `content`, in sectors of `sector` bytes.
    ///
    /// # Panics
    /// `content` is not whole sectors.
    pub fn new(content: Vec<u8>, sector: u32, seed: u64, power: &Power) -> Self {
        let sector = sector as usize;
        assert!(sector.is_power_of_two() && content.len().is_multiple_of(sector), "whole sectors");
        let visible = Sectors { bytes: content, unreadable: BTreeSet::new() };
        Self {
            power: power.clone(),
            sector,
            medium: visible.clone(),
            visible,
            cache: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// What it holds now, with or without power.
    pub fn content(&self) -> &[u8] {
        &self.visible.bytes
    }

    /// Whether any of these bytes is unreadable.
    pub fn is_unreadable(&self, offset: usize, length: usize) -> bool {
        let sectors = offset / self.sector..(offset + length).div_ceil(self.sector);
        self.visible.unreadable.range(sectors).next().is_some()
    }

    /// Makes a sector unreadable until it is written.
    pub fn spoil(&mut self, sector: usize) {
        self.visible.unreadable.insert(sector);
        self.medium.unreadable.insert(sector);
    }

    /// Writes and flushes as another program would.
    pub fn scribble(&mut self, offset: usize, bytes: &[u8]) {
        for sectors in [&mut self.visible, &mut self.medium] {
            sectors.write(self.sector, offset, bytes);
        }
    }

    /// Applies how all calls ended. Call it before the power is on again.
    pub fn restore_power(&mut self, end: End) {
        if end == End::Killed {
            return;
        }
        let mut writes = std::mem::take(&mut self.cache);
        writes.shuffle(&mut self.random);
        for (offset, bytes) in &writes {
            let sectors = bytes.len() / self.sector;
            let (fate, until) = (self.random.random_range(0..4), self.random.random_range(0..=sectors));
            for (index, part) in bytes.chunks(self.sector).enumerate() {
                let is_kept = match fate {
                    0 => false,
                    1 => true,
                    2 => index < until,
                    _ => self.random.random(),
                };
                if is_kept {
                    self.medium.write(self.sector, offset + index * self.sector, part);
                }
            }
        }
        if !writes.is_empty() {
            for _ in 0..self.random.random_range(0..=TORN_MAX) {
                self.tear(&writes);
            }
        }
        self.visible = self.medium.clone();
    }

    /// Fills with noise one of the sectors that were being written, or several that share its flash page.
    /// Each may also become unreadable.
    fn tear(&mut self, writes: &[(usize, Vec<u8>)]) {
        let (offset, bytes) = &writes[self.random.random_range(0..writes.len())];
        let sectors = bytes.len() / self.sector;
        let first = self.random.random_range(0..sectors);
        let is_page = self.random.random_range(0..8) == 0;
        let count = if is_page { (PAGE_BYTES / self.sector).min(sectors - first) } else { 1 };
        for number in (offset / self.sector + first..).take(count) {
            let start = number * self.sector;
            let stored = &mut self.medium.bytes[start..start + self.sector];
            // Some drives mix old and new data, some return noise.
            let from = if self.random.random() { 0 } else { self.random.random_range(0..self.sector) };
            self.random.fill_bytes(&mut stored[from..]);
            if self.random.random() {
                self.medium.unreadable.insert(number);
            } else {
                self.medium.unreadable.remove(&number);
            }
        }
    }
}

impl Sectors {
    fn write(&mut self, sector: usize, offset: usize, bytes: &[u8]) {
        self.bytes[offset..offset + bytes.len()].copy_from_slice(bytes);
        for number in offset / sector..(offset + bytes.len()).div_ceil(sector) {
            self.unreadable.remove(&number);
        }
    }
}

fn no_power() -> io::Error {
    io::Error::other(wording::NO_POWER)
}

impl BlockStore for VolatileDevice {
    fn bytes(&self) -> u64 {
        self.visible.bytes.len() as u64
    }

    fn block(&self) -> u32 {
        self.sector as u32
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let offset = offset as usize;
        if self.power.call() != PowerState::On {
            return Err(no_power());
        }
        if self.is_unreadable(offset, into.len()) {
            return Err(io::Error::from_raw_os_error(5));
        }
        into.copy_from_slice(&self.visible.bytes[offset..offset + into.len()]);
        Ok(())
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let offset = offset as usize;
        let whole = offset.is_multiple_of(self.sector) && bytes.len().is_multiple_of(self.sector);
        assert!(whole, "{} bytes at {offset} are no whole sectors of {}", bytes.len(), self.sector);
        let (bytes, ended) = match self.power.call() {
            PowerState::Off => return Err(no_power()),
            PowerState::On => (bytes, Ok(())),
            // A kill within a call leaves a part of its data written.
            PowerState::Going => {
                let sectors = self.random.random_range(0..=bytes.len() / self.sector);
                (&bytes[..sectors * self.sector], Err(no_power()))
            }
        };
        if !bytes.is_empty() {
            self.visible.write(self.sector, offset, bytes);
            self.cache.push((offset, bytes.to_vec()));
        }
        ended
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.power.call() != PowerState::On {
            return Err(no_power());
        }
        for (offset, bytes) in self.cache.drain(..) {
            self.medium.write(self.sector, offset, &bytes);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(power: &Power, seed: u64) -> VolatileDevice {
        VolatileDevice::new(vec![1; 64 * 512], 512, seed, power)
    }

    #[test]
    fn what_was_flushed_stays_and_what_was_not_may_be_anything() {
        let (mut lost, mut kept, mut torn, mut unreadable) = (0, 0, 0, 0);
        for seed in 0..200 {
            let power = Power::default();
            let mut device = device(&power, seed);
            device.write_at(0, &[2; 8 * 512]).unwrap();
            device.flush().unwrap();
            device.write_at(8 * 512, &[3; 8 * 512]).unwrap();
            power.cut_after(0);
            device.flush().unwrap_err();
            assert!(power.is_off());
            device.restore_power(End::PowerLost);
            power.switch_on();
            assert!(device.content()[..8 * 512].iter().all(|byte| *byte == 2));
            assert!(device.content()[16 * 512..].iter().all(|byte| *byte == 1));
            for sector in 8..16 {
                let bytes = &device.content()[sector * 512..][..512];
                match bytes.iter().all(|byte| *byte == bytes[0]).then_some(bytes[0]) {
                    _ if device.is_unreadable(sector * 512, 512) => unreadable += 1,
                    Some(1) => lost += 1,
                    Some(3) => kept += 1,
                    _ => torn += 1,
                }
            }
        }
        assert!(
            [lost, kept, torn, unreadable].iter().all(|count| *count > 50),
            "{lost} {kept} {torn} {unreadable}"
        );
    }

    #[test]
    fn a_killed_programs_writes_stay_until_the_power_goes() {
        let power = Power::default();
        let mut device = device(&power, 1);
        device.write_at(0, &[2; 512]).unwrap();
        power.cut_after(0);
        assert!(device.read_at(0, &mut [0; 512]).is_err() && device.write_at(0, &[9; 512]).is_err());
        device.restore_power(End::Killed);
        power.switch_on();
        let mut read = [0; 512];
        device.read_at(0, &mut read).unwrap();
        assert_eq!(read, [2; 512]);
        assert_eq!(power.calls(), 3);
    }

    #[test]
    fn an_unreadable_sector_is_mended_by_a_write() {
        let power = Power::default();
        let mut device = device(&power, 1);
        device.spoil(3);
        assert_eq!(device.read_at(1024, &mut [0; 1024]).unwrap_err().raw_os_error(), Some(5));
        device.read_at(0, &mut [0; 1536]).unwrap();
        device.write_at(1536, &[7; 512]).unwrap();
        device.read_at(1024, &mut [0; 1024]).unwrap();
        device.scribble(0, &[5; 10]);
        assert_eq!(device.content()[..11], [5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 1]);
    }
}
