//! The simulated drive that a user names: `sim:NAME?state=used&fill=0.8&trim=off`, `sim:generated-17?…`, or
//! `sim:FILE.toml?…`.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use likenew_core::suggest::{SIMILARITY_MIN, nearest};
use likenew_core::units::{Nanos, parse_duration, parse_size};

use crate::catalog::{Entry, catalog};
use crate::error::SimError;
use crate::explain;
use crate::explain::explanation::Explanation;
use crate::file_error::FileError;
use crate::generator::{self, generate};
use crate::make;
use crate::model::{Mechanism, Model};
use crate::parameter_range::replace_values;
use crate::setting_error::SettingError;
use crate::sim_drive::SimDrive;
use crate::situations::{Situations, known_settings};
use crate::snapshot;
use crate::snapshot_error::SnapshotError;
use crate::state::State;
use crate::wording::domain::Domain;
use crate::wording::settings as wording;

/// A simulated drive and the state it is to be in.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// As the user typed it.
    pub text: String,
    /// Which drive.
    pub drive: SpecName,
    /// Its past.
    pub state: State,
    /// The share of its addresses that hold data, `0 ..= 1`; if not said, none of a new drive and all of a used one.
    pub fill: Option<f64>,
    /// The share of its addresses, the last of those that hold data, whose files were deleted without TRIM.
    pub deleted: f64,
    /// Whether TRIM works, if not as the drive itself has it.
    pub trim: Option<bool>,
    /// How long ago its data was written.
    pub age: Nanos,
    /// Whether it holds the bytes that are written to it.
    pub data: bool,
    /// Whether writes are cached, if not as the drive itself has it.
    pub cache: Option<bool>,
    /// Bytes of the host's memory for what is buffered, if not as usual.
    pub memory: Option<u64>,
    /// IOPS of another program, if not as the drive's own faults have it.
    pub busy: Option<u32>,
    /// One of so many I/Os takes long, if not as the drive's own faults have it.
    pub outliers: Option<u64>,
    /// The share of the link's rate that remains while it is throttled, if not as the drive's own faults have
    /// it.
    pub throttle: Option<f64>,
    /// Its situations, where they differ from those of the drive's own file.
    pub situations: Situations,
    /// Whether the system reports facts about it.
    pub facts: bool,
}

/// How a simulated drive is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecName {
    /// A drive of the catalog.
    Catalog(String),
    /// The drive that is generated from this seed.
    Generated(u64),
    /// A file of the same form.
    File(PathBuf),
    /// A drive that was saved.
    Snapshot(PathBuf),
}

/// All settings of a target, each with an example, for people.
pub fn settings() -> String {
    wording::settings(&known_settings())
}

impl Spec {
    /// Reads `sim:NAME`, `sim:FILE.toml` with settings after a question mark, or `sim:FILE.snapshot`.
    ///
    /// # Errors
    /// It does not start with `sim:`, the catalog has no such name, or a setting is unknown, repeated or out
    /// of range; the error says what would be right.
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

    /// The same drive on its first day with the same data, deleted data that was never trimmed included
    /// (flash that was never written would read too fast), and without any other setting; none of a saved
    /// drive.
    pub fn as_new(&self) -> Option<Self> {
        let (name, _) = self.text.split_once('?').unwrap_or((&self.text, ""));
        let is_saved = matches!(self.drive, SpecName::Snapshot(_));
        let deleted = if self.deleted > 0.0 { format!("&deleted={}", self.deleted) } else { String::new() };
        let text = format!("{name}?state=new&fill={}{deleted}", self.filled_share());
        (!is_saved).then(|| Self::parse(&text).expect("a name that was read is read again"))
    }

    /// The share of its addresses that holds data as far as the drive knows.
    pub fn filled_share(&self) -> f64 {
        self.fill.unwrap_or(if self.state == State::Used { 1.0 } else { 0.0 })
    }

