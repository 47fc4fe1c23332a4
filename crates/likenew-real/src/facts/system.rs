//! This machine as the source of answers: by ioctls, system calls, and two programs.

use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use likenew_core::facts::Fact;
use likenew_core::probe::FACTS_WAIT;
use likenew_core::units::Nanos;
use rustix::fs::{Mode, OFlags, open, statvfs};
use rustix::io::Errno;

use super::machine::{MachineQuery, Question, Refusal, SMARTCTL_ARGUMENTS, SpaceUsage};
use super::smartctl_device;
use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::drive_commands::{NvmeCommand, identify_ata, read_ata, read_nvme};
use crate::wording::facts as wording;

/// Most bytes of the kernel's log that are read; the kernel does not keep much more.
const LOG_BYTES_MAX: usize = 8 << 20;
/// Time limit of a program: one that takes longer is waiting for a drive that does not answer. Chosen:
/// queries of drives that answer take well under a second.
const PROGRAM_TIME: Duration = Duration::from_secs(10);

/// This machine.
pub(crate) struct System;

impl MachineQuery for System {
    fn query(&self, device: &str, question: Question<'_>) -> Result<Vec<u8>, Refusal> {
        match question {
            Question::KernelLog => kernel_log(),
            // dmsetup hides keys by default.
            Question::MapperTable => run("dmsetup", &["table"], device),
            Question::Smartctl(device_type) => {
                let told = device_type.map(|device_type| ["-d", device_type]);
                run(
                    "smartctl",
                    &[&SMARTCTL_ARGUMENTS[..], told.as_ref().map_or(&[], |told| told)].concat(),
                    device,
                )
            }
            Question::SmartctlScan => output(Path::new("smartctl"), &["--json=c", "--scan"], PROGRAM_TIME),
            Question::Nvme(command) => {
                let (data, value) = read_nvme(open_device(device)?, command).map_err(refusal)?;
                Ok(match command {
                    NvmeCommand::Feature(_) => [&value.to_le_bytes()[..], &data].concat(),
                    _ => data,
                })
            }
            Question::AtaIdentify => Ok(identify_ata(open_device(device)?).map_err(refusal)?.to_bytes()),
            Question::Ata(command) => read_ata(open_device(device)?, command).map_err(refusal),
        }
    }

    fn smartctl_device(&self, device: &BlockDevice) -> Fact<String> {
        smartctl_device::remembered(device)
    }

