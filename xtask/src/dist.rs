//! Builds what users install: an archive and a Debian package with one binary, a Python wheel, and checksums. They run
//! on systems since 2020.
//!
//! Equal sources give equal packages: times come from the commit, and orders and owners are fixed.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::Value;
use xshell::{Shell, cmd};

use super::{python, root, target};

/// The oldest C library that is supported: Debian 11's.
const GLIBC: Version = Version(2, 31);
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Profile of the build; `source` is built sooner
    #[arg(long, default_value = "small")]
    profile: String,
}

/// Builds the binary, and packs it into `target/dist/`.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let built = Built::new(&sh, &options.profile)?;
    let folder = target().join("dist");
    for file in pack(&sh, &built, &folder)? {
        let bytes = std::fs::metadata(folder.join(&file))?.len();
        println!("{}: {:.1} MB", folder.join(file).display(), bytes as f64 / 1e6);
    }
    Ok(())
}

/// Compiled files that go into packages.
pub(crate) struct Built {
    binary: PathBuf,
    wheel: PathBuf,
}

impl Built {
    /// Builds for an old C library, and checks that the result needs no newer one.
    pub(crate) fn new(sh: &Shell, profile: &str) -> anyhow::Result<Self> {
        let tools = python::install(sh, &python::DIST)?;
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&paths)))?;
        let _paths = sh.push_env("PATH", paths);
        let triple = format!("{TRIPLE}.{GLIBC}");
        cmd!(sh, "cargo zigbuild --locked --profile {profile} --package likenew --target {triple}").run()?;
        let folder = if profile == "dev" { "debug" } else { profile };
        let binary = target().join(TRIPLE).join(folder).join("likenew");
        let needs = Needs::of(sh, &binary)?;
        anyhow::ensure!(
            needs.glibc <= GLIBC && !needs.gcc,
            "{} needs {}, and may need glibc {GLIBC} at most",
            binary.display(),
            needs.packages()
        );
        Ok(Self { binary, wheel: wheel(sh, profile)? })
    }

    /// Takes what the tests have built, which runs on systems as new as this one.
    pub(crate) fn of_tests(sh: &Shell) -> anyhow::Result<Self> {
        let (tested, folder) = (target().join("debug/likenew"), target().join("dist-tested"));
        sh.create_dir(&folder)?;
        let binary = folder.join("likenew");
        cmd!(sh, "strip -o {binary} {tested}").quiet().run()?;
        Ok(Self { binary, wheel: python::wheel()? })
    }
}

/// Builds the Python package; maturin checks which C library it needs.
fn wheel(sh: &Shell, profile: &str) -> anyhow::Result<PathBuf> {
    let folder = target().join("wheels");
    sh.remove_path(&folder)?;
    let options = format!(
        "--locked --profile {profile} --zig --target {TRIPLE} --compatibility manylinux_{}_{} --interpreter python3",
        GLIBC.0, GLIBC.1
    );
    let _time = sh.push_env("SOURCE_DATE_EPOCH", commit_time_s(sh)?);
    cmd!(sh, "pip wheel --quiet --no-deps --no-build-isolation --wheel-dir {folder} .")
        .env("MATURIN_PEP517_ARGS", options)
        .run()?;
    let built = sh.read_dir(&folder)?;
    built.into_iter().next().context("pip made no wheel")
}

fn commit_time_s(sh: &Shell) -> anyhow::Result<String> {
    Ok(cmd!(sh, "git log -1 --format=%ct").quiet().read()?)
}

