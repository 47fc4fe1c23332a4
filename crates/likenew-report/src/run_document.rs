//! Makes the document of a run from its evidence.

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::Findings;
use likenew_core::instrument::Instrument;
use likenew_core::io::Op;
use likenew_core::probe::Observation;
use likenew_core::procedure::{Evidence, PastStep};
use likenew_core::quantity::Size;
use likenew_core::units::Nanos;

use crate::document::Document;
use crate::wording;

/// The document of a run, with a caveat if it was interrupted and resumed.
pub fn of_run(evidence: Evidence, findings: Findings, instrument: Instrument) -> Document {
    let (bytes_written, elapsed) = (bytes_written(&evidence), elapsed(&evidence));
    let segments = evidence.segments.iter().map(|segment| segment.after_interruption);
    let observations = evidence.observations.iter().map(|observation| observation.after_interruption);
    let breaks = segments.chain(observations).filter(|is_after| *is_after).count();
    let Evidence { plan, mut identity, observations, .. } = evidence;
    add_facts(&mut identity, &observations);
    if breaks > 0 {
        identity.caveats.push(wording::interrupted_parts(breaks));
    }
    Document::new(plan, identity, findings, instrument, bytes_written, elapsed)
}

/// Adds to the target what the system knows of the drive. For several drives, it is unknown which one answered.
fn add_facts(identity: &mut Identity, observations: &[Observation]) {
    let facts = observations.iter().rev().find_map(|observation| observation.result.facts());
    let Some([drive]) = facts.map(|facts| &facts.drives[..]) else { return };
    if identity.kind == TargetKind::Simulated {
        return;
    }
    let firmware = drive.identity.firmware.value().cloned();
    identity.model = identity.model.take().or_else(|| drive.identity.model.value().cloned());
    // A folder's capacity is that of its temporary files.
    let capacity = drive
        .identity
        .capacity_bytes
        .get()
        .filter(|_| identity.kind != TargetKind::Device)
        .map(|capacity_bytes| Size(capacity_bytes).to_string());
    for (name, value) in [("drive capacity", capacity), ("firmware", firmware), ("link", drive.link.words())]
    {
        let is_known = identity.facts.iter().any(|(known, _)| known == name);
        identity.facts.extend(value.filter(|_| !is_known).map(|value| (name.to_owned(), value)));
    }
}

/// Bytes that a run wrote to the drive.
fn bytes_written(evidence: &Evidence) -> u64 {
    let reached = evidence.segments.iter().filter(|segment| segment.workload.reaches_drive());
    let written = reached.map(|segment| segment.bytes(Op::Write)).sum::<u64>();
    written + evidence.observations.iter().map(Observation::bytes_written).sum::<u64>()
}

/// The time from the start of the first step to the end of the last.
fn elapsed(evidence: &Evidence) -> Nanos {
    let span = |step: PastStep<'_>| match step {
        PastStep::Segment(segment) => (segment.started_at, segment.ended_at),
        PastStep::Observation(observation) => (observation.started_at, observation.ended_at),
    };
    match (evidence.history().next(), evidence.history().last()) {
        (Some(first), Some(last)) => span(last).1.since(span(first).0),
        _ => Nanos::ZERO,
    }
}
