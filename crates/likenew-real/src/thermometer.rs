//! A drive's temperature, read now and then by a separate thread: the driver asks the drive, and one that
//! hangs would block the caller.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};
use likenew_core::units::Nanos;

use crate::clock::Monotonic;
use crate::health::HealthSource;

/// How often a drive is asked. Each time costs it a command, and keeps some disks from spinning down (Linux,
/// Documentation/hwmon/drivetemp.rst). Chosen: temperatures change over minutes.
const INTERVAL: Duration = Duration::from_secs(10);
/// An answer older than this does not count. Chosen: three answers have been missed by then.
const STALE: Nanos = Nanos::from_secs(35);

/// Asks until it is dropped. A thread that waits for a drive that hangs is left to itself.
#[derive(Debug)]
pub(crate) struct Thermometer {
    last: Arc<Mutex<Option<(Nanos, f64)>>>,
    _stop: Sender<()>,
}

impl Thermometer {
    /// Of a drive whose driver offers a temperature.
    pub(crate) fn start(source: HealthSource, clock: Monotonic) -> Option<Self> {
        if !source.has_temperature() {
            return None;
        }
        let (stop, stopped) = bounded::<()>(0);
        let last = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&last);
        let ask = move || {
            loop {
                if let Some(degrees) = source.read().temperature_c {
                    *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some((clock.now(), degrees));
                }
                // Nothing is ever sent: the channel closes when the thermometer is dropped.
                if stopped.recv_timeout(INTERVAL) != Err(crossbeam_channel::RecvTimeoutError::Timeout) {
                    break;
                }
            }
        };
        std::thread::Builder::new().name("thermometer".into()).spawn(ask).ok()?;
        Some(Self { last, _stop: stop })
    }

    /// The last answer in degrees Celsius, unless that is too long ago.
    pub(crate) fn read(&self, now: Nanos) -> Option<f64> {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.filter(|(at, _)| now.since(*at) < STALE).map(|(_, degrees)| degrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_comes_and_grows_old() {
        let disk = tempfile::tempdir().unwrap();
        let clock = Monotonic::start();
        assert!(Thermometer::start(HealthSource::of_disk(disk.path()), clock).is_none());
        std::fs::create_dir_all(disk.path().join("device/hwmon1")).unwrap();
        std::fs::write(disk.path().join("device/hwmon1/temp1_input"), "41000\n").unwrap();
        let thermometer = Thermometer::start(HealthSource::of_disk(disk.path()), clock).unwrap();
        while thermometer.read(clock.now()).is_none() {
            clock.rest(clock.now() + Nanos::from_millis(1));
        }
        let now = clock.now();
        assert_eq!(thermometer.read(now), Some(41.0));
        assert_eq!(thermometer.read(now + STALE), None);
    }
}