    /// The share of its addresses that holds files.
    pub fn in_use(&self) -> f64 {
        // Shares are typed with few digits, and so is what is left.
        ((self.filled_share() - self.deleted) * 1e9).round() / 1e9
    }

    /// The range without files, of so many bytes: whole MiB at the end.
    pub fn free(&self, capacity_bytes: u64) -> Range<u64> {
        let mib = |bytes: u64| bytes >> 20 << 20;
        let end = mib(capacity_bytes);
        mib((capacity_bytes as f64 * self.in_use()) as u64 + (1 << 20) - 1).min(end)..end
    }

    /// Takes one setting and returns its key.
    fn set<'s>(&mut self, setting: &'s str) -> Result<&'s str, SettingError> {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        match (key, value) {
            ("state", "new") => self.state = State::New,
            ("state", "used") => self.state = State::Used,
            ("trim", "on") => self.trim = Some(true),
            ("trim", "off") => self.trim = Some(false),
            ("data", "on") => self.data = true,
            ("data", "off") => self.data = false,
            ("age", span) => {
                self.age = parse_duration(span).map_err(|reason| SettingError::unreadable(key, reason))?;
            }
            ("cache", "on") => self.cache = Some(true),
            ("cache", "off") => self.cache = Some(false),
            ("memory", size) => self.memory = Some(memory(size)?),
            ("busy", ios) => self.busy = Some(integer(key, ios, 1..=1_000_000)?),
            ("outliers", ios) => self.outliers = Some(u64::from(integer(key, ios, 2..=u32::MAX)?)),
            ("throttle", of_link) => self.throttle = Some(throttle(of_link)?),
            ("fill", of_drive) => self.fill = Some(share(key, of_drive, 0.8)?),
            ("deleted", of_drive) => self.deleted = share(key, of_drive, 0.4)?,
            ("facts", "on") => self.facts = true,
            ("facts", "off") => self.facts = false,
            _ => {
                self.situations.set(key, value).unwrap_or_else(|| Err(unknown_setting(key, value)))?;
            }
        }
        Ok(key)
    }

    /// The model in the drive's file. `read_file` reads a file that is not in the catalog.
    ///
    /// # Errors
    /// The file cannot be read, or is not as it has to be.
    pub fn model(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Model, SimError> {
        match &self.drive {
            SpecName::Catalog(name) => Ok(entry(name).model.clone()),
            SpecName::Generated(seed) => generate(*seed).model(),
            SpecName::File(path) => Ok(read_text(path, read_file)?.1),
            SpecName::Snapshot(path) => {
                let bytes = read(path, read_file)?;
                let (header, _) = snapshot::read_header(&bytes).map_err(read_error(path))?;
                Model::parse(&path.display().to_string(), &header.text)
            }
        }
    }

    /// Explains the drive without making it.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model).
    pub fn explain(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Explanation, SimError> {
        let SpecName::Snapshot(path) = &self.drive else {
            let model = self.model(read_file)?;
            self.check_settings(&model)?;
            return Ok(explain::explain(self, &model));
        };
        let bytes = read(path, read_file)?;
        let (header, _) = snapshot::read_header(&bytes).map_err(read_error(path))?;
        let model = Model::parse(&path.display().to_string(), &header.text)?;
        // Its past is described by the spec that it was made by.
        let made = Self { text: self.text.clone(), ..Self::parse(&header.spec)? };
        Ok(explain::explain(&made, &model))
    }

    /// Makes the drive and puts it into its state, without its clock moving. Large used drives take seconds.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model), or the drive has no write cache to switch.
    pub fn open(&self, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<SimDrive, SimError> {
        match &self.drive {
            SpecName::Catalog(name) => {
                let entry = entry(name);
                self.new_drive(&entry.model, entry.text.to_owned())
            }
            SpecName::Generated(seed) => {
                let drawn = generate(*seed);
                self.new_drive(&drawn.model()?, drawn.file)
            }
            SpecName::File(path) => {
                let (text, model) = read_text(path, read_file)?;
                self.new_drive(&model, text)
            }
            SpecName::Snapshot(path) => {
                let bytes = read(path, read_file)?;
                let (header, state) = snapshot::read_header(&bytes).map_err(read_error(path))?;
                let model = Model::parse(&path.display().to_string(), &header.text)?;
                // Its past is described by the spec that it was made by.
                let made = Self::parse(&header.spec)?;
                // Where faults change bytes, the mechanism keeps them, too.
                let keeps_data = made.data || make::faults(&made, &model).is_some();
                let most = snapshot::state_bytes_max(&model, keeps_data);
                let state = snapshot::read_state(state, most).map_err(read_error(path))?;
                make::drive(&made, &model, header.text, Some(&state))
                    .map_err(read_error(path))
                    .map(|drive| drive.with_name(&self.text))
            }
        }
    }

    /// Makes the drive as [`open`](Self::open) does, with other values at some keys of its file, such as
    /// `("nand.program_ns", "800000")`. Each value is checked as one of the file is, its range included.
    ///
    /// # Errors
    /// The same as for [`open`](Self::open), the file has no such key, or the drive was saved and so is made already.
    pub fn open_with(
        &self,
        values: &[(&str, &str)],
        read_file: impl Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<SimDrive, SimError> {
        let (file, text) = match &self.drive {
            SpecName::Catalog(name) => (format!("{name}.toml"), entry(name).text.to_owned()),
            SpecName::Generated(seed) => (format!("generated-{seed}.toml"), generate(*seed).file),
            SpecName::File(path) => (path.display().to_string(), read_text(path, read_file)?.0),
            SpecName::Snapshot(_) => {
                return Err(self.refuse(SettingError::ValueOfSavedDrive));
            }
        };
        let text = replace_values(&file, &text, values)?;
        let model = Model::parse(&file, &text)?;
        self.new_drive(&model, text)
    }

    /// Refuses settings that would have no effect on this drive.
    fn check_settings(&self, model: &Model) -> Result<(), SimError> {
        self.situations.check(model).map_err(|error| self.refuse(error.into()))?;
        self.impossible(model).map_or(Ok(()), |error| Err(self.refuse(error)))
    }

    fn refuse(&self, reason: SettingError) -> SimError {
        SimError::Spec { text: self.text.clone(), reason: reason.to_string() }
    }

    /// Why a setting can do nothing on this drive, if one cannot.
    fn impossible(&self, model: &Model) -> Option<SettingError> {
        // Every field is named, so that a new setting is not forgotten here. Those with `_` work on every
        // drive.
        let Self { text: _, drive: _, state: _, fill: _, deleted: _, trim, age: _, data: _, cache, .. } =
            self;
        let Self { memory: _, busy: _, outliers: _, throttle: _, situations: _, facts: _, .. } = self;
        let (model, mechanism) = (model.model.clone(), &model.mechanism);
        let others = |which: fn(&Mechanism) -> bool| names_of(|model| which(&model.mechanism)).join(", ");
        if cache.is_some() && !mechanism.can_switch_write_cache() {
            let others = others(Mechanism::can_switch_write_cache);
            return Some(SettingError::NoWriteCache { model, others });
        }
        if trim.is_some() && !mechanism.can_trim() {
            return Some(SettingError::NoTrim { model });
        }
        if self.types("age") && !mechanism.ages() {
            let others = others(Mechanism::ages);
            return Some(SettingError::DoesNotAge { model, others });
        }
        (self.types("age") && self.filled_share() == 0.0).then_some(SettingError::AgeWithoutData)
    }

    /// Whether the user has typed this setting: a generated drive has settings of its own.
    fn types(&self, key: &str) -> bool {
        let query = self.text.split_once('?').map_or("", |(_, query)| query);
        query.split('&').any(|setting| setting.split('=').next() == Some(key))
    }

    /// The drive's model with the situations of this spec.
    pub(crate) fn in_situation(&self, model: &Model) -> Model {
        self.situations.merge_with(&model.situations).apply(model)
    }

    /// A drive whose past is made.
    fn new_drive(&self, model: &Model, text: String) -> Result<SimDrive, SimError> {
        self.check_settings(model)?;
        Ok(make::drive(self, model, text, None).expect("only a saved state can be refused"))
    }
}

fn memory(size: &str) -> Result<u64, SettingError> {
    const MEMORY: std::ops::RangeInclusive<u64> = 1 << 20..=1 << 44;
    let bytes = parse_size(size).map_err(|reason| SettingError::unreadable("memory", reason))?;
    let fits = MEMORY.contains(&bytes).then_some(bytes);
    fits.ok_or_else(|| SettingError::wrong_value("memory", size, Domain::Memory))
}

fn integer(key: &str, text: &str, range: std::ops::RangeInclusive<u32>) -> Result<u32, SettingError> {
    let (least, most) = (u64::from(*range.start()), u64::from(*range.end()));
    let number = text.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| SettingError::wrong_value(key, text, Domain::Whole { least, most }))
}

/// A share of the drive that may be all of it.
fn share(key: &str, text: &str, example: f64) -> Result<f64, SettingError> {
    let share = text.parse::<f64>().ok().filter(|share| (0.0..=1.0).contains(share));
    let domain = Domain::Share { least: 0.0, most: 1.0, example };
    share.ok_or_else(|| SettingError::wrong_value(key, text, domain))
}

/// A share of the link's rate that is less than all of it.
fn throttle(text: &str) -> Result<f64, SettingError> {
    let share = text.parse::<f64>().ok().filter(|share| (0.001..1.0).contains(share));
    let domain = Domain::Share { least: 0.001, most: 1.0, example: 0.2 };
    share.ok_or_else(|| SettingError::wrong_value("throttle", text, domain))
}

fn entry(name: &str) -> &'static Entry {
    let found = catalog().iter().find(|entry| entry.name == name);
    found.expect("the name was looked up when the spec was read")
}

fn read(path: &Path, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Vec<u8>, SimError> {
    read_file(path).map_err(|source| SimError::Read {
        path: path.to_owned(),
        source,
        available: names().join(", "),
    })
}

fn read_text(
    path: &Path,
    read_file: impl Fn(&Path) -> io::Result<Vec<u8>>,
) -> Result<(String, Model), SimError> {
    let text = String::from_utf8(read(path, read_file)?).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        SimError::Catalog { file: path.display().to_string(), line, reason: FileError::NotText.to_string() }
    })?;
    let model = Model::parse(&path.display().to_string(), &text)?;
    Ok((text, model))
}

