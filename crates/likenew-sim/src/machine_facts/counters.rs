//! What changes while a simulated drive is open: its counters and its temperature.

use likenew_core::counters::Counters;
use likenew_core::drive::Drive as _;
use likenew_core::facts::Fact;
use likenew_core::facts::drive::Drive;
use likenew_core::probe::FACTS_WAIT;
use likenew_core::units::Nanos;

use super::{SECOND_NS, fact};
use crate::device::SelfCounts;
use crate::sim_drive::SimDrive;
use crate::wording::host::{NOT_REPORTED, ORIGIN};

/// Puts down what is counted now; `before` is what others had done before they were watched.
pub(super) fn count(facts: &mut Drive, drive: &mut SimDrive, before: &Counters) {
    let (own, health) = (drive.self_counts(), drive.device_health());
    let SelfCounts { throttled, neighbor_io, exceeded, media_errors, link_errors, kernel: _ } = own;
    let host = drive.counters().unwrap_or_default();
    let counts = &mut facts.counts;
    counts.reads = fact(host.reads);
    counts.writes = fact(host.writes);
    counts.bytes_read = fact(host.bytes_read);
    counts.bytes_written = fact(host.bytes_written);
    counts.discards = Fact::from_option(host.discards, NOT_REPORTED, ORIGIN);
    counts.bytes_discarded = Fact::from_option(host.bytes_discarded, NOT_REPORTED, ORIGIN);
    counts.flushes = Fact::from_option(host.flushes, NOT_REPORTED, ORIGIN);
    counts.busy_ms = fact(host.busy.0 / 1_000_000);
    if let Some((iops, throughput)) = exceeded {
        let micros = |span: Nanos| fact(span.0 / 1000);
        counts.volume_iops_exceeded_us = micros(iops);
        counts.volume_throughput_exceeded_us = micros(throughput);
    }
    // The kernel's log is the host's own.
    counts.log_link_errors = fact(link_errors);
    let rate = |now: u64, then: u64| fact((now - then) * SECOND_NS / FACTS_WAIT.0);
    facts.others_read_bytes_per_s = rate(neighbor_io.bytes_read, before.bytes_read);
    facts.others_write_bytes_per_s = rate(neighbor_io.bytes_written, before.bytes_written);
    facts.in_flight = fact(0);
    // What hides a drive's health hides its counters, too.
    if facts.health.failing.value().is_none() {
        return;
    }
    facts.health.temperature_c = Fact::from_option(health.temperature_c, NOT_REPORTED, ORIGIN);
    facts.health.throttling = Fact::from_option(health.throttling, NOT_REPORTED, ORIGIN);
    let counts = &mut facts.counts;
    counts.media_errors = fact(media_errors);
    if counts.crc_errors.get().is_some() {
        counts.crc_errors = fact(link_errors);
    }
    counts.throttled_light_times = Fact::from_option(throttled.map(|(times, _)| times), NOT_REPORTED, ORIGIN);
    counts.throttled_light_s =
        Fact::from_option(throttled.map(|(_, span)| span.0 / SECOND_NS), NOT_REPORTED, ORIGIN);
}
