//! Sentences of comparisons.

use likenew_core::findings::Answer;
use likenew_core::quantity::{Factor, Iops, Rate, Share, Size, SpeedChange, range, with_change_range};
use likenew_core::units::{Number, digits};
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::wording::MISSING;
use serde_json::Value;

use crate::{ComparedRun, SAME_WITHIN, SpeedRatio};

pub(crate) const CHART_X: &str = "speed";

/// The chart's title.
pub(crate) fn chart(first: &str, others: &[&str]) -> String {
    match others {
        [other] => format!("Speed of {other} compared with {first}"),
        _ => format!("Speed of each run compared with {first}"),
    }
}

likenew_core::sentences! {
    /// Title of a ratio chart's value axis.
    pub(crate) fn chart_axis(first: &str) = "ratio to {first}";
    /// A stream, by its number from 0; the first one is not named.
    fn stream(index: u64) = "stream {}", index + 1;
    /// The question of an answer.
    pub(crate) fn question(first: &str, other: &str) = "{other} against {first}";
    /// An answer as a sentence.
    pub(crate) fn sentence(answer: &Answer) = "{}: {}.", answer.question, answer.answer;
}

/// Differences that an answer names; the table shows all.
const NAMED_MAX: usize = 3;
/// Ratio from which changes are a factor, not percent. Chosen: `1.1× slower` is harder to imagine than `10% slower`.
const FACTOR_FROM: f64 = 1.25;

/// Metrics of a check, in words.
const METRICS: [(&str, &str); 6] = [
    ("sequential_read", "sequential read"),
    ("sequential_write", "sequential write"),
    ("sustained_write", "sustained write"),
    ("random_read", "4K random read"),
    ("random_write", "4K random write"),
    ("random_read_qd32", "4K random read QD32"),
];

/// The name of a speed, from the cells before it: `random write 4 KiB QD8`.
pub(crate) fn speed<'a>(cells: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let word = |(key, cell): (&String, &Value)| match (key.as_str(), cell) {
        ("unit" | "data" | "score", _) => None,
        ("block_bytes", Value::Number(bytes)) => Some(Size(bytes.as_u64()?).to_string()),
        ("depth", Value::Number(depth)) => Some(format!("QD{depth}")),
        ("writers", Value::Number(count)) => count.as_u64().map(commits),
        ("stream", Value::Number(index)) => index.as_u64().filter(|index| *index > 0).map(stream),
        ("workload", Value::String(name)) => Some(name.clone()),
        ("compresses_to_percent", Value::Number(percent)) => {
            Some(format!("compressible to {}", Share(percent.as_f64()? / 100.0)))
        }
        (_, Value::String(text)) => {
            let metric = METRICS.iter().find(|(name, _)| name == text);
            Some(metric.map_or_else(|| text.replace('_', " "), |(_, words)| (*words).to_owned()))
        }
        _ => None,
    };
    cells.filter_map(word).fold(String::new(), |name, word| match &*name {
        "" => word,
        // The name of another program's test may already end with the operation.
        _ if name.ends_with(&format!(" {word}")) => name,
        _ => format!("{name} {word}"),
    })
}

/// Commits of several programs that write at the same time.
fn commits(writers: u64) -> String {
    format!("commits of {writers} {}", if writers == 1 { "writer" } else { "writers" })
}

/// The speed of which a table's rows are samples.
pub(crate) fn sampled_speed(table: &str) -> &'static str {
    if table == "files" { "sequential write" } else { "sequential read" }
}

fn value(unit: &str, value: f64) -> String {
    match unit {
        "1/s" => Iops(value).to_string(),
        "points" => format!("{value:.0}"),
        "commits/s" => format!("{} commits/s", digits(value)),
        _ => Rate(value).to_string(),
    }
}

/// `1.83× slower`, `12% faster`.
fn change(ratio: f64) -> String {
    if ratio.max(1.0 / ratio) >= FACTOR_FROM { factor(ratio) } else { SpeedChange(ratio).to_string() }
}

fn factor(ratio: f64) -> String {
    if ratio < 1.0 { format!("{} slower", Factor(1.0 / ratio)) } else { format!("{} faster", Factor(ratio)) }
}

/// `1.83× slower (1.82–1.84)`, `12% faster (10–14%)`.
fn change_with_range(estimate: Estimate) -> String {
    let (ratio, [low, high]) = (estimate.value, estimate.ends());
    if ratio.max(1.0 / ratio) < FACTOR_FROM {
        return with_change_range(SpeedChange(ratio), SpeedChange(low), SpeedChange(high));
    }
    // For slower runs the reciprocals swap, so that the smaller number comes first.
    let [from, to] = if high < 1.0 { [1.0 / high, 1.0 / low] } else { [low, high] };
    match (factor(ratio), range(digits(from), digits(to))) {
        (change, range) if range == digits(ratio.max(1.0 / ratio)) => change,
        (change, range) => format!("{change} ({range})"),
    }
}

