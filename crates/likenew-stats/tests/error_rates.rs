//! The methods are as seldom wrong as `docs/method.md` says, and its tables are what is counted.

#[path = "../examples/error_rates/counts.rs"]
mod counts;
#[path = "../examples/error_rates/series.rs"]
mod series;
#[path = "../examples/error_rates/tables.rs"]
mod tables;

use counts::{LENGTHS, SERIES};

const METHOD: &str = include_str!("../../../docs/method.md");

fn assert_in_manual(table: &str) {
    assert!(
        METHOD.contains(table),
        "docs/method.md does not have what is counted; replace its tables by what `cargo run --release -p \
         likenew-stats --example error_rates` prints:\n{table}"
    );
}

#[test]
fn one_level_is_not_taken_for_two() {
    let rows = counts::one_level();
    for (name, answers) in &rows {
        for (answers, length) in answers.iter().zip(LENGTHS) {
            assert!(answers.two * 100 <= SERIES, "{name}, n = {length}: {answers:?}");
        }
    }
    assert_in_manual(&tables::one_level(&rows));
}

#[test]
fn two_levels_are_found() {
    let rows = counts::two_levels();
    for row in rows.iter().filter(|row| row.levels.ratio >= 3.0 && row.levels.variation <= 0.1) {
        let [_, small, large] = row.answers;
        let missed = large.total() - large.two;
        assert!(missed * 50 <= large.total(), "{:?}, n = {}: {large:?}", row.levels, row.length);
        if row.length >= 20 {
            assert!(small.one * 50 <= small.total(), "{:?}, n = {}: {small:?}", row.levels, row.length);
        }
    }
    assert_in_manual(&tables::two_levels(&rows));
}

#[test]
fn intervals_hold_the_truth() {
    let rows = counts::coverage();
    for row in &rows {
        let exact = row.method == "mean, Student" && !row.skewed;
        let range = if exact { 930..=970 } else { 800..=990 };
        assert!(range.contains(&row.held), "{}, n = {}: {}", row.method, row.length, row.held);
    }
    assert_in_manual(&tables::coverage(&rows));
}
