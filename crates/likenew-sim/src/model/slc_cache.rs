//! The pseudo-SLC write cache of a flash drive as its file describes it.

use likenew_core::units::Nanos;

use super::flash_model::FlashModel;
use super::layer::Layer;
use super::{finish, span};
use crate::error::SimError;
use crate::file_error::FileError;
use crate::flash::nand_parameters::CellTimes;
use crate::flash::slc_cache_parameters::{SlcCacheParameters, WhenFull};
use crate::section::{Section, Site, SourceEntry};

/// The table `[slc_cache]`.
pub(super) struct SlcCacheTable<'a> {
    site: Site<'a>,
    parameters: SlcCacheParameters,
    times: CellTimes,
}

/// Reads the table `[slc_cache]`, if there is one.
pub(super) fn read<'a>(
    root: &mut Section<'a>,
    sources: &mut Vec<SourceEntry>,
) -> Result<Option<SlcCacheTable<'a>>, SimError> {
    let Some(section) = root.section_or_none("slc_cache")? else { return Ok(None) };
    let site = section.site();
    finish(section, sources, |section| {
        let kind = section.choice("kind", &["static", "dynamic", "hybrid"])?;
        let (has_static, has_dynamic) = [(true, false), (false, true), (true, true)][kind];
        let read_static = |section: &mut Section<'_>| section.count("static_blocks_per_die", 1..=1_000_000);
        let read_dynamic = |section: &mut Section<'_>| section.count("dynamic_percent_max", 1..=100);
        let parameters = SlcCacheParameters {
            bits_per_cell: section.count("bits_per_cell", 2..=5)?,
            static_blocks: if has_static { read_static(section)? } else { 0 },
            dynamic_percent_max: if has_dynamic { read_dynamic(section)? } else { 0 },
            when_full: [WhenFull::Direct, WhenFull::Fold]
                [section.choice("when_full", &["direct", "fold"])?],
            idle_kept_blocks: section.count("idle_kept_blocks_per_die", 0..=1_000_000)?,
        };
        let read: Nanos = span(section, "read_ns")?;
        let times = CellTimes { read, program: span(section, "program_ns")? };
        Ok(SlcCacheTable { site, parameters, times })
    })
    .map(Some)
}

impl SlcCacheTable<'_> {
    /// Gives a drive this cache.
    ///
    /// # Errors
    /// The drive's flash is too small for it, or its translation layer has no such cache.
    pub(super) fn add_to(&self, model: &mut FlashModel) -> Result<(), SimError> {
        match &mut model.layer {
            Layer::Page(page) => {
                page.slc_cache = Some(self.parameters);
                page.check().map_err(|reason| self.site.error(reason))?;
            }
            Layer::Compressing(_) | Layer::Block(_) | Layer::Bast(_) | Layer::Fast(_) => {
                return Err(self.site.error(FileError::SlcCacheWithoutPageMap));
            }
        }
        model.parameters.nand.slc = self.times;
        Ok(())
    }
}
