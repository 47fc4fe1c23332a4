//! Every outcome of the probes has its answer.

use crate::support::{evidence, play, segment, steady};
use likenew_core::findings::{Answer, Findings, Row, Standing};
use likenew_core::probe::{
    AllocationChange, Content, Layer, Observation, Probe, ProbeResult, ReadBack, ReadBackResult, ReadsAs,
    TrimCapabilities, TrimMethod, TrimPath, TrimReport,
};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::units::Nanos;
use likenew_procedures::trim::{Trim, TrimOptions};

const MIB: u64 = 1 << 20;
const TRIM: &str = "trim";
const EFFECT: &str = "effect";

fn answer<'a>(findings: &'a Findings, id: &str) -> &'a Answer {
    findings
        .answers
        .iter()
        .find(|answer| answer.id == id)
        .unwrap_or_else(|| panic!("no {id} in {findings:#?}"))
}

fn standing(findings: &Findings, id: &str) -> Standing {
    answer(findings, id).standing
}

fn options() -> TrimOptions {
    TrimOptions { bytes: 4 * MIB, span: Some(64 * MIB), worth: false, ..TrimOptions::default() }
}

fn layer(name: &str, passes: Option<bool>, remedy: Option<&str>) -> Layer {
    Layer {
        name: name.into(),
        kind: "layer".into(),
        passes,
        discard_max_bytes: None,
        granularity_bytes: None,
        evidence: "evidence".into(),
        remedy: remedy.map(str::to_owned),
    }
}

fn path(passes: Option<bool>) -> TrimPath {
    TrimPath {
        layers: vec![layer("/mnt", Some(true), None), layer("dm-0", passes, Some("allow it"))],
        immediate: Some(true),
        rotates: Some(false),
        medium_bytes: Some(128 * MIB),
    }
}

fn claims(trims: bool, reads_as: ReadsAs) -> TrimCapabilities {
    TrimCapabilities { trims: Some(trims), reads_as: Some(reads_as), evidence: "it says so".into() }
}

fn sent() -> TrimReport {
    TrimReport {
        means: TrimMethod::Fitrim,
        bytes: 4 * MIB,
        accepted_bytes: Some(4 * MIB),
        elapsed: Nanos(1000),
        ..TrimReport::default()
    }
}

/// All of it this.
fn all(change: impl Fn(&mut Content) -> &mut u64) -> Option<Content> {
    let mut content = Content::default();
    *change(&mut content) = 4 * MIB;
    Some(content)
}

fn old() -> ReadBackResult {
    let pattern = || all(|content| &mut content.pattern_bytes);
    ReadBackResult {
        bytes_written: 8 * MIB,
        sent: sent(),
        before_release: pattern(),
        released_half: pattern(),
        released_half_later: pattern(),
        kept_half: pattern(),
        probes_kept_ns: vec![100, 104, 96, 102, 99, 101, 100, 103],
        probes_released_ns: vec![101, 99, 103, 98, 100, 102, 97, 101],
        ..ReadBackResult::default()
    }
}

/// Answers the probes of a procedure with these results, and runs its random writes at these speeds with and
/// without TRIM.
fn judged(options: TrimOptions, probes: [ProbeResult; 3], speeds: [f64; 2]) -> (Evidence, Findings) {
    let procedure = Trim::new(options).unwrap();
    let mut evidence = evidence(128 * MIB, true);
    let path = probes[0].clone();
    let mut probes = probes.into_iter();
    let mut now = Nanos::ZERO;
    loop {
        match procedure.next(&evidence).unwrap() {
            Step::Done => break,
            Step::Probe(probe) => {
                let result = match &probe {
                    Probe::Release { .. } => ProbeResult::Released(sent()),
                    Probe::TrimPath if evidence.observations.len() == 3 => path.clone(),
                    _ => probes.next().expect("there are three probes"),
                };
                let after = evidence.segments.len();
                let (started_at, ended_at) = (now, now);
                evidence.observations.push(Observation {
                    probe,
                    result,
                    after,
                    started_at,
                    ended_at,
                    after_interruption: false,
                    accounting: None,
                });
            }
            Step::Run(workload) => {
                let speed = match &*workload.name {
                    "4K random write with TRIM" => speeds[0],
                    _ => speeds[1],
                };
                // A little scatter, as on any drive.
                let speed = speed * (1.0 + 0.002 * (evidence.segments.len() % 3) as f64);
                let segment = segment(&workload, now, &steady(speed));
                now = segment.ended_at;
                evidence.segments.push(segment);
            }
        }
    }
    let findings = procedure.judge(&evidence);
    (evidence, findings)
}

