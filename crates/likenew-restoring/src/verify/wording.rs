//! Every sentence of a verification.

use std::ops::Range;

use likenew_core::damage::{Damage, DamageKind, DamagedRange};
use likenew_core::findings::{Action, Answer, Loss, OverviewTable};
use likenew_core::io::Op;
use likenew_core::quantity::{Rate, Share, Size, count};
use likenew_core::units::{Nanos, Number, digits};

use likenew_procedure_support::wording::{list, use_nearest_multiple};
use serde::Serialize;

use crate::site::overview_table;

// What the sentences are made from

/// Bytes that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Unreadable {
    pub(super) bytes: u64,
    /// Where they are, in order; only the first if there are very many.
    pub(super) ranges: Vec<Range<u64>>,
}

/// The row of the table `capacity`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Capacity {
    /// The capacity that the target reports.
    pub(super) announced_bytes: u64,
    /// Bytes from the first address that were written completely and read back.
    pub(super) read_back_bytes: u64,
    /// Bytes among `read_back_bytes` that read back as written.
    pub(super) intact_bytes: u64,
    /// Bytes among `read_back_bytes` that read back wrong.
    pub(super) damaged_bytes: u64,
    /// Lower bound of the capacity.
    pub(super) holds_at_least_bytes: u64,
    /// Upper bound of the capacity, if one was found.
    pub(super) holds_at_most_bytes: Option<u64>,
    /// Size at which addresses wrap around, if they do: the target's own, or those of the device below its
    /// file system.
    pub(super) wraps_at_bytes: Option<u64>,
    /// The evidence for that from the device below the file system.
    #[serde(skip)]
    pub(super) device_wrap: Option<DeviceWrap>,
}

/// The size at which the device's addresses wrap around, and the bytes that show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DeviceWrap {
    pub(super) at: u64,
    pub(super) evidence_bytes: u64,
}

// What it is for, and what it writes

pub(super) const QUESTION: &str = "Is its capacity real, and does it keep what is written?";
pub(super) const WRITES: &str =
    "writes the free space, or the whole drive, once per pass; in a folder only temporary files";

/// Why a drive without damage may still not hold everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doubt {
    /// Only probes were written.
    ProbesOnly,
    /// The run ended before everything was read back.
    Unfinished,
    /// Bytes that could not be read.
    Unread { bytes: u64 },
    /// Only the beginning of the drive was written.
    PartOnly { span: u64, capacity: u64 },
    /// Reads went through the page cache.
    PageCache,
    /// Less was written than the drive's cache may hold.
    DriveCache { span: u64, cache: u64 },
}

/// The subject of the capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A whole drive.
    Drive,
    /// The first bytes of a drive.
    Beginning,
    /// Free space of a folder, filled with temporary files.
    Folder,
}

// Capacity

pub(super) fn holds_all(subject: Subject, claimed: u64, read_only: bool) -> (String, Answer) {
    let (summary, answer) = match subject {
        Subject::Folder => folder_holds_all(Size(claimed)),
        Subject::Drive | Subject::Beginning => drive_holds_all(Size(claimed)),
    };
    let how = if read_only {
        "Every byte is still what the earlier run wrote."
    } else {
        "Everything was written before anything was read back, and every byte was compared."
    };
    (summary, answer.with_evidence(how))
}

headlines! {
    (CAPACITY, "Capacity") => {
        fn folder_holds_all(written: Size) = good(
            "The free space holds all {written} written to it: every byte read back as written.",
            "all {written} of the free space written");
        fn drive_holds_all(claimed: Size) = good(
            "Holds all {claimed} it claims: every byte read back as written.", "all {claimed} it claims");
        fn counterfeit_below_folder(real: &str, in_gib: &str) = problem(
            "Counterfeit capacity: the drive below this folder holds {real} at most.",
            "{in_gib} at most, on the drive below this folder");
        fn counterfeit_exactly(real: &str, in_gib: &str, claimed: &str) = problem(
            "Counterfeit capacity: it holds {real}, not the {claimed} it claims.",
            "{in_gib}, not the {claimed} it claims");
        fn counterfeit_at_most(real: &str, in_gib: &str, claimed: &str) = problem(
            "Counterfeit capacity: it holds {real} at most, not the {claimed} it claims.",
            "{in_gib} at most, not the {claimed} it claims");
    }
}

