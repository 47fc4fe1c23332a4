//! Every sentence of facts.

use likenew_core::facts::{Attribute, Drive, Fact, MissingOutput, Reported, ReportedSource};
use likenew_core::findings::{Action, Answer, OverviewTable, Standing};
use likenew_core::quantity::{Rate, Share, Size, count, range};
use likenew_core::units::{Nanos, digits};
use likenew_diagnosis::Change;
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::wording::list;
use likenew_rated::{FirmwareFault, Link, Medium, Memory, Rated, Usual};

use crate::site::overview_table;

// What it is for, and what it writes

pub(super) const QUESTION: &str = "What do the system and the drive itself say about it?";
pub(super) const WRITES: &str = "writes nothing and does no I/O";

// Summary

/// `unusual` facts are sentences without a full stop.
pub(super) fn summary(health: &Answer, unusual: &[&str], unavailable: usize, facts: usize) -> String {
    let unavailable = match unavailable {
        0 => String::new(),
        unavailable => format!(" ({unavailable} of {} unavailable)", count(facts as u64, "fact")),
    };
    let stands_out = match (unusual, health.standing) {
        ([], Standing::Unknown) => "Nothing else unusual".to_owned(),
        ([], _) => "Nothing unusual".to_owned(),
        ([only], _) => (*only).to_owned(),
        (several, _) => format!("{} things stand out", several.len()),
    };
    match health.standing {
        Standing::Problem => format!("{}.", health.answer),
        Standing::Unknown => format!("Drive health {}. {stands_out}{unavailable}.", health.answer),
        Standing::Good | Standing::Info => format!("{stands_out}. No drive reports a failure{unavailable}."),
    }
}

pub(super) fn nothing_collected(reason: Option<&str>) -> (String, Answer) {
    let answer =
        reason.map_or_else(|| "not collected yet".to_owned(), |reason| format!("unavailable ({reason})"));
    (format!("Facts are {answer}."), Answer::unknown("remarks", "Facts", answer))
}

// Health

pub(super) fn failing(drives: &[(String, Vec<String>)]) -> Answer {
    let names: Vec<&str> = drives.iter().map(|(name, _)| &**name).collect();
    let verb = if names.len() == 1 { "reports that it is" } else { "report that they are" };
    let answer = Answer::problem(HEALTH, "Drive health", format!("{} {verb} failing", list(&names)));
    let answer = drives.iter().fold(answer, |answer, (name, warnings)| {
        answer.with_evidence(if warnings.is_empty() {
            format!("{name} fails its own self-test.")
        } else {
            format!("{name}: {}.", list(warnings))
        })
    });
    answer.action(Action::new("copy_data", "Back up now, then replace the drive"))
}

pub(super) fn sound() -> Answer {
    Answer::good(HEALTH, "Drive health", "no drive reports a failure")
}

pub(super) fn no_drive() -> Answer {
    Answer::unknown(HEALTH, "Drive health", "unknown (no physical drive was found below this target)")
}

pub(super) const COULD_NOT_BE_ASKED: &str = "it could not be asked";

/// `names` of the drives that do not report; empty if none does.
pub(super) fn unreported(names: &[&str], reason: &str) -> Answer {
    let answer = match names {
        [] => format!("unknown ({reason})"),
        names => format!("unknown for {} ({reason})", list(names)),
    };
    Answer::unknown(HEALTH, "Drive health", answer)
}

/// `target` as the command line takes it.
pub(super) fn ask_as_root(target: &str, facts: usize) -> Action {
    Action::new("ask_as_root", format!("Ask as root for {}", count(facts as u64, "more fact")))
        .command(format!("sudo likenew facts {target}"))
}

pub(super) const SMARTCTL: &str = "smartctl";

