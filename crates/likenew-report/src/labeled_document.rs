//! Gives documents that are shown together distinct names.

use std::collections::HashSet;

use serde::Serialize;

use crate::document::Document;
use crate::embedded_samples::EmbeddedSamples;
use crate::unit::clean;
use crate::wording;

/// A document and its name beside others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LabeledDocument {
    /// Short, and unique among the documents of one procedure that are shown together.
    pub label: String,
    /// The document.
    pub document: Document,
    /// When its run began, as a date in UTC; unknown for a simulated run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// Every I/O of its run, for a page, if recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub samples: Option<EmbeddedSamples>,
}

/// What is known of a run besides its document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunSource {
    /// When the run began, as a date in UTC.
    pub started_at: Option<String>,
    /// The name of the file with the result, if another program measured.
    pub file: Option<String>,
}

/// Names documents without further information, as [`label_runs`] does.
pub fn label_all(documents: Vec<Document>) -> Vec<LabeledDocument> {
    label_runs(documents.into_iter().map(|document| (document, RunSource::default())).collect())
}

/// Names each document by its target. If a procedure ran on a target more than once, the state is added, then
/// the file or date. If labels are still equal, a number is added.
pub fn label_runs(runs: Vec<(Document, RunSource)>) -> Vec<LabeledDocument> {
    let mut labels: Vec<String> = runs.iter().map(|(document, _)| document.target.name.clone()).collect();
    let procedures: Vec<&str> = runs.iter().map(|(document, _)| document.procedure.as_str()).collect();
    extend_repeated(&mut labels, &procedures, |index| {
        let facts = &runs[index].0.target.facts;
        facts.iter().find(|(name, _)| name == "state").map(|(_, state)| state.clone())
    });
    extend_repeated(&mut labels, &procedures, |index| {
        let RunSource { started_at, file } = &runs[index].1;
        file.clone().or_else(|| wording::minute(started_at.as_deref()?))
    });
    while extend_repeated(&mut labels, &procedures, |index| Some(format!("#{}", index + 1))) {}
    labels
        .into_iter()
        .zip(runs)
        .map(|(label, (document, RunSource { started_at, .. }))| LabeledDocument {
            label,
            document,
            started_at,
            samples: None,
        })
        .collect()
}

/// Longest label above a column, in characters.
const LABEL_CHARS_MAX: usize = 10;
/// Longest name above a column of a comparison, in characters; otherwise letters are used. Chosen: four such
/// names and the name of a speed fit into 80 columns.
const NAME_CHARS_MAX: usize = 16;

/// The name of each document of one procedure in sentences, headings and legends. This is its label. If any
/// label is long, it is the label's own part, or the part not shared with the others, or a letter. Names in a
/// comparison can be longer than those above columns of joined tables.
pub fn short_names(members: &[&LabeledDocument], is_comparison: bool) -> Vec<String> {
    let labels: Vec<String> = members.iter().map(|member| clean(&member.label)).collect();
    if fit(&labels, LABEL_CHARS_MAX) {
        return labels;
    }
    let targets = members.iter().map(|member| member.document.target.name.split('?').next());
    let simulated: HashSet<_> = targets.flatten().filter(|name| name.starts_with(SIMULATED)).collect();
    // Two simulated drives can be in the same state.
    let own = (simulated.len() < 2).then(|| members.iter().map(|member| own_part(member)).collect());
    let chars_max = if is_comparison { NAME_CHARS_MAX } else { LABEL_CHARS_MAX };
    let candidates = own.into_iter().chain([distinctive(&labels)]);
    let letters = || (0..labels.len()).map(letter).collect();
    candidates.into_iter().find(|names| fit(names, chars_max)).unwrap_or_else(letters)
}

/// The own part of a label: `used #2` of `sim:tiny-flash?state=used #2`, and `data` of `/mnt/data`.
fn own_part(member: &LabeledDocument) -> String {
    let label = clean(&member.label);
    let (target, number) = label.split_once(" #").unwrap_or((&label, ""));
    let part = state_word(member).unwrap_or_else(|| target.rsplit('/').next().unwrap_or_default().to_owned());
    if number.is_empty() { part } else { format!("{part} #{number}") }
}

/// The prefix of simulated drives' names.
const SIMULATED: &str = "sim:";

/// Whether these can be names: short, and all different.
fn fit(names: &[String], chars_max: usize) -> bool {
    let is_short = |name: &String| (1..=chars_max).contains(&name.chars().count());
    names.iter().all(is_short) && names.iter().collect::<HashSet<_>>().len() == names.len()
}

