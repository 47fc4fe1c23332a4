//! Documents that are shown together: those of one procedure side by side, below the document that says how they differ.

use std::path::PathBuf;

use indexmap::IndexMap;
use likenew_archive::{ArchiveError, SampleReader};
use likenew_compare::{ComparedRun, compare};
use likenew_core::drive::Identity;
use likenew_core::plan::Plan;
use likenew_core::sample::Sample;
use likenew_core::units::Nanos;
use likenew_report::document::{COMPARISON, Document};
use likenew_report::embedded_samples::{EmbeddedSamples, ShownIo};
use likenew_report::labeled_document::{LabeledDocument, label_all, short_names};

use crate::wording;

/// A document to show.
pub(crate) struct Member {
    pub(crate) document: Document,
    /// Whether a hypervisor provides the drive: runs on it differ by more.
    pub(crate) is_virtual: bool,
    /// The files with every I/O of the run.
    pub(crate) samples: Vec<PathBuf>,
}

impl Member {
    /// Of what is no run of a procedure.
    pub(crate) fn alone(document: Document) -> Self {
        Self { document, is_virtual: false, samples: Vec::new() }
    }
}

/// Documents in the order in which they are shown, each with the files of its I/Os.
pub(crate) struct SideBySide {
    documents: Vec<LabeledDocument>,
    samples: Vec<Vec<PathBuf>>,
}

impl SideBySide {
    pub(crate) fn new(members: Vec<Member>) -> Self {
        let (mut documents, mut others) = (Vec::new(), Vec::new());
        for Member { document, is_virtual, samples } in members {
            documents.push(document);
            others.push((is_virtual, samples));
        }
        let mut groups: IndexMap<String, Vec<(LabeledDocument, bool, Vec<PathBuf>)>> = IndexMap::new();
        for (labeled, (is_virtual, samples)) in label_all(documents).into_iter().zip(others) {
            let group = groups.entry(labeled.document.procedure.clone()).or_default();
            group.push((labeled, is_virtual, samples));
        }
        let shown = groups.into_values().flat_map(|group| {
            let members: Vec<(&LabeledDocument, bool)> =
                group.iter().map(|(labeled, is_virtual, _)| (labeled, *is_virtual)).collect();
            let comparison = comparison(&members).map(|comparison| (comparison, Vec::new()));
            comparison.into_iter().chain(group.into_iter().map(|(labeled, _, samples)| (labeled, samples)))
        });
        let (documents, samples) = shown.unzip();
        Self { documents, samples }
    }

    pub(crate) fn shown(&self) -> &[LabeledDocument] {
        &self.documents
    }

    /// The same for a page, with every I/O of the runs that recorded them. A run that was killed may have left them unreadable.
    pub(crate) fn shown_with_samples(&self) -> Vec<LabeledDocument> {
        let mut documents = self.documents.clone();
        for (labeled, files) in documents.iter_mut().zip(&self.samples).filter(|(_, files)| !files.is_empty())
        {
            let of = |read: Result<(u32, Sample), ArchiveError>| {
                let (_, sample) = read?;
                Ok(ShownIo { op: sample.op, at: sample.due, latency: sample.latency() })
            };
            let read = || {
                let readers = files.iter().map(|path| SampleReader::open(path));
                Ok::<_, ArchiveError>(readers.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().map(of))
            };
            match EmbeddedSamples::new(read) {
                Ok(samples) => labeled.samples = samples,
                Err(error) => crate::standard_error::note(wording::error(wording::samples_left_out(error))),
            }
        }
        documents
    }

    /// The documents of runs.
    pub(crate) fn runs(&self) -> Vec<&Document> {
        self.documents().filter(|document| !is_comparison(document)).collect()
    }

    /// The documents that compare runs.
    pub(crate) fn comparisons(&self) -> Vec<&Document> {
        self.documents().filter(|document| is_comparison(document)).collect()
    }

    fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().map(|labeled| &labeled.document)
    }
}

fn is_comparison(document: &Document) -> bool {
    document.procedure == COMPARISON
}

/// How documents of one procedure differ, if there are several and they have a speed in common.
fn comparison(group: &[(&LabeledDocument, bool)]) -> Option<LabeledDocument> {
    let labels: Vec<&str> = group.iter().map(|(labeled, _)| labeled.label.as_str()).collect();
    let names = short_names(labels.iter().copied());
    let runs = group.iter().zip(&names).map(|((labeled, is_virtual), name)| {
        let Document { plan, target, tables, .. } = &labeled.document;
        ComparedRun { name, plan, kind: target.kind, is_virtual: *is_virtual, tables }
    });
    let findings = compare(&runs.collect::<Vec<_>>())?;
    let first = &group.first()?.0.document;
    let target = Identity {
        name: labels.join(", "),
        facts: Vec::new(),
        caveats: Vec::new(),
        accounting: None,
        ..first.target.clone()
    };
    let options =
        [("procedure".to_owned(), first.procedure.clone().into()), ("runs".to_owned(), labels.into())];
    let plan = Plan {
        procedure: COMPARISON.to_owned(),
        target: None,
        options: options.into_iter().collect(),
        ..first.plan.clone()
    };
    let document = Document::new(plan, target, findings, first.instrument.clone(), 0, Nanos::ZERO);
    Some(LabeledDocument { label: COMPARISON.to_owned(), document, samples: None })
}
