//! `likenew verify` and `trim`: whether a drive keeps what it is given, and gives up what it is told to.

use clap::Args;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::trim::{HALF_STEP, TrimOptions};
use likenew_procedures::verify::VerifyOptions;

use super::Command;
use crate::access::Access;
use crate::arguments::TargetArguments;
use crate::exit::{Exit, Failure, Result};
use crate::measure::measure_with;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Is the capacity real, and does data read back as written?
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Verify {
    /// Address space to verify, from the start [default: all; in a folder its free space]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// How often everything is written and read back
    #[arg(long, default_value_t = 1, value_name = "N")]
    passes: u32,
    /// Write only a few hundred blocks: finds most counterfeits in a minute, proves nothing else
    #[arg(long, conflicts_with_all = ["full", "read_only", "passes"])]
    quick: bool,
    /// Write and read everything even after damage was found
    #[arg(long)]
    full: bool,
    /// Write nothing: read what an earlier run with this --seed wrote to a device
    #[arg(long, requires = "seed")]
    read_only: bool,
    /// Random addresses to try first [default: 400; none in a folder, fewer on small drives]
    #[arg(long, value_name = "N")]
    probes: Option<u32>,
    /// Parts per pass
    #[arg(long, default_value_t = 100, value_name = "N")]
    parts: u32,
    /// Size of the files in a folder [default: about 1GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    file_size: Option<u64>,
    /// Block size
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 4, value_name = "N")]
    depth: u32,
    /// Idle time between writing and reading
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    idle: Nanos,
    /// Largest cache the drive may have; less data than that proves nothing
    #[arg(long, default_value = "1GiB", value_parser = parse_size, value_name = "SIZE")]
    cache: u64,
    #[command(flatten)]
    arguments: TargetArguments,
}

/// Approximate size of a folder's files, which every file system supports.
const FILE_BYTES_DEFAULT: u64 = 1 << 30;
/// Default number of random probes on a drive, unless that exceeds this part of it.
const PROBES_DEFAULT: u64 = 400;
const PROBES_SHARE: u64 = 16;

impl Command for Verify {
    fn run(mut self) -> Result<Exit> {
        if self.arguments.seed.is_none() && !self.arguments.target.starts_with("sim:") {
            // Data of an earlier run is only told from this one's by its key, so each run has another.
            self.arguments.seed = Some(likenew_real::clock::new_seed().map_err(anyhow::Error::new)?);
        }
        let access = Access::writing(!self.read_only);
        measure_with(&self.arguments, "verify", access, |target| self.options(target))
    }
}

impl Verify {
    fn options(&self, target: &ResolvedTarget) -> Result<VerifyOptions> {
        if self.block == 0 {
            return Err(Failure::Usage(wording::zero_block()));
        }
        let is_folder = target.is_folder();
        if self.read_only && (is_folder || !target.is_real()) {
            return Err(Failure::Usage(wording::READ_ONLY_NEEDS_A_DEVICE.into()));
        }
        if self.file_size.is_some() && !is_folder {
            return Err(Failure::Usage(wording::FILE_SIZE_NEEDS_A_FOLDER.into()));
        }
        let usable = target.usable_bytes()?;
        let whole = self.span.unwrap_or(usable);
        let (files, file_size) = if is_folder { self.files(whole)? } else { (1, self.block) };
        let most = if is_folder { 0 } else { PROBES_DEFAULT.min(whole / PROBES_SHARE / self.block) };
        let probes = self.probes.unwrap_or(u32::try_from(most).expect("it is at most the default"));
        if self.quick && probes == 0 {
            return Err(Failure::Usage(wording::quick_needs_space(whole)));
        }
        let span = self.span.filter(|_| !is_folder);
        let Self { block, depth, parts, passes, quick, full, read_only, idle, cache, .. } = *self;
        Ok(VerifyOptions {
            files,
            file_size,
            span,
            block,
            depth,
            parts,
            passes,
            probes,
            quick,
            full,
            read_only,
            idle,
            cache,
        })
    }

