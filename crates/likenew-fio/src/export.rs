//! Writes workloads as a fio job file, so that fio can repeat a measurement.

use std::fmt;
use std::fmt::Write as _;
use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::io::{DataClass, Durability, Op};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;
use likenew_core::workload::{
    Access, AccessPattern, Arrival, InterArrival, Mix, Size, Stream, Until, Workload,
};

use super::fio_option;
use super::import::kind_of;
use super::job::{NAME_BYTES_MAX, Part, encode};
use super::wording;

/// The placeholder for a file named when fio starts. fio replaces it with an environment variable.
pub const FILENAME_LEFT_OPEN: &str = "${LIKENEW_FILE}";

/// Writes a job file that runs these workloads on `filename`, one after the other.
///
/// `notes` become comments at the top: which plan the file comes from, and what else a reader should know. `geometry`
/// describes the workloads' drive; regions are resolved on it. Sizes are plain counts of bytes, since fio reads `4GiB`
/// as 4·10⁹ bytes unless `kb_base` is set (fio's HOWTO, "kb_base").
///
/// # Errors
/// A workload does not fit the drive, or fio cannot express it.
pub fn export(
    workloads: &[Workload],
    geometry: &Geometry,
    filename: &str,
    notes: &[String],
) -> Result<String, ExportError> {
    if workloads.is_empty() {
        return Err(ExportError::Nothing);
    }
    let mut out = head(&escape(filename)?, notes, workloads.iter().any(Workload::writes));
    let is_device = kind_of(filename) == TargetKind::Device || filename == FILENAME_LEFT_OPEN;
    for (index, workload) in workloads.iter().enumerate() {
        workload.check(geometry).map_err(ExportError::Unfit)?;
        for section in Section::from_workload(workload, index + 1, geometry, is_device)? {
            write!(out, "\n{section}").expect("text can be written to");
        }
    }
    Ok(out)
}

/// Escapes colons, at which fio would split a list of names.
fn escape(filename: &str) -> Result<String, ExportError> {
    let left_open = filename == FILENAME_LEFT_OPEN;
    let bad = |c: char| matches!(c, '#' | ';' | '$') || c.is_control();
    let spaced = filename != filename.trim();
    if filename.is_empty() || spaced || (!left_open && filename.contains(bad)) {
        return Err(ExportError::Filename(filename.to_owned()));
    }
    Ok(filename.replace(':', "\\:"))
}

/// The comments at the top and the `[global]` section, whose options apply to every job.
fn head(filename: &str, notes: &[String], writes: bool) -> String {
    let run = if filename == FILENAME_LEFT_OPEN { wording::RUN_WITH_FILE } else { wording::RUN };
    let caution = writes.then_some(wording::CAUTION);
    let own_lines = [run].into_iter().chain(caution).chain(wording::COMPARISON.lines());
    let mut out = String::new();
    for line in notes.iter().flat_map(|note| note.lines()).chain(own_lines) {
        // fio reads 4096 bytes at a time and would take the rest of a longer comment for an option.
        let characters: Vec<char> = line.chars().collect();
        for piece in characters.chunks(1000) {
            writeln!(out, "# {}", piece.iter().collect::<String>()).expect("text can be written to");
        }
    }
    writeln!(out, "\n[global]\nfilename={filename}\n# {}", wording::ENGINE).expect("text can be written to");
    out + COMMON
}

/// `randrepeat=0`: by default fio starts the same addresses again once it has moved as many bytes as its region holds.
/// `norandommap=1`: a workload's random addresses may repeat, too.
const COMMON: &str = "\
ioengine=io_uring
direct=1
thread=1
norandommap=1
randrepeat=0
lat_percentiles=1
clat_percentiles=0
";

/// Why workloads cannot be written as a job file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExportError {
    /// There is nothing to export.
    #[error("there is no workload to export")]
    Nothing,
    /// A workload does not fit the drive.
    #[error("{0}")]
    Unfit(String),
    /// A workload asks for something that fio does not have.
    #[error("workload \"{workload}\" cannot be expressed in fio: {feature}")]
    NotExpressible {
        /// The workload's name.
        workload: String,
        /// What fio does not have.
        feature: MissingFeature,
    },
    /// A file name that a job file cannot contain.
    #[error(
        "\"{0}\" cannot stand in a fio job file, which gives \"#\", \";\", \"$\" and ends of lines a meaning of their own: \
         rename it, or leave it open with {FILENAME_LEFT_OPEN}"
    )]
    Filename(String),
}

