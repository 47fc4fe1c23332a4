//! What a recondition came to, in words and tables.

use likenew_core::cure::{Became, Cured, LeftOut};
use likenew_core::look::Seen;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount, rate};
use likenew_core::verdict::{Findings, Row, Standing, Verdict};
use likenew_diagnosis::Cure;
use likenew_stats::interval::window_interval;
use serde::Serialize;

use super::comparison::{Change, Helped, largest};
use super::overwrite::{has_settled, passes};
use super::rung::{RungName, Scene};
use crate::CONFIDENCE;
use crate::rows::row;
use crate::series::speed_over_bytes;

/// One rung that was taken, and the checks around it.
pub(super) struct Taken<'a> {
    pub(super) name: RungName,
    pub(super) done: &'a Evidence,
    /// Everything that was measured before and after.
    pub(super) changes: Vec<Change>,
    /// Those of them that should show it.
    pub(super) shown_by: Vec<Change>,
    pub(super) helped: Helped,
    /// What is known of the drive and speaks against it, without forbidding it.
    pub(super) warnings: Vec<String>,
    /// Why what was measured is not certain, beyond its intervals.
    pub(super) caveat: Option<String>,
}

/// Whether a rung helped, and by how much.
pub(super) fn taken(taken: &Taken<'_>) -> Verdict {
    let card = taken.name.rung().card();
    let Some(most) = largest(&taken.shown_by) else {
        let claim = format!("Whether {} helped is not known: it was not measured again.", card.doing);
        return Verdict::new(claim, Standing::Undecided);
    };
    let ratio = most.ratio();
    let from_to = format!(
        "{} went from {} to {}",
        most.measure.words(),
        most.measure.said(most.before.value),
        most.measure.said(most.after.value)
    );
    let times = format!("{:.2} times as fast ({:.2} to {:.2})", ratio.value, ratio.low, ratio.high);
    let doing = capital(card.doing);
    let back: Vec<bool> = taken.shown_by.iter().filter_map(Change::is_back).collect();
    let mut verdict = match taken.helped {
        Helped::Yes if back.is_empty() => {
            Verdict::new(format!("{doing} helped: {from_to}, {times}."), Standing::Holds)
        }
        Helped::Yes if back.iter().all(|is_back| *is_back) => {
            Verdict::new(format!("{doing} brought it back: {from_to}, {times}."), Standing::Holds)
        }
        Helped::Yes => {
            let claim = format!("{doing} helped, and did not bring all of it back: {from_to}, {times}.");
            Verdict::new(claim, Standing::Holds)
        }
        Helped::No => Verdict::new(format!("{doing} did not help: {from_to}, {times}."), Standing::Holds),
        Helped::Undecided => {
            let claim = match slower(&taken.shown_by) {
                Some(slower) => format!("{doing} made no clear difference: {from_to}, and {slower}."),
                None => {
                    format!("Whether {} helped is too uncertain to call: {from_to}, {times}.", card.doing)
                }
            };
            Verdict::new(claim, Standing::Undecided)
        }
    };
    verdict = verdict.estimate(ratio.value, ratio.low, ratio.high, "1");
    for change in &taken.shown_by {
        if let Some((reference, _)) = change.reference {
            verdict = verdict.because(format!(
                "{} are at {:.0} % of what they should be; before it was {:.0} %",
                change.measure.words(),
                100.0 * change.after.value / reference,
                100.0 * change.before.value / reference
            ));
        }
    }
    verdict = did(taken).into_iter().fold(verdict, Verdict::because);
    let caveats = left_out(cured(taken.done))
        .into_iter()
        .chain(taken.warnings.iter().map(|why| format!("{}.", capital(why))));
    caveats.chain(taken.caveat.clone()).fold(verdict, Verdict::caveat)
}

/// What became slower most, if anything surely did.
fn slower(changes: &[Change]) -> Option<String> {
    let most = changes.iter().min_by(|one, other| one.ratio().value.total_cmp(&other.ratio().value))?;
    let (measure, from, to) = (most.measure, most.before.value, most.after.value);
    (most.ratio().high < 1.0)
        .then(|| format!("{} from {} to {}", measure.words(), measure.said(from), measure.said(to)))
}

/// Why a rung is not credited with anything that had nothing to do.
pub(super) const NOTHING_TO_DO: &str = "there was nothing to do";

