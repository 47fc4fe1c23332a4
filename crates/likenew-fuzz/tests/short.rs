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
