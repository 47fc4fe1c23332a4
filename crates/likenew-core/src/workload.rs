//! Workloads as pure data: operations, sizes, addresses, pace and end.

use crate::region::Region;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::io::{DataClass, Durability, Op};
use crate::stamp::SECTOR;
use crate::target::Geometry;
use crate::trace::ReplaySpec;
use crate::units::{Nanos, duration_text, exact_size, parse_size, size_text};
use crate::{is_default, serde_as_text, wording};

/// Streams of I/O that run side by side until a bound is reached, or a recording. With neither, the drive rests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Its name in reports, such as `RND4K Q32T1 read #2`.
    pub name: String,
    /// Copies of every stream, each on its own thread where the drive has lanes for them.
    #[serde(default = "default_one")]
    pub lanes: u32,
    /// When it ends.
    pub until: Until,
    /// The seed of its randomness.
    #[serde(default)]
    pub seed: u64,
    /// How many of its first I/Os are kept one by one, in [`crate::segment::Segment::samples`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub samples: u32,
    /// First width of its windows over bytes, which doubles while there are too many windows
    /// ([`crate::segment::Windows`]); 1 GiB if not set.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub window: Option<u64>,
    /// Whether its I/Os go past the page cache, through it, or nowhere.
    #[serde(default, skip_serializing_if = "is_default")]
    pub access: Access,
    /// Whether it reads the owner's old files, as [`Probe::OldFiles`](crate::probe::Probe::OldFiles) has
    /// found them, at addresses of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub old_files: bool,
    /// Whether our own files are made durable and dropped from the page cache before its time counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// Whether it ends with a flush on every lane, whose time counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flush: bool,
    /// A recording instead of streams. The workload ends with the recording, if no bound is reached before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_spec: Option<Box<ReplaySpec>>,
    /// The streams that run side by side.
    #[serde(default, rename = "stream")]
    pub streams: Vec<Stream>,
}

/// One kind of I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Its operations.
    pub op: Mix,
    /// The lengths of its I/Os.
    pub size: Size,
    /// Their addresses.
    pub pattern: AccessPattern,
    /// When they leave.
    pub arrival: Arrival,
    /// The data class of writes; if stamped, also what reads expect.
    #[serde(default = "random")]
    pub data: DataClass,
    /// After how many of its writes each copy flushes (fdatasync(2)); the flush is in flight alone. 0 for
    /// never.
    #[serde(default, skip_serializing_if = "is_default")]
    pub flush_every: u32,
    /// The same for fsync(2), which also makes all metadata of a file durable. Where both are due, fsync is done.
    #[serde(default, skip_serializing_if = "is_default")]
    pub fsync_every: u32,
    /// What each write makes durable by its end, as with `O_DSYNC` or `O_SYNC`; nothing if not set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Durability>,
}

/// When the I/Os of a stream leave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Arrival {
    /// The next I/O leaves as soon as fewer than `depth` are in flight.
    Closed {
        /// I/Os in flight.
        depth: u32,
    },
    /// I/Os are due at a rate, whatever the drive does. If `depth_max` are in flight, an I/O leaves late, and
    /// its latency counts from when it was due.
    Open {
        /// Mean rate of arrivals, per second and copy of the stream.
        per_second: f64,
        /// How arrivals are spaced.
        #[serde(default)]
        inter_arrival: InterArrival,
        /// Most I/Os in flight.
        depth_max: u32,
    },
    /// Streams with this arrival take turns. A shuffled deck with `weight` cards of each stream decides which
    /// stream has the next I/O. So their proportions hold whatever the drive does, and after one deck each
    /// stream has had exactly its `weight`. All of them have the same `depth` and rate.
    Interleaved {
        /// Cards of this stream in the deck.
        weight: u32,
        /// Most I/Os of all these streams in flight.
        depth: u32,
        /// Mean rate of arrivals of all these streams together, as a Poisson process, per second and copy.
        /// Without a rate, the next I/O leaves as soon as fewer than `depth` are in flight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_second: Option<f64>,
    },
}

/// How the arrivals at a rate are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterArrival {
    /// At equal distances.
    #[default]
    Even,
    /// As a Poisson process: distances are exponentially distributed.
    Poisson,
}

impl Arrival {
    /// Most I/Os in flight; for streams that take turns, of all of them together.
    pub fn depth(&self) -> u32 {
        match self {
            Self::Closed { depth } | Self::Interleaved { depth, .. } => *depth,
            Self::Open { depth_max, .. } => *depth_max,
        }
    }

    /// The depth and rate that streams that take turns share; `None` for others.
    fn interleaving(&self) -> Option<(u32, Option<f64>)> {
        match self {
            Self::Interleaved { depth, per_second, .. } => Some((*depth, *per_second)),
            Self::Closed { .. } | Self::Open { .. } => None,
        }
    }

