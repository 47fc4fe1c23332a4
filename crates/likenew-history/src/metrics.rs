//! Exports the state of drives as metrics for Prometheus or node_exporter.
//!
//! The text is OpenMetrics, restricted to what Prometheus's older text format has, too: every family is a gauge. So the
//! same bytes serve readers of both. Labels are few and bounded, and none contains a serial number.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Display;

use crate::database::History;
use crate::drive_history::{Change, DriveHistory};
use crate::error::HistoryError;
use crate::indexed_run::MetricValue;
use crate::peers::{Place, peers};
use crate::queries::Page;
use jiff::Timestamp;
use likenew_core::findings::Answer;
use likenew_core::quantity::Size;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use crate::wording::metrics::{self as wording, MetricNoun};

/// Prefix of all names.
const PREFIX: &str = "likenew";
/// Characters of a drive's key in its label, as in `likenew history`.
const KEY_CHARS: usize = 12;

/// The values of a family's labels, and the sample's.
type Sample = (Vec<String>, f64);

/// A gauge with all its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Name without unit.
    name: String,
    unit: Option<&'static str>,
    /// Meaning, in a sentence.
    pub help: String,
    /// Names of the labels.
    pub labels: Vec<&'static str>,
    samples: Vec<Sample>,
}

impl Family {
    fn new(
        name: impl Display,
        unit: Option<&'static str>,
        help: &str,
        labels: &[&'static str],
        samples: impl IntoIterator<Item = Sample>,
    ) -> Self {
        Self {
            name: format!("{PREFIX}_{name}"),
            unit,
            help: wording::sentence(help),
            labels: labels.to_vec(),
            samples: samples.into_iter().collect(),
        }
    }

    /// Name with unit.
    pub fn full_name(&self) -> String {
        self.unit.map_or_else(|| self.name.clone(), |unit| format!("{}_{unit}", self.name))
    }
}

/// The first labels of every sample about a drive.
const DRIVE: [&str; 3] = ["drive", "device", "host"];

const BYTES: &str = "bytes";
const SECONDS: &str = "seconds";
const RATIO: &str = "ratio";
const CELSIUS: &str = "celsius";
const BYTES_PER_SECOND: &str = "bytes_per_second";
const OPERATIONS_PER_SECOND: &str = "operations_per_second";

/// Metrics of a check: name, unit, and name in sentences.
const METRICS: [(&str, &str, MetricNoun); 6] = [
    ("sequential_read", BYTES_PER_SECOND, wording::SEQUENTIAL_READ),
    ("sequential_write", BYTES_PER_SECOND, wording::SEQUENTIAL_WRITE),
    ("sustained_write", BYTES_PER_SECOND, wording::SUSTAINED_WRITE),
    ("random_read", OPERATIONS_PER_SECOND, wording::RANDOM_READ),
    ("random_write", OPERATIONS_PER_SECOND, wording::RANDOM_WRITE),
    ("random_read_qd32", OPERATIONS_PER_SECOND, wording::RANDOM_READ_QD32),
];

/// All metrics with their samples.
pub fn families(fleet: &Fleet) -> Vec<Family> {
    let version = (vec![env!("CARGO_PKG_VERSION").to_owned()], 1.0);
    let damaged = fleet.damaged_runs.iter().map(|(host, runs)| (vec![host.clone()], *runs as f64));
    let attempts = fleet.attempts.iter().map(|(device, reason)| {
        let labels = vec![device.clone(), fleet.host.clone(), reason.clone().unwrap_or_default()];
        (labels, flag(reason.is_none()))
    });
    let mut families = vec![
        Family::new("build_info", None, wording::BUILD_INFO, &["version"], [version]),
        Family::new("history_damaged_runs", None, wording::DAMAGED_RUNS, &["host"], damaged),
        Family::new("check_success", None, wording::CHECK_SUCCESS, &["device", "host", "reason"], attempts),
    ];
    families.extend(of_state(fleet));
    families.extend(of_health(fleet));
    families.push(of_causes(fleet));
    families.extend(METRICS.iter().flat_map(|metric| of_metric(fleet, metric)));
    families.extend(of_changes(fleet));
    families.extend(of_peers(fleet));
    families
}

/// A family about drives. `samples` gives the values of `labels`, which follow those of every drive, and the sample's.
fn of_drives<'a, Samples: IntoIterator<Item = Sample>>(
    fleet: &'a Fleet,
    name: impl Display,
    unit: Option<&'static str>,
    help: &str,
    labels: &[&'static str],
    samples: impl Fn(&'a DriveHistory) -> Samples,
) -> Family {
    let labeled = fleet.drives.iter().flat_map(|((host, key), drive)| {
        let key = key.get(..KEY_CHARS).unwrap_or(key).to_owned();
        let of_drive = [key, device(&drive.drive.target), host.clone()];
        samples(drive).into_iter().map(move |(more, value)| ([&of_drive[..], &more].concat(), value))
    });
    Family::new(format!("drive_{name}"), unit, help, &[&DRIVE, labels].concat(), labeled)
}

/// A family with at most one number for each drive.
fn of_numbers(
    fleet: &Fleet,
    name: impl Display,
    unit: Option<&'static str>,
    help: &str,
    value: impl Fn(&DriveHistory) -> Option<f64>,
) -> Family {
    of_drives(fleet, name, unit, help, &[], |drive| value(drive).map(|value| (Vec::new(), value)))
}

fn flag(is_set: bool) -> f64 {
    f64::from(u8::from(is_set))
}

fn of_state(fleet: &Fleet) -> [Family; 6] {
    let info = |drive: &DriveHistory| {
        let row = &drive.drive;
        let capacity = row.capacity_bytes.map(|bytes| Size(bytes.cast_unsigned()).to_string());
        let model = row.model.clone().unwrap_or_default();
        let labels =
            vec![model, capacity.unwrap_or_default(), row.access.clone(), row.is_virtual.to_string()];
        [(labels, 1.0)]
    };
    let labels = ["model", "capacity", "access", "virtual"];
    [
        of_drives(fleet, "info", None, wording::DRIVE_INFO, &labels, info),
        of_numbers(fleet, "capacity", Some(BYTES), wording::CAPACITY, |drive| {
            drive.drive.capacity_bytes.map(|bytes| bytes as f64)
        }),
        of_numbers(fleet, "checks", None, wording::CHECKS, |drive| Some(drive.drive.checks as f64)),
        of_numbers(fleet, "check_timestamp", Some(SECONDS), wording::CHECK_TIMESTAMP, |drive| {
            seconds(&drive.checks.last()?.run.started_at)
        }),
        of_numbers(fleet, "problem", None, wording::PROBLEM, |drive| {
            Some(flag(drive.checks.last()?.run.standing == "problem"))
        }),
        of_numbers(fleet, "check_errors", None, wording::CHECK_ERRORS, |drive| {
            Some(drive.checks.last()?.run.failed_ios as f64)
        }),
    ]
}

/// Health values: name in the index and here, unit, meaning, and factor from the index's unit.
const HEALTH: [(&str, Option<&str>, &str, f64); 6] = [
    ("temperature", Some(CELSIUS), wording::TEMPERATURE, 1.0),
    ("failing", None, wording::FAILING, 1.0),
    ("endurance_used", Some(RATIO), wording::ENDURANCE_USED, 0.01),
    ("media_errors", None, wording::MEDIA_ERRORS, 1.0),
    ("power_on", Some(SECONDS), wording::POWER_ON, 3600.0),
    ("written", Some(BYTES), wording::WRITTEN, 1.0),
];

/// Health of each drive at the last check.
fn of_health(fleet: &Fleet) -> impl Iterator<Item = Family> {
    HEALTH.into_iter().map(|(name, unit, help, factor)| {
        of_numbers(fleet, name, unit, help, |drive| {
            let known = drive.checks.last()?.health.iter().find(|health| health.name == name)?;
            Some(known.value * factor)
        })
    })
}

/// Causes of slowness that the last check of each drive found.
fn of_causes(fleet: &Fleet) -> Family {
    of_drives(fleet, "cause_info", None, wording::CAUSE, &["cause"], |drive| {
        let problems = drive.checks.last().into_iter().flat_map(|check| &check.run.problems);
        let causes = problems.filter_map(|problem| problem.name.strip_prefix(Answer::CAUSE_PREFIX));
        causes.map(|cause| (vec![cause.to_owned()], 1.0))
    })
}

/// Seconds since 1970; `None` for an invalid date from a damaged file.
fn seconds(date: &str) -> Option<f64> {
    date.parse::<Timestamp>().ok().map(|time| time.as_millisecond() as f64 / 1e3)
}

fn of_metric(fleet: &Fleet, &(name, unit, noun): &(&str, &'static str, MetricNoun)) -> [Family; 5] {
    let number = |part: &str, help: &str, value: fn(&MetricValue) -> f64| {
        let full_name = format!("{name}{part}");
        of_numbers(fleet, full_name, Some(unit), help, |drive| measured(drive, name).map(value))
    };
    let compared = |part: &str, unit, help: &str, value: fn(&MetricValue) -> Option<f64>| {
        let full_name = format!("{name}{part}");
        of_drives(fleet, full_name, Some(unit), help, &["reference"], |drive| {
            let metric = measured(drive, name)?;
            Some((vec![metric.origin.clone()?], value(metric)?))
        })
    };
    [
        number("", &wording::value(noun), |metric| metric.value),
        number("_low", &wording::low(noun), |metric| metric.low),
        number("_high", &wording::high(noun), |metric| metric.high),
        compared("_reference", unit, &wording::reference(noun), |metric| metric.reference),
        compared("", RATIO, &wording::ratio(noun), |metric| {
            metric.reference.filter(|reference| *reference > 0.0).map(|reference| metric.value / reference)
        }),
    ]
}

fn measured<'a>(drive: &'a DriveHistory, name: &str) -> Option<&'a MetricValue> {
    drive.checks.last()?.metrics.iter().find(|metric| metric.name == name)
}

fn of_changes(fleet: &Fleet) -> [Family; 4] {
    let changes = |name: &str, unit, help: &str, value: fn(&Change) -> Option<f64>| {
        of_drives(fleet, name, Some(unit), help, &["metric"], |drive| {
            let changes = drive.metrics.iter().filter_map(|metric| Some((metric, metric.changes.last()?)));
            changes.filter_map(move |(metric, change)| Some((vec![metric.name.clone()], value(change)?)))
        })
    };
    [
        changes("change", RATIO, wording::CHANGE_RATIO, |change| Some(change.ratio)),
        changes("change_low", RATIO, wording::CHANGE_LOW, |change| Some(change.low)),
        changes("change_high", RATIO, wording::CHANGE_HIGH, |change| Some(change.high)),
        changes("change_timestamp", SECONDS, wording::CHANGE_TIMESTAMP, |change| seconds(&change.since)),
    ]
}

/// Each drive compared with others of its model.
fn of_peers(fleet: &Fleet) -> [Family; 3] {
    let all_peers = peers(fleet.drives.values());
    let family = |name: &str, unit, help: &str, value: fn(&Place) -> Option<f64>| {
        of_drives(fleet, name, unit, help, &["metric"], |drive| {
            let own = all_peers.iter().filter(|peers| std::ptr::eq(peers.drive, drive));
            let places = own.flat_map(|peers| &peers.places);
            places.filter_map(|place| Some((vec![place.metric.clone()], value(place)?))).collect::<Vec<_>>()
        })
    };
    [
        family("peers", None, wording::PEERS, |place| Some(place.among.peers as f64)),
        family("peers", Some(RATIO), wording::PEERS_RATIO, |place| Some(place.among.ratio)),
        family("below_peers", None, wording::BELOW_PEERS, |place| place.is_slow().map(flag)),
    ]
}

/// Folder whose file names contain serial numbers.
const BY_ID: &str = "/dev/disk/by-id";

/// The state of all drives in a history.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fleet {
    /// Drives by machine and key, so that each occurs once and the order is fixed.
    pub(crate) drives: BTreeMap<(String, String), DriveHistory>,
    /// Number of damaged runs by machine.
    pub(crate) damaged_runs: BTreeMap<String, usize>,
    /// The name of this machine.
    pub(crate) host: String,
    /// By the target's label: why it could not be checked, or `None` if it could.
    pub(crate) attempts: BTreeMap<String, Option<String>>,
}

