//! What a probe has found.

use likenew_core::findings::Series;
use likenew_core::measurement_error::MeasurementError;

use super::disturbance::Noise;
use super::property::Property;
use super::wording;

/// Pictures by name.
pub(super) type Pictures = Vec<(&'static str, Series)>;

/// What a probe has found: properties, and the measured signature as pictures.
#[derive(Default)]
pub(super) struct Finding {
    pub(super) properties: Vec<Property>,
    /// By name.
    pub(super) pictures: Pictures,
    /// How steady the drive answers, where this has found it out.
    pub(super) noise: Option<Noise>,
}

impl Finding {
    /// What is left of it where I/Os of its probe failed: nothing is known of what it asked for.
    pub(super) fn with_error(self, error: &MeasurementError) -> Self {
        let undecided = |property: Property| Property::undecided(property.key, wording::failed_io(error));
        Self { properties: self.properties.into_iter().map(undecided).collect(), ..Self::default() }
    }

    /// One property and its signature.
    pub(super) fn single(property: Property, picture: Option<(&'static str, Series)>) -> Self {
        Self { properties: vec![property], pictures: picture.into_iter().collect(), ..Self::default() }
    }
}
