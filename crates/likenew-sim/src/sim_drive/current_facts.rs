//! Facts of a simulated drive as they are now: what changes while it is open are its counters, its temperature and the age
//! of its data.

use likenew_core::counters::Counters;
use likenew_core::drive::Drive as _;
use likenew_core::facts::drive::Drive;
use likenew_core::facts::{Fact, Facts};
use likenew_core::probe::FACTS_WAIT;
use likenew_core::units::Nanos;

use super::SimDrive;
use crate::device::SelfCounts;
use crate::machine_facts::{StaticFacts, fact};
use crate::wording::host::{NOT_REPORTED, ORIGIN};

const SECOND_NS: u64 = 1_000_000_000;

/// Everything that is known of a drive now. I/O of other programs is watched for a while, in which it is left
/// alone.
pub(super) fn current_facts(drive: &mut SimDrive) -> Option<Facts> {
    let StaticFacts { facts, age } = drive.static_facts()?;
    let (mut facts, age) = (facts.clone(), *age);
    let before = drive.self_counts().neighbor_io;
    drive.rest(FACTS_WAIT);
    count(&mut facts.drives[0], drive, &before);
    if let Some(files) = &mut facts.files {
        let seconds = (age + drive.clock()).0 / SECOND_NS;
        for entry in [
            &mut files.content_age_s_p10,
            &mut files.content_age_s_p50,
            &mut files.content_age_s_p90,
            &mut files.inode_age_s_p50,
            &mut files.inode_age_s_p90,
        ] {
            *entry = fact(seconds);
        }
    }
    Some(facts)
}

/// Puts down what is counted now; `before` is what others had done before they were watched.
fn count(facts: &mut Drive, drive: &mut SimDrive, before: &Counters) {
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
