//! All commands, each with its options beside what it does.

mod applications;
mod check;
pub(crate) mod data;
mod endurance;
mod facts;
mod help;
mod history;
mod import;
pub(crate) mod inside;
mod recondition;
mod record;
mod report;
pub(crate) mod resume;
pub(crate) mod serve;
mod sim;
mod speed;
mod verify;
mod watch;

use clap::{ArgMatches, Args};
use likenew_core::io::Op;
use likenew_core::workload::Mix;
use likenew_procedures::data::Test;
use likenew_procedures::pattern::Pattern;

use crate::exit::{Exit, Failure, Result};
use crate::resolved_target::ResolvedTarget;
use crate::wording::{self, help as help_wording};

/// A command: what is typed for it, and what it does. Its options are its fields, and its comment is what `--help` says of it.
pub(crate) trait Command: Args + 'static {
    fn run(self) -> Result<Exit>;
}

/// A command that was typed, with its options.
pub(crate) type TypedCommand = Box<dyn FnOnce() -> Result<Exit>>;

/// A command as a row of the table of all.
struct Row {
    name: &'static str,
    /// Whether a served page may start it: it measures one target.
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

fn read<C: Command>(matches: &ArgMatches) -> Result<TypedCommand, clap::Error> {
    let command = C::from_arg_matches(matches)?;
    Ok(Box::new(|| command.run()))
}

/// All commands. Their groups and examples stand in [`help_wording::GROUPS`].
const COMMANDS: [Row; 31] = [
    row::<check::Check>("check").served(),
    row::<recondition::Recondition>("recondition").served(),
    row::<speed::Bench>("bench").served(),
    row::<speed::Sweep>("sweep").served(),
    row::<speed::Surface>("surface").served(),
    row::<endurance::Fill>("fill").served(),
    row::<endurance::Endure>("endure").served(),
    row::<endurance::Age>("age").served(),
    row::<data::Data>("data").served(),
    row::<speed::Cache>("cache").served(),
    row::<verify::Trim>("trim").served(),
    row::<inside::Xray>("xray").served(),
    row::<verify::Verify>("verify").served(),
    row::<inside::Model>("model").served(),
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
/// Clap's, which the grammar leaves nothing for.
pub(crate) fn typed(matches: &ArgMatches) -> Result<TypedCommand, clap::Error> {
    let (name, inner) = matches.subcommand().expect("the grammar asks for a command");
    let row = COMMANDS.iter().find(|row| row.name == name).expect("the grammar is made of these");
    (row.read)(inner)
}

/// Names of commands that a served page may start, in the order of the overview.
fn served() -> impl Iterator<Item = &'static str> {
    let names = help_wording::GROUPS.iter().flat_map(|(_, commands)| *commands).map(|(name, _)| *name);
    names.filter(|name| COMMANDS.iter().any(|row| row.name == *name && row.is_served))
}

// ---- defaults of options, limited to what a target has or allows ----

/// The operations on the command line; otherwise the default, or only reads on a read-only target.
fn default_ops(typed: &[Mix], default: Vec<Mix>, target: &ResolvedTarget) -> Result<Vec<Mix>> {
    if typed.iter().any(|op| op.writes()) {
        target.refuse_writing().map_err(with_op_read_hint)?;
    }
    Ok(match typed {
        [] if target.is_writable() => default,
        [] => {
            crate::console::note(wording::READS_ONLY);
            vec![Mix::Only(Op::Read)]
        }
        typed => typed.to_vec(),
    })
}

fn with_op_read_hint(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(text) => Failure::Refused(wording::with_op_read_hint(&text)),
        other => other,
    }
}

/// The span on the command line; otherwise the default, or less if the target is smaller, in whole steps.
fn default_span(typed: Option<u64>, default: u64, step: u64, target: &ResolvedTarget) -> Result<u64> {
    if let Some(span) = typed {
        return Ok(span);
    }
    let usable = target.usable_bytes()?;
    let span = default.min(usable - usable % step);
    if span == 0 {
        return Err(Failure::Usage(wording::span_does_not_fit(usable, step)));
    }
    Ok(span)
}

/// Each pattern with its blocks and depths from the command line: one value is for all, several are for the
/// patterns in their order, and none is the default.
fn default_tests(
    patterns: &[Pattern],
    blocks: &[u64],
    depths: &[u32],
    default: impl Fn(Pattern) -> Test,
) -> Result<Vec<Test>> {
    let fits = |count: usize, flag: &str| match count {
        0 | 1 => Ok(()),
        count if count == patterns.len() => Ok(()),
        count => Err(Failure::Usage(wording::values_for_patterns(flag, count, patterns.len()))),
    };
    fits(blocks.len(), "block")?;
    fits(depths.len(), "depth")?;
    let test = |(index, pattern): (usize, &Pattern)| {
        let default = default(*pattern);
        Test {
            pattern: *pattern,
            block: blocks.get(index).or(blocks.first()).copied().unwrap_or(default.block),
            depth: depths.get(index).or(depths.first()).copied().unwrap_or(default.depth),
        }
    };
    Ok(patterns.iter().enumerate().map(test).collect())
}

/// A new seed on a real drive unless one was typed: data of an earlier run is only told from this one's by its key, so each run
/// has another.
fn seed_of_one_run(typed: Option<u64>, target: &ResolvedTarget) -> Result<u64> {
    match typed {
        Some(seed) => Ok(seed),
        None if target.is_real() => Ok(likenew_real::clock::new_seed().map_err(anyhow::Error::new)?),
        None => Ok(0),
    }
}

/// The size of the files with which a folder is filled: about a thousand of whole MiB, all of which are open.
fn file_size_to_fill(span: u64) -> u64 {
    const FILES: u64 = 1000;
    const STEP: u64 = 1 << 20;
    let each = span / FILES;
    (each - each % STEP).max(STEP)
}

/// The default, or less: at most one part in so many of the space, in whole steps; `None` if not one step is left.
fn part_of_space(space: u64, parts: u64, step: u64, default: u64) -> Option<u64> {
    let most = space / parts;
    Some(default.min(most - most % step)).filter(|span| *span > 0)
}
