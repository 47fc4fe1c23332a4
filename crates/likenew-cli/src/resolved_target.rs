//! Resolves TARGET: classified by its spelling, and examined before anything is opened.

use std::path::{Path, PathBuf};

use likenew_core::drive::{Drive, Identity};
use likenew_core::facts::Facts;
use likenew_core::input;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Layout, Procedure};
use likenew_real::consent::{Agreement, Loss, UnusedSpace};
use likenew_real::open::{FactsDrive, Options, PathKind, examine};
use likenew_real::scratch::Leftover;
use likenew_real::space::Space;
use likenew_sim::model::Model;
use likenew_sim::{Spec, SpecName, State};

use crate::arguments::{EngineName, ExecutionArguments};
use crate::exit::Failure;
use crate::folder_fixes::FolderFixes;
use crate::refreshing::DeviceRefresh;
use crate::whole_device::{Permission, WholeDevice};
use crate::{embedding, prompt, refreshing, wording};

/// A real target, and the drives below it.
pub(crate) struct TargetFacts {
    pub(crate) identity: Identity,
    pub(crate) facts: Facts,
}

/// A resolved target.
pub(crate) enum ResolvedTarget {
    /// `sim:…`
    Simulated(Box<Spec>),
    /// `nop:`, a drive that does nothing.
    Nop,
    /// Anything else is a path.
    Real(PathBuf, PathKind),
    /// A file or block device that may be overwritten with the owner's consent.
    Overwrite(PathBuf, PathKind, Agreement),
    /// A folder or block device that loses nothing, and whose drive may be changed with the owner's consent;
    /// with the path of the journal, if one was named.
    Preserve(PathBuf, PathKind, Agreement, Option<PathBuf>),
    /// A path of which only facts are read, so it may belong to anyone; without one, every drive of this
    /// machine.
    Facts(Option<PathBuf>),
}

impl ResolvedTarget {
    /// Classifies a target and examines it without changing anything.
    pub(crate) fn resolve(target: &str, run_arguments: &ExecutionArguments) -> Result<Self, Failure> {
        Self::classify(target, run_arguments, |path| {
            Self::examine_with(path, run_arguments, Self::for_overwrite)
        })
    }

    /// The same for a command that opens nothing; a path is not even examined.
    pub(crate) fn resolve_for_facts(
        target: &str,
        run_arguments: &ExecutionArguments,
    ) -> Result<Self, Failure> {
        Self::classify(target, run_arguments, |path| Ok(Self::Facts(Some(path))))
    }

    /// The same for a step of which nothing is lost, but which is done to a drive as a whole.
    pub(crate) fn resolve_to_preserve(
        target: &str,
        run_arguments: &ExecutionArguments,
        journal: Option<&Path>,
    ) -> Result<Self, Failure> {
        Self::classify(target, run_arguments, |path| {
            Self::examine_with(path, run_arguments, |path, place, agreement| {
                Self::for_preserve(path, place, agreement, journal.map(Path::to_owned))
            })
        })
    }

    fn classify(
        target: &str,
        run_arguments: &ExecutionArguments,
        at_path: impl FnOnce(PathBuf) -> Result<Self, Failure>,
    ) -> Result<Self, Failure> {
        if run_arguments.consent.is_some() && (target == "nop:" || target.starts_with("sim:")) {
            return Err(Failure::Usage(wording::consent_for_simulated(target)));
        }
        if target == "nop:" {
            return Ok(Self::Nop);
        }
        if target.starts_with("sim:") {
            return Spec::parse(target)
                .map(|spec| Self::Simulated(Box::new(spec)))
                .map_err(|error| Failure::Usage(error.to_string()));
        }
        // A relative path in a report would mean nothing later.
        let path = std::path::absolute(target)
            .map_err(|error| Failure::Usage(wording::not_a_path(target, error)))?;
        at_path(path)
    }

    fn examine_with(
        path: PathBuf,
        run_arguments: &ExecutionArguments,
        with_consent: impl FnOnce(PathBuf, PathKind, Agreement) -> Result<Self, Failure>,
    ) -> Result<Self, Failure> {
        let place = examine(&path, run_arguments.reserve)?;
        match &run_arguments.consent {
            Some(id) => with_consent(
                path,
                place,
                Agreement { id: id.clone(), destroy: run_arguments.destroy.clone() },
            ),
            None => Ok(Self::Real(path, place)),
        }
    }

