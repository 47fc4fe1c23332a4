//! When the I/Os of a job leave.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::workload::{Arrival, InterArrival, Stream, Workload};

use super::{Section, not_expressible};
use crate::export::ExportError;

impl Section {
    pub(super) fn pace(&mut self, workload: &Workload, stream: &Stream) -> Result<(), ExportError> {
        if matches!(stream.arrival, Arrival::Interleaved { .. }) {
            let missing =
                "its streams take turns in exact proportions, and jobs of fio run each at its own pace";
            return Err(not_expressible(workload, missing));
        }
        self.set("iodepth", stream.arrival.depth());
        let Arrival::Open { per_second, inter_arrival, .. } = stream.arrival else { return Ok(()) };
        self.comment(
            "an I/O that leaves late counts from when it left in fio, and from when it was due with us",
        );
        match inter_arrival {
            InterArrival::Even => {
                // With `rate_iops` fio paces bytes by the shortest length; with `rate` by what was actually
                // moved.
                let bytes_per_s = per_second * stream.size.mean();
                self.set("rate", sides(workload, stream, bytes_per_s, "bytes a second")?);
            }
            InterArrival::Poisson => {
                if per_second.fract() != 0.0 {
                    self.comment("fio takes whole IOPS: the rate is rounded");
                }
                self.set("rate_iops", sides(workload, stream, per_second, "IOPS")?);
            }
        }
        if inter_arrival == InterArrival::Poisson {
            self.set("rate_process", "poisson");
        }
        Ok(())
    }
}

/// Beyond any drive, and within fio's 64 bits.
const BYTES_PER_S_MAX: f64 = 1e15;

/// fio keeps a rate for each of reads, writes and trims, in whole numbers of 32 bits where it counts I/Os.
fn sides(workload: &Workload, stream: &Stream, rate: f64, what: &str) -> Result<String, ExportError> {
    let max = if what == "bytes a second" { BYTES_PER_S_MAX } else { f64::from(u32::MAX) };
    let whole = |rate: f64| {
        if (1.0..=max).contains(&rate.round()) {
            return Ok(rate.round() as u64);
        }
        let missing = format!("a pace of {rate} {what} is not among fio's whole numbers, 1 to {max}");
        Err(not_expressible(workload, missing))
    };
    Ok(match stream.op {
        Mix::Reads(percent) => {
            let reads = f64::from(percent) / 100.0;
            format!("{},{}", whole(rate * reads)?, whole(rate * (1.0 - reads))?)
        }
        Mix::Only(Op::Write) => format!(",{}", whole(rate)?),
        Mix::Only(Op::Trim) => format!(",,{}", whole(rate)?),
        Mix::Only(Op::Read | Op::Flush) => whole(rate)?.to_string(),
    })
}
