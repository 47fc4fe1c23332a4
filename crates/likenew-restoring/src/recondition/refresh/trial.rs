//! Rewrites a small part on trial if the latency of fresh data is unknown.

use likenew_core::fix::{AddressRange, Fix, REWRITE_GAIN_MIN};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::Step;
use likenew_core::segment::Segment;
use likenew_core::workload::Workload;
use likenew_stats::summary::quantile;

use super::super::step_name::StepName;
use super::{BLOCK, PER_WINDOW, SLOW, Window, latency_ns, reads, slow_pieces};

const READS_BEFORE: &str = "reads before rewrite";
const READS_AFTER: &str = "reads after rewrite";
/// Quantile of all windows, in 0..1, that stands for fresh data until a trial has rewritten some. Chosen: the
/// fastest tenth.
const FAST: f64 = 0.1;
/// What is written again on trial, and read in so many windows before and after.
const TRIAL: u64 = 64 << 20;
const TRIAL_WINDOWS: u64 = 16;
/// A refresh skips zeros, so a trial says nothing of a part with less than this share of other data; then
/// another part is tried, up to this many times. Chosen: a quarter still shows in the quantiles.
const DATA_SHARE_MIN: f64 = 0.25;
const TRIALS: usize = 8;
/// Share of a latency from which windows count as just as slow. Chosen: below their spread.
const ALIKE: f64 = 0.9;
/// Quantile of windows that are as slow, in 0..1, which other programs did not delay. Chosen: three of four may be.
const UNDISTURBED: f64 = 0.25;

/// The result of a trial, if no fresh data was read.
pub(super) enum Trial {
    Untested(Box<Step>),
    /// Rewriting made no difference.
    NoGain,
    /// Latency that a survey would measure now, and the pieces that were tried.
    Fresh {
        latency_ns: f64,
        attempted_pieces: Vec<AddressRange>,
    },
}

/// The next step or the result of the trial, from the slowest part on; `None` if no part is slower than the
/// fastest ones.
pub(super) fn trial<'a>(
    windows: &[Window],
    segments: &[Segment],
    mut ends: impl Iterator<Item = &'a ProbeResult>,
) -> Option<Trial> {
    let run = |name: &str| {
        let is_it = |segment: &&Segment| segment.workload.name == StepName::Refresh.step(name);
        segments.iter().find(is_it)
    };
    let all: Vec<f64> = windows.iter().map(|window| window.latency_ns).collect();
    let longer_than_ns = SLOW * quantile(&all, FAST)?;
    let mut attempted_pieces = Vec::new();
    let (piece, before, held) = loop {
        let Some(piece) = slowest(windows, longer_than_ns, &attempted_pieces) else {
            return (!attempted_pieces.is_empty()).then_some(Trial::NoGain);
        };
        let name = format!("{READS_BEFORE} {}", attempted_pieces.len() + 1);
        let Some(before) = run(&name) else {
            return Some(Trial::Untested(Box::new(Step::Run(reads_of(&name, piece)))));
        };
        let Some(result) = ends.next() else {
            let fix = Fix::Refresh { pieces: vec![piece] };
            return Some(Trial::Untested(Box::new(Step::Probe(Probe::Fix(fix)))));
        };
        attempted_pieces.push(piece);
        let ProbeResult::FixReport(report) = result else { return Some(Trial::NoGain) };
        let held = (report.bytes_written as f64 / piece.bytes as f64).min(1.0);
        if held >= DATA_SHARE_MIN {
            break (piece, before, held);
        }
        if attempted_pieces.len() == TRIALS {
            return Some(Trial::NoGain);
        }
    };
    let Some(again) = run(READS_AFTER) else {
        return Some(Trial::Untested(Box::new(Step::Run(reads_of(READS_AFTER, piece)))));
    };
    // Half of the rewritten data is faster than this, and zeros are as slow as before.
    let now = quantile(&latencies(again), held / 2.0)?;
    let before = quantile(&latencies(before), 0.5)?;
    if before < REWRITE_GAIN_MIN * now {
        return Some(Trial::NoGain);
    }
    // Reads close together may be faster than those of a survey, whatever they read.
    let far = survey_latency_ns(windows, before).unwrap_or(before);
    let latency_ns = (far - (before - now)).max(now);
    Some(Trial::Fresh { latency_ns, attempted_pieces })
}

