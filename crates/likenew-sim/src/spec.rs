//! Parses the target of a simulated drive: `sim:NAME?state=used&fill=0.8&trim=off`, `sim:generated-17?…`, or
//! `sim:FILE.toml?…`.

use std::ops::Range;
use std::path::PathBuf;

use likenew_core::input::{SIMILARITY_MIN, nearest};
use likenew_core::units::{Nanos, parse_duration};

use crate::catalog::{catalog, names_of};
use crate::disk::DiskParameters;
use crate::error::{Domain, SettingError, SimError};
use crate::faults::{DriveFaults, NeighborParameters, OutlierParameters, ThrottleParameters};
use crate::flash::{FlashParameters, Trim};
use crate::generator;
use crate::generator::generate;
use crate::model::{FlashModel, Model};
use crate::situations::{self, Situations, size_in};
use crate::state::{DriveTreatment, State};

/// A simulated drive, and the state that it should be in.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The target as the user typed it.
    pub text: String,
    /// Which drive it is.
    pub drive: SpecName,
    /// Its state: new or used.
    pub state: State,
    /// Share of its addresses that hold data, `0 ..= 1`. Defaults to none on a new drive and all on a used one.
    pub fill: Option<f64>,
    /// Share of its addresses whose files were deleted without TRIM. They are the last of those that hold data.
    pub deleted: f64,
    /// Whether TRIM works, if not as in the drive's file.
    pub trim: Option<bool>,
    /// Age of its data.
    pub age: Nanos,
    /// Whether it keeps the bytes that are written.
    pub data: bool,
    /// Whether writes are cached, if not as in the drive's file.
    pub cache: Option<bool>,
    /// Host memory for buffered data in bytes, if not the default.
    pub memory: Option<u64>,
    /// IOPS of another program, if not as in the drive's file.
    pub busy: Option<u32>,
    /// One I/O out of this many is an outlier, if not as in the drive's file.
    pub outliers: Option<u64>,
    /// Share of the link's rate that is left while it throttles, if not as in the drive's file.
    pub throttle: Option<f64>,
    /// Situations that differ from the drive's file.
    pub situations: Situations,
    /// Whether the system reports facts about the drive.
    pub facts: bool,
}

/// How a simulated drive is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecName {
    /// A name in the catalog.
    Catalog(String),
    /// The seed of a generated drive.
    Generated(u64),
    /// A file in the catalog's form.
    File(PathBuf),
    /// The file of a saved drive.
    Snapshot(PathBuf),
}

/// Keys of the settings that are no situations, with an example of each.
const SETTINGS: [(&str, &str); 12] = [
    ("state", "used"),
    ("fill", "0.8"),
    ("deleted", "0.4"),
    ("trim", "off"),
    ("cache", "off"),
    ("age", "90d"),
    ("data", "on"),
    ("memory", "8GiB"),
    ("busy", "100"),
    ("outliers", "1000"),
    ("throttle", "0.2"),
    ("facts", "off"),
];

/// All settings of a target, each with an example: `state=used, fill=0.8, …`.
pub fn settings() -> String {
    let settings = SETTINGS.iter().chain(situations::SETTINGS);
    settings.map(|(key, example)| format!("{key}={example}")).collect::<Vec<_>>().join(", ")
}

impl Spec {
    /// Parses `sim:NAME` or `sim:FILE.toml`, with settings after a question mark, or `sim:FILE.snapshot`.
    ///
    /// # Errors
    /// The text does not start with `sim:`, the catalog has no such name, or a setting is unknown, repeated
    /// or out of range. The error says what would be right.
    pub fn parse(text: &str) -> Result<Self, SimError> {
        let bad = |reason: SettingError| SimError::Spec { text: text.to_owned(), reason: reason.to_string() };
        let rest = text.strip_prefix("sim:").ok_or_else(|| bad(SettingError::NotSimulated))?;
        let (name, query) = rest.split_once('?').map_or((rest, None), |(name, query)| (name, Some(query)));
        let drive = if name.ends_with(".snapshot") {
            SpecName::Snapshot(name.into())
        } else if name.ends_with(".toml") || name.contains('/') {
            SpecName::File(name.into())
        } else if let Some(seed) = name.strip_prefix(generator::PREFIX) {
            SpecName::Generated(seed.parse().map_err(|_| bad(SettingError::NotASeed(seed.to_owned())))?)
        } else if catalog().iter().any(|entry| entry.name == name) {
            SpecName::Catalog(name.to_owned())
        } else {
            return Err(bad(unknown_name(name)));
        };
        let mut spec = Self {
            text: text.to_owned(),
            drive,
            state: State::default(),
            fill: None,
            deleted: 0.0,
            trim: None,
            age: Nanos::ZERO,
            data: false,
            cache: None,
            memory: None,
            busy: None,
            outliers: None,
            throttle: None,
            situations: Situations::default(),
            facts: true,
        };
        let says_state =
            query.is_some_and(|query| query.split('&').any(|setting| setting.starts_with("state=")));
        if let SpecName::Generated(seed) = spec.drive
            && !says_state
        {
            for setting in generate(seed).state.split('&').filter(|setting| !setting.is_empty()) {
                spec.set(setting).expect("a drawn state is a query");
            }
        }
        let mut visited = Vec::new();
        for setting in query.into_iter().flat_map(|query| query.split('&')) {
            let key = spec.set(setting).map_err(bad)?;
            if visited.contains(&key) {
                return Err(bad(SettingError::Twice(key.to_owned())));
            }
            visited.push(key);
        }
        if spec.deleted > spec.filled_share() {
            let (deleted, filled) = (spec.deleted, spec.filled_share());
            return Err(bad(SettingError::DeletedMoreThanFilled { deleted, filled }));
        }
        if matches!(spec.drive, SpecName::Snapshot(_)) && !visited.is_empty() {
            return Err(bad(SettingError::SettingOfSavedDrive));
        }
        Ok(spec)
    }

