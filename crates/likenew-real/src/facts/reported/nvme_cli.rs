//! nvme-cli: `list`, `id-ctrl` and `smart-log`, for people and as JSON.

use likenew_core::facts::DriveKind;
use serde_json::{Map, Value, json};

use super::table::rows;
use super::{Mark, Reading, Section, device_path, device_word, first_number, table_lines};
use crate::facts::smartmontools::{NVME_LOG, Smartctl, fill};

pub(super) fn is_list_head(line: &str) -> bool {
    line.starts_with("Node ") && line.contains("Model") && line.contains("Namespace")
}

pub(super) fn read_list(section: &Section<'_>, into: &mut Reading<'_>) -> bool {
    let (text, json) = (section.text(), section.json.as_ref());
    let mut has_drives = false;
    let mut put = |path: &str, model: &str, serial: &str, firmware: &str, bytes: Option<u64>| {
        let Some(name) = device_path(path) else { return };
        let text = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let mark = Mark { name: Some(name), model: text(model), serial: text(serial), capacity_bytes: bytes };
        let (firmware, bytes) = (into.fact(text(firmware)), into.fact(bytes));
        let drive = into.drive(&mark);
        drive.kind = DriveKind::Nvme;
        fill(&mut drive.identity.firmware, firmware);
        fill(&mut drive.identity.capacity_bytes, bytes);
        has_drives = true;
    };
    for device in json.and_then(|json| json["Devices"].as_array()).into_iter().flatten() {
        let field = |key: &str| device[key].as_str().unwrap_or_default();
        put(
            field("DevicePath"),
            field("ModelNumber"),
            field("SerialNumber"),
            field("Firmware"),
            device["PhysicalSize"].as_u64(),
        );
    }
    if json.is_none() {
        for row in rows(table_lines(text)) {
            let cell = |names: &[&str]| row.get(names).unwrap_or_default();
            put(cell(&["Node"]), cell(&["Model"]), cell(&["SN"]), cell(&["FW Rev"]), None);
        }
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

pub(super) fn read_identify(section: &Section<'_>, into: &mut Reading<'_>) -> bool {
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
    let mark = Mark { name: device(section), model: text("mn"), serial: text("sn"), capacity_bytes: None };
    let firmware = into.fact(text("fr"));
    let capacity = into.fact(number("tnvmcap").filter(|bytes| *bytes > 0));
    // Temperatures are in kelvins, 0 where there is none (NVMe base specification 2.0, figure 275).
    let celsius = |key| number(key).filter(|kelvins| *kelvins > 0).map(|kelvins| kelvins as f64 - 273.0);
    let (warning, critical) = (into.fact(celsius("wctemp")), into.fact(celsius("cctemp")));
    if mark.model.is_none() {
        return false;
    }
    let drive = into.drive(&mark);
    drive.kind = DriveKind::Nvme;
    fill(&mut drive.identity.firmware, firmware);
    fill(&mut drive.identity.capacity_bytes, capacity);
    fill(&mut drive.health.temperature_warning_c, warning);
    fill(&mut drive.health.temperature_critical_c, critical);
    true
}

pub(super) fn is_smart_head(line: &str) -> bool {
    line.starts_with("Smart Log for NVME device")
}

/// nvme-cli's keys, and smartctl's keys for the same.
const FIELDS: [(&str, &str); 11] = [
    ("avail_spare", "available_spare"),
    ("spare_thresh", "available_spare_threshold"),
    ("percent_used", "percentage_used"),
    ("data_units_read", "data_units_read"),
    ("data_units_written", "data_units_written"),
    ("controller_busy_time", "controller_busy_time"),
    ("unsafe_shutdowns", "unsafe_shutdowns"),
    ("media_errors", "media_errors"),
    ("num_err_log_entries", "num_err_log_entries"),
    ("warning_temp_time", "warning_temp_time"),
    ("critical_comp_time", "critical_comp_time"),
];

/// A line's name as a key: `Data Units Read` becomes `data_units_read`.
fn key_of(name: &str) -> String {
    let key = name.to_ascii_lowercase().replace(' ', "_");
    match key.as_str() {
        "available_spare" => "avail_spare".to_owned(),
        "available_spare_threshold" => "spare_thresh".to_owned(),
        "percentage_used" => "percent_used".to_owned(),
        "warning_temperature_time" => "warning_temp_time".to_owned(),
        "critical_composite_temperature_time" => "critical_comp_time".to_owned(),
        _ => key,
    }
}

/// Reads the SMART log, into the form of smartctl's JSON.
pub(super) fn read_smart(section: &Section<'_>, into: &mut Reading<'_>) -> bool {
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
                let key = key_of(name);
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
    let pointers = [
        ("temperature", "/temperature/current"),
        ("power_on_hours", "/power_on_time/hours"),
        ("power_cycles", "/power_cycle_count"),
    ];
    for (key, to) in pointers {
        let value =
            number(key).map(|value| if key == "temperature" { value.saturating_sub(273) } else { value });
        let (outer, inner) = to[1..].split_once('/').unwrap_or((&to[1..], ""));
        match value {
            Some(value) if inner.is_empty() => answer[outer] = value.into(),
            Some(value) => answer[outer] = json!({ inner: value }),
            None => {}
        }
    }
    let head = section.text().first().and_then(|line| line.split_once("device:"));
    let own = head.and_then(|(_, rest)| rest.split_whitespace().next()).map(str::to_owned);
    let name = own.or_else(|| device(section));
    let single = into.facts.drives.iter().filter(|drive| drive.kind == DriveKind::Nvme).count() == 1;
    let name = name.or_else(|| {
        let only = into.facts.drives.iter().find(|drive| drive.kind == DriveKind::Nvme).filter(|_| single)?;
        Some(only.name.clone())
    });
    let drive = into.drive(&Mark { name, ..Mark::default() });
    drive.kind = DriveKind::Nvme;
    Smartctl::of_json(answer).complete(drive, likenew_core::facts::Fact::NotQueried);
    true
}
