//! The `--log` of a run: a line of CSV for each second and kind of I/O. Each line is written when
//! its second is over, so that the file can be followed and survives a kill.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use anyhow::Context as _;
use likenew_core::input;
use likenew_core::io::{Op, Sample};
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::tally::Tally;
use likenew_core::target::Clock;
use likenew_core::target_error::system_reason;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_real::clock::{date_of, wall_ms};

use crate::exit::{Failure, Result};
use crate::output_file::OutputFile;
use crate::progress::locked;
use crate::wording;

/// Columns, named as in reports: names end with the unit.
const COLUMNS: [&str; 14] = [
    "time_s",
    "wall_clock",
    "step",
    "workload",
    "op",
    "duration_s",
    "ios",
    "bytes",
    "bytes_per_s",
    "latency_ns_mean",
    "latency_ns_p50",
    "latency_ns_p99",
    "latency_ns_max",
    "errors",
];
/// Columns that are read when a run is resumed.
const STEP: usize = 2;
const IOS: usize = 6;
const BYTES: usize = 7;

const SECOND: Nanos = Nanos::from_secs(1);
const SECOND_MS: u64 = 1_000;

/// Whether a text is the log of a run.
pub(crate) fn is_log(text: &str) -> bool {
    text.lines().next().is_some_and(|head| head.split(',').eq(COLUMNS))
}

/// The log of one run.
pub(crate) struct IoLog {
    path: PathBuf,
    lines: Sender<Lines>,
    clock: Clock,
    /// The seconds of the current workload.
    seconds: Option<Arc<Mutex<Seconds>>>,
}

/// Lines for the file, and where to send the result of writing these and all lines before.
type Lines = (Vec<u8>, Option<Sender<io::Result<()>>>);

impl IoLog {
    /// Begins a log; `-` is standard output. If a run is `resumed` after these segments, their lines in the file are kept.
    ///
    /// # Errors
    /// As for [`crate::output_file::check`], or the file is not the log of this run.
    pub(crate) fn begin(path: &Path, clock: Clock, resumed: Option<&[Segment]>) -> Result<Self> {
        let failed = || wording::could_not_write(path);
        let head = |out: &mut dyn Write| csv::Writer::from_writer(out).write_record(COLUMNS);
        let file: Box<dyn Write + Send> = if path == Path::new("-") {
            let mut out = anstream::stdout();
            head(&mut out).with_context(failed)?;
            Box::new(out)
        } else {
            let new = OutputFile::begin(path)?;
            head(&mut new.file()).with_context(failed)?;
            resumed.map_or(Ok(()), |segments| copy_measured(path, segments, &mut new.file()))?;
            Box::new(new.finish()?)
        };
        let (lines, received) = channel();
        // A thread of its own writes, so that a slow file system delays no measured I/O.
        let thread = std::thread::Builder::new().name("log".to_owned());
        thread.spawn(move || write_lines(file, &received)).with_context(failed)?;
        Ok(Self { path: path.to_owned(), lines, clock, seconds: None })
    }

    /// Begins a workload; `step` is its number in the run, from 1.
    pub(crate) fn begin_workload(&mut self, workload: &Workload, step: usize) {
        let streams = workload.streams.iter().flat_map(|stream| stream.op.shares());
        let planned: Vec<Op> = streams.map(|(op, _)| op).collect();
        self.seconds = Some(Arc::new(Mutex::new(Seconds {
            lines: self.lines.clone(),
            clock: self.clock,
            step: step.to_string(),
            workload: workload.name.clone(),
            started_at: Nanos::NEVER,
            started_ms: None,
            lanes: Vec::new(),
            written: 0,
            counts: BTreeMap::new(),
            shown: Op::ALL.map(|op| planned.contains(&op)),
        })));
    }

    /// A recorder for one lane of the workload that has begun.
    pub(crate) fn recorder(&self) -> LaneLog {
        let seconds = Arc::clone(self.seconds.as_ref().expect("a workload has begun"));
        let lane = {
            let mut guard = locked(&seconds);
            guard.lanes.push(0);
            guard.lanes.len() - 1
        };
        LaneLog { seconds, lane, started_at: Nanos::ZERO, second: 0, counts: nothing() }
    }

