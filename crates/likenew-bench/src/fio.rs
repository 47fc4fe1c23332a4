//! Runs fio once on a target, and reads its own numbers.

use std::path::Path;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::target::IoCase;

/// The result of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FioResult {
    /// Bytes a second.
    pub(crate) bytes_per_s: f64,
    /// Mean latency in nanoseconds, from the moment an I/O was made ready to its end.
    pub(crate) latency_ns_mean: f64,
    /// User-space CPU time for one I/O, in nanoseconds.
    pub(crate) cpu_ns_per_io: f64,
    /// I/Os per second.
    pub(crate) iops: f64,
}

/// Settings of fio beyond the case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// `--fixedbufs --registerfiles`.
    pub(crate) registered: bool,
    /// `--write_lat_log`: every latency is kept.
    pub(crate) logged: bool,
}

/// Runs fio once. Random offsets keep no map of visited ones (`norandommap`), as in likenew; that is the
/// cheaper setting for fio.
///
/// # Errors
/// fio is not installed, failed, or its JSON is not understood.
pub(crate) fn run(path: &Path, case: &IoCase, seconds: f64, setting: Setting) -> anyhow::Result<FioResult> {
    let sh = Shell::new()?;
    let logs = tempfile::tempdir()?;
    let mut flags = vec![
        "--name=pair".to_owned(),
        "--ioengine=io_uring".into(),
        "--direct=1".into(),
        "--thread".into(),
        "--norandommap".into(),
        "--randrepeat=0".into(),
        "--zero_buffers".into(),
        "--time_based".into(),
        "--output-format=json".into(),
        format!("--filename={}", path.display()),
        format!("--rw={}", case.fio_rw()),
        format!("--bs={}", case.block),
        format!("--iodepth={}", case.depth),
        format!("--numjobs={}", case.lanes),
        "--group_reporting".into(),
        format!("--size={}", case.span),
        format!("--runtime={}ms", (seconds * 1e3).round()),
    ];
    if setting.registered {
        flags.extend(["--fixedbufs".into(), "--registerfiles".into()]);
    }
    if setting.logged {
        flags.push(format!("--write_lat_log={}", logs.path().join("fio").display()));
    }
    let text = cmd!(sh, "fio {flags...}").quiet().ignore_stderr().read().context("could not run fio")?;
    parse(&text, case).with_context(|| format!("could not read fio's JSON:\n{text}"))
}

fn parse(text: &str, case: &IoCase) -> anyhow::Result<FioResult> {
    // fio may print notes before the document.
    let start = text.find('{').context("no JSON")?;
    let document: serde_json::Value = serde_json::from_str(&text[start..])?;
    let job = &document["jobs"][0];
    let side = &job[if case.write { "write" } else { "read" }];
    let number =
        |value: &serde_json::Value, key: &str| value[key].as_f64().with_context(|| format!("no {key}"));
    let ios = number(side, "total_ios")?;
    let runtime_ms = number(job, "job_runtime")?;
    let user_share = number(job, "usr_cpu")? / 100.0;
    Ok(FioResult {
        bytes_per_s: number(side, "bw_bytes")?,
        latency_ns_mean: number(&side["lat_ns"], "mean")?,
        cpu_ns_per_io: user_share * runtime_ms * 1e6 / ios,
        iops: number(side, "iops")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fio_is_run_and_understood() {
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        for write in [true, false] {
            let case = IoCase { random: true, write, block: 4096, depth: 4, span: 1 << 20, lanes: 1 };
            for setting in [Setting::default(), Setting { registered: true, logged: true }] {
                let measured = run(file.path(), &case, 0.1, setting).unwrap();
                assert!(measured.iops > 0.0 && measured.latency_ns_mean > 0.0, "{measured:?}");
                let bytes_per_io = measured.bytes_per_s / measured.iops;
                assert!((bytes_per_io / 4096.0 - 1.0).abs() < 0.05, "{measured:?}");
            }
        }
    }

    #[test]
    fn what_is_not_fios_json_is_an_error() {
        let case = IoCase { random: true, write: false, block: 4096, depth: 1, span: 1 << 20, lanes: 1 };
        for text in ["", "fio: no such file", "{}", "{\"jobs\": [{\"read\": {}}]}"] {
            assert!(parse(text, &case).is_err(), "{text}");
        }
    }
}
