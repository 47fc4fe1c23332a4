//! What a drive is aged by.

use std::fmt;
use std::str::FromStr;

use likenew_core::serde_as_text;

use super::wording;

/// What happens to a drive between the two measurements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recipe {
    /// Every address is written once, in sequence, as in AnandTech's tables of new and used drives (2009).
    #[default]
    Fill,
    /// A fill, then random overwrites of 4 KiB.
    Overwrite,
    /// Small files come and go, and the file system's own pages are rewritten beside them.
    Churn,
}

impl Recipe {
    /// All recipes.
    pub const ALL: [Self; 3] = [Self::Fill, Self::Overwrite, Self::Churn];
}

impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fill => "fill",
            Self::Overwrite => "overwrite",
            Self::Churn => "churn",
        })
    }
}

impl FromStr for Recipe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|recipe| recipe.to_string() == text)
            .ok_or_else(|| wording::unknown_recipe(text))
    }
}

serde_as_text!(Recipe);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_read_back_and_nonsense_does_not() {
        for recipe in Recipe::ALL {
            assert_eq!(recipe.to_string().parse(), Ok(recipe));
        }
        assert!("wear".parse::<Recipe>().unwrap_err().contains("churn"));
    }
}
