//! What the file of a drawn drive says of itself.

/// The technology of a cloud volume.
pub(super) const NETWORK_VOLUME: &str = "cloud volume over flash, burst credits";

/// The comment at the start.
pub(super) fn comment(seed: u64) -> String {
    format!("# A drive that was drawn at random, from seed {seed}.")
}
