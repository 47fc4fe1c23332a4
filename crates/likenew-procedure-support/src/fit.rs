//! Options of procedures. One struct holds what a user types, with help and defaults, and what a plan keeps; options
//! that depend on the target are fitted to it.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command};
use likenew_core::io::Op;
use likenew_core::procedure::Descriptor;
use likenew_core::workload::Mix;
use serde::Serialize;
use serde::de::DeserializeOwned;
use strum::VariantArray;

use crate::wording;

/// The options of a procedure. The names of the fields are the keys of its plan.
pub trait Options: Args + Clone + Serialize + DeserializeOwned {
    /// The procedure of these options.
    const DESCRIPTOR: &'static Descriptor;

    /// Whether every run writes.
    const WRITES: bool = false;

    /// Whether the run has to write, and so needs a folder or a drive whose owner agreed.
    fn writes(&self, _is_chosen: &dyn Fn(&str) -> bool) -> bool {
        Self::WRITES
    }

    /// Whether each run on a real drive needs its own seed, so that its data is not mistaken for an earlier run's.
    fn needs_new_seed(&self) -> bool {
        false
    }

    /// Adapts the options that the user did not choose to the target.
    ///
    /// # Errors
    /// An option that the user chose does not fit the target.
    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit>;
}

/// The options of an empty command line.
pub fn defaults<O: Args>() -> O {
    typed([])
}

/// Parses a command line that is known to be valid.
pub fn typed<O: Args, const WORDS: usize>(words: [&str; WORDS]) -> O {
    // An option may require --seed, which every command has.
    let command = Command::new("likenew").no_binary_name(true).arg(Arg::new("seed").long("seed"));
    let grammar = O::augment_args(command);
    let matches =
        grammar.try_get_matches_from(words).expect("these are options, and no others have to be chosen");
    O::from_arg_matches(&matches).expect("a value is what its option takes")
}

/// The options that differ from `defaults`, as a command line, in order of declaration.
pub fn arguments<O: Options>(options: &O, defaults: &O) -> String {
    let (options, defaults) = (table(options), table(defaults));
    let grammar = O::augment_args(Command::new("likenew"));
    let chosen = grammar.get_arguments().filter_map(|argument| {
        let (name, key) = (argument.get_long()?, argument.get_id().as_str());
        let value = options.get(key).filter(|value| defaults.get(key) != Some(*value))?;
        let text = match value {
            toml::Value::Boolean(is_on) if argument.get_action().takes_values() => {
                if *is_on { "on" } else { "off" }.into()
            }
            toml::Value::Boolean(is_set) => return is_set.then(|| format!("--{name}")),
            toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
            value => plain(value),
        };
        Some(format!("--{name} {text}"))
    });
    chosen.collect::<Vec<_>>().join(" ")
}

fn table(options: &impl Serialize) -> toml::Table {
    toml::Table::try_from(options).expect("options are plain values")
}

fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Why options do not fit a target.
#[derive(Clone, Debug, PartialEq)]
pub enum Unfit {
    /// For the reason in this sentence.
    Because(String),
    /// The size of the target is unknown.
    UnknownSize,
    /// The run would write, and the target's owner has not agreed.
    ReadOnly,
}

impl From<String> for Unfit {
    fn from(sentence: String) -> Self {
        Self::Because(sentence)
    }
}

/// The properties of a target that options depend on, and which options the user chose.
pub struct Fitting<'a> {
    /// Bytes that may be used; `None` if unknown.
    pub usable_bytes: Option<u64>,
    /// Whether it is a folder, in which temporary files are measured.
    pub is_folder: bool,
    /// Whether it may be written to.
    pub is_writable: bool,
    /// Whether it is measured in wall time, as real drives are.
    pub is_real: bool,
    /// Whether the user chose the option of this key.
    pub is_chosen: &'a dyn Fn(&str) -> bool,
    /// Notes to show to the user.
    pub notes: Vec<&'static str>,
}

