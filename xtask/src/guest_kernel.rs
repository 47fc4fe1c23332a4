//! Fetches the kernel of the guest in which facts are tested: Debian's, unpacked into the target folder and
//! never installed.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::packages::apt_get;
use crate::target;

/// The package that depends on the newest kernel. The one for clouds has no drivers for SATA and USB.
const PACKAGE: &str = "linux-image-amd64";
/// Most modules are for hardware that the guest does not have.
const LEFT_OUT: [&str; 7] = [
    "./usr",
    "*/drivers/gpu",
    "*/drivers/media",
    "*/drivers/net",
    "*/drivers/staging",
    "*/kernel/sound",
    "*/kernel/net",
];

/// Fetches it if it is missing; without access to Debian's packages, says so and continues.
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
        // Old or missing lists name no current package.
        apt_get(&sh, &["update", "-qq"])?;
        bring(&sh, &folder)?;
    }
    Ok(())
}

/// Downloads the package and unpacks it.
fn bring(sh: &Shell, folder: &Path) -> anyhow::Result<()> {
    // An incomplete download starts again; nothing else uses the folder.
    sh.remove_path(folder)?;
    sh.create_dir(folder)?;
    let _inside = sh.push_dir(folder);
    let text = cmd!(sh, "apt-cache depends --important {PACKAGE}").read()?;
    let image = text.lines().find_map(|line| line.trim().strip_prefix("Depends: ")).map(str::to_owned);
    let image = image.with_context(|| format!("apt knows no {PACKAGE}"))?;
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
    // Last of all: a file with this name is complete.
    let kernel = format!("boot/vmlinuz-{}", release.to_string_lossy());
    std::fs::rename(folder.join(kernel), folder.join("vmlinuz")).context("the package has no kernel")
}

/// The one entry of a folder.
fn single_file(sh: &Shell, folder: &Path) -> anyhow::Result<PathBuf> {
    sh.read_dir(folder)?.into_iter().next().with_context(|| format!("{} is empty", folder.display()))
}
