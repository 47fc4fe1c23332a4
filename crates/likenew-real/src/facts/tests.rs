//! Facts of machines that were written by hand: `tests/machines/NAME.txt`, in the form of
//! [`super::machine_file`].

use std::fs;
use std::path::{Path, PathBuf};

use likenew_core::facts::{DriveKind, Facts, LayerKind};

use super::Collector;
use super::machine::Roots;
use super::machine_file::{Machine, files_below};
use crate::identify::StableId;
use crate::mounts::Mount;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machines")
}

/// Facts of what is mounted at `target`, or of the device of that name, and the machine's files.
fn facts(name: &str, target: &str) -> Facts {
    let text = fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::unpack(&text, root.path());
    facts_of(&machine, root.path(), target)
}

fn facts_of(machine: &Machine, root: &Path, target: &str) -> Facts {
    let roots = Roots::at(root);
    let collector = Collector { roots: &roots, queries: machine };
    if let Some(device) = target.strip_prefix("/dev/") {
        let device = roots.device(device).map(|device| vec![device]).unwrap_or_default();
        return collector.of_devices(&device);
    }
    let mounts = roots.text("/proc/self/mountinfo");
    let mounts = mounts.value().map(String::as_str).unwrap_or_default();
    let mount = mounts.lines().filter_map(Mount::parse).find(|mount| mount.point == target);
    mount.map(|mount| collector.of_mount(&mount)).unwrap_or_default()
}

/// Everything that is known and unknown, one fact a line.
fn facts_text(facts: &Facts) -> String {
    let line = |row: likenew_core::facts::FactRow| {
        let what = match &row.unknown {
            Some(reason) => {
                format!("? {reason}{}", row.help.map(|help| format!(" ({help})")).unwrap_or_default())
            }
            None => row.value.to_string(),
        };
        format!("{} | {} | {} = {what}  <- {}\n", row.section, row.subject, row.fact, row.origin)
    };
    facts.rows().into_iter().map(line).collect()
}

fn keep(name: &str, facts: &Facts) {
    insta::with_settings!({ snapshot_path => folder().join("facts"), prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, facts_text(facts));
    });
}

#[test]
fn a_healthy_laptop_runs_its_drive_at_four_lanes() {
    let facts = facts("nvme-laptop", "/");
    keep("nvme-laptop", &facts);
    let [drive] = &facts.drives[..] else { panic!("one drive") };
    assert_eq!((drive.kind, drive.link.ceiling_bytes_per_s.get()), (DriveKind::Nvme, Some(7_876_923_076)));
    assert_eq!(drive.link.ceiling_bytes_per_s.get(), drive.link.possible_bytes_per_s.get());
    assert_eq!((drive.health.failing.get(), drive.health.temperature_c.get()), (Some(false), Some(41.85)));
    assert_eq!(drive.counts.power_on_hours.get(), Some(1203));
    let trimming = &facts.file_system.as_ref().unwrap().trimming;
    assert_eq!((trimming.is_sent(), trimming.timer_covers.get()), (Some(true), Some(true)));
    assert_eq!(drive.identity.serial.value().unwrap().plain.as_deref(), Some("S6Z1NJ0T000000A"));
    assert!(!facts_text(&facts).contains("S6Z1NJ0T"), "a serial number stands in no row");
}

#[test]
fn each_namespace_of_a_drive_is_a_drive_of_its_own() {
    let namespace = |lines: &str| {
        let facts = facts_with("nvme-laptop", lines, "/dev/nvme0n1");
        let identity = &facts.drives[0].identity;
        assert!(identity.serial.value().is_some(), "all have the number of the whole drive");
        identity.namespace.value().cloned()
    };
    assert_eq!((namespace(""), namespace("$DISK/nsid = 1")), (None, None));
    assert_eq!(namespace("$DISK/nsid = 2").as_deref(), Some("2"));
}

