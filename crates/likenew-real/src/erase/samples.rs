//! Samples of a drive's blocks, to see what became of its contents.

use likenew_core::fix::ReadBackCounts;
use likenew_core::io::Slot;
use likenew_core::lab_error::LabError;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread};
use sha2::{Digest as _, Sha256};

use crate::buffers::Buffers;
use crate::consent::Consent;
use crate::lab_error::io_error;
use crate::wording::action;

/// Bytes of one sample: the largest block of drives that are in use.
const BYTES: u64 = 4096;

/// Fingerprints of blocks at evenly spaced places, without their contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Samples(Vec<Sample>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sample {
    Zeros,
    Ones,
    Data([u8; 32]),
    Unreadable,
}

impl Samples {
    /// Reads so many blocks, evenly spaced, past the page cache.
    ///
    /// # Errors
    /// The device cannot be examined. A block that cannot be read is no error.
    pub fn read(consent: &Consent, count: u64) -> Result<Self, LabError> {
        let device = consent.descriptor();
        let bytes = seek(device, SeekFrom::End(0)).map_err(io_error(action::ASK_DEVICE_SIZE))?;
        let blocks = bytes / BYTES;
        let mut buffers = Buffers::map(1, BYTES as u32)?;
        let count = count.min(blocks);
        let samples = (0..count).map(|index| {
            // The first and the last block are among them.
            let block = if count > 1 { index * (blocks - 1) / (count - 1) } else { 0 };
            let buffer = &mut buffers.slot_mut(Slot(0))[..BYTES as usize];
            let read = loop {
                match pread(device, &mut *buffer, block * BYTES) {
                    Err(Errno::INTR) => {}
                    read => break read,
                }
            };
            match read {
                Ok(moved) if moved == buffer.len() => sample(buffer),
                _ => Sample::Unreadable,
            }
        });
        Ok(Self(samples.collect()))
    }

    /// What became of these, by later samples of the same places.
    ///
    /// # Panics
    /// When the others are not of the same places.
    pub fn compare(&self, later: &Self) -> ReadBackCounts {
        assert_eq!(self.0.len(), later.0.len(), "samples of the same places");
        let mut counts = ReadBackCounts::default();
        for (before, after) in self.0.iter().zip(&later.0) {
            let discard_counters = match (before, after) {
                (_, Sample::Unreadable) => &mut counts.unreadable,
                (Sample::Data(before), Sample::Data(after)) if before == after => &mut counts.same,
                (Sample::Data(_), Sample::Data(_)) => &mut counts.changed,
                (Sample::Data(_), Sample::Zeros | Sample::Ones) => &mut counts.blank,
                (Sample::Zeros | Sample::Ones | Sample::Unreadable, _) => &mut counts.empty,
            };
            *discard_counters += 1;
        }
        counts
    }
}

fn sample(bytes: &[u8]) -> Sample {
    if bytes.iter().all(|byte| *byte == 0) {
        Sample::Zeros
    } else if bytes.iter().all(|byte| *byte == 0xFF) {
        Sample::Ones
    } else {
        Sample::Data(Sha256::digest(bytes).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_is_distinguished_from_every_other() {
        let data = |byte: u8| sample(&[byte, 1]);
        let (zeros, ones) = (sample(&[0, 0]), sample(&[0xFF; 4]));
        let before = Samples(vec![data(1), data(2), data(3), data(4), data(5), zeros, ones]);
        let after = Samples(vec![data(1), data(9), zeros, ones, Sample::Unreadable, data(1), ones]);
        let counts = before.compare(&after);
        assert_eq!(counts, ReadBackCounts { same: 1, changed: 1, blank: 2, unreadable: 1, empty: 2 });
    }
}
