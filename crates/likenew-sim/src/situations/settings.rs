//! The situations of a drive, from its file or a target's settings.

use likenew_core::units::{Nanos, parse_duration, parse_size, rate};

use super::crypt::{self, CryptParameters};
use super::link_standard::{Bus, LinkStandard};
use super::wake::{self, WakeParameters};
use super::{firmware, host_memory, read_cache, slow_region, wear};
use crate::error::SimError;
use crate::faults::drive_faults::StallParameters;
use crate::model::{Mechanism, Model};
use crate::section::Section;

/// The situations of a drive; none by default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Situations {
    /// The link that the drive is connected by, where that is not its own.
    pub link: Option<LinkStandard>,
    /// Encryption above it.
    pub crypt: Option<CryptParameters>,
    /// Bytes by which the addresses are shifted.
    pub shift_bytes: Option<u64>,
    /// Its power saving.
    pub wake: Option<WakeParameters>,
    /// Bytes of host memory that are offered for its mapping table.
    pub host_memory_bytes: Option<u64>,
    /// Whether it is a volume that was just made from a snapshot.
    pub from_snapshot: Option<bool>,
    /// Bytes of the pieces of the fragmented file.
    pub fragment_bytes: Option<u64>,
    /// Share of the rated life that is used.
    pub wear: Option<f64>,
    /// Share of the addresses in the slow region.
    pub weak: Option<f64>,
    /// One of so many commands is damaged on its link.
    pub damaged_every_ios: Option<u64>,
    /// When its firmware stalls.
    pub firmware: Option<StallParameters>,
    /// Bytes of a hidden cache in front of it.
    pub read_cache_bytes: Option<u64>,
    /// Bytes a second that an array reads of it to rebuild its other member.
    pub array_bytes_per_s: Option<u64>,
}

/// Settings with what they take, in the order of messages.
const SETTINGS: [(&str, &str); 13] = [
    ("link", "sata3g (a slower link)"),
    ("crypt", "300MB/s,40us (encryption above it, and its queueing delay)"),
    ("shift", "512 (bytes by which a partition is misaligned)"),
    ("wake", "2ms,100us (time to wake up, after so long without I/O)"),
    ("hmb", "off or 16MiB (host memory buffer for the mapping table)"),
    ("lazy", "on (a volume restored from a snapshot)"),
    ("fragments", "64KiB (pieces of a file)"),
    ("wear", "0.9 (of its rated life)"),
    ("slow_region", "0.01 (of a disk's addresses)"),
    ("crc", "500 (one of so many commands fails on the link and is sent again)"),
    ("firmware", "500ms,4s (stalls for so long, so often)"),
    ("readcache", "4GiB (a hidden read cache in front of it)"),
    ("array", "100MB/s (read to rebuild the other member of an array)"),
];

impl Situations {
    /// All settings, for messages.
    pub(crate) fn known_settings() -> String {
        SETTINGS.map(|(key, example)| format!("{key}={example}")).join(", ")
    }

