//! Maps a drive: speed along the address space, access time by distance, slow regions, and the speed of its cache.

mod access;
mod curve;
mod wording;

use std::cell::LazyCell;
use std::ops::Range;

use clap::Args;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Answer, Axis, Findings, Line, Mark, Row, Series, Shape, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::{Latency, Share, Size};
use likenew_core::segment::Segment;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_size, parse_duration, parse_size, size_text};
use likenew_core::workload::{Mix, SAMPLES_MAX, Stream, Until, Workload};
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::failures::{failure_answers, read_smart, spare_failing_drive};
use likenew_procedure_support::fit::{Fitting, Options, Unfit, arguments, mix_of_reads};
use likenew_procedure_support::options::{check_multiple, check_range, check_time, check_writable};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::row;
use likenew_procedure_support::series::{axis, speed};
use likenew_procedure_support::wording::{answer_as_summary, out_of_range, procedure_action, span_too_large};
use likenew_procedure_support::workloads::prepare;
use serde::{Deserialize, Serialize};

use access::{Access, AccessSample};
use curve::{Curve, Ends, SlowRegions, Suspect, suspects};
pub use wording::DESCRIPTOR;
use wording::{point_name, retest_name};

/// Time limit of all random accesses, as a multiple of a point's.
const PROBES_TIMES: u64 = 10;
/// Bytes of the burst.
const BURST_BYTES: u64 = 64 << 20;
/// Bytes of one I/O of the burst.
const BURST_BLOCK: u64 = 128 << 10;
/// Queue depth of the burst.
const BURST_DEPTH: u32 = 4;
/// Most samples of a point. Chosen: of more I/Os, those in flight at its start and end are less than 2%.
const SAMPLES_OF_POINT_MAX: u64 = 64;
/// How often one small block is read from or written to the drive's cache.
const SMALL_IOS: u64 = 200;

/// The procedure.
pub struct Surface {
    options: SurfaceOptions,
}

impl Surface {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: SurfaceOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }

    fn point(&self, range: Range<u64>) -> Workload {
        let elapsed = (!self.options.whole).then_some(self.options.time);
        let until = Until { elapsed, bytes: Some(range.end - range.start), ops: None };
        self.in_sequence(point_name(&range), range, until)
    }

    fn retest(&self, suspect: &Suspect<'_>, round: u32) -> Workload {
        let range = suspect.retest.clone();
        let bytes = Some(range.end - range.start);
        let until = Until { elapsed: Some(self.options.time), bytes, ops: None };
        self.in_sequence(retest_name(suspect.point.number, round), range, until)
    }

    /// Sequential I/O at a point. Samples are kept, because their ends separate the seek from the transfer.
    fn in_sequence(&self, name: String, range: Range<u64>, until: Until) -> Workload {
        let SurfaceOptions { op, block, depth, data, .. } = self.options;
        let stream = Stream::closed(op, block as u32, Pattern::Sequential.over(range), depth, data);
        let ios = until.bytes.map_or(SAMPLES_OF_POINT_MAX, |bytes| bytes.div_ceil(block));
        let samples = ios.min(SAMPLES_OF_POINT_MAX) as u32;
        Workload { samples, ..Workload::new(name, until, vec![stream]) }
    }

    fn probes(&self, span: u64) -> Workload {
        let SurfaceOptions { op, probes, probe_block, data, .. } = self.options;
        let time = Nanos(self.options.time.0 * PROBES_TIMES);
        let until = Until { elapsed: Some(time), ..Until::ops(u64::from(probes)) };
        let place = Pattern::Random.over(0..span);
        let stream = Stream::closed(op, probe_block as u32, place, 1, data);
        Workload { samples: probes, ..Workload::new("probes", until, vec![stream]) }
    }

    fn small(&self) -> Workload {
        let SurfaceOptions { op, probe_block, data, time, .. } = self.options;
        let place = Pattern::Sequential.over(0..probe_block);
        let until = Until { elapsed: Some(time), ..Until::ops(SMALL_IOS) };
        let stream = Stream::closed(op, probe_block as u32, place, 1, data);
        Workload::new("small, from memory", until, vec![stream])
    }

    fn burst(&self) -> Workload {
        let SurfaceOptions { op, burst, data, time, .. } = self.options;
        let place = Pattern::Sequential.over(0..burst);
        let until = Until { elapsed: Some(time), ..Until::bytes(BURST_BYTES) };
        let block = BURST_BLOCK.min(burst) as u32;
        Workload::new("burst", until, vec![Stream::closed(op, block, place, BURST_DEPTH, data)])
    }
}

