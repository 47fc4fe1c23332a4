//! Facts of a simulated drive: what a machine with such a drive would show of it, of the layers above it and
//! of other I/O. What no machine could know stays hidden: a counterfeit reports the capacity that it
//! pretends, a drive-managed shingled disk does not say that it is one, and nothing shows the internals.

mod drive;
mod link;
mod stack;

use likenew_core::facts::{Fact, Facts, FileSystem, Files, Machine, Trimming};
use likenew_core::trim::TrimPath;
use likenew_core::units::Nanos;

use crate::model::{Mechanism, Model};
use crate::spec::Spec;
use crate::truth::trims_nothing;
use crate::wording::host::{self as wording, ORIGIN};

/// The drive itself is called so wherever it is spoken of.
const DRIVE: &str = "drive";

/// Something that the drive reports.
pub(crate) fn fact<T>(value: T) -> Fact<T> {
    Fact::new(value, ORIGIN)
}

fn unknown<T>(reason: &str) -> Fact<T> {
    Fact::unknown(reason, ORIGIN)
}

/// What stays as it is while the drive is open. `own` is the drive as its file has it, `model` the same in
/// its situations.
pub(crate) struct StaticFacts {
    pub(crate) facts: Facts,
    /// How long ago the oldest of its data was written when it was opened.
    pub(crate) age: Nanos,
}

impl StaticFacts {
    pub(crate) fn new(spec: &Spec, own: &Model, model: &Model, trim_path: &TrimPath) -> Self {
        let facts = Facts {
            machine: machine(model),
            stack: stack::layers(spec, own, model, trim_path),
            file_system: Some(file_system(spec, model)),
            drives: vec![drive::drive(own, model, trim_path)],
            files: Some(files(model)),
        };
        Self { facts, age: spec.age }
    }
}

fn machine(model: &Model) -> Machine {
    let is_virtual = matches!(model.mechanism, Mechanism::Volume(_));
    Machine {
        root: fact(true),
        container: fact(None),
        virtual_machine: fact(is_virtual.then(|| "cloud VM".to_owned())),
        ..Machine::default()
    }
}

/// What is in use is known where it was said how much of the addresses holds data.
fn file_system(spec: &Spec, model: &Model) -> FileSystem {
    let is_known = spec.fill.is_some() || spec.deleted > 0.0 || spec.state == crate::State::New;
    let used = is_known.then(|| (model.capacity_bytes as f64 * spec.in_use()) as u64);
    let silent = wording::USED_SPACE_NOT_REPORTED;
    let of = |amount: Option<u64>| Fact::from_option(amount, silent, ORIGIN);
    FileSystem {
        point: "/simulated".to_owned(),
        kind: fact("simulated".to_owned()),
        total_bytes: fact(model.capacity_bytes),
        used_bytes: of(used),
        free_bytes: of(used.map(|used| model.capacity_bytes - used)),
        used_percent: Fact::from_option(
            used.map(|used| 100.0 * used as f64 / model.capacity_bytes as f64),
            silent,
            ORIGIN,
        ),
        trimming: Trimming {
            immediate: fact(match &model.mechanism {
                Mechanism::Flash(flash) => !trims_nothing(spec, flash),
                Mechanism::Disk(_) | Mechanism::Volume(_) => true,
            }),
            timer_enabled: fact(false),
            ..Trimming::default()
        },
        compresses: fact(false),
        ..FileSystem::default()
    }
}

/// The whole drive as one file; how old it is follows when it is asked for.
fn files(model: &Model) -> Files {
    let pieces = model.situations.fragment_bytes.map_or(1, |bytes| model.capacity_bytes.div_ceil(bytes));
    let mib = model.capacity_bytes as f64 / f64::from(1 << 20);
    Files {
        files: fact(1),
        bytes: fact(model.capacity_bytes),
        is_part: fact(false),
        files_mapped: fact(1),
        extents_per_mib: fact((pieces - 1) as f64 / mib),
        extents_max: fact(pieces),
        ..Files::default()
    }
}
