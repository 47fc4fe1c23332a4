//! The step `refresh`: rewrites slow old data in place, because flash cells with fresh charge are read without retries.

use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::fix::{AddressRange, Fix, FixEnd, REWRITE_GAIN_MIN};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Ended, Steps};
use likenew_core::region::Region;
use likenew_core::segment::{Cell, Segment};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_stats::summary::quantile;

use super::step::{Attempt, ReconditionStep, StepContext, apply};
use super::step_name::StepName;
use super::wording;

pub(super) struct Refresh;

const SURVEY: &str = "survey";
/// Bytes of small reads at QD1, which show retries best: deeper queues and read-ahead hide them behind the
/// link.
const BLOCK: u32 = 4096;
/// Evenly spaced reads of a window. There are at most `WINDOWS` windows, of `WINDOW_LEAST` bytes or more.
const PER_WINDOW: u64 = 16;
const WINDOWS: u64 = 1024;
const WINDOW_LEAST: u64 = 4 << 20;
/// Latency of a window over that of fresh data, as a ratio, from which it is slow. Chosen: fresh data
/// scatters by some percent.
const SLOW: f64 = 1.5;
/// Rate of sequential reads of a file over that of fresh data, as a ratio, below which the file is slow.
/// Chosen: above the spread between files.
const FILE_SLOW: f64 = 0.75;
/// Bytes that are rewritten before the run can be stopped.
const REFRESH_BATCH_BYTES: u64 = 1 << 30;
const READS_BEFORE: &str = "reads before rewrite";
const READS_AFTER: &str = "reads after rewrite";
/// Quantile of all windows, in 0..1, that stands for fresh data until a trial has rewritten some. Chosen: the
/// fastest tenth.
const FAST: f64 = 0.1;
/// Bytes that a trial rewrites, and reads in `TRIAL_WINDOWS` windows before and after.
const TRIAL: u64 = 64 << 20;
const TRIAL_WINDOWS: u64 = 16;
/// A refresh skips zeros, so a part on trial needs this share of other data; up to `TRIALS` parts are tried.
/// Chosen: a quarter still shows in the quantiles.
const DATA_SHARE_MIN: f64 = 0.25;
const TRIALS: usize = 8;
/// Share of a latency from which a window counts as just as slow. Chosen: below the spread of windows.
const ALIKE: f64 = 0.9;
/// Quantile of equally slow windows, in 0..1, that other programs did not delay. Chosen: they may have delayed three of four.
const UNDISTURBED: f64 = 0.25;

impl ReconditionStep for Refresh {
    /// A folder needs no consent.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        let is_device = context.evidence.identity.kind == TargetKind::Device;
        is_device.then(wording::owner_must_name_it)
    }

    fn bytes(&self, context: &StepContext<'_>) -> Option<u64> {
        if context.is_folder() {
            return context.file_bytes(true);
        }
        let used = context.in_use();
        Some(used.end - used.start)
    }

    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
        let context = attempt.context;
        if context.is_folder() {
            return refresh_files(attempt, steps);
        }
        let used = context.in_use();
        let survey = steps.run_seeded(|| survey(&used))?;
        let windows = windows(survey, &used);
        let pieces = match context.fresh_small_ns {
            // A dry run does not know how much is slow, so it takes all.
            _ if survey.is_dry_run() => {
                vec![AddressRange { offset: used.start, bytes: used.end - used.start }]
            }
            Some(fresh) => slow_pieces(&windows, SLOW * fresh),
            None => match trial(&windows, steps)? {
                Trial::NothingSlow => return Ok(()),
                Trial::NoGain => return attempt.idle(steps),
                Trial::Fresh { latency_ns, attempted_pieces } => {
                    let slow = slow_pieces(&windows, SLOW * latency_ns);
                    attempted_pieces.iter().fold(slow, |slow, part| subtract(&slow, *part))
                }
            },
        };
        for pieces in portions(&pieces) {
            let result = apply(steps, || Fix::Refresh { pieces: pieces.clone() })?;
            if result.fix_report().is_some_and(|report| report.end == FixEnd::Failed) {
                break;
            }
        }
        attempt.idle_if_fixed(steps)
    }
}

