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
pub(super) struct JobTraits<'a> {
    /// The name of its workload.
    pub(super) name: &'a str,
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
#[derive(Default)]
pub(super) struct JobCounts {
    /// What the job did; of a verifying job, its writes only.
    pub(super) own: Counts,
    /// What a verifying job read back, timed separately from its writes; no tally if it did not.
    pub(super) verified: Counts,
}

/// Results with a time of their own. fio counts the time of verifying reads apart from that of the writes, and both
/// overlap only in part.
#[derive(Clone, Default)]
pub(super) struct Counts {
    /// One tally for each stream and operation that occurred.
    pub(super) tallies: Vec<Tally>,
    /// Run time, in fio's steps of a millisecond.
    pub(super) elapsed: Nanos,
    /// The first error number, or 0.
    pub(super) error: i32,
}

/// Reads the results of a job, with notes of what they do not say.
struct JobReader<'a> {
    traits: JobTraits<'a>,
    notes: &'a mut Notes,
    counts: JobCounts,
}

impl JobCounts {
    pub(super) fn read(
        job: &Node<'_>,
        traits: JobTraits<'_>,
        notes: &mut Notes,
    ) -> Result<Self, ImportError> {
        let mut reader = JobReader { traits, notes, counts: Self::default() };
        match job.get("mixed") {
            Some(mixed) if job.get("read").is_none() => reader.mixed_sides(&mixed)?,
            _ => reader.sides(job)?,
        }
        if let Some(sync) = job.get("sync") {
            // `total_ios` counts fsync only, but fio also times fdatasync (fio 3.33).
            let timed = sync.get("lat_ns").and_then(|times| times.get("N"));
            let timed = timed.map_or(Ok(0), |count| count.count())?;
            let ios = sync.need("total_ios", expected::FLUSH_COUNT)?.count()?.max(timed);
            let latency =
                if ios > 0 { Latency::read(&sync, traits.name, reader.notes)? } else { Latency::default() };
            reader.add(&Side { ios, latency, ..Side::default() }, Op::Flush);
        }
        reader.failures(job)?;
        Ok(reader.counts)
    }
}

