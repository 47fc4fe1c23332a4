//! Every sentence of the command line itself: announcements, questions, refusals and errors.
//!
//! An error says what happened, to what, and what to do, in one to three lines. Procedures and other crates
//! have their own sentences.

pub(crate) mod help;
pub(crate) mod history;
pub(crate) mod manual;
pub(crate) mod refresh;
pub(crate) mod sim;

use std::fmt::Display;
use std::path::Path;

use likenew_core::input::nearest;
use likenew_core::quantity::{Factor, Offset, Rate, Share, Size, count};
use likenew_core::shell::shell_quote;
use likenew_core::target_error::system_reason;
use likenew_core::units::{Nanos, Number};
use likenew_run::forecast::Certainty;
use likenew_trace::Survey;

use crate::progress_event::RunEstimate;

/// The name that errors begin with.
const NAME: &str = "likenew";

// ---- errors in general ----

likenew_core::sentences! {
    pub(crate) fn error(text: impl Display) = "{NAME}: {text}";
    pub(crate) fn refusal(text: impl Display) = "{NAME}: refused for safety: {text}";
    pub(crate) fn could_not_read(what: impl Display, error: impl Display) = "could not read {what}: {error}";
    pub(crate) fn option_takes_a_whole_number(option: &str, typed: &str) =
        "{option} takes a whole number, not \"{typed}\"";
    pub(crate) fn option_too_large(option: &str, typed: &str) = "{option} {typed} is too large";
    pub(crate) fn could_not_read_check_spelling(what: impl Display, error: impl Display) =
        "could not read {what}: {error}; check the spelling";
    pub(crate) fn could_not_write(path: &Path) = "could not write {}", path.display();
    pub(crate) fn no_folder_for(path: &Path, folder: &Path) =
        "cannot write {}: the folder {} does not exist", path.display(), folder.display();
    pub(crate) fn folder_instead_of_file(path: &Path) =
        "cannot write {}: it is a folder; give the name of a file", path.display();
    pub(crate) fn not_a_path(text: impl Display, error: impl Display) = "\"{text}\" is not a path: {error}";
    pub(crate) fn unremoved_files(path: &Path, reason: impl Display) =
        "{} could not be removed: {reason}. It holds only temporary files of likenew: delete it, or run \
         likenew there again.", path.display();
}

/// `names` are all values that the option takes, if they are few.
pub(crate) fn nothing_typed(option: &str, names: &[String]) -> String {
    match names {
        [] => format!("nothing was typed for {option}"),
        names => format!("nothing was typed for {option}; use {}", names.join(", ")),
    }
}

pub(crate) const NO_PICTURE: &str = "a picture is a .svg or a .png";
pub(crate) const NO_PNG_IN_BUILD: &str = "this build draws no PNG; name a .svg";
pub(crate) const NO_FONTS: &str =
    "this machine has no fonts for a PNG: install one, such as fonts-dejavu-core, or name a .svg";

pub(crate) fn no_regular_file(path: &Path, is_device: bool) -> String {
    let kind = if is_device { "it is a device" } else { "it is not a file" };
    format!("cannot write {}: {kind}; give the name of a file, or - for standard output", path.display())
}

// ---- the command line ----

/// For an unknown name from a short list; suggests the nearest one, if it is similar.
pub(crate) fn unknown_name(what: &str, typed: &str, known: &[&str]) -> String {
    let list = known.join(", ");
    match nearest(typed, known.iter().copied()) {
        Some(near) => format!("unknown {what} \"{typed}\"; did you mean \"{near}\"? Known: {list}"),
        None => format!("unknown {what} \"{typed}\". Known: {list}"),
    }
}

/// `parent` is the command to which the unknown subcommand was typed, such as `sim`.
pub(crate) fn unknown_command(parent: Option<&str>, typed: &str, near: Option<&str>) -> String {
    let parent = parent.map_or_else(String::new, |parent| format!(" {parent}"));
    match near {
        Some(near) => {
            format!(
                "unknown command \"{typed}\"; did you mean \"{near}\"? likenew{parent} --help lists all commands"
            )
        }
        None => format!("unknown command \"{typed}\"; likenew{parent} --help lists all commands"),
    }
}

likenew_core::sentences! {
    /// A metric of check that is not compared here.
    pub(crate) fn metric_is_not_used(metric: &str) =
        "{metric} is not used here, only by check and recondition; give read and write";
    pub(crate) fn unknown_engine(engine: &str) =
        "the run began with --engine {engine}, which this version does not know; give another --engine";
    pub(crate) fn two_to_stdout(one: &str, other: &str) =
        "--{one} - and --{other} - would both write to standard output; give one of them a file";
    pub(crate) fn example_target(command: &str) =
        "  tip: give a folder, a file, a block device or a simulated drive: likenew {command} ~/data";
    pub(crate) fn log_not_written(path: &Path, reason: impl Display) = "{}: {reason}", could_not_write(path);
    pub(crate) fn log_of_another_run(path: &Path) =
        "{} is not the log of this run; give --log the file that the run began with, or a new one for the \
         rest", path.display();
    /// Where the page is, and how to end.
    pub(crate) fn serving(url: &str) =
        "Open {url}\nThe address holds the secret of this page: do not share it. Ctrl-C ends the server.\n";
    pub(crate) fn option_outside(flag: &str, value: impl Display, range: &str) =
        "--{flag} {value} is outside of {range}";
}