/// A rung that has done nothing to the drive: it was refused, or found nothing to do.
pub(super) fn nothing_done(name: RungName, done: &Evidence, refused: Option<&str>) -> Verdict {
    let doing = capital(name.rung().card().doing);
    if let Some(why) = refused {
        return Verdict::new(format!("{doing} was not possible: {why}."), Standing::Undecided);
    }
    let cured: Vec<&Cured> = cured(done).collect();
    let verdict = Verdict::new(format!("{doing}: {NOTHING_TO_DO}."), Standing::Holds);
    let verdict = came_of(name, &cured).into_iter().fold(verdict, Verdict::because);
    let verdict = if cured.is_empty() && name == RungName::Refresh {
        verdict.because("no place was found that is slow enough to be written again")
    } else {
        verdict
    };
    left_out(cured.into_iter()).into_iter().fold(verdict, Verdict::caveat)
}

/// A cure that nobody has taken, with its command.
pub(super) fn would(cure: &Cure) -> String {
    match &cure.command {
        Some(command) => format!("what would: {}: {command}", cure.what),
        None => format!("what would: {}", cure.what),
    }
}

/// What several rungs came to together.
pub(super) fn together(taken: &[Taken<'_>]) -> Option<Verdict> {
    let [first, .., last] = taken else { return None };
    let joined = first.shown_by.iter().filter_map(|change| {
        let last = last.changes.iter().find(|of| of.measure == change.measure)?;
        Some(Change { after: last.after, reference: last.reference, ..*change })
    });
    let joined: Vec<Change> = joined.collect();
    let most = largest(&joined)?;
    let (ratio, measure) = (most.ratio(), most.measure);
    let back = match most.is_back() {
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
        measure.said(most.before.value),
        measure.said(most.after.value),
        ratio.value,
        ratio.low,
        ratio.high
    );
    let verdict = Verdict::new(claim, Standing::Holds).estimate(ratio.value, ratio.low, ratio.high, "1");
    Some(taken.iter().fold(verdict, |verdict, one| {
        verdict.because(format!(
            "{} {}",
            one.name.rung().card().doing,
            match one.helped {
                Helped::Yes => "helped",
                Helped::No => "did not help",
                Helped::Undecided => "may have helped",
            }
        ))
    }))
}

/// What was done.
fn did(taken: &Taken<'_>) -> Vec<String> {
    let cured: Vec<&Cured> = cured(taken.done).collect();
    let mut all = came_of(taken.name, &cured);
    let speeds: Vec<f64> = passes(taken.done).filter_map(Segment::bytes_per_s).collect();
    if !speeds.is_empty() {
        let list: Vec<String> = speeds.iter().map(|speed| rate(*speed)).collect();
        let end = if has_settled(&speeds) {
            "another one would change it by less than 1 %"
        } else {
            "more were not allowed"
        };
        all.push(format!("{} passes were written: {}; {end}", speeds.len(), list.join(", ")));
    }
    all
}

/// What came of the cures of a rung.
fn came_of(rung: RungName, cured: &[&Cured]) -> Vec<String> {
    let mut all = Vec::new();
    let sum = |of: fn(&Cured) -> u64| cured.iter().map(|cured| of(cured)).sum::<u64>();
    let (bytes, written, took) = (sum(|of| of.bytes), sum(|of| of.bytes_written), Nanos(sum(|of| of.took.0)));
    if written > 0 {
        all.push(format!("{} were written again in {took}", amount(written)));
    } else if rung == RungName::Refresh && !cured.is_empty() {
        all.push(format!("nothing was written again; looking at it took {took}"));
    } else if !cured.is_empty() {
        all.push(format!("the drive was told of {} in {took}", amount(bytes)));
    }
    if let Some(top) = cured.iter().find_map(|cured| cured.counted.first()) {
        let discarded =
            cured.iter().filter_map(|cured| cured.counted.first()).map(|counted| counted.bytes).sum();
        all.push(format!("meanwhile the system counted {} of discards at {}", amount(discarded), top.device));
    }
    all.extend(cured.iter().filter_map(|cured| cured.read_back).map(became));
    all
}

/// What reads show of a drive that was to hold nothing any more.
fn became(Became { same, blank, other, unreadable, empty }: Became) -> String {
    let held = same + blank + other + unreadable;
    if held == 0 {
        return format!("all {empty} places that were looked at had held nothing before");
    }
    let mut parts = vec![format!("{blank} hold nothing now")];
    let others =
        [(other, "hold something else"), (same, "still give the same"), (unreadable, "can not be read")];
    parts.extend(
        others.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")),
    );
    format!("of {held} places that had held something, {}", parts.join(", "))
}

fn cured(done: &Evidence) -> impl Iterator<Item = &Cured> {
    done.sights.iter().filter_map(|sight| match &sight.seen {
        Seen::Cured(cured) => Some(cured),
        _ => None,
    })
}

/// What was not done, each reason once.
fn left_out<'a>(cured: impl Iterator<Item = &'a Cured>) -> Vec<String> {
    let mut all = Cured::default();
    cured.flat_map(|cured| &cured.left_out).for_each(|left| all.leave(left.bytes, &*left.why));
    let told = |left: LeftOut| match left.bytes {
        0 => format!("{}.", capital(&left.why)),
        bytes => format!("{} were left as they are: {}.", amount(bytes), left.why),
    };
    all.left_out.into_iter().map(told).collect()
}

