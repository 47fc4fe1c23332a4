//! All watched drives: turns readings of kernel counters into activity per interval.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use likenew_core::findings::{DriveFacts, DriveReading, Reading, Role};
use likenew_core::io::Op;
use likenew_core::stat::{OpStat, Stat};
use likenew_core::units::Nanos;

/// How long an unplugged drive is shown as gone. Chosen: time enough to notice it.
const GONE_SHOWN_FOR: Nanos = Nanos::from_secs(60);

/// Selects the drives to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only drives with these names; empty selects all.
    pub names: Vec<String>,
    /// Also idle devices that are no drives: loop devices, RAM disks, slots without a medium.
    pub all: bool,
    /// Also partitions.
    pub partitions: bool,
}

/// All drives with their histories.
#[derive(Clone, Debug, Default)]
pub struct Drives {
    at: Nanos,
    started_at: Option<Nanos>,
    histories: BTreeMap<(String, usize, String), DriveHistory>,
}

impl Drives {
    /// Takes the next reading.
    pub fn take(&mut self, reading: Reading) {
        self.at = reading.at;
        self.started_at.get_or_insert(reading.at);
        let mut missing: Vec<_> = self.histories.keys().cloned().collect();
        for drive in reading.drives {
            let key = key(&drive.name);
            missing.retain(|other| *other != key);
            match self.histories.get_mut(&key) {
                Some(history) => history.take(drive),
                None => drop(self.histories.insert(key, DriveHistory::new(drive))),
            }
        }
        for key in missing {
            self.histories.get_mut(&key).expect("the key is one of them").miss(reading.at);
        }
        let at = self.at;
        self.histories
            .retain(|_, history| history.gone_since().is_none_or(|since| at.since(since) < GONE_SHOWN_FOR));
    }

    /// The drives in a scope, by name.
    pub fn in_scope(&self, scope: &Scope) -> impl Iterator<Item = &DriveHistory> {
        self.histories.values().filter(|history| {
            if !scope.names.is_empty() {
                return scope.names.iter().any(|name| name == history.name());
            }
            let is_part = history.facts().role == Role::Partition;
            (!is_part || scope.partitions) && (scope.all || history.is_visible())
        })
    }

    /// The drive with this name.
    pub fn by_name(&self, name: &str) -> Option<&DriveHistory> {
        self.histories.get(&key(name))
    }

    /// Time of the last reading, on the reader's clock.
    pub fn at(&self) -> Nanos {
        self.at
    }

    /// How long the drives have been watched.
    pub fn watch_time(&self) -> Nanos {
        self.started_at.map_or(Nanos::ZERO, |started_at| self.at.since(started_at))
    }
}

/// Sorts `sdb` before `sdaa`, `dm-2` before `dm-10`, and keeps drives of a kind together.
fn key(name: &str) -> (String, usize, String) {
    (name.chars().take(2).collect(), name.len(), name.to_owned())
}

/// A drive's state in the last reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The drive was seen for the first time, so rates are unknown.
    Appeared,
    /// Counters advanced from the previous reading, so rates are known.
    Counted,
    /// Another drive has the same name now, or the counters were reset.
    Restarted,
    /// The drive has disappeared.
    Gone,
}

/// A drive's current reading and recent past, in constant memory.
#[derive(Clone, Debug)]
pub struct DriveHistory {
    state: State,
    last: DriveReading,
    /// Activity of each interval, newest last; `None` if rates are unknown.
    past: VecDeque<Option<Activity>>,
    was_active: bool,
    gone_since: Option<Nanos>,
    is_news: bool,
}

impl DriveHistory {
    /// Most intervals that are kept.
    pub const HISTORY_MAX: usize = 600;

    /// Starts the history of a drive that was seen for the first time.
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