/// Makes all packages in `folder`, and returns the names of the files.
pub(crate) fn pack(sh: &Shell, built: &Built, folder: &Path) -> anyhow::Result<Vec<String>> {
    let temporary = tempfile::tempdir_in(target())?;
    let contents = Contents {
        binary: built.binary.clone(),
        version: version(sh, &built.binary)?,
        commit_time_s: commit_time_s(sh)?,
        pages: write_pages(sh, &built.binary, temporary.path())?,
        notices: notices(sh)?,
    };
    sh.remove_path(folder)?;
    sh.create_dir(folder)?;
    let mut files = vec![
        archive(sh, &contents, &temporary.path().join("archive"), folder)?,
        deb(sh, &contents, &temporary.path().join("deb"), folder)?,
    ];
    let wheel = built.wheel.file_name().context("a wheel is a file")?.to_string_lossy().into_owned();
    install(&built.wheel, &folder.join(&wheel), 0o644)?;
    files.push(wheel);
    files.sort();
    let _inside = sh.push_dir(folder);
    let sums = cmd!(sh, "sha256sum").args(&files).quiet().read()?;
    std::fs::write(folder.join("SHA256SUMS"), sums + "\n")?;
    files.push("SHA256SUMS".to_owned());
    Ok(files)
}

/// Contents of the packages.
struct Contents {
    binary: PathBuf,
    version: String,
    /// Time of all packed files, in seconds since 1970.
    commit_time_s: String,
    /// The folder that `likenew help --write` filled.
    pages: PathBuf,
    /// Licenses of everything that the binary contains.
    notices: String,
}

/// The version that the binary reports.
fn version(sh: &Shell, binary: &Path) -> anyhow::Result<String> {
    let said = cmd!(sh, "{binary} --version").quiet().read()?;
    said.strip_prefix("likenew ").map(str::to_owned).with_context(|| format!("not a version: {said}"))
}

/// Makes `likenew-VERSION-x86_64-linux.tar.zst`: one folder with all files.
fn archive(sh: &Shell, contents: &Contents, staging: &Path, folder: &Path) -> anyhow::Result<String> {
    let name = format!("likenew-{}-x86_64-linux", contents.version);
    let top = staging.join(&name);
    install(&contents.binary, &top.join("likenew"), 0o755)?;
    for page in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        install(&root().join(page), &top.join(page), 0o644)?;
    }
    write(&top.join("THIRD-PARTY.md"), contents.notices.as_bytes())?;
    for shelf in ["man", "completions"] {
        install_all(&contents.pages.join(shelf), &top.join(shelf))?;
    }
    let units = root().join("contrib/systemd");
    if units.is_dir() {
        install_all(&units, &top.join("systemd"))?;
    }
    let file = format!("{name}.tar.zst");
    let archive = folder.join(&file);
    let time = format!("@{}", contents.commit_time_s);
    // With several threads, zstd's output depends on their number. Level 19 takes 15 times as long for 10% less.
    cmd!(sh, "tar --create --directory {staging} --sort=name --mtime={time} --owner=0 --group=0")
        .args(["--numeric-owner", "--format=gnu", "--use-compress-program=zstd -12 -T1 -q", "--file"])
        .arg(archive)
        .arg(name)
        .quiet()
        .run()?;
    Ok(file)
}

/// Copies a file to `to` with this mode, whatever its own mode and the umask are.
fn install(from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
    make_parent(to)?;
    std::fs::copy(from, to).with_context(|| format!("could not copy {}", from.display()))?;
    Ok(std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode))?)
}

/// Copies all files of a folder, with their layout.
fn install_all(from: &Path, to: &Path) -> anyhow::Result<()> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry?;
        if entry.file_type().is_file() {
            install(entry.path(), &to.join(entry.path().strip_prefix(from)?), 0o644)?;
        }
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    make_parent(path)?;
    std::fs::write(path, bytes)?;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o644))?)
}

/// Makes the folders above a file, with the usual mode in packages.
fn make_parent(file: &Path) -> anyhow::Result<()> {
    let parent = file.parent().expect("a file lies in a folder");
    if parent.is_dir() {
        return Ok(());
    }
    make_parent(parent)?;
    std::fs::create_dir(parent)?;
    Ok(std::fs::set_permissions(parent, std::fs::Permissions::from_mode(0o755))?)
}

/// Libraries in the package `libc6`.
const OF_LIBC: [&str; 6] =
    ["ld-linux-x86-64.so.2", "libc.so.6", "libdl.so.2", "libm.so.6", "libpthread.so.0", "librt.so.1"];

