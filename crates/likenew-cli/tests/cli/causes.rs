//! What `check` says of each cause, kept as `docs/messages/causes.txt`: the evidence on a drive where every
//! measurement is bad and on one where every measurement is good, what else would tell, and the fixes on five
//! machines with real drives.

use likenew_core::drive::TargetKind;
use likenew_core::facts::{DriveDelta, Facts};
use likenew_core::findings::{Action, Loss};
use likenew_core::io::Op;
use likenew_diagnosis::{
    ALL, Case, Cause, Measured, Measurements, Metric, Origin, Reference, Site, WriteCliff, actions, evidence,
    hints,
};
use serde_json::{Value, json};

use crate::messages::matches_file;

/// A fact from one origin.
fn fact(value: impl Into<Value>, origin: &str) -> Value {
    json!({ "value": value.into(), "origin": origin })
}

fn known(value: impl Into<Value>) -> Value {
    fact(value, "sysfs")
}

/// A machine on which `likenew check TARGET` runs.
struct Machine {
    name: &'static str,
    about: &'static str,
    target: &'static str,
    kind: TargetKind,
    facts: Facts,
}

fn machine(
    (name, about): (&'static str, &'static str),
    target: &'static str,
    kind: TargetKind,
    facts: Value,
) -> Machine {
    Machine { name, about, target, kind, facts: serde_json::from_value(facts).unwrap() }
}

/// An encrypted laptop without a TRIM timer, whose NVMe drive has no DRAM, is warm and saves power.
fn laptop() -> Machine {
    let facts = json!({
        "machine": { "root": known(true) },
        "stack": [
            { "name": "/home", "kind": "file_system" },
            {
                "name": "dm-0", "kind": "crypt", "on": ["nvme0n1p3"], "label": known("home crypt"),
                "takes_trim": known(false), "options": known(json!(["no_read_workqueue"])),
            },
            { "name": "nvme0n1", "kind": "disk", "takes_trim": known(true), "write_cache": known("write through") },
        ],
        "file_system": {
            "point": "/home", "kind": known("ext4"), "used_bytes": known(400_u64 << 30),
            "free_bytes": known(60_u64 << 30), "used_percent": known(87.0),
            "trimming": { "immediate": known(false), "timer_enabled": known(false), "timer_present": known(true) },
        },
        "drives": [{
            "name": "nvme0n1", "kind": "nvme",
            "identity": { "knows_trim": known(true), "virtual_by": known(Value::Null), "rotation_rpm": known(0) },
            "link": {
                "bus": known("PCIe"), "ceiling_bytes_per_s": known(1_969_000_000_u64),
                "possible_bytes_per_s": known(3_938_000_000_u64),
            },
            "power": {
                "wake_us_max": known(8_000), "aspm_policy": fact("powersave", "/sys/module/pcie_aspm/parameters/policy"),
                "runtime": fact("auto", "/sys/class/nvme/nvme0/device/power/control"),
            },
            "host_memory": { "wanted_bytes": known(64 << 20), "given_bytes": known(0) },
            "health": {
                "temperature_c": known(78.0), "temperature_warning_c": known(80.0), "used_percent": known(40.0),
                "failing": known(false),
            },
            "counts": { "lifetime_bytes_written": known(60_u64 << 40) },
            "database": { "warning": known("This firmware can stall for seconds. An update is available.") },
        }],
        "files": { "extents_per_mib": known(16.0), "content_age_s_p90": known(40_000_000) },
    });
    machine(("laptop", "ext4 on dm-crypt on NVMe, without a TRIM timer"), "/home", TargetKind::Folder, facts)
}

