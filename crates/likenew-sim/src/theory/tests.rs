//! Formulas give values that others computed and simulated, and the page map agrees with them.

use super::*;

const SPARE_SHARES: [f64; 6] = [0.07, 0.10, 0.15, 0.20, 0.28, 0.40];

/// Separate pools of blocks for two classes of pages.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Split {
    /// Share of the spare flash that goes to the first class.
    spare_share: f64,
    /// Write amplification of both pools together.
    write_amplification: f64,
}

/// The best division of spare flash between two classes of pages that never share a block. No policy that
/// knows the classes can do better. `uniform` is the write amplification within a pool, as a function of α.
///
/// With a share x of the spare, the first pool has α₁ = 1 + x(α − 1)/f₁. The write amplification is the mean
/// of both, weighted by writes (Desnoyers 2014).
fn best_split(classes: &[Class; 2], alpha: f64, uniform: impl Fn(f64) -> f64) -> Split {
    check(alpha);
    let amplification = |share: f64| {
        let pool =
            |class: &Class, share: f64| class.writes * uniform(1.0 + share * (alpha - 1.0) / class.pages);
        pool(&classes[0], share) + pool(&classes[1], 1.0 - share)
    };
    // A pool without spare amplifies without bound, so there is one minimum between 0 and 1; a ternary search
    // finds it.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        if amplification(low + third) < amplification(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    let spare_share = (low + high) / 2.0;
    Split { spare_share, write_amplification: amplification(spare_share) }
}

/// Tests of formulas alone.
mod formulas {
    use super::*;

    /// Checks to half a unit of the last known digit.
    fn assert_all(known: [f64; 6], formula: impl Fn(f64) -> f64) {
        for (spare, known) in SPARE_SHARES.into_iter().zip(known) {
            let computed = formula(1.0 / (1.0 - spare));
            assert!((computed - known).abs() < 0.00051, "spare share {spare}: {computed} is not {known}");
        }
    }

    #[test]
    fn greedy_collection() {
        assert_all([6.057, 4.508, 3.202, 2.514, 1.896, 1.432], |alpha| greedy(32, alpha));
        assert_all([6.615, 4.821, 3.354, 2.599, 1.942, 1.455], |alpha| greedy(64, alpha));
        assert_all([6.945, 4.992, 3.434, 2.645, 1.967, 1.467], |alpha| greedy(128, alpha));
        assert_all([7.124, 5.083, 3.476, 2.668, 1.979, 1.474], |alpha| greedy(256, alpha));
        assert_all([7.219, 5.130, 3.497, 2.681, 1.985, 1.477], |alpha| greedy(512, alpha));
    }

    #[test]
    fn greedy_collection_at_its_ends() {
        for alpha in [1.0 + 1e-6, 1.01, 2.0, 5.0, 6.0, 50.0, 1e6] {
            let amplification = greedy(128, alpha);
            assert!((1.0..=128.0).contains(&amplification), "{alpha}: {amplification}");
        }
        assert_eq!(greedy(1, 1.1), 1.0, "a block of one page holds data or nothing");
        assert!((greedy(2, 4.0 / 3.0) - 2.0 / 1.5).abs() < 1e-9, "2 (1/2 + q)/(1 + q) is 4/3 for q = 1/2");
    }

    #[test]
    fn fifo_collection() {
        assert_all([7.318, 5.179, 3.519, 2.693, 1.992, 1.480], fifo);
        // From Xiang and Kurkoski, for an over-provisioning of 0.3, arXiv 1110.4245.
        assert!((fifo(1.3) - 2.36).abs() < 0.005);
        let limit = greedy(1 << 14, 1.25);
        assert!((fifo(1.25) - limit).abs() < 1e-3, "large blocks under greedy collection: {limit}");
    }

