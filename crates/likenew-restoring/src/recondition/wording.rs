//! Every sentence of a recondition.

use likenew_core::findings::{Action, Answer, Loss, OverviewTable, Standing};
use likenew_core::fix::{ActionKind, FixReport, ManualStep, ReadBackCounts, SkippedRange};
use likenew_core::quantity::{Factor, Rate, Share, Size, count, range, with_range};
use likenew_core::units::{Nanos, Number};
use likenew_diagnosis::FoundCause;
use likenew_procedure_support::wording::{capitalize, list, lowercase_first, number_of};

use super::comparison::{Change, Effect, Measure};
use super::step_name::StepName;
use crate::site::overview_table;

// What it is for, and what it writes

pub(super) const QUESTION: &str = "What restores it, gentlest first, and does that help?";
pub(super) const WRITES: &str = "writes what a check writes, twice; then, only if the diagnosis calls for it, rewrites old data or overwrites free space; erases only if you name such a step";

// The result

/// The result of all steps together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Restoration {
    /// Every measure reached its goal.
    Restored,
    /// Every measure is healthy again, and at least one is below what counts as new.
    MostlyRestored,
    /// Some measure became faster, and its goal is unknown.
    Faster,
    /// Some measure became faster without reaching its goal.
    PartlyRestored,
    /// Nothing became faster.
    NotRestored,
    /// Nothing became faster, on a drive that was not slow.
    NoChange,
    /// The change is too uncertain to call.
    Undecided,
    /// It is faster, but not clearly because of the steps.
    Unattributed,
}

/// The result of all steps, by their most telling change and total loss. `why` says why they did not help, if that is known.
pub(super) fn result(
    result: Restoration,
    change: &Change,
    why: Option<&str>,
    loses: Loss,
) -> (String, Answer) {
    let (heading, standing) = match result {
        Restoration::Restored => ("Restored", Standing::Good),
        Restoration::MostlyRestored => ("Mostly restored", Standing::Good),
        Restoration::Faster => ("Faster", Standing::Good),
        Restoration::PartlyRestored => ("Partly restored", Standing::Info),
        Restoration::NotRestored => ("Not restored", Standing::Info),
        Restoration::NoChange => ("No change", Standing::Info),
        Restoration::Unattributed => (NOT_CLEARLY_BY_THIS, Standing::Unknown),
        Restoration::Undecided => (TOO_UNCERTAIN, Standing::Unknown),
    };
    let answer = match standing {
        Standing::Unknown => Answer::unknown(RESULT, "Effect", format!("{}; {heading}", full_change(change))),
        _ => Answer::new(RESULT, heading, full_change(change), standing),
    };
    let why = why.map_or_else(String::new, |why| format!("{why} "));
    let summary = format!("{}: {}. {why}{}", capitalize(heading), short_change(change), lost(loses));
    (summary, with_ratio(answer, change))
}

/// Reads are faster as well, or the check before met other programs.
const NOT_CLEARLY_BY_THIS: &str = "faster now, but not clearly because of this";
const TOO_UNCERTAIN: &str = "too uncertain to call";

fn with_ratio(answer: Answer, change: &Change) -> Answer {
    let ratio = change.ratio();
    answer.estimate(ratio.value, ratio.low, ratio.high, "×")
}

/// Share of a goal, as a ratio, from which a drive counts as restored and not only mostly restored. The same
/// as for "as fast as new" in a check.
const AS_NEW: f64 = 0.95;

/// Whether it is as fast as its goal, or its goal is unknown.
pub(super) fn is_as_new(change: &Change) -> bool {
    change.reference.is_none_or(|goal| change.after.value >= AS_NEW * goal.value)
}

/// Why a step did not help: `cause`, a clause, is nothing that it fixes.
pub(super) fn wrong_step(step: StepName, cause: &str) -> String {
    format!("{} does not fix the cause: {cause}.", noun(step))
}

/// A measure as a row of a table.
pub(super) fn measure(measure: Measure) -> &'static str {
    match measure {
        Measure::Metric(metric) => metric.words(),
        Measure::OldData => "sequential read of old data",
        Measure::Rewriting => "rewriting in place",
    }
}

