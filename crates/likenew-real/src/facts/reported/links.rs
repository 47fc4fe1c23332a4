//! Links: `lspci -vv` and `lsusb -t`.

use std::sync::LazyLock;

use likenew_core::facts::drive::{pcie_bytes_per_s, usb_bytes_per_s};
use likenew_core::facts::{DriveKind, Fact, Hop, Link};
use regex::Regex;

use super::{Reading, Section};
use crate::facts::link::{hop, of_hops};
use crate::wording::facts as wording;

pattern!(PCI = r"^((?:[0-9a-f]{4,5}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([A-Z].*?)(?: \[[0-9a-f]{4}\])?: ");
pattern!(SPEED = r"Lnk(Cap|Sta):.*?Speed ([\d.]+)GT/s.*?Width x(\d+)");
pattern!(
    USB = r"^(\s*)(?:/:\s+Bus 0*(\d+)\.Port|\|__\s+Port) 0*(\d+): Dev \d+,.*?Class=([^,]+), Driver=([^,]*), (\d+)M"
);

pub(super) fn is_pci_head(line: &str) -> bool {
    PCI.is_match(line)
}

/// A function of PCI Express with its link.
#[derive(Clone, Debug)]
pub(super) struct PciPort {
    /// The PCI address: `0000:01:00.0`.
    address: String,
    /// Whether it is an NVMe controller, as only then its link is a drive's own.
    is_nvme: bool,
    hop: Hop,
}

pub(super) fn read_pci(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let before = into.ports.len();
    let mut current: Option<PciPort> = None;
    for line in text {
        if let Some(head) = PCI.captures(line) {
            keep(current.take(), into);
            let address = if head[1].matches(':').count() == 2 {
                head[1].to_owned()
            } else {
                format!("0000:{}", &head[1])
            };
            let hop = Hop { name: address.clone(), kind: wording::THE_DRIVE.to_owned(), ..Hop::default() };
            current = Some(PciPort { address, is_nvme: head[2].starts_with("Non-Volatile memory"), hop });
        }
        let (Some(port), Some(speed)) = (&mut current, SPEED.captures(line)) else { continue };
        let gigabits: f64 = speed[2].parse().unwrap_or_default();
        let lanes = speed[3].parse::<u32>().ok().filter(|lanes| (1..=32).contains(lanes));
        let bits = Some((gigabits * 1e9).round() as u64)
            .filter(|bits| (1_000_000_000..1_000_000_000_000).contains(bits));
        let carries = bits.zip(lanes).map(|(bits, lanes)| pcie_bytes_per_s(bits, lanes));
        let from = &into.origin;
        let (bits, lanes, carries) = (from.fact(bits), from.fact(lanes), from.fact(carries));
        if &speed[1] == "Cap" {
            (port.hop.line_bits_per_s_max, port.hop.lanes_max, port.hop.bytes_per_s_max) =
                (bits, lanes, carries);
        } else {
            (port.hop.line_bits_per_s, port.hop.lanes, port.hop.bytes_per_s) = (bits, lanes, carries);
        }
    }
    keep(current, into);
    into.ports.len() > before
}

fn keep(port: Option<PciPort>, into: &mut Reading) {
    into.ports.extend(port.filter(|port| port.is_nvme && port.hop.bytes_per_s.value().is_some()));
}

/// Gives each NVMe drive its link: the one that the kernel's log names, or the only one.
pub(super) fn assign(reading: &mut Reading) {
    let nvme: Vec<usize> = (0..reading.facts.drives.len())
        .filter(|at| {
            reading.facts.drives[*at].kind == DriveKind::Nvme
                && reading.facts.drives[*at].link.hops.is_empty()
        })
        .collect();
    let is_single = nvme.len() == 1 && reading.ports.len() == 1;
    for at in nvme {
        let name = &reading.facts.drives[at].name;
        let controller = name.split('n').nth(1).map(|rest| format!("n{rest}")).unwrap_or_default();
        let logged = |port: &&PciPort| {
            let line = format!("nvme {controller}: pci function {}", port.address);
            reading.records.iter().any(|record| record.text.contains(&line))
        };
        let port = reading.ports.iter().find(logged).or_else(|| reading.ports.first().filter(|_| is_single));
        if let Some(hop) = port.map(|port| port.hop.clone()) {
            let link = &mut reading.facts.drives[at].link;
            let bus = Fact::new("PCIe".to_owned(), hop.bytes_per_s.origin().unwrap_or_default());
            *link = Link { bus, ..of_hops(vec![hop]) };
        }
    }
}

pub(super) fn is_usb_head(line: &str) -> bool {
    USB.is_match(line)
}

/// Reads drives behind USB, each with the hubs above it. The tree does not say which of several drives is which.
pub(super) fn read_usb(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let mut above: Vec<(usize, String, u64)> = Vec::new();
    let mut drives: Vec<(String, Vec<Hop>)> = Vec::new();
    for line in text {
        let Some(captures) = USB.captures(line) else { continue };
        let indent = captures[1].len();
        above.retain(|(depth, ..)| *depth < indent);
        let bits = captures[6].parse::<u64>().unwrap_or_default().saturating_mul(1_000_000);
        let name = match (captures.get(2), above.last()) {
            (Some(bus), _) => bus.as_str().to_owned(),
            (None, Some((_, hub, _))) if hub.contains('-') => format!("{hub}.{}", &captures[3]),
            (None, Some((_, bus, _))) => format!("{bus}-{}", &captures[3]),
            (None, None) => continue,
        };
        if captures[4].starts_with("Mass Storage") {
            let speed = |bits: u64| into.origin.fact(Some(bits).filter(|bits| *bits > 0));
            let own = hop(&name, wording::THE_DRIVE, speed(bits), Fact::NotQueried, usb_bytes_per_s);
            let hubs = above
                .iter()
                .rev()
                .map(|(_, name, bits)| hop(name, "hub", speed(*bits), speed(*bits), usb_bytes_per_s));
            drives.push((captures[5].to_owned(), std::iter::once(own).chain(hubs).collect()));
        }
        above.push((indent, name, bits));
    }
    let mut usb: Vec<_> =
        (0..into.facts.drives.len()).filter(|at| into.facts.drives[*at].kind == DriveKind::Usb).collect();
    drives.dedup_by(|one, other| one.1[0].name == other.1[0].name);
    if let (Some(at), [(driver, hops)]) = (usb.pop().filter(|_| usb.is_empty()), &drives[..]) {
        let link = &mut into.facts.drives[at].link;
        if link.hops.is_empty() {
            *link = Link { bus: into.origin.fact(Some("USB".to_owned())), ..of_hops(hops.clone()) };
        }
        into.origin.fill(&mut link.driver, Some(driver.clone()));
    }
    !drives.is_empty()
}
