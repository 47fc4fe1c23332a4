//! Decoders of drives' answers, one module for each standard. Only these modules know where a field is in an
//! answer.
//!
//! An answer is bytes from a drive, which may be too few, empty or wrong. A decoder gives a value or nothing;
//! it never panics.

pub(crate) mod ata;
pub(crate) mod nvme;
pub(crate) mod scsi;

// Numbers from answers of drives, which may be shorter than they should be.

/// A little-endian number of up to eight bytes.
pub(crate) fn little(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let part = bytes.get(at..at.checked_add(length)?)?;
    Some(part.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

/// A little-endian number of 16 bytes; `u64::MAX` if it does not fit into 64 bits.
pub(crate) fn little_16(bytes: &[u8], at: usize) -> Option<u64> {
    let high = little(bytes, at.checked_add(8)?, 8)?;
    Some(if high > 0 { u64::MAX } else { little(bytes, at, 8)? })
}

/// A counter of `bits` bits; `None` if all bits are set, as they are where a drive does not count.
pub(crate) fn counted(number: u64, bits: u32) -> Option<u64> {
    (number != u64::MAX >> (64 - bits)).then_some(number)
}

/// Names come from drives and file systems, so control characters are replaced.
pub(crate) fn clean(text: &str) -> String {
    text.trim().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// Text that blanks or zeros pad, without what a terminal would act on; `None` if nothing is left.
pub(crate) fn text(bytes: &[u8]) -> Option<String> {
    let text = clean(String::from_utf8_lossy(bytes).trim_matches(['\0', ' ']));
    (!text.is_empty()).then_some(text)
}

// Sanitize, which is alike in ATA and NVMe.

/// The ways in which a drive can sanitize.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sanitize {
    /// By erasing blocks of flash.
    pub block: bool,
    /// By changing its key.
    pub crypto: bool,
    /// By writing everything.
    pub overwrite: bool,
}

impl Sanitize {
    pub(crate) fn is_any(self) -> bool {
        self.block || self.crypto || self.overwrite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_short_is_no_number() {
        let bytes: Vec<u8> = (1..=20).collect();
        assert_eq!(little(&bytes, 0, 4), Some(0x0403_0201));
        assert_eq!(little(&bytes, 17, 4), None);
        assert_eq!(little(&bytes, usize::MAX, 4), None);
        assert_eq!((little_16(&bytes, 0), little_16(&bytes, 8)), (Some(u64::MAX), None));
        assert_eq!(text(b"\0  "), None);
    }
}
