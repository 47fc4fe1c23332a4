//! Measures the write buffer: how much is taken at the speed of the link before the medium has to keep up.

mod behind_merges;
mod bursts;
mod disk_cache;

use likenew_core::drive::TargetKind;

use super::experiment::{Context, Experiment, Finding, Steps};
use super::property::{Key, Property};
use super::wording;

/// Writes bursts into an empty buffer.
pub(super) struct WriteBufferExperiment;

impl Experiment for WriteBufferExperiment {
    fn name(&self) -> &'static str {
        "write-buffer"
    }

    fn run<'a>(&self, context: &Context<'a>, steps: &mut Steps<'a>) -> Finding {
        match refusal(context) {
            Some(property) => Finding::single(property, None),
            None if is_disk(context) => disk_cache::run(context, steps),
            None if merges(context) => behind_merges::run(context, steps),
            None => bursts::run(context, steps),
        }
    }
}

/// Why the write buffer cannot be tested here; `None` if it can.
fn refusal(context: &Context<'_>) -> Option<Property> {
    let undecided = |reason| Some(Property::undecided(Key::WriteBufferBytes, reason));
    match context.inferences.word(Key::Medium) {
        Some("virtual") => return undecided(wording::buffer_of_volume()),
        None => return undecided(wording::buffer_of_unknown_medium()),
        Some(_) => {}
    }
    if context.evidence.identity.kind == TargetKind::Folder
        && context.evidence.geometry.boundary.is_some_and(|file| file < 1 << 20)
    {
        return undecided(wording::short_files());
    }
    if context.may_begin(bursts::FIRST) { None } else { undecided(context.write_refusal(bursts::FIRST)) }
}

fn is_disk(context: &Context<'_>) -> bool {
    context.inferences.is("disk") || context.inferences.is("shingled_disk")
}

/// Whether it is known how to keep the flash busy with merges.
fn merges(context: &Context<'_>) -> bool {
    let family = context.inferences.word(Key::Mapping);
    family.is_some_and(|family| family != "page") && context.inferences.number(Key::EraseUnitBytes).is_some()
}
