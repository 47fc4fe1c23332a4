//! Brings the kernel of the guest in which facts are tested: Debian's, unpacked into the target folder and never installed.

use std::path::PathBuf;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::root;

/// The package of which the newest kernel is a dependency. That for clouds has no drivers for SATA and USB.
const PACKAGE: &str = "linux-image-amd64";
/// Most modules are for what the guest does not have.
const LEFT_OUT: [&str; 7] = [
    "./usr",
    "*/drivers/gpu",
    "*/drivers/media",
    "*/drivers/net",
    "*/drivers/staging",
    "*/kernel/sound",
    "*/kernel/net",
];

/// Brings it where it is not there yet; where Debian's packages can not be had, says so and goes on.
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
    // What was begun and not ended begins anew; the folder is ours alone.
    sh.remove_path(&folder)?;
    sh.create_dir(&folder)?;
    sh.change_dir(&folder);
    let told = cmd!(sh, "apt-cache depends --important {PACKAGE}").read()?;
    let image = told.lines().find_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned);
    let image = image.with_context(|| format!("apt knows no {PACKAGE}: run apt-get update"))?;
    println!("bringing {image} for the guest");
    cmd!(sh, "apt-get download -qq {image}").run().context("run apt-get update, and try again")?;
    let package = sh.read_dir(&folder)?.into_iter().next().context("apt-get has brought nothing")?;
    let left_out = LEFT_OUT.iter().map(|pattern| format!("--exclude={pattern}"));
    let archive = folder.join("image.tar");
    cmd!(sh, "dpkg-deb --fsys-tarfile {package}")
        .quiet()
        .output()
        .map(|output| std::fs::write(&archive, output.stdout))??;
    cmd!(sh, "tar -xf {archive} {left_out...} ./boot ./lib").run()?;
    let release =
        sh.read_dir(folder.join("lib/modules"))?.into_iter().next().context("the package has no modules")?;
    let release = release.file_name().context("modules lie in a folder")?.to_owned();
    cmd!(sh, "/usr/sbin/depmod -b {folder} {release}").run()?;
    sh.remove_path(&archive)?;
    sh.remove_path(&package)?;
    // Last of all: what has this name is whole.
    let kernel = format!("boot/vmlinuz-{}", release.to_string_lossy());
    std::fs::rename(folder.join(kernel), folder.join("vmlinuz")).context("the package has no kernel")
}

/// Where cargo builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}