/// Files are found and measured while they are rewritten.
fn refresh_files(attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
    let Some(fresh_bytes_per_s) = attempt.context.fresh_bytes_per_s else { return Ok(()) };
    let slower_than_bytes_per_s = FILE_SLOW * fresh_bytes_per_s;
    apply(steps, || Fix::RefreshFiles { slower_than_bytes_per_s })?;
    attempt.idle_if_fixed(steps)
}

/// What a trial shows. It is made if the check read no fresh data.
enum Trial {
    /// No part is slower than the fastest ones.
    NothingSlow,
    /// Rewriting made no difference, or could not be done.
    NoGain,
    /// Latency that a survey would measure now, and the pieces that were tried.
    Fresh { latency_ns: f64, attempted_pieces: Vec<AddressRange> },
}

/// Rewrites a small part that is among the slowest, and reads it before and after.
fn trial(windows: &[Window], steps: &mut Steps<'_>) -> Result<Trial, Ended> {
    let latencies_ns: Vec<f64> = windows.iter().map(|window| window.latency_ns).collect();
    let Some(fast) = quantile(&latencies_ns, FAST) else { return Ok(Trial::NothingSlow) };
    let mut attempted_pieces = Vec::new();
    while attempted_pieces.len() < TRIALS {
        let Some(piece) = slowest(windows, SLOW * fast, &attempted_pieces) else {
            return Ok(if attempted_pieces.is_empty() { Trial::NothingSlow } else { Trial::NoGain });
        };
        let name = format!("{READS_BEFORE} {}", attempted_pieces.len() + 1);
        let before = steps.run_seeded(|| reads_of(&name, piece))?;
        attempted_pieces.push(piece);
        let report = match apply(steps, || Fix::Refresh { pieces: vec![piece] })?.fix_report() {
            Some(report) if report.end != FixEnd::Failed => report,
            _ => return Ok(Trial::NoGain),
        };
        let held = (report.bytes_written as f64 / piece.bytes as f64).min(1.0);
        if held >= DATA_SHARE_MIN {
            let after = steps.run_seeded(|| reads_of(READS_AFTER, piece))?;
            let result = gain(windows, before, after, held, attempted_pieces);
            return Ok(result.unwrap_or(Trial::NothingSlow));
        }
    }
    Ok(Trial::NoGain)
}

/// What reads of a part before and after its rewriting show; `held` is its share of data other than zeros.
fn gain(
    windows: &[Window],
    before: &Segment,
    after: &Segment,
    held: f64,
    attempted_pieces: Vec<AddressRange>,
) -> Option<Trial> {
    // Half of the rewritten data is faster than this, and zeros are as slow as before.
    let now = quantile(&latencies(after), held / 2.0)?;
    let before = quantile(&latencies(before), 0.5)?;
    if before < REWRITE_GAIN_MIN * now {
        return Some(Trial::NoGain);
    }
    // Reads close together may be faster than those of a survey, whatever they read.
    let far = survey_latency_ns(windows, before).unwrap_or(before);
    let latency_ns = (far - (before - now)).max(now);
    Some(Trial::Fresh { latency_ns, attempted_pieces })
}

/// Bytes of one window.
fn window(used: &Range<u64>) -> u64 {
    ((used.end - used.start) / WINDOWS).max(WINDOW_LEAST).next_multiple_of(PER_WINDOW * u64::from(BLOCK))
}

/// Evenly spaced small reads over everything that may hold files.
fn survey(used: &Range<u64>) -> Workload {
    reads(SURVEY, used, window(used) / PER_WINDOW)
}

fn reads(name: &str, used: &Range<u64>, step: u64) -> Workload {
    let place = AccessPattern::Strided { region: Region::bytes(used.clone()), step };
    let stream = Stream::closed(Mix::Only(Op::Read), BLOCK, place, 1, DataClass::Random);
    Workload {
        name: StepName::Refresh.step(name),
        window: Some(PER_WINDOW * u64::from(BLOCK)),
        ..Workload::new("", Until::ops(((used.end - used.start) / step).max(1)), vec![stream])
    }
}

