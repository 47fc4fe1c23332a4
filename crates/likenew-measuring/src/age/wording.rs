//! The sentences of age.

use std::fmt::Display;

use likenew_core::findings::{Action, Answer, OverviewTable, Standing};
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Rate, Share, Size, SpeedChange, TimeChange, change_range, range};
use likenew_core::units::{Nanos, Number, digits, exact_size};
use likenew_stats::interval::Interval;

use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{MISSING, capitalize, cell, use_nearest_multiple};

use super::{Comparison, Phase, RANDOM_SPAN_STEP};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "age",
    question: "How much slower is it used than new?",
    writes: "writes the whole span at least once, which wears flash for good; in a folder only to temporary files",
    manual: include_str!("../age.md"),
};

pub(super) const SHARE_TITLE: &str = "Used compared with new";
pub(super) const SHARE_AXIS: &str = "share of new";
pub(super) const RANDOM_WRITES_TITLE: &str = "Random write speed over time";
pub(super) const AGING_TITLE: &str = "Write speed while aging";
pub(super) const AGING_AXIS: &str = "written while aging";

/// What a table shows for a change that may be none.
const UNCLEAR: &str = "unclear";
/// What a table shows for a change that nobody notices, if there is one.
const LITTLE: &str = "little or none";
const UNCHANGED: &str = "unchanged";

/// A metric before and after, in its unit: `bytes/s`, `ns` or `points`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transition {
    pub(super) unit: &'static str,
    pub(super) new: f64,
    pub(super) used: f64,
}

impl Transition {
    /// `68.8 → 45.4 MB/s`.
    fn text(self) -> String {
        let (new, used) = (value(self.unit, self.new), value(self.unit, self.used));
        match (new.rsplit_once(' '), used.rsplit_once(' ')) {
            (Some((number, unit)), Some((_, unit_of_used))) if unit == unit_of_used => {
                format!("{number} → {used}")
            }
            _ => format!("{new} → {used}"),
        }
    }
}

fn value(unit: &str, value: f64) -> String {
    match unit {
        "ns" => Nanos(value as u64).to_string(),
        "points" => format!("{} points", digits(value)),
        _ => Rate(value).to_string(),
    }
}

/// `slower` for a rate, `lower` for a score.
fn worse(unit: &str) -> &'static str {
    if unit == "points" { "lower" } else { "slower" }
}

fn better(unit: &str) -> &'static str {
    if unit == "points" { "higher" } else { "faster" }
}

/// A drop in percent, as the share that was lost.
fn lost(percent: f64) -> Share {
    Share(percent / 100.0)
}

/// How a rate or a score changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Drop {
    /// It fell by enough to count.
    Fell { percent: f64, interval: Interval },
    /// It fell by enough to count, but reads, which aging does not affect, changed too.
    FellWithReads { percent: f64, interval: Interval },
    /// It fell by too little to count, if at all.
    Small { percent: f64, interval: Interval },
    /// It rose by enough to count, which use does not explain.
    Rose { percent: f64 },
    /// Whether it fell by enough to count is open.
    Unclear { percent: f64, interval: Interval },
    /// Measured in one pass.
    OnePass,
}

/// The answer on one metric; `limit` is the drop that counts, in percent.
pub(super) fn change(id: &str, question: &str, values: Transition, drop: Drop, limit: f64) -> Answer {
    let standing = match drop {
        Drop::Fell { .. } => Standing::Problem,
        Drop::Small { .. } => Standing::Good,
        Drop::Rose { .. } => Standing::Info,
        Drop::FellWithReads { .. } | Drop::Unclear { .. } | Drop::OnePass => Standing::Unknown,
    };
    let answer = Answer::new(id, question, change_text(values, drop, limit), standing);
    match drop {
        Drop::FellWithReads { .. } => answer.caveat(
            "Reads changed as well, which aging does not affect, so another program may have used the drive. \
             Measure again while nothing else does.",
        ),
        _ => answer,
    }
}

