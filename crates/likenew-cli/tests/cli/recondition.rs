//! `likenew recondition` of simulated drives, and of a folder on an aged one that the kernel has mounted.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::filesystem::Ext4;
use crate::serve::mounted::{Attached, MAKE_EXT4, Mounted};
use crate::serve::noise;
use crate::serve::server::Serving;
use crate::support::{CommandOutput, Sandbox};

const AGED: &str = "sim:tiny-flash?state=used&fill=0.95&deleted=0.4";

fn recondition(sandbox: &Sandbox, more: &[&str]) -> CommandOutput {
    sandbox.run(&[&["recondition"], more, &["--json", "-"]].concat())
}

fn summary(document: &Value) -> &str {
    document["summary"].as_str().unwrap()
}

fn answer<'a>(document: &'a Value, id: &str) -> &'a Value {
    let answers = document["answers"].as_array().unwrap();
    answers.iter().find(|answer| answer["id"] == id).unwrap_or_else(|| panic!("no {id} in {answers:#?}"))
}

/// Names and bytes of everything in a folder.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let names = crate::support::names(folder);
    names.into_iter().map(|name| (name.clone(), fs::read(folder.join(&name)).unwrap())).collect()
}

#[test]
fn each_step_is_proved_by_the_same_check_before_and_after() {
    let sandbox = Sandbox::new();
    let document = recondition(&sandbox, &[AGED]).code(0).json();
    assert!(summary(&document).contains("estored: "), "{}", summary(&document));
    assert_eq!(answer(&document, "result")["standing"], "good");
    let rows = document["tables"]["before_and_after"].as_array().unwrap();
    let of = |step: &str, metric: &str| {
        rows.iter()
            .find(|row| row["step"] == step && row["metric"] == metric)
            .unwrap_or_else(|| panic!("{step}: {metric}"))
    };
    let (trim, overwrite) = (of("trim", "sustained write"), of("overwrite", "sustained write"));
    assert_eq!(trim["after_per_s"], overwrite["before_per_s"], "one check ends a step and begins the next");
    for row in [trim, overwrite] {
        let number = |key: &str| row[key].as_f64().unwrap();
        assert!(number("ratio_low") > 1.3 && number("ratio_low") < number("ratio"), "{row}");
        assert!(
            (number("after_per_s") / number("before_per_s") / number("ratio") - 1.0).abs() < 1e-9,
            "{row}"
        );
    }
    assert!(overwrite["after_of_reference_percent"].as_f64().unwrap() > 90.0, "{overwrite}");
    let passes = document["tables"]["passes"].as_array().unwrap();
    let speeds: Vec<f64> = passes.iter().map(|row| row["bytes_per_s"].as_f64().unwrap()).collect();
    // The check before the first pass leaves the drive a few empty blocks.
    let [_, later @ .., last] = speeds.as_slice() else { panic!("{speeds:?}") };
    assert!(later.len() < 6 && later.iter().all(|speed| speed < last), "{speeds:?}");
    assert!(last > &speeds[0], "{speeds:?}");
    assert_eq!(passes[0]["pass"], 1);
    // Judged again, the result is the same.
    let run = sandbox.runs().pop().unwrap();
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]).json();
    assert_eq!((&judged["answers"], &judged["tables"]), (&document["answers"], &document["tables"]));
}

/// What a bare recondition says of an ext4 on a served drive, which nothing is known of.
fn recondition_served(target: &str, idle: &str) -> Option<Value> {
    let sandbox = Sandbox::new();
    let serving = Serving::begin(&sandbox, target, &[]);
    let mounted = Mounted::over(&sandbox, &serving.uri, &MAKE_EXT4, &["--direct-io=on"])?;
    let folder = mounted.point().to_str().unwrap();
    Some(sandbox.run(&["recondition", folder, "--idle", idle, "--yes", "--json", "-"]).json())
}

