//! NVMe: Identify Controller, Identify Namespace, the list of active namespaces, the SMART log (NVM Express
//! Base Specification 2.0, figures 275 and 207; NVM Command Set Specification 1.0, figure 97), and Amazon's
//! log of its volumes.

use likenew_core::facts::{Counts, Fact};

use super::{Sanitize, little, little_16};

/// Bytes of an answer to Identify Controller or Identify Namespace.
pub(crate) const IDENTIFY_BYTES: usize = 4096;
/// Kelvin at 0 °C: NVMe reports temperatures in whole kelvins.
const KELVIN: f64 = 273.0;
/// The unit of HMPRE and HMMIN, and a page of the host's memory, in bytes.
const HOST_MEMORY_UNIT_BYTES: u64 = 4096;

/// Identify Controller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Controller<'a>(&'a [u8]);

impl<'a> Controller<'a> {
    /// `None` if the answer is too short.
    pub(crate) fn parse(answer: &'a [u8]) -> Option<Self> {
        answer.get(..IDENTIFY_BYTES).map(Self)
    }

    fn number(&self, at: usize, length: usize) -> u64 {
        little(self.0, at, length).unwrap_or_default()
    }

    /// Format NVM is supported (OACS, bit 1).
    pub(crate) fn formats(&self) -> bool {
        self.number(256, 2) >> 1 & 1 == 1
    }

    /// A format, or the erase that comes with it, reaches all namespaces (FNA, bits 0 and 1).
    pub(crate) fn formats_all_namespaces(&self) -> bool {
        self.number(524, 1) & 0b11 != 0
    }

    /// A format can erase by changing the key (FNA, bit 2).
    pub(crate) fn erases_key(&self) -> bool {
        self.number(524, 1) >> 2 & 1 == 1
    }

    /// Dataset Management is supported, which is how NVMe trims (ONCS, bit 2).
    pub(crate) fn trims(&self) -> bool {
        self.number(520, 2) >> 2 & 1 == 1
    }

    /// Entries of the error log (ELPE), 64 at most.
    pub(crate) fn error_log_entries(&self) -> u32 {
        (self.number(262, 1) as u32 + 1).min(64)
    }

    /// The temperatures in °C from which the drive warns and is critical (WCTEMP, CCTEMP); `None` for one that it does not name.
    pub(crate) fn temperature_limits_c(&self) -> (Option<f64>, Option<f64>) {
        let celsius =
            |at| Some(self.number(at, 2)).filter(|kelvin| *kelvin > 0).map(|kelvin| kelvin as f64 - KELVIN);
        (celsius(266), celsius(268))
    }

    /// Host memory that the drive prefers, and the least that it can use (HMPRE, HMMIN), in bytes.
    pub(crate) fn host_memory_bytes(&self) -> (u64, u64) {
        (self.number(272, 4) * HOST_MEMORY_UNIT_BYTES, self.number(276, 4) * HOST_MEMORY_UNIT_BYTES)
    }

    /// The ways in which the drive can sanitize; `None` without any (SANICAP, bytes 331 to 328).
    pub(crate) fn sanitize(&self) -> Option<Sanitize> {
        let bit = |bit: u32| self.number(328, 4) >> bit & 1 == 1;
        let ways = Sanitize { crypto: bit(0), block: bit(1), overwrite: bit(2) };
        ways.is_any().then_some(ways)
    }
}

/// One of the formats that a namespace can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LbaFormat {
    pub(crate) block_bytes: u64,
    pub(crate) metadata_bytes: u16,
    /// Relative performance: 0 is best, 3 is degraded.
    pub(crate) performance: u8,
}

/// Identify Namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Namespace {
    /// The size in blocks (NSZE).
    pub(crate) size_blocks: u64,
    /// Blocks in use (NUSE), if the drive counts them; many drives give the size here.
    pub(crate) used_blocks: Option<u64>,
    /// The formats that the namespace supports, by index; `None` for one that makes no sense.
    pub(crate) formats: Vec<Option<LbaFormat>>,
    /// The index of the format in use (FLBAS).
    pub(crate) format_index: u8,
    /// The format in use.
    pub(crate) format: LbaFormat,
    /// Whether metadata follows each block and is transferred with it (FLBAS, bit 4).
    pub(crate) extended_blocks: bool,
    /// Kind of protection information; 0 for none (DPS, bits 2 to 0).
    pub(crate) protection: u8,
    /// Whether protection information stands first in the metadata (DPS, bit 3).
    pub(crate) protection_first: bool,
    /// What deallocated blocks read as (DLFEAT).
    pub(crate) deallocated: u8,
}

/// The formats begin at this byte; each takes four bytes.
const FORMATS_AT: usize = 128;
const FORMATS_MAX: usize = 64;

