//! Tests of what is read of outputs: published reports of drives, reduced to what is read (`tests/reports`),
//! and short texts in the form of each program.

use std::fs;

use likenew_core::facts::LayerKind;

use super::*;

fn read(texts: &[(&str, &str)]) -> Facts {
    let texts: Vec<PrintedText> = texts
        .iter()
        .map(|(name, text)| PrintedText { name: (*name).to_owned(), text: (*text).to_owned() })
        .collect();
    reported_to(&Roots::at(Path::new("/nowhere")), &texts)
}

fn only(facts: &Facts) -> &Drive {
    let [drive] = &facts.drives[..] else { panic!("{:?}", facts.drives) };
    drive
}

fn missing(facts: &Facts) -> Vec<&str> {
    facts.reported.as_ref().unwrap().missing.iter().map(|fact| &*fact.command).collect()
}

/// One line of what a report says.
fn summary(drive: &Drive) -> String {
    fn text_of<T: std::fmt::Display>(fact: &Fact<T>) -> String {
        fact.value().map_or_else(|| "?".to_owned(), T::to_string)
    }
    let Drive { identity, health, counts, link, .. } = drive;
    format!(
        "{}, {} B: failing {}, {} °C, used {}%, written {}, read {}, {} h, link {}, warnings {:?}",
        text_of(&identity.model),
        text_of(&identity.capacity_bytes),
        text_of(&health.failing),
        text_of(&health.temperature_c),
        text_of(&health.used_percent),
        text_of(&counts.lifetime_bytes_written),
        text_of(&counts.lifetime_bytes_read),
        text_of(&counts.power_on_hours),
        text_of(&link.ceiling_bytes_per_s),
        health.warnings.value().unwrap_or(&Vec::new())
    )
}

#[test]
fn published_reports_are_read_and_those_of_failing_drives_named() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    let mut files: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    assert_eq!(files.len(), 40);
    let mut lines = String::new();
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let facts = read(&[(&name, &text)]);
        let drive = only(&facts);
        let fails_now = |line: &str| {
            let prefail = line.contains("Pre-fail")
                || line.split_whitespace().nth(2).is_some_and(|word| word.starts_with('P'));
            prefail && line.contains("NOW")
        };
        let is_failing = text.contains("test result: FAILED") || text.lines().any(fails_now);
        assert_eq!(drive.health.failing.get(), Some(is_failing), "{name}");
        lines += &format!("{name}: {}\n", summary(drive));
    }
    insta::with_settings!({ snapshot_path => folder, prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("facts", lines);
    });
}

#[test]
fn nothing_is_read_of_what_is_none() {
    let facts =
        read(&[("a.txt", "hello\n{\"x\": 1}\n[1, 2]\n"), ("b.txt", ""), ("c.txt", "{\n{\n{\"a\": [")]);
    assert_eq!((facts.drives.len(), facts.stack.len()), (0, 0));
    assert_eq!(facts.reported.unwrap().unread, ["a.txt", "b.txt", "c.txt"]);
}

const SSD: &str = "smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0-8-amd64] (local build)
=== START OF INFORMATION SECTION ===
Model Family:     Samsung based SSDs
Device Model:     Samsung SSD 860 EVO 1TB
Serial Number:    S3Z8NB0K000001
Firmware Version: RVT02B6Q
User Capacity:    1,000,204,886,016 bytes [1.00 TB]
Rotation Rate:    Solid State Device
TRIM Command:     Available, deterministic, zeroed
Device is:        In smartctl database [for details use: -P show]
SATA Version is:  SATA 3.1, 6.0 Gb/s (current: 1.5 Gb/s)
=== START OF READ SMART DATA SECTION ===
SMART overall-health self-assessment test result: PASSED
ID# ATTRIBUTE_NAME          FLAG     VALUE WORST THRESH TYPE      UPDATED  WHEN_FAILED RAW_VALUE
  5 Reallocated_Sector_Ct   0x0033   100   100   010    Pre-fail  Always       -       0
  9 Power_On_Hours          0x0032   095   095   000    Old_age   Always       -       21620h+12m+3.1s
177 Wear_Leveling_Count     0x0013   083   083   000    Pre-fail  Always       -       412
199 CRC_Error_Count         0x003e   099   099   000    Old_age   Always       -       31
241 Total_LBAs_Written      0x0032   099   099   000    Old_age   Always       -       2000000
# 1  Extended offline    Completed: read failure       90%     12345         1234567
# 2  Short offline       Completed without error       00%     12344         -
";

