//! What can be typed. Flags only build a plan: the longest way of saying it is `likenew run PLAN.toml`.

mod age;
mod apps;
mod bench;
mod cache;
mod check;
mod data;
mod drives;
mod endure;
mod facts;
mod fill;
mod help;
mod import;
mod judge;
mod model;
mod recondition;
mod record;
mod references;
mod replay;
mod report;
mod resume;
mod run;
mod sim;
mod surface;
mod sweep;
mod trim;
mod verify;
mod watch;
mod xray;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use likenew_archive::Settings;
use likenew_core::plan::Plan;
use likenew_core::units::parse_size;
use likenew_procedures::profile::Profile;

pub(crate) use age::Age;
pub(crate) use apps::Apps;
pub(crate) use bench::Bench;
pub(crate) use cache::Cache;
pub(crate) use check::Check;
pub(crate) use data::Data;
pub(crate) use drives::Drives;
pub(crate) use endure::{Endure, EndureTest};
pub(crate) use facts::Facts;
pub(crate) use fill::Fill;
pub(crate) use help::Help;
pub(crate) use import::{Import, ImportFio, ImportSource, ImportTrace};
pub(crate) use judge::Judge;
pub(crate) use model::{Model, ModelOps};
pub(crate) use recondition::Recondition;
pub(crate) use record::Record;
pub(crate) use references::{Baseline, ReferenceArguments};
pub(crate) use replay::Replay;
pub(crate) use report::Report;
pub(crate) use resume::Resume;
pub(crate) use run::Run;
pub(crate) use sim::{Sim, SimAction, SimSave, SimServe, SimShow};
pub(crate) use surface::Surface;
pub(crate) use sweep::Sweep;
pub(crate) use trim::Trim;
pub(crate) use verify::Verify;
pub(crate) use watch::Watch;
pub(crate) use xray::Xray;

/// Tells you how far a drive has fallen from its first day, and why.
///
/// TARGET is a folder (its free space is measured with own files that are always removed), a file or a block device (they
/// are only read), or a simulated drive: sim:NAME, sim:FILE.toml, sim:NAME?state=used.
#[derive(Debug, Parser)]
#[command(
    name = "likenew",
    version,
    propagate_version = true,
    max_term_width = 110,
    disable_help_subcommand = true
)]
#[command(after_help = "Exit codes: 0 fine, 1 could not finish, 2 wrong usage, 3 refused for safety, \
                        10 finished and found a problem, 130 interrupted.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Is it slow, against what, why, and what cures it?
    Check(Check),
    /// What brings it back, gentlest first, and does that help? Measures, mends, and measures again
    Recondition(Recondition),
    /// How fast is it, in the familiar table?
    Bench(Bench),
    /// How do block size, queue depth, operation, order and data decide the speed?
    Sweep(Sweep),
    /// How fast is it along its addresses, and how long does it take from one to another?
    Surface(Surface),
    /// Is every part of the free space written equally fast, and without pauses?
    Fill(Fill),
    /// How does its speed change as it is written, and what is left in the long run?
    Endure(Endure),
    /// How much slower is it used than new? Measures, ages the drive, and measures again
    Age(Age),
    /// Does it matter how compressible the data is, and what does that mean for your files?
    Data(Data),
    /// What part of a number is RAM, and what is the drive's own?
    Cache(Cache),
    /// Does TRIM reach the flash, and what is it worth?
    Trim(Trim),
    /// What is inside, seen from outside: medium, map, caches, parallelism, over-provisioning?
    Xray(Xray),
    /// Does it hold what it says, and is what was written what is read?
    Verify(Verify),
    /// What explains it: access time, throughput, clusters, memory, parallelism?
    Model(Model),
    /// Would this drive make a recorded day faster? Replays a recording, on several drives one after the other
    Replay(Replay),
    /// What do applications get of it, and does it hold out?
    Apps(Apps),
    /// What does this very workload come to? Runs any plan
    Run(Run),
    /// What does it get from all programs, and how long do they wait? Records your own day as a trace
    Record(Record),
    /// What do the system and the drive say of it? Reads, writes nothing, and does no I/O
    Facts(Facts),
    /// What is every drive doing now?
    Watch(Watch),
    /// Which drives are there, real and simulated?
    Drives(Drives),
    /// What is a simulated drive made of, and what follows from it?
    Sim(Sim),
    /// Shows runs that were measured earlier; several of a kind stand side by side
    Report(Report),
    /// Judges a run again from its folder, without the drive
    Judge(Judge),
    /// Keeps, judges and shows what another program has measured or recorded
    Import(Import),
    /// Goes on with a run that was interrupted
    Resume(Resume),
    /// The manual page of a command or of a cause of slowness, such as slc_cache
    Help(Help),
}

