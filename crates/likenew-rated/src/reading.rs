//! Reads the files of `catalog/rated` when the crate is built, and says by file and line what is wrong with them.

use wildmatch::WildMatch;

use crate::book::{Book, FirmwareFault, Link, Product, RatedDrive, plain};

/// Share by which a rated speed may exceed what its link carries after encoding: makers round.
const ROUNDING: f64 = 1.02;

/// Fewest letters of a pattern that are no wildcards. Chosen: `ST*LM*` means any notebook disk of a maker.
const LETTERS: usize = 4;

/// Most words of what a firmware fault does: a sentence has no more.
const WORDS: usize = 25;

/// Share by which capacities of two drives under one model have to differ: twice what a reported capacity may be off.
const ALIKE: f64 = 0.02;

/// One book from all files, each given by name and text.
///
/// # Errors
/// Sentences, each with file and line.
pub(crate) fn read(files: &[(String, String)]) -> Result<Book, Vec<String>> {
    let (mut book, mut wrong) = (Book::default(), Vec::new());
    let mut places: Vec<(String, usize)> = Vec::new();
    let mut fault_places: Vec<(String, usize)> = Vec::new();
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
        let sources = part.volumes.iter().map(|volume| (&volume.name, &volume.source));
        let sources = sources.chain(part.reviews.iter().map(|review| (&review.product, &review.source)));
        for (item, _) in sources.filter(|(_, source)| !is_address(source)) {
            wrong.push(format!("{name}:{}: {item} has no source", line_of(&format!("{item:?}"))));
        }
        let (faults, problems) = firmware_faults(name, text, &part.faults);
        fault_places.extend(faults);
        wrong.extend(problems);
        book.products.extend(part.products);
        book.volumes.extend(part.volumes);
        book.reviews.extend(part.reviews);
        book.faults.extend(part.faults);
    }
    wrong.extend(twins(&book, &places));
    wrong.extend(twin_faults(&book.faults, &fault_places));
    if wrong.is_empty() { Ok(book) } else { Err(wrong) }
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn is_address(source: &str) -> bool {
    source.starts_with("https://") || source.starts_with("http://")
}

/// What is wrong with one line of a product.
fn faults<'a>(product: &'a Product, drive: &'a RatedDrive) -> impl Iterator<Item = String> + 'a {
    let source = drive.source.as_ref().unwrap_or(&product.source);
    let no_source = (!is_address(source)).then(|| format!("{} has no source", drive.models));
    let open = open(drive.patterns());
    let (carries, link) = product.link.map_or((u32::MAX, ""), |link| (link.mb_per_s(), link.words()));
    let limit = f64::from(carries) * ROUNDING;
    let needs_link = product.link.is_none() && product.rpm.is_none() && drive.read.is_none();
    let no_link = needs_link.then(|| format!("{} says nothing: no link, no rpm, no speed", drive.models));
    let rates = [drive.read, drive.write, drive.after_slc].into_iter().flatten();
    let too_fast = rates
        .filter(move |rate| *rate > limit)
        .map(move |rate| format!("{}: {rate} MB/s, and {link} carries {limit:.0} at most", drive.models));
    // A drive that its USB link limits has one rated figure for every capacity.
    let is_external = product.link.is_some_and(Link::is_external);
    let has_figures = drive.read.is_some() || drive.write.is_some() || drive.read_iops.is_some();
    let no_size = (has_figures && drive.gb.is_none() && !is_external)
        .then(|| format!("{}: speeds without gb", drive.models));
    let is_disk = product.rpm.is_some();
    let turns = (is_disk && drive.tbw.is_some()).then(|| format!("{}: rpm beside tbw", drive.models));
    [no_source, no_link, open, no_size, turns].into_iter().flatten().chain(too_fast)
}

/// What is wrong with the first pattern that could mean any model.
fn open<'a>(mut patterns: impl Iterator<Item = &'a str>) -> Option<String> {
    let pattern = patterns.find(|pattern| {
        pattern.starts_with(['*', '?']) || pattern.chars().filter(|c| !"*?".contains(*c)).count() < LETTERS
    })?;
    Some(format!("{pattern:?} has too few letters, and means anything"))
}

/// Patterns that also match the drive of another line, if both have the same capacity or neither has one.
fn twins(book: &Book, places: &[(String, usize)]) -> Vec<String> {
    let lines: Vec<&RatedDrive> = book.products.iter().flat_map(|product| &product.drives).collect();
    let patterns: Vec<(usize, String, WildMatch)> = lines
        .iter()
        .enumerate()
        .flat_map(|(line, drive)| drive.patterns().map(move |pattern| (line, plain(pattern))))
        .map(|(line, pattern)| (line, pattern.clone(), WildMatch::new(&pattern)))
        .collect();
    let mut wrong = Vec::new();
    for (line, pattern, _) in &patterns {
        let examples = examples(pattern);
        for (other, theirs, means) in &patterns {
            let is_as_large = match (lines[*line].gb, lines[*other].gb) {
                (Some(one), Some(other)) => (one / other - 1.0).abs() < ALIKE,
                (None, None) => true,
                _ => false,
            };
            if line != other && is_as_large && examples.iter().any(|example| means.matches(example)) {
                let ((file, at), (their_file, their_at)) = (&places[*line], &places[*other]);
                wrong.push(format!("{file}:{at}: {pattern:?} is also {theirs:?} of {their_file}:{their_at}"));
            }
        }
    }
    wrong
}