impl Procedure for Surface {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(SPAN_OF_FOLDER) }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let geometry = &steps.evidence().geometry;
        check_writable(&[self.options.op], geometry)?;
        let span = self.options.span_on(geometry)?;
        let (mut points, mut rest) = (Vec::new(), Rest::default());
        let ended = self.measure_points(steps, span, &mut points);
        let curve = LazyCell::new(|| Curve::new(points.into_iter(), span));
        let _ended = ended.and_then(|()| self.measure_rest(steps, &curve, &mut rest));
        Ok(steps.conclude(|evidence| self.findings(evidence, &curve, &rest)))
    }
}

/// The measurements that follow the points.
#[derive(Default)]
struct Rest<'a> {
    /// Suspects that were measured again, by the number of their point.
    retests: Vec<(usize, &'a Segment)>,
    probes: Option<&'a Segment>,
    /// One block again and again, from the drive's cache.
    small: Option<&'a Segment>,
    burst: Option<&'a Segment>,
}

impl Surface {
    /// Temporary files must be written before they can be read; any other target is read as it is.
    fn measure_points<'a>(
        &self,
        steps: &mut Steps<'a>,
        span: u64,
        points: &mut Vec<(Range<u64>, &'a Segment)>,
    ) -> Result<(), Ended> {
        if steps.evidence().identity.kind == TargetKind::Folder {
            steps.run_seeded(|| prepare(span, span, self.options.data))?;
        }
        for index in 0..self.options.points as usize {
            let range = self.options.range(index, span);
            points.push((range.clone(), steps.run_seeded(|| self.point(range))?));
        }
        Ok(())
    }

    /// The second retest comes last, so that no cache of the drive still has what the first one read.
    fn measure_rest<'a>(
        &self,
        steps: &mut Steps<'a>,
        curve: &Curve<'_>,
        rest: &mut Rest<'a>,
    ) -> Result<(), Ended> {
        let suspects = suspects(curve, &self.options);
        for round in 1..=RETESTS_MAX {
            for suspect in suspects.iter().filter(|_| round <= self.options.retests) {
                let segment = steps.run_seeded(|| self.retest(suspect, round))?;
                rest.retests.push((suspect.point.number, segment));
            }
            if round == 1 && self.options.probes > 0 {
                rest.probes = Some(steps.run_seeded(|| self.probes(curve.span))?);
            }
            if round == 1 && self.options.burst > 0 {
                rest.small = Some(steps.run_seeded(|| self.small())?);
                rest.burst = Some(steps.run_seeded(|| self.burst())?);
            }
        }
        Ok(())
    }

    fn findings(&self, evidence: &Evidence, curve: &Curve<'_>, rest: &Rest<'_>) -> Findings {
        let mut findings = Findings::default();
        let access = rest.probes.and_then(|probes| Access::new(probes, rest.small, curve, self.options.op));
        let slow_regions = SlowRegions::new(curve, &self.options, &rest.retests);
        let ends = Ends::new(curve, &slow_regions.points());
        let burst = rest.burst.filter(|burst| burst.total().bytes > 0);
        let actions = self.actions(evidence, curve.span);
        let is_disk = evidence.identity.rotates() || access.as_ref().is_some_and(Access::is_disk);
        let answers = &mut findings.answers;
        answers.extend(self.speed(evidence, curve));
        let has_errors = evidence.segments.iter().any(|segment| segment.errors() > 0);
        answers.extend(slow_regions.answers(&actions, has_errors));
        let check = procedure_action(&evidence.plan, "check", "--thorough", wording::CHECK_OLD_DATA);
        let more_points = actions.more_points.as_ref();
        let start_and_end = |ends: &Ends| ends.answer(self.options.op, is_disk, more_points, check.as_ref());
        answers.extend(ends.as_ref().map(start_and_end));
        answers.extend(access.iter().flat_map(|access| access.answers(&actions.more_accesses)));
        answers.extend(burst.and_then(|burst| access::burst_answer(burst, curve, &self.options)));
        answers.extend(failure_answers(&evidence.segments));
        // Problems come first, then a start that may hold old data.
        answers.sort_by_key(|answer| match answer.standing {
            Standing::Problem => 0,
            Standing::Unknown if wording::is_about_ends(answer) => 1,
            _ => 2,
        });
        spare_failing_drive(answers, evidence);
        findings.summary = self.summary(answers, curve, access.as_ref());
        findings.overview.answers = shown(answers);
        findings.overview.series = (!curve.points.is_empty()).then(|| "curve".into());
        let mut metrics: Vec<Row> = access.iter().flat_map(Access::metrics).collect();
        metrics.extend(burst.and_then(access::burst_metric));
        findings.tables.insert("access".into(), metrics);
        findings.tables.insert("zones".into(), ends.iter().flat_map(Ends::zones).collect());
        findings.tables.insert("slow_regions".into(), slow_regions.places.iter().map(row).collect());
        findings.tables.insert("curve".into(), curve.rows().collect());
        if !curve.points.is_empty() {
            let curve = curve_series(curve, &slow_regions, self.options.op, evidence);
            findings.series.insert("curve".into(), curve);
        }
        if let Some(access) = &access {
            findings.series.insert("access_by_distance".into(), by_distance(access));
            let by_offset = by_offset(access, &slow_regions, curve.span, evidence);
            findings.series.insert("access_by_offset".into(), by_offset);
        }
        findings
    }
}