/// The table's headings: both speeds and their difference; for more runs, one column each.
pub(crate) fn headings(runs: &[ComparedRun<'_>]) -> Vec<String> {
    let names = runs.iter().map(|run| run.name.to_owned());
    let mut headings: Vec<String> = std::iter::once(String::new()).chain(names).collect();
    headings.extend((runs.len() == 2).then(|| "difference".to_owned()));
    headings
}

/// A row of cells below these headings.
pub(crate) fn cells(name: &str, unit: &str, first: f64, ratios: &[Option<&SpeedRatio>]) -> Vec<String> {
    let mut cells = vec![name.to_owned(), value(unit, first)];
    let other = |ratio: &SpeedRatio| value(ratio.unit, ratio.values[1]);
    if let [Some(only)] = ratios {
        cells.extend([other(only), difference_with_range(only)]);
        return cells;
    }
    let cell = |ratio: &SpeedRatio| format!("{}, {}", other(ratio), difference(ratio));
    cells.extend(ratios.iter().map(|ratio| ratio.map_or_else(|| MISSING.to_owned(), cell)));
    cells
}

/// The verdict in words, with the change if it is clear.
pub(crate) fn difference(speed_ratio: &SpeedRatio) -> String {
    match speed_ratio.difference() {
        Verdict::Below | Verdict::Above => change(speed_ratio.ratio.value),
        Verdict::Alike => "same".to_owned(),
        Verdict::Unclear | Verdict::OnePass => "unclear".to_owned(),
    }
}

/// The verdict in words, with the interval.
fn difference_with_range(speed_ratio: &SpeedRatio) -> String {
    let (ratio, text) = (speed_ratio.ratio, difference(speed_ratio));
    match speed_ratio.difference() {
        Verdict::Below | Verdict::Above => change_with_range(ratio),
        Verdict::Alike => text,
        Verdict::Unclear | Verdict::OnePass => {
            let [low, high] = ratio.ends().map(change);
            format!("{text} ({low} to {high})")
        }
    }
}

/// Differences of several runs from the first, in one sentence.
pub(crate) fn several(first: &str, largest: &[(&str, String)]) -> String {
    let parts: Vec<String> =
        largest.iter().map(|(name, difference)| format!("{name}, {difference}")).collect();
    format!("Against {first}: {}.", parts.join("; "))
}

/// The largest difference of one run: `SEQ write 2.00× slower and 3 more`.
pub(crate) fn largest_difference(ratios: &[SpeedRatio]) -> String {
    match &clear(ratios)[..] {
        [] if ratios.iter().all(|ratio| ratio.difference() == Verdict::Alike) => "the same".into(),
        [] => "no clear difference".into(),
        [only] => named(only),
        [largest, rest @ ..] => format!("{} and {} more", named(largest), Number(rest.len() as f64)),
    }
}

/// `SEQ write 2.00× slower`.
fn named(speed_ratio: &SpeedRatio) -> String {
    format!("{} {}", speed_ratio.name, change(speed_ratio.ratio.value))
}

/// Clear differences, largest first.
fn clear(ratios: &[SpeedRatio]) -> Vec<&SpeedRatio> {
    let is_clear = |ratio: &&SpeedRatio| matches!(ratio.difference(), Verdict::Below | Verdict::Above);
    let mut clear: Vec<&SpeedRatio> = ratios.iter().filter(is_clear).collect();
    clear.sort_by(|one, two| two.size().total_cmp(&one.size()));
    clear
}

/// All differences of a run: the largest are named, the others counted.
pub(crate) fn differences(ratios: &[SpeedRatio]) -> String {
    let count = |verdict| ratios.iter().filter(|ratio| ratio.difference() == verdict).count();
    let (same, unclear) = (count(Verdict::Alike), count(Verdict::Unclear));
    let clear = clear(ratios);
    let within = Share(SAME_WITHIN - 1.0);
    match (clear.len(), same, unclear) {
        (0, 1, 0) => return format!("the {} is the same within {within}", ratios[0].name),
        (0, same, 0) => return format!("all {} speeds are the same within {within}", Number(same as f64)),
        (0, 0, _) => return "no clear difference between the two runs".into(),
        _ => {}
    }
    let named: Vec<String> = clear.iter().copied().take(NAMED_MAX).map(named).collect();
    let mut parts = vec![named.join(", ")];
    let rest = &clear[named.len()..];
    let slower = rest.iter().filter(|ratio| ratio.difference() == Verdict::Below).count();
    let others = [
        (slower, "slower"),
        (rest.len() - slower, "faster"),
        (same, "the same"),
        (unclear, "too uncertain to call"),
    ];
    parts.extend(rest_in_words(&others, clear.is_empty()));
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// The counted ones: `the other 4 speeds are the same`, `6 others are the same and 3 are too uncertain to call`.
fn rest_in_words(others: &[(usize, &str)], is_all: bool) -> Option<String> {
    let others: Vec<(usize, &str)> = others.iter().copied().filter(|(count, _)| *count > 0).collect();
    let are = |count: usize| if count == 1 { "is" } else { "are" };
    match &others[..] {
        [] => None,
        [(1, state)] => Some(format!("the other speed is {state}")),
        [(count, state)] => Some(format!("the other {} speeds are {state}", Number(*count as f64))),
        [(first, state), rest @ ..] => {
            let noun = match (is_all, first) {
                (true, 1) => " speed",
                (true, _) => " speeds",
                (false, 1) => " other",
                (false, _) => " others",
            };
            let mut parts = vec![format!("{}{noun} {} {state}", Number(*first as f64), are(*first))];
            let more =
                |(count, state): &(usize, &str)| format!("{} {} {state}", Number(*count as f64), are(*count));
            parts.extend(rest.iter().map(more));
            let last = parts.pop().unwrap_or_default();
            Some(format!("{} and {last}", parts.join(", ")))
        }
    }
}

/// What the intervals include.
pub(crate) fn intervals(scatter: f64) -> String {
    if scatter == 0.0 {
        return "Intervals are at 95%; a simulated drive repeats exactly.".into();
    }
    format!(
        "Intervals are at 95% and allow for a scatter of {} between runs (one standard deviation).",
        Share(scatter)
    )
}

pub(crate) fn other_settings(keys: &[&str]) -> String {
    let keys: Vec<String> = keys.iter().map(|key| key.replace('_', " ")).collect();
    format!("They were measured with other settings: {}", keys.join(", "))
}

#[cfg(test)]
mod tests {
    use likenew_stats::interval::Interval;

    use super::*;

    fn speed_ratio(name: &str, low: f64, high: f64) -> SpeedRatio {
        let ratio = (low * high).sqrt();
        let estimate = Estimate { value: ratio, interval: Some(Interval { low, high }) };
        SpeedRatio { name: name.into(), unit: "bytes/s", values: [1.0, ratio], ratio: estimate }
    }

    #[test]
    fn every_mixture_is_a_sentence() {
        let (same, unclear) = (speed_ratio("s", 0.99, 1.01), speed_ratio("u", 0.5, 2.0));
        let slow = |name| speed_ratio(name, 0.4, 0.5);
        let fast = speed_ratio("f", 3.0, 4.0);
        let said = |ratios: &[&SpeedRatio]| differences(&ratios.iter().copied().cloned().collect::<Vec<_>>());
        assert_eq!(said(&[&same]), "the s is the same within 5%");
        assert_eq!(said(&[&same, &same]), "all 2 speeds are the same within 5%");
        assert_eq!(said(&[&unclear, &unclear]), "no clear difference between the two runs");
        assert_eq!(said(&[&same, &unclear, &unclear]), "1 speed is the same and 2 are too uncertain to call");
        assert_eq!(
            said(&[&fast, &same, &same, &unclear]),
            "f 3.46× faster; 2 others are the same and 1 is too uncertain to call"
        );
        assert_eq!(said(&[&fast, &same]), "f 3.46× faster; the other speed is the same");
        let many = [slow("a"), slow("b"), slow("c"), slow("d"), fast.clone()];
        assert_eq!(
            differences(&many),
            "f 3.46× faster, a 2.24× slower, b 2.24× slower; the other 2 speeds are slower"
        );
        assert_eq!(largest_difference(&many), "f 3.46× faster and 4 more");
    }

    #[test]
    fn a_change_is_said_in_words_with_its_interval() {
        let cell = |low, high| difference_with_range(&speed_ratio("s", low, high));
        assert_eq!(cell(0.546, 0.548), "1.83× slower (1.82–1.83)");
        assert_eq!(cell(2.6e-5, 2.7e-5), "37,700× slower (37,000–38,500)");
        assert_eq!(cell(3.0, 4.0), "3.46× faster (3.00–4.00)");
        assert_eq!(cell(0.85, 0.95), "10% slower (5–15%)");
        assert_eq!(cell(0.99, 1.01), "same");
        assert_eq!(cell(0.5, 3.0), "unclear (2.00× slower to 3.00× faster)");
        assert_eq!(difference(&speed_ratio("s", 0.5, 3.0)), "unclear");
    }
}
