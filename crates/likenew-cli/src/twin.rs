//! What a simulated drive of the same model does when it is new.

use anyhow::Context as _;
use likenew_core::drive::Drive as _;
use likenew_core::plan::Plan;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Recorder;
use likenew_core::segment::Segment;
use likenew_core::verdict::Row;
use likenew_procedures::all::from_plan;
use likenew_procedures::check::{CheckOptions, FigureName};
use likenew_run::conduct::{Observer, conduct};
use likenew_sim::Spec;

use crate::aim::{Aim, read_file};
use crate::exit::Failure;
use crate::measure::options;

/// The figures of the twin, asked the same; nothing for what has none.
pub(crate) fn figures(aim: &Aim, asked: &CheckOptions) -> Result<Option<Vec<(FigureName, f64)>>, Failure> {
    let Aim::Simulated(spec) = aim else { return Ok(None) };
    let Some(twin) = spec.as_new() else { return Ok(None) };
    Ok(Some(ask(&twin, asked).with_context(|| format!("the new drive that {} is held against", spec.text))?))
}

fn ask(twin: &Spec, asked: &CheckOptions) -> anyhow::Result<Vec<(FigureName, f64)>> {
    let options = options(&CheckOptions { references: Vec::new(), ..asked.clone() });
    let plan = Plan { schema: 1, procedure: "check".into(), target: None, seed: 0, options };
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let mut drive = twin.open(read_file)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    conduct(&mut drive, &*procedure, &mut evidence, &mut Nobody)?;
    let findings = procedure.judge(&evidence);
    let rows = findings.tables.get("figures").map(Vec::as_slice).unwrap_or_default();
    rows.iter().map(figure).collect()
}

fn figure(row: &Row) -> anyhow::Result<(FigureName, f64)> {
    let name = row.get("figure").context("a figure has a name")?;
    let value =
        row.get("measured_per_s").and_then(serde_json::Value::as_f64).context("a figure has a value")?;
    Ok((serde_json::from_value(name.clone())?, value))
}

/// Looks on and does nothing.
struct Nobody;

impl Observer for Nobody {
    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn ended(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }
}
