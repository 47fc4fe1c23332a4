//! What a check is compared with: earlier checks of the drive, the first of which is its baseline; baseline files of
//! other drives of its model, without serial numbers; rated speeds as people copy them from data sheets; and what is known of
//! drives like this one. That follows from facts alone, so earlier runs are judged by what is known today.

use std::collections::BTreeMap;
use std::str::FromStr;

use likenew_core::drive::TargetKind;
use likenew_core::facts::{Drive, Facts};
use likenew_core::findings::{Findings, Row};
use likenew_core::input::one_line;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::Size;
use likenew_core::units::size_text;
use likenew_diagnosis::{Metric, Origin, Reference};
use likenew_rated::{
    Class, Figure, FirmwareFault, LimitKind, Limits, Rated, Usual, of_drive, usual, usual_for, volumes,
};
use likenew_stats::interval::repeatability;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::wording::{self, error};
use super::{CheckOptions, IndicatorOption, ReferenceOption};
use crate::facts::{fault_of_drive, faults_met};

/// How much a metric of a drive varies between checks, as standard deviation of its logarithm, before any
/// check has shown it (assumed: a drive with its own medium repeats to a few percent).
const SINGLE_VALUE_ERROR: f64 = 0.04;
/// The same for a virtual disk, which shares its medium with others and may have a cache in its host.
/// (Assumed: on a small cloud instance writes differed by a factor of 3.6 between checks half a minute apart,
/// and other metrics by up to 1.6.)
const SHARED_HOST_ERROR: f64 = 0.8;

/// Completed checks of one drive, the earliest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckHistory {
    /// The metrics of each check.
    pub checks: Vec<CheckMetrics>,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
}

impl CheckHistory {
    /// The metrics of the first check, with their variation between checks; empty if there is no check.
    pub fn references(&self) -> Vec<ReferenceOption> {
        let Some(first) = self.checks.first() else { return Vec::new() };
        let reference = |(metric, per_s): &(Metric, f64)| ReferenceOption {
            metric: *metric,
            origin: Origin::Baseline,
            per_s: *per_s,
            repeatability: self.repeatability(*metric),
        };
        first.metrics.iter().map(reference).collect()
    }

    fn repeatability(&self, metric: Metric) -> f64 {
        let value_in = |check: &CheckMetrics| {
            check.metrics.iter().find(|(known, _)| *known == metric).map(|(_, per_s)| *per_s)
        };
        let logarithms: Vec<f64> = self.checks.iter().filter_map(value_in).map(f64::ln).collect();
        repeatability(&logarithms, Self::assumed(self.is_virtual))
    }

    /// How much a metric is assumed to vary between checks, as standard deviation of its logarithm, before any check has
    /// shown it.
    pub fn assumed(is_virtual: bool) -> f64 {
        if is_virtual { SHARED_HOST_ERROR } else { SINGLE_VALUE_ERROR }
    }
}

/// The metrics and indicators of one check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckMetrics {
    /// In bytes a second; those of small I/Os in IOPS.
    pub metrics: Vec<(Metric, f64)>,
    /// Its indicators.
    pub indicators: Vec<IndicatorOption>,
}

impl CheckMetrics {
    /// From the findings that [`Check`](super::Check) makes.
    pub fn from_findings(findings: &Findings) -> Self {
        let rows = |name: &str| findings.tables.get(name).map(Vec::as_slice).unwrap_or_default();
        Self {
            metrics: rows("metrics")
                .iter()
                .map(|row| (cell(row, "metric"), cell(row, "measured_per_s")))
                .collect(),
            indicators: rows("indicators")
                .iter()
                .map(|row| IndicatorOption { indicator: cell(row, "indicator"), value: cell(row, "value") })
                .collect(),
        }
    }
}

/// A cell of one of this program's tables.
fn cell<T: DeserializeOwned>(row: &Row, key: &str) -> T {
    let cell = row.get(key).and_then(|value| serde_json::from_value(value.clone()).ok());
    cell.unwrap_or_else(|| panic!("a row of a check has no {key}: {row:?}"))
}