#[test]
fn a_slot_of_two_lanes_halves_twice() {
    let facts = facts("nvme-narrow-slot", "/dev/nvme0n1");
    keep("nvme-narrow-slot", &facts);
    let link = &facts.drives[0].link;
    let most: Vec<Option<u64>> = link.hops.iter().map(|hop| hop.bytes_per_s_max.get()).collect();
    assert_eq!(most, [Some(7_876_923_076), Some(1_969_230_769)]);
    assert_eq!(link.ceiling_bytes_per_s.get(), Some(1_969_230_769), "8 GT/s on two lanes, 128b/130b");
    assert!(facts.drives[0].health.failing.reason().unwrap().contains("root"));
}

#[test]
fn memory_of_the_host_that_is_refused_is_known() {
    let facts = facts("nvme-without-host-memory", "/dev/nvme0n1");
    keep("nvme-without-host-memory", &facts);
    let memory = facts.drives[0].host_memory.as_ref().unwrap();
    assert_eq!((memory.wanted_bytes.get(), memory.least_bytes.get()), (Some(64 << 20), Some(64 << 20)));
    assert_eq!((memory.given_bytes.get(), memory.limit_bytes.get()), (Some(0), Some(32 << 20)));
    assert_eq!(memory.is_refused(), Some(true));
}

#[test]
fn a_bad_cable_is_counted_and_slows_the_link() {
    let facts = facts("sata-bad-cable", "/data");
    keep("sata-bad-cable", &facts);
    let drive = &facts.drives[0];
    assert_eq!(drive.identity.model.value().unwrap(), "Samsung SSD 860 EVO 500GB");
    assert_eq!((drive.counts.crc_errors.get(), drive.counts.log_link_errors.get()), (Some(1337), Some(1)));
    assert_eq!(drive.link.ceiling_bytes_per_s.get(), Some(300_000_000));
    assert_eq!(drive.link.possible_bytes_per_s.get(), Some(600_000_000));
    assert_eq!((drive.health.used_percent.get(), drive.identity.rotation_rpm.get()), (Some(3.0), Some(0)));
    let trimming = &facts.file_system.as_ref().unwrap().trimming;
    assert_eq!((trimming.timer_enabled.get(), trimming.timer_covers.get()), (Some(true), Some(false)));
    assert!(trimming.timer_coverage_reason.value().unwrap().contains("/data is not in it"));
}

#[test]
fn smartctl_completes_what_a_sata_ssd_counts_in_attributes_of_its_maker() {
    let text = fs::read_to_string(folder().join("sata-bad-cable.txt")).unwrap();
    let answer = r#"ask sda smartctl =
  {"smartctl":{"version":[7,4],"exit_status":0},"in_smartctl_database":true,"smart_status":{"passed":true},
  "ata_smart_attributes":{"table":[{"id":177,"name":"Wear_Leveling_Count","value":88,"raw":{"value":140}},
  {"id":241,"name":"Total_LBAs_Written","value":99,"raw":{"value":2000000}}]}}"#;
    let wear_of = |text: &str| {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::unpack(&format!("{text}\n{answer}\n"), root.path());
        let drive = facts_of(&machine, root.path(), "/dev/sda").drives[0].clone();
        let origin = drive.counts.lifetime_bytes_written.origin().map(str::to_owned);
        (drive.health.used_percent.get(), drive.counts.lifetime_bytes_written.get(), origin)
    };
    let by_smartctl = Some("smartctl 7.4 (json)".to_owned());
    assert_eq!(
        wear_of(&text),
        (Some(3.0), Some(1_024_000_000), by_smartctl.clone()),
        "its own statistics go first"
    );
    let without: Vec<&str> = text.lines().take_while(|line| *line != "ask sda log-04-07 512").collect();
    assert_eq!(wear_of(&without.join("\n")), (Some(12.0), Some(1_024_000_000), by_smartctl));
}

