//! What a SATA drive answers: its SMART attributes, their thresholds, and its statistics (ATA8-ACS, ACS-3).

use likenew_core::facts::{Attribute, Counts, Fact, Health};

use super::asker::Question;
use super::bytes::little;
use super::subject::Subject;

const SHORT: &str = "the answer is too short";
const ABSENT: &str = "the drive has no such attribute";
const STATISTICS: u8 = 0x04;

/// Attributes, from SMART READ DATA and SMART READ THRESHOLDS.
pub(crate) fn attributes(subject: &Subject<'_>) -> Fact<Vec<Attribute>> {
    let thresholds = subject.ask(Question::AtaSmartThresholds);
    let thresholds = thresholds.value().map_or(&[][..], Vec::as_slice);
    let data = subject.ask(Question::AtaSmartData);
    data.and_then("it holds no attributes", |data| parse(&data, thresholds))
}

/// Thirty entries of twelve bytes from byte 2 on: number, flags, value, worst, six bytes of the maker's own (ATA-5 as published by
/// makers; later standards leave it to them, and all kept it).
fn parse(data: &[u8], thresholds: &[u8]) -> Option<Vec<Attribute>> {
    let entries = |table: &[u8]| -> Vec<[u8; 12]> {
        let body = table.get(2..362).unwrap_or_default();
        body.chunks_exact(12)
            .filter_map(|entry| entry.try_into().ok())
            .filter(|entry: &[u8; 12]| entry[0] > 0)
            .collect()
    };
    let limits = entries(thresholds);
    let attributes: Vec<Attribute> = entries(data)
        .iter()
        .map(|entry| Attribute {
            id: entry[0],
            value: entry[3],
            worst: entry[4],
            threshold: limits.iter().find(|limit| limit[0] == entry[0]).map_or(0, |limit| limit[1]),
            raw: little(entry, 5, 6).unwrap_or_default(),
            prefail: entry[1] & 1 == 1,
        })
        .collect();
    (!attributes.is_empty()).then_some(attributes)
}

/// What attributes and statistics say of its state.
pub(crate) fn health(subject: &Subject<'_>, attributes: &Fact<Vec<Attribute>>) -> Health {
    let failed = |attribute: &&Attribute| attribute.prefail && attribute.has_failed();
    let warnings = attributes.clone().map(|all| {
        let word = |attribute: &Attribute| {
            format!(
                "attribute {} has come down to {}, its threshold is {}",
                attribute.id, attribute.value, attribute.threshold
            )
        };
        all.iter().filter(failed).map(word).collect()
    });
    Health {
        failing: attributes.clone().map(|all| all.iter().any(|attribute| failed(&attribute))),
        warnings,
        temperature_c: temperature(attributes),
        used_percent: statistic(subject, 0x07, 8, 1).map(|percent| percent as f64),
        pending_sectors: raw(attributes, 197, 32),
        attributes: attributes.clone(),
        ..Health::default()
    }
}

/// The lowest byte of 194, or of 190, is degrees Celsius with almost every maker.
fn temperature(attributes: &Fact<Vec<Attribute>>) -> Fact<f64> {
    let of = |id: u8| {
        raw(attributes, id, 8)
            .and_then(ABSENT, |degrees| (1..=120).contains(&degrees).then_some(degrees as f64))
    };
    of(194).or_else(|| of(190))
}

/// Counters of attributes and statistics.
pub(crate) fn counts(subject: &Subject<'_>, attributes: &Fact<Vec<Attribute>>, counts: &mut Counts) {
    counts.reallocated_sectors = raw(attributes, 5, 16);
    counts.power_on_hours = statistic(subject, 0x01, 16, 4).or_else(|| raw(attributes, 9, 24));
    counts.power_cycles = raw(attributes, 12, 32);
    counts.unaligned_accesses = raw(attributes, 181, 48);
    counts.link_downshifts = raw(attributes, 183, 32);
    counts.media_errors = raw(attributes, 187, 32);
    counts.uncorrectable_sectors = raw(attributes, 198, 32);
    counts.crc_errors = raw(attributes, 199, 32);
    let sectors = |at| statistic(subject, 0x01, at, 6).map(|sectors| sectors.saturating_mul(512));
    counts.lifetime_bytes_written = sectors(24);
    counts.lifetime_bytes_read = sectors(40);
}

/// The low bits of the maker's own number of an attribute.
fn raw(attributes: &Fact<Vec<Attribute>>, id: u8, bits: u32) -> Fact<u64> {
    attributes.clone().and_then(ABSENT, |all| {
        let attribute = all.iter().find(|attribute| attribute.id == id)?;
        Some(attribute.raw & ((1 << bits) - 1))
    })
}

/// A number out of a page of Device Statistics (ACS-3, A.5); bits 7 and 6 of its eighth byte say that it is there and valid.
fn statistic(subject: &Subject<'_>, page: u8, at: usize, length: usize) -> Fact<u64> {
    let answer = subject.ask(Question::AtaLog(STATISTICS, page));
    let number = |answer: Vec<u8>| {
        let is_page = answer.get(2) == Some(&page);
        let is_valid = answer.get(at + 7)? & 0xC0 == 0xC0;
        if is_page && is_valid { little(&answer, at, length) } else { None }
    };
    answer.and_then("the drive keeps no such statistic", number)
}

/// What is known of a drive whose smartctl was asked, since nothing else can ask it.
pub(crate) fn by_smartctl(subject: &Subject<'_>, health: &mut Health, counts: &mut Counts) {
    let answer = subject.ask(Question::Smartctl);
    let answer =
        answer.and_then("it is no JSON", |bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok());
    let at = |pointer: &'static str| {
        answer.clone().and_then("smartctl does not say", |answer| answer.pointer(pointer).cloned())
    };
    let number = |pointer| at(pointer).and_then(SHORT, |value| value.as_u64());
    let float = |pointer| at(pointer).and_then(SHORT, |value| value.as_f64());
    health.failing =
        at("/smart_status/passed").and_then(SHORT, |passed| passed.as_bool().map(|passed| !passed));
    health.temperature_c = float("/temperature/current");
    health.used_percent = float("/scsi_percentage_used_endurance_indicator");
    counts.power_on_hours = number("/power_on_time/hours");
    counts.reallocated_sectors = number("/scsi_grown_defect_list");
    counts.media_errors = number("/scsi_error_counter_log/read/total_uncorrected_errors");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_have_their_thresholds() {
        let (mut data, mut limits) = (vec![0; 512], vec![0; 512]);
        data[2..14].copy_from_slice(&[5, 1, 0, 9, 9, 7, 0, 0, 0, 0, 0, 0]);
        data[14..26].copy_from_slice(&[199, 0, 0, 100, 90, 0x34, 0x12, 0, 0, 0, 0, 0]);
        limits[2..4].copy_from_slice(&[5, 10]);
        let attributes = parse(&data, &limits).unwrap();
        assert_eq!(attributes.len(), 2);
        assert!(attributes[0].has_failed() && attributes[0].prefail);
        assert_eq!(
            (attributes[1].raw, attributes[1].threshold, attributes[1].has_failed()),
            (0x1234, 0, false)
        );
        let known = Fact::known(attributes, "SMART");
        assert_eq!((raw(&known, 199, 8).get(), raw(&known, 7, 8).why()), (Some(0x34), Some(ABSENT)));
        assert_eq!(parse(&data[..100], &limits), None);
        assert_eq!(parse(&[0; 512], &limits), None);
    }
}