    /// Its own mean rate of arrivals, per second and copy.
    fn rate(&self) -> Option<f64> {
        match self {
            Self::Closed { .. } => None,
            Self::Open { per_second, .. } => Some(*per_second),
            Self::Interleaved { per_second, .. } => *per_second,
        }
    }
}

fn default_one() -> u32 {
    1
}

fn random() -> DataClass {
    DataClass::Random
}

/// Most I/Os in flight, over all streams and lanes.
pub const DEPTH_LIMIT: u64 = 4096;
/// Most I/Os that are kept one by one. A run that needs more can write a file of all samples.
pub const SAMPLES_MAX: u32 = 65_536;

impl Workload {
    /// Streams that run side by side on one lane until a bound is reached; its seed is set later.
    pub fn new(name: impl Into<String>, until: Until, streams: Vec<Stream>) -> Self {
        Self {
            name: name.into(),
            lanes: 1,
            until,
            seed: 0,
            samples: 0,
            window: None,
            access: Access::Direct,
            old_files: false,
            cold: false,
            flush: false,
            replay_spec: None,
            streams,
        }
    }

    /// Leaves the drive idle for `span`.
    pub fn rest(span: Nanos) -> Self {
        Self::new("rest", Until::elapsed(span), Vec::new())
    }

    /// Whether any stream changes what the drive holds.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(|stream| stream.op.writes())
            || self.replay_spec.as_deref().is_some_and(ReplaySpec::writes)
    }

    /// Most bytes that it writes to the drive; `None` where only its time ends it.
    pub fn bytes_written_max(&self) -> Option<u64> {
        if !self.reaches_drive() {
            return Some(0);
        }
        if let Some(replay_spec) = &self.replay_spec {
            return replay_spec.bytes_written_max();
        }
        if !self.streams.iter().any(Stream::has_writes) {
            return Some(0);
        }
        let longest = self.streams.iter().map(|stream| u64::from(stream.size.max())).max().unwrap_or(0);
        let by_ops = self.until.ops.map(|ops| ops.saturating_mul(longest));
        self.until.bytes.into_iter().chain(by_ops).min()
    }

    /// Whether a stream makes its writes durable before the workload ends.
    pub fn has_flushes(&self) -> bool {
        self.streams.iter().any(|stream| stream.flush_every > 0 || stream.fsync_every > 0)
    }

    /// Whether any of its writes is made durable, before or at its end.
    pub fn makes_durable(&self) -> bool {
        self.flush || self.has_flushes() || self.streams.iter().any(|stream| stream.sync.is_some())
    }

    /// What it does to the drive, in words: `4K random reads at QD32`.
    pub fn activity(&self) -> String {
        if self.replay_spec.is_some() {
            return wording::REPLAY.into();
        }
        if self.is_rest() {
            return self.until.elapsed.map_or(wording::REST.into(), wording::rest);
        }
        let mut kinds = Vec::new();
        for stream in &self.streams {
            let kind = stream.activity(self.lanes);
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        wording::side_by_side(&kinds)
    }

    /// Whether it leaves the drive alone.
    pub fn is_rest(&self) -> bool {
        self.streams.is_empty() && self.replay_spec.is_none()
    }

    /// How many streams its samples may have.
    pub fn stream_count(&self) -> usize {
        self.replay_spec.as_deref().map_or(self.streams.len(), ReplaySpec::streams)
    }

    /// Whether its I/Os are meant to reach the drive, even if memory answers many of them.
    pub fn reaches_drive(&self) -> bool {
        self.access != Access::Null
    }

    /// Whether any stream writes or reads stamped data.
    pub fn is_stamped(&self) -> bool {
        self.streams.iter().any(|stream| matches!(stream.data, DataClass::Stamped(_)))
    }

    /// Whether any stream reads stamped data, so that what it reads is checked.
    pub fn checks_stamps(&self) -> bool {
        let reads = |stream: &Stream| matches!(stream.op, Mix::Only(Op::Read) | Mix::Reads(_));
        self.streams.iter().any(|stream| reads(stream) && matches!(stream.data, DataClass::Stamped(_)))
    }

    /// Most I/Os in flight, over all streams of one lane.
    pub fn depth(&self) -> u32 {
        let depth = self.depth_of_all();
        u32::try_from(depth).expect("a workload is checked before it runs")
    }

    /// Most I/Os in flight on one lane, where streams that take turns share one depth.
    fn depth_of_all(&self) -> u64 {
        let turns = self.streams.iter().find_map(|stream| stream.arrival.interleaving());
        let alone = self.streams.iter().filter(|stream| stream.arrival.interleaving().is_none());
        alone.map(|stream| u64::from(stream.arrival.depth())).sum::<u64>()
            + turns.map_or(0, |(depth, _)| depth.into())
            + self.replay_spec.as_deref().map_or(0, |replay_spec| replay_spec.depth.into())
    }

    /// The share of I/Os that each stream has, as far as arrivals decide it: by weight for streams that take
    /// turns, equal for others.
    pub fn stream_shares(&self) -> Vec<f64> {
        let weight = |stream: &Stream| match stream.arrival {
            Arrival::Interleaved { weight, .. } => Some(f64::from(weight)),
            Arrival::Closed { .. } | Arrival::Open { .. } => None,
        };
        let weights: Vec<f64> = self.streams.iter().filter_map(weight).collect();
        let (turns, streams) = (weights.len() as f64, self.streams.len() as f64);
        let each = turns / weights.iter().sum::<f64>();
        self.streams
            .iter()
            .map(|stream| weight(stream).map_or(1.0, |weight| weight * each) / streams)
            .collect()
    }

    /// The longest read or write in bytes; 0 for a rest.
    pub fn length_max(&self) -> u32 {
        let streams = self.streams.iter().map(|stream| stream.size.max()).max().unwrap_or(0);
        streams.max(self.replay_spec.as_deref().map_or(0, |replay_spec| replay_spec.length_max as u32))
    }

    /// Checks that it can run on a drive of this geometry.
    ///
    /// # Errors
    /// A sentence that names the workload, what does not fit, and what would.
    pub fn check(&self, geometry: &Geometry) -> Result<(), String> {
        self.check_on(geometry).map_err(|reason| format!("workload \"{}\": {reason}", self.name))
    }

    fn check_on(&self, geometry: &Geometry) -> Result<(), WorkloadError> {
        self.check_alone()?;
        self.streams.iter().try_for_each(|stream| stream.check(geometry, self.lanes))?;
        self.replay_spec.as_deref().map_or(Ok(()), |replay_spec| replay_spec.check(geometry))
    }

    /// Checks that its totals fit into 64 bits, with room for the sums of many workloads.
    fn check_amounts(&self) -> Result<(), WorkloadError> {
        const MOST: u64 = 1 << 56;
        let Until { ops, bytes, .. } = self.until;
        for (key, bytes) in [("until.bytes", bytes), ("window", self.window)] {
            if let Some(bytes) = bytes.filter(|bytes| *bytes > MOST) {
                return Err(WorkloadError::TooManyBytes { key, bytes });
            }
        }
        let length = u64::from(self.length_max()).max(1);
        if let Some(ops) = ops.filter(|ops| *ops > MOST / length) {
            return Err(WorkloadError::TooManyIos { ops, length, most: MOST / length });
        }
        Ok(())
    }

    fn check_alone(&self) -> Result<(), WorkloadError> {
        let Until { elapsed, ops, bytes } = self.until;
        if self.replay_spec.is_some() {
            // A replay is alone on one lane: one clock has to see when everything leaves and ends.
            WorkloadError::RecordingWithStreams.when(self.lanes != 1 || !self.streams.is_empty())?;
            WorkloadError::RecordingWithoutDepth.when(self.depth() == 0)?;
        } else if elapsed.is_none() && (self.streams.is_empty() || (ops.is_none() && bytes.is_none())) {
            return Err(WorkloadError::Endless);
        }
        self.check_amounts()?;
        WorkloadError::LanesOrStreams.when(self.lanes == 0 || self.streams.len() > usize::from(u16::MAX))?;
        WorkloadError::RestWithIos.when(self.is_rest() && (self.flush || !self.access.is_direct()))?;
        WorkloadError::TooManySamples { samples: self.samples, most: SAMPLES_MAX }
            .when(self.samples > SAMPLES_MAX)?;
        WorkloadError::EmptyWindow.when(self.window == Some(0))?;
        let depth = u64::from(self.lanes).saturating_mul(self.depth_of_all());
        WorkloadError::TooDeep { depth, most: DEPTH_LIMIT }.when(depth > DEPTH_LIMIT)?;
        let mut turns = self.streams.iter().filter_map(|stream| stream.arrival.interleaving());
        let is_unequal = turns.next().is_some_and(|first| turns.any(|other| other != first));
        WorkloadError::UnequalPaces.when(is_unequal)?;
        self.streams.iter().try_for_each(Stream::check_alone)
    }
}

