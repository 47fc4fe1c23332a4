//! Documents that are shown together: those of one procedure side by side, below the document that says how they differ.

use indexmap::IndexMap;
use likenew_compare::{ComparedRun, compare};
use likenew_core::drive::Identity;
use likenew_core::plan::Plan;
use likenew_core::units::Nanos;
use likenew_report::document::{COMPARISON, Document};
use likenew_report::labeled_document::{LabeledDocument, label_all, short_names};

/// A document to show.
pub(crate) struct Member {
    pub(crate) document: Document,
    /// Whether a hypervisor provides the drive: runs on it differ by more.
    pub(crate) is_virtual: bool,
}

/// Documents in the order in which they are shown.
pub(crate) struct SideBySide(Vec<LabeledDocument>);

impl SideBySide {
    pub(crate) fn new(members: Vec<Member>) -> Self {
        let are_virtual: Vec<bool> = members.iter().map(|member| member.is_virtual).collect();
        let labeled = label_all(members.into_iter().map(|member| member.document).collect());
        let mut groups: IndexMap<String, Vec<(LabeledDocument, bool)>> = IndexMap::new();
        for member in labeled.into_iter().zip(are_virtual) {
            groups.entry(member.0.document.procedure.clone()).or_default().push(member);
        }
        let shown = groups.into_values().flat_map(|group| {
            let comparison = comparison(&group);
            comparison.into_iter().chain(group.into_iter().map(|(labeled, _)| labeled))
        });
        Self(shown.collect())
    }

    pub(crate) fn shown(&self) -> &[LabeledDocument] {
        &self.0
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
        self.0.iter().map(|labeled| &labeled.document)
    }
}

fn is_comparison(document: &Document) -> bool {
    document.procedure == COMPARISON
}

/// How documents of one procedure differ, if there are several and they have a speed in common.
fn comparison(group: &[(LabeledDocument, bool)]) -> Option<LabeledDocument> {
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
    Some(LabeledDocument { label: COMPARISON.to_owned(), document })
}
