//! What the drive's state prevents is known to the check that advises a step, and to the recondition that
//! runs it.

use std::io;
use std::path::Path;

use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::findings::{Answer, Findings};
use likenew_core::fix::{ActionKind, Feasibility, Objection};
use likenew_core::io::Op;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Evidence, Plan, Step};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::workload::Access;
use likenew_procedures::all;
use likenew_run::runner::run_procedure;
use likenew_sim::Spec;

use crate::questions::Bystander;

/// A simulated drive whose state prevents some steps.
struct AilingDrive<D> {
    drive: D,
    forbids: &'static [ActionKind],
}

const WHY: &str = "12 sectors wait to be read; copy them first";

impl<D: Drive> Drive for AilingDrive<D> {
    fn identity(&self) -> Identity {
        self.drive.identity()
    }

    fn geometry(&self) -> Geometry {
        self.drive.geometry()
    }

    fn lanes_max(&self) -> u32 {
        self.drive.lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        self.drive.lanes(need)
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
        self.drive.prepare_access(access, cold)
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, TargetError> {
        if *probe != Probe::Feasibility {
            return self.drive.probe(probe);
        }
        let objection =
            |action: &ActionKind| Objection { action: *action, forbids: true, reason: WHY.into() };
        let objections = self.forbids.iter().map(objection).collect();
        Ok(ProbeResult::Feasibility(Feasibility { objections, ..Feasibility::default() }))
    }
}

const TARGET: &str = "sim:tiny-flash?state=used&fill=1&deleted=0.9";

/// The model's metrics when new, so that something is slow.
fn references(table: &str) -> String {
    let of = |metric: &str, per_s: f64| {
        format!("[[{table}reference]]\nmetric = '{metric}'\norigin = 'simulated'\nper_s = {per_s:?}\n")
    };
    [
        ("sustained_write", 67_760_464.0),
        ("sequential_write", 68_838_726.0),
        ("sequential_read", 278_838_431.0),
    ]
    .map(|(metric, per_s)| of(metric, per_s))
    .concat()
}

fn asked(procedure: &str, forbids: &'static [ActionKind]) -> (Evidence, Findings) {
    asked_within("1GiB", procedure, forbids)
}

fn asked_within(bytes: &str, procedure: &str, forbids: &'static [ActionKind]) -> (Evidence, Findings) {
    let spec = Spec::parse(TARGET).unwrap();
    let none = |_: &Path| Err(io::ErrorKind::NotFound.into());
    let mut drive = AilingDrive { drive: spec.open(none).unwrap(), forbids };
    let free = spec.free(drive.geometry().capacity);
    let free = format!("free = '{}..{}'\n", free.start, free.end);
    let options = match procedure {
        "check" => format!("bytes = '{bytes}'\n{free}{}", references("")),
        _ => format!("idle = '1s'\npasses = 2\n{free}[check]\nbytes = '{bytes}'\n{}", references("check.")),
    };
    let plan = Plan::new(procedure, Some(TARGET.into()), 0, toml::from_str(&options).unwrap());
    let procedure = all::from_plan(&plan).unwrap();
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    run_procedure(&mut drive, &*procedure, &mut evidence, &mut Bystander).unwrap();
    let findings = all::judge(&*procedure, &evidence);
    (evidence, findings)
}

/// The steps that a check advises, by their names after `--step`.
fn advised(findings: &Findings) -> Vec<String> {
    let fixes = findings.tables.get("fixes").into_iter().flatten();
    let commands = fixes.filter_map(|row| row["command"].as_str());
    let mut steps: Vec<String> =
        commands.filter_map(|command| Some(command.split_once("--step ")?.1.to_owned())).collect();
    // Two causes may have the same fix.
    steps.dedup();
    steps
}

fn answer<'a>(findings: &'a Findings, id: &str) -> &'a Answer {
    let found = findings.answers.iter().find(|answer| answer.id == id);
    found.unwrap_or_else(|| panic!("no {id} in {:#?}", findings.answers))
}

