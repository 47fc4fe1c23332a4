//! The text of `likenew facts --details`: all known facts by subject, then unknown facts and how to get them.

use std::fmt;

use indexmap::IndexMap;
use likenew_core::facts::{FactRow, Facts};
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::quantity::{Rate, Share, Size};
use likenew_core::units::{Nanos, Number, digits};

use crate::wording;
use serde_json::Value;

/// Width of the names of facts, in columns.
const NAMES: usize = 26;
/// Most lines of the kernel's log that are shown, the newest.
const LINES_MAX: usize = 8;

/// A sheet of facts.
pub(crate) struct Factsheet<'a> {
    /// Facts as just collected. They may hold serial numbers, which only the user who asked sees; a
    /// kept run has only their hashes.
    pub(crate) facts: &'a Facts,
    /// The conclusions.
    pub(crate) findings: &'a Findings,
    /// Columns of the terminal.
    pub(crate) width: usize,
    /// Whether to show the source of each fact.
    pub(crate) origins: bool,
}

impl fmt::Display for Factsheet<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.facts.rows();
        self.write_wrapped(f, "", "", &self.findings.summary)?;
        self.items(f, "  • ", &self.striking())?;
        let mut groups: IndexMap<(&str, &str), Vec<&FactRow>> = IndexMap::new();
        for row in rows.iter().filter(|row| row.unknown.is_none()) {
            groups.entry((&row.section, &row.subject)).or_default().push(row);
        }
        groups.values().try_for_each(|group| self.group(f, group))?;
        self.unknown(f, &rows)?;
        self.write_open(f)
    }
}

