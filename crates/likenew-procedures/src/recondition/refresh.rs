//! What lies there for long is written again where it lies, as far as it is read slowly: fresh charge is read without retries.

mod trial;

use std::ops::Range;

use likenew_core::cure::{Cure, CureEnd, Piece};
use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::look::{Look, Seen};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::until::Until;
use likenew_core::windows::Cell;
use likenew_core::workload::{Stream, Workload};

use super::rung::{Rung, RungCard, RungName, Scene, ends, looked, rest, was_cured};
use trial::{Trial, trial, without};

pub(super) struct Refresh;

const CARD: RungCard =
    RungCard { does: "write slow old data again", doing: "writing old data again", destroys: "nothing" };

const SURVEY: &str = "survey";
/// Small reads one at a time show best what is read more than once: read ahead and side by side, it hides behind the link.
const BLOCK: u32 = 4096;
/// So many of them at even distances stand for a window, of which there are so many at most.
const PER_WINDOW: u64 = 16;
const WINDOWS: u64 = 1024;
const WINDOW_LEAST: u64 = 4 << 20;
/// A window is slow whose reads take so many times as long as those of fresh data, which scatter by some percent.
const SLOW: f64 = 1.5;
/// A file is slow that is read in order at less than this share of what fresh data does.
const FILE_SLOW: f64 = 0.75;
/// What is written again before anybody is asked whether to go on.
const AT_ONCE: u64 = 1 << 30;

impl Rung for Refresh {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    /// Of a folder nobody has to be asked.
    fn doubt(&self, scene: &Scene<'_>) -> Option<String> {
        let is_device = scene.evidence.identity.kind == Kind::Device;
        is_device.then(|| "somebody has to agree that it is written to, by what it is known by".into())
    }

    fn bytes(&self, scene: &Scene<'_>) -> Option<u64> {
        if scene.is_folder() {
            return scene.facts?.file_system.as_ref()?.used_bytes.get();
        }
        let used = scene.in_use();
        Some(used.end - used.start)
    }

    fn next(&self, scene: &Scene<'_>, done: &Evidence) -> Option<Step> {
        if scene.is_folder() {
            return files(scene, done);
        }
        let Some(survey) = done.segments.first() else {
            return Some(Step::Run(survey(&scene.in_use())));
        };
        let has_failed = |seen: &Seen| matches!(seen, Seen::Cured(cured) if cured.end == CureEnd::Failed);
        if done.sights.iter().any(|sight| has_failed(&sight.seen)) {
            return rest(scene, done, RungName::Refresh);
        }
        let windows = windows(survey, &scene.in_use());
        let (pieces, tried) = match scene.fresh_small_ns {
            // Nobody knows before how much of it is slow.
            _ if survey.was_rehearsed() => (vec![whole(&scene.in_use())], 0),
            Some(fresh) => (slow_pieces(&windows, SLOW * fresh), 0),
            None => match trial(&windows, &done.segments, ends(done))? {
                Trial::Next(step) => return Some(*step),
                Trial::InVain => return rest(scene, done, RungName::Refresh),
                Trial::Fresh { latency_ns, tried } => {
                    let slow = slow_pieces(&windows, SLOW * latency_ns);
                    (tried.iter().fold(slow, |slow, part| without(&slow, *part)), tried.len())
                }
            },
        };
        let mut left = portions(&pieces).skip(looked(done).saturating_sub(tried));
        match left.next() {
            Some(pieces) => Some(Step::Look(Look::Cure(Cure::Refresh { pieces }))),
            None => rest(scene, done, RungName::Refresh).filter(|_| was_cured(done)),
        }
    }
}

/// Files are looked for and measured as they are written.
fn files(scene: &Scene<'_>, done: &Evidence) -> Option<Step> {
    if looked(done) == 0 {
        let slower_than_bytes_per_s = FILE_SLOW * scene.fresh_bytes_per_s?;
        return Some(Step::Look(Look::Cure(Cure::RefreshFiles { slower_than_bytes_per_s })));
    }
    rest(scene, done, RungName::Refresh).filter(|_| was_cured(done))
}

