//! The sentences of cache.

use likenew_core::findings::{Answer, OverviewTable, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Factor, Rate, Share};
use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::wording::{capitalize, cell, estimated};

use super::{MARGIN, MeasuredLevel};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "cache",
    question: "How much of a measured speed is RAM, and how much is the drive?",
    writes: "writes the tested span once, then at most three times per pass and pattern; in a folder only to temporary files",
    manual: include_str!("../cache.md"),
};

pub(super) const LEVELS_TITLE: &str = "Speed at each level between program and drive";
pub(super) const LEVEL_AXIS: &str = "level";

likenew_core::sentences! {
    pub(super) fn nop_has_no_cache() =
        "nop: has no page cache; test a folder, a file, a device or a simulated drive";
    pub(super) fn simulated_cache_holds_no_data() =
        "the simulated page cache holds no data; remove data=on from the target";
    /// `sequential read`, as a legend names it.
    pub(super) fn line_name(pattern: Pattern, op: Op) = "{pattern} {op}";
    pub(super) fn first_read(rate: Rate) = "The first buffered read ran at {rate}.";
    pub(super) fn direct_write(rate: Rate) = "Direct writes ran at {rate}.";
    pub(super) fn first_read_was_warm(share: Share) =
        "{share} of the first read came from RAM as well, so something had read it before.";
    /// `rate`: of I/O that goes nowhere.
    pub(super) fn tool_is_the_limit(rate: Rate) =
        "Likenew itself reaches only {rate} without a drive, so this is partly its own speed.";
    fn not_counted(speeds: &str) = "{speeds}; RAM's share was not counted";
}

/// The share of the bytes moved that came from memory or stayed there, in 0..1; `None` if nothing below the target counts
/// bytes.
type RamShare = Option<Estimate>;

/// The share in words, and what it shows about the share that matters.
fn judged(ram: RamShare) -> Option<(String, Verdict)> {
    ram.map(|ram| (estimated(ram, Share), ram.against(MARGIN)))
}

fn standing(ram: RamShare) -> Standing {
    let is_clear = ram.is_some_and(|ram| ram.against(MARGIN).is_clear());
    if is_clear { Standing::Info } else { Standing::Unknown }
}

/// A speed, and that of the same I/O one level nearer to the drive, if it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Speeds {
    pub(super) rate: Rate,
    pub(super) nearer: Option<Rate>,
}

impl Speeds {
    /// `8,000 MB/s, 40.0× direct reads (200 MB/s)`, `495 MB/s, 6% slower than direct reads (528 MB/s)`.
    fn text(self, nearer_name: &str) -> String {
        let Self { rate, nearer } = self;
        match nearer {
            Some(nearer) if rate.0 < nearer.0 => {
                let slower = Share(1.0 - rate.0 / nearer.0);
                format!("{rate}, {slower} slower than {nearer_name} ({nearer})")
            }
            Some(nearer) => format!("{rate}, {} {nearer_name} ({nearer})", Factor(rate.0 / nearer.0)),
            None => rate.to_string(),
        }
    }
}

/// Reads of data that was just read, through the page cache.
pub(super) fn repeated_read(pattern: Pattern, ram: RamShare, speeds: Speeds) -> Answer {
    let speeds = speeds.text("direct reads");
    let answer = match judged(ram) {
        None => not_counted(&speeds),
        Some((share, Verdict::OnePass)) => format!("{share} from RAM in the only pass, at {speeds}"),
        Some((share, Verdict::Unclear)) => format!("{share} from RAM, too uncertain to call, at {speeds}"),
        Some((share, _)) => format!("{share} from RAM, at {speeds}"),
    };
    let question = format!("Repeated {pattern} read");
    Answer::new(format!("{pattern}{REPEATED_READ}"), question, answer, standing(ram))
}

