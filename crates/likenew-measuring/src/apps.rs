//! Replays the published I/O of applications: their speed, a score, and how the score holds up under sustained
//! writes.

pub mod application;
pub mod library;
mod phases;
pub(crate) mod results;
pub mod stage;
mod wording;

use clap::Args;
use likenew_core::findings::Findings;
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::Size;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_size, parse_duration, parse_size, size_text};
use likenew_core::workload::Workload;
use likenew_procedure_support::estimate::is_whole;
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::fit::{Fitting, Options, Unfit, file_size_to_fill, number};
use likenew_procedure_support::options::{check_multiple, check_range, check_time};
use likenew_procedure_support::wording::{ended_early, out_of_range, span_too_large, too_small_for};
use likenew_procedure_support::workloads::prepare;
use serde::{Deserialize, Serialize};

use application::Application;
use phases::{FILLS, Kind, PHASES, sequential_fill};
use results::{AppResults, PassTotals, Run, Writes};
use stage::{Amount, Stage};
pub use wording::DESCRIPTOR;

/// The options of apps.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct AppsOptions {
    /// An application, a group, or your own FILE.toml; can be given several times [default: pcmark8]
    #[arg(long, value_name = "NAME|FILE.toml")]
    #[serde(skip)]
    pub app: Vec<String>,
    /// Applications and groups of the library, by name.
    #[arg(skip = [library::DEFAULT_GROUP.to_owned()])]
    pub applications: Vec<String>,
    /// Applications outside of the library, in full.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub custom: Vec<Application>,
    /// Runs of each application; with --consistency per phase [default: 3, with --consistency 1]
    #[arg(long, default_value_t = 3, hide_default_value = true, value_name = "N")]
    pub passes: u32,
    /// Share of each application's I/Os to replay [default: all, or what fits]
    #[arg(long, value_parser = number(1e-6, 1000.0), value_name = "FACTOR")]
    #[arg(default_value = "1", hide_default_value = true)]
    pub scale: f64,
    /// Address space that applications use [default: 4GiB, at most a quarter of the target or of --writing-span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "4GiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub span: u64,
    /// Time limit of one application in one pass
    #[arg(long, visible_alias = "runtime", default_value = "300s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Keep the published think times, where an application has them
    #[arg(long)]
    pub think: bool,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
    /// Also measure how the score holds up under hours of writing: the phases of PCMark 8's consistency test
    #[arg(long)]
    pub consistency: bool,
    /// Scale of all phase lengths: 1 is the published 10 to 45 minutes each, about 8 hours in all; 0.1 takes 48
    /// minutes
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = number(1e-6, 100.0), requires = "consistency")]
    pub minutes: f64,
    /// Address space for the writing phases [default: all of it]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", requires = "consistency")]
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub writing_span: Option<u64>,
    /// Bytes of each file, if that span is a folder's.
    #[arg(skip = 1u64 << 30)]
    #[serde(with = "size_text")]
    pub file_size: u64,
}

impl Options for AppsOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;
    const WRITES: bool = true;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        /// The default span is the usable space divided by this.
        const SPAN_PART: u64 = 4;
        let usable = fitting.usable()?;
        if self.consistency && fitting.is_folder {
            let writing_span = self.writing_span.unwrap_or(usable);
            self.file_size = file_size_to_fill(writing_span);
            self.writing_span = Some(writing_span - writing_span % self.file_size);
        }
        let space = self.writing_span.unwrap_or(usable);
        if self.consistency && !(fitting.is_chosen)("passes") {
            self.passes = 1;
        }
        if !(fitting.is_chosen)("scale") {
            self.scale = self.scale_for(space)?;
        }
        if !(fitting.is_chosen)("span") {
            let most = space / SPAN_PART;
            self.span = self.span.min(most - most % SPAN_STEP);
            if self.span == 0 {
                return Err(too_small_for("applications", space, SPAN_STEP * SPAN_PART).into());
            }
        }
        Ok(())
    }
}

impl AppsOptions {
    /// The share of the applications' I/Os that moves no more bytes in a pass than `space`; two digits, at most 1.
    fn scale_for(&self, space: u64) -> Result<f64, String> {
        let mut bytes: u64 = self.custom.iter().map(Application::bytes).sum();
        for name in &self.applications {
            bytes += library::by_name(name)?.iter().map(|entry| entry.application.bytes()).sum::<u64>();
        }
        let scale = space as f64 / bytes.max(1) as f64;
        // Formatted as a decimal, so that a plan shows 0.087 without further digits.
        let text = format!("{scale:.1e}");
        Ok(if scale >= 1.0 { 1.0 } else { text.parse().expect("a number reads back") })
    }
}

/// Spans are multiples of this.
pub const SPAN_STEP: u64 = 4 << 20;
const SPAN_MAX: u64 = 1 << 50;

impl AppsOptions {
    fn check(&self) -> Result<(), String> {
        let Self { passes, scale, span, time, minutes, file_size, .. } = self;
        check_range("passes", *passes, 1..=100)?;
        if !(1e-6..=1000.0).contains(scale) {
            return Err(out_of_range("scale", scale, "0.000001", 1000));
        }
        if *span > 0 {
            check_multiple("span", *span, SPAN_STEP)?;
        }
        if !(SPAN_STEP..=SPAN_MAX).contains(span) {
            return Err(out_of_range("span", exact_size(*span), "4MiB", "1PiB"));
        }
        check_time("time", *time)?;
        if !(1e-6..=100.0).contains(minutes) {
            return Err(out_of_range("minutes", minutes, "0.000001", 100));
        }
        check_multiple("file_size", *file_size, 1 << 20)
    }

    /// The applications to replay, without repeats.
    pub fn all(&self) -> Result<Vec<Application>, String> {
        let mut applications: Vec<Application> = Vec::new();
        for name in &self.applications {
            applications.extend(library::by_name(name)?.into_iter().map(|entry| entry.application.clone()));
        }
        for custom in &self.custom {
            custom.check().map_err(|reason| wording::invalid_application(&custom.name, &reason))?;
        }
        applications.extend(self.custom.iter().cloned());
        for (index, application) in applications.iter().enumerate() {
            if applications[..index].iter().any(|other| other.name == application.name) {
                return Err(wording::application_twice(&application.name));
            }
        }
        if applications.is_empty() {
            return Err(wording::no_application());
        }
        Ok(applications)
    }
}

/// The procedure.
pub struct Apps {
    options: AppsOptions,
    applications: Vec<Application>,
}

impl Apps {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: AppsOptions) -> Result<Self, String> {
        options.check()?;
        let applications = options.all()?;
        Ok(Self { options, applications })
    }

    /// Bytes of address space for the writing phases.
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
        // All tests run the same workloads.
        let stage = Stage::new(&(0..span), geometry, data);
        let amount = Amount { scale, time: Some(time), thinks: think };
        let played: Vec<Vec<Workload>> =
            self.applications.iter().map(|application| stage.workloads(application, "", amount)).collect();
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

    /// Replays every application once; names its workloads by their depth if there are several.
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
        let run = Run { options: &self.options, evidence, measured };
        let mut findings = Findings::default();
        run.put_answers(&mut findings);
        let unfinished = (done < planned).then(|| ended_early(done, planned));
        add_failures(&mut findings.answers, evidence, unfinished);
        results::finish(&mut findings);
        run.put_tables(&mut findings);
        run.put_series(&mut findings);
        findings
    }
}