/// A capacity as drives are sold, in decimal units: `512 GB`.
fn as_sold(bytes: u64) -> String {
    let (size, name) = if bytes < 1_000_000_000 { (1e6, "MB") } else { (1e9, "GB") };
    let digits = digits(bytes as f64 / size);
    format!("{} {name}", digits.strip_suffix(".0").unwrap_or(&digits))
}

pub(super) fn counterfeit(
    subject: Subject,
    claimed: u64,
    capacity: &Capacity,
    most: u64,
) -> (String, Answer) {
    let least = capacity.holds_at_least_bytes;
    let wraps_there = capacity.wraps_at_bytes == Some(most);
    let is_exact = least == most || wraps_there || capacity.device_wrap.is_some();
    let (claimed, real) = (as_sold(claimed), as_sold(most));
    let in_gib = format!("{real} ({})", Size(most));
    let (summary, mut answer) = match (subject, is_exact) {
        (Subject::Folder, _) => counterfeit_below_folder(&real, &in_gib),
        (_, true) => counterfeit_exactly(&real, &in_gib, &claimed),
        (_, false) => counterfeit_at_most(&real, &in_gib, &claimed),
    };
    if wraps_there {
        answer.answer += "; addresses wrap around there";
    }
    answer.evidence.push(match (capacity.wraps_at_bytes, capacity.device_wrap) {
        (_, Some(wrap)) => device_wraps(wrap),
        (Some(wrap), None) => addresses_wrap(wrap),
        (None, None) => nothing_beyond(most),
    });
    if !is_exact {
        answer.evidence.push(capacity_between(least, most));
    }
    (summary, answer.action(return_or_shrink(most)))
}

likenew_core::sentences! {
    fn device_wraps(wrap: DeviceWrap) =
        "The drive's addresses wrap around at {} bytes: the file system says where {} of the damaged files lie, \
         and no other size explains what they hold.", Number(wrap.at as f64), Size(wrap.evidence_bytes);
    fn addresses_wrap(at: u64) =
        "Addresses wrap around at {} bytes: what is written beyond overwrites the beginning.", Number(at as f64);
    fn nothing_beyond(most: u64) =
        "What is written beyond {} bytes is not there when it is read back.", Number(most as f64);
    fn capacity_between(least: u64, most: u64) =
        "Its real capacity is between {} and {}.", Size(least), Size(most);
}

/// Damage that no single limit explains.
pub(super) fn capacity_unexplained(subject: Subject) -> Answer {
    let answer = Answer::unknown(CAPACITY, "Capacity", "unknown; no single limit explains the damage");
    match subject {
        Subject::Folder => answer.with_evidence(
            "Where the drive below ends does not follow from the damage: the file system decides where on it files lie.",
        ),
        Subject::Drive | Subject::Beginning => answer,
    }
}

pub(super) fn capacity_unproven(doubt: Doubt, claimed: u64, compared: u64) -> (String, Answer) {
    let (claimed, compared) = (Size(claimed), Size(compared));
    let (summary, answer) = match doubt {
        Doubt::ProbesOnly => probes_only(claimed, compared),
        Doubt::Unfinished => unfinished(claimed, compared),
        Doubt::Unread { bytes } => unread(claimed, compared, Size(bytes)),
        Doubt::PartOnly { span, capacity } => part_only(Size(capacity), Size(span)),
        Doubt::PageCache => from_page_cache(claimed, compared),
        Doubt::DriveCache { .. } => from_drive_cache(claimed, compared),
    };
    (summary, explain(answer, doubt))
}

