//! The speeds of files that were written one after the other, and what their list looks like.

use likenew_core::segment::Segment;

use super::lab::mb_per_s;
use super::page::{milliseconds, number};

/// Speeds in MB/s, in the order of writing.
#[derive(Clone, Default)]
pub(super) struct FileList {
    speeds: Vec<f64>,
    bytes: u64,
    elapsed_s: f64,
    latency_ns_max: u64,
}

impl FileList {
    /// Columns of [`row`](Self::row).
    pub(super) const HEAD: [&'static str; 9] = [
        "what was written",
        "mean, MB/s",
        "5 %, 50 %, 95 % of the files, MB/s",
        "list",
        "slow files",
        "slow, MB/s",
        "others, MB/s",
        "others / slow",
        "longest pause, ms",
    ];

    /// One more file.
    pub(super) fn add(&mut self, file: &Segment) {
        self.speeds.push(mb_per_s(file));
        self.join(file);
    }

    /// One large file, gigabyte after gigabyte; a last part of less than a whole one is left out of the list.
    pub(super) fn of_gigabytes(file: &Segment) -> Self {
        let windows = &file.gigabytes;
        let ends = windows.cells.iter().map(|cell| cell.last);
        let starts = std::iter::once(file.began).chain(ends.clone());
        let spans = starts.zip(ends).map(|(start, end)| end.since(start).as_secs_f64());
        let whole = windows.cells.iter().zip(spans).filter(|(cell, _)| cell.bytes >= windows.width);
        let mut list = Self {
            speeds: whole.map(|(cell, span)| cell.bytes as f64 / span / 1e6).collect(),
            ..Self::default()
        };
        list.join(file);
        list
    }

    fn join(&mut self, file: &Segment) {
        self.bytes += file.total().bytes;
        self.elapsed_s += file.elapsed().as_secs_f64();
        self.latency_ns_max = self.latency_ns_max.max(file.latencies().max().0);
    }

    /// Speed of the whole.
    pub(super) fn speed_mb_per_s(&self) -> f64 {
        self.bytes as f64 / self.elapsed_s / 1e6
    }

    /// Flat, two levels, or neither.
    fn shape(&self) -> &'static str {
        let (low, high) = (quantile(&self.speeds, 0.05), quantile(&self.speeds, 0.95));
        let third = (high - low) / 3.0;
        let middle = self.speeds.iter().filter(|speed| (low + third..high - third).contains(*speed)).count();
        if high <= 1.25 * low {
            "flat"
        } else if middle * 10 < self.speeds.len() {
            "two levels"
        } else {
            "spread out"
        }
    }

    /// A row of the table; a file below `limit` MB/s is slow.
    pub(super) fn row(&self, name: &str, limit: f64) -> Vec<String> {
        let (slow, others): (Vec<f64>, Vec<f64>) = self.speeds.iter().partition(|speed| **speed < limit);
        let median =
            |speeds: &[f64]| if speeds.is_empty() { "–".into() } else { number(quantile(speeds, 0.5)) };
        let ratio = if slow.is_empty() || others.is_empty() {
            "–".into()
        } else {
            number(quantile(&others, 0.5) / quantile(&slow, 0.5))
        };
        vec![
            name.into(),
            number(self.speed_mb_per_s()),
            [0.05, 0.5, 0.95].map(|share| number(quantile(&self.speeds, share))).join(", "),
            self.shape().into(),
            format!("{:.1} %", slow.len() as f64 / self.speeds.len() as f64 * 100.0),
            median(&slow),
            median(&others),
            ratio,
            milliseconds(self.latency_ns_max as f64),
        ]
    }
}

/// The value that a share of the values does not exceed; the nearest rank.
fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = ((sorted.len() as f64 * share).ceil() as usize).clamp(1, sorted.len());
    sorted[rank - 1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(speeds: Vec<f64>) -> FileList {
        FileList { speeds, bytes: 1_000_000, elapsed_s: 1.0, latency_ns_max: 2_000_000 }
    }

    #[test]
    fn lists_are_told_apart() {
        assert_eq!(list(vec![76.0; 100]).shape(), "flat");
        let two = list((0..100).map(|file| if file < 30 { 5.0 } else { 76.0 }).collect());
        assert_eq!(two.shape(), "two levels");
        let row = two.row("x", 38.0);
        assert_eq!(&row[3..8], ["two levels", "30.0 %", "5.00", "76.0", "15.2"]);
        assert_eq!(list((1..=100).map(f64::from).collect()).shape(), "spread out");
    }

    #[test]
    fn quantiles_are_values_of_the_list() {
        let values = [4.0, 1.0, 3.0, 2.0];
        assert_eq!([0.0, 0.25, 0.5, 1.0].map(|share| quantile(&values, share)), [1.0, 1.0, 2.0, 4.0]);
    }
}
