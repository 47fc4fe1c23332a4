//! `likenew fill`.

use likenew_core::plan::Plan;
use likenew_procedures::fill::FillOptions;

use crate::access::Access;
use crate::arguments::Fill;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// By default the space is divided into as many files as in the first study of this kind, unless they would
/// be smaller than this.
const FILES_USUAL: u64 = 1000;
const FILE_BYTES_LEAST: u64 = 16 << 20;

pub(crate) fn run(command: Fill) -> Result<Exit, Failure> {
    let request = Request::for_target(&command.target_arguments, Access::Write, &command.run_arguments);
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Fill, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    if command.block == 0 {
        return Err(Failure::Usage(wording::zero_block()));
    }
    let Files { files, file_size, parts } = files(command, resolved_target)?;
    let options = options(&FillOptions {
        files,
        file_size,
        block: command.block,
        depth: command.depth,
        from: command.from,
        parts,
        passes: command.passes,
        read_back: command.read_back,
        data: command.data,
        stall: command.stall,
    });
    Ok(command.target_arguments.plan_of("fill", options))
}

/// How the space is divided.
struct Files {
    files: u32,
    file_size: u64,
    parts: u32,
}

/// From the command line, and otherwise such that they fill the space.
fn files(command: &Fill, resolved_target: &ResolvedTarget) -> Result<Files, Failure> {
    if command.from > 0 && matches!(resolved_target, ResolvedTarget::Real(..)) {
        return Err(Failure::Usage(wording::FROM_ON_REAL.into()));
    }
    if let (Some(files), Some(file_size)) = (command.files, command.file_size) {
        return Ok(Files { files, file_size, parts: 1 });
    }
    let usable = match (command.one_file, command.file_size) {
        (true, Some(file_size)) => file_size,
        _ => resolved_target.usable_bytes()?.saturating_sub(command.from),
    };
    if command.one_file {
        return one_file(command, usable);
    }
    let files = match (command.files, command.file_size) {
        (Some(files), _) => u64::from(files.max(1)),
        (None, Some(file_size)) => usable / file_size.max(1),
        (None, None) => (usable / FILE_BYTES_LEAST).clamp(1, FILES_USUAL),
    };
    let file_size = command.file_size.unwrap_or_else(|| {
        let each = usable / files;
        each - each % command.block
    });
    if files == 0 || file_size == 0 {
        return Err(too_little(usable));
    }
    let files = u32::try_from(files).map_err(|_| Failure::Usage(wording::too_many_files(files)))?;
    Ok(Files { files, file_size, parts: 1 })
}

/// A single file of whole parts of whole blocks.
fn one_file(command: &Fill, bytes: u64) -> Result<Files, Failure> {
    let usual = (bytes / FILE_BYTES_LEAST).clamp(1, FILES_USUAL) as u32;
    let parts = command.parts.unwrap_or(usual).max(1);
    let step = command.block.saturating_mul(u64::from(parts));
    let file_size = bytes - bytes % step;
    if file_size == 0 {
        return Err(too_little(bytes));
    }
    Ok(Files { files: 1, file_size, parts })
}

fn too_little(usable: u64) -> Failure {
    Failure::Usage(wording::files_do_not_fit(usable))
}
