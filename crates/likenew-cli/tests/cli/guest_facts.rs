//! Facts that a real kernel and its drivers report, drive by drive: nothing here is written by hand.

use serde_json::{Value, json};

use crate::guest::hardware::{BAD_SECTOR, BYTES};
use crate::guest::{Guest, guest};
use crate::support::is_valid;

/// The facts of one document.
struct CommandRun(Value);

impl CommandRun {
    /// The facts of all drives, as root: one of them reports that it is failing.
    fn all(guest: &Guest) -> Self {
        Self::of(guest, "all", 10)
    }

    fn of(guest: &Guest, name: &str, code: i32) -> Self {
        let document = guest.document(name, code);
        is_valid(&document);
        Self(document)
    }

    #[track_caller]
    fn row(&self, section: &str, subject: &str, fact: &str) -> &Value {
        let rows = self.0["tables"]["facts"].as_array().unwrap();
        let is_it =
            |row: &&Value| row["section"] == section && row["subject"] == subject && row["fact"] == fact;
        rows.iter().find(is_it).unwrap_or_else(|| panic!("no {section} {subject} {fact}"))
    }

    /// The value of a fact.
    #[track_caller]
    fn value(&self, section: &str, subject: &str, fact: &str) -> &Value {
        let row = self.row(section, subject, fact);
        assert!(row["unknown"].is_null(), "{row}");
        &row["value"]
    }

    /// Why a fact is unknown.
    #[track_caller]
    fn unknown(&self, section: &str, subject: &str, fact: &str) -> &str {
        let row = self.row(section, subject, fact);
        row["unknown"].as_str().unwrap_or_else(|| panic!("it is known: {row}"))
    }

    #[track_caller]
    fn all_are(&self, section: &str, subject: &str, facts: &[(&str, Value)]) {
        for (fact, expected) in facts {
            assert_eq!(self.value(section, subject, fact), expected, "{section} {subject} {fact}");
        }
    }

    /// Names of the layers, from the top.
    fn layers(&self) -> Vec<&str> {
        let rows = self.0["tables"]["facts"].as_array().unwrap();
        let mut names: Vec<&str> = rows
            .iter()
            .filter(|row| row["section"] == "stack")
            .map(|row| row["subject"].as_str().unwrap())
            .collect();
        names.dedup();
        names
    }

    /// The remarks on one subject.
    fn remarks(&self, subject: &str) -> Vec<&str> {
        let rows = self.0["tables"]["remarks"].as_array();
        let rows = rows.into_iter().flatten().filter(|row| row["subject"] == subject);
        rows.map(|row| row["remark"].as_str().unwrap()).collect()
    }
}

#[test]
fn an_nvme_drive_answers_by_its_driver_and_by_commands() {
    let Some(guest) = guest() else { return };
    let (output, name) = (CommandRun::all(guest), guest.disk("first"));
    output.all_are(
        "identity",
        &name,
        &[
            ("model", json!("QEMU NVMe Ctrl")),
            ("capacity_bytes", json!(BYTES)),
            ("rotation_rpm", json!(0)),
            ("knows_trim", json!(true)),
            ("virtual_by", json!("QEMU NVMe Ctrl")),
        ],
    );
    assert!(
        output
            .value("identity", &name, "firmware")
            .as_str()
            .unwrap()
            .starts_with(|c: char| c.is_ascii_digit())
    );
    output.all_are(
        "health",
        &name,
        &[
            ("failing", json!(false)),
            ("warnings", json!("none")),
            ("read_only", json!(false)),
            ("temperature_warning_c", json!(70.0)),
            ("temperature_critical_c", json!(100.0)),
            ("used_percent", json!(0.0)),
            ("spare_percent", json!(0.0)),
        ],
    );
    // The driver's own reading: it takes 273.15 from the drive's 323 K.
    assert_eq!(output.value("health", &name, "temperature_c"), 49.85);
    assert!(output.row("health", &name, "temperature_c")["origin"].as_str().unwrap().contains("hwmon"));
    let written = |output: &CommandRun, name: &str| {
        output.value("counts", name, "lifetime_bytes_written").as_u64().unwrap()
    };
    let (before, second) = (written(&output, &name), guest.disk("second"));
    assert!(before > 0, "the ext4 on it");
    assert_eq!(before, written(&output, &second), "the whole drive is counted");
    let after = written(&CommandRun::of(guest, "after", 0), &second);
    assert!(after > before + (4 << 20), "the sweep of its other namespace: {before} to {after}");
    output.all_are("host_memory", &name, &[("wanted_bytes", json!(0)), ("given_bytes", json!(0))]);
    output.all_are(
        "stack",
        &name,
        &[
            ("logical_block_bytes", json!(512)),
            ("scheduler", json!("none")),
            ("write_cache", json!("write back")),
            ("rotates", json!(false)),
            ("takes_trim", json!(true)),
        ],
    );
    let second = guest.disk("second");
    output.all_are(
        "stack",
        &second,
        &[("logical_block_bytes", json!(4096)), ("physical_block_bytes", json!(4096))],
    );
    let serial = |name: &str| output.value("identity", name, "serial").as_str().unwrap().to_owned();
    assert_eq!(serial(&name), serial(&second), "two namespaces of one drive");
    assert_ne!(serial(&name), serial(&guest.disk("worn")));
    assert!(guest.files_hold_no("LN-NVME"), "serial numbers leave the guest as hashes alone");
}

