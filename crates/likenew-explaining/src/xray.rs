//! The procedure `xray`: finds out from outside how a drive works inside (its medium, its translation layer
//! and its caches), each with an interval, a confidence, and a chart of its signature.
//!
//! Thresholds marked "fitted" were set with `cargo xtask bench insight` on generated drives 1 to 600, so that
//! answers are right and 90% intervals hold the truth; `docs/explanation/method.md` has the error rates on
//! drives that nothing was fitted to.

mod compression;
mod disturbance;
mod experiment;
mod fill;
mod idle;
mod map_cache;
mod map_page;
mod mapping;
mod medium;
mod noise;
mod old_data;
mod overwriting;
mod parallelism;
mod property;
mod token_bucket;
mod trim;
mod wording;
mod write_buffer;
mod writing;
mod xray_options;

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step, Steps};
use likenew_core::workload::Workload;

use experiment::{Context, Experiment, Finding, Pictures};
use likenew_procedure_support::failures::failure_answers;
use likenew_procedure_support::options::options;
use likenew_procedure_support::workloads::prepare;
use property::{Key, Property, Reason, Remedy};
use strum::VariantArray as _;
pub use xray_options::XrayOptions;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "xray",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("xray.md"),
};

/// All experiments in the order they run: those that read existing data before those that write, and those
/// that need an empty drive before those that need a full one.
const EXPERIMENTS: &[Experiment] = &[
    Experiment { name: PREPARATION, keys: &[], run: prepare_folder },
    Experiment { name: "noise", keys: &[], run: noise::run },
    Experiment { name: medium::NAME, keys: &[Key::Medium], run: medium::run },
    Experiment { name: "token-bucket", keys: &[Key::TokenBucketIos], run: token_bucket::run },
    Experiment { name: old_data::AS_FOUND, keys: &[], run: old_data::read_as_found },
    Experiment { name: "map-cache", keys: &[Key::MapCacheBytes], run: map_cache::run },
    Experiment { name: "parallelism", keys: &parallelism::KEYS, run: parallelism::run },
    Experiment { name: "compression", keys: &[Key::Compression], run: compression::run },
    Experiment { name: "map-page", keys: &[Key::MapPageBytes], run: map_page::run },
    Experiment { name: trim::NAME, keys: &[Key::Trim], run: trim::run },
    Experiment { name: "single-die", keys: &parallelism::KEYS, run: parallelism::read_trimmed },
    Experiment { name: mapping::NAME, keys: &[Key::Mapping], run: mapping::run },
    Experiment { name: fill::NAME, keys: &fill::KEYS, run: fill::run },
    Experiment { name: "old-data", keys: &[Key::OldDataReadRatio], run: old_data::run },
    Experiment { name: "die-share", keys: &parallelism::KEYS, run: parallelism::count_dies },
    Experiment { name: "write-buffer", keys: &[Key::WriteBufferBytes], run: write_buffer::run },
    Experiment { name: "cleaning", keys: &[Key::IdleCollectionNs], run: idle::watch_cleaning },
    Experiment { name: "overwriting", keys: &overwriting::KEYS, run: overwriting::run },
];

/// The procedure `xray`.
pub struct Xray {
    options: XrayOptions,
}

impl Xray {
    /// Creates it from the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("xray", table)?)
    }

    /// Creates it with these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: XrayOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }

    /// The properties that get an answer: without those that this medium cannot have, those that only add
    /// detail to an unknown or absent one, and those that `only` leaves out.
    fn answered(&self, context: &Context<'_>, keys: &[Key], properties: Vec<Property>) -> Vec<Property> {
        let medium = context.word(Key::Medium);
        let has_parent = |key: Key| key.parent().is_none_or(|parent| context.number(parent).is_some());
        let is_asked = |key: Key| self.options.only.is_empty() || keys.contains(&key);
        let is_answered = |property: &Property| {
            let key = property.key;
            has_parent(key) && (property.is_known() || key.applies_to(medium) && is_asked(key))
        };
        properties.into_iter().filter(is_answered).collect()
    }

    /// Whether this test runs. On a target in memory, only the tests run that show that it is memory.
    fn is_wanted(&self, experiment: &Experiment, evidence: &Evidence) -> bool {
        let of_memory = [PREPARATION, medium::NAME].contains(&experiment.name);
        self.options.is_wanted(experiment) && (of_memory || !evidence.identity.is_memory())
    }

    fn context<'a>(&self, evidence: &'a Evidence, span: u64, is_planning: bool) -> Context<'a> {
        let budget = self.options.budget(span);
        // In memory, only the span that is read is written.
        let budget = if evidence.identity.is_memory() { budget.min(span) } else { budget };
        Context::new(evidence, span, budget, is_planning)
    }
}