#[test]
fn a_slow_drive_that_nothing_is_known_of_is_restored_and_a_new_one_is_not_called_as_it_should_be() {
    let (used, new) = std::thread::scope(|scope| {
        let used = scope.spawn(|| recondition_served("tiny-flash?state=used", "2s"));
        let new = scope.spawn(|| recondition_served("tiny-flash", "2s"));
        (used.join().unwrap(), new.join().unwrap())
    });
    let (Some(used), Some(new)) = (used, new) else { return };
    // On a machine whose processors are busy with other things the gain is as large, and its interval may hold everything.
    let is_sure = summary(&used).starts_with("Faster: sustained writes ");
    let is_open = ["Too uncertain to call: ", "Faster now, but not clearly because of this: "]
        .iter()
        .any(|words| summary(&used).starts_with(&format!("{words}sustained writes ")));
    assert!(is_sure || is_open, "{}", summary(&used));
    let rows = used["tables"]["before_and_after"].as_array().unwrap();
    let sustained = rows.iter().find(|row| row["metric"] == "sustained write").unwrap();
    let ratio = if is_sure { "ratio_low" } else { "ratio" };
    assert!(sustained[ratio].as_f64().unwrap() > 1.5, "{sustained}");
    assert!(sustained["reference_per_s"].is_null(), "{sustained}");
    // How fast it should be is not known. What else is written depends on what the machine is busy with: `bench served` counts that.
    assert!(!summary(&new).contains("as it should be"), "{}", summary(&new));
}

/// The cache of this drive lies in free space, of which nobody has told it: writing places again shows nothing, and TRIM does.
#[test]
fn a_slow_drive_that_nothing_is_known_of_gets_trim_for_a_cache_in_free_space() {
    // It begins to erase after five seconds.
    let Some(used) = recondition_served("generated-17?state=used", "15s") else { return };
    assert_eq!(used["tables"]["steps"][0]["step"], "trim", "{}", summary(&used));
    let rows = used["tables"]["before_and_after"].as_array().unwrap();
    let sustained = rows.iter().find(|row| row["metric"] == "sustained write").unwrap();
    assert!(sustained["ratio"].as_f64().unwrap() > 1.5, "{sustained}");
}

#[test]
fn what_would_be_done_is_reported_without_doing_it() {
    let sandbox = Sandbox::new();
    let document = recondition(&sandbox, &[AGED, "--dry-run"]).code(0).json();
    assert_eq!(
        answer(&document, "plan")["answer"],
        "trim, refresh, overwrite, rewrite, discard, overwrite-all"
    );
    assert_eq!((&document["bytes_written"], document["tables"].get("passes")), (&0.into(), None));
    let step_plan = document["tables"]["step_plan"].as_array().unwrap();
    let reason = |step: &str| {
        let row = step_plan.iter().find(|row| row["step"] == step).unwrap();
        row["not_run_reason"].as_str().unwrap()
    };
    assert!(
        reason("format").contains("no such command") && reason("trim").starts_with("possible; not run"),
        "{step_plan:#?}"
    );
    let here = recondition(&sandbox, &[".", "--dry-run"]).code(0).json();
    let step_plan = here["tables"]["step_plan"].as_array().unwrap();
    assert!(step_plan.iter().filter(|row| row["data_lost"] == "everything").count() == 3, "{step_plan:#?}");
    let overwrite = step_plan.iter().find(|row| row["step"] == "overwrite").unwrap();
    assert!(overwrite["not_run_reason"].as_str().unwrap().starts_with("possible; "), "{overwrite}");
    assert!(overwrite["bytes_written_max"].as_u64().unwrap() > 0, "{overwrite}");
    assert_eq!(fs::read_dir(sandbox.work()).unwrap().count(), 0, "nothing was made");
}

#[test]
fn each_step_is_explained_without_doing_it() {
    let sandbox = Sandbox::new();
    let document = recondition(&sandbox, &[AGED, "--explain"]).code(0).json();
    assert_eq!(document["bytes_written"], 0);
    let rewrite = answer(&document, "step_rewrite");
    let evidence = rewrite["evidence"].to_string();
    for words in ["It costs one write", "Data lost: nothing", "Proof: ", "Nothing has to be undone"] {
        assert!(evidence.contains(words), "{evidence}");
    }
    let action = &rewrite["actions"][0];
    assert!(action["command"].as_str().unwrap().ends_with("--step rewrite"), "{action}");
    assert!(action["bytes_written"].as_u64().unwrap() > 0, "{action}");
    let discard = answer(&document, "step_discard");
    assert_eq!(discard["actions"][0]["loses"], "everything");
    assert!(discard["evidence"].to_string().contains("It cannot be undone."), "{discard}");
    let format = answer(&document, "step_format");
    assert_eq!(format["answer"], "a simulated drive has no such command");
    assert_eq!(format["actions"], serde_json::json!([]), "what is not possible has no command");
    for flag in ["--dry-run", "--quiet", "--step=trim"] {
        recondition(&sandbox, &[AGED, "--explain", flag]).code(2).says("--explain");
    }
}