    /// Takes a setting; `None` if it is none of these.
    ///
    /// # Errors
    /// A sentence, if its value is not what it takes.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<Result<(), String>> {
        let taken = match key {
            "link" => link(value).map(|link| self.link = Some(link)),
            "crypt" => crypt(value).map(|crypt| self.crypt = Some(crypt)),
            "shift" => size(key, value, 1, 1 << 30).map(|bytes| self.shift_bytes = Some(bytes)),
            "wake" => wake(value).map(|wake| self.wake = Some(wake)),
            "hmb" => host_memory(value).map(|bytes| self.host_memory_bytes = Some(bytes)),
            "lazy" => truth(key, value).map(|lazy| self.from_snapshot = Some(lazy)),
            "fragments" => size(key, value, 512, 1 << 40).map(|bytes| self.fragment_bytes = Some(bytes)),
            "wear" => share(key, value, 3.0).map(|share| self.wear = Some(share)),
            "slow_region" => share(key, value, 0.5).map(|share| self.weak = Some(share)),
            "crc" => damage(value).map(|ios| self.damaged_every_ios = Some(ios)),
            "firmware" => firmware(value).map(|stall| self.firmware = Some(stall)),
            "readcache" => size(key, value, read_cache::LINE_BYTES, 1 << 40)
                .map(|bytes| self.read_cache_bytes = Some(bytes)),
            "array" => array(value).map(|rate| self.array_bytes_per_s = Some(rate)),
            _ => return None,
        };
        Some(taken)
    }

    /// Reads the table `[situations]`, whose values are spelled as the settings are.
    pub(crate) fn read(section: &mut Section<'_>) -> Result<Self, SimError> {
        let mut situations = Self::default();
        for (key, example) in SETTINGS {
            let parse = |text: &str| {
                let mut one = Self::default();
                one.set(key, text)?.ok().map(|()| one)
            };
            let allowed = format!("a text such as \"{}\"", example.split(' ').next().unwrap_or(example));
            if let Some(one) = section.parsed_or_none(key, &allowed, parse)? {
                situations = one.merge_with(&situations);
            }
        }
        Ok(situations)
    }

    /// These, and of others what these leave open.
    pub(crate) fn merge_with(&self, other: &Self) -> Self {
        Self {
            link: self.link.or(other.link),
            crypt: self.crypt.or(other.crypt),
            shift_bytes: self.shift_bytes.or(other.shift_bytes),
            wake: self.wake.or(other.wake),
            host_memory_bytes: self.host_memory_bytes.or(other.host_memory_bytes),
            from_snapshot: self.from_snapshot.or(other.from_snapshot),
            fragment_bytes: self.fragment_bytes.or(other.fragment_bytes),
            wear: self.wear.or(other.wear),
            weak: self.weak.or(other.weak),
            damaged_every_ios: self.damaged_every_ios.or(other.damaged_every_ios),
            firmware: self.firmware.or(other.firmware),
            read_cache_bytes: self.read_cache_bytes.or(other.read_cache_bytes),
            array_bytes_per_s: self.array_bytes_per_s.or(other.array_bytes_per_s),
        }
    }

    /// Whether such a drive can have them.
    ///
    /// # Errors
    /// A sentence that says which not, and what to do.
    pub(crate) fn check(&self, model: &Model) -> Result<(), String> {
        let name = &model.model;
        let only = |key: &str, what: &str| Err(format!("the {name} {what}: leave {key}= out"));
        let (is_flash, is_disk, is_volume) = match &model.mechanism {
            Mechanism::Flash(_) => (true, false, false),
            Mechanism::Disk(_) => (false, true, false),
            Mechanism::Volume(_) => (false, false, true),
        };
        if let Some(link) = self.link {
            if is_volume {
                return only("link", "is a network volume, which has no such link");
            }
            if let Some(own) = model.link_standard.filter(|own| own.bus != link.bus && link.bus != Bus::Usb) {
                return only("link", &format!("is connected by {}; {link} is another bus", own.bus.name()));
            }
        }
        let bus = self.link.or(model.link_standard).map(|link| link.bus);
        if self.damaged_every_ios.is_some() && (is_volume || bus == Some(Bus::Pcie)) {
            return only("crc", "is connected by a link that corrects errors itself within microseconds");
        }
        if self.firmware.is_some() && is_volume {
            return only("firmware", "has none of its own");
        }
        let sector = u64::from(model.sector_bytes);
        for (key, bytes) in [("shift", self.shift_bytes), ("fragments", self.fragment_bytes)] {
            if let Some(bytes) =
                bytes.filter(|bytes| !bytes.is_multiple_of(sector) || *bytes >= model.capacity_bytes)
            {
                return Err(format!(
                    "{key} is {bytes}: of the {name} it takes a multiple of its sectors, {sector} bytes, below its {} bytes",
                    model.capacity_bytes
                ));
            }
        }
        if self.host_memory_bytes.is_some() && model.mechanism.host_share().is_none() {
            return only("hmb", "keeps no part of its mapping table in host memory");
        }
        if self.from_snapshot.is_some() && !is_volume {
            return only("lazy", "is not a volume that could be restored from a snapshot");
        }
        if self.wear.is_some() && !is_flash {
            return only("wear", "has no flash that wears out");
        }
        if self.weak.is_some() && !is_disk {
            return only("slow_region", "is not a hard disk, so it has no slow region");
        }
        Ok(())
    }

    /// The drive in these situations, as far as they change its parameters. Layers around it come in
    /// addition.
    pub(crate) fn apply(&self, model: &Model) -> Model {
        let mut model = Model { situations: self.clone(), ..model.clone() };
        if let Some(link) = self.link {
            let own = model.mechanism.link_mut();
            *own = link.narrow(*own);
        }
        if let Mechanism::Flash(flash) = &mut model.mechanism {
            if let (Some(offered), Some(cache)) = (self.host_memory_bytes, &mut flash.parameters.map_cache)
                && let Some(host) = cache.host
            {
                *cache = host_memory::granted_cache(*cache, host, offered);
            }
            if let Some(share) = self.wear {
                *flash = wear::apply_wear(*flash, share);
            }
        }
        if let (Mechanism::Disk(disk), Some(share)) = (&model.mechanism, self.weak) {
            model.faults =
                Some(slow_region::with_slow_region(model.faults.take(), disk, model.capacity_bytes, share));
        }
        if let Some(stall) = self.firmware {
            model.faults = Some(firmware::with_stalls(model.faults.take(), stall));
        }
        model
    }

    /// The situations for people, as name and value.
    pub(crate) fn describe(&self) -> Vec<(&'static str, String)> {
        let mut facts = Vec::new();
        facts
            .extend(self.link.map(|link| {
                ("link", format!("{link}: {} at most", rate(link.payload_bytes_per_s() as f64)))
            }));
        facts.extend(self.crypt.map(|CryptParameters { bytes_per_s, hand_over }| {
            let what =
                format!("{} on one processor, {hand_over} to hand an I/O over", rate(bytes_per_s as f64));
            ("encryption", what)
        }));
        facts.extend(
            self.shift_bytes.map(|bytes| ("partition", format!("starts {bytes} bytes off alignment"))),
        );
        facts.extend(self.wake.map(|WakeParameters { time, after }| {
            ("power saving", format!("sleeps after {after} without I/O and takes {time} to wake up"))
        }));
        facts.extend(self.host_memory_bytes.map(|bytes| {
            let what = if bytes == 0 { "none".to_owned() } else { format!("{bytes} bytes offered") };
            ("host memory for the mapping table", what)
        }));
        if self.from_snapshot == Some(true) {
            facts.push(("volume", "restored from a snapshot: blocks are fetched on first access".to_owned()));
        }
        facts.extend(self.fragment_bytes.map(|bytes| ("files", format!("in fragments of {bytes} bytes"))));
        facts.extend(
            self.wear.map(|share| ("wear", format!("{:.0}% of the rated life is used", share * 100.0))),
        );
        facts.extend(
            self.weak.map(|share| ("slow region", format!("{:.2}% of the addresses", share * 100.0))),
        );
        facts.extend(
            self.damaged_every_ios
                .map(|ios| ("damaged link", format!("one of {ios} commands has to be sent again"))),
        );
        facts.extend(self.firmware.map(|_| ("firmware", "known to stall now and then".to_owned())));
        facts.extend(
            self.read_cache_bytes.map(|bytes| ("cache in front of it", format!("{bytes} bytes of memory"))),
        );
        facts.extend(self.array_bytes_per_s.map(|bytes_per_s| {
            (
                "array",
                format!("its other member is being rebuilt, with {} of reads", rate(bytes_per_s as f64)),
            )
        }));
        facts
    }
}