#[test]
fn a_drive_at_a_controller_that_is_made_up_is_virtual_by_any_name() {
    let text = fs::read_to_string(folder().join("sata-bad-cable.txt")).unwrap();
    let virtualization = |line: &str| {
        let root = tempfile::tempdir().unwrap();
        let machine = Machine::unpack(&format!("{text}\n{line}\n"), root.path());
        facts_of(&machine, root.path(), "/dev/sda").drives[0].identity.virtual_by.value().unwrap().clone()
    };
    let controller = "/sys/devices/pci0000:00/0000:00:17.0";
    assert_eq!(virtualization(&format!("{controller}/subsystem_vendor = 0x1af4")).as_deref(), Some("QEMU"));
    assert_eq!(virtualization(&format!("{controller}/vendor = 0x15ad")).as_deref(), Some("VMware"));
    assert_eq!(virtualization(&format!("{controller}/subsystem_vendor = 0x1458")), None);
    // An emulated port with a real controller, as a guest may have been given, says nothing of that controller.
    assert_eq!(
        virtualization("/sys/devices/pci0000:00/vendor = 0x1b36\n/sys/devices/pci0000:00/class = 0x060400"),
        None
    );
}

#[test]
fn encryption_without_discards_blocks_trim() {
    let facts = facts("luks-without-discards", "/");
    keep("luks-without-discards", &facts);
    let kinds: Vec<LayerKind> = facts.stack.iter().map(|layer| layer.kind).collect();
    assert_eq!(kinds, [LayerKind::FileSystem, LayerKind::Crypt, LayerKind::Partition, LayerKind::Disk]);
    assert_eq!(facts.trim_blocked_by().unwrap().name, "dm-0");
    let options = facts.stack[1].options.value().unwrap();
    assert_eq!(options, &["no_read_workqueue", "no_write_workqueue"]);
    assert!(!facts_text(&facts).contains("deadbeef"), "no key stands anywhere");
}

#[test]
fn an_array_has_its_members_below_it() {
    let facts = facts("md-raid5", "/srv");
    keep("md-raid5", &facts);
    let array = facts.layers_of(LayerKind::Array).next().unwrap();
    assert_eq!((array.level.value().unwrap().as_str(), array.members_missing.get()), ("raid5", Some(1)));
    assert_eq!(facts.drives.len(), 2, "both members that are there");
    assert_eq!(facts.trim_blocked_by().unwrap().name, "md0");
}

#[test]
fn a_thin_volume_stands_on_its_pool() {
    let facts = facts("lvm-thin", "/var/lib/images");
    keep("lvm-thin", &facts);
    let kinds: Vec<LayerKind> = facts.stack.iter().map(|layer| layer.kind).collect();
    let expected = [
        LayerKind::FileSystem,
        LayerKind::Thin,
        LayerKind::ThinPool,
        LayerKind::ThinPool,
        LayerKind::Partition,
        LayerKind::Disk,
    ];
    assert_eq!(kinds, expected);
    let covers = &facts.file_system.as_ref().unwrap().trimming;
    assert!(covers.timer_coverage_reason.value().unwrap().contains("X-fstrim.notrim"));
}

#[test]
fn a_bridge_at_usb_2_is_slow_by_its_link() {
    let facts = facts("usb2-bridge", "/media/stick");
    keep("usb2-bridge", &facts);
    let drive = &facts.drives[0];
    assert_eq!((drive.kind, drive.link.driver.value().unwrap().as_str()), (DriveKind::Usb, "usb-storage"));
    assert_eq!(drive.link.ceiling_bytes_per_s.get(), Some(53_248_000));
    assert_eq!(drive.link.possible_bytes_per_s.get(), None, "what it could do elsewhere is not told here");
    assert_eq!(facts.trim_blocked_by().unwrap().provisioning_mode.value().unwrap(), "full");
    assert!(drive.health.failing.reason().unwrap().contains("bridge"));
}

