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
    /// The plan, as `likenew run` takes it.
    plan: toml::Table,
    /// Verdicts that must come out.
    expect: Vec<Expect>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Words of the claim.
    claim: String,
    standing: String,
}

#[test]
fn the_verdicts_that_must_come_out_come_out() {
    let sandbox = Sandbox::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
    let mut count = 0;
    for name in crate::support::names(folder.as_ref()) {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        std::fs::write(sandbox.work().join(&name), toml::to_string(&scenario.plan).unwrap()).unwrap();
        let ran = sandbox.run(&["run", &name, "--no-archive", "--json", "-"]);
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
        count += 1;
    }
    assert!(count >= 6, "{count} scenarios");
}
