//! What lies between a folder or file and its drives: the file system, a sample of its files, and the layers below.

use std::fs::{File, Metadata};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use likenew_core::facts::{Fact, FileSystem, Files, Layer, LayerKind, Trimming};
use rustix::fs::{Mode, OFlags, SeekFrom};
use rustix::io::Errno;
use walkdir::WalkDir;

use super::drive_answers::scsi_rotation;
use super::machine::{MachineQuery, Question, Roots, answer, fact, unreadable_fact};
use crate::block::{BlockDevice, layer_kind};
use crate::identify::compresses;
use crate::mounts::{Mount, unescape};
use crate::scratch::DIRECTORY;
use crate::space::SpaceUsage;
use crate::standards::clean;
use crate::trim::{Flush, SENDERS, extents, unmap_rule};
use crate::wording::facts as wording;

/// The file system of a mount: what its options say, and how full it is.
pub(crate) fn file_system(roots: &Roots, queries: &dyn MachineQuery, mount: &Mount) -> FileSystem {
    const MOUNTS: &str = "/proc/self/mountinfo";
    let filled = fact(queries.space_usage(&mount.point), "statvfs");
    let bytes = |field: fn(SpaceUsage) -> u64| filled.clone().map(field);
    let mut options: Vec<String> =
        mount.options.split(',').filter(|word| !word.is_empty()).map(clean).collect();
    let mut visited = std::collections::HashSet::new();
    options.retain(|option| visited.insert(option.clone()));
    FileSystem {
        point: clean(&mount.point),
        kind: Fact::new(clean(&mount.kind), MOUNTS),
        source: Fact::new(clean(&mount.source.to_string_lossy()), MOUNTS),
        options: Fact::new(options, MOUNTS),
        total_bytes: bytes(|filled| filled.total_bytes),
        used_bytes: bytes(|filled| filled.total_bytes.saturating_sub(filled.free_bytes)),
        free_bytes: bytes(|filled| filled.free_bytes),
        reserved_bytes: bytes(|filled| filled.free_bytes.saturating_sub(filled.available_bytes)),
        used_percent: filled.clone().and_then(wording::NO_SIZE, used_percent),
        compresses: match &*mount.kind {
            "btrfs" | "bcachefs" | "f2fs" => Fact::new(compresses(&mount.options), MOUNTS),
            "zfs" => Fact::unknown(wording::ZFS_PER_DATASET, MOUNTS).help(wording::ZFS_COMPRESSION),
            _ => Fact::NotQueried,
        },
        trimming: trimming(roots, queries, mount),
    }
}

/// As df computes it: what is used, over that and what an ordinary user may still use.
fn used_percent(filled: SpaceUsage) -> Option<f64> {
    let used = filled.total_bytes.saturating_sub(filled.free_bytes);
    let usable = used.saturating_add(filled.available_bytes);
    (usable > 0).then(|| (1000.0 * used as f64 / usable as f64).round() / 10.0)
}

// Who sends TRIM for a file system: its mount, or the fstrim timer, and whether the timer covers this mount.

/// Folders of systemd's units, the most important first (systemd.unit(5)).
const UNITS: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];
const STAMP: &str = "/var/lib/systemd/timers/stamp-fstrim.timer";

/// How TRIM is set up for this mount.
pub(crate) fn trimming(roots: &Roots, queries: &dyn MachineQuery, mount: &Mount) -> Trimming {
    let sends = SENDERS.contains(&&*mount.kind);
    let immediate = mount.has_option("discard");
    let timer = unit(roots, "fstrim.timer");
    let (covers, because, origin) = match coverage(roots, mount) {
        Ok((covers, because, origin)) => (Fact::new(covers, origin.clone()), because, origin),
        Err(reason) => (Fact::unknown(reason.clone(), "fstrim.service"), reason, "fstrim.service".to_owned()),
    };
    Trimming {
        immediate: if sends { Fact::new(immediate, "/proc/self/mountinfo") } else { Fact::NotQueried },
        timer_present: present(roots, timer.as_deref()),
        timer_enabled: is_enabled(roots, timer.as_deref()),
        timer_last_run_age_s: last_run(roots, queries),
        timer_covers: covers,
        timer_coverage_reason: Fact::new(because, origin),
    }
}