#[test]
fn a_bridge_that_smartctl_knows_tells_of_the_drive_behind_it() {
    let text = fs::read_to_string(folder().join("usb2-bridge.txt")).unwrap();
    let answer = r#"ask sda smartctl =
  {"smartctl":{"version":[7,4],"exit_status":0},"device":{"type":"sat"},"model_name":"M4-CT128M4SSD2","firmware_version":"070H","rotation_rate":0,
  "serial_number":"0000000012","smart_status":{"passed":true},"temperature":{"current":31},"power_on_time":{"hours":77}}"#;
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::unpack(&format!("{text}\nroot\n{answer}\n"), root.path());
    let facts = facts_of(&machine, root.path(), "/media/stick");
    let drive = &facts.drives[0];
    assert_eq!(drive.identity.model.value().unwrap(), "M4-CT128M4SSD2");
    assert_eq!(drive.identity.model.origin(), Some("smartctl 7.4 (json)"));
    assert_eq!((drive.health.failing.get(), drive.counts.power_on_hours.get()), (Some(false), Some(77)));
    assert!(!facts_text(&facts).contains("0000000012"), "a serial number stands in no row");
}

#[test]
fn an_nvme_drive_behind_a_bridge_has_no_log_of_ata_errors() {
    let text = fs::read_to_string(folder().join("usb2-bridge.txt")).unwrap();
    let answer = r#"ask sda smartctl =
  {"smartctl":{"version":[7,4],"exit_status":0},"device":{"type":"sntasmedia"},"model_name":"Samsung SSD 980",
  "nvme_smart_health_information_log":{"percentage_used":4,"num_err_log_entries":1700}}"#;
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::unpack(&format!("{text}\nroot\n{answer}\n"), root.path());
    let drive = &facts_of(&machine, root.path(), "/media/stick").drives[0];
    assert_eq!((drive.health.used_percent.get(), drive.counts.error_log_entries.get()), (Some(4.0), None));
}

/// Facts of a machine whose file gets these lines, too.
fn facts_with(name: &str, lines: &str, target: &str) -> Facts {
    let text = fs::read_to_string(folder().join(format!("{name}.txt"))).unwrap();
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::unpack(&format!("{text}\n{lines}\n"), root.path());
    facts_of(&machine, root.path(), target)
}

#[test]
fn a_volume_of_raid_names_the_disks_that_smartctl_can_be_told() {
    let facts = facts("megaraid-volume", "/dev/sda");
    keep("megaraid-volume", &facts);
    let drive = &facts.drives[0];
    let reason = drive.health.failing.reason().unwrap();
    assert!(
        reason.ends_with("give --smartctl-device with one of its disks: megaraid,0, megaraid,5"),
        "{reason}"
    );
    assert_eq!(drive.smartctl, None);
    let unlisted = facts_with("megaraid-volume", "ask sda scan =\n  {}", "/dev/sda");
    let reason = unlisted.drives[0].health.failing.reason().unwrap().to_owned();
    assert!(reason.ends_with("give --smartctl-device megaraid,N"), "{reason}");
}

