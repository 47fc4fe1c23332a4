//! `likenew surface`.

use likenew_core::plan::Plan;
use likenew_procedures::surface::SurfaceOptions;

use crate::access::Access;
use crate::arguments::Surface;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Default size of a folder's temporary files, if there is room.
const SPAN_OF_FOLDER: u64 = 1 << 30;
/// The span of a folder is a multiple of this, so that I/Os divide it.
const SPAN_STEP: u64 = 1 << 20;
const BYTES_USUAL: u64 = 8 << 20;
const POINTS_USUAL: u64 = 100;
/// Fewest I/Os of a point on a small target, so that its speed means something.
const IOS_LEAST: u64 = 4;

pub(crate) fn run(command: Surface) -> Result<Exit, Failure> {
    let request = Request::for_target(
        &command.target_arguments,
        Access::writing(command.op().writes()),
        &command.run_arguments,
    );
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Surface, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    let usable = resolved_target.usable_bytes()?;
    let span = match command.span {
        None if resolved_target.is_folder() => Some(SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP)),
        span => span,
    };
    let (points, bytes) = points(command, span.unwrap_or(usable))?;
    let options = options(&SurfaceOptions {
        op: command.op(),
        points,
        bytes,
        block: command.block,
        depth: command.depth,
        whole: command.whole,
        span,
        probes: command.probes,
        probe_block: command.probe_block,
        burst: command.burst,
        retests: command.retests,
        time: command.time,
        data: command.data,
    });
    Ok(command.target_arguments.plan_of("surface", options))
}

/// Number and size of points: from the command line; otherwise the defaults, or as many as fit.
fn points(command: &Surface, span: u64) -> Result<(u32, u64), Failure> {
    let block = command.block.max(1);
    let fit = span / command.bytes.unwrap_or(block.saturating_mul(IOS_LEAST)).max(1);
    let usual = u32::try_from(fit.clamp(2, POINTS_USUAL)).expect("it is at most the usual number");
    let points = command.points.unwrap_or(usual);
    let most = (span / u64::from(points.max(1))).min(BYTES_USUAL.max(block));
    let bytes = command.bytes.unwrap_or(most - most % block);
    if bytes == 0 && command.bytes.is_none() {
        return Err(Failure::Usage(wording::points_do_not_fit(points, block, span)));
    }
    Ok((points, bytes))
}
