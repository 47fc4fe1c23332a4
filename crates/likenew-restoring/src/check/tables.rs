//! Tables and charts of a diagnosis, and how much of the rated speed remains. The rest is lost to data, to
//! use or to the link, or is unexplained; only what was measured or compared counts.

use likenew_core::findings::{Action, Answer, Findings, Line, Loss, Row, Series, Shape};
use likenew_core::row;
use likenew_diagnosis::{Case, CauseKind, Diagnosis, FoundCause, Indicator, Measured, Metric, Origin, cost};
use likenew_measuring::data::files::FileScan;
use likenew_procedure_support::series::{axis, speed};

use super::experiment::PLACES;
use super::results::{CheckResults, pairs, rates_by_bytes};
use super::wording::{self, workload_names as names};
use crate::site::{add_series, add_table};

/// Adds the tables that have rows.
pub(super) fn put(case: &Case<'_>, diagnosis: &Diagnosis, findings: &mut Findings) {
    let named = || diagnosis.causes.iter().chain(&diagnosis.latent).chain(&diagnosis.design);
    let metrics = case.measurements.metrics.iter();
    let indicators = Indicator::ALL.into_iter().filter_map(|indicator| {
        let Measured { value, low, high } = indicator.value_in(case.measurements)?;
        let description = wording::indicator(indicator);
        Some(row! { indicator, description, value, low, high })
    });
    let fixes = named().flat_map(|cause| cause.actions.iter().map(|action| fix_row(cause, action)));
    let evidence = named().flat_map(|cause| {
        let items = cause.evidence_for.iter().chain(&cause.evidence_against);
        items.map(|item| {
            row! {
                cause: cause.cause.name,
                evidence: item.name,
                sentence: &item.sentence,
                speaks: wording::speaks(item.bits),
                // How many times as probable the observation is with the cause as without it, or the reverse.
                times_as_likely: item.bits.abs().exp2(),
            }
        })
    });
    add_table(findings, "causes", named().map(cause_row));
    add_table(findings, "metrics", metrics.map(|(metric, measured)| metric_row(case, *metric, *measured)));
    add_table(findings, "indicators", indicators);
    add_table(findings, "fixes", fixes);
    add_table(findings, "evidence", evidence);
}

fn cause_row(found_cause: &FoundCause) -> Row {
    row! {
        cause: found_cause.cause.name,
        probability_percent: found_cause.chance * 100.0,
        kind: match found_cause.cause.kind {
            CauseKind::Drive => "the drive",
            CauseKind::ByDesign => "by design",
            CauseKind::NotTheDrive => "not the drive",
        },
        explains: found_cause.explains.iter().map(|symptom| symptom.title()).collect::<Vec<_>>().join("; "),
    }
}

fn metric_row(case: &Case<'_>, metric: Metric, measurement: Measured) -> Row {
    let reference = case.shortfall(metric);
    row! {
        metric,
        unit: metric.unit(),
        measured_per_s: measurement.value,
        low_per_s: measurement.low,
        high_per_s: measurement.high,
        reference_per_s: reference.map(|(_, reference)| reference.value),
        reference: reference.map(|(_, reference)| reference.origin),
        percent: reference.map(|(share, _)| share.value * 100.0),
    }
}

fn fix_row(found_cause: &FoundCause, action: &Action) -> Row {
    row! {
        cause: found_cause.cause.name,
        description: &action.why,
        command: action.command.as_deref(),
        loses: match action.loses {
            Loss::Nothing => "nothing",
            Loss::DeletedFiles => "deleted files",
            Loss::Everything => "everything",
        },
        cost: cost(action),
    }
}

