//! Installs the packages into clean systems of the oldest supported releases, uses them as an owner would, and removes
//! them. Mounts live in namespaces that end with each command, so none remains in any case.

use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Instant;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::packages::as_root;
use crate::{dist, root, target};

/// Debian 11, which has the oldest supported glibc.
const RELEASE: &str = "bullseye";
/// Packages that a minimal system lacks but an owner has.
const EXTRA_PACKAGES: &str = "man-db,python3-venv";
/// Debian 12, the oldest release with Python 3.11.
const RELEASE_WITH_PYTHON: &str = "bookworm";
/// User and group of an ordinary user. Homes are in /tmp, as root's is.
const ORDINARY_USER: &str = "1000:1000";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Profile of the build
    #[arg(long, default_value = "trial")]
    profile: String,
    /// Debian release to install into
    #[arg(long, default_value = RELEASE)]
    release: String,
    /// Pack what the tests have built, which compiles nothing, and install it into this system's own release
    #[arg(long, conflicts_with_all = ["profile", "release"])]
    of_tests: bool,
}

/// Builds the packages and tries them.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.of_tests {
        return run_of_tests();
    }
    let sh = Shell::new()?;
    sh.change_dir(root());
    let built = dist::Built::new(&sh, &options.profile)?;
    try_packages(&sh, &built, &options.release, RELEASE_WITH_PYTHON)
}

/// Tries packages made from the test build, which needs this system's C library. If the system is not Debian on x86-64,
/// prints that and continues.
pub(crate) fn run_of_tests() -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let Some(release) = debian_release(&sh).filter(|_| cfg!(target_arch = "x86_64")) else {
        println!("packages are for Debian on x86-64, and are not tried here");
        return Ok(());
    };
    try_packages(&sh, &dist::Built::of_tests(&sh)?, &release, &release)
}

/// The code name of this system's release, if it is Debian.
fn debian_release(sh: &Shell) -> Option<String> {
    let system = sh.read_file("/etc/os-release").ok()?;
    let value = |key: &str| system.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
    value("VERSION_CODENAME").filter(|_| value("ID") == Some("debian")).map(str::to_owned)
}

/// Makes the packages; installs, uses and removes each one in a clean system.
fn try_packages(
    sh: &Shell,
    built: &dist::Built,
    release: &str,
    release_with_python: &str,
) -> anyhow::Result<()> {
    let folder = tempfile::tempdir_in(target())?;
    let (packages, again) = (folder.path().join("packages"), folder.path().join("again"));
    let files = dist::pack(sh, built, &packages)?;
    dist::pack(sh, built, &again)?;
    for file in &files {
        let equal = std::fs::read(packages.join(file))? == std::fs::read(again.join(file))?;
        anyhow::ensure!(equal, "{file} differs when it is packed again");
    }
    println!("packed twice, with equal bytes: {}", files.join(", "));

    let package = files.iter().find(|file| file.ends_with(".deb")).context("no Debian package was made")?;
    let path = packages.join(package);
    cmd!(sh, "lintian --fail-on error,warning {path}").quiet().run()?;

    let system = System::unpack(sh, release)?;
    as_root(sh, "cp", &[&path.display().to_string(), &system.inside("/likenew.deb")])?;
    let archive = files.iter().find(|file| file.ends_with(".zst")).context("no archive was made")?;
    archive_runs(sh, &system, &packages.join(archive))?;

    let before = system.files()?;
    system.expect(0, "apt-get install -y -qq --no-install-recommends /likenew.deb")?;
    use_it(&system)?;
    // Reinstalling the same version must keep all files as packed.
    system.expect(
        0,
        "apt-get install -y -qq --reinstall --no-install-recommends /likenew.deb && dpkg --verify likenew",
    )?;
    for removal in ["apt-get remove -y -qq likenew", "dpkg -i /likenew.deb && apt-get purge -y -qq likenew"] {
        system.expect(0, &format!("{removal} && ! command -v likenew"))?;
        let left: Vec<String> = system.files()?.into_iter().filter(|file| !before.contains(file)).collect();
        anyhow::ensure!(left.is_empty(), "{removal} leaves {left:#?}");
    }
    println!("installed, used, upgraded and removed in Debian {release}");
    let wheel = files.iter().find(|file| file.ends_with(".whl")).context("no wheel was made")?;
    wheel_runs(sh, &packages.join(wheel), release_with_python)
}

