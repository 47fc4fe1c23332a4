//! Installs Debian packages that checks need. Also fetches the kernel for the guest of the fact tests: Debian's,
//! unpacked below the target folder and never installed.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Shell, cmd};

use super::target;

/// Debian packages for tests, each with a file that shows that it is installed.
const PACKAGES: [(&str, &str); 41] = [
    ("fio", "/usr/bin/fio"),
    ("e2fsprogs", "/usr/sbin/mkfs.ext4"),
    ("util-linux", "/usr/sbin/losetup"),
    ("mount", "/usr/bin/mount"),
    ("f3", "/usr/bin/f3write"),
    ("xfsprogs", "/usr/sbin/mkfs.xfs"),
    ("btrfs-progs", "/usr/sbin/mkfs.btrfs"),
    ("nbdkit", "/usr/bin/nbdkit"),
    ("libnbd-bin", "/usr/bin/nbdfuse"),
    ("fuse3", "/usr/bin/fusermount3"),
    ("bindfs", "/usr/bin/bindfs"),
    ("fuse2fs", "/usr/bin/fuse2fs"),
    ("erofs-utils", "/usr/bin/mkfs.erofs"),
    ("fdisk", "/usr/sbin/sfdisk"),
    ("blktrace", "/usr/sbin/blktrace"),
    ("linux-perf", "/usr/bin/perf"),
    ("zstd", "/usr/bin/zstd"),
    ("gcc", "/usr/bin/cc"),
    ("tmux", "/usr/bin/tmux"),
    ("chromium", "/usr/bin/chromium"),
    ("firefox-esr", "/usr/bin/firefox-esr"),
    ("fonts-open-sans", "/usr/share/fonts/truetype/open-sans"),
    ("fonts-dejavu-core", "/usr/share/fonts/truetype/dejavu"),
    ("fonts-roboto-unhinted", "/usr/share/fonts/truetype/roboto/unhinted"),
    ("qemu-utils", "/usr/bin/qemu-io"),
    ("qemu-system-x86", "/usr/bin/qemu-system-x86_64"),
    ("busybox-static", "/usr/bin/busybox"),
    ("kmod", "/usr/sbin/modprobe"),
    ("dmsetup", "/usr/sbin/dmsetup"),
    ("smartmontools", "/usr/sbin/smartctl"),
    ("systemd", "/usr/bin/systemd-analyze"),
    ("python3-apt", "/usr/lib/python3/dist-packages/apt"),
    ("postgresql", "/usr/lib/postgresql"),
    ("prometheus", "/usr/bin/prometheus"),
    ("prometheus-node-exporter", "/usr/bin/prometheus-node-exporter"),
    ("mandoc", "/usr/bin/mandoc"),
    ("zsh", "/usr/bin/zsh"),
    ("fish", "/usr/bin/fish"),
    ("debootstrap", "/usr/sbin/debootstrap"),
    ("lintian", "/usr/bin/lintian"),
    ("python3-venv", "/usr/share/doc/python3-venv"),
];

/// Installs missing packages.
///
/// # Errors
/// apt-get failed; the error lists what to install by hand.
pub(crate) fn install(sh: &Shell) -> anyhow::Result<()> {
    let missing: Vec<&str> = PACKAGES
        .iter()
        .filter(|(_, shown_by)| !sh.path_exists(shown_by))
        .map(|(package, _)| *package)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing {}", missing.join(", "));
    apt_get(sh, &["update", "-qq"])?;
    apt_get(sh, &[&["install", "-y", "-qq"], &missing[..]].concat())
        .with_context(|| format!("install these by hand: {}", missing.join(", ")))
}

/// Runs apt-get as root without questions.
pub(crate) fn apt_get(sh: &Shell, arguments: &[&str]) -> anyhow::Result<()> {
    as_root(sh, "env", &[&["DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat())
}

/// Runs a program as root.
pub(crate) fn as_root(sh: &Shell, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let words = [root_front(), &[program], arguments].concat();
    let (program, words) = words.split_first().expect("a command has a first word");
    Ok(cmd!(sh, "{program} {words...}").quiet().run()?)
}

/// The words that make a command run as root.
pub(crate) fn root_front() -> &'static [&'static str] {
    if rustix::process::geteuid().is_root() { &[] } else { &["sudo"] }
}

/// The package that depends on the newest kernel. The one for clouds lacks drivers for SATA and USB.
const KERNEL: &str = "linux-image-amd64";
/// Paths that are not unpacked: most modules are for hardware that the guest lacks.
const LEFT_OUT: [&str; 7] = [
    "./usr",
    "*/drivers/gpu",
    "*/drivers/media",
    "*/drivers/net",
    "*/drivers/staging",
    "*/kernel/sound",
    "*/kernel/net",
];

/// Fetches the guest's kernel if missing. Without apt-get, prints that there is none and continues.
pub(crate) fn bring_if_possible() -> anyhow::Result<()> {
    let folder = target().join("guest-kernel");
    let sh = Shell::new()?;
    if sh.path_exists(folder.join("vmlinuz")) {
        return Ok(());
    }
    if !cfg!(target_arch = "x86_64") || cmd!(sh, "apt-get --version").quiet().ignore_stdout().run().is_err() {
        println!("no kernel for a guest can be had here: its tests will be skipped");
        return Ok(());
    }
    if bring(&sh, &folder).is_err() {
        // Outdated or missing package lists name no current package.
        apt_get(&sh, &["update", "-qq"])?;
        bring(&sh, &folder)?;
    }
    Ok(())
}

/// Downloads the kernel's package and unpacks it.
fn bring(sh: &Shell, folder: &Path) -> anyhow::Result<()> {
    // Starts from scratch, in case an earlier download was incomplete. Nothing else uses the folder.
    sh.remove_path(folder)?;
    sh.create_dir(folder)?;
    let _inside = sh.push_dir(folder);
    let text = cmd!(sh, "apt-cache depends --important {KERNEL}").read()?;
    let image = text.lines().find_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned);
    let image = image.with_context(|| format!("apt knows no {KERNEL}"))?;
    println!("bringing {image} for the guest");
    cmd!(sh, "apt-get download -qq {image}").run()?;
    let package = single_file(sh, folder)?;
    let skips = LEFT_OUT.iter().map(|pattern| format!("--exclude={pattern}"));
    let unpacked = cmd!(sh, "dpkg-deb --fsys-tarfile {package}").quiet().output()?;
    cmd!(sh, "tar -x {skips...} ./boot ./lib").stdin(unpacked.stdout).run()?;
    sh.remove_path(&package)?;
    let modules = single_file(sh, &folder.join("lib/modules"))?;
    let release = modules.file_name().context("modules lie in a folder")?;
    cmd!(sh, "/usr/sbin/depmod -b {folder} {release}").run()?;
    // Renamed last, so that a file with this name is complete.
    let kernel = format!("boot/vmlinuz-{}", release.to_string_lossy());
    std::fs::rename(folder.join(kernel), folder.join("vmlinuz")).context("the package has no kernel")
}

/// The only entry of a folder.
fn single_file(sh: &Shell, folder: &Path) -> anyhow::Result<PathBuf> {
    sh.read_dir(folder)?.into_iter().next().with_context(|| format!("{} is empty", folder.display()))
}
