//! The sentences of replay.

use likenew_core::findings::{Answer, OverviewTable};
use likenew_core::io::DataClass;
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Factor, Latency, Share};
use likenew_core::segment::ReplayPair;
use likenew_core::units::{Nanos, Number};
use likenew_stats::interval::Interval;

use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::wording::{cell, estimated};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "replay",
    question: "How long would the programs of a trace wait on this drive?",
    writes: "writes once what the trace touches, then what the trace wrote; in a folder only to temporary files",
    manual: include_str!("../replay.md"),
};

pub(super) const LATENCY_TITLE: &str = "Mean latency along the trace";
pub(super) const LATENCY_AXIS: &str = "mean latency";
pub(super) const TIME_AXIS: &str = "time in the trace";
pub(super) const APPLICATIONS_TITLE: &str = "Waiting time of each application";
pub(super) const WAITING_AXIS: &str = "waiting time";
pub(super) const HERE_LINE: &str = "this drive";
pub(super) const RECORDED_LINE: &str = "recorded";

likenew_core::sentences! {
    pub(super) fn absurd_summary(name: &str, count: u64) =
        "summary.{name} = {count} is more than any recording has; count the trace again by leaving the \
         summary out";
    pub(super) fn no_trace() = "trace: name the file of a trace";
    pub(super) fn unknown_mode(text: &str) = "unknown mode \"{text}\"; use dependent, timed or fast";
    pub(super) fn fast_keeps_no_times() =
        "speed and idle_max change recorded times, which mode = \"fast\" does not keep; remove one of them";
    pub(super) fn no_trace_summary(trace: &str) =
        "the plan does not say what {trace} holds; run it with likenew run or likenew replay";
    pub(super) fn trace_writes(trace: &str) =
        "this target is read-only, and {trace} holds writes; add --reads-only, or test a folder";
    pub(super) fn elapsed_times(here: Latency, recorded: Latency) =
        "The replay took {here}; the recording took {recorded}.";
    pub(super) fn stopped_early(ios: u64) =
        "It was stopped early: this is about the first {} I/Os only.", Number(ios as f64);
    pub(super) fn note_of_trace(note: &str) = "Trace: {note}.";
    pub(super) fn replay_speed(speed: f64) = "Recorded times were replayed {} as fast.", Factor(speed);
    pub(super) fn pauses_were_cut(idle_max: Nanos) =
        "Pauses were cut to {idle_max}, which leaves a drive less time for garbage collection.";
    pub(super) fn only_reads_replayed(skipped: Share) =
        "Only reads were replayed; {skipped} of the I/Os were left out.";
    pub(super) fn trim_left_out(skipped: Share) =
        "This target has no TRIM; {skipped} of the I/Os were left out.";
    pub(super) fn remapped(share: Share) =
        "{share} of the I/Os were moved or made longer to fit this target's addresses and blocks.";
    pub(super) fn data_not_recorded(data: DataClass) =
        "A trace has no written data; {data} data was written instead.";
}

pub(super) fn nothing_to_replay(trace: &str, reads_only: bool) -> String {
    let what = if reads_only { "reads" } else { "I/Os" };
    format!("{trace} holds no {what}")
}

/// The time that is compared: the sum of latencies or, if I/Os start as soon as possible, busy time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    Waiting,
    Busy,
}

impl Measure {
    fn id(self) -> &'static str {
        match self {
            Self::Waiting => "waiting_time",
            Self::Busy => "busy_time",
        }
    }

    fn question(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting time",
            Self::Busy => "Busy time",
        }
    }
}

/// The same time in the trace and on this drive, in nanoseconds, and the saving: a share of 1, negative if it
/// takes longer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Times {
    pub(super) recorded: Latency,
    pub(super) here: Latency,
    pub(super) saved: Estimate,
}

impl Times {
    fn arrow(self) -> String {
        format!("{} → {}", self.recorded, self.here)
    }

    /// `75% less than`, `2.00× as long as`.
    fn compared(self) -> String {
        let conjunction = if self.saved.value > DOUBLE { "than" } else { "as" };
        format!("{} {conjunction}", change(self.saved))
    }
}

/// Saving, as a share, from which a factor is easier to read than a percentage. Chosen: −1 is twice as long.
const DOUBLE: f64 = -1.0;

