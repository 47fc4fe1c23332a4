//! The sentences of sweep.

use likenew_core::findings::{Answer, OverviewTable};
use likenew_core::io::DataClass;
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{
    Factor, Iops, Rate, Share, Size, SpeedChange, change_range, count, range, with_change_range,
};
use likenew_core::units::{Number, digits};
use likenew_core::workload::Mix;
use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::wording::{
    capitalize, cell, estimated, list, number_of, operation, operation_id, operations, use_nearest_multiple,
};
use likenew_stats::interval::Interval;

use super::{Cell, DIFFERENCE, Form};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "sweep",
    question: "How does speed depend on block size, queue depth, operation, pattern and data?",
    writes: "writes the tested span once for each class of data, then up to --bytes in each pass that writes; in a folder only to temporary files",
    manual: include_str!("../sweep.md"),
};

likenew_core::sentences! {
    /// `4 KiB random reads`.
    fn ios(form: Form, op: Mix) = "{} {} {}", block(form), form.pattern, operations(op);
    /// `4 KiB random, QD32`.
    fn place(form: Form) = "{} {}, QD{}", block(form), form.pattern, form.depth;
    pub(super) fn summary(peaks: &[Peak]) =
        "{}.", capitalize(&peaks.iter().map(peak_summary).collect::<Vec<_>>().join("; "));
    fn queue_depths(depths: &[u32]) =
        "{}", list(&depths.iter().map(|depth| format!("QD{depth}")).collect::<Vec<_>>());
    pub(super) fn nothing_fits(reasons: &[String]) =
        "none of these block sizes and queue depths can be measured here: {}", reasons.join("; ");
    pub(super) fn classes_of_read_only_data() =
        "this target is read-only, so --data cannot change what it holds; give one class of --data";
    pub(super) fn not_a_block(text: &str) = "block = {text} is out of range; use 1 to 1GiB";
    pub(super) fn no_such_order(text: &str) = "unknown order \"{text}\"; use listed or shuffled";
    pub(super) fn empty_list(option: &str) = "{option}: give at least one value";
    pub(super) fn too_many_cells(cells: usize, most: usize) =
        "{} cells exceed the limit of {}; give fewer values", Number(cells as f64), Number(most as f64);
    /// Why a block size cannot be measured on a drive.
    pub(super) fn misaligned_block(block: Size, unit: u32) =
        "{block}: not a multiple of the drive's {unit}-byte blocks; {}",
        use_nearest_multiple(block.0, unit.into(), unit.into()..=u64::MAX);
    pub(super) fn block_exceeds_span(block: Size, span: Size) = "{block}: larger than the span of {span}";
    pub(super) fn block_crosses_files(block: Size, file: Size) =
        "{block}: does not divide the file of {file}; give a --span that is a multiple of it";
    pub(super) fn queue_exceeds_span(block: Size, depths: &[u32], span: Size) =
        "{block} at {}: the queue would hold more than the span of {span}", queue_depths(depths);
    pub(super) fn queue_exceeds_memory(block: Size, depths: &[u32], most: Size) =
        "{block} at {}: the queue would hold more than {most}", queue_depths(depths);
    pub(super) fn iops_interval(low: &str, high: &str) = "The 95% interval of the IOPS is {low}–{high}.";
    /// `least`: of the cells as fast as the fastest, the one with the fewest bytes in flight.
    pub(super) fn as_fast_as_peak(equal: usize, others: usize, least: Cell, rate: Rate) =
        "{equal} of the other {others} combinations are as fast within their intervals; {} are enough for \
         it ({rate}).", cell_name(least);
    fn block_question(pattern: Pattern, op: Mix) = "Block size, {pattern} {}", operation(op);
    pub(super) fn depths_of_blocks(first: Form, peak: Form) =
        "{} was fastest at QD{}; the peak is at {}, QD{}.",
        block(first), first.depth, block(peak), peak.depth;
    pub(super) fn and_more(more: usize) = "And {more} more.";
    fn two_depths(shallow: DepthSpeed, deep: DepthSpeed) =
        "{} at QD{}, {} at QD{}", Iops(shallow.iops), shallow.depth, digits(deep.iops), deep.depth;
    pub(super) fn name_of_mean(cell: Cell) = "{}", capitalize(&cell_name(cell));
    pub(super) fn deeper_brings_little() = "Deeper queues bring less than {}.", Share(DIFFERENCE);
    pub(super) fn queue_was_mostly_full(few: usize, mostly: Share) =
        "In {few} of them the queue empties for more than {} of the pass; use a longer --time and more \
         --bytes.", Share(1.0 - mostly.0);
    pub(super) fn in_flight(cell: Cell, in_flight: f64) =
        "{}: {} in flight.", capitalize(&cell_name(cell)), digits(in_flight);
    pub(super) fn drift_of(drift: &Drift) =
        "{}: {} over {}.",
        capitalize(&operations(drift.op)), drift.change(), count(drift.cells as u64, "combination");
    pub(super) fn open_cells(open: usize) =
        "The run ended before {} had enough passes.", count(open as u64, "combination");
    pub(super) fn left_out(reason: &str) = "Left out: {reason}.";
    pub(super) fn heat_title(pictured: &str) = "Speed by block size and queue depth: {pictured}";
    pub(super) fn speed_title(pictured: &str) = "Speed by block size: {pictured}";
    pub(super) fn iops_title(pictured: &str) = "IOPS by block size: {pictured}";
    pub(super) fn depth_legend(depth: u32) = "QD{depth}";
}

