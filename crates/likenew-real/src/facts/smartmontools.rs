//! What smartmontools knows of a drive, if it is installed: the answers of smartctl, and its database of drives.

use likenew_core::facts::drive::sata_bytes_per_s;
use likenew_core::facts::{
    Attribute, Counts, Database, Drive, Fact, Health, Link, Serial, Smartctl as SmartctlFacts,
};
use likenew_core::units::amount;
use regex::Regex;
use serde_json::Value;

use super::drive_answers::{attribute_warning, hashed_serial, nvme_warnings, raw};
use super::machine::{Question, Roots, Subject, fact};
use super::{link, smartctl_device};
use crate::block::BlockDevice;
use crate::identify::{is_placeholder, plausible_c, usb_device};
use crate::standards::clean;
use crate::wording::facts as wording;

// smartctl's answers, in its JSON (smartctl(8), `--json`, format 1.0), for drives that nothing else here can
// query.
//
// smartctl is only asked for identity, health and attributes, and never wakes a disk that sleeps. Its own
// database tells it which USB bridges pass such queries on, and it queries no others.

/// Exit code for a disk that sleeps, as set in the arguments. smartctl never sets these three bits together
/// by itself. Either of the first two ends it at once.
const ASLEEP: u64 = 7;
/// The command was not understood, or the device could not be opened (smartctl(8), EXIT STATUS, bits 0 and
/// 1): there is no answer.
const NO_ANSWER: u64 = 0b11;
/// The place of an NVMe drive's health log in smartctl's JSON.
pub(crate) const NVME_LOG: &str = "/nvme_smart_health_information_log";
/// Parts of an answer about a drive's state.
const STATE: [&str; 3] = ["smart_status", "temperature", "power_on_time"];
const SILENT: &str = wording::NOT_REPORTED_BY_SMARTCTL;

/// Name endings of attributes that count bytes, with their unit in bytes (drivedb.h; `GB` of SandForce is 2³⁰).
const UNITS: [(&str, u64); 9] = [
    ("_32MiB", 32 << 20),
    ("Writes_MiB", 1 << 20),
    ("Reads_MiB", 1 << 20),
    ("_GiB", 1 << 30),
    ("_Hst_GB", 1 << 30),
    ("LBAs_Written", 512),
    ("LBAs_Read", 512),
    ("LBA_Written", 512),
    ("LBA_Read", 512),
];
/// Words in names of attributes that count what reaches the flash, and not what hosts send.
const FLASH: [&str; 4] = ["NAND", "Nand", "Flash", "SLC"];
/// Names of attributes that say how much of a drive's life is left, in percent (drivedb.h).
const REMAINING: [&str; 14] = [
    "Media_Wearout_Indicator",
    "SSD_Life_Left",
    "SSD_Life_Left_Perc",
    "SSD_Remaining_Life_Perc",
    "Percent_Lifetime_Remain",
    "Percent_Life_Remaining",
    "Perc_Rated_Life_Remain",
    "Remaining_Lifetime_Perc",
    "Lifetime_Remaining%",
    "Life_Remaining_Percent",
    "Drive_Life_Remaining%",
    "DriveLife_Remaining%",
    "PCT_Life_Remaining",
    "Lifetime_Left",
];

/// The share of a drive's capacity that its housing may keep for itself. Chosen: some keep a few sectors or a
/// region for their own software, while a volume of several disks differs from one disk by a whole disk.
const HIDDEN_SHARE_MAX: f64 = 0.01;

/// Drivers of RAID controllers that present volumes, and the type for a disk behind each (smartctl(8), `-d`).
const RAID_DRIVERS: [(&str, &str); 8] = [
    ("megaraid_sas", "megaraid,N"),
    ("3w-xxxx", "3ware,N"),
    ("3w-9xxx", "3ware,N"),
    ("3w-sas", "3ware,N"),
    ("arcmsr", "areca,N"),
    ("cciss", "cciss,N"),
    ("hpsa", "cciss,N"),
    ("aacraid", "aacraid,H,L,ID"),
];

/// The answer of smartctl.
pub(crate) struct Smartctl {
    answer: Fact<Value>,
    /// Whether smartctl ran without waking a disk, whatever it found out.
    has_run: bool,
    /// Whether one disk of several answered, and not the whole drive.
    is_member: bool,
}

impl Smartctl {
    /// Runs smartctl for a drive.
    pub(crate) fn query(subject: &Subject<'_>) -> Self {
        let device_type = subject.smartctl_device.value().map(String::as_str);
        let mut smartctl = Self::read(subject.query(Question::Smartctl(device_type)));
        if let (Some(device_type), Fact::Value { origin, .. }) = (device_type, &mut smartctl.answer) {
            *origin += &format!(" -d {device_type}");
        }
        let capacities = smartctl.number("/user_capacity/bytes").get().zip(subject.device.bytes());
        smartctl.is_member = device_type.is_some_and(smartctl_device::is_member)
            || capacities.is_some_and(|(disk, whole)| {
                disk > 0 && disk.abs_diff(whole) as f64 > HIDDEN_SHARE_MAX * disk as f64
            });
        smartctl
    }

    /// Reads an answer; its origin has the version of smartctl.
    pub(crate) fn read(answer_text: Fact<Vec<u8>>) -> Self {
        let answer = answer_text.and_then(wording::NOT_JSON, |bytes| {
            serde_json::from_slice::<Value>(&bytes).ok().filter(Value::is_object)
        });
        match answer {
            Fact::Value { value, .. } => Self::of_json(value),
            answer => Self { answer, has_run: false, is_member: false },
        }
    }

