//! Records the I/O of all programs to a drive, from the kernel's block tracepoints: no tools, no modules, no
//! eBPF.
//!
//! A [`Recording`] has its own tracing instance, filtered in the kernel to the recorded drives, and reads the
//! raw pages of its buffers. It pairs each request that left for a drive with its end, and passes on I/Os in
//! the order in which they left. It changes no drive and no other tracing, and keeps no contents. Its memory
//! is bounded: what does not fit is counted and reported as lost.
//!
//! The names of events and files are the kernel's (Documentation/trace/ftrace.rst, include/trace/events/block.h).

mod event;
mod instance;
mod page;
mod pairing;

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::io::Op;
use likenew_core::target_error::TargetError;
use likenew_core::trace::TraceSink;
use likenew_core::units::Nanos;

use self::event::{Applications, BlockEvent, Decoder, Step};
pub use self::instance::remove_all;
use self::instance::{Instance, TracefsRoot, in_tracefs};
use self::page::{PageLayout, Processors};
pub use self::pairing::PairCounts;
use self::pairing::Pairing;
use crate::block::BlockDevice;
use crate::clock::{Monotonic, machine_ns};
use crate::identify::DeviceInfo;
use crate::mounts::{Mount, btrfs_devices};
use crate::target_error::ErrorContext as _;
use crate::wording::{action, record as wording};

/// Reads a page with these formats, for fuzzers. Returns whether all of it made sense.
pub(crate) fn fuzz_parse(head: &str, issue: &str, complete: &str, page: &[u8]) -> bool {
    use event::Step;
    let formats =
        [(Step::Issue, "issue", issue.to_owned()), (Step::Complete, "complete", complete.to_owned())];
    let (Ok(layout), Ok(decoder)) = (page::PageLayout::parse(head), event::Decoder::new(&formats)) else {
        return false;
    };
    let _ = layout.page_bytes();
    let Some(mut records) = layout.records(page) else { return false };
    let (mut applications, mut events) = (Applications::new(), 0);
    for record in records.by_ref() {
        events += usize::from(decoder.decode(record.at, record.bytes, &mut applications).is_some());
    }
    records.is_whole() && events > 0
}

// A recording: from the kernel's buffers to I/Os, one trace for each drive.

/// A recording under way. Dropping it returns everything to the kernel, at any stage.
pub struct Recording {
    drives: Vec<RecordedDrive>,
    instance: Instance,
    cpus: Vec<u32>,
    processors: Processors,
    applications: Applications,
    pairing: Pairing,
    clock: Monotonic,
    buffer_bytes: u64,
    leftovers: Vec<String>,
}

/// The totals of a recording so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingCounts {
    /// I/Os and what is known of them.
    pub ios: PairCounts,
    /// Records that the kernel's buffers had no space for; an I/O has two or three.
    pub events_lost: u64,
    /// Pages of records that made no sense.
    pub broken_pages: u64,
}

/// How often buffers are read. Chosen: at a million records a second, 16 MiB last for a second, ten times as long.
const PAUSE: Nanos = Nanos::from_millis(100);
/// How long I/Os in flight at the end of a recording are waited for. Chosen: longer than any but stalled I/Os
/// take.
const LAST_WAIT: Nanos = Nanos::from_secs(1);

