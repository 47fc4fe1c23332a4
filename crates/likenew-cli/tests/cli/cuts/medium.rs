//! What a power cut leaves on a drive: everything flushed, and a random part of the rest.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use likenew_core::drive::BlockStore as _;
use likenew_core::powercut::{End, Power, VolatileDevice};

use super::recorder::{Event, Past};

/// File systems rely on a block of this length being written as a whole, for their superblocks: drives write
/// it as one.
const BLOCK: u64 = 4096;
const SECTOR: u32 = 512;

/// The content of a sector that was being written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sectors {
    /// It may hold garbage.
    MayBeGarbage,
    /// It holds the old or the new data, as drives guarantee. A log that is found by a number at the
    /// beginning of each sector relies on that (xfs: `xlog_find_head` in fs/xfs/xfs_log_recover.c).
    AreWhole,
}

/// A drive that loses its power again and again, each time later.
pub(crate) struct Medium<'p> {
    past: &'p Past,
    sectors: Sectors,
    /// Durable content: after this many events.
    durable: Vec<u8>,
    done: usize,
    flushes_seen: usize,
    covered: usize,
}

impl<'p> Medium<'p> {
    pub(crate) fn new(past: &'p Past, sectors: Sectors) -> Self {
        Self { past, sectors, durable: past.base.clone(), done: 0, flushes_seen: 0, covered: 0 }
    }

    /// Writes to the file `image` what is on the drive when the power fails after `cut` events: everything
    /// flushed, and of later writes all, a part or none, in any order, with garbage sectors if the drive may
    /// leave those. `cut` is never before the last one.
    pub(crate) fn cut(&mut self, cut: usize, seed: u64, image: &File) {
        for event in &self.past.events[self.flushes_seen..cut] {
            if let Event::Flush { covers } = event {
                self.covered = self.covered.max(*covers);
            }
        }
        self.flushes_seen = cut;
        for event in &self.past.events[self.done..self.covered] {
            let (range, bytes) = written(event);
            match bytes {
                Some(bytes) => self.durable[range].copy_from_slice(bytes),
                None => self.durable[range].fill(0),
            }
        }
        self.done = self.covered;
        image.write_all_at(&self.durable, 0).unwrap();
        self.chance(&self.past.events[self.done..cut], seed, image);
    }

    /// A random part of the writes that were not flushed.
    fn chance(&self, events: &[Event], seed: u64, image: &File) {
        // Single blocks, and the first one, are written as a whole or not at all.
        let (mut long, mut single) = (Vec::new(), Vec::new());
        for (index, event) in events.iter().enumerate() {
            let (range, bytes) = written(event);
            let lost = (seed >> (index % 64)) & 1 == 1;
            let (start, end) = (range.start as u64, range.end as u64);
            let head = if end - start <= BLOCK { end } else { start.max(BLOCK.min(end)) };
            let part = |part: Range<u64>| {
                let within = (part.start - start) as usize..(part.end - start) as usize;
                match bytes {
                    Some(bytes) => bytes[within].to_vec(),
                    None => vec![0; within.len()],
                }
            };
            if head > start && !lost {
                single.push((start, part(start..head)));
            }
            if head < end {
                long.push((head, part(head..end)));
            }
        }
        for (offset, mut bytes) in torn(&self.durable, &long, seed) {
            if self.sectors == Sectors::AreWhole {
                self.make_whole(offset, &mut bytes, &long);
            }
            image.write_all_at(&bytes, offset).unwrap();
        }
        for (offset, bytes) in single {
            image.write_all_at(&bytes, offset).unwrap();
        }
    }

    /// Sectors with data that was never written there get their old content.
    fn make_whole(&self, start: u64, bytes: &mut [u8], writes: &[(u64, Vec<u8>)]) {
        for (sector, held) in (start..).step_by(SECTOR as usize).zip(bytes.chunks_mut(SECTOR as usize)) {
            let was = &self.durable[sector as usize..][..held.len()];
            let is_written = writes.iter().any(|(offset, bytes)| {
                let within =
                    sector.checked_sub(*offset).and_then(|at| bytes.get(at as usize..)?.get(..held.len()));
                within.is_some_and(|written| written == held)
            });
            if !is_written {
                held.copy_from_slice(was);
            }
        }
    }
}

fn written(event: &Event) -> (Range<usize>, Option<&[u8]>) {
    match event {
        Event::Write { offset, bytes } => {
            (*offset as usize..*offset as usize + bytes.len(), Some(bytes.as_slice()))
        }
        Event::Trim(range) => (range.start as usize..range.end as usize, None),
        Event::Flush { .. } => (0..0, None),
    }
}

/// Writes to the same places of a [`VolatileDevice`], and cuts its power.
fn torn(durable: &[u8], writes: &[(u64, Vec<u8>)], seed: u64) -> Vec<(u64, Vec<u8>)> {
    let mut places: BTreeMap<u64, u64> = BTreeMap::new();
    let mut ranges: Vec<Range<u64>> =
        writes.iter().map(|(offset, bytes)| *offset..*offset + bytes.len() as u64).collect();
    ranges.sort_by_key(|range| range.start);
    for range in ranges {
        match places.last_entry().filter(|last| *last.get() >= range.start) {
            Some(mut last) => {
                let end = range.end.max(*last.get());
                last.insert(end);
            }
            None => drop(places.insert(range.start, range.end)),
        }
    }
    if places.is_empty() {
        return Vec::new();
    }
    let (mut content, mut at) = (Vec::new(), BTreeMap::new());
    for (start, end) in &places {
        at.insert(*start, content.len() as u64);
        content.extend_from_slice(&durable[*start as usize..*end as usize]);
    }
    let power = Power::default();
    let mut drive = VolatileDevice::new(content, SECTOR, seed, &power);
    for (offset, bytes) in writes {
        let (start, place) = at.range(..=*offset).next_back().expect("each write lies in a place");
        drive.write_at(place + (offset - start), bytes).unwrap();
    }
    power.cut_after(0);
    drive.flush().unwrap_err();
    drive.restore_power(End::PowerLost);
    let held = |(start, end): (u64, u64)| {
        let place = at[&start] as usize;
        (start, drive.content()[place..place + (end - start) as usize].to_vec())
    };
    places.into_iter().map(held).collect()
}

/// An image mounted by the kernel, with its loop device.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// # Errors
    /// The message of mount.
    pub(crate) fn of(image: &Path, point: &Path) -> Result<Self, String> {
        fs::create_dir_all(point).unwrap();
        let output =
            Command::new("mount").args(["-o", "loop,strictatime"]).arg(image).arg(point).output().unwrap();
        if output.status.success() {
            Ok(Self(point.to_owned()))
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted =
            || Command::new("umount").arg(&self.0).output().is_ok_and(|output| output.status.success());
        // A thread that is about to exec another program still holds the open files of this one.
        let is_gone = (0..200).any(|_| {
            let is_gone = unmounted();
            if !is_gone {
                std::thread::sleep(Duration::from_millis(5));
            }
            is_gone
        });
        assert!(is_gone || std::thread::panicking(), "{} cannot be unmounted", self.0.display());
    }
}
