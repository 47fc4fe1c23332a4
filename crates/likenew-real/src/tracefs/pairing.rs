//! Pairs requests that left with requests that ended, and makes I/Os of them, in bounded memory.

use std::collections::{BTreeMap, HashMap, VecDeque};

use likenew_core::io::Op;
use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

use super::event::{BlockEvent, Step};

/// Most I/Os that wait for their own end, or for that of an earlier one: 256 Ki of them are 20 MiB.
const WAITING_MOST: usize = 1 << 18;
/// Longer than any driver waits for a drive before it tries again. An I/O that has not ended by then is given
/// out without a latency, as later ones cannot be given out before it.
const PATIENCE_NS: u64 = 60 * 1_000_000_000;
/// Most requests in schedulers whose submitters are remembered.
const SUBMITTERS_MOST: usize = 1 << 16;

/// What is known of the I/Os so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// I/Os that were given out.
    pub ios: u64,
    /// How many of these I/Os have no latency: their end was not seen.
    pub open: u64,
    /// Ends of I/Os whose start was not seen: they left before the recording began, or their start was lost.
    pub headless: u64,
    /// I/Os that ended with an error; they are among those that were given out.
    pub failed: u64,
    /// I/Os of our own threads, which were left out.
    pub own_ios: u64,
    /// Bytes of our own threads' I/Os.
    pub own_bytes: u64,
}

/// The index of a drive, and one of its I/Os.
pub(crate) type PairedIo = (usize, TraceIo);

/// The key of requests in flight. Requests with equal keys end in the order in which they left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Key {
    drive: u16,
    op: Op,
    sector: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The I/O is on its way.
    Open,
    /// The I/O ended, at this time.
    Ended(u64),
    /// How the I/O ended will not be known.
    Unknown,
    /// The I/O went back, and will leave again.
    Withdrawn,
}

#[derive(Debug)]
struct Waiting {
    key: Key,
    at: u64,
    first_sector: u64,
    sectors: u32,
    /// Sectors that have not ended yet.
    remaining: u32,
    application: u16,
    is_own: bool,
    state: State,
}

/// Pairs starts with ends, and gives out I/Os in the order in which they left.
#[derive(Default)]
pub(crate) struct Pairing {
    waiting: VecDeque<Waiting>,
    /// The number of the first I/O that waits.
    first: u64,
    /// The numbers of I/Os on their way, by key, and for equal keys by turn.
    on_way: BTreeMap<(Key, u64), u64>,
    /// How many I/Os were put on their way so far.
    turns: u64,
    /// The thread and the application that gave a request to the scheduler.
    submitters: HashMap<Key, (u32, u16)>,
    /// For each drive: when its first I/O left, and when the last one that was given out did.
    times: Vec<Option<(u64, u64)>>,
    /// For each drive: its first sector on its disk.
    origins: Vec<u64>,
    own_threads: Vec<u32>,
    counts: PairCounts,
}

impl Pairing {
    /// For drives that begin at these sectors of their disks; I/Os of `own_threads` are left out.
    pub(crate) fn new(origins: Vec<u64>, own_threads: Vec<u32>) -> Self {
        Self { times: vec![None; origins.len()], origins, own_threads, ..Self::default() }
    }

    pub(crate) fn counts(&self) -> PairCounts {
        self.counts
    }

    /// Leaves out the I/Os of another thread from now on.
    pub(crate) fn exclude(&mut self, thread: u32) {
        self.own_threads.push(thread);
    }

    /// How many I/Os have not ended yet.
    pub(crate) fn open(&self) -> usize {
        self.waiting.iter().filter(|waiting| waiting.state == State::Open).count()
    }

    /// Takes one step of a request to a drive.
    pub(crate) fn take(&mut self, drive: usize, event: &BlockEvent) {
        let key = Key { drive: drive as u16, op: event.op, sector: event.sector };
        match event.step {
            Step::Insert => {
                if self.submitters.len() >= SUBMITTERS_MOST {
                    self.submitters.clear();
                }
                self.submitters.insert(key, (event.thread, event.application));
            }
            Step::Issue => self.issue(key, event),
            Step::Requeue => self.requeue(key, event),
            Step::Complete => self.complete(key, event),
            Step::Lost => unreachable!("a gap has no drive"),
        }
    }

