//! A machine as a source of facts: its files, the queries to it and its drives, each drive as a subject, facts of
//! the machine itself, and how this machine answers.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::str::FromStr;
use std::sync::mpsc;
use std::thread::Builder;
use std::time::Duration;

use likenew_core::facts::{DriveKind, Fact, LayerKind, Machine};
use likenew_core::probe::FACTS_WAIT;
use likenew_core::units::Nanos;
use rustix::fs::{Mode, OFlags, open, statvfs};
use rustix::io::Errno;

use super::smartctl_device;
use crate::block::{BlockDevice, DeviceNumber, layer_kind, names_in};
use crate::clock::Monotonic;
use crate::drive_commands::{AtaCommand, NvmeCommand, identify_ata, open_drive, read_ata, read_nvme};
use crate::space::SpaceUsage;
use crate::standards::ata::IdentifyDevice;
use crate::standards::{clean, scsi};
use crate::wording::facts as wording;

// Where the system's own files are: under `/`, or in a folder with copies of another machine's files.

/// Most bytes of a file, or of the output of a program, that are read: none that is read here is longer.
const BYTES_MAX: u64 = 4 << 20;

/// One machine's files. All paths, and all origins of facts, are paths as that machine has them, from its root on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Roots {
    root: PathBuf,
}

impl Roots {
    /// This machine's files.
    pub(crate) fn system() -> Self {
        Self::at(Path::new("/"))
    }

