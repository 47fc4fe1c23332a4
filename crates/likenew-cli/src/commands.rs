//! The table of all commands. Each is a type with its options as fields and a `run` that carries it out.

mod applications;
mod check;
pub(crate) mod data;
mod endure;
mod facts;
mod help;
mod history;
mod import;
pub(crate) mod model;
mod recondition;
mod record;
mod report;
pub(crate) mod resume;
pub(crate) mod serve;
mod sim;
mod watch;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};
use likenew_core::instrument::Instrument;
use likenew_core::target::Clock;
use likenew_procedures::age::AgeOptions;
use likenew_procedures::bench::BenchOptions;
use likenew_procedures::cache::CacheOptions;
use likenew_procedures::fill::FillOptions;
use likenew_procedures::fit::{Fitting, Options, Unfit};
use likenew_procedures::suits::SuitsOptions;
use likenew_procedures::surface::SurfaceOptions;
use likenew_procedures::sweep::SweepOptions;
use likenew_procedures::trim::TrimOptions;
use likenew_procedures::verify::VerifyOptions;
use likenew_procedures::xray::XrayOptions;

use crate::arguments::TargetArguments;
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::measure::measure_with;
use crate::resolved_target::{Access, ResolvedTarget};
use crate::wording::{self, help as help_wording};

/// A command. Its fields are its options, and its doc comment is its text in `--help`.
pub(crate) trait Command: Args + 'static {
    fn run(self) -> Result<Exit>;
}

/// A parsed command, ready to run.
pub(crate) type TypedCommand = Box<dyn FnOnce() -> Result<Exit>>;

/// A row of [`COMMANDS`].
struct Row {
    name: &'static str,
    /// Whether a served page may start it, because it measures one target.
    is_served: bool,
    add_options: fn(clap::Command) -> clap::Command,
    read: fn(&ArgMatches) -> Result<TypedCommand, clap::Error>,
}

const fn row<C: Command>(name: &'static str) -> Row {
    Row { name, is_served: false, add_options: C::augment_args, read: read::<C> }
}

impl Row {
    const fn served(self) -> Self {
        Self { is_served: true, ..self }
    }
}

/// A command that runs one procedure: the procedure's options, and `more` where the command line needs others.
#[derive(Debug)]
pub(crate) struct Measured<O, M = ()> {
    options: O,
    pub(crate) more: M,
    /// Keys of the options that were typed.
    chosen: Vec<String>,
    arguments: TargetArguments,
}

