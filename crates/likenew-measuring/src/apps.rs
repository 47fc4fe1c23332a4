//! How fast applications run: their published mixes of I/O, the score of these, and how it holds up under
//! sustained writes.

mod answers;
pub mod application;
pub mod library;
pub(crate) mod results;
pub mod stage;
mod wording;
mod workload_plan;

use likenew_core::findings::Findings;
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::quantity::Size;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_size, size_text};
use likenew_procedure_support::options::{check_multiple, check_range, check_time, options};
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::wording::{ended_early, out_of_range, span_too_large};
use likenew_procedure_support::workloads::next_step;
use serde::{Deserialize, Serialize};

use answers::Run;
use application::Application;
use results::AppResults;
pub use wording::DESCRIPTOR;
use workload_plan::{PlannedWorkload, WorkloadPlan};

/// The options of apps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AppsOptions {
    /// Applications and groups of the library, by name.
    pub applications: Vec<String>,
    /// How often each is replayed; with consistency, in each phase.
    pub passes: u32,
    /// Share of each application's published I/Os that is replayed.
    pub scale: f64,
    /// Bytes of address space for applications, from the start of the drive.
    #[serde(with = "size_text")]
    pub span: u64,
    /// An application ends after this time, complete or not.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Whether applications keep their published think times, if there are any.
    pub think: bool,
    /// Content of writes.
    pub data: DataClass,
    /// Whether to measure how the score holds up under sustained writes, as PCMark 8 does.
    pub consistency: bool,
    /// The length of its phases: 1 for PCMark 8's 10 to 45 minutes of writes and 5 of idle time.
    pub minutes: f64,
    /// Bytes of address space to write for consistency, from the start of the drive; all of it by default.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub writing_span: Option<u64>,
    /// Bytes of each file, if that span is a folder's.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Applications outside of the library, in full.
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
            writing_span: None,
            file_size: 1 << 30,
            custom: Vec::new(),
        }
    }
}

/// Spans are multiples of this.
pub const SPAN_STEP: u64 = 4 << 20;
const SPAN_MAX: u64 = 1 << 50;

impl AppsOptions {
    fn check(&self) -> Result<(), String> {
        let Self { passes, scale, span, time, minutes, file_size, .. } = self;
        check_range("passes", *passes, 1..=100)?;
        if !(*scale > 0.0 && *scale <= 1000.0) {
            return Err(out_of_range("scale", scale, "0.000001", 1000));
        }
        if *span > 0 {
            check_multiple("span", *span, SPAN_STEP)?;
        }
        if !(SPAN_STEP..=SPAN_MAX).contains(span) {
            return Err(out_of_range("span", exact_size(*span), "4MiB", "1PiB"));
        }
        check_time("time", *time)?;
        if !(*minutes > 0.0 && *minutes <= 100.0) {
            return Err(out_of_range("minutes", minutes, "0.000001", 100));
        }
        check_multiple("file_size", *file_size, 1 << 20)
    }

    /// The applications to replay, each once.
    pub fn all(&self) -> Result<Vec<Application>, String> {
        let mut all: Vec<Application> = Vec::new();
        for name in &self.applications {
            all.extend(library::by_name(name)?.into_iter().map(|entry| entry.application.clone()));
        }
        for custom in &self.custom {
            custom.check().map_err(|reason| wording::invalid_application(&custom.name, &reason))?;
        }
        all.extend(self.custom.iter().cloned());
        for (index, application) in all.iter().enumerate() {
            if all[..index].iter().any(|other| other.name == application.name) {
                return Err(wording::application_twice(&application.name));
            }
        }
        if all.is_empty() {
            return Err(wording::no_application());
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
    /// From the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("apps", table)?)
    }

    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: AppsOptions) -> Result<Self, String> {
        options.check()?;
        let applications = options.all()?;
        Ok(Self { options, applications })
    }

    /// Every workload on this drive, in the order they run.
    fn workload_plan(&self, geometry: &Geometry) -> Result<Vec<PlannedWorkload>, String> {
        if !geometry.writable {
            return Err(wording::target_is_read_only());
        }
        let writing_span = self.options.writing_span.unwrap_or(geometry.capacity);
        if writing_span > geometry.capacity {
            return Err(wording::writing_span_too_large(Size(writing_span), Size(geometry.capacity)));
        }
        let writing_span = writing_span - writing_span % u64::from(geometry.block).max(4096);
        if self.options.span > writing_span {
            return Err(span_too_large(self.options.span, writing_span, SPAN_STEP));
        }
        Ok(WorkloadPlan {
            options: &self.options,
            applications: &self.applications,
            geometry: geometry.clone(),
            writing_span,
        }
        .planned_workloads())
    }
}

impl Procedure for Apps {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        let AppsOptions { consistency, span, writing_span, file_size, .. } = self.options;
        if !consistency {
            return Layout { files: 1, file_bytes: span };
        }
        let files = writing_span.map_or(1, |bytes| bytes / file_size);
        Layout { files: u32::try_from(files).unwrap_or(u32::MAX), file_bytes: file_size }
    }

    fn always_confirms(&self) -> bool {
        self.options.consistency
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let next = self.workload_plan(&evidence.geometry)?.into_iter().nth(evidence.segments.len());
        Ok(next_step(evidence, next.map(|planned| planned.workload)))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let planned_workloads = match self.workload_plan(&evidence.geometry) {
            Ok(planned_workloads) => planned_workloads,
            Err(reason) => {
                return Findings { summary: wording::nothing_measured(&reason), ..Findings::default() };
            }
        };
        let (done, planned) = (evidence.segments.len(), planned_workloads.len());
        let measured = AppResults::new(planned_workloads, &evidence.segments, &self.applications);
        let run = Run { options: &self.options, evidence };
        let mut findings = Findings::default();
        run.put(&mut findings, &measured);
        findings.answers.extend(refusals(&evidence.segments));
        findings.answers.extend((done < planned).then(|| ended_early(done, planned)));
        spare_failing_drive(&mut findings.answers, evidence);
        answers::finish(&mut findings);
        results::put_tables(&mut findings, &measured, self.options.consistency);
        results::put_series(&mut findings, &measured, self.options.consistency);
        findings
    }
}