/// The file of a unit, unless it is masked.
fn unit(roots: &Roots, name: &str) -> Option<String> {
    let path = UNITS.iter().map(|folder| format!("{folder}/{name}")).find(|path| roots.exists(path))?;
    let masked = roots.link(&path).is_some_and(|target| target == std::path::Path::new("/dev/null"));
    (!masked).then_some(path)
}

fn present(roots: &Roots, timer: Option<&str>) -> Fact<bool> {
    if let Some(path) = timer {
        return Fact::new(true, path);
    }
    // Distributions without systemd run it by cron.
    let jobs = ["/etc/cron.daily/fstrim", "/etc/cron.weekly/fstrim", "/etc/periodic/weekly/fstrim"];
    match jobs.iter().find(|job| roots.exists(job)) {
        Some(job) => Fact::new(true, *job),
        None if UNITS.iter().any(|folder| roots.exists(folder)) => Fact::new(false, "fstrim.timer"),
        None => Fact::unknown(wording::NO_TRIM_JOB, "fstrim.timer"),
    }
}

fn is_enabled(roots: &Roots, timer: Option<&str>) -> Fact<bool> {
    if timer.is_none() {
        return present(roots, timer);
    }
    let wants = UNITS.iter().map(|folder| format!("{folder}/timers.target.wants/fstrim.timer"));
    match wants.into_iter().find(|link| roots.exists(link)) {
        Some(link) => Fact::new(true, link),
        None => Fact::new(false, "/etc/systemd/system/timers.target.wants"),
    }
}

fn last_run(roots: &Roots, queries: &dyn MachineQuery) -> Fact<u64> {
    match roots.changed_s(STAMP) {
        Some(changed) => Fact::new(u64::try_from(queries.now_s() - changed).unwrap_or(0), STAMP),
        None => Fact::unknown(wording::NO_TIME_STAMP, STAMP),
    }
}

/// Whether the fstrim service trims this mount, why, and where that was found.
fn coverage(roots: &Roots, mount: &Mount) -> Result<(bool, String, String), String> {
    let no = |reason: String, origin: &str| Ok((false, reason, origin.to_owned()));
    if !SENDERS.contains(&&*mount.kind) {
        return no(wording::kind_not_trimmed(&mount.kind), "/proc/self/mountinfo");
    }
    let path = unit(roots, "fstrim.service").ok_or(wording::SERVICE_MISSING)?;
    let text = roots.text(&path);
    let text = text.value().ok_or(wording::SERVICE_UNREADABLE)?;
    let in_container = ["/run/systemd/container", "/.dockerenv", "/run/.containerenv"];
    if text.contains("ConditionVirtualization=!container")
        && in_container.iter().any(|mark| roots.exists(mark))
    {
        return no(wording::NOT_IN_CONTAINERS.to_owned(), &path);
    }
    let command = text.lines().filter_map(|line| line.trim().strip_prefix("ExecStart=")).next_back();
    let command = command.ok_or(wording::SERVICE_WITHOUT_COMMAND)?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let list = words.iter().position(|word| matches!(*word, "--listed-in" | "-I"));
    let list = list.and_then(|at| words.get(at + 1).copied());
    let list = list.or_else(|| words.iter().find_map(|word| word.strip_prefix("--listed-in=")));
    if let Some(list) = list {
        return listed_in(roots, mount, list);
    }
    if words.iter().any(|word| matches!(*word, "--fstab" | "-A")) {
        return listed_in(roots, mount, "/etc/fstab");
    }
    if words.iter().any(|word| matches!(*word, "--all" | "-a" | "-av")) {
        return Ok((true, wording::TRIMS_ALL.to_owned(), path));
    }
    let named = words.iter().skip(1).any(|word| *word == mount.point);
    Ok((named, wording::runs_command(command), path))
}

/// Whether fstrim's lists name this mount. It takes the first of these files that lists anything, and ignores
/// the others (fstrim(8), --listed-in).
fn listed_in(roots: &Roots, mount: &Mount, files: &str) -> Result<(bool, String, String), String> {
    for file in files.split(':') {
        let text = roots.text(file);
        let entries: Vec<Entry> = match text.value() {
            Some(text) => text.lines().filter_map(|line| Entry::parse(line, file)).collect(),
            None if text.reason() == Some(wording::NO_PERMISSION) => {
                return Err(wording::may_not_be_read(file));
            }
            None => continue,
        };
        if entries.is_empty() {
            continue;
        }
        let entry = entries.iter().find(|entry| entry.point == mount.point);
        let (covers, reason) = match entry {
            Some(entry) if entry.has("X-fstrim.notrim") => (false, wording::excluded(file)),
            Some(_) if mount.has_option("ro") => (false, wording::MOUNTED_READ_ONLY.to_owned()),
            Some(_) => (true, wording::listed(file)),
            None => (false, wording::not_listed(file, &mount.point)),
        };
        return Ok((covers, reason, file.to_owned()));
    }
    Ok((false, wording::nothing_listed(files), files.to_owned()))
}

