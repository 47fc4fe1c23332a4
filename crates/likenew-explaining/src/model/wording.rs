//! Every sentence of a model: the answers, the summary, the first screen, titles of charts and errors of
//! settings.

use likenew_core::findings::{Answer, Lead, Overview, OverviewTable, Standing};
use likenew_core::io::Op;
use likenew_core::quantity::{Factor, Latency, Rate, Share, Size, with_range};
use likenew_core::units::{Nanos, Number, exact_size};
use likenew_stats::interval::Interval;

use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::wording::{capitalize, estimated, not_a_power_of_two, use_nearest_multiple};

use super::curve_fit::{Form, Specification};
use super::point::Curve;

// What it is for, and what it writes

pub(super) const QUESTION: &str =
    "What explains its speed: access time, throughput, clusters, cache, parallelism?";
pub(super) const WRITES: &str =
    "temporary files in a folder, or the drive where consent was given; nothing with --op read";

// Operations to choose from

pub(super) const READS: &str = "Reads only";
pub(super) const WRITES_ALONE: &str = "Writes only";
pub(super) const BOTH: &str = "Both";

// Names of models.

/// A model, as tables and answers name it.
pub(super) fn model(form: Form) -> &'static str {
    match form {
        Form::Plain => "access time + length/throughput",
        Form::Knee => "access time + two rates",
        Form::Clusters => "access time + length/throughput + partial clusters",
        Form::Alone => "one request at a time",
        Form::Bounds => "a fixed number of servers",
        Form::Queue => "random queues",
        Form::Nearest => "shortest seek first",
    }
}

/// What the table of specifications shows instead of a model.
pub(super) const NO_MODEL: &str = "none: longest and shortest request as measured";

/// A curve, as the row of a table.
pub(super) fn curve(curve: Curve) -> String {
    match curve {
        Curve::Depth(op) => format!("random {op} by depth"),
        Curve::Random(op) | Curve::Sequential(op) => format!("{} {op}", curve.pattern()),
    }
}

/// A curve, as the subject of an answer.
fn subject(of: Curve) -> String {
    capitalize(&curve(of).replace(" by", ""))
}

fn curve_id(of: Curve) -> String {
    subject(of).to_lowercase().replace(' ', "_")
}

// Throughput and access time.

fn time_text(time: Estimate) -> String {
    match time.interval {
        // A time that may be zero is no more than a guess.
        Some(Interval { low, .. }) if low <= 0.0 => format!("{}, uncertain", Latency(time.value)),
        // An unbounded value has no upper end.
        Some(Interval { low, high }) if high < 1e15 => {
            with_range(Latency(time.value), Latency(low), Latency(high))
        }
        _ => Latency(time.value).to_string(),
    }
}

/// Times of a curve; without a model, those of the shortest and the longest request as measured.
pub(super) fn specification(specification: &Specification) -> Answer {
    let Specification { curve, model, throughput, access, advertised, .. } = *specification;
    let (question, id) = (subject(curve), curve_id(curve));
    let text = format!("{} access time, {}", Latency(access.value), Rate(throughput.value));
    let answer = match model {
        Some(_) => Answer::info(id, question, text),
        None => Answer::unknown(id, question, format!("{text}; no model fits in between")),
    };
    let mut answer = throughput.put(answer, "bytes/s");
    answer.evidence.extend(access.interval.map(access_between));
    answer
        .evidence
        .extend(advertised.map(|rated| share_of_rated(Share(throughput.value / rated), Rate(rated))));
    answer
}

likenew_core::sentences! {
    fn access_between(interval: Interval) =
        "The access time lies between {} and {}.", Latency(interval.low), Latency(interval.high);
    fn share_of_rated(share: Share, rated: Rate) = "This is {share} of the rated {rated}.";
}

pub(super) fn partly_written(answer: Answer, measured: u64, span: u64) -> Answer {
    answer.caveat(format!(
        "The drive was empty, so only {} of its {} were written and measured.",
        Size(measured),
        Size(span)
    ))
}

pub(super) fn perhaps_empty(answer: Answer) -> Answer {
    answer.caveat(
        "Never-written addresses may be answered without reading flash, so an empty drive looks faster.",
    )
}

// Clusters.

