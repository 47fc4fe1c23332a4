//! Measures how well `recondition` and `check` do without a reference: simulated drives as block devices of
//! the kernel, a real file system on them, and fio as the judge of what was gained.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tempfile::TempDir;
use xshell::{Shell, cmd};

use crate::case_run::on_threads;
use crate::record::build_for_users;
use crate::table::Share;
use crate::target::{LoopDevice, ServedFile};

/// Which drives.
#[derive(Clone, Debug, Args)]
pub(crate) struct Options {
    /// Pairs of drives, one used and one new
    #[arg(long, default_value_t = 40)]
    pairs: usize,
    /// The first of them
    #[arg(long, default_value_t = 0)]
    first: usize,
    /// Pairs at a time; each needs some processor time of its own
    #[arg(long, default_value_t = 2)]
    threads: usize,
    /// The binary that is tried [default: built as packages hold it]
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Folder that keeps what each run said; a drive whose run is in it is not tried again
    #[arg(long)]
    keep: Option<PathBuf>,
}

/// A used drive is restored from this share of the new drive's speed on, by fio.
const RESTORED: f64 = 0.95;
/// A used drive that reaches this share is as fast as new.
const NOT_FALLEN: f64 = 0.9;
/// Bytes that fio writes sequentially to find out how fast a drive is.
const FIO_BYTES: &str = "200M";
/// Rest in which a drive empties its cache and finishes idle garbage collection.
const REST: Duration = Duration::from_secs(30);
/// Names of causes that a used drive without TRIM may have.
const RIGHT_CAUSES: [&str; 3] = ["no_trim", "scattered_data", "nearly_full"];
/// Seeds of generated page-mapped drives that use slows down, smallest first.
const GENERATED: [u64; 13] = [3, 4, 13, 15, 17, 21, 22, 25, 28, 39, 41, 42, 53];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileSystem {
    Ext4,
    Xfs,
    Btrfs,
}

/// A pair of equal drives and what is on them.
#[derive(Clone, Debug)]
struct Pair {
    drive: String,
    file_system: FileSystem,
    /// Whether another program reads and writes meanwhile.
    is_busy: bool,
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let busy = if self.is_busy { ", another program at work" } else { "" };
        write!(f, "{} {:?}{busy}", self.drive, self.file_system)
    }
}

/// An endless series of pairs: tiny and generated drives, file systems, busy and not, in turns.
fn pairs() -> impl Iterator<Item = Pair> {
    (0..).map(|index: usize| {
        let drive = match index % 3 {
            0 => "tiny-flash".to_owned(),
            turn => format!("generated-{}", GENERATED[(index / 3 * 2 + turn - 1) % GENERATED.len()]),
        };
        let file_system =
            [FileSystem::Ext4, FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs][index / 3 % 4];
        Pair { drive, file_system, is_busy: index % 5 == 4 }
    })
}

/// The result of a run on one drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Outcome {
    /// Speed by fio, in bytes a second, before and after.
    before: f64,
    after: f64,
    summary: String,
    causes: Vec<String>,
    /// Steps that were run.
    steps: usize,
}

/// A run as the folder of `--keep` holds it.
#[derive(Serialize, Deserialize)]
struct Kept {
    /// The pair, as it is printed.
    pair: String,
    outcome: Outcome,
    check: Value,
    recondition: Value,
}

/// Prints how many drives are as fast as new afterwards, and which causes were named.
///
/// # Errors
/// A program is missing, or this is not root.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "file systems are mounted by root: use sudo");
    if let Some(folder) = &options.keep {
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    }
    let binary = options.binary.clone().map_or_else(build_for_users, Ok)?;
    let pairs: Vec<(usize, Pair)> = pairs().enumerate().skip(options.first).take(options.pairs).collect();
    let outcomes = on_threads(options.threads, &pairs, |(number, pair)| {
        let run = |state: &str| {
            let keep = options.keep.as_ref().map(|folder| folder.join(format!("{number}-{state}.json")));
            let outcome = match keep.as_deref().map(|path| pair.kept(path)).transpose()?.flatten() {
                Some(outcome) => outcome,
                None => pair.run(&binary, state, keep.as_deref())?,
            };
            println!("{pair}, {state}: {}", line(&outcome));
            anyhow::Ok(outcome)
        };
        Ok((run("new")?, run("used")?))
    })?;
    print!("{}", report(&outcomes));
    Ok(())
}

fn line(outcome: &Outcome) -> String {
    format!(
        "fio {:.1} → {:.1} MB/s; {} steps; {}; causes {:?}",
        outcome.before / 1e6,
        outcome.after / 1e6,
        outcome.steps,
        outcome.summary,
        outcome.causes
    )
}