impl Fitting<'_> {
    /// Bytes that may be used.
    ///
    /// # Errors
    /// The size is unknown.
    pub fn usable(&self) -> Result<u64, Unfit> {
        self.usable_bytes.ok_or(Unfit::UnknownSize)
    }

    /// The options that the user chose, and `base` for the rest.
    pub fn chosen_over<O: Options>(&self, options: &O, base: O) -> O {
        let mut table = table(&base);
        table.extend(self::table(options).into_iter().filter(|(key, _)| (self.is_chosen)(key)));
        O::deserialize(table).expect("both are options")
    }

    /// Decides the operations: those that the user chose, by either option; on a read-only target, reads by default.
    ///
    /// # Errors
    /// The user chose writes, and the target is read-only.
    pub fn ops(&mut self, ops: &mut Vec<Mix>, rwmixread: Option<Mix>) -> Result<(), Unfit> {
        if let Some(mix) = rwmixread {
            *ops = vec![mix];
        }
        if self.is_writable || !ops.iter().any(|op| op.writes()) {
            return Ok(());
        }
        if rwmixread.is_some() || (self.is_chosen)("ops") {
            return Err(Unfit::ReadOnly);
        }
        self.note_reads_only();
        *ops = vec![Mix::Only(Op::Read)];
        Ok(())
    }

    /// Notes for the user that nothing is written.
    pub fn note_reads_only(&mut self) {
        self.notes.push(wording::READS_ONLY);
    }

    /// Decides the span: the one that the user chose; by default less on a smaller target, in multiples of `step`.
    ///
    /// # Errors
    /// The target is smaller than one step.
    pub fn span(&self, span: &mut u64, step: u64) -> Result<(), Unfit> {
        if (self.is_chosen)("span") {
            return Ok(());
        }
        let usable = self.usable()?;
        *span = (*span).min(usable - usable % step);
        if *span == 0 {
            return Err(wording::span_does_not_fit(usable, step).into());
        }
        Ok(())
    }
}

/// Values of one option, typed as one list: `4k,1M..8M`.
pub type List<T> = Vec<T>;

/// A value that a range such as `1M..8M` can double.
pub trait Doubling: FromStr + Copy + PartialOrd {
    /// Twice the value, if that exists.
    fn double(self) -> Option<Self>;

    /// The error for an invalid text.
    fn refusal(text: &str, error: Self::Err) -> String;
}

impl Doubling for u32 {
    fn double(self) -> Option<Self> {
        self.checked_mul(2).filter(|twice| *twice > 0)
    }

    fn refusal(text: &str, _: Self::Err) -> String {
        wording::not_a_whole_number(text)
    }
}

/// Parses a list in which `1..8` stands for 1 and its doublings up to 8.
///
/// # Errors
/// A sentence that names what is wrong.
pub fn doublings<T: Doubling>(text: &str) -> Result<List<T>, String> {
    let parts: Result<Vec<List<T>>, String> = text.split(',').map(doublings_of_part).collect();
    parts.map(|parts| parts.concat())
}

fn doublings_of_part<T: Doubling>(text: &str) -> Result<Vec<T>, String> {
    let value = |part: &str| part.trim().parse::<T>().map_err(|error| T::refusal(part, error));
    let Some((first, last)) = text.split_once("..") else { return Ok(vec![value(text)?]) };
    let end = |part| value(part).map_err(|reason| wording::in_range(text, &reason));
    let (first, last) = (end(first)?, end(last)?);
    if last < first {
        return Err(wording::range_backwards(text));
    }
    let up_to_last = |value: &T| *value <= last;
    Ok(std::iter::successors(Some(first), |value| value.double().filter(up_to_last)).collect())
}

/// Parses `on` or `off`.
pub fn on_or_off() -> impl TypedValueParser<Value = bool> {
    PossibleValuesParser::new(["on", "off"]).map(|text| text == "on")
}

/// Size of the files that fill a folder, in whole MiB: about a thousand files, because all of them stay open.
pub fn file_size_to_fill(span: u64) -> u64 {
    const FILES: u64 = 1000;
    const STEP: u64 = 1 << 20;
    let each = span / FILES;
    (each - each % STEP).max(STEP)
}

/// A mix by its percentage of reads, as in fio's rwmixread.
///
/// # Errors
/// A sentence, if it is not a percentage.
pub fn mix_of_reads(percent: &str) -> Result<Mix, String> {
    let mix = format!("mix:{}", percent.trim_end_matches('%')).parse();
    mix.map_err(|_: String| wording::not_a_percentage(percent))
}

/// The profile or preset of this name.
///
/// # Errors
/// A sentence with the known names.
pub fn by_name<T: VariantArray + Copy + Into<&'static str>>(text: &str) -> Result<T, String> {
    let names: Vec<&str> = T::VARIANTS.iter().map(|profile| (*profile).into()).collect();
    let known = names.iter().position(|name| *name == text);
    known.map(|at| T::VARIANTS[at]).ok_or_else(|| wording::no_such_profile(text, &names))
}

/// Parses a number within limits, which the error names.
pub fn number(least: f64, most: f64) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| wording::number_outside(least, most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_doublings_up_to_their_end() {
        let depths = |text: &str| doublings::<u32>(text);
        assert_eq!(depths("32"), Ok(vec![32]));
        assert_eq!(depths("3,1..8"), Ok(vec![3, 1, 2, 4, 8]));
        assert_eq!(depths("3..10"), Ok(vec![3, 6]));
        assert_eq!(depths("4294967295..4294967295"), Ok(vec![u32::MAX]));
        assert_eq!(depths("0..4"), Ok(vec![0]), "it is the procedure that refuses a depth of 0");
        for text in ["", "..", "1..", "..4", "8..1", "1...4", "a", "-1", "1..2..4", "1,,2"] {
            assert!(depths(text).is_err(), "{text}");
        }
    }
}