pub(crate) const BAD_ADDRESS: &str = "it takes a port such as 10809, or ADDRESS:PORT such as 127.0.0.1:10809";

pub(crate) const LOG_TAKES_ONE_TARGET: &str =
    "--log takes one target, because a log is of one run; measure the targets one after the other";

/// Why a log cannot be compared.
pub(crate) const LOG_INSTEAD_OF_RUN: &str =
    "it is the log of a run, second by second; give the folder of the run, which likenew report --list shows";

pub(crate) const REPORT_INSTEAD_OF_RUN: &str = "it is the report of a run, without what was measured; give the folder of the run, which likenew report --list shows";

pub(crate) const PLAN_TAKES_ONE_TARGET: &str = "--plan, --export and --estimate take one target";

pub(crate) const UPGRADE_TAKES_ONE_TARGET: &str = "--upgrade takes one target: the drive to be replaced";

pub(crate) const SMARTCTL_DEVICE_TAKES_ONE_DRIVE: &str = "--smartctl-device takes one target that is on a real drive, because the type is remembered for that drive";

// ---- plans ----

pub(crate) fn plan_error(file: impl Display, line: Option<usize>, key: Option<&str>, reason: &str) -> String {
    let line = line.map_or(String::new(), |line| format!(", line {line}"));
    let key = key.map_or(String::new(), |key| format!(", {key}"));
    format!("the plan {file}{line}{key}: {reason}")
}

likenew_core::sentences! {
    pub(crate) fn plan_without_target(file: impl Display) =
        "the plan {file} names no target; give one: likenew run {file} TARGET";
    pub(crate) fn replay_options(error: &str) = "the options of replay: {error}";
}

/// `bytes` are all bytes read and written. `time` is the plan's own, so the two give no speed.
pub(crate) fn plan_too_long(bytes: u64, written: u64, time: Nanos, ends: bool) -> String {
    let (span, size) = (days(time), Size(bytes));
    let cost = match (ends, written == bytes) {
        (false, _) => "this plan never ends".to_owned(),
        (true, true) => format!("this plan would run for {span} and write about {size}"),
        (true, false) => {
            format!("this plan would run for {span} and move about {size}, {} of it written", Size(written))
        }
    };
    format!("{cost}; give less time, fewer bytes or fewer passes")
}

fn days(time: Nanos) -> String {
    /// Days from which a time is shown in days. Chosen: shorter times read better in hours.
    const DAYS_LEAST: f64 = 3.0;
    let days = time.as_secs_f64() / 86_400.0;
    if days < DAYS_LEAST { time.to_string() } else { format!("{days:.0} days") }
}

// ---- targets ----

likenew_core::sentences! {
    pub(crate) fn consent_for_simulated(target: &str) =
        "--consent is for block devices and existing files; {target} is neither; leave it out";
    pub(crate) fn consent_for_folder(path: &Path) =
        "--consent is for block devices and existing files; {} is a folder, where only temporary files are \
         written; leave it out", path.display();
    pub(crate) fn file_instead_of_folder(path: &Path) =
        "{} is a file; give the folder it is in, or a block device", path.display();
    pub(crate) fn discard_unused(bytes: u64, disk: &Path, model: Option<&str>) =
        "This discards {} of {} ({}) outside of all partitions. No partition is touched; data kept outside \
         of partitions is lost.", Size(bytes), disk.display(), model.unwrap_or("model unknown");
    pub(crate) fn rewrite_in_place(path: &Path, model: Option<&str>) =
        "This rewrites existing data of {} ({}) in place. Nothing is lost.",
        path.display(), model.unwrap_or("model unknown");
    pub(crate) fn type_id_to_go_on(what: &str, id_kind: &str) = "{what}\nTo go on, type its {id_kind}:";
    pub(crate) fn consent_needed(what: &str, id: &str, id_kind: &str) =
        "{what} Nothing was changed; to do it, add --consent \"{id}\" (its {id_kind})";
    pub(crate) fn type_id_to_overwrite(loss: impl Display, id_kind: &str) =
        "{loss}\nTo overwrite it, type its {id_kind}:";
    pub(crate) fn type_what_to_destroy(carries: &[String]) =
        "It carries {}. Type the names of what may be destroyed:", carries.join(", ");
    pub(crate) fn cannot_be_overwritten(reason: impl Display) =
        "It cannot be overwritten with consent either: {reason}";
    pub(crate) fn would_destroy(path: &Path, what: &str, instead: &str, consent: &str) =
        "{} is {what}; writing would destroy its data, so nothing was changed.\n{instead}\n{consent}",
        path.display();
    pub(crate) fn with_op_read_hint(refusal: &str) = "{refusal}; to measure reads only, add --op read";
    pub(crate) fn with_reads_only_hint(refusal: &str) =
        "{refusal}; to replay only the reads of the trace, add --reads-only";
    pub(crate) fn leftover(files: u64, bytes: u64, path: &Path) =
        "An earlier run has left {} ({}) in {}.", count(files, "temporary file"), Size(bytes), path.display();
    pub(crate) fn remove_leftover(what: &str) = "{what} Remove them?";
    pub(crate) fn leftover_kept(what: &str) = "{what} Nothing was changed";
    pub(crate) fn leftover_removed(what: &str, files: u64) = "{what} Removed {}.", Number(files as f64);
    pub(crate) fn leftover_foreign(path: &Path, names: &[String]) =
        "{} holds files that are not from likenew ({}); they were kept. Move them away and try again",
        path.display(), names.join(", ");
    pub(crate) fn not_a_folder_for_discard_unused(path: impl Display) =
        "{path} is a block device; nothing was changed. Give a folder on one of its partitions: that shows \
         whether writes improve";
    pub(crate) fn device_for_recondition(path: &Path) =
        "{} is a block device; nothing was changed. Give the folder where its file system is mounted, which \
         keeps every file.\nFor the whole drive name the step: likenew recondition {} --step rewrite loses \
         nothing; discard, overwrite-all and format ERASE EVERYTHING",
        path.display(), shell_quote(&path.display().to_string());
    pub(crate) fn waiting_for_run(holder: impl Display) =
        "Waiting for another run of likenew on {holder} to end.";
}

