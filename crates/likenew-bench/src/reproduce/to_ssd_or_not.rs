//! Study 4: the sequential speed of a notebook's disk.

use likenew_core::drive::Drive as _;
use likenew_core::io::Op;

use super::lab::{Lab, Load, mb_per_s, measure};
use super::page::{PublishedFigure, number, table};
use super::{Section, Study};

/// "To SSD or not to SSD" (2012).
pub(super) const STUDY: Study = Study {
    number: 4,
    title: "To SSD or not to SSD (2012)",
    source: "\"To SSD or not to SSD\" (2012). dd on a WD Scorpio Black 500 GB: 2048 blocks of 1 MiB, written twice.",
    published: &PUBLISHED_FIGURES,
    run,
};

const DRIVE: &str = "WD Scorpio Black 500 GB";

const PUBLISHED_FIGURES: [PublishedFigure; 2] = [
    PublishedFigure { drive: DRIVE, metric: "first sequential write, MB/s", printed: "71.9", value: 71.9 },
    PublishedFigure { drive: DRIVE, metric: "second sequential write, MB/s", printed: "64.7", value: 64.7 },
];

/// Where in the address space a file may lie, in per mille of the capacity.
const PLACES: [(&str, u64); 3] = [("start", 0), ("middle", 500), ("end", 900)];

fn run(lab: Lab) -> anyhow::Result<Section> {
    let Some(mut drive) = lab.open("scorpio-black", "state=new")? else {
        let predictions = format!("Left out, because the catalog has no {DRIVE}.\n");
        return Ok(Section { simulated: vec![None; PUBLISHED_FIGURES.len()], note: "", predictions });
    };
    let capacity = drive.geometry().capacity;
    let (mut rows, mut first) = (Vec::new(), Vec::new());
    for (place, per_mille) in PLACES {
        let start = (capacity / 1000 * per_mille) >> 20 << 20;
        let range = start..start + lab.pick(2048 << 20, 16 << 20);
        let mut speeds = Vec::new();
        for op in [Op::Write, Op::Read, Op::Write] {
            speeds.push(mb_per_s(&measure(&mut drive, &Load::sequential(op, range.clone()))?));
        }
        rows.push(std::iter::once(place.to_owned()).chain(speeds.iter().map(|s| number(*s))).collect());
        if place == "start" {
            first = vec![Some(speeds[0]), Some(speeds[2])];
        }
    }
    let head = ["the file lies at the disk's", "write, MB/s", "read, MB/s", "write again, MB/s"];
    let predictions = table(&head, &rows)
        + "\nNobody knows where on the disk the file lay; the ratios above are for the first addresses, by \
           which the disk's outer rate was chosen. How far the speed falls inwards follows from the \
           zones alone: the outer tracks hold more in a turn. Nothing in a disk falls with use, so the second write is as fast as the \
           first; what the study's second run lost, the file system and other programs took.\n";
    Ok(Section { simulated: first, note: "", predictions })
}
