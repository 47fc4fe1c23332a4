//! The real capacity of drives, and of those that lie about it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::filesystem::{Ext4, Tmpfs, system};
use crate::serve::are_there;
use crate::serve::mounted::Fuse;
use crate::serve::mounted::Mounted;
use crate::serve::server::Serving;
use crate::support::{Sandbox, names};

fn capacity<'a>(report: &'a Value, column: &str) -> &'a Value {
    &report["tables"]["capacity"][0][column]
}

#[test]
fn a_counterfeit_stick_is_found_by_a_few_hundred_blocks() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["verify", "sim:fake-stick-512gb", "--json", "-"]);
    ran.code(10);
    let report = ran.json();
    assert_eq!(capacity(&report, "announced_bytes"), 512_000_000_000u64);
    assert_eq!(capacity(&report, "wraps_at_bytes"), 15_931_539_456u64);
    assert_eq!(capacity(&report, "holds_at_most_bytes"), 15_931_539_456u64);
    assert!(report["bytes_written"].as_u64().unwrap() < 1 << 30, "{}", report["bytes_written"]);
    let schema =
        fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    validator.validate(&report).unwrap();
    sandbox
        .run(&["verify", "sim:fake-stick-512gb"])
        .code(10)
        .says("it holds 15.9 GB, not the 512 GB it claims")
        .says("Return it");
    // A run folder gives the same result without the drive.
    let run = sandbox.runs().remove(0);
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]);
    assert_eq!(judged.json()["answers"], report["answers"]);
}

#[test]
fn what_cannot_be_read_is_counted_and_the_rest_is_verified() {
    let sandbox = Sandbox::new();
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml");
    let fault = |key: &str, value: &str| format!("{key} = {{ value = {value}, source = \"this test\" }}\n");
    let faults =
        [("unreadable", "\"300MiB..301MiB, 512MiB..520MiB\""), ("retry_ns", "1000000"), ("retries_max", "2")];
    let faults: String = faults.iter().map(|(key, value)| fault(key, value)).collect();
    let text = format!("{}\n[faults]\n{faults}", fs::read_to_string(tiny).unwrap());
    fs::write(sandbox.work().join("bad.toml"), text).unwrap();
    // More reads fail than end any other workload.
    let ran = sandbox.run(&["verify", "sim:bad.toml", "--full", "--block", "64KiB", "--json", "-"]);
    ran.code(10);
    let report = ran.json();
    assert_eq!(capacity(&report, "intact_bytes"), (1 << 30) - (9 << 20));
    let rows = report["tables"]["damage"].as_array().unwrap();
    let ranges: Vec<_> = rows
        .iter()
        .map(|row| (row["kind"].clone(), row["from_byte"].clone(), row["to_byte"].clone()))
        .collect();
    let range = |from: u64, to: u64| ("unreadable".into(), (from << 20).into(), (to << 20).into());
    assert_eq!(ranges, [range(300, 301), range(512, 520)]);
    let summary = report["summary"].as_str().unwrap();
    assert!(
        summary.contains("9 MiB in 2 places could not be read; 1,015 MiB read back as written"),
        "{summary}"
    );
    let run = sandbox.runs().remove(0);
    sandbox.run(&["report", run.to_str().unwrap()]).says("could not be read").says("536,870,912");
}

#[test]
fn a_simulated_run_repeats_itself_and_goes_on_to_the_byte() {
    let sandbox = Sandbox::new();
    let verify =
        ["verify", "sim:tiny-flash", "--span", "64MiB", "--parts", "8", "--probes", "5", "--json", "-"];
    let whole = sandbox.run(&verify);
    whole.code(0);
    let run = sandbox.runs().remove(0);
    let file = run.join("segments.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    for lines in [1, 4, 12, 20] {
        let kept: usize = text.lines().take(lines).map(|line| line.len() + 1).sum();
        fs::write(&file, &text[..kept + 50]).unwrap();
        let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]);
        resumed.code(0);
        assert_eq!(resumed.stdout(), whole.stdout(), "after {lines} workloads");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
    }
    sandbox
        .run(&["verify", "sim:tiny-flash", "--read-only", "--seed", "1"])
        .code(2)
        .says("a simulated drive starts anew");
    sandbox.run(&["verify", "sim:tiny-flash", "--read-only"]).code(2).says("--seed");
    sandbox
        .run(&["verify", "sim:tiny-flash", "--quick", "--span", "8MiB"])
        .code(2)
        .says("needs a whole drive");
    sandbox.run(&["verify", "nop:", "--span", "64MiB"]).code(2).says("keeps nothing");
}

