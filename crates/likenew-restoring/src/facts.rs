//! What the system and the drive report about the drive, without any I/O.

mod remarks;
mod wording;

use likenew_core::facts::{Drive, Fact, FactRow, Facts as Known, Reported};
use likenew_core::findings::{Answer, Findings, Overview, Standing};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Descriptor, Layout, Procedure, Steps};
use likenew_core::shell::shell_quote;
use serde::{Deserialize, Serialize};

use crate::site::add_table;
use likenew_procedure_support::options::options;
use likenew_procedure_support::rows::row;
use likenew_rated::{Class, Figure, of_drive, usual};
use remarks::{Remark, remarks};
pub(crate) use remarks::{fault_of_drive, faults_met, lasting, settings};
pub(crate) use wording::{HEALTH, NOT_SHOWN, REMARKS, update_firmware};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "facts",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("facts.md"),
};

/// The procedure has no options.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FactsOptions {}

/// The procedure.
pub struct Facts;

impl Facts {
    /// From a plan's options.
    ///
    /// # Errors
    /// A sentence: it takes no options.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        options::<FactsOptions>("facts", table).map(|_| Self)
    }
}

impl Procedure for Facts {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    /// The smallest file, because the procedure does no I/O.
    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: 4096 }
    }

    fn only_probes(&self) -> bool {
        true
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let result = steps.probe(|| Probe::Facts);
        Ok(steps.conclude(|evidence| {
            let reason = match result {
                Ok(ProbeResult::Facts(facts)) => return judge(facts, evidence.plan.target.as_deref()),
                Ok(ProbeResult::Unknown(reason)) => Some(&**reason),
                _ => None,
            };
            let (summary, answer) = wording::nothing_collected(reason);
            Findings { summary, answers: vec![answer], ..Findings::default() }
        }))
    }
}

/// What was read of another machine, and what was not.
pub(crate) fn about_outputs(reported: &Reported) -> impl Iterator<Item = Answer> + use<> {
    std::iter::once(wording::read_from(reported)).chain(wording::not_shown(&reported.missing))
}

/// Findings for a check of another machine whose outputs hold no speed.
pub(crate) fn judge_without_speed(facts: &Known) -> Findings {
    let mut findings = judge(facts, None);
    let (summary, answer) = wording::speed_not_shown(&findings.summary, failing_drives(facts).is_some());
    findings.overview.answers.push(answer.id.clone());
    findings.answers.push(answer);
    Findings { summary, ..findings }
}

/// Everything unusual about drives of another machine, and what was read, to add to a check of it.
pub(crate) fn judge_beside_speed(facts: &Known) -> Vec<Answer> {
    let remarks = remarks(facts);
    remarks.iter().map(Remark::answer).chain(facts.reported.iter().flat_map(about_outputs)).collect()
}

fn judge(facts: &Known, target: Option<&str>) -> Findings {
    let mut findings = Findings::default();
    let remarks = remarks(facts);
    let rows = facts.rows();
    let unavailable = rows.iter().filter(|row| row.unknown.is_some()).count();
    let mut remarkable = if remarks.is_empty() {
        vec![wording::unremarkable(unavailable, rows.len())]
    } else {
        remarks.iter().map(Remark::answer).collect()
    };
    if unavailable > 0 {
        remarkable[0].caveats.push(wording::some_unavailable(unavailable, rows.len()));
    }
    let health = health_answer(facts);
    let standing = health.standing;
    let is_root = facts.machine.root.get() == Some(true);
    let health = match &facts.reported {
        Some(reported) if standing == Standing::Unknown => {
            wording::health_outputs(&reported.missing).into_iter().fold(health, Answer::action)
        }
        Some(_) => health,
        None => with_root_action(health, &rows, target, is_root),
    };
    let unusual: Vec<&str> = remarks.iter().map(|remark| &*remark.sentence).collect();
    findings.summary = wording::summary(&health, &unusual, unavailable, rows.len());
    // A failing drive comes first, and so does one of unknown health, which may be bad. Good health is no news.
    match standing {
        Standing::Good => remarkable.push(health),
        _ => findings.answers.push(health),
    }
    findings.answers.extend(remarkable);
    findings.answers.extend(facts.drives.iter().filter_map(wording::smartctl));
    findings.answers.extend(facts.drives.iter().filter_map(product));
    findings.answers.extend(facts.drives.iter().filter_map(endurance));
    findings.answers.extend(facts.reported.iter().flat_map(about_outputs));
    findings.overview = overview(facts, standing, remarks.is_empty());
    add_table(&mut findings, "remarks", remarks.iter().map(row));
    findings.tables.insert("facts".to_owned(), rows.iter().map(row).collect());
    findings
}

