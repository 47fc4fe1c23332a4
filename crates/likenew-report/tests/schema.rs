//! The published schema, the published examples and the code agree.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use jsonschema::Validator;
use likenew_core::findings::{Action, Answer, Lead, Loss, Overview, OverviewTable};
use likenew_core::units::Nanos;
use likenew_report::document::Document;
use serde_json::{Value, json};

const EXAMPLES: [(&str, &str); 15] = [
    ("age-used", include_str!("../../../schema/examples/age-used.json")),
    ("bench-new", include_str!("../../../schema/examples/bench-new.json")),
    ("bench-used", include_str!("../../../schema/examples/bench-used.json")),
    ("cache-new", include_str!("../../../schema/examples/cache-new.json")),
    ("check-slow", include_str!("../../../schema/examples/check-slow.json")),
    ("compare-benches", include_str!("../../../schema/examples/compare-benches.json")),
    ("endure-knees", include_str!("../../../schema/examples/endure-knees.json")),
    ("fill-used", include_str!("../../../schema/examples/fill-used.json")),
    ("recondition-restored", include_str!("../../../schema/examples/recondition-restored.json")),
    ("suits-etcd", include_str!("../../../schema/examples/suits-etcd.json")),
    ("surface-unreadable", include_str!("../../../schema/examples/surface-unreadable.json")),
    ("sweep-new", include_str!("../../../schema/examples/sweep-new.json")),
    ("sweep-used", include_str!("../../../schema/examples/sweep-used.json")),
    ("trim-works", include_str!("../../../schema/examples/trim-works.json")),
    ("verify-new", include_str!("../../../schema/examples/verify-new.json")),
];

fn validator() -> Validator {
    let schema: Value = serde_json::from_str(include_str!("../../../schema/report.schema.json")).unwrap();
    jsonschema::draft202012::meta::validate(&schema).expect("the schema is a schema");
    jsonschema::draft202012::new(&schema).unwrap()
}

fn example(name: &str) -> Document {
    let (_, text) = EXAMPLES.iter().find(|(known, _)| *known == name).unwrap();
    Document::from_json(text).unwrap()
}

fn value(document: &Document) -> Value {
    serde_json::from_str(&document.to_json().unwrap()).unwrap()
}

#[test]
fn the_examples_are_valid_and_round_trip() {
    let validator = validator();
    for (name, text) in EXAMPLES {
        let value: Value = serde_json::from_str(text).unwrap();
        let errors: Vec<String> = validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        let again: Value = serde_json::from_str(&example(name).to_json().unwrap()).unwrap();
        assert_eq!(again.to_string(), value.to_string(), "{name}");
    }
}

#[test]
fn every_part_that_may_be_absent_or_empty_is_valid_both_ways() {
    let mut document = example("bench-new");
    document.target.accounting = None;
    document.target.model = None;
    document.plan.target = None;
    document.answers.clear();
    document.overview = Overview::default();
    document.tables.clear();
    document.series.clear();
    document.instrument.calibration = serde_json::from_value(json!({
        "timer_step_ns": 20, "nop_iops": 5e6, "overhead_ns_per_io": 180.5,
        "random_data_bytes_per_s": 9e9, "ratio_data_bytes_per_s": 8e9
    }))
    .unwrap();
    assert!(validator().is_valid(&value(&document)));
}

#[test]
fn everything_that_an_answer_can_have_is_valid() {
    let mut document = example("bench-new");
    let action = Action::new("recondition", "Rewrite all data").command("likenew recondition /dev/sdb");
    let whole = action.clone().undo("likenew none").time(Nanos::from_secs(90)).bytes_written(1 << 30);
    document.answers = vec![
        Answer::good("a", "A", "1"),
        Answer::problem("b", "B", "2").action(action).action(whole.loses(Loss::Everything)),
        Answer::unknown("c_2", "C", "3")
            .with_evidence("Seen.")
            .caveat("Once.")
            .estimate(1.0, 0.5, 2.0, "bytes/s"),
        Answer::info("d", "D", "4").action(Action::new("cool", "Give it air").loses(Loss::DeletedFiles)),
    ];
    let mut table = OverviewTable::new(["", "now"]);
    table.push(["read", "1 MB/s"]);
    table.push_with_share(["write", "2 MB/s"], Some(1.4));
    document.overview = Overview {
        lead: Lead::Table,
        answers: vec!["a".into()],
        table: Some(table),
        series: Some("bandwidth".into()),
    };
    let value = value(&document);
    let errors: Vec<String> = validator().iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(Document::from_json(&document.to_json().unwrap()).unwrap(), document);
}

/// Properties of a schema that neither have a description nor refer to one that has.
fn undescribed(schema: &Value, place: &str, found: &mut Vec<String>) {
    let Value::Object(object) = schema else { return };
    for (name, property) in object.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if property.get("description").is_none() && property.get("$ref").is_none() {
            found.push(format!("{place}.{name}"));
        }
        undescribed(property, &format!("{place}.{name}"), found);
    }
    for key in ["items", "then"] {
        object.get(key).into_iter().for_each(|inner| undescribed(inner, &format!("{place}.{key}"), found));
    }
}