/// Which device type smartctl used, and who named it; `None` if it needed none and the whole drive answered.
pub(super) fn smartctl(drive: &Drive) -> Option<Answer> {
    let told = drive.smartctl.as_ref()?;
    let (device_type, since) = match &told.device_type {
        Fact::Value { value, origin } => (value, origin),
        Fact::Unknown { reason, .. } => {
            return Some(Answer::unknown(SMARTCTL, &drive.name, format!("asked without a type: {reason}")));
        }
        Fact::NotQueried => return None,
    };
    let answer = match told.member.value() {
        Some(disk) => format!(
            "health and counters are those of one disk, {disk}, not of the whole volume (smartctl -d {device_type}, {since})"
        ),
        None => format!("asked with smartctl -d {device_type}, {since}"),
    };
    Some(Answer::info(SMARTCTL, &drive.name, answer))
}

// What stands out

pub(super) fn unremarkable(unavailable: usize, facts: usize) -> Answer {
    let answer = match unavailable {
        0 => "nothing unusual".to_owned(),
        unavailable => format!("nothing unusual ({unavailable} of {facts} facts unavailable)"),
    };
    Answer::good(REMARKS, "Facts", answer)
}

pub(super) fn remark_answer(subject: &str, words: &str) -> Answer {
    Answer::info(REMARKS, subject, words)
}

/// A setting that can be better.
pub(super) fn setting(name: &str, change: &Change) -> Answer {
    Answer::info(format!("setting_{name}"), &*change.subject, &*change.words).caveat(change.risk)
}

// File system and layers

likenew_core::sentences! {
    pub(super) fn some_unavailable(unavailable: usize, facts: usize) =
        "{unavailable} of {facts} facts are unavailable; the table says why.";
    pub(super) fn full(used: f64) = "{} full", Share(used);
    pub(super) fn compresses() =
        "the file system compresses data, so the drive receives fewer bytes than programs write";
    /// `reason` is why the TRIM timer leaves this file system out; `None` if no timer is enabled.
    pub(super) fn no_trim_sent(reason: Option<&str>) =
        "the drive receives no TRIM: mounted without discard, and {}",
        reason.unwrap_or("no fstrim timer is enabled");
    pub(super) fn layer_blocks_trim() = "blocks TRIM, so the drive below receives none";
    /// A remark as a sentence of its own, without its full stop.
    pub(super) fn remark_sentence(subject: &str, words: &str) = "{subject}: {words}";
    pub(super) fn drive_without_trim() = "does not support TRIM";
    pub(super) fn bridge_hides_trim() =
        "receives no TRIM, because its bridge or controller does not announce support for it";
    pub(super) fn trim_is_unsent() =
        "supports TRIM (UNMAP), and the kernel sends none, because its bridge or controller does not announce it";
    pub(super) fn members_missing(missing: u64) = "{} of the array missing", count(missing, "member");
    pub(super) fn member_errors(errors: u64) =
        "the pool has counted {} at its members", count(errors, "error");
    pub(super) fn array_busy(task: &str) = "the array is busy: {task}";
}

pub(super) fn layer_blocks_trim_sentence(name: &str, kind: &str) -> String {
    match (name, kind.contains('(')) {
        ("bridge", _) => "The bridge blocks TRIM; connect the drive without it".into(),
        (name, true) => format!("{name}, {kind}, blocks TRIM"),
        (name, false) => format!("{name} ({kind}) blocks TRIM"),
    }
}

pub(super) fn send_unmap() -> Action {
    Action::new("send_unmap", "Have the kernel send TRIM to this drive, from now on and after each start")
}

// Link

likenew_core::sentences! {
    pub(super) fn slow_link(now: u64, possible: u64) =
        "link carries {} now, of {} possible; a link that saves power may slow down while idle",
        Rate(now as f64), Rate(possible as f64);
    pub(super) fn slow_hop(drive: u64, kind: &str, name: &str, hop: u64) =
        "supports {}, but {kind} ({name}) carries at most {}", Rate(drive as f64), Rate(hop as f64);
    pub(super) fn usb2(kind: &str, name: &str) = "connected at USB 2 speed ({kind} {name})";
    pub(super) fn usb_storage() = "its driver, usb-storage, sends one command at a time";
}

// Health, counters

