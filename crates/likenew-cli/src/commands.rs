//! The table of all commands. A command that only runs a procedure on one target is a row of [`PROCEDURES`]; each other one
//! is a type with its options as fields and a `run` that carries it out, and a row here.

mod applications;
mod check;
mod completions;
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

use std::ffi::OsString;
use std::sync::LazyLock;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};
use indexmap::IndexMap;
use likenew_core::instrument::Instrument;
use likenew_core::target::Clock;
use likenew_procedures::all::{OptionsParser, PROCEDURES, ProcedureRow, TypedOptions};
use likenew_procedures::fit::{Fitting, Options, Unfit};

use crate::arguments::{self, TargetArguments};
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, measure};
use crate::resolved_target::{Access, ResolvedTarget};
use crate::wording::help::ListedCommand;
use crate::wording::{self, help as help_wording};

/// A command. Its fields are its options, and its doc comment is its text in `--help`.
pub(crate) trait Command: Args + 'static {
    fn run(self) -> Result<Exit>;
}

/// A parsed command, ready to run.
pub(crate) type TypedCommand = Box<dyn FnOnce() -> Result<Exit>>;

/// A row of [`COMMANDS`].
struct Row {
    listed: ListedCommand,
    /// Whether a served page may start it, because it measures one target.
    is_served: bool,
    parser: CommandParser,
}

/// How the words of a command are declared and parsed.
#[derive(Clone, Copy)]
enum CommandParser {
    /// By a type of its own.
    Own {
        declare: fn(clap::Command) -> clap::Command,
        parse: fn(&ArgMatches) -> Result<TypedCommand, clap::Error>,
    },
    /// By the options of its procedure, for one target.
    Options(OptionsParser),
}

const fn own<C: Command>() -> CommandParser {
    CommandParser::Own { declare: C::augment_args, parse: parse_own::<C> }
}

fn parse_own<C: Command>(matches: &ArgMatches) -> Result<TypedCommand, clap::Error> {
    let command = C::from_arg_matches(matches)?;
    Ok(Box::new(|| command.run()))
}

impl Row {
    const fn examples(self, examples: &'static [&'static str]) -> Self {
        Self { listed: ListedCommand { examples, ..self.listed }, ..self }
    }

    /// The command of a procedure; `None` if it is one of [`OTHERS`].
    fn of_procedure(row: &ProcedureRow) -> Option<Self> {
        let listed = ListedCommand { name: row.descriptor.name, group: row.group?, examples: row.examples };
        let by_own_type =
            || OWN_OPTIONS.iter().find(|(name, _)| *name == listed.name).map(|(_, parser)| *parser);
        let parser = row.options.map(CommandParser::Options).or_else(by_own_type);
        let parser = parser.expect("its command has options of its own");
        Some(Self { listed, is_served: true, parser })
    }

    fn declare(&self) -> clap::Command {
        let command = clap::Command::new(self.listed.name);
        let command = match self.parser {
            CommandParser::Own { declare, .. } => declare(command),
            CommandParser::Options(options) => {
                let command = (options.declare)(command);
                let about = command.get_about().cloned();
                // These would replace what the command is about.
                TargetArguments::augment_args(command).about(about.unwrap_or_default())
            }
        };
        command.after_help(help_wording::examples(self.listed.examples))
    }
}

/// Keys of the options that were typed. A command has it before its options, which take theirs out of the matches.
#[derive(Debug)]
pub(crate) struct ChosenOptions(Vec<String>);

