//! The sentences of fill.

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Answer, OverviewTable};
use likenew_core::procedure::{Descriptor, Evidence, Plan};
use likenew_core::quantity::{Factor, Rate, Share, Size, SpeedChange, count, range, with_range};
use likenew_core::units::{Nanos, Number, digits, exact_size};
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{
    cell, command, estimated, number_of, recondition_command, use_nearest_multiple,
};
use likenew_stats::bimodality::Levels;
use likenew_stats::interval::Interval;

use super::Unit;

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
        match self {
            Self::FirstPass => Answer::info(self.id(), self.question(), text),
            Self::Writes | Self::Reads => Answer::problem(self.id(), self.question(), text),
        }
    }

    fn info(self, text: String) -> Answer {
        Answer::info(self.id(), self.question(), text)
    }
}

pub(super) fn even(subject: Subject, unit: Unit, typical: Rate) -> Answer {
    Answer::good(subject.id(), subject.question(), format!("{typical} in every {}", unit.noun()))
}

pub(super) fn uneven(subject: Subject, unit: Unit, typical: Rate, low: Rate, high: Rate) -> Answer {
    let range = range(low, high);
    subject.info(format!("{typical} (median {noun}; 90% of {noun}s {range})", noun = unit.noun()))
}

/// Too few speeds to tell one level from two.
pub(super) fn too_few(subject: Subject, unit: Unit, typical: Rate, number: usize) -> Answer {
    let number = count(number as u64, unit.noun());
    let text = format!("{typical} in the median of {number}, too few to tell one speed from two");
    Answer::unknown(subject.id(), subject.question(), text)
}

/// `number`: of files or parts.
pub(super) fn more_parts(unit: Unit, number: u32, again: &Rerun) -> Action {
    let parts = count(number.into(), unit.noun());
    again.action("more_parts", &format!("Write {parts}, enough to tell one speed from two"))
}

/// `falls evenly`, or `falls` if no line goes through both ends.
fn course(verb: &str, is_even: bool) -> String {
    let evenly = if is_even { " evenly" } else { "" };
    format!("{verb}{evenly}")
}

/// `first` and `last`: medians of the first and the last tenth.
pub(super) fn falls(subject: Subject, first: Rate, last: Rate, is_even: bool) -> Answer {
    subject
        .info(format!("{} from {first} at the start to {last} at the end", course("falls", is_even)))
        .with_evidence("Hard disks do so by design, as their outer tracks hold more. Flash does not.")
}

/// `fast` for `bytes`, then `after`.
pub(super) fn drops(subject: Subject, fast: Rate, bytes: Size, after: Rate, may_be_cache: bool) -> Answer {
    if may_be_cache {
        let answer = subject.info(format!("{fast} into a cache of {bytes}, then {after}"));
        return answer.with_evidence(
            "Flash drives write to an SLC cache first, by design. Heat and used-up burst credits can look alike; check tells \
             them apart.",
        );
    }
    subject.info(format!("{fast} for the first {bytes}, then {after}"))
}

/// `first` and `last`: medians of the first and the last tenth.
pub(super) fn rises(subject: Subject, first: Rate, last: Rate, is_even: bool) -> Answer {
    let text = match subject {
        Subject::Writes => format!("slow at first; rises from {} to {last}", number_of(first)),
        Subject::FirstPass | Subject::Reads => {
            format!("{} from {first} at the start to {last} at the end", course("rises", is_even))
        }
    };
    let answer = subject.problem(text);
    answer.with_evidence(match subject {
        Subject::Reads => {
            "Data at the start is read more slowly than data at the end; healthy flash and disks do not do that."
        }
        Subject::Writes | Subject::FirstPass => {
            "Stale data slowed the start; sequential writes free whole erase blocks, so writes got faster."
        }
    })
}

/// The drive got faster in a single pass, so it is open whether writing has restored its speed.
pub(super) fn effect_is_open(again: &Rerun) -> Answer {
    let text = "unknown; a second pass shows whether writing once restored it";
    Answer::unknown("settled", "Speed after rewriting", text)
        .action(again.action("second_pass", "Write it twice"))
}

