//! Keeps the data that clients write: in a sparse file, byte for byte as on the drive, or in memory, where only pages
//! with data take space. Ranges that were never written or were trimmed read as zeros.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::fs::{FallocateFlags, SeekFrom, fallocate, seek};
use rustix::io::Errno;

/// Data by address.
pub trait Store: Send {
    /// Fills the buffer with the data at `offset`.
    ///
    /// # Errors
    /// The data cannot be read.
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// Stores these bytes at `offset`.
    ///
    /// # Errors
    /// The data cannot be written; [`io::ErrorKind::StorageFull`] if there is no space. The contents of the range are
    /// then unknown.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes the range read as zeros, and frees its whole pages.
    ///
    /// # Errors
    /// The range cannot be written.
    fn clear(&mut self, range: Range<u64>) -> io::Result<()>;

    /// The extent that begins at `range.start`, cut at `range.end`.
    ///
    /// # Errors
    /// The allocation cannot be determined.
    fn stretch(&mut self, range: Range<u64>) -> io::Result<StoreExtent>;

    /// Bytes allocated now.
    fn buffered_bytes(&self) -> u64;
}

/// A range that is allocated as a whole, or not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreExtent {
    /// End of the range.
    pub end: u64,
    /// Whether the range is allocated; otherwise it reads as zeros.
    pub is_held: bool,
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|chunk| chunk == &ZEROS[..chunk.len()])
}

/// Zeros, written if a file system cannot punch holes.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Stores data in a file of the drive's size.
pub struct Image {
    file: File,
    /// Whether the file system can punch holes.
    punches: bool,
}

impl Image {
    /// Stores the data of a drive with this capacity in `file`, which gets the same length.
    ///
    /// # Errors
    /// The file cannot get this length.
    pub fn new(file: File, capacity: u64) -> io::Result<Self> {
        if file.metadata()?.len() != capacity {
            file.set_len(capacity)?;
        }
        Ok(Self { file, punches: true })
    }

    /// Makes the written data durable on the medium below the file.
    ///
    /// # Errors
    /// The medium failed.
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
            for at in range.clone().step_by(ZEROS.len()) {
                let length = (range.end - at).min(ZEROS.len() as u64);
                self.file.write_all_at(&ZEROS[..length as usize], at)?;
            }
        }
        Ok(())
    }

    fn stretch(&mut self, range: Range<u64>) -> io::Result<StoreExtent> {
        let data = match seek(&self.file, SeekFrom::Data(range.start)) {
            Ok(at) => at,
            // No data follows.
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
        /// Unit of `st_blocks`, whatever the file system's block size.
        const SECTOR: u64 = 512;
        self.file.metadata().map_or(0, |metadata| metadata.blocks() * SECTOR)
    }
}

/// Bytes of a page.
const PAGE: usize = 4096;

type Page = Box<[u8; PAGE]>;

/// Stores data in memory, as pages by number.
pub struct Pages {
    pages: BTreeMap<u64, Page>,
    pages_max: u64,
}

impl Pages {
    /// An empty store that may allocate this many bytes.
    pub fn new(bytes_max: u64) -> Self {
        Self { pages: BTreeMap::new(), pages_max: bytes_max / PAGE as u64 }
    }

    fn put(&mut self, number: u64, at: usize, bytes: &[u8]) -> io::Result<()> {
        if bytes.len() == PAGE && is_zero(bytes) {
            self.pages.remove(&number);
            return Ok(());
        }
        if let Some(page) = self.pages.get_mut(&number) {
            page[at..at + bytes.len()].copy_from_slice(bytes);
            if is_zero(&page[..]) {
                self.pages.remove(&number);
            }
        } else if !is_zero(bytes) {
            if self.pages.len() as u64 >= self.pages_max {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let mut page = Box::new([0; PAGE]);
            page[at..at + bytes.len()].copy_from_slice(bytes);
            self.pages.insert(number, page);
        }
        Ok(())
    }
}

/// The pages of a range: page number, range within the page, and offset within the range.
fn parts(offset: u64, length: u64) -> impl DoubleEndedIterator<Item = (u64, Range<usize>, u64)> {
    let (page, end) = (PAGE as u64, offset + length);
    let first = offset / page;
    (first..end.div_ceil(page)).map(move |number| {
        let start = offset.max(number * page);
        let within = (start % page) as usize;
        let length = (end.min((number + 1) * page) - start) as usize;
        (number, within..within + length, start - offset)
    })
}

impl Store for Pages {
    fn read(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        for (number, within, at) in parts(offset, buffer.len() as u64) {
            let part = &mut buffer[at as usize..at as usize + within.len()];
            match self.pages.get(&number) {
                Some(page) => part.copy_from_slice(&page[within]),
                None => part.fill(0),
            }
        }
        Ok(())
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        for (number, within, at) in parts(offset, bytes.len() as u64) {
            self.put(number, within.start, &bytes[at as usize..at as usize + within.len()])?;
        }
        Ok(())
    }