/// The library in the package `libgcc-s1`.
const OF_GCC: &str = "libgcc_s.so.1";

/// A version of glibc, such as 2.31.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Version(u32, u32);

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.0, self.1)
    }
}

/// Requirements of a binary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Needs {
    /// The oldest glibc with all needed symbols.
    glibc: Version,
    /// Whether GCC's library is needed. Most systems have it, and a build with zig does not need it.
    gcc: bool,
}

impl Needs {
    /// Determines the requirements of a binary.
    ///
    /// # Errors
    /// The binary needs a library that not every system has.
    fn of(sh: &Shell, binary: &Path) -> anyhow::Result<Self> {
        let headers = cmd!(sh, "objdump --private-headers {binary}").quiet().read()?;
        let libraries: Vec<&str> =
            headers.lines().filter_map(|line| Some(line.trim().strip_prefix("NEEDED")?.trim())).collect();
        let is_known = |library: &&str| OF_LIBC.contains(library) || *library == OF_GCC;
        if let Some(other) = libraries.iter().find(|library| !is_known(library)) {
            anyhow::bail!("{} needs {other}, which not every system has", binary.display());
        }
        let symbols = cmd!(sh, "objdump --dynamic-syms {binary}").quiet().read()?;
        let glibc = versions(&symbols).last().copied();
        let glibc = glibc.with_context(|| format!("{} names no glibc", binary.display()))?;
        Ok(Self { glibc, gcc: libraries.contains(&OF_GCC) })
    }

    /// The requirements as packages, for the control file of a Debian package.
    fn packages(self) -> String {
        let gcc = if self.gcc { ", libgcc-s1" } else { "" };
        format!("libc6 (>= {}){gcc}", self.glibc)
    }
}

/// All versions of glibc that a list of symbols names.
fn versions(symbols: &str) -> BTreeSet<Version> {
    let named = symbols.split("GLIBC_").skip(1).filter_map(|rest| {
        let number = rest.split(|c: char| !c.is_ascii_digit() && c != '.').next()?;
        let mut parts = number.split('.').map(str::parse);
        Some(Version(parts.next()?.ok()?, parts.next()?.ok()?))
    });
    named.collect()
}

/// Beginnings of the names of license files.
const LICENCE_FILES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"];
/// Folders with C code in crates, which has its own licenses.
const C_CODE: [&str; 2] = ["zstd", "sqlite3"];

/// All notices as Markdown, each distinct text once.
fn notices(sh: &Shell) -> anyhow::Result<String> {
    let mut holders: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut overview = String::new();
    for Crate { name, licence, folder } in crates(sh)? {
        let texts = licence_texts(&folder)?;
        let lack = if texts.is_empty() { " (its authors publish no text with it)" } else { "" };
        overview += &format!("- {name}: {licence}{lack}\n");
        for text in texts {
            holders.entry(text).or_default().insert(name.clone());
        }
    }
    let page = root().join("web/dist/licenses.md");
    let page =
        std::fs::read_to_string(&page).with_context(|| format!("could not read {}", page.display()))?;
    let mut text = format!(
        "# Third-party software\n\nThe program contains these crates, under these licences:\n\n{overview}"
    );
    for (licence, names) in holders {
        let names: Vec<String> = names.into_iter().collect();
        text += &format!("\n## {}\n\n{}\n", names.join(", "), licence.trim_end());
    }
    Ok(format!("{text}\n# Software in the pages of reports\n\n{}\n", page.trim_end()))
}

struct Crate {
    name: String,
    licence: String,
    folder: PathBuf,
}

