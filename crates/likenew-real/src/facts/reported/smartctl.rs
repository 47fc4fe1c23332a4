//! Answers of smartctl, as JSON or as text.

use std::sync::LazyLock;

use likenew_core::facts::{DriveKind, Fact};
use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::{Mark, Reading, Section, device_path, device_word, first_number};
use crate::facts::drive_answers::hashed_serial;
use crate::facts::smartmontools::{NVME_LOG, Smartctl};

/// Whether a line belongs to smartctl's output for people.
pub(super) fn is_mark(line: &str) -> bool {
    HEAD.is_match(line) || line.starts_with("=== START OF ")
}

pub(super) fn read(section: &Section<'_>, into: &mut Reading) -> bool {
    match &section.json {
        Some(json) => read_json(json, section.file, into),
        None => read_text(section, into),
    }
}

/// Reads one text answer, or several below each other.
fn read_text(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let mut heads: Vec<usize> = (0..text.len()).filter(|at| HEAD.is_match(text[*at])).collect();
    if heads.first().is_none_or(|first| *first > 0) {
        heads.insert(0, 0);
    }
    let ends = heads.iter().skip(1).copied().chain([text.len()]);
    let mut has_answer = false;
    for (from, to) in heads.iter().copied().zip(ends) {
        let device = section.device_above(section.lines.start + from);
        // The name of a file stands for one drive.
        let device = device.or_else(|| device_word(section.file).filter(|_| heads.len() == 1));
        let refused =
            || text[from..to].iter().find_map(|line| device_path(line.split_once("open device: ")?.1));
        let device = device.or_else(refused);
        has_answer |= read_answer(json_of(&text[from..to]), device, into);
    }
    has_answer
}

/// Reads an answer in smartctl's own JSON.
fn read_json(value: &Value, file: &str, into: &mut Reading) -> bool {
    let path = value.pointer("/device/name").and_then(Value::as_str);
    // For a member of an array, the path is that of the controller.
    let is_own = |path: &&str| !path.starts_with("/dev/bus/");
    let device = path.filter(is_own).and_then(device_path);
    read_answer(value.clone(), device.or_else(|| device_word(file).filter(|_| path.is_none())), into)
}

fn read_answer(answer: Value, device: Option<String>, into: &mut Reading) -> bool {
    if let Some(platform) = answer.pointer("/smartctl/platform_info").and_then(Value::as_str) {
        const OTHERS: [&str; 7] = ["FreeBSD", "NetBSD", "OpenBSD", "arwin", "mingw", "cygwin", "SunOS"];
        let kernel = platform
            .split_once("linux-")
            .map(|(_, kernel)| kernel.split_whitespace().next().unwrap_or_default().to_owned());
        if platform.contains("linux") || OTHERS.iter().any(|system| platform.contains(system)) {
            into.is_linux.get_or_insert(platform.contains("linux"));
        }
        into.origin.fill(&mut into.facts.machine.kernel, kernel.filter(|kernel| !kernel.is_empty()));
    }
    let message = Smartctl::of_json(answer.clone());
    let words = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let model = message.text("/model_name").or_else(|| message.text("/scsi_model_name"));
    let serial = message.text("/serial_number");
    if model.value().is_none() && device.is_none() {
        return false;
    }
    if let Some(reason) = message.reason() {
        let (drive, from) = into.drive(&Mark { name: device, ..Mark::default() });
        if drive.health.failing.value().is_none() {
            drive.health.failing = Fact::unknown(reason, from.0.clone());
        }
        return true;
    }
    let mark = Mark {
        name: device,
        model: model.value().map(|model| model.split_whitespace().collect::<Vec<_>>().join(" ")),
        serial: serial.value().cloned(),
        capacity_bytes: message.number("/user_capacity/bytes").get(),
        kind: kind_of(words("/device/protocol"), words("/device/type"), &answer),
    };
    let hashed = hashed_serial(&into.roots, serial);
    let (drive, from) = into.drive(&mark);
    message.complete(drive, hashed);
    message.describe(drive);
    let family = answer["model_family"].as_str();
    from.fill(&mut drive.database.family, family.map(|family| Some(family.to_owned())));
    from.fill(&mut drive.database.shingled, family.map(|family| family.contains("(SMR")));
    true
}

