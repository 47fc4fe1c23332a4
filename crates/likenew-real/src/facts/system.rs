//! This machine as the source of answers: by ioctls, system calls, and two programs.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use likenew_core::probe::FACTS_WAIT;
use rustix::fs::{Mode, OFlags, open, statvfs};
use rustix::io::Errno;

use super::machine_query::{MachineQuery, Question, Refusal, SMARTCTL_ARGUMENTS, SpaceUsage};
use super::program;
use crate::clock::Monotonic;
use crate::wording::facts as wording;
use crate::{ata_command, nvme_admin};

/// What the kernel has kept of its log is not much longer.
const LOG_BYTES_MAX: usize = 8 << 20;
/// A program that takes longer is waiting for a drive that does not answer. Chosen: queries of drives that
/// answer take well under a second.
const PROGRAM_TIME: Duration = Duration::from_secs(10);

/// This machine.
pub(crate) struct System;

impl MachineQuery for System {
    fn query(&self, device: &str, question: Question) -> Result<Vec<u8>, Refusal> {
        match question {
            Question::KernelLog => kernel_log(),
            // It hides keys by default.
            Question::MapperTable => run("dmsetup", &["table"], device),
            Question::Smartctl => run("smartctl", &SMARTCTL_ARGUMENTS, device),
            Question::NvmeController => {
                nvme(device, nvme_admin::ReadCommand::Controller).map(|(answer, _)| answer)
            }
            Question::NvmeNamespace => {
                nvme(device, nvme_admin::ReadCommand::Namespace).map(|(answer, _)| answer)
            }
            Question::NvmeLog(page @ 0xC0.., bytes) => {
                nvme(device, nvme_admin::ReadCommand::LogOfFirst(page, bytes)).map(|(answer, _)| answer)
            }
            Question::NvmeLog(page, bytes) => {
                nvme(device, nvme_admin::ReadCommand::Log(page, bytes)).map(|(answer, _)| answer)
            }
            Question::NvmeFeature(feature) => {
                let (data, value) = nvme(device, nvme_admin::ReadCommand::Feature(feature))?;
                Ok([&value.to_le_bytes()[..], &data].concat())
            }
            Question::AtaIdentify => {
                let identify = ata_command::identify(open_device(device)?).map_err(refusal)?;
                Ok(identify.to_bytes())
            }
            Question::AtaSmartData => ata(device, ata_command::ReadCommand::SmartData),
            Question::AtaSmartThresholds => ata(device, ata_command::ReadCommand::SmartThresholds),
            Question::AtaLog(log, page) => ata(device, ata_command::ReadCommand::Log(log, page)),
        }
    }

    fn space_usage(&self, path: &str) -> Result<SpaceUsage, Refusal> {
        let of = statvfs(path).map_err(refusal)?;
        let bytes = |blocks: u64| blocks.saturating_mul(of.f_frsize);
        Ok(SpaceUsage {
            total_bytes: bytes(of.f_blocks),
            free_bytes: bytes(of.f_bfree),
            available_bytes: bytes(of.f_bavail),
        })
    }

    fn is_root(&self) -> bool {
        rustix::process::geteuid().is_root()
    }

    fn now_s(&self) -> i64 {
        jiff::Timestamp::now().as_second()
    }

    fn pause_s(&self) -> f64 {
        let clock = Monotonic::start();
        clock.rest(FACTS_WAIT);
        clock.now().as_secs_f64()
    }
}

fn refusal(errno: Errno) -> Refusal {
    match errno {
        Errno::ACCESS | Errno::PERM => Refusal::Rights,
        Errno::NOTTY | Errno::OPNOTSUPP | Errno::INVAL => {
            Refusal::Other(wording::UNSUPPORTED_QUERY.to_owned())
        }
        errno => Refusal::Other(wording::no_answer(errno)),
    }
}

fn open_device(device: &str) -> Result<OwnedFd, Refusal> {
    let path = PathBuf::from("/dev").join(device.replace('!', "/"));
    open(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).map_err(refusal)
}

fn nvme(device: &str, what: nvme_admin::ReadCommand) -> Result<(Vec<u8>, u32), Refusal> {
    nvme_admin::read(open_device(device)?, what).map_err(refusal)
}

fn ata(device: &str, what: ata_command::ReadCommand) -> Result<Vec<u8>, Refusal> {
    ata_command::read(open_device(device)?, what).map_err(refusal)
}

/// Everything that the kernel still has of its log. Each read gives one record, and nothing is waited for.
fn kernel_log() -> Result<Vec<u8>, Refusal> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let log = open("/dev/kmsg", flags, Mode::empty()).map_err(refusal)?;
    let (mut all, mut record) = (Vec::new(), vec![0; 8192]);
    while all.len() < LOG_BYTES_MAX {
        match rustix::io::read(&log, &mut record[..]) {
            Ok(0) | Err(Errno::AGAIN) => break,
            Ok(length) => all.extend_from_slice(&record[..length]),
            // A record was overwritten while it was to be read; the next one is there.
            Err(Errno::PIPE) => {}
            // Longer than any that the kernel writes.
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(refusal(errno)),
        }
    }
    Ok(all)
}

/// The output of a program about a device. Programs are used where there is no other way, and none of them is
/// required.
fn run(program: &str, arguments: &[&str], device: &str) -> Result<Vec<u8>, Refusal> {
    if !rustix::process::geteuid().is_root() {
        return Err(Refusal::Rights);
    }
    let device = format!("/dev/{}", device.replace('!', "/"));
    program::output(Path::new(program), &[arguments, &[&*device]].concat(), PROGRAM_TIME)
}
