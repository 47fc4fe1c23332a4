//! A drive that has not been told what is free.

use likenew_core::drive;
use likenew_core::facts::Layer;
use likenew_core::feasibility::ActionKind;

use crate::steps::steps;
use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Possibility, Risk, Symptom};

use super::commands::trim_through;
use super::{hard_disk_evidence, scale_by};

/// Nothing has told the drive what is free.
pub(super) struct NoTrim;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "no_trim",
    summary: "nobody tells it what is free, so it keeps moving data that was deleted long ago",
    kind: Kind::Drive,
    endangers: false,
    explains: &[
        Symptom::WriteCliff,
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Stalls,
    ],
    manual: include_str!("no_trim.md"),
};

impl Cause for NoTrim {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "trim_helps",
            case.measurements.trimmed_over_rested,
            1.3,
            |ratio| format!("writes are {} as fast once it was told what is free", scale_by(ratio)),
            Hint::of_trim("tell it what is free and write again"),
        );
        log_odds.add_fact(
            "trim_blocked",
            case.facts.map(|facts| facts.trim_blocked_by().is_some()),
            |is_blocked| match case.facts.and_then(|facts| facts.trim_blocked_by()) {
                Some(layer) if is_blocked => {
                    format!("{} ({}) lets no TRIM pass", layer.name, layer.kind.words())
                }
                _ => "every layer that says so lets TRIM pass".into(),
            },
            Hint::of_facts("look at the layers"),
        );
        let trimming = case.facts.and_then(|facts| facts.file_system.as_ref()).map(|system| &system.trimming);
        log_odds.add_fact(
            "trim_sent",
            trimming.and_then(|trimming| trimming.is_sent()),
            |is_sent| {
                if is_sent {
                    "TRIM is sent for this file system".into()
                } else {
                    "nothing sends TRIM for this file system".into()
                }
            },
            Hint::of_facts("find out whether fstrim covers this file system"),
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        // Writes wait for data to be moved, reads hardly do.
        let writes = [Metric::SequentialWrite, Metric::SustainedWrite, Metric::RandomWrite];
        let slowest = writes.into_iter().filter_map(|metric| case.is_below(metric));
        let slowest = slowest.min_by(|one, other| one.value.total_cmp(&other.value));
        log_odds.add_measured(
            "writes_below_reads",
            slowest.zip(case.is_below(Metric::SequentialRead)).map(|(writes, reads)| writes.divide_by(reads)),
            0.7,
            |ratio| format!("of what they should be, writes reach {} what reads do", scale_by(ratio)),
            "give what it should do, or check it again later",
        );
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let through =
            case.facts.and_then(|facts| facts.trim_blocked_by()).and_then(|layer| open(case, layer));
        through.into_iter().chain(steps(case, DESCRIPTOR.name)).chain(weekly_trim(case)).collect()
    }
}

/// Lets TRIM pass the layer that blocks it, where a setting does that and the drive takes it.
fn open(case: &Case<'_>, layer: &Layer) -> Option<Fix> {
    let is_of_no_use = case.drive().is_some_and(|drive| drive.identity.knows_trim.get() == Some(false));
    let (command, is_at_stake) = trim_through(case, layer).filter(|_| !is_of_no_use)?;
    Some(Fix {
        description: format!("let TRIM pass {} ({})", layer.name, layer.kind.words()),
        command: Some(command.does),
        undo: command.undoes,
        risk: if is_at_stake { Risk::Data } else { Risk::Low },
        cost: "a setting; through encryption it shows which blocks are free",
        check: "likenew trim",
        action: None,
    })
}

/// Has it done from now on, where TRIM passes and nothing does it yet.
fn weekly_trim(case: &Case<'_>) -> Option<Fix> {
    let site = case.site.filter(|site| site.kind == drive::Kind::Folder)?;
    let trimming = &case.facts?.file_system.as_ref()?.trimming;
    let is_done = trimming.is_sent() == Some(true) || trimming.timer_enabled.get() == Some(true);
    (!is_done && site.possibility(ActionKind::Fstrim) == Possibility::Yes).then(|| Fix {
        description: "have it done every week".into(),
        command: Some("systemctl enable --now fstrim.timer".into()),
        undo: Some("systemctl disable --now fstrim.timer".into()),
        risk: Risk::None,
        cost: "seconds a week",
        check: "likenew facts: does the timer cover this file system?",
        action: None,
    })
}