#[test]
fn what_destroys_is_never_taken_unasked_and_needs_consent() {
    let sandbox = Sandbox::new();
    let image = sandbox.work().join("image");
    fs::write(&image, noise(2 << 20)).unwrap();
    let before = fs::read(&image).unwrap();
    recondition(&sandbox, &["image"])
        .code(3)
        .says("nothing was changed")
        .says("recondition needs a folder or a whole drive");
    recondition(&sandbox, &["image", "--step", "trim"]).code(3).says("Give the folder");
    recondition(&sandbox, &["image", "--step", "refresh"]).code(3).says("destroy its data");
    recondition(&sandbox, &["image", "--step", "rewrite"]).code(3).says("destroy its data");
    recondition(&sandbox, &[AGED, "--rate", "1kB/s"]).code(2).says("at least 1 MiB a second");
    recondition(&sandbox, &["image", "--step", "overwrite-all"]).code(3).says("--consent");
    recondition(&sandbox, &["image", "--step", "wipe"]).code(2).says("unknown step \"wipe\"");
    recondition(&sandbox, &[AGED, "--passes", "0"]).code(2).says("passes = 0");
    assert!(fs::read(&image).unwrap() == before);
    // A simulated drive loses nothing of an owner.
    let document = recondition(&sandbox, &[AGED, "--step", "discard", "--no-archive"]).json();
    assert!(summary(&document).contains("estored: "), "{document}");
    assert!(summary(&document).ends_with("Everything on it was erased."), "{document}");
}

#[test]
fn a_run_that_was_interrupted_goes_on_where_it_was() {
    let sandbox = Sandbox::new();
    let whole = recondition(&sandbox, &[AGED]).json();
    let run = sandbox.runs().pop().unwrap();
    // As if killed in the second check: the work done by then is kept, and nothing else.
    let lines = fs::read_to_string(run.join("segments.jsonl")).unwrap();
    let kept: Vec<&str> = lines.lines().take(lines.lines().count() * 5 / 8).collect();
    fs::write(run.join("segments.jsonl"), kept.join("\n") + "\n").unwrap();
    let _ = fs::remove_file(run.join("findings.json"));
    let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]).json();
    assert_eq!((&resumed["answers"], &resumed["tables"]), (&whole["answers"], &whole["tables"]));
}

#[test]
fn a_folder_on_an_aged_drive_comes_back_and_every_file_stays_as_it_was() {
    let sandbox = Sandbox::new();
    let serving = Serving::begin(&sandbox, "tiny-flash?state=used&trim=off", &["--speed", "2"]);
    let Some(mounted) = Mounted::begin(&sandbox, &serving) else { return };
    let photos = mounted.point().join("photos");
    fs::create_dir(&photos).unwrap();
    let bytes = noise(40 << 20);
    for (index, part) in bytes.chunks(3_333_333).enumerate() {
        fs::write(photos.join(format!("{index}.jpg")), part).unwrap();
    }
    let before = contents(&photos);
    // Twice as fast as the drive's own 70 MB/s.
    let promised = ["--advertised", "write=140MB/s,sustained_write=140MB/s"];
    let folder = photos.to_str().unwrap();
    let asked = [
        &[folder, "--yes", "--no-archive", "--passes", "2", "--idle", "1s", "--bytes", "512MiB"],
        &promised[..],
    ];
    let document = recondition(&sandbox, &asked.concat()).json();
    assert_eq!(answer(&document, "step_overwrite")["question"], "Overwriting free space", "{document:#}");
    let all = document["tables"]["passes"].as_array().unwrap();
    let passes: Vec<&Value> = all.iter().filter(|row| row["step"] == "overwrite").collect();
    let step_plan = document["tables"]["step_plan"].as_array().unwrap();
    assert!(step_plan[0]["not_run_reason"].as_str().unwrap().contains("blocks TRIM"), "{step_plan:#?}");
    assert!(contents(&photos) == before, "files of the owner");
    // Only the owner's files are left, and the writes have reached the drive.
    assert_eq!(contents(&photos).len(), crate::support::names(&photos).len());
    drop(mounted);
    let counters = serving.end();
    let written: u64 = passes.iter().map(|row| row["bytes"].as_u64().unwrap()).sum();
    let accounting = &counters["accounting"];
    assert!(accounting["host_bytes_written"].as_u64().unwrap() >= written, "{counters}");
    // How fast the passes were is up to what else the machine does. The drive itself programmed four pages for each
    // before, and one in the end: over all some two.
    assert!(accounting["write_amplification"].as_f64().unwrap() < 3.0, "{counters}");
}

