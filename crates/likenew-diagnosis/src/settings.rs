//! Settings of the system and of drives that cost speed, as one table. Each has its condition from facts, the
//! commands for now and for every start, those that undo them, and proof that they took effect.
//!
//! Missing facts give no advice. Settings of a virtual drive can be changed only by its host.

use likenew_core::facts::{Drive, DriveKind, Fact, Facts, Layer, LayerKind};
use likenew_core::findings::{Action, Loss};
use likenew_core::quantity::Size;
use likenew_core::shell::shell_quote;
use likenew_core::units::Number;

use crate::Metric;
use crate::Symptom::{self, Below};

/// A setting.
pub struct Setting {
    /// Its stable name.
    pub name: &'static str,
    /// Whether it is worth a remark by itself. Other settings trade speed for power, as drives do when delivered.
    pub is_unusual: bool,
    /// The symptoms that it can bring about, where no cause is scored for it.
    pub symptoms: &'static [Symptom],
    find: fn(&Facts) -> Vec<Change>,
}

/// All settings.
pub static SETTINGS: &[Setting] = &[
    Setting {
        name: "scheduler",
        is_unusual: true,
        symptoms: &[
            Below(Metric::RandomRead),
            Below(Metric::RandomReadQd32),
            Below(Metric::RandomWrite),
            Below(Metric::SequentialRead),
        ],
        find: |facts| drives(facts).filter_map(|(drive, layer)| scheduler(drive, layer)).collect(),
    },
    Setting {
        name: "read_ahead",
        is_unusual: true,
        symptoms: &[Below(Metric::SequentialRead)],
        find: |facts| read_ahead(facts).into_iter().collect(),
    },
    Setting {
        name: "write_cache",
        is_unusual: true,
        symptoms: &[],
        find: |facts| {
            let is_off =
                |layer: &Layer| layer.write_cache.value().is_some_and(|mode| mode == "write through");
            // Other kinds report the same for a cache that is protected, or that they do not have.
            let has_one = |drive: &Drive| matches!(drive.kind, DriveKind::Sata | DriveKind::Scsi);
            let off = drives(facts).filter(|(drive, layer)| has_one(drive) && is_off(layer));
            off.filter_map(|(drive, _)| write_cache(drive)).collect()
        },
    },
    Setting {
        name: "sync_mount",
        is_unusual: true,
        symptoms: &[
            Below(Metric::RandomWrite),
            Below(Metric::SequentialWrite),
            Below(Metric::SustainedWrite),
        ],
        find: |facts| sync_mount(facts).into_iter().collect(),
    },
    Setting {
        name: "block_size",
        is_unusual: true,
        symptoms: &[Below(Metric::RandomWrite), Below(Metric::RandomRead)],
        find: |facts| drives(facts).filter_map(|(drive, _)| block_size(drive)).collect(),
    },
    Setting {
        name: "alignment",
        is_unusual: true,
        symptoms: &[],
        find: |facts| facts.stack.iter().filter_map(|layer| alignment(layer, facts)).collect(),
    },
    Setting {
        name: "power_saving",
        is_unusual: false,
        symptoms: &[],
        find: |facts| drives(facts).flat_map(|(drive, _)| power_saving(drive)).collect(),
    },
];

impl Setting {
    /// Changes for the machine of these facts; none if the setting is as it should be, or unknown.
    pub fn changes(&self, facts: &Facts) -> Vec<Change> {
        (self.find)(facts)
    }

    /// Whether it can bring about one of these symptoms.
    pub fn explains(&self, symptoms: &[Symptom]) -> bool {
        self.symptoms.iter().any(|symptom| symptoms.contains(symptom))
    }
}

/// A setting of one drive that can be better.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The layer or drive.
    pub subject: String,
    /// What is set and what that costs, put after its name, without a full stop.
    pub words: String,
    /// The id of its action.
    pub id: &'static str,
    /// What changes it, as an imperative without a full stop.
    pub why: String,
    /// The command for now, and the one that undoes it.
    pub now: Option<[String; 2]>,
    /// The same for every start from now on.
    pub lasting: Option<[String; 2]>,
    /// The command that shows whether it took effect, and what it then shows.
    pub proof: [String; 2],
    /// What the change costs or risks: a sentence.
    pub risk: &'static str,
    /// What it destroys.
    pub loses: Loss,
}