/// What was found about a slow region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Finding {
    /// Slow every time.
    Slow,
    /// The drive refused to read or write it.
    Unreadable,
    /// Slow once, and as fast as its neighbors after that.
    #[serde(rename = "slow_once")]
    Hiccup,
    /// Slow, and not measured again, or with different results.
    #[serde(rename = "not_confirmed")]
    Undecided,
}

/// A region that was slow, as the table has it.
#[derive(Serialize)]
struct SlowRegion {
    from_bytes: u64,
    to_bytes: u64,
    finding: Finding,
    /// `None` for a point that failed.
    bytes_per_s: Option<f64>,
    expected_bytes_per_s: Option<f64>,
    retest_bytes_per_s: Option<f64>,
    latency_ns_max: u64,
    #[serde(skip)]
    point: usize,
}

/// The actions that decide what a run leaves open.
struct Actions {
    /// `None` for a simulated drive.
    read_smart: Option<Action>,
    measure_again: Action,
    /// `None` if no more points fit the target.
    more_points: Option<Action>,
    /// `None` if no larger points fit.
    larger_points: Option<Action>,
    more_accesses: Action,
}

/// Number of points to advise if those measured decide nothing; never fewer than twice as many.
const POINTS_TO_DECIDE: u32 = 400;
/// Bytes of a point to advise if speeds vary too much.
const BYTES_TO_DECIDE: u64 = 64 << 20;

impl Surface {
    fn rerun(evidence: &Evidence, options: SurfaceOptions) -> Rerun {
        Rerun::new(evidence, &arguments(&options, &SurfaceOptions::default()), Self::new(options.clone()))
    }

