//! ATA: IDENTIFY DEVICE, the tables of SMART, and Device Statistics (ATA8-ACS, ACS-3).

use likenew_core::facts::Attribute;

use super::scsi::rotation;
use super::{Sanitize, little, text};
use crate::wording::facts as wording;

/// Words of IDENTIFY DEVICE.
pub(crate) const IDENTIFY_WORDS: usize = 256;

/// A drive's IDENTIFY DEVICE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IdentifyDevice {
    words: [u16; IDENTIFY_WORDS],
}

/// The state of the Security feature set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AtaSecurity {
    /// The drive has the feature set.
    pub supported: bool,
    /// A password is set.
    pub enabled: bool,
    /// Data cannot be read before it is unlocked.
    pub locked: bool,
    /// The drive takes no security commands until it has been without power.
    pub frozen: bool,
    /// Too many passwords were tried.
    pub expired: bool,
    /// The drive has the enhanced erase.
    pub enhanced: bool,
    /// The drive's own estimate for an erase; the largest one that it can state means this or more.
    pub minutes: Option<u32>,
    /// The drive's own estimate for the enhanced erase, in the same form.
    pub minutes_enhanced: Option<u32>,
    /// The ways in which the drive can sanitize; none without Sanitize.
    pub sanitize: Sanitize,
}

/// The drive's TRIM support (words 69 and 169).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TrimSupport {
    /// The drive takes TRIM.
    pub(crate) trims: bool,
    /// DRAT: trimmed sectors read as the same bytes each time.
    pub(crate) reads_same: bool,
    /// RZAT: trimmed sectors read as zeros.
    pub(crate) reads_zeros: bool,
}

/// A feature that a drive has to report before it is queried. A drive that does not know a command refuses
/// it, and the kernel logs that as an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feature {
    /// SMART.
    Smart,
    /// Logs by READ LOG EXT (General Purpose Logging).
    Logs,
}

impl IdentifyDevice {
    /// From the words that the kernel hands out.
    pub(crate) fn new(words: [u16; IDENTIFY_WORDS]) -> Self {
        Self { words }
    }

    /// From the bytes that the drive sends; `None` if there are too few.
    pub(crate) fn parse(answer: &[u8]) -> Option<Self> {
        let answer = answer.get(..2 * IDENTIFY_WORDS)?;
        let word = |at: usize| u16::from_le_bytes([answer[2 * at], answer[2 * at + 1]]);
        Some(Self::new(std::array::from_fn(word)))
    }

    /// The bytes that [`IdentifyDevice::parse`] reads.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    fn bit(&self, word: usize, bit: u32) -> bool {
        self.words[word] >> bit & 1 == 1
    }

    /// Text, padded with blanks; the bytes of each word are swapped.
    fn text(&self, words: std::ops::Range<usize>) -> Option<String> {
        let bytes: Vec<u8> = self.words[words].iter().flat_map(|word| word.to_be_bytes()).collect();
        text(&bytes)
    }

    /// The serial number (words 10 to 19).
    pub(crate) fn serial(&self) -> Option<String> {
        self.text(10..20)
    }

    /// The firmware's revision (words 23 to 26).
    pub(crate) fn firmware(&self) -> Option<String> {
        self.text(23..27)
    }

    /// The model (words 27 to 46).
    pub(crate) fn model(&self) -> Option<String> {
        self.text(27..47)
    }

    /// Rotation in rpm, 0 for a drive that does not rotate (word 217).
    pub(crate) fn rotation_rpm(&self) -> Option<u32> {
        rotation(self.words[217])
    }

    /// TRIM: word 169 bit 0; word 69 bit 14 DRAT, bit 5 RZAT.
    pub(crate) fn trim(&self) -> TrimSupport {
        TrimSupport { trims: self.bit(169, 0), reads_same: self.bit(69, 14), reads_zeros: self.bit(69, 5) }
    }

    /// The fastest generation of SATA that the drive has, 1 to 3 (word 76).
    pub(crate) fn sata_generation_max(&self) -> Option<u32> {
        let speeds = Some(self.words[76]).filter(|word| *word != 0xFFFF)? >> 1 & 0b111;
        generation(u16::BITS - speeds.leading_zeros())
    }

    /// The generation of SATA that the link has now, 1 to 3 (word 77).
    pub(crate) fn sata_generation(&self) -> Option<u32> {
        generation(u32::from(self.words[77] >> 1 & 0b111))
    }

    /// Why a feature is not to be queried (words 82 and 85 bit 0, 84 and 87 bit 5, valid with 01b in bits 15 and 14).
    pub(crate) fn refusal(&self, feature: Feature) -> Option<&'static str> {
        let is_valid = |number: usize| self.words[number] >> 14 == 0b01;
        match feature {
            // In drives older than these words, all their bits are zeros or ones, which says nothing.
            Feature::Smart if matches!(self.words[82], 0 | 0xFFFF) => None,
            Feature::Smart if !self.bit(82, 0) => Some(wording::NO_SMART),
            Feature::Smart if !self.bit(85, 0) => Some(wording::SMART_OFF),
            Feature::Logs if !(is_valid(84) && self.bit(84, 5) || is_valid(87) && self.bit(87, 5)) => {
                Some(wording::NO_SUCH_LOGS)
            }
            Feature::Smart | Feature::Logs => None,
        }
    }

    /// Security and Sanitize: words 59 (Sanitize), 89 and 90 (minutes), 128 (state of Security).
    pub(crate) fn security(&self) -> AtaSecurity {
        // Bit 15 marks the longer form. A unit is two minutes, and the largest value means "or more".
        let minutes = |word: u16| {
            let units = if word >> 15 == 1 { word & 0x7FFF } else { word & 0xFF };
            (units > 0).then(|| u32::from(units) * 2)
        };
        let has_sanitize = self.bit(59, 12);
        AtaSecurity {
            supported: self.bit(128, 0),
            enabled: self.bit(128, 1),
            locked: self.bit(128, 2),
            frozen: self.bit(128, 3),
            expired: self.bit(128, 4),
            enhanced: self.bit(128, 5),
            minutes: minutes(self.words[89]),
            minutes_enhanced: minutes(self.words[90]),
            sanitize: Sanitize {
                block: has_sanitize && self.bit(59, 15),
                overwrite: has_sanitize && self.bit(59, 14),
                crypto: has_sanitize && self.bit(59, 13),
            },
        }
    }
}