impl Change {
    /// Actions for now, and for good with what shows that they took effect. Their commands are those of root.
    pub fn actions(&self) -> Vec<Action> {
        let [shows, value] = &self.proof;
        let with = |action: Action, commands: &Option<[String; 2]>| match commands {
            Some([does, undoes]) => action.command(does).undo(undoes),
            None => action,
        };
        let now = Action::new(self.id, self.why.clone()).loses(self.loses);
        let mut actions = vec![with(now, &self.now)];
        if self.lasting.is_some() {
            let why = format!("Keep it so after each start; {shows} then shows {value}");
            actions.push(with(Action::new(format!("{}_for_good", self.id), why), &self.lasting));
        } else {
            actions[0].why = format!("{}; {shows} then shows {value}", self.why);
        }
        actions
    }
}

/// The real drives of a real machine, with what the kernel has set for each.
fn drives(facts: &Facts) -> impl Iterator<Item = (&Drive, &Layer)> {
    let is_guest = is_guest(facts);
    let real = facts.drives.iter().filter(move |drive| !is_guest && drive.is_real());
    real.filter_map(|drive| Some((drive, facts.stack.iter().find(|layer| layer.name == drive.name)?)))
}

fn is_guest(facts: &Facts) -> bool {
    facts.machine.virtual_machine.value().is_some_and(Option::is_some)
}

/// Hard disks gain by requests in order, and NVMe drives lose by the lock under which BFQ handles each
/// request (Red Hat Enterprise Linux 8, "Setting the disk scheduler"; Documentation/block/bfq-iosched.rst of
/// the Linux sources). Other pairs have no documented gain for every load.
fn scheduler(drive: &Drive, layer: &Layer) -> Option<Change> {
    let (used, rotates) = (layer.scheduler.value()?.as_str(), layer.rotates.get()?);
    let (best, words, risk) = match (drive.kind, rotates, used) {
        (DriveKind::Nvme, false, "bfq") => (
            "none",
            "its I/O scheduler is bfq, whose one lock for all requests limits the IOPS of a fast drive",
            "Programs no longer share the drive by weight, which desktops under load may notice.",
        ),
        (DriveKind::Sata | DriveKind::Scsi, true, "none") => (
            "mq-deadline",
            "it is a hard disk without an I/O scheduler, so requests are not put in order before it seeks",
            "A disk behind a controller that orders requests itself gains nothing.",
        ),
        _ => return None,
    };
    let change = Change {
        words: words.into(),
        id: "set_scheduler",
        why: format!("Use the scheduler {best} until the next start"),
        risk,
        ..in_queue(layer, "scheduler", [best, used])
    };
    Some(Change { proof: [change.proof[0].clone(), format!("[{best}]")], ..change })
}

/// Read-ahead of Linux where nobody changes it, in KiB (`VM_READAHEAD_PAGES`, include/linux/pagemap.h).
const READ_AHEAD_KIB: u64 = 128;

/// Files get the read-ahead of the highest layer. Somebody has set it if it is below this share of the usual. Chosen: half.
fn read_ahead(facts: &Facts) -> Option<Change> {
    drives(facts).next()?;
    let layer = facts.stack.iter().find(|layer| layer.read_ahead_bytes.value().is_some())?;
    let used = layer.read_ahead_bytes.get().map(|bytes| bytes / 1024);
    let used = used.filter(|kibibytes| *kibibytes < READ_AHEAD_KIB / 2)?;
    Some(Change {
        words: format!(
            "reads {} ahead, of {} that are usual, so programs that read files wait more often (direct I/O, as of a check, does not)",
            Size(used * 1024),
            Size(READ_AHEAD_KIB * 1024)
        ),
        id: "set_read_ahead",
        why: format!("Read {} ahead until the next start", Size(READ_AHEAD_KIB * 1024)),
        risk: "Random reads of files that are mapped into memory may read more than they use.",
        ..in_queue(layer, "read_ahead_kb", [&READ_AHEAD_KIB.to_string(), &used.to_string()])
    })
}

/// With the option `sync` all I/O of a file system is synchronous (mount(8)): a write ends when the drive has it for good.
fn sync_mount(facts: &Facts) -> Option<Change> {
    let file_system = facts.file_system.as_ref()?;
    file_system.has_option("sync").filter(|is_set| *is_set)?;
    let point = shell_quote(&file_system.point);
    Some(Change {
        words: "it is mounted with sync, so each write waits until the drive has it for good".into(),
        id: "mount_async",
        why: "Mount it without sync, and take sync out of /etc/fstab if it stands there".into(),
        now: Some(["async", "sync"].map(|option| format!("mount -o remount,{option} {point}"))),
        proof: [format!("findmnt --noheadings --output OPTIONS {point}"), "no sync".into()],
        risk: "A drive that is unplugged without being unmounted may then lose the latest files.",
        ..unchanged(&file_system.point)
    })
}