impl Recording {
    /// Begins to record the I/O of these drives, but not that of the calling thread. Instances left by killed
    /// recorders are removed first.
    ///
    /// `buffer_bytes` is kernel memory for all processors together; the default is a sixteenth of the free
    /// memory, at most 16 MiB for each processor and 256 MiB in all.
    ///
    /// # Errors
    /// There are no rights, no tracing in this kernel, or formats that are not understood.
    pub fn start(drives: Vec<RecordedDrive>, buffer_bytes: Option<u64>) -> Result<Self, TargetError> {
        assert!(!drives.is_empty(), "a recording has a drive");
        let root = TracefsRoot::find()?;
        let leftovers = Instance::remove_leftovers(&root);
        let instance = Instance::create(root)?;
        let unknown = |error: String| TargetError::Unsuitable(wording::format_unsupported(&error));
        let formats = Step::EVENTS
            .iter()
            .map(|(name, step)| Ok((*step, *name, instance.read(&format!("events/block/{name}/format"))?)));
        let decoder = Decoder::new(&formats.collect::<Result<Vec<_>, TargetError>>()?).map_err(unknown)?;
        let layout = PageLayout::parse(&instance.read("events/header_page")?).map_err(unknown)?;

        let cpus = instance.open_pipes()?;
        let buffer_bytes = buffer_bytes.unwrap_or_else(|| default_buffer(cpus.len() as u64));
        let each = (buffer_bytes / cpus.len().max(1) as u64).max(BUFFER_LEAST);
        set_up(&instance, &drives, each)?;
        let origins = drives.iter().map(|drive| drive.first_sector).collect();
        Ok(Self {
            pairing: Pairing::new(origins, vec![this_thread()]),
            processors: Processors::new(cpus.len(), layout, decoder),
            applications: Applications::new(),
            clock: Monotonic::start(),
            buffer_bytes: each * cpus.len() as u64,
            drives,
            instance,
            cpus,
            leftovers,
        })
    }

    /// Names of the instances that killed recorders had left, and that were removed.
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// Memory that the kernel's buffers take up.
    pub fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    /// The time since the recording began.
    pub fn elapsed(&self) -> Nanos {
        self.clock.now()
    }

    /// Leaves out the I/Os of another thread from now on.
    pub fn exclude(&mut self, thread: u32) {
        self.pairing.exclude(thread);
    }

    /// Waits until there may be something to read again.
    pub fn rest(&self) {
        self.clock.rest(self.clock.now() + PAUSE);
    }

    /// Passes every I/O whose end is known to the sink of its drive, in the order in which they left.
    ///
    /// # Errors
    /// The kernel's buffers cannot be read, or a sink does not take any more.
    pub fn turn(&mut self, sinks: &mut [impl TraceSink]) -> Result<(), TargetError> {
        self.read_all(false, sinks)
    }

    /// The totals so far.
    ///
    /// # Errors
    /// The kernel does not say what it lost.
    pub fn counts(&self) -> Result<RecordingCounts, TargetError> {
        let mut events_lost = 0;
        for cpu in &self.cpus {
            events_lost += lost_records(&self.instance.read(&format!("per_cpu/cpu{cpu}/stats"))?);
        }
        Ok(RecordingCounts {
            ios: self.pairing.counts(),
            events_lost,
            broken_pages: self.processors.broken_pages(),
        })
    }

    /// Ends the recording: takes no new I/Os, waits a second at most for those in flight, and passes on what is left.
    ///
    /// # Errors
    /// As [`Recording::turn`].
    pub fn finish(mut self, sinks: &mut [impl TraceSink]) -> Result<RecordingCounts, TargetError> {
        for (name, step) in Step::EVENTS {
            if matches!(step, Step::Insert | Step::Issue) {
                self.instance.set(&format!("events/block/{name}/enable"), "0")?;
            }
        }
        let until = self.clock.now() + LAST_WAIT;
        loop {
            // The last I/Os are passed on a moment after they were read.
            self.rest();
            self.turn(sinks)?;
            if self.pairing.open() == 0 || self.clock.now() >= until {
                break;
            }
        }
        self.instance.set("tracing_on", "0")?;
        self.read_all(true, sinks)?;
        self.counts()
    }

    fn read_all(&mut self, is_end: bool, sinks: &mut [impl TraceSink]) -> Result<(), TargetError> {
        while self.read_once()? {
            self.hand_on(false, sinks)?;
        }
        self.hand_on(is_end, sinks)
    }

    fn read_once(&mut self) -> Result<bool, TargetError> {
        let now = machine_ns();
        let Self { processors, instance, applications, .. } = self;
        let more = processors.read(&mut instance.pipes(), now, applications);
        more.map_err(|error| in_tracefs(action::READ_TRACE_BUFFERS, error))
    }

