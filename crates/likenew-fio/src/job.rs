//! Names of jobs in a job file, by which results are matched again, and what fio's options mean for a workload.
//!
//! fio cuts a line at `;` and `#`, takes sections named `global…` for settings, and keeps 255 bytes of a name (`init.c`,
//! `parse.c`). Exported names are therefore percent-encoded. A description marks exported jobs; names of other jobs stay
//! as they are.

use std::fmt::Write as _;

/// Bytes of a name; fio cuts longer ones.
pub(crate) const NAME_BYTES_MAX: usize = 250;

/// A workload's name as the name of a section.
pub(crate) fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let global = name.starts_with("global");
    for (index, character) in name.chars().enumerate() {
        let special = matches!(character, '%' | ';' | '#' | '[' | ']' | '"' | '\\') || character.is_control();
        if special || (index == 0 && global) {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                write!(out, "%{byte:02X}").expect("text can be written to");
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// The name behind an encoded one. Any other text stays as it is.
pub(crate) fn decode(name: &str) -> String {
    let (mut out, mut rest) = (Vec::with_capacity(name.len()), name.as_bytes());
    while let Some((&byte, tail)) = rest.split_first() {
        let spelled = tail.get(..2).filter(|_| byte == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        if let Some(value) = spelled.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            out.push(value);
            rest = &tail[2..];
        } else {
            out.push(byte);
            rest = tail;
        }
    }
    String::from_utf8(out).unwrap_or_else(|_| name.to_owned())
}

/// Which stream of which workload a job is, as its description says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    /// Number of the workload, from 1.
    pub(crate) workload: usize,
    /// Number of the stream, from 1; 0 for a rest.
    pub(crate) stream: usize,
}

impl Part {
    /// The description of such a job.
    pub(crate) fn describe(self) -> String {
        match self.stream {
            0 => format!("likenew workload {} rest", self.workload),
            stream => format!("likenew workload {} stream {stream}", self.workload),
        }
    }

    /// Reads a description; `None` if it is not from an export.
    pub(crate) fn read(description: &str) -> Option<Self> {
        let (workload, part) = description.strip_prefix("likenew workload ")?.split_once(' ')?;
        let workload = workload.parse().ok()?;
        let stream = match part.strip_prefix("stream ") {
            Some(number) => number.parse().ok().filter(|number| *number > 0)?,
            None if part == "rest" => 0,
            None => return None,
        };
        Some(Self { workload, stream })
    }
}

/// Every option of fio 3.33. Options outside of these lists, such as those of engines, count as changing.
///
/// Lists by name: `expressed` by a workload; `neutral`, as they only concern files, random addresses, reports and logs;
/// `changing` what the drive is asked for, unless they have the value given with them; `aliases`; and `engines` that do
/// the I/O of a job and nothing else.
const LISTS: &str = include_str!("job_options.txt");

fn list(name: &str) -> impl Iterator<Item = &'static str> {
    let list = LISTS.split('[').find_map(|list| list.strip_prefix(name)?.strip_prefix(']'));
    list.expect("the file has this list").split_whitespace()
}

/// fio's canonical name of an option.
pub(crate) fn canonical(option: &str) -> &str {
    let mut aliases = list("aliases").filter_map(|pair| pair.split_once('='));
    aliases.find(|(alias, _)| *alias == option).map_or(option, |(_, name)| name)
}

/// Whether an option changes the drive's work in a way that no workload expresses.
pub(crate) fn is_changing(option: &str, value: &str) -> bool {
    let mut known = list("expressed").chain(list("neutral"));
    let mut harmless = list("changing").filter_map(|pair| pair.split_once('='));
    let does_nothing =
        |(name, off): (&str, &str)| name == option && (value == off || (off, value) == ("none", "0"));
    known.all(|known| known != option) && !harmless.any(does_nothing)
}

/// Whether an engine only reads and writes.
pub(crate) fn is_plain_engine(engine: &str) -> bool {
    list("engines").any(|known| known == engine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_fio_would_cut_are_spelled() {
        assert_eq!(encode("SEQ1M Q8T1 read 1/5"), "SEQ1M Q8T1 read 1/5");
        assert_eq!(encode("a #2; b"), "a %232%3B b");
        assert_eq!(encode("global fill"), "%67lobal fill");
        assert_eq!(decode("100% of %zz"), "100% of %zz");
    }

    proptest! {
        #[test]
        fn names_read_back(name in any::<String>()) {
            let encoded = encode(&name);
            prop_assert!(!encoded.contains([';', '#', '\n', '\r', '[', ']']) && !encoded.starts_with("global"));
            prop_assert_eq!(decode(&encoded), name);
        }

        #[test]
        fn parts_read_back(workload in 1usize..9999, stream in 0usize..99) {
            let part = Part { workload, stream };
            prop_assert_eq!(Part::read(&part.describe()), Some(part));
        }

        #[test]
        fn no_name_panics(name in "(%[0-9a-fA-F%é]{0,3}|.){0,9}") {
            decode(&name);
            Part::read(&name);
        }
    }

    /// Canonical names of the options that the installed fio lists, without continuations of long lines.
    fn listed() -> Vec<String> {
        let out = std::process::Command::new("fio").arg("--cmdhelp").output().expect("fio is installed");
        let text = String::from_utf8(out.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_once(':')?.0.split_whitespace().next());
        names.map(str::to_owned).collect()
    }

    #[test]
    fn every_option_of_fio_is_in_one_list() {
        let lists = ["expressed", "neutral", "changing"].map(|name| {
            list(name).map(|entry| entry.split('=').next().unwrap_or_default()).collect::<Vec<_>>()
        });
        let listed = listed();
        assert!(listed.len() > 200, "{listed:?}");
        for option in &listed {
            let count = lists.iter().flatten().filter(|name| *name == option).count();
            assert_eq!(count, 1, "{option}");
        }
        for pair in list("aliases") {
            let (alias, option) = pair.split_once('=').unwrap();
            assert!(listed.iter().any(|name| name == option) && canonical(alias) == option, "{pair}");
        }
    }

    #[test]
    fn only_what_changes_the_work_is_named() {
        for (option, value, is_named) in [
            ("bs", "4k", false),
            ("write_lat_log", "out", false),
            ("thinktime", "0", false),
            ("thinktime", "5us", true),
            ("continue_on_error", "0", false),
            ("sync_file_range", "write:8", true),
            ("cpus_allowed", "0", true),
            ("random_generator", "lfsr", true),
            ("fixedbufs", "1", true),
            ("an_option_to_come", "1", true),
        ] {
            assert_eq!(is_changing(option, value), is_named, "{option}={value}");
        }
    }
}
