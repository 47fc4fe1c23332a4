//! How fast applications run: their published mixes of I/O, the score of these, and how it holds up under
//! sustained writes.

mod answers;
pub mod application;
pub mod library;
mod phases;
pub(crate) mod results;
pub mod stage;
mod wording;

use likenew_core::findings::Findings;
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::Size;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_size, size_text};
use likenew_core::workload::Workload;
use likenew_procedure_support::estimate::is_whole;
use likenew_procedure_support::options::{check_multiple, check_range, check_time, options};
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::wording::{ended_early, out_of_range, span_too_large};
use likenew_procedure_support::workloads::prepare;
use serde::{Deserialize, Serialize};

use answers::Run;
use application::Application;
use phases::{FILLS, Kind, PHASES, sequential_fill};
use results::{AppResults, PassTotals, Writes};
use stage::{Amount, Stage};
pub use wording::DESCRIPTOR;

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

    /// Bytes of address space that are written for consistency.
    fn writing_span(&self, geometry: &Geometry) -> Result<u64, String> {
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
        Ok(writing_span)
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

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let AppsOptions { span, data, scale, time, think, passes, consistency, .. } = self.options;
        let geometry = &steps.evidence().geometry;
        let writing_span = self.writing_span(geometry)?;
        // Every test is the same.
        let stage = Stage::new(&(0..span), geometry, data);
        let amount = Amount { scale, time: Some(time), thinks: think };
        let played: Vec<Vec<Workload>> =
            self.applications.iter().map(|of| stage.workloads(of, "", amount)).collect();
        let passes = passes as usize;
        let of_a_test: usize = played.iter().map(Vec::len).sum();
        let (tests, others) = if consistency {
            (PHASES.len() * passes, FILLS as usize + PHASES.len() + 1)
        } else {
            (passes, 1)
        };
        let mut measured = AppResults::new(tests, &self.applications);
        let _ended = if consistency {
            self.measure_consistency(steps, writing_span, &played, &mut measured)
        } else {
            self.measure_passes(steps, &played, &mut measured)
        };
        Ok(steps.conclude(|evidence| self.findings(evidence, &measured, others + tests * of_a_test)))
    }
}

impl Apps {
    /// Writes the data to read, then runs all applications in each pass.
    fn measure_passes(
        &self,
        steps: &mut Steps<'_>,
        played: &[Vec<Workload>],
        measured: &mut AppResults<'_>,
    ) -> Result<(), Ended> {
        let AppsOptions { span, data, .. } = self.options;
        let file_bytes = steps.evidence().geometry.boundary.unwrap_or(span);
        steps.run_seeded(|| prepare(span, file_bytes, data))?;
        for (pass, totals) in (1..).zip(&mut measured.tests) {
            self.test(steps, played, &format!("pass {pass}"), totals)?;
        }
        Ok(())
    }

    fn measure_consistency(
        &self,
        steps: &mut Steps<'_>,
        span: u64,
        played: &[Vec<Workload>],
        measured: &mut AppResults<'_>,
    ) -> Result<(), Ended> {
        let AppsOptions { passes, minutes, data, .. } = self.options;
        let geometry = &steps.evidence().geometry;
        for fill in 1..=FILLS {
            steps.run_seeded(|| sequential_fill(format!("precondition {fill} of {}", FILLS), span, data))?;
        }
        let tests = measured.tests.chunks_mut(passes as usize);
        for ((phase, tests), writes) in PHASES.iter().zip(tests).zip(&mut measured.writes) {
            let segment = steps.run_seeded(|| phase.preparation(minutes, geometry, span, data))?;
            *writes = if phase.kind == Kind::Recover { None } else { Writes::new(segment) };
            for (pass, totals) in (1..).zip(tests) {
                let name = if passes > 1 { format!("{} test {pass}", phase.name) } else { phase.name.into() };
                self.test(steps, played, &name, totals)?;
            }
        }
        steps.run_seeded(|| sequential_fill("clean-up", span, DataClass::Zero))?;
        Ok(())
    }

    /// Every application once, with its workloads, which are named by their depth if there are several.
    fn test(
        &self,
        steps: &mut Steps<'_>,
        played: &[Vec<Workload>],
        name: &str,
        totals: &mut [Option<PassTotals>],
    ) -> Result<(), Ended> {
        for ((application, workloads), totals) in self.applications.iter().zip(played).zip(totals) {
            let mut segments = Vec::new();
            for workload in workloads {
                let named = || format!("{name}: {}{}", application.name, workload.name);
                segments.push(steps.run_seeded(|| Workload { name: named(), ..workload.clone() })?);
            }
            if segments.iter().all(|segment| is_whole(segment)) {
                *totals = PassTotals::from_segments(segments);
            }
        }
        Ok(())
    }

    fn findings(&self, evidence: &Evidence, measured: &AppResults<'_>, planned: usize) -> Findings {
        let done = evidence.segments.len();
        let run = Run { options: &self.options, evidence };
        let mut findings = Findings::default();
        run.put(&mut findings, measured);
        findings.answers.extend(refusals(&evidence.segments));
        findings.answers.extend((done < planned).then(|| ended_early(done, planned)));
        spare_failing_drive(&mut findings.answers, evidence);
        answers::finish(&mut findings);
        results::put_tables(&mut findings, measured, self.options.consistency);
        results::put_series(&mut findings, measured, self.options.consistency);
        findings
    }
}
