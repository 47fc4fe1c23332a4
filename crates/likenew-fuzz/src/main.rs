//! `cargo run -p likenew-fuzz -- [INPUTS] [NAME]`: fuzzes every target, or those whose name contains NAME.

#![allow(clippy::disallowed_methods, reason = "it measures time and writes files")]

use std::process::ExitCode;

use likenew_fuzz::targets::all;
use likenew_fuzz::{Failure, fuzz};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let inputs: u64 = arguments.next().map_or(100_000, |text| text.parse().expect("a number of inputs"));
    let word = arguments.next().unwrap_or_default();
    let (mut failed, mut passes) = (false, Vec::new());
    println!(
        "{:<22} {:>8} {:>9} {:>9} {:>8} {:>9} {:>8}",
        "target", "inputs", "accepted", "refused", "seconds", "longest", "MiB"
    );
    for target in all().iter().filter(|target| target.name.contains(&word)) {
        let outcome = fuzz(target, inputs, 1);
        println!(
            "{:<22} {:>8} {:>9} {:>9} {:>8.1} {:>7.0}ms {:>8}",
            target.name,
            outcome.inputs,
            outcome.accepted,
            outcome.inputs - outcome.accepted,
            outcome.elapsed.as_secs_f64(),
            outcome.longest.as_secs_f64() * 1e3,
            outcome.memory_bytes.map_or("?".to_owned(), |bytes| (bytes >> 20).to_string()),
        );
        for (number, failure) in outcome.failures.iter().enumerate() {
            failed = true;
            report(&target.name, number, failure);
        }
        if outcome.failures.is_empty() {
            passes.push((target.name.clone(), outcome.inputs, outcome.accepted));
        }
    }
    for (name, inputs, accepted) in passes {
        println!(
            "attack: damaged inputs, {name} | {inputs} | no panic, bounded time and memory; {accepted} accepted, {} refused",
            inputs - accepted
        );
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Prints a failure, and saves its input in the temporary folder.
fn report(name: &str, number: usize, failure: &Failure) {
    let folder = std::env::temp_dir().join("likenew-fuzz");
    println!("  {}", failure.what);
    let _ = std::fs::create_dir_all(&folder);
    for (part, bytes) in failure.input.iter().enumerate() {
        let path = folder.join(format!("{}-{number}-{part}", name.replace(' ', "-")));
        match std::fs::write(&path, bytes) {
            Ok(()) => println!("    {}", path.display()),
            Err(error) => println!("    {} could not be written: {error}", path.display()),
        }
    }
}
