//! Situations that make a healthy drive slow. Each is a small layer or a change of parameters. It comes from
//! the drive's file (`[situations]`) or a setting of the target (`?link=sata3g&wake=2ms`).
//!
//! Situations can be combined. Those above the drive's faults are, from the host down: file fragments,
//! encryption, a misaligned partition, the place of a partition. Those below are: I/O of another program, a
//! hidden cache, a damaged link, power saving, a restored volume, a rebuilding array. Most others change the
//! drive itself: its link, firmware, host memory and wear.

pub mod layers;
pub mod link_standard;
mod wording;

use std::ops::Range;

use likenew_core::units::{Nanos, parse_duration, parse_size};
use strum::EnumString;

use crate::device::Device;
use crate::disk::DiskParameters;
use crate::drive_file::Section;
use crate::error::{Domain, SettingError, SimError};
use crate::faults::neighbor::Neighbor;
use crate::faults::{DriveFaults, NeighborParameters, StallParameters};
use crate::flash::map_cache::{HostShare, MapCacheParameters};
use layers::{
    AddressRemap, Crypt, CryptParameters, DamagedLink, HAND_OVER, HookedDevice, LINE_BYTES, ReadCache,
    RemappedDevice, SLEEP_AFTER, SnapshotRestore, Wake, WakeParameters,
};
use link_standard::LinkStandard;

pub(crate) use wording::FIRMWARE_WARNING;