/// Counts over all pairs of a new drive and a used one.
fn report(outcomes: &[(Outcome, Outcome)]) -> String {
    let is_wrong =
        |outcome: &Outcome| outcome.causes.iter().any(|cause| !RIGHT_CAUSES.contains(&cause.as_str()));
    let is_restored = |(new, used): &&(Outcome, Outcome)| used.after >= RESTORED * new.before;
    let fallen = outcomes.iter().filter(|(new, used)| used.before < NOT_FALLEN * new.before);
    let fallen = Share::count(fallen, is_restored);
    let count = |has: &dyn Fn(&(Outcome, Outcome)) -> bool| outcomes.iter().filter(|pair| has(pair)).count();
    format!(
        "used: {} of {} had fallen; {} of them restored to ≥ 95% of new, and {} of all; a wrong cause named for {}\n\
         new: nothing done on {} of {}; a cause named for {}\n",
        fallen.whole,
        outcomes.len(),
        fallen.part,
        count(&|pair| is_restored(&pair)),
        count(&|(_, used)| is_wrong(used)),
        count(&|(new, _)| new.steps == 0),
        outcomes.len(),
        count(&|(new, _)| !new.causes.is_empty()),
    )
}

impl Pair {
    /// The stored outcome of this pair, if there is one.
    fn kept(&self, path: &Path) -> anyhow::Result<Option<Outcome>> {
        if !path.exists() {
            return Ok(None);
        }
        let kept: Kept = serde_json::from_str(&std::fs::read_to_string(path)?)
            .with_context(|| format!("{} holds no run", path.display()))?;
        ensure!(kept.pair == self.to_string(), "{} holds {}, not {self}", path.display(), kept.pair);
        Ok(Some(kept.outcome))
    }

    fn run(&self, binary: &Path, state: &str, keep: Option<&Path>) -> anyhow::Result<Outcome> {
        let mount = || Mounted::begin(binary, &format!("sim:{}?state={state}", self.drive), self.file_system);
        let company = |mounted: &Mounted| self.is_busy.then(|| Company::begin(&mounted.point)).transpose();
        // The check and fio get drives of their own: what they write and delete restores a drive or fills its cache.
        let checked = mount()?;
        let beside_check = company(&checked)?;
        let check = checked.ask(binary, "check")?;
        drop(beside_check);
        drop(checked);
        // Some drives restore themselves while they are idle, and what is moved out of a cache would be measured otherwise.
        let written = mount()?;
        std::thread::sleep(REST);
        let before = written.fio_bytes_per_s()?;
        drop(written);
        let mounted = mount()?;
        std::thread::sleep(REST);
        let beside = company(&mounted)?;
        let recondition = mounted.ask(binary, "recondition")?;
        drop(beside);
        std::thread::sleep(REST);
        let outcome = Outcome {
            before,
            after: mounted.fio_bytes_per_s()?,
            summary: recondition["summary"].as_str().context("no summary")?.to_owned(),
            causes: causes(&check)?,
            steps: recondition["tables"]["steps"].as_array().map_or(0, Vec::len),
        };
        if let Some(path) = keep {
            let kept = Kept { pair: self.to_string(), outcome: outcome.clone(), check, recondition };
            // Renamed when complete, so that an interrupted run leaves no file that looks complete.
            let beside = path.with_extension("part");
            std::fs::write(&beside, serde_json::to_string(&kept)?)?;
            std::fs::rename(&beside, path)?;
        }
        Ok(outcome)
    }
}

/// The causes that a check names as a problem.
fn causes(document: &Value) -> anyhow::Result<Vec<String>> {
    let answers = document["answers"].as_array().context("no answers")?;
    let problems = answers.iter().filter(|answer| answer["standing"] == "problem");
    let ids = problems.filter_map(|answer| answer["id"].as_str());
    Ok(ids.filter_map(|id| id.strip_prefix("cause_")).map(str::to_owned).collect())
}

/// A simulated drive in real time, below a real file system. Everything ends when it is dropped.
struct Mounted {
    point: PathBuf,
    // In the order in which they are dropped.
    _unmount: Unmount,
    _device: LoopDevice,
    _file: ServedFile,
    _server: Server,
    folder: TempDir,
}

struct Unmount(PathBuf);

impl Drop for Unmount {
    fn drop(&mut self) {
        let point = &self.0;
        if let Err(error) = Shell::new().and_then(|sh| cmd!(sh, "umount {point}").quiet().run()) {
            eprintln!("could not unmount {}: {error}", point.display());
        }
    }
}

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Another program that reads and writes a little all the time.
struct Company(Server);

impl Company {
    fn begin(folder: &Path) -> anyhow::Result<Self> {
        let file = folder.join("company");
        let child = Command::new("fio")
            .args([
                "--name=company",
                "--rw=randrw",
                "--bs=16k",
                "--size=16M",
                "--rate_iops=10,10",
                "--direct=1",
                "--thread",
            ])
            .args(["--time_based", "--runtime=1h", "--filename"])
            .arg(file)
            .stdout(Stdio::null())
            .spawn()
            .context("could not start fio")?;
        Ok(Self(Server(child)))
    }
}

