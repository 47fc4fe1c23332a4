//! A workload: what to do to a drive, as pure data.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::access::Access;
use crate::access_pattern::AccessPattern;
use crate::io::{DataClass, Op};
use crate::mix::Mix;
use crate::replay_spec::ReplaySpec;
use crate::size::Size;
use crate::stamp::SECTOR;
use crate::target::Geometry;
use crate::units::{Nanos, size_text};
use crate::until::Until;
use crate::workload_error::WorkloadError;

/// Streams of I/O that run side by side until a bound is reached, or a recording. Without either the drive rests.
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
    #[serde(default, skip_serializing_if = "is_zero")]
    pub samples: u32,
    /// Its windows along bytes begin this wide, and double while there are too many
    /// ([`crate::windows::Windows`]); 1 GiB where it is not said.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub window: Option<u64>,
    /// Whether its I/Os go past the page cache, through it, or nowhere.
    #[serde(default, skip_serializing_if = "Access::is_direct")]
    pub access: Access,
    /// Whether it reads the owner's files that [`Probe::OldFiles`](crate::probe::Probe::OldFiles) has found,
    /// at their own addresses.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub old_files: bool,
    /// Whether it begins with none of our own files in the page cache: they are made durable and dropped from
    /// it, before its time counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cold: bool,
    /// Whether it ends with a flush on every lane, whose time counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flush: bool,
    /// I/Os of a recording, instead of streams. It ends with the recording, if no bound is reached before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_spec: Option<Box<ReplaySpec>>,
    /// What runs side by side.
    #[serde(default, rename = "stream")]
    pub streams: Vec<Stream>,
}

/// One kind of I/O.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stream {
    /// Which operations.
    pub op: Mix,
    /// How long.
    pub size: Size,
    /// Where.
    pub pattern: AccessPattern,
    /// When.
    pub arrival: Arrival,
    /// The data class of writes; of stamped data also what reads expect.
    #[serde(default = "random")]
    pub data: DataClass,
}

/// When the I/Os of a stream leave.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Arrival {
    /// The next leaves as soon as fewer than `depth` are in flight.
    Closed {
        /// I/Os in flight.
        depth: u32,
    },
    /// They are due at a rate, whatever the drive does; one that finds `depth_max` in flight leaves late, and its
    /// latency counts from when it was due.
    Open {
        /// Mean rate of arrivals, per second and copy of the stream.
        per_second: f64,
        /// How arrivals are spaced.
        #[serde(default)]
        inter_arrival: InterArrival,
        /// I/Os in flight at most.
        depth_max: u32,
    },
    /// The streams of this pace take turns: which of them has the next I/O is drawn like a card from a
    /// shuffled deck that holds `weight` cards of each. So their proportions hold whatever the drive does,
    /// and after as many I/Os as there are cards each stream has had exactly its `weight`. All of them have
    /// the same `depth` and rate.
    Interleaved {
        /// Cards of this stream in the deck.
        weight: u32,
        /// I/Os of all of them in flight at most.
        depth: u32,
        /// Mean rate of arrivals of all of them together, as a Poisson process, per second and copy. Without
        /// one the next I/O leaves as soon as fewer than `depth` are in flight.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        per_second: Option<f64>,
    },
}

/// How the arrivals of an open pace are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum InterArrival {
    /// At equal distances.
    #[default]
    Even,
    /// As a Poisson process: distances are exponential.
    Poisson,
}

impl Arrival {
    /// I/Os in flight at most; of streams that take turns, those of all of them.
    pub fn depth(&self) -> u32 {
        match self {
            Self::Closed { depth } | Self::Interleaved { depth, .. } => *depth,
            Self::Open { depth_max, .. } => *depth_max,
        }
    }

    /// What streams that take turns have in common; `None` for others.
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

fn is_zero(samples: &u32) -> bool {
    *samples == 0
}

fn random() -> DataClass {
    DataClass::Random
}

/// More I/Os in flight than this, over all streams and lanes, are refused.
pub const DEPTH_LIMIT: u64 = 4096;
/// More I/Os than this are not kept one by one; a file of all samples is what such a run needs.
pub const SAMPLES_MAX: u32 = 65_536;

impl Workload {
    /// Streams that run side by side until a bound is reached, on one lane, with a seed that is still to be given.
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

    /// The drive is left alone for so long.
    pub fn rest(span: Nanos) -> Self {
        Self::new("rest", Until::elapsed(span), Vec::new())
    }

    /// Whether any stream changes what the drive holds.
    pub fn writes(&self) -> bool {
        self.streams.iter().any(|stream| stream.op.writes())
            || self.replay_spec.as_deref().is_some_and(ReplaySpec::writes)
    }