headlines! {
    (CAPACITY, "Capacity") => {
        fn probes_only(claimed: Size, compared: Size) = unknown(
            "All {compared} probed read back as written; only writing everything proves the {claimed} it claims.",
            "{claimed} claimed, not proven; all {compared} probed read back as written");
        fn unfinished(claimed: Size, compared: Size) = unknown(
            "All {compared} read back is as written, but the run ended before the rest was read.",
            "{claimed} claimed, not proven; the run ended early");
        fn unread(claimed: Size, compared: Size, unread: Size) = unknown(
            "All {compared} read back is as written, but {unread} could not be read.",
            "{claimed} claimed, not proven; {unread} could not be read");
        fn part_only(claimed: Size, written: Size) = unknown(
            "The first {written} read back as written; the rest of the {claimed} it claims is untested.",
            "{claimed} claimed, not proven; only the first {written} was written");
        fn from_page_cache(claimed: Size, compared: Size) = unknown(
            "{compared} read back as written, but the page cache may have answered for the drive.",
            "{claimed} claimed, not proven; the page cache may have answered");
        fn from_drive_cache(claimed: Size, compared: Size) = unknown(
            "{compared} read back as written, but the drive's cache may have answered.",
            "{claimed} claimed, not proven; the drive's cache may have answered");
    }
}

/// Capacity beside failed I/Os, which come first. `intact` are bytes that read back as written.
pub(super) fn capacity_beside_failures(
    claimed: u64,
    intact: u64,
    unreadable: &Unreadable,
) -> (String, Answer) {
    let (claimed, intact) = (Size(claimed), Size(intact));
    let summary = match unreadable.bytes {
        0 => format!("The other {intact} read back as written."),
        _ => format!("{} could not be read; {intact} read back as written.", places(unreadable)),
    };
    (summary, Answer::unknown(CAPACITY, "Capacity", format!("{claimed} claimed, not proven")))
}

likenew_core::sentences! {
    /// `161 MiB in 2 places`.
    fn places(unreadable: &Unreadable) =
        "{} in {}", Size(unreadable.bytes), count(unreadable.ranges.len() as u64, "place");
    /// The summary before anything was read back.
    pub(super) fn nothing_read_back() = "Nothing was read back yet, so nothing is known of the capacity.";
}

/// Adds the reason for a doubt, in one sentence.
fn explain(answer: Answer, doubt: Doubt) -> Answer {
    match doubt {
        Doubt::ProbesOnly => answer.caveat("A few intact blocks prove nothing about all the others."),
        Doubt::PartOnly { .. } => {
            answer.caveat("On a counterfeit, what is written beyond would overwrite this beginning.")
        }
        Doubt::PageCache => {
            answer.caveat("Direct I/O was refused, so reads may have come from memory instead of the drive.")
        }
        Doubt::DriveCache { span, cache } => answer.caveat(format!(
            "The {} written is less than a drive's cache may hold ({}; --cache SIZE says how much yours does).",
            Size(span),
            Size(cache)
        )),
        Doubt::Unfinished | Doubt::Unread { .. } => answer,
    }
}

// Integrity

pub(super) fn intact(compared: u64) -> Answer {
    Answer::good(INTEGRITY, "Data integrity", format!("all {} read back as written", Size(compared)))
}

pub(super) fn intact_with_doubt(compared: u64, doubt: Doubt) -> Answer {
    let doubtful = match doubt {
        Doubt::PageCache => "the page cache may have answered".to_owned(),
        Doubt::DriveCache { .. } => "the drive's cache may have answered".to_owned(),
        Doubt::Unread { bytes } => format!("{} could not be read", Size(bytes)),
        Doubt::Unfinished | Doubt::ProbesOnly | Doubt::PartOnly { .. } => "the run ended early".to_owned(),
    };
    let answer = format!("{} read back as written; {doubtful}", Size(compared));
    explain(Answer::unknown(INTEGRITY, "Data integrity", answer), doubt)
}

/// `intact` are bytes that read back as written, `block` those of a read.
pub(super) fn unreadable(intact: u64, unreadable: &Unreadable, block: u64) -> Answer {
    let answer = format!("{} could not be read; {} read back as written", places(unreadable), Size(intact));
    with_unreadable(Answer::problem(INTEGRITY, "Data integrity", answer), unreadable, block)
}

