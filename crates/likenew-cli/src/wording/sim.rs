//! Sentences of `likenew sim`.

use std::fmt::Display;
use std::path::Path;

use likenew_calibration::{
    Calibration, Combination, Estimate, MeasuredRun, Prediction, Standing, TestPrediction,
};
use likenew_core::counters::FlashCounters;
use likenew_core::quantity::{Iops, Latency, Rate, Share, Size, range};
use likenew_core::shell::shell_quote;
use likenew_core::units::{Nanos, Number, amount};
use likenew_nbd::server::{Lag, ServeStats};
use likenew_sim::explain::{Ceiling, Explanation};

// ---- show ----

pub(crate) const SPEED_LIMITS: &str = "Speed limits when new";
pub(crate) const XRAY_SHOULD_FIND: &str = "What xray should find";

likenew_core::sentences! {
    pub(crate) fn simulated_drive(drive: &Explanation) =
        "{}: {} in sectors of {}; {}",
        drive.target, amount(drive.capacity_bytes), amount(drive.sector_bytes.into()), drive.state;
}

/// `compresses`: the drive compresses data, and the limit is for data that does not compress.
pub(crate) fn ceiling(ceiling: &Ceiling, compresses: bool) -> String {
    let limit = ceiling.limit();
    let rated = match (&ceiling.advertised, ceiling.advertised_share()) {
        (Some(value), Some(share)) if compresses && share > 1.0 => {
            format!(" (rated {value} for compressible data)")
        }
        (Some(value), Some(share)) => format!(" (rated {value}, {} of the limit)", Share(share)),
        _ => String::new(),
    };
    format!("{}: {}, limited by {}{rated}", ceiling.rate_name, limit.value, limit.bottleneck)
}

pub(crate) fn causes(names: &[&str]) -> String {
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("Causes of slowness: {names}")
}

pub(crate) fn parameters(count: usize, assumed: usize, are_listed: bool) -> String {
    let hint = if are_listed { ":" } else { "; --sources lists them." };
    format!("{count} parameters, {assumed} of them assumed{hint}")
}

// ---- save and serve ----

likenew_core::sentences! {
    pub(crate) fn not_a_simulated_drive(target: &str) =
        "\"{target}\" is not a simulated drive; give a name of likenew drives, a FILE.toml, or a \
         FILE.snapshot";
    pub(crate) fn not_a_snapshot_name(path: &Path) =
        "{} must end with .snapshot; call it {}", path.display(), path.with_extension("snapshot").display();
    pub(crate) fn could_not_save(path: &Path, error: impl Display) =
        "could not save to {}: {error}; give the name of a new file, where there is room", path.display();
    pub(crate) fn saved(target: &str, bytes: u64, path: &Path) =
        "{target} is saved ({}). Use it as sim:{}\n", Size(bytes), path.display();
    pub(crate) fn client_refused(error: impl Display) = "no client can connect for a moment: {error}";
    pub(crate) fn open_to_all(address: impl Display) =
        "anyone who reaches {address} can read and write this drive without a password";
    pub(crate) fn state_lost(error: impl Display) =
        "{error}; without that file the drive starts in a fresh state, with its data";
    pub(crate) fn export_description(model: Option<&str>, target: &str) =
        "{}, simulated ({target})", model.unwrap_or("a simulated drive");
    pub(crate) fn with_counters(line: &str, counters: &FlashCounters, trimmed: u64) =
        "{line}; drive: {}", flash_counters(counters, trimmed);
    fn lag(lag: &Lag) =
        "replies late by {}, p99 {}, max {}",
        Latency(lag.mean_ns), Latency(lag.p99_ns as f64), Latency(lag.max_ns as f64);
}

pub(crate) fn keeps_its_bytes(target: &str, by_faults: bool) -> String {
    let why = if by_faults { ", as its faults change them" } else { " with data=on" };
    format!("{target} keeps its data itself{why}; leave out --store")
}

pub(crate) const KEEPS_ITS_BYTES: &str = "this drive keeps its data itself; leave out --store";
pub(crate) const STORE_TOO_SHORT: &str = "could not make the store as long as the drive";
pub(crate) const STORE_NOT_SHARED: &str = "could not share the store's file";

/// How to use the served drive.
pub(crate) fn invitation(description: &str, capacity: u64, sector: u32, speed: f64, uri: &str) -> String {
    let sector_size = if sector == 512 { String::new() } else { format!(" --sector-size {sector}") };
    let pace = if speed == 1.0 { "in real time".to_owned() } else { format!("{}× as fast", Number(speed)) };
    format!(
        "{description}: {} in sectors of {}, {pace}. Ctrl-C ends it.\n\
         \n  {uri}\n\n\
         \x20 nbdinfo '{uri}'\n\
         \x20 fio --name=test --ioengine=nbd --uri='{uri}' --rw=randread --bs=4k --iodepth=32 --time_based --runtime=10\n\
         \x20 mkdir -p drive && nbdfuse drive/disk '{uri}' &\n\
         \x20 losetup --find --show{sector_size} drive/disk\n\
         \x20 qemu-system-x86_64 -drive file='{uri}',format=raw,if=virtio,discard=unmap\n\n",
        Size(capacity),
        Size(sector.into()),
    )
}

