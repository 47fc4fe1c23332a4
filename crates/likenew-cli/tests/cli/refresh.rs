//! `likenew recondition --step refresh` of a whole device, and TRIM for space outside of partitions: nothing
//! of the owner is lost.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::serve::mounted::{Attached, Mount, Mounted};
use crate::serve::server::{Serving, until};
use crate::serve::{noise, system};
use crate::support::Sandbox;

const MIB: usize = 1 << 20;

/// A drive of 256 MiB whose flash loses charge like planar TLC.
fn forgetful(sandbox: &Sandbox) {
    let text = include_str!("../../../../catalog/tiny-flash.toml");
    let text = text.replace("value = 1073741824", "value = 268435456");
    let text = text.replace("blocks_per_plane = { value = 144", "blocks_per_plane = { value = 40");
    let aging = [("onset_s", 604_800), ("retries_per_decade", 96), ("retries_max", 192)]
        .map(|(key, value)| format!("{key} = {{ value = {value}, source = \"a test\" }}\n"));
    fs::write(sandbox.work().join("forgetful.toml"), format!("{text}\n[aging]\n{}", aging.concat())).unwrap();
}

#[test]
fn old_data_of_a_whole_device_is_written_again_where_it_is_also_after_a_kill() {
    a_device_keeps_its_data_through("refresh");
}

#[test]
fn all_data_of_a_whole_device_is_written_again_where_it_is_also_after_a_kill() {
    a_device_keeps_its_data_through("rewrite");
}

fn a_device_keeps_its_data_through(step: &str) {
    let sandbox = Sandbox::new();
    forgetful(&sandbox);
    let target = "sim:forgetful.toml?fill=0.6&age=400d";
    let store = sandbox.work().join("store");
    // The first serve makes the store of a drive with old data; the test then replaces its content.
    let settings = ["--store", "store"];
    Serving::begin(&sandbox, target, &settings).end();
    let mut content = noise(150 * MIB);
    content[40 * MIB..48 * MIB].fill(0);
    content.resize(256 * MIB, 0);
    fs::write(&store, &content).unwrap();
    let serving = Serving::begin(&sandbox, target, &settings);
    // Reads must come from the drive, and not from memory.
    let Some(attached) = Mounted::attach(&sandbox, &serving.uri, &["--direct-io=on"]) else { return };
    let (device, id) = (attached.device().to_owned(), sandbox.work().join("drive"));
    let id = id.to_str().unwrap();
    let asked = ["recondition", &device, "--step", step, "--idle", "1s"];
    sandbox.run(&asked).code(3).says("Nothing is lost").says("--consent");
    sandbox
        .run(&[&asked[..], &["--consent", "another"]].concat())
        .code(3)
        .says("does not match; its backing file is");
    let nowhere = ["--consent", id, "--journal", "/dev/shm/likenew-test.journal"];
    sandbox.run(&[&asked[..], &nowhere].concat()).code(3).says("is in memory");
    assert!(!Path::new("/dev/shm/likenew-test.journal").exists());
    assert!(fs::read(&store).unwrap() == content, "nothing was written so far");

    let journal = sandbox.work().join("the journal");
    let agreed = ["--consent", id, "--journal", "the journal"];
    let mut killed = sandbox.start(&[&asked[..], &agreed].concat());
    until("a journal is begun", || journal.exists() || killed.try_wait().unwrap().is_some());
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(journal.exists(), "it was killed in the middle");
    let run = sandbox.runs().pop().unwrap();
    sandbox.run(&["resume", run.to_str().unwrap()]).code(3).says("--consent");
    let ran = sandbox.run(&["resume", run.to_str().unwrap(), "--consent", id, "--json", "-"]);
    let document = ran.json();
    assert!(!journal.exists(), "{document:#}");
    let step = &document["tables"]["steps"][0];
    let number = |key: &str| step[key].as_u64().unwrap_or_else(|| panic!("{key}: {document:#}"));
    // All old data that is not zeros, except for the sentinel blocks; and once more the chunk in flight when it was
    // killed, or what a second pass found slow.
    let passes = if asked[3] == "rewrite" { 2 } else { 1 };
    assert!((100 << 20..=passes * (150 << 20)).contains(&number("bytes_written")), "{step}");
    assert!(number("skipped_bytes") >= 4 << 20, "{step}");
    let rows = document["tables"]["before_and_after"].as_array().unwrap();
    let old = rows.iter().find(|row| row["metric"] == "sequential read of old data").unwrap();
    // How much faster, and whether that holds, is not asserted: other load on the machine slows what is served.
    assert!(old["ratio"].as_f64().unwrap() > 1.0, "{rows:#?}");
    if asked[3] == "rewrite" {
        // How fast the machine is decides whether a second pass probes the same places.
        let again = rows.iter().find(|row| row["metric"] == "rewriting in place");
        assert!(again.is_none_or(|row| row["ratio"].as_f64().unwrap() > 0.0), "{rows:#?}");
        assert!(document["tables"]["passes"][0]["bytes_per_s"].as_f64().unwrap() > 0.0, "{document:#}");
    }
    drop(attached);
    let counters = serving.end();
    assert!(fs::read(&store).unwrap() == content, "not a byte is another one");
    let written = counters["accounting"]["host_bytes_written"].as_u64().unwrap();
    assert!(written >= number("bytes_written"), "{counters}");
    let audit = fs::read_to_string(sandbox.audit()).unwrap();
    let last: Value = serde_json::from_str(audit.lines().last().unwrap()).unwrap();
    assert_eq!((&last["consent"]["id"], &last["outcome"]["complete"]), (&id.into(), &true.into()), "{last}");
    assert_eq!(last["outcome"]["bytes_done"].as_u64(), Some(number("bytes")), "{last}");
}

