//! Installs what is missing, then checks and tests everything.

use std::time::Instant;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{guest_kernel, root, web};

/// Debian packages that tests use, each with a program or file that shows that it is installed.
const PACKAGES: [(&str, &str); 22] = [
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
    ("fdisk", "/usr/sbin/sfdisk"),
    ("blktrace", "/usr/sbin/blktrace"),
    ("zstd", "/usr/bin/zstd"),
    ("gcc", "/usr/bin/cc"),
    ("tmux", "/usr/bin/tmux"),
    ("chromium", "/usr/bin/chromium"),
    ("qemu-utils", "/usr/bin/qemu-io"),
    ("qemu-system-x86", "/usr/bin/qemu-system-x86_64"),
    ("busybox-static", "/usr/bin/busybox"),
    ("kmod", "/usr/sbin/modprobe"),
    ("dmsetup", "/usr/sbin/dmsetup"),
    ("smartmontools", "/usr/sbin/smartctl"),
];

/// Everything that must pass before a change may land, in the order in which it fails fastest.
pub(crate) fn run() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    step("packages", || install(&sh))?;
    step("guest kernel", guest_kernel::bring_if_possible)?;
    step("fmt", || Ok(cmd!(sh, "cargo fmt --all --check").run()?))?;
    // The page first: the tests of the report crate then use the page that users get.
    step("page", web::test)?;
    step("clippy", || Ok(cmd!(sh, "cargo clippy --workspace --all-targets -- -D warnings").run()?))?;
    step("build of the tests", || Ok(cmd!(sh, "cargo test --workspace --no-run --quiet").run()?))?;
    // Two per core: most of them wait for programs, devices and the disk.
    let threads = (2 * std::thread::available_parallelism()?.get()).to_string();
    step("tests", || {
        Ok(cmd!(sh, "cargo test --workspace --no-fail-fast").env("RUST_TEST_THREADS", threads).run()?)
    })?;
    step("doc", || {
        Ok(cmd!(sh, "cargo doc --workspace --no-deps --quiet").env("RUSTDOCFLAGS", "-D warnings").run()?)
    })
}

/// Runs a step, and prints its time.
fn step(name: &str, take: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
    let begun = Instant::now();
    take().with_context(|| format!("{name} failed"))?;
    println!("{name}: {} s", begun.elapsed().as_secs());
    Ok(())
}

fn install(sh: &Shell) -> anyhow::Result<()> {
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
    let sudo: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["sudo"] };
    let front = [sudo, &["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]].concat();
    let (program, front) = front.split_first().expect("a command has a first word");
    Ok(cmd!(sh, "{program} {front...} {arguments...}").run()?)
}
