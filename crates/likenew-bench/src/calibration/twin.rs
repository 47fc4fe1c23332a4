//! A twin: a simulated drive with known values, and its runs with the noise of real passes.

use anyhow::Context as _;
use likenew_calibration::{Base, MeasuredRun, Parameter};
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::tally::Latencies;
use likenew_core::units::Nanos;
use likenew_procedures::bench::BenchOptions;
use likenew_procedures::fill::FillOptions;
use likenew_procedures::surface::SurfaceOptions;
use likenew_procedures::sweep::{Block, SweepOptions};
use likenew_sim::{SimDrive, Spec};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use crate::case_run::{ask, no_files};

/// The drives that twins are drawn around, in turn: flash with and without a pseudo-SLC cache, and each kind
/// of disk of the catalog.
const DRIVES: [&str; 10] = [
    "tiny-flash",
    "wd6400aaks",
    "tlc-sata-500gb",
    "disk-2tb",
    "intel-x25-m-80gb",
    "wd-velociraptor",
    "intel-x25-e-32gb",
    "seagate-momentus-5400.6",
    "crucial-m4-128gb",
    "wd-scorpio-black-500gb",
];

/// Larger flash drives are scaled down to this, with the same shares of spare and pseudo-SLC, to save time.
const FLASH_BYTES_MAX: u64 = 64 << 30;

/// Most that a parameter is moved by, as a logarithm: a factor of two either way.
const MOVE_MAX: f64 = std::f64::consts::LN_2;
/// Most draws until the values are consistent.
const TRIES: usize = 200;

/// A drive of the catalog with other values.
pub(crate) struct Twin {
    pub(crate) seed: u64,
    /// The drive that the twin was drawn around; its calibration begins there.
    pub(crate) base: Base,
    /// The twin's values of all parameters, by key.
    pub(crate) truth: Vec<(&'static str, f64)>,
    random: Xoshiro256PlusPlus,
}

impl Twin {
    /// Draws the twin of a seed, around this drive or, if none is named, one of [`DRIVES`].
    pub(super) fn draw(seed: u64, drive: Option<&str>) -> anyhow::Result<Self> {
        let name = drive.unwrap_or(DRIVES[(seed % DRIVES.len() as u64) as usize]);
        let spec = Spec::parse(&format!("sim:{name}?state=new"))?;
        let (file, text) = spec.text(no_files)?;
        let base = Base::new(&spec, &file, text)?;
        let is_large_flash =
            base.model().source("nand.read_ns").is_some() && base.capacity_bytes() > FLASH_BYTES_MAX;
        let base = if is_large_flash { base.with_capacity(FLASH_BYTES_MAX)? } else { base };
        let parameters = Parameter::of(base.model());
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        for _ in 0..TRIES {
            let moves: Vec<f64> =
                parameters.iter().map(|_| random.random_range(-MOVE_MAX..MOVE_MAX)).collect();
            let truth = base.values(&parameters, &moves);
            if base.open(&truth).is_ok() {
                return Ok(Self { seed, base, truth, random });
            }
        }
        anyhow::bail!("no values of {name} go together")
    }

    fn is_disk(&self) -> bool {
        self.base.model().source("mechanics.heads").is_some()
    }

    /// The runs that a calibration is made from, and one that is held out.
    pub(super) fn measure(&self, noise: f64) -> anyhow::Result<(Vec<MeasuredRun>, Vec<MeasuredRun>)> {
        let mut random = self.random.clone();
        let mut run = |procedure: &str, seed: u64, options: toml::Table| {
            let mut drive = self.open()?;
            let result = ask(&mut drive, procedure, seed, options)?;
            result.findings?;
            let mut evidence = result.evidence;
            disturb(&mut evidence, noise, &mut random);
            anyhow::Ok(MeasuredRun { name: procedure.to_owned(), evidence })
        };
        let held_out = BenchOptions { time: Nanos(2 * self.time().0), passes: 2, ..self.bench() };
        let mut runs = vec![
            run("bench", 1, table(&self.bench())?)?,
            run("sweep", 2, table(&self.sweep())?)?,
            run("fill", 3, table(&self.fill())?)?,
        ];
        if self.is_disk() {
            runs.push(run(
                "surface",
                5,
                table(&SurfaceOptions { points: 12, probes: 200, ..SurfaceOptions::default() })?,
            )?);
        }
        Ok((runs, vec![run("bench", 4, table(&held_out)?)?]))
    }

    fn open(&self) -> anyhow::Result<SimDrive> {
        Ok(self.base.open(&self.truth)?)
    }

    /// Time of one pass. It is longer for disks, which do about a hundred I/Os in a second.
    fn time(&self) -> Nanos {
        if self.is_disk() { Nanos::from_secs(2) } else { Nanos::from_millis(40) }
    }

    fn span(&self) -> u64 {
        if self.is_disk() { 512 << 20 } else { 64 << 20 }
    }

    fn bench(&self) -> BenchOptions {
        BenchOptions { span: self.span(), passes: 3, time: self.time(), ..BenchOptions::default() }
    }

    fn sweep(&self) -> SweepOptions {
        SweepOptions {
            blocks: vec![Block(4 << 10), Block(64 << 10)],
            depths: vec![1, 4, 32],
            span: self.span(),
            time: Nanos(self.time().0 / 2),
            bytes: 4 << 20,
            passes: 2,
            ..SweepOptions::default()
        }
    }

    /// A long write, over twice as much as the largest pseudo-SLC cache holds.
    fn fill(&self) -> FillOptions {
        const FILES: u32 = 32;
        let span: u64 =
            if self.base.model().source("slc_cache.kind").is_some() { 2 << 30 } else { 512 << 20 };
        FillOptions { files: FILES, file_size: span / u64::from(FILES), ..FillOptions::default() }
    }
}

fn table(options: &impl Serialize) -> anyhow::Result<toml::Table> {
    toml::Table::try_from(options).context("options are a table")
}

/// Makes all times of each pass longer or shorter by a draw with this standard deviation.
///
/// The seeds change, too: on a real drive the same addresses lie elsewhere and meet other conflicts.
fn disturb(evidence: &mut Evidence, deviation: f64, random: &mut Xoshiro256PlusPlus) {
    for segment in &mut evidence.segments {
        stretch(segment, (deviation * normal(random)).exp());
        segment.workload.seed = random.random();
    }
}

/// A draw of the standard normal distribution: twelve uniform draws come close enough for noise.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn stretch(segment: &mut Segment, factor: f64) {
    let longer = |time: Nanos| Nanos((time.0 as f64 * factor).round() as u64);
    let started_at = segment.started_at;
    let later = |at: Nanos| started_at + longer(at.since(started_at));
    segment.ended_at = later(segment.ended_at);
    segment.busy = longer(segment.busy);
    for tally in &mut segment.tallies {
        tally.latency_ns_sum = (tally.latency_ns_sum as f64 * factor) as u64;
        let mut latency = Latencies::default();
        tally
            .latency
            .places()
            .iter()
            .for_each(|(value, count)| latency.record_n(longer(Nanos(*value)), *count));
        latency.compact();
        tally.latency = latency;
    }
    segment.seconds.width = longer(Nanos(segment.seconds.width)).0;
    let cells = segment.seconds.cells.iter_mut().chain(&mut segment.gigabytes.cells);
    cells.filter(|cell| cell.ios > 0).for_each(|cell| cell.last = later(cell.last));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_normal() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let draws: Vec<f64> = (0..10_000).map(|_| normal(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
