//! Collects what is unusual among facts. It concludes no causes; the diagnosis does.

use likenew_core::facts::{Attribute, Counts, Drive, DriveKind, Fact, Facts, FileSystem, Layer, LayerKind};
use likenew_core::findings::{Action, Answer};
use likenew_core::shell::with_sudo;
use likenew_core::units::Nanos;
use likenew_diagnosis::{Change, SETTINGS, Setting, enable_timer, pass_trim};
use likenew_rated::{FirmwareFault, firmware_faults_of};
use serde::Serialize;

use super::wording::{self, Limit};

/// Something unusual.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Remark {
    /// The layer, drive or mount point.
    pub(super) subject: String,
    /// What is unusual about it, put after its name, without a full stop.
    #[serde(rename = "remark")]
    pub(super) words: String,
    /// The remark as a sentence of its own, without its full stop.
    #[serde(skip)]
    pub(super) sentence: String,
    /// What mends it.
    #[serde(skip)]
    pub(super) actions: Vec<Action>,
    /// What the actions risk: a sentence.
    #[serde(skip)]
    pub(super) risk: Option<&'static str>,
}

/// Speed of a link over what both ends support, as a ratio, below which it gets a remark. Chosen: encodings
/// of one link speed differ by up to 5%.
const LINK_SHARE: f64 = 0.95;
/// Percent from which a file system is nearly full, and a drive's endurance nearly used. Chosen: a tenth is
/// left.
const FULL_PERCENT: f64 = 90.0;
/// Bytes a second from which I/O of other programs disturbs a measurement.
const OTHERS_BYTES_PER_S: u64 = 1_000_000;
/// High-speed USB 2, in bits a second (USB 2.0, §5.3).
const USB2_BITS_PER_S: u64 = 480_000_000;

/// Everything unusual, from the folder down to the drives.
pub(super) fn remarks(facts: &Facts) -> Vec<Remark> {
    let mut remarks = Vec::new();
    if let Some(system) = &facts.file_system {
        file_system_remarks(system, facts, &mut remarks);
    }
    // Only the lowest layer that does not rotate counts, because those above repeat its report.
    let is_block =
        |layer: &&Layer| layer.takes_trim.get() == Some(false) && layer.rotates.get() != Some(true);
    if let Some(layer) = facts.stack.iter().rev().find(is_block) {
        trim_remarks(layer, facts, &mut remarks);
    }
    facts.stack.iter().for_each(|layer| layer_remarks(layer, &mut remarks));
    let unusual = changes(facts, |setting| setting.is_unusual);
    remarks.extend(unusual.map(|(_, change)| Remark {
        actions: typed(change.actions(), facts),
        risk: Some(change.risk),
        ..remark(&change.subject, change.words)
    }));
    for drive in &facts.drives {
        link_remarks(drive, &mut remarks);
        health_remarks(drive, &mut remarks);
        count_remarks(drive, &mut remarks);
        model_remarks(drive, &mut remarks);
    }
    remarks
}

fn remark(subject: &str, words: String) -> Remark {
    let sentence = wording::remark_sentence(subject, &words);
    Remark { subject: subject.to_owned(), words, sentence, actions: Vec::new(), risk: None }
}

impl Remark {
    pub(super) fn answer(&self) -> Answer {
        let answer = wording::remark_answer(&self.subject, &self.words);
        let answer = self.actions.iter().cloned().fold(answer, Answer::action);
        self.risk.into_iter().fold(answer, Answer::caveat)
    }
}

/// Commands as the user of these facts types them.
fn typed(mut actions: Vec<Action>, facts: &Facts) -> Vec<Action> {
    if facts.machine.root.get() != Some(true) {
        let commands = actions.iter_mut().flat_map(|action| [&mut action.command, &mut action.undo]);
        commands.flatten().for_each(|command| *command = with_sudo(command));
    }
    actions
}

/// Settings that can be better, each with its change.
fn changes(
    facts: &Facts,
    is_wanted: impl Fn(&Setting) -> bool,
) -> impl Iterator<Item = (&'static Setting, Change)> {
    let wanted = SETTINGS.iter().filter(move |setting| is_wanted(setting));
    wanted.flat_map(|setting| setting.changes(facts).into_iter().map(move |change| (setting, change)))
}

