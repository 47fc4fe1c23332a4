//! `likenew apps` and `replay`: speed as applications see it.

use std::path::Path;

use clap::Args;
use likenew_core::input;
use likenew_core::io::DataClass;
use likenew_core::procedure::Plan;
use likenew_core::trace::Fit;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::apps::application::Application;
use likenew_procedures::apps::library::{DEFAULT_GROUP, by_name};
use likenew_procedures::apps::{AppsOptions, SPAN_STEP};
use likenew_procedures::replay::{ReplayMode, ReplayOptions, TraceSummary};

use super::{Command, file_size_to_fill, part_of_space};
use crate::access::Access;
use crate::arguments::{RUN, RunArguments, TargetArguments, number};
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, Target, measure, measure_with, options as settings};
use crate::recordings::scan;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Speed as applications see it, from published traces
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Apps {
    /// An application, a group, or your own FILE.toml; can be given several times [default: pcmark8]
    #[arg(long, value_name = "NAME|FILE.toml")]
    app: Vec<String>,
    /// Runs of each application; with --consistency per phase [default: 3, with --consistency 1]
    #[arg(long, value_name = "N")]
    passes: Option<u32>,
    /// Share of each application's I/Os to replay [default: all, or what fits]
    #[arg(long, value_parser = number(1e-6, 1000.0), value_name = "FACTOR")]
    scale: Option<f64>,
    /// Address space that applications use [default: 4GiB, at most a quarter of the target or of --writing-span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Time limit of one application in one pass
    #[arg(long, visible_alias = "runtime", default_value = "300s", value_parser = parse_duration, value_name = "TIME")]
    time: Nanos,
    /// Keep the published think times, where an application has them
    #[arg(long)]
    think: bool,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    /// Also measure how the score holds up under hours of writing: the phases of PCMark 8's consistency test
    #[arg(long)]
    consistency: bool,
    /// Scale of all phase lengths: 1 is the published 10 to 45 minutes each, about 8 hours in all; 0.1 takes 48
    /// minutes
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = number(1e-6, 100.0), requires = "consistency")]
    minutes: f64,
    /// Address space for the writing phases [default: all of it]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", requires = "consistency")]
    writing_span: Option<u64>,
    #[command(flatten)]
    arguments: TargetArguments,
}

const SPAN_DEFAULT: u64 = 4 << 30;
/// The span is one part in this many of the space.
const SPAN_PART: u64 = 4;
const PASSES_DEFAULT: u32 = 3;

impl Command for Apps {
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "apps", Access::Write, |target| self.options(target))
    }
}

impl Apps {
    fn options(&self, target: &ResolvedTarget) -> Result<AppsOptions> {
        let usable = target.usable_bytes()?;
        let (writing_span, file_size) = if self.consistency && target.is_folder() {
            let writing_span = self.writing_span.unwrap_or(usable);
            let file_size = file_size_to_fill(writing_span);
            (Some(writing_span - writing_span % file_size), file_size)
        } else {
            (self.writing_span, AppsOptions::default().file_size)
        };
        let space = writing_span.unwrap_or(usable);
        let (applications, custom) = applications(&self.app)?;
        let passes = self.passes.unwrap_or(if self.consistency { 1 } else { PASSES_DEFAULT });
        let scale = match self.scale {
            Some(scale) => scale,
            None => scale(&applications, &custom, space)?,
        };
        let too_little =
            || Failure::Usage(wording::too_small_for("applications", space, SPAN_STEP * SPAN_PART));
        let span = match self.span {
            Some(span) => span,
            None => part_of_space(space, SPAN_PART, SPAN_STEP, SPAN_DEFAULT).ok_or_else(too_little)?,
        };
        let Self { time, think, data, consistency, minutes, .. } = *self;
        Ok(AppsOptions {
            passes,
            scale,
            applications,
            span,
            time,
            think,
            data,
            consistency,
            minutes,
            writing_span,
            file_size,
            custom,
        })
    }
}