pub(super) fn capital(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[derive(Serialize)]
struct ChangeRow {
    rung: &'static str,
    what: &'static str,
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
    rung: &'static str,
    helped: &'static str,
    bytes: u64,
    bytes_left_out: u64,
    bytes_written: u64,
    elapsed_ns: u64,
}

#[derive(Serialize)]
struct PassRow {
    rung: &'static str,
    pass: usize,
    bytes_per_s: Option<f64>,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    bytes: u64,
    elapsed_ns: u64,
    latency_ns_max: Option<u64>,
}

#[derive(Serialize)]
struct LadderRow {
    rung: &'static str,
    does: &'static str,
    destroys: &'static str,
    bytes_written_max: Option<u64>,
    not_taken_because: Option<String>,
}

/// What each step has done: bytes that it was done for, and bytes that it has written.
pub(super) fn step_rows(taken: &[Taken<'_>]) -> Vec<Row> {
    let of = |taken: &Taken<'_>| {
        let cured = || cured(taken.done);
        let passed = || passes(taken.done).map(|pass| pass.total().bytes);
        let segments = taken.done.segments.iter().map(|segment| segment.elapsed().0);
        row(StepRow {
            rung: taken.name.text(),
            helped: taken.helped.text(),
            bytes: cured().map(|cured| cured.bytes).sum::<u64>() + passed().max().unwrap_or(0),
            bytes_left_out: cured().flat_map(|cured| &cured.left_out).map(|left| left.bytes).sum(),
            bytes_written: cured().map(|cured| cured.bytes_written).sum::<u64>() + passed().sum::<u64>(),
            elapsed_ns: cured().map(|cured| cured.took.0).chain(segments).sum(),
        })
    };
    taken.iter().map(of).collect()
}

/// Before and after, by rung.
pub(super) fn change_rows(taken: &[Taken<'_>]) -> Vec<Row> {
    let rows = taken.iter().flat_map(|of| of.changes.iter().map(|change| row(change_row(of.name, change))));
    rows.collect()
}

fn change_row(name: RungName, change: &Change) -> ChangeRow {
    let percent = |value: f64| change.reference.map(|(reference, _)| 100.0 * value / reference);
    let ratio = change.ratio();
    ChangeRow {
        rung: name.text(),
        what: change.measure.words(),
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
pub(super) fn pass_rows(name: RungName, done: &Evidence) -> Vec<Row> {
    let of = |(index, segment): (usize, &Segment)| {
        let speeds: Vec<f64> = speed_over_bytes(segment).into_iter().map(|[_, speed]| speed).collect();
        let interval = window_interval(&speeds, CONFIDENCE);
        row(PassRow {
            rung: name.text(),
            pass: index + 1,
            bytes_per_s: segment.bytes_per_s(),
            bytes_per_s_low: interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: interval.map(|interval| interval.high),
            bytes: segment.total().bytes,
            elapsed_ns: segment.elapsed().0,
            latency_ns_max: segment.measurement_error().is_none().then(|| segment.latencies().max().0),
        })
    };
    passes(done).enumerate().map(of).collect()
}

/// All rungs, and why those were not taken that were not.
pub(super) fn ladder(
    scene: &Scene<'_>,
    tried: &[(RungName, Option<&str>)],
    helps: &dyn Fn(RungName) -> bool,
) -> Vec<Row> {
    let of = |name: RungName| {
        let rung = name.rung();
        let card = rung.card();
        let tried = tried.iter().find(|(of, _)| *of == name);
        let why = match tried {
            Some((_, refused)) => refused.map(str::to_owned),
            None => Some(why_not(scene, name, helps)),
        };
        row(LadderRow {
            rung: name.text(),
            does: card.does,
            destroys: card.destroys,
            bytes_written_max: rung.bytes(scene),
            not_taken_because: why,
        })
    };
    RungName::ALL.into_iter().map(of).collect()
}

/// Why a rung was not taken.
fn why_not(scene: &Scene<'_>, name: RungName, helps: &dyn Fn(RungName) -> bool) -> String {
    let rung = name.rung();
    if let Some(obstacle) = scene.obstacle(name) {
        return obstacle;
    }
    if scene.options.dry_run {
        return match rung.doubt(scene) {
            Some(doubt) => format!("this only says what could be done; {doubt}"),
            None => "this only says what could be done".into(),
        };
    }
    if !helps(name) {
        return "nothing that was found here calls for it".into();
    }
    if name.destroys() {
        return format!(
            "everything on it would be lost: only when it is asked for by name, --rung {}",
            name.text()
        );
    }
    match rung.doubt(scene) {
        Some(doubt) => format!("{doubt}: only when it is asked for by name, --rung {}", name.text()),
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
    use likenew_diagnosis::{Figure, Sign};

    use super::super::comparison::Measure;
    use super::*;

    /// Something that went from 10 a second to this many times as much, for what it is worth.
    fn change(figure: Figure, ratio: f64, low: f64, high: f64) -> Change {
        Change {
            measure: Measure::Figure(figure),
            before: Sign::within(10.0, 0.0),
            after: Sign::new(10.0 * ratio, 10.0 * low, 10.0 * high),
            reference: None,
        }
    }

    #[test]
    fn a_credit_is_quoted_by_a_change_that_is_one() {
        let changes = vec![
            change(Figure::WriteAnywhere, 1.64, 0.60, 4.50),
            change(Figure::WriteOnAndOn, 1.30, 1.25, 1.35),
        ];
        let done = crate::fixtures::evidence();
        let of = |name| Taken {
            name,
            done: &done,
            changes: changes.clone(),
            shown_by: changes.clone(),
            helped: Helped::of(&changes.iter().collect::<Vec<_>>(), 1.1, true),
            warnings: Vec::new(),
            caveat: None,
        };
        let both = [of(RungName::Trim), of(RungName::Overwrite)];
        assert_eq!(both[0].helped, Helped::Yes);
        for verdict in [super::taken(&both[0]), together(&both).unwrap()] {
            assert!(verdict.claim.contains("1.30 times as fast (1.25 to 1.35)"), "{}", verdict.claim);
            assert!(verdict.estimate.unwrap().low > 1.0);
        }
    }

    #[test]
    fn nothing_written_again_is_not_called_told() {
        let cured = |bytes, bytes_written| Cured { bytes, bytes_written, took: Nanos(3), ..Cured::default() };
        let said = |rung, one: &Cured| came_of(rung, &[one, one]).join(" ");
        assert_eq!(
            said(RungName::Refresh, &cured(4096, 0)),
            "nothing was written again; looking at it took 6 ns"
        );
        assert_eq!(said(RungName::Refresh, &cured(4096, 1024)), "2 KiB were written again in 6 ns");
        assert_eq!(said(RungName::Trim, &cured(4096, 0)), "the drive was told of 8 KiB in 6 ns");
        assert!(came_of(RungName::Refresh, &[]).is_empty());
    }

    #[test]
    fn each_reason_for_leaving_something_is_told_once() {
        let left = |bytes, why: &str| LeftOut { bytes, why: why.to_owned() };
        let one = Cured { left_out: vec![left(1024, "they are zeros")], ..Cured::default() };
        let other = Cured {
            left_out: vec![left(7, "it is in use"), left(1024, "they are zeros"), left(0, "look at it")],
            ..Cured::default()
        };
        let told = [
            "2 KiB were left as they are: they are zeros.",
            "7 B were left as they are: it is in use.",
            "Look at it.",
        ];
        assert_eq!(left_out([&one, &other].into_iter()), told);
    }
}
