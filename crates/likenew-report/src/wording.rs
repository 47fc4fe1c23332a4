//! All sentences of this crate: the words of terminal and page for answers, actions, drives and runs.

use std::collections::HashSet;

use likenew_core::counters::FlashCounters;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Answer, Estimate, Loss, Standing};
use likenew_core::instrument::AddedLatency;
use likenew_core::quantity::{Share, Size, range, with_range};
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, Number, digits};

use crate::document::Document;
use crate::unit::{Unit, clean};

/// For a browser without scripts, on the served page.
pub(crate) const NEEDS_SCRIPTS: &str = "This page needs JavaScript; likenew report shows the same runs.";

/// A caveat of a run that was resumed.
pub(crate) fn interrupted_parts(breaks: usize) -> String {
    let times = if breaks == 1 { "once".to_owned() } else { format!("{breaks} times") };
    format!("The run was interrupted and resumed {times}; the drive was idle or in use in between.")
}

/// The mark of an answer, which shows its standing without color; measurements have none.
pub(crate) fn mark(standing: Standing) -> Option<&'static str> {
    match standing {
        Standing::Good => Some("✓"),
        Standing::Problem => Some("✗"),
        Standing::Unknown => Some("?"),
        Standing::Info => None,
    }
}

/// The summary of a document, or its first answer.
pub(crate) fn summary(document: &Document) -> String {
    if !document.summary.is_empty() {
        return clean(&document.summary);
    }
    document.answers.first().map_or_else(|| "This run gave no answers.".into(), answer)
}

/// Question and answer: `Sequential write: 20 MB/s, 26% of new`.
pub(crate) fn answer(answer: &Answer) -> String {
    if answer.question.is_empty() {
        return clean(&answer.answer);
    }
    format!("{}: {}", clean(&answer.question), clean(&answer.answer))
}

/// Whether a summary already contains an answer, with its question or as a sentence of its own. Ranges in
/// brackets are details, and punctuation between clauses does not matter.
pub(crate) fn is_said_in(summary: &str, answer: &Answer) -> bool {
    let summary = spoken_words(summary);
    let text = spoken_words(&answer.answer);
    let is_sentence = text.chars().count() >= SENTENCE_MIN;
    (is_sentence && summary.contains(&text)) || summary.contains(&spoken_words(&self::answer(answer)))
}

/// Fewest characters of an answer without its question; a shorter one may occur in a summary by chance.
const SENTENCE_MIN: usize = 20;

fn spoken_words(text: &str) -> String {
    let mut depth = 0_usize;
    let mut kept = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ':' | ';' | ',' | '.' if depth == 0 => kept.push(' '),
            letter if depth == 0 => kept.push(letter),
            _ => {}
        }
    }
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `19.8 MB/s (15.9–24.7)`, or only the value if the interval is the same.
fn estimate(estimate: &Estimate) -> String {
    let Estimate { value, low, high, ref unit } = *estimate;
    let unit = Unit::parse(unit);
    match open_interval(&unit, low, high) {
        Some(open) => format!("{} ({open})", unit.spell(value)),
        None if low.is_finite() && high.is_finite() => {
            with_range(unit.spell(value), unit.spell(low), unit.spell(high))
        }
        None => unit.spell(value),
    }
}

/// `at least 15.9 MB/s`, for an interval with one open end.
fn open_interval(unit: &Unit, low: f64, high: f64) -> Option<String> {
    match (low.is_finite(), high.is_finite()) {
        (true, false) => Some(format!("at least {}", unit.spell(low))),
        (false, true) => Some(format!("at most {}", unit.spell(high))),
        _ => None,
    }
}

/// The line about an answer's number: `Interval: 15.9–24.7 MB/s` below an answer that contains the number. `None` if the interval
/// is already said or is only the number, or if nothing says what a bare number counts.
pub(crate) fn interval(answer: &Answer) -> Option<String> {
    let estimated = answer.estimate.as_ref()?;
    let unit = Unit::parse(&estimated.unit);
    if !(estimated.low.is_finite() && estimated.high.is_finite()) {
        return open_interval(&unit, estimated.low, estimated.high).map(|open| format!("Interval: {open}"));
    }
    let [value, low, high] =
        [estimated.value, estimated.low, estimated.high].map(|number| unit.spell(number));
    let interval = match unit {
        Unit::Percent => range(Share(estimated.low / 100.0), Share(estimated.high / 100.0)),
        Unit::Share => range(Share(estimated.low), Share(estimated.high)),
        _ => range(&low, &high),
    };
    let numbers = interval.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let is_said = |text: &String| text.contains(numbers);
    if unit == Unit::Plain || low == high || is_said(&answer.answer) || answer.evidence.iter().any(is_said) {
        return None;
    }
    let is_bare = matches!(unit, Unit::Percent | Unit::Share | Unit::Ratio);
    if answer.answer.contains(&value) {
        Some(format!("Interval: {interval}"))
    } else {
        (!is_bare).then(|| format!("Estimate: {}", estimate(estimated)))
    }
}

