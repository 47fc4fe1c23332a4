//! Outputs: every option that names a file to write, given what must never be written over.

use std::fs;
use std::os::unix::fs::symlink;

use crate::filesystem::Tmpfs;
use crate::serve::mounted::{Attached, MAKE_EXT4};
use crate::serve::{are_there, noise, system};
use crate::support::Sandbox;

/// Every command with an output, which stands for `OUT`; `RUN` and `TRACE` are there.
const COMMANDS: [&[&str]; 25] = [
    &["report", "RUN", "--json", "OUT"],
    &["report", "RUN", "--html", "OUT"],
    &["judge", "RUN", "--json", "OUT"],
    &["compare", "RUN", "RUN", "--json", "OUT"],
    &["history", "--json", "OUT"],
    &["history", "--html", "OUT"],
    &["history", "--history", "OUT"],
    &["history", "--openmetrics", "OUT"],
    &["drives", "--json", "OUT"],
    &["facts", "sim:tiny-flash", "--json", "OUT"],
    &["bench", "sim:tiny-flash", "--passes", "1", "--no-archive", "--json", "OUT"],
    &["bench", "sim:tiny-flash", "--passes", "1", "--no-archive", "--log", "OUT"],
    &["check", "sim:tiny-flash", "--no-archive", "--html", "OUT"],
    &["check", "sim:tiny-flash", "--no-archive", "--card", "OUT"],
    &["check", "sim:tiny-flash", "--changes", "--history", "OUT"],
    &["check", "sim:tiny-flash", "--openmetrics", "OUT"],
    &["check", "sim:tiny-flash", "--estimate", "--json", "OUT"],
    &["watch", "--for", "1s", "--json", "OUT"],
    &["import", "trace", "TRACE", "--to", "OUT"],
    &["export", "RUN", "OUT"],
    &["sim", "show", "tiny-flash", "--json", "OUT"],
    &["sim", "save", "tiny-flash", "OUT"],
    &["sim", "serve", "tiny-flash", "--store", "OUT"],
    &["sim", "calibrate", "RUN", "--candidates", "1", "--output", "OUT"],
    &["help", "--write", "OUT"],
];

#[test]
fn no_output_is_written_over_a_device_or_through_a_link() {
    let sandbox = Sandbox::new();
    sandbox.run(&["bench", "sim:tiny-flash", "--span", "64MiB", "--passes", "1"]).code(0);
    let run = sandbox.runs().pop().unwrap();
    let work = sandbox.work();
    fs::write(work.join("day.csv"), "time_s,op,offset,bytes\n0.0,read,0,4096\n").unwrap();
    let image = work.join("image");
    fs::write(&image, noise(8 << 20)).unwrap();
    let Some(device) = Attached::to(&image) else { return };
    if are_there(&MAKE_EXT4[..1]) {
        system(MAKE_EXT4[0], &[&MAKE_EXT4[1..], &[&device.0]].concat());
    }
    let photo = work.join("photo.jpg");
    fs::write(&photo, noise(100_000)).unwrap();
    let contents = [fs::read(&image).unwrap(), fs::read(&photo).unwrap()];
    system("mkfifo", &[work.join("pipe").to_str().unwrap()]);
    symlink(&device.0, work.join("to-device.prom")).unwrap();
    symlink(&device.0, work.join("to-device.svg")).unwrap();
    symlink("pipe", work.join("to-pipe.prom")).unwrap();
    fs::create_dir(work.join("folder.prom")).unwrap();
    symlink("photo.jpg", work.join("to-photo.prom")).unwrap();
    let places = [
        &*device.0,
        "to-device.prom",
        "to-device.svg",
        "pipe",
        "to-pipe.prom",
        "folder.prom",
        "to-photo.prom",
    ];
    let mut tried = 0;
    for command in COMMANDS {
        for place in places {
            // A folder is where this one writes.
            if command[0] == "help" && place == "folder.prom" {
                continue;
            }
            let arguments: Vec<&str> = command
                .iter()
                .map(|word| match *word {
                    "OUT" => place,
                    "RUN" => run.to_str().unwrap(),
                    "TRACE" => "day.csv",
                    word => word,
                })
                .collect();
            let ran = sandbox.run(&arguments);
            // What replaces a link leaves what it led to.
            if place != "to-photo.prom" {
                assert!(matches!(ran.status(), Some(1..=3)), "{arguments:?}: {}", ran.stderr());
                assert!(!ran.stderr().contains("panicked"), "{arguments:?}: {}", ran.stderr());
            }
            assert!(fs::read(&image).unwrap() == contents[0], "{arguments:?} wrote over the device");
            assert!(fs::read(&photo).unwrap() == contents[1], "{arguments:?} wrote through a link");
            let link = work.join("to-photo.prom");
            if !link.is_symlink() {
                fs::remove_file(&link).unwrap();
                symlink("photo.jpg", &link).unwrap();
            }
            tried += 1;
        }
    }
    println!("attack: outputs over devices, links, pipes and folders | {tried} | none of them was written");
}

#[test]
fn the_database_of_another_program_stays_as_it_was() {
    let sandbox = Sandbox::new();
    let theirs = sandbox.work().join("places.sqlite");
    let script = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); \
        c.execute('CREATE TABLE archive (name TEXT)'); c.execute('CREATE TABLE bookmarks (url TEXT)'); c.commit()";
    system("python3", &["-c", script, theirs.to_str().unwrap()]);
    let before = fs::read(&theirs).unwrap();
    let ran = sandbox.run(&["history", "--history", "places.sqlite"]);
    ran.says("it is the database of another program; name another file with --history");
    assert_eq!(fs::read(&theirs).unwrap(), before);
    assert_eq!(
        fs::read_dir(sandbox.work())
            .unwrap()
            .filter(|entry| {
                entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("places.sqlite-")
            })
            .count(),
        0,
        "nothing is left beside it"
    );
}

#[test]
fn each_table_is_a_file_for_a_spreadsheet() {
    let sandbox = Sandbox::new();
    let check = ["check", "sim:tiny-flash", "sim:tiny-flash?state=used", "--no-archive", "--csv"];
    sandbox.run(&[&check[..], &["tables"]].concat()).code(10);
    let text = fs::read_to_string(sandbox.work().join("tables/metrics.csv")).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().starts_with("target,"), "{text}");
    assert!(lines.clone().any(|line| line.starts_with("sim:tiny-flash,")), "{text}");
    assert!(lines.any(|line| line.starts_with("sim:tiny-flash?state=used,")), "{text}");
    fs::write(sandbox.work().join("file"), "").unwrap();
    sandbox.run(&[&check[..], &["file"]].concat()).code(2);
    assert_eq!(fs::read(sandbox.work().join("file")).unwrap(), b"");
}

#[test]
fn what_was_measured_is_shown_though_a_page_of_it_cannot_be_written() {
    let sandbox = Sandbox::new();
    let Some(full) = Tmpfs::mount(&sandbox, 64) else { return };
    let at = |name: &str| full.0.join(name).to_str().unwrap().to_owned();
    let (page, table) = (at("page.html"), at("tables"));
    let check = ["check", "sim:tiny-flash", "--html", &page, "--csv", &table, "--json", "check.json"];
    let ran = sandbox.run(&check);
    ran.code(1).says("could not write").says("page.html: No space left on device");
    assert!(ran.stdout().contains("As fast as new") && !ran.stdout().contains("Page:"), "{}", ran.stdout());
    assert!(sandbox.work().join("check.json").exists() && full.0.join("tables/metrics.csv").exists());
    assert!(!full.0.join("page.html").exists());
}
