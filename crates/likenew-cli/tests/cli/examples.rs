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

#[test]
fn the_examples_of_the_schema_are_what_the_program_writes() {
    let sandbox = Sandbox::new();
    for (name, arguments) in EXAMPLES {
        let ran = sandbox.run(&[arguments, &["--json", "-", "--no-archive"]].concat());
        assert!(matches!(ran.status(), Some(0 | 10)), "{name}: {}", ran.stderr());
        is_valid(&ran.json());
        matches(&format!("schema/examples/{name}.json"), &ran.stdout());
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/examples");
    assert_eq!(names(folder.as_ref()), EXAMPLES.map(|(name, _)| format!("{name}.json")));
}
