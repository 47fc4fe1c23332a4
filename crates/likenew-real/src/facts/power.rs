//! Power policies that affect a drive's latency.

use likenew_core::facts::{DriveKind, Fact, Power};

use super::subject::Subject;
use crate::wording::facts as wording;

/// What is set for the drive and its link.
pub(crate) fn power(subject: &Subject<'_>) -> Power {
    let roots = subject.roots;
    let aspm = || {
        let policy = roots.line("/sys/module/pcie_aspm/parameters/policy");
        policy.and_then(wording::NO_POLICY, |all| Some(all.split_once('[')?.1.split_once(']')?.0.to_owned()))
    };
    let host = subject
        .folder
        .split('/')
        .find(|part| part.strip_prefix("host").is_some_and(|number| number.parse::<u32>().is_ok()));
    let link_policy = || match host {
        Some(host) => roots.line(&format!("/sys/class/scsi_host/{host}/link_power_management_policy")),
        None => Fact::NotQueried,
    };
    let runtime = subject.line("device/power/control");
    match subject.kind {
        DriveKind::Nvme => Power {
            aspm_policy: aspm(),
            wake_us_max: roots.number("/sys/module/nvme_core/parameters/default_ps_max_latency_us"),
            runtime,
            ..Power::default()
        },
        DriveKind::Sata => Power { link_policy: link_policy(), runtime, ..Power::default() },
        DriveKind::Usb | DriveKind::Scsi | DriveKind::Card => Power { runtime, ..Power::default() },
        _ => Power::default(),
    }
}
