//! Sentences about drives over time.

use likenew_core::findings::Standing;
use likenew_core::quantity::{Size, SpeedChange, with_change_range};
use likenew_core::units::Number;

use super::{Change, MetricHistory, News};
use crate::queries::{DriveRow, UnknownDrive};

/// A metric's name within a sentence.
pub fn metric_name(name: &str) -> &str {
    match name {
        "sequential_read" => "sequential reads",
        "sequential_write" => "sequential writes",
        "sustained_write" => "sustained writes",
        "random_read" => "4K random reads",
        "random_write" => "4K random writes",
        "random_read_qd32" => "4K random reads at QD32",
        _ => name,
    }
}

/// The day of a time such as `2026-03-14T15:09:26Z`.
pub fn day(time: &str) -> &str {
    time.get(..10).unwrap_or(time)
}

/// A drive's model and target; only the target for a simulated or unknown model.
pub fn drive(drive: &DriveRow) -> String {
    match &drive.model {
        Some(model) if drive.access != "simulated" => format!("{model} ({})", drive.target),
        _ => drive.target.clone(),
    }
}

likenew_core::sentences! {
    /// "sequential reads are 12% slower (9–15%) since 2026-03-03".
    pub fn change(metric: &MetricHistory, change: &Change) =
        "{} are {} since {}",
        metric_name(&metric.name),
        with_change_range(SpeedChange(change.ratio), SpeedChange(change.low), SpeedChange(change.high)),
        day(&change.since);
}

/// A change as a sentence: a fall is a problem, a rise is good.
pub(crate) fn changed(metric: &MetricHistory, metric_change: &Change) -> News {
    let text = change(metric, metric_change);
    let (first, rest) = text.split_at(text.chars().next().map_or(0, char::len_utf8));
    let standing = if metric_change.ratio < 1.0 { Standing::Problem } else { Standing::Good };
    News { standing, sentence: format!("{}{rest}.", first.to_uppercase()) }
}

/// The sentence if nothing changed.
pub(crate) fn no_change(checks: usize, has_metrics: bool) -> News {
    let unknown = |sentence: &str| News { standing: Standing::Unknown, sentence: sentence.into() };
    match checks {
        0 => unknown("Never checked."),
        _ if !has_metrics => unknown("Its last check measured no speed."),
        1 => unknown("Checked once, so there is nothing to compare with yet."),
        _ => News {
            standing: Standing::Good,
            sentence: format!("No change beyond the scatter between its {} checks.", Number(checks as f64)),
        },
    }
}

likenew_core::sentences! {
    /// Why the checks of a target are not compared over time.
    pub(crate) fn unknown_drive(unknown_drive: &UnknownDrive) =
        "Checked on {}. Its checks are not compared over time: no single drive was found below it to know \
         it by.", day(&unknown_drive.last_check_at);
}

/// The first line about one drive.
pub fn title(drive_row: &DriveRow) -> String {
    let capacity = drive_row.capacity_bytes.map(|bytes| format!(", {}", Size(bytes.cast_unsigned())));
    format!("{}{}: {}", drive(drive_row), capacity.unwrap_or_default(), checks_since(drive_row))
}

/// What a list adds to a drive's name.
pub(crate) fn about(drive_row: &DriveRow) -> String {
    let model = drive_row.model.clone().filter(|_| drive_row.access == "simulated");
    let capacity = drive_row.capacity_bytes.map(|bytes| Size(bytes.cast_unsigned()).to_string());
    let parts: Vec<String> = model.into_iter().chain(capacity).chain([checks_since(drive_row)]).collect();
    parts.join(" · ")
}

fn checks_since(drive_row: &DriveRow) -> String {
    let checks = match drive_row.checks {
        1 => "1 check".into(),
        checks => format!("{} checks", Number(checks as f64)),
    };
    format!("{checks} since {}", day(&drive_row.first_at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(name: &str) -> MetricHistory {
        MetricHistory {
            name: name.into(),
            unit: "bytes/s".into(),
            values: Vec::new(),
            baseline: 100e6,
            now: 88e6,
            changes: Vec::new(),
        }
    }

    #[test]
    fn a_change_says_since_when_and_by_how_much() {
        let change =
            Change { at: 3, since: "2026-03-03T10:00:00.000Z".into(), ratio: 0.88, low: 0.85, high: 0.91 };
        let news = changed(&metric("sequential_read"), &change);
        assert_eq!(news.standing, Standing::Problem);
        assert_eq!(news.sentence, "Sequential reads are 12% slower (9–15%) since 2026-03-03.");
        let gain = Change { ratio: 1.2, low: 1.1, high: 1.3, ..change };
        let news = changed(&metric("random_read"), &gain);
        assert_eq!(news.standing, Standing::Good);
        assert_eq!(news.sentence, "4K random reads are 20% faster (10–30%) since 2026-03-03.");
    }

    #[test]
    fn without_a_change_it_says_why() {
        let sentence = |checks, has_metrics| no_change(checks, has_metrics).sentence;
        assert_eq!(sentence(0, false), "Never checked.");
        assert_eq!(sentence(3, false), "Its last check measured no speed.");
        assert_eq!(sentence(1, true), "Checked once, so there is nothing to compare with yet.");
        assert_eq!(sentence(7, true), "No change beyond the scatter between its 7 checks.");
        assert_eq!(no_change(7, true).standing, Standing::Good);
    }

    #[test]
    fn a_drive_is_named_by_what_is_known_of_it() {
        let real = DriveRow {
            archive: ".".into(),
            key: "k".into(),
            access: "device".into(),
            model: Some("Example 870".into()),
            serial: None,
            capacity_bytes: Some(500_107_862_016),
            is_virtual: false,
            first_at: "2026-01-03T10:20:00.000Z".into(),
            last_at: String::new(),
            runs: 16,
            checks: 16,
            target: "/dev/sda".into(),
        };
        assert_eq!(title(&real), "Example 870 (/dev/sda), 466 GiB: 16 checks since 2026-01-03");
        assert_eq!(about(&real), "466 GiB · 16 checks since 2026-01-03");
        let unknown = DriveRow { model: None, capacity_bytes: None, checks: 1, ..real.clone() };
        assert_eq!(title(&unknown), "/dev/sda: 1 check since 2026-01-03");
        let simulated = DriveRow { access: "simulated".into(), target: "sim:x".into(), ..real };
        assert_eq!(drive(&simulated), "sim:x");
        assert_eq!(about(&simulated), "Example 870 · 466 GiB · 16 checks since 2026-01-03");
    }
}
