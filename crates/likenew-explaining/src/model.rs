//! The procedure `model`: explains a drive by a few numbers fitted to measurements (access time, throughput,
//! partial clusters, zones, memory and parallelism).

mod burst;
mod curve_fit;
mod pictures;
mod point;
mod wording;
mod workload_plan;
mod zones;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Answer, Findings, Overview, Standing};
use likenew_core::io::{DataClass, Op, Sample};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step, Steps};
use likenew_core::target::Clock;
use likenew_core::units::{
    Nanos, duration_text, exact_duration, exact_size, parse_duration, parse_size, size_text,
};
use likenew_core::workload::Workload;

use burst::Burst;
use curve_fit::{CurveFit, EXPLAINS, Form, NOISE, Specification};
use likenew_procedure_support::failures::failure_answers;
use likenew_procedure_support::fit::{Fitting, List, Options, Unfit, defaults, doublings};
use likenew_procedure_support::options::options;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{target_is_read_only, too_small_for};
use likenew_stats::stalls::{Rule, Wait, stalls};
use likenew_stats::summary::{maximum, median, quantile};
use point::{Curve, VisitName, bytes_moved};
use serde::{Deserialize, Serialize};
use wording::{Prediction, Stalls};
use workload_plan::{MeasuredRegion, WorkloadPlan};
use zones::Zones;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "model",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("model.md"),
};

/// The options of a model.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct ModelOptions {
    /// read, write or both [default: both, or read where the target is read-only]
    #[arg(long = "op", value_name = "OP", value_parser = reads_and_writes(), default_value = "both", hide_default_value = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ops: List<Op>,
    /// Queue depths of small random requests, or ranges such as 1..64 [default: 1..64]
    #[arg(long = "depth", visible_alias = "iodepth", value_parser = doublings::<u32>, value_name = "N,..")]
    #[arg(default_value = "1..64", hide_default_value = true)]
    pub depths: List<u32>,
    /// Longest request, a power of two
    // As in the study of a drive that this automates.
    #[arg(long, default_value = "512MiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub longest: u64,
    /// Address space to test, from the start [default: all; in a folder 384MiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Write at most this much, and read at most as much [default: 8GiB, in a folder 1GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// Start no new measurement after this time [default: 10min, in a folder 45s]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub time: Option<Nanos>,
    /// Time limit of one measurement [default: 3s, in a folder 500ms]
    // Or its first request, if that takes longer.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub visit: Option<Nanos>,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
    /// Rated sequential read, in bytes a second.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_read_bytes_per_s: Option<u64>,
    /// Rated sequential write, in bytes a second.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_write_bytes_per_s: Option<u64>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        // A plan that names no operation leaves the choice to the target.
        let mut options: Self = defaults();
        options.ops.clear();
        options
    }
}

/// Parses the operations that a model is made of.
fn reads_and_writes() -> impl TypedValueParser<Value = List<Op>> {
    let value = |(name, help)| PossibleValue::new(name).help(help);
    let values = [("read", wording::READS), ("write", wording::WRITES_ALONE), ("both", wording::BOTH)];
    PossibleValuesParser::new(values.map(value)).map(|name| match name.as_str() {
        "read" => vec![Op::Read],
        "write" => vec![Op::Write],
        _ => vec![Op::Read, Op::Write],
    })
}

impl Options for ModelOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn writes(&self, is_chosen: &dyn Fn(&str) -> bool) -> bool {
        is_chosen("ops") && self.ops.contains(&Op::Write)
    }

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        if !fitting.is_writable && !(fitting.is_chosen)("ops") {
            fitting.note_reads_only();
            self.ops = vec![Op::Read];
        }
        if fitting.is_folder && self.span.is_none() {
            let usable = fitting.usable()?;
            self.span = Some(SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP));
            if self.span == Some(0) {
                return Err(too_small_for("a model", usable, SPAN_STEP).into());
            }
        }
        Ok(())
    }
}

/// Divisible by powers of two and by three, so that requests of both kinds divide a folder's file.
const SPAN_STEP: u64 = 48 << 20;
/// Default span of a folder: divisible by powers of two and by three.
const SPAN_OF_FOLDER: u64 = 8 * SPAN_STEP;
/// Default limits of the bytes moved.
const BYTES_OF_FOLDER: u64 = 1 << 30;
const BYTES_USUAL: u64 = 8 << 30;
/// Default time of a run in a folder. Chosen: short enough to wait for.
const TIME_OF_FOLDER: Nanos = Nanos::from_secs(45);
/// Default time of a run elsewhere. Chosen: enough for every first point and the points that decide between
/// models.
const TIME_USUAL: Nanos = Nanos::from_secs(600);
/// Default time of a visit in a folder. Chosen: 90 visits fit into the default time.
const VISIT_OF_FOLDER: Nanos = Nanos::from_millis(500);
/// Default time of a visit elsewhere. Chosen: long enough to outlast a drive's memory at the usual rates.
const VISIT_USUAL: Nanos = Nanos::from_secs(3);
const BYTES_LEAST: u64 = 16 << 20;
const DEPTHS_MAX: usize = 32;
const DEPTH_MAX: u32 = 1024;

