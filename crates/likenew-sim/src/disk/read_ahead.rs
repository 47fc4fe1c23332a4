//! The read cache of a disk: after a read the head stays where it is and reads on until it is called away.
//!
//! Addresses are those of the platters, so that what is read on is what follows on the track.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::units::Nanos;

use super::platters::Platters;

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
    use crate::disk::platters::tests::platters;

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
        assert!(!cache.holds(&(100..200), start, &platters) && cache.holds(&(100..200), until, &platters));
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
        assert!(cache.holds(&(1100..1600), LATE, &platters) && !cache.holds(&(1100..1601), LATE, &platters));
        assert!(!cache.holds(&(400..500), LATE, &platters), "what is behind makes room");
        cache.on_taken(&(1500..1600), LATE, &platters);
        assert!(!cache.holds(&(1600..1601), LATE + LATE, &platters), "a head that has stopped stays stopped");
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
