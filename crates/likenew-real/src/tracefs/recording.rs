//! A recording: from the kernel's buffers to I/Os, one trace for each drive.

use likenew_core::io::Op;
use likenew_core::lab_error::LabError;
use likenew_core::trace::TraceSink;
use likenew_core::units::Nanos;

use super::applications::Applications;
use super::event::{BlockEvent, Decoder, Step};
use super::instance::Instance;
use super::page::PageLayout;
use super::pairing::{PairCounts, Pairing};
use super::processor::Processors;
use super::recorded_drive::RecordedDrive;
use super::root::{TracefsRoot, in_tracefs};
use crate::clock::{Monotonic, machine_ns};
use crate::wording::action;
use crate::wording::record as wording;

/// A recording under way. Dropping it returns everything to the kernel, at any stage.
pub struct Recording {
    drives: Vec<RecordedDrive>,
    instance: Instance,
    cpus: Vec<u32>,
    processors: Processors,
    applications: Applications,
    pairing: Pairing,
    clock: Monotonic,
    buffer_bytes: u64,
    leftovers: Vec<String>,
}

/// The totals of a recording so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecordingCounts {
    /// I/Os and what is known of them.
    pub ios: PairCounts,
    /// Records that the kernel's buffers had no space for; an I/O has two or three.
    pub events_lost: u64,
    /// Pages of records that made no sense.
    pub broken_pages: u64,
}

/// How often buffers are read. Chosen: 16 MiB hold a second of a million records, ten times as much.
const PAUSE: Nanos = Nanos::from_millis(100);
/// How long I/Os in flight at the end of a recording are waited for. Chosen: longer than any but stalled I/Os
/// take.
const LAST_WAIT: Nanos = Nanos::from_secs(1);

impl Recording {
    /// Begins to record the I/O of these drives. Instances left by killed recorders are removed first. The
    /// calling thread's own I/Os are left out.
    ///
    /// `buffer_bytes` is kernel memory for all processors together; the default is a sixteenth of the free
    /// memory, at most 16 MiB for each processor and 256 MiB in all.
    ///
    /// # Errors
    /// No rights, no tracing in this kernel, or it says its formats in a way that is not understood.
    pub fn start(drives: Vec<RecordedDrive>, buffer_bytes: Option<u64>) -> Result<Self, LabError> {
        assert!(!drives.is_empty(), "a recording has a drive");
        let root = TracefsRoot::find()?;
        let leftovers = Instance::remove_leftovers(&root);
        let instance = Instance::create(root)?;
        let unknown = |error: String| LabError::Unsuitable(wording::format_unsupported(&error));
        let formats = Step::EVENTS
            .iter()
            .map(|(name, step)| Ok((*step, *name, instance.read(&format!("events/block/{name}/format"))?)));
        let decoder = Decoder::new(&formats.collect::<Result<Vec<_>, LabError>>()?).map_err(unknown)?;
        let layout = PageLayout::parse(&instance.read("events/header_page")?).map_err(unknown)?;

        let cpus = instance.open_pipes()?;
        let buffer_bytes = buffer_bytes.unwrap_or_else(|| default_buffer(cpus.len() as u64));
        let each = (buffer_bytes / cpus.len().max(1) as u64).max(BUFFER_LEAST);
        set_up(&instance, &drives, each)?;
        let origins = drives.iter().map(|drive| drive.first_sector).collect();
        Ok(Self {
            pairing: Pairing::new(origins, vec![this_thread()]),
            processors: Processors::new(cpus.len(), layout, decoder),
            applications: Applications::new(),
            clock: Monotonic::start(),
            buffer_bytes: each * cpus.len() as u64,
            drives,
            instance,
            cpus,
            leftovers,
        })
    }

    /// Names of the instances that killed recorders had left; they were removed.
    pub fn leftovers(&self) -> &[String] {
        &self.leftovers
    }

    /// Memory that the kernel's buffers take up.
    pub fn buffer_bytes(&self) -> u64 {
        self.buffer_bytes
    }

    /// Time since it began.
    pub fn elapsed(&self) -> Nanos {
        self.clock.now()
    }

    /// Leaves out the I/Os of one more thread, from here on.
    pub fn exclude(&mut self, thread: u32) {
        self.pairing.exclude(thread);
    }

    /// Waits until there is something to be read again.
    pub fn rest(&self) {
        self.clock.rest(self.clock.now() + PAUSE);
    }

    /// Passes every I/O whose end is known to the sink of its drive, in the order in which they left.
    ///
    /// # Errors
    /// The kernel's buffers cannot be read, or a sink does not take any more.
    pub fn turn(&mut self, sinks: &mut [impl TraceSink]) -> Result<(), LabError> {
        while self.read_once()? {
            self.hand_on(false, sinks)?;
        }
        self.hand_on(false, sinks)
    }

