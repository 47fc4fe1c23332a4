//! Finds what a check is compared with, before it runs: rated speeds, the same drive simulated as
//! new, and the baseline from the archive.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use likenew_archive::{Archive, DriveSignature, Entry as KeptRun, Record, keys_by_place};
use likenew_core::facts::Facts;
use likenew_core::input;
use likenew_core::procedure::Plan;
use likenew_procedures::all::{from_plan, judge};
use likenew_procedures::check::{
    BaselineFile, CatalogMatch, CheckHistory, CheckMetrics, CheckOptions, DriveModel, Metric, Origin,
    RatedMetrics, ReferenceOption,
};
use likenew_sim::model::Model;
use likenew_sim::{Entry, Spec, by_reported_model};

use crate::arguments::ArchiveArguments;
use crate::exit::{Failure, Result};
use crate::measure::options;
use crate::resolved_target::{ResolvedTarget, TargetFacts, read_file};
use crate::run_observer::run_nested;
use crate::wording;

#[derive(Debug, Args)]
#[command(next_help_heading = "Compare with")]
pub(crate) struct ReferenceArguments {
    /// Rated speeds: read=550MB/s,write=520MB/s,random_read=95000 … [default: a simulated drive's own, or the
    /// catalog's]
    #[arg(long, value_name = "METRIC=VALUE")]
    advertised: Option<RatedMetrics>,
    /// Compare with an earlier check, with another drive of this model (a file that likenew export made with --baseline,
    /// or that of a simulated drive), or with none [default: for a real drive, its first check; a simulated drive is
    /// compared with itself when new]
    #[arg(long, value_name = "RUN|FILE|none")]
    baseline: Option<Baseline>,
}

impl ReferenceArguments {
    /// Adds the references of a check: typed rates, catalog, simulated new drive, baseline. Also
    /// adds the indicators of the simulated drive.
    pub(crate) fn add_to(
        &self,
        check: &mut CheckOptions,
        archive_arguments: &ArchiveArguments,
        target: &ResolvedTarget,
    ) -> Result<()> {
        let typed = self.advertised.iter().flat_map(|RatedMetrics(rated)| rated);
        let mut rated: Vec<(Metric, f64)> = typed.map(|rated| (rated.metric, rated.per_s)).collect();
        let (read, write) = advertised_rates(target)?;
        for (metric, own) in [(Metric::SequentialRead, read), (Metric::SequentialWrite, write)] {
            let is_typed = rated.iter().any(|(typed, _)| *typed == metric);
            rated.extend(own.filter(|_| !is_typed).map(|per_s| (metric, per_s as f64)));
        }
        let option = |(metric, per_s)| reference_option(metric, Origin::Advertised, per_s);
        check.references = rated.into_iter().map(option).collect();
        let facts = target.facts();
        let known = facts.as_ref().and_then(|known| find_in_catalog(&known.facts));
        let simulation = match known {
            Some(known) => {
                check.catalog_match = Some(known.catalog_match);
                // Its indicators only excuse what the real drive shows, so they are used in a folder, too.
                Some(Simulation::of_model(known.simulation, known.is_in_a_file_system))
            }
            None => target.spec().and_then(|spec| {
                let context = wording::on_new_drive(&spec.text);
                let (origin, is_in_a_file_system) = (Origin::Simulated, false);
                Some(Simulation { simulation: spec.as_new()?, context, origin, is_in_a_file_system })
            }),
        };
        let simulation = match &self.baseline {
            Some(Baseline::Named(path)) if path.is_file() => {
                let drive = drive_model(target, facts.as_ref())?;
                let filled = filled_share(target, facts.as_ref(), drive.as_ref());
                add_other_drive(check, path, drive.as_ref(), filled)?.or(simulation)
            }
            _ => simulation,
        };
        if let Some(Simulation { simulation, context, origin, is_in_a_file_system }) = simulation {
            let measured = measure_simulated(&simulation, check).context(context)?;
            let CheckMetrics { mut metrics, indicators, .. } = measured.ok_or(Failure::Interrupted)?;
            // The simulation does not model the file system.
            metrics.retain(|(metric, _)| !(is_in_a_file_system && *metric == Metric::RandomWrite));
            let options = metrics.into_iter().map(|(metric, per_s)| reference_option(metric, origin, per_s));
            check.references.extend(options);
            check.normal = indicators;
        }
        let root = archive_arguments.folder.root().ok();
        let baseline = self.baseline.as_ref();
        add_saved_baseline(check, baseline, root.as_deref(), facts.as_ref())
    }
}

