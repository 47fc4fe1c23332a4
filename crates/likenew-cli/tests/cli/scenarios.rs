//! Known truths: each file in `scenarios/` is a simulated drive, a plan, and the verdict that must come out.

use crate::support::Sandbox;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Scenario {
    /// What is true of this drive and this plan, and why.
    about: String,
    /// The exit code.
    exit: i32,
    /// A drive that is not in the catalogue.
    drive: Option<OwnDrive>,
    /// A recording that the plan replays.
    trace: Option<OwnTrace>,
    /// The plan, as `likenew run` takes it.
    plan: toml::Table,
    /// Verdicts that must come out.
    expect: Vec<Expect>,
}

/// A recording in a file of its own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnTrace {
    /// The name of its file, as the plan has it.
    file: String,
    /// What is in it.
    text: String,
}

/// A drive of the catalogue and what is different about this one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnDrive {
    /// The name of its file, as the plan has it.
    file: String,
    /// The drive of the catalogue.
    like: String,
    /// Tables that its file has besides.
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
    /// Words of the claim.
    claim: String,
    standing: String,
}

/// Tests that run side by side, each with every fourth scenario.
const SHARES: usize = 4;

#[test]
fn the_verdicts_that_must_come_out_come_out_of_the_first_share() {
    run_share(0);
}

#[test]
fn the_verdicts_that_must_come_out_come_out_of_the_second_share() {
    run_share(1);
}

#[test]
fn the_verdicts_that_must_come_out_come_out_of_the_third_share() {
    run_share(2);
}

#[test]
fn the_verdicts_that_must_come_out_come_out_of_the_fourth_share() {
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
    let ran = sandbox.run(&["run", name, "--no-archive", "--json", "-"]);
    let verdicts = ran.json()["verdicts"].as_array().unwrap().clone();
    for Expect { claim, standing } in &scenario.expect {
        let found = verdicts.iter().any(|verdict| {
            verdict["claim"].as_str().unwrap().contains(claim) && verdict["standing"] == standing.as_str()
        });
        assert!(
            found,
            "{name} ({}): \"{claim}\" does not stand as {standing} in {verdicts:#?}",
            scenario.about
        );
    }
    ran.code(scenario.exit);
}
