//! Checks of drives in the guest, where a real kernel makes them slow.

use crate::guest::guest;

#[test]
fn encryption_by_a_processor_that_can_do_no_more_is_named() {
    let Some(guest) = guest() else { return };
    let document = guest.document("encrypted", 10);
    let Some(causes) = document["tables"]["causes"].as_array() else { panic!("{}", document["answers"]) };
    assert!(causes.iter().any(|row| row["cause"] == "encryption"), "{causes:?}");
    let evidence = document["tables"]["evidence"].as_array().unwrap();
    let says = |words: &str| {
        evidence
            .iter()
            .find(|row| row["cause"] == "encryption" && row["sentence"].as_str().unwrap().contains(words))
    };
    let kernel = says("of one CPU core during sequential reads").unwrap_or_else(|| panic!("{evidence:?}"));
    assert_eq!(kernel["speaks"], "for", "{kernel}");
    assert!(says("dm-crypt encrypts this volume").is_some());
    let fixes = document["tables"]["fixes"].as_array().unwrap();
    let commands: Vec<&str> = fixes.iter().filter_map(|row| row["command"].as_str()).collect();
    assert!(commands.iter().any(|command| command.contains("cryptsetup benchmark")), "{commands:?}");
}

#[test]
fn failing_drives_are_called_failing_before_anything_else() {
    let Some(guest) = guest() else { return };
    let both = guest.document("checks", 10);
    let summary = |place: usize| both[place]["summary"].as_str().unwrap();
    let worn = guest.disk("worn");
    assert!(
        summary(0).starts_with(&format!("Back up now: {worn} reports that it is failing. ")),
        "{}",
        summary(0)
    );
    let health = &both[0]["answers"][0];
    assert_eq!((&health["id"], &health["standing"]), (&"health".into(), &"problem".into()));
    assert!(summary(1).starts_with("I/O errors: the drive failed "), "{}", summary(1));
}

#[test]
fn all_is_every_drive_and_one_that_must_not_be_read_stands_with_its_error() {
    let Some(guest) = guest() else { return };
    let entries = guest.document("checks-nobody", 3);
    let mut names: Vec<&str> = entries
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            assert!(entry["error"].as_str().unwrap().contains("you have no permission"), "{entry}");
            entry["target"]["name"].as_str().unwrap()
        })
        .collect();
    names.sort_unstable();
    let disks = guest.text("disks");
    let mut drives: Vec<String> =
        disks.lines().map(|line| format!("/dev/{}", line.split(' ').next_back().unwrap())).collect();
    drives.sort_unstable();
    assert_eq!(names, drives);
}
