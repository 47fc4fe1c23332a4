//! Block devices: lsblk, `hdparm -I`, `iostat -x`.

use likenew_core::facts::{DriveKind, Layer, LayerKind};
use serde_json::Value;

use super::{Mark, Reading, Row, Section, bytes_of, device_path, first_number, rows, table_lines};

/// Whether a line has the headings of lsblk, whatever columns were chosen.
pub(super) fn is_lsblk_head(line: &str) -> bool {
    let words: Vec<&str> = line.split_whitespace().collect();
    const OTHERS: [&str; 8] =
        ["MAJ:MIN", "FSTYPE", "ROTA", "DISC-GRAN", "TRAN", "TYPE", "MODEL", "ALIGNMENT"];
    matches!(words.first(), Some(&"NAME" | &"KNAME")) && words.iter().any(|word| OTHERS.contains(word))
}

/// A device of lsblk.
struct Device {
    name: String,
    parent: Option<String>,
    row: Row,
}

impl Device {
    fn text(&self, column: &str) -> Option<String> {
        self.row.get(&[column]).map(str::to_owned)
    }

    fn bytes(&self, column: &str) -> Option<u64> {
        bytes_of(&self.text(column)?)
    }

    fn flag(&self, column: &str) -> Option<bool> {
        match self.text(column)?.as_str() {
            "1" | "true" => Some(true),
            "0" | "false" => Some(false),
            _ => None,
        }
    }
}

/// Reads a device and what is built on it.
fn read_tree(value: &Value, parent: Option<&str>, depth: usize, into: &mut Reading) -> bool {
    /// Most layers above each other. Chosen: more than anybody builds.
    const DEPTH_MAX: usize = 32;
    let name = value.get("name").or_else(|| value.get("kname")).and_then(Value::as_str);
    let Some(name) = name.filter(|_| depth < DEPTH_MAX) else { return false };
    let device =
        Device { name: name.to_owned(), parent: parent.map(str::to_owned), row: Row::of_json(value) };
    read_device(&device, into);
    for child in value.get("children").and_then(Value::as_array).into_iter().flatten() {
        read_tree(child, Some(name), depth + 1, into);
    }
    true
}

/// Reads `lsblk -J` with any columns, or lsblk's table, whose branches show what is built on what.
pub(super) fn read_lsblk(section: &Section<'_>, into: &mut Reading) -> bool {
    if let Some(json) = &section.json {
        let devices = json.get("blockdevices").and_then(Value::as_array);
        return devices.into_iter().flatten().filter(|device| read_tree(device, None, 0, into)).count() > 0;
    }
    let mut above: Vec<(usize, String)> = Vec::new();
    let mut has_devices = false;
    for row in rows(table_lines(section.text())) {
        let Some(name) = row.get(&["NAME", "KNAME"]) else { continue };
        let name = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).to_owned();
        if name.is_empty() || name.contains(char::is_whitespace) {
            continue;
        }
        above.retain(|(indent, _)| *indent < row.indent);
        let parent = above.last().map(|(_, name)| name.clone());
        above.push((row.indent, name.clone()));
        read_device(&Device { name, parent, row }, into);
        has_devices = true;
    }
    has_devices
}

fn layer_kind(device: &Device) -> Option<LayerKind> {
    let is_usb = device.text("tran").is_some_and(|tran| tran == "usb");
    Some(match device.text("type")?.as_str() {
        "disk" if is_usb => LayerKind::UsbDisk,
        "disk" => LayerKind::Disk,
        "part" => LayerKind::Partition,
        "crypt" => LayerKind::Crypt,
        "lvm" => LayerKind::LogicalVolume,
        "mpath" => LayerKind::Multipath,
        "dm" => LayerKind::Mapping,
        kind if kind.starts_with("raid") || kind == "linear" => LayerKind::Array,
        _ => return None,
    })
}

fn read_device(device: &Device, into: &mut Reading) {
    let name = &device.name;
    // Memory and files that serve as devices are no drives. Without a type, the top of the tree counts as a disk.
    let is_drive = !["loop", "zram", "ram", "sr", "fd"].iter().any(|word| name.starts_with(word));
    let kind = layer_kind(device)
        .or_else(|| (device.text("type").is_none() && device.parent.is_none()).then_some(LayerKind::Disk));
    let Some(kind) = kind.filter(|_| is_drive) else { return };
    into.is_linux.get_or_insert(true);
    put_layer(device, kind, into);
    if matches!(kind, LayerKind::Disk | LayerKind::UsbDisk) {
        put_drive(device, into);
    }
    put_file_system(device, into);
}

