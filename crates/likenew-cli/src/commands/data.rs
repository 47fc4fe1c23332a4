//! `likenew data`: speed with data that compresses, and how far the files of a folder do.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use likenew_core::io::Op;
use likenew_core::procedure::Plan;
use likenew_core::quantity::Size;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::data::files::{FileScan, FileType};
use likenew_procedures::data::{DataOptions, PART_MIN, Test};
use likenew_procedures::pattern::Pattern;
use likenew_real::scan::{GroupScan, Progress, Refusals, Request as ScanRequest, Scan, ScanError, scan};

use super::{Command, default_tests};
use crate::access::{Access, lock};
use crate::arguments::TargetArguments;
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, measure, options as settings};
use crate::references::SequentialRates;
use crate::resolved_target::ResolvedTarget;
use crate::{interrupt, wording};

/// Is compressible data faster, and how compressible are your files?
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Data {
    /// Steps from zeros to incompressible data, from 2 to 101
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(2..=101), value_name = "N")]
    steps: u32,
    /// Operations: write, read
    #[arg(long, value_delimiter = ',', default_value = "write,read", value_parser = read_or_write, value_name = "OP,..")]
    op: Vec<Op>,
    /// Access patterns: sequential, random
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_name = "PATTERN,..")]
    pattern: Vec<Pattern>,
    /// Block size, one for all patterns or one for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, visible_alias = "bs", value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    block: Vec<u64>,
    /// Queue depth, one for all patterns or one for each [default: 8 sequential, 32 random]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_name = "N,..")]
    depth: Vec<u32>,
    /// Address space to test, divided among the steps [default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Passes, each through the steps in another order
    #[arg(long, default_value_t = 3, value_name = "N")]
    passes: u32,
    /// Time limit of a step in one pass; it also ends after moving its part of the span
    #[arg(long, visible_alias = "runtime", default_value = "1s", value_parser = parse_duration, value_name = "TIME")]
    time: Nanos,
    /// Idle time before each step
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    idle: Nanos,
    /// Also read the files in this folder: how compressible are they, and what speed do they get?
    #[arg(long, value_name = "DIR", help_heading = FILES)]
    files: Vec<PathBuf>,
    /// Read at most this much of your files' contents
    #[arg(long, default_value = "256MiB", value_parser = parse_size, value_name = "SIZE", help_heading = FILES)]
    sample: u64,
    /// Time limit of reading folders; what was read until then counts
    #[arg(long, default_value = "2min", value_parser = parse_duration, value_name = "TIME", help_heading = FILES)]
    scan_time: Nanos,
    /// Also read file systems mounted below the folder
    #[arg(long, help_heading = FILES)]
    cross_file_systems: bool,
    /// Read the files and measure nothing
    #[arg(long, requires = "files", help_heading = FILES)]
    scan_only: bool,
    #[command(flatten)]
    pub(crate) rated: SequentialRates,
    #[command(flatten)]
    arguments: TargetArguments,
}

const FILES: &str = "Your files";

fn read_or_write(text: &str) -> Result<Op, String> {
    match text {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(wording::not_read_or_write(text)),
    }
}

const SPAN_DEFAULT: u64 = 1 << 30;
/// A smaller sample says nothing, and a larger one than the maximum takes too long.
const SAMPLE_MIN: u64 = 1 << 20;
const SAMPLE_MAX: u64 = 64 << 30;

impl Command for Data {
    fn run(self) -> Result<Exit> {
        let request = Request::for_target(&self.arguments, Access::writing(!self.scan_only));
        measure(request, |target| self.plan(&target.resolved))
    }
}

impl Data {
    /// The plan; `None` if the user stopped the scan of files.
    fn plan(&self, target: &ResolvedTarget) -> Result<Option<Plan>> {
        let mut options = self.options(target)?;
        if !self.files.is_empty() {
            let Some(files) = self.scan_files()? else {
                crate::console::note(wording::STOPPED_BEFORE_MEASURING);
                return Ok(None);
            };
            options.files = Some(files);
        }
        Ok(Some(self.arguments.plan_of("data", settings(&options))))
    }

