//! Drives with known insides: drawn at random, within what drives of 2006 to 2024 were like, and small enough to be filled
//! several times in a second or two.
//!
//! A seed makes a file of the catalog's form and a state, the same on every machine; what whoever measures the drive
//! should find is its [`Truth`](crate::truth::Truth), which follows from the file. Parameters are drawn each for itself from
//! ranges that data sheets show, and drawn again where they do not go together: flash that is faster than its link (but for some),
//! too little spare for the size of an erase block, a buffer that does not hold two program units.

mod disk;
mod flash;
mod parts;

use crate::error::SimError;
use crate::model::Model;
use disk::{draw_disk, draw_volume};
use flash::{draw_clusters, draw_page_map};
use parts::Dice;

/// A drive that was drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedDrive {
    /// What it is named by, such as `generated-17`.
    pub name: String,
    /// Its file, in the form of the catalog.
    pub file: String,
    /// The state it is in unless another is asked for, as it stands after a target's question mark: empty, `state=used` or
    /// `state=used&age=90d`.
    pub state: String,
    /// Which kind of drive it is.
    pub family: Family,
}

/// The kinds of drives that are drawn, in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Family {
    /// A hard disk.
    Disk,
    /// A shingled hard disk.
    ShingledDisk,
    /// A page map.
    PageMap,
    /// A page map behind a pseudo-SLC cache of its own blocks.
    StaticSlc,
    /// A page map behind a pseudo-SLC cache out of what is free.
    DynamicSlc,
    /// A page map behind both.
    HybridSlc,
    /// A page map that compresses.
    Compressing,
    /// A map of whole blocks.
    BlockMap,
    /// A map of whole blocks with a log block for each.
    Bast,
    /// A map of whole blocks with shared log blocks.
    Fast,
    /// A network volume.
    Volume,
}

impl Family {
    /// All of them.
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

    /// In words.
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

/// What comes before the seed in the name of such a drive.
pub(crate) const PREFIX: &str = "generated-";

/// The drive of a seed. Seeds that follow one another go through all [families](Family::ALL) in turn.
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
    /// As a target: `sim:generated-17`.
    pub fn target(&self) -> String {
        format!("sim:{}", self.name)
    }

    /// What its file says.
    ///
    /// # Errors
    /// None, unless the rules by which drives are drawn are wrong.
    pub fn model(&self) -> Result<Model, SimError> {
        Model::parse(&format!("{}.toml", self.name), &self.file)
    }
}
