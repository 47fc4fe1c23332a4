//! The memory of a disk: writes that were acknowledged and are not on the platters yet, and sectors that were read ahead.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::units::Nanos;

use super::arm::Platters;

// The write-back cache of a disk: extents that were acknowledged to the host and are not on the platters
// yet.
//
// Extents never overlap: what is written again while it waits replaces what was there, so that the newest copy of a
// sector is the only one.

/// A write comes in by parts of so many sectors at most, so that it fits the free space.
const PART_SECTORS_MAX: u64 = 2048;

/// Adjacent sectors that wait to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) sectors: Range<u64>,
    /// When the oldest write in it came.
    pub(super) since: Nanos,
    /// Counts up with every write; of the oldest write in it.
    sequence: u64,
}

/// What waits to be written.
pub(super) struct WriteCache {
    extents: Vec<Extent>,
    extents_max: usize,
    sectors_max: u64,
    /// Sectors here, on their way to the platters, or reserved.
    sectors: u64,
    reserved_extents: usize,
    /// What the arm is writing.
    on_the_way: Vec<Extent>,
    sequence: u64,
    /// Where and when the last write ended.
    last_end: u64,
    last_put: Nanos,
}

impl WriteCache {
    pub(super) fn new(sectors_max: u64, extents_max: u32) -> Self {
        Self {
            extents: Vec::with_capacity(extents_max as usize),
            extents_max: extents_max as usize,
            sectors_max,
            sectors: 0,
            reserved_extents: 0,
            on_the_way: Vec::new(),
            sequence: 0,
            last_end: 0,
            last_put: Nanos::ZERO,
        }
    }

    /// As much of a write as is let in at once.
    pub(super) fn first_part(&self, sectors: &Range<u64>) -> Range<u64> {
        sectors.start..sectors.end.min(sectors.start + self.sectors_max.min(PART_SECTORS_MAX))
    }

    /// Memory in use, in sectors.
    pub(super) fn sectors(&self) -> u64 {
        self.sectors
    }

    /// Reserves space for a write whose data is about to come in, if there is any.
    pub(super) fn reserve(&mut self, sectors: &Range<u64>) -> bool {
        // A write that continues an existing extent needs no new one.
        let needs_extent = !self.extents.iter().any(|extent| touch(&extent.sectors, sectors));
        let extents = self.extents.len() + self.reserved_extents;
        if self.sectors + length(sectors) > self.sectors_max || (needs_extent && extents >= self.extents_max)
        {
            return false;
        }
        self.sectors += length(sectors);
        self.reserved_extents += 1;
        true
    }

    /// A write for which space was reserved comes in.
    pub(super) fn put(&mut self, sectors: Range<u64>, now: Nanos) {
        self.reserved_extents -= 1;
        self.sequence += 1;
        (self.last_end, self.last_put) = (sectors.end, now);
        let mut joined = Extent { sectors, since: now, sequence: self.sequence };
        let mut index = 0;
        while index < self.extents.len() {
            if !touch(&self.extents[index].sectors, &joined.sectors) {
                index += 1;
                continue;
            }
            let extent = self.extents.swap_remove(index);
            // Sectors that were here already are counted once.
            self.sectors -= length(&overlap(&extent.sectors, &joined.sectors));
            joined = Extent {
                sectors: extent.sectors.start.min(joined.sectors.start)
                    ..extent.sectors.end.max(joined.sectors.end),
                since: extent.since.min(joined.since),
                sequence: extent.sequence.min(joined.sequence),
            };
            // The longer extent may touch one that was passed over.
            index = 0;
        }
        self.extents.push(joined);
    }

    /// Whether all of these sectors are here, so that a read needs no arm.
    pub(super) fn holds(&self, sectors: &Range<u64>) -> bool {
        self.extents.iter().chain(&self.on_the_way).any(|extent| contains_range(sectors, &extent.sectors))
    }

    /// What waits, in no particular order.
    pub(super) fn extents(&self) -> &[Extent] {
        &self.extents
    }