impl Namespace {
    /// `None` if the answer is too short, or the format in use makes no sense.
    pub(crate) fn parse(answer: &[u8]) -> Option<Self> {
        let answer = answer.get(..IDENTIFY_BYTES)?;
        let (size_blocks, used) = (little(answer, 0, 8)?, little(answer, 16, 8)?);
        let count = (usize::from(answer[25]) + 1).min(FORMATS_MAX);
        let format_index = format_index(answer[26], count);
        let format = lba_format(answer, usize::from(format_index))?;
        Some(Self {
            size_blocks,
            used_blocks: (used < size_blocks).then_some(used),
            formats: (0..count).map(|index| lba_format(answer, index)).collect(),
            format_index,
            format,
            extended_blocks: answer[26] >> 4 & 1 == 1,
            protection: answer[29] & 0b111,
            protection_first: answer[29] >> 3 & 1 == 1,
            deallocated: answer[33],
        })
    }

    /// The size of a block of the best format without metadata, where the drive ranks one above the format in use.
    pub(crate) fn better_block_bytes(&self) -> Option<u64> {
        let plain = self.formats.iter().flatten().filter(|format| format.metadata_bytes == 0);
        let best = plain.min_by_key(|format| format.performance)?;
        (best.performance < self.format.performance).then_some(best.block_bytes)
    }
}

/// The index in FLBAS: bits 3 to 0, and above them bits 6 and 5 if there are more than 16 formats.
fn format_index(flbas: u8, count: usize) -> u8 {
    let upper = if count > 16 { flbas >> 5 & 0b11 } else { 0 };
    upper << 4 | flbas & 0xF
}

/// A format, from MS, LBADS and RP; `None` if a block is shorter than 512 bytes or longer than 64 KiB, which no drive has.
fn lba_format(answer: &[u8], index: usize) -> Option<LbaFormat> {
    let at = FORMATS_AT + 4 * index;
    let exponent = *answer.get(at + 2)?;
    let (metadata_bytes, performance) = (little(answer, at, 2)? as u16, answer.get(at + 3)? & 0b11);
    (9..=16).contains(&exponent).then(|| LbaFormat {
        block_bytes: 1 << exponent,
        metadata_bytes,
        performance,
    })
}

/// The numbers of the list of active namespaces (CNS 02h), which ends at the first zero.
pub(crate) fn active_namespaces(answer: &[u8]) -> Vec<u32> {
    let numbers = answer.chunks_exact(4).filter_map(|word| Some(little(word, 0, 4)? as u32));
    numbers.take_while(|number| *number != 0).collect()
}

/// A number in a log page: where it begins, how many bytes it takes, and what one of its units stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogField(usize, usize, u64);

/// Data units are thousands of 512 bytes.
const DATA_UNIT_BYTES: u64 = 512_000;
const SECONDS_PER_MINUTE: u64 = 60;

/// Fields of the SMART / Health Information log (page 02h; Base Specification 2.0, figure 207), and of Amazon's log below.
impl LogField {
    /// Critical Warning, bit by bit.
    pub(crate) const WARNING_FLAGS: Self = Self(0, 1, 1);
    pub(crate) const SPARE_PERCENT: Self = Self(3, 1, 1);
    pub(crate) const SPARE_THRESHOLD_PERCENT: Self = Self(4, 1, 1);
    pub(crate) const USED_PERCENT: Self = Self(5, 1, 1);
    /// I/Os that wait in an Amazon volume.
    pub(crate) const QUEUE_LENGTH: Self = Self(88, 8, 1);
}

/// A counter, and the field of a log that has it.
pub(crate) type CountField = (fn(&mut Counts) -> &mut Fact<u64>, LogField);

/// Counters of the SMART / Health Information log.
pub(crate) const SMART_COUNTS: [CountField; 14] = [
    (|counts| &mut counts.lifetime_bytes_read, LogField(32, 16, DATA_UNIT_BYTES)),
    (|counts| &mut counts.lifetime_bytes_written, LogField(48, 16, DATA_UNIT_BYTES)),
    (|counts| &mut counts.controller_busy_s, LogField(96, 16, SECONDS_PER_MINUTE)),
    (|counts| &mut counts.power_cycles, LogField(112, 16, 1)),
    (|counts| &mut counts.power_on_hours, LogField(128, 16, 1)),
    (|counts| &mut counts.unsafe_shutdowns, LogField(144, 16, 1)),
    (|counts| &mut counts.media_errors, LogField(160, 16, 1)),
    (|counts| &mut counts.error_log_entries, LogField(176, 16, 1)),
    // Time above the warning temperature, and above the critical one.
    (|counts| &mut counts.warm_s, LogField(192, 4, SECONDS_PER_MINUTE)),
    (|counts| &mut counts.hot_s, LogField(196, 4, SECONDS_PER_MINUTE)),
    // Transitions into thermal management, light and heavy, and the time there.
    (|counts| &mut counts.throttled_light_times, LogField(216, 4, 1)),
    (|counts| &mut counts.throttled_heavy_times, LogField(220, 4, 1)),
    (|counts| &mut counts.throttled_light_s, LogField(224, 4, 1)),
    (|counts| &mut counts.throttled_heavy_s, LogField(228, 4, 1)),
];