impl Factsheet<'_> {
    /// Widest sheet, in columns. Chosen: longer lines are hard to read.
    pub(crate) const WIDTH_MAX: usize = 100;

    fn group(&self, f: &mut fmt::Formatter<'_>, group: &[&FactRow]) -> fmt::Result {
        let section = match &*group[0].section {
            "drives" => "activity".to_owned(),
            section => section.replace('_', " "),
        };
        let subject = &group[0].subject;
        writeln!(f)?;
        match (subject.is_empty(), self.group_title(&group[0].section, subject)) {
            (true, _) => writeln!(f, "{section}")?,
            (false, None) => writeln!(f, "{section} · {subject}")?,
            (false, Some(what)) => writeln!(f, "{section} · {subject} · {what}")?,
        }
        let is_zero = |row: &FactRow| row.section == "counts" && row.value == 0;
        for row in group.iter().filter(|row| !is_zero(row)) {
            self.row(f, row)?;
        }
        let zeros: Vec<String> = group.iter().filter(|row| is_zero(row)).map(|row| words(row)).collect();
        if !zeros.is_empty() {
            self.line(f, "zero", &zeros.join(", "))?;
        }
        Ok(())
    }

    /// The title of a layer or of a part of a link.
    fn group_title(&self, section: &str, subject: &str) -> Option<String> {
        match section {
            "stack" => {
                let layer = self.facts.stack.iter().find(|layer| layer.name == subject)?;
                let below =
                    if layer.on.is_empty() { String::new() } else { format!(" on {}", layer.on.join(", ")) };
                Some(format!("{}{below}", layer.kind.words()))
            }
            "link" => {
                let (drive, hop) = subject.split_once(" › ")?;
                let drive = self.facts.drives.iter().find(|known| known.name == drive)?;
                drive.link.hops.iter().find(|known| known.name == hop).map(|hop| hop.kind.clone())
            }
            _ => None,
        }
    }

    fn row(&self, f: &mut fmt::Formatter<'_>, row: &FactRow) -> fmt::Result {
        match (&*row.section, &*row.fact) {
            ("identity", "serial") => {
                let drive = self.facts.drives.iter().find(|drive| drive.name == row.subject);
                let plain = drive.and_then(|drive| drive.identity.serial.value()?.plain.as_deref());
                let shown =
                    plain.map_or_else(|| spell(row), |plain| format!("{plain} (kept as {})", spell(row)));
                self.line(f, &words(row), &self.with_origin(&shown, row))
            }
            ("health", "attributes") => {
                let count = row.value.as_str().map_or(0, |text| text.split("; ").count());
                self.line(f, &words(row), &self.with_origin(&format!("{count} (see --json)"), row))
            }
            ("log", "lines") => {
                let drive = self.facts.drives.iter().find(|drive| drive.name == row.subject);
                let lines = drive.and_then(|drive| drive.log.lines.value()).map_or(&[][..], Vec::as_slice);
                let newest = &lines[lines.len().saturating_sub(LINES_MAX)..];
                if newest.is_empty() {
                    return self.line(f, "lines", "none that matter");
                }
                let newest: Vec<String> =
                    newest.iter().map(|line| format!("[{:.3} s] {}", line.at_s, line.text)).collect();
                self.items(f, "  ", &newest)
            }
            _ => self.line(f, &words(row), &self.with_origin(&spell(row), row)),
        }
    }

    fn with_origin(&self, text: &str, row: &FactRow) -> String {
        if self.origins && !row.origin.is_empty() {
            format!("{text}  ({})", row.origin)
        } else {
            text.to_owned()
        }
    }

    /// One name and its value, wrapped.
    fn line(&self, f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
        let head = format!("  {name:NAMES$} ");
        self.write_wrapped(f, &head, &" ".repeat(NAMES + 3), value)
    }

    fn items(&self, f: &mut fmt::Formatter<'_>, head: &str, items: &[String]) -> fmt::Result {
        let indent = " ".repeat(head.chars().count());
        items.iter().try_for_each(|item| self.write_wrapped(f, head, &indent, item))
    }

    fn write_wrapped(&self, f: &mut fmt::Formatter<'_>, head: &str, indent: &str, text: &str) -> fmt::Result {
        let options = textwrap::Options::new(self.width.max(NAMES + 20))
            .initial_indent(head)
            .subsequent_indent(indent)
            // Unicode's rules would break MB/s after its slash.
            .word_separator(textwrap::WordSeparator::AsciiSpace)
            .word_splitter(textwrap::WordSplitter::NoHyphenation);
        textwrap::wrap(text, options).iter().try_for_each(|line| writeln!(f, "{}", line.trim_end()))
    }

    /// Problems and remarks.
    fn striking(&self) -> Vec<String> {
        let text = |answer: &Answer| match answer.standing {
            Standing::Problem => answer.evidence.clone(),
            Standing::Info => vec![format!("{}: {}", answer.question, answer.answer)],
            Standing::Good | Standing::Unknown => Vec::new(),
        };
        self.findings.answers.iter().flat_map(text).collect()
    }

    /// Unknown facts, and how to get them.
    fn write_open(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for answer in self.findings.answers.iter().filter(|answer| answer.standing == Standing::Unknown) {
            writeln!(f)?;
            self.write_wrapped(f, "", "  ", &format!("{}: {}.", answer.question, answer.answer))?;
            for action in &answer.actions {
                let command =
                    action.command.as_ref().map_or_else(String::new, |command| format!(": {command}"));
                self.write_wrapped(f, "  ", "    ", &format!("{}{command}", action.why))?;
            }
        }
        Ok(())
    }

    /// Unknown facts, a line for each reason.
    fn unknown(&self, f: &mut fmt::Formatter<'_>, rows: &[FactRow]) -> fmt::Result {
        let mut reasons: IndexMap<(&str, Option<&str>), Vec<String>> = IndexMap::new();
        for row in rows {
            let Some(reason) = &row.unknown else { continue };
            reasons.entry((reason, row.help.as_deref())).or_default().push(words(row));
        }
        if reasons.is_empty() {
            return Ok(());
        }
        writeln!(f, "\nUnavailable")?;
        // Facts that the user can get come first.
        reasons.sort_by_key(|(_, help), names| (help.is_none(), std::cmp::Reverse(names.len())));
        let reasons: Vec<String> = reasons
            .into_iter()
            .map(|((reason, help), mut names)| {
                names.dedup();
                let help = help.map_or_else(String::new, |help| format!(" ({help})"));
                format!("{reason}{help}: {}", names.join(", "))
            })
            .collect();
        self.items(f, "  • ", &reasons)
    }
}

/// The name of a fact without its unit.
fn words(row: &FactRow) -> String {
    wording::fact_name(&row.section, &row.fact).map_or_else(|| name_without_unit(row), str::to_owned)
}