#[test]
fn the_link_of_an_nvme_drive_is_read_part_by_part() {
    let Some(guest) = guest() else { return };
    let (output, name) = (CommandRun::all(guest), guest.disk("first"));
    output.all_are(
        "link",
        &name,
        &[
            ("bus", json!("PCIe")),
            ("driver", json!("nvme")),
            // 2.5 GT/s on one lane, 8b/10b.
            ("ceiling_bytes_per_s", json!(250_000_000)),
            ("possible_bytes_per_s", json!(250_000_000)),
            ("queues", json!(2)),
        ],
    );
    let hops: Vec<&Value> = output.0["tables"]["facts"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["fact"] == "lanes_max" && row["subject"].as_str().unwrap().starts_with(&name))
        .collect();
    let [drive, port] = &hops[..] else { panic!("a drive and the port above it: {hops:?}") };
    assert_eq!((&drive["value"], &port["value"]), (&json!(1), &json!(4)));
    output.all_are("counts", &name, &[("pcie_corrected_errors", json!(0)), ("log_link_errors", json!(0))]);
    assert!(output.remarks(&name).iter().all(|words| !words.contains("link")), "{:?}", output.remarks(&name));
}

#[test]
fn a_drive_that_warns_is_a_problem_and_its_zones_are_known() {
    let Some(guest) = guest() else { return };
    let (output, name) = (CommandRun::all(guest), guest.disk("worn"));
    output.all_are(
        "health",
        &name,
        &[("failing", json!(true)), ("warnings", json!("its reliability is degraded"))],
    );
    output.all_are("zones", &name, &[("model", json!("host-managed")), ("zone_bytes", json!(4 << 20))]);
    assert_eq!(output.0["answers"][0]["evidence"][0], format!("{name}: its reliability is degraded."));
    assert!(guest.text("sheet").starts_with(&format!("{name} reports that it is failing.\n  • {name}: ")));
}

#[test]
fn sata_drives_answer_through_the_translation_of_scsi() {
    let Some(guest) = guest() else { return };
    let (output, fast, spinning) = (CommandRun::all(guest), guest.disk("fast"), guest.disk("spinning"));
    for (name, model, firmware, rpm) in
        [(&fast, "LN FAST", "1.5", 0), (&spinning, "LN SPINNING", "2.5", 7200)]
    {
        output.all_are(
            "identity",
            name,
            &[
                ("model", json!(model)),
                ("firmware", json!(firmware)),
                ("rotation_rpm", json!(rpm)),
                ("capacity_bytes", json!(BYTES)),
                ("knows_trim", json!(true)),
                // Whatever their names are: their controller is emulated.
                ("virtual_by", json!("QEMU")),
            ],
        );
        output.all_are("stack", name, &[("rotates", json!(rpm > 0)), ("scheduler", json!("mq-deadline"))]);
        output.all_are(
            "link",
            name,
            &[
                ("bus", json!("SATA")),
                ("driver", json!("ahci")),
                ("ceiling_bytes_per_s", json!(150_000_000)),
                ("queue_depth", json!(32)),
            ],
        );
        // SMART READ DATA and READ THRESHOLDS, of which QEMU has seven attributes.
        output.all_are("health", name, &[("failing", json!(false)), ("temperature_c", json!(31.0))]);
        let attributes = output.value("health", name, "attributes").as_str().unwrap();
        assert!(attributes.contains("190 = ") && attributes.contains("(69/69/50)"), "{attributes}");
        output.all_are("counts", name, &[("power_on_hours", json!(1)), ("reallocated_sectors", json!(0))]);
        // It does not announce the feature, so the command is not sent, and the kernel logs no failed one.
        assert!(output.unknown("counts", name, "lifetime_bytes_written").contains("does not announce"));
    }
    output.all_are(
        "stack",
        &fast,
        &[("physical_block_bytes", json!(4096)), ("write_cache", json!("write back"))],
    );
    output.all_are(
        "stack",
        &spinning,
        &[("physical_block_bytes", json!(512)), ("write_cache", json!("write through"))],
    );
    let log = guest.text("dmesg");
    assert!(!log.contains("failed command") && !log.contains("Read log"), "{log}");
}