    /// Ends the workload. All its lines are in the file after that.
    ///
    /// # Errors
    /// Something could not be written, now or in an earlier second.
    pub(crate) fn end_workload(&mut self, segment: &Segment) -> Result<(), String> {
        let seconds = self.seconds.take().expect("it has begun");
        let mut seconds = locked(&seconds);
        seconds.started_at = segment.started_at;
        seconds.write(second_at(segment.elapsed()) + 1, segment.elapsed());
        let (done, is_done) = channel();
        let _ = self.lines.send((Vec::new(), Some(done)));
        let written = is_done.recv().unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()));
        written.map_err(|error| wording::log_not_written(&self.path, system_reason(&error)))
    }
}

/// Writes lines as they come. After a failure, nothing is written until it is reported; a closed reader is no failure.
fn write_lines(mut file: Box<dyn Write + Send>, received: &Receiver<Lines>) {
    let mut written = Ok(());
    for (lines, waiting) in received {
        if written.is_ok() {
            written = file.write_all(&lines).and_then(|()| file.flush());
        }
        if let Some(waiting) = waiting {
            let is_closed = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
            let result = std::mem::replace(&mut written, Ok(()));
            let _ = waiting.send(result.or_else(|error| if is_closed(&error) { Ok(()) } else { Err(error) }));
        }
    }
}

/// Copies the lines of workloads that an interrupted run had measured, if its log exists.
fn copy_measured(path: &Path, measured: &[Segment], out: &mut dyn Write) -> Result<()> {
    let file = match input::open(path, input::LOG) {
        Err(error) if error.is_missing() => return Ok(()),
        opened => opened.map_err(|error| Failure::unreadable(&path.display().to_string(), error))?,
    };
    let another = || Failure::Usage(wording::log_of_another_run(path));
    let mut old = csv::Reader::from_reader(file);
    if !old.headers().is_ok_and(|head| head.iter().eq(COLUMNS)) {
        return Err(another());
    }
    let mut sums = vec![(0u64, 0u64); measured.len()];
    let mut out = csv::Writer::from_writer(out);
    // A kill can tear only lines of a workload that is measured again.
    for line in old.records().map_while(std::result::Result::ok) {
        let number = |column: usize| line[column].parse::<u64>().map_err(|_| another());
        let step = (number(STEP)? as usize).checked_sub(1).ok_or_else(another)?;
        let Some((ios, bytes)) = sums.get_mut(step) else { break };
        (*ios, *bytes) = (ios.saturating_add(number(IOS)?), bytes.saturating_add(number(BYTES)?));
        out.write_record(&line).with_context(|| wording::could_not_write(path))?;
    }
    let total = |segment: &Segment| (segment.total().ios, segment.total().bytes);
    if !measured.iter().map(total).eq(sums) {
        return Err(another());
    }
    Ok(out.flush().with_context(|| wording::could_not_write(path))?)
}

/// The second of a workload in which this time has elapsed. The end of a second belongs to it.
fn second_at(elapsed: Nanos) -> u64 {
    elapsed.0.saturating_sub(1) / SECOND.0
}

/// The I/Os of one second, by kind.
type Counts = [Tally; Op::ALL.len()];

fn nothing() -> Counts {
    Op::ALL.map(|op| Tally::new(0, op))
}

/// The seconds of one workload, over all lanes.
struct Seconds {
    lines: Sender<Lines>,
    clock: Clock,
    step: String,
    workload: String,
    /// When the first lane began, on the drive's clock.
    started_at: Nanos,
    /// When the first lane began, in milliseconds since 1970; `None` in simulated time.
    started_ms: Option<u64>,
    /// The second that each lane has reached.
    lanes: Vec<u64>,
    /// Number of seconds that are written.
    written: u64,
    /// The seconds that are not written yet.
    counts: BTreeMap<u64, Counts>,
    /// Kinds of I/O that the workload plans or that have occurred.
    shown: [bool; Op::ALL.len()],
}