/// An attribute of a queue with its best and its old value, kept by a rule for udev of its own.
fn in_queue(layer: &Layer, attribute: &str, [best, old]: [&str; 2]) -> Change {
    let name = &layer.name;
    let file = shell_quote(&format!("/sys/block/{name}/queue/{attribute}"));
    // A mapping has another number after each start.
    let (key, value) = match layer.label.value().filter(|_| name.starts_with("dm-")) {
        Some(label) => ("ENV{DM_NAME}", label),
        None => ("KERNEL", name),
    };
    let assignment = format!("ATTR{{queue/{attribute}}}=\"{best}\"");
    Change {
        now: Some([best, old].map(|value| format!("echo {value} > {file}"))),
        lasting: Some(rule(attribute, [key, value], &assignment)),
        proof: [format!("cat {file}"), best.to_owned()],
        ..unchanged(name)
    }
}

/// Writes a rule for udev, and removes it. Rules of distributions have lower numbers.
fn rule(topic: &str, [key, value]: [&str; 2], assignment: &str) -> [String; 2] {
    let file = shell_quote(&format!("/etc/udev/rules.d/90-{}-{value}.rules", topic.replace('_', "-")));
    let rule = format!("ACTION==\"add|change\", SUBSYSTEM==\"block\", {key}==\"{value}\", {assignment}");
    [format!("echo {} > {file}", shell_quote(&rule)), format!("rm {file}")]
}

fn unchanged(subject: &str) -> Change {
    Change {
        subject: subject.to_owned(),
        words: String::new(),
        id: "",
        why: String::new(),
        now: None,
        lasting: None,
        proof: [String::new(), String::new()],
        risk: "",
        loses: Loss::Nothing,
    }
}

/// A name of the kernel, whose `!` are folders in /dev.
pub(crate) fn node(name: &str) -> String {
    shell_quote(&format!("/dev/{}", name.replace('!', "/")))
}

/// Switches the write cache of a drive on; `None` where no command does.
pub(crate) fn write_cache(drive: &Drive) -> Option<Change> {
    let (name, device) = (&drive.name, node(&drive.name));
    let (now, lasting, proof) = match drive.kind {
        // Feature 06h, Volatile Write Cache (NVMe base specification).
        DriveKind::Nvme => (
            [1, 0].map(|value| format!("nvme set-feature {device} --feature-id=6 --value={value}")),
            None,
            [format!("nvme get-feature {device} --feature-id=6 --human-readable"), "Enabled".into()],
        ),
        DriveKind::Scsi => (
            [1, 0].map(|value| format!("sdparm --set=WCE={value} --save {device}")),
            None,
            [format!("sdparm --get=WCE {device}"), "1".into()],
        ),
        DriveKind::Virtual | DriveKind::Memory | DriveKind::Network | DriveKind::Card => return None,
        _ => (
            [1, 0].map(|value| format!("hdparm -W{value} {device}")),
            Some(rule("write_cache", ["KERNEL", name], &format!("RUN+=\"/sbin/hdparm -W1 {device}\""))),
            [format!("hdparm -W {device}"), "1 (on)".into()],
        ),
    };
    Some(Change {
        words: "its write cache is off, so each write waits for the medium".into(),
        id: "enable_write_cache",
        why: WRITE_CACHE.into(),
        now: Some(now),
        lasting,
        proof,
        risk: "A power failure loses the last writes of programs that do not flush them.",
        ..unchanged(name)
    })
}

/// What switches a write cache on, as an imperative.
pub(crate) const WRITE_CACHE: &str =
    "Turn its write cache on; without a battery, a power failure then loses the last writes";

/// No command is given, because it erases the drive, which may be in use.
fn block_size(drive: &Drive) -> Option<Change> {
    let better = drive.space.better_block_bytes.get()?;
    let (name, device) = (&drive.name, node(&drive.name));
    Some(Change {
        words: format!("reports that blocks of {} are faster than those in use", Size(better)),
        id: "format_blocks",
        why: format!(
            "Back up, free the drive, then type nvme format {device} --block-size={better}, which ERASES it"
        ),
        proof: [format!("cat /sys/block/{name}/queue/logical_block_size"), better.to_string()],
        risk: "Everything on the drive is lost. Old systems cannot start from blocks other than 512 B.",
        loses: Loss::Everything,
        ..unchanged(name)
    })
}

