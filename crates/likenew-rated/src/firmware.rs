//! Known faults of firmware, by the model and the version that a drive reports.

use std::sync::LazyLock;

use likenew_core::facts::Drive;
use wildmatch::WildMatch;

use crate::book::{FirmwareFault, plain};

/// A fault, with the patterns of the models and versions that have it.
struct Line {
    fault: &'static FirmwareFault,
    models: Vec<WildMatch>,
    versions: Vec<WildMatch>,
}

/// Every fault, in the order of the file.
static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
    let matcher = |pattern: &str| WildMatch::new(&plain(pattern));
    let line = |fault: &'static FirmwareFault| Line {
        fault,
        models: fault.models().map(matcher).collect(),
        versions: fault.versions().map(matcher).collect(),
    };
    crate::book().faults.iter().map(line).collect()
});

/// The known faults of this model and version of firmware: at most one that its owner meets under Linux, then
/// at most one that Linux avoids. Empty if the version is not known.
pub fn firmware_faults(model: &str, firmware: Option<&str>) -> Vec<&'static FirmwareFault> {
    let Some(version) = firmware.map(plain).filter(|version| !version.is_empty()) else { return Vec::new() };
    let model = plain(model);
    let is_it = |line: &&Line| {
        line.models.iter().any(|pattern| pattern.matches(&model))
            && line.versions.iter().any(|pattern| pattern.matches(&version))
    };
    let mut faults: Vec<_> = LINES.iter().filter(is_it).map(|line| line.fault).collect();
    faults.sort_by_key(|fault| fault.linux_avoids);
    faults
}

/// The known faults of the drive behind these facts; empty for a drive of a hypervisor or a cloud.
pub fn firmware_faults_of(drive: &Drive) -> Vec<&'static FirmwareFault> {
    let Some(model) = drive.identity.model.value().filter(|_| drive.is_real()) else { return Vec::new() };
    firmware_faults(model, drive.identity.firmware.value().map(String::as_str))
}

#[cfg(test)]
mod tests;
