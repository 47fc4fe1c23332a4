//! What can be typed. Flags only build a plan: the longest way of saying it is `likenew run PLAN.toml`.

use likenew_procedures::pattern::Pattern;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::age::Recipe;
use likenew_procedures::fill::Repeat;
use likenew_procedures::precise::Precise;
use likenew_procedures::profile::Profile;
use likenew_procedures::sweep::{Block, Order, Preset};

use crate::doublings::Doublings;

/// Tells you how far a drive has fallen from its first day, and why.
///
/// TARGET is a folder (its free space is measured with own files that are always removed), a file or a block device (they
/// are only read), or a simulated drive: sim:NAME, sim:FILE.toml, sim:NAME?state=used.
#[derive(Debug, Parser)]
#[command(name = "likenew", version, propagate_version = true, max_term_width = 110)]
#[command(after_help = "Exit codes: 0 fine, 1 could not finish, 2 wrong usage, 3 refused for safety, \
                        10 finished and found a problem, 130 interrupted.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
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
    /// What does this very workload come to? Runs any plan
    Run(Run),
    /// Which drives are there, real and simulated?
    Drives(Drives),
    /// What is a simulated drive made of, and what follows from it?
    Sim(Sim),
    /// Shows runs that were measured earlier; several of a kind stand side by side
    Report(Report),
    /// Judges a run again from its folder, without the drive
    Judge(Judge),
    /// Keeps, judges and shows what another program has measured
    Import(Import),
    /// Goes on with a run that was interrupted
    Resume(Resume),
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) on: On,
    /// Which tests to run
    #[arg(long, default_value = "default", value_parser = profile)]
    pub(crate) profile: Profile,
    /// Operations in order: read, write, mix:70 (70 % reads) [default: read,write; read where nothing may be written]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Bytes of address space to test [default: 1GiB, less where there is less]
    #[arg(long, alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Times to repeat every test
    #[arg(long, default_value_t = 5)]
    pub(crate) passes: u32,
    /// Instead, repeat every test in short passes until its mean is known to this share, such as 2%
    #[arg(long, value_parser = text::<Precise>, value_name = "PERCENT")]
    pub(crate) precise: Option<Precise>,
    /// With --precise, repeat no test more often than this
    #[arg(long, requires = "precise", default_value_t = 50)]
    pub(crate) passes_max: u32,
    /// A pass ends after this time, or when it has moved as many bytes as the span has
    #[arg(long, default_value = "5s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Rest before every pass
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(crate) interval: Nanos,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) on: On,
    /// Which sweep; every flag below changes a part of it
    #[arg(long, default_value = "default", value_parser = preset)]
    pub(crate) profile: Preset,
    /// Operations: read, write, mix:70 (70 % reads); reads are measured first [profile default: read,write]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Orders of addresses [profile default: sequential,random]
    #[arg(long, value_delimiter = ',', value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Bytes of one I/O; 512..64M is every doubling [profile default: 4k,16k,64k,256k,1M]
    #[arg(long, value_delimiter = ',', value_parser = text::<Doublings<Block>>, value_name = "SIZE,..")]
    pub(crate) block: Vec<Doublings<Block>>,
    /// I/Os in flight; 1..256 is every doubling [profile default: 1,4,32]
    #[arg(long, value_delimiter = ',', value_parser = text::<Doublings<u32>>, value_name = "DEPTH,..")]
    pub(crate) depth: Vec<Doublings<u32>>,
    /// What to write and to read back: random, zero, or the share 0..1 that it compresses to [profile default: random]
    #[arg(long, value_delimiter = ',', value_parser = text::<DataClass>, value_name = "DATA,..")]
    pub(crate) data: Vec<DataClass>,
    /// Bytes of address space to test [profile default: 1GiB, less where there is less]
    #[arg(long, alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// A pass of a cell ends after this time [profile default: 300ms]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// Or when it has moved so many bytes, twice what its queue holds at least [profile default: 128MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Times to measure every cell [profile default: 5]
    #[arg(long)]
    pub(crate) passes: Option<u32>,
    /// Measure each cell again until its mean is known to this share, such as 2%
    #[arg(long, value_parser = text::<Precise>, value_name = "PERCENT")]
    pub(crate) precise: Option<Precise>,
    /// With --precise, measure no cell more often than this [default: 20]
    #[arg(long, requires = "precise")]
    pub(crate) passes_max: Option<u32>,
    /// Order of the cells within each round: shuffled, or listed [profile default: shuffled]
    #[arg(long, value_parser = text::<Order>)]
    pub(crate) order: Option<Order>,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Surface {
    #[command(flatten)]
    pub(crate) on: On,
    /// read, or write where own files or a simulated drive may be written
    #[arg(long, default_value = "read", value_parser = text::<Mix>)]
    pub(crate) op: Mix,
    /// Places along the addresses, evenly apart [default: 100, fewer where there is little]
    #[arg(long)]
    pub(crate) points: Option<u32>,
    /// Bytes moved in sequence at each [default: 8MiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Bytes of one I/O of that
    #[arg(long, default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// I/Os in flight
    #[arg(long, default_value_t = 2)]
    pub(crate) depth: u32,
    /// Every byte once, in as many pieces as there are points
    #[arg(long, conflicts_with_all = ["bytes", "time"])]
    pub(crate) whole: bool,
    /// Bytes of address space, from the start [default: all; in a folder 1GiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Single random accesses, one after the other
    #[arg(long, default_value_t = 1000)]
    pub(crate) probes: u32,
    /// Bytes of each
    #[arg(long, default_value = "4KiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) probe_block: u64,
    /// Bytes that are moved again and again from the drive's memory; 0 leaves that out
    #[arg(long, default_value = "256KiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) burst: u64,
    /// Times that a slow place is measured again before it is named, 0..2
    #[arg(long, default_value_t = 2)]
    pub(crate) retests: u32,
    /// A point ends after this time; all accesses together after ten times as much
    #[arg(long, default_value = "5s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Fill {
    #[command(flatten)]
    pub(crate) on: On,
    /// Files to write [default: as many as fill the free space, 1000 at most]
    #[arg(long)]
    pub(crate) files: Option<u32>,
    /// Bytes of each [default: the free space over the number of files]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) file_size: Option<u64>,
    /// One file as large as the free space, or as --file-size, measured in parts
    #[arg(long, conflicts_with = "files")]
    pub(crate) one_file: bool,
    /// Parts that the one file is measured in [default: as many as are 16MiB each, 1000 at most]
    #[arg(long, requires = "one_file")]
    pub(crate) parts: Option<u32>,
    /// Where the first file begins on a simulated drive: what lies before is left as it is
    #[arg(long, default_value = "0", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) from: u64,
    /// How often to write all of it: a number, or until-steady (until a pass is within 2 % of the one before; 10 at most)
    #[arg(long, default_value = "1", value_parser = text::<Repeat>, value_name = "N|until-steady")]
    pub(crate) passes: Repeat,
    /// Read all of it in the end
    #[arg(long)]
    pub(crate) read_back: bool,
    /// Bytes of one write
    #[arg(long, default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// Writes in flight
    #[arg(long, default_value_t = 4)]
    pub(crate) depth: u32,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// No wait shorter than this is called a stall
    #[arg(long, default_value = "100ms", value_parser = parse_duration)]
    pub(crate) stall: Nanos,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Endure {
    #[command(flatten)]
    pub(crate) on: On,
    /// A looped benchmark, or a test of SNIA's Performance Test Specification
    #[arg(long, value_enum, default_value_t = EndureTest::Loop)]
    pub(crate) test: EndureTest,
    /// Address space that is tested: a size, a share such as 75%, or whole
    #[arg(long, default_value = "whole", value_parser = text::<Extent>, value_name = "SIZE|N%|whole")]
    pub(crate) area: Extent,
    /// Loop: which tests [default: 2009]
    #[arg(long, value_parser = profile)]
    pub(crate) profile: Option<Profile>,
    /// Loop: operations in order: read, write, mix:70 (70 % reads) [default: read,write]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Loop: bytes of a loop's file [default: 1000MiB, less or more where the area is small or large]
    #[arg(long, alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Loop: end with the loop that has written so many bytes in all
    #[arg(long, value_parser = parse_size, value_name = "SIZE", conflicts_with = "fills")]
    pub(crate) bytes: Option<u64>,
    /// Loop: the same in times the area [default: until all of it was written once and six times more, 15 with profile 2009]
    #[arg(long)]
    pub(crate) fills: Option<f64>,
    /// Loop: delete each file after its tests, so that the drive is told [default: on]
    #[arg(long, value_enum)]
    pub(crate) trim: Option<Switch>,
    /// Loop: a test ends after this time, or when it has moved its amount [default: 60s]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// What to write: random, zero, or the share 0..1 that it compresses to [default: random]
    #[arg(long, value_parser = text::<DataClass>)]
    pub(crate) data: Option<DataClass>,
    /// SNIA: time of one point of a round; the specification has 60s [default: 60s]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) round: Option<Nanos>,
    /// SNIA: rounds after which it ends without a steady state [default: 25; snia-wsat: 360]
    #[arg(long)]
    pub(crate) rounds: Option<u32>,
    /// SNIA: I/Os in flight on each thread; snia-latency measures with 1 [default: 32]
    #[arg(long)]
    pub(crate) depth: Option<u32>,
    /// SNIA: threads; snia-latency measures with 1 [default: 4]
    #[arg(long)]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Age {
    #[command(flatten)]
    pub(crate) on: On,
    /// How to age it: fill (every address once), overwrite (then at random, 4 KiB at a time), churn (small files come and go)
    #[arg(long, default_value = "fill", value_parser = text::<Recipe>)]
    pub(crate) recipe: Recipe,
    /// How much: bytes of the fill, of the overwrites, or of the small files [default: as much as the space has]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Bytes of address space to age [default: all of a simulated drive or of a folder's free space; 1GiB of small files]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) space: Option<u64>,
    /// Bytes that random writes go over [default: 8GiB, less where there is less than four times as much]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Time of random writes in all passes together; they end earlier when they have moved as many bytes as the span has
    #[arg(long, default_value = "180s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Random I/Os in flight
    #[arg(long, default_value_t = 3)]
    pub(crate) depth: u32,
    /// Equal parts to measure everything in: their scatter tells how far a drop can be trusted
    #[arg(long, default_value_t = 5)]
    pub(crate) passes: u32,
    /// Rest after that, and measure once more: some drives come back when they are left alone
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(crate) rest: Nanos,
    /// Whether deleting a small file tells a simulated drive so
    #[arg(long, value_enum, default_value_t = Switch::Off)]
    pub(crate) trim: Switch,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Data {
    #[command(flatten)]
    pub(crate) on: On,
    /// Classes of data from zeros to random data, at equal distances: 2 to 101
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(2..=101))]
    pub(crate) steps: u32,
    /// Operations in order
    #[arg(long, value_delimiter = ',', default_value = "write,read", value_parser = read_or_write, value_name = "OP,..")]
    pub(crate) op: Vec<Op>,
    /// Orders of addresses
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Bytes of one I/O, for all patterns or for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    pub(crate) block: Vec<u64>,
    /// I/Os in flight, for all patterns or for each [default: 8 sequential, 32 random]
    #[arg(long, value_delimiter = ',', value_name = "DEPTH,..")]
    pub(crate) depth: Vec<u32>,
    /// Bytes of address space to test, divided among the steps [default: 1GiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Times to measure everything, each time in another order of the steps
    #[arg(long, default_value_t = 3)]
    pub(crate) passes: u32,
    /// A pass of one step ends after this time, or when it has moved as many bytes as its part of the span has
    #[arg(long, default_value = "1s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Rest before every pass of a step
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(crate) interval: Nanos,
    /// Look through this folder too (it is only read): what are your files, and what speed do they get?
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// Bytes of your files' contents that are read at most
    #[arg(long, default_value = "256MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) sample: u64,
    /// Looking through folders ends after this time with what it has
    #[arg(long, default_value = "2min", value_parser = parse_duration)]
    pub(crate) scan_time: Nanos,
    /// Look through file systems that are mounted below, too
    #[arg(long)]
    pub(crate) cross_file_systems: bool,
    /// Measure nothing: only say what the files are
    #[arg(long, requires = "files")]
    pub(crate) scan_only: bool,
    /// What the maker says of sequential reads, in bytes a second, such as 550MB [default: a simulated drive's own]
    #[arg(long, value_parser = parse_size, value_name = "RATE")]
    pub(crate) advertised_read: Option<u64>,
    /// What the maker says of sequential writes, in bytes a second, such as 500MB [default: a simulated drive's own]
    #[arg(long, value_parser = parse_size, value_name = "RATE")]
    pub(crate) advertised_write: Option<u64>,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The plan; `likenew BENCH-OR-FILL .. --plan` prints one
    pub(crate) plan: PathBuf,
    /// The drive, where it is not the one that the plan names
    pub(crate) target: Option<String>,
    /// Where all randomness comes from [default: the plan's]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) how: How,
}

