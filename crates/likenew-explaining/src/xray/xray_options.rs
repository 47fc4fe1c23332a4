//! The settings of an X-ray, which of them make sense, and which would decide an unknown property here.

use clap::Args;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Loss};
use likenew_core::io::Op;
use likenew_core::procedure::{Descriptor, Evidence};
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::{Nanos, exact_size, parse_size, size_text};
use likenew_procedure_support::fit::{Fitting, Options, Unfit};
use likenew_procedure_support::wording::{command, span_too_large};
use serde::{Deserialize, Serialize};

use super::experiment::Experiment;
use super::property::Remedy;
use super::{DESCRIPTOR, EXPERIMENTS, wording};

/// What is inside: medium, mapping, dies, caches, over-provisioning
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct XrayOptions {
    /// Address space to test, from the start [default: all; in a folder 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Write at most this much [default: four times the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// Run only these experiments; `likenew help xray` lists them [default: all]
    // Some need what others find.
    #[arg(long, value_delimiter = ',', value_name = "EXPERIMENT")]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
}

/// Read-only targets are only read, so nothing is refused here.
impl Options for XrayOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        /// The span of a folder is a multiple of this, so that I/Os divide it.
        const FOLDER_STEP: u64 = 1 << 20;
        let usable = fitting.usable()?;
        if fitting.is_folder {
            // A folder's files are written first.
            let bytes = self.bytes.unwrap_or(u64::MAX);
            let span = Self::SPAN_OF_FOLDER.min(usable).min(bytes / Self::SPANS_WRITTEN);
            let span = *self.span.get_or_insert(span - span % FOLDER_STEP);
            let least = span.max(Self::SPAN_LEAST * Self::SPANS_WRITTEN);
            if bytes < least {
                return Err(wording::too_few_bytes(least).into());
            }
        }
        Ok(())
    }
}

impl XrayOptions {
    /// Default span of a folder.
    pub const SPAN_OF_FOLDER: u64 = 1 << 30;
    /// Least span: a smaller one shows nothing.
    pub const SPAN_LEAST: u64 = 16 << 20;
    /// Default limit of writes, in spans.
    const SPANS_WRITTEN: u64 = 4;

    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        let names: Vec<&str> = EXPERIMENTS.iter().map(|experiment| experiment.name).collect();
        match self.only.iter().find(|name| !names.contains(&name.as_str())) {
            Some(name) => Err(wording::no_such_test(name, &names)),
            None => Ok(()),
        }
    }

    /// Whether this test runs. Tests that prepare the drive for others always do.
    pub(super) fn is_wanted(&self, experiment: &Experiment) -> bool {
        let is_named = self.only.iter().any(|name| name == experiment.name);
        self.only.is_empty() || is_named || experiment.keys.is_empty()
    }

    /// Most bytes to write in all.
    pub(super) fn budget(&self, span: u64) -> u64 {
        self.bytes.unwrap_or(Self::SPANS_WRITTEN * span)
    }

    /// Bytes of address space on a drive.
    ///
    /// # Errors
    /// A sentence, when there are too few.
    pub(super) fn span_on(&self, geometry: &Geometry) -> Result<u64, String> {
        let capacity = geometry.capacity - geometry.capacity % (1 << 20);
        let span = self.span.unwrap_or(capacity);
        if span > geometry.capacity {
            return Err(span_too_large(span, geometry.capacity, 1 << 20));
        }
        if span < Self::SPAN_LEAST {
            return Err(wording::span_too_short(span, Self::SPAN_LEAST));
        }
        Ok(span - span % u64::from(geometry.block.max(4096)))
    }
}

/// The tests that measure burst credits.
const LONG_READS: &str = "--only noise,medium,token-bucket";
/// Longest time of those tests, which limit themselves to it.
const LONG_READS_TIME: Nanos = Nanos::from_secs(45 * 60);
/// Twice the default limit of writes, in spans.
const SPANS_WRITTEN: u64 = 8;

/// An X-ray without a limit writes up to about this many times the drive: it fills it and overwrites most of
/// it.
const DRIVES_WRITTEN: u64 = 2;
/// A segment that wrote this many bytes shows the drive's write speed.
const RATE_BYTES_MIN: u64 = 1 << 20;

/// Adds the cost of writing this many bytes, as far as this run shows it.
fn with_cost(action: Action, evidence: &Evidence, capacity: u64) -> Action {
    let bytes = DRIVES_WRITTEN * capacity;
    let writes = || {
        let writes = evidence.segments.iter().filter(|segment| segment.bytes(Op::Write) >= RATE_BYTES_MIN);
        writes.map(|segment| (segment.bytes(Op::Write) as f64, segment.elapsed().as_secs_f64()))
    };
    let (written, elapsed) = writes().fold((0.0, 0.0), |sum, write| (sum.0 + write.0, sum.1 + write.1));
    let action = action.bytes_written(bytes);
    if written > 0.0 { action.time(Nanos::from_secs_f64(bytes as f64 * elapsed / written)) } else { action }
}

/// The action for a remedy; `None` if nothing can work here.
pub(super) fn action(
    remedy: Remedy,
    options: &XrayOptions,
    evidence: &Evidence,
    span: u64,
) -> Option<Action> {
    let (kind, geometry) = (evidence.identity.kind, &evidence.geometry);
    let is_file_or_device = matches!(kind, TargetKind::File | TargetKind::Device);
    // A simulated drive gives the same answer at any time.
    let changes = geometry.clock == Clock::Wall;
    let has_limit = options.bytes.is_some();
    let action = wording::action(remedy, has_limit);
    let (action, settings) = match remedy {
        Remedy::Quiet if changes => (action, String::new()),
        Remedy::Rest if changes => (action.time(LONG_READS_TIME), LONG_READS.into()),
        Remedy::LongReads => (action.time(LONG_READS_TIME), LONG_READS.into()),
        Remedy::MoreWrites if has_limit => (with_cost(action, evidence, span), String::new()),
        Remedy::MoreWrites => {
            let settings = format!("--bytes {}", exact_size(SPANS_WRITTEN * span));
            (with_cost(action, evidence, span), settings)
        }
        Remedy::Consent if is_file_or_device && !geometry.writable => {
            return Some(action.loses(Loss::Everything));
        }
        Remedy::WholeDrive if options.span.is_some() => {
            (with_cost(action, evidence, geometry.capacity), String::new())
        }
        Remedy::OtherTests if !options.only.is_empty() => (action, String::new()),
        _ => return None,
    };
    // No plan stores the consent under which a device or a file was written.
    if is_file_or_device && geometry.writable {
        return Some(wording::with_consent(action));
    }
    Some(match command(&evidence.plan, &settings) {
        Some(command) => action.command(command),
        None => action,
    })
}
