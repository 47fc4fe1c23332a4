//! Recordings: looked through before anything is measured, and opened for every workload that replays one.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use indicatif::{ProgressBar, ProgressStyle};
use likenew_core::plan::Plan;
use likenew_core::recorded::Recorded;
use likenew_core::trace::{TraceIo, TraceSource};
use likenew_procedures::replay::{ReplayOptions, TraceSummary};
use likenew_trace::{OpenOptions, Surveyor, Trace};

use crate::exit::Failure;
use crate::interrupt;
use crate::measure::options as settings;

/// After so many I/Os a look is taken whether somebody has asked to stop.
const GLANCE: u64 = 1 << 16;

/// Opens recordings, each only if it still is what the plan means.
#[derive(Default)]
pub(crate) struct Recordings {
    /// Files that were read to their end here, and held what they should.
    known: Vec<(PathBuf, Stand, String)>,
}

/// By what a file that was written to since can be told.
type Stand = (u64, Option<SystemTime>);

impl Recordings {
    /// At its start.
    pub(crate) fn open(&mut self, recorded: &Recorded) -> Result<Box<dyn TraceSource>, String> {
        let path = Path::new(&recorded.trace);
        let known = (path.to_owned(), stand(path)?, recorded.digest.clone());
        if !self.known.contains(&known) {
            let mut looked = Looked::at(open(recorded)?);
            while looked.next_io()?.is_some() {}
            let digest = looked.digest();
            if digest != recorded.digest {
                return Err(format!(
                    "{} is not the recording that was looked at when this run began (its records have digest {digest}, and had {}): \
                     put that one back, or start a new run",
                    recorded.trace, recorded.digest
                ));
            }
            self.known.push(known);
        }
        Ok(Box::new(open(recorded)?))
    }
}

fn stand(path: &Path) -> Result<Stand, String> {
    let about = std::fs::metadata(path).map_err(|error| {
        format!(
            "the recording {} can not be read: {error}; a name without a leading / counts from the folder that likenew is started in",
            path.display()
        )
    })?;
    Ok((about.len(), about.modified().ok()))
}

fn open(recorded: &Recorded) -> Result<Trace, String> {
    opened(&recorded.trace, recorded.format.as_deref(), recorded.volume.as_deref())
}

fn opened(trace: &str, format: Option<&str>, volume: Option<&str>) -> Result<Trace, String> {
    let format = format.map(str::parse).transpose()?;
    let options = OpenOptions { format, volume: volume.map(str::to_owned) };
    Trace::open(Path::new(trace), &options).map_err(|error| error.to_string())
}

/// Puts into a plan what its recording holds, unless it says so already. False when somebody asked to stop.
pub(crate) fn complete(plan: &mut Plan) -> Result<bool, Failure> {
    let bad = |error: toml::de::Error| Failure::Usage(format!("the options of replay: {}", error.message()));
    let mut options: ReplayOptions = plan.options.clone().try_into().map_err(bad)?;
    if options.summary.is_some() {
        return Ok(true);
    }
    let Some(summary) = look_through(&options)? else { return Ok(false) };
    options.summary = Some(summary);
    plan.options = settings(&options);
    Ok(true)
}

/// Reads a recording to its end, with a line that says how far it is; nothing when somebody asked to stop.
pub(crate) fn look_through(options: &ReplayOptions) -> Result<Option<TraceSummary>, Failure> {
    interrupt::listen()?;
    if options.trace == "-" {
        return Err(Failure::Usage(
            "a recording is read more than once, so it has to be a file: likenew import trace makes one of standard input".into(),
        ));
    }
    let trace = opened(&options.trace, options.format.as_deref(), options.volume.as_deref());
    let mut looked = Looked::at(trace.map_err(Failure::Usage)?);
    let summary = TraceSummary::of(&mut looked, options.idle_max);
    looked.bar.finish_and_clear();
    if looked.stopped {
        anstream::eprintln!("Stopped before anything was measured.");
        return Ok(None);
    }
    let mut summary = summary.map_err(Failure::Usage)?;
    summary.notes = looked.trace.notes();
    summary.notes.iter().for_each(|note| anstream::eprintln!("{}: {note}.", options.trace));
    summary.digest = looked.digest();
    Ok(Some(summary))
}

/// A recording that is read to learn what it holds.
struct Looked {
    trace: Trace,
    surveyor: Surveyor,
    count: u64,
    stopped: bool,
    bar: ProgressBar,
}

impl Looked {
    fn at(trace: Trace) -> Self {
        let bar = ProgressBar::new_spinner();
        let style = "{spinner} {elapsed} gone  {msg}";
        bar.set_style(ProgressStyle::with_template(style).expect("the template is valid"));
        Self { trace, surveyor: Surveyor::default(), count: 0, stopped: false, bar }
    }

    fn digest(self) -> String {
        self.bar.finish_and_clear();
        self.surveyor.finish(self.trace.applications()).digest
    }
}

impl TraceSource for Looked {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        let Some(io) = self.trace.next_io()? else { return Ok(None) };
        self.surveyor.put(&io, self.trace.applications());
        self.count += 1;
        if self.count.is_multiple_of(GLANCE) {
            self.bar.set_message(format!("{} I/Os looked at", self.count));
            self.bar.tick();
            self.stopped = interrupt::asked();
            if self.stopped {
                return Err("somebody asked to stop".into());
            }
        }
        Ok(Some(io))
    }

    fn applications(&self) -> &[String] {
        self.trace.applications()
    }

    fn capacity(&self) -> Option<u64> {
        self.trace.capacity()
    }
}
