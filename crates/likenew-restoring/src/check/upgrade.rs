//! Whether a new drive is worth it, and which one: compares how long programs wait for the same work on each
//! drive.
//!
//! The plan holds the results of the other drives. Only a mix of applications is measured here: each drive
//! replays it in the same way, scaled to the bytes and seconds allowed.

use likenew_core::findings::{Answer, Findings, Line, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::quantity::Size;
use likenew_core::region::Region;
use likenew_core::row;
use likenew_core::segment::{ReplayRecord, Segment};
use likenew_core::tally::Latencies;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_measuring::apps::AppsOptions;
use likenew_measuring::apps::application::Application;
use likenew_measuring::apps::stage::{Amount, Stage};
use likenew_procedure_support::series::axis;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use super::wording::{self, Worth, error};
use crate::site::is_default;

/// Options of an upgrade comparison.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpgradeOptions {
    /// The recorded day.
    pub recording: Option<RecordingOption>,
    /// The mix of applications, which is also replayed on this drive.
    pub mix: Option<MixOption>,
    /// The result of each drive.
    #[serde(default, rename = "drive", skip_serializing_if = "is_default")]
    pub drives: Vec<DriveOption>,
}

/// A recorded day.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordingOption {
    /// Its file.
    pub trace: String,
    /// Digest of its I/Os.
    pub digest: String,
    /// How long it took.
    pub elapsed_ns: u64,
    /// Whether the recording has completion times; otherwise each program is taken to run one I/O after the
    /// other.
    pub knows_ends: bool,
}

/// A drive, and the waiting for the work on it.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveOption {
    /// Its name in tables.
    pub name: String,
    /// Its role in the comparison.
    pub role: Role,
    /// Whether it has fewer addresses than were recorded, so that they were scaled down.
    #[serde(default, skip_serializing_if = "is_default")]
    pub is_scaled: bool,
    /// How full it was, in percent, if known.
    pub fill_percent: Option<f64>,
    /// The waiting for the work; `None` if a recording does not show it.
    pub waits: Option<Waits>,
}

/// The role of a drive in the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The drive under test, as it is.
    Now,
    /// The same drive when new: what a fix could restore.
    AsNew,
    /// A possible replacement.
    Candidate,
}

impl UpgradeOptions {
    /// Whether these settings make sense.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.drives.iter().any(|drive| drive.role == Role::Candidate) {
            return Err(error::no_candidate());
        }
        match (&self.recording, &self.mix) {
            (Some(RecordingOption { elapsed_ns: 0, .. }), _) => {
                Err(error::above_zero("upgrade.recording.elapsed_ns", 0.0))
            }
            (Some(_), None) => Ok(()),
            (None, Some(mix)) => mix.check(),
            _ => Err(error::recording_or_mix()),
        }
    }

    /// The first drive in this role whose waiting is known.
    fn waits_of(&self, role: Role) -> Option<&Waits> {
        self.known_drives().find(|(drive, _)| drive.role == role).map(|(_, waits)| waits)
    }

    /// The drives whose waiting is known.
    fn known_drives(&self) -> impl Iterator<Item = (&DriveOption, &Waits)> {
        self.drives.iter().filter_map(|drive| Some((drive, drive.waits.as_ref()?)))
    }

    /// The candidates, shortest waiting first.
    fn candidates(&self) -> Vec<(&DriveOption, &Waits)> {
        let candidates = self.known_drives().filter(|(drive, _)| drive.role == Role::Candidate);
        let mut candidates: Vec<_> = candidates.collect();
        candidates.sort_by(|(_, one), (_, other)| one.blocking_ns.total_cmp(&other.blocking_ns));
        candidates
    }

    /// Time of the work including pauses, if known.
    fn elapsed(&self) -> Option<Nanos> {
        self.recording.as_ref().map(|recording| Nanos(recording.elapsed_ns))
    }

    /// The work that is compared, in words.
    fn work(&self) -> String {
        match &self.mix {
            Some(mix) => wording::in_applications(&mix.names()),
            None => wording::in_recording(self.elapsed().unwrap_or_default()),
        }
    }

    /// Adds the answers; with a mix, from its replay on this drive. `fix` is what would fix this drive, if
    /// known.
    pub(super) fn judge(&self, segments: &[&Segment], fix: Option<&str>, findings: &mut Findings) {
        let mut options = self.clone();
        if let Some(mix) = &self.mix {
            let (name, waits) = (DriveOption::THIS_DRIVE.to_owned(), mix.waits(segments));
            let now = DriveOption { name, role: Role::Now, is_scaled: false, fill_percent: None, waits };
            options.drives.insert(0, now);
        }
        let input = UpgradeInput { options: &options, fix, work: options.work() };
        let answers = input.answers();
        if let Some(first) = answers.first() {
            findings.summary = wording::upgrade_summary(&findings.summary, first);
        }
        // For a single candidate the summary says everything.
        if answers.len() > 1 {
            let mut listed: Vec<String> = answers.iter().map(|answer| answer.id.clone()).collect();
            listed.dedup();
            findings.overview.answers.splice(0..0, listed);
        }
        findings.answers.extend(answers);
        put(&options, findings);
    }
}

