//! Every sentence of a model: the answers, the summary, the first screen, titles of charts and errors of
//! settings.

use likenew_core::findings::{Answer, Lead, Overview, OverviewTable};
use likenew_core::io::Op;
use likenew_core::quantity::{Factor, Latency, Rate, Share, Size, with_range};
use likenew_core::units::{Nanos, Number, exact_size};
use likenew_stats::interval::Interval;

use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::wording::{capitalize, not_a_power_of_two, use_nearest_multiple};

use super::form::Form;
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

/// A curve, as the subject of an answer.
fn subject(curve: Curve) -> &'static str {
    match curve {
        Curve::Random(Op::Read) => "Random read",
        Curve::Random(_) => "Random write",
        Curve::Sequential(Op::Read) => "Sequential read",
        Curve::Sequential(_) => "Sequential write",
        Curve::Depth(Op::Read) => "Random read depth",
        Curve::Depth(_) => "Random write depth",
    }
}

/// A curve, as the row of a table.
pub(super) fn curve(curve: Curve) -> &'static str {
    match curve {
        Curve::Random(Op::Read) => "random read",
        Curve::Random(_) => "random write",
        Curve::Sequential(Op::Read) => "sequential read",
        Curve::Sequential(_) => "sequential write",
        Curve::Depth(Op::Read) => "random read by depth",
        Curve::Depth(_) => "random write by depth",
    }
}

fn curve_id(curve: Curve) -> &'static str {
    match curve {
        Curve::Random(Op::Read) => "random_read",
        Curve::Random(_) => "random_write",
        Curve::Sequential(Op::Read) => "sequential_read",
        Curve::Sequential(_) => "sequential_write",
        Curve::Depth(Op::Read) => "random_read_depth",
        Curve::Depth(_) => "random_write_depth",
    }
}

// Throughput and access time.