/// A partition that does not start where a block of the drive does.
fn alignment(layer: &Layer, facts: &Facts) -> Option<Change> {
    let name = &layer.name;
    let (words, attribute, value) = if let Some(offset) =
        layer.alignment_offset_bytes.get().filter(|offset| *offset != 0)
    {
        let words =
            format!("starts {} B off the drive's physical blocks (alignment_offset)", Number(offset as f64));
        (words, "alignment_offset", "0")
    } else {
        let below = facts.stack.iter().find(|below| layer.on.contains(&below.name));
        let block = below.and_then(|below| below.physical_block_bytes.get()).unwrap_or(4096).max(4096);
        let is_off =
            layer.kind == LayerKind::Partition && layer.misaligned_by(block).is_some_and(|bytes| bytes > 0);
        // /sys counts in sectors of 512 bytes.
        is_off.then(|| {
            (format!("does not start at a multiple of {}", Size(block)), "start", "a multiple of 2048")
        })?
    };
    Some(Change {
        words,
        id: "repartition",
        why: REPARTITION.into(),
        proof: [
            format!("cat {}", shell_quote(&format!("/sys/class/block/{name}/{attribute}"))),
            value.into(),
        ],
        risk: "Everything on the partition is written anew from the backup.",
        loses: Loss::Everything,
        ..unchanged(name)
    })
}

/// What moves a partition, as an imperative.
pub(crate) const REPARTITION: &str = "Back up, recreate the partition at a multiple of 1 MiB, and restore";

/// Keeps the drive, its link and the kernel from power saving, as far as each supports it.
pub(crate) fn power_saving(drive: &Drive) -> Vec<Change> {
    let (power, mut changes) = (&drive.power, Vec::new());
    if let Some(wake) = power.wake_us_max.get().filter(|wake| *wake > 0)
        && let Some(controller) = controller(drive)
    {
        // The latency tolerance of one controller; the module parameter is for controllers found later.
        let file = format!("/sys/class/nvme/{controller}/power/pm_qos_latency_tolerance_us");
        changes.push(Change {
            words: format!("may sleep so deep that it takes {} µs to wake", Number(wake as f64)),
            id: "keep_drive_awake",
            why: "Keep the drive out of deep sleep until the next boot".into(),
            ..in_file(drive, &controller, &file, ["0", &wake.to_string()])
        });
    }
    let mut set = |id, topic: &str, fact: &Fact<String>, best: &str, words: &str, why: &str| {
        if let (Some(value), Some(file)) = (fact.value(), fact.origin())
            && file.starts_with("/sys/")
        {
            let change = in_file(drive, topic, file, [best, value]);
            changes.push(Change { words: words.replace("{}", value), id, why: why.into(), ..change });
        }
    };
    let saves_power =
        |fact: &Fact<String>, is_slow: fn(&str) -> bool| fact.value().is_some_and(|value| is_slow(value));
    if saves_power(&power.link_policy, |policy| policy != "max_performance") {
        let host = power.link_policy.origin().and_then(|file| file.split('/').nth(4)).unwrap_or("link");
        let (words, why) = ("its SATA link saves power ({})", "Keep its link awake until the next boot");
        set("keep_link_awake", host, &power.link_policy, "max_performance", words, why);
    }
    if saves_power(&power.aspm_policy, |policy| policy.contains("powersave")) {
        let (words, why) = ("PCIe links save power ({})", "Keep all PCIe links awake until the next boot");
        set("keep_pcie_awake", "pcie", &power.aspm_policy, "performance", words, why);
    }
    if saves_power(&power.runtime, |control| control == "auto") {
        let words = "the kernel suspends it while it is idle ({})";
        let why = "Stop the kernel from suspending it until the next boot";
        set("forbid_suspend", &drive.name, &power.runtime, "on", words, why);
    }
    changes
}