impl<O: Options, M: Args> FromArgMatches for Measured<O, M> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_chosen = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(Self {
            options: O::from_arg_matches(matches)?,
            more: M::from_arg_matches(matches)?,
            chosen: matches.ids().filter(is_chosen).map(|id| id.as_str().to_owned()).collect(),
            arguments: TargetArguments::from_arg_matches(matches)?,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<O: Options, M: Args> Args for Measured<O, M> {
    fn augment_args(command: clap::Command) -> clap::Command {
        let command = O::augment_args(command);
        let about = command.get_about().cloned();
        TargetArguments::augment_args(M::augment_args(command)).about(about.unwrap_or_default())
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        Self::augment_args(command)
    }
}

impl<O: Options, M> Measured<O, M> {
    fn is_chosen(&self, key: &str) -> bool {
        self.chosen.iter().any(|chosen| chosen == key)
    }

    /// Whether these options write, so that the target must allow it.
    fn writes(&self) -> bool {
        self.options.writes(&|key| self.is_chosen(key))
    }

    /// The options, fitted to a target. Prints what the user should know of that.
    fn options(&self, target: &ResolvedTarget) -> Result<O> {
        let (usable_bytes, unknown) = match target.usable_bytes() {
            Ok(bytes) => (Some(bytes), None),
            Err(failure) => (None, Some(failure)),
        };
        let mut fitting = Fitting {
            usable_bytes,
            is_folder: target.is_folder(),
            is_writable: target.is_writable(),
            is_real: target.is_real(),
            is_chosen: &|key| self.is_chosen(key),
            notes: Vec::new(),
        };
        let mut options = self.options.clone();
        let fitted = options.fit(&mut fitting);
        fitting.notes.iter().for_each(note);
        match (fitted, unknown) {
            (Ok(()), _) => Ok(options),
            (Err(Unfit::Because(sentence)), _) => Err(Failure::Usage(sentence)),
            (Err(Unfit::UnknownSize), failure) => Err(failure.expect("that is why it is unknown")),
            (Err(Unfit::ReadOnly), _) => {
                let refusal = target.refuse_writing().expect_err("nothing was agreed to");
                Err(refusal.with_hint(wording::with_op_read_hint))
            }
        }
    }
}

impl<O: Options + 'static> Command for Measured<O> {
    fn run(mut self) -> Result<Exit> {
        if self.options.needs_new_seed() && !self.arguments.target.starts_with("sim:") {
            self.arguments.seed.get_or_insert(likenew_real::clock::new_seed().map_err(anyhow::Error::new)?);
        }
        let access = Access::writing(self.writes());
        measure_with(&self.arguments, O::DESCRIPTOR.name, access, |target| self.options(target))
    }
}

fn read<C: Command>(matches: &ArgMatches) -> Result<TypedCommand, clap::Error> {
    let command = C::from_arg_matches(matches)?;
    Ok(Box::new(|| command.run()))
}

/// All commands. [`help_wording::GROUPS`] has their groups and examples.
const COMMANDS: [Row; 32] = [
    row::<check::Check>("check").served(),
    row::<recondition::Recondition>("recondition").served(),
    row::<Measured<BenchOptions>>("bench").served(),
    row::<Measured<SweepOptions>>("sweep").served(),
    row::<Measured<SuitsOptions>>("suits").served(),
    row::<Measured<SurfaceOptions>>("surface").served(),
    row::<Measured<FillOptions>>("fill").served(),
    row::<endure::Endure>("endure").served(),
    row::<Measured<AgeOptions>>("age").served(),
    row::<data::Data>("data").served(),
    row::<Measured<CacheOptions>>("cache").served(),
    row::<Measured<TrimOptions>>("trim").served(),
    row::<Measured<XrayOptions>>("xray").served(),
    row::<Measured<VerifyOptions>>("verify").served(),
    row::<model::Model>("model").served(),
    row::<applications::Replay>("replay"),
    row::<applications::Apps>("apps").served(),
    row::<resume::Run>("run"),
    row::<record::Record>("record"),
    row::<facts::Facts>("facts"),
    row::<watch::Watch>("watch"),
    row::<facts::Drives>("drives"),
    row::<sim::Sim>("sim"),
    row::<report::Report>("report"),
    row::<report::Compare>("compare"),
    row::<serve::Serve>("serve"),
    row::<history::History>("history"),
    row::<report::Judge>("judge"),
    row::<report::Export>("export"),
    row::<import::Import>("import"),
    row::<resume::Resume>("resume"),
    row::<help::Help>("help"),
];

/// The grammar of the command line.
pub(crate) fn grammar() -> clap::Command {
    let commands = COMMANDS.iter().map(|row| {
        let command = (row.add_options)(clap::Command::new(row.name));
        command.after_help(help_wording::examples(row.name))
    });
    let program = clap::Command::new("likenew")
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(commands);
    let overview = help_wording::overview(&program);
    program.override_help(overview)
}

/// The command that was typed.
///
/// # Errors
/// None in practice: the grammar has already checked the words.
pub(crate) fn typed(matches: &ArgMatches) -> Result<TypedCommand, clap::Error> {
    let (name, inner) = matches.subcommand().expect("the grammar asks for a command");
    let row = COMMANDS.iter().find(|row| row.name == name).expect("the grammar is made of these");
    (row.read)(inner)
}

/// Names of commands that a served page may start, in the order of the overview.
fn served() -> impl Iterator<Item = &'static str> {
    let names = help_wording::GROUPS.iter().flat_map(|group| &group.commands).map(|(name, _)| *name);
    names.filter(|name| COMMANDS.iter().any(|row| row.name == *name && row.is_served))
}

/// The instrument of results that are not from I/O of this program, so that nothing of it is calibrated.
fn uncalibrated(engine: String, system: Option<String>) -> Instrument {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Instrument { version, clock: Clock::Wall, engine, system, calibration: None }
}

/// The typed seed; without one, a new seed on a real drive, and 0 elsewhere. On a real drive, only
/// a key made from the seed tells this run's data from that of an earlier run.
fn seed_of_one_run(typed: Option<u64>, target: &ResolvedTarget) -> Result<u64> {
    match typed {
        Some(seed) => Ok(seed),
        None if target.is_real() => Ok(likenew_real::clock::new_seed().map_err(anyhow::Error::new)?),
        None => Ok(0),
    }
}
