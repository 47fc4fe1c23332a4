//! The sentences of data.

use likenew_core::findings::{Answer, OverviewTable};
use likenew_core::io::Op;
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Factor, Rate, Share, Size, count, range, with_range};
use likenew_core::units::Number;

use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::overview::table_of;
use likenew_procedure_support::wording::{answer_as_summary, capitalize, cell, estimated, list};

use super::Test;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "data",
    question: "Does speed depend on how compressible the data is, and what do your files get?",
    writes: "writes the tested span once, then at most once in each pass of a write test; in a folder only to temporary files",
    manual: include_str!("../data.md"),
};

pub(super) const CURVE_TITLE: &str = "Speed by how compressible the data is";
pub(super) const CURVE_AXIS: &str = "compressible";
pub(super) const FILES_MARK: &str = "your files";
pub(super) const FILES_TITLE: &str = "Your files by kind, and what they compress to";
pub(super) const FILES_KIND_AXIS: &str = "kind of file";
pub(super) const FILES_SHARE_AXIS: &str = "share";
pub(super) const FILES_BYTES_LINE: &str = "share of all bytes";
pub(super) const FILES_COMPRESSED_LINE: &str = "compresses to";

likenew_core::sentences! {
    pub(super) fn nothing_to_do(steps_max: u32) =
        "steps = 0 measures nothing, and no files were read; use 2 to {steps_max}, or add --files";
    pub(super) fn read_or_write_once() = "op: name read, write or both, once each";
    pub(super) fn span_too_small(span: Size, steps: u32, needed: Size) =
        "span = {span} is too small for {steps} steps; use at least {needed}";
    pub(super) fn writes_what_it_reads() =
        "this target is read-only, and data writes what it reads; test a folder instead";
    pub(super) fn unsound_share(kind: &str) =
        "files: what \"{kind}\" compresses to is not a share from 0 to 1 with low ≤ value ≤ high";
    /// `step`: what the most compressible data except zeros compresses to.
    pub(super) fn slightly_compressible_gains_nothing(step: Share) =
        "Data that compresses to {step} is as slow as random data.";
    /// The range of a ratio that decides nothing.
    pub(super) fn ratio_range(low: Factor, high: Factor) =
        "Zeros are {} as fast as random data.", range(low, high);
    pub(super) fn file_system_compresses(file_system: &str) =
        "{file_system} may compress; test a folder without compression to see the drive alone.";
    /// `Zeros 500 MB/s (490–510), random data 100 MB/s (99–101), in blocks of 1 MiB at QD8.`
    pub(super) fn ends(subject: Subject, ends: Ends) =
        "{}, in blocks of {} at QD{}.",
        capitalize(&ends.text()), Size(subject.test.block), subject.test.depth;
    /// The summary if some tests are decided and others are open.
    pub(super) fn summary_of_part(decided: &[Subject], open: &[Subject]) =
        "{} do not depend on compressibility; {} varied too much to tell.",
        capitalize(&plurals(decided)), plurals(open);
    pub(super) fn zip_comparison(zipped: Share) =
        "In 4 KiB blocks, as drives compress; zip reaches {zipped}.";
    pub(super) fn files_sampled(sampled: Size, all: Size, files: u64) =
        "{sampled} of {all} in {} were read.", count(files, "file");
    pub(super) fn other_file_systems_left_out(folders: u64) =
        "Left out: {} on other file systems; --cross-file-systems includes them.", count(folders, "folder");
    pub(super) fn zeros_speed(rate: Rate) =
        "Zeros, with which rated speeds are often measured, reach {rate}.";
    pub(super) fn of_rated(rated: Rate, share: Share) = "The rated speed is {rated}; this is {share} of it.";
    /// The summary of tests that all differ by `within` at most.
    pub(super) fn summary_of_indifference(within: Share) =
        "Compressibility does not change the speed: any data is equally fast, within {within}.";
    /// The summary about files, if their content matters.
    pub(super) fn summary_of_files(share: Share, subject: Subject, rate: Rate) =
        "Your files compress to {share} of their size: their {}s run at about {rate}.", subject.name();
    /// The summary if only files were read.
    pub(super) fn summary_of_scan(share: Share) = "Your files compress to {share} of their size.";
    pub(super) fn values_for_patterns(flag: &str, values: usize, patterns: usize) =
        "--{flag} has {values} values for {patterns} patterns; give one for all, or one for each";
    pub(super) fn steps_do_not_fit(bytes: u64, steps: u32, least: u64) =
        "{} is too little for {steps} steps: at least {} is needed; give fewer --steps or a smaller --block",
        Size(bytes), Size(least);
    pub(super) fn not_read_or_write(text: &str) = "\"{text}\" is neither read nor write";
}

