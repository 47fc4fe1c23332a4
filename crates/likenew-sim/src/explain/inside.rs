//! What an X-ray of a drive should find.

use likenew_core::units::{Nanos, three_digits};

use super::value::{Fact, Value};
use crate::model::Model;
use crate::spec::{Named, Spec};
use crate::truth::{Inside, Truth};

/// One fact for each property of a drive that was drawn; nothing of others.
pub(super) fn explain(spec: &Spec, model: &Model) -> Vec<Fact> {
    if !matches!(spec.drive, Named::Drawn(_)) {
        return Vec::new();
    }
    let rows = Truth::of(spec, model).rows();
    rows.into_iter().map(|(key, unit, inside)| Fact::new(key, value(unit, inside))).collect()
}

fn value(unit: &str, inside: Inside) -> Value {
    match inside {
        Inside::Word(word) => Value::text(word),
        Inside::Number(number) => amount(unit, number),
        Inside::Hidden { low, high } if low == high => {
            Value::Text(format!("{}, which does not show", amount(unit, low)))
        }
        Inside::Hidden { low, high } => {
            Value::Text(format!("{} to {}", amount(unit, low), amount(unit, high)))
        }
        Inside::HiddenWord(word) => Value::Text(format!("{word}, which does not show")),
        Inside::Absent => Value::text("none"),
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
