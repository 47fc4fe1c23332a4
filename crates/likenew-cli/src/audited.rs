//! What is done to real drives is written down before and after it.

use std::path::Path;

use likenew_archive::{Agreed, AuditEntry, AuditLog, AuditOutcome, AuditStep, AuditedDrive};
use likenew_real::clock::wall_date;
use likenew_real::consent::{Loss, UnusedSpace};
use likenew_real::open::Place;
use likenew_report::document::Document;

use crate::aim::Aim;
use crate::arguments::Output;
use crate::exit::{Exit, Failure};
use crate::measure::Show;
use crate::output;

/// Does something to drives that the caller has locked: writes down what is about to be done, `action` as data and `asked` in words, does it, shows the
/// report, and writes down how it ended. Of a simulated drive nothing is written down.
///
/// # Errors
/// The log cannot be written; or those of what is done.
pub(crate) fn audited(
    aim: &Aim,
    action: &str,
    asked: &str,
    shown: &Output,
    act: impl FnOnce(&mut Show<'_>) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let begun = aim.path().map(|path| begin(aim, path, action, asked)).transpose()?;
    let mut done = Done::default();
    let ended = act(&mut |document| {
        done = Done::of(&document);
        output::put(vec![document], shown)
    });
    if let Some(Begun { mut log, step }) = begun {
        let exit = ended.as_ref().map_or_else(Failure::exit, |exit| *exit);
        let outcome = AuditOutcome {
            complete: matches!(exit, Exit::Fine | Exit::Problem),
            said: format!("exit code {}", exit as i32),
            bytes_asked: done.bytes_asked,
            bytes_done: done.bytes,
        };
        log.end(step, wall_date(), outcome).map_err(anyhow::Error::new)?;
    }
    ended
}

/// A step that was announced.
struct Begun {
    log: AuditLog,
    step: AuditStep,
}

fn begin(aim: &Aim, path: &Path, action: &str, asked: &str) -> Result<Begun, Failure> {
    let place = AuditLog::default_path(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?;
    let mut log = AuditLog::open(place).map_err(anyhow::Error::new)?;
    let step = log.begin(entry(aim, path, action, asked)?).map_err(anyhow::Error::new)?;
    Ok(Begun { log, step })
}

/// How much was done, of what was to be.
#[derive(Clone, Copy, Default)]
struct Done {
    bytes_asked: u64,
    bytes: u64,
}

impl Done {
    /// Of all steps that a report tells of.
    fn of(document: &Document) -> Self {
        let rows = document.tables.get("steps");
        let sum = |key| rows.into_iter().flatten().filter_map(|row| row.get(key)?.as_u64()).sum::<u64>();
        Self { bytes_asked: sum("bytes") + sum("bytes_left_out"), bytes: sum("bytes") }
    }
}

fn entry(aim: &Aim, path: &Path, action: &str, asked: &str) -> Result<AuditEntry, Failure> {
    let (drive, agreed) = match aim {
        Aim::Overwritten(path, _, agreement) => {
            let Loss { id, model, bytes, .. } = Loss::at(path)?;
            let drive = AuditedDrive {
                id: id.text,
                id_kind: id.kind.to_owned(),
                model,
                firmware: None,
                path: path.clone(),
                bytes,
            };
            (drive, Agreed { id: agreement.id.clone(), destroy: agreement.destroy.clone() })
        }
        Aim::Kept(path, place, agreement, _) => {
            let (id, model, bytes) = match place {
                Place::Folder { .. } => {
                    let UnusedSpace { id, model, .. } = UnusedSpace::under(path)?;
                    (id, model, 0)
                }
                Place::File { .. } | Place::Device { .. } => {
                    let Loss { id, model, bytes, .. } = Loss::at(path)?;
                    (id, model, bytes)
                }
            };
            let (id, id_kind) = (id.text, id.kind.to_owned());
            let drive = AuditedDrive { id, id_kind, model, firmware: None, path: path.clone(), bytes };
            (drive, Agreed { id: agreement.id.clone(), destroy: Vec::new() })
        }
        _ => (AuditedDrive { path: path.to_owned(), ..AuditedDrive::default() }, Agreed::default()),
    };
    Ok(AuditEntry {
        schema: 0,
        at: wall_date(),
        likenew: env!("CARGO_PKG_VERSION").to_owned(),
        kernel: std::fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
        process: 0,
        step: 0,
        action: action.to_owned(),
        asked: asked.to_owned(),
        drive,
        agreed,
        outcome: None,
    })
}
