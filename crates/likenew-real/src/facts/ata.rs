//! What a SATA drive answers: its SMART attributes, their thresholds, and its statistics (ATA8-ACS, ACS-3).

use likenew_core::facts::{Attribute, Counts, Fact, Health};

use super::asker::Question;
use super::bytes::{little, word};
use super::subject::Subject;

const ABSENT: &str = "the drive has no such attribute";
const NO_STATISTIC: &str = "the drive keeps no such statistic";
/// The log that says which logs there are, and that of device statistics.
const DIRECTORY: u8 = 0x00;
const STATISTICS: u8 = 0x04;

/// What a drive has to announce before it is asked: one that does not know a command refuses it, and the kernel logs that as an error.
#[derive(Clone, Copy)]
enum Feature {
    /// SMART.
    Smart,
    /// Logs by READ LOG EXT (General Purpose Logging).
    Logs,
}

impl Feature {
    /// Why IDENTIFY DEVICE says that it is not to be asked (ACS-3: words 82 and 85 bit 0, 84 and 87 bit 5, valid with 01b in bits 15 and 14).
    fn refusal(self, identify: &[u8]) -> Option<&'static str> {
        let has = |number: usize, bit: u32| word(identify, number).is_some_and(|word| word >> bit & 1 == 1);
        let is_valid = |number: usize| word(identify, number).is_some_and(|word| word >> 14 == 0b01);
        match self {
            // Words of drives that are older than them are all zeros or all ones, and say nothing.
            Self::Smart if matches!(word(identify, 82), None | Some(0 | 0xFFFF)) => None,
            Self::Smart if !has(82, 0) => Some("the drive does not announce SMART"),
            Self::Smart if !has(85, 0) => Some("its SMART is switched off"),
            Self::Logs if !(is_valid(84) && has(84, 5) || is_valid(87) && has(87, 5)) => {
                Some("the drive does not announce such logs")
            }
            Self::Smart | Self::Logs => None,
        }
    }
}

/// The answer, unless the drive does not take such questions. One whose IDENTIFY DEVICE is not known is asked.
fn ask(subject: &Subject<'_>, feature: Feature, question: Question) -> Fact<Vec<u8>> {
    let identify = subject.ata_identify();
    match identify.value().and_then(|identify| feature.refusal(identify)) {
        Some(why) => Fact::unknown(why, question.origin()),
        None => subject.ask(question),
    }
}

/// Attributes, from SMART READ DATA and SMART READ THRESHOLDS.
pub(crate) fn attributes(subject: &Subject<'_>) -> Fact<Vec<Attribute>> {
    let thresholds = ask(subject, Feature::Smart, Question::AtaSmartThresholds);
    let thresholds = thresholds.value().map_or(&[][..], Vec::as_slice);
    let data = ask(subject, Feature::Smart, Question::AtaSmartData);
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
    format!(
        "attribute {} has come down to {}, its threshold is {}",
        attribute.id, attribute.value, attribute.threshold
    )
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
    let general = statistics(subject, 0x01);
    counts.reallocated_sectors = raw(attributes, 5, 16);
    counts.power_on_hours = statistic(&general, 0x01, 16, 4).or_else(|| raw(attributes, 9, 24));
    counts.power_cycles = raw(attributes, 12, 32);
    counts.unaligned_accesses = raw(attributes, 181, 48);
    counts.link_downshifts = raw(attributes, 183, 32);
    counts.media_errors = raw(attributes, 187, 32);
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
        Some(attribute.raw & ((1 << bits) - 1))
    })
}

/// A page of Device Statistics, where the directory of logs has that log: two bytes for each of them, its length (ACS-3, A.4).
fn statistics(subject: &Subject<'_>, page: u8) -> Fact<Vec<u8>> {
    let question = Question::AtaLog(STATISTICS, page);
    let directory = ask(subject, Feature::Logs, Question::AtaLog(DIRECTORY, 0));
    match directory.map(|directory| little(&directory, 2 * usize::from(STATISTICS), 2)) {
        Fact::Known { value: Some(1..), .. } => subject.ask(question),
        Fact::Known { .. } => Fact::unknown(NO_STATISTIC, question.origin()),
        Fact::Unknown { why, help, .. } => Fact::Unknown { why, help, origin: question.origin() },
        Fact::Unasked => Fact::Unasked,
    }
}

/// A number out of a page of Device Statistics (ACS-3, A.5); bits 7 and 6 of its eighth byte say that it is there and valid.
fn statistic(answer: &Fact<Vec<u8>>, page: u8, at: usize, length: usize) -> Fact<u64> {
    answer.clone().and_then(NO_STATISTIC, |answer| {
        let is_page = answer.get(2) == Some(&page);
        let is_valid = answer.get(at + 7)? & 0xC0 == 0xC0;
        if is_page && is_valid { little(&answer, at, length) } else { None }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_is_asked_only_for_what_it_announces() {
        let identify = |words: &[(usize, u16)]| {
            let mut identify = vec![0; 512];
            words
                .iter()
                .for_each(|(at, word)| identify[2 * at..2 * at + 2].copy_from_slice(&word.to_le_bytes()));
            identify
        };
        let smart = |words: &[(usize, u16)]| Feature::Smart.refusal(&identify(words));
        assert_eq!(smart(&[(82, 0x4021), (85, 0x4021)]), None);
        assert!(smart(&[(82, 0x4020), (85, 0x4020)]).unwrap().contains("announce"));
        assert!(smart(&[(82, 0x4021), (85, 0x4020)]).unwrap().contains("switched off"));
        assert_eq!((smart(&[]), smart(&[(82, 0xFFFF)])), (None, None), "older than these words");
        let logs = |words: &[(usize, u16)]| Feature::Logs.refusal(&identify(words));
        assert_eq!((logs(&[(84, 0x4020)]), logs(&[(87, 0x4020)])), (None, None));
        for words in [[(84, 0x4000)], [(84, 0x0020)], [(84, 0xC020)]] {
            assert!(logs(&words).is_some(), "{words:?}");
        }
        assert_eq!(Feature::Smart.refusal(&[]), None);
    }

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
