//! Simulated drives served as network block devices, used by common programs.

mod in_memory;
pub(crate) mod mounted;
pub(crate) mod server;

use std::fs;
use std::path::Path;
use std::process::Command;

use mounted::Mounted;
use rand::{Rng as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use server::Serving;

use crate::support::Sandbox;

/// Whether these programs are installed; prints a message if one is not.
pub(crate) fn are_there(programs: &[&str]) -> bool {
    let folders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
    let is_there = |program: &&&str| folders.iter().any(|folder| Path::new(folder).join(program).exists());
    let missing = programs.iter().find(|program| !is_there(program));
    if let Some(missing) = missing {
        eprintln!("{missing} is not installed, so this test shows nothing");
    }
    missing.is_none()
}

#[track_caller]
pub(crate) fn system(program: &str, arguments: &[&str]) -> String {
    let output =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program} {arguments:?}: {out}{err}");
    out.trim().to_owned()
}

/// Incompressible bytes, the same on every call.
pub(crate) fn noise(length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut bytes);
    bytes
}

#[test]
fn nbdinfo_sees_what_the_drive_is() {
    if !are_there(&["nbdinfo"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let serving = Serving::begin(&sandbox, "tiny-flash", &["--export-name", "simulated"]);
    let output: serde_json::Value =
        serde_json::from_str(&system("nbdinfo", &["--json", &serving.uri])).unwrap();
    let export = &output["exports"][0];
    assert_eq!((&output["protocol"], &output["structured"]), (&"newstyle-fixed".into(), &true.into()));
    assert_eq!(export["export-size"], 1u64 << 30);
    assert_eq!(export["block_size_minimum"], 512);
    assert!(export["description"].as_str().unwrap().contains("simulated (sim:tiny-flash)"));
    for (key, value) in [
        ("can_trim", true),
        ("can_flush", true),
        ("can_fua", true),
        ("can_multi_conn", true),
        ("can_zero", true),
        ("can_fast_zero", true),
        ("can_df", true),
        ("can_cache", true),
        ("is_rotational", false),
        ("is_read_only", false),
    ] {
        assert_eq!(export[key], value, "{key} of {export}");
    }
    assert!(system("nbdinfo", &["--list", &serving.uri]).contains("export=\"simulated\""));
    serving.end();
    let disk = Serving::begin(&sandbox, "wd6400aaks", &["--read-only", "--listen", "0"]);
    assert!(disk.uri.starts_with("nbd://127.0.0.1:"));
    let output: serde_json::Value = serde_json::from_str(&system("nbdinfo", &["--json", &disk.uri])).unwrap();
    let export = &output["exports"][0];
    assert_eq!((&export["is_rotational"], &export["is_read_only"]), (&true.into(), &true.into()));
}

#[test]
fn what_nbdcopy_writes_is_what_it_reads_and_a_store_keeps_it() {
    if !are_there(&["nbdcopy", "nbdinfo"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let (image, back, store) =
        (sandbox.work().join("image"), sandbox.work().join("back"), sandbox.work().join("store"));
    let mut bytes = noise(20 << 20);
    bytes.resize(1 << 30, 0);
    fs::write(&image, &bytes).unwrap();
    let store_name = store.to_str().unwrap();
    let settings = ["--speed", "100", "--store", store_name];
    let serving = Serving::begin(&sandbox, "tiny-flash", &settings);
    system("nbdcopy", &["--flush", image.to_str().unwrap(), &serving.uri]);
    system("nbdcopy", &[&serving.uri, back.to_str().unwrap()]);
    assert!(fs::read(&back).unwrap() == bytes);
    let map = system("nbdinfo", &["--map", "--totals", &serving.uri]);
    assert!(map.contains("20971520") && map.contains("hole,zero"), "{map}");
    // A second server of the same store, or on the same socket, is refused.
    let other = ["sim", "serve", "tiny-flash", "--store", store_name, "--socket", "other.sock"];
    sandbox.run(&other).code(3).says("is served already");
    let socket = serving.socket.clone();
    let socket = socket.to_str().unwrap();
    sandbox.run(&["sim", "serve", "tiny-flash", "--socket", socket]).code(3).says("is served already");
    let counters = serving.end();
    assert!(counters["accounting"]["host_bytes_written"].as_u64().unwrap() >= 20 << 20);
    assert!(!Path::new(socket).exists() && fs::read(&store).unwrap() == bytes);
    // Again: the bytes are there, and the saved state knows them.
    let again = Serving::begin(&sandbox, "tiny-flash", &settings);
    system("nbdcopy", &[&again.uri, back.to_str().unwrap()]);
    assert!(fs::read(&back).unwrap() == bytes);
    again.kill();
    // After a kill: the socket is replaced, the store is used again, with a message.
    let after = Serving::begin(&sandbox, "tiny-flash", &settings);
    system("nbdcopy", &[&after.uri, back.to_str().unwrap()]);
    assert!(fs::read(&back).unwrap() == bytes);
    assert!(after.message().contains("was killed"), "{}", after.message());
    after.end();
    // A store of another drive, or another file, is not written.
    sandbox.run(&["sim", "serve", "wd6400aaks", "--store", store_name]).code(2).says("holds the data of");
    fs::write(&image, "mine").unwrap();
    sandbox.run(&["sim", "serve", "tiny-flash", "--store", "image"]).code(3).says("nothing was changed");
    assert_eq!(fs::read(&image).unwrap(), b"mine");
}

#[test]
fn fio_verifies_what_it_has_written_over_several_connections() {
    if !are_there(&["fio"]) || !system("fio", &["--enghelp"]).contains("nbd") {
        return;
    }
    let sandbox = Sandbox::new();
    let serving = Serving::begin(&sandbox, "tiny-flash?state=used", &["--speed", "50"]);
    let uri = format!("--uri={}", serving.uri);
    let jobs =
        ["--name=a", "--ioengine=nbd", &uri, "--rw=randwrite", "--bs=4k,4k", "--iodepth=32", "--numjobs=2"];
    let more = [
        "--size=16M",
        "--offset_increment=16M",
        "--verify=crc32c",
        "--verify_fatal=1",
        "--verify_state_save=0",
        "--fsync=64",
    ];
    system("fio", &[&jobs[..], &more].concat());
    let counters = serving.end();
    let stats = &counters["stats"];
    assert_eq!(stats["bytes_written"], 32u64 << 20);
    assert_eq!((&stats["failed"], &stats["refused"]), (&0.into(), &0.into()));
    assert!(stats["depth_max"].as_u64().unwrap() >= 32 && stats["flushes"].as_u64().unwrap() > 0);
    // The drive was full and stays so: random writes cost more than their own bytes.
    assert!(counters["accounting"]["write_amplification"].as_f64().unwrap() > 1.0);
    assert_eq!(counters["counters"]["bytes_written"], 32u64 << 20);
}

#[test]
fn qemu_writes_trims_and_zeroes() {
    if !are_there(&["qemu-io", "qemu-img"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let serving = Serving::begin(&sandbox, "tiny-flash", &["--speed", "100"]);
    let io = |commands: &[&str]| {
        let commands: Vec<&str> = commands.iter().flat_map(|command| ["-c", command]).collect();
        system("qemu-io", &[&["-f", "raw", "-d", "unmap"], &commands[..], &[&serving.uri]].concat())
    };
    io(&["write -P 0x5a 1M 4M", "discard 2M 1M", "write -z -u 3M 1M", "flush"]);
    io(&[
        "read -P 0x5a 1M 1M",
        "read -P 0 2M 2M",
        "read -P 0x5a 4M 1M",
        "write -f -P 7 64k 4k",
        "read -P 7 64k 4k",
    ]);
    let map: serde_json::Value =
        serde_json::from_str(&system("qemu-img", &["map", "-f", "raw", "--output=json", &serving.uri]))
            .unwrap();
    let held: u64 = map
        .as_array()
        .unwrap()
        .iter()
        .filter(|part| part["data"] == true)
        .map(|part| part["length"].as_u64().unwrap())
        .sum();
    assert_eq!(held, (2 << 20) + 4096, "{map}");
    let counters = serving.end();
    assert_eq!(counters["counters"]["bytes_discarded"], 2u64 << 20);
    assert_eq!(counters["stats"]["bytes_kept"], held);
}

#[test]
fn a_counterfeit_is_found_through_the_network_block_device() {
    if !are_there(&["qemu-io"]) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.run(&["sim", "serve", "fake-stick-512gb", "--store", "x"]).code(2).says("its faults change them");
    let serving = Serving::begin(&sandbox, "fake-stick-512gb", &["--speed", "100"]);
    // 16 GB are real; what is written beyond them overwrites the beginning.
    let (real, commands) = ("15931539456", |pattern: &str, at: &str| format!("{pattern} {at} 64k"));
    let io = |commands: &[String]| {
        let commands: Vec<&str> = commands.iter().flat_map(|command| ["-c", command]).collect();
        let output =
            Command::new("qemu-io").args(["-f", "raw"]).args(commands).arg(&serving.uri).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let honest = io(&[commands("write -P 1", "0"), commands("read -P 1", "0")]);
    assert!(!honest.contains("verification failed"), "{honest}");
    let gone = io(&[commands("write -P 2", real), commands("read -P 1", "0")]);
    assert!(gone.contains("verification failed"), "{gone}");
    assert_eq!(serving.end()["stats"].get("bytes_kept"), None);
}

#[test]
fn a_real_file_system_lives_on_it_and_its_trim_reaches_the_model() {
    if !are_there(&["fstrim", "fsck.ext4"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let serving = Serving::begin(&sandbox, "tiny-flash?state=used", &["--speed", "20"]);
    let Some(mounted) = Mounted::begin(&sandbox, &serving) else { return };
    let (device, point) = (mounted.device().to_owned(), mounted.point().to_owned());
    let bytes = noise(24 << 20);
    for name in ["kept", "deleted"] {
        fs::write(point.join(name), &bytes).unwrap();
    }
    system("sync", &[]);
    fs::remove_file(point.join("deleted")).unwrap();
    let message = system("fstrim", &["-v", point.to_str().unwrap()]);
    system("umount", &[point.to_str().unwrap()]);
    system("fsck.ext4", &["-f", "-n", &device]);
    system("mount", &[&device, point.to_str().unwrap()]);
    assert!(fs::read(point.join("kept")).unwrap() == bytes);
    drop(mounted);
    let counters = serving.end();
    let trimmed = counters["counters"]["bytes_discarded"].as_u64().unwrap();
    // Most of the file system is free, and all of that was in use for the drive.
    assert!(trimmed > 800 << 20, "{message}: {trimmed} bytes reached the model");
    assert_eq!(
        counters["stats"]["bytes_trimmed"].as_u64().unwrap()
            + counters["stats"]["bytes_zeroed"].as_u64().unwrap(),
        trimmed
    );
    assert!(counters["accounting"]["host_bytes_written"].as_u64().unwrap() >= 48 << 20);
    let kept = counters["stats"]["bytes_kept"].as_u64().unwrap();
    assert!((24 << 20..80 << 20).contains(&kept), "{kept} bytes are kept of what was written");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_made() {
    let sandbox = Sandbox::new();
    for (arguments, code, words) in [
        (&["no-such-drive"][..], 2, "unknown drive"),
        (&["tiny-flash", "--speed", "0"], 2, "0.001 to 1000"),
        (&["tiny-flash", "--listen", "here"], 2, "it takes a port"),
        (&["tiny-flash", "--store", "a", "--memory", "1G"], 2, "cannot be used with"),
        (&["tiny-flash?data=on", "--store", "a"], 2, "data=on; leave out --store"),
        (&["tiny-flash", "--store", "a?b"], 2, "give another name"),
        (&["tiny-flash", "--socket", "no/such/folder.sock"], 1, "could not listen"),
    ] {
        sandbox.run(&[&["sim", "serve"], arguments].concat()).code(code).says(words);
    }
    assert_eq!(fs::read_dir(sandbox.work()).unwrap().count(), 0);
}
