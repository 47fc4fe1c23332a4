//! Every sentence of trim.

use likenew_core::counters::DiscardCounters;
use likenew_core::findings::{Action, Answer, OverviewTable, Standing};
use likenew_core::probe::{AllocationChange, Content, Layer, ReadsAs, TrimMethod, TrimReport};
use likenew_core::quantity::{Factor, Share, Size, count, range};
use likenew_core::units::{Nanos, digits, exact_size};
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::wording::{capitalize, estimated, use_nearest_multiple};
use likenew_stats::interval::Interval;

use super::trim_evidence::{Outcome, TrimStep};
use crate::site::overview_table;

// What it is for, and what it writes

pub(super) const QUESTION: &str = "Does TRIM reach the drive, and what does it gain?";
pub(super) const WRITES: &str = "writes one file of twice --bytes, then --span several times to measure what TRIM gains; only temporary files";

// Whether TRIM reaches the drive

pub(super) fn reaches(proof: &TrimStep) -> Answer {
    Answer::good(TRIM, "TRIM", "reaches the drive").with_evidence(step_sentence(proof))
}

pub(super) fn reaches_summary(gain: Option<f64>) -> String {
    match gain {
        Some(ratio) => {
            format!("TRIM reaches the drive, and random writes are {} as fast with it.", Factor(ratio))
        }
        None => "TRIM reaches the drive.".into(),
    }
}

/// `drive` is the name of the lowest layer.
pub(super) fn stops_at(layer: &Layer, drive: Option<&str>) -> (String, Answer) {
    if is_bridge(layer) {
        let drive = drive.unwrap_or("the drive");
        let summary = format!("The bridge blocks TRIM, so {drive} never receives it.");
        return (summary, stops(layer, Some(avoid_bridge())));
    }
    let summary = format!("TRIM stops at {}, so the drive below never receives it.", layer_name(layer));
    (summary, stops(layer, remove_block(layer)))
}

fn stops(layer: &Layer, remedy: Option<Action>) -> Answer {
    let answer = Answer::problem(TRIM, "TRIM", format!("stops at {}", layer_name(layer)));
    remedy.into_iter().fold(answer, Answer::action)
}

/// A bridge has the name of the drive behind it, so only its kind tells them apart.
fn is_bridge(layer: &Layer) -> bool {
    layer.kind == "bridge"
}

fn avoid_bridge() -> Action {
    Action::new("let_trim_pass", "Connect the drive directly, or use an enclosure that passes TRIM (UNMAP)")
}

/// `layer` is the lowest one, which is the drive.
pub(super) fn drive_takes_none(layer: &Layer) -> (String, Answer) {
    let summary = format!("The drive itself ({}) does not support TRIM.", layer.name);
    (summary, stops(layer, remove_block(layer)))
}

/// `loop0 (loop device)`; `dm-0, encryption (dm-crypt)`.
fn layer_name(layer: &Layer) -> String {
    let Layer { name, kind, .. } = layer;
    if is_bridge(layer) {
        return format!("the {kind}");
    }
    if kind.contains('(') { format!("{name}, {kind}") } else { format!("{name} ({kind})") }
}

fn remove_block(layer: &Layer) -> Option<Action> {
    layer.remedy.as_ref().map(|remedy| Action::new("let_trim_pass", capitalize(remedy)))
}

pub(super) fn without_trim(command: String) -> Action {
    Action::new("check", "See whether it is slow yet; without TRIM, rewriting its data restores it")
        .command(command)
}

/// Random writes gain nothing. Who drops TRIM cannot be seen from here.
pub(super) fn no_effect(comparison: &Comparison) -> (String, Answer) {
    let factor = Factor(comparison.ratio.value);
    let ratio = match comparison.ratio.interval {
        Some(Interval { low, high }) => format!("{factor}, {}", range(digits(low), digits(high))),
        None => factor.to_string(),
    };
    let summary = format!(
        "TRIM has no effect: it is sent, but random writes gain nothing ({ratio}). \
         The drive ignores it, or a bridge drops it."
    );
    let answer = "no effect: it is sent, but the drive ignores it or a bridge drops it";
    (summary, Answer::problem(TRIM, "TRIM", answer).action(test_directly()))
}