#[test]
fn what_smartctl_prints_for_people_is_what_its_json_says() {
    let facts = read(&[("report.txt", SSD)]);
    let drive = only(&facts);
    assert_eq!((drive.kind, drive.name.as_str()), (DriveKind::Sata, "Samsung SSD 860 EVO 1TB"));
    assert_eq!(
        (drive.link.ceiling_bytes_per_s.get(), drive.link.possible_bytes_per_s.get()),
        (Some(150_000_000), Some(600_000_000))
    );
    assert_eq!(
        (drive.health.used_percent.get(), drive.counts.lifetime_bytes_written.get()),
        (Some(17.0), Some(1_024_000_000))
    );
    assert_eq!((drive.counts.crc_errors.get(), drive.counts.power_on_hours.get()), (Some(31), Some(21_620)));
    assert_eq!(
        (drive.counts.self_tests_failed.get(), drive.identity.knows_trim.get()),
        (Some(1), Some(true))
    );
    assert_eq!(facts.machine.kernel.value().unwrap(), "5.10.0-8-amd64");
    assert_eq!(missing(&facts), ["lsblk -O -J", "df -T; mount", "sudo dmesg"]);
    // Attributes of a model that smartmontools does not know may count anything.
    let unknown = SSD.replace("In smartctl database [for details use: -P show]", "Not in smartctl database");
    let facts = read(&[("report.txt", &unknown.replace("Model Family:     Samsung based SSDs\n", ""))]);
    assert!(only(&facts).health.used_percent.value().is_none());
    assert!(only(&facts).counts.lifetime_bytes_written.value().is_none());
}

#[test]
fn errors_of_a_sas_disk_outside_its_medium_are_counted() {
    let text = "smartctl 7.4 2023-08-01 r5530 [x86_64-linux-6.1.0] (local build)
Vendor:               SEAGATE
Product:              ST4000NM0023
Elements in grown defect list: 4
Error counter log:
read:   2038871        0         0   2038871          0      35416.404           0
write:         0        0         0         0          0       9144.218          12
Non-medium error count:     2207
";
    let counts = &read(&[("report.txt", text)]).drives[0].counts;
    assert_eq!((counts.non_medium_errors.get(), counts.media_errors.get()), (Some(2207), Some(12)));
}

#[test]
fn a_refusal_of_smartctl_is_the_reason_and_says_what_to_try() {
    let text = "smartctl 7.2 2020-12-30 r5155 [x86_64-linux-5.10.0] (local build)\nSmartctl open device: /dev/sdb failed: Unknown USB bridge [0x152d:0x0578 (0x3202)]\n";
    let facts = read(&[("a.txt", text)]);
    assert!(only(&facts).health.failing.reason().unwrap().contains("Unknown USB bridge"));
    assert_eq!(missing(&facts)[0], "sudo smartctl -x -j -d sat /dev/sdb");
}

#[test]
fn outputs_about_one_drive_are_joined_and_those_about_others_are_not() {
    let lsblk = "NAME   MODEL                   SERIAL         SIZE ROTA DISC-MAX TYPE TRAN FSTYPE MOUNTPOINT
sda    Samsung SSD 860 EVO 1TB S3Z8NB0K000001 931G    0        0 disk sata
└─sda1                                        931G    0        0 part      ext4   /data
sdb    Samsung SSD 860 EVO 1TB S3Z8NB0K000002 931G    0       2G disk sata
";
    let facts = read(&[("a.txt", SSD), ("b.txt", lsblk)]);
    let names: Vec<&str> = facts.drives.iter().map(|drive| &*drive.name).collect();
    assert_eq!(names, ["sda", "sdb"]);
    assert_eq!(
        (facts.drives[0].health.failing.get(), facts.drives[1].health.failing.get()),
        (Some(false), None)
    );
    assert_eq!(
        facts.drives[0].identity.capacity_bytes.get(),
        Some(1_000_204_886_016),
        "exact, where lsblk rounds"
    );
    let layers: Vec<(&str, Option<bool>)> =
        facts.stack.iter().map(|layer| (&*layer.name, layer.takes_trim.get())).collect();
    assert_eq!(layers, [("sda1", Some(false)), ("sda", Some(false)), ("sdb", Some(true))]);
    assert_eq!(facts.file_system.unwrap().point, "/data");
    // Two reports of one model without serial numbers are two drives.
    let anonymous = SSD.replace("S3Z8NB0K000001", "--");
    assert_eq!(read(&[("a.txt", &anonymous), ("b.txt", &anonymous)]).drives.len(), 2);
    assert_eq!(read(&[("sda.txt", SSD), ("sda.txt", SSD)]).drives.len(), 1);
}

