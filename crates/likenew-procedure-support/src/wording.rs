//! The sentences of this crate: failed I/Os and tests, device counters, and precision of means.

use std::fmt::Display;
use std::io;
use std::ops::RangeInclusive;

use likenew_core::findings::{Action, Answer};
use likenew_core::input::nearest;
use likenew_core::io::Op;
use likenew_core::measurement_error::RefusedIo;
use likenew_core::procedure::Plan;
use likenew_core::quantity::{Rate, Share, Size, count, with_range};
use likenew_core::shell::shell_quote;
use likenew_core::units::{Number, exact_size};
use likenew_core::workload::Mix;
use likenew_stats::interval::Interval;

use crate::estimate::Estimate;

/// Declares answers without a branch, by the id and the question that they share. Each is a function from typed parts
/// to an answer of a standing, with evidence, caveats and actions:
/// `("speed", "Speed") => { pub(super) fn level(rate: Rate) = info("{rate}").caveat("It was measured once."); }`.
/// As in `sentences!`, a value that is not itself a part follows the text. Id and question may use the parts.
#[macro_export]
macro_rules! answers {
    ($(($id:expr, $question:expr) => {$(
        $(#[$doc:meta])* $visibility:vis fn $name:ident($($part:ident: $type:ty),*) =
            $standing:ident($text:literal $(, $value:expr)*) $(.$more:ident($what:expr))*;
    )*})*) => {
        $($($(#[$doc])* $visibility fn $name($($part: $type),*) -> ::likenew_core::findings::Answer {
            ::likenew_core::findings::Answer::$standing($id, $question, format!($text $(, $value)*))
                $(.$more($what))*
        })*)*
    };
}

/// The text with a capital first letter, to begin a sentence.
pub fn capitalize(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect()
}

/// The text with a small first letter, to continue a sentence.
pub fn lowercase_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}

/// A rate without its unit, for the first of two rates.
pub fn number_of(rate: Rate) -> String {
    rate.to_string().trim_end_matches(" MB/s").to_owned()
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(items: &[impl AsRef<str>]) -> String {
    let items: Vec<&str> = items.iter().map(AsRef::as_ref).collect();
    match items.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        Some((last, _)) => (*last).to_owned(),
        None => String::new(),
    }
}

/// What a table shows for an unknown value.
pub const MISSING: &str = "–";

/// A value in a table, or [`MISSING`].
pub fn cell(value: Option<impl Display>) -> String {
    value.map_or_else(|| MISSING.to_owned(), |value| value.to_string())
}

/// `254 MB/s (250–258)`, or `254 MB/s` for a single pass.
pub fn estimated<T: Display>(estimate: Estimate, quantity: impl Fn(f64) -> T) -> String {
    let value = quantity(estimate.value);
    match estimate.interval {
        Some(Interval { low, high }) => with_range(value, quantity(low), quantity(high)),
        None => value.to_string(),
    }
}

/// `read`, `write`, `70% read`: an operation in a table.
pub fn operation(op: Mix) -> String {
    match op {
        Mix::Only(op) => op.name().into(),
        Mix::Reads(percent) => format!("{percent}% read"),
    }
}

/// `reads`, `writes`, `mixes of 70% reads`.
pub fn operations(op: Mix) -> String {
    match op {
        Mix::Only(Op::Flush) => "flushes".into(),
        Mix::Only(op) => format!("{op}s"),
        Mix::Reads(percent) => format!("mixes of {percent}% reads"),
    }
}

/// `write`, `mix_70`: the part of an answer's id that names its operation.
pub fn operation_id(op: Mix) -> String {
    op.to_string().replace(':', "_")
}

/// The caveat of a number from a single pass.
pub const MEASURED_ONCE: &str = "It was measured once, so how much results vary is unknown.";

pub(crate) const MEASURE_VARIATION: &str = "Measure how much results vary";