/// Two models that a pattern matches: with nothing and with something in the place of its `*`.
fn examples(pattern: &str) -> [String; 2] {
    [pattern.replace('*', "").replace('?', "0"), pattern.replace(['*', '?'], "0")]
}

/// The place of each fault of firmware in a file, and what is wrong with them.
fn firmware_faults(name: &str, text: &str, faults: &[FirmwareFault]) -> (Vec<(String, usize)>, Vec<String>) {
    let mut wrong = Vec::new();
    let places: Vec<(String, usize)> = faults
        .iter()
        .map(|fault| {
            let keys = [format!("models = {:?}", fault.models), format!("firmware = {:?}", fault.firmware)];
            let is_it = |line: &str| keys.iter().all(|key| line.contains(key));
            let line = text.lines().position(is_it).map(|line| line + 1);
            if line.is_none() {
                wrong.push(format!(
                    "{name}:1: {} is not written on one line as the others are",
                    fault.product
                ));
            }
            (name.to_owned(), line.unwrap_or(1))
        })
        .collect();
    for (fault, (_, line)) in faults.iter().zip(&places) {
        wrong.extend(wrong_with(fault).map(|problem| format!("{name}:{line}: {}: {problem}", fault.product)));
    }
    for (pair, (_, line)) in faults.windows(2).zip(places.iter().skip(1)) {
        if plain(&pair[0].product) > plain(&pair[1].product) {
            wrong.push(format!("{name}:{line}: {:?} comes before {:?}", pair[1].product, pair[0].product));
        }
    }
    (places, wrong)
}

/// What is wrong with one fault of firmware.
fn wrong_with(fault: &FirmwareFault) -> impl Iterator<Item = String> {
    let no_source = (!is_address(&fault.source)).then(|| "no source".to_owned());
    let empty = fault.versions().any(str::is_empty).then(|| "an empty version".to_owned());
    let fixed = fault.fixed.as_deref().map(plain);
    let still = fault
        .versions()
        .find(|version| fixed.as_ref().is_some_and(|fixed| WildMatch::new(&plain(version)).matches(fixed)));
    let still = still.map(|version| format!("{version:?} is also the version that fixes it"));
    let mut letters = fault.happens.chars();
    let is_sentence = letters.next().is_none_or(|letter| letter.is_uppercase())
        && letters.next().is_none_or(|letter| letter.is_lowercase());
    let is_clause =
        !is_sentence && !fault.happens.ends_with('.') && fault.happens.split_whitespace().count() <= WORDS;
    let no_clause =
        (!is_clause).then(|| format!("{:?} is no clause of at most {WORDS} words", fault.happens));
    let hours = fault.hours.map(|hours| format!("{},{:03} hours", hours / 1000, hours % 1000));
    let no_hours = hours.filter(|hours| !fault.happens.contains(hours));
    let no_hours = no_hours.map(|hours| format!("{:?} does not say {hours}", fault.happens));
    let avoided = (fault.linux_avoids && fault.data_at_risk)
        .then(|| "what Linux avoids puts no data at risk".to_owned());
    [no_source, empty, open(fault.models()), still, no_clause, no_hours, avoided].into_iter().flatten()
}

/// Two faults of one model and version, unless its owner meets one of them and Linux avoids the other.
fn twin_faults(faults: &[FirmwareFault], places: &[(String, usize)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (index, (fault, (file, line))) in faults.iter().zip(places).enumerate() {
        for (other, (their_file, their_line)) in faults.iter().zip(places).take(index) {
            let is_same = fault.linux_avoids == other.linux_avoids
                && overlap(&fault.models().collect::<Vec<_>>(), &other.models().collect::<Vec<_>>())
                && overlap(&fault.versions().collect::<Vec<_>>(), &other.versions().collect::<Vec<_>>());
            if is_same {
                let (mine, theirs) = (&fault.product, &other.product);
                wrong.push(format!("{file}:{line}: {mine} is also {theirs} of {their_file}:{their_line}"));
            }
        }
    }
    wrong
}

/// Whether two lists of patterns match the same model or version.
fn overlap(one: &[&str], other: &[&str]) -> bool {
    let is_in = |mine: &str, theirs: &str| {
        let theirs = WildMatch::new(&plain(theirs));
        examples(&plain(mine)).iter().any(|example| theirs.matches(example))
    };
    one.iter().any(|mine| other.iter().any(|theirs| is_in(mine, theirs) || is_in(theirs, mine)))
}
