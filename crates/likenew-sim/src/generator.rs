//! Drives with known internals, drawn at random. They resemble drives of 2006 to 2024, but are small enough to be
//! filled several times within a second or two.
//!
//! A seed gives a file in the catalog's form and a state, the same on every machine. The
//! [`Truth`](crate::truth::Truth), which follows from the file, says what a measurement should find. Each parameter is
//! drawn independently from ranges that data sheets show. Combinations that do not fit are drawn again: flash faster
//! than its link (with exceptions), too little spare for the erase block size, or a buffer below two program units.

mod disk;
mod flash;
mod parts;

use crate::error::SimError;
use crate::model::Model;
use disk::{draw_disk, draw_volume};
use flash::{draw_clusters, draw_page_map};
use parts::Dice;

/// A generated drive.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedDrive {
    /// Its name, such as `generated-17`.
    pub name: String,
    /// Its file, in the form of the catalog.
    pub file: String,
    /// Its default state, as written after a target's question mark: empty, `state=used` or
    /// `state=used&age=90d`.
    pub state: String,
    /// The kind of drive.
    pub family: Family,
}

/// The kinds of generated drives; successive seeds take turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// A hard disk.
    Disk,
    /// A shingled hard disk.
    ShingledDisk,
    /// A flash drive with a page map.
    PageMap,
    /// A page map behind a static pseudo-SLC cache, which has blocks of its own.
    StaticSlc,
    /// A page map behind a dynamic pseudo-SLC cache, which takes free blocks.
    DynamicSlc,
    /// A page map behind a pseudo-SLC cache with both parts.
    HybridSlc,
    /// A page map with compression.
    Compressing,
    /// A block map.
    BlockMap,
    /// A block map with a log block per cluster.
    Bast,
    /// A block map with shared log blocks.
    Fast,
    /// A network volume.
    Volume,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 11] = [
        Self::PageMap,
        Self::Disk,
        Self::StaticSlc,
        Self::Bast,
        Self::Compressing,
        Self::Volume,
        Self::DynamicSlc,
        Self::ShingledDisk,
        Self::BlockMap,
        Self::HybridSlc,
        Self::Fast,
    ];

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::ShingledDisk => "shingled disk",
            Self::PageMap => "page map",
            Self::StaticSlc => "static SLC cache",
            Self::DynamicSlc => "dynamic SLC cache",
            Self::HybridSlc => "hybrid SLC cache",
            Self::Compressing => "compressing",
            Self::BlockMap => "block map",
            Self::Bast => "BAST",
            Self::Fast => "FAST",
            Self::Volume => "volume",
        }
    }
}

/// What precedes the seed in a generated drive's name.
pub(crate) const PREFIX: &str = "generated-";

/// Generates the drive of a seed. Successive seeds take turns through all [families](Family::ALL).
pub fn generate(seed: u64) -> GeneratedDrive {
    let families = Family::ALL.len() as u64;
    let family = Family::ALL[(seed % families) as usize];
    let dice = &mut Dice::new(seed);
    let (file, state) = match family {
        Family::Disk | Family::ShingledDisk => draw_disk(dice, seed, family == Family::ShingledDisk),
        Family::BlockMap | Family::Bast | Family::Fast => draw_clusters(dice, seed, family),
        Family::Volume => draw_volume(dice, seed),
        _ => draw_page_map(dice, seed, family),
    };
    GeneratedDrive { name: format!("{PREFIX}{seed}"), file, state, family }
}

impl GeneratedDrive {
    /// Its target: `sim:generated-17`.
    pub fn target(&self) -> String {
        format!("sim:{}", self.name)
    }

    /// Reads its file.
    ///
    /// # Errors
    /// Only if the rules of generation are wrong.
    pub fn model(&self) -> Result<Model, SimError> {
        Model::parse(&format!("{}.toml", self.name), &self.file)
    }
}