/// All linked crates except our own.
fn crates(sh: &Shell) -> anyhow::Result<Vec<Crate>> {
    let tree =
        cmd!(sh, "cargo tree --locked --package likenew --edges normal,no-proc-macro --target {TRIPLE}")
            .args(["--prefix", "none", "--format", "{p}"])
            .quiet()
            .read()?;
    let linked: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    let metadata =
        cmd!(sh, "cargo metadata --locked --format-version 1 --filter-platform {TRIPLE}").quiet().read()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let mut crates = Vec::new();
    for package in packages.iter().filter(|package| !package["source"].is_null()) {
        let field = |name: &str| package[name].as_str().unwrap_or_default();
        if linked.contains(&(field("name"), field("version"))) {
            crates.push(Crate {
                name: format!("{} {}", field("name"), field("version")),
                licence: field("license").to_owned(),
                folder: Path::new(field("manifest_path"))
                    .parent()
                    .context("a manifest lies in a folder")?
                    .to_owned(),
            });
        }
    }
    crates.sort_by(|a, b| a.name.cmp(&b.name));
    anyhow::ensure!(crates.len() > 100, "only {} crates were found", crates.len());
    Ok(crates)
}

/// The texts of a crate's license files.
fn licence_texts(folder: &Path) -> anyhow::Result<Vec<String>> {
    let folders = std::iter::once(folder.to_owned()).chain(C_CODE.iter().map(|name| folder.join(name)));
    let mut texts = Vec::new();
    for folder in folders.filter(|folder| folder.is_dir()) {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
            if path.is_file() && LICENCE_FILES.iter().any(|start| name.starts_with(start)) {
                texts.push(std::fs::read_to_string(&path)?.replace("\r\n", "\n"));
            }
        }
    }
    Ok(texts)
}

/// Lets the binary write its manual pages and completions below `folder`.
fn write_pages(sh: &Shell, binary: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let pages = folder.join("pages");
    cmd!(sh, "{binary} help --write {pages}").quiet().ignore_stdout().run()?;
    Ok(pages)
}

/// The folder for a package's documents.
const DOCUMENTS: &str = "usr/share/doc/likenew";

/// Makes `likenew_VERSION_amd64.deb`.
fn deb(sh: &Shell, contents: &Contents, staging: &Path, folder: &Path) -> anyhow::Result<String> {
    install(&contents.binary, &staging.join("usr/bin/likenew"), 0o755)?;
    install_pages(sh, contents, staging)?;
    let units = root().join("contrib/systemd");
    if units.is_dir() {
        // All releases of Debian look here. Nothing enables the units.
        install_all(&units, &staging.join("lib/systemd/system"))?;
    }
    documents(sh, contents, staging)?;

    let control = control(sh, contents, staging)?;
    write(&staging.join("DEBIAN/control"), control.as_bytes())?;
    write(&staging.join("DEBIAN/md5sums"), checksums(sh, staging)?.as_bytes())?;
    let file = format!("likenew_{}_amd64.deb", contents.version);
    let package = folder.join(&file);
    // dpkg of Debian 11 reads xz, but not zstd.
    cmd!(sh, "dpkg-deb --root-owner-group -Zxz --build {staging} {package}")
        .env("SOURCE_DATE_EPOCH", &contents.commit_time_s)
        .ignore_stdout()
        .quiet()
        .run()?;
    Ok(file)
}

/// Installs compressed manual pages, and completions where each shell looks for them.
fn install_pages(sh: &Shell, contents: &Contents, staging: &Path) -> anyhow::Result<()> {
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

/// Installs the package's documents: readme, licenses, changes.
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

/// The maintainer. The domain cannot exist, until there is a real address.
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

/// MD5 sums of all installed files, for `dpkg --verify`.
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

/// Replaces a file with a compressed one that contains neither name nor time.
fn compress(sh: &Shell, file: &Path) -> anyhow::Result<()> {
    Ok(cmd!(sh, "gzip -9 --no-name {file}").quiet().run()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        let symbols = "0000 DF *UND* 0000 (GLIBC_2.9) pipe2\n0000 DF *UND* 0000 (GLIBC_2.28) statx\n\
                       0000 DF *UND* 0000 (GLIBC_2.2.5) read\n0000 DF *UND* 0000 (GLIBC_PRIVATE) x";
        assert_eq!(
            versions(symbols).into_iter().collect::<Vec<_>>(),
            [Version(2, 2), Version(2, 9), Version(2, 28)]
        );
        assert!(Version(2, 9) < Version(2, 31));
    }
}