/// Settings that can be better, as answers.
pub(crate) fn settings(facts: &Facts, is_wanted: impl Fn(&Setting) -> bool) -> Vec<Answer> {
    let answer = |(setting, change): (&Setting, Change)| {
        let answer = wording::setting(setting.name, &change);
        typed(change.actions(), facts).into_iter().fold(answer, Answer::action)
    };
    changes(facts, is_wanted).map(answer).collect()
}

/// Everything lasting that can be changed: remarks with a fix, and settings that trade speed for something else.
pub(crate) fn lasting(facts: &Facts) -> Vec<Answer> {
    let mendable = remarks(facts).into_iter().filter(|remark| !remark.actions.is_empty());
    mendable.map(|remark| remark.answer()).chain(settings(facts, |setting| !setting.is_unusual)).collect()
}

fn file_system_remarks(system: &FileSystem, facts: &Facts, remarks: &mut Vec<Remark>) {
    let point = &system.point;
    if let Some(percent) = system.used_percent.get().filter(|percent| *percent >= FULL_PERCENT) {
        remarks.push(remark(point, wording::full(percent / 100.0)));
    }
    if system.compresses.get() == Some(true) {
        remarks.push(remark(point, wording::compresses()));
    }
    let flash = facts.drives.iter().any(|drive| drive.identity.rotation_rpm.get() == Some(0));
    if system.trimming.is_sent() == Some(false) && flash && facts.trim_blocked_by().is_none() {
        let is_enabled = system.trimming.timer_enabled.get() == Some(true);
        let reason = system.trimming.timer_coverage_reason.value().filter(|_| is_enabled);
        let actions = if is_enabled { Vec::new() } else { typed(vec![enable_timer()], facts) };
        remarks.push(Remark { actions, ..remark(point, wording::no_trim_sent(reason.map(String::as_str))) });
    }
}

/// The lowest layer that blocks TRIM. If a bridge hides TRIM support, `layer_remarks` says so instead.
fn trim_remarks(layer: &Layer, facts: &Facts, remarks: &mut Vec<Remark>) {
    let blocks = facts.trim_blocked_by().is_some_and(|lowest| lowest.name == layer.name);
    let is_named = layer.kind != LayerKind::Crypt || layer.label.value().is_some();
    let passes = pass_trim(facts).filter(|_| blocks && is_named);
    let actions = typed(passes.into_iter().collect(), facts);
    if !layer.kind.is_bottom() {
        let sentence = wording::layer_blocks_trim_sentence(&layer.name, layer.kind.words());
        remarks.push(Remark { sentence, actions, ..remark(&layer.name, wording::layer_blocks_trim()) });
    } else if !is_unprovisioned(layer) {
        remarks.push(Remark { actions, ..remark(&layer.name, wording::drive_without_trim()) });
    }
}

/// Whether the kernel sends no TRIM because the drive does not announce support.
fn is_unprovisioned(layer: &Layer) -> bool {
    layer.provisioning_mode.value().is_some_and(|mode| mode == "full" || mode == "disabled")
}

fn layer_remarks(layer: &Layer, remarks: &mut Vec<Remark>) {
    let name = &layer.name;
    if let Some(missing) = layer.members_missing.get().filter(|missing| *missing > 0) {
        remarks.push(remark(name, wording::members_missing(missing)));
    }
    if let Some(errors) = layer.member_errors.get().filter(|errors| *errors > 0) {
        remarks.push(remark(name, wording::member_errors(errors)));
    }
    if let Some(task) = layer.busy_with.value().filter(|task| !matches!(task.as_str(), "idle" | "frozen")) {
        remarks.push(remark(name, wording::array_busy(task)));
    }
    if let Some((command, undo)) = layer.unmap_commands() {
        let action = wording::send_unmap().command(with_sudo(&command)).undo(with_sudo(&undo));
        remarks.push(Remark { actions: vec![action], ..remark(name, wording::trim_is_unsent()) });
    } else if is_unprovisioned(layer) {
        remarks.push(remark(name, wording::bridge_hides_trim()));
    }
}

