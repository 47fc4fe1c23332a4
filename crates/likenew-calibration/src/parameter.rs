//! The parameters that can be calibrated: values of a drive file that decide its speed, with their limits and results.
//!
//! A parameter is a factor on one or several values. If only a product can be observed, one of its factors is a
//! parameter and the others stay. For example, the program rate is the number of dies over the program time: the number
//! of dies stays, and the program time is fitted.

use likenew_core::quantity::{Iops, Latency, Rate, Share, Size};
use likenew_core::units::{Nanos, Number};
use likenew_sim::model::Model;
use serde::Serialize;

/// The unit of a value, which decides how it is written. Keys of drive files name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Time,
    /// Bytes a second.
    Rate,
    /// Bytes.
    Bytes,
    /// I/Os a second.
    Iops,
    /// Revolutions per minute.
    Rpm,
    /// A plain number.
    Count,
    /// Percent.
    Percent,
}

/// The units that keys name; the first one that occurs in a key is its unit.
const NAMED_UNITS: [(&str, Unit); 6] = [
    ("bytes_per_s", Unit::Rate),
    ("_bytes", Unit::Bytes),
    ("_ns", Unit::Time),
    ("iops", Unit::Iops),
    ("per_minute", Unit::Rpm),
    ("percent", Unit::Percent),
];

impl Unit {
    /// The unit that a key of a drive file names; a plain number if it names none.
    pub fn of_key(key: &str) -> Self {
        let named = NAMED_UNITS.iter().find(|(name, _)| key.contains(name));
        named.map_or(Self::Count, |(_, unit)| *unit)
    }

    /// The value with its unit, as people read it.
    pub fn text(self, value: f64) -> String {
        match self {
            Self::Time => Latency(value).to_string(),
            Self::Rate => Rate(value).to_string(),
            Self::Bytes => Size(value.round() as u64).to_string(),
            Self::Iops => Iops(value).to_string(),
            Self::Rpm => format!("{} rpm", Number(value)),
            Self::Count => Number(value).to_string(),
            Self::Percent => Share(value / 100.0).to_string(),
        }
    }
}

/// A value that can be calibrated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameter {
    /// Key of the value in the drive file.
    pub key: &'static str,
    /// Keys of other values that change by the same factor.
    pub with: &'static [&'static str],
    /// The name for people.
    pub name: &'static str,
    /// Smallest and largest value that are tried.
    pub limits: (f64, f64),
    /// The command, without its target, whose runs determine the value.
    pub needs: &'static str,
}

const MICROSECOND: f64 = Nanos::from_micros(1).0 as f64;
const MILLISECOND: f64 = Nanos::from_millis(1).0 as f64;
const MB: f64 = 1e6;
const KIB: f64 = 1024.0;
const GIB: f64 = KIB * KIB * KIB;

const FLASH_COMMAND: (f64, f64) = (0.3 * MICROSECOND, 5.0 * MILLISECOND);
const AVERAGE_SEEK: (f64, f64) = (2.0 * MILLISECOND, 40.0 * MILLISECOND);

const BENCH: &str = "likenew bench";
const SWEEP: &str = "likenew sweep";
const FILL: &str = "likenew fill";
const ENDURE: &str = "likenew endure";
const SURFACE: &str = "likenew surface";

const fn parameter(
    key: &'static str,
    name: &'static str,
    limits: (f64, f64),
    needs: &'static str,
) -> Parameter {
    Parameter { key, with: &[], name, limits, needs }
}

