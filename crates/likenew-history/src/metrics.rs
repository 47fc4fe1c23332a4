//! Exports the state of drives as metrics for Prometheus or node_exporter.
//!
//! The text is OpenMetrics, restricted to what Prometheus's older text format has, too: every family is a gauge. So the
//! same bytes serve readers of both. Labels are few and bounded, and none contains a serial number.

use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Display;

use crate::database::History;
use crate::drive_history::{Change, DriveHistory, MetricHistory};
use crate::error::HistoryError;
use crate::indexed_run::MetricValue;
use crate::peers::{Place, peers};
use crate::queries::{Check, Page};
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

/// A label's name and value.
type Label = (&'static str, String);

/// A gauge with all its samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// Name without unit.
    name: String,
    unit: Option<&'static str>,
    /// Meaning, in a sentence.
    pub help: String,
    /// Names of the labels.
    pub labels: &'static [&'static str],
    samples: Vec<(Vec<Label>, f64)>,
}

impl Family {
    /// Name with unit.
    pub fn full_name(&self) -> String {
        self.unit.map_or_else(|| self.name.clone(), |unit| format!("{}_{unit}", self.name))
    }
}

/// Labels of every sample about a drive.
const DRIVE: &[&str] = &["drive", "device", "host"];
const DRIVE_INFO: &[&str] = &["drive", "device", "host", "model", "capacity", "access", "virtual"];
const DRIVE_REFERENCE: &[&str] = &["drive", "device", "host", "reference"];
const DRIVE_CAUSE: &[&str] = &["drive", "device", "host", "cause"];
const DRIVE_METRIC: &[&str] = &["drive", "device", "host", "metric"];

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
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    let build = Family {
        samples: vec![(version, 1.0)],
        ..empty("build_info", None, wording::BUILD_INFO, &["version"])
    };
    let damaged =
        fleet.damaged_runs.iter().map(|(host, runs)| (vec![("host", host.clone())], *runs as f64)).collect();
    let damaged =
        Family { samples: damaged, ..empty("history_damaged_runs", None, wording::DAMAGED_RUNS, &["host"]) };
    let mut families = vec![build, damaged, of_attempts(fleet)];
    families.extend(of_drives(fleet));
    families.extend(of_health(fleet));
    families.push(of_causes(fleet));
    families.extend(METRICS.iter().flat_map(|metric| of_metric(fleet, metric)));
    families.extend(of_changes(fleet));
    families.extend(of_peers(fleet));
    families
}

/// Whether each target of a command could be checked.
fn of_attempts(fleet: &Fleet) -> Family {
    let sample = |(device, reason): (&String, &Option<String>)| {
        let host = ("host", fleet.host.clone());
        let labels = vec![("device", device.clone()), host, ("reason", reason.clone().unwrap_or_default())];
        (labels, f64::from(u8::from(reason.is_none())))
    };
    let samples = fleet.attempts.iter().map(sample).collect();
    Family { samples, ..empty("check_success", None, wording::CHECK_SUCCESS, &["device", "host", "reason"]) }
}

fn empty(
    name: impl Display,
    unit: Option<&'static str>,
    help: impl Into<String>,
    labels: &'static [&'static str],
) -> Family {
    let help = wording::sentence(&help.into());
    Family { name: format!("{PREFIX}_{name}"), unit, help, labels, samples: Vec::new() }
}

/// A family with at most one sample for each drive.
fn each_drive(
    fleet: &Fleet,
    family: Family,
    sample: impl Fn(&DriveHistory) -> Option<(Vec<Label>, f64)>,
) -> Family {
    let samples = fleet.drives.iter().filter_map(|((host, key), drive)| {
        let (more, value) = sample(drive)?;
        Some(([drive_labels(host, key, drive), more].concat(), value))
    });
    Family { samples: samples.collect(), ..family }
}

fn drive_labels(host: &str, key: &str, drive: &DriveHistory) -> Vec<Label> {
    let key = key.get(..KEY_CHARS).unwrap_or(key).to_owned();
    vec![("drive", key), ("device", device(&drive.drive.target)), ("host", host.to_owned())]
}

