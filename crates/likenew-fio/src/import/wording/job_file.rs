//! Why a job file cannot be run.

pub(crate) const NOT_AN_OPTION: &str =
    "expected an option of fio, such as bs=4k, or the name of a job in brackets";
pub(crate) const OUTSIDE_JOB: &str = "an option of fio before the first [job] or [global]";
pub(crate) const NO_JOB: &str = "the job file has no job, such as [reads]";
pub(crate) const ENDLESS: &str = "the job has no end here: give size or io_size in bytes, or runtime";
pub(crate) const A_REPLAY: &str = "the job replays a trace; likenew replay does that";
pub(crate) const TRIM_AND_WRITE: &str = "likenew run cannot trim each place before it writes it";
pub(crate) const SEVERAL_TARGETS: &str =
    "the jobs are of several files; name one target: likenew run JOBS.fio TARGET";

pub(crate) fn side_by_side(first: &str, other: &str) -> String {
    format!(
        "jobs \"{first}\" and \"{other}\" run at the same time; give both the same runtime, time_based and numjobs, \
         or the second stonewall"
    )
}

pub(crate) fn not_understood(value: &str) -> String {
    format!("\"{value}\" cannot be run; give a plain value")
}

pub(crate) fn other_engine(engine: &str) -> String {
    format!("the engine {engine} does other things than read and write; likenew run cannot do them")
}

pub(crate) fn expected(expected: &str) -> String {
    format!("expected {expected}")
}