/// The cost of partly written clusters; `None` without a model that has any.
pub(super) fn write_cluster(specification: &Specification) -> Option<Answer> {
    let (cluster, penalty) = (specification.cluster?, specification.penalty?);
    let (id, question) = ("write_cluster", "Write cluster");
    let size = Size(cluster.value as u64);
    let is_sure = penalty.low().is_some_and(|low| low > 0.0);
    let answer = if is_sure {
        let text = format!("{size}; each partial write costs {}", Latency(penalty.value));
        Answer::info(id, question, text)
    } else {
        let text = format!("maybe {size}; partial writes may cost nothing");
        Answer::unknown(id, question, text)
    };
    let answer = penalty.put(answer, "ns");
    let answer = match cluster.interval.filter(|interval| interval.low < interval.high) {
        Some(Interval { low, high }) => answer.with_evidence(format!(
            "Aligned writes avoid this cost from {size} on (between {} and {}).",
            Size(low as u64),
            Size(high as u64)
        )),
        None => answer.with_evidence(format!("Aligned writes avoid this cost from {size} on.")),
    };
    let mut answer = answer.with_evidence("Short writes pay it once, and long unaligned writes twice.");
    answer.evidence.extend(specification.upper.map(|upper| rewritable(Size(upper.value as u64))));
    Some(answer)
}

likenew_core::sentences! {
    /// The largest cluster that the cost of a partial write can rewrite.
    fn rewritable(upper: Size) = "In that time the drive can read and rewrite at most {upper}.";
}

// Models of curves.

/// How well a model predicts.
pub(super) struct Prediction {
    pub(super) form: Form,
    /// Requests served or queued at once, for a model by depth that has such a parameter.
    pub(super) in_flight: f64,
    /// Points left out of the fit and predicted.
    pub(super) points: usize,
    /// Error of those predictions, as a share: typical and largest.
    pub(super) typical: f64,
    pub(super) worst: f64,
    /// The best other model, and its error.
    pub(super) other: Option<(Form, f64)>,
}

/// The error of a prediction.
pub(super) fn error(share: f64) -> String {
    match share {
        ..0.001 => "under 0.1%".into(),
        // From ten times on a factor is easier to read.
        9.0.. => Factor(share + 1.0).to_string(),
        _ => Share(share).to_string(),
    }
}

/// How well a model explains a curve, with the predictions that show it.
pub(super) fn curve_model(
    curve: Curve,
    standing: Standing,
    text: String,
    prediction: Option<&Prediction>,
) -> Answer {
    let (id, question) = (format!("{}_model", curve_id(curve)), format!("{} model", subject(curve)));
    let mut answer = Answer::new(id, question, text, standing);
    if let Some(prediction) = prediction {
        answer.evidence.push(tested_model(prediction));
        answer.evidence.extend(prediction.other.map(|other| next_best_model(other, prediction)));
    }
    answer
}

likenew_core::sentences! {
    fn tested_model(tested: &Prediction) =
        "\"{}\" predicts {} points left out of the fit with an error of {} on average (max {}).",
        capitalize(model(tested.form)), tested.points, error(tested.typical), error(tested.worst);
    fn next_best_model(other: (Form, f64), chosen: &Prediction) =
        "The next best model, \"{}\", has an error of {}{}.",
        model(other.0), error(other.1), more_parameters(other.0, chosen);
    pub(super) fn unexplained(typical: f64) = "no model fits; the best one errs by {}", error(typical);
    pub(super) fn lost_in_noise(typical: f64, noise: f64) =
        "unknown: the best model errs by {}, and the points vary by {}", error(typical), error(noise);
    pub(super) fn too_few_points(points: usize) =
        "unknown: {} points are too few to test a model", Number(points as f64);
}

/// Why a model is not chosen although its error is smaller.
fn more_parameters(other: Form, chosen: &Prediction) -> &'static str {
    let is_better = chosen.other.is_some_and(|(_, typical)| typical < chosen.typical);
    let is_larger = other.parameters() > chosen.form.parameters();
    if is_better && is_larger { "; it is not chosen, as it has more parameters" } else { "" }
}

/// A model that explains a curve.
pub(super) fn explained(prediction: &Prediction) -> String {
    let Prediction { form, in_flight, typical, .. } = prediction;
    let (count, off) = (Number(in_flight.round()), error(*typical));
    match form {
        Form::Bounds => format!("{count} requests at once, error {off}"),
        Form::Queue => format!("random queues up to depth {count}, error {off}"),
        Form::Nearest => format!("shortest seek first up to depth {count}, error {off}"),
        _ => format!("{}, error {off}", model(*form)),
    }
}

pub(super) const MORE_POINTS: [&str; 2] = ["more_points", "Measure more points"];

// Zones, write bursts, steadiness.