/// `75% (70–80) less`, `12% more`, `2.00× as long`.
fn change(saved: impl Into<Estimate>) -> String {
    let saved: Estimate = saved.into();
    match saved.value {
        ..=DOUBLE => format!("{} as long", estimated(saved.map(|saved| 1.0 - saved), Factor)),
        ..0.0 => format!("{} more", estimated(saved.map(|saved| -saved), Share)),
        _ => format!("{} less", estimated(saved, Share)),
    }
}

const IN_ONE_PASS: &str = "recorded in a single pass";

answers! {
    (measure.id(), measure.question()) => {
        /// A clear difference, in either direction.
        pub(super) fn differs(measure: Measure, times: Times) =
            info("{} recorded: {}", times.compared(), times.arrow());
        /// A difference in a single pass.
        pub(super) fn differs_once(measure: Measure, times: Times) =
            unknown("{} {IN_ONE_PASS}: {}", times.compared(), times.arrow());
        /// `margin`: the difference that one pass cannot tell from none.
        pub(super) fn within_margin(measure: Measure, times: Times, margin: Share) =
            unknown("{}; differences below {margin} need more passes", times.arrow());
        /// `interval`: of the saving.
        pub(super) fn within_noise(measure: Measure, times: Times, interval: Interval) =
            unknown("{}; between {} and {}, too uncertain to call",
                    times.arrow(), change(interval.high), change(interval.low));
        /// A drive that looks slower because the replay itself was late.
        pub(super) fn replay_was_late(measure: Measure, times: Times) =
            unknown("{}; the replay fell behind, so the drive may be faster than this", times.arrow());
        /// `known`: the share of I/Os with recorded latency.
        pub(super) fn few_recorded_latencies(measure: Measure, times: Times, known: Share) =
            unknown("{}, of the {known} of I/Os whose latency the trace has", times.arrow());
        pub(super) fn no_recorded_latencies(measure: Measure, here: Latency) =
            unknown("{here} on this drive; the trace has no latencies to compare with");
        pub(super) fn nothing_measured(measure: Measure) = unknown("nothing was measured");
    }
    ("replay_timing", "Replay timing") => {
        /// `late`: the 99th percentile of the lateness; `share`: lateness that the drive did not cause, of all
        /// waiting.
        pub(super) fn on_time(late: Nanos, share: Share) =
            good("99% of I/Os left at most {late} late")
            .with_evidence(format!("Lateness that the drive did not cause is {share} of all waiting."));
        pub(super) fn late(late: Nanos, share: Share) =
            unknown("the replay program fell behind by {share} of the waiting time")
            .with_evidence(format!("99% of I/Os left at most {late} late."))
            .caveat("Close other programs: the replay needs a CPU core of its own.");
    }
}

/// Whether an answer is a difference in a single pass.
pub(super) fn is_of_one_pass(answer: &Answer) -> bool {
    answer.answer.contains(IN_ONE_PASS)
}

pub(super) fn summary_of_difference(measure: Measure, times: Times) -> String {
    let (change, arrow) = (change(times.saved), times.arrow());
    let once = if times.saved.interval.is_none() { " (one replay)" } else { "" };
    match measure {
        Measure::Waiting => format!("Programs would wait {change} on this drive: {arrow}{once}."),
        Measure::Busy => {
            format!("Replayed as fast as possible, the drive is busy {change}: {arrow}{once}.")
        }
    }
}

/// `saved`: a share of 1.
pub(super) fn busy_times(here: Latency, recorded: Latency, saved: Option<f64>) -> String {
    let times = format!("I/O was in flight for {here} here and {recorded} in the trace");
    saved.map_or_else(|| format!("{times}."), |saved| format!("{times}: {}.", change(saved)))
}

pub(super) const TIME_LIMIT: &str = "Each pass ended at the time limit, wherever it was in the trace.";

pub(super) const FAST_HAS_NO_THINK_TIME: &str =
    "As fast as possible ignores think times: more I/Os were in flight than the recorded programs had.";

pub(super) const TIMED_WAITS_FOR_NOTHING: &str = "I/Os left at their recorded times. Programs would have waited for a slower drive, and gone on sooner on a \
     faster one.";

