//! The guest's kernel: Debian's own, with the modules that its drives need.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Drivers of the guest's devices, and of the layers above them.
const MODULES: [&str; 21] = [
    "nvme",
    "ahci",
    "sd_mod",
    "drivetemp",
    "xhci_pci",
    "usb_storage",
    "uas",
    "virtio_pci",
    "virtio_blk",
    "virtio_scsi",
    "virtio_console",
    "megaraid_sas",
    "sdhci_pci",
    "mmc_block",
    "loop",
    "raid1",
    "dm_mod",
    "dm_crypt",
    "xts",
    "serpent_generic",
    "ext4",
];

/// A kernel and its modules, in loading order.
pub(super) struct Kernel {
    pub(super) image: PathBuf,
    pub(super) modules: Vec<PathBuf>,
}

impl Kernel {
    /// The one that `cargo xtask guest-kernel` has put into the target folder.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn find() -> Result<Self, String> {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("guest-kernel");
        let missing = || format!("{} has no kernel: `cargo xtask guest-kernel` brings one", folder.display());
        let image = folder.join("vmlinuz");
        if !image.exists() {
            return Err(missing());
        }
        let releases = std::fs::read_dir(folder.join("lib/modules")).map_err(|_| missing())?;
        let release = releases.flatten().next().ok_or_else(missing)?.file_name();
        let mut modules: Vec<PathBuf> = Vec::new();
        for name in MODULES {
            let mut modprobe = Command::new("/usr/sbin/modprobe");
            // Without the host's /etc/modprobe.d, whose options and aliases are for its own modules.
            modprobe
                .args(["--show-depends", "-C", "/dev/null", "-d"])
                .arg(&folder)
                .arg("-S")
                .arg(&release)
                .arg(name);
            let output = modprobe.output().unwrap();
            assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
            // `insmod PATH OPTIONS`, or `builtin NAME`.
            for line in String::from_utf8(output.stdout).unwrap().lines() {
                let path = line.strip_prefix("insmod ").map(|rest| PathBuf::from(rest.trim()));
                modules.extend(path.filter(|path| !modules.contains(path)));
            }
        }
        Ok(Self { image, modules })
    }

    /// Names of the modules, one a line.
    pub(super) fn order(&self) -> String {
        let name = |path: &PathBuf| format!("{}\n", path.file_name().unwrap().to_str().unwrap());
        self.modules.iter().map(name).collect()
    }
}
