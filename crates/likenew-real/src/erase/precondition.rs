//! Preconditions of an action on a drive: whether each is met, and what to do if not.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use likenew_core::facts::{Drive, DriveKind, Fact};
use likenew_core::fix::ActionKind;
use likenew_core::probe::ProbeResult;
use likenew_core::target_error::TargetError;
use regex::Regex;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Deserializer};

use super::AtaSecurity;
use crate::block::entries;
use crate::target_error::ErrorContext as _;
use crate::wording::consent::not_changed;
use crate::wording::{action, erase as wording};

/// Battery charge in percent below which it may not last. Chosen: half, as the length of an erase is unknown.
const CHARGE_MIN: u8 = 50;
/// Temperature in °C above which flash is too hot, if the drive names no limit: where makers put the end of
/// its operating range.
const FLASH_C_MAX: f64 = 70.0;
/// Temperature in °C above which a disk is too hot: also where makers put the end of its operating range.
const DISK_C_MAX: f64 = 60.0;

/// A precondition of an action on a drive.
#[derive(Clone, Debug, PartialEq)]
pub struct Precondition {
    /// The subject: `power`, `temperature`.
    pub name: &'static str,
    /// Whether the precondition is met.
    pub standing: Standing,
}

/// Whether a precondition is met. All texts are sentences without a full stop.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// The precondition is met: how that was seen.
    Holds(String),
    /// The precondition is met, with a warning.
    Warns(String),
    /// The precondition is not met: why, and what to do.
    Refuses {
        /// The reason.
        reason: String,
        /// What to do.
        remedy: String,
    },
    /// It is unknown whether the precondition is met: why, and what would help.
    Unknown {
        /// Why that is not known.
        reason: String,
        /// What would help.
        help: String,
    },
}

impl Standing {
    /// Why the action may not be done, and what to do; `None` if the precondition is met.
    pub(super) fn objection(&self) -> Option<String> {
        match self {
            Self::Refuses { reason, remedy } => Some(wording::not_fulfilled(reason, remedy)),
            Self::Unknown { reason, help } => Some(wording::not_known_enough(reason, help)),
            Self::Holds(_) | Self::Warns(_) => None,
        }
    }
}

impl Precondition {
    /// Whether it prevents the action. If unknown, it only prevents erases by the drive itself, which cannot
    /// be stopped.
    pub fn stands_against(&self, action: ActionKind) -> bool {
        match self.standing {
            Standing::Holds(_) | Standing::Warns(_) => false,
            Standing::Refuses { .. } => true,
            Standing::Unknown { .. } => action.is_drive_command(),
        }
    }
}

/// What is checked besides the drive's facts.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// The machine's power source.
    pub power: PowerSupply,
    /// The security state of an ATA drive, if it reports one.
    pub security: Option<AtaSecurity>,
}

/// All preconditions of this action on the drives below a path, drive by drive.
///
/// # Errors
/// The path cannot be examined, or there is no drive below it to query.
pub fn preconditions(
    path: &Path,
    action: ActionKind,
) -> Result<Vec<(String, Vec<Precondition>)>, TargetError> {
    let opened = rustix::fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK, Mode::empty())
        .context_at(action::LOOK_AT, path)?;
    let power = PowerSupply::now();
    match crate::facts::collect(&opened, None) {
        ProbeResult::Facts(facts) => {
            let examine = |drive: &Drive| {
                let security = AtaSecurity::read(&drive.name);
                (drive.name.clone(), for_drive(drive, Environment { power, security }, action))
            };
            Ok(facts.drives.iter().map(examine).collect())
        }
        ProbeResult::Unknown(reason) => {
            Err(TargetError::Refused(wording::nothing_known(path.display(), &reason)))
        }
        other => unreachable!("a look for facts has seen {other:?}"),
    }
}

