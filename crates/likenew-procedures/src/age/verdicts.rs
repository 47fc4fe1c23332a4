//! What the table of new and used says, in sentences.

use likenew_core::drive::{FlashCounters, Identity, Kind};
use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount, rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::Interval;

use super::comparison::{Better, Comparison, Fall};
use super::phase::Phase;
use super::recipe::{AGEING, Recipe};

/// A drop of less than this is nothing that anybody notices, in percent; what surely dropped by more has fallen.
pub(super) const NOTICED_PERCENT: f64 = 10.0;
/// Passes that differ by more than this, fastest to slowest, did not measure one level.
const UNSTEADY_RATIO: f64 = 1.25;

/// What a drop and its interval decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// Surely more than can be noticed is lost.
    Declined,
    /// Surely no more than that is lost.
    Unchanged,
    /// Both may be.
    Unclear,
}

impl Change {
    pub(super) fn classify(fall: &Fall) -> Self {
        match fall.interval {
            Some(Interval { low, .. }) if low >= NOTICED_PERCENT => Self::Declined,
            Some(Interval { high, .. }) if high <= NOTICED_PERCENT => Self::Unchanged,
            _ => Self::Unclear,
        }
    }
}

/// Whether a figure fell; `subject` begins the sentence. Age leaves reads alone, so where they did not surely stay as they
/// were and others may use the drive, a fall is not surely one of age.
pub(super) fn change(comparison: &Comparison, subject: &str, is_alone: bool) -> Option<Verdict> {
    let fall = comparison.fall(Phase::Used)?;
    let fell = format!("{subject} fell by {} %.", three_digits(fall.percent));
    let verdict = match Change::classify(&fall) {
        Change::Declined if is_alone => Verdict::new(fell, Standing::Holds).problem(),
        Change::Declined => Verdict::new(fell, Standing::Undecided).caveat(READS_CHANGED),
        Change::Unchanged => Verdict::new(format!("{subject} did not fall."), Standing::Holds),
        Change::Unclear => Verdict::new(format!("{subject} did not fall."), Standing::Undecided)
            .caveat(unclear_reason(&fall)),
    };
    let verdict = match fall.interval {
        Some(Interval { low, high }) => verdict.estimate(fall.percent, low, high, "%"),
        None => verdict,
    };
    Some(verdict.with_evidence(change_range(comparison)?))
}

const READS_CHANGED: &str = "reads, which age leaves alone, did not surely stay as they were either: something else may have used the drive \
    meanwhile; measure again while nothing else does";

/// What would decide it.
fn unclear_reason(fall: &Fall) -> String {
    match fall.interval {
        Some(Interval { low, high }) => format!(
            "the drop lies between {} and {} %, so it may be less or more than the {NOTICED_PERCENT:.0} % that are noticed: \
             more passes (--passes) or a longer --time would narrow that",
            three_digits(low),
            three_digits(high)
        ),
        None => "measured once: nothing says how another pass would differ; give --passes 3 or more".into(),
    }
}

/// The figures, and how they went where they did not keep one level.
pub(super) fn change_range(comparison: &Comparison) -> Option<String> {
    let (new, used) = (comparison.value(Phase::New)?, comparison.value(Phase::Used)?);
    let spell = |value| match comparison.unit {
        "ns" => Nanos(value as u64).to_string(),
        "points" => format!("{} points", three_digits(value)),
        _ => rate(value),
    };
    let mut text = format!("{}: {} when new, {} when used", comparison.test, spell(new), spell(used));
    let passes = comparison.passes_in(Phase::Used);
    let (least, most) = passes
        .iter()
        .fold((f64::INFINITY, 0.0f64), |(least, most), pass| (least.min(*pass), most.max(*pass)));
    if let [first, .., last] = passes
        && comparison.better == Better::Higher
        && most > least * UNSTEADY_RATIO
    {
        text += &format!(
            "; it did not keep one level meanwhile: {} in the first pass, {} in the last",
            spell(*first),
            spell(*last)
        );
    }
    Some(text)
}