/// `likenew bench TARGET --passes 5`: the plan's procedure and target with these options, ready to paste into
/// a shell. `None` for a plan without a target.
pub fn command(plan: &Plan, options: &str) -> Option<String> {
    let target = shell_quote(plan.target.as_deref()?);
    let command = format!("likenew {} {target} {options}", plan.procedure);
    Some(command.trim_end().to_owned())
}

/// The action that another procedure does to the target of a plan, with these options; `None` for a plan without a target.
pub fn procedure_action(plan: &Plan, procedure: &str, options: &str, why: &str) -> Option<Action> {
    let line = command(&Plan { procedure: procedure.into(), ..plan.clone() }, options)?;
    Some(Action::new(procedure, why).command(line))
}

likenew_core::sentences! {
    /// The error of an option outside of its range.
    pub fn out_of_range(option: &str, value: impl Display, low: impl Display, high: impl Display) =
        "{option} = {value} is out of range; use {low} to {high}";
    /// The error of a size that has to be a multiple of something.
    pub fn not_a_multiple(option: &str, value: u64, unit: u64) =
        "{option} = {} is not a multiple of {}; {}",
        exact_size(value), exact_size(unit), use_nearest_multiple(value, unit, unit..=u64::MAX);
    /// The error of a size that is not made of blocks; `least` bounds the advice.
    pub fn not_of_blocks(option: &str, value: u64, block: u64, least: u64) =
        "{option} = {} is not a multiple of the block size, {}; {}",
        exact_size(value), exact_size(block), use_nearest_multiple(value, block, least..=u64::MAX);
    /// The error of patterns that are missing or named twice.
    pub fn patterns_once() = "pattern: name sequential, random or both, once each";
    /// The error of a procedure that would write to a read-only target.
    pub fn target_is_read_only() = "this target is read-only; add --op read, or test a folder on it";
    /// The error of a procedure that can only write, and not to this target.
    pub fn writes_to_read_only(procedure: &str) =
        "{procedure} writes, and this target is read-only; use a folder on the drive";
    /// The error of a procedure without an operation that it could measure.
    pub fn no_operation() = "op: name read, write or a mix such as mix:70";
    /// The error of a plan of another version.
    pub fn other_plan_schema(schema: u32) =
        "this plan has schema {schema}; this version of likenew reads schema 1";
    pub(crate) fn no_such_pattern(text: &str) = "unknown pattern \"{text}\"; use sequential or random";
    pub(crate) fn no_such_precision(text: &str) =
        "\"{text}\" is not a precision; use 0.1% to 50%, such as 2%";
    fn first_error(first: RefusedIo) = "The first was {first}.";
    /// Why a test failed.
    pub(crate) fn test_error(name: &str, error: &dyn std::fmt::Display) = "\"{name}\": {error}.";
    /// The summary of a run that ended before it measured anything.
    pub fn nothing_measured_yet() = "Nothing was measured.";
    /// An answer as the summary.
    pub fn answer_as_summary(answer: &Answer) = "{}: {}.", answer.question, answer.answer;
    /// How many tests differ in this way.
    pub(crate) fn tests_differ(differ: usize, tests: usize) =
        "The counts differ in {differ} of {}.", count(tests as u64, "test");
    /// What a test moved, and what the device counted.
    pub(crate) fn counts_of_test(name: &str, moved: Size, counted: Size) =
        "\"{name}\" moved {moved}; the device counted {counted}.";
}

/// `use 8MiB, 16MiB …`: the valid sizes nearest to an invalid one. They are multiples of `unit` within `limits`.
pub fn use_nearest_multiple(value: u64, unit: u64, limits: RangeInclusive<u64>) -> String {
    let (least, most) = (limits.start().next_multiple_of(unit), limits.end() - limits.end() % unit);
    if most < least {
        return "use a larger target".into();
    }
    let below = value - value % unit;
    let above = below.saturating_add(unit);
    match (limits.contains(&below), limits.contains(&above)) {
        (true, true) => format!("use {} or {}", exact_size(below), exact_size(above)),
        (true, false) => format!("use {}", exact_size(below)),
        _ if value > most => format!("use {}", exact_size(most)),
        _ if most - least < unit => format!("use {}", exact_size(least)),
        _ => format!("use {}, {} …", exact_size(least), exact_size(least + unit)),
    }
}

