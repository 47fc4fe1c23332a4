//! What a journal is written on: a file on other blocks than the ground, or memory in tests.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::Path;

/// Bytes that can be made durable.
pub trait Paper {
    /// How many there are.
    ///
    /// # Errors
    /// The system's, as all errors here.
    fn bytes(&mut self) -> io::Result<u64>;

    /// Reads all of `into` from there on.
    ///
    /// # Errors
    /// The system's, and an unexpected end.
    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` there, beyond the end, too.
    ///
    /// # Errors
    /// The system's.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Returns when all of it, its length too, is where no loss of power takes it away.
    ///
    /// # Errors
    /// The system's.
    fn sync(&mut self) -> io::Result<()>;
}

impl<P: Paper + ?Sized> Paper for &mut P {
    fn bytes(&mut self) -> io::Result<u64> {
        (**self).bytes()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        (**self).read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(offset, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        (**self).sync()
    }
}

impl Paper for File {
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

impl Paper for Vec<u8> {
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

/// Makes a file for a journal, which must not exist, locks it against other runs, and makes its name durable.
///
/// # Errors
/// The system's.
pub fn create_paper(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)?;
    file.try_lock()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(folder)?.sync_all()?;
    Ok(file)
}

/// Opens a journal's file and locks it.
///
/// # Errors
/// The system's; [`io::ErrorKind::WouldBlock`] while another run has it.
pub fn open_paper(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    file.try_lock()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_out(paper: &mut impl Paper) {
        paper.write_at(10, b"hello").unwrap();
        paper.sync().unwrap();
        assert_eq!(paper.bytes().unwrap(), 15);
        let mut read = [1; 7];
        paper.read_at(8, &mut read).unwrap();
        assert_eq!(&read, b"\0\0hello");
        assert_eq!(paper.read_at(9, &mut read).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_file_and_memory_behave_alike() {
        try_out(&mut Vec::new());
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut file = create_paper(&path).unwrap();
        try_out(&mut file);
        assert_eq!(create_paper(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(open_paper(&path).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        drop(file);
        assert_eq!(open_paper(&path).unwrap().bytes().unwrap(), 15);
    }
}
