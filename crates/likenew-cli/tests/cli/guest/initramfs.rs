//! The guest's first file system: an archive of the kind that the kernel unpacks into memory (`newc`,
//! Documentation/driver-api/early-userspace/buffer-format.rst of the Linux sources).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders and files, as they are added.
#[derive(Default)]
pub(super) struct Initramfs {
    bytes: Vec<u8>,
    names: BTreeSet<PathBuf>,
}

impl Initramfs {
    /// Adds a file with this mode, and the folders above it.
    pub(super) fn file(&mut self, path: &str, mode: u32, content: &[u8]) {
        let mut folders: Vec<&Path> = Path::new(path).ancestors().skip(1).collect();
        folders.reverse();
        for folder in folders.into_iter().filter(|folder| *folder != Path::new("/")) {
            self.entry(folder, 0o040_755, &[]);
        }
        self.entry(Path::new(path), 0o100_000 | mode, content);
    }

    /// Adds a program, and its libraries in the places where it looks for them.
    pub(super) fn program(&mut self, path: &str, source: &Path) {
        self.file(path, 0o755, &std::fs::read(source).unwrap());
        let output = Command::new("ldd").arg(source).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        // `libc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x…)`, and the loader without an arrow.
        for library in text.split_whitespace().filter(|word| word.starts_with('/')) {
            self.file(library, 0o755, &std::fs::read(library).unwrap());
        }
    }

    /// The whole archive.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.entry(Path::new("/TRAILER!!!"), 0, &[]);
        self.bytes
    }

    /// One entry, unless there is one of that name.
    fn entry(&mut self, path: &Path, mode: u32, content: &[u8]) {
        if !self.names.insert(path.to_owned()) {
            return;
        }
        let name = path.strip_prefix("/").unwrap().to_str().unwrap();
        // Number, mode, owner, group, links, time, length, four device numbers, length of the name, checksum.
        let (number, length) = (self.names.len(), content.len());
        let fields = [number, mode as usize, 0, 0, 1, 0, length, 0, 0, 0, 0, name.len() + 1, 0];
        self.bytes.extend_from_slice(b"070701");
        fields.iter().for_each(|field| self.bytes.extend_from_slice(format!("{field:08X}").as_bytes()));
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}
