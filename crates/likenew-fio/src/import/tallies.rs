//! Counts what one job did, by operation. Also translates error numbers of other systems to those of Linux.

use likenew_core::io::Op;
use likenew_core::measurement_error::DATA_DIFFERS;
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_core::workload::Mix;

use super::ImportError;
use super::document::{COUNT_MAX, Node};
use super::latency::Latency;
use super::options::{Options, Verification};
use crate::wording::expected;
use crate::wording::{Note, Notes};

/// Facts about a job without which its counts are ambiguous.
#[derive(Clone, Copy)]
pub(super) struct JobTraits {
    /// The stream's number in the workload.
    pub(super) stream: u16,
    pub(super) op: Mix,
    pub(super) verification: Verification,
    /// Whether one thread wrote once and then verified; false for several threads and for loops.
    pub(super) is_one_pass: bool,
    /// The system on which the job ran, if not Linux.
    pub(super) system: Option<System>,
}

/// The results of one job, or of all its copies.
pub(super) struct JobCounts {
    /// One tally for each operation that occurred.
    pub(super) tallies: Vec<Tally>,
    /// Run time, in fio's steps of a millisecond.
    pub(super) elapsed: Nanos,
    /// What a verifying job read back, timed separately from its writes.
    pub(super) verify_counts: Option<VerifyCounts>,
    /// The first error number, or 0; for a verifying job, of its writes only.
    pub(super) error: i32,
}

/// What a verifying job read.
pub(super) struct VerifyCounts {
    pub(super) tally: Tally,
    /// The error number that ended the verification, or 0.
    pub(super) error: i32,
    /// Time of the reads. fio counts it apart from the time of the writes, and both overlap only in part.
    pub(super) elapsed: Nanos,
}

impl JobCounts {
    pub(super) fn read(
        job: &Node<'_>,
        traits: JobTraits,
        name: &str,
        notes: &mut Notes,
    ) -> Result<Self, ImportError> {
        let mut counts = Self { tallies: Vec::new(), elapsed: Nanos::ZERO, verify_counts: None, error: 0 };
        match job.get("mixed") {
            Some(mixed) if job.get("read").is_none() => counts.mixed_sides(&mixed, traits, name, notes)?,
            _ => counts.sides(job, traits, name, notes)?,
        }
        if let Some(sync) = job.get("sync") {
            // `total_ios` counts fsync only, but fio also times fdatasync (fio 3.33).
            let timed = sync.get("lat_ns").and_then(|times| times.get("N"));
            let timed = timed.map_or(Ok(0), |count| count.count())?;
            let ios = sync.need("total_ios", expected::FLUSH_COUNT)?.count()?.max(timed);
            let latency = if ios > 0 { Latency::read(&sync, name, notes)? } else { Latency::default() };
            counts.add(&Side { ios, latency, ..Side::default() }, traits.stream, Op::Flush);
        }
        counts.failures(job, traits, name, notes)?;
        Ok(counts)
    }

    /// Adds reads, writes and trims that fio counted separately.
    fn sides(
        &mut self,
        job: &Node<'_>,
        traits: JobTraits,
        name: &str,
        notes: &mut Notes,
    ) -> Result<(), ImportError> {
        let JobTraits { stream, verification, .. } = traits;
        let mut side = |op: Op| Side::read(&job.need(op.name(), expected::SIDE)?, name, notes);
        let (read, write, trim) = (side(Op::Read)?, side(Op::Write)?, side(Op::Trim)?);
        let is_split = matches!(verification, Verification::AfterWrites | Verification::BetweenWrites);
        // With `verify_only` fio counts I/Os that it did not do. Such writes have no time; fio rounds the time of real
        // ones up to a millisecond (`update_runtime` in its `backend.c`).
        let is_dry = verification != Verification::Off && write.bytes > 0 && write.elapsed == Nanos::ZERO;
        if is_dry && !is_split {
            notes.add(Note::DryMix, name);
            return Ok(());
        }
        if read.ios > 0 && (is_dry || verification == Verification::AfterWrites) {
            notes.add(if is_dry { Note::DryWrites } else { Note::VerifyCounts }, name);
            let tally = read.tally(stream, Op::Read);
            self.verify_counts = Some(VerifyCounts { tally, error: 0, elapsed: read.elapsed });
        } else {
            self.add(&read, stream, Op::Read);
        }
        if is_dry {
            return Ok(());
        }
        let last_reads = self.elapsed;
        self.add(&write, stream, Op::Write);
        self.add(&trim, stream, Op::Trim);
        match verification {
            Verification::BetweenWrites if read.ios > 0 => {
                self.elapsed = write.elapsed.max(trim.elapsed) + last_reads;
                notes.add(Note::VerifiedBetween, name);
            }
            Verification::AmongReads if read.ios > 0 => notes.add(Note::VerifiedAmong, name),
            _ => {}
        }
        self.note_instant(name, notes);
        Ok(())
    }

