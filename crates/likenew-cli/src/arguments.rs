//! Options that several commands share, how their values are parsed, and the errors for wrong ones.
//! Options only build a plan; `likenew run PLAN.toml` runs a plan directly.

use std::convert::Infallible;
use std::error::Error as _;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, ColorChoice, ValueEnum};
use likenew_archive::{Archive, Settings};
use likenew_core::procedure::Plan;
use likenew_core::units::parse_size;
use likenew_real::facts::choose_smartctl_device;
use likenew_real::facts::smartctl_device::DeviceChoice;
use likenew_report::terminal::View;

use crate::exit::{Failure, Result};
use crate::output_file::PictureFile;
use crate::wording;

/// Headings of the help.
pub(crate) const RUN: &str = "Run";
pub(crate) const SAFETY: &str = "Safety";
pub(crate) const OUTPUT: &str = "Output";
pub(crate) const ARCHIVE: &str = "Kept runs";

/// Parses a target. A name that begins with a dash becomes a path, or suggested commands would take it for an option.
pub(crate) fn typed_target(text: &str) -> std::result::Result<String, Infallible> {
    Ok(if text.starts_with('-') { format!("./{text}") } else { text.to_owned() })
}

/// What to measure, how, and where the results go.
#[derive(Debug, Args)]
pub(crate) struct TargetArguments {
    /// A folder, a file, a block device, or a simulated drive such as 'sim:tiny-flash?state=used' (quote the ?)
    #[arg(value_parser = typed_target, help_heading = Option::<&'static str>::None)]
    pub(crate) target: String,
    /// Random seed [default: 0]
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) run: RunArguments,
}

impl TargetArguments {
    /// A plan for this target with these settings.
    pub(crate) fn plan_of(&self, procedure: &str, options: toml::Table) -> Plan {
        let target = Some(self.target.clone());
        Plan::new(procedure, target, self.seed.unwrap_or_default(), options)
    }
}

/// How to measure, where the results go, and where the run is kept. The default is for a command that lets the user
/// choose only a part of it.
#[derive(Debug, Default, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) execution: ExecutionArguments,
    #[command(flatten)]
    pub(crate) archive_arguments: ArchiveArguments,
    /// Print the measurement as a job file of another program and stop
    #[arg(long, value_enum, value_name = "PROGRAM", help_heading = RUN, hide_short_help = true)]
    pub(crate) export: Option<ExportFormat>,
    /// Say how long it takes and what it writes, and stop; with --json as JSON
    #[arg(long, help_heading = RUN, hide_short_help = true, conflicts_with = "export")]
    pub(crate) estimate: bool,
}

/// How smartctl reaches the drive of a target.
#[derive(Debug, Args)]
pub(crate) struct SmartctlArgument {
    /// Type for smartctl -d of a drive behind a RAID controller or USB bridge, such as megaraid,5 or sat; it is remembered
    /// for this drive, and auto forgets it
    #[arg(long, value_name = "TYPE", help_heading = RUN, conflicts_with_all = ["all", "from"])]
    smartctl_device: Option<DeviceChoice>,
}

impl SmartctlArgument {
    /// Applies the type, if one was given, to the drive of the only target.
    ///
    /// # Errors
    /// There are several targets or a simulated one, smartctl gives no answer, or the type cannot be remembered.
    pub(crate) fn apply(&self, targets: &[String]) -> Result<()> {
        match (&self.smartctl_device, targets) {
            (None, _) => Ok(()),
            (Some(choice), [target]) if !target.starts_with("sim:") && target != "nop:" => {
                Ok(choose_smartctl_device(Path::new(target), choice)?)
            }
            _ => Err(Failure::Usage(wording::SMARTCTL_DEVICE_TAKES_ONE_DRIVE.into())),
        }
    }
}

/// The folder of all runs.
#[derive(Debug, Default, Args)]
pub(crate) struct ArchiveFolder {
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
}

