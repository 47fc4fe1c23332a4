//! nvme-cli: `list`, `id-ctrl` and `smart-log`, for people and as JSON.

use likenew_core::facts::{DriveKind, Fact};
use serde_json::{Map, Value, json};

use super::{Mark, Reading, Row, Section, device_path, device_word, first_number, rows, table_lines};
use crate::facts::smartmontools::{NVME_LOG, Smartctl};

pub(super) fn is_list_head(line: &str) -> bool {
    line.starts_with("Node ") && line.contains("Model") && line.contains("Namespace")
}

pub(super) fn read_list(section: &Section<'_>, into: &mut Reading) -> bool {
    let devices = match &section.json {
        Some(json) => json["Devices"].as_array().into_iter().flatten().map(Row::of_json).collect(),
        None => rows(table_lines(section.text())),
    };
    let mut has_drives = false;
    for device in devices {
        let text = |columns: [&str; 2]| device.get(&columns).map(str::to_owned);
        let name = device.get(&["Node", "DevicePath"]).and_then(device_path);
        let (model, serial) = (text(["Model", "ModelNumber"]), text(["SN", "SerialNumber"]));
        let capacity_bytes = device.get(&["PhysicalSize"]).and_then(|bytes| bytes.parse().ok());
        if name.is_none() {
            continue;
        }
        let (drive, from) = into.drive(&Mark { name, model, serial, capacity_bytes, ..Mark::default() });
        drive.kind = DriveKind::Nvme;
        from.fill(&mut drive.identity.firmware, text(["FW Rev", "Firmware"]));
        from.fill(&mut drive.identity.capacity_bytes, capacity_bytes);
        has_drives = true;
    }
    has_drives
}

pub(super) fn is_identify_head(line: &str) -> bool {
    line.starts_with("NVME Identify Controller")
}

/// The device of an output, from the command above it or from the name of the file.
fn device(section: &Section<'_>) -> Option<String> {
    let above = section.device_above(section.lines.start);
    above.or_else(|| device_word(section.file))
}

/// Fields such as `mn : MODEL`, in the order of the output.
fn fields<'a>(text: &'a [&str]) -> impl Iterator<Item = (&'a str, &'a str)> {
    text.iter().filter_map(|line| line.split_once(':')).map(|(name, value)| (name.trim(), value.trim()))
}

pub(super) fn read_identify(section: &Section<'_>, into: &mut Reading) -> bool {
    let json = section.json.as_ref();
    let of_text =
        |key: &str| fields(section.text()).find(|(name, _)| *name == key).map(|(_, value)| value.to_owned());
    let text = |key: &str| match json {
        Some(json) => json[key].as_str().map(|text| text.trim().to_owned()),
        None => of_text(key),
    };
    let number = |key: &str| match json {
        Some(json) => json[key].as_u64(),
        None => of_text(key).and_then(|text| first_number(&text)),
    };
    let (model, serial) = (text("mn"), text("sn"));
    if model.is_none() {
        return false;
    }
    // Temperatures are in kelvins, 0 where there is none (NVMe base specification 2.0, figure 275).
    let celsius = |key| number(key).filter(|kelvins| *kelvins > 0).map(|kelvins| kelvins as f64 - 273.0);
    let (drive, from) = into.drive(&Mark { name: device(section), model, serial, ..Mark::default() });
    drive.kind = DriveKind::Nvme;
    from.fill(&mut drive.identity.firmware, text("fr"));
    from.fill(&mut drive.identity.capacity_bytes, number("tnvmcap").filter(|bytes| *bytes > 0));
    from.fill(&mut drive.health.temperature_warning_c, celsius("wctemp"));
    from.fill(&mut drive.health.temperature_critical_c, celsius("cctemp"));
    true
}

pub(super) fn is_smart_head(line: &str) -> bool {
    line.starts_with("Smart Log for NVME device")
}

