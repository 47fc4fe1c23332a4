//! `likenew resume RUN`: an interrupted run goes on where it stopped.

use likenew_archive::Archive;
use likenew_core::drive::{Drive, Identity, Kind};
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::rehearsal::Rehearsal;
use likenew_procedures::all::from_plan;
use likenew_procedures::recondition::ReconditionOptions;
use likenew_run::restore::{Again, RestoreError, restore};

use crate::aim::Aim;
use crate::arguments::{Carry, Resume};
use crate::audited::audited;
use crate::commands::recondition;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::measure::{Measurement, Show, ask_about_wear, carry_out};
use crate::output;
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::watched;

pub(crate) fn run(mut command: Resume) -> Result<Exit, Failure> {
    let (run, mut record) = Archive::resume(&command.run)?;
    record.notes.iter().for_each(|note| anstream::eprintln!("likenew: {note}"));
    if watched::is_log(&record) {
        return Err(Failure::Usage(format!(
            "{} is the log of a watch, which has no end to come to: likenew report shows it, likenew watch --log begins another",
            command.run.display()
        )));
    }
    command.how.go_on_with(&record.header.machine.settings).map_err(Failure::Usage)?;
    let (evidence, instrument) = (record.take_evidence(), record.header.machine.instrument);
    let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let rehearsal = Rehearsal::of(&*procedure, &evidence).map_err(Failure::Usage)?;
    if rehearsal.steps() == 0 {
        let path = command.run.display();
        return Err(Failure::Usage(format!(
            "{path} had come to its end, so there is nothing to go on with; likenew judge {path} judges it again"
        )));
    }
    let mut aim = take(&evidence, &command.how)?;
    let Some(_lock) = aim.lock(&command.how)? else { return Ok(Exit::Interrupted) };
    aim.clear_leftover_locked(&command.how)?;
    interrupt::listen()?;
    if aim.is_folder() {
        aim.go_on()?;
    }
    let (shown, is_recondition) = (&command.how.output, evidence.plan.procedure == recondition::NAME);
    let go_on = |show: &mut Show<'_>| -> Result<Exit, Failure> {
        let mut drive = aim.open_for(&*procedure, &command.how)?;
        refuse_another(&evidence, &drive.identity())?;
        ask_about_wear(&mut *drive, procedure.always_asks(), &rehearsal, &aim, &command.how)?;
        if let Some(exit) = bring_back(&mut *drive, &evidence)? {
            return Ok(exit);
        }
        let archive = Some(run);
        let rest = Measurement { drive, procedure, evidence, instrument, archive, rehearsal };
        carry_out(rest, &command.how, show)
    };
    if is_recondition {
        audited(&aim, recondition::NAME, "the rest of a run that was stopped", shown, go_on)
    } else {
        go_on(&mut |document| output::put(vec![document], shown))
    }
}

/// What was measured, and what was agreed to for it, as it is typed again.
fn take(evidence: &Evidence, how: &Carry) -> Result<Aim, Failure> {
    let target = target(evidence)?;
    if evidence.plan.procedure != recondition::NAME {
        return Aim::take(target, how);
    }
    let asked = ReconditionOptions::from_table(&evidence.plan.options).map_err(Failure::Usage)?;
    let mut aim = recondition::take(asked.rung, asked.journal.as_deref(), target, how)?;
    recondition::ask(&mut aim, asked.rung, asked.journal.as_deref(), how)?;
    Ok(aim)
}

/// A path as the run itself names it: what was typed may have been relative to another folder.
fn target(evidence: &Evidence) -> Result<&str, Failure> {
    match evidence.identity.kind {
        Kind::Folder | Kind::File | Kind::Device => Ok(&evidence.identity.name),
        Kind::Simulated | Kind::Nop => evidence.plan.target.as_deref().ok_or_else(|| {
            Failure::Usage("the run does not say on which drive it was measured: start a new run".into())
        }),
    }
}

/// The rest of a run on another drive would be no run.
fn refuse_another(evidence: &Evidence, now: &Identity) -> Result<(), Failure> {
    let then = &evidence.identity;
    let told = |of: &Identity| {
        let model = of.model.as_deref().unwrap_or("model unknown");
        format!("{} ({model}, {} bytes in blocks of {})", of.name, of.capacity_bytes, of.block_bytes)
    };
    let same = then.kind == now.kind && told(then) == told(now);
    same.then_some(()).ok_or_else(|| {
        Failure::Refused(format!(
            "the run was measured on {}, and what is there now is {}: start a new run",
            told(then),
            told(now)
        ))
    })
}

/// Until then nothing is measured, so that somebody who stops it loses nothing. An exit, if somebody did.
fn bring_back(drive: &mut dyn Drive, evidence: &Evidence) -> Result<Option<Exit>, Failure> {
    anstream::eprintln!(
        "Going on after {} workloads{}; the drive is brought back to where it was then.",
        evidence.segments.len(),
        if evidence.sights.is_empty() {
            String::new()
        } else {
            format!(" and {} looks", evidence.sights.len())
        }
    );
    let progress = std::cell::RefCell::new(Progress::new());
    let begins = |again: &Again, done, all| {
        let name = match again {
            Again::Run(workload) => &*workload.name,
            Again::Look(look) => look.name(),
        };
        progress.borrow_mut().begins(name);
        progress.borrow().reached(done, all);
    };
    let Evidence { segments, sights, .. } = evidence;
    let mut recordings = Recordings::default();
    let restored =
        restore(drive, segments, sights, begins, &mut |recorded| recordings.open(recorded), &mut || {
            Box::new(progress.borrow().recorder())
        });
    progress.borrow().finish();
    match restored {
        Ok(()) => Ok(None),
        Err(RestoreError::Stopped(Stop::Interrupted)) => {
            anstream::eprintln!("Stopped on the way back; what was measured before is still kept.");
            Ok(Some(Exit::Interrupted))
        }
        Err(error @ RestoreError::Otherwise { .. }) => Err(Failure::Refused(error.to_string())),
        Err(RestoreError::Run(error)) => Err(error.into()),
        Err(RestoreError::Fault(fault)) => Err(fault.into()),
        Err(error @ RestoreError::Stopped(_)) => Err(Failure::Other(error.into())),
    }
}