    /// Notes that steps are missing. I/Os on their way may have ended unseen, so pairing them with a later
    /// end would be a guess.
    pub(crate) fn forget(&mut self) {
        self.on_way.clear();
        self.submitters.clear();
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.state == State::Open) {
            waiting.state = State::Unknown;
        }
    }

    /// The next I/O in the order of leaving, if it is known by `now`.
    pub(crate) fn next(&mut self, now: u64) -> Option<PairedIo> {
        loop {
            let front = self.waiting.front()?;
            if front.state == State::Open {
                let patient =
                    self.waiting.len() <= WAITING_MOST && now.saturating_sub(front.at) <= PATIENCE_NS;
                if patient {
                    return None;
                }
                let (key, first) = (front.key, self.first);
                // An I/O that ended in parts need not be the first of its key.
                let mut with_key = self.on_way.range((key, 0)..=(key, u64::MAX));
                let place = with_key.find(|(_, number)| **number == first).map(|(place, _)| *place);
                place.and_then(|place| self.on_way.remove(&place));
            }
            if let Some(paired) = self.give_out() {
                return Some(paired);
            }
        }
    }

    fn give_out(&mut self) -> Option<PairedIo> {
        let io = self.waiting.pop_front()?;
        self.first += 1;
        if io.state == State::Withdrawn || io.is_own {
            return None;
        }
        let drive = usize::from(io.key.drive);
        let (started_at, last) = self.times[drive].unwrap_or((io.at, io.at));
        // A record that a processor delivers late has a time that is past.
        let at = io.at.max(last);
        self.times[drive] = Some((started_at, at));
        self.counts.ios += 1;
        let latency = match io.state {
            State::Ended(end) => Some(Nanos(end.saturating_sub(io.at))),
            _ => None,
        };
        self.counts.open += u64::from(latency.is_none());
        let sector = io.first_sector.saturating_sub(self.origins[drive]);
        let offset = if io.key.op == Op::Flush { 0 } else { sector.saturating_mul(SECTOR) };
        let length = u64::from(io.sectors) * SECTOR;
        let at = Nanos(at - started_at);
        Some((drive, TraceIo { at, op: io.key.op, offset, length, latency, application: io.application }))
    }

    fn issue(&mut self, key: Key, event: &BlockEvent) {
        let submitter = self.submitters.remove(&key);
        let (thread, application) = submitter.unwrap_or((event.thread, event.application));
        let is_own = self.own_threads.contains(&thread);
        if is_own {
            self.counts.own_ios += 1;
            self.counts.own_bytes += u64::from(event.sectors) * SECTOR;
        }
        let number = self.first + self.waiting.len() as u64;
        self.waiting.push_back(Waiting {
            key,
            at: event.at,
            first_sector: event.sector,
            sectors: event.sectors,
            remaining: event.sectors,
            application,
            is_own,
            state: State::Open,
        });
        self.put_on_way(key, number);
    }

    fn requeue(&mut self, key: Key, event: &BlockEvent) {
        let Some(number) = self.take_off_way(key) else { return };
        let waiting = self.waiting_mut(number);
        waiting.state = State::Withdrawn;
        let submitter = (event.thread, waiting.application);
        let is_own = std::mem::replace(&mut waiting.is_own, false);
        if is_own {
            self.counts.own_ios -= 1;
            self.counts.own_bytes -= u64::from(event.sectors) * SECTOR;
        }
        let thread = if is_own { self.own_threads[0] } else { 0 };
        if self.submitters.len() < SUBMITTERS_MOST {
            self.submitters.insert(key, (thread, submitter.1));
        }
    }

    fn complete(&mut self, key: Key, event: &BlockEvent) {
        let Some(number) = self.take_off_way(key) else {
            self.counts.headless += 1;
            return;
        };
        let waiting = self.waiting_mut(number);
        if event.failed && !waiting.is_own {
            self.counts.failed += 1;
        }
        let waiting = self.waiting_mut(number);
        waiting.remaining = waiting.remaining.saturating_sub(event.sectors);
        if waiting.remaining == 0 {
            waiting.state = State::Ended(event.at);
        } else {
            // The rest ends later; its key has the sector at which it begins.
            let rest = Key { sector: key.sector.saturating_add(event.sectors.into()), ..key };
            waiting.key = rest;
            self.put_on_way(rest, number);
        }
    }

    fn waiting_mut(&mut self, number: u64) -> &mut Waiting {
        &mut self.waiting[(number - self.first) as usize]
    }

    /// Puts an I/O behind all others of its key.
    fn put_on_way(&mut self, key: Key, number: u64) {
        self.on_way.insert((key, self.turns), number);
        self.turns += 1;
    }

    /// Takes the I/O with this key that has waited longest.
    fn take_off_way(&mut self, key: Key) -> Option<u64> {
        let (place, _) = self.on_way.range((key, 0)..=(key, u64::MAX)).next()?;
        let place = *place;
        self.on_way.remove(&place)
    }
}

