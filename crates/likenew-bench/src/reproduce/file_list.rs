//! The speeds of files that were written one after the other, and the answers on them.

use likenew_core::findings::{Answer, Findings};

use super::page::{figure, milliseconds, number};

/// The findings of a fill.
#[derive(Clone)]
pub(super) struct FileList {
    /// MB/s, in the order of writing.
    speeds: Vec<f64>,
    mb_per_s: f64,
    latency_ns_max: f64,
    stalls: f64,
    write_amplification: f64,
    answers: Vec<String>,
}

impl FileList {
    /// Columns of [`row`](Self::row).
    pub(super) const HEAD: [&'static str; 9] = [
        "what was written",
        "mean, MB/s",
        "5%, 50%, 95% of the files, MB/s",
        "slow files",
        "slow, MB/s",
        "others, MB/s",
        "write amplification",
        "stalls",
        "max, ms",
    ];

    /// From a table of files, or of parts, of `each` bytes.
    pub(super) fn from_findings(
        findings: &Findings,
        name: &str,
        each: u64,
        write_amplification: f64,
    ) -> Self {
        let rows = &findings.tables[name];
        let all = |key: &'static str| rows.iter().map(move |row| figure(row, key));
        Self {
            speeds: all("bytes_per_s").map(|speed| speed / 1e6).collect(),
            mb_per_s: each as f64 * rows.len() as f64 / all("elapsed_ns").sum::<f64>() * 1e3,
            latency_ns_max: all("latency_ns_max").fold(0.0, f64::max),
            stalls: all("stalls").sum(),
            write_amplification,
            answers: findings.answers.iter().map(sentence).collect(),
        }
    }

    /// Speed of the whole.
    pub(super) fn speed_mb_per_s(&self) -> f64 {
        self.mb_per_s
    }

    /// The answers, as sentences.
    pub(super) fn answers_text(&self) -> String {
        self.answers.join(" ")
    }

    /// A row of the table; a file below `limit` MB/s is slow.
    pub(super) fn row(&self, name: &str, limit: f64) -> Vec<String> {
        let (slow, others): (Vec<f64>, Vec<f64>) = self.speeds.iter().partition(|speed| **speed < limit);
        let median =
            |speeds: &[f64]| if speeds.is_empty() { "–".into() } else { number(quantile(speeds, 0.5)) };
        vec![
            name.into(),
            number(self.mb_per_s),
            [0.05, 0.5, 0.95].map(|share| number(quantile(&self.speeds, share))).join(", "),
            format!("{:.1}%", slow.len() as f64 / self.speeds.len() as f64 * 100.0),
            median(&slow),
            median(&others),
            number(self.write_amplification),
            self.stalls.to_string(),
            milliseconds(self.latency_ns_max),
        ]
    }

    /// The median of each tenth of the list.
    pub(super) fn sparkline(&self, name: &str) -> Vec<String> {
        let tenths = self.speeds.chunks(self.speeds.len().div_ceil(10));
        std::iter::once(name.to_owned()).chain(tenths.map(|tenth| number(quantile(tenth, 0.5)))).collect()
    }
}

/// `Stalls: none.`
fn sentence(answer: &Answer) -> String {
    format!("{}: {}.", answer.question, answer.answer)
}

/// The quantile by nearest rank.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len());
    sorted[rank - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_tell_slow_files_from_others() {
        let list = FileList {
            speeds: (0..100).map(|file| if file < 30 { 5.0 } else { 76.0 }).collect(),
            mb_per_s: 20.0,
            latency_ns_max: 2e6,
            stalls: 0.0,
            write_amplification: 1.0,
            answers: vec!["A.".into(), "B.".into()],
        };
        assert_eq!(&list.row("x", 38.0)[3..6], ["30.0%", "5.00", "76.0"]);
        assert_eq!(&list.sparkline("x")[..5], ["x", "5.00", "5.00", "5.00", "76.0"]);
        assert_eq!(list.answers_text(), "A. B.");
    }

    #[test]
    fn quantiles_are_values_of_the_list() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|share| quantile(&values, share)), [1.0, 1.0, 2.0, 4.0]);
    }
}
