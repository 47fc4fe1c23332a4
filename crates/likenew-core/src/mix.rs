//! Which operations a stream does, in which shares.

use std::fmt;
use std::str::FromStr;

use crate::io::Op;
use crate::serde_as_text;
use crate::wording;

/// `read`, `write`, `trim`, `flush`, or `mix:70`: 70 % reads, the rest writes, drawn afresh for each I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// One operation only.
    Only(Op),
    /// Reads in this percentage, `1 ..= 99`; writes otherwise.
    Reads(u8),
}

impl Mix {
    /// Whether any of it changes what the drive holds.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Only(Op::Read | Op::Flush))
    }

    /// Each operation with its share of the I/Os.
    pub fn shares(self) -> Vec<(Op, f64)> {
        match self {
            Self::Only(op) => vec![(op, 1.0)],
            Self::Reads(percent) => {
                let reads = f64::from(percent) / 100.0;
                vec![(Op::Read, reads), (Op::Write, 1.0 - reads)]
            }
        }
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Only(op) => f.write_str(op.name()),
            Self::Reads(percent) => write!(f, "mix:{percent}"),
        }
    }
}

impl FromStr for Mix {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "read" => Ok(Self::Only(Op::Read)),
            "write" => Ok(Self::Only(Op::Write)),
            "trim" => Ok(Self::Only(Op::Trim)),
            "flush" => Ok(Self::Only(Op::Flush)),
            _ => match text.strip_prefix("mix:").and_then(|percent| percent.parse().ok()) {
                Some(0) => Ok(Self::Only(Op::Write)),
                Some(100) => Ok(Self::Only(Op::Read)),
                Some(percent @ 1..=99) => Ok(Self::Reads(percent)),
                _ => Err(wording::not_an_operation(text)),
            },
        }
    }
}

serde_as_text!(Mix);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixes_read_back_and_nonsense_does_not() {
        for text in ["read", "write", "trim", "flush", "mix:70"] {
            assert_eq!(text.parse::<Mix>().unwrap().to_string(), text);
        }
        assert_eq!("mix:100".parse::<Mix>().unwrap(), Mix::Only(Op::Read));
        for text in ["", "mix", "mix:", "mix:101", "mix:-1", "erase"] {
            assert!(text.parse::<Mix>().is_err(), "{text}");
        }
    }
}