pub(crate) fn consent_option(id: &str, id_kind: &str, carries: &[String]) -> String {
    let destroy =
        if carries.is_empty() { String::new() } else { format!(" --destroy {}", carries.join(",")) };
    format!("To overwrite it and lose everything on it, add --consent \"{id}\"{destroy} (its {id_kind})")
}

pub(crate) const EXISTING_FILE: (&str, &str) =
    ("an existing file", "Give the folder it is in: temporary files in its free space destroy nothing.");
pub(crate) const BLOCK_DEVICE: (&str, &str) =
    ("a block device", "Give a folder on it: temporary files in its free space destroy nothing.");

pub(crate) fn file_for_recondition(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path).display().to_string();
    format!(
        "{} is a file, and recondition needs a folder or a whole drive; nothing was changed.\n\
         Give the folder it is in: likenew recondition {}",
        path.display(),
        shell_quote(&folder)
    )
}

// ---- announcements ----

pub(crate) fn will_write(bytes: u64, is_bounded: bool, is_folder: bool, time: Nanos) -> String {
    let time = about(time);
    let place = if is_folder { " in temporary files, always deleted" } else { "" };
    match (bytes, is_bounded) {
        (0, _) => format!("Writes nothing; takes {time}."),
        (bytes, true) => format!("Will write up to {} in {time}{place}.", Size(bytes)),
        (bytes, false) => format!("Will write about {} in {time}{place}.", Size(bytes)),
    }
}

likenew_core::sentences! {
    pub(crate) fn will_rewrite(bytes: u64, time: Nanos) =
        "Will also rewrite up to {} of your files in place, in {}.", Size(bytes), about(time);
    pub(crate) fn writes_and_rewrites_wear_flash(bytes: u64, rewritten: u64) =
        "This writes up to {} and rewrites up to {} of your files in place where they are slow; both wear \
         flash.", Size(bytes), Size(rewritten);
    pub(crate) fn confirm(what: &str) = "{what} Go on?";
    pub(crate) fn not_confirmed(what: &str) =
        "{what} Nothing was written; add --yes to agree, or measure less";
    pub(crate) fn long_pauses(pauses: Nanos) =
        "The trace has pauses of {pauses} in all; --idle-max 10s shortens each of them to 10 s.";
    pub(crate) fn formats_itself(plan: impl Display) =
        "The drive formats itself: {plan}. This cannot be interrupted.";
}

/// What a run will cost.
pub(crate) fn estimate(estimate: &RunEstimate) -> String {
    let time = about(Nanos(estimate.elapsed_ns));
    let (written, rewritten) = (Size(estimate.bytes_written), Size(estimate.bytes_rewritten));
    match (estimate.bytes_written, estimate.bytes_rewritten, estimate.is_bounded) {
        (0, 0, _) => format!("Writes nothing; takes {time}."),
        (0, _, _) => format!("Rewrites up to {rewritten} of your files in place; takes {time}."),
        (_, 0, true) => format!("Writes up to {written}; takes {time}."),
        (_, 0, false) => format!("Writes about {written}; takes {time}."),
        (_, _, true) => {
            format!(
                "Writes up to {written} and rewrites up to {rewritten} of your files in place; takes {time}."
            )
        }
        (_, _, false) => {
            format!(
                "Writes about {written} and rewrites up to {rewritten} of your files in place; takes {time}."
            )
        }
    }
}

