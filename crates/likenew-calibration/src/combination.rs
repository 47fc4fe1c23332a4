//! Quantities that runs determine although their single parameters remain unknown: sums and ratios of parameters.

use nalgebra::DVector;
use serde::Serialize;

use crate::base::Base;
use crate::parameter::{Parameter, Unit, value_of};
use crate::search::Fit;

/// A quantity that follows from several values of a drive file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Combination {
    /// The name for people.
    pub name: &'static str,
    /// The unit of the values below.
    pub unit: Unit,
    /// The calibrated drive's value.
    pub value: f64,
    /// Lower end of the 90% interval.
    pub low: f64,
    /// Upper end of the 90% interval.
    pub high: f64,
    /// Keys of the values from which the quantity follows.
    pub keys: Vec<&'static str>,
}

/// Returns the value of a key in a drive file.
type Lookup<'a> = dyn Fn(&str) -> f64 + 'a;

/// The formula of a quantity.
struct Definition {
    name: &'static str,
    unit: Unit,
    keys: &'static [&'static str],
    formula: fn(&Lookup<'_>) -> f64,
}

/// Bytes of a small I/O.
const SMALL: f64 = 4096.0;
const SECOND_NS: f64 = 1e9;

const DEFINITIONS: [Definition; 4] = [
    Definition {
        name: "4K read, QD1",
        unit: Unit::Time,
        keys: &["firmware.read_command_ns", "nand.read_ns", "nand.channel_bytes_per_s", "link.bytes_per_s"],
        formula: |value| {
            let moved = SMALL.max(value("map.page_bytes"));
            value("firmware.read_command_ns")
                + value("nand.read_ns")
                + SECOND_NS * moved / value("nand.channel_bytes_per_s")
                + SECOND_NS * SMALL / value("link.bytes_per_s")
        },
    },
    Definition {
        name: "program rate",
        unit: Unit::Rate,
        keys: &["nand.program_ns", "nand.programs_max"],
        formula: |value| unit_bytes(value) * SECOND_NS / value("nand.program_ns"),
    },
    Definition {
        name: "SLC program rate",
        unit: Unit::Rate,
        keys: &["slc_cache.program_ns", "nand.programs_max"],
        formula: |value| unit_bytes(value) * SECOND_NS / value("slc_cache.program_ns"),
    },
    Definition {
        name: "4K random read, QD1",
        unit: Unit::Time,
        keys: &["firmware.command_ns", "mechanics.average_seek_ns", "mechanics.rotations_per_minute"],
        formula: |value| {
            let half_turn = 30.0 * SECOND_NS / value("mechanics.rotations_per_minute");
            value("firmware.command_ns") + value("mechanics.average_seek_ns") + half_turn
        },
    },
];

/// Bytes that all dies together program at once.
fn unit_bytes(value: &Lookup<'_>) -> f64 {
    value("nand.programs_max")
        * value("nand.planes")
        * value("nand.page_bytes")
        * value("nand.pages_per_program")
}

/// The quantities that the drive has.
pub(crate) fn combinations(
    base: &Base,
    parameters: &[Parameter],
    fit: &Fit,
    quantile: f64,
) -> Vec<Combination> {
    let has =
        |definition: &&Definition| definition.keys.iter().all(|key| value_of(base.model(), key).is_some());
    let combination = |definition: &Definition| {
        let value = |moves: &[f64]| {
            let moved = base.values(parameters, moves);
            let look = |key: &str| {
                let fitted = moved.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
                fitted.or_else(|| value_of(base.model(), key)).unwrap_or(f64::NAN)
            };
            (definition.formula)(&look)
        };
        let middle = value(&fit.moves);
        let slope = |index: usize| {
            /// Wide enough that values rounded to whole numbers change.
            const WIDTH: f64 = 0.05;
            let at = |side: f64| {
                let mut moves = fit.moves.clone();
                moves[index] += side * WIDTH;
                value(&moves).ln()
            };
            (at(1.0) - at(-1.0)) / (2.0 * WIDTH)
        };
        let slopes = DVector::from_iterator(parameters.len(), (0..parameters.len()).map(slope));
        let half = quantile * fit.deviation(&slopes);
        Combination {
            name: definition.name,
            unit: definition.unit,
            value: middle,
            low: middle * (-half).exp(),
            high: middle * half.exp(),
            keys: definition.keys.to_vec(),
        }
    };
    DEFINITIONS.iter().filter(has).map(combination).collect()
}