impl ModelOptions {
    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    fn check(&self) -> Result<(), String> {
        if self.ops.iter().any(|op| !matches!(op, Op::Read | Op::Write)) {
            return Err(wording::other_operations());
        }
        if self.depths.len() > DEPTHS_MAX || self.depths.iter().any(|depth| !(1..=DEPTH_MAX).contains(depth))
        {
            return Err(wording::depths_out_of_range(DEPTHS_MAX, DEPTH_MAX));
        }
        if !(1 << 20..=1 << 40).contains(&self.longest) || !self.longest.is_power_of_two() {
            return Err(wording::longest_out_of_range(self.longest));
        }
        if self.bytes.is_some_and(|bytes| bytes < BYTES_LEAST) {
            return Err(wording::too_few_bytes(BYTES_LEAST));
        }
        let day = Nanos::from_secs(86_400);
        for (name, time) in [("time", self.time), ("visit", self.visit)] {
            if let Some(time) = time.filter(|time| *time < Nanos::from_millis(10) || *time > day) {
                return Err(wording::time_out_of_range(name, time));
            }
        }
        Ok(())
    }

    /// Whether an operation is measured: by default reads, and writes if the target is writable.
    fn includes(&self, op: Op, writable: bool) -> bool {
        if self.ops.is_empty() { op == Op::Read || writable } else { self.ops.contains(&op) }
    }

    /// Most bytes to write, and as many to read.
    fn bytes_on(&self, evidence: &Evidence) -> u64 {
        let default_bytes = match evidence.identity.kind {
            TargetKind::Folder => BYTES_OF_FOLDER,
            _ => BYTES_USUAL.min(evidence.geometry.capacity).max(BYTES_LEAST),
        };
        self.bytes.unwrap_or(default_bytes)
    }

    /// Time after which no visit starts.
    fn time_on(&self, evidence: &Evidence) -> Nanos {
        let is_folder = evidence.identity.kind == TargetKind::Folder;
        self.time.unwrap_or(if is_folder { TIME_OF_FOLDER } else { TIME_USUAL })
    }

    /// Time of one visit.
    fn visit_on(&self, evidence: &Evidence) -> Nanos {
        let is_folder = evidence.identity.kind == TargetKind::Folder;
        self.visit.unwrap_or(if is_folder { VISIT_OF_FOLDER } else { VISIT_USUAL })
    }

    /// Rated sequential rate of an operation, in bytes a second.
    fn advertised_rate(&self, op: Op) -> Option<f64> {
        let rate = match op {
            Op::Read => self.advertised_read_bytes_per_s,
            _ => self.advertised_write_bytes_per_s,
        };
        rate.map(|bytes_per_s| bytes_per_s as f64)
    }
}

/// The procedure `model`.
pub struct Model {
    options: ModelOptions,
}

impl Model {
    /// Creates it from the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("model", table)?)
    }

    /// Creates it with these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: ModelOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }
}

impl Procedure for Model {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(SPAN_OF_FOLDER) }
    }

    fn bytes_written_max(&self, evidence: &Evidence, _planned: &[Step]) -> Option<u64> {
        let writes = self.options.includes(Op::Write, evidence.geometry.writable);
        Some(if writes {
            self.options.bytes_on(evidence).saturating_sub(bytes_moved(evidence, Op::Write))
        } else {
            0
        })
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let evidence = steps.evidence();
        let writes = self.options.includes(Op::Write, evidence.geometry.writable);
        if writes && !evidence.geometry.writable {
            return Err(target_is_read_only());
        }
        let Ok(region) = MeasuredRegion::measure(&self.options, steps)? else {
            let failures = failure_answers(&evidence.segments);
            let summary = with_problem(&failures, wording::summary(std::iter::empty(), true));
            return Ok(Findings { summary, answers: failures, ..Findings::default() });
        };
        let workload_plan = WorkloadPlan::new(&self.options, evidence, &region);
        // Past visits are read back by their names. Only the next one is chosen, which takes long.
        steps.skip_done();
        if steps.is_planning() {
            let burst = || burst::next(&self.options, evidence, region.bytes).filter(|_| writes);
            // What may write more than is left of the bytes is not begun.
            let left = self.bytes_written_max(evidence, &[]);
            let fits =
                |workload: &Workload| workload.bytes_written_max().is_none_or(|bytes| Some(bytes) <= left);
            if let Some(workload) = workload_plan.next().filter(fits).or_else(|| burst().filter(fits)) {
                let _ended = steps.run_seeded(|| workload);
            }
        }
        Ok(steps.conclude(|evidence| self.findings(evidence, &region, &workload_plan)))
    }
}

