//! The options of a job.

use std::collections::BTreeMap;

use likenew_core::mix::Mix;
use likenew_core::units::Nanos;

use super::ImportError;
use super::node::Node;
use super::spelling::{Amount, parse_amount, parse_duration};
use super::wording::{self, expected};

/// The options of a job: its own over those of all jobs.
#[derive(Clone, Debug)]
pub(super) struct Options {
    values: BTreeMap<String, String>,
    /// Values that say nothing here, such as an expression or a number of zones.
    unread: BTreeMap<String, String>,
    path: String,
}

/// When fio reads back what a job wrote, and whether it counts these reads separately (`backend.c` of fio
/// 3.33).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verification {
    /// Nothing is read back.
    Off,
    /// After the writes, timed separately.
    AfterWrites,
    /// Between the writes: fio counts the time of these reads with the writes, and only that of the last ones
    /// separately.
    BetweenWrites,
    /// Beside the job's own reads, with which fio counts them together.
    AmongReads,
}

/// Options that say how fio measures or reports rather than what it does to the drive.
const NEUTRAL: [&str; 52] = [
    "allow_file_create",
    "allow_mounted_write",
    "allrandrepeat",
    "clat_percentiles",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_fsync",
    "create_on_open",
    "create_only",
    "create_serialize",
    "description",
    "directory",
    "disk_util",
    "disable_bw",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "end_fsync",
    "eta",
    "fallocate",
    "filename",
    "filename_format",
    "filesize",
    "fixedbufs",
    "group_reporting",
    "gtod_reduce",
    "hipri",
    "invalidate",
    "iodepth_batch",
    "iodepth_batch_complete",
    "iodepth_batch_submit",
    "ioengine",
    "kb_base",
    "lat_percentiles",
    "mem",
    "name",
    "new_group",
    "norandommap",
    "percentile_list",
    "random_generator",
    "randrepeat",
    "registerfiles",
    "significant_figures",
    "slat_percentiles",
    "sqthread_poll",
    "stonewall",
    "thread",
    "unified_rw_reporting",
    "unit_base",
    "unlink",
    "direct",
    "nonvectored",
];

/// Options that a workload expresses differently.
const KNOWN_OPTIONS: [&str; 24] = [
    "bs",
    "bssplit",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "io_size",
    "iodepth",
    "number_ios",
    "numjobs",
    "offset",
    "offset_increment",
    "random_distribution",
    "randseed",
    "rate",
    "rate_iops",
    "rate_process",
    "refill_buffers",
    "runtime",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "size",
    "time_based",
    "zero_buffers",
    "timeout",
];

/// Whether a value can be taken over. Those that only describe the load keep no result from being read.
fn is_read(option: &str, value: &str) -> bool {
    let is_amount = |text: &str| parse_amount(text, 1024).is_some();
    match option {
        "io_size" | "number_ios" | "offset" | "offset_increment" | "size" => is_amount(value),
        "rate" | "rate_iops" => value.split(',').all(|side| side.is_empty() || is_amount(side)),
        "runtime" | "timeout" => parse_duration(value).is_some(),
        _ => true,
    }
}

impl Options {
    pub(super) fn from_job(root: &Node<'_>, job: &Node<'_>) -> Result<Self, ImportError> {
        let mut values = BTreeMap::new();
        let own = job.need("job options", expected::OPTIONS)?;
        for options in root.get("global options").into_iter().chain([own.clone()]) {
            for (key, value) in options.entries()? {
                values.insert(key.clone(), value.text()?.to_owned());
            }
        }
        let path = own.path().to_owned();
        let mut options = Self { values, unread: BTreeMap::new(), path };
        options.unread = options.values.extract_if(.., |option, value| !is_read(option, value)).collect();
        Ok(options)
    }

    pub(super) fn text(&self, option: &str) -> Option<&str> {
        self.values.get(option).map(String::as_str)
    }

    /// Whether a switch is on. fio gives a switch that was only named an empty value.
    pub(super) fn flag(&self, option: &str) -> bool {
        self.text(option).is_some_and(|value| value != "0")
    }

    /// When a job of this operation reads back what it wrote.
    pub(super) fn verification(&self, op: Mix) -> Verification {
        let verifies = self.text("verify").is_some_and(|verify| !matches!(verify, "0" | "null"));
        match op {
            _ if !verifies || !op.writes() || self.text("do_verify") == Some("0") => Verification::Off,
            Mix::Reads(_) => Verification::AmongReads,
            Mix::Only(_) if self.flag("verify_backlog") => Verification::BetweenWrites,
            Mix::Only(_) => Verification::AfterWrites,
        }
    }

    /// Whether the job ran once and not in `loops`.
    pub(super) fn runs_once(&self) -> bool {
        self.text("loops").is_none_or(|loops| loops == "1")
    }

    pub(super) fn unexpected_error(&self, option: &str, expected: &str) -> ImportError {
        let found = self.text(option).map_or_else(|| wording::NOTHING.to_owned(), wording::text);
        ImportError::Unexpected {
            path: format!("{}.{option}", self.path),
            expected: expected.to_owned(),
            actual: found,
        }
    }

    /// A count, or one if it is not given.
    pub(super) fn count_or_one(&self, option: &str) -> Result<u32, ImportError> {
        let Some(text) = self.text(option) else { return Ok(1) };
        let count = text.parse().ok().filter(|count| (1..=1 << 20).contains(count));
        count.ok_or_else(|| self.unexpected_error(option, expected::COUNT_FROM_ONE))
    }

    pub(super) fn amount(&self, option: &str) -> Result<Option<Amount>, ImportError> {
        let read = |text| {
            let amount = parse_amount(text, self.kibi());
            amount.ok_or_else(|| self.unexpected_error(option, expected::SIZE))
        };
        self.text(option).map(read).transpose()
    }

    /// An amount of bytes; `None` where it is not given, or is a share of something unknown.
    pub(super) fn bytes(&self, option: &str) -> Result<Option<u64>, ImportError> {
        Ok(self.amount(option)?.and_then(Amount::bytes))
    }

    pub(super) fn duration(&self, option: &str) -> Result<Option<Nanos>, ImportError> {
        let read = |text| {
            let span = parse_duration(text);
            span.ok_or_else(|| self.unexpected_error(option, expected::DURATION))
        };
        self.text(option).map(read).transpose()
    }

    /// What `k` stands for; `Ki` stands for the other (fio's HOWTO, "kb_base").
    pub(super) fn kibi(&self) -> u64 {
        if self.text("kb_base") == Some("1000") { 1000 } else { 1024 }
    }

    /// Whether a job with these options may be one more copy beside `copies` others.
    pub(super) fn repeats(&self, other: &Self, copies: usize) -> bool {
        let most = self.text("numjobs").and_then(|most| most.parse::<usize>().ok()).unwrap_or(1);
        self.values == other.values && copies < most
    }

    /// Options that a workload cannot express, as text.
    pub(super) fn unmapped_options(&self) -> Vec<String> {
        let known = |option: &str| NEUTRAL.contains(&option) || KNOWN_OPTIONS.contains(&option);
        let others = self.values.iter().filter(|(option, _)| !known(option));
        others.chain(&self.unread).map(|(option, value)| format!("{option}={value}")).collect()
    }
}