    /// When the last write came, if anything waits.
    pub(super) fn last_put(&self) -> Option<Nanos> {
        (!self.extents.is_empty()).then_some(self.last_put)
    }

    /// Whether the last write made this extent longer, so that it may grow further.
    pub(super) fn grows(&self, extent: &Extent) -> bool {
        extent.sectors.end == self.last_end
    }

    /// Takes sectors that wait, in one extent, out to the platters.
    pub(super) fn take(&mut self, sectors: Range<u64>) {
        let index = self.extents.iter().position(|extent| contains_range(&sectors, &extent.sectors));
        let index = index.expect("only what waits is taken");
        let Extent { since, sequence, .. } = self.extents[index];
        self.cut(index, &sectors);
        self.on_the_way.push(Extent { sectors, since, sequence });
    }

    /// What was taken is on the platters.
    pub(super) fn on_written(&mut self) {
        assert!(!self.on_the_way.is_empty(), "something was on its way");
        self.sectors -= self.on_the_way.drain(..).map(|extent| length(&extent.sectors)).sum::<u64>();
    }

    /// A number for what is here now, to ask for with [`is_flushed`](Self::is_flushed).
    pub(super) fn mark(&self) -> u64 {
        self.sequence
    }

    /// Whether all that was here at a mark is on the platters.
    pub(super) fn is_flushed(&self, mark: u64) -> bool {
        self.extents.iter().chain(&self.on_the_way).all(|extent| extent.sequence > mark)
    }

    /// Drops what waits of these sectors: a newer write of them goes to the platters by itself.
    pub(super) fn forget(&mut self, sectors: &Range<u64>) {
        let waits = |extent: &Extent| !overlap(&extent.sectors, sectors).is_empty();
        while let Some(index) = self.extents.iter().position(waits) {
            let part = overlap(&self.extents[index].sectors, sectors);
            self.sectors -= length(&part);
            self.cut(index, &part);
        }
    }

    /// Takes a part out of an extent; what is left of it on both sides stays.
    fn cut(&mut self, index: usize, part: &Range<u64>) {
        let Extent { sectors, since, sequence } = self.extents.swap_remove(index);
        for kept in [sectors.start..part.start, part.end..sectors.end] {
            if !kept.is_empty() {
                self.extents.push(Extent { sectors: kept, since, sequence });
            }
        }
    }
}

