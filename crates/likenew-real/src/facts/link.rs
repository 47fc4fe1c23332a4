//! The link to a drive, part by part, from what /sys says of each end.

use likenew_core::facts::drive::{pcie_bytes_per_s, sata_bytes_per_s, usb_bytes_per_s};
use likenew_core::facts::{DriveKind, Fact, Hop, Link, Power};

use super::machine::{Subject, is_numbered};
use crate::wording::facts as wording;

/// The link from the host to the drive.
pub(crate) fn link(subject: &Subject<'_>) -> Link {
    let (bus, mut hops) = match subject.kind {
        DriveKind::Nvme => (nvme_bus(subject), Vec::new()),
        DriveKind::Sata => (Fact::new("SATA".to_owned(), wording::KERNEL_PATH), sata_hops(subject)),
        DriveKind::Usb => (Fact::new("USB".to_owned(), wording::KERNEL_PATH), usb_hops(subject)),
        DriveKind::Card => (Fact::new("MMC".to_owned(), wording::KERNEL_PATH), Vec::new()),
        _ => (bus_by_name(subject), Vec::new()),
    };
    let is_virtual = matches!(subject.kind, DriveKind::Virtual | DriveKind::Memory | DriveKind::Network);
    if !is_virtual {
        hops.extend(pcie_hops(subject, hops.is_empty()));
    }
    Link {
        driver: driver(subject),
        queue_depth: queue_depth(subject),
        queues: queues(subject),
        bus,
        ..of_hops(hops)
    }
}

/// A link of these parts, which carries what its slowest part does.
pub(crate) fn of_hops(hops: Vec<Hop>) -> Link {
    let least = |rate: fn(&Hop) -> &Fact<u64>| {
        hops.iter().map(rate).filter(|fact| fact.value().is_some()).min_by_key(|fact| fact.get()).cloned()
    };
    let none =
        || if hops.is_empty() { Fact::NotQueried } else { Fact::unknown(wording::NO_LINK_SPEED, "/sys") };
    let complete = hops.iter().all(|hop| hop.bytes_per_s_max.value().is_some());
    let possible = least(|hop| &hop.bytes_per_s_max).unwrap_or_else(none);
    Link {
        ceiling_bytes_per_s: least(|hop| &hop.bytes_per_s).unwrap_or_else(none),
        possible_bytes_per_s: match possible {
            Fact::Value { origin, .. } if !complete => Fact::unknown(wording::LINK_MAXIMUM_UNKNOWN, origin),
            possible => possible,
        },
        hops,
        ..Link::default()
    }
}

fn bus_by_name(subject: &Subject<'_>) -> Fact<String> {
    let place = format!("/sys/class/block/{}/device/subsystem", subject.name());
    Fact::from_option(subject.roots.link_name(&place), wording::CONNECTION_NOT_LISTED, place)
}

fn nvme_bus(subject: &Subject<'_>) -> Fact<String> {
    let Some(controller) = &subject.controller else {
        return Fact::unknown(wording::CONTROLLER_NOT_LISTED, "/sys/class/nvme");
    };
    let transport = subject.roots.line(&format!("/sys/class/nvme/{controller}/transport"));
    transport.map(|transport| if transport == "pcie" { "PCIe".to_owned() } else { transport })
}

fn driver(subject: &Subject<'_>) -> Fact<String> {
    let roots = subject.roots;
    let mut is_above_host = false;
    // For USB the driver of the interface counts, for others the driver of the controller. A SCSI disk's
    // controller is above its host.
    for folder in subject.ancestors() {
        let is_wanted = match subject.kind {
            DriveKind::Usb => roots.exists(&format!("{folder}/bInterfaceClass")),
            DriveKind::Card | DriveKind::Virtual => true,
            DriveKind::Scsi => is_above_host,
            _ => roots.exists(&format!("{folder}/class")),
        };
        is_above_host |= is_numbered(last(&folder), "host");
        let place = format!("{folder}/driver");
        if let Some(name) = roots.link_name(&place).filter(|_| is_wanted) {
            return Fact::new(name, place);
        }
    }
    match subject.kind {
        DriveKind::Memory | DriveKind::Network | DriveKind::Other => Fact::NotQueried,
        _ => Fact::unknown(wording::NO_DRIVER, "/sys"),
    }
}

/// Parts of PCI Express: the function that the drive is or is behind, the port above it, and all bridges up
/// to the host. A function on the host's own bus has no link.
fn pcie_hops(subject: &Subject<'_>, is_drive: bool) -> Vec<Hop> {
    let roots = subject.roots;
    let functions: Vec<String> = subject
        .ancestors()
        .filter(|folder| roots.exists(&format!("{folder}/vendor")) && is_pci_address(last(folder)))
        .take(8)
        .collect();
    let is_integrated =
        |folder: &str| folder.rsplit('/').nth(1).is_some_and(|above| above.starts_with("pci"));
    if functions.first().is_none_or(|folder| is_integrated(folder)) {
        return Vec::new();
    }
    let what = |number: usize| match number {
        0 if is_drive => wording::THE_DRIVE,
        0 => wording::THE_CONTROLLER,
        1 => wording::THE_PORT_ABOVE,
        _ => wording::A_BRIDGE_ABOVE,
    };
    functions.iter().enumerate().map(|(number, folder)| pcie_hop(subject, folder, what(number))).collect()
}