fn read_back(result: ReadBackResult) -> [ProbeResult; 3] {
    let claims = ProbeResult::TrimClaims(claims(true, ReadsAs::Anything));
    [ProbeResult::TrimPath(path(Some(true))), claims, ProbeResult::TrimReadBack(Box::new(result))]
}

fn step<'a>(findings: &'a Findings, name: &str) -> Option<&'a Row> {
    findings.tables["steps"].iter().find(|row| row["step"] == name)
}

#[test]
fn a_layer_that_blocks_ends_the_steps_and_is_named() {
    let unused = || ProbeResult::Unknown("not asked".into());
    let (evidence, findings) =
        judged(options(), [ProbeResult::TrimPath(path(Some(false))), unused(), unused()], [1e6; 2]);
    assert_eq!((evidence.observations.len(), evidence.segments.len()), (1, 0));
    assert_eq!(standing(&findings, TRIM), Standing::Problem);
    assert_eq!(answer(&findings, TRIM).answer, "stops at dm-0 (layer)");
    assert!(findings.found_problem() && findings.summary.contains("dm-0"));
    assert_eq!(answer(&findings, TRIM).actions[0].why, "Allow it");
    let rows = &findings.tables["steps"];
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["decisive"], true);
    assert_eq!(findings.tables["layers"].len(), 2);
}

#[test]
fn a_disk_that_rotates_needs_none() {
    let mut path = path(Some(false));
    path.rotates = Some(true);
    let unused = || ProbeResult::Unknown("not asked".into());
    let (_, findings) = judged(options(), [ProbeResult::TrimPath(path), unused(), unused()], [1e6; 2]);
    assert_eq!(standing(&findings, TRIM), Standing::Info);
    assert!(answer(&findings, TRIM).answer.contains("not needed"));
    assert!(!findings.found_problem());
}

#[test]
fn a_drive_that_knows_none_is_not_sent_any() {
    let none = ProbeResult::TrimClaims(claims(false, ReadsAs::Anything));
    let probes = [ProbeResult::TrimPath(path(None)), none, ProbeResult::Unknown("not asked".into())];
    let (evidence, findings) = judged(TrimOptions { worth: true, ..options() }, probes, [1e6; 2]);
    assert_eq!((evidence.observations.len(), evidence.segments.len()), (2, 0));
    assert_eq!(standing(&findings, TRIM), Standing::Problem);
    assert!(findings.found_problem());
}

#[test]
fn zeros_or_ones_prove_it_and_old_data_prove_nothing() {
    for (content, expected) in [
        (all(|content| &mut content.zero_bytes), Standing::Good),
        (all(|content| &mut content.ones_bytes), Standing::Good),
        (all(|content| &mut content.pattern_bytes), Standing::Unknown),
        (all(|content| &mut content.other_bytes), Standing::Unknown),
        (all(|content| &mut content.taken_bytes), Standing::Unknown),
    ] {
        let (_, findings) = judged(
            options(),
            read_back(ReadBackResult { released_half: content, released_half_later: None, ..old() }),
            [1e6; 2],
        );
        assert_eq!(standing(&findings, TRIM), expected, "{content:?}");
        assert!(!findings.found_problem());
        let decisive = &step(&findings, "read_back").unwrap()["decisive"];
        assert_eq!(*decisive, expected == Standing::Good);
    }
    let zeros_later = ReadBackResult { released_half_later: all(|content| &mut content.zero_bytes), ..old() };
    assert_eq!(standing(&judged(options(), read_back(zeros_later), [1e6; 2]).1, TRIM), Standing::Good);
}