/// Counters of Amazon's log of a volume's performance (page D0h; nvme-cli, `plugins/amzn`; Amazon EBS user guide, "Amazon
/// EBS detailed performance statistics"): the time above the limits of the volume and of the instance, in µs.
pub(crate) const AMAZON_COUNTS: [CountField; 4] = [
    (|counts| &mut counts.volume_iops_exceeded_us, LogField(56, 8, 1)),
    (|counts| &mut counts.volume_throughput_exceeded_us, LogField(64, 8, 1)),
    (|counts| &mut counts.instance_iops_exceeded_us, LogField(72, 8, 1)),
    (|counts| &mut counts.instance_throughput_exceeded_us, LogField(80, 8, 1)),
];

impl LogField {
    /// The field's value; `None` if the answer is too short.
    pub(crate) fn read(self, log: &[u8]) -> Option<u64> {
        let Self(at, length, unit) = self;
        let number = if length == 16 { little_16(log, at)? } else { little(log, at, length)? };
        Some(number.saturating_mul(unit))
    }
}

/// Composite Temperature of the SMART log; zero kelvin is no measurement.
pub(crate) fn temperature_c(log: &[u8]) -> Option<Option<f64>> {
    little(log, 1, 2).map(|kelvin| (kelvin > 0).then_some(kelvin as f64 - KELVIN))
}

/// Whether this is Amazon's log, by its first bytes for an EBS volume, and for a drive of the machine itself.
pub(crate) fn is_amazon_log(log: &[u8]) -> bool {
    const MAGIC: [u64; 2] = [0x3C23_B510, 0xEC2C_0D7E];
    little(log, 0, 4).is_some_and(|magic| MAGIC.contains(&magic))
}

/// Bytes of an entry of the Error Information log (figure 206).
pub(crate) const ERROR_ENTRY_BYTES: usize = 64;

/// Entries of the Error Information log about the medium. They have a number, and status code type 2, Media
/// and Data Integrity Errors, in bits 11 to 9 of the status field.
pub(crate) fn media_errors(log: &[u8]) -> u64 {
    let is_of_medium = |entry: &&[u8]| {
        little(entry, 0, 8).is_some_and(|number| number > 0)
            && little(entry, 12, 2).is_some_and(|status| status >> 9 & 0b111 == 2)
    };
    log.chunks_exact(ERROR_ENTRY_BYTES).filter(is_of_medium).count() as u64
}

