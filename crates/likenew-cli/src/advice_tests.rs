//! Tests that the advice of a check works on its target: recondition allows each step, and each command can be pasted.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;
use std::{fs, io};

use likenew_core::drive::{Drive as _, TargetKind};
use likenew_core::facts::{Drive, Fact, Facts, FileSystem, Identity, Layer, LayerKind, Machine};
use likenew_core::findings::{Action, Loss};
use likenew_core::fix::{ActionKind, Feasibility, Objection};
use likenew_core::probe::ProbeResult;
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::region::Region;
use likenew_core::segment::{Recorder, Segment};
use likenew_diagnosis::{ALL, Case, Measurements, Site, actions, hints, step_kind};
use likenew_procedures::all;
use likenew_procedures::recondition::ReconditionOptions;
use likenew_procedures::site::site;
use likenew_run::runner::{Observer, run_procedure};
use likenew_sim::{Spec, catalog};

/// Programs that actions name besides `likenew`.
const TOOLS: &[&str] = &[
    "btrfs",
    "cat",
    "cryptsetup",
    "ddrescue",
    "e4defrag",
    "echo",
    "fio",
    "fwupdmgr",
    "hdparm",
    "nvme",
    "rm",
    "sdparm",
    "systemctl",
    "virt-xml",
    "xfs_fsr",
];

struct SilentObserver;

impl Observer for SilentObserver {
    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn on_end(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }
}