/// Writes through the page cache, without a flush.
pub(super) fn buffered_write(pattern: Pattern, ram: RamShare, speeds: Speeds) -> Answer {
    let speeds = speeds.text("flushed writes");
    let answer = match judged(ram) {
        None => not_counted(&speeds),
        Some((share, Verdict::OnePass)) => {
            format!("{share} still in RAM at the end of the only pass, at {speeds}")
        }
        Some((share, Verdict::Unclear)) => {
            format!("{share} still in RAM at its end, too uncertain to call, at {speeds}")
        }
        Some((share, _)) => format!("{share} still in RAM at its end, at {speeds}"),
    };
    let question = format!("Buffered {pattern} write");
    Answer::new(format!("{pattern}{BUFFERED_WRITE}"), question, answer, standing(ram))
}

answers! {
    (DIRECT_IO, "Direct I/O") => {
        /// Direct I/O that reached the drive; `name` is the operation with the largest share of RAM.
        pub(super) fn direct_reaches_drive(name: &str, ram: RamShare) =
            good("bypasses RAM").with_evidence(format!("RAM had at most {}, in {name}.", share_cell(ram)));
        /// Direct I/O that something above the drive answered.
        pub(super) fn direct_misses_drive(name: &str, ram: RamShare) =
            unknown("{} of {name} never reached the drive, so these are not its speeds", share_cell(ram))
            .caveat("The file system may ignore O_DIRECT or compress, or the file may have holes. \
                     Some of these numbers may be RAM's.");
    }
}

fn share_cell(ram: RamShare) -> String {
    cell(ram.map(|ram| estimated(ram, Share)))
}

/// Direct I/O that may not all have reached the drive.
pub(super) fn direct_is_unclear(name: &str, ram: RamShare) -> Answer {
    let answer = match judged(ram) {
        None => "whether it reaches the drive was not counted".into(),
        Some((share, Verdict::OnePass)) => format!("{share} of {name} came from RAM in the only pass"),
        Some((share, _)) => format!("{share} of {name} came from RAM, too uncertain to call"),
    };
    Answer::unknown(DIRECT_IO, "Direct I/O", answer)
}

pub(super) const NOTHING_COUNTS: &str = "Nothing below this target counts the bytes that reach a drive.";

/// Speeds of direct reads and writes, and of repeated reads and buffered writes.
pub(super) fn summary(pattern: Pattern, [read, write]: [Rate; 2], [repeated, buffered]: [Rate; 2]) -> String {
    format!(
        "Direct I/O: {read} {pattern} read, {write} write. Repeated reads are served from RAM ({repeated}); unflushed \
         writes only reach RAM ({buffered})."
    )
}

/// `speeds`: those of direct I/O, which are all that is known of a drive that failed I/Os.
pub(super) fn direct_summary(pattern: Pattern, speeds: &[(Op, Rate)]) -> Option<String> {
    match speeds {
        [] => None,
        [(op, rate)] => Some(format!("Direct I/O: {rate} {pattern} {op}.")),
        [(op, rate), rest @ ..] => {
            let rest: Vec<String> = rest.iter().map(|(op, rate)| format!("{rate} {op}")).collect();
            Some(format!("Direct I/O: {rate} {pattern} {op}, {}.", rest.join(", ")))
        }
    }
}

/// The summary of a run with a single pass.
pub(super) const SUMMARY_OF_ONE_PASS: &str = "One pass only, so how much results vary is unknown.";

/// Whether an answer is about the share of RAM in a speed.
pub(super) fn is_about_ram(answer: &Answer) -> bool {
    answer.id == DIRECT_IO || answer.id.ends_with(REPEATED_READ) || answer.id.ends_with(BUFFERED_WRITE)
}

const DIRECT_IO: &str = "direct_io";
const REPEATED_READ: &str = "_repeated_read";
const BUFFERED_WRITE: &str = "_buffered_write";

