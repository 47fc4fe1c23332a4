//! Ranges of all kinds: impossible ranges are refused, and possible ones are rewritten exactly once, with nothing else.

use likenew_core::drive::BlockStore as _;
use likenew_core::powercut::{Power, VolatileDevice};
use proptest::prelude::*;

use super::rig::Counted;
use crate::plan::Task;
use crate::{Ranges, Refresh, RefreshError, Settings, Step};

const BYTES: u64 = 64 << 10;

proptest! {
    #[test]
    fn only_whole_blocks_in_order_within_the_store_are_taken(
        edges in prop::collection::vec((0u64..(BYTES / 256) + 20, 0u64..60), 0..6),
        chunk_bits in 12u32..18,
    ) {
        let ranges: Vec<_> = edges.iter().map(|(start, length)| start * 256..(start + length) * 256).collect();
        let possible = ranges.iter().all(|range| {
            !range.is_empty() && range.end <= BYTES && range.start % 512 == 0 && range.end % 512 == 0
        }) && ranges.windows(2).all(|pair| pair[0].end <= pair[1].start);
        let device = VolatileDevice::new(vec![7; BYTES as usize], 512, 1, &Power::default());
        let mut store = Counted { device, writes: Default::default() };
        let settings = Settings { chunk_bytes: 1 << chunk_bits, ..Settings::default() };
        let task = Task { ranges: ranges.clone(), settings, ..Task::default() };
        let mut file = Vec::new();
        match Refresh::begin(&mut store, &mut file, &task) {
            Err(error @ RefreshError::Unsuitable(_)) => {
                prop_assert!(!possible, "{error}");
                prop_assert!(error.to_string().ends_with("; nothing was changed"), "{error}");
                prop_assert!(store.writes.is_empty() && file.is_empty());
            }
            Err(error) => prop_assert!(false, "{error}"),
            Ok(mut refresh) => {
                prop_assert!(possible, "{ranges:?}");
                let mut written = Vec::new();
                while let Some(step) = refresh.step().unwrap() {
                    let Step::Written(place) = step else { panic!("nothing is zero") };
                    prop_assert!(place.end - place.start <= 1 << chunk_bits);
                    written.push(place);
                }
                prop_assert_eq!(Ranges::new(&written, BYTES, 512).unwrap(), Ranges::new(&ranges, BYTES, 512).unwrap());
                prop_assert_eq!(refresh.progress().written_bytes, ranges.iter().map(|range| range.end - range.start).sum::<u64>());
                prop_assert!(store.writes.values().all(|count| *count == 1));
            }
        }
    }

    #[test]
    fn a_union_without_another_covers_what_only_the_first_does(
        one in prop::collection::vec((0u64..100, 1u64..30), 0..6),
        two in prop::collection::vec((0u64..100, 1u64..30), 0..6),
    ) {
        let union = |parts: &[(u64, u64)]| {
            Ranges::union(parts.iter().map(|(start, length)| start * 512..(start + length) * 512).collect(), 120 * 512, 512)
        };
        let covers = |ranges: &Ranges, at: u64| ranges.as_slice().iter().any(|range| range.contains(&at));
        let (one, two) = (union(&one), union(&two));
        let remainder = one.subtract(&two);
        for at in (0..130 * 512).step_by(512) {
            prop_assert_eq!(covers(&remainder, at), covers(&one, at) && !covers(&two, at));
        }
        prop_assert_eq!(Ranges::new(remainder.as_slice(), 120 * 512, 512).unwrap(), remainder);
    }
}

#[test]
fn chunks_of_zeros_are_left_as_they_are_unless_asked_for() {
    for (skips_zeros, written) in [(true, 3), (false, 4)] {
        let mut content = vec![7; 4 * 4096];
        content[4096..8192].fill(0);
        // With one more byte of data, the chunk is not all zeros.
        content[2 * 4096..3 * 4096 - 1].fill(0);
        let device = VolatileDevice::new(content, 512, 1, &Power::default());
        let mut store = Counted { device, writes: Default::default() };
        let settings = Settings { chunk_bytes: 4096, skips_zeros, ..Settings::default() };
        let ranges = std::iter::once(0..store.bytes()).collect();
        let task = Task { ranges, settings, ..Task::default() };
        let mut refresh = Refresh::begin(&mut store, Vec::new(), &task).unwrap();
        while refresh.step().unwrap().is_some() {}
        let progress = refresh.progress();
        assert_eq!(progress.written_bytes, written * 4096);
        assert_eq!((progress.done_bytes, progress.zero_bytes), (4 * 4096, (4 - written) * 4096));
    }
}