/// All preconditions of this action on one drive, whose facts are known.
pub fn for_drive(drive: &Drive, surroundings: Environment, action: ActionKind) -> Vec<Precondition> {
    let is_ata = matches!(action, ActionKind::AtaSecureErase | ActionKind::AtaSanitize);
    let way = action.is_drive_command().then(|| way(drive, action));
    let security = is_ata.then(|| security(surroundings.security, action));
    let standings = [
        ("power", vec![power(surroundings.power)]),
        ("temperature", vec![temperature(drive)]),
        ("health", health(drive)),
        ("model", model(drive, action)),
        ("way", way.into_iter().collect()),
        ("security", security.into_iter().collect()),
    ];
    let named = |(name, standings): (_, Vec<_>)| {
        standings.into_iter().map(move |standing| Precondition { name, standing })
    };
    standings.into_iter().flat_map(named).collect()
}

/// Refuses the action if a precondition prevents it.
///
/// # Errors
/// The first such precondition, as a refusal.
pub fn require(path: &Path, preconditions: &[Precondition], action: ActionKind) -> Result<(), TargetError> {
    let Some(against) = preconditions.iter().find(|precondition| precondition.stands_against(action)) else {
        return Ok(());
    };
    let Some(reason) = against.standing.objection() else { return Ok(()) };
    Err(TargetError::Refused(not_changed(path.display(), &reason)))
}

fn refuses(reason: impl Into<String>, remedy: &str) -> Standing {
    Standing::Refuses { reason: reason.into(), remedy: remedy.to_owned() }
}

/// An unknown precondition; `sentence` says what is unknown.
fn unknown<T>(sentence: &str, fact: &Fact<T>, help: &str) -> Standing {
    let own = match fact {
        Fact::Unknown { help: Some(help), .. } => help.clone(),
        _ => help.to_owned(),
    };
    Standing::Unknown { reason: wording::unknown(sentence, fact.reason()), help: own }
}

fn power(supply: PowerSupply) -> Standing {
    match supply {
        PowerSupply::Mains => Standing::Holds(wording::PLUGGED_IN.to_owned()),
        PowerSupply::Battery(percent) if percent > CHARGE_MIN => {
            Standing::Holds(wording::on_battery(percent))
        }
        PowerSupply::Battery(percent) => refuses(wording::on_battery(percent), wording::CHARGE_IT),
        PowerSupply::BatteryOfUnknownCharge => refuses(wording::BATTERY_CHARGE_UNKNOWN, wording::PLUG_IT_IN),
        PowerSupply::Unlisted => Standing::Holds(wording::NO_BATTERY.to_owned()),
    }
}

fn temperature(drive: &Drive) -> Standing {
    let health = &drive.health;
    if health.throttling.get() == Some(true) {
        return refuses(wording::THROTTLING, wording::COOL_DOWN);
    }
    let Some(now) = health.temperature_c.get() else {
        return unknown(wording::TEMPERATURE_UNKNOWN, &health.temperature_c, wording::INSTALL_SMARTMONTOOLS);
    };
    let rotates = drive.identity.rotation_rpm.get().is_some_and(|rpm| rpm > 0);
    let own = health.temperature_warning_c.get();
    let limit = own.unwrap_or(if rotates { DISK_C_MAX } else { FLASH_C_MAX });
    let sentence = match own {
        Some(warning) => wording::temperature_and_warning(now, warning),
        None => wording::temperature_and_rating(now, limit),
    };
    if now >= limit { refuses(sentence, wording::COOL_DOWN) } else { Standing::Holds(sentence) }
}