/// Installs the wheel without a network, uses it as an ordinary user, and removes it.
fn wheel_runs(sh: &Shell, wheel: &Path, release: &str) -> anyhow::Result<()> {
    let system = System::unpack(sh, release)?;
    let name = wheel.file_name().context("a wheel is a file")?.to_string_lossy().into_owned();
    let wheel = wheel.display().to_string();
    as_root(sh, "cp", &[&wheel, &system.inside(&format!("/tmp/{name}"))])?;
    let run = |exit: i32, command: &str| system.expect_as(ORDINARY_USER, exit, command);
    run(0, "python3 -m venv env && find env | sort > before")?;
    run(0, &format!("env/bin/pip install --quiet --no-index --no-compile /tmp/{name}"))?;
    let said = run(10, "env/bin/likenew check 'sim:tiny-flash?state=used'")?;
    anyhow::ensure!(said.contains("Writes are slow"), "the wheel's program says {said}");
    let said = run(0, &format!("env/bin/python -B -c '{DIAGNOSE}'"))?;
    anyhow::ensure!(said.contains("scattered_data 1"), "the wheel's module says {said}");
    run(0, "env/bin/pip uninstall --quiet --yes likenew && find env | sort > after")?;
    let left = run(0, "comm -13 before after | grep -v __pycache__ || true")?;
    anyhow::ensure!(left.is_empty(), "removing the wheel leaves {left}");
    println!("the wheel was installed, used and removed in Debian {release}");
    Ok(())
}

/// A diagnosis in Python, and a folder measured by the wheel's program.
const DIAGNOSE: &str = "import likenew as l, os; \
     cause = l.diagnose(l.SimulatedDrive(\"tiny-flash\", state=\"used\")).causes[0].name; \
     os.mkdir(\"drive\"); run = l.run(l.Bench(\"drive\", span=\"16MiB\", passes=1, time=0.1)); \
     print(cause, len(run.tables[\"results\"]) > 0 and 1)";

/// Runs the archive's program without installing it.
fn archive_runs(sh: &Shell, system: &System, archive: &Path) -> anyhow::Result<()> {
    let unpacked = system.inside("/tmp/archive");
    as_root(sh, "mkdir", &["-p", &unpacked])?;
    let archive = archive.display().to_string();
    as_root(sh, "tar", &["--use-compress-program=zstd", "-xf", &archive, "-C", &unpacked])?;
    let said = system.expect(0, "/tmp/archive/likenew-*/likenew --version")?;
    anyhow::ensure!(said.starts_with("likenew "), "the archive's program says {said}");
    Ok(())
}

/// Commands of an owner, and the answers that they must give.
fn use_it(system: &System) -> anyhow::Result<()> {
    for (user, exit, command, answer) in [
        ("0:0", 0, "likenew --version", "likenew "),
        ("0:0", 0, "likenew check sim:tiny-flash", "As fast as new"),
        ("0:0", 10, "likenew check 'sim:tiny-flash?state=used'", "Writes are slow"),
        (ORDINARY_USER, 0, "likenew check sim:tiny-flash", "As fast as new"),
        (ORDINARY_USER, 0, "likenew bench . --span 16MiB --passes 1 --runtime 200ms", "SEQ1M Q8T1 read"),
        (ORDINARY_USER, 3, "likenew bench /etc/passwd --op write", "consent"),
        (ORDINARY_USER, 0, "likenew report --quiet", "read"),
        ("0:0", 0, "man likenew", "EXIT STATUS"),
        ("0:0", 0, "man likenew-check", "--advertised"),
        ("0:0", 0, "man likenew-causes", "fstrim"),
        ("0:0", 0, "man -k likenew", "likenew-recondition"),
        (ORDINARY_USER, 0, COMPLETE, "check"),
    ] {
        let said = system.expect_as(user, exit, command)?;
        anyhow::ensure!(said.contains(answer), "{command} says nothing of {answer:?}:\n{said}");
    }
    Ok(())
}

/// Prints what bash offers after `likenew che`, with the completions that it finds by itself.
const COMPLETE: &str = "bash -c '. /usr/share/bash-completion/completions/likenew; \
     COMP_WORDS=(likenew che); COMP_CWORD=1; _likenew likenew che likenew; echo ${COMPREPLY[@]}'";

/// An unpacked system, removed when dropped.
struct System<'a> {
    sh: &'a Shell,
    folder: tempfile::TempDir,
}

impl<'a> System<'a> {
    /// Unpacks the release, which is fetched once.
    fn unpack(sh: &'a Shell, release: &str) -> anyhow::Result<Self> {
        let archive = target().join("dist-systems").join(format!("{release}.tar"));
        if !archive.exists() {
            fetch(sh, release, &archive)?;
        }
        let system = Self { sh, folder: tempfile::tempdir_in(target())? };
        let (archive, folder) = (archive.display().to_string(), system.folder.path().display().to_string());
        as_root(sh, "tar", &["--numeric-owner", "-xpf", &archive, "-C", &folder])?;
        let home = "mkdir -p /tmp/home-0 /tmp/home-1000 && chown 1000:1000 /tmp/home-1000";
        system.expect(0, home)?;
        Ok(system)
    }

