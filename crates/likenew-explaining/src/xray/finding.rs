//! The findings of a test.

use likenew_core::findings::Series;
use likenew_core::measurement_error::MeasurementError;

use super::disturbance::Noise;
use super::property::Property;
use super::wording;

/// Charts by name.
pub(super) type Pictures = Vec<(&'static str, Series)>;

/// The findings of a test: properties, and the signature as charts.
#[derive(Default)]
pub(super) struct Finding {
    pub(super) properties: Vec<Property>,
    /// By name.
    pub(super) pictures: Pictures,
    /// How steady the drive answers, if this test measured it.
    pub(super) noise: Option<Noise>,
}

impl Finding {
    /// The same after I/Os of the test failed: its properties are unknown.
    pub(super) fn with_error(self, error: &MeasurementError) -> Self {
        let undecided = |property: Property| Property::undecided(property.key, wording::failed_io(error));
        Self { properties: self.properties.into_iter().map(undecided).collect(), ..Self::default() }
    }

    /// One property and its signature.
    pub(super) fn single(property: Property, picture: Option<(&'static str, Series)>) -> Self {
        Self { properties: vec![property], pictures: picture.into_iter().collect(), ..Self::default() }
    }
}