/// Bytes of addresses in a window.
fn window(used: &Range<u64>) -> u64 {
    ((used.end - used.start) / WINDOWS).max(WINDOW_LEAST).next_multiple_of(PER_WINDOW * u64::from(BLOCK))
}

/// Small reads at even distances over everything that may hold files.
fn survey(used: &Range<u64>) -> Workload {
    reads(SURVEY, used, window(used) / PER_WINDOW)
}

fn reads(name: &str, used: &Range<u64>, step: u64) -> Workload {
    let place = Place::Strided { region: Region::bytes(used.clone()), step };
    let stream = Stream::closed(Mix::Only(Op::Read), BLOCK, place, 1, DataClass::Random);
    Workload {
        name: RungName::Refresh.step(name),
        window: Some(PER_WINDOW * u64::from(BLOCK)),
        ..Workload::new("", Until::ops(((used.end - used.start) / step).max(1)), vec![stream])
    }
}

/// A part of the addresses, and how long reads of it take.
#[derive(Clone, Copy)]
struct Window {
    offset: u64,
    bytes: u64,
    latency_ns: f64,
}

impl Window {
    fn overlaps(&self, piece: Piece) -> bool {
        self.offset < piece.offset + piece.bytes && piece.offset < self.offset + self.bytes
    }
}

fn whole(used: &Range<u64>) -> Piece {
    Piece { offset: used.start, bytes: used.end - used.start }
}

/// What was read, in order.
fn windows(survey: &Segment, used: &Range<u64>) -> Vec<Window> {
    // Windows that became too many were joined by twos.
    let joined = survey.gigabytes.width / (PER_WINDOW * u64::from(BLOCK));
    let width = window(used) * joined.max(1);
    let windows = survey.gigabytes.cells.iter().enumerate().filter_map(|(index, cell)| {
        let offset = used.start + index as u64 * width;
        let bytes = width.min(used.end.saturating_sub(offset));
        Some(Window { offset, bytes, latency_ns: latency_ns(cell)? })
    });
    windows.filter(|window| window.bytes > 0).collect()
}

/// How long reads of a window took but for the longest one, which may have waited for somebody else; nothing where none was read.
fn latency_ns(cell: &Cell) -> Option<f64> {
    match cell.ios {
        0 => None,
        1 => Some(cell.latency_ns_sum as f64),
        ios => Some((cell.latency_ns_sum - cell.latency_ns_max) as f64 / (ios - 1) as f64),
    }
}

/// Windows whose reads take longer than this, neighbours joined.
fn slow_pieces(windows: &[Window], longer_than_ns: f64) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for Window { offset, bytes, .. } in windows.iter().filter(|window| window.latency_ns > longer_than_ns) {
        match pieces.last_mut() {
            Some(last) if last.offset + last.bytes == *offset => last.bytes += bytes,
            _ => pieces.push(Piece { offset: *offset, bytes: *bytes }),
        }
    }
    pieces
}

/// The same pieces in portions of so much at most.
fn portions(pieces: &[Piece]) -> impl Iterator<Item = Vec<Piece>> {
    let mut all: Vec<Vec<Piece>> = Vec::new();
    let mut room = 0;
    for piece in pieces {
        let (mut offset, end) = (piece.offset, piece.offset + piece.bytes);
        while offset < end {
            if room == 0 {
                all.push(Vec::new());
                room = AT_ONCE;
            }
            let bytes = room.min(end - offset);
            all.last_mut().expect("one was just begun").push(Piece { offset, bytes });
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
            Piece { offset: 0, bytes: AT_ONCE - 1 },
            Piece { offset: 2 * AT_ONCE, bytes: 5 },
            Piece { offset: 4 * AT_ONCE, bytes: 2 * AT_ONCE },
        ];
        let all: Vec<Vec<Piece>> = portions(&pieces).collect();
        let sizes: Vec<u64> =
            all.iter().map(|portion| portion.iter().map(|piece| piece.bytes).sum()).collect();
        assert_eq!(sizes, [AT_ONCE, AT_ONCE, AT_ONCE, 4]);
        assert_eq!(all[0][1], Piece { offset: 2 * AT_ONCE, bytes: 1 });
        assert_eq!(portions(&[]).count(), 0);
    }
}