fn pcie_hop(subject: &Subject<'_>, folder: &str, kind: &str) -> Hop {
    let roots = subject.roots;
    let speed = |name: &str| {
        roots.line(&format!("{folder}/{name}")).and_then(wording::NO_SPEED, |text| giga(&text, "GT/s"))
    };
    // Width 0 means no link, and 255 unknown.
    let lanes = |name: &str| {
        let number = roots.number::<u32>(&format!("{folder}/{name}"));
        number.and_then(wording::NO_WIDTH, |lanes| (1..=32).contains(&lanes).then_some(lanes))
    };
    let (now, best) = (speed("current_link_speed"), speed("max_link_speed"));
    let (lanes, lanes_max) = (lanes("current_link_width"), lanes("max_link_width"));
    let carries = |speed: &Fact<u64>, lanes: &Fact<u32>| match lanes.get() {
        Some(lanes) => speed.clone().map(|speed| pcie_bytes_per_s(speed, lanes)),
        None => lanes.clone().map(u64::from),
    };
    Hop {
        name: last(folder).to_owned(),
        kind: kind.to_owned(),
        bytes_per_s: carries(&now, &lanes),
        bytes_per_s_max: carries(&best, &lanes_max),
        line_bits_per_s: now,
        line_bits_per_s_max: best,
        lanes,
        lanes_max,
    }
}

/// The number a second in `8.0 GT/s PCIe`, `8 GT/s` (older kernels) or `6.0 Gbps`.
fn giga(text: &str, unit: &str) -> Option<u64> {
    let number: f64 = text.split_once(unit)?.0.trim().parse().ok()?;
    (0.1..1000.0).contains(&number).then_some((number * 1e9).round() as u64)
}

/// Whether a name is a PCI address: `0000:01:00.0`.
pub(crate) fn is_pci_address(name: &str) -> bool {
    let is_hex = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts: Vec<&str> = name.split([':', '.']).collect();
    parts.len() == 4 && name.contains('.') && parts.into_iter().all(is_hex)
}

/// A SATA link: the drive's side (IDENTIFY DEVICE words 76 and 77, ACS-3) and the port's (`ata_link`, and the
/// capabilities of AHCI).
fn sata_hops(subject: &Subject<'_>) -> Vec<Hop> {
    let identify = subject.ata_identify();
    let bits_per_s = |generation: u32| 750_000_000 << generation;
    let best = identify
        .clone()
        .and_then(wording::NOT_REPORTED, |identify| identify.sata_generation_max().map(bits_per_s));
    let now = identify.and_then(wording::NOT_REPORTED, |identify| identify.sata_generation().map(bits_per_s));
    let drive = hop(&subject.name(), wording::THE_DRIVE, now, best, sata_bytes_per_s);
    std::iter::once(drive).chain(sata_port(subject)).collect()
}

fn sata_port(subject: &Subject<'_>) -> Option<Hop> {
    let roots = subject.roots;
    let port = subject.ancestors().find(|folder| is_numbered(last(folder), "ata"))?;
    let link = roots.names(&port).into_iter().find(|name| name.starts_with("link"))?;
    let speed = |name: &str| {
        let line = roots.line(&format!("/sys/class/ata_link/{link}/{name}"));
        line.and_then(wording::NO_SPEED_LIMIT, |text| giga(&text, "Gbps"))
    };
    let host = roots.names(&port).into_iter().find(|name| name.starts_with("host"));
    // The speed of an AHCI's ports is in bits 20 to 23 of its capabilities (AHCI 1.3.1, §3.1.1, ISS).
    let capable = host.map_or(Fact::NotQueried, |host| {
        let capabilities = roots.hexadecimal(&format!("/sys/class/scsi_host/{host}/ahci_host_caps"));
        capabilities.and_then(wording::NO_SPEED, |bits| match bits >> 20 & 0xF {
            generation @ 1..=3 => Some(750_000_000 << generation),
            _ => None,
        })
    });
    let best = capable.or_else(|| speed("hw_sata_spd_limit"));
    Some(hop(last(&port), "the port", speed("sata_spd"), best, sata_bytes_per_s))
}

/// A part of a link: its line speed now and at best, and `bytes_per_s`, which turns a line speed into the bytes that it carries.
pub(crate) fn hop(
    name: &str,
    kind: &str,
    now: Fact<u64>,
    best: Fact<u64>,
    bytes_per_s: fn(u64) -> u64,
) -> Hop {
    Hop {
        name: name.to_owned(),
        kind: kind.to_owned(),
        bytes_per_s: now.clone().map(bytes_per_s),
        bytes_per_s_max: best.clone().map(bytes_per_s),
        line_bits_per_s: now,
        line_bits_per_s_max: best,
        ..Hop::default()
    }
}

