//! Speed along the address space, access time by distance, and what the drive's own memory gives: a map of a drive.

mod access;
mod burst;
mod curve;
mod ends;
mod pictures;
mod seek_profile;
mod slow_regions;
mod surface_options;
mod tracks;

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::drive::Kind;
use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount, rate};
use likenew_core::until::Until;
use likenew_core::verdict::{Findings, Standing, Verdict};
use likenew_core::workload::{Stream, Workload};

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use crate::workloads::prepare;
use access::Access;
use curve::Curve;
use ends::Ends;
use slow_regions::{SlowRegions, suspects};
use surface_options::SPAN_OF_FOLDER;
pub use surface_options::SurfaceOptions;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "surface",
    question: "How fast is it along its addresses, and how long does it take from one to another?",
    writes: "reads only, with --op read; in a folder it writes own files first, which it then reads",
    manual: include_str!("surface.md"),
};

/// The names of workloads: what was measured is found by them.
const PROBES: &str = "probes";
const SMALL: &str = "small, from memory";
const BURST: &str = "burst";
/// The probes may take so many times as long as a point.
const PROBES_TIMES: u64 = 10;
/// Bytes of the burst, and of one I/O of it; in flight at once.
const BURST_BYTES: u64 = 64 << 20;
const BURST_BLOCK: u64 = 128 << 10;
const BURST_DEPTH: u32 = 4;
/// Times that one small block is moved from the drive's memory.
const SMALL_IOS: u64 = 200;

/// The procedure.
pub struct Surface {
    options: SurfaceOptions,
}

impl Surface {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("surface", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: SurfaceOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }

    /// The workload after so many, if there is one.
    fn workload(&self, evidence: &Evidence, done: usize) -> Result<Option<Workload>, String> {
        let span = self.options.span_on(&evidence.geometry)?;
        let prepared = preparation_runs(evidence);
        if done < prepared {
            return Ok(Some(prepare(span, span, self.options.data)));
        }
        let done = done - prepared;
        if done < self.options.points as usize {
            return Ok(Some(self.point(done, span)));
        }
        let mut rest = self.retests(evidence, span, 1);
        if self.options.probes > 0 {
            rest.push(self.probes(span));
        }
        if self.options.burst > 0 {
            rest.push(self.small());
            rest.push(self.burst());
        }
        // The second retest comes last, so that no memory of the drive still has what the first one brought.
        rest.extend(self.retests(evidence, span, 2));
        Ok(rest.into_iter().nth(done - self.options.points as usize))
    }

    fn point(&self, index: usize, span: u64) -> Workload {
        let range = self.options.range(index, span);
        let elapsed = (!self.options.whole).then_some(self.options.time);
        let until = Until { elapsed, bytes: Some(range.end - range.start), ops: None };
        self.in_sequence(point_name(index + 1), range, until)
    }

    fn retests(&self, evidence: &Evidence, span: u64, round: u32) -> Vec<Workload> {
        if round > self.options.retests {
            return Vec::new();
        }
        let curve = self.curve(evidence, span);
        let suspects = suspects(&curve, &self.options).into_iter();
        let retests = suspects.map(|suspect| {
            let range = suspect.retest.clone();
            let until =
                Until { elapsed: Some(self.options.time), bytes: Some(range.end - range.start), ops: None };
            self.in_sequence(retest_name(suspect.point, round), range, until)
        });
        retests.collect()
    }

    /// The first I/O is kept, as its end parts the way there from the transfer.
    fn in_sequence(&self, name: String, range: Range<u64>, until: Until) -> Workload {
        let SurfaceOptions { op, block, depth, data, .. } = self.options;
        let stream =
            Stream::closed(op, block as u32, AccessPattern::Sequential(Region::bytes(range)), depth, data);
        Workload { samples: 1, ..Workload::new(name, until, vec![stream]) }
    }

    fn probes(&self, span: u64) -> Workload {
        let SurfaceOptions { op, probes, probe_block, data, .. } = self.options;
        let time = Nanos(self.options.time.0 * PROBES_TIMES);
        let until = Until { elapsed: Some(time), ..Until::ops(u64::from(probes)) };
        let place = AccessPattern::Random(Region::bytes(0..span));
        let stream = Stream::closed(op, probe_block as u32, place, 1, data);
        Workload { samples: probes, ..Workload::new(PROBES, until, vec![stream]) }
    }

    fn small(&self) -> Workload {
        let SurfaceOptions { op, probe_block, data, time, .. } = self.options;
        let place = AccessPattern::Sequential(Region::bytes(0..probe_block));
        let until = Until { elapsed: Some(time), ..Until::ops(SMALL_IOS) };
        Workload::new(SMALL, until, vec![Stream::closed(op, probe_block as u32, place, 1, data)])
    }

    fn burst(&self) -> Workload {
        let SurfaceOptions { op, burst, data, time, .. } = self.options;
        let place = AccessPattern::Sequential(Region::bytes(0..burst));
        let until = Until { elapsed: Some(time), ..Until::bytes(BURST_BYTES) };
        let block = BURST_BLOCK.min(burst) as u32;
        Workload::new(BURST, until, vec![Stream::closed(op, block, place, BURST_DEPTH, data)])
    }

