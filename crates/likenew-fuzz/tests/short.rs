//! A short round of every target; `cargo xtask fuzz` runs 100,000 inputs each.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use likenew_fuzz::fuzz;
use likenew_fuzz::targets::all;

/// Inputs per target.
const INPUTS: u64 = 200;

#[test]
fn no_damaged_input_does_harm() {
    for target in all() {
        let outcome = fuzz(&target, INPUTS, 7);
        let message: Vec<&str> = outcome.failures.iter().map(|failure| failure.what.as_str()).collect();
        assert!(message.is_empty(), "{}: {message:#?}", target.name);
    }
}

#[test]
fn the_page_about_safety_has_a_row_for_each_target() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/explanation/safety.md");
    let page = std::fs::read_to_string(page).unwrap();
    let name = |line: &str| Some(line.strip_prefix("| damaged inputs, ")?.split_once(" |")?.0.to_owned());
    let mut rows: Vec<String> = page.lines().filter_map(name).collect();
    let mut targets: Vec<String> = all().into_iter().map(|target| target.name).collect();
    rows.sort_unstable();
    targets.sort_unstable();
    assert_eq!(rows, targets, "cargo xtask attacks makes the rows");
}
