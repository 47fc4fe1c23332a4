//! What is known of a drive so far.

use super::background_io::BackgroundIo;
use super::disturbance::Noise;
use super::property::{Key, Property, State};
use super::reason::Remedy;
use super::wording;

/// The highest confidence, in 0..1, where something else uses the drive: below the 0.9 from which an answer counts as
/// a claim. Our own choice.
const CONFIDENCE_IN_NOISE: f64 = 0.85;

/// The widest interval that still says something there, as a multiple of the number. Our own choice.
const WIDTH_MAX: f64 = 1.0;

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

/// The same where something else uses the drive: believed less, and a number within twice the interval, or unknown
/// where that leaves nearly everything possible.
pub(super) fn in_noise(mut property: Property) -> Property {
    if property.state == State::Undecided {
        return property;
    }
    property.confidence = property.confidence.min(CONFIDENCE_IN_NOISE);
    if let State::Number { value, low, high } = property.state {
        let (low, high) = ((2.0 * low - value).max(0.0), 2.0 * high - value);
        property.state = match high - low > WIDTH_MAX * value {
            true => State::Undecided,
            false => State::Number { value, low, high },
        };
    }
    if property.state == State::Undecided {
        property.reason = property.reason.how(wording::UNSTEADY).decided_by(Remedy::Quiet);
    }
    property.caveat(wording::measured_in_noise())
}

#[cfg(test)]
mod tests {
    use super::super::reason::Reason;
    use super::*;

    #[test]
    fn what_is_measured_beside_others_is_believed_less() {
        let number = |key, value, interval| Property::number(key, value, interval, 0.97, Reason::default());
        let doubted = in_noise(number(Key::MapPageBytes, 4096.0, (4000.0, 4200.0)));
        assert_eq!(doubted.state, State::Number { value: 4096.0, low: 3904.0, high: 4304.0 });
        assert_eq!((doubted.confidence, doubted.caveats.len()), (CONFIDENCE_IN_NOISE, 1));
        let vague = in_noise(number(Key::SlcSpeedAfterBytesPerS, 3e7, (2e7, 5e7)));
        assert_eq!((vague.state, vague.reason.remedy), (State::Undecided, Some(Remedy::Quiet)));
        let unknown = Property::undecided(Key::Trim, Reason::default());
        assert_eq!(in_noise(unknown.clone()), unknown);
    }
}