fn health(drive: &Drive) -> Vec<Standing> {
    let health = &drive.health;
    let mut standings = Vec::new();
    if health.read_only.get() == Some(true) {
        standings.push(refuses(wording::READ_ONLY, wording::REPLACE));
    }
    match health.failing.get() {
        Some(true) => {
            let words =
                health.warnings.value().map(|warnings| warnings.join(", ")).filter(|words| !words.is_empty());
            standings.push(refuses(words.unwrap_or_else(|| wording::FAILING.to_owned()), wording::REPLACE));
        }
        Some(false) => {}
        None => {
            standings.push(unknown(wording::HEALTH_UNKNOWN, &health.failing, wording::INSTALL_SMARTMONTOOLS))
        }
    }
    if let Some(pending @ 1..) = health.pending_sectors.get() {
        standings.push(refuses(wording::pending_sectors(pending), wording::REMAP));
    }
    if let (Some(spare), Some(threshold)) = (health.spare_percent.get(), health.spare_threshold_percent.get())
        // A drive that does not count its spare reports zero for both.
        && threshold > 0.0
        && spare <= threshold
    {
        standings.push(refuses(wording::spare_left(spare, threshold), wording::REPLACE));
    }
    if standings.is_empty() {
        standings.push(Standing::Holds(wording::HEALTHY.to_owned()));
    }
    standings
}

fn model(drive: &Drive, action: ActionKind) -> Vec<Standing> {
    let Some(model) = drive.identity.model.value() else {
        return vec![unknown(wording::MODEL_UNKNOWN, &drive.identity.model, wording::SEE_FACTS)];
    };
    let firmware = drive.identity.firmware.value().map(String::as_str);
    let known = known_problems(action, model, firmware);
    if known.is_empty() {
        return vec![Standing::Holds(wording::no_known_problem(model))];
    }
    let standing = |problem: &&KnownProblem| {
        let sentence = wording::known_problem(&problem.reason, &problem.source);
        match problem.level {
            Level::Deny => refuses(sentence, wording::ANOTHER_STEP),
            Level::Warn => Standing::Warns(sentence),
        }
    };
    known.iter().map(standing).collect()
}

/// Whether commands reach the drive: USB bridges swallow some, and answer others themselves.
fn way(drive: &Drive, action: ActionKind) -> Standing {
    let wants = match action {
        ActionKind::NvmeFormat | ActionKind::NvmeSanitize => DriveKind::Nvme,
        _ => DriveKind::Sata,
    };
    match drive.kind {
        kind if kind == wants => Standing::Holds(wording::NO_BRIDGE.to_owned()),
        DriveKind::Usb => refuses(wording::USB_BRIDGE, wording::CONNECT_DIRECTLY),
        _ => refuses(wording::NO_SUCH_COMMANDS, wording::DISCARD_OR_OVERWRITE),
    }
}

fn security(security: Option<AtaSecurity>, action: ActionKind) -> Standing {
    let Some(security) = security else {
        return Standing::Unknown {
            reason: wording::LOCK_UNKNOWN.to_owned(),
            help: wording::ROOT_ON_SATA.to_owned(),
        };
    };
    if security.locked {
        return refuses(wording::LOCKED, wording::UNLOCK);
    }
    if security.frozen {
        return refuses(wording::FROZEN, wording::SUSPEND);
    }
    if security.enabled && action == ActionKind::AtaSecureErase {
        return refuses(wording::PASSWORD_SET, wording::REMOVE_PASSWORD);
    }
    Standing::Holds(wording::UNLOCKED.to_owned())
}

// Known problems of an action on a model or firmware, with sources: `deny.toml`.

/// How serious a known problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Level {
    /// The action is never done.
    Deny,
    /// The user is warned first.
    Warn,
}

/// A known problem.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownProblem {
    #[serde(deserialize_with = "from_start")]
    model: Regex,
    #[serde(default = "any", deserialize_with = "from_start")]
    firmware: Regex,
    steps: Vec<ActionKind>,
    /// How serious it is.
    level: Level,
    /// A reason: a sentence without a full stop.
    reason: String,
    /// The source.
    source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KnownProblems {
    entry: Vec<KnownProblem>,
}

static KNOWN_PROBLEMS: LazyLock<Vec<KnownProblem>> = LazyLock::new(|| {
    let file: KnownProblems = toml::from_str(include_str!("deny.toml")).expect("the list is read by a test");
    file.entry
});

