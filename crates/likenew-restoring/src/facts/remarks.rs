//! Collects what is unusual among facts. It concludes no causes; the diagnosis does.

use likenew_core::facts::{Attribute, Drive, DriveKind, Fact, Facts, FileSystem, Layer, LayerKind};
use likenew_core::findings::{Action, Answer};
use likenew_core::shell::with_sudo;
use likenew_core::units::Nanos;
use likenew_diagnosis::{Change, SETTINGS, Setting, enable_timer, pass_trim};
use likenew_rated::{FirmwareFault, firmware_faults_of};
use serde::Serialize;

use super::wording;

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

/// Adds what is unusual about a subject, of things that may be.
fn add(remarks: &mut Vec<Remark>, subject: &str, unusual: impl IntoIterator<Item = Option<String>>) {
    remarks.extend(unusual.into_iter().flatten().map(|words| remark(subject, words)));
}

fn above_zero(count: &Fact<u64>) -> Option<u64> {
    count.get().filter(|count| *count > 0)
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
    let full = system.used_percent.get().filter(|percent| *percent >= FULL_PERCENT);
    let compresses = system.compresses.get() == Some(true);
    let full = full.map(|percent| wording::full(percent / 100.0));
    add(remarks, point, [full, compresses.then(wording::compresses)]);
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
    let task = layer.busy_with.value().filter(|task| !matches!(task.as_str(), "idle" | "frozen"));
    let of_array = [
        above_zero(&layer.members_missing).map(wording::members_missing),
        above_zero(&layer.member_errors).map(wording::member_errors),
        task.map(|task| wording::array_busy(task)),
    ];
    add(remarks, name, of_array);
    if let Some((command, undo)) = layer.unmap_commands() {
        let action = wording::send_unmap().command(with_sudo(&command)).undo(with_sudo(&undo));
        remarks.push(Remark { actions: vec![action], ..remark(name, wording::trim_is_unsent()) });
    } else if is_unprovisioned(layer) {
        remarks.push(remark(name, wording::bridge_hides_trim()));
    }
}

fn link_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let link = &drive.link;
    let is_slower = |slow: u64, fast: u64| (slow as f64) < LINK_SHARE * fast as f64;
    let speeds = link.ceiling_bytes_per_s.get().zip(link.possible_bytes_per_s.get());
    let slow_link = speeds.filter(|(now, possible)| is_slower(*now, *possible));
    let slow_hop = link.hops.split_first().and_then(|(drive_link, above)| {
        let drive_most = drive_link.bytes_per_s_max.get()?;
        let known = above.iter().filter_map(|hop| Some((hop, hop.bytes_per_s_max.get()?)));
        let (hop, most) = known.min_by_key(|(_, most)| *most)?;
        is_slower(most, drive_most).then(|| wording::slow_hop(drive_most, &hop.kind, &hop.name, most))
    });
    add(remarks, &drive.name, [slow_link.map(|(now, possible)| wording::slow_link(now, possible)), slow_hop]);
    if drive.kind == DriveKind::Usb {
        let is_slow = |bits: u64| bits <= USB2_BITS_PER_S;
        let hop = link.hops.iter().find(|hop| hop.line_bits_per_s.get().is_some_and(is_slow));
        let is_storage = link.driver.value().is_some_and(|driver| driver == "usb-storage");
        let usb2 = hop.map(|hop| wording::usb2(&hop.kind, &hop.name));
        add(remarks, &drive.name, [usb2, is_storage.then(wording::usb_storage)]);
    }
}

fn health_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let health = &drive.health;
    let warnings = health.warnings.value().into_iter().flatten();
    // Attributes that predict failure are already among the warnings.
    let is_at_limit = |attribute: &&Attribute| !attribute.prefail && attribute.has_failed();
    let at_limit = health.attributes.value().into_iter().flatten().filter(is_at_limit);
    let heat = health.temperature_c.get().zip(health.temperature_warning_c.get());
    let used = health.used_percent.get().filter(|used| *used >= FULL_PERCENT);
    // A drive that reports itself as failing has this among its warnings.
    let spare = health.spare_percent.get().filter(|_| health.failing.get() != Some(true));
    let low = spare.zip(health.spare_threshold_percent.get()).filter(|(spare, least)| spare < least);
    let unusual = [
        heat.filter(|(now, limit)| now >= limit).map(|(now, limit)| wording::hot(now, limit)),
        (health.throttling.get() == Some(true)).then(wording::throttling),
        used.map(|used| wording::endurance_used(used / 100.0)),
        low.map(|(spare, least)| wording::spare_low(spare / 100.0, least / 100.0)),
        above_zero(&health.pending_sectors).map(wording::pending_sectors),
    ];
    let warnings = warnings.map(|warning| Some(wording::warns(warning)));
    let at_limit = at_limit.map(|attribute| Some(wording::attribute_at_limit(attribute)));
    add(remarks, &drive.health_subject(), warnings.chain(at_limit).chain(unusual));
    let memory = drive.host_memory.as_ref().filter(|memory| memory.is_refused() == Some(true));
    let wanted = memory.map(|memory| memory.wanted_bytes.get().unwrap_or(0));
    add(remarks, &drive.name, [wanted.map(wording::no_host_memory)]);
}

