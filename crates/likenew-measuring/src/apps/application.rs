//! The I/O of an application, as far as it was published: counts, bytes, lengths and queue depths, each with its source.

use std::fmt;
use std::str::FromStr;

use likenew_core::serde_as_text;
use likenew_core::workload::Size;
use likenew_procedure_support::wording::out_of_range;
use serde::{Deserialize, Serialize};

use super::wording;

/// A value and where it comes from. A source begins with `published`, `derived` (from what was published) or `assumed`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WithSource<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub source: String,
}

/// The I/O of one application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Application {
    /// Its name in tables.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
    /// The group it belongs to; `own` for a user's applications.
    #[serde(default = "custom_name")]
    pub group: String,
    /// Its row in the published table, which is its place in its group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// Who published it, and where.
    pub publication: String,
    /// I/Os in flight.
    pub depth: WithSource<Depths>,
    /// How long it took when it was recorded, pauses included, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_s: Option<WithSource<f64>>,
    /// Its reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<Side>,
    /// Its writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub writes: Option<Side>,
}

/// The reads or the writes of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Side {
    /// I/Os that begin where the previous one ended.
    pub sequential: WithSource<u64>,
    /// All others.
    pub random: WithSource<u64>,
    /// Bytes of both together.
    pub bytes: WithSource<u64>,
    /// Bytes of the random I/Os, if they are not as long as the sequential ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random_bytes: Option<WithSource<u64>>,
    /// Lengths that occur, with weights if shares are known. The lengths issued keep the mean that follows from bytes
    /// and counts, and come as close to these shares as that allows.
    pub lengths: WithSource<Size>,
}

fn custom_name() -> String {
    "own".into()
}

/// Most I/Os of reads or of writes, so that an interleaved schedule of them stays small.
const COUNT_MAX: u64 = 1 << 31;
const BYTES_MAX: u64 = 1 << 50;
const NAME_MAX: usize = 60;

impl Application {
    /// Parses an application's file.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let application: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        application.check()?;
        Ok(application)
    }

    /// Whether its values agree with each other.
    ///
    /// # Errors
    /// A sentence that names the value and what it may be.
    pub fn check(&self) -> Result<(), String> {
        let words = [&self.name, &self.about, &self.publication];
        if self.name.trim().is_empty() || self.name.chars().count() > NAME_MAX {
            return Err(wording::wrong_name(NAME_MAX));
        }
        if words.iter().any(|text| text.chars().any(char::is_control)) {
            return Err(wording::several_lines());
        }
        if self.ios() == 0 {
            return Err(wording::no_ios());
        }
        if let Some(WithSource { value, .. }) = self.duration_s
            && !(value > 0.0 && value <= 1e7)
        {
            return Err(out_of_range("duration_s", value, "0", "10⁷"));
        }
        for (name, side) in [("reads", &self.reads), ("writes", &self.writes)] {
            if let Some(side) = side {
                side.check().map_err(|reason| format!("{name}: {reason}"))?;
            }
        }
        match self.sources().into_iter().find(|(_, _, source)| !is_source(source)) {
            Some((metric, ..)) => Err(wording::wrong_source(&metric)),
            None => Ok(()),
        }
    }

    /// Its reads and writes, as far as there are any.
    pub(crate) fn sides(&self) -> impl Iterator<Item = &Side> {
        self.reads.iter().chain(&self.writes)
    }

    /// Bytes that it moves.
    pub fn bytes(&self) -> u64 {
        self.sides().map(|side| side.bytes.value).fold(0, u64::saturating_add)
    }

    /// Bytes that it reads.
    pub fn bytes_read(&self) -> u64 {
        self.reads.as_ref().map_or(0, |side| side.bytes.value)
    }

    /// Bytes that it writes.
    pub fn bytes_written(&self) -> u64 {
        self.writes.as_ref().map_or(0, |side| side.bytes.value)
    }

    /// I/Os that it does.
    pub fn ios(&self) -> u64 {
        self.sides().map(Side::ios).fold(0, u64::saturating_add)
    }

    /// Every value as it is spelled, with its name and its source.
    pub fn sources(&self) -> Vec<(String, String, &str)> {
        let mut sources =
            vec![("depth".to_owned(), self.depth.value.to_string(), self.depth.source.as_str())];
        if let Some(duration) = &self.duration_s {
            sources.push(("duration_s".into(), duration.value.to_string(), &duration.source));
        }
        for (name, side) in [("reads", &self.reads), ("writes", &self.writes)] {
            let Some(side) = side else { continue };
            let counts = [
                ("sequential", Some(&side.sequential)),
                ("random", Some(&side.random)),
                ("bytes", Some(&side.bytes)),
                ("random_bytes", side.random_bytes.as_ref()),
            ];
            for (metric, count) in counts {
                let Some(count) = count else { continue };
                sources.push((format!("{name}.{metric}"), count.value.to_string(), &count.source));
            }
            let lengths = &side.lengths;
            sources.push((format!("{name}.lengths"), lengths.value.to_string(), &lengths.source));
        }
        sources
    }
}

impl Side {
    /// I/Os of both orders.
    pub fn ios(&self) -> u64 {
        self.sequential.value.saturating_add(self.random.value)
    }