/// Rated speeds for procedures that only compare sequential ones.
#[derive(Debug, Args)]
#[command(next_help_heading = "Compare with")]
pub(crate) struct SequentialRates {
    /// Rated speeds: read=550MB/s,write=500MB/s [default: a simulated drive's own]
    #[arg(long, value_parser = sequential_rates, value_name = "METRIC=VALUE")]
    advertised: Option<RatedMetrics>,
}

impl SequentialRates {
    /// In bytes a second for reads and writes: from the command line, otherwise a simulated drive's own.
    pub(crate) fn or_own(&self, target: &ResolvedTarget) -> Result<(Option<u64>, Option<u64>)> {
        let (read, write) = advertised_rates(target)?;
        let typed = |metric| self.bytes_per_s(metric);
        Ok((typed(Metric::SequentialRead).or(read), typed(Metric::SequentialWrite).or(write)))
    }

    /// Bytes a second of one metric, if it was given.
    pub(crate) fn bytes_per_s(&self, metric: Metric) -> Option<u64> {
        let RatedMetrics(rated) = self.advertised.as_ref()?;
        Some(rated.iter().find(|rated| rated.metric == metric)?.per_s as u64)
    }
}

/// Parses rated sequential speeds. Other metrics would be ignored, so they are refused.
fn sequential_rates(text: &str) -> Result<RatedMetrics, String> {
    let rated: RatedMetrics = text.parse()?;
    let is_used = |metric| matches!(metric, Metric::SequentialRead | Metric::SequentialWrite);
    match rated.0.iter().find(|rated| !is_used(rated.metric)) {
        Some(other) => Err(wording::metric_is_not_used(other.name())),
        None => Ok(rated),
    }
}

/// The value of `--baseline`.
#[derive(Clone, Debug, PartialEq)]
enum Baseline {
    /// No earlier check.
    None,
    /// The run in this folder, or the file of another drive.
    Named(PathBuf),
}

impl From<OsString> for Baseline {
    fn from(text: OsString) -> Self {
        if text == "none" { Self::None } else { Self::Named(text.into()) }
    }
}

/// A simulated drive that runs the same check.
struct Simulation {
    simulation: Spec,
    /// What an error is about, if the check fails.
    context: String,
    origin: Origin,
    is_in_a_file_system: bool,
}

impl Simulation {
    /// The simulated drive of a real drive's model.
    fn of_model(simulation: Spec, is_in_a_file_system: bool) -> Self {
        let (context, origin) = (wording::on_simulated_drive(&simulation.text), Origin::SimulatedModel);
        Self { simulation, context, origin, is_in_a_file_system }
    }
}

/// Adds the speeds of another drive of this model, from its file. If the file is a simulated drive,
/// returns it with data on the share `filled`.
fn add_other_drive(
    check: &mut CheckOptions,
    path: &Path,
    drive: Option<&DriveModel>,
    filled: f64,
) -> Result<Option<Simulation>> {
    let refused = |reason: &str| Failure::Usage(wording::no_baseline_file(path, reason));
    let text = input::read_text(path, input::DRIVE)
        .map_err(|error| Failure::unreadable(&path.display().to_string(), error))?;
    if !BaselineFile::is_one(&text) {
        let simulation = Spec::parse(&format!("sim:{}?state=new&fill={filled}", path.display()))?;
        let model = simulation.model(read_file)?;
        let is_reported = drive.zip(model.reported_models.as_ref()).is_some_and(|(drive, reported)| {
            reported.is(model.capacity_bytes, &drive.model, drive.capacity_bytes)
        });
        if !is_reported {
            simulated_model(&model).check(drive).map_err(|reason| refused(&reason))?;
        }
        let is_in_a_file_system = drive.is_some_and(|drive| drive.file_system.is_some());
        return Ok(Some(Simulation::of_model(simulation, is_in_a_file_system)));
    }
    let file = BaselineFile::read(&text).map_err(|reason| refused(&reason))?;
    check.references.extend(file.references_for(drive, check).map_err(|reason| refused(&reason))?);
    check.other_drive_date = Some(file.checked);
    Ok(None)
}

