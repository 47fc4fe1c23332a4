//! Writes manual pages, shell completions and the reference in Markdown. All come from the grammar
//! of the command line and from the manuals of procedures and causes.

mod markdown;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Arg;
use clap_complete::Shell;
use clap_mangen::Man;
use indexmap::IndexMap;
use likenew_core::units::amount;
use likenew_diagnosis::{ALL, Cause};
use likenew_procedures::all::PROCEDURES;
use likenew_sim::catalog;
use roff::{Roff, bold, roman};

use crate::exit::Result;
use crate::output_file;
use crate::wording::help::{ABOUT, EXIT_CODES, ListedCommand, SIM, TARGETS, USAGE, groups};
use crate::wording::manual as wording;

/// Writes everything into a folder, and returns the number of files.
///
/// # Errors
/// A file cannot be written.
pub(crate) fn write(folder: &Path, grammar: &clap::Command, listed: &[ListedCommand]) -> Result<usize> {
    let explained = explain_all(grammar);
    let files: Vec<File> = man_pages(&explained, listed)
        .map_err(anyhow::Error::new)?
        .into_iter()
        .chain(completions(grammar))
        .chain(reference_pages(&explained, listed))
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
    PROCEDURES.iter().find(|row| row.descriptor.name == name).map(|row| row.descriptor.manual)
}

/// A file to write.
struct File {
    /// Path below the folder.
    name: PathBuf,
    text: String,
}

impl File {
    fn new(name: impl Into<PathBuf>, text: String) -> Self {
        Self { name: name.into(), text }
    }
}

/// Completions, under the names by which each shell finds them.
fn completions(grammar: &clap::Command) -> impl Iterator<Item = File> {
    [(Shell::Bash, "likenew"), (Shell::Zsh, "_likenew"), (Shell::Fish, "likenew.fish")].into_iter().map(
        move |(shell, name)| {
            File::new(Path::new("completions").join(shell.to_string()).join(name), completion(shell, grammar))
        },
    )
}

/// The completions of a shell, as its own script.
pub(crate) fn completion(shell: Shell, grammar: &clap::Command) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut grammar.clone(), "likenew", &mut script);
    String::from_utf8(script).expect("clap writes UTF-8")
}

/// The grammar with all options shown: `-h` hides some, and so would the pages.
fn explain_all(grammar: &clap::Command) -> clap::Command {
    fn explain(command: clap::Command) -> clap::Command {
        command.mut_args(|argument| argument.hide_short_help(false)).mut_subcommands(explain)
    }
    let mut built = grammar.clone();
    built.build();
    explain(built)
}

/// What a command is for, in a line.
fn about(command: &clap::Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Lines that a page shows as they are, such as how to name a target.
fn literal_block(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim_end())
}

/// Each command with its grammar.
fn with_grammar<'a>(
    listed: &'a [ListedCommand],
    grammar: &'a clap::Command,
) -> impl Iterator<Item = (&'a clap::Command, &'a ListedCommand)> {
    let command = |name| grammar.find_subcommand(name).expect("every command has a grammar");
    listed.iter().map(move |listed| (command(listed.name), listed))
}

/// Sections of commands, and of everything else.
const COMMANDS_SECTION: &str = "1";
const OVERVIEWS_SECTION: &str = "7";

/// Every manual page, below `man/`.
///
/// # Errors
/// None in practice: it writes to memory.
fn man_pages(grammar: &clap::Command, listed: &[ListedCommand]) -> std::io::Result<Vec<File>> {
    let mut files = vec![program_page(grammar, listed), causes_page(grammar)];
    for (command, listed) in with_grammar(listed, grammar) {
        files.push(command_page(command, listed)?);
        for inner in command.get_subcommands() {
            files.push(command_page(inner, listed)?);
        }
    }
    Ok(files)
}

/// The page of the program: how a target is named, all commands, exit codes.
fn program_page(grammar: &clap::Command, listed: &[ListedCommand]) -> File {
    let mut page = Roff::new();
    title(&mut page, grammar, "likenew", COMMANDS_SECTION);
    name(&mut page, "likenew", ABOUT);
    page.control("SH", [wording::SYNOPSIS]);
    page.text([bold("likenew"), roman(USAGE.trim_start_matches("likenew"))]);
    page.control("SH", [wording::TARGETS]);
    markdown::append(&mut page, &literal_block(TARGETS));
    page.control("SH", [wording::COMMANDS]);
    for group in groups(listed) {
        page.control("SS", [group[0].group]);
        for (command, ListedCommand { name, .. }) in with_grammar(group, grammar) {
            page.control("TP", []);
            page.text([bold(format!("likenew-{name}")), roman("(1)")]);
            page.text([roman(about(command))]);
        }
    }
    exit_status(&mut page);
    see_also(&mut page, &[("likenew-help", COMMANDS_SECTION), ("likenew-causes", OVERVIEWS_SECTION)]);
    file("likenew", COMMANDS_SECTION, &page.render())
}