/// Whether reads stayed as they were.
pub(super) fn reads(random: &Comparison, sequential: &Comparison) -> Option<Verdict> {
    let falls = [random.fall(Phase::Used)?, sequential.fall(Phase::Used)?];
    let changes = falls.map(|fall| Change::classify(&fall));
    let standing = if changes.contains(&Change::Declined) {
        Standing::Fails
    } else if changes.contains(&Change::Unclear) {
        Standing::Undecided
    } else {
        Standing::Holds
    };
    let worse = if falls[0].percent > falls[1].percent { falls[0] } else { falls[1] };
    let mut verdict = Verdict::new("Reads are as fast as before.", standing);
    if let Some(Interval { low, high }) = worse.interval {
        verdict = verdict.estimate(worse.percent, low, high, "%");
    }
    let verdict = verdict.with_evidence(change_range(random)?).with_evidence(change_range(sequential)?);
    let undecided = falls
        .iter()
        .find(|fall| standing == Standing::Undecided && Change::classify(fall) == Change::Unclear);
    Some(match undecided {
        Some(fall) => verdict.caveat(unclear_reason(fall)),
        None => verdict,
    })
}

/// Whether reads, which age leaves alone, stayed as they were, not faster either: then nothing else used the drive.
pub(super) fn reads_unchanged(random: &Comparison, sequential: &Comparison) -> bool {
    [random, sequential].into_iter().all(|comparison| {
        comparison.fall(Phase::Used).is_some_and(|fall| {
            let rose = fall.interval.is_some_and(|interval| interval.high < -NOTICED_PERCENT);
            Change::classify(&fall) == Change::Unchanged && !rose
        })
    })
}

/// Whether leaving the drive alone brought random writes back; nothing where they had not fallen.
pub(super) fn rest(random_writes: &Comparison, rest: Nanos) -> Option<Verdict> {
    let (used, rested) = (random_writes.fall(Phase::Used)?, random_writes.fall(Phase::Rested)?);
    if Change::classify(&used) != Change::Declined {
        return None;
    }
    let standing = match Change::classify(&rested) {
        Change::Unchanged => Standing::Holds,
        Change::Declined => Standing::Fails,
        Change::Unclear => Standing::Undecided,
    };
    let verdict = Verdict::new(format!("A rest of {rest} brings random writes back."), standing)
        .with_evidence(format!(
            "{} of the new speed are missing after it, {} before",
            percent(rested.percent),
            percent(used.percent)
        ));
    Some(if standing == Standing::Undecided { verdict.caveat(unclear_reason(&rested)) } else { verdict })
}

fn percent(value: f64) -> String {
    format!("{} %", three_digits(value))
}

/// What was done to the drive between the measurements; nothing before any of it was done.
pub(super) fn ageing(segments: &[Segment], recipe: Recipe) -> Option<String> {
    let of: Vec<&Segment> =
        segments.iter().filter(|segment| segment.workload.name.starts_with(AGEING)).collect();
    let bytes: u64 = of.iter().map(|segment| segment.bytes(Op::Write)).sum();
    let span = of.last()?.ended_at.since(of.first()?.started_at);
    let mut text = format!("between the two, {} were written {} in {span}", amount(bytes), recipe.words());
    if let Some(amplification) = amplification(segments, &of) {
        text += &format!(
            "; the drive's own books say that it programmed {} times as much",
            three_digits(amplification)
        );
    }
    Some(text)
}

/// Bytes programmed over bytes written during the ageing, where a simulated drive of flash says so.
fn amplification(segments: &[Segment], ageing: &[&Segment]) -> Option<f64> {
    let first = segments.iter().position(|segment| segment.workload.name.starts_with(AGEING))?;
    let before: FlashCounters = segments[first.checked_sub(1)?].accounting?;
    let after = ageing.last()?.accounting.filter(FlashCounters::has_flash)?;
    let host = after.host_bytes_written.checked_sub(before.host_bytes_written).filter(|bytes| *bytes > 0)?;
    let flash = after.flash_bytes_programmed.saturating_sub(before.flash_bytes_programmed);
    Some(flash as f64 / host as f64)
}

/// What the word new means for a drive, where it is not known to have been erased.
pub(super) fn no_reference_reason(identity: &Identity) -> Option<String> {
    let state = identity.facts.iter().find(|(name, _)| name == "state").map(|(_, state)| state.as_str());
    match (identity.kind, state) {
        (Kind::Simulated, Some(state)) if state == "new" || state.starts_with("new:") => None,
        (Kind::Simulated, Some(state)) => {
            Some(format!("\"new\" means before this run, and the drive was not new then ({state})"))
        }
        _ => Some(
            "\"new\" means before this run: what the drive went through earlier is not known, and one that has fallen \
             already falls less"
                .into(),
        ),
    }
}