#[test]
fn usb_is_reported_by_its_driver_and_its_bridge_is_left_in_peace() {
    let Some(guest) = guest() else { return };
    let (output, stick, bridge) = (CommandRun::all(guest), guest.disk("stick"), guest.disk("bridge"));
    for (name, driver, depth) in [(&stick, "usb-storage", 1), (&bridge, "uas", 14)] {
        output.all_are(
            "link",
            name,
            &[
                ("bus", json!("USB")),
                ("driver", json!(driver)),
                ("ceiling_bytes_per_s", json!(500_000_000)),
                ("possible_bytes_per_s", json!(500_000_000)),
                ("queue_depth", json!(depth)),
            ],
        );
        assert!(output.unknown("health", name, "failing").contains("bridge"));
        // Neither reports whether it turns; the kernel's default, a disk, is no knowledge.
        assert!(output.unknown("stack", name, "rotates").contains("does not report"));
        assert!(output.row("identity", name, "rotation_rpm")["value"].is_null());
        assert_eq!(
            output.row("log", name, "lines")["value"],
            "none",
            "nothing that the kernel says of every controller"
        );
    }
    assert_eq!(output.value("identity", &bridge, "model"), "LN BRIDGE");
    output.all_are("stack", &stick, &[("takes_trim", json!(false)), ("provisioning_mode", json!("full"))]);
    output.all_are("stack", &bridge, &[("takes_trim", json!(true)), ("provisioning_mode", json!("unmap"))]);
    assert!(output.remarks(&stick).iter().any(|words| words.contains("one command at a time")));
}

#[test]
fn disks_of_a_hypervisor_are_known_as_such_by_either_driver() {
    let Some(guest) = guest() else { return };
    let (output, disk, volume) = (CommandRun::all(guest), guest.disk("virtual"), guest.disk("volume"));
    for (name, driver) in [(&disk, "virtio_blk"), (&volume, "virtio_scsi")] {
        output.all_are(
            "identity",
            name,
            &[("virtual_by", json!("virtio")), ("capacity_bytes", json!(BYTES))],
        );
        output.all_are("link", name, &[("driver", json!(driver))]);
        assert!(
            output.remarks(name).iter().any(|words| words.contains("virtual disk")),
            "{:?}",
            output.remarks(name)
        );
    }
    assert!(output.unknown("health", &disk, "failing").contains("virtual disk"));
    output.all_are(
        "identity",
        &volume,
        &[("model", json!("LN VOLUME")), ("rotation_rpm", json!(0)), ("knows_trim", json!(true))],
    );
    output.all_are("stack", &volume, &[("provisioning_mode", json!("unmap")), ("rotates", json!(false))]);
    let machine = output.value("machine", "", "virtual_machine").as_str().unwrap();
    assert!(machine.starts_with("QEMU Standard PC"), "{machine}");
}

