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
