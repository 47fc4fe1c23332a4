//! The situations of a drive, from its file or a target's settings.

use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::crypt::{self, CryptParameters};
use super::link_standard::LinkStandard;
use super::wake::{self, WakeParameters};
use super::wording::{self, SETTINGS};
use super::{firmware, read_cache};
use crate::error::SimError;
use crate::faults::drive_faults::StallParameters;
use crate::section::Section;
use crate::setting_error::SettingError;
use crate::wording::domain::Domain;

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

impl Situations {
    /// Takes a setting; `None` if it is none of these.
    ///
    /// # Errors
    /// Its value is not what it takes.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Option<Result<(), SettingError>> {
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
        for setting in &SETTINGS {
            let (key, example) = (setting.key, setting.example());
            let parse = |text: &str| {
                let mut one = Self::default();
                one.set(key, text)?.ok().map(|()| one)
            };
            let domain = Domain::TextSuchAs(example.to_owned());
            if let Some(one) = section.parsed_or_none(key, domain, parse)? {
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

    /// The situations for people, as name and value.
    pub(crate) fn describe(&self) -> Vec<(&'static str, String)> {
        let described = [
            self.link.map(wording::link),
            self.crypt.map(wording::encryption),
            self.shift_bytes.map(wording::shifted_partition),
            self.wake.map(wording::power_saving),
            self.host_memory_bytes.map(wording::host_memory),
            self.from_snapshot.filter(|is_restored| *is_restored).map(|_| wording::restored_volume()),
            self.fragment_bytes.map(wording::fragments),
            self.wear.map(wording::wear),
            self.weak.map(wording::slow_region),
            self.damaged_every_ios.map(wording::damaged_link),
            self.firmware.map(|_| wording::stalling_firmware()),
            self.read_cache_bytes.map(wording::read_cache),
            self.array_bytes_per_s.map(wording::rebuilt_array),
        ];
        described.into_iter().flatten().collect()
    }
}

fn link(name: &str) -> Result<LinkStandard, SettingError> {
    let named = LinkStandard::by_name(name);
    named.ok_or_else(|| SettingError::wrong_value("link", name, Domain::LinkStandard))
}

/// `RATE` or `RATE,DELAY`.
fn crypt(text: &str) -> Result<CryptParameters, SettingError> {
    let bad = || SettingError::wrong_value("crypt", text, Domain::Encryption);
    let (speed, delay) = text.split_once(',').map_or((text, None), |(speed, delay)| (speed, Some(delay)));
    let bytes = parse_size(speed.strip_suffix("/s").ok_or_else(bad)?).map_err(|_| bad())?;
    let hand_over = delay.map_or(Ok(crypt::HAND_OVER), parse_duration).map_err(|_| bad())?;
    if !(1_000_000..=1 << 40).contains(&bytes) || hand_over > Nanos::from_secs(1) {
        return Err(bad());
    }
    Ok(CryptParameters { bytes_per_s: bytes, hand_over })
}

/// `TIME` or `TIME,AFTER`.
fn wake(text: &str) -> Result<WakeParameters, SettingError> {
    let bad = || SettingError::wrong_value("wake", text, Domain::Wake);
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

fn damage(text: &str) -> Result<u64, SettingError> {
    let ios = text.parse::<u64>().ok().filter(|ios| (2..=u64::MAX >> 1).contains(ios));
    ios.ok_or_else(|| SettingError::wrong_value("crc", text, Domain::Commands))
}

/// `SPAN` or `SPAN,EVERY`.
fn firmware(text: &str) -> Result<StallParameters, SettingError> {
    let bad = || SettingError::wrong_value("firmware", text, Domain::Stalls);
    let (span, every) = text.split_once(',').map_or((text, None), |(span, every)| (span, Some(every)));
    let span = parse_duration(span).map_err(|_| bad())?;
    let every =
        every.map_or(Ok(firmware::STALL_INTERVAL.max(span + span)), parse_duration).map_err(|_| bad())?;
    // The drive must work between two stalls.
    let fits = Nanos::ZERO < span && span <= Nanos::from_secs(10) && span < every;
    let stall = StallParameters { every_ios: None, interval: Some(every), span };
    (fits && every <= Nanos::from_secs(3600)).then_some(stall).ok_or_else(bad)
}

fn array(text: &str) -> Result<u64, SettingError> {
    let bad = || SettingError::wrong_value("array", text, Domain::ReadRate);
    let rate = text.strip_suffix("/s").and_then(|rate| parse_size(rate).ok()).ok_or_else(bad)?;
    (1_000_000..=10_000_000_000).contains(&rate).then_some(rate).ok_or_else(bad)
}

fn host_memory(text: &str) -> Result<u64, SettingError> {
    if text == "off" { Ok(0) } else { size("hmb", text, 1 << 12, 1 << 40) }
}

fn size(key: &str, text: &str, least: u64, most: u64) -> Result<u64, SettingError> {
    let bytes = parse_size(text).map_err(|reason| SettingError::unreadable(key, reason))?;
    let fits = (least..=most).contains(&bytes).then_some(bytes);
    fits.ok_or_else(|| SettingError::wrong_value(key, text, Domain::Bytes { least, most }))
}

fn share(key: &str, text: &str, most: f64) -> Result<f64, SettingError> {
    let fits = text.parse::<f64>().ok().filter(|share| *share > 0.0 && *share <= most);
    fits.ok_or_else(|| SettingError::wrong_value(key, text, Domain::ShareAboveZero { most }))
}

fn truth(key: &str, text: &str) -> Result<bool, SettingError> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(SettingError::wrong_value(key, text, Domain::OnOff)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_takes_its_example_and_no_nonsense() {
        for setting in &SETTINGS {
            let (key, value) = (setting.key, setting.example());
            let mut one = Situations::default();
            one.set(key, value).expect(key).expect(value);
            assert_ne!(one, Situations::default());
            assert_eq!(one.describe().len(), 1, "{key}");
            assert_eq!(one.merge_with(&Situations::default()), one);
            assert_eq!(Situations::default().merge_with(&one), one);
            for nonsense in ["", "-1", "much", "0", "1e99"] {
                let error = Situations::default().set(key, nonsense).expect(key).expect_err(nonsense);
                assert!(error.to_string().starts_with(key), "{error}");
            }
        }
        assert!(Situations::default().set("warp", "9").is_none());
    }
}
