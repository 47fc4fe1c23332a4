//! How smartctl reaches a drive behind a RAID controller or a USB bridge that it does not know. The owner
//! gives the type of its option `-d` (smartctl(8)) once, and the type is remembered for the drive.
//!
//! Only types are accepted with which smartctl reads: some others write to a sector of the volume, or may damage it.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

use likenew_core::facts::Fact;
use likenew_core::input::{self, DEVICE_TYPES};
use likenew_core::state_folder::state_folder;
use likenew_core::target_error::TargetError;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use crate::block::BlockDevice;
use crate::clock::wall_date;
use crate::identify::{StableId, usb_device};
use crate::target_error::ErrorContext as _;
use crate::wording::facts as wording;

/// The owner's choice of a type for a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// smartctl finds it out by itself.
    Auto,
    /// smartctl is given this type.
    Type(String),
}

/// Types for one drive behind a bridge, or for a drive whose interface smartctl mistakes (smartctl(8), `-d`).
const SINGLE: [&str; 18] = [
    "sat",
    "sat,12",
    "sat,16",
    "sat,auto",
    "sntasmedia",
    "sntasmedia/sat",
    "sntjmicron",
    "sntjmicron/sat",
    "sntrealtek",
    "sntrealtek/sat",
    "usbcypress",
    "usbjmicron",
    "usbjmicron,p",
    "usbprolific",
    "usbsunplus",
    "ata",
    "scsi",
    "nvme",
];

/// Types for one disk of several behind a controller or bridge; each word in capitals is a number within
/// these bounds (smartctl(8), `-d`).
const MEMBER: [(&str, &[(u32, u32)]); 12] = [
    ("megaraid,N", &[(0, 127)]),
    ("sat+megaraid,N", &[(0, 127)]),
    ("3ware,N", &[(0, 127)]),
    ("areca,N", &[(1, 24)]),
    ("areca,N/E", &[(1, 128), (1, 8)]),
    ("cciss,N", &[(0, 127)]),
    ("aacraid,H,L,ID", &[(0, u32::MAX), (0, u32::MAX), (0, u32::MAX)]),
    ("hpt,L/M", &[(1, 4), (1, 128)]),
    ("hpt,L/M/N", &[(1, 4), (1, 128), (1, 4)]),
    ("sssraid,E,S", &[(0, 8), (0, 128)]),
    ("usbasm1352r,N", &[(0, 1)]),
    ("usbjmicron,N", &[(0, 1)]),
];

/// Types for which smartctl writes commands to a sector of the volume (smartctl(8), `-d`).
const WRITING: [&str; 2] = ["jmb39x", "jms56x"];

/// The numbers in a type, if it has this form.
fn numbers(form: &str, typed: &str) -> Option<Vec<u32>> {
    const SEPARATORS: [char; 2] = [',', '/'];
    if !form.matches(SEPARATORS).eq(typed.matches(SEPARATORS)) {
        return None;
    }
    let mut numbers = Vec::new();
    for (form, typed) in form.split(SEPARATORS).zip(typed.split(SEPARATORS)) {
        if form.bytes().all(|byte| byte.is_ascii_uppercase()) {
            let is_number = !typed.is_empty() && typed.bytes().all(|byte| byte.is_ascii_digit());
            numbers.push(typed.parse().ok().filter(|_| is_number)?);
        } else if form != typed {
            return None;
        }
    }
    Some(numbers)
}

/// Whether this type is for one disk of several.
pub(crate) fn is_member(device_type: &str) -> bool {
    MEMBER.iter().any(|(form, _)| numbers(form, device_type).is_some())
}

impl FromStr for DeviceChoice {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        if typed == "auto" {
            return Ok(Self::Auto);
        }
        if WRITING.iter().any(|name| typed.starts_with(name)) {
            return Err(wording::writes(typed));
        }
        let of_form = MEMBER.iter().find_map(|(form, bounds)| Some((form, bounds, numbers(form, typed)?)));
        match of_form {
            Some((form, bounds, numbers)) => {
                let is_within = numbers
                    .iter()
                    .zip(*bounds)
                    .all(|(number, (least, most))| (least..=most).contains(&number));
                is_within
                    .then(|| Self::Type(typed.to_owned()))
                    .ok_or_else(|| wording::out_of_bounds(form, bounds))
            }
            None if SINGLE.contains(&typed) => Ok(Self::Type(typed.to_owned())),
            None => Err(wording::unknown_type(&SINGLE, &MEMBER.map(|(form, _)| form))),
        }
    }
}

/// What is remembered of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Remembered {
    device_type: String,
    /// When the type was given, as date and time in UTC.
    since: String,
}