fn change_text(values: Transition, drop: Drop, limit: f64) -> String {
    let (worse, better, values) = (worse(values.unit), better(values.unit), values.text());
    match drop {
        Drop::Fell { percent, .. } => format!("{values}, {} {worse}", lost(percent)),
        Drop::FellWithReads { percent, .. } => {
            format!("{values}, {} {worse}, but reads changed too", lost(percent))
        }
        Drop::Rose { percent } => {
            format!("{values}, {} {better}; use speeds up no drive, so these do not compare", lost(-percent))
        }
        Drop::Small { percent, interval } if interval.low > 0.0 => {
            format!("{values}, {} {worse}; {} counts as a fall", lost(percent), lost(limit))
        }
        Drop::Small { percent, interval } if interval.high < 0.0 => {
            format!("{values}, {} {better}", lost(-percent))
        }
        Drop::Small { interval, .. } if interval.high < UNDER_ONE => format!("{values}, unchanged"),
        Drop::Small { interval, .. } => format!("{values}, at most {} {worse}", lost(interval.high)),
        Drop::Unclear { percent, interval } if interval.low > 0.0 => {
            let (fall, limit) = (lost(percent), lost(limit));
            let range = range(lost(interval.low), lost(interval.high));
            format!("{values}, {fall} {worse} ({range}); may be less than the {limit} that counts")
        }
        Drop::Unclear { interval, .. } => {
            format!("{values}; the change ({}) is too uncertain to call", slower_range(interval))
        }
        Drop::OnePass => format!("{values} in a single pass, so the change cannot be judged"),
    }
}

/// A drop of less than this many percent is called none. Chosen.
const UNDER_ONE: f64 = 1.0;

/// The summary if nothing fell, from the metric that falls first; `None` if that may have fallen.
pub(super) fn kept(subject: &str, values: Transition, drop: Drop, limit: f64) -> Option<String> {
    let (values, worse) = (values.text(), worse(values.unit));
    match drop {
        Drop::Small { interval, .. } if interval.high < UNDER_ONE => {
            Some(format!("No slowdown: {subject} {values} (under 1%)."))
        }
        Drop::Small { percent, interval } if interval.low > 0.0 => {
            let (percent, limit) = (lost(percent), lost(limit));
            Some(format!("Little change: {subject} {values} ({percent} {worse}; {limit} counts as a fall)."))
        }
        Drop::Small { interval, .. } => {
            Some(format!("Little change: {subject} {values} (at most {} {worse}).", lost(interval.high)))
        }
        _ => None,
    }
}

likenew_core::sentences! {
    /// The summary of a metric that fell.
    pub(super) fn fell(subject: &str, values: Transition, percent: f64) =
        "{subject} fell {}: {}.", lost(percent), values.text();
    /// Passes that differ while a used drive is measured.
    pub(super) fn not_steady(subject: &str, unit: &str, first: f64, last: f64) =
        "{subject} were not steady: {} in the first pass, {} in the last.",
        value(unit, first), value(unit, last);
    /// What the recipe fill did to the drive between the measurements.
    pub(super) fn aged_by_fill(bytes: Size, time: Nanos) = "Aging wrote {bytes} sequentially in {time}.";
    /// What the recipe overwrite did.
    pub(super) fn aged_by_overwrites(bytes: Size, time: Nanos) =
        "Aging wrote {bytes} in {time}: everything sequentially, then 4K random overwrites.";
    /// What the recipe churn did.
    pub(super) fn aged_by_small_files(bytes: Size, time: Nanos) =
        "Aging wrote {bytes} in {time}, as small files that came and went.";
    /// `30–38% slower`, or `0.8% faster to 69% slower`.
    fn slower_range(drop: Interval) =
        "{}", change_range(SpeedChange(1.0 - drop.low / 100.0), SpeedChange(1.0 - drop.high / 100.0));
    pub(super) fn write_amplification(factor: f64) = "Write amplification was {} meanwhile.", digits(factor);
    /// A simulated drive that was opened in a state other than new.
    pub(super) fn was_not_new(state: &str) =
        "\"New\" is the drive as it was found, and the drive was not new then (state={state}).";
    pub(super) fn random_span_has_wrong_size(random_span: u64) =
        "random_span = {} is not a multiple of 16MiB from 16MiB to 1PiB; {}",
        exact_size(random_span),
        use_nearest_multiple(random_span, RANDOM_SPAN_STEP, RANDOM_SPAN_STEP..=1 << 50);
    pub(super) fn too_many_passes(passes: u32, random_span: u64) =
        "{passes} passes need a random span of {passes} × 4 MiB at least, and it is {}; use fewer --passes",
        exact_size(random_span);
    pub(super) fn recipe_deletes_nothing(recipe: impl Display) =
        "trim needs the recipe churn; {recipe} deletes nothing that could be trimmed";
    pub(super) fn target_is_read_only() =
        "age writes, and this target is read-only; use a folder on the drive, or a simulated drive";
    pub(super) fn span_too_large(span: Size, capacity: Size) =
        "a span of {span} exceeds the target; use a --span of at most {capacity}";
    pub(super) fn random_span_ages_by_itself(random_span: Size, span: Size, most: Size) =
        "a random span of {random_span} is too large for {span}: measuring would age the drive by itself; \
         use a --random-span of at most {most}";
    pub(super) fn drive_ignores_trim() = "this drive ignores TRIM; leave --trim off";
    pub(super) fn bytes_out_of_range(bytes: u64, least: u64, most: u64) =
        "bytes = {} is not a multiple of 4 KiB from {} to {}; {}",
        Size(bytes), Size(least), Size(most), use_nearest_multiple(bytes, 4096, least..=most);
    pub(super) fn unknown_recipe(text: &str) = "unknown recipe \"{text}\"; use fill, overwrite or churn";
    /// The summary of a run that ended before anything could be compared.
    pub(super) fn nothing_to_compare(done: usize, wanted: usize) =
        "The run ended after {} of {} steps, before the used drive was measured.",
        Number(done as f64), Number(wanted as f64);
}

