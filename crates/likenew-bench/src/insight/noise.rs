//! X-rays of drives under noise, compared with the same drives without it.

use std::fmt::Write as _;

use likenew_sim::generator::Family;

use super::case::Case;
use super::score::Score;

/// The noise on a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Noise {
    /// Another program uses it.
    Busy,
    /// The same from another computer, so that no kernel counter shows it.
    Unseen,
    /// Single I/Os take long.
    Outliers,
    /// It is slow for a part of the time.
    Throttled,
}

impl Noise {
    pub(super) const ALL: [Self; 4] = [Self::Busy, Self::Unseen, Self::Outliers, Self::Throttled];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::Unseen => "unseen",
            Self::Outliers => "outliers",
            Self::Throttled => "throttled",
        }
    }

    /// As a setting of a target: enough to show, while the drive still does other work.
    pub(super) fn setting(self, family: Family) -> String {
        match (self, family) {
            (Self::Unseen, _) => format!("{}&facts=off", Self::Busy.setting(family)),
            (Self::Busy, Family::Disk | Family::ShingledDisk) => "busy=15".into(),
            (Self::Busy, Family::Volume) => "busy=40".into(),
            (Self::Busy, Family::BlockMap | Family::Bast | Family::Fast) => "busy=5".into(),
            (Self::Busy, _) => "busy=200".into(),
            (Self::Outliers, _) => "outliers=300".into(),
            (Self::Throttled, _) => "throttle=0.1".into(),
        }
    }
}

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
