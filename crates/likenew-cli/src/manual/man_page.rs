//! Pages for man(1): one for each command, one for the program, one for all causes.

use clap_mangen::Man;
use likenew_diagnosis::ALL;
use roff::{Roff, bold, roman};

use super::{File, literal_block, markdown, of_command};
use crate::wording::help::{ABOUT, EXIT_CODES, GROUPS, SIM, TARGETS, USAGE, example_lines};
use crate::wording::manual as wording;

/// The section of commands, and that of everything else.
const COMMANDS_SECTION: &str = "1";
const OVERVIEWS_SECTION: &str = "7";

/// Every page, below `man/`.
///
/// # Errors
/// Never in practice: writing to memory.
pub(super) fn pages() -> std::io::Result<Vec<File>> {
    let grammar = super::grammar();
    let mut files = vec![program(&grammar), causes(&grammar)];
    for command in grammar.get_subcommands() {
        files.push(page(command, command.get_name())?);
        for inner in command.get_subcommands() {
            files.push(page(inner, command.get_name())?);
        }
    }
    Ok(files)
}

/// The page of the program: how a target is named, all commands, exit codes.
fn program(grammar: &clap::Command) -> File {
    let mut page = Roff::new();
    title(&mut page, grammar, "likenew", COMMANDS_SECTION);
    name(&mut page, "likenew", ABOUT);
    page.control("SH", [wording::SYNOPSIS]);
    page.text([bold("likenew"), roman(USAGE.trim_start_matches("likenew"))]);
    page.control("SH", [wording::TARGETS]);
    markdown::append(&mut page, &literal_block(TARGETS));
    page.control("SH", [wording::COMMANDS]);
    for (group, names) in GROUPS {
        page.control("SS", [group]);
        for name in names {
            let about = grammar.find_subcommand(name).map(about).unwrap_or_default();
            page.control("TP", []);
            page.text([bold(format!("likenew-{name}")), roman("(1)")]);
            page.text([roman(about)]);
        }
    }
    exit_status(&mut page);
    see_also(&mut page, &[("likenew-help", COMMANDS_SECTION), ("likenew-causes", OVERVIEWS_SECTION)]);
    file("likenew", COMMANDS_SECTION, &page.render())
}

/// The page of a command, or of a command below it. `command_name`: what it stands under, whose examples it shows.
fn page(command: &clap::Command, command_name: &str) -> std::io::Result<File> {
    let page_name = command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned();
    let mut page = Roff::new();
    title(&mut page, command, &page_name, COMMANDS_SECTION);
    name(&mut page, &page_name, &about(command));
    let man = Man::new(command.clone());
    let mut text = page.render();
    text += &section(|out| man.render_synopsis_section(out))?;
    let mut page = Roff::new();
    let is_inner = command.get_name() != command_name;
    let manual = match command_name {
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
    let examples: Vec<&str> = example_lines(command_name)
        .iter()
        .filter(|line| !is_inner || line.contains(&inner_word))
        .copied()
        .collect();
    if !examples.is_empty() {
        page.control("SH", [wording::EXAMPLES]);
        markdown::append(&mut page, &literal_block(&examples.join("\n")));
    }
    let parent = format!("likenew-{command_name}");
    let parents: &[(&str, &str)] = if is_inner { &[(&parent, COMMANDS_SECTION)] } else { &[] };
    let others = [("likenew", COMMANDS_SECTION), ("likenew-causes", OVERVIEWS_SECTION)];
    see_also(&mut page, &[parents, &others].concat());
    Ok(file(&page_name, COMMANDS_SECTION, &(text + &page.to_roff())))
}

/// One page of all causes.
fn causes(grammar: &clap::Command) -> File {
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

fn about(command: &clap::Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
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

/// A section as clap writes it, without the definition for apostrophes that begins the page already.
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