/// A measure as the subject of a sentence.
fn plural(measure: Measure) -> &'static str {
    match measure {
        Measure::Metric(metric) => metric.plural(),
        Measure::OldData => "sequential reads of old data",
        Measure::Rewriting => "sustained writes in place",
    }
}

/// `sustained writes 19.8 → 75.2 MB/s (3.80×), 97% of new`; without a share of a goal that says nothing about the drive.
fn short_change(change: &Change) -> String {
    let (from_to, ratio) = (from_to(change), Factor(change.ratio().value));
    match &change.reference {
        Some(goal) if !change.surpasses_goal() => {
            format!("{from_to} ({ratio}), {} of {}", Share(change.after.value / goal.value), goal.words)
        }
        _ => format!("{from_to} ({ratio})"),
    }
}

/// Like `short_change`, with the interval of the ratio.
fn full_change(change: &Change) -> String {
    let ratio = change.ratio();
    let ratio = with_range(Factor(ratio.value), Factor(ratio.low), Factor(ratio.high));
    format!("{}, {ratio}", from_to(change))
}

fn from_to(change: &Change) -> String {
    let (measure, before, after) = (change.measure, change.before.value, change.after.value);
    let (before, after) = (measure.format_value(before), measure.format_value(after));
    let unit = |text: &str| text.split_once(' ').map(|(_, unit)| unit.to_owned());
    let before = match (unit(&before), unit(&after)) {
        (Some(before_unit), Some(after_unit)) if before_unit == after_unit => {
            before.trim_end_matches(&before_unit).trim_end().to_owned()
        }
        _ => before,
    };
    format!("{} {before} → {after}", plural(measure))
}

fn lost(loses: Loss) -> &'static str {
    match loses {
        Loss::Nothing => "Nothing was lost.",
        Loss::DeletedFiles => "No file was lost; deleted files can no longer be recovered.",
        Loss::Everything => "Everything on it was erased.",
    }
}

/// A named step is not possible. That is a problem if the check found one, which the step then does not
/// solve. `written` is what the check wrote.
pub(super) fn step_not_possible(
    step: StepName,
    reason: &str,
    written: u64,
    fixes: Option<Vec<Action>>,
) -> (String, Answer) {
    let changed = match written {
        0 => "Nothing was changed.".to_owned(),
        bytes => format!("Nothing was changed (the check wrote {}).", Size(bytes)),
    };
    let summary = format!("{} is not possible: {reason}. {changed}", noun(step));
    let answer = format!("not possible: {reason}");
    let answer = match fixes {
        Some(actions) => Answer { actions, ..Answer::problem(RESULT, noun(step), answer) },
        None => Answer::info(RESULT, noun(step), answer),
    };
    (summary, answer)
}

/// The run was stopped before a named step that is possible.
pub(super) fn stopped_before(step: StepName) -> (String, Answer) {
    (
        format!("The run was stopped before {}.", lowercase_first(noun(step))),
        Answer::unknown(RESULT, noun(step), "not run; the run was stopped before"),
    )
}

pub(super) fn replace_drive() -> Action {
    Action::new("copy_and_replace", "Back up now, then replace the drive")
}