/// Draws the measurements.
pub(super) fn draw(measured: &CheckResults<'_>, findings: &mut Findings) {
    let ran = &measured.ran;
    let capacity = measured.evidence.geometry.capacity as f64;
    let at = |index: usize| index as f64 / (PLACES - 1) as f64 * capacity;
    let lines = [(&ran.places, wording::FIRST_READ), (&ran.places_again, wording::SECOND_READ)].map(
        |(places, name)| Line::new(name, pairs(places).map(|(index, speed)| [at(index), speed]).collect()),
    );
    let reads = Series::new(wording::READS_TITLE, Shape::Scatter, axis("address", "bytes"), speed());
    let written = [
        (ran.writes, names::WRITES),
        (ran.rested_writes, names::RESTED_WRITES),
        (ran.trimmed_writes, names::TRIMMED_WRITES),
    ];
    let written = written.into_iter().filter_map(|(segment, name)| {
        let segment = segment?;
        let width = segment.gigabytes.width as f64;
        let point = |(index, rate)| [(index as f64 + 1.0) * width, rate];
        Some(Line::new(name, rates_by_bytes(segment).into_iter().enumerate().map(point).collect()))
    });
    let writes = Series::new(wording::WRITES_TITLE, Shape::Line, axis("written", "bytes"), speed());
    add_series(findings, "reads", reads.lines(lines));
    add_series(findings, "writes", writes.lines(written));
}

/// Shows the drop of writes on the first screen, if a cause rests on it.
pub(super) fn show_drop(diagnosis: &Diagnosis, findings: &mut Findings) {
    let rests_on_drop =
        |found_cause: &FoundCause| found_cause.evidence_for.iter().any(|item| item.name == "write_cliff");
    if findings.series.contains_key("writes") && diagnosis.causes.iter().any(rests_on_drop) {
        findings.overview.series = Some("writes".into());
    }
}

/// Share of the rated speed from which nothing needs explaining. Chosen: measurements vary by a few percent.
const RATED_SHARE_OK: f64 = 0.97;
/// Speed of writing zeros over that of other data, as a ratio, from which data matters. The same as for the
/// cause `compression`, where less is scatter.
const DATA_MATTERS: f64 = 1.1;
/// Speed of sustained writes over that of short ones, as a ratio, from which both have one explanation.
/// Chosen: a tenth is within the drop that counts as none.
const AS_LONG: f64 = 0.9;
/// A smaller share of the rated speed is not worth a sentence. Chosen: less than measurements vary.
const PART: f64 = 0.03;
/// Standard deviation of a metric's logarithm between checks, above which a baseline explains no part of a
/// gap. Chosen: a tenth is as large as the parts.
const REPEATS: f64 = 0.1;

/// One metric with a rated speed.
struct Share {
    metric: Metric,
    advertised: f64,
    now: f64,
    /// From the baseline, or from the simulated drive when new.
    new: Option<(f64, Origin)>,
    link: Option<f64>,
    /// Speed of writing zeros over that of other data; 1 if data does not matter, `None` if that was not
    /// measured or does not apply.
    zeros: Option<f64>,
}

/// Adds answer and table, if a rated metric was measured. `files` is the scan of the user's files. Rated
/// speeds that are `given` by the user always have an answer.
pub(super) fn put_shares(case: &Case<'_>, files: Option<&FileScan>, given: bool, findings: &mut Findings) {
    let shares: Vec<Share> =
        Metric::ALL.into_iter().filter_map(|metric| Share::for_metric(case, metric)).collect();
    if shares.is_empty() {
        return;
    }
    let compresses_to = files.and_then(FileScan::compresses_to).map(|share| share.value);
    let is_hidden = |share: &Share| {
        case.shortfall(share.metric).is_some_and(|(_, reference)| reference.origin != Origin::Advertised)
    };
    let says_both = given && shares.iter().any(is_hidden);
    if says_both || shares.iter().any(|share| share.share() < RATED_SHARE_OK) {
        let rows_left: Vec<&Share> = shares.iter().filter(|share| !share.is_explained_by(&shares)).collect();
        let beside_rated = |share: &&Share| {
            let zeros = share.speed_of_zeros().filter(|_| share.share() < RATED_SHARE_OK);
            wording::beside_rated(share.metric, share.now, share.advertised, zeros)
        };
        let rated: Vec<String> = rows_left.iter().map(beside_rated).collect();
        let evidence = rows_left.iter().flat_map(|share| share.evidence(compresses_to));
        let answer = evidence.fold(wording::rated_share(&rated), Answer::with_evidence);
        // Beside a problem, the first screen needs no further line.
        if says_both || !findings.found_problem() {
            findings.overview.answers.push(answer.id.clone());
        }
        findings.answers.push(answer);
    }
    let rows = shares.iter().map(|share| share.row(compresses_to)).collect();
    findings.tables.insert("shares".into(), rows);
}