pub(super) fn zones(op: Op, first: f64, last: f64, ratio: Option<Interval>, errors: (f64, f64)) -> Answer {
    let (id, question) = match op {
        Op::Read => ("read_zones", "Read zones"),
        _ => ("write_zones", "Write zones"),
    };
    let text = format!("{} at the first address, {} at the last", Rate(first), Rate(last));
    let (zoned, even) = errors;
    let answer = Answer::info(id, question, text).with_evidence(format!(
        "A rate that falls across the drive, as on a hard disk, predicts it with an error of {}; one rate for all, of {}.",
        error(zoned),
        error(even)
    ));
    Estimate { value: last / first, interval: ratio }.put(answer, "×")
}

const WRITE_BURST: (&str, &str) = ("write_burst", "Random write burst");

pub(super) fn no_slowdown(most: u64) -> Answer {
    let (id, question) = WRITE_BURST;
    Answer::unknown(id, question, format!("no slowdown within {}", Size(most)))
        .caveat("A write cache that holds more, or drains as fast as it fills, does not show.")
}

/// What all bursts of one block size agree on.
pub(super) struct CacheSize {
    pub(super) block: u64,
    /// Writes of `block` bytes that the cache takes, with the ends of all intervals.
    pub(super) writes: Estimate,
    /// Least speedup of those writes over the ones that follow.
    pub(super) faster: Factor,
}

/// The cache that bursts of random writes found, the length of shorter writes of which it takes as many, and the
/// throughput at the deepest queue over QD1.
pub(super) fn write_burst(cache: &CacheSize, as_many: Option<u64>, depth_gain: Option<Factor>) -> Answer {
    let (id, question) = WRITE_BURST;
    let bytes = cache.writes.map(|writes| writes * cache.block as f64);
    let text = format!("{} before writes slow down", Size(bytes.value as u64));
    let mut answer = bytes.put(Answer::info(id, question, text), "bytes").with_evidence(format!(
        "After idling, {} writes of {} were at least {} as fast as those that followed.",
        Number(cache.writes.value.round()),
        Size(cache.block),
        cache.faster
    ));
    answer.evidence.extend(as_many.map(filled_by_number));
    answer.evidence.extend(depth_gain.map(gain_of_depth));
    answer
}

likenew_core::sentences! {
    fn filled_by_number(block: u64) =
        "It takes as many writes of {}, so their number fills it, not their bytes.", Size(block);
    fn gain_of_depth(gain: Factor) = "The deepest queue of writes reaches {gain} the rate of QD1.";
}

/// Stalls while small reads were measured, and the longest.
pub(super) struct Stalls {
    pub(super) count: usize,
    pub(super) longest: Nanos,
}

/// The largest difference between repeats, as a share, up to which a drive is called steady without reserve. Chosen:
/// a reader would not trust a tick beside more.
const WORST_OF_STEADY: f64 = 0.25;

/// Whether equal requests took equally long at different moments.
pub(super) fn steadiness(
    is_steady: bool,
    points: usize,
    (typical, worst): (f64, f64),
    stalls: Option<&Stalls>,
) -> Answer {
    let (id, question) = ("steadiness", "Steadiness");
    let answer = if is_steady && worst <= WORST_OF_STEADY {
        let text = format!("repeats differ by {}, at most {}", error(typical), error(worst));
        Answer::good(id, question, text)
    } else if is_steady {
        let text = format!("most repeats differ by {}; the worst by {}", error(typical), error(worst));
        Answer::info(id, question, text)
    } else {
        let text = match stalls {
            Some(Stalls { count, longest }) => {
                let times =
                    if *count == 1 { "once".into() } else { format!("{} times", Number(*count as f64)) };
                format!("not steady, it stalled {times} for up to {longest}")
            }
            None => format!("not steady, repeats differ by {}, at worst by {}", error(typical), error(worst)),
        };
        Answer::info(id, question, text)
            .caveat("Other programs or background work of the drive disturb it, so all intervals are wide.")
    };
    let mut answer = answer.with_evidence(format!(
        "{} points were measured repeatedly; their repeats differ by {} typically and {} at worst.",
        Number(points as f64),
        error(typical),
        error(worst)
    ));
    answer.evidence.extend(stalls.map(stalled_reads));
    answer
}

likenew_core::sentences! {
    fn stalled_reads(stalls: &Stalls) =
        "Small reads stalled {} times, for up to {}; this time is included.",
        Number(stalls.count as f64), stalls.longest;
}

likenew_core::sentences! {
    pub(super) fn in_doubt(text: &str) = "{text}; uncertain, as the drive was not steady";
}

