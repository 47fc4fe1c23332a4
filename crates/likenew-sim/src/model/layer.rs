//! The translation layer of a flash drive as its file describes it.

use super::Section;
use crate::error::SimError;
use crate::flash::compressing_parameters::CompressingParameters;
use crate::flash::die_set::DIES_MAX;
use crate::flash::flash_geometry::FlashGeometry;
use crate::flash::page_map::PageMapParameters;

/// Which translation layer a drive has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layer {
    /// Any page may be anywhere.
    Page(PageMapParameters),
    /// As that, of compressed pages.
    Compressing(CompressingParameters),
}

impl Layer {
    /// The size of a page that is not compressed; see
    /// [`size_max`](crate::flash::translation_layer::TranslationLayer::size_max).
    pub(super) fn size_max(&self) -> u32 {
        match self {
            Self::Page(_) => 1,
            Self::Compressing(compressing) => compressing.granules_per_page,
        }
    }

    /// Host pages that a program unit takes at most.
    pub(super) fn unit_pages_max(&self) -> u32 {
        match self {
            Self::Page(page) => page.flash.unit_pages,
            Self::Compressing(compressing) => compressing.unit_pages_max(),
        }
    }
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
    Page {
        free_blocks_min: u32,
        idle_free_blocks: u32,
    },
    Compressing {
        free_blocks_min: u32,
        idle_free_blocks: u32,
        granules_per_page: u32,
        granules_min: u32,
        parity_stripe_units: u32,
    },
}

/// Reads the table `[map]`.
pub(super) fn read(section: &mut Section<'_>) -> Result<Map, SimError> {
    let page_bytes = section.count("page_bytes", 512..=65_536)?;
    let family = match section.choice("family", &["page", "compressing"])? {
        0 => Family::Page {
            free_blocks_min: section.count("free_blocks_min_per_die", 2..=1000)?,
            idle_free_blocks: section.count("idle_free_blocks_per_die", 0..=1_000_000)?,
        },
        1 => Family::Compressing {
            free_blocks_min: section.count("free_blocks_min_per_die", 2..=1000)?,
            idle_free_blocks: section.count("idle_free_blocks_per_die", 0..=1_000_000)?,
            granules_per_page: section.count("granules_per_page", 1..=255)?,
            granules_min: section.count("granules_min_per_page", 1..=255)?,
            parity_stripe_units: section.count("parity_stripe_units", 0..=DIES_MAX)?,
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
            Self::Page { free_blocks_min, idle_free_blocks } => {
                let page = PageMapParameters { flash, free_blocks_min, idle_free_blocks };
                page.check()?;
                Ok(Layer::Page(page))
            }
            Self::Compressing {
                free_blocks_min,
                idle_free_blocks,
                granules_per_page,
                granules_min,
                parity_stripe_units,
            } => {
                let compressing = CompressingParameters {
                    flash,
                    free_blocks_min,
                    idle_free_blocks,
                    granules_per_page,
                    granules_min,
                    parity_stripe_units,
                };
                compressing.check()?;
                Ok(Layer::Compressing(compressing))
            }
        }
    }
}