    /// As many files as fill the span, each of whole blocks.
    fn files(&self, span: u64) -> Result<(u32, u64)> {
        let each = self.file_size.unwrap_or_else(|| {
            let files = span.div_ceil(FILE_BYTES_DEFAULT).max(1);
            let each = span / files;
            each - each % self.block
        });
        let files = span.checked_div(each).unwrap_or(0);
        if files == 0 {
            return Err(Failure::Usage(wording::file_of_blocks(span, self.block)));
        }
        let files = u32::try_from(files).map_err(|_| Failure::Usage(wording::too_many_files(files)))?;
        Ok((files, each))
    }
}

/// Does TRIM reach the drive, and what does it gain?
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Trim {
    /// Bytes to write, trim and read back, beside as many that are kept [default: 32MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// How long to wait for a file system that sends TRIM on its own, and for the drive to act on it
    #[arg(long, default_value = "10s", value_parser = parse_duration, value_name = "TIME")]
    wait: Nanos,
    /// Timed reads of trimmed and of kept data, each
    #[arg(long, default_value_t = 256, value_name = "N")]
    probes: u32,
    /// Do not read the device below the folder
    #[arg(long)]
    no_raw: bool,
    /// Skip measuring how much TRIM gains
    #[arg(long, conflicts_with_all = ["span", "time", "depth", "passes"])]
    no_worth: bool,
    /// Address space for measuring the gain, half of it trimmed [default: up to 64GiB of a simulated drive; in a folder
    /// 1GiB, or twice --bytes if that is given]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Time of each pass of random writes
    #[arg(long, visible_alias = "runtime", default_value = "4s", value_parser = parse_duration, value_name = "TIME")]
    time: Nanos,
    /// Queue depth of the random writes
    #[arg(long, visible_alias = "iodepth", default_value_t = 8, value_name = "N")]
    depth: u32,
    /// Passes with TRIM, and as many without
    #[arg(long, default_value_t = 4, value_name = "N")]
    passes: u32,
    #[command(flatten)]
    arguments: TargetArguments,
}

/// Default span of a folder for measuring the effect of TRIM, if there is room: it is written again and
/// again.
const SPAN_OF_FOLDER: u64 = 1 << 30;
/// Largest span of a simulated drive, which already takes long to fill.
const SPAN_OF_DRIVE: u64 = 64 << 30;

impl Command for Trim {
    /// A file or a device is only queried, which needs no permission to write.
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "trim", Access::Read, |target| self.options(target))
    }
}

impl Trim {
    fn options(&self, target: &ResolvedTarget) -> Result<TrimOptions> {
        let bytes = self.bytes.unwrap_or(TrimOptions::default().bytes);
        let worth = !self.no_worth && target.is_writable();
        let span = if worth { self.span(bytes, target)? } else { None };
        let Self { wait, probes, time, depth, passes, .. } = *self;
        Ok(TrimOptions { bytes, wait, probes, raw: !self.no_raw, worth, span, time, depth, passes })
    }

    /// From the command line; otherwise the default. A simulated drive that is used as a whole needs no number.
    fn span(&self, bytes: u64, target: &ResolvedTarget) -> Result<Option<u64>> {
        const STEP: u64 = 2 * HALF_STEP;
        let (usable, is_folder) = (target.usable_bytes()?, target.is_folder());
        // The file that is read back needs space as well.
        let (default, left) = match is_folder {
            true => (SPAN_OF_FOLDER, usable.saturating_sub(bytes.saturating_mul(2))),
            false => (SPAN_OF_DRIVE, usable),
        };
        let least = |bytes: u64| (bytes - bytes % HALF_STEP).max(HALF_STEP).saturating_mul(2);
        match self.span.or(self.bytes.filter(|_| is_folder).map(least)) {
            Some(span) => Ok(Some(span)),
            None if !is_folder && usable <= default => Ok(None),
            None if left < STEP => Err(Failure::Usage(wording::trim_does_not_fit(usable, STEP))),
            None => Ok(Some(default.min(left - left % STEP))),
        }
    }
}
