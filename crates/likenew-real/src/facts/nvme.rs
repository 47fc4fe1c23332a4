//! What an NVMe drive answers: Identify, the SMART log, features, and the log of Amazon's volumes (NVM Express Base Specification 2.0).

use likenew_core::facts::{Counts, Fact, Health, HostMemory, Space};

use super::asker::Question;
use super::bytes::{little, little_16};
use super::subject::Subject;

/// The log of health, in bytes.
pub(crate) const SMART: Question = Question::NvmeLog(0x02, 512);
const KELVIN: f64 = 273.0;
const SHORT: &str = "the answer is too short";
/// Data units are thousands of 512 bytes (figure 207).
const UNIT_BYTES: u64 = 512_000;
/// Bytes of the units in which memory of the host is asked for (HMPRE, HMMIN), and of a page of its memory.
const PAGE_BYTES: u64 = 4096;

/// The SMART log (figure 207) and the limits of Identify Controller (figure 275).
pub(crate) fn health(subject: &Subject<'_>) -> Health {
    let (log, controller) = (subject.ask(SMART), subject.ask(Question::NvmeController));
    let byte = |at: usize| log.clone().and_then(SHORT, |log| little(&log, at, 1));
    let limit = |at: usize| {
        let kelvin = controller.clone().and_then(SHORT, |answer| little(&answer, at, 2));
        kelvin.and_then("it names none", |kelvin| (kelvin > 0).then_some(kelvin as f64 - KELVIN))
    };
    let flags = byte(0);
    let kelvin = log.clone().and_then(SHORT, |log| little(&log, 1, 2));
    let temperature =
        kelvin.and_then("it measures none", |kelvin| (kelvin > 0).then_some(kelvin as f64 - KELVIN));
    Health {
        // Bit 1 is heat, which passes.
        failing: flags.clone().map(|flags| flags & 0b11_1101 != 0),
        warnings: flags.clone().map(warnings),
        read_only: flags.map(|flags| flags >> 3 & 1 == 1),
        temperature_c: temperature,
        temperature_warning_c: limit(266),
        temperature_critical_c: limit(268),
        used_percent: byte(5).map(|percent| percent as f64),
        spare_percent: byte(3).map(|percent| percent as f64),
        spare_threshold_percent: byte(4).map(|percent| percent as f64),
        ..Health::default()
    }
}

/// Critical Warning, bit by bit.
pub(crate) fn warnings(flags: u64) -> Vec<String> {
    const WORDS: [&str; 6] = [
        "its spare is below the threshold",
        "its temperature is beyond a threshold",
        "its reliability is degraded",
        "it is read-only",
        "its backup of volatile memory has failed",
        "its persistent memory region is unreliable or read-only",
    ];
    let set = WORDS.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1);
    set.map(|(_, word)| (*word).to_owned()).collect()
}

/// Counters of the SMART log.
pub(crate) fn counts(subject: &Subject<'_>, counts: &mut Counts) {
    let log = subject.ask(SMART);
    let long = |at: usize| log.clone().and_then(SHORT, |log| little_16(&log, at));
    let short = |at: usize| log.clone().and_then(SHORT, |log| little(&log, at, 4));
    let units = |at: usize| long(at).map(|units| units.saturating_mul(UNIT_BYTES));
    let minutes = |fact: Fact<u64>| fact.map(|minutes| minutes.saturating_mul(60));
    counts.lifetime_bytes_read = units(32);
    counts.lifetime_bytes_written = units(48);
    counts.controller_busy_s = minutes(long(96));
    counts.power_cycles = long(112);
    counts.power_on_hours = long(128);
    counts.unsafe_shutdowns = long(144);
    counts.media_errors = long(160);
    counts.error_log_entries = long(176);
    counts.warm_s = minutes(short(192));
    counts.hot_s = minutes(short(196));
    counts.throttled_light_times = short(216);
    counts.throttled_heavy_times = short(220);
    counts.throttled_light_s = short(224);
    counts.throttled_heavy_s = short(228);
}

