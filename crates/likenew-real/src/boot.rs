//! An id of this boot of the machine: after an interruption it shows whether the power has been off since.

use std::time::{Duration, SystemTime};

use rustix::time::{ClockId, clock_gettime};

/// Names one start of the system (random(4)).
const ID: &str = "/proc/sys/kernel/random/boot_id";

/// A start of the machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Another one for each.
    pub id: String,
    /// When it began, by the clock as it is set now.
    pub started_at: SystemTime,
}

impl Boot {
    /// The present one. None where the system does not tell.
    pub fn present() -> Option<Self> {
        let id = std::fs::read_to_string(ID).ok()?.trim().to_owned();
        let up = clock_gettime(ClockId::Boottime);
        let up = Duration::new(up.tv_sec.unsigned_abs(), u32::try_from(up.tv_nsec).ok()?);
        let started_at = SystemTime::now().checked_sub(up)?;
        (!id.is_empty()).then_some(Self { id, started_at })
    }

    /// A boot of this name that begins now, for tests that cannot restart the machine.
    pub fn from_id(id: &str) -> Self {
        Self { id: id.to_owned(), started_at: SystemTime::now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_boot_is_the_same_one_until_the_next_and_lies_in_the_past() {
        let Some(boot) = Boot::present() else { return };
        assert_eq!(Boot::present().map(|boot| boot.id), Some(boot.id.clone()));
        assert!(boot.started_at < SystemTime::now());
        assert_ne!(Boot::from_id("another"), boot);
    }
}