/// One operation of one test: `sequential write`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Subject {
    pub(super) test: Test,
    pub(super) op: Op,
}

impl Subject {
    pub(super) fn name(self) -> String {
        format!("{} {}", self.test.pattern, self.op)
    }

    pub(super) fn id(self) -> String {
        format!("{}_{}", self.test.pattern, self.op)
    }

    fn question(self) -> String {
        capitalize(&self.name())
    }
}

/// Zeros and random data, as far as each was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ends {
    pub(super) zeros: Option<Estimate>,
    pub(super) random: Option<Estimate>,
}

impl Ends {
    fn text(self) -> String {
        let text = |speed: Option<Estimate>| {
            speed.map_or_else(|| "not measured".into(), |speed| estimated(speed, Rate))
        };
        format!("zeros {}, random data {}", text(self.zeros), text(self.random))
    }
}

/// What may compress the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Compressor<'a> {
    Drive,
    /// The drive, or a file system above it that can compress.
    FileSystemOrDrive(&'a str),
}

impl Compressor<'_> {
    fn name(self) -> &'static str {
        match self {
            Self::Drive => "the drive",
            Self::FileSystemOrDrive(_) => "the file system or the drive",
        }
    }
}

answers! {
    (subject.id(), subject.question()) => {
        /// `ratio`: zeros over random data.
        pub(super) fn compresses(subject: Subject, ratio: Factor, compressor: Compressor<'_>) =
            info("zeros are {ratio} as fast as random data, so {} compresses", compressor.name());
        pub(super) fn only_zeros(subject: Subject, ratio: Factor) =
            info("zeros are {ratio} as fast as any other data; nothing else gains");
        pub(super) fn zeros_faster(subject: Subject, ratio: Factor) =
            info("zeros are {ratio} as fast as random data; whether other data gains is not known");
        pub(super) fn zeros_slower(subject: Subject, ratio: Factor) =
            info("zeros are only {ratio} as fast as random data");
        /// `within`: the largest possible difference between the speeds.
        pub(super) fn indifferent(subject: Subject, within: Share) =
            info("any data is equally fast, within {within}");
        pub(super) fn ratio_unclear(subject: Subject, ends: Ends) =
            unknown("zeros {}, random data {}; passes vary too much to compare them",
                    rate_or_none(ends.zeros), rate_or_none(ends.random));
        pub(super) fn passes_scatter(subject: Subject) =
            unknown("passes vary too much to compare zeros with random data");
        pub(super) fn one_pass(subject: Subject, ends: Ends) = unknown("{} in the only pass", ends.text());
    }
    ("files", "Your files") => {
        /// What all files together compress to.
        pub(super) fn files(share: Share, low: Share, high: Share) =
            info("compress to {} of their size", with_range(share, low, high));
        pub(super) fn files_unread() =
            unknown("none of their contents could be read")
            .caveat("Give a folder with files that you may read.");
    }
    (format!("expected_{}", subject.id()), format!("Your files, {}", subject.name())) => {
        /// The speed of files for one operation; `of_zeros` is its share of the speed of zeros.
        pub(super) fn expected(subject: Subject, rate: Rate, of_zeros: Share) =
            info("about {rate}, {of_zeros} of the speed of zeros");
    }
}

fn rate_or_none(speed: Option<Estimate>) -> Rate {
    Rate(speed.map_or(0.0, |speed| speed.value))
}

pub(super) const RANDOM_DATA_COSTS_TIME: &str =
    "Above 1 GB/s, generating random data takes part of a write's time. Reads do not have that difference.";
pub(super) const LONGER_PASSES: &str = "Measure longer to even out the passes";
pub(super) const MORE_STEPS: &str = "Measure data between zeros and random data";

/// A kind of files, with its share of all bytes and what it compresses to.
pub(super) struct FileKind<'a> {
    pub(super) name: &'a str,
    pub(super) share: Share,
    pub(super) compresses_to: Option<Share>,
}

