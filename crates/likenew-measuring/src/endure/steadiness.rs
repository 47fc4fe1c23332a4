//! Whether the end of a series of rounds is steady by SNIA's rule, and since when.

use likenew_stats::steady_state::{ROUNDS, Window};

/// The state at the end of a series of rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Steadiness {
    /// The last five rounds; `None` if there are fewer.
    pub(super) window: Option<Window>,
    /// Index of the first round from which on every window is steady; `None` if the last one is not.
    pub(super) from: Option<usize>,
}

impl Steadiness {
    /// From the values of rounds, in the order they ran.
    pub(super) fn from_rounds(rounds: &[f64]) -> Self {
        let steady = |end: usize| Window::last(&rounds[..end]).is_some_and(|window| window.is_steady());
        let ends = (ROUNDS..=rounds.len()).rev().take_while(|end| steady(*end));
        Self { window: Window::last(rounds), from: ends.last().map(|end| end - ROUNDS) }
    }

    pub(super) fn is_steady(&self) -> bool {
        self.from.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_that_was_left_is_not_steady() {
        let left: Vec<f64> = [[100.0; 8], [50.0; 8]].concat();
        assert_eq!(Steadiness::from_rounds(&left).from, Some(8));
        assert_eq!(Steadiness::from_rounds(&left[..8]).from, Some(0));
        let after = Steadiness::from_rounds(&left[..11]);
        assert!(!after.is_steady() && after.window.is_some(), "{after:?}");
    }

    #[test]
    fn four_rounds_say_nothing() {
        assert_eq!(Steadiness::from_rounds(&[100.0; 4]), Steadiness { window: None, from: None });
        assert!(!Steadiness::from_rounds(&[]).is_steady());
    }
}