/// Adds where the first ranges are.
pub(super) fn with_unreadable(answer: Answer, unreadable: &Unreadable, block: u64) -> Answer {
    if unreadable.bytes == 0 {
        return answer;
    }
    let place = |range: &Range<u64>| {
        let bytes = Size(range.end - range.start);
        format!("{} to {} ({bytes})", Number(range.start as f64), Number(range.end as f64))
    };
    let mut shown: Vec<String> = unreadable.ranges.iter().take(PLACES_SHOWN).map(place).collect();
    let more = unreadable.ranges.len() - shown.len();
    if more > 0 {
        shown.push(format!("{} more, which --json lists", Number(more as f64)));
    }
    answer.with_evidence(format!(
        "Reads of {} failed at bytes {}; less of each may be unreadable.",
        Size(block),
        list(&shown)
    ))
}

/// Most unreadable ranges that are named.
const PLACES_SHOWN: usize = 8;

pub(super) fn integrity_unread() -> Answer {
    Answer::unknown(INTEGRITY, "Data integrity", "nothing was read back yet")
}

/// `span` is what was to be read once; probes and further passes read parts of it again.
pub(super) fn damaged(
    subject: Subject,
    span: u64,
    total: &Damage,
    first: Option<&DamagedRange>,
) -> (String, Answer) {
    let (bytes, checked) = (Size(total.bytes()), Size(total.checked_bytes));
    let (summary, answer) = if subject == Subject::Folder {
        damaged_in_folder(bytes, checked, Size(total.checked_bytes - total.bytes()))
    } else {
        damaged_on_drive(
            bytes,
            checked,
            if total.checked_bytes > span { " in all passes and probes" } else { "" },
        )
    };
    let kinds = DamageKind::ALL.into_iter().filter(|kind| total.bytes_of(*kind) > 0);
    let evidence = kinds.map(|kind| kind_evidence(kind, total)).chain(first.map(first_damage));
    (summary, evidence.fold(answer, Answer::with_evidence))
}

headlines! {
    (INTEGRITY, "Data integrity") => {
        fn damaged_in_folder(bytes: Size, checked: Size, intact: Size) = problem(
            "{bytes} of the {checked} written did not read back as written; {intact} did.",
            "{intact} of the {checked} written read back as written; {bytes} did not");
        fn damaged_on_drive(bytes: Size, checked: Size, again: &str) = problem(
            "{bytes} of the {checked} read{again} is not what was written: do not trust this drive.",
            "{bytes} of the {checked} read{again} is not what was written");
    }
}

fn kind_evidence(kind: DamageKind, total: &Damage) -> String {
    let bytes = Size(total.bytes_of(kind));
    match kind {
        DamageKind::Wrapped => {
            format!("{bytes} holds what was written for another address: two addresses share one location.")
        }
        DamageKind::Missing => {
            format!("{bytes} holds only zeros or only ones: the drive dropped the writes.")
        }
        DamageKind::Stale => format!("{bytes} holds older data: an acknowledged write was lost."),
        DamageKind::Wrong => {
            format!("{bytes} holds something else; {} of its bits differ.", Share(wrong_bit_share(total)))
        }
        DamageKind::Unreadable => format!("{bytes} could not be read."),
    }
}

/// The share of wrong bits in damaged sectors.
fn wrong_bit_share(total: &Damage) -> f64 {
    total.wrong_bits as f64 / (8.0 * total.wrong_bytes as f64)
}

fn first_damage(first: &DamagedRange) -> String {
    let (from, to) = (Number(first.from as f64), Number(first.to as f64));
    match (first.kind, first.content.address) {
        (DamageKind::Wrapped, Some(address)) => format!(
            "The first damage is at bytes {from} to {to}, which hold what was written for byte {}.",
            Number(address as f64)
        ),
        _ => format!("The first damage is at bytes {from} to {to}."),
    }
}

pub(super) fn ended_early(answer: Answer, ios: u64) -> Answer {
    answer.with_evidence(format!(
        "The damage showed after {} I/Os, so the rest was not written; --full writes all of it.",
        Number(ios as f64)
    ))
}

