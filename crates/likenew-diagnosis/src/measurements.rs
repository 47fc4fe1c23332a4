//! Everything that was measured of a drive that can tell why it is slow.

use super::{Measured, Metric};

/// What was measured. What is absent was not, or could not be.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measurements {
    /// The metrics that a drive is sold by.
    pub metrics: Vec<(Metric, Measured)>,
    /// The fastest sequential reads of all, in bytes a second.
    pub fastest_read: Option<Measured>,
    /// Time of a small random read, in nanoseconds: a seek takes milliseconds.
    pub access_ns: Option<Measured>,
    /// How many times as fast what was just written is read as what was there before.
    pub new_over_old_data: Option<Measured>,
    /// The same of small reads at queue depth 1.
    pub new_over_old_data_random: Option<Measured>,
    /// How many times as slow the slowest tenth of the regions is read as the median place.
    pub median_over_slowest: Option<Measured>,
    /// How many times as fast the first regions are read as the last ones.
    pub first_over_last: Option<Measured>,
    /// How many times as fast slow regions are read when they are read again.
    pub repeat_over_first: Option<Measured>,
    /// How many times as long a small read anywhere takes as one within a few MiB.
    pub wide_over_narrow: Option<Measured>,
    /// How many times as many small reads there are at queue depth 32 as at queue depth 1.
    pub deep_over_single: Option<Measured>,
    /// Time that a read takes longer after a pause than right after another one, over the latter.
    pub idle_over_busy: Option<Measured>,
    /// How many times as long a small write takes at multiples of 4 KiB as beside them, where that is shorter.
    pub aligned_over_shifted: Option<Measured>,
    /// How many times as fast zeros are written as random data.
    pub zeros_over_random: Option<Measured>,
    /// How many times as fast writes are after a rest as before it.
    pub rested_over_worked: Option<Measured>,
    /// The same after TRIM and a rest, over a rest alone.
    pub trimmed_over_rested: Option<Measured>,
    /// A drop of sequential writes, if there was one.
    pub write_cliff: Option<WriteCliff>,
    /// Bytes that were written sequentially without any drop.
    pub steady_written_bytes: Option<f64>,
    /// How much the speed of sequential reads scatters from moment to moment, as a standard deviation over the mean.
    pub read_scatter: Option<Measured>,
    /// Share of the time in which a neighbour of the measurement kept the drive from it.
    pub stalled_share: Option<Measured>,
    /// How many times as slow the same reads were after seconds of load as at first, and again fast after a rest.
    pub rested_over_loaded: Option<Measured>,
    /// I/Os a second of the flat end of a long run of small I/Os, where that was steadier than any medium.
    pub flat_iops: Option<Measured>,
    /// How many times as fast such a run began.
    pub burst_over_flat: Option<Measured>,
    /// Share of the time that others' I/Os take, were they done at queue depth 1, while nothing is measured.
    pub background_share: Option<Measured>,
    /// Bytes that the drive counted over those that the measurement read.
    pub counted_over_read: Option<Measured>,
    /// How many CPU cores the kernel kept busy while the drive was read sequentially.
    pub kernel_processors: Option<Measured>,
    /// I/Os that the drive refused.
    pub errors: u64,
    /// Sectors that came back otherwise than they were written.
    pub wrong_sectors: u64,
}

/// A lasting drop in the speed of sequential writes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WriteCliff {
    /// Bytes written until then.
    pub at_bytes: Measured,
    /// Speed before over speed after.
    pub ratio: Measured,
    /// Where the same drop came after a rest, in bytes written after the rest; absent if that was not tried or
    /// there was none.
    pub again_at_bytes: Option<Measured>,
    /// Bytes at which it came when half as much was written in a second, over those at full speed: 1 for what
    /// counts bytes, 0.5 for what counts
    /// time.
    pub at_half_rate: Option<Measured>,
}

impl Measurements {
    /// A metric, if it was measured.
    pub fn metric(&self, metric: Metric) -> Option<Measured> {
        self.metrics.iter().find(|(of, _)| *of == metric).map(|(_, measurement)| *measurement)
    }
}
