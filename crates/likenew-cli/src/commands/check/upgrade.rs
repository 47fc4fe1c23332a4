//! `likenew check --upgrade`: the same work on simulated candidates, and on this drive as new. This
//! runs before the check, and its results become part of the check's plan.

use anyhow::Context as _;
use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Layout, Plan, Procedure, Steps};
use likenew_core::segment::ReplayRecord;
use likenew_core::trace::Fit;
use likenew_procedures::all::from_plan;
use likenew_procedures::check::{
    self, CheckOptions, DriveOption, MixOption, RecordingOption, Role, UpgradeOptions, Waits,
};
use likenew_procedures::replay::{ReplayOptions, TraceSummary};
use likenew_real::open::PathKind;
use likenew_sim::{Spec, State};

use super::super::applications::applications;
use super::Check;
use crate::exit::{Failure, Result};
use crate::measure::options as settings;
use crate::recordings::scan;
use crate::resolved_target::{ResolvedTarget, read_file};
use crate::run_observer::run_nested;
use crate::wording;

/// The results of other drives.
pub(super) fn collect(
    command: &Check,
    options: &CheckOptions,
    target: &ResolvedTarget,
) -> Result<UpgradeOptions> {
    let candidates = candidates(&command.upgrade, held_bytes(target)?)?;
    match &command.recording {
        Some(trace) => on_trace(trace, target, &candidates),
        None => on_mix(&command.app, options, target, &candidates),
    }
}

fn on_trace(trace: &str, target: &ResolvedTarget, candidates: &[Spec]) -> Result<UpgradeOptions> {
    let options = ReplayOptions::new(trace);
    let summary = scan(&options)?;
    if summary.replayed_ios(false) == 0 || summary.elapsed.0 == 0 {
        return Err(Failure::Usage(wording::trace_without_ios(trace)));
    }
    let recording = RecordedTrace { options, summary };
    let mut drives = Vec::new();
    // A recording already has the times of a real drive; a simulated drive still has to run it.
    if let Some(spec) = target.spec() {
        drives.push(recording.run_on(spec, Role::Now)?.0);
        if let Some(as_new) = spec.as_new() {
            drives.push(recording.run_on(&as_new, Role::AsNew)?.0);
        }
    }
    for spec in candidates {
        let (drive, replay_record) = recording.run_on(spec, Role::Candidate)?;
        if drives.is_empty() {
            // How long the recorded drive took for the same I/Os.
            let (name, waits) = (DriveOption::THIS_DRIVE.to_owned(), Waits::from_recording(&replay_record));
            drives.push(DriveOption { name, role: Role::Now, is_scaled: false, fill_percent: None, waits });
        }
        drives.push(drive);
    }
    Ok(UpgradeOptions { recording: Some(recording.option()), mix: None, drives })
}

fn on_mix(
    names: &[String],
    options: &CheckOptions,
    target: &ResolvedTarget,
    candidates: &[Spec],
) -> Result<UpgradeOptions> {
    let (names, custom) = applications(names)?;
    let usable = target.usable_bytes()?;
    let area = options.area(usable);
    let writable = if target.is_writable() && area >= CheckOptions::AREA_LEAST { area } else { 0 };
    Failure::reject_if(writable == 0 && target.is_folder(), wording::APPS_NEED_SPACE)?;
    let mix = MixOption::new(names, custom, usable, writable).map_err(Failure::Usage)?;
    let own_spec = target.spec().and_then(Spec::as_new).map(|spec| (spec, Role::AsNew));
    let others = candidates.iter().map(|spec| (spec.clone(), Role::Candidate));
    let mut drives = Vec::new();
    for (spec, role) in own_spec.into_iter().chain(others) {
        let alone = MixOnly(mix.clone());
        let plan = Plan::new("check", None, 0, toml::Table::new());
        let ended = run_nested(&spec, &alone, plan).with_context(|| wording::applications_on(&spec.text))?;
        let evidence = ended.ok_or(Failure::Interrupted)?;
        drives.push(drive(&spec, role, mix.waits(&evidence.segments.iter().collect::<Vec<_>>())));
    }
    Ok(UpgradeOptions { recording: None, mix: Some(mix), drives })
}

fn drive(spec: &Spec, role: Role, waits: Option<Waits>) -> DriveOption {
    let (name, _) = spec.text.split_once('?').unwrap_or((&spec.text, ""));
    DriveOption {
        name: match role {
            Role::Candidate => name.trim_start_matches("sim:").to_owned(),
            Role::Now | Role::AsNew => DriveOption::THIS_DRIVE.to_owned(),
        },
        role,
        is_scaled: false,
        fill_percent: spec.fill.filter(|fill| *fill > 0.0).map(|fill| (fill * 1e4).round() / 1e2),
        waits,
    }
}

