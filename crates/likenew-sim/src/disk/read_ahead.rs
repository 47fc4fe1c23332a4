//! The read cache of a disk: after a read the head stays where it is and reads on until it is called away.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::units::Nanos;

use super::platters::Platters;

/// A head that reads on.
struct Stream {
    /// What is held of it starts here.
    first: u64,
    /// When it began, as time and as media time.
    began: Nanos,
    began_media: u64,
    /// It stops here unless somebody follows.
    limit: u64,
}

/// Sectors in the cache, and those that will be.
pub(crate) struct ReadAhead {
    segment_sectors: u64,
    segments_max: usize,
    /// What earlier streams have left, the latest last.
    segments: VecDeque<Range<u64>>,
    stream: Option<Stream>,
}

impl ReadAhead {
    pub(crate) fn new(segments_max: u32, segment_sectors: u64) -> Self {
        let segments_max = segments_max as usize;
        Self { segment_sectors, segments_max, segments: VecDeque::with_capacity(segments_max), stream: None }
    }

    /// Reading of `sectors` has just ended; the head reads on.
    pub(crate) fn start(&mut self, sectors: Range<u64>, now: Nanos, platters: &Platters) {
        let limit = (sectors.end + self.segment_sectors).min(platters.sectors());
        let first = sectors.start.max(sectors.end.saturating_sub(self.segment_sectors));
        let began_media = platters.place(sectors.end - 1).end;
        self.stream = Some(Stream { first, began: now, began_media, limit });
    }

    /// When these sectors are in the cache without anyone moving the arm: now, later, or not at all. A stream that
    /// is followed reads on.
    pub(crate) fn ready(&mut self, sectors: &Range<u64>, now: Nanos, platters: &Platters) -> Option<Nanos> {
        let covers = |held: &Range<u64>| held.start <= sectors.start && sectors.end <= held.end;
        if self.segments.iter().any(covers) {
            return Some(now);
        }
        let stream = self.stream.as_mut()?;
        let running = now < stream.reaches(stream.limit, platters);
        if sectors.start < stream.first || sectors.start > stream.limit {
            return None;
        }
        if running {
            let ahead = (sectors.end + self.segment_sectors).min(platters.sectors());
            stream.limit = stream.limit.max(ahead);
            stream.first = stream.first.max(sectors.start.saturating_sub(self.segment_sectors));
        }
        (sectors.end <= stream.limit).then(|| stream.reaches(sectors.end, platters).max(now))
    }

    /// The arm is called away: what the stream has read until now stays.
    pub(crate) fn stop(&mut self, now: Nanos, platters: &Platters) {
        let Some(stream) = self.stream.take() else { return };
        let media_time = stream.began_media + now.since(stream.began).0;
        let end = platters.sector_after(media_time).min(stream.limit);
        if self.segments.len() == self.segments_max {
            self.segments.pop_front();
        }
        self.segments.push_back(stream.first..end);
    }
}

impl Stream {
    /// When the sector before `end` has been read.
    fn reaches(&self, end: u64, platters: &Platters) -> Nanos {
        self.began + Nanos(platters.place(end - 1).end.saturating_sub(self.began_media))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::platters::tests::platters;

    #[test]
    fn what_follows_is_there_when_the_head_has_come_by() {
        let platters = platters();
        let mut cache = ReadAhead::new(2, 1000);
        let start = Nanos(1_000_000);
        cache.start(0..100, start, &platters);
        let due = start + Nanos(platters.place(199).end - platters.place(99).end);
        assert_eq!(cache.ready(&(100..200), start, &platters), Some(due));
        assert_eq!(cache.ready(&(0..50), start, &platters), Some(start), "what was read is held");
        assert_eq!(cache.ready(&(5000..5001), start, &platters), None);
    }

    #[test]
    fn a_stream_goes_on_while_it_is_followed_and_stops_when_it_is_not() {
        let platters = platters();
        let mut cache = ReadAhead::new(2, 1000);
        cache.start(0..100, Nanos(0), &platters);
        assert!(cache.ready(&(1000..1100), Nanos(0), &platters).is_some());
        assert!(cache.ready(&(1900..2000), Nanos(0), &platters).is_some());
        let late = Nanos::from_secs(10);
        assert_eq!(cache.ready(&(2900..3000), late, &platters), Some(late));
        assert_eq!(cache.ready(&(3000..3100), late, &platters), None, "it has stopped long ago");
    }

    #[test]
    fn so_many_segments_are_kept() {
        let platters = platters();
        let mut cache = ReadAhead::new(2, 1000);
        for start in [0u64, 10_000, 20_000] {
            cache.start(start..start + 100, Nanos(0), &platters);
            cache.stop(Nanos(0), &platters);
        }
        let mut held = |start: u64| cache.ready(&(start..start + 100), Nanos(5), &platters);
        assert_eq!((held(0), held(10_000), held(20_000)), (None, Some(Nanos(5)), Some(Nanos(5))));
        assert_eq!(held(20_001), None, "nothing was read beyond");
    }
}