/// A feature of a workload that fio lacks, and what to use instead.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MissingFeature {
    /// A name longer than fio keeps.
    #[error("its name is longer than {NAME_BYTES_MAX} bytes")]
    LongName,
    /// This trace, which is replayed at its recorded times, or faster by a factor.
    #[error("it replays {0}, and fio reads logs of its own (read_iolog) as fast or at their times alone")]
    Replay(String),
    /// Trims within a file.
    #[error("fio trims block devices only, and this is a file")]
    TrimOnFile,
    /// Flushes alone.
    #[error("fio flushes between writes only and has no job of flushes")]
    FlushesAlone,
    /// A stride that is shorter than an I/O, or a stride with I/Os of several lengths.
    #[error("fio skips bytes after each I/O, and these overlap or have several lengths")]
    Stride,
    /// More lengths of I/O than fio mixes.
    #[error("fio mixes at most {LENGTHS_MAX} lengths of I/O")]
    ManyLengths,
    /// A length whose share rounds to 0%.
    #[error("fio knows whole percents, and one of its lengths is rarer than that")]
    RareLength,
    /// Streams side by side that end by a count or an amount.
    #[error(
        "jobs side by side can only end together by time, and it ends by a count or an amount: \
         give until.elapsed, or one stream"
    )]
    CommonEnd,
    /// Streams whose I/Os keep an exact proportion.
    #[error("its streams take turns in exact proportions, and jobs of fio run each at its own pace")]
    Proportions,
    /// A rate of reads, writes or trims in bytes that is too low or too high.
    #[error("a pace of {0} bytes a second is not among fio's whole numbers, 1 to {BYTES_PER_S_MAX}")]
    ByteRate(f64),
    /// A rate of reads, writes or trims in I/Os that is too low or too high.
    #[error("a pace of {0} IOPS is not among fio's whole numbers, 1 to {IOPS_MAX}")]
    Iops(f64),
}

/// Most lengths that fio takes in one `bssplit`.
const LENGTHS_MAX: usize = 64;

/// Where a stream's I/Os go: addresses of a drive, and its blocks in bytes.
struct Zone {
    range: Range<u64>,
    block: u32,
    is_device: bool,
}

/// One job: its name, comments on options that only come close, and its options in the order of the file.
struct Section {
    name: String,
    comments: Vec<String>,
    options: Vec<(&'static str, String)>,
}

impl Section {
    /// One section for each stream of the workload with this number; fio runs them side by side.
    fn from_workload(
        workload: &Workload,
        number: usize,
        geometry: &Geometry,
        is_device: bool,
    ) -> Result<Vec<Self>, ExportError> {
        let missing = |feature| ExportError::NotExpressible { workload: workload.name.clone(), feature };
        if encode(&workload.name).len() > NAME_BYTES_MAX {
            return Err(missing(MissingFeature::LongName));
        }
        if let Some(replay_spec) = &workload.replay_spec {
            return Err(missing(MissingFeature::Replay(replay_spec.trace.clone())));
        }
        if workload.streams.is_empty() {
            return Ok(vec![Self::rest(workload, number)]);
        }
        let section = |(index, stream): (usize, &Stream)| {
            let zone = stream.pattern.region().resolve(geometry.capacity, geometry.block);
            let mut section = Self::new(workload, Part { workload: number, stream: index + 1 });
            if index == 0 {
                section.set("stonewall", 1);
            }
            let zone = Zone { range: zone.map_err(ExportError::Unfit)?, block: geometry.block, is_device };
            section.stream(workload, stream, &zone).map_err(missing)?;
            section.way(workload);
            // fio keeps 63 bits of a seed.
            let seed = workload.seed.wrapping_add(index as u64) & i64::MAX.cast_unsigned();
            section.set("randseed", seed);
            Ok(section)
        };
        workload.streams.iter().enumerate().map(section).collect()
    }

    fn new(workload: &Workload, part: Part) -> Self {
        let mut section = Self { name: encode(&workload.name), comments: Vec::new(), options: Vec::new() };
        section.set("description", part.describe());
        section
    }

