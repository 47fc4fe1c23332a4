//! What a SATA drive answers: its SMART attributes, their thresholds, and its statistics through the decoders
//! of `standards::ata`.

use likenew_core::facts::{Attribute, Counts, Fact, Health};

use super::machine_query::Question;
use super::subject::Subject;
use crate::health::plausible_c;
use crate::standards::ata::{self, Feature};
use crate::standards::bytes::counted;
use crate::wording::facts as wording;

const ABSENT: &str = wording::NO_ATTRIBUTE;
const NO_STATISTIC: &str = wording::NO_STATISTIC;
/// The log that says which logs there are, and those of errors, statistics and self-tests.
const DIRECTORY: u8 = 0x00;
const ERRORS: u8 = 0x03;
const STATISTICS: u8 = 0x04;
const SELF_TESTS: u8 = 0x07;

/// The answer, unless the drive does not take such questions. One whose IDENTIFY DEVICE is not known is asked.
fn query(subject: &Subject<'_>, feature: Feature, question: Question) -> Fact<Vec<u8>> {
    let identify = subject.ata_identify();
    match identify.value().and_then(|identify| identify.refusal(feature)) {
        Some(reason) => Fact::unknown(reason, question.origin()),
        None => subject.query(question),
    }
}

/// Attributes, from SMART READ DATA and SMART READ THRESHOLDS.
pub(crate) fn attributes(subject: &Subject<'_>) -> Fact<Vec<Attribute>> {
    let thresholds = query(subject, Feature::Smart, Question::AtaSmartThresholds);
    let thresholds = thresholds.value().map_or(&[][..], Vec::as_slice);
    let data = query(subject, Feature::Smart, Question::AtaSmartData);
    data.and_then(wording::NO_ATTRIBUTES, |data| ata::attributes(&data, thresholds))
}

/// What attributes and statistics say of its state.
pub(crate) fn health(subject: &Subject<'_>, attributes: &Fact<Vec<Attribute>>) -> Health {
    let failed = |attribute: &&Attribute| attribute.prefail && attribute.has_failed();
    let warnings = attributes.clone().map(|all| all.iter().filter(failed).map(warning).collect());
    Health {
        failing: attributes.clone().map(|all| all.iter().any(|attribute| failed(&attribute))),
        warnings,
        temperature_c: temperature(attributes),
        used_percent: statistic(&statistics(subject, 0x07), 0x07, 8, 1).map(|percent| percent as f64),
        pending_sectors: raw(attributes, 197, 32),
        attributes: attributes.clone(),
        ..Health::default()
    }
}

/// An attribute at its threshold, in words.
pub(crate) fn warning(attribute: &Attribute) -> String {
    wording::attribute_warning(attribute.id, attribute.value, attribute.threshold)
}

/// The lowest byte of 194, or of 190, is degrees Celsius with almost every maker.
fn temperature(attributes: &Fact<Vec<Attribute>>) -> Fact<f64> {
    let of = |id: u8| raw(attributes, id, 8).and_then(ABSENT, |degrees| plausible_c(degrees as f64));
    of(194).or_else(|| of(190))
}

/// Counters of attributes and statistics.
pub(crate) fn counts(subject: &Subject<'_>, attributes: &Fact<Vec<Attribute>>, counts: &mut Counts) {
    let general = statistics(subject, 0x01);
    counts.reallocated_sectors = raw(attributes, 5, 16);
    counts.power_on_hours = statistic(&general, 0x01, 16, 4).or_else(|| raw(attributes, 9, 24));
    counts.power_cycles = raw(attributes, 12, 32);
    counts.unaligned_accesses = raw(attributes, 181, 48);
    counts.link_downshifts = raw(attributes, 183, 32);
    counts.media_errors =
        raw(attributes, 187, 32).or_else(|| statistic(&statistics(subject, 0x04), 0x04, 8, 4));
    // Nothing is missing where a drive keeps no such logs.
    let logged = |number, read: fn(&[u8]) -> Option<u64>| {
        let count = log(subject, number, 0).and_then(wording::SHORT_ANSWER, |answer| read(&answer));
        if count.value().is_some() { count } else { Fact::NotQueried }
    };
    counts.error_log_entries = logged(ERRORS, ata::logged_errors);
    counts.self_tests_failed = logged(SELF_TESTS, ata::failed_self_tests);
    counts.uncorrectable_sectors = raw(attributes, 198, 32);
    counts.crc_errors = raw(attributes, 199, 32);
    let sectors = |at| statistic(&general, 0x01, at, 6).map(|sectors| sectors.saturating_mul(512));
    counts.lifetime_bytes_written = sectors(24);
    counts.lifetime_bytes_read = sectors(40);
}

/// The low bits of the maker's own number of an attribute.
fn raw(attributes: &Fact<Vec<Attribute>>, id: u8, bits: u32) -> Fact<u64> {
    attributes.clone().and_then(ABSENT, |all| {
        let attribute = all.iter().find(|attribute| attribute.id == id)?;
        counted(attribute.raw & ((1 << bits) - 1), bits)
    })
}

/// A page of Device Statistics.
fn statistics(subject: &Subject<'_>, page: u8) -> Fact<Vec<u8>> {
    log(subject, STATISTICS, page)
}

/// A page of a log that the directory of logs has.
fn log(subject: &Subject<'_>, log: u8, page: u8) -> Fact<Vec<u8>> {
    let question = Question::AtaLog(log, page);
    let directory = query(subject, Feature::Logs, Question::AtaLog(DIRECTORY, 0));
    match directory.map(|directory| ata::log_pages(&directory, log)) {
        Fact::Value { value: Some(1..), .. } => subject.query(question),
        Fact::Value { .. } => Fact::unknown(NO_STATISTIC, question.origin()),
        Fact::Unknown { reason, help, .. } => Fact::Unknown { reason, help, origin: question.origin() },
        Fact::NotQueried => Fact::NotQueried,
    }
}

/// A number from a page of Device Statistics.
fn statistic(answer: &Fact<Vec<u8>>, page: u8, at: usize, length: usize) -> Fact<u64> {
    answer.clone().and_then(NO_STATISTIC, |answer| ata::statistic(&answer, page, at, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_bits_of_a_makers_number_are_taken() {
        let mut data = vec![0; 512];
        data[2..14].copy_from_slice(&[199, 0, 0, 100, 90, 0x34, 0x12, 0, 0, 0, 0, 0]);
        let known = Fact::new(ata::attributes(&data, &[]).unwrap(), "SMART");
        assert_eq!((raw(&known, 199, 8).get(), raw(&known, 7, 8).reason()), (Some(0x34), Some(ABSENT)));
    }
}