likenew_core::sentences! {
    pub(super) fn warns(warning: &str) = "warns that {warning}";
    pub(super) fn hot(now_c: f64, limit_c: f64) = "{now_c:.0} °C; its warning threshold is {limit_c:.0} °C";
    pub(super) fn throttling() = "throttling now because of heat";
    pub(super) fn endurance_used(used: f64) = "{} of its rated endurance used", Share(used);
    pub(super) fn spare_low(spare: f64, least: f64) =
        "{} of its spare blocks left, below its threshold of {}, so it may fail soon",
        Share(spare), Share(least);
    pub(super) fn pending_sectors(sectors: u64) =
        "{} could not be read and will be remapped when rewritten", count(sectors, "sector");
    pub(super) fn no_host_memory(wanted: u64) =
        "asks for {} of host memory for its mapping table and has none", Size(wanted);
    pub(super) fn crc_errors(errors: u64) = "{} on its cable, over its lifetime", count(errors, "CRC error");
    pub(super) fn non_medium_errors(errors: u64) =
        "{} of transport or controller, not of its medium, over its lifetime", count(errors, "error");
    pub(super) fn link_downshifts(times: u64) = "{} of its link to a lower speed", count(times, "downshift");
    pub(super) fn corrected_link_errors(errors: u64) = "{} since boot", count(errors, "corrected link error");
    pub(super) fn uncorrected_link_errors(errors: u64) =
        "{} since boot", count(errors, "uncorrected link error");
    pub(super) fn media_errors(errors: u64) = "{} that could not be corrected", count(errors, "media error");
    pub(super) fn reallocated_sectors(sectors: u64) = "{} replaced by spare ones", count(sectors, "sector");
    pub(super) fn self_tests_failed(tests: u64) = "{} in its log found a failure", count(tests, "self-test");
    pub(super) fn logged_errors(errors: u64) = "{} in its own error log", count(errors, "error");
    pub(super) fn throttled_light(total: Nanos) = "thermal throttling level 1: {total} in total";
    pub(super) fn throttled_heavy(total: Nanos) = "thermal throttling level 2: {total} in total";
    pub(super) fn critically_hot(total: Nanos) = "critically hot for {total} in total";
    /// `what` such as `timeout`.
    pub(super) fn in_kernel_log(times: u64, what: &str) = "{} in the kernel log", count(times, what);
    pub(super) fn uncorrectable_sectors(sectors: u64) = "{}", count(sectors, "unreadable sector");
    /// An attribute of type `Old_age` that smartctl calls `FAILING_NOW`.
    pub(super) fn attribute_at_limit(attribute: &Attribute) =
        "SMART attribute {} is at {}, its limit is {}; it counts wear or use and predicts no failure",
        attribute.id, attribute.value, attribute.threshold;
    pub(super) fn held_back(total: Nanos, limit: &str) = "held back for {total} by {limit}";
}

/// Limits of a cloud that throttle a drive.
pub(super) const VOLUME_IOPS: &str = "the volume's IOPS limit";
pub(super) const VOLUME_THROUGHPUT: &str = "the volume's throughput limit";
pub(super) const MACHINE_IOPS: &str = "the virtual machine's IOPS limit";
pub(super) const MACHINE_THROUGHPUT: &str = "the virtual machine's throughput limit";

// Model, others

likenew_core::sentences! {
    pub(super) fn database_warning(warning: &str) =
        "the smartmontools database warns: {}", warning.trim_end_matches('.');
    pub(super) fn shingled() = "a shingled (SMR) disk, according to the smartmontools database";
    pub(super) fn virtual_disk(by: &str) = "a virtual disk ({by}); its medium is unknown";
    pub(super) fn other_io(read: u64, written: u64) =
        "other programs read {} and wrote {} meanwhile", Rate(read as f64), Rate(written as f64);
}

