//! The first screen of a check of real drives that have no baseline, kept as `docs/messages/first-screens.txt`: what the drive's
//! model is rated for, what is usual for its class, and the limits of a cloud volume. Runs of simulated drives stand for the
//! measurements; what the system reports of them is put in afterwards.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::messages::matches_file;
use crate::support::{CommandOutput, Sandbox};

fn known(value: impl Into<Value>) -> Value {
    json!({ "value": value.into(), "origin": "a test" })
}

/// A drive as the system reports it, on a device of its own.
struct Machine {
    about: &'static str,
    /// What is measured in its place.
    simulated: &'static str,
    drive: Value,
}

/// NVMe on PCIe of this generation with four lanes.
fn nvme(model: &str, gb: f64, generation: u32) -> Value {
    let line = [0.0, 2.5e9, 5e9, 8e9, 16e9, 32e9][generation as usize] as u64;
    let hop = json!({
        "name": "0000:01:00.0", "kind": "the drive", "line_bits_per_s": known(line), "line_bits_per_s_max": known(line),
        "lanes": known(4), "lanes_max": known(4),
    });
    json!({
        "name": "nvme0n1", "kind": "nvme", "link": { "bus": known("PCIe"), "hops": [hop] },
        "identity": identity(model, gb, 0),
    })
}

fn sata(model: &str, gb: f64, rpm: u32) -> Value {
    let hop = json!({ "name": "ata1", "kind": "the drive", "line_bits_per_s_max": known(6_000_000_000_u64) });
    json!({
        "name": "sda", "kind": "sata", "link": { "bus": known("SATA"), "hops": [hop] },
        "identity": identity(model, gb, rpm),
    })
}

fn identity(model: &str, gb: f64, rpm: u32) -> Value {
    json!({
        "model": known(model), "capacity_bytes": known((gb * 1e9) as u64), "rotation_rpm": known(rpm),
        "virtual_by": known(Value::Null),
    })
}

fn machines() -> Vec<Machine> {
    let volume = json!({
        "name": "nvme1n1", "kind": "nvme", "link": { "bus": known("PCIe") },
        "cloud": { "volume": known("AWS EBS") },
        "identity": {
            "model": known("Amazon Elastic Block Store"), "capacity_bytes": known(100_u64 << 30),
            "virtual_by": known("AWS"),
        },
    });
    let virtual_disk = json!({
        "name": "vda", "kind": "virtual", "link": { "bus": known("virtio") },
        "identity": { "capacity_bytes": known(100_u64 << 30), "virtual_by": known("KVM") },
    });
    let hop = json!({ "name": "2-1", "kind": "the drive", "line_bits_per_s": known(480_000_000_u64) });
    let stick = json!({
        "name": "sdb", "kind": "usb", "identity": identity("SanDisk Ultra Fit", 15.4, 0),
        "link": {
            "bus": known("USB"), "driver": known("usb-storage"), "hops": [hop],
            "ceiling_bytes_per_s": known(53_248_000_u64), "possible_bytes_per_s": known(53_248_000_u64),
        },
    });
    let card = json!({
        "name": "mmcblk0", "kind": "card", "link": { "bus": known("MMC") }, "identity": identity("SN32G", 31.9, 0),
        "card": {
            "kind": known("SD"), "speed_classes": known("C10 U3 V30 A1"),
            "promised_bytes_per_s": known(30_000_000_u64),
        },
    });
    let of = |about, simulated, drive| Machine { about, simulated, drive };
    vec![
        of(
            "a SATA SSD whose model is known",
            "tlc-sata-500gb?fill=0.5",
            sata("Samsung SSD 860 EVO 500GB", 500.1, 0),
        ),
        of(
            "an NVMe SSD whose model is known",
            "tlc-nvme-1tb?fill=0.5",
            nvme("Samsung SSD 970 EVO 1TB", 1000.2, 3),
        ),
        of(
            "the same by the name that makers of laptops get",
            "tlc-nvme-1tb?fill=0.5",
            nvme("SAMSUNG MZVLB512HAJQ-000L7", 512.1, 3),
        ),
        of("an NVMe SSD whose model nobody knows", "tlc-nvme-1tb?fill=0.5", nvme("NoName NV 1TB", 1000.2, 3)),
        of(
            "the same, slower than any",
            "tlc-nvme-1tb?fill=0.5&crypt=150MB/s",
            nvme("NoName NV 1TB", 1000.2, 3),
        ),
        of("a SATA SSD whose model nobody knows", "tlc-sata-500gb?fill=0.5", sata("NoName SSD", 500.1, 0)),
        of("a hard disk of 7,200 rpm", "disk-2tb?fill=0.5", sata("NoName Disk", 2000.4, 7200)),
        of("a cloud volume", "cloud-gp2-100gib?fill=0.5", volume),
        of("a virtual disk", "cloud-gp2-100gib?fill=0.5", virtual_disk),
        of("a USB 3 stick at a USB 2 port", "usb-stick-16gb?fill=0.5", stick),
        of("an SD card that breaks its promise", "microsd-32gb?fill=0.5", card),
    ]
}