    /// The files of a machine, copied to a folder.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()) }
    }

    fn real(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Whether something has this path, even a link to nowhere.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.real(path).symlink_metadata().is_ok()
    }

    /// A regular file, open for reading.
    pub(crate) fn file(&self, path: &str) -> Option<fs::File> {
        let path = self.real(path);
        let is_regular = path.symlink_metadata().is_ok_and(|metadata| metadata.is_file());
        is_regular.then(|| fs::File::open(path).ok()).flatten()
    }

    /// The target of a link, whether or not it exists.
    pub(crate) fn link(&self, path: &str) -> Option<PathBuf> {
        fs::read_link(self.real(path)).ok()
    }

    /// The name of what a link leads to, such as a driver or subsystem.
    pub(crate) fn link_name(&self, path: &str) -> Option<String> {
        Some(clean(&self.link(path)?.file_name()?.to_string_lossy()))
    }

    /// The folder that a path leads to, without links, as the machine calls it.
    pub(crate) fn resolve_path(&self, path: &str) -> Option<String> {
        let real = fs::canonicalize(self.real(path)).ok()?;
        let inside = real.strip_prefix(&self.root).ok()?;
        Some(format!("/{}", inside.display()))
    }

    /// Names in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        names_in(&self.real(folder))
    }

    /// All bytes of a file.
    pub(crate) fn bytes(&self, path: &str) -> Fact<Vec<u8>> {
        let mut bytes = Vec::new();
        match File::open(self.real(path)).and_then(|file| file.take(BYTES_MAX).read_to_end(&mut bytes)) {
            Ok(_) => Fact::new(bytes, path),
            Err(error) => unreadable_fact(&error, path),
        }
    }

    /// All of a file as text.
    pub(crate) fn text(&self, path: &str) -> Fact<String> {
        self.bytes(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The first line of a file, without control characters.
    pub(crate) fn line(&self, path: &str) -> Fact<String> {
        let first = |text: String| {
            let line = text.lines().next()?.trim_matches(['\0', ' ', '\t']).to_owned();
            (!line.is_empty()).then(|| clean(&line))
        };
        self.text(path).and_then(wording::EMPTY_FILE, first)
    }

    /// The number in the first line of a file.
    pub(crate) fn number<T: FromStr>(&self, path: &str) -> Fact<T> {
        self.line(path).and_then(wording::NOT_A_NUMBER, |line| line.parse().ok())
    }

    /// The number in hexadecimal in the first line of a file, with or without `0x`.
    pub(crate) fn hexadecimal(&self, path: &str) -> Fact<u64> {
        let parse = |line: String| u64::from_str_radix(line.trim_start_matches("0x"), 16).ok();
        self.line(path).and_then(wording::NOT_A_NUMBER, parse)
    }

    /// When a file was last changed, in seconds since 1970.
    pub(crate) fn changed_s(&self, path: &str) -> Option<i64> {
        use std::os::unix::fs::MetadataExt as _;
        fs::metadata(self.real(path)).ok().map(|metadata| metadata.mtime())
    }

    /// The block device of this name.
    pub(crate) fn device(&self, name: &str) -> Option<BlockDevice> {
        let name = name.replace('/', "!");
        self.device_in(self.real("/sys/class/block").join(name))
    }

    fn device_in(&self, link: PathBuf) -> Option<BlockDevice> {
        let folder = fs::canonicalize(link).ok()?;
        folder.starts_with(&self.root).then(|| BlockDevice::at(folder))
    }

    /// The block device with these numbers.
    pub(crate) fn by_number(&self, number: DeviceNumber) -> Option<BlockDevice> {
        self.device_in(self.real(&format!("/sys/dev/block/{}:{}", number.major, number.minor)))
    }

    /// The block device at a path such as `/dev/sda1` or `/dev/mapper/home`.
    pub(crate) fn device_at(&self, path: &str) -> Option<BlockDevice> {
        let name = path.strip_prefix("/dev/")?;
        let named = || self.device(name);
        let mapped = || {
            let label = name.strip_prefix("mapper/")?;
            let devices = self.names("/sys/class/block").into_iter().filter_map(|name| self.device(&name));
            devices.into_iter().find(|device| device.attribute("dm/name").as_deref() == Some(label))
        };
        named().or_else(mapped)
    }

    /// The folder of a block device as the machine calls it, without links.
    pub(crate) fn folder_of(&self, device: &BlockDevice) -> String {
        let inside = device.folder().strip_prefix(&self.root).unwrap_or(device.folder());
        format!("/{}", inside.display())
    }

    /// The short path of an attribute of a block device.
    pub(crate) fn place(device: &BlockDevice, attribute: &str) -> String {
        format!("/sys/class/block/{}/{attribute}", device.name())
    }

    /// An attribute of a block device.
    pub(crate) fn attribute(&self, device: &BlockDevice, name: &str) -> Fact<String> {
        self.line(&Self::place(device, name))
    }

    /// An attribute of a block device that is a number.
    pub(crate) fn count<T: FromStr>(&self, device: &BlockDevice, name: &str) -> Fact<T> {
        self.number(&Self::place(device, name))
    }
}

/// Why a file could not be read.
pub(crate) fn unreadable_fact<T>(error: &std::io::Error, origin: &str) -> Fact<T> {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => Fact::unknown(wording::NOT_THERE, origin),
        ErrorKind::PermissionDenied => {
            Fact::unknown(wording::NO_PERMISSION, origin).help(wording::RUN_AS_ROOT)
        }
        _ => Fact::unknown(wording::unreadable(error), origin),
    }
}

// Queries to drives and the kernel, apart from files: each of them only reads.

/// A query to a drive or the kernel. All of these only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question<'a> {
    /// A command to an NVMe drive. The answer about a feature is its value in four bytes, then its data.
    Nvme(NvmeCommand),
    /// ATA's IDENTIFY DEVICE: 512 bytes.
    AtaIdentify,
    /// A command to an ATA drive: 512 bytes.
    Ata(AtaCommand),
    /// The output of smartctl as JSON, run with this type (`-d`).
    Smartctl(Option<&'a str>),
    /// The drives that smartctl lists without opening any, as JSON.
    SmartctlScan,
    /// The table of a device mapper's device, as `dmsetup table` prints it with keys hidden.
    MapperTable,
    /// The kernel's log, as /dev/kmsg has it.
    KernelLog,
}

/// Arguments of smartctl; the device comes last. smartctl ends with exit status 7 if the disk sleeps.
pub(crate) const SMARTCTL_ARGUMENTS: [&str; 10] =
    ["--json=co", "-i", "-H", "-A", "-l", "error", "-l", "selftest", "-n", "standby,7"];