impl FromArgMatches for ChosenOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let is_chosen = |id: &&clap::Id| matches.value_source(id.as_str()) == Some(ValueSource::CommandLine);
        Ok(Self(matches.ids().filter(is_chosen).map(|id| id.as_str().to_owned()).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Args for ChosenOptions {
    /// It has no options of its own.
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

impl ChosenOptions {
    fn has(&self, key: &str) -> bool {
        self.0.iter().any(|chosen| chosen == key)
    }

    /// These options, fitted to the target.
    pub(crate) fn fitted<O: Options>(&self, options: &O, target: &ResolvedTarget) -> Result<O> {
        self.fit(target, |fitting| {
            let mut fitted = options.clone();
            fitted.fit(fitting)?;
            Ok(fitted)
        })
    }

    /// Fits options to the target. Prints what the user should know of that.
    fn fit<T>(
        &self,
        target: &ResolvedTarget,
        fit: impl FnOnce(&mut Fitting<'_>) -> Result<T, Unfit>,
    ) -> Result<T> {
        let (usable_bytes, unknown) = match target.usable_bytes() {
            Ok(bytes) => (Some(bytes), None),
            Err(failure) => (None, Some(failure)),
        };
        let mut fitting = Fitting {
            usable_bytes,
            is_folder: target.is_folder(),
            is_writable: target.is_writable(),
            is_real: target.is_real(),
            is_chosen: &|key| self.has(key),
            notes: Vec::new(),
        };
        let fitted = fit(&mut fitting);
        fitting.notes.iter().for_each(note);
        fitted.map_err(|unfit| match unfit {
            Unfit::Because(sentence) => Failure::Usage(sentence),
            Unfit::UnknownSize => unknown.expect("that is why it is unknown"),
            Unfit::ReadOnly => {
                let refusal = target.refuse_writing().expect_err("nothing was agreed to");
                refusal.with_hint(wording::with_op_read_hint)
            }
        })
    }
}

/// Runs a procedure with these options on the target.
fn run_procedure(
    procedure: &str,
    options: &TypedOptions,
    chosen: &ChosenOptions,
    mut arguments: TargetArguments,
) -> Result<Exit> {
    if options.needs_new_seed && !arguments.target.starts_with("sim:") {
        arguments.seed.get_or_insert(likenew_real::clock::new_seed().map_err(anyhow::Error::new)?);
    }
    let access = if options.writes { Access::Write } else { Access::Read };
    measure(Request::for_target(&arguments, access), |target| {
        Ok(arguments.plan_of(procedure, chosen.fit(&target.resolved, &*options.fit)?))
    })
}

/// Commands of procedures that have options of their own.
const OWN_OPTIONS: [(&str, CommandParser); 6] = [
    ("check", own::<check::Check>()),
    ("recondition", own::<recondition::Recondition>()),
    ("endure", own::<endure::Endure>()),
    ("data", own::<data::Data>()),
    ("apps", own::<applications::Apps>()),
    ("model", own::<model::Model>()),
];

/// A command that does not only run a procedure on one target.
const fn row<C: Command>(name: &'static str, group: &'static str) -> Row {
    let listed = ListedCommand { name, group, examples: &[] };
    Row { listed, is_served: false, parser: own::<C>() }
}

/// All other commands, in the order in which help lists them.
const OTHERS: [Row; 17] = [
    row::<facts::Facts>("facts", "Answer").examples(&[
        "likenew facts ~/data",
        "likenew facts --all",
        "likenew facts /dev/nvme0n1 --origins",
    ]),
    row::<watch::Watch>("watch", "Record").examples(&[
        "likenew watch",
        "likenew watch sda nvme0n1 --interval 500ms",
        "likenew watch --once",
    ]),
    row::<record::Record>("record", "Record").examples(&[
        "sudo likenew record / --out day.csv.zst --time 8h",
        "sudo likenew record /dev/nvme0n1 /dev/sda --out day.csv.zst",
        "sudo likenew record ~/data --out hour.csv --bytes 10GiB",
    ]),
    row::<applications::Replay>("replay", "Record").examples(&[
        "likenew replay ~/data --trace day.csv.zst",
        "likenew replay sim:wd6400aaks sim:tlc-nvme-1tb --trace day.csv.zst --idle-max 1s",
        "likenew replay /dev/sda --trace day.csv.zst --reads-only --mode fast",
    ]),
    row::<import::Import>("import", "Record").examples(&[
        "likenew import fio result.json",
        "likenew import trace day.csv.zst",
        "likenew import run check.likenew",
    ]),
    row::<facts::Drives>("drives", "Simulate").examples(&[
        "likenew drives",
        "likenew drives --json -",
        "likenew drives --json drives.json",
    ]),
    row::<sim::Sim>("sim", "Simulate").examples(&[
        "likenew sim show intel-x25-m-80gb",
        "likenew sim serve 'tlc-nvme-1tb?state=used'",
        "likenew sim calibrate RUN RUN RUN --output my-drive.toml",
    ]),
    row::<report::Report>("report", "Manage").examples(&[
        "likenew report --details",
        "likenew report --last 2 -o report.html",
        "likenew report --list",
    ]),
    row::<report::Compare>("compare", "Manage").examples(&[
        "likenew compare RUN RUN",
        "likenew compare --last 2 --details",
        "likenew compare /dev/sda /dev/sdb",
    ]),
    row::<history::History>("history", "Manage").examples(&[
        "likenew history",
        "likenew history /dev/sda",
        "likenew history --details",
    ]),
    row::<serve::Serve>("serve", "Manage").examples(&[
        "likenew serve",
        "likenew serve --listen 127.0.0.1:0",
        "likenew serve --listen 192.0.2.7:7373 --token-file secret --name lab.example",
    ]),
    row::<report::Judge>("judge", "Manage").examples(&[
        "likenew judge RUN",
        "likenew judge RUN --details",
        "likenew judge RUN -o report.html",
    ]),
    row::<report::Export>("export", "Manage").examples(&[
        "likenew export RUN check.likenew",
        "likenew export RUN check.likenew && likenew import run check.likenew",
        "likenew export --archive ~/runs RUN check.likenew",
    ]),
    row::<resume::Resume>("resume", "Manage").examples(&[
        "likenew resume RUN",
        "likenew resume RUN --wait-for-drive",
        "likenew resume RUN --details",
    ]),
    row::<resume::Run>("run", "Manage").examples(&[
        "likenew bench ~/data --plan > plan.toml && likenew run plan.toml",
        "likenew run plan.toml ~/other",
        "likenew run plan.toml --export fio > plan.fio",
    ]),
    row::<completions::Completions>("completions", "Manage").examples(&[
        "likenew completions bash > ~/.local/share/bash-completion/completions/likenew",
        "likenew completions zsh > ~/.zfunc/_likenew",
        "likenew completions fish > ~/.config/fish/completions/likenew.fish",
    ]),
    row::<help::Help>("help", "Manage").examples(&[
        "likenew help check",
        "likenew help slc_cache",
        "likenew help --write manual",
    ]),
];

/// All commands, group after group, in the order in which help lists them.
static COMMANDS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let mut groups: IndexMap<&str, Vec<Row>> = IndexMap::new();
    for row in PROCEDURES.iter().filter_map(Row::of_procedure).chain(OTHERS) {
        groups.entry(row.listed.group).or_default().push(row);
    }
    groups.into_values().flatten().collect()
});

/// All commands as help lists them.
fn listed() -> Vec<ListedCommand> {
    COMMANDS.iter().map(|row| row.listed).collect()
}

/// The grammar of the command line.
pub(crate) fn grammar() -> clap::Command {
    let program = clap::Command::new("likenew")
        .version(env!("CARGO_PKG_VERSION"))
        .max_term_width(100)
        .disable_help_subcommand(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(COMMANDS.iter().map(Row::declare));
    let overview = help_wording::overview(&program, &listed());
    program.override_help(overview)
}

/// Parses a command line, whose first word is the program's name.
///
/// # Errors
/// Those of [`arguments::parse`].
pub(crate) fn parse(words: impl IntoIterator<Item = OsString>) -> Result<TypedCommand, clap::Error> {
    let matches = arguments::parse(grammar(), words)?;
    let (name, matches) = matches.subcommand().expect("the grammar asks for a command");
    let row = COMMANDS.iter().find(|row| row.listed.name == name).expect("the grammar is made of these");
    match row.parser {
        CommandParser::Own { parse, .. } => parse(matches),
        CommandParser::Options(options) => {
            let chosen = ChosenOptions::from_arg_matches(matches)?;
            let options = (options.parse)(matches, &|key| chosen.has(key))?;
            let arguments = TargetArguments::from_arg_matches(matches)?;
            Ok(Box::new(move || run_procedure(row.listed.name, &options, &chosen, arguments)))
        }
    }
}

/// Names of commands that a served page may start, in the order in which help lists them.
fn served() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().filter(|row| row.is_served).map(|row| row.listed.name)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_three_examples_that_parse() {
        for ListedCommand { name, examples, .. } in listed() {
            assert_eq!(examples.len(), 3, "{name}");
            for line in examples.iter().flat_map(|line| line.split("&&")) {
                let line = line.split(" > ").next().unwrap_or(line);
                let line = line.trim().trim_start_matches("sudo ").replace('\'', "");
                let words = line.split(' ').map(std::ffi::OsString::from);
                assert!(line.starts_with("likenew ") && parse(words).is_ok(), "{line}");
            }
        }
    }
}