/// The file in which types are remembered, by what identifies each drive. Only its owner can read it: it names drives.
struct Memory(PathBuf);

impl Memory {
    fn at(env: impl Fn(&str) -> Option<std::ffi::OsString>) -> Option<Self> {
        Some(Self(state_folder(env)?.join("smartctl-devices.json")))
    }

    fn system() -> Option<Self> {
        Self::at(|name| std::env::var_os(name))
    }

    /// # Errors
    /// Why it cannot be read, with its name and what to do.
    fn read(&self) -> Result<BTreeMap<String, Remembered>, String> {
        match input::read(&self.0, DEVICE_TYPES) {
            Err(error) if error.is_missing() => Ok(BTreeMap::new()),
            Err(error) => Err(wording::types_unreadable(&self.0, error)),
            Ok(text) => {
                serde_json::from_slice(&text).map_err(|error| wording::types_unreadable(&self.0, error))
            }
        }
    }

    /// Replaces the file by a new one that only its owner can read; no link of that name is followed.
    fn write(&self, entries: &BTreeMap<String, Remembered>) -> Result<(), TargetError> {
        let folder = self.0.parent().unwrap_or(Path::new("/"));
        let written =
            fs::create_dir_all(folder).and_then(|()| NamedTempFile::new_in(folder)).and_then(|mut file| {
                file.write_all(format!("{:#}\n", serde_json::json!(entries)).as_bytes())?;
                file.as_file().sync_all()?;
                Ok(file.persist(&self.0)?)
            });
        written.map(drop).context_at("write", &self.0)
    }
}

/// What identifies a drive and the bridge in front of it: the same drive in another housing is reached in another way.
fn key(device: &BlockDevice) -> String {
    let usb = usb_device(device);
    let bridge =
        usb.map(|usb| ["idVendor", "idProduct"].map(|id| usb.attribute(id).unwrap_or_default()).join(":"));
    let id = StableId::of_device(device, device.bytes().unwrap_or_default()).text;
    bridge.into_iter().chain([id]).collect::<Vec<_>>().join(" ")
}

/// Drives for which this process was given a type.
static GIVEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The type that was given for a drive, with who gave it as its origin; not queried if there is none.
pub(super) fn remembered(device: &BlockDevice) -> Fact<String> {
    let Some(memory) = Memory::system() else { return Fact::NotQueried };
    let key = key(device);
    let is_given = GIVEN.lock().is_ok_and(|given| given.contains(&key));
    remembered_in(&memory, &key, is_given)
}

fn remembered_in(memory: &Memory, key: &str, is_given: bool) -> Fact<String> {
    let origin = memory.0.display().to_string();
    let entries = match memory.read() {
        Ok(entries) => entries,
        Err(reason) => return Fact::unknown(reason, origin),
    };
    let Some(Remembered { device_type, since }) = entries.get(key) else { return Fact::NotQueried };
    match device_type.parse() {
        Ok(DeviceChoice::Type(device_type)) if is_given => Fact::new(device_type, wording::GIVEN_NOW),
        Ok(DeviceChoice::Type(device_type)) => Fact::new(device_type, wording::remembered_since(since)),
        Ok(DeviceChoice::Auto) => Fact::NotQueried,
        Err(reason) => Fact::unknown(wording::types_unreadable(&memory.0, reason), origin),
    }
}

/// Remembers a choice for a drive.
pub(super) fn remember_of(device: &BlockDevice, choice: &DeviceChoice) -> Result<(), TargetError> {
    let memory =
        Memory::system().ok_or_else(|| TargetError::Unsuitable(wording::NO_STATE_FOLDER.to_owned()))?;
    remember(&memory, &key(device), choice)
}

