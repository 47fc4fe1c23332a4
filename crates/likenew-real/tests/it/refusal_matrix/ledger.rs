//! The list of all cases, and the requirements of each.

use std::path::{Path, PathBuf};

use likenew_core::target_error::TargetError;
use likenew_real::consent::{Agreement, Consent, Loss};

/// Cases that were tried, by unique names.
#[derive(Default)]
pub struct Ledger {
    names: Vec<String>,
    texts: Vec<String>,
}

/// Words that a helpful message does not use.
const SCOLDING: [&str; 12] = [
    "!",
    "error",
    "invalid",
    "illegal",
    "forbidden",
    "wrong",
    "must not",
    "panic",
    "fail",
    "not allowed",
    "Os {",
    "unwrap",
];

impl Ledger {
    /// Tries to get consent for `path` with this agreement. It must be refused with a message that contains
    /// all these words, and must not change `image`, which holds the bytes.
    #[track_caller]
    pub fn refused(&mut self, name: &str, image: &Path, path: &Path, agreement: &Agreement, words: &[&str]) {
        self.attempt(name, image, path, || Consent::to_overwrite(path, agreement), words);
    }

    /// The same for a target that was examined before, and has changed since.
    #[track_caller]
    pub fn changed(&mut self, name: &str, image: &Path, loss: &Loss, agreement: &Agreement, words: &[&str]) {
        self.attempt(name, image, &loss.path, || Consent::to_lose(loss, agreement), words);
    }

    /// The same for any way to get consent.
    #[track_caller]
    pub fn attempt(
        &mut self,
        name: &str,
        image: &Path,
        path: &Path,
        way: impl FnOnce() -> Result<Consent, TargetError>,
        words: &[&str],
    ) {
        let before = Bytes::of(image);
        let text = match way() {
            // The command line turns this, and nothing else, into exit code 3.
            Err(TargetError::Refused(text)) => text,
            Err(target_error) => panic!("{name}: this is no refusal: {target_error}"),
            Ok(_) => panic!("{name}: there was consent to {}", path.display()),
        };
        assert!(Bytes::of(image) == before, "{name}: {} was changed", image.display());
        for word in words {
            assert!(text.contains(word), "{name}: \"{word}\" is missing in: {text}");
        }
        helps(name, path, &text);
        assert!(!self.names.iter().any(|known| known == name), "two cases have the name {name}");
        self.names.push(name.to_owned());
        self.texts.push(text);
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// Prints the messages: `cargo test -p likenew-real --test it no_consent -- --nocapture`.
    pub fn print(&self) {
        for (name, text) in self.names.iter().zip(&self.texts) {
            eprintln!("{name}\n    {text}");
        }
    }
}

/// A refusal names its target, says that it is unchanged or why it could not be used, and ends with what to
/// do.
#[track_caller]
fn helps(name: &str, path: &Path, text: &str) {
    let resolved = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let names_it = [path, &resolved].iter().any(|path| text.contains(path.to_str().unwrap()));
    assert!(names_it, "{name}: it does not say what it is about: {text}");
    let advice = text.rsplit_once([';', ':']).map_or("", |(_, advice)| advice.trim());
    assert!(advice.split_whitespace().count() >= 2, "{name}: it does not say what to do: {text}");
    assert!(!text.ends_with('.'), "{name}: {text}");
    for word in SCOLDING {
        // Paths and names are the owner's own words.
        let ours = text.replace(path.to_str().unwrap(), "").replace(resolved.to_str().unwrap(), "");
        assert!(!ours.contains(word), "{name}: \"{word}\" helps nobody: {text}");
    }
}

/// The content of an image; nothing for targets other than files.
#[derive(PartialEq)]
enum Bytes {
    Are(Vec<u8>),
    None,
}

impl Bytes {
    fn of(image: &Path) -> Self {
        match std::fs::symlink_metadata(image) {
            Ok(metadata) if metadata.is_file() => Self::Are(std::fs::read(image).unwrap_or_default()),
            _ => Self::None,
        }
    }
}

/// An agreement on the command line.
pub fn typed(id: &str, destroy: &[&str]) -> Agreement {
    Agreement { id: id.into(), destroy: destroy.iter().map(|name| (*name).to_owned()).collect() }
}

/// The right agreement for it now, with everything on it named.
#[track_caller]
pub fn right(path: &Path) -> (Loss, Agreement) {
    let loss = Loss::at(path).unwrap();
    let carries: Vec<&str> = loss.carries.iter().map(String::as_str).collect();
    let agreement = typed(&loss.id.text, &carries);
    // It would be accepted; that is what gives the refusals below their meaning.
    drop(Consent::to_lose(&loss, &agreement).unwrap());
    (loss, agreement)
}

/// A file of these bytes, with none of them zero throughout, in a folder.
pub fn file(folder: &Path, name: &str, bytes: usize) -> PathBuf {
    let path = folder.join(name);
    let content: Vec<u8> = (0..bytes).map(|index| (index / 4096) as u8).collect();
    std::fs::write(&path, content).unwrap();
    path
}