headlines! {
    (RESULT, "Effect") => {
        pub(super) fn not_begun() = unknown("Nothing was measured or done yet.", "not measured yet");
        pub(super) fn not_measured_again() = unknown(
            "The step was run, but nothing was measured after it yet.", "not measured after the step yet");
    }
    (RESULT, "Result") => {
        pub(super) fn only_lossy() = problem(
            "Not restored: only steps that erase the drive can help.",
            "not restored; only steps that erase the drive can help");
        /// `reason` says why data cannot be rewritten in place.
        pub(super) fn only_lossy_because(reason: &str) = problem(
            "Not restored: only steps that erase the drive can help. It is not rewritten: {reason}.",
            "not restored; only steps that erase the drive can help, as {reason}");
        /// Every step that helps writes the whole drive, which has used up its endurance.
        pub(super) fn worn_out(used: Share) = problem(
            "Not rewritten: the drive has used up its rated endurance ({used}). Replace it.",
            "not rewritten; the drive has used up its rated endurance ({used})");
        /// No step can help, only the user. `cause` is a clause, as in the others.
        pub(super) fn only_by_hand(cause: &str) = problem(
            "No step can restore it: {cause}.", "not restored; no step changes this: {cause}");
        /// The named step found nothing to do, and others can help.
        pub(super) fn other_step(named: &str, cause: &str) = problem(
            "Not restored by {named}; another step can help: {cause}.",
            "not restored by {named}; another step can help against this: {cause}");
        pub(super) fn no_remedy(cause: &str) = problem(
            "No step helps against this cause: {cause}.", "not restored; no step helps against this: {cause}");
        /// I/Os fail; they have an answer of their own.
        pub(super) fn drive_fails() = unknown(
            "Nothing was done: each step would load a failing drive further.",
            "nothing was done; the drive failed I/Os");
        pub(super) fn as_new() = good(
            "Nothing to restore: the drive is as fast as it should be.",
            "nothing to restore; the drive is as fast as it should be");
        /// No goal is known, and addresses are not faster when written again. `rate` is that of sustained writes.
        pub(super) fn no_gain(rate: Rate) = info(
            "Nothing to restore was found: places written again are as fast as at first ({rate}). No reference \
             says how fast it should be.",
            "nothing to restore was found; places written again are as fast as at first ({rate})");
        /// Like `no_gain`, if something else is odd.
        pub(super) fn cause_unknown_without_gain(rate: Rate) = unknown(
            "Nothing was done: places written again are as fast as at first ({rate}), and the cause of what is \
             odd is unknown.",
            "nothing was done; places written again are as fast as at first ({rate})");
        /// No goal is known, and writing again was unclear or not measured.
        pub(super) fn no_comparison() = unknown(
            "Nothing was done: neither a reference nor writing places again shows how fast it should be.",
            "nothing was done; neither a reference nor writing places again shows how fast it should be");
        pub(super) fn cause_unknown() = unknown(
            "Nothing was done: the cause is unknown.", "nothing was done; the cause is unknown");
    }
}

/// `blocked` has each step that would help, as an imperative, and what prevents it for now.
pub(super) fn not_now(blocked: &[(&str, &str)]) -> (String, Answer) {
    let answer =
        Answer::problem(RESULT, "Result", "not restored; the steps that would help are not possible now");
    let answer = blocked.iter().fold(answer, |answer, (why, reason)| {
        answer.with_evidence(format!("{why} would help, but not now: {reason}."))
    });
    let (why, reason) = blocked[0];
    (format!("Nothing was done: {} would help, but not now ({reason}).", lowercase_first(why)), answer)
}

// Dry run

pub(super) fn plan(steps: &[StepName]) -> (String, Answer) {
    if steps.is_empty() {
        return ("No step is possible here.".into(), Answer::info(PLAN, "Possible steps", "none"));
    }
    let names: Vec<&str> = steps.iter().map(|step| step.text()).collect();
    let answer = Answer::info(PLAN, "Possible steps", names.join(", ")).with_evidence(
        "The drive is checked first. Of the steps that can help against what is found, the gentlest runs; \
         steps that erase run only if named with --step.",
    );
    let names_if = |erases: bool| -> Vec<&str> {
        let chosen = steps.iter().filter(|step| step.destroys() == erases);
        chosen.map(|step| step.text()).collect()
    };
    let possible = match (names_if(false), names_if(true)) {
        (kept, erasing) if erasing.is_empty() => format!("{} (no file lost)", list(&kept)),
        (kept, erasing) if kept.is_empty() => format!("only {} (ERASE everything)", list(&erasing)),
        (kept, erasing) => format!("{} (no file lost); {} (ERASE everything)", list(&kept), list(&erasing)),
    };
    (format!("Possible here: {possible}. Nothing was done."), answer)
}

/// A step of a dry run. `cost` is what it costs besides bytes, `wear_percent` the share of the rated endurance that it uses, and
/// `time` how long a new drive of its class writes.
pub(super) fn explained(
    step: StepName,
    possible: &str,
    cost: &str,
    wear_percent: Option<f64>,
    time: Option<Nanos>,
) -> Answer {
    let answer = Answer::info(step_id(step), noun(step), possible)
        .with_evidence(format!("{}.", capitalize(instruction(step))))
        .with_evidence(format!("It costs {cost}."));
    let time = time.map(|time| format!("A new drive of its class writes that in {time} at best."));
    let wear =
        wear_percent.map(|percent| format!("It uses {} of the rated endurance.", Share(percent / 100.0)));
    let answer = time.into_iter().chain(wear).fold(answer, Answer::with_evidence);
    let lost = format!("Data lost: {}.", destroys(step));
    answer.with_evidence(lost).with_evidence(proof(step)).with_evidence(undo(step))
}

