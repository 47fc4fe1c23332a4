//! What lies there for long is written again where it lies, as far as it is read slowly: fresh charge is read without retries.

use std::ops::Range;

use likenew_core::cure::{Cure, Piece};
use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::look::Look;
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};
use likenew_stats::summary::quantile;

use super::rung::{Rung, RungCard, RungName, Scene, rest, was_cured};

pub(super) struct Refresh;

const CARD: RungCard = RungCard {
    does: "write slow old data again",
    doing: "writing old data again",
    destroys: "nothing",
    helps: &["old_data"],
};

const SURVEY: &str = "survey";
/// Small reads one at a time show best what is read more than once: read ahead and side by side, it hides behind the link.
const BLOCK: u32 = 4096;
/// So many of them at even distances stand for a window, of which there are so many at most.
const PER_WINDOW: u64 = 16;
const WINDOWS: u64 = 1024;
const WINDOW_LEAST: u64 = 4 << 20;
/// A window is slow whose reads take so many times as long as those of fresh data, which scatter by some percent.
const SLOW: f64 = 1.5;
/// Where nothing fresh was read, this quantile of all windows stands for it.
const FAST: f64 = 0.1;
/// A file is slow that is read in order at less than this share of what fresh data does.
const FILE_SLOW: f64 = 0.75;
/// What is written again before anybody is asked whether to go on.
const AT_ONCE: u64 = 1 << 30;

impl Rung for Refresh {
    fn card(&self) -> &'static RungCard {
        &CARD
    }

    fn obstacle(&self, scene: &Scene<'_>) -> Option<String> {
        match scene.evidence.identity.kind {
            Kind::Folder => None,
            Kind::Simulated if scene.in_use().is_empty() => Some("it holds nothing".into()),
            Kind::Simulated => None,
            Kind::Device => {
                Some("its files are written again one by one: give the folder where it is mounted".into())
            }
            Kind::File => Some("give the folder that it lies in".into()),
            Kind::Nop => Some("there is nothing".into()),
        }
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
        let all: Vec<f64> = latencies(survey).into_iter().map(|(_, latency)| latency).collect();
        let fresh = scene.fresh_small_ns.or_else(|| quantile(&all, FAST));
        let pieces = slow_pieces(survey, scene.in_use(), SLOW * fresh.unwrap_or(0.0));
        let mut left = portions(&pieces).skip(done.sights.len());
        match left.next() {
            Some(pieces) => Some(Step::Look(Look::Cure(Cure::Refresh { pieces }))),
            None => rest(scene, done, RungName::Refresh).filter(|_| was_cured(done)),
        }
    }
}

/// Files are looked for and measured as they are written.
fn files(scene: &Scene<'_>, done: &Evidence) -> Option<Step> {
    if done.sights.is_empty() {
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
    let step = window(used) / PER_WINDOW;
    let place = Place::Strided { region: Region::bytes(used.clone()), step };
    let stream = Stream::closed(Mix::Only(Op::Read), BLOCK, place, 1, DataClass::Random);
    Workload {
        name: RungName::Refresh.step(SURVEY),
        window: Some(PER_WINDOW * u64::from(BLOCK)),
        ..Workload::new("", Until::ops(((used.end - used.start) / step).max(1)), vec![stream])
    }
}

/// Number and mean latency, in nanoseconds, of each window.
fn latencies(survey: &Segment) -> Vec<(usize, f64)> {
    let cells = survey.gigabytes.cells.iter().enumerate().filter(|(_, cell)| cell.ios > 0);
    cells.map(|(index, cell)| (index, cell.latency_ns_sum as f64 / cell.ios as f64)).collect()
}

/// Windows whose reads take longer than this, neighbours joined. All of it, where nothing was measured.
fn slow_pieces(survey: &Segment, used: Range<u64>, longer_than_ns: f64) -> Vec<Piece> {
    if survey.was_rehearsed() {
        return vec![Piece { offset: used.start, bytes: used.end - used.start }];
    }
    // Windows that became too many were joined by twos.
    let joined = survey.gigabytes.width / (PER_WINDOW * u64::from(BLOCK));
    let width = window(&used) * joined.max(1);
    let mut pieces: Vec<Piece> = Vec::new();
    for (index, latency) in latencies(survey) {
        let offset = used.start + index as u64 * width;
        if latency <= longer_than_ns || offset >= used.end {
            continue;
        }
        let bytes = width.min(used.end - offset);
        match pieces.last_mut() {
            Some(last) if last.offset + last.bytes == offset => last.bytes += bytes,
            _ => pieces.push(Piece { offset, bytes }),
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
