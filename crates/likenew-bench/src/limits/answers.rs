//! Measures what an answer costs the drive beside fixed plans, and how often an X-ray is right.

use anyhow::Context as _;
use likenew_core::drive::Drive as _;
use likenew_core::findings::Findings;
use likenew_core::io::Op;
use likenew_core::workload::Until;
use likenew_sim::Spec;

use super::{Goal, Options, print_row};
use crate::case_run::{self, ask, no_files};
use crate::insight;
use crate::target::IoCase;

/// Drives of the catalog, used: with a page map and without a cache in flash, small and larger.
const DRIVES: [&str; 3] = ["intel-x25-e-32gb", "intel-x25-m-80gb", "crucial-m4-128gb"];
/// How often ezFIO writes the drive in sequence, and then at random, before its first test (ezfio.py, 2023-09).
const EZFIO_FILLS: u32 = 2;
/// Requests that a SATA drive takes at once, of the 128 and 256 that ezFIO keeps in flight.
const SATA_DEPTH: u32 = 32;
/// Precision of a mean, as a share, if the fixed plan has no interval.
const PRECISION: f64 = 0.02;
/// Goals as shares of the bytes of a fixed plan.
const OF_CRYSTAL_DISK_MARK: f64 = 0.2;
const OF_EZFIO: f64 = 0.01;
const MIB: f64 = (1u64 << 20) as f64;

/// What a procedure cost one drive.
struct Effort {
    written: f64,
    seconds: f64,
    /// Half the widest 95% interval of its write metrics, over the metric's value.
    half_width: Option<f64>,
}

pub(super) fn measure() -> anyhow::Result<()> {
    let fixed = efforts("bench", |_| String::new())?;
    let preconditioned: Vec<Effort> =
        DRIVES.iter().map(|drive| precondition(drive)).collect::<anyhow::Result<_>>()?;
    let width = |efforts: &[Effort]| {
        let widths: Vec<String> = efforts
            .iter()
            .filter_map(|effort| effort.half_width)
            .map(|width| format!("±{:.1}%", width * 100.0))
            .collect();
        if widths.is_empty() { String::new() } else { format!("; writes known to {}", widths.join(", ")) }
    };
    print_row(
        "CrystalDiskMark's default plan: written",
        &values_of(&fixed, |effort| effort.written / MIB),
        "MiB",
        None,
        &format!("{} s of the drive's time{}", seconds(&fixed), width(&fixed)),
    );
    print_row(
        "ezFIO's preconditioning, before its sweep: written",
        &values_of(&preconditioned, |effort| effort.written / MIB),
        "MiB",
        None,
        &format!("{} s of the drive's time", seconds(&preconditioned)),
    );
    // A bench until its means are known as well as those of the fixed plan on the same drive.
    let precision = |index: usize| {
        let width = fixed[index].half_width.unwrap_or(PRECISION);
        format!("passes_max = 1000\nprecise = '{:.1}%'", (100.0 * width).max(0.1))
    };
    for (name, procedure) in
        [("check", "check"), ("bench --precise", "bench"), ("model", "model"), ("xray", "xray")]
    {
        let options = |index| if procedure == "bench" { precision(index) } else { String::new() };
        let efforts = efforts(procedure, options)?;
        let to_fixed: Vec<f64> =
            efforts.iter().zip(&fixed).map(|(effort, fixed)| effort.written / fixed.written).collect();
        let to_ezfio: Vec<f64> = efforts
            .iter()
            .zip(&preconditioned)
            .map(|(effort, fixed)| effort.written / fixed.written)
            .collect();
        print_row(
            &format!("{name}: bytes written / CrystalDiskMark's default plan"),
            &to_fixed,
            "",
            Some(Goal::AtMost(OF_CRYSTAL_DISK_MARK)),
            &format!("{} s of the drive's time{}", seconds(&efforts), width(&efforts)),
        );
        print_row(
            &format!("{name}: bytes written / ezFIO's preconditioning"),
            &to_ezfio,
            "",
            Some(Goal::AtMost(OF_EZFIO)),
            "",
        );
    }
    Ok(())
}

