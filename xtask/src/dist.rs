//! What users install: an archive and a Debian package of one binary, and a Python wheel, which run on systems since 2020;
//! with checksums.
//!
//! Equal sources give equal packages: times come from the commit, orders and owners are fixed.

mod deb;
mod glibc;
mod notices;
mod pages;

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{python, python_tools, root, target};

/// The oldest C library that the binary runs with: Debian 11's.
const GLIBC: glibc::Version = glibc::Version(2, 31);
const TRIPLE: &str = "x86_64-unknown-linux-gnu";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Profile of the build; `source` is built sooner
    #[arg(long, default_value = "small")]
    profile: String,
}

/// Builds the binary and packs it into `target/dist/`.
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

/// What is compiled: it runs on old systems.
pub(crate) struct Built {
    binary: PathBuf,
    wheel: PathBuf,
}

impl Built {
    /// Builds against an old C library, and checks that no newer one is needed.
    pub(crate) fn new(sh: &Shell, profile: &str) -> anyhow::Result<Self> {
        let tools = python_tools::install(sh, &python_tools::DIST)?;
        let paths = std::env::var_os("PATH").unwrap_or_default();
        let paths = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&paths)))?;
        let _paths = sh.push_env("PATH", paths);
        let triple = format!("{TRIPLE}.{GLIBC}");
        cmd!(sh, "cargo zigbuild --locked --profile {profile} --package likenew --target {triple}").run()?;
        let folder = if profile == "dev" { "debug" } else { profile };
        let binary = target().join(TRIPLE).join(folder).join("likenew");
        let needs = glibc::Needs::of(sh, &binary)?;
        anyhow::ensure!(
            needs.glibc <= GLIBC && !needs.gcc,
            "{} needs {}, and may need glibc {GLIBC} at most",
            binary.display(),
            needs.packages()
        );
        Ok(Self { binary, wheel: wheel(sh, profile)? })
    }

    /// What the tests have built, which runs on systems as new as this one.
    pub(crate) fn of_tests(sh: &Shell) -> anyhow::Result<Self> {
        let (tested, folder) = (target().join("debug/likenew"), target().join("dist-tested"));
        sh.create_dir(&folder)?;
        let binary = folder.join("likenew");
        cmd!(sh, "strip -o {binary} {tested}").quiet().run()?;
        Ok(Self { binary, wheel: python::wheel()? })
    }
}

/// The Python package; maturin checks which C library it needs.
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

/// Packs what was built, and returns the names of the files that were written into the folder.
pub(crate) fn pack(sh: &Shell, built: &Built, folder: &Path) -> anyhow::Result<Vec<String>> {
    let temporary = tempfile::tempdir_in(target())?;
    let contents = Contents {
        binary: built.binary.clone(),
        version: version(sh, &built.binary)?,
        commit_time_s: commit_time_s(sh)?,
        pages: pages::write(sh, &built.binary, temporary.path())?,
        notices: notices::collect(sh)?,
    };
    sh.remove_path(folder)?;
    sh.create_dir(folder)?;
    let mut files = vec![
        archive(sh, &contents, &temporary.path().join("archive"), folder)?,
        deb::build(sh, &contents, &temporary.path().join("deb"), folder)?,
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

/// What goes into each package.
struct Contents {
    binary: PathBuf,
    version: String,
    /// Seconds since 1970: the time that every file gets.
    commit_time_s: String,
    /// Where `likenew help --write` wrote.
    pages: PathBuf,
    /// Licences of everything that the binary contains.
    notices: String,
}

/// The version that the binary says it is.
fn version(sh: &Shell, binary: &Path) -> anyhow::Result<String> {
    let said = cmd!(sh, "{binary} --version").quiet().read()?;
    said.strip_prefix("likenew ").map(str::to_owned).with_context(|| format!("not a version: {said}"))
}

/// `likenew-VERSION-x86_64-linux.tar.zst`: one folder with everything in it.
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
    // One thread: how zstd divides work among several decides what it writes. Level 19 takes 15 times as long for a tenth less.
    cmd!(sh, "tar --create --directory {staging} --sort=name --mtime={time} --owner=0 --group=0")
        .args(["--numeric-owner", "--format=gnu", "--use-compress-program=zstd -12 -T1 -q", "--file"])
        .arg(archive)
        .arg(name)
        .quiet()
        .run()?;
    Ok(file)
}

/// Copies a file under another name, with this mode whatever it was and whatever the umask is.
fn install(from: &Path, to: &Path, mode: u32) -> anyhow::Result<()> {
    make_parent(to)?;
    std::fs::copy(from, to).with_context(|| format!("could not copy {}", from.display()))?;
    Ok(std::fs::set_permissions(to, std::fs::Permissions::from_mode(mode))?)
}

/// Copies all files of a folder, as they are below it.
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

/// Makes the folders above a file, with the mode that packages have.
fn make_parent(file: &Path) -> anyhow::Result<()> {
    let parent = file.parent().expect("a file lies in a folder");
    if parent.is_dir() {
        return Ok(());
    }
    make_parent(parent)?;
    std::fs::create_dir(parent)?;
    Ok(std::fs::set_permissions(parent, std::fs::Permissions::from_mode(0o755))?)
}
