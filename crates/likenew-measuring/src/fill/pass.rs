//! One pass over the space: each file or part, its stalls, and the pattern of the speeds.

use likenew_core::findings::{Answer, Line, Mark, Row, Series, Shape, Standing};
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Rate, Share, Size};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, speed};
use likenew_stats::bimodality::{Modality, bimodality};
use likenew_stats::interval::{CONFIDENCE_95, Interval, window_interval};
use likenew_stats::stalls::{Rule, Stall, Total, Wait, stalls};
use likenew_stats::summary::{maximum, mean, median, minimum, quantile};
use likenew_stats::trend::{SpeedPattern, Step, fall, speed_pattern};

use super::wording::{self, Scatter, Settled, Stalled, Subject, TableRow};
use super::{Fill, Repeat, Unit, change, is_steady};

/// One pass over all files or parts; the last one of a stopped run may be incomplete.
pub(super) struct Pass<'a> {
    /// From 1.
    pub(super) number: usize,
    /// The parts that did not fail.
    pub(super) parts: Vec<Part<'a>>,
    /// Whether every part is complete.
    pub(super) is_whole: bool,
}

impl<'a> Pass<'a> {
    pub(super) fn new(number: usize, segments: &[&'a Segment], count: usize, each: u64, rule: Rule) -> Self {
        let numbered = (1..).zip(segments);
        let parts = numbered.filter_map(|(number, segment)| Part::new(number, segment, rule));
        let parts: Vec<Part<'a>> = parts.collect();
        let is_whole = parts.len() == count && parts.iter().all(|part| part.bytes == each);
        Self { number, parts, is_whole }
    }

    /// The speeds of the complete parts, in bytes a second.
    pub(super) fn speeds(&self, each: u64) -> Vec<f64> {
        self.parts.iter().filter(|part| part.bytes == each).map(|part| part.bytes_per_s).collect()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    fn elapsed(&self) -> Nanos {
        Nanos(self.parts.iter().map(|part| part.segment.elapsed().0).sum())
    }

    /// The speed of the whole pass, in bytes a second; `None` if nothing of it was measured.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        bytes_per_s(self.parts.iter().map(|part| part.segment))
    }

    pub(super) fn stalls(&self) -> Vec<Stall> {
        self.parts.iter().flat_map(|part| &part.stalls).copied().collect()
    }

    /// The speed of the whole pass; its interval comes from the parts, if they are on one level.
    fn speed(&self, each: u64) -> Option<Estimate> {
        let interval = level_interval(&self.speeds(each));
        Some(Estimate { value: self.bytes_per_s()?, interval }.not_negative())
    }

    fn slowest(&self, each: u64) -> Option<f64> {
        self.speeds(each).into_iter().chain(self.bytes_per_s()).reduce(f64::min)
    }

    fn latency_max(&self) -> Nanos {
        self.parts.iter().map(|part| part.segment.latencies().max()).max().unwrap_or(Nanos::ZERO)
    }

    pub(super) fn row(&self, each: u64) -> Row {
        Row::new()
            .with("pass", self.number)
            .with_estimate("bytes_per_s", self.speed(each))
            .with("slowest_bytes_per_s", self.slowest(each))
            .with("stalls", self.stalls().len())
            .with("latency_ns_max", self.latency_max().0)
            .with("elapsed_ns", self.elapsed().0)
    }

    /// Its row on the first screen.
    pub(super) fn cells(&self, each: u64, is_read: bool) -> TableRow {
        TableRow {
            pass: (!is_read).then_some(self.number),
            speed: self.speed(each),
            slowest: self.slowest(each),
            stalls: self.stalls().len(),
            max: self.latency_max(),
        }
    }
}

/// The speed of the files or parts that did not fail, all together, in bytes a second; `None` if nothing was moved.
pub(super) fn bytes_per_s<'a>(segments: impl Iterator<Item = &'a Segment>) -> Option<f64> {
    let (mut bytes, mut elapsed) = (0, Nanos::ZERO);
    for segment in segments.filter(|segment| segment.bytes_per_s().is_some()) {
        bytes += segment.tallies.iter().map(|tally| tally.bytes).sum::<u64>();
        elapsed += segment.elapsed();
    }
    let seconds = elapsed.as_secs_f64();
    (bytes > 0 && seconds > 0.0).then(|| bytes as f64 / seconds)
}

