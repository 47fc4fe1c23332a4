//! When the I/Os of a job leave.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::workload::{Arrival, InterArrival, Stream, Workload};

use super::{Section, not_expressible};
use crate::export::error::{ExportError, MissingFeature};
use crate::export::wording;

impl Section {
    pub(super) fn pace(&mut self, workload: &Workload, stream: &Stream) -> Result<(), ExportError> {
        if matches!(stream.arrival, Arrival::Interleaved { .. }) {
            return Err(not_expressible(workload, MissingFeature::Proportions));
        }
        self.set("iodepth", stream.arrival.depth());
        let Arrival::Open { per_second, inter_arrival, .. } = stream.arrival else { return Ok(()) };
        self.comment(wording::LATE_IOS);
        match inter_arrival {
            InterArrival::Even => {
                // With `rate_iops` fio paces bytes by the shortest length; with `rate` by what was actually
                // moved.
                let bytes_per_s = per_second * stream.size.mean();
                let max = BYTES_PER_S_MAX;
                let sides = sides(stream, bytes_per_s, max, |bytes_per_s| {
                    not_expressible(workload, MissingFeature::ByteRate { bytes_per_s, max })
                });
                self.set("rate", sides?);
            }
            InterArrival::Poisson => {
                if per_second.fract() != 0.0 {
                    self.comment(wording::RATE_ROUNDED);
                }
                let max = IOPS_MAX;
                let sides = sides(stream, per_second, max, |iops| {
                    not_expressible(workload, MissingFeature::Iops { iops, max })
                });
                self.set("rate_iops", sides?);
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

/// fio counts the I/Os of a second in 32 bits.
const IOPS_MAX: f64 = 4_294_967_295.0;

/// fio keeps a rate for each of reads, writes and trims, in whole numbers; `refusal` is for any other.
fn sides(
    stream: &Stream,
    rate: f64,
    max: f64,
    refusal: impl Fn(f64) -> ExportError,
) -> Result<String, ExportError> {
    let whole = |rate: f64| match (1.0..=max).contains(&rate.round()) {
        true => Ok(rate.round() as u64),
        false => Err(refusal(rate)),
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
