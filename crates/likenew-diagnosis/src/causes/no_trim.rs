//! A drive that has not been told what is free.

use crate::{Card, Case, Cause, Cure, Figure, Kind, Risk, Scales, Symptom};

use super::commands::{mount_point, trim_through};
use super::{arm, times};

/// Nothing has told the drive what is free.
pub(super) struct NoTrim;

const CARD: Card = Card {
    name: "no_trim",
    because: "nobody tells it what is free, so it keeps moving data that was deleted long ago",
    kind: Kind::Drive,
    explains: &[
        Symptom::WritesDrop,
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Stalls,
    ],
    manual: include_str!("no_trim.md"),
};

impl Cause for NoTrim {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::new(-1.0);
        scales.sign(
            case.signs.trimmed_over_rested,
            1.3,
            (4.0, -0.5),
            |ratio| format!("writes are {} as fast once it was told what is free", times(ratio)),
            "tell it what is free and write again: likenew trim",
        );
        scales.fact(
            case.facts.map(|facts| facts.trim_blocked_by().is_some()),
            (2.5, -0.3),
            |is_blocked| match case.facts.and_then(|facts| facts.trim_blocked_by()) {
                Some(layer) if is_blocked => {
                    format!("{} ({}) lets no TRIM pass", layer.name, layer.kind.words())
                }
                _ => "every layer that says so lets TRIM pass".into(),
            },
            "look at the layers: likenew facts",
        );
        let trimming = case.facts.and_then(|facts| facts.file_system.as_ref()).map(|system| &system.trimming);
        scales.fact(
            trimming.and_then(|trimming| trimming.is_sent()),
            (-3.0, 5.0),
            |is_sent| {
                if is_sent {
                    "TRIM is sent for this file system".into()
                } else {
                    "nothing sends TRIM for this file system".into()
                }
            },
            "find out whether fstrim covers this file system: likenew facts",
        );
        arm(&mut scales, case, (-8.0, 0.5));
        let shown = case.virtual_by().map(|_| true);
        scales.fact(shown, (-3.0, 0.0), |_| "a hypervisor or a cloud shows it".into(), "");
        // Writes wait for data to be moved, reads hardly do.
        let writes = [Figure::WriteInOrder, Figure::WriteOnAndOn, Figure::WriteAnywhere];
        let slowest = writes.into_iter().filter_map(|figure| case.is_below(figure));
        let slowest = slowest.min_by(|one, other| one.value.total_cmp(&other.value));
        scales.sign(
            slowest.zip(case.is_below(Figure::ReadInOrder)).map(|(writes, reads)| writes.over(reads)),
            0.7,
            (-0.5, 2.0),
            |ratio| format!("of what they should be, writes reach {} what reads do", times(ratio)),
            "give what it should do, or check it again later",
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let blocked = case.facts.and_then(|facts| facts.trim_blocked_by());
        let mut cures = Vec::new();
        if let Some(layer) = blocked {
            let through = trim_through(case, layer);
            let is_at_stake = through.as_ref().is_some_and(|(_, is_at_stake)| *is_at_stake);
            let (command, undo) = through.map_or((None, None), |(of, _)| (Some(of.does), of.undoes));
            cures.push(Cure {
                what: format!("let TRIM pass {} ({})", layer.name, layer.kind.words()),
                command,
                undo,
                risk: if is_at_stake { Risk::Data } else { Risk::Low },
                cost: "a setting; through encryption it shows which blocks are free",
                check: "likenew trim",
            });
        }
        cures.push(Cure {
            what: "tell the drive once what is free, then leave it alone for ten minutes".into(),
            command: Some(format!("fstrim -v {}", mount_point(case))),
            undo: None,
            risk: Risk::None,
            cost: "seconds; what was deleted can not be recovered any more",
            check: "likenew check again, after the rest",
        });
        cures.push(Cure {
            what: "have it done every week".into(),
            command: Some("systemctl enable --now fstrim.timer".into()),
            undo: Some("systemctl disable --now fstrim.timer".into()),
            risk: Risk::None,
            cost: "seconds a week",
            check: "likenew facts: does the timer cover this file system?",
        });
        cures
    }
}