/// The model that another drive must have to be compared with this one.
fn drive_model(target: &ResolvedTarget, facts: Option<&TargetFacts>) -> Result<Option<DriveModel>> {
    let of_facts = || facts.and_then(|known| DriveModel::of_facts(&known.facts));
    Ok(target.model()?.as_ref().map(simulated_model).or_else(of_facts))
}

/// Share of a drive that holds data.
fn filled_share(target: &ResolvedTarget, facts: Option<&TargetFacts>, drive: Option<&DriveModel>) -> f64 {
    let used = || facts.zip(drive).map(|(known, drive)| used_share(&known.facts, drive.capacity_bytes));
    target.spec().map(Spec::filled_share).or_else(used).unwrap_or(1.0)
}

/// The model that a simulated drive stands for.
fn simulated_model(model: &Model) -> DriveModel {
    DriveModel {
        model: likenew_calibration::measured_model(&model.model).to_owned(),
        capacity_bytes: model.capacity_bytes,
        file_system: None,
    }
}

fn reference_option(metric: Metric, origin: Origin, per_s: f64) -> ReferenceOption {
    ReferenceOption { metric, origin, per_s, repeatability: 0.0 }
}

/// A simulated drive's rated sequential speeds, in bytes a second.
fn advertised_rates(target: &ResolvedTarget) -> Result<(Option<u64>, Option<u64>)> {
    Ok(target.model()?.map_or((None, None), |model| {
        (model.advertised.read_bytes_per_s, model.advertised.write_bytes_per_s)
    }))
}

/// The catalog entry of a real drive.
pub(crate) struct CatalogDrive {
    /// The catalog entry, as the report names it.
    catalog_match: CatalogMatch,
    /// The simulated drive: new, and as full as the real one.
    pub(crate) simulation: Spec,
    /// Whether small writes go through a file system, which the simulation does not model.
    is_in_a_file_system: bool,
}

/// The catalog entry of the drive below a target. The drive must be the only one and of a sold
/// model, and no layer may answer in its place.
pub(crate) fn find_in_catalog(facts: &Facts) -> Option<CatalogDrive> {
    let drive = facts.plain_drive()?;
    let model = drive.identity.model.value()?;
    let capacity_bytes = drive.identity.capacity_bytes.get()?;
    let entry = by_reported_model(model, capacity_bytes)?;
    Some(CatalogDrive {
        catalog_match: CatalogMatch { model: model.clone(), entry: entry.name.to_owned() },
        simulation: as_new(entry, facts),
        is_in_a_file_system: facts.file_system.is_some(),
    })
}

/// Share of a drive that holds data, in whole percents, because the plan's simulated reference must
/// stay the same. An unknown fill counts as full, so that no read goes to a blank address.
fn used_share(facts: &Facts, capacity_bytes: u64) -> f64 {
    let used = facts.file_system.as_ref().and_then(|file_system| file_system.used_bytes.get());
    let share = used.map_or(1.0, |used| used as f64 / capacity_bytes as f64);
    (share.clamp(0.0, 1.0) * 100.0).round() / 100.0
}

fn as_new(entry: &Entry, facts: &Facts) -> Spec {
    let percent = used_share(facts, entry.model.capacity_bytes);
    Spec::parse(&format!("sim:{}?state=new&fill={percent}", entry.name)).expect("a name of the catalog")
}