fn put_layer(device: &Device, kind: LayerKind, into: &mut Reading) {
    let from = into.origin.clone();
    let bytes = |column: &str| from.fact(device.bytes(column));
    let discard = bytes("disc-max");
    let new = Layer {
        capacity_bytes: bytes("size"),
        logical_block_bytes: bytes("log-sec"),
        physical_block_bytes: bytes("phy-sec"),
        optimal_io_bytes: bytes("opt-io"),
        discard_granularity_bytes: bytes("disc-gran"),
        takes_trim: discard.clone().map(|bytes| bytes > 0),
        discard_bytes_max: discard,
        start_bytes: from.fact(device.bytes("start").and_then(|sectors| sectors.checked_mul(512))),
        scheduler: from.fact(device.text("sched")),
        queue_requests_max: from.fact(device.text("rq-size").and_then(|text| text.parse().ok())),
        read_ahead_bytes: from
            .fact(device.text("ra").and_then(|kib| kib.parse::<u64>().ok()?.checked_mul(1024))),
        rotates: from.fact(device.flag("rota")),
        level: from.fact(device.text("type").filter(|_| kind == LayerKind::Array)),
        ..Layer::default()
    };
    let parent = device.parent.clone();
    let (layer, _) = into.layer(&device.name);
    let on = std::mem::take(&mut layer.on);
    if layer.kind == LayerKind::Other {
        *layer = Layer { name: device.name.clone(), kind, on, ..new };
    } else {
        layer.on = on;
    }
    layer.on.extend(parent.filter(|parent| !layer.on.contains(parent)));
}

fn put_drive(device: &Device, into: &mut Reading) {
    let tran = device.text("tran");
    let kind = match tran.as_deref() {
        Some("usb") => DriveKind::Usb,
        Some("nvme") => DriveKind::Nvme,
        Some("sata" | "ata") => DriveKind::Sata,
        Some("sas" | "fc" | "spi") => DriveKind::Scsi,
        Some("virtio") => DriveKind::Virtual,
        _ if device.name.starts_with("nvme") => DriveKind::Nvme,
        _ if device.name.starts_with("mmcblk") => DriveKind::Card,
        _ if device.name.starts_with("vd") => DriveKind::Virtual,
        _ => DriveKind::Other,
    };
    let mark = Mark {
        name: Some(device.name.clone()),
        model: device.text("model"),
        serial: device.text("serial"),
        capacity_bytes: device.bytes("size").filter(|bytes| *bytes > 0),
        kind,
    };
    // Behind USB the kernel takes every disk for a rotating one.
    let is_flash = device.flag("rota") == Some(false) && tran.as_deref() != Some("usb");
    let (drive, from) = into.drive(&mark);
    // lsblk rounds unless it prints bytes; other outputs are exact.
    from.fill(&mut drive.identity.capacity_bytes, mark.capacity_bytes);
    from.fill(&mut drive.identity.firmware, device.text("rev"));
    from.fill(&mut drive.identity.rotation_rpm, is_flash.then_some(0));
    let bus = tran.map(|tran| if tran == "nvme" { "PCIe".to_owned() } else { tran.to_uppercase() });
    from.fill(&mut drive.link.bus, bus);
}

fn put_file_system(device: &Device, into: &mut Reading) {
    let point = ["mountpoint", "mountpoints"].iter().find_map(|column| device.text(column));
    let Some(point) = point.filter(|point| point.starts_with('/')) else { return };
    let percent = device.text("fsuse%").and_then(|text| text.trim_end_matches('%').parse().ok());
    let (file_system, from) = into.file_system(&point);
    from.fill(&mut file_system.kind, device.text("fstype"));
    from.fill(&mut file_system.source, Some(format!("/dev/{}", device.name)));
    from.fill(&mut file_system.used_bytes, device.bytes("fsused"));
    from.fill(&mut file_system.free_bytes, device.bytes("fsavail"));
    from.fill(&mut file_system.total_bytes, device.bytes("fssize"));
    from.fill(&mut file_system.used_percent, percent);
}

/// Whether a line begins hdparm's output about a device.
pub(super) fn is_hdparm_head(line: &str) -> bool {
    line.trim_end() == "ATA device, with non-removable media" || is_device_line(line)
}

/// Whether a line names a device as hdparm does: `/dev/sda:`.
fn is_device_line(line: &str) -> bool {
    line.trim_end().strip_suffix(':').is_some_and(|path| {
        path.strip_prefix("/dev/").is_some_and(|name| name.chars().all(|c| c.is_ascii_alphanumeric()))
    })
}

