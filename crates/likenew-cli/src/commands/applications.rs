//! `likenew apps` and `replay`: speed as applications see it.

use std::path::Path;

use clap::Args;
use likenew_core::input;
use likenew_core::procedure::Plan;
use likenew_core::units::Nanos;
use likenew_procedures::all::TypedOptions;
use likenew_procedures::apps::AppsOptions;
use likenew_procedures::apps::application::Application;
use likenew_procedures::apps::library::{DEFAULT_GROUP, by_name};
use likenew_procedures::replay::{ReplayOptions, TraceSummary};

use super::{ChosenOptions, Command, run_procedure};
use crate::arguments::{RUN, RunArguments, TargetArguments, typed_target};
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, Target, measure, options as settings};
use crate::recordings::scan;
use crate::resolved_target::Access;
use crate::wording;

/// Speed as applications see it, from published traces
#[derive(Debug, Args)]
pub(crate) struct Apps {
    #[command(flatten)]
    chosen: ChosenOptions,
    #[command(flatten)]
    options: AppsOptions,
    #[command(flatten)]
    arguments: TargetArguments,
}

impl Command for Apps {
    fn run(mut self) -> Result<Exit> {
        (self.options.applications, self.options.custom) = applications(&self.options.app)?;
        let Self { chosen, options, arguments } = self;
        let options = TypedOptions::new(options, &|key| chosen.has(key));
        run_procedure("apps", &options, &chosen, arguments)
    }
}

/// Applications by name, from the library and from files.
pub(super) fn applications(named: &[String]) -> Result<(Vec<String>, Vec<Application>)> {
    let (mut names, mut custom) = (Vec::new(), Vec::new());
    for name in named {
        let file = Path::new(name);
        if file.extension().is_some_and(|extension| extension == "toml") {
            let text = input::read_text(file, input::APPLICATION);
            let text = text.map_err(|error| Failure::unreadable(name, error))?;
            let application = Application::parse(&text);
            custom.push(application.map_err(|reason| Failure::Usage(format!("{name}: {reason}")))?);
        } else {
            by_name(name).map_err(Failure::Usage)?;
            names.push(name.clone());
        }
    }
    if names.is_empty() && custom.is_empty() {
        names.push(DEFAULT_GROUP.to_owned());
    }
    Ok((names, custom))
}

/// Replay a recorded trace: would this drive be faster?
#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Folders, files, block devices or simulated drives; each is measured separately
    #[arg(required = true, value_parser = typed_target, value_name = "TARGET", help_heading = Option::<&'static str>::None)]
    targets: Vec<String>,
    #[command(flatten)]
    options: ReplayOptions,
    /// Random seed
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = RUN, hide_short_help = true)]
    seed: u64,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    plan: bool,
    #[command(flatten)]
    run_arguments: RunArguments,
}

/// Largest file in a folder. The file is as long as the addresses of the trace reach, up to this.
const SPAN_OF_FOLDER: u64 = 8 << 30;
/// The length of that file is a multiple of this.
const SPAN_OF_FOLDER_STEP: u64 = 1 << 20;
/// Total of pauses above which a replay on a real drive mentions them. Chosen: ten minutes of waiting.
const PAUSES_LONG: Nanos = Nanos::from_secs(600);

impl Command for Replay {
    fn run(self) -> Result<Exit> {
        let access = if self.options.reads_only { Access::Read } else { Access::Replay };
        let request = Request {
            prints_plan: self.plan,
            ..Request::new(self.targets.clone(), access, &self.run_arguments)
        };
        let mut scanned = None;
        measure(request, |target| {
            // The trace is read once for all targets, and not before they are resolved.
            let summary = match scanned.take() {
                Some(summary) => summary,
                None => scan(&self.options)?,
            };
            self.plan(target, scanned.insert(summary))
        })
    }
}

impl Replay {
    fn plan(&self, target: &Target, summary: &TraceSummary) -> Result<Plan> {
        let Target { typed, resolved, .. } = target;
        let mut options = ReplayOptions { summary: Some(summary.clone()), ..self.options.clone() };
        if resolved.is_folder() && options.span.is_none() {
            const STEP: u64 = SPAN_OF_FOLDER_STEP;
            let usable = resolved.usable_bytes()?;
            let reach = summary.extent_bytes.checked_next_multiple_of(STEP).unwrap_or(u64::MAX);
            options.span = Some(reach.clamp(STEP, SPAN_OF_FOLDER).min(usable - usable % STEP));
        }
        options.prepare &= resolved.is_blank();
        let pauses = summary.pauses(options.mode);
        if resolved.is_real() && pauses > PAUSES_LONG {
            crate::console::note(wording::long_pauses(pauses));
        }
        Ok(Plan::new("replay", Some(typed.clone()), self.seed, settings(&options)))
    }
}