/// How much writes wear a flash drive.
pub(crate) fn wear(bytes: u64, size: u64, is_folder: bool) -> String {
    let share = Share(bytes as f64 / size as f64);
    let target = if is_folder { "file system" } else { "drive" };
    format!("Wear: {share} of one full write of the {target}.")
}

/// A time, rounded like an estimate.
pub(crate) fn about(time: Nanos) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        ..1.0 => "less than a second".to_owned(),
        ..90.0 => format!("about {seconds:.0} s"),
        ..5_400.0 => format!("about {:.0} min", seconds / 60.0),
        ..172_800.0 => format!("about {:.0} h", seconds / 3_600.0),
        _ => format!("about {:.0} days", seconds / 86_400.0),
    }
}

pub(crate) fn writes_wear_flash(bytes: u64, is_bounded: bool) -> String {
    let bound = if is_bounded { "up to" } else { "about" };
    format!("This writes {bound} {} to the drive, which wears flash.", Size(bytes))
}

pub(crate) fn aging_wears_flash(
    bytes: u64,
    path: &str,
    times: f64,
    capacity: u64,
    used: Option<f64>,
) -> String {
    let endurance = match used {
        Some(percent) => format!("{percent:.0}% of its rated endurance is used so far."),
        None => "How much of its endurance that takes is unknown.".to_owned(),
    };
    format!(
        "This writes up to {} in temporary files in {path}, {}× the {} they occupy. That wears flash and cannot be undone. {endurance}",
        Size(bytes),
        Number(times),
        Size(capacity)
    )
}

pub(crate) const STOPPED_BEFORE_RUN: &str = "stopped before the run began";

pub(crate) const FORMAT_CHANGED: &str = "its size or format has changed; check the drive before you use it";

// ---- how a run ends ----

pub(crate) const STOPPING_WITHOUT_RESULTS: &str = "Stopping. Press Ctrl-C again to leave at once.";
pub(crate) const STOPPING: &str = "Stopping; what was measured is kept. Press Ctrl-C again to leave at once.";
pub(crate) const STOPPED_EARLY: &str =
    "Stopped before the end; the report covers what was measured until then.";
pub(crate) const OVER_ANNOUNCED: &str = "stopped before a part that could have written more than was \
     announced; the report covers what was measured until then";
pub(crate) const STOPPED_BEFORE_MEASURING: &str = "Stopped before anything was measured.";
pub(crate) const STOPPED_RESTORING: &str = "Stopped; what was measured before is still kept.";

likenew_core::sentences! {
    pub(crate) fn run_kept(path: &Path) = "Run folder: {}", path.display();
    /// Facts are shown even if no archive can be written.
    pub(crate) fn run_not_kept(reason: impl Display) = "This run is not kept: {reason}";
    pub(crate) fn resume_hint(path: &Path) =
        "To continue it: likenew resume {}", shell_quote(&path.display().to_string());
    pub(crate) fn io_failed(op: impl Display, offset: u64, error: impl Display) =
        "a {op} at offset {} failed and ended the run: {error}", Offset(offset);
    pub(crate) fn ended_early(error: impl Display) = "the run ended early: {error}";
    pub(crate) fn run_is_complete(path: impl Display) =
        "{path} is complete, so there is nothing to resume; likenew judge {path} evaluates it again";
    pub(crate) fn watch_log_has_no_end(path: impl Display) =
        "{path} is a log of likenew watch, which cannot be resumed: likenew report {path} shows it";
    pub(crate) fn drive_with_model(name: &str, model: Option<&str>, bytes: u64, block: u32) =
        "{name} ({}, {bytes} bytes in blocks of {block})", model.unwrap_or("model unknown");
    pub(crate) fn another_drive(then: &str, now: &str) =
        "the run measured {then}, and this is {now}; start a new run";
    /// The context of an error while references were collected.
    pub(crate) fn on_new_drive(target: &str) = "the new drive that {target} is compared with";
    pub(crate) fn on_simulated_drive(target: &str) = "the simulated drive {target}";
    pub(crate) fn recorded_day_on(target: &str) = "the recorded day on {target}";
    pub(crate) fn applications_on(target: &str) = "the applications on {target}";
}

pub(crate) const DISK_FULL: &str = "Other programs used up the reserve, so the file system is full. All temporary files are deleted.\n\
     Free some space and continue with likenew resume, or measure less.";

pub(crate) const HUNG: &str =
    "The drive does not answer; this program ends when the drive answers or is unplugged.";

pub(crate) const RUN_WITHOUT_DRIVE: &str = "the run does not say which drive it measured; start a new run";

pub(crate) fn going_on(tests: usize, probes: usize) -> String {
    let tests = count(tests as u64, "test");
    let done = if probes == 0 { tests } else { format!("{tests} and {}", count(probes as u64, "probe")) };
    format!("Resuming after {done}; replaying what they wrote first.")
}

pub(crate) const NO_COMPLETED_IO: &str = "no I/O completed";

pub(crate) const COULD_NOT_LISTEN: &str = "could not listen for Ctrl-C";

