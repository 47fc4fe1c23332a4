//! Facts that drives report themselves: who they are, and how they are by kind: SATA, NVMe, cards and UFS, cloud volumes.

use hmac::{Hmac, KeyInit as _, Mac as _};
use likenew_core::facts::{
    Attribute, Card, Cloud, Counts, DriveKind, Fact, Health, HostMemory, Identity, Serial, Space,
};
use sha2::Sha256;

use super::machine::{Question, Roots, Subject, is_numbered};
use crate::block::BlockDevice;
use crate::drive_commands::{AtaCommand, NvmeCommand};
use crate::identify::{SERIAL, StableId, plausible_c, usb_port, virtual_by};
use crate::standards::ata::{self, Feature, IdentifyDevice};
use crate::standards::nvme::{
    AMAZON_COUNTS, Controller, ERROR_ENTRY_BYTES, LogField, Namespace, SMART_COUNTS, granted_memory_bytes,
    is_amazon_log, media_errors, temperature_c,
};
use crate::standards::{self, counted, scsi};
use crate::wording::facts as wording;

// SATA: SMART attributes, their thresholds, and statistics, through the decoders of `standards::ata`.

/// The logs: the directory of all logs, errors, statistics and self-tests.
const DIRECTORY: u8 = 0x00;
const ERRORS: u8 = 0x03;
const STATISTICS: u8 = 0x04;
const SELF_TESTS: u8 = 0x07;

/// Queries the drive, unless it lacks the feature. A drive whose IDENTIFY DEVICE is unknown is queried.
fn ata_query(subject: &Subject<'_>, feature: Feature, question: Question) -> Fact<Vec<u8>> {
    let identify = subject.ata_identify();
    match identify.value().and_then(|identify| identify.refusal(feature)) {
        Some(reason) => Fact::unknown(reason, question.origin()),
        None => subject.query(question),
    }
}

/// Attributes, from SMART READ DATA and SMART READ THRESHOLDS.
pub(crate) fn ata_attributes(subject: &Subject<'_>) -> Fact<Vec<Attribute>> {
    let thresholds = ata_query(subject, Feature::Smart, Question::Ata(AtaCommand::SmartThresholds));
    let thresholds = thresholds.value().map_or(&[][..], Vec::as_slice);
    let data = ata_query(subject, Feature::Smart, Question::Ata(AtaCommand::SmartData));
    data.and_then(wording::NO_ATTRIBUTES, |data| ata::attributes(&data, thresholds))
}

/// The health, from attributes and statistics.
pub(crate) fn ata_health(subject: &Subject<'_>, attributes: &Fact<Vec<Attribute>>) -> Health {
    let failed = |attribute: &&Attribute| attribute.prefail && attribute.has_failed();
    let warnings = attributes
        .clone()
        .map(|attributes| attributes.iter().filter(failed).map(attribute_warning).collect());
    Health {
        failing: attributes.clone().map(|attributes| attributes.iter().any(|attribute| failed(&attribute))),
        warnings,
        temperature_c: ata_temperature(attributes),
        used_percent: statistic(&statistics(subject, 0x07), 0x07, 8, 1).map(|percent| percent as f64),
        pending_sectors: raw(attributes, 197, 32),
        attributes: attributes.clone(),
        ..Health::default()
    }
}

/// An attribute at its threshold, in words.
pub(crate) fn attribute_warning(attribute: &Attribute) -> String {
    wording::attribute_warning(attribute.id, attribute.value, attribute.threshold)
}

/// The lowest byte of 194, or of 190, is degrees Celsius with almost every maker.
fn ata_temperature(attributes: &Fact<Vec<Attribute>>) -> Fact<f64> {
    let temperature_of = |id: u8| {
        raw(attributes, id, 8).and_then(wording::NO_ATTRIBUTE, |degrees| plausible_c(degrees as f64))
    };
    temperature_of(194).or_else(|| temperature_of(190))
}

