//! Windows: `Get-PhysicalDisk` and `Get-StorageReliabilityCounter` as tables or lists, `fsutil behavior query DisableDeleteNotify`.

use likenew_core::facts::DriveKind;

use super::{Mark, Reading, Section, bytes_of, first_number, rows, table_lines};

/// Whether a line has the headings of a table, or begins a list.
pub(super) fn is_disk_head(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    let is_table = words.contains(&"FriendlyName") && words.contains(&"HealthStatus");
    let is_list =
        matches!(words[..], ["ObjectId" | "FriendlyName" | "DeviceId" | "Wear" | "Temperature", ":", ..]);
    is_table || is_list
}

pub(super) fn read_disks(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    into.is_linux.get_or_insert(false);
    let is_table = text[0].contains("HealthStatus") && !text[0].contains(" : ");
    if is_table {
        let rows = rows(table_lines(text));
        return rows.iter().filter(|row| put(|name| row.get(&[name]).map(str::to_owned), into)).count() > 0;
    }
    // One list for each disk, with an empty line between them.
    text.split(|line| line.trim().is_empty())
        .filter(|list| {
            let field = |name: &str| {
                let value = list.iter().find_map(|line| {
                    let (label, value) = line.split_once(':')?;
                    (label.trim() == name).then(|| value.trim().to_owned())
                });
                value.filter(|value| !value.is_empty())
            };
            put(field, into)
        })
        .count()
        > 0
}

/// Reads what is printed of one disk.
fn put(field: impl Fn(&str) -> Option<String>, into: &mut Reading) -> bool {
    let model = field("FriendlyName").or_else(|| field("Model"));
    let number = |name: &str| field(name).and_then(|text| first_number(&text));
    let (wear, temperature) = (number("Wear"), number("Temperature"));
    let only_disk = into.facts.drives.len() == 1;
    if model.is_none() && !(only_disk && (wear.is_some() || temperature.is_some())) {
        return false;
    }
    let kind = match field("BusType").as_deref() {
        Some("NVMe") => DriveKind::Nvme,
        Some("SATA" | "ATA") => DriveKind::Sata,
        Some("SAS") => DriveKind::Scsi,
        Some("USB") => DriveKind::Usb,
        Some("SD" | "MMC") => DriveKind::Card,
        _ => DriveKind::Other,
    };
    let failing = field("HealthStatus").and_then(|text| match text.as_str() {
        "Healthy" => Some(false),
        "Unhealthy" => Some(true),
        _ => None,
    });
    let warnings = field("OperationalStatus").map(|text| match text.as_str() {
        "OK" | "In Service" => Vec::new(),
        _ => vec![text],
    });
    // The list has bytes, the table a rounded `931.51 GB`.
    let capacity = field("Size")
        .filter(|text| text.chars().all(|c| c.is_ascii_digit()))
        .and_then(|text| bytes_of(&text));
    let at_first =
        into.facts.drives.first().map(|drive| drive.name.clone()).filter(|_| only_disk && model.is_none());
    let serial = field("SerialNumber").map(|text| text.trim_end_matches('.').to_owned());
    let (drive, from) = into.drive(&Mark { name: at_first, model, serial, kind, ..Mark::default() });
    let (identity, health) = (&mut drive.identity, &mut drive.health);
    from.fill(&mut identity.capacity_bytes, capacity);
    from.fill(&mut identity.rotation_rpm, (field("MediaType").as_deref() == Some("SSD")).then_some(0));
    from.fill(&mut identity.firmware, field("FirmwareVersion"));
    from.fill(&mut health.failing, failing);
    from.fill(&mut health.warnings, warnings);
    from.fill(&mut health.used_percent, wear.map(|percent| percent as f64));
    let degrees = temperature.filter(|degrees| *degrees > 0).map(|degrees| degrees as f64);
    from.fill(&mut health.temperature_c, degrees);
    from.fill(&mut drive.counts.power_on_hours, number("PowerOnHours"));
    from.fill(&mut drive.counts.media_errors, number("ReadErrorsUncorrected"));
    from.fill(&mut drive.link.bus, field("BusType"));
    true
}

pub(super) fn is_fsutil(line: &str) -> bool {
    line.contains("DisableDeleteNotify")
}

/// Reads `NTFS DisableDeleteNotify = 0  (Allows TRIM operations to be sent to the storage device)`; 7 and 8 print it without `NTFS`.
pub(super) fn read_fsutil(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    into.is_linux.get_or_insert(false);
    let ntfs = text.iter().find(|line| is_fsutil(line) && !line.trim_start().starts_with("ReFS"));
    let state = ntfs.and_then(|line| line.split_once('=')).and_then(|(_, value)| first_number(value));
    if state.is_some() {
        let (file_system, from) = into.file_system("C:");
        from.fill(&mut file_system.kind, Some("ntfs".to_owned()));
        from.fill(&mut file_system.trimming.immediate, state.map(|state| state == 0));
    }
    state.is_some()
}