/// A SATA SSD in an enclosure at a USB 2 port.
fn enclosure() -> Machine {
    let facts = json!({
        "machine": { "root": known(false) },
        "stack": [
            { "name": "/media/photos", "kind": "file_system" },
            {
                "name": "sdb", "kind": "usb_disk", "takes_trim": known(false),
                "provisioning_mode": known("full"), "write_cache": known("write back"),
            },
        ],
        "file_system": {
            "point": "/media/my photos", "kind": known("exfat"), "used_bytes": known(100_u64 << 30),
            "free_bytes": known(360_u64 << 30), "used_percent": known(22.0),
            "trimming": { "immediate": known(false), "timer_enabled": known(true), "timer_covers": known(false) },
        },
        "drives": [{
            "name": "sdb", "kind": "usb",
            "identity": { "knows_trim": known(true), "virtual_by": known(Value::Null), "rotation_rpm": known(0) },
            "link": {
                "bus": known("USB"), "driver": known("usb-storage"), "queue_depth": known(1),
                "hops": [{ "name": "2-1", "kind": "usb", "line_bits_per_s": known(480_000_000_u64) }],
                "ceiling_bytes_per_s": known(53_248_000_u64), "possible_bytes_per_s": known(53_248_000_u64),
            },
            "counts": {}, "health": { "failing": known(false) },
        }],
    });
    machine(
        ("enclosure", "exFAT on a SATA SSD behind USB 2; the user is not root"),
        "/media/my photos",
        TargetKind::Folder,
        facts,
    )
}

/// A hard disk, given as a device.
fn disk() -> Machine {
    let facts = json!({
        "machine": { "root": known(true) },
        "stack": [{
            "name": "sda", "kind": "disk", "takes_trim": known(false), "write_cache": known("write through"),
            "rotates": known(true), "start_bytes": known(0),
        }],
        "drives": [{
            "name": "sda", "kind": "sata",
            "identity": { "knows_trim": known(false), "virtual_by": known(Value::Null), "rotation_rpm": known(5_400) },
            "link": {
                "bus": known("SATA"), "driver": known("ahci"), "ceiling_bytes_per_s": known(600_000_000_u64),
                "possible_bytes_per_s": known(600_000_000_u64), "queue_depth": known(32),
            },
            "power": { "link_policy": fact("med_power_with_dipm", "/sys/class/scsi_host/host0/link_power_management_policy") },
            "health": { "failing": known(true), "pending_sectors": known(24), "used_percent": known(99.0) },
            "database": { "shingled": known(true) },
        }],
    });
    machine(("disk", "a hard disk, given as a device"), "/dev/sda", TargetKind::Device, facts)
}

/// XFS on a RAID 5 that has lost a member and is being checked.
fn server() -> Machine {
    let member = |name: &str| {
        json!({
            "name": name, "kind": "scsi",
            "identity": { "knows_trim": known(true), "virtual_by": known(Value::Null), "rotation_rpm": known(0) },
        })
    };
    let facts = json!({
        "machine": { "root": known(true) },
        "stack": [
            { "name": "/srv", "kind": "file_system" },
            {
                "name": "md0", "kind": "array", "level": known("raid5"), "members_missing": known(1),
                "busy_with": known("check"), "takes_trim": known(false), "on": ["sda", "sdb", "sdc"],
            },
        ],
        "file_system": {
            "point": "/srv", "kind": known("xfs"), "used_bytes": known(3_u64 << 40), "free_bytes": known(1_u64 << 40),
            "used_percent": known(75.0),
            "trimming": { "immediate": known(false), "timer_enabled": known(true), "timer_covers": known(true) },
        },
        "drives": [member("sda"), member("sdb"), member("sdc")],
        "files": { "extents_per_mib": known(4.0), "content_age_s_p90": known(400_000) },
    });
    machine(("server", "XFS on RAID 5 of SAS SSDs"), "/srv", TargetKind::Folder, facts)
}