// ---- requests, as the audit log keeps them ----

pub(crate) const GENTLEST_STEP: &str = "the gentlest step that can help";
pub(crate) const REST_OF_RUN: &str = "the rest of a run that was stopped";

// ---- reports and kept runs ----

likenew_core::sentences! {
    pub(crate) fn page_written(path: &Path) = "Page: {}\n", path.display();
    /// Why a page has no single I/Os.
    pub(crate) fn samples_left_out(error: impl Display) =
        "the page shows no single I/Os, because those of this run cannot be read: {error}";
    pub(crate) fn no_runs(root: &Path) =
        "no runs are kept in {} yet; likenew check TARGET makes one", root.display();
    pub(crate) fn never_judged(path: impl Display) =
        "the run in {path} was killed before it was evaluated; evaluate it: likenew judge {path}";
    pub(crate) fn watch_log_has_no_speeds(path: impl Display) =
        "{path} is a log of likenew watch, which has no speeds to compare: likenew report {path} shows it";
    pub(crate) fn other_commands(first: &str, other: &str) =
        "one of these runs is of {first} and another of {other}; only runs of one command can be compared";
    pub(crate) fn neither_run_nor_drive(named: &str) =
        "{named:?} is no run, and no kept run is of such a drive; likenew report --list lists runs, and \
         likenew history drives";
    pub(crate) fn never_checked(named: &str) =
        "{named:?} was measured but never checked; give a run, or check it: likenew check {named}";
    pub(crate) fn not_a_finished_check(path: &Path) =
        "--baseline {}: not a finished check; give the folder of one, a file of `likenew export \
         --baseline`, or none", path.display();
    pub(crate) fn no_baseline_file(path: &Path, reason: &str) = "--baseline {}: {reason}", path.display();
    /// A command with an option that shows everything.
    pub(crate) fn with_details(command: &str) = "{command} --details";
}

pub(crate) const JSON_FAILED: &str = "could not write the report as JSON";

pub(crate) const PAGE_FAILED: &str = "could not write the report as a page";
pub(crate) const PRINT_FAILED: &str = "could not print";

/// The command that shows the newest runs.
pub(crate) fn show_newest(runs: usize) -> String {
    if runs > 1 { format!("likenew compare --last {runs}") } else { "likenew report".to_owned() }
}

pub(crate) const COMPARE_NEEDS_TWO: &str = "a comparison takes two runs or more: likenew report --list lists them, and --last 2 takes the newest two";
/// Why a probe of fio's run has no result.
pub(crate) const FIO_RAN_IT: &str = "fio ran it";
pub(crate) const NOTHING_TO_COMPARE: &str =
    "these runs have no speed in common; likenew report shows each of them";

/// In place of a command that is too long for a line.
pub(crate) const SAME_COMMAND: &str = "the same command with --details";

/// The command that shows everything about a kept run.
pub(crate) fn details_of_run(path: &Path) -> String {
    with_details(&format!("likenew report {}", shell_quote(&path.display().to_string())))
}

// ---- sizes that do not fit ----

likenew_core::sentences! {
    pub(crate) fn reads_of_largest_file(reason: impl Display, file: &Path) =
        "Only reads are measured, in the largest file there, {}: {reason}.", file.display();
    pub(crate) fn too_few_bytes_to_check(folder: &str, bytes: u64, least: u64) =
        "a check of the folder {folder} writes {} or more, and --bytes allows {}; allow more, or check a \
         file or drive that is only read", Size(least), Size(bytes);
    pub(crate) fn too_small_to_check(target: &str, bytes: u64, least: u64) =
        "{target} holds {}, too little to check (at least {}); give the folder or drive it is on",
        Size(bytes), Size(least);
    pub(crate) fn file_does_not_fit(span: u64, file_size: u64) =
        "a file of {} does not fit into the span of {}; give a smaller --file-size, or a larger --span",
        Size(file_size), Size(span);
    pub(crate) fn only_for_snia(flag: &str) =
        "{flag} is for the tests of SNIA's specification (--test snia-…)";
    pub(crate) fn only_for_loop(flag: &str) =
        "{flag} is for --test loop; SNIA's specification fixes it for its tests";
}

// ---- files, traces, applications ----

pub(crate) const NO_DRIVES: &str =
    "no drive is visible here; give a folder, or run likenew outside of this container";

likenew_core::sentences! {
    pub(crate) fn unreadable_file(path: &Path, reason: impl Display) =
        "Could not read {}: {reason}.", path.display();
    pub(crate) fn more_unreadable(count: u64) = "{} more could not be read.", Number(count as f64);
    pub(crate) fn trace_progress(ios: u64) = "{} I/Os read", Number(ios as f64);
    pub(crate) fn trace_changed(trace: &str, digest: &str, expected: &str) =
        "{trace} is not the trace this run began with (its digest is {digest}, it was {expected}); restore \
         it, or start a new run";
    pub(crate) fn trace_unreadable(path: &Path, error: impl Display) =
        "could not read the trace {}: {error}; relative paths start in the current folder", path.display();
    pub(crate) fn trace_note(trace: &str, note: &str) = "{trace}: {note}.";
    pub(crate) fn trace_without_ios(trace: &str) =
        "{trace} has no I/O with a latency, so there is nothing to speed up";
    pub(crate) fn candidate(name: &str, reason: impl Display) = "--upgrade {name}: {reason}";
    pub(crate) fn candidate_too_small(capacity: u64, held: u64) =
        "it has {}, and the drive to replace holds {}; take a larger one", Size(capacity), Size(held);
}

