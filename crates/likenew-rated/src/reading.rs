//! Reads the files of `catalog/rated` when the crate is built, and says by file and line what is wrong with them.

use std::fmt;

use wildmatch::WildMatch;

use crate::book::{Book, FirmwareFault, Link, Product, RatedDrive, plain};

/// Largest ratio of a rated speed to what its link carries after encoding. Chosen: makers round.
const RATED_OVER_LINK_MAX: f64 = 1.02;

/// Fewest letters of a pattern that are no wildcards. Chosen: `ST*LM*` means any notebook disk of a maker.
const PATTERN_LETTERS_MIN: usize = 4;

/// Most words of what a firmware fault does: a sentence has no more.
const EFFECT_WORDS_MAX: usize = 25;

/// Difference of two capacities, as a share, below which a reported capacity may mean both: twice what it may be off.
const SAME_CAPACITY: f64 = 0.02;

/// Where something stands in a file; lines count from 1.
struct Position {
    file: String,
    line: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// One book from all files, each given by name and text.
///
/// # Errors
/// Sentences, each with file and line.
pub(crate) fn read(files: &[(String, String)]) -> Result<Book, Vec<String>> {
    let (mut book, mut errors) = (Book::default(), Vec::new());
    // In the order of the drives and of the faults in `book`.
    let (mut drive_positions, mut fault_positions) = (Vec::new(), Vec::new());
    for (name, text) in files {
        let part: Book = match toml::from_str(text) {
            Ok(part) => part,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                errors.push(format!("{name}:{}: {}", line_at(text, at), error.message()));
                continue;
            }
        };
        let line_of = |needle: &str| text.find(needle).map_or(1, |at| line_at(text, at));
        for pair in part.products.windows(2) {
            if plain(&pair[0].name) > plain(&pair[1].name) {
                let line = line_of(&format!("name = {:?}", pair[1].name));
                errors.push(format!("{name}:{line}: {}", misplaced(&pair[1].name, &pair[0].name)));
            }
        }
        for product in &part.products {
            for drive in &product.drives {
                let line = line_of(&format!("models = {:?}", drive.models));
                errors.extend(drive_errors(product, drive).map(|error| format!("{name}:{line}: {error}")));
                drive_positions.push(Position { file: name.clone(), line });
            }
        }
        let sources = part.volumes.iter().map(|volume| (&volume.name, &volume.source));
        let sources = sources.chain(part.reviews.iter().map(|review| (&review.product, &review.source)));
        for (item, _) in sources.filter(|(_, source)| !is_address(source)) {
            errors.push(format!("{name}:{}: {item} has no source", line_of(&format!("{item:?}"))));
        }
        let (positions, errors_here) = locate_faults(name, text, &part.faults);
        fault_positions.extend(positions);
        errors.extend(errors_here);
        book.products.extend(part.products);
        book.volumes.extend(part.volumes);
        book.reviews.extend(part.reviews);
        book.faults.extend(part.faults);
    }
    errors.extend(ambiguous_patterns(&book, &drive_positions));
    errors.extend(duplicate_faults(&book.faults, &fault_positions));
    if errors.is_empty() { Ok(book) } else { Err(errors) }
}

/// Says that the order of the alphabet is broken.
fn misplaced(name: &str, after: &str) -> String {
    format!("{name:?} must come before {after:?}: entries are sorted by name")
}

fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

fn is_address(source: &str) -> bool {
    source.starts_with("https://") || source.starts_with("http://")
}

/// What is wrong with one line of a product.
fn drive_errors<'a>(product: &'a Product, drive: &'a RatedDrive) -> impl Iterator<Item = String> + 'a {
    let source = drive.source.as_ref().unwrap_or(&product.source);
    let no_source = (!is_address(source)).then(|| format!("{} has no source", drive.models));
    let unspecific = unspecific_pattern(drive.patterns());
    let (carries, link) = product.link.map_or((u32::MAX, ""), |link| (link.mb_per_s(), link.words()));
    let limit = f64::from(carries) * RATED_OVER_LINK_MAX;
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
    [no_source, no_link, unspecific, no_size, turns].into_iter().flatten().chain(too_fast)
}

/// What is wrong with the first pattern that could mean any model.
fn unspecific_pattern<'a>(mut patterns: impl Iterator<Item = &'a str>) -> Option<String> {
    let pattern = patterns.find(|pattern| {
        pattern.starts_with(['*', '?'])
            || pattern.chars().filter(|c| !"*?".contains(*c)).count() < PATTERN_LETTERS_MIN
    })?;
    Some(format!("{pattern:?} has too few letters, and means anything"))
}

/// A pattern of the models of a drive.
struct DrivePattern {
    /// Number of the drive in the book.
    drive: usize,
    text: String,
    matcher: WildMatch,
}