    /// A rest as a job that reads from the null engine once a second. fio's `startdelay` cannot express a rest: it
    /// counts from fio's start, not from the end of the previous job.
    fn rest(workload: &Workload, number: usize) -> Self {
        let mut section = Self::new(workload, Part { workload: number, stream: 0 });
        section.set("stonewall", 1);
        section.set("ioengine", "null");
        section.set("rw", "read");
        section.set("bs", 4096);
        section.set("size", 4096);
        section.set("rate_iops", 1);
        let span = workload.until.elapsed.expect("a rest is checked to have an end");
        section.set("time_based", 1);
        section.set("runtime", duration(span));
        section
    }

    fn set(&mut self, option: &'static str, value: impl ToString) {
        assert!(fio_option::is_harmless(option), "{option} is no option of fio that a workload has");
        self.options.push((option, value.to_string()));
    }

    fn comment(&mut self, text: impl Into<String>) {
        self.comments.push(text.into());
    }

    fn stream(&mut self, workload: &Workload, stream: &Stream, zone: &Zone) -> Result<(), MissingFeature> {
        self.operation(stream, zone.is_device)?;
        self.length(stream)?;
        self.place(workload, stream, zone);
        self.data(stream);
        self.pace(stream)?;
        if workload.lanes > 1 {
            self.set("numjobs", workload.lanes);
            // Without grouping, streams between two stonewalls keep their own results.
            if workload.streams.len() == 1 {
                self.set("group_reporting", 1);
            }
        }
        self.until(workload, stream)
    }

    fn operation(&mut self, stream: &Stream, is_device: bool) -> Result<(), MissingFeature> {
        let word = match stream.op {
            Mix::Only(Op::Read) => "read",
            Mix::Only(Op::Write) => "write",
            Mix::Reads(_) => "rw",
            Mix::Only(Op::Trim) if is_device => "trim",
            Mix::Only(Op::Trim) => return Err(MissingFeature::TrimOnFile),
            Mix::Only(Op::Flush) => return Err(MissingFeature::FlushesAlone),
        };
        match stream.pattern {
            AccessPattern::Strided { step, .. } => {
                let length = shortest(&stream.size);
                if stream.size.choices().len() > 1 || step < length {
                    return Err(MissingFeature::Stride);
                }
                self.comment(wording::STRIDE_WRAPS);
                self.set("rw", format!("{word}:{}", step - length));
            }
            _ if is_forward(stream) => self.set("rw", word),
            _ => self.set("rw", format!("rand{word}")),
        }
        if let Mix::Reads(percent) = stream.op {
            self.set("rwmixread", percent);
        }
        if stream.op == Mix::Only(Op::Trim) {
            self.comment(wording::TRIMS_DEVICES);
        }
        Ok(())
    }

    fn length(&mut self, stream: &Stream) -> Result<(), MissingFeature> {
        let choices = stream.size.choices();
        if let [(bytes, _)] = choices {
            self.set("bs", bytes);
            return Ok(());
        }
        if choices.len() > LENGTHS_MAX {
            return Err(MissingFeature::ManyLengths);
        }
        let (percents, exact) = percents(&stream.size);
        if percents.contains(&0) {
            return Err(MissingFeature::RareLength);
        }
        if !exact {
            self.comment(wording::SHARES_ROUNDED);
        }
        if !is_forward(stream) {
            self.comment(wording::ALIGNED_TO_SHORTEST);
        }
        let split = choices.iter().zip(percents).map(|((bytes, _), percent)| format!("{bytes}/{percent}"));
        self.set("bssplit", split.collect::<Vec<_>>().join(":"));
        Ok(())
    }

    fn place(&mut self, workload: &Workload, stream: &Stream, Zone { range, block, .. }: &Zone) {
        let copies = if is_forward(stream) { u64::from(workload.lanes) } else { 1 };
        let shortest = shortest(&stream.size);
        let part = part(range, *block, copies);
        let size = part - part % shortest;
        self.set("offset", range.start);
        self.set("size", size);
        if copies > 1 {
            self.set("offset_increment", part);
        }
        // In a random region the run loop, too, leaves out an end that is too short for an I/O.
        let alike = !is_forward(stream) && stream.size.choices().len() == 1;
        let left = range.end - range.start - size * copies;
        if left > 0 && !alike {
            self.comment(wording::zone_rest(left));
        }
        match stream.pattern {
            AccessPattern::Zipf { theta, .. } => {
                // fio refuses a θ of exactly 1, where its formula divides by zero (options.c).
                let near = if theta == 1.0 { 1.000_001 } else { theta };
                self.comment(wording::ZIPF);
                self.set("random_distribution", format!("zipf:{near}"));
            }
            AccessPattern::RandomAligned { align, .. } => self.set("blockalign", align),
            AccessPattern::Sequential(_) | AccessPattern::Random(_) | AccessPattern::Strided { .. } => {}
        }
    }

