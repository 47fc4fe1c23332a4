//! Measures the speed and memory of reading traces.

use std::path::Path;

use anyhow::{Context as _, bail};
use clap::Args;
use xshell::{Shell, cmd};

use crate::root;

#[derive(Args)]
pub(crate) struct Options {
    /// Records of the long trace
    #[arg(long, default_value_t = 20_000_000)]
    records: u64,
    /// Only these formats
    #[arg(long, value_delimiter = ',')]
    formats: Vec<String>,
    /// Folder for the traces [default: the folder for temporary files]
    #[arg(long)]
    folder: Option<std::path::PathBuf>,
}

/// Time and memory of one reading.
struct Reading {
    records: u64,
    cpu_ns: u64,
    rss_bytes: u64,
}

impl Reading {
    fn per_s(&self) -> f64 {
        self.records as f64 / (self.cpu_ns as f64 / 1e9)
    }
}

/// Writes a short and a long trace of each format, and reads them back, each in a separate process.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    cmd!(sh, "cargo build --release --quiet -p likenew-trace --example trace_speed").run()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), Into::into);
    let program = target.join("release/examples/trace_speed");
    let folder = match &options.folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    let short = options.records / 20;
    println!("million records a second of one core's CPU time; peak memory in MiB");
    println!(
        "{:10} {:>8} {:>8} {:>14} {:>14}",
        "format", "read", "surveyed", "memory, short", "memory, long"
    );
    let is_wanted =
        |name: &str| options.formats.is_empty() || options.formats.iter().any(|wanted| wanted == name);
    for format in likenew_trace::FORMATS.iter().map(|format| format.name).filter(|name| is_wanted(name)) {
        let [short, long] =
            [short, options.records].map(|records| trace(&sh, &program, folder.path(), format, records));
        let (short, long) = (short?, long?);
        println!(
            "{format:10} {:8.2} {:8.2} {:14.1} {:14.1}",
            long.0.per_s() / 1e6,
            long.1.per_s() / 1e6,
            short.0.rss_bytes as f64 / (1 << 20) as f64,
            long.0.rss_bytes as f64 / (1 << 20) as f64
        );
    }
    Ok(())
}

/// Writes a trace, reads it and surveys it.
fn trace(
    sh: &Shell,
    program: &Path,
    folder: &Path,
    format: &str,
    records: u64,
) -> anyhow::Result<(Reading, Reading)> {
    let file = folder.join(format!("{format}-{records}"));
    let count = records.to_string();
    cmd!(sh, "{program} make {format} {count} {file}").quiet().run()?;
    let read = |how: &str| -> anyhow::Result<Reading> {
        let text = cmd!(sh, "{program} {how} {format} {file}").quiet().read()?;
        let numbers: Vec<u64> =
            text.split(' ').map(str::parse).collect::<Result<_, _>>().context(text.clone())?;
        let [records_read, cpu_ns, rss_bytes] = numbers[..] else { bail!("unexpected: {text}") };
        anyhow::ensure!(records_read == records, "{format}: {records_read} of {records} records");
        Ok(Reading { records, cpu_ns, rss_bytes })
    };
    let readings = (read("read")?, read("survey")?);
    std::fs::remove_file(&file)?;
    Ok(readings)
}