/// On what to measure.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// A folder, a file, a block device, or a simulated drive such as sim:tiny-flash?state=used
    pub(crate) target: String,
    /// Where all randomness comes from [default: 0]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Print the plan as TOML and stop
    #[arg(long)]
    pub(crate) plan: bool,
}

impl TargetArguments {
    /// The seed that was said, or the usual one.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    /// The plan that asks this of it, with these settings.
    pub(crate) fn plan_of(&self, procedure: &str, options: toml::Table) -> Plan {
        let target = Some(self.target.clone());
        Plan { schema: 1, procedure: procedure.into(), target, seed: self.seed(), options }
    }
}

/// How to measure, where the results go, and where the run is kept.
#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) execution: ExecutionArguments,
    #[command(flatten)]
    pub(crate) archive_arguments: ArchiveArguments,
    /// Print what would be measured as a job file of another program and stop
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) export: Option<ExportFormat>,
}

impl std::ops::Deref for RunArguments {
    type Target = ExecutionArguments;

    fn deref(&self) -> &ExecutionArguments {
        &self.execution
    }
}

/// Where a run is kept.
#[derive(Debug, Args)]
pub(crate) struct ArchiveArguments {
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// Keep no run folder
    #[arg(long, conflicts_with_all = ["archive", "samples"])]
    pub(crate) no_archive: bool,
}

/// How to measure and where the results go.
#[derive(Debug, Args)]
pub(crate) struct ExecutionArguments {
    #[command(flatten)]
    pub(crate) output: Output,
    /// What carries the I/O of a real drive
    #[arg(long, value_enum, default_value_t = EngineName::Auto)]
    pub(crate) engine: EngineName,
    /// Free space of a folder's file system that is never filled [default: 5 %, at least 64MiB, at most 8GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) reserve: Option<u64>,
    /// Keep every single I/O in the run folder, as samples.parquet
    #[arg(long)]
    pub(crate) samples: bool,
    /// Consent to overwrite a block device or an existing file, and lose what is on it, or to a step that is done to a drive as a whole: its
    /// serial number, or what stands for that. A refusal says what
    #[arg(long, value_name = "ID")]
    pub(crate) consent: Option<String>,
    /// File systems, partition tables and the like that may be destroyed with it, by name
    #[arg(long, value_delimiter = ',', value_name = "NAME,..", requires = "consent")]
    pub(crate) destroy: Vec<String>,
    /// Wait while another run of likenew works on the same drive, instead of refusing
    #[arg(long)]
    pub(crate) wait_for_drive: bool,
    /// Answer yes to questions of convenience; never replaces consent
    #[arg(long)]
    pub(crate) yes: bool,
}

impl ExecutionArguments {
    /// What a run that is interrupted has to go on with.
    pub(crate) fn settings(&self) -> Settings {
        let engine = self.engine.to_possible_value().expect("every engine has a name");
        Settings {
            engine: (self.engine != EngineName::Auto).then(|| engine.get_name().to_owned()),
            reserve_bytes: self.reserve,
            samples: self.samples,
        }
    }

    /// The same with what the run began with, where nothing else was typed now.
    ///
    /// # Errors
    /// A sentence: the run began with an engine that this version does not know.
    pub(crate) fn apply_settings(&mut self, settings: &Settings) -> Result<(), String> {
        if let Some(engine) = settings.engine.as_deref().filter(|_| self.engine == EngineName::Auto) {
            self.engine = EngineName::from_str(engine, false).map_err(|_| {
                format!("the run began with --engine {engine}, which is not known here: give another one")
            })?;
        }
        self.reserve = self.reserve.or(settings.reserve_bytes);
        self.samples |= settings.samples;
        Ok(())
    }
}

/// Where results go beside the terminal.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Write the report as JSON to FILE, or to standard output with - (then nothing else is printed there)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Write the report as one HTML page that works offline, or to standard output with - (then nothing else is printed there)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) html: Option<PathBuf>,
}

impl Output {
    /// Whether standard output is given to a report for programs or browsers, so that nothing else may stand there.
    pub(crate) fn takes_standard_output(&self) -> bool {
        [&self.json, &self.html].into_iter().flatten().any(|path| path == Path::new("-"))
    }
}