    /// Number and mean length of sequential and of random I/Os; an order that does not occur is left out.
    pub(crate) fn parts(&self) -> Vec<Part> {
        let mean = self.bytes.value as f64 / self.ios().max(1) as f64;
        let random_mean = self
            .random_bytes
            .as_ref()
            .map_or(mean, |bytes| bytes.value as f64 / self.random.value.max(1) as f64);
        let sequential_mean = self.random_bytes.as_ref().map_or(mean, |bytes| {
            self.bytes.value.saturating_sub(bytes.value) as f64 / self.sequential.value.max(1) as f64
        });
        let parts = [
            Part { is_sequential: true, ios: self.sequential.value, mean: sequential_mean },
            Part { is_sequential: false, ios: self.random.value, mean: random_mean },
        ];
        parts.into_iter().filter(|part| part.ios > 0).collect()
    }

    fn check(&self) -> Result<(), String> {
        if self.ios() > COUNT_MAX || self.bytes.value > BYTES_MAX {
            return Err(wording::too_many_ios(COUNT_MAX));
        }
        if self.random_bytes.as_ref().is_some_and(|random_bytes| random_bytes.value > self.bytes.value) {
            return Err(wording::too_many_random_bytes());
        }
        let lengths = || self.lengths.value.choices().iter().map(|(bytes, _)| *bytes);
        let (shortest, longest) = (lengths().min().unwrap_or(0), lengths().max().unwrap_or(0));
        for part in self.parts() {
            let kind = if part.is_sequential { "sequential" } else { "random" };
            if !(f64::from(shortest)..=f64::from(longest)).contains(&part.mean) {
                return Err(wording::impossible_mean(part.ios, kind, part.mean, shortest, longest));
            }
        }
        Ok(())
    }
}

/// The sequential or the random I/Os: their number and mean length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Part {
    pub(crate) is_sequential: bool,
    pub(crate) ios: u64,
    /// In bytes.
    pub(crate) mean: f64,
}

/// Whether a source begins with one of the three words.
fn is_source(source: &str) -> bool {
    ["published", "derived", "assumed"].iter().any(|word| source.starts_with(word))
}

/// Depths with the shares of the I/Os at each: `1`, or `1:93,2:7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Depths {
    shares: Vec<(u32, u32)>,
}

const DEPTH_MAX: u32 = 1024;
const SHARES_MAX: usize = 8;

impl Depths {
    /// Each depth with its weight; at least one, all above zero.
    pub fn shares(&self) -> &[(u32, u32)] {
        &self.shares
    }
}

impl fmt::Display for Depths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(depth, _)] = self.shares[..] {
            return write!(f, "{depth}");
        }
        for (index, (depth, weight)) in self.shares.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{depth}:{weight}")?;
        }
        Ok(())
    }
}

impl FromStr for Depths {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str, max: u32| text.parse().ok().filter(|number| (1..=max).contains(number));
        let share = |part: &str| {
            let (depth, weight) = part.split_once(':').unwrap_or((part, "1"));
            Some((number(depth, DEPTH_MAX)?, number(weight, 1_000_000)?))
        };
        let shares: Option<Vec<(u32, u32)>> = text.split(',').map(share).collect();
        match shares {
            Some(shares) if shares.len() <= SHARES_MAX => Ok(Self { shares }),
            _ => Err(wording::wrong_depth(text, DEPTH_MAX, SHARES_MAX)),
        }
    }
}

serde_as_text!(Depths);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::apps::library::library;

    #[test]
    fn files_read_back_and_mistakes_are_named() {
        let word = library().iter().find(|entry| entry.name == "word").unwrap();
        let text = toml::to_string(&word.application).unwrap();
        assert_eq!(Application::parse(&text).unwrap(), word.application);
        for (from, to, words) in [
            ("value = 152,", "value = 152, doubt = 1,", "doubt"),
            ("value = 107000000", "value = 1", "cannot be made of lengths"),
            ("value = 107000000", "value = 900000000000", "cannot be made of lengths"),
            ("source = \"published\"", "source = \"a friend\"", "begin with published"),
            ("name = \"Microsoft Word\"", "name = \"\"", "name"),
            ("value = \"1\"", "value = \"0\"", "depth"),
        ] {
            assert!(word.text.contains(from), "{from}");
            let error = Application::parse(&word.text.replacen(from, to, 1)).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn what_random_ios_come_to_can_be_separated() {
        let text = include_str!("../../../../apps/filebench-oltp.toml");
        let parts = Application::parse(text).unwrap().writes.unwrap().parts();
        assert_eq!(parts[0], Part { is_sequential: true, ios: 10, mean: 262_144.0 });
        assert_eq!(parts[1], Part { is_sequential: false, ios: 3200, mean: 2048.0 });
    }

    #[test]
    fn depths_read_back_and_nonsense_does_not() {
        for text in ["1", "200", "1:93,2:7"] {
            assert_eq!(text.parse::<Depths>().unwrap().to_string(), text);
        }
        for text in ["", "0", "1:0", "2000", "1,,2", "1:2:3"] {
            assert!(text.parse::<Depths>().unwrap_err().contains("depth"), "{text}");
        }
    }
}
