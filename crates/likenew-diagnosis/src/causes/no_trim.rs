//! A drive that receives no TRIM.

use likenew_core::answer::Action;
use likenew_core::drive;
use likenew_core::facts::Layer;
use likenew_core::feasibility::ActionKind;

use crate::steps::steps;
use crate::{
    Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Measured, Metric, Possibility, Symptom, wording,
};

use super::commands::trim_through;
use super::{disturbance_evidence, hard_disk_evidence, slowest_writes};

/// Writes over reads, each as a share of its reference, below which writes are what is slow. Chosen: the share
/// from which a drive counts as slow against its data sheet.
const WRITES_BELOW: f64 = 0.7;
/// Speed of a second pass over that of the end of the first, below which nothing was gained. Chosen: above the
/// scatter of a check; on a large drive a short pass frees few blocks.
const FASTER: f64 = 1.1;

/// Speed of writes after TRIM over before, from which it helps. Chosen: the smallest drop that counts as a write cliff.
const TRIM_HELPS: f64 = 1.3;

/// The drive receives no TRIM.
pub(super) struct NoTrim;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "no_trim",
    title: wording::no_trim::TITLE,
    summary: wording::no_trim::SUMMARY,
    kind: Kind::Drive,
    endangers: false,
    explains: &[
        Symptom::RewrittenFaster,
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
        // Where a place was restored by writing it again, TRIM cannot make it faster.
        let again = case.measurements.rewritten_over_first;
        let is_restored = again.is_some_and(|ratio| ratio.chance_above(TRIM_HELPS) > 0.5);
        let shows = |trimmed: &Measured| !is_restored || trimmed.chance_above(TRIM_HELPS) > 0.5;
        log_odds.add_measured(
            "trim_helps",
            case.measurements.trimmed_over_rested.filter(shows),
            TRIM_HELPS,
            wording::no_trim::trim_helps,
            wording::no_trim::TRIM_AND_WRITE,
        );
        log_odds.add_fact(
            "trim_blocked",
            case.facts.map(|facts| facts.trim_blocked_by().is_some()),
            |is_blocked| {
                let layer = case.facts.and_then(|facts| facts.trim_blocked_by()).filter(|_| is_blocked);
                wording::no_trim::trim_blocked(layer.map(|layer| (layer.name.as_str(), layer.kind.words())))
            },
            wording::SHOW_LAYERS,
        );
        let trimming = case.facts.and_then(|facts| facts.file_system.as_ref()).map(|system| &system.trimming);
        log_odds.add_fact(
            "trim_sent",
            trimming.and_then(|trimming| trimming.is_sent()),
            |is_sent| {
                if case.ignores_trim() {
                    wording::no_trim::ignores_trim()
                } else {
                    wording::no_trim::trim_sent(is_sent)
                }
            },
            wording::no_trim::SHOW_TIMER,
        );
        // Where writes are slow, or nobody knows whether they are: deleted data that the drive keeps is gone where it was written
        // again.
        let is_slow = slowest_writes(case).is_none_or(|share| share.value < WRITES_BELOW);
        log_odds.add_measured(
            "rewritten_faster",
            again.filter(|_| is_slow),
            FASTER,
            wording::scattered_data::rewritten_faster,
            wording::scattered_data::WRITE_TWICE,
        );
        disturbance_evidence(&mut log_odds, case);
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        log_odds.add_measured(
            "writes_below_reads",
            slowest_writes(case),
            WRITES_BELOW,
            wording::writes_against_reads,
            wording::no_trim::COMPARE,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let through =
            case.facts.and_then(|facts| facts.trim_blocked_by()).and_then(|layer| pass_trim(case, layer));
        through.into_iter().chain(steps(case, DESCRIPTOR.name)).chain(weekly_trim(case)).collect()
    }

    fn statement(&self, case: &Case<'_>) -> String {
        if case.ignores_trim() {
            let is_full = case
                .site
                .is_some_and(|site| site.kind == drive::Kind::Simulated && site.free_bytes.is_none());
            return if is_full {
                wording::no_trim::ignored_by_full_drive()
            } else {
                wording::no_trim::ignored_by_drive()
            };
        }
        if let Some(layer) = case.facts.and_then(|facts| facts.trim_blocked_by()) {
            return wording::no_trim::blocked(&layer.name, layer.kind.words());
        }
        let trimming = case.facts.and_then(|facts| facts.file_system.as_ref()).map(|system| &system.trimming);
        match trimming.and_then(|trimming| trimming.is_sent()) {
            Some(false) => wording::no_trim::not_sent(),
            _ => wording::no_trim::not_received(),
        }
    }
}

/// Lets TRIM pass the layer that blocks it, if a setting does that and the drive supports TRIM.
fn pass_trim(case: &Case<'_>, layer: &Layer) -> Option<Action> {
    let is_of_no_use = case.drive().is_some_and(|drive| drive.identity.knows_trim.get() == Some(false));
    let (command, is_at_stake) = trim_through(case, layer).filter(|_| !is_of_no_use)?;
    let (name, kind) = (&layer.name, layer.kind.words());
    Some(command.add_to(if is_at_stake {
        wording::no_trim::force_passthrough(name, kind)
    } else {
        wording::no_trim::enable_passthrough(name, kind)
    }))
}

/// Sends TRIM regularly, if it passes and nothing sends it yet.
fn weekly_trim(case: &Case<'_>) -> Option<Action> {
    let site = case.site.filter(|site| site.kind == drive::Kind::Folder)?;
    let trimming = &case.facts?.file_system.as_ref()?.trimming;
    let is_done = trimming.is_sent() == Some(true) || trimming.timer_enabled.get() == Some(true);
    (!is_done && site.possibility(ActionKind::Fstrim) == Possibility::Yes).then(|| {
        wording::no_trim::enable_timer()
            .command("systemctl enable --now fstrim.timer")
            .undo("systemctl disable --now fstrim.timer")
    })
}
