//! Measures what recording costs a load: pairs of fio runs on a loop device over memory, recorded and not.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};
use clap::Args;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::fio::{self, Setting};
use crate::root;
use crate::table::{middle, spread};
use crate::target::{IoCase, LoopDevice, Tmpfs};

/// How long and how often.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Pairs of runs for each case; at least 5 for numbers that are quoted
    #[arg(long, default_value_t = 10)]
    pairs: usize,
    /// Seconds of each run
    #[arg(long, default_value_t = 2.0)]
    seconds: f64,
    /// The binary that records [default: built as packages hold it]
    #[arg(long)]
    binary: Option<PathBuf>,
}

const SPAN: u64 = 512 << 20;

/// Prints the ratio of IOPS with recording to those without, and the records kept and lost.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let binary = options.binary.clone().map_or_else(build_for_users, Ok)?;
    let tmpfs = Tmpfs::mount(SPAN + (1 << 30))?;
    let image = tmpfs.path().join("image");
    // Allocates memory before anything is timed.
    std::fs::write(&image, vec![0u8; SPAN as usize])?;
    let attached = LoopDevice::attach(&image, false)?;
    println!(
        "On a loop device: recorded / not recorded, median [lowest … highest] of {} pairs of {} s",
        options.pairs, options.seconds
    );
    for (depth, write) in [(32, false), (32, true), (1, false)] {
        let case = IoCase { random: true, write, block: 4096, depth, span: SPAN, lanes: 1 };
        compare(&binary, &attached.device, tmpfs.path(), &case, options)?;
    }
    Ok(())
}

/// Builds the program as packages hold it.
pub(crate) fn build_for_users() -> anyhow::Result<PathBuf> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    cmd!(sh, "cargo build --profile small --package likenew").run()?;
    Ok(target_folder().join("small/likenew"))
}

/// Where cargo puts what it builds, in a folder for each profile.
pub(crate) fn target_folder() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn compare(
    binary: &Path,
    device: &Path,
    folder: &Path,
    case: &IoCase,
    options: &Options,
) -> anyhow::Result<()> {
    let load = || Ok::<f64, anyhow::Error>(fio::run(device, case, options.seconds, Setting::default())?.iops);
    let (mut ratios, mut control, mut plain) = (Vec::new(), Vec::new(), Vec::new());
    let (mut recorded, mut lost, mut trace_bytes) = (0, 0, 0);
    for pair in 0..options.pairs {
        // The order alternates, so that neither is always first.
        let before = (pair % 2 == 0).then(load).transpose()?;
        let recorder = Recorder::start(binary, device, folder)?;
        let on = load()?;
        let came = recorder.end()?;
        let off = before.map_or_else(load, Ok)?;
        control.push(load()? / off);
        ratios.push(on / off);
        plain.push(off);
        (recorded, lost, trace_bytes) =
            (recorded + came.ios, lost + came.lost, trace_bytes + came.trace_bytes);
    }
    println!(
        "  {case}  {} [≥ 0.97]   not recorded twice {}   {:.0} IOPS, {recorded} I/Os recorded, {lost} records lost, {:.1} B/I/O of trace",
        spread(&ratios),
        spread(&control),
        middle(&plain),
        trace_bytes as f64 / recorded.max(1) as f64,
    );
    Ok(())
}

/// A running recorder.
struct Recorder {
    child: Child,
    trace: PathBuf,
}

/// The result of a recording.
struct RecordingResult {
    ios: u64,
    lost: u64,
    trace_bytes: u64,
}

impl Recorder {
    fn start(binary: &Path, device: &Path, folder: &Path) -> anyhow::Result<Self> {
        let trace = folder.join("trace.csv.zst");
        let mut command = Command::new(binary);
        command.arg("record").arg(device).arg("--out").arg(&trace).args(["--json", "-"]);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("could not run likenew")?;
        let stderr = child.stderr.take().expect("it is piped");
        let mut lines = BufReader::new(stderr).lines();
        // The last line that the recorder prints before it begins.
        let has_begun = lines.any(|line| line.is_ok_and(|line| line.contains("buffers take")));
        ensure!(has_begun, "the recorder did not begin");
        // More output must not block it.
        std::thread::spawn(move || lines.count());
        Ok(Self { child, trace })
    }

    fn end(self) -> anyhow::Result<RecordingResult> {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT)?;
        let output = self.child.wait_with_output()?;
        ensure!(output.status.success(), "the recorder failed");
        let document: Value = serde_json::from_slice(&output.stdout)?;
        let row = &document["tables"]["applications"][0];
        let count = |key: &str| row[key].as_u64().with_context(|| format!("no {key}"));
        let ios = count("reads")? + count("writes")? + count("trims")? + count("flushes")?;
        let trace_bytes = std::fs::metadata(&self.trace)?.len();
        let text =
            Command::new("zstd").args(["-dcq"]).arg(&self.trace).output().context("could not run zstd")?;
        let text = String::from_utf8(text.stdout)?;
        let lost = text.lines().find_map(|line| line.strip_prefix("# lost_events: ")?.parse().ok());
        std::fs::remove_file(&self.trace)?;
        Ok(RecordingResult { ios, lost: lost.context("the trace does not say what was lost")?, trace_bytes })
    }
}
