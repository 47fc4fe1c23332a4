//! The sentences of endure.

use std::fmt::Display;

use likenew_core::findings::{Answer, OverviewTable, Standing};
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Iops, Latency, Rate, Share, Size, count, range};
use likenew_core::units::{Nanos, Number, exact_size};
use likenew_core::workload::Mix;
use likenew_procedure_support::answers;
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::wording::{capitalize, number_of, operation, operation_id, operations};
use likenew_stats::steady_state::{RANGE_SHARE_MAX, ROUNDS, SLOPE_SHARE_MAX, Window};

use super::test_series::{Cliff, KneeRow, Level};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "endure",
    question: "How does speed change over many drive fills, and where does it settle?",
    writes: "writes the span many times over; in a folder only to temporary files",
    manual: include_str!("../endure.md"),
};

/// The unit of the rounds that decide steadiness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub(super) enum Stretch {
    Fills,
    Rounds,
    /// One round in 31.
    Samples,
    #[strum(to_string = "quarters of a fill")]
    QuarterFills,
}

pub(super) const PEAK_IS_ONE_PASS: &str = "The peak is that of the fastest pass, measured once.";

likenew_core::sentences! {
    /// `RND4K Q1T1: steady at 31.4 MB/s, 18% of its peak of 174 MB/s.`
    pub(super) fn test_is_steady(test: &str, steady: Rate, peak: Rate, share: Share) =
        "{test}: steady at {steady}, {share} of its peak of {peak}.";
    pub(super) fn test_is_not_steady(test: &str, last: Rate, peak: Rate) =
        "{test}: {last} at the end, not steady; its peak was {peak}.";
    fn knees_id(op: Mix) = "{}_knees", operation_id(op);
    /// `fills`: those that it takes to write every address once.
    pub(super) fn fills_per_round(fills: f64) =
        "Each loop writes its file more than once, so reaching every address takes {fills:.1} fills.";
    pub(super) fn span_not_covered(loops: usize, places: usize) =
        "Only {loops} of {places} file slots have been written; the drive still uses the rest as spare area.";
    /// `Write`, `Read`, `Mix:70`, to begin a question with.
    fn op_name(op: Mix) = "{}", capitalize(&op.to_string());
    /// With one decimal, because limits are whole percents.
    fn percent(share: f64) = "{:.1}%", share * 100.0;
    pub(super) fn active_range(share: Share, span: Size) =
        "The active range was {share} of the drive, {span}.";
    pub(super) fn deviates_in_round(round: &str, right: &str) =
        "A point lasted {round}; the specification has {right}.";
    pub(super) fn deviates_in_data(data: &str) =
        "Data of the class {data} was written; the specification has random data.";
    pub(super) fn deviates_in_rounds(rounds: u32, right: u32) =
        "At most {rounds} rounds were allowed; the specification has {right}.";
    pub(super) fn leaves_out_512(block: Size) =
        "Blocks of 512 bytes are left out, as this target is addressed in {block}.";
    /// The IOPS of a SNIA test of 4 KiB blocks.
    pub(super) fn iops_outcome(op: Mix, iops: Iops) = "4K random {op} {iops}";
    pub(super) fn rate_outcome(block: Size, op: Mix, rate: Rate) = "{block} {op} {rate}";
    /// The summary of a run that ended before anything was measured.
    pub(super) fn nothing_measured() = "The run ended before a whole test was measured.";
    /// Where a level changed; `span` is the bytes of a fill.
    pub(super) fn knee(knee: &KneeRow, span: u64) =
        "{}: {} → {} after {} written ({:.1} fills).",
        knee.test, Rate(knee.before_bytes_per_s), Rate(knee.after_bytes_per_s), Size(knee.at_bytes),
        knee.at_bytes as f64 / span as f64;
    /// The mark of a change of level in a chart.
    pub(super) fn knee_mark(knee: &KneeRow) =
        "{}: {} → {}", knee.op, number_of(Rate(knee.before_bytes_per_s)), Rate(knee.after_bytes_per_s);
    pub(super) fn test_title(test: &str) = "Speed of {test} as the drive is written";
    pub(super) fn tracked_latency(test: &str, op: Mix) = "{test} {} latency", operation(op);
    pub(super) fn tracked_rate(test: &str, op: Mix) = "{test} {}", operation(op);
    pub(super) fn unknown_extent(text: &str) =
        "\"{text}\" is not an extent; use a size such as 8GiB, a share such as 50%, or whole";
    pub(super) fn span_below_file_size(span: Size, file_size: Size) =
        "a span of {span} is less than one file of {file_size}; use a smaller --file-size";
    pub(super) fn bytes_and_fills() = "bytes and fills both set how much is written; use one of them";
    pub(super) fn wrong_bytes_or_fills(fills_max: f64) =
        "bytes must be at least 1, and fills above 0 and at most {}", Number(fills_max);
    pub(super) fn span_below_minimum(span: u64, least: u64) =
        "span = {} is too small; use {} or more", exact_size(span), exact_size(least);
    pub(super) fn span_does_not_fit(span: Size, least: Size, most: Size) =
        "a span of {span} does not fit: it is at least {least} (1 MiB a thread) and at most {most}; change \
         --span";
    /// The name of the workload of one operation of a test.
    pub(super) fn loop_name(number: u64, test: impl Display, op: impl Display) = "loop {number} {test} {op}";
}