/// A range of addresses, and the latency of its reads.
#[derive(Clone, Copy)]
struct Window {
    offset: u64,
    bytes: u64,
    latency_ns: f64,
}

impl Window {
    fn overlaps(&self, piece: AddressRange) -> bool {
        self.offset < piece.offset + piece.bytes && piece.offset < self.offset + self.bytes
    }
}

/// The windows of a survey, by address.
fn windows(survey: &Segment, used: &Range<u64>) -> Vec<Window> {
    // When there are too many windows they are joined in pairs.
    let joined = survey.gigabytes.width / (PER_WINDOW * u64::from(BLOCK));
    let width = window(used) * joined.max(1);
    let windows = survey.gigabytes.cells.iter().enumerate().filter_map(|(index, cell)| {
        let offset = used.start + index as u64 * width;
        let bytes = width.min(used.end.saturating_sub(offset));
        Some(Window { offset, bytes, latency_ns: latency_ns(cell)? })
    });
    windows.filter(|window| window.bytes > 0).collect()
}

/// Mean latency of reads of a window without the longest one, which another program may have delayed; `None`
/// if none was read.
fn latency_ns(cell: &Cell) -> Option<f64> {
    match cell.ios {
        0 => None,
        1 => Some(cell.latency_ns_sum as f64),
        ios => Some((cell.latency_ns_sum - cell.latency_ns_max) as f64 / (ios - 1) as f64),
    }
}

/// Windows with a longer latency than this, neighbors joined.
fn slow_pieces(windows: &[Window], longer_than_ns: f64) -> Vec<AddressRange> {
    let mut pieces: Vec<AddressRange> = Vec::new();
    for Window { offset, bytes, .. } in windows.iter().filter(|window| window.latency_ns > longer_than_ns) {
        match pieces.last_mut() {
            Some(last) if last.offset + last.bytes == *offset => last.bytes += bytes,
            _ => pieces.push(AddressRange { offset: *offset, bytes: *bytes }),
        }
    }
    pieces
}

/// The same pieces in portions of at most this many bytes.
fn portions(pieces: &[AddressRange]) -> impl Iterator<Item = Vec<AddressRange>> {
    let mut batches: Vec<Vec<AddressRange>> = Vec::new();
    let mut room = 0;
    for piece in pieces {
        let (mut offset, end) = (piece.offset, piece.offset + piece.bytes);
        while offset < end {
            if room == 0 {
                batches.push(Vec::new());
                room = REFRESH_BATCH_BYTES;
            }
            let bytes = room.min(end - offset);
            batches.last_mut().expect("one was just begun").push(AddressRange { offset, bytes });
            (offset, room) = (offset + bytes, room - bytes);
        }
    }
    batches.into_iter()
}

/// Latency in a survey of data that takes `close_ns` when read close together; `None` if none is that slow.
///
/// It comes from windows that are as slow: the tried part was the slowest, so other programs may have delayed it.
fn survey_latency_ns(windows: &[Window], close_ns: f64) -> Option<f64> {
    let latencies = windows.iter().map(|window| window.latency_ns);
    let alike: Vec<f64> = latencies.filter(|latency_ns| *latency_ns >= ALIKE * close_ns).collect();
    quantile(&alike, UNDISTURBED)
}

fn latencies(segment: &Segment) -> Vec<f64> {
    segment.gigabytes.cells.iter().filter_map(latency_ns).collect()
}

/// The piece around the slowest untried window that is about as slow, up to the length of a trial. `None` if
/// no window is slower than the limit.
fn slowest(
    windows: &[Window],
    longer_than_ns: f64,
    attempted_pieces: &[AddressRange],
) -> Option<AddressRange> {
    let is_tried = |window: &&Window| attempted_pieces.iter().any(|piece| window.overlaps(*piece));
    let slow = windows.iter().filter(|window| window.latency_ns > longer_than_ns && !is_tried(window));
    let worst = slow.max_by(|one, other| one.latency_ns.total_cmp(&other.latency_ns))?;
    let alike = slow_pieces(windows, longer_than_ns.max(worst.latency_ns / SLOW));
    let alike = attempted_pieces.iter().fold(alike, |alike, piece| subtract(&alike, *piece));
    let around = alike.iter().find(|piece| worst.overlaps(**piece))?;
    let end = around.offset + around.bytes;
    let offset = worst.offset.min(end.saturating_sub(TRIAL)).max(around.offset);
    Some(AddressRange { offset, bytes: TRIAL.min(end - offset) })
}