pub(crate) fn no_files(folders: &[String]) -> String {
    match folders {
        [folder] => format!("{folder} holds no files"),
        several => format!("{} hold no files", several.join(", ")),
    }
}

pub(crate) fn scan_progress(files: u64, bytes: u64, sampled: Option<(u64, u64)>) -> String {
    let files = format!("{}, {}", count(files, "file"), Size(bytes));
    match sampled {
        Some((sampled, total)) => format!("{files}; read {} of {}", Size(sampled), Size(total)),
        None => files,
    }
}

pub(crate) const TRACE_FROM_STDIN: &str =
    "--trace cannot be -; save it first: likenew import trace - --to FILE.csv";

pub(crate) const STOP_REQUESTED: &str = "interrupted";

pub(crate) const APPS_NEED_SPACE: &str =
    "--app replays applications in free space, and there is too little to write; give --bytes 160MiB or more";

pub(crate) const CANDIDATE_WITH_SETTINGS: &str =
    "candidates are always simulated as new; leave out the ? and what follows it";

pub(crate) const CANDIDATE_TWICE: &str = "named twice";

pub(crate) fn no_such_page(topic: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => {
            format!("no page about \"{topic}\"; did you mean \"{near}\"? likenew help lists all pages")
        }
        None => format!("no page about \"{topic}\"; likenew help lists all pages"),
    }
}

// ---- fio ----

likenew_core::sentences! {
    pub(crate) fn could_not_make(folder: &Path, error: &std::io::Error) =
        "could not make the folder {}: {}", folder.display(), system_reason(error);
    pub(crate) fn no_results_in(files: &[&str]) = "No result that is read is in {}.", files.join(", ");
    pub(crate) fn nothing_recognized(names: &str) =
        "nothing in {names} is an output that is read: give what smartctl -x, nvme smart-log, lsblk -O -J, \
         dmesg, fio and others print (likenew help facts lists them)";
    pub(crate) fn too_many_outputs(bytes_max: u64) =
        "these texts have more than {}: give fewer of them", Size(bytes_max);
    pub(crate) fn too_many_files(folder: &Path, most: usize) =
        "{} has more than {most} files: give fewer of them", folder.display();
    pub(crate) fn no_facts_to_bundle(target: &str) =
        "--bundle: nothing is known of {target} that could be written: give a folder, a file or a block \
         device";
    pub(crate) fn bundle_written(path: &Path) =
        "Facts written to {}; serial numbers are hashes. Read it with: likenew facts --from {0}",
        path.display();
    pub(crate) fn not_imported(name: &str, reason: impl Display) = "{name} was not imported: {reason}";
    pub(crate) fn fio_ran_no(workload: &str) = "fio did not run job \"{workload}\" of the plan";
    pub(crate) fn fio_without_plan(missing: &str) =
        "{missing}; export the plan with --export fio, or import without --plan";
    pub(crate) fn fio_ran_more(names: &[String]) =
        "The plan does not ask for {}, so they are left out.", names.join(", ");
    pub(crate) fn fio_title(procedure: &str, version: &str) = "{procedure} by likenew {version}, as fio jobs";
    pub(crate) fn fio_cost(moved: u64, written: u64, time: Nanos) =
        "On a drive with 500 MB/s it moves {}, {} of it written, in {time}.", Size(moved), Size(written);
}

pub(crate) const NO_RESULT: &str =
    "it is no result of a speed test that is read (likenew help compare names the programs)";
pub(crate) const NO_RESULTS: &str = "no file in it is a result of a speed test that is read";

pub(crate) const BAD_TIMESTAMP: &str = "its timestamp is not a date";

pub(crate) const FIO_LONGEST_COURSE: &str =
    "Where the plan decides by what it measures, this is the longest it can take.";
pub(crate) const FIO_ONE_FILE: &str = "The plan's files are parts of one file here.";
pub(crate) const FIO_LEAVES_FILE: &str = "fio leaves its file behind: delete it yourself.";
pub(crate) const FIO_PLAN: &str = "The plan:";

// ---- traces ----

/// `events` are the names of what the file holds instead.
pub(crate) fn no_io_in_trace(file: &str, events: &[String]) -> String {
    let holds = match events {
        [] => String::new(),
        events => format!(", but events {}", events.join(" and ")),
    };
    format!(
        "{file} holds no I/O of a drive{holds}; record it with: likenew record /dev/DRIVE --out day.csv.zst; or with: \
         trace-cmd record -e block:block_rq_issue -e block:block_rq_complete; then: trace-cmd report > day.txt"
    )
}