/// The kind of drive, from the device type (`by`), the protocol, and keys that only one kind has.
fn kind_of(protocol: &str, by: &str, answer: &Value) -> DriveKind {
    let has = |key: &str| answer.get(key).is_some();
    let is_bridge = by.starts_with("usb") || by.starts_with("snt");
    match protocol {
        _ if is_bridge => DriveKind::Usb,
        "NVMe" => DriveKind::Nvme,
        "ATA" => DriveKind::Sata,
        "SCSI" => DriveKind::Scsi,
        _ if has("nvme_smart_health_information_log") => DriveKind::Nvme,
        _ if has("ata_smart_attributes") || has("interface_speed") || has("trim") => DriveKind::Sata,
        _ if has("scsi_model_name") || has("scsi_grown_defect_list") => DriveKind::Scsi,
        _ => DriveKind::Other,
    }
}

// What smartctl prints for people (`-a`, `-x`, `-H`, `-i`, `-A`; 5.3x to 7.5), turned into its own JSON as far as this
// crate reads that. A line that is missing gives no value.

pattern!(
    /// The line that begins an output.
    HEAD = r"^smartctl (?:version )?(\d+)\.(\d+)(.*)$"
);
pattern!(PLATFORM = r"\[(?:x86_64-|i[3-6]86-|aarch64-|arm\S*?-)?([A-Za-z][^\]]*)\]");
pattern!(FIELD = r"^([A-Za-z#][^:]*?)\s*:\s+(.*?)\s*$");
pattern!(BYTES = r"^([\d,.'  ]+?) bytes");
pattern!(GIGABITS = r"([\d.]+) Gb/s");
pattern!(
    ATTRIBUTE = r"^\s*(\d{1,3})\s+(\S+)\s+(0x[0-9a-fA-F]{4}|[POSRCK-]{6,7})\s+(\d+|---)\s+(\d+|---)\s+(\d+|---)\s+(.*)$"
);
pattern!(AFTER_LIMITS = r"^(?:(?:Pre-fail|Old_age)\s+(?:Always|Offline)\s+)?(?<failed>\S+)\s+(?<raw>.*)$");
pattern!(STATISTIC = r"^0x([0-9a-fA-F]{2})\s+0x([0-9a-fA-F]{3})\s+\d+\s+(\d+)\s");
pattern!(SCSI_COUNTER = r"^(read|write|verify):\s+(.*)$");
pattern!(SELF_TEST = r"^(?:#\s*\d+\s+\S|\s*\d+\s+(?:Short|Extended)\s)");

/// Words of lines that say why there is no answer.
const REFUSALS: [&str; 5] =
    ["open device:", "Unknown USB bridge", "Read Device Identity failed", "INQUIRY failed", "No such device"];

/// The place of attributes in smartctl's JSON.
const ATA_LOG: &str = "/ata_smart_attributes/table";

/// One output as JSON. Lines that say nothing of a drive add nothing.
fn json_of(lines: &[&str]) -> Value {
    let mut answer = Answer(json!({ "smartctl": { "exit_status": 0 } }));
    for line in lines {
        let line = line.trim_end();
        if REFUSALS.iter().any(|words| line.contains(words)) {
            answer.refusal(line);
        } else if let Some(head) = HEAD.captures(line) {
            answer.head(&head);
        } else if let Some(row) = ATTRIBUTE.captures(line) {
            answer.attribute(&row);
        } else if let Some(row) = STATISTIC.captures(line) {
            answer.statistic(&row);
        } else if let Some(row) = SCSI_COUNTER.captures(line) {
            answer.scsi_counter(&row[1], &row[2]);
        } else if SELF_TEST.is_match(line) {
            answer.self_test(line);
        } else if let Some(field) = FIELD.captures(line) {
            answer.field(field[1].trim(), field[2].trim());
        } else {
            answer.sentence(line);
        }
    }
    answer.0
}

struct Answer(Value);