/// A target that a command was to check, and the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The target as it was named.
    pub target: String,
    /// Why the target could not be checked, if so.
    pub reason: Option<String>,
}

impl Fleet {
    /// Reads all drives of a history.
    ///
    /// # Errors
    /// The database failed.
    pub fn read(history: &mut History) -> Result<Self, HistoryError> {
        let host = history.machine_of(history.archive_name()).to_owned();
        let damaged_runs = BTreeMap::from([(host.clone(), 0)]);
        let mut fleet = Self { host, damaged_runs, ..Self::default() };
        for row in history.drives(Page { offset: 0, rows: u32::MAX })? {
            let machine = history.machine_of(&row.archive).to_owned();
            fleet.add(machine, DriveHistory::read(history, row)?);
        }
        for run in history.damaged()? {
            *fleet.damaged_runs.entry(history.machine_of(&run.archive).to_owned()).or_default() += 1;
        }
        Ok(fleet)
    }

    /// Adds the results of a command's checks on this machine.
    #[must_use]
    pub fn with_attempts(mut self, attempts: &[Attempt]) -> Self {
        for Attempt { target, reason } in attempts {
            let device = device(target);
            let reason = reason.as_ref().map(|reason| reason.replace(target, &device));
            // All targets below by-id share one label, so a single failure marks them all.
            let known = self.attempts.entry(device).or_default();
            *known = known.take().or(reason);
        }
        self
    }