fn name_without_unit(row: &FactRow) -> String {
    const UNITS: [&str; 10] =
        ["_bytes_per_s", "_bits_per_s", "_bytes", "_percent", "_hours", "_rpm", "_ms", "_us", "_s", "_c"];
    const ENDS: [(&str, &str); 4] =
        [("_max", ", at most"), ("_p10", ", p10"), ("_p50", ", p50"), ("_p90", ", p90")];
    let (name, end) = ENDS
        .iter()
        .find_map(|(key, end)| Some((row.fact.strip_suffix(key)?, *end)))
        .unwrap_or((&row.fact, ""));
    let name = UNITS.iter().find_map(|unit| name.strip_suffix(unit)).unwrap_or(name);
    format!("{}{end}", name.replace('_', " "))
}

/// A value with its unit.
fn spell(row: &FactRow) -> String {
    let is_trim = matches!(&*row.fact, "knows_trim" | "takes_trim");
    let text = match &row.value {
        Value::Bool(yes) if is_trim => return if *yes { "supported" } else { "not supported" }.to_owned(),
        Value::String(none) if row.fact == "virtual_by" && none == "none" => return "no".to_owned(),
        Value::Number(turns) if row.fact == "rotation_rpm" && turns.as_u64() == Some(0) => {
            return "solid state".to_owned();
        }
        Value::String(text) => return text.clone(),
        Value::Bool(yes) => return if *yes { "yes" } else { "no" }.to_owned(),
        other => other.to_string(),
    };
    let (Some(number), whole) = (row.value.as_f64(), row.value.as_u64()) else { return text };
    match (&*row.unit, whole) {
        ("bytes", Some(bytes)) => Size(bytes).to_string(),
        ("bytes/s", _) => Rate(number).to_string(),
        ("bits/s", _) => format!("{} Gb/s", digits(number / 1e9)),
        ("s", Some(seconds)) if seconds >= 2 * 86_400 => format!("{} days", seconds / 86_400),
        ("s", Some(seconds)) => Nanos(seconds.saturating_mul(1_000_000_000)).to_string(),
        ("µs", Some(micros)) => Nanos(micros.saturating_mul(1_000)).to_string(),
        ("ms", Some(millis)) => Nanos(millis.saturating_mul(1_000_000)).to_string(),
        ("", _) => text,
        ("%", _) => Share(number / 100.0).to_string(),
        ("1/MiB", _) => digits(number),
        (unit, _) => format!("{} {unit}", Number(number)),
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Drive, Fact, Layer, LayerKind, Serial};

    use super::*;

    fn facts() -> Facts {
        let mut drive = Drive { name: "sda".into(), ..Drive::default() };
        drive.identity.serial =
            Fact::new(Serial { hash: "ab12".into(), plain: Some("S3RIAL".into()) }, "IDENTIFY");
        drive.counts.crc_errors = Fact::new(0, "SMART");
        drive.counts.throttled_light_s = Fact::new(200_000, "SMART");
        drive.health.used_percent = Fact::unknown("asking for it takes root", "SMART").help("run it as root");
        drive.health.pending_sectors =
            Fact::unknown("asking for it takes root", "SMART").help("run it as root");
        let layer = Layer {
            name: "dm-0".into(),
            kind: LayerKind::Crypt,
            on: vec!["sda".into()],
            capacity_bytes: Fact::new(1 << 30, "size"),
            ..Layer::default()
        };
        Facts { stack: vec![layer], drives: vec![drive], ..Facts::default() }
    }

    fn sheet(origins: bool) -> String {
        let (facts, findings) = (facts(), Findings::default());
        Factsheet { facts: &facts, findings: &findings, width: 80, origins }.to_string()
    }

    #[test]
    fn facts_stand_by_subject_and_the_unknown_by_reason() {
        let text = sheet(false);
        for line in [
            "stack · dm-0 · encryption (dm-crypt) on sda\n",
            "  capacity                   1 GiB\n",
            "  serial                     S3RIAL (kept as ab12)\n",
            "  throttled light            2 days\n",
            "  zero                       crc errors\n",
            "  • asking for it takes root (run it as root): used, pending sectors\n",
        ] {
            assert!(text.contains(line), "{line:?} in\n{text}");
        }
        assert!(!text.contains("IDENTIFY"));
        assert!(sheet(true).contains("1 GiB  (size)"));
    }
}
