//! Help texts outside of the options: the overview, groups of commands, examples, simulated drives.

use std::fmt::Write as _;
use std::sync::LazyLock;

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

/// Commands by purpose, each with three ways to use it: a group begins at the margin, and below it stand its commands,
/// each above its examples.
const EXAMPLES: &str = "\
Answer
  check
    likenew check ~/data
    likenew check /dev/sda --advertised read=550MB/s,write=520MB/s
    likenew check 'sim:intel-x25-m-80gb?state=used&trim=off' --details
  recondition
    likenew recondition ~/data --dry-run
    likenew recondition ~/data
    likenew recondition 'sim:intel-x25-m-80gb?state=used&fill=0.5'
  verify
    likenew verify /media/stick
    likenew verify sim:fake-stick-512gb --quick
    likenew verify /dev/sdb --consent ID
  trim
    likenew trim ~/data
    likenew trim ~/data --no-worth
    likenew trim 'sim:tlc-nvme-1tb?state=used'
  facts
    likenew facts ~/data
    likenew facts --all
    likenew facts /dev/nvme0n1 --origins
Measure
  bench
    likenew bench ~/data
    likenew bench /dev/nvme0n1 --op read --json bench.json
    likenew bench ~/data --rwmixread 70 --runtime 10s -o bench.html
  sweep
    likenew sweep ~/data
    likenew sweep ~/data --bs 512..1M --iodepth 1..256 --pattern random
    likenew sweep sim:tlc-nvme-1tb --op read -o sweep.html
  suits
    likenew suits /var/lib/etcd --for etcd
    likenew suits ~/data
    likenew suits sim:tlc-enterprise-1920gb --for etcd-heavy,postgres
  surface
    likenew surface /dev/sda
    likenew surface /dev/sda --whole
    likenew surface sim:wd6400aaks --points 200 --details
  fill
    likenew fill ~/data
    likenew fill ~/data --one-file --read-back
    likenew fill sim:tlc-nvme-1tb --passes until-steady
  endure
    likenew endure ~/data --span 25%
    likenew endure sim:intel-x25-m-80gb --test snia-wsat
    likenew endure sim:tiny-flash --op write --fills 4
  age
    likenew age sim:intel-x25-m-80gb
    likenew age ~/data --recipe overwrite --span 20GiB
    likenew age sim:tiny-flash --recipe churn --idle 10min
  data
    likenew data ~/data
    likenew data ~/data --files ~/Documents
    likenew data ~/data --files ~/Documents --scan-only
  cache
    likenew cache ~/data
    likenew cache ~/data --pattern random --bs 4k --iodepth 1
    likenew cache sim:wd6400aaks --details
  apps
    likenew apps ~/data
    likenew apps sim:tlc-nvme-1tb --app pcmark8 --passes 1
    likenew apps sim:intel-x25-m-80gb --consistency --minutes 0.1
Explain
  xray
    likenew xray ~/data
    likenew xray 'sim:intel-x25-m-80gb?state=used'
    likenew xray sim:generated-17 --only medium,mapping
  model
    likenew model /dev/sda
    likenew model ~/data --op read --runtime 2min
    likenew model sim:wd6400aaks --details
Record
  watch
    likenew watch
    likenew watch sda nvme0n1 --interval 500ms
    likenew watch --once
  record
    sudo likenew record / --out day.csv.zst --time 8h
    sudo likenew record /dev/nvme0n1 /dev/sda --out day.csv.zst
    sudo likenew record ~/data --out hour.csv --bytes 10GiB
  replay
    likenew replay ~/data --trace day.csv.zst
    likenew replay sim:wd6400aaks sim:tlc-nvme-1tb --trace day.csv.zst --idle-max 1s
    likenew replay /dev/sda --trace day.csv.zst --reads-only --mode fast
  import
    likenew import fio result.json
    likenew import trace day.csv.zst
    likenew import run check.likenew
Simulate
  drives
    likenew drives
    likenew drives --json -
    likenew drives --json drives.json
  sim
    likenew sim show intel-x25-m-80gb
    likenew sim serve 'tlc-nvme-1tb?state=used'
    likenew sim calibrate RUN RUN RUN --output my-drive.toml