fn link_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let (link, name) = (&drive.link, &drive.name);
    let is_slower = |slow: u64, fast: u64| (slow as f64) < LINK_SHARE * fast as f64;
    if let (Some(now), Some(possible)) = (link.ceiling_bytes_per_s.get(), link.possible_bytes_per_s.get())
        && is_slower(now, possible)
    {
        remarks.push(remark(name, wording::slow_link(now, possible)));
    }
    if let [drive_link, above @ ..] = &link.hops[..] {
        let known = above.iter().filter_map(|hop| Some((hop, hop.bytes_per_s_max.get()?)));
        let slowest = known.min_by_key(|(_, most)| *most);
        if let (Some(drive_most), Some((hop, most))) = (drive_link.bytes_per_s_max.get(), slowest)
            && is_slower(most, drive_most)
        {
            remarks.push(remark(name, wording::slow_hop(drive_most, &hop.kind, &hop.name, most)));
        }
    }
    if drive.kind == DriveKind::Usb {
        let is_slow = |bits: u64| bits <= USB2_BITS_PER_S;
        if let Some(hop) = link.hops.iter().find(|hop| hop.line_bits_per_s.get().is_some_and(is_slow)) {
            remarks.push(remark(name, wording::usb2(&hop.kind, &hop.name)));
        }
        if link.driver.value().is_some_and(|driver| driver == "usb-storage") {
            remarks.push(remark(name, wording::usb_storage()));
        }
    }
}

fn health_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let (health, subject) = (&drive.health, &drive.health_subject());
    for warning in health.warnings.value().into_iter().flatten() {
        remarks.push(remark(subject, wording::warns(warning)));
    }
    // Attributes that predict failure are already among the warnings.
    let is_at_limit = |attribute: &&Attribute| !attribute.prefail && attribute.has_failed();
    for attribute in health.attributes.value().into_iter().flatten().filter(is_at_limit) {
        remarks.push(remark(subject, wording::attribute_at_limit(attribute)));
    }
    if let (Some(now), Some(limit)) = (health.temperature_c.get(), health.temperature_warning_c.get())
        && now >= limit
    {
        remarks.push(remark(subject, wording::hot(now, limit)));
    }
    if health.throttling.get() == Some(true) {
        remarks.push(remark(subject, wording::throttling()));
    }
    if let Some(used) = health.used_percent.get().filter(|used| *used >= FULL_PERCENT) {
        remarks.push(remark(subject, wording::endurance_used(used / 100.0)));
    }
    // A drive that reports itself as failing has this among its warnings.
    if let (Some(spare), Some(least)) = (health.spare_percent.get(), health.spare_threshold_percent.get())
        && spare < least
        && health.failing.get() != Some(true)
    {
        remarks.push(remark(subject, wording::spare_low(spare / 100.0, least / 100.0)));
    }
    if let Some(pending) = health.pending_sectors.get().filter(|pending| *pending > 0) {
        remarks.push(remark(subject, wording::pending_sectors(pending)));
    }
    if drive.host_memory.as_ref().and_then(|memory| memory.is_refused()) == Some(true) {
        let wanted = drive.host_memory.as_ref().and_then(|memory| memory.wanted_bytes.get()).unwrap_or(0);
        remarks.push(remark(&drive.name, wording::no_host_memory(wanted)));
    }
}

