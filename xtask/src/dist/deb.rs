//! The Debian package: a control file, files where Debian's policy wants them, and dpkg-deb.

use std::path::Path;

use xshell::{Shell, cmd};

use super::glibc::Needs;
use super::{Contents, install, install_all, write};
use crate::root;

/// Where a package says what it is.
const DOCUMENTS: &str = "usr/share/doc/likenew";

/// `likenew_VERSION_amd64.deb`.
pub(super) fn build(
    sh: &Shell,
    contents: &Contents,
    staging: &Path,
    folder: &Path,
) -> anyhow::Result<String> {
    install(&contents.binary, &staging.join("usr/bin/likenew"), 0o755)?;
    pages(sh, contents, staging)?;
    let units = root().join("contrib/systemd");
    if units.is_dir() {
        // Where every release of Debian looks. Nothing enables them.
        install_all(&units, &staging.join("lib/systemd/system"))?;
    }
    documents(sh, contents, staging)?;

    let control = control(sh, contents, staging)?;
    write(&staging.join("DEBIAN/control"), control.as_bytes())?;
    write(&staging.join("DEBIAN/md5sums"), checksums(sh, staging)?.as_bytes())?;
    let file = format!("likenew_{}_amd64.deb", contents.version);
    let package = folder.join(&file);
    // xz: dpkg of Debian 11 reads no zstd.
    cmd!(sh, "dpkg-deb --root-owner-group -Zxz --build {staging} {package}")
        .env("SOURCE_DATE_EPOCH", &contents.commit_time_s)
        .ignore_stdout()
        .quiet()
        .run()?;
    Ok(file)
}

/// Manual pages, packed, and completions where each shell looks for them.
fn pages(sh: &Shell, contents: &Contents, staging: &Path) -> anyhow::Result<()> {
    let man = staging.join("usr/share/man");
    install_all(&contents.pages.join("man"), &man)?;
    for entry in walkdir::WalkDir::new(&man) {
        let entry = entry?;
        if entry.file_type().is_file() {
            compress(sh, entry.path())?;
        }
    }
    let completions = contents.pages.join("completions");
    for (shell, folder) in [
        ("bash", "bash-completion/completions"),
        ("zsh", "zsh/vendor-completions"),
        ("fish", "fish/vendor_completions.d"),
    ] {
        install_all(&completions.join(shell), &staging.join("usr/share").join(folder))?;
    }
    Ok(())
}

/// What it is, under which licences, and what changed.
fn documents(sh: &Shell, contents: &Contents, staging: &Path) -> anyhow::Result<()> {
    let folder = staging.join(DOCUMENTS);
    write(&folder.join("copyright"), copyright()?.as_bytes())?;
    write(&folder.join("THIRD-PARTY.md"), contents.notices.as_bytes())?;
    compress(sh, &folder.join("THIRD-PARTY.md"))?;
    install(&root().join("README.md"), &folder.join("README.md"), 0o644)?;
    install(&root().join("CHANGELOG.md"), &folder.join("CHANGELOG.md"), 0o644)?;
    compress(sh, &folder.join("CHANGELOG.md"))?;
    let time = format!("@{}", contents.commit_time_s);
    let date = cmd!(sh, "date --utc --rfc-email --date {time}").env("LC_ALL", "C").quiet().read()?;
    let changelog = format!(
        "likenew ({}) unstable; urgency=medium\n\n  * The changes are in CHANGELOG.md.gz.\n\n -- {MAINTAINER}  {date}\n",
        contents.version
    );
    write(&folder.join("changelog"), changelog.as_bytes())?;
    compress(sh, &folder.join("changelog"))
}

/// Who answers for the package; the domain is one that cannot exist, until there is an address.
const MAINTAINER: &str = "Likenew maintainers <maintainers@likenew.invalid>";

fn control(sh: &Shell, contents: &Contents, staging: &Path) -> anyhow::Result<String> {
    let depends = Needs::of(sh, &contents.binary)?.packages();
    let kib = cmd!(sh, "du --summarize --apparent-size --block-size=1K {staging}").quiet().read()?;
    let kib = kib.split_whitespace().next().unwrap_or_default();
    Ok(format!(
        "Package: likenew\n\
         Version: {}\n\
         Architecture: amd64\n\
         Maintainer: {MAINTAINER}\n\
         Installed-Size: {kib}\n\
         Depends: {depends}\n\
         Suggests: fio, smartmontools\n\
         Section: utils\n\
         Priority: optional\n\
         Description: finds out whether a drive is slow, why, and what restores it\n \
         Likenew measures folders, files, block devices and simulated drives. It says\n \
         how far a drive has fallen from its first day, which cause is the likely one,\n \
         and which command restores it, and proves what it restored.\n \
         .\n \
         It writes only temporary files in free space, and only reads existing files and\n \
         block devices, unless their owner consents to losing what they hold.\n",
        contents.version
    ))
}

fn copyright() -> anyhow::Result<String> {
    let paragraph = |file: &str| -> anyhow::Result<String> {
        let text = std::fs::read_to_string(root().join(file))?;
        let lines = text.trim_end().lines();
        Ok(lines
            .map(|line| if line.trim().is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
            .collect())
    };
    Ok(format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: likenew\n\
         Comment: The licences of all software that the program contains are in THIRD-PARTY.md.gz.\n\n\
         Files: *\n\
         Copyright: The Likenew contributors\n\
         License: Expat or Apache-2.0\n\n\
         License: Expat\n{}\n\
         License: Apache-2.0\n On Debian systems, the text of the Apache License 2.0 is in\n \
         /usr/share/common-licenses/Apache-2.0.\n",
        paragraph("LICENSE-MIT")?
    ))
}

/// The MD5 sum of each installed file, which `dpkg --verify` compares.
fn checksums(sh: &Shell, staging: &Path) -> anyhow::Result<String> {
    let mut files: Vec<String> = Vec::new();
    for entry in walkdir::WalkDir::new(staging) {
        let entry = entry?;
        let name = entry.path().strip_prefix(staging)?.display().to_string();
        if entry.file_type().is_file() && !name.starts_with("DEBIAN/") {
            files.push(name);
        }
    }
    files.sort();
    let _inside = sh.push_dir(staging);
    Ok(cmd!(sh, "md5sum {files...}").quiet().read()? + "\n")
}

/// Replaces a file by a packed one, without its name and time in it.
fn compress(sh: &Shell, file: &Path) -> anyhow::Result<()> {
    Ok(cmd!(sh, "gzip -9 --no-name {file}").quiet().run()?)
}