fn block(form: Form) -> Size {
    Size(u64::from(form.block))
}

/// `4 KiB random reads at QD32`, and the data if it is not the default.
fn cell_name(cell: Cell) -> String {
    let name = format!("{} at QD{}", ios(cell.form, cell.op), cell.form.depth);
    if cell.data == DataClass::Random { name } else { format!("{name} ({})", data_name(cell.data)) }
}

/// A class of data: `zeros`, `incompressible data`, `data that compresses to 50%`.
pub(super) fn data_name(data: DataClass) -> String {
    match data {
        DataClass::Zero => "zeros".into(),
        DataClass::Random | DataClass::Stamped(_) => "incompressible data".into(),
        DataClass::Ratio(share) => format!("data that compresses to {}", Share(f64::from(share))),
    }
}

/// Where an operation is fastest, and where it has the most IOPS.
#[derive(Clone, Copy)]
pub(super) struct Peak {
    pub(super) op: Mix,
    /// In bytes a second.
    pub(super) rate: Estimate,
    pub(super) fastest: Form,
    pub(super) iops: Iops,
    pub(super) busiest: Form,
}

answers! {
    (format!("peak_{}", operation_id(peak.op)), format!("Peak {} speed", operation(peak.op))) => {
        pub(super) fn peak(peak: &Peak) =
            info("{} ({}); {} ({})", Rate(peak.rate.value), place(peak.fastest), peak.iops, place(peak.busiest));
    }
    ("enough_block", block_question(first.pattern, op)) => {
        /// The smallest block that comes close to the peak.
        pub(super) fn enough_block(first: Form, op: Mix, enough: Share, rate: Rate, peak: Rate) =
            info("{} reaches {enough} of the peak ({rate} of {peak})", block(first));
    }
    ("block_growth", "Larger blocks") => {
        pub(super) fn larger_blocks_never_slower(comparisons: usize) =
            good("never slower than smaller ones")
            .with_evidence(format!(
                "No block is {} or more slower than a smaller one, in {} at equal depth.",
                Share(DIFFERENCE), count(comparisons as u64, "comparison")));
        pub(super) fn larger_blocks_are_slower(dips: usize, worst: &Dip) =
            info("slower than smaller ones in {}; worst: {} at {} of the speed of {}",
                 count(dips as u64, "case"), cell_name(worst.at), Share(worst.ratio.value), block(worst.smaller));
        pub(super) fn larger_blocks_are_open(open: usize, comparisons: usize) =
            unknown("none is clearly slower than a smaller one, but {open} of {} are too uncertain to call",
                    count(comparisons as u64, "comparison"));
    }
    (format!("queue_depth_{}", operation_id(op)), format!("Queue depth for {}", operations(op))) => {
        /// The charts beside it show MB/s.
        pub(super) fn depth_helps(form: Form, op: Mix, shallow: DepthSpeed, enough: DepthSpeed) =
            info("{} gain up to QD{}: {} → {}, {} → {} ({})",
                 ios(form, op), enough.depth,
                 Iops(shallow.iops).to_string().trim_end_matches(" IOPS"), Iops(enough.iops),
                 number_of(shallow.rate(form)), enough.rate(form),
                 Factor(enough.ratio.unwrap_or(enough.iops / shallow.iops)));
        pub(super) fn depth_does_not_help(form: Form, op: Mix, shallow: DepthSpeed, deep: DepthSpeed) =
            info("{} gain nothing from a deeper queue: {}", ios(form, op), two_depths(shallow, deep));
        pub(super) fn depth_is_open(form: Form, op: Mix, shallow: DepthSpeed, deep: DepthSpeed) =
            unknown("{}: {}; the passes vary too much to call this a gain or none",
                    ios(form, op), two_depths(shallow, deep));
        /// A single pass does not show how much IOPS vary.
        pub(super) fn depth_in_one_pass(form: Form, op: Mix, shallow: DepthSpeed, deep: DepthSpeed) =
            unknown("{}: {} ({}) in a single pass",
                    ios(form, op), two_depths(shallow, deep), Factor(deep.iops / shallow.iops));
    }
    ("queue_fullness", "Queue") => {
        pub(super) fn queue_was_full(cells: usize) =
            good("as deep as asked for in every combination")
            .with_evidence(format!(
                "IOPS × mean latency (Little's law) is within {} of the queue depth in all {}, apart from the end of each pass, \
                 where the queue runs empty.",
                Share(DIFFERENCE), count(cells as u64, "combination")));
        pub(super) fn queue_ran_empty(empty: usize, cells: usize) =
            unknown("not as deep as asked for in {empty} of {}, which measure this computer rather than the drive",
                    count(cells as u64, "combination"));
    }
    ("drift", "Drift") => {
        pub(super) fn drive_stayed_the_same() =
            good("speeds stayed within {} from the first round to the last", Share(DIFFERENCE));
        pub(super) fn drive_changed(worst: &Drift) =
            info("{} were {} in the last round than in the first", operations(worst.op), worst.change())
            .caveat("The sweep changed the drive while measuring it, which widens the intervals. \
                     `likenew endure` and `likenew fill` show the change along the bytes written.");
        pub(super) fn drift_is_open(worst: &Drift) =
            unknown("unclear; first to last round, {} {}", operations(worst.op), worst.range());
    }
    ("precision", "Precision") => {
        pub(super) fn run_ended_early(open: usize, cells: usize) =
            unknown("the run ended before {open} of {} had enough passes", count(cells as u64, "combination"));
    }
    ("coverage", "Coverage") => {
        pub(super) fn some_cells_left_out(measured: usize) =
            info("{} measured; the others do not fit this target", count(measured as u64, "combination"));
        pub(super) fn some_cells_unfinished(done: usize, wanted: usize) =
            unknown("{done} of {} have all their passes", count(wanted as u64, "combination"));
    }
}