/// The first word of the state: `used` of `used: all of it written once …`.
fn state_word(member: &LabeledDocument) -> Option<String> {
    let (_, state) = member.document.target.facts.iter().find(|(name, _)| name == "state")?;
    Some(clean(state.split(':').next()?))
}

/// Each label from the part on in which the labels differ; parts end at one of these characters.
fn distinctive(labels: &[String]) -> Vec<String> {
    const ENDS: [char; 7] = ['/', ':', '?', '&', '=', ',', ' '];
    let first = labels.first().map_or("", String::as_str);
    let is_shared = |place: &usize| {
        labels.iter().all(|label| label.len() > *place && label.starts_with(&first[..*place]))
    };
    let mut ends = first.match_indices(ENDS).map(|(at, end)| at + end.len());
    let from = ends.rfind(is_shared).unwrap_or(0);
    labels.iter().map(|label| label[from..].to_owned()).collect()
}

fn letter(index: usize) -> String {
    match u8::try_from(index) {
        Ok(index @ 0..26) => char::from(b'A' + index).to_string(),
        _ => format!("#{}", index + 1),
    }
}

/// Adds a word to every label that occurs more than once in a procedure, and returns whether there was such a
/// label. The word is left out if all with the same label share it.
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
    use crate::tests::fixtures;

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
    fn runs_of_a_real_drive_are_told_apart_by_their_dates() {
        let run = |date: &str| {
            let source = RunSource { started_at: Some(date.to_owned()), file: None };
            (fixtures::bench("/dev/sda", 1.0), source)
        };
        let names = |dates: &[&str]| {
            let labeled = label_runs(dates.iter().map(|date| run(date)).collect());
            (labeled[0].label.clone(), short_names(&labeled.iter().collect::<Vec<_>>(), true))
        };
        let (label, short) = names(&["2026-03-14T15:09:26.535Z", "2026-03-20T10:00:00.000Z"]);
        assert_eq!(label, "/dev/sda 2026-03-14 15:09");
        assert_eq!(short, ["2026-03-14 15:09", "2026-03-20 10:00"]);
        assert_eq!(names(&["2026-03-14T15:09:26.535Z", "2026-03-14T16:00:00.000Z"]).1, ["15:09", "16:00"]);
    }

    #[test]
    fn short_names_say_in_what_runs_differ() {
        let names = |targets: &[(&str, &str)]| {
            let document = |(name, state): &(&str, &str)| {
                let mut document = fixtures::bench(name, 1.0);
                let state = (!state.is_empty()).then(|| ("state".to_owned(), format!("{state}: in words")));
                document.target.facts = state.into_iter().collect();
                document
            };
            let labeled = label_all(targets.iter().map(document).collect());
            short_names(&labeled.iter().collect::<Vec<_>>(), true)
        };
        assert_eq!(names(&[("/dev/sda", ""), ("/dev/sdb", "")]), ["/dev/sda", "/dev/sdb"]);
        assert_eq!(
            names(&[("sim:tiny-flash", "new"), ("sim:tiny-flash?state=used", "used")]),
            ["new", "used"]
        );
        let settings =
            [("sim:tiny-flash?state=used", "used"), ("sim:tiny-flash?state=used&link=usb2", "used")];
        assert_eq!(names(&settings), ["used", "used&link=usb2"]);
        assert_eq!(names(&[("sim:tiny-flash", "new"), ("sim:old-disk", "new")]), ["tiny-flash", "old-disk"]);
        assert_eq!(names(&[("/mnt/backups/red", ""), ("/mnt/backups/blue", "")]), ["red", "blue"]);
        assert_eq!(names(&[("/mnt/backups", ""), ("/mnt/backups", "")]), ["backups #1", "backups #2"]);
        let used = ("sim:tiny-flash?state=used", "used");
        let mixed = [("sim:tiny-flash", "new"), used, used, ("/mnt/data", "")];
        assert_eq!(names(&mixed), ["new", "used #2", "used #3", "data"]);
        let both = [("sim:tiny-flash?state=used", "used"), ("sim:old-disk", "new")];
        assert_eq!(names(&both), ["A", "B"]);
        let long = [("/mnt/backups-of-all-machines", ""), ("/mnt/archives-of-all-machines", "")];
        assert_eq!(names(&long), ["A", "B"]);
    }

    #[test]
    fn labels_stay_apart_when_a_name_looks_like_a_number() {
        let names = ["sim:a", "sim:a", "sim:a #1"];
        let labels = labels(names.iter().map(|name| fixtures::bench(name, 1.0)).collect());
        assert!(labels[0] != labels[2] && labels[1] != labels[2] && labels[0] != labels[1], "{labels:?}");
    }
}