/// Partitions known to the kernel, removed whatever happens.
struct Partitions<'a>(&'a Attached);

impl Drop for Partitions<'_> {
    fn drop(&mut self) {
        // A program that another test starts holds copies of all descriptors for a moment.
        let forget = || Command::new("partx").args(["--delete", &self.0.0]).status();
        for _ in 0..200 {
            if forget().is_ok_and(|status| status.success()) {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}

#[test]
fn what_no_partition_covers_is_given_up_below_a_folder_and_partitions_stay() {
    let sandbox = Sandbox::new();
    let image = sandbox.work().join("image");
    let mut content = noise(1200 * MIB);
    content[..MIB].fill(0);
    fs::write(&image, &content).unwrap();
    let table = sandbox.work().join("table");
    fs::write(&table, "label: dos\nstart=2048, size=1433600\nstart=1638400, size=204800\n").unwrap();
    let shell = format!("sfdisk --quiet --wipe never '{}' < '{}'", image.display(), table.display());
    if !Command::new("sh").args(["-c", &shell]).status().is_ok_and(|status| status.success()) {
        return eprintln!("no sfdisk, so this test shows nothing");
    }
    let content = fs::read(&image).unwrap();
    let Some(device) = Attached::to(&image) else { return };
    system("partx", &["--add", &device.0]);
    let _partitions = Partitions(&device);
    let first = format!("{}p1", device.0);
    system("mkfs.ext4", &["-q", "-F", "-E", "nodiscard", &first]);
    let point = sandbox.work().join("mnt");
    fs::create_dir(&point).unwrap();
    system("mount", &[&first, point.to_str().unwrap()]);
    let mount = Mount(point.clone());
    fs::write(point.join("photo"), &content[..5_000_000]).unwrap();
    let id = image.to_str().unwrap();
    let asked = [
        "recondition",
        point.to_str().unwrap(),
        "--step",
        "discard-unused",
        "--bytes",
        "128MiB",
        "--idle",
        "1s",
    ];
    sandbox.run(&asked).code(3).says("398 MiB of").says("No partition is touched").says("--consent");
    sandbox
        .run(&[&asked[..], &["--consent", "another"]].concat())
        .code(3)
        .says("does not match; its backing file is");
    sandbox.run(&["recondition", &device.0, "--step", "discard-unused"]).code(3).says("Give a folder");
    let document = sandbox.run(&[&asked[..], &["--consent", id, "--json", "-"]].concat()).json();
    let step = &document["tables"]["steps"][0];
    assert_eq!((&step["step"], &step["bytes_written"]), (&"discard-unused".into(), &0.into()), "{step}");
    assert_eq!(step["bytes"].as_u64(), Some(398 << 20), "{step}");
    assert!(fs::read(point.join("photo")).unwrap() == content[..5_000_000]);
    drop(mount);
    let after = fs::read(&image).unwrap();
    assert!(after[..512] == content[..512], "the table");
    let (second, behind) = (800 * MIB..900 * MIB, 900 * MIB..1199 * MIB);
    assert!(after[second.clone()] == content[second], "a partition that nobody uses");
    for rest in [701 * MIB..800 * MIB, behind] {
        assert!(after[rest.clone()] == vec![0; rest.len()], "the rest");
    }
    assert!(after[1199 * MIB..] == content[1199 * MIB..], "the last MiB");
}

#[test]
fn a_file_system_is_whole_after_its_device_was_rewritten_and_killed() {
    let sandbox = Sandbox::new();
    let image = sandbox.work().join("image");
    fs::File::create(&image).unwrap().set_len(192 << 20).unwrap();
    let Some(device) = Attached::to(&image) else { return };
    system("mkfs.ext4", &["-q", "-F", "-E", "nodiscard", &device.0]);
    let point = sandbox.work().join("mnt");
    fs::create_dir(&point).unwrap();
    system("mount", &[&device.0, point.to_str().unwrap()]);
    let mount = Mount(point.clone());
    for (index, part) in noise(90 * MIB).chunks(9_999_999).enumerate() {
        fs::write(point.join(format!("{index}.jpg")), part).unwrap();
    }
    drop(mount);
    let before = fs::read(&image).unwrap();
    let id = image.to_str().unwrap();
    let asked = ["recondition", &device.0, "--step", "rewrite", "--idle", "1s", "--consent", id];
    let journal = sandbox.work().join("the journal");
    let journalled = ["--journal", "the journal", "--json", "-"];
    let slowly = [&asked[..], &["--rate", "4MB/s"], &journalled[..2]].concat();
    let mut killed = sandbox.start(&slowly);
    until("a journal is begun", || journal.exists() || killed.try_wait().unwrap().is_some());
    // A part of 16 MiB takes four seconds at this rate, and its journal goes with it.
    std::thread::sleep(std::time::Duration::from_millis(500));
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(journal.exists(), "it was killed in the middle");
    let ran = sandbox.run(&[&asked[..], &journalled].concat());
    let document = ran.json();
    let step = &document["tables"]["steps"][0];
    assert_eq!(step["step"], "rewrite", "{document:#}");
    let written = step["bytes_written"].as_u64().unwrap();
    // The data, but no zeros: at least once, and at most twice with the four probes of 16 MiB that a pass repeats.
    assert!((60 << 20..=2 * ((120 + 64) << 20)).contains(&written), "{step}");
    assert!(!journal.exists(), "{document:#}");
    drop(device);
    assert!(fs::read(&image).unwrap() == before, "not a byte is another one");
    let check = Command::new("e2fsck").args(["-fn", id]).output().unwrap();
    assert!(check.status.success(), "{check:?}");
}

#[test]
fn all_files_of_a_folder_are_rewritten_in_place_and_stay_as_they_were() {
    let sandbox = Sandbox::new();
    let photos = sandbox.work().join("photos");
    fs::create_dir(&photos).unwrap();
    let bytes = noise(24 * MIB);
    for (index, part) in bytes.chunks(5_555_555).enumerate() {
        fs::write(photos.join(format!("{index}.jpg")), part).unwrap();
        fs::File::open(photos.join(format!("{index}.jpg"))).unwrap().sync_all().unwrap();
    }
    let folder = photos.to_str().unwrap();
    let small = [
        "--bytes",
        "128MiB",
        "--overwrite-max",
        "64MiB",
        "--passes",
        "1",
        "--idle",
        "1s",
        "--yes",
        "--reserve",
        "1GiB",
    ];
    let asked = [&["recondition", folder, "--step", "rewrite"], &small[..], &["--json", "-"]].concat();
    let document = sandbox.run(&asked).json();
    let steps = document["tables"]["steps"].as_array().unwrap();
    let Some(step) = steps.iter().find(|row| row["step"] == "rewrite") else {
        // Some file systems have no leases.
        return eprintln!("SKIPPED: {document:#}");
    };
    let written = step["bytes_written"].as_u64().unwrap();
    assert!((20 << 20..=24 << 20).contains(&written), "{step}");
    let of_pass =
        document["tables"]["passes"].as_array().unwrap().iter().find(|row| row["step"] == "rewrite");
    assert_eq!(of_pass.unwrap()["bytes"].as_u64(), Some(written), "{document:#}");
    let held: Vec<u8> = (0..bytes.chunks(5_555_555).count())
        .flat_map(|index| fs::read(photos.join(format!("{index}.jpg"))).unwrap())
        .collect();
    assert!(held == bytes, "files of the owner");
}
