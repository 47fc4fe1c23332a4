//! Comments of a job file: how to run it, and where fio only comes close to a workload.

// ## On top of the file

pub(super) const RUN: &str = "Run it with: fio --output-format=json+ THIS.fio";

pub(super) const RUN_WITH_FILE: &str =
    "Name what to measure: LIKENEW_FILE=/path/of/a/file fio --output-format=json+ THIS.fio";

pub(super) const CAUTION: &str =
    "CAUTION: these jobs write. Whatever the file or device holds is lost, and fio does not ask.";

/// One comment a line.
pub(super) const COMPARISON: &str = "\
The result stands beside our own runs with: likenew import fio RESULT.json
Numbers may differ, because fio counts latency from when it prepares an I/O and we from when it is handed over (or was due);
fio hands over I/Os one by one and we what is ready at once; and fio lays out a file that is missing or too short by
writing it before the first job.";

pub(super) const ENGINE: &str = "libaio where the system refuses io_uring, as some containers do";

// ## On top of a job

pub(super) const STRIDE_WRAPS: &str =
    "at the end of the zone fio begins again where the next step leads, and we at its start";

pub(super) const TRIMS_DEVICES: &str = "fio trims block devices only";

pub(super) const SHARES_ROUNDED: &str = "fio knows whole percents: the shares of the lengths are rounded";

pub(super) const ALIGNED_TO_SHORTEST: &str =
    "fio aligns every random I/O to the shortest length, and we each to its own";

pub(super) fn zone_rest(bytes: u64) -> String {
    format!("{bytes} bytes of the zone, less than an I/O a copy, are left out")
}

pub(super) const ZIPF: &str = "fio's generator comes near Zipf's law and scatters popular places its own way";

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
    "an I/O that leaves late counts from when it left in fio, and from when it was due with us";

pub(super) const RATE_ROUNDED: &str = "fio takes whole IOPS: the rate is rounded";
