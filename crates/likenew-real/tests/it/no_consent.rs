//! Over two hundred requests to overwrite what must not be overwritten: each is refused before the first
//! write, with a helpful message, and the target stays the same byte for byte.

use crate::refusal_matrix::{changes, identifiers, kinds, ledger::Ledger, shared, signatures, uses};

#[test]
fn two_hundred_ways_are_refused_and_change_nothing() {
    let mut ledger = Ledger::default();
    identifiers::of_files(&mut ledger);
    signatures::on_files(&mut ledger);
    kinds::all(&mut ledger);
    changes::of_files(&mut ledger);
    uses::of_files(&mut ledger);
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: not root, so of {} cases all were of files", ledger.count());
    }
    identifiers::of_devices(&mut ledger);
    signatures::on_devices(&mut ledger);
    changes::of_devices(&mut ledger);
    uses::of_devices(&mut ledger);
    ledger.print();
    assert!(ledger.count() >= 200, "{} cases", ledger.count());
    println!(
        "attack: ways to ask for what must not be overwritten | {} | refused before the first write",
        ledger.count()
    );
}

#[test]
fn bytes_that_somebody_reaches_another_way_are_refused() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: not root, so there is no device of our own");
    }
    let mut ledger = Ledger::default();
    shared::all(&mut ledger);
    ledger.print();
    println!(
        "attack: ways around a mount, by bytes that have another name | {} | refused before the first write",
        ledger.count()
    );
}

#[test]
fn bytes_beside_those_in_use_are_nobodys() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIPPED: not root, so there is no device of our own");
    }
    shared::beside();
}
