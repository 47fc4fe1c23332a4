//! The methods' error rates are those in `docs/explanation/method.md`, and its tables are the counts.
//!
//! Counts that take long, mostly over long series, are left to the example.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

mod counts;
mod fits;
mod intervals;
mod knees;
mod level_changes;
mod series;
mod stalls;
mod steady;
mod tables;

use counts::{LENGTHS, SERIES};

const METHOD: &str = include_str!("../../../../docs/explanation/method.md");

fn assert_in_manual(table: &str) {
    assert!(
        METHOD.contains(table),
        "docs/explanation/method.md does not have what is counted; replace its tables by what `cargo run --release -p \
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
fn changes_from_check_to_check_are_counted() {
    assert_in_manual(&level_changes::table());
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
        let range = if row.skewed { 800..=990 } else { 930..=970 };
        assert!(range.contains(&row.coverage), "n = {}: {}", row.length, row.coverage);
    }
    assert_in_manual(&tables::coverage(&rows));
}

/// The cells of a table's rows beyond the first, with the first number of each.
fn cells(rows: &str) -> Vec<(String, Vec<f64>)> {
    let row = |row: &str| {
        let mut cells = row.trim_matches('|').split('|');
        let name = cells.next().expect("a row has a name").trim().to_owned();
        let number = |cell: &str| {
            cell.split_whitespace().next().and_then(|number| number.trim_end_matches('%').parse().ok())
        };
        (name, cells.filter_map(number).collect())
    };
    rows.lines().filter(|line| !line.starts_with("|---")).map(row).collect()
}

#[test]
fn the_mean_of_dependent_windows_is_held() {
    let rows = intervals::windows_rows(&[10, 20, 50]);
    for (name, coverage) in cells(&rows) {
        assert!(coverage[..3].iter().all(|coverage| *coverage >= 92.0), "{name}: {coverage:?}");
    }
    assert_in_manual(&(intervals::windows_head() + &rows));
}

#[test]
fn ratios_shares_rates_and_medians_are_held() {
    let (ratios, counted) = (intervals::ratios(), intervals::count_table());
    for (name, coverage) in cells(&ratios).iter().skip(1) {
        assert!(
            coverage.len() == 5 && coverage.iter().all(|coverage| *coverage >= 92.0),
            "{name}: {coverage:?}"
        );
    }
    for (name, coverage) in cells(&counted).iter().skip(1) {
        assert!(coverage.last().is_some_and(|coverage| *coverage >= 91.0), "{name}: {coverage:?}");
    }
    assert_in_manual(&ratios);
    assert_in_manual(&counted);
}

#[test]
fn an_interval_at_stopping_holds_what_it_claims() {
    let rows = intervals::stopping_rows(&intervals::GOALS[..1]);
    for (name, coverage) in cells(&rows) {
        assert!(
            coverage.len() == 7 && coverage.iter().all(|coverage| *coverage >= 93.0),
            "{name}: {coverage:?}"
        );
    }
    assert_in_manual(&(intervals::stopping_head() + &rows));
}

#[test]
fn what_has_no_knee_is_not_given_one() {
    let rows = knees::false_knees(&knees::LENGTHS[..2]);
    assert_in_manual(&knees::false_knees_head());
    for (name, counts) in rows {
        let per_mille_max = match name {
            "AR(1), φ = 0.8, 10%" => 150,
            "AR(1), φ = 0.5, 10%" | "a third at a tenth, in random order" => 40,
            _ => 15,
        };
        assert!(counts.iter().all(|count| *count <= per_mille_max), "{name}: {counts:?}");
        assert_in_manual(&knees::false_knees_row(name, &counts));
    }
}

#[test]
fn knees_are_found_where_they_are() {
    assert_in_manual(&knees::steps_head());
    for row in knees::steps(&knees::LENGTHS[..2]) {
        let what = format!("{} knees, {}, n = {}", row.knees, row.variation, row.length);
        for (found, ratio) in row.found.iter().zip(knees::RATIOS) {
            let sure = row.length >= 50 && ratio >= 1.0 + 10.0 * row.variation;
            assert!(!sure || found.found >= 950, "{what}, ratio {ratio}: {found:?}");
            assert!(found.too_many <= 10, "{what}, ratio {ratio}: {found:?}");
        }
        let sum = |of: fn(&knees::KneeCounts) -> u64| row.found.iter().map(of).sum::<u64>();
        assert!(sum(|of| of.placed) * 100 >= sum(|of| of.knees) * 93, "{what}");
        assert_in_manual(&knees::steps_row(&row));
    }
}

#[test]
fn zones_of_little_noise_are_found() {
    let rows = knees::sixteen_zones(&[240]);
    let found = cells(&rows);
    assert!(found[..2].iter().all(|(_, counts)| counts[1] >= 99.0), "{found:?}");
    assert_in_manual(&(knees::zones_head() + &rows));
}

#[test]
fn steady_state_is_what_the_rule_says() {
    assert_in_manual(&steady::table());
}

#[test]
fn stalls_are_found() {
    assert_in_manual(&stalls::head());
    for (stalling, found_min) in [(4, [99.0, 99.0]), (5, [99.0, 90.0]), (6, [99.0, 99.0])] {
        let rows = stalls::rows(stalls::StallingDrive::ALL[stalling]);
        for (line, least) in rows.lines().zip(found_min) {
            let found = line.split('|').nth(6).and_then(|cell| cell.trim().parse::<f64>().ok());
            assert!(found.is_some_and(|found| found >= least), "{line}");
        }
        assert_in_manual(&rows);
    }
}

#[test]
fn fits_and_choices_are_as_good_as_the_page_says() {
    assert_in_manual(&fits::intervals());
    assert_in_manual(&fits::choices());
}