impl Model {
    fn findings(
        &self,
        evidence: &Evidence,
        region: &MeasuredRegion,
        workload_plan: &WorkloadPlan<'_>,
    ) -> Findings {
        let failures = failure_answers(&evidence.segments);
        let results = Results::new(&self.options, evidence, workload_plan);
        let mut findings = Findings::default();
        results.add_tables(workload_plan, &mut findings);
        let Results { curve_fits, zones, bursts, .. } = &results;
        findings.series.extend(pictures::series(curve_fits, zones, bursts, evidence.geometry.capacity));
        let steadiness = steadiness(workload_plan, evidence);
        let is_steady = steadiness.as_ref().is_none_or(|steadiness| steadiness.is_steady);
        findings.summary = with_problem(&failures, wording::summary(results.of_random(), is_steady));
        findings.overview = results.overview(&failures, &findings);
        let (problems, others): (Vec<Answer>, Vec<Answer>) =
            failures.into_iter().partition(|answer| answer.standing == Standing::Problem);
        let doubted = |answer: Answer| if is_steady { answer } else { in_doubt(answer) };
        let answers = results.answers(region).into_iter().map(doubted);
        findings.answers = problems;
        findings.answers.extend(answers.chain(others).chain(steadiness.map(|steadiness| steadiness.answer)));
        self.add_actions(&mut findings.answers, is_steady, evidence);
        findings
    }

    /// What would decide unknown answers: a quiet drive, or more points.
    fn add_actions(&self, answers: &mut [Answer], is_steady: bool, evidence: &Evidence) {
        let unknown = answers.iter_mut().filter(|answer| answer.standing == Standing::Unknown);
        let action = if is_steady { Some(self.more_points(evidence)) } else { self.repeat(evidence) };
        let Some(action) = action else { return };
        // A cache larger than all bursts stays hidden however much is measured.
        let can_help = |answer: &&mut Answer| !is_steady || answer.id.ends_with("_model");
        unknown.filter(can_help).for_each(|answer| answer.actions.push(action.clone()));
    }

    /// The same model with more bytes and time: the defaults if less was allowed, otherwise twice as much.
    fn more_points(&self, evidence: &Evidence) -> Action {
        let time = self.options.time_on(evidence);
        let is_limited = self.options.bytes.is_some() || self.options.time.is_some();
        let (limits, bytes, time) = if is_limited {
            (String::new(), None, None)
        } else {
            let (bytes, time) = (2 * self.options.bytes_on(evidence), Nanos(2 * time.0));
            let limits = format!(" --bytes {} --time {}", exact_size(bytes), exact_duration(time));
            (limits, Some(bytes), Some(time))
        };
        let again = ModelOptions { bytes, time, ..self.options.clone() };
        self.rerun(wording::MORE_POINTS, &limits, again, evidence)
    }

    /// The same model at a quieter moment; a simulated drive has none.
    fn repeat(&self, evidence: &Evidence) -> Option<Action> {
        let changes = evidence.geometry.clock == Clock::Wall;
        changes.then(|| self.rerun(wording::REPEAT, "", self.options.clone(), evidence))
    }

    /// An action of this name and reason, with the command that repeats this model with other options. It has
    /// no command where consent is needed, which no plan holds.
    fn rerun(&self, [id, why]: [&str; 2], limits: &str, again: ModelOptions, evidence: &Evidence) -> Action {
        let needs_consent = matches!(evidence.identity.kind, TargetKind::File | TargetKind::Device)
            && evidence.geometry.writable;
        if needs_consent {
            return Action::new(id, why);
        }
        let ops = match self.options.ops[..] {
            [Op::Read] => "--op read",
            [Op::Write] => "--op write",
            _ => "",
        };
        Rerun::new(evidence, format!("{ops}{limits}").trim(), Self::new(again)).action(id, why)
    }
}

/// A summary that begins with the errors.
fn with_problem(failures: &[Answer], summary: String) -> String {
    match failures.iter().find(|answer| answer.standing == Standing::Problem) {
        Some(problem) => wording::summary_after(problem, &summary),
        None => summary,
    }
}

