//! Block size × queue depth × operation × order of addresses × data, as a matrix, and what it says.

mod blocks;
mod cell;
mod coverage;
mod depths;
mod drift;
mod peaks;
mod pictures;
mod preset;
mod ratios;
mod results;
mod rounds;
mod schedule;
mod sweep_options;

use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::units::amount;
use likenew_core::verdict::Findings;

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use results::Matrix;
use schedule::Schedule;

pub use preset::Preset;
pub use sweep_options::{Block, Order, SPAN_STEP, SweepOptions};

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "sweep",
    question: "How do block size, queue depth, operation, order and data decide the speed?",
    writes: "writes its span once for each class of data, then at most its bytes for each pass of each writing cell; only own files in a folder",
    manual: include_str!("sweep.md"),
};

/// The name of the workload that writes the span beforehand.
const PREPARE: &str = "prepare";
/// Less than this is no difference that anybody chooses a block or a depth for.
const DIFFERENCE: f64 = 0.05;
/// What would decide what the passes do not.
const MORE_PASSES: &str = "more passes would decide it: give --passes 10 or --precise 2%";

/// The procedure.
pub struct Sweep {
    options: SweepOptions,
}

impl Sweep {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("sweep", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: SweepOptions) -> Result<Self, String> {
        Ok(Self { options: options.validate()? })
    }

    fn check(&self, evidence: &Evidence) -> Result<(), String> {
        let geometry = &evidence.geometry;
        if self.options.span > geometry.capacity {
            let (span, capacity) = (amount(self.options.span), amount(geometry.capacity));
            return Err(format!(
                "a span of {span} is more than the {capacity} there are; give a smaller --span"
            ));
        }
        if !geometry.writable && self.options.ops.iter().any(|op| op.writes()) {
            return Err(
                "it would write, and this target may only be read: add --op read, or give a folder".into()
            );
        }
        if !geometry.writable && self.options.data.len() > 1 {
            return Err(
                "this target may only be read, so that several classes of --data are all the same: name one"
                    .into(),
            );
        }
        Ok(())
    }
}

impl Procedure for Sweep {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        self.check(evidence)?;
        let schedule = Schedule::new(&self.options, &evidence.geometry);
        if schedule.forms.is_empty() {
            return Err(format!(
                "none of these blocks and depths can be measured here: {}",
                schedule.skips.join("; ")
            ));
        }
        Ok(schedule.next(evidence).map_or(Step::Done, Step::Run))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let schedule = Schedule::new(&self.options, &evidence.geometry);
        let matrix = Matrix::from_evidence(&self.options, &schedule, evidence);
        let mut findings = Findings::default();
        if !matrix.cells.is_empty() {
            findings.verdicts.extend(peaks::peaks(&matrix));
            findings.verdicts.extend(blocks::sufficient(&matrix));
            findings.verdicts.extend(blocks::growth(&matrix));
            findings.verdicts.extend(depths::gains(&matrix));
            findings.verdicts.extend(ratios::comparisons(&matrix));
            findings.verdicts.push(depths::fullness_verdict(&matrix));
            findings.verdicts.extend(drift::drift(&matrix));
        }
        findings.verdicts.extend(refusals(&evidence.segments));
        findings.verdicts.extend(coverage::precision(&matrix));
        findings.verdicts.extend(coverage::complete(&matrix, &schedule));
        findings.tables.insert("matrix".into(), matrix.cells.iter().map(|cell| row(cell.row())).collect());
        findings.tables.insert("depths".into(), depths::table(&matrix).into_iter().map(row).collect());
        findings.tables.insert("ratios".into(), ratios::table(&matrix).into_iter().map(row).collect());
        findings.tables.insert("mixes".into(), matrix.mixes().into_iter().map(row).collect());
        findings.tables.retain(|name, rows| name == "matrix" || !rows.is_empty());
        findings.tables.insert("passes".into(), matrix.passes().map(row).collect());
        findings.series.extend(pictures::pictures(&matrix));
        findings
    }
}