/// The answer whether another pass still changes the speed.
pub(super) fn convergence(speeds: &[f64], fill: &Fill, evidence: &Evidence) -> Answer {
    /// Difference of two passes, as a share, up to which they are equally fast. Chosen.
    const NEAR_SHARE: f64 = 0.01;
    let ([first, .., last], [.., before, _]) = (speeds, speeds) else { return wording::too_few_passes() };
    let (passes, changed) = (speeds.len(), Share(change(*before, *last)));
    let answer = if is_steady(speeds) {
        let is_near = |speed: &f64| change(*last, *speed) <= NEAR_SHARE;
        let near_pass = 1 + speeds.iter().position(is_near).expect("the last one is");
        wording::settled(&Settled { last: Rate(*last), first: Rate(*first), changed, near_pass, passes })
    } else if passes >= Repeat::TIMES_MAX as usize {
        wording::never_settled(Rate(*last), changed, Share(Repeat::SETTLED_SHARE), passes)
    } else {
        wording::not_settled(Rate(*first), Rate(*last), changed, Share(Repeat::SETTLED_SHARE), passes)
            .action(wording::until_steady(&fill.until_steady(passes, evidence)))
    };
    answer.with_evidence(wording::pass_speeds(speeds))
}

/// Gigabytes from which a pass without a stall bounds how many there can be. Chosen: with less, the bound is so high
/// that it says nothing.
const BOUND_FROM_GIGABYTES: f64 = 10.0;

/// The answer about stalls, which are no problem if all of them come after the cache was full.
pub(super) fn stalls_answer(pass: &Pass<'_>, fill: &Fill, evidence: &Evidence) -> Answer {
    let (unit, least) = (fill.unit(), fill.options.stall);
    let total = Total::sum(&pass.stalls(), CONFIDENCE_95);
    let gigabytes = pass.bytes() as f64 / 1e9;
    let Interval { low, high } = total.count_interval;
    if total.count == 0 {
        let bound = (gigabytes >= BOUND_FROM_GIGABYTES).then_some(high / gigabytes);
        return wording::no_stall(least, bound);
    }
    let (longest, at) = pass
        .parts
        .iter()
        .flat_map(|part| part.stalls.iter().map(move |stall| (stall, part.number)))
        .max_by_key(|(stall, _)| stall.duration_ns)
        .expect("there is a stall");
    let stalled = Stalled {
        number: total.count as u64,
        may_be_more: pass.parts.iter().any(Part::may_hide_stalls),
        total: Nanos(total.duration_ns),
        per_gigabyte: total.count as f64 / gigabytes,
        per_gigabyte_interval: Interval { low: low / gigabytes, high: high / gigabytes },
        longest: Nanos(longest.duration_ns),
        longest_in: at,
        longest_at: Size(longest.position),
    };
    let is_behind = |from: u64| pass.stalls().iter().all(|stall| stall.position >= from);
    if behind_cache(pass, fill, evidence).is_some_and(is_behind) {
        return wording::stalled_behind_cache(unit, &stalled);
    }
    wording::find_cause(evidence).into_iter().fold(wording::stalled(unit, &stalled), Answer::action)
}

/// One file or part of a pass.
pub(super) struct Part<'a> {
    /// From 1.
    pub(super) number: usize,
    pub(super) bytes: u64,
    pub(super) bytes_per_s: f64,
    pub(super) segment: &'a Segment,
    pub(super) stalls: Vec<Stall>,
    /// Latency from which an I/O is part of a stall.
    threshold_ns: u64,
}

/// The first columns of a row, with the number of the pass if there are several.
fn columns(unit: Unit, number: usize, pass: Option<usize>) -> Row {
    Row::new().with_known("pass", pass).with(unit.noun(), number)
}

impl<'a> Part<'a> {
    /// `None` for a part that failed.
    pub(super) fn new(number: usize, segment: &'a Segment, rule: Rule) -> Option<Self> {
        let bytes_per_s = segment.bytes_per_s()?;
        let waits: Vec<Wait> = segment
            .slowest
            .iter()
            .map(|sample| Wait { start_ns: sample.due.0, end_ns: sample.done.0, position: sample.offset })
            .collect();
        // Little's law: at a queue depth, one I/O's share of the time is its latency over the depth.
        let typical_ns = segment.latencies().quantile(0.5).0 / u64::from(segment.workload.depth());
        let stalls = stalls(&waits, typical_ns, rule);
        let bytes = segment.total().bytes;
        let threshold_ns = rule.threshold_ns(typical_ns);
        Some(Self { number, bytes, bytes_per_s, segment, stalls, threshold_ns })
    }

    /// Whether more I/Os were slow than there are samples.
    pub(super) fn may_hide_stalls(&self) -> bool {
        let slowest = &self.segment.slowest;
        slowest.len() >= Segment::SLOWEST_MAX
            && slowest.iter().all(|sample| sample.latency().0 >= self.threshold_ns)
    }

    pub(super) fn row(&self, unit: Unit, pass: Option<usize>) -> Row {
        let latencies = self.segment.latencies();
        columns(unit, self.number, pass)
            .with("bytes_per_s", self.bytes_per_s)
            .with("stalls", self.stalls.len())
            .with("latency_ns_p50", latencies.quantile(0.5).0)
            .with("latency_ns_max", latencies.max().0)
            .with("elapsed_ns", self.segment.elapsed().0)
    }

