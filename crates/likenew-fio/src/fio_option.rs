//! Every option of fio: how its value is read, as fio spells sizes and times (`parse.c`), and what Likenew does with it.
//! Import, export and the page on fio's options use this one table.

use std::collections::HashMap;
use std::sync::LazyLock;

use likenew_core::units::Nanos;

/// A row of the table, whose head says what its columns mean.
#[derive(Clone, Copy)]
struct FioOption {
    name: &'static str,
    kind: Kind,
    effect: Effect,
}

/// What the value of an option is.
#[derive(Clone, Copy, strum::EnumString)]
#[strum(serialize_all = "lowercase")]
enum Kind {
    /// Bytes, or a share of the target.
    Amount,
    Bytes,
    /// How many threads, or I/Os in flight.
    Count,
    Distribution,
    Duration,
    /// Lengths of I/Os for reads, writes and trims, each with shares.
    Lengths,
    #[strum(disabled)]
    OneOf(&'static str),
    Percent,
    /// Rates of reads, writes and trims.
    Rates,
    /// Anything, or something that is read elsewhere.
    #[strum(serialize = "flag", serialize = "operation", serialize = "text")]
    Text,
    /// After how many writes something happens.
    Writes,
}

/// What Likenew does with an option.
#[derive(Clone, Copy)]
enum Effect {
    /// It is a part of a workload, or changes nothing that a drive is asked for.
    None,
    /// It changes what a drive is asked for, unless it has this value, and no workload says how.
    Changes { unless: Option<&'static str> },
    /// It is named as `Changes` is. A job file with it cannot be run, for this reason.
    Refused(&'static str),
}

const TABLE: &str = include_str!("fio_options.txt");

/// Columns of each row.
fn rows() -> impl Iterator<Item = [&'static str; 3]> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut columns = line.split('|').map(str::trim);
        [(); 3].map(|()| columns.next().expect("a row has three columns"))
    })
}

/// The options by each of their names.
static OPTIONS: LazyLock<HashMap<&str, FioOption>> = LazyLock::new(|| {
    let mut options = HashMap::new();
    for [names, kind, effect] in rows() {
        let name = names.split(' ').next().expect("a row has a name");
        let option = FioOption { name, kind: Kind::from_column(kind), effect: Effect::from_column(effect) };
        options.extend(names.split(' ').map(|alias| (alias, option)));
    }
    options
});

impl Kind {
    fn from_column(column: &'static str) -> Self {
        let words = column.strip_prefix("one of ").map(Self::OneOf);
        words.unwrap_or_else(|| column.parse().expect("a kind of value"))
    }

    /// Whether a workload can take over this value.
    fn reads(self, value: &str, kibi: u64) -> bool {
        let amount = |text: &str| parse_amount(text, kibi);
        let bytes = |text: &str| amount(text).and_then(Amount::bytes);
        let each_side =
            |is_valid: &dyn Fn(&str) -> bool| value.split(',').all(|side| side.is_empty() || is_valid(side));
        match self {
            Self::Amount => amount(value).is_some(),
            Self::Bytes => bytes(value).is_some(),
            Self::Count => parse_count(value).is_some(),
            Self::Distribution => value == "random" || parse_zipf(value).is_some(),
            Self::Duration => parse_duration(value).is_some(),
            Self::Lengths => each_side(&|side| parse_lengths(side, kibi).is_some()),
            Self::OneOf(words) => words.split(' ').any(|word| word == value),
            Self::Percent => parse_percent(value).is_some(),
            Self::Rates => each_side(&|side| bytes(side).is_some()),
            Self::Text => true,
            Self::Writes => bytes(value).is_some_and(|writes| u32::try_from(writes).is_ok()),
        }
    }
}

impl Effect {
    fn from_column(column: &'static str) -> Self {
        match column.split_once(' ').unwrap_or((column, "")) {
            ("part" | "neutral", _) => Self::None,
            ("changes", unless) => Self::Changes { unless: unless.strip_prefix("unless ") },
            ("refused", reason) => Self::Refused(reason),
            _ => panic!("{column} is nothing that is done with an option"),
        }
    }
}

/// fio's canonical name of an option.
pub(crate) fn canonical(name: &str) -> &str {
    OPTIONS.get(name).map_or(name, |option| option.name)
}

/// Whether this is an option of fio that becomes a part of a workload, or changes nothing that a drive is asked for.
pub(crate) fn is_harmless(name: &str) -> bool {
    OPTIONS.get(name).is_some_and(|option| matches!(option.effect, Effect::None))
}

/// Whether a workload can take over a value. Other values are noted, and the result is still imported. `kibi` is what
/// `k` stands for.
pub(crate) fn is_read(name: &str, value: &str, kibi: u64) -> bool {
    OPTIONS.get(name).is_none_or(|option| option.kind.reads(value, kibi))
}

/// Whether an option changes the drive's work in a way that no workload expresses. Unknown ones, such as those of
/// engines, count as changing.
pub(crate) fn is_changing(name: &str, value: &str) -> bool {
    match OPTIONS.get(name).map(|option| &option.effect) {
        Some(Effect::None) => false,
        Some(Effect::Changes { unless: Some(off) }) => value != *off && (*off, value) != ("none", "0"),
        _ => true,
    }
}

/// Why a job file with this option cannot be run.
pub(crate) fn refusal(name: &str) -> Option<&'static str> {
    match OPTIONS.get(name)?.effect {
        Effect::Refused(reason) => Some(reason),
        _ => None,
    }
}

