//! Verdicts and the drive, within a width.

use likenew_core::verdict::Verdict;

use super::Page;
use crate::document::Document;
use crate::unit::clean;
use crate::wording::{Severity, estimate_words, run_details, severity, standing_word};

/// Width of the words before evidence and doubt.
const HEAD: usize = 11;

impl Page {
    /// The verdicts: a sentence each, then whether it stands, the number, the evidence and the doubts.
    pub(super) fn verdicts(&self, document: &Document) -> String {
        let mut text = String::new();
        for verdict in &document.verdicts {
            self.verdict(verdict).into_iter().for_each(|line| text += &format!("{line}\n"));
            text.push('\n');
        }
        text
    }

    fn verdict(&self, verdict: &Verdict) -> Vec<String> {
        let claim = self.wrap(&clean(&verdict.claim), "", 0);
        let mut lines: Vec<String> = claim.iter().map(|line| self.paint.strong(line)).collect();
        let word = standing_word(verdict);
        let standing = match verdict.estimate.as_ref().map(estimate_words) {
            Some(estimate) => format!("{word}: {estimate}"),
            None => word.to_owned(),
        };
        let painted = self.standing(verdict, word);
        let standing = self.wrap(&standing, "  ", 4);
        lines.extend(
            standing.iter().enumerate().map(|(index, line)| {
                if index == 0 { line.replacen(word, &painted, 1) } else { line.clone() }
            }),
        );
        for (head, sentences) in [("evidence", &verdict.evidence), ("caveat", &verdict.caveats)] {
            for (index, sentence) in sentences.iter().enumerate() {
                let head = if index == 0 { head } else { "" };
                let wrapped = self.wrap(&clean(sentence), &format!("  {head:<9}"), HEAD);
                lines.extend(wrapped.into_iter().map(|line| {
                    if head.is_empty() { line } else { line.replacen(head, &self.paint.faint(head), 1) }
                }));
            }
        }
        lines
    }

    fn standing(&self, verdict: &Verdict, word: &str) -> String {
        match severity(verdict) {
            Severity::Good => self.paint.good(word),
            Severity::Bad => self.paint.bad(word),
            Severity::Doubtful => self.paint.doubtful(word),
        }
    }

    /// What was measured, with what, and what limits the trust in it.
    pub(super) fn run_details(&self, document: &Document) -> String {
        let sentences = run_details(document);
        let wrapped = sentences.iter().flat_map(|sentence| self.wrap(sentence, "", 2));
        wrapped.map(|line| format!("{}\n", self.paint.faint(&line))).collect()
    }
}
