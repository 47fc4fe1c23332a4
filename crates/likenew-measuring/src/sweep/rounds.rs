//! Removes from the passes what all cells of a round share.
//!
//! A sweep is a design in blocks: each round holds every cell once, in random order. A drive that is slower
//! in one round is slower in all its cells, which says nothing of one cell against another. So before cells
//! of one operation are compared, the passes of a round are divided by the effect of the whole round (Fisher,
//! "The Design of Experiments", 1935, chapter IV). The intervals of the cells themselves keep it.

use likenew_stats::summary::mean;

/// With fewer cells the effect of a round cannot be told from theirs.
const CELLS_MIN: usize = 4;

/// The passes of each cell, by round, without the effect of the rounds; the mean of each cell stays. The
/// passes are returned unchanged if rounds are incomplete, if there are too few cells, or if one moved
/// nothing.
pub(super) fn without_rounds(cells: &[&[f64]]) -> Vec<Vec<f64>> {
    let as_they_are = || cells.iter().map(|passes| passes.to_vec()).collect();
    let rounds = cells.first().map_or(0, |passes| passes.len());
    let complete = cells.iter().all(|passes| passes.len() == rounds);
    let moved = cells.iter().all(|passes| passes.iter().all(|speed| *speed > 0.0));
    if rounds < 2 || cells.len() < CELLS_MIN || !complete || !moved {
        return as_they_are();
    }
    let deviations: Vec<Vec<f64>> = cells.iter().map(|passes| deviations(passes)).collect();
    let count = cells.len() as f64;
    let of_round = |round: usize| deviations.iter().map(|cell| cell[round]).sum::<f64>() / count;
    let common: Vec<f64> = (0..rounds).map(of_round).collect();
    // A cell is part of its round, so removing the round removes a share of the cell's own scatter, too.
    let restore = (count / (count - 1.0)).sqrt();
    let without_round_effect = |deviations: &Vec<f64>, passes: &&[f64]| {
        let speeds =
            deviations.iter().zip(&common).map(|(deviation, common)| ((deviation - common) * restore).exp());
        let speeds: Vec<f64> = speeds.collect();
        let scale = average(passes) / average(&speeds);
        speeds.into_iter().map(|speed| speed * scale).collect()
    };
    deviations
        .iter()
        .zip(cells)
        .map(|(deviations, passes)| without_round_effect(deviations, passes))
        .collect()
}

/// Logarithm of each pass over the cell's typical one.
fn deviations(passes: &[f64]) -> Vec<f64> {
    let logarithms: Vec<f64> = passes.iter().map(|speed| speed.ln()).collect();
    let typical = average(&logarithms);
    logarithms.into_iter().map(|logarithm| logarithm - typical).collect()
}

fn average(values: &[f64]) -> f64 {
    mean(values).expect("a cell has passes")
}

#[cfg(test)]
mod tests {
    use likenew_stats::interval::ratio_interval;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Approximately normal: the sum of twelve uniform numbers has variance 1.
    fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
        (0..12).map(|_| random.random_range(-0.5..0.5)).sum()
    }

    /// `count` equal cells of five rounds, each round 4 % slower than the one before, with 1 % of scatter.
    fn falling(count: usize, random: &mut Xoshiro256PlusPlus) -> Vec<Vec<f64>> {
        let mut pass = |round: i32| 100.0 * 0.96f64.powi(round) * (1.0 + 0.01 * normal(random));
        (0..count).map(|_| (0..5).map(&mut pass).collect()).collect()
    }

    #[test]
    fn intervals_of_ratios_hold_what_they_claim_and_are_narrow() {
        for count in [4, 30] {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
            let (mut hits, mut width, mut width_before) = (0, 0.0, 0.0);
            const TRIES: u32 = 2000;
            for _ in 0..TRIES {
                let cells = falling(count, &mut random);
                let slices: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
                let without_round_effect = without_rounds(&slices);
                let interval =
                    ratio_interval(&without_round_effect[0], &without_round_effect[1], 0.95).unwrap();
                let before = ratio_interval(&cells[0], &cells[1], 0.95).unwrap();
                hits += u32::from(interval.contains(1.0));
                width += interval.high - interval.low;
                width_before += before.high - before.low;
            }
            let share = f64::from(hits) / f64::from(TRIES);
            assert!((0.935..=0.975).contains(&share), "{share} of {count} cells");
            assert!(width < width_before / 3.0, "{width} against {width_before}");
        }
    }

    #[test]
    fn means_stay_and_what_is_not_complete_is_left_alone() {
        let cells = falling(6, &mut Xoshiro256PlusPlus::seed_from_u64(2));
        let slices: Vec<&[f64]> = cells.iter().map(Vec::as_slice).collect();
        for (before, after) in cells.iter().zip(without_rounds(&slices)) {
            assert!((average(before) / average(&after) - 1.0).abs() < 1e-12);
        }
        for odd in [&[][..], &[1.0, 2.0, 3.0], &[0.0; 5]] {
            let mut slices = slices.clone();
            slices.push(odd);
            assert_eq!(without_rounds(&slices)[0], cells[0]);
        }
        assert_eq!(without_rounds(&slices[..3])[0], cells[0]);
        assert!(without_rounds(&[]).is_empty());
    }
}