    fn actions(&self, evidence: &Evidence, span: u64) -> Actions {
        let (options, defaults) = (&self.options, SurfaceOptions::default());
        let again = SurfaceOptions { retests: defaults.retests, ..options.clone() };
        let each = if options.whole { options.block } else { options.bytes };
        let points = options.points.saturating_mul(2).clamp(POINTS_TO_DECIDE, POINTS_MAX);
        let points = u64::from(points).min(span / each) as u32;
        let more_points = SurfaceOptions { points, ..options.clone() };
        let largest = span / u64::from(options.points) / options.block * options.block;
        let bytes = BYTES_TO_DECIDE.next_multiple_of(options.block).min(largest);
        let larger_points = SurfaceOptions { bytes, ..options.clone() };
        let probes = options.probes.saturating_mul(2).clamp(defaults.probes, SAMPLES_MAX);
        let more_accesses = SurfaceOptions { probes, ..options.clone() };
        let rerun = |options: SurfaceOptions, id, why| Self::rerun(evidence, options).action(id, why);
        let mut actions = Actions {
            read_smart: read_smart(evidence),
            measure_again: rerun(again, "measure_again", wording::MEASURE_AGAIN),
            more_points: (points > options.points)
                .then(|| rerun(more_points, "more_points", wording::MORE_POINTS)),
            larger_points: (bytes > options.bytes && !options.whole)
                .then(|| rerun(larger_points, "larger_points", wording::LARGER_POINTS)),
            more_accesses: rerun(more_accesses, "more_accesses", wording::MORE_ACCESSES),
        };
        if options.points < defaults.points && (1..defaults.probes).contains(&options.probes) {
            // More points or more accesses alone would leave the other question open.
            let points = u64::from(defaults.points).min(span / each) as u32;
            let again = SurfaceOptions { points, probes: defaults.probes, ..options.clone() };
            let again = Self::rerun(evidence, again);
            let action = wording::usual_measurement(&again, points, defaults.probes);
            actions.measure_again = again.action("measure_again", wording::MEASURE_AGAIN);
            actions.more_points = (points > options.points).then(|| action.clone());
            actions.more_accesses = action;
        }
        actions
    }

    /// The problem, if there is one, and how fast the drive is.
    fn summary(&self, answers: &[Answer], curve: &Curve<'_>, access: Option<&Access>) -> String {
        let mut sentences = Vec::new();
        if let Some(problem) = answers.first().filter(|answer| answer.standing == Standing::Problem) {
            sentences.push(answer_as_summary(problem));
        }
        if let Some(speeds) = curve.summary() {
            let access = access.map(|access| Latency(access.mean.value));
            sentences.push(wording::summary(self.options.op, &speeds, access));
        }
        sentences.join(" ")
    }

    fn speed(&self, evidence: &Evidence, curve: &Curve<'_>) -> Option<Answer> {
        let span = curve.span;
        let (speeds, mean, count) = (curve.summary()?, curve.mean()?, curve.points.len());
        let mut answer = mean.put(wording::speed(self.options.op, &speeds, count, Size(span)), "bytes/s");
        let (read, share) = (curve.bytes(), curve.share());
        if share < NEARLY_ALL {
            let whole = Self::rerun(evidence, SurfaceOptions { whole: true, ..self.options.clone() });
            let time = Nanos::from_secs_f64(span as f64 / mean.value.max(1.0));
            answer = answer
                .caveat(wording::only_a_share_was_measured(Share(share), Size(read)))
                .action(whole.action("measure_all", wording::MEASURE_ALL).time(time));
        }
        if matches!(evidence.identity.kind, TargetKind::Folder | TargetKind::File) {
            answer = answer.caveat(wording::ADDRESSES_OF_A_FILE);
        }
        Some(answer)
    }
}

/// Share from which all addresses count as measured, because the last block of a span may be cut.
const NEARLY_ALL: f64 = 0.99;

/// The answers of the first screen: all but the speed, which the summary has.
fn shown(answers: &[Answer]) -> Vec<String> {
    let shown = answers.iter().filter(|answer| !answer.id.starts_with("sequential_"));
    distinct(shown.map(|answer| answer.id.clone()))
}