#[test]
fn a_bad_sector_behind_a_raid_controller_stands_in_the_log() {
    let Some(guest) = guest() else { return };
    let (output, name) = (CommandRun::all(guest), guest.disk("sas"));
    output.all_are(
        "identity",
        &name,
        &[("model", json!("LN SAS")), ("firmware", json!("3.5")), ("rotation_rpm", json!(10_000))],
    );
    output.all_are("link", &name, &[("bus", json!("scsi")), ("driver", json!("megaraid_sas"))]);
    output.all_are(
        "counts",
        &name,
        &[("log_io_errors", json!(1)), ("log_timeouts", json!(0)), ("log_resets", json!(0))],
    );
    let failing = output.unknown("health", &name, "failing");
    let words = ["smartctl could not read it", "smartctl does not report it"];
    assert!(words.iter().any(|words| failing.contains(words)), "its program was asked: {failing}");
    let lines = output.value("log", &name, "lines").as_str().unwrap();
    assert!(lines.contains(&format!("I/O error, dev {name}, sector {BAD_SECTOR}")), "{lines}");
    assert_eq!(output.value("counts", &guest.disk("fast"), "log_io_errors"), 0, "it is another's");
}

#[test]
fn a_card_tells_its_own_words() {
    let Some(guest) = guest() else { return };
    let (output, name) = (CommandRun::all(guest), guest.disk("card"));
    output.all_are(
        "card",
        &name,
        &[
            ("kind", json!("SD")),
            ("name", json!("QEMU!")),
            ("maker", json!(0xAA)),
            ("manufacture_date", json!("02/2006")),
            ("allocation_unit_bytes", json!(512 << 10)),
            ("timing", json!("sd high-speed")),
        ],
    );
    output.all_are("link", &name, &[("bus", json!("MMC")), ("driver", json!("mmcblk"))]);
    output.all_are("health", &name, &[("read_only", json!(false))]);
}

#[test]
fn a_folder_is_followed_down_to_its_drive() {
    let Some(guest) = guest() else { return };
    let discards = CommandRun::of(guest, "discards", 0);
    assert_eq!(discards.layers(), ["/mnt/discards", &guest.disk("first")]);
    discards.all_are(
        "file_system",
        "/mnt/discards",
        &[("kind", json!("ext4")), ("immediate", json!(true)), ("options", json!("rw, noatime, discard"))],
    );
    let (plain, fast) = (CommandRun::of(guest, "plain", 0), guest.disk("fast"));
    let part = format!("{fast}1");
    assert_eq!(plain.layers(), ["/mnt/plain", &part, &fast]);
    plain.all_are("file_system", "/mnt/plain", &[("immediate", json!(false))]);
    plain.all_are(
        "stack",
        &part,
        &[("start_bytes", json!(63 * 512)), ("alignment_offset_bytes", json!(512))],
    );
    assert_eq!(plain.remarks(&part), ["starts 512 B off the drive's physical blocks (alignment_offset)"]);
    let aligned = CommandRun::of(guest, "spinning", 0);
    aligned.all_are("stack", &format!("{}1", guest.disk("spinning")), &[("start_bytes", json!(1 << 20))]);
    assert!(aligned.remarks(&format!("{}1", guest.disk("spinning"))).is_empty());
    // The image on it is a file of 16 MiB.
    plain.all_are(
        "files",
        "",
        &[("files", json!(1)), ("bytes", json!(16 << 20)), ("files_mapped", json!(1))],
    );
    assert!(plain.value("files", "", "extents_max").as_u64().unwrap() >= 1);
    let used = plain.value("file_system", "/mnt/plain", "used_percent").as_f64().unwrap();
    assert!(used > 1.0 && used < 60.0, "{used}");
}

#[test]
fn the_timer_of_the_distribution_trims_what_stands_in_its_table() {
    let Some(guest) = guest() else { return };
    for (name, covers, because) in [
        ("plain", true, "it is listed in /etc/fstab"),
        ("spinning", false, "the timer trims what /etc/fstab lists, and /mnt/spinning is not in it"),
    ] {
        CommandRun::of(guest, name, 0).all_are(
            "file_system",
            &format!("/mnt/{name}"),
            &[
                ("timer_present", json!(true)),
                ("timer_enabled", json!(true)),
                ("timer_covers", json!(covers)),
                ("timer_coverage_reason", json!(because)),
            ],
        );
    }
}

