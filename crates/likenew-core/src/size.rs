//! How long the I/Os of a stream are.

use std::fmt;
use std::str::FromStr;

use crate::serde_as_text;
use crate::units::{exact_size, parse_size};
use crate::wording;

/// One length, or several with weights: `4KiB`, or `4KiB:60,64KiB:40`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    choices: Vec<(u32, u32)>,
}

impl Size {
    /// Always this many bytes.
    pub fn fixed(bytes: u32) -> Self {
        assert!(bytes > 0, "an I/O moves at least one byte");
        Self { choices: vec![(bytes, 1)] }
    }

    /// These lengths in bytes with their weights.
    ///
    /// # Panics
    /// When there is none, or one of them or its weight is zero.
    pub fn mixed(choices: Vec<(u32, u32)>) -> Self {
        assert!(!choices.is_empty() && choices.iter().all(|(bytes, weight)| *bytes > 0 && *weight > 0));
        if let [(bytes, _)] = choices[..] { Self::fixed(bytes) } else { Self { choices } }
    }

    /// Each length in bytes with its weight; at least one, all above zero.
    pub fn choices(&self) -> &[(u32, u32)] {
        &self.choices
    }

    /// The longest, in bytes.
    pub fn max(&self) -> u32 {
        self.choices.iter().map(|(bytes, _)| *bytes).max().expect("a size has a choice")
    }

    /// The mean length, in bytes.
    pub fn mean(&self) -> f64 {
        let weights: f64 = self.choices.iter().map(|(_, weight)| f64::from(*weight)).sum();
        self.choices.iter().map(|(bytes, weight)| f64::from(*bytes) * f64::from(*weight)).sum::<f64>()
            / weights
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(bytes, _)] = self.choices[..] {
            return f.write_str(&exact_size(u64::from(bytes)));
        }
        for (index, (bytes, weight)) in self.choices.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}:{weight}", exact_size(u64::from(*bytes)))?;
        }
        Ok(())
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut choices = Vec::new();
        for part in text.split(',') {
            let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
            let bytes = parse_size(size).map_err(|error| error.to_string())?;
            let bytes = u32::try_from(bytes).ok().filter(|b| (1..=1 << 30).contains(b));
            let weight = weight.parse().ok().filter(|w| (1..=1_000_000).contains(w));
            match (bytes, weight) {
                (Some(bytes), Some(weight)) => choices.push((bytes, weight)),
                _ => return Err(wording::not_a_length(part)),
            }
        }
        Ok(Self { choices })
    }
}

serde_as_text!(Size);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_back_and_nonsense_does_not() {
        for text in ["4KiB", "4KiB:60,64KiB:40"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
        assert_eq!("4k:1,8k:3".parse::<Size>().unwrap().mean(), 7168.0);
        for text in ["", "0", "2GiB", "4k:0", "4k,,8k", "4k:x"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