#[test]
fn a_disk_of_a_volume_gives_its_health_and_not_its_name() {
    let alone = facts("megaraid-volume", "/dev/sda").drives[0].clone();
    let told = facts_with("megaraid-volume", "told sda megaraid,5", "/dev/sda");
    keep("megaraid-volume-told", &told);
    let drive = &told.drives[0];
    assert_eq!(drive.identity, alone.identity, "the volume stays what it is");
    assert_eq!((drive.health.failing.get(), drive.counts.power_on_hours.get()), (Some(true), Some(41_877)));
    assert_eq!(drive.health.failing.origin(), Some("smartctl 7.3 (json) -d megaraid,5"));
    let by = drive.smartctl.as_ref().unwrap();
    assert_eq!(
        by.device_type,
        likenew_core::facts::Fact::new("megaraid,5".into(), "remembered since 2026-11-29")
    );
    assert_eq!(by.member.value().unwrap(), "SEAGATE ST4000NM0023, 3.64 TiB");
    assert_eq!(drive.health_subject(), "sda (disk megaraid,5)");
    // A disk that is no longer there.
    let gone = r#"told sda megaraid,7
ask sda smartctl:megaraid,7 =
  {"smartctl":{"version":[7,3],"messages":[{"string":"Smartctl open device: /dev/sda [megaraid_disk_07] failed: INQUIRY failed"}],"exit_status":2}}"#;
    let gone = facts_with("megaraid-volume", gone, "/dev/sda");
    let reason = gone.drives[0].health.failing.reason().unwrap();
    assert!(reason.contains("another --smartctl-device than megaraid,7, or auto"), "{reason}");
}

#[test]
fn a_bridge_that_smartctl_does_not_know_is_told_and_shows_its_drive() {
    let lines = r#"ask sda smartctl =
  {"smartctl":{"version":[7,3],"messages":[{"string":"/dev/sda: Unknown USB bridge [0x152d:0x0578 (0x205)]","severity":"error"}],"exit_status":1}}
ask sda smartctl:sat =
  {"smartctl":{"version":[7,3],"exit_status":0},"device":{"type":"sat"},"model_name":"M4-CT128M4SSD2","serial_number":"00000012",
  "user_capacity":{"bytes":240057409024},"smart_status":{"passed":true}}"#;
    let silent = facts_with("usb2-bridge", lines, "/dev/sda");
    let reason = silent.drives[0].health.failing.reason().unwrap();
    assert!(
        reason.contains("Unknown USB bridge") && reason.contains("give --smartctl-device sat"),
        "{reason}"
    );
    let told = facts_with("usb2-bridge", &format!("{lines}\ntold sda sat"), "/dev/sda");
    let drive = &told.drives[0];
    assert_eq!(
        (drive.health.failing.get(), drive.identity.model.value().unwrap().as_str()),
        (Some(false), "M4-CT128M4SSD2")
    );
    assert_eq!(drive.smartctl.as_ref().unwrap().member.value(), None);
    // In a housing that mirrors or joins two disks, the disk that answers has another size.
    let joined = lines.replace("240057409024", "120034123776");
    let told = facts_with("usb2-bridge", &format!("{joined}\ntold sda sat"), "/dev/sda");
    let drive = &told.drives[0];
    assert_eq!(drive.identity.model.value().unwrap(), "JMicron SABRENT");
    assert_eq!(drive.smartctl.as_ref().unwrap().member.value().unwrap(), "M4-CT128M4SSD2, 112 GiB");
}

/// A drive in the dock with two bays, whose file gets these lines, too.
fn dock(lines: &str, bay: &str) -> (likenew_core::facts::Identity, StableId) {
    let text = fs::read_to_string(folder().join("usb-dock.txt")).unwrap();
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::unpack(&format!("{text}\n{lines}\n"), root.path());
    let [drive] = &facts_of(&machine, root.path(), &format!("/dev/{bay}")).drives[..] else {
        panic!("a drive")
    };
    let device = Roots::at(root.path()).device(bay).unwrap();
    (drive.identity.clone(), StableId::of_device(&device, 1000))
}

#[test]
fn the_serial_number_of_a_dock_is_that_of_neither_drive() {
    keep("usb-dock", &facts("usb-dock", "/dev/sda"));
    for serial in ["TERRA7A0093", "152D00539000", "DD564198838A2", "0123456789ABCDEF", "000000000001"] {
        let lines = format!("$USB/serial = {serial}");
        let ((one, first), (other, second)) = (dock(&lines, "sda"), dock(&lines, "sdb"));
        assert_eq!((one.serial.value(), other.serial.value()), (None, None), "{serial}");
        assert_eq!((first.text.as_str(), second.text.as_str()), ("usb-2-1-lun0 1000", "usb-2-1-lun1 1000"));
        assert_ne!(one.port.value(), other.port.value());
    }
}