    /// The same drive or partition when new, with the same data and no other setting; `None` for a saved drive.
    /// Deleted data that was not trimmed stays, since flash that was never written would read too fast.
    pub fn as_new(&self) -> Option<Self> {
        let (name, _) = self.text.split_once('?').unwrap_or((&self.text, ""));
        let is_saved = matches!(self.drive, SpecName::Snapshot(_));
        let deleted = if self.deleted > 0.0 { format!("&deleted={}", self.deleted) } else { String::new() };
        let part = self.situations.partition_start.map(|share| format!("&part={share}")).unwrap_or_default();
        let text = format!("{name}?state=new&fill={}{deleted}{part}", self.filled_share());
        (!is_saved).then(|| Self::parse(&text).expect("a name that was read is read again"))
    }

    /// Share of its addresses that the drive considers written.
    pub fn filled_share(&self) -> f64 {
        self.fill.unwrap_or(if self.state == State::Used { 1.0 } else { 0.0 })
    }

    /// Share of its addresses that hold files.
    pub fn in_use(&self) -> f64 {
        // Rounds off errors; shares are typed with few digits.
        ((self.filled_share() - self.deleted) * 1e9).round() / 1e9
    }

    /// The range without files, at the end of the drive, in whole MiB.
    pub fn free(&self, capacity_bytes: u64) -> Range<u64> {
        let mib = |bytes: u64| bytes >> 20 << 20;
        let end = mib(capacity_bytes);
        mib((capacity_bytes as f64 * self.in_use()) as u64 + (1 << 20) - 1).min(end)..end
    }

    /// Applies one setting and returns its key.
    fn set<'s>(&mut self, setting: &'s str) -> Result<&'s str, SettingError> {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        match key {
            "state" => self.state = value.parse().map_err(|_| unknown_state(value))?,
            "trim" => self.trim = Some(switch(key, value)?),
            "data" => self.data = switch(key, value)?,
            "age" => {
                self.age = parse_duration(value).map_err(|reason| SettingError::unreadable(key, reason))?;
            }
            "cache" => self.cache = Some(switch(key, value)?),
            "memory" => self.memory = Some(size_in(key, value, 1 << 20, 1 << 44, Domain::Memory)?),
            "busy" => self.busy = Some(integer(key, value, 1..=1_000_000)?),
            "outliers" => self.outliers = Some(u64::from(integer(key, value, 2..=u32::MAX)?)),
            "throttle" => self.throttle = Some(throttle(value)?),
            "fill" => self.fill = Some(share(key, value, 0.8)?),
            "deleted" => self.deleted = share(key, value, 0.4)?,
            "facts" => self.facts = switch(key, value)?,
            _ => self.situations.set(key, value).unwrap_or_else(|| Err(unknown_setting(key)))?,
        }
        Ok(key)
    }

    /// The model with the situations of this spec.
    pub(crate) fn in_situation(&self, model: &Model) -> Model {
        model.in_situations(&self.situations.merge_with(&model.situations))
    }
}

fn integer(key: &str, text: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32, SettingError> {
    let (least, most) = (u64::from(*range.start()), u64::from(*range.end()));
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| SettingError::wrong_value(key, text, Domain::Whole { least, most }))
}

/// Parses a share that may be 1.
fn share(key: &str, text: &str, example: f64) -> Result<f64, SettingError> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    let domain = Domain::Share { least: 0.0, most: 1.0, example };
    share.ok_or_else(|| SettingError::wrong_value(key, text, domain))
}

/// Parses a share of the link's rate below 1.
fn throttle(text: &str) -> Result<f64, SettingError> {
    let share = text.parse::<f64>().ok().filter(|share| (0.001..1.0).contains(share));
    let domain = Domain::Share { least: 0.001, most: 1.0, example: 0.2 };
    share.ok_or_else(|| SettingError::wrong_value("throttle", text, domain))
}