fn rate_text(rate: Estimate) -> String {
    match rate.interval {
        Some(Interval { low, high }) => with_range(Rate(rate.value), Rate(low), Rate(high)),
        None => Rate(rate.value).to_string(),
    }
}

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
pub(super) fn specification(
    curve: Curve,
    throughput: Estimate,
    access: Estimate,
    model: Option<Form>,
    rated: Option<f64>,
) -> Answer {
    let (question, id) = (subject(curve), curve_id(curve));
    let text = format!("{} access time, {}", Latency(access.value), Rate(throughput.value));
    let answer = match model {
        Some(_) => Answer::info(id, question, text),
        None => Answer::unknown(id, question, format!("{text}; no model fits in between")),
    };
    let answer = match throughput.interval {
        Some(Interval { low, high }) => answer.estimate(throughput.value, low, high, "bytes/s"),
        None => answer,
    };
    let answer = match access.interval {
        Some(Interval { low, high }) => answer.with_evidence(format!(
            "The access time lies between {} and {}.",
            Latency(low),
            Latency(high)
        )),
        None => answer,
    };
    match rated {
        Some(rated) => answer.with_evidence(format!(
            "This is {} of the rated {}.",
            Share(throughput.value / rated),
            Rate(rated)
        )),
        None => answer,
    }
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

/// The cost of partly written clusters. `upper` is the largest cluster that this time can rewrite.
pub(super) fn write_cluster(cluster: Estimate, penalty: Estimate, upper: Option<f64>) -> Answer {
    let (id, question) = ("write_cluster", "Write cluster");
    let size = Size(cluster.value as u64);
    let is_sure = penalty.interval.is_some_and(|interval| interval.low > 0.0);
    let answer = if is_sure {
        let text = format!("{size}; each partial write costs {}", Latency(penalty.value));
        Answer::info(id, question, text)
    } else {
        let text = format!("maybe {size}; partial writes may cost nothing");
        Answer::unknown(id, question, text)
    };
    let answer = match penalty.interval {
        Some(Interval { low, high }) => answer.estimate(penalty.value, low, high, "ns"),
        None => answer,
    };
    let answer = match cluster.interval.filter(|interval| interval.low < interval.high) {
        Some(Interval { low, high }) => answer.with_evidence(format!(
            "Aligned writes avoid this cost from {size} on (between {} and {}).",
            Size(low as u64),
            Size(high as u64)
        )),
        None => answer.with_evidence(format!("Aligned writes avoid this cost from {size} on.")),
    };
    let answer = answer.with_evidence("Short writes pay it once, and long unaligned writes twice.");
    match upper {
        Some(upper) => answer.with_evidence(format!(
            "In that time the drive can read and rewrite at most {}.",
            Size(upper as u64)
        )),
        None => answer,
    }
}

// Models of curves.

/// How well a model predicts.
pub(super) struct Prediction {
    pub(super) form: Form,
    /// Requests served or queued at once, for a model by depth that has such a parameter.
    pub(super) in_flight: Option<f64>,
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

likenew_core::sentences! {
    fn model_id(curve: Curve) = "{}_model", curve_id(curve);
    fn model_question(curve: Curve) = "{} model", subject(curve);
}

fn with_prediction(answer: Answer, prediction: &Prediction) -> Answer {
    let Prediction { form, points, typical, worst, other, .. } = prediction;
    let answer = answer.with_evidence(format!(
        "\"{}\" predicts {points} points left out of the fit with an error of {} on average (max {}).",
        capitalize(model(*form)),
        error(*typical),
        error(*worst)
    ));
    match other {
        Some((form, typical)) => answer.with_evidence(format!(
            "The next best model, \"{}\", has an error of {}{}.",
            model(*form),
            error(*typical),
            more_parameters(*form, prediction)
        )),
        None => answer,
    }
}

/// Why a model is not chosen although its error is smaller.
fn more_parameters(other: Form, chosen: &Prediction) -> &'static str {
    let is_better = chosen.other.is_some_and(|(_, typical)| typical < chosen.typical);
    let is_larger = other.parameters() > chosen.form.parameters();
    if is_better && is_larger { "; it is not chosen, as it has more parameters" } else { "" }
}

pub(super) fn explained(curve: Curve, prediction: &Prediction) -> Answer {
    let Prediction { form, in_flight, typical, .. } = prediction;
    let off = error(*typical);
    let text = match (form, in_flight) {
        (Form::Bounds, Some(count)) => format!("{} requests at once, error {off}", Number(count.round())),
        (Form::Queue, Some(depth)) => {
            format!("random queues up to depth {}, error {off}", Number(depth.round()))
        }
        (Form::Nearest, Some(depth)) => {
            format!("shortest seek first up to depth {}, error {off}", Number(depth.round()))
        }
        _ => format!("{}, error {off}", model(*form)),
    };
    with_prediction(Answer::info(model_id(curve), model_question(curve), text), prediction)
}

pub(super) fn unexplained(curve: Curve, prediction: &Prediction) -> Answer {
    let text = format!("no model fits; the best one errs by {}", error(prediction.typical));
    with_prediction(Answer::info(model_id(curve), model_question(curve), text), prediction)
}

pub(super) fn lost_in_noise(curve: Curve, prediction: &Prediction, noise: f64) -> Answer {
    let text = format!(
        "unknown: the best model errs by {}, and the points vary by {}",
        error(prediction.typical),
        error(noise)
    );
    with_prediction(Answer::unknown(model_id(curve), model_question(curve), text), prediction)
}

pub(super) fn too_few_points(curve: Curve, points: usize) -> Answer {
    let text = format!("unknown: {} points are too few to test a model", Number(points as f64));
    Answer::unknown(model_id(curve), model_question(curve), text)
}

pub(super) fn more_points() -> &'static str {
    "Measure more points"
}

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
    match ratio {
        Some(Interval { low, high }) => answer.estimate(last / first, low, high, "×"),
        None => answer,
    }
}

const WRITE_BURST: (&str, &str) = ("write_burst", "Random write burst");

pub(super) fn no_slowdown(most: u64) -> Answer {
    let (id, question) = WRITE_BURST;
    Answer::unknown(id, question, format!("no slowdown within {}", Size(most)))
        .caveat("A write cache that holds more, or drains as fast as it fills, does not show.")
}

