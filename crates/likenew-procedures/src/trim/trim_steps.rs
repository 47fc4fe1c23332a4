//! The ladder as a table: what was asked, what was answered, and what that rests on.

use likenew_core::trim::{Content, DiscardCounters, ReadsAs, TrimMethod, TrimReport};
use likenew_core::units::{Nanos, amount, three_digits};
use serde::Serialize;

use super::trim_evidence::TrimEvidence;
use super::worth::Worth;

/// One rung.
#[derive(Clone, Debug, Serialize)]
pub(super) struct TrimStep {
    pub(super) step: &'static str,
    pub(super) question: &'static str,
    pub(super) answer: String,
    pub(super) evidence: String,
    /// Whether it decides by itself.
    pub(super) decisive: bool,
}

impl TrimEvidence<'_> {
    /// Every rung that was stood on.
    pub(super) fn steps(&self, worth: Option<&Worth<'_>>) -> Vec<TrimStep> {
        let steps = [
            self.capability(),
            self.claimed_step(),
            self.sending(),
            self.reading_back(),
            self.timing_step(),
            self.allocation_check(),
            worth.and_then(Worth::step),
        ];
        steps.into_iter().flatten().collect()
    }

    fn capability(&self) -> Option<TrimStep> {
        let question = "Does every layer let TRIM pass?";
        let path = match self.path? {
            Err(reason) => return Some(unknown("capability", question, reason)),
            Ok(path) => path,
        };
        let answer = match path.blocked_by() {
            Some(layer) => format!("no: {} ({}) does not", layer.name, layer.kind),
            None if path.layers.iter().all(|layer| layer.passes.is_none()) => "unknown".to_owned(),
            None => "yes, as far as they say".to_owned(),
        };
        let message = path.layers.iter().map(|layer| format!("{}: {}", layer.name, layer.evidence));
        let evidence = message.collect::<Vec<_>>().join("; ");
        Some(TrimStep { step: "capability", question, answer, evidence, decisive: self.is_blocked() })
    }

    fn claimed_step(&self) -> Option<TrimStep> {
        let question = "What does the drive say of itself?";
        let claims = match self.claims? {
            Err(reason) => return Some(unknown("claims", question, reason)),
            Ok(claims) => claims,
        };
        let trims = match claims.trims {
            Some(true) => "it knows TRIM",
            Some(false) => "it knows no TRIM",
            None => "it does not say whether it knows TRIM",
        };
        let reads = match claims.reads_as {
            Some(ReadsAs::Zeros) => ", and promises zeros after it",
            Some(ReadsAs::Ones) => ", and promises 0xFF after it",
            Some(ReadsAs::Same) => ", and promises the same bytes each time after it",
            Some(ReadsAs::Anything) | None => ", and promises nothing of what is read after it",
        };
        let answer = if claims.trims == Some(false) { trims.to_owned() } else { format!("{trims}{reads}") };
        Some(TrimStep {
            step: "claims",
            question,
            answer,
            evidence: claims.evidence.clone(),
            decisive: self.has_no_trim(),
        })
    }

    fn sending(&self) -> Option<TrimStep> {
        let sent = &self.read_back?.ok()?.sent;
        let question = "Was TRIM sent?";
        let answer = match (&sent.refusal, sent.means) {
            (Some(reason), _) => format!("no: {reason}"),
            (None, TrimMethod::Mount) => "by the file system, which does so by itself".to_owned(),
            (None, TrimMethod::Fitrim) => "by the file system, which was asked to for this range".to_owned(),
            (None, TrimMethod::Command | TrimMethod::Nothing) => "to the drive itself".to_owned(),
        };
        Some(TrimStep { step: "sending", question, answer, evidence: elapsed_text(sent), decisive: false })
    }

    fn reading_back(&self) -> Option<TrimStep> {
        let question = "What is read where something was given up?";
        let result = match self.read_back? {
            Err(reason) => return Some(unknown("read back", question, reason)),
            Ok(result) => result,
        };
        let Some(outcome) = self.outcome() else {
            return Some(unknown(
                "read back",
                question,
                result.read_error.as_deref().unwrap_or("it was not read"),
            ));
        };
        let contents = [
            ("before", result.before_release),
            ("after", result.released_half),
            ("after the wait", result.released_half_later),
            ("kept beside it", result.kept_half),
        ];
        let evidence =
            contents.into_iter().filter_map(|(when, content)| Some(format!("{when}: {}", spell(&content?))));
        let decisive = outcome.is_trimmed() || self.violates_claim();
        let evidence = evidence.collect::<Vec<_>>().join("; ");
        Some(TrimStep { step: "read back", question, answer: outcome.words().to_owned(), evidence, decisive })
    }

    fn timing_step(&self) -> Option<TrimStep> {
        let timing = self.timing()?;
        let count = self.read_back?.ok()?.probes_kept_ns.len();
        let ratio = three_digits(timing.ratio);
        let evidence = match timing.interval {
            Some(interval) => format!(
                "median latency where it is kept over that where it was given up: {ratio} ({}–{}), {count} reads of 4 KiB in either half, in turns",
                three_digits(interval.low),
                three_digits(interval.high)
            ),
            None => format!(
                "median latency where it is kept over that where it was given up: {ratio}, of too few reads for an interval"
            ),
        };
        let decisive = self.answers_from_map();
        let answer = if decisive { "yes: the drive answers without its flash" } else { "no" };
        let question = "Is what was given up read faster than what is kept?";
        Some(TrimStep { step: "timing", question, answer: answer.to_owned(), evidence, decisive })
    }

    fn allocation_check(&self) -> Option<TrimStep> {
        let allocated = self.read_back?.ok()?.allocated.as_ref()?;
        let decisive = self.frees_allocation();
        let (before, after) = (amount(allocated.before_bytes), amount(allocated.after_bytes));
        Some(TrimStep {
            step: "accounting",
            question: "Does the drive count less as in use?",
            answer: if decisive { "yes" } else { "no" }.to_owned(),
            evidence: format!("{before} before and {after} after, by {}", allocated.source),
            decisive,
        })
    }
}