#[test]
fn a_drive_in_a_dock_is_known_by_what_it_says_itself() {
    let plain = |identity: &likenew_core::facts::Identity| identity.serial.value()?.plain.clone();
    let smartctl = |bay: &str, serial: &str| {
        format!(
            "ask {bay} smartctl =\n  {{\"smartctl\":{{\"version\":[7,4]}},\"model_name\":\"X\",\"serial_number\":\"{serial}\"}}"
        )
    };
    let both = format!("{}\n{}", smartctl("sda", "MSK523"), smartctl("sdb", "S2RB"));
    assert_eq!(plain(&dock(&both, "sda").0).as_deref(), Some("MSK523"));
    assert_eq!(plain(&dock(&both, "sdb").0).as_deref(), Some("S2RB"));
    // A bridge that answers for its drives.
    let same = format!("{}\n{}", smartctl("sda", "MSK523"), smartctl("sdb", "MSK523"));
    assert_eq!(plain(&dock(&same, "sda").0), None);
    assert_eq!(plain(&dock(&smartctl("sda", "TERRA7A0093"), "sda").0), None, "the dock's own");
    let udev = "/run/udev/data/b8:0 =\n  E:ID_ATA=1\n  E:ID_SERIAL_SHORT=MSK523";
    let (identity, id) = dock(udev, "sda");
    assert_eq!((plain(&identity).as_deref(), id.text.as_str()), (Some("MSK523"), "MSK523"));
    let usb = "/run/udev/data/b8:0 =\n  E:ID_SERIAL_SHORT=TERRA7A0093";
    assert_eq!(plain(&dock(usb, "sda").0), None, "of USB, not of the drive");
    let pages = "$LUN/vpd_pg80 : 12\n  0: 00 80 00 08\n  4: \"BAY-ONE1\"\n$LUNB/vpd_pg80 : 12\n  0: 00 80 00 08\n  4: \"BAY-TWO2\"";
    assert_eq!(
        (dock(pages, "sda").1.text, dock(pages, "sdb").1.text),
        ("BAY-ONE1".into(), "BAY-TWO2".into())
    );
}

#[test]
fn uas_at_ten_gigabits_is_seen_with_its_errors() {
    let facts = facts("usb3-uas", "/dev/sda");
    keep("usb3-uas", &facts);
    let drive = &facts.drives[0];
    assert_eq!(drive.link.driver.value().unwrap(), "uas");
    assert_eq!(drive.link.ceiling_bytes_per_s.get(), Some(1_212_121_200));
    assert_eq!((drive.counts.log_link_errors.get(), drive.counts.log_resets.get()), (Some(2), Some(1)));
}

#[test]
fn a_shingled_disk_is_known_by_the_database_and_its_rotation() {
    let facts = facts("smr-disk", "/backup");
    keep("smr-disk", &facts);
    let drive = &facts.drives[0];
    assert_eq!((drive.database.shingled.get(), drive.identity.rotation_rpm.get()), (Some(true), Some(5400)));
    assert_eq!((drive.identity.knows_trim.get(), drive.health.pending_sectors.get()), (Some(true), Some(8)));
}

#[test]
fn a_volume_of_ebs_says_what_holds_it_back() {
    let facts = facts("aws-ebs", "/");
    keep("aws-ebs", &facts);
    let drive = &facts.drives[0];
    assert_eq!(drive.cloud.as_ref().unwrap().volume.value().unwrap(), "AWS EBS");
    assert_eq!(drive.counts.volume_iops_exceeded_us.get(), Some(90_000_000));
    assert!(drive.identity.virtual_by.value().unwrap().is_some());
}