#[test]
fn a_check_advises_no_step_that_the_state_of_the_drive_forbids_and_says_why() {
    let all = advised(&asked("check", &[]).1);
    assert!(all.contains(&"trim".to_owned()) && all.contains(&"overwrite".to_owned()), "{all:?}");
    let without = |forbids| {
        let (_, findings) = asked("check", forbids);
        let cause = answer(&findings, "cause_no_trim");
        assert!(cause.caveats.iter().any(|caveat| caveat.contains(WHY)), "{cause:#?}");
        advised(&findings)
    };
    assert_eq!(without(&[ActionKind::Fstrim]), ["overwrite"]);
    // A step that only has to wait is no reason to erase everything.
    assert_eq!(without(&[ActionKind::Fstrim, ActionKind::OverwriteFree]), [""; 0]);
}

#[test]
fn a_recondition_checks_with_what_it_knows_of_the_drive() {
    let (_, findings) = asked("recondition", &[ActionKind::Fstrim, ActionKind::OverwriteFree]);
    assert!(!findings.tables.contains_key("steps"), "{:#?}", findings.tables["steps"]);
    let answers = format!("{:#?}", findings.answers);
    assert!(answers.contains(WHY), "{answers}");
    let mut advised = findings.answers.iter().flat_map(|answer| &answer.actions);
    let forbidden = ["recondition_trim", "recondition_overwrite"];
    assert!(advised.all(|action| !forbidden.contains(&action.id.as_str())), "{answers}");
    let (evidence, findings) = asked("recondition", &[ActionKind::Fstrim]);
    let taken: Vec<_> = findings.tables["steps"].iter().map(|row| row["step"].as_str().unwrap()).collect();
    assert_eq!(taken, ["overwrite"]);
    let probes =
        evidence.observations.iter().filter(|observation| observation.probe == Probe::Feasibility).count();
    assert_eq!(probes, 2, "each check looks once, and the first at what was looked at before it");
}

#[test]
fn runs_that_have_not_asked_go_on_and_are_judged_without() {
    for procedure in ["check", "recondition"] {
        let (mut evidence, findings) = asked(procedure, &[]);
        evidence.observations.retain(|observation| observation.probe != Probe::Feasibility);
        let of = all::from_plan(&evidence.plan).unwrap();
        let ids = |findings: &Findings| {
            findings
                .answers
                .iter()
                .map(|answer| (answer.id.clone(), answer.answer.clone()))
                .collect::<Vec<_>>()
        };
        let again = all::judge(&*of, &evidence);
        assert_eq!((&again.summary, ids(&again)), (&findings.summary, ids(&findings)), "{procedure}");
        assert_eq!(of.next(&evidence), Ok(Step::Done), "{procedure}");
        // Interrupted in its first check, it continues with a workload.
        let mut cut = evidence.clone();
        cut.segments.truncate(2);
        cut.observations.retain(|observation| observation.after < 2);
        assert!(matches!(of.next(&cut), Ok(Step::Run(_))), "{procedure}");
    }
}

#[test]
fn a_check_ends_with_durable_writes_within_its_bytes_and_a_repair_has_none() {
    let commits = |evidence: &Evidence| {
        let names = evidence.segments.iter().map(|segment| segment.workload.name.clone());
        names.filter(|name| name.starts_with("fdatasync")).collect::<Vec<_>>()
    };
    let both = ["fdatasync 8K T1 write", "fdatasync 8K T8 write"];
    for (bytes, limit) in [("1GiB", 1 << 30), ("256MiB", 1 << 28), ("128MiB", 1 << 27)] {
        let (evidence, findings) = asked_within(bytes, "check", &[]);
        assert_eq!(commits(&evidence), both, "{bytes}");
        let written: u64 = evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
        assert!(written <= limit, "{written} of {bytes}");
        assert_eq!((findings.tables["commits"].len(), advised(&findings).is_empty()), (2, false));
    }
    assert!(commits(&asked("recondition", &[]).0).is_empty());
}
