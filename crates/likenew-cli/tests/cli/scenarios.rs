//! Known truths: each file in `scenarios/` is a simulated drive, a plan, and the expected answers.

use crate::messages::{matches_file, screens};
use crate::support::{CommandOutput, Sandbox};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// The truth about this drive and plan, and why.
    about: String,
    /// The exit code.
    exit: i32,
    /// A drive that is not in the catalog.
    drive: Option<OwnDrive>,
    /// A trace that the plan replays.
    trace: Option<OwnTrace>,
    /// The plan, as `likenew run` takes it.
    plan: toml::Table,
    /// The expected answers.
    expect: Vec<Expect>,
}

/// A trace in a separate file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnTrace {
    /// Its file name in the plan.
    file: String,
    /// Its content.
    text: String,
}

/// A drive of the catalog with changes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnDrive {
    /// Its file name in the plan.
    file: String,
    /// The drive of the catalog.
    like: String,
    /// Additional tables of its file.
    but: String,
}

impl OwnDrive {
    fn write_to(&self, sandbox: &Sandbox) {
        let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog");
        let like = std::fs::read_to_string(format!("{catalog}/{}.toml", self.like)).unwrap();
        std::fs::write(sandbox.work().join(&self.file), format!("{like}\n{}", self.but)).unwrap();
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Id of the answer.
    id: String,
    /// `good`, `problem`, `unknown` or `info`.
    standing: String,
    /// Words that the answer contains.
    says: Option<String>,
}

/// Tests that run in parallel, each with every fourth scenario.
const SHARES: usize = 4;

#[test]
fn the_answers_of_known_drives_come_out_of_the_first_share() {
    run_share(0);
}

#[test]
fn the_answers_of_known_drives_come_out_of_the_second_share() {
    run_share(1);
}

#[test]
fn the_answers_of_known_drives_come_out_of_the_third_share() {
    run_share(2);
}

#[test]
fn the_answers_of_known_drives_come_out_of_the_fourth_share() {
    run_share(3);
}

fn run_share(share: usize) {
    let sandbox = Sandbox::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let names = crate::support::names(folder.as_ref());
    assert!(names.len() >= 6 * SHARES, "{} scenarios", names.len());
    for name in names.iter().skip(share).step_by(SHARES) {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        run(&sandbox, name, &scenario);
    }
}

fn run(sandbox: &Sandbox, name: &str, scenario: &Scenario) {
    std::fs::write(sandbox.work().join(name), toml::to_string(&scenario.plan).unwrap()).unwrap();
    if let Some(drive) = &scenario.drive {
        drive.write_to(sandbox);
    }
    if let Some(OwnTrace { file, text }) = &scenario.trace {
        std::fs::write(sandbox.work().join(file), text).unwrap();
    }
    let json = sandbox.work().join("report.json");
    let arguments = ["run", name, "--json", "report.json"];
    let ran = CommandOutput::of(sandbox.command(&arguments).env("COLUMNS", "100"));
    let text =
        std::fs::read_to_string(&json).unwrap_or_else(|error| panic!("{name}: {error}: {}", ran.stderr()));
    std::fs::remove_file(json).unwrap();
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let answers = document["answers"].as_array().unwrap().clone();
    for Expect { id, standing, says } in &scenario.expect {
        let found = answers.iter().any(|answer| {
            let text = answer["answer"].as_str().unwrap();
            answer["id"] == id.as_str()
                && answer["standing"] == standing.as_str()
                && says.as_deref().is_none_or(|says| text.contains(says))
        });
        assert!(
            found,
            "{name} ({}): \"{id}\" is not {standing} with {says:?} in {answers:#?}",
            scenario.about
        );
    }
    ran.code(scenario.exit);
    let file = format!("scenarios/{}", name.replace(".toml", ".txt"));
    matches_file(&file, &format!("{}\n\n{}", scenario.about, screens(sandbox, name, &ran.stdout())));
}
