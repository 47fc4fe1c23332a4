//! One point of a curve: operation, length, addresses and queue depth.

use std::fmt;
use std::str::FromStr;

use likenew_core::io::Op;
use likenew_core::units::{exact_size, parse_size};

/// The requests of one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Point {
    /// Read or write.
    pub(super) op: Op,
    pub(super) pattern: PointPattern,
    /// Bytes of one request.
    pub(super) bytes: u64,
    /// Requests in flight.
    pub(super) depth: u32,
}

/// Where the requests of a point go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum PointPattern {
    /// One after the other.
    Sequential,
    /// Starts are random multiples of the block.
    Random,
    /// Starts are random multiples of the request's own length.
    Aligned,
}

/// The curve that a point belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Curve {
    /// Random requests at QD1, by length.
    Random(Op),
    /// Sequential requests at QD1, by length.
    Sequential(Op),
    /// Small random requests, by queue depth.
    Depth(Op),
}

impl Point {
    /// Whether the point belongs to a curve. Aligned writes belong to the same curve as unaligned ones.
    pub(super) fn is_on(&self, curve: Curve, small: u64) -> bool {
        match curve {
            Curve::Random(op) => self.op == op && self.pattern != PointPattern::Sequential && self.depth == 1,
            Curve::Sequential(op) => self.op == op && self.pattern == PointPattern::Sequential,
            Curve::Depth(op) => self.op == op && self.pattern == PointPattern::Random && self.bytes == small,
        }
    }
}

impl Curve {
    /// The key in tables and charts.
    pub(super) fn pattern(self) -> &'static str {
        match self {
            Self::Random(_) => "random",
            Self::Sequential(_) => "sequential",
            Self::Depth(_) => "depth",
        }
    }

    pub(super) fn op(self) -> Op {
        match self {
            Self::Random(op) | Self::Sequential(op) | Self::Depth(op) => op,
        }
    }
}

impl fmt::Display for PointPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
            Self::Aligned => "aligned",
        })
    }
}

impl FromStr for PointPattern {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        [Self::Sequential, Self::Random, Self::Aligned]
            .into_iter()
            .find(|pattern| pattern.to_string() == text)
            .ok_or(())
    }
}

/// The name of a visit, by which a run folder is searched for it: `random write 32MiB Q1 #2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VisitName {
    pub(super) point: Point,
    /// From 1 on.
    pub(super) visit: u32,
}

impl fmt::Display for VisitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Point { op, pattern, bytes, depth } = self.point;
        write!(f, "{pattern} {op} {} Q{depth} #{}", exact_size(bytes), self.visit)
    }
}

impl FromStr for VisitName {
    type Err = ();

    /// Any other name is not a visit.
    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or(());
        let pattern = word()?.parse()?;
        let op = match word()? {
            "read" => Op::Read,
            "write" => Op::Write,
            _ => return Err(()),
        };
        let bytes = parse_size(word()?).map_err(|_| ())?;
        let depth = word()?.strip_prefix('Q').and_then(|depth| depth.parse().ok()).ok_or(())?;
        let visit = word()?.strip_prefix('#').and_then(|visit| visit.parse().ok()).ok_or(())?;
        let name = Self { point: Point { op, pattern, bytes, depth }, visit };
        (name.to_string() == text).then_some(name).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_are_no_visits() {
        for op in [Op::Read, Op::Write] {
            for pattern in [PointPattern::Sequential, PointPattern::Random, PointPattern::Aligned] {
                for (bytes, depth, visit) in [(512, 1, 1), (3 << 20, 64, 12), (512 << 20, 1, 2)] {
                    let name = VisitName { point: Point { op, pattern, bytes, depth }, visit };
                    assert_eq!(name.to_string().parse(), Ok(name), "{name}");
                }
            }
        }
        for text in [
            "",
            "prepare",
            "burst 64KiB #1",
            "random write 32MiB Q1",
            "random trim 4KiB Q1 #1",
            "random read 1024KiB Q1 #1",
        ] {
            assert_eq!(text.parse::<VisitName>(), Err(()), "{text}");
        }
    }
}
