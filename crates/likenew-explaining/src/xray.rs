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

use clap::Args;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Answer, Findings, Loss, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step, Steps};
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::{Nanos, exact_size, parse_size, size_text};
use likenew_core::workload::Workload;

use experiment::{Context, Experiment, Finding, Pictures};
use likenew_procedure_support::failures::failure_answers;
use likenew_procedure_support::fit::{Fitting, Options, Unfit};
use likenew_procedure_support::options::options;
use likenew_procedure_support::wording::{command, span_too_large};
use likenew_procedure_support::workloads::prepare;
use property::{Key, Property, Reason, Remedy};
use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

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

/// What is inside: medium, mapping, dies, caches, over-provisioning
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct XrayOptions {
    /// Address space to test, from the start [default: all; in a folder 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Write at most this much [default: four times the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// Run only these experiments; `likenew help xray` lists them [default: all]
    // Some need what others find.
    #[arg(long, value_delimiter = ',', value_name = "EXPERIMENT")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// Read-only targets are only read, so nothing is refused here.
impl Options for XrayOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        /// The span of a folder is a multiple of this, so that I/Os divide it.
        const FOLDER_STEP: u64 = 1 << 20;
        let usable = fitting.usable()?;
        if fitting.is_folder {
            // A folder's files are written first.
            let bytes = self.bytes.unwrap_or(u64::MAX);
            let span = Self::SPAN_OF_FOLDER.min(usable).min(bytes / Self::SPANS_WRITTEN);
            let span = *self.span.get_or_insert(span - span % FOLDER_STEP);
            let least = span.max(Self::SPAN_LEAST * Self::SPANS_WRITTEN);
            if bytes < least {
                return Err(wording::too_few_bytes(least).into());
            }
        }
        Ok(())
    }
}

impl XrayOptions {
    /// Default span of a folder.
    const SPAN_OF_FOLDER: u64 = 1 << 30;
    /// Least span: a smaller one shows nothing.
    const SPAN_LEAST: u64 = 16 << 20;
    /// Default limit of writes, in spans.
    const SPANS_WRITTEN: u64 = 4;

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    fn check(&self) -> Result<(), String> {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        match self.only.iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(wording::no_such_test(name, &names)),
            None => Ok(()),
        }
    }

    /// Whether this test runs. Tests that prepare the drive for others always do.
    fn is_wanted(&self, experiment: &Experiment) -> bool {
        let is_named = self.only.iter().any(|name| name == experiment.name);
        self.only.is_empty() || is_named || experiment.keys.is_empty()
    }

    /// Most bytes to write in all.
    fn budget(&self, span: u64) -> u64 {
        self.bytes.unwrap_or(Self::SPANS_WRITTEN * span)
    }

    /// Bytes of address space on a drive.
    ///
    /// # Errors
    /// A sentence, when there are too few.
    fn span_on(&self, geometry: &Geometry) -> Result<u64, String> {
        let capacity = geometry.capacity - geometry.capacity % (1 << 20);
        let span = self.span.unwrap_or(capacity);
        if span > geometry.capacity {
            return Err(span_too_large(span, geometry.capacity, 1 << 20));
        }
        if span < Self::SPAN_LEAST {
            return Err(wording::span_too_short(span, Self::SPAN_LEAST));
        }
        Ok(span - span % u64::from(geometry.block.max(4096)))
    }
}

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
        let action = |remedy: Remedy| action(remedy, &self.options, evidence, span);
        let disturbance =
            (!disturbances.is_empty()).then(|| wording::disturbance(disturbances, action(Remedy::Quiet)));
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

/// The tests that measure burst credits.
const LONG_READS: &str = "--only noise,medium,token-bucket";
/// Longest time of those tests, which limit themselves to it.
const LONG_READS_TIME: Nanos = Nanos::from_secs(45 * 60);
/// Twice the default limit of writes, in spans.
const MORE_SPANS_WRITTEN: u64 = 2 * XrayOptions::SPANS_WRITTEN;

/// An X-ray without a limit writes up to about this many times the drive: it fills it and overwrites most of
/// it.
const DRIVES_WRITTEN: u64 = 2;
/// A segment that wrote this many bytes shows the drive's write speed.
const RATE_BYTES_MIN: u64 = 1 << 20;

/// Adds the cost of writing this many bytes, as far as this run shows it.
fn with_cost(action: Action, evidence: &Evidence, capacity: u64) -> Action {
    let bytes = DRIVES_WRITTEN * capacity;
    let writes = evidence.segments.iter().filter(|segment| segment.bytes(Op::Write) >= RATE_BYTES_MIN);
    let (written, elapsed) = writes.fold((0.0, 0.0), |(written, elapsed), segment| {
        (written + segment.bytes(Op::Write) as f64, elapsed + segment.elapsed().as_secs_f64())
    });
    let action = action.bytes_written(bytes);
    if written > 0.0 { action.time(Nanos::from_secs_f64(bytes as f64 * elapsed / written)) } else { action }
}

/// The action for a remedy; `None` if nothing can work here.
fn action(remedy: Remedy, options: &XrayOptions, evidence: &Evidence, span: u64) -> Option<Action> {
    let (kind, geometry) = (evidence.identity.kind, &evidence.geometry);
    let is_file_or_device = matches!(kind, TargetKind::File | TargetKind::Device);
    // A simulated drive gives the same answer at any time.
    let changes = geometry.clock == Clock::Wall;
    let has_limit = options.bytes.is_some();
    let action = wording::action(remedy, has_limit);
    let more_writes = format!("--bytes {}", exact_size(MORE_SPANS_WRITTEN.saturating_mul(span)));
    let (action, settings) = match remedy {
        Remedy::Quiet if changes => (action, ""),
        Remedy::Rest if changes => (action.time(LONG_READS_TIME), LONG_READS),
        Remedy::LongReads => (action.time(LONG_READS_TIME), LONG_READS),
        Remedy::MoreWrites if has_limit => (with_cost(action, evidence, span), ""),
        Remedy::MoreWrites => (with_cost(action, evidence, span), &*more_writes),
        Remedy::Consent if is_file_or_device && !geometry.writable => {
            return Some(action.loses(Loss::Everything));
        }
        Remedy::WholeDrive if options.span.is_some() => (with_cost(action, evidence, geometry.capacity), ""),
        Remedy::OtherTests if !options.only.is_empty() => (action, ""),
        _ => return None,
    };
    // No plan stores the consent under which a device or a file was written.
    if is_file_or_device && geometry.writable {
        return Some(wording::with_consent(action));
    }
    Some(match command(&evidence.plan, settings) {
        Some(command) => action.command(command),
        None => action,
    })
}