impl Stream {
    /// A stream that makes no write durable.
    pub fn new(op: Mix, size: Size, pattern: AccessPattern, arrival: Arrival, data: DataClass) -> Self {
        Self { op, size, pattern, arrival, data, flush_every: 0, fsync_every: 0, sync: None }
    }

    /// A stream of I/Os of `block` bytes, of which the next leaves as soon as fewer than `depth` are in flight.
    pub fn closed(op: Mix, block: u32, place: AccessPattern, depth: u32, data: DataClass) -> Self {
        Self::new(op, Size::fixed(block), place, Arrival::Closed { depth }, data)
    }

    /// Whether any of its I/Os is a write.
    pub fn has_writes(&self) -> bool {
        self.op.shares().into_iter().any(|(op, share)| op == Op::Write && share > 0.0)
    }

    fn check_alone(&self) -> Result<(), WorkloadError> {
        WorkloadError::NoDepth.when(self.arrival.depth() == 0)?;
        if let Some(per_second) = self.arrival.rate()
            && !(per_second > 0.0 && per_second <= 1e9)
        {
            return Err(WorkloadError::ImpossibleRate(per_second));
        }
        if matches!(self.arrival, Arrival::Interleaved { weight: 0, .. }) {
            return Err(WorkloadError::NoWeight);
        }
        let keys = [
            ("flush_every", self.flush_every > 0),
            ("fsync_every", self.fsync_every > 0),
            ("sync", self.sync.is_some()),
        ];
        if let Some((key, _)) = keys.into_iter().find(|(_, is_given)| *is_given && !self.has_writes()) {
            return Err(WorkloadError::NothingToFlush { key });
        }
        if let AccessPattern::Zipf { theta, .. } = self.pattern
            && !(theta > 0.0 && theta <= 10.0)
        {
            return Err(WorkloadError::ImpossibleTheta(theta));
        }
        Ok(())
    }

