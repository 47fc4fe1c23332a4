//! `likenew sim show`: simulated drives explained, and the list that names them.

use serde_json::Value;

use crate::support::Sandbox;

fn show(target: &str) -> String {
    Sandbox::new().run(&["sim", "show", target]).code(0).stdout()
}

fn json(target: &str) -> Value {
    Sandbox::new().run(&["sim", "show", target, "--json", "-"]).code(0).json()
}

/// The titles of the boxes, from the host down.
fn boxes(text: &str) -> Vec<&str> {
    let edges = text.lines().filter_map(|line| line.strip_prefix("┌─ "));
    edges.map(|edge| edge.split_once(" ─").expect("an edge goes on").0).collect()
}

fn by_name<'v>(list: &'v Value, key: &str, name: &str) -> &'v Value {
    let found = list.as_array().unwrap().iter().find(|entry| entry[key] == name);
    found.unwrap_or_else(|| panic!("no {name} in {list:#}"))
}

#[test]
fn a_flash_drive_is_drawn_from_link_to_dies() {
    let text = show("intel-x25-m-80gb?state=used");
    assert_eq!(
        boxes(&text),
        ["host link", "firmware", "write buffer", "translation layer: page map", "40 dies on 10 channels"]
    );
    for words in ["used: all of it", "7.3%", "6.8%", "tPROG", "900 µs", "limited by dies"] {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
    assert_eq!(
        text.lines().filter(|line| line.contains('■')).count(),
        4,
        "four dies on each channel:\n{text}"
    );
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_disk_is_drawn_from_link_to_platters() {
    let text = show("sim:wd-velociraptor");
    assert_eq!(boxes(&text), ["host link", "firmware", "cache", "seeks", "platters and zones"]);
    for words in [
        "10,000",
        "6.00 ms",
        "by address: ",
        "limited by platters",
        "(command + average seek + half a rotation)",
    ] {
        assert!(text.contains(words), "no {words} in\n{text}");
    }
}

#[test]
fn a_volume_and_a_fake_are_drawn_too() {
    assert_eq!(boxes(&show("cloud-gp2-100gib")), ["host link", "burst credits", "throughput limit", "store"]);
    let fake = show("fake-stick-512gb");
    assert_eq!(boxes(&fake)[0], "faults");
    assert!(fake.contains("real capacity: 14.8 GiB") && fake.contains("477 GiB in sectors"), "{fake}");
}

#[test]
fn json_has_the_same_as_data() {
    let drive = json("intel-x25-m-80gb");
    assert_eq!(drive["target"], "sim:intel-x25-m-80gb");
    assert_eq!(drive["kind"], "flash");
    let dies = by_name(&drive["layers"], "name", "40 dies on 10 channels");
    let program = by_name(&dies["facts"], "name", "tPROG");
    assert_eq!(
        (&program["value"], &program["unit"], &program["text"]),
        (&900_000.into(), &"ns".into(), &"900 µs".into())
    );
    assert_eq!(dies["picture"]["dies"]["channels"], 10);
    let write = by_name(&drive["ceilings"], "of", "sequential write");
    // 10 dies program two planes of 4096 bytes after these have crossed a bus of 40 MB/s with their 218 spare bytes.
    let ceiling = 10.0 * 2.0 * 4096.0 / (900e-6 + 2.0 * (4096.0 + 218.0) / 40e6);
    assert!((write["value"].as_f64().unwrap() / ceiling - 1.0).abs() < 1e-6, "{write}");
    assert_eq!((&write["limited_by"], &write["advertised"]), (&"dies".into(), &70_000_000.0.into()));
    let sources = drive["sources"].as_array().unwrap();
    let assumed =
        sources.iter().filter(|sourced| sourced["source"].as_str().unwrap().contains("assumed")).count();
    assert_eq!(drive["parameters_assumed"], assumed);
}

#[test]
fn ceilings_of_a_volume_depend_on_its_bucket() {
    for (state, iops) in [("new", 3000.0), ("used", 300.0)] {
        let drive = json(&format!("cloud-gp2-100gib?state={state}"));
        let read = by_name(&drive["ceilings"], "of", "random 4 KiB read");
        assert_eq!((&read["value"], &read["limited_by"]), (&iops.into(), &"credits".into()));
    }
    let drive = json("cloud-gp2-100gib");
    assert_eq!(
        by_name(&drive["times"], "name", "full credits last, at burst rate")["value"],
        2_000_000_000_000u64
    );
}

#[test]
fn what_a_drive_meets_is_drawn_and_its_causes_are_named() {
    let text = show("disk-2tb?shift=512&fragments=64KiB");
    assert_eq!(boxes(&text)[0], "situations");
    assert!(text.contains("Causes of slowness: fragmentation, misalignment"), "{text}");
    assert!(show("disk-2tb").contains("Causes of slowness: none"));
    let drive = json("tlc-nvme-1tb?link=pcie1x1&crypt=100MB/s");
    let causes: Vec<&str> =
        drive["causes"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(causes.contains(&"narrow_link") && causes.contains(&"encryption"), "{causes:?}");
}

#[test]
fn settings_that_do_not_fit_are_explained_and_all_are_listed() {
    let sandbox = Sandbox::new();
    for (target, says) in [
        ("tiny-flash?link=isa", "pcie1x1 to pcie5x4"),
        ("tiny-flash?slow_region=0.1", "is not a hard disk"),
        ("tiny-flash?warp=9", "unknown setting \"warp\""),
        ("disk-2tb?crypt=fast", "such as 300MB/s,40us"),
    ] {
        sandbox.run(&["sim", "show", target]).code(2).says(says);
    }
    let text = sandbox.run(&["help", "sim"]).code(0).stdout();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for setting in ["link=sata3g", "crypt=300MB/s,40us", "lazy=on", "facts=off", "busy=100"] {
        assert!(text.contains(setting), "{setting}: {text}");
    }
}

#[test]
fn sources_are_listed_on_demand() {
    let sandbox = Sandbox::new();
    let text = sandbox.run(&["sim", "show", "tiny-flash", "--sources"]).code(0).stdout();
    assert!(
        text.contains("nand.program_ns = 900000") && text.contains("MT29F16G08MAA data sheet, tPROG typical"),
        "{text}"
    );
    assert!(!show("tiny-flash").contains("nand.program_ns"));
}

#[test]
fn every_drive_that_is_listed_can_be_shown() {
    let sandbox = Sandbox::new();
    let list = sandbox.run(&["drives", "--json", "-"]).code(0).json();
    for drive in list["simulated"].as_array().unwrap() {
        let target = drive["target"].as_str().unwrap();
        let shown = sandbox.run(&["sim", "show", target, "--json", "-"]).code(0).json();
        assert_eq!(shown["capacity_bytes"], drive["capacity_bytes"], "{target}");
        assert_eq!(shown["kind"], drive["kind"], "{target}");
    }
}

#[test]
fn a_file_is_shown_like_a_drive_of_the_catalog() {
    let sandbox = Sandbox::new();
    let text = include_str!("../../../../catalog/tiny-flash.toml")
        .replace("channels = { value = 4,", "channels = { value = 2,");
    let text = text.replace("blocks_per_plane = { value = 144", "blocks_per_plane = { value = 288");
    std::fs::write(sandbox.work().join("mine.toml"), text).unwrap();
    sandbox.run(&["sim", "show", "mine.toml"]).code(0).says("8 dies on 2 channels");
    sandbox.run(&["sim", "show", "sim:./mine.toml?state=used"]).code(0).says("sim:./mine.toml?state=used");
}

#[test]
fn what_cannot_be_shown_is_explained() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("broken.toml"), "kind = \"tape\"").unwrap();
    for (target, words) in [
        ("tiny-flsh", "did you mean \"tiny-flash\""),
        ("sim:", "unknown drive"),
        ("tiny-flash?state=old", "state=used"),
        ("/dev/null", "is not a simulated drive"),
        ("missing.toml", "could not read the simulated drive missing.toml"),
        ("broken.toml", "broken.toml:1: kind is \"tape\""),
    ] {
        sandbox.run(&["sim", "show", target]).code(2).says(words);
    }
    sandbox.run(&["sim"]).code(2).says("show");
    sandbox.run(&["sim", "show"]).code(2).says("TARGET");
}

#[test]
fn drives_are_listed_by_kind() {
    let text = Sandbox::new().run(&["drives"]).code(0).stdout();
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("no {words} in\n{text}"));
    let order =
        ["Flash", "sim:tiny-flash", "Hard disks", "sim:wd6400aaks", "Cloud volumes", "sim:cloud-gp2-100gib"];
    assert!(order.map(at).is_sorted(), "{text}");
}

