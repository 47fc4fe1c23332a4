//! What share of the advertised speed is seen, and where the rest is: in the data, in what the drive has gone through, in the link, or nowhere that
//! was looked at.
//!
//! Only what was measured or is held against goes in; a part that is not known is said to be.

use likenew_core::verdict::{Findings, Standing, Verdict};
use likenew_diagnosis::{Case, Figure, Origin, Sign};
use serde::Serialize;

use super::check_options::FigureName;
use crate::data::files::FileScan;
use crate::rows::row;

/// Who sees this share of what was promised has nothing to explain.
const AS_PROMISED: f64 = 0.97;
/// Zeros have to be this much faster before data is said to matter: as for the cause `compression`, where less is scatter.
const DATA_MATTERS: f64 = 1.1;
/// Long writes that are this much as fast as short ones are no other matter.
const AS_LONG: f64 = 0.9;
/// A part of less than this is not worth a sentence.
const PART: f64 = 0.03;
/// A first check whose figures differ by more than this from those of the next says nothing of parts.
const REPEATS: f64 = 0.1;

/// One figure that its maker advertises.
struct Share {
    figure: Figure,
    advertised: f64,
    now: f64,
    /// On its first day, or as its twin when new.
    new: Option<(f64, Origin)>,
    link: Option<f64>,
    /// How many times as fast zeros are written; 1 where data does not matter, none where that was not measured, or is not about data.
    zeros: Option<f64>,
}

#[derive(Serialize)]
struct ShareRow {
    figure: FigureName,
    unit: &'static str,
    advertised_per_s: f64,
    link_per_s: Option<f64>,
    new_per_s: Option<f64>,
    now_per_s: f64,
    share_percent: f64,
    /// What the user's files get, by what they compress to.
    your_files_per_s: Option<f64>,
    lost_to_data_percent: Option<f64>,
    lost_to_age_percent: Option<f64>,
    lost_to_link_percent: Option<f64>,
    lost_otherwise_percent: f64,
}

/// Puts sentence and table in, where anything was advertised and measured. `files` is what the user's own files are.
pub(super) fn put(case: &Case<'_>, files: Option<&FileScan>, findings: &mut Findings) {
    let shares: Vec<Share> = Figure::ALL.into_iter().filter_map(|figure| Share::of(case, figure)).collect();
    if shares.is_empty() {
        return;
    }
    let compresses_to = files.and_then(FileScan::compresses_to).map(|share| share.value);
    if shares.iter().any(|share| share.share() < AS_PROMISED) {
        let told: Vec<&Share> = shares.iter().filter(|share| !share.is_told_by(&shares)).collect();
        let parts: Vec<String> = told.iter().map(|share| share.words()).collect();
        let claim = format!("Of what its maker promises you see {}.", parts.join(", and "));
        let because = told.iter().flat_map(|share| share.because(compresses_to));
        findings.verdicts.push(because.fold(Verdict::new(claim, Standing::Holds), Verdict::because));
    }
    let rows = shares.iter().map(|share| row(share.row(compresses_to))).collect();
    findings.tables.insert("shares".into(), rows);
}

impl Share {
    fn of(case: &Case<'_>, figure: Figure) -> Option<Self> {
        let reference = |origin: Origin| {
            let of = case.references.iter().find(|of| of.figure == figure && of.origin == origin);
            of.filter(|of| of.repeatability < REPEATS).map(|of| of.value)
        };
        let new = [Origin::FirstRun, Origin::Twin].into_iter();
        // Makers promise one figure for writes; long ones are writes, too.
        let promised = reference(Origin::Advertised).or_else(|| {
            let of = case
                .references
                .iter()
                .find(|of| (of.figure, of.origin) == (Figure::WriteInOrder, Origin::Advertised));
            of.filter(|_| figure == Figure::WriteOnAndOn).map(|of| of.value)
        });
        let is_written_in_order = matches!(figure, Figure::WriteInOrder | Figure::WriteOnAndOn);
        Some(Self {
            figure,
            advertised: promised?,
            now: case.signs.figure(figure)?.value,
            new: new.filter_map(|origin| Some((reference(origin)?, origin))).next(),
            link: reference(Origin::Link),
            zeros: case.signs.zeros_over_random.filter(|_| is_written_in_order).map(times),
        })
    }