    /// Adds a drive. If two users of a machine checked the same drive, the later check counts.
    fn add(&mut self, machine: String, drive: DriveHistory) {
        let date = |drive: &DriveHistory| drive.checks.last().map(|check| check.run.started_at.clone());
        self.damaged_runs.entry(machine.clone()).or_default();
        let place = (machine, drive.drive.key.clone());
        if self.drives.get(&place).is_none_or(|known| date(known) < date(&drive)) {
            self.drives.insert(place, drive);
        }
    }

    /// Makes a fleet from drives with their machines, and numbers of damaged runs by machine.
    pub fn new(
        drives: impl IntoIterator<Item = (String, DriveHistory)>,
        damaged_runs: impl IntoIterator<Item = (String, usize)>,
    ) -> Self {
        let mut fleet = Self::default();
        drives.into_iter().for_each(|(machine, drive)| fleet.add(machine, drive));
        fleet.damaged_runs.extend(damaged_runs);
        fleet
    }
}

/// The target's label: its name, without a serial number.
pub(crate) fn device(target: &str) -> String {
    if target.starts_with(BY_ID) { BY_ID.to_owned() } else { target.to_owned() }
}

/// A media type in which the text can be delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaType {
    /// The type as a reader asks for it: `text/plain`.
    pub essence: &'static str,
    /// The type in the answer's header, with version and charset.
    pub content_type: &'static str,
}

/// The media types of the text, preferred one first.
pub const FORMATS: [MediaType; 2] = [
    MediaType {
        essence: "application/openmetrics-text",
        content_type: "application/openmetrics-text; version=1.0.0; charset=utf-8",
    },
    MediaType { essence: "text/plain", content_type: "text/plain; version=0.0.4; charset=utf-8" },
];

/// The metrics of a fleet as text.
pub fn text(fleet: &Fleet) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Families(families(fleet))));
    let mut text = String::new();
    encode(&mut text, &registry).expect("a string takes everything");
    text
}

#[derive(Debug)]
struct Families(Vec<Family>);

impl Collector for Families {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in self.0.iter().filter(|family| !family.samples.is_empty()) {
            let unit = family.unit.map(|unit| Unit::Other(unit.to_owned()));
            // The older format has no info type, so information is a gauge of 1.
            let mut metrics =
                encoder.encode_descriptor(&family.name, &family.help, unit.as_ref(), MetricType::Gauge)?;
            for (values, value) in &family.samples {
                let values = values.iter().map(String::as_str);
                let labels: Vec<(&str, &str)> = family.labels.iter().copied().zip(values).collect();
                metrics.encode_family(&labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}