fn test_directly() -> Action {
    Action::new(
        "test_directly",
        "Test the drive without its bridge or controller; if that changes nothing, look for a firmware update",
    )
}

headlines! {
    (TRIM, "TRIM") => {
        pub(super) fn unsupported() =
            problem("This drive does not support TRIM.", "not supported by the drive");
        /// The drive promises other data after TRIM and returns the old one.
        pub(super) fn promise_broken() = problem(
            "TRIM has no effect: freed blocks still hold the old data, though the drive promises otherwise. \
             The drive ignores it, or a bridge drops it.",
            "no effect: freed blocks still hold the old data, though the drive promises otherwise")
            .action(test_directly());
        pub(super) fn not_needed() = info(
            "TRIM is not needed: this is a hard disk, which overwrites in place.",
            "not needed; a hard disk overwrites in place")
            .caveat("A shingled (SMR) disk would gain from it.");
        /// No probe has run yet.
        pub(super) fn not_begun() = unknown("Nothing was tested yet.", "not tested yet");
        /// Nothing was written, so only the system's own information is known.
        pub(super) fn only_inspected() = unknown(
            "No layer is known to block TRIM, but nothing was written to test whether it arrives.",
            "no layer is known to block it; whether it arrives is untested");
        /// The file system or the drive refused TRIM.
        pub(super) fn not_sent(reason: &str) = unknown(
            "TRIM could not be sent, so whether it would arrive is unknown.", "could not be sent")
            .with_evidence(as_sentence(reason));
        /// Freed blocks could not be read from the device.
        pub(super) fn not_read(reason: &str) = unknown(
            "TRIM was sent; whether it arrived cannot be read back here.",
            "sent; whether it arrived cannot be read back here")
            .with_evidence(as_sentence(reason));
        /// Freed blocks still hold the old data.
        pub(super) fn old_data() = unknown(
            "TRIM was sent; whether it arrived is unknown, as freed blocks still read as the old data.",
            "sent; unknown whether it arrived, as freed blocks still read as the old data")
            .caveat("A drive may show old data for as long as it likes after TRIM; after a power cycle, or with a \
                     longer --wait, it may show something else.");
        /// Freed blocks hold other data.
        pub(super) fn other_data() = unknown(
            "TRIM was sent, but freed blocks read as other data, so whether it arrived is unknown.",
            "sent; freed blocks read as other data")
            .caveat("Below encryption, trimmed blocks read as random data; test an unencrypted folder on the \
                     same drive.");
        /// TRIM was sent, and no step proves its effect.
        pub(super) fn no_proof() = unknown(
            "TRIM was sent, but nothing proves that it arrived.", "sent; nothing proves that it arrived");
    }
}

likenew_core::sentences! {
    fn as_sentence(reason: &str) = "{}.", capitalize(reason);
}

pub(super) fn with_steps(answer: Answer, steps: &[TrimStep]) -> Answer {
    steps.iter().fold(answer, |answer, step| answer.with_evidence(step_sentence(step)))
}

fn step_sentence(step: &TrimStep) -> String {
    let (name, answer, evidence) = (capitalize(&step.step.replace('_', " ")), &step.answer, &step.evidence);
    if evidence.is_empty() { format!("{name}: {answer}.") } else { format!("{name}: {answer} ({evidence}).") }
}

pub(super) fn measure_effect(command: String) -> Action {
    Action::new("measure_effect", "Measure whether random writes gain from TRIM, which can decide it")
        .command(command)
}

pub(super) const TEST_FOLDER: &str =
    "On a device or file, trim only inspects; give it a folder on it to test.";
pub(super) const SENT_BY_FSTRIM_ONLY: &str =
    "The file system is mounted without discard, so TRIM is sent only when fstrim runs on it.";
