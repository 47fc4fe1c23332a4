//! Study 3: random writes of new drives, and of the same drives once every address has been written.

use likenew_core::io::{DataClass, Op};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;

use super::lab::{Lab, Load, WriteAmplification, fact, mb_per_s, measure};
use super::page::{Published, drop_percent, milliseconds, number, table};
use super::{Section, Study};

/// AnandTech 2738, "The SSD Anthology: Understanding SSDs and New Drives from OCZ" (2009).
pub(super) const STUDY: Study = Study {
    number: 3,
    title: "New against used (AnandTech, 2009)",
    source: "AnandTech 2738, \"The SSD Anthology\". Iometer: 4 KiB random writes over 8 GB, 3 in flight, 3 minutes, after a secure erase.",
    published: &PUBLISHED,
    run,
};

const RATE: &str = "random 4 KiB writes, MB/s";
const IOPS: &str = "random 4 KiB writes, IOPS";
const LATENCY: &str = "random 4 KiB writes, mean latency, ms";

const fn rate(drive: &'static str, printed: &'static str, value: f64) -> Published {
    Published { drive, what: RATE, printed, value }
}

const PUBLISHED: [Published; 14] = [
    rate("Intel X25-E", "31.7", 31.7),
    rate("Intel X25-M", "39.3", 39.3),
    rate("JMicron JMF602B MLC", "0.02", 0.02),
    rate("JMicron JMF602Bx2 MLC", "0.03", 0.03),
    rate("OCZ Summit", "12.8", 12.8),
    rate("OCZ Vertex", "8.2", 8.2),
    rate("Samsung SLC", "2.61", 2.61),
    rate("Seagate Momentus 5400.6", "0.81", 0.81),
    rate("WD Caviar SE16", "1.26", 1.26),
    rate("WD VelociRaptor", "1.63", 1.63),
    Published { drive: "JMicron JMF602B MLC", what: IOPS, printed: "5.61", value: 5.61 },
    Published { drive: "JMicron JMF602B MLC", what: LATENCY, printed: "532.2", value: 532.2 },
    Published { drive: "Intel X25-M", what: LATENCY, printed: "below 0.3", value: 0.3 },
    Published { drive: "OCZ Vertex", what: LATENCY, printed: "1.43", value: 1.43 },
];

/// Each drive as the study calls it, and a part of its name in the catalogue.
const DRIVES: [(&str, &str); 10] = [
    ("Intel X25-E", "x25-e"),
    ("Intel X25-M", "x25-m"),
    ("JMicron JMF602B MLC", "jmf602b"),
    ("JMicron JMF602Bx2 MLC", "jmf602bx2"),
    ("OCZ Summit", "ocz-summit"),
    ("OCZ Vertex", "ocz-vertex"),
    ("Samsung SLC", "samsung-slc"),
    ("Seagate Momentus 5400.6", "momentus-5400.6"),
    ("WD Caviar SE16", "caviar-se16"),
    ("WD VelociRaptor", "velociraptor"),
];

const SPAN: u64 = 8 << 30;
const SPAN_QUICK: u64 = 256 << 20;

struct Measured {
    segment: Segment,
    write_amplification: f64,
    construction: String,
}

struct Pair {
    drive: &'static str,
    new: Measured,
    used: Measured,
    overwritten: Measured,
}

fn run(lab: Lab) -> anyhow::Result<Section> {
    let (mut pairs, mut missing) = (Vec::new(), Vec::new());
    for (drive, part) in DRIVES {
        let used = lab.pick("state=new&fill=1", "state=new&fill=0.05");
        let overwritten = lab.pick("state=used", "state=used&fill=0.05");
        let new = random_writes(lab, part, "state=new")?;
        match (new, random_writes(lab, part, used)?, random_writes(lab, part, overwritten)?) {
            (Some(new), Some(used), Some(overwritten)) => pairs.push(Pair { drive, new, used, overwritten }),
            _ => missing.push(drive),
        }
    }
    let simulated: Vec<Option<f64>> = PUBLISHED.iter().map(|row| simulated(row, &pairs)).collect();
    let rows: Vec<Vec<String>> = pairs.iter().map(row).collect();
    let head = [
        "drive",
        "new, MB/s",
        "used, MB/s",
        "drop",
        "new, mean ms",
        "used, mean ms",
        "used, longest ms",
        "used, write amplification",
        "overwritten, MB/s",
        "drop",
        "overwritten, mean ms",
        "follows from",
    ];
    let mut predictions = table(&head, &rows);
    if !missing.is_empty() {
        predictions +=
            &format!("\nLeft out, because the catalogue has no such drive: {}.\n", missing.join(", "));
    }
    predictions += EXPLAINED;
    Ok(Section { simulated, note: NOTE, predictions })
}