const SMALL: [&str; 8] = ["--span", "32MiB", "--file-size", "4MiB", "--parts", "8", "--reserve", "1MiB"];

#[test]
fn a_folder_is_verified_and_left_as_it_was_and_f3_says_so_too() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let folder = ext4.path();
    let verify =
        |more: &[&str]| sandbox.run(&[&["verify", folder, "--json", "-"], &SMALL[..], more].concat());
    let report = verify(&["--cache", "16MiB", "--passes", "2"]).code(0).json();
    let standing = |report: &Value, id: &str| {
        let answers = report["answers"].as_array().unwrap();
        answers.iter().find(|answer| answer["id"] == id).unwrap()["standing"].as_str().unwrap().to_owned()
    };
    assert_eq!(standing(&report, "capacity"), "good");
    assert_eq!(standing(&report, "integrity"), "good");
    assert!(report["summary"].as_str().unwrap().contains("all 32 MiB"), "{report:#}");
    assert_eq!(report["bytes_written"], 64 << 20);
    let keys: Vec<u64> =
        (0..2).map(|_| verify(&[]).code(0).json()["plan"]["seed"].as_u64().unwrap()).collect();
    assert_ne!(keys[0], keys[1], "each run has a key of its own");
    let report = verify(&["--seed", "7"]).code(0).json();
    assert_eq!(report["plan"]["seed"], 7);
    assert_eq!(standing(&report, "integrity"), "unknown", "memory may have answered");
    assert_eq!(names(folder.as_ref()), ["lost+found"]);
    verify(&["--read-only", "--seed", "7"]).code(2).says("temporary files in a folder are deleted");
    verify(&["--quick"]).code(2).says("leave it out");
    if Path::new("/usr/bin/f3write").exists() {
        system("f3write", &["--end-at=1", folder]);
        assert!(system("f3read", &["--end-at=1", folder]).contains("Data LOST: 0.00 Byte"));
    } else {
        eprintln!("f3 is not there, so it was not asked");
    }
}

