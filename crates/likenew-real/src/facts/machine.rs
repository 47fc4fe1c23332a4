//! The machine: its kernel, whether it is a container or virtual, what it is made of.

use likenew_core::facts::{Fact, Machine};

use super::machine_query::MachineQuery;
use super::roots::Roots;
use crate::wording::facts as wording;

/// What is known of the machine.
pub(crate) fn machine(roots: &Roots, queries: &dyn MachineQuery) -> Machine {
    Machine {
        kernel: roots.line("/proc/sys/kernel/osrelease"),
        root: Fact::new(queries.is_root(), "geteuid"),
        container: container(roots),
        virtual_machine: virtual_machine(roots),
        board: board(roots),
        memory_bytes: memory(roots),
    }
}

/// The marks that container managers leave (systemd's container interface, Docker, Podman).
fn container(roots: &Roots) -> Fact<Option<String>> {
    let named = roots.line("/run/systemd/container");
    if named.value().is_some() {
        return named.map(Some);
    }
    for (mark, kind) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if roots.exists(mark) {
            return Fact::new(Some(kind.to_owned()), mark);
        }
    }
    Fact::new(None, wording::NO_CONTAINER)
}

/// Words of firmware by which virtual machines are known.
const HYPERVISORS: [&str; 14] = [
    "QEMU",
    "KVM",
    "VMware",
    "VirtualBox",
    "innotek",
    "Virtual Machine",
    "Xen",
    "Amazon EC2",
    "Google Compute Engine",
    "Bochs",
    "Parallels",
    "BHYVE",
    "OpenStack",
    "Alibaba Cloud",
];

fn virtual_machine(roots: &Roots) -> Fact<Option<String>> {
    const CPU: &str = "/proc/cpuinfo";
    let firmware = dmi(roots);
    let hypervisor = roots.line("/sys/hypervisor/type");
    let flags = roots.text(CPU);
    let has_flags = flags.value().and_then(|text| text.lines().find(|line| line.starts_with("flags")));
    let flag = has_flags.map(|line| line.split_whitespace().any(|word| word == "hypervisor"));
    let words = || firmware.value().cloned().or_else(|| hypervisor.value().cloned());
    match flag {
        Some(true) => Fact::new(Some(words().unwrap_or_else(|| "a hypervisor".to_owned())), CPU),
        // Clouds give their whole machines the same words of firmware.
        Some(false) => Fact::new(None, CPU),
        None if hypervisor.value().is_some() => hypervisor.map(Some),
        None => {
            let is_virtual = |words: &String| HYPERVISORS.iter().any(|hypervisor| words.contains(hypervisor));
            firmware.map(|words| Some(words).filter(is_virtual))
        }
    }
}

fn dmi(roots: &Roots) -> Fact<String> {
    let vendor = roots.line("/sys/class/dmi/id/sys_vendor");
    let product = roots.line("/sys/class/dmi/id/product_name");
    match (vendor.value(), product.value()) {
        (Some(vendor), Some(product)) if !product.starts_with(vendor.as_str()) => {
            Fact::new(format!("{vendor} {product}"), "/sys/class/dmi/id")
        }
        (_, Some(_)) => product,
        _ => vendor,
    }
}

fn board(roots: &Roots) -> Fact<String> {
    dmi(roots).or_else(|| roots.line("/proc/device-tree/model"))
}

fn memory(roots: &Roots) -> Fact<u64> {
    let parse = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kibibytes.checked_mul(1024)
    };
    roots.text("/proc/meminfo").and_then(wording::NOT_REPORTED_BY_KERNEL, parse)
}
