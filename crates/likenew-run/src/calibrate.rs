//! Measures the program itself before it measures a drive.

use likenew_core::drive::{Drive, LaneRequirements};
use likenew_core::instrument::Calibration;
use likenew_core::io::DataClass;
use likenew_core::region::Region;
use likenew_core::target::Target;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Size, Stream, Until, Workload};

use crate::generator::Generator;
use crate::run::{RunError, run};

const CLOCK_READINGS: usize = 1_000;
const NOP_IOS: u64 = 20_000;
const DATA_BYTES: u32 = 128 << 10;
const DATA_ROUNDS: u64 = 64;

/// Measures the program against a null drive on a wall clock. Takes a few milliseconds, so that it can
/// precede every run.
///
/// # Errors
/// The null drive could not be opened.
pub fn calibrate(nop: &mut dyn Drive) -> Result<Calibration, RunError> {
    let nop_iops = run(nop, &reads(NOP_IOS), &mut || Box::new(()))?.segment.iops();
    let nop_iops = nop_iops.expect("a drive that does nothing refuses nothing, and its clock moves");
    let mut lanes = nop.lanes(&LaneRequirements { lanes: 1, depth: 1, length_max: DATA_BYTES })?;
    let clock = lanes.pop().expect("a drive opens the lanes it was asked for");
    Ok(Calibration {
        timer_step_ns: timer_step(&*clock).0,
        nop_iops,
        overhead_ns_per_io: 1e9 / nop_iops,
        random_data_bytes_per_s: data_rate(&*clock, DataClass::Random),
        ratio_data_bytes_per_s: data_rate(&*clock, DataClass::Ratio(0.5)),
        added_latency: None,
    })
}

/// Random 4 KiB reads at depth 32.
fn reads(ops: u64) -> Workload {
    let stream = Stream {
        op: Mix::Only(likenew_core::io::Op::Read),
        size: Size::fixed(4096),
        pattern: AccessPattern::Random(Region::WHOLE),
        arrival: Arrival::Closed { depth: 32 },
        data: DataClass::Random,
    };
    Workload::new("calibration", Until::ops(ops), vec![stream])
}

/// The smallest step between two different readings.
fn timer_step(clock: &dyn Target) -> Nanos {
    let mut last = clock.now();
    let mut step = Nanos::NEVER;
    for _ in 0..CLOCK_READINGS {
        let now = clock.now();
        if now > last {
            step = step.min(now - last);
        }
        last = now;
    }
    step
}

/// Bytes a second on one core, into a buffer that stays in the core's own cache.
fn data_rate(clock: &dyn Target, class: DataClass) -> f64 {
    let mut words = vec![0u64; DATA_BYTES as usize / size_of::<u64>()];
    let buffer: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
    let mut generator = Generator::new(0);
    generator.fill(buffer, class, 0);
    let started_at = clock.now();
    for _ in 0..DATA_ROUNDS {
        generator.fill(buffer, class, 0);
        std::hint::black_box(&mut *buffer);
    }
    (DATA_ROUNDS * u64::from(DATA_BYTES)) as f64 / clock.now().since(started_at).as_secs_f64()
}
