//! Runs all tests that attack the program on purpose, at full length. `cargo xtask attacks` writes the results into
//! docs/explanation/safety.md; `cargo xtask cuts` runs only power losses and kills.
//!
//! Such a test prints a line for each kind of attack that the program withstood: `attack: WHAT | TIMES | WHAT HELD`.
//! `make test` runs samples of the long ones.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use crate::root;

const PAGE: &str = "docs/explanation/safety.md";
const BEGIN: &str = "<!-- made by cargo xtask attacks -->\n";
const END: &str = "<!-- end of what cargo xtask attacks made -->\n";

/// Tests of power losses and kills: a package, and a part of the tests' names.
const CUTS: [(&str, &str); 4] = [
    ("likenew", "whole_cuts"),
    ("likenew-real", "whole_cuts"),
    ("likenew-real", "kills_cost_nothing"),
    ("likenew-refresh", "no_kill_and_no_loss_of_power"),
];
/// All other attacking tests.
const OTHERS: [(&str, &str); 9] = [
    ("likenew-real", "two_hundred_ways"),
    ("likenew-real", "bytes_that_somebody_reaches"),
    ("likenew-real", "bytes_that_another_file_system_shows"),
    ("likenew", "a_journal_that_somebody_has_planted"),
    ("likenew-refresh", "no_mutated_journal"),
    ("likenew-archive", "a_run_cut_off_at_any_byte"),
    ("likenew-nbd", "mutated_messages"),
    ("likenew", "every_absurd_number"),
    ("likenew", "no_output_is_written_over"),
];
/// The test that runs a short round of `likenew-fuzz`.
const FUZZ_TESTS: &str = "no_damaged_input_does_harm";

/// One kind of attack that the program withstood.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attack {
    what: String,
    times: String,
    result: String,
    test: String,
}

/// Which attacks to run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only tests with this in their names; the others keep their lines
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
}

/// Runs all power losses and kills.
pub(crate) fn cuts() -> anyhow::Result<()> {
    print!("\n{}", table(tests(&CUTS, "")?.iter().map(row)));
    Ok(())
}

/// Runs all attacks, and writes their table into the page on safety.
pub(crate) fn attacks(options: &Options) -> anyhow::Result<()> {
    let path = root().join(PAGE);
    let page = || std::fs::read_to_string(&path).with_context(|| path.display().to_string());
    // Checks now that the page has a place for the table, before an hour is spent.
    let (_, old, _) = parts(&page()?)?;
    let only = options.only.as_deref().unwrap_or_default();
    let mut attacks = tests(&CUTS, only)?;
    attacks.extend(tests(&OTHERS, only)?);
    if FUZZ_TESTS.contains(only) {
        attacks.extend(run(&["run", "--quiet", "--package", "likenew-fuzz"], FUZZ_TESTS)?);
    }
    ensure!(!attacks.is_empty(), "no attack has \"{only}\" in its name");
    let rows = if only.is_empty() { attacks.iter().map(row).collect() } else { replace_rows(&old, &attacks) };
    let (before, _, after) = parts(&page()?)?;
    std::fs::write(&path, format!("{before}{BEGIN}\n{}\n{END}{after}", table(rows)))?;
    println!("{PAGE}: {} attacks", attacks.len());
    Ok(())
}

/// Replaces the rows of tests that ran again. Rows of new tests precede those of damaged inputs.
fn replace_rows(old: &[String], attacks: &[Attack]) -> Vec<String> {
    let is_again =
        |line: &String| attacks.iter().any(|attack| line.ends_with(&format!("| `{}` |\n", attack.test)));
    let is_place = |line: &String| is_again(line) || line.contains(FUZZ_TESTS);
    let place = old.iter().position(is_place).unwrap_or(old.len());
    let (before, after) = old.split_at(place);
    let kept = after.iter().filter(|line| !is_again(line)).cloned();
    before.iter().cloned().chain(attacks.iter().map(row)).chain(kept).collect()
}

/// Runs the tests with `only` in their names, one after the other, and returns their attacks.
fn tests(tests: &[(&str, &str)], only: &str) -> anyhow::Result<Vec<Attack>> {
    let mut attacks = Vec::new();
    for (package, name) in tests.iter().filter(|(_, name)| name.contains(only)) {
        let options = ["--include-ignored", "--nocapture", "--test-threads=1"];
        let arguments = [&["test", "--package", package, name, "--"][..], &options[..]];
        let result = run(&arguments.concat(), name)?;
        ensure!(!result.is_empty(), "{package}: no test {name} has said what it tried");
        attacks.extend(result);
    }
    Ok(attacks)
}

