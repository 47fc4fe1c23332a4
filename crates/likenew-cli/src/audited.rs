//! What is done to real drives is written down before and after it, and never done to one drive by two runs.

use std::path::Path;

use likenew_archive::{Agreed, AuditEntry, AuditLog, AuditOutcome, AuditStep, AuditedDrive};
use likenew_real::clock::wall_date;
use likenew_real::consent::Loss;
use likenew_real::drive_lock::DriveLock;

use crate::aim::Aim;
use crate::exit::{Exit, Failure};

/// A step that was announced, and the lock on what it is done to; nothing of a simulated drive.
pub(crate) struct Audited {
    step: Option<(AuditLog, AuditStep)>,
    _lock: Option<DriveLock>,
}

impl Audited {
    /// Locks the drives and writes down what is about to be done: `action` as data, `asked` in words.
    ///
    /// # Errors
    /// Another run has one of the drives, or the log can not be written.
    pub(crate) fn begin(aim: &Aim, action: &str, asked: &str) -> Result<Self, Failure> {
        let Some(path) = aim.path() else { return Ok(Self { step: None, _lock: None }) };
        let lock = DriveLock::take(path, &format!("{action} {}", path.display()))?;
        let place = AuditLog::default_path(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?;
        let mut log = AuditLog::open(place).map_err(anyhow::Error::new)?;
        let step = log.begin(entry(aim, path, action, asked)?).map_err(anyhow::Error::new)?;
        Ok(Self { step: Some((log, step)), _lock: Some(lock) })
    }

    /// Writes down how it ended.
    ///
    /// # Errors
    /// The log can not be written.
    pub(crate) fn end(self, exit: Exit) -> Result<(), Failure> {
        let Some((mut log, step)) = self.step else { return Ok(()) };
        let complete = matches!(exit, Exit::Fine | Exit::Problem);
        let said = format!("exit code {}", exit as i32);
        let outcome = AuditOutcome { complete, said, bytes_asked: 0, bytes_done: 0 };
        log.end(step, wall_date(), outcome).map_err(anyhow::Error::new)?;
        Ok(())
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