    /// As [`Smartctl::read`], for JSON that was read already.
    pub(crate) fn of_json(answer: Value) -> Self {
        let version = answer.pointer("/smartctl/version").and_then(Value::as_array).map(|parts| {
            parts.iter().filter_map(Value::as_u64).map(|part| part.to_string()).collect::<Vec<_>>().join(".")
        });
        let origin = match version.filter(|version| !version.is_empty()) {
            Some(version) => format!("smartctl {version} (json)"),
            None => "smartctl (json)".to_owned(),
        };
        let status = answer.pointer("/smartctl/exit_status").and_then(Value::as_u64).unwrap_or_default();
        let answer = match status {
            ASLEEP => Fact::unknown(wording::ASLEEP, origin).help(wording::WAKE_IT),
            // smartctl reports what it found out, even if one of its questions was refused.
            status if status & NO_ANSWER != 0 && !STATE.iter().any(|part| answer.get(part).is_some()) => {
                let message = answer.pointer("/smartctl/messages/0/string").and_then(Value::as_str);
                let reason = message.map_or_else(|| wording::exit_status(status), clean);
                Fact::unknown(wording::smartctl_failed(&reason), origin)
            }
            _ => Fact::new(answer, origin),
        };
        Self { answer, has_run: status != ASLEEP, is_member: false }
    }

    /// Whether the disk sleeps, so that it was not asked.
    pub(crate) fn is_asleep(&self) -> bool {
        self.reason() == Some(wording::ASLEEP)
    }

    /// The type that smartctl was given, and which disk of several answered.
    pub(crate) fn facts(&self, subject: &Subject<'_>) -> Option<SmartctlFacts> {
        if subject.smartctl_device.is_not_queried() && !self.is_member {
            return None;
        }
        let model = self.text("/model_name").or_else(|| self.text("/scsi_model_name"));
        let size = self.number("/user_capacity/bytes").get().map(amount);
        let member = self.answer.clone().map(|_| {
            let model = model.value().cloned().unwrap_or_else(|| wording::UNKNOWN_MODEL.to_owned());
            [Some(model), size].into_iter().flatten().collect::<Vec<_>>().join(", ")
        });
        let device_type = match &subject.smartctl_device {
            Fact::NotQueried => self.text("/device/type"),
            known => known.clone(),
        };
        Some(SmartctlFacts { device_type, member: if self.is_member { member } else { Fact::NotQueried } })
    }

    /// What to tell the owner of a drive behind this driver: types with which smartctl may report its health.
    pub(crate) fn type_to_give(&self, subject: &Subject<'_>, driver: Option<&str>) -> Option<String> {
        if !self.has_run {
            return None;
        }
        if let Some(device_type) = subject.smartctl_device.value() {
            return Some(wording::give_other_type(device_type));
        }
        let of_driver = RAID_DRIVERS.iter().find(|(name, _)| driver == Some(name));
        let of_message = || {
            wording::NEEDS_TYPE
                .iter()
                .find(|(message, _)| self.reason().is_some_and(|reason| reason.contains(message)))
        };
        let (_, device_type) = of_driver.or_else(of_message)?;
        let disks = if *device_type == "megaraid,N" { disks_of_controller(subject) } else { Vec::new() };
        Some(if disks.is_empty() { wording::give_type(device_type) } else { wording::give_member(&disks) })
    }

    /// Why there is no answer.
    pub(crate) fn reason(&self) -> Option<&str> {
        self.answer.reason()
    }

    /// The drive's health.
    pub(crate) fn health(&self) -> Health {
        let warnings = self.answer.clone().map(|answer| warnings(&answer));
        let has_failed = self.answer.value().is_some_and(|answer| !failed_attributes(answer).is_empty());
        let nvme = |key: &str| format!("{NVME_LOG}/{key}");
        let critical = self.number(&nvme("critical_warning"));
        Health {
            // Some drives report that they pass with an attribute at its threshold.
            failing: self.get("/smart_status/passed", Value::as_bool).map(|passed| !passed || has_failed),
            warnings,
            read_only: critical.map(|flags| flags >> 3 & 1 == 1),
            temperature_c: self.get("/temperature/current", |value| plausible_c(value.as_f64()?)),
            temperature_warning_c: self.float("/nvme_composite_temperature_threshold/warning"),
            temperature_critical_c: self.float("/nvme_composite_temperature_threshold/critical"),
            used_percent: self
                .float(&nvme("percentage_used"))
                .or_else(|| self.float("/endurance_used/current_percent"))
                .or_else(|| self.float("/scsi_percentage_used_endurance_indicator"))
                .or_else(|| self.statistic(7, 8).map(|percent| percent as f64))
                .or_else(|| self.worn_percent()),
            spare_percent: self
                .float(&nvme("available_spare"))
                .or_else(|| self.float("/spare_available/current_percent")),
            spare_threshold_percent: self
                .float(&nvme("available_spare_threshold"))
                .or_else(|| self.float("/spare_available/threshold_percent")),
            pending_sectors: self.number("/scsi_pending_defects/count").or_else(|| self.raw(197, 32)),
            attributes: self.attributes(),
            ..Health::default()
        }
    }

    /// The drive's counters.
    pub(crate) fn counts(&self) -> Counts {
        let nvme = |key: &str| self.number(&format!("{NVME_LOG}/{key}"));
        // Thousands of 512 bytes (NVMe base specification, SMART / Health Information log).
        let units = |key| nvme(key).map(|units| units.saturating_mul(512_000));
        let minutes = |key| nvme(key).map(|minutes| minutes.saturating_mul(60));
        Counts {
            media_errors: nvme("media_errors").or_else(|| self.scsi_errors()).or_else(|| self.raw(187, 32)),
            reallocated_sectors: self.number("/scsi_grown_defect_list").or_else(|| self.raw(5, 16)),
            uncorrectable_sectors: self.raw(198, 32),
            crc_errors: self.raw(199, 32),
            non_medium_errors: self.non_medium_errors(),
            // ATA only: NVMe counts commands that the host should not have sent, and behind a USB bridge
            // nothing else says that the drive is NVMe.
            error_log_entries: self
                .number("/ata_smart_error_log/extended/count")
                .or_else(|| self.number("/ata_smart_error_log/summary/count")),
            self_tests_failed: self.failed_self_tests(),
            power_on_hours: self.number("/power_on_time/hours"),
            power_cycles: self.number("/power_cycle_count"),
            unsafe_shutdowns: nvme("unsafe_shutdowns"),
            controller_busy_s: minutes("controller_busy_time"),
            warm_s: minutes("warning_temp_time"),
            hot_s: minutes("critical_comp_time"),
            lifetime_bytes_written: units("data_units_written")
                .or_else(|| self.lifetime_bytes(24, "write", [225, 241, 246], "Writ")),
            lifetime_bytes_read: units("data_units_read")
                .or_else(|| self.lifetime_bytes(40, "read", [242, 0, 0], "Read")),
            ..Counts::default()
        }
    }

