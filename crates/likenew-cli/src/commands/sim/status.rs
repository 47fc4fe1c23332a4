//! The lines that a server says of itself from time to time, and at its end.

use likenew_core::drive::FlashCounters;
use likenew_core::units::{Nanos, amount, rate, three_digits};
use likenew_nbd::serve_stats::{Lag, ServeStats};

/// Answers that leave later than this on average are worth a word: the simulation is slower than the drive.
const LATE_NS: f64 = 1e6;

/// What has happened since the last line.
#[derive(Debug, Default)]
pub(super) struct Status {
    reported_at: Nanos,
    last_report: ServeStats,
}

impl Status {
    /// A line, unless nothing was asked since the last one.
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
        let line = format!(
            "{clients} {}; {} IOPS, {} read, {} written; {}",
            if clients == 1 { "client" } else { "clients" },
            three_digits(per_second(after.requests(), before.requests())),
            rate(per_second(after.bytes_read, before.bytes_read)),
            rate(per_second(after.bytes_written, before.bytes_written)),
            lag(&after.lag),
        );
        Some(counters.map_or(line.clone(), |counters| {
            format!("{line}; drive: {}", counters_text(&counters, after.bytes_trimmed))
        }))
    }
}

/// What a serve came to, for people.
pub(super) fn summary(
    stats: &ServeStats,
    elapsed: Nanos,
    drive: Nanos,
    counters: Option<FlashCounters>,
) -> String {
    let mut lines = vec![format!(
        "{} connections in {:.1} s, {:.1} s on the drive's clock; {} requests: {} reads ({}), {} writes ({}), {} TRIM ({}), {} zeroings ({}), {} flushes",
        stats.connections,
        elapsed.as_secs_f64(),
        drive.as_secs_f64(),
        stats.requests(),
        stats.reads,
        amount(stats.bytes_read),
        stats.writes,
        amount(stats.bytes_written),
        stats.trims,
        amount(stats.bytes_trimmed),
        stats.zeroes,
        amount(stats.bytes_zeroed),
        stats.flushes
    )];
    if stats.refused + stats.failed + stats.dropped > 0 {
        lines.push(format!(
            "{} requests refused, {} failed, {} clients dropped",
            stats.refused, stats.failed, stats.dropped
        ));
    }
    if stats.lag.answers > 0 {
        lines.push(format!("{} I/Os at once at most; {}", stats.depth_max, lag(&stats.lag)));
    }
    if let Some(counters) = counters {
        lines.push(format!("drive: {}", counters_text(&counters, stats.bytes_trimmed)));
    }
    if let Some(bytes) = stats.bytes_kept {
        lines.push(format!("kept beside it: {}", amount(bytes)));
    }
    if stats.lag.mean_ns > LATE_NS {
        lines.push(
            "The simulation was slower than the drive: lower --speed, or ask less of it at once.".into(),
        );
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn lag(lag: &Lag) -> String {
    let time_text = |ns: f64| match ns {
        ..1e6 => format!("{} µs", three_digits(ns / 1e3)),
        _ => format!("{} ms", three_digits(ns / 1e6)),
    };
    format!(
        "answers late by {}, 99 % by less than {}, {} at most",
        time_text(lag.mean_ns),
        time_text(lag.p99_ns as f64),
        time_text(lag.max_ns as f64)
    )
}

fn counters_text(counters: &FlashCounters, bytes_trimmed: u64) -> String {
    if !counters.has_flash() {
        let (host, medium) = (amount(counters.host_bytes_written), amount(counters.flash_bytes_programmed));
        return format!("{host} from the host, {medium} written to the medium");
    }
    format!(
        "{} from the host, {} programmed, write amplification {:.2}, {} erasures, {} trimmed",
        amount(counters.host_bytes_written),
        amount(counters.flash_bytes_programmed),
        counters.write_amplification,
        counters.erases,
        amount(bytes_trimmed)
    )
}

#[cfg(test)]
mod tests {
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
        let summary_text = |mean_ns| summary(&stats(mean_ns), Nanos::from_secs(1), Nanos::from_secs(1), None);
        assert!(summary_text(2e6).contains("slower than the drive") && !summary_text(1e4).contains("slower"));
    }
}