    pub(super) fn stall_rows(&self, unit: Unit, pass: Option<usize>) -> impl Iterator<Item = Row> {
        self.stalls.iter().map(move |stall| {
            columns(unit, self.number, pass)
                .with("at_ns", stall.start_ns)
                .with("duration_ns", stall.duration_ns)
                .with("offset_bytes", stall.position)
                .with("ios", stall.ios)
        })
    }
}

/// Start and end of a list are each its length divided by this, at least one.
const END_SHARE: usize = 10;
/// Largest share of the drive that a pseudo-SLC cache can take. Chosen: with one bit a cell, QLC flash holds a quarter
/// of the drive and TLC flash a third; the rest is margin.
const CACHE_SHARE_MAX: f64 = 0.45;
/// Whether the bytes that were written faster can have gone into a flash cache; a disk is faster on its outer tracks.
fn may_be_cache(fast_bytes: u64, evidence: &Evidence) -> bool {
    let is_part = fast_bytes as f64 <= CACHE_SHARE_MAX * evidence.geometry.capacity as f64;
    is_part && !evidence.identity.rotates()
}

/// The offset from which the cache may have been full: it fills somewhere in the last of the fast parts.
pub(super) fn behind_cache(pass: &Pass<'_>, fill: &Fill, evidence: &Evidence) -> Option<u64> {
    let fast = fall(&pass.speeds(fill.part_bytes()))?.at as u64;
    let is_cache = may_be_cache(fast * fill.part_bytes(), evidence);
    is_cache.then_some(fill.options.from + (fast - 1) * fill.part_bytes())
}

/// A fitted line goes through both ends when it misses neither median by more than this share. Chosen.
const LINE_MISS_MAX: f64 = 0.1;

/// The interval of the mean; `None` if the speeds slope or step, as they have no single level.
pub(super) fn level_interval(speeds: &[f64]) -> Option<Interval> {
    match speed_pattern(speeds) {
        Some(SpeedPattern::Sloping(_) | SpeedPattern::Stepped(_)) => None,
        _ => window_interval(speeds, CONFIDENCE_95),
    }
}

/// The answer about the pattern of the speeds, of which there is at least one.
pub(super) fn evenness(speeds: &[f64], subject: Subject, fill: &Fill, evidence: &Evidence) -> Answer {
    let unit = fill.unit();
    let fall = fall(speeds).filter(|_| subject != Subject::Reads);
    let (before, speeds) = speeds.split_at(fall.map_or(0, |fall| fall.at));
    let known = |metric: Option<f64>| metric.expect("there is a speed");
    let rate = |metric: Option<f64>| Rate(known(metric));
    let scatter = Scatter {
        number: speeds.len(),
        median: rate(median(speeds)),
        low: rate(quantile(speeds, 0.05)),
        high: rate(quantile(speeds, 0.95)),
        slowest: rate(minimum(speeds)),
        fastest: rate(maximum(speeds)),
    };
    let answer = match fall {
        Some(Step { before: fast, after, .. }) => {
            let fast_bytes = before.len() as u64 * fill.part_bytes();
            wording::drops(
                subject,
                Rate(fast),
                Size(fast_bytes),
                Rate(after),
                may_be_cache(fast_bytes, evidence),
            )
        }
        None => form(speeds, subject, fill, evidence, &scatter),
    };
    let answer = answer.with_evidence(wording::scatter(unit, &scatter, fall.is_some()));
    // Neighboring files depend on each other, so the interval is that of a series rather than of independent values.
    let level = Estimate { value: known(mean(speeds)), interval: level_interval(speeds) }.not_negative();
    match level.interval.or_else(|| window_interval(speeds, CONFIDENCE_95)) {
        Some(_) => level.put(answer, "bytes/s"),
        None => answer.caveat(wording::no_interval(unit, speeds.len())),
    }
}

fn form(speeds: &[f64], subject: Subject, fill: &Fill, evidence: &Evidence, scatter: &Scatter) -> Answer {
    let (unit, typical) = (fill.unit(), scatter.median);
    if let Some(SpeedPattern::Sloping(trend)) = speed_pattern(speeds) {
        return slope(speeds, [trend.at(0), trend.at(speeds.len() - 1)], subject, evidence);
    }
    match (bimodality(speeds), speed_pattern(speeds)) {
        (Modality::Two(levels), _) => wording::two_levels(subject, unit, &levels),
        (Modality::One, Some(SpeedPattern::Flat)) => wording::even(subject, unit, typical),
        (Modality::One, _) => wording::uneven(subject, unit, typical, scatter.low, scatter.high),
        (Modality::Undecided, _) => {
            let answer = wording::too_few(subject, unit, typical, speeds.len());
            let more =
                fill.more_parts(evidence).map(|(number, again)| wording::more_parts(unit, number, &again));
            more.into_iter().fold(answer, Answer::action)
        }
    }
}

