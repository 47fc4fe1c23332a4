//! The sentences about situations.

use likenew_core::quantity::Share;
use likenew_core::units::{Number, amount, rate};

use crate::situations::HypervisorCache;
use crate::situations::layers::{CryptParameters, WakeParameters};
use crate::situations::link_standard::LinkStandard;

/// A drive database's warning about firmware that stalls.
pub(crate) const FIRMWARE_WARNING: &str = "This firmware can stall for seconds. An update is available.";

/// A setting of a target, for messages.
pub(super) struct Setting {
    pub(super) key: &'static str,
    /// The accepted forms, beginning with an example.
    forms: &'static str,
    meaning: &'static str,
}

impl Setting {
    /// A valid value.
    pub(super) fn example(&self) -> &'static str {
        self.forms.split(' ').next().unwrap_or(self.forms)
    }
}

const fn setting(key: &'static str, forms: &'static str, meaning: &'static str) -> Setting {
    Setting { key, forms, meaning }
}

/// All settings, in the order of messages.
pub(super) const SETTINGS: [Setting; 14] = [
    setting("link", "sata3g", "a slower link"),
    setting("crypt", "300MB/s,40us", "encryption above it, and its queueing delay"),
    setting("shift", "512", "bytes by which a partition is misaligned"),
    setting("wake", "2ms,100us", "time to wake up, after so long without I/O"),
    setting("hmb", "off or 16MiB", "host memory buffer for the mapping table"),
    setting("lazy", "on", "a volume restored from a snapshot"),
    setting("fragments", "64KiB", "pieces of a file"),
    setting("wear", "0.9", "share of its rated life"),
    setting("slow_region", "0.01", "share of a disk's addresses"),
    setting("crc", "500", "one of so many commands fails on the link and is resent"),
    setting("firmware", "500ms,4s", "stalls for so long, so often"),
    setting("readcache", "4GiB", "a hidden read cache in front of it"),
    setting("array", "100MB/s", "read to rebuild the other member of an array"),
    setting("vm", "unsafe", "a virtual disk whose hypervisor caches like this: none, writeback, unsafe"),
];

/// `link=sata3g (a slower link), …`
pub(crate) fn known_settings() -> String {
    let settings = SETTINGS.iter();
    let listed = settings.map(|Setting { key, forms, meaning }| format!("{key}={forms} ({meaning})"));
    listed.collect::<Vec<_>>().join(", ")
}

// What situations are, by their names

/// Names of situations.
pub(super) const MAPPING_MEMORY: &str = "host memory for the mapping table";
pub(super) const FRONT_CACHE: &str = "cache in front of it";
/// Of a volume.
pub(super) const RESTORED_VOLUME: &str = "restored from a snapshot: blocks are fetched on first access";

likenew_core::sentences! {
    pub(super) fn link(link: LinkStandard) =
        "{link}: {} at most", rate(link.payload_bytes_per_s() as f64);
    pub(super) fn encryption(crypt: CryptParameters) =
        "{} on one CPU core, {} queueing delay", rate(crypt.bytes_per_s as f64), crypt.hand_over;
    pub(super) fn shifted_partition(bytes: u64) = "misaligned by {}", amount(bytes);
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