impl Share {
    fn for_metric(case: &Case<'_>, metric: Metric) -> Option<Self> {
        let reference = |origin: Origin| {
            let reference = case
                .references
                .iter()
                .find(|reference| reference.metric == metric && reference.origin == origin);
            reference.filter(|reference| reference.repeatability < REPEATS).map(|reference| reference.value)
        };
        let new = [Origin::Baseline, Origin::Simulated, Origin::OtherDrive].into_iter();
        // Makers rate one write speed; sustained writes are compared with it, too.
        let promised = reference(Origin::Advertised).or_else(|| {
            let rated_write = case.references.iter().find(|reference| {
                (reference.metric, reference.origin) == (Metric::SequentialWrite, Origin::Advertised)
            });
            rated_write.filter(|_| metric == Metric::SustainedWrite).map(|reference| reference.value)
        });
        let is_written_in_order = matches!(metric, Metric::SequentialWrite | Metric::SustainedWrite);
        Some(Self {
            metric,
            advertised: promised?,
            now: case.measurements.metric(metric)?.value,
            new: new.filter_map(|origin| Some((reference(origin)?, origin))).next(),
            link: reference(Origin::Link),
            zeros: case.measurements.zeros_over_random.filter(|_| is_written_in_order).map(scale_by),
        })
    }

    /// Whether another metric explains it: sustained writes as fast as short ones are not explained twice.
    fn is_explained_by(&self, shares: &[Self]) -> bool {
        let short = shares.iter().find(|share| share.metric == Metric::SequentialWrite);
        let is_alike = |short: &Self| short.advertised == self.advertised && self.now / short.now > AS_LONG;
        self.metric == Metric::SustainedWrite && short.is_some_and(is_alike)
    }

    fn share(&self) -> f64 {
        self.now / self.advertised
    }

    /// Share of the speed when new that is left; `None` if unknown. Scatter does not count as a gain.
    fn share_after_aging(&self) -> Option<f64> {
        self.new.map(|(new, _)| (self.now / new).min(1.0))
    }

    /// Share of the rated speed that the link allows.
    fn link_share(&self) -> Option<f64> {
        self.link.map(|link| (link / self.advertised).min(1.0))
    }

    /// Share of the rated speed that remains once data, use and link are accounted for.
    fn unexplained_share(&self) -> f64 {
        let known = self.share_after_aging().unwrap_or(1.0) * self.link_share().unwrap_or(1.0)
            / self.zeros.unwrap_or(1.0);
        (self.share() / known).min(1.0)
    }

    /// Speed for files that compress to this share: time grows in proportion to what has to be stored.
    fn speed_for_files(&self, compresses_to: f64) -> Option<f64> {
        self.zeros.map(|zeros| self.now * zeros / (1.0 - compresses_to + compresses_to * zeros))
    }

    /// Sentences that explain the gap between the rated and the measured speed.
    fn evidence(&self, compresses_to: Option<f64>) -> Vec<String> {
        if self.share() >= RATED_SHARE_OK {
            return Vec::new();
        }
        let mut evidence: Vec<String> =
            [self.data(compresses_to), self.age(), self.through_link()].into_iter().flatten().collect();
        let lost = 1.0 - self.unexplained_share();
        if lost >= PART {
            evidence.push(wording::unexplained(self.metric, lost, self.new.is_some()));
        }
        evidence
    }

    /// Speed of writing zeros, if data matters.
    fn speed_of_zeros(&self) -> Option<f64> {
        self.zeros.filter(|zeros| *zeros > 1.0).map(|zeros| self.now * zeros)
    }

    fn data(&self, compresses_to: Option<f64>) -> Option<String> {
        let zeros = self.zeros.filter(|zeros| *zeros > 1.0)?;
        let yours = compresses_to.and_then(|share| Some((share, self.speed_for_files(share)?)));
        Some(wording::lost_to_data(self.metric, 1.0 - 1.0 / zeros, self.now * zeros, yours))
    }

    fn age(&self) -> Option<String> {
        let ((new, origin), left) = (self.new?, self.share_after_aging()?);
        Some(if 1.0 - left >= PART {
            wording::lost_to_use(self.metric, 1.0 - left, origin, new)
        } else {
            wording::use_costs_nothing(self.metric)
        })
    }

