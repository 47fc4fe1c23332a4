//! What lay where a chunk was restored: most likely torn, and kept all the same.

use std::ops::Range;

use likenew_core::ground::Ground;

use crate::error::RefreshError;
use crate::paper::Paper;
use crate::record::{BLOCK, Kind, Record};

/// Appends what lies in these places to `aside` and makes it durable.
pub(crate) fn set_aside<'a>(
    places: impl Iterator<Item = &'a Range<u64>>,
    journal: u64,
    ground: &mut impl Ground,
    aside: &mut impl Paper,
) -> Result<(), RefreshError> {
    let keep = "keep what lies there beside";
    let mut is_empty = true;
    for place in places {
        let length = place.end - place.start;
        let mut sheet = vec![0; BLOCK + length as usize];
        let (block, bytes) = sheet.split_at_mut(BLOCK);
        ground.read_at(place.start, bytes).map_err(RefreshError::read(place.start, length))?;
        Record::new(journal, 0, Kind::Found, place.clone(), bytes).encode(block);
        let end = aside.bytes().map_err(RefreshError::paper(keep))?;
        aside.write_at(end.next_multiple_of(BLOCK as u64), &sheet).map_err(RefreshError::paper(keep))?;
        is_empty = false;
    }
    if !is_empty {
        aside.sync().map_err(RefreshError::paper(keep))?;
    }
    Ok(())
}
