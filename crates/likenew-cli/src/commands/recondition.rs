//! `likenew recondition`: its options and its plan.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use likenew_core::procedure::Plan;
use likenew_core::region::Region;
use likenew_core::units::{BadUnit, Nanos, parse_duration, parse_size};
use likenew_procedures::check::CheckOptions;
use likenew_procedures::recondition::{Erase, ReconditionOptions, StepName};

use super::check::enough_bytes;
use super::{Command, seed_of_one_run};
use crate::arguments::TargetArguments;
use crate::exit::{Exit, Result};
use crate::measure::{Request, measure, options};
use crate::references::ReferenceArguments;
use crate::resolved_target::{Access, ResolvedTarget};
use crate::wording;

/// Restore a slow drive, gentlest step first, and prove the gain
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Recondition {
    /// Change nothing: show which steps are possible, what each costs and what it would lose
    #[arg(long, conflicts_with = "step")]
    dry_run: bool,
    /// The same with everything: each step, what it costs and loses and what proves it, and the settings that last
    #[arg(long, conflicts_with_all = ["step", "dry_run", "quiet", "markdown"])]
    explain: bool,
    /// Take this step whatever the diagnosis is: refresh and rewrite lose nothing; after trim and overwrite, deleted
    /// files cannot be recovered; discard-unused loses what no partition covers; discard, overwrite-all and format
    /// ERASE EVERYTHING [default: the gentlest that can help and loses no file]
    #[arg(long, value_parser = step, value_name = "STEP")]
    step: Option<StepName>,
    /// At most this many overwrite passes; stops earlier when a pass gains nothing
    #[arg(long, default_value_t = 8, value_name = "N")]
    passes: u32,
    /// Idle time after a step, for the drive to finish it
    #[arg(long, value_parser = parse_duration, default_value = "30s", value_name = "TIME")]
    idle: Nanos,
    /// Each check, before and after, writes at most this much [default: 2GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// Overwrite at most this much free space [default: all above the reserve]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    overwrite_max: Option<u64>,
    /// Limit of the rewriting rate, such as 50MB/s [default: as fast as the drive goes]
    #[arg(long, value_parser = rate, value_name = "SIZE/s")]
    rate: Option<u64>,
    /// With --step refresh or rewrite of a whole device: journal of the data being rewritten, a new file on another drive
    /// [default: beside the audit log]
    #[arg(long, value_name = "FILE", requires = "step")]
    journal: Option<PathBuf>,
    /// With --step format: erase user data, or the key that encrypts all of it
    #[arg(long, value_parser = erase(), default_value = "user-data", value_name = "WHAT")]
    erase: Erase,
    #[command(flatten)]
    references: ReferenceArguments,
    #[command(flatten)]
    arguments: TargetArguments,
}

/// What a format erases, as typed.
fn erase() -> impl TypedValueParser<Value = Erase> {
    let to_erase = |name: String| if name == "key" { Erase::Key } else { Erase::UserData };
    PossibleValuesParser::new(["user-data", "key"]).map(to_erase)
}

/// Bytes a second; "/s" may be left out.
fn rate(text: &str) -> Result<u64, BadUnit> {
    parse_size(text.strip_suffix("/s").unwrap_or(text))
}

fn step(text: &str) -> Result<StepName, String> {
    StepName::ALL.into_iter().find(|name| name.text() == text).ok_or_else(|| {
        let names: Vec<&str> = StepName::ALL.into_iter().map(StepName::text).collect();
        wording::unknown_name("step", text, &names)
    })
}

/// Name of the procedure in a plan.
pub(crate) const NAME: &str = "recondition";

/// Bytes that a check writes are a multiple of this.
const STEP: u64 = CheckOptions::AREA_STEP;

impl Command for Recondition {
    fn run(mut self) -> Result<Exit> {
        if self.explain {
            self.dry_run = true;
            self.arguments.run.execution.output.details = true;
        }
        let is_dry_run = self.dry_run || self.arguments.plan;
        let access = Access::Step { step: self.step, journal: self.journal.as_deref(), is_dry_run };
        let step_name = self.step.map_or(wording::GENTLEST_STEP, StepName::text);
        let request = Request {
            keeps_leftovers: is_dry_run,
            audited: (!is_dry_run).then_some(step_name),
            ..Request::for_target(&self.arguments, access)
        };
        measure(request, |target| plan(&self, &target.resolved))
    }
}

fn plan(command: &Recondition, target: &ResolvedTarget) -> Result<Plan> {
    let mut check = CheckOptions { bytes: command.bytes, ..CheckOptions::default() };
    if target.is_folder() && !command.dry_run && command.step.is_none() {
        enough_bytes(&command.arguments.target, &check)?;
    }
    let usable = match target.space() {
        // A dry run writes nothing, so it needs no free space.
        Some(space) if command.dry_run && !space.is_read_only => space.usable_bytes,
        _ => target.usable_bytes()?,
    };
    let Recondition { step, passes, idle, dry_run, rate, erase, .. } = *command;
    let journal = command.journal.clone();
    let defaults = ReconditionOptions::default();
    let mut settings = ReconditionOptions { step, passes, idle, dry_run, journal, rate, erase, ..defaults };
    if let ResolvedTarget::Simulated(spec) = target {
        let mut free = spec.free(usable);
        let most = command.overwrite_max.unwrap_or(u64::MAX);
        free.end = free.end.min(free.start.saturating_add(most));
        if !free.is_empty() {
            in_scope(&mut check, free.end - free.start);
            settings.free = Some(Region::bytes(free));
        }
    } else if target.is_folder() {
        let most = command.overwrite_max.map_or(usable, |most| most.min(usable));
        in_scope(&mut check, most);
        settings.overwrite_max = Some(most);
    }
    if !command.dry_run {
        command.references.add_to(&mut check, &command.arguments.run.archive_arguments, target)?;
    }
    settings.check = check;
    let seed = seed_of_one_run(command.arguments.seed, target)?;
    let target = Some(command.arguments.target.clone());
    Ok(Plan::new(NAME, target, seed, options(&settings)))
}

/// Limits a check to this space. If large enough, its area is an even part of the space, so that
/// files of that length fill it.
fn in_scope(check: &mut CheckOptions, space: u64) {
    let most = check.area(u64::MAX).max(STEP).min(space);
    let whole = |bytes: u64| bytes - bytes % STEP;
    let even = whole(space / space.div_ceil(most.max(1)).max(1));
    let area = if even >= CheckOptions::AREA_LEAST { even } else { whole(most) };
    check.bytes = Some(area * CheckOptions::PARTS);
}
