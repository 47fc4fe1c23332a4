//! Rewrites slow old data in place: flash cells with fresh charge are read without retries.

mod trial;

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::fix::{AddressRange, Fix, FixEnd};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Evidence, Step};
use likenew_core::region::Region;
use likenew_core::segment::{Cell, Segment};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::recondition_step::{ReconditionStep, StepContext, ends, idle, probe_count, was_fixed};
use super::step_name::StepName;
use super::wording;
use trial::{Trial, subtract, trial};

pub(super) struct Refresh;

const SURVEY: &str = "survey";
/// Bytes of small reads at QD1, which show retries best: deeper queues and read-ahead hide them behind the
/// link.
const BLOCK: u32 = 4096;
/// Evenly spaced reads per window, most windows, and fewest bytes of a window.
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

impl ReconditionStep for Refresh {
    /// A folder needs no consent.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        let is_device = context.evidence.identity.kind == Kind::Device;
        is_device.then(wording::owner_must_name_it)
    }

    fn bytes(&self, context: &StepContext<'_>) -> Option<u64> {
        if context.is_folder() {
            return context.facts?.file_system.as_ref()?.used_bytes.get();
        }
        let used = context.in_use();
        Some(used.end - used.start)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if context.is_folder() {
            return files(context, done);
        }
        let Some(survey) = done.segments.first() else {
            return Some(Step::Run(survey(&context.in_use())));
        };
        let has_failed = |result: &ProbeResult| matches!(result, ProbeResult::FixReport(report) if report.end == FixEnd::Failed);
        if done.observations.iter().any(|observation| has_failed(&observation.result)) {
            return idle(context, done, StepName::Refresh);
        }
        let windows = windows(survey, &context.in_use());
        let (pieces, attempted_pieces) = match context.fresh_small_ns {
            // It is not known beforehand how much of it is slow.
            _ if survey.is_dry_run() => (vec![whole_piece(&context.in_use())], 0),
            Some(fresh) => (slow_pieces(&windows, SLOW * fresh), 0),
            None => match trial(&windows, &done.segments, ends(done))? {
                Trial::Untested(step) => return Some(*step),
                Trial::NoGain => return idle(context, done, StepName::Refresh),
                Trial::Fresh { latency_ns, attempted_pieces } => {
                    let slow = slow_pieces(&windows, SLOW * latency_ns);
                    (
                        attempted_pieces.iter().fold(slow, |slow, part| subtract(&slow, *part)),
                        attempted_pieces.len(),
                    )
                }
            },
        };
        let mut left = portions(&pieces).skip(probe_count(done).saturating_sub(attempted_pieces));
        match left.next() {
            Some(pieces) => Some(Step::Probe(Probe::Fix(Fix::Refresh { pieces }))),
            None => idle(context, done, StepName::Refresh).filter(|_| was_fixed(done)),
        }
    }
}

/// Files are found and measured while they are rewritten.
fn files(context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
    if probe_count(done) == 0 {
        let slower_than_bytes_per_s = FILE_SLOW * context.fresh_bytes_per_s?;
        return Some(Step::Probe(Probe::Fix(Fix::RefreshFiles { slower_than_bytes_per_s })));
    }
    idle(context, done, StepName::Refresh).filter(|_| was_fixed(done))
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

fn whole_piece(used: &Range<u64>) -> AddressRange {
    AddressRange { offset: used.start, bytes: used.end - used.start }
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
    let mut all: Vec<Vec<AddressRange>> = Vec::new();
    let mut room = 0;
    for piece in pieces {
        let (mut offset, end) = (piece.offset, piece.offset + piece.bytes);
        while offset < end {
            if room == 0 {
                all.push(Vec::new());
                room = REFRESH_BATCH_BYTES;
            }
            let bytes = room.min(end - offset);
            all.last_mut().expect("one was just begun").push(AddressRange { offset, bytes });
            (offset, room) = (offset + bytes, room - bytes);
        }
    }
    all.into_iter()
}

#[cfg(test)]
mod tests {
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
        let all: Vec<Vec<AddressRange>> = portions(&pieces).collect();
        let sizes: Vec<u64> =
            all.iter().map(|portion| portion.iter().map(|piece| piece.bytes).sum()).collect();
        assert_eq!(sizes, [REFRESH_BATCH_BYTES, REFRESH_BATCH_BYTES, REFRESH_BATCH_BYTES, 4]);
        assert_eq!(all[0][1], AddressRange { offset: 2 * REFRESH_BATCH_BYTES, bytes: 1 });
        assert_eq!(portions(&[]).count(), 0);
    }
}
