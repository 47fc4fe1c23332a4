//! What a verification says in the end.

use likenew_core::damage::{Damage, DamagedRange, Kind};
use likenew_core::drive::Kind as DriveKind;
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::target::Clock;
use likenew_core::units::{amount, three_digits};
use likenew_core::verdict::{Standing, Verdict};

use super::capacity::Capacity;
use super::device_wrap::DeviceWrap;
use super::findings::DamageSummary;
use super::workload_plan::{Task, WorkloadPlan};

/// What is wrong first, then whether it holds what it says, then whether what was written is what was read.
pub(super) fn verdicts(
    workload_plan: &WorkloadPlan<'_>,
    evidence: &Evidence,
    capacity: &Capacity,
    damage: &DamageSummary,
) -> Vec<Verdict> {
    let mut total = damage.total();
    if let Some((_, last)) =
        damage.passes.last().filter(|(_, last)| workload_plan.layout.is_folder && last.bytes() > 0)
    {
        // Of a folder each byte counts once, and a look back has read some of them before.
        total = last.clone();
    }
    let mut verdicts = Vec::new();
    verdicts.extend(problem(workload_plan, &total, damage.first()));
    verdicts.push(holds(workload_plan, evidence, capacity, &total));
    verdicts.push(reads_back(workload_plan, evidence, &total));
    verdicts
}

fn problem(
    workload_plan: &WorkloadPlan<'_>,
    total: &Damage,
    first: Option<&DamagedRange>,
) -> Option<Verdict> {
    let first = first.filter(|_| total.bytes() > 0)?;
    let (bytes, checked) = (total.bytes(), total.checked_bytes);
    let claim = if workload_plan.layout.is_folder {
        let (right, checked, wrong) = (amount(checked - bytes), amount(checked), amount(bytes));
        format!("{right} of the {checked} that were written read back right; {wrong} did not.")
    } else {
        format!("{} of the {} that were read are not what was written.", amount(bytes), amount(checked))
    };
    let mut verdict = Verdict::new(claim, Standing::Holds).problem();
    for kind in Kind::ALL {
        let bytes = total.bytes_of(kind);
        if bytes > 0 {
            verdict = verdict.with_evidence(format!("{} {}", amount(bytes), meaning(kind, total)));
        }
    }
    let found = match (first.kind, first.content.address) {
        (Kind::Wrapped, Some(address)) => format!(", and hold what was written for byte {address}"),
        _ => String::new(),
    };
    Some(verdict.with_evidence(format!("the first are bytes {} to {}{found}", first.from, first.to)))
}

/// A kind of damage in words.
fn meaning(kind: Kind, total: &Damage) -> String {
    match kind {
        Kind::Wrapped => "hold what was written for another address: two addresses are one place".into(),
        Kind::Missing => "hold only zeros or only ones: the drive took them and kept nothing".into(),
        Kind::Stale => "hold what was there before: a write was answered and not done".into(),
        Kind::Wrong => {
            let share = total.wrong_bits as f64 / (8.0 * total.wrong_bytes as f64);
            format!("hold something else; {} % of their bits differ", three_digits(share * 100.0))
        }
    }
}

/// What is claimed to be held.
fn subject(evidence: &Evidence, span: u64) -> String {
    let all = span == evidence.geometry.capacity;
    match evidence.identity.kind {
        DriveKind::Folder => format!("The free space that was filled holds the {} it says.", amount(span)),
        _ if all => format!("It holds the {} it says.", amount(evidence.geometry.capacity)),
        _ => format!("Its first {} hold what they say.", amount(span)),
    }
}

fn holds(
    workload_plan: &WorkloadPlan<'_>,
    evidence: &Evidence,
    capacity: &Capacity,
    total: &Damage,
) -> Verdict {
    let claim = subject(evidence, workload_plan.layout.span);
    if let Some(most) = capacity.holds_at_most_bytes {
        let mut verdict = Verdict::new(claim, Standing::Fails);
        verdict = match (capacity.wraps_at_bytes, capacity.device_wrap) {
            (_, Some(DeviceWrap { at, evidence_bytes })) => verdict.with_evidence(format!(
                "the addresses of the device below wrap at {} ({at} bytes), by where {} of the files lie on it",
                amount(at),
                amount(evidence_bytes)
            )),
            (Some(wrap), None) => {
                verdict.with_evidence(format!("addresses go round at {} ({wrap} bytes)", amount(wrap)))
            }
            (None, None) => verdict,
        };
        let least = capacity.holds_at_least_bytes;
        verdict = verdict.with_evidence(match (capacity.device_wrap, least) {
            (Some(_), _) => format!("the device holds no more than {} ({most} bytes)", amount(most)),
            (None, least) if least == most => format!("it holds {} ({most} bytes)", amount(most)),
            (None, least) => format!("it holds {} at most, {} at least", amount(most), amount(least)),
        });
        return early_damage(verdict, workload_plan);
    }
    if total.bytes() > 0 {
        let reason = if workload_plan.layout.is_folder {
            "where the device below ends does not follow from that: the file system decides where on it the files lie"
        } else {
            "some of it is not what was written, and no single limit explains where"
        };
        return early_damage(Verdict::new(claim, Standing::Fails).with_evidence(reason), workload_plan);
    }
    match caveat(workload_plan, evidence, total) {
        Some(doubt) => Verdict::new(claim, Standing::Undecided).with_evidence(doubt),
        None => {
            let how = if workload_plan.layout.options.read_only {
                "all of it is still what an earlier run has written"
            } else {
                "all of it was written before any of it was read"
            };
            let compared = amount(total.checked_bytes);
            Verdict::new(claim, Standing::Holds)
                .with_evidence(format!("{how}, and every byte was compared; {compared} in all"))
        }
    }
}