const NOTE: &str = "MB are counted as 10⁶ bytes. With 3 I/Os in flight, rate and mean latency have to obey Little's law: the printed pairs \
    (39.3 and below 0.3 ms; 8.2 and 1.43 ms) do so if the printed MB are 2²⁰ bytes. The catalogue's drives aim at that, so 1.05 is \
    what exact agreement looks like for them. 0.02 and 0.03 are printed with one digit: 0.015 to 0.025 and 0.025 to 0.035, or 5.61 I/Os a second \
    of the first, which stands below with more digits. An empty write buffer takes the first of few writes at once, which is 3 % of them.\n\n";

const EXPLAINED: &str = "\nUsed is a drive that was erased, then had every address written once in order, and nothing else; its spare flash is still \
    erased. Every random write makes an older page stale and takes a page of the spare, so a page-mapped drive falls only once the spare is used \
    up, and three minutes of small writes often end before that. Overwritten is the drive as the catalogue has it \"used\" (its file says how much \
    was overwritten at random after the fill, without TRIM): there is no erased spare left, and every write waits for the collection of an erase \
    block that still holds valid pages. How many those are follows from the over-provisioning; how much flash a small write takes, from the page of \
    the map; how long it takes, from the time to read, program and erase. The study's drive lies between the two, as its recipe also put a \
    partition image back. Its application scores are not simulated.\n";

/// Three minutes of them, if there is such a drive.
fn random_writes(lab: Lab, part: &str, query: &str) -> anyhow::Result<Option<Measured>> {
    let Some(mut drive) = lab.open(part, query)? else { return Ok(None) };
    let load = Load {
        op: Op::Write,
        random: true,
        block: 4096,
        depth: 3,
        range: 0..lab.pick(SPAN, SPAN_QUICK),
        data: DataClass::Random,
        until: Until::elapsed(lab.pick(Nanos::from_secs(180), Nanos::from_secs(1))),
    };
    let books = WriteAmplification::from_now(&drive);
    let segment = measure(&mut drive, &load)?;
    let write_amplification = books.until_now(&drive);
    Ok(Some(Measured { segment, write_amplification, construction: construction(&drive) }))
}

/// What decides how a drive falls, in its own words.
fn construction(drive: &likenew_sim::SimDrive) -> String {
    let [spare, page, block] =
        ["over-provisioning", "page of the map", "erase block"].map(|name| fact(drive, name));
    if spare.is_empty() {
        return "no translation layer: nothing in a disk falls".into();
    }
    let mut text = format!("{spare} over-provisioning");
    for (name, value) in [("pages", page), ("blocks", block)] {
        if !value.is_empty() {
            text += &format!(", {name} of {value}");
        }
    }
    text
}

fn simulated(published: &Published, pairs: &[Pair]) -> Option<f64> {
    let new = &pairs.iter().find(|pair| pair.drive == published.drive)?.new.segment;
    Some(match published.what {
        RATE => mb_per_s(new),
        IOPS => new.iops(),
        _ => new.total().latency_ns_mean() / 1e6,
    })
}

fn row(pair: &Pair) -> Vec<String> {
    let [new, used, overwritten] =
        [&pair.new, &pair.used, &pair.overwritten].map(|measured| &measured.segment);
    vec![
        pair.drive.into(),
        number(mb_per_s(new)),
        number(mb_per_s(used)),
        drop_percent(new.bytes_per_s(), used.bytes_per_s()),
        milliseconds(new.total().latency_ns_mean()),
        milliseconds(used.total().latency_ns_mean()),
        milliseconds(used.latencies().max().0 as f64),
        number(pair.used.write_amplification),
        number(mb_per_s(overwritten)),
        drop_percent(new.bytes_per_s(), overwritten.bytes_per_s()),
        milliseconds(overwritten.total().latency_ns_mean()),
        pair.used.construction.clone(),
    ]
}