impl Drop for Company {
    fn drop(&mut self) {
        let _ = self.0.0.kill();
    }
}

impl Mounted {
    fn begin(binary: &Path, target: &str, file_system: FileSystem) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir()?;
        let (socket, point) = (folder.path().join("socket"), folder.path().join("mounted"));
        std::fs::create_dir(&point)?;
        let server = Command::new(binary)
            .args(["sim", "serve", target, "--socket"])
            .arg(&socket)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .context("could not run likenew")?;
        let server = Server(server);
        // Making a used drive takes a while.
        for _ in 0..1200 {
            if socket.exists() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let file = ServedFile::with_arguments(&[&format!("nbd+unix:///?socket={}", socket.display())])?;
        let device = LoopDevice::attach(file.path(), true)?;
        let sh = Shell::new()?;
        let path = &device.device;
        match file_system {
            FileSystem::Ext4 => {
                let settings = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";
                cmd!(sh, "mkfs.ext4 -q -F -E {settings} {path}").quiet().run()?;
            }
            FileSystem::Xfs => cmd!(sh, "mkfs.xfs -q -f -K {path}").quiet().run()?,
            FileSystem::Btrfs => cmd!(sh, "mkfs.btrfs -q -f -K {path}").quiet().run()?,
        }
        cmd!(sh, "mount {path} {point}").quiet().run()?;
        let unmount = Unmount(point.clone());
        Ok(Self { point, _unmount: unmount, _device: device, _file: file, _server: server, folder })
    }

    /// Speed at which fio writes a new file sequentially, in bytes a second.
    fn fio_bytes_per_s(&self) -> anyhow::Result<f64> {
        let (sh, file) = (Shell::new()?, self.point.join("fio"));
        let text = cmd!(
            sh,
            "fio --name=write --filename={file} --rw=write --bs=1M --size={FIO_BYTES} --direct=1 --ioengine=libaio
             --iodepth=4 --end_fsync=1 --output-format=json"
        );
        let text = text.quiet().read().context("could not run fio")?;
        std::fs::remove_file(&file)?;
        let document: Value = serde_json::from_str(&text)?;
        document["jobs"][0]["write"]["bw_bytes"].as_f64().context("fio says no speed")
    }

    /// Runs a command on the folder without any setting; returns its document.
    fn ask(&self, binary: &Path, command_name: &str) -> anyhow::Result<Value> {
        let (said, data) = (self.folder.path().join("said.json"), self.folder.path().join("data"));
        let mut command = Command::new(binary);
        command.arg(command_name).arg(&self.point).args(["--yes", "--json"]).arg(&said);
        let output = command.env("XDG_DATA_HOME", data).output().context("could not run likenew")?;
        let text = std::fs::read_to_string(&said)
            .with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())?;
        Ok(serde_json::from_str(&text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forty_pairs_have_every_file_system_alone_and_in_company() {
        let pairs: Vec<Pair> = pairs().take(40).collect();
        for file_system in [FileSystem::Ext4, FileSystem::Xfs, FileSystem::Btrfs] {
            for is_busy in [false, true] {
                let is_wanted = |pair: &&Pair| pair.file_system == file_system && pair.is_busy == is_busy;
                assert!(pairs.iter().any(|pair| is_wanted(&pair)), "{file_system:?} {is_busy}");
            }
        }
        assert!(
            GENERATED.iter().all(|seed| pairs.iter().any(|pair| pair.drive.ends_with(&format!("-{seed}"))))
        );
    }

    #[test]
    fn what_is_not_restored_and_what_is_done_to_a_new_drive_is_counted() {
        let outcome = |before, after, steps, causes: &[&str]| Outcome {
            before,
            after,
            summary: String::new(),
            causes: causes.iter().map(|&cause| cause.to_owned()).collect(),
            steps,
        };
        let new = || outcome(60e6, 60e6, 0, &[]);
        let outcomes = [
            (new(), outcome(15e6, 59e6, 1, &["no_trim"])),
            (new(), outcome(15e6, 40e6, 1, &["heat"])),
            (outcome(60e6, 60e6, 1, &["slc_cache"]), outcome(58e6, 58e6, 0, &[])),
        ];
        let text = report(&outcomes);
        assert!(
            text.contains("used: 2 of 3 had fallen; 1 of them restored to ≥ 95% of new, and 2 of all"),
            "{text}"
        );
        assert!(text.contains("a wrong cause named for 1\n"), "{text}");
        assert!(text.contains("new: nothing done on 2 of 3; a cause named for 1\n"), "{text}");
    }
}
