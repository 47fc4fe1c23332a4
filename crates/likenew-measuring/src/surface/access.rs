//! Access time: random I/Os at QD1, and whether the distance between them matters.
//!
//! The scatter of a hard disk's accesses shows its seek times and rotational speed. An access takes the
//! command, the seek, and a wait for the sector: anything from none to a whole revolution, all equally
//! likely. So above the seek curve lies a uniform band whose width is one revolution. The curve is the one
//! that Ruemmler and Wilkes give in "An Introduction to Disk Drive Modeling", IEEE Computer 27(3), 1994:
//! *a + b·√d* for short seeks, where the heads accelerate and brake, and linear beyond, where they coast.

use likenew_core::findings::{Action, Answer, Row};
use likenew_core::io::{Op, Outcome};
use likenew_core::quantity::{Latency, Rate, Size};
use likenew_core::segment::Segment;
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::interval::Interval;
use likenew_stats::summary::{maximum, median, minimum};
use likenew_stats::trend::{PAIRS_MIN, rank_correlation};
use likenew_stats::uniform_band::{Band, uniform_band};

use super::curve::Curve;
use super::{SurfaceOptions, wording};

/// Rank correlation below which distance does not matter: its square, 4%, is what it explains of the order of
/// latencies. Chosen.
const MATTERS: f64 = 0.2;

/// The results of the random accesses.
pub(super) struct Access {
    pub(super) probes: Vec<AccessSample>,
    /// In nanoseconds.
    pub(super) mean: Estimate,
    /// The rank correlation of access time and distance.
    correlation: Option<Estimate>,
    seek_profile: Option<SeekProfile>,
    writes: bool,
}

impl Access {
    /// `small`: one block again and again, from the drive's cache. `None` if no access succeeded.
    pub(super) fn new(probes: &Segment, small: Option<&Segment>, curve: &Curve<'_>, op: Mix) -> Option<Self> {
        let probes = ways(probes);
        let latencies: Vec<f64> = probes.iter().map(|probe| probe.latency_ns).collect();
        let distances: Vec<f64> = probes.iter().map(AccessSample::distance).collect();
        let mut access = Self {
            mean: Estimate::of_passes(&latencies)?,
            correlation: rank_correlation(&distances, &latencies).map(|correlation| Estimate {
                value: correlation.value,
                interval: Some(correlation.interval),
            }),
            seek_profile: None,
            writes: op == Mix::Only(Op::Write),
            probes,
        };
        // A write ends in the drive's cache before the heads move.
        if access.is_disk() && !access.writes {
            let least = minimum(&latencies)?;
            let command = small.map(|small| small.latencies().quantile(0.5).0 as f64);
            // If the cache does not answer, each takes a revolution, which is no overhead of a command.
            let command = command.filter(|command| *command > 0.0 && *command < least);
            access.seek_profile = SeekProfile::fit(&access.probes, &Tracks::new(curve), command);
        }
        Some(access)
    }

    /// Whether longer distances take longer, as only moving parts do.
    pub(super) fn is_disk(&self) -> bool {
        self.correlation.is_some_and(|correlation| correlation.against(MATTERS) == Verdict::Above)
    }

    /// `more_accesses` decides what too few accesses leave open.
    pub(super) fn answers(&self, more_accesses: &Action) -> Vec<Answer> {
        let mut answers = vec![self.distance(more_accesses)];
        answers.extend(self.seek_profile.as_ref().map(|profile| profile.answer(more_accesses)));
        answers
    }

    /// Whether many accesses took the same time, to the nanosecond, so that ranking them means nothing.
    fn is_constant(&self) -> bool {
        let same = |pair: &[AccessSample]| pair[0].latency_ns == pair[1].latency_ns;
        self.probes.len() >= PAIRS_MIN && self.probes.windows(2).all(same)
    }

    fn distance(&self, more_accesses: &Action) -> Answer {
        let (mean, probes) = (Latency(self.mean.value), self.probes.len());
        let mut answer = match self.correlation.map(|correlation| correlation.within(-MATTERS, MATTERS)) {
            Some(Verdict::Above) => wording::access_grows_with_distance(mean),
            Some(Verdict::Alike) => wording::access_ignores_distance(mean),
            None if self.is_constant() => wording::access_ignores_distance(mean)
                .with_evidence(wording::all_accesses_take_the_same(probes)),
            _ => wording::access_is_open(mean, probes).action(more_accesses.clone()),
        };
        if let Some(correlation) = self.correlation {
            answer = answer.with_evidence(wording::rank_correlation(correlation, probes));
        }
        answer = self.mean.not_negative().put(answer, "ns");
        if self.writes { answer.caveat(wording::WRITES_END_IN_MEMORY) } else { answer }
    }

