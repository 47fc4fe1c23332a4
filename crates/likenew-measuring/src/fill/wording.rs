//! The sentences of fill.

use likenew_core::findings::{Action, Answer, OverviewTable, Standing};
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Factor, Rate, Share, Size, SpeedChange, count, range};
use likenew_core::units::{Nanos, Number, digits, exact_size};
use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{cell, estimated, number_of, use_nearest_multiple};
use likenew_stats::bimodality::Levels;
use likenew_stats::interval::Interval;

use super::{Pass, Unit};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "fill",
    question: "Is every part of the free space written equally fast, and without pauses?",
    writes: "writes the free space once, down to a reserve; in a folder only to temporary files",
    manual: include_str!("../fill.md"),
};

/// The writes or reads that a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The pass that the answers are about.
    Writes,
    /// The first of several passes.
    FirstPass,
    /// Reading everything back.
    Reads,
}

impl Subject {
    fn id(self) -> &'static str {
        match self {
            Self::Writes => "write_speed",
            Self::FirstPass => "first_pass",
            Self::Reads => "read_speed",
        }
    }

    fn question(self) -> &'static str {
        match self {
            Self::Writes => "Sequential write",
            Self::FirstPass => "First pass",
            Self::Reads => "Sequential read",
        }
    }

    /// A problem, except in the first pass: a drive that was slow and has recovered has none.
    fn problem(self, text: String) -> Answer {
        let standing = if self == Self::FirstPass { Standing::Info } else { Standing::Problem };
        Answer::new(self.id(), self.question(), text, standing)
    }
}

answers! {
    (subject.id(), subject.question()) => {
        pub(super) fn even(subject: Subject, unit: Unit, typical: Rate) =
            good("{typical} in every {}", unit.noun());
        pub(super) fn uneven(subject: Subject, unit: Unit, typical: Rate, low: Rate, high: Rate) =
            info("{typical} (median {}; 90% of {}s {})", unit.noun(), unit.noun(), range(low, high));
        /// Too few speeds to tell one level from two.
        pub(super) fn too_few(subject: Subject, unit: Unit, typical: Rate, number: usize) =
            unknown("{typical} in the median of {}, too few to tell one speed from two",
                    count(number as u64, unit.noun()));
        /// `first` and `last`: medians of the first and the last tenth.
        pub(super) fn falls(subject: Subject, first: Rate, last: Rate, is_even: bool) =
            info("{} from {first} at the start to {last} at the end", course("falls", is_even))
            .with_evidence("Hard disks do so by design, as their outer tracks hold more. Flash does not.");
        /// `fast` for `bytes`, then `after`.
        pub(super) fn drops(subject: Subject, fast: Rate, bytes: Size, after: Rate) =
            info("{fast} for the first {bytes}, then {after}");
        /// The same, by a cache that may have taken the first bytes.
        pub(super) fn drops_behind_cache(subject: Subject, fast: Rate, bytes: Size, after: Rate) =
            info("{fast} into a cache of {bytes}, then {after}")
            .with_evidence(
                "Flash drives write to an SLC cache first, by design. Heat and used-up burst credits can look alike; check tells \
                 them apart.");
    }
    ("settled", "Speed after rewriting") => {
        /// The drive got faster in a single pass, so it is open whether writing has restored its speed.
        pub(super) fn effect_is_open(again: &Rerun) =
            unknown("unknown; a second pass shows whether writing once restored it")
            .action(again.action("second_pass", "Write it twice"));
        /// Another pass may change the speed again. `limit`: the change that would not count.
        pub(super) fn not_settled(first: Rate, last: Rate, changed: Share, limit: Share, passes: usize) =
            unknown("{} after {passes} passes ({} → {last}); another pass would show whether that is the end",
                    SpeedChange(last.0 / first.0), number_of(first))
            .with_evidence(format!("The last pass changed it by {changed}; {limit} or less counts as settled."));
        /// The speed still changes after as many passes as are ever made.
        pub(super) fn never_settled(last: Rate, changed: Share, limit: Share, passes: usize) =
            info("{last}, not settled after {passes} passes: the last one changed it by {changed}")
            .with_evidence(format!("A change of {limit} or less counts as settled."));
        pub(super) fn too_few_passes() =
            unknown("fewer than two passes ended, so the effect of rewriting is not known");
    }
    ("completed", "Completeness") => {
        pub(super) fn not_all_written(unit: Unit, count: usize, moved: usize, pass: usize) =
            unknown("{moved} of {count} {}s were written in pass {pass}; the run ended early", unit.noun());
        pub(super) fn not_all_read(unit: Unit, count: usize, moved: usize) =
            unknown("{moved} of {count} {}s were read back; the run ended early", unit.noun());
        pub(super) fn nothing_written(unit: Unit, count: usize) =
            unknown("none of {count} {}s was written", unit.noun());
    }
}

