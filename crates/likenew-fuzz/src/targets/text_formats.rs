//! Fuzzes text that people write (sizes, settings, plans, drive and application files), and files that fio and likenew
//! write for programs.

use likenew_core::io::DataClass;
use likenew_core::procedure::Plan;
use likenew_core::region::Region;
use likenew_core::units::{amount, exact_duration, exact_size, parse_duration, parse_size};
use likenew_core::workload::{Mix, Size};
use likenew_procedures::all::{PROCEDURES, from_plan};
use likenew_procedures::apps::application::Application;
use likenew_procedures::check::RatedMetric;
use likenew_procedures::endure::Extent;
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_report::document::Document;
use likenew_report::labeled_document::label_all;
use likenew_sim::Spec;
use likenew_sim::model::Model;
use likenew_watch::findings::Log;
use likenew_watch::line::Line;

use super::{file, files, text, texts};
use crate::{Input, Target};

pub(super) fn targets() -> Vec<Target> {
    vec![
        Target::new("spellings", texts(&SPELLINGS), spellings),
        Target::new("drive settings", texts(&SPECS), spec),
        Target::new("drive files", files("catalog", ".toml"), drive_file),
        Target::new("application files", files("apps", ".toml"), application),
        Target::new("plans", plans(), plan),
        Target::new("fio job files", texts(&[FIO_JOBS]), fio_jobs),
        Target::new("fio results", fio_results(), fio_result),
        Target::new("results for people", printed_results(), printed),
        Target::new("report documents", files("schema/examples", ".json"), document),
        Target::new("watch logs", texts(&[WATCH]), watch),
    ]
}

const SPELLINGS: [&str; 20] = [
    "4k",
    "1.5GiB",
    "1MB",
    "500ms",
    "2min",
    "90d",
    "mix:70",
    "0..64MiB",
    "4k:3,64k:1",
    "random",
    "0.5",
    "stamped:7",
    "read=550MB/s",
    "sustained_write=3.5GB/s",
    "random_read_qd32=95000",
    "whole",
    "12.5%",
    "5%",
    "read",
    "4.5MB",
];

fn spellings(parts: &[Vec<u8>]) -> bool {
    let Some(text) = text(parts) else { return false };
    let size = parse_size(text).inspect(|bytes| assert_eq!(parse_size(&exact_size(*bytes)), Ok(*bytes)));
    let span =
        parse_duration(text).inspect(|span| assert_eq!(parse_duration(&exact_duration(*span)), Ok(*span)));
    let _ = (size.clone().map(amount), span.clone().map(|span| span.to_string()));
    let region = text.parse::<Region>().map(|region| region.resolve(1 << 40, 4096));
    size.is_ok()
        || span.is_ok()
        || region.is_ok()
        || text.parse::<Mix>().is_ok()
        || text.parse::<Size>().is_ok()
        || text.parse::<DataClass>().is_ok()
        || text.parse::<PrecisionGoal>().is_ok()
        || text.parse::<RatedMetric>().is_ok_and(|rated| rated.per_s > 0.0)
        || text.parse::<Extent>().is_ok()
}

const SPECS: [&str; 8] = [
    "sim:tiny-flash",
    "sim:tiny-flash?state=used&fill=0.8&trim=off",
    "sim:tiny-flash?state=used&fill=0.5&deleted=0.4",
    "sim:intel-x25-m-80gb?throttle=0.2",
    "sim:disk-2tb?fill=0.3",
    "sim:tlc-nvme-1tb?facts=on",
    "sim:tiny-flash?state=new&trim=off",
    "sim:cloud-gp2-100gib",
];

fn spec(parts: &[Vec<u8>]) -> bool {
    let Some(spec) = text(parts).and_then(|text| Spec::parse(text).ok()) else { return false };
    let nothing = |_: &std::path::Path| Err(std::io::Error::from(std::io::ErrorKind::NotFound));
    spec.explain(nothing).is_ok()
}

fn drive_file(parts: &[Vec<u8>]) -> bool {
    let Some(file) = text(parts) else { return false };
    let Ok(_) = Model::parse("drive.toml", file) else { return false };
    let read = |_: &std::path::Path| Ok(file.as_bytes().to_vec());
    Spec::parse("sim:drive.toml?state=new").and_then(|spec| spec.explain(read)).is_ok()
}

fn application(parts: &[Vec<u8>]) -> bool {
    let Some(Ok(application)) = text(parts).map(Application::parse) else { return false };
    let _ = application.bytes();
    true
}

const PLANS: [&str; 6] = [
    "procedure = \"bench\"\nseed = 3\n[options]\npasses = 2\ntime = \"1s\"\nspan = \"64MiB\"\n",
    "procedure = \"surface\"\n[options]\npoints = 20\n",
    "procedure = \"sweep\"\ntarget = \"sim:tiny-flash\"\n[options]\nops = [\"read\"]\n",
    "procedure = \"verify\"\n[options]\nspan = \"64MiB\"\npasses = 1\n",
    "procedure = \"endure\"\n[options]\n",
    "procedure = \"run\"\nseed = 1\n[options]\nfile_size = \"8MiB\"\n[[options.workload]]\nname = \"reads\"\nuntil = { ops = 500 }\n\
     [[options.workload.stream]]\nop = \"mix:70\"\nsize = \"4KiB\"\npattern.random = \"whole\"\narrival.closed.depth = 4\n",
];

