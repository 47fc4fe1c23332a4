//! When the I/Os of a recording are due.

use likenew_core::trace::{ReplayClock, ReplayTiming, TraceIo};
use likenew_core::units::Nanos;

use super::gate::Gate;
use super::timeline::{Moment, Timeline};

/// Says when each I/O is due, one after the other.
pub(crate) struct Pacer {
    rule: Rule,
    timeline: Timeline,
    speed: f64,
    /// When the replay began, and when the I/O before the next was due: none is due before the one that left before it.
    started_at: Nanos,
    last_due: Nanos,
}

enum Rule {
    Fast,
    Timed,
    Dependent(Box<Gate>),
    /// One I/O at a time of each application.
    Closed(Vec<SerialClient>, Moment),
}

/// One application that does one I/O after the other.
#[derive(Clone, Copy)]
struct SerialClient {
    /// When its last one left in the recording, and was due in the replay.
    at: Nanos,
    due: Nanos,
    /// When that one ended in the replay; never while it is in flight.
    done: Nanos,
}

/// When an I/O leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DueTime {
    /// As soon as a slot is free.
    AtOnce,
    /// Then.
    At(Nanos),
    /// Something else has to end first.
    Unknown,
}

/// What [`Pacer::on_end`] wants to know again of an I/O.
#[derive(Clone, Copy, Default)]
pub(crate) struct Token(u32);

const NO_TOKEN: Token = Token(u32::MAX);

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

    /// The replay begins.
    pub(crate) fn begin(&mut self, now: Nanos) {
        (self.started_at, self.last_due) = (now, now);
        if let Rule::Dependent(gate) = &mut self.rule {
            gate.begin(now);
        }
    }

    /// Whether it asks for no time at all.
    pub(crate) fn is_fast(&self) -> bool {
        matches!(self.rule, Rule::Fast)
    }

    /// Moves to the next I/O of the recording.
    pub(crate) fn moment(&mut self, io: &TraceIo) -> Moment {
        self.timeline.moment(io)
    }

    /// When it is due. Of the next I/O alone, until it is known.
    pub(crate) fn due(&mut self, io: &TraceIo, moment: Moment) -> DueTime {
        let due = match &mut self.rule {
            Rule::Fast => return DueTime::AtOnce,
            Rule::Timed => self.started_at + scaled_time(moment.at, self.speed),
            Rule::Dependent(gate) => match gate.opening(io.at) {
                None => return DueTime::Unknown,
                Some(opening) => opening.since + scaled_time(opening.think.since(moment.cut), self.speed),
            },
            Rule::Closed(applications, before) => {
                match applications.get(usize::from(io.application)).filter(|one| one.due != Nanos::NEVER) {
                    Some(one) if one.done == Nanos::NEVER => return DueTime::Unknown,
                    Some(one) => (one.due + scaled_time(moment.at.since(one.at), self.speed)).max(one.done),
                    None => self.last_due + scaled_time(moment.at.since(before.at), self.speed),
                }
            }
        };
        DueTime::At(due.max(self.last_due))
    }

    /// It leaves.
    pub(crate) fn depart(&mut self, io: &TraceIo, moment: Moment, due: Option<Nanos>) -> Token {
        self.last_due = due.unwrap_or(self.last_due);
        match (&mut self.rule, io.latency) {
            (Rule::Dependent(gate), Some(latency)) => Token(gate.depart(io.at + latency)),
            (Rule::Closed(applications, before), _) => {
                const NEVER: SerialClient =
                    SerialClient { at: Nanos::ZERO, due: Nanos::NEVER, done: Nanos::NEVER };
                let index = usize::from(io.application);
                if index >= applications.len() {
                    applications.resize(index + 1, NEVER);
                }
                applications[index] = SerialClient { at: moment.at, due: self.last_due, done: Nanos::NEVER };
                *before = moment;
                NO_TOKEN
            }
            _ => NO_TOKEN,
        }
    }

    /// It has ended here.
    pub(crate) fn on_end(&mut self, io: &TraceIo, token: Token, at: Nanos) {
        match &mut self.rule {
            Rule::Dependent(gate) if token.0 != NO_TOKEN.0 => gate.on_end(token.0, at),
            Rule::Closed(applications, _) => applications[usize::from(io.application)].done = at,
            _ => {}
        }
    }
}

fn scaled_time(span: Nanos, speed: f64) -> Nanos {
    if speed == 1.0 { span } else { Nanos((span.0 as f64 / speed) as u64) }
}