/// Explains the score, which few readers know.
pub(super) const SCORE_EXPLAINED: &str =
    "The score plays ten mixes of I/O with PCMark 8's published counts; it is not PCMark's own score.";

/// Why a used drive with trimmed blocks looks faster.
pub(super) const TRIMMED_BLOCKS_READ_FAST: &str =
    "Blocks that were trimmed are read without flash, which makes a used drive look faster.";

/// Random writes before and after idle time; `used` and `after` are drops in percent of the speed when new.
pub(super) fn after_idle(idle: Nanos, used: f64, after: f64, drop: Drop) -> Answer {
    let (used, left) = (lost(used), lost(after));
    let (standing, text) = match drop {
        Drop::Small { .. } if after > 0.0 => (
            Standing::Good,
            format!("{idle} of idle time restored random writes: {left} below new, {used} before"),
        ),
        Drop::Small { .. } | Drop::Rose { .. } => (
            Standing::Good,
            format!("{idle} of idle time restored random writes: as fast as new, {used} below before"),
        ),
        Drop::Fell { .. } | Drop::FellWithReads { .. } => (
            Standing::Info,
            format!("random writes are still {left} below new after {idle} of idle time, {used} before"),
        ),
        Drop::Unclear { interval, .. } => {
            let slower = slower_range(interval);
            (
                Standing::Unknown,
                format!(
                    "random writes are {slower} than new after {idle} of idle time, too uncertain to call"
                ),
            )
        }
        Drop::OnePass => (
            Standing::Unknown,
            format!("random writes are {left} below new after {idle} of idle time, in a single pass"),
        ),
    };
    Answer::new("after_idle", "After idling", text, standing)
}

pub(super) const EARLIER_USE_IS_UNKNOWN: &str = "\"New\" is the drive as it was found. Its earlier use is unknown; an already slow drive slows down less.";

/// The action to measure again with more passes. `is_one_pass`: there is no interval yet to narrow.
pub(super) fn more_passes(again: &Rerun, is_one_pass: bool, is_simulated: bool) -> Action {
    let why = match (is_one_pass, is_simulated) {
        (true, true) => "Measure how much results vary",
        (true, false) => "Measure how much results vary, best after the drive was erased or trimmed",
        (false, true) => "Narrow the interval with more passes",
        (false, false) => "Narrow the interval with more passes, best after the drive was erased or trimmed",
    };
    again.action("more_passes", why)
}

pub(super) const RESTORE: &str = "Restore the write speed";