/// Runs the same check on a simulated drive; `None` if the user stopped it.
fn measure_simulated(simulation: &Spec, check: &CheckOptions) -> anyhow::Result<Option<CheckMetrics>> {
    let options = options(&CheckOptions {
        references: Vec::new(),
        catalog_match: None,
        normal: Vec::new(),
        ..check.clone()
    });
    let plan = Plan::new("check", None, 0, options);
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let evidence = run_nested(simulation, &*procedure, plan)?;
    Ok(evidence.map(|evidence| CheckMetrics::from_findings(&procedure.judge(&evidence))))
}

/// Number of the latest checks that show how much metrics vary.
const LATEST: usize = 15;

/// Adds the metrics of the named check, or else of the earliest check of this drive below `root`.
///
/// # Errors
/// The named run is not a completed check.
fn add_saved_baseline(
    check: &mut CheckOptions,
    baseline: Option<&Baseline>,
    root: Option<&Path>,
    facts: Option<&TargetFacts>,
) -> Result<()> {
    let signature = facts.and_then(|known| DriveSignature::new(&known.identity, Some(&known.facts)));
    let records = match baseline {
        Some(Baseline::None) => return Ok(()),
        Some(Baseline::Named(path)) if !path.is_file() => vec![open_check(path)?],
        _ => root
            .zip(signature.as_ref())
            .map_or_else(Vec::new, |(root, signature)| earlier_checks(root, signature)),
    };
    let known = records
        .iter()
        .filter_map(|record| Some((&record.header.machine.started_at, answers(record, check)?)));
    let (dates, checks): (Vec<&String>, Vec<CheckMetrics>) = known.unzip();
    let is_virtual = signature.is_some_and(|signature| signature.is_virtual);
    if let Some(first) = dates.first() {
        check.references.extend(CheckHistory { checks, is_virtual }.references());
        check.baseline_date = Some((*first).clone());
    }
    Ok(())
}

fn open_check(folder: &Path) -> Result<Record> {
    let record = Archive::open(folder).map_err(|error| Failure::Usage(error.to_string()))?;
    if is_whole(&record) {
        return Ok(record);
    }
    Err(Failure::Usage(wording::not_a_finished_check(folder)))
}

fn is_whole(record: &Record) -> bool {
    let is_complete = record.findings.as_ref().is_some_and(|findings| !findings.is_interrupted);
    record.header.plan.procedure == "check" && is_complete
}

/// The first check of a drive, and its latest ones. Runs that cannot be read are skipped.
fn earlier_checks(root: &Path, signature: &DriveSignature) -> Vec<Record> {
    let runs = Archive::new(root).list().unwrap_or_default();
    let candidate = |run: KeptRun| {
        let header = run.header.ok().filter(|header| header.plan.procedure == "check")?;
        let signature = DriveSignature::read(&run.path, &header.machine).ok()??;
        Some((run.path, signature))
    };
    let candidates: Vec<(PathBuf, DriveSignature)> = runs.into_iter().filter_map(candidate).collect();
    let keys = keys_by_place(candidates.iter().map(|(_, candidate)| candidate).chain([signature]));
    let key_of = |drive: &DriveSignature| drive.key(&keys[&drive.place()]);
    let key = key_of(signature);
    let mut checks = candidates
        .iter()
        .filter(|(_, candidate)| key_of(candidate) == key)
        .filter_map(|(path, _)| Archive::open(path).ok())
        .filter(is_whole);
    let first = checks.next();
    let mut latest: Vec<Record> = checks.rev().take(LATEST).collect();
    latest.reverse();
    first.into_iter().chain(latest).collect()
}

