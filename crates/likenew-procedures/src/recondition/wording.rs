//! What a recondition came to, in words and tables.

use likenew_core::fix::{FixReport, ReadBackCounts, SkippedRange};
use likenew_core::probe::ProbeResult;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount, rate};
use likenew_core::verdict::{Findings, Row, Standing, Verdict};
use likenew_diagnosis::Fix;
use likenew_stats::interval::window_interval;
use serde::Serialize;

use super::comparison::{Change, Effect, largest};
use super::overwrite::{is_steady, passes};
use super::recondition_step::{StepContext, StepName};
use crate::CONFIDENCE;
use crate::rows::row;
use crate::series::speed_over_bytes;

/// One rung that was taken, and the checks around it.
pub(super) struct StepOutcome<'a> {
    pub(super) name: StepName,
    pub(super) evidence: &'a Evidence,
    /// Everything that was measured before and after.
    pub(super) changes: Vec<Change>,
    /// Those of them that should show it.
    pub(super) metrics_showing: Vec<Change>,
    pub(super) effect: Effect,
    /// What is known of the drive and speaks against it, without forbidding it.
    pub(super) warnings: Vec<String>,
    /// Why what was measured is not certain, beyond its intervals.
    pub(super) caveat: Option<String>,
}

/// Whether a rung helped, and by how much.
pub(super) fn step_answer(taken: &StepOutcome<'_>) -> Verdict {
    let descriptor = taken.name.implementation().descriptor();
    let Some(most) = largest(&taken.metrics_showing) else {
        let claim = format!("Whether {} helped is not known: it was not measured again.", descriptor.doing);
        return Verdict::new(claim, Standing::Undecided);
    };
    let ratio = most.ratio();
    let from_to = format!(
        "{} went from {} to {}",
        most.measure.words(),
        most.measure.format_value(most.before.value),
        most.measure.format_value(most.after.value)
    );
    let times = format!("{:.2} times as fast ({:.2} to {:.2})", ratio.value, ratio.low, ratio.high);
    let doing = capitalize(descriptor.doing);
    let back: Vec<bool> = taken.metrics_showing.iter().filter_map(Change::is_restored).collect();
    let mut verdict = match taken.effect {
        Effect::Yes if back.is_empty() => {
            Verdict::new(format!("{doing} helped: {from_to}, {times}."), Standing::Holds)
        }
        Effect::Yes if back.iter().all(|is_restored| *is_restored) => {
            Verdict::new(format!("{doing} brought it back: {from_to}, {times}."), Standing::Holds)
        }
        Effect::Yes => {
            let claim = format!("{doing} helped, and did not bring all of it back: {from_to}, {times}.");
            Verdict::new(claim, Standing::Holds)
        }
        Effect::No => Verdict::new(format!("{doing} did not help: {from_to}, {times}."), Standing::Holds),
        Effect::Undecided => {
            let claim = match slower(&taken.metrics_showing) {
                Some(slower) => format!("{doing} made no clear difference: {from_to}, and {slower}."),
                None => {
                    format!(
                        "Whether {} helped is too uncertain to call: {from_to}, {times}.",
                        descriptor.doing
                    )
                }
            };
            Verdict::new(claim, Standing::Undecided)
        }
    };
    verdict = verdict.estimate(ratio.value, ratio.low, ratio.high, "1");
    for change in &taken.metrics_showing {
        if let Some((reference, _)) = change.reference {
            verdict = verdict.with_evidence(format!(
                "{} are at {:.0} % of what they should be; before it was {:.0} %",
                change.measure.words(),
                100.0 * change.after.value / reference,
                100.0 * change.before.value / reference
            ));
        }
    }
    verdict = actions_done(taken).into_iter().fold(verdict, Verdict::with_evidence);
    let caveats = skips(fix_reports(taken.evidence))
        .into_iter()
        .chain(taken.warnings.iter().map(|reason| format!("{}.", capitalize(reason))));
    caveats.chain(taken.caveat.clone()).fold(verdict, Verdict::caveat)
}

