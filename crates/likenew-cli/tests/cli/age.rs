//! `likenew age`: the question before it wears a real drive, and its leftovers.

use crate::support::{Sandbox, names};

const SMALL: [&str; 10] =
    ["--span", "64MiB", "--random-span", "16MiB", "--passes", "2", "--time", "100ms", "--reserve", "64MiB"];

fn age<'a>(target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["age", target], &SMALL[..], more].concat()
}

#[test]
fn a_real_drive_is_aged_only_when_somebody_has_agreed() {
    let sandbox = Sandbox::new();
    for recipe in ["fill", "overwrite", "churn"] {
        let ran = sandbox.run(&age(".", &["--recipe", recipe]));
        ran.code(3).says("wears flash and cannot be undone").says("Nothing was written").says("× the 64 MiB");
        assert!(names(&sandbox.work()).is_empty(), "{recipe}");
    }
    // A plan asks the same question, however it is run.
    let plan = sandbox.run(&age(".", &["--plan"])).code(0).stdout();
    std::fs::write(sandbox.work().join("plan.toml"), plan).unwrap();
    sandbox.run(&["run", "plan.toml", ".", "--reserve", "64MiB"]).code(3).says("Nothing was written");
    assert_eq!(names(&sandbox.work()), ["plan.toml"]);
    assert!(sandbox.runs().is_empty(), "nothing was measured, nothing is kept");
}

#[test]
fn a_folder_is_aged_by_every_recipe_and_nothing_is_left_behind() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("photo.raw"), "the only copy").unwrap();
    for recipe in ["fill", "overwrite", "churn"] {
        let ran = sandbox.run(&age(".", &["--recipe", recipe, "--bytes", "16MiB", "--yes", "--json", "-"]));
        let document = ran.says("wears flash").json();
        let rows = document["tables"]["new_vs_used"].as_array().unwrap();
        assert_eq!(rows.len(), 8, "{recipe}");
        assert!(
            rows.iter().all(|row| row["new"].as_f64().unwrap() > 0.0 && row["used"].as_f64().unwrap() > 0.0)
        );
        assert!(document["bytes_written"].as_u64().unwrap() > 32 << 20, "{recipe}");
        let answers = document["answers"].to_string();
        assert!(!answers.contains("io_errors"), "{recipe}: {answers}");
        assert!(answers.contains("Its earlier use is unknown"), "{answers}");
        assert_eq!(names(&sandbox.work()), ["photo.raw"]);
    }
    assert_eq!(std::fs::read_to_string(sandbox.work().join("photo.raw")).unwrap(), "the only copy");
}

#[test]
fn a_simulated_drive_is_aged_unasked_and_says_what_new_was() {
    let sandbox = Sandbox::new();
    let age = |state: &str| {
        let drive = format!("sim:tiny-flash?state={state}");
        let flags = ["--random-span", "64MiB", "--passes", "2", "--no-archive", "--json", "-"];
        sandbox.run(&[&["age", &drive], &flags[..]].concat()).stdout()
    };
    let new = age("new");
    assert_eq!(new, age("new"), "equal seeds and plans give byte-identical JSON");
    assert!(!new.contains("the drive was not new then"));
    assert!(age("used").contains("the drive was not new then"));
    let document: serde_json::Value = serde_json::from_str(&new).unwrap();
    let schema =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/report.schema.json"))
            .unwrap();
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let errors: Vec<String> = validator.iter_errors(&document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn what_cannot_be_aged_is_refused() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.work().join("photo.raw"), vec![1; 1 << 20]).unwrap();
    sandbox.run(&["age", "photo.raw", "--yes"]).code(3).says("nothing was changed");
    for (arguments, words) in [
        (&["age", "sim:tiny-flash", "--recipe", "rust"][..], "churn"),
        (&["age", "sim:tiny-flash", "--random-span", "1GiB"], "--random-span"),
        (&["age", "sim:tiny-flash", "--span", "2GiB"], "--span"),
        (&["age", "sim:tiny-flash", "--trim", "on"], "churn"),
        (&["age", "sim:tiny-flash", "--passes", "0"], "passes"),
        (&["age", ".", "--span", "16MiB", "--yes"], "too little"),
    ] {
        sandbox.run(arguments).code(2).says(words);
    }
    assert_eq!(std::fs::read(sandbox.work().join("photo.raw")).unwrap(), vec![1; 1 << 20]);
}
