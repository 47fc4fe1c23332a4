//! When a volume admits I/Os: a bucket of credits in time.
//!
//! Credits are counted in billionths, so that a rate in IOPS times a span in nanoseconds is exact.

use likenew_core::units::Nanos;

use super::volume_parameters::CreditParameters;
use crate::timeline::Timeline;

const CREDIT: u128 = 1_000_000_000;

/// Admits I/Os in order of arrival.
pub(crate) struct CreditBucket {
    parameters: CreditParameters,
    /// Keeps I/Os apart as the burst rate asks.
    interval: Timeline,
    /// Billionths of credits at a time.
    level: u128,
    level_at: Nanos,
}

impl CreditBucket {
    /// A full bucket or an empty one.
    pub(crate) fn new(parameters: CreditParameters, full: bool) -> Self {
        let level = if full { Self::level_max(&parameters) } else { 0 };
        Self::with_level(parameters, level)
    }

    /// A bucket that holds so many billionths of credits.
    pub(crate) fn with_level(parameters: CreditParameters, level: u128) -> Self {
        Self { parameters, interval: Timeline::default(), level, level_at: Nanos::ZERO }
    }

    /// What it holds at a time at which no I/O waits for credits, in billionths of credits.
    pub(crate) fn level(&self, now: Nanos) -> u128 {
        self.earned_credits(now.max(self.level_at)).min(Self::level_max(&self.parameters))
    }

    /// When so many I/Os that arrive now, after all those before, may pass.
    pub(crate) fn admit(&mut self, now: Nanos, ios: u64) -> Nanos {
        let from = self.interval.reserve(now, Nanos::ZERO);
        let cost = u128::from(ios) * CREDIT;
        self.refill(from, cost);
        let missing = cost.saturating_sub(self.level);
        let at = from + Nanos(missing.div_ceil(u128::from(self.parameters.baseline_iops)) as u64);
        self.level = self.earned_credits(at) - cost;
        self.level_at = at;
        let apart = cost.div_ceil(u128::from(self.parameters.iops_max()));
        self.interval.reserve(at, Nanos(apart as u64));
        at
    }

    /// What is in it at a time, without regard to how much it holds.
    fn earned_credits(&self, at: Nanos) -> u128 {
        self.level + u128::from(self.parameters.baseline_iops) * u128::from((at - self.level_at).0)
    }

    /// Brings the level up to a time; even the smallest bucket holds what the next I/O costs.
    fn refill(&mut self, at: Nanos, cost: u128) {
        self.level = self.earned_credits(at).min(Self::level_max(&self.parameters).max(cost));
        self.level_at = at;
    }

    fn level_max(parameters: &CreditParameters) -> u128 {
        u128::from(parameters.credits_max) * CREDIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PARAMETERS: CreditParameters =
        CreditParameters { baseline_iops: 300, burst_iops: 3000, credits_max: 54_000 };

    /// When the last of so many I/Os that all wait is admitted.
    fn admit_all(bucket: &mut CreditBucket, now: Nanos, ios: u64) -> f64 {
        (0..ios).map(|_| bucket.admit(now, 1)).last().expect("some I/Os").as_secs_f64()
    }

    #[test]
    fn a_burst_lasts_credits_over_burst_less_baseline() {
        let mut bucket = CreditBucket::new(PARAMETERS, true);
        // 54000 / 2700 = 20 s, in which 60000 I/Os are admitted.
        assert_eq!(PARAMETERS.burst_span(), Some(Nanos::from_secs(20)));
        let burst = admit_all(&mut bucket, Nanos::ZERO, 60_000);
        assert!((burst - 20.0).abs() < 0.01, "{burst}");
        let then = admit_all(&mut bucket, Nanos::ZERO, 3000);
        assert!((then - burst - 10.0).abs() < 0.01, "300 a second from then on: {burst} {then}");
    }

    #[test]
    fn an_empty_bucket_fills_while_nobody_asks() {
        let mut bucket = CreditBucket::new(PARAMETERS, false);
        let rested = Nanos::from_secs(9);
        // 2700 credits, which last for a second at 3000 less 300.
        let burst = admit_all(&mut bucket, rested, 3000) - 9.0;
        assert!((burst - 1.0).abs() < 0.01, "{burst}");
        let next = admit_all(&mut bucket, rested, 300) - 9.0 - burst;
        assert!((next - 1.0).abs() < 0.01, "{next}");
    }

    #[test]
    fn it_never_holds_more_than_it_can() {
        let mut bucket = CreditBucket::new(PARAMETERS, true);
        let week = Nanos::from_secs(7 * 86_400);
        let burst = admit_all(&mut bucket, week, 60_000) - week.as_secs_f64();
        assert!((burst - 20.0).abs() < 0.01, "{burst}");
    }

    #[test]
    fn a_volume_without_credits_keeps_to_its_baseline() {
        for burst_iops in [100, 3000] {
            let parameters = CreditParameters { credits_max: 0, burst_iops, ..PARAMETERS };
            let span = admit_all(&mut CreditBucket::new(parameters, true), Nanos::ZERO, 3001);
            assert!((span - 10.0).abs() < 0.01, "{span}");
        }
    }

    #[test]
    fn a_baseline_above_the_burst_rate_needs_no_credits() {
        let parameters = CreditParameters { baseline_iops: 6000, ..PARAMETERS };
        assert_eq!(parameters.burst_span(), None);
        for full in [true, false] {
            let span = admit_all(&mut CreditBucket::new(parameters, full), Nanos::ZERO, 12_000);
            assert!((span - 2.0).abs() < 0.01, "{span}");
        }
    }

    proptest! {
        #[test]
        fn no_span_admits_more_than_credits_and_rate_allow(
            gaps in prop::collection::vec((0u64..2_000_000_000, 1u64..40), 1..200),
            full in any::<bool>(),
        ) {
            let mut bucket = CreditBucket::new(PARAMETERS, full);
            let (mut now, mut before, mut admitted) = (Nanos::ZERO, Nanos::ZERO, 0);
            for (gap, ios) in gaps {
                now += Nanos(gap);
                let at = bucket.admit(now, ios);
                prop_assert!(at >= now && at >= before, "in order, and not before it arrives");
                before = at;
                admitted += ios;
                let credits = if full { 54_000.0 } else { 0.0 };
                prop_assert!(admitted as f64 <= credits + 300.0 * at.as_secs_f64() + 1e-6);
            }
        }
    }
}
