//! All causes, one file pair each.

use likenew_core::units::three_digits;

use super::{Case, Cause, Fix, LogOdds, Measured, Risk};
pub(crate) use commands::shell_quote;

mod background_io;
mod commands;
mod compression;
mod counterfeit;
mod degraded_array;
mod encryption;
mod firmware;
mod fragmentation;
mod heat;
mod host_memory;
mod lazy_volume;
mod link_errors;
mod misalignment;
mod narrow_link;
mod nearly_full;
mod no_trim;
mod old_data;
mod power_saving;
mod read_cache;
mod shingled;
mod slc_cache;
mod slow_region;
mod slow_usb;
mod token_bucket;
mod worn_out;
mod write_cache_off;

/// Every cause that can be named.
pub const ALL: &[&dyn Cause] = &[
    &slc_cache::SlcCache,
    &no_trim::NoTrim,
    &old_data::OldData,
    &slow_region::SlowRegionCause,
    &heat::Heat,
    &narrow_link::NarrowLink,
    &slow_usb::SlowUsb,
    &host_memory::NoHostMemory,
    &encryption::Encryption,
    &token_bucket::TokenBucket,
    &lazy_volume::LazyVolume,
    &shingled::Shingled,
    &read_cache::ReadCache,
    &misalignment::Misalignment,
    &fragmentation::Fragmentation,
    &counterfeit::Counterfeit,
    &background_io::BackgroundIo,
    &firmware::Firmware,
    &power_saving::PowerSaving,
    &nearly_full::NearlyFull,
    &worn_out::WornOut,
    &write_cache_off::WriteCacheOff,
    &compression::Compression,
    &link_errors::LinkErrors,
    &degraded_array::DegradedArray,
];

/// The cause of this name.
pub fn by_name(name: &str) -> Option<&'static dyn Cause> {
    ALL.iter().copied().find(|cause| cause.descriptor().name == name)
}

/// "3.2 times", for a ratio with its range.
fn scale_by(measurement: Measured) -> String {
    format!(
        "{} times ({} to {})",
        three_digits(measurement.value),
        three_digits(measurement.low),
        three_digits(measurement.high)
    )
}

/// "32 % (29 to 35 %)", for a share with its range.
fn percent(share: Measured) -> String {
    let of = |value: f64| three_digits(100.0 * value);
    format!("{} % ({} to {} %)", of(share.value), of(share.low), of(share.high))
}

/// Whether there is an arm: said of causes that need one, or need that there is none.
fn hard_disk_evidence(log_odds: &mut LogOdds, case: &Case<'_>) {
    let is_known = case.measurements.access_ns.is_some() || case.drive().is_some();
    let say = |is_disk: bool| if is_disk { "it answers as slowly as an arm" } else { "it has no arm" };
    log_odds.add_fact(
        "hard_disk",
        is_known.then(|| case.is_disk()),
        |is_disk| say(is_disk).to_owned(),
        "let it read at random places",
    );
}

/// A cure by a command that costs a setting and can be undone.
fn setting(
    description: impl Into<String>,
    command: commands::Command,
    risk: Risk,
    cost: &'static str,
) -> Fix {
    let commands::Command { does, undoes } = command;
    Fix {
        description: description.into(),
        command: Some(does),
        undo: undoes,
        risk,
        cost,
        check: "likenew check again",
        action: None,
    }
}