/// What two drives of one model have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriveModel {
    /// As the drive reports it.
    pub model: String,
    /// Capacity of the whole drive.
    pub capacity_bytes: u64,
    /// The file system that small writes went through; `None` if they went to the drive itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_system: Option<String>,
}

impl DriveModel {
    /// The model of the one real drive below the target; `None` if something hides that drive's own speed.
    pub fn of_facts(facts: &Facts) -> Option<Self> {
        let identity = &facts.plain_drive()?.identity;
        Some(Self {
            model: identity.model.value()?.trim().to_owned(),
            capacity_bytes: identity.capacity_bytes.get()?,
            file_system: facts.file_system.as_ref().and_then(|file_system| file_system.kind.value().cloned()),
        })
    }

    /// Returns the given drive if it is of this model.
    ///
    /// # Errors
    /// A sentence that says that its model is another one, or not known.
    pub fn check<'a>(&self, drive: Option<&'a Self>) -> Result<&'a Self, String> {
        let drive = drive.ok_or_else(error::no_model_to_compare)?;
        if drive.model == self.model && drive.capacity_bytes == self.capacity_bytes {
            return Ok(drive);
        }
        let [bytes, your_bytes] = [self, drive].map(|drive| Size(drive.capacity_bytes));
        Err(error::other_model(&self.model, bytes, &drive.model, your_bytes))
    }

    /// The model of the drive that a check measured.
    fn of_evidence(evidence: &Evidence) -> Option<Self> {
        let identity = &evidence.identity;
        match (identity.kind, &identity.model) {
            (TargetKind::Simulated, Some(model)) => Some(Self {
                model: model.clone(),
                capacity_bytes: identity.capacity_bytes,
                file_system: None,
            }),
            _ => Self::of_facts(
                evidence.observations.iter().find_map(|observation| observation.result.facts())?,
            ),
        }
    }
}

/// What one drive did in a check, as its file holds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BaselineFile {
    /// The drive's model.
    pub drive: DriveModel,
    /// Date of the check, as `2026-11-29`.
    pub checked: String,
    /// Most bytes that the check was allowed to write.
    #[serde(with = "size_text")]
    bytes: u64,
    /// In bytes a second; of small I/Os in IOPS.
    metrics: BTreeMap<Metric, f64>,
}

/// Rounds to four digits, because no check repeats more exactly.
fn rounded(per_s: f64) -> f64 {
    format!("{per_s:.3e}").parse().expect("a number is read as it was written")
}

impl BaselineFile {
    /// From a finished check that began at `started_at`. Reads count only if they met data, because a drive
    /// answers for blank addresses without its medium.
    ///
    /// # Errors
    /// A sentence that says why this check is no baseline.
    pub fn new(
        evidence: &Evidence,
        findings: &Findings,
        started_at: &str,
        reads_met_data: bool,
    ) -> Result<Self, String> {
        if evidence.plan.procedure != super::DESCRIPTOR.name || findings.is_interrupted {
            return Err(error::baseline_of_no_check(&evidence.plan.procedure));
        }
        if findings.found_problem() {
            return Err(error::baseline_of_slow_drive(&findings.summary));
        }
        Ok(Self {
            drive: DriveModel::of_evidence(evidence).ok_or_else(error::baseline_of_unknown_model)?,
            checked: started_at.get(..10).unwrap_or(started_at).to_owned(),
            bytes: CheckOptions::from_table(&evidence.plan.options)?.budget(),
            metrics: CheckMetrics::from_findings(findings)
                .metrics
                .into_iter()
                .filter(|(metric, _)| reads_met_data || metric.op() != Op::Read)
                .map(|(metric, per_s)| (metric, rounded(per_s)))
                .collect(),
        })
    }

    /// Whether a text is a baseline file, and not the file of a simulated drive.
    pub fn is_one(text: &str) -> bool {
        text.parse::<toml::Table>().is_ok_and(|table| table.contains_key("metrics"))
    }

