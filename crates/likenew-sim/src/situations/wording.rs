//! The sentences about situations.

use likenew_core::quantity::Share;
use likenew_core::units::{Number, amount, rate};

use crate::faults::StallParameters;
use crate::situations::HypervisorCache;
use crate::situations::layers::{CryptParameters, WakeParameters};
use crate::situations::link_standard::LinkStandard;

/// A drive database's warning about firmware that stalls.
pub(crate) const FIRMWARE_WARNING: &str = "This firmware can stall for seconds. An update is available.";

// What situations are, by their names

/// Names of situations.
pub(super) const MAPPING_MEMORY: &str = "host memory for the mapping table";
pub(super) const FRONT_CACHE: &str = "cache in front of it";

likenew_core::sentences! {
    pub(super) fn link(link: LinkStandard) =
        "{link}: {} at most", rate(link.payload_bytes_per_s() as f64);
    pub(super) fn encryption(crypt: CryptParameters) =
        "{} on one CPU core, {} queueing delay", rate(crypt.bytes_per_s as f64), crypt.hand_over;
    pub(super) fn shifted_partition(bytes: u64) = "misaligned by {}", amount(bytes);
    pub(super) fn partition(start: f64) = "from {} of the addresses to the end", Share(start);
    pub(super) fn power_saving(wake: WakeParameters) =
        "sleeps after {} idle, wakes in {}", wake.after, wake.time;
    pub(super) fn fragments(bytes: u64) = "{} fragments", amount(bytes);
    pub(super) fn wear(share: f64) = "{} of rated life used", Share(share);
    pub(super) fn slow_region(share: f64) = "{} of the addresses", Share(share);
    pub(super) fn damaged_link(every_ios: u64) = "1 of {} commands is resent", Number(every_ios as f64);
    pub(super) fn read_cache(bytes: u64) = "{} of memory", amount(bytes);
    pub(super) fn rebuilt_array(bytes_per_s: u64) =
        "rebuilding its other member, {} of reads", rate(bytes_per_s as f64);
}

pub(super) fn restored_volume(is_restored: bool) -> Option<String> {
    is_restored.then(|| "restored from a snapshot: blocks are fetched on first access".to_owned())
}

pub(super) fn firmware(_stalls: StallParameters) -> String {
    "known to stall".to_owned()
}

pub(super) fn host_memory(bytes: u64) -> String {
    if bytes == 0 { "none".to_owned() } else { amount(bytes) }
}

pub(super) fn virtual_disk(cache: HypervisorCache) -> String {
    let what = match cache {
        HypervisorCache::Off => "no cache in the hypervisor",
        HypervisorCache::WriteBack => "writes end in the hypervisor's memory until a flush",
        HypervisorCache::Unsafe => "writes end in the hypervisor's memory, and flushes do nothing",
    };
    what.to_owned()
}