/// Speed and access time over the address space
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct SurfaceOptions {
    /// Operation: read, write, or mix:70 (70% reads)
    #[arg(long, default_value = "read")]
    pub op: Mix,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true)]
    #[serde(skip)]
    pub rwmixread: Option<Mix>,
    /// Points, evenly spaced over the address space [default: 100, fewer on small targets]
    #[arg(long, default_value_t = 100, hide_default_value = true, value_name = "N")]
    pub points: u32,
    /// Bytes moved sequentially at each point [default: 8MiB, less on small targets]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "8MiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub bytes: u64,
    /// Block size of the sequential I/O
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 2, value_name = "N")]
    pub depth: u32,
    /// Cover every byte, in as many pieces as there are points
    #[arg(long, conflicts_with_all = ["bytes", "time"])]
    pub whole: bool,
    /// Address space to test, from the start [default: all; in a folder 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Number of single random accesses
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub probes: u32,
    /// Block size of the random accesses
    #[arg(long, default_value = "4KiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub probe_block: u64,
    /// Bytes to read repeatedly from the drive's own memory; 0 skips this
    #[arg(long, default_value = "256KiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub burst: u64,
    /// Repeated measurements of a slow region before it is reported, from 0 to 2
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub retests: u32,
    /// Time limit of a point; all random accesses together take at most ten times as long
    #[arg(long, visible_alias = "runtime", default_value = "5s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
}

impl Options for SurfaceOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn writes(&self, _: &dyn Fn(&str) -> bool) -> bool {
        self.rwmixread.unwrap_or(self.op).writes()
    }

    /// Takes as many points as fit, each as large as fits.
    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        /// The span of a folder is a multiple of this, so that I/Os divide it.
        const SPAN_STEP: u64 = 1 << 20;
        /// Fewest I/Os of a point on a small target, so that its speed means something.
        const IOS_LEAST: u64 = 4;
        self.op = self.rwmixread.take().unwrap_or(self.op);
        let usable = fitting.usable()?;
        if fitting.is_folder {
            self.span.get_or_insert(SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP));
        }
        let (span, block) = (self.span.unwrap_or(usable), self.block.max(1));
        let has_own_bytes = (fitting.is_chosen)("bytes");
        if !(fitting.is_chosen)("points") {
            let least = if has_own_bytes { self.bytes } else { block.saturating_mul(IOS_LEAST) };
            let most = u64::from(self.points);
            self.points = (span / least.max(1)).clamp(2, most) as u32;
        }
        if !has_own_bytes {
            let most = (span / u64::from(self.points.max(1))).min(self.bytes.max(block));
            self.bytes = most - most % block;
            if self.bytes == 0 {
                return Err(wording::points_do_not_fit(self.points, block, span).into());
            }
        }
        Ok(())
    }
}

/// Default span of a folder.
const SPAN_OF_FOLDER: u64 = 1 << 30;
const POINTS_MAX: u32 = 5000;
const RETESTS_MAX: u32 = 2;

impl SurfaceOptions {
    /// Whether these options make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    fn check(&self) -> Result<(), String> {
        if !matches!(self.op, Mix::Only(Op::Read | Op::Write)) {
            return Err(wording::neither_read_nor_write(self.op));
        }
        check_range("points", self.points, 2..=POINTS_MAX)?;
        for (name, bytes) in [("block", self.block), ("probe_block", self.probe_block)] {
            if !(512..=64 << 20).contains(&bytes) {
                return Err(out_of_range(name, exact_size(bytes), "512", "64MiB"));
            }
            check_multiple(name, bytes, 512)?;
        }
        if self.bytes == 0 || !self.bytes.is_multiple_of(self.block) {
            return Err(wording::bytes_are_not_of_blocks(self.bytes, self.block));
        }
        check_range("depth", self.depth, 1..=256)?;
        check_range("probes", self.probes, 0..=SAMPLES_MAX)?;
        if self.burst > 64 << 20 {
            return Err(out_of_range("burst", exact_size(self.burst), 0, "64MiB"));
        }
        if self.burst > 0 {
            check_multiple("burst", self.burst, 4096)?;
        }
        check_range("retests", self.retests, 0..=RETESTS_MAX)?;
        check_time("time", self.time)?;
        Ok(())
    }

    /// Bytes of address space on a drive.
    ///
    /// # Errors
    /// A sentence, when the points do not fit it.
    fn span_on(&self, geometry: &Geometry) -> Result<u64, String> {
        let capacity = geometry.capacity - geometry.capacity % u64::from(geometry.block);
        let span = self.span.unwrap_or(capacity);
        if span > capacity {
            return Err(span_too_large(span, capacity, 1 << 20));
        }
        let each = if self.whole { self.block } else { self.bytes };
        if u64::from(self.points).saturating_mul(each) > span {
            return Err(wording::points_exceed_span(self.points, Size(each), Size(span)));
        }
        if self.burst.max(self.probe_block) > span {
            return Err(wording::target_too_small(Size(span)));
        }
        Ok(span)
    }

    /// The addresses of the point of this index.
    fn range(&self, index: usize, span: u64) -> Range<u64> {
        let (index, last) = (index as u64, u64::from(self.points) - 1);
        let down = |bytes: u64| bytes - bytes % self.block;
        if self.whole {
            let piece = down(span / u64::from(self.points));
            let end = if index == last { span } else { (index + 1) * piece };
            return index * piece..end;
        }
        let start = u128::from(span - self.bytes) * u128::from(index) / u128::from(last);
        let start = down(u64::try_from(start).expect("it is below the span"));
        start..start + self.bytes
    }
}