pub(super) const SEEN_AT_THE_TOP: &str = "The layer nearest to the host forgot the data; what lies below a host's file, a bridge or an array is not seen.";

pub(super) fn check_timer() -> Action {
    Action::new("check_timer", "Check that the timer that runs fstrim is active")
        .command("systemctl status fstrim.timer")
}

// Data that was kept

pub(super) fn damaged_neighbors(bytes: u64) -> (String, Answer) {
    let bytes = Size(bytes);
    let summary = format!("TRIM damaged data: {bytes} that was not trimmed reads back changed.");
    let stop = Action::new(
        "stop_trim",
        "Stop sending TRIM (and mount without discard) until the firmware is updated",
    )
    .command("sudo systemctl disable --now fstrim.timer")
    .undo("sudo systemctl enable --now fstrim.timer");
    let answer =
        Answer::problem("damaged_data", "Data beside trimmed blocks", format!("{bytes} changed by TRIM"))
            .with_evidence("Both halves of a temporary file were written, and only one of them was trimmed.")
            .action(stop);
    (summary, answer)
}

// Effect of TRIM

/// The result of random writes with and without TRIM.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Comparison {
    pub(super) ratio: Estimate,
    pub(super) passes_with: usize,
    pub(super) passes_without: usize,
    pub(super) freed_bytes: u64,
    pub(super) freed_share: Option<f64>,
}

pub(super) fn gain(comparison: &Comparison, gain: Verdict) -> Answer {
    let ratio = estimated(comparison.ratio, Factor);
    let (standing, answer) = match gain {
        Verdict::Above => (Standing::Info, format!("random writes are {ratio} as fast with it")),
        Verdict::Below => (Standing::Info, format!("none; random writes are {ratio} as fast with it")),
        Verdict::OnePass => (Standing::Unknown, format!("{ratio} in one pass each")),
        Verdict::Alike | Verdict::Unclear => {
            (Standing::Unknown, format!("random writes are {ratio} as fast with it, too uncertain to call"))
        }
    };
    Answer::new(EFFECT, GAIN_QUESTION, answer, standing).with_evidence(comparison_sentence(comparison))
}

fn comparison_sentence(comparison: &Comparison) -> String {
    let Comparison { passes_with, passes_without, freed_bytes, freed_share, .. } = comparison;
    let freed = match freed_share {
        Some(share) => format!("{} ({} of the drive)", Size(*freed_bytes), Share(*share)),
        None => Size(*freed_bytes).to_string(),
    };
    format!(
        "4K random writes over {}, {} with TRIM and {passes_without} without; beside them, {freed} was freed.",
        Size(*freed_bytes),
        pass_count(*passes_with)
    )
}

fn pass_count(count: usize) -> String {
    if count == 1 { "1 pass".to_owned() } else { format!("{count} passes") }
}

pub(super) fn gain_not_measured(reason: &str) -> Answer {
    Answer::unknown(EFFECT, GAIN_QUESTION, "not measured, because TRIM could not be sent")
        .with_evidence(as_sentence(reason))
}

pub(super) fn more_passes(command: String) -> Action {
    Action::new("more_passes", "Measure more passes to narrow the interval").command(command)
}

pub(super) fn freed_too_little(share: Option<f64>) -> String {
    match share {
        Some(share) => format!(
            "Only {} of the drive was freed, from which a drive with other free space gains little; --span frees more and writes more.",
            Share(share)
        ),
        None => {
            "A drive with much other free space gains little from this; --span frees more and writes more."
                .into()
        }
    }
}

// Steps

pub(super) const CAPABILITY: &str = "Does every layer let TRIM pass?";
pub(super) const CLAIMS: &str = "What does the drive report?";
pub(super) const SENDING: &str = "Was TRIM sent?";
pub(super) const READ_BACK: &str = "What do freed blocks read as?";
pub(super) const TIMING: &str = "Are freed blocks read faster than kept ones?";
pub(super) const ACCOUNTING: &str = "Does the drive count less space as in use?";
pub(super) const GAIN: &str = "Do random writes gain from it?";
pub(super) const NOT_POSSIBLE: &str = "not tested";
pub(super) const NOT_READ: &str = "freed blocks were not read";

