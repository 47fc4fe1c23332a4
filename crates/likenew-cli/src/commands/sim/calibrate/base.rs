//! The simulated drive that a calibration begins with.

use likenew_calibration::{Base, MeasuredRun, Options, closest};
use likenew_core::drive::Kind;
use likenew_core::facts::Facts;
use likenew_core::probe::ProbeResult;
use likenew_sim::model::Mechanism;
use likenew_sim::{Spec, catalog};

use super::{Bar, failure};
use crate::arguments::SimCalibrate;
use crate::catalog_match;
use crate::exit::Failure;
use crate::resolved_target::read_file;
use crate::wording::calibrate as wording;

/// The drive that was named, the catalog's of this model, or the one that does the runs best; as large as the real one.
pub(super) fn choose(
    command: &SimCalibrate,
    runs: &[MeasuredRun],
    options: &Options,
    bar: &Bar,
) -> Result<Base, Failure> {
    let capacity = capacity(runs);
    let of_model = runs.iter().find_map(|run| catalog_match::find(facts(run)?)).map(|found| found.simulation);
    let named = command.like.as_deref().map(super::super::spec).transpose()?;
    if let Some(spec) = named.or(of_model) {
        return base(&spec, capacity);
    }
    let state = state(runs);
    let rotates = runs.iter().any(|run| run.evidence.identity.rotates());
    let candidates: Vec<Base> = catalog()
        .iter()
        .filter(|entry| entry.model.faults.is_none() && is_of_medium(&entry.model.mechanism, rotates))
        .filter_map(|entry| base(&Spec::parse(&format!("sim:{}{state}", entry.name)).ok()?, capacity).ok())
        .collect();
    bar.begin(wording::CHOOSING_BASE);
    let found = closest(&candidates, runs, options, bar).map_err(failure)?;
    found.cloned().ok_or_else(|| Failure::Usage(wording::NO_BASE.into()))
}

fn base(spec: &Spec, capacity: Option<u64>) -> Result<Base, Failure> {
    let bad = |error: likenew_sim::SimError| Failure::Usage(error.to_string());
    let (file, text) = spec.text(read_file).map_err(bad)?;
    let base = Base::new(spec, &file, text).map_err(bad)?;
    match capacity {
        Some(bytes) => base.with_capacity(bytes).map_err(bad),
        None => Ok(base),
    }
}

fn is_of_medium(mechanism: &Mechanism, rotates: bool) -> bool {
    match mechanism {
        Mechanism::Flash(_) => !rotates,
        Mechanism::Disk(_) => rotates,
        Mechanism::Volume(_) => false,
    }
}

/// What the system and the drive said of themselves in a run.
fn facts(run: &MeasuredRun) -> Option<&Facts> {
    run.evidence.observations.iter().find_map(|observation| match &observation.result {
        ProbeResult::Facts(facts) => Some(&**facts),
        _ => None,
    })
}

/// Bytes of the drive; nothing where runs know the files of a folder alone.
fn capacity(runs: &[MeasuredRun]) -> Option<u64> {
    let reported = |run: &MeasuredRun| match facts(run)?.drives.as_slice() {
        [drive] => drive.identity.capacity_bytes.get(),
        _ => None,
    };
    let whole = |run: &MeasuredRun| {
        let is_whole = matches!(run.evidence.identity.kind, Kind::Device | Kind::Simulated);
        is_whole.then_some(run.evidence.geometry.capacity)
    };
    runs.iter().find_map(reported).or_else(|| runs.iter().find_map(whole))
}

/// The setting of the state in which runs began. A simulated drive says it; of a real one only how full it was is known, and a
/// drive of which that is unknown counts as full, so that no read goes to a blank address.
fn state(runs: &[MeasuredRun]) -> String {
    let simulated = |run: &MeasuredRun| {
        let identity = &run.evidence.identity;
        let query = identity.name.split_once('?').map_or("", |(_, query)| query);
        (identity.kind == Kind::Simulated).then(|| format!("?{query}"))
    };
    let used = |run: &MeasuredRun| {
        let facts = facts(run)?;
        let used = facts.file_system.as_ref()?.used_bytes.get()? as f64;
        let [drive] = facts.drives.as_slice() else { return None };
        let share = used / drive.identity.capacity_bytes.get()? as f64;
        Some(format!("?state=new&fill={}", (share.clamp(0.0, 1.0) * 100.0).round() / 100.0))
    };
    let found = runs.iter().find_map(simulated).or_else(|| runs.iter().find_map(used));
    found.unwrap_or_else(|| "?state=new&fill=1".into()).trim_end_matches('?').to_owned()
}
