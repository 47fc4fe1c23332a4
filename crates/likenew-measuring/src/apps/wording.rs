//! The sentences of apps.

use likenew_core::findings::{Answer, OverviewTable};
use likenew_core::input::nearest;
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Latency, Rate, Share, Size, count};
use likenew_core::units::{Number, digits};
use likenew_stats::steady_state::ROUNDS;

use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::wording::{cell, estimated, list, passes};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "apps",
    question: "How fast do applications run on it, and does that last under writing?",
    writes: "writes about 31 GB by default, in a folder to temporary files; with --consistency the writing span many times, which wears flash",
    manual: include_str!("../apps.md"),
};

pub(super) const SCORES_TITLE: &str = "Score of each application";
pub(super) const SCORE_BY_PHASE_TITLE: &str = "Score by phase";
pub(super) const ACCESS_TIME_BY_PHASE_TITLE: &str = "Mean access time by phase";
pub(super) const WRITES_BY_PHASE_TITLE: &str = "Speed of the random writes before each phase's test";
pub(super) const SCORE_AXIS: &str = "score";
pub(super) const SCORE_UNIT: &str = "points";
pub(super) const ACCESS_TIME_AXIS: &str = "access time";

likenew_core::sentences! {
    pub(super) fn no_application() = "applications: name at least one, or a group such as pcmark8";
    pub(super) fn application_twice(name: &str) = "the application \"{name}\" is named twice";
    pub(super) fn invalid_application(name: &str, reason: &str) = "the application \"{name}\": {reason}";
    pub(super) fn target_is_read_only() =
        "this target is read-only, and applications write; test a folder or a simulated drive";
    pub(super) fn writing_span_too_large(writing_span: Size, capacity: Size) =
        "a writing span of {writing_span} exceeds the target; use a --writing-span of at most {capacity}";
    pub(super) fn wrong_name(length_max: usize) = "name: use 1 to {length_max} characters";
    pub(super) fn several_lines() = "name, about and publication are one line each";
    pub(super) fn no_ios() = "it has no I/O; give reads, writes or both a count";
    pub(super) fn wrong_source(metric: &str) =
        "{metric}: its source must begin with published, derived or assumed";
    pub(super) fn too_many_ios(ios_max: u64) = "use at most {} I/Os and 1 PiB", Number(ios_max as f64);
    pub(super) fn too_many_random_bytes() = "random_bytes must be a part of bytes";
    /// `mean`: bytes of one I/O, which must lie between the shortest and the longest length.
    pub(super) fn impossible_mean(ios: u64, kind: &str, mean: f64, shortest: u32, longest: u32) =
        "{} {kind} I/Os of {mean:.0} bytes on average cannot be made of lengths of {shortest} to {longest} \
         bytes", Number(ios as f64);
    pub(super) fn wrong_depth(text: &str, depth_max: u32, shares_max: usize) =
        "\"{text}\" is not a queue depth; use 1 to {depth_max}, or up to {shares_max} depths with shares \
         such as 1:93,2:7";
    fn points(score: f64) = "{} points", digits(score);
    fn score_method(played: u64) =
        "Speed counts busy time only; all numbers are geometric means over the applications, from {}.",
        passes(played as usize);
    /// Shares of the best score after each idle time.
    pub(super) fn recovery_phases(shares: &[Share]) =
        "After each idle time the score was {} of its best.",
        list(&shares.iter().map(ToString::to_string).collect::<Vec<_>>());
    fn score_list(scores: &[f64]) = "{}", list(&scores.iter().map(|score| digits(*score)).collect::<Vec<_>>());
    pub(super) fn played_in_part(scale: Share) = "Only {scale} of each application's I/Os were played.";
    pub(super) fn summary_of_kept_score(best: f64, lost: Share) =
        "The application score holds up under constant writing: {lost} below its best of {}.", points(best);
}

pub(super) fn unknown_application(name: &str, names: &[&str], groups: &[&str]) -> String {
    match nearest(name, names.iter().chain(groups).copied()) {
        Some(near) => format!("unknown application \"{name}\"; did you mean \"{near}\"?"),
        None => format!(
            "unknown application \"{name}\"; use {}, a group ({}), or a file of your own such as mine.toml",
            names.join(", "),
            groups.join(", ")
        ),
    }
}

/// The result of all applications together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Overall {
    pub(super) score: Estimate,
    pub(super) rate: Rate,
    pub(super) access_time: Latency,
    pub(super) applications: u64,
    pub(super) passes: u64,
}

impl Overall {
    fn points(self) -> String {
        format!("{} points", estimated(self.score.not_negative(), digits))
    }

    fn text(self) -> String {
        let Self { rate, access_time, applications, .. } = self;
        let applications = count(applications, "application");
        format!("{}, from {rate} and a mean access time of {access_time} over {applications}", self.points())
    }
}

const NOT_PCMARK: &str = "It is computed like the storage score of PCMark 10, but is not that score: the order and the addresses of \
     these I/Os were never published. The table of sources says what is assumed.";

