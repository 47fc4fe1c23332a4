//! What is inside a drive, seen from outside: its medium, its translation layer, its caches, each with an interval, the
//! confidence in it, and the measured signature as a picture.

mod background_io;
mod cleaning;
mod comparison;
mod compression;
mod context;
mod experiment;
mod fill;
mod finding;
mod idle;
mod inferences;
mod map_cache;
mod map_page;
mod mapping;
mod medium;
mod noise;
mod old_data;
mod overwriting;
mod parallelism;
mod preparation;
mod property;
mod rests;
mod sequential_area;
mod synced_writes;
mod token_bucket;
mod trim;
mod write_buffer;
mod writing;
mod xray_options;

use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::segment::Segment;
use likenew_core::verdict::Findings;
use likenew_core::workload::Workload;

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use context::ExperimentContext;
use experiment::Experiment;
use property::Key;
pub use xray_options::XrayOptions;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "xray",
    question: "What is inside, seen from outside: medium, map, caches, parallelism, over-provisioning?",
    writes: "a drive that may be overwritten, up to three times as a rule; own files in a folder; nothing where only reading is allowed",
    manual: include_str!("xray.md"),
};

/// In the order in which they are asked: those that read what is there before those that write, and those that need an
/// empty drive before those that need a full one.
const EXPERIMENTS: &[&dyn Experiment] = &[
    &preparation::Preparation,
    &noise::NoiseExperiment,
    &medium::MediumExperiment,
    &token_bucket::TokenBucket,
    &old_data::UntouchedReads,
    &map_cache::MapCache,
    &parallelism::Parallelism,
    &compression::CompressionExperiment,
    &map_page::MapPageExperiment,
    &trim::TrimExperiment,
    &fill::FillExperiment,
    &old_data::OldData,
    &mapping::MappingExperiment,
    &write_buffer::WriteBufferExperiment,
    &cleaning::CleaningExperiment,
    &overwriting::Overwriting,
];

/// The procedure.
pub struct Xray {
    options: XrayOptions,
}

impl Xray {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("xray", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: XrayOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }

    fn context<'a>(&self, evidence: &'a Evidence, span: u64) -> ExperimentContext<'a> {
        let written = evidence.segments.iter().map(context::bytes_written).sum();
        ExperimentContext::new(evidence, span, self.options.budget(span).saturating_sub(written))
    }
}

/// Whether a probe answers nothing itself, and makes ground for others.
fn is_groundwork(probe: &str) -> bool {
    [preparation::NAME, noise::NAME, old_data::UNTOUCHED_READS].contains(&probe)
}

/// The workloads of a probe are found by its name.
fn with_name(probe: &str, workload: Workload) -> Workload {
    Workload { name: format!("{probe}: {}", workload.name), ..workload }
}

fn segments_of<'a>(probe: &str, segments: &'a [Segment]) -> Vec<&'a Segment> {
    let is_own = |segment: &&Segment| {
        segment.workload.name.strip_prefix(probe).is_some_and(|rest| rest.starts_with(": "))
    };
    segments.iter().filter(is_own).collect()
}

impl Procedure for Xray {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(XrayOptions::SPAN_OF_FOLDER) }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let span = self.options.span_on(&evidence.geometry)?;
        let mut context = self.context(evidence, span);
        for probe in EXPERIMENTS {
            context.segments = segments_of(probe.name(), &evidence.segments);
            context.is_named = self.options.only.iter().any(|name| name == probe.name());
            if !self.options.is_wanted(probe.name()) {
                continue;
            }
            if let Some(workload) = probe.next(&context) {
                let seed = evidence.plan.seed_of(evidence.segments.len());
                return Ok(Step::Run(Workload { seed, ..with_name(probe.name(), workload) }));
            }
            context.record(probe.find(&context));
        }
        Ok(Step::Done)
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let mut findings = Findings::default();
        let Ok(span) = self.options.span_on(&evidence.geometry) else { return findings };
        let mut context = self.context(evidence, span);
        for probe in EXPERIMENTS {
            context.segments = segments_of(probe.name(), &evidence.segments);
            context.is_named = self.options.only.iter().any(|name| name == probe.name());
            let pictures = context.record(probe.find(&context));
            findings.series.extend(pictures.into_iter().map(|(name, picture)| (name.into(), picture)));
        }
        let properties: Vec<_> = Key::ALL.into_iter().map(|key| context.inferences.property(key)).collect();
        // Whoever reads one sentence should know that first.
        let disturbance = noise::disturbance(context.inferences.noise(), context.inferences.background_io());
        let verdicts = properties.iter().map(|property| property.verdict());
        findings.verdicts.extend(disturbance.into_iter().chain(verdicts));
        findings.verdicts.extend(refusals(&evidence.segments));
        findings
            .tables
            .insert("properties".into(), properties.iter().map(|property| row(property.row())).collect());
        findings
    }
}