#[derive(Debug, Args)]
pub(crate) struct Drives {
    /// Write the list as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Sim {
    #[command(subcommand)]
    pub(crate) action: SimAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimAction {
    /// Draws its layers from host to medium, with the figures of each and what bounds its speed
    Show(SimShow),
    /// Makes a drive in its state and saves it, so that sim:FILE.snapshot opens at once what takes long to make
    Save(SimSave),
}

#[derive(Debug, Args)]
pub(crate) struct SimSave {
    /// NAME or FILE.toml with a state, such as tlc-nvme-1tb?state=used; sim: before it may be left out
    pub(crate) target: String,
    /// A new file; its name ends with .snapshot
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SimShow {
    /// NAME, FILE.toml, or either with a state, such as intel-x25-m-80gb?state=used; sim: before it may be left out
    pub(crate) target: String,
    /// List every parameter with its source too
    #[arg(long)]
    pub(crate) sources: bool,
    /// Write all of it as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders of earlier runs; without any, lists what there is
    pub(crate) runs: Vec<PathBuf>,
    /// The last N runs, instead of naming their folders
    #[arg(long, value_name = "N", conflicts_with = "runs")]
    pub(crate) last: Option<usize>,
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Judge {
    /// The folder of an earlier run
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) from: ImportFrom,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportFrom {
    /// What fio has written with --output-format=json or json+
    Fio(ImportFio),
}

#[derive(Debug, Args)]
pub(crate) struct ImportFio {
    /// The file, or - for standard input
    pub(crate) file: PathBuf,
    /// What was measured, where it is not the file that fio names
    pub(crate) target: Option<String>,
    /// Judge it as this plan's procedure does, where fio ran what --export fio made of the plan
    #[arg(long, value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The folder of a run that stopped before its end
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) how: Carry,
}

/// On what to measure.
#[derive(Debug, Args)]
pub(crate) struct On {
    /// A folder, a file, a block device, or a simulated drive such as sim:tiny-flash?state=used
    pub(crate) target: String,
    /// Where all randomness comes from
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print the plan as TOML and stop
    #[arg(long)]
    pub(crate) plan: bool,
}

/// How to measure, where the results go, and where the run is kept.
#[derive(Debug, Args)]
pub(crate) struct How {
    #[command(flatten)]
    pub(crate) carry: Carry,
    #[command(flatten)]
    pub(crate) keep: Keep,
    /// Print what would be measured as a job file of another program and stop
    #[arg(long, value_enum, value_name = "PROGRAM")]
    pub(crate) export: Option<ExportTo>,
}

impl std::ops::Deref for How {
    type Target = Carry;