impl DriveOption {
    /// The drive under test in tables.
    pub const THIS_DRIVE: &str = "this drive";
}

/// Adds table and chart: this drive, the same when new, and the candidates, shortest waiting first.
fn put(options: &UpgradeOptions, findings: &mut Findings) {
    let references = options.known_drives().filter(|(drive, _)| drive.role != Role::Candidate);
    let drives: Vec<(&DriveOption, &Waits)> = references.chain(options.candidates()).collect();
    if drives.is_empty() {
        return;
    }
    let now = options.waits_of(Role::Now);
    let rows = drives.iter().map(|(drive, waits)| {
        let saving = now.filter(|_| drive.role != Role::Now).map(|now| Saving::from_waits(now, waits));
        row! {
            drive: &drive.name,
            role: match drive.role {
                Role::Now => "now",
                Role::AsNew => "as new",
                Role::Candidate => "candidate",
            },
            waited_ns: waits.blocking_ns,
            waited_ns_low: waits.low_ns(),
            waited_ns_high: waits.high_ns(),
            saved_ns: saving.map(|saving| saving.value),
            saved_ns_low: saving.map(|saving| saving.low),
            saved_ns_high: saving.map(|saving| saving.high),
            faster_times: saving
                .and(now)
                .map(|now| now.blocking_ns / waits.blocking_ns)
                .filter(|times| times.is_finite()),
            latency_ns_p99: waits.latency_ns_p99,
            latency_ns_max: waits.latency_ns_max,
        }
    });
    findings.tables.insert("upgrade".into(), rows.collect());
    let line = |name: &str, value: fn(&Waits) -> f64| {
        Line::new(name, drives.iter().enumerate().map(|(at, (_, waits))| [at as f64, value(waits)]).collect())
    };
    let picture = Series::new(wording::UPGRADE_TITLE, Shape::Bars, axis("drive", ""), axis("waiting", "ns"));
    let picture = picture
        .categories(drives.iter().map(|(drive, _)| match drive.role {
            Role::AsNew => wording::as_new(&drive.name),
            Role::Now | Role::Candidate => drive.name.clone(),
        }))
        .lines([
            line(wording::WITHOUT_WRITES, |waits| waits.blocking_ns),
            line(wording::WITH_WRITES, |waits| waits.busy_ns),
        ]);
    findings.series.insert("upgrade".into(), picture);
}

/// What the answers are made from.
struct UpgradeInput<'a> {
    options: &'a UpgradeOptions,
    /// The fix for this drive, if there is one.
    fix: Option<&'a str>,
    /// The work that is compared, in words.
    work: String,
}