/// A kept run, as it was.
struct Kept {
    sandbox: Sandbox,
    run: PathBuf,
    files: Vec<(&'static str, String)>,
}

impl Kept {
    fn new(command: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        sandbox.run(command);
        let run = sandbox.runs().pop().unwrap();
        // A simulated drive has no observations where its procedure asks for none.
        let read = |name| (name, fs::read_to_string(run.join(name)).unwrap_or_default());
        let files = ["plan.toml", "machine.json", "observations.jsonl"].map(read).to_vec();
        Self { sandbox, run, files }
    }

    /// Judged as of that drive: it has no reference and was not simulated.
    fn judge(&self, drive: &Value) -> CommandOutput {
        self.judge_among(drive, &[])
    }

    /// The same beside other drives of its model that read this fast, in bytes a second.
    fn judge_among(&self, drive: &Value, others: &[f64]) -> CommandOutput {
        for (name, text) in &self.files {
            let text = match *name {
                "plan.toml" => with_peers(text, others),
                "machine.json" => of_a_device(text),
                _ => text.lines().map(|line| with_drive(line, drive) + "\n").collect(),
            };
            fs::write(self.run.join(name), text).unwrap();
        }
        let judge = ["judge", self.run.to_str().unwrap()];
        CommandOutput::of(self.sandbox.command(&judge).env("COLUMNS", "100"))
    }
}

/// With these others in place of references.
fn with_peers(plan: &str, others: &[f64]) -> String {
    let mut plan: toml::Table = plan.parse().unwrap();
    plan.insert("target".into(), "/dev/drive".into());
    let options = plan["options"].as_table_mut().unwrap();
    options.retain(|key, _| key != "reference" && key != "normal");
    if !others.is_empty() {
        let mut peers = toml::Table::new();
        peers.insert("metric".into(), "sequential_read".into());
        peers.insert("per_s".into(), others.to_vec().into());
        options.insert("peers".into(), vec![peers].into());
    }
    plan.to_string()
}

fn of_a_device(header: &str) -> String {
    let mut header: Value = serde_json::from_str(header).unwrap();
    let identity = &mut header["identity"];
    (identity["kind"], identity["name"]) = ("device".into(), "/dev/drive".into());
    identity["caveats"] = json!([]);
    header.to_string()
}

fn with_drive(observation: &str, drive: &Value) -> String {
    let mut observation: Value = serde_json::from_str(observation).unwrap();
    if let Some(facts) = observation["result"].get_mut("facts") {
        let kind = if drive["kind"] == "usb" { "usb_disk" } else { "disk" };
        facts["stack"] = json!([{ "name": drive["name"], "kind": kind }]);
        facts["drives"] = json!([drive]);
        facts.as_object_mut().unwrap().remove("file_system");
        facts["machine"].as_object_mut().unwrap().remove("virtual_machine");
    }
    observation.to_string()
}

/// A class is many drives: only one that is slower than all of them is a problem by it.
#[test]
fn the_first_screen_says_where_a_drive_without_a_baseline_stands() {
    let mut kept: HashMap<&str, Kept> = HashMap::new();
    let mut text = String::new();
    for Machine { about, simulated, drive } in machines() {
        let output = kept
            .entry(simulated)
            .or_insert_with(|| Kept::new(&["check", &format!("sim:{simulated}")]))
            .judge(&drive);
        let is_slow = ["slower than any", "USB 2", "promise"].iter().any(|of| about.contains(of));
        text += &format!("## {about}\n\n{}\n", output.code(if is_slow { 10 } else { 0 }).stdout());
    }
    matches_file("first-screens.txt", &text);
}

/// In a folder, where what the system says of the drive is part of every run.
#[test]
fn bench_shows_what_is_usual_beside_what_is_measured_in_the_same_way() {
    let kept = Kept::new(&["bench", ".", "--span", "8MiB", "--passes", "1", "--time", "20ms"]);
    let lines = |drive: &Value| -> Vec<String> {
        kept.judge(drive).code(0).stdout().lines().map(str::to_owned).collect()
    };
    let known = lines(&nvme("Samsung SSD 970 EVO Plus 1TB", 1000.2, 3));
    let line = |of: &str| known.iter().find(|line| line.trim_start().starts_with(of)).unwrap();
    assert!(line("test").ends_with("usual"), "{known:#?}");
    assert!(
        line("SEQ1M Q8T1 read").ends_with(" MB/s") && line("SEQ1M Q8T1 write").ends_with(" MB/s"),
        "{known:#?}"
    );
    let json = kept.sandbox.run(&["judge", kept.run.to_str().unwrap(), "--json", "-"]);
    let document: Value = serde_json::from_str(&json.stdout()).unwrap();
    let usual = document["tables"]["usual"].as_array().unwrap();
    let has_usual = |test: &str, op: &str| usual.iter().any(|row| row["test"] == test && row["op"] == op);
    assert!(has_usual("SEQ1M Q8T1", "read") && has_usual("SEQ1M Q8T1", "write"), "{usual:?}");
    assert!(!has_usual("SEQ1M Q1T1", "read"), "{usual:?}");
    for row in usual {
        let [low, middle, high] =
            ["bytes_per_s_low", "bytes_per_s", "bytes_per_s_high"].map(|key| row[key].as_f64().unwrap());
        assert!(1e7 < low && low < middle && middle < high && high < 1e10, "{row}");
    }
    // Nobody rates one sequential I/O at a time.
    assert!(!line("SEQ1M Q1T1 read").ends_with("B/s"), "{known:#?}");
    assert!(line("Usual").contains("an NVMe SSD on PCIe 3.0 ×4"), "{known:#?}");
    let unknown = lines(&json!({ "name": "sda", "kind": "usb" }));
    assert!(!unknown.iter().any(|line| line.contains("usual")), "{unknown:#?}");
}

#[test]
fn a_drive_is_slow_if_it_is_slower_than_others_of_its_model_are_among_themselves() {
    let kept = Kept::new(&["check", "sim:tlc-sata-500gb?fill=0.5"]);
    let unknown = sata("NONAME SSD 500GB", 500.1, 0);
    let alike = |mb: f64| -> Vec<f64> { (0..47).map(|index| (mb + f64::from(index % 10)) * 1e6).collect() };
    let slow = kept.judge_among(&unknown, &alike(900.0));
    let slow = slow.code(10).stdout();
    assert!(slow.contains("of the median of its model (90"), "{slow}");
    assert!(slow.contains("slower than 47 of 47 others"), "{slow}");
    assert!(slow.contains("Compared with: 47 other drives of its model in this history"), "{slow}");
    let same = kept.judge_among(&unknown, &alike(540.0)).code(0).stdout();
    assert!(same.contains("✓") && same.contains("As fast as others of its model"), "{same}");
    let few = kept.judge_among(&unknown, &alike(900.0)[..3]).code(0).stdout();
    assert!(few.contains("3 others are too few to judge by"), "{few}");
}

/// A virtual disk by how its host caches: QEMU's `cache=`.
#[test]
fn a_hypervisor_that_ignores_flushes_is_found_and_one_that_does_not_is_not() {
    let sandbox = Sandbox::new();
    let suits = |mode: &str| {
        let target = format!("sim:tlc-sata-500gb?vm={mode}");
        sandbox.run(&["suits", &target, "--passes", "2", "--writers", "1", "--no-archive"]).code(0).stdout()
    };
    let ignored = suits("unsafe");
    assert!(ignored.contains("? Durability: a flush takes 500 ns"), "{ignored}");
    for mode in ["none", "writeback"] {
        let kept = suits(mode);
        assert!(!kept.contains("Durability"), "{mode}: {kept}");
    }
}

/// As an SSD that reports a volatile cache, with the flushes of one with power-loss protection.
#[test]
fn a_flush_that_costs_nothing_is_said_where_the_cache_is_volatile() {
    let kept = Kept::new(&["suits", "sim:tlc-enterprise-1920gb", "--passes", "2"]);
    let judge = |cache: &str| {
        let facts = json!({
            "stack": [{ "name": "sda", "kind": "disk", "write_cache": known(cache) }],
            "drives": [sata("NoName SSD", 500.1, 0)],
        });
        let observed = json!({ "after": 0, "started_at": 0, "ended_at": 0, "probe": "facts", "result": { "facts": facts } });
        fs::write(kept.run.join("observations.jsonl"), format!("{observed}\n")).unwrap();
        let machine = kept.files.iter().find(|(name, _)| *name == "machine.json").unwrap();
        fs::write(kept.run.join("machine.json"), of_a_device(&machine.1)).unwrap();
        kept.sandbox.run(&["judge", kept.run.to_str().unwrap()])
    };
    let volatile = judge("write back");
    assert!(volatile.code(0).stdout().contains("? Durability: a flush takes"), "{}", volatile.stdout());
    let protected = judge("write through");
    assert!(!protected.code(0).stdout().contains("Durability"), "{}", protected.stdout());
}
