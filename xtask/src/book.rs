//! Builds the documentation as a site in `target/book`: pages of the repository, in the same layout so that links work
//! in both, and the reference that the program writes. Then checks that all links lead to existing files and anchors.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use html5gum::{Token, Tokenizer};
use percent_encoding::percent_decode_str;
use url::Url;
use xshell::{Shell, cmd};

use super::{root, target};

const MDBOOK_VERSION: &str = "0.5.4";
/// Folders and files of the repository that are pages, or that pages link to.
const SOURCES: [&str; 11] = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "GLOSSARY.md",
    "apps",
    "catalog",
    "docs",
    "python/README.md",
    "python/notebooks",
    "schema",
];
/// No pages, but pages link to them.
const LINKED_SOURCES: [&str; 3] = ["contrib", "crates/likenew-real/src/erase/deny.toml", "python/studies"];
/// Left out: a corpus for reviewers.
const LEFT_OUT: &str = "docs/messages";
/// Link targets and where the site has them: manuals beside sources, tables of contents, pages shown for their folder.
const MOVED: [(&str, &str); 8] = [
    ("../../crates/likenew-diagnosis/src/causes/", "../reference/causes/"),
    ("../../crates/likenew-measuring/src/", "../reference/commands/"),
    ("../../crates/likenew-restoring/src/", "../reference/commands/"),
    ("../../crates/likenew-explaining/src/", "../reference/commands/"),
    ("](docs/SUMMARY.md)", "](toc.html)"),
    ("](SUMMARY.md)", "](../toc.html)"),
    ("README.md)", "index.md)"),
    ("README.md#", "index.md#"),
];
/// Pages about the project itself, at the end of the site.
const PROJECT_PAGES: &str = "\
# Project

- [The Python package](python/README.md)
- [Architecture](ARCHITECTURE.md)
- [Glossary](GLOSSARY.md)
- [Contributing](CONTRIBUTING.md)
- [Changes](CHANGELOG.md)
- [The catalog of simulated drives](catalog/README.md)
- [Applications as files](apps/README.md)
";

#[derive(clap::Args)]
pub(crate) struct Options {
    /// The program that writes the reference [default: one that is built now]
    #[arg(long, value_name = "FILE")]
    likenew: Option<PathBuf>,
}

impl Options {
    /// Uses a program that is already built.
    pub(crate) fn with_program(likenew: PathBuf) -> Self {
        Self { likenew: Some(likenew) }
    }
}

/// Builds the site, and checks its links.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let sh = Shell::new()?;
    sh.change_dir(root());
    let mdbook = mdbook(&sh)?;
    let (folder, site) = (target().join("book-source"), target().join("book"));
    sh.remove_path(&folder)?;
    sh.remove_path(&site)?;
    let source = folder.join("src");
    for name in SOURCES.into_iter().chain(LINKED_SOURCES) {
        copy(&root(), Path::new(name), &source)?;
    }
    sh.copy_file("docs/book.toml", folder.join("book.toml"))?;
    let pages = folder.join("pages");
    let written = match &options.likenew {
        Some(likenew) => cmd!(sh, "{likenew} help --write {pages}"),
        None => cmd!(sh, "cargo run --quiet --package likenew -- help --write {pages}"),
    };
    written.quiet().ignore_stdout().run()?;
    copy(&pages, Path::new("reference"), &source.join("docs"))?;
    std::fs::remove_file(source.join("docs/reference/contents.md"))?;
    let contents = std::fs::read_to_string(pages.join("reference/contents.md"))?;
    let summary = std::fs::read_to_string(root().join("docs/SUMMARY.md"))?;
    std::fs::write(source.join("SUMMARY.md"), site_summary(&summary, &contents)?)?;
    cmd!(sh, "{mdbook} build {folder} --dest-dir {site}").env("RUST_LOG", "warn").quiet().run()?;
    let violations = violations(&site)?;
    anyhow::ensure!(violations.is_empty(), "links of the site lead nowhere:\n{}", violations.join("\n"));
    println!("open {} in a browser", site.join("index.html").display());
    Ok(())
}

/// Returns mdbook, which is compiled once, without its preview server.
fn mdbook(sh: &Shell) -> anyhow::Result<PathBuf> {
    let folder = target().join("tools");
    let program = folder.join("bin/mdbook");
    let version = cmd!(sh, "{program} --version").quiet().ignore_stderr().read();
    if version.is_ok_and(|version| version.ends_with(MDBOOK_VERSION)) {
        return Ok(program);
    }
    println!("compiling mdbook {MDBOOK_VERSION}, once");
    cmd!(sh, "cargo install mdbook --quiet --version {MDBOOK_VERSION} --locked --no-default-features --features search --root {folder}")
        .run()?;
    Ok(program)
}