impl UpgradeInput<'_> {
    fn answers(&self) -> Vec<Answer> {
        let candidates = self.options.candidates();
        let of_candidate = |(drive, waits): &(&DriveOption, &Waits)| {
            self.caveats(drive).fold(self.worth_answer(&drive.name, waits), Answer::caveat)
        };
        candidates.iter().map(of_candidate).chain(self.best_candidate(&candidates)).collect()
    }

    /// Whether a candidate is worth it.
    fn worth_answer(&self, name: &str, waits: &Waits) -> Answer {
        let with_drive = wording::waited_with(name, waits.blocking_ns, waits.busy_beyond());
        let Some(now) = self.options.waits_of(Role::Now) else {
            let reason = match self.options.mix {
                Some(_) => wording::APPLICATIONS_UNFINISHED,
                None => wording::RECORDING_WITHOUT_LATENCIES,
            };
            return wording::upgrade_unknown(name, reason).with_evidence(with_drive);
        };
        if now.blocking_ns <= 0.0 && waits.blocking_ns <= 0.0 {
            return wording::upgrade_unknown(name, wording::NOTHING_WAITED_FOR)
                .with_evidence(wording::writes_took(name, now.busy_ns, waits.busy_ns));
        }
        let saving = Saving::from_waits(now, waits);
        let by_fix = self.by_fix(now, waits);
        let worth = self.worth(now, waits);
        let bar = match (by_fix, self.options.elapsed()) {
            (Some(_), _) => wording::fix_saves_as_much(),
            (None, Some(_)) => wording::below_time_saved(WORTH),
            (None, None) => wording::below_waiting_saved(1.0 - REMAINING_SHARE),
        };
        let answer = wording::upgrade(name, worth, &bar, (now.blocking_ns, waits.blocking_ns), &self.work)
            .estimate(saving.value, saving.low, saving.high, "ns")
            .with_evidence(wording::waited_now(&self.work, now.blocking_ns, now.busy_beyond()))
            .with_evidence(with_drive)
            .with_evidence(self.share(&saving))
            .with_evidence(wording::slowest_ios(
                (now.latency_ns_p99, waits.latency_ns_p99),
                (now.latency_ns_max, waits.latency_ns_max),
            ));
        match (by_fix, self.fix) {
            (Some((fixed, beyond)), Some(fix)) => {
                answer.with_evidence(wording::cheaper_fix(name, fix, worth, fixed.value, beyond.value))
            }
            _ => answer,
        }
    }

    /// What a fix of this drive saves, and what another drive saves beyond that.
    fn by_fix(&self, now: &Waits, waits: &Waits) -> Option<(Saving, Saving)> {
        let fixed = self.options.waits_of(Role::AsNew).filter(|_| self.fix.is_some())?;
        let savings = (Saving::from_waits(now, fixed), Saving::from_waits(fixed, waits));
        (savings.0.low > 0.0).then_some(savings)
    }

    /// A fix comes before a purchase, so a new drive has to save time beyond it.
    fn worth(&self, now: &Waits, waits: &Waits) -> Worth {
        let beyond_fix = self.by_fix(now, waits).map(|(_, beyond)| beyond);
        beyond_fix.unwrap_or_else(|| Saving::from_waits(now, waits)).worth(self.options.elapsed())
    }

    /// The saving as a sentence: of total time if that is known, else of the waiting.
    fn share(&self, saving: &Saving) -> String {
        match self.options.elapsed() {
            Some(elapsed) => {
                let share = |ns: f64| ns / elapsed.0 as f64;
                wording::saved_share(share(saving.low), share(saving.high), WORTH)
            }
            None => {
                let [low, high] = saving.remaining_share;
                wording::remaining_share(low, high, REMAINING_SHARE)
            }
        }
    }

    /// What limits the answer about a candidate.
    fn caveats(&self, drive: &DriveOption) -> impl Iterator<Item = String> {
        let UpgradeOptions { recording, mix, .. } = self.options;
        let lacks_ends = recording.as_ref().is_some_and(|recording| !recording.knows_ends);
        let fill = drive.fill_percent;
        let caveats = [
            Some(wording::candidate_is_simulated(&drive.name, fill)),
            lacks_ends.then(|| wording::RECORDING_WITHOUT_ENDS.to_owned()),
            mix.as_ref().map(|mix| wording::part_of_mix(mix.time, mix.span, mix.reads_only)),
            drive.is_scaled.then(|| wording::addresses_scaled(&drive.name, fill.is_some())),
        ];
        caveats.into_iter().flatten()
    }

    /// The candidate with the shortest waiting, and whether it is worth a difference in price.
    fn best_candidate(&self, candidates: &[(&DriveOption, &Waits)]) -> Option<Answer> {
        let [(best, least), (next, more), ..] = candidates else { return None };
        // Drives that nobody waits for cannot be ranked.
        if more.blocking_ns <= 0.0 {
            return None;
        }
        let now = self.options.waits_of(Role::Now);
        let is_worth_it = now.map_or(Worth::Undecided, |now| self.worth(now, least));
        let saving = Saving::from_waits(more, least);
        let difference = saving.worth(self.options.elapsed());
        let answer = wording::best_upgrade(&best.name, &next.name, is_worth_it, difference);
        Some(answer.with_evidence(wording::less_than_next(&next.name, saving.low, saving.high)))
    }
}

