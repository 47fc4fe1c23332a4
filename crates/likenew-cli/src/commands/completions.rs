//! Completions for a shell, for who installed the program without its package.

use clap::Args;
use clap_complete::Shell;

use super::{Command, grammar};
use crate::exit::{Exit, Result};
use crate::manual::completion;
use crate::output;

/// Print completions for a shell
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell, such as bash, zsh or fish
    shell: Shell,
}

impl Command for Completions {
    fn run(self) -> Result<Exit> {
        output::print(&completion(self.shell, &grammar()))?;
        Ok(Exit::Fine)
    }
}