/// A file of the kernel with its best and its old value, kept by a line for systemd-tmpfiles.
fn in_file(drive: &Drive, topic: &str, file: &str, [best, old]: [&str; 2]) -> Change {
    let (path, old) = (shell_quote(file), shell_quote(old));
    let kept = shell_quote(&format!("/etc/tmpfiles.d/keep-{topic}-awake.conf"));
    let line = shell_quote(&format!("w {file} - - - - {best}"));
    Change {
        now: Some([best, &old].map(|value| format!("echo {value} > {path}"))),
        lasting: Some([format!("echo {line} > {kept}"), format!("rm {kept}")]),
        proof: [format!("cat {path}"), best.to_owned()],
        risk: "It takes more power and becomes warmer.",
        ..unchanged(&drive.name)
    }
}

/// `nvme0` of `nvme0n1`. With several paths to one drive this is the name of its subsystem, and the
/// controller is unknown.
fn controller(drive: &Drive) -> Option<String> {
    let rest = drive.name.strip_prefix("nvme")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("nvme{digits}"))
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{FileSystem, Machine};

    use super::*;

    fn fact<T>(value: T) -> Fact<T> {
        Fact::new(value, "test")
    }

    /// A drive of this kind and name on a machine, as each test sets its layer.
    fn machine(kind: DriveKind, name: &str, set: impl Fn(&mut Layer, &mut Drive)) -> Facts {
        let mut drive = Drive { name: name.into(), kind, ..Drive::default() };
        let mut layer = Layer { name: name.into(), kind: LayerKind::Disk, ..Layer::default() };
        set(&mut layer, &mut drive);
        Facts { stack: vec![layer], drives: vec![drive], ..Facts::default() }
    }

    fn changes(facts: &Facts) -> Vec<Change> {
        SETTINGS.iter().flat_map(|setting| setting.changes(facts)).collect()
    }

    fn ids(facts: &Facts) -> Vec<&'static str> {
        changes(facts).iter().map(|change| change.id).collect()
    }

    /// Everything that can be set wrong.
    fn all_wrong() -> [Facts; 2] {
        let disk = machine(DriveKind::Sata, "sda", |layer, drive| {
            layer.scheduler = fact("none".to_owned());
            layer.rotates = fact(true);
            layer.read_ahead_bytes = fact(0);
            layer.write_cache = fact("write through".to_owned());
            layer.alignment_offset_bytes = fact(-512);
            let policy = "/sys/class/scsi_host/host0/link_power_management_policy";
            drive.power.link_policy = Fact::new("med_power_with_dipm".into(), policy);
            drive.power.runtime = Fact::new("auto".into(), "/sys/block/sda/device/power/control");
        });
        let file_system = FileSystem {
            point: "/media/photos".into(),
            options: fact(vec!["rw".to_owned(), "sync".to_owned()]),
            ..FileSystem::default()
        };
        let disk = Facts { file_system: Some(file_system), ..disk };
        let flash = machine(DriveKind::Nvme, "nvme0n1", |layer, drive| {
            layer.scheduler = fact("bfq".to_owned());
            layer.rotates = fact(false);
            drive.space.better_block_bytes = fact(4096);
            drive.power.wake_us_max = fact(100_000);
            drive.power.aspm_policy =
                Fact::new("powersave".into(), "/sys/module/pcie_aspm/parameters/policy");
        });
        [disk, flash]
    }

    #[test]
    fn each_setting_has_its_change_its_undo_and_its_proof() {
        let [disk, flash] = all_wrong();
        assert_eq!(
            ids(&disk),
            [
                "set_scheduler",
                "set_read_ahead",
                "enable_write_cache",
                "mount_async",
                "repartition",
                "keep_link_awake",
                "forbid_suspend"
            ]
        );
        assert_eq!(ids(&flash), ["set_scheduler", "format_blocks", "keep_drive_awake", "keep_pcie_awake"]);
        for change in changes(&disk).into_iter().chain(changes(&flash)) {
            assert!(!change.words.is_empty() && !change.risk.is_empty(), "{change:?}");
            assert!(change.proof.iter().all(|text| !text.is_empty()), "{change:?}");
            let erases = change.loses == Loss::Everything;
            assert_eq!(change.now.is_none(), erases, "no command erases: {change:?}");
            let actions = change.actions();
            assert!(actions.last().unwrap().why.contains(&change.proof[0]), "{actions:?}");
        }
        let [now, good] = &changes(&disk)[1].actions()[..] else { panic!() };
        let file = "/sys/block/sda/queue/read_ahead_kb";
        assert_eq!(now.command.as_deref(), Some(&*format!("echo 128 > {file}")));
        assert_eq!(now.undo.as_deref(), Some(&*format!("echo 0 > {file}")));
        let rules = "/etc/udev/rules.d/90-read-ahead-kb-sda.rules";
        let rule =
            r#"ACTION=="add|change", SUBSYSTEM=="block", KERNEL=="sda", ATTR{queue/read_ahead_kb}="128""#;
        assert_eq!(good.command.as_deref(), Some(&*format!("echo '{rule}' > {rules}")));
        assert_eq!(good.undo.as_deref(), Some(&*format!("rm {rules}")));
        let mapping = machine(DriveKind::Sata, "sda", |_, _| ());
        let top = Layer {
            name: "dm-3".into(),
            kind: LayerKind::Crypt,
            label: fact("home".to_owned()),
            read_ahead_bytes: fact(4096),
            ..Layer::default()
        };
        let mapping = Facts { stack: [vec![top], mapping.stack].concat(), ..mapping };
        let [change] = &changes(&mapping)[..] else { panic!("one") };
        assert!(change.lasting.as_ref().unwrap()[0].contains(r#"ENV{DM_NAME}=="home""#), "{change:?}");
    }

    #[test]
    fn nothing_is_advised_from_missing_facts_for_what_is_usual_or_for_a_guest() {
        // A guest sets these itself.
        const OF_GUESTS_TOO: [&str; 2] = ["repartition", "mount_async"];
        for facts in all_wrong() {
            let names = |facts: &Facts| {
                ids(facts).into_iter().filter(|id| !OF_GUESTS_TOO.contains(id)).collect::<Vec<_>>()
            };
            let guest = Machine { virtual_machine: fact(Some("kvm".into())), ..Machine::default() };
            assert_eq!(names(&Facts { machine: guest, ..facts.clone() }), [""; 0]);
            let mut hidden = facts.clone();
            hidden.drives[0].identity.virtual_by = fact(Some("VMware".into()));
            assert_eq!(names(&hidden), [""; 0]);
            let mut unknown = facts.clone();
            unknown.stack[0] = Layer { name: facts.stack[0].name.clone(), ..Layer::default() };
            (unknown.drives[0].power, unknown.drives[0].space) = Default::default();
            unknown.file_system = None;
            assert_eq!(ids(&unknown), [""; 0]);
        }
        let advised = |kind, scheduler: &str, rotates| {
            ids(&machine(kind, "x", |layer, _| {
                layer.scheduler = fact(scheduler.to_owned());
                layer.rotates = fact(rotates);
                layer.read_ahead_bytes = fact(128 << 10);
                layer.write_cache = fact("write back".to_owned());
            }))
        };
        assert_eq!(advised(DriveKind::Nvme, "mq-deadline", false), [""; 0], "no gain is documented");
        assert_eq!(advised(DriveKind::Nvme, "none", false), [""; 0]);
        assert_eq!(advised(DriveKind::Sata, "none", false), [""; 0]);
        assert_eq!(advised(DriveKind::Sata, "mq-deadline", true), [""; 0]);
        let protected = machine(DriveKind::Nvme, "nvme0n1", |layer, _| {
            layer.write_cache = fact("write through".to_owned());
        });
        assert_eq!(ids(&protected), [""; 0], "it may have no cache that could be off");
    }

    #[test]
    fn the_manual_has_each_setting_as_it_is_advised() {
        let page = include_str!("../../../docs/howto/settings-that-last.md");
        let facts = all_wrong();
        let changes =
            SETTINGS.iter().flat_map(|setting| facts.iter().flat_map(|facts| setting.changes(facts)));
        let block = |change: Change| {
            let pairs = change.now.iter().chain(&change.lasting);
            let (does, undoes): (Vec<_>, Vec<_>) =
                pairs.map(|[does, undoes]| (does.as_str(), undoes.as_str())).unzip();
            let Change { subject, words, why, proof: [shows, value], .. } = &change;
            let commands = if does.is_empty() {
                format!("# {why}\n")
            } else {
                format!("{}\n# undo\n{}\n", does.join("\n"), undoes.join("\n"))
            };
            format!("# {subject}: {words}\n{commands}# then shows {value}\n{shows}\n")
        };
        let missing: Vec<String> = changes.map(block).filter(|block| !page.contains(block)).collect();
        assert!(missing.is_empty(), "the page lacks:\n{}", missing.join("\n"));
    }
}