#[test]
fn a_file_in_a_loop_is_followed_into_the_file_system_that_holds_it() {
    let Some(guest) = guest() else { return };
    let (output, fast) = (CommandRun::of(guest, "loop", 0), guest.disk("fast"));
    let part = format!("{fast}1");
    assert_eq!(output.layers(), ["/mnt/loop", "loop0", "/mnt/plain", &part, &fast]);
    output.all_are("stack", "loop0", &[("label", json!("/mnt/plain/image")), ("takes_trim", json!(true))]);
    output.all_are("file_system", "/mnt/loop", &[("kind", json!("ext4")), ("immediate", json!(true))]);
    output.all_are("identity", &fast, &[("model", json!("LN FAST"))]);
    assert_eq!(output.remarks(&part).len(), 1, "the misaligned partition below");
}

#[test]
fn encryption_on_a_volume_is_seen_layer_by_layer_and_blocks_trim() {
    let Some(guest) = guest() else { return };
    let (output, volume) = (CommandRun::of(guest, "locked", 0), guest.disk("volume"));
    assert_eq!(output.layers(), ["/mnt/locked", "dm-1", "dm-0", &volume]);
    output.all_are(
        "stack",
        "dm-1",
        &[("label", json!("locked")), ("takes_trim", json!(false)), ("options", json!("no_read_workqueue"))],
    );
    output.all_are("stack", "dm-0", &[("label", json!("vg-data")), ("takes_trim", json!(true))]);
    output.all_are("file_system", "/mnt/locked", &[("immediate", json!(true))]);
    assert_eq!(output.remarks("dm-1"), ["blocks TRIM, so the drive below receives none"]);
    assert!(guest.files_hold_no(&"a".repeat(32)), "no key leaves the guest");
}

#[test]
fn who_may_ask_nothing_learns_why() {
    let Some(guest) = guest() else { return };
    let (output, first, fast) = (CommandRun::of(guest, "nobody", 0), guest.disk("first"), guest.disk("fast"));
    assert_eq!(output.value("machine", "", "root"), false);
    for (section, name, fact) in [
        ("health", &first, "failing"),
        ("health", &first, "used_percent"),
        ("counts", &first, "lifetime_bytes_written"),
        ("host_memory", &first, "wanted_bytes"),
        ("health", &fast, "failing"),
        ("counts", &fast, "reallocated_sectors"),
        ("log", &first, "lines"),
        ("health", &guest.disk("sas"), "failing"),
    ] {
        assert!(output.unknown(section, name, fact).contains("needs root"), "{section} {name} {fact}");
        assert_eq!(output.row(section, name, fact)["help"], "run it as root");
    }
    // An ordinary user knows what everyone may know: the kernel keeps ATA's own page for all.
    output.all_are("identity", &first, &[("model", json!("QEMU NVMe Ctrl"))]);
    output.all_are("identity", &fast, &[("model", json!("LN FAST")), ("rotation_rpm", json!(0))]);
    output.all_are("link", &first, &[("ceiling_bytes_per_s", json!(250_000_000))]);
    assert_eq!(
        output.value("health", &first, "temperature_c"),
        49.85,
        "by the driver, which takes no rights"
    );
    let health =
        output.0["answers"].as_array().unwrap().iter().find(|answer| answer["id"] == "health").unwrap();
    assert_eq!(health["standing"], "unknown");
    assert_eq!(health["answer"], "unknown (the query needs root)");
    assert_eq!(health["actions"][0]["id"], "ask_as_root");
    let locked = CommandRun::of(guest, "nobody-locked", 0);
    assert!(locked.unknown("stack", "dm-1", "options").contains("needs root"));
}

#[test]
fn a_real_nvme_driver_is_measured_by_io_uring_with_consent_alone() {
    let Some(guest) = guest() else { return };
    let refused = guest.text("unasked.errors");
    assert_eq!(guest.text("unasked.status").trim(), "3");
    assert!(
        refused.contains("nothing was changed") && refused.contains("--consent \"LN-NVME-TWO-ns2\""),
        "{refused}"
    );
    let sweep = guest.document("sweep", 0);
    is_valid(&sweep);
    assert_eq!(sweep["instrument"]["engine"], "io_uring");
    let cells = sweep["tables"]["matrix"].as_array().unwrap();
    assert_eq!(cells.len(), 16, "two operations, two orders, two sizes, two depths");
    for cell in cells {
        assert!(cell["iops"].as_f64().unwrap() > 0.0 && cell["errors"] == 0, "{cell}");
        assert!(cell["latency_ns_p50"].as_u64().unwrap() > 0, "{cell}");
    }
    assert!(sweep["bytes_written"].as_u64().unwrap() > 0);
}
