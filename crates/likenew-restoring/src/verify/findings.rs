//! The findings of a verification: whether the capacity is real, whether data reads back as it was written, the parts with their
//! speed and damage.

use likenew_core::damage::{Damage, DamageKind, DamagedRange};
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Line, Mark, Overview, Series, Shape, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_procedure_support::rows::row;
use likenew_procedure_support::series::{axis, speed};
use serde::Serialize;

use super::VerifyOptions;
use super::damage::DamageSummary;
use super::experiment::Verification;
use super::wording::{self, Capacity, Doubt, Subject, Unreadable};
use crate::site::{add_failed_ios, has_failed, likenew, loss_of_writing};

/// Findings from the evidence, however little it is.
pub(super) fn findings(
    options: &VerifyOptions,
    verification: &Verification<'_>,
    evidence: &Evidence,
) -> Findings {
    let mut findings = Findings::default();
    if evidence.segments.is_empty() {
        findings.summary = wording::not_begun();
        return findings;
    }
    let capacity = Capacity::from_evidence(verification, evidence);
    let damage = DamageSummary::collect(verification);
    let has_failed = has_failed(&evidence.segments);
    let Conclusion { summary, answers, total } =
        conclude(verification, evidence, &capacity, &damage, has_failed);
    let unreadable = damage.unreadable();
    let rows = rows(verification);
    let speeds = speeds(verification, &rows);
    let listed = |answer: &&Answer| {
        if has_failed && total.bytes() == 0 {
            // The summary covers failed I/Os and what could not be read.
            answer.id == wording::CAPACITY
        } else {
            answer.id == wording::INTEGRITY && answer.standing != Standing::Good
        }
    };
    findings.overview = Overview {
        // The summary contains the first answer. Data integrity adds something only if data is damaged or in
        // doubt, and capacity only beside failed I/Os.
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
        series: match total.bytes() {
            0 => (!rows.is_empty()).then(|| "parts".into()),
            _ => Some("addresses".into()),
        },
        ..Overview::default()
    };
    (findings.summary, findings.answers) = (summary, answers);
    add_failed_ios(evidence, &evidence.segments, &mut findings);
    if total.bytes() > 0 {
        findings.series.insert("addresses".into(), address_map(&damage.addresses(verification), &capacity));
    }
    if !rows.is_empty() {
        findings.series.insert("parts".into(), picture(&rows, options.passes));
    }
    findings.tables.insert("capacity".into(), vec![row(capacity)]);
    findings.tables.insert("damage".into(), damage.rows().collect());
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
pub(super) fn rows(verification: &Verification<'_>) -> Vec<PartRow> {
    let mut rows: Vec<PartRow> = [Op::Write, Op::Read]
        .into_iter()
        .flat_map(|op| {
            verification.parts_of(op).map(move |(pass, part, segment)| {
                PartRow::new(op, pass, part, verification.layout.part(part).start, segment)
            })
        })
        .collect();
    rows.sort_by_key(|row| (row.pass, row.op == Op::Read, row.part));
    rows
}

/// The slowest parts of each operation, the slowest first.
pub(super) fn slowest(rows: &[PartRow]) -> Vec<PartRow> {
    let slowest_of = |op| {
        let is_measured = |row: &&PartRow| row.op == op && row.bytes_per_s.is_some();
        let mut rows: Vec<PartRow> = rows.iter().filter(is_measured).cloned().collect();
        let speed = |row: &PartRow| row.bytes_per_s.unwrap_or(f64::INFINITY);
        rows.sort_by(|a, b| speed(a).total_cmp(&speed(b)));
        rows.truncate(SLOWEST);
        rows
    };
    [Op::Write, Op::Read].into_iter().flat_map(slowest_of).collect()
}

/// Mean speed of each operation over all passes, with the speed and offset of its slowest part.
pub(super) fn speeds(verification: &Verification<'_>, rows: &[PartRow]) -> Vec<(Op, f64, f64, u64)> {
    let slowest = slowest(rows);
    let speed_of = |op| {
        let slowest = slowest.iter().find(|row| row.op == op)?;
        let (bytes, elapsed_s) = moved(verification, op);
        Some((op, bytes as f64 / elapsed_s, slowest.bytes_per_s?, slowest.offset_bytes))
    };
    [Op::Write, Op::Read].into_iter().filter_map(speed_of).collect()
}

/// Bytes that all parts have moved, and the seconds that it took, where that is known.
fn moved(verification: &Verification<'_>, op: Op) -> (u64, f64) {
    let parts = verification.parts_of(op).map(|(_, _, segment)| segment);
    parts.filter(|segment| segment.bytes_per_s().is_some()).fold((0, 0.0), |(moved, elapsed), segment| {
        (moved + segment.bytes(op), elapsed + segment.elapsed().as_secs_f64())
    })
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

/// For each address read, the address that its content was written for.
fn address_map(contents: &[(Option<DamageKind>, Vec<[f64; 2]>)], capacity: &Capacity) -> Series {
    let lines = contents.iter().map(|(kind, points)| Line::new(wording::content_name(*kind), points.clone()));
    let limit = capacity.holds_at_most_bytes;
    let mark = limit.map(|most| Mark { x: most as f64, label: wording::REAL_CAPACITY.into() });
    let (x, y) = (axis(wording::READ_AXIS, "bytes"), axis(wording::WRITTEN_AXIS, "bytes"));
    Series::new(wording::ADDRESSES_TITLE, Shape::Scatter, x, y).lines(lines).marks(mark)
}

/// The headline, and every answer, most important first.
pub(super) struct Conclusion {
    pub(super) summary: String,
    pub(super) answers: Vec<Answer>,
    /// All damage, each byte once.
    pub(super) total: Damage,
}

/// The subject and the evidence of a verification.
struct Case<'a> {
    verification: &'a Verification<'a>,
    evidence: &'a Evidence,
    capacity: &'a Capacity,
    total: Damage,
    first: Option<&'a DamagedRange>,
    unreadable: Unreadable,
    subject: Subject,
    /// The capacity that the subject reports.
    claimed: u64,
    /// Whether I/Os failed because of the medium, which is the headline.
    has_failed: bool,
}

/// From everything that was found.
pub(super) fn conclude(
    verification: &Verification<'_>,
    evidence: &Evidence,
    capacity: &Capacity,
    damage: &DamageSummary,
    has_failed: bool,
) -> Conclusion {
    let layout = &verification.layout;
    let mut total = damage.total();
    if let Some((_, last)) = damage.passes.last().filter(|(_, last)| layout.is_folder && last.bytes() > 0) {
        // In a folder each byte counts once, and a spot check has read some of them before.
        total = last.clone();
    }
    let (subject, claimed) = match evidence.identity.kind {
        TargetKind::Folder => (Subject::Folder, layout.span),
        _ if layout.span == evidence.geometry.capacity => (Subject::Drive, layout.span),
        _ => (Subject::Beginning, evidence.geometry.capacity),
    };
    let case = Case {
        verification,
        evidence,
        capacity,
        total,
        first: damage.first(),
        unreadable: damage.unreadable(),
        subject,
        claimed,
        has_failed,
    };
    let (summary, answers) = if case.total.bytes() > 0 { case.with_damage() } else { case.without_damage() };
    Conclusion { summary, answers, total: case.total }
}

impl Case<'_> {
    fn with_damage(&self) -> (String, Vec<Answer>) {
        let (damage_summary, integrity) =
            wording::damaged(self.subject, self.verification.layout.span, &self.total, self.first);
        match self.counterfeit_limit() {
            Some(most) => {
                let (summary, capacity) =
                    wording::counterfeit(self.subject, self.claimed, self.capacity, most);
                (summary, vec![self.ended_early(capacity), integrity])
            }
            None => {
                let capacity = wording::capacity_unexplained(self.subject);
                let integrity = self.advise_repair(integrity);
                let integrity = wording::with_unreadable(integrity, &self.unreadable, self.block());
                (damage_summary, vec![self.ended_early(integrity), capacity])
            }
        }
    }

    fn without_damage(&self) -> (String, Vec<Answer>) {
        let intact = self.intact();
        let (summary, capacity) = match self.capacity_doubt() {
            Some(doubt) => {
                let (summary, answer) = if self.has_failed {
                    wording::capacity_beside_failures(self.claimed, intact, &self.unreadable)
                } else {
                    wording::capacity_unproven(doubt, self.claimed, intact)
                };
                (summary, self.advise_more(answer, doubt))
            }
            None => {
                let read_only = self.verification.layout.options.read_only;
                wording::holds_all(self.subject, self.claimed, read_only)
            }
        };
        if intact == 0 && self.unreadable.bytes == 0 {
            return (wording::nothing_read_back(), vec![capacity, wording::integrity_unread()]);
        }
        let integrity = match self.integrity_doubt() {
            _ if self.unreadable.bytes > 0 => wording::unreadable(intact, &self.unreadable, self.block()),
            Some(doubt) => wording::intact_with_doubt(intact, doubt),
            None => wording::intact(intact),
        };
        (summary, vec![capacity, integrity])
    }

    /// The size at which addresses wrap around or storage ends; scattered damage gives none.
    fn counterfeit_limit(&self) -> Option<u64> {
        let most = self.capacity.holds_at_most_bytes?;
        let ends_there = self.first.is_some_and(|first| first.from >= most);
        (self.capacity.wraps_at_bytes.is_some() || ends_there).then_some(most)
    }

    fn ended_early(&self, answer: Answer) -> Answer {
        let plan = self.verification;
        let read_all = plan.last_part_read().is_some_and(|part| part + 1 == plan.layout.parts());
        if !plan.is_complete || read_all {
            return answer;
        }
        let segments = self.evidence.segments.iter();
        let ios = segments.map(|segment| segment.ios(Op::Read) + segment.ios(Op::Write)).sum();
        wording::ended_early(answer, ios)
    }

    /// Bytes that read back as written, each once; before any pass was read, at most as many as were written.
    fn intact(&self) -> u64 {
        if self.verification.reads().next().is_some() {
            return self.capacity.intact_bytes;
        }
        let written = self.evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
        (self.total.checked_bytes - self.total.bytes()).min(written)
    }

    /// Bytes of a read.
    fn block(&self) -> u64 {
        self.verification.layout.options.block
    }

    /// Adds what to do about damage. A simulated drive has no cable to change.
    fn advise_repair(&self, answer: Answer) -> Answer {
        let answer = answer.action(wording::copy_first());
        if self.evidence.identity.kind == TargetKind::Simulated {
            return answer;
        }
        let command = likenew("verify", self.evidence, "");
        answer.action(wording::change_cable(command, loss_of_writing(self.evidence)))
    }

    fn advise_more(&self, answer: Answer, doubt: Doubt) -> Answer {
        let (evidence, capacity) = (self.evidence, self.evidence.geometry.capacity);
        let loses = loss_of_writing(evidence);
        let time = self.time_of_all(capacity);
        let is_folder = self.subject == Subject::Folder;
        match doubt {
            Doubt::ProbesOnly | Doubt::PartOnly { .. } => {
                answer.action(wording::verify_all(likenew("verify", evidence, ""), capacity, time, loses))
            }
            Doubt::DriveCache { cache, .. } if !is_folder && capacity >= cache => {
                answer.action(wording::exceed_cache(likenew("verify", evidence, ""), capacity, time, loses))
            }
            _ => answer,
        }
    }

    /// How long writing and reading back so many bytes takes, at the speed of the parts of this run.
    fn time_of_all(&self, bytes: u64) -> Option<Nanos> {
        let seconds = |op: Op| {
            let (moved, elapsed) = moved(self.verification, op);
            (moved > 0).then(|| bytes as f64 * elapsed / moved as f64)
        };
        Some(Nanos::from_secs_f64(seconds(Op::Write)? + seconds(Op::Read)?))
    }

    /// Why a drive without damage may still not hold everything.
    fn capacity_doubt(&self) -> Option<Doubt> {
        let (plan, layout) = (self.verification, &self.verification.layout);
        if !plan.is_complete || plan.reads().next().is_none() {
            return Some(if layout.options.quick { Doubt::ProbesOnly } else { Doubt::Unfinished });
        }
        let part = Doubt::PartOnly { span: layout.span, capacity: self.evidence.geometry.capacity };
        self.unread().or((self.subject == Subject::Beginning).then_some(part)).or_else(|| self.memory())
    }

    /// Why the data compared may not come from the medium.
    fn integrity_doubt(&self) -> Option<Doubt> {
        let is_unfinished = !self.verification.is_complete && !self.verification.layout.options.quick;
        self.memory().or(is_unfinished.then_some(Doubt::Unfinished)).or_else(|| self.unread())
    }

    /// Doubt about data that could not be read, and so was not compared.
    fn unread(&self) -> Option<Doubt> {
        let plan = self.verification;
        let expected: u64 = plan
            .reads()
            .map(|(_, part, _)| {
                let range = plan.layout.part(part);
                range.end - range.start
            })
            .sum();
        let damage = plan.reads().filter_map(|(_, _, segment)| segment.damage.as_ref());
        let compared: u64 = damage.map(|damage| damage.checked_bytes).sum();
        (compared < expected).then(|| Doubt::Unread { bytes: expected - compared })
    }

    /// Why the data may have come from a cache instead of the medium.
    fn memory(&self) -> Option<Doubt> {
        if self.evidence.geometry.clock == Clock::Virtual {
            return None;
        }
        // If direct I/O is refused, a caveat of the target says so.
        if self.evidence.identity.caveats.iter().any(|caveat| caveat.contains(wording::THROUGH_PAGE_CACHE)) {
            return Some(Doubt::PageCache);
        }
        let layout = &self.verification.layout;
        let (span, cache) = (layout.span, layout.options.cache);
        let rereads = self.verification.reads().next().is_some();
        (span < cache && !layout.options.read_only && rereads).then_some(Doubt::DriveCache { span, cache })
    }
}
