//! The page map amplifies writes as theory says, and keeps to it.

use super::*;

const SPARE_SHARES: [f64; 6] = [0.07, 0.10, 0.15, 0.20, 0.28, 0.40];

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
    let SteadyWriteAmplification { write_amplification: found, theory, .. } = setting.measure();
    let theory = theory.expect("there is a theory");
    assert!((found / theory - 1.0).abs() < tolerance, "{found} is not {theory}: {setting:?}");
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
            // Hot pages that were filled together come round together, and part only after many rounds.
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
    let classes = page::Class::hot_and_cold(0.9, 0.1);
    let best = page::best_split(&classes, 1.0 / 0.9, |alpha| page::greedy(64, alpha)).write_amplification;
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