    fn inside(&self, path: &str) -> String {
        format!("{}{path}", self.folder.path().join("root").display())
    }

    fn expect(&self, exit: i32, command: &str) -> anyhow::Result<String> {
        self.expect_as("0:0", exit, command)
    }

    /// Runs a command in the system, checks its exit code, and returns its output.
    fn expect_as(&self, user: &str, exit: i32, command: &str) -> anyhow::Result<String> {
        let begun = Instant::now();
        let Output { status, stdout, stderr } = self.output(user, command)?;
        let said = String::from_utf8_lossy(&stdout).into_owned() + &String::from_utf8_lossy(&stderr);
        anyhow::ensure!(
            status.code() == Some(exit),
            "{command}: expected exit code {exit}, got {status}\n{said}"
        );
        println!("  {command}: exit code {exit}, {:.1} s", begun.elapsed().as_secs_f64());
        Ok(said)
    }

    fn output(&self, user: &str, command: &str) -> anyhow::Result<Output> {
        let root = self.inside("");
        let home = format!("/tmp/home-{}", user.split(':').next().unwrap_or_default());
        let inside = format!("cd {home} 2> /dev/null; {command}");
        // The namespace ends with the command, and the mounts with it.
        let enter = "mount -t proc proc \"$0/proc\" && mount --rbind /sys \"$0/sys\" && \
             exec chroot --userspec=\"$1\" \"$0\" env -i HOME=\"$2\" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
             MANPAGER=cat COLUMNS=100 PATH=/usr/sbin:/usr/bin:/sbin:/bin sh -c \"$3\"";
        let arguments =
            ["--mount", "--propagation", "private", "sh", "-c", enter, &root, user, &home, &inside];
        let front = crate::packages::root_front();
        let words = [front, &["unshare"], &arguments].concat();
        let (program, words) = words.split_first().expect("a command has a first word");
        let sh = self.sh;
        Ok(cmd!(sh, "{program} {words...}").quiet().ignore_status().output()?)
    }

    /// All files except those of the package manager, caches, logs and temporary folders.
    fn files(&self) -> anyhow::Result<std::collections::BTreeSet<String>> {
        let said = self.output(
            "0:0",
            "find / -xdev \\( -path /proc -o -path /sys -o -path /tmp -o -path /run -o -path /dev/shm -o -path /var/cache -o -path /var/log \
             -o -path /var/lib/apt -o -path /var/lib/dpkg \\) -prune -o -print",
        )?;
        Ok(String::from_utf8(said.stdout)?.lines().map(str::to_owned).collect())
    }
}

impl Drop for System<'_> {
    fn drop(&mut self) {
        // These files belong to other users. The temporary folder removes the rest.
        if let Err(error) = as_root(self.sh, "rm", &["-rf", "--one-file-system", &self.inside("")]) {
            eprintln!("could not remove {}: {error}", self.folder.path().display());
        }
    }
}

/// Makes a system from the packages that apt is configured for, and saves it as an archive.
fn fetch(sh: &Shell, release: &str, archive: &Path) -> anyhow::Result<()> {
    let mirror = mirror(sh)?;
    println!("fetching a minimal Debian {release}, once");
    let folder: PathBuf = archive.parent().expect("an archive lies in a folder").to_owned();
    sh.create_dir(&folder)?;
    let temporary = tempfile::tempdir_in(&folder)?;
    let inside = temporary.path().join("root").display().to_string();
    let include = format!("--include={EXTRA_PACKAGES}");
    let made = as_root(sh, "debootstrap", &["--variant=minbase", &include, release, &inside, &mirror])
        .and_then(|()| {
            // The downloaded packages are installed and not needed any more.
            as_root(sh, "sh", &["-c", "rm -f \"$0\"/var/cache/apt/archives/*.deb", &inside])?;
            let partial = archive.with_extension("partial").display().to_string();
            as_root(
                sh,
                "tar",
                &["--numeric-owner", "-C", &temporary.path().display().to_string(), "-cf", &partial, "root"],
            )?;
            Ok(std::fs::rename(&partial, archive)?)
        });
    as_root(sh, "rm", &["-rf", "--one-file-system", &inside])?;
    made
}

/// The mirror from which apt gets Debian's packages.
fn mirror(sh: &Shell) -> anyhow::Result<String> {
    let format = "$(ORIGIN) $(REPO_URI)";
    let lines = cmd!(sh, "apt-get indextargets --format {format}").quiet().read()?;
    let mut mirrors = lines.lines().filter_map(|line| line.strip_prefix("Debian "));
    let mirror =
        mirrors.find(|mirror| !mirror.contains("security")).context("apt knows no mirror of Debian")?;
    Ok(mirror.to_owned())
}
