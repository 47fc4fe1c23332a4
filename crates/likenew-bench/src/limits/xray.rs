//! What an X-ray writes, and how often it is right.

use super::{Goal, Options, print_row};
use crate::insight;

/// Properties with a goal of their own, and how often an answer about one is to be right, in percent.
const PROPERTIES: [(&str, f64); 3] =
    [("write_buffer_bytes", 95.0), ("over_provisioning_percent", 95.0), ("parallelism", 95.0)];

pub(super) fn measure(options: &Options) -> anyhow::Result<()> {
    let result = insight::summary(options.first..options.first + options.drives)?;
    print_row(
        &format!("X-rays of {} generated drives: bytes written, median", options.drives),
        &[result.capacities_written],
        "capacities",
        Some(Goal::AtMost(0.5)),
        "",
    );
    for (property, goal) in PROPERTIES {
        let (right, of) = result.right(property);
        print_row(
            &format!("X-rays: {property} right"),
            &[100.0 * f64::from(right) / f64::from(of.max(1))],
            "%",
            Some(Goal::AtLeast(goal)),
            &format!("{right} of {of}"),
        );
    }
    let (wrong, answers) = result.false_claims;
    print_row(
        "X-rays: false claims",
        &[100.0 * f64::from(wrong) / f64::from(answers)],
        "%",
        Some(Goal::AtMost(1.0)),
        &format!("{wrong} of {answers}"),
    );
    Ok(())
}