impl Answer {
    /// Sets a value that is not set yet, so the first line counts.
    fn put(&mut self, pointer: &str, value: impl Into<Value>) {
        let mut at = &mut self.0;
        for key in pointer.split('/').skip(1) {
            if !at.is_object() {
                *at = Value::Object(Map::new());
            }
            at = &mut at[key];
        }
        if at.is_null() {
            *at = value.into();
        }
    }

    fn put_some(&mut self, pointer: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.put(pointer, value);
        }
    }

    /// Adds a row to a table.
    fn push(&mut self, pointer: &str, row: Value) {
        self.put(pointer, Value::Array(Vec::new()));
        if let Some(Value::Array(rows)) = self.0.pointer_mut(pointer) {
            rows.push(row);
        }
    }

    fn head(&mut self, head: &Captures<'_>) {
        let number = |at: usize| head[at].parse::<u64>().unwrap_or_default();
        self.put("/smartctl/version", json!([number(1), number(2)]));
        let platform = PLATFORM.captures(&head[3]).map(|capture| capture[1].to_owned());
        self.put_some("/smartctl/platform_info", platform);
    }

    /// Reads a line `NAME: VALUE`.
    fn field(&mut self, name: &str, value: &str) {
        for (_, pointer, read) in FIELDS.iter().filter(|(names, ..)| names.contains(&name)) {
            self.put_some(pointer, read(value));
        }
        if let Some((_, key)) = NVME_FIELDS.iter().find(|(field, _)| *field == name) {
            self.put_some(&format!("{NVME_LOG}/{key}"), number(value));
        }
        match name {
            "Product" => {
                let vendor = self.0["scsi_vendor"].as_str().filter(|vendor| !vendor.trim().is_empty());
                let name = vendor.map_or_else(|| value.to_owned(), |vendor| format!("{vendor} {value}"));
                self.put("/scsi_model_name", name);
            }
            // smartctl's JSON repeats this line, and has no field for it.
            "Non-medium error count" => self.push("/smartctl/output", json!(format!("{name}: {value}"))),
            _ => {}
        }
    }

    /// Reads a row `ID# NAME FLAGS VALUE WORST THRESH [TYPE UPDATED] FAILED RAW`; flags are letters or a number.
    fn attribute(&mut self, row: &Captures<'_>) {
        let number = |at: usize| row[at].parse::<u64>().ok();
        let Some(id) = number(1).filter(|id| (1..=255).contains(id)) else { return };
        let flags = &row[3];
        let is_prefail = match flags.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).is_ok_and(|bits| bits & 1 == 1),
            None => flags.contains('P'),
        };
        let Some(tail) = AFTER_LIMITS.captures(&row[7]) else { return };
        let (failed, raw_text) = (&tail["failed"], &tail["raw"]);
        let Some(raw) = raw_number(raw_text) else { return };
        self.push(
            ATA_LOG,
            json!({
                "id": id, "name": &row[2], "value": number(4), "worst": number(5), "thresh": number(6),
                "flags": { "prefailure": is_prefail }, "when_failed": if failed.ends_with("NOW") { "now" } else { "" }, "raw": { "value": raw, "string": raw_text },
            }),
        );
        let name = &row[2];
        match id {
            9 if name.contains("Hours") || name.contains("Minutes") && raw_text.contains('h') => {
                self.put("/power_on_time/hours", raw);
            }
            12 => self.put("/power_cycle_count", raw),
            190 | 194 if name.contains("Temp") => self.put("/temperature/current", raw & 0xFF),
            _ => {}
        }
    }

    /// Reads a row `PAGE OFFSET SIZE VALUE FLAGS DESCRIPTION` of ATA's statistics.
    fn statistic(&mut self, row: &Captures<'_>) {
        let hexadecimal = |at: usize| u64::from_str_radix(&row[at], 16).unwrap_or_default();
        let (page, offset) = (hexadecimal(1), hexadecimal(2));
        let Ok(value) = row[3].parse::<u64>() else { return };
        let entry = json!({ "offset": offset, "value": value });
        let pages = self.0.pointer_mut("/ata_device_statistics/pages").and_then(Value::as_array_mut);
        let known = pages.and_then(|pages| pages.iter_mut().find(|known| known["number"] == page));
        match known.and_then(|known| known["table"].as_array_mut()) {
            Some(table) => table.push(entry),
            None => self.push("/ata_device_statistics/pages", json!({ "number": page, "table": [entry] })),
        }
    }

    /// Reads a row of SCSI: corrected fast, delayed, rereads, corrected in all, invocations, gigabytes, uncorrected.
    fn scsi_counter(&mut self, kind: &str, numbers: &str) {
        let columns: Vec<&str> = numbers.split_whitespace().collect();
        if let [.., gigabytes, uncorrected] = columns[..]
            && columns.len() == 7
        {
            let pointer = format!("/scsi_error_counter_log/{kind}");
            self.put(&format!("{pointer}/gigabytes_processed"), gigabytes.replace(',', "."));
            self.put_some(&format!("{pointer}/total_uncorrected_errors"), uncorrected.parse::<u64>().ok());
        }
    }

    /// Reads a line of a log of self-tests.
    fn self_test(&mut self, line: &str) {
        let words = ["failure", "Failed in segment", "failed segment", "Fatal"];
        let has_failed = words.iter().any(|word| line.contains(word));
        let passed =
            if line.contains("Completed without error") { Some(true) } else { has_failed.then_some(false) };
        let status = passed.map_or_else(|| json!({}), |passed| json!({ "passed": passed }));
        self.push("/ata_smart_self_test_log/standard/table", json!({ "status": status }));
    }

    fn refusal(&mut self, line: &str) {
        self.0["smartctl"]["exit_status"] = 2.into();
        self.push("/smartctl/messages", json!({ "string": line.trim() }));
    }

    /// Reads a line that is no field.
    fn sentence(&mut self, line: &str) {
        if line.trim() == "No Errors Logged" {
            self.put("/ata_smart_error_log/summary/count", 0);
        } else if line.trim().starts_with("No self-tests have been logged") {
            self.put("/ata_smart_self_test_log/standard/table", Value::Array(Vec::new()));
        }
    }
}

