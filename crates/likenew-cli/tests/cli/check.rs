//! `likenew check`: the first screen, the output for scripts, and leftovers.

use crate::filesystem::Tmpfs;
use crate::serve::noise;
use crate::support::{Sandbox, is_valid};

#[test]
fn a_fallen_drive_and_a_new_one_are_distinguished_in_one_sentence() {
    let sandbox = Sandbox::new();
    let fallen = sandbox.run(&["check", "sim:tiny-flash?state=used", "--json", "-"]).code(10).json();
    is_valid(&fallen);
    assert!(fallen["summary"].as_str().unwrap().starts_with("Writes are slow: "), "{}", fallen["summary"]);
    let [slow, cause] = [&fallen["answers"][0], &fallen["answers"][1]];
    assert_eq!((&slow["id"], &slow["standing"]), (&"slow".into(), &"problem".into()));
    assert_eq!((&cause["id"], &cause["standing"]), (&"cause_scattered_data".into(), &"problem".into()));
    assert!(cause["answer"].as_str().unwrap().contains("data scattered"), "{cause}");
    assert_eq!(fallen["tables"]["causes"][0]["cause"], "scattered_data");
    // The whole drive holds data, so nothing gentler than rewriting all of it is possible, which loses nothing.
    let fix = &fallen["tables"]["fixes"][0];
    assert_eq!(fix["command"], "likenew recondition 'sim:tiny-flash?state=used' --step rewrite");
    assert_eq!(cause["actions"][0]["id"], "recondition_rewrite");
    assert_eq!(cause["actions"][0]["loses"], "nothing");
    assert!(!cause["actions"].to_string().contains("folder"), "a simulated drive has none: {cause}");
    assert!(fallen["bytes_written"].as_u64().unwrap() <= 2 << 30);
    let new = sandbox.run(&["check", "sim:tiny-flash?fill=0.5", "--json", "-"]).code(0).json();
    assert_eq!(new["answers"][0]["id"], "healthy");
    assert!(new["summary"].as_str().unwrap().starts_with("As fast as "), "{}", new["summary"]);
    assert!(new["tables"]["causes"].is_null(), "{}", new["tables"]["causes"]);
}

#[test]
fn what_is_too_small_to_have_places_is_refused_with_its_size() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("note"), vec![1; 5 << 20]).unwrap();
    let ran = sandbox.run(&["check", "note"]);
    let output = ran.code(2).stderr();
    assert!(output.contains("note holds 5 MiB") && output.contains("give the folder or drive"), "{output}");
}

#[test]
fn a_folder_without_room_is_read_in_its_largest_file() {
    let sandbox = Sandbox::new();
    let full = ["check", ".", "--reserve", "1000TiB", "--no-archive", "--json", "-"];
    sandbox.run(&full).code(3).says("no space to write");
    std::fs::create_dir(sandbox.work().join("photos")).unwrap();
    for (name, mib) in [("small", 17), ("photos/large", 64)] {
        std::fs::write(sandbox.work().join(name), vec![7; mib << 20]).unwrap();
    }
    let ran = sandbox.run(&full);
    let document = ran.json();
    assert!(ran.stderr().contains("photos/large: no space to write"), "{}", ran.stderr());
    assert!(document["target"]["name"].as_str().unwrap().ends_with("photos/large"));
    assert_eq!(document["bytes_written"], 0);
    assert_eq!(document["tables"]["metrics"][0]["metric"], "sequential_read");
}

#[test]
fn several_drives_stand_side_by_side_and_the_worst_decides() {
    let sandbox = Sandbox::new();
    let targets = ["sim:tiny-flash?fill=0.5", "no-such-folder", "sim:tiny-flash?link=usb2&fill=0.5"];
    let ran = sandbox.run(&["check", targets[0], targets[1], targets[2], "--no-archive", "--json", "-"]);
    let documents = ran.code(10).json();
    assert_eq!(documents.as_array().unwrap().len(), 3);
    assert_eq!(documents[1]["tables"]["causes"][0]["cause"], "slow_usb");
    assert_eq!(documents[2]["target"]["name"], targets[1]);
    assert!(ran.stderr().contains("no-such-folder does not exist"), "{}", ran.stderr());
}

#[test]
fn it_is_compared_with_rated_speeds_that_are_given() {
    let sandbox = Sandbox::new();
    // A file is only read, and has no model.
    std::fs::write(sandbox.work().join("data"), vec![7; 64 << 20]).unwrap();
    let check = |promise: &str| {
        sandbox.run(&["check", "data", "--advertised", promise, "--no-archive", "--json", "-"])
    };
    let document = check("read=1kB/s").json();
    assert_eq!(document["bytes_written"], 0);
    let row = &document["tables"]["metrics"][0];
    let (reference, per_s) = (row["reference"].as_str(), row["reference_per_s"].as_f64());
    assert_eq!((reference, per_s), (Some("advertised"), Some(1000.0)));
    let wrong = check("read=fast");
    assert!(wrong.code(2).stderr().contains("read=550MB/s"), "{}", wrong.stderr());
}