#[test]
fn a_saved_drive_is_opened_again() {
    let sandbox = Sandbox::new();
    let saved = sandbox.run(&["sim", "save", "tiny-flash?state=used", "tired.snapshot"]).code(0).stdout();
    assert!(
        saved.contains("sim:tiny-flash?state=used is saved") && saved.contains("sim:tired.snapshot"),
        "{saved}"
    );
    let shown = sandbox.run(&["sim", "show", "tired.snapshot"]).code(0).stdout();
    assert!(shown.contains("used: all of it written once"), "{shown}");
    let bench = ["bench", "sim:tired.snapshot", "--profile", "real", "--span", "16MiB", "--json", "-"];
    let document = sandbox.run(&bench).code(0).json();
    let facts = document["target"]["facts"].to_string();
    assert!(facts.contains("sim:tiny-flash?state=used"), "{facts}");
}

#[test]
fn saving_overwrites_nothing_and_says_what_is_wrong() {
    let sandbox = Sandbox::new();
    let wrong = sandbox.run(&["sim", "save", "tiny-flash", "drive.bin"]).code(2).stderr();
    assert!(wrong.contains("call it drive.snapshot"), "{wrong}");
    sandbox.run(&["sim", "save", "tiny-flash", "a.snapshot"]).code(0);
    let again = sandbox.run(&["sim", "save", "tiny-flash", "a.snapshot"]).code(3).stderr();
    assert!(again.contains("could not save to a.snapshot"), "{again}");
    let missing = sandbox.run(&["sim", "save", "tiny-flsh", "b.snapshot"]).code(2).stderr();
    assert!(missing.contains("did you mean \"tiny-flash\""), "{missing}");
    let broken = sandbox.run(&["bench", "sim:none.snapshot"]).code(2).stderr();
    assert!(broken.contains("none.snapshot"), "{broken}");
}