/// The page of a listed command, or of a subcommand of it.
fn command_page(command: &clap::Command, listed: &ListedCommand) -> std::io::Result<File> {
    let page_name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Roff::new();
    title(&mut page, command, &page_name, COMMANDS_SECTION);
    name(&mut page, &page_name, &about(command));
    let man = Man::new(command.clone());
    let mut text = page.render();
    text += &section(|out| man.render_synopsis_section(out))?;
    let mut page = Roff::new();
    let is_inner = command.get_name() != listed.name;
    let manual = match listed.name {
        _ if is_inner => None,
        "sim" => Some(literal_block(SIM)),
        name => of_command(name).map(str::to_owned),
    };
    if let Some(manual) = manual {
        page.control("SH", [wording::DESCRIPTION]);
        markdown::append(&mut page, &manual);
    }
    text += &page.to_roff();
    text += &section(|out| man.render_options_section(out))?;
    if command.has_subcommands() {
        text += &section(|out| man.render_subcommands_section(out))?;
    }
    let mut page = Roff::new();
    exit_status(&mut page);
    let inner_word = format!(" {} ", command.get_name());
    let is_shown = |line: &&str| !is_inner || line.contains(&inner_word);
    let examples: Vec<&str> = listed.examples.iter().copied().filter(is_shown).collect();
    if !examples.is_empty() {
        page.control("SH", [wording::EXAMPLES]);
        markdown::append(&mut page, &literal_block(&examples.join("\n")));
    }
    let parent = format!("likenew-{}", listed.name);
    let parents: &[(&str, &str)] = if is_inner { &[(&parent, COMMANDS_SECTION)] } else { &[] };
    let others = [("likenew", COMMANDS_SECTION), ("likenew-causes", OVERVIEWS_SECTION)];
    see_also(&mut page, &[parents, &others].concat());
    Ok(file(&page_name, COMMANDS_SECTION, &(text + &page.to_roff())))
}

/// One page of all causes.
fn causes_page(grammar: &clap::Command) -> File {
    let mut page = Roff::new();
    title(&mut page, grammar, "likenew-causes", OVERVIEWS_SECTION);
    name(&mut page, "likenew-causes", wording::CAUSES);
    for cause in ALL {
        let title = markdown::title(cause.manual).unwrap_or_default();
        page.control("SH", [wording::cause(cause.name, &title).as_str()]);
        markdown::append(&mut page, cause.manual);
    }
    see_also(&mut page, &[("likenew", COMMANDS_SECTION), ("likenew-check", COMMANDS_SECTION)]);
    file("likenew-causes", OVERVIEWS_SECTION, &page.render())
}

fn title(page: &mut Roff, command: &clap::Command, page_name: &str, section: &str) {
    /// No date: equal sources give equal pages.
    const NO_DATE: &str = "\"\"";
    let source = format!("likenew {}", command.get_version().unwrap_or(env!("CARGO_PKG_VERSION")));
    page.control("TH", [page_name.to_uppercase().as_str(), section, NO_DATE, &source, wording::MANUAL]);
}

fn name(page: &mut Roff, name: &str, about: &str) {
    page.control("SH", [wording::NAME]);
    page.text([roman(format!("{name} - {}", about.trim_end_matches('.')))]);
}

fn exit_status(page: &mut Roff) {
    page.control("SH", [wording::EXIT_STATUS]);
    for (exit, meaning) in EXIT_CODES {
        page.control("TP", []);
        page.text([bold(exit.to_string())]);
        page.text([roman(meaning)]);
    }
}

fn see_also(page: &mut Roff, pages: &[(&str, &str)]) {
    page.control("SH", [wording::SEE_ALSO]);
    for (index, (name, section)) in pages.iter().enumerate() {
        let comma = if index + 1 < pages.len() { "," } else { "" };
        page.text([bold(*name), roman(format!("({section}){comma}"))]);
    }
}

