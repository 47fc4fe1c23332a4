//! The usual sizes of drives, at which a drive that is smaller than it claims gives itself away.

/// Addresses of probes at 0, at every usual size of drives (powers of two and decimal sizes), and at the end.
/// If addresses wrap around at such a size, the probe there meets the first one. Ascending, multiples of
/// `step`, without overlaps.
pub(super) fn boundary_offsets(span: u64, block: u64, step: u64) -> Vec<u64> {
    let last = (span - block) - (span - block) % step;
    let binary = (0..64).map_while(|doublings| 1u64.checked_shl(doublings));
    let decimal = (0..36).map(|doublings| 1_000_000_000u64.saturating_mul(1 << doublings));
    let mut places: Vec<u64> =
        binary.chain(decimal).filter(|place| *place < last).map(|place| place - place % step).collect();
    places.extend([0, last]);
    places.sort_unstable();
    let mut apart: Vec<u64> = Vec::with_capacity(places.len());
    for place in places {
        if apart.last().is_none_or(|before| before + block <= place) {
            apart.push(place);
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_size_that_drives_are_made_in_is_a_place() {
        let places = boundary_offsets(512_000_000_000, 1 << 20, 512);
        for size in [
            0,
            1 << 20,
            1 << 34,
            16_000_000_000,
            64_000_000_000,
            256_000_000_000,
            512_000_000_000 - (1 << 20),
        ] {
            assert!(places.contains(&size), "{size}");
        }
        assert!(places.len() < 64, "{} places", places.len());
    }

    proptest! {
        #[test]
        fn places_lie_within_the_span_and_apart(blocks in 1u64..1 << 30, more in 0u64..2000, files in any::<bool>()) {
            let (block, step) = (1 << 20, if files { 1 << 20 } else { 512 });
            let span = blocks * block + if files { 0 } else { more * 512 };
            let places = boundary_offsets(span, block, step);
            prop_assert_eq!(places[0], 0);
            prop_assert!(places.iter().all(|place| place + block <= span && place % step == 0));
            prop_assert!(places.windows(2).all(|pair| pair[0] + block <= pair[1]));
        }
    }
}
