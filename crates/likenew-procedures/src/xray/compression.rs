//! Whether the controller compresses: zeros against data that nothing shortens, written and read back. What is stored shorter
//! is programmed less and crosses the chips' bus in less time.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::io::DataClass;
use likenew_core::units::Nanos;
use likenew_core::verdict::{Line, Series, Shape};
use likenew_core::workload::Workload;

use super::compared::{Compared, reads_of_both, write_in_order};
use super::finding::Finding;
use super::probe::Probe;
use super::property::{Key, Property};
use super::scene::Scene;
use crate::series::axis;

const AREA: u64 = 2 << 20;
const AREAS: [Range<u64>; 2] = [0..AREA, AREA..2 * AREA];
/// Which of the two areas is written, in an order in which what drifts is the same to both.
const ORDER: [usize; 4] = [1, 0, 0, 1];
const READS: u32 = 128;
const READ: u32 = 16 << 10;
/// What is stored shorter is read faster by this share at least, and zeros are written no slower than other data.
const FASTER: f64 = 0.03;
const WRITTEN_SLOWER_MAX: f64 = 1.05;
/// As long to read as other data: of chips, and of what scatters by its nature.
const SAME: f64 = 0.015;
const SAME_MOVING: f64 = 0.3;

/// Writes zeros and random data in turns, then reads both.
pub(super) struct CompressionProbe;

impl Probe for CompressionProbe {
    fn name(&self) -> &'static str {
        "compression"
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        if refusal(scene).is_some() {
            return None;
        }
        let step = scene.own.len();
        let Some(area) = ORDER.get(step).copied() else {
            return (step == ORDER.len()).then(|| reads_of_both("reads", AREAS, READ, READS));
        };
        let (name, data) = [("zeros", DataClass::Zero), ("random data", DataClass::Random)][area];
        Some(write_in_order(&format!("{name} {}", step + 1), AREAS[area].clone(), data))
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        if let Some(property) = refusal(scene) {
            return Finding::of(property, None);
        }
        let Some(reads) = scene.ran("reads").and_then(Compared::in_segment) else {
            return Finding::default();
        };
        let time = |area: usize| -> f64 {
            let own = ORDER.iter().zip(&scene.own).filter(|(written, _)| **written == area);
            own.map(|(_, segment)| segment.elapsed().as_secs_f64()).sum()
        };
        let written = time(0) / time(1);
        let moves = scene.known.word(Key::Medium).is_some_and(|medium| medium != "flash");
        Finding::of(judged(&reads, written, moves), Some(("zeros_and_random_data", picture(&reads, scene))))
    }
}

/// Why it can not be asked here, if it can not.
fn refusal(scene: &Scene<'_>) -> Option<Property> {
    let undecided = |why| Some(Property::undecided(Key::Compression, why));
    if !scene.may_write(4 * AREA) && scene.own.is_empty() {
        return undecided("nothing may be written here");
    }
    match scene.evidence.identity.kind {
        Kind::Folder if scene.evidence.geometry.boundary.is_some_and(|boundary| boundary < AREA) => {
            undecided("the files are too short")
        }
        _ => None,
    }
}

/// `written`: time of writing zeros in times of writing random data. `moves`: what times scatter by is the medium's nature.
fn judged(reads: &Compared, written: f64, moves: bool) -> Property {
    let told = format!(
        "zeros are read in {} and random data in {}, and written in {:.2} of its time",
        Nanos(reads.one as u64),
        Nanos(reads.other as u64),
        written
    );
    if !moves && reads.is_less(FASTER) && written < WRITTEN_SLOWER_MAX {
        return Property::word(Key::Compression, "yes", 0.99, told);
    }
    let same = if moves { SAME_MOVING } else { SAME };
    if reads.is_same(same) {
        return Property::word(Key::Compression, "no", 0.98, told);
    }
    Property::undecided(Key::Compression, told)
}

fn picture(reads: &Compared, scene: &Scene<'_>) -> Series {
    let each = |area: usize, read: f64| {
        let own = ORDER.iter().zip(&scene.own).filter(|(written, _)| **written == area);
        let block = f64::from(READ) / AREA as f64;
        let written = own.map(|(_, segment)| segment.elapsed().0 as f64 * block);
        written.chain([read]).enumerate().map(|(index, ns)| [index as f64, ns]).collect()
    };
    Series::new(
        "Does it matter whether zeros or random data are written and read?",
        Shape::Bars,
        axis("", ""),
        axis("time of 16 KiB", "ns"),
    )
    .categories(["written", "written again", "read"])
    .lines([Line::new("zeros", each(0, reads.one)), Line::new("random data", each(1, reads.other))])
}

#[cfg(test)]
mod tests {
    use super::super::property::State;
    use super::*;

    fn reads(zeros: f64, random: f64, spread: f64) -> Compared {
        let around = |level: f64| -> Vec<f64> {
            (0..128).map(|index| level + spread * f64::from(index % 16 - 8)).collect()
        };
        Compared::of(&around(zeros), &around(random)).unwrap()
    }

    #[test]
    fn both_ways_have_to_agree_on_compression() {
        let yes = judged(&reads(80_000.0, 100_000.0, 100.0), 0.5, false);
        assert_eq!(yes.state, State::Word("yes"));
        let no = judged(&reads(100_000.0, 100_000.0, 100.0), 1.0, false);
        assert_eq!(no.state, State::Word("no"));
        let slower_to_write = judged(&reads(80_000.0, 100_000.0, 100.0), 1.5, false);
        assert_eq!(slower_to_write.state, State::Undecided);
    }

    #[test]
    fn noise_is_no_compression() {
        let noisy = judged(&reads(90_000.0, 100_000.0, 9_000.0), 0.8, false);
        assert_eq!(noisy.state, State::Undecided);
        let disk = judged(&reads(7e6, 7.6e6, 7e5), 0.9, true);
        assert_eq!(disk.state, State::Word("no"));
    }
}
