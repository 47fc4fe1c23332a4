//! How a drive heats up, and how it throttles.
//!
//! The model is one heat capacity behind one thermal resistance. With power P, the temperature moves from T
//! towards T∞ = T(ambient) + P·R as T∞ − (T∞ − T)·exp(−Δt/(R·C)), Newton's law of cooling. Power is the idle
//! power plus the energy of bytes read and programmed. Above one temperature the drive limits its link, until
//! it has cooled below another.

use likenew_core::units::Nanos;

use crate::drive_file::{RATE, parameters};
use crate::value::Value;

parameters! {
    /// How a drive warms up and when it throttles.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ThermalParameters {
        /// Air temperature in °C.
        pub ambient_c: f64 = number("ambient_c", -50.0..=100.0) => ("air", Value::celsius),
        /// Thermal resistance from the drive to the air, in kelvin per watt.
        pub resistance_k_per_w: f64 = number("resistance_k_per_w", 0.01..=1000.0),
        /// Heat capacity in joules per kelvin.
        pub capacity_j_per_k: f64 = number("capacity_j_per_k", 0.01..=100_000.0),
        /// Idle power in watts.
        pub idle_w: f64 = number("idle_w", 0.0..=100.0),
        /// Energy per byte that the host reads, in nanojoules.
        pub read_nj_per_byte: f64 = number("read_nj_per_byte", 0.0..=1000.0),
        /// Energy per byte programmed, in nanojoules.
        pub program_nj_per_byte: f64 = number("program_nj_per_byte", 0.0..=1000.0),
        /// Temperature in °C above which the drive throttles.
        pub throttle_c: f64 = number("throttle_c", 0.0..=200.0) => ("throttles above", Value::celsius),
        /// Temperature in °C below which it stops throttling.
        pub resume_c: f64 = number("resume_c", 0.0..=200.0) => ("until below", Value::celsius),
        /// The link's rate while throttled, in bytes per second.
        pub throttled_bytes_per_s: u64 = whole("throttled_bytes_per_s", RATE)
            => ("moves meanwhile", Value::rate),
    }
}

/// Shortest time step; the energy of shorter spans is added up.
const STEP: Nanos = Nanos::from_millis(10);

/// The temperature of a drive over time.
#[derive(Clone, Debug)]
pub(crate) struct Thermal {
    parameters: ThermalParameters,
    pub(crate) temperature_c: f64,
    at: Nanos,
    joules: f64,
    /// Whether it throttles now.
    pub(crate) throttling: bool,
    /// How often it began to throttle, and for how long in total, up to the last time step.
    pub(crate) throttled: (u64, Nanos),
}

impl Thermal {
    /// A drive that has been idle for long.
    pub(crate) fn new(parameters: ThermalParameters) -> Self {
        let temperature_c = parameters.ambient_c + parameters.idle_w * parameters.resistance_k_per_w;
        Self {
            parameters,
            temperature_c,
            at: Nanos::ZERO,
            joules: 0.0,
            throttling: false,
            throttled: (0, Nanos::ZERO),
        }
    }

    /// Adds the energy of bytes that the host has read.
    pub(crate) fn read(&mut self, bytes: u64) {
        self.joules += bytes as f64 * self.parameters.read_nj_per_byte * 1e-9;
    }

    /// Adds the energy of bytes programmed.
    pub(crate) fn program(&mut self, bytes: u64) {
        self.joules += bytes as f64 * self.parameters.program_nj_per_byte * 1e-9;
    }

    /// Advances to `now`; returns the link's new limit if it changes, `Some(None)` for no limit.
    pub(crate) fn pass(&mut self, now: Nanos) -> Option<Option<u64>> {
        let span = now.since(self.at);
        if span < STEP {
            return None;
        }
        let ThermalParameters { ambient_c, resistance_k_per_w, capacity_j_per_k, idle_w, .. } =
            self.parameters;
        let seconds = span.as_secs_f64();
        let power_w = idle_w + self.joules / seconds;
        let settled_c = ambient_c + power_w * resistance_k_per_w;
        let decay = (-seconds / (resistance_k_per_w * capacity_j_per_k)).exp();
        self.temperature_c = settled_c + (self.temperature_c - settled_c) * decay;
        (self.at, self.joules) = (now, 0.0);
        let before = self.throttling;
        if before {
            self.throttled.1 += span;
        }
        let limit_c = if before { self.parameters.resume_c } else { self.parameters.throttle_c };
        self.throttling = self.temperature_c > limit_c;
        self.throttled.0 += u64::from(self.throttling && !before);
        (self.throttling != before).then(|| self.throttling.then_some(self.parameters.throttled_bytes_per_s))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> Thermal {
        Thermal::new(ThermalParameters {
            ambient_c: 25.0,
            resistance_k_per_w: 10.0,
            capacity_j_per_k: 6.0,
            idle_w: 1.0,
            read_nj_per_byte: 1.0,
            program_nj_per_byte: 2.0,
            throttle_c: 80.0,
            resume_c: 70.0,
            throttled_bytes_per_s: 500_000_000,
        })
    }

    /// Programs 4 GB/s, which adds 8 W to the idle power; the temperature settles at 115 °C.
    fn work(thermal: &mut Thermal, from_s: u64, to_s: u64) -> Vec<(u64, Option<u64>)> {
        let second = |second: u64| {
            thermal.program(4_000_000_000);
            thermal.pass(Nanos::from_secs(second + 1)).map(|limit| (second + 1, limit))
        };
        (from_s..to_s).filter_map(second).collect()
    }

    #[test]
    fn it_warms_up_as_newton_says_and_throttles_once() {
        let mut thermal = drive();
        assert_eq!(thermal.temperature_c, 35.0);
        let changes = work(&mut thermal, 0, 60);
        assert!((thermal.temperature_c - (115.0 - 80.0 * (-1.0f64).exp())).abs() < 1e-6);
        // 115 − 80·exp(−t/60) passes 80 °C at 60·ln(80/35) = 49.6 s.
        assert_eq!(changes, [(50, Some(500_000_000))]);
        assert!(thermal.throttling);
    }

    #[test]
    fn it_resumes_below_the_lower_temperature() {
        let mut thermal = drive();
        work(&mut thermal, 0, 60);
        assert_eq!(thermal.pass(Nanos::from_secs(61)), None, "just below the upper one is not enough");
        assert_eq!(thermal.pass(Nanos::from_secs(600)), Some(None));
        assert!((thermal.temperature_c - 35.0).abs() < 0.1 && !thermal.throttling);
    }

    #[test]
    fn short_spans_add_up() {
        let (mut one, mut many) = (drive(), drive());
        for step in 1..=100_000 {
            many.read(1000);
            many.pass(Nanos::from_micros(step * 10));
        }
        one.read(100_000_000);
        one.pass(Nanos::from_secs(1));
        assert!((one.temperature_c - many.temperature_c).abs() < 1e-3);
    }
}
