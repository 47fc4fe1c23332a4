//! The metrics of a new simulated drive of the same model.

use anyhow::Context as _;
use likenew_core::plan::Plan;
use likenew_procedures::all::from_plan;
use likenew_procedures::check::{CheckMetrics, CheckOptions};
use likenew_sim::Spec;

use crate::exit::Failure;
use crate::measure::options;
use crate::nested_run::run_nested;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Runs the same check on the new simulated drive; empty metrics if there is none. `None` if the user stopped
/// it.
pub(crate) fn measure(
    resolved_target: &ResolvedTarget,
    asked: &CheckOptions,
) -> Result<Option<CheckMetrics>, Failure> {
    let ResolvedTarget::Simulated(spec) = resolved_target else { return Ok(Some(CheckMetrics::default())) };
    let Some(simulation) = spec.as_new() else { return Ok(Some(CheckMetrics::default())) };
    Ok(ask(&simulation, asked).with_context(|| wording::on_new_drive(&spec.text))?)
}

/// Runs the same check on a simulated new drive of a real one's model. `None` if the user stopped it.
pub(crate) fn of_model(simulation: &Spec, asked: &CheckOptions) -> Result<Option<CheckMetrics>, Failure> {
    Ok(ask(simulation, asked).with_context(|| wording::on_simulated_drive(&simulation.text))?)
}

fn ask(simulation: &Spec, asked: &CheckOptions) -> anyhow::Result<Option<CheckMetrics>> {
    let options = options(&CheckOptions {
        references: Vec::new(),
        catalog_match: None,
        normal: Vec::new(),
        ..asked.clone()
    });
    let plan = Plan::new("check", None, 0, options);
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let evidence = run_nested(simulation, &*procedure, plan)?;
    Ok(evidence.map(|evidence| CheckMetrics::from_findings(&procedure.judge(&evidence))))
}