/// What became slower most, if anything surely did.
fn slower(changes: &[Change]) -> Option<String> {
    let most = changes.iter().min_by(|one, other| one.ratio().value.total_cmp(&other.ratio().value))?;
    let (measure, from, to) = (most.measure, most.before.value, most.after.value);
    (most.ratio().high < 1.0).then(|| {
        format!("{} from {} to {}", measure.words(), measure.format_value(from), measure.format_value(to))
    })
}

/// Why a rung is not credited with anything that had nothing to do.
pub(super) const NOTHING_TO_DO: &str = "there was nothing to do";

/// A rung that has done nothing to the drive: it was refused, or found nothing to do.
pub(super) fn no_effect_answer(name: StepName, evidence: &Evidence, refused: Option<&str>) -> Verdict {
    let doing = capitalize(name.implementation().descriptor().doing);
    if let Some(reason) = refused {
        return Verdict::new(format!("{doing} was not possible: {reason}."), Standing::Undecided);
    }
    let fix_reports: Vec<&FixReport> = fix_reports(evidence).collect();
    let verdict = Verdict::new(format!("{doing}: {NOTHING_TO_DO}."), Standing::Holds);
    let verdict = step_results(name, &fix_reports).into_iter().fold(verdict, Verdict::with_evidence);
    let verdict = if fix_reports.is_empty() && name == StepName::Refresh {
        verdict.with_evidence("no place was found that is slow enough to be written again")
    } else {
        verdict
    };
    skips(fix_reports.into_iter()).into_iter().fold(verdict, Verdict::caveat)
}

/// A cure that nobody has taken, with its command.
pub(super) fn step_prediction(fix: &Fix) -> String {
    match &fix.command {
        Some(command) => format!("what would: {}: {command}", fix.description),
        None => format!("what would: {}", fix.description),
    }
}