    /// Takes the drive's next reading.
    pub(crate) fn take(&mut self, now: DriveReading) {
        let waiting = self.activity().map_or(Nanos::ZERO, |activity| activity.waiting);
        let came_back = self.gone_since.take().is_some();
        let activity = if came_back { None } else { Activity::between(&self.last, &now, waiting) };
        self.state = match activity {
            Some(_) => State::Counted,
            None if came_back => State::Appeared,
            None => State::Restarted,
        };
        self.is_news = true;
        self.was_active |= activity.is_some_and(|activity| activity.is_active());
        self.push(activity);
        self.last = now;
    }

    /// Notes that the drive was missing in a reading.
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

    /// The kernel's name of the drive.
    pub fn name(&self) -> &str {
        &self.last.name
    }

    /// Known facts of the drive.
    pub fn facts(&self) -> &Arc<DriveFacts> {
        &self.last.facts
    }

    /// The drive's state in the last reading.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the last reading changed anything: a drive disappears only once.
    pub fn is_news(&self) -> bool {
        self.is_news
    }

    /// Since when the drive has been gone, if it has.
    pub(crate) fn gone_since(&self) -> Option<Nanos> {
        self.gone_since
    }

    /// Activity in the last interval, if known.
    pub fn activity(&self) -> Option<&Activity> {
        self.past.back()?.as_ref()
    }

    /// Activity in each interval, newest last.
    pub fn past(&self) -> impl DoubleEndedIterator<Item = Option<&Activity>> + ExactSizeIterator {
        self.past.iter().map(Option::as_ref)
    }

    /// Whether the drive is shown by default: a drive with a medium, or any device with I/O while watched.
    pub fn is_visible(&self) -> bool {
        let idle = matches!(self.facts().role, Role::Virtual) || self.facts().capacity_bytes == 0;
        !idle || self.was_active
    }
}

/// Counts of one interval, from which rates follow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Activity {
    /// End of the interval, on the reader's clock.
    pub at: Nanos,
    /// Length of the interval.
    pub elapsed: Nanos,
    /// I/Os that completed in the interval.
    pub stat: Stat,
    /// Reads and writes in flight at the end, if the kernel counts them separately.
    pub in_flight: Option<[u64; 2]>,
    /// Degrees Celsius at the end.
    pub temperature_c: Option<f64>,
    /// Least time for which I/O has been in flight without any completion; 0 if one completed.
    pub waiting: Nanos,
}

impl Activity {
    /// The activity between two readings. `waiting` is the value of the interval before. `None` if the readings are of
    /// different drives, or counters were reset.
    pub fn between(before: &DriveReading, now: &DriveReading, waiting: Nanos) -> Option<Self> {
        if before.instance != now.instance || now.at <= before.at {
            return None;
        }
        let stat = now.stat.since(&before.stat)?;
        let elapsed = now.at - before.at;
        let is_stuck = before.stat.in_flight > 0 && stat.in_flight > 0 && ended_ios(&stat) == 0;
        Some(Self {
            at: now.at,
            elapsed,
            stat,
            in_flight: now.in_flight,
            temperature_c: now.temperature_c,
            waiting: if is_stuck { waiting + elapsed } else { Nanos::ZERO },
        })
    }

    /// Bytes per second of an operation; 0 if not counted.
    pub fn bytes_per_s(&self, op: Op) -> f64 {
        self.per_s(self.op_stat(op).bytes())
    }

    /// IOPS of an operation; 0 if not counted.
    pub fn iops(&self, op: Op) -> f64 {
        self.per_s(self.op_stat(op).ios)
    }

    /// Counts of an operation; zeros if the kernel does not count it.
    pub fn op_stat(&self, op: Op) -> OpStat {
        self.stat.op_stat(op).copied().unwrap_or_default()
    }

    /// Share of the interval with I/O in flight, 0 to 1.
    ///
    /// The kernel marks a tick of its clock as busy if an I/O began or ended in it. So short I/Os in every tick give 1.
    /// A long I/O is added when it ends, which may exceed the interval; the result is cut to 1.
    pub fn busy(&self) -> f64 {
        (self.stat.busy_ms as f64 * 1e6 / self.elapsed.0 as f64).min(1.0)
    }

