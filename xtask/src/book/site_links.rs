//! Links of a built site lead to files and anchors that it has.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use html5gum::{Token, Tokenizer};
use percent_encoding::percent_decode_str;
use url::Url;

/// What a page has and where it points.
#[derive(Default)]
struct Page {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

/// Links that lead nowhere, each with its page.
///
/// # Errors
/// The site cannot be read, or has no links at all.
pub(super) fn violations(site: &Path) -> anyhow::Result<Vec<String>> {
    let site = site.canonicalize()?;
    let mut pages: BTreeMap<PathBuf, Page> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(&site) {
        let path = entry?.into_path();
        // The page for what is not found is shown at any address.
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

/// Why a link leads nowhere; `None` if it does not, or leads out of the site.
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