/// A cloud machine's volume.
fn cloud() -> Machine {
    let facts = json!({
        "machine": { "root": known(true), "virtual_machine": known("kvm") },
        "stack": [
            { "name": "/", "kind": "file_system" },
            { "name": "vda", "kind": "virtual_disk", "takes_trim": known(false), "write_cache": known("write back") },
        ],
        "file_system": {
            "point": "/", "kind": known("ext4"), "used_bytes": known(10_u64 << 30), "free_bytes": known(90_u64 << 30),
            "used_percent": known(10.0),
            "trimming": { "immediate": known(false), "timer_enabled": known(true), "timer_covers": known(true) },
        },
        "drives": [{
            "name": "vda", "kind": "virtual",
            "identity": { "virtual_by": known("cloud provider") }, "cloud": { "volume": known("gp2") },
        }],
    });
    machine(("cloud", "ext4 on a virtual disk"), "/var/lib/db", TargetKind::Folder, facts)
}

/// Measurements that are all bad, or all good.
fn measurements(bad: bool) -> Measurements {
    let of = |worse: f64, better: f64| Some(Measured::with_interval(if bad { worse } else { better }, 0.03));
    let metric = |metric: Metric| {
        let rate = match metric {
            Metric::SequentialRead | Metric::SequentialWrite | Metric::SustainedWrite => 500e6,
            Metric::RandomRead | Metric::RandomWrite => 9_000.0,
            Metric::RandomReadQd32 => 90_000.0,
        };
        let share = if !bad {
            1.0
        } else if metric.op() == Op::Write {
            0.1
        } else {
            0.5
        };
        (metric, Measured::with_interval(rate * share, 0.03))
    };
    let cliff = WriteCliff {
        at_bytes: Measured::with_interval(2e9, 0.03),
        ratio: Measured::with_interval(4.0, 0.03),
        again_at_bytes: Some(Measured::with_interval(1.9e9, 0.03)),
        at_half_rate: of(0.52, 1.02),
    };
    Measurements {
        metrics: Metric::ALL.map(metric).to_vec(),
        fastest_read: of(900e6, 500e6),
        access_ns: of(13e6, 90e3),
        new_over_old_data: of(3.0, 1.0),
        new_over_old_data_random: of(5.0, 1.0),
        median_over_slowest: of(4.0, 1.02),
        first_over_last: of(1.9, 1.01),
        repeat_over_first: of(3.0, 1.0),
        wide_over_narrow: of(2.5, 1.0),
        deep_over_single: of(1.0, 9.0),
        idle_over_busy: of(40.0, 1.0),
        aligned_over_shifted: of(2.2, 1.0),
        zeros_over_random: of(3.0, 1.0),
        rewritten_over_first: of(5.0, 1.0),
        trimmed_over_first: of(5.0, 1.0),
        trimmed_over_rested: of(3.0, 1.0),
        cache_trimmed: of(3.0, 1.0),
        write_cliff: Some(cliff),
        steady_written_bytes: None,
        read_scatter: of(0.5, 0.01),
        stalled_share: of(0.4, 0.001),
        rested_over_loaded: of(2.0, 1.0),
        flat_iops: of(300.0, 3000.0),
        burst_over_flat: of(10.0, 1.01),
        load_burst_over_flat: of(10.0, 1.01),
        background_share: of(0.6, 0.01),
        counted_over_read: of(0.2, 1.0),
        kernel_processors: of(1.0, 0.1),
        errors: u64::from(bad) * 3,
        wrong_sectors: u64::from(bad) * 280,
    }
}

/// What the drive counted during the check.
fn delta(name: &str, bad: bool) -> DriveDelta {
    let times = |count: u64| known(if bad { count } else { 0 });
    serde_json::from_value(json!({
        "name": name,
        "counts": {
            "throttled_light_times": times(4), "crc_errors": times(12), "log_resets": times(3), "log_timeouts": times(1),
            "media_errors": times(2), "volume_iops_exceeded_us": times(5_000_000), "log_link_errors": times(3),
        },
        "temperature_before_c": known(40.0), "temperature_after_c": known(if bad { 79.0 } else { 41.0 }),
    }))
    .unwrap()
}