/// Share of the total time saved from which a drive is worth it. Chosen: five minutes of a working day;
/// nobody notices less without measuring.
pub(super) const WORTH: f64 = 0.01;

/// Share of the waiting that may remain for a drive to be worth it, if the total time is unknown. Chosen:
/// half.
pub(super) const REMAINING_SHARE: f64 = 0.5;

/// Waiting saved, in nanoseconds; negative if it grows. The value counts blocking time. The interval reaches
/// to all busy time, and includes the uncertainty of both drives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Saving {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Range of the share of the waiting that remains.
    pub(super) remaining_share: [f64; 2],
}

impl Saving {
    pub(super) fn from_waits(from: &Waits, to: &Waits) -> Self {
        let (least, most) = (from.blocking_ns - to.blocking_ns, from.busy_ns - to.busy_ns);
        let doubt = from.doubt_ns.hypot(to.doubt_ns);
        let left = |from_ns: f64, to_ns: f64| {
            let (share, part) = (to_ns / from_ns.max(1.0), |doubt: f64, whole: f64| doubt / whole.max(1.0));
            let doubt = share * part(from.doubt_ns, from_ns).hypot(part(to.doubt_ns, to_ns));
            [(share - doubt).max(0.0), share + doubt]
        };
        let (least_left, most_left) =
            (left(from.blocking_ns, to.blocking_ns), left(from.busy_ns, to.busy_ns));
        Self {
            value: least,
            low: least.min(most) - doubt,
            high: least.max(most) + doubt,
            remaining_share: [least_left[0].min(most_left[0]), least_left[1].max(most_left[1])],
        }
    }

    /// Whether the saving is worth it for work of this length; if the length is unknown, by the share that
    /// remains.
    pub(super) fn worth(&self, elapsed: Option<Nanos>) -> Worth {
        let (surely, perhaps) = match elapsed {
            Some(elapsed) => {
                let least = WORTH * elapsed.0 as f64;
                (self.low >= least, self.high >= least)
            }
            None => (self.remaining_share[1] <= REMAINING_SHARE, self.remaining_share[0] <= REMAINING_SHARE),
        };
        match (surely, perhaps) {
            (true, _) => Worth::Yes,
            (false, true) => Worth::Undecided,
            (false, false) => Worth::No,
        }
    }
}

/// Share of a recording's I/Os with known latency, from which they stand for the others. Chosen: half.
const PAIRED_MIN: f64 = 0.5;

