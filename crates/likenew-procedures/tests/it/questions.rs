//! Every procedure with options that make it short, asked of a small simulated drive.

use std::io;
use std::path::Path;

use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::findings::Findings;
use likenew_core::io::Op;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Evidence, Plan};
use likenew_core::segment::{Recorder, Segment};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::trace::{ReplaySpec, TraceIo, TraceSource};
use likenew_core::units::Nanos;
use likenew_core::workload::Access;
use likenew_procedures::all;
use likenew_run::runner::{Observer, run_procedure};
use likenew_sim::Spec;

/// A drive whose lanes are wrapped by others.
struct WrappedDrive<D, W> {
    drive: D,
    wrap: W,
}

impl<D: Drive, W: for<'a> Fn(Lane<'a>) -> Lane<'a>> Drive for WrappedDrive<D, W> {
    fn identity(&self) -> Identity {
        self.drive.identity()
    }

    fn geometry(&self) -> Geometry {
        self.drive.geometry()
    }

    fn lanes_max(&self) -> u32 {
        self.drive.lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        Ok(self.drive.lanes(need)?.into_iter().map(&self.wrap).collect())
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
        self.drive.prepare_access(access, cold)
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, TargetError> {
        self.drive.probe(probe)
    }
}

/// Keeps nothing of a run, and provides a short trace.
pub(crate) struct Bystander;

impl Observer for Bystander {
    fn recorder(&mut self) -> Box<dyn Recorder + Send> {
        Box::new(())
    }

    fn on_end(&mut self, _: &Segment) -> Result<(), String> {
        Ok(())
    }

    fn trace(&mut self, _: &ReplaySpec) -> Result<Box<dyn TraceSource>, String> {
        Ok(Box::new(Recording { next: 0, applications: vec![String::new()] }))
    }
}

/// Reads and writes in turn, one per millisecond.
struct Recording {
    next: u64,
    applications: Vec<String>,
}

impl TraceSource for Recording {
    fn next_io(&mut self) -> Result<Option<TraceIo>, String> {
        let index = self.next;
        self.next += 1;
        Ok((index < 40).then(|| TraceIo {
            at: Nanos::from_millis(index),
            op: if index.is_multiple_of(2) { Op::Read } else { Op::Write },
            offset: index * 65_536,
            length: 4096,
            latency: Some(Nanos::from_micros(200)),
            application: 0,
        }))
    }

    fn applications(&self) -> &[String] {
        &self.applications
    }
}

/// A procedure with options that make it short. Some have fewer I/Os than would end a run, so it continues
/// after them.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) procedure: &'static str,
    pub(crate) options: &'static str,
}

/// 40 I/Os of [`Recording`], with the survey of it.
const REPLAY: &str = "trace = 'day.csv'
prepare = false
[summary]
digest = 'd'
reads = 20
writes = 20
trims = 0
flushes = 0
read_bytes = '80KiB'
written_bytes = '80KiB'
longest_bytes = '4KiB'
extent_bytes = '4MiB'
ends = 40
elapsed = '40ms'
idle_cut = '0s'
pauses = '0s'
notes = []
applications = []";

pub(crate) const QUESTIONS: &[Question] = &[
    Question { procedure: "check", options: "bytes = '128MiB'" },
    Question { procedure: "recondition", options: "free = '512MiB..1GiB'\nidle = '1s'\nstep = 'overwrite'" },
    Question { procedure: "bench", options: "span = '8MiB'\npasses = 2\ntime = '50ms'" },
    Question { procedure: "bench", options: "span = '16MiB'\npasses = 2\ntime = '50ms'\nops = ['mix:50']" },
    Question { procedure: "bench", options: "span = '8MiB'\nprecise = '2%'\npasses_max = 6\ntime = '50ms'" },
    Question {
        procedure: "sweep",
        options: "span = '8MiB'\nbytes = '1MiB'\npasses = 2\nblocks = ['64KiB', '1MiB']\ndepths = [1, 4]",
    },
    Question {
        procedure: "sweep",
        options: "span = '8MiB'\nbytes = '1MiB'\npasses = 2\nops = ['mix:50']\nblocks = ['64KiB']\ndepths = [1]",
    },
    Question { procedure: "suits", options: "span = '8MiB'\npasses = 2\nwriters = 2\ntime = '50ms'" },
    Question { procedure: "surface", options: "points = 20\nprobes = 40" },
    Question { procedure: "fill", options: "files = 4\nfile_size = '8MiB'\npasses = '2'\nread_back = true" },
    Question {
        procedure: "endure",
        options: "test = 'loop'\nprofile = 'real'\nfile_size = '8MiB'\nfills = 0.1",
    },
    Question {
        procedure: "endure",
        options: "test = 'snia-throughput'\nspan = '64MiB'\nround = '20ms'\nrounds = 5",
    },
    Question { procedure: "age", options: "random_span = '16MiB'\npasses = 1\nbytes = '64MiB'" },
    Question {
        procedure: "data",
        options: "steps = 3\nspan = '48MiB'\npasses = 2\ntests = [{ pattern = 'sequential', block = '1MiB', depth = 8 }]",
    },
    Question { procedure: "cache", options: "span = '16MiB'\npasses = 2" },
    Question { procedure: "trim", options: "bytes = '4MiB'\nspan = '64MiB'\npasses = 2\ntime = '200ms'" },
    Question { procedure: "model", options: "bytes = '64MiB'" },
    Question { procedure: "replay", options: REPLAY },
    Question {
        procedure: "apps",
        options: "applications = ['word']\nspan = '64MiB'\nscale = 0.1\npasses = 1",
    },
    Question { procedure: "xray", options: "only = ['noise', 'medium', 'trim']" },
    Question { procedure: "xray", options: "bytes = '256MiB'" },
    Question { procedure: "verify", options: "span = '16MiB'" },
    Question { procedure: "facts", options: "" },
    Question {
        procedure: "run",
        options: "[[workload]]\nname = 'mixed'\nuntil.ops = 60\nstream = [{ op = 'mix:50', size = '64KiB', pattern.random = 'whole', arrival.closed.depth = 2 }]\n[[workload]]\nname = 'reads'\nuntil.ops = 60\nstream = [{ op = 'read', size = '64KiB', pattern.random = 'whole', arrival.closed.depth = 2 }]\n[[workload]]\nname = 'writes'\nuntil.ops = 60\nstream = [{ op = 'write', size = '64KiB', pattern.random = 'whole', arrival.closed.depth = 2 }]",
    },
];

impl Question {
    /// Runs the procedure, as far as that goes, on a drive of 1 GiB that is half full and whose lanes are wrapped.
    pub(crate) fn ask(&self, wrap: impl for<'a> Fn(Lane<'a>) -> Lane<'a>) -> (Evidence, Findings) {
        let spec = Spec::parse("sim:tiny-flash?fill=0.5").unwrap();
        let none = |_: &Path| Err(io::ErrorKind::NotFound.into());
        let mut drive = WrappedDrive { drive: spec.open(none).unwrap(), wrap };
        let plan = Plan::new(self.procedure, None, 0, toml::from_str(self.options).unwrap());
        let procedure = all::from_plan(&plan).unwrap_or_else(|reason| panic!("{self:?}: {reason}"));
        let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
        let ended = run_procedure(&mut drive, &*procedure, &mut evidence, &mut Bystander);
        ended.unwrap_or_else(|reason| panic!("{self:?}: {reason}"));
        let findings = all::judge(&*procedure, &evidence);
        (evidence, findings)
    }
}
