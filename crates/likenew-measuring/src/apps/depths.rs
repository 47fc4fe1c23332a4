//! The queue depths of an application.

use std::fmt;
use std::str::FromStr;

use likenew_core::serde_as_text;

use super::wording;

/// Depths with the shares of the I/Os at each: `1`, or `1:93,2:7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depths {
    shares: Vec<(u32, u32)>,
}

const DEPTH_MAX: u32 = 1024;
const SHARES_MAX: usize = 8;

impl Depths {
    /// Each depth with its weight; at least one, all above zero.
    pub fn shares(&self) -> &[(u32, u32)] {
        &self.shares
    }
}

impl fmt::Display for Depths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(depth, _)] = self.shares[..] {
            return write!(f, "{depth}");
        }
        for (index, (depth, weight)) in self.shares.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{depth}:{weight}")?;
        }
        Ok(())
    }
}

impl FromStr for Depths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str, max: u32| text.parse().ok().filter(|of| (1..=max).contains(of));
        let share = |part: &str| {
            let (depth, weight) = part.split_once(':').unwrap_or((part, "1"));
            Some((number(depth, DEPTH_MAX)?, number(weight, 1_000_000)?))
        };
        let shares: Option<Vec<(u32, u32)>> = text.split(',').map(share).collect();
        match shares {
            Some(shares) if shares.len() <= SHARES_MAX => Ok(Self { shares }),
            _ => Err(wording::wrong_depth(text, DEPTH_MAX, SHARES_MAX)),
        }
    }
}

serde_as_text!(Depths);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_read_back_and_nonsense_does_not() {
        for text in ["1", "200", "1:93,2:7"] {
            assert_eq!(text.parse::<Depths>().unwrap().to_string(), text);
        }
        for text in ["", "0", "1:0", "2000", "1,,2", "1:2:3"] {
            assert!(text.parse::<Depths>().unwrap_err().contains("depth"), "{text}");
        }
    }
}
