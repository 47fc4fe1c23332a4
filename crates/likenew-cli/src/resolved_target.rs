//! Resolves TARGET by its spelling, examines it before anything is opened, gets the consent that a command needs, locks
//! its drives, and opens it.

use std::path::{Path, PathBuf};

use likenew_core::drive::{Drive, Identity};
use likenew_core::facts::Facts;
use likenew_core::input;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Layout, Procedure};
use likenew_procedures::recondition::StepName;
use likenew_real::consent::{Agreement, Loss, UnusedSpace};
use likenew_real::drive_lock::{DriveLock, Locks};
use likenew_real::engine::Engine;
use likenew_real::open::{FactsDrive, Options, PathKind, examine};
use likenew_real::space::Space;
use likenew_sim::model::Model;
use likenew_sim::{SimDrive, SimError, Spec, SpecName, State};

use crate::arguments::{EngineName, ExecutionArguments};
use crate::exit::{Failure, Result};
use crate::fixable_drive::{FixableDrive, Fixes};
use crate::printed::PrintedFacts;
use crate::refreshing::DeviceRefresh;
use crate::{embedding, interrupt, question, refreshing, wording};

/// Facts of a real target and of the drives below it.
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
    Path(PathBuf, PathKind, Permission),
    /// Only facts are read.
    Facts(FactsPlace),
}

/// Where facts come from.
#[derive(Clone)]
pub(crate) enum FactsPlace {
    /// A path, whoever owns it.
    Path(PathBuf),
    /// Every drive of this machine.
    All,
    /// Drives of another machine, from what programs printed there.
    Printed(Box<PrintedFacts>),
}

impl FactsPlace {
    fn open(&self) -> Result<FactsDrive> {
        Ok(match self {
            Self::Path(path) => FactsDrive::at(path)?,
            Self::All => FactsDrive::at_all(),
            Self::Printed(printed) => FactsDrive::known(printed.name.clone(), printed.facts.clone()),
        })
    }
}

/// What the owner of a path agreed to.
pub(crate) enum Permission {
    /// Nothing: the path is read, and in a folder temporary files are written.
    None,
    /// A file or block device may be overwritten.
    Overwrite(Agreement),
    /// The drive of a folder, or a block device, may be changed and loses nothing. The path is that
    /// of the journal, if named.
    Preserve(Agreement, Option<PathBuf>),
}

impl ResolvedTarget {
    /// A file or block device that may be overwritten. Its consent is checked here.
    fn for_overwrite(path: PathBuf, place: PathKind, agreement: Agreement) -> Result<Self> {
        Failure::reject_if(matches!(place, PathKind::Folder { .. }), wording::consent_for_folder(&path))?;
        let loss = Loss::at(&path)?;
        loss.check(&agreement)?;
        Ok(Self::Path(path, place, Permission::Overwrite(agreement)))
    }

    /// A folder or device that may be changed without a loss. Its consent is checked here.
    fn for_preserve(
        path: PathBuf,
        place: PathKind,
        agreement: Agreement,
        journal: Option<PathBuf>,
    ) -> Result<Self> {
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
        Ok(Self::Path(path, place, Permission::Preserve(agreement, journal)))
    }

    /// Gets consent for a step that works on a whole drive and loses nothing. Asks the user if the command line has none.
    ///
    /// # Errors
    /// A refusal with the command to type.
    fn confirm_preserve(&mut self, execution: &ExecutionArguments, journal: Option<&Path>) -> Result<()> {
        let Self::Path(path, place, Permission::None) = self else { return Ok(()) };
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
        let typed = if execution.yes || !question::is_interactive() {
            None
        } else {
            question::read_line(&wording::type_id_to_go_on(&what, id.kind))?
        };
        let Some(typed) = typed else {
            return Err(Failure::Refused(wording::consent_needed(&what, &id.text, id.kind)));
        };
        let agreement = Agreement { id: typed, destroy: Vec::new() };
        *self = Self::for_preserve(path.clone(), place.clone(), agreement, journal.map(Path::to_owned))?;
        Ok(())
    }