// Actions

fn return_or_shrink(most: u64) -> Action {
    let why = format!("Return it, or create a partition that ends at {} and use no more", Size(most));
    Action::new("return_or_shrink", why)
}

pub(super) fn copy_first() -> Action {
    Action::new("copy_data", "Back up what you still need from this drive")
}

pub(super) fn change_cable(command: String, loses: Loss) -> Action {
    Action::new("verify_again", "Verify again with another cable, port or card reader to rule those out")
        .command(command)
        .loses(loses)
}

/// `time` if the run has shown how fast all of it is written and read back.
pub(super) fn verify_all(command: String, bytes: u64, time: Option<Nanos>, loses: Loss) -> Action {
    let action = Action::new("verify_all", "Write and read back everything, which proves the capacity");
    with_cost(action.command(command), bytes, time, loses)
}

pub(super) fn exceed_cache(command: String, bytes: u64, time: Option<Nanos>, loses: Loss) -> Action {
    let action = Action::new("verify_more", "Write more than the drive's cache may hold");
    with_cost(action.command(command), bytes, time, loses)
}

fn with_cost(action: Action, bytes: u64, time: Option<Nanos>, loses: Loss) -> Action {
    let action = action.bytes_written(bytes).loses(loses);
    time.into_iter().fold(action, Action::time)
}

// Overview

pub(super) fn damage_table(total: &Damage) -> OverviewTable {
    let kinds = DamageKind::ALL.into_iter().chain([DamageKind::Unreadable]);
    let row = |kind: DamageKind| {
        let meaning = match kind {
            DamageKind::Wrapped => "two addresses share one location".into(),
            DamageKind::Missing => "reads back as zeros or ones".into(),
            DamageKind::Stale => "reads back older data: an acknowledged write was lost".into(),
            DamageKind::Wrong => format!("{} of the bits flipped", Share(wrong_bit_share(total))),
            DamageKind::Unreadable => "the drive does not return it".into(),
        };
        [kind.name().to_owned(), Size(total.bytes_of(kind)).to_string(), meaning]
    };
    let rows = kinds.filter(|kind| total.bytes_of(*kind) > 0).map(row);
    overview_table(["damage", "amount", "what it means"], rows)
}

/// The first ranges that could not be read.
pub(super) fn unreadable_table(unreadable: &Unreadable) -> OverviewTable {
    let (listed, others) = unreadable.ranges.split_at(unreadable.ranges.len().min(PLACES_SHOWN));
    let row = |range: &Range<u64>| {
        let [from, to] = [range.start, range.end].map(|byte| Number(byte as f64).to_string());
        [Size(range.end - range.start).to_string(), from, to]
    };
    let bytes = Size(others.iter().map(|range| range.end - range.start).sum()).to_string();
    let others = (!others.is_empty())
        .then(|| [bytes, format!("{} more places", Number(others.len() as f64)), String::new()]);
    overview_table(["could not be read", "from byte", "to byte"], listed.iter().map(row).chain(others))
}

/// For each operation, mean speed, slowest part and its address.
pub(super) fn speed_table(rows: &[(Op, f64, f64, u64)]) -> OverviewTable {
    let row = |(op, mean, slowest, offset): &(Op, f64, f64, u64)| {
        let (mean, slowest) = (Rate(*mean).to_string(), Rate(*slowest).to_string());
        [operation(*op).to_owned(), mean, slowest, Size(*offset).to_string()]
    };
    overview_table(["", "mean", "slowest part", "at offset"], rows.iter().map(row))
}

// Series

pub(super) const SPEED_TITLE: &str = "Speed of each part";
pub(super) const ADDRESSES_TITLE: &str = "Where the data read at each address was written";
pub(super) const READ_AXIS: &str = "address read";
pub(super) const WRITTEN_AXIS: &str = "address written";
pub(super) const REAL_CAPACITY: &str = "real capacity";

