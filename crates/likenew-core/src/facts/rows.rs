//! Facts as rows of a table: section, subject, fact, value, unit, origin, or why it is unknown.

use serde::Serialize;
use serde_json::{Map, Value};

use super::Facts;

/// One fact as a row of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactRow {
    /// `machine`, `stack`, `file_system`, `identity`, `link` …
    pub section: String,
    /// What the fact describes: a layer, a drive, a part of a link or a mount point, by name; empty for the machine.
    pub subject: String,
    /// The name of the fact, with its unit at the end.
    pub fact: String,
    /// The value, or null.
    pub value: Value,
    /// `bytes`, `bytes/s`, `°C` … or empty; the end of the fact's name says the same.
    pub unit: String,
    /// Where it comes from, or would have.
    pub origin: String,
    /// Why it is unknown, or null.
    pub unknown: Option<String>,
    /// What would make it known, or null.
    pub help: Option<String>,
}

impl Facts {
    /// Every fact that was queried, in a fixed order. A table shows what JSON shows: for a serial number, its
    /// hash.
    pub fn rows(&self) -> Vec<FactRow> {
        let mut rows = Vec::new();
        let value = serde_json::to_value(self).expect("facts are plain values");
        if let Value::Object(sections) = &value {
            for (section, value) in sections {
                walk(section, "", value, &mut rows);
            }
        }
        rows
    }
}

/// Walks down to the leaves. Anything with a name is a subject; the parts of a drive are sections.
fn walk(section: &str, subject: &str, value: &Value, rows: &mut Vec<FactRow>) {
    match value {
        Value::Array(elements) => elements.iter().for_each(|element| walk(section, subject, element, rows)),
        Value::Object(fields) => {
            let own = ["name", "point"].iter().find_map(|key| fields.get(*key)?.as_str());
            let subject = match own {
                Some(own) if subject.is_empty() || section == "stack" => own.to_owned(),
                Some(own) => format!("{subject} › {own}"),
                None => subject.to_owned(),
            };
            for (name, field) in fields {
                match leaf(section, &subject, name, field) {
                    Some(row) => rows.push(row),
                    None => walk(inner(section, name), &subject, field, rows),
                }
            }
        }
        _ => {}
    }
}

/// The section of a field. Fields that only group others stay in the section of their parent.
fn inner<'a>(section: &'a str, name: &'a str) -> &'a str {
    match (section, name) {
        ("drives", name) => name,
        ("space", "zones") => "zones",
        _ => section,
    }
}

fn leaf(section: &str, subject: &str, name: &str, field: &Value) -> Option<FactRow> {
    let Value::Object(fields) = field else { return None };
    let text = |key: &str| Some(fields.get(key)?.as_str()?.to_owned());
    let unknown = text("unknown");
    if unknown.is_none() && !fields.contains_key("value") {
        return None;
    }
    Some(FactRow {
        section: section.to_owned(),
        subject: subject.to_owned(),
        fact: name.to_owned(),
        value: plain(name, fields),
        unit: unit(name).to_owned(),
        origin: text("origin").unwrap_or_default(),
        unknown,
        help: text("help"),
    })
}

/// The value as one cell: a serial number as its hash, a list as words.
fn plain(name: &str, fields: &Map<String, Value>) -> Value {
    let value = fields.get("value").cloned().unwrap_or(Value::Null);
    match (name, &value) {
        ("serial", Value::Object(serial)) => serial.get("hash").cloned().unwrap_or(Value::Null),
        (_, Value::Null) if fields.contains_key("value") => "none".into(),
        (_, Value::Array(elements)) if elements.is_empty() => "none".into(),
        (_, Value::Array(elements)) if elements.iter().all(Value::is_string) => {
            elements.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ").into()
        }
        (_, Value::Array(elements)) => elements.iter().map(element).collect::<Vec<_>>().join("; ").into(),
        (_, Value::Object(_)) => value.to_string().into(),
        _ => value,
    }
}

