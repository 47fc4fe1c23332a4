//! Plans as TOML files and as jobs of fio, both read and written. Errors name the file, the line and the key.

use std::path::Path;

use likenew_core::drive::TargetKind;
use likenew_core::dry_run::DryRun;
use likenew_core::input::{self, one_line};
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::workload::Workload;
use likenew_procedures::all::from_plan;
use likenew_report::terminal::{escape_steering, steers};
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Table, Value};

use crate::arguments::ExportFormat;
use crate::exit::{Failure, Result};
use crate::{output, wording};

/// Reads a plan and checks its options, or makes one of fio's jobs. `bytes_of` gives the size of the jobs' target.
///
/// # Errors
/// The file cannot be read, is neither a plan nor a job file, or its procedure refuses an option.
pub(crate) fn read_plan(path: &Path, bytes_of: impl FnOnce(Option<&str>) -> Option<u64>) -> Result<Plan> {
    let name = &*path.to_string_lossy();
    let text = input::read_text(path, input::PLAN)
        .map_err(|error| Failure::unreadable(&format!("the plan {name}"), error))?;
    if likenew_fio::is_job_file(&text) {
        return plan_of_jobs(name, &text, bytes_of);
    }
    let plan: Plan = toml::from_str(&text).map_err(|error| {
        let line = error.span().map(|span| line_of(&text, span.start));
        Failure::Usage(wording::plan_error(name, line, None, &one_line(error.message())))
    })?;
    if plan.procedure != REPLAY {
        let refused = from_plan(&plan).err();
        refused.map_or(Ok(()), |reason| Err(Failure::Usage(refusal(name, &text, &plan, &reason))))?;
    }
    Ok(plan)
}

fn plan_of_jobs(name: &str, text: &str, bytes_of: impl FnOnce(Option<&str>) -> Option<u64>) -> Result<Plan> {
    let refused = |line, option: Option<&str>, reason: &str| {
        Failure::Usage(wording::plan_error(name, line, option, reason))
    };
    let jobs = likenew_fio::job_file(text, bytes_of)
        .map_err(|error| refused(Some(error.line), error.option.as_deref(), &error.reason))?;
    jobs.differences.iter().for_each(crate::console::note);
    let mut options = workload_options(&jobs.workloads);
    if jobs.bytes > 0 {
        let file = jobs.bytes.next_multiple_of(FILE_UNIT);
        options.insert("file_size".to_owned(), Value::String(file.to_string()));
    }
    let plan = Plan::new("run", jobs.target, 0, options);
    from_plan(&plan).map_err(|reason| refused(None, None, &reason))?;
    Ok(plan)
}

/// File sizes of a run are multiples of this.
const FILE_UNIT: u64 = 4096;

/// The options of the procedure `run` for these workloads.
pub(crate) fn workload_options<'a>(workloads: impl IntoIterator<Item = &'a Workload>) -> Table {
    let workloads: Vec<&Workload> = workloads.into_iter().collect();
    let workloads = Value::try_from(workloads).expect("workloads are plain values");
    Table::from_iter([("workload".to_owned(), workloads)])
}

/// Procedure whose options are complete, and checked, only after its trace was read.
const REPLAY: &str = "replay";

/// The error for a refused plan. A procedure does not know the plan's text, so the key at fault is
/// the one without which the error changes.
fn refusal(file: &str, text: &str, plan: &Plan, reason: &str) -> String {
    let culprit = culprit(&plan.options, &mut |options| {
        let changed = Plan { options, ..plan.clone() };
        from_plan(&changed).err().is_none_or(|other| other != reason)
    });
    let path = match culprit {
        Some(keys) => [vec![Key::Name("options".into())], keys].concat(),
        None => vec![Key::Name("procedure".into())],
    };
    let line = DeTable::parse(text).ok().and_then(|table| offset_of(table.get_ref(), &path));
    let key = (path.len() > 1).then(|| spelled(&path));
    wording::plan_error(file, line.map(|offset| line_of(text, offset)), key.as_deref(), reason)
}

/// A step on the path to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Key {
    Name(String),
    Index(usize),
}

/// The path to the innermost value whose absence changes the error.
fn culprit(options: &Table, differs_without: &mut dyn FnMut(Table) -> bool) -> Option<Vec<Key>> {
    for key in options.keys() {
        let mut without = options.clone();
        let value = without.remove(key)?;
        if !differs_without(without) {
            continue;
        }
        let mut path = vec![Key::Name(key.clone())];
        let inner = inner_culprit(&value, &mut |value| {
            let mut changed = options.clone();
            changed.insert(key.clone(), value);
            differs_without(changed)
        });
        path.extend(inner.unwrap_or_default());
        return Some(path);
    }
    None
}

fn inner_culprit(value: &Value, differs_with: &mut dyn FnMut(Value) -> bool) -> Option<Vec<Key>> {
    match value {
        Value::Table(table) => culprit(table, &mut |table| differs_with(Value::Table(table))),
        Value::Array(list) => (0..list.len()).find_map(|index| {
            let mut without = list.clone();
            let element = without.remove(index);
            if without.is_empty() || !differs_with(Value::Array(without)) {
                return None;
            }
            let inner = inner_culprit(&element, &mut |value| {
                let mut changed = list.clone();
                changed[index] = value;
                differs_with(Value::Array(changed))
            });
            Some([vec![Key::Index(index)], inner.unwrap_or_default()].concat())
        }),
        _ => None,
    }
}

/// The place in the text of the last of these keys, or of the innermost that is found.
fn offset_of(table: &DeTable<'_>, path: &[Key]) -> Option<usize> {
    let (first, rest) = path.split_first()?;
    let Key::Name(name) = first else { return None };
    let (key, value) = table.iter().find(|(key, _)| key.get_ref().as_ref() == name.as_str())?;
    offset_in(value, rest).or(Some(key.span().start))
}