/// How a step is shown to have worked.
fn proof(step: StepName) -> &'static str {
    match step {
        StepName::Trim | StepName::DiscardUnused | StepName::Discard => {
            "Proof: the kernel's count of discards, sampled blocks that read back empty, and writes in the checks before and after."
        }
        StepName::Refresh => {
            "Proof: what was slow is read again, and the checks before and after compare old data with new."
        }
        StepName::Overwrite | StepName::Rewrite | StepName::OverwriteAll => {
            "Proof: the speed of each pass, and writes in the checks before and after."
        }
        StepName::Format => "Proof: sampled blocks that read back empty, and the checks before and after.",
    }
}

fn undo(step: StepName) -> &'static str {
    match step.loses() {
        Loss::Nothing => "Nothing has to be undone: all data stays as it is.",
        Loss::DeletedFiles | Loss::Everything => "It cannot be undone.",
    }
}

/// A step that the drive supports and that has to be run by hand.
pub(super) fn manual_step(step: &ManualStep) -> Answer {
    let name = match step.action {
        ActionKind::AtaSecureErase => "ATA secure erase",
        ActionKind::AtaSanitize => "ATA sanitize",
        ActionKind::NvmeSanitize => "NVMe sanitize",
        _ => "An erase command of its own",
    };
    let answer = Answer::info(MANUAL, name, "supported by the drive; never run by Likenew, only by hand");
    step.lines.iter().fold(answer, Answer::with_evidence)
}

// Steps

/// A step that changed the drive, measured before and after.
pub(super) fn step_measured(
    step: StepName,
    effect: Effect,
    change: &Change,
    slower: Option<&Change>,
) -> Answer {
    let measured = full_change(change);
    let restored = change.is_restored() == Some(true);
    let (standing, text) = match (effect, slower) {
        (Effect::Yes, _) if restored && is_as_new(change) => (Standing::Good, format!("restored {measured}")),
        (Effect::Yes, _) if restored => (Standing::Good, format!("mostly restored {measured}")),
        (Effect::Yes, _) => (Standing::Good, format!("helped: {measured}")),
        (Effect::No, _) => (Standing::Info, format!("did not help: {measured}")),
        (Effect::Undecided, Some(slower)) => {
            (Standing::Unknown, format!("no clear effect: {measured}; {}", full_change(slower)))
        }
        (Effect::Unattributed, _) => (Standing::Unknown, format!("{measured}; {NOT_CLEARLY_BY_THIS}")),
        (Effect::Undecided, None) => (Standing::Unknown, format!("{measured}; {TOO_UNCERTAIN}")),
    };
    with_ratio(Answer::new(step_id(step), noun(step), text, standing), change)
}

pub(super) fn step_not_measured(step: StepName) -> Answer {
    Answer::unknown(step_id(step), noun(step), "done; not measured yet")
}

/// A step that was refused.
pub(super) fn step_refused(step: StepName, reason: &str) -> Answer {
    Answer::unknown(step_id(step), noun(step), format!("not possible: {reason}"))
}

/// A step that the drive or the journal ended. `reason` says what failed and what becomes of the journal.
pub(super) fn step_failed(step: StepName, reason: &str) -> (String, Answer) {
    let name = noun(step);
    let answer = Answer::problem(RESULT, "Result", format!("{} failed: {reason}", lowercase_first(name)));
    (format!("{name} failed: {reason}."), answer)
}

/// A failed step in a table.
pub(super) const FAILED: &str = "failed";

/// A step that found nothing to do.
pub(super) fn step_idle(step: StepName) -> Answer {
    Answer::info(step_id(step), noun(step), NOTHING_TO_DO)
}

pub(super) const NOTHING_TO_DO: &str = "nothing to do";