fn from_start<'de, D: Deserializer<'de>>(text: D) -> Result<Regex, D::Error> {
    let pattern = String::deserialize(text)?;
    Regex::new(&format!("^(?:{pattern})")).map_err(serde::de::Error::custom)
}

fn any() -> Regex {
    Regex::new("").expect("it matches everything")
}

/// Known problems of this action on a model with this firmware; an unknown firmware matches all.
fn known_problems(action: ActionKind, model: &str, firmware: Option<&str>) -> Vec<&'static KnownProblem> {
    // SCSI reports the bus as maker of SATA drives, so their models may begin with `ATA`.
    let model = model.trim().trim_start_matches("ATA ").trim_start();
    let fits = |problem: &&KnownProblem| {
        problem.steps.contains(&action)
            && problem.model.is_match(model)
            && firmware.is_none_or(|firmware| problem.firmware.is_match(firmware.trim()))
    };
    KNOWN_PROBLEMS.iter().filter(fits).collect()
}

// The machine's power source, from the kernel (Documentation/ABI/testing/sysfs-class-power).

/// The machine's power source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerSupply {
    /// Mains, USB or wireless power is connected.
    Mains,
    /// A battery with this charge in percent.
    Battery(u8),
    /// A battery that does not report its charge.
    BatteryOfUnknownCharge,
    /// The kernel lists no supply, as on most machines without a battery.
    Unlisted,
}

impl PowerSupply {
    /// The power source of this machine.
    pub fn now() -> Self {
        Self::listed_in(Path::new("/sys/class/power_supply"))
    }

    fn listed_in(folder: &Path) -> Self {
        let mut battery = Self::Unlisted;
        for supply in entries(folder) {
            let text = |name: &str| {
                let text = fs::read_to_string(supply.path().join(name)).unwrap_or_default();
                text.trim().to_owned()
            };
            // Mice and headsets have batteries, too.
            if text("scope") == "Device" {
                continue;
            }
            match (&*text("type"), &*text("online")) {
                ("Mains" | "USB" | "Wireless", "1" | "2") => return Self::Mains,
                ("Battery" | "UPS", _) => {
                    let charge = text("capacity").parse::<u8>().ok().filter(|percent| *percent <= 100);
                    // The emptiest of several decides.
                    battery = match (battery, charge) {
                        (Self::Battery(other), Some(percent)) => Self::Battery(percent.min(other)),
                        (Self::BatteryOfUnknownCharge, _) | (_, None) => Self::BatteryOfUnknownCharge,
                        (_, Some(percent)) => Self::Battery(percent),
                    };
                }
                _ => {}
            }
        }
        battery
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Health, Identity};

    use super::*;

    fn sound(kind: DriveKind, model: &str) -> Drive {
        Drive {
            name: "sdx".into(),
            kind,
            identity: Identity { model: Fact::new(model.to_owned(), "test"), ..Identity::default() },
            health: Health {
                failing: Fact::new(false, "test"),
                temperature_c: Fact::new(40.0, "test"),
                ..Health::default()
            },
            ..Drive::default()
        }
    }

    const MAINS: Environment = Environment { power: PowerSupply::Mains, security: None };

    fn refusal(drive: &Drive, surroundings: Environment, action: ActionKind) -> Option<String> {
        let preconditions = for_drive(drive, surroundings, action);
        require(Path::new("/dev/sdx"), &preconditions, action)
            .err()
            .map(|target_error| target_error.to_string())
    }

    #[test]
    fn a_sound_drive_is_refused_nothing_that_it_takes() {
        let nvme = sound(DriveKind::Nvme, "GOOD DRIVE");
        for action in [ActionKind::Fstrim, ActionKind::Discard, ActionKind::Overwrite, ActionKind::NvmeFormat]
        {
            assert_eq!(refusal(&nvme, MAINS, action), None, "{action:?}");
        }
        let sata = sound(DriveKind::Sata, "GOOD DRIVE");
        let open = AtaSecurity { supported: true, ..AtaSecurity::default() };
        let open = Environment { security: Some(open), ..MAINS };
        assert_eq!(refusal(&sata, open, ActionKind::AtaSecureErase), None);
    }