    /// A file or block device with consent from the command line, which is checked before anything else.
    fn for_overwrite(path: PathBuf, place: PathKind, agreement: Agreement) -> Result<Self, Failure> {
        if matches!(place, PathKind::Folder { .. }) {
            return Err(Failure::Usage(wording::consent_for_folder(&path)));
        }
        let loss = Loss::at(&path)?;
        loss.check(&agreement)?;
        Ok(Self::Overwrite(path, place, agreement))
    }

    /// A folder or device that loses nothing.
    fn for_preserve(
        path: PathBuf,
        place: PathKind,
        agreement: Agreement,
        journal: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        match place {
            PathKind::Folder { .. } => {
                let UnusedSpace { path, id, .. } = UnusedSpace::in_folder(&path)?;
                agreement.names(&path, &id)?;
            }
            PathKind::Device { .. } => agreement.names(&path, &Loss::at(&path)?.id)?,
            PathKind::File { .. } => {
                return Err(Failure::Usage(wording::file_instead_of_folder(&path)));
            }
        }
        Ok(Self::Preserve(path, place, agreement, journal))
    }

    /// Gets consent for a step that works on a whole drive and loses nothing: asks the user, if none is on
    /// the command line.
    ///
    /// # Errors
    /// A refusal with the command to type.
    pub(crate) fn confirm_preserve(
        &mut self,
        run_arguments: &ExecutionArguments,
        journal: Option<&Path>,
    ) -> Result<(), Failure> {
        let Self::Real(path, place) = self else { return Ok(()) };
        let (what, id) = match place {
            PathKind::Folder { .. } => {
                let space = UnusedSpace::in_folder(path)?;
                (wording::discard_unused(space.bytes(), &space.path, space.model.as_deref()), space.id)
            }
            PathKind::Device { .. } => {
                let loss = Loss::at(path)?;
                (wording::rewrite_in_place(path, loss.model.as_deref()), loss.id)
            }
            PathKind::File { .. } => return self.refuse_writing(),
        };
        let typed = if run_arguments.yes || !prompt::is_interactive() {
            None
        } else {
            prompt::read_line(&wording::type_id_to_go_on(&what, id.kind))?
        };
        let Some(typed) = typed else {
            return Err(Failure::Refused(wording::consent_needed(&what, &id.text, id.kind)));
        };
        let agreement = Agreement { id: typed, destroy: Vec::new() };
        *self = Self::for_preserve(path.clone(), place.clone(), agreement, journal.map(Path::to_owned))?;
        Ok(())
    }

    /// If consent is missing and a user is there: shows what would be lost and asks for it.
    pub(crate) fn ask_for_consent(&mut self, run_arguments: &ExecutionArguments) -> Result<(), Failure> {
        let Self::Real(path, place @ (PathKind::File { .. } | PathKind::Device { .. })) = self else {
            return Ok(());
        };
        if run_arguments.yes || !prompt::is_interactive() {
            return Ok(());
        }
        let loss = Loss::at(path)?;
        let question = wording::type_id_to_overwrite(&loss, loss.id.kind);
        let Some(id) = prompt::read_line(&question)? else { return Ok(()) };
        let destroy = if loss.carries.is_empty() {
            Vec::new()
        } else {
            let answer =
                prompt::read_line(&wording::type_what_to_destroy(&loss.carries))?.unwrap_or_default();
            answer.split([',', ' ']).map(str::to_owned).collect()
        };
        *self = Self::for_overwrite(path.clone(), place.clone(), Agreement { id, destroy })?;
        Ok(())
    }

    /// Whether it is measured in wall time.
    pub(crate) fn is_real(&self) -> bool {
        !matches!(self, Self::Simulated(_))
    }