const ONE_PASS: &str = "only one pass was played";
const SCORE_UNDER_WRITES_METHOD: &str =
    "It compares the mean of the steady phases with the best of all phases.";
const STEADY_RULE: &str = "By SNIA's rule, five values are steady if they differ by at most 20% of their mean and their trend by at most 10%.";
const RECOVERY: &str = "idle_recovery";

answers! {
    ("score", "Application score") => {
        pub(super) fn score(overall: Overall) =
            info("{}", overall.text()).with_evidence(score_method(overall.passes)).caveat(NOT_PCMARK);
        pub(super) fn score_of_one_pass(overall: Overall) =
            unknown("{}, in the only pass", overall.text())
            .with_evidence(score_method(overall.passes)).caveat(NOT_PCMARK);
        /// `limit`: how precisely a score has to be known.
        pub(super) fn score_is_imprecise(overall: Overall, limit: Share) =
            unknown("{}, known less precisely than ±{limit}", overall.text())
            .with_evidence(score_method(overall.passes)).caveat(NOT_PCMARK);
    }
    ("speed_over_passes", "Speed over passes") => {
        /// `left`: the last pass' score over the first's.
        pub(super) fn passes_keep_speed(left: Estimate) =
            good("the last pass has {} of the first pass's score", estimated(left, Share));
        /// `lost`: the drop of the score from the first pass to the last.
        pub(super) fn passes_lose_speed(lost: Estimate) =
            problem("the last pass scored {} less than the first", estimated(lost, Share));
        pub(super) fn speed_over_passes_unclear(left: Estimate) =
            unknown("the last pass has {} of the first pass's score, too uncertain to call",
                    estimated(left, Share));
        pub(super) fn speed_over_one_pass() = unknown("{ONE_PASS}");
        pub(super) fn speed_of_one_application(left: Share) =
            unknown("the last pass has {left} of the first pass's score, of one application only")
            .caveat("One application does not show how others would differ.");
    }
    ("score_under_writes", "Score under constant writes") => {
        /// `lost`: the drop of the score under writes from the best; it has a range if several phases were measured.
        pub(super) fn writing_costs_score(lost: Estimate, best: f64) =
            problem("{} below the best score of {}", estimated(lost, Share), points(best))
            .with_evidence(SCORE_UNDER_WRITES_METHOD).caveat(NOT_PCMARK);
        pub(super) fn writing_costs_no_score(lost: Estimate, best: f64) =
            good("stays near the best score of {}: {} below", points(best), estimated(lost, Share))
            .with_evidence(SCORE_UNDER_WRITES_METHOD).caveat(NOT_PCMARK);
        pub(super) fn score_under_writes_unclear(lost: Estimate, best: f64) =
            unknown("{} below the best score of {}, too uncertain to call", estimated(lost, Share), points(best))
            .with_evidence(SCORE_UNDER_WRITES_METHOD).caveat(NOT_PCMARK);
        pub(super) fn no_steady_phase() = unknown("no steady phase was measured");
    }
    ("steady_state", "Steady state") => {
        /// `scores`: of the steady phases.
        pub(super) fn steady(scores: &[f64]) =
            good("reached, with steady phases at {} points", score_list(scores)).with_evidence(STEADY_RULE);
        pub(super) fn not_steady(scores: &[f64]) =
            info("not reached, with steady phases at {} points", score_list(scores)).with_evidence(STEADY_RULE);
        pub(super) fn too_few_steady_phases(measured: usize) =
            unknown("{measured} of {ROUNDS} steady phases were measured");
    }
    (RECOVERY, "Idle recovery") => {
        /// `left`: the score after the last idle time, as a share of the best.
        pub(super) fn recovers(left: Estimate) = good("restores {} of the best score", estimated(left, Share));
        pub(super) fn does_not_recover(left: Estimate) =
            info("idle time leaves the score at {} of its best", estimated(left, Share));
        pub(super) fn recovery_unclear(left: Estimate) =
            unknown("{} of the best score after idle time, too uncertain to call", estimated(left, Share));
        pub(super) fn no_recovery_phase() = unknown("no phase after idle time was measured");
    }
}

/// Whether an answer only says that a single pass was played.
pub(super) fn is_about_one_pass(answer: &Answer) -> bool {
    answer.answer == ONE_PASS
}

/// Whether an answer is about what idle time restores.
pub(super) fn is_about_recovery(answer: &Answer) -> bool {
    answer.id == RECOVERY
}

pub(super) const MORE_PASSES: &str = "Measure how much scores vary";

pub(super) fn summary_of_score(overall: Overall) -> String {
    let Overall { rate, access_time, passes, .. } = overall;
    let one_pass = if passes == 1 { " (one pass)" } else { "" };
    format!(
        "Application score {}{one_pass}: {rate}, mean access time {access_time}. Comparable only with other Likenew scores.",
        overall.points()
    )
}

pub(super) fn summary_of_lost_speed(lost: Share, overall: Option<Overall>) -> String {
    let first = format!("The drive got slower in use: the last pass scored {lost} less than the first.");
    match overall {
        Some(overall) => format!("{first} The mean score is {}.", overall.points()),
        None => first,
    }
}