    /// The rows of the table.
    pub(super) fn metrics(&self) -> Vec<Row> {
        let latencies: Vec<f64> = self.probes.iter().map(|probe| probe.latency_ns).collect();
        let times = [
            ("mean access time", Some(self.mean)),
            ("shortest access", minimum(&latencies).map(Estimate::from)),
            ("median access", median(&latencies).map(Estimate::from)),
            ("max access time", maximum(&latencies).map(Estimate::from)),
        ];
        let times = times.into_iter().filter_map(|(name, time)| Some(metric(name, "ns", time?)));
        let mut metrics: Vec<Row> = times.collect();
        metrics.extend(self.correlation.map(|value| metric(wording::RANK_CORRELATION, "1", value)));
        metrics.extend(self.seek_profile.iter().flat_map(SeekProfile::metrics));
        metrics
    }
}

/// A row of the table of access; a value measured once, or an extreme, has no interval.
fn metric(name: &str, unit: &str, value: Estimate) -> Row {
    Row::new().with("metric", name).with("unit", unit).with_estimate("value", Some(value))
}

/// Each random access after the first, with the end of the access before it.
fn ways(segment: &Segment) -> Vec<AccessSample> {
    let pairs = segment.samples.windows(2).map(|pair| (&pair[0], &pair[1]));
    let ended = pairs.filter(|(_, probe)| probe.outcome == Outcome::Done);
    ended
        .map(|(before, probe)| AccessSample {
            from: before.offset + u64::from(before.length),
            offset: probe.offset,
            length: probe.length,
            latency_ns: probe.latency().0 as f64,
        })
        .collect()
}

/// A random access, and where the one before it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AccessSample {
    /// The end of the I/O before it.
    pub(super) from: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) latency_ns: f64,
}

impl AccessSample {
    /// Bytes of address space between the two.
    pub(super) fn distance(&self) -> f64 {
        self.offset.abs_diff(self.from) as f64
    }
}

/// Distances, as shares of the full stroke, at which the curve may become linear. Chosen: about equal ratios
/// up to the full stroke.
const KNEES: [f64; 8] = [0.1, 0.15, 0.2, 0.25, 0.33, 0.4, 0.5, 0.6];
/// Rotational speeds of disks on the market, in rpm, from makers' data sheets.
const USUAL: [f64; 7] = [3600.0, 4200.0, 5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0];
/// No disk turns slower or faster than this, in rpm.
const PLAUSIBLE: std::ops::Range<f64> = 2000.0..20_000.0;
/// Uncertainty of the rotational speed, as a share, above which it is not reported. Chosen.
const REVOLUTION_ERROR_MAX: f64 = 0.15;
/// Nanoseconds of a minute.
const MINUTE_NS: f64 = 60e9;

/// The seek curve and the band above it.
pub(super) struct SeekProfile {
    /// Where the curve becomes linear, and the band of that fit. The narrowest comes first, then all that the
    /// accesses do not tell from it.
    fits: Vec<(f64, Band<3>)>,
    /// Time of a command without a seek, in nanoseconds, if known.
    command_ns: Option<f64>,
    probes: usize,
}

impl SeekProfile {
    /// The curve with the narrowest band; `None` if there are too few probes.
    pub(super) fn fit(probes: &[AccessSample], tracks: &Tracks, command_ns: Option<f64>) -> Option<Self> {
        let ways: Vec<f64> = probes.iter().map(|probe| tracks.position(probe.from, probe.offset)).collect();
        let latencies: Vec<f64> =
            probes.iter().map(|probe| probe.latency_ns - tracks.transfer_ns(probe)).collect();
        let fit = |knee: &f64| {
            let shapes: Vec<[f64; 3]> = ways.iter().map(|way| shapes(*way, *knee)).collect();
            Some((*knee, uniform_band(&shapes, &latencies)?))
        };
        let mut fits: Vec<(f64, Band<3>)> = KNEES.iter().filter_map(fit).collect();
        fits.sort_by(|(_, one), (_, other)| one.width.total_cmp(&other.width));
        let narrowest = fits.first()?.1.width;
        // Twice the logarithm of the likelihoods' ratio, as of normal noise, against χ² at 95% and one degree
        // of freedom.
        fits.retain(|(_, band)| 2.0 * band.values_kept as f64 * (band.width / narrowest).ln() <= 3.84);
        // A band without width has no likelihood ratio.
        (!fits.is_empty()).then_some(Self { fits, command_ns, probes: probes.len() })
    }