/// Runs cargo, shows its output, and collects its attacks. `test` is the test's name until the output names one.
fn run(arguments: &[&str], test: &str) -> anyhow::Result<Vec<Attack>> {
    println!("$ cargo {}", arguments.join(" "));
    let mut child =
        Command::new("cargo").args(arguments).current_dir(root()).stdout(Stdio::piped()).spawn()?;
    let (mut attacks, mut test) = (Vec::new(), test.to_owned());
    for line in BufReader::new(child.stdout.take().expect("it is piped")).lines() {
        let line = line?;
        println!("{line}");
        let line = match test_start(&line) {
            Some((name, rest)) => {
                name.clone_into(&mut test);
                rest
            }
            None => &line,
        };
        attacks.extend(attack(line, &test)?);
    }
    if !child.wait()?.success() {
        bail!("something did not hold: cargo {}", arguments.join(" "));
    }
    Ok(attacks)
}

/// The name of a test that starts, without modules, and the rest of the line.
fn test_start(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some((name.rsplit("::").next().unwrap_or(name), rest))
}

/// Parses a line about an attack; `None` for any other line.
fn attack(line: &str, test: &str) -> anyhow::Result<Option<Attack>> {
    let Some(text) = line.strip_prefix("attack: ") else { return Ok(None) };
    let parts: Vec<&str> = text.split(" | ").map(str::trim).collect();
    let &[what, times, result] = &parts[..] else {
        bail!("{test}: not \"what | times | what held\": {line}")
    };
    let count: u64 = times.parse().with_context(|| format!("{test}: {times} is no number of times"))?;
    ensure!(count > 0, "{test}: nothing was tried");
    let (what, result, test) = (what.to_owned(), with_thousands(result), test.to_owned());
    Ok(Some(Attack { what, times: thousands(count), result, test }))
}

/// Adds commas to plain numbers in a text. A number within a word stays as it is.
fn with_thousands(text: &str) -> String {
    let word = |word: &str| word.parse().map_or_else(|_| word.to_owned(), thousands);
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// The number with commas between thousands.
fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn row(Attack { what, times, result, test }: &Attack) -> String {
    format!("| {what} | {times} | {result} | `{test}` |\n")
}

fn table(rows: impl IntoIterator<Item = String>) -> String {
    let rows: String = rows.into_iter().collect();
    format!("| attack | times | what held | test |\n|---|---:|---|---|\n{rows}")
}

/// Splits the page into the text before the table, the table's rows, and the text after it.
fn parts(page: &str) -> anyhow::Result<(String, Vec<String>, String)> {
    let split = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?)));
    let (before, (table, after)) =
        split.with_context(|| format!("{PAGE} has no place for the list: {BEGIN}"))?;
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1).map(|line| format!("{line}\n"));
    Ok((before.to_owned(), rows.collect(), after.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_says_what_it_tried_and_its_name_stands_before() {
        let (name, rest) =
            test_start("test cuts::killed::whole_cuts_sixty ... attack: kills | 1660 | no byte lost")
                .unwrap();
        let result = attack(rest, name).unwrap().unwrap();
        assert_eq!(row(&result), "| kills | 1,660 | no byte lost | `whole_cuts_sixty` |\n");
        assert_eq!(attack("test result: ok. 1 passed", name).unwrap(), None);
        let result = attack("attack: inputs | 5 | 74142 refused, 99 resumed", name).unwrap().unwrap();
        assert!(row(&result).contains("| 74,142 refused, 99 resumed |"));
        assert!(attack("attack: kills | 0 | no byte lost", name).is_err());
        assert!(attack("attack: kills | 10", name).is_err());
    }

    #[test]
    fn rows_that_were_made_again_are_replaced_and_nothing_else() {
        let attack = |what: &str, test: &str| Attack {
            what: what.into(),
            times: "1".into(),
            result: "held".into(),
            test: test.into(),
        };
        let attacks = [attack("a", "one"), attack("b", "two"), attack("c", FUZZ_TESTS)];
        let page = format!("before\n{BEGIN}\n{}\n{END}after\n", table(attacks.iter().map(row)));
        let (before, rows, after) = parts(&page).unwrap();
        assert_eq!((&*before, rows.len(), &*after), ("before\n", 3, "after\n"));
        let again = replace_rows(&rows, &[attack("d", "one")]);
        assert_eq!(again, [row(&attack("d", "one")), rows[1].clone(), rows[2].clone()]);
        let new = replace_rows(&rows, &[attack("d", "three")]);
        assert_eq!(new, [rows[0].clone(), rows[1].clone(), row(&attack("d", "three")), rows[2].clone()]);
        assert!(parts("nothing").is_err());
    }
}