    /// Mean number of I/Os in flight: the time of all I/Os over the interval. An I/O counts completely when it ends.
    pub fn queue(&self) -> f64 {
        self.stat.weighted_ms as f64 * 1e6 / self.elapsed.0 as f64
    }

    /// Whether any I/O completed or is in flight.
    pub fn is_active(&self) -> bool {
        ended_ios(&self.stat) > 0 || self.stat.in_flight > 0
    }

    fn per_s(&self, count: u64) -> f64 {
        count as f64 / self.elapsed.as_secs_f64()
    }
}

fn ended_ios(stat: &Stat) -> u64 {
    Op::ALL.iter().filter_map(|op| stat.op_stat(*op)).map(|count| count.ios).sum()
}

#[cfg(test)]
pub(crate) mod history_tests {
    use std::sync::Arc;

    use likenew_core::findings::{DriveFacts, DriveReading};
    use likenew_core::stat::{OpStat, Stat};

    use super::*;

    /// A drive's reading at `at_ms` milliseconds; `line` holds the fields of its stat file.
    pub(crate) fn reading(name: &str, instance: u64, at_ms: u64, line: &str) -> DriveReading {
        let field: Vec<u64> = line.split(' ').map(|text| text.parse().unwrap()).collect();
        let op = |at: usize| OpStat {
            ios: field[at],
            merged: field[at + 1],
            sectors: field[at + 2],
            ms: field[at + 3],
        };
        let stat = Stat {
            read: op(0),
            write: op(4),
            discard: (field.len() > 11).then(|| op(11)),
            flush: None,
            in_flight: field[8],
            busy_ms: field[9],
            weighted_ms: field[10],
        };
        let role = match name {
            name if name.starts_with("loop") => Role::Virtual,
            name if name.ends_with("p1") => Role::Partition,
            _ => Role::Drive,
        };
        let facts = DriveFacts {
            path: format!("/dev/{name}"),
            role,
            capacity_bytes: 1 << 40,
            ..DriveFacts::default()
        };
        DriveReading {
            name: name.into(),
            instance,
            at: Nanos::from_millis(at_ms),
            stat,
            in_flight: None,
            temperature_c: None,
            facts: Arc::new(facts),
        }
    }

    pub(crate) fn at(ms: u64, drives: Vec<DriveReading>) -> Reading {
        Reading { at: Nanos::from_millis(ms), drives }
    }

    const IDLE: &str = "0 0 0 0 0 0 0 0 0 0 0";

    fn names(drives: &Drives, scope: &Scope) -> Vec<String> {
        drives.in_scope(scope).map(|history| history.name().to_owned()).collect()
    }

    #[test]
    fn idle_stand_ins_and_partitions_are_shown_when_asked_for() {
        let mut drives = Drives::default();
        let readings =
            |ms| ["sdaa", "sdb", "loop10", "loop2", "sdbp1"].map(|name| reading(name, 1, ms, IDLE)).to_vec();
        drives.take(at(0, readings(0)));
        assert_eq!(names(&drives, &Scope::default()), ["sdb", "sdaa"]);
        let mut next = readings(1000);
        next[2] = reading("loop10", 1, 1000, "1 0 8 0 0 0 0 0 0 0 0");
        drives.take(at(1000, next));
        drives.take(at(2000, readings(2000)));
        assert_eq!(names(&drives, &Scope::default()), ["loop10", "sdb", "sdaa"], "it has had I/O");
        let every = Scope { all: true, partitions: true, ..Scope::default() };
        assert_eq!(names(&drives, &every), ["loop2", "loop10", "sdb", "sdaa", "sdbp1"]);
        let partition = Scope { names: vec!["sdbp1".into()], ..Scope::default() };
        assert_eq!(names(&drives, &partition), ["sdbp1"]);
    }