likenew_core::sentences! {
    /// A step that found nothing to do and left something as it is.
    pub(super) fn nothing_done(left: &SkippedRange) =
        "nothing done; {} left as it is: {}", Size(left.bytes), left.reason;
    pub(super) fn step_id(step: StepName) = "step_{}", step.text().replace('-', "_");
    pub(super) fn speed_along_pass(first: f64, last: f64) =
        "Along the first pass, writing went from {} to {}.", Rate(first), Rate(last);
    pub(super) fn nothing_rewritten(elapsed: Nanos) = "Nothing was rewritten; the search took {elapsed}.";
    pub(super) fn trimmed(bytes: u64, elapsed: Nanos) = "TRIM was sent for {} in {elapsed}.", Size(bytes);
    pub(super) fn formatted(elapsed: Nanos) = "The drive formatted itself in {elapsed}.";
    pub(super) fn counted(discarded: u64, device: &str) =
        "The kernel counted {} of discards at {device}.", Size(discarded);
    pub(super) fn warning(reason: &str) = "{}.", capitalize(reason);
    pub(super) fn virtual_disk(by: &str, noticeable: f64) =
        "This is a virtual disk ({by}), whose speed varies from run to run; less than {} counts as no \
         change.", Factor(noticeable);
}

pub(super) const NO_SLOW_PLACE: &str = "No data on it is slow enough to be rewritten.";

fn noun(step: StepName) -> &'static str {
    match step {
        StepName::Trim => "TRIM of free space",
        StepName::DiscardUnused => "TRIM of unpartitioned space",
        StepName::Refresh => "Rewriting old data",
        StepName::Overwrite => "Overwriting free space",
        StepName::Rewrite => "Rewriting all data",
        StepName::Discard => "Erasing with TRIM",
        StepName::OverwriteAll => "Overwriting everything",
        StepName::Format => "Format by the drive",
    }
}

/// A step as an instruction.
pub(super) fn instruction(step: StepName) -> &'static str {
    match step {
        StepName::Trim => "send TRIM for all free space",
        StepName::DiscardUnused => "send TRIM for unpartitioned space",
        StepName::Refresh => "rewrite slow old data in place",
        StepName::Overwrite => "overwrite free space until another pass changes nothing",
        StepName::Rewrite => "rewrite all data in place, in address order",
        StepName::Discard => "erase everything with TRIM",
        StepName::OverwriteAll => "overwrite everything until another pass changes nothing",
        StepName::Format => "have the drive format itself",
    }
}

/// What a step loses, on a screen.
pub(super) fn destroys(step: StepName) -> String {
    step.data_lost().replace('_', " ")
}

/// `Sustained writes: 17% → 99.6% of new.`; `None` for a change that does not show.
pub(super) fn goal_reached(change: &Change) -> Option<String> {
    let goal = change.reference.as_ref()?;
    let [before, after] =
        [change.before, change.after].map(|measured| Share(measured.value / goal.value).to_string());
    (before != after)
        .then(|| format!("{}: {before} → {after} of {}.", capitalize(plural(change.measure)), goal.words))
}

pub(super) fn passes_written(speeds: &[f64], is_steady: bool) -> String {
    let end =
        if is_steady { "another one would change less than 1%" } else { "no more were allowed (--passes)" };
    passes_until(speeds, end)
}

fn passes_until(speeds: &[f64], end: &str) -> String {
    let rates: Vec<String> = speeds.iter().map(|speed| Rate(*speed).to_string()).collect();
    format!("{} at {}; {end}.", passes(speeds.len()), rates.join(", "))
}

/// Why no more was rewritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RewriteEnd {
    /// It is not at its end yet.
    Unfinished,
    /// All that was slow was rewritten.
    Complete,
    /// Writing did not become faster.
    NoGain,
    /// It was refused, or the drive failed.
    Failed,
}

/// The passes of a rewriting, and why there were no more.
pub(super) fn passes_rewritten(speeds: &[f64], end: RewriteEnd) -> Option<String> {
    let end = match end {
        RewriteEnd::Unfinished => "not finished yet",
        RewriteEnd::Complete => "what was fast already was left as it was",
        RewriteEnd::NoGain => "stopped, because writing became no faster",
        RewriteEnd::Failed => "ended early",
    };
    (!speeds.is_empty()).then(|| passes_until(speeds, end))
}

fn passes(count_of: usize) -> String {
    count(count_of as u64, "pass").replace("passs", "passes")
}

pub(super) fn rewritten(written: u64, elapsed: Nanos, paused: Nanos) -> String {
    match paused {
        Nanos::ZERO => format!("{} was rewritten in {elapsed}.", Size(written)),
        paused => format!(
            "{} was rewritten in {elapsed}, {paused} of which it paused for other programs.",
            Size(written)
        ),
    }
}

