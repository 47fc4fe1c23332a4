//! What is known of a drive so far.

use super::noise::Noise;
use super::others::Others;
use super::property::{Key, Property, State};

/// What the probes so far have found. What no probe has spoken of is undecided.
#[derive(Default)]
pub(super) struct Known {
    properties: Vec<Property>,
    noise: Option<Noise>,
    others: Option<Others>,
}

impl Known {
    /// Takes over what was found; the newest word on a property counts.
    pub(super) fn learn(&mut self, found: Vec<Property>) {
        for property in found {
            self.properties.retain(|old| old.key != property.key);
            self.properties.push(property);
        }
    }

    /// Takes over how steady the drive answers.
    pub(super) fn hear(&mut self, noise: Noise) {
        self.noise = Some(noise);
    }

    /// How steady the drive answers, where that was found out.
    pub(super) fn noise(&self) -> Option<&Noise> {
        self.noise.as_ref()
    }

    /// Takes over that others were met.
    pub(super) fn meet(&mut self, others: Others) {
        self.others = self.others.or(Some(others));
    }

    /// Those that were met first.
    pub(super) fn others(&self) -> Option<Others> {
        self.others
    }

    /// The property as it stands.
    pub(super) fn property(&self, key: Key) -> Property {
        let found = self.properties.iter().find(|property| property.key == key);
        found.cloned().unwrap_or_else(|| Property::undecided(key, "nothing that was run says anything of it"))
    }

    /// The word that was found for it.
    pub(super) fn word(&self, key: Key) -> Option<&'static str> {
        self.properties.iter().find(|property| property.key == key).and_then(|property| {
            match property.state {
                State::Word(word) => Some(word),
                _ => None,
            }
        })
    }

    /// The number that was found for it.
    pub(super) fn number(&self, key: Key) -> Option<f64> {
        self.properties.iter().find(|property| property.key == key).and_then(Property::number_found)
    }

    /// Whether it was found to be this medium: `disk`, `shingled disk`, `flash` or `virtual`.
    pub(super) fn is(&self, medium: &str) -> bool {
        self.word(Key::Medium) == Some(medium)
    }
}