    fn space_usage(&self, path: &str) -> Result<SpaceUsage, Refusal> {
        let usage = statvfs(path).map_err(refusal)?;
        let bytes = |blocks: u64| blocks.saturating_mul(usage.f_frsize);
        Ok(SpaceUsage {
            total_bytes: bytes(usage.f_blocks),
            free_bytes: bytes(usage.f_bfree),
            available_bytes: bytes(usage.f_bavail),
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

/// Everything that the kernel still has of its log. Each read gives one record, and nothing is waited for.
fn kernel_log() -> Result<Vec<u8>, Refusal> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let log = open("/dev/kmsg", flags, Mode::empty()).map_err(refusal)?;
    let (mut text, mut record) = (Vec::new(), vec![0; 8192]);
    while text.len() < LOG_BYTES_MAX {
        match rustix::io::read(&log, &mut record[..]) {
            Ok(0) | Err(Errno::AGAIN) => break,
            Ok(length) => text.extend_from_slice(&record[..length]),
            // The record was overwritten before it was read; the next one is there.
            Err(Errno::PIPE) => {}
            // A record longer than any that the kernel writes.
            Err(Errno::INVAL) => break,
            Err(errno) => return Err(refusal(errno)),
        }
    }
    Ok(text)
}

/// The output of a program about a device. Programs are used where there is no other way, and none of them is
/// required.
fn run(program: &str, arguments: &[&str], device: &str) -> Result<Vec<u8>, Refusal> {
    if !rustix::process::geteuid().is_root() {
        return Err(Refusal::Rights);
    }
    let device = format!("/dev/{}", device.replace('!', "/"));
    output(Path::new(program), &[arguments, &[&*device]].concat(), PROGRAM_TIME)
}

// The output of another program, within limits of time and bytes.

/// Most bytes of output that are read: no answer here is longer.
const BYTES_MAX: u64 = 4 << 20;
/// How often to check whether a program that has closed its output has ended. Chosen: programs end within
/// milliseconds of that.
const POLL_INTERVAL: Nanos = Nanos::from_millis(5);

/// What `program` prints, whatever its exit code is: the programs that are run here put bits of their answer
/// into it.
///
/// # Errors
/// The program is not installed, cannot be started, prints nothing, or takes longer than `limit`. In the last
/// case it is killed, by its own number.
pub(crate) fn output(program: &Path, arguments: &[&str], limit: Duration) -> Result<Vec<u8>, Refusal> {
    let name = program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned();
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().map_err(|error| {
        Refusal::Other(match error.kind() {
            std::io::ErrorKind::NotFound => wording::not_installed(&name),
            _ => wording::not_started(&name, &error),
        })
    })?;
    let clock = Monotonic::start();
    let output = child.stdout.take().expect("its output is piped");
    let (sender, receiver) = mpsc::channel();
    // A child of the program may hold the pipe longer than we wait; then this thread is left to end with it.
    let reader = Builder::new().spawn(move || {
        let mut printed = Vec::new();
        let read = output.take(BYTES_MAX).read_to_end(&mut printed);
        // After a timeout the receiver is gone.
        let _ = sender.send(read.map(|_| printed));
    });
    let answer = receiver.recv_timeout(limit);
    let is_over = answer.is_ok() && has_ended(&mut child, &clock, limit);
    if !is_over {
        // The program may just have ended by itself; either way, wait for it.
        let _ = child.kill();
        let _ = child.wait();
    }
    match (reader, answer) {
        (Err(error), _) => Err(Refusal::Other(wording::not_started(&name, &error))),
        (_, Err(_)) => Err(Refusal::Other(wording::timed_out(&name, limit.as_secs()))),
        (_, Ok(Err(error))) => Err(Refusal::Other(wording::output_unreadable(&name, &error))),
        (_, Ok(Ok(printed))) if printed.is_empty() => Err(Refusal::Other(wording::not_reported_by(&name))),
        (_, Ok(Ok(printed))) => Ok(printed),
    }
}

fn has_ended(child: &mut Child, clock: &Monotonic, limit: Duration) -> bool {
    while matches!(child.try_wait(), Ok(None)) {
        if u128::from(clock.now().0) > limit.as_nanos() {
            return false;
        }
        clock.rest(POLL_INTERVAL);
    }
    true
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn script(folder: &Path, body: &str) -> PathBuf {
        let path = folder.join("smartctl");
        fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn run_shell(body: &str, limit: Duration) -> Result<String, Refusal> {
        let folder = tempfile::tempdir().unwrap();
        let path = script(folder.path(), body);
        output(&path, &["-i", "/dev/sda"], limit).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn what_it_prints_is_the_answer_whatever_it_exits_with() {
        assert_eq!(run_shell("echo \"$1 $2\"; exit 12", LONG).unwrap(), "-i /dev/sda\n");
        assert_eq!(run_shell("exit 0", LONG), Err(Refusal::Other("smartctl does not report it".into())));
    }

    #[test]
    fn one_that_does_not_come_back_is_killed() {
        let late = Err(Refusal::Other("smartctl took longer than 0 s".into()));
        assert_eq!(run_shell("exec sleep 1000", Duration::from_millis(50)), late);
        assert_eq!(run_shell("echo begun; exec sleep 1000", Duration::from_millis(50)), late);
    }

    #[test]
    fn one_that_is_not_there_is_reported_to_be_missing() {
        let missing = output(Path::new("/nowhere/smartctl"), &[], LONG);
        assert_eq!(missing, Err(Refusal::Other("smartctl is not installed".into())));
    }
}
