//! The drives side by side, and a chart of the waiting that remains on each.

use likenew_core::findings::{Findings, Line, Series, Shape};
use likenew_core::row;

use super::saving::Saving;
use super::waits::Waits;
use super::{DriveOption, Role, UpgradeOptions};
use crate::check::wording;
use likenew_procedure_support::series::axis;

/// This drive, the same when new, and the candidates, shortest waiting first.
fn all(options: &UpgradeOptions) -> Vec<(&DriveOption, &Waits)> {
    let references = options.drives.iter().filter(|drive| drive.role != Role::Candidate);
    let references = references.filter_map(|drive| Some((drive, drive.waits.as_ref()?)));
    references.chain(options.candidates()).collect()
}

/// Adds table and chart.
pub(super) fn put(options: &UpgradeOptions, findings: &mut Findings) {
    let all = all(options);
    if all.is_empty() {
        return;
    }
    let now = options.waits_of(Role::Now);
    let rows = all.iter().map(|(drive, waits)| {
        let saving = now.filter(|_| drive.role != Role::Now).map(|now| Saving::from_waits(now, waits));
        row! {
            drive: &drive.name,
            role: match drive.role {
                Role::Now => "now",
                Role::AsNew => "as new",
                Role::Candidate => "candidate",
            },
            waited_ns: waits.blocking_ns,
            waited_ns_low: waits.low_ns(),
            waited_ns_high: waits.high_ns(),
            saved_ns: saving.map(|of| of.value),
            saved_ns_low: saving.map(|of| of.low),
            saved_ns_high: saving.map(|of| of.high),
            faster_times: saving
                .and(now)
                .map(|now| now.blocking_ns / waits.blocking_ns)
                .filter(|of| of.is_finite()),
            latency_ns_p99: waits.latency_ns_p99,
            latency_ns_max: waits.latency_ns_max,
        }
    });
    findings.tables.insert("upgrade".into(), rows.collect());
    let line = |name: &str, value: fn(&Waits) -> f64| {
        Line::new(name, all.iter().enumerate().map(|(at, (_, waits))| [at as f64, value(waits)]).collect())
    };
    let picture = Series::new(wording::UPGRADE_TITLE, Shape::Bars, axis("drive", ""), axis("waiting", "ns"));
    let picture = picture
        .categories(all.iter().map(|(drive, _)| match drive.role {
            Role::AsNew => wording::as_new(&drive.name),
            Role::Now | Role::Candidate => drive.name.clone(),
        }))
        .lines([
            line(wording::WITHOUT_WRITES, |of| of.blocking_ns),
            line(wording::WITH_WRITES, |of| of.busy_ns),
        ]);
    findings.series.insert("upgrade".into(), picture);
}