/// Pieces without the overlap with `part`.
fn subtract(pieces: &[AddressRange], part: AddressRange) -> Vec<AddressRange> {
    let end = part.offset + part.bytes;
    let sides = pieces.iter().flat_map(|piece| {
        let piece_end = piece.offset + piece.bytes;
        [(piece.offset, piece_end.min(part.offset)), (piece.offset.max(end), piece_end)]
    });
    sides
        .filter(|(from, to)| from < to)
        .map(|(from, to)| AddressRange { offset: from, bytes: to - from })
        .collect()
}

/// Evenly spaced small reads over a trial's piece.
fn reads_of(name: &str, piece: AddressRange) -> Workload {
    let step = (piece.bytes / (TRIAL_WINDOWS * PER_WINDOW)).next_multiple_of(BLOCK.into());
    reads(name, &(piece.offset..piece.offset + piece.bytes), step.max(BLOCK.into()))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use likenew_core::findings::Findings;
    use likenew_core::fix::FixReport;
    use likenew_core::probe::{Observation, Probe, ProbeResult};
    use likenew_core::procedure::{self, Descriptor, Layout, Procedure as _, Step};
    use likenew_core::segment::{SegmentRecorder, Stop, Windows};
    use likenew_core::units::Nanos;

    use super::*;

    #[test]
    fn one_read_that_waited_for_somebody_else_makes_no_window_slow() {
        let cell = |ios, latency_ns_sum, latency_ns_max| Cell {
            ios,
            latency_ns_sum,
            latency_ns_max,
            ..Cell::default()
        };
        assert_eq!(latency_ns(&cell(16, 15 * 100 + 90_000, 90_000)), Some(100.0));
        assert_eq!(latency_ns(&cell(1, 700, 700)), Some(700.0));
        assert_eq!(latency_ns(&cell(0, 0, 0)), None);
    }

    #[test]
    fn portions_hold_every_byte_once_and_are_never_too_large() {
        let pieces = [
            AddressRange { offset: 0, bytes: REFRESH_BATCH_BYTES - 1 },
            AddressRange { offset: 2 * REFRESH_BATCH_BYTES, bytes: 5 },
            AddressRange { offset: 4 * REFRESH_BATCH_BYTES, bytes: 2 * REFRESH_BATCH_BYTES },
        ];
        let batches: Vec<Vec<AddressRange>> = portions(&pieces).collect();
        let sizes: Vec<u64> =
            batches.iter().map(|portion| portion.iter().map(|piece| piece.bytes).sum()).collect();
        assert_eq!(sizes, [REFRESH_BATCH_BYTES, REFRESH_BATCH_BYTES, REFRESH_BATCH_BYTES, 4]);
        assert_eq!(batches[0][1], AddressRange { offset: 2 * REFRESH_BATCH_BYTES, bytes: 1 });
        assert_eq!(portions(&[]).count(), 0);
    }

    const WINDOW: u64 = 4 << 20;
    const FRESH: f64 = 100_000.0;
    const OLD: f64 = 900_000.0;

    /// The content of each window of a drive.
    #[derive(Clone, Copy, PartialEq)]
    enum Holds {
        Fresh,
        Old,
        /// Old zeros, which a refresh skips.
        Zeros,
    }

    struct Drive {
        holds: Vec<Holds>,
        /// The window that is slowest by the random spread of latencies.
        slowest: usize,
        /// Windows that were delayed by other programs while all were surveyed.
        delayed: std::ops::Range<usize>,
        /// Whether old data is slow because of its age.
        does_age: bool,
    }

    impl Drive {
        fn latency_ns(&self, window: usize) -> f64 {
            let base = if self.holds[window] == Holds::Fresh { FRESH } else { OLD };
            base * if window == self.slowest { 1.01 } else { 1.0 }
        }

        fn windows(&self) -> Vec<Window> {
            let window = |index: usize| Window {
                offset: index as u64 * WINDOW,
                bytes: WINDOW,
                latency_ns: self.latency_ns(index) * if self.delayed.contains(&index) { 2.5 } else { 1.0 },
            };
            (0..self.holds.len()).map(window).collect()
        }

        fn reads(&self, workload: &Workload, piece: AddressRange) -> Segment {
            let window_bytes = piece.bytes / TRIAL_WINDOWS;
            let cell = |index: u64| {
                let sum = self.latency_ns(((piece.offset + index * window_bytes) / WINDOW) as usize) as u64;
                Cell { ios: 1, latency_ns_sum: sum, latency_ns_max: sum, ..Cell::default() }
            };
            let cells = (0..TRIAL_WINDOWS).map(cell).collect();
            let recorded = vec![SegmentRecorder::default()];
            Segment {
                gigabytes: Windows { width: PER_WINDOW * u64::from(BLOCK), cells },
                ..SegmentRecorder::join(recorded, workload, Stop::Reached)
            }
        }

        fn write_again(&mut self, piece: AddressRange) -> ProbeResult {
            let mut bytes_written = 0;
            for window in piece.offset / WINDOW..(piece.offset + piece.bytes) / WINDOW {
                let holds = &mut self.holds[window as usize];
                if *holds != Holds::Zeros {
                    bytes_written += WINDOW;
                    if self.does_age {
                        *holds = Holds::Fresh;
                    }
                }
            }
            ProbeResult::FixReport(FixReport { bytes: piece.bytes, bytes_written, ..FixReport::default() })
        }

        /// Latency of fresh reads as far as trials show it, and where they were made.
        fn attempted_pieces(&mut self) -> Option<(Option<f64>, Vec<AddressRange>)> {
            let only = OnlyTrial { windows: self.windows(), trial: RefCell::new(Trial::NothingSlow) };
            let mut evidence = crate::fixtures::evidence();
            let mut pieces = Vec::new();
            loop {
                match only.next(&evidence).unwrap() {
                    Step::Probe(probe) => {
                        let Probe::Fix(Fix::Refresh { pieces: rewritten }) = &probe else {
                            panic!("{probe:?}")
                        };
                        pieces.push(rewritten[0]);
                        let result = self.write_again(rewritten[0]);
                        evidence.observations.push(Observation {
                            probe,
                            result,
                            after: evidence.segments.len(),
                            started_at: Nanos::ZERO,
                            ended_at: Nanos::ZERO,
                            after_interruption: false,
                            accounting: None,
                        });
                    }
                    Step::Run(workload) => {
                        let next = slowest(&only.windows, SLOW * FRESH, &pieces);
                        let is_after = workload.name.ends_with(READS_AFTER);
                        let piece = if is_after { pieces.last().copied() } else { next };
                        evidence.segments.push(self.reads(&workload, piece.unwrap()));
                    }
                    Step::Done => break,
                }
            }
            match only.trial.into_inner() {
                Trial::NothingSlow => None,
                Trial::NoGain => Some((None, pieces)),
                Trial::Fresh { latency_ns, attempted_pieces } => {
                    assert_eq!(attempted_pieces, pieces);
                    Some((Some(latency_ns), attempted_pieces))
                }
            }
        }
    }

    /// A trial and nothing else, with what it has shown.
    struct OnlyTrial {
        windows: Vec<Window>,
        trial: RefCell<Trial>,
    }

    impl procedure::Procedure for OnlyTrial {
        fn descriptor(&self) -> &'static Descriptor {
            &crate::recondition::DESCRIPTOR
        }

        fn layout(&self) -> Layout {
            Layout { files: 1, file_bytes: 1 << 30 }
        }

        fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
            if let Ok(trial) = trial(&self.windows, steps) {
                self.trial.replace(trial);
            }
            Ok(Findings::default())
        }
    }

    /// A drive half of which is old, with zeros in a range of it.
    fn drive(zeros: std::ops::Range<usize>, slowest: usize) -> Drive {
        let content = |window: usize| match window {
            _ if zeros.contains(&window) => Holds::Zeros,
            ..100 => Holds::Old,
            _ => Holds::Fresh,
        };
        Drive { holds: (0..200).map(content).collect(), slowest, delayed: 0..0, does_age: true }
    }

    fn is_fresh(latency: Option<f64>) -> bool {
        latency.is_some_and(|latency| (latency / FRESH - 1.0).abs() < 0.2)
    }

    #[test]
    fn it_has_its_length_wherever_the_slowest_window_lies() {
        for slowest in [0, 50, 98, 99] {
            let (latency, attempted_pieces) = drive(0..0, slowest).attempted_pieces().unwrap();
            assert!(is_fresh(latency), "{latency:?}");
            assert_eq!(attempted_pieces.len(), 1);
            let AddressRange { offset, bytes } = attempted_pieces[0];
            let at = slowest as u64 * WINDOW;
            assert!(bytes == TRIAL && (offset..offset + bytes).contains(&at), "{attempted_pieces:?}");
        }
    }

    #[test]
    fn it_is_of_what_is_as_slow() {
        let mut windows = drive(0..0, 50).windows();
        windows[20..24].iter_mut().for_each(|window| window.latency_ns *= 10.0);
        let first = slowest(&windows, SLOW * FRESH, &[]);
        assert_eq!(first, Some(AddressRange { offset: 20 * WINDOW, bytes: 4 * WINDOW }));
        let second = slowest(&windows, SLOW * FRESH, &[first.unwrap()]);
        assert_eq!(second.map(|piece| piece.bytes), Some(TRIAL));
        assert_eq!(slowest(&windows, 1e9, &[]), None);
    }

    #[test]
    fn zeros_tell_nothing_of_it() {
        // Zeros are half of the part, most of it, nearly all of it, and so much that several trials are needed.
        for (zeros, slowest, tries) in [(0..8, 0, 1), (0..11, 0, 1), (0..14, 0, 2), (0..60, 30, 5)] {
            let (latency, attempted_pieces) = drive(zeros, slowest).attempted_pieces().unwrap();
            assert!(is_fresh(latency) && attempted_pieces.len() <= tries, "{latency:?} {attempted_pieces:?}");
            assert!(tries == 1 || attempted_pieces.len() > 1, "{attempted_pieces:?}");
        }
        // There are only zeros.
        let (latency, attempted_pieces) = drive(0..100, 30).attempted_pieces().unwrap();
        assert!(latency.is_none() && attempted_pieces.len() == 7, "{latency:?} {attempted_pieces:?}");
    }

    #[test]
    fn what_other_programs_delayed_tells_nothing_of_the_rest() {
        for delayed in [50..51, 50..55, 95..105] {
            let (latency, attempted_pieces) =
                Drive { delayed, ..drive(0..0, 50) }.attempted_pieces().unwrap();
            assert!(is_fresh(latency), "{latency:?} {attempted_pieces:?}");
        }
    }

    #[test]
    fn what_is_slow_for_another_reason_stays_slow() {
        let mut slow = Drive { does_age: false, ..drive(0..0, 50) };
        let (latency, attempted_pieces) = slow.attempted_pieces().unwrap();
        assert!(latency.is_none() && attempted_pieces.len() == 1);
        let none_old = &mut Drive { holds: vec![Holds::Fresh; 100], ..drive(0..0, 3) };
        assert!(none_old.attempted_pieces().is_none());
    }

    #[test]
    fn what_was_tried_is_taken_out_of_the_rest() {
        let piece = |from: u64, to: u64| AddressRange { offset: from << 25, bytes: (to - from) << 25 };
        assert_eq!(subtract(&[piece(1, 5)], piece(2, 4)), [piece(1, 2), piece(4, 5)]);
        assert_eq!(subtract(&[piece(1, 5)], piece(0, 2)), [piece(2, 5)]);
        assert_eq!(subtract(&[piece(1, 5)], piece(1, 5)), []);
        assert_eq!(subtract(&[piece(1, 5)], piece(6, 7)), [piece(1, 5)]);
    }
}