/// Counts since the last line.
pub(crate) fn status(clients: usize, ios_per_s: f64, read: f64, written: f64, delay: &Lag) -> String {
    let clients = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
    format!("{clients}; {}, {} read, {} written; {}", Iops(ios_per_s), Rate(read), Rate(written), lag(delay))
}

/// Mean lateness of replies, in nanoseconds, from which it is mentioned: the simulation is slower than the
/// drive. Chosen: a millisecond is more than scheduling adds.
const LATE_NS: f64 = 1e6;

/// The result of a serve.
pub(crate) fn summary(
    stats: &ServeStats,
    elapsed: Nanos,
    drive: Nanos,
    counters: Option<FlashCounters>,
) -> String {
    let mut lines = vec![format!(
        "{} connections in {:.1} s, {:.1} s on the drive's clock; {} requests: {} reads ({}), {} writes ({}), {} TRIM ({}), \
         {} write zeroes ({}), {} flushes",
        stats.connections,
        elapsed.as_secs_f64(),
        drive.as_secs_f64(),
        stats.requests(),
        stats.reads,
        Size(stats.bytes_read),
        stats.writes,
        Size(stats.bytes_written),
        stats.trims,
        Size(stats.bytes_trimmed),
        stats.zeroes,
        Size(stats.bytes_zeroed),
        stats.flushes
    )];
    if stats.refused + stats.failed + stats.dropped > 0 {
        lines.push(format!(
            "{} requests refused, {} failed, {} clients dropped",
            stats.refused, stats.failed, stats.dropped
        ));
    }
    if stats.lag.answers > 0 {
        lines.push(format!("queue depth up to {}; {}", stats.depth_max, lag(&stats.lag)));
    }
    if let Some(counters) = counters {
        lines.push(format!("drive: {}", flash_counters(&counters, stats.bytes_trimmed)));
    }
    if let Some(bytes) = stats.bytes_kept {
        lines.push(format!("data kept: {}", Size(bytes)));
    }
    if stats.lag.mean_ns > LATE_NS {
        lines.push(
            "The simulation was slower than the drive: lower --speed, or ask less of it at once.".into(),
        );
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn flash_counters(counters: &FlashCounters, trimmed: u64) -> String {
    let host = Size(counters.host_bytes_written);
    if !counters.has_flash() {
        return format!(
            "{host} from the host, {} written to the medium",
            Size(counters.flash_bytes_programmed)
        );
    }
    format!(
        "{host} from the host, {} programmed, write amplification {:.2}, {} erases, {} trimmed",
        Size(counters.flash_bytes_programmed),
        counters.write_amplification,
        Number(counters.erases as f64),
        Size(trimmed)
    )
}

// ---- the file of --store ----

likenew_core::sentences! {
    pub(crate) fn store_with_question_mark(path: impl Display) =
        "{path} has a ? in its name, which begins the settings of sim: targets; give another name";
    pub(crate) fn could_not_make(path: impl Display) = "could not make {path}";
    pub(crate) fn could_not_open(path: impl Display) = "could not open {path}";
    pub(crate) fn store_without_label(path: impl Display, label: &Path, error: impl Display) =
        "{path} was not made by likenew sim serve (no {}: {error}); nothing was changed; give the name of a \
         new file", label.display();
    pub(crate) fn bad_label(label: &Path, error: impl Display) =
        "{} was not made by likenew sim serve ({error}); nothing was changed", label.display();
    pub(crate) fn store_of_another_drive(path: impl Display, holds: &str, drive: &str) =
        "{path} holds the data of {holds}, and this is {drive}; serve that one, or give the name of a new \
         file";
    pub(crate) fn served_already(path: &Path) = "{} is served already; end that server first", path.display();
    pub(crate) fn state_not_saved(path: &Path) =
        "could not save the drive's state to {}; its data is kept", path.display();
    pub(crate) fn file_exists(path: &Path) =
        "{} exists; give another --output, or --replace to overwrite it", path.display();
    fn worst_test(test: &TestPrediction) = "{} by {}", test.name, Share(test.error());
    pub(crate) fn file(path: &Path, base: &str) =
        "Written to {}; everything else is as in {base}.", path.display();
}

pub(crate) fn unclean_end(path: &Path, has_snapshot: bool) -> String {
    let state = if has_snapshot { "continues as last saved" } else { "starts fresh" };
    format!("the last server of {} was killed: data is complete, the drive's state {state}", path.display())
}

pub(crate) const CHOOSING_BASE: &str = "choose a drive to begin with";
pub(crate) const FITTING: &str = "fit the drive";
pub(crate) const STOPPED: &str = "Stopped; no file was written.";
pub(crate) const NO_BASE: &str = "no drive of the catalog can run what these runs did; name one with --like";
pub(crate) const HEAD: [&str; 4] = ["parameter", "value", "90% range", "before"];

pub(crate) fn other_drive(first: &MeasuredRun, other: &MeasuredRun) -> String {
    let model = |run: &MeasuredRun| run.evidence.identity.model.clone().unwrap_or_default();
    format!(
        "{} is of \"{}\", and {} of \"{}\"; give runs of one drive",
        first.name,
        model(first),
        other.name,
        model(other)
    )
}

/// A file named after the drive.
pub(crate) fn file_name(calibration: &Calibration, runs: &[MeasuredRun]) -> String {
    let model = runs.iter().find_map(|run| run.evidence.identity.model.as_deref());
    let words: Vec<String> = model
        .unwrap_or(&calibration.base)
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    format!("{}-calibrated.toml", words.join("-"))
}

/// The first line of the result: how well the drive predicts the runs.
pub(crate) fn answer(calibration: &Calibration) -> String {
    let worst_of = |predictions: &[Prediction]| {
        let worst = |a: &&Prediction, b: &&Prediction| {
            a.typical_error().partial_cmp(&b.typical_error()).expect("errors are numbers")
        };
        predictions.iter().max_by(worst).cloned()
    };
    match (worst_of(&calibration.held_out), worst_of(&calibration.fitted)) {
        (Some(held_out), _) => held_out_answer(&held_out),
        (None, Some(fitted)) => fitted_answer(&fitted),
        (None, None) => String::new(),
    }
}

fn held_out_answer(prediction: &Prediction) -> String {
    let Some((typical, worst)) = prediction.typical_error().zip(prediction.worst()) else {
        return format!(
            "? The simulated drive cannot run the held-out run {}, so nothing tests it.",
            prediction.run
        );
    };
    let (typical, worst) = (Share(typical), worst_test(worst));
    if prediction.is_good() {
        format!(
            "✓ The simulated drive predicts the held-out run within {typical} (half of its tests; worst: {worst})."
        )
    } else {
        format!(
            "✗ The simulated drive is not to be trusted: it is off by {typical} in the held-out run (half of its tests more; worst: {worst})."
        )
    }
}

fn fitted_answer(prediction: &Prediction) -> String {
    let Some((typical, worst)) = prediction.typical_error().zip(prediction.worst()) else {
        return format!("? The simulated drive cannot run {}.", prediction.run);
    };
    format!(
        "? The simulated drive repeats its runs within {} (half of the tests; worst: {}). Give a third run to test it.",
        Share(typical),
        worst_test(worst)
    )
}

pub(crate) fn row(estimate: &Estimate) -> [String; 4] {
    let text = |value: f64| estimate.unit.text(value);
    let roughly = if estimate.standing == Standing::Rough { "about " } else { "" };
    [
        estimate.name.to_owned(),
        format!("{roughly}{}", text(estimate.value)),
        range(text(estimate.low), text(estimate.high)),
        text(estimate.base),
    ]
}

pub(crate) fn combination_row(combination: &Combination) -> [String; 4] {
    let text = |value: f64| combination.unit.text(value);
    [
        combination.name.to_owned(),
        text(combination.value),
        range(text(combination.low), text(combination.high)),
        String::new(),
    ]
}

/// Parameters of which the runs show only a sum or a ratio.
pub(crate) fn combined(estimates: &[&Estimate]) -> Option<String> {
    let names = names(estimates)?;
    Some(format!("Only together: {names}. Their values do what was measured; others would, too."))
}

/// Parameters that no run depends on, and what would show them.
pub(crate) fn undetermined(estimates: &[&Estimate]) -> Option<String> {
    let names = names(estimates)?;
    let mut commands: Vec<&str> = estimates.iter().map(|estimate| estimate.needs).collect();
    commands.sort_unstable();
    commands.dedup();
    Some(format!(
        "Not determined by these runs: {names} (as before). To measure them: {}.",
        commands.join(", ")
    ))
}

fn names(estimates: &[&Estimate]) -> Option<String> {
    let names: Vec<&str> = estimates.iter().map(|estimate| estimate.name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

pub(crate) fn try_it(path: &Path, state: &str) -> String {
    let state = if state.is_empty() { String::new() } else { format!("?{state}") };
    format!("Try it: likenew bench {}", shell_quote(&format!("sim:{}{state}", path.display())))
}
