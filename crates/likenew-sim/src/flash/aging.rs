//! Old data that reads slowly.
//!
//! Charge leaks out of cells, so that a page that was programmed long ago is no longer read right at the first attempt,
//! and the array is read again with shifted thresholds. The shift of the threshold voltage grows with the logarithm of
//! the retention time (Cai and others, "Data Retention in MLC NAND Flash Memory: Characterization, Optimization, and
//! Recovery", HPCA 2015), so the retries do too. Programming a page again makes it young.

/// How data ages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AgingParameters {
    /// Data reads at once until it is so old, in seconds; 1 at least.
    pub onset_s: u64,
    /// Retries that each tenfold age beyond that adds.
    pub retries_per_decade: f64,
    /// Retries of the oldest data.
    pub retries_max: u32,
}

impl AgingParameters {
    /// How often the array is read for data of an age in seconds, the first time included.
    pub(crate) fn senses(&self, age_s: i64) -> u32 {
        let decades = (age_s as f64 / self.onset_s as f64).log10();
        // Young data has a negative logarithm, or none; both come out as zero.
        1 + (decades * self.retries_per_decade).ceil().clamp(0.0, f64::from(self.retries_max)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_decade_adds_retries_up_to_a_limit() {
        let aging = AgingParameters { onset_s: 1000, retries_per_decade: 4.0, retries_max: 7 };
        let senses = [-5, 0, 999, 1000, 1001, 10_000, 100_000, i64::MAX].map(|age| aging.senses(age));
        assert_eq!(senses, [1, 1, 1, 1, 2, 5, 8, 8]);
    }
}
