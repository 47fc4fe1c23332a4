//! Help texts outside of the options: the overview, groups of commands, examples, simulated drives.

use std::fmt::Write as _;

/// The text of `likenew` without arguments: the five commands that matter.
pub(crate) const START: &str = "\
likenew finds out whether a drive is slow, why, and what fixes it.

  likenew check TARGET         is it slow, why, and what fixes it
  likenew recondition TARGET   restore it, and measure whether that helped
  likenew bench TARGET         sequential and random speed in one table
  likenew xray TARGET          what is inside: flash, mapping, caches
  likenew report               show the last run; --details shows everything

TARGET is a folder, a file, a block device, or a simulated drive:

  likenew check 'sim:intel-x25-m-80gb?state=used&trim=off'

All commands: likenew --help
";

/// What the program does, in a line.
pub(crate) const ABOUT: &str = "Measures a drive, says why it is slow, and restores it.";

/// A command as help and manual pages list it.
#[derive(Clone, Copy)]
pub(crate) struct ListedCommand {
    pub(crate) name: &'static str,
    /// The title of its group. Commands of a group stand side by side.
    pub(crate) group: &'static str,
    /// Ways to use it.
    pub(crate) examples: &'static [&'static str],
}

/// The commands of each group.
pub(crate) fn groups(commands: &[ListedCommand]) -> impl Iterator<Item = &[ListedCommand]> {
    commands.chunk_by(|one, next| one.group == next.group)
}

/// What `likenew --help` prints.
pub(crate) fn overview(command: &clap::Command, commands: &[ListedCommand]) -> String {
    let mut text = format!("{ABOUT}\n\nUsage: {USAGE}\n");
    for group in groups(commands) {
        let _ = write!(text, "\n{}:\n", group[0].group);
        for ListedCommand { name, .. } in group {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:12} {about}");
        }
    }
    let codes: Vec<String> = EXIT_CODES.iter().map(|(exit, meaning)| format!("{exit} {meaning}")).collect();
    let options =
        textwrap::Options::new(COLUMNS).initial_indent("Exit codes: ").subsequent_indent("            ");
    text += &format!("\n{TARGETS}\n{MORE_HELP}\n");
    text + &textwrap::fill(&codes.join(", "), options) + "\n"
}

/// How a command line looks.
pub(crate) const USAGE: &str = "likenew COMMAND [TARGET] [OPTIONS]";

/// Columns of the overview: two fewer than the narrowest terminal has.
const COLUMNS: usize = 78;

/// What can be named as the target.
pub(crate) const TARGETS: &str = "\
TARGET is one of
  a folder             uses temporary files in its free space, always deleted
  a file or device     is only read, unless you add --consent
  sim:NAME             a simulated drive; settings follow a ?, so quote it:
                       likenew bench 'sim:tlc-nvme-1tb?state=used'
";

const MORE_HELP: &str = "\
Options of a command: likenew COMMAND -h, or --help for all of them
Manual pages: likenew help COMMAND. Version: likenew --version
";

/// What each exit code means.
pub(crate) const EXIT_CODES: [(u8, &str); 6] = [
    (0, "done"),
    (1, "could not finish"),
    (2, "wrong usage"),
    (3, "refused for safety"),
    (10, "done and found a problem"),
    (130, "interrupted"),
];

/// The end of a command's help: ways to use it.
pub(crate) fn examples(lines: &[&str]) -> String {
    format!("Examples:\n  {}", lines.join("\n  "))
}

/// Names and settings of simulated drives, for the page of `likenew sim`.
pub(crate) const SIM: &str = "\
How a simulated drive is named

  sim:NAME             a drive of the catalog, as `likenew drives` lists them
  sim:FILE.toml        a drive of your own; catalog/README.md describes the form
  sim:FILE.snapshot    a drive saved by `likenew sim save`
  sim:generated-17     a drive with parameters drawn from a seed

Settings follow a ?, joined by &. Shells expand both, so quote the target:

  likenew check 'sim:intel-x25-m-80gb?state=used&fill=0.8'

  state=used           new, or used: filled and overwritten until steady
  fill=0.8             share of its addresses that hold data
  deleted=0.4          share whose files were deleted without TRIM
  trim=off             TRIM does not reach it
  cache=off            its write cache is off
  age=90d              its data was written that long ago
  data=on              it keeps the bytes that are written to it
  memory=8GiB          the host's memory for the page cache
  busy=100             another program's IOPS on it
  outliers=1000        one in 1,000 I/Os takes 50 ms longer
  throttle=0.2         share of the link's rate for 1 s of every 4 s
  link=sata3g          a slower link
  crypt=300MB/s,40us   encryption by the host at this rate, with this wait
  shift=512            a partition that is misaligned by this many bytes
  part=0.6             a partition from 60% of its addresses to the end
  wake=2ms,100us       wakes from power saving in 2 ms after 100 µs of idle time
  hmb=off              no host memory buffer
  lazy=on              a volume restored from a snapshot, read lazily
  fragments=64KiB      files in fragments of this size
  wear=0.9             share of its rated endurance that is used
  slow_region=0.01     share of a disk's addresses that read slowly
  crc=500              one in 500 commands fails its checksum on the link
  firmware=500ms,4s    firmware that stalls for 500 ms every 4 s
  readcache=4GiB       a cache that answers reads in front of it
  vm=unsafe            a virtual disk whose host caches: none, writeback, unsafe
  array=100MB/s        an array rebuilds itself at this rate
  facts=off            the system reports nothing about it
";

likenew_core::sentences! {
    /// What the usage line of a command's page begins with.
    pub(crate) fn usage_name(command: &str) = "likenew {command}";
    pub(crate) fn cause(name: &str, summary: &str) = "  {name:16} {summary}\n";
}

/// Titles of the groups of causes in `likenew help`.
pub(crate) const CAUSES: [&str; 3] =
    ["Causes in the drive:", "Causes outside the drive:", "Normal for such a drive:"];

pub(crate) const PAGES: &str = "\nA page about each: likenew help NAME\n";

/// The heading of options in a manual page.
pub(crate) const OPTIONS: &str = "## Options";

// ---- likenew drives ----

pub(crate) const SIMULATED_DRIVES: &str =
    "Simulated drives (add '?state=used' for a used one; likenew help sim lists all settings):\n";
pub(crate) const BLOCK_DEVICES: &str =
    "Block devices (read only; to measure writes, give a folder on one):\n";
pub(crate) const NO_BLOCK_DEVICES: &str = "  none visible from here\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands;

    #[test]
    fn every_setting_that_is_explained_exists() {
        let lines = SIM.lines().filter_map(|line| line.strip_prefix("  ")?.split_once(' '));
        let settings: Vec<&str> = lines.map(|(word, _)| word).filter(|word| word.contains('=')).collect();
        assert!(settings.len() >= 20, "{settings:?}");
        let known = likenew_sim::settings();
        for setting in settings {
            let key = setting.split('=').next().unwrap();
            assert!(known.contains(&format!("{key}=")), "{key}");
            let target = format!("sim:tlc-nvme-1tb?{setting}");
            let accepted = likenew_sim::Spec::parse(&target);
            assert!(accepted.is_ok() || key == "deleted", "{accepted:?}");
        }
    }

    #[test]
    fn help_fits_80_columns() {
        let overview = commands::grammar().render_help().to_string();
        let text = format!("{START}{overview}{SIM}");
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
    }
}