#[test]
fn a_claim_of_zeros_that_is_broken_is_a_problem() {
    let mut probes = read_back(old());
    probes[1] = ProbeResult::TrimClaims(claims(true, ReadsAs::Zeros));
    let (_, findings) = judged(options(), probes.clone(), [1e6; 2]);
    assert_eq!(standing(&findings, TRIM), Standing::Problem);
    assert!(findings.found_problem());
    let refused = TrimReport { refusal: Some("it takes root".into()), ..TrimReport::default() };
    probes[2] = ProbeResult::TrimReadBack(Box::new(ReadBackResult { sent: refused, ..old() }));
    let (_, findings) = judged(TrimOptions { worth: true, ..options() }, probes, [1e6; 2]);
    assert_eq!(standing(&findings, TRIM), Standing::Unknown, "what was not sent breaks no promise");
    assert_eq!(standing(&findings, EFFECT), Standing::Unknown);
    assert!(answer(&findings, TRIM).evidence.iter().any(|reason| reason.contains("takes root")));
    assert!(answer(&findings, EFFECT).evidence.iter().any(|reason| reason.contains("takes root")));
}

#[test]
fn timing_and_accounting_prove_it_without_a_byte() {
    // One of them late, as on any machine.
    let fast = vec![50, 52, 49, 51, 50, 9000, 51, 50, 49, 50, 52, 51];
    let silent = ReadBackResult {
        before_release: None,
        released_half: None,
        released_half_later: None,
        kept_half: None,
        read_error: Some("why".into()),
        ..old()
    };
    let timed = ReadBackResult { probes_released_ns: fast, ..silent.clone() };
    let (_, findings) = judged(options(), read_back(timed), [1e6; 2]);
    assert_eq!(standing(&findings, TRIM), Standing::Good);
    assert!(step(&findings, "timing").unwrap()["answer"].as_str().unwrap().starts_with("yes"));
    for (after_bytes, expected) in [(10 * MIB, Standing::Good), (13 * MIB, Standing::Unknown)] {
        let allocated =
            Some(AllocationChange { before_bytes: 14 * MIB, after_bytes, source: "somebody".into() });
        let counted = ReadBackResult { allocated, ..silent.clone() };
        assert_eq!(standing(&judged(options(), read_back(counted), [1e6; 2]).1, TRIM), expected);
    }
    let few = ReadBackResult { probes_kept_ns: vec![100], probes_released_ns: vec![10], ..silent };
    assert_eq!(standing(&judged(options(), read_back(few), [1e6; 2]).1, TRIM), Standing::Unknown);
}

#[test]
fn the_effect_decides_where_the_drive_keeps_silent() {
    let worth = |span| TrimOptions { worth: true, time: Nanos::from_secs(1), span: Some(span), ..options() };
    let (evidence, findings) = judged(worth(64 * MIB), read_back(old()), [30e6, 20e6]);
    assert_eq!(standing(&findings, TRIM), Standing::Good);
    assert_eq!(standing(&findings, EFFECT), Standing::Info);
    assert!(answer(&findings, EFFECT).answer.starts_with("random writes are 1.50×"), "{findings:#?}");
    assert!(findings.summary.contains("1.50×"), "{}", findings.summary);
    let estimate = answer(&findings, EFFECT).estimate.clone().unwrap();
    assert!(estimate.low < 1.5 && 1.5 < estimate.high && estimate.high < 1.6, "{estimate:?}");
    assert_eq!(findings.tables["worth"][0]["freed_bytes"], 32 * MIB);
    assert_eq!(findings.tables["worth_passes"].len(), 8);
    assert_eq!(evidence.observations.len(), 4 + 2);
    // A quarter of the drive was trimmed, without a difference.
    let (_, findings) = judged(worth(64 * MIB), read_back(old()), [20e6, 20e6]);
    assert_eq!(standing(&findings, TRIM), Standing::Problem);
    assert!(answer(&findings, EFFECT).answer.starts_with("none;"), "{findings:#?}");
    assert!(findings.found_problem());
    // Too little to prove anything.
    let (_, findings) = judged(worth(16 * MIB), read_back(old()), [20e6, 20e6]);
    assert_eq!(standing(&findings, TRIM), Standing::Unknown);
    assert!(!findings.found_problem());
    let (_, findings) = judged(TrimOptions { passes: 1, ..worth(64 * MIB) }, read_back(old()), [30e6, 20e6]);
    assert_eq!(standing(&findings, EFFECT), Standing::Unknown);
}