    /// Adds facts that nothing else knows about a drive; `serial` is its serial number.
    pub(crate) fn complete(&self, drive: &mut Drive, serial: Fact<Serial>) {
        let (health, counts) = (self.health(), self.counts());
        macro_rules! fill_health {
            ($($name:ident),*) => { $(fill(&mut drive.health.$name, health.$name);)* };
        }
        fill_health!(
            failing,
            warnings,
            read_only,
            temperature_c,
            temperature_warning_c,
            temperature_critical_c
        );
        fill_health!(used_percent, spare_percent, spare_threshold_percent, pending_sectors, attributes);
        let known = counts.each().map(|(_, count)| count.clone());
        drive.counts.each_mut().zip(known).for_each(|(own, count)| fill(own, count));
        if self.is_member {
            return;
        }
        let text = |pointer| self.text(pointer);
        fill(&mut drive.identity.model, text("/model_name").or_else(|| text("/scsi_model_name")));
        fill(&mut drive.identity.firmware, text("/firmware_version").or_else(|| text("/scsi_revision")));
        fill(&mut drive.identity.serial, serial);
        fill(
            &mut drive.identity.rotation_rpm,
            self.number("/rotation_rate")
                .and_then(SILENT, |rpm| u32::try_from(rpm).ok().filter(|rpm| *rpm < 0xFFFF)),
        );
    }

    /// The identity of a drive behind a bridge, which itself reports its own identity or a part of the drive's.
    pub(crate) fn identify(&self, drive: &mut Drive, serial: Fact<Serial>) {
        if self.is_member {
            return;
        }
        fn replace<T>(own: &mut Fact<T>, answer: Fact<T>) {
            if answer.value().is_some() {
                *own = answer;
            }
        }
        replace(&mut drive.identity.model, self.text("/model_name"));
        replace(&mut drive.identity.firmware, self.text("/firmware_version"));
        replace(&mut drive.identity.serial, serial);
    }

    /// Adds link, capacity and features of a drive on another machine, where /sys cannot be asked.
    pub(crate) fn describe(&self, drive: &mut Drive) {
        let bits = |name: &str| {
            self.get(&format!("/interface_speed/{name}"), |speed| {
                speed["units_per_second"].as_u64()?.checked_mul(speed["bits_per_unit"].as_u64()?)
            })
        };
        // smartctl is exact, lsblk rounds.
        drive.identity.capacity_bytes =
            self.number("/user_capacity/bytes").or_else(|| drive.identity.capacity_bytes.clone());
        fill(&mut drive.identity.knows_trim, self.get("/trim/supported", Value::as_bool));
        for (pointer, reason) in
            [("/smart_support/available", wording::NO_SMART), ("/smart_support/enabled", wording::SMART_OFF)]
        {
            if drive.health.failing.value().is_none()
                && self.get(pointer, Value::as_bool).get() == Some(false)
            {
                drive.health.failing = Fact::unknown(reason, self.answer.origin().unwrap_or_default());
            }
        }
        if let (current @ Fact::Value { .. }, most) = (bits("current"), bits("max"))
            && drive.link.hops.is_empty()
        {
            drive.link = Link {
                bus: current.clone().map(|_| "SATA".to_owned()),
                ..link::of_hops(vec![link::hop(
                    &drive.name,
                    wording::THE_DRIVE,
                    current,
                    most,
                    sata_bytes_per_s,
                )])
            };
        }
    }

    pub(crate) fn text(&self, pointer: &str) -> Fact<String> {
        let is_text = |text: &String| {
            !matches!(&*text.to_lowercase(), "" | "n/a" | "none" | "unknown" | "[no information found]")
        };
        self.get(pointer, |value| Some(clean(value.as_str()?)).filter(is_text))
    }

    /// The drive's own serial number with its hash, and not one that its USB bridge has or shows for each of its drives.
    pub(crate) fn serial(&self, subject: &Subject<'_>) -> Fact<Serial> {
        if self.is_member {
            return Fact::NotQueried;
        }
        let own = self.text("/serial_number").and_then(wording::BRIDGE_SERIAL, |serial| {
            let is_shared = |other: &BlockDevice| {
                let device_type = subject.smartctl_device.value().map(String::as_str);
                let answer = subject.queries.query(&other.name(), Question::Smartctl(device_type));
                let answer = fact(answer, "");
                Self::read(answer).text("/serial_number").value() == Some(&serial)
            };
            let is_own = !is_placeholder(&serial, None)
                && usb_device(&subject.device).is_none_or(|usb| {
                    let is_beside = |other: &BlockDevice| other.folder().starts_with(usb.folder());
                    usb.attribute("serial").as_ref() != Some(&serial)
                        && !subject
                            .device
                            .other_disks()
                            .iter()
                            .any(|other| is_beside(other) && is_shared(other))
                });
            is_own.then_some(serial)
        });
        hashed_serial(subject.roots, own)
    }