/// Result of reading a drive that should be empty.
pub(super) fn read_back(counts: ReadBackCounts) -> String {
    let ReadBackCounts { same, blank, changed, unreadable, empty } = counts;
    let nonempty = same + blank + changed + unreadable;
    if nonempty == 0 {
        return format!("All {} sampled blocks were empty before.", Number(empty as f64));
    }
    let parts = [
        (blank, "hold nothing now"),
        (changed, "hold other data"),
        (same, "still return the old data"),
        (unreadable, "cannot be read"),
    ];
    let is_shown = |(index, (count, _)): &(usize, (u64, &str))| *index == 0 || *count > 0;
    let parts: Vec<String> = parts
        .into_iter()
        .enumerate()
        .filter(is_shown)
        .map(|(_, (count, what))| format!("{} {what}", Number(count as f64)))
        .collect();
    format!("Of {} sampled blocks that had held data, {}.", Number(nonempty as f64), parts.join(", "))
}

/// Reasons for skipped work, each once.
pub(super) fn skips<'a>(fix_reports: impl Iterator<Item = &'a FixReport>) -> Vec<String> {
    let mut total = FixReport::default();
    fix_reports.flat_map(|report| &report.skips).for_each(|left| total.skip(left.bytes, &*left.reason));
    let sentence = |left: SkippedRange| match left.bytes {
        0 => format!("{}.", capitalize(&left.reason)),
        bytes => format!("{} was left as it is: {}.", Size(bytes), left.reason),
    };
    total.skips.into_iter().map(sentence).collect()
}

/// The speed of passes, for the first screen.
pub(super) fn overwritten(passes: usize, last: Option<f64>) -> String {
    let passes = self::passes(passes);
    match last {
        Some(last) => format!("{passes}, the last at {}", Rate(last)),
        None => passes,
    }
}

/// Bytes and speeds of the passes that rewrote in place, for the first screen.
pub(super) fn rewritten_in_passes(passes: &[(u64, f64)]) -> Option<String> {
    match passes {
        [] => None,
        [(bytes, speed)] => Some(format!("{} rewritten once, at {}", Size(*bytes), Rate(*speed))),
        [(once, first), .., (again, last)] => Some(format!(
            "{} rewritten once, {} twice: {} → {}",
            Size(*once),
            Size(*again),
            number_of(Rate(*first)),
            Rate(*last)
        )),
    }
}

// Before and now

/// The headline of the check before, whose problem is no problem of the result.
pub(super) fn before(headline: &Answer) -> Answer {
    Answer::info("before", "Before", one_colon(&headline.answer))
}

pub(super) fn now(headline: Answer) -> Answer {
    let answer = one_colon(&headline.answer);
    Answer { id: "now".into(), question: "Now".into(), answer, ..headline }
}

/// `as fast as new (280 MB/s read)`: brackets replace the colon, because the question before it has one.
fn one_colon(text: &str) -> String {
    match text.split_once(": ") {
        Some((what, how)) => format!("{what} ({how})"),
        None => text.to_owned(),
    }
}

/// Something else that is wrong with the drive, as the check after the steps found it.
pub(super) fn danger(found_cause: &FoundCause) -> Answer {
    let id = format!("{}{}", Answer::CAUSE_PREFIX, found_cause.cause.name);
    Answer::info(id, "Other problem", &found_cause.statement)
}

// Why a step was not run

pub(super) const POSSIBLE: &str = "possible; not run, because this is a dry run";
pub(super) const NOT_CALLED_FOR: &str = "not needed";
pub(super) const GENTLER_FIRST: &str = "possible; not run, because a gentler step comes first";
pub(super) const WORN_OUT: &str = "not run; the drive has used up its rated endurance";