    /// The path of a real target that is opened.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Real(path, _) | Self::Overwrite(path, ..) | Self::Preserve(path, ..) => Some(path),
            Self::Simulated(_) | Self::Nop | Self::Facts(_) => None,
        }
    }

    /// What the system and the drive report about a real target; `None` for others, or if it cannot be queried.
    pub(crate) fn facts(&self) -> Option<TargetFacts> {
        let mut drive = FactsDrive::at(self.path()?).ok()?;
        match drive.probe(&Probe::Facts) {
            Ok(ProbeResult::Facts(facts)) => Some(TargetFacts { identity: drive.identity(), facts: *facts }),
            _ => None,
        }
    }

    /// Whether it is measured with temporary files.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(
            self,
            Self::Real(_, PathKind::Folder { .. }) | Self::Preserve(_, PathKind::Folder { .. }, ..)
        )
    }

    /// Whether it is an ordinary file.
    pub(crate) fn is_file(&self) -> bool {
        matches!(
            self,
            Self::Real(_, PathKind::File { .. })
                | Self::Overwrite(_, PathKind::File { .. }, _)
                | Self::Preserve(_, PathKind::File { .. }, ..)
        )
    }

    /// Whether a procedure may write to it.
    pub(crate) fn is_writable(&self) -> bool {
        match self {
            Self::Real(..) | Self::Preserve(..) => self.is_folder(),
            Self::Simulated(_) | Self::Nop | Self::Overwrite(..) => true,
            Self::Facts(_) => false,
        }
    }

    /// Whether reads would go to blank addresses.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Simulated(spec) => {
                spec.state == State::New
                    && spec.fill.is_none()
                    && !matches!(spec.drive, SpecName::Snapshot(_))
            }
            Self::Nop | Self::Overwrite(..) | Self::Facts(_) => false,
            Self::Real(..) | Self::Preserve(..) => self.is_folder(),
        }
    }

    /// The model of a simulated drive.
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
            Self::Facts(_) => 0,
            Self::Real(path, place) | Self::Overwrite(path, place, _) | Self::Preserve(path, place, ..) => {
                match place {
                    PathKind::Folder { space, .. } => space.writable_bytes(path)?,
                    PathKind::File { bytes } | PathKind::Device { bytes, .. } => *bytes,
                }
            }
        })
    }

    /// Free space of a folder.
    pub(crate) fn space(&self) -> Option<&Space> {
        match self {
            Self::Real(_, PathKind::Folder { space, .. })
            | Self::Overwrite(_, PathKind::Folder { space, .. }, _)
            | Self::Preserve(_, PathKind::Folder { space, .. }, ..) => Some(space),
            _ => None,
        }
    }

    /// What writing to it would need, for a user who asked for that.
    pub(crate) fn refuse_writing(&self) -> Result<(), Failure> {
        let (path, (what, instead)) = match self {
            Self::Real(path, PathKind::File { .. }) => (path, wording::EXISTING_FILE),
            Self::Real(path, PathKind::Device { .. }) => (path, wording::BLOCK_DEVICE),
            _ => return Ok(()),
        };
        let consent = match Loss::at(path) {
            Ok(loss) => wording::consent_option(&loss.id.text, loss.id.kind, &loss.carries),
            Err(reason) => wording::cannot_be_overwritten(reason),
        };
        Err(Failure::Refused(wording::would_destroy(path, what, instead, &consent)))
    }

    /// The leftovers of an earlier run in a folder, in a sentence, once the user agrees to remove them, if
    /// there is one.
    pub(crate) fn agree_to_clear(
        &self,
        run_arguments: &ExecutionArguments,
    ) -> Result<Option<String>, Failure> {
        let (Self::Real(_, place) | Self::Preserve(_, place, ..)) = self else { return Ok(None) };
        let PathKind::Folder { leftover: Some(leftover), .. } = place else { return Ok(None) };
        let what = describe(leftover);
        if !run_arguments.yes
            && prompt::is_interactive()
            && !prompt::confirm(&wording::remove_leftover(&what))?
        {
            return Err(Failure::Refused(wording::leftover_kept(&what)));
        }
        Ok(Some(what))
    }

    /// Removes the leftovers that [`Self::agree_to_clear`] named. The caller has locked the drive.
    pub(crate) fn remove_leftover(
        &mut self,
        what: &str,
        run_arguments: &ExecutionArguments,
    ) -> Result<(), Failure> {
        let (Self::Real(path, place) | Self::Preserve(path, place, ..)) = self else { return Ok(()) };
        let PathKind::Folder { leftover, .. } = place else { return Ok(()) };
        let Some(leftover) = leftover.take() else { return Ok(()) };
        let kept = leftover.path.clone();
        let removed = leftover.remove()?;
        crate::standard_error::note(wording::leftover_removed(what, removed.files));
        if !removed.foreign.is_empty() {
            return Err(Failure::Refused(wording::leftover_foreign(&kept, &removed.foreign)));
        }
        *place = examine(path, run_arguments.reserve)?;
        Ok(())
    }

    /// Finishes an interrupted refresh of this target, and reports that.
    ///
    /// # Errors
    /// Why it cannot continue, and what to do.
    pub(crate) fn finish_refresh(&self) -> Result<(), Failure> {
        match self {
            Self::Real(folder, PathKind::Folder { .. })
            | Self::Preserve(folder, PathKind::Folder { .. }, ..) => {
                refreshing::resume_and_report(folder)?;
            }
            Self::Preserve(path, _, agreement, journal) => {
                let refresh = DeviceRefresh::new(path, agreement.clone(), journal.clone())?;
                refresh.resume_and_report(path)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens it for a procedure: one that only queries needs no preparation.
    pub(crate) fn open_for(
        &self,
        procedure: &dyn Procedure,
        run_arguments: &ExecutionArguments,
    ) -> Result<Box<dyn Drive>, Failure> {
        match self {
            Self::Real(path, _) if procedure.only_probes() => Ok(Box::new(FactsDrive::at(path)?)),
            _ => self.open(procedure.layout(), run_arguments),
        }
    }

    /// Opens it, a folder with these files.
    pub(crate) fn open(
        &self,
        layout: Layout,
        run_arguments: &ExecutionArguments,
    ) -> Result<Box<dyn Drive>, Failure> {
        match self {
            Self::Simulated(spec) => open_simulated(spec),
            Self::Nop => Ok(Box::new(likenew_real::nop::Nop::new())),
            Self::Facts(None) => Ok(Box::new(FactsDrive::at_all())),
            Self::Facts(Some(path)) => Ok(Box::new(FactsDrive::at(path)?)),
            Self::Real(path, PathKind::Folder { .. }) => open_folder(path, layout, run_arguments, None),
            Self::Real(path, _) => {
                let options = Options {
                    engine: engine(run_arguments.engine),
                    layout: None,
                    consent: None,
                    reserve: run_arguments.reserve,
                };
                Ok(likenew_real::open::open(path, options)?)
            }
            Self::Overwrite(path, _, agreement) => {
                crate::standard_error::note(Loss::at(path)?);
                let permission = Permission::Lose(agreement.clone());
                Ok(Box::new(WholeDevice::open(path.clone(), permission, engine(run_arguments.engine))?))
            }
            Self::Preserve(path, PathKind::Folder { .. }, agreement, _) => {
                open_folder(path, layout, run_arguments, Some(agreement.clone()))
            }
            Self::Preserve(path, _, agreement, journal) => {
                let refresh = DeviceRefresh::new(path, agreement.clone(), journal.clone())?;
                crate::standard_error::note(refresh.announce_text(path));
                Ok(Box::new(WholeDevice::open(
                    path.clone(),
                    Permission::Rewrite(refresh),
                    engine(run_arguments.engine),
                )?))
            }
        }
    }
}

/// Opens a folder, with the fixes for its drive.
fn open_folder(
    path: &Path,
    layout: Layout,
    run_arguments: &ExecutionArguments,
    agreement: Option<Agreement>,
) -> Result<Box<dyn Drive>, Failure> {
    let options = Options {
        engine: engine(run_arguments.engine),
        layout: Some(layout),
        consent: None,
        reserve: run_arguments.reserve,
    };
    let drive = likenew_real::open::open(path, options)?;
    Ok(Box::new(FolderFixes { drive, folder: path.to_owned(), agreement }))
}

fn engine(name: EngineName) -> likenew_real::engine::Engine {
    match name {
        EngineName::Auto => likenew_real::engine::Engine::Auto,
        EngineName::Uring => likenew_real::engine::Engine::Uring,
        EngineName::Posix => likenew_real::engine::Engine::Posix,
    }
}

/// Reads the file of a simulated drive, or one that was saved.
pub(crate) fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if let Some(file) = embedding::drive_file(path) {
        return Ok(file);
    }
    let is_saved = path.extension().is_some_and(|extension| extension == "snapshot");
    Ok(input::read(path, if is_saved { input::SNAPSHOT } else { input::DRIVE })?)
}

fn open_simulated(spec: &Spec) -> Result<Box<dyn Drive>, Failure> {
    let drive = spec.open(read_file).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(Box::new(drive))
}

fn describe(leftover: &Leftover) -> String {
    wording::leftover(leftover.files, leftover.bytes, &leftover.path)
}