    fn get<T>(&self, pointer: &str, read: impl FnOnce(&Value) -> Option<T>) -> Fact<T> {
        self.answer.clone().and_then(SILENT, |answer| read(answer.pointer(pointer)?))
    }

    /// Errors that a SAS disk could not correct, of all kinds of commands.
    fn scsi_errors(&self) -> Fact<u64> {
        self.get("/scsi_error_counter_log", |log| {
            let uncorrected = |kind: &&str| log.get(kind)?.get("total_uncorrected_errors")?.as_u64();
            let errors: Vec<u64> = ["read", "write", "verify"].iter().filter_map(uncorrected).collect();
            (!errors.is_empty()).then(|| errors.iter().sum())
        })
    }

    /// Errors that smartctl (7.5) has for people only: in lines of its output, which its JSON repeats on request.
    fn non_medium_errors(&self) -> Fact<u64> {
        self.get("/smartctl/output", |lines| {
            let mut lines = lines.as_array()?.iter().filter_map(Value::as_str);
            lines.find_map(|line| line.strip_prefix("Non-medium error count:")?.trim().parse().ok())
        })
    }

    /// Failed self-tests, which the logs of ATA, NVMe and SCSI each report in their own way.
    fn failed_self_tests(&self) -> Fact<u64> {
        self.get("", |answer| {
            let table = |pointer| answer.pointer(pointer).and_then(Value::as_array);
            let ata = table("/ata_smart_self_test_log/extended/table")
                .or_else(|| table("/ata_smart_self_test_log/standard/table"));
            let code = |test: &Value, name: &str| test.get(name)?.get("value")?.as_u64();
            let scsi: Vec<&Value> =
                (0..20).map_while(|number| answer.get(format!("scsi_self_test_{number}"))).collect();
            let failed = if let Some(tests) = ata {
                tests
                    .iter()
                    .filter(|test| test.pointer("/status/passed") == Some(&Value::Bool(false)))
                    .count()
            } else if let Some(tests) = table("/nvme_self_test_log/table") {
                tests.iter().filter(|test| matches!(code(test, "self_test_result"), Some(5..=7))).count()
            } else if !scsi.is_empty() {
                scsi.iter().filter(|test| matches!(code(test, "result"), Some(3..=7))).count()
            } else {
                return None;
            };
            Some(failed as u64)
        })
    }

    /// Bytes written or read: from the statistics of ATA, the error counters of SCSI, or an attribute with
    /// one of these numbers whose name says its unit.
    fn lifetime_bytes(&self, offset: u64, scsi: &str, ids: [u64; 3], verb: &str) -> Fact<u64> {
        let sectors = self.statistic(1, offset).map(|sectors| sectors.saturating_mul(512));
        let scsi = || {
            self.get(&format!("/scsi_error_counter_log/{scsi}/gigabytes_processed"), |value| {
                let gigabytes: f64 = value.as_str()?.parse().ok()?;
                Some((gigabytes * 1e9) as u64).filter(|bytes| *bytes > 0)
            })
        };
        let attribute = || {
            self.named_attribute(|row, name| {
                let id = row.get("id")?.as_u64()?;
                let unit = UNITS.iter().find(|(ending, _)| name.ends_with(ending))?.1;
                let is_it =
                    ids.contains(&id) && name.contains(verb) && !FLASH.iter().any(|word| name.contains(word));
                let raw = row.pointer("/raw/value")?.as_u64().filter(|_| is_it)?;
                raw.checked_mul(unit)
            })
        };
        sectors.or_else(scsi).or_else(attribute)
    }

    /// Percent of the drive's endurance that is used, from an attribute whose name says what is left.
    fn worn_percent(&self) -> Fact<f64> {
        self.named_attribute(|row, name| {
            let value = row.get("value")?.as_u64().filter(|value| *value <= 100)?;
            let raw = row.pointer("/raw/value")?.as_u64().unwrap_or_default();
            let is_remaining = REMAINING.contains(&name);
            // Some makers leave the normalized value at 100.
            let left = if is_remaining && value == 100 && (1..100).contains(&raw) { raw } else { value };
            (is_remaining || name == "Wear_Leveling_Count").then_some(100.0 - left as f64)
        })
    }

    /// The value of an attribute whose meaning smartmontools knows for this model. For unknown models, names are guesses.
    fn named_attribute<T>(&self, read: impl Fn(&Value, &str) -> Option<T>) -> Fact<T> {
        self.get("", |answer| {
            let is_known = answer.get("in_smartctl_database").and_then(Value::as_bool) == Some(true);
            let table = answer.pointer("/ata_smart_attributes/table")?.as_array().filter(|_| is_known)?;
            table.iter().find_map(|row| read(row, row.get("name")?.as_str()?))
        })
    }

    /// A number from the drive's statistics (ATA Command Set, Device Statistics log).
    fn statistic(&self, page: u64, offset: u64) -> Fact<u64> {
        self.get("/ata_device_statistics/pages", |pages| {
            let page = pages.as_array()?.iter().find(|entry| entry["number"].as_u64() == Some(page))?;
            let row =
                page["table"].as_array()?.iter().find(|entry| entry["offset"].as_u64() == Some(offset))?;
            row["value"].as_u64()
        })
    }

    pub(crate) fn number(&self, pointer: &str) -> Fact<u64> {
        self.get(pointer, Value::as_u64)
    }

    fn float(&self, pointer: &str) -> Fact<f64> {
        self.get(pointer, Value::as_f64)
    }

    /// The low bits of an attribute's raw value.
    fn raw(&self, id: u8, bits: u32) -> Fact<u64> {
        raw(&self.attributes(), id, bits)
    }

    fn attributes(&self) -> Fact<Vec<Attribute>> {
        self.get("/ata_smart_attributes/table", |table| {
            let attributes: Vec<Attribute> = table.as_array()?.iter().filter_map(attribute).collect();
            (!attributes.is_empty()).then_some(attributes)
        })
    }
}