answers! {
    (format!("{}_steady_share", operation_id(op)), format!("{} at steady state", op_name(op))) => {
        /// The share of the best speed that is left, in the test that keeps least of it.
        pub(super) fn steady_share(op: Mix, test: &str, steady: Rate, share: Share, peak: Rate) =
            info("{steady}, {share} of peak ({peak}) in the worst test, {test}");
        /// The same, if more is lost than garbage collection explains.
        pub(super) fn steady_share_is_low(op: Mix, test: &str, steady: Rate, share: Share, peak: Rate) =
            problem("{steady}, {share} of peak ({peak}) in the worst test, {test}")
            .with_evidence("Garbage collection halves reads at most; look for heat, old data or a slow link.");
    }
    (knees_id(op), format!("{} cliff after {}", op_name(op), Size(cliff.at_bytes))) => {
        /// The answer about the deepest fall.
        pub(super) fn deepest_cliff(op: Mix, cliff: &Cliff<'_>) =
            info("{} {} fall from {} to {} ({} of peak)", cliff.test, operations(op),
                 number_of(Rate(cliff.peak)), Rate(cliff.low), Share(cliff.share()));
    }
    (knees_id(op), format!("{} speed after {}", op_name(op), Size(knee.at_bytes))) => {
        /// The answer about the first rise, if nothing falls.
        pub(super) fn first_rise(op: Mix, knee: &KneeRow) =
            info("{} {} rise from {} to {}", knee.test, operations(op),
                 number_of(Rate(knee.before_bytes_per_s)), Rate(knee.after_bytes_per_s));
    }
    (knees_id(op), format!("{} speed", op_name(op))) => {
        pub(super) fn too_few_for_knees(op: Mix, passes: usize, needed: usize) =
            unknown("each test ran {}, too few to tell a cliff from chance", times(passes))
            .with_evidence(format!("A cliff shows in {needed} or more runs of each test."));
    }
    (format!("{}_steady_state", operation_id(op)), format!("{} steady state", op_name(op))) => {
        pub(super) fn steady_from(op: Mix, from: Size, fills: f64) =
            good("reached after {from} written ({fills:.1} fills)");
        pub(super) fn not_steady(op: Mix, unsteady: usize, tests: usize) =
            info("not reached in {unsteady} of {tests} tests")
            .caveat("Levels of these tests are means of the last fill and may still change.");
        /// `fills`: those that count.
        pub(super) fn too_few_fills(op: Mix, fills: usize) =
            unknown("unknown; it takes {ROUNDS} fills after every address has been written once, and this run had {fills} of them");
        pub(super) fn saturation_is_steady(op: Mix, rounds: usize) =
            good("reached after {}", count(rounds as u64, "round"));
        pub(super) fn saturation_is_not_steady(op: Mix, rounds: usize) =
            info("not reached after {}", count(rounds as u64, "round")).caveat(RESULTS_ARE_NOT_STEADY);
        pub(super) fn saturation_is_too_short(op: Mix, rounds: usize) =
            unknown("{} are too few; it takes five quarters of a fill", count(rounds as u64, "round"));
    }
    ("steady_state", phase_question(block)) => {
        /// `block`: of the phase, for the throughput test, which has a phase for each block size.
        pub(super) fn rounds_are_steady(block: Option<Size>, rounds: usize) =
            good("reached after {}", count(rounds as u64, "round"));
        pub(super) fn rounds_are_not_steady(block: Option<Size>, rounds: usize) =
            info("not reached after {}", count(rounds as u64, "round")).caveat(RESULTS_ARE_NOT_STEADY);
        pub(super) fn rounds_ended_early(block: Option<Size>, rounds: usize) =
            unknown("not decided, as the run ended after {}", count(rounds as u64, "round"))
            .caveat("Finish the run with `likenew resume`.");
    }
}

const RESULTS_ARE_NOT_STEADY: &str = "Results are means of the last five rounds, not of a steady state.";

/// How often the speed changes in all; `None` for a single change.
pub(super) fn changes_in_all(number: usize) -> Option<String> {
    (number != 1).then(|| format!("The speed changes {number} times over all tests."))
}

/// The answer without a change of level; rates and shares at the end are of the lowest and the highest test. It is
/// only a measurement while the end may not be settled.
pub(super) fn no_knee(
    op: Mix,
    passes: usize,
    written: Size,
    rates: (Rate, Rate),
    shares: (Share, Share),
    is_settled: bool,
) -> Answer {
    let answer = format!(
        "{} at the end, {} of the fastest loop; no {} cliff in {written}",
        range(rates.0, rates.1),
        range(shares.0, shares.1),
        op_name(op).to_lowercase()
    );
    let new = if is_settled { Answer::good } else { Answer::info };
    new(knees_id(op), format!("{} speed", op_name(op)), answer)
        .with_evidence(format!("No level changed by 5% or more; each test ran {}.", times(passes)))
}

fn times(number: usize) -> String {
    if number == 1 { "once".into() } else { format!("{number} times") }
}

pub(super) const WRITE_MORE: &str = "Run until steady state can be judged";
/// More and longer rounds decide what these do not.
pub(super) const FULL_ROUNDS: &str = "Run as many rounds, each as long, as SNIA specifies";

/// Range and slope of the window, beside their limits.
pub(super) fn window(test: &str, window: Option<&Window>, stretch: Stretch) -> String {
    match window {
        None => format!("{test}: fewer than {ROUNDS} {stretch} were measured."),
        Some(Window { range_share, slope_share, .. }) => format!(
            "{test}: over the last {ROUNDS} {stretch}, range {} (limit {}), slope {} (limit {}).",
            percent(*range_share),
            Share(RANGE_SHARE_MAX),
            percent(*slope_share),
            Share(SLOPE_SHARE_MAX)
        ),
    }
}

/// Why a phase is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Steady,
    /// All rounds were made.
    Rounds,
    /// All bytes were written.
    Bytes,
}