fn read_error(path: &Path) -> impl Fn(SnapshotError) -> SimError + '_ {
    move |reason| SimError::Snapshot { path: path.to_owned(), reason: reason.to_string() }
}

fn names() -> Vec<&'static str> {
    names_of(|_| true)
}

fn names_of(which: impl Fn(&Model) -> bool) -> Vec<&'static str> {
    catalog().iter().filter(|entry| which(&entry.model)).map(|entry| entry.name).collect()
}

/// For a setting that does not exist, or one that takes words and got another.
fn unknown_setting(key: &str, value: &str) -> SettingError {
    match key {
        "state" => match nearest(value, ["used", "new"]) {
            Some(near) => similar_word("state", value, near),
            None => SettingError::UnknownState(value.to_owned()),
        },
        "trim" | "data" | "cache" | "facts" => {
            SettingError::NotASwitch { key: key.to_owned(), value: value.to_owned() }
        }
        _ => {
            let listed = settings();
            let keys = listed.split([',', ' ']).filter_map(|word| Some(word.split_once('=')?.0));
            match nearest(key, keys) {
                Some(near) => similar_word("setting", key, near),
                None => SettingError::UnknownSetting(key.to_owned()),
            }
        }
    }
}

fn similar_word(what: &'static str, typed: &str, near: &str) -> SettingError {
    SettingError::SimilarWord { what, typed: typed.to_owned(), near: near.to_owned() }
}

fn unknown_name(name: &str) -> SettingError {
    let known = names();
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