pub(super) fn layers_pass(blocked_by: Option<&Layer>, nobody_says: bool) -> String {
    match blocked_by {
        Some(layer) if layer.kind == "drive" => "no, the drive does not support it".into(),
        Some(layer) => format!("no, {} blocks it", layer_name(layer)),
        None if nobody_says => "unknown; no layer reports it".into(),
        None => "yes, every layer that reports it".into(),
    }
}

pub(super) fn layers_evidence(layers: &[Layer]) -> String {
    let name = |layer: &Layer| match layers.iter().filter(|other| other.name == layer.name).count() {
        0 | 1 => layer.name.clone(),
        _ => layer.kind.clone(),
    };
    let evidence = layers.iter().map(|layer| format!("{}: {}", name(layer), layer.evidence));
    evidence.collect::<Vec<_>>().join("; ")
}

pub(super) fn claims(trims: Option<bool>, reads_as: Option<ReadsAs>) -> &'static str {
    use ReadsAs::{Anything, Ones, Same, Zeros};
    match (trims, reads_as) {
        (Some(false), _) => "does not support TRIM",
        (Some(true), Some(Zeros)) => "supports TRIM and promises zeros after it",
        (Some(true), Some(Ones)) => "supports TRIM and promises 0xFF after it",
        (Some(true), Some(Same)) => "supports TRIM and promises the same bytes at each read after it",
        (Some(true), Some(Anything) | None) => "supports TRIM and promises nothing about reads after it",
        (None, Some(Zeros)) => "promises zeros after TRIM",
        (None, Some(Ones)) => "promises 0xFF after TRIM",
        (None, Some(Same)) => "promises the same bytes at each read after TRIM",
        (None, Some(Anything) | None) => "does not report whether it supports TRIM",
    }
}

pub(super) fn sent(report: &TrimReport) -> String {
    match (&report.refusal, report.means) {
        (Some(reason), _) => format!("no: {reason}"),
        (None, TrimMethod::Mount) => "yes, by the file system itself (mounted with discard)".into(),
        (None, TrimMethod::Fitrim) => "yes, by the file system, asked for this range (FITRIM)".into(),
        (None, TrimMethod::Command | TrimMethod::Nothing) => "yes, straight to the drive".into(),
    }
}

pub(super) fn sent_evidence(report: &TrimReport) -> String {
    let mut parts = vec![format!("{} freed", Size(report.bytes))];
    parts.extend(report.accepted_bytes.map(|bytes| format!("{} accepted", Size(bytes))));
    // A file system that sends TRIM by itself starts before any clock.
    if matches!(report.means, TrimMethod::Fitrim | TrimMethod::Command) && report.bytes > 0 {
        let per_gib = Nanos((report.elapsed.0 as f64 / report.bytes as f64 * f64::from(1 << 30)) as u64);
        parts.push(format!("in {}, {per_gib} per GiB", report.elapsed));
    }
    parts.extend(report.discard_counters.iter().map(|DiscardCounters { device, ios, bytes }| {
        format!("{device} counted {} discarded in {}", Size(*bytes), count(*ios, "I/O"))
    }));
    parts.join(", ")
}

pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Unknown => "unknown; another file now uses those blocks, or they are unreadable",
        Outcome::Zeros => "zeros",
        Outcome::Ones => "0xFF",
        Outcome::Partly => "partly zeros or 0xFF, partly the old data",
        Outcome::OldData => "the old data (drives may keep showing it)",
        Outcome::Other => "other data: encrypted, or written by another program",
    }
}

pub(super) fn contents(contents: [(&str, Option<Content>); 4]) -> String {
    let known = contents
        .into_iter()
        .filter_map(|(when, content)| Some(format!("{when}: {}", content_text(&content?))));
    known.collect::<Vec<_>>().join("; ")
}

