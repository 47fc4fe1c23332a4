//! Where on a drive an aging run writes and measures.

use std::ops::Range;

use likenew_core::quantity::Size;
use likenew_core::region::Region;
use likenew_core::target::Geometry;

use super::recipe::Recipe;
use super::{AgeOptions, wording};

/// Sequential I/Os are this long unless a boundary limits them.
const BLOCK_MAX: u32 = 1 << 20;

/// The zones of one run on one drive. The first is for random writes, the next holds the data of
/// applications; the aging covers all of the span.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ZoneLayout {
    /// The drive's geometry.
    pub(super) geometry: Geometry,
    /// Everything that is aged.
    pub(super) span: Range<u64>,
    /// Zone of small files; all of the span unless the recipe keeps old files.
    pub(super) free: Range<u64>,
    /// Zone of random writes.
    pub(super) random_span: Range<u64>,
    /// Zone of applications, sequential I/Os and reads; holds data whenever it is read.
    pub(super) files: Range<u64>,
    /// Bytes of one sequential I/O.
    pub(super) block: u32,
    /// Whether addresses belong to files that can be deleted: a folder.
    pub(super) is_folder: bool,
}

impl ZoneLayout {
    /// The zones of this drive.
    ///
    /// # Errors
    /// A sentence, if the settings do not fit it.
    pub(super) fn lay_out(options: &AgeOptions, geometry: &Geometry) -> Result<Self, String> {
        if !geometry.writable {
            return Err(wording::target_is_read_only());
        }
        let asked = options.span.unwrap_or(geometry.capacity);
        if asked > geometry.capacity {
            return Err(wording::span_too_large(Size(asked), Size(geometry.capacity)));
        }
        let span = 0..asked - asked % u64::from(geometry.block).max(4096);
        let most = span.end / 5 * 2;
        if options.random_span > most {
            let most = most - most % super::RANDOM_SPAN_STEP;
            return Err(wording::random_span_ages_by_itself(
                Size(options.random_span),
                Size(span.end),
                Size(most),
            ));
        }
        let is_folder = geometry.boundary.is_some();
        // In a folder the old files are those of its owner.
        let keeps_old_files = options.recipe == Recipe::Churn && !is_folder;
        let start = if keeps_old_files { round_down(span.end / 2, u64::from(BLOCK_MAX)) } else { 0 };
        let random_span = start..start + options.random_span;
        let files = random_span.end..random_span.end + options.files_bytes();
        let block =
            geometry.boundary.map_or(BLOCK_MAX, |bytes| BLOCK_MAX.min(1 << bytes.trailing_zeros().min(20)));
        Ok(Self {
            geometry: geometry.clone(),
            free: start..span.end,
            span,
            random_span,
            files,
            block,
            is_folder,
        })
    }

    /// The part of this number of the zone of applications, in whole blocks.
    pub(super) fn part_of_files(&self, part: u32, parts: u32) -> Range<u64> {
        let each = round_down((self.files.end - self.files.start) / u64::from(parts), u64::from(BLOCK_MAX));
        let start = self.files.start + u64::from(part) * each;
        start..start + each
    }
}

/// As a region of a workload.
pub(super) fn region(range: &Range<u64>) -> Region {
    Region::bytes(range.clone())
}

/// The multiple of `step` at or below `bytes`.
pub(super) fn round_down(bytes: u64, step: u64) -> u64 {
    bytes - bytes % step
}
