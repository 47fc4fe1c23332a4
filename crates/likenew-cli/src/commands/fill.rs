//! `likenew fill`.

use likenew_core::plan::Plan;
use likenew_core::units::amount;
use likenew_procedures::fill::FillOptions;

use crate::aim::Aim;
use crate::arguments::Fill;
use crate::exit::{Exit, Failure};
use crate::measure::{measure, options, print_plan};

/// Without other wishes the space is divided into as many files as the first study of this kind used, unless they would
/// become smaller than this.
const FILES_USUAL: u64 = 1000;
const FILE_BYTES_LEAST: u64 = 16 << 20;

pub(crate) fn run(command: Fill) -> Result<Exit, Failure> {
    let mut aim = Aim::take(&command.on.target, &command.how)?;
    aim.refuse_writing()?;
    aim.clear_leftover(&command.how)?;
    let plan = plan(&command, &aim)?;
    if command.on.plan {
        return print_plan(&plan);
    }
    measure(plan, &aim, &command.how)
}

fn plan(command: &Fill, aim: &Aim) -> Result<Plan, Failure> {
    if command.block == 0 {
        return Err(Failure::Usage("--block 0: a write moves at least one sector".into()));
    }
    let (files, file_size) = files(command, aim)?;
    let options = options(&FillOptions {
        files,
        file_size,
        block: command.block,
        depth: command.depth,
        data: command.data,
        stall: command.stall,
    });
    let target = Some(command.on.target.clone());
    Ok(Plan { schema: 1, procedure: "fill".into(), target, seed: command.on.seed, options })
}

/// How many files of how many bytes: as asked for, and otherwise such that they fill the space.
fn files(command: &Fill, aim: &Aim) -> Result<(u32, u64), Failure> {
    if let (Some(files), Some(file_size)) = (command.files, command.file_size) {
        return Ok((files, file_size));
    }
    let usable = aim.usable_bytes()?;
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
        let there = amount(usable);
        return Err(Failure::Usage(format!("{there} are too little for that: give fewer or smaller files")));
    }
    let files = u32::try_from(files)
        .map_err(|_| Failure::Usage(format!("{files} files are too many: give larger ones")))?;
    Ok((files, file_size))
}
