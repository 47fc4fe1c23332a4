//! What /sys says of an SD card or an eMMC.

use likenew_core::facts::{Card, Fact, Health};

use super::roots::Roots;
use super::subject::Subject;

/// The card's own words.
pub(crate) fn card(subject: &Subject<'_>) -> Card {
    let roots = subject.roots;
    let number = |name: &str| {
        let place = Roots::place(&subject.device, name);
        roots.hexadecimal(&place).and_then("it is too large to be true", |number| u32::try_from(number).ok())
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
    flag.and_then("it holds no such number", |text| {
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
    let Some(host) = host else { return Fact::unknown("its host is not named", "/sys") };
    let text = subject.roots.text(&format!("/sys/kernel/debug/{host}/ios"));
    text.and_then("it names no timing", |text| {
        let line = text.lines().find_map(|line| line.strip_prefix("timing spec:"))?;
        let words = line.split_once('(')?.1.split_once(')')?.0;
        crate::standards::bytes::text(words.as_bytes())
    })
}

/// Wear of an eMMC: steps of ten percent for each of its two kinds of memory, 01h is up to 10 % (JESD84-B51,
/// §7.4.52); and whether its spare blocks run out (`pre_eol_info`, §7.4.51).
pub(crate) fn health(subject: &Subject<'_>) -> Health {
    let lives = subject.line("device/life_time");
    let used_percent = lives.and_then("the card does not report it", |text| {
        let steps = text.split_whitespace();
        let steps = steps.filter_map(|step| u32::from_str_radix(step.trim_start_matches("0x"), 16).ok());
        let most = steps.filter(|step| (1..=11).contains(step)).max()?;
        Some(f64::from(most) * 10.0)
    });
    let spare = subject.line("device/pre_eol_info").and_then("the card does not report it", |text| {
        match u32::from_str_radix(text.trim_start_matches("0x"), 16).ok()? {
            1 => Some(Vec::new()),
            2 => Some(vec!["80 % of its spare blocks are used".to_owned()]),
            3 => Some(vec!["90 % of its spare blocks are used".to_owned()]),
            _ => None,
        }
    });
    Health {
        failing: spare.clone().map(|warnings| warnings.iter().any(|warning| warning.starts_with("90"))),
        warnings: spare,
        read_only: subject.line("ro").map(|text| text == "1"),
        used_percent,
        ..Health::default()
    }
}