/// Bytes of data on the drive, if known; a candidate must have room for them.
fn held_bytes(target: &ResolvedTarget) -> Result<Option<u64>> {
    Ok(match target {
        ResolvedTarget::Simulated(spec) => {
            let share = spec.fill.unwrap_or(if spec.state == State::Used { 1.0 } else { 0.0 });
            Some((target.usable_bytes()? as f64 * share) as u64)
        }
        ResolvedTarget::Path(_, PathKind::Folder { space, .. }, _) => {
            Some(space.total_bytes - space.free_bytes.min(space.total_bytes))
        }
        ResolvedTarget::Nop | ResolvedTarget::Path(..) | ResolvedTarget::Facts(_) => None,
    })
}

/// The named drives as new, filled with as much data as this drive holds.
fn candidates(names: &[String], held: Option<u64>) -> Result<Vec<Spec>> {
    let mut specs: Vec<Spec> = Vec::new();
    for name in names {
        let text = if name.starts_with("sim:") { name.clone() } else { format!("sim:{name}") };
        let bad = |error: likenew_sim::SimError| Failure::Usage(wording::candidate(name, error));
        Failure::reject_if(text.contains('?'), wording::candidate(name, wording::CANDIDATE_WITH_SETTINGS))?;
        let capacity = Spec::parse(&text).and_then(|spec| spec.model(read_file)).map_err(bad)?.capacity_bytes;
        let held = held.unwrap_or(0);
        if held > capacity {
            let reason = wording::candidate_too_small(capacity, held);
            return Err(Failure::Usage(wording::candidate(name, reason)));
        }
        let fill = held as f64 / capacity as f64;
        let spec = Spec::parse(&format!("{text}?fill={fill:.4}")).map_err(bad)?;
        Failure::reject_if(specs.contains(&spec), wording::candidate(name, wording::CANDIDATE_TWICE))?;
        specs.push(spec);
    }
    Ok(specs)
}

/// A recorded trace and its survey.
struct RecordedTrace {
    options: ReplayOptions,
    summary: TraceSummary,
}

impl RecordedTrace {
    fn option(&self) -> RecordingOption {
        RecordingOption {
            trace: self.options.trace.clone(),
            digest: self.summary.digest.clone(),
            elapsed_ns: self.summary.elapsed.0,
            knows_ends: self.summary.ends > 0,
        }
    }

    /// The result on this simulated drive.
    fn run_on(&self, spec: &Spec, role: Role) -> Result<(DriveOption, ReplayRecord)> {
        let ended = self.replay(spec, role).with_context(|| wording::recorded_day_on(&spec.text))?;
        ended.ok_or(Failure::Interrupted)
    }

    /// `None` if the user stopped it.
    fn replay(&self, spec: &Spec, role: Role) -> anyhow::Result<Option<(DriveOption, ReplayRecord)>> {
        let model = spec.model(read_file)?;
        let is_scaled = self.summary.extent_bytes > model.capacity_bytes;
        let options = ReplayOptions {
            fit: if is_scaled { Fit::Scale } else { Fit::default() },
            // A used drive has data everywhere; on others, data to read has to be written first.
            prepare: spec.state == State::New,
            summary: Some(self.summary.clone()),
            ..self.options.clone()
        };
        let plan = Plan::new("replay", None, 0, settings(&options));
        let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
        let Some(evidence) = run_nested(spec, &*procedure, plan)? else { return Ok(None) };
        let replay_record = evidence.segments.into_iter().find_map(|segment| segment.replay_record);
        let replay_record = replay_record.context(wording::NO_COMPLETED_IO)?;
        let drive = DriveOption { is_scaled, ..drive(spec, role, Some(Waits::from_replay(&replay_record))) };
        Ok(Some((drive, replay_record)))
    }
}

/// The procedure for a candidate: only the applications, which are the last part of a check.
struct MixOnly(MixOption);

impl Procedure for MixOnly {
    fn descriptor(&self) -> &'static Descriptor {
        &check::DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.0.span }
    }

    /// Returns no findings: [`MixOption::waits`] computes the result from the segments.
    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let workloads = self.0.workloads(0, &steps.evidence().geometry);
        let _ended = workloads.into_iter().try_for_each(|workload| steps.run_seeded(|| workload).map(drop));
        Ok(Findings::default())
    }
}