#[test]
fn one_name_in_texts_of_several_machines_is_several_drives() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reports");
    // No report shows a serial number.
    let report = |name: &str| {
        let text = fs::read_to_string(folder.join(name)).unwrap();
        format!("$ sudo smartctl -x /dev/sda\n{text}")
    };
    let (fine, failing) = (report("hoodisk-ssd.txt"), report("adata-im2s3134n-064gm.txt"));
    let texts = [("one.txt", &*fine), ("other.txt", &*failing), ("again.txt", &*fine)];
    let drives = read(&texts).drives;
    let verdicts: Vec<_> =
        drives.iter().map(|drive| (&*drive.name, drive.health.failing.value().copied())).collect();
    assert_eq!(verdicts, [("sda (Hoodisk SSD)", Some(false)), ("sda (ADATA_IM2S3134N-064GM)", Some(true))]);
}

#[test]
fn one_serial_number_of_several_models_or_sizes_is_several_drives() {
    let report = |model: &str, bytes: &str| {
        let ssd = SSD.replace("860 EVO 1TB", model).replace("1,000,204,886,016", bytes);
        format!("$ sudo smartctl -x /dev/sda\n{ssd}")
    };
    let (model, bytes) = ("860 EVO 1TB", "1,000,204,886,016");
    let bad = report("870 QVO 1TB", bytes).replace("PASSED", "FAILED!");
    let others = [bad, report(model, "500,107,862,016")];
    for other in &others {
        for texts in [[report(model, bytes), other.clone()], [other.clone(), report(model, bytes)]] {
            let facts = read(&[("a.txt", &texts[0]), ("b.txt", &texts[1]), ("again.txt", &texts[0])]);
            assert_eq!(facts.drives.len(), 2, "{other}");
            let failing = facts.drives.iter().filter(|drive| drive.health.failing.get() == Some(true));
            assert_eq!(failing.count(), usize::from(other.contains("FAILED!")));
        }
    }
    let lsblk = format!(
        "NAME {:19} {:>6} {:14} TYPE\nsdb  {:19} {:>6} {:14} disk\n",
        "MODEL", "SIZE", "SERIAL", "Samsung_SSD_860_EVO", "931.5G", "S3Z8NB0K000001"
    );
    assert_eq!(read(&[("a.txt", &report(model, bytes)), ("b.txt", &lsblk)]).drives.len(), 1);
}

#[test]
fn an_output_ends_at_the_next_prompt() {
    let text = "$ lsblk -o NAME,MODEL,SIZE,TYPE
NAME MODEL       SIZE TYPE
sda  SSD 860 EVO 931G disk
user@host:~$ cat /etc/motd and more text over all columns of the table above it
NVMe Version: 1.3
# df
Filesystem     1K-blocks  Used Available Use% Mounted on
/dev/sda1           1000   950        50  95% /data
root@host:/# uptime 12345678901234567890123456789012345678901234567890
";
    let facts = read(&[("a.txt", text)]);
    assert_eq!(
        (only(&facts).name.as_str(), only(&facts).identity.model.value().unwrap().as_str()),
        ("sda", "SSD 860 EVO")
    );
    assert_eq!(facts.file_system.as_ref().unwrap().used_percent.get(), Some(95.0));
    assert!(!is_prompt("# 1  Extended offline    Completed without error       00%     12345         -"));
}

#[test]
fn a_log_that_may_name_a_drive_otherwise_does_not_say_that_nothing_happened() {
    let lsblk = "NAME TYPE TRAN\nsda  disk sata\n";
    let facts = read(&[("l", lsblk), ("d", "[    5.0000] ata3: hard resetting link\n")]);
    assert!(only(&facts).counts.log_resets.is_not_queried(), "whose port that is, nothing says");
    let facts = read(&[("d", "[    5.0000] nvme nvme0: I/O 1 QID 1 timeout, aborting\n"), ("a", SSD)]);
    assert!(only(&facts).counts.log_timeouts.is_not_queried(), "of a drive without a name");
}