    fn curve<'a>(&self, evidence: &'a Evidence, span: u64) -> Curve<'a> {
        let points =
            evidence.segments.iter().skip(preparation_runs(evidence)).take(self.options.points as usize);
        Curve::new(
            points.enumerate().map(|(index, segment)| (self.options.range(index, span), segment)),
            span,
        )
    }
}

fn point_name(point: usize) -> String {
    format!("point {point}")
}

fn retest_name(point: usize, round: u32) -> String {
    format!("point {point} again {round}")
}

/// Own files have to be written before they can be read; the data of any other target is what is asked about.
fn preparation_runs(evidence: &Evidence) -> usize {
    usize::from(evidence.identity.kind == Kind::Folder)
}

/// What was measured under a name.
fn segment_named<'a>(evidence: &'a Evidence, name: &str) -> Option<&'a Segment> {
    evidence.segments.iter().find(|segment| segment.workload.name == name)
}

impl Procedure for Surface {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(SPAN_OF_FOLDER) }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if self.options.op.writes() && !evidence.geometry.writable {
            return Err(
                "it would write, and this target may only be read: add --op read, or give a folder".into()
            );
        }
        let done = evidence.segments.len();
        let next = self.workload(evidence, done)?;
        Ok(next.map_or(Step::Done, |workload| {
            Step::Run(Workload { seed: evidence.plan.seed_of(done), ..workload })
        }))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let mut findings = Findings::default();
        let Ok(span) = self.options.span_on(&evidence.geometry) else { return findings };
        let curve = self.curve(evidence, span);
        let access = segment_named(evidence, PROBES)
            .and_then(|probes| Access::new(probes, segment_named(evidence, SMALL), &curve, self.options.op));
        let weak = SlowRegions::new(&curve, &self.options, evidence);
        let ends = Ends::new(&curve, weak.points());
        let burst = segment_named(evidence, BURST).filter(|burst| burst.total().bytes > 0);
        findings.verdicts.extend(self.summary(evidence, &curve, access.as_ref(), span));
        findings.verdicts.extend(weak.verdicts());
        let is_disk = access.as_ref().is_some_and(Access::is_disk);
        findings.verdicts.extend(ends.iter().flat_map(|ends| ends.verdicts(self.options.op, is_disk)));
        findings.verdicts.extend(access.iter().flat_map(Access::verdicts));
        findings.verdicts.extend(burst.and_then(|burst| burst::verdict(burst, &curve, &self.options)));
        findings.verdicts.extend(refusals(&evidence.segments));
        let mut metrics: Vec<_> = access.iter().flat_map(Access::metrics).collect();
        metrics.extend(burst.and_then(burst::metric));
        findings.tables.insert("access".into(), metrics.iter().map(row).collect());
        findings.tables.insert("zones".into(), ends.iter().flat_map(Ends::zones).map(row).collect());
        findings.tables.insert("slow_regions".into(), weak.rows().map(row).collect());
        findings.tables.insert("curve".into(), curve.rows().map(row).collect());
        if !curve.points.is_empty() {
            findings.series.insert("curve".into(), pictures::curve(&curve, &weak, self.options.op));
        }
        if let Some(access) = &access {
            findings.series.insert("access_by_distance".into(), pictures::by_distance(access));
            findings.series.insert("access_by_offset".into(), pictures::by_offset(access, &weak));
        }
        findings
    }
}

impl Surface {
    /// The sentence that a reader takes away.
    fn summary(
        &self,
        evidence: &Evidence,
        curve: &Curve<'_>,
        access: Option<&Access>,
        span: u64,
    ) -> Option<Verdict> {
        let speeds = curve.summary()?;
        let word = if self.options.op == Mix::Only(Op::Write) { "writes" } else { "reads" };
        let access = access.map_or(String::new(), |access| {
            format!("; an access takes {} on average", Nanos(access.mean_ns as u64))
        });
        let claim = format!(
            "It {word} at {} on average along its addresses, {} at the slowest and {} at the fastest{access}.",
            rate(speeds.mean),
            rate(speeds.slowest),
            rate(speeds.fastest)
        );
        let read: u64 = curve.points.iter().map(|point| point.segment.total().bytes).sum();
        let percent = read as f64 / span as f64 * 100.0;
        let count = curve.points.len();
        let mut verdict = Verdict::new(claim, Standing::Holds)
            .with_evidence(format!("{count} points over {} of addresses, each measured once", amount(span)));
        if let Some(interval) = speeds.interval {
            verdict = verdict.estimate(speeds.mean, interval.low, interval.high, "bytes/s");
        }
        if percent < 99.0 {
            verdict = verdict.caveat(format!(
                "{} of the addresses were measured, {}: what lies between the points was not; --whole leaves nothing out",
                share(percent),
                amount(read)
            ));
        }
        if matches!(evidence.identity.kind, Kind::Folder | Kind::File) {
            verdict = verdict.caveat(
                "the addresses are those of a file: where they lie on the drive, the file system has decided",
            );
        }
        Some(verdict)
    }
}

/// A percentage with two digits or more.
fn share(percent: f64) -> String {
    if percent < 9.95 { format!("{percent:.2} %") } else { format!("{percent:.0} %") }
}