/// How long programs waited for a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// Number of I/Os.
    pub ios: u64,
    /// Time with a read or a flush in flight, which a program waits for.
    pub blocking_ns: f64,
    /// Time with anything in flight: the longest wait, if programs wait for all writes.
    pub busy_ns: f64,
    /// Uncertainty of both times from replaying only a part; 0 if all of it was replayed.
    #[serde(default, skip_serializing_if = "is_default")]
    pub doubt_ns: f64,
    /// 99th percentile of latency.
    pub latency_ns_p99: u64,
    /// The longest latency.
    pub latency_ns_max: u64,
}

impl Waits {
    /// Waiting on the drive that replayed a recording.
    pub fn from_replay(replay_record: &ReplayRecord) -> Self {
        let ReplayRecord { ios, blocking, busy, replay_latency, .. } = replay_record;
        Self::new(*ios, blocking.replayed_ns, busy.replayed_ns, replay_latency)
    }

    /// Waiting on the drive that was recorded; `None` if the recording lacks the latency of most I/Os.
    pub fn from_recording(replay_record: &ReplayRecord) -> Option<Self> {
        let ReplayRecord { ios, blocking, busy, recording_latency, .. } = replay_record;
        let paired = replay_record.paired_ios();
        let is_known = paired as f64 / (*ios).max(1) as f64 >= PAIRED_MIN;
        is_known.then(|| Self::new(paired, blocking.recorded_ns, busy.recorded_ns, recording_latency))
    }

    /// Of a recording that was replayed as a whole.
    fn new(ios: u64, blocking_ns: u64, busy_ns: u64, latencies: &Latencies) -> Self {
        Self {
            ios,
            blocking_ns: blocking_ns as f64,
            busy_ns: busy_ns as f64,
            doubt_ns: 0.0,
            latency_ns_p99: latencies.quantile(0.99).0,
            latency_ns_max: latencies.max().0,
        }
    }

    /// Time with anything in flight, if that is longer than with a read or a flush.
    pub(super) fn busy_beyond(&self) -> Option<f64> {
        (self.busy_ns > self.blocking_ns).then_some(self.busy_ns)
    }

    pub(super) fn low_ns(&self) -> f64 {
        (self.blocking_ns - self.doubt_ns).max(0.0)
    }

    pub(super) fn high_ns(&self) -> f64 {
        self.busy_ns.max(self.blocking_ns) + self.doubt_ns
    }
}

/// A mix, and which part of it is replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MixOption {
    /// Applications and groups of the library, by name.
    pub applications: Vec<String>,
    /// Applications outside of the library, in full.
    #[serde(default, skip_serializing_if = "is_default")]
    pub custom: Vec<Application>,
    /// Share of their I/Os that is replayed.
    pub scale: f64,
    /// Bytes of address space that they use.
    #[serde(with = "size_text")]
    pub span: u64,
    /// Time of the replay; each application takes an equal part of it.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Whether only reads are replayed, because nothing may be written.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reads_only: bool,
}

/// Prefix of the names of workloads that replay an application.
const NAME: &str = "mix: ";
const PREPARATION: &str = "mix: preparation";
const SETTLING: &str = "mix: rest";
/// Bytes of a read or write before the replay; its queue depth is `DEPTH`.
const BLOCK: u32 = 512 << 10;
const DEPTH: u32 = 4;
/// Time limit of reads and writes before the replay. Chosen: what an upgrade check can afford on a slow drive.
const PREPARATION_TIME: Nanos = Nanos::from_secs(7);
/// Idle time before the replay. Chosen: write buffers are empty by then.
const SETTLING_TIME: Nanos = Nanos::from_secs(3);

impl MixOption {
    /// Time of the replay on one drive. Chosen: short enough to wait for on several drives.
    pub const TIME: Nanos = Nanos::from_secs(10);
    /// Smallest span that shows anything, in bytes; spans are multiples of it.
    pub const SPAN_STEP: u64 = 8 << 20;
    /// Most bytes to read of a read-only drive.
    pub const SPAN_READ: u64 = 4 << 30;