fn generation(number: u32) -> Option<u32> {
    (1..=3).contains(&number).then_some(number)
}

/// The attributes of SMART READ DATA, with the thresholds of SMART READ THRESHOLDS. From byte 2 on, there are
/// thirty entries of twelve bytes: number, flags, value, worst, six bytes of the maker's own (ATA-5 as
/// published by makers; later standards leave the form to makers, and all kept it).
pub(crate) fn attributes(data: &[u8], thresholds: &[u8]) -> Option<Vec<Attribute>> {
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

/// How many pages a log has, from the directory of logs: two bytes for each log (ACS-3, A.4).
pub(crate) fn log_pages(directory: &[u8], log: u8) -> Option<u64> {
    little(directory, 2 * usize::from(log), 2)
}

/// A number from a page of Device Statistics (ACS-3, A.5). Bits 7 and 6 of the number's eighth byte say that
/// it is there and valid.
pub(crate) fn statistic(answer: &[u8], page: u8, at: usize, length: usize) -> Option<u64> {
    let is_page = answer.get(2) == Some(&page);
    let is_valid = answer.get(at.checked_add(7)?)? & 0xC0 == 0xC0;
    if is_page && is_valid { little(answer, at, length) } else { None }
}

/// How many errors the drive has logged, from the first page of the Extended Comprehensive SMART Error Log
/// (ACS-3, A.7).
pub(crate) fn logged_errors(answer: &[u8]) -> Option<u64> {
    little(answer, 500, 2)
}

/// Self-tests that found a failure, from the first page of the Extended SMART Self-Test Log (ACS-3, A.8). From byte 4 on,
/// there are 19 entries of 26 bytes; the upper half of the second byte has the result, and 3 to 8 are failures.
pub(crate) fn failed_self_tests(answer: &[u8]) -> Option<u64> {
    let entries = answer.get(4..4 + 19 * 26)?.chunks_exact(26);
    Some(entries.filter(|entry| (3..=8).contains(&(entry[1] >> 4))).count() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identify(set: &[(usize, u16)]) -> IdentifyDevice {
        let mut words = [0; IDENTIFY_WORDS];
        set.iter().for_each(|(at, word)| words[*at] = *word);
        IdentifyDevice::new(words)
    }

    #[test]
    fn a_drive_is_asked_only_for_what_it_announces() {
        let smart = |words: &[(usize, u16)]| identify(words).refusal(Feature::Smart);
        assert_eq!(smart(&[(82, 0x4021), (85, 0x4021)]), None);
        assert!(smart(&[(82, 0x4020), (85, 0x4020)]).unwrap().contains("announce"));
        assert!(smart(&[(82, 0x4021), (85, 0x4020)]).unwrap().contains("switched off"));
        assert_eq!((smart(&[]), smart(&[(82, 0xFFFF)])), (None, None), "older than these words");
        let logs = |words: &[(usize, u16)]| identify(words).refusal(Feature::Logs);
        assert_eq!((logs(&[(84, 0x4020)]), logs(&[(87, 0x4020)])), (None, None));
        for words in [[(84, 0x4000)], [(84, 0x0020)], [(84, 0xC020)]] {
            assert!(logs(&words).is_some(), "{words:?}");
        }
    }

    #[test]
    fn text_and_speeds_stand_in_words() {
        let mut bytes = vec![0; 512];
        bytes[2 * 27..2 * 27 + 12].copy_from_slice(b"NIET LSSSD2A");
        bytes[2 * 23..2 * 23 + 8].copy_from_slice(b"1020  AH");
        bytes[2 * 76] = 0b1110;
        bytes[2 * 77] = 0b0100;
        (bytes[2 * 217], bytes[2 * 169]) = (1, 1);
        let drive = IdentifyDevice::parse(&bytes).unwrap();
        assert_eq!(drive.model().as_deref(), Some("INTEL SSDSA2"));
        assert_eq!((drive.firmware().as_deref(), drive.serial()), (Some("0102  HA"), None));
        assert_eq!((drive.sata_generation_max(), drive.sata_generation()), (Some(3), Some(2)));
        assert_eq!(drive.rotation_rpm(), Some(0));
        assert!(drive.trim().trims && !drive.trim().reads_same);
        assert_eq!(IdentifyDevice::parse(&bytes[..511]), None);
        assert_eq!(identify(&[(76, 0xFFFF)]).sata_generation_max(), None);
    }

    #[test]
    fn security_and_sanitize_stand_in_four_words() {
        assert_eq!(identify(&[]).security(), AtaSecurity::default());
        let security =
            identify(&[(128, 0b10_1001), (89, 30), (90, 0x8000 | 300), (59, 1 << 12 | 1 << 15)]).security();
        assert!(security.supported && security.frozen && security.enhanced);
        assert!(!security.enabled && !security.locked);
        assert_eq!((security.minutes, security.minutes_enhanced), (Some(60), Some(600)));
        assert_eq!(security.sanitize, Sanitize { block: true, ..Sanitize::default() });
        let without = identify(&[(59, 1 << 15)]).security();
        assert_eq!(without.sanitize, Sanitize::default(), "without the feature set");
    }

    #[test]
    fn attributes_have_their_thresholds() {
        let (mut data, mut limits) = (vec![0; 512], vec![0; 512]);
        data[2..14].copy_from_slice(&[5, 1, 0, 9, 9, 7, 0, 0, 0, 0, 0, 0]);
        data[14..26].copy_from_slice(&[199, 0, 0, 100, 90, 0x34, 0x12, 0, 0, 0, 0, 0]);
        limits[2..4].copy_from_slice(&[5, 10]);
        let parsed = attributes(&data, &limits).unwrap();
        assert_eq!(parsed.len(), 2);
        assert!(parsed[0].has_failed() && parsed[0].prefail);
        assert_eq!((parsed[1].raw, parsed[1].threshold, parsed[1].has_failed()), (0x1234, 0, false));
        assert_eq!(attributes(&data[..100], &limits), None);
        assert_eq!(attributes(&[0; 512], &limits), None);
    }

    #[test]
    fn a_statistic_is_there_where_its_flags_say_so() {
        let mut page = vec![0; 512];
        page[2] = 1;
        page[24..32].copy_from_slice(&[0x10, 0x20, 0, 0, 0, 0, 0, 0xC0]);
        assert_eq!(statistic(&page, 1, 24, 6), Some(0x2010));
        assert_eq!((statistic(&page, 7, 24, 6), statistic(&page, 1, 16, 4)), (None, None));
        assert_eq!((statistic(&page, 1, 510, 6), statistic(&[], 1, usize::MAX, 6)), (None, None));
        assert_eq!((log_pages(&page, 12), log_pages(&page[..8], 4)), (Some(0x2010), None));
    }

    #[test]
    fn logs_tell_what_failed() {
        let mut errors = [0; 512];
        errors[500..502].copy_from_slice(&[0x34, 0x12]);
        assert_eq!((logged_errors(&errors), logged_errors(&errors[..500])), (Some(0x1234), None));
        let mut tests = [0; 512];
        for (entry, result) in [0x00, 0x10, 0x79, 0x40, 0xF5].into_iter().enumerate() {
            tests[4 + 26 * entry + 1] = result;
        }
        assert_eq!(failed_self_tests(&tests), Some(2), "done, aborted, unreadable, failed, going on");
    }
}