    /// If consent is missing and a user is there, shows what would be lost and asks for it.
    fn ask_for_consent(&mut self, execution: &ExecutionArguments) -> Result<()> {
        let Self::Path(path, place, Permission::None) = self else { return Ok(()) };
        if matches!(place, PathKind::Folder { .. }) || execution.yes || !question::is_interactive() {
            return Ok(());
        }
        let loss = Loss::at(path)?;
        let question = wording::type_id_to_overwrite(&loss, loss.id.kind);
        let Some(id) = question::read_line(&question)? else { return Ok(()) };
        let destroy = if loss.carries.is_empty() {
            Vec::new()
        } else {
            let answer = question::read_line(&wording::type_what_to_destroy(&loss.carries))?;
            answer.unwrap_or_default().split([',', ' ']).map(str::to_owned).collect()
        };
        *self = Self::for_overwrite(path.clone(), place.clone(), Agreement { id, destroy })?;
        Ok(())
    }

    /// Whether it is measured in wall time.
    pub(crate) fn is_real(&self) -> bool {
        !matches!(self, Self::Simulated(_))
    }

    /// Whether it is a drive of this machine.
    pub(crate) fn is_here(&self) -> bool {
        !matches!(self, Self::Simulated(_) | Self::Facts(FactsPlace::Printed(_)))
    }