fn count_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let Counts {
        crc_errors,
        non_medium_errors,
        link_downshifts,
        pcie_corrected_errors,
        pcie_uncorrected_errors,
        media_errors,
        reallocated_sectors,
        uncorrectable_sectors,
        self_tests_failed,
        ..
    } = &drive.counts;
    let logged =
        if drive.kind == DriveKind::Nvme { &Fact::NotQueried } else { &drive.counts.error_log_entries };
    let counts: [(_, Sentence<u64>); 10] = [
        (crc_errors, wording::crc_errors),
        (non_medium_errors, wording::non_medium_errors),
        (link_downshifts, wording::link_downshifts),
        (pcie_corrected_errors, wording::corrected_link_errors),
        (pcie_uncorrected_errors, wording::uncorrected_link_errors),
        (media_errors, wording::media_errors),
        (reallocated_sectors, wording::reallocated_sectors),
        (uncorrectable_sectors, wording::uncorrectable_sectors),
        (self_tests_failed, wording::self_tests_failed),
        (logged, wording::logged_errors),
    ];
    for (fact, words) in counts {
        let count = fact.get().filter(|count| *count > 0);
        remarks.extend(count.map(|count| remark(&drive.health_subject(), words(count))));
    }
    time_remarks(drive, remarks);
    let log = &drive.counts;
    for (fact, what) in [
        (&log.log_timeouts, "timeout"),
        (&log.log_resets, "reset"),
        (&log.log_io_errors, "I/O error"),
        (&log.log_link_errors, "link error"),
    ] {
        let count = fact.get().filter(|count| *count > 0);
        remarks.extend(count.map(|count| remark(&drive.name, wording::in_kernel_log(count, what))));
    }
}

/// A sentence about one number.
type Sentence<T> = fn(T) -> String;

/// Time for which the drive was throttled, by itself or by a cloud limit.
fn time_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let counts = &drive.counts;
    let seconds: [(_, Sentence<Nanos>); 3] = [
        (&counts.throttled_light_s, wording::throttled_light),
        (&counts.throttled_heavy_s, wording::throttled_heavy),
        (&counts.hot_s, wording::critically_hot),
    ];
    for (fact, words) in seconds {
        let time = fact.get().filter(|seconds| *seconds > 0).map(Nanos::from_secs);
        remarks.extend(time.map(|time| remark(&drive.name, words(time))));
    }
    for (fact, limit) in [
        (&counts.volume_iops_exceeded_us, Limit::VolumeIops),
        (&counts.volume_throughput_exceeded_us, Limit::VolumeThroughput),
        (&counts.instance_iops_exceeded_us, Limit::MachineIops),
        (&counts.instance_throughput_exceeded_us, Limit::MachineThroughput),
    ] {
        let time = fact.get().filter(|micros| *micros > 0).map(|micros| Nanos(micros.saturating_mul(1_000)));
        remarks.extend(time.map(|time| remark(&drive.name, wording::held_back(time, limit))));
    }
}

fn model_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let name = &drive.name;
    if let Some(Some(warning)) = drive.database.warning.value() {
        let warning = warning.split_whitespace().collect::<Vec<_>>().join(" ");
        remarks.push(remark(name, wording::database_warning(&warning)));
    }
    for fault in faults_met(drive) {
        let version = drive.identity.firmware.value().map_or("", String::as_str);
        let hours = fault.hours.and(drive.counts.power_on_hours.get());
        let action = wording::update_firmware(fault);
        remarks.push(Remark {
            actions: vec![action],
            ..remark(name, wording::firmware_fault(fault, version, hours))
        });
    }
    if drive.database.shingled.get() == Some(true) {
        remarks.push(remark(name, wording::shingled()));
    }
    if let Some(Some(by)) = drive.identity.virtual_by.value() {
        remarks.push(remark(name, wording::virtual_disk(by)));
    }
    let [read, written] =
        [&drive.others_read_bytes_per_s, &drive.others_write_bytes_per_s].map(|fact| fact.get().unwrap_or(0));
    if read.saturating_add(written) >= OTHERS_BYTES_PER_S {
        remarks.push(remark(name, wording::other_io(read, written)));
    }
}

