//! Answers of smartctl, as JSON or as text.

use likenew_core::facts::{DriveKind, Fact};
use serde_json::Value;

use super::smartctl_text::{is_head, json_of};
use super::{Mark, Reading, Section, device_path, device_word};
use crate::facts::identity::hashed_serial;
use crate::facts::smartmontools::{Smartctl, fill};

/// Whether a line belongs to smartctl's output for people.
pub(super) fn is_mark(line: &str) -> bool {
    is_head(line) || line.starts_with("=== START OF ")
}

pub(super) fn read(section: &Section<'_>, into: &mut Reading<'_>) -> bool {
    match &section.json {
        Some(json) => read_json(json, section.file, into),
        None => read_text(section, into),
    }
}

/// Reads one text answer, or several below each other.
fn read_text(section: &Section<'_>, into: &mut Reading<'_>) -> bool {
    let text = section.text();
    let mut heads: Vec<usize> = (0..text.len()).filter(|at| is_head(text[*at])).collect();
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
fn read_json(value: &Value, file: &str, into: &mut Reading<'_>) -> bool {
    let path = value.pointer("/device/name").and_then(Value::as_str);
    // For a member of an array, the path is that of the controller.
    let is_own = |path: &&str| !path.starts_with("/dev/bus/");
    let device = path.filter(is_own).and_then(device_path);
    read_answer(value.clone(), device.or_else(|| device_word(file).filter(|_| path.is_none())), into)
}

fn read_answer(answer: Value, device: Option<String>, into: &mut Reading<'_>) -> bool {
    if let Some(platform) = answer.pointer("/smartctl/platform_info").and_then(Value::as_str) {
        const OTHERS: [&str; 7] = ["FreeBSD", "NetBSD", "OpenBSD", "arwin", "mingw", "cygwin", "SunOS"];
        let kernel = platform
            .split_once("linux-")
            .map(|(_, kernel)| kernel.split_whitespace().next().unwrap_or_default().to_owned());
        if platform.contains("linux") || OTHERS.iter().any(|system| platform.contains(system)) {
            into.is_linux.get_or_insert(platform.contains("linux"));
        }
        let kernel = into.fact(kernel.filter(|kernel| !kernel.is_empty()));
        fill(&mut into.facts.machine.kernel, kernel);
    }
    let message = Smartctl::of_json(answer.clone());
    let words = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let model = message.text("/model_name").or_else(|| message.text("/scsi_model_name"));
    let serial = message.text("/serial_number");
    if model.value().is_none() && device.is_none() {
        return false;
    }
    if let Some(reason) = message.reason() {
        let failing = Fact::unknown(reason, into.origin.clone());
        let drive = into.drive(&Mark { name: device, ..Mark::default() });
        if drive.health.failing.value().is_none() {
            drive.health.failing = failing;
        }
        return true;
    }
    let kind = kind_of(words("/device/protocol"), words("/device/type"), &answer);
    let mark = Mark {
        name: device,
        model: model.value().map(|model| model.split_whitespace().collect::<Vec<_>>().join(" ")),
        serial: serial.value().cloned(),
        capacity_bytes: message.number("/user_capacity/bytes").get(),
    };
    let hashed = hashed_serial(into.roots, serial);
    let family = into.fact(answer["model_family"].as_str().map(|family| Some(family.to_owned())));
    let drive = into.drive(&mark);
    if drive.kind == DriveKind::Other {
        drive.kind = kind;
    }
    message.complete(drive, hashed);
    message.describe(drive);
    fill(&mut drive.database.family, family.clone());
    if let Fact::Value { value: Some(family), origin } = family {
        fill(&mut drive.database.shingled, Fact::new(family.contains("(SMR"), origin));
    }
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
