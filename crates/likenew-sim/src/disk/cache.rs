//! The memory of a disk: acknowledged writes that are not on the platters yet, and sectors that were read ahead.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::units::Nanos;

use super::arm::Platters;

// The write-back cache: extents (ranges of sectors) that are acknowledged but not yet on the platters.
//
// Extents never overlap. A new write replaces waiting sectors, so that only the newest copy of a sector is
// ever written.

/// The most sectors of a write that the cache admits at once. Chosen small so that parts fit the free space.
const PART_SECTORS_MAX: u64 = 2048;

/// Adjacent sectors that wait to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) sectors: Range<u64>,
    /// When its oldest write arrived.
    pub(super) since: Nanos,
    /// Sequence number of its oldest write.
    sequence: u64,
}

/// The extents that wait to be written, and those that the arm is writing.
pub(super) struct WriteCache {
    /// The extents that wait, in no particular order.
    pub(super) extents: Vec<Extent>,
    extents_max: usize,
    sectors_max: u64,
    /// Sectors that are waiting, being written, or reserved.
    pub(super) sectors: u64,
    reserved_extents: usize,
    /// Extents that the arm is writing.
    on_the_way: Vec<Extent>,
    sequence: u64,
    /// Sector at which the last write ended.
    last_end: u64,
    /// When the last write arrived.
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

    /// The first part of a write, as large as the cache admits at once.
    pub(super) fn first_part(&self, sectors: &Range<u64>) -> Range<u64> {
        sectors.start..sectors.end.min(sectors.start + self.sectors_max.min(PART_SECTORS_MAX))
    }

    /// Reserves space for a write whose data is about to arrive; false if there is none.
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

    /// Stores a write for which space was reserved.
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
            // Count sectors that were already here only once.
            self.sectors -= length(&overlap(&extent.sectors, &joined.sectors));
            joined = Extent {
                sectors: extent.sectors.start.min(joined.sectors.start)
                    ..extent.sectors.end.max(joined.sectors.end),
                since: extent.since.min(joined.since),
                sequence: extent.sequence.min(joined.sequence),
            };
            // The longer extent may touch one that was skipped.
            index = 0;
        }
        self.extents.push(joined);
    }

    /// Whether the cache holds all of these sectors, so that a read needs no arm.
    pub(super) fn holds(&self, sectors: &Range<u64>) -> bool {
        self.extents.iter().chain(&self.on_the_way).any(|extent| contains_range(sectors, &extent.sectors))
    }

    /// When the last write arrived, if any extent waits.
    pub(super) fn last_put(&self) -> Option<Nanos> {
        (!self.extents.is_empty()).then_some(self.last_put)
    }

    /// Whether the last write extended this extent, so that more may follow.
    pub(super) fn grows(&self, extent: &Extent) -> bool {
        extent.sectors.end == self.last_end
    }

    /// Moves sectors of one waiting extent to those that the arm is writing.
    pub(super) fn take(&mut self, sectors: Range<u64>) {
        let index = self.extents.iter().position(|extent| contains_range(&sectors, &extent.sectors));
        let index = index.expect("only what waits is taken");
        let Extent { since, sequence, .. } = self.extents[index];
        self.cut(index, &sectors);
        self.on_the_way.push(Extent { sectors, since, sequence });
    }

    /// Frees the space of what the arm has written.
    pub(super) fn on_written(&mut self) {
        assert!(!self.on_the_way.is_empty(), "something was on its way");
        self.sectors -= self.on_the_way.drain(..).map(|extent| length(&extent.sectors)).sum::<u64>();
    }

    /// A mark for all writes so far, to pass to [`is_flushed`](Self::is_flushed).
    pub(super) fn mark(&self) -> u64 {
        self.sequence
    }

    /// Whether every write before a mark is on the platters.
    pub(super) fn is_flushed(&self, mark: u64) -> bool {
        self.extents.iter().chain(&self.on_the_way).all(|extent| extent.sequence > mark)
    }

    /// Drops waiting sectors because a newer write bypasses the cache.
    pub(super) fn forget(&mut self, sectors: &Range<u64>) {
        let waits = |extent: &Extent| !overlap(&extent.sectors, sectors).is_empty();
        while let Some(index) = self.extents.iter().position(waits) {
            let part = overlap(&self.extents[index].sectors, sectors);
            self.sectors -= length(&part);
            self.cut(index, &part);
        }
    }

    /// Cuts a part out of an extent and keeps the rest on both sides.
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

// The read cache of a disk. After a read, the head stays and reads ahead until the arm is needed elsewhere.
//
// Addresses are physical, because read-ahead follows the track.

/// A read-ahead in progress.
struct Stream {
    /// The first sector that it still keeps.
    first: u64,
    /// When it began.
    started_at: Nanos,
    /// Media time when it began.
    began_media: u64,
    /// Where it stops unless another read follows.
    limit: u64,
}

/// A read of sectors that the read-ahead is about to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Follower {
    /// How long the head reads unrequested sectors before it gets there; zero if the sectors come next or are
    /// already read.
    pub(super) wait: Nanos,
    /// When all of them are in memory.
    pub(super) until: Nanos,
}