/// Latency in a survey of what takes this long when read close together; `None` if nothing does.
///
/// Most windows that are as slow were not delayed by other programs. The part that was tried may have been: it was the slowest.
fn survey_latency_ns(windows: &[Window], close_ns: f64) -> Option<f64> {
    let latencies = windows.iter().map(|window| window.latency_ns);
    let alike: Vec<f64> = latencies.filter(|latency_ns| *latency_ns >= ALIKE * close_ns).collect();
    quantile(&alike, UNDISTURBED)
}

fn latencies(segment: &Segment) -> Vec<f64> {
    segment.gigabytes.cells.iter().filter_map(latency_ns).collect()
}

/// The piece around the slowest untried window that is about as slow, up to the length of a trial. `None` if
/// no window is slower than this.
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
pub(super) fn subtract(pieces: &[AddressRange], part: AddressRange) -> Vec<AddressRange> {
    let end = part.offset + part.bytes;
    let sides = pieces.iter().flat_map(|piece| {
        let of = piece.offset + piece.bytes;
        [(piece.offset, of.min(part.offset)), (piece.offset.max(end), of)]
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
    use likenew_core::fix::FixReport;
    use likenew_core::segment::{Cell, SegmentRecorder, Stop, Windows};

    use super::*;

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
        /// Random spread of the latencies of windows; this one takes longest.
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
            let each = piece.bytes / TRIAL_WINDOWS;
            let cell = |index: u64| {
                let sum = self.latency_ns(((piece.offset + index * each) / WINDOW) as usize) as u64;
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
            let windows = self.windows();
            let (mut segments, mut observations, mut pieces) = (Vec::new(), Vec::new(), Vec::new());
            loop {
                match trial(&windows, &segments, observations.iter())? {
                    Trial::NoGain => return Some((None, pieces)),
                    Trial::Fresh { latency_ns, attempted_pieces } => {
                        assert_eq!(attempted_pieces, pieces);
                        return Some((Some(latency_ns), attempted_pieces));
                    }
                    Trial::Untested(step) => match *step {
                        Step::Probe(Probe::Fix(Fix::Refresh { pieces: asked })) => {
                            observations.push(self.write_again(asked[0]));
                            pieces.push(asked[0]);
                        }
                        Step::Run(workload) => {
                            let next = slowest(&windows, SLOW * FRESH, &pieces);
                            let is_after = workload.name.ends_with(READS_AFTER);
                            let piece = if is_after { pieces.last().copied() } else { next };
                            segments.push(self.reads(&workload, piece.unwrap()));
                        }
                        other => panic!("{other:?}"),
                    },
                }
            }
        }
    }

    /// A drive half of which is old, with zeros in a range of it.
    fn drive(zeros: std::ops::Range<usize>, slowest: usize) -> Drive {
        let of = |window: usize| match window {
            _ if zeros.contains(&window) => Holds::Zeros,
            ..100 => Holds::Old,
            _ => Holds::Fresh,
        };
        Drive { holds: (0..200).map(of).collect(), slowest, delayed: 0..0, does_age: true }
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
        // Half of it, most of it, nearly all of it, and so much that several trials are needed.
        for (zeros, slowest, tries) in [(0..8, 0, 1), (0..11, 0, 1), (0..14, 0, 2), (0..60, 30, 5)] {
            let (latency, attempted_pieces) = drive(zeros, slowest).attempted_pieces().unwrap();
            assert!(is_fresh(latency) && attempted_pieces.len() <= tries, "{latency:?} {attempted_pieces:?}");
            assert!(tries == 1 || attempted_pieces.len() > 1, "{attempted_pieces:?}");
        }
        // Only zeros.
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
