//! The findings of a verification: answers, the parts with their speed and damage, tables and a series.

use likenew_core::findings::{Answer, Findings, Line, Overview, Series, Shape, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_procedure_support::rows::row;
use likenew_procedure_support::series::{axis, speed};
use serde::Serialize;

use super::answers::{Conclusion, conclude};
use super::damage_summary::{Capacity, DamageSummary};
use super::workload_plan::WorkloadPlan;
use super::{VerifyOptions, wording};
use crate::site::{add_failed_ios, has_failed};

/// From the evidence, however little it is.
pub(super) fn findings(
    options: &VerifyOptions,
    workload_plan: &WorkloadPlan<'_>,
    evidence: &Evidence,
) -> Findings {
    let mut findings = Findings::default();
    if workload_plan.history.is_empty() {
        findings.summary = wording::not_begun();
        return findings;
    }
    let capacity = Capacity::from_evidence(workload_plan, evidence);
    let found = DamageSummary::collect(workload_plan);
    let has_failed = has_failed(&evidence.segments);
    let Conclusion { summary, answers, total } =
        conclude(workload_plan, evidence, &capacity, &found, has_failed);
    let unreadable = found.unreadable();
    let rows = rows(workload_plan);
    let speeds = speeds(workload_plan, &rows);
    let listed = |answer: &&Answer| match has_failed && total.bytes() == 0 {
        // The summary is about failed I/Os and what of them could not be read.
        true => answer.id == wording::CAPACITY,
        false => answer.id == wording::INTEGRITY && answer.standing != Standing::Good,
    };
    findings.overview = Overview {
        // The summary contains the first one. The other adds something only if data is damaged or in doubt, and
        // the capacity is in doubt only if an address did not answer.
        answers: answers
            .iter()
            .skip(usize::from(!has_failed))
            .filter(listed)
            .map(|answer| answer.id.clone())
            .collect(),
        table: match total.bytes() {
            0 if unreadable.bytes > 0 => Some(wording::unreadable_table(&unreadable)),
            0 => (!speeds.is_empty()).then(|| wording::speed_table(&speeds)),
            _ => Some(wording::damage_table(&total)),
        },
        series: (total.bytes() == 0 && !rows.is_empty()).then(|| "parts".into()),
        ..Overview::default()
    };
    (findings.summary, findings.answers) = (summary, answers);
    add_failed_ios(evidence, &evidence.segments, &mut findings);
    if !rows.is_empty() {
        findings.series.insert("parts".into(), picture(&rows, options.passes));
    }
    findings.tables.insert("capacity".into(), vec![row(capacity)]);
    findings.tables.insert("damage".into(), found.rows().collect());
    findings.tables.insert("slowest".into(), slowest(&rows).into_iter().map(row).collect());
    findings.tables.insert("parts".into(), rows.into_iter().map(row).collect());
    findings
}

/// A row of the table `parts`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct PartRow {
    pub(super) pass: u32,
    pub(super) part: u32,
    pub(super) op: Op,
    pub(super) offset_bytes: u64,
    pub(super) bytes_per_s: Option<f64>,
    latency_ns_p50: u64,
    latency_ns_max: u64,
    elapsed_ns: u64,
    damaged_bytes: u64,
}

/// Rows of each operation in the table `slowest`.
const SLOWEST: usize = 3;

impl PartRow {
    fn new(op: Op, pass: u32, part: u32, offset_bytes: u64, segment: &Segment) -> Self {
        let latencies = segment.latencies();
        Self {
            pass,
            part: part + 1,
            op,
            offset_bytes,
            bytes_per_s: segment.bytes_per_s(),
            latency_ns_p50: latencies.quantile(0.5).0,
            latency_ns_max: latencies.max().0,
            elapsed_ns: segment.elapsed().0,
            damaged_bytes: segment.damage.as_ref().map_or(0, |damage| damage.bytes()),
        }
    }
}

/// All parts, as they were written and read back.
pub(super) fn rows(workload_plan: &WorkloadPlan<'_>) -> Vec<PartRow> {
    let mut rows: Vec<PartRow> = [Op::Write, Op::Read]
        .into_iter()
        .flat_map(|op| {
            workload_plan.parts_of(op).map(move |(pass, part, segment)| {
                PartRow::new(op, pass, part, workload_plan.layout.part(part).start, segment)
            })
        })
        .collect();
    rows.sort_by_key(|row| (row.pass, row.op == Op::Read, row.part));
    rows
}

/// The slowest parts of each operation, the slowest first.
pub(super) fn slowest(rows: &[PartRow]) -> Vec<PartRow> {
    let of = |op| {
        let is_measured = |row: &&PartRow| row.op == op && row.bytes_per_s.is_some();
        let mut rows: Vec<PartRow> = rows.iter().filter(is_measured).cloned().collect();
        let speed = |row: &PartRow| row.bytes_per_s.unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| speed(a).total_cmp(&speed(b)));
        rows.truncate(SLOWEST);
        rows
    };
    [Op::Write, Op::Read].into_iter().flat_map(of).collect()
}

/// Mean speed of each operation over all passes, with the speed and offset of its slowest part.
pub(super) fn speeds(workload_plan: &WorkloadPlan<'_>, rows: &[PartRow]) -> Vec<(Op, f64, f64, u64)> {
    let slowest = slowest(rows);
    let of = |op| {
        let parts = || {
            workload_plan
                .parts_of(op)
                .map(|(_, _, segment)| segment)
                .filter(|segment| segment.bytes_per_s().is_some())
        };
        let bytes: u64 = parts().map(|segment| segment.bytes(op)).sum();
        let elapsed_s: f64 = parts().map(|segment| segment.elapsed().as_secs_f64()).sum();
        let slowest = slowest.iter().find(|row| row.op == op)?;
        Some((op, bytes as f64 / elapsed_s, slowest.bytes_per_s?, slowest.offset_bytes))
    };
    [Op::Write, Op::Read].into_iter().filter_map(of).collect()
}

/// Speed along the addresses, each pass a line.
pub(super) fn picture(rows: &[PartRow], passes: u32) -> Series {
    let line = |op: Op, pass: u32| {
        let points = rows.iter().filter(|row| row.op == op && row.pass == pass);
        let point = |row: &PartRow| Some([row.offset_bytes as f64, row.bytes_per_s?]);
        Line::new(wording::line_name(op, pass, passes), points.filter_map(point).collect())
    };
    // The first and the last pass show the change.
    let shown = if passes > 1 { vec![1, passes] } else { vec![1] };
    let lines = shown.into_iter().flat_map(|pass| [line(Op::Write, pass), line(Op::Read, pass)]);
    Series::new(wording::SPEED_TITLE, Shape::Line, axis("address", "bytes"), speed())
        .lines(lines.filter(|line| !line.points.is_empty()))
}