    #[test]
    fn everything_that_stands_against_it_says_what_to_do() {
        type Change = fn(&mut Drive);
        let cases: [(Change, ActionKind, &str); 11] = [
            (|drive| drive.health.failing = Fact::new(true, "t"), ActionKind::Discard, "failing"),
            (|drive| drive.health.read_only = Fact::new(true, "t"), ActionKind::Fstrim, "read-only"),
            (
                |drive| drive.health.pending_sectors = Fact::new(3, "t"),
                ActionKind::Refresh,
                "3 pending sectors",
            ),
            (
                |drive| {
                    drive.health.spare_percent = Fact::new(5.0, "t");
                    drive.health.spare_threshold_percent = Fact::new(10.0, "t");
                },
                ActionKind::Overwrite,
                "5% of its spare",
            ),
            (|drive| drive.health.temperature_c = Fact::new(71.0, "t"), ActionKind::Discard, "71 °C"),
            (
                |drive| {
                    drive.health.temperature_c = Fact::new(61.0, "t");
                    drive.identity.rotation_rpm = Fact::new(7200, "t");
                },
                ActionKind::Overwrite,
                "60 °C",
            ),
            (|drive| drive.health.throttling = Fact::new(true, "t"), ActionKind::Discard, "throttling"),
            (|drive| drive.kind = DriveKind::Usb, ActionKind::NvmeFormat, "connected by USB"),
            (|drive| drive.kind = DriveKind::Sata, ActionKind::NvmeFormat, "does not support such commands"),
            (
                |drive| drive.identity.model = Fact::new("INTEL SSDPEKKF256G8L".into(), "t"),
                ActionKind::NvmeFormat,
                "2677",
            ),
            (
                |drive| drive.health.failing = Fact::NotQueried,
                ActionKind::NvmeFormat,
                "cannot be interrupted",
            ),
        ];
        for (change, action, word) in cases {
            let mut drive = sound(DriveKind::Nvme, "GOOD DRIVE");
            change(&mut drive);
            let text = refusal(&drive, MAINS, action).unwrap();
            assert!(text.contains(word) && text.contains("was not changed") && text.contains("; "), "{text}");
        }
        let nvme = sound(DriveKind::Nvme, "GOOD DRIVE");
        for (power, refused) in [
            (PowerSupply::Battery(50), true),
            (PowerSupply::Battery(51), false),
            (PowerSupply::BatteryOfUnknownCharge, true),
            (PowerSupply::Unlisted, false),
        ] {
            let text = refusal(&nvme, Environment { power, ..MAINS }, ActionKind::Discard);
            assert_eq!(text.is_some_and(|text| text.contains("plug it in")), refused, "{power:?}");
        }
    }

    #[test]
    fn what_is_not_known_stands_against_erases_by_the_drive_alone() {
        let silent = Drive { kind: DriveKind::Nvme, ..Drive::default() };
        for action in [ActionKind::Fstrim, ActionKind::Discard, ActionKind::Overwrite, ActionKind::Refresh] {
            assert_eq!(refusal(&silent, MAINS, action), None, "{action:?}");
        }
        let text = refusal(&silent, MAINS, ActionKind::NvmeFormat).unwrap();
        assert!(text.contains("temperature is unknown"), "{text}");
    }