likenew_core::sentences! {
    pub(super) fn other_step_named(named: StepName) =
        "possible; not run, because you asked for --step {}", named.text();
    pub(super) fn possible_if(doubt: &str) = "possible; {doubt}";
    pub(super) fn only_by_name(name: StepName) =
        "not run: it erases everything; to run it, add --step {}", name.text();
    pub(super) fn only_if_asked(doubt: &str, command: &str) = "not run: {doubt}; {command}";
    pub(super) fn owner_must_name_it() = "writing to a device needs --consent";
    pub(super) fn image_would_grow(by: &str) = "on a virtual disk ({by}) its image would grow to full size";
    pub(super) fn host_decides(by: &str) =
        "on a virtual disk ({by}) the host decides where rewritten data lies";
    pub(super) fn hard_disk_gains_nothing() = "a hard disk writes in place; rewriting all data gains nothing";
    pub(super) fn folder_is_full() = "too little is free above the reserve; delete something first";
    pub(super) fn folder_is_read_only() = "the folder cannot be written";
}

pub(super) fn owner_must_agree(bytes: Option<u64>) -> String {
    match bytes {
        Some(bytes) => {
            format!("it needs your consent, as the {} outside of partitions may hold data", Size(bytes))
        }
        None => "it needs your consent, as the space outside of partitions may hold data".into(),
    }
}

// Overview

/// A row of the first screen; `cost` is time and bytes written, for a step that was run.
pub(super) fn step_row(step: StepName, result: String, cost: Option<(Nanos, u64)>) -> [String; 5] {
    let cells = |(time, written): (Nanos, u64)| [time.to_string(), Size(written).to_string(), destroys(step)];
    let [time, written, lost] = cost.map(cells).unwrap_or_default();
    [step.text().to_owned(), result, time, written, lost]
}

pub(super) fn step_table(rows: Vec<[String; 5]>) -> OverviewTable {
    overview_table(["step", "result", "time", "written", "data lost"], rows)
}

/// A step of a dry run. `reason` says whether it is possible, or why not; `least` and `bytes` are the fewest and the most
/// bytes of a step that is possible.
pub(super) fn plan_row(
    step: StepName,
    reason: String,
    least: Option<u64>,
    bytes: Option<u64>,
) -> [String; 4] {
    let written = match (least, bytes) {
        (Some(least), Some(bytes)) => range(Size(least), Size(bytes)),
        (None, Some(0)) => Size(0).to_string(),
        (None, Some(bytes)) => format!("up to {}", Size(bytes)),
        (_, None) => String::new(),
    };
    let possible = match (reason == POSSIBLE, bytes) {
        (true, _) => "yes".to_owned(),
        (false, Some(_)) => reason,
        (false, None) => format!("no: {reason}"),
    };
    [step.text().to_owned(), possible, written, destroys(step)]
}

pub(super) fn plan_table(rows: impl IntoIterator<Item = [String; 4]>) -> OverviewTable {
    overview_table(["step", "possible", "written", "data lost"], rows)
}

pub(super) const PASSES_TITLE: &str = "Speed along each pass";
pub(super) const PASSES_AXIS: &str = "written in this pass";

pub(super) fn pass_name(number: usize) -> String {
    format!("pass {number}")
}

// Settings

likenew_core::sentences! {
    pub(super) fn no_upgrade() = "check.upgrade: belongs to likenew check, not to recondition";
    pub(super) fn rate_too_low(least: u64) = "rate: at least {} a second", Size(least);
}

pub(super) const RESULT: &str = "result";
pub(super) const PLAN: &str = "plan";
pub(super) const MANUAL: &str = "manual_step";

#[cfg(test)]
mod tests {
    use likenew_core::findings::Standing;
    use likenew_diagnosis::{Measured, Metric};

    use super::super::comparison::{Goal, Measure};
    use super::*;

    fn change() -> Change {
        Change {
            measure: Measure::Metric(Metric::SustainedWrite),
            before: Measured::with_interval(19.8e6, 0.0),
            after: Measured::new(75.2e6, 73.0e6, 77.0e6),
            reference: Some(Goal { value: 77.5e6, least: 0.9, words: "new" }),
        }
    }

    #[test]
    fn a_restored_drive_is_shown_with_one_number() {
        let (summary, answer) = result(Restoration::Restored, &change(), None, Loss::Nothing);
        assert_eq!(
            summary,
            "Restored: sustained writes 19.8 → 75.2 MB/s (3.80×), 97% of new. Nothing was lost."
        );
        assert_eq!(answer.answer, "sustained writes 19.8 → 75.2 MB/s, 3.80× (3.69–3.91)");
        let step = step_measured(StepName::Overwrite, Effect::Yes, &change(), None);
        assert_eq!(step.answer, "restored sustained writes 19.8 → 75.2 MB/s, 3.80× (3.69–3.91)");
        assert_eq!(goal_reached(&change()).unwrap(), "Sustained writes: 26% → 97% of new.");
        let same = Change { before: change().after, ..change() };
        assert_eq!(goal_reached(&same), None);
    }

