//! The evidence of a recondition, taken apart: checks, and rungs between them.

use likenew_core::cure::{Cure, CureEnd};
use likenew_core::io::Op;
use likenew_core::look::{Look, Seen, Sight};
use likenew_core::procedure::{Evidence, Past};
use likenew_core::segment::Segment;

use super::rung::RungName;

/// A part of the evidence, as if it were all.
pub(super) enum Stage {
    /// A check. Several of one run are asked the same.
    Check(Evidence),
    /// What a rung has done.
    Rung(RungName, Evidence),
}

impl Stage {
    fn evidence_mut(&mut self) -> &mut Evidence {
        match self {
            Self::Check(own) | Self::Rung(_, own) => own,
        }
    }

    fn is_rung(&self, name: RungName) -> bool {
        matches!(self, Self::Rung(of, _) if *of == name)
    }
}

/// Nothing yet of the same plan on the same drive.
pub(super) fn nothing_of(evidence: &Evidence) -> Evidence {
    Evidence::new(evidence.plan.clone(), evidence.identity.clone(), evidence.geometry.clone())
}

/// Its parts in order. A rung begins with something that is told by its name, and ends where a check begins, which asks for facts first.
pub(super) fn stages(evidence: &Evidence) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    // What stood against each step was looked at before anything; the first check knows it, too.
    let mut outlook: Option<Sight> = None;
    for past in evidence.past() {
        match past {
            Past::Sight(sight) if stages.is_empty() && sight.look == Look::Outlook => {
                outlook = Some(sight.clone());
                continue;
            }
            _ => {}
        }
        let begins_check = matches!(past, Past::Sight(sight) if sight.look == Look::Facts);
        match (stages.last(), RungName::of(past)) {
            (Some(last), Some(name)) if last.is_rung(name) => {}
            (_, Some(name)) => stages.push(Stage::Rung(name, nothing_of(evidence))),
            (Some(Stage::Check(_)), None) => {}
            (Some(Stage::Rung(..)), None) if !begins_check => {}
            (_, None) => stages.push(Stage::Check(nothing_of(evidence))),
        }
        let own = stages.last_mut().expect("one was just begun").evidence_mut();
        own.sights.extend(outlook.take());
        match past {
            Past::Segment(segment) => own.segments.push(segment.clone()),
            Past::Sight(sight) => {
                let mut sight = sight.clone();
                sight.after = own.segments.len();
                own.sights.push(sight);
            }
        }
    }
    stages
}

/// Whether a rung has done anything to the drive: written to it, or told it of something. What was refused or has found nothing to do changes nothing,
/// whatever is measured afterwards.
pub(super) fn has_done(rung: &Evidence) -> bool {
    let has_written = |segment: &Segment| segment.bytes(Op::Write) + segment.bytes(Op::Trim) > 0;
    let has_cured = |sight: &Sight| match (&sight.look, &sight.seen) {
        (Look::Cure(Cure::Refresh { .. } | Cure::RefreshFiles { .. }), Seen::Cured(cured)) => {
            cured.bytes_written > 0
        }
        // A format tells of no bytes.
        (Look::Cure(Cure::Format { .. }), Seen::Cured(cured)) => cured.end == CureEnd::Complete,
        (_, Seen::Cured(cured)) => cured.bytes > 0 || cured.bytes_written > 0,
        _ => false,
    };
    rung.segments.iter().any(has_written) || rung.sights.iter().any(has_cured)
}

/// Why a rung was refused.
pub(super) fn refusal(rung: &Evidence) -> Option<&str> {
    rung.sights.iter().find_map(|sight| match (&sight.look, &sight.seen) {
        (Look::Cure(_), Seen::Unknown(why)) => Some(why.as_str()),
        _ => None,
    })
}