/// What only a SMART log has.
pub(super) const SMART_JSON: &[&str] = &["/critical_warning", "/data_units_written"];

/// nvme-cli's keys in JSON, or its lines for people as keys, and smartctl's keys for the same.
const FIELDS: [(&str, &str); 16] = [
    ("avail_spare", "available_spare"),
    ("available_spare", "available_spare"),
    ("spare_thresh", "available_spare_threshold"),
    ("available_spare_threshold", "available_spare_threshold"),
    ("percent_used", "percentage_used"),
    ("percentage_used", "percentage_used"),
    ("data_units_read", "data_units_read"),
    ("data_units_written", "data_units_written"),
    ("controller_busy_time", "controller_busy_time"),
    ("unsafe_shutdowns", "unsafe_shutdowns"),
    ("media_errors", "media_errors"),
    ("num_err_log_entries", "num_err_log_entries"),
    ("warning_temp_time", "warning_temp_time"),
    ("warning_temperature_time", "warning_temp_time"),
    ("critical_comp_time", "critical_comp_time"),
    ("critical_composite_temperature_time", "critical_comp_time"),
];

/// Reads the SMART log, into the form of smartctl's JSON.
pub(super) fn read_smart(section: &Section<'_>, into: &mut Reading) -> bool {
    let json = section.json.as_ref();
    let mut values: Map<String, Value> = Map::new();
    match json {
        Some(Value::Object(fields)) => values.extend(fields.clone()),
        _ => {
            for (name, value) in fields(section.text()) {
                // `temperature : 35°C (308 K)`, or `35 C` in older versions; `critical_warning : 0`, also `0x4`.
                let number = match value.strip_prefix("0x") {
                    Some(digits) => u64::from_str_radix(digits, 16).ok(),
                    None => first_number(value),
                };
                // `Data Units Read` becomes `data_units_read`.
                let key = name.to_ascii_lowercase().replace(' ', "_");
                let kelvins = if key == "temperature" { 273 } else { 0 };
                if let Some(number) = number {
                    values.entry(key).or_insert_with(|| (number.saturating_add(kelvins)).into());
                }
            }
        }
    }
    let number = |key: &str| {
        let value = values.get(key)?;
        // Newer versions write large counters as text, and warnings as an object.
        value.as_u64().or_else(|| first_number(value.as_str()?)).or_else(|| value.get("value")?.as_u64())
    };
    let mut log: Map<String, Value> =
        FIELDS.iter().filter_map(|(key, to)| Some(((*to).to_owned(), number(key)?.into()))).collect();
    let Some(warning) = number("critical_warning") else { return false };
    log.insert("critical_warning".to_owned(), warning.into());
    // Bit 1 warns of heat, which passes.
    let mut answer = json!({ "smart_status": { "passed": warning & 0b11_1101 == 0 }, NVME_LOG[1..]: log });
    if let Some(kelvins) = number("temperature") {
        answer["temperature"] = json!({ "current": kelvins.saturating_sub(273) });
    }
    if let Some(hours) = number("power_on_hours") {
        answer["power_on_time"] = json!({ "hours": hours });
    }
    if let Some(cycles) = number("power_cycles") {
        answer["power_cycle_count"] = cycles.into();
    }
    let head = section.text().first().and_then(|line| line.split_once("device:"));
    let own = head.and_then(|(_, rest)| rest.split_whitespace().next()).map(str::to_owned);
    let mut nvme = into.facts.drives.iter().filter(|drive| drive.kind == DriveKind::Nvme);
    let only = nvme.next().filter(|_| nvme.next().is_none()).map(|drive| drive.name.clone());
    let name = own.or_else(|| device(section)).or(only);
    let (drive, _) = into.drive(&Mark { name, ..Mark::default() });
    drive.kind = DriveKind::Nvme;
    Smartctl::of_json(answer).complete(drive, Fact::NotQueried);
    true
}