#[test]
fn every_key_is_described() {
    let schema: Value = serde_json::from_str(include_str!("../../../schema/report.schema.json")).unwrap();
    let mut found = Vec::new();
    undescribed(&schema, "document", &mut found);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        if !name.starts_with("of_") {
            assert!(
                definition.get("description").is_some()
                    || name == "line"
                    || name == "axis"
                    || name == "series",
                "{name} is described"
            );
            undescribed(definition, name, &mut found);
        }
    }
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn broken_documents_are_not_valid() {
    let validator = validator();
    let case = |name: &str, pointer: &str, broken: Option<Value>| {
        let mut value = value(&example(name));
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = value.pointer_mut(parent).unwrap_or_else(|| panic!("{name} has no {parent}"));
        match (parent, broken.clone()) {
            (Value::Object(object), None) => assert!(object.remove(key).is_some(), "{name} has no {pointer}"),
            (Value::Object(object), Some(value)) => drop(object.insert(key.into(), value)),
            (Value::Array(array), Some(value)) => array[key.parse::<usize>().unwrap()] = value,
            (other, _) => panic!("{pointer} cannot be changed in {other}"),
        }
        assert!(!validator.is_valid(&value), "{name}: {pointer} = {broken:?} passed");
    };
    for key in [
        "schema",
        "procedure",
        "target",
        "plan",
        "summary",
        "answers",
        "overview",
        "tables",
        "series",
        "bytes_written",
        "elapsed_ns",
        "instrument",
    ] {
        case("bench-new", &format!("/{key}"), None);
    }
    for key in [
        "test",
        "op",
        "bytes_per_s",
        "iops",
        "latency_ns_mean",
        "latency_ns_p50",
        "latency_ns_p99",
        "latency_ns_max",
    ] {
        case("bench-new", &format!("/tables/results/7/{key}"), None);
    }
    for key in ["file", "bytes_per_s", "stalls"] {
        case("fill-used", &format!("/tables/files/9/{key}"), None);
    }
    for key in ["pattern", "op", "block_bytes", "depth", "data", "bytes_per_s", "iops", "latency_ns_mean"] {
        case("sweep-new", &format!("/tables/matrix/3/{key}"), None);
    }
    for key in ["test", "op", "data", "at_bytes", "before_bytes_per_s", "after_bytes_per_s"] {
        case("endure-knees", &format!("/tables/knees/0/{key}"), None);
    }
    for key in ["test", "op", "data", "peak_bytes_per_s", "steady_bytes_per_s"] {
        case("endure-knees", &format!("/tables/levels/1/{key}"), None);
    }
    for key in ["test", "unit", "new", "used", "drop_percent"] {
        case("age-used", &format!("/tables/new_vs_used/4/{key}"), None);
    }
    for key in ["step", "question", "answer", "evidence", "decisive"] {
        case("trim-works", &format!("/tables/steps/0/{key}"), None);
    }
    for key in ["test", "without_bytes_per_s", "with_bytes_per_s", "ratio", "ratio_low", "freed_bytes"] {
        case("trim-works", &format!("/tables/worth/0/{key}"), None);
    }
    for key in ["cause", "probability_percent", "kind", "explains"] {
        case("check-slow", &format!("/tables/causes/0/{key}"), None);
    }
    for key in ["cause", "evidence", "sentence", "speaks", "times_as_likely"] {
        case("check-slow", &format!("/tables/evidence/0/{key}"), None);
    }
    for key in ["cause", "description", "command", "loses"] {
        case("check-slow", &format!("/tables/fixes/0/{key}"), None);
    }
    for key in ["step", "pass", "bytes_per_s"] {
        case("recondition-restored", &format!("/tables/passes/0/{key}"), None);
    }
    case("sweep-new", "/series/speed_random_write/x/scale", Some(json!("linear")));
    case("sweep-new", "/series/speed_random_write/lines/0/band/0", Some(json!([512.0, 1.0])));
    case("sweep-new", "/series/heat_random_write/rows", Some(json!("")));
    for key in ["id", "question", "answer", "standing", "estimate", "evidence", "caveats", "actions"] {
        case("bench-new", &format!("/answers/0/{key}"), None);
    }
    for key in ["id", "why", "loses"] {
        case("check-slow", &format!("/answers/1/actions/0/{key}"), None);
    }
    case("check-slow", "/answers/1/actions/0/id", Some(json!("Recondition it")));
    case("check-slow", "/answers/1/actions/0/time_s", Some(json!(-1)));
    case("check-slow", "/answers/1/actions/0/loses", Some(json!("some")));
    case("bench-used", "/answers/0/id", Some(json!("Write speed")));
    case("bench-used", "/overview/lead", None);
    case("bench-used", "/overview/table/headings", None);
    case("bench-used", "/overview/table/rows/0/cells", Some(json!([1])));
    case("check-slow", "/overview/table/rows/0/share", Some(json!("26%")));
    case("bench-used", "/summary", Some(json!("")));
    case("bench-new", "/schema", Some(json!(1)));
    case("bench-new", "/more", Some(json!(1)));
    case("bench-new", "/bytes_written", Some(json!(-1)));
    case("bench-new", "/elapsed_ns", Some(json!(1.5)));
    case("bench-new", "/tables/results/0/bytes_per_s", Some(json!("fast")));
    case("bench-new", "/tables/passes", Some(json!({})));
    case("bench-new", "/answers/0/standing", Some(json!("maybe")));
    case("bench-new", "/answers/0/estimate/value", Some(json!(null)));
    case("bench-new", "/series/bandwidth/lines/0/points/0", Some(json!([1.0, null])));
    case("bench-new", "/series/bandwidth/lines/0/points/0", Some(json!([1.0, 2.0, 3.0])));
    case("bench-new", "/series/bandwidth/shape", Some(json!("pie")));
    case("bench-new", "/target/kind", Some(json!("cloud")));
    case("bench-new", "/target/facts/0", Some(json!(["state"])));
    case("bench-new", "/target/accounting/erases", None);
}

#[test]
fn the_keys_of_one_procedure_are_not_asked_of_another() {
    let mut value = value(&example("bench-new"));
    value["procedure"] = json!("verify");
    value["tables"]["results"] = json!([{"other": 1}]);
    assert!(validator().is_valid(&value));
}
