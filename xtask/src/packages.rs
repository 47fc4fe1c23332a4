//! Debian packages that the checks need, and apt-get.

use anyhow::Context as _;
use xshell::{Shell, cmd};

/// Debian packages that tests use, each with a program or file that shows that it is installed.
const PACKAGES: [(&str, &str); 39] = [
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
    ("zstd", "/usr/bin/zstd"),
    ("gcc", "/usr/bin/cc"),
    ("tmux", "/usr/bin/tmux"),
    ("chromium", "/usr/bin/chromium"),
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

/// Installs those that are missing.
///
/// # Errors
/// apt-get failed; the error says what to install by hand.
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

/// Runs apt-get as root, without questions.
pub(crate) fn apt_get(sh: &Shell, arguments: &[&str]) -> anyhow::Result<()> {
    as_root(sh, "env", &[&["DEBIAN_FRONTEND=noninteractive", "apt-get"], arguments].concat())
}

/// Runs a program as root.
pub(crate) fn as_root(sh: &Shell, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    let words = [root_front(), &[program], arguments].concat();
    let (program, words) = words.split_first().expect("a command has a first word");
    Ok(cmd!(sh, "{program} {words...}").quiet().run()?)
}

/// What a command of root begins with.
pub(crate) fn root_front() -> &'static [&'static str] {
    if rustix::process::geteuid().is_root() { &[] } else { &["sudo"] }
}
