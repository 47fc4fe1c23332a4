//! What a simulated drive of the same model does when it is new.

use anyhow::Context as _;
use likenew_core::plan::Plan;
use likenew_procedures::all::from_plan;
use likenew_procedures::check::{Answers, CheckOptions};
use likenew_sim::Spec;

use crate::aim::Aim;
use crate::aside::conducted;
use crate::exit::Failure;
use crate::measure::options;

/// The twin, asked the same: one that says nothing for what has none. Nothing when somebody asked to stop.
pub(crate) fn of(aim: &Aim, asked: &CheckOptions) -> Result<Option<Answers>, Failure> {
    let Aim::Simulated(spec) = aim else { return Ok(Some(Answers::default())) };
    let Some(twin) = spec.as_new() else { return Ok(Some(Answers::default())) };
    Ok(ask(&twin, asked).with_context(|| format!("the new drive that {} is held against", spec.text))?)
}

/// What a new drive of the model of a real one does, asked the same. Nothing when somebody asked to stop.
pub(crate) fn of_model(twin: &Spec, asked: &CheckOptions) -> Result<Option<Answers>, Failure> {
    Ok(ask(twin, asked).with_context(|| format!("the simulated drive {}", twin.text))?)
}

fn ask(twin: &Spec, asked: &CheckOptions) -> anyhow::Result<Option<Answers>> {
    let options =
        options(&CheckOptions { references: Vec::new(), known_as: None, usual: Vec::new(), ..asked.clone() });
    let plan = Plan { schema: 1, procedure: "check".into(), target: None, seed: 0, options };
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let evidence = conducted(twin, &*procedure, plan)?;
    Ok(evidence.map(|evidence| Answers::of(&procedure.judge(&evidence))))
}