fn link(name: &str) -> Result<LinkStandard, String> {
    LinkStandard::by_name(name)
        .ok_or_else(|| format!("link is \"{name}\": it takes {}", LinkStandard::LINK_STANDARDS_HELP))
}

/// `RATE` or `RATE,DELAY`.
fn crypt(text: &str) -> Result<CryptParameters, String> {
    let bad = || {
        format!(
            "crypt is \"{text}\": it takes a rate from 1MB/s and maybe a delay of at most 1s, such as 300MB/s,40us"
        )
    };
    let (speed, delay) = text.split_once(',').map_or((text, None), |(speed, delay)| (speed, Some(delay)));
    let bytes = parse_size(speed.strip_suffix("/s").ok_or_else(bad)?).map_err(|_| bad())?;
    let hand_over = delay.map_or(Ok(crypt::HAND_OVER), parse_duration).map_err(|_| bad())?;
    if !(1_000_000..=1 << 40).contains(&bytes) || hand_over > Nanos::from_secs(1) {
        return Err(bad());
    }
    Ok(CryptParameters { bytes_per_s: bytes, hand_over })
}

/// `TIME` or `TIME,AFTER`.
fn wake(text: &str) -> Result<WakeParameters, String> {
    let bad = || {
        format!(
            "wake is \"{text}\": it takes a time up to 60s and maybe after which rest up to 1h, such as 2ms,100us"
        )
    };
    let (time, after) = text.split_once(',').map_or((text, None), |(time, after)| (time, Some(after)));
    let time = parse_duration(time).map_err(|_| bad())?;
    let after = after.map_or(Ok(wake::SLEEP_AFTER), parse_duration).map_err(|_| bad())?;
    // A drive that wakes up at once, or is never idle, does not sleep.
    let fits = Nanos::ZERO < time && time <= Nanos::from_secs(60);
    if !fits || after == Nanos::ZERO || after > Nanos::from_secs(3600) {
        return Err(bad());
    }
    Ok(WakeParameters { time, after })
}

