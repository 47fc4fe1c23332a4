//! What is found of a parameter.

use serde::Serialize;

use crate::parameter::Unit;

/// How well a value is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Its range is within a tenth of it.
    Determined,
    /// Its range is wider, and much narrower than what was known before.
    Rough,
    /// It shows only together with others, as in a sum: its value is one of many that would do.
    Combined,
    /// Nothing that was measured depends on it: it stays as the base has it.
    Undetermined,
}

/// What was found of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// The value of the file.
    pub key: &'static str,
    /// For people.
    pub name: &'static str,
    /// Of all values here.
    pub unit: Unit,
    /// The base's.
    pub base: f64,
    /// The calibrated drive's.
    pub value: f64,
    /// Its 90% interval.
    pub low: f64,
    /// Its 90% interval.
    pub high: f64,
    /// How well it is known.
    pub standing: Standing,
    /// The command whose runs show it.
    pub needs: &'static str,
}
