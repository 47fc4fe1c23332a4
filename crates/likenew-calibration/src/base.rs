//! The drive that a calibration begins with: a file of the catalog's form, brought to the capacity of the real drive.

use likenew_sim::model::Model;
use likenew_sim::{SimDrive, SimError, Spec, SpecName, replace_entries};

use crate::parameter::{Parameter, value_of};
use crate::wording;

/// A drive's file and the state that every run begins in.
#[derive(Clone, Debug)]
pub struct Base {
    /// How it is called: `tlc-nvme-1tb`.
    pub name: String,
    /// As it was given, with the state.
    spec: Spec,
    /// The file.
    text: String,
    /// What the file says.
    model: Model,
}

/// Parts of a flash drive that grow with its capacity.
const CAPACITY_KEYS: [&str; 2] = ["nand.blocks_per_plane", "slc_cache.static_blocks_per_die"];

impl Base {
    /// From a spec and the text of its file.
    ///
    /// # Errors
    /// The file is not as it has to be.
    pub fn new(spec: &Spec, file: &str, text: String) -> Result<Self, SimError> {
        let model = Model::parse(file, &text)?;
        let name = file.rsplit('/').next().unwrap_or(file);
        let name = name.strip_suffix(".toml").unwrap_or(name).to_owned();
        // What it opens is the text of a candidate, by this name in messages.
        let spec = Spec { drive: SpecName::File(file.into()), ..spec.clone() };
        Ok(Self { name, spec, text, model })
    }

    /// The same drive with so many bytes, and as large a share of spare flash as it had.
    ///
    /// # Errors
    /// Such a drive cannot be built.
    pub fn with_capacity(self, bytes: u64) -> Result<Self, SimError> {
        if bytes == self.model.capacity_bytes {
            return Ok(self);
        }
        let growth = bytes as f64 / self.model.capacity_bytes as f64;
        let mut entries =
            vec![("identity.capacity_bytes", wording::entry(&bytes.to_string(), None, wording::CAPACITY))];
        for key in CAPACITY_KEYS {
            if let Some(value) = value_of(&self.model, key) {
                let value = (value * growth).ceil();
                entries.push((key, wording::entry(&value.to_string(), None, &wording::scaled(&self.name))));
            }
        }
        let entries: Vec<(&str, &str)> = entries.iter().map(|(key, entry)| (*key, entry.as_str())).collect();
        let text = replace_entries(&self.name, &self.text, &entries)?;
        Self::new(&self.spec, &self.name, text).map(|base| Self { name: self.name, ..base })
    }

    /// Bytes that it holds.
    pub fn capacity_bytes(&self) -> u64 {
        self.model.capacity_bytes
    }

    /// What its file says.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The setting after the question mark of a target that brings a drive into the state that every run began in.
    pub fn state(&self) -> &str {
        self.spec.text.split_once('?').map_or("", |(_, state)| state)
    }

    /// The values of the file when each parameter has moved by a factor, given as its logarithm: every key once.
    pub fn values(&self, parameters: &[Parameter], moves: &[f64]) -> Vec<(&'static str, f64)> {
        let mut values: Vec<(&'static str, f64)> = Vec::new();
        for (parameter, by) in parameters.iter().zip(moves) {
            for key in parameter.keys() {
                let Some(base) = value_of(&self.model, key) else { continue };
                match values.iter_mut().find(|(known, _)| *known == key) {
                    Some((_, value)) => *value *= by.exp(),
                    None => values.push((key, base * by.exp())),
                }
            }
        }
        values.iter_mut().for_each(|(_, value)| *value = value.round().max(1.0));
        values
    }

    /// The file with other values, in place of ranges and sources as well.
    ///
    /// # Errors
    /// It has no such key.
    pub fn text_with(&self, values: &[(&'static str, f64)]) -> Result<String, SimError> {
        let entries: Vec<(&str, String)> = values
            .iter()
            .map(|(key, value)| (*key, wording::entry(&value.to_string(), None, wording::CANDIDATE)))
            .collect();
        let entries: Vec<(&str, &str)> = entries.iter().map(|(key, entry)| (*key, entry.as_str())).collect();
        replace_entries(&self.name, &self.text, &entries)
    }

    /// The drive with these values, in the state that every run begins in.
    ///
    /// # Errors
    /// Such a drive cannot be built.
    pub fn open(&self, values: &[(&'static str, f64)]) -> Result<SimDrive, SimError> {
        let text = self.text_with(values)?;
        self.spec.open(|_| Ok(text.clone().into_bytes()))
    }
}