    fn through_link(&self) -> Option<String> {
        let (link, through) = (self.link?, self.link_share()?);
        let without = self.new.map(|(new, _)| new).filter(|new| *new > link);
        (1.0 - through >= PART).then(|| wording::limited_by_link(self.metric, link, without))
    }

    fn row(&self, compresses_to: Option<f64>) -> Row {
        let lost = |left: f64| (1.0 - left) * 100.0;
        row! {
            metric: self.metric,
            unit: self.metric.unit(),
            advertised_per_s: self.advertised,
            link_per_s: self.link,
            new_per_s: self.new.map(|(new, _)| new),
            now_per_s: self.now,
            share_percent: self.share() * 100.0,
            your_files_per_s: compresses_to.and_then(|share| self.speed_for_files(share)),
            lost_to_data_percent: self.zeros.map(|zeros| lost(1.0 / zeros)),
            lost_to_age_percent: self.share_after_aging().map(lost),
            lost_to_link_percent: self.link_share().map(lost),
            lost_otherwise_percent: lost(self.unexplained_share()),
        }
    }
}

/// Speed of zeros over that of other data, if it is more than scatter.
fn scale_by(zeros: Measured) -> f64 {
    if zeros.value >= DATA_MATTERS && zeros.low > 1.0 { zeros.value } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use likenew_diagnosis::{Measurements, Reference};

    use super::*;

    fn findings(metrics: &[(Metric, f64)], zeros: f64, references: &[(Metric, Origin, f64)]) -> Findings {
        let measurement = |value| Measured::with_interval(value, 0.01);
        let measurements = Measurements {
            metrics: metrics.iter().map(|(metric, value)| (*metric, measurement(*value))).collect(),
            zeros_over_random: Some(measurement(zeros)),
            ..Measurements::default()
        };
        let references: Vec<Reference> = references
            .iter()
            .map(|(metric, origin, value)| Reference::new(*metric, *origin, *value))
            .collect();
        let case = Case {
            measurements: &measurements,
            facts: None,
            delta: None,
            references: &references,
            normal: &[],
            firmware_fault: None,
            site: None,
        };
        let mut findings = Findings::default();
        put_shares(&case, None, false, &mut findings);
        findings
    }

    #[test]
    fn parts_of_a_gap_multiply_to_the_whole_of_it() {
        let write = Metric::SequentialWrite;
        let findings = findings(
            &[(write, 90e6)],
            2.0,
            &[
                (write, Origin::Advertised, 500e6),
                (write, Origin::Simulated, 120e6),
                (write, Origin::Link, 300e6),
            ],
        );
        let row = &findings.tables["shares"][0];
        let left = |key: &str| 1.0 - row[key].as_f64().unwrap() / 100.0;
        let parts =
            ["lost_to_data_percent", "lost_to_age_percent", "lost_to_link_percent", "lost_otherwise_percent"];
        let product: f64 = parts.into_iter().map(left).product();
        assert!((product - 90.0 / 500.0).abs() < 1e-9, "{row:?}");
        let evidence = &findings.answers[0].evidence;
        for words in [
            "writes 50% slower than zeros",
            "25% below new",
            "limited by the link to 300 MB/s",
            "unexplained",
        ] {
            assert!(evidence.iter().any(|sentence| sentence.contains(words)), "no {words} in {evidence:?}");
        }
    }

    #[test]
    fn long_writes_are_held_against_what_is_rated_of_writes_and_reported_where_they_fell() {
        let (write, long) = (Metric::SequentialWrite, Metric::SustainedWrite);
        let references = [
            (write, Origin::Advertised, 60e6),
            (write, Origin::Simulated, 60e6),
            (long, Origin::Simulated, 60e6),
        ];
        let fallen = findings(&[(write, 60e6), (long, 12e6)], 1.0, &references);
        assert!(fallen.answers[0].answer.contains("sustained write 20% (12.0 MB/s of 60.0 MB/s)"));
        assert!(fallen.answers[0].evidence[0].contains("80% below new"));
        let even = findings(&[(write, 30e6), (long, 30e6)], 1.0, &references);
        assert!(!even.answers[0].answer.contains("sustained"), "{}", even.answers[0].answer);
        assert_eq!(even.tables["shares"].len(), 2);
        let kept = findings(&[(write, 60e6), (long, 60e6)], 1.0, &references);
        assert!(kept.answers.is_empty(), "who sees all of it has nothing to explain");
    }
}