    /// The path of a real target, unless only its facts are read.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Path(path, ..) => Some(path),
            Self::Simulated(_) | Self::Nop | Self::Facts(_) => None,
        }
    }

    /// What the system and the drive report about a real target; `None` for others, or if it cannot be queried.
    pub(crate) fn facts(&self) -> Option<TargetFacts> {
        let mut drive = match self {
            Self::Facts(place) => place.open().ok()?,
            _ => FactsDrive::at(self.path()?).ok()?,
        };
        match drive.probe(&Probe::Facts) {
            Ok(ProbeResult::Facts(facts)) => Some(TargetFacts { identity: drive.identity(), facts: *facts }),
            _ => None,
        }
    }

    /// What programs printed on another machine.
    pub(crate) fn printed(&self) -> Option<&PrintedFacts> {
        match self {
            Self::Facts(FactsPlace::Printed(printed)) => Some(printed),
            _ => None,
        }
    }

    /// Whether it is measured with temporary files.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Self::Path(_, PathKind::Folder { .. }, _))
    }

    /// Whether a procedure may write to it.
    pub(crate) fn is_writable(&self) -> bool {
        match self {
            Self::Simulated(_) | Self::Nop | Self::Path(.., Permission::Overwrite(_)) => true,
            Self::Path(..) => self.is_folder(),
            Self::Facts(_) => false,
        }
    }

    /// Whether reads would go to blank addresses, because nothing was written there.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Simulated(spec) => {
                spec.state == State::New
                    && spec.fill.is_none()
                    && !matches!(spec.drive, SpecName::Snapshot(_))
            }
            Self::Nop | Self::Path(..) | Self::Facts(_) => self.is_folder(),
        }
    }

    /// A simulated drive.
    pub(crate) fn spec(&self) -> Option<&Spec> {
        match self {
            Self::Simulated(spec) => Some(spec),
            _ => None,
        }
    }

    /// The model of a simulated drive.
    pub(crate) fn model(&self) -> Result<Option<Model>> {
        Ok(self.spec().map(|spec| spec.model(read_file)).transpose()?)
    }

    /// Bytes that a procedure may use.
    pub(crate) fn usable_bytes(&self) -> Result<u64> {
        Ok(match self {
            Self::Simulated(spec) => spec.capacity_bytes(read_file)?,
            Self::Nop => likenew_real::nop::Nop::new().geometry().capacity,
            Self::Facts(_) => 0,
            Self::Path(path, PathKind::Folder { space, .. }, _) => space.writable_bytes(path)?,
            Self::Path(_, PathKind::File { bytes } | PathKind::Device { bytes, .. }, _) => *bytes,
        })
    }

    /// Free space of a folder.
    pub(crate) fn space(&self) -> Option<&Space> {
        match self {
            Self::Path(_, PathKind::Folder { space, .. }, _) => Some(space),
            _ => None,
        }
    }

    /// Refuses a target that must not be written, and says what consent it needs.
    pub(crate) fn refuse_writing(&self) -> Result<()> {
        let (path, (what, instead)) = match self {
            Self::Path(path, PathKind::File { .. }, Permission::None) => (path, wording::EXISTING_FILE),
            Self::Path(path, PathKind::Device { .. }, Permission::None) => (path, wording::BLOCK_DEVICE),
            _ => return Ok(()),
        };
        let consent = match Loss::at(path) {
            Ok(loss) => wording::consent_option(&loss.id.text, loss.id.kind, &loss.carries),
            Err(reason) => wording::cannot_be_overwritten(reason),
        };
        Err(Failure::Refused(wording::would_destroy(path, what, instead, &consent)))
    }

    /// Describes the leftovers of an earlier run in a folder, once a user who is there agrees to
    /// remove them. `None` without leftovers.
    pub(crate) fn agree_to_clear(&self, execution: &ExecutionArguments) -> Result<Option<String>> {
        let Self::Path(_, PathKind::Folder { leftover: Some(leftover), .. }, _) = self else {
            return Ok(None);
        };
        let what = wording::leftover(leftover.files, leftover.bytes, &leftover.path);
        if !execution.yes
            && question::is_interactive()
            && !question::confirm(&wording::remove_leftover(&what))?
        {
            return Err(Failure::Refused(wording::leftover_kept(&what)));
        }
        Ok(Some(what))
    }

    /// Removes the leftovers that [`Self::agree_to_clear`] named. The caller has locked the drive.
    pub(crate) fn remove_leftover(&mut self, what: &str, execution: &ExecutionArguments) -> Result<()> {
        let Self::Path(path, place, _) = self else { return Ok(()) };
        let PathKind::Folder { leftover, .. } = place else { return Ok(()) };
        let Some(leftover) = leftover.take() else { return Ok(()) };
        let kept = leftover.path.clone();
        let removed = leftover.remove()?;
        crate::console::note(wording::leftover_removed(what, removed.files));
        Failure::refuse_if(!removed.foreign.is_empty(), wording::leftover_foreign(&kept, &removed.foreign))?;
        *place = examine(path, execution.reserve)?;
        Ok(())
    }

    /// Finishes an interrupted refresh of this target, and reports that.
    ///
    /// # Errors
    /// Why it cannot continue, and what to do.
    pub(crate) fn finish_refresh(&self) -> Result<()> {
        match self {
            Self::Path(folder, PathKind::Folder { .. }, _) => refreshing::resume_and_report(folder)?,
            Self::Path(path, _, Permission::Preserve(agreement, journal)) => {
                let refresh = DeviceRefresh::new(path, agreement.clone(), journal.clone())?;
                refresh.resume_and_report(path)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Opens the target for a procedure; a folder gets files of this layout. A procedure that only queries needs no
    /// preparation.
    pub(crate) fn open(
        &self,
        procedure: &dyn Procedure,
        layout: Layout,
        execution: &ExecutionArguments,
    ) -> Result<Box<dyn Drive>> {
        let engine = match execution.engine {
            EngineName::Auto => Engine::Auto,
            EngineName::Uring => Engine::Uring,
            EngineName::Posix => Engine::Posix,
        };
        let options = |layout| Options { engine, layout, consent: None, reserve: execution.reserve };
        match self {
            Self::Simulated(spec) => Ok(Box::new(interrupt::silently(|| make(spec))?)),
            Self::Nop => Ok(Box::new(likenew_real::nop::Nop::new())),
            Self::Facts(place) => Ok(Box::new(place.open()?)),
            Self::Path(path, _, Permission::None) if procedure.only_probes() => {
                Ok(Box::new(FactsDrive::at(path)?))
            }
            Self::Path(path, PathKind::Folder { .. }, permission) => {
                let drive = likenew_real::open::open(path, options(Some(layout)))?;
                let agreement = match permission {
                    Permission::Preserve(agreement, _) => Some(agreement.clone()),
                    Permission::None | Permission::Overwrite(_) => None,
                };
                Ok(Box::new(FixableDrive::folder(drive, path.clone(), agreement)))
            }
            Self::Path(path, _, Permission::None) => Ok(likenew_real::open::open(path, options(None))?),
            Self::Path(path, _, Permission::Overwrite(agreement)) => {
                crate::console::note(Loss::at(path)?);
                let fixes = Fixes::Erasing(agreement.clone());
                Ok(Box::new(FixableDrive::device(path.clone(), fixes, engine)?))
            }
            Self::Path(path, _, Permission::Preserve(agreement, journal)) => {
                let refresh = DeviceRefresh::new(path, agreement.clone(), journal.clone())?;
                crate::console::note(refresh.announce_text(path));
                Ok(Box::new(FixableDrive::device(path.clone(), Fixes::Rewriting(refresh), engine)?))
            }
        }
    }
}

/// What a command may do to its targets. The command line alone decides this; a plan that needs more is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access<'a> {
    /// Reads facts of the target, or of every drive of this machine, and opens nothing for I/O.
    Facts { of_all: bool },
    /// Uses facts that programs printed on another machine.
    Printed(&'a PrintedFacts),
    /// Reads the target; in a folder, also writes temporary files.
    Read,
    /// Writes to the target; a file or device needs its owner's consent.
    Write,
    /// Like `Write`, for a replay: a refusal also says how to replay only the reads.
    Replay,
    /// Takes a step of recondition, which decides what consent it needs. A dry run needs none.
    Step { step: Option<StepName>, journal: Option<&'a Path>, is_dry_run: bool },
}

impl Access<'_> {
    /// Resolves a target as it was typed, without changing anything.
    pub(crate) fn resolve(self, typed: &str, execution: &ExecutionArguments) -> Result<ResolvedTarget> {
        match self {
            Self::Facts { of_all: true } => return Ok(ResolvedTarget::Facts(FactsPlace::All)),
            Self::Printed(facts) => {
                return Ok(ResolvedTarget::Facts(FactsPlace::Printed(Box::new(facts.clone()))));
            }
            _ => {}
        }
        let is_simulated = typed.starts_with("sim:");
        if is_simulated || typed == "nop:" {
            return match &execution.consent {
                Some(_) => Err(Failure::Usage(wording::consent_for_simulated(typed))),
                None if is_simulated => Ok(ResolvedTarget::Simulated(Box::new(Spec::parse(typed)?))),
                None => Ok(ResolvedTarget::Nop),
            };
        }
        // A relative path in a report would mean nothing later.
        let path =
            std::path::absolute(typed).map_err(|error| Failure::Usage(wording::not_a_path(typed, error)))?;
        if self.is_facts() {
            return Ok(ResolvedTarget::Facts(FactsPlace::Path(path)));
        }
        let kind = examine(&path, execution.reserve)?;
        let Some(id) = execution.consent.clone() else {
            return Ok(ResolvedTarget::Path(path, kind, Permission::None));
        };
        let agreement = Agreement { id, destroy: execution.destroy.clone() };
        match self {
            Self::Step { step, journal, .. } if keeps_data(step, typed) => {
                ResolvedTarget::for_preserve(path, kind, agreement, journal.map(Path::to_owned))
            }
            _ => ResolvedTarget::for_overwrite(path, kind, agreement),
        }
    }

    /// Gets every consent that this access needs.
    ///
    /// # Errors
    /// A refusal with the command to type.
    pub(crate) fn ask(self, target: &mut ResolvedTarget, execution: &ExecutionArguments) -> Result<()> {
        match self {
            Self::Facts { .. } | Self::Printed(_) | Self::Read | Self::Step { is_dry_run: true, .. } => {
                Ok(())
            }
            Self::Write => {
                target.ask_for_consent(execution)?;
                target.refuse_writing()
            }
            Self::Replay => {
                target.ask_for_consent(execution)?;
                target.refuse_writing().map_err(|failure| failure.with_hint(wording::with_reads_only_hint))
            }
            Self::Step { step, journal, .. } => ask_for_step(target, step, journal, execution),
        }
    }

    /// Whether only facts are read.
    pub(crate) fn is_facts(self) -> bool {
        matches!(self, Self::Facts { .. } | Self::Printed(_))
    }

    /// Whether an interrupted refresh must be finished before a plan is made.
    pub(crate) fn finishes_refresh(self) -> bool {
        matches!(self, Self::Step { is_dry_run: false, .. })
    }
}

/// Whether a step works on a whole drive but loses nothing. It then needs consent to the work, not to a loss.
fn keeps_data(step: Option<StepName>, typed: &str) -> bool {
    match step {
        Some(StepName::DiscardUnused) => true,
        Some(StepName::Refresh | StepName::Rewrite) => !Path::new(typed).is_dir(),
        _ => false,
    }
}

fn ask_for_step(
    target: &mut ResolvedTarget,
    step: Option<StepName>,
    journal: Option<&Path>,
    execution: &ExecutionArguments,
) -> Result<()> {
    let Some(path) = target.path().filter(|_| !target.is_folder()) else {
        return match step {
            Some(StepName::DiscardUnused) => target.confirm_preserve(execution, journal),
            _ => Ok(()),
        };
    };
    match step {
        Some(StepName::Refresh | StepName::Rewrite) => target.confirm_preserve(execution, journal),
        Some(step) if step.destroys() => {
            target.ask_for_consent(execution)?;
            target.refuse_writing()
        }
        _ if matches!(target, ResolvedTarget::Path(_, PathKind::File { .. }, _)) => {
            Err(Failure::Refused(wording::file_for_recondition(path)))
        }
        Some(StepName::DiscardUnused) => {
            Err(Failure::Refused(wording::not_a_folder_for_discard_unused(path.display())))
        }
        _ => Err(Failure::Refused(wording::device_for_recondition(path))),
    }
}

/// Environment variable that names another folder for the locks than the one all users share. Tests
/// set it to run side by side: a run sees only the locks in its own folder.
const FOLDER: &str = "LIKENEW_LOCK_DIR";

/// Locks the drives below these paths. With `wait`, waits for a run that holds them. Ctrl-C just ends a process that
/// does not listen for signals.
///
/// # Errors
/// A refusal that names the other run, and what to do; or the user stopped the wait.
pub(crate) fn lock(paths: &[&Path], wait: bool) -> Result<DriveLock> {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let locks = folder.map_or_else(Locks::system, Locks::in_folder);
    if !wait {
        return Ok(locks.take(paths)?);
    }
    let mut is_said = false;
    let lock = locks.wait(paths, &mut |holder| {
        if !is_said {
            crate::console::note(wording::waiting_for_run(holder));
            is_said = true;
        }
        !interrupt::is_requested()
    })?;
    lock.ok_or(Failure::Interrupted)
}

/// Makes a simulated drive, unless the user stops that.
pub(crate) fn make(spec: &Spec) -> Result<SimDrive, SimError> {
    spec.open_unless(read_file, &interrupt::is_requested)
}

/// Reads the file or the snapshot of a simulated drive.
pub(crate) fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    if let Some(file) = embedding::drive_file(path) {
        return Ok(file);
    }
    let is_saved = path.extension().is_some_and(|extension| extension == "snapshot");
    Ok(input::read(path, if is_saved { input::SNAPSHOT } else { input::DRIVE })?)
}
