//! `schema/examples/*.json` are what the program writes. `cargo xtask messages` writes them anew.

use crate::messages::matches;
use crate::support::{Sandbox, is_valid, names};

/// The name of each example and the command that makes it.
const EXAMPLES: [(&str, &[&str]); 10] = [
    ("age-used", &["age", "sim:tiny-flash"]),
    ("bench-new", &["bench", "sim:tiny-flash"]),
    ("bench-used", &["bench", "sim:tiny-flash?state=used"]),
    ("check-slow", &["check", "sim:tiny-flash?state=used"]),
    (
        "endure-knees",
        &[
            "endure",
            "sim:tiny-flash",
            "--profile",
            "peak",
            "--op",
            "write",
            "--file-size",
            "16MiB",
            "--trim",
            "off",
            "--fills",
            "7",
        ],
    ),
    ("fill-used", &["fill", "sim:tiny-flash?state=used"]),
    ("recondition-restored", &["recondition", "sim:tiny-flash?state=used&fill=0.9&trim=off"]),
    ("sweep-new", &["sweep", "sim:tiny-flash", "--pattern", "random"]),
    ("sweep-used", &["sweep", "sim:tiny-flash?state=used", "--pattern", "random"]),
    ("trim-works", &["trim", "sim:tiny-flash"]),
];

/// The example that is made of two others.
const COMPARISON: &str = "compare-benches";

#[test]
fn the_examples_of_the_schema_are_what_the_program_writes() {
    let sandbox = Sandbox::new();
    for (name, arguments) in EXAMPLES {
        let ran = sandbox.run(&[arguments, &["--json", "-", "--no-archive"]].concat());
        assert!(matches!(ran.status(), Some(0 | 10)), "{name}: {}", ran.stderr());
        is_valid(&ran.json());
        matches(&format!("schema/examples/{name}.json"), &ran.stdout());
    }
    for target in ["sim:tiny-flash", "sim:tiny-flash?state=used"] {
        sandbox.run(&["bench", target, "-q"]).code(0);
    }
    let ran = sandbox.run(&["compare", "--last", "2", "--json", "-"]);
    is_valid(&ran.code(0).json());
    matches(&format!("schema/examples/{COMPARISON}.json"), &ran.stdout());
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/examples");
    let mut all: Vec<&str> = EXAMPLES.iter().map(|(name, _)| *name).chain([COMPARISON]).collect();
    all.sort_unstable();
    assert_eq!(names(folder.as_ref()), all.iter().map(|name| format!("{name}.json")).collect::<Vec<_>>());
}