/// What several rungs came to together.
pub(super) fn overall_answer(taken: &[StepOutcome<'_>]) -> Option<Verdict> {
    let [first, .., last] = taken else { return None };
    let joined = first.metrics_showing.iter().filter_map(|change| {
        let last = last.changes.iter().find(|of| of.measure == change.measure)?;
        Some(Change { after: last.after, reference: last.reference, ..*change })
    });
    let joined: Vec<Change> = joined.collect();
    let most = largest(&joined)?;
    let (ratio, measure) = (most.ratio(), most.measure);
    let back = match most.is_restored() {
        Some(false) => "Not all of it is back after",
        _ => "It is back after",
    };
    // What may be no change at all is no success, however many steps there were.
    if !most.is_certain() {
        return None;
    }
    let claim = format!(
        "{back} {} steps: {} went from {} to {}, {:.2} times as fast ({:.2} to {:.2}).",
        taken.len(),
        measure.words(),
        measure.format_value(most.before.value),
        measure.format_value(most.after.value),
        ratio.value,
        ratio.low,
        ratio.high
    );
    let verdict = Verdict::new(claim, Standing::Holds).estimate(ratio.value, ratio.low, ratio.high, "1");
    Some(taken.iter().fold(verdict, |verdict, one| {
        verdict.with_evidence(format!(
            "{} {}",
            one.name.implementation().descriptor().doing,
            match one.effect {
                Effect::Yes => "helped",
                Effect::No => "did not help",
                Effect::Undecided => "may have helped",
            }
        ))
    }))
}

/// What was done.
fn actions_done(taken: &StepOutcome<'_>) -> Vec<String> {
    let fix_reports: Vec<&FixReport> = fix_reports(taken.evidence).collect();
    let mut all = step_results(taken.name, &fix_reports);
    let speeds: Vec<f64> = passes(taken.evidence).filter_map(Segment::bytes_per_s).collect();
    if !speeds.is_empty() {
        let list: Vec<String> = speeds.iter().map(|speed| rate(*speed)).collect();
        let end = if is_steady(&speeds) {
            "another one would change it by less than 1 %"
        } else {
            "more were not allowed"
        };
        all.push(format!("{} passes were written: {}; {end}", speeds.len(), list.join(", ")));
    }
    all
}

/// What came of the cures of a rung.
fn step_results(step: StepName, fix_reports: &[&FixReport]) -> Vec<String> {
    let mut all = Vec::new();
    let sum = |of: fn(&FixReport) -> u64| fix_reports.iter().map(|report| of(report)).sum::<u64>();
    let (bytes, written, elapsed) =
        (sum(|of| of.bytes), sum(|of| of.bytes_written), Nanos(sum(|of| of.elapsed.0)));
    if written > 0 {
        all.push(format!("{} were written again in {elapsed}", amount(written)));
    } else if step == StepName::Refresh && !fix_reports.is_empty() {
        all.push(format!("nothing was written again; looking at it took {elapsed}"));
    } else if !fix_reports.is_empty() {
        all.push(format!("the drive was told of {} in {elapsed}", amount(bytes)));
    }
    if let Some(top) = fix_reports.iter().find_map(|report| report.discard_counters.first()) {
        let discarded = fix_reports
            .iter()
            .filter_map(|report| report.discard_counters.first())
            .map(|counters| counters.bytes)
            .sum();
        all.push(format!("meanwhile the system counted {} of discards at {}", amount(discarded), top.device));
    }
    all.extend(fix_reports.iter().filter_map(|report| report.read_back).map(read_back_counts));
    all
}

/// What reads show of a drive that was to hold nothing any more.
fn read_back_counts(ReadBackCounts { same, blank, changed, unreadable, empty }: ReadBackCounts) -> String {
    let nonempty = same + blank + changed + unreadable;
    if nonempty == 0 {
        return format!("all {empty} places that were looked at had held nothing before");
    }
    let mut parts = vec![format!("{blank} hold nothing now")];
    let counts =
        [(changed, "hold something else"), (same, "still give the same"), (unreadable, "can not be read")];
    parts.extend(
        counts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
    );
    format!("of {nonempty} places that had held something, {}", parts.join(", "))
}

fn fix_reports(evidence: &Evidence) -> impl Iterator<Item = &FixReport> {
    evidence.observations.iter().filter_map(|observation| match &observation.result {
        ProbeResult::FixReport(report) => Some(report),
        _ => None,
    })
}

/// What was not done, each reason once.
fn skips<'a>(fix_reports: impl Iterator<Item = &'a FixReport>) -> Vec<String> {
    let mut all = FixReport::default();
    fix_reports.flat_map(|report| &report.skips).for_each(|left| all.skip(left.bytes, &*left.reason));
    let sentence = |left: SkippedRange| match left.bytes {
        0 => format!("{}.", capitalize(&left.reason)),
        bytes => format!("{} were left as they are: {}.", amount(bytes), left.reason),
    };
    all.skips.into_iter().map(sentence).collect()
}