impl ArchiveFolder {
    /// The path from the command line, or the default.
    pub(crate) fn root(&self) -> Result<PathBuf> {
        match &self.archive {
            Some(root) => Ok(root.clone()),
            None => Ok(Archive::default_root(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?),
        }
    }

    pub(crate) fn archive(&self) -> Result<Archive> {
        Ok(Archive::new(self.root()?))
    }
}

/// Where a run is kept.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = ARCHIVE)]
pub(crate) struct ArchiveArguments {
    #[command(flatten)]
    pub(crate) folder: ArchiveFolder,
    /// Do not keep this run
    #[arg(long, conflicts_with_all = ["archive", "samples"])]
    pub(crate) no_archive: bool,
}

/// How to measure and where the results go.
#[derive(Debug, Default, Args)]
pub(crate) struct ExecutionArguments {
    #[command(flatten)]
    pub(crate) output: Output,
    /// I/O engine for real drives
    #[arg(long, value_enum, default_value_t = EngineName::Auto, value_name = "NAME", help_heading = RUN, hide_short_help = true)]
    pub(crate) engine: EngineName,
    /// Free space to leave on the file system [default: 5%, at least 64MiB, at most 8GiB or half of the free space]
    #[arg(long, help_heading = SAFETY, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) reserve: Option<u64>,
    /// Also keep every I/O, as samples.parquet in the run folder; a page shows them
    #[arg(long, help_heading = ARCHIVE, hide_short_help = true)]
    pub(crate) samples: bool,
    /// Overwrite a block device or an existing file and LOSE what it holds. ID is the drive's serial number or the
    /// file's name; run without --consent to see it
    #[arg(long, help_heading = SAFETY, value_name = "ID")]
    pub(crate) consent: Option<String>,
    /// File systems and partition tables that may be destroyed with it, such as ext4,gpt
    #[arg(long, help_heading = SAFETY, value_delimiter = ',', value_name = "NAME,..", requires = "consent")]
    pub(crate) destroy: Vec<String>,
    /// How progress is shown on standard error
    #[arg(long, value_enum, default_value_t = ProgressFormat::Bar, value_name = "STYLE", help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) progress: ProgressFormat,
    /// Write a line of CSV per second and kind of I/O while it measures; - writes them to standard output
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) log: Option<PathBuf>,
    /// Wait while another run uses the same drive, instead of refusing
    #[arg(long, help_heading = RUN, hide_short_help = true)]
    pub(crate) wait_for_drive: bool,
    /// Answer yes to questions; never replaces --consent
    #[arg(short, long, help_heading = SAFETY)]
    pub(crate) yes: bool,
}

impl ExecutionArguments {
    /// The settings with which an interrupted run is resumed.
    pub(crate) fn settings(&self) -> Settings {
        let engine = self.engine.to_possible_value().expect("every engine has a name");
        Settings {
            engine: (self.engine != EngineName::Auto).then(|| engine.get_name().to_owned()),
            reserve_bytes: self.reserve,
            samples: self.samples,
        }
    }

    /// Takes over the settings of the original run, unless the command line gives others.
    ///
    /// # Errors
    /// The run began with an engine that this version does not know.
    pub(crate) fn apply_settings(&mut self, settings: &Settings) -> Result<(), String> {
        if let Some(engine) = settings.engine.as_deref().filter(|_| self.engine == EngineName::Auto) {
            self.engine = EngineName::from_str(engine, false).map_err(|_| wording::unknown_engine(engine))?;
        }
        self.reserve = self.reserve.or(settings.reserve_bytes);
        self.samples |= settings.samples;
        Ok(())
    }
}

/// How progress is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProgressFormat {
    /// A bar, on a terminal
    #[default]
    Bar,
    /// Lines of JSON, for programs
    Json,
}