/// Whether an engine does the I/O of a job and nothing else.
pub(crate) fn is_plain_engine(engine: &str) -> bool {
    let row = rows().find(|[name, ..]| *name == "ioengine").expect("the table has it");
    row[2].rsplit(": ").next().is_some_and(|plain| plain.split(' ').any(|known| known == engine))
}

/// A size: a number of bytes, or a share of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Amount {
    Bytes(u64),
    Percent(f64),
}

impl Amount {
    /// The bytes, where they are known.
    pub(crate) fn bytes(self) -> Option<u64> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Percent(_) => None,
        }
    }
}

/// Reads `4096`, `4k`, `0x1000`, `1GiB`, `10%`. `kibi` is what `k` stands for: 1024, or 1000 with `kb_base=1000`. `Ki`
/// stands for the other one.
pub(crate) fn parse_amount(text: &str, kibi: u64) -> Option<Amount> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        let percent = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
        return percent.map(Amount::Percent);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().filter(|bytes| *bytes < 1 << 60).map(Amount::Bytes);
    }
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let unit = unit.to_ascii_lowercase();
    let (base, letter) = match unit.strip_suffix("ib") {
        Some(letter) => (if kibi == 1024 { 1000 } else { 1024 }, letter),
        None => (kibi, unit.strip_suffix('b').unwrap_or(&unit)),
    };
    let power = ["", "k", "m", "g", "t", "p"].iter().position(|known| *known == letter)?;
    let factor = u64::pow(base, u32::try_from(power).ok()?);
    let bytes = digits.parse::<u64>().ok()?.checked_mul(factor)?;
    (bytes < 1 << 60).then_some(Amount::Bytes(bytes))
}

/// Reads `5` (seconds), `500ms`, `2m`, `1h`, `10us`.
pub(crate) fn parse_duration(text: &str) -> Option<Nanos> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let factor: u64 = match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" => 1_000,
        "ms" | "msec" => 1_000_000,
        "" | "s" | "sec" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|ns| *ns < 1 << 60).map(Nanos)
}

/// Reads a number of threads or of I/Os in flight.
pub(crate) fn parse_count(text: &str) -> Option<u32> {
    text.parse().ok().filter(|count| (1..=1 << 20).contains(count))
}

pub(crate) fn parse_percent(text: &str) -> Option<u8> {
    text.parse().ok().filter(|percent| *percent <= 100)
}

/// Reads the θ of `zipf:1.2`, and what follows it, such as the position of the most popular address.
pub(crate) fn parse_zipf(text: &str) -> Option<(f64, Option<&str>)> {
    let text = text.strip_prefix("zipf:")?;
    let (theta, more) = text.split_once(':').map_or((text, None), |(theta, more)| (theta, Some(more)));
    theta.parse().ok().filter(|theta| *theta > 0.0 && *theta <= 10.0).map(|theta| (theta, more))
}

