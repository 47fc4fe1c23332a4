//! Opens simulated drives and runs workloads on them through the real loop, like `likenew` itself.

use std::io;
use std::ops::Range;
use std::path::Path;

use anyhow::ensure;
use likenew_core::drive::Drive as _;
use likenew_core::findings::Findings;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::region::Region;
use likenew_core::segment::{Recorder, Segment, Stop};
use likenew_core::workload::{AccessPattern, Arrival, Mix, Size, Stream, Until, Workload};
use likenew_procedures::all::from_plan;
use likenew_run::run::run;
use likenew_run::runner::{End, Observer, run_procedure};
use likenew_sim::{SimDrive, Spec, catalog};

/// The drive of a quick run, because aging a large one takes too long.
pub(super) const STAND_IN: &str = "tiny-flash";

/// How thoroughly to measure.
#[derive(Clone, Copy)]
pub(super) struct Lab {
    /// Small spans and small drives: shows that everything works, not the results.
    pub(super) quick: bool,
}

impl Lab {
    /// The thorough value, or the quick one.
    pub(super) fn pick<T>(self, thorough: T, quick: T) -> T {
        if self.quick { quick } else { thorough }
    }

    /// The drive of the catalog with the shortest name that contains `part`, in the state of `query`; `None`
    /// if there is none.
    pub(super) fn open(self, part: &str, query: &str) -> anyhow::Result<Option<SimDrive>> {
        let names = catalog().iter().map(|entry| entry.name).filter(|name| name.contains(part));
        let stand_in = self.quick.then_some(STAND_IN);
        match names.min_by_key(|name| name.len()).or(stand_in) {
            Some(name) => open(name, query).map(Some),
            None => Ok(None),
        }
    }
}

/// A drive of the catalog by its full name.
pub(super) fn open(name: &str, query: &str) -> anyhow::Result<SimDrive> {
    let no_files = |_: &Path| Err(io::ErrorKind::NotFound.into());
    let drive = Spec::parse(&format!("sim:{name}?{query}"))?.open(no_files)?;
    eprintln!("  {name}?{query}");
    Ok(drive)
}

/// One stream of I/Os of one length.
#[derive(Clone)]
pub(super) struct Load {
    pub(super) op: Op,
    pub(super) random: bool,
    pub(super) block: u32,
    pub(super) depth: u32,
    pub(super) range: Range<u64>,
    pub(super) data: DataClass,
    pub(super) until: Until,
}

impl Load {
    /// The whole range once sequentially, by 1 MiB at QD1, with incompressible data.
    pub(super) fn sequential(op: Op, range: Range<u64>) -> Self {
        let until = Until::bytes(range.end - range.start);
        Self { op, random: false, block: 1 << 20, depth: 1, range, data: DataClass::Random, until }
    }

    fn stream(&self) -> Stream {
        let region = Region::bytes(self.range.clone());
        Stream {
            op: Mix::Only(self.op),
            size: Size::fixed(self.block),
            pattern: if self.random {
                AccessPattern::Random(region)
            } else {
                AccessPattern::Sequential(region)
            },
            arrival: Arrival::Closed { depth: self.depth },
            data: self.data,
        }
    }
}

/// Runs a load.
///
/// # Errors
/// It does not fit the drive, or the drive returned an error.
pub(super) fn measure(drive: &mut SimDrive, load: &Load) -> anyhow::Result<Segment> {
    measure_streams(drive, vec![load.stream()], load.until)
}

/// Runs streams side by side.
///
/// # Errors
/// The same as for [`measure`].
pub(super) fn measure_streams(
    drive: &mut SimDrive,
    streams: Vec<Stream>,
    until: Until,
) -> anyhow::Result<Segment> {
    let workload = Workload { seed: 1, ..Workload::new("reproduction", until, streams) };
    let ran = run(drive, &workload, &mut || Box::new(()))?;
    if let Some(lab_error) = ran.lab_error {
        return Err(lab_error.into());
    }
    let (stop, errors) = (ran.segment.stop, ran.segment.errors());
    ensure!(stop == Stop::Reached && errors == 0, "{workload:?} ended with {stop:?} and {errors} errors");
    Ok(ran.segment)
}

/// Runs a procedure on a drive, like `likenew` itself.
///
/// # Errors
/// The plan does not fit the drive, or the run could not be finished.
pub(super) fn ask(drive: &mut SimDrive, procedure: &str, options: toml::Table) -> anyhow::Result<Findings> {
    let plan = Plan::new(procedure, None, 1, options);
    let procedure = from_plan(&plan).map_err(anyhow::Error::msg)?;
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    match run_procedure(drive, &*procedure, &mut evidence, &mut SilentObserver)? {
        End::Complete => Ok(procedure.judge(&evidence)),
        end => anyhow::bail!("{} ended early: {end:?}", evidence.plan.procedure),
    }
}

/// An observer that does nothing.
struct SilentObserver;

impl Observer for SilentObserver {
    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn on_end(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }
}

/// Speed in MB/s (10⁶ bytes a second); NaN if nothing was measured.
pub(super) fn mb_per_s(segment: &Segment) -> f64 {
    segment.bytes_per_s().unwrap_or(f64::NAN) / 1e6
}

/// Bytes programmed over bytes written between two readings of a drive's flash counters.
pub(super) struct WriteAmplification {
    host: u64,
    flash: u64,
}

impl WriteAmplification {
    /// Starts counting.
    pub(super) fn from_now(drive: &SimDrive) -> Self {
        let counters = drive.flash_counters().expect("a simulated drive has flash counters");
        Self { host: counters.host_bytes_written, flash: counters.flash_bytes_programmed }
    }

    /// The ratio up to now.
    pub(super) fn until_now(&self, drive: &SimDrive) -> f64 {
        let now = Self::from_now(drive);
        (now.flash - self.flash) as f64 / (now.host - self.host).max(1) as f64
    }
}

/// The drive's description under this name; empty if there is none.
pub(super) fn fact(drive: &SimDrive, name: &str) -> String {
    let facts = drive.identity().facts;
    facts.into_iter().find(|(key, _)| key.starts_with(name)).map_or_else(String::new, |(_, value)| value)
}
