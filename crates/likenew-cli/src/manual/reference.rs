//! The reference in Markdown: commands with their options, causes, simulated drives, and a table of contents.

use clap::Arg;
use likenew_core::units::amount;
use likenew_diagnosis::ALL;
use likenew_sim::catalog;

use super::{File, literal_block, markdown, of_command};
use crate::wording::help::{GROUPS, SIM, example_lines};
use crate::wording::manual as wording;

/// Every page, below `reference/`, and `contents.md`, which lists them.
pub(super) fn pages() -> Vec<File> {
    let grammar = super::grammar();
    let mut pages = vec![commands(&grammar)];
    pages.extend(grammar.get_subcommands().map(command));
    pages.push(causes());
    pages.extend(
        ALL.iter()
            .map(|cause| File::new(format!("reference/causes/{}.md", cause.name), cause.manual.to_owned())),
    );
    pages.push(drives());
    let contents = pages.iter().map(contents_line).collect();
    pages.push(File::new("reference/contents.md", contents));
    pages
}

/// The entry of a page in a table of contents; pages in a folder stand below the page of its name.
fn contents_line(page: &File) -> String {
    let path = page.name.display();
    let title = markdown::title(&page.text).unwrap_or_default();
    let indent = if page.name.components().count() > 2 { "  " } else { "" };
    format!("{indent}- [{title}]({path})\n")
}

fn commands(grammar: &clap::Command) -> File {
    let mut text = format!("# {}\n\n{}\n", wording::COMMANDS_TITLE, wording::COMMANDS_INTRODUCTION);
    for (group, names) in GROUPS {
        text += &format!("\n## {group}\n\n");
        for name in names {
            let about = grammar.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            text += &format!("- [`{name}`](commands/{name}.md): {about}\n");
        }
    }
    File::new("reference/commands.md", text)
}

fn command(command: &clap::Command) -> File {
    let name = command.get_name();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let mut text = match of_command(name) {
        Some(manual) => manual.trim_end().to_owned() + "\n",
        None => format!("# likenew {name}\n\n{about}\n"),
    };
    if name == "sim" {
        text += &format!("\n## {}\n\n{}", wording::SETTINGS, literal_block(SIM));
    }
    text += &format!("\n## {}\n", wording::ALL_OPTIONS);
    text += &options(command);
    for inner in command.get_subcommands() {
        let about = inner.get_about().map(ToString::to_string).unwrap_or_default();
        text += &format!("\n### likenew {name} {}\n\n{about}\n{}", inner.get_name(), options(inner));
    }
    text += &format!("\n## {}\n\n", sentence_case(wording::EXAMPLES));
    text += &literal_block(&example_lines(name).join("\n"));
    File::new(format!("reference/commands/{name}.md"), text)
}

/// The usage line, and all options as a list, those of a heading together.
fn options(command: &clap::Command) -> String {
    let usage = command.clone().render_usage().to_string();
    let mut text = format!("\n{}", literal_block(usage.trim_start_matches("Usage: ")));
    let shown: Vec<&Arg> = command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
    let mut headings: Vec<Option<&str>> = Vec::new();
    for heading in shown.iter().map(|argument| argument.get_help_heading()) {
        if !headings.contains(&heading) {
            headings.push(heading);
        }
    }
    for heading in headings {
        text += &heading.map_or_else(|| "\n".to_owned(), |heading| format!("\n**{heading}**\n\n"));
        for argument in shown.iter().filter(|argument| argument.get_help_heading() == heading) {
            text += &option(argument);
        }
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

fn causes() -> File {
    let mut text = format!("# {}\n\n{}\n\n", wording::CAUSES_TITLE, wording::CAUSES_INTRODUCTION);
    for cause in ALL {
        text += &format!("- [`{0}`](causes/{0}.md): {1}\n", cause.name, cause.summary);
    }
    File::new("reference/causes.md", text)
}

fn drives() -> File {
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

/// A heading of manual pages as one of Markdown.
fn sentence_case(heading: &str) -> String {
    heading[..1].to_owned() + &heading[1..].to_lowercase()
}