/// Patterns that also match a model of another drive, if both have the same capacity or neither has one.
fn ambiguous_patterns(book: &Book, positions: &[Position]) -> Vec<String> {
    let drives: Vec<&RatedDrive> = book.products.iter().flat_map(|product| &product.drives).collect();
    let mut patterns = Vec::new();
    for (drive, rated) in drives.iter().enumerate() {
        patterns.extend(rated.patterns().map(|pattern| {
            let text = plain(pattern);
            DrivePattern { drive, matcher: WildMatch::new(&text), text }
        }));
    }
    let is_same_capacity = |one: usize, other: usize| match (drives[one].gb, drives[other].gb) {
        (Some(one), Some(other)) => (one / other - 1.0).abs() < SAME_CAPACITY,
        (None, None) => true,
        _ => false,
    };
    let mut errors = Vec::new();
    for one in &patterns {
        let examples = examples(&one.text);
        for other in patterns.iter().filter(|other| other.drive != one.drive) {
            let matches = || examples.iter().any(|example| other.matcher.matches(example));
            if is_same_capacity(one.drive, other.drive) && matches() {
                let [here, there] = [one.drive, other.drive].map(|drive| &positions[drive]);
                errors.push(format!("{here}: {:?} is also {:?} of {there}", one.text, other.text));
            }
        }
    }
    errors
}

/// Two models that a pattern matches: with nothing and with a 0 in the place of each `*`; each `?` is a 0. Patterns that
/// overlap only elsewhere, such as `a*b` and `a1*`, are not noticed.
fn examples(pattern: &str) -> [String; 2] {
    [pattern.replace('*', "").replace('?', "0"), pattern.replace(['*', '?'], "0")]
}

/// Where each firmware fault stands in a file, and what is wrong with them.
fn locate_faults(name: &str, text: &str, faults: &[FirmwareFault]) -> (Vec<Position>, Vec<String>) {
    let mut errors = Vec::new();
    let mut positions: Vec<Position> = Vec::new();
    for (index, fault) in faults.iter().enumerate() {
        let keys = [format!("models = {:?}", fault.models), format!("firmware = {:?}", fault.firmware)];
        let is_it = |line: &str| keys.iter().all(|key| line.contains(key));
        let found = text.lines().position(is_it).map(|line| line + 1);
        if found.is_none() {
            errors.push(format!("{name}:1: {} is not written on one line as the others are", fault.product));
        }
        let position = Position { file: name.to_owned(), line: found.unwrap_or(1) };
        errors.extend(fault_errors(fault).map(|error| format!("{position}: {}: {error}", fault.product)));
        let before = index.checked_sub(1).map(|before| &faults[before].product);
        if let Some(before) = before.filter(|before| plain(before) > plain(&fault.product)) {
            errors.push(format!("{position}: {}", misplaced(&fault.product, before)));
        }
        positions.push(position);
    }
    (positions, errors)
}

/// What is wrong with one fault of firmware.
fn fault_errors(fault: &FirmwareFault) -> impl Iterator<Item = String> {
    let no_source = (!is_address(&fault.source)).then(|| "no source".to_owned());
    let empty = fault.versions().any(str::is_empty).then(|| "an empty version".to_owned());
    let fixed = fault.fixed.as_deref().map(plain);
    let still = fault
        .versions()
        .find(|version| fixed.as_ref().is_some_and(|fixed| WildMatch::new(&plain(version)).matches(fixed)));
    let still = still.map(|version| format!("{version:?} is also the version that fixes it"));
    // `Stops …` begins a sentence; `SMART reports …` may begin a clause. Nothing at all counts as a sentence.
    let mut letters = fault.happens.chars();
    let is_sentence = letters.next().is_none_or(|letter| letter.is_uppercase())
        && letters.next().is_none_or(|letter| letter.is_lowercase());
    let is_clause = !is_sentence
        && !fault.happens.ends_with('.')
        && fault.happens.split_whitespace().count() <= EFFECT_WORDS_MAX;
    let no_clause =
        (!is_clause).then(|| format!("{:?} is no clause of at most {EFFECT_WORDS_MAX} words", fault.happens));
    let hours = fault.hours.map(|hours| match (hours / 1000, hours % 1000) {
        (0, hours) => format!("{hours} hours"),
        (thousands, rest) => format!("{thousands},{rest:03} hours"),
    });
    let no_hours = hours.filter(|hours| !fault.happens.contains(hours));
    let no_hours = no_hours.map(|hours| format!("{:?} does not say {hours}", fault.happens));
    let avoided = (fault.linux_avoids && fault.data_at_risk)
        .then(|| "what Linux avoids puts no data at risk".to_owned());
    [no_source, empty, unspecific_pattern(fault.models()), still, no_clause, no_hours, avoided]
        .into_iter()
        .flatten()
}

/// Faults of the same model and version. One that Linux avoids may stand beside one that it does not.
fn duplicate_faults(faults: &[FirmwareFault], positions: &[Position]) -> Vec<String> {
    let mut errors = Vec::new();
    for (index, (fault, here)) in faults.iter().zip(positions).enumerate() {
        for (other, there) in faults.iter().zip(positions).take(index) {
            let is_same = fault.linux_avoids == other.linux_avoids
                && overlap(&fault.models().collect::<Vec<_>>(), &other.models().collect::<Vec<_>>())
                && overlap(&fault.versions().collect::<Vec<_>>(), &other.versions().collect::<Vec<_>>());
            if is_same {
                errors.push(format!("{here}: {} is also {} of {there}", fault.product, other.product));
            }
        }
    }
    errors
}

/// Whether an example of a pattern of one list is matched by one of the other; see [`examples`].
fn overlap(one: &[&str], other: &[&str]) -> bool {
    let is_in = |mine: &str, theirs: &str| {
        let theirs = WildMatch::new(&plain(theirs));
        examples(&plain(mine)).iter().any(|example| theirs.matches(example))
    };
    one.iter().any(|mine| other.iter().any(|theirs| is_in(mine, theirs) || is_in(theirs, mine)))
}
