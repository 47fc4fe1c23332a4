//! Sentences of the history, except those at variants of [`HistoryError`](crate::HistoryError).

use std::path::Path;

likenew_core::sentences! {
    /// Why a run without a valid start date is damaged.
    pub(crate) fn no_date(folder: &Path, text: &str) =
        "{}: started_at is {text:?}, which is not a date since 1970", folder.join("machine.json").display();
}

/// Advice for a file that cannot be opened.
pub(crate) const CHECK_FILE: &str =
    "move it away, and it is made again from the run folders, or name another file with --history";
/// Why a database without the tables of a history is refused.
pub(crate) const OF_ANOTHER_PROGRAM: &str = "it is the database of another program";
/// Advice for such a database.
pub(crate) const NAME_ANOTHER: &str = "name another file with --history";
/// Advice for a server that cannot be reached.
pub(crate) const CHECK_SERVER: &str = "check its address, and that the server runs and lets you in";
/// Advice for a user who may not migrate older tables.
pub(crate) const NEEDS_OWNER: &str = "let a user who may change its tables run likenew history once, which makes them or brings them up to date";
/// Advice when another program has locked the file for minutes.
pub(crate) const WAIT_FOR_FILE: &str =
    "another program holds it; try again when that has ended, or name another file with --history";

/// Help texts of all metrics.
pub(crate) mod metrics {
    likenew_core::sentences! {
        /// A help text with a full stop.
        pub(crate) fn sentence(text: &str) = "{text}.";
    }

    pub(crate) const BUILD_INFO: &str = "The version of Likenew that wrote these metrics";
    pub(crate) const DAMAGED_RUNS: &str = "Kept runs that cannot be read";
    pub(crate) const CHECK_SUCCESS: &str =
        "Whether the drive could be checked when these metrics were written; the label says why not";
    pub(crate) const CAUSE: &str = "A cause that the last check found for what is slow";
    pub(crate) const DRIVE_INFO: &str =
        "Model, capacity and access of a drive, and whether a hypervisor provides it";
    pub(crate) const CAPACITY: &str = "Bytes that the drive reports to hold";
    pub(crate) const CHECKS: &str = "Completed checks of the drive that are kept";
    pub(crate) const CHECK_TIMESTAMP: &str = "When the last completed check of the drive began";
    pub(crate) const PROBLEM: &str = "Whether the last check found a problem";
    pub(crate) const TEMPERATURE: &str = "Temperature of the drive at the end of its last check";
    pub(crate) const FAILING: &str =
        "1 while the drive itself reports that it is failing, 0 while it does not";
    pub(crate) const ENDURANCE_USED: &str = "Share of its rated endurance that the drive reports as used";
    pub(crate) const MEDIA_ERRORS: &str = "Errors of the medium that the drive has counted over its life";
    pub(crate) const POWER_ON: &str = "Time that the drive was on";
    pub(crate) const WRITTEN: &str = "Bytes that hosts have written to the drive over its life";
    pub(crate) const CHECK_ERRORS: &str = "I/Os that failed in the last check";
    pub(crate) const CHANGE_RATIO: &str =
        "The metric's level since its last lasting change, over the level before";
    pub(crate) const CHANGE_LOW: &str = "Lower end of the 95% interval of the last lasting change";
    pub(crate) const CHANGE_HIGH: &str = "Upper end of the 95% interval of the last lasting change";
    pub(crate) const PEERS: &str = "Other drives of its model whose last check measured the metric";
    pub(crate) const PEERS_RATIO: &str = "The metric over the median of other drives of its model";
    pub(crate) const BELOW_PEERS: &str =
        "1 while the metric is slower than other drives of its model are among themselves, 0 while it is not";
    pub(crate) const CHANGE_TIMESTAMP: &str = "When the last lasting change of the metric was first measured";

    /// The name of a check's metric within a sentence.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct MetricNoun(&'static str);

    pub(crate) const SEQUENTIAL_READ: MetricNoun = MetricNoun("Sequential read rate");
    pub(crate) const SEQUENTIAL_WRITE: MetricNoun = MetricNoun("Sequential write rate");
    pub(crate) const SUSTAINED_WRITE: MetricNoun = MetricNoun("Sustained write rate");
    pub(crate) const RANDOM_READ: MetricNoun = MetricNoun("4K random reads at QD1 each second");
    pub(crate) const RANDOM_WRITE: MetricNoun = MetricNoun("4K random writes at QD1 each second");
    pub(crate) const RANDOM_READ_QD32: MetricNoun = MetricNoun("4K random reads at QD32 each second");

    likenew_core::sentences! {
        pub(crate) fn value(noun: MetricNoun) = "{} in the last check", noun.0;
        pub(crate) fn low(noun: MetricNoun) = "{} in the last check: lower end of the 95% interval", noun.0;
        pub(crate) fn high(noun: MetricNoun) = "{} in the last check: upper end of the 95% interval", noun.0;
        pub(crate) fn reference(noun: MetricNoun) =
            "{} that the last check compared the drive with; the label says where that comes from", noun.0;
        pub(crate) fn ratio(noun: MetricNoun) = "{} in the last check, over its reference", noun.0;
    }
}
