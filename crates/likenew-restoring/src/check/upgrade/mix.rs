//! A mix of applications, replayed on the drive under test and on others in the same way, scaled to the bytes
//! and seconds allowed.

use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Evidence;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use serde::{Deserialize, Serialize};

use super::Waits;
use crate::check::wording::error;
use likenew_measuring::apps::AppsOptions;
use likenew_measuring::apps::application::Application;
use likenew_measuring::apps::stage::{Amount, Stage};

/// A mix, and which part of it is replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixOption {
    /// Applications and groups of the library, by name.
    pub applications: Vec<String>,
    /// Applications outside of the library, in full.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub custom: Vec<Application>,
    /// Share of their I/Os that is replayed.
    pub scale: f64,
    /// Bytes of address space that they use.
    #[serde(with = "size_text")]
    pub span: u64,
    /// Time at which all of them end; each takes an equal part of it.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Whether only reads are replayed, because nothing may be written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reads_only: bool,
}

/// Prefix of the names of its workloads.
const NAME: &str = "mix: ";
const PREPARATION: &str = "mix: preparation";
const SETTLING: &str = "mix: rest";
/// Reads and writes before the replay, and their queue depth.
const BLOCK: u32 = 512 << 10;
const DEPTH: u32 = 4;
/// Time limit of them. Chosen: what an upgrade check can afford on a slow drive.
const PREPARATION_TIME: Nanos = Nanos::from_secs(7);
/// Idle time before the replay. Chosen: write buffers are empty by then.
const SETTLING_TIME: Nanos = Nanos::from_secs(3);

impl MixOption {
    /// Time of the replay on one drive. Chosen: short enough to wait for on several drives.
    pub const TIME: Nanos = Nanos::from_secs(10);
    /// A smaller span shows nothing, and spans are multiples of it.
    pub const SPAN_STEP: u64 = 8 << 20;
    /// Most bytes to read of a read-only drive.
    pub const SPAN_READ: u64 = 4 << 30;

    /// From these applications and the bytes that they may write, half of which prepare the data to read;
    /// with 0, they only read.
    ///
    /// # Errors
    /// A name that is not known, twice the same, or too few bytes.
    pub fn new(
        applications: Vec<String>,
        custom: Vec<Application>,
        capacity: u64,
        writable: u64,
    ) -> Result<Self, String> {
        let reads_only = writable == 0;
        let span = if reads_only { Self::SPAN_READ.min(capacity) } else { (writable / 2).min(capacity) };
        let span = span - span % Self::SPAN_STEP;
        if span == 0 {
            return Err(error::mix_needs_space(capacity.min(writable), 2 * Self::SPAN_STEP));
        }
        let mut mix = Self { applications, custom, scale: 1.0, span, time: Self::TIME, reads_only };
        let of = |side: fn(&Application) -> u64| mix.all().map(|all| all.iter().map(side).sum::<u64>());
        let (read, written) = (of(Application::bytes_read)?, of(Application::bytes_written)?);
        if reads_only && read == 0 {
            return Err(error::mix_only_writes());
        }
        if !reads_only && written > span {
            // Rounded down to three decimals, so that a plan shows 0.029 and the scale is never exceeded.
            let scale = (span as f64 / written as f64 * 1000.0).floor() / 1000.0;
            mix.scale = scale.max(0.001);
        }
        Ok(mix)
    }

    /// The applications, each once; without their writes if nothing may be written.
    pub(super) fn all(&self) -> Result<Vec<Application>, String> {
        let (applications, custom) = (self.applications.clone(), self.custom.clone());
        let mut all = AppsOptions { applications, custom, ..AppsOptions::default() }.all()?;
        if self.reads_only {
            all.iter_mut().for_each(|of| of.writes = None);
            all.retain(|of| of.reads.is_some());
        }
        Ok(all)
    }