/// What was typed.
///
/// # Errors
/// Clap's, for what it refuses or shows itself; two reports at once to standard output.
pub(crate) fn parse(typed: impl IntoIterator<Item = OsString>) -> Result<Arguments, clap::Error> {
    let mut command = Arguments::command();
    let matches = command.try_get_matches_from_mut(typed)?;
    let mut deepest = &matches;
    while let Some((_, inner)) = deepest.subcommand() {
        deepest = inner;
    }
    let is_standard_output = |report: &str| {
        let typed = deepest.try_get_raw(report).ok().flatten();
        typed.is_some_and(|mut values| values.any(|value| value == "-"))
    };
    if is_standard_output("json") && is_standard_output("html") {
        return Err(command.error(
            ErrorKind::ArgumentConflict,
            "--json - and --html - would both write to standard output: give one of them a file",
        ));
    }
    Arguments::from_arg_matches(&matches)
}

/// Something that can be left off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Do it
    On,
    /// Leave it
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// io_uring, or the thread pool where the system refuses io_uring
    Auto,
    /// io_uring or nothing
    Uring,
    /// A pool of threads
    Posix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// A job file of fio
    Fio,
}

/// A value that reads itself, with its own words when it can not.
fn text<T: std::str::FromStr<Err = String>>(text: &str) -> Result<T, String> {
    text.parse()
}

/// A number within limits, which the message names when it is not.
fn number(least: f64, most: f64) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("it takes a number from {least} to {most}"))
    }
}

fn profile(text: &str) -> Result<Profile, String> {
    by_name(text, &Profile::ALL)
}

/// The profile of this name.
fn by_name<T: Copy>(text: &str, all: &[(&str, T)]) -> Result<T, String> {
    let known = all.iter().find(|(name, _)| *name == text);
    known.map(|(_, profile)| *profile).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        format!("there is no profile \"{text}\"; there are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grammar_is_consistent() {
        Arguments::command().debug_assert();
    }

    fn resume(typed: &[&str]) -> ExecutionArguments {
        let typed = [&["likenew", "resume", "RUN"], typed].concat();
        let Command::Resume(command) = parse(typed.iter().map(OsString::from)).unwrap().command else {
            panic!("resume was typed")
        };
        command.run_arguments
    }

    /// What becomes of each flag of a run that goes on. A new flag has to be put into one of these lists.
    #[test]
    fn a_run_that_goes_on_forgets_no_flag() {
        // Consent holds for one run, an answer for one question, and waiting and reports are asked for each time.
        const TYPED_AGAIN: [&str; 6] = ["consent", "destroy", "yes", "json", "html", "wait-for-drive"];
        const KEPT: [(&str, &str, &str); 3] =
            [("engine", "posix", "uring"), ("reserve", "7MiB", "9MiB"), ("samples", "", "")];
        let command = Arguments::command();
        let resumed = command.find_subcommand("resume").unwrap();
        let mut flags: Vec<&str> = resumed
            .get_arguments()
            .filter_map(|flag| flag.get_long())
            .filter(|flag| !["help", "version"].contains(flag))
            .collect();
        let mut listed: Vec<&str> = KEPT.iter().map(|(flag, ..)| *flag).chain(TYPED_AGAIN).collect();
        flags.sort_unstable();
        listed.sort_unstable();
        assert_eq!(flags, listed);
        for (flag, before, now) in KEPT {
            let flag_words = |value: &str| match value {
                "" => vec![format!("--{flag}")],
                value => vec![format!("--{flag}"), value.to_owned()],
            };
            let run_arguments = |value: &str| {
                let words = flag_words(value);
                resume(&words.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let settings = run_arguments(before).settings();
            assert!(!settings.is_default(), "{flag}");
            let stored: Settings = serde_json::from_value(serde_json::to_value(&settings).unwrap()).unwrap();
            let mut gone_on = resume(&[]);
            gone_on.apply_settings(&stored).unwrap();
            assert_eq!(gone_on.settings(), settings, "{flag} is as it was");
            let mut changed = run_arguments(now);
            changed.apply_settings(&stored).unwrap();
            assert_eq!(changed.settings(), run_arguments(now).settings(), "{flag} is what is typed now");
        }
        let strange = Settings { engine: Some("steam".into()), ..Settings::default() };
        assert!(resume(&[]).apply_settings(&strange).unwrap_err().contains("--engine steam"));
    }

    #[test]
    fn one_report_alone_goes_to_standard_output() {
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        for command in
            ["bench sim:tiny-flash", "report RUN", "judge RUN", "import fio FILE", "resume RUN", "run PLAN"]
        {
            for both in ["--json - --html -", "--html=- --json=-"] {
                let error = parse(words(&format!("likenew {command} {both}"))).expect_err(both);
                assert_eq!(error.exit_code(), 2);
                assert!(error.to_string().contains("both write to standard output"), "{error}");
            }
            for one in ["--json - --html page.html", "--json report.json --html -", "--html -"] {
                assert!(parse(words(&format!("likenew {command} {one}"))).is_ok(), "{command} {one}");
            }
        }
    }
}
