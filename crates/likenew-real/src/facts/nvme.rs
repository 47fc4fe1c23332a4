//! What an NVMe drive answers: Identify, the SMART log, features, and the log of Amazon's volumes (NVM
//! Express Base Specification 2.0).

use likenew_core::facts::{Counts, Fact, Health, HostMemory, Space};

use super::machine_query::Question;
use super::subject::Subject;
use crate::standards::bytes::{little, little_16};
use crate::standards::nvme::{Controller, Namespace};
use crate::wording::facts as wording;

/// The log of health, in bytes.
pub(crate) const SMART: Question = Question::NvmeLog(0x02, 512);
/// Kelvin at 0 °C: NVMe reports temperatures in whole kelvins.
const KELVIN: f64 = 273.0;
const SHORT: &str = wording::SHORT_ANSWER;
/// Data units are thousands of 512 bytes (figure 207).
const UNIT_BYTES: u64 = 512_000;
/// Bytes of a page of the host's memory.
const PAGE_BYTES: u64 = 4096;

/// The SMART log (figure 207) and the limits of Identify Controller.
pub(crate) fn health(subject: &Subject<'_>) -> Health {
    let (log, controller) = (subject.query(SMART), subject.query(Question::NvmeController));
    let byte = |at: usize| log.clone().and_then(SHORT, |log| little(&log, at, 1));
    let limits =
        controller.and_then(SHORT, |answer| Some(Controller::parse(&answer)?.temperature_limits_c()));
    let flags = byte(0);
    let kelvin = log.clone().and_then(SHORT, |log| little(&log, 1, 2));
    let temperature = kelvin
        .and_then(wording::NO_TEMPERATURE_SENSOR, |kelvin| (kelvin > 0).then_some(kelvin as f64 - KELVIN));
    Health {
        // Bit 1 is heat, which passes.
        failing: flags.clone().map(|flags| flags & 0b11_1101 != 0),
        warnings: flags.clone().map(warnings),
        read_only: flags.map(|flags| flags >> 3 & 1 == 1),
        temperature_c: temperature,
        temperature_warning_c: limits.clone().and_then(wording::NO_LIMIT, |(warning, _)| warning),
        temperature_critical_c: limits.and_then(wording::NO_LIMIT, |(_, critical)| critical),
        used_percent: byte(5).map(|percent| percent as f64),
        spare_percent: byte(3).map(|percent| percent as f64),
        spare_threshold_percent: byte(4).map(|percent| percent as f64),
        ..Health::default()
    }
}

/// Critical Warning, bit by bit.
pub(crate) fn warnings(flags: u64) -> Vec<String> {
    const WORDS: [&str; 6] = [
        wording::SPARE_LOW,
        wording::TEMPERATURE_BEYOND,
        wording::RELIABILITY_DEGRADED,
        wording::READ_ONLY,
        wording::BACKUP_FAILED,
        wording::PERSISTENT_REGION_UNRELIABLE,
    ];
    let set = WORDS.iter().enumerate().filter(|(bit, _)| flags >> bit & 1 == 1);
    set.map(|(_, word)| (*word).to_owned()).collect()
}

/// Counters of the SMART log.
pub(crate) fn counts(subject: &Subject<'_>, counts: &mut Counts) {
    let log = subject.query(SMART);
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
    let controller = subject.query(Question::NvmeController);
    let bytes = controller.and_then(SHORT, |answer| Some(Controller::parse(&answer)?.host_memory_bytes()));
    let wanted_bytes = bytes.clone().map(|(wanted, _)| wanted);
    let given_bytes = match wanted_bytes.get() {
        Some(0) => Fact::new(0, wording::NO_HOST_MEMORY),
        _ => granted_memory(subject).or_else(|| logged_bytes.unwrap_or_default()),
    };
    let limit = subject.roots.number::<u64>("/sys/module/nvme/parameters/max_host_mem_size_mb");
    HostMemory {
        wanted_bytes,
        least_bytes: bytes.map(|(_, least)| least),
        given_bytes,
        limit_bytes: limit.and_then(wording::TOO_LARGE, |mebibytes| mebibytes.checked_mul(1 << 20)),
    }
}

/// Bit 0 of the feature says whether it is enabled; its data begins with the size in pages of memory (figure 335).
fn granted_memory(subject: &Subject<'_>) -> Fact<u64> {
    let feature = subject.query(Question::NvmeFeature(0x0D));
    let by_feature = feature.and_then(SHORT, |answer| {
        let is_enabled = little(&answer, 0, 4)? & 1 == 1;
        Some(if is_enabled { little(&answer, 4, 4)?.saturating_mul(PAGE_BYTES) } else { 0 })
    });
    by_feature.or_else(|| {
        // The kernel says whether, not how much.
        let place = format!("/sys/class/nvme/{}/hmb", subject.controller.as_deref().unwrap_or("none"));
        let flag = subject.roots.line(&place);
        flag.and_then(wording::HOST_MEMORY_NEEDS_ROOT, |flag| (flag == "0").then_some(0))
    })
}

/// What Identify Namespace says of its use and its formats.
pub(crate) fn space(subject: &Subject<'_>) -> Space {
    let answer = subject.query(Question::NvmeNamespace);
    let namespace = answer.and_then(wording::INVALID_ANSWER, |answer| Namespace::parse(&answer));
    let allocated = namespace.clone().and_then(wording::NO_THIN_PROVISIONING, |namespace| {
        Some(namespace.used_blocks?.saturating_mul(namespace.format.block_bytes))
    });
    Space {
        allocated_bytes: allocated,
        // Where none is better there is nothing to tell.
        better_block_bytes: match namespace.map(|namespace| namespace.better_block_bytes()) {
            Fact::Value { value: None, .. } => Fact::NotQueried,
            found => found.and_then(wording::NO_BETTER_FORMAT, |better| better),
        },
        ..Space::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_reported_in_words() {
        assert_eq!(warnings(0), [""; 0]);
        assert_eq!(warnings(0b1010), ["its temperature is beyond a threshold", "it is read-only"]);
        assert_eq!(warnings(u64::MAX).len(), 6);
    }
}