/// How results are shown, and where else they go.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = OUTPUT)]
pub(crate) struct Output {
    /// Show everything: evidence, caveats, tables and plots
    #[arg(short = 'v', long, visible_alias = "verbose", conflicts_with = "quiet")]
    pub(crate) details: bool,
    /// Show one line
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Show the first screen as Markdown, for a forum or an issue
    #[arg(long, conflicts_with_all = ["details", "quiet"])]
    pub(crate) markdown: bool,
    /// Write the report as a web page that works offline; - writes it to standard output
    #[arg(short = 'o', long, value_name = "FILE|-")]
    pub(crate) html: Option<PathBuf>,
    /// Write the report as JSON; - writes it to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Write a picture of the first screen, for a forum or a review: .svg or .png
    #[arg(long, value_name = "FILE", value_parser = PictureFile::parse)]
    pub(crate) card: Option<PictureFile>,
    /// Write each table as TABLE.csv into a folder
    #[arg(long, value_name = "DIR")]
    pub(crate) csv: Option<PathBuf>,
    /// Use color
    #[arg(long, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub(crate) color: ColorChoice,
    /// A log has standard output.
    #[arg(skip)]
    pub(crate) log_has_standard_output: bool,
}

impl Output {
    /// How much of a report is shown on the terminal.
    pub(crate) fn view(&self) -> View {
        match (self.quiet, self.details) {
            (true, _) => View::Line,
            (false, true) => View::Details,
            (false, false) => View::Screen,
        }
    }

    /// Whether standard output belongs to JSON, a page or a log, so that nothing else may be printed there.
    pub(crate) fn takes_standard_output(&self) -> bool {
        let reports = [&self.json, &self.html];
        self.log_has_standard_output || reports.into_iter().flatten().any(|path| path == Path::new("-"))
    }
}

/// Parses the command line by its grammar.
///
/// # Errors
/// Clap refuses the words or shows help itself, a value is empty, or two reports go to standard output.
pub(crate) fn parse(
    mut command: clap::Command,
    typed: impl IntoIterator<Item = OsString>,
) -> Result<ArgMatches, clap::Error> {
    let matches = command.try_get_matches_from_mut(typed)?;
    let (mut deepest, mut grammar) = (&matches, &command);
    while let Some((name, inner)) = deepest.subcommand() {
        grammar = grammar.find_subcommand(name).expect("what was parsed is in the grammar");
        deepest = inner;
    }
    if let Some(error) = empty_value(grammar, deepest) {
        return Err(error);
    }
    let is_standard_output = |report: &str| {
        let typed = deepest.try_get_raw(report).ok().flatten();
        typed.is_some_and(|mut values| values.any(|value| value == "-"))
    };
    let mut to_standard_output =
        ["json", "html", "log"].into_iter().filter(|report| is_standard_output(report));
    if let (Some(one), Some(other)) = (to_standard_output.next(), to_standard_output.next()) {
        return Err(command.error(ErrorKind::ArgumentConflict, wording::two_to_stdout(one, other)));
    }
    if let Ok(Some(color)) = deepest.try_get_one::<ColorChoice>("color") {
        match color {
            ColorChoice::Auto => {}
            ColorChoice::Always => anstream::ColorChoice::Always.write_global(),
            ColorChoice::Never => anstream::ColorChoice::Never.write_global(),
        }
    }
    Ok(matches)
}

/// The error for an empty value that its parser accepts, such as a path. Two may be empty: a
/// consent, which is answered with what to type, and the name of an export.
fn empty_value(grammar: &clap::Command, matches: &ArgMatches) -> Option<clap::Error> {
    const MAY_BE_EMPTY: [&str; 2] = ["consent", "export_name"];
    let is_empty = |argument: &&clap::Arg| {
        let id = argument.get_id().as_str();
        let mut typed = matches.try_get_raw(id).ok().flatten().into_iter().flatten();
        !MAY_BE_EMPTY.contains(&id) && typed.any(std::ffi::OsStr::is_empty)
    };
    let empty = grammar.get_arguments().find(is_empty)?;
    let mut error = clap::Error::new(ErrorKind::InvalidValue).with_cmd(grammar);
    error.insert(ContextKind::InvalidArg, ContextValue::String(empty.to_string()));
    error.insert(ContextKind::InvalidValue, ContextValue::String(String::new()));
    Some(error)
}