    /// Whether it says what another one says: long writes that are as fast as short ones.
    fn is_told_by(&self, shares: &[Self]) -> bool {
        let short = shares.iter().find(|share| share.figure == Figure::WriteInOrder);
        let is_alike = |short: &Self| short.advertised == self.advertised && self.now / short.now > AS_LONG;
        self.figure == Figure::WriteOnAndOn && short.is_some_and(is_alike)
    }

    fn share(&self) -> f64 {
        self.now / self.advertised
    }

    /// Share of the new speed that is left; none where that is not known. Scatter is no gain.
    fn left_by_age(&self) -> Option<f64> {
        self.new.map(|(new, _)| (self.now / new).min(1.0))
    }

    /// Share of what was promised that the link lets through.
    fn let_through(&self) -> Option<f64> {
        self.link.map(|link| (link / self.advertised).min(1.0))
    }

    /// Share that is left when data, age and link are taken out.
    fn left_otherwise(&self) -> f64 {
        let known =
            self.left_by_age().unwrap_or(1.0) * self.let_through().unwrap_or(1.0) / self.zeros.unwrap_or(1.0);
        (self.share() / known).min(1.0)
    }

    /// What files get that compress to this: time grows in proportion to what has to be stored.
    fn of_files(&self, compresses_to: f64) -> Option<f64> {
        self.zeros.map(|zeros| self.now * zeros / (1.0 - compresses_to + compresses_to * zeros))
    }

    fn words(&self) -> String {
        format!(
            "{:.0} % of the {} for {} ({})",
            self.share() * 100.0,
            self.figure.said(self.advertised),
            self.figure.words(),
            self.figure.said(self.now)
        )
    }

    /// The steps from what was promised to what is seen.
    fn because(&self, compresses_to: Option<f64>) -> Vec<String> {
        if self.share() >= AS_PROMISED {
            return Vec::new();
        }
        let mut because: Vec<String> =
            [self.data(compresses_to), self.age(), self.through_link()].into_iter().flatten().collect();
        let lost = 1.0 - self.left_otherwise();
        if lost >= PART {
            let why = if self.new.is_some() {
                "a new one of its kind does not reach it here either"
            } else {
                "what it did when new is not known, so that age may be in it"
            };
            because.push(format!("{lost} of it are not explained by this: {why}", lost = percent(lost)));
        }
        because.into_iter().map(|sentence| format!("{}: {sentence}", self.figure.words())).collect()
    }

    fn data(&self, compresses_to: Option<f64>) -> Option<String> {
        let zeros = self.zeros?;
        if zeros <= 1.0 {
            return None;
        }
        let yours = compresses_to.and_then(|share| Some((share, self.of_files(share)?)));
        let yours = yours.map_or_else(String::new, |(share, speed)| {
            format!(
                "; your files, which compress to {}, get about {}",
                percent(share),
                self.figure.said(speed)
            )
        });
        Some(format!(
            "random data, as pictures, films and archives are, costs {}, as zeros get {}{yours}",
            percent(1.0 - 1.0 / zeros),
            self.figure.said(self.now * zeros)
        ))
    }

    fn age(&self) -> Option<String> {
        let ((new, origin), left) = (self.new?, self.left_by_age()?);
        Some(if 1.0 - left >= PART {
            let then = if origin == Origin::FirstRun {
                "at first it did"
            } else {
                "its simulated twin does when new"
            };
            format!(
                "what it has gone through since it was new costs {}: {then} {}",
                percent(1.0 - left),
                self.figure.said(new)
            )
        } else {
            "age costs nothing: it does what it did when new".to_owned()
        })
    }

    fn through_link(&self) -> Option<String> {
        let (link, through) = (self.link?, self.let_through()?);
        (1.0 - through >= PART).then(|| {
            format!(
                "its link costs {}, as it carries {} at most",
                percent(1.0 - through),
                self.figure.said(link)
            )
        })
    }

