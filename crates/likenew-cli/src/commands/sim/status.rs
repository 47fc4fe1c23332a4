//! The lines that a server says of itself from time to time, and at its end.

use likenew_core::drive::Accounting;
use likenew_core::units::{Nanos, amount, rate, three_digits};
use likenew_nbd::served::{Lag, Served};

/// Answers that leave later than this on average are worth a word: the simulation is slower than the drive.
const LATE_NS: f64 = 1e6;

/// What has happened since the last line.
#[derive(Debug, Default)]
pub(super) struct Status {
    said_at: Nanos,
    said: Served,
}

impl Status {
    /// A line, unless nothing was asked since the last one.
    pub(super) fn line(
        &mut self,
        now: Nanos,
        clients: usize,
        served: Served,
        books: Option<Accounting>,
    ) -> Option<String> {
        let span = now.since(self.said_at).as_secs_f64().max(1e-9);
        self.said_at = now;
        let before = std::mem::replace(&mut self.said, served);
        let after = &self.said;
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
        Some(
            books.map_or(line.clone(), |books| {
                format!("{line}; drive: {}", spelled(&books, after.bytes_trimmed))
            }),
        )
    }
}

/// What a serve came to, for people.
pub(super) fn summary(served: &Served, elapsed: Nanos, drive: Nanos, books: Option<Accounting>) -> String {
    let mut lines = vec![format!(
        "{} connections in {:.1} s, {:.1} s on the drive's clock; {} requests: {} reads ({}), {} writes ({}), {} TRIM ({}), {} zeroings ({}), {} flushes",
        served.connections,
        elapsed.as_secs_f64(),
        drive.as_secs_f64(),
        served.requests(),
        served.reads,
        amount(served.bytes_read),
        served.writes,
        amount(served.bytes_written),
        served.trims,
        amount(served.bytes_trimmed),
        served.zeroes,
        amount(served.bytes_zeroed),
        served.flushes
    )];
    if served.refused + served.failed + served.dropped > 0 {
        lines.push(format!(
            "{} requests refused, {} failed, {} clients dropped",
            served.refused, served.failed, served.dropped
        ));
    }
    if served.lag.answers > 0 {
        lines.push(format!("{} I/Os at once at most; {}", served.depth_max, lag(&served.lag)));
    }
    if let Some(books) = books {
        lines.push(format!("drive: {}", spelled(&books, served.bytes_trimmed)));
    }
    if let Some(bytes) = served.bytes_kept {
        lines.push(format!("kept beside it: {}", amount(bytes)));
    }
    if served.lag.mean_ns > LATE_NS {
        lines.push(
            "The simulation was slower than the drive: lower --speed, or ask less of it at once.".into(),
        );
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn lag(lag: &Lag) -> String {
    let spelled = |ns: f64| match ns {
        ..1e6 => format!("{} µs", three_digits(ns / 1e3)),
        _ => format!("{} ms", three_digits(ns / 1e6)),
    };
    format!(
        "answers late by {}, 99 % by less than {}, {} at most",
        spelled(lag.mean_ns),
        spelled(lag.p99_ns as f64),
        spelled(lag.max_ns as f64)
    )
}

fn spelled(books: &Accounting, bytes_trimmed: u64) -> String {
    if !books.has_flash() {
        let (host, medium) = (amount(books.host_bytes_written), amount(books.flash_bytes_programmed));
        return format!("{host} from the host, {medium} written to the medium");
    }
    format!(
        "{} from the host, {} programmed, write amplification {:.2}, {} erasures, {} trimmed",
        amount(books.host_bytes_written),
        amount(books.flash_bytes_programmed),
        books.write_amplification,
        books.erases,
        amount(bytes_trimmed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_of_what_happened_since_the_last_one() {
        let mut status = Status::default();
        let served = Served { clients: 1, reads: 1000, bytes_read: 4_096_000, ..Served::default() };
        let line = status.line(Nanos::from_secs(2), 1, served.clone(), None).unwrap();
        assert!(line.starts_with("1 client; 500 IOPS, 2.05 MB/s read"), "{line}");
        assert_eq!(status.line(Nanos::from_secs(4), 1, served.clone(), None), None);
        let more = Served { reads: 1200, ..served };
        let line = status.line(Nanos::from_secs(5), 2, more, None).unwrap();
        assert!(line.starts_with("2 clients; 200 IOPS"), "{line}");
    }

    #[test]
    fn a_late_simulation_is_told() {
        let served =
            |mean_ns| Served { lag: Lag { answers: 1, mean_ns, ..Lag::default() }, ..Served::default() };
        let say = |mean_ns| summary(&served(mean_ns), Nanos::from_secs(1), Nanos::from_secs(1), None);
        assert!(say(2e6).contains("slower than the drive") && !say(1e4).contains("slower"));
    }
}