#[test]
fn a_killed_verification_of_a_folder_goes_on_without_false_alarm() {
    let sandbox = Sandbox::new();
    let folder = sandbox.work().join("folder");
    fs::create_dir(&folder).unwrap();
    let arguments =
        ["verify", folder.to_str().unwrap(), "--span", "64MiB", "--file-size", "8MiB", "--parts", "64"];
    let block = ["--block", "64k", "--depth", "1", "--cache", "1MiB"];
    let mut child = sandbox.start(&[&arguments[..], &block].concat());
    let begun = Instant::now();
    let run = loop {
        assert!(begun.elapsed() < Duration::from_secs(60), "it measures nothing");
        let lines = |run: &PathBuf| {
            fs::read_to_string(run.join("segments.jsonl")).map_or(0, |text| text.lines().count())
        };
        if let Some(run) = sandbox.runs().into_iter().find(|run| lines(run) >= 20) {
            break run;
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--yes", "--json", "-"]);
    let report = resumed.code(0).says("Resuming after").json();
    assert_eq!(capacity(&report, "read_back_bytes"), 64 << 20);
    assert_eq!(capacity(&report, "holds_at_most_bytes"), &Value::Null);
    assert_eq!(report["tables"]["parts"].as_array().unwrap().len(), 128);
    assert_eq!(names(&folder), Vec::<String>::new());
}

/// A file of 64 MiB whose upper half is its lower half: nbdkit behind FUSE.
struct Wrapped {
    _server: Fuse,
    folder: PathBuf,
}

impl Wrapped {
    fn new(sandbox: &Sandbox) -> Option<Self> {
        let there = Path::new("/usr/bin/nbdkit").exists() && Path::new("/usr/bin/nbdfuse").exists();
        if !there || !rustix::process::geteuid().is_root() || !Path::new("/dev/fuse").exists() {
            eprintln!("nbdkit, nbdfuse or FUSE is not there, so this test shows nothing");
            return None;
        }
        let (image, folder) = (sandbox.work().join("half"), sandbox.work().join("fuse"));
        fs::File::create(&image).unwrap().set_len(32 << 20).unwrap();
        fs::create_dir(&folder).unwrap();
        let image = image.display();
        let at =
            "$(( $4 % 33554432 )) iflag=skip_bytes,count_bytes oflag=seek_bytes count=$3 bs=64k status=none";
        let mut server = Command::new("nbdfuse");
        server
            .arg(&folder)
            .args(["--command", "nbdkit", "-s", "eval", "get_size=echo 67108864", "can_write=exit 0"])
            .arg(format!("pread=dd if={image} skip={at}"))
            .arg(format!("pwrite=dd of={image} conv=notrunc iflag=fullblock seek={at}"))
            .stdin(Stdio::null());
        let wrapped = Self { _server: Fuse::start(&mut server, &folder), folder };
        let begun = Instant::now();
        while !wrapped.file().exists() {
            assert!(begun.elapsed() < Duration::from_secs(20), "nbdfuse does not come up");
            std::thread::yield_now();
        }
        Some(wrapped)
    }

    fn file(&self) -> PathBuf {
        self.folder.join("nbd")
    }
}

#[test]
fn a_real_file_whose_upper_half_is_its_lower_half_is_found() {
    let sandbox = Sandbox::new();
    let Some(wrapped) = Wrapped::new(&sandbox) else { return };
    let file = wrapped.file();
    let verify =
        ["verify", file.to_str().unwrap(), "--consent", "nbd", "--parts", "4", "--depth", "2", "--json", "-"];
    let quick = sandbox.run(&[&verify[..], &["--quick", "--probes", "2"]].concat());
    let report = quick.code(10).json();
    assert_eq!(capacity(&report, "wraps_at_bytes"), 32 << 20);
    let report = sandbox.run(&[&verify[..], &["--probes", "0", "--full"]].concat()).code(10).json();
    assert_eq!(capacity(&report, "wraps_at_bytes"), 32 << 20);
    assert_eq!(capacity(&report, "holds_at_least_bytes"), 32 << 20);
    let damage = &report["tables"]["damage"];
    assert_eq!((&damage[0]["kind"], &damage[0]["written_for_byte"]), (&"wrapped".into(), &(32 << 20).into()));
}

#[test]
fn what_was_left_on_a_device_is_read_again_with_its_seed() {
    let sandbox = Sandbox::new();
    let file = sandbox.work().join("image.bin");
    fs::write(&file, vec![7; 16 << 20]).unwrap();
    let at = file.to_str().unwrap();
    let small = ["--parts", "4", "--cache", "4MiB", "--json", "-"];
    let verify = |more: &[&str]| sandbox.run(&[&["verify", at], &small[..], more].concat());
    verify(&[]).code(3).says("existing file");
    verify(&["--consent", "image.bin", "--seed", "5"]).code(0);
    let kept = fs::read(&file).unwrap();
    let report = verify(&["--read-only", "--seed", "5"]).code(0).json();
    assert_eq!(
        (&report["bytes_written"], capacity(&report, "read_back_bytes")),
        (&0.into(), &(16 << 20).into())
    );
    assert!(fs::read(&file).unwrap() == kept, "nothing was written");
    let mut flipped = kept;
    flipped[5_000_000] ^= 0x10;
    fs::write(&file, flipped).unwrap();
    let report = verify(&["--read-only", "--seed", "5"]).code(10).json();
    let damage = &report["tables"]["damage"][0];
    assert_eq!((&damage["kind"], &damage["bits"]), (&"wrong".into(), &1.into()));
    assert_eq!(damage["from_byte"], 5_000_000 / 512 * 512);
    let report = verify(&["--read-only", "--seed", "6"]).code(10).json();
    assert_eq!(report["tables"]["damage"][0]["kind"], "stale");
    assert_eq!(report["tables"]["damage"][0]["written_with_key"], 5);
}

/// A drive that reports 512 MiB and has 64 MiB.
fn fake(sandbox: &Sandbox) -> PathBuf {
    let model = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml"));
    let model = model.unwrap().replace("1073741824, source", "536870912, source");
    let faults = "[faults]\nreal_capacity_bytes = { value = 67108864, source = \"invented\" }\n";
    let file = sandbox.work().join("fake.toml");
    fs::write(&file, format!("{model}\n{faults}")).unwrap();
    file
}

/// The bytes that f3read calls correct and lost.
fn f3read(folder: &str) -> (u64, u64) {
    let output = Command::new("f3read").args(["--end-at=1", folder]).output().unwrap();
    let message = String::from_utf8_lossy(&output.stdout).into_owned();
    let sectors = |name: &str| -> u64 {
        let line = message.lines().find(|line| line.trim_start().starts_with(name)).expect(&message);
        line.split_once('(').unwrap().1.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 512
    };
    (sectors("Data OK:"), sectors("Data LOST:"))
}

#[test]
fn a_folder_on_a_fake_drive_is_counted_as_f3_counts_it() {
    if !are_there(&["f3write", "f3read"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let target = fake(&sandbox);
    // All metadata of the file system is at its beginning, so that it survives while the rest is overwritten.
    let options = "lazy_itable_init=1,nodiscard,num_backup_sb=0,packed_meta_blocks=1";
    let make = [
        "mkfs.ext4",
        "-q",
        "-F",
        "-N",
        "64",
        "-O",
        "^has_journal,sparse_super2,^resize_inode",
        "-E",
        options,
    ];
    // Only the drive answers.
    let settings = ["--direct-io=on"];
    let verified = {
        let serving = Serving::begin(&sandbox, target.to_str().unwrap(), &["--speed", "1000"]);
        let Some(mounted) = Mounted::over(&sandbox, &serving.uri, &make, &settings) else { return };
        let folder = mounted.point().to_str().unwrap();
        let small = ["--span", "160MiB", "--file-size", "16MiB", "--parts", "20", "--full", "--yes"];
        let ran = sandbox.run(&[&["verify", folder, "--json", "-"], &small[..]].concat());
        let report = ran.code(10).json();
        let count = |column| capacity(&report, column).as_u64().unwrap();
        assert_eq!(count("read_back_bytes"), 160 << 20);
        assert_eq!(count("intact_bytes") + count("damaged_bytes"), 160 << 20);
        assert_eq!(capacity(&report, "wraps_at_bytes"), 64 << 20, "{report:#}");
        let answers = report["answers"].as_array().unwrap();
        let integrity = answers.iter().find(|answer| answer["id"] == "integrity").unwrap();
        assert!(
            integrity["answer"].as_str().unwrap().contains("of the 160 MiB written read back as written"),
            "{integrity}"
        );
        count("intact_bytes")
    };
    let other = Sandbox::new();
    let serving = Serving::begin(&other, target.to_str().unwrap(), &["--speed", "1000"]);
    let Some(mounted) = Mounted::over(&other, &serving.uri, &make, &settings) else { return };
    let folder = mounted.point().to_str().unwrap();
    system("f3write", &["--end-at=1", folder]);
    let (right, lost) = f3read(folder);
    assert!(lost > 300 << 20 && right < 64 << 20, "{right} right, {lost} lost");
    // Both overwrite everything there is, and the file system's own writes take some of it.
    assert!(verified.abs_diff(right) < 12 << 20, "{verified} here, {right} by f3");
}

#[test]
fn no_more_of_a_folder_is_verified_than_was_written() {
    let sandbox = Sandbox::new();
    let Some(memory) = Tmpfs::mount(&sandbox, 128 << 10) else { return };
    for more in [&[][..], &["--passes", "2"]] {
        let of =
            ["verify", memory.0.to_str().unwrap(), "--span", "64MiB", "--reserve", "1MiB", "--json", "-"];
        let report = sandbox.run(&[&of, more].concat()).code(0).json();
        assert!(report["summary"].as_str().unwrap().starts_with("64 MiB read back"), "{}", report["summary"]);
        let answers = report["answers"].as_array().unwrap().iter();
        let integrity = answers.clone().find(|answer| answer["id"] == "integrity").unwrap();
        assert!(integrity["answer"].as_str().unwrap().starts_with("64 MiB read back"), "{integrity}");
    }
}