// What the actions are good for

pub(super) const MORE_PASSES: &str = "Narrow the intervals with more passes";
pub(super) const LONGER_PASSES: &str = "Measure longer passes, which vary less";

/// `peak read 280 MB/s (1 MiB random, QD32) and 50,000 IOPS (4 KiB, QD32)`: each number with where it was reached.
fn peak_summary(peak: &Peak) -> String {
    let Peak { op, fastest, iops, busiest, .. } = *peak;
    let (op, rate) = (operation(op), peak_rate(peak.rate));
    if fastest == busiest {
        return format!("peak {op} {rate} and {iops} ({})", place(fastest));
    }
    format!("peak {op} {rate} ({}) and {iops} ({}, QD{})", place(fastest), block(busiest), busiest.depth)
}

/// `33.7 MB/s (24.1–43.3)`; without the range if it is narrower than what matters.
fn peak_rate(rate: Estimate) -> String {
    let is_wide = rate.half_width().is_some_and(|half| half > DIFFERENCE * rate.value);
    if is_wide { estimated(rate.not_negative(), Rate) } else { Rate(rate.value).to_string() }
}

pub(super) const MEASURED_ONCE: &str =
    "Each combination was measured once, so how much results vary is unknown.";

pub(super) fn enough_block_is_open(
    first: Form,
    op: Mix,
    enough: Share,
    (low, high): (Size, Size),
    peak: Rate,
    is_one_pass: bool,
) -> Answer {
    let reason =
        if is_one_pass { "one pass cannot tell which" } else { "the passes vary too much to say which" };
    let answer = format!("{enough} of the peak ({peak}) from {} on; {reason}", range(low, high));
    Answer::unknown("enough_block", block_question(first.pattern, op), answer)
}

