//! What /sys says of an SD card, an eMMC or UFS.

use likenew_core::facts::{Card, Fact, Health};

use super::roots::Roots;
use super::subject::Subject;
use crate::wording::facts as wording;

/// The card's own words.
pub(crate) fn card(subject: &Subject<'_>) -> Card {
    let roots = subject.roots;
    let number = |name: &str| {
        let place = Roots::place(&subject.device, name);
        roots.hexadecimal(&place).and_then(wording::TOO_LARGE, |number| u32::try_from(number).ok())
    };
    Card {
        kind: subject.line("device/type"),
        name: subject.line("device/name"),
        maker: number("device/manfid"),
        maker_for: number("device/oemid"),
        manufacture_date: subject.line("device/date"),
        allocation_unit_bytes: roots.count(&subject.device, "device/preferred_erase_size"),
        queues_commands: queues(subject),
        timing: timing(subject),
    }
}

fn queues(subject: &Subject<'_>) -> Fact<bool> {
    let flag = subject.line("device/cmdq_en");
    flag.and_then(wording::NOT_A_NUMBER, |text| {
        Some(u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()? > 0)
    })
}

/// `timing spec:\t9 (mmc HS200)` of the host's debugfs, which only root sees.
fn timing(subject: &Subject<'_>) -> Fact<String> {
    let host = subject.ancestors().find_map(|folder| {
        let name = folder.rsplit('/').next()?.to_owned();
        let digits = name.strip_prefix("mmc")?;
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(name)
    });
    let Some(host) = host else { return Fact::unknown(wording::HOST_NOT_LISTED, "/sys") };
    let text = subject.roots.text(&format!("/sys/kernel/debug/{host}/ios"));
    text.and_then(wording::NO_TIMING, |text| {
        let line = text.lines().find_map(|line| line.strip_prefix("timing spec:"))?;
        let words = line.split_once('(')?.1.split_once(')')?.0;
        crate::standards::bytes::text(words.as_bytes())
    })
}

/// What an eMMC says of its wear.
pub(crate) fn health(subject: &Subject<'_>) -> Health {
    let (lives, spare) = (subject.line("device/life_time"), subject.line("device/pre_eol_info"));
    Health { read_only: subject.line("ro").map(|text| text == "1"), ..wear(lives, spare) }
}

/// What UFS says of it (JESD220, §14.1.4.6), in a folder of its controller.
pub(crate) fn ufs_health(subject: &Subject<'_>) -> Option<Health> {
    let folders = subject.ancestors().map(|folder| format!("{folder}/health_descriptor"));
    let folder = folders.into_iter().find(|folder| subject.roots.exists(folder))?;
    let line = |name: &str| subject.roots.line(&format!("{folder}/{name}"));
    let second = line("life_time_estimation_b").value().cloned().unwrap_or_default();
    Some(wear(line("life_time_estimation_a").map(|first| format!("{first} {second}")), line("eol_info")))
}

/// Steps of ten percent of its lifetime for each of its two kinds of memory, 01h is up to 10 % (JESD84-B51,
/// §7.4.52); and whether its spare blocks run out (§7.4.51).
fn wear(lives: Fact<String>, spare: Fact<String>) -> Health {
    let used_percent = lives.and_then(wording::NOT_REPORTED_BY_CARD, |text| {
        let steps = text.split_whitespace();
        let steps = steps.filter_map(|step| u32::from_str_radix(step.trim_start_matches("0x"), 16).ok());
        let most = steps.filter(|step| (1..=11).contains(step)).max()?;
        Some(f64::from(most) * 10.0)
    });
    let spare = spare.and_then(wording::NOT_REPORTED_BY_CARD, |text| {
        match u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()? {
            1 => Some(Vec::new()),
            2 => Some(vec![wording::SPARE_80_USED.to_owned()]),
            3 => Some(vec![wording::SPARE_90_USED.to_owned()]),
            _ => None,
        }
    });
    Health {
        failing: spare.clone().map(|warnings| warnings.iter().any(|warning| warning.starts_with("90"))),
        warnings: spare,
        used_percent,
        ..Health::default()
    }
}