    fn clear(&mut self, range: Range<u64>) -> io::Result<()> {
        const ZEROS: [u8; PAGE] = [0; PAGE];
        let page = PAGE as u64;
        let whole = range.start.div_ceil(page)..range.end / page;
        if !whole.is_empty() {
            self.pages.extract_if(whole, |_, _| true).for_each(drop);
        }
        // Only the first and last page can be covered in part.
        let mut parts = parts(range.start, range.end - range.start);
        for (number, within, _) in parts.next().into_iter().chain(parts.next_back()) {
            self.put(number, within.start, &ZEROS[..within.len()])?;
        }
        Ok(())
    }

    fn stretch(&mut self, range: Range<u64>) -> io::Result<StoreExtent> {
        let page = PAGE as u64;
        let first = range.start / page;
        let numbers = first..range.end.div_ceil(page);
        let mut stored = self.pages.range(numbers).map(|(number, _)| *number);
        let end = match stored.next() {
            None => return Ok(StoreExtent { end: range.end, is_held: false }),
            Some(number) if number > first => return Ok(StoreExtent { end: number * page, is_held: false }),
            Some(_) => {
                let mut end = first + 1;
                while stored.next() == Some(end) {
                    end += 1;
                }
                end * page
            }
        };
        Ok(StoreExtent { end: end.min(range.end), is_held: true })
    }

    fn buffered_bytes(&self) -> u64 {
        self.pages.len() as u64 * PAGE as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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

    const SPAN: u64 = 10 * PAGE as u64;

    proptest! {
        #[test]
        fn it_holds_what_a_plain_array_holds_and_no_page_of_zeros(
            steps in prop::collection::vec((0u64..SPAN, 0u64..3 * PAGE as u64, 0u8..4), 0..60),
        ) {
            let mut pages = Pages::new(u64::MAX);
            let mut array = vec![0u8; SPAN as usize];
            for (start, length, what) in steps {
                let range = start..(start + length).min(SPAN);
                let bytes = vec![what; (range.end - range.start) as usize];
                if what == 3 {
                    pages.clear(range.clone()).unwrap();
                    array[range.start as usize..range.end as usize].fill(0);
                } else {
                    pages.write(range.start, &bytes).unwrap();
                    array[range.start as usize..range.end as usize].copy_from_slice(&bytes);
                }
                let mut read = vec![9; SPAN as usize];
                pages.read(0, &mut read).unwrap();
                prop_assert!(read == array);
                let used = array.chunks(PAGE).filter(|page| !is_zero(page)).count();
                prop_assert_eq!(pages.buffered_bytes(), (used * PAGE) as u64);
                let (mut at, mut stored) = (0, 0);
                while at < SPAN {
                    let stretch = pages.stretch(at..SPAN).unwrap();
                    prop_assert!(stretch.end > at && stretch.end <= SPAN);
                    stored += if stretch.is_held { stretch.end - at } else { 0 };
                    prop_assert!(stretch.is_held || is_zero(&array[at as usize..stretch.end as usize]));
                    at = stretch.end;
                }
                prop_assert_eq!(stored, pages.buffered_bytes());
            }
        }
    }

    #[test]
    fn it_takes_as_much_as_it_may_and_zeros_beyond() {
        let mut pages = Pages::new(2 * PAGE as u64);
        pages.write(0, &[1; 2 * PAGE]).unwrap();
        let error = pages.write(5 * PAGE as u64, &[1]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        pages.write(5 * PAGE as u64, &[0; 3 * PAGE]).unwrap();
        pages.write(PAGE as u64, &[2; 10]).unwrap();
        pages.clear(0..PAGE as u64).unwrap();
        pages.write(5 * PAGE as u64, &[1]).unwrap();
        assert_eq!(pages.buffered_bytes(), 2 * PAGE as u64);
    }
}