likenew_core::sentences! {
    pub(crate) fn trace_format_help() =
        "Its format, if it is not recognized: {}", likenew_trace::format_names();
    pub(crate) fn unknown_trace_ending(path: &Path) =
        "{}: unknown ending; use .csv or .csv.zst for likenew, .iolog for fio, .v2.iolog for fio before 3.31",
        path.display();
    pub(crate) fn file_exists(file: impl Display) =
        "{file} exists, and nothing is overwritten; give the name of a new file";
}

// ---- what a trace holds ----

/// The line while a file is read, as indicatif draws it.
pub(crate) const SURVEY_PROGRESS: &str = "{bar:24} {percent:>3}%  {bytes} read  {bytes_per_sec}  {eta} left";

pub(crate) fn survey_title(
    file: &str,
    survey: &Survey,
    format: &str,
    compression: Option<&str>,
    volume: Option<&str>,
) -> String {
    let compression = compression.map_or_else(String::new, |name| format!(", {name}"));
    let volume = volume.map_or_else(String::new, |name| format!(", volume {name}"));
    let records = Number(survey.records as f64);
    format!("{file}: {records} I/Os in {} (format: {format}{compression}{volume})", survey.span_ns)
}

likenew_core::sentences! {
    pub(crate) fn survey_addresses(survey: &Survey) =
        "Addresses up to {}; largest I/O {}; {} sequential.",
        Size(survey.end_max_bytes), Size(survey.length_max_bytes), Share(survey.sequential_share);
    pub(crate) fn survey_digest(digest: &str) = "Digest of all records: {digest}";
    pub(crate) fn survey_more_applications(count: usize) = "… and {count} more: --json has them";
    pub(crate) fn survey_note(note: &str) = "Note: {note}.";
    pub(crate) fn survey_written_to(path: &Path) = "Written to {}.", path.display();
}

pub(crate) fn survey_latencies(survey: &Survey) -> String {
    match &survey.latency {
        Some(latency) => format!(
            "Busy {}, total wait {}; queue depth {:.1} on average while busy, max {}.",
            latency.busy_ns, latency.waiting_ns, latency.depth_mean, latency.depth_max
        ),
        None => "The trace has no latencies.".to_owned(),
    }
}

// ---- watch ----

pub(crate) const WATCH_INTERVAL: &str = "--interval must be at least 10ms";
pub(crate) const WATCH_TIME: &str = "--time must be more than 0";

likenew_core::sentences! {
    pub(crate) fn cannot_be_watched(drive: &str) =
        "{drive} cannot be watched: the kernel does not count simulated I/O; likenew fill shows its speed \
         over time";
    pub(crate) fn watch_as_tables(reason: &str) =
        "{reason}: printing a table per interval; --json - prints lines for programs";
    pub(crate) fn log_ended(error: impl Display) = "the log ends here: {error}";
    pub(crate) fn log_kept(path: &Path) = "The log is kept in {}.", path.display();
}

pub(crate) const COULD_NOT_DRAW: &str = "could not draw on the terminal";
pub(crate) const COULD_NOT_READ_KEYS: &str = "could not read keys from the terminal";
pub(crate) const WATCH_DUMB: &str = "this terminal cannot be drawn on (TERM)";
pub(crate) const WATCH_STDOUT: &str = "standard output is no terminal";
pub(crate) const WATCH_STDIN: &str = "standard input is no terminal";

pub(crate) const WATCH_NO_SCREEN: &str = "could not take over the terminal; try --once or --json -";

// ---- replay ranking ----

pub(crate) fn ranking_title(is_busy: bool) -> String {
    format!("\nRanking, {} first:\n", if is_busy { "least busy" } else { "shortest waits" })
}

pub(crate) fn ranking_line(
    place: usize,
    label: &str,
    is_busy: bool,
    time: Nanos,
    saved: Option<f64>,
) -> String {
    let did = if is_busy { "busy for" } else { "waited" };
    let saved = match saved {
        Some(percent) if percent <= -100.0 => {
            format!(", {} as long as recorded", Factor(1.0 - percent / 100.0))
        }
        Some(percent) if percent < 0.0 => format!(", {} more than recorded", Share(-percent / 100.0)),
        Some(percent) => format!(", {} less than recorded", Share(percent / 100.0)),
        None => String::new(),
    };
    format!("  {place}  {label}  {did} {time}{saved}\n")
}

// ---- progress ----

/// The line beside the bar: bytes done, speed, and the current step.
pub(crate) fn progress(done: u64, rate: Option<f64>, name: &str) -> String {
    match rate {
        Some(rate) => format!("{}  {}  {name}", Size(done), Rate(rate)),
        None => format!("{}  {name}", Size(done)),
    }
}

