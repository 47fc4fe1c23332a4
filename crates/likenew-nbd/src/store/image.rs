//! A store in a sparse file: byte for byte what the drive holds.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

use super::{Store, StoreExtent, is_zero};

/// Zeros that are written where a file system cannot take bytes back.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// A file that is as long as the drive.
pub struct Image {
    file: File,
    /// Whether the file system takes bytes back.
    punches: bool,
}

impl Image {
    /// Keeps the bytes of a drive of so many in this file, which becomes as long.
    ///
    /// # Errors
    /// It cannot be made as long.
    pub fn new(file: File, capacity: u64) -> io::Result<Self> {
        if file.metadata()?.len() != capacity {
            file.set_len(capacity)?;
        }
        Ok(Self { file, punches: true })
    }

    /// Makes what was written durable on the medium below the file.
    ///
    /// # Errors
    /// The medium's.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    fn punch(&mut self, range: &Range<u64>) -> io::Result<bool> {
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        match fallocate(&self.file, flags, range.start, range.end - range.start) {
            Ok(()) => Ok(true),
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Store for Image {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if is_zero(bytes) {
            return self.clear(offset..offset + bytes.len() as u64);
        }
        self.file.write_all_at(bytes, offset)
    }

    fn clear(&mut self, range: Range<u64>) -> io::Result<()> {
        if range.is_empty() {
            return Ok(());
        }
        if self.punches {
            self.punches = self.punch(&range)?;
        }
        if !self.punches {
            let mut at = range.start;
            while at < range.end {
                let length = (range.end - at).min(ZEROS.len() as u64);
                self.file.write_all_at(&ZEROS[..length as usize], at)?;
                at += length;
            }
        }
        Ok(())
    }

    fn stretch(&mut self, range: Range<u64>) -> io::Result<StoreExtent> {
        let data = match seek(&self.file, SeekFrom::Data(range.start)) {
            Ok(at) => at,
            // There is no more data.
            Err(Errno::NXIO) => return Ok(StoreExtent { end: range.end, is_held: false }),
            Err(errno) => return Err(errno.into()),
        };
        if data > range.start {
            return Ok(StoreExtent { end: data.min(range.end), is_held: false });
        }
        let hole = seek(&self.file, SeekFrom::Hole(range.start))?;
        Ok(StoreExtent { end: hole.min(range.end), is_held: true })
    }

    fn buffered_bytes(&self) -> u64 {
        /// What `st_blocks` counts in, whatever the file system's own blocks are.
        const SECTOR: u64 = 512;
        self.file.metadata().map_or(0, |metadata| metadata.blocks() * SECTOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_what_a_plain_array_holds() {
        const SPAN: u64 = 1 << 20;
        let mut image = Image::new(tempfile::tempfile().unwrap(), SPAN).unwrap();
        let mut array = vec![0u8; SPAN as usize];
        for (step, offset) in (0..SPAN - (40 << 10)).step_by(37 * 512).enumerate() {
            let range = offset as usize..offset as usize + (step % 5 + 1) * 8192;
            match step % 4 {
                0 => image.clear(range.start as u64..range.end as u64).unwrap(),
                _ => image.write(offset, &vec![(step % 3) as u8; range.len()]).unwrap(),
            }
            array[range].fill(if step % 4 == 0 { 0 } else { (step % 3) as u8 });
        }
        let mut read = vec![9; SPAN as usize];
        image.read(0, &mut read).unwrap();
        assert!(read == array);
        let (mut at, mut stored) = (0, 0);
        while at < SPAN {
            let stretch = image.stretch(at..SPAN).unwrap();
            assert!(stretch.is_held || is_zero(&array[at as usize..stretch.end as usize]));
            stored += if stretch.is_held { stretch.end - at } else { 0 };
            at = stretch.end;
        }
        assert!(stored > 0 && stored < SPAN && image.buffered_bytes() > 0);
        image.clear(0..SPAN).unwrap();
        assert_eq!(image.stretch(0..SPAN).unwrap(), StoreExtent { end: SPAN, is_held: false });
    }
}