impl JobReader<'_> {
    fn note(&mut self, note: Note) {
        self.notes.add(note, self.traits.name);
    }

    /// Adds reads, writes and trims that fio counted separately.
    fn sides(&mut self, job: &Node<'_>) -> Result<(), ImportError> {
        let JobTraits { name, stream, verification, .. } = self.traits;
        let mut side = |op: Op| Side::read(&job.need(op.name(), expected::SIDE)?, name, self.notes);
        let (read, write, trim) = (side(Op::Read)?, side(Op::Write)?, side(Op::Trim)?);
        let is_split = matches!(verification, Verification::AfterWrites | Verification::BetweenWrites);
        // With `verify_only` fio counts I/Os that it did not do. Such writes have no time; fio rounds the time of real
        // ones up to a millisecond (`update_runtime` in its `backend.c`).
        let is_dry = verification != Verification::Off && write.bytes > 0 && write.elapsed == Nanos::ZERO;
        if is_dry && !is_split {
            self.note(Note::DryMix);
            return Ok(());
        }
        if read.ios > 0 && (is_dry || verification == Verification::AfterWrites) {
            self.note(if is_dry { Note::DryWrites } else { Note::VerifyCounts });
            let tallies = vec![read.tally(stream, Op::Read)];
            self.counts.verified = Counts { tallies, elapsed: read.elapsed, error: 0 };
        } else {
            self.add(&read, Op::Read);
        }
        if is_dry {
            return Ok(());
        }
        let last_reads = self.counts.own.elapsed;
        self.add(&write, Op::Write);
        self.add(&trim, Op::Trim);
        match verification {
            Verification::BetweenWrites if read.ios > 0 => {
                self.counts.own.elapsed = write.elapsed.max(trim.elapsed) + last_reads;
                self.note(Note::VerifiedBetween);
            }
            Verification::AmongReads if read.ios > 0 => self.note(Note::VerifiedAmong),
            _ => {}
        }
        self.note_instant();
        Ok(())
    }

    /// Adds reads and writes that fio counted together.
    fn mixed_sides(&mut self, node: &Node<'_>) -> Result<(), ImportError> {
        let side = Side::read(node, self.traits.name, self.notes)?;
        let reads = match (self.traits.op, self.traits.verification) {
            (Mix::Only(op), Verification::Off) => {
                self.add(&side, op);
                self.note_instant();
                return Ok(());
            }
            (Mix::Only(op), _) => {
                // The time is that of the longer phase (`sum_thread_stats` in fio's `stat.c`).
                self.note(Note::MixedVerify);
                self.add(&Side { elapsed: Nanos::ZERO, ..side }, op);
                return Ok(());
            }
            (Mix::Reads(percent), Verification::Off) => f64::from(percent) / 100.0,
            (Mix::Reads(percent), _) => {
                // Every write is read back once.
                self.note(Note::VerifiedAmong);
                let writes = 1.0 - f64::from(percent) / 100.0;
                1.0 / (1.0 + writes)
            }
        };
        self.note(Note::Mixed);
        let part = |count: u64| (count as f64 * reads).round() as u64;
        let (read_latency, write_latency) = side.latency.divide(reads);
        let (ios, bytes, short) = (part(side.ios), part(side.bytes), part(side.short));
        let elapsed = side.elapsed;
        self.add(&Side { ios, bytes, short, elapsed, latency: read_latency }, Op::Read);
        let (ios, bytes, short) = (side.ios - ios, side.bytes - bytes, side.short - short);
        self.add(&Side { ios, bytes, short, elapsed, latency: write_latency }, Op::Write);
        self.note_instant();
        Ok(())
    }

    fn note_instant(&mut self) {
        let own = &self.counts.own;
        if own.elapsed == Nanos::ZERO && own.tallies.iter().any(|tally| tally.bytes > 0) {
            self.note(Note::Instant);
        }
    }

    fn add(&mut self, side: &Side, op: Op) {
        let own = &mut self.counts.own;
        own.elapsed = own.elapsed.max(side.elapsed);
        if side.ios > 0 {
            own.tallies.push(side.tally(self.traits.stream, op));
        }
    }

    /// Assigns the errors, which fio counts by job, to operations.
    fn failures(&mut self, job: &Node<'_>) -> Result<(), ImportError> {
        let system = self.traits.system;
        let errno = |error: Node<'_>| error.errno().map(|number| System::errno(system, number));
        let ended_with = job.get("error").map_or(Ok(0), errno)?;
        // fio gives both with `continue_on_error` only. Neither includes the error that ended the job.
        let passed = job.get("total_err").map_or(Ok(0), |total| total.count())?;
        let first = job.get("first_error").map_or(Ok(0), errno)?;
        let errors = passed.max(u64::from(ended_with != 0));
        if errors == 0 {
            return Ok(());
        }
        let error = if ended_with == 0 { first } else { ended_with };
        // fio verifies only after the writes ended without an error (`thread_main` in its `backend.c`).
        let is_sole = self.traits.is_one_pass && passed == 0;
        if self.counts.verified.tallies.is_empty() {
            self.fail(errors, error);
        } else if error == DATA_DIFFERS && (first == 0 || first == DATA_DIFFERS)
            || is_sole
            || self.counts.own.tallies.is_empty()
        {
            self.fail_verified(errors, error);
        } else if error == DATA_DIFFERS {
            // The writes skipped their own errors, and the verification ended with this one.
            self.fail_verified(1, error);
            self.fail(passed, first);
        } else {
            // It is unknown which of the two phases failed, so neither counts as good.
            self.fail_verified(0, error);
            self.fail(errors, error);
        }
        Ok(())
    }

    fn fail_verified(&mut self, errors: u64, error: i32) {
        self.counts.verified.fail(errors, error);
        self.notes.add(Note::Failed(error), &format!("{}, verify", self.traits.name));
    }

    /// Keeps errors with the first operation of the job.
    fn fail(&mut self, errors: u64, error: i32) {
        self.note(Note::Failed(error));
        if self.counts.own.tallies.is_empty() {
            let op = if let Mix::Only(op) = self.traits.op { op } else { Op::Read };
            self.counts.own.tallies.push(Tally::new(self.traits.stream, op));
        }
        self.counts.own.fail(errors, error);
    }
}

impl Counts {
    /// Keeps errors with the first operation, of which there is one.
    fn fail(&mut self, errors: u64, error: i32) {
        self.error = error;
        let tally = &mut self.tallies[0];
        tally.errors = errors;
        tally.ios = tally.ios.max(errors);
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
