//! The findings of a verification: whether the capacity is real, whether data reads back as it was written, what was wrong and
//! where, the parts with their speed and damage.
//!
//! Addresses in a file do not show where those of the device wrap around, because pieces of a file may lie
//! anywhere on it. Where the file system put the files does.

use std::ops::Range;

use likenew_core::damage::{Damage, DamageKind, DamagedRange};
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Line, Mark, Overview, Row, Series, Shape, Standing};
use likenew_core::io::Op;
use likenew_core::probe::ExtentMap;
use likenew_core::procedure::Evidence;
use likenew_core::row;
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_procedure_support::rows::row;
use likenew_procedure_support::series::{axis, speed};
use serde::Serialize;

use super::VerifyOptions;
use super::experiment::{ProbeSummary, Verification, divisor, wraps_at};
use super::wording::{self, Capacity, DeviceWrap, Doubt, Subject, Unreadable};
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
    let case = Case::new(verification, evidence, &capacity, &damage);
    let (summary, answers) = case.conclude();
    let Case { total, unreadable, has_failed, .. } = &case;
    let rows = rows(verification);
    let speeds = speeds(verification, &rows);
    let listed = |answer: &&Answer| {
        if *has_failed && total.bytes() == 0 {
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
            .skip(usize::from(!*has_failed))
            .filter(listed)
            .map(|answer| answer.id.clone())
            .collect(),
        table: match total.bytes() {
            0 if unreadable.bytes > 0 => Some(wording::unreadable_table(unreadable)),
            0 => (!speeds.is_empty()).then(|| wording::speed_table(&speeds)),
            _ => Some(wording::damage_table(total)),
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
    findings.tables.insert("capacity".into(), vec![row(&capacity)]);
    findings.tables.insert("damage".into(), damage.rows().collect());
    findings.tables.insert("slowest".into(), slowest(&rows).into_iter().map(row).collect());
    findings.tables.insert("parts".into(), rows.into_iter().map(row).collect());
    findings
}

/// A row of the table `parts`.
#[derive(Clone, Debug, Serialize)]
struct PartRow {
    pass: u32,
    part: u32,
    op: Op,
    offset_bytes: u64,
    bytes_per_s: Option<f64>,
    latency_ns_p50: u64,
    latency_ns_max: u64,
    elapsed_ns: u64,
    damaged_bytes: u64,
}

/// Rows of each operation in the table `slowest`.
const SLOWEST: usize = 3;

/// All parts, as they were written and read back.
fn rows(verification: &Verification<'_>) -> Vec<PartRow> {
    let to_row = |(op, pass, part, segment): (Op, u32, u32, &Segment)| {
        let latencies = segment.latencies();
        PartRow {
            pass,
            part: part + 1,
            op,
            offset_bytes: verification.layout.part(part).start,
            bytes_per_s: segment.bytes_per_s(),
            latency_ns_p50: latencies.quantile(0.5).0,
            latency_ns_max: latencies.max().0,
            elapsed_ns: segment.elapsed().0,
            damaged_bytes: segment.damage.as_ref().map_or(0, |damage| damage.bytes()),
        }
    };
    let mut rows: Vec<PartRow> = verification.parts.iter().copied().map(to_row).collect();
    rows.sort_by_key(|row| (row.pass, row.op == Op::Read, row.part));
    rows
}

/// The slowest parts of each operation, the slowest first.
fn slowest(rows: &[PartRow]) -> Vec<PartRow> {
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
fn speeds(verification: &Verification<'_>, rows: &[PartRow]) -> Vec<(Op, f64, f64, u64)> {
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
fn picture(rows: &[PartRow], passes: u32) -> Series {
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

/// The subject and the evidence of a verification.
struct Case<'a> {
    verification: &'a Verification<'a>,
    evidence: &'a Evidence,
    capacity: &'a Capacity,
    /// All damage, each byte once.
    total: Damage,
    first: Option<&'a DamagedRange>,
    unreadable: Unreadable,
    subject: Subject,
    /// The capacity that the subject reports.
    claimed: u64,
    /// Whether I/Os failed because of the medium, which is the headline.
    has_failed: bool,
}

impl<'a> Case<'a> {
    /// From everything that was found.
    fn new(
        verification: &'a Verification<'a>,
        evidence: &'a Evidence,
        capacity: &'a Capacity,
        damage: &'a DamageSummary,
    ) -> Self {
        let layout = &verification.layout;
        let mut total = damage.total();
        if let Some((_, last)) = damage.passes.last().filter(|(_, last)| layout.is_folder && last.bytes() > 0)
        {
            // In a folder each byte counts once, and a spot check has read some of them before.
            total = last.clone();
        }
        let (subject, claimed) = match evidence.identity.kind {
            TargetKind::Folder => (Subject::Folder, layout.span),
            _ if layout.span == evidence.geometry.capacity => (Subject::Drive, layout.span),
            _ => (Subject::Beginning, evidence.geometry.capacity),
        };
        let (first, unreadable) = (damage.first(), damage.unreadable());
        let has_failed = has_failed(&evidence.segments);
        Self { verification, evidence, capacity, total, first, unreadable, subject, claimed, has_failed }
    }

    /// The headline, and every answer, most important first.
    fn conclude(&self) -> (String, Vec<Answer>) {
        if self.total.bytes() > 0 { self.with_damage() } else { self.without_damage() }
    }

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
        let ranges = plan.reads().map(|(_, part, _)| plan.layout.part(part));
        let expected: u64 = ranges.map(|range| range.end - range.start).sum();
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

/// Ranges in order, those that touch or overlap joined.
fn disjoint(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    ranges.into_iter().fold(Vec::new(), |mut joined: Vec<Range<u64>>, range| {
        match joined.last_mut().filter(|last| range.start <= last.end) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
        joined
    })
}

/// Approximate number of points of an address map: more than a chart has pixels would say no more.
const ADDRESS_POINTS: u64 = 1000;

/// Damage found by the probes and by each pass.
struct DamageSummary {
    /// Damage in probes and spot checks.
    probe_damage: Damage,
    /// Damage in each pass.
    passes: Vec<(u32, Damage)>,
}

impl DamageSummary {
    fn collect(verification: &Verification<'_>) -> Self {
        let mut summary = Self { probe_damage: Damage::default(), passes: Vec::new() };
        for segment in verification.probes.iter().chain(&verification.spot_checks) {
            segment.damage.iter().for_each(|damage| summary.probe_damage.merge(damage.clone()));
        }
        for (_, pass, _, segment) in &verification.parts {
            let Some(damage) = segment.damage.clone() else { continue };
            match summary.passes.last_mut() {
                Some((last, merged)) if last == pass => merged.merge(damage),
                _ => summary.passes.push((*pass, damage)),
            }
        }
        summary
    }

    /// The total damage.
    fn total(&self) -> Damage {
        let mut total = self.probe_damage.clone();
        // Ranges of several passes are not joined.
        total.ranges.clear();
        total.unlisted_bytes = 0;
        for (_, damage) in &self.passes {
            total.merge(Damage { ranges: Vec::new(), unlisted_bytes: 0, ..damage.clone() });
        }
        total
    }

    /// Every damaged range: of the passes if there were any, otherwise of probes and spot checks.
    fn listed_ranges(&self) -> impl Iterator<Item = (Option<u32>, &DamagedRange)> {
        let probe_damage =
            self.probe_damage.ranges.iter().filter(|_| self.passes.is_empty()).map(|range| (None, range));
        let passes = self
            .passes
            .iter()
            .flat_map(|(pass, damage)| damage.ranges.iter().map(|range| (Some(*pass), range)));
        probe_damage.chain(passes)
    }

    /// The first damaged range that could be read.
    fn first(&self) -> Option<&DamagedRange> {
        let ranges = self.listed_ranges().map(|(_, range)| range).chain(&self.probe_damage.ranges);
        ranges.into_iter().find(|range| range.kind != DamageKind::Unreadable)
    }

    /// What could not be read, in any pass or probe.
    fn unreadable(&self) -> Unreadable {
        let all_damage = || self.passes.iter().map(|(_, damage)| damage).chain([&self.probe_damage]);
        let ranges = all_damage()
            .flat_map(|damage| &damage.ranges)
            .filter(|range| range.kind == DamageKind::Unreadable);
        let listed = disjoint(ranges.map(|range| range.from..range.to).collect());
        let listed_bytes: u64 = listed.iter().map(|range| range.end - range.start).sum();
        let most = all_damage().map(|damage| damage.unreadable_bytes).max().unwrap_or(0);
        Unreadable { bytes: listed_bytes.max(most), ranges: listed }
    }

    /// For each kind of content, points `[address read, address it was written for]`, in bytes. What holds no
    /// other address stands at its own.
    fn addresses(&self, verification: &Verification<'_>) -> Vec<(Option<DamageKind>, Vec<[f64; 2]>)> {
        let layout = &verification.layout;
        let step = (layout.span / ADDRESS_POINTS).max(layout.options.block);
        let line = |from: u64, to: u64, label: u64| {
            let offsets = (0..to - from).step_by(step as usize);
            offsets.map(move |offset| [(from + offset) as f64, (label + offset) as f64])
        };
        let read = verification.last_read();
        let intact = read.iter().flat_map(|(ranges, damage)| misplaced_ranges(ranges, damage));
        let intact = intact.filter(|range| range.at == range.label);
        let intact: Vec<[f64; 2]> =
            intact.flat_map(|range| line(range.at, range.at + range.bytes, range.label)).collect();
        let of_kind = |kind: DamageKind| {
            let ranges = self.listed_ranges().map(|(_, range)| range).filter(|range| range.kind == kind);
            let label = |range: &DamagedRange| match (kind, range.content.address) {
                (DamageKind::Wrapped, Some(address)) => address,
                _ => range.from,
            };
            let points = ranges.flat_map(|range| line(range.from, range.to, label(range))).collect();
            (Some(kind), points)
        };
        let kinds = DamageKind::ALL.into_iter().chain([DamageKind::Unreadable]).map(of_kind);
        [(None, intact)].into_iter().chain(kinds).filter(|(_, points)| !points.is_empty()).collect()
    }

    fn rows(&self) -> impl Iterator<Item = Row> {
        self.listed_ranges().map(|(pass, range)| {
            row! {
                pass,
                from_byte: range.from,
                to_byte: range.to,
                kind: range.kind.name(),
                bits: (range.bits > 0).then_some(range.bits),
                written_for_byte: range.content.address,
                written_in_pass: range.content.pass,
                written_with_key: range.content.key,
                first_bytes: match range.kind {
                    DamageKind::Unreadable => String::new(),
                    _ => range.content.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
                },
            }
        })
    }
}

impl Capacity {
    /// From everything that was found.
    fn from_evidence(verification: &Verification<'_>, evidence: &Evidence) -> Self {
        let is_searched = !verification.probes.is_empty() && !verification.layout.is_folder;
        let known =
            if is_searched { ProbeSummary::from_probes(verification) } else { ProbeSummary::default() };
        let last_read = verification.last_read();
        let passed = verification.reads().next().is_some();
        let (mut checked, mut damaged, mut lost) = (0, 0, 0);
        for (_, damage) in last_read.iter().filter(|_| passed) {
            checked += damage.checked_bytes;
            damaged += damage.bytes();
            lost += damage.bytes() - damage.bytes_of(DamageKind::Wrong);
        }
        let intact = checked - damaged;
        let whole = checked == verification.layout.span && !verification.layout.is_folder;
        let by_extents = Verification::extents(evidence).map(|map| device_wrap(map, &last_read));
        let own_addresses = known.wraps_at.or_else(|| wrapped_in_passes(verification));
        let wraps = match by_extents {
            Some(by_extents) => by_extents.map(|wrap| wrap.at),
            None if verification.layout.is_folder => None,
            // A drive that holds more intact bytes does not wrap around there.
            None => own_addresses.filter(|wrap| intact <= *wrap),
        };
        let limits = [wraps, known.absent_from, (whole && lost > 0).then(|| checked - lost)];
        let at_most = limits.into_iter().flatten().min();
        let at_least = intact.max(known.present_until);
        Self {
            announced_bytes: evidence.geometry.capacity,
            read_back_bytes: checked,
            intact_bytes: intact,
            damaged_bytes: damaged,
            holds_at_least_bytes: at_most.map_or(at_least, |most| at_least.min(most)),
            holds_at_most_bytes: at_most,
            wraps_at_bytes: wraps,
            device_wrap: by_extents.flatten(),
        }
    }
}

/// The common divisor of all distances found in the passes.
fn wrapped_in_passes(verification: &Verification<'_>) -> Option<u64> {
    let parts = verification.reads().map(|(_, _, segment)| segment);
    let reads = parts.chain(verification.spot_checks.iter().copied());
    wraps_at(reads)
}

/// Fewer misplaced bytes than this are not believed: a single write may have gone astray.
const SHOWN_LEAST: u64 = 64 << 10;
/// One in this many bytes may contradict a wrap, because a cache may have answered for the device.
const CONTRADICTED_SHARE: u64 = 20;

/// Bytes that read back as written for `label`.
#[derive(Clone, Copy)]
struct MisplacedRange {
    at: u64,
    label: u64,
    bytes: u64,
}

/// Where the device wraps around, by ranges that were read with no writes in between, and their damage.
/// `None` if the damage does not agree with a single size.
fn device_wrap(map: &ExtentMap, read: &[(Vec<Range<u64>>, &Damage)]) -> Option<DeviceWrap> {
    let misplaced: Vec<MisplacedRange> =
        read.iter().flat_map(|(ranges, damage)| misplaced_ranges(ranges, damage)).collect();
    let (mut at, mut evidence_bytes) = (0, 0);
    for elsewhere in misplaced.iter().filter(|misplaced| misplaced.at != misplaced.label) {
        for here in map.pieces(elsewhere.at, elsewhere.bytes) {
            let label = elsewhere.label + (here.offset - elsewhere.at);
            for there in map.pieces(label, here.bytes) {
                let place = here.device_offset + (there.offset - label);
                // Two addresses of the file are one on the device, so the map does not fit what was read.
                let distance = Some(place.abs_diff(there.device_offset)).filter(|distance| *distance > 0)?;
                at = divisor(at, distance);
                evidence_bytes += there.bytes;
            }
        }
    }
    let agrees = evidence_bytes >= SHOWN_LEAST && {
        let misplaced_bytes: u64 = misplaced.iter().map(|misplaced| misplaced.bytes).sum();
        contradictions(map, &misplaced, at) <= misplaced_bytes / CONTRADICTED_SHARE
    };
    agrees.then_some(DeviceWrap { at, evidence_bytes })
}

/// The content of ranges: as written, except for the damage.
fn misplaced_ranges(ranges: &[Range<u64>], damage: &Damage) -> Vec<MisplacedRange> {
    let elsewhere = damage.ranges.iter().filter(|damaged| damaged.kind == DamageKind::Wrapped);
    let mut misplaced: Vec<MisplacedRange> = elsewhere
        .filter_map(|damaged| {
            let label = damaged.content.address?;
            Some(MisplacedRange { at: damaged.from, label, bytes: damaged.to - damaged.from })
        })
        .collect();
    // Damage that is not listed, or bytes that could not be read, may be anywhere.
    let expected_bytes: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    if damage.unlisted_bytes > 0 || damage.checked_bytes != expected_bytes {
        return misplaced;
    }
    for range in ranges {
        let first = damage.ranges.partition_point(|damaged| damaged.to <= range.start);
        let mut at = range.start;
        let damaged = damage.ranges[first..].iter().take_while(|damaged| damaged.from < range.end);
        for (from, to) in damaged.map(|damaged| (damaged.from, damaged.to)).chain([(range.end, range.end)]) {
            if from > at {
                misplaced.push(MisplacedRange { at, label: at, bytes: from - at });
            }
            at = at.max(to);
        }
    }
    misplaced
}

/// Bytes that would share a place of the device with other data, if its addresses wrapped around there.
fn contradictions(map: &ExtentMap, misplaced: &[MisplacedRange], wrap: u64) -> u64 {
    // Start and end on the device, and the distance of the label.
    let mut places: Vec<(u64, u64, u64)> = Vec::new();
    for misplaced in misplaced {
        for piece in map.pieces(misplaced.at, misplaced.bytes) {
            let (mut at, end) = (piece.device_offset, piece.device_offset + piece.bytes);
            while at < end {
                let to = end.min((at / wrap + 1) * wrap);
                let label = misplaced.label + (piece.offset - misplaced.at) + (at - piece.device_offset);
                places.push((at % wrap, at % wrap + (to - at), label.wrapping_sub(at % wrap)));
                at = to;
            }
        }
    }
    places.sort_unstable();
    let (mut contradicted, mut last) = (0, (0, 0));
    for (start, end, label) in places {
        let (last_end, last_label) = last;
        if start < last_end && label != last_label {
            contradicted += last_end.min(end) - start;
        }
        if end > last_end {
            last = (end, label);
        }
    }
    contradicted
}

#[cfg(test)]
mod tests {
    use likenew_core::probe::Extent;
    use likenew_core::stamp::{SECTOR, Stamp};
    use proptest::prelude::*;

    use super::*;

    const STAMP: Stamp = Stamp { key: 1, pass: 1 };
    const PIECE: u64 = 64 << 10;

    /// Files in pieces at these places of the device, by address in the file.
    fn map(places: &[u64]) -> ExtentMap {
        let extents = places.iter().zip((0..).step_by(PIECE as usize));
        ExtentMap::new(
            extents
                .map(|(place, offset)| Extent { offset, device_offset: place * PIECE, bytes: PIECE })
                .collect(),
        )
    }

    /// What reading all pieces finds; `holds` says which piece each of them contains.
    fn read(pieces: u64, holds: impl Fn(u64) -> u64) -> Damage {
        let mut damage = Damage::default();
        let mut sector = [0; SECTOR];
        for piece in 0..pieces {
            for at in (0..PIECE).step_by(SECTOR) {
                STAMP.fill(holds(piece) * PIECE + at, &mut sector);
                damage.inspect(STAMP, piece * PIECE + at, &sector);
            }
        }
        damage
    }

    fn wrap(places: &[u64], damage: &Damage) -> Option<DeviceWrap> {
        let whole = 0..places.len() as u64 * PIECE;
        device_wrap(&map(places), &[(vec![whole], damage)])
    }

    #[test]
    fn a_single_write_astray_or_a_map_of_other_files_name_nothing() {
        let places: Vec<u64> = (0..64).collect();
        let astray = read(64, |piece| if piece == 7 { 9 } else { piece });
        assert_eq!(wrap(&places, &astray), None, "what lies beside it contradicts");
        let misplaced = read(64, |piece| if piece == 40 { 8 } else { piece });
        let twice: Vec<u64> = (0..64).map(|place| place % 32).collect();
        assert_eq!(wrap(&twice, &misplaced), None, "two files at one place");
        assert_eq!(wrap(&[], &misplaced), None, "nothing is known of where it lies");
        assert_eq!(wrap(&places, &read(64, |piece| piece)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Pieces anywhere on a device that wraps around: the result is that size or a multiple of it.
        #[test]
        fn pieces_anywhere_tell_where_the_device_goes_round(
            order in Just((0..512u64).collect::<Vec<_>>()).prop_shuffle(),
            pieces in 128usize..400, real in 32u64..96,
        ) {
            let places = &order[..pieces];
            let last_at = |place: u64| {
                (0..pieces as u64).rev().find(|piece| places[*piece as usize] % real == place % real).unwrap()
            };
            let damage = read(pieces as u64, |piece| last_at(places[piece as usize]));
            let device_wrap = wrap(places, &damage).expect("most of it is written over");
            prop_assert!(device_wrap.at.is_multiple_of(real * PIECE), "{} for {}", device_wrap.at, real * PIECE);
            prop_assert_eq!(device_wrap.at, real * PIECE);
        }

        /// Pieces that hold any others: no size explains them, so none is named.
        #[test]
        fn disorder_names_nothing(
            order in Just((0..256u64).collect::<Vec<_>>()).prop_shuffle(), pieces in 64usize..200, seed in any::<u64>(),
        ) {
            let holds = |piece: u64| (piece.wrapping_mul(seed | 1) ^ (seed >> 7)) % pieces as u64;
            let damage = read(pieces as u64, holds);
            let good = (0..pieces as u64).filter(|piece| holds(*piece) == *piece).count() as u64 * PIECE;
            if let Some(device_wrap) = wrap(&order[..pieces], &damage) {
                prop_assert!(device_wrap.at >= good, "{} hold {good}", device_wrap.at);
            }
        }
    }
}