/// Progress of a step of which only the done share is known.
pub(crate) fn share_done(name: &str, share: f64, left: Option<Nanos>) -> String {
    let left = left.and_then(|left| time_left(left, Certainty::About));
    format!("{name}: {}{}", Share(share), left.map_or_else(String::new, |left| format!(", {left}")))
}

/// The time left; `None` while it would be a guess.
pub(crate) fn time_left(left: Nanos, certainty: Certainty) -> Option<String> {
    match certainty {
        Certainty::About => Some(format!("{} left", about(left))),
        Certainty::AtMost => Some(format!("at most {} left", about(left))),
        Certainty::Guess => None,
    }
}

pub(crate) const SIMULATING_REFERENCE: &str = "simulating another drive to compare with";

/// What the factsheet calls a fact, if its key does not say it.
pub(crate) fn fact_name(section: &str, fact: &str) -> Option<&'static str> {
    Some(match (section, fact) {
        ("identity", "knows_trim") | ("stack", "takes_trim") => "TRIM",
        ("identity", "rotation_rpm") => "rotation",
        ("identity", "virtual_by") => "virtual disk",
        ("link", "ceiling_bytes_per_s") => "link now",
        ("link", "possible_bytes_per_s") => "link maximum",
        ("files", "extents_per_mib") => "fragments per MiB",
        ("files", "extents_max") => "fragments, at most",
        ("files", "is_part") => "only a sample",
        ("link", "line_bits_per_s") => "line rate",
        ("link", "line_bits_per_s_max") => "line rate, at most",
        ("link", "bytes_per_s") => "payload rate",
        ("link", "bytes_per_s_max") => "payload rate, at most",
        (_, "immediate") => "mounted with discard",
        (_, "timer_present") => "fstrim timer installed",
        (_, "timer_enabled") => "fstrim timer enabled",
        (_, "timer_last_run_age") => "fstrim timer, last run",
        (_, "timer_covers") => "fstrim timer covers it",
        ("zones", "model") => "zone model",
        _ => return None,
    })
}

// ---- likenew export, likenew import run ----

likenew_core::sentences! {
    pub(crate) fn run_exported(path: &Path) =
        "Wrote {}. Serial numbers in it are hashed with a secret of yours.\n", path.display();
    pub(crate) fn baseline_exported(path: &Path) =
        "Wrote {}. Compare another drive of its model: likenew check TARGET --baseline {}\n",
        path.display(), shell_quote(&path.display().to_string());
    pub(crate) fn no_baseline(run: &Path, reason: &str) = "{}: {reason}", run.display();
    pub(crate) fn nothing_unfinished(archive: &Path, runs: usize) =
        "none of the latest {runs} runs in {} was interrupted, so there is nothing to resume; name a run, \
         or see likenew report --list", archive.display();
    pub(crate) fn resumes(run: &Path) = "resuming {}", run.display();
    pub(crate) fn run_imported(folder: &Path) =
        "Imported. Show it: likenew report {}\n", shell_quote(&folder.display().to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_gets_the_nearest() {
        assert_eq!(
            unknown_name("step", "refesh", &["trim", "refresh", "format"]),
            "unknown step \"refesh\"; did you mean \"refresh\"? Known: trim, refresh, format"
        );
        assert_eq!(
            unknown_name("step", "x", &["trim", "refresh"]),
            "unknown step \"x\". Known: trim, refresh"
        );
    }

    #[test]
    fn announcements_are_one_short_line() {
        let seconds = Nanos::from_secs;
        assert_eq!(
            will_write(233 << 20, true, false, seconds(50)),
            "Will write up to 233 MiB in about 50 s."
        );
        assert_eq!(
            will_write(1 << 30, false, true, seconds(600)),
            "Will write about 1 GiB in about 10 min in temporary files, always deleted."
        );
        assert_eq!(will_write(0, true, true, seconds(7)), "Writes nothing; takes about 7 s.");
        assert_eq!(progress(3 << 20, Some(77.2e6), "reads"), "3 MiB  77.2 MB/s  reads");
    }

    #[test]
    fn an_absurd_plan_is_refused_with_its_own_time() {
        let day = Nanos::from_secs(86_400);
        assert_eq!(
            plan_too_long(644 << 40, 644 << 40, Nanos(day.0 * 200), true),
            "this plan would run for 200 days and write about 644 TiB; give less time, fewer bytes or fewer passes"
        );
        assert_eq!(
            plan_too_long(2 << 40, 1 << 40, Nanos(day.0 * 200), false),
            "this plan never ends; give less time, fewer bytes or fewer passes"
        );
    }

    #[test]
    fn resuming_says_what_is_repeated() {
        assert_eq!(going_on(7, 0), "Resuming after 7 tests; replaying what they wrote first.");
        assert_eq!(going_on(1, 2), "Resuming after 1 test and 2 probes; replaying what they wrote first.");
    }

    #[test]
    fn errors_in_plans_name_file_line_and_key() {
        assert_eq!(
            plan_error("day.toml", Some(7), Some("options.pattern"), "expected a string"),
            "the plan day.toml, line 7, options.pattern: expected a string"
        );
    }
}