/// More marks than this make a plot unreadable; all regions are in the table.
const MARKS_MAX: usize = 20;

fn curve_series(curve: &Curve<'_>, slow_regions: &SlowRegions, op: Mix, evidence: &Evidence) -> Series {
    let points = curve.points.iter().map(|point| [point.range.start as f64, point.bytes_per_s]).collect();
    let title = wording::by_address(wording::CURVE_TITLE, part_of(curve.span, evidence));
    Series::new(title, Shape::Line, addresses(curve.span), speed())
        .lines([Line::new(op.to_string(), points)])
        .marks(marks(slow_regions))
}

fn by_distance(access: &Access) -> Series {
    scatter(wording::DISTANCE_TITLE, axis(wording::DISTANCE_AXIS, "bytes"), access, AccessSample::distance)
}

fn by_offset(access: &Access, slow_regions: &SlowRegions, span: u64, evidence: &Evidence) -> Series {
    let title = wording::by_address(wording::OFFSET_TITLE, part_of(span, evidence));
    scatter(&title, addresses(span), access, |probe| probe.offset as f64).marks(marks(slow_regions))
}

/// The axis of the addresses that were measured.
fn addresses(span: u64) -> Axis {
    axis("offset", "bytes").from_to([0, span])
}

/// The bytes that were measured, if they are not all of the target.
fn part_of(span: u64, evidence: &Evidence) -> Option<Size> {
    (span < evidence.geometry.capacity && evidence.identity.kind != TargetKind::Folder).then_some(Size(span))
}

fn scatter(title: &str, x_axis: Axis, access: &Access, x: impl Fn(&AccessSample) -> f64) -> Series {
    let points = access.probes.iter().map(|probe| [x(probe), probe.latency_ns]).collect();
    Series::new(title, Shape::Scatter, x_axis, axis("access time", "ns")).lines([Line::new("access", points)])
}

fn marks(slow_regions: &SlowRegions) -> impl Iterator<Item = Mark> {
    let mark = |place: &SlowRegion| Mark { x: place.from_bytes as f64, label: place.finding.mark().into() };
    slow_regions.places.iter().take(MARKS_MAX).map(mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_reach_from_the_first_byte_to_the_last() {
        let options = SurfaceOptions { points: 7, ..SurfaceOptions::default() };
        for span in [56 << 20, 100 << 20, 640_135_028_736u64] {
            let ranges: Vec<Range<u64>> = (0..7).map(|index| options.range(index, span)).collect();
            assert_eq!(ranges[0].start, 0);
            assert!(span - ranges[6].end < options.block, "{ranges:?}");
            assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start), "{ranges:?}");
        }
    }

    #[test]
    fn the_whole_is_every_byte_once() {
        let options = SurfaceOptions { points: 7, whole: true, ..SurfaceOptions::default() };
        for span in [8 << 20, 100 << 20, 640_135_028_736u64] {
            let ranges: Vec<Range<u64>> = (0..7).map(|index| options.range(index, span)).collect();
            assert_eq!((ranges[0].start, ranges[6].end), (0, span));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{ranges:?}");
        }
    }
}
