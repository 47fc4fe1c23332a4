//! The policies of a page map as its file describes them. A key that is absent leaves the policy at its default.

use super::Section;
use crate::error::SimError;
use crate::file_error::FileError;
use crate::flash::policies::{Collection, ErasedBlocks, Policies, Streams};

const COLLECTIONS: [&str; 4] = ["greedy", "fifo", "choices", "cost-benefit"];
const STREAMS: [&str; 3] = ["mixed", "separate", "hot-cold"];
const ERASED_BLOCKS: [&str; 2] = ["fifo", "least-worn"];

/// Reads those keys of the table `[map]`.
pub(super) fn read(section: &mut Section<'_>) -> Result<Policies, SimError> {
    Ok(Policies {
        collection: read_collection(section)?,
        streams: match section.choice_or_none("streams", &STREAMS)? {
            Some(0) => Streams::Mixed,
            Some(1) => Streams::Separate,
            Some(_) => Streams::HotCold,
            None => Streams::default(),
        },
        erased_blocks: match section.choice_or_none("erased_blocks", &ERASED_BLOCKS)? {
            Some(0) => ErasedBlocks::Fifo,
            Some(_) => ErasedBlocks::LeastWorn,
            None => ErasedBlocks::default(),
        },
        wear_spread_max: count_or_none(section, "wear_spread_max", 0..=1_000_000)?.unwrap_or(0),
        endurance_erases: count_or_none(section, "endurance_erases", 1..=10_000_000)?,
    })
}

fn read_collection(section: &mut Section<'_>) -> Result<Collection, SimError> {
    let collection = section.choice_or_none("collection", &COLLECTIONS)?;
    let choices = count_or_none(section, "collection_choices", 1..=1000)?;
    match (collection, choices) {
        (Some(2), Some(count)) => Ok(Collection::Choices(count)),
        (Some(2), None) => Err(section.error(FileError::NoCollectionChoices)),
        (_, Some(_)) => Err(section.error(FileError::NeedlessCollectionChoices)),
        (None, None) => Ok(Collection::default()),
        (Some(0), None) => Ok(Collection::Greedy),
        (Some(1), None) => Ok(Collection::Fifo),
        (Some(_), None) => Ok(Collection::CostBenefit),
    }
}

fn count_or_none(
    section: &mut Section<'_>,
    key: &'static str,
    range: std::ops::RangeInclusive<u64>,
) -> Result<Option<u32>, SimError> {
    let number = section.integer_or_none(key, range)?;
    Ok(number.map(|number| u32::try_from(number).expect("the range fits 32 bits")))
}