    /// Adds reads and writes that fio counted together.
    fn mixed_sides(
        &mut self,
        node: &Node<'_>,
        traits: JobTraits,
        name: &str,
        notes: &mut Notes,
    ) -> Result<(), ImportError> {
        let JobTraits { stream, op, verification, .. } = traits;
        let side = Side::read(node, name, notes)?;
        let reads = match (op, verification) {
            (Mix::Only(op), Verification::Off) => {
                self.add(&side, stream, op);
                self.note_instant(name, notes);
                return Ok(());
            }
            (Mix::Only(op), _) => {
                // The time is that of the longer phase (`sum_thread_stats` in fio's `stat.c`).
                notes.add(Note::MixedVerify, name);
                self.add(&Side { elapsed: Nanos::ZERO, ..side }, stream, op);
                return Ok(());
            }
            (Mix::Reads(percent), Verification::Off) => f64::from(percent) / 100.0,
            (Mix::Reads(percent), _) => {
                // Every write is read back once.
                notes.add(Note::VerifiedAmong, name);
                let writes = 1.0 - f64::from(percent) / 100.0;
                1.0 / (1.0 + writes)
            }
        };
        notes.add(Note::Mixed, name);
        let part = |count: u64| (count as f64 * reads).round() as u64;
        let (read_latency, write_latency) = side.latency.divide(reads);
        let (ios, bytes, short) = (part(side.ios), part(side.bytes), part(side.short));
        let elapsed = side.elapsed;
        self.add(&Side { ios, bytes, short, elapsed, latency: read_latency }, stream, Op::Read);
        let (ios, bytes, short) = (side.ios - ios, side.bytes - bytes, side.short - short);
        self.add(&Side { ios, bytes, short, elapsed, latency: write_latency }, stream, Op::Write);
        self.note_instant(name, notes);
        Ok(())
    }

    fn note_instant(&self, name: &str, notes: &mut Notes) {
        if self.elapsed == Nanos::ZERO && self.tallies.iter().any(|tally| tally.bytes > 0) {
            notes.add(Note::Instant, name);
        }
    }

    fn add(&mut self, side: &Side, stream: u16, op: Op) {
        self.elapsed = self.elapsed.max(side.elapsed);
        if side.ios > 0 {
            self.tallies.push(side.tally(stream, op));
        }
    }

    /// Assigns the errors, which fio counts by job, to operations.
    fn failures(
        &mut self,
        job: &Node<'_>,
        traits: JobTraits,
        name: &str,
        notes: &mut Notes,
    ) -> Result<(), ImportError> {
        let errno = |error: Node<'_>| error.errno().map(|number| System::errno(traits.system, number));
        let ended_with = job.get("error").map_or(Ok(0), errno)?;
        // fio gives both with `continue_on_error` only. Neither includes the error that ended the job.
        let passed = job.get("total_err").map_or(Ok(0), |total| total.count())?;
        let first = job.get("first_error").map_or(Ok(0), errno)?;
        let errors = passed.max(u64::from(ended_with != 0));
        if errors == 0 {
            return Ok(());
        }
        let error = if ended_with == 0 { first } else { ended_with };
        let Some(verify_counts) = &mut self.verify_counts else {
            self.fail(errors, error, traits, name, notes);
            return Ok(());
        };
        let verification = format!("{name}, verify");
        let mut fail_verified = |errors: u64| {
            verify_counts.error = error;
            verify_counts.tally.errors = errors;
            verify_counts.tally.ios = verify_counts.tally.ios.max(errors);
            notes.add(Note::Failed(error), &verification);
        };
        // fio verifies only after the writes ended without an error (`thread_main` in its `backend.c`).
        let is_sole = traits.is_one_pass && passed == 0;
        if error == DATA_DIFFERS && (first == 0 || first == DATA_DIFFERS)
            || is_sole
            || self.tallies.is_empty()
        {
            fail_verified(errors);
        } else if error == DATA_DIFFERS {
            // The writes skipped their own errors, and the verification ended with this one.
            fail_verified(1);
            self.fail(passed, first, traits, name, notes);
        } else {
            // It is unknown which of the two phases failed, so neither counts as good.
            fail_verified(0);
            self.fail(errors, error, traits, name, notes);
        }
        Ok(())
    }

    /// Keeps errors with the first operation of the job.
    fn fail(&mut self, errors: u64, error: i32, traits: JobTraits, name: &str, notes: &mut Notes) {
        self.error = error;
        notes.add(Note::Failed(error), name);
        if self.tallies.is_empty() {
            let op = if let Mix::Only(op) = traits.op { op } else { Op::Read };
            self.tallies.push(Tally::new(traits.stream, op));
        }
        self.tallies[0].errors = errors;
        self.tallies[0].ios = self.tallies[0].ios.max(errors);
    }
}

/// One operation of a job.
#[derive(Default)]
struct Side {
    ios: u64,
    bytes: u64,
    short: u64,
    elapsed: Nanos,
    latency: Latency,
}