/// Effect, loss and cost of an action: `Restore it step by step · nothing lost · about 90 min · 140 GiB
/// written`.
pub(crate) fn action(action: &Action) -> String {
    let mut parts = vec![clean(&action.why)];
    // An action without a command loses nothing, either.
    if action.command.is_some() || action.loses != Loss::Nothing {
        parts.push(loss(action.loses).to_owned());
    }
    parts.extend(action.time_s.map(|seconds| format!("about {}", duration(seconds))));
    parts.extend(action.bytes_written.map(|bytes| format!("{} written", Size(bytes))));
    parts.join(" · ")
}

/// The actions that fix problems and those that decide open questions, each command once, below their headings.
pub(crate) fn action_groups(document: &Document) -> [(&'static str, Vec<&Action>); 2] {
    [("Fix it", Standing::Problem), ("To decide", Standing::Unknown)].map(|(heading, standing)| {
        let mut known = HashSet::new();
        let answers = document.answers.iter().filter(|answer| answer.standing == standing);
        let actions = answers.flat_map(|answer| &answer.actions);
        (heading, actions.filter(|action| known.insert(action_key(action))).collect())
    })
}

/// The short name of a document, and what it stands for.
pub(crate) fn name_and_label(name: &str, label: &str) -> String {
    let label = clean(label);
    if name == label { label } else { format!("{name} = {label}") }
}

/// Fonts of a picture; the first that exists is used.
pub(crate) const CARD_FONTS: &str = "Open Sans, DejaVu Sans, sans-serif";

likenew_core::sentences! {
    /// Goes below what was measured.
    pub(crate) fn measured_by(procedure: &str, version: &str) =
        "Measured with likenew {version} ({procedure})";
    /// The command that undoes an action.
    pub(crate) fn undo(command: &str) = "To undo: {}", clean(command);
    /// A caveat of an answer or a drive.
    pub(crate) fn caveat(sentence: &str) = "Caveat: {}", clean(sentence);
    /// How many items a screen leaves out: `… 12 more rows`.
    pub(crate) fn more(count: usize, one: &str, several: &str) = "… {}", more_of(count, one, several);
    /// What a terminal leaves out.
    fn left_out(what: &str) = "… and {what}: --json or --html has all of them";
    /// Points that no axis can show.
    pub(crate) fn points_beyond(count: usize) = "points beyond 10³⁰ left out: {count}";
}

/// What two equal actions share: the command, or the id if there is no command.
pub(crate) fn action_key(action: &Action) -> &str {
    action.command.as_deref().unwrap_or(&action.id)
}

/// What an action loses.
pub(crate) fn loss(loss: Loss) -> &'static str {
    match loss {
        Loss::Nothing => "nothing lost",
        Loss::DeletedFiles => "deleted files cannot be recovered",
        Loss::Everything => "ERASES everything",
    }
}

/// A time in whole seconds, minutes or hours, as exact as an estimate deserves.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "1 s".into(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 120.0 * 60.0 => format!("{:.0} min", s / 60.0),
        s if s < 48.0 * 3600.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// What a run cost: bytes written and time. `None` if it wrote nothing and took no time.
pub(crate) fn cost(document: &Document) -> Option<String> {
    cost_with_clock(document, ", simulated")
}

/// The cost of a run, with a suffix for the time of a virtual clock.
fn cost_with_clock(document: &Document, is_virtual: &str) -> Option<String> {
    let elapsed = Nanos(document.elapsed_ns);
    let clock = match document.instrument.clock {
        Clock::Wall => "",
        Clock::Virtual => is_virtual,
    };
    match (document.bytes_written, document.elapsed_ns) {
        (0, 0) => None,
        (0, _) => Some(format!("wrote nothing, took {elapsed}{clock}")),
        (bytes, 0) => Some(format!("wrote {}", Size(bytes))),
        (bytes, _) => Some(format!("wrote {} in {elapsed}{clock}", Size(bytes))),
    }
}

/// The title above the summaries of compared runs.
pub(crate) const EACH_BY_ITSELF: &str = "Each run by itself";

/// Precedes the command that shows the rest.
pub(crate) const DETAILS: &str = "Details:";

/// The last line of a screen.
pub(crate) fn last_line(details_command: Option<&str>, cost: Option<&str>) -> Option<String> {
    match (details_command, cost) {
        (Some(command), Some(cost)) => Some(format!("{DETAILS} {command}   ({cost})")),
        (Some(command), None) => Some(format!("{DETAILS} {command}")),
        (None, Some(cost)) => Some(format!("({cost})")),
        (None, None) => None,
    }
}

