//! X-rays of drives under noise, compared with the same drives without it.

use std::fmt::Write as _;

use super::case::Case;
use super::score::Score;

/// One line for each noise.
pub(super) fn report(rounds: &[(&str, Vec<Case>)]) -> String {
    let mut text = format!(
        "Disturbed drives\n  {:10} {:>6} {:>6} {:>13} {:>6} {:>9} {:>8} {:>13} {:>8} {:>16}\n",
        "",
        "drives",
        "right",
        "false claims",
        "off",
        "undecided",
        "absent!",
        "intervals",
        "width",
        "noise is named"
    );
    for (name, cases) in rounds {
        let score = Score::compute(cases.iter().flat_map(|case| &case.rows));
        let named = cases.iter().filter(|case| names_noise(case)).count();
        let percent =
            |share: Option<f64>| share.map_or_else(String::new, |share| format!("{:.1}%", share * 100.0));
        writeln!(
            text,
            "  {name:10} {:>6} {:>6} {:>13} {:>6} {:>9} {:>8} {:>13} {:>8} {:>16}",
            cases.len(),
            percent(score.share_right()),
            format!("{} {}", score.false_claims, percent(score.share_false())),
            score.imprecise,
            score.undecided,
            score.wrongly_absent,
            percent(score.coverage()),
            percent(score.mean_width()),
            format!("{named} of {}", cases.len())
        )
        .expect("a text takes all");
    }
    text
}

/// Whether the X-ray reports a disturbance.
pub(super) fn names_noise(case: &Case) -> bool {
    case.findings
        .as_ref()
        .is_ok_and(|findings| findings.answers.iter().any(|answer| answer.id == "disturbance"))
}