fn content_text(content: &Content) -> String {
    let parts = [
        (content.pattern_bytes, "as written"),
        (content.zero_bytes, "zeros"),
        (content.ones_bytes, "0xFF"),
        (content.other_bytes, "other data"),
        (content.taken_bytes, "no longer free, left out"),
        (content.refused_bytes, "unreadable"),
    ];
    let parts = parts.into_iter().filter(|(bytes, _)| *bytes > 0);
    parts.map(|(bytes, what)| format!("{} {what}", Size(bytes))).collect::<Vec<_>>().join(", ")
}

pub(super) fn timing(is_faster: bool) -> &'static str {
    if is_faster { "yes, the drive answers without reading flash" } else { "no" }
}

pub(super) fn timing_evidence(ratio: Estimate, reads: usize) -> String {
    let has_interval = ratio.interval.is_some();
    let ratio = estimated(ratio, Factor);
    if has_interval {
        format!("median latency of kept over freed blocks: {ratio} in {reads} alternating 4K reads each")
    } else {
        format!("median latency of kept over freed blocks: {ratio}, in too few reads for an interval")
    }
}

pub(super) fn accounting(is_freed: bool) -> &'static str {
    if is_freed { "yes" } else { "no" }
}

pub(super) fn accounting_evidence(change: &AllocationChange) -> String {
    let (before, after) = (Size(change.before_bytes), Size(change.after_bytes));
    format!("{before} before and {after} after, according to {}", change.source)
}

pub(super) fn gain_step(comparison: &Comparison, gain: Verdict) -> String {
    match gain {
        Verdict::Above => format!("yes, {} as fast", Factor(comparison.ratio.value)),
        Verdict::Below => "no".into(),
        Verdict::OnePass => "unknown (one pass)".into(),
        Verdict::Alike | Verdict::Unclear => "unknown".into(),
    }
}

pub(super) fn gain_evidence(comparison: &Comparison) -> String {
    let interval = comparison.ratio.interval.map_or_else(
        || "no interval".to_owned(),
        |interval| format!("95% interval {}", range(Factor(interval.low), Factor(interval.high))),
    );
    let share =
        comparison.freed_share.map_or_else(String::new, |share| format!(", {} of the drive", Share(share)));
    format!(
        "4K random writes over {}, {} with TRIM and {} without, {interval}; freed beside them: {}{share}",
        Size(comparison.freed_bytes),
        pass_count(comparison.passes_with),
        comparison.passes_without,
        Size(comparison.freed_bytes)
    )
}

// Overview, tables, series

pub(super) fn step_table(steps: &[TrimStep]) -> OverviewTable {
    let rows = steps.iter().map(|step| [step.question.to_owned(), step.answer.clone()]);
    overview_table(["question", "answer"], rows)
}

pub(super) fn passes(passes: Option<bool>) -> &'static str {
    match passes {
        Some(true) => "yes",
        Some(false) => "no",
        None => "does_not_say",
    }
}

pub(super) const EFFECT_TITLE: &str = "Random writes with and without TRIM";
pub(super) const LATENCY_TITLE: &str = "Read latency of kept and freed blocks";
pub(super) const WITH: &str = "with TRIM";
pub(super) const WITHOUT: &str = "without TRIM";
pub(super) const KEPT: &str = "kept";
pub(super) const FREED: &str = "freed";
pub(super) const RANDOM_WRITE: &str = "4K random write";

// Workloads, as progress shows them

pub(super) const FILL_KEPT: &str = "fill the kept half";
pub(super) const FILL_DELETED: &str = "fill the half to delete";
pub(super) const SETTLE: &str = "settle";
pub(super) const WRITE_WITH: &str = "4K random write with TRIM";
pub(super) const WRITE_WITHOUT: &str = "4K random write without TRIM";

// Settings and plans

pub(super) fn bad_bytes(bytes: u64) -> String {
    let nearest = use_nearest_multiple(bytes, 1 << 20, 1 << 20..=64 << 30);
    format!("bytes = {}: must be a multiple of 1 MiB, from 1MiB to 64GiB; {nearest}", Size(bytes))
}

