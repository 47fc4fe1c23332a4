//! `likenew data`.

use likenew_core::plan::Plan;
use likenew_core::quantity::Size;
use likenew_core::units::Nanos;
use likenew_procedures::data::files::FileScan;
use likenew_procedures::data::{DataOptions, PART_MIN, Test};
use likenew_real::scan::Request as ScanRequest;

use crate::access::Access;
use crate::arguments::Data;
use crate::defaults;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options as settings};
use crate::resolved_target::ResolvedTarget;
use crate::scanning::scan_folders;
use crate::wording;

const SPAN_USUAL: u64 = 1 << 30;
/// A smaller sample says nothing, and a larger one than the maximum takes too long.
const SAMPLE_MIN: u64 = 1 << 20;
const SAMPLE_MAX: u64 = 64 << 30;

pub(crate) fn run(command: Data) -> Result<Exit, Failure> {
    let access = Access::writing(!command.scan_only);
    let request = Request::for_target(&command.target_arguments, access, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved))
}

/// The plan; `None` if the user stopped the scan of files.
fn plan(command: &Data, resolved_target: &ResolvedTarget) -> Result<Option<Plan>, Failure> {
    let mut options = measurement(command, resolved_target)?;
    if !command.files.is_empty() {
        let Some(files) = files(command)? else {
            crate::standard_error::note(wording::STOPPED_BEFORE_MEASURING);
            return Ok(None);
        };
        options.files = Some(files);
    }
    Ok(Some(command.target_arguments.plan_of("data", settings(&options))))
}

fn files(command: &Data) -> Result<Option<FileScan>, Failure> {
    let Data { sample, scan_time, .. } = *command;
    if !(SAMPLE_MIN..=SAMPLE_MAX).contains(&sample) {
        return Err(Failure::Usage(wording::option_outside("sample", Size(sample), "1MiB..64GiB")));
    }
    if !(Nanos::from_millis(1)..=Nanos::from_secs(86_400)).contains(&scan_time) {
        return Err(Failure::Usage(wording::option_outside("scan-time", scan_time, "1ms..24h")));
    }
    let request = ScanRequest {
        folders: command.files.clone(),
        sample_bytes: sample,
        time: scan_time,
        cross: command.cross_file_systems,
        seed: command.target_arguments.seed(),
    };
    scan_folders(&request, command.run_arguments.wait_for_drive)
}

fn measurement(command: &Data, resolved_target: &ResolvedTarget) -> Result<DataOptions, Failure> {
    let (read, write) = defaults::sequential_rates(&command.rated, resolved_target)?;
    let mut options = DataOptions {
        steps: command.steps,
        ops: command.op.clone(),
        tests: defaults::tests(&command.pattern, &command.block, &command.depth, Test::default_test)?,
        span: SPAN_USUAL,
        passes: command.passes,
        time: command.time,
        idle: command.idle,
        advertised_read_bytes_per_s: read,
        advertised_write_bytes_per_s: write,
        files: None,
    };
    if command.scan_only {
        options.steps = 0;
    } else {
        options.span = span(command, resolved_target, &options.tests)?;
    }
    Ok(options)
}

/// The span on the command line; the default otherwise, or less if the target is smaller.
fn span(command: &Data, resolved_target: &ResolvedTarget, tests: &[Test]) -> Result<u64, Failure> {
    if let Some(span) = command.span {
        return Ok(span);
    }
    let usable = resolved_target.usable_bytes()?;
    let block = tests.iter().map(|test| test.block).fold(PART_MIN, u64::max);
    let least = u64::from(command.steps).saturating_mul(block);
    if usable < least {
        return Err(Failure::Usage(wording::steps_do_not_fit(usable, command.steps, least)));
    }
    Ok(SPAN_USUAL.max(least).min(usable))
}
