//! Reads a procedure's options from a plan, checks them, and writes them as a command line.

use std::fmt::Display;
use std::ops::RangeInclusive;

use likenew_core::input::one_line;
use likenew_core::io::Op;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::Mix;

use crate::wording;

/// A procedure's options from a plan.
///
/// # Errors
/// A sentence that names the unknown or wrong option.
pub fn options<T: serde::de::DeserializeOwned>(procedure: &str, table: &toml::Table) -> Result<T, String> {
    T::deserialize(table.clone())
        .map_err(|error| wording::wrong_options(procedure, &one_line(error.message())))
}

/// Longest pass and longest idle time. Chosen: longer is a mistake.
pub const DAY: Nanos = Nanos::from_secs(86_400);

/// Whether an option is within its range.
///
/// # Errors
/// A sentence with the range.
pub fn check_range<T: PartialOrd + Display>(
    option: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<(), String> {
    let (low, high) = range.into_inner();
    if low <= value && value <= high { Ok(()) } else { Err(wording::out_of_range(option, value, low, high)) }
}

/// Whether the time of a pass is within its range, which is the same for all procedures.
///
/// # Errors
/// A sentence with the range.
pub fn check_time(option: &str, time: Nanos) -> Result<(), String> {
    let is_within = (Nanos::from_millis(1)..=DAY).contains(&time);
    if is_within { Ok(()) } else { Err(wording::out_of_range(option, time, "1ms", "24h")) }
}

/// Whether an idle time is at most a day.
///
/// # Errors
/// A sentence that names the option and the range.
pub fn check_idle(time: Nanos) -> Result<(), String> {
    if time <= DAY { Ok(()) } else { Err(wording::out_of_range("idle", time, "0s", "24h")) }
}

/// Whether a target holds this many bytes.
///
/// # Errors
/// A sentence with the largest multiple of `unit` that it holds.
pub fn check_span(span: u64, geometry: &Geometry, unit: u64) -> Result<(), String> {
    let capacity = geometry.capacity;
    if span <= capacity { Ok(()) } else { Err(wording::span_too_large(span, capacity, unit)) }
}

/// Whether a target can be written, if any of these operations writes.
///
/// # Errors
/// A sentence that says what else can be done.
pub fn check_writable(ops: &[Mix], geometry: &Geometry) -> Result<(), String> {
    let is_refused = !geometry.writable && ops.iter().any(|op| op.writes());
    if is_refused { Err(wording::target_is_read_only()) } else { Ok(()) }
}

/// Whether a size is a multiple of `unit`, and not zero.
///
/// # Errors
/// A sentence with the multiples nearest to it.
pub fn check_multiple(option: &str, value: u64, unit: u64) -> Result<(), String> {
    let is_one = value > 0 && value.is_multiple_of(unit);
    if is_one { Ok(()) } else { Err(wording::not_a_multiple(option, value, unit)) }
}

/// Whether a block has any bytes.
///
/// # Errors
/// A sentence, if it has none.
pub fn check_block(block: u64) -> Result<(), String> {
    if block > 0 { Ok(()) } else { Err(wording::zero_block()) }
}

/// Whether there is an operation to measure, and none is TRIM alone.
///
/// # Errors
/// A sentence with the operations that can be measured.
pub fn check_ops(ops: &[Mix]) -> Result<(), String> {
    let is_wrong = ops.is_empty() || ops.contains(&Mix::Only(Op::Trim));
    if is_wrong { Err(wording::no_operation()) } else { Ok(()) }
}

/// A command line of the options that differ from their defaults.
#[derive(Clone, Debug, Default)]
pub struct Arguments(Vec<String>);

impl Arguments {
    /// Adds `--NAME VALUE` if it differs, or `--NAME` alone if the value is empty.
    #[must_use]
    pub fn add(mut self, differs: bool, name: &str, value: impl Display) -> Self {
        if differs {
            self.0.push(format!("--{name} {value}").trim_end().to_owned());
        }
        self
    }

    /// Adds `--NAME VALUE` if the value is known.
    #[must_use]
    pub fn add_known(self, name: &str, value: Option<impl Display>) -> Self {
        match value {
            Some(value) => self.add(true, name, value),
            None => self,
        }
    }

    /// The command line as one text.
    pub fn text(&self) -> String {
        self.0.join(" ")
    }
}

/// The values as a list on the command line.
pub fn joined<T: Display>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<String>>().join(",")
}