#[test]
fn what_was_kept_and_has_changed_is_a_problem() {
    let mut content = all(|content| &mut content.pattern_bytes).unwrap();
    (content.pattern_bytes, content.zero_bytes) = (3 * MIB, MIB);
    let zeros = all(|content| &mut content.zero_bytes);
    let result =
        ReadBackResult { kept_half: Some(content), released_half: zeros, released_half_later: None, ..old() };
    let (_, findings) = judged(options(), read_back(result), [1e6; 2]);
    assert_eq!(standing(&findings, "damaged_data"), Standing::Problem);
    assert_eq!(findings.answers[0].id, "damaged_data", "lost data comes first");
    assert!(findings.found_problem());
}

#[test]
fn what_may_only_be_read_is_only_inspected() {
    let procedure = Trim::new(TrimOptions { worth: false, ..options() }).unwrap();
    let mut evidence = evidence(MIB, false);
    for result in [ProbeResult::TrimPath(path(Some(true))), ProbeResult::Unknown("no claims".into())] {
        let Step::Probe(probe) = procedure.next(&evidence).unwrap() else { panic!("a probe comes first") };
        assert!(!probe.writes());
        let (started_at, ended_at) = (Nanos::ZERO, Nanos::ZERO);
        evidence.observations.push(Observation {
            probe,
            result,
            after: 0,
            started_at,
            ended_at,
            after_interruption: false,
            accounting: None,
        });
    }
    assert_eq!(procedure.next(&evidence), Ok(Step::Done));
    let findings = procedure.judge(&evidence);
    assert_eq!(standing(&findings, TRIM), Standing::Unknown);
    assert!(findings.summary.contains("nothing was written"), "{}", findings.summary);
}

#[test]
fn nothing_at_all_is_undecided_and_nonsense_is_refused() {
    let procedure = Trim::new(options()).unwrap();
    let unlooked = play(&procedure, evidence(128 * MIB, true), |_, _| steady(1e6));
    assert_eq!(standing(&unlooked, TRIM), Standing::Unknown);
    for (bad, word) in [
        (TrimOptions { bytes: 5, ..options() }, "bytes"),
        (TrimOptions { bytes: 0, ..options() }, "bytes"),
        (TrimOptions { time: Nanos::ZERO, ..options() }, "time"),
        (TrimOptions { depth: 0, ..options() }, "depth"),
        (TrimOptions { passes: 0, ..options() }, "passes"),
        (TrimOptions { probes: 1 << 30, ..options() }, "probes"),
        (TrimOptions { wait: Nanos::from_secs(7200), ..options() }, "wait"),
        (TrimOptions { worth: true, span: Some(MIB), ..options() }, "span"),
    ] {
        assert!(Trim::new(bad).err().unwrap().contains(word), "{word}");
    }
    let large = Trim::new(TrimOptions { worth: true, span: Some(1 << 40), ..options() }).unwrap();
    assert!(large.next(&evidence(128 * MIB, true)).unwrap_err().contains("--span"));
    let text = toml::to_string(&TrimOptions::default()).unwrap();
    assert_eq!(toml::from_str::<TrimOptions>(&text).unwrap(), TrimOptions::default(), "{text}");
    let read_back = ReadBack { seed: 0, bytes: 1, wait: Nanos::ZERO, probes: 0, raw: true };
    assert_eq!(Probe::TrimReadBack(read_back).bytes_written(), 2);
}