fn remember(memory: &Memory, key: &str, choice: &DeviceChoice) -> Result<(), TargetError> {
    let mut entries = memory.read().map_err(TargetError::Unsuitable)?;
    let before = entries.remove(key);
    let mut given = GIVEN.lock().expect("nothing panics while it is held");
    given.retain(|known| known != key);
    if let DeviceChoice::Type(device_type) = choice {
        given.push(key.to_owned());
        let since = before.as_ref().filter(|before| before.device_type == *device_type);
        let since = since.map_or_else(wall_date, |before| before.since.clone());
        entries.insert(key.to_owned(), Remembered { device_type: device_type.clone(), since });
    } else if before.is_none() {
        return Ok(());
    }
    memory.write(&entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(typed: &str) -> Result<DeviceChoice, String> {
        typed.parse()
    }

    #[test]
    fn types_of_smartctl_are_taken_and_nothing_else() {
        for typed in ["sat", "sat,12", "sntjmicron", "sntasmedia/sat", "usbjmicron", "usbjmicron,p", "nvme"] {
            assert_eq!(choice(typed), Ok(DeviceChoice::Type(typed.to_owned())));
            assert!(!is_member(typed), "{typed}");
        }
        let members =
            ["megaraid,0", "megaraid,127", "sat+megaraid,5", "3ware,2", "areca,24", "areca,128/8", "cciss,0"];
        for typed in members.into_iter().chain(["aacraid,0,0,2", "hpt,1/3", "hpt,1/128/4", "usbjmicron,1"]) {
            assert_eq!(choice(typed), Ok(DeviceChoice::Type(typed.to_owned())));
            assert!(is_member(typed), "{typed}");
        }
        assert_eq!(choice("auto"), Ok(DeviceChoice::Auto));
        for typed in [
            "",
            "-d",
            "--scan",
            "megaraid",
            "megaraid,",
            "megaraid,-1",
            "megaraid,+1",
            "megaraid,N",
            "sat;reboot",
        ] {
            assert!(choice(typed).unwrap_err().contains("megaraid,N"), "{typed}");
        }
        // Each of these puts data on the drive at risk (smartctl(8)).
        for typed in ["usbjmicron,x", "usbcypress,0x24", "sat,99", "test"] {
            assert!(choice(typed).unwrap_err().contains("sntjmicron"), "{typed}");
        }
    }

    #[test]
    fn a_number_out_of_bounds_is_told_its_bounds() {
        assert!(choice("megaraid,128").unwrap_err().contains("N is 0 to 127"));
        let text = choice("areca,0/9").unwrap_err();
        assert!(text.contains("N is 1 to 128") && text.contains("E is 1 to 8"), "{text}");
    }

    #[test]
    fn types_under_which_smartctl_writes_are_refused_with_the_way_round() {
        for typed in ["jmb39x,0", "jmb39x-q,1", "jms56x,0,force"] {
            let text = choice(typed).unwrap_err();
            assert!(text.contains("writes") && text.contains("--from"), "{text}");
        }
    }

    #[test]
    fn what_was_given_is_remembered_until_it_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_owned();
        let memory = Memory::at(|name| (name == "HOME").then(|| home.clone().into_os_string())).unwrap();
        let give = |key: &str, typed: &str| remember(&memory, key, &choice(typed).unwrap()).unwrap();
        give("one", "auto");
        assert!(!memory.0.exists(), "there is nothing to forget");
        give("one", "megaraid,3");
        give("other", "sat");
        assert_eq!(remembered_in(&memory, "one", true), Fact::new("megaraid,3".to_owned(), "given now"));
        let later = remembered_in(&memory, "one", false);
        let since = memory.read().unwrap()["one"].since.clone();
        assert_eq!(later.origin(), Some(&*format!("remembered since {}", &since[..10])));
        give("one", "megaraid,3");
        assert_eq!(memory.read().unwrap()["one"].since, since, "the same again is nothing new");
        give("one", "auto");
        assert!(remembered_in(&memory, "one", false).is_not_queried());
        assert_eq!(remembered_in(&memory, "other", false).value().unwrap(), "sat");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&memory.0).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(
            fs::read_dir(memory.0.parent().unwrap()).unwrap().count(),
            1,
            "nothing else is left there"
        );
    }

    #[test]
    fn a_link_beside_it_leads_nowhere() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::NamedTempFile::new().unwrap());
        fs::write(elsewhere.path(), "mine").unwrap();
        let memory = Memory(folder.path().join("smartctl-devices.json"));
        for name in ["new".to_owned(), format!("{}.new", std::process::id())] {
            std::os::unix::fs::symlink(elsewhere.path(), memory.0.with_extension(name)).unwrap();
        }
        remember(&memory, "one", &DeviceChoice::Type("sat".to_owned())).unwrap();
        assert_eq!(fs::read_to_string(elsewhere.path()).unwrap(), "mine");
        assert!(fs::symlink_metadata(&memory.0).unwrap().is_file());
    }

    #[test]
    fn a_damaged_file_is_named_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory(folder.path().join("smartctl-devices.json"));
        for text in ["{", "[]", r#"{"one":{"device_type":"jmb39x,0","since":"2026-01-01"}}"#] {
            fs::write(&memory.0, text).unwrap();
            let reason = remembered_in(&memory, "one", false).reason().unwrap().to_owned();
            assert!(reason.contains("smartctl-devices.json"), "{reason}");
        }
        fs::write(&memory.0, "{").unwrap();
        let refused =
            remember(&memory, "one", &DeviceChoice::Type("sat".to_owned())).unwrap_err().to_string();
        assert!(refused.contains("smartctl-devices.json"), "{refused}");
        assert_eq!(fs::read_to_string(&memory.0).unwrap(), "{");
    }
}