/// Known firmware faults of a drive that its owner meets, because Linux does not avoid them.
pub(crate) fn faults_met(drive: &Drive) -> impl Iterator<Item = &'static FirmwareFault> + use<> {
    firmware_faults_of(drive).into_iter().filter(|fault| !fault.linux_avoids)
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::Hop;

    use super::*;

    fn words(drive: Drive) -> Vec<String> {
        remarks(&Facts { drives: vec![drive], ..Facts::default() })
            .into_iter()
            .map(|remark| remark.words)
            .collect()
    }

    fn fact<T>(value: T) -> Fact<T> {
        Fact::new(value, "test")
    }

    #[test]
    fn a_link_below_what_its_parts_could_carry_stands_out() {
        let hop = |kind: &str, most| Hop { kind: kind.into(), bytes_per_s_max: fact(most), ..Hop::default() };
        let mut drive = Drive::default();
        drive.link.ceiling_bytes_per_s = fact(985_000_000);
        drive.link.possible_bytes_per_s = fact(3_938_000_000);
        assert!(words(drive.clone())[0].contains("985 MB/s"), "{:?}", words(drive));
        let mut drive = Drive::default();
        drive.link.hops = vec![hop("the drive", 7_877), hop("the port above", 1_969)];
        assert!(words(drive.clone())[0].contains("the port above"), "{:?}", words(drive));
        let mut drive = Drive::default();
        drive.link.hops = vec![hop("the drive", 3_938), hop("the port above", 7_877)];
        assert_eq!(words(drive), [""; 0], "a port may be better than its drive");
    }

    #[test]
    fn nothing_stands_out_of_what_is_not_known_or_zero() {
        let mut drive = Drive::default();
        drive.counts.crc_errors = fact(0);
        drive.health.temperature_c = fact(50.0);
        drive.counts.media_errors = Fact::unknown("it takes root", "SMART");
        assert_eq!(words(drive.clone()), [""; 0]);
        drive.health.temperature_warning_c = fact(50.0);
        drive.counts.crc_errors = fact(7);
        assert_eq!(words(drive).len(), 2);
    }

    #[test]
    fn recorded_errors_are_never_nothing_unusual() {
        let set: [fn(&mut Drive); 7] = [
            |drive| drive.counts.media_errors = fact(536),
            |drive| drive.counts.uncorrectable_sectors = fact(8),
            |drive| drive.counts.reallocated_sectors = fact(260),
            |drive| drive.counts.self_tests_failed = fact(1),
            |drive| drive.counts.error_log_entries = fact(3),
            |drive| drive.health.pending_sectors = fact(1),
            |drive| {
                (drive.health.spare_percent, drive.health.spare_threshold_percent) = (fact(5.0), fact(10.0))
            },
        ];
        for (number, set) in set.iter().enumerate() {
            let mut drive = Drive { kind: DriveKind::Scsi, ..Drive::default() };
            set(&mut drive);
            assert_eq!(words(drive).len(), 1, "{number}");
        }
        let mut nvme = Drive { kind: DriveKind::Nvme, ..Drive::default() };
        nvme.counts.error_log_entries = fact(1700);
        assert_eq!(words(nvme), [""; 0], "commands that NVMe does not support");
    }

    #[test]
    fn an_attribute_at_its_limit_that_predicts_no_failure_is_said() {
        let words_for = |value, prefail| {
            let attribute = Attribute { id: 184, value, threshold: 99, prefail, ..Attribute::default() };
            let mut drive = Drive { kind: DriveKind::Sata, ..Drive::default() };
            drive.health.attributes = fact(vec![attribute]);
            words(drive)
        };
        let [said] = &words_for(98, false)[..] else { panic!("one attribute") };
        assert!(said.contains("attribute 184") && said.contains("predicts no failure"), "{said}");
        assert_eq!(words_for(100, false), [""; 0]);
        assert_eq!(words_for(98, true), [""; 0], "it is a warning of the drive's");
    }

    #[test]
    fn a_drive_that_takes_no_trim_is_reported_once() {
        let words_for = |kind, mode: Option<&str>| {
            let provisioning_mode = mode.map_or(Fact::NotQueried, |mode| fact(mode.to_owned()));
            let layer = Layer { kind, takes_trim: fact(false), provisioning_mode, ..Layer::default() };
            let remarks = remarks(&Facts { stack: vec![layer], ..Facts::default() });
            let [remark] = &remarks[..] else { panic!("{remarks:?}") };
            remark.words.clone()
        };
        assert!(words_for(LayerKind::Crypt, None).contains("blocks TRIM, so the drive below"));
        assert!(words_for(LayerKind::Disk, None).contains("does not support TRIM"));
        assert!(
            words_for(LayerKind::UsbDisk, Some("full")).contains("bridge or controller does not announce")
        );
        let layer = Layer {
            kind: LayerKind::UsbDisk,
            takes_trim: fact(false),
            provisioning_mode: fact("full".into()),
            unmap_rule: fact("RULE".into()),
            ..Layer::default()
        };
        let remarks = remarks(&Facts { stack: vec![layer], ..Facts::default() });
        let [remark] = &remarks[..] else { panic!("{remarks:?}") };
        assert!(remark.words.starts_with("supports TRIM (UNMAP)"), "{}", remark.words);
        let command = remark.actions[0].command.clone().unwrap();
        assert!(command.starts_with("echo RULE | sudo tee -a /etc/udev/rules.d/"), "{command}");
    }

    #[test]
    fn a_known_fault_of_this_version_is_said_with_what_mends_it_and_no_other_version_is_accused() {
        let words_for = |model: &str, version: &str, hours| {
            let mut drive = Drive { kind: DriveKind::Sata, ..Drive::default() };
            drive.identity.model = fact(model.to_owned());
            drive.identity.firmware = fact(version.to_owned());
            drive.counts.power_on_hours = fact(hours);
            words(drive)
        };
        let [said] = &words_for("Samsung SSD 840 EVO 250GB", "EXT0BB6Q", 100)[..] else {
            panic!("one fault")
        };
        assert!(said.contains("old data") && said.ends_with("EXT0DB6Q mends it"), "{said}");
        let [said] = &words_for("M4-CT128M4SSD2", "0009", 4_900)[..] else { panic!("one fault") };
        assert!(said.contains("5,184 hours") && said.contains("on for 4,900 hours"), "{said}");
        assert_eq!(words_for("Samsung SSD 840 EVO 250GB", "EXT0DB6Q", 100), [""; 0]);
        assert_eq!(words_for("Samsung SSD 860 EVO 1TB", "RVT02B6Q", 100), [""; 0], "Linux avoids it");
    }

    #[test]
    fn a_setting_that_is_wrong_is_said_with_its_commands_and_what_is_usual_is_not() {
        let facts_with = |scheduler: &str, root| {
            let layer = Layer {
                name: "sda".into(),
                kind: LayerKind::Disk,
                scheduler: fact(scheduler.to_owned()),
                rotates: fact(true),
                ..Layer::default()
            };
            let mut drive = Drive { name: "sda".into(), kind: DriveKind::Sata, ..Drive::default() };
            drive.power.link_policy = Fact::new("med_power_with_dipm".into(), "/sys/class/scsi_host/host0/x");
            let mut facts = Facts { stack: vec![layer], drives: vec![drive], ..Facts::default() };
            facts.machine.root = fact(root);
            facts
        };
        let unusual = remarks(&facts_with("none", false));
        let [remark] = &unusual[..] else { panic!("{unusual:?}") };
        let answer = remark.answer();
        assert_eq!(answer.actions.len(), 2);
        assert_eq!(
            answer.actions[0].command.as_deref(),
            Some("echo mq-deadline | sudo tee /sys/block/sda/queue/scheduler")
        );
        assert_eq!(answer.caveats.len(), 1);
        let as_root = remarks(&facts_with("none", true))[0].answer();
        assert!(as_root.actions[0].command.as_ref().unwrap().ends_with(" > /sys/block/sda/queue/scheduler"));
        assert_eq!(remarks(&facts_with("mq-deadline", false)), [], "power saving is usual");
        let ids: Vec<String> =
            lasting(&facts_with("none", false)).into_iter().map(|answer| answer.id).collect();
        assert_eq!(ids, ["remarks", "setting_power_saving"]);
    }

    #[test]
    fn a_partition_is_held_against_the_blocks_below_it() {
        let disk = Layer { name: "sda".into(), physical_block_bytes: fact(4096), ..Layer::default() };
        let part = |start| Layer {
            name: "sda1".into(),
            kind: LayerKind::Partition,
            on: vec!["sda".into()],
            start_bytes: fact(start),
            ..Layer::default()
        };
        let remark_count =
            |start| remarks(&Facts { stack: vec![part(start), disk.clone()], ..Facts::default() }).len();
        assert_eq!((remark_count(63 * 512), remark_count(1 << 20)), (1, 0));
    }
}
