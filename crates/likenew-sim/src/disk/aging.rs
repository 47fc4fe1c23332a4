//! Which request is served next: the one with the shortest positioning time, less a credit for having waited.
//!
//! Serving the shortest positioning time first is what makes a queue worthwhile, but starves requests far
//! from the rest. Aging fixes that: the effective time is *T_pos − W × T_wait*, the aged shortest positioning
//! time first of Worthington, Ganger and Patt, "Scheduling Algorithms for Modern Disk Drives", SIGMETRICS
//! 1994, after Jacobson and Wilkes, "Disk scheduling algorithms based on rotational position", HP
//! Laboratories, 1991. With *W* = 0 no wait counts; with a large *W* the order is that of arrival. As no
//! positioning takes longer than *C*, a full stroke and a turn, no request is overtaken by one that came *C*
//! / *W* later.

use likenew_core::units::Nanos;

/// The order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Aging {
    per_mille: i64,
}

impl Aging {
    /// Milliseconds of positioning that each second of waiting outweighs.
    pub(super) fn new(per_mille: u32) -> Self {
        Self { per_mille: i64::from(per_mille) }
    }

    /// The effective positioning time, in nanoseconds: the least is served next.
    pub(super) fn cost(self, positioning: Nanos, waited: Nanos) -> i64 {
        let signed = |span: Nanos| i64::try_from(span.0).unwrap_or(i64::MAX);
        signed(positioning).saturating_sub(signed(waited).saturating_mul(self.per_mille) / 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_waiting_outweighs_milliseconds_of_positioning() {
        let aging = Aging::new(20);
        let [near, far] = [1, 20].map(Nanos::from_millis);
        assert!(aging.cost(near, Nanos::ZERO) < aging.cost(far, Nanos::from_millis(900)));
        assert!(aging.cost(near, Nanos::ZERO) > aging.cost(far, Nanos::from_millis(1000)));
        assert_eq!(aging.cost(near, Nanos::from_millis(50)), 0);
    }

    #[test]
    fn without_a_weight_only_the_position_counts() {
        let aging = Aging::new(0);
        assert_eq!(aging.cost(Nanos(7), Nanos::NEVER), 7);
    }
}