    fn data(&mut self, stream: &Stream) {
        if !matches!(stream.op, Mix::Only(Op::Write) | Mix::Reads(_)) {
            return;
        }
        match stream.data {
            DataClass::Zero => self.set("zero_buffers", 1),
            DataClass::Random => self.set("refill_buffers", 1),
            DataClass::Stamped(_) => {
                self.comment(wording::STAMPS);
                self.set("refill_buffers", 1);
            }
            DataClass::Ratio(share) => {
                let blank = (1.0 - f64::from(share)) * 100.0;
                if (blank - blank.round()).abs() > 1e-3 {
                    self.comment(wording::compressibility_rounded(100.0 - blank.round(), 100.0 - blank));
                }
                self.set("buffer_compress_percentage", blank.round());
                self.set("buffer_compress_chunk", 512);
            }
        }
    }

    fn pace(&mut self, stream: &Stream) -> Result<(), MissingFeature> {
        if matches!(stream.arrival, Arrival::Interleaved { .. }) {
            return Err(MissingFeature::Proportions);
        }
        self.set("iodepth", stream.arrival.depth());
        for (option, writes) in [("fdatasync", stream.flush_every), ("fsync", stream.fsync_every)] {
            if writes > 0 {
                self.set(option, writes);
            }
        }
        if stream.arrival.depth() > 1 && (stream.flush_every > 0 || stream.fsync_every > 0) {
            self.comment(wording::FLUSH_AMONG);
        }
        if let Some(sync) = stream.sync {
            self.set("sync", if sync == Durability::File { "sync" } else { "dsync" });
        }
        let Arrival::Open { per_second, inter_arrival, .. } = stream.arrival else { return Ok(()) };
        self.comment(wording::LATE_IOS);
        match inter_arrival {
            InterArrival::Even => {
                // `rate_iops` would pace bytes by the shortest length; `rate` paces by the bytes that were moved.
                let bytes_per_s = per_second * stream.size.mean();
                self.set("rate", sides(stream, bytes_per_s, BYTES_PER_S_MAX, MissingFeature::ByteRate)?);
            }
            InterArrival::Poisson => {
                if per_second.fract() != 0.0 {
                    self.comment(wording::RATE_ROUNDED);
                }
                self.set("rate_iops", sides(stream, per_second, IOPS_MAX, MissingFeature::Iops)?);
                self.set("rate_process", "poisson");
            }
        }
        Ok(())
    }

    /// The job's end. Every copy gets an equal part of a count or an amount, as the run loop's lanes do.
    fn until(&mut self, workload: &Workload, stream: &Stream) -> Result<(), MissingFeature> {
        let Until { elapsed, ops, bytes } = workload.until;
        let has_count = ops.is_some() || bytes.is_some();
        if has_count && workload.streams.len() > 1 {
            if elapsed.is_none() {
                return Err(MissingFeature::CommonEnd);
            }
            self.comment(wording::TIME_ONLY);
            self.set("time_based", 1);
        } else if has_count {
            self.amount(workload, &stream.size);
        } else {
            self.set("time_based", 1);
        }
        if let Some(span) = elapsed {
            self.set("runtime", duration(span));
        }
        Ok(())
    }