    /// Reads a baseline file.
    ///
    /// # Errors
    /// A sentence with the line and the key that is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        let file: Self = toml::from_str(text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let line = text.get(..start).unwrap_or(text).matches('\n').count() + 1;
            error::baseline_file(line, &one_line(error.message()))
        })?;
        match file.metrics.values().find(|per_s| !(per_s.is_finite() && **per_s > 0.0)) {
            Some(wrong) => Err(error::above_zero("a metric", *wrong)),
            None => Ok(file),
        }
    }

    /// The text of its file.
    pub fn text(&self) -> String {
        let body = toml::to_string(self).expect("a baseline is plain values");
        format!("{}{body}", wording::BASELINE_FILE_HEAD)
    }

    /// References for another drive's check, without what it measures differently, such as small writes to another file system.
    ///
    /// # Errors
    /// A sentence that says that the other drive is not of this model.
    pub fn references_for(
        &self,
        drive: Option<&DriveModel>,
        check: &CheckOptions,
    ) -> Result<Vec<ReferenceOption>, String> {
        let drive = self.drive.check(drive)?;
        let then = CheckOptions { bytes: Some(self.bytes), ..CheckOptions::default() };
        let has_same_files = drive.file_system == self.drive.file_system;
        let is_alike = |metric: Metric| {
            then.bytes_of(metric) == check.bytes_of(metric)
                && (has_same_files || metric != Metric::RandomWrite)
        };
        let alike = self.metrics.iter().filter(|(metric, _)| is_alike(**metric));
        Ok(alike
            .map(|(metric, per_s)| ReferenceOption {
                metric: *metric,
                origin: Origin::OtherDrive,
                per_s: *per_s,
                repeatability: CheckHistory::assumed(false),
            })
            .collect())
    }
}

/// Share of its rated speed from which a hard disk is healthy. Its outer tracks are rated, and the inner ones
/// hold half as much; less than half, because files are not in one piece.
const INNER_TRACKS: f64 = 0.4;

/// Number of models from which the slowest one stands for its class. Chosen: rated figures of SSDs and hard
/// disks come from whole product lines, and a class has dozens of these.
const MODELS_OF_A_CLASS: usize = 30;

/// Distance from a limit, as a share, up to which a value counts as held by it. Chosen: limits are kept to a few percent.
const AT_LIMIT: f64 = 0.07;

/// Usual sequential reads of the classes that are sold today for computers, at about this capacity.
pub(super) fn classes_to_buy(capacity_bytes: u64) -> Vec<Usual> {
    let nvme = |generation| Class::Nvme { generation, lanes: 4 };
    let classes = [Class::SataSsd { gbit: 6 }, nvme(3), nvme(4), nvme(5)];
    classes.into_iter().filter_map(|class| usual(class, Some(capacity_bytes), Figure::Read)).collect()
}

/// Share of its speed class's rate from which a card is healthy. The class promises a minimum, but a check is
/// no test of the SD Association.
const PROMISE_KEPT: f64 = 0.9;

/// What is known of drives like this one.
#[derive(Debug, Default)]
pub(super) struct Kin {
    /// The speed classes of a card, and the bytes a second that they promise for sequential writes.
    pub(super) speed_classes: Option<(String, f64)>,
    /// Rated figures of the model.
    pub(super) rated: Option<Rated>,
    /// Values of new drives of its class.
    pub(super) usual: Vec<(Metric, Usual)>,
    /// Limits of the types that it may be, if it is a cloud volume.
    pub(super) volumes: Vec<Limits>,
    /// A known fault of its firmware, and the sentence about it.
    pub(super) fault: Option<(&'static FirmwareFault, String)>,
}

const FIGURES: [(Metric, Figure); 4] = [
    (Metric::SequentialRead, Figure::Read),
    (Metric::SequentialWrite, Figure::Write),
    (Metric::RandomRead, Figure::SmallRead),
    (Metric::RandomWrite, Figure::SmallWrite),
];

impl Kin {
    /// From facts of the one drive below the target; empty if something hides that drive's own speed.
    pub(super) fn new(facts: Option<&Facts>) -> Self {
        let Some(facts) = facts else { return Self::default() };
        if let [Drive { cloud: Some(_), identity, .. }] = facts.drives.as_slice() {
            let volumes = identity.model.value().zip(identity.capacity_bytes.get());
            let volumes = volumes.map_or_else(Vec::new, |(model, bytes)| self::volumes(model, bytes));
            return Self { volumes, ..Self::default() };
        }
        let Some(drive) = facts.plain_drive() else { return Self::default() };
        let usual_of = |(metric, figure)| Some((metric, usual_for(facts, figure)?));
        Self {
            speed_classes: drive.card.as_ref().and_then(|card| {
                Some((card.speed_classes.value()?.clone(), card.promised_bytes_per_s.get()? as f64))
            }),
            rated: of_drive(drive),
            usual: FIGURES.into_iter().filter_map(usual_of).collect(),
            volumes: Vec::new(),
            fault: faults_met(drive).next().map(|fault| (fault, fault_of_drive(fault, drive))),
        }
    }