#[test]
fn rated_speeds_that_are_given_stand_beside_a_baseline() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("data"), vec![7; 64 << 20]).unwrap();
    sandbox.run(&["check", "data"]);
    let run = sandbox.runs().pop().unwrap();
    let baseline = run.to_str().unwrap();
    let ran =
        sandbox.run(&["check", "data", "--advertised", "read=1kB/s", "--baseline", baseline, "--no-archive"]);
    assert!(ran.stdout().contains("Share of rated speed: sequential read"), "{}", ran.stdout());
}

#[test]
fn holes_are_not_the_speed_of_a_drive() {
    let sandbox = Sandbox::new();
    let data = std::fs::File::create(sandbox.work().join("data")).unwrap();
    data.set_len(64 << 20).unwrap();
    let document = sandbox.run(&["check", "data", "--no-archive", "--json", "-"]).code(0).json();
    assert!(document["summary"].as_str().unwrap().starts_with("100% of it is holes"), "{document}");
    assert!(document["tables"]["causes"].is_null(), "{document}");
}

#[test]
fn sustained_writes_go_on_until_they_are_known() {
    let sandbox = Sandbox::new();
    let target = "sim:intel-x25-m-80gb?state=used&trim=off";
    let document = sandbox.run(&["check", target, "--no-archive", "--json", "-"]).code(10).json();
    assert!(document["bytes_written"].as_u64().unwrap() <= 2 << 30);
    let metrics = document["tables"]["metrics"].as_array().unwrap();
    let row = metrics.iter().find(|row| row["metric"] == "sustained_write").unwrap();
    let [now, low, high] =
        ["measured_per_s", "low_per_s", "high_per_s"].map(|key| row[key].as_f64().unwrap());
    assert!(low >= 0.75 * now && high <= 1.25 * now, "{row}");
}

#[test]
fn a_folder_is_left_as_it_was_and_nothing_is_claimed_of_what_lies_below() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["check", ".", "--bytes", "256MiB", "--no-archive", "--json", "-"]);
    assert!(matches!(ran.status(), Some(0 | 10)), "{}", ran.stderr());
    let document = ran.json();
    is_valid(&document);
    assert!(document["bytes_written"].as_u64().unwrap() <= 256 << 20);
    assert_eq!(std::fs::read_dir(sandbox.work()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_gets_too_few_bytes_is_only_read_and_one_without_a_file_says_what_it_takes() {
    let sandbox = Sandbox::new();
    for bytes in ["0", "64MiB", "127MiB"] {
        let refused = sandbox.run(&["check", ".", "--bytes", bytes]);
        refused.code(2).says("writes 128 MiB or more, and --bytes allows");
        let refused = sandbox.run(&["recondition", ".", "--bytes", bytes]);
        refused.code(2).says("writes 128 MiB or more, and --bytes allows");
    }
    std::fs::write(sandbox.work().join("film"), noise(24 << 20)).unwrap();
    let ran = sandbox.run(&["check", ".", "--bytes", "64MiB", "--json", "-"]);
    ran.says("Only reads are measured, in the largest file there, ./film");
    let document = ran.json();
    assert_eq!(document["bytes_written"], 0);
    let metrics = document["tables"]["metrics"].as_array().unwrap();
    assert!(metrics.iter().any(|row| row["metric"] == "sequential_read"), "{metrics:?}");
    // An X-ray fills its files first.
    sandbox.run(&["xray", ".", "--bytes", "63MiB"]).code(2).says("bytes: give at least 64MiB");
    sandbox.run(&["xray", ".", "--bytes", "100MiB", "--span", "160MiB"]).code(2).says("give at least 160MiB");
    // Nor is a folder checked where the files of a check do not fit.
    let Some(small) = Tmpfs::mount(&sandbox, 100 << 10) else { return };
    let refused = sandbox.run(&["check", small.0.to_str().unwrap(), "--reserve", "60MiB"]);
    refused.code(3).says("64 MiB do not fit into");
}

#[test]
fn a_check_is_judged_again_without_the_drive() {
    let sandbox = Sandbox::new();
    let first = sandbox.run(&["check", "sim:tiny-flash?wake=5ms&fill=0.5", "--json", "-"]).code(0).json();
    assert_eq!(first["tables"]["causes"][0]["cause"], "power_saving");
    let run = sandbox.runs().pop().unwrap();
    let again = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]).code(0).json();
    assert_eq!(first, again);
}

#[test]
fn each_cause_has_a_page() {
    let sandbox = Sandbox::new();
    let all = sandbox.run(&["help"]).code(0).stdout();
    for cause in likenew_diagnosis::ALL {
        let name = cause.name;
        assert!(all.contains(name), "{name}");
        let page = sandbox.run(&["help", name]).code(0).stdout();
        assert!(page.starts_with("# ") && page.contains("**Fix:**"), "{page}");
    }
    let page = sandbox.run(&["help", "check"]).code(0).stdout();
    assert!(page.contains("# likenew check") && page.contains("--advertised"), "{page}");
    let unknown = sandbox.run(&["help", "nonsense"]);
    assert!(unknown.code(2).stderr().contains("likenew help lists"), "{}", unknown.stderr());
}