pub(super) const WRITE_UNTIL_STEADY: &str = "Write until the speed settles";
pub(super) const FIND_CAUSE: &str = "Find out why it stalls";
pub(super) const RESTORE: &str = "Restore the write speed, gentlest step first";

/// `number`: of files or parts.
pub(super) fn more_parts(unit: Unit, number: u32, again: &Rerun) -> Action {
    let parts = count(number.into(), unit.noun());
    again.action("more_parts", &format!("Write {parts}, enough to tell one speed from two"))
}

/// `falls evenly`, or `falls` if no line goes through both ends.
fn course(verb: &str, is_even: bool) -> String {
    format!("{verb}{}", if is_even { " evenly" } else { "" })
}

/// `first` and `last`: medians of the first and the last tenth.
pub(super) fn rises(subject: Subject, first: Rate, last: Rate, is_even: bool) -> Answer {
    let text = match subject {
        Subject::Writes => format!("slow at first; rises from {} to {last}", number_of(first)),
        Subject::FirstPass | Subject::Reads => {
            format!("{} from {first} at the start to {last} at the end", course("rises", is_even))
        }
    };
    subject.problem(text).with_evidence(match subject {
        Subject::Reads => {
            "Data at the start is read more slowly than data at the end; healthy flash and disks do not do that."
        }
        Subject::Writes | Subject::FirstPass => {
            "Stale data slowed the start; sequential writes free whole erase blocks, so writes got faster."
        }
    })
}

pub(super) fn two_levels(subject: Subject, unit: Unit, levels: &Levels) -> Answer {
    let (low, high) = (Rate(levels.low), Rate(levels.high));
    let noun = unit.noun();
    let text = format!("two speeds: {} of {noun}s at {low}, the rest at {high}", Share(levels.share_low));
    let order = if levels.runs.is_clustered() {
        "Slow ones follow one another, so whole regions of the drive are slow."
    } else {
        "Slow and fast ones are mixed."
    };
    let shares = levels.share_low_interval;
    let factor = Factor(levels.high / levels.low);
    let answer = subject.problem(text).with_evidence(order).with_evidence(format!(
        "Fast {noun}s are {factor} as fast as slow ones, which are {} of all.",
        range(Share(shares.low), Share(shares.high))
    ));
    let level = |name: &str, interval: Interval| {
        format!("The median of the {name} ones is {}.", range(Rate(interval.low), Rate(interval.high)))
    };
    let medians = [("slow", levels.low_interval), ("fast", levels.high_interval)];
    let sentences = medians.into_iter().filter_map(|(name, interval)| Some(level(name, interval?)));
    sentences.fold(answer, Answer::with_evidence)
}

/// The spread of the speeds of files or parts.
pub(super) struct Scatter {
    pub(super) number: usize,
    pub(super) median: Rate,
    pub(super) low: Rate,
    pub(super) high: Rate,
    pub(super) slowest: Rate,
    pub(super) fastest: Rate,
}

/// `after_drop`: whether only those after the drop are counted.
pub(super) fn scatter(unit: Unit, scatter: &Scatter, after_drop: bool) -> String {
    let Scatter { number, median, low, high, slowest, fastest } = scatter;
    let number = count(*number as u64, unit.noun());
    let [the, after] = if after_drop { ["the ", " after that"] } else { ["", ""] };
    if fastest.0 <= median.0 * (1.0 + ALIKE) && slowest.0 >= median.0 * (1.0 - ALIKE) {
        return format!("All {number}{after} are within 1% of {median}.");
    }
    format!(
        "The median of {the}{number}{after} is {median}; 90% of them run at {}, the slowest at {slowest}.",
        range(low, high)
    )
}

/// Speeds that differ by less than this share are alike to a reader. Chosen.
const ALIKE: f64 = 0.01;

