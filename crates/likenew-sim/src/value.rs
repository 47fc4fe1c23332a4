//! Values with their units, as explanations show them.

use std::fmt;

use likenew_core::quantity::{Iops, Rate};
use likenew_core::units::{Nanos, amount};
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// Parameters of which some have names in explanations.
pub(crate) trait Explained {
    /// Those with a name, in their order.
    fn facts(&self) -> Vec<Fact>;
}

/// A quantity with a unit, or text.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Bytes.
    Bytes(u64),
    /// Bytes per second.
    BytesPerSecond(f64),
    /// I/Os per second.
    PerSecond(f64),
    /// A duration.
    Span(Nanos),
    /// A number of things.
    Count(u64),
    /// A share; 1 is the whole.
    Share(f64),
    /// Text.
    Text(String),
}

impl Value {
    /// Bytes per second.
    pub(crate) fn rate(bytes_per_s: u64) -> Self {
        Self::BytesPerSecond(bytes_per_s as f64)
    }

    /// A temperature.
    pub(crate) fn celsius(degrees: f64) -> Self {
        Self::Text(format!("{degrees} °C"))
    }

    /// A duration in seconds.
    pub(crate) fn seconds(seconds: f64) -> Self {
        Self::Span(Nanos::from_secs_f64(seconds))
    }

    /// Text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The stored number, if there is one: bytes, nanoseconds, percent and so on.
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

/// A whole number with commas in thousands.
fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    if digits.len() < 4 {
        return digits;
    }
    let first = (digits.len() - 1) % 3 + 1;
    let groups = digits.as_bytes()[first..].chunks(3).map(|chunk| String::from_utf8_lossy(chunk));
    groups.fold(digits[..first].to_owned(), |grouped, chunk| format!("{grouped},{chunk}"))
}

/// A named value.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Fact {
    /// Its name.
    pub name: String,
    /// Its value.
    #[serde(flatten)]
    pub value: Value,
}

impl Fact {
    pub(crate) fn new(name: impl Into<String>, value: Value) -> Self {
        Self { name: name.into(), value }
    }
}

/// Serializes number, unit and text. The number is whole where its unit has no fractions.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut fields = out.serialize_struct("Value", 3)?;
        match self {
            Self::Bytes(number) | Self::Count(number) | Self::Span(Nanos(number)) => {
                fields.serialize_field("value", number)?;
            }
            Self::Text(text) => fields.serialize_field("value", text)?,
            Self::BytesPerSecond(_) | Self::PerSecond(_) | Self::Share(_) => {
                fields.serialize_field("value", &self.number())?;
            }
        }
        fields.serialize_field("unit", self.unit())?;
        fields.serialize_field("text", &self.to_string())?;
        fields.end()
    }
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