/// Declares the situations. A row has the type of the value, the setting's key with an example, the function that reads
/// its value, and the situation's name and words in explanations. Files spell the values like settings.
macro_rules! situations {
    ($(
        $(#[$attribute:meta])*
        $field:ident: $type:ty = ($key:literal, $example:literal, $read:expr) => ($name:expr, $describe:expr),
    )*) => {
        /// The situations of a drive; by default none.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct Situations {
            $($(#[$attribute])* pub $field: Option<$type>,)*
        }

        /// Keys of all settings with an example of each, in the order of messages.
        pub(crate) const SETTINGS: &[(&str, &str)] = &[$(($key, $example)),*];

        impl Situations {
            /// Applies a setting; `None` if the key is not a situation.
            ///
            /// # Errors
            /// The value is not valid for the key.
            pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<Result<(), SettingError>> {
                match key {
                    $($key => {
                        let read: fn(&str, &str) -> Result<$type, SettingError> = $read;
                        Some(read(key, value).map(|value| self.$field = Some(value)))
                    })*
                    _ => None,
                }
            }

            /// These situations, and those of `other` that are not set here.
            pub(crate) fn merge_with(&self, other: &Self) -> Self {
                Self { $($field: self.$field.or(other.$field),)* }
            }

            /// The situations as names and values for people.
            pub(crate) fn describe(&self) -> Vec<(&'static str, String)> {
                let described = [$(($name, self.$field.and_then(|value| $describe(value).into()))),*];
                described.into_iter().filter_map(|(name, what)| Some((name, what?))).collect()
            }
        }
    };
}

situations! {
    /// The link that the drive is connected by, if not its own.
    link: LinkStandard = ("link", "sata3g", link) => ("link", wording::link),
    /// Encryption above the drive: its rate, and its queueing delay.
    crypt: CryptParameters = ("crypt", "300MB/s,40us", crypt) => ("encryption", wording::encryption),
    /// Bytes by which a partition shifts all addresses.
    shift_bytes: u64 = ("shift", "512", |key, text| size(key, text, 1, 1 << 30))
        => ("partition", wording::shifted_partition),
    /// Share of the drive's addresses that precede the partition, which takes the rest.
    partition_start: f64 = ("part", "0.6", |key, text| share(key, text, PARTITION_START_MAX))
        => ("tested part", wording::partition),
    /// Power saving of the drive or its link: time to wake up, after so long without I/O.
    wake: WakeParameters = ("wake", "2ms,100us", wake) => ("power saving", wording::power_saving),
    /// Host memory offered for its mapping table, in bytes.
    host_memory_bytes: u64 = ("hmb", "off", host_memory) => (wording::MAPPING_MEMORY, wording::host_memory),
    /// Whether it is a volume newly restored from a snapshot.
    from_snapshot: bool = ("lazy", "on", truth) => ("volume", wording::restored_volume),
    /// Fragment size of the tested file, in bytes.
    fragment_bytes: u64 = ("fragments", "64KiB", |key, text| size(key, text, 512, 1 << 40))
        => ("files", wording::fragments),
    /// Share of the rated life that is used up.
    wear: f64 = ("wear", "0.9", |key, text| share(key, text, 3.0)) => ("wear", wording::wear),
    /// Share of a disk's addresses in the slow region.
    slow_region_share: f64 = ("slow_region", "0.01", |key, text| share(key, text, 0.5))
        => ("slow region", wording::slow_region),
    /// One command out of this many is damaged on the link and resent.
    damaged_every_ios: u64 = ("crc", "500", damage) => ("damaged link", wording::damaged_link),
    /// When its firmware stalls: for so long, so often.
    firmware: StallParameters = ("firmware", "500ms,4s", firmware) => ("firmware", wording::firmware),
    /// Bytes of a hidden cache in front of the drive.
    read_cache_bytes: u64 = ("readcache", "4GiB", |key, text| size(key, text, LINE_BYTES, 1 << 40))
        => (wording::FRONT_CACHE, wording::read_cache),
    /// Rate at which an array reads the drive to rebuild another member, in bytes per second.
    array_bytes_per_s: u64 = ("array", "100MB/s", array) => ("array", wording::rebuilt_array),
    /// How a hypervisor caches the drive, if it is the disk of a virtual machine.
    hypervisor_cache: HypervisorCache = ("vm", "unsafe", hypervisor_cache)
        => ("virtual disk", wording::virtual_disk),
}

/// How a hypervisor caches a virtual disk in the host's memory (the modes of QEMU's `cache=`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "lowercase")]
pub enum HypervisorCache {
    /// Not at all: a guest's flush reaches the drive.
    #[strum(serialize = "none")]
    Off,
    /// Writes end in the host's memory, and a flush makes them durable.
    WriteBack,
    /// Writes end in the host's memory, and flushes do nothing.
    Unsafe,
}

impl Situations {
    /// Reads the table `[situations]`, whose values are spelled like the settings.
    pub(crate) fn read(section: &mut Section<'_>) -> Result<Self, SimError> {
        let mut situations = Self::default();
        for &(key, example) in SETTINGS {
            let parse = |text: &str| {
                let mut parsed = Self::default();
                parsed.set(key, text)?.ok().map(|()| parsed)
            };
            let domain = Domain::TextSuchAs(example);
            let read = |section: &mut Section<'_>, key| section.parsed(key, domain, parse);
            if let Some(parsed) = section.optional(key, read)? {
                situations = parsed.merge_with(&situations);
            }
        }
        Ok(situations)
    }

    /// The addresses of a drive of this capacity that the target has: those of the partition, or all.
    pub(crate) fn addresses(&self, capacity_bytes: u64) -> Range<u64> {
        let start = self.partition_start.map_or(0, |share| (capacity_bytes as f64 * share) as u64);
        start / PARTITION_ALIGNMENT * PARTITION_ALIGNMENT..capacity_bytes
    }
}

/// The largest share of a drive that may precede the partition.
const PARTITION_START_MAX: f64 = 0.99;
/// Partitions start at multiples of this; usual since Advanced Format.
pub(crate) const PARTITION_ALIGNMENT: u64 = 1 << 20;

fn link(key: &str, name: &str) -> Result<LinkStandard, SettingError> {
    let named = LinkStandard::by_name(name);
    named.ok_or_else(|| SettingError::wrong_value(key, name, Domain::LinkStandard))
}

/// `RATE` or `RATE,DELAY`.
fn crypt(key: &str, text: &str) -> Result<CryptParameters, SettingError> {
    let (speed, delay) = split(text);
    let parse = || {
        let bytes_per_s = parse_size(speed.strip_suffix("/s")?).ok()?;
        let hand_over = delay.map_or(Ok(HAND_OVER), parse_duration).ok()?;
        let fits = (1_000_000..=1 << 40).contains(&bytes_per_s) && hand_over <= Nanos::from_secs(1);
        fits.then_some(CryptParameters { bytes_per_s, hand_over })
    };
    parse().ok_or_else(|| SettingError::wrong_value(key, text, Domain::Encryption))
}

/// `TIME` or `TIME,AFTER`.
fn wake(key: &str, text: &str) -> Result<WakeParameters, SettingError> {
    let (time, after) = split(text);
    let parse = || {
        let time = parse_duration(time).ok()?;
        let after = after.map_or(Ok(SLEEP_AFTER), parse_duration).ok()?;
        // Without a wake-up time, or a time until sleep, power saving would have no effect.
        let fits = Nanos::ZERO < time && time <= Nanos::from_secs(60);
        (fits && after > Nanos::ZERO && after <= Nanos::from_secs(3600))
            .then_some(WakeParameters { time, after })
    };
    parse().ok_or_else(|| SettingError::wrong_value(key, text, Domain::Wake))
}

/// The two parts of a value, the second of which may be absent.
fn split(text: &str) -> (&str, Option<&str>) {
    text.split_once(',').map_or((text, None), |(first, second)| (first, Some(second)))
}

fn damage(key: &str, text: &str) -> Result<u64, SettingError> {
    let ios = text.parse::<u64>().ok().filter(|ios| (2..=u64::MAX >> 1).contains(ios));
    ios.ok_or_else(|| SettingError::wrong_value(key, text, Domain::Commands))
}

/// `SPAN` or `SPAN,EVERY`.
fn firmware(key: &str, text: &str) -> Result<StallParameters, SettingError> {
    let (span, every) = split(text);
    let parse = || {
        let span = parse_duration(span).ok()?;
        let every = every.map_or(Ok(STALL_INTERVAL.max(span + span)), parse_duration).ok()?;
        // The drive must work between two stalls.
        let fits = Nanos::ZERO < span && span <= Nanos::from_secs(10) && span < every;
        let stall = StallParameters { every_ios: None, interval: Some(every), span };
        (fits && every <= Nanos::from_secs(3600)).then_some(stall)
    };
    parse().ok_or_else(|| SettingError::wrong_value(key, text, Domain::Stalls))
}

fn array(key: &str, text: &str) -> Result<u64, SettingError> {
    let bad = || SettingError::wrong_value(key, text, Domain::ReadRate);
    let rate = text.strip_suffix("/s").and_then(|rate| parse_size(rate).ok()).ok_or_else(bad)?;
    (1_000_000..=10_000_000_000).contains(&rate).then_some(rate).ok_or_else(bad)
}

fn host_memory(key: &str, text: &str) -> Result<u64, SettingError> {
    if text == "off" { Ok(0) } else { size(key, text, 1 << 12, 1 << 40) }
}

/// A size in bytes from `least` to `most`, which messages call `domain`.
pub(crate) fn size_in(
    key: &str,
    text: &str,
    least: u64,
    most: u64,
    domain: Domain,
) -> Result<u64, SettingError> {
    let bytes = parse_size(text).map_err(|reason| SettingError::unreadable(key, reason))?;
    let fits = (least..=most).contains(&bytes).then_some(bytes);
    fits.ok_or_else(|| SettingError::wrong_value(key, text, domain))
}

fn size(key: &str, text: &str, least: u64, most: u64) -> Result<u64, SettingError> {
    size_in(key, text, least, most, Domain::Bytes { least, most })
}

fn share(key: &str, text: &str, most: f64) -> Result<f64, SettingError> {
    let fits = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= most);
    fits.ok_or_else(|| SettingError::wrong_value(key, text, Domain::ShareAboveZero { most }))
}

fn hypervisor_cache(key: &str, text: &str) -> Result<HypervisorCache, SettingError> {
    text.parse().map_err(|_| SettingError::wrong_value(key, text, Domain::HypervisorCache))
}

fn truth(key: &str, text: &str) -> Result<bool, SettingError> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(SettingError::wrong_value(key, text, Domain::OnOff)),
    }
}