/// All parameters. Limits: drives of 2000 to 2025, with a margin.
pub const PARAMETERS: &[Parameter] = &[
    parameter("link.bytes_per_s", "link rate", (10.0 * MB, 20_000.0 * MB), SWEEP),
    // Flash
    parameter("firmware.read_command_ns", "read command", FLASH_COMMAND, SWEEP),
    parameter("firmware.write_command_ns", "write command", FLASH_COMMAND, SWEEP),
    parameter("firmware.buffer_bytes", "write buffer", (4.0 * KIB, 4.0 * GIB), ENDURE),
    parameter("nand.read_ns", "flash read", (5.0 * MICROSECOND, MILLISECOND), BENCH),
    parameter("nand.program_ns", "flash program", (50.0 * MICROSECOND, 20.0 * MILLISECOND), FILL),
    parameter("nand.erase_ns", "flash erase", (0.3 * MILLISECOND, 50.0 * MILLISECOND), ENDURE),
    parameter("nand.channel_bytes_per_s", "channel rate", (5.0 * MB, 5_000.0 * MB), SWEEP),
    parameter("slc_cache.read_ns", "SLC read", (5.0 * MICROSECOND, MILLISECOND), FILL),
    parameter("slc_cache.program_ns", "SLC program", (20.0 * MICROSECOND, 10.0 * MILLISECOND), BENCH),
    parameter("slc_cache.static_blocks_per_die", "SLC blocks", (1.0, 100_000.0), FILL),
    parameter("slc_cache.dynamic_percent_max", "SLC share", (1.0, 100.0), FILL),
    // Disks
    parameter("firmware.command_ns", "command", (5.0 * MICROSECOND, 5.0 * MILLISECOND), SWEEP),
    parameter("mechanics.rotations_per_minute", "rotation", (3000.0, 20_000.0), BENCH),
    Parameter {
        with: &["mechanics.inner_bytes_per_s"],
        ..parameter("mechanics.outer_bytes_per_s", "outer rate", (10.0 * MB, 400.0 * MB), BENCH)
    },
    parameter("mechanics.inner_bytes_per_s", "inner rate", (5.0 * MB, 400.0 * MB), SURFACE),
    Parameter {
        with: &[
            "mechanics.track_seek_ns",
            "mechanics.full_seek_ns",
            "mechanics.write_track_seek_ns",
            "mechanics.write_average_seek_ns",
            "mechanics.write_full_seek_ns",
        ],
        ..parameter("mechanics.average_seek_ns", "average seek", AVERAGE_SEEK, SURFACE)
    },
    Parameter {
        with: &["mechanics.write_track_seek_ns", "mechanics.write_full_seek_ns"],
        ..parameter("mechanics.write_average_seek_ns", "write seek", AVERAGE_SEEK, BENCH)
    },
    parameter("mechanics.head_switch_ns", "head switch", (0.1 * MILLISECOND, 5.0 * MILLISECOND), BENCH),
    Parameter {
        with: &["cache.memory_bytes"],
        ..parameter("cache.write_cache_bytes", "write cache", (64.0 * KIB, 4.0 * GIB), FILL)
    },
    // Network volumes
    parameter("credits.burst_iops", "burst IOPS", (10.0, 1e6), BENCH),
    parameter("credits.credits_max", "burst credits", (100.0, 1e10), ENDURE),
    parameter("credits.iops_per_gib", "IOPS per GiB", (1.0, 1e6), ENDURE),
    parameter("throughput.small_bytes_per_s", "throughput", (MB, 20_000.0 * MB), BENCH),
    parameter("throughput.large_bytes_per_s", "throughput", (MB, 20_000.0 * MB), BENCH),
    Parameter {
        with: &["store.latency_ns_p99"],
        ..parameter(
            "store.latency_ns_median",
            "median latency",
            (10.0 * MICROSECOND, 100.0 * MILLISECOND),
            BENCH,
        )
    },
    parameter("store.latency_ns_p99", "p99 latency", (10.0 * MICROSECOND, 1000.0 * MILLISECOND), BENCH),
];

impl Parameter {
    /// Keys of all values that the parameter changes.
    pub fn keys(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.key).chain(self.with.iter().copied())
    }

    /// The parameters whose value in this drive file is above 0.
    pub fn of(model: &Model) -> Vec<Self> {
        let has = |parameter: &&Self| value_of(model, parameter.key).is_some_and(|value| value > 0.0);
        PARAMETERS.iter().filter(has).copied().collect()
    }
}

/// How well a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// The interval is within a tenth of the value.
    Determined,
    /// The interval is wider, but much narrower than the prior.
    Rough,
    /// Only a combination with other parameters is known; this value is one of many that fit.
    Combined,
    /// No measurement depends on the value, so it stays as in the base.
    Undetermined,
}

/// The result for one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Key of the value in the drive file.
    pub key: &'static str,
    /// The name for people.
    pub name: &'static str,
    /// The unit of the values below.
    pub unit: Unit,
    /// The base's value.
    pub base: f64,
    /// The calibrated drive's value.
    pub value: f64,
    /// Lower end of the 90% interval.
    pub low: f64,
    /// Upper end of the 90% interval.
    pub high: f64,
    /// How well the value is known.
    pub standing: Standing,
    /// The command whose runs determine the value.
    pub needs: &'static str,
}

/// The number at a key of a drive file.
pub(crate) fn value_of(model: &Model, key: &str) -> Option<f64> {
    model.source(key)?.value.replace('_', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_sim::catalog;

    #[test]
    fn every_drive_of_the_catalog_lies_within_the_limits() {
        for entry in catalog() {
            let parameters = Parameter::of(&entry.model);
            assert!(parameters.len() >= 6, "{}", entry.name);
            for parameter in parameters {
                let value = value_of(&entry.model, parameter.key).unwrap();
                let (low, high) = parameter.limits;
                assert!((low..=high).contains(&value), "{}: {} = {value}", entry.name, parameter.key);
                for key in parameter.keys() {
                    assert!(value_of(&entry.model, key).is_some(), "{}: no {key}", entry.name);
                }
            }
        }
    }

    #[test]
    fn keys_name_the_unit() {
        for (key, unit) in [
            ("link.bytes_per_s", Unit::Rate),
            ("firmware.buffer_bytes", Unit::Bytes),
            ("store.latency_ns_p99", Unit::Time),
            ("credits.iops_per_gib", Unit::Iops),
            ("mechanics.rotations_per_minute", Unit::Rpm),
            ("slc_cache.dynamic_percent_max", Unit::Percent),
            ("slc_cache.static_blocks_per_die", Unit::Count),
            ("credits.credits_max", Unit::Count),
        ] {
            assert_eq!(Unit::of_key(key), unit, "{key}");
        }
    }

    #[test]
    fn every_parameter_belongs_to_some_drive() {
        for parameter in PARAMETERS {
            let is_known = catalog().iter().any(|entry| value_of(&entry.model, parameter.key).is_some());
            assert!(is_known, "{}", parameter.key);
        }
    }
}
