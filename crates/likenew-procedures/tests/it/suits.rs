//! What suits runs and finds, on drives whose commits are known.

use crate::support::{evidence, standing};
use likenew_core::findings::Standing;
use likenew_core::io::Op;
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::{Evidence, Procedure as _, Step};
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_core::workload::Access;
use likenew_procedures::suits::Suits;

const SPAN: u64 = 64 << 20;

fn suits(options: &str) -> Suits {
    Suits::from_options(&options.parse().unwrap()).unwrap()
}

/// A pass in which each write takes `write` and each flush one of these times in turn.
fn pass(mut segment: Segment, write: Nanos, flushes: &[Nanos]) -> Segment {
    let ios = 1000;
    let mut tallies = [Tally::new(0, Op::Write), Tally::new(0, Op::Flush)];
    let mut elapsed = Nanos::ZERO;
    for io in 0..ios {
        let flush = flushes[io % flushes.len()];
        for (tally, latency) in tallies.iter_mut().zip([write, flush]) {
            tally.ios += 1;
            tally.latency_ns_sum += latency.0;
            tally.latency.record(latency);
            elapsed += latency;
        }
    }
    segment.tallies = tallies.to_vec();
    segment.ended_at = segment.started_at + elapsed;
    segment
}

/// The evidence of a run in which pass after pass has the next of these flushes.
fn measured(suits: &Suits, passes: &[&[Nanos]]) -> Evidence {
    let mut evidence = evidence(SPAN, true);
    evidence.observations.push(Observation {
        probe: Probe::Facts,
        result: ProbeResult::Unknown("not asked".into()),
        after: 0,
        started_at: Nanos::ZERO,
        ended_at: Nanos::ZERO,
        after_interruption: false,
        accounting: None,
    });
    let mut passes = passes.iter().cycle();
    while let Step::Run(workload) = suits.next(&evidence).unwrap() {
        let segment = crate::support::segment(&workload, Nanos::ZERO, &crate::support::steady(1e8));
        let is_pass = workload.streams[0].flush_every > 0;
        evidence.segments.push(if is_pass {
            pass(segment, Nanos::from_micros(50), passes.next().unwrap())
        } else {
            segment
        });
    }
    evidence
}

#[test]
fn each_write_is_followed_by_a_flush_of_one_writer_and_then_of_several() {
    let evidence = measured(&suits("passes = 2"), &[&[Nanos::from_millis(1)]]);
    let names: Vec<&str> = evidence.segments.iter().map(|segment| segment.workload.name.as_str()).collect();
    assert_eq!(names, ["prepare", "1 writer 1/2", "1 writer 2/2", "8 writers 1/2", "8 writers 2/2"]);
    let commits = &evidence.segments[3].workload;
    assert_eq!((commits.lanes, commits.streams[0].flush_every, commits.access), (8, 1, Access::Direct));
    assert_eq!(commits.bytes_written_max(), Some(5000 * 8192));
}

#[test]
fn a_use_is_judged_by_the_figure_that_is_met_least() {
    let judge = |flushes: &[&[Nanos]]| {
        let suits = suits("passes = 3\nwriters = 1\nfor = ['etcd', 'etcd-heavy']");
        let findings = suits.judge(&measured(&suits, flushes));
        let of = |id| standing(&findings, id).unwrap();
        (of("suits_etcd"), of("suits_etcd_heavy"), findings)
    };
    let (etcd, heavy, findings) = judge(&[&[Nanos::from_millis(1)]]);
    assert_eq!((etcd, heavy), (Standing::Good, Standing::Good), "{findings:#?}");
    // 200 commits a second, each within 5 ms.
    let (etcd, heavy, findings) = judge(&[&[Nanos::from_millis(5)]]);
    assert_eq!((etcd, heavy), (Standing::Good, Standing::Problem), "{findings:#?}");
    // Fast in the mean, and one in fifty takes 30 ms: p99 decides.
    let mut slow = vec![Nanos::from_micros(200); 50];
    slow[0] = Nanos::from_millis(30);
    let (etcd, heavy, findings) = judge(&[&slow]);
    assert_eq!((etcd, heavy), (Standing::Problem, Standing::Good), "{findings:#?}");
    // Passes that do not agree leave it open.
    let (etcd, _, findings) =
        judge(&[&[Nanos::from_millis(2)], &[Nanos::from_millis(12)], &[Nanos::from_millis(9)]]);
    assert_eq!(etcd, Standing::Unknown, "{findings:#?}");
}

/// With two passes that have little in common the interval of a time begins at 0, and that of how many times it is met has no end.
#[test]
fn an_interval_without_an_end_is_said_as_one() {
    let suits = suits("passes = 2\nwriters = 1\nfor = ['etcd']");
    let findings = suits.judge(&measured(&suits, &[&[Nanos::from_micros(100)], &[Nanos::from_millis(9)]]));
    let answer = findings.answers.iter().find(|answer| answer.id == "suits_etcd").unwrap();
    let words = format!("{} {}", answer.answer, answer.evidence.join(" "));
    assert!(words.contains("or more)") && !words.contains("inf") && !words.contains('∞'), "{words}");
}

#[test]
fn without_a_question_nothing_is_a_problem() {
    let suits = suits("passes = 2");
    let findings = suits.judge(&measured(&suits, &[&[Nanos::from_millis(40)]]));
    assert!(!findings.found_problem(), "{findings:#?}");
    assert!(findings.summary.contains("too slow for etcd"), "{}", findings.summary);
    assert_eq!(findings.tables["commits"].len(), 2);
    assert!(suits.judge(&evidence(SPAN, true)).answers.is_empty());
}

#[test]
fn a_use_without_a_published_figure_says_what_its_makers_advise() {
    let suits = suits("passes = 3\nwriters = 1\nfor = ['kafka', 'vm']");
    let findings = suits.judge(&measured(&suits, &[&[Nanos::from_millis(1)]]));
    let of = |id: &str| findings.answers.iter().find(|answer| answer.id == id).unwrap();
    let kafka = of("suits_kafka");
    assert_eq!((kafka.standing, of("suits_proxmox").standing), (Standing::Info, Standing::Good));
    assert!(kafka.answer.contains("no figure is published"), "{kafka:?}");
    assert!(kafka.evidence.join(" ").contains("kafka.apache.org"), "{kafka:?}");
    assert!(!findings.found_problem());
}

#[test]
fn bad_settings_are_named() {
    for (options, said) in [
        ("block = '3KiB'", "power of two"),
        ("block = 256", "block"),
        ("writers = 0", "writers"),
        ("passes = 0", "passes"),
        ("span = '1MiB'", "span"),
        ("for = ['oracle']", "oracle"),
    ] {
        let error = Suits::from_options(&options.parse().unwrap()).err().unwrap();
        assert!(error.contains(said), "{options}: {error}");
    }
}
