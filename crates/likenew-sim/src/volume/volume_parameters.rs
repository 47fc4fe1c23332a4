//! The parameters of a network volume: everything that its mechanism needs to know.

use likenew_core::units::Nanos;

use crate::host_link::LinkParameters;

/// The parameters of a network volume.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VolumeParameters {
    /// The machine's network to the volume.
    pub link: LinkParameters,
    /// Its I/O credits.
    pub credits: CreditParameters,
    /// How I/Os are counted.
    pub counting: CountingParameters,
    /// Bytes a second at most, reads and writes together.
    pub bytes_per_s: u64,
    /// How long the store takes to answer.
    pub latency: LatencyParameters,
    /// Whether TRIM reaches the store.
    pub trims: bool,
}

/// A bucket of I/O credits: an I/O takes one out, `baseline_iops` a second flow in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CreditParameters {
    /// IOPS that the size of the volume pays for.
    pub baseline_iops: u64,
    /// IOPS as long as credits last.
    pub burst_iops: u64,
    /// Credits that the bucket holds.
    pub credits_max: u64,
}

impl CreditParameters {
    /// IOPS at most, whatever the bucket holds.
    pub fn iops_max(&self) -> u64 {
        self.burst_iops.max(self.baseline_iops)
    }

    /// How long a full bucket lasts at the burst rate, `credits / (burst − baseline)`, if it ever ends.
    pub fn burst_span(&self) -> Option<Nanos> {
        let drain = self.burst_iops.checked_sub(self.baseline_iops).filter(|drain| *drain > 0)?;
        Some(Nanos::from_secs_f64(self.credits_max as f64 / drain as f64))
    }

    /// How long an empty bucket takes to fill while nothing is asked of the volume.
    pub fn refill_span(&self) -> Nanos {
        Nanos::from_secs_f64(self.credits_max as f64 / self.baseline_iops as f64)
    }
}

/// How I/Os are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountingParameters {
    /// A longer I/O counts as several; sequential ones that are together not longer count as one.
    pub io_bytes: u64,
    /// I/Os shorter than this are small.
    pub small_io_bytes: u64,
    /// Sequential small I/Os count as one up to this length.
    pub small_merge_bytes: u64,
}

/// How long the store takes from the admission of an I/O to its answer: log-normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyParameters {
    /// The median.
    pub median: Nanos,
    /// The 99th percentile.
    pub p99: Nanos,
}

impl LatencyParameters {
    /// The 99 % point of the standard normal distribution.
    const Z99: f64 = 2.326_347_874_040_841;

    /// Standard deviation of the logarithm.
    pub fn sigma(&self) -> f64 {
        (self.p99.0 as f64 / self.median.0 as f64).ln() / Self::Z99
    }

    /// Mean in nanoseconds: median × exp(σ² / 2).
    pub fn mean_ns(&self) -> f64 {
        self.median.0 as f64 * (self.sigma().powi(2) / 2.0).exp()
    }
}
