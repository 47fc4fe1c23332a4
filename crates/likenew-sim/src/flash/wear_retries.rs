//! Worn flash is read with retries, because worn cells make more errors.

use super::translation_layer::PhysicalPage;

/// Retries of an average page at the end of the rated life (assumed); they grow with the square of wear.
const RETRIES_AT_END: f64 = 4.0;

/// The effect of wear on reads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WearRetries {
    /// Share of the rated life that is used.
    pub share: f64,
}

impl WearRetries {
    /// Retries of a row on average.
    pub fn retries_mean(&self) -> f64 {
        RETRIES_AT_END * self.share * self.share
    }

    /// Retries of the row at a place: always the same number, the whole part of the mean or one more.
    pub(crate) fn retries(&self, place: &PhysicalPage) -> u32 {
        let draw = (place.row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / f64::from(1 << 24);
        (self.retries_mean() + draw) as u32
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::units::Nanos;

    use super::*;
    use crate::flash::page_map::PageMap;
    use crate::flash::translation_layer::TranslationLayer as _;
    use crate::model::{Layer, Mechanism};
    use crate::state::{DriveTreatment, make};

    #[test]
    fn a_page_always_takes_as_many_retries_and_all_of_them_the_mean() {
        let reads = WearRetries { share: 0.75 };
        assert_eq!(reads.retries_mean(), 2.25);
        let entry = crate::catalog().iter().find(|entry| entry.name == "tiny-flash").unwrap();
        let Mechanism::Flash(new) = entry.model.mechanism else { panic!("it is flash") };
        let Layer::Page(page) = new.layer else { panic!("it maps pages") };
        let past =
            DriveTreatment { fill: 0.2, overwritten_share: 0.0, age: Nanos::ZERO, writes_per_unit: None };
        let map = make(PageMap::new(page), new.flash.dies, past);
        let retries: Vec<u32> =
            (0..10_000).filter_map(|page| map.find(page)).map(|place| reads.retries(&place)).collect();
        let mean = f64::from(retries.iter().sum::<u32>()) / retries.len() as f64;
        assert!((mean - 2.25).abs() < 0.05 && retries.iter().all(|count| (2..=3).contains(count)), "{mean}");
    }
}
