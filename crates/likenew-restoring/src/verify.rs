//! Writes sectors that identify themselves, reads them back, and reports what a drive really holds: first a
//! few where a counterfeit gives itself away, then all of them.

mod damage;
mod experiment;
mod findings;
mod wording;

use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step, Steps};
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_core::workload::SAMPLES_MAX;
use serde::{Deserialize, Serialize};

use experiment::Verification;
use likenew_procedure_support::options::options;
use likenew_procedure_support::wording::span_too_large;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "verify",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("verify.md"),
};

/// The settings of a verification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyOptions {
    /// Files in a folder.
    pub files: u32,
    /// Bytes of each; a multiple of the block.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Bytes from the first address; everything by default.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// Bytes of one I/O.
    #[serde(with = "size_text")]
    pub block: u64,
    /// I/Os in flight.
    pub depth: u32,
    /// Parts of a pass that are measured separately.
    pub parts: u32,
    /// How often everything is written and read back.
    pub passes: u32,
    /// Random probes before the first pass; 0 for no probes.
    pub probes: u32,
    /// Whether to stop after the probes.
    pub quick: bool,
    /// Whether to write everything even if damage was found early.
    pub full: bool,
    /// Whether to write nothing, and read what an earlier run with the same seed wrote.
    pub read_only: bool,
    /// Idle time between writing and reading.
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// Largest size of the drive's cache: if less is written, reads may come from the cache alone.
    #[serde(with = "size_text")]
    pub cache: u64,
}

impl Default for VerifyOptions {
    /// Hard disks have up to 512 MB of cache, and flash drives use theirs for the mapping table, so none can
    /// answer from more than 1 GiB.
    fn default() -> Self {
        Self {
            files: 1,
            file_size: 1 << 30,
            span: None,
            block: 1 << 20,
            depth: 4,
            parts: 100,
            passes: 1,
            probes: 400,
            quick: false,
            full: false,
            read_only: false,
            idle: Nanos::ZERO,
            cache: 1 << 30,
        }
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

    /// Where two addresses share one place, more is written to find where that begins.
    fn bytes_written_max(&self, _evidence: &Evidence, _planned: &[Step]) -> Option<u64> {
        None
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let span = self.span(&steps.evidence().geometry)?;
        let verification = Verification::follow(&self.options, span, steps);
        Ok(steps.conclude(|evidence| findings::findings(&self.options, &verification, evidence)))
    }
}