// A mirror that rebuilds its other member from this drive, which slows down all other I/O.
//
// Linux copies in windows, in requests of 64 KiB (`RESYNC_BLOCK_SIZE` of drivers/md/raid1-10.c). It copies as
// fast as the members allow, and slows down to `sync_speed_min` while other programs use the array. Here, the
// copy runs at the configured rate, at random times and places (assumed: sequential copying would cost an arm
// less, and so would a copy that yields).

/// Bytes per request.
const PIECE_BYTES: u32 = 64 << 10;
/// The name of a rebuild in md.
pub(crate) const ARRAY_ACTION: &str = "recover";

/// The rebuild's I/O at this rate.
pub(crate) fn rebuilding(bytes_per_s: u64) -> NeighborParameters {
    let ios_per_s = bytes_per_s.div_ceil(PIECE_BYTES.into()).min(u32::MAX.into()) as u32;
    NeighborParameters { ios_per_s, io_bytes: PIECE_BYTES, write_percent: 0 }
}

/// Default interval between firmware stalls (assumed).
pub(crate) const STALL_INTERVAL: Nanos = Nanos::from_secs(4);

// Host memory for part of the mapping table, on drives without their own DRAM (NVMe's Host Memory Buffer).

/// The mapping cache of a drive that was offered this much host memory. The drive uses none if it is less
/// than the minimum (HMMIN of Identify Controller: NVM Express Base Specification 2.0).
pub(crate) fn granted_cache(cache: MapCacheParameters, host: HostShare, offered: u64) -> MapCacheParameters {
    let given = if offered < host.bytes_least { 0 } else { offered.min(host.bytes) };
    MapCacheParameters { bytes: cache.bytes - host.bytes + given, ..cache }
}