    #[test]
    fn random_choices() {
        assert_all([9.810, 6.941, 4.688, 3.556, 2.585, 1.861], |alpha| choices(128, 2, alpha));
        assert_all([7.182, 5.148, 3.531, 2.714, 2.013, 1.496], |alpha| choices(128, 10, alpha));
        for spare in SPARE_SHARES {
            let alpha = 1.0 / (1.0 - spare);
            assert!((choices(64, 1, alpha) - random(alpha)).abs() < 1e-6, "one choice is none");
            assert!((random(alpha) - 1.0 / spare).abs() < 1e-9);
            let many = choices(64, 100_000, alpha);
            assert!((many / greedy(64, alpha) - 1.0).abs() < 1e-3, "{many} with many choices");
        }
    }

    #[test]
    fn hot_and_cold_pages_in_one_log() {
        let mixed = |writes, pages| move |alpha| fifo_of_classes(&Class::hot_and_cold(writes, pages), alpha);
        assert_all([7.682, 5.538, 3.869, 3.034, 2.317, 1.775], mixed(0.8, 0.2));
        assert_all([8.358, 6.168, 4.430, 3.533, 2.727, 2.068], mixed(0.9, 0.1));
        assert_all([9.422, 7.073, 5.129, 4.074, 3.086, 2.268], mixed(0.95, 0.05));
        let three = [(0.5, 0.5), (0.25, 0.25), (0.25, 0.25)].map(|(writes, pages)| Class { writes, pages });
        assert!((fifo_of_classes(&three, 1.2) - fifo(1.2)).abs() < 1e-9, "equal classes are one");
        let still = [Class { writes: 1.0, pages: 0.5 }, Class { writes: 0.0, pages: 0.5 }];
        assert!(fifo_of_classes(&still, 1.2) > fifo(1.2), "pages that rest are moved all the same");
    }

    #[test]
    fn hot_and_cold_pages_in_separate_pools() {
        let best = |writes, pages| {
            move |alpha| {
                best_split(&Class::hot_and_cold(writes, pages), alpha, |alpha| greedy(128, alpha))
                    .write_amplification
            }
        };
        assert_all([4.693, 3.450, 2.463, 1.966, 1.546, 1.248], best(0.8, 0.2));
        assert_all([2.957, 2.268, 1.728, 1.463, 1.247, 1.104], best(0.9, 0.1));
        let split = best_split(&Class::hot_and_cold(0.8, 0.2), 1.25, fifo);
        assert!((split.spare_share - 0.5).abs() < 0.02, "{split:?}");
        let split = best_split(&Class::hot_and_cold(0.3, 0.3), 1.25, fifo);
        assert!(
            (split.write_amplification - fifo(1.25)).abs() < 1e-6,
            "equal classes gain nothing: {split:?}"
        );
    }

    #[test]
    fn trimmed_pages_are_spare() {
        for (trims, known) in [(0.05, 4.251), (0.1, 3.010), (0.2, 1.842), (0.3, 1.304)] {
            let spare = spare_share_with_trim(0.07, trims);
            let computed = greedy(128, 1.0 / (1.0 - spare));
            assert!((computed - known).abs() < 0.00051, "{trims}: {computed} is not {known}");
        }
        assert!((spare_share_with_trim(0.07, 0.0) - 0.07).abs() < 1e-12);
        assert_eq!(held_share_with_trim(0.0), 1.0);
    }
}

/// Compares the page map with the formulas.
mod page_map {
    use super::*;

    fn setting(collection: Collection, streams: Streams, pages_per_block: u32, spare_share: f64) -> Setting {
        Setting {
            collection,
            streams,
            pages_per_block,
            blocks: 2048,
            spare_share,
            traffic: Traffic::Uniform,
            passes_before: 3,
            passes: 7,
            seed: 1,
        }
    }

    fn assert_agrees(setting: Setting, tolerance: f64) {
        let SteadyWriteAmplification { write_amplification: measured, theory, .. } = setting.measure();
        let theory = theory.expect("there is a theory");
        assert!((measured / theory - 1.0).abs() < tolerance, "{measured} is not {theory}: {setting:?}");
    }

    fn all_spare_shares(collection: Collection, streams: Streams, pages_per_block: u32) {
        for spare_share in SPARE_SHARES {
            assert_agrees(setting(collection, streams, pages_per_block, spare_share), 0.005);
        }
    }