/// The metrics of an earlier check, judged again by this version.
fn answers(record: &Record, check: &CheckOptions) -> Option<CheckMetrics> {
    let Plan { options, .. } = &record.header.plan;
    let then = CheckOptions::from_table(options).ok()?;
    let procedure = from_plan(&record.header.plan).ok()?;
    let mut answers = CheckMetrics::from_findings(&judge(&*procedure, &record.evidence()));
    answers.metrics.retain(|(metric, _)| then.bytes_of(*metric) == check.bytes_of(*metric));
    Some(answers)
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Cloud, Drive, DriveKind, Fact, FileSystem, Identity, Layer, LayerKind};

    use super::*;

    fn reported_facts(model: &str, capacity_bytes: u64) -> Facts {
        let layer = |name: &str, kind| Layer { name: name.into(), kind, ..Layer::default() };
        Facts {
            stack: vec![
                layer("/home", LayerKind::FileSystem),
                layer("dm-0", LayerKind::Crypt),
                layer("sda2", LayerKind::Partition),
                layer("sda", LayerKind::Disk),
            ],
            file_system: Some(FileSystem {
                used_bytes: Fact::new(40_000_000_000, "statvfs"),
                ..FileSystem::default()
            }),
            drives: vec![Drive {
                name: "sda".into(),
                kind: DriveKind::Sata,
                identity: Identity {
                    model: Fact::new(model.to_owned(), "IDENTIFY"),
                    capacity_bytes: Fact::new(capacity_bytes, "size"),
                    virtual_by: Fact::new(None, "the names of the drive and of the machine"),
                    ..Identity::default()
                },
                ..Drive::default()
            }],
            ..Facts::default()
        }
    }

    const M4: (&str, u64) = ("M4-CT128M4SSD2", 128_035_676_160);

    #[test]
    fn a_reported_model_has_a_simulated_drive() {
        let known = find_in_catalog(&reported_facts(M4.0, M4.1)).unwrap();
        assert_eq!(known.catalog_match.entry, "crucial-m4-128gb");
        assert_eq!(known.simulation.text, "sim:crucial-m4-128gb?state=new&fill=0.31");
        assert!(known.is_in_a_file_system);
        let device = Facts { file_system: None, ..reported_facts(M4.0, M4.1) };
        assert_eq!(
            find_in_catalog(&device).unwrap().simulation.text,
            "sim:crucial-m4-128gb?state=new&fill=1"
        );
    }

    #[test]
    fn what_is_shown_by_somebody_else_is_not_known() {
        let changed = |change: &dyn Fn(&mut Facts)| {
            let mut facts = reported_facts(M4.0, M4.1);
            change(&mut facts);
            find_in_catalog(&facts).map(|known| known.catalog_match.entry)
        };
        assert!(changed(&|_| {}).is_some());
        let shown = |facts: &mut Facts| {
            facts.drives[0].identity.virtual_by = Fact::new(Some("QEMU".into()), "the machine's name");
        };
        assert_eq!(changed(&shown), None, "a name is typed into a hypervisor as into anything");
        assert_eq!(changed(&|facts| facts.drives[0].kind = DriveKind::Virtual), None);
        let inside = |facts: &mut Facts| {
            facts.machine.virtual_machine = Fact::new(Some("KVM".into()), "/sys/class/dmi/id");
        };
        assert_eq!(changed(&inside), None);
        assert_eq!(changed(&|facts| facts.drives[0].cloud = Some(Cloud::default())), None);
        assert_eq!(changed(&|facts| facts.drives.push(facts.drives[0].clone())), None);
        assert_eq!(changed(&|facts| facts.drives.clear()), None);
        for kind in
            [LayerKind::Array, LayerKind::Loop, LayerKind::Cache, LayerKind::Network, LayerKind::Other]
        {
            assert_eq!(changed(&|facts| facts.stack[1].kind = kind), None, "{kind:?}");
        }
        let unnamed = |facts: &mut Facts| facts.drives[0].identity.model = Fact::unknown("why", "IDENTIFY");
        assert_eq!(changed(&unnamed), None);
        assert!(
            find_in_catalog(&reported_facts("M4-CT256M4SSD2", 256_060_514_304)).is_none()
                && find_in_catalog(&Facts::default()).is_none()
        );
    }
}