    fn hand_on(&mut self, is_end: bool, sinks: &mut [impl TraceSink]) -> Result<(), TargetError> {
        let Self { processors, drives, pairing, applications, .. } = self;
        let mut failed = Ok(());
        let mut put = |pairing: &mut Pairing, now| {
            while let (Ok(()), Some((drive, io))) = (&failed, pairing.next(now)) {
                let name = &applications.names()[usize::from(io.application)];
                failed = sinks[drive].put(&io, name);
            }
        };
        let until = processors.merge(is_end, |event| {
            take(pairing, drives, event);
            // Passed on as they come, so that few wait at a time.
            put(pairing, event.at);
        });
        put(pairing, until);
        failed.context(action::WRITE_TRACE)
    }
}

/// Gives a step to each drive that it concerns: a flush of a disk concerns every part of it.
fn take(pairing: &mut Pairing, drives: &[RecordedDrive], event: &BlockEvent) {
    if event.step == Step::Lost {
        return pairing.forget();
    }
    for (index, drive) in drives.iter().enumerate() {
        if drive.holds(event.device, event.sector, event.op == Op::Flush) {
            pairing.take(index, event);
        }
    }
}

fn set_up(instance: &Instance, drives: &[RecordedDrive], buffer_bytes: u64) -> Result<(), TargetError> {
    instance.set("tracing_on", "0")?;
    instance.set("trace_clock", "mono")?;
    // Without this option the kernel would keep the names of all threads at every switch between them. They
    // are not needed, as records have names of their own. A kernel without the option keeps none.
    let _ = instance.set("trace_options", "norecord-cmd");
    instance.set("buffer_size_kb", &(buffer_bytes / 1024).to_string())?;
    let filter: Vec<String> = drives.iter().map(RecordedDrive::filter).collect();
    let filter = filter.join(" || ");
    for (name, _) in Step::EVENTS {
        instance.set(&format!("events/block/{name}/filter"), &filter)?;
        instance.set(&format!("events/block/{name}/enable"), "1")?;
    }
    instance.set("tracing_on", "1")
}

const BUFFER_LEAST: u64 = 256 << 10;
const BUFFER_MOST: u64 = 16 << 20;
const BUFFERS_MOST: u64 = 256 << 20;

fn default_buffer(cpus: u64) -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free_kib = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next()?.parse().ok());
    let free = free_kib.map_or(u64::MAX, |kib: u64| kib << 10);
    (cpus * BUFFER_MOST).min(BUFFERS_MOST).min(free / 16)
}

/// Records that a processor's `stats` counts as lost.
fn lost_records(stats: &str) -> u64 {
    let count = |line: &str| {
        let (name, count) = line.split_once(':')?;
        let is_lost = matches!(name, "overrun" | "commit overrun" | "dropped events");
        count.trim().parse::<u64>().ok().filter(|_| is_lost)
    };
    stats.lines().filter_map(count).sum()
}

/// The calling thread, as records number it.
pub fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()
}

// The output file of a recording that is on a recorded drive.

/// Sends what was written to a file to its drive from the calling thread.
///
/// Otherwise a file's data waits in memory until a worker of the kernel writes it out, and the records do not
/// say whose data it was. What a thread writes out itself bears its number, so a recording can leave it out.
/// What the file system writes to its journal and tables because of the file remains.
#[derive(Debug)]
pub struct WriteOut(File);

