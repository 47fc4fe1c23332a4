//! What to think of an answer whose truth is known.

use likenew_sim::truth::Inside;

use super::answer::{Answer, Said};

/// A number is right within this share of the truth.
const RIGHT: f64 = 0.10;
/// Beyond this share of the truth a number that is said with confidence is a false claim.
const FALSE: f64 = 0.25;
/// With this confidence an answer is a claim.
pub(super) const CLAIMED: f64 = 0.9;

/// What to think of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The word, or the number within 10 %.
    Right,
    /// A number that is further off, or a wrong word without confidence.
    Off,
    /// It is there and nothing was said.
    Undecided,
    /// It is there and was said not to be.
    AbsentWrongly,
    /// Said with confidence, and not there, another word, or off by more than 25 %.
    False,
    /// It is not there, or does not show, and nothing else was said with confidence.
    NothingThere,
}

impl Mark {
    /// As a list shows it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Off => "off",
            Self::Undecided => "undecided",
            Self::AbsentWrongly => "absent!",
            Self::False => "FALSE",
            Self::NothingThere => "-",
        }
    }
}

/// Marks an answer.
pub(super) fn mark(inside: Inside, answer: &Answer) -> Mark {
    let claimed = answer.confidence >= CLAIMED;
    let wrong = if claimed { Mark::False } else { Mark::Off };
    match (inside, &answer.said) {
        (Inside::Word("no"), Said::Absent) => Mark::Right,
        (Inside::Word(word), Said::Word(said)) if word == said => Mark::Right,
        (Inside::Word(_) | Inside::Number(_), Said::Undecided) => Mark::Undecided,
        (Inside::Word(_) | Inside::Number(_), Said::Absent) => Mark::AbsentWrongly,
        (Inside::Number(number), Said::Number { value, .. }) => match (value / number - 1.0).abs() {
            ..=RIGHT => Mark::Right,
            ..=FALSE => Mark::Off,
            _ => wrong,
        },
        (Inside::Hidden { low, high }, Said::Number { value, .. })
            if (low * (1.0 - FALSE)..=high * (1.0 + FALSE)).contains(value) =>
        {
            Mark::NothingThere
        }
        (Inside::HiddenWord(word), Said::Word(said)) if word == said => Mark::NothingThere,
        (_, Said::Undecided | Said::Absent) => Mark::NothingThere,
        (Inside::Word(_) | Inside::Number(_), _) => wrong,
        (Inside::Hidden { .. } | Inside::HiddenWord(_) | Inside::Absent, _) if claimed => Mark::False,
        (Inside::Hidden { .. } | Inside::HiddenWord(_) | Inside::Absent, _) => Mark::NothingThere,
    }
}

/// Whether a 90 % interval holds the truth, where there is one and a truth.
pub(super) fn holds(inside: Inside, answer: &Answer) -> Option<bool> {
    match (inside, &answer.said) {
        (Inside::Number(number), Said::Number { low, high, .. }) => Some((*low..=*high).contains(&number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(said: Said, confidence: f64) -> Answer {
        Answer { property: "p".into(), said, confidence, bytes_written: 0 }
    }

    fn number(value: f64) -> Said {
        Said::Number { value, low: 0.9 * value, high: 1.1 * value }
    }

    #[test]
    fn numbers_are_right_off_or_false() {
        let mark_of = |value, confidence| mark(Inside::Number(100.0), &said(number(value), confidence));
        assert_eq!(mark_of(91.0, 0.5), Mark::Right);
        assert_eq!(mark_of(112.0, 0.99), Mark::Off);
        assert_eq!(mark_of(130.0, 0.99), Mark::False);
        assert_eq!(mark_of(130.0, 0.8), Mark::Off);
        assert_eq!(mark(Inside::Number(1.0), &said(Said::Absent, 0.99)), Mark::AbsentWrongly);
        assert_eq!(mark(Inside::Number(1.0), &said(Said::Undecided, 0.0)), Mark::Undecided);
        assert_eq!(holds(Inside::Number(100.0), &said(number(95.0), 0.9)), Some(true));
        assert_eq!(holds(Inside::Number(100.0), &said(number(80.0), 0.9)), Some(false));
    }

    #[test]
    fn what_is_not_there_may_not_be_claimed() {
        assert_eq!(mark(Inside::Absent, &said(number(1.0), 0.95)), Mark::False);
        assert_eq!(mark(Inside::Absent, &said(number(1.0), 0.6)), Mark::NothingThere);
        assert_eq!(mark(Inside::Absent, &said(Said::Absent, 0.95)), Mark::NothingThere);
        let hidden = Inside::Hidden { low: 4.0, high: 8.0 };
        assert_eq!(mark(hidden, &said(number(6.0), 0.99)), Mark::NothingThere);
        assert_eq!(mark(hidden, &said(number(16.0), 0.99)), Mark::False);
        assert_eq!(mark(hidden, &said(Said::Undecided, 0.0)), Mark::NothingThere);
    }

    #[test]
    fn words_are_compared() {
        let word = |word: &str| Said::Word(word.into());
        assert_eq!(mark(Inside::Word("page"), &said(word("page"), 0.1)), Mark::Right);
        assert_eq!(mark(Inside::Word("page"), &said(word("block"), 0.95)), Mark::False);
        assert_eq!(mark(Inside::Word("page"), &said(word("block"), 0.5)), Mark::Off);
        assert_eq!(mark(Inside::Word("no"), &said(Said::Absent, 0.95)), Mark::Right);
        assert_eq!(mark(Inside::HiddenWord("no"), &said(word("yes"), 0.95)), Mark::False);
    }
}
