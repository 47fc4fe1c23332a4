//! Steps on whole drives of the guest, under a real kernel and its drivers: destructive ones are refused
//! while any layer is built on a drive, and do what they say otherwise.

use std::path::Path;

use likenew_core::fix::{ActionKind, ReadBackCounts};
use likenew_core::target_error::TargetError;
use likenew_real::consent::{Agreement, Consent, Loss, UnusedSpace};
use likenew_real::drive_lock::Locks;
use likenew_real::erase::discard::{Samples, discard};
use likenew_real::erase::format::{Erase, FormatPlan};
use likenew_real::erase::precondition::{preconditions, require};
use serde_json::{Value, json};

use crate::guest::hardware::BYTES;
use crate::guest::{Guest, guest};

/// Addresses that are compared before and after.
const SAMPLES: u64 = 128;
/// The prefix of a result line, among the output of the test harness.
const ANSWER: &str = "answer: ";

/// Runs in the guest, which starts this program there: one step, from the environment. Elsewhere it does
/// nothing.
#[test]
fn a_step() {
    let Ok(step) = std::env::var("LIKENEW_STEP") else { return };
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let device = variable("LIKENEW_DEVICE");
    let destroy = variable("LIKENEW_DESTROY");
    let destroy = destroy.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let agreement = Agreement { id: variable("LIKENEW_ID"), destroy };
    let answer = match take(&step, Path::new(&device), &agreement) {
        Ok(answer) => answer,
        Err(TargetError::Refused(text)) => json!({ "refused": text }),
        Err(target_error) => json!({ "fault": target_error.to_string() }),
    };
    println!("\n{ANSWER}{answer}");
}

fn take(step: &str, device: &Path, agreement: &Agreement) -> Result<Value, TargetError> {
    Ok(match step {
        "discard" => {
            let consent = Consent::to_overwrite(device, agreement)?;
            let before = Samples::read(&consent, SAMPLES)?;
            let came = discard(&consent, |_, _| true)?;
            let read_back = before.compare(&Samples::read(&consent, SAMPLES)?);
            json!({
                "bytes_asked": came.bytes_asked, "done": came.bytes_done, "bytes_counted": came.bytes_counted,
                "refusals": came.refusals.len(), "read_back": counts(read_back),
            })
        }
        "format" | "format-key" => {
            let erase = if step == "format" { Erase::UserData } else { Erase::Key };
            let consent = Consent::to_overwrite(device, agreement)?;
            let plan = FormatPlan::inspect(&consent, erase)?;
            let before = Samples::read(&consent, SAMPLES)?;
            let formatted = plan.carry_out(&consent)?;
            let read_back = before.compare(&Samples::read(&consent, SAMPLES)?);
            json!({
                "plan": plan.text(), "as_before": formatted.is_as_before, "read_back": counts(read_back),
            })
        }
        "lock" => {
            let lock = Locks::system().take(&[device])?;
            let again = Locks::system().take(&[device]).err().map(|target_error| target_error.to_string());
            json!({ "drives": lock.drives(), "again": again })
        }
        "preconditions" => {
            let (name, found) = preconditions(device, ActionKind::NvmeFormat)?.remove(0);
            let format = require(device, &found, ActionKind::NvmeFormat)
                .err()
                .map(|target_error| target_error.to_string());
            let discard = preconditions(device, ActionKind::Discard)?.remove(0).1;
            let discard = require(device, &discard, ActionKind::Discard)
                .err()
                .map(|target_error| target_error.to_string());
            json!({ "name": name, "format": format, "discard": discard })
        }
        "unused" => {
            let space = UnusedSpace::at(device)?;
            json!({ "table": space.table, "bytes": space.bytes(), "id": space.id.text })
        }
        "instructions" => {
            let found = preconditions(device, ActionKind::AtaSecureErase)?.remove(0).1;
            json!({ "security": format!("{:?}", found.iter().find(|found| found.name == "security")) })
        }
        other => panic!("no step {other}; {:?}", Loss::at(device)),
    })
}

fn counts(read_back: ReadBackCounts) -> Value {
    let ReadBackCounts { same, blank, changed, unreadable, empty } = read_back;
    json!({ "same": same, "blank": blank, "changed": changed, "unreadable": unreadable, "empty": empty })
}

#[track_caller]
fn answer(guest: &Guest, name: &str) -> Value {
    let text = guest.text(&format!("step-{name}"));
    let line = text.lines().find_map(|line| line.strip_prefix(ANSWER));
    serde_json::from_str(line.unwrap_or_else(|| panic!("no answer to {name} in: {text}"))).unwrap()
}

#[track_caller]
fn refused(guest: &Guest, name: &str, words: &[&str]) {
    let answer = answer(guest, name);
    let text = answer["refused"].as_str().unwrap_or_else(|| panic!("{name} was not refused: {answer}"));
    for word in words {
        assert!(text.contains(word), "{name}: \"{word}\" is missing in: {text}");
    }
}