pub(super) fn table(levels: &[&MeasuredLevel<'_>]) -> OverviewTable {
    table_of(levels)
        .column("test", |measured| capitalize(&line_name(measured.test.pattern, measured.op)))
        .column("path", |measured| measured.level.path())
        .column("speed", |measured| estimated(measured.speed, Rate))
        .column("from RAM", |measured| cell(measured.ram.map(|ram| Share(ram.value))))
        .build()
}

/// Help for `--depth`.
pub(super) const DEPTHS: &str = "Queue depth, one for all patterns or one for each [default: 1]";

#[cfg(test)]
mod tests {
    use likenew_procedure_support::wording::answer_as_summary;
    use likenew_stats::interval::Interval;

    use super::super::Level;
    use super::*;
    use crate::data::Test;

    const SPEEDS: Speeds = Speeds { rate: Rate(8e9), nearer: Some(Rate(200e6)) };

    fn ram(low: f64, value: f64, high: f64) -> RamShare {
        Some(Estimate { value, interval: Some(Interval { low, high }) })
    }

    #[test]
    fn answers_say_what_came_from_ram_and_how_fast() {
        let text = |answer: Answer| answer_as_summary(&answer);
        assert_eq!(
            summary(Pattern::Sequential, [Rate(271e6), Rate(67.5e6)], [Rate(8e9), Rate(7e9)]),
            "Direct I/O: 271 MB/s sequential read, 67.5 MB/s write. Repeated reads are served from RAM (8,000 MB/s); \
             unflushed writes only reach RAM (7,000 MB/s)."
        );
        assert_eq!(
            direct_summary(Pattern::Sequential, &[(Op::Read, Rate(88.3e6)), (Op::Write, Rate(140e6))])
                .unwrap(),
            "Direct I/O: 88.3 MB/s sequential read, 140 MB/s write."
        );
        let slower = Speeds { rate: Rate(495e6), nearer: Some(Rate(550e6)) };
        let once = Some(Estimate { value: 1.0, interval: None });
        assert_eq!(
            text(repeated_read(Pattern::Sequential, ram(0.0, 0.0, 0.0), slower)),
            "Repeated sequential read: 0% from RAM, at 495 MB/s, 10% slower than direct reads (550 MB/s)."
        );
        assert_eq!(
            text(repeated_read(Pattern::Sequential, ram(1.0, 1.0, 1.0), SPEEDS)),
            "Repeated sequential read: 100% from RAM, at 8,000 MB/s, 40.0× direct reads (200 MB/s)."
        );
        assert_eq!(
            text(repeated_read(Pattern::Random, None, SPEEDS)),
            "Repeated random read: 8,000 MB/s, 40.0× direct reads (200 MB/s); RAM's share was not counted."
        );
        let unclear = ram(0.0, 0.1, 0.34);
        assert_eq!(
            text(buffered_write(Pattern::Sequential, unclear, Speeds { nearer: None, ..SPEEDS })),
            "Buffered sequential write: 10% (0–34) still in RAM at its end, too uncertain to call, at 8,000 MB/s."
        );
        assert_eq!(
            text(buffered_write(Pattern::Random, once, SPEEDS)),
            "Buffered random write: 100% still in RAM at the end of the only pass, \
             at 8,000 MB/s, 40.0× flushed writes (200 MB/s)."
        );
        assert_eq!(
            text(direct_reaches_drive("sequential reads", ram(0.0, 0.001, 0.002))),
            "Direct I/O: bypasses RAM."
        );
        assert_eq!(
            text(direct_misses_drive("random reads", ram(0.9, 0.95, 1.0))),
            "Direct I/O: 95% (90–100) of random reads never reached the drive, so these are not its speeds."
        );
        assert_eq!(
            text(direct_is_unclear("random reads", None)),
            "Direct I/O: whether it reaches the drive was not counted."
        );
    }

    #[test]
    fn a_row_ends_with_the_share_of_ram() {
        let level = MeasuredLevel {
            test: Test { pattern: Pattern::Sequential, block: 4096, depth: 1 },
            level: Level::SecondBuffered,
            op: Op::Read,
            passes: Vec::new(),
            speed: Estimate { value: 8e9, interval: Some(Interval { low: 7.9e9, high: 8.1e9 }) },
            ram: Some(Estimate { value: 1.0, interval: None }),
        };
        let table = table(&[&level]);
        assert_eq!(
            table.rows[0].cells,
            ["Sequential read", "buffered, 2nd read", "8,000 MB/s (7,900–8,100)", "100%"]
        );
    }
}