/// Host memory in use by a mapping cache that was limited to `cut`.
pub(crate) fn host_memory_used(cut: MapCacheParameters, own: MapCacheParameters, host: HostShare) -> u64 {
    cut.bytes + host.bytes - own.bytes
}

/// Where the slow region of a disk begins, in percent of the addresses.
const AT_PERCENT: u64 = 40;
/// Retries after which a disk fails a read, one revolution each (assumed: error recovery of a few tenths of a
/// second).
const RETRIES_MAX: u32 = 40;

/// Adds a slow region with a share of the addresses to a disk's faults. Retries that its file specifies apply
/// to the region, too.
pub(crate) fn add_slow_region(
    faults: &mut DriveFaults,
    disk: &DiskParameters,
    capacity_bytes: u64,
    share: f64,
) {
    let sector = u64::from(disk.platters.sector_bytes);
    let start = capacity_bytes / 100 * AT_PERCENT / sector * sector;
    let bytes = ((capacity_bytes as f64 * share) as u64 / sector * sector).max(sector);
    if faults.slow.is_empty() && faults.unreadable.is_empty() {
        (faults.retry, faults.retries_max) = (disk.platters.revolution, RETRIES_MAX);
    }
    faults.slow.push(start..(start + bytes).min(capacity_bytes));
}

/// Wraps a mechanism in the layers below the faults: a rebuilding array, a restored volume, power saving, a
/// damaged link, a hidden cache.
pub(crate) fn wrap_below(
    situations: &Situations,
    mut device: Box<dyn Device>,
    capacity: u64,
    saved: Option<&[u64]>,
) -> Box<dyn Device> {
    if let Some(bytes_per_s) = situations.array_bytes_per_s {
        device = Box::new(Neighbor::new(rebuilding(bytes_per_s), device, capacity));
    }
    if situations.from_snapshot == Some(true) {
        device = Box::new(HookedDevice::new(SnapshotRestore::new(saved), device));
    }
    if let Some(wake) = situations.wake {
        device = Box::new(HookedDevice::new(Wake::new(wake), device));
    }
    if let Some(ios) = situations.damaged_every_ios {
        device = Box::new(HookedDevice::new(DamagedLink::new(ios), device));
    }
    if let Some(bytes) = situations.read_cache_bytes {
        device = Box::new(ReadCache::new(bytes, device));
    }
    device
}

