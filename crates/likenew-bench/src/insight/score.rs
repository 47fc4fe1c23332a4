//! Counts of answers over many drives.

use super::case::{Case, Row};
use super::mark::{Mark, holds};

/// Counts for one property, or for several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Score {
    /// Drives that have it and show it.
    pub(super) exists: u32,
    pub(super) right: u32,
    pub(super) imprecise: u32,
    pub(super) undecided: u32,
    pub(super) wrongly_absent: u32,
    /// False claims, on drives that have it and on those that do not.
    pub(super) false_claims: u32,
    /// All answers.
    pub(super) answers: u32,
    /// Intervals for drives that have it, and how many contain the truth.
    pub(super) intervals: u32,
    pub(super) intervals_hold: u32,
    /// Sum of their widths over the truth's value.
    widths: f64,
}

impl Score {
    /// The score of a property over drives.
    pub(super) fn compute<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Self {
        let mut score = Self::default();
        rows.into_iter().for_each(|row| score.count(row));
        score
    }

    fn count(&mut self, row: &Row) {
        use likenew_sim::truth::TrueValue;
        self.answers += 1;
        let exists = matches!(row.true_value, TrueValue::Word(_) | TrueValue::Number(_));
        self.exists += u32::from(exists);
        let counter = match row.mark {
            Mark::Right => &mut self.right,
            Mark::Off => &mut self.imprecise,
            Mark::Undecided => &mut self.undecided,
            Mark::WronglyAbsent => &mut self.wrongly_absent,
            Mark::False => &mut self.false_claims,
            Mark::TrulyAbsent => return,
        };
        *counter += 1;
        if let Some(is_within) = holds(row.true_value, &row.answer)
            && let (TrueValue::Number(number), super::answer::StatedValue::Number { low, high, .. }) =
                (row.true_value, &row.answer.statement)
        {
            self.intervals += 1;
            self.intervals_hold += u32::from(is_within);
            self.widths += (high - low) / number;
        }
    }

    /// Mean width of the intervals, as a share of the truth.
    pub(super) fn mean_width(&self) -> Option<f64> {
        (self.intervals > 0).then(|| self.widths / f64::from(self.intervals))
    }

    /// Share of those that exist.
    pub(super) fn share_right(&self) -> Option<f64> {
        share(self.right, self.exists)
    }

    /// Share of the intervals that contain the truth.
    pub(super) fn coverage(&self) -> Option<f64> {
        share(self.intervals_hold, self.intervals)
    }

    /// Share of all answers.
    pub(super) fn share_false(&self) -> Option<f64> {
        share(self.false_claims, self.answers)
    }
}

/// The rows of a property over drives.
pub(super) fn rows_of<'a>(cases: &'a [Case], property: &'a str) -> impl Iterator<Item = &'a Row> {
    cases.iter().flat_map(|case| &case.rows).filter(move |row| row.answer.property == property)
}

pub(super) fn share(part: u32, whole: u32) -> Option<f64> {
    (whole > 0).then(|| f64::from(part) / f64::from(whole))
}