fn of_drives(fleet: &Fleet) -> Vec<Family> {
    let drive = |family: Family, value: fn(&DriveHistory) -> Option<f64>| {
        each_drive(fleet, family, |drive| value(drive).map(|value| (Vec::new(), value)))
    };
    let info = empty("drive_info", None, wording::DRIVE_INFO, DRIVE_INFO);
    let with = |unit, name: &str, help: &str| empty(name, unit, help, DRIVE);
    vec![
        each_drive(fleet, info, |drive| Some((info_labels(drive), 1.0))),
        drive(with(Some(BYTES), "drive_capacity", wording::CAPACITY), |drive| {
            drive.drive.capacity_bytes.map(|bytes| bytes as f64)
        }),
        drive(with(None, "drive_checks", wording::CHECKS), |drive| Some(drive.drive.checks as f64)),
        drive(with(Some(SECONDS), "drive_check_timestamp", wording::CHECK_TIMESTAMP), |drive| {
            seconds(&latest(drive)?.run.started_at)
        }),
        drive(with(None, "drive_problem", wording::PROBLEM), |drive| {
            Some(f64::from(u8::from(latest(drive)?.run.standing == "problem")))
        }),
        drive(with(None, "drive_check_errors", wording::CHECK_ERRORS), |drive| {
            Some(latest(drive)?.run.failed_ios as f64)
        }),
    ]
}

/// Health values: name in the index, name of the metric, unit, meaning, and factor from the index's unit.
const HEALTH: [(&str, &str, Option<&str>, &str, f64); 6] = [
    ("temperature", "drive_temperature", Some(CELSIUS), wording::TEMPERATURE, 1.0),
    ("failing", "drive_failing", None, wording::FAILING, 1.0),
    ("endurance_used", "drive_endurance_used", Some(RATIO), wording::ENDURANCE_USED, 0.01),
    ("media_errors", "drive_media_errors", None, wording::MEDIA_ERRORS, 1.0),
    ("power_on", "drive_power_on", Some(SECONDS), wording::POWER_ON, 3600.0),
    ("written", "drive_written", Some(BYTES), wording::WRITTEN, 1.0),
];

/// Health of each drive at the last check.
fn of_health(fleet: &Fleet) -> impl Iterator<Item = Family> {
    HEALTH.into_iter().map(|(name, metric, unit, help, factor)| {
        each_drive(fleet, empty(metric, unit, help, DRIVE), |drive| {
            let known = latest(drive)?.health.iter().find(|health| health.name == name)?;
            Some((Vec::new(), known.value * factor))
        })
    })
}

/// Causes of slowness that the last check of each drive found.
fn of_causes(fleet: &Fleet) -> Family {
    let samples = fleet.drives.iter().flat_map(|((host, key), drive)| {
        let problems = latest(drive).into_iter().flat_map(|check| &check.run.problems);
        let causes = problems.filter_map(|problem| problem.name.strip_prefix(Answer::CAUSE_PREFIX));
        causes.map(move |cause| {
            ([drive_labels(host, key, drive), vec![("cause", cause.to_owned())]].concat(), 1.0)
        })
    });
    Family { samples: samples.collect(), ..empty("drive_cause_info", None, wording::CAUSE, DRIVE_CAUSE) }
}

fn info_labels(drive: &DriveHistory) -> Vec<Label> {
    let row = &drive.drive;
    let capacity = row.capacity_bytes.map(|bytes| Size(bytes.cast_unsigned()).to_string());
    vec![
        ("model", row.model.clone().unwrap_or_default()),
        ("capacity", capacity.unwrap_or_default()),
        ("access", row.access.clone()),
        ("virtual", row.is_virtual.to_string()),
    ]
}

fn latest(drive: &DriveHistory) -> Option<&Check> {
    drive.checks.last()
}

/// Seconds since 1970; `None` for an invalid date from a damaged file.
fn seconds(date: &str) -> Option<f64> {
    date.parse::<Timestamp>().ok().map(|time| time.as_millisecond() as f64 / 1e3)
}