/// Adds counters from attributes and statistics.
pub(crate) fn ata_counts(subject: &Subject<'_>, attributes: &Fact<Vec<Attribute>>, counts: &mut Counts) {
    let general = statistics(subject, 0x01);
    counts.reallocated_sectors = raw(attributes, 5, 16);
    counts.power_on_hours = statistic(&general, 0x01, 16, 4).or_else(|| raw(attributes, 9, 24));
    counts.power_cycles = raw(attributes, 12, 32);
    counts.unaligned_accesses = raw(attributes, 181, 48);
    counts.link_downshifts = raw(attributes, 183, 32);
    counts.media_errors =
        raw(attributes, 187, 32).or_else(|| statistic(&statistics(subject, 0x04), 0x04, 8, 4));
    // A drive that keeps no such logs lacks no fact.
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

/// The low bits of an attribute's raw value.
pub(crate) fn raw(attributes: &Fact<Vec<Attribute>>, id: u8, bits: u32) -> Fact<u64> {
    attributes.clone().and_then(wording::NO_ATTRIBUTE, |attributes| {
        let attribute = attributes.iter().find(|attribute| attribute.id == id)?;
        counted(attribute.raw & ((1 << bits) - 1), bits)
    })
}

/// A page of Device Statistics.
fn statistics(subject: &Subject<'_>, page: u8) -> Fact<Vec<u8>> {
    log(subject, STATISTICS, page)
}

/// A page of a log, if the directory of logs lists that log.
fn log(subject: &Subject<'_>, log: u8, page: u8) -> Fact<Vec<u8>> {
    let question = Question::Ata(AtaCommand::Log(log, page));
    let directory = ata_query(subject, Feature::Logs, Question::Ata(AtaCommand::Log(DIRECTORY, 0)));
    match directory.map(|directory| ata::log_pages(&directory, log)) {
        Fact::Value { value: Some(1..), .. } => subject.query(question),
        Fact::Value { .. } => Fact::unknown(wording::NO_STATISTIC, question.origin()),
        Fact::Unknown { reason, help, .. } => Fact::Unknown { reason, help, origin: question.origin() },
        Fact::NotQueried => Fact::NotQueried,
    }
}

/// A number from a page of Device Statistics.
fn statistic(answer: &Fact<Vec<u8>>, page: u8, at: usize, length: usize) -> Fact<u64> {
    answer.clone().and_then(wording::NO_STATISTIC, |answer| ata::statistic(&answer, page, at, length))
}

// NVMe: Identify, the SMART log, features, and the log of Amazon's volumes (NVM Express Base Specification
// 2.0).

/// The SMART log, and its length in bytes.
pub(crate) const SMART: Question = Question::Nvme(NvmeCommand::Log(0x02, 512));
const SHORT: &str = wording::SHORT_ANSWER;

/// The health, from the SMART log (figure 207) and the limits of Identify Controller.
pub(crate) fn nvme_health(subject: &Subject<'_>) -> Health {
    let (log, limits) =
        (subject.query(SMART), of_controller(subject, |controller| controller.temperature_limits_c()));
    let percent = |field| number(&log, field).map(|percent| percent as f64);
    let flags = number(&log, LogField::WARNING_FLAGS);
    let temperature = log.clone().and_then(SHORT, |log| temperature_c(&log));
    Health {
        // Bit 1 warns of heat, which passes.
        failing: flags.clone().map(|flags| flags & 0b11_1101 != 0),
        warnings: flags.clone().map(nvme_warnings),
        read_only: flags.map(|flags| flags >> 3 & 1 == 1),
        temperature_c: temperature.and_then(wording::NO_TEMPERATURE_SENSOR, |celsius| celsius),
        temperature_warning_c: limits.clone().and_then(wording::NO_LIMIT, |(warning, _)| warning),
        temperature_critical_c: limits.and_then(wording::NO_LIMIT, |(_, critical)| critical),
        used_percent: percent(LogField::USED_PERCENT),
        spare_percent: percent(LogField::SPARE_PERCENT),
        spare_threshold_percent: percent(LogField::SPARE_THRESHOLD_PERCENT),
        ..Health::default()
    }
}

/// What Identify Controller says.
fn of_controller<T>(subject: &Subject<'_>, read: impl FnOnce(&Controller) -> T) -> Fact<T> {
    let answer = subject.query(Question::Nvme(NvmeCommand::Controller));
    answer.and_then(SHORT, |answer| Some(read(&Controller::parse(&answer)?)))
}

/// One field of the SMART log.
fn number(log: &Fact<Vec<u8>>, field: LogField) -> Fact<u64> {
    log.clone().and_then(SHORT, |log| field.read(&log))
}

/// A warning for each bit of Critical Warning.
pub(crate) fn nvme_warnings(flags: u64) -> Vec<String> {
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

/// Adds counters from the SMART log.
pub(crate) fn nvme_counts(subject: &Subject<'_>, counts: &mut Counts) {
    let log = subject.query(SMART);
    for (count, field) in SMART_COUNTS {
        *count(counts) = number(&log, field);
    }
    let errors = std::mem::take(&mut counts.media_errors);
    counts.media_errors = errors.map(|errors| errors.max(logged_media_errors(subject).unwrap_or(0)));
}

/// Media errors in the drive's error log, which has as many entries as Identify Controller says.
fn logged_media_errors(subject: &Subject<'_>) -> Option<u64> {
    let entries = of_controller(subject, |controller| controller.error_log_entries());
    let bytes = entries.get()? * ERROR_ENTRY_BYTES as u32;
    let log = subject.query(Question::Nvme(NvmeCommand::Log(0x01, bytes)));
    Some(media_errors(log.value()?))
}

/// Host memory that the drive requested (HMPRE, HMMIN) and was granted (feature 0Dh, or else the kernel's log).
pub(crate) fn nvme_host_memory(subject: &Subject<'_>, logged_bytes: Option<Fact<u64>>) -> HostMemory {
    let bytes = of_controller(subject, |controller| controller.host_memory_bytes());
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

/// Granted host memory, from the feature Host Memory Buffer, or else from /sys.
fn granted_memory(subject: &Subject<'_>) -> Fact<u64> {
    let feature = subject.query(Question::Nvme(NvmeCommand::Feature(0x0D)));
    let by_feature = feature.and_then(SHORT, |answer| granted_memory_bytes(&answer));
    by_feature.or_else(|| {
        // /sys says whether memory is granted, not how much.
        let place = format!("/sys/class/nvme/{}/hmb", subject.controller.as_deref().unwrap_or("none"));
        let flag = subject.roots.line(&place);
        flag.and_then(wording::HOST_MEMORY_NEEDS_ROOT, |flag| (flag == "0").then_some(0))
    })
}

/// The space in use and a better format, from Identify Namespace.
pub(crate) fn nvme_space(subject: &Subject<'_>) -> Space {
    let answer = subject.query(Question::Nvme(NvmeCommand::Namespace));
    let namespace = answer.and_then(wording::INVALID_ANSWER, |answer| Namespace::parse(&answer));
    let allocated = namespace.clone().and_then(wording::NO_THIN_PROVISIONING, |namespace| {
        Some(namespace.used_blocks?.saturating_mul(namespace.format.block_bytes))
    });
    Space {
        allocated_bytes: allocated,
        // If no format is better, there is nothing to report.
        better_block_bytes: match namespace.map(|namespace| namespace.better_block_bytes()) {
            Fact::Value { value: None, .. } => Fact::NotQueried,
            block_bytes => block_bytes.and_then(wording::NO_BETTER_FORMAT, |better| better),
        },
        ..Space::default()
    }
}

// SD cards, eMMC and UFS, as /sys describes them.

/// What a card reports of itself.
pub(crate) fn card(subject: &Subject<'_>) -> Card {
    let roots = subject.roots;
    let number = |name: &str| {
        let place = Roots::place(&subject.device, name);
        roots.hexadecimal(&place).and_then(wording::TOO_LARGE, |number| u32::try_from(number).ok())
    };
    let kind = subject.line("device/type");
    let status = match kind.value().map(String::as_str) {
        Some("SD") => {
            subject.line("device/ssr").and_then(wording::NOT_A_NUMBER, |text| SdStatus::read(&text))
        }
        _ => Fact::NotQueried,
    };
    Card {
        kind,
        name: subject.line("device/name"),
        maker: number("device/manfid"),
        maker_for: number("device/oemid"),
        manufacture_date: subject.line("device/date"),
        allocation_unit_bytes: roots.count(&subject.device, "device/preferred_erase_size"),
        promised_bytes_per_s: status.clone().and_then(wording::NO_SPEED_CLASS, SdStatus::promised),
        speed_classes: status.and_then(wording::NO_SPEED_CLASS, SdStatus::words),
        queues_commands: roots
            .hexadecimal(&Roots::place(&subject.device, "device/cmdq_en"))
            .map(|flag| flag > 0),
        timing: timing(subject),
    }
}

/// The speed classes in an SD card's status register (SD Physical Layer Simplified Specification 6.00, table
/// 4-44). Each is a number, 0 if the card has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SdStatus {
    speed: u8,
    uhs: u8,
    video: u8,
    application: u8,
}

impl SdStatus {
    /// From the 64 bytes of the register in hexadecimal digits, the highest first.
    fn read(text: &str) -> Option<Self> {
        let byte = |at: usize| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok();
        (text.len() == 128).then_some(())?;
        // Codes 0 to 4 of SPEED_CLASS stand for classes 0, 2, 4, 6 and 10; others are reserved.
        let speed = *[0, 2, 4, 6, 10].get(usize::from(byte(8)?)).unwrap_or(&0);
        Some(Self { speed, uhs: byte(14)? >> 4, video: byte(15)?, application: byte(21)? & 15 })
    }

    /// The highest promised rate in bytes a second. A speed or video class is a number in MB/s, each UHS grade is 10 MB/s.
    fn promised(self) -> Option<u64> {
        let most = u64::from(self.speed).max(u64::from(self.uhs) * 10).max(u64::from(self.video));
        (most > 0).then_some(most * 1_000_000)
    }

    fn words(self) -> Option<String> {
        let classes = [("C", self.speed), ("U", self.uhs), ("V", self.video), ("A", self.application)];
        let known = classes.iter().filter(|(_, number)| *number > 0);
        let words: Vec<String> = known.map(|(letter, number)| format!("{letter}{number}")).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }
}

/// The bus timing from the host's debugfs, which only root sees: `timing spec:\t9 (mmc HS200)`.
fn timing(subject: &Subject<'_>) -> Fact<String> {
    let host = subject.ancestors().find_map(|folder| {
        let name = folder.rsplit('/').next().filter(|name| is_numbered(name, "mmc"))?;
        Some(name.to_owned())
    });
    let Some(host) = host else { return Fact::unknown(wording::HOST_NOT_LISTED, "/sys") };
    let text = subject.roots.text(&format!("/sys/kernel/debug/{host}/ios"));
    text.and_then(wording::NO_TIMING, |text| {
        let line = text.lines().find_map(|line| line.strip_prefix("timing spec:"))?;
        let words = line.split_once('(')?.1.split_once(')')?.0;
        standards::text(words.as_bytes())
    })
}

/// The wear that an eMMC reports.
pub(crate) fn card_health(subject: &Subject<'_>) -> Health {
    let (lives, spare) = (subject.line("device/life_time"), subject.line("device/pre_eol_info"));
    Health { read_only: subject.line("ro").map(|text| text == "1"), ..wear(lives, spare) }
}

/// The wear of UFS (JESD220, §14.1.4.6), from a folder of its controller.
pub(crate) fn ufs_health(subject: &Subject<'_>) -> Option<Health> {
    let folders = subject.ancestors().map(|folder| format!("{folder}/health_descriptor"));
    let folder = folders.into_iter().find(|folder| subject.roots.exists(folder))?;
    let line = |name: &str| subject.roots.line(&format!("{folder}/{name}"));
    let second = line("life_time_estimation_b").value().cloned().unwrap_or_default();
    Some(wear(line("life_time_estimation_a").map(|first| format!("{first} {second}")), line("eol_info")))
}

/// The wear of both kinds of memory, in steps of ten percent of their lifetime: 01h is up to 10 %
/// (JESD84-B51, §7.4.52). Also whether spare blocks run out (§7.4.51).
fn wear(lives: Fact<String>, spare: Fact<String>) -> Health {
    let used_percent = lives.and_then(wording::NOT_REPORTED_BY_CARD, |text| {
        let steps = text.split_whitespace();
        let steps = steps.filter_map(|step| u32::from_str_radix(step.trim_start_matches("0x"), 16).ok());
        let most = steps.filter(|step| (1..=11).contains(step)).max()?;
        Some(f64::from(most) * 10.0)
    });
    let spare = spare.and_then(wording::NOT_REPORTED_BY_CARD, |text| {
        match u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()? {
            1 => Some(Vec::new()),
            2 => Some(vec![wording::SPARE_80_USED.to_owned()]),
            3 => Some(vec![wording::SPARE_90_USED.to_owned()]),
            _ => None,
        }
    });
    Health {
        failing: spare.clone().map(|warnings| warnings.iter().any(|warning| warning.starts_with("90"))),
        warnings: spare,
        used_percent,
        ..Health::default()
    }
}

// The limits that a cloud volume reports.

/// Amazon's log of a volume's performance.
const AMAZON: Question = Question::Nvme(NvmeCommand::Log(0xD0, 4096));

/// Parts of models that identify cloud volumes.
const MODELS: [(&str, &str); 6] = [
    ("Amazon Elastic Block Store", "AWS EBS"),
    ("Amazon EC2 NVMe Instance Storage", "AWS instance store"),
    ("PersistentDisk", "Google persistent disk"),
    ("nvme_card-pd", "Google persistent disk"),
    ("nvme_card", "Google local SSD"),
    ("Microsoft NVMe Direct Disk", "Azure local SSD"),
];

/// The kind of cloud volume with this model; `None` for other models.
pub(crate) fn volume_of(model: &str) -> Option<&'static str> {
    MODELS.iter().find(|(word, _)| model.contains(word)).map(|(_, volume)| *volume)
}

/// The facts of a cloud volume; `None` for other models.
pub(crate) fn cloud(subject: &Subject<'_>, model: &Fact<String>, counts: &mut Counts) -> Option<Cloud> {
    let name = model.value()?;
    let volume = volume_of(name)?;
    let volume = model.clone().map(|_| volume.to_owned());
    if !name.starts_with("Amazon") {
        return Some(Cloud { volume, ..Cloud::default() });
    }
    let log =
        subject.query(AMAZON).and_then(wording::NOT_A_VOLUME_PAGE, |log| is_amazon_log(&log).then_some(log));
    let number = |field: LogField| log.clone().and_then(wording::SHORT_PAGE, |log| field.read(&log));
    for (count, field) in AMAZON_COUNTS {
        *count(counts) = number(field);
    }
    Some(Cloud { volume, queue_length: number(LogField::QUEUE_LENGTH) })
}

// The identity of a drive, as the system and the drive itself report.

/// What the hash is made for, so that no other use of the machine ID gives the same one.
const PURPOSE: &[u8] = b"likenew: serial number of a drive";

const SILENT: &str = wording::NOT_REPORTED;

/// The identity of a drive.
pub(crate) fn identity(subject: &Subject<'_>) -> Identity {
    let identify = subject.ata_identify();
    let sectors = subject.roots.count::<u64>(&subject.device, "size");
    Identity {
        model: model(subject, &identify),
        firmware: firmware(subject, &identify),
        serial: serial(subject, &identify),
        namespace: subject.device.namespace().map_or(Fact::NotQueried, |number| Fact::new(number, "/sys")),
        port: match subject.kind {
            DriveKind::Usb => {
                Fact::from_option(usb_port(&subject.device), wording::CONNECTION_NOT_LISTED, "/sys")
            }
            _ => Fact::NotQueried,
        },
        capacity_bytes: sectors.and_then(wording::TOO_LARGE, |sectors| sectors.checked_mul(512)),
        rotation_rpm: rotation(subject, &identify),
        virtual_by: virtualization(subject),
        knows_trim: knows_trim(subject, identify),
    }
}

fn model(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<String> {
    if subject.kind == DriveKind::Card {
        return subject.line("device/name");
    }
    // /sys has SCSI's 16 characters of a model, ATA has 40.
    let whole = identify.clone().and_then(wording::NO_MODEL, |identify| identify.model());
    let udev = || {
        if subject.kind == DriveKind::Sata { subject.udev("ID_MODEL_ENC") } else { Fact::NotQueried }
    };
    let system = || match subject.device.model() {
        Some(model) => {
            Fact::new(crate::standards::clean(&model), Roots::place(&subject.device, "device/model"))
        }
        None => subject.line("device/model"),
    };
    let known = [whole, udev(), system()];
    first_known(known)
}

fn first_known<T>(facts: impl IntoIterator<Item = Fact<T>>) -> Fact<T> {
    let mut last = Fact::NotQueried;
    for fact in facts {
        if fact.value().is_some() {
            return fact;
        }
        if !fact.is_not_queried() {
            last = fact;
        }
    }
    last
}

fn firmware(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<String> {
    if matches!(subject.kind, DriveKind::Virtual | DriveKind::Memory | DriveKind::Network | DriveKind::Other)
    {
        return Fact::NotQueried;
    }
    let ata = identify.clone().and_then(wording::NO_FIRMWARE, |identify| identify.firmware());
    first_known([
        ata,
        subject.line("device/firmware_rev"),
        subject.line("device/fwrev"),
        subject.line("device/rev"),
    ])
}

fn serial(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<Serial> {
    if matches!(subject.kind, DriveKind::Memory | DriveKind::Network) {
        return Fact::NotQueried;
    }
    let origin = wording::HASHED_SERIAL;
    let ata = identify.clone().and_then(wording::NO_SERIAL, |identify| identify.serial());
    let plain = ata.value().cloned().or_else(|| {
        let id = StableId::of_drive(&subject.device)?;
        (id.kind == SERIAL).then_some(id.text)
    });
    let reason =
        if subject.kind == DriveKind::Usb { wording::BRIDGE_SERIAL } else { wording::NO_READABLE_SERIAL };
    hashed_serial(subject.roots, Fact::from_option(plain, reason, origin))
}

/// A serial number with its hash.
pub(crate) fn hashed_serial(roots: &Roots, plain: Fact<String>) -> Fact<Serial> {
    plain.and_then(wording::NO_MACHINE_ID, |plain| {
        Some(Serial { hash: hash(roots, &plain)?, plain: Some(plain) })
    })
}

/// Hashes a serial number with the machine ID as key, which is to be kept secret (machine-id(5)). So trying
/// all serial numbers does not reveal the one behind a hash, and a drive always has the same hash on this
/// machine.
fn hash(roots: &Roots, serial: &str) -> Option<String> {
    let id = roots.line("/etc/machine-id");
    let id = id.value().filter(|id| id.len() >= 32)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(id.as_bytes()).ok()?;
    mac.update(PURPOSE);
    mac.update(serial.trim().as_bytes());
    let bytes = mac.finalize().into_bytes();
    Some(bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect())
}

/// A name for this machine. Its hash tells machines apart whose host names repeat, as those of clones do.
pub(crate) fn machine_name(roots: &Roots) -> String {
    /// Characters of the hash: enough for the machines of one laboratory.
    const HASH_CHARS: usize = 8;
    let host = roots.line("/proc/sys/kernel/hostname").value().cloned().unwrap_or_default();
    let hash = hash(roots, "machine name").unwrap_or_default();
    format!("{host}-{}", hash.get(..HASH_CHARS).unwrap_or_default())
}

/// The rotation rate. ATA: from IDENTIFY DEVICE, or from udev, which read that. SCSI: from page B1h.
fn rotation(subject: &Subject<'_>, identify: &Fact<IdentifyDevice>) -> Fact<u32> {
    match subject.kind {
        DriveKind::Nvme | DriveKind::Card => return Fact::new(0, wording::ALWAYS_FLASH),
        DriveKind::Virtual | DriveKind::Memory | DriveKind::Network | DriveKind::Other => {
            return Fact::NotQueried;
        }
        _ => {}
    }
    let ata = identify.clone().and_then(SILENT, |identify| identify.rotation_rpm());
    let scsi = scsi_rotation(subject.roots, &subject.device);
    let udev = subject.udev("ID_ATA_ROTATION_RATE_RPM").and_then(SILENT, |text| text.parse().ok());
    first_known([ata, scsi, udev])
}

/// The rotation rate from SCSI's page B1h, as the kernel keeps it.
pub(crate) fn scsi_rotation(roots: &Roots, device: &BlockDevice) -> Fact<u32> {
    let page = roots.bytes(&Roots::place(device, "device/vpd_pgb1"));
    page.and_then(SILENT, |page| scsi::rotation_rpm(&page))
}

/// PCI vendor numbers of controllers that exist in software only (the PCI ID database). The drives at them
/// can have any model that was typed. Emulated controllers of Intel and others, as in QEMU, have such a
/// number as their subsystem's vendor.
const EMULATORS: [(u64, &str); 4] =
    [(0x1AF4, "QEMU"), (0x1B36, "QEMU"), (0x15AD, "VMware"), (0x80EE, "VirtualBox")];

fn virtualization(subject: &Subject<'_>) -> Fact<Option<String>> {
    let device = &subject.device;
    let place = Roots::place(device, "device");
    match virtual_by(device.model().as_deref(), device.hypervisor()) {
        Some(by) => Fact::new(Some(by), place),
        None => emulated_by(subject).unwrap_or_else(|| Fact::new(None, place)),
    }
}

/// The emulator of a drive, by the nearest controller above the drive. USB is left out: a guest may have been
/// given a real bridge, which is then behind an emulated port.
fn emulated_by(subject: &Subject<'_>) -> Option<Fact<Option<String>>> {
    if !matches!(subject.kind, DriveKind::Nvme | DriveKind::Sata | DriveKind::Scsi) {
        return None;
    }
    let number = |folder: &str, name: &str| subject.roots.hexadecimal(&format!("{folder}/{name}")).get();
    let controller = subject
        .ancestors()
        .find(|folder| number(folder, "vendor").is_some() && number(folder, "class").is_some())?;
    ["vendor", "subsystem_vendor"].into_iter().find_map(|name| {
        let vendor = number(&controller, name)?;
        let (_, by) = EMULATORS.iter().find(|(known, _)| *known == vendor)?;
        Some(Fact::new(Some((*by).to_owned()), format!("{controller}/{name}")))
    })
}

/// Whether the drive takes TRIM (ATA), Dataset Management (NVMe) or UNMAP (SCSI).
fn knows_trim(subject: &Subject<'_>, identify: Fact<IdentifyDevice>) -> Fact<bool> {
    match subject.kind {
        DriveKind::Sata => identify.map(|identify| identify.trim().trims),
        DriveKind::Nvme => of_controller(subject, |controller| controller.trims()),
        DriveKind::Scsi | DriveKind::Usb => subject
            .roots
            .bytes(&Roots::place(&subject.device, "device/vpd_pgb2"))
            .and_then(wording::UNEXPECTED_PAGE, |page| Some(scsi::provisioning(&page)?.unmaps)),
        _ => Fact::NotQueried,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_bits_of_a_makers_number_are_taken() {
        let mut data = vec![0; 512];
        data[2..14].copy_from_slice(&[199, 0, 0, 100, 90, 0x34, 0x12, 0, 0, 0, 0, 0]);
        let known = Fact::new(ata::attributes(&data, &[]).unwrap(), "SMART");
        assert_eq!(
            (raw(&known, 199, 8).get(), raw(&known, 7, 8).reason()),
            (Some(0x34), Some(wording::NO_ATTRIBUTE))
        );
    }

    #[test]
    fn warnings_are_reported_in_words() {
        assert_eq!(nvme_warnings(0), [""; 0]);
        assert_eq!(nvme_warnings(0b1010), ["its temperature is beyond a threshold", "it is read-only"]);
        assert_eq!(nvme_warnings(u64::MAX).len(), 6);
    }
}