    #[test]
    fn below_what_counts_as_new_it_is_mostly_restored() {
        let after = Measured::new(66.7e6, 66e6, 67e6);
        let reference = Some(Goal { value: 77.5e6, least: 0.7, words: "new" });
        let partly = Change { after, reference, ..change() };
        assert!(is_as_new(&change()) && !is_as_new(&partly));
        let (summary, _) = result(Restoration::MostlyRestored, &partly, None, Loss::Nothing);
        assert_eq!(
            summary,
            "Mostly restored: sustained writes 19.8 → 66.7 MB/s (3.37×), 86% of new. Nothing was lost."
        );
        let step = step_measured(StepName::Overwrite, Effect::Yes, &partly, None);
        assert!(step.answer.starts_with("mostly restored sustained writes"), "{}", step.answer);
    }

    #[test]
    fn what_something_else_may_have_done_is_not_called_uncertain() {
        let (summary, answer) = result(Restoration::Unattributed, &change(), None, Loss::Nothing);
        let step = step_measured(StepName::Trim, Effect::Unattributed, &change(), None);
        for text in [summary.to_lowercase(), answer.answer, step.answer] {
            assert!(text.contains(NOT_CLEARLY_BY_THIS) && !text.contains("uncertain"), "{text}");
        }
    }

    #[test]
    fn a_step_that_is_not_possible_says_what_was_written() {
        let refused = |written, fixes| step_not_possible(StepName::Trim, "no TRIM", written, fixes);
        let (summary, answer) = refused(504 << 20, Some(Vec::new()));
        assert_eq!(
            summary,
            "TRIM of free space is not possible: no TRIM. Nothing was changed (the check wrote 504 MiB)."
        );
        assert_eq!(answer.standing, Standing::Problem);
        let (summary, answer) = refused(0, None);
        assert_eq!(summary, "TRIM of free space is not possible: no TRIM. Nothing was changed.");
        assert_eq!(answer.standing, Standing::Info);
    }

    #[test]
    fn what_was_rewritten_twice_is_said_in_bytes() {
        assert_eq!(
            rewritten_in_passes(&[(1 << 30, 28.3e6), (256 << 20, 66.5e6)]).unwrap(),
            "1 GiB rewritten once, 256 MiB twice: 28.3 → 66.5 MB/s"
        );
        assert_eq!(rewritten_in_passes(&[(1 << 30, 28.3e6)]).unwrap(), "1 GiB rewritten once, at 28.3 MB/s");
    }

    #[test]
    fn what_was_done_is_shown_in_sentences() {
        assert_eq!(
            passes_written(&[39.5e6, 75.2e6], true),
            "2 passes at 39.5 MB/s, 75.2 MB/s; another one would change less than 1%."
        );
        assert_eq!(passes_written(&[39.5e6], false), "1 pass at 39.5 MB/s; no more were allowed (--passes).");
        let counts = ReadBackCounts { blank: 1000, same: 2, ..ReadBackCounts::default() };
        assert_eq!(
            read_back(counts),
            "Of 1,002 sampled blocks that had held data, 1,000 hold nothing now, 2 still return the old data."
        );
        assert_eq!(
            only_by_name(StepName::Discard),
            "not run: it erases everything; to run it, add --step discard"
        );
    }

    #[test]
    fn each_reason_for_leaving_something_is_reported_once() {
        let left = |bytes, reason: &str| SkippedRange { bytes, reason: reason.to_owned() };
        let first = FixReport { skips: vec![left(1024, "they are zeros")], ..FixReport::default() };
        let second = FixReport {
            skips: vec![left(7, "it is in use"), left(1024, "they are zeros"), left(0, "look at it")],
            ..FixReport::default()
        };
        let text = [
            "2 KiB was left as it is: they are zeros.",
            "7 B was left as it is: it is in use.",
            "Look at it.",
        ];
        assert_eq!(skips([&first, &second].into_iter()), text);
    }
}