/// `hours` are the drive's power-on hours, if the fault comes after a number of them.
pub(super) fn firmware_fault(fault: &FirmwareFault, version: &str, hours: Option<u64>) -> String {
    let hours = hours.map_or(String::new(), |hours| format!(" (it was on for {})", count(hours, "hour")));
    let mended = fault.fixed.as_ref().map_or(String::new(), |fixed| format!("; {fixed} mends it"));
    format!("firmware {version} is known to be faulty: {}{hours}{mended}", fault.happens)
}

pub(crate) fn update_firmware(fault: &FirmwareFault) -> Action {
    let backup = if fault.data_at_risk { "Back up, then update" } else { "Update" };
    let text =
        format!("{backup} the firmware with fwupd or the manufacturer's tool (source: {})", fault.source);
    Action::new("update_firmware", text).command("fwupdmgr get-updates")
}

// Facts of another machine

pub(crate) const NOT_SHOWN: &str = "not_shown";
/// Most files that are listed by name; more are only counted.
const FILES_LISTED: usize = 6;

/// What was read, and in which files nothing was recognized.
pub(super) fn read_from(reported: &Reported) -> Answer {
    let sources = &reported.sources;
    let programs = distinct(sources.iter().map(|source| &*source.program));
    let in_file = |source: &ReportedSource| format!("{} in {}", source.program, source.file);
    let text = match sources.len() {
        0 => "no output about a drive".to_owned(),
        1..=FILES_LISTED => list(&distinct(sources.iter().map(in_file))),
        outputs => format!("{} ({})", list(&programs), count(outputs as u64, "output")),
    };
    let answer = Answer::info("read_from", "Read from", text);
    match &reported.unread[..] {
        [] => answer,
        files if files.len() > FILES_LISTED => {
            answer.caveat(format!("{} hold no output that is read.", count(files.len() as u64, "file")))
        }
        files => answer.caveat(format!("No output that is read is in {}.", list(files))),
    }
}

/// What the outputs do not show, with commands that do; `None` if nothing is missing.
pub(super) fn not_shown(missing: &[MissingOutput]) -> Option<Answer> {
    let shows = distinct(missing.iter().map(|output| &*output.shows));
    let answer = Answer::info(NOT_SHOWN, "Not in these outputs", list(&shows));
    let answer = missing.iter().take(FILES_LISTED).map(add_output).fold(answer, Answer::action);
    (!missing.is_empty()).then_some(answer)
}

fn add_output(missing: &MissingOutput) -> Action {
    Action::new("add_output", format!("Add what shows {}", missing.shows)).command(missing.command.clone())
}

/// Commands that show the health of the first drives whose outputs do not.
pub(super) fn health_outputs(missing: &[MissingOutput]) -> Vec<Action> {
    const DRIVES_LISTED: usize = 2;
    let is_health = |output: &&MissingOutput| output.command.contains("smartctl");
    missing.iter().filter(is_health).take(DRIVES_LISTED).map(add_output).collect()
}

/// On a failing drive no speed test is advised: it should be read only to save its data.
pub(crate) fn speed_not_shown(facts: &str, is_failing: bool) -> (String, Answer) {
    let answer = Answer::unknown("undecided", "Speed", "no result of a speed test is among these outputs");
    let summary = format!("{facts} How fast it is, these outputs do not say.");
    if is_failing {
        return (summary, answer);
    }
    let action = Action::new("measure", "Measure it there").command("likenew check FOLDER");
    let fio = Action::new("add_output", "Or add what fio prints, read only").command(
        "fio --name=read --filename=FILE --readonly --direct=1 --rw=read --bs=1M --iodepth=8 --ioengine=libaio \
         --runtime=10 --time_based --output-format=json",
    );
    (summary, answer.action(action).action(fio))
}

// Overview

pub(super) const PRODUCT: &str = "product";