/// Why the write saturation test ended; `None`: it was stopped.
pub(super) fn saturation_ended(rounds: usize, ending: Option<Ending>) -> String {
    let rounds = count(rounds as u64, "round");
    match ending {
        Some(Ending::Steady) => {
            format!("The test ended after {rounds}, as samples of one round in 31 were steady.")
        }
        Some(Ending::Bytes) => format!("The test ended after {rounds}, as the span was written four times."),
        Some(Ending::Rounds) => format!("The test ended after all of its {rounds}."),
        None => format!("The run was stopped after {rounds}."),
    }
}

fn phase_question(block: Option<Size>) -> String {
    block.map_or_else(|| "Steady state".into(), |block| format!("Steady state, {block}"))
}

/// The latency of a SNIA test of 4 KiB blocks. With few I/Os, the 99.999th percentile is unknown.
pub(super) fn latency_outcome(op: Mix, mean: Latency, p99999: Option<Nanos>, max: Nanos) -> String {
    match p99999 {
        Some(tail) => format!("4K random {op} {mean} (p99.999 {tail}, max {max})"),
        None => format!("4K random {op} {mean} (max {max})"),
    }
}

/// `written`: in all, for write saturation; `rounds`: those that the numbers are means of; `of_rounds`: those that
/// ran; `is_open`: whether longer or more rounds could show a steady state.
pub(super) fn result(
    outcomes: &[String],
    is_steady: bool,
    written: Option<Size>,
    (rounds, of_rounds): (usize, usize),
    is_open: bool,
) -> Answer {
    let question = match (is_steady, written) {
        (true, _) => "At steady state".to_owned(),
        (false, Some(written)) => format!("Not steady after {written}"),
        (false, None) => format!("No steady state after {}", count(of_rounds as u64, "round")),
    };
    let standing = if is_open { Standing::Unknown } else { Standing::Info };
    Answer::new("result", question, outcomes.join("; "), standing)
        .with_evidence(format!("These are means of the last {}.", count(rounds as u64, "round")))
}

pub(super) const NO_PURGE_BETWEEN_BLOCKS: &str = "The drive was not purged between the two block sizes.";

pub(super) const SIMULATED_WAS_NOT_NEW: &str =
    "The simulated drive was not new when the run began; open it with state=new.";

pub(super) const WAS_NOT_PURGED: &str = "The drive was not purged (secure erase, format or sanitize) before the run, so its earlier use affects the results.";

pub(super) const FILES_WERE_NOT_DELETED: &str =
    "This target ignores TRIM, so files were overwritten instead of deleted.";

pub(super) const DELETIONS_MAY_NOT_REACH_DRIVE: &str =
    "Deletions reach the drive only if the file system is mounted with discard.";