/// A raw value as smartctl prints it: `21620`, `27 (Min/Max 8/51)`, `1059h+21m+31.170s`, `0x000300030003`.
fn raw_number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => {
            let digits: String = digits.chars().take_while(char::is_ascii_hexdigit).collect();
            u64::from_str_radix(&digits, 16).ok()
        }
        None => {
            let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
            digits.parse().ok()
        }
    }
}

/// The names of a line `NAME: VALUE`, the place of its value in smartctl's JSON, and what is read of the value.
type Field = (&'static [&'static str], &'static str, fn(&str) -> Option<Value>);

/// Lines about a drive. The first one that has a place's value counts.
const FIELDS: [Field; 31] = [
    (&["Device Model", "Model Number"], "/model_name", text),
    (&["Vendor"], "/scsi_vendor", text),
    (&["Device"], "/scsi_model_name", |value| {
        let (model, _) = value.split_once("Version:")?;
        Some(model.split_whitespace().collect::<Vec<_>>().join(" ").into())
    }),
    (&["Model Family"], "/model_family", text),
    (&["Model Family"], "/in_smartctl_database", |_| Some(true.into())),
    (&["Device is"], "/in_smartctl_database", |value| begins(value, "In smartctl database")),
    (&["Serial Number", "Serial number"], "/serial_number", text),
    (&["Firmware Version"], "/firmware_version", text),
    (&["Revision"], "/scsi_revision", text),
    (
        &["User Capacity", "Total NVM Capacity", "Namespace 1 Size/Capacity"],
        "/user_capacity/bytes",
        |value| {
            let bytes =
                BYTES.captures(value).and_then(|bytes| bytes.get(1)).map_or(value, |bytes| bytes.as_str());
            // A controller may report a total of 0.
            first_number(bytes).filter(|bytes| *bytes > 0).map(Value::from)
        },
    ),
    (&["Rotation Rate"], "/rotation_rate", |value| match value {
        value if value.starts_with("Solid State") => Some(0.into()),
        value if value.ends_with("rpm") => number(value),
        _ => None,
    }),
    (&["SATA Version is"], "/interface_speed/max", |value| speed(value.split("(current:").next()?)),
    (&["SATA Version is"], "/interface_speed/current", |value| speed(value.split_once("(current:")?.1)),
    (&["TRIM Command"], "/trim/supported", |value| begins(value, "Available")),
    (&["Transport protocol"], "/scsi_transport_protocol/name", |value| Some(value.into())),
    (&["SMART support is"], "/smart_support/available", |value| unless(value, "Unavailable")),
    (&["SMART support is"], "/smart_support/enabled", |value| unless(value, "Disabled")),
    (&["ATA Version is"], "/device/protocol", |_| Some("ATA".into())),
    (&["NVMe Version"], "/device/protocol", |_| Some("NVMe".into())),
    (&["SMART overall-health self-assessment test result"], PASSED, |value| begins(value, "PASSED")),
    (&["SMART Health Status"], PASSED, |value| begins(value, "OK")),
    (&["Temperature", "Current Temperature", "Current Drive Temperature"], "/temperature/current", |value| {
        number(value).filter(|_| value.contains('C'))
    }),
    (&["Warning  Comp. Temp. Threshold"], "/nvme_composite_temperature_threshold/warning", number),
    (&["Critical Comp. Temp. Threshold"], "/nvme_composite_temperature_threshold/critical", number),
    (&["Power Cycles", "Accumulated start-stop cycles"], "/power_cycle_count", number),
    (&["Power On Hours", "number of hours powered up"], "/power_on_time/hours", number),
    // `Accumulated power on time, hours:minutes 12345:23`
    (&["Accumulated power on time, hours"], "/power_on_time/hours", |value| {
        number(value.split_once("minutes ")?.1)
    }),
    (&["Elements in grown defect list"], "/scsi_grown_defect_list", number),
    (&["Percentage used endurance indicator"], "/scsi_percentage_used_endurance_indicator", number),
    (&["ATA Error Count", "Device Error Count"], "/ata_smart_error_log/summary/count", number),
    (&["Critical Warning"], "/nvme_smart_health_information_log/critical_warning", |value| {
        u64::from_str_radix(value.strip_prefix("0x")?, 16).ok().map(Value::from)
    }),
];