/// The drives, and the answers that the summary does not contain.
fn overview(facts: &Known, health: Standing, is_unremarkable: bool) -> Overview {
    let health = (health == Standing::Problem).then_some(wording::HEALTH);
    let remarks = (!is_unremarkable).then_some(wording::REMARKS);
    let product = facts.drives.iter().any(|drive| product(drive).is_some()).then_some(wording::PRODUCT);
    let told = facts.drives.iter().any(|drive| drive.smartctl.is_some()).then_some(wording::SMARTCTL);
    let missing = facts.reported.as_ref().filter(|reported| !reported.missing.is_empty());
    let missing = missing.map(|_| wording::NOT_SHOWN);
    let listed = [health, remarks, told, product, missing];
    Overview {
        answers: listed.into_iter().flatten().map(str::to_owned).collect(),
        table: (!facts.drives.is_empty()).then(|| wording::drive_table(&facts.drives)),
        ..Overview::default()
    }
}

/// The product of a drive; if that is unknown, what its class reaches.
fn product(drive: &Drive) -> Option<Answer> {
    if let Some(rated) = of_drive(drive) {
        return Some(wording::product(&drive.name, rated));
    }
    let capacity = drive.identity.capacity_bytes.get();
    let usual = usual(Class::of_drive(drive)?, capacity, Figure::Read)?;
    Some(wording::class(&drive.name, &usual))
}

/// Power-on hours from which a drive's pace of writing says how long it lasts. Chosen: a month and a half.
const HOURS_LEAST: u64 = 1000;

/// How much of its rated endurance a drive has used, and how long the rest lasts at the pace so far.
fn endurance(drive: &Drive) -> Option<Answer> {
    let drive = Some(drive).filter(|drive| !drive.is_volume())?;
    let rated_bytes = of_drive(drive)?.drive.tbw? * 1e12;
    let written = drive.counts.lifetime_bytes_written.get()? as f64;
    let hours = drive.counts.power_on_hours.get().filter(|hours| *hours >= HOURS_LEAST && written > 0.0);
    let hours_left = hours.map(|hours| (rated_bytes - written).max(0.0) / (written / hours as f64));
    Some(wording::endurance(&drive.name, written, rated_bytes, hours_left))
}

/// Names drives that report that they are failing: whatever was asked, their owner has to know it first.
pub(crate) fn failing_drives(facts: &Known) -> Option<Answer> {
    let failing: Vec<(String, Vec<String>)> = facts
        .drives
        .iter()
        .filter(|drive| drive.health.failing.get() == Some(true))
        .map(|drive| (drive.health_subject(), drive.health.warnings.value().cloned().unwrap_or_default()))
        .collect();
    (!failing.is_empty()).then(|| wording::failing(&failing))
}

/// Health as the drives report it. Only a failing drive is a problem; what facts mean for speed is not said
/// here.
fn health_answer(facts: &Known) -> Answer {
    if let Some(failing) = failing_drives(facts) {
        return failing;
    }
    if facts.drives.is_empty() {
        return wording::no_drive();
    }
    let silent: Vec<_> = facts.drives.iter().filter(|drive| drive.health.failing.value().is_none()).collect();
    if silent.is_empty() {
        return wording::sound();
    }
    // A reason that the user can act on comes first.
    let can_be_helped = |drive: &&&Drive| matches!(drive.health.failing, Fact::Unknown { help: Some(_), .. });
    let drive = silent.iter().find(can_be_helped).or(silent.first());
    let reason = drive.and_then(|drive| drive.health.failing.reason()).unwrap_or(wording::COULD_NOT_BE_ASKED);
    let all_are = silent.len() == facts.drives.len();
    let names: Vec<&str> = silent.iter().filter(|_| !all_are).map(|drive| &*drive.name).collect();
    wording::unreported(&names, reason)
}

