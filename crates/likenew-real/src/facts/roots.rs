//! Where the system's own files are: under `/`, or under a folder into which those of another machine were
//! copied.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use likenew_core::facts::Fact;

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::standards::bytes::clean;
use crate::wording::facts as wording;

/// What would help where the system lets only root read.
pub(crate) const ROOT: &str = wording::RUN_AS_ROOT;
/// No file that is read here is longer; the rest of a longer one is ignored.
const BYTES_MAX: u64 = 4 << 20;

/// One machine's files. All paths are those that the machine has, from its root on, and so are all origins.
#[derive(Clone, Debug)]
pub(crate) struct Roots {
    root: PathBuf,
}

impl Roots {
    /// This machine's.
    pub(crate) fn system() -> Self {
        Self::at(Path::new("/"))
    }

    /// Those under a folder.
    pub(crate) fn at(root: &Path) -> Self {
        Self { root: fs::canonicalize(root).unwrap_or_else(|_| root.to_owned()) }
    }

    fn real(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Whether there is something of that name, if only a link to nowhere.
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

    /// The name of what a link leads to: of a driver, a subsystem.
    pub(crate) fn link_name(&self, path: &str) -> Option<String> {
        Some(clean(&self.link(path)?.file_name()?.to_string_lossy()))
    }

    /// The folder that a path leads to, as the machine calls it.
    pub(crate) fn resolve_path(&self, path: &str) -> Option<String> {
        let real = fs::canonicalize(self.real(path)).ok()?;
        let inside = real.strip_prefix(&self.root).ok()?;
        Some(format!("/{}", inside.display()))
    }

    /// Names in a folder, sorted.
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.real(folder)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
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
        let folder = fs::canonicalize(self.real("/sys/class/block").join(name)).ok()?;
        folder.starts_with(&self.root).then(|| BlockDevice::at(folder))
    }

    /// The block device with these numbers.
    pub(crate) fn by_number(&self, number: DeviceNumber) -> Option<BlockDevice> {
        let link = self.real(&format!("/sys/dev/block/{}:{}", number.major, number.minor));
        let folder = fs::canonicalize(link).ok()?;
        folder.starts_with(&self.root).then(|| BlockDevice::at(folder))
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

    /// Where an attribute of a block device is found, in few words.
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
        ErrorKind::PermissionDenied => Fact::unknown(wording::NO_PERMISSION, origin).help(ROOT),
        _ => Fact::unknown(wording::unreadable(error), origin),
    }
}