pub(super) const REPEAT: [&str; 2] = ["repeat", "Measure again while nothing else uses the drive"];

// Summary and first screen.

/// The answers worth a line of the first screen.
pub(super) const REMARKS: [&str; 5] =
    ["write_cluster", "read_zones", "write_zones", "write_burst", "steadiness"];

likenew_core::sentences! {
    fn explained_times(op: Op, access: Latency, rate: Rate) = "A {op} takes {access} plus its length at {rate}.";
    fn measured_times(op: Op, access: Latency, rate: Rate) =
        "Short {op}s take {access}, long ones run at {rate}; no model fits in between.";
}

/// The result, in a sentence for each operation.
pub(super) fn summary<'a>(
    specifications: impl Iterator<Item = &'a Specification>,
    is_steady: bool,
) -> String {
    let sentence = |specification: &Specification| {
        let times = if specification.model.is_some() { explained_times } else { measured_times };
        let (access, rate) = (specification.access.value, specification.throughput.value);
        times(specification.curve.op(), Latency(access), Rate(rate))
    };
    let sentences: Vec<String> = specifications.map(sentence).collect();
    match (sentences.is_empty(), is_steady) {
        (true, _) => "Too little was measured for a model.".into(),
        (false, true) => sentences.join(" "),
        (false, false) => format!("The drive was not steady, so this is uncertain. {}", sentences.join(" ")),
    }
}

likenew_core::sentences! {
    /// A summary that begins with the error.
    pub(super) fn summary_after(problem: &Answer, summary: &str) =
        "{}: {}. {summary}", problem.question, problem.answer;
}

/// The table of access times and throughputs, with the error of the model's predictions, and the answers worth a
/// line.
pub(super) fn overview<'a>(
    lines: impl Iterator<Item = (&'a Specification, Option<f64>)>,
    remarks: Vec<String>,
    series: Option<String>,
) -> Overview {
    let mut table = OverviewTable::new(["", "access time", "throughput", "error", "model"]);
    for (specification, error_share) in lines {
        let Specification { curve: of, model, throughput, access, .. } = *specification;
        table.push([
            curve(of),
            time_text(access),
            estimated(throughput, Rate),
            error_share.map_or_else(String::new, error),
            model.map_or("none", short_model).to_owned(),
        ]);
    }
    let table = (!table.rows.is_empty()).then_some(table);
    Overview { lead: Lead::Summary, answers: remarks, table, series }
}

/// A model, as a narrow column names it.
fn short_model(form: Form) -> &'static str {
    match form {
        Form::Plain => "latency + rate",
        Form::Knee => "latency + two rates",
        Form::Clusters => "clusters",
        other => model(other),
    }
}

// Errors of settings and of plans that do not fit.

likenew_core::sentences! {
    pub(super) fn other_operations() = "op: only reads and writes can be modeled; give read, write or both";
    pub(super) fn depths_out_of_range(count: usize, deepest: u32) =
        "depth: give at most {count} depths between 1 and {deepest}";
    pub(super) fn too_few_bytes(least: u64) = "bytes: give at least {}", exact_size(least);
    pub(super) fn time_out_of_range(setting: &str, time: Nanos) =
        "{setting}: {time} is not between 10ms and 24h";
    pub(super) fn span_out_of_range(span: u64, block: u64, capacity: u64) =
        "span: {} is not a multiple of {} between 1MiB and the drive's {}; {}",
        exact_size(span), exact_size(block), exact_size(capacity),
        use_nearest_multiple(span, block, 1 << 20..=capacity);
}

pub(super) fn longest_out_of_range(bytes: u64) -> String {
    not_a_power_of_two("longest", bytes, 1 << 20, 1 << 40)
}

// Titles and legends of charts.

likenew_core::sentences! {
    pub(super) fn by_length_title(op: Op) =
        "{} speed by request size, measured and fitted", capitalize(op.name());
    pub(super) fn residuals_title(op: Op) = "Error of fitted {op} speeds, by request size";
}

pub(super) const RESIDUALS_AXIS: &str = "measured against fitted speed";

pub(super) const DEPTHS_TITLE: &str = "Requests a second by queue depth, measured and fitted";
pub(super) const ZONES_TITLE: &str = "Rate by address";
pub(super) const BURSTS_TITLE: &str = "Random writes after idling";

#[cfg(test)]
mod tests {
    use super::*;

