//! How a drive that was sold identifies itself: the models that it reports, and how many bytes.

use crate::error::SimError;
use crate::file_error::FileError;
use crate::section::Section;

/// Bytes by which a drive may differ from the entry, in parts of a thousand: makers round, and some hide a
/// part of it (HPA); no two that were sold under one name are so alike.
const CAPACITY_PER_MILLE: u64 = 10;
/// Models that a file may name.
const PATTERNS_MAX: usize = 16;

/// The models that a drive reports of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedModels {
    /// Patterns of models: `*` stands for any characters, `?` for one.
    pub patterns: Vec<String>,
    /// A model name that was observed.
    pub example: String,
}

impl ReportedModels {
    /// Reads the table `[sold]`.
    pub(super) fn read(section: &mut Section<'_>) -> Result<Self, SimError> {
        let reported_models = Self {
            patterns: section.line("models")?.split(',').map(|pattern| pattern.trim().to_owned()).collect(),
            example: section.line("example")?,
        };
        // A pattern that begins with `*` would match other makers, too.
        let is_open =
            |pattern: &String| pattern.chars().take_while(|of| !matches!(of, '*' | '?')).count() < 5;
        if reported_models.patterns.len() > PATTERNS_MAX || reported_models.patterns.iter().any(is_open) {
            return Err(section.error(FileError::Patterns { most: PATTERNS_MAX }));
        }
        if !reported_models.patterns.iter().any(|pattern| is_like(pattern, &reported_models.example)) {
            return Err(section.error(FileError::OtherExample(reported_models.example)));
        }
        Ok(reported_models)
    }

    /// Whether a drive of this model and size is one of these; `capacity_bytes` is what the entry has.
    pub(crate) fn is(&self, capacity_bytes: u64, model: &str, reported_bytes: u64) -> bool {
        let is_as_large =
            capacity_bytes.abs_diff(reported_bytes) <= capacity_bytes / 1000 * CAPACITY_PER_MILLE;
        // What fills the 40 characters of ATA are blanks, and some tools join several.
        let model = model.split_whitespace().collect::<Vec<_>>().join(" ");
        is_as_large && self.patterns.iter().any(|pattern| is_like(pattern, &model))
    }
}

/// Whether a pattern matches a text, whatever the case of letters.
fn is_like(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.to_uppercase().chars().collect(), text.to_uppercase().chars().collect());
    // Where the last * stands, and how far it has been taken to reach.
    let (mut at, mut read, mut star) = (0, 0, None);
    while read < text.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(of) if *of == '?' || *of == text[read] => (at, read) = (at + 1, read + 1),
            _ => match &mut star {
                None => return false,
                Some((star_at, reached)) => {
                    *reached += 1;
                    (at, read) = (*star_at + 1, *reached);
                }
            },
        }
    }
    pattern[at..].iter().all(|of| *of == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_characters_and_a_question_mark_is_one() {
        for (pattern, text) in [
            ("WDC WD6400AAKS-*", "wdc wd6400aaks-22A7B0"),
            ("a*b*c", "axbxbc"),
            ("a?c*", "abc"),
            ("abc", "abc"),
            ("*", ""),
        ] {
            assert!(is_like(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a*b*c", "axbxb"), ("a?c", "ac"), ("abc", "abcd"), ("abcd", "abc"), ("?", ""), ("a*?", "a")]
        {
            assert!(!is_like(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn the_size_has_to_fit_as_well() {
        let reported_models =
            ReportedModels { patterns: vec!["OCZ-VERTEX3".into()], example: "OCZ-VERTEX3".into() };
        let is = |model, bytes| reported_models.is(120_034_123_776, model, bytes);
        assert!(is("OCZ-VERTEX3  ", 120_034_123_776) && is("ocz-vertex3", 119_900_000_000));
        for bytes in [240_057_409_536, 90_028_302_336, 128_035_676_160, 0, u64::MAX] {
            assert!(!is("OCZ-VERTEX3", bytes), "{bytes}");
        }
        assert!(!is("OCZ-VERTEX3 MI", 120_034_123_776));
    }
}