fn of_metric(fleet: &Fleet, &(name, unit, noun): &(&str, &'static str, MetricNoun)) -> [Family; 5] {
    let drive = |part: &str, help: String, value: fn(&MetricValue) -> f64| {
        let family = empty(format!("drive_{name}{part}"), Some(unit), help, DRIVE);
        each_drive(fleet, family, |drive| Some((Vec::new(), value(measured(drive, name)?))))
    };
    let compared = |part: &str, unit, help: String, value: fn(&MetricValue) -> Option<f64>| {
        let family = empty(format!("drive_{name}{part}"), Some(unit), help, DRIVE_REFERENCE);
        each_drive(fleet, family, |drive| {
            let metric = measured(drive, name)?;
            Some((vec![("reference", metric.origin.clone()?)], value(metric)?))
        })
    };
    [
        drive("", wording::value(noun), |metric| metric.value),
        drive("_low", wording::low(noun), |metric| metric.low),
        drive("_high", wording::high(noun), |metric| metric.high),
        compared("_reference", unit, wording::reference(noun), |metric| metric.reference),
        compared("", RATIO, wording::ratio(noun), |metric| {
            metric.reference.filter(|reference| *reference > 0.0).map(|reference| metric.value / reference)
        }),
    ]
}

fn measured<'a>(drive: &'a DriveHistory, name: &str) -> Option<&'a MetricValue> {
    latest(drive)?.metrics.iter().find(|metric| metric.name == name)
}

fn of_changes(fleet: &Fleet) -> [Family; 4] {
    let changes = |name: &str, unit, help: &str, value: fn(&Change) -> Option<f64>| {
        let samples = fleet.drives.iter().flat_map(|((host, key), drive)| {
            let sample = move |metric: &MetricHistory| {
                let metric_label = vec![("metric", metric.name.clone())];
                let value = value(metric.changes.last()?)?;
                Some(([drive_labels(host, key, drive), metric_label].concat(), value))
            };
            drive.metrics.iter().filter_map(sample)
        });
        Family { samples: samples.collect(), ..empty(name, Some(unit), help, DRIVE_METRIC) }
    };
    [
        changes("drive_change", RATIO, wording::CHANGE_RATIO, |change| Some(change.ratio)),
        changes("drive_change_low", RATIO, wording::CHANGE_LOW, |change| Some(change.low)),
        changes("drive_change_high", RATIO, wording::CHANGE_HIGH, |change| Some(change.high)),
        changes("drive_change_timestamp", SECONDS, wording::CHANGE_TIMESTAMP, |change| {
            seconds(&change.since)
        }),
    ]
}

/// Each drive compared with others of its model.
fn of_peers(fleet: &Fleet) -> [Family; 3] {
    let all_peers = peers(fleet.drives.values());
    let family = |name: &str, unit, help: &str, value: fn(&Place) -> Option<f64>| {
        let samples = fleet.drives.iter().flat_map(|((host, key), drive)| {
            let places = all_peers
                .iter()
                .filter(|peers| std::ptr::eq(peers.drive, drive))
                .flat_map(|peers| &peers.places);
            places.filter_map(move |place| {
                let metric = vec![("metric", place.metric.clone())];
                Some(([drive_labels(host, key, drive), metric].concat(), value(place)?))
            })
        });
        Family { samples: samples.collect(), ..empty(name, unit, help, DRIVE_METRIC) }
    };
    [
        family("drive_peers", None, wording::PEERS, |place| Some(place.among.peers as f64)),
        family("drive_peers", Some(RATIO), wording::PEERS_RATIO, |place| Some(place.among.ratio)),
        family("drive_below_peers", None, wording::BELOW_PEERS, |place| {
            place.is_slow().map(|is_slow| f64::from(u8::from(is_slow)))
        }),
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
            let checks = history.checks(&row)?;
            fleet.add(machine, DriveHistory::new(row, checks));
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
            for (labels, value) in &family.samples {
                metrics.encode_family(labels)?.encode_gauge(value)?;
            }
        }
        Ok(())
    }
}
