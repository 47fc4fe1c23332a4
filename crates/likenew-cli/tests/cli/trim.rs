//! Whether TRIM arrives: on simulated drives, and on real file systems on loop devices that pass it on, block
//! it, or drop it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::serve::mounted::{Attached, Fuse, Mount};
use crate::support::{CommandOutput, Sandbox, names};

const QUICK: [&str; 9] =
    ["--bytes", "4MiB", "--wait", "3s", "--probes", "64", "--no-worth", "--reserve", "1MiB"];

/// A file system on a loop device, mounted for as long as this lives.
struct Mounted {
    // Dropped in this order.
    point: Mount,
    device: Option<Attached>,
    server: Option<Fuse>,
}

/// The layer below a file system.
enum Below {
    /// A file, whose blocks a discard frees.
    Image,
    /// A program that accepts every discard, and does nothing (`nbdkit` behind `nbdfuse`).
    Dropping,
    /// A program whose file does not support hole punching.
    Deaf,
}

impl Mounted {
    /// `None` if file systems cannot be mounted, or a program is missing, with a message.
    fn new(sandbox: &Sandbox, kind: &str, options: &str, below: &Below) -> Option<Self> {
        let mkfs = format!("mkfs.{kind}");
        let served = !matches!(below, Below::Image);
        let needed: &[&str] =
            if served { &["losetup", &mkfs, "nbdkit", "nbdfuse"] } else { &["losetup", &mkfs] };
        if !rustix::process::geteuid().is_root() {
            eprintln!("not root: no file system can be mounted, so this test shows nothing");
            return None;
        }
        if let Some(missing) = needed.iter().find(|program| !is_there(program)) {
            eprintln!("{missing} is not installed, so this test shows nothing");
            return None;
        }
        let (image, point) = (sandbox.work().join("image"), sandbox.work().join("mnt"));
        fs::create_dir(&point).unwrap();
        fs::File::create(&image).unwrap().set_len(320 << 20).unwrap();
        let mut mounted = Self { point: Mount(point), device: None, server: None };
        let file = if served { mounted.serve(sandbox, below) } else { image };
        mounted.device = Some(Attached::to(&file)?);
        // No TRIM from mkfs, because TRIM is under test. Blocks of one page, because a punch elsewhere zeroes
        // parts of pages.
        let flags: &[&str] =
            if kind == "ext4" { &["-q", "-F", "-b", "4096", "-E", "nodiscard"] } else { &["-q", "-f", "-K"] };
        system(&mkfs, &[flags, &[mounted.device()]].concat());
        system("mount", &["-o", options, mounted.device(), mounted.path()]);
        Some(mounted)
    }

    fn serve(&mut self, sandbox: &Sandbox, below: &Below) -> PathBuf {
        let file = sandbox.work().join("drive");
        fs::write(&file, "").unwrap();
        let image = sandbox.work().join("image");
        let filter = match below {
            // The filter accepts it and passes nothing on.
            Below::Dropping => "can_trim=exit 0",
            Below::Deaf | Below::Image => "can_trim=exit 3",
        };
        let image = image.to_str().unwrap();
        let scripts = [
            format!("get_size=stat -c %s {image}"),
            format!("pread=dd iflag=skip_bytes,count_bytes if={image} skip=$4 count=$3 bs=1M status=none"),
            format!("pwrite=dd oflag=seek_bytes conv=notrunc of={image} seek=$4 bs=1M status=none"),
            "can_write=exit 0".to_owned(),
            "can_zero=exit 3".to_owned(),
            "can_flush=exit 0".to_owned(),
            "flush=exit 0".to_owned(),
            "trim=exit 0".to_owned(),
            filter.to_owned(),
        ];
        let mut server = Command::new("nbdfuse");
        server
            .arg(&file)
            .args(["--command", "nbdkit", "-s", "eval"])
            .args(scripts)
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        self.server = Some(Fuse::start(&mut server, &file));
        let begun = Instant::now();
        while fs::metadata(&file).map_or(0, |metadata| metadata.len()) == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "nbdfuse serves nothing");
            std::thread::sleep(Duration::from_millis(50));
        }
        file
    }

    fn path(&self) -> &str {
        self.point.0.to_str().unwrap()
    }

    fn device(&self) -> &str {
        &self.device.as_ref().expect("it is attached").0
    }

    fn trim(&self, sandbox: &Sandbox, more: &[&str]) -> CommandOutput {
        sandbox.run(&[&["trim", self.path(), "--json", "-"], &QUICK[..], more].concat())
    }
}

