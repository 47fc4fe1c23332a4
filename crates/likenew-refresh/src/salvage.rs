//! Saves the existing data before a chunk is restored: most likely torn, but kept all the same.

use std::ops::Range;

use likenew_core::block_store::BlockStore;

use crate::durable_file::DurableFile;
use crate::error::RefreshError;
use crate::record::{BLOCK, Kind, Record};

/// Appends the data at these places to `salvage` and makes it durable.
pub(crate) fn append<'a>(
    places: impl Iterator<Item = &'a Range<u64>>,
    journal: u64,
    store: &mut impl BlockStore,
    salvage: &mut impl DurableFile,
) -> Result<(), RefreshError> {
    let mut is_empty = true;
    for place in places {
        let length = place.end - place.start;
        let mut buffer = vec![0; BLOCK + length as usize];
        let (block, bytes) = buffer.split_at_mut(BLOCK);
        store.read_at(place.start, bytes).map_err(RefreshError::read(place.start, length))?;
        Record::new(journal, 0, Kind::Original, place.clone(), bytes).encode(block);
        let end = salvage.bytes().map_err(RefreshError::Salvage)?;
        salvage.write_at(end.next_multiple_of(BLOCK as u64), &buffer).map_err(RefreshError::Salvage)?;
        is_empty = false;
    }
    if !is_empty {
        salvage.sync().map_err(RefreshError::Salvage)?;
    }
    Ok(())
}
