//! What changes while a simulated drive is open: its counters and its temperature.

use likenew_core::counters::Counters;
use likenew_core::drive::Drive as _;
use likenew_core::facts::Fact;
use likenew_core::facts::drive::Drive;
use likenew_core::look::FACTS_WAIT;
use likenew_core::units::Nanos;

use super::{ORIGIN, SECOND_NS, SILENT, known};
use crate::device::SelfCounts;
use crate::sim_drive::SimDrive;

/// Puts down what is counted now; `before` is what others had done before they were watched.
pub(super) fn count(facts: &mut Drive, drive: &mut SimDrive, before: &Counters) {
    let (own, health) = (drive.self_counts(), drive.device_health());
    let SelfCounts { throttled, others, exceeded, media_errors, link_errors, kernel: _ } = own;
    let host = drive.counters().unwrap_or_default();
    let counts = &mut facts.counts;
    counts.reads = known(host.reads);
    counts.writes = known(host.writes);
    counts.bytes_read = known(host.bytes_read);
    counts.bytes_written = known(host.bytes_written);
    counts.discards = Fact::of(host.discards, SILENT, ORIGIN);
    counts.bytes_discarded = Fact::of(host.bytes_discarded, SILENT, ORIGIN);
    counts.flushes = Fact::of(host.flushes, SILENT, ORIGIN);
    counts.busy_ms = known(host.busy.0 / 1_000_000);
    if let Some((iops, throughput)) = exceeded {
        let micros = |span: Nanos| known(span.0 / 1000);
        counts.volume_iops_exceeded_us = micros(iops);
        counts.volume_throughput_exceeded_us = micros(throughput);
    }
    // The kernel's log is the host's own.
    counts.log_link_errors = known(link_errors);
    let rate = |now: u64, then: u64| known((now - then) * SECOND_NS / FACTS_WAIT.0);
    facts.others_read_bytes_per_s = rate(others.bytes_read, before.bytes_read);
    facts.others_write_bytes_per_s = rate(others.bytes_written, before.bytes_written);
    facts.in_flight = known(0);
    // What passes no health on passes no counter of its own on, either.
    if facts.health.failing.value().is_none() {
        return;
    }
    facts.health.temperature_c = Fact::of(health.temperature_c, SILENT, ORIGIN);
    facts.health.throttling = Fact::of(health.throttling, SILENT, ORIGIN);
    let counts = &mut facts.counts;
    counts.media_errors = known(media_errors);
    if counts.crc_errors.get().is_some() {
        counts.crc_errors = known(link_errors);
    }
    counts.throttled_light_times = Fact::of(throttled.map(|(times, _)| times), SILENT, ORIGIN);
    counts.throttled_light_s = Fact::of(throttled.map(|(_, span)| span.0 / SECOND_NS), SILENT, ORIGIN);
}