impl WriteOut {
    /// For the existing file at `path`.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        OpenOptions::new().write(true).open(path).map(Self)
    }

    /// Starts to write out what is in memory of the file, without waiting for it.
    ///
    /// # Errors
    /// The file system cannot do that.
    #[allow(unsafe_code, reason = "rustix has no sync_file_range")]
    pub fn start(&self) -> io::Result<()> {
        // SAFETY: the descriptor is open, and no memory is handed over.
        let answer = unsafe { libc::sync_file_range(self.0.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
        if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

/// Lowers the priority of the calling thread: recording comes before the packing of its trace.
pub fn step_back() {
    // If the kernel refuses, the priority stays.
    let _ = rustix::process::setpriority_process(None, 10);
}

// What is recorded for a target: the disks below it that take requests, or parts of these disks.

/// A disk, or a partition of one, whose I/Os are recorded with its own addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedDrive {
    /// The kernel's name: `sda`, `nvme0n1p2`.
    pub name: String,
    /// How a report introduces it: named as the target was typed.
    pub identity: Identity,
    /// The number of the disk in records.
    pub(crate) device: u32,
    /// First sector on the disk.
    pub(crate) first_sector: u64,
    /// The count of sectors of a partition; `None` for a disk, which takes everything that goes to it.
    pub(crate) sectors: Option<u64>,
}

impl RecordedDrive {
    /// The drives below a target: a block device, a partition, or a folder or file, which stands for the
    /// drives of its file system. A device made of several drives is taken apart, since only drives take
    /// requests.
    ///
    /// # Errors
    /// There is no such drive, or its I/Os cannot be seen; the text says why.
    pub fn drives_of(target: &Path) -> Result<Vec<Self>, TargetError> {
        let (kind, devices) = devices(target)?;
        let mut leaves = Vec::new();
        for device in &devices {
            descend(device, &mut leaves, 0);
        }
        if leaves.is_empty() {
            return Err(no_drive(target, wording::DEVICES_INVISIBLE));
        }
        let several = leaves.len() > 1 || leaves[0] != devices[0];
        leaves
            .iter()
            .map(|leaf| Self::describe(leaf, target, kind, several.then(|| devices[0].name())))
            .collect()
    }

    /// Whether both are on one disk.
    pub fn shares_disk_with(&self, other: &Self) -> bool {
        self.device == other.device
    }

    /// Whether a sector of the disk belongs to this drive. A flush has no address and goes to the whole disk.
    pub(crate) fn holds(&self, device: u32, sector: u64, is_flush: bool) -> bool {
        let inside = |sectors| is_flush || (self.first_sector..self.first_sector + sectors).contains(&sector);
        self.device == device && self.sectors.is_none_or(inside)
    }

    /// The kernel's filter for what is to be recorded.
    pub(crate) fn filter(&self) -> String {
        let (device, first) = (self.device, self.first_sector);
        match self.sectors {
            None => format!("dev == {device}"),
            Some(sectors) => {
                let end = first + sectors;
                format!("(dev == {device} && (nr_sector == 0 || (sector >= {first} && sector < {end})))")
            }
        }
    }

    fn describe(
        leaf: &BlockDevice,
        target: &Path,
        kind: TargetKind,
        above: Option<String>,
    ) -> Result<Self, TargetError> {
        let (name, disk) = (leaf.name(), leaf.disk());
        let number = |device: &BlockDevice, attribute: &str| {
            let text = device.attribute(attribute);
            text.and_then(|text| text.parse::<u64>().ok())
                .ok_or_else(|| TargetError::Unsuitable(wording::attribute_unknown(attribute, &device.name())))
        };
        if !disk.folder().join("mq").exists() {
            return Err(no_drive(target, &wording::invisible_to_tracing(&disk.name())));
        }
        let at = disk.number().ok_or_else(|| TargetError::Unsuitable(wording::no_device_number(&name)))?;
        let sectors = number(leaf, "size")?;
        let first_sector = if leaf.is_partition() { number(leaf, "start")? } else { 0 };
        let mut about = DeviceInfo::of_device(leaf.number().unwrap_or(at));
        if let Some(above) = above {
            about.facts.push(("below".to_owned(), above));
            about.caveats.push(wording::layers_between(target.display(), &name));
        }
        if leaf.is_partition() {
            about.caveats.push(wording::partition_only(&name, &disk.name()));
        }
        let block_bytes = disk.attribute("queue/logical_block_size").and_then(|text| text.parse().ok());
        let bytes = sectors.saturating_mul(512);
        let shown = target.display().to_string();
        let identity = about.identity(shown, kind, "tracefs", bytes, block_bytes.unwrap_or(512));
        let device = at.major << 20 | at.minor;
        let sectors = leaf.is_partition().then_some(sectors);
        Ok(Self { name, identity, device, first_sector, sectors })
    }
}

/// The devices that a target names, or those of the target's file system.
fn devices(target: &Path) -> Result<(TargetKind, Vec<BlockDevice>), TargetError> {
    let metadata = fs::metadata(target).context_at(action::LOOK_AT, target)?;
    if metadata.file_type().is_block_device() {
        let device = BlockDevice::at_path(target).ok_or_else(|| no_drive(target, wording::NOT_LISTED))?;
        return Ok((TargetKind::Device, vec![device]));
    }
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(no_drive(target, wording::NEITHER_DEVICE_NOR_FOLDER));
    }
    let kind = if metadata.is_dir() { TargetKind::Folder } else { TargetKind::File };
    let file = fs::File::open(target).context(action::open_path(target.display()))?;
    let mount = Mount::containing(file).ok_or_else(|| no_drive(target, wording::MOUNT_UNKNOWN))?;
    let device = mount.block_device();
    let device = device.ok_or_else(|| no_drive(target, &wording::no_visible_device(&mount.kind)))?;
    Ok((kind, btrfs_devices(Path::new("/sys"), device)))
}

/// Most layers that are followed: more than anyone builds.
const LAYERS_MOST: u32 = 16;

/// Follows a device down to those that it is built on.
fn descend(device: &BlockDevice, leaves: &mut Vec<BlockDevice>, layer: u32) {
    let slaves = device.disk().slave_devices();
    if slaves.is_empty() || layer >= LAYERS_MOST {
        if !leaves.contains(device) {
            leaves.push(device.clone());
        }
        return;
    }
    for slave in slaves {
        descend(&slave, leaves, layer + 1);
    }
}

fn no_drive(target: &Path, reason: &str) -> TargetError {
    TargetError::Unsuitable(wording::no_drive(target.display(), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_added_up() {
        let stats = "entries: 5\noverrun: 7\ncommit overrun: 1\nbytes: 12\noldest event ts: 1.5\nnow ts: 2\ndropped events: 2\nread events: 9\n";
        assert_eq!((lost_records(stats), lost_records(""), lost_records("overrun: many")), (10, 0, 0));
    }

    #[test]
    fn buffers_stay_within_their_bounds() {
        assert!(default_buffer(1) <= BUFFER_MOST && default_buffer(1000) <= BUFFERS_MOST);
    }

    fn drive(first_sector: u64, sectors: Option<u64>) -> RecordedDrive {
        let identity = DeviceInfo::default().identity(String::new(), TargetKind::Device, "", 0, 512);
        RecordedDrive { name: "sda1".into(), identity, device: 8 << 20, first_sector, sectors }
    }

    #[test]
    fn a_partition_holds_its_own_sectors_and_every_flush() {
        let partition = drive(2048, Some(100));
        for (device, sector, is_flush, holds) in [
            (8 << 20, 2048, false, true),
            (8 << 20, 2147, false, true),
            (8 << 20, 2148, false, false),
            (8 << 20, 2047, false, false),
            (8 << 20, 0, true, true),
            (7 << 20, 2048, false, false),
        ] {
            assert_eq!(partition.holds(device, sector, is_flush), holds, "{sector}");
        }
        assert!(drive(0, None).holds(8 << 20, u64::MAX, false));
        assert_eq!(
            partition.filter(),
            "(dev == 8388608 && (nr_sector == 0 || (sector >= 2048 && sector < 2148)))"
        );
    }

    #[test]
    fn what_lies_on_no_drive_is_reported() {
        for target in ["/proc", "/dev/null", "/dev/shm"] {
            let message = RecordedDrive::drives_of(Path::new(target)).unwrap_err().to_string();
            assert!(message.starts_with(target) && message.contains("cannot be recorded"), "{message}");
        }
        let message = RecordedDrive::drives_of(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("does not exist"), "{message}");
    }
}
