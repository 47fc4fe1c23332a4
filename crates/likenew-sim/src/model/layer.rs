//! The translation layer of a flash drive as its file describes it.

use likenew_core::units::Nanos;

use super::{Section, policies, span};
use crate::error::SimError;
use crate::file_error::FileError;
use crate::flash::compressing_parameters::CompressingParameters;
use crate::flash::die_set::DIES_MAX;
use crate::flash::flash_geometry::FlashGeometry;
use crate::flash::layout_error::LayoutError;
use crate::flash::log_block::{BastParameters, ClusterParameters, Copies, Eviction};
use crate::flash::page_map_parameters::PageMapParameters;
use crate::flash::policies::Policies;
use crate::wording::domain::Domain;
use crate::wording::drive::{self as wording, LogBlocks};

/// Which translation layer a drive has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Layer {
    /// Page map: any page may be anywhere.
    Page(PageMapParameters),
    /// The same, with compressed pages.
    Compressing(CompressingParameters),
    /// Block map: whole blocks have their place.
    Block(ClusterParameters),
    /// BAST: whole blocks have their place, and some of them a log block.
    Bast(BastParameters),
    /// FAST: whole blocks have their place, and share log blocks.
    Fast(ClusterParameters),
}

impl Layer {
    /// The size of a page that is not compressed; see
    /// [`size_max`](crate::flash::translation_layer::TranslationLayer::size_max).
    pub(super) fn size_max(&self) -> u32 {
        match self {
            Self::Page(_) | Self::Block(_) | Self::Bast(_) | Self::Fast(_) => 1,
            Self::Compressing(compressing) => compressing.granules_per_page,
        }
    }

    /// Host pages that a program unit takes at most.
    pub(super) fn unit_pages_max(&self) -> u32 {
        match self {
            Self::Page(page) => page.flash.unit_pages,
            // They program page by page.
            Self::Block(_) | Self::Bast(_) | Self::Fast(_) => 1,
            Self::Compressing(compressing) => compressing.unit_pages_max(),
        }
    }

    /// What is particular to a map of clusters of pages with so many bytes, in words.
    pub(crate) fn summary(&self, page_bytes: u64) -> Option<String> {
        let (name, clusters, logs) = match self {
            Self::Page(_) | Self::Compressing(_) => return None,
            Self::Block(clusters) => ("block map", clusters, LogBlocks::Replacement(clusters.log_blocks)),
            Self::Bast(bast) => ("BAST", &bast.clusters, LogBlocks::Log(bast.clusters.log_blocks)),
            Self::Fast(clusters) => ("FAST", clusters, LogBlocks::Log(clusters.log_blocks)),
        };
        let cluster_bytes = u64::from(clusters.cluster_pages()) * page_bytes;
        Some(wording::cluster_map(name, cluster_bytes, clusters.groups(), logs))
    }
}

/// The table `[map]`.
pub(super) struct Map {
    /// Bytes of a page of the map.
    pub(super) page_bytes: u32,
    /// Firmware time that a die waits for each page that it copies.
    pub(super) copy: Nanos,
    /// The rest.
    pub(super) family: Family,
}

/// Parameters of one family of translation layers.
pub(super) enum Family {
    Page {
        free_blocks_min: u32,
        idle_free_blocks: u32,
        policies: Policies,
    },
    Compressing {
        free_blocks_min: u32,
        idle_free_blocks: u32,
        granules_per_page: u32,
        granules_min: u32,
        parity_stripe_units: u32,
    },
    Block(Clusters),
    Bast {
        clusters: Clusters,
        eviction: Eviction,
        partial_merges: bool,
    },
    Fast(Clusters),
}

/// What the families with a map of clusters share.
pub(super) struct Clusters {
    cluster_dies: u32,
    /// As long as a cluster if it is not said.
    stripe_pages: Option<u32>,
    log_blocks: u32,
    copies: Copies,
    idle_merges: bool,
}