pub(super) const NO_RECORDED_ENDS: &str =
    "The trace does not say when I/Os ended, so each application was taken to do one I/O at a time.";

pub(super) const PREPARED: &str =
    "What the trace touches was written once sequentially before, not as years of use leave it.";

/// The waiting of one application, on the first screen.
pub(super) struct WaitRow {
    pub(super) name: String,
    pub(super) ios: u64,
    pub(super) here: Latency,
    /// Of the I/Os whose time was recorded.
    pub(super) pair: ReplayPair,
}

pub(super) const ALL_APPLICATIONS: &str = "all";

pub(super) fn table(rows: impl Iterator<Item = WaitRow>, measure: Measure) -> OverviewTable {
    let recorded = match measure {
        Measure::Waiting => "waiting, recorded",
        Measure::Busy => "busy, recorded",
    };
    let recorded_ns = |row: &WaitRow| (row.pair.recorded_ns > 0).then_some(row.pair.recorded_ns as f64);
    table_of(rows)
        .column("application", |row| row.name.clone())
        .column("I/Os", |row| Number(row.ios as f64))
        .column(recorded, |row| cell(recorded_ns(row).map(Latency)))
        .column("here", |row| row.here)
        .column("change", |row| {
            cell(recorded_ns(row).map(|recorded| change(1.0 - row.pair.replayed_ns as f64 / recorded)))
        })
        .build()
}

#[cfg(test)]
mod tests {
    use likenew_procedure_support::wording::answer_as_summary;

    use super::*;

    fn times(here_ms: f64, interval: Option<(f64, f64)>) -> Times {
        Times {
            recorded: Latency(100e6),
            here: Latency(here_ms * 1e6),
            saved: Estimate {
                value: 1.0 - here_ms / 100.0,
                interval: interval.map(|(low, high)| Interval { low, high }),
            },
        }
    }

    #[test]
    fn summaries_name_the_change() {
        assert_eq!(
            summary_of_difference(Measure::Waiting, times(25.0, Some((0.7, 0.8)))),
            "Programs would wait 75% (70–80) less on this drive: 100 ms → 25.0 ms."
        );
        assert_eq!(
            summary_of_difference(Measure::Waiting, times(112.0, None)),
            "Programs would wait 12% more on this drive: 100 ms → 112 ms (one replay)."
        );
        assert_eq!(
            summary_of_difference(Measure::Busy, times(300.0, None)),
            "Replayed as fast as possible, the drive is busy 3.00× as long: 100 ms → 300 ms (one replay)."
        );
    }

    #[test]
    fn answers_can_be_read_with_their_questions() {
        let text = |answer: Answer| answer_as_summary(&answer);
        assert_eq!(
            text(differs(Measure::Waiting, times(250.0, Some((-1.6, -1.4))))),
            "Waiting time: 2.50× (2.40–2.60) as long as recorded: 100 ms → 250 ms."
        );
        assert_eq!(
            text(within_margin(Measure::Waiting, times(98.0, None), Share(0.05))),
            "Waiting time: 100 ms → 98.0 ms; differences below 5% need more passes."
        );
        assert_eq!(
            text(within_noise(
                Measure::Waiting,
                times(98.0, Some((-0.35, 0.4))),
                Interval { low: -0.35, high: 0.4 }
            )),
            "Waiting time: 100 ms → 98.0 ms; between 40% less and 35% more, too uncertain to call."
        );
        assert_eq!(
            text(late(Nanos::from_millis(2), Share(0.12))),
            "Replay timing: the replay program fell behind by 12% of the waiting time."
        );
        assert_eq!(
            busy_times(Latency(25e6), Latency(100e6), Some(0.75)),
            "I/O was in flight for 25.0 ms here and 100 ms in the trace: 75% less."
        );
    }

    #[test]
    fn a_row_ends_with_the_change_of_the_wait() {
        let row = WaitRow {
            name: "make".into(),
            ios: 12_345,
            here: Latency(25e6),
            pair: ReplayPair { replayed_ns: 25_000_000, recorded_ns: 100_000_000 },
        };
        let table = table([row].into_iter(), Measure::Waiting);
        assert_eq!(table.rows[0].cells, ["make", "12,345", "100 ms", "25.0 ms", "75% less"]);
    }
}
