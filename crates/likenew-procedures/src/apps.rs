//! What applications get of a drive: mixes of I/O with published figures, the score that they make up, and how it holds out.

pub mod application;
mod consistency;
mod consistency_verdicts;
pub mod depths;
mod lengths;
pub mod library;
mod pictures;
mod results;
pub(crate) mod score;
pub(crate) mod stage;
mod tables;
mod verdicts;
mod workload_plan;

use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, amount, duration_text, size_text};
use likenew_core::verdict::{Findings, Standing, Verdict};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::refusals::refusals;
use application::Application;
use results::AppResults;
use workload_plan::{PlannedWorkload, WorkloadPlan};

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "apps",
    question: "What do applications get of it, and does it hold out?",
    writes: "writes own files in a folder, about 31 GB as usual; with --consistency all of its space many times, which wears flash for good",
    manual: include_str!("apps.md"),
};

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AppsOptions {
    /// Applications and groups of the library, by name.
    pub applications: Vec<String>,
    /// How often each is played; in a run for consistency, in each phase.
    pub passes: u32,
    /// Part of each application's published I/Os that is played.
    pub scale: f64,
    /// Bytes of address space that applications work in, from the start of the drive.
    #[serde(with = "size_text")]
    pub span: u64,
    /// An application ends after this time, whether it has come to its end or not.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Whether applications take as long as they took where they were recorded, if that was published.
    pub think: bool,
    /// What is written.
    pub data: DataClass,
    /// Whether to measure how the score holds out, as PCMark 8 does.
    pub consistency: bool,
    /// Times of that in units of PCMark 8's: 1 for 10 to 45 minutes of writes and 5 of rest.
    pub minutes: f64,
    /// Bytes of address space that are written for consistency, from the start of the drive; all of it otherwise.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub space: Option<u64>,
    /// Bytes of each file where that space is a folder's.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Applications that the library does not have, in full.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub custom: Vec<Application>,
}

impl Default for AppsOptions {
    fn default() -> Self {
        Self {
            applications: vec![library::DEFAULT_GROUP.into()],
            passes: 3,
            scale: 1.0,
            span: 4 << 30,
            time: Nanos::from_secs(300),
            think: false,
            data: DataClass::Random,
            consistency: false,
            minutes: 1.0,
            space: None,
            file_size: 1 << 30,
            custom: Vec::new(),
        }
    }
}

/// Spans are multiples of this.
pub const SPAN_STEP: u64 = 4 << 20;

impl AppsOptions {
    fn check(&self) -> Result<(), String> {
        let Self { passes, scale, span, time, minutes, file_size, .. } = self;
        if *passes == 0 || *passes > 100 {
            return Err(format!("passes = {passes} is not in 1..100"));
        }
        if !(*scale > 0.0 && *scale <= 1000.0) {
            return Err(format!("scale = {scale} is not in 0..1000"));
        }
        if *span < SPAN_STEP || !span.is_multiple_of(SPAN_STEP) || *span > 1 << 50 {
            return Err(format!("span = {span} bytes is not a multiple of 4 MiB in 4MiB..1PiB"));
        }
        if *time < Nanos::from_millis(1) || *time > Nanos::from_secs(86_400) {
            return Err(format!("time = {time} is not in 1ms..24h"));
        }
        if !(*minutes > 0.0 && *minutes <= 100.0) {
            return Err(format!("minutes = {minutes} is not in 0..100"));
        }
        if *file_size == 0 || !file_size.is_multiple_of(1 << 20) {
            return Err(format!("file_size = {file_size} bytes is not a multiple of 1 MiB"));
        }
        Ok(())
    }

    /// The applications to play, each once.
    pub(crate) fn all(&self) -> Result<Vec<Application>, String> {
        let mut all: Vec<Application> = Vec::new();
        for name in &self.applications {
            all.extend(library::by_name(name)?.into_iter().map(|entry| entry.application.clone()));
        }
        for custom in &self.custom {
            custom.check().map_err(|reason| format!("the application \"{}\": {reason}", custom.name))?;
        }
        all.extend(self.custom.iter().cloned());
        for (index, application) in all.iter().enumerate() {
            if all[..index].iter().any(|other| other.name == application.name) {
                return Err(format!("the application \"{}\" is named twice", application.name));
            }
        }
        if all.is_empty() {
            return Err("applications: name at least one, or a group such as pcmark8".into());
        }
        Ok(all)
    }
}

/// The procedure.
pub struct Apps {
    options: AppsOptions,
    applications: Vec<Application>,
}

impl Apps {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("apps", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: AppsOptions) -> Result<Self, String> {
        options.check()?;
        let applications = options.all()?;
        Ok(Self { options, applications })
    }

    /// Everything it would run on this drive, in order.
    fn workload_plan(&self, geometry: &Geometry) -> Result<Vec<PlannedWorkload>, String> {
        if !geometry.writable {
            return Err(
                "applications write, and this target may only be read: give a folder or a simulated drive"
                    .into(),
            );
        }
        let space = self.options.space.unwrap_or(geometry.capacity);
        if space > geometry.capacity {
            let (asked, there) = (amount(space), amount(geometry.capacity));
            return Err(format!(
                "a space of {asked} is more than the {there} there are: give a smaller --space"
            ));
        }
        let space = space - space % u64::from(geometry.block).max(4096);
        if self.options.span > space {
            let (asked, there) = (amount(self.options.span), amount(space));
            return Err(format!(
                "a span of {asked} is more than the {there} there are: give a smaller --span"
            ));
        }
        Ok(WorkloadPlan {
            options: &self.options,
            applications: &self.applications,
            geometry: geometry.clone(),
            space,
        }
        .planned_workloads())
    }
}

impl Procedure for Apps {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        let AppsOptions { consistency, span, space, file_size, .. } = self.options;
        if !consistency {
            return Layout { files: 1, file_bytes: span };
        }
        let files = space.map_or(1, |space| space / file_size);
        Layout { files: u32::try_from(files).unwrap_or(u32::MAX), file_bytes: file_size }
    }

    fn always_confirms(&self) -> bool {
        self.options.consistency
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let index = evidence.segments.len();
        let next = self.workload_plan(&evidence.geometry)?.into_iter().nth(index);
        Ok(next.map_or(Step::Done, |planned: PlannedWorkload| {
            let mut workload = planned.workload;
            workload.seed = evidence.plan.seed_of(index);
            Step::Run(workload)
        }))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let mut findings = Findings::default();
        let Ok(planned_workloads) = self.workload_plan(&evidence.geometry) else { return findings };
        let wanted = planned_workloads.len();
        let measured = AppResults::new(planned_workloads, &evidence.segments, self.applications.len());
        if self.options.consistency {
            findings.verdicts.extend(consistency_verdicts::verdicts(&measured));
        } else {
            findings.verdicts.extend(verdicts::verdicts(&measured, self.options.scale));
        }
        findings.verdicts.extend(refusals(&evidence.segments));
        findings.verdicts.extend(remainder(evidence.segments.len(), wanted));
        tables::put(&mut findings, &measured, &self.applications, self.options.consistency);
        pictures::put(&mut findings, &measured, &self.applications, self.options.consistency);
        findings
    }
}

/// Says so when the run ended before its end.
fn remainder(done: usize, wanted: usize) -> Option<Verdict> {
    (done < wanted).then(|| {
        Verdict::new("Every application was played to the end.", Standing::Fails)
            .with_evidence(format!("{done} of {wanted} workloads were run, until the run ended"))
    })
}