    fn check(&self, geometry: &Geometry, copies: u32) -> Result<(), WorkloadError> {
        WorkloadError::ReadOnly(self.op).when(self.op.writes() && !geometry.writable)?;
        WorkloadError::NoTrim.when(self.op == Mix::Only(Op::Trim) && !geometry.trims)?;
        if let DataClass::Stamped(_) = self.data {
            self.check_stamps(geometry)?;
        }
        let range = self.range(geometry)?;
        let (region, block) = (range.end - range.start, geometry.block);
        self.check_grain(geometry)?;
        for &(bytes, _) in self.size.choices() {
            WorkloadError::NotInBlocks { bytes, block }.when(!bytes.is_multiple_of(block))?;
            if let Some(boundary) = geometry.boundary
                && !boundary.is_multiple_of(u64::from(bytes))
            {
                return Err(WorkloadError::AcrossFiles { bytes, boundary });
            }
            WorkloadError::RegionTooSmall { region, bytes }
                .when(region / u64::from(copies) < u64::from(bytes))?;
        }
        Ok(())
    }

    /// The addresses that it may use, in bytes.
    fn range(&self, geometry: &Geometry) -> Result<Range<u64>, WorkloadError> {
        self.pattern.region().resolve(geometry.capacity, geometry.block).map_err(WorkloadError::Region)
    }

    /// Checks starts that may be off multiples of the length. They keep to blocks, and to one file, whose end they would cross.
    fn check_grain(&self, geometry: &Geometry) -> Result<(), WorkloadError> {
        let Some(grain) = self.pattern.grain() else { return Ok(()) };
        let block = geometry.block;
        WorkloadError::PlacesNotInBlocks { grain, block }
            .when(grain == 0 || !grain.is_multiple_of(block.into()))?;
        let region = self.range(geometry)?;
        match geometry.boundary {
            Some(boundary) if region.start / boundary != (region.end - 1) / boundary => {
                Err(WorkloadError::PlacesAcrossFiles { grain, boundary })
            }
            _ => Ok(()),
        }
    }

    fn check_stamps(&self, geometry: &Geometry) -> Result<(), WorkloadError> {
        WorkloadError::StampsNotKept.when(!geometry.keeps_stamps())?;
        let block = geometry.block;
        WorkloadError::StampsNotInBlocks { sector: SECTOR, block }.when(!block.is_multiple_of(SECTOR as u32))
    }
}

/// How the I/Os of a workload reach the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Past the page cache, as far as the file system allows.
    #[default]
    Direct,
    /// Through the page cache, as most programs do: memory may answer reads and absorb writes.
    Buffered,
    /// Not at all: each I/O ends at once and moves no byte. This measures the program itself.
    Null,
}

impl Access {
    /// Whether it is the default.
    pub fn is_direct(&self) -> bool {
        *self == Self::Direct
    }
}

/// The order of addresses within a region.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum AccessPattern {
    /// From the start of the region to its end, then again. Several copies of a stream share the region in equal parts.
    Sequential(Region),
    /// Uniformly random, on multiples of the I/O's length from the start of the region.
    Random(Region),
    /// Every `step` bytes from the start of the region as long as an I/O fits, then again. Several copies of
    /// a stream visit the same addresses.
    Strided {
        /// The region.
        region: Region,
        /// From one I/O's start to the next one's, in bytes.
        #[serde(with = "size_text")]
        step: u64,
    },
    /// Uniformly random, on multiples of `align` from the start of the region, whatever the I/O's length.
    /// I/Os may overlap, and start in the middle of what a drive treats as one unit.
    RandomAligned {
        /// The region.
        region: Region,
        /// Alignment of starts, in bytes.
        #[serde(with = "size_text")]
        align: u64,
    },
    /// Random by Zipf's law over multiples of the I/O's length: the k-th most popular has weight k^−θ.
    /// Popularity is scattered over the region.
    Zipf {
        /// The region.
        region: Region,
        /// The exponent θ, above 0 and at most 10.
        theta: f64,
    },
}

impl AccessPattern {
    /// The region.
    pub fn region(&self) -> Region {
        match self {
            Self::Sequential(region)
            | Self::Random(region)
            | Self::Strided { region, .. }
            | Self::RandomAligned { region, .. }
            | Self::Zipf { region, .. } => *region,
        }
    }