/// Adds the action to ask as root, if root can find out more.
fn with_root_action(health: Answer, rows: &[FactRow], target: Option<&str>, is_root: bool) -> Answer {
    let takes_root =
        |row: &&FactRow| row.unknown.is_some() && row.help.as_ref().is_some_and(|help| help.contains("root"));
    match rows.iter().filter(takes_root).count() {
        0 => health,
        // Something other than missing rights refuses root.
        _ if is_root => health,
        facts => {
            let target = target.map_or_else(|| "--all".to_owned(), shell_quote);
            health.action(wording::ask_as_root(&target, facts))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(answers: &[Option<bool>]) -> Known {
        let drive = |(number, failing): (usize, &Option<bool>)| {
            let mut drive = Drive { name: format!("sd{number}"), ..Drive::default() };
            drive.health.failing = Fact::from_option(*failing, "it takes root", "SMART");
            drive
        };
        Known { drives: answers.iter().enumerate().map(drive).collect(), ..Known::default() }
    }

    #[test]
    fn a_disk_of_a_volume_is_named_and_rates_nothing() {
        let mut facts = known(&[Some(true)]);
        let drive = &mut facts.drives[0];
        drive.kind = likenew_core::facts::DriveKind::Sata;
        drive.identity.model = Fact::new("Samsung SSD 860 EVO 500GB".to_owned(), "t");
        drive.identity.capacity_bytes = Fact::new(500_107_862_016, "t");
        drive.counts.lifetime_bytes_written = Fact::new(1_000_000_000_000, "t");
        drive.health.pending_sectors = Fact::new(3, "t");
        assert!(endurance(drive).is_some() && wording::smartctl(drive).is_none());
        drive.smartctl = Some(likenew_core::facts::Smartctl {
            device_type: Fact::new("megaraid,5".to_owned(), "given now"),
            member: Fact::new("ST4000NM0023, 3.64 TiB".to_owned(), "t"),
        });
        assert_eq!(endurance(drive), None, "what one disk was written is not what the volume was");
        let told = wording::smartctl(drive).unwrap().answer;
        assert!(told.contains("ST4000NM0023") && told.contains("megaraid,5, given now"), "{told}");
        let findings = judge(&facts, None);
        assert!(
            findings.summary.contains("sd0 (disk megaraid,5) reports that it is failing"),
            "{}",
            findings.summary
        );
        let subjects: Vec<String> = remarks(&facts).into_iter().map(|remark| remark.subject).collect();
        assert!(subjects.contains(&"sd0 (disk megaraid,5)".to_owned()), "{subjects:?}");
    }

    #[test]
    fn one_failing_drive_is_a_problem_and_silence_is_no_health() {
        let standing = |answers: &[Option<bool>]| health_answer(&known(answers)).standing;
        assert_eq!(standing(&[Some(false), Some(true), None]), Standing::Problem);
        assert_eq!(standing(&[Some(false), Some(false)]), Standing::Good);
        assert_eq!(standing(&[Some(false), None]), Standing::Unknown);
        assert_eq!(standing(&[]), Standing::Unknown);
    }

    #[test]
    fn a_failing_drive_comes_first_and_so_does_silence() {
        let answers = |answers: &[Option<bool>]| judge(&known(answers), Some("/mnt/x")).answers;
        assert_eq!(answers(&[None, Some(true)])[0].id, wording::HEALTH);
        for (reported, words) in [
            (&[None, None][..], "unknown (it takes root)"),
            (&[Some(false), None], "unknown for sd1 (it takes root)"),
            (&[], "unknown (no physical drive was found below this target)"),
        ] {
            let first = answers(reported).remove(0);
            assert_eq!((first.standing, &*first.answer), (Standing::Unknown, words));
        }
        assert_eq!(answers(&[Some(false)])[1].standing, Standing::Good);
    }

    #[test]
    fn what_root_could_learn_is_a_command() {
        let mut facts = known(&[None]);
        facts.drives[0].health.failing = Fact::unknown("it takes root", "SMART").help("run it as root");
        let health = judge(&facts, Some("/mnt/my drive")).answers.remove(0);
        assert_eq!(health.actions[0].command.as_deref(), Some("sudo likenew facts '/mnt/my drive'"));
    }

    #[test]
    fn it_has_no_settings() {
        assert!(Facts::from_options(&toml::Table::new()).is_ok());
        let mut table = toml::Table::new();
        table.insert("span".into(), 1.into());
        assert!(Facts::from_options(&table).is_err());
    }
}