    /// For a hard disk, the share of another disk's speed from which it is healthy: both may be measured on different tracks.
    pub(super) fn share_of_other_place(&self) -> Option<f64> {
        let rotates = self.rated.as_ref().is_some_and(|rated| rated.product.rpm.is_some());
        let is_disk = |(_, usual): &(Metric, Usual)| matches!(usual.class, Class::Disk { .. });
        (rotates || self.usual.iter().any(is_disk)).then_some(INNER_TRACKS)
    }

    /// Rated speeds, and what the slowest new drive of the class reaches.
    pub(super) fn references(&self) -> Vec<Reference> {
        let rated = self.rated.into_iter().flat_map(|rated| {
            let is_disk = rated.product.rpm.is_some();
            let read = rated.drive.read;
            let write = rated.drive.write.or(read.filter(|_| is_disk));
            [(Metric::SequentialRead, read), (Metric::SequentialWrite, write)].into_iter().filter_map(
                move |(metric, mb)| {
                    let least = is_disk.then_some(INNER_TRACKS);
                    Some(Reference { least, ..Reference::new(metric, Origin::Advertised, mb? * 1e6) })
                },
            )
        });
        let promised =
            self.speed_classes.iter().filter(|_| self.rated.is_none()).map(|(_, per_s)| Reference {
                least: Some(PROMISE_KEPT),
                ..Reference::new(Metric::SequentialWrite, Origin::Advertised, *per_s)
            });
        // A few models, such as the sticks of one review, do not stand for a class.
        let whole = self.usual.iter().filter(|(_, usual)| usual.values.len() >= MODELS_OF_A_CLASS);
        let of_class = whole.filter_map(|(metric, usual)| {
            let is_disk = matches!(usual.class, Class::Disk { .. });
            let slowest = usual.least * if is_disk { INNER_TRACKS } else { 1.0 };
            let is_sequential = matches!(metric, Metric::SequentialRead | Metric::SequentialWrite);
            let median = usual.median();
            let reference =
                Reference { least: Some(slowest / median), ..Reference::new(*metric, Origin::Class, median) };
            is_sequential.then_some(reference)
        });
        rated.chain(promised).chain(of_class).collect()
    }

    /// Types of cloud volumes that fit the highest measured rates, which reach one limit and exceed none.
    pub(super) fn held_by(&self, iops: Option<f64>, bytes_per_s: Option<f64>) -> Vec<&'static str> {
        let over = |measured: Option<f64>, limit: Option<f64>| Some(measured? / limit?);
        let holds = |limits: &&Limits| {
            let ios = [over(iops, limits.iops), over(iops, limits.burst_iops)];
            let bytes = [over(bytes_per_s, limits.bytes_per_s), over(bytes_per_s, limits.burst_bytes_per_s)];
            let is_at = |ratio: &f64| (ratio - 1.0).abs() <= AT_LIMIT;
            let is_beyond = |ratios: [Option<f64>; 2]| {
                ratios.into_iter().flatten().reduce(f64::min).is_some_and(|ratio| ratio > 1.0 + AT_LIMIT)
            };
            let reaches = ios.iter().chain(&bytes).flatten().any(is_at);
            limits.kind != LimitKind::Most && reaches && !is_beyond(ios) && !is_beyond(bytes)
        };
        self.volumes.iter().filter(holds).map(|volume| volume.name).collect()
    }

    /// What new drives of its class reach in a metric.
    pub(super) fn usual(&self, metric: Metric) -> Option<&Usual> {
        self.usual.iter().find(|(known, _)| *known == metric).map(|(_, usual)| usual)
    }
}

