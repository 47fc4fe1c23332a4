//! A drive without DRAM that received no host memory buffer, so that it keeps its mapping table in flash.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "host_memory",
    title: "no host memory buffer",
    summary: "a drive without DRAM gets no host memory buffer (HMB) for its mapping table",
    manual: include_str!("host_memory.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.5,
    explains: &[&[SlowOverWideSpan, Below(Metric::RandomRead), Below(Metric::RandomReadQd32)]],
    evidence: &[
        measured("spread_costs", 3.0, -5.0, 1.5, |case| {
            let ratio = case.measurements.wide_over_narrow?;
            let times = times(ratio);
            let text =
                format!("4K random reads over the whole drive take {times} as long as within a few MiB.");
            Some((ratio, text))
        })
        .hint(Hint::thorough("Compare 4K random reads over narrow and wide spans")),
        fact("memory_refused", 6.0, -4.0, |case| {
            let memory = case.drive()?.host_memory.as_ref()?;
            let has_too_little =
                || Some(memory.given_bytes.get()? < memory.least_bytes.get().unwrap_or(1).max(1));
            either(
                memory.is_refused().or_else(has_too_little)?,
                "It asked for host memory and has none.",
                "It has the host memory that it asked for, or needs none.",
            )
        })
        .hint(Hint::root("Read its host memory setting, which needs root")),
        fact("nvme", 0.0, -8.0, |case| {
            let drive = case.drive()?;
            let is_nvme = match drive.kind {
                DriveKind::Nvme => true,
                DriveKind::Sata | DriveKind::Scsi | DriveKind::Usb | DriveKind::Card => false,
                _ => drive.link.bus.value()? == "PCIe",
            };
            either(
                is_nvme,
                "It is attached by PCIe, as drives with a host memory buffer are.",
                "Only NVMe drives use a host memory buffer, and it is not attached by PCIe.",
            )
        })
        .hint(SHOW_LINK),
        hard_disk(-8.0, 0.0),
        virtual_disk(-4.0),
    ],
    actions: |_| {
        vec![Action::new(
            "allow_host_memory",
            "Let the kernel give it memory: add nvme.max_host_mem_size_mb=512 to the kernel command line",
        )]
    },
    costs: &[("allow_host_memory", "host memory, as much as it asks for")],
    ..Cause::BLANK
};