impl Question<'_> {
    /// The text for the origin of a fact.
    pub(crate) fn origin(self) -> String {
        match self {
            Self::Nvme(NvmeCommand::Controller) => "NVMe Identify Controller".to_owned(),
            Self::Nvme(NvmeCommand::Namespace | NvmeCommand::Namespaces) => {
                "NVMe Identify Namespace".to_owned()
            }
            Self::Nvme(NvmeCommand::Log(2, _)) => "NVMe SMART log".to_owned(),
            Self::Nvme(NvmeCommand::Log(page, _)) => format!("NVMe log page {page:02X}h"),
            Self::Nvme(NvmeCommand::Feature(feature)) => format!("NVMe feature {feature:02X}h"),
            Self::AtaIdentify => "ATA IDENTIFY DEVICE".to_owned(),
            Self::Ata(AtaCommand::SmartData) => "ATA SMART READ DATA".to_owned(),
            Self::Ata(AtaCommand::SmartThresholds) => "ATA SMART READ THRESHOLDS".to_owned(),
            Self::Ata(AtaCommand::Log(log, page)) => format!("ATA log {log:02X}h page {page:02X}h"),
            Self::Smartctl(None) => format!("smartctl {}", SMARTCTL_ARGUMENTS.join(" ")),
            Self::Smartctl(Some(device_type)) => {
                format!("smartctl {} -d {device_type}", SMARTCTL_ARGUMENTS.join(" "))
            }
            Self::SmartctlScan => "smartctl --scan".to_owned(),
            Self::MapperTable => "dmsetup table".to_owned(),
            Self::KernelLog => "/dev/kmsg".to_owned(),
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It needs rights that this user does not have.
    Rights,
    /// Any other reason: a sentence without a full stop.
    Other(String),
}

/// The source of answers: this machine, or files with the answers of another one.
pub(crate) trait MachineQuery {
    /// The answer of the block device with this name, or of the kernel for an empty name.
    ///
    /// # Errors
    /// Why there is none.
    fn query(&self, device: &str, question: Question<'_>) -> Result<Vec<u8>, Refusal>;

    /// The type that smartctl was given for a drive; its origin says who gave it.
    fn smartctl_device(&self, device: &BlockDevice) -> Fact<String>;

    /// The space of the file system at a path.
    ///
    /// # Errors
    /// Why it is not known.
    fn space_usage(&self, path: &str) -> Result<SpaceUsage, Refusal>;

    /// Whether this runs as root.
    fn is_root(&self) -> bool;

    /// The date in seconds since 1970.
    fn now_s(&self) -> i64;

    /// Waits while other programs may do I/O, and returns for how many seconds.
    fn pause_s(&self) -> f64;
}

/// An answer as a fact.
pub(crate) fn answer(queries: &dyn MachineQuery, device: &str, question: Question<'_>) -> Fact<Vec<u8>> {
    fact(queries.query(device, question), question.origin())
}

/// An answer, or the reason for none, as a fact.
pub(crate) fn fact<T>(answer: Result<T, Refusal>, origin: impl Into<String>) -> Fact<T> {
    match answer {
        Ok(value) => Fact::new(value, origin),
        Err(Refusal::Rights) => Fact::unknown(wording::NEEDS_ROOT, origin).help(wording::RUN_AS_ROOT),
        Err(Refusal::Other(reason)) => Fact::unknown(reason, origin),
    }
}

// A drive whose facts are collected, with what several readers need to know of it.

/// A drive at the bottom of a stack.
pub(crate) struct Subject<'a> {
    pub(crate) roots: &'a Roots,
    pub(crate) queries: &'a dyn MachineQuery,
    pub(crate) device: BlockDevice,
    pub(crate) kind: DriveKind,
    /// The drive's folder without links, as the machine calls it.
    pub(crate) folder: String,
    /// The controller of an NVMe drive: `nvme0`.
    pub(crate) controller: Option<String>,
    /// The type for smartctl's option `-d`.
    pub(crate) smartctl_device: Fact<String>,
}

impl<'a> Subject<'a> {
    pub(crate) fn new(roots: &'a Roots, queries: &'a dyn MachineQuery, device: BlockDevice) -> Self {
        let folder = roots.folder_of(&device);
        let controller = controller(roots, &device);
        let kind = kind(&device, &folder, controller.is_some());
        let smartctl_device = queries.smartctl_device(&device);
        Self { roots, queries, device, kind, folder, controller, smartctl_device }
    }

    /// The kernel's name for the drive.
    pub(crate) fn name(&self) -> String {
        self.device.name()
    }

    /// An attribute of the device.
    pub(crate) fn line(&self, name: &str) -> Fact<String> {
        self.roots.attribute(&self.device, name)
    }

    /// Sends a query to the drive.
    pub(crate) fn query(&self, question: Question<'_>) -> Fact<Vec<u8>> {
        fact(self.queries.query(&self.name(), question), question.origin())
    }

    /// ATA's IDENTIFY DEVICE, from the page that the kernel keeps and everyone may read, or else by a query.
    pub(crate) fn ata_identify(&self) -> Fact<IdentifyDevice> {
        if self.kind != DriveKind::Sata {
            return Fact::NotQueried;
        }
        let page = self.roots.bytes(&Roots::place(&self.device, "device/vpd_pg89"));
        let inside = |page: Vec<u8>| scsi::ata_identify(&page).and_then(IdentifyDevice::parse);
        let kept = page.and_then(wording::UNEXPECTED_PAGE, inside);
        if kept.value().is_some() {
            return kept;
        }
        self.query(Question::AtaIdentify)
            .and_then(wording::SHORT_ANSWER, |answer| IdentifyDevice::parse(&answer))
    }

    /// A property of the drive in udev's database.
    pub(crate) fn udev(&self, name: &str) -> Fact<String> {
        let Some(number) = self.device.number() else { return Fact::NotQueried };
        let file = format!("/run/udev/data/b{}:{}", number.major, number.minor);
        self.roots.text(&file).and_then(wording::NOT_IN_UDEV, |_| self.device.udev(name))
    }

    /// Folders from the drive up to the root of /sys, as the machine calls them.
    pub(crate) fn ancestors(&self) -> impl Iterator<Item = String> + use<> {
        let path = std::path::PathBuf::from(&self.folder);
        let folders: Vec<String> =
            path.ancestors().skip(1).map(|folder| folder.display().to_string()).collect();
        folders.into_iter().take_while(|folder| folder.starts_with("/sys/devices/"))
    }
}

/// The controller of a namespace, by the kernel's name. With multipath, the number in `nvme0n1` is that of the subsystem, which
/// may have a controller of another number; its first one is taken.
pub(crate) fn controller(roots: &Roots, device: &BlockDevice) -> Option<String> {
    if !device.name().starts_with("nvme") {
        return None;
    }
    let folder = roots.resolve_path(&Roots::place(device, "device"))?;
    let own = folder.rsplit('/').next()?.to_owned();
    if roots.exists(&format!("/sys/class/nvme/{own}")) {
        return Some(own);
    }
    roots.names(&folder).into_iter().find(|name| roots.exists(&format!("/sys/class/nvme/{name}")))
}

fn kind(device: &BlockDevice, folder: &str, has_controller: bool) -> DriveKind {
    match layer_kind(device) {
        LayerKind::UsbDisk => DriveKind::Usb,
        LayerKind::VirtualDisk => DriveKind::Virtual,
        LayerKind::Memory => DriveKind::Memory,
        LayerKind::Network => DriveKind::Network,
        LayerKind::Disk if has_controller || device.name().starts_with("nvme") => DriveKind::Nvme,
        LayerKind::Disk if device.name().starts_with("mmcblk") => DriveKind::Card,
        LayerKind::Disk if is_ata(device, folder) => DriveKind::Sata,
        LayerKind::Disk if device.name().starts_with("sd") => DriveKind::Scsi,
        _ => DriveKind::Other,
    }
}

/// Whether a name is this word and a number: `host7`, `ata3`.
pub(super) fn is_numbered(name: &str, word: &str) -> bool {
    let number = name.strip_prefix(word);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a disk speaks ATA: it is behind an ATA port, or an ATA disk behind a SAS controller.
fn is_ata(device: &BlockDevice, folder: &str) -> bool {
    let on_port = folder.split('/').any(|part| is_numbered(part, "ata"));
    on_port || device.attribute("device/vendor").as_deref() == Some("ATA")
}

// The machine: its kernel, whether it is a container or virtual, what it is made of.

/// The facts of the machine itself.
pub(crate) fn machine(roots: &Roots, queries: &dyn MachineQuery) -> Machine {
    Machine {
        kernel: roots.line("/proc/sys/kernel/osrelease"),
        root: Fact::new(queries.is_root(), "geteuid"),
        container: container(roots),
        virtual_machine: virtual_machine(roots),
        board: dmi(roots).or_else(|| roots.line("/proc/device-tree/model")),
        memory_bytes: memory(roots),
    }
}

/// The container manager, by the marks that such managers leave (systemd's container interface, Docker, Podman).
fn container(roots: &Roots) -> Fact<Option<String>> {
    let named = roots.line("/run/systemd/container");
    if named.value().is_some() {
        return named.map(Some);
    }
    for (mark, kind) in [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")] {
        if roots.exists(mark) {
            return Fact::new(Some(kind.to_owned()), mark);
        }
    }
    Fact::new(None, wording::NO_CONTAINER)
}

/// Words in firmware that identify virtual machines.
const HYPERVISORS: [&str; 14] = [
    "QEMU",
    "KVM",
    "VMware",
    "VirtualBox",
    "innotek",
    "Virtual Machine",
    "Xen",
    "Amazon EC2",
    "Google Compute Engine",
    "Bochs",
    "Parallels",
    "BHYVE",
    "OpenStack",
    "Alibaba Cloud",
];

fn virtual_machine(roots: &Roots) -> Fact<Option<String>> {
    const CPU: &str = "/proc/cpuinfo";
    let firmware = dmi(roots);
    let hypervisor = roots.line("/sys/hypervisor/type");
    let flags = roots.text(CPU);
    let has_flags = flags.value().and_then(|text| text.lines().find(|line| line.starts_with("flags")));
    let flag = has_flags.map(|line| line.split_whitespace().any(|word| word == "hypervisor"));
    let words = || firmware.value().cloned().or_else(|| hypervisor.value().cloned());
    match flag {
        Some(true) => Fact::new(Some(words().unwrap_or_else(|| "a hypervisor".to_owned())), CPU),
        // The firmware of bare-metal cloud machines has the same words, so the processor's flag decides.
        Some(false) => Fact::new(None, CPU),
        None if hypervisor.value().is_some() => hypervisor.map(Some),
        None => {
            let is_virtual = |words: &String| HYPERVISORS.iter().any(|hypervisor| words.contains(hypervisor));
            firmware.map(|words| Some(words).filter(is_virtual))
        }
    }
}

fn dmi(roots: &Roots) -> Fact<String> {
    let vendor = roots.line("/sys/class/dmi/id/sys_vendor");
    let product = roots.line("/sys/class/dmi/id/product_name");
    match (vendor.value(), product.value()) {
        (Some(vendor), Some(product)) if !product.starts_with(vendor.as_str()) => {
            Fact::new(format!("{vendor} {product}"), "/sys/class/dmi/id")
        }
        (_, Some(_)) => product,
        _ => vendor,
    }
}

fn memory(roots: &Roots) -> Fact<u64> {
    let parse = |text: String| {
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
        let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
        kibibytes.checked_mul(1024)
    };
    roots.text("/proc/meminfo").and_then(wording::NOT_REPORTED_BY_KERNEL, parse)
}

// This machine as the source of answers: by ioctls, system calls, and two programs.

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
                let (data, value) =
                    open_drive(device).and_then(|drive| read_nvme(drive, command)).map_err(refusal)?;
                Ok(match command {
                    NvmeCommand::Feature(_) => [&value.to_le_bytes()[..], &data].concat(),
                    _ => data,
                })
            }
            Question::AtaIdentify => {
                Ok(open_drive(device).and_then(identify_ata).map_err(refusal)?.to_bytes())
            }
            Question::Ata(command) => {
                open_drive(device).and_then(|drive| read_ata(drive, command)).map_err(refusal)
            }
        }
    }

    fn smartctl_device(&self, device: &BlockDevice) -> Fact<String> {
        smartctl_device::remembered(device)
    }

    fn space_usage(&self, path: &str) -> Result<SpaceUsage, Refusal> {
        Ok(statvfs(path).map_err(refusal)?.into())
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
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

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