#[test]
fn lsblk_in_json_says_the_same_as_its_table() {
    let json = r#"{"blockdevices": [{"name": "nvme0n1", "kname": "nvme0n1", "model": "X", "size": 1000204886016, "rota": false,
        "disc-max": "2T", "tran": "nvme", "type": "disk", "sched": "none", "log-sec": 512, "phy-sec": 4096,
        "children": [{"name": "nvme0n1p2", "size": 999, "type": "part", "rota": false,
            "children": [{"name": "root", "type": "crypt", "fstype": "xfs", "mountpoints": [null, "/"], "fsuse%": "91%",
                "disc-max": "0B", "rota": false}]}]}]}"#;
    let facts = read(&[("l.json", json)]);
    let kinds: Vec<LayerKind> = facts.stack.iter().map(|layer| layer.kind).collect();
    assert_eq!(kinds, [LayerKind::Crypt, LayerKind::Partition, LayerKind::Disk]);
    assert_eq!(facts.trim_blocked_by().unwrap().name, "root");
    assert_eq!(facts.file_system.as_ref().unwrap().used_percent.get(), Some(91.0));
    assert_eq!(only(&facts).identity.capacity_bytes.get(), Some(1_000_204_886_016));
    assert_eq!(facts.stack[2].scheduler.value().unwrap(), "none");
}

#[test]
fn links_are_of_the_drive_that_the_log_names_or_of_the_only_one() {
    let pci = "01:00.0 Non-Volatile memory controller: A (prog-if 02 [NVM Express])
\tLnkCap:\tPort #0, Speed 8GT/s, Width x4, ASPM L1
\tLnkSta:\tSpeed 2.5GT/s (downgraded), Width x2 (downgraded)
";
    let other = pci
        .replace("01:00.0", "02:00.0")
        .replace("2.5GT/s (downgraded), Width x2 (downgraded)", "8GT/s (ok), Width x4 (ok)");
    let list = "Node             SN      Model   Namespace Usage                 Format        FW Rev
---------------- ------- ------- --------- --------------------- ------------- --------
/dev/nvme0n1     A1      Left    1         1.00  TB /   1.00  TB 512   B +  0 B 1.0
/dev/nvme1n1     A2      Right   1         1.00  TB /   1.00  TB 512   B +  0 B 1.0
";
    let log = "[    1.2] no record\n[    1.234567] nvme nvme1: pci function 0000:01:00.0\n[    1.234568] nvme nvme0: pci function 0000:02:00.0\n";
    let both = format!("{pci}{other}");
    let carried = |facts: &Facts| -> Vec<Option<u64>> {
        facts.drives.iter().map(|drive| drive.link.ceiling_bytes_per_s.get()).collect()
    };
    assert_eq!(
        carried(&read(&[("a", list), ("b", &both), ("c", log)])),
        [Some(3_938_461_538), Some(500_000_000)]
    );
    assert_eq!(carried(&read(&[("a", list), ("b", &both)])), [None, None], "which is which is not known");
    let one_drive: String = list.lines().take(3).map(|line| format!("{line}\n")).collect();
    assert_eq!(carried(&read(&[("a", &one_drive), ("b", pci)])), [Some(500_000_000)]);
    let usb = "/:  Bus 01.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/12p, 480M
    |__ Port 3: Dev 2, If 0, Class=Hub, Driver=hub/4p, 480M
        |__ Port 1: Dev 4, If 0, Class=Mass Storage, Driver=usb-storage, 480M
";
    let lsblk = "NAME TYPE TRAN\nsdc  disk usb\n";
    let facts = read(&[("a", usb), ("b", lsblk)]);
    let link = &only(&facts).link;
    assert_eq!((link.driver.value().unwrap().as_str(), link.hops[0].name.as_str()), ("usb-storage", "1-3.1"));
    assert_eq!((link.hops.len(), link.ceiling_bytes_per_s.get()), (3, Some(53_248_000)));
}