fn length(sectors: &Range<u64>) -> u64 {
    sectors.end - sectors.start
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> Range<u64> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

fn touch(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start <= b.end && b.start <= a.end
}

fn contains_range(inner: &Range<u64>, outer: &Range<u64>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

// The read cache of a disk: after a read the head stays where it is and reads on until it is called away.
//
// Addresses are those of the platters, so that what is read on is what follows on the track.

/// A head that reads on.
struct Stream {
    /// What is held of it starts here.
    first: u64,
    /// When it began, as time and as media time.
    started_at: Nanos,
    began_media: u64,
    /// It stops here unless another read follows.
    limit: u64,
}

/// A read of what the head is about to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Follower {
    /// How long the head reads sectors that no read asked for before it comes to it; zero if it comes next or
    /// has been read.
    pub(super) wait: Nanos,
    /// When it is in memory.
    pub(super) until: Nanos,
}

/// Sectors in memory, and those that will be.
pub(super) struct ReadAhead {
    segment_sectors: u64,
    segments_max: usize,
    /// What earlier streams have left, the latest last.
    segments: VecDeque<Range<u64>>,
    stream: Option<Stream>,
}

impl ReadAhead {
    pub(super) fn new(segments_max: u32, segment_sectors: u64) -> Self {
        let segments_max = segments_max as usize;
        Self { segment_sectors, segments_max, segments: VecDeque::with_capacity(segments_max), stream: None }
    }

    /// Reading of `sectors` has just ended; the head reads on. What the stream held before them stays, as far as a
    /// segment goes.
    pub(super) fn start(&mut self, sectors: &Range<u64>, now: Nanos, platters: &Platters) {
        let first = match &self.stream {
            Some(stream) if stream.first <= sectors.start => stream.first,
            _ => sectors.start,
        };
        self.stream = Some(Stream {
            first: first.max(sectors.end.saturating_sub(self.segment_sectors)),
            started_at: now,
            began_media: platters.place(sectors.end - 1).end,
            limit: (sectors.end + self.segment_sectors).min(platters.sectors()),
        });
    }

    /// Whether these sectors are in memory.
    pub(super) fn holds(&self, sectors: &Range<u64>, now: Nanos, platters: &Platters) -> bool {
        let covers = |buffered: &Range<u64>| buffered.start <= sectors.start && sectors.end <= buffered.end;
        self.segments.iter().any(covers)
            || self.stream.as_ref().is_some_and(|stream| covers(&stream.buffered_range(now, platters)))
    }

    /// These sectors were read from memory: a head that still reads ahead behind them continues further.
    pub(super) fn on_taken(&mut self, sectors: &Range<u64>, now: Nanos, platters: &Platters) {
        let Some(stream) = &mut self.stream else { return };
        if stream.runs(now, platters) && stream.first <= sectors.start && sectors.end <= stream.limit {
            stream.first = sectors.start;
            stream.limit = stream.limit.max(sectors.end + self.segment_sectors).min(platters.sectors());
        }
    }

    /// What it takes to read ahead as far as these sectors, if the head is on its way to them.
    pub(super) fn follow(&self, sectors: &Range<u64>, now: Nanos, platters: &Platters) -> Option<Follower> {
        let stream = self.stream.as_ref()?;
        if !stream.runs(now, platters) || sectors.start < stream.first || stream.limit < sectors.start {
            return None;
        }
        let next = stream.buffered_range(now, platters).end;
        let wait = if sectors.start <= next {
            Nanos::ZERO
        } else {
            stream.reaches(sectors.start, platters).since(now)
        };
        Some(Follower { wait, until: stream.reaches(sectors.end, platters).max(now) })
    }

    /// The arm is called away: what the stream has read until now stays.
    pub(super) fn stop(&mut self, now: Nanos, platters: &Platters) {
        let Some(stream) = self.stream.take() else { return };
        if self.segments.len() == self.segments_max {
            self.segments.pop_front();
        }
        self.segments.push_back(stream.buffered_range(now, platters));
    }

    /// Gives memory back, the oldest first, until what was read takes no more than this, a stream's own
    /// segment included.
    pub(super) fn fit(&mut self, sectors_max: u64) {
        let buffered = |segment: &Range<u64>| segment.end - segment.start;
        let mut sectors = self.segments.iter().map(buffered).sum::<u64>() + self.segment_sectors;
        while sectors > sectors_max
            && let Some(oldest) = self.segments.pop_front()
        {
            sectors -= buffered(&oldest);
        }
    }

    /// These sectors are about to hold something else.
    pub(super) fn forget(&mut self, sectors: &Range<u64>) {
        let touches = |buffered: &Range<u64>| buffered.start < sectors.end && sectors.start < buffered.end;
        assert!(self.stream.is_none(), "an arm that writes has been called away");
        self.segments.retain(|segment| !touches(segment));
    }
}

impl Stream {
    /// When the sector before `end` has been read.
    fn reaches(&self, end: u64, platters: &Platters) -> Nanos {
        self.started_at + Nanos(platters.place(end - 1).end.saturating_sub(self.began_media))
    }

    /// Whether the head has not stopped reading on.
    fn runs(&self, now: Nanos, platters: &Platters) -> bool {
        now <= self.reaches(self.limit, platters)
    }

    /// What it has read.
    fn buffered_range(&self, now: Nanos, platters: &Platters) -> Range<u64> {
        let media_time = self.began_media + now.since(self.started_at).0;
        self.first..platters.sector_after(media_time).min(self.limit).max(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod write_cache {
        use super::*;
        use std::collections::BTreeSet;

        use proptest::prelude::*;

        const NOW: Nanos = Nanos(7);

        fn put(cache: &mut WriteCache, sectors: Range<u64>) -> bool {
            let room = cache.reserve(&sectors);
            if room {
                cache.put(sectors, NOW);
            }
            room
        }

        #[test]
        fn neighbors_join_and_strangers_take_room() {
            let mut cache = WriteCache::new(1000, 2);
            assert!(put(&mut cache, 0..8) && put(&mut cache, 8..16) && put(&mut cache, 4..12));
            assert!(put(&mut cache, 100..108));
            assert!(!put(&mut cache, 200..208), "two extents are all there is room for");
            assert!(put(&mut cache, 108..116));
            let starts: Vec<u64> = cache.extents().iter().map(|extent| extent.sectors.start).collect();
            assert_eq!(starts, [0, 100]);
            assert!(cache.holds(&(2..14)) && !cache.holds(&(14..18)));
            assert_eq!(cache.sectors(), 32);
            assert!(cache.grows(&cache.extents()[1]) && !cache.grows(&cache.extents()[0]));
        }

        #[test]
        fn room_comes_back_when_the_platters_have_it() {
            let mut cache = WriteCache::new(3000, 9);
            assert_eq!((cache.first_part(&(7..9)), cache.first_part(&(7..9000))), (7..9, 7..2055));
            assert!(put(&mut cache, 0..3000) && !put(&mut cache, 5000..5001));
            cache.take(0..2048);
            assert!(!put(&mut cache, 5000..5001) && cache.holds(&(0..8)));
            cache.on_written();
            assert!(put(&mut cache, 5000..5001) && !cache.holds(&(0..8)));
            cache.take(2048..3000);
            cache.on_written();
            assert_eq!(cache.sectors(), 1);
        }

        #[test]
        fn a_flush_waits_for_what_was_there_before() {
            let mut cache = WriteCache::new(1000, 9);
            assert!(cache.is_flushed(cache.mark()));
            put(&mut cache, 0..8);
            let mark = cache.mark();
            put(&mut cache, 100..108);
            assert!(!cache.is_flushed(mark));
            cache.take(0..8);
            assert!(!cache.is_flushed(mark));
            cache.on_written();
            assert!(cache.is_flushed(mark) && !cache.is_flushed(cache.mark()));
        }

        #[derive(Clone, Debug)]
        enum Act {
            Put(Range<u64>),
            Take(usize, u64),
            Written,
        }

        fn acts() -> impl Strategy<Value = Vec<Act>> {
            let range = (0u64..100, 1u64..20).prop_map(|(start, length)| start..start + length);
            let act = prop_oneof![
                4 => range.prop_map(Act::Put),
                2 => (any::<usize>(), 1u64..10).prop_map(|(index, length)| Act::Take(index, length)),
                2 => Just(Act::Written),
            ];
            prop::collection::vec(act, 1..60)
        }

        proptest! {
            /// Against plain sets of sectors that wait and that are on their way.
            #[test]
            fn every_sector_waits_once_until_it_is_taken(acts in acts()) {
                let mut cache = WriteCache::new(80, 6);
                let (mut waiting, mut away) = (BTreeSet::new(), BTreeSet::new());
                for act in acts {
                    match act {
                        Act::Put(range) => if put(&mut cache, range.clone()) {
                            waiting.extend(range);
                        },
                        Act::Take(index, length) => if away.is_empty() && !cache.extents().is_empty() {
                            let Range { start, end } = cache.extents()[index % cache.extents().len()].sectors;
                            let taken = start..end.min(start + length);
                            cache.take(taken.clone());
                            waiting.retain(|sector| !taken.contains(sector));
                            away.extend(taken);
                        },
                        Act::Written => if !away.is_empty() {
                            cache.on_written();
                            away.clear();
                        },
                    }
                    let mut sectors: Vec<u64> = cache.extents().iter().flat_map(|extent| extent.sectors.clone()).collect();
                    sectors.sort_unstable();
                    prop_assert!(sectors.iter().eq(&waiting), "{sectors:?} {waiting:?}");
                    prop_assert_eq!(cache.sectors(), (waiting.len() + away.len()) as u64);
                }
            }
        }
    }

    mod read_ahead {
        use super::*;
        use crate::disk::arm::tests::platters::platters;

        const LATE: Nanos = Nanos::from_secs(10);

        #[test]
        fn what_follows_is_there_when_the_head_has_come_by() {
            let platters = platters();
            let mut cache = ReadAhead::new(2, 1000);
            let start = Nanos(1_000_000);
            cache.start(&(0..100), start, &platters);
            let until = start + Nanos(platters.place(199).end - platters.place(99).end);
            let follow = cache.follow(&(100..200), start, &platters);
            assert_eq!(follow, Some(Follower { wait: Nanos::ZERO, until }));
            assert!(
                !cache.holds(&(100..200), start, &platters) && cache.holds(&(100..200), until, &platters)
            );
            assert!(cache.holds(&(0..50), start, &platters), "what was read is held");
            let follow = cache.follow(&(200..300), start, &platters).unwrap();
            assert_eq!(follow.wait, Nanos(platters.place(199).end - platters.place(99).end));
            assert_eq!(cache.follow(&(5000..5001), start, &platters), None);
        }

        #[test]
        fn a_stream_goes_on_while_it_is_followed_and_stops_when_it_is_not() {
            let platters = platters();
            let mut cache = ReadAhead::new(2, 1000);
            cache.start(&(0..100), Nanos(0), &platters);
            let follow =
                cache.follow(&(1100..3000), Nanos(0), &platters).expect("it starts where the head stops");
            cache.start(&(1100..3000), follow.until, &platters);
            assert!(cache.holds(&(2000..3000), follow.until, &platters), "a segment of it stays");
            assert!(!cache.holds(&(1999..3000), follow.until, &platters));
            assert!(cache.holds(&(3900..4000), LATE, &platters));
            assert_eq!(cache.follow(&(4000..4100), LATE, &platters), None, "it has stopped long ago");
        }

        #[test]
        fn a_stream_goes_on_while_it_is_taken_from_memory() {
            let platters = platters();
            let mut cache = ReadAhead::new(2, 1000);
            cache.start(&(0..100), Nanos(0), &platters);
            let halfway = cache.follow(&(500..600), Nanos(0), &platters).unwrap().until;
            assert!(cache.holds(&(500..600), halfway, &platters));
            cache.on_taken(&(500..600), halfway, &platters);
            assert!(
                cache.holds(&(1100..1600), LATE, &platters) && !cache.holds(&(1100..1601), LATE, &platters)
            );
            assert!(!cache.holds(&(400..500), LATE, &platters), "what is behind makes room");
            cache.on_taken(&(1500..1600), LATE, &platters);
            assert!(
                !cache.holds(&(1600..1601), LATE + LATE, &platters),
                "a head that has stopped stays stopped"
            );
        }

        #[test]
        fn so_many_segments_are_kept() {
            let platters = platters();
            let mut cache = ReadAhead::new(2, 1000);
            for start in [0u64, 10_000, 20_000] {
                cache.start(&(start..start + 100), Nanos(0), &platters);
                cache.stop(Nanos(0), &platters);
            }
            let buffered = |cache: &ReadAhead| {
                [0u64, 10_000, 20_000].map(|start| cache.holds(&(start..start + 100), Nanos(5), &platters))
            };
            assert_eq!(buffered(&cache), [false, true, true]);
            assert!(!cache.holds(&(20_001..20_101), LATE, &platters), "nothing was read beyond");
            cache.fit(1100);
            assert_eq!(buffered(&cache), [false, false, true], "the oldest goes first");
        }

        #[test]
        fn what_is_written_is_no_longer_held_as_it_was_read() {
            let platters = platters();
            let mut cache = ReadAhead::new(2, 1000);
            cache.start(&(0..100), Nanos(0), &platters);
            cache.stop(Nanos(0), &platters);
            cache.start(&(5000..5100), Nanos(0), &platters);
            cache.stop(Nanos(0), &platters);
            cache.forget(&(99..200));
            assert!(!cache.holds(&(0..8), LATE, &platters) && cache.holds(&(5000..5100), LATE, &platters));
        }
    }
}
