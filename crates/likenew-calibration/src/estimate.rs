//! The result for one parameter.

use serde::Serialize;

use crate::parameter::Unit;

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
