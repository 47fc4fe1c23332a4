//! What a cause is, and the list of all, one file pair each.

use std::fmt;

use likenew_core::findings::Action;
use likenew_core::fix::ActionKind;

use super::evidence::LogOdds;
use super::steps::step_cost;
use super::{Case, Evidence, Symptom};

mod background_io;
mod compression;
mod counterfeit;
mod degraded_array;
mod encryption;
mod firmware;
mod fragmentation;
mod heat;
mod host_memory;
mod inner_tracks;
mod lazy_volume;
mod link_errors;
mod misalignment;
mod narrow_link;
mod nearly_full;
mod no_trim;
mod old_data;
mod power_saving;
mod read_cache;
mod scattered_data;
mod shared;
mod shingled;
mod slc_cache;
mod slow_region;
mod slow_usb;
mod token_bucket;
mod worn_out;
mod write_cache_off;

pub use no_trim::{enable_timer, pass_trim};

/// Every cause.
pub static ALL: &[&Cause] = &[
    &slc_cache::CAUSE,
    &no_trim::CAUSE,
    &scattered_data::CAUSE,
    &old_data::CAUSE,
    &slow_region::CAUSE,
    &heat::CAUSE,
    &narrow_link::CAUSE,
    &slow_usb::CAUSE,
    &host_memory::CAUSE,
    &encryption::CAUSE,
    &token_bucket::CAUSE,
    &lazy_volume::CAUSE,
    &inner_tracks::CAUSE,
    &shingled::CAUSE,
    &read_cache::CAUSE,
    &misalignment::CAUSE,
    &fragmentation::CAUSE,
    &counterfeit::CAUSE,
    &background_io::CAUSE,
    &firmware::CAUSE,
    &power_saving::CAUSE,
    &nearly_full::CAUSE,
    &worn_out::CAUSE,
    &write_cache_off::CAUSE,
    &compression::CAUSE,
    &link_errors::CAUSE,
    &degraded_array::CAUSE,
];

/// The cause of this name.
pub fn by_name(name: &str) -> Option<&'static Cause> {
    ALL.iter().copied().find(|cause| cause.name == name)
}

/// What kind of reason a cause is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseKind {
    /// The drive has become slower, or is failing.
    Drive,
    /// By design: it was not faster when new.
    ByDesign,
    /// The drive is fine; its link, a layer above it or other programs are the reason.
    NotTheDrive,
}

/// One reason why a drive may be slow. What it says of a drive depends on the case alone.
pub struct Cause {
    /// Its name in JSON: `no_trim`.
    pub name: &'static str,
    /// Its title, as a noun phrase: `thermal throttling`.
    pub title: &'static str,
    /// Why the drive is slow, as a clause without a full stop.
    pub summary: &'static str,
    /// Its manual page, in Markdown.
    pub manual: &'static str,
    /// The kind of reason.
    pub kind: CauseKind,
    /// Whether it is a problem even if nothing is slow because of it: the drive or its data is in danger.
    pub endangers: bool,
    /// How common it is among drives that are checked, in bits of odds; set by hand.
    pub prior: f64,
    /// The symptoms that it can cause, the most typical first.
    explains: &'static [&'static [Symptom]],
    /// Whether it can cause one of them in this case.
    explains_here: fn(&Case<'_>, Symptom) -> bool,
    /// The evidence for it and against it, in the order in which it is scored.
    pub evidence: &'static [Evidence],
    /// The steps of `likenew recondition` that fix it, the gentlest first.
    pub(crate) fixed_by: &'static [ActionKind],
    /// The steps that fix it in this case, if that depends on what is slow.
    fixed_here: Option<fn(&Case<'_>) -> &'static [ActionKind]>,
    /// Its fixes, the gentlest first.
    pub(crate) actions: fn(&Case<'_>) -> Vec<Action>,
    /// What actions cost besides time and bytes, by their ids; actions that are not listed cost nothing.
    costs: &'static [(&'static str, &'static str)],
    statement: Option<fn(&Case<'_>) -> String>,
}

impl Cause {
    /// Defaults of a cause, which has to replace all fields up to its evidence, and its actions.
    const BLANK: Self = Self {
        name: "",
        title: "",
        summary: "",
        manual: "",
        kind: CauseKind::NotTheDrive,
        endangers: false,
        prior: f64::NAN,
        explains: &[],
        explains_here: |_, _| true,
        evidence: &[],
        fixed_by: &[],
        fixed_here: None,
        actions: |_| Vec::new(),
        costs: &[],
        statement: None,
    };

    /// The symptoms that it can cause, though not in each case, the most typical first.
    pub fn symptoms(&self) -> impl Iterator<Item = Symptom> + use<> {
        self.explains.iter().flat_map(|symptoms| symptoms.iter().copied())
    }

    /// Whether it can cause this symptom in this case.
    pub(crate) fn explains(&self, case: &Case<'_>, symptom: Symptom) -> bool {
        self.symptoms().any(|own| own == symptom) && (self.explains_here)(case, symptom)
    }

    /// The steps of `likenew recondition` that fix it in this case, the gentlest first.
    pub(crate) fn fixed_here(&self, case: &Case<'_>) -> &'static [ActionKind] {
        self.fixed_here.map_or(self.fixed_by, |fixed_here| fixed_here(case))
    }

    /// The evidence for it and against it in this case.
    pub(crate) fn score(&self, case: &Case<'_>) -> LogOdds {
        LogOdds::score(self.prior, self.evidence, case)
    }

    /// The cause on this drive: a clause without a full stop.
    pub fn statement(&self, case: &Case<'_>) -> String {
        self.statement.map_or_else(|| self.summary.to_owned(), |statement| statement(case))
    }
}

impl fmt::Debug for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// The names of the causes that a step fixes.
pub fn causes_fixed_by(kind: ActionKind) -> Vec<&'static str> {
    ALL.iter().filter(|cause| cause.fixed_by.contains(&kind)).map(|cause| cause.name).collect()
}

/// Time, bytes, money or space that an action of this crate costs, for a table.
pub fn cost(action: &Action) -> &'static str {
    let mut costs = ALL.iter().flat_map(|cause| cause.costs);
    let known = costs.find(|(id, _)| action.id.starts_with(id)).map(|(_, cost)| *cost);
    known.or_else(|| step_cost(action)).unwrap_or("nothing")
}