/// The USB device and every hub above it.
fn usb_hops(subject: &Subject<'_>) -> Vec<Hop> {
    let roots = subject.roots;
    let devices = subject.ancestors().filter(|folder| roots.exists(&format!("{folder}/speed")));
    devices.take(8).enumerate().map(|(number, folder)| usb_hop(subject, &folder, number == 0)).collect()
}

fn usb_hop(subject: &Subject<'_>, folder: &str, is_drive: bool) -> Hop {
    let roots = subject.roots;
    let speed =
        roots.number::<f64>(&format!("{folder}/speed")).and_then(wording::NOT_A_USB_SPEED, |megabits| {
            (1.0..1e6).contains(&megabits).then_some((megabits * 1e6).round() as u64)
        });
    // A USB 3 drive that is connected as USB 2 reports 2.1, and does not say what it could do.
    let version = roots.number::<f64>(&format!("{folder}/version"));
    let best = if is_drive {
        let reason = wording::USB_VERSION_2_1;
        version.and_then(reason, |version| speed.get().filter(|_| !(2.05..3.0).contains(&version)))
    } else {
        speed.clone()
    };
    let kind = if is_drive { wording::THE_DRIVE } else { "hub" };
    hop(last(folder), kind, speed, best, usb_bytes_per_s)
}

fn queue_depth(subject: &Subject<'_>) -> Fact<u64> {
    match subject.kind {
        // The size of a queue is reported less one (NVMe Base Specification 2.0, §3.3.3.1).
        _ if subject.controller.is_some() => {
            of_controller(subject, "sqsize").map(|size| size.saturating_add(1))
        }
        DriveKind::Sata | DriveKind::Scsi | DriveKind::Usb => {
            subject.roots.count(&subject.device, "device/queue_depth")
        }
        _ => Fact::NotQueried,
    }
}

fn queues(subject: &Subject<'_>) -> Fact<u64> {
    // One queue is for admin commands.
    of_controller(subject, "queue_count").map(|queues| queues.saturating_sub(1))
}

/// A number that /sys has of an NVMe drive's controller.
fn of_controller(subject: &Subject<'_>, name: &str) -> Fact<u64> {
    let controller = subject.controller.as_ref();
    controller.map_or(Fact::NotQueried, |controller| {
        subject.roots.number(&format!("/sys/class/nvme/{controller}/{name}"))
    })
}

fn last(folder: &str) -> &str {
    folder.rsplit('/').next().unwrap_or(folder)
}

// Power policies that affect a drive's latency.

/// The power settings of the drive and its link.
pub(crate) fn power(subject: &Subject<'_>) -> Power {
    let roots = subject.roots;
    let aspm = || {
        let policy = roots.line("/sys/module/pcie_aspm/parameters/policy");
        policy.and_then(wording::NO_POLICY, |policies| {
            Some(policies.split_once('[')?.1.split_once(']')?.0.to_owned())
        })
    };
    let host = subject.folder.split('/').find(|part| is_numbered(part, "host"));
    let link_policy = || match host {
        Some(host) => roots.line(&format!("/sys/class/scsi_host/{host}/link_power_management_policy")),
        None => Fact::NotQueried,
    };
    let runtime = subject.line("device/power/control");
    match subject.kind {
        DriveKind::Nvme => Power {
            aspm_policy: aspm(),
            wake_us_max: roots.number("/sys/module/nvme_core/parameters/default_ps_max_latency_us"),
            runtime,
            ..Power::default()
        },
        DriveKind::Sata => Power { link_policy: link_policy(), runtime, ..Power::default() },
        DriveKind::Usb | DriveKind::Scsi | DriveKind::Card => Power { runtime, ..Power::default() },
        _ => Power::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_read_as_every_kernel_writes_them() {
        assert_eq!(giga("8.0 GT/s PCIe", "GT/s"), Some(8_000_000_000));
        assert_eq!(giga("2.5 GT/s", "GT/s"), Some(2_500_000_000));
        assert_eq!(giga("1.5 Gbps", "Gbps"), Some(1_500_000_000));
        for text in ["Unknown", "", "GT/s", "-1 GT/s", "NaN GT/s", "inf GT/s", "<unknown>"] {
            assert_eq!((giga(text, "GT/s"), giga(text, "Gbps")), (None, None), "{text}");
        }
    }

    #[test]
    fn an_address_of_pci_is_distinguished_from_other_names() {
        assert!(is_pci_address("0000:01:00.0") && is_pci_address("10000:e1:00.0"));
        for name in ["pci0000:00", "ata3", "0000:00:1d", "1-1:1.0", "2:0:0:0", ":::."] {
            assert!(!is_pci_address(name), "{name}");
        }
    }
}