/// A line of fstab(5), or of mountinfo.
struct Entry {
    point: String,
    options: String,
}

impl Entry {
    fn parse(line: &str, file: &str) -> Option<Self> {
        if file.ends_with("mountinfo") {
            let mount = Mount::parse(line)?;
            return Some(Self { point: mount.point, options: mount.options });
        }
        let line = line.trim();
        if line.starts_with('#') {
            return None;
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        Some(Self {
            point: unescape(fields.get(1)?),
            options: fields.get(3).copied().unwrap_or("").to_owned(),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.options.split(',').any(|option| option == name)
    }
}

// Age and fragmentation of files, from a bounded sample of a folder; no name is kept.

/// Names examined, at most.
const ENTRIES_MAX: usize = 20_000;
/// Files whose extents are queried, at most, spread evenly over those seen.
const MAPPED_MAX: usize = 400;
/// Shorter files have one extent anyway.
const MAPPED_BYTES_MIN: u64 = 1 << 20;
/// Bytes of a MiB, 2²⁰.
const MIB: f64 = (1 << 20) as f64;
/// Most holes of a file that are counted. Chosen: some tens of milliseconds.
const HOLES_MAX: usize = 20_000;
const HOLES: &str = "SEEK_HOLE";
const TIMES: &str = "statx";
const PLACES: &str = "FIEMAP";

/// Samples the folder at `path`, within one file system, or the file there.
pub(crate) fn sample(path: &Path) -> Files {
    let walk = WalkDir::new(path).same_file_system(true).follow_links(false);
    let is_ours = |name: &std::ffi::OsStr| name == DIRECTORY;
    let entries = walk.into_iter().filter_entry(|entry| !is_ours(entry.file_name()));
    let (mut visited, mut entries_seen) = (Vec::new(), 0);
    for entry in entries.take(ENTRIES_MAX) {
        entries_seen += 1;
        let Ok(entry) = entry else { continue };
        if let Some(metadata) = entry.metadata().ok().filter(Metadata::is_file) {
            visited.push((entry.into_path(), metadata));
        }
    }
    let mut files = ages(visited.iter().map(|(_, metadata)| metadata));
    files.is_part = Fact::new(entries_seen == ENTRIES_MAX, TIMES);
    let long: Vec<_> = visited.iter().filter(|(_, metadata)| metadata.len() >= MAPPED_BYTES_MIN).collect();
    let step = long.len().div_ceil(MAPPED_MAX).max(1);
    let mut pieces = Pieces::default();
    for (path, metadata) in long.into_iter().step_by(step) {
        // Nothing but a regular file is opened, even if it was replaced by something else since it was seen.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        if let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) {
            pieces.add(&file, metadata.len());
        }
    }
    pieces.tell(&mut files);
    files
}

/// Samples one open file.
pub(crate) fn sample_file(file: impl AsFd) -> Files {
    let metadata = file.as_fd().try_clone_to_owned().and_then(|fd| File::from(fd).metadata());
    let metadata = match metadata {
        Ok(metadata) => metadata,
        Err(error) => return Files { files: unreadable_fact(&error, TIMES), ..Files::default() },
    };
    let mut files = ages(std::iter::once(&metadata));
    files.hole_bytes = hole_bytes(&file, metadata.len());
    let mut pieces = Pieces::default();
    pieces.add(&file, metadata.len());
    pieces.tell(&mut files);
    files
}

/// Totals of the extents of some files.
#[derive(Default)]
struct Pieces {
    files: u64,
    pieces: u64,
    most: u64,
    bytes: u64,
    refusal: Option<String>,
}

impl Pieces {
    fn add(&mut self, file: impl AsFd, bytes: u64) {
        // Dirty data stays in memory, as an answer must not cause writes.
        match extents(file, bytes, Flush::Never) {
            Ok(extents) => {
                // Adjacent extents on the drive count as one, however the file system stores them.
                let joined = extents.windows(2).filter(|pair| {
                    pair[0].physical.checked_add(pair[0].length) == Some(pair[1].physical)
                        && pair[1].physical > 0
                });
                let pieces = extents.len().saturating_sub(joined.count()) as u64;
                self.files += 1;
                self.pieces += pieces;
                self.most = self.most.max(pieces);
                self.bytes += extents.iter().map(|extent| extent.length).sum::<u64>().min(bytes);
            }
            Err(errno) => self.refusal = Some(errno.to_string()),
        }
    }

    fn tell(&self, files: &mut Files) {
        let reason = match &self.refusal {
            Some(reason) if self.files == 0 => wording::places_unknown(reason),
            _ => wording::NO_LARGE_FILE.to_owned(),
        };
        let is_known = self.files > 0 && self.bytes > 0;
        files.files_mapped = Fact::new(self.files, PLACES);
        let beyond_first = self.pieces.saturating_sub(self.files) as f64;
        let per_mib = is_known.then(|| (1000.0 * beyond_first / (self.bytes as f64 / MIB)).round() / 1000.0);
        files.extents_per_mib = Fact::from_option(per_mib, &reason, PLACES);
        files.extents_max = Fact::from_option(is_known.then_some(self.most), &reason, PLACES);
    }
}

/// Bytes in the holes of a file, if its file system reports them; unknown if there are more than [`HOLES_MAX`].
pub(crate) fn hole_bytes(file: impl AsFd, length: u64) -> Fact<u64> {
    let (mut at, mut holes) = (0, 0);
    for _ in 0..HOLES_MAX {
        let data = match rustix::fs::seek(&file, SeekFrom::Data(at)) {
            Ok(data) => data.min(length),
            Err(Errno::NXIO) => length,
            Err(errno) => return unreadable_fact(&errno.into(), HOLES),
        };
        holes += data.saturating_sub(at);
        match rustix::fs::seek(&file, SeekFrom::Hole(data)) {
            Ok(hole) if data < length => at = hole,
            _ => return Fact::new(holes, HOLES),
        }
    }
    Fact::unknown(wording::TOO_MANY_HOLES, HOLES)
}

/// Counts and ages of files.
fn ages<'a>(files: impl Iterator<Item = &'a Metadata>) -> Files {
    let now = jiff::Timestamp::now().as_second();
    let age = |since: i64| u64::try_from(now.saturating_sub(since)).unwrap_or(0);
    let (mut contents, mut inodes, mut bytes) = (Vec::new(), Vec::new(), 0u64);
    for metadata in files {
        contents.push(age(metadata.mtime()));
        inodes.push(age(metadata.ctime()));
        bytes = bytes.saturating_add(metadata.len());
    }
    contents.sort_unstable();
    inodes.sort_unstable();
    let quantile = |sorted: &[u64], percent: usize| {
        let value = sorted.get((sorted.len().saturating_sub(1) * percent + 50) / 100).copied();
        Fact::from_option(value, wording::NO_FILES, TIMES)
    };
    Files {
        files: Fact::new(contents.len() as u64, TIMES),
        bytes: Fact::new(bytes, TIMES),
        content_age_s_p10: quantile(&contents, 10),
        content_age_s_p50: quantile(&contents, 50),
        content_age_s_p90: quantile(&contents, 90),
        inode_age_s_p50: quantile(&inodes, 50),
        inode_age_s_p90: quantile(&inodes, 90),
        ..Files::default()
    }
}

// The layers from a folder or device down to the drives.

/// The layers below some devices, from the top down; a layer that several devices share is listed once.
pub(crate) fn layers(roots: &Roots, queries: &dyn MachineQuery, devices: &[BlockDevice]) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for device in devices.iter().flat_map(BlockDevice::stack) {
        if layers.iter().all(|known| known.name != device.name()) {
            layers.push(layer(roots, queries, &device));
        }
    }
    layers
}

