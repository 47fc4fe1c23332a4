//! One drive while it is watched: what it is, and what it did in the last intervals.

use std::collections::VecDeque;
use std::sync::Arc;

use likenew_core::findings::{DriveFacts, DriveReading, Role};
use likenew_core::units::Nanos;

use crate::activity::Activity;

/// What the last reading showed of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was seen for the first time: there are no rates yet.
    Appeared,
    /// It was counted.
    IntervalCounts,
    /// Another drive has its name now, or its counters were reset.
    Restarted,
    /// It is not there any more.
    Gone,
}

/// A drive's present and its recent past, in memory that does not grow.
#[derive(Clone, Debug)]
pub struct DriveHistory {
    state: State,
    last: DriveReading,
    /// One for each reading, the newest last; nothing where there were no rates.
    past: VecDeque<Option<Activity>>,
    was_active: bool,
    gone_since: Option<Nanos>,
    is_news: bool,
}

impl DriveHistory {
    /// Intervals that are kept.
    pub const HISTORY_MAX: usize = 600;

    /// Of a drive that was seen for the first time.
    pub fn new(first: DriveReading) -> Self {
        let was_active = first.stat.in_flight > 0;
        Self {
            state: State::Appeared,
            last: first,
            past: VecDeque::new(),
            was_active,
            gone_since: None,
            is_news: true,
        }
    }

    /// The next reading of it.
    pub(crate) fn take(&mut self, now: DriveReading) {
        let waiting = self.activity().map_or(Nanos::ZERO, |activity| activity.waiting);
        let came_back = self.gone_since.take().is_some();
        let activity = if came_back { None } else { Activity::between(&self.last, &now, waiting) };
        self.state = match activity {
            Some(_) => State::IntervalCounts,
            None if came_back => State::Appeared,
            None => State::Restarted,
        };
        self.is_news = true;
        self.was_active |= activity.is_some_and(|activity| activity.is_active());
        self.push(activity);
        self.last = now;
    }

    /// It was not in the reading of this time.
    pub(crate) fn miss(&mut self, at: Nanos) {
        self.is_news = self.state != State::Gone;
        self.state = State::Gone;
        self.gone_since.get_or_insert(at);
        self.push(None);
    }

    fn push(&mut self, activity: Option<Activity>) {
        if self.past.len() == Self::HISTORY_MAX {
            self.past.pop_front();
        }
        self.past.push_back(activity);
    }

    /// The kernel's name for it.
    pub fn name(&self) -> &str {
        &self.last.name
    }

    /// What is known of it.
    pub fn facts(&self) -> &Arc<DriveFacts> {
        &self.last.facts
    }

    /// What the last reading showed.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the last reading showed anything new about it: a drive disappears only once.
    pub fn is_news(&self) -> bool {
        self.is_news
    }

    /// Since when it has been gone, if it is.
    pub(crate) fn gone_since(&self) -> Option<Nanos> {
        self.gone_since
    }

    /// What it did in the last interval.
    pub fn activity(&self) -> Option<&Activity> {
        self.past.back()?.as_ref()
    }

    /// What it did in each interval, the newest last.
    pub fn past(&self) -> impl DoubleEndedIterator<Item = Option<&Activity>> + ExactSizeIterator {
        self.past.iter().map(Option::as_ref)
    }

    /// Whether it is shown by default: a drive with a medium, or anything else that has had I/O while it was
    /// watched.
    pub fn is_visible(&self) -> bool {
        let idle = matches!(self.facts().role, Role::Virtual) || self.facts().capacity_bytes == 0;
        !idle || self.was_active
    }
}