    /// `sequential` or `random`.
    pub fn name(&self) -> &'static str {
        if matches!(self, Self::Sequential(_) | Self::Strided { .. }) { "sequential" } else { "random" }
    }

    /// The alignment of its starts beyond the target's block, if any.
    pub fn grain(&self) -> Option<u64> {
        match self {
            Self::Strided { step, .. } => Some(*step),
            Self::RandomAligned { align, .. } => Some(*align),
            Self::Sequential(_) | Self::Random(_) | Self::Zipf { .. } => None,
        }
    }
}

/// `read`, `write`, `trim`, `flush`, or `mix:70`: 70 % reads, the rest writes, drawn afresh for each I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mix {
    /// One operation only.
    Only(Op),
    /// This percentage of reads, `1 ..= 99`, and writes otherwise.
    Reads(u8),
}

impl Mix {
    /// Whether any of its operations changes what the drive holds.
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

impl Stream {
    /// What `copies` copies of it do, in words.
    fn activity(&self, copies: u32) -> String {
        let length = match self.size.choices() {
            [(bytes, _)] => Some(u64::from(*bytes)),
            _ => None,
        };
        let depth = u64::from(self.arrival.depth()) * u64::from(copies);
        let ios = |kind| wording::ios(length, self.pattern.name(), kind, depth);
        let is_durable = self.sync.is_some() || self.flush_every == 1 || self.fsync_every == 1;
        match self.op {
            Mix::Only(Op::Flush) => wording::FLUSHES.into(),
            Mix::Only(Op::Trim) => ios(wording::TRIMS),
            Mix::Only(Op::Read) => ios(wording::READS),
            Mix::Only(Op::Write) if is_durable => wording::durable(&ios(wording::WRITES)),
            Mix::Only(Op::Write) => ios(wording::WRITES),
            Mix::Reads(percent) => wording::mixed_ios(length, self.pattern.name(), percent, depth),
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
        if let Ok(op) = text.parse() {
            return Ok(Self::Only(op));
        }
        match text.strip_prefix("mix:").and_then(|percent| percent.parse().ok()) {
            Some(0) => Ok(Self::Only(Op::Write)),
            Some(100) => Ok(Self::Only(Op::Read)),
            Some(percent @ 1..=99) => Ok(Self::Reads(percent)),
            _ => Err(wording::not_an_operation(text)),
        }
    }
}

serde_as_text!(Mix);

/// One length, or several with weights: `4KiB`, or `4KiB:60,64KiB:40`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Size {
    choices: Vec<(u32, u32)>,
}

impl Size {
    /// Always this many bytes.
    pub fn fixed(bytes: u32) -> Self {
        assert!(bytes > 0, "an I/O moves at least one byte");
        Self { choices: vec![(bytes, 1)] }
    }

    /// These lengths in bytes with their weights.
    ///
    /// # Panics
    /// `choices` is empty, or a length or weight is zero.
    pub fn mixed(choices: Vec<(u32, u32)>) -> Self {
        assert!(!choices.is_empty() && choices.iter().all(|(bytes, weight)| *bytes > 0 && *weight > 0));
        if let [(bytes, _)] = choices[..] { Self::fixed(bytes) } else { Self { choices } }
    }

    /// Each length in bytes with its weight; at least one, all above zero.
    pub fn choices(&self) -> &[(u32, u32)] {
        &self.choices
    }

    /// The longest, in bytes.
    pub fn max(&self) -> u32 {
        self.choices.iter().map(|(bytes, _)| *bytes).max().expect("a size has a choice")
    }

    /// The mean length, in bytes.
    pub fn mean(&self) -> f64 {
        let weights: f64 = self.choices.iter().map(|(_, weight)| f64::from(*weight)).sum();
        self.choices.iter().map(|(bytes, weight)| f64::from(*bytes) * f64::from(*weight)).sum::<f64>()
            / weights
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(bytes, _)] = self.choices[..] {
            return f.write_str(&exact_size(u64::from(bytes)));
        }
        for (index, (bytes, weight)) in self.choices.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}:{weight}", exact_size(u64::from(*bytes)))?;
        }
        Ok(())
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut choices = Vec::new();
        for part in text.split(',') {
            let (size, weight) = part.split_once(':').unwrap_or((part, "1"));
            let bytes = parse_size(size).map_err(|error| error.to_string())?;
            let bytes = u32::try_from(bytes).ok().filter(|b| (1..=1 << 30).contains(b));
            let weight = weight.parse().ok().filter(|w| (1..=1_000_000).contains(w));
            match (bytes, weight) {
                (Some(bytes), Some(weight)) => choices.push((bytes, weight)),
                _ => return Err(wording::not_a_length(part)),
            }
        }
        Ok(Self { choices })
    }
}

serde_as_text!(Size);