/// A list item of more than a word: a log line or a SMART attribute.
fn element(value: &Value) -> String {
    let number = |key: &str| value.get(key).and_then(Value::as_f64);
    match (value.get("text").and_then(Value::as_str), number("id"), number("raw")) {
        (Some(text), ..) => format!("[{:.3} s] {text}", number("at_s").unwrap_or_default()),
        (None, Some(id), Some(raw)) => {
            format!(
                "{id} = {raw} ({})",
                ["value", "worst", "threshold"]
                    .map(|key| number(key).unwrap_or_default().to_string())
                    .join("/")
            )
        }
        _ => value.to_string(),
    }
}

/// The unit that a name ends with.
pub fn unit(name: &str) -> &'static str {
    let name = ["_max", "_p10", "_p50", "_p90"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    const UNITS: [(&str, &str); 11] = [
        ("bytes_per_s", "bytes/s"),
        ("bits_per_s", "bits/s"),
        ("per_mib", "1/MiB"),
        ("bytes", "bytes"),
        ("percent", "%"),
        ("hours", "h"),
        ("rpm", "rpm"),
        ("ms", "ms"),
        ("us", "µs"),
        ("s", "s"),
        ("c", "°C"),
    ];
    let is_end =
        |end: &str| name.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('_'));
    // Some names have the unit before what is counted or what it is for: `bytes_read`, `discard_bytes_max`.
    if (name.starts_with("bytes_") || name.contains("_bytes_")) && !name.ends_with("_per_s") {
        return "bytes";
    }
    UNITS.iter().find(|(end, _)| is_end(end)).map_or("", |(_, unit)| unit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::{Drive, Fact, Hop, Layer, Serial};

    #[test]
    fn every_leaf_has_a_row_with_its_subject_and_unit() {
        let mut drive = Drive { name: "nvme0n1".into(), ..Drive::default() };
        drive.identity.serial =
            Fact::new(Serial { hash: "ab12".into(), plain: Some("S3RIAL".into()) }, "serial");
        drive.health.temperature_c = Fact::unknown("it takes root", "SMART log").help("run it as root");
        drive.health.warnings = Fact::new(Vec::new(), "SMART log");
        drive.link.hops.push(Hop {
            name: "0000:00:1d.0".into(),
            line_bits_per_s: Fact::new(8_000_000_000, "current_link_speed"),
            ..Hop::default()
        });
        let layer =
            Layer { name: "dm-0".into(), discard_bytes_max: Fact::new(0, "queue"), ..Layer::default() };
        let facts = Facts { stack: vec![layer], drives: vec![drive], ..Facts::default() };
        let rows = facts.rows();
        let text: Vec<_> = rows
            .iter()
            .map(|row| (&*row.section, &*row.subject, &*row.fact, row.value.to_string(), &*row.unit))
            .collect();
        assert_eq!(
            text,
            [
                ("stack", "dm-0", "discard_bytes_max", "0".to_owned(), "bytes"),
                ("identity", "nvme0n1", "serial", "\"ab12\"".to_owned(), ""),
                ("link", "nvme0n1 › 0000:00:1d.0", "line_bits_per_s", "8000000000".to_owned(), "bits/s"),
                ("health", "nvme0n1", "warnings", "\"none\"".to_owned(), ""),
                ("health", "nvme0n1", "temperature_c", "null".to_owned(), "°C"),
            ]
        );
        let unknown = rows.last().unwrap();
        assert_eq!(unknown.unknown.as_deref(), Some("it takes root"));
        assert_eq!(unknown.help.as_deref(), Some("run it as root"));
    }

    #[test]
    fn units_stand_at_the_end_of_names() {
        for (name, expected) in [
            ("capacity_bytes", "bytes"),
            ("ceiling_bytes_per_s", "bytes/s"),
            ("others_read_bytes_per_s", "bytes/s"),
            ("bytes_per_s", "bytes/s"),
            ("bytes_per_s_max", "bytes/s"),
            ("line_bits_per_s_max", "bits/s"),
            ("content_age_s_p50", "s"),
            ("bytes_written", "bytes"),
            ("lifetime_bytes_read", "bytes"),
            ("wake_us_max", "µs"),
            ("extents_per_mib", "1/MiB"),
            ("rotation_rpm", "rpm"),
            ("power_cycles", ""),
            ("temperature_warning_c", "°C"),
            ("misc", ""),
        ] {
            assert_eq!(unit(name), expected, "{name}");
        }
    }
}