fn damage(text: &str) -> Result<u64, String> {
    let ios = text.parse::<u64>().ok().filter(|ios| (2..=u64::MAX >> 1).contains(ios));
    ios.ok_or_else(|| format!("crc is \"{text}\": it takes a whole number of commands from 2, such as 500"))
}

/// `SPAN` or `SPAN,EVERY`.
fn firmware(text: &str) -> Result<StallParameters, String> {
    let bad = || {
        format!(
            "firmware is \"{text}\": it takes how long it stalls, up to 10s, and maybe how often, up to 1h, such as 500ms,4s"
        )
    };
    let (span, every) = text.split_once(',').map_or((text, None), |(span, every)| (span, Some(every)));
    let span = parse_duration(span).map_err(|_| bad())?;
    let every =
        every.map_or(Ok(firmware::STALL_INTERVAL.max(span + span)), parse_duration).map_err(|_| bad())?;
    // The drive must work between two stalls.
    let fits = Nanos::ZERO < span && span <= Nanos::from_secs(10) && span < every;
    let stall = StallParameters { every_ios: None, interval: Some(every), span };
    (fits && every <= Nanos::from_secs(3600)).then_some(stall).ok_or_else(bad)
}

fn array(text: &str) -> Result<u64, String> {
    let bad = || format!("array is \"{text}\": it takes a rate from 1MB/s to 10GB/s, such as 100MB/s");
    let rate = text.strip_suffix("/s").and_then(|rate| parse_size(rate).ok()).ok_or_else(bad)?;
    (1_000_000..=10_000_000_000).contains(&rate).then_some(rate).ok_or_else(bad)
}

fn host_memory(text: &str) -> Result<u64, String> {
    if text == "off" { Ok(0) } else { size("hmb", text, 1 << 12, 1 << 40) }
}

fn size(key: &str, text: &str, least: u64, most: u64) -> Result<u64, String> {
    let bytes = parse_size(text).map_err(|error| format!("{key} is {error}"))?;
    let fits = (least..=most).contains(&bytes).then_some(bytes);
    fits.ok_or_else(|| format!("{key} is \"{text}\": it takes a size from {least} to {most} bytes"))
}

fn share(key: &str, text: &str, most: f64) -> Result<f64, String> {
    let fits = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= most);
    fits.ok_or_else(|| format!("{key} is \"{text}\": it takes a share above 0, up to {most}"))
}

fn truth(key: &str, text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("{key} is \"{text}\": it takes on or off")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_takes_its_example_and_no_nonsense() {
        for (key, example) in SETTINGS {
            let value = example.split(' ').next().unwrap();
            let mut one = Situations::default();
            one.set(key, value).expect(key).expect(value);
            assert_ne!(one, Situations::default());
            assert_eq!(one.describe().len(), 1, "{key}");
            assert_eq!(one.merge_with(&Situations::default()), one);
            assert_eq!(Situations::default().merge_with(&one), one);
            for nonsense in ["", "-1", "much", "0", "1e99"] {
                let error = Situations::default().set(key, nonsense).expect(key).expect_err(nonsense);
                assert!(error.starts_with(&format!("{key} is ")), "{error}");
            }
        }
        assert!(Situations::default().set("warp", "9").is_none());
    }
}
