//! The contract between the run loop and anything that serves I/O.

use serde::{Deserialize, Serialize};

use crate::counters::FlashCounters;
use crate::io::{Completion, Io, Slot};
use crate::target_error::TargetError;
use crate::units::Nanos;

/// The clock of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Clock {
    /// The machine's monotonic clock.
    Wall,
    /// A simulated drive's own time, which moves only while the loop waits.
    Virtual,
}

/// How a target is addressed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Geometry {
    /// Addresses run from 0 to this, in bytes.
    pub capacity: u64,
    /// Offsets and lengths are multiples of this, in bytes.
    pub block: u32,
    /// No I/O may cross a multiple of this, in bytes: the file size of a folder of files.
    pub boundary: Option<u64>,
    /// Whether it may be written and trimmed.
    pub writable: bool,
    /// Whether `Op::Trim` does anything.
    pub trims: bool,
    /// Whether it keeps the bytes it is given. If not, buffers need not be filled, except with stamped
    /// sectors ([`Geometry::keeps_stamps`]).
    pub carries_data: bool,
    /// Its clock.
    pub clock: Clock,
}

impl Geometry {
    /// Whether it returns stamped sectors ([`crate::stamp`]) as they were written. A simulated drive does,
    /// even if it keeps no other bytes, because stamps take little memory.
    pub fn keeps_stamps(&self) -> bool {
        self.carries_data || self.clock == Clock::Virtual
    }
}

/// What a drive reports of its state without measuring. Any of it may be unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Health {
    /// Composite temperature in degrees Celsius.
    pub temperature_c: Option<f64>,
    /// Share of the rated endurance used, in percent; may exceed 100.
    pub wear_percent: Option<f64>,
    /// Whether it is throttling because of heat.
    pub throttling: Option<bool>,
}

/// One lane of a drive, which serves I/O and owns the clock.
///
/// The loop uses at most `depth` slots of a lane (see [`crate::drive::LaneRequirements`]). All lanes of a
/// drive share one clock, which starts when the drive is opened. A target keeps the laws in [`crate::laws`].
pub trait Target {
    /// Its geometry, which is constant while it is open.
    fn geometry(&self) -> &Geometry;

    /// The time on its clock; never goes back.
    fn now(&self) -> Nanos;

    /// The buffer of a slot that is not in flight; at least as long as the longest I/O requested on opening.
    fn buffer(&mut self, slot: Slot) -> &mut [u8];

    /// Submits a batch, all of which is accepted, and returns when it left. It waits for none of it to end.
    ///
    /// # Errors
    /// The target cannot be measured any further. A drive that refuses an I/O answers with a completion.
    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError>;

    /// Lets time pass until an I/O has ended or `until` has come, whichever is first. Appends every
    /// completion so far to `done`, in order of time. Without I/O in flight it rests until `until`.
    ///
    /// # Errors
    /// The target cannot be measured any further.
    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError>;

    /// What the drive reports of its state now.
    fn health(&mut self) -> Health {
        Health::default()
    }

    /// When something happens next if nothing else is submitted: no I/O in flight ends earlier. `None` if
    /// nothing is pending, and on a wall clock, where it cannot be known in advance.
    fn next_at(&self) -> Option<Nanos> {
        None
    }

    /// Counters of a simulated drive so far ([`crate::drive::Drive::flash_counters`]).
    fn flash_counters(&self) -> Option<FlashCounters> {
        None
    }
}
