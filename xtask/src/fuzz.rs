//! Fuzzes every parser at full length: runs `likenew-fuzz`, and the fuzzers beside their code that compare with a
//! second implementation of the format.

use clap::Args;
use xshell::{Shell, cmd};

use crate::root;

#[derive(Args)]
pub(crate) struct Options {
    /// Damaged inputs for each target
    #[arg(long, default_value_t = Self::WHOLE.inputs)]
    inputs: u64,
    /// Only targets whose name contains this
    #[arg(long)]
    name: Option<String>,
}

impl Options {
    /// All targets at full length.
    pub(crate) const WHOLE: Self = Self { inputs: 100_000, name: None };
}

/// Crates with their own fuzzer, which always tries 100,000 inputs.
const OWN_FUZZERS: [&str; 2] = ["likenew-nbd", "likenew-refresh"];

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let (inputs, name) = (options.inputs.to_string(), options.name.as_deref().unwrap_or_default());
    // A test build checks for overflow, as a release does, and has more assertions.
    cmd!(sh, "cargo run --quiet --package likenew-fuzz -- {inputs} {name}").run()?;
    for package in OWN_FUZZERS.into_iter().filter(|package| package.contains(name)) {
        cmd!(sh, "cargo test --quiet --package {package} --lib -- mutated --nocapture").run()?;
    }
    Ok(())
}