/// Splits a shell command into words; knows only the quotes that actions use.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_quoted) = (Vec::new(), String::new(), false);
    for letter in line.chars() {
        match letter {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(std::mem::take(&mut word)),
            _ => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

/// What is wrong with a command, if anything. Cached, because drives share advice, and each parse
/// builds the grammar of all commands.
fn fault_of(command: &str) -> Option<String> {
    static KNOWN: Mutex<BTreeMap<String, Option<String>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap();
    known.entry(command.to_owned()).or_insert_with(|| new_fault_of(command)).clone()
}

fn new_fault_of(command: &str) -> Option<String> {
    let mut words = words(command);
    if words[0] == "sudo" {
        words.remove(0);
    }
    if words[0] == "likenew" {
        return crate::commands::parse(words.iter().map(OsString::from)).err().map(|error| error.to_string());
    }
    if !TOOLS.contains(&words[0].as_str()) {
        return Some("no program that is known".into());
    }
    let invented = words.iter().find(|word| word.contains("simulated") || word.contains("/dev/DRIVE"));
    invented.map(|word| format!("{word} is no path of a machine"))
}

/// What is possible on a target, so that advice may ask for it.
#[derive(Clone, Copy)]
struct Can {
    /// Sending TRIM to the drive.
    trim: bool,
    write: bool,
    /// Asking the drive's machine for more facts.
    machine: bool,
    /// Running the check as root, because the user is not root yet.
    root: bool,
}

/// Finds hints that cannot be followed on a target, for all causes and without any measurement.
fn faults_of_hints(site: &Site<'_>, can: Can) -> Vec<String> {
    let (measurements, facts) = (Measurements::default(), Facts::default());
    let mut faults = Vec::new();
    // Once with all facts missing, and once with the known facts.
    for facts in [&facts, site.facts.unwrap_or(&facts)] {
        let site = Site { facts: Some(facts), ..*site };
        let site = if site.facts.is_some_and(|facts| facts.stack.is_empty()) {
            Site { facts: None, ..site }
        } else {
            site
        };
        let case = Case {
            measurements: &measurements,
            facts: site.facts,
            delta: None,
            references: &[],
            normal: &[],
            firmware_fault: None,
            site: Some(site),
        };
        for cause in ALL {
            for hint in hints(&case, cause) {
                let Action { id, why, command, .. } = &hint.action;
                let prefix = format!("{}: {}: hint \"{why}\": ", site.target, cause.name);
                faults
                    .extend(command.as_deref().and_then(fault_of).map(|reason| format!("{prefix}{reason}")));
                let about = |words: &[&str]| words.iter().any(|word| why.contains(word));
                let is_known = site.facts.is_some();
                for (is_possible, needs, reason) in [
                    (
                        can.trim || !is_known && can.machine,
                        id == "trim" || about(&["TRIM"]) && id != "facts",
                        "no TRIM can be sent",
                    ),
                    (can.write, id == "data" || about(&["Write ", "write as much"]), "it may not be written"),
                    (
                        can.machine,
                        ["facts", "ask_machine", "watch", "check_as_root"].contains(&id.as_str())
                            || about(&["smartmontools"]),
                        "no machine knows of it",
                    ),
                    (
                        can.root || !is_known,
                        id == "check_as_root" || about(&["root"]),
                        "whoever asks is root",
                    ),
                ] {
                    if needs && !is_possible {
                        faults.push(format!("{prefix}{reason}"));
                    }
                }
            }
        }
    }
    faults
}

/// Finds actions that cannot be taken on a target, whether a measurement calls for them or not.
fn faults(site: Site<'_>, says: &dyn Fn(&Action) -> Option<String>) -> Vec<String> {
    let measurements = Measurements::default();
    let case = Case {
        measurements: &measurements,
        facts: site.facts,
        delta: None,
        references: &[],
        normal: &[],
        firmware_fault: None,
        site: Some(site),
    };
    let mut faults = Vec::new();
    for cause in ALL {
        for action in actions(&case, cause) {
            let prefix = format!("{}: {}: {:?}: ", site.target, cause.name, action.command);
            let commands = action.command.iter().chain(&action.undo);
            faults.extend(
                commands.filter_map(|command| fault_of(command)).map(|reason| format!("{prefix}{reason}")),
            );
            faults.extend(says(&action).map(|reason| format!("{prefix}{reason}")));
            let destroys = step_kind(&action).is_some_and(ActionKind::destroys);
            if destroys && action.loses != Loss::Everything {
                faults.push(format!("{prefix}what it destroys is not said"));
            }
            if site.kind != TargetKind::Folder && action.why.contains("folder") {
                faults.push(format!("{prefix}there is no folder"));
            }
        }
    }
    faults
}

/// Finds advice for a simulated drive that recondition cannot carry out there.
fn faults_of_simulated(target: &str, file: Option<&str>) -> Vec<String> {
    let spec = Spec::parse(target).unwrap();
    let read = |_: &Path| file.map(|text| text.as_bytes().to_vec()).ok_or(io::ErrorKind::NotFound.into());
    let mut drive = spec.open(read).unwrap_or_else(|reason| panic!("{target}: {reason}"));
    let free = spec.free(drive.geometry().capacity);
    let free = (!free.is_empty()).then(|| Region::bytes(free));
    let options = ReconditionOptions { dry_run: true, free, ..ReconditionOptions::default() };
    let plan = Plan::new("recondition", Some(target.into()), 0, toml::Table::try_from(&options).unwrap());
    let recondition = all::from_plan(&plan).unwrap();
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    run_procedure(&mut drive, &*recondition, &mut evidence, &mut SilentObserver).unwrap();
    let step_plan = all::judge(&*recondition, &evidence).tables["step_plan"].clone();
    let facts = evidence.observations.iter().find_map(|observation| match &observation.result {
        ProbeResult::Facts(facts) => Some(&**facts),
        _ => None,
    });
    let feasibility = evidence.observations.iter().find_map(|observation| match &observation.result {
        ProbeResult::Feasibility(feasibility) => Some(feasibility),
        _ => None,
    });
    let why_not = |step: &str| {
        let row = step_plan.iter().find(|row| row["step"] == step).expect("it is a step of recondition");
        let reason = row["not_run_reason"].as_str().unwrap_or_default();
        (!reason.starts_with("possible;")).then(|| reason.to_owned())
    };
    let site = site(&evidence, free, facts, feasibility);
    let can = Can { trim: why_not("trim").is_none(), write: true, machine: false, root: false };
    // Whether TRIM can be sent also depends on what the drive's machine knows of it.
    let mut all_faults = faults_of_hints(&site, can);
    all_faults.extend(faults(site, &|action| {
        let command = action.command.as_deref().filter(|_| step_kind(action).is_some())?;
        let step = words(command).into_iter().skip_while(|word| word != "--step").nth(1)?;
        let row = step_plan.iter().find(|row| row["step"] == step.as_str());
        let Some(row) = row else { return Some(format!("recondition has no step {step}")) };
        let reason = row["not_run_reason"].as_str().unwrap_or_default();
        (!reason.starts_with("possible;")).then(|| format!("recondition says: {reason}"))
    }));
    all_faults
}

const STATES: &[&str] = &[
    "",
    "?state=used",
    "?fill=0.5",
    "?fill=1",
    "?fill=0.6&age=400d",
    "?state=used&fill=0.95&deleted=0.4",
    "?state=used&fill=0.95&deleted=0.4&trim=off",
];

fn of_catalog(is_wanted: impl Fn(&str) -> bool) -> Vec<String> {
    let names = catalog().iter().map(|entry| entry.name).filter(|name| is_wanted(name));
    let targets = names.flat_map(|name| STATES.iter().map(move |state| format!("sim:{name}{state}")));
    // Not every drive supports every state.
    targets.filter(|target| Spec::parse(target).is_ok_and(|spec| spec.open(no_file).is_ok())).collect()
}

fn no_file(_: &Path) -> io::Result<Vec<u8>> {
    Err(io::ErrorKind::NotFound.into())
}

/// The drives of the scenarios, each with its drive file if it has its own.
fn of_scenarios(is_wanted: impl Fn(&str) -> bool) -> Vec<(String, Option<String>)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let mut targets = Vec::new();
    for entry in fs::read_dir(format!("{root}/scenarios")).unwrap() {
        let scenario: toml::Table = fs::read_to_string(entry.unwrap().path()).unwrap().parse().unwrap();
        let text = |table: &toml::Value, key: &str| Some(table.get(key)?.as_str()?.to_owned());
        // The target of its plan, or the second word of its command.
        let command = || Some(scenario["command"].as_array()?[1].as_str()?.to_owned());
        let target = scenario.get("plan").map_or_else(command, |plan| text(plan, "target")).unwrap();
        let custom = scenario.get("drive").map(|custom| {
            let base = format!("{root}/catalog/{}.toml", text(custom, "based_on").unwrap());
            format!("{}\n{}", fs::read_to_string(base).unwrap(), text(custom, "changes").unwrap())
        });
        if is_wanted(&target) && !targets.contains(&(target.clone(), custom.clone())) {
            targets.push((target, custom));
        }
    }
    targets
}

fn check_all(cataloged: Vec<String>, scenarios: Vec<(String, Option<String>)>) {
    let from_catalog = cataloged.into_iter().map(|target| (target, None));
    let targets: Vec<_> = from_catalog.chain(scenarios).collect();
    assert!(targets.len() > 20, "{}", targets.len());
    let faults: Vec<String> =
        targets.iter().flat_map(|(target, file)| faults_of_simulated(target, file.as_deref())).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn what_is_advised_for_simulated_drives_is_possible_and_can_be_typed() {
    let quick =
        |name: &str| ["tiny-flash", "wd6400aaks", "cloud-gp2"].iter().any(|drive| name.contains(drive));
    check_all(of_catalog(quick), of_scenarios(quick));
}

#[test]
#[ignore = "makes every drive of the catalog and of the scenarios: cargo test -p likenew advised -- --ignored"]
fn what_is_advised_for_every_simulated_drive_is_possible_and_can_be_typed() {
    check_all(of_catalog(|_| true), of_scenarios(|_| true));
}

/// A folder on a SATA drive with all facts known.
fn machine(root: bool, knows_trim: bool, blocks: Option<LayerKind>) -> Facts {
    let known = |value| Fact::new(value, "test");
    let layer = |name: &str, kind, takes| Layer {
        name: name.into(),
        kind,
        takes_trim: known(takes),
        ..Layer::default()
    };
    let mut stack = vec![layer("/home", LayerKind::FileSystem, true)];
    stack.extend(
        blocks.map(|kind| Layer { label: Fact::new("home".into(), "test"), ..layer("dm-0", kind, false) }),
    );
    stack.push(layer("sda", LayerKind::Disk, knows_trim));
    Facts {
        machine: Machine { root: known(root), ..Machine::default() },
        stack,
        file_system: Some(FileSystem { point: "/home".into(), ..FileSystem::default() }),
        drives: vec![Drive {
            name: "sda".into(),
            identity: Identity { knows_trim: known(knows_trim), ..Identity::default() },
            ..Drive::default()
        }],
        ..Facts::default()
    }
}

/// One target of the tests on folders, devices and files.
#[derive(Clone, Copy, Debug)]
struct Position {
    kind: TargetKind,
    root: bool,
    knows_trim: bool,
    /// A layer that blocks TRIM.
    blocks: Option<LayerKind>,
    writable: bool,
}

impl Position {
    /// Whether a step is possible there, by what it does rather than by the product's own answer.
    fn can(&self, action: ActionKind) -> bool {
        match (self.kind, action) {
            // A file system sends TRIM down to the drive.
            (TargetKind::Folder, ActionKind::Fstrim) => self.knows_trim && self.blocks.is_none(),
            // It overwrites the folder's own free space.
            (TargetKind::Folder, ActionKind::OverwriteFree) => self.writable,
            (TargetKind::Folder | TargetKind::Device, ActionKind::Refresh | ActionKind::Rewrite) => true,
            (TargetKind::Device, ActionKind::Discard) => self.knows_trim,
            // A step on a device asks for consent first.
            (TargetKind::Device, ActionKind::Overwrite) => true,
            // The drive of these tests is not NVMe, a device's free space is unknown, and files are not
            // drives.
            _ => false,
        }
    }

    fn site<'a>(&self, target: &'a str, facts: &'a Facts, feasibility: Option<&'a Feasibility>) -> Site<'a> {
        Site {
            target,
            kind: self.kind,
            trims: self.knows_trim,
            writable: self.writable,
            free_bytes: (self.kind == TargetKind::Folder).then_some(1 << 30),
            used_bytes: 1 << 30,
            facts: Some(facts),
            feasibility,
        }
    }
}