/// Ends a workload at the first bound that is reached. A workload with streams has at least one bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// How much of the target's time passes before no more I/O is issued.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub elapsed: Option<Nanos>,
    /// How many I/Os are issued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ops: Option<u64>,
    /// How many bytes the I/Os come to, at least.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
}

impl Until {
    /// After this much time.
    pub fn elapsed(span: Nanos) -> Self {
        Self { elapsed: Some(span), ..Self::default() }
    }

    /// After this many I/Os.
    pub fn ops(ops: u64) -> Self {
        Self { ops: Some(ops), ..Self::default() }
    }

    /// After this many bytes.
    pub fn bytes(bytes: u64) -> Self {
        Self { bytes: Some(bytes), ..Self::default() }
    }
}

/// Bytes of a piece of an old file: some tens of milliseconds of a hard disk.
pub const OLD_PIECE_BYTES: u64 = 8 << 20;
/// Most pieces.
pub const OLD_PIECES_MAX: usize = 24;
/// Age from which files are old, in seconds: charge leaks noticeably within some weeks (six to eight on the
/// Samsung 840 EVO: PC Perspective, 2014).
pub const OLD_AGE_S: u64 = 30 * 86_400;
/// How long folders are searched for old files. Chosen: long enough for tens of thousands of names, short
/// enough that a check does not seem to hang.
pub const OLD_SEARCH: Nanos = Nanos::from_secs(2);

/// The old files that were found, without their names. Piece `i` begins at address `i` × [`OLD_PIECE_BYTES`],
/// for workloads that read [old files](crate::workload::Workload::old_files).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OldFiles {
    /// Seconds since each piece's file was made or last written, the oldest first.
    pub ages_s: Vec<u64>,
    /// How many files the pieces belong to.
    pub files: u64,
    /// Whether the search ended before it was complete.
    pub is_part: bool,
}

impl OldFiles {
    /// Bytes of all pieces.
    pub fn bytes(&self) -> u64 {
        self.ages_s.len() as u64 * OLD_PIECE_BYTES
    }
}

/// Why a workload cannot run: each reason is a sentence that says what would fit, where something would.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum WorkloadError {
    #[error("it never ends: give until.elapsed, until.ops or until.bytes (a rest needs until.elapsed)")]
    Endless,
    #[error("{key} = {bytes} bytes is more than 64 PiB")]
    TooManyBytes { key: &'static str, bytes: u64 },
    #[error("until.ops = {ops} is more than 64 PiB of I/Os of {length} bytes: at most {most}")]
    TooManyIos { ops: u64, length: u64, most: u64 },
    #[error("it needs at least one lane and at most 65535 streams")]
    LanesOrStreams,
    #[error("a rest has no I/Os: leave out access and flush")]
    RestWithIos,
    #[error("samples = {samples} are more than the {most} that are kept one by one")]
    TooManySamples { samples: u32, most: u32 },
    #[error("window = 0 bytes is not a width: leave it out, or give one such as 1MiB")]
    EmptyWindow,
    #[error("{depth} I/Os in flight are more than the {most} that are supported")]
    TooDeep { depth: u64, most: u64 },
    #[error("streams that take turns share one pace: give all of them the same depth and per_second")]
    UnequalPaces,
    #[error("a pace needs a depth of at least 1")]
    NoDepth,
    #[error("an open pace of {0} per second is not in 0..10⁹")]
    ImpossibleRate(f64),
    #[error("a stream that takes turns needs a weight of at least 1")]
    NoWeight,
    #[error("{key} is for streams that write; leave it out")]
    NothingToFlush { key: &'static str },
    #[error("Zipf's θ of {0} is not in 0..10")]
    ImpossibleTheta(f64),
    #[error("\"{0}\" would change this target, which is read-only")]
    ReadOnly(Mix),
    #[error("this target has no TRIM")]
    NoTrim,
    #[error("{0}")]
    Region(String),
    #[error(
        "I/Os of {bytes} bytes are not a multiple of the target's block of {block} bytes; use {}",
        bytes.next_multiple_of(*block)
    )]
    NotInBlocks { bytes: u32, block: u32 },
    #[error("I/Os of {bytes} bytes do not divide the files of {boundary} bytes")]
    AcrossFiles { bytes: u32, boundary: u64 },
    #[error("its region of {region} bytes is too small for I/Os of {bytes} bytes")]
    RegionTooSmall { region: u64, bytes: u32 },
    #[error("places {grain} bytes apart are not multiples of the target's block of {block} bytes")]
    PlacesNotInBlocks { grain: u64, block: u32 },
    #[error(
        "places {grain} bytes apart would cross the files of {boundary} bytes: give a region in one of them"
    )]
    PlacesAcrossFiles { grain: u64, boundary: u64 },
    #[error("stamped data could not be read back: this target keeps nothing")]
    StampsNotKept,
    #[error("stamped data is made of sectors of {sector} bytes, and this target's blocks are {block} bytes")]
    StampsNotInBlocks { sector: usize, block: u32 },
    #[error("a recording is replayed on one lane, and without streams beside it")]
    RecordingWithStreams,
    #[error("a recording needs a depth of at least 1")]
    RecordingWithoutDepth,
    #[error("its writes would change this target, which is read-only: replay reads only")]
    RecordingWrites,
    #[error("length_max = {length} bytes is not a multiple of {block} in {block}..16MiB")]
    RecordingLength { length: u64, block: u64 },
    #[error("its region of {region} bytes holds no I/O of {length}")]
    RecordingRegion { region: u64, length: u64 },
    #[error("speed = {0} is not in 0.001..1000000")]
    RecordingSpeed(f64),
    #[error("a recording is written over and over, so its data is never stamped")]
    RecordingStamped,
    #[error("{count} applications are more than the {most} that are told apart")]
    TooManyApplications { count: usize, most: usize },
}