/// The sentence of ours for an unknown command, an empty value and what is no whole number; `first` is the first word of the
/// command line.
pub(crate) fn refusal(error: &clap::Error, first: Option<String>) -> Option<String> {
    let ours = unknown_command(error, first);
    ours.or_else(|| nothing_typed(error)).or_else(|| not_a_whole_number(error))
}

/// What clap says of an error under this key, if that is a text.
fn context(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    }
}

/// Like [`context`], for a list.
fn context_list(error: &clap::Error, kind: ContextKind) -> &[String] {
    match error.get(kind) {
        Some(ContextValue::Strings(texts)) => texts,
        _ => &[],
    }
}

/// The sentence for a command that does not exist; `None` for clap's other errors. `first` is the first word of
/// the command line.
fn unknown_command(error: &clap::Error, first: Option<String>) -> Option<String> {
    let typed = context(error, ContextKind::InvalidSubcommand)?;
    // The most similar is the last.
    let near = context_list(error, ContextKind::SuggestedSubcommand).last();
    let parent = first.filter(|first| first != typed);
    Some(wording::unknown_command(parent.as_deref(), typed, near.map(String::as_str)))
}

/// The sentence for an option or argument whose value is empty; `None` for clap's other errors. Whatever parses the
/// value would quote nothing.
fn nothing_typed(error: &clap::Error) -> Option<String> {
    let option = context(error, ContextKind::InvalidArg)?;
    context(error, ContextKind::InvalidValue).filter(|typed| typed.is_empty())?;
    Some(wording::nothing_typed(option, context_list(error, ContextKind::ValidValue)))
}

/// The sentence for an option that takes a whole number and got something else, which clap says in words of Rust's
/// parser; `None` for clap's other errors.
fn not_a_whole_number(error: &clap::Error) -> Option<String> {
    let reason = error.source()?.downcast_ref::<ParseIntError>()?;
    let option = context(error, ContextKind::InvalidArg)?;
    let typed = context(error, ContextKind::InvalidValue)?;
    let option = option.split(' ').next().unwrap_or(option);
    Some(match reason.kind() {
        IntErrorKind::PosOverflow => wording::option_too_large(option, typed),
        _ => wording::option_takes_a_whole_number(option, typed),
    })
}

