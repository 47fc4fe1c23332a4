//! Makes traces of any length and reads them: what `cargo xtask bench trace` runs, each time in a new
//! process.
//!
//! `trace_speed make FORMAT RECORDS FILE` writes a trace, `trace_speed read FORMAT FILE` reads one and prints
//! records, CPU time in nanoseconds and peak memory in bytes; `survey` in place of `read` also surveys it.

#![allow(clippy::disallowed_methods, reason = "tests wait, measure time and make files")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use likenew_core::io::Op;
use likenew_core::trace::{TraceIo, TraceSink as _, TraceSource as _};
use likenew_core::units::Nanos;
use likenew_trace::{Format, OpenOptions, Surveyor, Trace, TraceHead, TraceWriter};
use nix::sys::resource::{UsageWho, getrusage};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", format, records, file] => make(format.parse()?, records.parse()?, Path::new(file)),
        ["read", format, file] => read(format.parse()?, Path::new(file), false),
        ["survey", format, file] => read(format.parse()?, Path::new(file), true),
        _ => Err("trace_speed make FORMAT RECORDS FILE | read FORMAT FILE | survey FORMAT FILE".into()),
    }
}

fn read(format: &'static Format, file: &Path, surveys: bool) -> Result<(), Box<dyn std::error::Error>> {
    let mut trace = Trace::open(file, &OpenOptions { format: Some(format), volume: None })?;
    let (mut records, mut surveyor) = (0u64, Surveyor::default());
    while let Some(io) = trace.next_io()? {
        records += 1;
        if surveys {
            surveyor.put(&io, trace.applications());
        }
    }
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let ns = |time: nix::sys::time::TimeVal| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000;
    let cpu = ns(usage.user_time()) + ns(usage.system_time());
    println!("{records} {cpu} {}", usage.max_rss() * 1024);
    Ok(())
}

/// Values as long as those of real traces: times and offsets have all their digits.
fn make(format: &'static Format, records: u64, path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let ios = (0..records).map(|n| {
        let mixed = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        TraceIo {
            at: Nanos(n * 43_700),
            op: if mixed >> 63 == 0 { Op::Read } else { Op::Write },
            offset: (mixed >> 30) % (1 << 28) * 4096,
            length: 4096 * (1 + (mixed >> 8) % 16),
            latency: Some(Nanos(80_000 + (mixed >> 16) % 90_000)),
            application: (mixed >> 40) as u16 % 4,
        }
    });
    if format.name == "likenew" {
        let mut writer = TraceWriter::create(path, &TraceHead::default())?;
        for io in ios {
            writer.put(&io, NAMES[usize::from(io.application)])?;
        }
        writer.finish()?;
        return Ok(());
    }
    let mut out = BufWriter::with_capacity(1 << 20, File::create_new(path)?);
    match format.name {
        "iolog" => writeln!(out, "fio version 3 iolog\n0 /dev/sda add\n0 /dev/sda open")?,
        "systor" => writeln!(out, "Timestamp,Response,IOType,LUN,Offset,Size")?,
        _ => {}
    }
    for io in ios {
        line(&mut out, format, &io)?;
    }
    Ok(out.flush()?)
}

const NAMES: [&str; 4] = ["postgres", "firefox", "kworker/u8:1", "fio"];

fn line(out: &mut impl Write, format: &'static Format, io: &TraceIo) -> std::io::Result<()> {
    let TraceIo { at: Nanos(at), op, offset, length, latency, application } = *io;
    let latency = latency.map_or(0, |latency| latency.0);
    let name = NAMES[usize::from(application)];
    let (letter, number) = if op == Op::Read { ('R', 0) } else { ('W', 1) };
    let (sector, sectors) = (offset / 512, length / 512);
    let (seconds, ns) = (at / 1_000_000_000, at % 1_000_000_000);
    match format.name {
        "msr" => {
            let (op, ticks) =
                (if op == Op::Read { "Read" } else { "Write" }, 128_166_372_003_061_629 + at / 100);
            writeln!(out, "{ticks},src1,2,{op},{offset},{length},{}", latency / 100)
        }
        "systor" => {
            let seconds = 1_456_063_200 + seconds;
            writeln!(out, "{seconds}.{ns:09},{}.{latency:09},{letter},0,{offset},{length}", 0)
        }
        "alibaba" => {
            writeln!(out, "419,{letter},{offset},{length},{}", 1_577_808_144_360_767 + at / 1_000)
        }
        "tencent" => writeln!(out, "{},{sector},{sectors},{number},1063", 1_538_323_200 + seconds),
        "fiu" => {
            let at = 89_967_404_569_415 + at;
            writeln!(out, "{at} 4892 {name} {sector} {sectors} {letter} 6 0 531e779a7e0c6a1a5b0b7c1d2e3f4a5b")
        }
        "spc" => writeln!(out, "0,{sector},{length},{letter},{seconds}.{ns:09}"),
        "iolog" => writeln!(out, "{} /dev/sda {op} {offset} {length}", at / 1_000),
        "blkparse" => {
            let fields = |action: char, ns: u64| {
                let (seconds, ns) = (ns / 1_000_000_000, ns % 1_000_000_000);
                format!(
                    "  8,0    1        1 {seconds:5}.{ns:09}   697  {action}   {letter} {sector} + {sectors}"
                )
            };
            writeln!(out, "{} [{name}]\n{} [0]", fields('D', at), fields('C', at + latency % 40_000))
        }
        "tracefs" => {
            let head = |ns: u64| {
                let us = ns / 1_000;
                format!("{name:>16}-1234    [001] ..... {:6}.{:06}:", us / 1_000_000, us % 1_000_000)
            };
            let range = format!("{sector} + {sectors} be,0,4");
            writeln!(out, "{} block_rq_issue: 8,0 {letter} {length} () {range} [{name}]", head(at))?;
            writeln!(out, "{} block_rq_complete: 8,0 {letter} () {range} [0]", head(at + latency % 40_000))
        }
        "biosnoop" => {
            let end = at + latency;
            let (seconds, us) = (end / 1_000_000_000, end % 1_000_000_000 / 1_000);
            let milliseconds = latency as f64 / 1e6;
            writeln!(
                out,
                "{seconds}.{us:06}    {name:14} 1234    sda     {letter}    {sector:<10} {length:<7} {milliseconds:7.3}"
            )
        }
        "blktrace" => {
            out.write_all(&record(at, 1 << 6 | 1 << number, 7, io))?;
            out.write_all(&record(at + latency % 40_000, 1 << 7 | 1 << number, 8, io))
        }
        name => Err(std::io::Error::other(format!("add a line of {name} here"))),
    }
}

/// A record of blktrace: what happens at this time, with these categories.
fn record(at: u64, of: u32, happens: u32, io: &TraceIo) -> Vec<u8> {
    let mut record = Vec::with_capacity(48);
    record.extend([0x6561_7407u32, 1].map(u32::to_le_bytes).concat());
    record.extend([at, io.offset / 512].map(u64::to_le_bytes).concat());
    record.extend([io.length as u32, of << 16 | happens, 1234, 8 << 20, 0, 0].map(u32::to_le_bytes).concat());
    record
}
