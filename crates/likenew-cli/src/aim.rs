//! What TARGET means: told apart by how it is spelled, looked at before anything is opened.

use std::path::{Path, PathBuf};

use likenew_core::drive::Drive;
use likenew_core::procedure::Layout;
use likenew_real::leftover::Leftover;
use likenew_real::open::{Options, Place, examine};
use likenew_sim::Spec;
use likenew_sim::model::Model;

use crate::arguments::{Carry, EngineName};
use crate::exit::Failure;
use crate::prompt;

/// What was meant by TARGET.
pub(crate) enum Aim {
    /// `sim:…`
    Simulated(Spec),
    /// `nop:`, a drive that does nothing.
    Nop,
    /// Anything else is a path.
    Real(PathBuf, Place),
}

impl Aim {
    /// Tells targets apart and looks at them without changing anything.
    pub(crate) fn take(target: &str, how: &Carry) -> Result<Self, Failure> {
        if target == "nop:" {
            return Ok(Self::Nop);
        }
        if target.starts_with("sim:") {
            return Spec::parse(target)
                .map(Self::Simulated)
                .map_err(|error| Failure::Usage(error.to_string()));
        }
        // A report that says "." would mean nothing tomorrow.
        let path = std::path::absolute(target)
            .map_err(|error| Failure::Usage(format!("\"{target}\" is no path: {error}")))?;
        let place = examine(&path, how.reserve)?;
        Ok(Self::Real(path, place))
    }

    /// Whether it is measured in wall time.
    pub(crate) fn is_real(&self) -> bool {
        !matches!(self, Self::Simulated(_))
    }

    /// Whether it is measured with own files.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Self::Real(_, Place::Folder { .. }))
    }

    /// Whether a procedure may write to it.
    pub(crate) fn is_writable(&self) -> bool {
        !matches!(self, Self::Real(_, Place::File { .. } | Place::Device { .. }))
    }

    /// What is known of a simulated drive.
    pub(crate) fn model(&self) -> Result<Option<Model>, Failure> {
        let Self::Simulated(spec) = self else { return Ok(None) };
        spec.model(read_file).map(Some).map_err(|error| Failure::Usage(error.to_string()))
    }

    /// Bytes that a procedure may use.
    pub(crate) fn usable_bytes(&self) -> Result<u64, Failure> {
        Ok(match self {
            Self::Simulated(spec) => {
                spec.model(read_file).map_err(|error| Failure::Usage(error.to_string()))?.capacity_bytes
            }
            Self::Nop => likenew_real::nop::Nop::new().geometry().capacity,
            Self::Real(_, Place::Folder { space, .. }) => space.usable_bytes,
            Self::Real(_, Place::File { bytes } | Place::Device { bytes, .. }) => *bytes,
        })
    }

    /// What writing to it would need, for a person who asked for that.
    pub(crate) fn refuse_writing(&self) -> Result<(), Failure> {
        match self {
            Self::Real(path, Place::File { .. }) => Err(Failure::Refused(format!(
                "{} is an existing file, and writing would destroy what it holds; nothing was changed. To only read it, take \
                 likenew surface, or --op read where there is one; or give the folder it lies in to measure with own files",
                path.display()
            ))),
            Self::Real(path, Place::Device { .. }) => Err(Failure::Refused(format!(
                "{} is a block device, and writing would destroy what it holds; nothing was changed. To only read it, take \
                 likenew surface, or --op read where there is one; or give a folder on it to measure with own files",
                path.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Removes what a killed run has left in a folder: asks where there is somebody to ask.
    pub(crate) fn clear_leftover(&mut self, how: &Carry) -> Result<(), Failure> {
        let Self::Real(path, Place::Folder { leftover, .. }) = self else { return Ok(()) };
        let Some(leftover) = leftover.take() else { return Ok(()) };
        let what = describe(&leftover);
        if !how.yes && prompt::somebody_is_there() && !prompt::confirm(&format!("{what} Remove it?")) {
            return Err(Failure::Refused(format!("{what} Nothing was changed")));
        }
        let kept = leftover.path.clone();
        let removed = leftover.remove()?;
        anstream::eprintln!("{what} Removed {} files.", removed.files);
        if !removed.foreign.is_empty() {
            return Err(Failure::Refused(format!(
                "{} holds files that are not ours ({}); they were kept: move them away and try again",
                kept.display(),
                removed.foreign.join(", ")
            )));
        }
        let path = path.clone();
        let place = examine(&path, how.reserve)?;
        *self = Self::Real(path, place);
        Ok(())
    }

    /// Opens it.
    pub(crate) fn open(&self, layout: Layout, how: &Carry) -> Result<Box<dyn Drive>, Failure> {
        match self {
            Self::Simulated(spec) => open_simulated(spec),
            Self::Nop => Ok(Box::new(likenew_real::nop::Nop::new())),
            Self::Real(path, place) => {
                let layout = matches!(place, Place::Folder { .. }).then_some(layout);
                let options =
                    Options { engine: engine(how.engine), layout, consent: None, reserve: how.reserve };
                Ok(likenew_real::open::open(path, options)?)
            }
        }
    }
}

fn engine(name: EngineName) -> likenew_real::engine::Engine {
    match name {
        EngineName::Auto => likenew_real::engine::Engine::Auto,
        EngineName::Uring => likenew_real::engine::Engine::Uring,
        EngineName::Posix => likenew_real::engine::Engine::Posix,
    }
}

/// Reads the file of a simulated drive.
pub(crate) fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    std::fs::read(path)
}

fn open_simulated(spec: &Spec) -> Result<Box<dyn Drive>, Failure> {
    let drive = spec.open(read_file).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(Box::new(drive))
}

fn describe(leftover: &Leftover) -> String {
    format!(
        "A run that was killed has left {} files ({}) in {}.",
        leftover.files,
        likenew_core::units::amount(leftover.bytes),
        leftover.path.display()
    )
}
