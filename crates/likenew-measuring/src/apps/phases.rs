//! The phases of PCMark 8's consistency test: two sequential fills; eight times random writes for 10, 15 … 45 minutes
//! and a test; five times random writes for 45 minutes and a test; five times a rest of 5 minutes and a test; a fill
//! with zeros. KitGuru describes them
//! (www.kitguru.net/components/ssd-drives/simon-crisp/intel-optane-ssd-900p-480gb-ssd-review/13), and UL still does
//! in PCMark 10 (PCMark 10 technical guide, Drive Performance Consistency Test,
//! support.benchmarks.ul.com/support/solutions/articles/44002171488).

use likenew_core::io::{DataClass, Op};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::{Arrival, Mix, Size, Stream, Until, Workload};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::workloads::sequential_write;

use super::stage::{fit_lengths, size, with_mean};

/// Fills before the first phase.
pub(super) const FILLS: u32 = 2;
/// Bytes of one I/O of a fill: 256 sectors of 512 bytes.
const FILL_BLOCK: u32 = 128 << 10;
/// I/Os of a fill in flight (assumed).
const FILL_DEPTH: u32 = 4;
/// Random writes in flight (assumed).
const WRITE_DEPTH: u32 = 4;

/// Writes the first `span` bytes once sequentially.
pub(super) fn sequential_fill(name: impl Into<String>, span: u64, data: DataClass) -> Workload {
    sequential_write(name, 0..span, FILL_BLOCK, FILL_DEPTH, data)
}

/// What happens before a test: minutes of writes, or of idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Phase {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    minutes: u32,
}

/// The part of the test that a phase belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Degrade,
    Steady,
    Recover,
}

const fn phase(name: &'static str, kind: Kind, minutes: u32) -> Phase {
    Phase { name, kind, minutes }
}

/// The eighteen phases that are tested.
pub(super) const PHASES: [Phase; 18] = [
    phase("degrade 1", Kind::Degrade, 10),
    phase("degrade 2", Kind::Degrade, 15),
    phase("degrade 3", Kind::Degrade, 20),
    phase("degrade 4", Kind::Degrade, 25),
    phase("degrade 5", Kind::Degrade, 30),
    phase("degrade 6", Kind::Degrade, 35),
    phase("degrade 7", Kind::Degrade, 40),
    phase("degrade 8", Kind::Degrade, 45),
    phase("steady 1", Kind::Steady, 45),
    phase("steady 2", Kind::Steady, 45),
    phase("steady 3", Kind::Steady, 45),
    phase("steady 4", Kind::Steady, 45),
    phase("steady 5", Kind::Steady, 45),
    phase("recover 1", Kind::Recover, 5),
    phase("recover 2", Kind::Recover, 5),
    phase("recover 3", Kind::Recover, 5),
    phase("recover 4", Kind::Recover, 5),
    phase("recover 5", Kind::Recover, 5),
];

impl Phase {
    /// The writes to the first `span` bytes, or the rest, before the phase's test. `minutes`: scale of its length.
    pub(super) fn preparation(
        &self,
        minutes: f64,
        geometry: &Geometry,
        span: u64,
        data: DataClass,
    ) -> Workload {
        let time = self.time(minutes);
        if self.kind == Kind::Recover {
            return Workload { name: format!("{} rest", self.name), ..Workload::rest(time) };
        }
        let pattern = Pattern::Random.over(0..span);
        let arrival = Arrival::Closed { depth: WRITE_DEPTH };
        let stream = Stream::new(Mix::Only(Op::Write), write_sizes(geometry), pattern, arrival, data);
        Workload::new(format!("{} writes", self.name), Until::elapsed(time), vec![stream])
    }

    fn time(&self, minutes: f64) -> Nanos {
        Nanos::from_secs_f64(f64::from(self.minutes) * 60.0 * minutes)
    }
}

/// Lengths of the random writes. PCMark draws them evenly from 8 to 2048 sectors of 512 bytes, at any sector.
/// Here they are powers of two at multiples of themselves, so that they fit into files: weighted by the
/// sectors that each stands for, and adjusted so that the mean is the same.
fn write_sizes(geometry: &Geometry) -> Size {
    const LENGTHS: &str =
        "4KiB:8,8KiB:12,16KiB:24,32KiB:48,64KiB:96,128KiB:192,256KiB:384,512KiB:768,1MiB:512";
    let lengths = with_mean(&LENGTHS.parse().expect("well spelled"), MEAN_BYTES);
    let longest = geometry.boundary.map_or(1 << 20, |bytes| 1 << bytes.trailing_zeros().min(20));
    size(&fit_lengths(&lengths, longest, geometry.block).0)
}

/// Mean length of a random write: (8 + 2048) / 2 sectors of 512 bytes.
const MEAN_BYTES: f64 = 1028.0 * 512.0;

#[cfg(test)]
mod tests {
    use likenew_core::target::Clock;

    use super::*;

    #[test]
    fn eight_degrade_five_are_steady_and_five_recover() {
        let count = |kind| PHASES.iter().filter(|phase| phase.kind == kind).count();
        assert_eq!([Kind::Degrade, Kind::Steady, Kind::Recover].map(count), [8, 5, 5]);
        let minutes: u32 =
            PHASES.iter().filter(|phase| phase.kind != Kind::Recover).map(|phase| phase.minutes).sum();
        assert_eq!(minutes, 220 + 225);
        assert_eq!(PHASES[0].time(0.001), Nanos::from_millis(600));
        assert_eq!(PHASES[17].time(1.0), Nanos::from_secs(300));
    }

    #[test]
    fn writes_are_as_long_on_average_as_pcmarks() {
        let geometry = |boundary| Geometry {
            capacity: 1 << 30,
            block: 512,
            boundary,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Virtual,
        };
        let sizes = write_sizes(&geometry(None));
        assert!((sizes.mean() - MEAN_BYTES).abs() < 5.0, "{sizes}");
        assert_eq!(sizes.max(), 1 << 20);
        assert_eq!(
            write_sizes(&geometry(Some(3 << 18))).max(),
            1 << 18,
            "files of 768 KiB hold no longer ones"
        );
    }
}
