//! A block device to which something can be done as a whole between measurements: given up, formatted, or written again with what is on it.
//!
//! Such a step needs the device for itself, so that what measures it is closed before and opened again after it. Everything that has to hold is looked at
//! again each time, and the consent is asked of the same words.

use std::path::PathBuf;

use likenew_core::access::Access;
use likenew_core::counters::Counters;
use likenew_core::cure::{Cure, CureEnd, Cured, LeftOut};
use likenew_core::drive::{Accounting, Drive, Identity, Lane, Need};
use likenew_core::fault::Fault;
use likenew_core::look::{Look, Seen};
use likenew_core::outlook::Deed;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_real::consent::{Agreement, Consent};
use likenew_real::engine::Engine;
use likenew_real::erase::discard::discard;
use likenew_real::erase::format::{Erase, FormatPlan};
use likenew_real::erase::precondition::{preconditions, require};
use likenew_real::erase::samples::Samples;
use likenew_real::open::{Options, open};

use crate::interrupt;
use crate::refreshing::DeviceRefresh;

/// Places that are looked at before and after everything was to be given up.
const SAMPLES: u64 = 1024;

/// What was agreed to.
pub(crate) enum Right {
    /// Everything on it may be lost.
    Lose(Agreement),
    /// It may be written to, with what is on it already; it is measured by reads.
    Rewrite(DeviceRefresh),
}

/// An open device, and what opens it again.
pub(crate) struct Whole {
    path: PathBuf,
    right: Right,
    engine: Engine,
    clock: Monotonic,
    /// Nothing only while a step has the device for itself, and after it could not be opened again.
    drive: Option<Box<dyn Drive>>,
}

impl Whole {
    /// Opens what was agreed to.
    ///
    /// # Errors
    /// A refusal of [`Consent::to_overwrite`], or what [`open`] fails by.
    pub(crate) fn open(path: PathBuf, right: Right, engine: Engine) -> Result<Self, Fault> {
        let mut whole = Self { path, right, engine, clock: Monotonic::start(), drive: None };
        whole.open_again()?;
        Ok(whole)
    }

    fn open_again(&mut self) -> Result<(), Fault> {
        let consent = match &self.right {
            Right::Lose(agreement) => Some(Consent::to_overwrite(&self.path, agreement)?),
            Right::Rewrite(_) => None,
        };
        let options = Options { engine: self.engine, layout: None, consent, reserve: None };
        let mut drive = open(&self.path, options)?;
        drive.go_on_at(self.clock.now());
        self.drive = Some(drive);
        Ok(())
    }

    fn drive(&self) -> &dyn Drive {
        &**self.drive.as_ref().expect("what could not be opened again has ended the run")
    }

    fn drive_mut(&mut self) -> &mut dyn Drive {
        &mut **self.drive.as_mut().expect("what could not be opened again has ended the run")
    }

    /// Closes the device for a step and opens it again after it. What refuses the step is an answer.
    fn alone(
        &mut self,
        deed: Deed,
        act: impl FnOnce(&Right, Consent) -> Result<Cured, Fault>,
    ) -> Result<Seen, Fault> {
        self.drive = None;
        let began = self.clock.now();
        let came = self.permitted(deed).and_then(|consent| act(&self.right, consent));
        self.open_again()?;
        match came {
            Ok(cured) => Ok(Seen::Cured(Cured { took: self.clock.now() - began, ..cured })),
            Err(Fault::Refused(why) | Fault::Unsuitable(why)) => Ok(Seen::Unknown(why)),
            Err(fault) => Err(fault),
        }
    }

    fn permitted(&self, deed: Deed) -> Result<Consent, Fault> {
        for (_, found) in preconditions(&self.path, deed)? {
            require(&self.path, &found, deed)?;
        }
        match &self.right {
            Right::Lose(agreement) => Consent::to_overwrite(&self.path, agreement),
            Right::Rewrite(refresh) => Consent::to_rewrite(&self.path, &refresh.agreement),
        }
    }
}

fn give_up(consent: &Consent) -> Result<Cured, Fault> {
    let before = Samples::read(consent, SAMPLES)?;
    let came = discard(consent, |_, _| !interrupt::asked())?;
    let read_back = Some(before.became(&Samples::read(consent, SAMPLES)?));
    let end = if came.stopped && interrupt::asked() { CureEnd::Stopped } else { CureEnd::Complete };
    let refused =
        came.refused.iter().map(|(range, why)| LeftOut { bytes: range.end - range.start, why: why.clone() });
    Ok(Cured { bytes: came.bytes_done, left_out: refused.collect(), read_back, end, ..Cured::default() })
}

fn format(consent: &Consent, erase: Erase) -> Result<Cured, Fault> {
    let plan = FormatPlan::of(consent, erase)?;
    anstream::eprintln!("The drive formats itself: {}. That can not be ended.", plan.in_words());
    let before = Samples::read(consent, SAMPLES)?;
    let formatted = plan.carry_out(consent)?;
    let changed = LeftOut {
        bytes: 0,
        why: "its size or its format is not what it was: look at it before it is used".into(),
    };
    let left_out = if formatted.is_as_before { Vec::new() } else { vec![changed] };
    // Places of a drive of another size are other places.
    let read_back = match formatted.is_as_before {
        true => Some(before.became(&Samples::read(consent, SAMPLES)?)),
        false => None,
    };
    Ok(Cured { bytes: plan.bytes, left_out, read_back, ..Cured::default() })
}

impl Drive for Whole {
    fn identity(&self) -> Identity {
        self.drive().identity()
    }

    fn geometry(&self) -> Geometry {
        self.drive().geometry()
    }

    fn lanes_max(&self) -> u32 {
        self.drive().lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &Need) -> Result<Vec<Lane<'a>>, Fault> {
        self.drive_mut().lanes(need)
    }

    fn reach(&mut self, access: Access, cold: bool) -> Result<(), Fault> {
        self.drive_mut().reach(access, cold)
    }

    fn turn_to_old_files(&mut self, turn: bool) -> Result<(), Fault> {
        self.drive_mut().turn_to_old_files(turn)
    }

    fn counters(&mut self) -> Option<Counters> {
        self.drive_mut().counters()
    }

    fn go_on_at(&mut self, now: Nanos) {
        self.clock = Monotonic::reading(now.max(self.clock.now()));
        self.drive_mut().go_on_at(now);
    }

    fn look(&mut self, look: &Look) -> Result<Seen, Fault> {
        match (look, &self.right) {
            (Look::Cure(Cure::Discard), Right::Lose(_)) => {
                self.alone(Deed::Discard, |_, consent| give_up(&consent))
            }
            (Look::Cure(Cure::Format { crypto }), Right::Lose(_)) => {
                let erase = if *crypto { Erase::Key } else { Erase::UserData };
                self.alone(Deed::NvmeFormat, |_, consent| format(&consent, erase))
            }
            (Look::Cure(Cure::Refresh { pieces }), Right::Rewrite(_)) => {
                self.alone(Deed::Refresh, |right, consent| match right {
                    Right::Rewrite(refresh) => refresh.refresh(consent, pieces),
                    Right::Lose(_) => unreachable!("it was just looked at"),
                })
            }
            (look, _) => self.drive_mut().look(look),
        }
    }

    fn accounting(&self) -> Option<Accounting> {
        self.drive().accounting()
    }
}