    #[test]
    fn a_drive_that_is_pulled_and_put_back_has_no_rates_across_the_gap() {
        let mut drives = Drives::default();
        let state = |drives: &Drives| {
            drives.by_name("sda").map(|history| (history.state(), history.activity().is_some()))
        };
        drives.take(at(0, vec![reading("sda", 1, 0, "9 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::Appeared, false)));
        drives.take(at(1000, vec![reading("sda", 1, 1000, "10 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::Counted, true)));
        drives.take(at(2000, vec![]));
        assert_eq!(state(&drives), Some((State::Gone, false)));
        assert!(drives.by_name("sda").unwrap().is_news());
        drives.take(at(2500, vec![]));
        assert!(!drives.by_name("sda").unwrap().is_news(), "it goes only once");
        drives.take(at(3000, vec![reading("sda", 1, 3000, "11 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::Appeared, false)));
        drives.take(at(4000, vec![reading("sda", 2, 4000, "1 0 0 0 0 0 0 0 0 0 0")]));
        assert_eq!(state(&drives), Some((State::Restarted, false)));
        drives.take(at(5000, vec![]));
        drives.take(at(70_000, vec![]));
        assert_eq!(state(&drives), None, "gone for good");
        assert_eq!(drives.watch_time(), Nanos::from_secs(70));
    }

    #[test]
    fn the_past_does_not_grow() {
        let mut drives = Drives::default();
        for second in 0..1000 {
            drives.take(at(second * 1000, vec![reading("sda", 1, second * 1000, IDLE)]));
        }
        assert_eq!(drives.by_name("sda").unwrap().past().len(), DriveHistory::HISTORY_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drives::history_tests::reading;

    #[test]
    fn rates_are_counts_over_the_time_between_two_readings() {
        let before = reading("sda", 1, 1_000, "0 0 0 0 0 0 0 0 0 0 0");
        let after = reading("sda", 1, 3_000, "100 5 20480 50 10 0 2048 400 2 1000 450");
        let activity = Activity::between(&before, &after, Nanos::ZERO).unwrap();
        assert_eq!((activity.bytes_per_s(Op::Read), activity.iops(Op::Read)), (5_242_880.0, 50.0));
        assert_eq!(activity.op_stat(Op::Write).latency_mean(), Some(Nanos::from_millis(40)));
        assert_eq!((activity.busy(), activity.queue(), activity.bytes_per_s(Op::Trim)), (0.5, 0.225, 0.0));
        assert!(activity.is_active() && activity.waiting == Nanos::ZERO);
    }

    #[test]
    fn a_drive_that_answers_nothing_waits_longer_and_longer() {
        let stuck = |at| reading("sda", 1, at, "7 0 0 0 0 0 0 0 3 0 0");
        let first = Activity::between(&stuck(0), &stuck(1_000), Nanos::ZERO).unwrap();
        let second = Activity::between(&stuck(1_000), &stuck(3_000), first.waiting).unwrap();
        assert_eq!((first.waiting, second.waiting), (Nanos::from_secs(1), Nanos::from_secs(3)));
        let freed = reading("sda", 1, 4_000, "8 0 0 0 0 0 0 0 2 0 0");
        assert_eq!(Activity::between(&stuck(3_000), &freed, second.waiting).unwrap().waiting, Nanos::ZERO);
    }

    #[test]
    fn what_is_another_drive_or_began_anew_has_no_rates() {
        let before = reading("sda", 1, 0, "7 0 0 0 0 0 0 0 0 0 0");
        for now in
            [reading("sda", 2, 1, "8 0 0 0 0 0 0 0 0 0 0"), reading("sda", 1, 1, "3 0 0 0 0 0 0 0 0 0 0")]
        {
            assert_eq!(Activity::between(&before, &now, Nanos::ZERO), None);
        }
        assert_eq!(Activity::between(&before, &before, Nanos::ZERO), None, "no time has passed");
    }

    #[test]
    fn no_share_is_more_than_all() {
        let before = reading("sda", 1, 0, "0 0 0 0 0 0 0 0 1 0 0");
        let after = reading("sda", 1, 1_000, "1 0 8 5000 0 0 0 0 0 5000 5000");
        let activity = Activity::between(&before, &after, Nanos::ZERO).unwrap();
        assert_eq!((activity.busy(), activity.queue()), (1.0, 5.0));
    }
}