fn unknown(step: &'static str, question: &'static str, reason: &str) -> TrimStep {
    TrimStep {
        step,
        question,
        answer: "not possible here".to_owned(),
        evidence: reason.to_owned(),
        decisive: false,
    }
}

/// How the drive was told, and what the counters say of that.
fn elapsed_text(sent: &TrimReport) -> String {
    let mut parts = vec![format!("{} given up", amount(sent.bytes))];
    parts.extend(sent.accepted_bytes.map(|bytes| format!("{} accepted", amount(bytes))));
    // A file system that does it by itself has begun before anybody looked at a clock.
    if matches!(sent.means, TrimMethod::Fitrim | TrimMethod::Command) && sent.bytes > 0 {
        let each_gib = Nanos((sent.elapsed.0 as f64 / sent.bytes as f64 * f64::from(1 << 30)) as u64);
        parts.push(format!("in {}, {each_gib} a GiB", sent.elapsed));
    }
    let counters = sent.discard_counters.iter().map(|DiscardCounters { device, ios, bytes }| {
        format!("{device} counted {} more as discarded, in {ios} I/Os", amount(*bytes))
    });
    parts.extend(counters);
    parts.join(", ")
}

fn spell(content: &Content) -> String {
    let parts = [
        (content.pattern_bytes, "as written"),
        (content.zero_bytes, "zeros"),
        (content.ones_bytes, "0xFF"),
        (content.other_bytes, "other"),
        (content.taken_bytes, "not free any more, left out"),
        (content.refused_bytes, "unreadable"),
    ];
    let parts = parts.into_iter().filter(|(bytes, _)| *bytes > 0);
    parts.map(|(bytes, what)| format!("{} {what}", amount(bytes))).collect::<Vec<_>>().join(", ")
}