fn count_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let counts = &drive.counts;
    let own_log = above_zero(&counts.error_log_entries).filter(|_| drive.kind != DriveKind::Nvme);
    let counted = [
        above_zero(&counts.crc_errors).map(wording::crc_errors),
        above_zero(&counts.non_medium_errors).map(wording::non_medium_errors),
        above_zero(&counts.link_downshifts).map(wording::link_downshifts),
        above_zero(&counts.pcie_corrected_errors).map(wording::corrected_link_errors),
        above_zero(&counts.pcie_uncorrected_errors).map(wording::uncorrected_link_errors),
        above_zero(&counts.media_errors).map(wording::media_errors),
        above_zero(&counts.reallocated_sectors).map(wording::reallocated_sectors),
        above_zero(&counts.uncorrectable_sectors).map(wording::uncorrectable_sectors),
        above_zero(&counts.self_tests_failed).map(wording::self_tests_failed),
        own_log.map(wording::logged_errors),
    ];
    add(remarks, &drive.health_subject(), counted);
    time_remarks(drive, remarks);
    let in_log = |fact, what| above_zero(fact).map(|count| wording::in_kernel_log(count, what));
    let logged = [
        in_log(&counts.log_timeouts, "timeout"),
        in_log(&counts.log_resets, "reset"),
        in_log(&counts.log_io_errors, "I/O error"),
        in_log(&counts.log_link_errors, "link error"),
    ];
    add(remarks, &drive.name, logged);
}

/// Time for which the drive was throttled, by itself or by a cloud limit.
fn time_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let counts = &drive.counts;
    let seconds = |fact| above_zero(fact).map(Nanos::from_secs);
    let held_back = |fact, limit| {
        let time = above_zero(fact).map(|micros| Nanos(micros.saturating_mul(1_000)))?;
        Some(wording::held_back(time, limit))
    };
    let throttled = [
        seconds(&counts.throttled_light_s).map(wording::throttled_light),
        seconds(&counts.throttled_heavy_s).map(wording::throttled_heavy),
        seconds(&counts.hot_s).map(wording::critically_hot),
        held_back(&counts.volume_iops_exceeded_us, wording::VOLUME_IOPS),
        held_back(&counts.volume_throughput_exceeded_us, wording::VOLUME_THROUGHPUT),
        held_back(&counts.instance_iops_exceeded_us, wording::MACHINE_IOPS),
        held_back(&counts.instance_throughput_exceeded_us, wording::MACHINE_THROUGHPUT),
    ];
    add(remarks, &drive.name, throttled);
}

fn model_remarks(drive: &Drive, remarks: &mut Vec<Remark>) {
    let name = &drive.name;
    let warning = drive.database.warning.value().and_then(Option::as_ref);
    let warning = warning.map(|warning| warning.split_whitespace().collect::<Vec<_>>().join(" "));
    add(remarks, name, [warning.map(|warning| wording::database_warning(&warning))]);
    remarks.extend(faults_met(drive).map(|fault| Remark {
        actions: vec![wording::update_firmware(fault)],
        ..remark(name, fault_of_drive(fault, drive))
    }));
    let is_shingled = drive.database.shingled.get() == Some(true);
    let virtual_by = drive.identity.virtual_by.value().and_then(Option::as_ref);
    let [read, written] =
        [&drive.others_read_bytes_per_s, &drive.others_write_bytes_per_s].map(|fact| fact.get().unwrap_or(0));
    let disturbs = read.saturating_add(written) >= OTHERS_BYTES_PER_S;
    let unusual = [
        is_shingled.then(wording::shingled),
        virtual_by.map(|by| wording::virtual_disk(by)),
        disturbs.then(|| wording::other_io(read, written)),
    ];
    add(remarks, name, unusual);
}

/// The sentence about a known fault of a drive's firmware, without its full stop.
pub(crate) fn fault_of_drive(fault: &FirmwareFault, drive: &Drive) -> String {
    let version = drive.identity.firmware.value().map_or("", String::as_str);
    wording::firmware_fault(fault, version, fault.hours.and(drive.counts.power_on_hours.get()))
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