likenew_core::sentences! {
    pub(super) fn no_interval(unit: Unit, number: usize) =
        "{} are too few for an interval.", count(number as u64, unit.noun());
    pub(super) fn speeds_title(unit: Unit) = "Speed of each {}", unit.noun();
    pub(super) fn slowest_title(unit: Unit) = "Slowest I/O of each {}", unit.noun();
    /// The mark of a stall in a chart.
    pub(super) fn stall_mark(duration: Nanos) = "stalled {duration}";
    pub(super) fn parts_of_several_files(parts: u32, files: u32, most: u32) =
        "parts = {parts} with {files} files; use 1 to {most} parts of a single file, or 1 of several";
    pub(super) fn parts_do_not_divide(parts: u32, file_size: u64, block: u64) =
        "parts = {parts} does not divide a file of {} into whole blocks of {}",
        exact_size(file_size), exact_size(block);
    pub(super) fn wrong_block(block: u64) =
        "block = {} is not a multiple of 512 from 512 to 1GiB; {}",
        exact_size(block), use_nearest_multiple(block, 512, 512..=1 << 30);
    pub(super) fn pass_speeds(speeds: &[f64]) =
        "The passes ran at {} MB/s.",
        speeds.iter().map(|speed| digits(speed / 1e6)).collect::<Vec<_>>().join(", ");
    pub(super) fn wrong_passes(text: &str) =
        "\"{text}\" is not a number of passes; use 1 to 1000, or until-steady";
}

/// A speed that another pass no longer changes. `near_pass`: the first pass near the last one, from 1.
pub(super) fn settled(first: Rate, last: Rate, changed: Share, near_pass: usize, passes: usize) -> Answer {
    let text = match last.0 / first.0 {
        factor if factor.is_finite() => format!("{last}, {} the first pass", Factor(factor)),
        _ => last.to_string(),
    };
    Answer::good("settled", "Speed after rewriting", text).with_evidence(format!(
        "Pass {passes} changed it by {changed}; pass {near_pass} was the first within 1% of the last."
    ))
}

/// `per_gigabyte_most`: the most there can be nevertheless, if enough was written to say so.
pub(super) fn no_stall(least: Nanos, per_gigabyte_most: Option<f64>) -> Answer {
    let answer = Answer::good("stalls", "Stalls", format!("no write took {least} or more"));
    let bound = |most| format!("At most {} stalls per GB are likely (95% confidence).", digits(most));
    per_gigabyte_most.map(bound).into_iter().fold(answer, Answer::with_evidence)
}

/// Stalls of all writes.
pub(super) struct Stalled {
    pub(super) number: u64,
    /// All I/Os that were kept as samples stalled, so there may have been more.
    pub(super) may_be_more: bool,
    pub(super) total: Nanos,
    pub(super) per_gigabyte: Estimate,
    pub(super) longest: Nanos,
    /// File or part with the longest, from 1.
    pub(super) longest_in: usize,
    pub(super) longest_at: Size,
}

pub(super) fn stalled(unit: Unit, stalled: &Stalled) -> Answer {
    place_stalls(unit, stalled, Answer::problem("stalls", "Stalls", stalls_text(stalled)))
}

/// All stalls came after the cache was full.
pub(super) fn stalled_behind_cache(unit: Unit, stalled: &Stalled) -> Answer {
    let text = format!("{}, all behind the full cache", stalls_text(stalled));
    let answer = Answer::info("stalls", "Stalls", text)
        .with_evidence("A drive empties its full cache while it writes, and new writes wait for that.");
    place_stalls(unit, stalled, answer)
}

fn stalls_text(stalled: &Stalled) -> String {
    let (number, total, longest) = (Number(stalled.number as f64), stalled.total, stalled.longest);
    let least = if stalled.may_be_more { "at least " } else { "" };
    format!("{least}{number} ({total} in total, the longest {longest})")
}

fn place_stalls(unit: Unit, stalled: &Stalled, answer: Answer) -> Answer {
    let rate = estimated(stalled.per_gigabyte, Number);
    let (noun, number, offset) = (unit.noun(), stalled.longest_in, stalled.longest_at);
    answer
        .with_evidence(format!("There were {rate} stalls per GB."))
        .with_evidence(format!("The longest was in {noun} {number} at offset {offset}."))
}

