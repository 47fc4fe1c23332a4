//! How much the system has discarded on each device of a stack.

use likenew_core::trim::DiscardCounters;

use crate::block::BlockDevice;

/// Places of the counters of discards that ended, and of their sectors, among the numbers of `stat`
/// (Documentation/block/stat.rst of the Linux sources, since 4.18).
const DISCARD_IOS: usize = 11;
const DISCARD_SECTORS: usize = 13;
/// The kernel counts in these, whatever the device has.
const SECTOR_BYTES: u64 = 512;

/// What the counters read at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counters(Vec<DiscardCounters>);

impl Counters {
    /// Of these devices, as far as they count.
    pub(crate) fn read(devices: &[BlockDevice]) -> Self {
        Self(devices.iter().filter_map(|device| parse(device.name(), &device.attribute("stat")?)).collect())
    }

    /// How far they moved since.
    pub(crate) fn since(&self, before: &Self) -> Vec<DiscardCounters> {
        let moved = self.0.iter().filter_map(|now| {
            let then = before.0.iter().find(|then| then.device == now.device)?;
            let (ios, bytes) = (now.ios.wrapping_sub(then.ios), now.bytes.wrapping_sub(then.bytes));
            Some(DiscardCounters { device: now.device.clone(), ios, bytes })
        });
        moved.collect()
    }
}

fn parse(device: String, stat: &str) -> Option<DiscardCounters> {
    let numbers: Vec<u64> = stat.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    let bytes = numbers.get(DISCARD_SECTORS)?.wrapping_mul(SECTOR_BYTES);
    Some(DiscardCounters { device, ios: *numbers.get(DISCARD_IOS)?, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discards_are_the_twelfth_and_fourteenth_number() {
        let stat = "  1 2 3 4 5 6 7 8 9 10 11   12 13 14 15 16 17";
        let discard_counters = parse("sda".into(), stat).unwrap();
        assert_eq!(discard_counters, DiscardCounters { device: "sda".into(), ios: 12, bytes: 14 * 512 });
        assert_eq!(
            parse("sda".into(), "1 2 3 4 5 6 7 8 9 10 11"),
            None,
            "this kernel is too old to count discards"
        );
        let later = Counters(vec![DiscardCounters { ios: 15, bytes: 20 * 512, ..discard_counters.clone() }]);
        let moved = later.since(&Counters(vec![discard_counters]));
        assert_eq!((moved[0].ios, moved[0].bytes), (3, 6 * 512));
        assert!(later.since(&Counters::default()).is_empty());
    }
}