    fn scan_files(&self) -> Result<Option<FileScan>> {
        let Self { sample, scan_time, .. } = *self;
        if !(SAMPLE_MIN..=SAMPLE_MAX).contains(&sample) {
            return Err(Failure::Usage(wording::option_outside("sample", Size(sample), "1MiB..64GiB")));
        }
        if !(Nanos::from_millis(1)..=Nanos::from_secs(86_400)).contains(&scan_time) {
            return Err(Failure::Usage(wording::option_outside("scan-time", scan_time, "1ms..24h")));
        }
        let request = ScanRequest {
            folders: self.files.clone(),
            sample_bytes: sample,
            time: scan_time,
            cross: self.cross_file_systems,
            seed: self.arguments.seed(),
        };
        scan_folders(&request, self.arguments.run.wait_for_drive)
    }

    fn options(&self, target: &ResolvedTarget) -> Result<DataOptions> {
        let (read, write) = self.rated.or_own(target)?;
        let tests = default_tests(&self.pattern, &self.block, &self.depth, Test::default_test)?;
        let Self { passes, time, idle, .. } = *self;
        let (steps, span) = match self.scan_only {
            true => (0, SPAN_DEFAULT),
            false => (self.steps, self.span(target, &tests)?),
        };
        Ok(DataOptions {
            steps,
            ops: self.op.clone(),
            tests,
            span,
            passes,
            time,
            idle,
            advertised_read_bytes_per_s: read,
            advertised_write_bytes_per_s: write,
            files: None,
        })
    }

    /// The span on the command line; the default otherwise, or less if the target is smaller.
    fn span(&self, target: &ResolvedTarget, tests: &[Test]) -> Result<u64> {
        if let Some(span) = self.span {
            return Ok(span);
        }
        let usable = target.usable_bytes()?;
        let block = tests.iter().map(|test| test.block).fold(PART_MIN, u64::max);
        let least = u64::from(self.steps).saturating_mul(block);
        if usable < least {
            return Err(Failure::Usage(wording::steps_do_not_fit(usable, self.steps, least)));
        }
        Ok(SPAN_DEFAULT.max(least).min(usable))
    }
}

/// The contents of these folders; `None` if the user stopped the scan. Their drives are locked.
pub(super) fn scan_folders(request: &ScanRequest, wait: bool) -> Result<Option<FileScan>> {
    interrupt::listen()?;
    let folders: Vec<&Path> = request.folders.iter().map(PathBuf::as_path).collect();
    let Some(_lock) = lock(&folders, wait)? else { return Ok(None) };
    let bar = ProgressBar::new_spinner();
    let style = "{spinner} {elapsed}  {msg}";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
    let mut watch = |progress: Progress| {
        bar.set_message(progress_text(&progress));
        bar.tick();
        if interrupt::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = scan(request, &mut watch);
    bar.finish_and_clear();
    match found {
        Ok(found) => {
            name_unreadable(&found.refusals);
            to_option(found, &folders).map(Some)
        }
        Err(ScanError::Interrupted) => Ok(None),
        Err(ScanError::LabError(lab_error)) => Err(lab_error.into()),
    }
}

fn progress_text(progress: &Progress) -> String {
    let Progress { files, bytes, sampled_bytes, sample_bytes } = *progress;
    wording::scan_progress(files, bytes, sample_bytes.map(|all| (sampled_bytes, all)))
}

/// Names are only for the user at the terminal; neither plan nor report keeps them.
fn name_unreadable(refusals: &Refusals) {
    for (path, kind) in &refusals.examples {
        crate::console::note(wording::unreadable_file(path, kind));
    }
    let more = refusals.count - refusals.examples.len() as u64;
    if more > 0 {
        crate::console::note(wording::more_unreadable(more));
    }
}

fn to_option(found: Scan, folders: &[&Path]) -> Result<FileScan> {
    let Scan { groups, refusals, other_file_systems, out_of_time } = found;
    if groups.iter().all(|group| group.bytes == 0) {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(Failure::Usage(wording::no_files(&folders)));
    }
    let of = |group: &GroupScan| {
        let (unit_share, zip_share): (Vec<f64>, Vec<f64>) =
            group.pieces.iter().map(|piece| (piece.unit_share, piece.zip_share)).unzip();
        let GroupScan { files, bytes, sampled_bytes, .. } = *group;
        FileType::of_pieces(group.group.name(), files, bytes, sampled_bytes, &unit_share, &zip_share)
    };
    let types = groups.iter().map(of).collect();
    Ok(FileScan { unreadable: refusals.count, other_file_systems, out_of_time, types })
}
