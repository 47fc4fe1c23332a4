//! Flash that is written with one bit a cell at first, until there is no room for that.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Indicator, Kind, LogOdds, Metric, Risk, Symptom};

use super::{hard_disk_evidence, scale_by};

/// The pseudo-SLC cache is full.
pub(super) struct SlcCache;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "slc_cache",
    summary: "its fast cache is full and the slower flash behind it sets the pace",
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[Symptom::WriteCliff, Symptom::Below(Metric::SustainedWrite)],
    manual: include_str!("slc_cache.md"),
};

impl Cause for SlcCache {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let drop = case.measurements.write_cliff;
        log_odds.add_measured(
            "write_cliff",
            drop.map(|drop| drop.ratio),
            1.3,
            |ratio| format!("writes in order fell for good, by {}", scale_by(ratio)),
            Hint::of_writing("write more in one go"),
        );
        log_odds.add_measured(
            "cliff_repeats",
            drop.and_then(|drop| Some(drop.again_at_bytes?.divide_by(drop.at_bytes))),
            0.4,
            |again| format!("after a rest the drop came again, after {} as many bytes", scale_by(again)),
            Hint::of_writing("let it rest and write as much again"),
        );
        log_odds.add_measured(
            "cliff_at_half_rate",
            drop.and_then(|drop| drop.at_half_rate),
            0.75,
            |share| {
                format!(
                    "at half the rate it came after {} as many bytes: bytes bring it about, not time",
                    scale_by(share)
                )
            },
            Hint::of_writing("write at half the rate"),
        );
        log_odds.add_measured(
            "slower_when_warm",
            case.measurements.rested_over_loaded,
            1.3,
            |ratio| format!("reads became slower as well, by {}", scale_by(ratio)),
            "",
        );
        let beyond = case.beyond_normal(Indicator::WriteCliff).filter(|_| !case.normal.is_empty());
        log_odds.add_measured(
            "cliff_beyond_normal",
            beyond,
            1.3,
            |ratio| {
                format!(
                    "where it is as it should be it does not fall like that, but by {} less",
                    scale_by(ratio)
                )
            },
            "",
        );
        // What a flush tells of memory, it does not where memory outlasts a loss of power.
        let is_protected = case.facts.and_then(|facts| {
            let bottom = facts.stack.iter().find(|layer| layer.on.is_empty())?;
            bottom.write_cache.value().map(|cache| cache == "write through")
        });
        log_odds.add_fact(
            "protected_memory",
            is_protected.filter(|is| *is && !case.is_disk()),
            |_| "its memory outlasts a loss of power, so that it may be memory that filled up".into(),
            "",
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "leave it as it is: the cache is back after a rest, and nothing but copying very much at once meets its end".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "nothing",
                check: "write again after some minutes of rest",
                action: None,
            },
            Fix {
                description: "keep a part of the drive free, where its cache grows with free space".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "space",
                check: "write as much again with more free space",
                action: None,
            },
        ]
    }
}