fn offset_in(value: &Spanned<DeValue<'_>>, path: &[Key]) -> Option<usize> {
    match (value.get_ref(), path.first()?) {
        (DeValue::Table(table), Key::Name(_)) => offset_of(table, path),
        (DeValue::Array(list), Key::Index(index)) => {
            let element = list.get(*index)?;
            offset_in(element, &path[1..]).or(Some(element.span().start))
        }
        _ => None,
    }
}

fn spelled(path: &[Key]) -> String {
    path.iter().fold(String::new(), |text, key| match key {
        Key::Name(name) if text.is_empty() => name.clone(),
        Key::Name(name) => format!("{text}.{name}"),
        Key::Index(index) => format!("{text}[{index}]"),
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset.min(text.len())].iter().filter(|byte| **byte == b'\n').count()
}

/// Prints the job file.
pub(crate) fn export(program: ExportFormat, evidence: &Evidence, dry_run: &DryRun) -> Result<()> {
    let ExportFormat::Fio = program;
    let notes = notes(evidence, dry_run);
    let text = likenew_fio::export(&dry_run.workloads, &evidence.geometry, &filename(evidence), &notes);
    output::print(&text.map_err(|error| Failure::Usage(error.to_string()))?)
}

/// The file that fio opens. A folder gets one file; targets that only likenew can open are left to the user.
fn filename(evidence: &Evidence) -> String {
    let name = &evidence.identity.name;
    match evidence.identity.kind {
        TargetKind::Folder => format!("{}/likenew-fio.bin", name.trim_end_matches('/')),
        TargetKind::File | TargetKind::Device => name.clone(),
        TargetKind::Simulated | TargetKind::Nop => likenew_fio::FILENAME_LEFT_OPEN.to_owned(),
    }
}

fn notes(evidence: &Evidence, dry_run: &DryRun) -> Vec<String> {
    let plan = &evidence.plan;
    let mut notes = vec![
        wording::fio_title(&plan.procedure, env!("CARGO_PKG_VERSION")),
        wording::fio_cost(dry_run.bytes_moved, dry_run.bytes_written, dry_run.elapsed),
    ];
    if plan.procedure != "run" {
        notes.push(wording::FIO_LONGEST_COURSE.into());
    }
    if evidence.identity.kind == TargetKind::Folder {
        let boundary = evidence.geometry.boundary.unwrap_or(evidence.geometry.capacity);
        if boundary < evidence.geometry.capacity {
            notes.push(wording::FIO_ONE_FILE.into());
        }
        notes.push(wording::FIO_LEAVES_FILE.into());
    }
    notes.push(wording::FIO_PLAN.into());
    notes.extend(plan_text(plan).lines().map(|line| format!("  {line}")));
    notes
}

/// Stands around the number of a string that is set aside. Nobody uses this character in names.
const PLACEHOLDER_MARK: char = '\u{f8ff}';

/// A plan as TOML. A string that could steer a terminal is escaped on one line, so that no name begins a line.
pub(crate) fn plan_text(plan: &Plan) -> String {
    let mut value = serde_json::to_value(plan).expect("a plan is plain values");
    let mut strings = Vec::new();
    set_aside(&mut value, &mut strings);
    if strings.is_empty() {
        return toml::to_string(plan).expect("a plan is plain values");
    }
    let text = toml::to_string(&value).expect("a plan is plain values");
    strings.iter().enumerate().fold(text, |text, (number, string)| {
        // All escapes of JSON are escapes of TOML.
        let json = serde_json::to_string(string).expect("a plan is plain values");
        text.replace(&format!("\"{PLACEHOLDER_MARK}{number}{PLACEHOLDER_MARK}\""), &escape_steering(&json))
    })
}

fn set_aside(value: &mut serde_json::Value, strings: &mut Vec<String>) {
    match value {
        serde_json::Value::String(string) if string.contains(steers) => {
            let number = format!("{PLACEHOLDER_MARK}{}{PLACEHOLDER_MARK}", strings.len());
            strings.push(std::mem::replace(string, number));
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| set_aside(value, strings)),
        serde_json::Value::Object(values) => values.values_mut().for_each(|value| set_aside(value, strings)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan.toml");
        std::fs::write(&path, text).unwrap();
        let message = read_plan(&path, |_| None).unwrap_err().message();
        message.replace(&path.display().to_string(), "plan.toml")
    }

    #[test]
    fn a_wrong_value_is_named_by_line_and_key() {
        let text =
            "procedure = \"bench\"\ntarget = \"sim:tiny-flash\"\n\n[options]\npasses = 1\ntime = { a = 1 }\n";
        let message = error(text);
        assert!(message.contains("the plan plan.toml, line 6, options.time: "), "{message}");
        let nested = "procedure = \"run\"\n\n[[options.workload]]\nname = \"reads\"\nuntil = { bytes = \"1MiB\" }\n\
                      [[options.workload.streams]]\npattern = { kind = 1 }\n";
        let message = error(nested);
        assert!(message.contains("plan.toml, line "), "{message}");
        assert!(message.lines().count() == 1, "{message}");
    }

    #[test]
    fn what_is_no_plan_is_named_by_line() {
        assert!(error("procedure = \"bench\"\nseed = -1\n").contains("plan.toml, line 2: "));
        assert!(error("procedure = \"bench\"\nwhat\n").contains("plan.toml, line 2: "));
        assert!(error("procedure = \"nonsense\"\n").contains("plan.toml, line 1: "));
    }
}