pub(super) const SMALLEST_BLOCK: &str = "It is the smallest block that was measured.";
pub(super) const STILL_GROWS: &str = "Speed still grows at the largest block, so larger ones may be faster.";

/// A block that is, or may be, slower than the fastest smaller one at the same depth.
#[derive(Clone, Copy)]
pub(super) struct Dip {
    pub(super) at: Cell,
    pub(super) rate: Rate,
    pub(super) smaller: Form,
    pub(super) smaller_rate: Rate,
    pub(super) ratio: Estimate,
    pub(super) is_sure: bool,
}

pub(super) fn dip(dip: &Dip) -> String {
    let Dip { at, rate, smaller, smaller_rate, ratio, .. } = *dip;
    let ratio = match ratio.not_negative().interval {
        Some(Interval { low, high }) => {
            format!("{} ({})", Share(ratio.value), range(Share(low), Share(high)))
        }
        None => Share(ratio.value).to_string(),
    };
    format!("{}: {rate}, {ratio} of the {smaller_rate} of {}.", capitalize(&cell_name(at)), block(smaller))
}

/// The speed of one block at a queue depth.
#[derive(Clone, Copy)]
pub(super) struct DepthSpeed {
    pub(super) depth: u32,
    pub(super) iops: f64,
    /// Ratio to the shallowest.
    pub(super) ratio: Option<f64>,
}

impl DepthSpeed {
    fn rate(self, form: Form) -> Rate {
        Rate(self.iops * f64::from(form.block))
    }
}

/// IOPS at each of these depths.
pub(super) fn iops_by_depth(speeds: &[DepthSpeed]) -> String {
    let text = |DepthSpeed { depth, iops, ratio }: &DepthSpeed| match ratio {
        Some(ratio) => format!("{} at QD{depth} ({})", Iops(*iops), Factor(*ratio)),
        None => format!("{} at QD{depth}", Iops(*iops)),
    };
    format!("{}.", speeds.iter().map(text).collect::<Vec<_>>().join(", "))
}

pub(super) const DEEPEST_DEPTH: &str =
    "It is the deepest queue that was measured; deeper ones may be faster.";
pub(super) const SERVES_ONE_AT_A_TIME: &str =
    "The drive serves one I/O at a time, or a single I/O already keeps it busy.";

/// The kind of a ratio.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Comparison {
    RandomOverSequential(Mix),
    WriteOverRead(Pattern),
    /// Data of a class over the least compressible one.
    DataClasses(Mix, DataClass, DataClass),
}

