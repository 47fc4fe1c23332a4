//! Reads the files, and says by file and line what is wrong with them.

use wildmatch::WildMatch;

use crate::book::{Book, Link, Product, RatedDrive, plain};

/// Share by which a rated speed may exceed what its link carries after encoding: makers round.
const ROUNDING: f64 = 1.02;

/// Letters of a pattern that are not open, at least. Chosen: `ST*LM*` means any notebook disk of a maker.
const LETTERS: usize = 4;

/// Share by which capacities of two drives under one model have to differ: twice what a reported capacity may be off.
const ALIKE: f64 = 0.02;

/// One book of all files, each with its name and text.
///
/// # Errors
/// Sentences, each with file and line.
pub(crate) fn read(files: &[(String, String)]) -> Result<Book, Vec<String>> {
    let (mut book, mut wrong) = (Book::default(), Vec::new());
    let mut places: Vec<(String, usize)> = Vec::new();
    for (name, text) in files {
        let part: Book = match toml::from_str(text) {
            Ok(part) => part,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                wrong.push(format!("{name}:{}: {}", line_at(text, at), error.message()));
                continue;
            }
        };
        let line_of = |needle: &str| text.find(needle).map_or(1, |at| line_at(text, at));
        for pair in part.products.windows(2) {
            if plain(&pair[0].name) > plain(&pair[1].name) {
                let line = line_of(&format!("name = {:?}", pair[1].name));
                wrong.push(format!("{name}:{line}: {:?} comes before {:?}", pair[1].name, pair[0].name));
            }
        }
        for product in &part.products {
            for drive in &product.drives {
                let line = line_of(&format!("models = {:?}", drive.models));
                wrong.extend(faults(product, drive).map(|fault| format!("{name}:{line}: {fault}")));
                places.push((name.clone(), line));
            }
        }
        let sources = part.volumes.iter().map(|of| (&of.name, &of.source));
        let sources = sources.chain(part.reviews.iter().map(|of| (&of.product, &of.source)));
        for (of, _) in sources.filter(|(_, source)| !is_address(source)) {
            wrong.push(format!("{name}:{}: {of} has no source", line_of(&format!("{of:?}"))));
        }
        book.products.extend(part.products);
        book.volumes.extend(part.volumes);
        book.reviews.extend(part.reviews);
    }
    wrong.extend(twins(&book, &places));
    if wrong.is_empty() { Ok(book) } else { Err(wrong) }
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn is_address(source: &str) -> bool {
    source.starts_with("https://") || source.starts_with("http://")
}

/// What is wrong with one line.
fn faults<'a>(product: &'a Product, drive: &'a RatedDrive) -> impl Iterator<Item = String> + 'a {
    let source = drive.source.as_ref().unwrap_or(&product.source);
    let no_source = (!is_address(source)).then(|| format!("{} has no source", drive.models));
    let open = drive.patterns().find(|pattern| {
        pattern.starts_with(['*', '?']) || pattern.chars().filter(|of| !"*?".contains(*of)).count() < LETTERS
    });
    let open = open.map(|pattern| format!("{pattern:?} has too few letters, and means anything"));
    let (carries, link) = product.link.map_or((u32::MAX, ""), |link| (link.mb_per_s(), link.words()));
    let limit = f64::from(carries) * ROUNDING;
    let needs_link = product.link.is_none() && product.rpm.is_none() && drive.read.is_none();
    let no_link = needs_link.then(|| format!("{} says nothing: no link, no rpm, no speed", drive.models));
    let rates = [drive.read, drive.write, drive.after_slc].into_iter().flatten();
    let too_fast = rates
        .filter(move |rate| *rate > limit)
        .map(move |rate| format!("{}: {rate} MB/s, and {link} carries {limit:.0} at most", drive.models));
    // One figure is rated for every capacity of a drive that its USB link limits.
    let is_external = product.link.is_some_and(Link::is_external);
    let has_figures = drive.read.is_some() || drive.write.is_some() || drive.read_iops.is_some();
    let no_size = (has_figures && drive.gb.is_none() && !is_external)
        .then(|| format!("{}: speeds without gb", drive.models));
    let is_disk = product.rpm.is_some();
    let turns = (is_disk && drive.tbw.is_some()).then(|| format!("{}: rpm beside tbw", drive.models));
    [no_source, no_link, open, no_size, turns].into_iter().flatten().chain(too_fast)
}

/// Patterns that mean the drive of another line, too: of the same capacity, or neither with one. A line without a capacity is for
/// those that no other line has.
fn twins(book: &Book, places: &[(String, usize)]) -> Vec<String> {
    let lines: Vec<&RatedDrive> = book.products.iter().flat_map(|product| &product.drives).collect();
    let patterns: Vec<(usize, String, WildMatch)> = lines
        .iter()
        .enumerate()
        .flat_map(|(line, drive)| drive.patterns().map(move |pattern| (line, plain(pattern))))
        .map(|(line, pattern)| (line, pattern.clone(), WildMatch::new(&pattern)))
        .collect();
    let mut found = Vec::new();
    for (line, pattern, _) in &patterns {
        // What a pattern means is tried with nothing and with something in the place of its `*`.
        let examples = [pattern.replace('*', "").replace('?', "0"), pattern.replace(['*', '?'], "0")];
        for (other, theirs, means) in &patterns {
            let is_as_large = match (lines[*line].gb, lines[*other].gb) {
                (Some(one), Some(other)) => (one / other - 1.0).abs() < ALIKE,
                (None, None) => true,
                _ => false,
            };
            if line != other && is_as_large && examples.iter().any(|example| means.matches(example)) {
                let ((file, at), (their_file, their_at)) = (&places[*line], &places[*other]);
                found.push(format!("{file}:{at}: {pattern:?} is also {theirs:?} of {their_file}:{their_at}"));
            }
        }
    }
    found
}