#[test]
fn the_log_is_read_with_every_kind_of_time_and_its_lines_are_of_the_drive_that_they_name() {
    let heads = [
        "[    5.000000] ",
        "<6>[    5.000000] ",
        "[Mon Jan  1 12:00:00 2024] ",
        "Jan 01 12:00:00 host kernel: ",
        "2024-01-01T12:00:00+0000 host kernel: ",
        "Jan 01 12:00:00 host kernel: [    5.000000] ",
    ];
    for head in heads {
        let log = [
            "ata3: SATA link up 1.5 Gbps (SStatus 113 SControl 300)",
            "ata3.00: ATA-11: Samsung SSD 860 EVO 1TB, RVT02B6Q, max UDMA/133",
            "sd 2:0:0:0: [sda] 1953525168 512-byte logical blocks: (1.00 TB/932 GiB)",
            "ata3.00: exception Emask 0x10 SAct 0x0 SErr 0x400100 action 0x6 frozen",
            "ata3: SError: { UnrecovData Handshk }",
            "ata7: hard resetting link",
        ];
        let log: String = log.iter().map(|line| format!("{head}{line}\n")).collect();
        let facts = read(&[("d.txt", &log), ("sda.txt", SSD)]);
        let drive = only(&facts);
        assert_eq!(
            (drive.counts.log_link_errors.get(), drive.counts.log_resets.get()),
            (Some(1), Some(0)),
            "{head}"
        );
        let facts = read(&[("d.txt", &log)]);
        assert_eq!(
            (only(&facts).name.as_str(), only(&facts).identity.capacity_bytes.get()),
            ("sda", Some(1_000_204_886_016))
        );
    }
}

#[test]
fn arrays_and_pools_say_what_is_missing_and_what_they_are_busy_with() {
    let text = "Personalities : [raid1] [raid6]
md0 : active raid1 sdb1[1] sda1[0](F)
      976630464 blocks super 1.2 [2/1] [U_]
      [>....................]  recovery =  1.2% (1/2) finish=96.8min speed=161600K/sec

  pool: tank
 state: DEGRADED
  scan: scrub in progress since Sun Jul 25 16:07:49 2023
config:

\tNAME        STATE     READ WRITE CKSUM
\ttank        DEGRADED     0     0     0
\t  mirror-0  DEGRADED     0     0     0
\t    sdc     ONLINE       0     0    12
\t    sdd     FAULTED      3     1     0  too many errors

errors: No known data errors
";
    let facts = read(&[("a.txt", text)]);
    let [array, pool] = &facts.stack[..] else { panic!("{:?}", facts.stack) };
    assert_eq!(
        (array.members_missing.get(), array.busy_with.value().unwrap().as_str()),
        (Some(1), "recover")
    );
    assert_eq!((pool.members_missing.get(), pool.member_errors.get()), (Some(1), Some(16)));
    assert_eq!(pool.busy_with.value().unwrap(), "scrub");
}

#[test]
fn nvme_cli_is_read_as_text_and_as_json() {
    let text = "Smart Log for NVME device:nvme0n1 namespace-id:ffffffff
critical_warning\t\t\t: 0x4
temperature\t\t\t\t: 35 °C (308 K)
available_spare\t\t\t\t: 100%
available_spare_threshold\t\t: 10%
percentage_used\t\t\t\t: 3%
Data Units Read\t\t\t\t: 1,234 (631.81 MB)
Data Units Written\t\t\t: 2,000
power_on_hours\t\t\t\t: 8,683
media_errors\t\t\t\t: 1
";
    let json = r#"{"critical_warning": 4, "temperature": 308, "avail_spare": 100, "spare_thresh": 10, "percent_used": 3,
        "data_units_read": 1234, "data_units_written": 2000, "power_on_hours": 8683, "media_errors": 1}"#;
    for (name, text) in [("smart.txt", text), ("nvme0n1.json", json)] {
        let facts = read(&[(name, text)]);
        let Drive { name, health, counts, .. } = only(&facts);
        assert_eq!(
            (name.as_str(), health.failing.get(), health.temperature_c.get()),
            ("nvme0n1", Some(true), Some(35.0))
        );
        assert_eq!(
            (health.used_percent.get(), counts.lifetime_bytes_written.get()),
            (Some(3.0), Some(1_024_000_000))
        );
        assert_eq!((counts.power_on_hours.get(), counts.media_errors.get()), (Some(8683), Some(1)));
    }
    let identify = "NVME Identify Controller:\nvid     : 0x144d\nsn      : S4\nmn      : Samsung SSD 970 EVO\nfr      : 2B2Q\nwctemp  : 358\n";
    let facts = read(&[("i.txt", identify)]);
    assert_eq!(
        (
            only(&facts).identity.firmware.value().unwrap().as_str(),
            only(&facts).health.temperature_warning_c.get()
        ),
        ("2B2Q", Some(85.0))
    );
}

