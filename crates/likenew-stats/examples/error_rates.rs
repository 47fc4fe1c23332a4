//! Prints the counted error rates of `docs/explanation/method.md`:
//! `cargo run --release -p likenew-stats --example error_rates`.

#[path = "../tests/error_rates/counts.rs"]
mod counts;
#[path = "../tests/error_rates/fits.rs"]
mod fits;
#[path = "../tests/error_rates/intervals.rs"]
mod intervals;
#[path = "../tests/error_rates/knees.rs"]
mod knees;
#[path = "../tests/error_rates/level_changes.rs"]
mod level_changes;
#[path = "../tests/error_rates/series.rs"]
mod series;
#[path = "../tests/error_rates/stalls.rs"]
mod stalls;
#[path = "../tests/error_rates/steady.rs"]
mod steady;
#[path = "../tests/error_rates/tables.rs"]
mod tables;

use std::thread;

/// The tables, in the order of the page.
const TABLES: [fn() -> String; 14] = [
    || tables::coverage(&counts::coverage()),
    || intervals::windows_head() + &intervals::windows_rows(&[10, 20, 50, 200, 1000]),
    intervals::ratios,
    intervals::count_table,
    fits::intervals,
    fits::choices,
    level_changes::table,
    || intervals::stopping_head() + &intervals::stopping_rows(&intervals::GOALS),
    || tables::one_level(&counts::one_level()),
    || tables::two_levels(&counts::two_levels()),
    || {
        let rows = knees::false_knees(&knees::LENGTHS);
        let rows = rows.iter().map(|(name, counts)| knees::false_knees_row(name, counts) + "\n");
        knees::false_knees_head()
            + &rows.collect::<String>()
            + "\n"
            + &knees::zones_head()
            + &knees::sixteen_zones(&[240, 960])
    },
    || {
        let rows = knees::steps(&knees::LENGTHS);
        knees::steps_head() + &rows.iter().map(|row| knees::steps_row(row) + "\n").collect::<String>()
    },
    steady::table,
    || stalls::head() + &stalls::StallingDrive::ALL.map(stalls::rows).concat(),
];

fn main() {
    // Counted in parallel, printed in the order of the page.
    let counting = TABLES.map(thread::spawn);
    for table in counting {
        println!("{}", table.join().expect("a table can be counted"));
    }
}
