//! All tests that attack the program on purpose, at full length. `cargo xtask attacks` writes the attacks,
//! their numbers and what held into docs/explanation/safety.md; `cargo xtask cuts` runs only the power losses
//! and kills.
//!
//! A test that attacks prints one line for each kind of attack that held: `attack: WHAT | TIMES | WHAT HELD`.
//! `make test` runs samples of the long ones.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

use crate::root;

const PAGE: &str = "docs/explanation/safety.md";
const BEGIN: &str = "<!-- made by cargo xtask attacks -->\n";
const END: &str = "<!-- end of what cargo xtask attacks made -->\n";

/// Tests of power losses and kills: a package, and a part of their names.
const CUTS: [(&str, &str); 4] = [
    ("likenew", "whole_cuts"),
    ("likenew-real", "whole_cuts"),
    ("likenew-real", "kills_cost_nothing"),
    ("likenew-refresh", "no_kill_and_no_loss_of_power"),
];
/// All other tests that attack.
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

/// One kind of attack that held.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Attack {
    what: String,
    times: String,
    result: String,
    test: String,
}

/// Runs every power loss and every kill.
pub(crate) fn cuts() -> anyhow::Result<()> {
    let attacks = tests(&CUTS)?;
    print!("\n{}", table(&attacks));
    Ok(())
}

/// Runs everything, and writes the list into the page about safety.
pub(crate) fn attacks() -> anyhow::Result<()> {
    let path = root().join(PAGE);
    let page = || std::fs::read_to_string(&path).with_context(|| path.display().to_string());
    // Before an hour is spent: checks that there is a place for it.
    replace_table(&page()?, "")?;
    let mut attacks = tests(&CUTS)?;
    attacks.extend(tests(&OTHERS)?);
    attacks.extend(run(&["run", "--quiet", "--package", "likenew-fuzz"], FUZZ_TESTS)?);
    std::fs::write(&path, replace_table(&page()?, &table(&attacks))?)?;
    println!("{PAGE}: {} attacks", attacks.len());
    Ok(())
}

/// Runs tests one after the other, and returns the attacks that held.
fn tests(of: &[(&str, &str)]) -> anyhow::Result<Vec<Attack>> {
    let mut attacks = Vec::new();
    for (package, name) in of {
        let options = ["--include-ignored", "--nocapture", "--test-threads=1"];
        let arguments = [&["test", "--package", package, name, "--"][..], &options[..]];
        let result = run(&arguments.concat(), name)?;
        ensure!(!result.is_empty(), "{package}: no test {name} has said what it tried");
        attacks.extend(result);
    }
    Ok(attacks)
}

/// Runs cargo, shows its output, and collects the lines about attacks; `test` is the name before any test has
/// begun.
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

/// The name of a test that begins, without its modules, and the rest of the line.
fn test_start(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    Some((name.rsplit("::").next().unwrap_or(name), rest))
}

/// The attack in a line, if there is one.
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

/// The text with its plain numbers as [`thousands`] has them; a number inside of a word stays as it is.
fn with_thousands(text: &str) -> String {
    let word = |word: &str| word.parse().map_or_else(|_| word.to_owned(), thousands);
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

/// With a comma between thousands.
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

fn table(attacks: &[Attack]) -> String {
    let row = |Attack { what, times, result, test }: &Attack| {
        format!("| {what} | {times} | {result} | `{test}` |\n")
    };
    let rows: String = attacks.iter().map(row).collect();
    format!("| attack | times | what held | test |\n|---|---:|---|---|\n{rows}")
}

/// The page with this table in place of the last one.
fn replace_table(page: &str, table: &str) -> anyhow::Result<String> {
    let split = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let (before, after) = split.with_context(|| format!("{PAGE} has no place for the list: {BEGIN}"))?;
    Ok(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
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
        assert_eq!(
            table(&[result]).lines().last(),
            Some("| kills | 1,660 | no byte lost | `whole_cuts_sixty` |")
        );
        assert_eq!(attack("test result: ok. 1 passed", name).unwrap(), None);
        let result = attack("attack: inputs | 5 | 74142 refused, 99 resumed", name).unwrap().unwrap();
        assert!(table(&[result]).contains("| 74,142 refused, 99 resumed |"));
        assert!(attack("attack: kills | 0 | no byte lost", name).is_err());
        assert!(attack("attack: kills | 10", name).is_err());
    }

    #[test]
    fn the_list_is_replaced_and_nothing_else() {
        let page = format!("before\n{BEGIN}\nold\n\n{END}after\n");
        let made = replace_table(&page, "new\n").unwrap();
        assert_eq!(made, format!("before\n{BEGIN}\nnew\n\n{END}after\n"));
        assert_eq!(replace_table(&made, "new\n").unwrap(), made);
        assert!(replace_table("nothing", "new\n").is_err());
    }
}
