//! Whether a drive was like new when a run began.

use likenew_core::drive::{Identity, Kind};

/// What has to be said of a drive that was not purged, as far as can be known.
pub(super) fn missing_purge(identity: &Identity) -> Option<String> {
    match identity.kind {
        Kind::Simulated if is_new(identity) => None,
        Kind::Simulated => {
            Some("the simulated drive was not new when the run began: open it with state=new to see it from its first day".into())
        }
        Kind::Nop => None,
        Kind::Folder | Kind::File | Kind::Device => Some(
            "the drive was not purged (secure erase, format or sanitize) before the run, which likenew cannot do yet: what it had \
             been through before is part of these numbers"
                .into(),
        ),
    }
}

/// A simulated drive says what it has been through; one that was filled or used is not new.
fn is_new(identity: &Identity) -> bool {
    let state = identity.facts.iter().find(|(name, _)| name == "state").map(|(_, value)| value.as_str());
    state.is_none_or(|state| state.starts_with("new") && !state.contains("then") && !state.contains("ago"))
}
