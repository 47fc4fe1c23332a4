//! Status lines of a server, periodic and at its end.

use likenew_core::flash_counters::FlashCounters;
use likenew_core::units::Nanos;
use likenew_nbd::serve_stats::ServeStats;

use crate::wording::serve as wording;

/// Counts since the last line.
#[derive(Debug, Default)]
pub(super) struct Status {
    reported_at: Nanos,
    last_report: ServeStats,
}

impl Status {
    /// A line, unless there was no request since the last one.
    pub(super) fn line(
        &mut self,
        now: Nanos,
        clients: usize,
        stats: ServeStats,
        counters: Option<FlashCounters>,
    ) -> Option<String> {
        let span = now.since(self.reported_at).as_secs_f64().max(1e-9);
        self.reported_at = now;
        let before = std::mem::replace(&mut self.last_report, stats);
        let after = &self.last_report;
        if (after.requests(), after.clients) == (before.requests(), before.clients) {
            return None;
        }
        let per_second = |after: u64, before: u64| (after - before) as f64 / span;
        let line = wording::status(
            clients,
            per_second(after.requests(), before.requests()),
            per_second(after.bytes_read, before.bytes_read),
            per_second(after.bytes_written, before.bytes_written),
            &after.lag,
        );
        Some(match counters {
            Some(counters) => wording::with_counters(&line, &counters, after.bytes_trimmed),
            None => line,
        })
    }
}

#[cfg(test)]
mod tests {
    use likenew_nbd::serve_stats::Lag;

    use super::*;

    #[test]
    fn a_line_is_of_what_happened_since_the_last_one() {
        let mut status = Status::default();
        let stats = ServeStats { clients: 1, reads: 1000, bytes_read: 4_096_000, ..ServeStats::default() };
        let line = status.line(Nanos::from_secs(2), 1, stats.clone(), None).unwrap();
        assert!(line.starts_with("1 client; 500 IOPS, 2.05 MB/s read"), "{line}");
        assert_eq!(status.line(Nanos::from_secs(4), 1, stats.clone(), None), None);
        let more = ServeStats { reads: 1200, ..stats };
        let line = status.line(Nanos::from_secs(5), 2, more, None).unwrap();
        assert!(line.starts_with("2 clients; 200 IOPS"), "{line}");
    }

    #[test]
    fn a_late_simulation_is_reported() {
        let stats = |mean_ns| ServeStats {
            lag: Lag { answers: 1, mean_ns, ..Lag::default() },
            ..ServeStats::default()
        };
        let summary_text =
            |mean_ns| wording::summary(&stats(mean_ns), Nanos::from_secs(1), Nanos::from_secs(1), None);
        assert!(summary_text(2e6).contains("slower than the drive") && !summary_text(1e4).contains("slower"));
    }
}
