//! Comments of a job file: how to run it, and where fio only comes close to a workload.

// ## On top of the file

pub(super) const RUN: &str = "Run it with: fio --output-format=json+ --output=RESULT.json THIS.fio";

pub(super) const RUN_WITH_FILE: &str = "Name what to measure: LIKENEW_FILE=/path/of/a/file fio --output-format=json+ --output=RESULT.json THIS.fio";

pub(super) const CAUTION: &str =
    "CAUTION: these jobs write. Whatever the file or device holds is lost, and fio does not ask.";

/// One comment a line.
pub(super) const COMPARISON: &str = "\
To compare the result with a run of the same plan by likenew: likenew compare RUN RESULT.json
(likenew report --list names the runs). To keep it as a run: likenew import fio RESULT.json --plan PLAN.toml
Numbers may differ: fio counts latency from when it prepares an I/O, and likenew from when it is submitted (or was due);
fio submits I/Os one by one, and likenew all that are ready; and fio lays out a missing or short file by writing it
before the first job.";

pub(super) const ENGINE: &str = "libaio where the system refuses io_uring, as some containers do";

// ## On top of a job

pub(super) const STRIDE_WRAPS: &str =
    "at the end of the zone fio continues where the next step leads, and likenew starts at its beginning";

pub(super) const TRIMS_DEVICES: &str = "fio trims block devices only";

pub(super) const SHARES_ROUNDED: &str = "fio knows whole percents: the shares of the lengths are rounded";

pub(super) const ALIGNED_TO_SHORTEST: &str =
    "fio aligns every random I/O to the shortest length, and likenew aligns each I/O to its own length";

pub(super) fn zone_rest(bytes: u64) -> String {
    format!("{bytes} bytes at the end of the zone, less than an I/O per copy, are left out")
}

pub(super) const ZIPF: &str =
    "fio's generator only approximates Zipf's law, and puts popular addresses elsewhere";

pub(super) const STAMPS: &str = "likenew's stamps are random data to fio, and what it reads is not checked";

/// Shares to which the data compresses, in percent: in fio, and in the workload.
pub(super) fn compressibility_rounded(fio: f64, workload: f64) -> String {
    format!("fio knows whole percents: the data compresses to {fio:.0}%, not {workload:.1}%")
}

pub(super) const TIME_ONLY: &str =
    "fio cannot count parallel streams together: only the time ends this, not the amount";

pub(super) const BOUND_ROUNDED: &str =
    "the bound does not divide by the copies: fio may do up to one I/O a copy more";

pub(super) const LATE_IOS: &str =
    "fio counts a late I/O from when it was submitted, and likenew from when it was due";

pub(super) const RATE_ROUNDED: &str = "fio takes whole IOPS: the rate is rounded";
