//! The findings of all tests up to now.

use super::background_io::BackgroundIo;
use super::noise::Noise;
use super::property::{Key, Property, State};
use super::wording;

/// The findings of all tests up to now. A property that no test has found is undecided.
#[derive(Default)]
pub(super) struct InferredProperties {
    properties: Vec<Property>,
    noise: Option<Noise>,
    background_io: Option<BackgroundIo>,
}

impl InferredProperties {
    /// Records findings; the newest answer for a property counts.
    pub(super) fn record(&mut self, found: Vec<Property>) {
        for property in found {
            self.properties.retain(|old| old.key != property.key);
            self.properties.push(property);
        }
    }

    /// Records how steady the drive answers.
    pub(super) fn record_noise(&mut self, noise: Noise) {
        self.noise = Some(noise);
    }

    /// How steady the drive answers, if that was measured.
    pub(super) fn noise(&self) -> Option<&Noise> {
        self.noise.as_ref()
    }

    /// Records I/Os of other programs.
    pub(super) fn record_background(&mut self, background_io: BackgroundIo) {
        self.background_io = self.background_io.or(Some(background_io));
    }

    /// I/Os of other programs, as first found.
    pub(super) fn background_io(&self) -> Option<BackgroundIo> {
        self.background_io
    }

    /// What is known of a property.
    pub(super) fn property(&self, key: Key) -> Property {
        let found = self.properties.iter().find(|property| property.key == key);
        found.cloned().unwrap_or_else(|| Property::undecided(key, wording::not_tested()))
    }

    /// The word of a property, if it has one.
    pub(super) fn word(&self, key: Key) -> Option<&'static str> {
        self.properties.iter().find(|property| property.key == key).and_then(|property| {
            match property.state {
                State::Word(word) => Some(word),
                _ => None,
            }
        })
    }

    /// The number of a property, if it has one.
    pub(super) fn number(&self, key: Key) -> Option<f64> {
        self.properties.iter().find(|property| property.key == key).and_then(Property::value)
    }

    /// Whether the medium is this one: `disk`, `shingled disk`, `flash` or `virtual`.
    pub(super) fn is(&self, medium: &str) -> bool {
        self.word(Key::Medium) == Some(medium)
    }
}