/// Types for the disks at a volume's controller, from smartctl's own list, for which no disk is woken.
pub(super) fn disks_of_controller(subject: &Subject<'_>) -> Vec<String> {
    let host = subject.folder.split('/').find_map(|part| part.strip_prefix("host")?.parse::<u32>().ok());
    let scan = subject.query(Question::SmartctlScan);
    let scan = scan.value().and_then(|scan| serde_json::from_slice::<Value>(scan).ok());
    let devices = scan.as_ref().and_then(|scan| scan["devices"].as_array()).into_iter().flatten();
    let is_here = |device: &&Value| host.is_some_and(|host| device["name"] == format!("/dev/bus/{host}"));
    let types = devices.filter(is_here).filter_map(|device| device["type"].as_str());
    types.filter(|device_type| smartctl_device::is_member(device_type)).map(str::to_owned).collect()
}

/// Takes a value where none is known.
pub(crate) fn fill<T>(own: &mut Fact<T>, value: Fact<T>) {
    if own.value().is_none() && value.value().is_some() {
        *own = value;
    }
}

/// An attribute from a row of the table; `None` if a number is missing.
fn attribute(row: &Value) -> Option<Attribute> {
    let byte = |pointer: &str| u8::try_from(row.pointer(pointer)?.as_u64()?).ok();
    Some(Attribute {
        id: byte("/id")?,
        value: byte("/value")?,
        worst: byte("/worst").unwrap_or_default(),
        threshold: byte("/thresh").unwrap_or_default(),
        raw: row.pointer("/raw/value")?.as_u64()?,
        prefail: row.pointer("/flags/prefailure").and_then(Value::as_bool).unwrap_or_default(),
    })
}

/// Attributes that predict failure now, by their thresholds or by smartctl's own word.
fn failed_attributes(answer: &Value) -> Vec<Attribute> {
    let table = answer.pointer("/ata_smart_attributes/table").and_then(Value::as_array);
    let is_now = |row: &Value| row.get("when_failed").and_then(Value::as_str) == Some("now");
    let rows = table.into_iter().flatten().filter_map(|row| Some((attribute(row)?, is_now(row))));
    rows.filter(|(attribute, is_now)| attribute.prefail && (*is_now || attribute.has_failed()))
        .map(|(attribute, _)| attribute)
        .collect()
}

/// Warnings in words: attributes at their thresholds and NVMe's critical warnings, or else only that the drive fails.
fn warnings(answer: &Value) -> Vec<String> {
    let mut warnings: Vec<String> = failed_attributes(answer).iter().map(attribute_warning).collect();
    let critical = answer.pointer(NVME_LOG).and_then(|log| log.get("critical_warning")?.as_u64());
    warnings.extend(critical.map(nvme_warnings).unwrap_or_default());
    let passed = answer.pointer("/smart_status/passed").and_then(Value::as_bool);
    if warnings.is_empty() && passed == Some(false) {
        warnings.push(wording::SMART_FAILS.to_owned());
    }
    warnings
}

// The database of drives that smartmontools keeps, where the user has it: read at run time, and no part of
// this program.

/// Where the database may be: the owner's additions, what `update-smart-drivedb` brings, what distributions
/// install (smartctl(8), FILES).
const PLACES: [&str; 6] = [
    "/etc/smart_drivedb.h",
    "/var/lib/smartmontools/drivedb/drivedb.h",
    "/usr/local/share/smartmontools/drivedb.h",
    "/usr/share/smartmontools/drivedb.h",
    "/etc/smartmontools/drivedb.h",
    "/opt/homebrew/share/smartmontools/drivedb.h",
];

/// All databases that are there, the owner's first.
pub(crate) struct Databases(Vec<(&'static str, Vec<Entry>)>);

impl Databases {
    /// Reads all databases.
    pub(crate) fn read(roots: &Roots) -> Self {
        let installed = |place: &&'static str| Some((*place, entries(roots.text(place).value()?)));
        Self(PLACES.iter().filter_map(installed).collect())
    }

    /// What is known of a model and its firmware, from the first database that has an entry.
    pub(crate) fn of(&self, model: Option<&str>, firmware: Option<&str>) -> Database {
        let Some(model) = model else { return Database::default() };
        let Some((last, _)) = self.0.last() else {
            fn none<T>() -> Fact<T> {
                Fact::unknown(wording::NO_DATABASE, "drivedb.h").help(wording::INSTALL_SMARTMONTOOLS)
            }
            return Database { family: none(), warning: none(), shingled: none() };
        };
        let is_it = |entry: &&Entry| entry.is_of(model, firmware.unwrap_or(""));
        let known = self.0.iter().find_map(|(place, entries)| Some((*place, entries.iter().find(is_it)?)));
        let origin = known.map_or(*last, |(place, _)| place);
        let entry = known.map(|(_, entry)| entry.clone());
        let warning = entry.as_ref().map(|entry| entry.warning.clone()).filter(|warning| !warning.is_empty());
        // Some entries have settings and no family.
        let family = entry.map(|entry| entry.family).filter(|family| !family.is_empty());
        Database {
            warning: Fact::new(warning, origin),
            shingled: match &family {
                Some(family) => Fact::new(family.contains("(SMR"), origin),
                None => Fact::unknown(wording::NOT_IN_DATABASE, origin),
            },
            family: Fact::new(family, origin),
        }
    }
}

/// Reads a database and looks a drive up in it, for fuzzers. Returns whether the database has entries.
pub(crate) fn finds(text: &str, model: &str, firmware: &str) -> bool {
    let entries = entries(text);
    let _ = entries.iter().any(|entry| entry.is_of(model, firmware));
    !entries.is_empty()
}

/// One entry; the regular expressions stay text until one is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entry {
    family: String,
    model: String,
    firmware: String,
    warning: String,
}

impl Entry {
    /// Whether the entry is for this model and firmware. Expressions match whole texts; an empty firmware matches all.
    fn is_of(&self, model: &str, firmware: &str) -> bool {
        matches(&self.model, model) && (self.firmware.is_empty() || matches(&self.firmware, firmware))
    }

    /// Whether the entry is for drives, and not for settings or USB bridges.
    fn is_of_drives(&self) -> bool {
        self.family != "DEFAULT"
            && !self.family.starts_with("USB:")
            && !self.family.starts_with('$')
            && !self.family.starts_with("VERSION")
    }
}

/// Whether a POSIX extended expression matches a whole text. The library reads these too, as far as the database uses them.
fn matches(pattern: &str, text: &str) -> bool {
    // Most of a thousand patterns begin with plain words, which are compared first: compiling each would take a second.
    let plain: String = pattern.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ' ').collect();
    let is_one = !pattern.contains('|') && !pattern[plain.len()..].starts_with(['?', '*', '{']);
    if is_one && !text.starts_with(&plain) {
        return false;
    }
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|regex| regex.is_match(text))
}