    fn quantity(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }) }
    }

    fn random(op: Op, throughput: Estimate, access: Estimate) -> Specification {
        let (curve, model) = (Curve::Random(op), Some(Form::Plain));
        let (penalty, cluster, upper, advertised) = (None, None, None, None);
        Specification { curve, model, throughput, access, penalty, cluster, upper, advertised }
    }

    fn prediction(form: Form, in_flight: f64) -> Prediction {
        Prediction {
            form,
            in_flight,
            points: 21,
            typical: 0.053,
            worst: 0.2,
            other: Some((Form::Plain, 0.31)),
        }
    }

    #[test]
    fn access_time_and_throughput_are_told_with_their_intervals() {
        let (rate, access) = (quantity(131e6, 130e6, 132e6), quantity(442e3, 440e3, 445e3));
        let measured = Specification { advertised: Some(143e6), ..random(Op::Read, rate, access) };
        let told = specification(&measured);
        assert_eq!((&*told.question, &*told.answer), ("Random read", "442 µs access time, 131 MB/s"));
        assert_eq!(
            told.evidence,
            ["The access time lies between 440 µs and 445 µs.", "This is 92% of the rated 143 MB/s."]
        );
        let told = specification(&Specification { model: None, ..measured });
        assert_eq!(told.answer, "442 µs access time, 131 MB/s; no model fits in between");
        assert_eq!(told.standing, Standing::Unknown);
    }

    #[test]
    fn clusters_are_told_with_their_price() {
        let (cluster, penalty) = (quantity(8388608.0, 8388608.0, 8388608.0), quantity(241e6, 234e6, 249e6));
        let (unknown, upper) = (quantity(0.0, 0.0, 0.0), quantity(11.6e6, 11.6e6, 11.6e6));
        let with_penalty = |penalty, upper| {
            let random = random(Op::Write, unknown, unknown);
            Specification { cluster: Some(cluster), penalty: Some(penalty), upper, ..random }
        };
        let told = write_cluster(&with_penalty(penalty, Some(upper))).unwrap();
        assert_eq!(told.answer, "8 MiB; each partial write costs 241 ms");
        assert_eq!(
            told.evidence,
            [
                "Aligned writes avoid this cost from 8 MiB on.",
                "Short writes pay it once, and long unaligned writes twice.",
                "In that time the drive can read and rewrite at most 11.1 MiB.",
            ]
        );
        let unsure = write_cluster(&with_penalty(quantity(1e6, 0.0, 9e6), None)).unwrap();
        assert_eq!(unsure.answer, "maybe 8 MiB; partial writes may cost nothing");
    }

    #[test]
    fn models_are_told_with_their_error() {
        let told =
            |curve, prediction| curve_model(curve, Standing::Info, explained(&prediction), Some(&prediction));
        let clusters = told(Curve::Random(Op::Write), prediction(Form::Clusters, 8e6));
        assert_eq!(clusters.id, "random_write_model");
        assert_eq!(clusters.answer, "access time + length/throughput + partial clusters, error 5.3%");
        assert_eq!(
            clusters.evidence[1],
            "The next best model, \"access time + length/throughput\", has an error of 31%."
        );
        let told = told(Curve::Depth(Op::Read), prediction(Form::Bounds, 8.0));
        assert_eq!(
            (&*told.question, &*told.answer),
            ("Random read depth model", "8 requests at once, error 5.3%")
        );
        assert_eq!(unexplained(0.053), "no model fits; the best one errs by 5.3%");
        assert_eq!(too_few_points(4), "unknown: 4 points are too few to test a model");
        assert_eq!([error(0.000_4), error(0.031), error(11.0)], ["under 0.1%", "3.1%", "12.0×"]);
    }

    #[test]
    fn a_summary_holds_access_times_and_throughputs() {
        let times = |op, access: f64, rate: f64| {
            random(op, quantity(rate, rate, rate), quantity(access, access, access))
        };
        let read = times(Op::Read, 442e3, 131e6);
        assert_eq!(
            summary([&read, &times(Op::Write, 245e6, 72.8e6)].into_iter(), true),
            "A read takes 442 µs plus its length at 131 MB/s. A write takes 245 ms plus its length at 72.8 MB/s."
        );
        assert_eq!(
            summary([&read].into_iter(), false),
            "The drive was not steady, so this is uncertain. A read takes 442 µs plus its length at 131 MB/s."
        );
        assert_eq!(
            summary([&Specification { model: None, ..times(Op::Write, 116e6, 98.8e6) }].into_iter(), true),
            "Short writes take 116 ms, long ones run at 98.8 MB/s; no model fits in between."
        );
    }
}
