//! What an X-ray of a drive should find.

use likenew_core::units::{Nanos, three_digits};

use super::{TrueValue, Truth};
use crate::explain::value::{Fact, Value};
use crate::model::Model;
use crate::spec::{Spec, SpecName};
use crate::wording::drive as wording;

/// One fact for each property of a generated drive; nothing for others.
pub(crate) fn inside(spec: &Spec, model: &Model) -> Vec<Fact> {
    if !matches!(spec.drive, SpecName::Generated(_)) {
        return Vec::new();
    }
    let rows = Truth::from_spec(spec, model).rows();
    rows.into_iter().map(|(key, unit, inside)| Fact::new(key, value(unit, inside))).collect()
}

fn value(unit: &str, inside: TrueValue) -> Value {
    match inside {
        TrueValue::Word(word) => Value::text(word),
        TrueValue::Number(number) => amount(unit, number),
        TrueValue::Hidden { low, high } if low == high => {
            Value::Text(wording::hidden(&amount(unit, low).to_string()))
        }
        TrueValue::Hidden { low, high } => {
            Value::Text(format!("{} to {}", amount(unit, low), amount(unit, high)))
        }
        TrueValue::HiddenWord(word) => Value::Text(wording::hidden(word)),
        TrueValue::Absent => Value::text("none"),
    }
}

fn amount(unit: &str, number: f64) -> Value {
    match unit {
        "bytes" => Value::Bytes(number.round() as u64),
        "bytes/s" => Value::BytesPerSecond(number),
        "ns" => Value::Span(Nanos(number.round() as u64)),
        "%" => Value::Share(number / 100.0),
        _ => Value::Text(three_digits(number)),
    }
}
