//! `likenew verify`.

use likenew_core::plan::Plan;
use likenew_procedures::verify::VerifyOptions;

use crate::access::Access;
use crate::arguments::Verify;
use crate::exit::{Exit, Failure};
use crate::measure::{Request, measure, options};
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Approximate size of a folder's files, which every file system supports.
const FILE_BYTES_USUAL: u64 = 1 << 30;
/// Default number of random probes on a drive, unless that exceeds this part of it.
const PROBES_USUAL: u64 = 400;
const PROBES_SHARE: u64 = 16;

pub(crate) fn run(mut command: Verify) -> Result<Exit, Failure> {
    if command.target_arguments.seed.is_none() && !command.target_arguments.target.starts_with("sim:") {
        // Data of an earlier run is only told from this one's by its key, so each run has another.
        command.target_arguments.seed = Some(likenew_real::clock::new_seed().map_err(anyhow::Error::new)?);
    }
    let request = Request::for_target(
        &command.target_arguments,
        Access::writing(!command.read_only),
        &command.run_arguments,
    );
    measure(request, |target| plan(&command, &target.resolved).map(Some))
}

fn plan(command: &Verify, resolved_target: &ResolvedTarget) -> Result<Plan, Failure> {
    if command.block == 0 {
        return Err(Failure::Usage(wording::zero_block()));
    }
    if command.read_only && (resolved_target.is_folder() || !resolved_target.is_real()) {
        return Err(Failure::Usage(wording::READ_ONLY_NEEDS_A_DEVICE.into()));
    }
    if command.file_size.is_some() && !resolved_target.is_folder() {
        return Err(Failure::Usage(wording::FILE_SIZE_NEEDS_A_FOLDER.into()));
    }
    let usable = resolved_target.usable_bytes()?;
    let span = command.span.unwrap_or(usable);
    let (files, file_size) =
        if resolved_target.is_folder() { files(command, span)? } else { (1, command.block) };
    let usual =
        if resolved_target.is_folder() { 0 } else { PROBES_USUAL.min(span / PROBES_SHARE / command.block) };
    let probes = command.probes.unwrap_or(u32::try_from(usual).expect("it is at most the usual number"));
    if command.quick && probes == 0 {
        return Err(Failure::Usage(wording::quick_needs_space(span)));
    }
    let options = options(&VerifyOptions {
        files,
        file_size,
        span: command.span.filter(|_| !resolved_target.is_folder()),
        block: command.block,
        depth: command.depth,
        parts: command.parts,
        passes: command.passes,
        probes,
        quick: command.quick,
        full: command.full,
        read_only: command.read_only,
        idle: command.idle,
        cache: command.cache,
    });
    Ok(command.target_arguments.plan_of("verify", options))
}

/// As many files as fill the span, each of whole blocks.
fn files(command: &Verify, span: u64) -> Result<(u32, u64), Failure> {
    let each = command.file_size.unwrap_or_else(|| {
        let files = span.div_ceil(FILE_BYTES_USUAL).max(1);
        let each = span / files;
        each - each % command.block
    });
    let files = span.checked_div(each).unwrap_or(0);
    if files == 0 {
        return Err(Failure::Usage(wording::file_of_blocks(span, command.block)));
    }
    let files = u32::try_from(files).map_err(|_| Failure::Usage(wording::too_many_files(files)))?;
    Ok((files, each))
}