/// One speed over another, of the same block and depth.
#[derive(Clone, Copy)]
pub(super) struct ComparedSpeeds {
    pub(super) form: Form,
    pub(super) rate: Rate,
    pub(super) other: Rate,
    pub(super) ratio: Estimate,
}

impl Comparison {
    fn id(self) -> &'static str {
        match self {
            Self::RandomOverSequential(_) => "random_vs_sequential",
            Self::WriteOverRead(_) => "write_vs_read",
            Self::DataClasses(..) => "compressible_data",
        }
    }

    fn question(self) -> String {
        match self {
            Self::RandomOverSequential(op) => format!("Random vs sequential {}", operation(op)),
            Self::WriteOverRead(pattern) => format!("{} write vs read", capitalize(&pattern.to_string())),
            Self::DataClasses(op, ..) => format!("Compressible data, {}", operation(op)),
        }
    }

    /// The two sides of a comparison.
    fn subjects(self, form: Form) -> (String, String) {
        let size = block(form);
        match self {
            Self::RandomOverSequential(op) => {
                (format!("{size} random {}", operations(op)), "sequential ones".into())
            }
            Self::WriteOverRead(pattern) => (format!("{size} {pattern} writes"), "reads".into()),
            Self::DataClasses(op, data, hardest) => (
                format!("{size} {} {} of {}", form.pattern, operations(op), data_name(data)),
                format!("those of {}", data_name(hardest)),
            ),
        }
    }
}

/// `run at 25% of the speed of`, `run 2.30× as fast as`; with the interval if it matters.
fn relation(ratio: Estimate) -> String {
    let ratio = ratio.not_negative();
    if ratio.value < 1.0 {
        format!("run at {} of the speed of", estimated(ratio, Share))
    } else {
        format!("run {} as fast as", estimated(ratio, Factor))
    }
}

/// `is_decided`: whether it is clear that the first is slower (for data classes: faster) by 5% or more, or that it is not.
pub(super) fn compared(comparison: Comparison, speeds: &ComparedSpeeds, is_decided: bool) -> Answer {
    let ComparedSpeeds { form, rate, other, ratio } = *speeds;
    let (what, than) = comparison.subjects(form);
    let at = format!("at QD{} ({rate} vs {other})", form.depth);
    if !is_decided {
        let answer = format!("{what} {} {than} {at}; too uncertain to call a difference", relation(ratio));
        return Answer::unknown(comparison.id(), comparison.question(), answer);
    }
    let is_about_data = matches!(comparison, Comparison::DataClasses(..));
    let answer = match ratio.within(1.0 - DIFFERENCE, 1.0 + DIFFERENCE) {
        Verdict::Above | Verdict::Below => {
            format!("{what} {} {than} {at}", relation(Estimate { interval: None, ..ratio }))
        }
        _ if is_about_data => format!("{what} are no faster than {than} {at}"),
        _ => format!("{what} are no slower than {than} {at}"),
    };
    Answer::info(comparison.id(), comparison.question(), answer)
}

pub(super) fn ratio_range(least: (f64, Form), most: (f64, Form)) -> String {
    let at = |(ratio, form): (f64, Form)| format!("{} ({}, QD{})", Factor(ratio), block(form), form.depth);
    format!("Over all block sizes and depths, the ratio ranges from {} to {}.", at(least), at(most))
}

/// Speed of the last round over the first, for one operation.
pub(super) struct Drift {
    pub(super) op: Mix,
    /// Geometric mean over the cells.
    pub(super) ratio: Estimate,
    pub(super) cells: usize,
}

impl Drift {
    /// `17% slower (41% slower to 15% faster)`.
    fn change(&self) -> String {
        let [low, high] = self.ratio.ends().map(SpeedChange);
        with_change_range(SpeedChange(self.ratio.value), low, high)
    }

    /// `41% slower to 15% faster`.
    fn range(&self) -> String {
        let [low, high] = self.ratio.ends().map(SpeedChange);
        change_range(low, high)
    }
}

