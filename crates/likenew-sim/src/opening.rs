//! From a spec to its model, its explanation and its drive.

use std::io;
use std::path::Path;

use crate::catalog::{Entry, catalog, names_of};
use crate::error::SimError;
use crate::explain;
use crate::explain::explanation::Explanation;
use crate::file_error::FileError;
use crate::generator::generate;
use crate::make;
use crate::memory::reserve;
use crate::model::{Layer, Mechanism, Model};
use crate::parameter_range::replace_values;
use crate::setting_error::SettingError;
use crate::sim_drive::SimDrive;
use crate::snapshot;
use crate::snapshot_error::SnapshotError;
use crate::spec::{Spec, SpecName, parameters};
use crate::truth::{causes, inside};

impl Spec {
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
            return Ok(explain(self, &model));
        };
        let bytes = read(path, read_file)?;
        let (header, _) = snapshot::read_header(&bytes).map_err(read_error(path))?;
        let model = Model::parse(&path.display().to_string(), &header.text)?;
        // Its past is described by the spec that it was made by.
        let made = Self { text: self.text.clone(), ..Self::parse(&header.spec)? };
        Ok(explain(&made, &model))
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
                let keeps_data = made.data || parameters::faults(&made, &model).is_some();
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
        let (file, text) = self.text(read_file)?;
        let text = replace_values(&file, &text, values)?;
        let model = Model::parse(&file, &text)?;
        self.new_drive(&model, text)
    }

    /// The name and the text of the drive's file, which is made for a generated drive.
    ///
    /// # Errors
    /// The file cannot be read or is not as it has to be, or the drive was saved and so is made already.
    pub fn text(
        &self,
        read_file: impl Fn(&Path) -> io::Result<Vec<u8>>,
    ) -> Result<(String, String), SimError> {
        match &self.drive {
            SpecName::Catalog(name) => Ok((format!("{name}.toml"), entry(name).text.to_owned())),
            SpecName::Generated(seed) => Ok((format!("generated-{seed}.toml"), generate(*seed).file)),
            SpecName::File(path) => Ok((path.display().to_string(), read_text(path, read_file)?.0)),
            SpecName::Snapshot(_) => Err(self.refuse(SettingError::ValueOfSavedDrive)),
        }
    }

    /// Refuses settings that would have no effect on this drive.
    fn check_settings(&self, model: &Model) -> Result<(), SimError> {
        model.check_situations(&self.situations).map_err(|error| self.refuse(error.into()))?;
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

    /// A drive whose past is made.
    fn new_drive(&self, model: &Model, text: String) -> Result<SimDrive, SimError> {
        self.check_settings(model)?;
        self.check_memory(model)?;
        Ok(make::drive(self, model, text, None).expect("only a saved state can be refused"))
    }
}

impl Spec {
    /// Refuses a drive for which this process gets no memory, before its tables are made.
    fn check_memory(&self, model: &Model) -> Result<(), SimError> {
        let Mechanism::Flash(flash) = &model.mechanism else { return Ok(()) };
        let (user, all) = match flash.layer {
            Layer::Page(page) => (page.flash.user_pages.into(), page.flash.pages()),
            _ => (model.capacity_bytes / PAGE_BYTES, model.capacity_bytes / PAGE_BYTES),
        };
        let tables = [user, all].map(|pages: u64| pages * size_of::<u32>() as u64);
        let others = ((tables[0] + tables[1]) as f64 * OTHER_MEMORY) as u64;
        reserve(&[tables[0], tables[1], others]).map_err(|source| {
            let bytes = tables[0] + tables[1] + others;
            SimError::Memory { text: self.text.clone(), bytes, source }
        })
    }
}

/// A page of most drives, in bytes.
const PAGE_BYTES: u64 = 4096;
/// Memory beside the two tables of pages, as a share of them. Measured: 0.3 on used drives of 80 GB and 1 TB.
const OTHER_MEMORY: f64 = 0.3;

fn explain(spec: &Spec, model: &Model) -> Explanation {
    let explanation = explain::explain(spec, model);
    Explanation { inside: inside(spec, model), causes: causes(spec, model), ..explanation }
}

fn entry(name: &str) -> &'static Entry {
    let found = catalog().iter().find(|entry| entry.name == name);
    found.expect("the name was looked up when the spec was read")
}

fn read(path: &Path, read_file: impl Fn(&Path) -> io::Result<Vec<u8>>) -> Result<Vec<u8>, SimError> {
    read_file(path).map_err(|source| SimError::Read {
        path: path.to_owned(),
        source,
        available: names_of(|_| true).join(", "),
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
