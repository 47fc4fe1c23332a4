//! The write buffer: how much is taken at the speed of the link before the medium has to keep up.

mod behind_merges;
mod bursts;
mod disk_cache;
mod first_wait;

use likenew_core::drive::Kind;
use likenew_core::workload::Workload;

use super::experiment::{Experiment, ExperimentContext, Finding};
use super::property::{Key, Property};
use super::wording;

/// Writes bursts into an empty buffer.
pub(super) struct WriteBufferExperiment;

impl Experiment for WriteBufferExperiment {
    fn name(&self) -> &'static str {
        "write-buffer"
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        match refusal(context) {
            Some(_) => None,
            None if is_disk(context) => disk_cache::next(context),
            None if merges(context) => behind_merges::next(context),
            None => bursts::next(context),
        }
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        match refusal(context) {
            Some(property) => Finding::single(property, None),
            None if is_disk(context) => disk_cache::find(context),
            None if merges(context) => behind_merges::find(context),
            None => bursts::find(context),
        }
    }
}

/// Why the write buffer cannot be tested here; `None` if it can.
fn refusal(context: &ExperimentContext<'_>) -> Option<Property> {
    let undecided = |reason| Some(Property::undecided(Key::WriteBufferBytes, reason));
    match context.inferences.word(Key::Medium) {
        Some("virtual") => return undecided(wording::buffer_of_volume()),
        None => return undecided(wording::buffer_of_unknown_medium()),
        Some(_) => {}
    }
    if context.evidence.identity.kind == Kind::Folder
        && context.evidence.geometry.boundary.is_some_and(|file| file < 1 << 20)
    {
        return undecided(wording::short_files());
    }
    match context.segments.is_empty() && !context.may_write(bursts::FIRST) {
        true => undecided(context.write_refusal(bursts::FIRST)),
        false => None,
    }
}

fn is_disk(context: &ExperimentContext<'_>) -> bool {
    context.inferences.is("disk") || context.inferences.is("shingled_disk")
}

/// Whether it is known how to keep the flash busy with merges.
fn merges(context: &ExperimentContext<'_>) -> bool {
    let family = context.inferences.word(Key::Mapping);
    family.is_some_and(|family| family != "page") && context.inferences.number(Key::EraseUnitBytes).is_some()
}
