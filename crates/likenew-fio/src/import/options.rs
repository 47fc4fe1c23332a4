//! The options of a job.

use std::collections::BTreeMap;

use likenew_core::units::Nanos;
use likenew_core::workload::Mix;

use super::ImportError;
use super::node::Node;
use super::spelling::{
    Amount, parse_amount, parse_count, parse_duration, parse_lengths, parse_percent, parse_zipf,
};
use super::wording::{self, expected};
use crate::job_option;

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

/// Whether a workload can take over a value. One that it cannot keeps no result from being read.
fn is_read(option: &str, value: &str, kibi: u64) -> bool {
    let amount = |text: &str| parse_amount(text, kibi);
    let bytes = |text: &str| amount(text).and_then(Amount::bytes);
    let each_side = |is: &dyn Fn(&str) -> bool| value.split(',').all(|side| side.is_empty() || is(side));
    match option {
        "offset" | "size" => amount(value).is_some(),
        "ba" | "io_size" | "number_ios" | "offset_increment" => bytes(value).is_some(),
        "bs" | "bssplit" => each_side(&|side| parse_lengths(side, kibi).is_some()),
        "rate" | "rate_iops" => each_side(&|side| bytes(side).is_some()),
        "rate_process" => matches!(value, "linear" | "poisson"),
        "runtime" => parse_duration(value).is_some(),
        "iodepth" | "numjobs" => parse_count(value).is_some(),
        "buffer_compress_percentage" | "rwmixread" | "rwmixwrite" => parse_percent(value).is_some(),
        "random_distribution" => value == "random" || parse_zipf(value).is_some(),
        _ => true,
    }
}

impl Options {
    pub(super) fn from_job(root: &Node<'_>, job: &Node<'_>) -> Result<Self, ImportError> {
        let mut values = BTreeMap::new();
        let own = job.need("job options", expected::OPTIONS)?;
        for options in root.get("global options").into_iter().chain([own.clone()]) {
            for (key, value) in options.entries()? {
                values.insert(job_option::canonical(key).to_owned(), value.text()?.to_owned());
            }
        }
        Ok(Self::new(values, own.path()))
    }

    /// Of options by their canonical names; `path` is where they are.
    pub(super) fn new(values: BTreeMap<String, String>, path: &str) -> Self {
        let mut options = Self { values, unread: BTreeMap::new(), path: path.to_owned() };
        let kibi = options.kibi();
        options.unread =
            options.values.extract_if(.., |option, value| !is_read(option, value, kibi)).collect();
        options
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

    /// Whether all copies of the job work on one file: without a name each has its own, `JOB.NUMBER.FILE`.
    pub(super) fn shares_file(&self) -> bool {
        let names = self.text("filename_format").is_none_or(|names| names.contains("$jobnum"));
        self.text("filename").is_some() || !names
    }

    /// Whether I/O goes past the page cache.
    pub(super) fn is_direct(&self) -> bool {
        self.flag("direct") || self.text("buffered") == Some("0") || self.flag("atomic")
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
    pub(super) fn count_or_one(&self, option: &str) -> u32 {
        self.text(option).and_then(parse_count).unwrap_or(1)
    }

    /// A percentage, if it is given.
    pub(super) fn percent(&self, option: &str) -> Option<u8> {
        self.text(option).and_then(parse_percent)
    }

    /// A size, if it is given.
    pub(super) fn amount(&self, option: &str) -> Option<Amount> {
        self.text(option).and_then(|text| parse_amount(text, self.kibi()))
    }

    /// An amount of bytes; `None` where it is not given, or is a share of something unknown.
    pub(super) fn bytes(&self, option: &str) -> Option<u64> {
        self.amount(option).and_then(Amount::bytes)
    }

    /// A duration, if it is given.
    pub(super) fn duration(&self, option: &str) -> Option<Nanos> {
        self.text(option).and_then(parse_duration)
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

    /// An option that a workload expresses, with a value that it cannot take over.
    pub(super) fn unread(&self) -> Option<(&str, &str)> {
        self.unread.iter().next().map(|(option, value)| (option.as_str(), value.as_str()))
    }

    /// Options that a workload cannot express and that change what it does, as text.
    pub(super) fn unmapped_options(&self) -> Vec<String> {
        let others = self.values.iter().filter(|(option, value)| job_option::is_changing(option, value));
        others.chain(&self.unread).map(|(option, value)| wording::option(option, value)).collect()
    }
}