/// The error of a span that is larger than the target. It advises the largest multiple of `unit` that fits.
pub fn span_too_large(span: u64, capacity: u64, unit: u64) -> String {
    let advice = match capacity - capacity % unit {
        0 => "use a larger target".to_owned(),
        most => format!("use a --span of at most {}", exact_size(most)),
    };
    format!("the span of {} exceeds the target's {}; {advice}", Size(span), Size(capacity))
}

/// The error of a size that has to be a power of two within limits.
pub fn not_a_power_of_two(option: &str, value: u64, low: u64, high: u64) -> String {
    let advice = match value {
        _ if value < low => exact_size(low),
        _ if value > high => exact_size(high),
        _ => {
            let above = value.next_power_of_two();
            format!("{} or {}", exact_size(above / 2), exact_size(above))
        }
    };
    let (value, low, high) = (exact_size(value), exact_size(low), exact_size(high));
    format!("{option} = {value} is not a power of two from {low} to {high}; use {advice}")
}

/// The error of an unknown name. It offers the nearest known name, or all names if none is near.
pub fn unknown_name(what: &str, typed: &str, known: &[&str]) -> String {
    match nearest(typed, known.iter().copied()) {
        _ if typed.is_empty() => format!("nothing was typed for the {what}; use {}", known.join(", ")),
        Some(near) => format!("unknown {what} \"{typed}\"; did you mean \"{near}\"?"),
        None => format!("unknown {what} \"{typed}\"; use {}", known.join(", ")),
    }
}

/// The error of a procedure's option, from the parser's message.
pub(crate) fn wrong_options(procedure: &str, reason: &str) -> String {
    if let Some((typed, known)) = unknown_field(reason) {
        return unknown_name(&format!("option of {procedure}"), typed, &known);
    }
    match reason.strip_prefix("invalid type: ").and_then(|types| types.split_once(", expected ")) {
        Some((actual, expected)) => {
            format!("{procedure} expects {} here, not {}", toml_type(expected), toml_type(actual))
        }
        None => format!("invalid option of {procedure}: {reason}"),
    }
}

/// The name in "unknown field `a`, expected one of `b`, `c`", and the known names.
fn unknown_field(reason: &str) -> Option<(&str, Vec<&str>)> {
    let mut quoted = reason.strip_prefix("unknown field ")?.split('`').skip(1).step_by(2);
    Some((quoted.next()?, quoted.collect()))
}

/// TOML's name of a type that the parser calls by Rust's.
fn toml_type(name: &str) -> String {
    match name {
        "map" | "a map" => "a table".into(),
        "sequence" | "a sequence" => "a list".into(),
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number".into(),
        "f64" => "a number".into(),
        name if name.starts_with("integer") => name.replace("integer ", "the number "),
        name if name.starts_with("floating point ") => name.replace("floating point ", "the number "),
        name if name.starts_with("string ") => name.replace("string ", "the text "),
        name if name.starts_with("boolean ") => name.replace("boolean ", ""),
        name if name.starts_with("struct ") => "a table".into(),
        name => name.to_owned(),
    }
}

const IO_ERRORS: &str = "io_errors";
const JOB_ERRORS: &str = "job_errors";

/// Whether an answer is about I/Os or jobs that failed.
pub(crate) fn is_about_failures(answer: &Answer) -> bool {
    [IO_ERRORS, JOB_ERRORS].contains(&answer.id.as_str())
}

fn back_up() -> Action {
    Action::new("back_up", "Back up what you need now; run no more tests on this drive")
}

/// The action that reads a drive's SMART data; a placeholder stands for an unknown device.
pub(crate) fn read_smart(device: Option<&str>) -> Action {
    let device = device.map_or_else(|| "/dev/sdX".to_owned(), shell_quote);
    Action::new("read_smart", "See its reallocated, pending and uncorrectable sectors (NVMe: media errors)")
        .command(format!("sudo smartctl -a {device}"))
}

