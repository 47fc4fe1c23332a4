//! Manual pages, shell completions and the reference in Markdown, all from the grammar of the command line and the manuals of
//! procedures and causes: nothing is said twice.

mod man_page;
mod markdown;
mod reference;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap_complete::Shell;
use likenew_procedures::all::DESCRIPTORS;

use crate::exit::Failure;
use crate::wording::manual as wording;
use crate::{arguments, output_file};

/// Writes everything into a folder, and says how many files.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(folder: &Path) -> Result<usize, Failure> {
    let files: Vec<File> = man_page::pages()
        .map_err(anyhow::Error::new)?
        .into_iter()
        .chain(completions())
        .chain(reference::pages())
        .collect();
    for File { name, text } in &files {
        let path = folder.join(name);
        let parent = path.parent().expect("a file lies in a folder");
        std::fs::create_dir_all(parent).with_context(|| wording::could_not_write(parent))?;
        output_file::write(&path, text)?;
    }
    Ok(files.len())
}

/// The manual of a command that measures, in Markdown.
pub(crate) fn of_command(name: &str) -> Option<&'static str> {
    DESCRIPTORS.iter().find(|descriptor| descriptor.name == name).map(|descriptor| descriptor.manual)
}

/// A file to write.
struct File {
    /// Below the folder.
    name: PathBuf,
    text: String,
}

impl File {
    fn new(name: impl Into<PathBuf>, text: String) -> Self {
        Self { name: name.into(), text }
    }
}

/// Completions, under the names by which each shell finds them.
fn completions() -> impl Iterator<Item = File> {
    [(Shell::Bash, "likenew"), (Shell::Zsh, "_likenew"), (Shell::Fish, "likenew.fish")].into_iter().map(
        |(shell, name)| {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut arguments::command(), "likenew", &mut script);
            let script = String::from_utf8(script).expect("clap writes UTF-8");
            File::new(Path::new("completions").join(shell.to_string()).join(name), script)
        },
    )
}

/// A grammar whose options all explain themselves: `-h` leaves some out, and so would the pages.
fn grammar() -> clap::Command {
    let mut command = arguments::command();
    command.build();
    explain_all(command)
}

fn explain_all(command: clap::Command) -> clap::Command {
    command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(explain_all)
}

/// Lines that a page shows as they are, such as how to name a target.
fn literal_block(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim_end())
}
