//! What an NVMe drive answers: Identify, the SMART log, features, and the log of Amazon's volumes (NVM
//! Express Base Specification 2.0).

use likenew_core::facts::{Counts, Fact, Health, HostMemory, Space};

use super::machine_query::Question;
use super::subject::Subject;
use crate::standards::nvme::{
    Controller, ERROR_ENTRY_BYTES, HealthLog, Namespace, granted_memory_bytes, media_errors,
};
use crate::wording::facts as wording;

/// The log of health, in bytes.
pub(crate) const SMART: Question = Question::NvmeLog(0x02, 512);
const SHORT: &str = wording::SHORT_ANSWER;

/// The SMART log (figure 207) and the limits of Identify Controller.
pub(crate) fn health(subject: &Subject<'_>) -> Health {
    let (log, controller) = (subject.query(SMART), subject.query(Question::NvmeController));
    let limits =
        controller.and_then(SHORT, |answer| Some(Controller::parse(&answer)?.temperature_limits_c()));
    let percent = |field: fn(HealthLog<'_>) -> Option<u64>| number(&log, field).map(|percent| percent as f64);
    let flags = number(&log, |log| log.warning_flags());
    let temperature = log.clone().and_then(SHORT, |log| HealthLog(&log).temperature_c());
    Health {
        // Bit 1 is heat, which passes.
        failing: flags.clone().map(|flags| flags & 0b11_1101 != 0),
        warnings: flags.clone().map(warnings),
        read_only: flags.map(|flags| flags >> 3 & 1 == 1),
        temperature_c: temperature.and_then(wording::NO_TEMPERATURE_SENSOR, |celsius| celsius),
        temperature_warning_c: limits.clone().and_then(wording::NO_LIMIT, |(warning, _)| warning),
        temperature_critical_c: limits.and_then(wording::NO_LIMIT, |(_, critical)| critical),
        used_percent: percent(|log| log.used_percent()),
        spare_percent: percent(|log| log.spare_percent()),
        spare_threshold_percent: percent(|log| log.spare_threshold_percent()),
        ..Health::default()
    }
}

/// One field of the SMART log.
fn number(log: &Fact<Vec<u8>>, field: fn(HealthLog<'_>) -> Option<u64>) -> Fact<u64> {
    log.clone().and_then(SHORT, |log| field(HealthLog(&log)))
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
    counts.lifetime_bytes_read = number(&log, |log| log.bytes_read());
    counts.lifetime_bytes_written = number(&log, |log| log.bytes_written());
    counts.controller_busy_s = number(&log, |log| log.controller_busy_s());
    counts.power_cycles = number(&log, |log| log.power_cycles());
    counts.power_on_hours = number(&log, |log| log.power_on_hours());
    counts.unsafe_shutdowns = number(&log, |log| log.unsafe_shutdowns());
    let errors = number(&log, |log| log.media_errors());
    counts.media_errors = errors.map(|errors| errors.max(logged_media_errors(subject).unwrap_or(0)));
    counts.error_log_entries = number(&log, |log| log.error_log_entries());
    counts.warm_s = number(&log, |log| log.warm_s());
    counts.hot_s = number(&log, |log| log.hot_s());
    counts.throttled_light_times = number(&log, |log| log.throttled_times().0);
    counts.throttled_heavy_times = number(&log, |log| log.throttled_times().1);
    counts.throttled_light_s = number(&log, |log| log.throttled_s().0);
    counts.throttled_heavy_s = number(&log, |log| log.throttled_s().1);
}

/// Errors of the medium in its error log, which has as many entries as Identify Controller says.
fn logged_media_errors(subject: &Subject<'_>) -> Option<u64> {
    let controller = subject.query(Question::NvmeController);
    let entries = Controller::parse(controller.value()?)?.error_log_entries();
    let log = subject.query(Question::NvmeLog(0x01, entries * ERROR_ENTRY_BYTES as u32));
    Some(media_errors(log.value()?))
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

/// By the feature Host Memory Buffer, or else by what the kernel says.
fn granted_memory(subject: &Subject<'_>) -> Fact<u64> {
    let feature = subject.query(Question::NvmeFeature(0x0D));
    let by_feature = feature.and_then(SHORT, |answer| granted_memory_bytes(&answer));
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