/// Everything that was fitted.
struct Results<'a> {
    zones: Vec<Zones>,
    curve_fits: Vec<CurveFit>,
    specifications: Vec<Specification>,
    bursts: Vec<Burst<'a>>,
}

impl<'a> Results<'a> {
    fn new(options: &ModelOptions, evidence: &'a Evidence, workload_plan: &WorkloadPlan<'_>) -> Self {
        let zones = zones(workload_plan);
        let curves = workload_plan.curves().into_iter();
        let curve_fits: Vec<CurveFit> = curves.map(|curve| curve_fit(workload_plan, &zones, curve)).collect();
        let by_length = curve_fits.iter().filter(|curve_fit| !matches!(curve_fit.curve, Curve::Depth(_)));
        let specifications = by_length.filter_map(|curve_fit| {
            Specification::from_curve_fit(curve_fit, options.advertised_rate(curve_fit.curve.op()))
        });
        let mut specifications: Vec<Specification> = specifications.collect();
        // A cluster is bounded by the rate at which it is read.
        let read = specifications.iter().find(|known| known.curve == Curve::Random(Op::Read));
        if let Some(Specification { throughput, .. }) = read.copied() {
            specifications.iter_mut().for_each(|specification| specification.bound_cluster(throughput));
        }
        Self { zones, curve_fits, specifications, bursts: burst::bursts(evidence) }
    }

    /// The specifications from random requests, reads before writes.
    fn of_random(&self) -> impl Iterator<Item = &Specification> {
        self.specifications.iter().filter(|specification| matches!(specification.curve, Curve::Random(_)))
    }

    fn answers(&self, region: &MeasuredRegion) -> Vec<Answer> {
        let mut answers: Vec<Answer> = self
            .of_random()
            .map(|specification| with_region(wording::specification(specification), region))
            .collect();
        answers.extend(self.specifications.iter().filter_map(wording::write_cluster));
        answers.extend(self.zones.iter().filter_map(Zones::answer));
        answers.extend(burst::answer(&self.bursts, gain_by_depth(&self.curve_fits, Op::Write)));
        answers.extend(self.curve_fits.iter().filter_map(curve_answer));
        answers
    }

    fn overview(&self, failures: &[Answer], findings: &Findings) -> Overview {
        let error = |curve| {
            let fit = self.curve_fits.iter().find(|curve_fit| curve_fit.curve == curve)?;
            Some(fit.selected_fit()?.1.typical())
        };
        let lines = self.specifications.iter().map(|specification| {
            (specification, error(specification.curve).filter(|_| specification.model.is_some()))
        });
        let remarks = failures.iter().map(|answer| answer.id.clone());
        let remarks = remarks.chain(wording::REMARKS.map(str::to_owned)).collect();
        let series = ["read_by_length", "write_by_length"].into_iter();
        let series = series.map(str::to_owned).find(|name| findings.series.contains_key(name));
        wording::overview(lines, remarks, series)
    }

    fn add_tables(&self, workload_plan: &WorkloadPlan<'_>, findings: &mut Findings) {
        let Self { curve_fits, specifications, bursts, .. } = self;
        findings
            .tables
            .insert("fit".into(), specifications.iter().map(pictures::specification_row).collect());
        findings.tables.insert("models".into(), curve_fits.iter().flat_map(pictures::model_rows).collect());
        if !bursts.is_empty() {
            let rows = bursts.iter().enumerate().map(|(pass, burst)| burst.row(pass + 1));
            findings.tables.insert("bursts".into(), rows.collect());
        }
        findings.tables.insert("points".into(), pictures::rows(workload_plan, curve_fits).collect());
    }
}

/// The rates along the addresses, for each operation. Besides its transfer, a sequential run takes the access
/// time of the plain model, which does not depend on zones.
fn zones(workload_plan: &WorkloadPlan<'_>) -> Vec<Zones> {
    let random = workload_plan.curves().into_iter().filter(|curve| matches!(curve, Curve::Random(_)));
    let zones = random.filter_map(|curve| {
        let plain = Form::Plain.fit(&workload_plan.data_points(curve), workload_plan.grain)?;
        Zones::from_visits(curve.op(), workload_plan, plain.coefficient(0).value)
    });
    zones.collect()
}

/// A curve with every visit corrected to the mean rate over the addresses, and its fit.
fn curve_fit(workload_plan: &WorkloadPlan<'_>, zones: &[Zones], curve: Curve) -> CurveFit {
    let zones = zones.iter().find(|zones| zones.op == curve.op() && zones.is_zoned);
    let data_points =
        zones.map_or_else(|| workload_plan.data_points(curve), |zones| zones.at_mean(workload_plan, curve));
    CurveFit::new(curve, data_points, workload_plan.grain)
}