/// The tests of the loop on the first screen.
pub(super) fn level_table(levels: &[Level<'_>]) -> OverviewTable {
    let is_steady = |level: &Level<'_>| match level.steady {
        Some(_) => "yes",
        // Too little was written to tell.
        None if level.steadiness.window.is_none() => "unknown",
        None => "no",
    };
    table_of(levels)
        .column("test", |level| tracked_rate(&level.test_series.test, level.test_series.op))
        .column("peak", |level| Rate(level.peak))
        .column("at the end", |level| Rate(level.end()))
        .column("steady", |level| is_steady(level))
        .column("cliffs", |level| level.knees.iter().filter(|knee| knee.is_fall()).count())
        .bars(|level| (level.peak > 0.0).then(|| (level.end() / level.peak).min(1.0)))
        .build()
}

pub(super) const WRITTEN_AXIS: &str = "bytes written";
pub(super) const SATURATION_TITLE: &str = "Random write speed as the drive is written";
pub(super) const CONVERGENCE_TITLE: &str = "Tracked metrics by round, relative to their mean";
pub(super) const CONVERGENCE_AXIS: &str = "relative to mean";
pub(super) const IOPS_TITLE: &str = "IOPS by block size and mix";

/// Files are multiples of `unit`.
pub(super) fn loop_does_not_fit(needed: Size, capacity: u64, unit: u64) -> String {
    let advice = match capacity - capacity % unit {
        0 => "use a larger target".to_owned(),
        most => format!("use a --span and a --file-size of at most {}", exact_size(most)),
    };
    format!("{needed} exceed the target's {}; {advice}", Size(capacity))
}

#[cfg(test)]
mod tests {
    use likenew_core::io::Op;
    use likenew_procedure_support::wording::answer_as_summary;

    use super::*;

    const WRITE: Mix = Mix::Only(Op::Write);

    #[test]
    fn answers_say_what_is_left_and_since_when() {
        assert_eq!(
            answer_as_summary(&steady_share(WRITE, "file", Rate(92e6), Share(0.46), Rate(200e6))),
            "Write at steady state: 92.0 MB/s, 46% of peak (200 MB/s) in the worst test, file."
        );
        let (rates, shares) = ((Rate(64.2e6), Rate(67.2e6)), (Share(0.91), Share(0.96)));
        assert_eq!(
            answer_as_summary(&no_knee(WRITE, 6, Size(3 << 30), rates, shares, false)),
            "Write speed: 64.2–67.2 MB/s at the end, 91–96% of the fastest loop; no write cliff in 3 GiB."
        );
        let cliff = Cliff { test: "file", at_bytes: 4 << 30, peak: 69.7e6, low: 28.8e6 };
        assert_eq!(
            answer_as_summary(&deepest_cliff(WRITE, &cliff)),
            "Write cliff after 4 GiB: file writes fall from 69.7 to 28.8 MB/s (41% of peak)."
        );
        assert_eq!(
            answer_as_summary(&steady_from(WRITE, Size(7 << 30), 7.04)),
            "Write steady state: reached after 7 GiB written (7.0 fills)."
        );
        assert_eq!(
            answer_as_summary(&too_few_fills(WRITE, 2)),
            "Write steady state: unknown; it takes 5 fills after every address has been written once, and this run \
             had 2 of them."
        );
        assert_eq!(
            saturation_ended(124, Some(Ending::Bytes)),
            "The test ended after 124 rounds, as the span was written four times."
        );
    }

    #[test]
    fn results_of_the_specification_state_block_operation_and_number() {
        let outcomes =
            [iops_outcome(Mix::Only(Op::Read), Iops(35_086.0)), iops_outcome(WRITE, Iops(4_940.0))];
        assert_eq!(
            answer_as_summary(&result(&outcomes, true, None, (5, 5), false)),
            "At steady state: 4K random read 35,100 IOPS; 4K random write 4,940 IOPS."
        );
        assert_eq!(
            answer_as_summary(&result(&outcomes[1..], false, Some(Size(9 << 28)), (5, 55), false)),
            "Not steady after 2.25 GiB: 4K random write 4,940 IOPS."
        );
        assert_eq!(
            answer_as_summary(&result(&outcomes[1..], false, None, (5, 6), true)),
            "No steady state after 6 rounds: 4K random write 4,940 IOPS."
        );
        assert_eq!(
            answer_as_summary(&rounds_are_steady(Some(Size(1 << 20)), 5)),
            "Steady state, 1 MiB: reached after 5 rounds."
        );
    }

    #[test]
    fn windows_show_values_beside_their_limits() {
        assert_eq!(window("file", None, Stretch::Fills), "file: fewer than 5 fills were measured.");
        let flat = Window::last(&[100.0; 5]);
        assert_eq!(
            window("file", flat.as_ref(), Stretch::Fills),
            "file: over the last 5 fills, range 0.0% (limit 20%), slope 0.0% (limit 10%)."
        );
    }
}