#[test]
fn a_drive_that_carries_anything_is_refused() {
    let Some(guest) = guest() else { return };
    refused(guest, "mounted", &["is mounted at /mnt/discards", "unmount it"]);
    refused(guest, "mounted-other", &["does not match", "LN-NVME-TWO-ns2"]);
    refused(guest, "partition-mounted", &["1 is mounted at /mnt/plain", "unmount it"]);
    refused(guest, "mounted-partition", &["1 is mounted at /mnt/plain", "unmount it"]);
    // The top of all layers is reported first.
    let mounted = ["which is built on dm-", "is mounted at /mnt/locked", "unmount it"];
    refused(guest, "volume-group", &mounted);
    refused(guest, "encrypted", &mounted);
    refused(guest, "mapping-mounted", &["is mounted at /mnt/locked", "unmount it"]);
    refused(guest, "array", &["carries md_pair", "stop that"]);
    refused(guest, "controller", &["a character device", "give a block device"]);
    refused(guest, "format-mounted", &["is mounted at /mnt/discards"]);
    refused(guest, "format-sata", &["only an NVMe namespace", "discard it instead"]);
}

#[test]
fn a_folder_is_locked_by_the_drive_below_all_its_layers() {
    let Some(guest) = guest() else { return };
    let lock = answer(guest, "lock");
    assert_eq!(lock["drives"], json!([guest.disk("volume")]));
    assert!(lock["again"].as_str().unwrap().contains("another run of likenew"), "{lock}");
}

#[test]
fn a_drives_own_words_decide_what_may_be_done_to_it() {
    let Some(guest) = guest() else { return };
    let sick = answer(guest, "sick");
    for step in ["format", "discard"] {
        assert!(
            sick[step].as_str().unwrap().contains("its reliability is degraded; back up its data first"),
            "{sick}"
        );
    }
    let well = answer(guest, "well");
    assert_eq!((&well["format"], &well["discard"]), (&Value::Null, &Value::Null), "{well}");
    let usb = answer(guest, "usb");
    assert!(usb["format"].is_string() && usb["discard"].is_null(), "{usb}");
    assert_eq!(answer(guest, "unused")["table"], "dos");
    assert!(answer(guest, "ata")["security"].as_str().unwrap().contains("Holds"), "{}", answer(guest, "ata"));
}

#[test]
fn a_discard_reaches_every_kind_of_drive() {
    let Some(guest) = guest() else { return };
    for name in ["nvme", "sata", "scsi", "virtio"] {
        let came = answer(guest, &format!("discard-{name}"));
        assert_eq!((&came["bytes_asked"], &came["done"]), (&json!(BYTES), &json!(BYTES)), "{name}: {came}");
        assert_eq!((&came["bytes_counted"], &came["refusals"]), (&json!(BYTES), &json!(0)), "{name}: {came}");
        // 12 of 64 MiB held data, and QEMU frees them in its image, which reads as zeros.
        let read_back = &came["read_back"];
        assert!(read_back["blank"].as_u64().unwrap() >= SAMPLES / 8, "{name}: {came}");
        assert_eq!((&read_back["same"], &read_back["unreadable"]), (&json!(0), &json!(0)), "{name}: {came}");
    }
}

#[test]
fn a_namespace_is_formatted_as_it_was() {
    let Some(guest) = guest() else { return };
    let format = answer(guest, "format");
    assert_eq!(format["as_before"], true, "{format}");
    assert!(format["plan"].as_str().unwrap().contains("namespace 2, erase of user data"), "{format}");
    assert!(format["read_back"]["blank"].as_u64().unwrap() >= SAMPLES / 8, "{format}");
    refused(guest, "format-key", &["cannot erase by its key", "erase the user data instead"]);
}

#[test]
fn objections_to_a_step_are_printed_before_it() {
    let Some(guest) = guest() else { return };
    let reason = |document: &Value, step: &str| {
        let step_plan = document["tables"]["step_plan"].as_array().unwrap();
        let row = step_plan.iter().find(|row| row["step"] == step).unwrap();
        row["not_run_reason"].as_str().unwrap().to_owned()
    };
    let worn = guest.document("dry-worn", 0);
    assert!(
        reason(&worn, "refresh").contains("its reliability is degraded; back up its data first"),
        "{worn:#}"
    );
    assert_eq!(worn["bytes_written"], 0);
    let folder = guest.document("dry-folder", 0);
    assert!(reason(&folder, "refresh").contains("this is a dry run"), "{folder:#}");
    assert!(reason(&folder, "discard-unused").contains("partitions cover the whole disk"), "{folder:#}");
}

#[test]
fn a_drive_that_has_formatted_itself_is_checked_before_and_after() {
    let Some(guest) = guest() else { return };
    let code = guest.text("formatted.status").trim().parse().unwrap();
    assert!([0, 10].contains(&code), "{}", guest.text("formatted.errors"));
    let document = guest.document("formatted", code);
    let answers = document["answers"].as_array().unwrap();
    let step = answers.iter().find(|answer| answer["id"] == "step_format");
    let evidence = step.unwrap_or_else(|| panic!("{document:#}"))["evidence"].to_string();
    assert!(
        evidence.contains("sampled blocks that had held data") && !evidence.contains("still return"),
        "{evidence}"
    );
    assert_eq!(document["tables"]["steps"][0]["bytes"].as_u64(), Some(BYTES), "{document:#}");
    assert!(!document["tables"]["before_and_after"].as_array().unwrap().is_empty(), "{document:#}");
}