/// Whether a curve is explained, by which form, and how much better than by any other.
fn curve_answer(curve_fit: &CurveFit) -> Option<Answer> {
    let curve = curve_fit.curve;
    let points = curve_fit.data_points.len();
    if points == 0 {
        return None;
    }
    let Some((fit, hold_out)) = curve_fit.selected_fit() else {
        return Some(wording::curve_model(curve, Standing::Unknown, wording::too_few_points(points), None));
    };
    let (typical, noise) = (hold_out.typical(), curve_fit.noise()?);
    let prediction = Prediction {
        form: fit.form,
        in_flight: fit.profile.shape,
        points: hold_out.errors.len(),
        typical,
        worst: hold_out.worst(),
        other: curve_fit.next_best(),
    };
    let (standing, text) = if typical <= EXPLAINS {
        (Standing::Info, wording::explained(&prediction))
    } else if noise >= NOISE * typical {
        (Standing::Unknown, wording::lost_in_noise(typical, noise))
    } else {
        (Standing::Info, wording::unexplained(typical))
    };
    Some(wording::curve_model(curve, standing, text, Some(&prediction)))
}

/// Throughput at the deepest queue over that at QD1.
fn gain_by_depth(curve_fits: &[CurveFit], op: Op) -> Option<f64> {
    let curve_fit = curve_fits.iter().find(|curve_fit| curve_fit.curve == Curve::Depth(op))?;
    let (first, last) = (curve_fit.data_points.first()?, curve_fit.data_points.last()?);
    (last.point.depth > first.point.depth).then(|| first.ns / last.ns)
}

/// Adds to an answer how the measured addresses limit it.
fn with_region(answer: Answer, region: &MeasuredRegion) -> Answer {
    if region.bytes < region.span {
        wording::partly_written(answer, region.bytes, region.span)
    } else if !region.is_known {
        wording::perhaps_empty(answer)
    } else {
        answer
    }
}

/// Median difference between visits of a point, as a share, above which intervals become wide. Chosen: a
/// quiet drive repeats within a few percent.
const DIFFER: f64 = 0.1;
/// If a quarter of the points differ by more than this share, the others were only visited at better moments.
/// Chosen: far above the spread of a quiet drive.
const QUARTER_DIFFERS: f64 = 0.3;
/// Fewest points that show how steady a drive is.
const POINTS_MIN: usize = 4;

/// Whether the drive gave the same result at every visit.
struct Steadiness {
    is_steady: bool,
    answer: Answer,
}

/// How steady the drive was; `None` if there are too few points.
fn steadiness(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence) -> Option<Steadiness> {
    let short = workload_plan.points.iter().filter(|point| !workload_plan.is_run(&point.point));
    let spreads: Vec<f64> = short.filter_map(|point| point.spread()).collect();
    let (typical, worst) = (median(&spreads)?, maximum(&spreads)?);
    if spreads.len() < POINTS_MIN {
        return None;
    }
    let is_steady = typical <= DIFFER && quantile(&spreads, 0.75)? <= QUARTER_DIFFERS;
    let stalls = small_read_stalls(evidence);
    let answer = wording::steadiness(is_steady, spreads.len(), (typical, worst), stalls.as_ref());
    Some(Steadiness { is_steady, answer })
}

/// Lowers the confidence of an answer about an unsteady drive.
fn in_doubt(answer: Answer) -> Answer {
    Answer { standing: Standing::Unknown, answer: wording::in_doubt(&answer.answer), ..answer }
}

/// Stalls within visits of reads of about one block, and the longest.
fn small_read_stalls(evidence: &Evidence) -> Option<Stalls> {
    let visits = evidence.segments.iter().filter(|segment| {
        let name = segment.workload.name.parse::<VisitName>();
        name.is_ok_and(|name| name.point.bytes <= 4096 && name.point.depth == 1 && !segment.workload.writes())
    });
    let stalls = visits.flat_map(|segment| {
        let wait =
            |sample: &Sample| Wait { start_ns: sample.due.0, end_ns: sample.done.0, position: sample.offset };
        let waits: Vec<Wait> = segment.slowest.iter().map(wait).collect();
        stalls(&waits, segment.latencies().quantile(0.5).0, Rule::default())
    });
    let durations: Vec<u64> = stalls.map(|stall| stall.duration_ns).collect();
    Some(Stalls { count: durations.len(), longest: Nanos(durations.iter().copied().max()?) })
}