    /// Whether it makes sense.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { scale, span, time, .. } = self;
        if !(*scale > 0.0 && *scale <= 1000.0) {
            return Err(error::mix_scale(*scale));
        }
        if *span == 0 || !span.is_multiple_of(Self::SPAN_STEP) {
            return Err(error::mix_span(*span));
        }
        if *time < Nanos::from_millis(1) || *time > Nanos::from_secs(86_400) {
            return Err(error::mix_time(*time));
        }
        self.all().map(|_| ())
    }

    /// The names of its applications.
    pub(super) fn names(&self) -> Vec<String> {
        let names = |all: Vec<Application>| all.into_iter().map(|of| of.name).collect();
        self.all().map_or_else(|_| self.applications.clone(), names)
    }

    /// The next workload on a drive, in the `span` bytes from `start`; `None` at the end.
    pub fn next(&self, start: u64, evidence: &Evidence) -> Option<Workload> {
        self.workloads(start, &evidence.geometry).into_iter().nth(evidence.segments.len())
    }

    /// All workloads on a drive, in the `span` bytes from `start`.
    pub(in crate::check) fn workloads(&self, start: u64, geometry: &Geometry) -> Vec<Workload> {
        let zone = start..start + self.span.min(geometry.capacity - start);
        let mut workloads = Vec::new();
        if geometry.writable {
            let place = AccessPattern::Sequential(Region::bytes(zone.clone()));
            let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
            let until = Until { elapsed: Some(PREPARATION_TIME), ..Until::bytes(zone.end - zone.start) };
            workloads.push(Workload { flush: true, ..Workload::new(PREPARATION, until, vec![stream]) });
            workloads.push(Workload { name: SETTLING.into(), ..Workload::rest(SETTLING_TIME) });
        }
        let stage = Stage::new(&zone, geometry, DataClass::Random);
        let all = self.all().unwrap_or_default();
        let time = Nanos(self.time.0 / all.len().max(1) as u64);
        let amount = Amount { scale: self.scale, time: Some(time), thinks: false };
        workloads
            .extend(all.iter().flat_map(|of| stage.workloads(of, &format!("{NAME}{}", of.name), amount)));
        workloads
    }

    /// The waiting for the whole mix, extrapolated from the part that was replayed; `None` until that is
    /// complete.
    pub fn waits(&self, segments: &[Segment]) -> Option<Waits> {
        let all = self.all().ok()?;
        let mut sum = Waits::default();
        let mut latencies = likenew_core::tally::Latencies::default();
        let mut variance = 0.0;
        for application in &all {
            let name = format!("{NAME}{}", application.name);
            let of = |segment: &&Segment| {
                let rest = segment.workload.name.strip_prefix(&name);
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(", depth "))
            };
            let played: Vec<&Segment> = segments.iter().filter(of).collect();
            if played.is_empty() {
                return None;
            }
            for segment in played {
                let ios = segment.total().ios;
                if ios == 0 {
                    return None;
                }
                let times = segment.workload.until.ops? as f64 / ios as f64 / self.scale;
                let depth = f64::from(segment.workload.depth().max(1));
                sum.ios += ios;
                sum.blocking_ns += times * segment.total_of(Op::Read).latency_ns_sum as f64 / depth;
                sum.busy_ns += times * segment.busy.0 as f64;
                latencies.merge(&segment.latencies());
                variance += (times / depth).powi(2) * ios as f64 * spread(&segment.latencies());
            }
        }
        sum.latency_ns_p99 = latencies.quantile(0.99).0;
        sum.latency_ns_max = latencies.max().0;
        sum.doubt_ns = TIMES_DEVIATION * variance.sqrt();
        Some(sum)
    }
}

/// Standard deviations within which 95 % of the values of a normal distribution lie.
const TIMES_DEVIATION: f64 = 1.96;

/// The variance of latencies, as if they were independent.
fn spread(latencies: &likenew_core::tally::Latencies) -> f64 {
    let count = latencies.count().max(1) as f64;
    let sum = |of: &dyn Fn(f64) -> f64| -> f64 {
        latencies.places().iter().map(|(value, times)| of(*value as f64) * *times as f64).sum::<f64>() / count
    };
    let mean = sum(&|value| value);
    sum(&|value| (value - mean).powi(2))
}