fn is_there(program: &str) -> bool {
    let folders = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"];
    folders.iter().any(|folder| PathBuf::from(folder).join(program).exists())
}

#[track_caller]
fn system(program: &str, arguments: &[&str]) {
    let output =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn answer<'a>(document: &'a Value, id: &str) -> Option<&'a Value> {
    document["answers"].as_array().unwrap().iter().find(|answer| answer["id"] == id)
}

fn standing<'a>(document: &'a Value, id: &str) -> Option<&'a str> {
    answer(document, id).map(|answer| answer["standing"].as_str().unwrap())
}

fn step<'a>(document: &'a Value, name: &str) -> &'a Value {
    let steps = document["tables"]["steps"].as_array().unwrap();
    steps.iter().find(|row| row["step"] == name).unwrap_or_else(|| panic!("no step {name} in {steps:#?}"))
}

/// Whether a step's answer or evidence contains these words.
#[track_caller]
fn says(document: &Value, name: &str, words: &str) {
    let row = step(document, name).to_string();
    assert!(row.contains(words), "no \"{words}\" in {row}");
}

#[test]
fn a_file_system_that_is_asked_to_trims_what_was_ours_and_nothing_else() {
    for kind in ["ext4", "xfs"] {
        let sandbox = Sandbox::new();
        let Some(mounted) = Mounted::new(&sandbox, kind, "rw", &Below::Image) else { return };
        let ran = mounted.trim(&sandbox, &[]);
        let document = ran.code(0).json();
        assert_eq!(standing(&document, "trim"), Some("good"), "{kind}: {document:#}");
        says(&document, "sending", "asked for this range");
        says(
            &document,
            "read_back",
            "before: 8 MiB as written; after: 4 MiB zeros; kept beside it: 4 MiB as written",
        );
        assert_eq!(step(&document, "read_back")["decisive"], true);
        says(&document, "accounting", "the file below");
        assert!(document["answers"].to_string().contains("mounted without discard"), "{document:#}");
        assert_eq!(document["bytes_written"], 8 << 20);
        let left: Vec<String> =
            names(&mounted.point.0).into_iter().filter(|name| name != "lost+found").collect();
        assert_eq!(left, Vec::<String>::new());
        // How much of the free extent around it the file system adds is up to it.
        says(&document, "sending", "accepted");
    }
}

#[test]
fn a_mount_with_discard_is_waited_for() {
    for kind in ["ext4", "xfs"] {
        let sandbox = Sandbox::new();
        let Some(mounted) = Mounted::new(&sandbox, kind, "discard", &Below::Image) else { return };
        let document = mounted.trim(&sandbox, &[]).code(0).json();
        assert_eq!(standing(&document, "trim"), Some("good"), "{kind}: {document:#}");
        says(&document, "sending", "by the file system itself");
        says(&document, "read_back", "after: 4 MiB zeros");
    }
}