    fn band(&self) -> &Band<3> {
        &self.fits[0].1
    }

    /// One revolution in nanoseconds, if the scatter is that of a revolution.
    fn revolution_ns(&self) -> Option<Estimate> {
        let width = self.band().width;
        let turn = Estimate { value: width, interval: Some(self.band().width_interval()) };
        let known = turn.half_width().is_some_and(|half| half <= REVOLUTION_ERROR_MAX * width);
        let plausible = width > 0.0 && PLAUSIBLE.contains(&rpm(width));
        (self.band().is_uniform() && known && plausible).then_some(turn)
    }

    /// The time of a seek: the lower edge of the band, less the command. The interval covers all of the fits.
    fn seek(&self, shapes: impl Fn(f64) -> [f64; 3]) -> Estimate {
        let less = |value: f64| (value - self.command_ns.unwrap_or(0.0)).max(0.0);
        let edge = |(knee, band): &(f64, Band<3>)| band.lower(&shapes(*knee));
        let interval = self.fits.iter().map(|fit| edge(fit).1).reduce(|whole, interval| Interval {
            low: whole.low.min(interval.low),
            high: whole.high.max(interval.high),
        });
        Estimate { value: edge(&self.fits[0]).0, interval }.map(less)
    }

    /// The rows of rotation and seek times; none if something other than rotation may cause the scatter.
    pub(super) fn metrics(&self) -> Vec<Row> {
        let Some(turn) = self.revolution_ns() else { return Vec::new() };
        let times = [
            ("shortest seek", self.seek(|knee| shapes(0.0, knee))),
            ("average seek", self.seek(average)),
            ("full-stroke seek", self.seek(full_stroke)),
            ("average rotational latency", turn.map(|turn| turn / 2.0)),
        ];
        let mut metrics: Vec<Row> = times.map(|(name, time)| metric(name, "ns", time)).into();
        metrics.push(metric("rotational speed", "rpm", turn.map(rpm)));
        metrics.extend(self.command_ns.map(|command| metric("command overhead", "ns", command.into())));
        metrics
    }

    /// The answer about rotation; `more_accesses` is advised if something else may cause the scatter.
    pub(super) fn answer(&self, more_accesses: &Action) -> Answer {
        let band = self.band();
        let Some(turn) = self.revolution_ns() else {
            let width = Latency(band.width);
            return wording::rotation_is_open(band.values_kept, self.probes, band.kurtosis, width)
                .action(more_accesses.clone());
        };
        let speed = turn.map(rpm);
        let [average_seek, full_stroke] = [self.seek(average), self.seek(full_stroke)];
        let is_within = |typical: &f64| speed.interval.is_some_and(|around| around.contains(*typical));
        let within: Vec<f64> = USUAL.into_iter().filter(is_within).collect();
        let usual_rpm = if let [typical] = within[..] { Some(typical) } else { None };
        let (average_seek, full_stroke) = (Latency(average_seek.value), Latency(full_stroke.value));
        let answer = wording::rotation(speed.value, usual_rpm, average_seek, full_stroke);
        let mut answer =
            speed.put(answer, "rpm").with_evidence(wording::band_of_one_turn(Latency(turn.value)));
        if let Some(usual_rpm) = usual_rpm {
            answer = answer.with_evidence(wording::usual_speed(usual_rpm));
        }
        let far = self.probes - band.values_kept;
        if far > 0 {
            answer = answer.with_evidence(wording::accesses_left_out(far, self.probes));
        }
        if self.command_ns.is_some() { answer } else { answer.caveat(wording::SEEKS_INCLUDE_COMMAND) }
    }
}

