//! A figure with its unit, as data and for people.

use std::fmt;

use likenew_core::quantity::{Iops, Rate};
use likenew_core::units::{Nanos, amount};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// A figure, or a word where there is none.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Bytes.
    Bytes(u64),
    /// Bytes a second.
    BytesPerSecond(f64),
    /// I/Os per second.
    PerSecond(f64),
    /// A time.
    Span(Nanos),
    /// How many.
    Count(u64),
    /// A share of a whole; 1 is all of it.
    Share(f64),
    /// In words.
    Text(String),
}

impl Value {
    /// A time in seconds.
    pub(crate) fn seconds(seconds: f64) -> Self {
        Self::Span(Nanos::from_secs_f64(seconds))
    }

    /// In words.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The number as it is stored, if it is one: bytes, nanoseconds, percent.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Bytes(number) | Self::Count(number) => Some(*number as f64),
            Self::BytesPerSecond(number) | Self::PerSecond(number) => Some(*number),
            Self::Span(span) => Some(span.0 as f64),
            Self::Share(share) => Some(share * 100.0),
            Self::Text(_) => None,
        }
    }

    /// The unit of [`number`](Self::number), spelled as in reports.
    pub fn unit(&self) -> &'static str {
        match self {
            Self::Bytes(_) => "bytes",
            Self::BytesPerSecond(_) => "bytes/s",
            Self::PerSecond(_) => "1/s",
            Self::Span(_) => "ns",
            Self::Share(_) => "%",
            Self::Count(_) | Self::Text(_) => "",
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.pad(&amount(*bytes)),
            Self::BytesPerSecond(bytes_per_s) => f.pad(&Rate(*bytes_per_s).to_string()),
            Self::PerSecond(number) => f.pad(&Iops(*number).to_string()),
            Self::Span(span) => f.pad(&span.to_string()),
            Self::Count(count) => f.pad(&group_thousands(*count)),
            Self::Share(share) => f.pad(&format!("{:.1}%", share * 100.0)),
            Self::Text(text) => f.pad(text),
        }
    }
}

/// A whole number, from 1,000 on in groups of three digits.
fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() < 4 {
        return digits;
    }
    let first = (digits.len() - 1) % 3 + 1;
    let rest = digits.as_bytes()[first..].chunks(3).map(|chunk| String::from_utf8_lossy(chunk));
    rest.fold(digits[..first].to_owned(), |grouped, chunk| format!("{grouped},{chunk}"))
}

/// A named figure. Serializes to name, value (a whole number where the unit has no parts), unit, and text for
/// people.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Value,
}

impl Fact {
    /// A named figure.
    pub(crate) fn new(name: impl Into<String>, value: Value) -> Self {
        Self { name: name.into(), value }
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut fields = out.serialize_struct("Fact", 4)?;
        fields.serialize_field("name", &self.name)?;
        serialize_value(&self.value, &mut fields)?;
        fields.end()
    }
}

/// The fields `value`, `unit` and `text` of whatever holds a value.
pub(super) fn serialize_value<S: serde::ser::SerializeStruct>(
    value: &Value,
    fields: &mut S,
) -> Result<(), S::Error> {
    match value {
        Value::Bytes(number) | Value::Count(number) | Value::Span(Nanos(number)) => {
            fields.serialize_field("value", number)?;
        }
        Value::Text(text) => fields.serialize_field("value", text)?,
        Value::BytesPerSecond(_) | Value::PerSecond(_) | Value::Share(_) => {
            fields.serialize_field("value", &value.number())?;
        }
    }
    fields.serialize_field("unit", value.unit())?;
    fields.serialize_field("text", &value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        for (value, text) in [
            (Value::Bytes(80 << 30), "80 GiB"),
            (Value::BytesPerSecond(77.2e6), "77.2 MB/s"),
            (Value::PerSecond(81.37), "81.4 IOPS"),
            (Value::PerSecond(9615.4), "9,620 IOPS"),
            (Value::PerSecond(35_087.7), "35,100 IOPS"),
            (Value::Count(5_400_000), "5,400,000"),
            (Value::Count(123_456), "123,456"),
            (Value::Share(0.0731), "7.3%"),
            (Value::seconds(0.0035), "3.50 ms"),
        ] {
            assert_eq!(value.to_string(), text);
        }
    }
}
