//! A file that a journal is written to: on other blocks than the store, or in memory for tests.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use auto_impl::auto_impl;

/// A file of bytes that can be made durable.
#[auto_impl(&mut)]
pub trait DurableFile {
    /// Its length in bytes.
    ///
    /// # Errors
    /// The system's error, as everywhere here.
    fn bytes(&mut self) -> io::Result<u64>;

    /// Fills `into` with the bytes from `offset` on.
    ///
    /// # Errors
    /// The system's error, or an unexpected end.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`, which may be beyond the end.
    ///
    /// # Errors
    /// The system's error.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns once all bytes and the length would survive a loss of power.
    ///
    /// # Errors
    /// The system's error.
    fn sync(&mut self) -> io::Result<()>;
}

impl DurableFile for File {
    fn bytes(&mut self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.read_exact_at(into, offset)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

impl DurableFile for Vec<u8> {
    fn bytes(&mut self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        let end = io::ErrorKind::UnexpectedEof;
        let start = usize::try_from(offset).map_err(|_| end)?;
        let range = start..start.checked_add(into.len()).ok_or(end)?;
        into.copy_from_slice(self.get(range).ok_or(end)?);
        Ok(())
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let start = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = start.checked_add(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        if self.len() < end {
            self.resize(end, 0);
        }
        self[start..end].copy_from_slice(bytes);
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_out(file: &mut impl DurableFile) {
        file.write_at(10, b"hello").unwrap();
        file.sync().unwrap();
        assert_eq!(file.bytes().unwrap(), 15);
        let mut read = [1; 7];
        file.read_at(8, &mut read).unwrap();
        assert_eq!(&read, b"\0\0hello");
        assert_eq!(file.read_at(9, &mut read).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_file_and_memory_behave_alike() {
        try_out(&mut Vec::new());
        try_out(&mut tempfile::tempfile().unwrap());
    }
}
