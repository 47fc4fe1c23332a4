//! The drive from which a calibration starts: a drive file as in the catalog, scaled to the real drive's capacity.

use likenew_sim::model::Model;
use likenew_sim::{SimDrive, SimError, Spec, SpecName, replace_entries};

use crate::parameter::{Parameter, value_of};
use crate::wording;

/// A drive file, and the state in which every run begins.
#[derive(Clone, Debug)]
pub struct Base {
    /// The drive's name, such as `tlc-nvme-1tb`.
    pub name: String,
    /// The given target with its state; its drive is a file of this name, whose text `open` supplies.
    spec: Spec,
    /// The text of the drive file.
    text: String,
    /// The parsed drive file.
    model: Model,
}

/// Values of a flash drive that grow with its capacity.
const CAPACITY_KEYS: [&str; 2] = ["nand.blocks_per_plane", "slc_cache.static_blocks_per_die"];

impl Base {
    /// Makes a base from a target and the text of its drive file.
    ///
    /// # Errors
    /// The drive file is invalid.
    pub fn new(spec: &Spec, file: &str, text: String) -> Result<Self, SimError> {
        let model = Model::parse(file, &text)?;
        let name = file.rsplit('/').next().unwrap_or(file);
        let name = name.strip_suffix(".toml").unwrap_or(name).to_owned();
        let spec = Spec { drive: SpecName::File(file.into()), ..spec.clone() };
        Ok(Self { name, spec, text, model })
    }

    /// Scales the drive to this capacity and keeps its share of spare flash.
    ///
    /// # Errors
    /// Such a drive cannot be built.
    pub fn with_capacity(self, bytes: u64) -> Result<Self, SimError> {
        if bytes == self.model.capacity_bytes {
            return Ok(self);
        }
        let growth = bytes as f64 / self.model.capacity_bytes as f64;
        let mut entries = vec![("identity.capacity_bytes", wording::entry(bytes, None, wording::CAPACITY))];
        for key in CAPACITY_KEYS {
            if let Some(value) = value_of(&self.model, key) {
                let value = (value * growth).ceil();
                entries.push((key, wording::entry(value, None, &wording::scaled(&self.name))));
            }
        }
        let text = replace_entries(&self.name, &self.text, &entries)?;
        Self::new(&self.spec, &self.name, text)
    }

    /// The drive's capacity in bytes.
    pub fn capacity_bytes(&self) -> u64 {
        self.model.capacity_bytes
    }

    /// The parsed drive file.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Whether the drive is a hard disk.
    pub(crate) fn rotates(&self) -> bool {
        self.model.source("mechanics.rotations_per_minute").is_some()
    }

    /// The text of the drive file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the target after the question mark, which sets the state in which every run begins.
    pub fn state(&self) -> &str {
        self.spec.text.split_once('?').map_or("", |(_, state)| state)
    }

    /// The values of all parameters, each multiplied by e to the power of its `log_factors`: pairs of key and value, in the
    /// units of the drive file, whole and at least 1. A key of two parameters gets both factors and is returned once.
    pub fn values(&self, parameters: &[Parameter], log_factors: &[f64]) -> Vec<(&'static str, f64)> {
        let mut values: Vec<(&'static str, f64)> = Vec::new();
        for (parameter, log_factor) in parameters.iter().zip(log_factors) {
            for key in parameter.keys() {
                let Some(base) = value_of(&self.model, key) else { continue };
                match values.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, value)) => *value *= log_factor.exp(),
                    None => values.push((key, base * log_factor.exp())),
                }
            }
        }
        values.iter_mut().for_each(|(_, value)| *value = value.round().max(1.0));
        values
    }

    /// The drive file with these values. Each replaces its whole entry: the range goes, and the source says that it is tried.
    ///
    /// # Errors
    /// The file lacks one of the keys.
    pub fn text_with(&self, values: &[(&'static str, f64)]) -> Result<String, SimError> {
        let entry =
            |(key, value): &(&'static str, f64)| (*key, wording::entry(value, None, wording::CANDIDATE));
        replace_entries(&self.name, &self.text, &values.iter().map(entry).collect::<Vec<_>>())
    }

    /// Opens the drive with these values, in the state in which every run begins.
    ///
    /// # Errors
    /// Such a drive cannot be built.
    pub fn open(&self, values: &[(&'static str, f64)]) -> Result<SimDrive, SimError> {
        let text = self.text_with(values)?;
        self.spec.open(|_| Ok(text.clone().into_bytes()))
    }
}
