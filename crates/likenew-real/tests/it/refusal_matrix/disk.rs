//! A disk for the test: an image behind a loop device, with or without a partition.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{Loop, disk_folder, run_when_free};

/// Detached and removed when dropped.
pub struct Disk {
    device: Loop,
    has_partition: bool,
    pub folder: tempfile::TempDir,
    pub image: PathBuf,
}

/// Start and length of the partition.
pub const PARTITION: (u64, u64) = (1 << 20, 4 << 20);
const BYTES: u64 = 8 << 20;

impl Disk {
    /// Empty.
    pub fn plain() -> Self {
        let folder = disk_folder();
        let image = folder.path().join("disk.img");
        File::create_new(&image).unwrap().set_len(BYTES).unwrap();
        let device = Loop::attach(&image).expect("root can attach a loop device");
        Self { device, has_partition: false, folder, image }
    }

    /// With one partition, known to the kernel.
    pub fn partitioned() -> Self {
        let mut disk = Self::plain();
        disk.write(&table(PARTITION), 0);
        disk.add_partition();
        disk
    }

    /// With partitions in sfdisk's format, known to the kernel.
    pub fn with_table(script: &str) -> Self {
        let mut disk = Self::plain();
        disk.make_table(script);
        disk.add_partition();
        disk
    }

    /// Writes a partition table unknown to the kernel.
    pub fn make_table(&self, script: &str) {
        let mut sfdisk = Command::new("sfdisk");
        let sfdisk = sfdisk.args(["-q", "--no-reread", "--no-tell-kernel", self.image.to_str().unwrap()]);
        let mut sfdisk = sfdisk.stdin(Stdio::piped()).spawn().unwrap();
        sfdisk.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
        assert!(sfdisk.wait().unwrap().success(), "sfdisk");
    }

    pub fn add_partition(&mut self) {
        run_when_free("partx", &["--add", self.name()]).expect("the kernel takes a partition table");
        self.has_partition = true;
    }

    pub fn remove_partition(&mut self) {
        run_when_free("partx", &["--delete", self.name()]).expect("a partition that nobody uses goes away");
        self.has_partition = false;
    }

    pub fn path(&self) -> &Path {
        &self.device.0
    }

    pub fn name(&self) -> &str {
        self.device.0.to_str().unwrap()
    }

    pub fn partition(&self) -> PathBuf {
        format!("{}p1", self.name()).into()
    }

    pub fn write(&self, bytes: &[u8], offset: u64) {
        File::options().write(true).open(&self.image).unwrap().write_all_at(bytes, offset).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        if self.has_partition {
            run_when_free("partx", &["--delete", self.name()]);
        }
    }
}

/// A DOS partition table: one entry of type 0x83, and the signature.
pub fn table((start, bytes): (u64, u64)) -> [u8; 512] {
    let mut table = [0; 512];
    table[450] = 0x83;
    table[454..458].copy_from_slice(&u32::try_from(start / 512).unwrap().to_le_bytes());
    table[458..462].copy_from_slice(&u32::try_from(bytes / 512).unwrap().to_le_bytes());
    table[510..].copy_from_slice(&[0x55, 0xAA]);
    table
}
