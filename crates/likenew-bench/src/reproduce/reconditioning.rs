//! Study 1: months of small files on a drive without TRIM, and what restores it.

use std::ops::Range;

use likenew_core::drive::Drive as _;
use likenew_core::findings::{Findings, Row};
use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Size, Stream, Until};
use likenew_sim::SimDrive;

use super::file_list::FileList;
use super::lab::{Lab, Load, STAND_IN, WriteAmplification, ask, fact, mb_per_s, measure, measure_streams};
use super::page::{PublishedFigure, figure, milliseconds, number, table};
use super::{Section, Study};

/// "Reconditioning a solid state drive" (2009–2010), with DiskTester.
pub(super) const STUDY: Study = Study {
    number: 1,
    title: "Reconditioning a solid state drive (DiskTester, 2009–2010)",
    source: "\"Reconditioning a solid state drive\" (2009–2010). DiskTester on a Mac Pro, an Intel X25-M 80 GB as new.",
    published: &PUBLISHED_FIGURES,
    run,
};

const DRIVE: &str = "Intel X25-M 80 GB";

const PUBLISHED_FIGURES: [PublishedFigure; 3] = [
    PublishedFigure { drive: DRIVE, metric: "sequential write, MB/s", printed: "76–77", value: 76.5 },
    PublishedFigure { drive: DRIVE, metric: "sequential read, MB/s", printed: "251", value: 251.0 },
    PublishedFigure {
        drive: DRIVE,
        metric: "one file of the whole capacity, minutes",
        printed: "about 16",
        value: 16.0,
    },
];

/// Of 74 GB, 40 were free.
const FREE_PER_74: u64 = 40;
const FILES: u64 = 1000;
const PASSES: usize = 4;
/// Tens of thousands of files, dozens of times a day.
const FILES_PER_WEEK: u64 = 30_000 * 24 * 7;
/// Half of all files are no larger than 4 KiB (Agrawal, Bolosky, Douceur and Lorch, FAST 2007); the rest is assumed.
const FILE_SIZES: &str = "4KiB:50,8KiB:20,16KiB:15,32KiB:10,64KiB:5";
/// The weeks after which the churn is measured.
const WEEKS: [u64; 3] = [1, 2, 4];

/// The volume, and its part without files.
struct Volume {
    all: Range<u64>,
    free: Range<u64>,
}

impl Volume {
    fn from_drive(drive: &SimDrive) -> Self {
        let mib = |bytes: u64| bytes >> 20 << 20;
        let end = mib(drive.geometry().capacity);
        Self { all: 0..end, free: mib(end / 74 * (74 - FREE_PER_74))..end }
    }
}

/// What the study has and the simulation has not.
const NOTE: &str = "Missed: after the use the study's list is bimodal, some files at full speed and others ten to twenty times slower, in runs. \
    Simulated, the files rise evenly. It takes blocks that go stale in groups, or collection that goes on for whole runs of files; how this \
    firmware chooses what it collects is not published, so that no parameter was set for it. The fall itself is decided by \
    `firmware.writes_per_unit` ([predictions.md](predictions.md)).\n\n";

fn run(lab: Lab) -> anyhow::Result<Section> {
    let Some(new) = as_new(lab)? else { anyhow::bail!("the catalog has lost the {DRIVE}") };
    let mut predictions = String::new();
    let (mut drive, course) = churn_drive(lab)?;
    predictions += &course;
    predictions += &fixes(lab, &mut drive, &new)?;
    predictions += &passes(lab)?;
    predictions += &free_space(lab)?;
    predictions += &format!("{}{}", construction(&drive), ASSUMED);
    let simulated = [new.files.speed_mb_per_s(), new.read_mb_per_s, new.minutes].map(Some).to_vec();
    Ok(Section { simulated, note: NOTE, predictions })
}

const ASSUMED: &str = " Assumed of the use: the 34 GB of old files lie in order before the free space; small files go to random places of the free \
    space, as the holes that others have left come up; beside each file a 4 KiB page of the file system's own data is rewritten, by Zipf's law \
    (θ = 1) within a thousandth of the volume. Deleting tells the drive nothing.\n";

fn open(lab: Lab, query: &str) -> anyhow::Result<Option<SimDrive>> {
    lab.open(lab.pick("x25-m", STAND_IN), query)
}

struct AsNew {
    files: FileList,
    read_mb_per_s: f64,
    minutes: f64,
}

/// A fill of the erased drive, file by file, and its read speed.
fn as_new(lab: Lab) -> anyhow::Result<Option<AsNew>> {
    let Some(mut drive) = open(lab, "state=new&trim=off")? else { return Ok(None) };
    let volume = Volume::from_drive(&drive);
    let files = fill(lab, &mut drive, volume.all.clone())?;
    let read = Load { block: 8 << 20, ..Load::sequential(Op::Read, 0..volume.all.end / 16) };
    let read_mb_per_s = mb_per_s(&measure(&mut drive, &read)?);
    let Some(mut drive) = open(lab, "state=new&trim=off")? else { return Ok(None) };
    let pass = one_file(&mut drive, "1")?;
    Ok(Some(AsNew { files, read_mb_per_s, minutes: seconds(&pass.tables["parts"]) / 60.0 }))
}

