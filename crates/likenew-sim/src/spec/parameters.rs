//! What a spec makes of the parameters of a drive.

use likenew_core::units::Nanos;

use super::Spec;
use crate::disk::disk_parameters::DiskParameters;
use crate::faults::drive_faults::{DriveFaults, NeighborParameters, OutlierParameters, ThrottleParameters};
use crate::flash::flash_parameters::{FlashParameters, Trim};
use crate::model::{FlashModel, Model};
use crate::state::{DriveTreatment, State};

/// Bytes of the writes that made a shingled disk used.
pub(crate) const OVERWRITE_BYTES: u64 = 4096;

/// The faults of the drive of a spec: those of its file, replaced by those of the spec.
pub(crate) fn faults(spec: &Spec, model: &Model) -> Option<DriveFaults> {
    let says_any = spec.busy.is_some() || spec.outliers.is_some() || spec.throttle.is_some();
    if !says_any {
        return model.faults.clone();
    }
    let mut faults = model.faults.clone().unwrap_or_default();
    if let Some(ios_per_s) = spec.busy {
        let io_bytes = BUSY_IO_BYTES.max(model.sector_bytes);
        faults.neighbor = Some(NeighborParameters { ios_per_s, io_bytes, write_percent: BUSY_WRITE_PERCENT });
    }
    if let Some(every_ios) = spec.outliers {
        faults.outliers = Some(OutlierParameters { every_ios, span: OUTLIER });
    }
    if let Some(share) = spec.throttle {
        let bytes_per_s = (model.mechanism.link().bytes_per_s as f64 * share).max(1.0) as u64;
        faults.throttle = Some(ThrottleParameters { interval: THROTTLE_EVERY, span: THROTTLE, bytes_per_s });
    }
    Some(faults)
}

/// Bytes of an I/O by the other program of `?busy=`. Assumed: what a desktop in use does.
const BUSY_IO_BYTES: u32 = 16_384;
/// Share of writes in its I/Os, in percent. Assumed, for the same desktop.
const BUSY_WRITE_PERCENT: u32 = 40;
/// How much later an outlier of `?outliers=` ends. Assumed: a few retries of the link or the medium.
const OUTLIER: Nanos = Nanos::from_millis(50);
/// How often the drive of `?throttle=` slows down. Assumed.
const THROTTLE_EVERY: Nanos = Nanos::from_secs(4);
/// For how long it does each time. Assumed.
const THROTTLE: Nanos = Nanos::from_secs(1);

/// What TRIM does to the drive that a spec asks for.
pub(crate) fn with_trim(spec: &Spec, parameters: FlashParameters) -> FlashParameters {
    let trim = match spec.trim {
        None => parameters.trim,
        Some(true) => Trim::Immediate,
        Some(false) => Trim::Ignored,
    };
    FlashParameters { trim, ..parameters }
}

/// A disk with its write cache as a spec asks for it.
pub(crate) fn with_cache(spec: &Spec, parameters: DiskParameters) -> DiskParameters {
    if spec.cache == Some(false) { parameters.without_write_cache() } else { parameters }
}

/// The past of a flash drive before it is opened.
pub(crate) fn past(spec: &Spec, flash: &FlashModel) -> DriveTreatment {
    let (fill, overwritten_share) = match spec.state {
        State::New => (0.0, 0.0),
        State::Used => (1.0, flash.overwritten_share),
    };
    let fill = spec.fill.unwrap_or(fill);
    let writes_per_unit = flash.parameters.writes_per_unit;
    DriveTreatment { fill, overwritten_share, age: spec.age, writes_per_unit }
}