/// `16 KiB`, `4–64 KiB?`.
fn enough_cell((low, high): (Size, Size)) -> String {
    format!("{}{}", range(low, high), if low == high { "" } else { "?" })
}

/// A row for each pattern of each operation: its peaks, and the smallest and the largest block that may be the smallest
/// at 90% of the peak rate.
pub(super) fn table(rows: impl Iterator<Item = (Peak, Option<(Size, Size)>)>) -> OverviewTable {
    let at = |form: Form| format!("{} QD{}", block(form), form.depth);
    table_of(rows)
        .column("test", |(peak, _)| format!("{} {}", peak.fastest.pattern, operation(peak.op)))
        .column("peak speed", |(peak, _)| Rate(peak.rate.value))
        .column("at", |(peak, _)| at(peak.fastest))
        .column("peak IOPS", |(peak, _)| digits(peak.iops.0))
        .column("at", |(peak, _)| at(peak.busiest))
        .column("90% of peak from", |(_, enough_block)| cell(enough_block.map(enough_cell)))
        .build()
}

/// The content of a chart: `random read`, and the data if there are several classes.
pub(super) fn pictured(pattern: Pattern, op: Mix, data: Option<DataClass>) -> String {
    let name = format!("{pattern} {}", operation(op));
    data.map_or(name.clone(), |data| format!("{name}, {}", data_name(data)))
}

pub(super) const HEAT_ROWS: &str = "queue depth";

#[cfg(test)]
mod tests {
    use likenew_core::io::Op;
    use likenew_procedure_support::wording::answer_as_summary;

    use super::*;

    const READ: Mix = Mix::Only(Op::Read);
    const SMALL: Form = Form { pattern: Pattern::Random, block: 4096, depth: 32 };
    const LARGE: Form = Form { pattern: Pattern::Sequential, block: 1 << 20, depth: 4 };

    fn text(answer: &Answer) -> String {
        answer_as_summary(answer)
    }

    #[test]
    fn peaks_say_where_they_are() {
        let rate = |low, high| Estimate { value: 493e6, interval: Some(Interval { low, high }) };
        let iops = Iops(57_600.0);
        let read = Peak { op: READ, rate: rate(490e6, 496e6), fastest: LARGE, iops, busiest: SMALL };
        assert_eq!(
            text(&peak(&read)),
            "Peak read speed: 493 MB/s (1 MiB sequential, QD4); 57,600 IOPS (4 KiB random, QD32)."
        );
        assert_eq!(
            summary(&[read]),
            "Peak read 493 MB/s (1 MiB sequential, QD4) and 57,600 IOPS (4 KiB, QD32)."
        );
        assert_eq!(
            summary(&[Peak { busiest: LARGE, ..read }]),
            "Peak read 493 MB/s and 57,600 IOPS (1 MiB sequential, QD4)."
        );
        let wide = Peak { rate: rate(400e6, 586e6), busiest: LARGE, ..read };
        assert_eq!(summary(&[wide]), "Peak read 493 MB/s (400–586) and 57,600 IOPS (1 MiB sequential, QD4).");
        assert_eq!(
            text(&enough_block(LARGE, READ, Share(0.9), Rate(456e6), Rate(488e6))),
            "Block size, sequential read: 1 MiB reaches 90% of the peak (456 MB/s of 488 MB/s)."
        );
    }

    #[test]
    fn depths_say_what_they_bring() {
        let at = |depth, iops: f64| DepthSpeed { depth, iops, ratio: Some(iops / 20_000.0) };
        assert_eq!(
            text(&depth_helps(SMALL, READ, at(1, 20_000.0), at(8, 160_000.0))),
            "Queue depth for reads: 4 KiB random reads gain up to QD8: 20,000 → 160,000 IOPS, 81.9 → 655 MB/s (8.00×)."
        );
        assert_eq!(
            text(&depth_does_not_help(SMALL, READ, at(1, 20_000.0), at(32, 20_100.0))),
            "Queue depth for reads: 4 KiB random reads gain nothing from a deeper queue: 20,000 IOPS at QD1, 20,100 at QD32."
        );
    }