    fn deref(&self) -> &Carry {
        &self.carry
    }
}

/// Where a run is kept.
#[derive(Debug, Args)]
pub(crate) struct Keep {
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// Keep no run folder
    #[arg(long, conflicts_with_all = ["archive", "samples"])]
    pub(crate) no_archive: bool,
}

/// How to measure and where the results go.
#[derive(Debug, Args)]
pub(crate) struct Carry {
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
    /// Answer yes to questions of convenience; never replaces consent
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Where results go beside the terminal.
#[derive(Debug, Args)]
pub(crate) struct Output {
    /// Write the report as JSON to FILE, or to standard output with - (then nothing else is printed there)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Write the report as one HTML page that works offline
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// What endure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EndureTest {
    /// Files are made, tested and deleted, one after the other round the area
    Loop,
    /// I/Os a second of seven mixes in eight block sizes
    SniaIops,
    /// Sequential speed in blocks of 128 KiB and 1 MiB
    SniaThroughput,
    /// Latency of one I/O at a time
    SniaLatency,
    /// Random writes from the first day on, until the area was written four times
    SniaWsat,
}

/// Something that can be left off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    /// Do it
    On,
    /// Leave it
    Off,
}

/// A part of the address space from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Extent {
    Bytes(u64),
    Percent(f64),
}

impl std::str::FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "whole" {
            return Ok(Self::Percent(100.0));
        }
        let bad =
            || format!("\"{text}\" is no extent: write a size such as 8GiB, a share such as 50%, or whole");
        match text.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
                percent.map(Self::Percent).ok_or_else(bad)
            }
            None => parse_size(text).map(Self::Bytes).map_err(|_| bad()),
        }
    }
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
pub(crate) enum ExportTo {
    /// A job file of fio
    Fio,
}

/// A value that reads itself, with its own words when it can not.
fn text<T: std::str::FromStr<Err = String>>(text: &str) -> Result<T, String> {
    text.parse()
}

fn read_or_write(text: &str) -> Result<Op, String> {
    match text {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(format!("\"{text}\" is neither read nor write")),
    }
}

fn profile(text: &str) -> Result<Profile, String> {
    named(text, &Profile::ALL)
}

fn preset(text: &str) -> Result<Preset, String> {
    named(text, &Preset::ALL)
}

/// The profile of this name.
fn named<T: Copy>(text: &str, all: &[(&str, T)]) -> Result<T, String> {
    let known = all.iter().find(|(name, _)| *name == text);
    known.map(|(_, profile)| *profile).ok_or_else(|| {
        let names: Vec<&str> = all.iter().map(|(name, _)| *name).collect();
        format!("there is no profile \"{text}\"; there are {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_grammar_is_consistent() {
        Arguments::command().debug_assert();
    }
}
