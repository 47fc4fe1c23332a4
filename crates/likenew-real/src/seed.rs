//! A seed that no earlier run had, from the system's own source of chance.

use std::fs::File;
use std::io::{self, Read as _};

/// Numbers up to this are exact wherever a plan or a report is read: a double has so many bits.
const BITS: u32 = 53;

/// A fresh seed, below 2⁵³.
///
/// # Errors
/// The system has no `/dev/urandom`, or refuses to have it read.
pub fn new_seed() -> io::Result<u64> {
    let mut bytes = [0; 8];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_le_bytes(bytes) >> (u64::BITS - BITS))
}

/// A secret that nobody can guess.
///
/// # Errors
/// As for [`new_seed`].
pub fn new_secret() -> io::Result<[u8; 32]> {
    let mut bytes = [0; 32];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    #[test]
    fn two_runs_have_different_seeds_and_both_can_be_written_down() {
        let [first, second] = [(); 2].map(|()| super::new_seed().unwrap());
        assert_ne!(first, second);
        assert!(first < 1 << 53 && second < 1 << 53);
    }
}