#[test]
fn a_guest_knows_that_it_is_one() {
    let facts = facts("virtio-guest", "/");
    keep("virtio-guest", &facts);
    assert_eq!(
        facts.machine.virtual_machine.value().unwrap().as_deref(),
        Some("QEMU Standard PC (Q35 + ICH9, 2009)")
    );
    assert_eq!(facts.drives[0].kind, DriveKind::Virtual);
    assert_eq!(facts.drives[0].identity.virtual_by.value().unwrap().as_deref(), Some("virtio"));
}

#[test]
fn a_card_in_a_small_board_tells_its_own_words() {
    let facts = facts("raspberry-pi-sd", "/");
    keep("raspberry-pi-sd", &facts);
    assert!(facts.machine.board.value().unwrap().starts_with("Raspberry Pi 4"));
    let card = facts.drives[0].card.as_ref().unwrap();
    assert_eq!((card.allocation_unit_bytes.get(), card.maker.get()), (Some(4 << 20), Some(3)));
    assert_eq!(card.timing.value().unwrap(), "sd high speed");
    assert_eq!(card.speed_classes.value().unwrap(), "C10 U3 V30 A1");
    assert_eq!(card.promised_bytes_per_s.get(), Some(30_000_000));
}

#[test]
fn an_emmc_tells_how_worn_it_is() {
    let facts = facts("emmc", "/dev/mmcblk0");
    keep("emmc", &facts);
    let health = &facts.drives[0].health;
    assert_eq!((health.used_percent.get(), health.failing.get()), (Some(80.0), Some(false)));
    assert_eq!(health.warnings.value().unwrap(), &["80% of its spare blocks are used"]);
}

#[test]
fn ufs_tells_how_worn_it_is() {
    let ufs = "let UFS = /sys/devices/platform/soc/1d84000.ufshc\n$UFS/health_descriptor/eol_info = 0x03\n\
        $UFS/health_descriptor/life_time_estimation_a = 0x02\n$UFS/health_descriptor/life_time_estimation_b = 0x0b\n\
        let LUN = $UFS/host0/target0:0:0/0:0:0:0\nlet SDA = $LUN/block/sda\n$LUN/model = KLUDG4UHDB-B2D1\n\
        $LUN/vendor = SAMSUNG\n$SDA/device -> ../../../0:0:0:0\n$SDA/dev = 8:0\n$SDA/size = 468862128\n";
    let root = tempfile::tempdir().unwrap();
    let machine = Machine::unpack(ufs, root.path());
    let health = facts_of(&machine, root.path(), "/dev/sda").drives[0].health.clone();
    assert_eq!((health.used_percent.get(), health.failing.get()), (Some(110.0), Some(true)));
    assert_eq!(health.warnings.value().unwrap(), &["90% of its spare blocks are used"]);
}

#[test]
fn numbers_that_stand_for_none_are_not_facts() {
    let text = fs::read_to_string(folder().join("sata-bad-cable.txt")).unwrap();
    let answer = "ask sda smartctl =\n  {\"smart_status\":{\"passed\":true},\"temperature\":{\"current\":0},\"power_on_time\":{\"hours\":0},\
        \"power_cycle_count\":0,\"nvme_smart_health_information_log\":{\"percentage_used\":255,\"available_spare\":255,\"media_errors\":4294967295}}";
    let root = tempfile::tempdir().unwrap();
    let text: Vec<&str> = text.lines().take_while(|line| !line.starts_with("ask sda")).collect();
    let machine = Machine::unpack(&format!("{}\n{answer}\n", text.join("\n")), root.path());
    let drive = facts_of(&machine, root.path(), "/dev/sda").drives[0].clone();
    let (health, counts) = (drive.health, drive.counts);
    assert_eq!(health.failing.get(), Some(false));
    assert_eq!(
        (health.temperature_c.get(), health.used_percent.get(), health.spare_percent.get()),
        (None, None, None)
    );
    let counts = [counts.media_errors, counts.power_on_hours, counts.power_cycles];
    assert!(counts.iter().all(|count| count.value().is_none()), "{counts:?}");
}