    fn row(&self, compresses_to: Option<f64>) -> ShareRow {
        let lost = |left: f64| (1.0 - left) * 100.0;
        ShareRow {
            figure: FigureName::of(self.figure),
            unit: self.figure.unit(),
            advertised_per_s: self.advertised,
            link_per_s: self.link,
            new_per_s: self.new.map(|(new, _)| new),
            now_per_s: self.now,
            share_percent: self.share() * 100.0,
            your_files_per_s: compresses_to.and_then(|share| self.of_files(share)),
            lost_to_data_percent: self.zeros.map(|zeros| lost(1.0 / zeros)),
            lost_to_age_percent: self.left_by_age().map(lost),
            lost_to_link_percent: self.let_through().map(lost),
            lost_otherwise_percent: lost(self.left_otherwise()),
        }
    }
}

/// How many times as fast zeros are, where that is more than scatter.
fn times(zeros: Sign) -> f64 {
    if zeros.value >= DATA_MATTERS && zeros.low > 1.0 { zeros.value } else { 1.0 }
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_diagnosis::{Reference, Signs};

    fn findings(figures: &[(Figure, f64)], zeros: f64, references: &[(Figure, Origin, f64)]) -> Findings {
        let sign = |value| Sign::within(value, 0.01);
        let signs = Signs {
            figures: figures.iter().map(|(figure, value)| (*figure, sign(*value))).collect(),
            zeros_over_random: Some(sign(zeros)),
            ..Signs::default()
        };
        let references: Vec<Reference> = references
            .iter()
            .map(|(figure, origin, value)| Reference {
                figure: *figure,
                origin: *origin,
                value: *value,
                repeatability: 0.0,
            })
            .collect();
        let case =
            Case { signs: &signs, facts: None, since: None, references: &references, usual: &[], site: None };
        let mut findings = Findings::default();
        put(&case, None, &mut findings);
        findings
    }

    #[test]
    fn parts_of_a_gap_multiply_to_the_whole_of_it() {
        let write = Figure::WriteInOrder;
        let found = findings(
            &[(write, 90e6)],
            2.0,
            &[(write, Origin::Advertised, 500e6), (write, Origin::Twin, 120e6), (write, Origin::Link, 300e6)],
        );
        let row = &found.tables["shares"][0];
        let left = |key: &str| 1.0 - row[key].as_f64().unwrap() / 100.0;
        let parts =
            ["lost_to_data_percent", "lost_to_age_percent", "lost_to_link_percent", "lost_otherwise_percent"];
        let product: f64 = parts.into_iter().map(left).product();
        assert!((product - 90.0 / 500.0).abs() < 1e-9, "{row:?}");
        let because = &found.verdicts[0].because;
        for words in ["random data", "costs 25 %: its simulated twin", "its link costs 40 %", "not explained"]
        {
            assert!(because.iter().any(|sentence| sentence.contains(words)), "no {words} in {because:?}");
        }
    }

    #[test]
    fn long_writes_are_held_against_what_is_promised_of_writes_and_told_where_they_fell() {
        let (write, long) = (Figure::WriteInOrder, Figure::WriteOnAndOn);
        let references =
            [(write, Origin::Advertised, 60e6), (write, Origin::Twin, 60e6), (long, Origin::Twin, 60e6)];
        let fallen = findings(&[(write, 60e6), (long, 12e6)], 1.0, &references);
        assert!(fallen.verdicts[0].claim.contains("20 % of the 60.0 MB/s for long writes in order"));
        assert!(fallen.verdicts[0].because[0].contains("costs 80 %"));
        let even = findings(&[(write, 30e6), (long, 30e6)], 1.0, &references);
        assert!(!even.verdicts[0].claim.contains("long writes"), "{}", even.verdicts[0].claim);
        assert_eq!(even.tables["shares"].len(), 2);
        let kept = findings(&[(write, 60e6), (long, 60e6)], 1.0, &references);
        assert!(kept.verdicts.is_empty(), "who sees all of it has nothing to explain");
    }
}