fn more_of(count: usize, one: &str, several: &str) -> String {
    format!("{count} more {}", if count == 1 { one } else { several })
}

/// Lines that a chart leaves out.
pub(crate) fn lines_left_out(lines: usize) -> String {
    left_out(&more_of(lines, "line", "lines"))
}

/// How many rows and columns a table or heat map leaves out; at least one.
pub(crate) fn cells_left_out(rows: usize, columns: usize) -> String {
    let (more_rows, more_columns) = (more_of(rows, "row", "rows"), more_of(columns, "column", "columns"));
    match (rows, columns) {
        (_, 0) => left_out(&more_rows),
        (0, _) => left_out(&more_columns),
        _ => left_out(&format!("{more_rows} and {more_columns}")),
    }
}

/// For a table without rows.
pub(crate) const NO_ROWS: &str = "no rows";
/// For a chart without points.
pub(crate) const NOTHING_TO_DRAW: &str = "nothing to draw";
/// For a chart whose intervals are only on the HTML page.
pub(crate) const INTERVALS_ELSEWHERE: &str = "The intervals around the lines: --json or --html has them.";
/// For charts on a page without scripts.
pub(crate) const PICTURES_NEED_SCRIPTS: &str = "Charts need a browser with JavaScript enabled.";

/// Target, program, and the limits of the measurement, in sentences.
pub(crate) fn run_details(document: &Document, started_at: Option<&str>) -> Vec<String> {
    let mut sentences = vec![target(document), run(document, started_at)];
    sentences.extend(document.target.accounting.as_ref().map(device_counters));
    sentences.extend(added_latency(document));
    sentences.extend(document.target.caveats.iter().map(|sentence| caveat(sentence)));
    sentences.iter().map(|sentence| clean(sentence)).collect()
}

fn target(document: &Document) -> String {
    let target = &document.target;
    let kind = match target.kind {
        TargetKind::Folder => "free space of a folder",
        TargetKind::File => "file",
        TargetKind::Device => "block device",
        TargetKind::Simulated => "simulated drive",
        TargetKind::Nop => "no drive at all",
    };
    let what = match &target.model {
        Some(model) => format!("{model}, {kind}"),
        None => kind.to_owned(),
    };
    let facts: String = target.facts.iter().map(|(name, value)| format!("; {name}: {value}")).collect();
    let block = Size(target.block_bytes.into());
    // The capacity may be unknown if another program measured.
    let space = match target.capacity_bytes {
        0 => String::new(),
        bytes => format!(", {} in blocks of {block}", Size(bytes)),
    };
    format!("Target {}: {what}{space}{facts}.", target.name)
}

/// A place on an axis: `file 26`, or `407 MiB written`.
pub(crate) fn place(axis: &str, value: &str) -> String {
    if axis == "written" { format!("{value} {axis}") } else { format!("{axis} {value}") }
}

/// Date and minute: `2026-03-14 15:09` of `2026-03-14T15:09:26.535Z`.
pub(crate) fn minute(started_at: &str) -> Option<String> {
    Some(started_at.get(..16)?.replace('T', " "))
}

fn run(document: &Document, started_at: Option<&str>) -> String {
    let cost =
        cost_with_clock(document, " of simulated time").map_or_else(String::new, |cost| format!("; {cost}"));
    let on = started_at.and_then(minute).map_or_else(String::new, |minute| format!(" on {minute} UTC"));
    let system = document.instrument.system.as_ref().map_or_else(String::new, |system| format!(", {system}"));
    format!(
        "Run: {} of likenew {}{on}{system}, engine {}, seed {}{cost}.",
        document.procedure, document.instrument.version, document.target.engine, document.plan.seed,
    )
}

fn added_latency(document: &Document) -> Option<String> {
    let AddedLatency { call_ns, wake_ns_p50, wake_ns_p99 } = document.instrument.calibration?.added_latency?;
    Some(format!(
        "Measurement overhead: each latency includes {} of system calls and {} of wake-up time (p99 {}).",
        Nanos(call_ns),
        Nanos(wake_ns_p50),
        Nanos(wake_ns_p99)
    ))
}