/// The place of whether a drive passes.
const PASSED: &str = "/smart_status/passed";

fn text(value: &str) -> Option<Value> {
    Some(value).filter(|value| !matches!(*value, "" | "--" | "-")).map(Value::from)
}

fn number(value: &str) -> Option<Value> {
    first_number(value).map(Value::from)
}

fn begins(value: &str, words: &str) -> Option<Value> {
    Some(value.starts_with(words).into())
}

/// `false` for a value that begins with these words; any other says nothing.
fn unless(value: &str, words: &str) -> Option<Value> {
    value.starts_with(words).then(|| false.into())
}

/// A link's speed, as in `6.0 Gb/s`.
fn speed(value: &str) -> Option<Value> {
    let gigabits: f64 = GIGABITS.captures(value)?[1].parse().ok()?;
    Some(json!({ "units_per_second": (gigabits * 10.0).round() as u64, "bits_per_unit": 100_000_000 }))
}

/// Lines of an NVMe drive's health log, and their keys in JSON.
const NVME_FIELDS: [(&str, &str); 12] = [
    ("Available Spare", "available_spare"),
    ("Available Spare Threshold", "available_spare_threshold"),
    ("Percentage Used", "percentage_used"),
    ("Data Units Read", "data_units_read"),
    ("Data Units Written", "data_units_written"),
    ("Controller Busy Time", "controller_busy_time"),
    ("Unsafe Shutdowns", "unsafe_shutdowns"),
    ("Media and Data Integrity Errors", "media_errors"),
    ("Error Information Log Entries", "num_err_log_entries"),
    ("Warning  Comp. Temperature Time", "warning_temp_time"),
    ("Critical Comp. Temperature Time", "critical_comp_time"),
    ("Warning Comp. Temperature Time", "warning_temp_time"),
];