/// A row for each pass that was written and, at the end, for the one that was read back.
pub(super) fn table(unit: Unit, written: &[Pass<'_>], read: Option<&Pass<'_>>) -> OverviewTable {
    let fastest = written.iter().filter_map(|pass| Some(pass.speed()?.value)).fold(0.0, f64::max);
    let names = written.iter().map(|pass| (format!("write {}", pass.number), pass, fastest > 0.0));
    table_of(names.chain(read.map(|read| ("read back".to_owned(), read, false))))
        .column("pass", |(name, ..)| name.clone())
        .column("mean", |(_, pass, _)| cell(pass.speed().map(|speed| estimated(speed, Rate))))
        .column(format!("slowest {}", unit.noun()), |(_, pass, _)| cell(pass.slowest().map(Rate)))
        .column("stalls", |(_, pass, _)| pass.stalls().len())
        .column("max latency", |(_, pass, _)| pass.latency_max())
        .bars(|(_, pass, has_bar)| pass.speed().filter(|_| *has_bar).map(|speed| speed.value / fastest))
        .build()
}

pub(super) const SLOWEST_AXIS: &str = "slowest I/O";
pub(super) const PASSES_TITLE: &str = "Speed of each pass";

pub(super) const STALL: &str = "stall";

pub(super) fn does_not_fit(files: u32, each: Size, from: Size, capacity: Size) -> String {
    let files = count(u64::from(files), "file");
    match from.0 {
        0 => format!("{files} of {each} exceed the target's {capacity}; use fewer or smaller ones"),
        _ => format!(
            "{files} of {each} from {from} on exceed the target's {capacity}; use fewer or smaller ones"
        ),
    }
}

// Names of workloads

likenew_core::sentences! {
    pub(super) fn part_name(unit: Unit, number: usize) = "{} {number}", unit.noun();
    pub(super) fn pass_part_name(pass: usize, unit: Unit, number: usize) =
        "pass {pass}, {} {number}", unit.noun();
    pub(super) fn read_back_name(unit: Unit, number: usize) = "{} {number} read back", unit.noun();
    pub(super) fn files_do_not_fit(bytes: u64) =
        "{} cannot hold that; give a smaller --file-size, --from or --block, or fewer --files", Size(bytes);
}

pub(super) const FROM_ON_REAL: &str =
    "--from is for simulated drives: in a folder the file system decides where files go";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_say_how_fast_and_how_even() {
        let (writes, file) = (Subject::Writes, Unit::File);
        assert_eq!(even(writes, file, Rate(76.1e6)).answer, "76.1 MB/s in every file");
        assert_eq!(
            falls(writes, Rate(110e6), Rate(55e6), true).answer,
            "falls evenly from 110 MB/s at the start to 55.0 MB/s at the end"
        );
        assert_eq!(
            rises(writes, Rate(18e6), Rate(36e6), false).answer,
            "slow at first; rises from 18.0 to 36.0 MB/s"
        );
        assert_eq!(
            too_few(writes, file, Rate(75e6), 5).answer,
            "75.0 MB/s in the median of 5 files, too few to tell one speed from two"
        );
        let outcome = settled(Rate(20e6), Rate(75e6), Share(0.007), 3, 4);
        assert_eq!(outcome.answer, "75.0 MB/s, 3.75× the first pass");
        assert_eq!(
            not_settled(Rate(18.6e6), Rate(66.7e6), Share(2.59), Share(0.02), 2).answer,
            "3.59× as fast after 2 passes (18.6 → 66.7 MB/s); another pass would show whether that is the end"
        );
    }

    #[test]
    fn stalls_are_counted_and_placed() {
        let stalls = Stalled {
            number: 2,
            may_be_more: false,
            total: Nanos::from_millis(900),
            per_gigabyte: Estimate { value: 1.5, interval: Some(Interval { low: 0.2, high: 5.4 }) },
            longest: Nanos::from_millis(700),
            longest_in: 8,
            longest_at: Size(32 << 20),
        };
        let answer = stalled(Unit::File, &stalls);
        assert_eq!(answer.answer, "2 (900 ms in total, the longest 700 ms)");
        assert_eq!(
            answer.evidence,
            ["There were 1.50 (0.200–5.40) stalls per GB.", "The longest was in file 8 at offset 32 MiB."]
        );
        assert_eq!(no_stall(Nanos::from_millis(100), None).answer, "no write took 100 ms or more");
        assert_eq!(no_stall(Nanos::from_millis(100), None).evidence, [""; 0]);
    }
}