likenew_core::sentences! {
    pub(super) fn small_span() = "span: needs at least 2MiB, one half to write over and one to free";
    pub(super) fn trim_does_not_fit(bytes: u64, least: u64) =
        "{} is too little: twice --bytes and {} more is needed, or --no-worth", Size(bytes), Size(least);
}

pub(super) fn span_does_not_fit(span: u64, capacity: u64) -> String {
    let most = exact_size(capacity - capacity % (2 << 20));
    format!(
        "span = {} does not fit into {}, or is less than 2 MiB: give a --span from 2MiB to {most}, or --no-worth",
        Size(span),
        Size(capacity)
    )
}

pub(super) const TRIM: &str = "trim";
pub(super) const EFFECT: &str = "effect";
const GAIN_QUESTION: &str = "Gain from TRIM";

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(ratio: f64, interval: Option<(f64, f64)>) -> Comparison {
        let interval = interval.map(|(low, high)| Interval { low, high });
        Comparison {
            ratio: Estimate { value: ratio, interval },
            passes_with: 4,
            passes_without: 4,
            freed_bytes: 512 << 20,
            freed_share: Some(0.5),
        }
    }

    #[test]
    fn the_effect_is_a_factor_with_its_range() {
        let answer = gain(&comparison(1.5, Some((1.4, 1.62))), Verdict::Above);
        assert_eq!(answer.answer, "random writes are 1.50× (1.40–1.62) as fast with it");
        assert_eq!(
            answer.evidence,
            [
                "4K random writes over 512 MiB, 4 passes with TRIM and 4 without; beside them, 512 MiB (50% of the drive) was freed."
            ]
        );
        let answer = gain(&comparison(1.1, Some((0.9, 1.4))), Verdict::Unclear);
        assert_eq!(
            answer.answer,
            "random writes are 1.10× (0.900–1.40) as fast with it, too uncertain to call"
        );
        let one_pass = comparison(1.0, None);
        assert_eq!(gain(&one_pass, Verdict::OnePass).answer, "1.00× in one pass each",);
        assert_eq!(gain_step(&one_pass, Verdict::OnePass), "unknown (one pass)");
        let (summary, _) = no_effect(&comparison(1.0, Some((0.986, 1.02))));
        assert_eq!(
            summary,
            "TRIM has no effect: it is sent, but random writes gain nothing (1.00×, 0.986–1.02). The drive \
             ignores it, or a bridge drops it."
        );
        assert_eq!(
            reaches_summary(Some(1.5)),
            "TRIM reaches the drive, and random writes are 1.50× as fast with it."
        );
    }

    #[test]
    fn a_layer_that_blocks_is_named_with_its_remedy() {
        let layer = Layer {
            name: "dm-0".into(),
            kind: "encryption (dm-crypt)".into(),
            passes: Some(false),
            discard_max_bytes: Some(0),
            granularity_bytes: None,
            evidence: "queue/discard_max_bytes = 0".into(),
            remedy: Some("open it with --allow-discards".into()),
        };
        let (summary, answer) = stops_at(&layer, Some("sda"));
        assert_eq!(
            summary,
            "TRIM stops at dm-0, encryption (dm-crypt), so the drive below never receives it."
        );
        assert_eq!(answer.actions[0].why, "Open it with --allow-discards");
        let bridge = Layer {
            name: "Stick".into(),
            kind: "bridge".into(),
            evidence: "no TRIM".into(),
            ..layer.clone()
        };
        let drive = Layer { kind: "drive".into(), evidence: "TRIM".into(), ..bridge.clone() };
        let (summary, answer) = stops_at(&bridge, Some("Stick"));
        assert_eq!(summary, "The bridge blocks TRIM, so Stick never receives it.");
        assert!(answer.actions[0].why.starts_with("Connect the drive directly"));
        assert_eq!(layers_pass(Some(&bridge), false), "no, the bridge blocks it");
        assert_eq!(layers_evidence(&[bridge, drive]), "bridge: no TRIM; drive: TRIM");
    }
}
