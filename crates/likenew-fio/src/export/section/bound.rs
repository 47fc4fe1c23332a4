//! When a job ends.

use likenew_core::size::Size;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};

use super::{Section, not_expressible};
use crate::export::error::{ExportError, MissingFeature};
use crate::export::wording;

impl Section {
    /// Every copy gets an equal part of a count or an amount, as the loop's lanes do.
    pub(super) fn until(&mut self, workload: &Workload, stream: &Stream) -> Result<(), ExportError> {
        let Until { elapsed, ops, bytes } = workload.until;
        let has_count = ops.is_some() || bytes.is_some();
        if has_count && workload.streams.len() > 1 {
            if elapsed.is_none() {
                return Err(not_expressible(workload, MissingFeature::CommonEnd));
            }
            self.comment(wording::TIME_ONLY);
            self.set("time_based", 1);
        } else if has_count {
            self.amount(workload, &stream.size);
        } else {
            self.set("time_based", 1);
        }
        if let Some(span) = elapsed {
            self.set("runtime", duration(span));
        }
        Ok(())
    }

    fn amount(&mut self, workload: &Workload, size: &Size) {
        let Until { ops, bytes, .. } = workload.until;
        let copies = u64::from(workload.lanes);
        let share = |bound: u64| bound.div_ceil(copies).max(1);
        if [ops, bytes].into_iter().flatten().any(|bound| !bound.is_multiple_of(copies)) {
            self.comment(wording::BOUND_ROUNDED);
        }
        if let [(length, _)] = size.choices() {
            let length = u64::from(*length);
            let by_bytes = bytes.map(|bytes| share(bytes).div_ceil(length));
            let ios = ops.map(share).into_iter().chain(by_bytes).min().expect("one of both is given");
            return self.set("io_size", ios.saturating_mul(length).min(BYTES_MAX));
        }
        // An amount ends a job before it has done its count of I/Os unless it is larger than all of them.
        let by_ops = ops.map(|ops| share(ops).saturating_mul(u64::from(size.max())));
        self.set("io_size", bytes.map(share).or(by_ops).expect("one of both is given").min(BYTES_MAX));
        if let Some(ops) = ops {
            self.set("number_ios", share(ops));
        }
    }
}

/// fio counts bytes in 63 bits.
const BYTES_MAX: u64 = i64::MAX.cast_unsigned();

/// In milliseconds where that is exact; fio's clock counts microseconds.
pub(super) fn duration(span: Nanos) -> String {
    match span.0 {
        ns if ns.is_multiple_of(1_000_000) && ns > 0 => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns.div_ceil(1_000).max(1)),
    }
}