/// The terms of the seek curve at this share of the full stroke: a constant, the root up to the knee, a line
/// from there on.
fn shapes(way: f64, knee: f64) -> [f64; 3] {
    [1.0, way.min(knee).sqrt(), (way - knee).max(0.0)]
}

fn full_stroke(knee: f64) -> [f64; 3] {
    shapes(1.0, knee)
}

/// Average over random pairs of tracks, as data sheets define the average seek: such distances have the
/// density 2(1 − distance). Random addresses prefer the outer tracks, so real accesses go less far.
fn average(knee: f64) -> [f64; 3] {
    let near = 4.0 / 3.0 * knee.powf(1.5) - 4.0 / 5.0 * knee.powf(2.5);
    [1.0, near + knee.sqrt() * (1.0 - knee).powi(2), (1.0 - knee).powi(3) / 3.0]
}

fn rpm(turn_ns: f64) -> f64 {
    MINUTE_NS / turn_ns
}

/// The distance of an address from the first track, as a share of the way to the last.
pub(super) struct Tracks {
    /// Address and share, both rising, from (0, 0) to (span, 1).
    marks: Vec<(f64, f64)>,
    /// Nanoseconds that it takes to transfer all of the span.
    whole_ns: f64,
}

impl Tracks {
    /// From the fit of the curve; points without one are skipped.
    pub(super) fn new(curve: &Curve<'_>) -> Self {
        let span = curve.span as f64;
        let middle = |range: &std::ops::Range<u64>| (range.start + range.end) as f64 / 2.0;
        let courses = curve.points.iter().map(|point| (middle(&point.range), point.expected));
        let slowness: Vec<(f64, f64)> =
            courses.filter(|(_, speed)| *speed > 0.0).map(|(at, speed)| (at, 1e9 / speed)).collect();
        let (Some(first), Some(last)) = (slowness.first(), slowness.last()) else {
            return Self { marks: vec![(0.0, 0.0), (span, 1.0)], whole_ns: 0.0 };
        };
        let (mut at, mut slow, mut time) = (0.0, first.1, 0.0);
        let mut marks = vec![(0.0, 0.0)];
        for (next, next_slow) in slowness.iter().copied().chain([(span, last.1)]) {
            time += (next - at) * f64::midpoint(slow, next_slow);
            (at, slow) = (next, next_slow);
            marks.push((at, time));
        }
        marks.iter_mut().for_each(|mark| mark.1 /= time);
        Self { marks, whole_ns: time }
    }

    /// The seek distance from one address to another, as a share of the full stroke.
    pub(super) fn position(&self, from: u64, to: u64) -> f64 {
        (self.share(to) - self.share(from)).abs()
    }

    /// Time to transfer the bytes of a probe, in nanoseconds.
    pub(super) fn transfer_ns(&self, probe: &AccessSample) -> f64 {
        self.position(probe.offset, probe.offset + u64::from(probe.length)) * self.whole_ns
    }

    fn share(&self, address: u64) -> f64 {
        let address = address as f64;
        let next = self.marks.partition_point(|(at, _)| *at <= address).clamp(1, self.marks.len() - 1);
        let ((from, before), (to, after)) = (self.marks[next - 1], self.marks[next]);
        if to <= from { after } else { before + (after - before) * ((address - from) / (to - from)).min(1.0) }
    }
}

/// Ratio of a burst to the fastest point below which the burst came from the medium. Chosen.
const CACHE_MIN: f64 = 1.1;

/// Compared with the fastest point: a burst that is no faster than the medium had no help from a cache.
pub(super) fn burst_answer(burst: &Segment, curve: &Curve<'_>, options: &SurfaceOptions) -> Option<Answer> {
    let sustained = curve.summary()?.fastest.0;
    let speed = burst.bytes_per_s()?;
    let times = speed / sustained;
    let (op, bytes, rate) = (options.op, Size(options.burst), Rate(speed));
    let (answer, why) = if times > CACHE_MIN {
        (wording::burst(op, bytes, rate, times), wording::BURST_IS_CACHE)
    } else {
        (wording::no_burst(op, bytes, rate), wording::BURST_IS_MEDIUM)
    };
    Some(answer.with_evidence(why).caveat(wording::BURST_ONCE))
}

/// The row of the table.
pub(super) fn burst_metric(burst: &Segment) -> Option<Row> {
    Some(metric("burst rate", "bytes/s", burst.bytes_per_s()?.into()))
}