fn device_counters(counters: &FlashCounters) -> String {
    let host = Size(counters.host_bytes_written);
    let medium = Size(counters.flash_bytes_programmed);
    let amplification = digits(counters.write_amplification);
    if !counters.has_flash() {
        if counters.write_amplification == 1.0 {
            return format!("Device counters, this run: {host} written by the host, {medium} to the medium.");
        }
        return format!(
            "Device counters, this run: {host} written by the host, {medium} to the medium (write amplification \
             {amplification})."
        );
    }
    let run = format!(
        "Device counters, this run: {host} written by the host, {medium} programmed to flash (write amplification \
         {amplification}), {} erases, {} free blocks.",
        Number(counters.erases as f64),
        Number(counters.free_blocks as f64),
    );
    let Some(wear) = counters.wear.filter(|wear| wear.erases_max > 0) else { return run };
    let (min, max, mean) = (wear.erases_min, wear.erases_max, digits(wear.erases_mean));
    match wear.bad_blocks {
        0 => format!("{run} Lifetime erases per block: {min} to {max}, {mean} on average."),
        bad => {
            format!("{run} Lifetime erases per block: {min} to {max}, {mean} on average; {bad} bad blocks.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_say_what_they_cost() {
        let rewrite = Action::new("rewrite", "Restore it step by step")
            .command("likenew recondition /dev/sdb")
            .time(Nanos::from_secs(5400))
            .bytes_written(150_000_000_000);
        assert_eq!(
            action(&rewrite),
            "Restore it step by step · nothing lost · about 90 min · 140 GiB written"
        );
        let overwrite = Action::new("overwrite", "Overwrite the whole drive").loses(Loss::Everything);
        assert_eq!(action(&overwrite), "Overwrite the whole drive · ERASES everything");
        let cool = Action::new("cool", "Give the drive more air");
        assert_eq!(action(&cool), "Give the drive more air");
    }

    #[test]
    fn times_are_as_exact_as_estimates_deserve() {
        let spelled = [0.2, 47.3, 89.0, 90.0, 1500.0, 5400.0, 7300.0, 200_000.0].map(duration);
        assert_eq!(spelled, ["1 s", "47 s", "89 s", "2 min", "25 min", "90 min", "2 h", "2 days"]);
    }

    #[test]
    fn the_last_line_says_where_the_rest_is() {
        assert_eq!(
            last_line(Some("likenew report --details"), Some("wrote 233 MiB in 47 s")).unwrap(),
            "Details: likenew report --details   (wrote 233 MiB in 47 s)"
        );
        assert_eq!(last_line(None, None), None);
    }

    #[test]
    fn an_interval_is_said_where_it_adds_something() {
        let line = |text: &str, value, low, high, unit| {
            interval(&Answer::info("id", "Question", text).estimate(value, low, high, unit))
        };
        let rate = line("77.2 MB/s, steady", 77.2e6, 76.4e6, 77.9e6, "bytes/s");
        assert_eq!(rate.as_deref(), Some("Interval: 76.4–77.9 MB/s"));
        let steady = line("steady", 77.2e6, 76.4e6, 77.9e6, "bytes/s");
        assert_eq!(steady.as_deref(), Some("Estimate: 77.2 MB/s (76.4–77.9)"));
        let slower = line("39.3 → 33.8 MB/s, 14% slower", 14.0, 9.7, 15.0, "%");
        assert_eq!(slower.as_deref(), Some("Interval: 9.7–15.0%"));
        let open = line("steady", 77.2e6, 76.4e6, f64::INFINITY, "bytes/s");
        assert_eq!(open.as_deref(), Some("Interval: at least 76.4 MB/s"));
        assert_eq!(line("steady", 77.2e6, f64::NAN, f64::INFINITY, "bytes/s"), None, "nothing bounds it");
        assert_eq!(line("steady", f64::INFINITY, 1.0, 2.0, "bytes/s"), None, "that is no number");
        assert_eq!(line("unchanged", -0.1, -0.9, 0.7, "%"), None, "a percentage of what?");
        assert_eq!(line("QD1", 1.0, 1.0, 8.0, "1"), None, "a count of what?");
        assert_eq!(line("8 MiB (7.82–8.20)", 8388608.0, 8.2e6, 8.6e6, "bytes"), None, "it is said");
        assert_eq!(line("26% of new", 26.0, 26.0, 26.0, "%"), None, "no interval");
    }

    #[test]
    fn what_a_summary_says_is_known() {
        let answer = |question: &str, text: &str| Answer::info("id", question, text);
        let summary =
            "I/O errors: the drive failed 3 I/Os. Your files compress to 99% of their size: 181 MB/s.";
        assert!(is_said_in(summary, &answer("I/O errors", "the drive failed 3 I/Os")));
        assert!(is_said_in(summary, &answer("Your files", "compress to 99% (98–99.5) of their size")));
        assert!(!is_said_in(summary, &answer("I/O errors", "the drive failed 4 I/Os")));
        assert!(!is_said_in(summary, &answer("Sequential write", "181 MB/s")), "too short to know");
    }
}
