//! Known truths: each file in `scenarios/` is a simulated drive, a plan or a command, and the expected answers.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::messages::{matches_file, sayings};
use crate::support::{CommandOutput, Sandbox, is_valid};

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
    /// The plan, as `likenew run` takes it, or a command, which finds out by itself what the drive is compared with.
    plan: Option<toml::Table>,
    command: Option<Vec<String>>,
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
    /// The drive of the catalog that it is based on.
    based_on: String,
    /// Tables that are added to its file.
    changes: String,
}

impl OwnDrive {
    fn write_to(&self, sandbox: &Sandbox) {
        let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog");
        let base = std::fs::read_to_string(format!("{catalog}/{}.toml", self.based_on)).unwrap();
        std::fs::write(sandbox.work().join(&self.file), format!("{base}\n{}", self.changes)).unwrap();
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// Id of the answer.
    id: String,
    /// `good`, `problem`, `unknown` or `info`.
    standing: String,
    /// A part of the answer.
    contains: Option<String>,
}

/// One test for each procedure, which begins the names of its scenarios.
macro_rules! scenarios_of {
    ($($procedure:ident)*) => {
        const PROCEDURES: &[&str] = &[$(stringify!($procedure)),*];
        $(
            #[test]
            fn $procedure() {
                run_all(stringify!($procedure));
            }
        )*
    };
}

scenarios_of!(age apps bench cache check data endure facts fill model recondition replay run suits surface sweep trim verify xray);

fn folder() -> &'static str {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios")
}

#[test]
fn every_scenario_is_run() {
    let names = crate::support::names(folder().as_ref());
    assert!(names.len() > 100, "{} scenarios", names.len());
    let is_run =
        |name: &String| name.split_once('-').is_some_and(|(procedure, _)| PROCEDURES.contains(&procedure));
    assert_eq!(names.iter().filter(|name| !is_run(name)).collect::<Vec<_>>(), Vec::<&String>::new());
}

fn run_all(procedure: &str) {
    let names = crate::support::names(folder().as_ref());
    let mut wrong = Vec::new();
    let mut columns = BTreeSet::new();
    for name in names.iter().filter(|name| name.starts_with(&format!("{procedure}-"))) {
        let text = std::fs::read_to_string(format!("{}/{name}", folder())).unwrap();
        let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Of its own, so that no check is compared with another one.
        let document = document(&Sandbox::new(), name, &scenario, &mut wrong);
        assert_eq!(document["procedure"], procedure, "{name}");
        for (table, rows) in document["tables"].as_object().unwrap() {
            let keys = rows.as_array().unwrap().iter().flat_map(|row| row.as_object().unwrap().keys());
            columns.extend(keys.map(|column| format!("{table}.{column}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // Every column that the schema describes occurs in the document of a scenario.
    let schema: Value = serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
    let form = &schema["$defs"][format!("of_{procedure}")];
    let rules = schema["allOf"].as_array().unwrap();
    let of = format!("#/$defs/of_{procedure}");
    let rule = rules.iter().find(|rule| rule["if"]["$ref"] == of.as_str());
    let rule = rule.unwrap_or_else(|| panic!("the schema has no tables of {procedure}: {form}"));
    let tables = rule["then"]["properties"]["tables"]["properties"].as_object().unwrap();
    let described = tables.iter().flat_map(|(table, form)| {
        let row = form["items"]["$ref"]
            .as_str()
            .and_then(|reference| schema.pointer(reference.trim_start_matches('#')));
        let columns = row.unwrap_or(&form["items"])["properties"].as_object().unwrap().keys();
        columns.map(move |column| format!("{table}.{column}"))
    });
    let missing: Vec<String> = described.filter(|column| !columns.contains(column)).collect();
    assert!(
        missing.is_empty(),
        "no scenario of {procedure} has the columns {missing:?} of schema/report.schema.json"
    );
}

#[test]
fn the_schema_describes_the_tables_of_every_procedure() {
    let schema: Value = serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
    for row in likenew_procedures::all::PROCEDURES {
        let form = format!("of_{}", row.descriptor.name);
        let rules = schema["allOf"].as_array().unwrap();
        let is_used = rules.iter().any(|rule| rule["if"]["$ref"] == format!("#/$defs/{form}").as_str());
        assert!(is_used && schema["$defs"][&form].is_object(), "{form}");
    }
}

/// The document of a scenario, and what is not as expected.
fn document(sandbox: &Sandbox, name: &str, scenario: &Scenario, wrong: &mut Vec<String>) -> Value {
    if let Some(drive) = &scenario.drive {
        drive.write_to(sandbox);
    }
    if let Some(OwnTrace { file, text }) = &scenario.trace {
        std::fs::write(sandbox.work().join(file), text).unwrap();
    }
    let mut arguments: Vec<&str> = match (&scenario.plan, &scenario.command) {
        (Some(plan), None) => {
            std::fs::write(sandbox.work().join(name), toml::to_string(plan).unwrap()).unwrap();
            vec!["run", name]
        }
        (None, Some(command)) => command.iter().map(String::as_str).collect(),
        _ => panic!("{name}: a scenario has a plan or a command"),
    };
    let json = sandbox.work().join("report.json");
    arguments.extend(["--json", "report.json"]);
    let ran = CommandOutput::of(sandbox.command(&arguments).env("COLUMNS", "100"));
    let text =
        std::fs::read_to_string(&json).unwrap_or_else(|error| panic!("{name}: {error}: {}", ran.stderr()));
    let document: Value = serde_json::from_str(&text).unwrap();
    is_valid(&document);
    let answers = document["answers"].as_array().unwrap().clone();
    for Expect { id, standing, contains } in &scenario.expect {
        let found = answers.iter().any(|answer| {
            let text = answer["answer"].as_str().unwrap();
            answer["id"] == id.as_str()
                && answer["standing"] == standing.as_str()
                && contains.as_deref().is_none_or(|part| text.contains(part))
        });
        if !found {
            let all: Vec<String> = answers
                .iter()
                .map(|answer| format!("  {} {} {}", answer["id"], answer["standing"], answer["answer"]))
                .collect();
            let wanted = format!("{name}: \"{id}\" is not {standing} with {contains:?} in");
            wrong.push(format!("{wanted}\n{}", all.join("\n")));
        }
    }
    if ran.status() != Some(scenario.exit) {
        wrong.push(format!("{name}: exit code {:?} and not {}", ran.status(), scenario.exit));
    }
    let file = format!("scenarios/{}", name.replace(".toml", ".txt"));
    matches_file(&file, &format!("{}\n\n{}", scenario.about, sayings(sandbox, name, &ran.stdout())));
    document
}
