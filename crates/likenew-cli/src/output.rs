//! Where reports go: the terminal, a JSON file, a page.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use likenew_report::document::Document;
use likenew_report::html;
use likenew_report::labelled_document::{LabelledDocument, label_all};
use likenew_report::terminal::{Terminal, show};

use crate::arguments::Output;
use crate::exit::Failure;
use crate::ranking::ranking;

/// Shows one document, or several side by side, wherever it was asked for.
pub(crate) fn put(documents: Vec<Document>, output: &Output) -> Result<(), Failure> {
    let documents = put_files(documents, output)?;
    if output.takes_standard_output() {
        return Ok(());
    }
    print(&show(&documents, &terminal()))?;
    if let Some(ranking) = ranking(&documents) {
        print(&ranking)?;
    }
    print_page(output)
}

/// Puts a document that was shown already wherever else it was asked for.
pub(crate) fn write_beside(document: Document, output: &Output) -> Result<(), Failure> {
    put_files(vec![document], output)?;
    print_page(output)
}

fn put_files(documents: Vec<Document>, output: &Output) -> Result<Vec<LabelledDocument>, Failure> {
    let json = output.json.as_deref().map(|path| Ok::<_, Failure>((path, json(&documents)?))).transpose()?;
    let documents = label_all(documents);
    if let Some(path) = &output.html {
        write_to(path, &page(&documents)?)?;
    }
    if let Some((path, text)) = json {
        write_to(path, &text)?;
    }
    Ok(documents)
}

fn print_page(output: &Output) -> Result<(), Failure> {
    let Some(path) = output.html.as_deref().filter(|path| *path != Path::new("-")) else { return Ok(()) };
    print(&format!("\nThe page is {}.\n", path.display()))
}

/// One document as it is; several as a list.
fn json(documents: &[Document]) -> Result<String, Failure> {
    let texts: Vec<String> = documents
        .iter()
        .map(Document::to_json)
        .collect::<Result<_, _>>()
        .context("could not write the report as JSON")?;
    Ok(match texts.as_slice() {
        [one] => one.clone(),
        many => format!("[\n{}]\n", many.join(",\n")),
    })
}

fn page(documents: &[LabelledDocument]) -> Result<String, Failure> {
    Ok(html::page(documents).context("could not write the report as a page")?)
}

/// To a file, or to standard output with `-`.
pub(crate) fn write_to(path: &Path, text: &str) -> Result<(), Failure> {
    if path == Path::new("-") { print(text) } else { write(path, text) }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    Ok(std::fs::write(path, text).with_context(|| format!("could not write {}", path.display()))?)
}

/// To standard output; a reader that has gone away, such as `head`, is no failure.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(anyhow::Error::new(error).context("could not print").into())
        }
        _ => Ok(()),
    }
}

fn terminal() -> Terminal {
    // anstream drops colour where it is not wanted; asking for it only where somebody looks keeps files plain.
    Terminal { width: width(), colour: std::io::stdout().is_terminal() }
}

/// Columns of the terminal, or 80 where there is none.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0))
}