/// What an address holds; `None` means what was written there.
pub(super) fn content_name(kind: Option<DamageKind>) -> &'static str {
    match kind {
        None => "as written",
        Some(DamageKind::Wrapped) => "written to another address",
        Some(DamageKind::Missing) => "zeros or ones",
        Some(DamageKind::Stale) => "older data",
        Some(DamageKind::Wrong) => "wrong bits",
        Some(DamageKind::Unreadable) => "unreadable",
    }
}

pub(super) fn line_name(op: Op, pass: u32, passes: u32) -> String {
    let operation = operation(op);
    if passes > 1 { format!("{operation}, pass {pass}") } else { operation.into() }
}

fn operation(op: Op) -> &'static str {
    if op == Op::Read { "read back" } else { "write" }
}

// Workloads, as progress shows them

likenew_core::sentences! {
    pub(super) fn boundary_probes(op: Op) = "probe size boundaries, {op}";
    pub(super) fn random_probes(op: Op) = "probe random places, {op}";
    pub(super) fn narrowing(round: u32, step: &str) = "narrow down, round {round}, {step}";
    pub(super) fn spot_check(end: u64) = "spot check of the first {}", Size(end);
}

pub(super) fn part(pass: u32, passes: u32, number: u32, op: Op) -> String {
    let suffix = if op == Op::Read { " read back" } else { "" };
    match passes {
        1 => format!("part {number}{suffix}"),
        _ => format!("pass {pass}, part {number}{suffix}"),
    }
}

// Settings and plans

likenew_core::sentences! {
    pub(super) fn bad_block(block: u64) =
        "block = {block}: must be a multiple of 512, from 512 B to 1 GiB; {}",
        use_nearest_multiple(block, 512, 512..=1 << 30);
    pub(super) fn bad_files(files: u32, file_size: u64, block: u64) =
        "files = {files}, file_size = {file_size}: needs at least one file, of a multiple of the block \
         ({block} bytes); for file_size {}", use_nearest_multiple(file_size, block, block..=u64::MAX);
    pub(super) fn out_of_range(name: &str, value: u32, least: u32, most: u32) =
        "{name} = {value}: must be from {least} to {most}";
    pub(super) fn bad_quick() =
        "quick: runs the probes alone, so it needs probes above 0 and excludes full and read_only";
    pub(super) fn read_only_target() =
        "verify writes, and this target is read-only here: give a folder on it";
    pub(super) fn span_too_small(span: u64, block: u64) =
        "{} is less than one block of {}; use a smaller --block", Size(span), Size(block);
    pub(super) fn not_begun() = "Nothing was written or read yet.";
    pub(super) fn quick_needs_space(span: u64) =
        "--quick needs a whole drive, and more than {}; leave it out", Size(span);
    pub(super) fn file_of_blocks(span: u64, block: u64) =
        "{} is too little for a file of {} blocks; give a smaller --file-size or --block",
        Size(span), Size(block);
}

pub(super) const CAPACITY: &str = "capacity";
pub(super) const INTEGRITY: &str = "integrity";

/// How a caveat of a target says that its I/O is not direct.
pub(super) const THROUGH_PAGE_CACHE: &str = "through the page cache";

pub(super) const READ_ONLY_NEEDS_A_DEVICE: &str =
    "--read-only needs a device: temporary files in a folder are deleted, and a simulated drive starts anew";

pub(super) const FILE_SIZE_NEEDS_A_FOLDER: &str = "--file-size is for folders; this target has no files";

#[cfg(test)]
mod tests {
    use super::*;

    fn capacity(least: u64, most: Option<u64>, wraps: Option<u64>) -> Capacity {
        Capacity {
            announced_bytes: 64_000_000_000,
            read_back_bytes: 0,
            intact_bytes: 0,
            damaged_bytes: 0,
            holds_at_least_bytes: least,
            holds_at_most_bytes: most,
            wraps_at_bytes: wraps,
            device_wrap: None,
        }
    }

    #[test]
    fn a_sound_drive_is_told_in_one_sentence() {
        let (summary, answer) = holds_all(Subject::Drive, 64 << 30, false);
        assert_eq!(summary, "Holds all 64 GiB it claims: every byte read back as written.");
        assert_eq!(answer.answer, "all 64 GiB it claims");
        assert_eq!(
            answer.evidence,
            ["Everything was written before anything was read back, and every byte was compared."]
        );
    }

