//! Whether a new drive is worth it, from waits whose every number is known.

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::procedure::{Evidence, Plan, Procedure as _};
use likenew_core::target::{Clock, Geometry};
use likenew_procedures::check::{
    Check, CheckOptions, DriveOption, MixOption, RecordingOption, Role, UpgradeOptions, Waits,
};

const HOUR: f64 = 3600e9;

fn drive(name: &str, role: Role, minutes: Option<[f64; 2]>) -> DriveOption {
    let waits = minutes.map(|[blocking, busy]| Waits {
        ios: 1000,
        blocking_ns: blocking * 60e9,
        busy_ns: busy * 60e9,
        latency_ns_p99: 5_000_000,
        latency_ns_max: 80_000_000,
        ..Waits::default()
    });
    DriveOption { name: name.into(), role, is_scaled: false, fill_percent: Some(40.0), waits }
}

/// A working day of eight hours: five minutes of it are worth a drive.
fn on_day(drives: Vec<DriveOption>) -> UpgradeOptions {
    let recording = RecordingOption {
        trace: "day.csv".into(),
        digest: "d".into(),
        elapsed_ns: (8.0 * HOUR) as u64,
        knows_ends: true,
    };
    UpgradeOptions { recording: Some(recording), mix: None, drives }
}

fn judged(upgrade: UpgradeOptions) -> Findings {
    let geometry = Geometry {
        capacity: 1 << 30,
        block: 512,
        boundary: None,
        writable: false,
        trims: false,
        carries_data: false,
        clock: Clock::Virtual,
    };
    let identity = Identity {
        name: "played".into(),
        kind: TargetKind::Simulated,
        model: None,
        engine: "played".into(),
        capacity_bytes: 1 << 30,
        block_bytes: 512,
        facts: Vec::new(),
        caveats: Vec::new(),
        accounting: None,
    };
    let plan = Plan::new("check", None, 0, toml::Table::new());
    let options = CheckOptions { upgrade: Some(upgrade), ..CheckOptions::default() };
    Check::new(options).unwrap().judge(&Evidence::new(plan, identity, geometry))
}

fn about<'a>(findings: &'a Findings, drive: &str) -> &'a Answer {
    let question = format!("Upgrade to {drive}");
    let found = findings.answers.iter().find(|answer| answer.question == question);
    found.unwrap_or_else(|| panic!("no {question} in {:#?}", findings.answers))
}

#[test]
fn each_candidate_has_an_answer_and_the_least_waited_for_comes_first() {
    let findings = judged(on_day(vec![
        drive("this drive", Role::Now, Some([40.0, 50.0])),
        drive("middling", Role::Candidate, Some([36.0, 49.0])),
        drive("fast", Role::Candidate, Some([1.0, 2.0])),
        drive("slow", Role::Candidate, Some([60.0, 70.0])),
        drive("faster", Role::Candidate, Some([0.5, 1.0])),
    ]));
    for (drive, is_worth_it) in [("fast", true), ("faster", true), ("middling", false), ("slow", false)] {
        let answer = about(&findings, drive);
        assert_eq!(answer.standing, Standing::Info, "{drive}");
        assert_eq!(!answer.answer.contains("not worth it"), is_worth_it, "{drive}: {}", answer.answer);
    }
    let best = findings.answers.iter().find(|answer| answer.id == "best_upgrade").unwrap();
    // Half a minute is not worth a price.
    assert!(best.answer.starts_with("faster or fast"), "{}", best.answer);
    let fast = about(&findings, "fast");
    let estimate = fast.estimate.as_ref().unwrap();
    assert_eq!((estimate.value, estimate.low, estimate.high), (39.0 * 60e9, 39.0 * 60e9, 48.0 * 60e9));
    assert_eq!(fast.answer, "98% less waiting in the recorded 8 h (40 min → 60.0 s)");
    assert!(about(&findings, "slow").answer.starts_with("50% more waiting"));
    let order: Vec<&str> =
        findings.tables["upgrade"].iter().map(|row| row["drive"].as_str().unwrap()).collect();
    assert_eq!(order, ["this drive", "faster", "fast", "middling", "slow"]);
    assert_eq!(findings.tables["upgrade"][2]["faster_times"], 40.0);
    assert_eq!(findings.series["upgrade"].categories.len(), 5);
}

#[test]
fn it_is_undecided_where_only_writes_would_save_enough_or_nothing_is_known_of_now() {
    let writes = judged(on_day(vec![
        drive("this drive", Role::Now, Some([4.0, 50.0])),
        drive("fast", Role::Candidate, Some([1.0, 2.0])),
    ]));
    assert_eq!(about(&writes, "fast").standing, Standing::Unknown);
    let unknown = judged(on_day(vec![
        drive("this drive", Role::Now, None),
        drive("fast", Role::Candidate, Some([1.0, 2.0])),
    ]));
    let answer = about(&unknown, "fast");
    assert_eq!(answer.standing, Standing::Unknown);
    assert_eq!(answer.answer, "unknown, because the trace has no latencies");
}

#[test]
fn a_drive_that_nobody_found_ill_is_not_held_against_its_first_day() {
    let findings = judged(on_day(vec![
        drive("this drive", Role::Now, Some([40.0, 50.0])),
        drive("this drive", Role::AsNew, Some([2.0, 3.0])),
        drive("fast", Role::Candidate, Some([1.0, 2.0])),
    ]));
    let answer = about(&findings, "fast");
    assert!(!answer.answer.contains("not worth it"), "{}", answer.answer);
    assert_eq!(answer.standing, Standing::Info, "there is no fix to take in its place");
    assert!(!answer.evidence.iter().any(|sentence| sentence.contains("fix")));
}

#[test]
fn what_makes_no_sense_is_refused_with_what_would() {
    let refused = |upgrade: UpgradeOptions| {
        let options = CheckOptions { upgrade: Some(upgrade), ..CheckOptions::default() };
        Check::new(options).err().expect("it makes no sense")
    };
    let none = on_day(vec![drive("this drive", Role::Now, None)]);
    assert!(refused(none).contains("candidate"));
    let fast = || vec![drive("fast", Role::Candidate, Some([1.0, 2.0]))];
    let neither = UpgradeOptions { recording: None, mix: None, drives: fast() };
    assert!(refused(neither).contains("either a recording or a mix"));
    let mix = MixOption::new(vec!["word".into()], Vec::new(), 1 << 40, 1 << 30).unwrap();
    let unknown = MixOption { applications: vec!["wrod".into()], ..mix };
    assert!(
        refused(UpgradeOptions { recording: None, mix: Some(unknown), drives: fast() })
            .contains("unknown application")
    );
}

#[test]
fn a_mix_is_as_large_as_its_bytes_allow_and_only_reads_where_nothing_may_be_written() {
    let mix = |writable: u64| MixOption::new(vec!["pcmark8".into()], Vec::new(), 1 << 40, writable);
    let part = mix(512 << 20).unwrap();
    assert_eq!(part.span, 256 << 20);
    // The ten applications write 8869 MB.
    assert!(part.scale * 8_869e6 <= (256 << 20) as f64 && part.scale >= 0.02, "{}", part.scale);
    let reads = mix(0).unwrap();
    assert!(reads.reads_only && reads.scale == 1.0 && reads.span == MixOption::SPAN_READ);
    assert!(mix(1 << 20).unwrap_err().contains("at least 16 MiB"));
}
