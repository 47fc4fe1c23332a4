//! The findings of all tests up to now.

use super::background_io::BackgroundIo;
use super::disturbance::Noise;
use super::property::{Key, Property, State};
use super::reason::Remedy;
use super::wording;

/// The highest confidence, in 0..1, if something else uses the drive. Chosen: below the 0.9 from which an
/// answer counts as a claim.
const CONFIDENCE_IN_NOISE: f64 = 0.85;

/// The widest interval that still counts then, as a multiple of the number. Chosen: a factor of two or so.
const WIDTH_MAX: f64 = 1.0;

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

    /// The value of a property.
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

    /// Whether the drive is known to map whole blocks, and how large they are.
    pub(super) fn is_block_map(&self) -> bool {
        matches!(self.word(Key::Mapping), Some("hybrid" | "block"))
            && self.number(Key::EraseUnitBytes).is_some()
    }

    /// The number of a property, if it has one.
    pub(super) fn number(&self, key: Key) -> Option<f64> {
        self.properties.iter().find(|property| property.key == key).and_then(Property::value)
    }

    /// Whether the medium is this one: `disk`, `shingled_disk`, `flash` or `virtual`.
    pub(super) fn is(&self, medium: &str) -> bool {
        self.word(Key::Medium) == Some(medium)
    }
}

/// The same while something else uses the drive: with lower confidence and twice the interval, or unknown
/// if that allows nearly everything.
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
