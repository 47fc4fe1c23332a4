//! Why workloads cannot be written as a job file.

use super::FILENAME_LEFT_OPEN;

/// Why workloads cannot be written as a job file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to export.
    #[error("there is no workload to export")]
    Nothing,
    /// A workload does not fit the drive.
    #[error("{0}")]
    Unfit(String),
    /// A workload asks for something that fio does not have.
    #[error("workload \"{workload}\" cannot be expressed in fio: {feature}")]
    NotExpressible {
        /// Its name.
        workload: String,
        /// What fio does not have.
        feature: MissingFeature,
    },
    /// A file name that a job file cannot contain.
    #[error(
        "\"{0}\" cannot stand in a fio job file, which gives \"#\", \";\", \"$\" and ends of lines a meaning of their own: \
         rename it, or leave it open with {FILENAME_LEFT_OPEN}"
    )]
    Filename(String),
}

/// What a workload asks for and fio does not have, and what to use instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MissingFeature {
    /// A longer name.
    #[error("its name is longer than {bytes_max} bytes")]
    LongName {
        /// Bytes of a name that fio keeps.
        bytes_max: usize,
    },
    /// A trace at its times or faster by a factor.
    #[error("it replays {trace}, and fio reads logs of its own (read_iolog) as fast or at their times alone")]
    Replay {
        /// The trace's file.
        trace: String,
    },
    /// Trims within a file.
    #[error("fio trims block devices only, and this is a file")]
    TrimOnFile,
    /// Flushes alone.
    #[error("fio flushes between writes only and has no job of flushes")]
    FlushesAlone,
    /// A step that is shorter than an I/O, or of I/Os of several lengths.
    #[error("fio skips bytes after each I/O, and these overlap or have several lengths")]
    Stride,
    /// More lengths of I/O.
    #[error("fio mixes at most {lengths_max} lengths of I/O")]
    ManyLengths {
        /// Lengths that fio mixes.
        lengths_max: usize,
    },
    /// A length whose share rounds to 0%.
    #[error("fio knows whole percents, and one of its lengths is rarer than that")]
    RareLength,
    /// Streams side by side that end by a count or an amount.
    #[error(
        "jobs side by side can only end together by time, and it ends by a count or an amount: \
         give until.elapsed, or one stream"
    )]
    CommonEnd,
    /// Streams whose I/Os keep a proportion.
    #[error("its streams take turns in exact proportions, and jobs of fio run each at its own pace")]
    Proportions,
    /// A rate in bytes that is too low or too high.
    #[error("a pace of {bytes_per_s} bytes a second is not among fio's whole numbers, 1 to {max}")]
    ByteRate {
        /// The rate of reads, writes or trims.
        bytes_per_s: f64,
        /// The highest rate.
        max: f64,
    },
    /// A rate in I/Os that is too low or too high.
    #[error("a pace of {iops} IOPS is not among fio's whole numbers, 1 to {max}")]
    Iops {
        /// The rate of reads, writes or trims.
        iops: f64,
        /// The highest rate.
        max: f64,
    },
}