#[test]
fn other_programs_are_read_by_their_forms() {
    let hdparm = "/dev/sda:\n\nATA device, with non-removable media\n\tModel Number:       WDC WD10EZEX\n\tSerial Number:      W1\n\tFirmware Revision:  80.00A80\n\tNominal Media Rotation Rate: 7200\n\t    \tWrite cache\n\t   *\tLook-ahead\n";
    let facts = read(&[("h.txt", hdparm)]);
    assert_eq!(
        (only(&facts).identity.rotation_rpm.get(), facts.stack[0].write_cache.value().unwrap().as_str()),
        (Some(7200), "write through")
    );

    let disks = "Number FriendlyName            SerialNumber MediaType CanPool OperationalStatus HealthStatus Usage            Size
------ ------------            ------------ --------- ------- ----------------- ------------ -----            ----
0      Samsung SSD 970 EVO 1TB 0025_3851.   SSD       False   OK                Healthy      Auto-Select 931.51 GB
1      ST2000DM008-2FR102      ZFL00001     HDD       False   OK                Unhealthy    Auto-Select   1.82 TB
";
    let facts = read(&[("d.txt", disks), ("t.txt", "NTFS DisableDeleteNotify = 1  (Disabled)\n")]);
    let health: Vec<_> =
        facts.drives.iter().map(|drive| (&*drive.name, drive.health.failing.get())).collect();
    assert_eq!(health, [("Samsung SSD 970 EVO 1TB", Some(false)), ("ST2000DM008-2FR102", Some(true))]);
    assert_eq!(facts.file_system.as_ref().unwrap().trimming.immediate.get(), Some(false));
    assert!(missing(&facts).is_empty(), "no commands of Linux");

    let usage = "Filesystem     1K-blocks      Used Available Use% Mounted on\n/dev/sda2      100000000  95000000   5000000  95% /home\n/dev/loop0           100       100         0 100% /snap/core\n";
    let mounts = "/dev/sda2 on /home type ext4 (rw,noatime,discard)\n/dev/sda1 /boot ext4 rw,relatime 0 0\n";
    let facts = read(&[("u.txt", usage), ("m.txt", mounts)]);
    let system = facts.file_system.unwrap();
    assert_eq!(
        (system.point.as_str(), system.used_bytes.get(), system.trimming.immediate.get()),
        ("/home", Some(97_280_000_000), Some(true))
    );

    let io = "Device  r/s  rkB/s  w/s  wkB/s  %util\nsda 1.00 100.00 1.00 50.00 1.0\n\nDevice  r/s  rkB/s  w/s  wkB/s  %util\nsda 1.00 2048,00 1.00 1024,00 99.0\n";
    let facts = read(&[("io.txt", io), ("l.txt", "NAME TYPE TRAN\nsda  disk sata\n")]);
    assert_eq!(only(&facts).others_read_bytes_per_s.get(), Some(2 << 20));
}

#[test]
fn a_bundle_reads_back_without_serial_numbers() {
    let facts = read(&[("a.txt", SSD)]);
    let text = bundle(&facts);
    assert!(!text.contains("S3Z8NB0K000001"));
    let again = read(&[("b.json", &text)]);
    assert_eq!(only(&again), only(&facts));
}

#[test]
fn numbers_are_read_as_people_and_programs_write_them() {
    for (text, number) in [
        ("1,000,204 bytes", Some(1_000_204)),
        ("1'000", Some(1000)),
        ("12%", Some(12)),
        ("x1", None),
        ("", None),
    ] {
        assert_eq!(first_number(text), number, "{text}");
    }
    for (text, bytes) in [
        ("512", Some(512)),
        ("4K", Some(4096)),
        ("1,5M", Some(3 << 19)),
        ("0B", Some(0)),
        ("1e9", None),
        ("G", None),
        ("-1", None),
    ] {
        assert_eq!(bytes_of(text), bytes, "{text}");
    }
}

#[test]
fn columns_are_what_blanks_separate_in_all_lines() {
    let text = [
        "NAME     MODEL        SIZE Mounted on",
        "-------- -----------  ---- ----------",
        "sda      SSD 860 EVO  1.8T",
        "└─sda1                1.8T /mnt/my data",
    ];
    let rows = rows(&text);
    assert_eq!(rows.len(), 2);
    assert_eq!((rows[0].get(&["name"]), rows[0].get(&["mounted on"])), (Some("sda"), None));
    assert_eq!((rows[0].get(&["model"]), rows[1].get(&["model"])), (Some("SSD 860 EVO"), None));
    assert_eq!((rows[1].indent, rows[1].get(&["SIZE"])), (2, Some("1.8T")));
    assert_eq!(rows[1].get(&["mounted on"]), Some("/mnt/my data"));
}
