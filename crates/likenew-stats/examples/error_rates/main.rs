//! Prints the counted error rates of `docs/method.md`:
//! `cargo run --release -p likenew-stats --example error_rates`.

mod counts;
mod series;
mod tables;

fn main() {
    print!(
        "{}\n{}\n{}",
        tables::one_level(&counts::one_level()),
        tables::two_levels(&counts::two_levels()),
        tables::coverage(&counts::coverage())
    );
}
