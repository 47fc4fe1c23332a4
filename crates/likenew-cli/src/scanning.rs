//! Scans a user's folders, with a progress line, and adds the result to a plan.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use likenew_procedures::data::files::{FileScan, FileType};
use likenew_real::scan::{GroupScan, Progress, Refusals, Request, Scan, ScanError, scan};

use crate::exit::Failure;
use crate::interrupt;
use crate::locking::lock;
use crate::wording;

/// The contents of these folders; `None` if the user stopped the scan. Their drives are locked.
pub(crate) fn scan_folders(request: &Request, wait: bool) -> Result<Option<FileScan>, Failure> {
    interrupt::listen()?;
    let folders: Vec<&Path> = request.folders.iter().map(PathBuf::as_path).collect();
    let Some(_lock) = lock(&folders, wait)? else { return Ok(None) };
    let bar = ProgressBar::new_spinner();
    let style = "{spinner} {elapsed}  {msg}";
    bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
    let mut watch = |progress: Progress| {
        bar.set_message(progress_text(&progress));
        bar.tick();
        if interrupt::is_requested() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let found = scan(request, &mut watch);
    bar.finish_and_clear();
    match found {
        Ok(found) => {
            name(&found.refusals);
            as_options(found, &folders).map(Some)
        }
        Err(ScanError::Interrupted) => Ok(None),
        Err(ScanError::LabError(lab_error)) => Err(lab_error.into()),
    }
}

fn progress_text(progress: &Progress) -> String {
    let Progress { files, bytes, sampled_bytes, sample_bytes } = *progress;
    wording::scan_progress(files, bytes, sample_bytes.map(|all| (sampled_bytes, all)))
}

/// Names are only for the user at the terminal; neither plan nor report keeps them.
fn name(refusals: &Refusals) {
    for (path, kind) in &refusals.examples {
        crate::standard_error::note(wording::unreadable_file(path, kind));
    }
    let more = refusals.count - refusals.examples.len() as u64;
    if more > 0 {
        crate::standard_error::note(wording::more_unreadable(more));
    }
}

fn as_options(found: Scan, folders: &[&Path]) -> Result<FileScan, Failure> {
    let Scan { groups, refusals, other_file_systems, out_of_time } = found;
    if groups.iter().all(|group| group.bytes == 0) {
        let folders: Vec<String> = folders.iter().map(|folder| folder.display().to_string()).collect();
        return Err(Failure::Usage(wording::no_files(&folders)));
    }
    let of = |group: &GroupScan| {
        let (unit_share, zip_share): (Vec<f64>, Vec<f64>) =
            group.pieces.iter().map(|piece| (piece.unit_share, piece.zip_share)).unzip();
        let GroupScan { files, bytes, sampled_bytes, .. } = *group;
        FileType::of_pieces(group.group.name(), files, bytes, sampled_bytes, &unit_share, &zip_share)
    };
    let types = groups.iter().map(of).collect();
    Ok(FileScan { unreadable: refusals.count, other_file_systems, out_of_time, types })
}