/// The plans above, and one for every procedure with options that keep it small.
fn plans() -> Vec<crate::Input> {
    let mut plans = texts(&PLANS);
    for name in PROCEDURES.iter().map(|row| row.descriptor.name) {
        let settings = super::runs::settings(name);
        plans.push(vec![format!("procedure = \"{name}\"\n[options]\n{settings}\n").into_bytes()]);
    }
    let refusal = |input: &crate::Input| -> Option<String> {
        let plan: Plan = toml::from_str(text(input)?).map_err(|error| error.to_string()).ok()?;
        from_plan(&plan).err().map(|reason| format!("{}: {reason}", plan.procedure))
    };
    let refused: Vec<String> = plans.iter().filter_map(refusal).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    plans
}

/// Parses a plan, and takes the first step of its procedure.
fn plan(parts: &[Vec<u8>]) -> bool {
    let Some(Ok(plan)) = text(parts).map(toml::from_str::<Plan>) else { return false };
    let Ok(procedure) = from_plan(&plan) else { return toml::to_string(&plan).is_ok() };
    super::runs::first_step(&*procedure, plan);
    true
}

const FIO_JOBS: &str = "[global]\nfilename=/dev/nothing\ndirect=1\nsize=1g ; a comment\n[first]\nrw=randrw\nrwmixread=70\n\
    bssplit=4k/60:64k/40\niodepth=16\nnumjobs=4\n[second]\nstonewall\nrw=read\nbs=1m\noffset=25%\nruntime=2m\ntime_based\n";

fn fio_jobs(parts: &[Vec<u8>]) -> bool {
    text(parts).is_some_and(|text| {
        likenew_fio::is_job_file(text) && likenew_fio::job_file(text, |_| Some(1 << 40)).is_ok()
    })
}

/// Output of CrystalDiskMark, fio, iozone, dd and others.
const PRINTED: [&str; 8] = [
    "CrystalDiskMark 8.0.4 x64\n[Read]\n  SEQ    1MiB (Q=  8, T= 1):   390.183 MB/s [    372.1 IOPS] < 21352.39 us>\n",
    "read: (g=0): rw=read, bs=(R) 1024KiB-1024KiB, ioengine=libaio, iodepth=8\nread: (groupid=0, jobs=1): err= 0: pid=1: x\n  read: IOPS=126, BW=127MiB/s (133MB/s)(1271MiB/10008msec)\n    lat (msec): min=9, max=312, avg=62.81, stdev=14.20\n",
    "1000, 102400, 0, 1048576, 0\n2000, 98304, 0, 1048576, 0\n",
    "\tChildren see throughput for  4 initial writers \t=  103456.12 kB/sec\n",
    "              kB  reclen    write  rewrite    read    reread\n           65536    1024   512345   523456  1234567  1345678\n",
    "1048576 bytes (1,0 MB, 1,0 MiB) kopiert, 0,5 s, 2,1 MB/s\n",
    " Timing buffered disk reads: 1530 MB in  3.00 seconds = 509.57 MB/sec\n",
    "Command Line: diskspd.exe -L\n\t\tblock size: 4KiB\n\t\tusing random I/O (alignment: 4KiB)\nthread count:\t\t8\nRead IO\nthread | bytes | I/Os | MiB/s | I/O per s |  AvgLat\ntotal: 4096000 | 1000 | 3.90 | 1000.00 | 1.279\n",
];

fn printed_results() -> Vec<Input> {
    let terse = file("crates/likenew-fuzz/corpus/fio-terse");
    texts(&PRINTED).into_iter().chain([vec![terse]]).collect()
}

fn printed(parts: &[Vec<u8>]) -> bool {
    text(parts).is_some_and(|text| {
        ["x.txt", "x_bw.1.log"].iter().filter(|name| likenew_fio::import_any(text, name).is_ok()).count() > 0
    })
}

/// Samples of fio's JSON that can be imported.
fn fio_results() -> Vec<crate::Input> {
    let mut samples = files("crates/likenew-fio/tests/samples", ".json");
    samples.retain(|input| fio_result(input));
    assert!(samples.len() > 5);
    samples
}

fn fio_result(parts: &[Vec<u8>]) -> bool {
    let Some(Ok(import)) = text(parts).map(likenew_fio::import) else { return false };
    super::runs::summarize(&import.segments);
    true
}

fn document(parts: &[Vec<u8>]) -> bool {
    let Some(Ok(document)) = text(parts).map(Document::from_json) else { return false };
    let labeled = label_all(vec![document]);
    super::show_all_views(&labeled);
    likenew_report::html::page(&labeled).is_ok()
}

const WATCH: &str = include_str!("../../corpus/watch.jsonl");

fn watch(parts: &[Vec<u8>]) -> bool {
    let Some(text) = text(parts) else { return false };
    let Ok(lines) = text.lines().map(serde_json::from_str::<Line>).collect::<Result<Vec<Line>, _>>() else {
        return false;
    };
    let mut log = Log::default();
    lines.iter().for_each(|line| log.add(line));
    let _ = (log.elapsed(), log.findings());
    true
}