pub(super) fn summary_of_writing(
    lost: Share,
    best: f64,
    left: f64,
    recovered: Option<(Share, bool)>,
) -> String {
    let left = points(left);
    let first = format!("Constant writing costs {lost} of the application score: {} → {left}.", digits(best));
    match recovered {
        Some((share, true)) => format!("{first} Idle time restores it to {share} of its best."),
        Some((share, false)) => {
            let points = points(best * share.0);
            format!("{first} Idle time does not restore it ({points}, {share} of best).")
        }
        None => first,
    }
}

/// An application on the first screen.
pub(super) struct ApplicationRow<'a> {
    pub(super) name: &'a str,
    pub(super) score: Estimate,
    pub(super) rate: Rate,
    pub(super) access_time: Latency,
}

/// Each application. Scores of different applications do not compare, so there are no bars.
pub(super) fn applications_table(rows: &[ApplicationRow<'_>]) -> OverviewTable {
    table_of(rows)
        .column("application", |row| row.name)
        .column("score", |row| estimated(row.score.not_negative(), digits))
        .column("speed", |row| row.rate)
        .column("access time", |row| row.access_time)
        .build()
}

/// The stages of a consistency test, each with a bar for its share of the best score; `steady` and `recovered` are
/// those of constant writes and of the last idle time.
pub(super) fn stages_table(best: f64, steady: Option<f64>, recovered: Option<f64>) -> OverviewTable {
    let stages =
        [("best phase", Some(best)), ("under constant writes", steady), ("after idle time", recovered)];
    table_of(stages)
        .column("", |(name, _)| *name)
        .column("score", |(_, score)| cell(score.map(digits)))
        .bars(|(_, score)| score.map(|score| score / best))
        .build()
}

#[cfg(test)]
mod tests {
    use likenew_procedure_support::wording::answer_as_summary;
    use likenew_stats::interval::Interval;

    use super::*;

    const OVERALL: Overall = Overall {
        score: Estimate { value: 1234.0, interval: Some(Interval { low: 1201.0, high: 1267.0 }) },
        rate: Rate(254e6),
        access_time: Latency(118_000.0),
        applications: 10,
        passes: 3,
    };

    fn range(value: f64) -> Estimate {
        Estimate { value, interval: Some(Interval { low: value - 0.02, high: value + 0.02 }) }
    }

    #[test]
    fn summaries_begin_with_the_number() {
        assert_eq!(
            summary_of_score(OVERALL),
            "Application score 1,230 (1,200–1,270) points: 254 MB/s, mean access time 118 µs. \
             Comparable only with other Likenew scores."
        );
        assert_eq!(
            summary_of_lost_speed(Share(0.34), Some(OVERALL)),
            "The drive got slower in use: the last pass scored 34% less than the first. \
             The mean score is 1,230 (1,200–1,270) points."
        );
        assert_eq!(
            summary_of_writing(Share(0.5), 1234.0, 617.0, Some((Share(0.97), true))),
            "Constant writing costs 50% of the application score: 1,230 → 617 points. \
             Idle time restores it to 97% of its best."
        );
        assert_eq!(
            summary_of_kept_score(1234.0, Share(0.012)),
            "The application score holds up under constant writing: 1.2% below its best of 1,230 points."
        );
    }

    #[test]
    fn answers_can_be_read_with_their_questions() {
        let text = |answer: Answer| answer_as_summary(&answer);
        let score = Estimate { interval: None, ..OVERALL.score };
        let once = Overall { score, applications: 1, passes: 1, ..OVERALL };
        assert_eq!(
            text(score_of_one_pass(once)),
            "Application score: 1,230 points, from 254 MB/s and a mean access time of 118 µs over 1 application, \
             in the only pass."
        );
        assert_eq!(
            text(passes_lose_speed(range(0.34))),
            "Speed over passes: the last pass scored 34% (32–36) less than the first."
        );
        assert_eq!(
            text(writing_costs_score(range(0.5), 1234.0)),
            "Score under constant writes: 50% (48–52) below the best score of 1,230 points."
        );
        assert_eq!(
            text(steady(&[610.0, 612.0, 615.0])),
            "Steady state: reached, with steady phases at 610, 612 and 615 points."
        );
        assert_eq!(
            text(does_not_recover(range(0.5))),
            "Idle recovery: idle time leaves the score at 50% (48–52) of its best."
        );
        assert_eq!(
            impossible_mean(3200, "random", 1.5, 4096, 8192),
            "3,200 random I/Os of 2 bytes on average cannot be made of lengths of 4096 to 8192 bytes"
        );
    }

    #[test]
    fn applications_are_not_compared_with_one_another() {
        let row = |name, score| ApplicationRow {
            name,
            score: Estimate { value: score, interval: None },
            rate: OVERALL.rate,
            access_time: OVERALL.access_time,
        };
        let table = applications_table(&[row("word", 500.0), row("excel", 1000.0)]);
        assert_eq!(table.rows[0].cells, ["word", "500", "254 MB/s", "118 µs"]);
        assert!(table.rows.iter().all(|row| row.share.is_none()), "no bars");
    }
}
