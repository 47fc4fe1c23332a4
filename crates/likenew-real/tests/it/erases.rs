//! Erasing whole devices, on devices made for the test.

use crate::refusal_matrix::disk::{Disk, PARTITION};
use crate::refusal_matrix::ledger::{file, right, typed};
use crate::support::{disk_folder, refusal, says};
use likenew_core::fix::{ActionKind, ReadBackCounts};
use likenew_real::consent::{Consent, Loss};
use likenew_real::erase::discard::{Samples, discard};
use likenew_real::erase::format::{Erase, FormatPlan};
use likenew_real::erase::precondition::preconditions;

fn consent(path: &std::path::Path) -> Consent {
    let (loss, agreement) = right(path);
    Consent::to_lose(&loss, &agreement).unwrap()
}

fn space_usage(disk: Disk) -> Disk {
    let block: Vec<u8> = (0..1u32 << 20).map(|index| (index % 251) as u8).collect();
    (1..8).for_each(|mib| disk.write(&block, mib << 20));
    disk
}

fn skip() -> bool {
    let skip = !rustix::process::geteuid().is_root();
    if skip {
        eprintln!("SKIPPED: not root, so there is no device of our own");
    }
    skip
}

#[test]
fn a_device_is_discarded_whole_and_says_what_became_of_it() {
    if skip() {
        return;
    }
    let disk = space_usage(Disk::plain());
    let consent = consent(disk.path());
    let before = Samples::read(&consent, 64).unwrap();
    let mut result = Vec::new();
    let came = discard(&consent, |behind, all| {
        result.push((behind, all));
        true
    })
    .unwrap();
    assert_eq!(result, [(8 << 20, 8 << 20)]);
    assert!(came.is_complete() && !came.is_stopped && came.refusals.is_empty(), "{came:?}");
    assert_eq!((came.bytes_asked, came.bytes_counted), (8 << 20, Some(8 << 20)));
    let counts = before.compare(&Samples::read(&consent, 64).unwrap());
    assert!(counts.blank >= 50 && counts.same == 0 && counts.unreadable == 0, "{counts:?}");
    drop(consent);
    assert!(std::fs::read(&disk.image).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_partition_is_discarded_and_nothing_beside_it() {
    if skip() {
        return;
    }
    let disk = space_usage(Disk::partitioned());
    let before = std::fs::read(&disk.image).unwrap();
    let consent = consent(&disk.partition());
    assert!(discard(&consent, |_, _| true).unwrap().is_complete());
    drop(consent);
    let after = std::fs::read(&disk.image).unwrap();
    let (start, end) = (PARTITION.0 as usize, (PARTITION.0 + PARTITION.1) as usize);
    assert!(after[start..end].iter().all(|byte| *byte == 0));
    assert!(after[..start] == before[..start] && after[end..] == before[end..], "its neighbours stay");
}

#[test]
fn what_cannot_be_discarded_or_formatted_is_refused() {
    let folder = disk_folder();
    let path = file(folder.path(), "image", 64 << 10);
    let held = Consent::to_overwrite(&path, &typed("image", &[])).unwrap();
    says(&refusal(discard(&held, |_, _| true)), &["not a block device", "give a drive or partition"]);
    says(
        &refusal(FormatPlan::inspect(&held, Erase::UserData)),
        &["only an NVMe namespace", "discard it instead"],
    );
    if skip() {
        return;
    }
    let disk = space_usage(Disk::partitioned());
    let before = std::fs::read(&disk.image).unwrap();
    for path in [disk.path(), &disk.partition()] {
        let held = consent(path);
        says(&refusal(FormatPlan::inspect(&held, Erase::Key)), &["only an NVMe namespace"]);
    }
    assert!(std::fs::read(&disk.image).unwrap() == before);
}

#[test]
fn samples_show_what_stays() {
    if skip() {
        return;
    }
    let disk = space_usage(Disk::plain());
    let held = consent(disk.path());
    let before = Samples::read(&held, 16).unwrap();
    let counts = before.compare(&Samples::read(&held, 16).unwrap());
    // The first two are at blank addresses.
    assert_eq!(counts, ReadBackCounts { same: 14, empty: 2, ..ReadBackCounts::default() });
}

#[test]
fn preconditions_are_found_for_what_lies_below() {
    if skip() {
        return;
    }
    let disk = Disk::plain();
    assert!(Loss::at(disk.path()).is_ok());
    let found = preconditions(disk.path(), ActionKind::Discard).unwrap();
    assert!(!found.is_empty());
    for (_, found) in &found {
        assert!(found.iter().any(|found| found.name == "power"), "{found:?}");
    }
    let folder = disk_folder();
    let _ = preconditions(folder.path(), ActionKind::Fstrim).unwrap();
    says(&refusal(preconditions(&folder.path().join("missing"), ActionKind::Discard)), &["does not exist"]);
}