/// `limit` is the drop that counts, in percent. Only rates and scores have a bar, and only where the change is known.
pub(super) fn table(metrics: &[&Comparison], has_idle: bool, limit: f64) -> OverviewTable {
    let interval = |metric: &Comparison| metric.fall(Phase::Used).and_then(|fall| fall.interval);
    let is_one_pass = metrics.iter().all(|metric| interval(metric).is_none());
    let change = if is_one_pass { "change (one pass)" } else { "change" };
    let change_of = |metric: &Comparison| match (metric.value(Phase::New), metric.value(Phase::Used)) {
        // A maximum is a single I/O; its change says nothing.
        (Some(new), Some(used)) if new > 0.0 && metric.test != LATENCY_MAX => {
            change_cell(metric.unit, used / new, interval(metric), limit)
        }
        _ => MISSING.to_owned(),
    };
    let has_bar = |metric: &Comparison| !metric.is_time() && change_of(metric) != UNCLEAR;
    let in_phase =
        |metric: &Comparison, phase| cell(metric.value(phase).map(|of_phase| value(metric.unit, of_phase)));
    table_of(metrics)
        .column("metric", |metric| metric_name(metric.test))
        .column("new", |metric| in_phase(metric, Phase::New))
        .column("used", |metric| in_phase(metric, Phase::Used))
        .column(change, |metric| change_of(metric))
        .column_if(has_idle, "after idle", |metric| in_phase(metric, Phase::AfterIdle))
        .bars(|metric| metric.share_of_new(Phase::Used).filter(|_| has_bar(metric)))
        .build()
}

/// `Random write` for the test `random writes`, as the answers name it.
fn metric_name(test: &str) -> String {
    let is_operation = test.ends_with("writes") || test.ends_with("reads");
    capitalize(if is_operation { &test[..test.len() - 1] } else { test })
}

/// `34% slower`, `5.81× as long`; no number if the interval includes no change.
fn change_cell(unit: &str, ratio: f64, drop: Option<Interval>, limit: f64) -> String {
    if (ratio - 1.0).abs() < 0.005 && drop.is_none_or(|drop| drop.low > -limit && drop.high < limit) {
        return UNCHANGED.into();
    }
    match drop {
        Some(drop) if drop.contains(0.0) && drop.low > -limit && drop.high < limit => return LITTLE.into(),
        Some(drop) if drop.contains(0.0) => return UNCLEAR.into(),
        _ => {}
    }
    match unit {
        "ns" => TimeChange(ratio).to_string(),
        "points" if ratio < 1.0 => format!("{} {}", Share(1.0 - ratio), worse(unit)),
        "points" => format!("{} {}", Share(ratio - 1.0), better(unit)),
        _ => SpeedChange(ratio).to_string(),
    }
}

// Names of workloads and rows

pub(super) const SMALL_FILES_DELETED: &str = "used: all small files deleted";
pub(super) const FILES_TO_MEASURE: &str = "files to measure on";
pub(super) const LATENCY_MEAN: &str = "random write latency, mean";
pub(super) const LATENCY_P99: &str = "random write latency, p99";
pub(super) const LATENCY_MAX: &str = "random write latency, max";

#[cfg(test)]
mod tests {
    use super::super::Aggregate;
    use super::*;

    const WRITES: Transition = Transition { unit: "bytes/s", new: 68.8e6, used: 45.4e6 };

    fn text(drop: Drop) -> String {
        change("random_write", "Random write", WRITES, drop, 10.0).answer
    }