crate::answers! {
    (IO_ERRORS, "I/O errors") => {
        /// I/Os that failed because of the drive.
        pub(crate) fn drive_failed_ios(errors: u64, first: RefusedIo) =
            problem("the drive failed {}, the first at offset {} ({})",
                    count(errors, "I/O"), Size(first.offset), first.reason())
            .with_evidence(first_error(first)).action(back_up());
        /// I/Os that failed for a reason that says nothing about the drive's health, such as a full file system.
        pub(crate) fn system_refused_ios(errors: u64, first: RefusedIo) =
            info("the system refused {}; the run ended there", count(errors, "I/O"))
            .with_evidence(first_error(first));
        /// I/Os that another program counted as failed without saying which.
        pub(crate) fn failed_ios_without_reason(errors: u64) =
            unknown("{} failed", count(errors, "I/O"))
            .with_evidence("The program that measured recorded neither the addresses nor the errors.");
    }
    (JOB_ERRORS, "Failed job") => {
        /// A job of another program that read other data than was written.
        pub(crate) fn job_read_other_data(job: &str) =
            problem("\"{job}\" read data that differs from what was written")
            .with_evidence(JOB_IO_NOT_RECORDED).action(back_up());
        /// A job of another program that met an error of the medium.
        pub(crate) fn job_met_medium_error(job: &str, errno: i32) =
            problem("\"{job}\" failed: {}", io::Error::from_raw_os_error(errno))
            .with_evidence(JOB_IO_NOT_RECORDED).action(back_up());
    }
    ("completed", "Completeness") => {
        /// The answer of a run that ended before its last test.
        pub fn ended_early(tests_done: usize, tests_planned: usize) =
            unknown("the run ended after {tests_done} of {tests_planned} steps");
    }
    ("device_bytes_missing", "Device counters") => {
        /// Fewer bytes reached the device than were read or written.
        pub(crate) fn bytes_missed_device(missing: Share) =
            unknown("{missing} of the measured bytes never reached the device, so these are not its speeds")
            .caveat("A cache above the device answered, or a file has holes, or the file system compresses. \
                     `likenew cache` tells memory from drive.");
    }
    ("device_bytes_extra", "Device counters") => {
        /// The device moved more bytes than were measured.
        pub(crate) fn device_was_busy(extra: Share) =
            unknown("the device did {extra} more I/O than was measured, so it can be faster than this")
            .caveat("Other programs used it, or earlier writes were still on their way, or the file system \
                     wrote more.");
    }
    ("precision", "Precision") => {
        /// All means are as precise as asked.
        pub(crate) fn means_are_precise(goal: impl Display, passes_most: usize) =
            good("every mean is known to ±{goal} after at most {}", passes(passes_most));
        /// Some means are not as precise as asked.
        pub(crate) fn means_are_imprecise(goal: impl Display, wide: usize, means: usize) =
            unknown("{wide} of {} {} known less precisely than ±{goal}",
                    count(means as u64, "mean"), if wide == 1 { "is" } else { "are" });
    }
}

const JOB_IO_NOT_RECORDED: &str = "Which I/O of the job failed was not recorded.";

/// Tests that failed, and the error of the first. `hidden`: failed tests not in `names`; `tests`: all that ran.
pub(crate) fn not_measured(names: &[&str], hidden: usize, tests: usize, error: &str) -> Answer {
    let failed = names.len() + hidden;
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    let answer = match (failed == tests, hidden) {
        (true, _) if tests > 1 => format!("all {tests} tests failed: {error}"),
        (true, _) => format!("{} failed: {error}", names.join(", ")),
        (false, 0) => format!("{} failed: {error}", list(&names)),
        (false, _) => format!("{} and {hidden} more of {tests} tests failed: {error}", names.join(", ")),
    };
    Answer::unknown("not_measured", "Not measured", answer)
}