impl Side {
    fn tally(&self, stream: u16, op: Op) -> Tally {
        Tally {
            ios: self.ios,
            bytes: self.bytes,
            short: self.short,
            latency_ns_sum: (self.latency.mean_ns * self.ios as f64).round() as u64,
            latency: self.latency.distribution(),
            ..Tally::new(stream, op)
        }
    }

    fn read(node: &Node<'_>, name: &str, notes: &mut Notes) -> Result<Self, ImportError> {
        let ios = node.need("total_ios", expected::IO_COUNT)?.count()?;
        let amount = node.need("io_bytes", expected::BYTES)?;
        let bytes = amount.count()?;
        // Versions before 3 gave KiB here. If `io_kbytes` is given, it must agree.
        if let Some(kibibytes) = node.get("io_kbytes")
            && kibibytes.count()? != bytes / 1024
        {
            return Err(amount.unexpected_error(expected::BYTES_OF_KIBIBYTES));
        }
        let runtime = node.need("runtime", expected::MILLISECONDS)?;
        let ms = runtime.count()?;
        if ms > COUNT_MAX / 1_000_000 {
            return Err(runtime.unexpected_error(expected::RUNTIME));
        }
        let short = node.get("short_ios").map_or(Ok(0), |short| short.count())?;
        // A failed I/O moved nothing, and fio leaves its latency out.
        let latency = if bytes > 0 { Latency::read(node, name, notes)? } else { Latency::default() };
        if latency.mean_ns * ios as f64 > COUNT_MAX as f64 {
            return Err(node.unexpected_error(expected::LATENCY_SUM));
        }
        Ok(Self { ios, bytes, short, elapsed: Nanos::from_millis(ms), latency })
    }
}

/// A system whose error numbers differ from those of Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum System {
    Windows,
    MacOs,
    FreeBsd,
}

/// Option values that exist on one system only, by their beginnings.
const SIGNS: [(System, &str, &[&str]); 5] = [
    (System::Windows, "ioengine", &["windowsaio"]),
    (System::Windows, "filename", &["\\\\.\\", "\\\\?\\"]),
    (System::MacOs, "filename", &["/dev/disk", "/dev/rdisk", "/Volumes/", "/Users/"]),
    (System::MacOs, "directory", &["/Volumes/", "/Users/"]),
    (System::FreeBsd, "filename", &["/dev/ada", "/dev/da", "/dev/nda", "/dev/nvd", "/dev/vtbd"]),
];

/// Up to this number all systems agree, except for `EAGAIN` and `EDEADLK`.
const SAME_MAX: i32 = 34;

/// Error numbers of Linux, Windows, macOS and FreeBSD, one error a line; 0 where a system lacks it (their `errno.h`).
const NUMBERS: [[i32; 4]; 12] = [
    [DATA_DIFFERS, 42, 92, 86],
    // Windows has no other error 84.
    [DATA_DIFFERS, 84, 0, 0],
    [11, 11, 35, 35],
    [35, 36, 11, 11],
    [36, 38, 63, 63],
    [38, 40, 78, 78],
    [75, 132, 84, 84],
    [95, 130, 102, 0],
    [95, 129, 45, 45],
    [110, 138, 60, 60],
    [122, 0, 69, 69],
    [125, 105, 89, 85],
];

impl System {
    /// The system that the jobs' options reveal; `None` for Linux.
    pub(super) fn of(options: &[&Options]) -> Option<Self> {
        let options = || options.iter();
        let has = |option: &str, begins: &[&str]| {
            let values = options().filter_map(|options| options.text(option));
            values.into_iter().any(|value| begins.iter().any(|begin| value.starts_with(begin)))
        };
        let on_drive = |text: &str| {
            let mut letters = text.chars();
            letters.next().is_some_and(|c| c.is_ascii_alphabetic()) && letters.as_str().starts_with("\\:")
        };
        let mut named = options().flat_map(|options| [options.text("filename"), options.text("directory")]);
        if named.any(|name| name.is_some_and(on_drive)) {
            return Some(Self::Windows);
        }
        SIGNS.iter().find(|(_, option, begins)| has(option, begins)).map(|(system, ..)| *system)
    }

    /// The Linux number for an error of this system, or the negated number if Linux lacks it.
    pub(super) fn errno(system: Option<Self>, number: i32) -> i32 {
        let Some(system) = system else { return number };
        let row = NUMBERS.iter().find(|row| row[1 + system as usize] == number);
        match row {
            _ if number <= 0 => number,
            Some(row) => row[0],
            None if number <= SAME_MAX => number,
            None => -number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_other_systems_are_translated() {
        for (system, number, errno) in [
            (None, 42, 42),
            (Some(System::Windows), 42, 84),
            (Some(System::Windows), 84, 84),
            (Some(System::MacOs), 92, 84),
            (Some(System::FreeBsd), 86, 84),
            (Some(System::MacOs), 35, 11),
            (Some(System::Windows), 28, 28),
            (Some(System::Windows), 43, -43),
            (Some(System::MacOs), 0, 0),
        ] {
            assert_eq!(System::errno(system, number), errno, "{system:?} {number}");
        }
    }
}
