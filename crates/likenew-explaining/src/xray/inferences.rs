//! What is known of a drive so far.

use super::background_io::BackgroundIo;
use super::noise::Noise;
use super::property::{Key, Property, State};
use super::wording;

/// What the probes so far have found. What no probe has spoken of is undecided.
#[derive(Default)]
pub(super) struct InferredProperties {
    properties: Vec<Property>,
    noise: Option<Noise>,
    background_io: Option<BackgroundIo>,
}

impl InferredProperties {
    /// Takes over what was found; the newest word on a property counts.
    pub(super) fn record(&mut self, found: Vec<Property>) {
        for property in found {
            self.properties.retain(|old| old.key != property.key);
            self.properties.push(property);
        }
    }

    /// Takes over how steady the drive answers.
    pub(super) fn record_noise(&mut self, noise: Noise) {
        self.noise = Some(noise);
    }

    /// How steady the drive answers, where that was found out.
    pub(super) fn noise(&self) -> Option<&Noise> {
        self.noise.as_ref()
    }

    /// Takes over that others were met.
    pub(super) fn record_background(&mut self, background_io: BackgroundIo) {
        self.background_io = self.background_io.or(Some(background_io));
    }

    /// Those that were met first.
    pub(super) fn background_io(&self) -> Option<BackgroundIo> {
        self.background_io
    }

    /// The property as it stands.
    pub(super) fn property(&self, key: Key) -> Property {
        let found = self.properties.iter().find(|property| property.key == key);
        found.cloned().unwrap_or_else(|| Property::undecided(key, wording::not_tested()))
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
        self.properties.iter().find(|property| property.key == key).and_then(Property::value)
    }

    /// Whether it was found to be this medium: `disk`, `shingled disk`, `flash` or `virtual`.
    pub(super) fn is(&self, medium: &str) -> bool {
        self.word(Key::Medium) == Some(medium)
    }
}