    fn amount(&mut self, workload: &Workload, size: &Size) {
        let Until { ops, bytes, .. } = workload.until;
        let copies = u64::from(workload.lanes);
        let share = |bound: u64| bound.div_ceil(copies).max(1);
        if [ops, bytes].into_iter().flatten().any(|bound| !bound.is_multiple_of(copies)) {
            self.comment(wording::BOUND_ROUNDED);
        }
        if let [(length, _)] = size.choices() {
            let length = u64::from(*length);
            let by_bytes = bytes.map(|bytes| share(bytes).div_ceil(length));
            let ios = ops.map(share).into_iter().chain(by_bytes).min().expect("one of both is given");
            return self.set("io_size", ios.saturating_mul(length).min(BYTES_MAX));
        }
        // fio stops at the amount even before the count of I/Os is done, so the amount must cover all of them.
        let by_ops = ops.map(|ops| share(ops).saturating_mul(u64::from(size.max())));
        self.set("io_size", bytes.map(share).or(by_ops).expect("one of both is given").min(BYTES_MAX));
        if let Some(ops) = ops {
            self.set("number_ios", share(ops));
        }
    }

    /// How I/O reaches the drive. `COMMON` makes all jobs direct, and fio drops the page cache by default.
    fn way(&mut self, workload: &Workload) {
        match workload.access {
            Access::Direct => {}
            Access::Buffered => {
                self.set("direct", 0);
                self.set("invalidate", u8::from(workload.cold));
            }
            Access::Null => self.set("ioengine", "null"),
        }
        if workload.flush {
            self.set("end_fsync", 1);
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for comment in &self.comments {
            writeln!(f, "# {comment}")?;
        }
        writeln!(f, "[{}]", self.name)?;
        for (option, value) in &self.options {
            writeln!(f, "{option}={value}")?;
        }
        Ok(())
    }
}

fn is_forward(stream: &Stream) -> bool {
    matches!(stream.pattern, AccessPattern::Sequential(_) | AccessPattern::Strided { .. })
}

fn shortest(size: &Size) -> u64 {
    size.choices().iter().map(|(bytes, _)| u64::from(*bytes)).min().expect("a size has a choice")
}

/// Bytes that each copy walks, in whole blocks. The run loop divides a region in the same way.
fn part(zone: &Range<u64>, block: u32, copies: u64) -> u64 {
    let part = (zone.end - zone.start) / copies;
    part - part % u64::from(block)
}

/// Whole percents that sum to 100 (largest remainder), and whether they are exact.
fn percents(size: &Size) -> (Vec<u64>, bool) {
    let weights: Vec<u64> = size.choices().iter().map(|(_, weight)| u64::from(*weight)).collect();
    let sum: u64 = weights.iter().sum();
    let mut percents: Vec<u64> = weights.iter().map(|weight| weight * 100 / sum).collect();
    let exact = weights.iter().all(|weight| (weight * 100).is_multiple_of(sum));
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(weights[*index] * 100 % sum));
    let missing = 100 - percents.iter().sum::<u64>();
    for index in order.into_iter().take(missing as usize) {
        percents[index] += 1;
    }
    (percents, exact)
}

/// The largest amount for fio, which counts bytes in 63 bits.
const BYTES_MAX: u64 = i64::MAX.cast_unsigned();

/// Milliseconds where they are exact, else microseconds, the resolution of fio's clock.
fn duration(span: Nanos) -> String {
    match span.0 {
        ns if ns.is_multiple_of(1_000_000) && ns > 0 => format!("{}ms", ns / 1_000_000),
        ns => format!("{}us", ns.div_ceil(1_000).max(1)),
    }
}

/// Faster than any drive, and within fio's 64 bits.
const BYTES_PER_S_MAX: f64 = 1e15;

/// fio counts the I/Os of a second in 32 bits.
const IOPS_MAX: f64 = 4_294_967_295.0;

/// A rate as fio takes it: whole numbers for reads, writes and trims. `refusal` makes the error for any other rate.
fn sides(
    stream: &Stream,
    rate: f64,
    max: f64,
    refusal: fn(f64) -> MissingFeature,
) -> Result<String, MissingFeature> {
    let whole = |rate: f64| {
        if (1.0..=max).contains(&rate.round()) { Ok(rate.round() as u64) } else { Err(refusal(rate)) }
    };
    Ok(match stream.op {
        Mix::Reads(percent) => {
            let reads = f64::from(percent) / 100.0;
            format!("{},{}", whole(rate * reads)?, whole(rate * (1.0 - reads))?)
        }
        Mix::Only(Op::Write) => format!(",{}", whole(rate)?),
        Mix::Only(Op::Trim) => format!(",,{}", whole(rate)?),
        Mix::Only(Op::Read | Op::Flush) => whole(rate)?.to_string(),
    })
}

#[cfg(test)]
mod tests;
