//! Values of a flag, single or as every doubling from one to another: `4k`, `512..64M`, `1..256`.

use std::str::FromStr;

use likenew_procedures::sweep::Block;

use crate::wording;

/// One value, or a first one and its doublings up to a last one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doublings<T>(Vec<T>);

/// What can be doubled.
pub(crate) trait Doubling: FromStr + Copy + PartialOrd {
    /// Twice the value, if that exists.
    fn double(self) -> Option<Self>;

    /// The error for an invalid text.
    fn refusal(text: &str, error: Self::Err) -> String;
}

impl Doubling for u32 {
    fn double(self) -> Option<Self> {
        self.checked_mul(2).filter(|twice| *twice > 0)
    }

    fn refusal(text: &str, _: Self::Err) -> String {
        wording::not_a_whole_number(text)
    }
}

impl Doubling for Block {
    fn double(self) -> Option<Self> {
        self.0.double().map(Self)
    }

    fn refusal(_: &str, error: Self::Err) -> String {
        error
    }
}

impl<T: Doubling> FromStr for Doublings<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let value = |part: &str| part.trim().parse::<T>().map_err(|error| T::refusal(part, error));
        let Some((first, last)) = text.split_once("..") else { return Ok(Self(vec![value(text)?])) };
        let end = |part| value(part).map_err(|reason| wording::in_range(text, reason));
        let (first, last) = (end(first)?, end(last)?);
        if last < first {
            return Err(wording::range_backwards(text));
        }
        let up_to_last = |value: &T| *value <= last;
        Ok(Self(std::iter::successors(Some(first), |value| value.double().filter(up_to_last)).collect()))
    }
}

/// All values of a flag, as listed; `otherwise` if none was given.
pub(crate) fn values<T: Copy>(given: &[Doublings<T>], otherwise: Vec<T>) -> Vec<T> {
    if given.is_empty() { otherwise } else { given.iter().flat_map(|one| &one.0).copied().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_doublings_up_to_their_end() {
        let depths = |text: &str| text.parse::<Doublings<u32>>().map(|depths| depths.0);
        assert_eq!(depths("32"), Ok(vec![32]));
        assert_eq!(depths("1..8"), Ok(vec![1, 2, 4, 8]));
        assert_eq!(depths("3..10"), Ok(vec![3, 6]));
        assert_eq!(depths("4294967295..4294967295"), Ok(vec![u32::MAX]));
        assert_eq!(depths("0..4"), Ok(vec![0]), "it is the procedure that refuses a depth of 0");
        let blocks: Vec<String> =
            "512..64M".parse::<Doublings<Block>>().unwrap().0.iter().map(Block::to_string).collect();
        assert_eq!((blocks.len(), &*blocks[0], &*blocks[17]), (18, "512", "64MiB"));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "..", "1..", "..4", "8..1", "1...4", "a", "-1", "1..2..4"] {
            assert!(text.parse::<Doublings<u32>>().is_err(), "{text}");
        }
        for text in ["0", "4k..", "2GiB", "1k..2GiB", "64k..4k"] {
            assert!(text.parse::<Doublings<Block>>().is_err(), "{text}");
        }
    }
}