const PREPARATION: &str = "preparation";

/// Writes a folder's temporary files once, and nothing else: existing data on a device or a simulated drive
/// is read as it is.
fn prepare_folder<'a>(context: &Context<'a>, steps: &mut experiment::Steps<'a>) -> Result<Finding, Reason> {
    if context.evidence.identity.kind == TargetKind::Folder {
        let _ended = steps.run(prepare(context.span, context.span, DataClass::Random));
    }
    Ok(Finding::default())
}

impl Procedure for Xray {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(XrayOptions::SPAN_OF_FOLDER) }
    }

    fn bytes_written_max(&self, evidence: &Evidence, _planned: &[Step]) -> Option<u64> {
        let span = self.options.span_on(&evidence.geometry).ok()?;
        Some(if evidence.geometry.writable { self.context(evidence, span, true).remaining() } else { 0 })
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let evidence = steps.evidence();
        let span = self.options.span_on(&evidence.geometry)?;
        let mut context = self.context(evidence, span, steps.is_planning());
        let (mut keys, mut pictures) = (Vec::new(), Vec::new());
        // Each experiment follows its own workloads, because some continue after others have run.
        steps.skip_done();
        for experiment in EXPERIMENTS {
            let name = experiment.name;
            let mut own = context.begin(name, self.options.only.iter().any(|only| only == name));
            let finding =
                (experiment.run)(&context, &mut own).unwrap_or_else(|reason| experiment.refused(reason));
            if self.is_wanted(experiment, evidence) {
                keys.extend(finding.properties.iter().map(|property| property.key));
                // A workload that could exceed the budget is skipped, as if it had not been asked for.
                let has_room = |workload: &Workload| {
                    workload.bytes_written_max().is_none_or(|most| most <= context.remaining())
                };
                if let Some(workload) = own.wanted.filter(has_room) {
                    let name = format!("{name}: {}", workload.name);
                    // If it ended early, later experiments answer as they would without it.
                    let _ended = steps.run_seeded(|| Workload { name, ..workload });
                }
            }
            pictures.extend(context.record(finding));
        }
        Ok(steps.conclude(|_| self.findings(&context, &keys, pictures)))
    }
}

impl Xray {
    fn findings(&self, context: &Context<'_>, keys: &[Key], pictures: Pictures) -> Findings {
        let mut findings = Findings::default();
        findings.series.extend(pictures.into_iter().map(|(name, picture)| (name.into(), picture)));
        let of_key = |key: Key| match context.property(key) {
            // Fill and overwriting measure idle collection on their way. If they never reached it,
            // overwriting says why.
            unknown if key == Key::IdleCollectionNs && !keys.contains(&key) => {
                Property { reason: overwriting::idle_refusal(context), ..unknown }
            }
            property => property,
        };
        let properties: Vec<Property> = Key::VARIANTS.iter().copied().map(of_key).collect();
        findings.tables.insert("properties".into(), properties.iter().map(Property::row).collect());
        let disturbances = disturbance::disturbances(context.shared.noise, context.background_io);
        let (evidence, span) = (context.evidence, context.span);
        let action = |remedy: Remedy| xray_options::action(remedy, &self.options, evidence, span);
        let disturbance =
            (!disturbances.is_empty()).then(|| wording::disturbance(&disturbances, action(Remedy::Quiet)));
        let shown = self.answered(context, keys, properties);
        let of_property = |property: &Property| {
            let unknown = property.reason.remedy.filter(|_| !property.is_known());
            wording::answer(property, wording::is_disk(&shown), unknown.and_then(action))
        };
        // Errors and disturbances come first.
        let (problems, others): (Vec<Answer>, Vec<Answer>) = failure_answers(&evidence.segments)
            .into_iter()
            .partition(|answer| answer.standing == Standing::Problem);
        findings.summary = wording::summary(&shown, problems.first(), disturbance.is_some());
        let remarks = problems.iter().chain(&disturbance).chain(&others);
        findings.overview = wording::overview(&shown, remarks.map(|answer| answer.id.clone()).collect());
        findings.answers = problems;
        findings.answers.extend(disturbance);
        findings.answers.extend(shown.iter().map(of_property));
        findings.answers.extend(others);
        findings
    }
}