    #[test]
    fn greedy_collection_with_64_pages_a_block() {
        all_spare_shares(Collection::Greedy, Streams::Separate, 64);
    }

    #[test]
    fn greedy_collection_with_128_pages_a_block() {
        all_spare_shares(Collection::Greedy, Streams::Separate, 128);
    }

    #[test]
    fn greedy_collection_with_256_pages_a_block() {
        for spare_share in SPARE_SHARES {
            let setting = setting(Collection::Greedy, Streams::Separate, 256, spare_share);
            assert_agrees(Setting { passes_before: 2, passes: 4, ..setting }, 0.005);
        }
    }

    #[test]
    fn collection_in_order() {
        all_spare_shares(Collection::Fifo, Streams::Mixed, 64);
    }

    #[test]
    fn collection_from_ten_choices() {
        all_spare_shares(Collection::Choices(10), Streams::Separate, 128);
    }

    #[test]
    fn every_policy_with_other_streams() {
        for streams in [Streams::Mixed, Streams::HotCold] {
            assert_agrees(setting(Collection::Greedy, streams, 64, 0.07), 0.005);
            assert_agrees(setting(Collection::Choices(2), streams, 32, 0.15), 0.005);
            assert_agrees(setting(Collection::Choices(1), streams, 32, 0.2), 0.005);
        }
        assert_agrees(setting(Collection::Fifo, Streams::Separate, 64, 0.07), 0.005);
        assert_agrees(setting(Collection::Fifo, Streams::Separate, 64, 0.28), 0.005);
    }

    #[test]
    fn hot_and_cold_pages_in_one_log() {
        for (writes, pages) in [(0.8, 0.2), (0.9, 0.1), (0.95, 0.05)] {
            for spare_share in [0.07, 0.10, 0.20, 0.40] {
                let uniform = setting(Collection::Fifo, Streams::Mixed, 32, spare_share);
                let traffic = Traffic::Skewed { writes, pages };
                // Hot pages that were filled together are collected together, and spread out only after many rounds.
                assert_agrees(Setting { traffic, passes_before: 10, passes: 30, ..uniform }, 0.01);
            }
        }
    }

    #[test]
    fn trimmed_pages_count_as_spare() {
        for trims in [0.05, 0.1, 0.2, 0.3] {
            let uniform = setting(Collection::Greedy, Streams::Separate, 128, 0.07);
            assert_agrees(Setting { traffic: Traffic::Trimmed { trims }, ..uniform }, 0.01);
        }
    }

    #[test]
    fn telling_hot_from_cold_and_counting_age_come_near_the_best_split() {
        let traffic = Traffic::Skewed { writes: 0.9, pages: 0.1 };
        let measure = |collection, streams| {
            let setting = Setting { traffic, passes_before: 6, ..setting(collection, streams, 64, 0.1) };
            setting.measure().write_amplification
        };
        let mixed = measure(Collection::Greedy, Streams::Mixed);
        let separate = measure(Collection::Greedy, Streams::Separate);
        let aged = measure(Collection::CostBenefit, Streams::Separate);
        let hot_cold = measure(Collection::CostBenefit, Streams::HotCold);
        let classes = Class::hot_and_cold(0.9, 0.1);
        let best = best_split(&classes, 1.0 / 0.9, |alpha| greedy(64, alpha)).write_amplification;
        let order = [mixed, separate, aged, hot_cold, best];
        assert!(order.is_sorted_by(|before, after| before > after), "{order:?}");
        assert!(aged < 0.65 * mixed, "age is what greedy collection lacks: {order:?}");
    }

    #[test]
    fn it_stays_where_it_is() {
        for collection in [Collection::Greedy, Collection::Fifo, Collection::CostBenefit] {
            let setting = setting(collection, Streams::Separate, 64, 0.07);
            let measured = Setting { passes_before: 12, passes: 3, ..setting }.measure();
            let (low, high) = measured
                .passes
                .iter()
                .fold((f64::MAX, 0.0f64), |(low, high), pass| (low.min(*pass), high.max(*pass)));
            assert!(high / low < 1.01, "{measured:?}");
        }
    }
}