/// Writes a range as this many files, like `likenew fill`.
fn fill(lab: Lab, drive: &mut SimDrive, range: Range<u64>) -> anyhow::Result<FileList> {
    let files = lab.pick(FILES, 40);
    let each = ((range.end - range.start) / files) >> 20 << 20;
    let options =
        format!("files = {files}\nfile_size = '{each}'\nfrom = '{}'\nblock = '1MiB'\ndepth = 1", range.start);
    let counters = WriteAmplification::from_now(drive);
    let findings = ask(drive, "fill", options.parse()?)?;
    Ok(FileList::from_findings(&findings, "files", each, counters.until_now(drive)))
}

/// Parts in which a file of the whole capacity is measured.
const PARTS: u64 = 100;

fn part_bytes(drive: &SimDrive) -> u64 {
    (Volume::from_drive(drive).all.end / PARTS) >> 20 << 20
}

/// Writes one file of the whole capacity, like `likenew fill --one-file`.
fn one_file(drive: &mut SimDrive, passes: &str) -> anyhow::Result<Findings> {
    let bytes = part_bytes(drive) * PARTS;
    let options = format!(
        "files = 1\nparts = {PARTS}\nfile_size = '{bytes}'\nblock = '1MiB'\ndepth = 1\npasses = '{passes}'"
    );
    ask(drive, "fill", options.parse()?)
}

fn seconds(rows: &[Row]) -> f64 {
    rows.iter().map(|row| figure(row, "elapsed_ns")).sum::<f64>() / 1e9
}

/// A drive after the longest churn, and its measurements on the way.
fn churn_drive(lab: Lab) -> anyhow::Result<(SimDrive, String)> {
    let share = (74 - FREE_PER_74) as f64 / 74.0;
    let drive = open(lab, &format!("state=new&trim=off&fill={share}"))?;
    let mut drive = drive.ok_or_else(|| anyhow::anyhow!("the catalog has lost the {DRIVE}"))?;
    let volume = Volume::from_drive(&drive);
    let (mut rows, mut before) = (Vec::new(), 0);
    for week in WEEKS.into_iter().take(lab.pick(WEEKS.len(), 2)) {
        let files = (week - before) * lab.pick(FILES_PER_WEEK, 10_000);
        let counters = WriteAmplification::from_now(&drive);
        let segment = measure_streams(&mut drive, churn(&volume)?, Until::ops(2 * files))?;
        rows.push(vec![
            week.to_string(),
            number(segment.bytes(Op::Write) as f64 / 1e9),
            number(counters.until_now(&drive)),
            number(mb_per_s(&segment)),
            milliseconds(segment.latencies().max().0 as f64),
        ]);
        before = week;
        eprintln!("    {week} weeks of small files");
    }
    let head =
        ["weeks of small files", "written since the row above, GB", "write amplification", "MB/s", "max, ms"];
    Ok((drive, format!("The use that ages it:\n\n{}\n", table(&head, &rows))))
}

/// Small files in the holes of the free space, and the file system's metadata.
fn churn(volume: &Volume) -> anyhow::Result<Vec<Stream>> {
    let stream = |size: Size, pattern| Stream {
        op: Mix::Only(Op::Write),
        size,
        pattern,
        arrival: Arrival::Closed { depth: 1 },
        data: DataClass::Random,
    };
    let sizes: Size = FILE_SIZES.parse().map_err(anyhow::Error::msg)?;
    let metadata = Region::bytes(0..(volume.all.end / 1000) & !4095);
    Ok(vec![
        stream(sizes, AccessPattern::Random(Region::bytes(volume.free.clone()))),
        stream(Size::fixed(4096), AccessPattern::Zipf { region: metadata, theta: 1.0 }),
    ])
}

/// The study's steps, one after the other on the same drive.
fn fixes(lab: Lab, drive: &mut SimDrive, new: &AsNew) -> anyhow::Result<String> {
    let volume = Volume::from_drive(drive);
    let limit = new.files.speed_mb_per_s() / 2.0;
    let one = |drive: &mut SimDrive| -> anyhow::Result<FileList> {
        let (each, counters) = (part_bytes(drive), WriteAmplification::from_now(drive));
        let findings = one_file(drive, "1")?;
        Ok(FileList::from_findings(&findings, "parts", each, counters.until_now(drive)))
    };
    let steps = [
        ("as new: 1000 files", new.files.clone()),
        ("after the use: free space, 1000 files", fill(lab, drive, volume.free.clone())?),
        ("file system erased: 1000 files", fill(lab, drive, volume.all.clone())?),
        ("erased again: one file, in 100 parts", one(drive)?),
        ("one file again, in 100 parts", one(drive)?),
    ];
    let rows: Vec<Vec<String>> = steps.iter().map(|(name, list)| list.row(name, limit)).collect();
    let along: Vec<Vec<String>> = steps.iter().map(|(name, list)| list.sparkline(name)).collect();
    let mut head = vec!["MB/s in each tenth of the list".to_owned()];
    head.extend((1..=10).map(|tenth| tenth.to_string()));
    let head: Vec<&str> = head.iter().map(String::as_str).collect();
    let message: String =
        steps.iter().map(|(name, list)| format!("- *{name}*: {}\n", list.answers_text())).collect();
    Ok(format!(
        "The fixes in the study's order, each on the drive as the one before left it. Slow files are those below half of the as-new speed, \
         {} MB/s.\n\n{}\nThe same lists from their first file to their last:\n\n{}\nWhat `likenew fill` says of them:\n\n{message}\n",
        number(limit),
        table(&FileList::HEAD, &rows),
        table(&head, &along)
    ))
}