/// What it asked for (HMPRE, HMMIN) and what it was given (feature 0Dh), or what the log of the kernel says of that.
pub(crate) fn host_memory(subject: &Subject<'_>, logged_bytes: Option<Fact<u64>>) -> HostMemory {
    let controller = subject.ask(Question::NvmeController);
    let pages = |at: usize| {
        let pages = controller.clone().and_then(SHORT, |answer| little(&answer, at, 4));
        pages.map(|pages| pages * PAGE_BYTES)
    };
    let wanted_bytes = pages(272);
    let given_bytes = match wanted_bytes.get() {
        Some(0) => Fact::known(0, "it wants none"),
        _ => given(subject).or_else(|| logged_bytes.unwrap_or_default()),
    };
    let limit = subject.roots.number::<u64>("/sys/module/nvme/parameters/max_host_mem_size_mb");
    HostMemory {
        wanted_bytes,
        least_bytes: pages(276),
        given_bytes,
        limit_bytes: limit.and_then("it is too large to be true", |mebibytes| mebibytes.checked_mul(1 << 20)),
    }
}

/// Bit 0 of the feature says whether it is enabled; its data begins with the size in pages of memory (figure 335).
fn given(subject: &Subject<'_>) -> Fact<u64> {
    let feature = subject.ask(Question::NvmeFeature(0x0D));
    let by_feature = feature.and_then(SHORT, |answer| {
        let is_enabled = little(&answer, 0, 4)? & 1 == 1;
        Some(if is_enabled { little(&answer, 4, 4)?.saturating_mul(PAGE_BYTES) } else { 0 })
    });
    by_feature.or_else(|| {
        // The kernel says whether, not how much.
        let place = format!("/sys/class/nvme/{}/hmb", subject.controller.as_deref().unwrap_or("none"));
        let flag = subject.roots.line(&place);
        flag.and_then("it has some; how much takes root to know", |flag| (flag == "0").then_some(0))
    })
}

/// What Identify Namespace says of its use and its formats (NVM Command Set Specification 1.0, figure 97).
pub(crate) fn space(subject: &Subject<'_>) -> Space {
    let answer = subject.ask(Question::NvmeNamespace);
    let allocated =
        answer.clone().and_then("the drive gives its size for what is in use, or nothing", |answer| {
            let (size, used) = (little(&answer, 0, 8)?, little(&answer, 16, 8)?);
            let (_, exponent) = format(&answer, usize::from(*answer.get(26)? & 0xF))?;
            (used < size).then(|| used.saturating_mul(1 << exponent))
        });
    Space {
        allocated_bytes: allocated,
        // Where none is better there is nothing to tell.
        better_block_bytes: match answer.map(better_format) {
            Fact::Known { value: None, .. } => Fact::Unasked,
            told => told.and_then(SHORT, |better| better),
        },
        ..Space::default()
    }
}

/// Relative performance (0 is best) and the exponent of the length of block of one of the formats.
fn format(answer: &[u8], number: usize) -> Option<(u8, u32)> {
    let format = answer.get(128 + 4 * number..132 + 4 * number)?;
    let exponent = u32::from(format[2]);
    (9..32).contains(&exponent).then_some((format[3] & 0b11, exponent))
}

/// A format without metadata that the drive calls better than the one in use.
fn better_format(answer: Vec<u8>) -> Option<u64> {
    let (in_use, _) = format(&answer, usize::from(*answer.get(26)? & 0xF))?;
    let count = usize::from(*answer.get(25)?).min(15);
    let plain = (0..=count).filter(|number| little(&answer, 128 + 4 * number, 2) == Some(0));
    let best =
        plain.filter_map(|number| format(&answer, number)).min_by_key(|(performance, _)| *performance)?;
    (best.0 < in_use).then(|| 1 << best.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_said_in_words() {
        assert_eq!(warnings(0), [""; 0]);
        assert_eq!(warnings(0b1010), ["its temperature is beyond a threshold", "it is read-only"]);
        assert_eq!(warnings(u64::MAX).len(), 6);
    }

    #[test]
    fn a_better_format_is_one_that_the_drive_ranks_higher() {
        let mut answer = vec![0; 4096];
        (answer[25], answer[26]) = (1, 0);
        answer[128..136].copy_from_slice(&[0, 0, 9, 2, 0, 0, 12, 0]);
        assert_eq!(better_format(answer.clone()), Some(4096));
        answer[26] = 1;
        assert_eq!(better_format(answer.clone()), None);
        answer[26] = 0;
        answer[132] = 8;
        assert_eq!(better_format(answer), None, "one with metadata is for others");
    }
}
