//! A folder as a drive of files: it measures what a user of that folder gets, and touches nothing of the
//! user's.

use std::path::Path;

use likenew_core::drive::Kind;
use likenew_core::lab_error::LabError;
use likenew_core::procedure::Layout;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::exact_size;
use rustix::fs::{Mode, OFlags, openat};

use crate::direct_io::DirectIo;
use crate::drive::RealDrive;
use crate::engine::{Carrier, Engine};
use crate::identify::{DeviceInfo, resolve};
use crate::lab_error::not_possible;
use crate::scratch::{MARKER, Scratch, is_scratch, open_folder};
use crate::space::Space;
use crate::table::{FileTable, check_descriptors};
use crate::wording::action;
use crate::wording::scratch as wording;

/// Bytes of all files.
///
/// # Errors
/// A sentence, when there are none or too many.
fn layout_bytes(layout: Layout) -> Result<u64, LabError> {
    let Layout { files, file_bytes } = layout;
    let bytes = u64::from(files).checked_mul(file_bytes).filter(|bytes| (1..1 << 62).contains(bytes));
    bytes.ok_or_else(|| LabError::Unsuitable(wording::empty_layout(files, file_bytes)))
}

fn check_block(layout: Layout, block: u32, folder: &Path) -> Result<(), LabError> {
    if layout.file_bytes.is_multiple_of(u64::from(block)) {
        return Ok(());
    }
    Err(LabError::Unsuitable(wording::layout_not_aligned(
        layout.file_bytes,
        &exact_size(block.into()),
        folder.display(),
    )))
}

/// Opens `folder` as a drive of files of our own, in free space only and with a reserve that stays free.
///
/// # Errors
/// Refusals of [`Scratch::create`]; a layout that does not fit; no means to carry the I/O.
pub(crate) fn open(
    folder: &Path,
    layout: Layout,
    reserve: Option<u64>,
    engine: Engine,
) -> Result<RealDrive<FileTable>, LabError> {
    if is_scratch(folder) {
        return Err(LabError::Unsuitable(wording::is_scratch_folder(folder.display())));
    }
    let carrier = Carrier::choose(engine)?;
    let capacity = layout_bytes(layout)?;
    check_descriptors(layout.files.into())?;
    let space = Space::query(open_folder(folder)?, folder, reserve)?;
    space.check(capacity, folder)?;
    let scratch = Scratch::create(folder)?;
    let open_marker = |flags| openat(scratch.directory(), MARKER, OFlags::CLOEXEC | flags, Mode::empty());
    let (_, direct) = DirectIo::open(open_marker)
        .map_err(|errno| not_possible(action::OPEN_FILE_IN, scratch.path(), errno))?;
    check_block(layout, direct.block, folder)?;
    let mut info = DeviceInfo::of_mount(scratch.directory());
    if scratch.is_set_to_write_in_place() {
        info.add_writing_in_place();
    }
    info.add_resolution(folder, &resolve(folder));
    info.caveats.extend(direct.caveat());
    info.facts.push(("files".into(), format!("{} × {}", layout.files, exact_size(layout.file_bytes))));
    let geometry = Geometry {
        capacity,
        block: direct.block,
        boundary: Some(layout.file_bytes),
        writable: true,
        trims: true,
        carries_data: true,
        clock: Clock::Wall,
    };
    let table = FileTable::new(scratch, geometry, direct.flags, space.reserve_bytes)?;
    Ok(RealDrive::new(folder, Kind::Folder, table, carrier, info))
}