    /// From these applications and the bytes that they may write, half of which prepare the data to read;
    /// with 0, they only read.
    ///
    /// # Errors
    /// A name that is not known, twice the same, or too few bytes.
    pub fn new(
        applications: Vec<String>,
        custom: Vec<Application>,
        capacity: u64,
        writable: u64,
    ) -> Result<Self, String> {
        let reads_only = writable == 0;
        let span = if reads_only { Self::SPAN_READ.min(capacity) } else { (writable / 2).min(capacity) };
        let span = span - span % Self::SPAN_STEP;
        if span == 0 {
            return Err(error::mix_needs_space(Size(capacity.min(writable)), Size(2 * Self::SPAN_STEP)));
        }
        let mut mix = Self { applications, custom, scale: 1.0, span, time: Self::TIME, reads_only };
        let total = |side: fn(&Application) -> u64| {
            mix.all().map(|applications| applications.iter().map(side).sum::<u64>())
        };
        let (read, written) = (total(Application::bytes_read)?, total(Application::bytes_written)?);
        if reads_only && read == 0 {
            return Err(error::mix_only_writes());
        }
        if !reads_only && written > span {
            // Rounded down to three decimals, so that a plan shows 0.029 and the scale is never exceeded.
            let scale = (span as f64 / written as f64 * 1000.0).floor() / 1000.0;
            mix.scale = scale.max(0.001);
        }
        Ok(mix)
    }

    /// The applications, each once; without their writes if nothing may be written.
    pub(super) fn all(&self) -> Result<Vec<Application>, String> {
        let (applications, custom) = (self.applications.clone(), self.custom.clone());
        let mut applications = AppsOptions { applications, custom, ..AppsOptions::default() }.all()?;
        if self.reads_only {
            applications.iter_mut().for_each(|application| application.writes = None);
            applications.retain(|application| application.reads.is_some());
        }
        Ok(applications)
    }

    /// Whether the mix makes sense.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        let Self { scale, span, time, .. } = self;
        if !(*scale > 0.0 && *scale <= 1000.0) {
            return Err(error::mix_scale(*scale));
        }
        if *span == 0 || !span.is_multiple_of(Self::SPAN_STEP) {
            return Err(error::mix_span(*span));
        }
        if *time < Nanos::from_millis(1) || *time > Nanos::from_secs(86_400) {
            return Err(error::mix_time(*time));
        }
        self.all().map(|_| ())
    }

    /// The names of its applications.
    pub(super) fn names(&self) -> Vec<String> {
        let names = |applications: Vec<Application>| {
            applications.into_iter().map(|application| application.name).collect()
        };
        self.all().map_or_else(|_| self.applications.clone(), names)
    }

    /// All workloads on a drive, in the `span` bytes from `start`.
    pub fn workloads(&self, start: u64, geometry: &Geometry) -> Vec<Workload> {
        let zone = start..start + self.span.min(geometry.capacity - start);
        let mut workloads = Vec::new();
        if geometry.writable {
            let place = AccessPattern::Sequential(Region::bytes(zone.clone()));
            let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
            let until = Until { elapsed: Some(PREPARATION_TIME), ..Until::bytes(zone.end - zone.start) };
            workloads.push(Workload { flush: true, ..Workload::new(PREPARATION, until, vec![stream]) });
            workloads.push(Workload { name: SETTLING.into(), ..Workload::rest(SETTLING_TIME) });
        }
        let stage = Stage::new(&zone, geometry, DataClass::Random);
        let applications = self.all().unwrap_or_default();
        let time = Nanos(self.time.0 / applications.len().max(1) as u64);
        let amount = Amount { scale: self.scale, time: Some(time), thinks: false };
        workloads.extend(applications.iter().flat_map(|application| {
            stage.workloads(application, &format!("{NAME}{}", application.name), amount)
        }));
        workloads
    }

    /// The waiting for the whole mix, extrapolated from the part that was replayed; `None` until that is
    /// complete.
    pub fn waits(&self, segments: &[&Segment]) -> Option<Waits> {
        let applications = self.all().ok()?;
        let mut sum = Waits::default();
        let mut latencies = Latencies::default();
        let mut variance = 0.0;
        for application in &applications {
            let name = format!("{NAME}{}", application.name);
            let is_of_application = |segment: &&Segment| {
                let suffix = segment.workload.name.strip_prefix(&name);
                suffix.is_some_and(|suffix| suffix.is_empty() || suffix.starts_with(", depth "))
            };
            let played: Vec<&Segment> = segments.iter().copied().filter(is_of_application).collect();
            if played.is_empty() {
                return None;
            }
            for segment in played {
                let ios = segment.total().ios;
                if ios == 0 {
                    return None;
                }
                let times = segment.workload.until.ops? as f64 / ios as f64 / self.scale;
                let depth = f64::from(segment.workload.depth().max(1));
                sum.ios += ios;
                sum.blocking_ns += times * segment.total_of(Op::Read).latency_ns_sum as f64 / depth;
                sum.busy_ns += times * segment.busy.0 as f64;
                latencies.merge(&segment.latencies());
                variance += (times / depth).powi(2) * ios as f64 * spread(&segment.latencies());
            }
        }
        sum.latency_ns_p99 = latencies.quantile(0.99).0;
        sum.latency_ns_max = latencies.max().0;
        sum.doubt_ns = TIMES_DEVIATION * variance.sqrt();
        Some(sum)
    }
}