/// Restores what use has slowed down; `None` for a target that it cannot restore.
pub(super) fn recondition(evidence: &Evidence) -> Option<Action> {
    let line = recondition_command(&evidence.plan).filter(|_| evidence.identity.kind != TargetKind::File)?;
    Some(Action::new("recondition", "Restore the write speed, gentlest step first").command(line))
}

/// Looks for the cause; `None` for a plan without a target.
pub(super) fn find_cause(evidence: &Evidence) -> Option<Action> {
    let line = command(&Plan { procedure: "check".into(), ..evidence.plan.clone() }, "")?;
    Some(Action::new("check", "Find out why it stalls").command(line))
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
    pub(super) fn target_is_read_only() =
        "fill writes, and this target is read-only; use a folder on the drive";
    pub(super) fn wrong_passes(text: &str) =
        "\"{text}\" is not a number of passes; use 1 to 1000, or until-steady";
}

/// A speed that another pass no longer changes.
pub(super) struct Settled {
    pub(super) last: Rate,
    pub(super) first: Rate,
    pub(super) changed: Share,
    /// The first pass near the last one, from 1.
    pub(super) near_pass: usize,
    pub(super) passes: usize,
}

pub(super) fn settled(settled: &Settled) -> Answer {
    let Settled { last, first, changed, near_pass, passes } = *settled;
    let text = match last.0 / first.0 {
        factor if factor.is_finite() => format!("{last}, {} the first pass", Factor(factor)),
        _ => last.to_string(),
    };
    Answer::good("settled", "Speed after rewriting", text).with_evidence(format!(
        "Pass {passes} changed it by {changed}; pass {near_pass} was the first within 1% of the last."
    ))
}

/// Another pass may change the speed again. `limit`: the change that would not count.
pub(super) fn not_settled(first: Rate, last: Rate, changed: Share, limit: Share, passes: usize) -> Answer {
    let change = SpeedChange(last.0 / first.0);
    let from = number_of(first);
    let text = format!(
        "{change} after {passes} passes ({from} → {last}); another pass would show whether that is the end"
    );
    Answer::unknown("settled", "Speed after rewriting", text)
        .with_evidence(format!("The last pass changed it by {changed}; {limit} or less counts as settled."))
}

/// The speed still changes after as many passes as are ever made.
pub(super) fn never_settled(last: Rate, changed: Share, limit: Share, passes: usize) -> Answer {
    let text = format!("{last}, not settled after {passes} passes: the last one changed it by {changed}");
    Answer::info("settled", "Speed after rewriting", text)
        .with_evidence(format!("A change of {limit} or less counts as settled."))
}

pub(super) fn until_steady(again: &Rerun) -> Action {
    again.action("until_steady", "Write until the speed settles")
}

pub(super) fn too_few_passes() -> Answer {
    let text = "fewer than two passes ended, so the effect of rewriting is not known";
    Answer::unknown("settled", "Speed after rewriting", text)
}

pub(super) fn pass_speeds(speeds: &[f64]) -> String {
    let speeds: Vec<String> = speeds.iter().map(|speed| digits(speed / 1e6)).collect();
    format!("The passes ran at {} MB/s.", speeds.join(", "))
}

/// `per_gigabyte_most`: the most there can be nevertheless, if enough was written to say so.
pub(super) fn no_stall(least: Nanos, per_gigabyte_most: Option<f64>) -> Answer {
    let answer = Answer::good("stalls", "Stalls", format!("no write took {least} or more"));
    let bound = per_gigabyte_most
        .map(|most| format!("At most {} stalls per GB are likely (95% confidence).", digits(most)));
    bound.into_iter().fold(answer, Answer::with_evidence)
}

/// Stalls of all writes.
pub(super) struct Stalled {
    pub(super) number: u64,
    /// All I/Os that were kept as samples stalled, so there may have been more.
    pub(super) may_be_more: bool,
    pub(super) total: Nanos,
    pub(super) per_gigabyte: f64,
    pub(super) per_gigabyte_interval: Interval,
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
    if stalled.may_be_more {
        format!("at least {number} ({total} in total, the longest {longest})")
    } else {
        format!("{number} ({total} in total, the longest {longest})")
    }
}

