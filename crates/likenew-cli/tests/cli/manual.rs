//! Manual pages, completions and the reference, as `likenew help --write` writes them, in the hands of the programs that read them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{CommandOutput, Sandbox, names};

fn written(sandbox: &Sandbox) -> PathBuf {
    sandbox.run(&["help", "--write", "manual"]).code(0).says("files written to manual");
    sandbox.work().join("manual")
}

/// All commands, as the overview lists them.
fn commands(sandbox: &Sandbox) -> Vec<String> {
    let overview = sandbox.run(&["--help"]).code(0).stdout();
    let lines = overview.split("TARGET is one of").next().unwrap().lines();
    let names = lines.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
    names.map(str::to_owned).collect()
}

/// The page as a reader sees it, without bold and underlined letters.
fn shown(page: &Path) -> String {
    let output = Command::new("mandoc").args(["-T", "utf8", "-O", "width=100"]).arg(page).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let mut plain: Vec<char> = Vec::new();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            // The letter before is struck over by the next one.
            '\u{8}' => {
                plain.pop();
                plain.extend(letters.next());
            }
            letter => plain.push(letter),
        }
    }
    plain.into_iter().collect()
}

#[test]
fn every_command_has_a_manual_page_with_its_options_examples_and_exit_codes() {
    let sandbox = Sandbox::new();
    let folder = written(&sandbox).join("man/man1");
    let commands = commands(&sandbox);
    assert!(commands.len() > 25, "{commands:?}");
    let overview = shown(&folder.join("likenew.1"));
    for name in commands {
        assert!(overview.contains(&format!("likenew-{name}(1)")), "likenew.1 lists no {name}");
        let page = shown(&folder.join(format!("likenew-{name}.1")));
        let help = sandbox.run(&[&name, "--help"]).code(0).stdout();
        let options = help.lines().filter(|line| line.trim_start().starts_with('-'));
        let options: BTreeSet<&str> = options
            .filter_map(|line| line.split([' ', ',', '=']).find(|word| word.starts_with("--")))
            .collect();
        assert!(options.contains("--help"), "{help}");
        for option in options {
            let at = page.find(&format!("{option} ")).or_else(|| page.find(&format!("{option}\n")));
            assert!(at.is_some(), "likenew-{name}.1 has no {option}:\n{page}");
        }
        let examples = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{help}"));
        for example in examples.lines() {
            assert!(page.contains(example.trim()), "likenew-{name}.1 has no {example}");
        }
        assert!(page.contains("done and found a problem"), "likenew-{name}.1 explains no exit codes");
    }
}

#[test]
fn no_reader_of_manual_pages_complains() {
    let sandbox = Sandbox::new();
    let folder = written(&sandbox).join("man");
    let mut pages = 0;
    for section in ["man1", "man7"] {
        for name in names(&folder.join(section)) {
            let page = folder.join(section).join(&name);
            let lint =
                Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page).output().unwrap();
            let complaints = String::from_utf8(lint.stdout).unwrap();
            // A page has no date, so that equal sources give equal pages. Lists of values have more breaks than they need:
            // so clap_mangen writes them.
            let is_meant = |line: &&str| line.contains("missing date") || line.contains("macro: br ");
            let complaints: Vec<&str> = complaints.lines().filter(|line| !is_meant(line)).collect();
            assert!(complaints.is_empty(), "{name}: {complaints:#?}");
            pages += 1;
        }
    }
    assert!(pages > 30, "{pages} pages");
    let causes = shown(&folder.join("man7/likenew-causes.7"));
    assert!(causes.contains("(slc_cache)") && causes.contains("fstrim"), "{causes}");
}

#[test]
fn each_shell_reads_its_completions() {
    let sandbox = Sandbox::new();
    let folder = written(&sandbox).join("completions");
    for (shell, file) in [("bash", "likenew"), ("zsh", "_likenew"), ("fish", "likenew.fish")] {
        let script = folder.join(shell).join(file);
        let output = CommandOutput::of(Command::new(shell).arg("-n").arg(script).stdin(Stdio::null()));
        output.code(0);
        assert_eq!(output.stderr(), "", "{shell}");
    }
}

#[test]
fn bash_completes_commands_options_and_values() {
    let sandbox = Sandbox::new();
    let script = written(&sandbox).join("completions/bash/likenew");
    let offers = |words: &[&str]| {
        let last = words.len() - 1;
        let line = words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let code = format!(
            ". '{}'; COMP_WORDS=({line}); COMP_CWORD={last}; _likenew likenew '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            script.display(),
            words[last],
            words[last - 1]
        );
        let said = CommandOutput::of(Command::new("bash").args(["--norc", "-c", &code]).stdin(Stdio::null()));
        said.code(0);
        said.stdout().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(offers(&["likenew", "che"]), ["check"]);
    assert_eq!(offers(&["likenew", "check", "--adv"]), ["--advertised"]);
    assert_eq!(offers(&["likenew", "bench", "--engine", ""]), ["auto", "uring", "posix"]);
    assert_eq!(offers(&["likenew", "sim", "s"]), ["show", "save", "serve"]);
}

#[test]
fn the_reference_lists_every_command_cause_and_drive() {
    let sandbox = Sandbox::new();
    let folder = written(&sandbox).join("reference");
    let contents = std::fs::read_to_string(folder.join("contents.md")).unwrap();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in commands(&sandbox) {
        assert!(contents.contains(&format!("](reference/commands/{name}.md)")), "{contents}");
        assert!(read("commands.md").contains(&format!("[`{name}`](commands/{name}.md)")));
        assert!(read(&format!("commands/{name}.md")).contains("## All options\n"));
    }
    assert!(read("commands/bench.md").contains("[values: auto, uring, posix]"));
    let listed = sandbox.run(&["help"]).code(0).stdout();
    let causes = names(&folder.join("causes"));
    assert!(causes.len() > 20, "{causes:?}");
    for cause in causes {
        let name = cause.strip_suffix(".md").unwrap();
        assert!(listed.contains(&format!("  {name} ")) && read("causes.md").contains(&cause), "{name}");
    }
    assert!(read("drives.md").contains("| `sim:tiny-flash` |"));
}

#[test]
fn completions_are_printed_as_they_are_written() {
    let sandbox = Sandbox::new();
    let folder = written(&sandbox).join("completions");
    for (shell, file) in [("bash", "likenew"), ("zsh", "_likenew"), ("fish", "likenew.fish")] {
        let printed = sandbox.run(&["completions", shell]).code(0).stdout();
        assert_eq!(printed, std::fs::read_to_string(folder.join(shell).join(file)).unwrap(), "{shell}");
    }
}