/// A mounted file system as the topmost layer.
pub(crate) fn mount_layer(mount: &Mount, devices: &[BlockDevice]) -> Layer {
    let sends = SENDERS.contains(&&*mount.kind);
    let origin = "/proc/self/mountinfo";
    Layer {
        name: clean(&mount.point),
        kind: LayerKind::FileSystem,
        on: devices.iter().map(BlockDevice::name).collect(),
        label: Fact::new(clean(&mount.kind), origin),
        takes_trim: if sends {
            Fact::new(true, origin)
        } else {
            Fact::unknown(wording::sends_trim_unknown(&mount.kind), origin)
        },
        ..Layer::default()
    }
}

fn layer(roots: &Roots, queries: &dyn MachineQuery, device: &BlockDevice) -> Layer {
    let kind = layer_kind(device);
    let number = |name: &str| roots.count::<u64>(device, name);
    let base = Layer {
        name: device.name(),
        kind,
        on: device.devices_below().iter().map(BlockDevice::name).collect(),
        label: label(roots, device, kind),
        start_bytes: start_bytes(roots, device, kind),
        hole_bytes: loop_hole_bytes(roots, device, kind),
        capacity_bytes: number("size").and_then(wording::TOO_LARGE, sector_bytes),
        alignment_offset_bytes: roots.count(device, "alignment_offset"),
        discard_alignment_bytes: number("discard_alignment"),
        ..Layer::default()
    };
    if kind == LayerKind::Partition {
        return base;
    }
    let kibibytes = |kibibytes: u64| kibibytes.checked_mul(1024);
    let discards = number("queue/discard_max_bytes");
    Layer {
        logical_block_bytes: number("queue/logical_block_size"),
        physical_block_bytes: number("queue/physical_block_size"),
        optimal_io_bytes: number("queue/optimal_io_size"),
        takes_trim: discards.clone().map(|bytes| bytes > 0),
        discard_bytes_max: discards,
        discard_granularity_bytes: number("queue/discard_granularity"),
        provisioning_mode: known(device.provisioning_mode(), device, "device/scsi_disk/*/provisioning_mode"),
        unmap_rule: known(unmap_rule(device), device, "device/vpd_pgb2"),
        scheduler: roots.attribute(device, "queue/scheduler").map(|line| selected_option(&line)),
        queue_requests_max: number("queue/nr_requests"),
        request_bytes_max: number("queue/max_sectors_kb").and_then(wording::TOO_LARGE, kibibytes),
        read_ahead_bytes: number("queue/read_ahead_kb").and_then(wording::TOO_LARGE, kibibytes),
        write_cache: roots.attribute(device, "queue/write_cache"),
        rotates: rotates(roots, device, kind),
        options: options(queries, device, kind),
        ..array(roots, device, kind, base)
    }
}