/// `Samsung PM981: PCIe 3.0 ×4, TLC, DRAM; rated 3,000 MB/s read, 1,800 MB/s write`.
pub(super) fn product(drive: &str, rated: Rated) -> Answer {
    let Rated { product, drive: sold } = rated;
    let rpm = product.rpm.map(|rpm| format!("{} rpm", digits(f64::from(rpm))));
    let memory = product.memory.map(|memory| match memory {
        Memory::Dram => "DRAM",
        Memory::Hmb => "no DRAM (host memory buffer)",
        Memory::None => "no DRAM",
    });
    let built = [product.link.map(Link::words), product.medium.map(Medium::words), memory];
    let built = built.into_iter().flatten().map(str::to_owned).chain(rpm);
    let rates = [(sold.read, "read"), (sold.write, "write")];
    let rates = rates.into_iter().filter_map(|(mb, what)| Some(format!("{} {what}", Rate(mb? * 1e6))));
    let endurance = sold.tbw.map(|tb| format!("{tb} TB written"));
    let rated_for: Vec<String> = rates.chain(endurance).collect();
    let rated_for = (!rated_for.is_empty()).then(|| format!("rated {}", rated_for.join(", ")));
    let about = built.collect::<Vec<_>>().join(", ");
    let about = [Some(about), rated_for, product.note.clone()].into_iter().flatten();
    let about = about.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
    let text = format!("{drive} is {}: {about}", product.name);
    Answer::info(PRODUCT, "Product", text).with_evidence(rated.source().to_owned())
}

/// Hours of a year.
const YEAR_HOURS: f64 = 8766.0;

/// `written` and `rated` are in bytes, `hours_left` in power-on hours.
pub(super) fn endurance(drive: &str, written: f64, rated: f64, hours_left: Option<f64>) -> Answer {
    let terabytes = |bytes: f64| format!("{} TB", digits(bytes / 1e12));
    let used = format!(
        "{drive} has taken {} of the {} that it is rated for ({})",
        terabytes(written),
        terabytes(rated),
        Share(written / rated)
    );
    let text = match hours_left.map(|hours| hours / YEAR_HOURS) {
        Some(0.0) => format!("{used}; its warranty ends there, and many last longer"),
        Some(years) if years > 100.0 => format!("{used}; the rest lasts more than 100 years at this pace"),
        Some(years) => format!("{used}; the rest lasts {} years with power at this pace", digits(years)),
        None => used,
    };
    Answer::info("endurance", "Endurance", text)
}

/// For a drive of unknown model.
pub(super) fn class(drive: &str, usual: &Usual) -> Answer {
    let (low, high) = usual.range();
    let usual_reads = range(Rate(low), Rate(high));
    let text = format!("{drive} is {}; usual are {usual_reads} read", usual.class.words());
    Answer::info(PRODUCT, "Product", text)
}

/// The drives on the first screen.
pub(super) fn drive_table(drives: &[Drive]) -> OverviewTable {
    let text = |value: Option<String>| value.unwrap_or_else(|| "unknown".into());
    let row = |drive: &Drive| {
        let used = drive.health.used_percent.get();
        [
            drive.name.clone(),
            text(drive.identity.model.value().cloned()),
            text(drive.identity.capacity_bytes.get().map(|bytes| Size(bytes).to_string())),
            text(drive.link.words()),
            health(drive),
            text(used.map(|percent| format!("{} used", Share(percent / 100.0)))),
        ]
    };
    overview_table(["drive", "model", "capacity", "link", "health", "endurance"], drives.iter().map(row))
}

fn health(drive: &Drive) -> String {
    let state = match drive.health.failing.get() {
        Some(true) => "FAILING",
        Some(false) => "OK",
        None => "unknown",
    };
    match drive.health.temperature_c.get() {
        Some(degrees) => format!("{state}, {degrees:.0} °C"),
        None => state.into(),
    }
}

