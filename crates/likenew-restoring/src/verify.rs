//! Writes sectors that identify themselves, reads them back, and reports what a drive really holds: first a
//! few where a counterfeit gives itself away, then all of them.

mod experiment;
mod findings;
mod wording;

use clap::Args;
use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step, Steps};
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::SAMPLES_MAX;
use serde::{Deserialize, Serialize};

use experiment::Verification;
use likenew_procedure_support::fit::{Fitting, Options, Unfit, defaults};
use likenew_procedure_support::options::{check_block, options};
use likenew_procedure_support::wording::{span_too_large, too_many_files};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "verify",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("verify.md"),
};

/// Is the capacity real, and does data read back as written?
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct VerifyOptions {
    /// Files in a folder.
    #[arg(skip = 1u32)]
    pub files: u32,
    /// Address space to verify, from the start [default: all; in a folder its free space]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// How often everything is written and read back
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub passes: u32,
    /// Write only a few hundred blocks: finds most counterfeits in a minute, proves nothing else
    #[arg(long, conflicts_with_all = ["full", "read_only", "passes"])]
    pub quick: bool,
    /// Write and read everything even after damage was found
    #[arg(long)]
    pub full: bool,
    /// Write nothing: read what an earlier run with this --seed wrote to a device
    #[arg(long, requires = "seed")]
    pub read_only: bool,
    /// Random addresses to try first [default: 400; none in a folder, fewer on small drives]
    #[arg(long, default_value_t = 400, hide_default_value = true, value_name = "N")]
    pub probes: u32,
    /// Parts per pass
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub parts: u32,
    /// Size of the files in a folder [default: about 1GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "1GiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Block size
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 4, value_name = "N")]
    pub depth: u32,
    /// Idle time between writing and reading
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// Largest cache the drive may have; less data than that proves nothing
    // Hard disks have up to 512 MB of cache, and flash drives use theirs for the mapping table.
    #[arg(long, default_value = "1GiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub cache: u64,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        defaults()
    }
}

impl Options for VerifyOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn writes(&self, _: &dyn Fn(&str) -> bool) -> bool {
        !self.read_only
    }

    /// Only the key from its seed tells this run's data from that of an earlier run.
    fn needs_new_seed(&self) -> bool {
        true
    }

    /// A folder gets as many files as fill the span, each of whole blocks.
    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        /// Random probes are at most one in so many blocks.
        const PROBES_SHARE: u64 = 16;
        check_block(self.block)?;
        let has_size = (fitting.is_chosen)("file_size");
        if self.read_only && (fitting.is_folder || !fitting.is_real) {
            return Err(wording::READ_ONLY_NEEDS_A_DEVICE.to_owned().into());
        }
        if has_size && !fitting.is_folder {
            return Err(wording::FILE_SIZE_NEEDS_A_FOLDER.to_owned().into());
        }
        let whole = self.span.map_or_else(|| fitting.usable(), Ok)?;
        if !(fitting.is_chosen)("probes") {
            let most = if fitting.is_folder { 0 } else { whole / PROBES_SHARE / self.block };
            self.probes = u64::from(self.probes).min(most) as u32;
        }
        if self.quick && self.probes == 0 {
            return Err(wording::quick_needs_space(whole).into());
        }
        if !fitting.is_folder {
            self.file_size = self.block;
            return Ok(());
        }
        if !has_size {
            let file_bytes = whole / whole.div_ceil(self.file_size).max(1);
            self.file_size = file_bytes - file_bytes % self.block;
        }
        let files = whole.checked_div(self.file_size).unwrap_or(0);
        if files == 0 {
            return Err(wording::file_of_blocks(whole, self.block).into());
        }
        self.files = u32::try_from(files).map_err(|_| too_many_files(files))?;
        self.span = None;
        Ok(())
    }
}

/// More parts or passes than this are taken for a mistake.
const PARTS_MAX: u32 = 5_000;
const PASSES_MAX: u32 = 1_000;

/// The procedure.
pub struct Verify {
    options: VerifyOptions,
}

impl Verify {
    /// From a plan's options.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("verify", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: VerifyOptions) -> Result<Self, String> {
        let VerifyOptions { files, file_size, block, depth, parts, passes, probes, .. } = options;
        if !(512..=1 << 30).contains(&block) || !block.is_multiple_of(512) {
            return Err(wording::bad_block(block));
        }
        if files == 0 || file_size == 0 || !file_size.is_multiple_of(block) {
            return Err(wording::bad_files(files, file_size, block));
        }
        for (name, value, most) in
            [("depth", depth, 1024), ("parts", parts, PARTS_MAX), ("passes", passes, PASSES_MAX)]
        {
            if value == 0 || value > most {
                return Err(wording::out_of_range(name, value, 1, most));
            }
        }
        if probes > SAMPLES_MAX {
            return Err(wording::out_of_range("probes", probes, 0, SAMPLES_MAX));
        }
        if options.quick && (probes == 0 || options.full || options.read_only) {
            return Err(wording::bad_quick());
        }
        Ok(Self { options })
    }

    /// Bytes to verify on a drive of this geometry.
    ///
    /// # Errors
    /// A sentence, if the drive has fewer, or if they are less than one block.
    fn span(&self, geometry: &Geometry) -> Result<u64, String> {
        let VerifyOptions { span, block, read_only, .. } = self.options;
        if !geometry.writable && !read_only {
            return Err(wording::read_only_target());
        }
        let span = span.unwrap_or(geometry.capacity);
        let span = span - span % u64::from(geometry.block.max(512));
        if span > geometry.capacity {
            return Err(span_too_large(span, geometry.capacity, geometry.block.max(512).into()));
        }
        if span < block {
            return Err(wording::span_too_small(span, block));
        }
        Ok(span)
    }
}

impl Procedure for Verify {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: self.options.files, file_bytes: self.options.file_size }
    }

    /// Unknown, because more is written to find where two addresses begin to share one place.
    fn bytes_written_max(&self, _evidence: &Evidence, _planned: &[Step]) -> Option<u64> {
        None
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let span = self.span(&steps.evidence().geometry)?;
        let verification = Verification::follow(&self.options, span, steps);
        Ok(steps.conclude(|evidence| findings::findings(&self.options, &verification, evidence)))
    }
}