    /// Most bytes that it writes to the drive; none where only its time ends it.
    pub fn bytes_written_max(&self) -> Option<u64> {
        let writes = |stream: &&Stream| {
            stream.op.shares().into_iter().any(|(op, share)| op == Op::Write && share > 0.0)
        };
        if !self.reaches_drive() {
            return Some(0);
        }
        if let Some(replay_spec) = &self.replay_spec {
            return replay_spec.bytes_written_max();
        }
        if self.streams.iter().filter(writes).count() == 0 {
            return Some(0);
        }
        let longest = self.streams.iter().map(|stream| u64::from(stream.size.max())).max().unwrap_or(0);
        let by_ops = self.until.ops.map(|ops| ops.saturating_mul(longest));
        self.until.bytes.into_iter().chain(by_ops).min()
    }

    /// Whether it leaves the drive alone.
    pub fn is_rest(&self) -> bool {
        self.streams.is_empty() && self.replay_spec.is_none()
    }

    /// Streams that its samples may have.
    pub fn stream_count(&self) -> usize {
        self.replay_spec.as_deref().map_or(self.streams.len(), ReplaySpec::streams)
    }

    /// Whether its I/Os are meant to reach the drive, however many of them memory answers.
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

    /// I/Os in flight at most, over all streams of one lane.
    pub fn depth(&self) -> u32 {
        let depth = self.depth_of_all();
        u32::try_from(depth).expect("a workload is checked before it runs")
    }

    /// Streams that take turns are in flight together.
    fn depth_of_all(&self) -> u64 {
        let turns = self.streams.iter().find_map(|stream| stream.arrival.interleaving());
        let alone = self.streams.iter().filter(|stream| stream.arrival.interleaving().is_none());
        alone.map(|stream| u64::from(stream.arrival.depth())).sum::<u64>()
            + turns.map_or(0, |(depth, _)| depth.into())
            + self.replay_spec.as_deref().map_or(0, |replay_spec| replay_spec.depth.into())
    }

    /// The share of the I/Os that each stream has, as far as its pace says: streams that take turns by their
    /// weights; others count equally.
    pub fn stream_shares(&self) -> Vec<f64> {
        let weight = |stream: &Stream| match stream.arrival {
            Arrival::Interleaved { weight, .. } => Some(f64::from(weight)),
            Arrival::Closed { .. } | Arrival::Open { .. } => None,
        };
        let weights: Vec<f64> = self.streams.iter().filter_map(weight).collect();
        let (turns, all) = (weights.len() as f64, self.streams.len() as f64);
        let each = turns / weights.iter().sum::<f64>();
        self.streams.iter().map(|stream| weight(stream).map_or(1.0, |weight| weight * each) / all).collect()
    }

    /// The longest read or write in bytes; 0 for a rest.
    pub fn length_max(&self) -> u32 {
        let streams = self.streams.iter().map(|stream| stream.size.max()).max().unwrap_or(0);
        streams.max(self.replay_spec.as_deref().map_or(0, |replay_spec| replay_spec.length_max as u32))
    }

    /// Whether it can run on a drive of this geometry.
    ///
    /// # Errors
    /// A sentence that names the workload, what does not fit, and what would.
    pub fn check(&self, geometry: &Geometry) -> Result<(), String> {
        self.check_alone()
            .and_then(|()| self.check_streams(geometry))
            .and_then(|()| {
                self.replay_spec.as_deref().map_or(Ok(()), |replay_spec| replay_spec.check(geometry))
            })
            .map_err(|reason| format!("workload \"{}\": {reason}", self.name))
    }

    /// What it comes to is counted in 64 bits, for many workloads together.
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
            self.check_recorded()?;
        } else if elapsed.is_none() && (self.streams.is_empty() || (ops.is_none() && bytes.is_none())) {
            return Err(WorkloadError::Endless);
        }
        self.check_amounts()?;
        if self.lanes == 0 || self.streams.len() > usize::from(u16::MAX) {
            return Err(WorkloadError::LanesOrStreams);
        }
        if self.is_rest() && (self.flush || !self.access.is_direct()) {
            return Err(WorkloadError::RestWithIos);
        }
        if self.samples > SAMPLES_MAX {
            return Err(WorkloadError::TooManySamples { samples: self.samples, most: SAMPLES_MAX });
        }
        if self.window == Some(0) {
            return Err(WorkloadError::EmptyWindow);
        }
        let depth = u64::from(self.lanes).saturating_mul(self.depth_of_all());
        if depth > DEPTH_LIMIT {
            return Err(WorkloadError::TooDeep { depth, most: DEPTH_LIMIT });
        }
        let mut turns = self.streams.iter().filter_map(|stream| stream.arrival.interleaving());
        if let Some(first) = turns.next()
            && turns.any(|other| other != first)
        {
            return Err(WorkloadError::UnequalPaces);
        }
        self.streams.iter().try_for_each(Stream::check_alone)
    }

    /// One clock has to see when everything leaves and ends.
    fn check_recorded(&self) -> Result<(), WorkloadError> {
        if self.lanes != 1 || !self.streams.is_empty() {
            return Err(WorkloadError::RecordingWithStreams);
        }
        if self.depth() == 0 {
            return Err(WorkloadError::RecordingWithoutDepth);
        }
        Ok(())
    }

    fn check_streams(&self, geometry: &Geometry) -> Result<(), WorkloadError> {
        for stream in &self.streams {
            stream.check(geometry, self.lanes)?;
        }
        Ok(())
    }
}