impl WorkloadError {
    /// This error, if it is one.
    fn when(self, is_wrong: bool) -> Result<(), Self> {
        if is_wrong { Err(self) } else { Ok(()) }
    }
}

impl ReplaySpec {
    /// Checks that it can run on a drive of this geometry.
    ///
    /// # Errors
    /// What does not fit.
    pub(crate) fn check(&self, geometry: &Geometry) -> Result<(), WorkloadError> {
        WorkloadError::RecordingWrites.when(self.writes() && !geometry.writable)?;
        let range = self.region.resolve(geometry.capacity, geometry.block).map_err(WorkloadError::Region)?;
        let (length, block) = (self.length_max, u64::from(geometry.block));
        WorkloadError::RecordingLength { length, block }
            .when(!(block..=Self::LENGTH_MAX).contains(&length) || !length.is_multiple_of(block))?;
        let region = range.end - range.start;
        WorkloadError::RecordingRegion { region, length }.when(region < length)?;
        if let Some(clock) = self.timing.clock()
            && !(clock.speed >= 1e-3 && clock.speed <= 1e6)
        {
            return Err(WorkloadError::RecordingSpeed(clock.speed));
        }
        WorkloadError::RecordingStamped.when(matches!(self.data, DataClass::Stamped(_)))?;
        let (count, most) = (self.applications.len(), Self::APPLICATIONS_MAX);
        WorkloadError::TooManyApplications { count, most }.when(count > most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::Region;
    use crate::target::Clock;

    fn geometry() -> Geometry {
        Geometry {
            capacity: 1 << 30,
            block: 4096,
            boundary: Some(1 << 20),
            writable: false,
            trims: false,
            carries_data: true,
            clock: Clock::Wall,
        }
    }

    #[test]
    fn what_it_does_is_said_in_words() {
        let stream = |op: &str, size: &str, pattern, depth| {
            let (op, size) = (op.parse().unwrap(), size.parse().unwrap());
            Stream::new(op, size, pattern, Arrival::Closed { depth }, DataClass::Random)
        };
        let [random, sequential] =
            [AccessPattern::Random, AccessPattern::Sequential].map(|pattern| pattern(Region::WHOLE));
        let said = |streams| Workload::new("region 13", Until::ops(1), streams).activity();
        assert_eq!(said(vec![stream("read", "1MiB", sequential, 1)]), "1 MiB sequential reads");
        assert_eq!(said(vec![stream("write", "4KiB", random, 32)]), "4K random writes at QD32");
        assert_eq!(
            said(vec![stream("mix:70", "4KiB:1,8KiB:1", random, 1)]),
            "random I/Os, 70% of them reads"
        );
        assert_eq!(said(vec![stream("trim", "64KiB", sequential, 1)]), "64K sequential TRIM");
        let durable = Stream { flush_every: 1, ..stream("write", "8KiB", sequential, 1) };
        assert_eq!(said(vec![durable]), "durable 8K sequential writes");
        let both = vec![stream("write", "1MiB", sequential, 1), stream("flush", "4KiB", random, 1)];
        assert_eq!(said(both), "1 MiB sequential writes and flushes");
        let twice =
            Workload { lanes: 4, ..Workload::new("", Until::ops(1), vec![stream("read", "512", random, 8)]) };
        assert_eq!(twice.activity(), "512 B random reads at QD32");
        assert_eq!(Workload::rest(Nanos::from_secs(90)).activity(), "leaving the drive idle for 90.0 s");
    }

    fn reads(size: &str) -> Workload {
        Workload {
            name: "reads".into(),
            lanes: 1,
            until: Until::ops(10),
            seed: 0,
            samples: 0,
            window: None,
            access: Access::Direct,
            old_files: false,
            cold: false,
            flush: false,
            replay_spec: None,
            streams: vec![Stream::new(
                Mix::Only(Op::Read),
                size.parse().unwrap(),
                AccessPattern::Random(Region::WHOLE),
                Arrival::Closed { depth: 4 },
                DataClass::Random,
            )],
        }
    }

    #[test]
    fn a_fitting_workload_passes_and_reads_back() {
        let workload = reads("4KiB");
        assert_eq!(workload.check(&geometry()), Ok(()));
        let text = toml::to_string(&workload).unwrap();
        assert_eq!(toml::from_str::<Workload>(&text).unwrap(), workload, "{text}");
        for word in ["samples", "window", "access", "cold", "flush"] {
            assert!(!text.contains(word), "{text}");
        }
        let workload = Workload {
            samples: 1000,
            window: Some(1 << 20),
            access: Access::Buffered,
            cold: true,
            flush: true,
            ..workload
        };
        let text = toml::to_string(&workload).unwrap();
        assert_eq!(toml::from_str::<Workload>(&text).unwrap(), workload, "{text}");
    }

    #[test]
    fn streams_that_take_turns_share_one_pace() {
        let text = "name = 'turns'\nuntil.ops = 4\n".to_owned()
            + &[1, 3].map(|weight| format!(
                "[[stream]]\nop = 'read'\nsize = '4k'\npattern.random = 'whole'\narrival.interleaved = {{ weight = {weight}, depth = 2 }}\n"
            )).concat();
        let mut workload: Workload = toml::from_str(&text).unwrap();
        assert_eq!(workload.check(&geometry()), Ok(()));
        assert_eq!((workload.depth(), workload.stream_shares()), (2, vec![0.25, 0.75]));
        let again = toml::from_str::<Workload>(&toml::to_string(&workload).unwrap()).unwrap();
        assert_eq!(again, workload);
        workload.streams.push(reads("4k").streams.remove(0));
        assert_eq!(workload.depth(), 6);
        assert!((workload.stream_shares().iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let case = |pace: Arrival, word: &str| {
            let mut workload = workload.clone();
            workload.streams[1].arrival = pace;
            assert!(workload.check(&geometry()).unwrap_err().contains(word));
        };
        case(Arrival::Interleaved { weight: 3, depth: 1, per_second: None }, "share one pace");
        case(Arrival::Interleaved { weight: 3, depth: 2, per_second: Some(1.0) }, "share one pace");
        case(Arrival::Interleaved { weight: 0, depth: 2, per_second: None }, "weight");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let case = |change: &dyn Fn(&mut Workload), word: &str| {
            let mut workload = reads("4KiB");
            change(&mut workload);
            let error = workload.check(&geometry()).unwrap_err();
            assert!(error.contains(word) && error.contains("\"reads\""), "{error}");
        };
        case(&|w| w.until = Until::default(), "never ends");
        case(&|w| w.streams[0].size = Size::fixed(512), "not a multiple");
        case(&|w| w.streams[0].size = Size::fixed(12288), "do not divide");
        case(&|w| w.streams[0].op = Mix::Only(Op::Write), "read-only");
        case(&|w| w.streams[0].arrival = Arrival::Closed { depth: 0 }, "at least 1");
        case(&|w| w.streams[0].arrival = Arrival::Closed { depth: 5000 }, "in flight");
        case(&|w| w.lanes = 0, "lane");
        case(&|w| w.until.ops = Some(1 << 57), "until.ops = 144115188075855872");
        case(&|w| w.until.bytes = Some(u64::MAX), "until.bytes");
        case(&|w| w.window = Some(u64::MAX), "window");
        case(&|w| w.samples = SAMPLES_MAX + 1, "kept one by one");
        case(&|w| w.streams[0].pattern = AccessPattern::Random("0..2GiB".parse().unwrap()), "beyond");
        case(&|w| w.streams[0].pattern = AccessPattern::Sequential("0..2k".parse().unwrap()), "empty");
        let whole = Region::WHOLE;
        case(&|w| w.streams[0].pattern = AccessPattern::Strided { region: whole, step: 0 }, "not multiples");
        case(
            &|w| w.streams[0].pattern = AccessPattern::Strided { region: whole, step: 6144 },
            "not multiples",
        );
        case(
            &|w| w.streams[0].pattern = AccessPattern::RandomAligned { region: whole, align: 4096 },
            "cross the files",
        );
        case(&|w| w.window = Some(0), "not a width");
        case(&|w| w.streams[0].flush_every = 1, "flush_every is for streams that write");
        case(&|w| w.streams[0].fsync_every = 1, "fsync_every");
        case(&|w| w.streams[0].sync = Some(Durability::Data), "sync is for");
        case(&|w| w.streams.clear(), "rest needs");
        let rests = |w: &mut Workload| {
            (w.streams, w.until) = (Vec::new(), Until::elapsed(Nanos(1)));
            w.access = Access::Buffered;
        };
        case(&rests, "no I/Os");
    }

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

    #[test]
    fn sizes_read_back_and_nonsense_does_not() {
        for text in ["4KiB", "4KiB:60,64KiB:40"] {
            assert_eq!(text.parse::<Size>().unwrap().to_string(), text);
        }
        assert_eq!("4k:1,8k:3".parse::<Size>().unwrap().mean(), 7168.0);
        for text in ["", "0", "2GiB", "4k:0", "4k,,8k", "4k:x"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }
}