/// Sectors in memory, and those about to be read.
pub(super) struct ReadAhead {
    segment_sectors: u64,
    segments_max: usize,
    /// What earlier read-aheads left behind, the latest last.
    segments: VecDeque<Range<u64>>,
    stream: Option<Stream>,
}

impl ReadAhead {
    pub(super) fn new(segments_max: u32, segment_sectors: u64) -> Self {
        let segments_max = segments_max as usize;
        Self { segment_sectors, segments_max, segments: VecDeque::with_capacity(segments_max), stream: None }
    }

    /// Starts reading ahead after `sectors`, which the head has just read. Sectors before them stay in
    /// memory, up to one segment.
    pub(super) fn start(&mut self, sectors: &Range<u64>, now: Nanos, platters: &Platters) {
        let first = match &self.stream {
            Some(stream) if stream.first <= sectors.start => stream.first,
            _ => sectors.start,
        };
        self.stream = Some(Stream {
            first: first.max(sectors.end.saturating_sub(self.segment_sectors)),
            started_at: now,
            began_media: platters.place(sectors.end - 1).end,
            limit: (sectors.end + self.segment_sectors).min(platters.parameters.sectors),
        });
    }

    /// Whether these sectors are in memory.
    pub(super) fn holds(&self, sectors: &Range<u64>, now: Nanos, platters: &Platters) -> bool {
        let covers = |buffered: &Range<u64>| contains_range(sectors, buffered);
        self.segments.iter().any(covers)
            || self.stream.as_ref().is_some_and(|stream| covers(&stream.buffered_range(now, platters)))
    }

    /// Notes a read from memory. A read-ahead in progress then continues further.
    pub(super) fn on_taken(&mut self, sectors: &Range<u64>, now: Nanos, platters: &Platters) {
        let Some(stream) = &mut self.stream else { return };
        if stream.runs(now, platters) && stream.first <= sectors.start && sectors.end <= stream.limit {
            stream.first = sectors.start;
            stream.limit =
                stream.limit.max(sectors.end + self.segment_sectors).min(platters.parameters.sectors);
        }
    }

    /// When the read-ahead reaches these sectors, if it is on its way to them.
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

    /// Ends the read-ahead because the arm is needed elsewhere; what it has read stays in memory.
    pub(super) fn stop(&mut self, now: Nanos, platters: &Platters) {
        let Some(stream) = self.stream.take() else { return };
        if self.segments.len() == self.segments_max {
            self.segments.pop_front();
        }
        self.segments.push_back(stream.buffered_range(now, platters));
    }

    /// Drops the oldest segments until read data takes at most this much, the current read-ahead's full
    /// segment included.
    pub(super) fn fit(&mut self, sectors_max: u64) {
        let mut sectors = self.segments.iter().map(length).sum::<u64>() + self.segment_sectors;
        while sectors > sectors_max
            && let Some(oldest) = self.segments.pop_front()
        {
            sectors -= length(&oldest);
        }
    }

    /// Drops sectors that are about to be overwritten.
    pub(super) fn forget(&mut self, sectors: &Range<u64>) {
        let touches = |buffered: &Range<u64>| buffered.start < sectors.end && sectors.start < buffered.end;
        assert!(self.stream.is_none(), "an arm that writes has been called away");
        self.segments.retain(|segment| !touches(segment));
    }
}

impl Stream {
    /// When the sector before `end` is read.
    fn reaches(&self, end: u64, platters: &Platters) -> Nanos {
        self.started_at + Nanos(platters.place(end - 1).end.saturating_sub(self.began_media))
    }

    /// Whether it is still reading.
    fn runs(&self, now: Nanos, platters: &Platters) -> bool {
        now <= self.reaches(self.limit, platters)
    }

    /// What it has read by now.
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
            let starts: Vec<u64> = cache.extents.iter().map(|extent| extent.sectors.start).collect();
            assert_eq!(starts, [0, 100]);
            assert!(cache.holds(&(2..14)) && !cache.holds(&(14..18)));
            assert_eq!(cache.sectors, 32);
            assert!(cache.grows(&cache.extents[1]) && !cache.grows(&cache.extents[0]));
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
            assert_eq!(cache.sectors, 1);
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
            /// Compares the cache with plain sets of sectors that wait and that are being written.
            #[test]
            fn every_sector_waits_once_until_it_is_taken(acts in acts()) {
                let mut cache = WriteCache::new(80, 6);
                let (mut waiting, mut away) = (BTreeSet::new(), BTreeSet::new());
                for act in acts {
                    match act {
                        Act::Put(range) => if put(&mut cache, range.clone()) {
                            waiting.extend(range);
                        },
                        Act::Take(index, length) => if away.is_empty() && !cache.extents.is_empty() {
                            let Range { start, end } = cache.extents[index % cache.extents.len()].sectors;
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
                    let mut sectors: Vec<u64> = cache.extents.iter().flat_map(|extent| extent.sectors.clone()).collect();
                    sectors.sort_unstable();
                    prop_assert!(sectors.iter().eq(&waiting), "{sectors:?} {waiting:?}");
                    prop_assert_eq!(cache.sectors, (waiting.len() + away.len()) as u64);
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