/// Copies a file or folder to the same place below `to`. In pages, links are adapted to the site.
fn copy(from: &Path, name: &Path, to: &Path) -> anyhow::Result<()> {
    let files = walkdir::WalkDir::new(from.join(name))
        .into_iter()
        .filter_entry(|entry| entry.path().strip_prefix(from).is_ok_and(|path| path != Path::new(LEFT_OUT)));
    for entry in files {
        let entry = entry?;
        if !entry.file_type().is_file() {
            continue;
        }
        let copy = to.join(entry.path().strip_prefix(from)?);
        std::fs::create_dir_all(copy.parent().expect("a file lies in a folder"))?;
        if entry.path().extension().is_some_and(|extension| extension == "md") {
            let text = std::fs::read_to_string(entry.path())?;
            std::fs::write(copy, MOVED.iter().fold(text, |text, (here, there)| text.replace(here, there)))?;
        } else {
            std::fs::copy(entry.path(), copy)?;
        }
    }
    Ok(())
}

/// The site's table of contents: that of `docs/`, with the generated pages.
fn site_summary(summary: &str, contents: &str) -> anyhow::Result<String> {
    const REFERENCE: &str = "# Reference\n\n";
    let (before, after) = summary.split_once(REFERENCE).context("docs/SUMMARY.md has no reference")?;
    let pages = before.to_owned() + REFERENCE + contents + after;
    let pages = pages.replace("](", "](docs/").replacen("\n\n", "\n\n[Likenew](README.md)\n\n", 1);
    Ok(format!("{pages}\n{PROJECT_PAGES}"))
}

/// Anchors and links of a page.
#[derive(Default)]
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

/// Finds broken links, with their pages.
///
/// # Errors
/// The site cannot be read, or has no links.
pub(super) fn violations(site: &Path) -> anyhow::Result<Vec<String>> {
    let site = site.canonicalize()?;
    let mut pages: BTreeMap<PathBuf, Page> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&site) {
        let path = entry?.into_path();
        // The page for missing addresses is shown at any address, so its relative links vary.
        if path.extension().is_some_and(|extension| extension == "html") && !path.ends_with("404.html") {
            pages.insert(path.clone(), read(&std::fs::read_to_string(&path)?));
        }
    }
    let count: usize = pages.values().map(|page| page.links.len()).sum();
    anyhow::ensure!(count > 0, "{} has no links", site.display());
    let mut violations = Vec::new();
    for (path, page) in &pages {
        for link in &page.links {
            if let Some(reason) = broken(&pages, path, link)? {
                violations.push(format!("{}: {link}: {reason}", path.strip_prefix(&site)?.display()));
            }
        }
    }
    println!("{count} links on {} pages checked", pages.len());
    Ok(violations)
}

fn read(html: &str) -> Page {
    let mut page = Page::default();
    for token in Tokenizer::new(html) {
        let Ok(Token::StartTag(tag)) = token else { continue };
        for (name, value) in &tag.attributes {
            let value = String::from_utf8_lossy(&value.value.0).into_owned();
            match &name.0[..] {
                b"id" | b"name" => {
                    page.anchors.insert(value);
                }
                b"href" | b"src" => page.links.push(value),
                _ => {}
            }
        }
    }
    page
}

/// Why a link is broken; `None` if it works or leaves the site.
fn broken(pages: &BTreeMap<PathBuf, Page>, page: &Path, link: &str) -> anyhow::Result<Option<&'static str>> {
    let base = Url::from_file_path(page).ok().context("a page has an absolute path")?;
    let Ok(address) = base.join(link) else { return Ok(Some("this is no address")) };
    if address.scheme() != "file" {
        return Ok(None);
    }
    let Ok(file) = address.to_file_path() else { return Ok(Some("this is no file")) };
    let file = if file.is_dir() { file.join("index.html") } else { file };
    if !file.is_file() {
        return Ok(Some("there is no such file"));
    }
    let Some(anchor) = address.fragment().filter(|anchor| !anchor.is_empty()) else { return Ok(None) };
    let anchor = percent_decode_str(anchor).decode_utf8_lossy();
    let has_anchor = pages.get(&file).is_none_or(|page| page.anchors.contains(anchor.as_ref()));
    Ok((!has_anchor).then_some("there is no such anchor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contents_begin_with_the_project_and_hold_what_the_program_wrote() {
        let summary =
            "# Summary\n\n[Documentation](README.md)\n\n# Reference\n\n- [Facts](reference/facts.md)\n";
        let site = site_summary(summary, "- [Commands](reference/commands.md)\n").unwrap();
        let begin = "# Summary\n\n[Likenew](README.md)\n\n[Documentation](docs/README.md)\n\n# Reference\n\n\
                     - [Commands](docs/reference/commands.md)\n- [Facts](docs/reference/facts.md)\n\n# Project\n";
        assert!(site.starts_with(begin), "{site}");
    }

    #[test]
    fn missing_files_and_anchors_are_found_and_others_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, html: &str| std::fs::write(folder.path().join(name), html).unwrap();
        write(
            "a.html",
            r##"<h1 id="größe">A</h1><a href="b.html#two">b</a><a href="#gr%C3%B6%C3%9Fe">a</a>"##,
        );
        write(
            "b.html",
            r#"<p id=two><a href="a.html#none">a</a><img src="no.png"><a href="https://example.org/x">"#,
        );
        assert_eq!(
            violations(folder.path()).unwrap(),
            ["b.html: a.html#none: there is no such anchor", "b.html: no.png: there is no such file"]
        );
    }
}
