//! Decides when the I/Os of a recording are due: at their times, or after the I/Os that ended before them in
//! the recording. Long pauses are cut.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use likenew_core::trace::{ReplayClock, ReplayTiming, TraceIo};
use likenew_core::units::Nanos;

/// Says when each I/O is due, one after the other.
pub(crate) struct Pacer {
    rule: Rule,
    timeline: Timeline,
    speed: f64,
    /// When the replay began, and when the latest I/O was due: no later I/O is due before that.
    started_at: Nanos,
    last_due: Nanos,
}

enum Rule {
    Fast,
    Timed,
    Dependent(Box<Gate>),
    /// Each application does one I/O at a time.
    Closed(Vec<Option<SerialClient>>, Moment),
}

/// One application that does one I/O after the other.
#[derive(Clone, Copy)]
struct SerialClient {
    /// When its latest I/O left in the recording, and was due in the replay.
    at: Nanos,
    due: Nanos,
    /// When that I/O ended in the replay; never while it is in flight.
    done: Nanos,
}

/// When an I/O may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DueTime {
    /// As soon as a slot is free.
    AtOnce,
    /// At this time.
    At(Nanos),
    /// After another I/O has ended.
    Unknown,
}

impl Pacer {
    pub(crate) fn new(timing: ReplayTiming) -> Self {
        let rule = match timing {
            ReplayTiming::Prepare | ReplayTiming::Fast => Rule::Fast,
            ReplayTiming::Timed(_) => Rule::Timed,
            ReplayTiming::Dependent(ReplayClock { closed: false, .. }) => {
                Rule::Dependent(Box::new(Gate::new()))
            }
            ReplayTiming::Dependent(ReplayClock { closed: true, .. }) => {
                Rule::Closed(Vec::new(), Moment { at: Nanos::ZERO, cut: Nanos::ZERO })
            }
        };
        let clock = timing.clock();
        Self {
            rule,
            timeline: Timeline::new(clock.and_then(|clock| clock.idle_max)),
            speed: clock.map_or(1.0, |clock| clock.speed),
            started_at: Nanos::ZERO,
            last_due: Nanos::ZERO,
        }
    }

    /// Begins the replay.
    pub(crate) fn begin(&mut self, now: Nanos) {
        (self.started_at, self.last_due) = (now, now);
        if let Rule::Dependent(gate) = &mut self.rule {
            gate.begin(now);
        }
    }

    /// Whether it sets no times.
    pub(crate) fn is_fast(&self) -> bool {
        matches!(self.rule, Rule::Fast)
    }

    /// Moves to the next I/O of the recording.
    pub(crate) fn moment(&mut self, io: &TraceIo) -> Moment {
        self.timeline.moment(io)
    }

    /// When an I/O is due. Callers ask only for the next I/O, again and again until its time is known.
    pub(crate) fn due(&mut self, io: &TraceIo, moment: Moment) -> DueTime {
        let due = match &mut self.rule {
            Rule::Fast => return DueTime::AtOnce,
            Rule::Timed => self.started_at + scaled_time(moment.at, self.speed),
            Rule::Dependent(gate) => match gate.opening(io.at) {
                None => return DueTime::Unknown,
                Some(opening) => opening.since + scaled_time(opening.think.since(moment.cut), self.speed),
            },
            Rule::Closed(applications, before) => {
                match applications.get(usize::from(io.application)).copied().flatten() {
                    Some(application) if application.done == Nanos::NEVER => return DueTime::Unknown,
                    Some(application) => (application.due
                        + scaled_time(moment.at.since(application.at), self.speed))
                    .max(application.done),
                    None => self.last_due + scaled_time(moment.at.since(before.at), self.speed),
                }
            }
        };
        DueTime::At(due.max(self.last_due))
    }

    /// Notes that an I/O leaves, and returns what [`Pacer::on_end`] needs to recognize it, if anything.
    pub(crate) fn depart(&mut self, io: &TraceIo, moment: Moment, due: Option<Nanos>) -> Option<u32> {
        self.last_due = due.unwrap_or(self.last_due);
        match (&mut self.rule, io.latency) {
            (Rule::Dependent(gate), Some(latency)) => Some(gate.depart(io.at + latency)),
            (Rule::Closed(applications, before), _) => {
                let index = usize::from(io.application);
                if index >= applications.len() {
                    applications.resize(index + 1, None);
                }
                applications[index] =
                    Some(SerialClient { at: moment.at, due: self.last_due, done: Nanos::NEVER });
                *before = moment;
                None
            }
            _ => None,
        }
    }

    /// Notes that an I/O has ended in the replay.
    pub(crate) fn on_end(&mut self, io: &TraceIo, token: Option<u32>, at: Nanos) {
        match (&mut self.rule, token) {
            (Rule::Dependent(gate), Some(token)) => gate.on_end(token, at),
            (Rule::Closed(applications, _), _) => {
                let application = applications[usize::from(io.application)].as_mut();
                application.expect("its I/O has left before").done = at;
            }
            _ => {}
        }
    }
}

fn scaled_time(span: Nanos, speed: f64) -> Nanos {
    if speed == 1.0 { span } else { Nanos((span.0 as f64 / speed) as u64) }
}

/// Most I/Os that have left in the replay and had not ended in the recording. Beyond that, the first to end
/// in the recording is assumed to have ended.
const WINDOW: usize = 1 << 16;