/// The kinds that hold most bytes.
pub(super) fn largest_kinds(kinds: &[FileKind<'_>]) -> String {
    let text = |kind: &FileKind<'_>| match kind.compresses_to {
        Some(to) => format!("{} ({} of the bytes, compresses to {to})", kind.name, kind.share),
        None => format!("{} ({} of the bytes, not read)", kind.name, kind.share),
    };
    if let [FileKind { name, share: Share(1.0..), compresses_to: Some(to) }] = kinds {
        return format!("All of it is {name}, which compresses to {to} of its size.");
    }
    let kinds: Vec<String> = kinds.iter().map(text).collect();
    format!("The largest kinds are {}.", list(&kinds))
}

pub(super) const SCAN_RAN_OUT_OF_TIME: &str =
    "Time ran out before all files were seen; a longer --scan-time sees more.";

pub(super) fn files_unreadable(number: u64) -> String {
    match number {
        1 => "One file or folder could not be read.".into(),
        _ => format!("{} files or folders could not be read.", Number(number as f64)),
    }
}

/// The summary of a test in which compressibility matters.
pub(super) fn summary_of_difference(answer: &Answer, ends: Ends) -> String {
    let Some((zeros, random)) = ends.zeros.zip(ends.random) else { return answer_as_summary(answer) };
    let (zeros, random) = (Rate(zeros.value), Rate(random.value));
    format!("{}: {} ({zeros} against {random}).", answer.question, answer.answer)
}

/// `reads` of both patterns, otherwise `random reads and sequential writes`.
fn plurals(subjects: &[Subject]) -> String {
    let ops: Vec<Op> = subjects.iter().map(|subject| subject.op).collect();
    let has_both_patterns = subjects.len() > 1 && ops.iter().all(|op| *op == ops[0]);
    if has_both_patterns {
        return format!("{}s", ops[0]);
    }
    list(&subjects.iter().map(|subject| format!("{}s", subject.name())).collect::<Vec<_>>())
}

/// The summary if several tests were measured and all are open.
pub(super) const SUMMARY_OF_NOTHING_DECIDED: &str =
    "Passes vary too much to tell whether compressibility changes the speed.";

/// The summary of a single pass.
pub(super) const SUMMARY_OF_ONE_PASS: &str =
    "One pass cannot tell whether compressibility changes the speed.";

/// A row of the first screen.
pub(super) struct TableRow {
    pub(super) subject: Subject,
    pub(super) ends: Ends,
    /// The speed of files; `None` if no files were read.
    pub(super) expected: Option<Rate>,
}

/// The column of files is left out if none were read.
pub(super) fn table(rows: impl Iterator<Item = TableRow>, has_files: bool) -> OverviewTable {
    let speed = |speed: Option<Estimate>| cell(speed.map(|speed| estimated(speed, Rate)));
    let ratio = |ends: Ends| Some(Share(ends.random?.value / ends.zeros?.value));
    table_of(rows)
        .column("test", |row| row.subject.question())
        .column("zeros", |row| speed(row.ends.zeros))
        .column("random data", |row| speed(row.ends.random))
        .column_if(has_files, "your files", |row| cell(row.expected))
        .column("random / zeros", |row| cell(ratio(row.ends)))
        .build()
}

/// The table of the first screen if only files were read.
pub(super) fn files_table<'a>(kinds: impl Iterator<Item = FileKind<'a>>) -> OverviewTable {
    table_of(kinds)
        .column("kind of file", |kind| kind.name)
        .column("share of all bytes", |kind| kind.share)
        .column("compresses to", |kind| cell(kind.compresses_to))
        .bars(|kind| kind.compresses_to.map(|to| to.0))
        .build()
}