#[test]
fn a_device_is_given_up_with_consent_alone_and_that_is_written_down() {
    let sandbox = Sandbox::new();
    let image = sandbox.work().join("image");
    let bytes = noise(16 << 20);
    fs::write(&image, &bytes).unwrap();
    fs::OpenOptions::new().write(true).open(&image).unwrap().set_len(640 << 20).unwrap();
    let Some(device) = Attached::to(&image) else { return };
    let discard = ["recondition", &device.0, "--step", "discard", "--bytes", "128MiB", "--idle", "1s"];
    sandbox.run(&discard).code(3).says("--consent");
    sandbox
        .run(&[&discard[..], &["--consent", "another"]].concat())
        .code(3)
        .says("does not match; its backing file is");
    assert!(fs::read(&image).unwrap()[..bytes.len()] == bytes);
    let id = image.to_str().unwrap();
    sandbox.run(&[&discard[..], &["--consent", id]].concat()).code(3).says("it carries unknown");
    let consented = [&discard[..], &["--consent", id, "--destroy", "unknown", "--json", "-"]].concat();
    let ran = sandbox.run(&consented);
    let document = ran.json();
    let shown = answer(&document, "step_discard")["evidence"].to_string();
    assert!(shown.contains("sampled blocks that had held data"), "what is read back: {shown}");
    drop(device);
    assert!(fs::read(&image).unwrap()[..bytes.len()].iter().all(|byte| *byte == 0), "it was given up");
    let lines = fs::read_to_string(sandbox.audit()).unwrap();
    let entries: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(entries.len(), 2, "a line before and a line after: {lines}");
    assert_eq!((&entries[0]["request"], entries[0].get("outcome")), (&"discard".into(), None));
    assert_eq!(entries[1]["outcome"]["complete"], true);
    assert_eq!(entries[1]["outcome"]["bytes_done"], 640 << 20);
    assert_eq!(entries[1]["consent"]["id"], image.to_str().unwrap());
}

#[test]
fn a_drive_that_fails_reads_is_to_be_saved_and_not_restored() {
    let sandbox = Sandbox::new();
    let tiny = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml");
    let faults = [("unreadable", "\"700MiB..701MiB\""), ("retry_ns", "100000000"), ("retries_max", "10")];
    let fault =
        |(key, value): (&str, &str)| format!("{key} = {{ value = {value}, source = \"this test\" }}\n");
    let text = format!("{}\n[faults]\n{}", fs::read_to_string(tiny).unwrap(), faults.map(fault).concat());
    fs::write(sandbox.work().join("bad.toml"), text).unwrap();
    let report = sandbox.run(&["recondition", "sim:bad.toml?state=used", "--json", "-"]).code(10).json();
    assert_eq!(answer(&report, "io_errors")["actions"][0]["id"], "back_up", "{report}");
    assert!(report["tables"]["steps"].is_null(), "{report}");
    assert!(summary(&report).contains("load a failing drive"), "{}", summary(&report));
}

#[test]
fn no_more_is_announced_than_the_files_of_the_folder() {
    let sandbox = Sandbox::new();
    let Some(ext4) = Ext4::mount(&sandbox) else { return };
    let folder = Path::new(ext4.path()).join("folder");
    fs::create_dir(&folder).unwrap();
    fs::write(Path::new(ext4.path()).join("beside"), vec![1; 16 << 20]).unwrap();
    for (name, bytes) in [("film", 8 << 20), ("note", 1000)] {
        fs::write(folder.join(name), vec![1; bytes]).unwrap();
        let of =
            ["recondition", folder.to_str().unwrap(), "--estimate", "--bytes", "128MiB", "--reserve", "1MiB"];
        sandbox.run(&of).code(0).says("rewrites up to 8 MiB of your files");
    }
}

#[test]
fn a_step_that_does_nothing_leads_to_the_one_that_can() {
    let sandbox = Sandbox::new();
    sandbox
        .run(&["recondition", AGED, "--step", "refresh"])
        .code(10)
        .says("Not restored by refresh; another step can help")
        .says("--step trim");
}
