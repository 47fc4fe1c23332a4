//! Study 5: throughput by request size, compared with access time and average transfer rate.

use anyhow::Context as _;
use likenew_core::io::{DataClass, Op};
use likenew_core::units::amount;
use likenew_core::workload::Until;

use super::lab::{Lab, Load, measure};
use super::page::{PublishedFigure, number, table};
use super::{Section, Study};

/// "How I figured out my OCZ Core 64 GB SSD" (2008).
pub(super) const STUDY: Study = Study {
    number: 5,
    title: "How I figured out my OCZ Core 64 GB SSD (2008)",
    source: "\"How I figured out my OCZ Core 64 GB SSD\" (2008). Iometer: random requests of 512 B to 512 MiB, one in flight.",
    published: &PUBLISHED_FIGURES,
    run,
};

const CORE: &str = "OCZ Core 64 GB";
const DISK: &str = "WD6400AAKS";
const READ_LARGE: &str = "reads of 512 MiB, MiB/s";
const READ_SMALL: &str = "reads of 512 B, IOPS";
const WRITE_LARGE: &str = "writes of 512 MiB, MiB/s";
const WRITE_SMALL: &str = "writes of 512 B, IOPS";

const fn published_figure(
    drive: &'static str,
    metric: &'static str,
    printed: &'static str,
    value: f64,
) -> PublishedFigure {
    PublishedFigure { drive, metric, printed, value }
}

const PUBLISHED_FIGURES: [PublishedFigure; 8] = [
    published_figure(CORE, READ_LARGE, "125", 125.0),
    published_figure(CORE, READ_SMALL, "2220", 2220.0),
    published_figure(CORE, WRITE_LARGE, "72.768", 72.768),
    published_figure(CORE, WRITE_SMALL, "4.07", 4.07),
    published_figure(DISK, READ_LARGE, "85", 85.0),
    published_figure(DISK, READ_SMALL, "77.77", 77.77),
    published_figure(DISK, WRITE_LARGE, "85", 85.0),
    published_figure(DISK, WRITE_SMALL, "143 (cached)", 143.0),
];

/// Each drive with its name in the study, and a part of its name in the catalog.
const DRIVES: [(&str, &str); 2] = [(CORE, "ocz-core"), (DISK, "wd6400aaks")];

/// Bytes of a MiB.
const MIB: f64 = 1_048_576.0;

/// Speed by request size, smallest first.
type Curve = Vec<(u32, f64)>;

fn run(lab: Lab) -> anyhow::Result<Section> {
    let mut simulated = vec![None; PUBLISHED_FIGURES.len()];
    let mut predictions = String::new();
    for (drive, part) in DRIVES {
        for op in [Op::Read, Op::Write] {
            let Some(curve) = curve(lab, part, op)? else {
                predictions +=
                    &format!("{drive}, {op}: left out, because the catalog has no such drive.\n\n");
                continue;
            };
            let (small, large) =
                if op == Op::Read { (READ_SMALL, READ_LARGE) } else { (WRITE_SMALL, WRITE_LARGE) };
            let (first, last) = (curve[0], curve[curve.len() - 1]);
            for (row, value) in
                PUBLISHED_FIGURES.iter().zip(&mut simulated).filter(|(row, _)| row.drive == drive)
            {
                match row.metric {
                    metric if metric == small => *value = Some(first.1 / f64::from(first.0)),
                    metric if metric == large => *value = Some(last.1 / MIB),
                    _ => {}
                }
            }
            predictions += &format!("{drive}, {op}:\n\n{}\n", comparison_text(&curve));
        }
    }
    predictions += "The model has two numbers, both from the ends of the simulated curve: the average rate STR is the speed of the \
        largest request, the access time that of a 512 B request less 512/STR. Where the curve lies below size / (access + size/STR), \
        something costs more than one access: part of a page or block that has to be read and written again at both ends of a \
        request, or the turns that a disk waits for. Where it lies above, a cache answers.\n";
    Ok(Section { simulated, note: "", predictions })
}

/// The speed at each request size, each on a drive full of data.
fn curve(lab: Lab, part: &str, op: Op) -> anyhow::Result<Option<Curve>> {
    let fill = lab.pick("state=new&fill=1", "state=new&fill=0.1");
    let Some(mut drive) = lab.open(part, fill)? else { return Ok(None) };
    let capacity = likenew_core::drive::Drive::geometry(&drive).capacity;
    let shift_max = lab.pick(29, 20);
    let mut curve = Vec::new();
    for shift in (9..=shift_max).step_by(lab.pick(1, 4)) {
        let block = 1u32 << shift;
        let ops = ((4u64 << 30) >> shift).clamp(lab.pick(32, 8), lab.pick(1000, 50));
        let load = Load {
            op,
            random: true,
            block,
            depth: 1,
            range: 0..capacity,
            data: DataClass::Random,
            until: Until::ops(ops),
        };
        let speed = measure(&mut drive, &load)?.bytes_per_s().context("a simulated drive refused I/Os")?;
        curve.push((block, speed));
    }
    Ok(Some(curve))
}

/// The curve beside the prediction from access time and average rate.
fn comparison_text(curve: &[(u32, f64)]) -> String {
    let (smallest, slowest) = (f64::from(curve[0].0), curve[0].1);
    let str_bytes_per_s = curve[curve.len() - 1].1;
    let access = (smallest / slowest - smallest / str_bytes_per_s).max(0.0);
    let rows: Vec<Vec<String>> = curve
        .iter()
        .map(|&(block, speed)| {
            let size = f64::from(block);
            let model = size / (access + size / str_bytes_per_s);
            vec![
                amount(u64::from(block)),
                number(speed / MIB),
                number(model / MIB),
                format!("{:.2}", speed / model),
            ]
        })
        .collect();
    let table = table(&["request", "simulated, MiB/s", "model, MiB/s", "simulated / model"], &rows);
    format!(
        "{table}\nAccess time {} ms, STR {} MiB/s.\n",
        number(access * 1e3),
        number(str_bytes_per_s / MIB)
    )
}
