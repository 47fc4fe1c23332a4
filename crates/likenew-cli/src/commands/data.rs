//! `likenew data`: speed with compressible data, and how far the user's files compress.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use clap::Args;
use likenew_core::procedure::Plan;
use likenew_core::quantity::Size;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::data::DataOptions;
use likenew_procedures::data::files::{FileScan, FileType};
use likenew_real::scan::{GroupScan, Progress, Refusals, Request as ScanRequest, Scan, ScanError, scan};

use super::{ChosenOptions, Command};
use crate::arguments::TargetArguments;
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, measure, options as settings};
use crate::progress::spinner;
use crate::references::SequentialRates;
use crate::resolved_target::{Access, ResolvedTarget, lock};
use crate::{interrupt, wording};

/// Is compressible data faster, and how compressible are your files?
#[derive(Debug, Args)]
pub(crate) struct Data {
    #[command(flatten)]
    chosen: ChosenOptions,
    #[command(flatten)]
    options: DataOptions,
    #[command(flatten)]
    files: Files,
    #[command(flatten)]
    pub(crate) rated: SequentialRates,
    #[command(flatten)]
    arguments: TargetArguments,
}

#[derive(Debug, Args)]
struct Files {
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
}

const FILES: &str = "Your files";

/// Limits of --sample: a smaller sample says nothing, and a larger one takes too long.
const SAMPLE_MIN: u64 = 1 << 20;
const SAMPLE_MAX: u64 = 64 << 30;

impl Command for Data {
    fn run(mut self) -> Result<Exit> {
        let mut access = Access::Write;
        if self.files.scan_only {
            (self.options.steps, access) = (0, Access::Read);
        }
        measure(Request::for_target(&self.arguments, access), |target| self.plan(&target.resolved))
    }
}

impl Data {
    fn plan(&self, target: &ResolvedTarget) -> Result<Plan> {
        let (read, write) = self.rated.or_own(target)?;
        let mut options = self.chosen.fitted(&self.options, target)?;
        (options.advertised_read_bytes_per_s, options.advertised_write_bytes_per_s) = (read, write);
        if !self.files.files.is_empty() {
            let scanned = self.scan_files().inspect_err(|failure| {
                if matches!(failure, Failure::Interrupted) {
                    note(wording::STOPPED_BEFORE_MEASURING);
                }
            });
            options.files = Some(scanned?);
        }
        Ok(self.arguments.plan_of("data", settings(&options)))
    }

    fn scan_files(&self) -> Result<FileScan> {
        let Files { sample, scan_time, .. } = self.files;
        if !(SAMPLE_MIN..=SAMPLE_MAX).contains(&sample) {
            return Err(Failure::Usage(wording::option_outside("sample", Size(sample), "1MiB..64GiB")));
        }
        if !(Nanos::from_millis(1)..=Nanos::from_secs(86_400)).contains(&scan_time) {
            return Err(Failure::Usage(wording::option_outside("scan-time", scan_time, "1ms..24h")));
        }
        let request = ScanRequest {
            folders: self.files.files.clone(),
            sample_bytes: sample,
            time: scan_time,
            cross: self.files.cross_file_systems,
            seed: self.arguments.seed.unwrap_or_default(),
        };
        scan_folders(&request, self.arguments.run.execution.wait_for_drive)
    }
}

/// Locks the drives below these folders and scans their files, until the user stops that.
pub(super) fn scan_folders(request: &ScanRequest, wait: bool) -> Result<FileScan> {
    interrupt::listen()?;
    let folders: Vec<&Path> = request.folders.iter().map(PathBuf::as_path).collect();
    let _lock = lock(&folders, wait)?;
    let bar = spinner();
    let mut watch = |Progress { files, bytes, sampled_bytes, sample_bytes }: Progress| {
        let sampled = sample_bytes.map(|total| (sampled_bytes, total));
        bar.set_message(wording::scan_progress(files, bytes, sampled));
        bar.tick();
        if interrupt::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let outcome = scan(request, &mut watch);
    bar.finish_and_clear();
    match outcome {
        Ok(scan) => {
            // Neither plan nor report keeps the names of files that could not be read.
            let Refusals { examples, count, .. } = &scan.refusals;
            examples.iter().for_each(|(path, kind)| note(wording::unreadable_file(path, kind)));
            let more = count - examples.len() as u64;
            if more > 0 {
                note(wording::more_unreadable(more));
            }
            to_option(scan, &folders)
        }
        Err(ScanError::Interrupted) => Err(Failure::Interrupted),
        Err(ScanError::TargetError(target_error)) => Err(target_error.into()),
    }
}

fn to_option(scan: Scan, folders: &[&Path]) -> Result<FileScan> {
    let Scan { groups, refusals, other_file_systems, out_of_time } = scan;
    if groups.iter().all(|group| group.bytes == 0) {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(Failure::Usage(wording::no_files(&folders)));
    }
    let to_type = |group: &GroupScan| {
        let (unit_share, zip_share): (Vec<f64>, Vec<f64>) =
            group.pieces.iter().map(|piece| (piece.unit_share, piece.zip_share)).unzip();
        let GroupScan { files, bytes, sampled_bytes, .. } = *group;
        FileType::of_pieces(group.group.name(), files, bytes, sampled_bytes, &unit_share, &zip_share)
    };
    let types = groups.iter().map(to_type).collect();
    Ok(FileScan { unreadable: refusals.count, other_file_systems, out_of_time, types })
}