/// The sector in which the kernel counts, in bytes, whatever the drive's own is.
const SECTOR: u64 = 512;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(step: Step, at: u64, op: Op, sector: u64, sectors: u32) -> BlockEvent {
        BlockEvent { at, sector, sectors, device: 0, thread: 9, application: 1, op, step, failed: false }
    }

    fn pairing() -> Pairing {
        Pairing::new(vec![0, 1000], vec![77])
    }

    fn drain(pairing: &mut Pairing, now: u64) -> Vec<PairedIo> {
        std::iter::from_fn(|| pairing.next(now)).collect()
    }

    fn io(at: u64, op: Op, offset: u64, length: u64, latency: Option<u64>) -> TraceIo {
        TraceIo { at: Nanos(at), op, offset, length, latency: latency.map(Nanos), application: 1 }
    }

    #[test]
    fn ios_come_out_in_the_order_in_which_they_left() {
        let mut pairing = pairing();
        pairing.take(0, &event(Step::Issue, 100, Op::Read, 8, 8));
        pairing.take(0, &event(Step::Issue, 110, Op::Write, 8, 16));
        pairing.take(1, &event(Step::Issue, 120, Op::Trim, 1024, 2048));
        pairing.take(0, &event(Step::Complete, 130, Op::Write, 8, 16));
        assert_eq!(drain(&mut pairing, 130), []);
        pairing.take(0, &event(Step::Complete, 150, Op::Read, 8, 8));
        assert_eq!(
            drain(&mut pairing, 150),
            [(0, io(0, Op::Read, 4096, 4096, Some(50))), (0, io(10, Op::Write, 4096, 8192, Some(20)))]
        );
        pairing.take(1, &event(Step::Complete, 170, Op::Trim, 1024, 2048));
        assert_eq!(drain(&mut pairing, 170), [(1, io(0, Op::Trim, 24 * 512, 1 << 20, Some(50)))]);
    }

    #[test]
    fn equal_places_end_in_the_order_in_which_they_left() {
        let mut pairing = pairing();
        for at in [0, 1, 2] {
            pairing.take(0, &event(Step::Issue, at, Op::Flush, 0, 0));
        }
        for at in [10, 20, 30] {
            pairing.take(0, &event(Step::Complete, at, Op::Flush, 0, 0));
        }
        let latencies: Vec<_> =
            drain(&mut pairing, 30).into_iter().map(|(_, io)| io.latency.unwrap().0).collect();
        assert_eq!(latencies, [10, 19, 28]);
    }

    #[test]
    fn an_io_may_end_in_parts() {
        let mut pairing = pairing();
        pairing.take(0, &event(Step::Issue, 0, Op::Read, 0, 64));
        pairing.take(0, &event(Step::Complete, 5, Op::Read, 0, 24));
        assert_eq!(drain(&mut pairing, 5), []);
        pairing.take(0, &event(Step::Complete, 9, Op::Read, 24, 40));
        assert_eq!(drain(&mut pairing, 9), [(0, io(0, Op::Read, 0, 64 * 512, Some(9)))]);
    }

    #[test]
    fn what_went_back_leaves_once() {
        let mut pairing = pairing();
        pairing.take(0, &event(Step::Issue, 0, Op::Read, 0, 8));
        pairing.take(0, &event(Step::Requeue, 3, Op::Read, 0, 8));
        let worker = BlockEvent { application: 2, ..event(Step::Issue, 5, Op::Read, 0, 8) };
        pairing.take(0, &worker);
        pairing.take(0, &event(Step::Complete, 9, Op::Read, 0, 8));
        assert_eq!(drain(&mut pairing, 9), [(0, io(0, Op::Read, 0, 4096, Some(4)))]);
    }

    #[test]
    fn the_submitter_counts_not_the_worker_that_issues() {
        let mut pairing = pairing();
        pairing.take(0, &event(Step::Insert, 0, Op::Read, 0, 8));
        pairing.take(0, &BlockEvent { application: 5, ..event(Step::Issue, 1, Op::Read, 0, 8) });
        pairing.take(0, &event(Step::Complete, 2, Op::Read, 0, 8));
        // Our own I/O, which we gave to the scheduler and a worker issued.
        pairing.take(0, &BlockEvent { thread: 77, ..event(Step::Insert, 3, Op::Write, 8, 8) });
        pairing.take(0, &event(Step::Issue, 4, Op::Write, 8, 8));
        pairing.take(0, &event(Step::Complete, 5, Op::Write, 8, 8));
        assert_eq!(drain(&mut pairing, 9), [(0, io(0, Op::Read, 0, 4096, Some(1)))]);
        let counts = pairing.counts();
        assert_eq!((counts.ios, counts.own_ios, counts.own_bytes), (1, 1, 4096));
    }

    #[test]
    fn a_gap_leaves_no_guesses() {
        let mut pairing = pairing();
        pairing.take(0, &event(Step::Issue, 0, Op::Read, 0, 8));
        pairing.forget();
        pairing.take(0, &event(Step::Issue, 10, Op::Read, 0, 8));
        pairing.take(0, &event(Step::Complete, 12, Op::Read, 0, 8));
        pairing.take(0, &event(Step::Complete, 14, Op::Write, 0, 8));
        assert_eq!(
            drain(&mut pairing, 14),
            [(0, io(0, Op::Read, 0, 4096, None)), (0, io(10, Op::Read, 0, 4096, Some(2)))]
        );
        assert_eq!(pairing.counts(), PairCounts { ios: 2, open: 1, headless: 1, ..PairCounts::default() });
    }

    #[test]
    fn what_never_ends_neither_grows_nor_holds_up() {
        let mut pairing = pairing();
        let mut given = 0;
        for at in 0..2 * WAITING_MOST as u64 {
            pairing.take(0, &event(Step::Issue, at, Op::Write, at * 8, 8));
            given += drain(&mut pairing, at).len();
        }
        assert_eq!(given, WAITING_MOST);
        assert!(pairing.waiting.len() <= WAITING_MOST && pairing.on_way.len() <= WAITING_MOST);
        assert_eq!(drain(&mut pairing, PATIENCE_NS + 4 * WAITING_MOST as u64).len(), WAITING_MOST);
        assert!(pairing.on_way.is_empty());
        for sector in 0..2 * SUBMITTERS_MOST as u64 {
            pairing.take(0, &event(Step::Insert, 0, Op::Write, sector, 8));
        }
        assert!(pairing.submitters.len() <= SUBMITTERS_MOST);
    }

    proptest! {
        /// In whatever order steps come, times never go back, and every start comes out once unless it was withdrawn.
        #[test]
        fn any_order_keeps_the_promises(steps in prop::collection::vec((0u8..5, 0u64..4, 0u32..3, 0u64..50), 0..200)) {
            let mut pairing = pairing();
            let (mut issued, mut given) = (0, Vec::new());
            for (step, place, sectors, at) in steps {
                let step = match step {
                    0 => Step::Insert,
                    1 | 2 => Step::Issue,
                    3 => Step::Requeue,
                    _ => Step::Complete,
                };
                issued += usize::from(step == Step::Issue);
                pairing.take(0, &event(step, at, Op::Read, place, sectors));
                given.extend(drain(&mut pairing, at));
            }
            given.extend(drain(&mut pairing, u64::MAX));
            prop_assert!(given.len() <= issued);
            prop_assert!(given.windows(2).all(|pair| pair[0].1.at <= pair[1].1.at));
            prop_assert!(pairing.on_way.is_empty() && pairing.waiting.is_empty());
        }
    }
}
