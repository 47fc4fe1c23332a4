//! Probes of a simulated drive: what its layers report, and what its own reads and clock show of TRIM. None
//! of them asks the model for the answer; whether a range is trimmed shows in how it reads.

use likenew_core::drive::Drive as _;
use likenew_core::feasibility::Feasibility;
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::trim::{ReadBack, ReadBackResult, UNIT, pattern};

use super::current_facts::current_facts;
use super::host::Host;
use super::{SimDrive, fixing};
use crate::wording::host as wording;

/// Answers a probe.
pub(super) fn probe(drive: &mut SimDrive, probe: &Probe) -> Result<ProbeResult, LabError> {
    let unknown = |reason: &str| ProbeResult::Unknown(reason.to_owned());
    Ok(match probe {
        Probe::Facts => match current_facts(drive) {
            Some(facts) => ProbeResult::Facts(Box::new(facts)),
            None => unknown(wording::NO_FACTS),
        },
        Probe::OldFiles => unknown(wording::NO_OLD_FILES),
        Probe::Extents => unknown(wording::NO_FILE_SYSTEM),
        Probe::TrimPath if drive.static_facts().is_none() => unknown(wording::NO_FACTS),
        Probe::TrimPath => ProbeResult::TrimPath(drive.trim_path().clone()),
        Probe::TrimClaims => unknown(wording::NO_TRIM_DETAILS),
        Probe::TrimReadBack(_) | Probe::Release { .. } if !drive.geometry().trims => {
            unknown(wording::NO_TRIM)
        }
        Probe::TrimReadBack(asked) if asked.bytes_written() > drive.geometry().capacity => {
            unknown(wording::TOO_SMALL)
        }
        Probe::TrimReadBack(asked) => ProbeResult::TrimReadBack(Box::new(read_back(drive, asked)?)),
        Probe::Feasibility => ProbeResult::Feasibility(Feasibility::default()),
        Probe::Fix(fix) => fixing::fix(drive, fix)?,
        Probe::Release { offset, bytes, wait } => {
            let mut host = Host::new(drive)?;
            let sent = host.trim(*offset, *bytes)?;
            // Some drives act on TRIM only when idle.
            host.rest(*wait)?;
            ProbeResult::Released(sent)
        }
    })
}

/// Writes two halves, trims the second, and reads both.
fn read_back(drive: &mut SimDrive, asked: &ReadBack) -> Result<ReadBackResult, LabError> {
    let carries_data = drive.geometry().carries_data;
    let mut host = Host::new(drive)?;
    let (seed, bytes) = (asked.seed, asked.bytes);
    let mut result = ReadBackResult { bytes_written: asked.bytes_written(), ..ReadBackResult::default() };
    host.write(seed, asked.bytes_written())?;
    if carries_data {
        result.before_release = Some(host.content(seed, 0, asked.bytes_written())?);
    } else {
        result.read_error = Some(wording::HOLDS_NO_BYTES.to_owned());
    }
    result.sent = host.trim(bytes, bytes)?;
    if carries_data {
        result.released_half = Some(host.content(seed, bytes, bytes)?);
    }
    if result.released_half.is_none_or(|content| content.pattern_bytes > 0) {
        host.rest(asked.wait)?;
        result.released_half_later =
            if carries_data { Some(host.content(seed, bytes, bytes)?) } else { None };
    }
    if carries_data {
        result.kept_half = Some(host.content(seed, 0, bytes)?);
    }
    let units = bytes / UNIT as u64;
    let mut draw = [0; UNIT];
    for probe in 0..u64::from(asked.probes) {
        pattern(!seed, probe, &mut draw);
        let word = |at: usize| u64::from_le_bytes(draw[at..at + 8].try_into().expect("eight bytes"));
        let (kept, released) = (word(0) % units, units + word(8) % units);
        result.probes_kept_ns.push(host.probe(kept)?.0);
        result.probes_released_ns.push(host.probe(released)?.0);
    }
    Ok(result)
}
