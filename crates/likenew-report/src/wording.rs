//! What is known of a verdict, a drive and a run, in the sentences that terminal and page share.

use likenew_core::drive::Kind;
use likenew_core::instrument::AddedLatency;
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, amount};
use likenew_core::verdict::{Estimate, Standing, Verdict};

use crate::document::Document;
use crate::unit::{Unit, clean};

/// What a verdict means to the owner of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Severity {
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Not known.
    Doubtful,
}

/// What a verdict means to the owner: a claim that names a problem is good news when it fails.
pub(crate) fn severity(verdict: &Verdict) -> Severity {
    match (verdict.standing, verdict.problem) {
        (Standing::Holds, true) | (Standing::Fails, false) => Severity::Bad,
        (Standing::Holds, false) | (Standing::Fails, true) => Severity::Good,
        (Standing::Undecided, _) => Severity::Doubtful,
    }
}

/// Whether a claim stands, in words that do not need colour.
pub(crate) fn standing_word(verdict: &Verdict) -> &'static str {
    match (verdict.standing, verdict.problem) {
        (Standing::Holds, true) => "problem found",
        (Standing::Holds, false) => "holds",
        (Standing::Fails, true) => "no problem",
        (Standing::Fails, false) => "does not hold",
        (Standing::Undecided, _) => "undecided",
    }
}

/// `77.2 MB/s (76.4 to 77.9 MB/s)`, without the interval where it is the value alone.
pub(crate) fn estimate_words(estimate: &Estimate) -> String {
    let unit = Unit::parse(&estimate.unit);
    let value = unit.spell(estimate.value);
    if estimate.low == estimate.value && estimate.high == estimate.value {
        return value;
    }
    let (low, high) = (unit.spell(estimate.low), unit.spell(estimate.high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((low, unit)), Some((_, same))) if unit == same => format!("{value} ({low} to {high})"),
        _ => format!("{value} ({low} to {high})"),
    }
}

/// What was measured, with what, and what limits the trust in it, in sentences.
pub(crate) fn run_details(document: &Document) -> Vec<String> {
    let mut sentences = vec![target(document), run(document)];
    sentences.extend(device_counters_text(document));
    sentences.extend(added_latency(document));
    sentences.extend(document.target.caveats.iter().map(|caveat| format!("Caveat: {caveat}")));
    sentences.iter().map(|sentence| clean(sentence)).collect()
}

fn target(document: &Document) -> String {
    let target = &document.target;
    let kind = match target.kind {
        Kind::Folder => "a folder",
        Kind::File => "a file",
        Kind::Device => "a block device",
        Kind::Simulated => "a simulated drive",
        Kind::Nop => "nothing at all",
    };
    let what = match &target.model {
        Some(model) => format!("{model}, {kind}"),
        None => kind.to_owned(),
    };
    let facts: String = target.facts.iter().map(|(name, value)| format!("; {name}: {value}")).collect();
    let block = amount(target.block_bytes.into());
    // Of what another program measured the capacity may not be known.
    let space = match target.capacity_bytes {
        0 => String::new(),
        bytes => format!(", {} in blocks of {block}", amount(bytes)),
    };
    format!("{}: {what}{space}{facts}.", target.name)
}

fn run(document: &Document) -> String {
    let clock = match document.instrument.clock {
        Clock::Wall => "",
        Clock::Virtual => " of the drive's own time",
    };
    format!(
        "{} by likenew {} over {}, seed {}: {} written in {}{clock}.",
        document.procedure,
        document.instrument.version,
        document.target.engine,
        document.plan.seed,
        amount(document.bytes_written),
        Nanos(document.elapsed_ns),
    )
}

fn added_latency(document: &Document) -> Option<String> {
    let AddedLatency { call_ns, wake_ns_p50, wake_ns_p99 } = document.instrument.calibration?.added_latency?;
    Some(format!(
        "The instrument adds {} of system calls to each latency, and {} (p99 {}) to wake up once an I/O has ended.",
        Nanos(call_ns),
        Nanos(wake_ns_p50),
        Nanos(wake_ns_p99)
    ))
}

fn device_counters_text(document: &Document) -> Option<String> {
    let device_counters_text = document.target.accounting?;
    if !device_counters_text.has_flash() {
        let amplification = if device_counters_text.write_amplification == 1.0 {
            String::new()
        } else {
            format!(" (write amplification {:.2})", device_counters_text.write_amplification)
        };
        let host = amount(device_counters_text.host_bytes_written);
        let medium = amount(device_counters_text.flash_bytes_programmed);
        return Some(format!(
            "In this run: {host} from the host, {medium} written to the medium{amplification}."
        ));
    }
    let wear = device_counters_text.wear.filter(|wear| wear.erases_max > 0).map_or(String::new(), |wear| {
        let bad = match wear.bad_blocks {
            0 => String::new(),
            bad => format!(", {bad} bad blocks"),
        };
        format!(
            " Since it was made each block was erased {} to {} times, {:.2} on average{bad}.",
            wear.erases_min, wear.erases_max, wear.erases_mean
        )
    });
    Some(format!(
        "In this run: {} from the host, {} programmed into flash (write amplification {:.2}), {} erases, {} free blocks.{wear}",
        amount(device_counters_text.host_bytes_written),
        amount(device_counters_text.flash_bytes_programmed),
        device_counters_text.write_amplification,
        Unit::Plain.spell(device_counters_text.erases as f64),
        Unit::Plain.spell(device_counters_text.free_blocks as f64),
    ))
}