impl Seconds {
    fn begin(&mut self, at: Nanos) {
        self.started_at = self.started_at.min(at);
        if self.clock == Clock::Wall {
            self.started_ms.get_or_insert_with(wall_ms);
        }
    }

    fn add(&mut self, second: u64, counts: &Counts) {
        let sums = self.counts.entry(second).or_insert_with(nothing);
        sums.iter_mut().zip(counts).for_each(|(sum, counts)| sum.merge(counts));
    }

    /// Hands over the lines of the seconds before `end`. The last second may be cut short: the workload ends at `elapsed`.
    fn write(&mut self, end: u64, elapsed: Nanos) {
        let mut out = csv::Writer::from_writer(Vec::new());
        for second in self.written..end {
            let mut counts = self.counts.remove(&second).unwrap_or_else(nothing);
            let begins = Nanos(second * SECOND.0);
            let duration_s = SECOND.min(elapsed.since(begins)).as_secs_f64();
            let date = self.started_ms.and_then(|start| date_of(start + second * SECOND_MS));
            for (counts, shown) in counts.iter_mut().zip(&mut self.shown) {
                *shown |= counts.ios > 0;
                if !*shown {
                    continue;
                }
                counts.latency.compact();
                let latencies = [0.5, 0.99].map(|share| counts.latency.quantile(share));
                let [p50, p99] = latencies.map(|latency| latency.0.to_string());
                let known = |value: String| if counts.ios > 0 { value } else { String::new() };
                let cells = [
                    (self.started_at + begins).as_secs_f64().to_string(),
                    date.clone().unwrap_or_default(),
                    self.step.clone(),
                    self.workload.clone(),
                    counts.op.name().to_owned(),
                    duration_s.to_string(),
                    counts.ios.to_string(),
                    counts.bytes.to_string(),
                    if duration_s > 0.0 {
                        format!("{:.0}", counts.bytes as f64 / duration_s)
                    } else {
                        String::new()
                    },
                    known(format!("{:.0}", counts.latency_ns_mean())),
                    known(p50),
                    known(p99),
                    known(counts.latency.max().0.to_string()),
                    (counts.errors + counts.short).to_string(),
                ];
                out.write_record(cells).expect("memory takes everything");
            }
        }
        self.written = self.written.max(end);
        // A failure to write is reported at the end of the workload.
        let _ = self.lines.send((out.into_inner().expect("memory takes everything"), None));
    }
}

/// Counts the I/Os of one lane.
pub(crate) struct LaneLog {
    seconds: Arc<Mutex<Seconds>>,
    lane: usize,
    started_at: Nanos,
    /// The current second. A late I/O counts here, too, because its own second may be written already.
    second: u64,
    counts: Counts,
}

impl Recorder for LaneLog {
    fn begin(&mut self, _: &Workload, at: Nanos) {
        self.started_at = at;
        locked(&self.seconds).begin(at);
    }

    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        for sample in samples {
            self.reach(sample.done);
            self.counts[sample.op.index()].add(sample);
        }
        ControlFlow::Continue(())
    }

    fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
        self.reach(now);
        ControlFlow::Continue(())
    }

    fn end(&mut self, _: Nanos) {
        self.hand_over(u64::MAX);
    }
}

impl LaneLog {
    #[inline]
    fn reach(&mut self, now: Nanos) {
        let second = second_at(now.since(self.started_at));
        if second > self.second {
            self.hand_over(second);
        }
    }

    #[cold]
    fn hand_over(&mut self, second: u64) {
        let mut seconds = locked(&self.seconds);
        seconds.add(self.second, &std::mem::replace(&mut self.counts, nothing()));
        self.second = second;
        seconds.lanes[self.lane] = second;
        let passed = seconds.lanes.iter().min().copied().filter(|passed| *passed < u64::MAX);
        seconds.write(passed.unwrap_or_default(), Nanos::NEVER);
    }
}