/// Result of the bursts of random writes.
pub(super) struct CacheBursts {
    /// Bytes that the cache takes, and the ends of the interval.
    pub(super) bytes: f64,
    pub(super) bytes_low: f64,
    pub(super) bytes_high: f64,
    /// The same as a number of writes of `block` bytes.
    pub(super) writes: f64,
    pub(super) block: u64,
    /// Least speedup of those writes over the ones that follow.
    pub(super) faster: Factor,
    /// Length of shorter writes of which the cache takes as many.
    pub(super) as_many: Option<u64>,
    /// Throughput at the deepest queue over QD1.
    pub(super) depth_gain: Option<Factor>,
}

pub(super) fn write_burst(bursts: &CacheBursts) -> Answer {
    let (id, question) = WRITE_BURST;
    let text = format!("{} before writes slow down", Size(bursts.bytes as u64));
    let answer = Answer::info(id, question, text)
        .estimate(bursts.bytes, bursts.bytes_low, bursts.bytes_high, "bytes")
        .with_evidence(format!(
            "After idling, {} writes of {} were at least {} as fast as those that followed.",
            Number(bursts.writes.round()),
            Size(bursts.block),
            bursts.faster
        ));
    let answer = match bursts.as_many {
        Some(block) => answer.with_evidence(format!(
            "It takes as many writes of {}, so their number fills it, not their bytes.",
            Size(block)
        )),
        None => answer,
    };
    match bursts.depth_gain {
        Some(gain) => {
            answer.with_evidence(format!("The deepest queue of writes reaches {gain} the rate of QD1."))
        }
        None => answer,
    }
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
    let answer = answer.with_evidence(format!(
        "{} points were measured repeatedly; their repeats differ by {} typically and {} at worst.",
        Number(points as f64),
        error(typical),
        error(worst)
    ));
    match stalls {
        Some(Stalls { count, longest }) => answer.with_evidence(format!(
            "Small reads stalled {} times, for up to {longest}; this time is included.",
            Number(*count as f64)
        )),
        None => answer,
    }
}

pub(super) fn in_doubt(text: &str) -> String {
    format!("{text}; uncertain, as the drive was not steady")
}

pub(super) fn repeat() -> &'static str {
    "Measure again while nothing else uses the drive"
}

// Summary and first screen.

/// The answers worth a line of the first screen.
pub(super) const REMARKS: [&str; 5] =
    ["write_cluster", "read_zones", "write_zones", "write_burst", "steadiness"];

/// Access time and throughput of random requests; without a model, those of the shortest and the longest as
/// measured.
pub(super) struct Times {
    pub(super) access: f64,
    pub(super) throughput: f64,
    pub(super) is_explained: bool,
}

fn read_summary(times: &Times) -> String {
    let (access, rate) = (Latency(times.access), Rate(times.throughput));
    if times.is_explained {
        format!("A read takes {access} plus its length at {rate}.")
    } else {
        format!("Short reads take {access}, long ones run at {rate}; no model fits in between.")
    }
}

fn write_summary(times: &Times) -> String {
    let (access, rate) = (Latency(times.access), Rate(times.throughput));
    if times.is_explained {
        format!("A write takes {access} plus its length at {rate}.")
    } else {
        format!("Short writes take {access}, long ones run at {rate}; no model fits in between.")
    }
}

/// The result, in a sentence for each operation.
pub(super) fn summary(read: Option<&Times>, write: Option<&Times>, is_steady: bool) -> String {
    let sentences: Vec<String> = read.map(read_summary).into_iter().chain(write.map(write_summary)).collect();
    match (sentences.is_empty(), is_steady) {
        (true, _) => "Too little was measured for a model.".into(),
        (false, true) => sentences.join(" "),
        (false, false) => format!("The drive was not steady, so this is uncertain. {}", sentences.join(" ")),
    }
}

/// A summary that begins with the error.
pub(super) fn summary_after(problem: &Answer, summary: &str) -> String {
    format!("{}: {}. {summary}", problem.question, problem.answer)
}

/// A row of the first screen.
pub(super) struct OverviewLine {
    pub(super) curve: Curve,
    pub(super) access: Estimate,
    pub(super) throughput: Estimate,
    pub(super) model: Option<Form>,
    /// Error of the model's predictions.
    pub(super) error: Option<f64>,
}