pub(crate) const HEALTH: &str = "health";
pub(crate) const REMARKS: &str = "remarks";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_drives_endurance_is_said_in_years() {
        let said = |written: f64, hours| endurance("nvme0n1", written * 1e12, 600e12, hours).answer;
        assert_eq!(
            said(120.0, Some(35_064.0)),
            "nvme0n1 has taken 120 TB of the 600 TB that it is rated for (20%); the rest lasts 4.00 years with power at this pace"
        );
        assert!(said(1.0, Some(1e7)).ends_with("more than 100 years at this pace"));
        assert!(said(700.0, Some(0.0)).ends_with("(117%); its warranty ends there, and many last longer"));
        assert!(said(1.0, None).ends_with("(0.2%)"), "{}", said(1.0, None));
    }

    #[test]
    fn a_product_is_said_as_an_owner_knows_it() {
        let rated_product =
            |model: &str, bytes| likenew_rated::by_reported_model(model, Some(bytes)).unwrap();
        let answer = product("nvme0n1", rated_product("SAMSUNG MZVLB512HAJQ-00000", 512_110_190_592));
        assert!(answer.answer.starts_with("nvme0n1 is Samsung PM981: PCIe 3.0 ×4"), "{}", answer.answer);
        assert!(answer.answer.contains("; rated 3,000 MB/s read, 1,800 MB/s write"), "{}", answer.answer);
        assert!(answer.evidence[0].starts_with("http"), "{:?}", answer.evidence);
        let disk = product("sda", rated_product("ST1000DM003-1ER162", 1_000_204_886_016));
        assert!(disk.answer.contains("7,200 rpm; rated 210 MB/s read"), "{}", disk.answer);
    }

    #[test]
    fn the_summary_says_health_and_what_stands_out() {
        let sound = sound();
        assert_eq!(
            summary(&sound, &[], 7, 82),
            "Nothing unusual. No drive reports a failure (7 of 82 facts unavailable)."
        );
        assert_eq!(summary(&sound, &["a", "b"], 0, 82), "2 things stand out. No drive reports a failure.");
        assert_eq!(
            summary(&sound, &["The bridge blocks TRIM"], 0, 82),
            "The bridge blocks TRIM. No drive reports a failure."
        );
        assert_eq!(layer_blocks_trim_sentence("dm-0", "cache"), "dm-0 (cache) blocks TRIM");
        let unreported = unreported(&["sda"], "it takes root");
        assert_eq!(
            summary(&unreported, &[], 0, 9),
            "Drive health unknown for sda (it takes root). Nothing else unusual."
        );
        let failing = failing(&[("sda".into(), vec!["it is read-only".into()])]);
        assert_eq!(summary(&failing, &["a", "b", "c"], 0, 9), "sda reports that it is failing.");
        assert_eq!(failing.evidence, ["sda: it is read-only."]);
    }

    #[test]
    fn remarks_read_after_their_subject() {
        let answer = remark_answer("sda", &slow_link(985_000_000, 3_938_000_000));
        assert_eq!(
            format!("{}: {}", answer.question, answer.answer),
            "sda: link carries 985 MB/s now, of 3,940 MB/s possible; a link that saves power may slow down while idle"
        );
        assert_eq!(crc_errors(1), "1 CRC error on its cable, over its lifetime");
        assert_eq!(full(0.93), "93% full");
    }

    #[test]
    fn a_drive_is_one_line() {
        let mut drive = Drive { name: "nvme0n1".into(), ..Drive::default() };
        drive.identity.model = Fact::new("X".into(), "t");
        drive.identity.capacity_bytes = Fact::new(1 << 40, "t");
        drive.link.bus = Fact::new("PCIe".into(), "t");
        drive.link.ceiling_bytes_per_s = Fact::new(3_938_000_000, "t");
        drive.health.failing = Fact::new(false, "t");
        drive.health.used_percent = Fact::new(3.0, "t");
        drive.health.temperature_c = Fact::new(41.0, "t");
        let table = drive_table(&[drive, Drive { name: "sda".into(), ..Drive::default() }]);
        assert_eq!(
            table.rows[0].cells,
            ["nvme0n1", "X", "1 TiB", "PCIe, 3,940 MB/s", "OK, 41 °C", "3% used"]
        );
        assert_eq!(table.rows[1].cells, ["sda", "unknown", "unknown", "unknown", "unknown", "unknown"]);
    }
}