pub(super) fn capitalize(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[derive(Serialize)]
struct ChangeRow {
    step: &'static str,
    metric: &'static str,
    unit: &'static str,
    before_per_s: f64,
    after_per_s: f64,
    ratio: f64,
    ratio_low: f64,
    ratio_high: f64,
    reference_per_s: Option<f64>,
    before_of_reference_percent: Option<f64>,
    after_of_reference_percent: Option<f64>,
}

#[derive(Serialize)]
struct StepRow {
    step: &'static str,
    effect: &'static str,
    bytes: u64,
    skipped_bytes: u64,
    bytes_written: u64,
    elapsed_ns: u64,
}

#[derive(Serialize)]
struct PassRow {
    step: &'static str,
    pass: usize,
    bytes_per_s: Option<f64>,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    bytes: u64,
    elapsed_ns: u64,
    latency_ns_max: Option<u64>,
}

#[derive(Serialize)]
struct StepPlanRow {
    step: &'static str,
    action_text: &'static str,
    destroys: &'static str,
    bytes_written_max: Option<u64>,
    not_run_reason: Option<String>,
}

/// What each step has done: bytes that it was done for, and bytes that it has written.
pub(super) fn step_rows(taken: &[StepOutcome<'_>]) -> Vec<Row> {
    let of = |taken: &StepOutcome<'_>| {
        let fix_reports = || fix_reports(taken.evidence);
        let passed = || passes(taken.evidence).map(|pass| pass.total().bytes);
        let segments = taken.evidence.segments.iter().map(|segment| segment.elapsed().0);
        row(StepRow {
            step: taken.name.text(),
            effect: taken.effect.text(),
            bytes: fix_reports().map(|report| report.bytes).sum::<u64>() + passed().max().unwrap_or(0),
            skipped_bytes: fix_reports().flat_map(|report| &report.skips).map(|left| left.bytes).sum(),
            bytes_written: fix_reports().map(|report| report.bytes_written).sum::<u64>()
                + passed().sum::<u64>(),
            elapsed_ns: fix_reports().map(|report| report.elapsed.0).chain(segments).sum(),
        })
    };
    taken.iter().map(of).collect()
}

/// Before and after, by rung.
pub(super) fn change_rows(taken: &[StepOutcome<'_>]) -> Vec<Row> {
    let rows = taken.iter().flat_map(|of| of.changes.iter().map(|change| row(change_row(of.name, change))));
    rows.collect()
}

fn change_row(name: StepName, change: &Change) -> ChangeRow {
    let percent = |value: f64| change.reference.map(|(reference, _)| 100.0 * value / reference);
    let ratio = change.ratio();
    ChangeRow {
        step: name.text(),
        metric: change.measure.words(),
        unit: change.measure.unit(),
        before_per_s: change.before.value,
        after_per_s: change.after.value,
        ratio: ratio.value,
        ratio_low: ratio.low,
        ratio_high: ratio.high,
        reference_per_s: change.reference.map(|(reference, _)| reference),
        before_of_reference_percent: percent(change.before.value),
        after_of_reference_percent: percent(change.after.value),
    }
}

/// The passes of a rung.
pub(super) fn pass_rows(name: StepName, evidence: &Evidence) -> Vec<Row> {
    let of = |(index, segment): (usize, &Segment)| {
        let speeds: Vec<f64> = speed_over_bytes(segment).into_iter().map(|[_, speed]| speed).collect();
        let interval = window_interval(&speeds, CONFIDENCE);
        row(PassRow {
            step: name.text(),
            pass: index + 1,
            bytes_per_s: segment.bytes_per_s(),
            bytes_per_s_low: interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: interval.map(|interval| interval.high),
            bytes: segment.total().bytes,
            elapsed_ns: segment.elapsed().0,
            latency_ns_max: segment.measurement_error().is_none().then(|| segment.latencies().max().0),
        })
    };
    passes(evidence).enumerate().map(of).collect()
}

/// All rungs, and why those were not taken that were not.
pub(super) fn step_plan_rows(
    context: &StepContext<'_>,
    attempts: &[(StepName, Option<&str>)],
    is_helpful: &dyn Fn(StepName) -> bool,
) -> Vec<Row> {
    let of = |name: StepName| {
        let step = name.implementation();
        let descriptor = step.descriptor();
        let attempts = attempts.iter().find(|(of, _)| *of == name);
        let reason = match attempts {
            Some((_, refused)) => refused.map(str::to_owned),
            None => Some(obstacle_text(context, name, is_helpful)),
        };
        row(StepPlanRow {
            step: name.text(),
            action_text: descriptor.action_text,
            destroys: descriptor.destroys,
            bytes_written_max: step.bytes(context),
            not_run_reason: reason,
        })
    };
    StepName::ALL.into_iter().map(of).collect()
}

/// Why a rung was not taken.
fn obstacle_text(context: &StepContext<'_>, name: StepName, is_helpful: &dyn Fn(StepName) -> bool) -> String {
    let step = name.implementation();
    if let Some(obstacle) = context.obstacle(name) {
        return obstacle;
    }
    if context.options.dry_run {
        return match step.caveat(context) {
            Some(doubt) => format!("this only says what could be done; {doubt}"),
            None => "this only says what could be done".into(),
        };
    }
    if !is_helpful(name) {
        return "nothing that was found here calls for it".into();
    }
    if name.destroys() {
        return format!(
            "everything on it would be lost: only when it is asked for by name, --step {}",
            name.text()
        );
    }
    match step.caveat(context) {
        Some(doubt) => format!("{doubt}: only when it is asked for by name, --step {}", name.text()),
        None => "a gentler one came first".into(),
    }
}

/// Puts tables where there is something in them.
pub(super) fn put(findings: &mut Findings, tables: impl IntoIterator<Item = (&'static str, Vec<Row>)>) {
    for (name, rows) in tables {
        if !rows.is_empty() {
            findings.tables.insert(name.to_owned(), rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use likenew_diagnosis::{Measured, Metric};

    use super::super::comparison::Measure;
    use super::*;

    /// Something that went from 10 a second to this many times as much, for what it is worth.
    fn change(metric: Metric, ratio: f64, low: f64, high: f64) -> Change {
        Change {
            measure: Measure::Metric(metric),
            before: Measured::with_interval(10.0, 0.0),
            after: Measured::new(10.0 * ratio, 10.0 * low, 10.0 * high),
            reference: None,
        }
    }

    #[test]
    fn a_credit_is_quoted_by_a_change_that_is_one() {
        let changes = vec![
            change(Metric::RandomWrite, 1.64, 0.60, 4.50),
            change(Metric::SustainedWrite, 1.30, 1.25, 1.35),
        ];
        let evidence = crate::fixtures::evidence();
        let of = |name| StepOutcome {
            name,
            evidence: &evidence,
            changes: changes.clone(),
            metrics_showing: changes.clone(),
            effect: Effect::classify(&changes.iter().collect::<Vec<_>>(), 1.1, true),
            warnings: Vec::new(),
            caveat: None,
        };
        let both = [of(StepName::Trim), of(StepName::Overwrite)];
        assert_eq!(both[0].effect, Effect::Yes);
        for verdict in [super::step_answer(&both[0]), overall_answer(&both).unwrap()] {
            assert!(verdict.claim.contains("1.30 times as fast (1.25 to 1.35)"), "{}", verdict.claim);
            assert!(verdict.estimate.unwrap().low > 1.0);
        }
    }

    #[test]
    fn nothing_rewritten_is_not_called_trimmed() {
        let report = |bytes, bytes_written| FixReport {
            bytes,
            bytes_written,
            elapsed: Nanos(3),
            ..FixReport::default()
        };
        let sentence = |step, one: &FixReport| step_results(step, &[one, one]).join(" ");
        assert_eq!(
            sentence(StepName::Refresh, &report(4096, 0)),
            "nothing was written again; looking at it took 6 ns"
        );
        assert_eq!(sentence(StepName::Refresh, &report(4096, 1024)), "2 KiB were written again in 6 ns");
        assert_eq!(sentence(StepName::Trim, &report(4096, 0)), "the drive was told of 8 KiB in 6 ns");
        assert!(step_results(StepName::Refresh, &[]).is_empty());
    }

    #[test]
    fn each_reason_for_leaving_something_is_reported_once() {
        let left = |bytes, reason: &str| SkippedRange { bytes, reason: reason.to_owned() };
        let one = FixReport { skips: vec![left(1024, "they are zeros")], ..FixReport::default() };
        let other = FixReport {
            skips: vec![left(7, "it is in use"), left(1024, "they are zeros"), left(0, "look at it")],
            ..FixReport::default()
        };
        let text = [
            "2 KiB were left as they are: they are zeros.",
            "7 B were left as they are: it is in use.",
            "Look at it.",
        ];
        assert_eq!(skips([&one, &other].into_iter()), text);
    }
}