/// Reads the table `[map]`.
pub(super) fn read(section: &mut Section<'_>) -> Result<Map, SimError> {
    let page_bytes = section.count("page_bytes", 512..=65_536)?;
    let mut copy = Nanos::ZERO;
    let mut clusters = |section: &mut Section<'_>| {
        let clusters = read_clusters(section, page_bytes)?;
        // The firmware looks after one page of the group at a time.
        copy = Nanos(span(section, "copy_page_ns")?.0 * u64::from(clusters.cluster_dies));
        Ok(clusters)
    };
    let family = match section.choice("family", &["page", "compressing", "block", "bast", "fast"])? {
        0 => Family::Page {
            free_blocks_min: section.count("free_blocks_min_per_die", 2..=1000)?,
            idle_free_blocks: section.count("idle_free_blocks_per_die", 0..=1_000_000)?,
            policies: policies::read(section)?,
        },
        1 => Family::Compressing {
            free_blocks_min: section.count("free_blocks_min_per_die", 2..=1000)?,
            idle_free_blocks: section.count("idle_free_blocks_per_die", 0..=1_000_000)?,
            granules_per_page: section.count("granules_per_page", 1..=255)?,
            granules_min: section.count("granules_min_per_page", 1..=255)?,
            parity_stripe_units: section.count("parity_stripe_units", 0..=DIES_MAX)?,
        },
        2 => Family::Block(clusters(section)?),
        3 => Family::Bast {
            clusters: clusters(section)?,
            eviction: Eviction::ALL[section.choice("eviction", &Eviction::WORDS)?],
            partial_merges: section.truth("partial_merges")?,
        },
        4 => Family::Fast(clusters(section)?),
        _ => unreachable!("there are no more words"),
    };
    Ok(Map { page_bytes, copy, family })
}

fn read_clusters(section: &mut Section<'_>, page_bytes: u32) -> Result<Clusters, SimError> {
    let stripe_bytes = section.integer_or_none("stripe_bytes", 512..=1 << 32)?;
    let page = u64::from(page_bytes);
    if let Some(odd) = stripe_bytes.filter(|bytes| !bytes.is_multiple_of(page)) {
        let domain = Domain::MultipleOf { key: "map.page_bytes", value: page };
        return Err(section.error(FileError::wrong_value("map.stripe_bytes", odd, domain)));
    }
    Ok(Clusters {
        cluster_dies: section.count("cluster_dies", 1..=DIES_MAX)?,
        stripe_pages: stripe_bytes.map(|bytes| u32::try_from(bytes / page).expect("at most 2²³ pages")),
        log_blocks: section.count("log_blocks_per_group", 1..=65_535)?,
        copies: Copies::ALL[section.choice("merges_copy", &Copies::WORDS)?],
        idle_merges: section.truth("idle_merges")?,
    })
}

impl Clusters {
    fn build(&self, flash: FlashGeometry) -> Result<ClusterParameters, LayoutError> {
        flash.check()?;
        let cluster_pages = u64::from(self.cluster_dies) * u64::from(flash.pages_per_block);
        let cluster_pages = u32::try_from(cluster_pages).expect("at most 256 blocks of 65535 pages");
        Ok(ClusterParameters {
            flash,
            cluster_dies: self.cluster_dies,
            stripe_pages: self.stripe_pages.unwrap_or(cluster_pages),
            log_blocks: self.log_blocks,
            copies: self.copies,
            idle_merges: self.idle_merges,
        })
    }
}

impl Family {
    /// The translation layer of this family over this flash.
    ///
    /// # Errors
    /// What does not fit.
    pub(super) fn build(&self, flash: FlashGeometry) -> Result<Layer, LayoutError> {
        match self {
            Self::Page { free_blocks_min, idle_free_blocks, policies } => {
                let (free_blocks_min, idle_free_blocks, policies) =
                    (*free_blocks_min, *idle_free_blocks, *policies);
                let page =
                    PageMapParameters { flash, free_blocks_min, idle_free_blocks, slc_cache: None, policies };
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
                    free_blocks_min: *free_blocks_min,
                    idle_free_blocks: *idle_free_blocks,
                    granules_per_page: *granules_per_page,
                    granules_min: *granules_min,
                    parity_stripe_units: *parity_stripe_units,
                };
                compressing.check()?;
                Ok(Layer::Compressing(compressing))
            }
            Self::Block(clusters) => {
                let block = clusters.build(flash)?;
                block.check_block_map()?;
                Ok(Layer::Block(block))
            }
            Self::Bast { clusters, eviction, partial_merges } => {
                let (eviction, partial_merges) = (*eviction, *partial_merges);
                let bast = BastParameters { clusters: clusters.build(flash)?, eviction, partial_merges };
                bast.check()?;
                Ok(Layer::Bast(bast))
            }
            Self::Fast(clusters) => {
                let fast = clusters.build(flash)?;
                fast.check_fast()?;
                Ok(Layer::Fast(fast))
            }
        }
    }
}