    #[test]
    fn a_locked_or_frozen_drive_is_refused() {
        let sata = sound(DriveKind::Sata, "GOOD DRIVE");
        let with = |change: fn(&mut AtaSecurity)| {
            let mut security = AtaSecurity { supported: true, ..AtaSecurity::default() };
            change(&mut security);
            refusal(&sata, Environment { security: Some(security), ..MAINS }, ActionKind::AtaSecureErase)
                .unwrap()
        };
        assert!(with(|security| security.locked = true).contains("unlock it"));
        assert!(with(|security| security.frozen = true).contains("suspend"));
        assert!(with(|security| security.enabled = true).contains("security-disable"));
        assert!(refusal(&sata, MAINS, ActionKind::AtaSecureErase).unwrap().contains("as root"));
    }

    #[test]
    fn every_entry_can_be_read_and_has_a_source() {
        assert!(KNOWN_PROBLEMS.len() >= 9);
        for KnownProblem { source, steps, reason, .. } in KNOWN_PROBLEMS.iter() {
            assert!(source.starts_with("https://"), "{source}");
            assert!(!steps.is_empty() && !reason.ends_with('.'), "{reason}");
        }
    }

    #[test]
    fn what_is_known_is_found_for_its_step_and_firmware_alone() {
        let levels = |action, model, firmware| {
            known_problems(action, model, firmware).iter().map(|known| known.level).collect::<Vec<_>>()
        };
        use Level::{Deny, Warn};
        for (action, model, firmware, expected) in [
            (ActionKind::NvmeSanitize, "INTEL SSDPEKNW010T8", Some("002C"), &[Deny][..]),
            (ActionKind::NvmeFormat, "INTEL SSDPEKNW010T8", Some("002C"), &[]),
            (ActionKind::NvmeFormat, "INTEL SSDPEKKF256G8L", None, &[Deny]),
            (ActionKind::NvmeFormat, "INTEL SSDPEKKF512G8L", None, &[]),
            (ActionKind::NvmeFormat, "SAMSUNG MZVLV256HCHP-000L1", None, &[Warn]),
            (ActionKind::Discard, "ATA SuperSSpeed S238 128GB", None, &[Deny]),
            (ActionKind::Discard, "Samsung SSD 860 EVO 1TB", Some("RVT04B6Q"), &[Warn]),
            (ActionKind::Overwrite, "Samsung SSD 980 PRO 2TB", Some("3B2QGXA7"), &[Warn]),
            (ActionKind::Overwrite, "Samsung SSD 980 PRO 2TB", Some("5B2QGXA7"), &[]),
            (ActionKind::Overwrite, "Samsung SSD 980 PRO 2TB", None, &[Warn]),
            (ActionKind::Discard, "My Samsung SSD 860 EVO", None, &[]),
        ] {
            assert_eq!(levels(action, model, firmware), expected, "{action:?} {model} {firmware:?}");
        }
    }

    #[test]
    fn laptops_and_desktops_and_their_mice_are_distinguished() {
        let mains = [("type", "Mains"), ("online", "1")];
        let unplugged = [("type", "Mains"), ("online", "0")];
        let half = [("type", "Battery"), ("capacity", "55")];
        let low = [("type", "Battery"), ("capacity", "7")];
        let silent = [("type", "Battery"), ("status", "Unknown")];
        let mouse = [("type", "Battery"), ("capacity", "3"), ("scope", "Device")];
        for (supplies, expected) in [
            (&[][..], PowerSupply::Unlisted),
            (&[&mouse[..]], PowerSupply::Unlisted),
            (&[&mains, &low], PowerSupply::Mains),
            (&[&unplugged, &half, &mouse], PowerSupply::Battery(55)),
            (&[&half, &low], PowerSupply::Battery(7)),
            (&[&half, &silent], PowerSupply::BatteryOfUnknownCharge),
        ] {
            let root = tempfile::tempdir().unwrap();
            for (index, supply) in supplies.iter().enumerate() {
                let folder = root.path().join(index.to_string());
                fs::create_dir(&folder).unwrap();
                supply.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
            }
            assert_eq!(PowerSupply::listed_in(root.path()), expected);
        }
        assert_eq!(PowerSupply::listed_in(Path::new("/does/not/exist")), PowerSupply::Unlisted);
    }
}
