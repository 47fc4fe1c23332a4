//! Which ranges of a file have their own blocks that hold the file's data.

use std::ops::Range;
use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::lab_error::LabError;
use rustix::fs::fsync;
use rustix::io::Errno;

use super::{SkippedRange, refusal};
use crate::lab_error::io_error;
use crate::mounts::Mount;
use crate::trim::{Extent, Flush, extents};
use crate::wording::action;
use crate::wording::rewrite as wording;

/// File systems without extent reports that know neither holes nor sharing: every block belongs to one file.
const PLAIN: [&str; 3] = ["vfat", "msdos", "exfat"];

/// Of a file of `bytes` bytes: what can be written in place, in whole blocks below `whole`, and what of its
/// data cannot.
pub(super) fn unshared_ranges(
    file: &OwnedFd,
    path: &Path,
    bytes: u64,
    whole: u64,
    block: u32,
) -> Result<(Vec<Range<u64>>, Vec<SkippedRange>), LabError> {
    fsync(file).map_err(io_error(action::flush(path.display())))?;
    match extents(file, bytes, Flush::First) {
        Ok(extents) => Ok(split_ranges(&extents, bytes, whole, block)),
        Err(Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL) => {
            let kind = Mount::containing(file).map_or(String::new(), |mount| mount.kind);
            if PLAIN.contains(&&*kind) {
                return Ok((
                    std::iter::once(0..whole).filter(|range| !range.is_empty()).collect(),
                    Vec::new(),
                ));
            }
            Err(refusal(path, &wording::shared_blocks_unknown(&kind)))
        }
        Err(errno) => Err(io_error(action::ask_place(path.display()))(errno)),
    }
}

fn split_ranges(
    extents: &[Extent],
    bytes: u64,
    whole: u64,
    block: u32,
) -> (Vec<Range<u64>>, Vec<SkippedRange>) {
    let (mut ranges, mut skips) = (Vec::<Range<u64>>::new(), Vec::new());
    let block = u64::from(block);
    for extent in extents {
        let end = extent.logical.saturating_add(extent.length);
        let data = extent.logical..end.min(bytes);
        if data.is_empty() {
            continue;
        }
        if let Some(reason) = extent.unfit() {
            skips.push(SkippedRange { place: data, reason });
            continue;
        }
        let fit = data.start.next_multiple_of(block)..(data.end - data.end % block).min(whole);
        match ranges.last_mut() {
            // The system's answers are sorted; ignore any that is not.
            Some(last) if fit.start < last.end => continue,
            Some(last) if fit.start == last.end && !fit.is_empty() => last.end = fit.end,
            _ if !fit.is_empty() => ranges.push(fit.clone()),
            _ => {}
        }
        if fit.end < data.end {
            let place = fit.end.max(data.start)..data.end;
            skips.push(SkippedRange { place, reason: wording::SHORTER_THAN_A_BLOCK });
        }
    }
    (ranges, skips)
}