    #[test]
    fn one_pass_is_not_blamed_for_varying() {
        let open = |is_one_pass| {
            let range = (Size(4 << 10), Size(64 << 10));
            text(&enough_block_is_open(LARGE, READ, Share(0.9), range, Rate(279e6), is_one_pass))
        };
        assert_eq!(
            open(true),
            "Block size, sequential read: 90% of the peak (279 MB/s) from 4–64 KiB on; one pass cannot tell which."
        );
        assert!(open(false).contains("vary too much"), "{}", open(false));
        assert_eq!(enough_cell((Size(4 << 10), Size(64 << 10))), "4–64 KiB?");
        assert_eq!(enough_cell((Size(16 << 10), Size(16 << 10))), "16 KiB");
    }

    #[test]
    fn one_pass_is_no_scatter() {
        let at = |depth, iops: f64| DepthSpeed { depth, iops, ratio: None };
        assert_eq!(
            text(&depth_in_one_pass(SMALL, READ, at(1, 7_220.0), at(32, 49_800.0))),
            "Queue depth for reads: 4 KiB random reads: 7,220 IOPS at QD1, 49,800 at QD32 (6.90×) in a single pass."
        );
    }

    #[test]
    fn comparisons_never_contradict_their_numbers() {
        let interval = |low, high| Some(Interval { low, high });
        let speeds = |ratio: f64, interval| ComparedSpeeds {
            form: SMALL,
            rate: Rate(80e6 * ratio),
            other: Rate(80e6),
            ratio: Estimate { value: ratio, interval },
        };
        let answer = |ratio, interval, decided| {
            compared(Comparison::RandomOverSequential(READ), &speeds(ratio, interval), decided).answer
        };
        assert_eq!(
            answer(0.25, interval(0.2, 0.3), true),
            "4 KiB random reads run at 25% of the speed of sequential ones at QD32 (20.0 MB/s vs 80.0 MB/s)"
        );
        assert_eq!(
            answer(2.3, interval(2.0, 2.6), true),
            "4 KiB random reads run 2.30× as fast as sequential ones at QD32 (184 MB/s vs 80.0 MB/s)"
        );
        assert_eq!(
            answer(1.0, interval(0.97, 1.03), true),
            "4 KiB random reads are no slower than sequential ones at QD32 (80.0 MB/s vs 80.0 MB/s)"
        );
        assert_eq!(
            answer(0.9, interval(0.8, 1.01), false),
            "4 KiB random reads run at 90% (80–101) of the speed of sequential ones at QD32 (72.0 MB/s vs 80.0 MB/s); \
             too uncertain to call a difference"
        );
    }

    #[test]
    fn what_limits_the_results_is_one_line() {
        let cell = Cell { form: SMALL, op: READ, data: DataClass::Zero };
        assert_eq!(in_flight(cell, 16.04), "4 KiB random reads at QD32 (zeros): 16.0 in flight.");
        let drift = |low, high| {
            let ratio = Estimate { value: 0.881, interval: Some(Interval { low, high }) };
            Drift { op: READ, ratio, cells: 30 }
        };
        assert_eq!(
            text(&drive_changed(&drift(0.86, 0.9))),
            "Drift: reads were 12% slower (10–14%) in the last round than in the first."
        );
        assert_eq!(
            text(&drift_is_open(&drift(0.59, 1.15))),
            "Drift: unclear; first to last round, reads 41% slower to 15% faster."
        );
        assert_eq!(
            queue_exceeds_span(Size(8 << 20), &[16, 32], Size(64 << 20)),
            "8 MiB at QD16 and QD32: the queue would hold more than the span of 64 MiB"
        );
    }
}
