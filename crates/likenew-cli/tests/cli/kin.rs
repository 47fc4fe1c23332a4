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
    ]
}

/// A kept run of a simulated drive, as it was.
struct Kept {
    sandbox: Sandbox,
    run: PathBuf,
    files: Vec<(&'static str, String)>,
}

impl Kept {
    fn new(simulated: &str) -> Self {
        let sandbox = Sandbox::new();
        sandbox.run(&["check", &format!("sim:{simulated}")]);
        let run = sandbox.runs().pop().unwrap();
        let read = |name| (name, fs::read_to_string(run.join(name)).unwrap());
        let files = ["plan.toml", "machine.json", "observations.jsonl"].map(read).to_vec();
        Self { sandbox, run, files }
    }

    /// Judged as of that drive: it has no reference and was not simulated.
    fn judge(&self, drive: &Value) -> CommandOutput {
        for (name, text) in &self.files {
            let text = match *name {
                "plan.toml" => without_references(text),
                "machine.json" => of_a_device(text),
                _ => text.lines().map(|line| with_drive(line, drive) + "\n").collect(),
            };
            fs::write(self.run.join(name), text).unwrap();
        }
        let judge = ["judge", self.run.to_str().unwrap()];
        CommandOutput::of(self.sandbox.command(&judge).env("COLUMNS", "100"))
    }
}

fn without_references(plan: &str) -> String {
    let mut plan: toml::Table = plan.parse().unwrap();
    plan.insert("target".into(), "/dev/drive".into());
    plan["options"].as_table_mut().unwrap().retain(|key, _| key != "reference" && key != "normal");
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
    }
    observation.to_string()
}

/// A class is many drives: only one that is slower than all of them is a problem by it.
#[test]
fn the_first_screen_says_where_a_drive_without_a_baseline_stands() {
    let mut kept: HashMap<&str, Kept> = HashMap::new();
    let mut text = String::new();
    for Machine { about, simulated, drive } in machines() {
        let output = kept.entry(simulated).or_insert_with(|| Kept::new(simulated)).judge(&drive);
        let is_slow = about.contains("slower than any") || about.contains("USB 2");
        text += &format!("## {about}\n\n{}\n", output.code(if is_slow { 10 } else { 0 }).stdout());
    }
    matches_file("first-screens.txt", &text);
}