/// Host Memory Buffer (feature 0Dh, figure 335): host memory that the drive was given, zero if the feature is
/// off. Bit 0 of the value says whether it is on; the data begins with the size in pages of memory.
pub(crate) fn granted_memory_bytes(answer: &[u8]) -> Option<u64> {
    let is_on = little(answer, 0, 4)? & 1 == 1;
    Some(if is_on { little(answer, 4, 4)?.saturating_mul(HOST_MEMORY_UNIT_BYTES) } else { 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Identify Namespace of a drive with these formats (MS, LBADS, RP) and this FLBAS: 1000 blocks, 400 in use.
    fn identify(flbas: u8, formats: &[(u16, u8, u8)]) -> Vec<u8> {
        let mut answer = vec![0; IDENTIFY_BYTES];
        answer[..8].copy_from_slice(&1000u64.to_le_bytes());
        answer[16..24].copy_from_slice(&400u64.to_le_bytes());
        (answer[25], answer[26]) = (formats.len() as u8 - 1, flbas);
        for (index, (metadata, exponent, performance)) in formats.iter().enumerate() {
            let at = FORMATS_AT + 4 * index;
            answer[at..at + 2].copy_from_slice(&metadata.to_le_bytes());
            (answer[at + 2], answer[at + 3]) = (*exponent, *performance);
        }
        answer
    }

    #[test]
    fn errors_of_the_medium_are_told_from_commands_that_are_not_supported() {
        let entry = |number: u8, status: u16| {
            let mut entry = [0; ERROR_ENTRY_BYTES];
            entry[0] = number;
            entry[12..14].copy_from_slice(&(status << 1).to_le_bytes());
            entry
        };
        // Unrecovered Read Error, Invalid Field in Command, and an entry that was never used.
        let log = [entry(7, 0x281), entry(6, 0x002), entry(0, 0x281), entry(0, 0)].concat();
        assert_eq!(media_errors(&log), 1);
    }

    #[test]
    fn the_format_in_use_has_six_bits_where_there_are_more_than_sixteen() {
        let mut formats = vec![(0, 9, 2); 64];
        for (index, flbas) in [(17, 0x21), (33, 0x41), (63, 0x6F)] {
            formats[index] = (8, 12, 0);
            let namespace = Namespace::parse(&identify(flbas, &formats)).unwrap();
            assert_eq!((usize::from(namespace.format_index), namespace.format.block_bytes), (index, 4096));
            assert_eq!(namespace.format.metadata_bytes, 8);
            formats[index] = (0, 9, 2);
        }
        // With sixteen formats or fewer, the upper bits mean nothing: they were reserved once.
        let namespace = Namespace::parse(&identify(0x61, &[(0, 9, 2), (0, 12, 0)])).unwrap();
        assert_eq!((namespace.format_index, namespace.format.block_bytes), (1, 4096));
    }

    #[test]
    fn a_namespace_says_its_size_and_use() {
        let mut answer = identify(1 | 1 << 4, &[(0, 9, 2), (8, 12, 0)]);
        (answer[29], answer[33]) = (1 | 1 << 3, 0b1001);
        let namespace = Namespace::parse(&answer).unwrap();
        assert_eq!((namespace.size_blocks, namespace.used_blocks), (1000, Some(400)));
        assert_eq!(
            (namespace.extended_blocks, namespace.protection, namespace.protection_first),
            (true, 1, true)
        );
        assert_eq!(namespace.deallocated, 9);
        answer[16..24].copy_from_slice(&1000u64.to_le_bytes());
        assert_eq!(Namespace::parse(&answer).unwrap().used_blocks, None);
        assert_eq!(Namespace::parse(&answer[..4095]), None);
        answer[26] = 2;
        assert_eq!(Namespace::parse(&answer), None, "a format without a size of block");
    }

    #[test]
    fn a_better_format_is_one_that_the_drive_ranks_higher() {
        let better =
            |flbas, formats: &[_]| Namespace::parse(&identify(flbas, formats)).unwrap().better_block_bytes();
        assert_eq!(better(0, &[(0, 9, 2), (0, 12, 0)]), Some(4096));
        assert_eq!(better(1, &[(0, 9, 2), (0, 12, 0)]), None);
        assert_eq!(better(0, &[(0, 9, 2), (8, 12, 0)]), None, "one with metadata is for others");
        let mut many = vec![(0, 9, 1); 20];
        (many[1], many[17]) = ((0, 9, 3), (0, 12, 0));
        assert_eq!(better(0x21, &many), None, "format 17 is in use, and is the best");
    }

    #[test]
    fn a_controller_says_what_it_can() {
        let mut answer = vec![0; IDENTIFY_BYTES];
        let plain = Controller::parse(&answer).unwrap();
        assert!(!plain.formats() && !plain.trims() && plain.sanitize().is_none());
        assert_eq!((plain.temperature_limits_c(), plain.host_memory_bytes()), ((None, None), (0, 0)));
        (answer[256], answer[520], answer[524], answer[328]) = (0b10, 0b100, 0b110, 0b101);
        answer[266..270].copy_from_slice(&[0x5B, 0x01, 0x61, 0x01]);
        answer[272..280].copy_from_slice(&[0, 0x40, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
        let controller = Controller::parse(&answer).unwrap();
        assert!(controller.formats() && controller.trims());
        assert!(controller.formats_all_namespaces() && controller.erases_key());
        assert_eq!(controller.temperature_limits_c(), (Some(74.0), Some(80.0)));
        assert_eq!(controller.host_memory_bytes(), (64 << 20, 0xFFFF_FFFF * 4096));
        assert_eq!(controller.sanitize(), Some(Sanitize { crypto: true, block: false, overwrite: true }));
        assert!(Controller::parse(&answer[..200]).is_none());
    }

    #[test]
    fn the_list_of_namespaces_ends_at_zero() {
        let answer: Vec<u8> = [1u32, 3, 0, 7].iter().flat_map(|number| number.to_le_bytes()).collect();
        assert_eq!(active_namespaces(&answer), [1, 3]);
        assert_eq!(active_namespaces(&[]), [0; 0]);
    }

    #[test]
    fn a_short_health_log_gives_the_fields_that_it_holds() {
        let answer = [0, 0x2C, 0x01, 90, 10, 4];
        let read = |field: LogField| field.read(&answer);
        assert_eq!((temperature_c(&answer), read(LogField::USED_PERCENT)), (Some(Some(27.0)), Some(4)));
        assert_eq!(read(LogField::SPARE_PERCENT), Some(90));
        assert_eq!(read(LogField::SPARE_THRESHOLD_PERCENT), Some(10));
        assert!(SMART_COUNTS.iter().all(|(_, field)| read(*field).is_none()));
        assert_eq!(temperature_c(&[0; 3]), Some(None), "zero kelvin is no measurement");
    }
}
