//! Documents with distinct names.

use serde::Serialize;

use crate::document::Document;
use crate::embedded_samples::EmbeddedSamples;
use crate::unit::clean;

/// A document and its name beside others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabeledDocument {
    /// Short, and unique among the documents of one procedure that are shown together.
    pub label: String,
    /// The document.
    pub document: Document,
    /// Every I/O of its run, for a page, if they were recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<EmbeddedSamples>,
}

/// Names each document by its target, by target and state if a procedure ran on a target more than once, and
/// by a number if two are still alike.
pub fn label_all(documents: Vec<Document>) -> Vec<LabeledDocument> {
    let mut labels: Vec<String> = documents.iter().map(|document| document.target.name.clone()).collect();
    let procedures: Vec<&str> = documents.iter().map(|document| document.procedure.as_str()).collect();
    extend_repeated(&mut labels, &procedures, |index| {
        let facts = &documents[index].target.facts;
        facts.iter().find(|(name, _)| name == "state").map(|(_, state)| state.clone())
    });
    while extend_repeated(&mut labels, &procedures, |index| Some(format!("#{}", index + 1))) {}
    labels
        .into_iter()
        .zip(documents)
        .map(|(label, document)| LabeledDocument { label, document, samples: None })
        .collect()
}

/// Longer labels are replaced by letters above columns.
const NAME_CHARS_MAX: usize = 10;

/// What each document of one procedure is called in headings and legends: its label, or a letter where any label is long.
pub fn short_names<'a>(labels: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let labels: Vec<String> = labels.into_iter().map(clean).collect();
    let is_long = labels.iter().any(|label| label.chars().count() > NAME_CHARS_MAX);
    let letter = |index: usize| match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'A' + index).to_string(),
        _ => format!("#{}", index + 1),
    };
    if is_long { (0..labels.len()).map(letter).collect() } else { labels }
}

/// Adds a word to every label that occurs more than once in a procedure, and returns whether there was one.
/// The word is left out if all that share a label have the same one.
fn extend_repeated(
    labels: &mut [String],
    procedures: &[&str],
    word: impl Fn(usize) -> Option<String>,
) -> bool {
    let before = labels.to_vec();
    let mut repeated = false;
    for (index, label) in labels.iter_mut().enumerate() {
        let alike: Vec<usize> = (0..before.len())
            .filter(|other| before[*other] == before[index] && procedures[*other] == procedures[index])
            .collect();
        repeated |= alike.len() > 1;
        if alike.iter().any(|other| word(*other) != word(index))
            && let Some(word) = word(index)
        {
            *label = format!("{label} {word}");
        }
    }
    repeated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    fn labels(documents: Vec<Document>) -> Vec<String> {
        label_all(documents).into_iter().map(|labeled| labeled.label).collect()
    }

    #[test]
    fn labels_are_as_short_as_they_can_be() {
        let (new, used) = (fixtures::bench("sim:a", 1.0), fixtures::bench("sim:b", 0.5));
        assert_eq!(labels(vec![new.clone(), used]), ["sim:a", "sim:b"]);
        let mut used = new.clone();
        used.target.facts = vec![("state".into(), "used".into())];
        assert_eq!(labels(vec![new.clone(), used]), ["sim:a new", "sim:a used"]);
        assert_eq!(labels(vec![new.clone(), new.clone()]), ["sim:a #1", "sim:a #2"]);
        let mut other = new.clone();
        other.procedure = "age".into();
        assert_eq!(labels(vec![new, other]), ["sim:a", "sim:a"], "they are never side by side");
        assert_eq!(labels(Vec::new()), Vec::<String>::new());
    }

    #[test]
    fn labels_stay_apart_when_a_name_looks_like_a_number() {
        let names = ["sim:a", "sim:a", "sim:a #1"];
        let labels = labels(names.iter().map(|name| fixtures::bench(name, 1.0)).collect());
        assert!(labels[0] != labels[2] && labels[1] != labels[2] && labels[0] != labels[1], "{labels:?}");
    }
}