/// The summary of a run in which every test failed.
pub fn nothing_was_measured(tests: usize) -> String {
    match tests {
        1 => "Nothing was measured: the only test failed.".into(),
        _ => format!("Nothing was measured: all {tests} tests failed."),
    }
}

/// The precision of one mean; `None` if its passes give no interval.
pub(crate) fn precision_of_mean(name: &str, reached: Option<impl Display>, passes_run: usize) -> String {
    let after = passes(passes_run);
    match reached {
        Some(reached) => format!("{name}: ±{reached} after {after}."),
        None => format!("{name}: no interval after {after}."),
    }
}

/// `1 pass`, `5 passes`.
pub fn passes(number: usize) -> String {
    if number == 1 { "1 pass".into() } else { format!("{number} passes") }
}

// ---- Errors of typed options ----

pub(crate) const READS_ONLY: &str = "Reads only: this target may not be written.";

likenew_core::sentences! {
    pub(crate) fn span_does_not_fit(bytes: u64, least: u64) =
        "the target has {}, and a measurement needs at least {}; give a smaller --block, or a larger target",
        Size(bytes), Size(least);
    pub(crate) fn not_a_percentage(typed: &str) = "\"{typed}\" is not a percentage from 0 to 100";
    pub(crate) fn not_a_whole_number(text: &str) =
        "\"{text}\" is not a whole number; write 1, or 1..256 for every doubling";
    pub(crate) fn in_range(range: &str, reason: &str) = "the range \"{range}\": {reason}";
    pub(crate) fn range_backwards(range: &str) = "the range \"{range}\" ends before it begins";
    /// The error of a block without bytes.
    pub fn zero_block() = "--block 0: an I/O moves at least one sector";
    /// The error of a size that is too small for `what`.
    pub fn too_small_for(what: &str, bytes: u64, least: u64) =
        "{} is too little for {what}: at least {} is needed", Size(bytes), Size(least);
    /// The error of too many files.
    pub fn too_many_files(files: u64) =
        "{} files are too many; give a larger --file-size", Number(files as f64);
    pub(crate) fn number_outside(least: f64, most: f64) = "it takes a number from {least} to {most}";
}