fn places() -> Vec<(Position, &'static str)> {
    let blocks = [None, Some(LayerKind::Crypt), Some(LayerKind::Cache), Some(LayerKind::Array)];
    let mut places = Vec::new();
    for (kind, target) in [
        (TargetKind::Folder, "/home/My Files"),
        (TargetKind::Device, "/dev/sda"),
        (TargetKind::File, "disk.img"),
    ] {
        for blocks in blocks {
            for bits in 0..8 {
                let [root, knows_trim, writable] = [1, 2, 4].map(|bit| bits & bit != 0);
                places.push((Position { kind, root, knows_trim, blocks, writable }, target));
            }
        }
    }
    places
}

#[test]
fn what_is_advised_for_folders_and_devices_is_possible_and_can_be_typed() {
    for (place, target) in places() {
        let facts = machine(place.root, place.knows_trim, place.blocks);
        let site = place.site(target, &facts, None);
        let is_advised = |action: &Action| {
            let action = step_kind(action)?;
            (!place.can(action)).then(|| format!("{action:?} cannot be done there"))
        };
        let mut faults = faults(site, &is_advised);
        let trim = place.can(ActionKind::Fstrim) && place.knows_trim;
        let can = Can { trim, write: place.writable, machine: true, root: !place.root };
        faults.extend(faults_of_hints(&site, can));
        assert!(faults.is_empty(), "{place:?}\n{}", faults.join("\n"));
    }
}

#[test]
fn what_the_state_of_a_drive_forbids_is_not_advised() {
    for forbidden in ActionKind::ALL {
        let reason = "it has 75 °C; let it cool down".to_owned();
        let objections = vec![Objection { action: forbidden, forbids: true, reason }];
        let feasibility = Feasibility { objections, ..Feasibility::default() };
        for (place, target) in places() {
            let facts = machine(place.root, place.knows_trim, place.blocks);
            let site = place.site(target, &facts, Some(&feasibility));
            let is_advised = |action: &Action| {
                let action = step_kind(action)?;
                (action == forbidden || !place.can(action)).then(|| format!("{action:?} is forbidden now"))
            };
            let mut faults = faults(site, &is_advised);
            let trim = place.can(ActionKind::Fstrim) && forbidden != ActionKind::Fstrim;
            let can = Can { trim, write: place.writable, machine: true, root: !place.root };
            faults.extend(faults_of_hints(&site, can));
            assert!(faults.is_empty(), "{place:?} {forbidden:?}\n{}", faults.join("\n"));
        }
    }
}