Manage
  report
    likenew report --details
    likenew report --last 2 -o report.html
    likenew report --list
  compare
    likenew compare RUN RUN
    likenew compare --last 2 --details
    likenew compare /dev/sda /dev/sdb
  history
    likenew history
    likenew history /dev/sda
    likenew history --details
  serve
    likenew serve
    likenew serve --listen 127.0.0.1:0
    likenew serve --listen 192.0.2.7:7373 --token-file secret --name lab.example
  judge
    likenew judge RUN
    likenew judge RUN --details
    likenew judge RUN -o report.html
  export
    likenew export RUN check.likenew
    likenew export RUN check.likenew && likenew import run check.likenew
    likenew export --archive ~/runs RUN check.likenew
  resume
    likenew resume RUN
    likenew resume RUN --wait-for-drive
    likenew resume RUN --details
  run
    likenew bench ~/data --plan > plan.toml && likenew run plan.toml
    likenew run plan.toml ~/other
    likenew run plan.toml --export fio > plan.fio
  help
    likenew help check
    likenew help slc_cache
    likenew help --write manual
";

/// A group of commands.
pub(crate) struct Group {
    pub(crate) title: &'static str,
    /// The names of its commands, and ways to use each.
    pub(crate) commands: Vec<(&'static str, Vec<&'static str>)>,
}

/// Commands by purpose.
pub(crate) static GROUPS: LazyLock<Vec<Group>> = LazyLock::new(|| {
    let mut groups: Vec<Group> = Vec::new();
    for line in EXAMPLES.lines() {
        let text = line.trim_start();
        match (line.len() - text.len(), groups.last_mut()) {
            (0, _) => groups.push(Group { title: text, commands: Vec::new() }),
            (2, Some(group)) => group.commands.push((text, Vec::new())),
            (4, Some(group)) => group.commands.last_mut().expect("a command has examples").1.push(text),
            _ => unreachable!("a line is indented by 0, 2 or 4"),
        }
    }
    groups
});

/// What `likenew --help` prints.
pub(crate) fn overview(command: &clap::Command) -> String {
    let mut text = format!("{ABOUT}\n\nUsage: {USAGE}\n");
    for Group { title, commands } in &*GROUPS {
        let _ = write!(text, "\n{title}:\n");
        for (name, _) in commands {
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

/// The end of a command's help: three ways to use it.
pub(crate) fn examples(command: &str) -> String {
    match example_lines(command) {
        [] => String::new(),
        lines => format!("Examples:\n  {}", lines.join("\n  ")),
    }
}

/// Ways to use a command; none for a name that is not a command of its own.
pub(crate) fn example_lines(command: &str) -> &'static [&'static str] {
    let mut commands = GROUPS.iter().flat_map(|group| &group.commands);
    commands.find(|(name, _)| *name == command).map_or(&[], |(_, lines)| lines.as_slice())
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
    fn every_command_stands_in_one_group_and_has_examples_that_parse() {
        let command = commands::grammar();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|group| &group.commands).map(|(name, _)| *name).collect();
        let mut names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        grouped.sort_unstable();
        names.sort_unstable();
        assert_eq!(grouped, names);
        for name in names {
            let examples = examples(name);
            let lines = examples.lines().flat_map(|line| line.split("&&")).map(|line| {
                let line = line.split(" > ").next().unwrap_or(line);
                line.trim().trim_start_matches("sudo ").replace('\'', "")
            });
            let lines: Vec<String> = lines.filter(|line| line.starts_with("likenew ")).collect();
            assert!(lines.len() >= 3, "{name}: {examples}");
            for line in lines {
                let words = line.split(' ').map(std::ffi::OsString::from);
                assert!(crate::parse(words).is_ok(), "{line}");
            }
        }
    }

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
        let text = format!("{}{}{SIM}", START, overview(&commands::grammar()));
        let wide: Vec<&str> = text.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(wide.is_empty(), "{wide:#?}");
    }
}