/// One rated speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RatedMetric {
    /// Which metric.
    pub metric: Metric,
    /// In bytes a second, or IOPS.
    pub per_s: f64,
}

/// Rated speeds, one of a metric at most: `read=7,450MB/s,random_read=1.4M`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatedMetrics(pub Vec<RatedMetric>);

/// Names as they are typed; tables use the last two.
const NAMES: [(&str, Metric); 8] = [
    ("read", Metric::SequentialRead),
    ("write", Metric::SequentialWrite),
    ("sustained_write", Metric::SustainedWrite),
    ("random_read", Metric::RandomRead),
    ("random_write", Metric::RandomWrite),
    ("random_read_qd32", Metric::RandomReadQd32),
    ("sequential_read", Metric::SequentialRead),
    ("sequential_write", Metric::SequentialWrite),
];

/// Units in lower case. Makers count in powers of ten; sizes elsewhere are binary.
const BYTES: [(&str, f64); 7] = [
    ("kb", 1e3),
    ("mb", 1e6),
    ("gb", 1e9),
    ("tb", 1e12),
    ("kib", 1024.0),
    ("mib", 1_048_576.0),
    ("gib", 1_073_741_824.0),
];
const IOPS: [(&str, f64); 3] = [("", 1.0), ("k", 1e3), ("m", 1e6)];
/// Suffixes of units of rates, and the highest rate that is accepted, in bytes a second or IOPS. Chosen:
/// several times any drive on the market.
const BYTES_PER_S: ([&str; 3], f64) = (["/s", "/sec", "ps"], 1e11);
const IO_PER_S: ([&str; 3], f64) = (["iops", "io/s", "ios"], 1e8);
/// Characters that group digits: spaces of any kind, an apostrophe, and whichever of point and comma does not
/// precede decimals.
const SEPARATORS: [char; 7] = ['.', ',', ' ', '\'', '\u{a0}', '\u{2009}', '\u{202f}'];

impl RatedMetric {
    /// Its name as it is typed.
    pub fn name(&self) -> &'static str {
        NAMES.iter().find(|(_, metric)| *metric == self.metric).map_or("", |(name, _)| name)
    }
}

impl FromStr for RatedMetrics {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parts: Vec<String> = Vec::new();
        for part in text.split(',') {
            match parts.last_mut() {
                // The comma belongs to a number.
                Some(last) if !part.contains('=') => *last += &format!(",{part}"),
                _ => parts.push(part.to_owned()),
            }
        }
        let mut rated: Vec<RatedMetric> = Vec::new();
        for part in &parts {
            let speed: RatedMetric = part.parse()?;
            if rated.iter().any(|other| other.metric == speed.metric) {
                return Err(error::rated_twice(part));
            }
            rated.push(speed);
        }
        Ok(Self(rated))
    }
}

impl FromStr for RatedMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || error::rated_metric(text);
        let (name, value) = text.split_once('=').ok_or_else(wrong)?;
        let name = name.trim().to_ascii_lowercase().replace(['-', ' '], "_");
        let (_, metric) = *NAMES.iter().find(|(known, _)| *known == name).ok_or_else(wrong)?;
        let value = value.trim();
        let value = value.strip_prefix("up to ").or(value.strip_prefix("Up to ")).unwrap_or(value);
        let end = value.find(|letter: char| !letter.is_ascii_digit() && !SEPARATORS.contains(&letter));
        let (digits, unit) = value.split_at(end.unwrap_or(value.len()));
        let (digits, unit) = (digits.trim(), unit.trim());
        let is_bytes =
            matches!(metric, Metric::SequentialRead | Metric::SequentialWrite | Metric::SustainedWrite);
        let readings = readings(digits);
        if is_bytes && unit.is_empty() && !readings.is_empty() {
            return Err(error::rated_without_unit(text));
        }
        let (units, (ends, most)) = if is_bytes { (&BYTES[..], BYTES_PER_S) } else { (&IOPS[..], IO_PER_S) };
        let small = unit.to_ascii_lowercase();
        let stem = ends.iter().find_map(|end| small.strip_suffix(end)).unwrap_or(&small).trim_end();
        let factor = units.iter().find(|(name, _)| *name == stem).ok_or_else(wrong)?.1;
        let rates = readings.into_iter().map(|number| number * factor).filter(|per_s| *per_s >= 1.0);
        let (rates, beyond): (Vec<f64>, Vec<f64>) = rates.partition(|per_s| *per_s <= most);
        let per_s = match rates[..] {
            [] if beyond.is_empty() => return Err(wrong()),
            [] => return Err(error::rated_beyond_all_drives(text, is_bytes)),
            [per_s] => per_s,
            // Makers group by commas, as this program does; no rated speed has three decimals.
            [per_s, ..] if digits.contains(',') => per_s,
            _ => return Err(error::rated_in_two_ways(text, digits)),
        };
        if is_bytes && unit[..stem.len()].ends_with('b') {
            return Err(error::rated_in_bits(text, per_s));
        }
        Ok(Self { metric, per_s })
    }
}