/// Parses `on` or `off`.
fn switch(key: &str, text: &str) -> Result<bool, SettingError> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(SettingError::NotASwitch { key: key.to_owned(), value: text.to_owned() }),
    }
}

fn unknown_state(state: &str) -> SettingError {
    match nearest(state, ["used", "new"]) {
        Some(near) => similar_word("state", state, near),
        None => SettingError::UnknownState(state.to_owned()),
    }
}

fn unknown_setting(key: &str) -> SettingError {
    let keys = SETTINGS.iter().chain(situations::SETTINGS).map(|(key, _)| *key);
    match nearest(key, keys) {
        Some(near) => similar_word("setting", key, near),
        None => SettingError::UnknownSetting(key.to_owned()),
    }
}

fn similar_word(what: &'static str, typed: &str, near: &str) -> SettingError {
    SettingError::SimilarWord { what, typed: typed.to_owned(), near: near.to_owned() }
}

fn unknown_name(name: &str) -> SettingError {
    let known = names_of(|_| true);
    let drives = known.len();
    let mut near: Vec<(f64, &str)> = known
        .into_iter()
        .map(|known| (strsim::jaro_winkler(name, known), known))
        .filter(|(similarity, known)| {
            *similarity >= SIMILARITY_MIN || (!name.is_empty() && known.contains(name))
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    let near: Vec<&str> = near.into_iter().take(3).map(|(_, known)| known).collect();
    let name = name.to_owned();
    if near.is_empty() {
        SettingError::UnknownDrive { name, drives }
    } else {
        SettingError::SimilarDrive { name, near, drives }
    }
}

/// Bytes of each write in the history of a used shingled disk.
pub(crate) const OVERWRITE_BYTES: u64 = 4096;

/// The faults in the drive's file, with those that the spec replaces.
pub(crate) fn faults(spec: &Spec, model: &Model) -> Option<DriveFaults> {
    let says_any = spec.busy.is_some() || spec.outliers.is_some() || spec.throttle.is_some();
    if !says_any {
        return model.faults.clone();
    }
    let mut faults = model.faults.clone().unwrap_or_default();
    if let Some(ios_per_s) = spec.busy {
        let io_bytes = BUSY_IO_BYTES.max(model.sector_bytes);
        faults.neighbor = Some(NeighborParameters { ios_per_s, io_bytes, write_percent: BUSY_WRITE_PERCENT });
    }
    if let Some(every_ios) = spec.outliers {
        faults.outliers = Some(OutlierParameters { every_ios, span: OUTLIER });
    }
    if let Some(share) = spec.throttle {
        let bytes_per_s = (model.mechanism.link().bytes_per_s as f64 * share).max(1.0) as u64;
        faults.throttle = Some(ThrottleParameters { interval: THROTTLE_EVERY, span: THROTTLE, bytes_per_s });
    }
    Some(faults)
}

/// Bytes per I/O of the other program of `?busy=`. Assumed: a desktop in use.
const BUSY_IO_BYTES: u32 = 16_384;
/// Share of writes in its I/Os, in percent. Assumed for the same desktop.
const BUSY_WRITE_PERCENT: u32 = 40;
/// Extra latency of an outlier of `?outliers=`. Assumed: a few retries of the link or the medium.
const OUTLIER: Nanos = Nanos::from_millis(50);
/// Interval of throttling with `?throttle=`. Assumed.
const THROTTLE_EVERY: Nanos = Nanos::from_secs(4);
/// How long it throttles each time. Assumed.
const THROTTLE: Nanos = Nanos::from_secs(1);

/// The parameters with TRIM switched as the spec says.
pub(crate) fn with_trim(spec: &Spec, mut parameters: FlashParameters) -> FlashParameters {
    if let Some(works) = spec.trim {
        parameters.firmware.trim = if works { Trim::Immediate } else { Trim::Ignored };
    }
    parameters
}

/// The parameters with the write cache switched as the spec says.
pub(crate) fn with_cache(spec: &Spec, parameters: DiskParameters) -> DiskParameters {
    if spec.cache == Some(false) { parameters.without_write_cache() } else { parameters }
}

/// The history that a spec gives a flash drive.
pub(crate) fn past(spec: &Spec, flash: &FlashModel) -> DriveTreatment {
    let (fill, overwritten_share) = match spec.state {
        State::New => (0.0, 0.0),
        State::Used => (1.0, flash.overwritten_share),
    };
    let fill = spec.fill.unwrap_or(fill);
    let writes_per_unit = flash.parameters.firmware.writes_per_unit;
    DriveTreatment { fill, overwritten_share, age: spec.age, writes_per_unit }
}