/// Runs `look` on a case of this machine.
fn with_case<T>(machine: &Machine, bad: bool, look: impl FnOnce(&Case<'_>) -> T) -> T {
    let measurements = measurements(bad);
    let facts = &machine.facts;
    let delta = facts.drives.first().map(|drive| delta(&drive.name, bad));
    let reference = |metric: Metric| {
        let value = if metric.unit() == "bytes/s" { 500e6 } else { 9_000.0 };
        Reference::new(metric, Origin::Advertised, value)
    };
    let references: Vec<Reference> = Metric::ALL.map(reference).to_vec();
    let site = Site {
        target: machine.target,
        kind: machine.kind,
        trims: false,
        writable: true,
        free_bytes: facts.file_system.as_ref().and_then(|system| system.free_bytes.get()),
        used_bytes: 0,
        facts: Some(facts),
        feasibility: None,
    };
    look(&Case {
        measurements: &measurements,
        facts: Some(facts),
        delta: delta.as_ref(),
        references: &references,
        normal: &[],
        firmware_fault: None,
        site: Some(site),
    })
}

/// Adds lines that are not there yet.
fn add_new(lines: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for line in more {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
}

fn spell(action: &Action) -> String {
    let loses = match action.loses {
        Loss::Nothing => "nothing lost",
        Loss::DeletedFiles => "deleted files cannot be recovered",
        Loss::Everything => "ERASES everything",
    };
    let mut text = format!("  {} ({loses}; costs {})\n", action.why, likenew_diagnosis::cost(action));
    for (label, command) in [("", &action.command), ("undo: ", &action.undo)] {
        if let Some(command) = command {
            text += &format!("      {label}{command}\n");
        }
    }
    text
}

/// Everything that can be said of one cause.
fn page(cause: &'static Cause, machines: &[Machine]) -> String {
    let (mut sentences, mut questions, mut statements) = (Vec::new(), Vec::new(), Vec::new());
    let mut fixes: Vec<(String, Vec<&str>)> = Vec::new();
    for machine in machines {
        for bad in [true, false] {
            with_case(machine, bad, |case| {
                let items = evidence(case).into_iter().filter(|(name, _)| *name == cause.name);
                let spoken = items.map(|(_, item)| {
                    let side = match item.bits {
                        ..0.0 => "against",
                        0.0 => "counted",
                        _ => "for",
                    };
                    format!("  {side:<8}{}", item.sentence)
                });
                add_new(&mut sentences, spoken);
                add_new(&mut questions, hints(case, cause).into_iter().map(|hint| spell(&hint.action)));
            });
        }
        with_case(machine, true, |case| {
            add_new(&mut statements, [format!("  {}", cause.statement(case))]);
            let text: String = actions(case, cause).iter().map(spell).collect();
            let text = text.replace(&likenew_core::shell::shell_quote(machine.target), "TARGET");
            match fixes.iter_mut().find(|(known, _)| *known == text) {
                Some((_, names)) => names.push(machine.name),
                None => fixes.push((text, vec![machine.name])),
            }
        });
    }
    sentences.sort_by_key(|line| line.starts_with("  against"));
    let title = |names: &[&str]| match names.len() {
        count if count == machines.len() => "Fixes".to_owned(),
        _ => format!("Fixes: {}", names.join(", ")),
    };
    let fixes: String = fixes.iter().map(|(text, names)| format!("{}\n{text}", title(names))).collect();
    format!(
        "## {} ({})\n{}\nEvidence\n{}\nWhat would tell more\n{}{fixes}\n",
        cause.title,
        cause.name,
        statements.join("\n"),
        sentences.join("\n"),
        questions.concat()
    )
}

#[test]
fn messages_of_causes() {
    let machines = [laptop(), enclosure(), disk(), server(), cloud()];
    let mut text = "\"counted\": other evidence of the same kind counts already.\n".to_owned();
    for machine in &machines {
        text += &format!("{}: {}\n", machine.name, machine.about);
    }
    text.push('\n');
    text.extend(ALL.iter().map(|cause| page(cause, &machines)));
    matches_file("causes.txt", &text);
}
