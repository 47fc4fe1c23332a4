//! The translation layer of a flash drive as its file describes it.

use super::{Section, policies};
use crate::error::SimError;
use crate::flash::flash_geometry::FlashGeometry;
use crate::flash::page_map::PageMapParameters;
use crate::flash::policies::Policies;

/// Which translation layer a drive has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layer {
    /// Any page may be anywhere.
    Page(PageMapParameters),
}

/// The table `[map]`.
pub(super) struct Map {
    /// Bytes of a page of the map.
    pub(super) page_bytes: u32,
    /// The rest.
    pub(super) family: Family,
}

/// What is particular to a family of translation layers.
pub(super) enum Family {
    Page { free_blocks_min: u32, idle_free_blocks: u32, policies: Policies },
}

/// Reads the table `[map]`.
pub(super) fn read(section: &mut Section<'_>) -> Result<Map, SimError> {
    let page_bytes = section.count("page_bytes", 512..=65_536)?;
    let family = match section.choice("family", &["page"])? {
        0 => Family::Page {
            free_blocks_min: section.count("free_blocks_min_per_die", 2..=1000)?,
            idle_free_blocks: section.count("idle_free_blocks_per_die", 0..=1_000_000)?,
            policies: policies::read(section)?,
        },
        _ => unreachable!("there are no more words"),
    };
    Ok(Map { page_bytes, family })
}

impl Family {
    /// The translation layer of this family over this flash.
    ///
    /// # Errors
    /// A sentence that says what does not fit.
    pub(super) fn over(&self, flash: FlashGeometry) -> Result<Layer, String> {
        match *self {
            Self::Page { free_blocks_min, idle_free_blocks, policies } => {
                let page = PageMapParameters { flash, free_blocks_min, idle_free_blocks, policies };
                page.check()?;
                Ok(Layer::Page(page))
            }
        }
    }
}
