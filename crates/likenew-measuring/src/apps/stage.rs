//! From an application's published I/O to workloads on a drive.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::region::Region;
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Arrival, Stream, Workload};

use super::application::{Application, Part, Side};
use super::lengths::{Lengths, fit_lengths, size, with_mean};

/// Where applications work: the first half of their zone holds the files that are read and changed in place,
/// the second takes sequential writes. Both are assumed, because no publication says where I/Os went.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    files: Range<u64>,
    new_files: Range<u64>,
    block: u32,
    length_max: u32,
    data: DataClass,
}

/// How much of an application is replayed, and its time limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amount {
    /// Share of its I/Os.
    pub scale: f64,
    /// Time limit, if there is one.
    pub time: Option<Nanos>,
    /// Whether it keeps its recorded think times, if these are known.
    pub thinks: bool,
}

/// Halves of a zone begin on multiples of this.
const STEP: u64 = 1 << 20;

impl Stage {
    /// In this zone of a drive.
    pub fn new(zone: &Range<u64>, geometry: &Geometry, data: DataClass) -> Self {
        let half = (zone.end - zone.start) / 2;
        let middle = zone.start + half - half % STEP.min(half.max(1));
        // A length divides a folder's files if it is a power of two that does.
        let divides = geometry.boundary.map_or(31, |bytes| bytes.trailing_zeros().min(30));
        Self {
            files: zone.start..middle,
            new_files: middle..zone.end,
            block: geometry.block,
            length_max: 1 << divides.min(30),
            data,
        }
    }

    /// The workloads of one pass of an application, one for each of its depths, called `name`; if there are
    /// several, with the depth after a comma. The search for its lengths is slow, so call this once for many
    /// passes.
    pub fn workloads(&self, application: &Application, name: &str, amount: Amount) -> Vec<Workload> {
        let kinds = self.kinds(application, amount.scale);
        let ios: u64 = kinds.iter().map(|kind| kind.ios).sum();
        let per_second = application.duration_s.as_ref().filter(|_| amount.thinks);
        let per_second = per_second.map(|duration| ios as f64 / (duration.value * amount.scale).max(1e-6));
        let shares = application.depth.value.shares();
        let sum: u32 = shares.iter().map(|(_, weight)| weight).sum();
        let mut before = 0;
        let mut workloads = Vec::new();
        for (depth, weight) in shares {
            let (from, to) =
                (f64::from(before) / f64::from(sum), f64::from(before + weight) / f64::from(sum));
            before += weight;
            let dealt =
                |kind: &Kind| (kind.ios as f64 * to).round() as u64 - (kind.ios as f64 * from).round() as u64;
            let streams: Vec<Stream> = kinds
                .iter()
                .filter(|kind| dealt(kind) > 0)
                .map(|kind| kind.stream(dealt(kind), *depth, per_second, self.data))
                .collect();
            let ops: u64 = kinds.iter().map(dealt).sum();
            if ops == 0 {
                continue;
            }
            let of_time = |time: Nanos| Nanos((time.0 as f64 * ops as f64 / ios as f64) as u64).max(Nanos(1));
            let elapsed = amount.time.filter(|_| per_second.is_none()).map(of_time);
            let name = if shares.len() > 1 { format!("{name}, depth {depth}") } else { name.to_owned() };
            workloads.push(Workload::new(name, Until { elapsed, ops: Some(ops), bytes: None }, streams));
        }
        workloads
    }

    /// The kinds of I/O that occur in this share of the application; at least the most frequent one.
    fn kinds(&self, application: &Application, scale: f64) -> Vec<Kind> {
        let of = |op: Op, side: &Option<Side>| -> Vec<(f64, Kind)> {
            let Some(side) = side else { return Vec::new() };
            side.parts().into_iter().map(|part| self.kind(op, side, part, scale)).collect()
        };
        let kinds = [of(Op::Read, &application.reads), of(Op::Write, &application.writes)].concat();
        let most = kinds.iter().map(|(ios, _)| *ios).fold(0.0, f64::max);
        let whole = |(ios, mut kind): (f64, Kind)| {
            let least = u64::from(ios >= most);
            kind.ios = (ios.round() as u64).clamp(least, u64::from(u32::MAX) >> 1);
            (kind.ios > 0).then_some(kind)
        };
        kinds.into_iter().filter_map(whole).collect()
    }

    /// One kind, and its number of I/Os.
    fn kind(&self, op: Op, side: &Side, part: Part, scale: f64) -> (f64, Kind) {
        let lengths = with_mean(&side.lengths.value, part.mean);
        let (lengths, pieces) = fit_lengths(&lengths, self.length_max, self.block);
        let pattern = match (op, part.is_sequential) {
            (Op::Write, true) => AccessPattern::Sequential(Region::bytes(self.new_files.clone())),
            (_, true) => AccessPattern::Sequential(Region::bytes(self.files.clone())),
            (_, false) => AccessPattern::Random(Region::bytes(self.files.clone())),
        };
        (part.ios as f64 * pieces * scale, Kind { op, ios: 0, lengths, pattern })
    }
}

/// One of the four kinds of I/O of an application.
#[derive(Clone)]
struct Kind {
    op: Op,
    ios: u64,
    lengths: Lengths,
    pattern: AccessPattern,
}

impl Kind {
    fn stream(&self, ios: u64, depth: u32, per_second: Option<f64>, data: DataClass) -> Stream {
        let weight = u32::try_from(ios).expect("counts are bounded");
        let arrival = Arrival::Interleaved { weight, depth, per_second };
        Stream { op: Mix::Only(self.op), size: size(&self.lengths), pattern: self.pattern, arrival, data }
    }
}
