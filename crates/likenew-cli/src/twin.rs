//! What a simulated drive of the same model does when it is new.

use anyhow::Context as _;
use likenew_core::plan::Plan;
use likenew_core::verdict::Row;
use likenew_procedures::all::from_plan;
use likenew_procedures::check::{CheckOptions, FigureName, ShapeOption};
use likenew_sim::Spec;

use crate::aim::Aim;
use crate::aside::conducted;
use crate::exit::Failure;
use crate::measure::options;

/// What the twin answered.
#[derive(Default)]
pub(crate) struct Twin {
    pub(crate) figures: Vec<(FigureName, f64)>,
    pub(crate) shapes: Vec<ShapeOption>,
}

/// The twin, asked the same: one that says nothing for what has none. Nothing when somebody asked to stop.
pub(crate) fn of(aim: &Aim, asked: &CheckOptions) -> Result<Option<Twin>, Failure> {
    let Aim::Simulated(spec) = aim else { return Ok(Some(Twin::default())) };
    let Some(twin) = spec.as_new() else { return Ok(Some(Twin::default())) };
    Ok(ask(&twin, asked).with_context(|| format!("the new drive that {} is held against", spec.text))?)
}

fn ask(twin: &Spec, asked: &CheckOptions) -> anyhow::Result<Option<Twin>> {
    let options = options(&CheckOptions { references: Vec::new(), usual: Vec::new(), ..asked.clone() });
    let plan = Plan { schema: 1, procedure: "check".into(), target: None, seed: 0, options };
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let Some(evidence) = conducted(twin, &*procedure, plan)? else { return Ok(None) };
    let findings = procedure.judge(&evidence);
    let rows = |name: &str| findings.tables.get(name).map(Vec::as_slice).unwrap_or_default();
    Ok(Some(Twin {
        figures: rows("figures").iter().map(figure).collect::<anyhow::Result<_>>()?,
        shapes: rows("shapes").iter().map(shape).collect::<anyhow::Result<_>>()?,
    }))
}

fn figure(row: &Row) -> anyhow::Result<(FigureName, f64)> {
    let name = row.get("figure").context("a figure has a name")?;
    let value =
        row.get("measured_per_s").and_then(serde_json::Value::as_f64).context("a figure has a value")?;
    Ok((serde_json::from_value(name.clone())?, value))
}

fn shape(row: &Row) -> anyhow::Result<ShapeOption> {
    let name = row.get("shape").context("a shape has a name")?;
    let value = row.get("value").and_then(serde_json::Value::as_f64).context("a shape has a value")?;
    Ok(ShapeOption { shape: serde_json::from_value(name.clone())?, value })
}