/// What the next I/O of a recording has to wait for, in constant memory.
///
/// I/Os come in the order of the recording, so all that had ended there before an I/O left have already left
/// in the replay.
pub(crate) struct Gate {
    /// When I/Os ended in the recording that were in flight when the latest one left there, with their
    /// positions in `entries`.
    ends: BinaryHeap<Reverse<(Nanos, u32)>>,
    entries: Vec<Entry>,
    free: Vec<u32>,
    /// I/Os that ended in the recording but are in flight in the replay.
    blocking_count: usize,
    /// The latest end in the recording, and in the replay, of the I/Os that had ended.
    recording_end: Nanos,
    replay_end: Nanos,
}

#[derive(Clone, Copy, Default)]
struct Entry {
    ended_in_recording: bool,
    ended_in_replay: Option<Nanos>,
}

/// An open gate: since when it is open, and the recorded time from the opening to the departure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GateOpening {
    pub(crate) since: Nanos,
    pub(crate) think: Nanos,
}

impl Gate {
    pub(crate) fn new() -> Self {
        Self {
            ends: BinaryHeap::with_capacity(WINDOW),
            entries: Vec::new(),
            free: Vec::new(),
            blocking_count: 0,
            recording_end: Nanos::ZERO,
            replay_end: Nanos::ZERO,
        }
    }

    /// Begins the replay.
    pub(crate) fn begin(&mut self, now: Nanos) {
        self.replay_end = now;
    }

    /// Whether an I/O may leave that left `at` in the recording; `at` is not before that of the call before.
    pub(crate) fn opening(&mut self, at: Nanos) -> Option<GateOpening> {
        while self.ends.peek().is_some_and(|Reverse((end, _))| *end <= at) {
            self.recorded_end();
        }
        (self.blocking_count == 0)
            .then(|| GateOpening { since: self.replay_end, think: at.since(self.recording_end) })
    }

    fn recorded_end(&mut self) {
        let Reverse((end, index)) = self.ends.pop().expect("there is one");
        self.recording_end = self.recording_end.max(end);
        match self.entries[index as usize].ended_in_replay {
            Some(replay_end) => self.pass(index, replay_end),
            None => {
                self.entries[index as usize].ended_in_recording = true;
                self.blocking_count += 1;
            }
        }
    }

    /// Notes that an I/O leaves that ended at `end` in the recording. The result is for [`Gate::on_end`].
    pub(crate) fn depart(&mut self, end: Nanos) -> u32 {
        if self.ends.len() >= WINDOW {
            self.recorded_end();
        }
        let index = self.free.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            (self.entries.len() - 1) as u32
        });
        self.entries[index as usize] = Entry::default();
        self.ends.push(Reverse((end, index)));
        index
    }

    /// Notes that an I/O has ended in the replay.
    pub(crate) fn on_end(&mut self, index: u32, at: Nanos) {
        if self.entries[index as usize].ended_in_recording {
            self.blocking_count -= 1;
            self.pass(index, at);
        } else {
            self.entries[index as usize].ended_in_replay = Some(at);
        }
    }

    fn pass(&mut self, index: u32, replay_end: Nanos) {
        self.replay_end = self.replay_end.max(replay_end);
        self.free.push(index);
    }
}

/// Follows the time of a recording, and cuts its pauses to their limit.
pub(crate) struct Timeline {
    idle_max: Nanos,
    /// Until when something was in flight, as far as known.
    quiet_since: Nanos,
    cut: Nanos,
}

/// When an I/O left in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// Its time without all cuts so far.
    pub(crate) at: Nanos,
    /// What was cut from the pause before it.
    pub(crate) cut: Nanos,
}

impl Timeline {
    pub(crate) fn new(idle_max: Option<Nanos>) -> Self {
        Self { idle_max: idle_max.unwrap_or(Nanos::NEVER), quiet_since: Nanos::ZERO, cut: Nanos::ZERO }
    }

    /// Moves to the next I/O. An I/O of unknown latency counts as ended when it left.
    pub(crate) fn moment(&mut self, io: &TraceIo) -> Moment {
        let cut = io.at.since(self.quiet_since).since(self.idle_max);
        self.cut += cut;
        self.quiet_since = self.quiet_since.max(io.at + io.latency.unwrap_or_default());
        Moment { at: io.at.since(self.cut), cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(since: u64, think: u64) -> Option<GateOpening> {
        Some(GateOpening { since: Nanos(since), think: Nanos(think) })
    }

    #[test]
    fn it_opens_when_all_that_had_ended_has_ended() {
        let mut gate = Gate::new();
        gate.begin(Nanos(1000));
        assert_eq!(gate.opening(Nanos(0)), opening(1000, 0));
        let first = gate.depart(Nanos(10));
        assert_eq!(gate.opening(Nanos(5)), opening(1000, 5), "nothing had ended yet");
        let second = gate.depart(Nanos(20));
        assert_eq!(gate.opening(Nanos(15)), None, "the first had ended");
        gate.on_end(second, Nanos(1001));
        assert_eq!(gate.opening(Nanos(15)), None);
        gate.on_end(first, Nanos(1002));
        assert_eq!(gate.opening(Nanos(15)), opening(1002, 5));
        assert_eq!(gate.opening(Nanos(50)), opening(1002, 30), "the second, which ended earlier here");
    }

    #[test]
    fn memory_is_bounded_whatever_the_recording_says() {
        let mut gate = Gate::new();
        for io in 0..3 * WINDOW as u64 {
            let index = gate.depart(Nanos(u64::MAX - io % 7));
            assert!(gate.opening(Nanos(io)).is_some());
            gate.on_end(index, Nanos(io));
        }
        assert!(gate.entries.len() <= WINDOW + 1 && gate.ends.len() <= WINDOW, "{}", gate.entries.len());
    }
}