#[test]
fn what_trim_is_worth_is_measured_in_a_folder_and_its_run_is_judged_again() {
    for kind in ["ext4", "xfs"] {
        let sandbox = Sandbox::new();
        let Some(mounted) = Mounted::new(&sandbox, kind, "rw", &Below::Image) else { return };
        let quick =
            ["--bytes", "1MiB", "--wait", "1s", "--reserve", "1MiB", "--span", "32MiB", "--time", "50ms"];
        let flags = [&["trim", mounted.path(), "--passes", "2", "--json", "-"], &quick[..]].concat();
        let ran = sandbox.run(&flags);
        let document = ran.code(0).json();
        assert_eq!(document["tables"]["worth_passes"].as_array().unwrap().len(), 4, "{document:#}");
        assert_eq!(document["tables"]["worth"][0]["freed_bytes"], 16 << 20);
        assert!(standing(&document, "effect").is_some());
        let run = sandbox.runs().pop().unwrap();
        let observations = fs::read_to_string(run.join("observations.jsonl")).unwrap();
        assert_eq!(observations.lines().count(), 5, "four probes and one release");
        let mut observations = observations.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let released = observations
            .find_map(|mut observation| observation.pointer_mut("/result/released").map(Value::take));
        let released = released.unwrap();
        assert_eq!(released["means"], "fitrim", "{kind}: {released}");
        // XFS frees the blocks of a deleted file later, and sends TRIM after it has answered.
        let counted = released["discard_counters"][0]["bytes"].as_u64().unwrap();
        assert!(counted >= 16 << 20, "{kind}: {released}");
        drop(mounted);
        let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]);
        assert_eq!(judged.stdout(), ran.stdout());
    }
}

#[test]
fn without_raw_reads_the_counters_have_to_do() {
    let sandbox = Sandbox::new();
    let Some(mounted) = Mounted::new(&sandbox, "ext4", "rw", &Below::Image) else { return };
    let document = mounted.trim(&sandbox, &["--no-raw"]).code(0).json();
    says(&document, "read_back", "switched off (--no-raw)");
    says(&document, "sending", "accepted");
    // For a loop device, the blocks of its file show it.
    assert_eq!(step(&document, "accounting")["answer"], "yes");
    assert_eq!(standing(&document, "trim"), Some("good"));
}

#[test]
fn what_takes_discards_and_drops_them_stays_silent() {
    let sandbox = Sandbox::new();
    let Some(mounted) = Mounted::new(&sandbox, "ext4", "rw", &Below::Dropping) else { return };
    let document = mounted.trim(&sandbox, &[]).code(0).json();
    assert_eq!(standing(&document, "trim"), Some("unknown"), "{document:#}");
    says(&document, "capability", "yes");
    says(&document, "sending", "accepted");
    says(&document, "read_back", "after the wait: 4 MiB as written");
    assert_eq!(step(&document, "read_back")["decisive"], false);
}

#[test]
fn what_cannot_punch_holes_is_found_out_by_trying() {
    let sandbox = Sandbox::new();
    let Some(mounted) = Mounted::new(&sandbox, "ext4", "rw", &Below::Deaf) else { return };
    let name = mounted.device().trim_start_matches("/dev/").to_owned();
    // The loop device learns from the first TRIM that its file does not support hole punching, and the file
    // system reports success.
    let document = mounted.trim(&sandbox, &[]).code(10).json();
    assert_eq!(standing(&document, "trim"), Some("problem"), "{document:#}");
    let trim = answer(&document, "trim").unwrap();
    assert_eq!(trim["answer"], format!("stops at {name} (loop device)"));
    assert!(trim["actions"].to_string().contains("punch holes"), "{trim:#}");
    says(&document, "capability", "queue/discard_max_bytes = 0");
}

#[test]
fn btrfs_and_memory_are_refused_with_what_to_do_instead() {
    let sandbox = Sandbox::new();
    if let Some(mounted) = Mounted::new(&sandbox, "btrfs", "rw", &Below::Image) {
        let document = mounted.trim(&sandbox, &[]).code(0).json();
        assert_eq!(standing(&document, "trim"), Some("unknown"));
        says(&document, "read_back", "make an ext4 or xfs");
    }
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else { return };
    let document = sandbox
        .run(&[&["trim", memory.path().to_str().unwrap(), "--json", "-"], &QUICK[..]].concat())
        .code(0)
        .json();
    says(&document, "read_back", "this is memory");
}