fn place_stalls(unit: Unit, stalled: &Stalled, answer: Answer) -> Answer {
    let Interval { low, high } = stalled.per_gigabyte_interval;
    answer
        .with_evidence(format!(
            "There were {} stalls per GB.",
            with_range(Number(stalled.per_gigabyte), Number(low), Number(high))
        ))
        .with_evidence(format!(
            "The longest was in {} {} at offset {}.",
            unit.noun(),
            stalled.longest_in,
            stalled.longest_at
        ))
}

pub(super) fn not_all_written(unit: Unit, count: usize, moved: usize, pass: usize) -> Answer {
    let noun = unit.noun();
    let text = format!("{moved} of {count} {noun}s were written in pass {pass}; the run ended early");
    Answer::unknown("completed", "Completeness", text)
}

pub(super) fn not_all_read(unit: Unit, count: usize, moved: usize) -> Answer {
    let noun = unit.noun();
    let text = format!("{moved} of {count} {noun}s were read back; the run ended early");
    Answer::unknown("completed", "Completeness", text)
}

pub(super) fn nothing_written(unit: Unit, count: usize) -> Answer {
    let text = format!("none of {count} {}s was written", unit.noun());
    Answer::unknown("completed", "Completeness", text)
}

/// A row of the first screen.
pub(super) struct TableRow {
    /// `None` for the read-back.
    pub(super) pass: Option<usize>,
    /// In bytes a second.
    pub(super) speed: Option<Estimate>,
    pub(super) slowest: Option<f64>,
    pub(super) stalls: usize,
    pub(super) max: Nanos,
}

pub(super) fn table(unit: Unit, rows: &[TableRow]) -> OverviewTable {
    let headings = ["pass", "mean", &format!("slowest {}", unit.noun()), "stalls", "max latency"];
    let mut table = OverviewTable::new(headings);
    // Writes and reads are measured against the fastest of their own kind.
    let fastest = |is_read: bool| {
        let alike = rows.iter().filter(|row| row.pass.is_none() == is_read);
        alike.filter_map(|row| Some(row.speed?.value)).fold(0.0, f64::max)
    };
    for row in rows {
        let fastest = fastest(row.pass.is_none());
        let pass = row.pass.map_or_else(|| "read back".to_owned(), |pass| format!("write {pass}"));
        let speed = cell(row.speed.map(|speed| estimated(speed, Rate)));
        let slowest = cell(row.slowest.map(Rate));
        let is_compared = row.pass.is_some() && fastest > 0.0;
        let share = row.speed.filter(|_| is_compared).map(|speed| speed.value / fastest);
        table.push_with_share([pass, speed, slowest, row.stalls.to_string(), row.max.to_string()], share);
    }
    table
}

pub(super) const SLOWEST_AXIS: &str = "slowest I/O";
pub(super) const PASSES_TITLE: &str = "Speed of each pass";

pub(super) const STALL: &str = "stall";

pub(super) fn file_size_is_not_of_blocks(file_size: u64, block: u64) -> String {
    let nearest = use_nearest_multiple(file_size, block, block..=u64::MAX);
    let (size, block) = (exact_size(file_size), exact_size(block));
    format!("file_size = {size} is not a multiple of the block size, {block}; {nearest}")
}

pub(super) fn wrong_block(block: u64) -> String {
    let nearest = use_nearest_multiple(block, 512, 512..=1 << 30);
    format!("block = {} is not a multiple of 512 from 512 to 1GiB; {nearest}", exact_size(block))
}

pub(super) fn from_is_not_of_blocks(from: u64, block: u64) -> String {
    let nearest = use_nearest_multiple(from, block, 0..=u64::MAX);
    let (from, block) = (exact_size(from), exact_size(block));
    format!("from = {from} is not a multiple of the block size, {block}; {nearest}")
}

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
        let outcome =
            Settled { last: Rate(75e6), first: Rate(20e6), changed: Share(0.007), near_pass: 3, passes: 4 };
        assert_eq!(settled(&outcome).answer, "75.0 MB/s, 3.75× the first pass");
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
            per_gigabyte: 1.5,
            per_gigabyte_interval: Interval { low: 0.2, high: 5.4 },
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