pub(super) fn read_hdparm(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let mut has_identity = false;
    let mut device = None;
    let mut from = 0;
    for at in 0..=text.len() {
        let ends = text.get(at).is_none_or(|line| is_device_line(line));
        if ends {
            has_identity |= read_identity(&text[from..at], device.take(), into);
            device = text.get(at).and_then(|line| device_path(line));
            from = at;
        }
    }
    has_identity
}

/// Reads the lines below one device.
fn read_identity(text: &[&str], device: Option<String>, into: &mut Reading) -> bool {
    let field = |name: &str| {
        let value = text.iter().find_map(|line| line.trim_start().strip_prefix(name));
        value.map(|value| value.trim_start_matches(':').trim().to_owned()).filter(|value| !value.is_empty())
    };
    let model = field("Model Number");
    if model.is_none() && device.is_none() || !text.iter().any(|line| line.contains("ATA device")) {
        return false;
    }
    // Features that are switched on have an asterisk.
    let feature = |words: &str| {
        let line =
            text.iter().find(|line| line.trim_start().trim_start_matches('*').trim().starts_with(words))?;
        Some(line.trim_start().starts_with('*'))
    };
    let has = |words: &str| text.iter().any(|line| line.contains(words));
    let bits: Option<u64> = [
        ("Gen3 signaling", 6_000_000_000),
        ("Gen2 signaling", 3_000_000_000),
        ("Gen1 signaling", 1_500_000_000),
    ]
    .into_iter()
    .find_map(|(words, bits)| has(words).then_some(bits));
    let rotation = field("Nominal Media Rotation Rate").and_then(|text| {
        if text.starts_with("Solid") { Some(0) } else { u32::try_from(first_number(&text)?).ok() }
    });
    let serial = field("Serial Number");
    let mark = Mark { name: device.clone(), model, serial, kind: DriveKind::Sata, ..Mark::default() };
    let (drive, from) = into.drive(&mark);
    from.fill(&mut drive.identity.firmware, field("Firmware Revision"));
    from.fill(&mut drive.identity.knows_trim, has("Data Set Management TRIM supported").then_some(true));
    from.fill(&mut drive.identity.rotation_rpm, rotation);
    if let [hop] = &mut drive.link.hops[..] {
        from.fill(&mut hop.line_bits_per_s_max, bits);
    }
    if let (Some(device), Some(is_on)) = (device, feature("Write cache")) {
        let (layer, from) = into.layer(&device);
        if layer.kind == LayerKind::Other {
            layer.kind = LayerKind::Disk;
        }
        let cache = if is_on { "write back" } else { "write through" };
        from.fill(&mut layer.write_cache, Some(cache.to_owned()));
    }
    true
}

/// Whether a line has the headings of `iostat -x`.
pub(super) fn is_iostat_head(line: &str) -> bool {
    line.starts_with("Device") && line.contains("%util") && line.contains("r/s")
}

/// Reads what programs do at the drives. The last report counts, since the first one goes back to the start of the system.
pub(super) fn read_iostat(section: &Section<'_>, into: &mut Reading) -> bool {
    let (text, json) = (section.text(), section.json.as_ref());
    let statistics = json.and_then(|json| json.pointer("/sysstat/hosts/0/statistics")?.as_array());
    let disks = |report: &Value| {
        let disks = report.get("disk").and_then(Value::as_array);
        disks.into_iter().flatten().map(Row::of_json).collect()
    };
    let mut reports: Vec<Vec<Row>> = statistics.into_iter().flatten().map(disks).collect();
    let heads = (0..text.len()).filter(|at| json.is_none() && is_iostat_head(text[*at]));
    for head in heads {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let rows = text[head + 1..].iter().take_while(|line| !line.trim().is_empty());
        let row =
            |line: &&str| Row { indent: 0, cells: words(text[head]).into_iter().zip(words(line)).collect() };
        reports.push(rows.map(row).collect());
    }
    let [_, .., last] = &reports[..] else { return false };
    for row in last {
        let rate = |letter: char| {
            let of = |unit: &str| {
                let cell = row.get(&[&format!("{letter}{unit}/s")])?;
                cell.replace(',', ".").parse::<f64>().ok()
            };
            of("kB").or_else(|| Some(of("MB")? * 1024.0)).map(|kib| (kib * 1024.0) as u64)
        };
        let name = row.get(&["Device", "Device:", "disk_device"]).map(|name| name.trim_end_matches(':'));
        let known = |name: &&str| into.facts.drives.iter().any(|drive| drive.name == *name);
        if let Some(name) = name.filter(known) {
            let (drive, from) = into.drive(&Mark { name: Some(name.to_owned()), ..Mark::default() });
            drive.others_read_bytes_per_s = from.fact(rate('r'));
            drive.others_write_bytes_per_s = from.fact(rate('w'));
        }
    }
    true
}