/// Something that can be left off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// io_uring, or threads where the system refuses io_uring
    #[default]
    Auto,
    /// io_uring only
    Uring,
    /// threads
    Posix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// An fio job file
    Fio,
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches;
    use likenew_procedures::check::Metric;

    use super::*;
    use crate::commands::data::Data;
    use crate::commands::model::Model;
    use crate::commands::resume::Resume;
    use crate::commands::{grammar, parse};

    /// The arguments of a command.
    fn typed<C: FromArgMatches>(words: &[&str]) -> Result<C, clap::Error> {
        let words = [&["likenew"], words].concat();
        let matches = super::parse(grammar(), words.into_iter().map(OsString::from))?;
        C::from_arg_matches(matches.subcommand().expect("it begins with a command").1)
    }

    #[test]
    fn an_unknown_command_gets_the_nearest_and_the_next_step() {
        let sentence = |typed: &[&str]| {
            let words = [&["likenew"], typed].concat();
            let error = parse(words.iter().map(OsString::from)).err().unwrap();
            unknown_command(&error, typed.first().map(|first| (*first).to_owned()))
        };
        assert_eq!(
            sentence(&["chekc", "sim:tiny-flash"]).as_deref(),
            Some("unknown command \"chekc\"; did you mean \"check\"? likenew --help lists all commands")
        );
        assert_eq!(
            sentence(&["xyzzy"]).as_deref(),
            Some("unknown command \"xyzzy\"; likenew --help lists all commands")
        );
        assert_eq!(
            sentence(&["sim", "shwo"]).as_deref(),
            Some("unknown command \"shwo\"; did you mean \"show\"? likenew sim --help lists all commands")
        );
        assert_eq!(sentence(&["check"]), None, "what else is wrong is said by clap");
    }

    #[test]
    fn what_is_no_whole_number_is_said_in_plain_words() {
        let sentence = |value: &str| {
            let words = ["likenew", "bench", "sim:tiny-flash", "--passes", value];
            not_a_whole_number(&parse(words.iter().map(OsString::from)).err().unwrap())
        };
        assert_eq!(sentence("many").as_deref(), Some("--passes takes a whole number, not \"many\""));
        assert_eq!(sentence("2.5").as_deref(), Some("--passes takes a whole number, not \"2.5\""));
        assert_eq!(
            sentence("99999999999999999999").as_deref(),
            Some("--passes 99999999999999999999 is too large")
        );
    }

    #[test]
    fn an_empty_value_is_called_empty() {
        let sentence = |option: &str| {
            let words = ["likenew", "bench", "sim:tiny-flash", option, ""];
            nothing_typed(&parse(words.iter().map(OsString::from)).err().unwrap())
        };
        assert_eq!(sentence("--span").as_deref(), Some("nothing was typed for --span <SIZE>"));
        assert_eq!(sentence("--passes").as_deref(), Some("nothing was typed for --passes <N>"));
        assert_eq!(sentence("--profile").as_deref(), Some("nothing was typed for --profile <NAME>"));
        assert_eq!(
            sentence("--engine").as_deref(),
            Some("nothing was typed for --engine <NAME>; use auto, uring, posix")
        );
        for (words, option) in [
            (["likenew", "bench", ""], "<TARGET>"),
            (["likenew", "help", ""], "[TOPIC]"),
            (["likenew", "check", ""], "[TARGET]..."),
        ] {
            let error = parse(words.iter().map(OsString::from)).err().unwrap();
            assert_eq!(nothing_typed(&error), Some(format!("nothing was typed for {option}")));
            assert_eq!(error.exit_code(), 2);
        }
        assert_eq!(sentence("--archive").as_deref(), Some("nothing was typed for --archive <DIR>"));
        let consent = ["likenew", "bench", "stick.img", "--consent", ""];
        assert!(parse(consent.iter().map(OsString::from)).is_ok(), "it is told what to type");
        let words = ["likenew", "bench", "sim:tiny-flash", "--span", "1 parsec"];
        assert_eq!(nothing_typed(&parse(words.iter().map(OsString::from)).err().unwrap()), None);
    }

    #[test]
    fn rated_speeds_that_are_not_compared_are_refused_by_name() {
        let parsed = |command: &str, rated: &str| {
            let words = [command, "sim:tiny-flash", "--advertised", rated];
            match command {
                "data" => typed::<Data>(&words).map(|data| data.rated),
                _ => typed::<Model>(&words).map(|model| model.rated),
            }
        };
        for command in ["data", "model"] {
            let rated = parsed(command, "read=550MB/s,write=0.5GB/s").unwrap();
            assert_eq!(rated.bytes_per_s(Metric::SequentialRead), Some(550_000_000));
            assert_eq!(rated.bytes_per_s(Metric::SequentialWrite), Some(500_000_000));
            let rated = parsed(command, "write=500MB/s").unwrap();
            assert_eq!(rated.bytes_per_s(Metric::SequentialRead), None);
            for (typed, words) in [
                ("read=550MB/s,random_read=95000", "random_read is not used here"),
                ("sustained_write=400MB/s", "give read and write"),
                ("550MB", "write read=550MB/s"),
            ] {
                let error = parsed(command, typed).unwrap_err().to_string();
                assert!(error.contains(words), "{error}");
            }
        }
        let removed = ["likenew", "data", "sim:tiny-flash", "--advertised-read", "550MB"];
        assert!(parse(removed.iter().map(OsString::from)).is_err());
    }

    #[test]
    fn options_have_one_name_for_one_idea() {
        for words in [
            "endure sim:tiny-flash --span 75% --file-size 16MiB",
            "age sim:tiny-flash --span 256MiB --random-span 16MiB --idle 10s",
            "trim sim:tiny-flash --span 64MiB --bytes 4MiB",
            "apps sim:tiny-flash --span 64MiB --consistency --writing-span 256MiB",
            "recondition sim:tiny-flash --overwrite-max 64MiB --idle 1s",
            "verify sim:tiny-flash --idle 1s",
            "bench sim:tiny-flash --idle 1s",
            "data sim:tiny-flash --idle 1s",
        ] {
            let typed = ["likenew"].into_iter().chain(words.split(' ')).map(OsString::from);
            assert!(parse(typed).is_ok(), "{words}");
        }
        for words in [
            "endure sim:tiny-flash --area 75%",
            "age sim:tiny-flash --space 256MiB",
            "age sim:tiny-flash --rest 10s",
            "trim sim:tiny-flash --size 4MiB",
            "recondition sim:tiny-flash --space 64MiB",
            "verify sim:tiny-flash --rest 1s",
            "bench sim:tiny-flash --interval 1s",
        ] {
            let typed = ["likenew"].into_iter().chain(words.split(' ')).map(OsString::from);
            assert!(parse(typed).is_err(), "{words}");
        }
    }

    #[test]
    fn the_grammar_is_consistent() {
        grammar().debug_assert();
    }

    fn resume(flags: &[&str]) -> ExecutionArguments {
        typed::<Resume>(&[&["resume", "RUN"], flags].concat()).unwrap().execution
    }

    /// Every flag of a run is kept or dropped on resume. A new flag has to be put into one of these lists.
    #[test]
    fn a_run_that_goes_on_forgets_no_flag() {
        // Consent holds for one run, an answer for one question, and waiting, progress and reports are chosen
        // each time.
        const TYPED_AGAIN: [&str; 15] = [
            "consent",
            "destroy",
            "yes",
            "json",
            "html",
            "csv",
            "card",
            "details",
            "quiet",
            "markdown",
            "color",
            "progress",
            "log",
            "wait-for-drive",
            "estimate",
        ];
        const KEPT: [(&str, &str, &str); 3] =
            [("engine", "posix", "uring"), ("reserve", "7MiB", "9MiB"), ("samples", "", "")];
        let command = grammar();
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
            let execution = |value: &str| {
                let words = flag_words(value);
                resume(&words.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let settings = execution(before).settings();
            assert!(!settings.is_default(), "{flag}");
            let stored: Settings = serde_json::from_value(serde_json::to_value(&settings).unwrap()).unwrap();
            let mut gone_on = resume(&[]);
            gone_on.apply_settings(&stored).unwrap();
            assert_eq!(gone_on.settings(), settings, "{flag} is as it was");
            let mut changed = execution(now);
            changed.apply_settings(&stored).unwrap();
            assert_eq!(changed.settings(), execution(now).settings(), "{flag} is what is typed now");
        }
        let strange = Settings { engine: Some("steam".into()), ..Settings::default() };
        assert!(resume(&[]).apply_settings(&strange).unwrap_err().contains("--engine steam"));
    }

    #[test]
    fn one_report_alone_goes_to_standard_output() {
        let measures =
            |command: &str| ["bench", "resume", "run"].iter().any(|name| command.starts_with(name));
        let words = |line: &str| -> Vec<OsString> { line.split(' ').map(OsString::from).collect() };
        for command in
            ["bench sim:tiny-flash", "report RUN", "judge RUN", "import fio FILE", "resume RUN", "run PLAN"]
        {
            let of_runs = ["--log - --json -", "--html - --log=-"].into_iter().filter(|_| measures(command));
            for both in ["--json - --html -", "--html=- --json=-"].into_iter().chain(of_runs) {
                let error = parse(words(&format!("likenew {command} {both}"))).err().expect(both);
                assert_eq!(error.exit_code(), 2);
                assert!(error.to_string().contains("both write to standard output"), "{error}");
            }
            for options in ["--json - --html page.html", "--json report.json --html -", "--html -"] {
                assert!(parse(words(&format!("likenew {command} {options}"))).is_ok(), "{command} {options}");
            }
        }
    }
}
