//! A device that was consented to, which can be given up or formatted as a whole between measurements.
//!
//! Such a step needs the device for itself, so that what measures it is closed before and opened again after it. Everything that has to hold is looked at
//! again each time, and the consent is asked of the same words.

use std::path::PathBuf;

use likenew_core::access::Access;
use likenew_core::counters::Counters;
use likenew_core::cure::{Cure, Cured, LeftOut};
use likenew_core::drive::{Accounting, Drive, Identity, Lane, Need};
use likenew_core::fault::Fault;
use likenew_core::look::{Look, Seen};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_real::clock::Monotonic;
use likenew_real::consent::{Agreement, Consent};
use likenew_real::engine::Engine;
use likenew_real::erase::deny::Step;
use likenew_real::erase::discard::discard;
use likenew_real::erase::format::{Erase, FormatPlan};
use likenew_real::erase::precondition::{preconditions, require};
use likenew_real::open::{Options, open};

use crate::interrupt;

/// An open device, and what opens it again.
pub(crate) struct Erasing {
    path: PathBuf,
    agreement: Agreement,
    engine: Engine,
    clock: Monotonic,
    /// Nothing only while a step has the device for itself, and after it could not be opened again.
    drive: Option<Box<dyn Drive>>,
}

impl Erasing {
    /// Opens what was consented to.
    ///
    /// # Errors
    /// A refusal of [`Consent::to_overwrite`], or what [`open`] fails by.
    pub(crate) fn open(path: PathBuf, agreement: Agreement, engine: Engine) -> Result<Self, Fault> {
        let mut erasing = Self { path, agreement, engine, clock: Monotonic::start(), drive: None };
        erasing.open_again()?;
        Ok(erasing)
    }

    fn open_again(&mut self) -> Result<(), Fault> {
        let consent = Some(Consent::to_overwrite(&self.path, &self.agreement)?);
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
        step: Step,
        act: impl FnOnce(&Consent) -> Result<Cured, Fault>,
    ) -> Result<Seen, Fault> {
        self.drive = None;
        let began = self.clock.now();
        let came = self.permitted(step).and_then(|consent| act(&consent));
        self.open_again()?;
        match came {
            Ok(cured) => Ok(Seen::Cured(Cured { took: self.clock.now() - began, ..cured })),
            Err(Fault::Refused(why) | Fault::Unsuitable(why)) => Ok(Seen::Unknown(why)),
            Err(fault) => Err(fault),
        }
    }

    fn permitted(&self, step: Step) -> Result<Consent, Fault> {
        for (_, found) in preconditions(&self.path, step)? {
            require(&self.path, &found, step)?;
        }
        Consent::to_overwrite(&self.path, &self.agreement)
    }
}

fn give_up(consent: &Consent) -> Result<Cured, Fault> {
    let came = discard(consent, |_, _| !interrupt::asked())?;
    let refused =
        came.refused.iter().map(|(range, why)| LeftOut { bytes: range.end - range.start, why: why.clone() });
    Ok(Cured { bytes: came.bytes_done, left_out: refused.collect(), ..Cured::default() })
}

fn format(consent: &Consent, erase: Erase) -> Result<Cured, Fault> {
    let plan = FormatPlan::of(consent, erase)?;
    anstream::eprintln!("The drive formats itself: {}. That can not be ended.", plan.in_words());
    let formatted = plan.carry_out(consent)?;
    let changed = LeftOut {
        bytes: 0,
        why: "its size or its format is not what it was: look at it before it is used".into(),
    };
    let left_out = if formatted.is_as_before { Vec::new() } else { vec![changed] };
    Ok(Cured { bytes: plan.bytes, left_out, ..Cured::default() })
}

impl Drive for Erasing {
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
        match look {
            Look::Cure(Cure::Discard) => self.alone(Step::Discard, give_up),
            Look::Cure(Cure::Format { crypto }) => {
                let erase = if *crypto { Erase::Key } else { Erase::UserData };
                self.alone(Step::NvmeFormat, |consent| format(consent, erase))
            }
            look => self.drive_mut().look(look),
        }
    }

    fn accounting(&self) -> Option<Accounting> {
        self.drive().accounting()
    }
}