pub(crate) fn no_such_profile(typed: &str, known: &[&str]) -> String {
    let names = known.join(", ");
    match nearest(typed, known.iter().copied()) {
        Some(near) => format!("unknown profile \"{typed}\"; did you mean \"{near}\"? Known: {names}"),
        None => format!("unknown profile \"{typed}\". Known: {names}"),
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::io::Outcome;

    use super::*;
    use crate::precision_goal::PrecisionGoal;

    #[test]
    fn answers_can_be_read_with_their_questions() {
        let first = RefusedIo { op: Op::Read, offset: 8192, length: Some(4096), outcome: Outcome::Error(5) };
        let text = |answer: &Answer| answer_as_summary(answer);
        let failed = drive_failed_ios(12, first);
        assert_eq!(
            text(&failed),
            "I/O errors: the drive failed 12 I/Os, the first at offset 8 KiB (Input/output error)."
        );
        assert_eq!(failed.evidence, ["The first was a read of 4 KiB at offset 8 KiB: Input/output error."]);
        assert_eq!(
            text(&system_refused_ios(1, first)),
            "I/O errors: the system refused 1 I/O; the run ended there."
        );
        assert_eq!(text(&not_measured(&["a", "b"], 0, 5, "no")), "Not measured: \"a\" and \"b\" failed: no.");
        assert_eq!(
            text(&not_measured(&["a", "b", "c"], 2, 8, "no")),
            "Not measured: \"a\", \"b\", \"c\" and 2 more of 8 tests failed: no."
        );
        assert_eq!(
            text(&not_measured(&["a", "b", "c"], 2, 5, "no")),
            "Not measured: all 5 tests failed: no."
        );
        assert_eq!(text(&not_measured(&["a"], 0, 1, "no")), "Not measured: \"a\" failed: no.");
        assert_eq!(
            text(&bytes_missed_device(Share(0.4))),
            "Device counters: 40% of the measured bytes never reached the device, so these are not its speeds."
        );
        assert_eq!(
            text(&device_was_busy(Share(0.25))),
            "Device counters: the device did 25% more I/O than was measured, so it can be faster than this."
        );
        assert_eq!(
            text(&means_are_precise(PrecisionGoal(0.02), 5)),
            "Precision: every mean is known to ±2% after at most 5 passes."
        );
        assert_eq!(
            text(&means_are_imprecise(PrecisionGoal(0.02), 1, 8)),
            "Precision: 1 of 8 means is known less precisely than ±2%."
        );
        assert_eq!(
            precision_of_mean("SEQ1M read", Some(PrecisionGoal(0.034)), 30),
            "SEQ1M read: ±3.4% after 30 passes."
        );
    }

    #[test]
    fn a_refused_size_comes_with_those_that_work() {
        const K: u64 = 1 << 10;
        const M: u64 = 1 << 20;
        let multiple = |value| not_a_multiple("span", value, 8 * M);
        assert_eq!(multiple(4 * M), "span = 4MiB is not a multiple of 8MiB; use 8MiB, 16MiB …");
        assert_eq!(multiple(12 * M), "span = 12MiB is not a multiple of 8MiB; use 8MiB or 16MiB");
        assert_eq!(multiple(0), "span = 0 is not a multiple of 8MiB; use 8MiB, 16MiB …");
        let within = |value| use_nearest_multiple(value, 16 * M, 16 * M..=64 * M);
        assert_eq!(within(M), "use 16MiB, 32MiB …");
        assert_eq!(within(63 * M), "use 48MiB or 64MiB");
        assert_eq!(within(64 * M + 1), "use 64MiB");
        assert_eq!(within(1 << 40), "use 64MiB");
        assert_eq!(use_nearest_multiple(5, 16 * M, 16 * M..=17 * M), "use 16MiB");
        assert_eq!(use_nearest_multiple(5, 512, 0..=K), "use 0 or 512");
        assert_eq!(use_nearest_multiple(5, 16 * M, M..=2 * M), "use a larger target");
        let power = |value| not_a_power_of_two("block", value, 4 * K, 64 * M);
        assert_eq!(power(3 * K), "block = 3KiB is not a power of two from 4KiB to 64MiB; use 4KiB");
        assert_eq!(power(6 * K), "block = 6KiB is not a power of two from 4KiB to 64MiB; use 4KiB or 8KiB");
        assert_eq!(power(128 * M), "block = 128MiB is not a power of two from 4KiB to 64MiB; use 64MiB");
        assert_eq!(
            span_too_large(1 << 40, (1 << 30) + 5, 8 * M),
            "the span of 1 TiB exceeds the target's 1 GiB; use a --span of at most 1GiB"
        );
        assert_eq!(
            span_too_large(1 << 40, M, 8 * M),
            "the span of 1 TiB exceeds the target's 1 MiB; use a larger target"
        );
    }

    #[test]
    fn lists_are_read_aloud() {
        assert_eq!(
            answer_as_summary(&ended_early(3, 25)),
            "Completeness: the run ended after 3 of 25 steps."
        );
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(list(&["a", "b"]), "a and b");
        assert_eq!(number_of(Rate(67.6e6)), "67.6");
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&[] as &[&str]), "");
        assert_eq!(capitalize("random write"), "Random write");
        assert_eq!(out_of_range("passes", 0, 1, 1000), "passes = 0 is out of range; use 1 to 1000");
        let plan = Plan::new("bench", Some("/media/My Disk".into()), 0, toml::Table::new());
        assert_eq!(command(&plan, "--passes 5").unwrap(), "likenew bench '/media/My Disk' --passes 5");
        assert_eq!(command(&plan, "").unwrap(), "likenew bench '/media/My Disk'");
        assert_eq!(count(1, "pass"), "1 pass");
    }
}