/// Reads `4k`, or `4k/70:64k/`: lengths with percents. Lengths without a percent share the remainder equally.
pub(crate) fn parse_lengths(text: &str, kibi: u64) -> Option<Vec<(u64, u64)>> {
    let mut lengths = Vec::new();
    for part in text.split(':') {
        let (size, percent) =
            part.split_once('/').map_or((part, None), |(size, percent)| (size, Some(percent)));
        let percent = match percent {
            None | Some("") => None,
            Some(percent) => Some(u64::from(parse_percent(percent)?)),
        };
        lengths.push((parse_amount(size, kibi)?.bytes().filter(|bytes| *bytes > 0)?, percent));
    }
    let stated: u64 = lengths.iter().filter_map(|(_, percent)| *percent).sum();
    let silent = lengths.iter().filter(|(_, percent)| percent.is_none()).count() as u64;
    let silent_percent = 100u64.saturating_sub(stated).checked_div(silent).unwrap_or(0);
    Some(lengths.into_iter().map(|(size, percent)| (size, percent.unwrap_or(silent_percent))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_mean_what_fio_makes_of_them() {
        for (text, kibi, bytes) in [
            ("4096", 1024, 4096),
            ("4k", 1024, 4096),
            ("4kB", 1024, 4096),
            ("4GiB", 1024, 4_000_000_000),
            ("4GiB", 1000, 4 << 30),
            ("4G", 1000, 4_000_000_000),
            ("0x200", 1024, 512),
        ] {
            assert_eq!(parse_amount(text, kibi), Some(Amount::Bytes(bytes)), "{text}");
        }
        assert_eq!(parse_amount("25%", 1024), Some(Amount::Percent(25.0)));
        for text in ["", "k", "4q", "-1", "1e9", "101%", "99999999999999999999", "9000000p"] {
            assert_eq!(parse_amount(text, 1024), None, "{text}");
        }
    }

    #[test]
    fn times_are_seconds_without_a_unit() {
        assert_eq!(parse_duration("5"), Some(Nanos::from_secs(5)));
        assert_eq!(parse_duration("1500ms"), Some(Nanos::from_millis(1500)));
        assert_eq!(parse_duration("2m"), Some(Nanos::from_secs(120)));
        for text in ["", "s", "5 parsecs", "-3s"] {
            assert_eq!(parse_duration(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_spelling_panics(text in "[0-9a-zA-Z%é. -]{0,24}") {
            parse_amount(&text, 1024);
            parse_duration(&text);
            parse_lengths(&text, 1000);
            parse_zipf(&text);
        }
    }

    /// Canonical names of the options that the installed fio lists, without continuations of long lines.
    fn listed() -> Vec<String> {
        let out = std::process::Command::new("fio").arg("--cmdhelp").output().expect("fio is installed");
        let text = String::from_utf8(out.stdout).unwrap();
        let names = text.lines().filter_map(|line| line.split_once(':')?.0.split_whitespace().next());
        names.map(str::to_owned).collect()
    }

    #[test]
    fn every_option_of_fio_has_one_row() {
        let listed = listed();
        assert!(listed.len() > 200, "{listed:?}");
        let mut names = std::collections::HashSet::new();
        for name in rows().flat_map(|[names, ..]| names.split(' ')) {
            let is_alias = canonical(name) != name;
            assert!(!is_alias || listed.iter().any(|known| known == canonical(name)), "{name}");
            assert!(names.insert(name), "{name} has two rows");
        }
        for option in &listed {
            assert!(names.contains(&**option) && canonical(option) == option, "{option}");
        }
    }

    #[test]
    fn the_page_has_every_option() {
        let page = include_str!("../../../docs/reference/fio-options.md");
        let row = |[names, kind, effect]: [&str; 3]| {
            let names: Vec<String> = names.split(' ').map(|name| format!("`{name}`")).collect();
            format!("| {} | {kind} | {effect} |\n", names.join(", "))
        };
        let missing: Vec<String> = rows().map(row).filter(|row| !page.contains(row)).collect();
        assert!(missing.is_empty(), "the page lacks:\n{}", missing.join(""));
        assert_eq!(page.matches("\n| `").count(), rows().count(), "the page has others");
    }

    #[test]
    fn only_what_changes_the_work_is_named() {
        for (option, value, is_named) in [
            ("bs", "4k", false),
            ("write_lat_log", "out", false),
            ("thinktime", "0", false),
            ("thinktime", "5us", true),
            ("continue_on_error", "0", false),
            ("sync_file_range", "write:8", true),
            ("cpus_allowed", "0", true),
            ("random_generator", "lfsr", true),
            ("fixedbufs", "1", true),
            ("an_option_to_come", "1", true),
        ] {
            assert_eq!(is_changing(option, value), is_named, "{option}={value}");
        }
    }
}