#[test]
fn a_container_knows_little_and_says_so() {
    let facts = facts("container", "/");
    keep("container", &facts);
    assert_eq!(facts.machine.container.value().unwrap().as_deref(), Some("docker"));
    assert!(facts.drives.is_empty());
    assert_eq!(facts.file_system.as_ref().unwrap().trimming.timer_covers.get(), Some(false), "overlay");
}

#[test]
fn a_hot_drive_has_throttled() {
    let facts = facts("nvme-hot", "/dev/nvme0n1");
    keep("nvme-hot", &facts);
    let drive = &facts.drives[0];
    assert_eq!(
        (drive.counts.throttled_light_s.get(), drive.counts.throttled_heavy_s.get()),
        (Some(5400), Some(120))
    );
    assert_eq!(
        (drive.health.temperature_c.get(), drive.health.temperature_warning_c.get()),
        (Some(84.0), Some(82.0))
    );
    assert_eq!(drive.health.failing.get(), Some(false), "heat passes");
    assert_eq!(drive.health.warnings.value().unwrap().len(), 1);
}

/// Every machine there is a file of.
fn machines() -> Vec<String> {
    let files = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut texts: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|end| end == "txt"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    texts.sort();
    texts
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 48, ..Default::default() })]

    /// Whatever files and drives say: every fact is known with a value or unknown with a reason, and reads back.
    #[test]
    fn nonsense_is_unknown_and_no_panic(
        number in 0usize..64,
        spoilt in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), nonsense()), 1..12),
        answers in proptest::collection::vec((proptest::prelude::any::<proptest::sample::Index>(), nonsense()), 0..6),
    ) {
        let texts = machines();
        let root = tempfile::tempdir().unwrap();
        let mut machine = Machine::unpack(&texts[number % texts.len()], root.path());
        let mut files = Vec::new();
        files_below(root.path(), &mut files);
        files.sort();
        for (which, bytes) in spoilt {
            fs::write(which.get(&files), bytes).unwrap();
        }
        let mut questions: Vec<_> = machine.answers.keys().cloned().collect();
        questions.sort();
        for (which, bytes) in answers {
            if !questions.is_empty() {
                machine.answers.insert(which.get(&questions).clone(), bytes);
            }
        }
        let roots = Roots::at(root.path());
        let collector = Collector { roots: &roots, queries: &machine };
        let devices: Vec<_> = roots.names("/sys/class/block").iter().filter_map(|name| roots.device(name)).collect();
        let facts = collector.of_devices(&devices);
        let mounts = roots.text("/proc/self/mountinfo");
        for mount in mounts.value().map(String::as_str).unwrap_or_default().lines().filter_map(Mount::parse) {
            collector.of_mount(&mount);
        }
        for row in facts.rows() {
            proptest::prop_assert!(row.unknown.is_some() == row.value.is_null(), "{:?}", row);
        }
        let text = serde_json::to_string(&facts).unwrap();
        proptest::prop_assert_eq!(serde_json::from_str::<Facts>(&text).unwrap().rows().len(), facts.rows().len());
    }
}

/// Bytes of any kind, and words that are nearly right.
fn nonsense() -> impl proptest::strategy::Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..600),
        proptest::collection::vec(Just(0xFFu8), 0..4200),
        "[-+.0-9a-fxX:,;\\n {}\"/|]{0,80}".prop_map(String::into_bytes),
        prop_oneof![
            Just("18446744073709551615"),
            Just("-1"),
            Just("NaN"),
            Just("inf GT/s"),
            Just("1e308 Gbps"),
            Just("0x"),
            Just("[]"),
            Just("\u{1b}[2J"),
        ]
        .prop_map(|text| text.as_bytes().to_vec()),
    ]
}