/// All entries: each is five strings of C in braces, each of one or several pieces between quotes, with
/// comments anywhere.
fn entries(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (mut fields, mut depth, mut field) = (Vec::new(), 0u32, None::<String>);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            continue;
        }
        rest = after;
        match first {
            '"' => {
                let (piece, after) = string(after);
                field.get_or_insert_default().push_str(&piece);
                rest = after;
            }
            ',' if depth == 1 => fields.extend(field.take()),
            '{' => (depth, fields, field) = (1, Vec::new(), None),
            '}' if depth == 1 => {
                fields.extend(field.take());
                depth = 0;
                if let [family, model, firmware, warning, ..] = &fields[..] {
                    let [family, model, firmware, warning] =
                        [family, model, firmware, warning].map(Clone::clone);
                    entries.push(Entry { family, model, firmware, warning });
                }
            }
            _ => {}
        }
    }
    entries.retain(Entry::is_of_drives);
    entries
}

/// A string of C after its opening quote, and what follows its closing one.
fn string(text: &str) -> (String, &str) {
    let mut plain = String::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => return (plain, &text[at + 1..]),
            '\\' => match rest.next() {
                Some((_, 'n')) => plain.push('\n'),
                Some((_, 't')) => plain.push('\t'),
                Some((_, other)) => plain.push(other),
                None => break,
            },
            c => plain.push(c),
        }
    }
    (plain, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_smartctl(text: &str) -> Smartctl {
        Smartctl::read(Fact::new(text.as_bytes().to_vec(), "smartctl"))
    }

    const ATA_DISK: &str = r#"{"json_format_version":[1,0],"smartctl":{"version":[7,4],"exit_status":0},
        "device":{"name":"/dev/sdb","type":"sat","protocol":"ATA"},"model_name":"WDC WD6400AAKS-22A7B0","serial_number":"WD-X",
        "firmware_version":"01.03B01","rotation_rate":7200,"smart_status":{"passed":true},"temperature":{"current":38},
        "power_cycle_count":731,"power_on_time":{"hours":20111},"ata_smart_attributes":{"revision":16,"table":[
        {"id":5,"name":"Reallocated_Sector_Ct","value":200,"worst":200,"thresh":140,"when_failed":"","flags":{"prefailure":true},"raw":{"value":3,"string":"3"}},
        {"id":197,"name":"Current_Pending_Sector","value":200,"worst":200,"thresh":0,"flags":{"prefailure":false},"raw":{"value":2}},
        {"id":199,"name":"UDMA_CRC_Error_Count","value":200,"worst":200,"thresh":0,"flags":{},"raw":{"value":41}},
        {"id":"seven","value":1},
        {"id":9,"value":73,"raw":{"string":"20111"}}]}}"#;

    #[test]
    fn an_ata_disk_says_what_its_attributes_count() {
        let answer_text = parse_smartctl(ATA_DISK);
        let (health, counts) = (answer_text.health(), answer_text.counts());
        assert_eq!((health.failing.get(), health.temperature_c.get()), (Some(false), Some(38.0)));
        assert_eq!((health.pending_sectors.get(), counts.crc_errors.get()), (Some(2), Some(41)));
        assert_eq!((counts.reallocated_sectors.get(), counts.power_on_hours.get()), (Some(3), Some(20_111)));
        assert_eq!(health.attributes.value().unwrap().len(), 3, "what is not whole is left out");
        assert_eq!(health.failing.origin(), Some("smartctl 7.4 (json)"));
        assert_eq!(health.used_percent.reason(), Some(SILENT));
        assert_eq!(health.warnings.value().unwrap(), &[""; 0]);
    }

    #[test]
    fn a_sas_disk_counts_what_it_could_not_correct_in_reads_writes_and_checks() {
        let counts = |log: &str| {
            let text = format!(
                r#"{{"smartctl":{{"version":[7,4]}},"scsi_grown_defect_list":260,"scsi_error_counter_log":{log}}}"#
            );
            parse_smartctl(&text).counts()
        };
        let all = counts(
            r#"{"read":{"total_uncorrected_errors":1},"write":{"total_uncorrected_errors":535},"verify":{"total_uncorrected_errors":4}}"#,
        );
        assert_eq!((all.media_errors.get(), all.reallocated_sectors.get()), (Some(540), Some(260)));
        let writes =
            counts(r#"{"write":{"total_uncorrected_errors":7},"read":{"total_errors_corrected":5}}"#);
        assert_eq!(writes.media_errors.get(), Some(7));
        assert_eq!(counts("{}").media_errors.get(), None);
        assert_eq!(counts("{}").non_medium_errors.get(), None);
        let printed = r#"{"smartctl":{"version":[7,5],"output":["","Non-medium error count:       12"]}}"#;
        assert_eq!(parse_smartctl(printed).counts().non_medium_errors.get(), Some(12));
    }

    #[test]
    fn self_tests_that_failed_are_counted_in_each_log() {
        let failed = |text: &str| parse_smartctl(text).counts().self_tests_failed.get();
        let ata = r#"{"ata_smart_self_test_log":{"standard":{"table":[{"status":{"value":121,"passed":false}},{"status":{"value":0,"passed":true}},
            {"status":{"value":25}}],"count":3}},"ata_smart_error_log":{"summary":{"count":12}}}"#;
        assert_eq!((failed(ata), parse_smartctl(ata).counts().error_log_entries.get()), (Some(1), Some(12)));
        let nvme = r#"{"nvme_self_test_log":{"table":[{"self_test_result":{"value":7}},{"self_test_result":{"value":15}}]}}"#;
        assert_eq!(failed(nvme), Some(1));
        let sas = r#"{"scsi_self_test_0":{"result":{"value":0}},"scsi_self_test_1":{"result":{"value":7}},"scsi_self_test_2":{"result":{"value":2}}}"#;
        assert_eq!((failed(sas), failed("{}")), (Some(1), None));
    }

    #[test]
    fn what_stands_for_no_value_is_none() {
        let answer = parse_smartctl(
            r#"{"temperature":{"current":255},"rotation_rate":65535,"serial_number":"N/A","scsi_pending_defects":{"count":-1},
            "ata_smart_attributes":{"table":[{"id":5,"value":1,"raw":{"value":65535}},{"id":187,"value":1,"raw":{"value":4294967295}}]}}"#,
        );
        let (health, counts) = (answer.health(), answer.counts());
        assert_eq!((health.temperature_c.get(), health.pending_sectors.get()), (None, None));
        assert_eq!((counts.reallocated_sectors.get(), counts.media_errors.get()), (None, None));
        assert_eq!(answer.text("/serial_number").value(), None);
    }

    #[test]
    fn a_volume_that_says_0_degrees_has_no_temperature() {
        let health = |degrees: i64| {
            parse_smartctl(&format!(
                r#"{{"smartctl":{{"version":[7,4]}},"temperature":{{"current":{degrees}}}}}"#
            ))
            .health()
        };
        assert_eq!((health(0).temperature_c.get(), health(33).temperature_c.get()), (None, Some(33.0)));
    }

    #[test]
    fn an_ata_ssd_that_fails_says_by_which_attribute() {
        let answer_text = parse_smartctl(
            r#"{"smartctl":{"version":[7,3],"exit_status":24},"model_name":"M4-CT128M4SSD2","rotation_rate":0,
            "smart_status":{"passed":false},"endurance_used":{"current_percent":93},"spare_available":{"current_percent":4},
            "ata_smart_attributes":{"table":[{"id":5,"value":1,"worst":1,"thresh":10,"flags":{"prefailure":true},"raw":{"value":4096}}]}}"#,
        );
        let health = answer_text.health();
        assert_eq!(
            (health.failing.get(), health.used_percent.get(), health.spare_percent.get()),
            (Some(true), Some(93.0), Some(4.0))
        );
        assert!(
            health.warnings.value().unwrap()[0].starts_with("attribute 5 is at 1"),
            "{:?}",
            health.warnings
        );
        let bare = parse_smartctl(r#"{"smart_status":{"passed":false}}"#).health();
        assert_eq!(bare.warnings.value().unwrap(), &["its SMART status says that it is failing"]);
        assert_eq!(bare.failing.origin(), Some("smartctl (json)"));
    }

    #[test]
    fn an_nvme_drive_says_it_by_its_log() {
        let answer_text = parse_smartctl(
            r#"{"smartctl":{"version":[7,4],"exit_status":8},"model_name":"X","smart_status":{"passed":false,"nvme":{"value":9}},
            "nvme_smart_health_information_log":{"critical_warning":9,"temperature":71,"available_spare":5,"available_spare_threshold":10,
            "percentage_used":104,"data_units_read":2,"data_units_written":3,"power_on_hours":12,"unsafe_shutdowns":7,"media_errors":1},
            "temperature":{"current":71},"power_on_time":{"hours":12},"power_cycle_count":4}"#,
        );
        let (health, counts) = (answer_text.health(), answer_text.counts());
        assert_eq!(
            (health.failing.get(), health.read_only.get(), health.used_percent.get()),
            (Some(true), Some(true), Some(104.0))
        );
        assert_eq!(
            (health.spare_percent.get(), health.spare_threshold_percent.get()),
            (Some(5.0), Some(10.0))
        );
        assert_eq!(health.warnings.value().unwrap().len(), 2, "{:?}", health.warnings);
        assert_eq!((counts.media_errors.get(), counts.unsafe_shutdowns.get()), (Some(1), Some(7)));
        assert_eq!(counts.lifetime_bytes_written.get(), Some(1_536_000));
    }

    #[test]
    fn a_refusal_a_sleep_and_nonsense_are_reasons() {
        let reason = |text: &str| parse_smartctl(text).reason().unwrap().to_owned();
        let refused = r#"{"smartctl":{"version":[7,3],"messages":[{"string":"/dev/sdc: Unknown USB bridge [0x152d:0x0578 (0x205)]","severity":"error"}],"exit_status":1}}"#;
        assert!(reason(refused).contains("Unknown USB bridge"));
        let closed = r#"{"smartctl":{"messages":[{"string":"Smartctl open device: /dev/sda failed: Permission denied","severity":"error"}],"exit_status":2}}"#;
        assert!(reason(closed).contains("open device"));
        assert!(reason(r#"{"smartctl":{"exit_status":2}}"#).contains("exit status 2"));
        let asleep = parse_smartctl(r#"{"smartctl":{"version":[7,4],"exit_status":7}}"#);
        assert!(
            asleep.reason().unwrap().contains("asleep")
                && asleep.health().failing.reason().unwrap().contains("asleep")
        );
        for text in ["", "smartctl 7.3 2022-02-28", "[1, 2]", "null", "3", &ATA_DISK[..200]] {
            assert!(reason(text).contains("did not print JSON"), "{text}");
        }
        let health = parse_smartctl(
            r#"{"temperature":"hot","smart_status":[],"ata_smart_attributes":{"table":{"id":5}}}"#,
        )
        .health();
        assert!(
            [health.temperature_c.reason(), health.failing.reason(), health.attributes.reason()]
                .iter()
                .all(|reason| *reason == Some(SILENT))
        );
    }

    const TEXT: &str = r#"
        /* the head */
        static const drive_settings builtin_knowndrives[] = {
          { "VERSION: 7.3/5319", "-", "-", "", "" },
          { "DEFAULT", "-", "-", "Default settings", "-v 1,raw48 " },
          { "Maker Blue (SMR)", // tested with X
            "MKR (10|20)EZ.*|" // two of them
              "MKR30EZ[^/]*",
            "", "", ""
          },
          { "Maker M4", "M4-CT(064|128)M4SSD[123]", "000[1-9]",
            "This drive may hang.\n" "See \"the page\"", "-v 170,raw48" },
          { "USB: stick; bridge", "0x1234:0x.*", "", "", "-d sat" },
        };"#;

    #[test]
    fn entries_are_read_with_comments_pieces_and_escapes() {
        let entries = entries(TEXT);
        assert_eq!(entries.len(), 2, "{entries:?}");
        assert_eq!(entries[0].model, "MKR (10|20)EZ.*|MKR30EZ[^/]*");
        assert_eq!(entries[1].warning, "This drive may hang.\nSee \"the page\"");
        assert!(
            entries[0].is_of("MKR 20EZRX", "any")
                && entries[0].is_of("MKR30EZ", "")
                && !entries[0].is_of("xMKR30EZ", "")
        );
        assert!(entries[1].is_of("M4-CT064M4SSD2", "0002") && !entries[1].is_of("M4-CT064M4SSD2", "0309"));
    }

    #[test]
    fn the_users_copy_is_asked() {
        let root = tempfile::tempdir().unwrap();
        let roots = Roots::at(root.path());
        let none = Databases::read(&roots).of(Some("MKR30EZ"), None);
        assert!(none.family.reason().unwrap().contains("not installed"));
        let folder = root.path().join("usr/share/smartmontools");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("drivedb.h"), TEXT).unwrap();
        let known = Databases::read(&roots).of(Some("MKR30EZ"), None);
        assert_eq!((known.shingled.get(), known.warning.value()), (Some(true), Some(&None)));
        let warned = Databases::read(&roots).of(Some("M4-CT128M4SSD1"), Some("0002"));
        assert!(warned.warning.value().unwrap().as_ref().unwrap().contains("may hang"));
        let other = Databases::read(&roots).of(Some("Something"), None);
        assert_eq!((other.family.value(), other.shingled.get()), (Some(&None), None));
    }

    /// Every pattern that an entry has.
    fn patterns(entry: &Entry) -> impl Iterator<Item = &String> {
        [&entry.model, &entry.firmware].into_iter().filter(|pattern| !pattern.is_empty())
    }

    #[test]
    fn the_database_that_smartmontools_ships_is_read_whole() {
        let roots = Roots::system();
        let Some(text) = PLACES[1..].iter().find_map(|place| roots.text(place).value().cloned()) else {
            return eprintln!("SKIPPED: smartmontools is not installed");
        };
        let entries = entries(&text);
        // In the file, each entry begins on a new line.
        let no_drives = ["USB:", "DEFAULT", "VERSION", "$"];
        let begins = text.lines().filter_map(|line| line.strip_prefix("  { \""));
        let expected = begins.filter(|name| !no_drives.iter().any(|none| name.starts_with(none))).count();
        assert!(expected > 400, "{expected} entries");
        assert_eq!(entries.len(), expected);
        for pattern in entries.iter().flat_map(patterns) {
            assert!(Regex::new(&format!("^(?:{pattern})$")).is_ok(), "{pattern}");
        }
        let known = |model: &str, firmware: &str| {
            let known = Databases::read(&roots).of(Some(model), Some(firmware));
            let family = known.family.value().unwrap().clone().unwrap_or_default();
            (family, known.warning.value().unwrap().clone().unwrap_or_default(), known.shingled.get())
        };
        let (family, warning, shingled) = known("M4-CT128M4SSD2", "0002");
        assert!(
            family.starts_with("Crucial/Micron RealSSD m4") && warning.contains("5184 hours"),
            "{warning}"
        );
        assert_eq!(shingled, Some(false));
        assert_eq!(known("M4-CT128M4SSD2", "070H").1, "", "the firmware that mends it");
        assert!(known("ST31000340AS", "SD15").1.contains("known problems"));
        assert_eq!(known("ST31000340AS", "SD1A").1, "");
        for model in ["ST8000AS0002-1NA17Z", "WDC WD60EFAX-68SHWN0"] {
            assert_eq!(known(model, "any").2, Some(true), "{model}");
        }
        let plain = known("WDC WD60EFRX-68MYMN1", "82.00A82");
        assert_eq!(plain, ("Western Digital Red".to_owned(), String::new(), Some(false)));
        let (family, warning, shingled) = known("FUJITSU MHL2300AT", "any");
        assert!(family.is_empty() && warning.contains("harmless") && shingled.is_none(), "{warning}");
        assert_eq!(known("LN FAST", "1.5"), (String::new(), String::new(), None));
    }

    #[test]
    fn what_is_no_database_has_no_entries() {
        for text in ["", "{", "{ \"", "{ \"a\", \"b\" }", "}}}}", "/*", "// {", "{\"a\\"] {
            assert_eq!(entries(text), [], "{text}");
        }
        assert!(!matches("(", "("), "what is no expression matches nothing");
    }
}