    #[test]
    fn a_counterfeit_is_told_with_its_real_size_first() {
        let real = 16 << 30;
        let wraps = capacity(real, Some(real), Some(real));
        let (summary, answer) = counterfeit(Subject::Drive, 512_000_000_000, &wraps, real);
        assert_eq!(summary, "Counterfeit capacity: it holds 17.2 GB, not the 512 GB it claims.");
        assert_eq!(answer.answer, "17.2 GB (16 GiB), not the 512 GB it claims; addresses wrap around there");
        assert_eq!(
            answer.evidence,
            [
                "Addresses wrap around at 17,179,869,184 bytes: what is written beyond overwrites the beginning."
            ]
        );
        let ends = capacity(15 << 30, Some(real), None);
        let (summary, answer) = counterfeit(Subject::Drive, 512_000_000_000, &ends, real);
        assert_eq!(summary, "Counterfeit capacity: it holds 17.2 GB at most, not the 512 GB it claims.");
        assert_eq!(answer.evidence[1], "Its real capacity is between 15 GiB and 16 GiB.");
    }

    #[test]
    fn a_doubt_says_what_is_known() {
        let (summary, answer) = capacity_unproven(Doubt::ProbesOnly, 64 << 30, 412 << 20);
        assert_eq!(
            summary,
            "All 412 MiB probed read back as written; only writing everything proves the 64 GiB it claims."
        );
        assert_eq!(answer.answer, "64 GiB claimed, not proven; all 412 MiB probed read back as written");
        let (summary, answer) = capacity_beside_failures(64 << 30, 412 << 20, &Unreadable::default());
        assert_eq!(summary, "The other 412 MiB read back as written.");
        assert_eq!(answer.answer, "64 GiB claimed, not proven");
        let doubt = Doubt::PartOnly { span: 256 << 20, capacity: 1 << 30 };
        let (summary, _) = capacity_unproven(doubt, 256 << 20, 256 << 20);
        assert_eq!(
            summary,
            "The first 256 MiB read back as written; the rest of the 1 GiB it claims is untested."
        );
    }

    #[test]
    fn what_cannot_be_read_is_counted_and_placed() {
        let ranges: Vec<Range<u64>> = (1..=10).map(|at: u64| at << 30..(at << 30) + (1 << 20)).collect();
        let bad = Unreadable { bytes: 10 << 20, ranges };
        let (summary, _) = capacity_beside_failures(64 << 30, 63 << 30, &bad);
        assert_eq!(summary, "10 MiB in 10 places could not be read; 63 GiB read back as written.");
        let answer = unreadable(63 << 30, &bad, 1 << 20);
        assert!(answer.evidence[0].contains("bytes 1,073,741,824 to 1,074,790,400 (1 MiB), "), "{answer:?}");
        assert!(
            answer.evidence[0].ends_with("and 2 more, which --json lists; less of each may be unreadable.")
        );
        let table = unreadable_table(&bad);
        assert_eq!((table.rows.len(), &*table.rows[8].cells[1]), (9, "2 more places"));
    }

    #[test]
    fn damage_is_counted_by_kind() {
        let total =
            Damage { checked_bytes: 1 << 30, wrong_bytes: 1 << 20, wrong_bits: 6144, ..Damage::default() };
        let (summary, answer) = damaged(Subject::Drive, 1 << 30, &total, None);
        assert_eq!(summary, "1 MiB of the 1 GiB read is not what was written: do not trust this drive.");
        let (_, again) = damaged(Subject::Drive, 512 << 20, &total, None);
        assert_eq!(again.answer, "1 MiB of the 1 GiB read in all passes and probes is not what was written");
        assert_eq!(answer.evidence, ["1 MiB holds something else; 0.07% of its bits differ."]);
        assert_eq!(damage_table(&total).rows[0].cells, ["wrong", "1 MiB", "0.07% of the bits flipped"]);
    }
}