/// Passes of one large file right after the use.
fn passes(lab: Lab) -> anyhow::Result<String> {
    let (mut drive, _) = churn_drive(lab)?;
    let findings = one_file(&mut drive, &PASSES.to_string())?;
    let passes = &findings.tables["passes"];
    let rows: Vec<Vec<String>> = passes
        .iter()
        .map(|row| {
            vec![
                figure(row, "pass").to_string(),
                number(figure(row, "bytes_per_s") / 1e6),
                number(figure(row, "elapsed_ns") / 60e9),
                number(figure(row, "slowest_bytes_per_s") / 1e6),
                figure(row, "stalls").to_string(),
                milliseconds(figure(row, "latency_ns_max")),
            ]
        })
        .collect();
    let head = ["pass", "MB/s", "minutes", "slowest of 100 parts, MB/s", "stalls", "max, ms"];
    let speed = |pass: usize| figure(&passes[pass - 1], "bytes_per_s");
    Ok(format!(
        "Straight from the use to passes of one file of the whole capacity:\n\n{}\nPass 2 reaches {:.1}% of pass {PASSES}. `likenew fill` says: {}\n\n",
        table(&head, &rows),
        speed(2) / speed(PASSES) * 100.0,
        findings.summary
    ))
}

/// The steps of `likenew recondition` right after the use, which keep every file.
fn free_space(lab: Lab) -> anyhow::Result<String> {
    let (mut used, _) = churn_drive(lab)?;
    let after_use = free_space_passes(&mut used)?;
    let share = (74 - FREE_PER_74) as f64 / 74.0;
    let new = open(lab, &format!("state=new&trim=off&fill={share}"))?;
    let mut new = new.ok_or_else(|| anyhow::anyhow!("the catalog has lost the {DRIVE}"))?;
    let of_new = free_space_passes(&mut new)?;
    let speed = |passes: &[Row], pass: usize| passes.get(pass).map(|row| figure(row, "bytes_per_s") / 1e6);
    let shown = |value: Option<f64>| value.map_or("–".to_owned(), number);
    let rows: Vec<Vec<String>> = (0..after_use.len().max(of_new.len()))
        .map(|pass| vec![(pass + 1).to_string(), shown(speed(&after_use, pass)), shown(speed(&of_new, pass))])
        .collect();
    let last = |passes: &[Row]| speed(passes, passes.len() - 1).expect("there is a pass");
    let first_day = speed(&of_new, 0).expect("there is a pass");
    Ok(format!(
        "The fix that keeps every file: `likenew recondition --step overwrite` straight after the use, passes over the free space alone until another \
         one would change less than 1%. Beside it the same on a new drive that holds the same old files:\n\n{}\nIt ends at {:.1}% of what the \
         new drive reaches in the same way, and at {:.1}% of that one's first pass, which finds erased blocks: only TRIM or an erase brings those back.\n\n",
        table(&["pass over the free space", "after the use, MB/s", "new, MB/s"], &rows),
        last(&after_use) / last(&of_new) * 100.0,
        last(&after_use) / first_day * 100.0
    ))
}

/// The passes of the step that overwrites free space.
fn free_space_passes(drive: &mut SimDrive) -> anyhow::Result<Vec<Row>> {
    let free = Volume::from_drive(drive).free;
    let options = format!(
        "step = 'overwrite'\nfree = '{}..{}'\n[check]\nbytes = '{}'",
        free.start,
        free.end,
        (free.end - free.start).min(2 << 30)
    );
    let mut findings = ask(drive, "recondition", options.parse()?)?;
    Ok(findings.tables.shift_remove("passes").expect("passes were written"))
}

fn construction(drive: &SimDrive) -> String {
    format!(
        "What this follows from: {} over-provisioning, erase blocks of {} whose pages were written at different times and so go stale at \
         different times, greedy collection within each die, and no TRIM. Writing everything sequentially makes whole blocks stale together, so \
         that collecting them moves nothing.",
        fact(drive, "over-provisioning"),
        fact(drive, "erase block")
    )
}
