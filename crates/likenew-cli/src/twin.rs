//! What a simulated drive of the same model does when it is new.

use anyhow::Context as _;
use likenew_core::drive::Drive as _;
use likenew_core::plan::Plan;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Recorder;
use likenew_core::segment::Segment;
use likenew_core::verdict::Row;
use likenew_procedures::all::from_plan;
use likenew_procedures::check::{CheckOptions, FigureName, ShapeOption};
use likenew_run::conduct::{Observer, conduct};
use likenew_sim::Spec;

use crate::aim::{Aim, read_file};
use crate::exit::Failure;
use crate::measure::options;

/// What the twin answered.
pub(crate) struct Twin {
    pub(crate) figures: Vec<(FigureName, f64)>,
    pub(crate) shapes: Vec<ShapeOption>,
}

/// The twin, asked the same; nothing for what has none.
pub(crate) fn of(aim: &Aim, asked: &CheckOptions) -> Result<Option<Twin>, Failure> {
    let Aim::Simulated(spec) = aim else { return Ok(None) };
    let Some(twin) = spec.as_new() else { return Ok(None) };
    Ok(Some(ask(&twin, asked).with_context(|| format!("the new drive that {} is held against", spec.text))?))
}

fn ask(twin: &Spec, asked: &CheckOptions) -> anyhow::Result<Twin> {
    let options = options(&CheckOptions { references: Vec::new(), usual: Vec::new(), ..asked.clone() });
    let plan = Plan { schema: 1, procedure: "check".into(), target: None, seed: 0, options };
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let mut drive = twin.open(read_file)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    conduct(&mut drive, &*procedure, &mut evidence, &mut Nobody)?;
    let findings = procedure.judge(&evidence);
    let rows = |name: &str| findings.tables.get(name).map(Vec::as_slice).unwrap_or_default();
    Ok(Twin {
        figures: rows("figures").iter().map(figure).collect::<anyhow::Result<_>>()?,
        shapes: rows("shapes").iter().map(shape).collect::<anyhow::Result<_>>()?,
    })
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