    /// Its totals so far.
    ///
    /// # Errors
    /// The kernel does not say what it lost.
    pub fn counts(&self) -> Result<RecordingCounts, LabError> {
        let mut events_lost = 0;
        for cpu in &self.cpus {
            events_lost += lost_records(&self.instance.read(&format!("per_cpu/cpu{cpu}/stats"))?);
        }
        Ok(RecordingCounts {
            ios: self.pairing.counts(),
            events_lost,
            broken_pages: self.processors.broken_pages(),
        })
    }

    /// Ends it: takes no new I/Os, waits a second at most for those in flight, and passes on what is left.
    ///
    /// # Errors
    /// As [`Recording::turn`].
    pub fn finish(mut self, sinks: &mut [impl TraceSink]) -> Result<RecordingCounts, LabError> {
        for (name, step) in Step::EVENTS {
            if matches!(step, Step::Insert | Step::Issue) {
                self.instance.set(&format!("events/block/{name}/enable"), "0")?;
            }
        }
        let until = self.clock.now() + LAST_WAIT;
        loop {
            // The last I/Os are passed on a moment after they are read.
            self.rest();
            self.turn(sinks)?;
            if self.pairing.open() == 0 || self.clock.now() >= until {
                break;
            }
        }
        self.instance.set("tracing_on", "0")?;
        while self.read_once()? {
            self.hand_on(false, sinks)?;
        }
        self.hand_on(true, sinks)?;
        self.counts()
    }

    fn read_once(&mut self) -> Result<bool, LabError> {
        let now = machine_ns();
        let Self { processors, instance, applications, .. } = self;
        let more = processors.read(&mut instance.pipes(), now, applications);
        more.map_err(|error| in_tracefs(action::READ_TRACE_BUFFERS, error))
    }

    fn hand_on(&mut self, all: bool, sinks: &mut [impl TraceSink]) -> Result<(), LabError> {
        let Self { processors, drives, pairing, applications, .. } = self;
        let mut failed = Ok(());
        let mut put = |pairing: &mut Pairing, now| {
            while let (Ok(()), Some((drive, io))) = (&failed, pairing.next(now)) {
                let name = &applications.names()[usize::from(io.application)];
                failed = sinks[drive].put(&io, name);
            }
        };
        let until = processors.merge(all, |event| {
            take(pairing, drives, event);
            // As they come, so that few wait at a time.
            put(pairing, event.at);
        });
        put(pairing, until);
        failed.map_err(LabError::system(action::WRITE_TRACE))
    }
}

/// Gives a step to the drives that it concerns: a flush of a disk is one of each of its parts.
fn take(pairing: &mut Pairing, drives: &[RecordedDrive], event: &BlockEvent) {
    if event.step == Step::Lost {
        return pairing.forget();
    }
    for (index, drive) in drives.iter().enumerate() {
        if drive.holds(event.device, event.sector, event.op == Op::Flush) {
            pairing.take(index, event);
        }
    }
}

fn set_up(instance: &Instance, drives: &[RecordedDrive], buffer_bytes: u64) -> Result<(), LabError> {
    instance.set("tracing_on", "0")?;
    instance.set("trace_clock", "mono")?;
    // The names of all threads, kept at every switch between them, are not needed: records have names of their own. A
    // kernel that has no such option keeps none.
    let _ = instance.set("trace_options", "norecord-cmd");
    instance.set("buffer_size_kb", &(buffer_bytes / 1024).to_string())?;
    let filter: Vec<String> = drives.iter().map(RecordedDrive::filter).collect();
    let filter = filter.join(" || ");
    for (name, _) in Step::EVENTS {
        instance.set(&format!("events/block/{name}/filter"), &filter)?;
        instance.set(&format!("events/block/{name}/enable"), "1")?;
    }
    instance.set("tracing_on", "1")
}

const BUFFER_LEAST: u64 = 256 << 10;
const BUFFER_MOST: u64 = 16 << 20;
const BUFFERS_MOST: u64 = 256 << 20;

fn default_buffer(cpus: u64) -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let free_kib = text
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:")?.split_whitespace().next()?.parse().ok());
    let free = free_kib.map_or(u64::MAX, |kib: u64| kib << 10);
    (cpus * BUFFER_MOST).min(BUFFERS_MOST).min(free / 16)
}

/// Records that one processor's `stats` counts as lost.
fn lost_records(stats: &str) -> u64 {
    let count = |line: &str| {
        let (name, count) = line.split_once(':')?;
        let is_lost = matches!(name, "overrun" | "commit overrun" | "dropped events");
        count.trim().parse::<u64>().ok().filter(|_| is_lost)
    };
    stats.lines().filter_map(count).sum()
}

/// The calling thread as records number it.
pub fn this_thread() -> u32 {
    rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_lost_is_added_up() {
        let stats = "entries: 5\noverrun: 7\ncommit overrun: 1\nbytes: 12\noldest event ts: 1.5\nnow ts: 2\ndropped events: 2\nread events: 9\n";
        assert_eq!((lost_records(stats), lost_records(""), lost_records("overrun: many")), (10, 0, 0));
    }

    #[test]
    fn buffers_stay_within_their_bounds() {
        assert!(default_buffer(1) <= BUFFER_MOST && default_buffer(1000) <= BUFFERS_MOST);
    }
}