/// The table of access times and throughputs, and the answers worth a line.
pub(super) fn overview(lines: &[OverviewLine], remarks: Vec<String>, series: Option<String>) -> Overview {
    let mut table = OverviewTable::new(["", "access time", "throughput", "error", "model"]);
    for line in lines {
        table.push([
            curve(line.curve).to_owned(),
            time_text(line.access),
            rate_text(line.throughput),
            line.error.map_or_else(String::new, error),
            line.model.map_or("none", short_model).to_owned(),
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
    use likenew_core::findings::Standing;

    use super::*;

    fn quantity(value: f64, low: f64, high: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low, high }) }
    }

    fn prediction(form: Form, in_flight: Option<f64>) -> Prediction {
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
        let told = specification(Curve::Random(Op::Read), rate, access, Some(Form::Plain), Some(143e6));
        assert_eq!((&*told.question, &*told.answer), ("Random read", "442 µs access time, 131 MB/s"));
        assert_eq!(
            told.evidence,
            ["The access time lies between 440 µs and 445 µs.", "This is 92% of the rated 143 MB/s."]
        );
        let told = specification(Curve::Random(Op::Read), rate, access, None, None);
        assert_eq!(told.answer, "442 µs access time, 131 MB/s; no model fits in between");
        assert_eq!(told.standing, Standing::Unknown);
    }

    #[test]
    fn clusters_are_told_with_their_price() {
        let (cluster, penalty) = (quantity(8388608.0, 8388608.0, 8388608.0), quantity(241e6, 234e6, 249e6));
        let told = write_cluster(cluster, penalty, Some(11.6e6));
        assert_eq!(told.answer, "8 MiB; each partial write costs 241 ms");
        assert_eq!(
            told.evidence,
            [
                "Aligned writes avoid this cost from 8 MiB on.",
                "Short writes pay it once, and long unaligned writes twice.",
                "In that time the drive can read and rewrite at most 11.1 MiB.",
            ]
        );
        let unsure = write_cluster(cluster, quantity(1e6, 0.0, 9e6), None);
        assert_eq!(unsure.answer, "maybe 8 MiB; partial writes may cost nothing");
    }

    #[test]
    fn models_are_told_with_their_error() {
        let told = explained(Curve::Random(Op::Write), &prediction(Form::Clusters, Some(8e6)));
        assert_eq!(told.id, "random_write_model");
        assert_eq!(told.answer, "access time + length/throughput + partial clusters, error 5.3%");
        assert_eq!(
            told.evidence[1],
            "The next best model, \"access time + length/throughput\", has an error of 31%."
        );
        let told = explained(Curve::Depth(Op::Read), &prediction(Form::Bounds, Some(8.0)));
        assert_eq!(
            (&*told.question, &*told.answer),
            ("Random read depth model", "8 requests at once, error 5.3%")
        );
        let told = unexplained(Curve::Random(Op::Read), &prediction(Form::Plain, None));
        assert_eq!(told.answer, "no model fits; the best one errs by 5.3%");
        let told = too_few_points(Curve::Random(Op::Read), 4);
        assert_eq!(told.answer, "unknown: 4 points are too few to test a model");
        assert_eq!([error(0.000_4), error(0.031), error(11.0)], ["under 0.1%", "3.1%", "12.0×"]);
    }

    #[test]
    fn a_summary_holds_access_times_and_throughputs() {
        let times = |access, throughput, is_explained| Times { access, throughput, is_explained };
        let read = times(442e3, 131e6, true);
        assert_eq!(
            summary(Some(&read), Some(&times(245e6, 72.8e6, true)), true),
            "A read takes 442 µs plus its length at 131 MB/s. A write takes 245 ms plus its length at 72.8 MB/s."
        );
        assert_eq!(
            summary(Some(&read), None, false),
            "The drive was not steady, so this is uncertain. A read takes 442 µs plus its length at 131 MB/s."
        );
        assert_eq!(
            summary(None, Some(&times(116e6, 98.8e6, false)), true),
            "Short writes take 116 ms, long ones run at 98.8 MB/s; no model fits in between."
        );
    }
}
