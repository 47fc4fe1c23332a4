//! The result of a verification: whether the capacity is real, and whether data reads back as it was written.

use likenew_core::damage::{Damage, DamagedRange};
use likenew_core::drive::Kind as DriveKind;
use likenew_core::findings::Answer;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;

use super::damage_summary::{Capacity, DamageSummary, Unreadable};
use super::narrowing::Task;
use super::wording::{self, Doubt, Subject};
use super::workload_plan::WorkloadPlan;
use crate::site::{likenew, loss_of_writing};

/// The headline, and every answer, most important first.
pub(super) struct Conclusion {
    pub(super) summary: String,
    pub(super) answers: Vec<Answer>,
    /// All damage, each byte once.
    pub(super) total: Damage,
}

/// The subject and the evidence of a verification.
struct Case<'a> {
    workload_plan: &'a WorkloadPlan<'a>,
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
    workload_plan: &WorkloadPlan<'_>,
    evidence: &Evidence,
    capacity: &Capacity,
    damage: &DamageSummary,
    has_failed: bool,
) -> Conclusion {
    let layout = &workload_plan.layout;
    let mut total = damage.total();
    if let Some((_, last)) = damage.passes.last().filter(|(_, last)| layout.is_folder && last.bytes() > 0) {
        // In a folder each byte counts once, and a spot check has read some of them before.
        total = last.clone();
    }
    let (subject, claimed) = match evidence.identity.kind {
        DriveKind::Folder => (Subject::Folder, layout.span),
        _ if layout.span == evidence.geometry.capacity => (Subject::Drive, layout.span),
        _ => (Subject::Beginning, evidence.geometry.capacity),
    };
    let case = Case {
        workload_plan,
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
            wording::damaged(self.subject, self.workload_plan.layout.span, &self.total, self.first);
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
        let compared = self.total.checked_bytes;
        let (summary, capacity) = match self.capacity_doubt() {
            Some(doubt) => {
                let (summary, answer) = if self.has_failed {
                    wording::capacity_beside_failures(self.claimed, self.intact(), &self.unreadable)
                } else {
                    wording::capacity_unproven(doubt, self.claimed, compared)
                };
                (summary, self.advise_more(answer, doubt))
            }
            None => {
                let read_only = self.workload_plan.layout.options.read_only;
                wording::holds_all(self.subject, self.claimed, compared, read_only)
            }
        };
        if compared == 0 && self.unreadable.bytes == 0 {
            return (wording::nothing_read_back(), vec![capacity, wording::integrity_unread()]);
        }
        let integrity = match self.integrity_doubt() {
            _ if self.unreadable.bytes > 0 => {
                wording::unreadable(self.intact(), &self.unreadable, self.block())
            }
            Some(doubt) => wording::intact_with_doubt(compared, doubt),
            None => wording::intact(compared),
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
        let plan = self.workload_plan;
        let read_all = plan.last_part_read().is_some_and(|part| part + 1 == plan.layout.parts());
        if !plan.is_complete || read_all {
            return answer;
        }
        let ios =
            plan.history.iter().map(|(_, segment)| segment.ios(Op::Read) + segment.ios(Op::Write)).sum();
        wording::ended_early(answer, ios)
    }

    /// Bytes that read back as written, each once; of probes as often as they were read.
    fn intact(&self) -> u64 {
        let has_passed = self.workload_plan.reads().next().is_some();
        if has_passed { self.capacity.intact_bytes } else { self.total.checked_bytes - self.total.bytes() }
    }

    /// Bytes of a read.
    fn block(&self) -> u64 {
        self.workload_plan.layout.options.block
    }

    /// A simulated drive has no cable.
    fn advise_repair(&self, answer: Answer) -> Answer {
        let answer = answer.action(wording::copy_first());
        if self.evidence.identity.kind == DriveKind::Simulated {
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
            let parts = self.workload_plan.parts_of(op).map(|(_, _, segment)| segment);
            let usable = parts.filter(|segment| segment.bytes_per_s().is_some());
            let (moved, elapsed) = usable.fold((0, 0.0), |(moved, elapsed), segment| {
                (moved + segment.bytes(op), elapsed + segment.elapsed().as_secs_f64())
            });
            (moved > 0).then(|| bytes as f64 * elapsed / moved as f64)
        };
        Some(Nanos::from_secs_f64(seconds(Op::Write)? + seconds(Op::Read)?))
    }

    /// Why a drive without damage may still not hold everything.
    fn capacity_doubt(&self) -> Option<Doubt> {
        let (plan, layout) = (self.workload_plan, &self.workload_plan.layout);
        if !plan.is_complete || plan.reads().next().is_none() {
            return Some(if layout.options.quick { Doubt::ProbesOnly } else { Doubt::Unfinished });
        }
        let part = Doubt::PartOnly { span: layout.span, capacity: self.evidence.geometry.capacity };
        self.unread().or((self.subject == Subject::Beginning).then_some(part)).or_else(|| self.memory())
    }

    /// Why the data compared may not come from the medium.
    fn integrity_doubt(&self) -> Option<Doubt> {
        let is_unfinished = !self.workload_plan.is_complete && !self.workload_plan.layout.options.quick;
        self.memory().or(is_unfinished.then_some(Doubt::Unfinished)).or_else(|| self.unread())
    }

    /// Data that could not be read was not compared.
    fn unread(&self) -> Option<Doubt> {
        let plan = self.workload_plan;
        let asked: u64 = plan
            .reads()
            .map(|(_, part, _)| {
                let range = plan.layout.part(part);
                range.end - range.start
            })
            .sum();
        let damage = plan.reads().filter_map(|(_, _, segment)| segment.damage.as_ref());
        let compared: u64 = damage.map(|damage| damage.checked_bytes).sum();
        (compared < asked).then(|| Doubt::Unread { bytes: asked - compared })
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
        let layout = &self.workload_plan.layout;
        let (span, cache) = (layout.span, layout.options.cache);
        let history = &self.workload_plan.history;
        let rereads = history.iter().any(|(task, _)| matches!(task, Task::Part { op: Op::Read, .. }));
        (span < cache && !layout.options.read_only && rereads).then_some(Doubt::DriveCache { span, cache })
    }
}