/// Sectors in bytes: /sys counts in sectors of 512 bytes, whatever the device's own are.
fn sector_bytes(sectors: u64) -> Option<u64> {
    sectors.checked_mul(512)
}

fn start_bytes(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<u64> {
    let number = |name: &str| roots.count::<u64>(device, name);
    match kind {
        LayerKind::Partition => number("start").and_then(wording::TOO_LARGE, sector_bytes),
        LayerKind::Loop
            if ["loop/offset", "loop/sizelimit"].iter().any(|name| number(name).get() > Some(0)) =>
        {
            number("loop/offset")
        }
        _ => Fact::NotQueried,
    }
}

fn label(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<String> {
    match kind {
        LayerKind::Loop => roots.attribute(device, "loop/backing_file"),
        _ if device.attribute("dm/name").is_some() => roots.attribute(device, "dm/name"),
        _ => Fact::NotQueried,
    }
}

fn loop_hole_bytes(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<u64> {
    if kind != LayerKind::Loop {
        return Fact::NotQueried;
    }
    let file = roots.attribute(device, "loop/backing_file").value().and_then(|file| roots.file(file));
    let length = file.as_ref().and_then(|file| file.metadata().ok()).map(|metadata| metadata.len());
    match file.zip(length) {
        Some((file, length)) => hole_bytes(file, length),
        None => Fact::unknown(wording::FILE_NOT_VISIBLE, "SEEK_HOLE"),
    }
}

/// Whether a disk rotates. The kernel assumes that it does unless the disk says otherwise, which most USB and
/// virtual disks do not (SCSI's page B1h).
fn rotates(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<bool> {
    let flag = roots.attribute(device, "queue/rotational").map(|text| text == "1");
    let may_be_silent = matches!(kind, LayerKind::UsbDisk | LayerKind::VirtualDisk);
    if may_be_silent && flag.get() == Some(true) && scsi_rotation(roots, device).value().is_none() {
        return flag.and_then(wording::ROTATION_ASSUMED, |_| None);
    }
    flag
}

/// A fact about something that not every device has.
fn known(value: Option<String>, device: &BlockDevice, attribute: &str) -> Fact<String> {
    value.map_or(Fact::NotQueried, |value| Fact::new(value, Roots::place(device, attribute)))
}

/// The option in brackets: `none` in `mq-deadline [none] kyber`.
fn selected_option(line: &str) -> String {
    let inside = line.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    inside.unwrap_or(line).to_owned()
}

fn array(roots: &Roots, device: &BlockDevice, kind: LayerKind, base: Layer) -> Layer {
    if kind != LayerKind::Array {
        return base;
    }
    Layer {
        level: roots.attribute(device, "md/level"),
        chunk_bytes: roots.count(device, "md/chunk_size"),
        members_missing: roots.count(device, "md/degraded"),
        busy_with: roots.attribute(device, "md/sync_action"),
        ..base
    }
}

/// Options of an encrypted mapping that decide speed, without its keys and places.
fn options(queries: &dyn MachineQuery, device: &BlockDevice, kind: LayerKind) -> Fact<Vec<String>> {
    if kind != LayerKind::Crypt {
        return Fact::NotQueried;
    }
    let table = answer(queries, &device.name(), Question::MapperTable);
    table.and_then(wording::NOT_DM_CRYPT, |table| crypt_options(&String::from_utf8_lossy(&table)))
}

/// The options in `START LENGTH crypt CIPHER KEY IV DEVICE OFFSET [COUNT OPTION…]`
/// (Documentation/admin-guide/device-mapper/dm-crypt.rst).
fn crypt_options(table: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = table.lines().next()?.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "crypt")?;
    words.get(at + 5)?;
    Some(words.iter().skip(at + 7).map(|word| clean(word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_reported_by_numbers_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(DIRECTORY)).unwrap();
        std::fs::write(folder.path().join(DIRECTORY).join("ours"), [0; 100]).unwrap();
        for (name, bytes, age) in [("a", 2 << 20, 1000), ("b", 10, 2000), ("c", 10, 90_000)] {
            let path = folder.path().join(name);
            std::fs::write(&path, vec![7; bytes]).unwrap();
            let then = std::time::SystemTime::now() - std::time::Duration::from_secs(age);
            File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
        }
        let files = sample(folder.path());
        assert_eq!(
            (files.files.get(), files.bytes.get()),
            (Some(3), Some((2 << 20) + 20)),
            "ours are left out"
        );
        assert!((1990..2100).contains(&files.content_age_s_p50.get().unwrap()), "{files:?}");
        assert!(files.content_age_s_p90.get().unwrap() >= 90_000);
        assert!(files.inode_age_s_p90.get().unwrap() < 100, "the inode cannot be set back");
        assert_eq!(files.is_part.get(), Some(false));
        let nothing = sample(&folder.path().join("nowhere"));
        assert_eq!((nothing.files.get(), nothing.content_age_s_p50.get()), (Some(0), None));
    }

    #[test]
    fn one_file_is_reported_like_a_folder_of_it() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), [1; 4096]).unwrap();
        let files = sample_file(file.as_file());
        assert_eq!(
            (files.files.get(), files.bytes.get(), files.hole_bytes.get()),
            (Some(1), Some(4096), Some(0))
        );
        file.as_file().set_len(3 << 20).unwrap();
        std::os::unix::fs::FileExt::write_all_at(file.as_file(), &[1; 4096], 1 << 20).unwrap();
        assert_eq!(sample_file(file.as_file()).hole_bytes.get(), Some((3 << 20) - 2 * 4096));
    }

    #[test]
    fn of_a_table_only_the_options_are_kept() {
        let table = "0 41943040 crypt aes-xts-plain64 :64:logon:cryptsetup:abc 0 8:3 32768 2 allow_discards no_read_workqueue\n";
        assert_eq!(crypt_options(table).unwrap(), ["allow_discards", "no_read_workqueue"]);
        assert_eq!(crypt_options("0 8 crypt aes-xts-plain64 00ff 0 8:3 32768").unwrap(), [""; 0]);
        for table in ["", "0 8 linear 8:3 0", "crypt", "0 8 crypt aes"] {
            assert_eq!(crypt_options(table), None, "{table}");
        }
    }

    #[test]
    fn the_scheduler_in_use_stands_in_brackets() {
        assert_eq!(selected_option("mq-deadline [none] kyber"), "none");
        assert_eq!((selected_option("none"), selected_option("[x")), ("none".into(), "[x".into()));
    }
}