/// Wraps a drive in the layers above the faults: file fragments, encryption, a misaligned partition, the place of
/// a partition.
pub(crate) fn wrap_above(
    situations: &Situations,
    mut device: Box<dyn Device>,
    capacity: u64,
) -> Box<dyn Device> {
    let Range { start, end } = situations.addresses(capacity);
    if start > 0 {
        device = Box::new(RemappedDevice::new(AddressRemap::Shifted { capacity, by: start }, device));
    }
    let capacity = end - start;
    if let Some(by) = situations.shift_bytes {
        device = Box::new(RemappedDevice::new(AddressRemap::Shifted { capacity, by }, device));
    }
    if let Some(crypt) = situations.crypt {
        device = Box::new(HookedDevice::new(Crypt::new(crypt), device));
    }
    if let Some(piece) = situations.fragment_bytes {
        device = Box::new(RemappedDevice::new(AddressRemap::Pieces { capacity, piece }, device));
    }
    device
}

#[cfg(test)]
mod tests {
    use super::*;

    mod settings {
        use super::*;

        #[test]
        fn every_setting_takes_its_example_and_no_nonsense() {
            for &(key, value) in SETTINGS {
                let mut situations = Situations::default();
                situations.set(key, value).expect(key).expect(value);
                assert_ne!(situations, Situations::default());
                assert_eq!(situations.describe().len(), 1, "{key}");
                assert_eq!(situations.merge_with(&Situations::default()), situations);
                assert_eq!(Situations::default().merge_with(&situations), situations);
                for nonsense in ["", "-1", "much", "0", "1e99"] {
                    let error = Situations::default().set(key, nonsense).expect(key).expect_err(nonsense);
                    assert!(error.to_string().starts_with(key), "{error}");
                }
            }
            assert!(Situations::default().set("warp", "9").is_none());
        }
    }

    mod array {
        use super::*;

        #[test]
        fn it_reads_as_much_as_was_reported() {
            let NeighborParameters { ios_per_s, io_bytes, write_percent } = rebuilding(100_000_000);
            assert_eq!((ios_per_s, io_bytes, write_percent), (1526, 65_536, 0));
            assert_eq!(rebuilding(1).ios_per_s, 1);
        }
    }

    mod host_memory {
        use super::*;

        #[test]
        fn too_little_is_not_used() {
            let cache = MapCacheParameters { bytes: 100, segment_bytes: 64, host: None };
            let host = HostShare { bytes: 90, bytes_least: 30 };
            let bytes = |offered| granted_cache(cache, host, offered).bytes;
            assert_eq!([0, 29, 30, 90, 500].map(bytes), [10, 10, 40, 100, 100]);
            assert_eq!(host_memory_used(granted_cache(cache, host, 30), cache, host), 30);
        }
    }

    mod slow_region {
        use super::*;
        use crate::model::Mechanism;

        #[test]
        fn a_share_of_the_addresses_takes_turns() {
            let entry = crate::catalog().iter().find(|entry| entry.name == "wd6400aaks").unwrap();
            let Mechanism::Disk(disk) = entry.model.mechanism else { panic!("it is a disk") };
            let mut faults = DriveFaults::default();
            add_slow_region(&mut faults, &disk, 100_000_000_000, 0.01);
            assert_eq!((faults.retry, faults.retries_max), (disk.platters.revolution, 40));
            let [zone] = &faults.slow[..] else { panic!("one zone") };
            assert_eq!((zone.start, zone.end - zone.start), (40_000_000_000, 1_000_000_000));
            add_slow_region(&mut faults, &disk, 1_000_000, 0.0);
            assert!(faults.slow.len() == 2);
        }
    }
}