fn values_of(efforts: &[Effort], value: fn(&Effort) -> f64) -> Vec<f64> {
    efforts.iter().map(value).collect()
}

fn seconds(efforts: &[Effort]) -> String {
    let texts: Vec<String> = efforts.iter().map(|effort| format!("{:.0}", effort.seconds)).collect();
    texts.join(", ")
}

fn open(drive: &str) -> anyhow::Result<likenew_sim::SimDrive> {
    let spec = Spec::parse(&format!("sim:{drive}?state=used"))?;
    Ok(spec.open(no_files)?)
}

/// What a procedure cost each drive; `options` are by the index of the drive.
fn efforts(procedure: &str, options: impl Fn(usize) -> String) -> anyhow::Result<Vec<Effort>> {
    DRIVES.iter().enumerate().map(|(index, drive)| effort(drive, procedure, &options(index))).collect()
}

fn effort(drive: &str, procedure: &str, options: &str) -> anyhow::Result<Effort> {
    let result = ask(&mut open(drive)?, procedure, 1, options.parse()?)?;
    let findings = result.findings.with_context(|| format!("{procedure} of {drive}"))?;
    let segments = &result.evidence.segments;
    Ok(Effort {
        written: segments.iter().map(|segment| segment.bytes(Op::Write) as f64).sum(),
        seconds: segments.last().map_or(0.0, |segment| segment.ended_at.as_secs_f64()),
        half_width: half_width(&findings),
    })
}

/// ezFIO's preconditioning of a drive.
fn precondition(drive: &str) -> anyhow::Result<Effort> {
    let mut drive = open(drive)?;
    let span = drive.geometry().capacity;
    let (mut written, mut seconds) = (0.0, 0.0);
    for (random, block) in [(false, 128 << 10), (true, 4096)] {
        let case = IoCase { random, write: true, block, depth: SATA_DEPTH, span, lanes: 1 };
        for _ in 0..EZFIO_FILLS {
            let ran = case_run::run_once(&mut drive, &case, Until::bytes(span))?;
            written += span as f64;
            seconds += span as f64 / ran.bytes_per_s;
        }
    }
    Ok(Effort { written, seconds, half_width: None })
}

/// Half the widest interval of the write rows in a bench's table, over the row's value.
fn half_width(findings: &Findings) -> Option<f64> {
    let rows = findings.tables.get("results")?;
    let widths = rows.iter().filter(|row| row.get("op").is_some_and(|op| op == "write")).filter_map(|row| {
        let number = |key: &str| row.get(key)?.as_f64();
        Some((number("bytes_per_s_high")? - number("bytes_per_s_low")?) / 2.0 / number("bytes_per_s")?)
    });
    widths.max_by(f64::total_cmp)
}

/// Properties with a goal of their own: how many answers are to be right, in percent.
const PROPERTIES: [(&str, f64); 3] =
    [("write_buffer_bytes", 95.0), ("over_provisioning_percent", 95.0), ("parallelism", 95.0)];

/// What an X-ray writes, and how often it is right.
pub(super) fn measure_xrays(options: &Options) -> anyhow::Result<()> {
    let result = insight::summary(options.first..options.first + options.drives)?;
    print_row(
        &format!("X-rays of {} generated drives: bytes written, median", options.drives),
        &[result.capacities_written],
        "capacities",
        Some(Goal::AtMost(0.5)),
        "",
    );
    let shares = PROPERTIES
        .map(|(property, goal)| (format!("{property} right"), result.right(property), Goal::AtLeast(goal)));
    let false_claims = ("false claims".to_owned(), result.false_claims, Goal::AtMost(1.0));
    for (what, share, goal) in shares.into_iter().chain([false_claims]) {
        let beside = format!("{} of {}", share.part, share.whole);
        print_row(&format!("X-rays: {what}"), &[share.percent()], "%", Some(goal), &beside);
    }
    Ok(())
}
