//! `likenew trim`.

use likenew_core::plan::Plan;
use likenew_procedures::trim::{HALF_STEP, TrimOptions};

use crate::access::Access;
use crate::arguments::Trim;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Default span of a folder for measuring the effect of TRIM, if there is room: it is written again and
/// again.
const SPAN_OF_FOLDER: u64 = 1 << 30;
/// Largest span of a simulated drive, which already takes long to fill.
const SPAN_OF_DRIVE: u64 = 64 << 30;

pub(crate) fn run(command: Trim) -> Result<Exit, Failure> {
    // A file or a device is only queried, which needs no permission to write.
    let request = Request::for_target(&command.target_arguments, Access::Read, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Trim, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let worth = !command.no_worth && resolved_target.is_writable();
    let options = options(&TrimOptions {
        bytes: bytes(command),
        wait: command.wait,
        probes: command.probes,
        raw: !command.no_raw,
        worth,
        span: if worth { span(command, resolved_target)? } else { None },
        time: command.time,
        depth: command.depth,
        passes: command.passes,
    });
    Ok(command.target_arguments.plan_of("trim", options))
}

fn bytes(command: &Trim) -> u64 {
    command.bytes.unwrap_or(TrimOptions::default().bytes)
}

/// From the command line; otherwise the default. A simulated drive that is used as a whole needs no number.
fn span(command: &Trim, resolved_target: &ResolvedTarget) -> Result<Option<u64>, Failure> {
    let usable = resolved_target.usable_bytes()?;
    let (usual, step) =
        (if resolved_target.is_folder() { SPAN_OF_FOLDER } else { SPAN_OF_DRIVE }, 2 * HALF_STEP);
    // The file that is read back needs space as well.
    let room = if resolved_target.is_folder() {
        usable.saturating_sub(bytes(command).saturating_mul(2))
    } else {
        usable
    };
    let least = |bytes: u64| (bytes - bytes % HALF_STEP).max(HALF_STEP).saturating_mul(2);
    match command.span.or(command.bytes.filter(|_| resolved_target.is_folder()).map(least)) {
        Some(span) => Ok(Some(span)),
        None if !resolved_target.is_folder() && usable <= usual => Ok(None),
        None if room < step => Err(Failure::Usage(wording::trim_does_not_fit(usable, step))),
        None => Ok(Some(usual.min(room - room % step))),
    }
}