/// What a number can mean: its decimals follow a point, or a comma.
fn readings(text: &str) -> Vec<f64> {
    let mut numbers: Vec<f64> = ['.', ','].iter().filter_map(|decimal| reading(text, *decimal)).collect();
    numbers.dedup();
    numbers
}

/// Reads a number whose decimals follow `decimal`, with at most one other separator between groups of three digits.
fn reading(text: &str, decimal: char) -> Option<f64> {
    let (whole, decimals) = text.split_once(decimal).unwrap_or((text, "0"));
    let groups: Vec<&str> = match whole.find(SEPARATORS) {
        Some(at) => whole.split(whole[at..].chars().next()?).collect(),
        None => vec![whole],
    };
    let is_grouped = |groups: &[&str]| match groups {
        [_] => true,
        [first, others @ ..] => {
            first.len() <= 3 && !first.starts_with('0') && others.iter().all(|group| group.len() == 3)
        }
        [] => false,
    };
    let is_digits = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_number = groups.iter().chain([&decimals]).all(is_digits) && is_grouped(&groups);
    is_number.then(|| format!("{}.{decimals}", groups.concat()).parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(reads: &[f64], is_virtual: bool) -> Vec<ReferenceOption> {
        let check = |read: &f64| CheckMetrics {
            metrics: vec![(Metric::SequentialRead, *read)],
            ..CheckMetrics::default()
        };
        CheckHistory { checks: reads.iter().map(check).collect(), is_virtual }.references()
    }

    #[test]
    fn the_first_check_is_the_reference_and_all_of_them_say_how_good_it_is() {
        assert_eq!(earlier(&[], false), []);
        for (is_virtual, assumed) in [(false, SINGLE_VALUE_ERROR), (true, SHARED_HOST_ERROR)] {
            let [only] = earlier(&[5e8], is_virtual)[..] else { panic!() };
            assert_eq!((only.per_s, only.origin), (5e8, Origin::Baseline));
            assert!((only.repeatability - assumed).abs() < 1e-12);
        }
        let noisy = [5e8, 9e8, 4e8, 8e8, 5e8, 1e9];
        let [first] = earlier(&noisy, false)[..] else { panic!() };
        assert!(first.per_s == 5e8 && first.repeatability > 0.4, "{first:?}");
        let steady = [5e8, 5.02e8, 5.01e8, 4.99e8, 5e8, 5.01e8];
        let [first] = earlier(&steady, true)[..] else { panic!() };
        assert!(
            first.repeatability < 0.01,
            "a disk that is virtual by name and comes back each time: {first:?}"
        );
    }

    #[test]
    fn a_figure_that_was_not_asked_then_is_not_missed() {
        let mut later =
            CheckMetrics { metrics: vec![(Metric::SequentialRead, 5e8)], ..CheckMetrics::default() };
        let first = later.clone();
        later.metrics.push((Metric::SequentialWrite, 1e8));
        let earlier = CheckHistory { checks: vec![first, later], is_virtual: false };
        assert_eq!(earlier.references().len(), 1);
    }

    #[test]
    fn claims_are_read_as_makers_print_them() {
        for (text, metric, per_s) in [
            ("read=550MB/s", Metric::SequentialRead, 550e6),
            ("read=7,450MB/s", Metric::SequentialRead, 7450e6),
            ("read=7.45 GB/s", Metric::SequentialRead, 7450e6),
            ("read=12,400.5 MB/s", Metric::SequentialRead, 12_400.5e6),
            ("write=3.5GB/s", Metric::SequentialWrite, 3.5e9),
            ("write=500MB", Metric::SequentialWrite, 500e6),
            ("sequential_write=up to 3500MBps", Metric::SequentialWrite, 3500e6),
            ("read=Up to 7,450 MB/sec", Metric::SequentialRead, 7450e6),
            ("read=7.450GB/s", Metric::SequentialRead, 7450e6),
            ("random_write=1.350M IOPS", Metric::RandomWrite, 1.35e6),
            ("read=100MiB/s", Metric::SequentialRead, 104_857_600.0),
            ("random_read_qd32=95000", Metric::RandomReadQd32, 95_000.0),
            ("random_read_qd32=95,000", Metric::RandomReadQd32, 95_000.0),
            ("random_write=95K IOPS", Metric::RandomWrite, 95_000.0),
            ("random_read=1.4M", Metric::RandomRead, 1.4e6),
            ("random_read=1,400kIOPS", Metric::RandomRead, 1.4e6),
            ("read=7.450,00MB/s", Metric::SequentialRead, 7450e6),
            ("read=3.500,5MB/s", Metric::SequentialRead, 3500.5e6),
            ("read=7,45 GB/s", Metric::SequentialRead, 7450e6),
            ("read=7,450GB/s", Metric::SequentialRead, 7450e6),
            ("write=0,550GB/s", Metric::SequentialWrite, 550e6),
            ("random_read=95.000,00", Metric::RandomRead, 95_000.0),
            ("random_read=95 000", Metric::RandomRead, 95_000.0),
            ("random_read=1\u{202f}400\u{202f}000 IOPS", Metric::RandomRead, 1.4e6),
            ("random_read=1'400'000", Metric::RandomRead, 1.4e6),
            ("random_read=1.400.000", Metric::RandomRead, 1.4e6),
            ("random_read=1,4M", Metric::RandomRead, 1.4e6),
            ("random_read=1,400M", Metric::RandomRead, 1.4e6),
            ("random_read=90K IOPs", Metric::RandomRead, 90e3),
            ("Random-Read=90k", Metric::RandomRead, 90e3),
            ("READ=550 mB/S", Metric::SequentialRead, 550e6),
        ] {
            assert_eq!(text.parse(), Ok(RatedMetric { metric, per_s }), "{text}");
        }
        for text in [
            "read",
            "read=",
            "read=fast",
            "read=0MB/s",
            "read=7,45,1GB/s",
            "read=7.4,500MB/s",
            "read=7 45MB/s",
            "read=0.550.000MB/s",
            "read=,450MB/s",
            "read=1.2.3GB/s",
            "random_read=0,400",
            "read=95000 IOPS",
            "speed=3MB/s",
            "random_read=-1",
            "random_read=5MB/s",
            "read=NaNMB/s",
        ] {
            assert!(text.parse::<RatedMetric>().unwrap_err().contains("550MB/s"), "{text}");
        }
    }

    #[test]
    fn a_speed_without_a_unit_is_refused_with_the_one_to_add() {
        let error = "read=550".parse::<RatedMetric>().unwrap_err();
        assert_eq!(error, "\"read=550\" has no unit; write read=550MB/s, or GB/s");
    }

    #[test]
    fn bits_and_more_than_any_drive_does_are_asked_about() {
        for (text, words) in [
            ("read=4400Mb/s", "write 4400MB/s for bytes or 550MB/s for bits"),
            ("read=6Gbps", "write 6000MB/s for bytes or 750MB/s for bits"),
            ("read=550mb/s", "write 550MB/s for bytes or 68.75MB/s for bits"),
            ("read=7450000MB/s", "more than any drive reads or writes"),
            ("random_read=1,400,000K", "more than any drive does"),
        ] {
            let error = text.parse::<RatedMetric>().unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_point_that_may_group_thousands_is_asked_about() {
        for text in ["read=7.300 MB/s", "random_read=95.000", "random_read=1.400K"] {
            let error = text.parse::<RatedMetric>().unwrap_err();
            assert!(
                error.contains("write 7300") || error.contains("write 95000") || error.contains("write 1400"),
                "{error}"
            );
        }
    }

    #[test]
    fn several_have_commas_between_and_in_them_and_none_comes_twice() {
        let RatedMetrics(rated) = "read=7,450MB/s,write=6,900MB/s,random_read=1,000,000".parse().unwrap();
        assert_eq!(rated.iter().map(|rated| rated.per_s).collect::<Vec<_>>(), [7.45e9, 6.9e9, 1e6]);
        let error = "read=7GB/s,write=6GB/s,read=5GB/s".parse::<RatedMetrics>().unwrap_err();
        assert_eq!(error, "\"read=5GB/s\" comes second; give one speed of a kind");
        for text in ["", ",", "read=5GB/s,", ",read=5GB/s", "read=5GB/s,fast"] {
            assert!(text.parse::<RatedMetrics>().is_err(), "{text}");
        }
    }

    const FILE: &str = r#"
checked = "2026-11-29"
bytes = "2GiB"

[drive]
model = "Samsung SSD 980 PRO 1TB"
capacity_bytes = 1000204886016
file_system = "ext4"

[metrics]
sequential_read = 6.7e9
sustained_write = 1.9e9
random_write = 46000.0
"#;

    fn drive(model: &str, capacity_bytes: u64, file_system: Option<&str>) -> DriveModel {
        DriveModel { model: model.into(), capacity_bytes, file_system: file_system.map(str::to_owned) }
    }

    fn compared(drive: &DriveModel, check: &CheckOptions) -> Vec<Metric> {
        let references = BaselineFile::read(FILE).unwrap().references_for(Some(drive), check).unwrap();
        assert!(references.iter().all(|reference| reference.origin == Origin::OtherDrive));
        references.iter().map(|reference| reference.metric).collect()
    }

    #[test]
    fn only_what_both_measure_alike_is_compared() {
        let default_check = CheckOptions::default();
        let same = drive("Samsung SSD 980 PRO 1TB", 1_000_204_886_016, Some("ext4"));
        let metrics = [Metric::SequentialRead, Metric::SustainedWrite, Metric::RandomWrite];
        assert_eq!(compared(&same, &default_check), metrics);
        let raw = DriveModel { file_system: None, ..same.clone() };
        assert_eq!(compared(&raw, &default_check), metrics[..2]);
        let short = CheckOptions { bytes: Some(256 << 20), ..default_check };
        assert_eq!(compared(&same, &short), [Metric::SequentialRead, Metric::RandomWrite]);
    }

    #[test]
    fn a_drive_of_another_model_or_size_is_refused() {
        let file = BaselineFile::read(FILE).unwrap();
        let refused =
            |drive: Option<&DriveModel>| file.references_for(drive, &CheckOptions::default()).unwrap_err();
        let larger = drive("Samsung SSD 980 PRO 1TB", 2_000_398_934_016, None);
        let other = drive("Samsung SSD 980 1TB", 1_000_204_886_016, None);
        assert!(refused(Some(&larger)).contains("1.82 TiB"), "{}", refused(Some(&larger)));
        assert!(refused(Some(&other)).contains("a Samsung SSD 980 1TB ("));
        assert!(refused(None).contains("does not tell"));
    }

    #[test]
    fn a_file_is_written_as_it_is_read_and_a_wrong_line_is_named() {
        let file = BaselineFile::read(FILE).unwrap();
        assert_eq!(BaselineFile::read(&file.text()), Ok(file));
        for (from, to, said) in [
            ("bytes = ", "byte = ", "line 3"),
            ("6.7e9", "0", "above 0"),
            ("6.7e9", "nan", "above 0"),
            ("sustained_write", "speed", "line 12: unknown variant `speed`"),
        ] {
            let error = BaselineFile::read(&FILE.replace(from, to)).unwrap_err();
            assert!(error.contains(said), "{to}: {error}");
        }
    }
}