/// Help for `--depth`.
pub(super) const DEPTHS: &str =
    "Queue depth, one for all patterns or one for each [default: 8 sequential, 32 random]";

#[cfg(test)]
mod tests {
    use likenew_stats::interval::Interval;

    use likenew_procedure_support::pattern::Pattern;

    use super::*;

    const WRITE: Subject =
        Subject { test: Test { pattern: Pattern::Sequential, block: 1 << 20, depth: 8 }, op: Op::Write };

    fn speed(mb_per_s: f64) -> Option<Estimate> {
        let interval = Interval { low: (mb_per_s - 10.0) * 1e6, high: (mb_per_s + 10.0) * 1e6 };
        Some(Estimate { value: mb_per_s * 1e6, interval: Some(interval) })
    }

    fn ends_of(zeros: f64, random: f64) -> Ends {
        Ends { zeros: speed(zeros), random: speed(random) }
    }

    #[test]
    fn summaries_name_the_difference_and_what_files_get() {
        let answer = compresses(WRITE, Factor(5.0), Compressor::Drive);
        assert_eq!(
            summary_of_difference(&answer, ends_of(500.0, 100.0)),
            "Sequential write: zeros are 5.00× as fast as random data, so the drive compresses \
             (500 MB/s against 100 MB/s)."
        );
        assert_eq!(
            summary_of_files(Share(0.8), WRITE, Rate(119e6)),
            "Your files compress to 80% of their size: their sequential writes run at about 119 MB/s."
        );
        let reads = [Pattern::Sequential, Pattern::Random]
            .map(|pattern| Subject { test: Test { pattern, ..WRITE.test }, op: Op::Read });
        assert_eq!(
            summary_of_part(&reads, &[WRITE]),
            "Reads do not depend on compressibility; sequential writes varied too much to tell."
        );
        assert_eq!(
            summary_of_indifference(Share(0.012)),
            "Compressibility does not change the speed: any data is equally fast, within 1.2%."
        );
    }

    #[test]
    fn answers_can_be_read_with_their_questions() {
        let text = |answer: Answer| answer_as_summary(&answer);
        assert_eq!(
            text(ratio_unclear(WRITE, ends_of(102.0, 100.0))),
            "Sequential write: zeros 102 MB/s, random data 100 MB/s; passes vary too much to compare them."
        );
        assert_eq!(
            text(one_pass(WRITE, ends_of(500.0, 100.0))),
            "Sequential write: zeros 500 MB/s (490–510), random data 100 MB/s (90.0–110) in the only pass."
        );
        assert_eq!(
            text(files(Share(0.8), Share(0.79), Share(0.81))),
            "Your files: compress to 80% (79–81) of their size."
        );
        assert_eq!(
            text(expected(WRITE, Rate(119e6), Share(0.238))),
            "Your files, sequential write: about 119 MB/s, 24% of the speed of zeros."
        );
        assert_eq!(
            ends(WRITE, ends_of(500.0, 100.0)),
            "Zeros 500 MB/s (490–510), random data 100 MB/s (90.0–110), in blocks of 1 MiB at QD8."
        );
        let kinds = [
            FileKind { name: "video", share: Share(0.75), compresses_to: Some(Share(1.0)) },
            FileKind { name: "text", share: Share(0.25), compresses_to: None },
        ];
        assert_eq!(
            largest_kinds(&kinds),
            "The largest kinds are video (75% of the bytes, compresses to 100%) and text (25% of the bytes, not read)."
        );
        let video = [FileKind { name: "video", share: Share(1.0), compresses_to: Some(Share(0.99)) }];
        assert_eq!(largest_kinds(&video), "All of it is video, which compresses to 99% of its size.");
    }

    #[test]
    fn a_row_ends_with_the_share_that_random_data_gets() {
        let row = TableRow { subject: WRITE, ends: ends_of(500.0, 100.0), expected: Some(Rate(119e6)) };
        let table = table([row].into_iter(), true);
        let cells = ["Sequential write", "500 MB/s (490–510)", "100 MB/s (90.0–110)", "119 MB/s", "20%"];
        assert_eq!(table.rows[0].cells, cells);
    }
}