impl Stream {
    /// I/Os of `block` bytes, the next as soon as fewer than `depth` are in flight.
    pub fn closed(op: Mix, block: u32, place: AccessPattern, depth: u32, data: DataClass) -> Self {
        Self { op, size: Size::fixed(block), pattern: place, arrival: Arrival::Closed { depth }, data }
    }

    fn check_alone(&self) -> Result<(), WorkloadError> {
        if self.arrival.depth() == 0 {
            return Err(WorkloadError::NoDepth);
        }
        if let Some(per_second) = self.arrival.rate()
            && !(per_second > 0.0 && per_second <= 1e9)
        {
            return Err(WorkloadError::ImpossibleRate(per_second));
        }
        if matches!(self.arrival, Arrival::Interleaved { weight: 0, .. }) {
            return Err(WorkloadError::NoWeight);
        }
        if let AccessPattern::Zipf { theta, .. } = self.pattern
            && !(theta > 0.0 && theta <= 10.0)
        {
            return Err(WorkloadError::ImpossibleTheta(theta));
        }
        Ok(())
    }

    fn check(&self, geometry: &Geometry, copies: u32) -> Result<(), WorkloadError> {
        if self.op.writes() && !geometry.writable {
            return Err(WorkloadError::ReadOnly(self.op));
        }
        if self.op == Mix::Only(crate::io::Op::Trim) && !geometry.trims {
            return Err(WorkloadError::NoTrim);
        }
        if let DataClass::Stamped(_) = self.data {
            self.check_stamps(geometry)?;
        }
        let range = self.range(geometry)?;
        let (region, block) = (range.end - range.start, geometry.block);
        self.check_grain(geometry)?;
        for &(bytes, _) in self.size.choices() {
            if !bytes.is_multiple_of(block) {
                return Err(WorkloadError::NotInBlocks { bytes, block });
            }
            if let Some(boundary) = geometry.boundary
                && !boundary.is_multiple_of(u64::from(bytes))
            {
                return Err(WorkloadError::AcrossFiles { bytes, boundary });
            }
            if region / u64::from(copies) < u64::from(bytes) {
                return Err(WorkloadError::RegionTooSmall { region, bytes });
            }
        }
        Ok(())
    }
}

impl Stream {
    /// The bytes that it may use.
    fn range(&self, geometry: &Geometry) -> Result<Range<u64>, WorkloadError> {
        self.pattern.region().resolve(geometry.capacity, geometry.block).map_err(WorkloadError::Region)
    }

    /// Places that are not multiples of the length keep to blocks, and would cross files.
    fn check_grain(&self, geometry: &Geometry) -> Result<(), WorkloadError> {
        let Some(grain) = self.pattern.grain() else { return Ok(()) };
        let block = geometry.block;
        if grain == 0 || !grain.is_multiple_of(block.into()) {
            return Err(WorkloadError::PlacesNotInBlocks { grain, block });
        }
        let region = self.range(geometry)?;
        match geometry.boundary {
            Some(boundary) if region.start / boundary != (region.end - 1) / boundary => {
                Err(WorkloadError::PlacesAcrossFiles { grain, boundary })
            }
            _ => Ok(()),
        }
    }

    fn check_stamps(&self, geometry: &Geometry) -> Result<(), WorkloadError> {
        if !geometry.keeps_stamps() {
            return Err(WorkloadError::StampsNotKept);
        }
        if !geometry.block.is_multiple_of(SECTOR as u32) {
            return Err(WorkloadError::StampsNotInBlocks { sector: SECTOR, block: geometry.block });
        }
        Ok(())
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
            streams: vec![Stream {
                op: Mix::Only(Op::Read),
                size: size.parse().unwrap(),
                pattern: AccessPattern::Random(Region::WHOLE),
                arrival: Arrival::Closed { depth: 4 },
                data: DataClass::Random,
            }],
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
        case(&|w| w.streams.clear(), "rest needs");
        let rests = |w: &mut Workload| {
            (w.streams, w.until) = (Vec::new(), Until::elapsed(Nanos(1)));
            w.access = Access::Buffered;
        };
        case(&rests, "no I/Os");
    }
}
