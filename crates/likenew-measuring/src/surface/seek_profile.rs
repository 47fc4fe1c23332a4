//! Seek times and rotational speed of a hard disk, from the scatter of its accesses.
//!
//! An access takes the command, the seek, and a wait for the sector: anything from none to a whole
//! revolution, all equally likely. So above the seek curve lies a uniform band whose width is one revolution.
//! The curve is the one that Ruemmler and Wilkes give in "An Introduction to Disk Drive Modeling", IEEE
//! Computer 27(3), 1994: *a + b·√d* for short seeks, where the heads accelerate and brake, and linear beyond,
//! where they coast.

use likenew_core::answer::{Action, Answer};
use likenew_core::quantity::Latency;
use likenew_stats::interval::Interval;
use likenew_stats::uniform_band::{Band, uniform_band};

use super::access_sample::{AccessMetric, AccessSample};
use super::tracks::Tracks;
use super::wording;

/// Distances, as shares of the full stroke, at which the curve may become linear. Chosen: about equal ratios
/// up to the full stroke.
const KNEES: [f64; 8] = [0.1, 0.15, 0.2, 0.25, 0.33, 0.4, 0.5, 0.6];
/// Rotational speeds of disks on the market, in rpm, from makers' data sheets.
const USUAL: [f64; 7] = [3600.0, 4200.0, 5400.0, 5900.0, 7200.0, 10_000.0, 15_000.0];
/// No disk turns slower or faster than this, in rpm.
const PLAUSIBLE: std::ops::Range<f64> = 2000.0..20_000.0;
/// Uncertainty of the rotational speed, as a share, above which it is not reported; our choice.
const REVOLUTION_ERROR_MAX: f64 = 0.15;
/// Nanoseconds of a minute.
const MINUTE_NS: f64 = 60e9;

/// The seek curve and the band above it.
pub(super) struct SeekProfile {
    /// Where the curve becomes linear, and its band: the narrowest first, then all that the probes do not
    /// tell from it.
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
    fn revolution_ns(&self) -> Option<(f64, Interval)> {
        let (width, interval) = (self.band().width, self.band().width_interval());
        let known = interval.high - interval.low <= 2.0 * REVOLUTION_ERROR_MAX * width;
        let plausible = width > 0.0 && PLAUSIBLE.contains(&(MINUTE_NS / width));
        (self.band().is_uniform() && known && plausible).then_some((width, interval))
    }

    /// The time of a seek: the lower edge of the band, less the command. The interval covers all of the fits.
    fn seek(&self, shapes: impl Fn(f64) -> [f64; 3]) -> (f64, Interval) {
        let less = |value: f64| (value - self.command_ns.unwrap_or(0.0)).max(0.0);
        let edge = |(knee, band): &(f64, Band<3>)| band.lower(&shapes(*knee));
        let around = self.fits.iter().map(|fit| edge(fit).1);
        let whole = around.fold(Interval { low: f64::INFINITY, high: 0.0 }, |whole, of| Interval {
            low: whole.low.min(of.low),
            high: whole.high.max(of.high),
        });
        (less(edge(&self.fits[0]).0), Interval { low: less(whole.low), high: less(whole.high) })
    }

    /// Neither rotation nor seek times are known if something else causes the scatter.
    pub(super) fn metrics(&self) -> Vec<AccessMetric> {
        let Some((turn, interval)) = self.revolution_ns() else { return Vec::new() };
        let mut metrics = Vec::new();
        for (name, (value, interval)) in [
            ("shortest seek", self.seek(shortest)),
            ("average seek", self.seek(average)),
            ("full-stroke seek", self.seek(full)),
        ] {
            metrics.push(AccessMetric::new(name, "ns", value, Some(interval)));
        }
        let half = Interval { low: interval.low / 2.0, high: interval.high / 2.0 };
        metrics.push(AccessMetric::new("average rotational latency", "ns", turn / 2.0, Some(half)));
        metrics.push(AccessMetric::new("rotational speed", "rpm", MINUTE_NS / turn, Some(rpm(interval))));
        metrics.extend(self.command_ns.map(|command| AccessMetric::once("command overhead", "ns", command)));
        metrics
    }

    /// `more_accesses` decides it if something else than rotation causes the scatter.
    pub(super) fn answer(&self, more_accesses: &Action) -> Answer {
        let band = self.band();
        let Some((turn, interval)) = self.revolution_ns() else {
            let width = Latency(band.width);
            return wording::rotation_is_open(band.values_kept, self.probes, band.kurtosis, width)
                .action(more_accesses.clone());
        };
        let (speed, around) = (MINUTE_NS / turn, rpm(interval));
        let (average_seek, full_stroke) = (Latency(self.seek(average).0), Latency(self.seek(full).0));
        let within: Vec<f64> = USUAL.into_iter().filter(|typical| around.contains(*typical)).collect();
        let usual = if let [typical] = within[..] { Some(typical) } else { None };
        let mut answer = wording::rotation(speed, usual, average_seek, full_stroke)
            .estimate(speed, around.low, around.high, "rpm")
            .with_evidence(wording::band_of_one_turn(Latency(turn)));
        if let Some(usual) = usual {
            answer = answer.with_evidence(wording::usual_speed(usual));
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

fn shortest(knee: f64) -> [f64; 3] {
    shapes(0.0, knee)
}

fn full(knee: f64) -> [f64; 3] {
    shapes(1.0, knee)
}

/// Average over random pairs of tracks, as data sheets define the average seek: such distances have the
/// density 2(1 − distance). Random addresses prefer the outer tracks, so real accesses go less far.
fn average(knee: f64) -> [f64; 3] {
    let near = 4.0 / 3.0 * knee.powf(1.5) - 4.0 / 5.0 * knee.powf(2.5);
    [1.0, near + knee.sqrt() * (1.0 - knee).powi(2), (1.0 - knee).powi(3) / 3.0]
}

fn rpm(turn: Interval) -> Interval {
    Interval { low: MINUTE_NS / turn.high, high: MINUTE_NS / turn.low }
}