    #[test]
    fn a_change_is_called_only_as_far_as_its_interval_goes() {
        let (percent, interval) = (34.0, |low, high| Interval { low, high });
        for (drop, expected) in [
            (Drop::Fell { percent, interval: interval(30.0, 38.0) }, "68.8 → 45.4 MB/s, 34% slower"),
            (
                Drop::FellWithReads { percent, interval: interval(30.0, 38.0) },
                "68.8 → 45.4 MB/s, 34% slower, but reads changed too",
            ),
            (
                Drop::Unclear { percent, interval: interval(-1.0, 69.0) },
                "68.8 → 45.4 MB/s; the change (1% faster to 69% slower) is too uncertain to call",
            ),
            (
                Drop::Unclear { percent, interval: interval(5.0, 63.0) },
                "68.8 → 45.4 MB/s, 34% slower (5–63%); may be less than the 10% that counts",
            ),
            (
                Drop::Small { percent: 5.0, interval: interval(3.0, 7.0) },
                "68.8 → 45.4 MB/s, 5% slower; 10% counts as a fall",
            ),
            (
                Drop::Small { percent: 1.0, interval: interval(-2.0, 4.0) },
                "68.8 → 45.4 MB/s, at most 4% slower",
            ),
            (Drop::Small { percent: -5.0, interval: interval(-6.0, -4.0) }, "68.8 → 45.4 MB/s, 5% faster"),
            (
                Drop::Rose { percent: -47.0 },
                "68.8 → 45.4 MB/s, 47% faster; use speeds up no drive, so these do not compare",
            ),
            (Drop::OnePass, "68.8 → 45.4 MB/s in a single pass, so the change cannot be judged"),
        ] {
            assert_eq!(text(drop), expected);
        }
        let score = Transition { unit: "points", new: 33.6, used: 30.0 };
        assert_eq!(
            change_text(score, Drop::Fell { percent: 11.0, interval: interval(10.5, 12.0) }, 10.0),
            "33.6 → 30.0 points, 11% lower"
        );
        let small = |low, high| Drop::Small { percent: 3.0, interval: interval(low, high) };
        let kept = |drop| kept("random writes", WRITES, drop, 10.0);
        assert_eq!(
            kept(small(-1.0, 0.65)).unwrap(),
            "No slowdown: random writes 68.8 → 45.4 MB/s (under 1%)."
        );
        assert_eq!(
            kept(small(2.0, 4.0)).unwrap(),
            "Little change: random writes 68.8 → 45.4 MB/s (3% slower; 10% counts as a fall)."
        );
        assert_eq!(kept(Drop::OnePass), None);
        assert_eq!(fell("Random writes", WRITES, 34.0), "Random writes fell 34%: 68.8 → 45.4 MB/s.");
    }

    #[test]
    fn changes_in_the_table_say_how_much_and_no_more_than_is_known() {
        let drop = |low, high| Some(Interval { low, high });
        let cell = |unit, ratio, drop| change_cell(unit, ratio, drop, 10.0);
        assert_eq!(cell("bytes/s", 0.66, drop(30.0, 38.0)), "34% slower");
        assert_eq!(cell("ns", 5.81, None), "5.81× as long");
        assert_eq!(cell("ns", 1.12, None), "12% longer");
        assert_eq!(cell("bytes/s", 1.2, None), "20% faster");
        assert_eq!(cell("points", 0.59, None), "41% lower");
        assert_eq!(cell("bytes/s", 0.97, drop(-1.0, 7.0)), "little or none");
        assert_eq!(cell("bytes/s", 0.66, drop(-1.0, 69.0)), "unclear");
        assert_eq!(cell("bytes/s", 0.999, None), "unchanged");
        assert_eq!(metric_name("random writes"), "Random write");
        assert_eq!(metric_name("random write latency, p99"), "Random write latency, p99");
    }

    #[test]
    fn a_maximum_has_neither_change_nor_bar() {
        let metric = |test, unit, used| Comparison {
            test,
            unit,
            aggregate: Aggregate::Maximum,
            passes: [vec![564e3], vec![used], Vec::new()],
        };
        let longest = metric(LATENCY_MAX, "ns", 128e6);
        let writes = metric("random writes", "bytes/s", 282e3);
        let table = table(&[&longest, &writes], false, 10.0);
        assert_eq!(table.headings[3], "change (one pass)");
        assert_eq!((table.rows[0].cells[3].as_str(), table.rows[0].share), ("–", None));
        assert_eq!((table.rows[1].cells[3].as_str(), table.rows[1].share), ("50% slower", Some(0.5)));
    }

    #[test]
    fn sentences_about_the_run() {
        assert_eq!(
            aged_by_overwrites(Size(3 << 30), Nanos::from_secs(90)),
            "Aging wrote 3 GiB in 90.0 s: everything sequentially, then 4K random overwrites."
        );
        assert_eq!(
            not_steady("Random writes", "bytes/s", 10.8e6, 12.7e6),
            "Random writes were not steady: 10.8 MB/s in the first pass, 12.7 MB/s in the last."
        );
        let answer = after_idle(
            Nanos::from_secs(600),
            70.0,
            50.0,
            Drop::Fell { percent: 50.0, interval: Interval { low: 48.0, high: 52.0 } },
        );
        assert_eq!(
            answer.answer,
            "random writes are still 50% below new after 10 min of idle time, 70% before"
        );
    }
}
