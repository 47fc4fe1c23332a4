//! Surveys of traces whose figures can be counted by hand.

use super::*;

struct Listed<'a>(std::slice::Iter<'a, TraceIo>, Vec<String>);

impl TraceSource for Listed<'_> {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        Ok(self.0.next().copied())
    }

    fn applications(&self) -> &[String] {
        &self.1
    }
}

fn io(at: u64, op: Op, offset: u64, length: u64, latency: Option<u64>, application: u16) -> TraceIo {
    TraceIo { at: Nanos(at), op, offset, length, latency: latency.map(Nanos), application }
}

fn surveyed(ios: &[TraceIo], names: &[&str]) -> Survey {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    survey(&mut Listed(ios.iter(), names)).unwrap()
}

#[test]
fn figures_are_those_counted_by_hand() {
    let ios = [
        io(0, Op::Write, 0, 4096, Some(100), 1),
        io(50, Op::Read, 1 << 20, 512, Some(100), 2),
        io(60, Op::Write, 4096, 8192, Some(10), 1),
        io(200, Op::Read, (1 << 20) + 512, 512, None, 2),
        io(300, Op::Flush, 0, 0, Some(40), 0),
        io(400, Op::Trim, 1 << 21, 1 << 22, Some(0), 1),
    ];
    let survey = surveyed(&ios, &["", "db", "backup"]);
    assert_eq!((survey.records, survey.span_ns, survey.end_max_bytes), (6, Nanos(400), 3 << 21));
    assert_eq!((survey.length_max_bytes, survey.sequential_share), (8192, 0.5));
    assert_eq!(survey.read, Amount { ios: 2, bytes: 1024 });
    assert_eq!(survey.write, Amount { ios: 2, bytes: 12_288 });
    assert_eq!(survey.trim, Amount { ios: 1, bytes: 1 << 22 });
    assert_eq!(survey.flush, Amount { ios: 1, bytes: 0 });
    let latency = survey.latency.unwrap();
    assert_eq!((latency.ios, latency.busy_ns, latency.waiting_ns), (5, Nanos(190), Nanos(250)));
    assert_eq!((latency.depth_max, latency.depth_mean), (3, 250.0 / 190.0));
    let shares: Vec<_> = survey
        .applications
        .iter()
        .map(|share| {
            (share.application.as_str(), share.ios, share.waiting_ns.0, share.busy_ns.map(|ns| ns.0))
        })
        .collect();
    assert_eq!(shares, [("db", 3, 110, Some(100)), ("backup", 2, 100, Some(100)), ("", 1, 40, Some(40))]);
}

#[test]
fn the_digest_knows_every_value() {
    let first = io(0, Op::Write, 512, 4096, Some(1), 1);
    let names = ["", "a", "b"];
    let digest = |io: TraceIo| surveyed(&[io], &names).digest;
    let changed = [
        TraceIo { at: Nanos(1), ..first },
        TraceIo { op: Op::Read, ..first },
        TraceIo { offset: 1024, ..first },
        TraceIo { length: 512, ..first },
        TraceIo { latency: None, ..first },
        TraceIo { latency: Some(Nanos(0)), ..first },
        TraceIo { application: 2, ..first },
    ];
    for other in changed {
        assert_ne!(digest(other), digest(first), "{other:?}");
    }
    // The name counts, not its index.
    assert_eq!(surveyed(&[TraceIo { application: 2, ..first }], &["", "b", "a"]).digest, digest(first));
    assert_eq!(digest(first).len(), "xxh3-64:".len() + 16);
}

#[test]
fn of_many_applications_the_rest_is_one() {
    let names: Vec<String> =
        std::iter::once(String::new()).chain((1..100).map(|n| format!("p{n}"))).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let ios: Vec<TraceIo> =
        (1..100).map(|n| io(n, Op::Read, 0, 512 * n, Some(1), u16::try_from(n).unwrap())).collect();
    let survey = surveyed(&ios, &names);
    assert_eq!(survey.applications.len(), 32);
    assert_eq!(survey.applications[0].application, "p99");
    let others = &survey.applications[31];
    assert_eq!((others.application.as_str(), others.ios, others.busy_ns), ("(others)", 68, None));
    assert_eq!(survey.applications.iter().map(|share| share.bytes).sum::<u64>(), survey.read.bytes);
}

#[test]
fn an_empty_trace_has_a_survey_that_is_kept_in_a_plan() {
    for ios in [vec![], vec![io(0, Op::Read, 0, 512, None, 0)]] {
        let survey = surveyed(&ios, &[""]);
        assert!(survey.latency.is_none());
        let text = serde_json::to_string(&survey).unwrap();
        assert_eq!(serde_json::from_str::<Survey>(&text).unwrap(), survey);
    }
}