/// Standard deviations within which 95% of the values of a normal distribution lie.
const TIMES_DEVIATION: f64 = 1.96;

/// The variance of latencies, as if they were independent.
fn spread(latencies: &Latencies) -> f64 {
    let count = latencies.count().max(1) as f64;
    let mean_of = |term: &dyn Fn(f64) -> f64| -> f64 {
        latencies.places().iter().map(|(value, times)| term(*value as f64) * *times as f64).sum::<f64>()
            / count
    };
    let mean = mean_of(&|value| value);
    mean_of(&|value| (value - mean).powi(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(awaited_s: f64, busy_s: f64) -> Waits {
        Waits { ios: 1000, blocking_ns: awaited_s * 1e9, busy_ns: busy_s * 1e9, ..Waits::default() }
    }

    #[test]
    fn worth_is_one_percent_of_the_time_by_what_is_surely_waited_for_and_by_all_of_it() {
        let hour = Nanos::from_secs(3600);
        let from = waits(100.0, 200.0);
        for (to, worth) in [
            (waits(10.0, 20.0), Worth::Yes),
            (waits(90.0, 180.0), Worth::No),
            // A user notices only if programs wait for all writes.
            (waits(90.0, 20.0), Worth::Undecided),
            (waits(10.0, 195.0), Worth::Undecided),
            (waits(300.0, 400.0), Worth::No),
        ] {
            assert_eq!(Saving::from_waits(&from, &to).worth(Some(hour)), worth, "{to:?}");
        }
        let Saving { value, low, high, .. } = Saving::from_waits(&from, &waits(10.0, 195.0));
        assert_eq!((value, low, high), (90e9, 5e9, 90e9), "the value is an end of the interval");
    }

    #[test]
    fn without_a_time_half_of_the_waiting_has_to_go_and_doubt_decides_nothing() {
        let from = waits(100.0, 200.0);
        let doubtful = Waits { doubt_ns: 30e9, ..waits(40.0, 80.0) };
        for (to, worth) in [
            (waits(40.0, 80.0), Worth::Yes),
            (waits(60.0, 110.0), Worth::No),
            (waits(40.0, 150.0), Worth::Undecided),
            (doubtful, Worth::Undecided),
        ] {
            assert_eq!(Saving::from_waits(&from, &to).worth(None), worth, "{to:?}");
        }
    }
}