/// A section as clap writes it, without the definition for apostrophes, which begins the page already.
fn section(render: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> std::io::Result<String> {
    let mut out = Vec::new();
    render(&mut out)?;
    let text = String::from_utf8(out).expect("clap writes UTF-8");
    Ok(text.trim_start_matches(Roff::new().render().as_str()).to_owned())
}

fn file(name: &str, section: &str, text: &str) -> File {
    // The first line asks for tbl, which draws the tables.
    File::new(format!("man/man{section}/{name}.{section}"), format!("'\\\" t\n{text}"))
}

/// Every page of the reference, below `reference/`, and `contents.md`, which lists them.
fn reference_pages(grammar: &clap::Command, listed: &[ListedCommand]) -> Vec<File> {
    let mut pages = vec![commands_reference(grammar, listed)];
    pages.extend(with_grammar(listed, grammar).map(|(command, listed)| command_reference(command, listed)));
    pages.push(causes_reference());
    let cause_page =
        |cause: &&Cause| File::new(format!("reference/causes/{}.md", cause.name), cause.manual.to_owned());
    pages.extend(ALL.iter().map(cause_page));
    pages.push(drives_reference());
    let contents = pages.iter().map(contents_line).collect();
    pages.push(File::new("reference/contents.md", contents));
    pages
}

/// The entry of a page in a table of contents. Pages in a folder are indented below the page of its name.
fn contents_line(page: &File) -> String {
    let path = page.name.display();
    let title = markdown::title(&page.text).unwrap_or_default();
    let indent = if page.name.components().count() > 2 { "  " } else { "" };
    format!("{indent}- [{title}]({path})\n")
}

fn commands_reference(grammar: &clap::Command, listed: &[ListedCommand]) -> File {
    let mut text = format!("# {}\n\n{}\n", wording::COMMANDS_TITLE, wording::COMMANDS_INTRODUCTION);
    for group in groups(listed) {
        text += &format!("\n## {}\n\n", group[0].group);
        for (command, ListedCommand { name, .. }) in with_grammar(group, grammar) {
            text += &format!("- [`{name}`](commands/{name}.md): {}\n", about(command));
        }
    }
    File::new("reference/commands.md", text)
}

fn command_reference(command: &clap::Command, listed: &ListedCommand) -> File {
    let name = listed.name;
    let about_command = about(command);
    let mut text = match of_command(name) {
        Some(manual) => manual.trim_end().to_owned() + "\n",
        None => format!("# likenew {name}\n\n{about_command}\n"),
    };
    if name == "sim" {
        text += &format!("\n## {}\n\n{}", wording::SETTINGS, literal_block(SIM));
    }
    text += &format!("\n## {}\n", wording::ALL_OPTIONS);
    text += &options(command);
    for inner in command.get_subcommands() {
        text += &format!("\n### likenew {name} {}\n\n{}\n{}", inner.get_name(), about(inner), options(inner));
    }
    text += &format!("\n## {}\n\n", sentence_case(wording::EXAMPLES));
    text += &literal_block(&listed.examples.join("\n"));
    File::new(format!("reference/commands/{name}.md"), text)
}

/// The usage line, and a list of all options by heading.
fn options(command: &clap::Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let mut text = format!("\n{}", literal_block(usage.trim_start_matches("Usage: ")));
    let mut by_heading: IndexMap<Option<&str>, String> = IndexMap::new();
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        *by_heading.entry(argument.get_help_heading()).or_default() += &option(argument);
    }
    for (heading, options) in by_heading {
        text += &heading.map_or_else(|| "\n".to_owned(), |heading| format!("\n**{heading}**\n\n"));
        text += &options;
    }
    text
}

fn option(argument: &Arg) -> String {
    let short = argument.get_short().map(|short| format!("-{short}, ")).unwrap_or_default();
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default().replace('<', "&lt;");
    let mut text = format!("- `{short}{argument}`: {help}");
    if argument.get_action().takes_values() {
        let defaults: Vec<String> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
        if defaults.iter().any(|value| !value.is_empty()) && !argument.is_hide_default_value_set() {
            text += &format!(" [default: {}]", defaults.join(","));
        }
        let values = argument.get_possible_values();
        let values: Vec<&str> =
            values.iter().filter(|value| !value.is_hide_set()).map(|value| value.get_name()).collect();
        if !values.is_empty() {
            text += &format!(" [values: {}]", values.join(", "));
        }
    }
    text + "\n"
}

fn causes_reference() -> File {
    let mut text = format!("# {}\n\n{}\n\n", wording::CAUSES_TITLE, wording::CAUSES_INTRODUCTION);
    for cause in ALL {
        text += &format!("- [`{0}`](causes/{0}.md): {1}\n", cause.name, cause.summary);
    }
    File::new("reference/causes.md", text)
}

fn drives_reference() -> File {
    let mut text = format!("# {}\n\n{}\n\n", wording::DRIVES_TITLE, wording::DRIVES_INTRODUCTION);
    text += wording::DRIVES_HEADER;
    for entry in catalog() {
        let model = &entry.model;
        text += &format!(
            "| `sim:{}` | {} | {} | {} |\n",
            entry.name,
            amount(model.capacity_bytes),
            model.model,
            model.technology
        );
    }
    text += &format!("\n## {}\n\n{}", wording::SETTINGS, literal_block(SIM));
    File::new("reference/drives.md", text)
}

/// Turns a heading of a manual page into one of Markdown.
fn sentence_case(heading: &str) -> String {
    heading[..1].to_owned() + &heading[1..].to_lowercase()
}
