//! Known truths: each file in `scenarios/` is a simulated drive, a plan, and the expected answers.

use std::collections::BTreeSet;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::Value;

use crate::messages::{details, matches_file, screens};
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
    let mut wrong = Vec::new();
    let mut documents = Vec::new();
    for name in names.iter().skip(share).step_by(SHARES) {
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        let scenario: Scenario = toml::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        documents.push(run(&sandbox, name, &scenario, &mut wrong));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let mut columns = COLUMNS.lock().unwrap();
    columns.shares += 1;
    documents.iter().for_each(|document| columns.add(document));
    if columns.shares == SHARES {
        columns.check();
    }
}

/// What the tables of all scenarios have, once all shares have run.
static COLUMNS: Mutex<Columns> = Mutex::new(Columns { shares: 0, known: BTreeSet::new() });

/// Columns as `procedure.table.column`.
struct Columns {
    shares: usize,
    known: BTreeSet<String>,
}

impl Columns {
    fn add(&mut self, document: &Value) {
        let procedure = document["procedure"].as_str().unwrap();
        for (table, rows) in document["tables"].as_object().unwrap() {
            let columns = rows.as_array().unwrap().iter().flat_map(|row| row.as_object().unwrap().keys());
            self.known.extend(columns.map(|column| format!("{procedure}.{table}.{column}")));
        }
    }

    /// Every column that the schema describes occurs in the document of a scenario. Those of recordings and comparisons are not
    /// made by plans.
    #[track_caller]
    fn check(&self) {
        let schema: Value =
            serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
        let mut missing = Vec::new();
        for rule in schema["allOf"].as_array().unwrap() {
            let procedure = rule["if"]["$ref"].as_str().unwrap().rsplit("of_").next().unwrap();
            let tables = rule["then"]["properties"]["tables"]["properties"].as_object().unwrap();
            for (table, form) in tables.iter().filter(|_| !["record", "compare"].contains(&procedure)) {
                let columns = form["items"]["properties"].as_object().unwrap().keys();
                let columns = columns.map(|column| format!("{procedure}.{table}.{column}"));
                missing.extend(columns.filter(|column| !self.known.contains(column)));
            }
        }
        assert!(missing.is_empty(), "no scenario has the columns {missing:?} of schema/report.schema.json");
    }
}

#[test]
fn the_schema_describes_the_tables_of_every_procedure() {
    let schema: Value = serde_json::from_str(include_str!("../../../../schema/report.schema.json")).unwrap();
    for descriptor in likenew_procedures::all::DESCRIPTORS {
        let form = format!("of_{}", descriptor.name);
        let rules = schema["allOf"].as_array().unwrap();
        let is_used = rules.iter().any(|rule| rule["if"]["$ref"] == format!("#/$defs/{form}").as_str());
        assert!(is_used && schema["$defs"][&form].is_object(), "{form}");
    }
}

/// The document of a scenario, and what is not as expected.
fn run(sandbox: &Sandbox, name: &str, scenario: &Scenario, wrong: &mut Vec<String>) -> Value {
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
    matches_file(&file, &format!("{}\n\n{}", scenario.about, screens(sandbox, name, &ran.stdout())));
    matches_file(
        &file.replace("scenarios/", "details/"),
        &format!("{}\n\n{}", scenario.about, details(sandbox)),
    );
    document
}