/// Medians of the first tenth and of the last.
fn ends(speeds: &[f64]) -> [f64; 2] {
    let count = (speeds.len() / END_SHARE).max(1);
    let end = |speeds: &[f64]| median(speeds).expect("an end has a speed");
    [end(&speeds[..count]), end(&speeds[speeds.len() - count..])]
}

/// Whether the speeds rise along the list.
pub(super) fn rises(speeds: &[f64]) -> bool {
    let [first, last] = ends(speeds);
    matches!(speed_pattern(speeds), Some(SpeedPattern::Sloping(_))) && first <= last
}

/// The answer about a slope, from the medians of both ends: no file may have run at the ends of `line`.
fn slope(speeds: &[f64], line: [f64; 2], subject: Subject, evidence: &Evidence) -> Answer {
    let ends = ends(speeds);
    let is_even = ends.into_iter().zip(line).all(|(end, line)| (line - end).abs() <= LINE_MISS_MAX * end);
    let [first, last] = ends.map(Rate);
    if last < first {
        return wording::falls(subject, first, last, is_even);
    }
    let answer = wording::rises(subject, first, last, is_even);
    let helps = answer.standing == Standing::Problem && subject == Subject::Writes;
    let recondition = wording::recondition(evidence).filter(|_| helps);
    recondition.into_iter().fold(answer, Answer::action)
}

/// A metric at the end of each part, in bytes from the start of the pass.
fn points(pass: &Pass<'_>, each: u64, metric: impl Fn(&Part<'_>) -> f64) -> Vec<[f64; 2]> {
    let whole = pass.parts.iter().filter(|part| part.bytes == each);
    whole.map(|part| [(part.number as u64 * each) as f64, metric(part)]).collect()
}

fn name(pass: &Pass<'_>, pass_count: usize, op: &str) -> String {
    if pass_count > 1 { format!("{op}, pass {}", pass.number) } else { op.to_owned() }
}

/// The first pass, the last one, and the read-back.
fn shown_passes<'p, 'a>(passes: &'p [Pass<'a>], read: Option<&'p Pass<'a>>) -> Vec<(String, &'p Pass<'a>)> {
    let last = passes.last().filter(|_| passes.len() > 1);
    let written = passes.first().into_iter().chain(last);
    let written = written.map(|pass| (name(pass, passes.len(), "write"), pass));
    written.chain(read.map(|pass| ("read back".to_owned(), pass))).collect()
}

/// Speed by bytes written, with the stalls of the last pass as marks. `from`: the offset of the first byte.
pub(super) fn speeds_series(
    passes: &[Pass<'_>],
    read: Option<&Pass<'_>>,
    unit: Unit,
    each: u64,
    from: u64,
) -> Series {
    let mut stalls = passes.last().map(Pass::stalls).unwrap_or_default();
    stalls.sort_by_key(|stall| std::cmp::Reverse(stall.duration_ns));
    let marks = stalls.into_iter().map(|stall| Mark {
        x: stall.position.saturating_sub(from) as f64,
        label: wording::stall_mark(Nanos(stall.duration_ns)),
    });
    let lines = shown_passes(passes, read);
    Series::new(wording::speeds_title(unit), Shape::Line, axis("written", "bytes"), speed())
        .lines(
            lines
                .into_iter()
                .map(|(name, pass)| Line::new(name, points(pass, each, |part| part.bytes_per_s))),
        )
        .marks(marks)
        .mark_name(wording::STALL)
}

/// The slowest I/O of each file or part.
pub(super) fn slowest_series(passes: &[Pass<'_>], read: Option<&Pass<'_>>, unit: Unit, each: u64) -> Series {
    let longest = |part: &Part<'_>| part.segment.latencies().max().0 as f64;
    let lines = shown_passes(passes, read);
    Series::new(
        wording::slowest_title(unit),
        Shape::Scatter,
        axis("written", "bytes"),
        axis(wording::SLOWEST_AXIS, "ns").logarithmic(),
    )
    .lines(lines.into_iter().map(|(name, pass)| Line::new(name, points(pass, each, longest))))
}

/// Speed by pass.
pub(super) fn by_pass(passes: &[Pass<'_>], each: u64) -> Series {
    let speeds = || passes.iter().filter_map(|pass| Some((pass.number as f64, pass.speed(each)?)));
    let line = Line::new("write", speeds().map(|(pass, speed)| [pass, speed.value]).collect());
    let band = speeds().filter_map(|(pass, speed)| Some([pass, speed.low()?, speed.high()?])).collect();
    Series::new(wording::PASSES_TITLE, Shape::Line, axis("pass", ""), speed()).lines([line.band(band)])
}