#[test]
fn a_device_is_only_inspected() {
    let sandbox = Sandbox::new();
    let Some(mounted) = Mounted::new(&sandbox, "ext4", "rw", &Below::Image) else { return };
    let document = sandbox.run(&["trim", mounted.device(), "--json", "-"]).code(0).json();
    assert_eq!(document["bytes_written"], 0);
    says(&document, "capability", "queue/discard_max_bytes");
    assert!(document["answers"].to_string().contains("give it a folder on it"));
}

const SIMULATED: [&str; 12] = [
    "trim",
    "sim:tiny-flash?data=on",
    "--bytes",
    "1MiB",
    "--span",
    "64MiB",
    "--time",
    "100ms",
    "--passes",
    "2",
    "--json",
    "-",
];

#[test]
fn a_simulated_drive_goes_on_to_the_byte_wherever_it_was_cut() {
    let sandbox = Sandbox::new();
    let whole = sandbox.run(&SIMULATED);
    let report = whole.code(0).stdout();
    let run = sandbox.runs().pop().unwrap();
    let files = ["segments.jsonl", "observations.jsonl"].map(|name| run.join(name));
    let texts = files.clone().map(|file| fs::read_to_string(file).unwrap());
    let count = |text: &str| text.lines().count();
    // Before the first step, among the probes, in the middle, and before the last probe.
    let cuts = [(0, 0), (0, 2), (3, 4), (4, count(&texts[1]))];
    for (segments, observations) in cuts {
        for ((file, text), lines) in files.iter().zip(&texts).zip([segments, observations]) {
            let kept: usize = text.lines().take(lines).map(|line| line.len() + 1).sum();
            let torn = (kept + 20).min(text.len());
            fs::write(file, &text[..torn]).unwrap();
        }
        let resumed = sandbox.run(&["resume", run.to_str().unwrap(), "--json", "-"]);
        resumed.code(0).says("Resuming after");
        assert_eq!(resumed.stdout(), report, "after {segments} workloads and {observations} probes");
        for (file, text) in files.iter().zip(&texts) {
            assert_eq!(&fs::read_to_string(file).unwrap(), text);
        }
    }
    let judged = sandbox.run(&["judge", run.to_str().unwrap(), "--json", "-"]);
    assert_eq!(judged.stdout(), report);
}

#[test]
fn a_probe_with_another_result_is_another_drive() {
    let sandbox = Sandbox::new();
    sandbox.run(&SIMULATED).code(0);
    let run = sandbox.runs().pop().unwrap();
    let segments = fs::read_to_string(run.join("segments.jsonl")).unwrap();
    fs::write(run.join("segments.jsonl"), segments.lines().next().unwrap().to_owned() + "\n").unwrap();
    let observations = fs::read_to_string(run.join("observations.jsonl")).unwrap();
    let changed = observations.replacen("\"zero_bytes\":1048576", "\"zero_bytes\":1044480", 1);
    assert_ne!(observations, changed);
    fs::write(run.join("observations.jsonl"), changed).unwrap();
    sandbox.run(&["resume", run.to_str().unwrap()]).code(3).says("did not come out as recorded");
}

#[test]
fn a_plan_is_only_printed_when_that_is_asked() {
    let sandbox = Sandbox::new();
    let ran = sandbox.run(&["trim", "sim:tiny-flash", "--no-worth", "--no-raw", "--plan"]);
    ran.code(0).says("procedure = \"trim\"").says("raw = false").says("worth = false");
    assert!(sandbox.runs().is_empty());
    sandbox.run(&["trim", "sim:tiny-flash", "--bytes", "5k"]).code(2).says("from 1MiB to 64GiB");
    sandbox.run(&["trim", "sim:tiny-flash", "--span", "2GiB"]).code(2).says("does not fit");
}
