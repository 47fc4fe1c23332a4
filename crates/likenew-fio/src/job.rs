//! Names of jobs in a job file, by which results are matched again.
//!
//! fio cuts a line at `;` and `#`, takes sections named `global…` for settings, and keeps 255 bytes of a name (`init.c`,
//! `parse.c`). Exported names are therefore percent-encoded. A description marks exported jobs; names of other jobs stay
//! as they are.

use std::borrow::Cow;

use percent_encoding::{percent_decode_str, percent_encode_byte};

/// Bytes of a name; fio cuts longer ones.
pub(crate) const NAME_BYTES_MAX: usize = 250;

/// A workload's name as the name of a section.
pub(crate) fn encode(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    let global = name.starts_with("global");
    for (index, character) in name.char_indices() {
        let special = matches!(character, '%' | ';' | '#' | '[' | ']' | '"' | '\\') || character.is_control();
        if special || (index == 0 && global) {
            out.extend(character.encode_utf8(&mut [0; 4]).bytes().map(percent_encode_byte));
        } else {
            out.push(character);
        }
    }
    out
}

/// The name behind an encoded one. Any other text stays as it is.
pub(crate) fn decode(name: &str) -> String {
    percent_decode_str(name).decode_utf8().map_or_else(|_| name.to_owned(), Cow::into_owned)
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
}