fn early_damage(verdict: Verdict, workload_plan: &WorkloadPlan<'_>) -> Verdict {
    let ios: u64 =
        workload_plan.history.iter().map(|(_, segment)| segment.ios(Op::Read) + segment.ios(Op::Write)).sum();
    let passed = workload_plan.last_part_read().is_some_and(|part| part + 1 == workload_plan.layout.parts());
    if workload_plan.next.is_none() && !passed {
        verdict
            .with_evidence(format!("found after {ios} I/Os, so the rest was not written"))
            .caveat("--full writes and reads all of it, and lists every damaged range")
    } else {
        verdict
    }
}

fn reads_back(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence, total: &Damage) -> Verdict {
    let claim = "What was written is what was read.";
    if total.bytes() > 0 {
        return Verdict::new(claim, Standing::Fails).with_evidence(format!(
            "{} of {} are not",
            amount(total.bytes()),
            amount(total.checked_bytes)
        ));
    }
    if total.checked_bytes == 0 {
        return Verdict::new(claim, Standing::Undecided).with_evidence("nothing was read yet");
    }
    let compared = format!("{} were compared, every byte", amount(total.checked_bytes));
    let memory = memory(workload_plan, evidence);
    match memory.or_else(|| unfinished_caveat(workload_plan)) {
        Some(doubt) => Verdict::new(claim, Standing::Undecided).with_evidence(doubt).with_evidence(compared),
        None => Verdict::new(claim, Standing::Holds).with_evidence(compared),
    }
}

/// Why it can not be said that a drive without any damage holds everything.
fn caveat(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence, total: &Damage) -> Option<String> {
    let whole = workload_plan.next.is_none() && workload_plan.reads().next().is_some();
    if !whole {
        let options = &workload_plan.layout.options;
        return Some(if options.quick {
            format!(
                "{} of probes are as they should be, and only writing everything proves it: leave --quick out",
                amount(total.checked_bytes)
            )
        } else {
            "the run ended before all of it was read back".into()
        });
    }
    if let Some(unread) = unread_parts(workload_plan) {
        return Some(unread);
    }
    if evidence.identity.kind != DriveKind::Folder && workload_plan.layout.span < evidence.geometry.capacity {
        return Some(format!(
            "only {} of {} were written: addresses beyond may go round onto them",
            amount(workload_plan.layout.span),
            amount(evidence.geometry.capacity)
        ));
    }
    memory(workload_plan, evidence)
}

fn unfinished_caveat(workload_plan: &WorkloadPlan<'_>) -> Option<String> {
    let ended = workload_plan.next.is_some() && !workload_plan.layout.options.quick;
    ended
        .then(|| "the run ended before all of it was read back".to_owned())
        .or_else(|| unread_parts(workload_plan))
}

/// What could not be read was not compared either.
fn unread_parts(workload_plan: &WorkloadPlan<'_>) -> Option<String> {
    let asked: u64 = workload_plan
        .reads()
        .map(|(_, part, _)| {
            let range = workload_plan.layout.part(part);
            range.end - range.start
        })
        .sum();
    let compared: u64 = workload_plan
        .reads()
        .filter_map(|(_, _, segment)| segment.damage.as_ref())
        .map(|damage| damage.checked_bytes)
        .sum();
    (compared < asked).then(|| format!("{} could not be read", amount(asked - compared)))
}

/// Why what was read may have come from memory rather than from where it was written to.
fn memory(workload_plan: &WorkloadPlan<'_>, evidence: &Evidence) -> Option<String> {
    if evidence.geometry.clock == Clock::Virtual {
        return None;
    }
    // Where direct I/O is refused, the drive says so among its caveats.
    let cached = evidence.identity.caveats.iter().any(|caveat| caveat.contains("through the page cache"));
    if cached {
        return Some("it was read through the page cache, which may have answered for the drive".into());
    }
    let cache = workload_plan.layout.options.cache;
    let rereads =
        workload_plan.history.iter().any(|(task, _)| matches!(task, Task::Part { op: Op::Read, .. }));
    (workload_plan.layout.span < cache && !workload_plan.layout.options.read_only && rereads).then(|| {
        format!(
            "{} are less than a drive's own memory may hold, which may have answered (--cache {})",
            amount(workload_plan.layout.span),
            amount(cache)
        )
    })
}