/// All of their I/Os, or as many as move no more in a pass than there is, with two digits.
fn scale(names: &[String], custom: &[Application], space: u64) -> Result<f64> {
    let mut bytes: u64 = custom.iter().map(Application::bytes).sum();
    for name in names {
        let entries = by_name(name).map_err(Failure::Usage)?;
        bytes += entries.iter().map(|entry| entry.application.bytes()).sum::<u64>();
    }
    let scale = space as f64 / bytes.max(1) as f64;
    if scale >= 1.0 {
        return Ok(1.0);
    }
    // Formatted as a decimal, so that a plan shows 0.087 without further digits.
    let text = format!("{scale:.1e}");
    Ok(text.parse().expect("a number reads back"))
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
#[command(next_help_heading = "Test")]
pub(crate) struct Replay {
    /// Folders, files, block devices or simulated drives; each is measured separately
    #[arg(required = true, value_name = "TARGET", help_heading = Option::<&'static str>::None)]
    targets: Vec<String>,
    /// The trace, in any format that `likenew import trace` reads
    #[arg(long, value_name = "FILE")]
    trace: String,
    /// Its format, if it is not recognized
    #[arg(long, value_name = "NAME")]
    format: Option<String>,
    /// Which volume, if the trace holds several
    #[arg(long, value_name = "ID")]
    volume: Option<String>,
    /// When I/Os start: dependent (after those that had ended before, plus think time), timed (as recorded), fast (as
    /// soon as possible)
    #[arg(long, default_value = "dependent", value_name = "NAME")]
    mode: ReplayMode,
    /// Speed-up of the recorded times
    #[arg(long, default_value_t = 1.0, value_parser = number(0.001, 1e6), value_name = "FACTOR")]
    speed: f64,
    /// Shorten pauses without I/O to this [default: keep them]
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    idle_max: Option<Nanos>,
    /// Largest queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 256, value_name = "N")]
    depth: u32,
    /// Where recorded addresses beyond the target go: modulo (wrap around) or scale (in proportion)
    #[arg(long, default_value = "modulo", value_name = "NAME")]
    fit: Fit,
    /// Address space to use, from the start [default: all; in a folder what the trace reaches, at most 8GiB]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Replay reads only
    #[arg(long)]
    reads_only: bool,
    /// Do not write beforehand what the trace reads
    #[arg(long)]
    no_prepare: bool,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    /// Number of replays
    #[arg(long, default_value_t = 1, value_name = "N")]
    passes: u32,
    /// Time limit of a replay
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    time: Option<Nanos>,
    /// Random seed
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = RUN, hide_short_help = true)]
    seed: u64,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    plan: bool,
    #[command(flatten)]
    run_arguments: RunArguments,
}

/// A folder's file is as long as the addresses of the trace reach, up to this.
const SPAN_OF_FOLDER: u64 = 8 << 30;
/// And it is a multiple of this.
const SPAN_OF_FOLDER_STEP: u64 = 1 << 20;
/// Total of pauses from which a replay on a real drive mentions them. Chosen: ten minutes of waiting.
const PAUSES_LONG: Nanos = Nanos::from_secs(600);

impl Command for Replay {
    fn run(self) -> Result<Exit> {
        let access = if self.reads_only { Access::Read } else { Access::Replay };
        let request = Request {
            prints_plan: self.plan,
            ..Request::new(self.targets.clone(), access, &self.run_arguments)
        };
        let options = self.options();
        let mut summary = None;
        measure(request, |target| {
            // The trace is read once for all targets, and not before they are resolved.
            if summary.is_none() {
                summary = scan(&options)?;
            }
            summary.as_ref().map(|summary| self.plan(target, &options, summary)).transpose()
        })
    }
}

impl Replay {
    fn options(&self) -> ReplayOptions {
        let Self { mode, speed, idle_max, depth, fit, span, reads_only, data, passes, time, .. } = *self;
        ReplayOptions {
            format: self.format.clone(),
            volume: self.volume.clone(),
            mode,
            speed,
            idle_max,
            depth,
            fit,
            span,
            reads_only,
            prepare: !self.no_prepare,
            data,
            passes,
            time,
            ..ReplayOptions::new(&self.trace)
        }
    }

    fn plan(&self, target: &Target, options: &ReplayOptions, summary: &TraceSummary) -> Result<Plan> {
        let Target { typed, resolved, .. } = target;
        let mut options = ReplayOptions { summary: Some(summary.clone()), ..options.clone() };
        if resolved.is_folder() && options.span.is_none() {
            const STEP: u64 = SPAN_OF_FOLDER_STEP;
            let usable = resolved.usable_bytes()?;
            let reach = summary.extent_bytes.checked_next_multiple_of(STEP).unwrap_or(u64::MAX);
            options.span = Some(reach.clamp(STEP, SPAN_OF_FOLDER).min(usable - usable % STEP));
        }
        options.prepare &= resolved.is_blank();
        let pauses = summary.pauses(self.mode);
        if resolved.is_real() && pauses > PAUSES_LONG {
            crate::console::note(wording::long_pauses(pauses));
        }
        Ok(Plan::new("replay", Some(typed.clone()), self.seed, settings(&options)))
    }
}
