//! The database of drives that smartmontools keeps, where the user has it: read at run time, and no part of
//! this program.

use likenew_core::facts::{Database, Fact};
use regex::Regex;

use super::roots::Roots;
use crate::wording::facts as wording;

/// Where it is looked for: the owner's additions, what `update-smart-drivedb` brings, what distributions
/// install (smartctl(8), FILES).
const PLACES: [&str; 6] = [
    "/etc/smart_drivedb.h",
    "/var/lib/smartmontools/drivedb/drivedb.h",
    "/usr/local/share/smartmontools/drivedb.h",
    "/usr/share/smartmontools/drivedb.h",
    "/etc/smartmontools/drivedb.h",
    "/opt/homebrew/share/smartmontools/drivedb.h",
];

/// What it says of a model and its firmware.
pub(crate) fn database(roots: &Roots, model: Option<&str>, firmware: Option<&str>) -> Database {
    let Some(model) = model else { return Database::default() };
    let mut found = None;
    let mut place_read = None;
    for place in PLACES {
        let text = roots.text(place);
        let Some(text) = text.value() else { continue };
        place_read = Some(place);
        found = entries(text).into_iter().find(|entry| entry.is_of(model, firmware.unwrap_or("")));
        if found.is_some() {
            break;
        }
    }
    let Some(origin) = place_read else {
        let none = || wording::NO_DATABASE;
        return Database {
            family: Fact::unknown(none(), "drivedb.h").help(wording::INSTALL_SMARTMONTOOLS),
            warning: Fact::unknown(none(), "drivedb.h").help(wording::INSTALL_SMARTMONTOOLS),
            shingled: Fact::unknown(none(), "drivedb.h").help(wording::INSTALL_SMARTMONTOOLS),
        };
    };
    let warning = found.as_ref().map(|entry| entry.warning.clone()).filter(|warning| !warning.is_empty());
    // Of some models it has settings and knows no family.
    let family = found.map(|entry| entry.family).filter(|family| !family.is_empty());
    Database {
        warning: Fact::new(warning, origin),
        shingled: match &family {
            Some(family) => Fact::new(family.contains("(SMR"), origin),
            None => Fact::unknown(wording::NOT_IN_DATABASE, origin),
        },
        family: Fact::new(family, origin),
    }
}

/// Whether a database has entries, one of which may be of this drive.
pub(crate) fn finds(text: &str, model: &str, firmware: &str) -> bool {
    let entries = entries(text);
    let _ = entries.iter().any(|entry| entry.is_of(model, firmware));
    !entries.is_empty()
}

/// One entry; the regular expressions stay text until one is needed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Entry {
    family: String,
    model: String,
    firmware: String,
    warning: String,
}

impl Entry {
    /// Both expressions must match the whole of what they are of; an empty one of firmware matches all.
    fn is_of(&self, model: &str, firmware: &str) -> bool {
        matches(&self.model, model) && (self.firmware.is_empty() || matches(&self.firmware, firmware))
    }

    /// Entries for settings and for bridges of USB are of no drive.
    fn is_of_drives(&self) -> bool {
        self.family != "DEFAULT"
            && !self.family.starts_with("USB:")
            && !self.family.starts_with('$')
            && !self.family.starts_with("VERSION")
    }
}

/// POSIX extended expressions are expressions of the library, too, as far as the database uses them.
fn matches(pattern: &str, text: &str) -> bool {
    // Most of a thousand patterns begin with plain words; to compile each of them would take a second.
    let plain: String = pattern.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ' ').collect();
    let is_one = !pattern.contains('|') && !pattern[plain.len()..].starts_with(['?', '*', '{']);
    if is_one && !text.starts_with(&plain) {
        return false;
    }
    Regex::new(&format!("^(?:{pattern})$")).is_ok_and(|regex| regex.is_match(text))
}

/// All entries: each is five strings of C in braces, each of one or several pieces between quotes, with
/// comments anywhere.
fn entries(text: &str) -> Vec<Entry> {
    let mut entries = Vec::new();
    let (mut fields, mut depth, mut field) = (Vec::new(), 0u32, None::<String>);
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let after = &rest[first.len_utf8()..];
        if let Some(comment) = rest.strip_prefix("//") {
            rest = comment.split_once('\n').map_or("", |(_, rest)| rest);
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*") {
            rest = comment.split_once("*/").map_or("", |(_, rest)| rest);
            continue;
        }
        rest = after;
        match first {
            '"' => {
                let (piece, after) = string(after);
                field.get_or_insert_default().push_str(&piece);
                rest = after;
            }
            ',' if depth == 1 => fields.extend(field.take()),
            '{' => (depth, fields, field) = (1, Vec::new(), None),
            '}' if depth == 1 => {
                fields.extend(field.take());
                depth = 0;
                if let [family, model, firmware, warning, ..] = &fields[..] {
                    let [family, model, firmware, warning] =
                        [family, model, firmware, warning].map(Clone::clone);
                    entries.push(Entry { family, model, firmware, warning });
                }
            }
            _ => {}
        }
    }
    entries.retain(Entry::is_of_drives);
    entries
}

/// A string of C after its opening quote, and what follows its closing one.
fn string(text: &str) -> (String, &str) {
    let mut plain = String::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        match c {
            '"' => return (plain, &text[at + 1..]),
            '\\' => match rest.next() {
                Some((_, 'n')) => plain.push('\n'),
                Some((_, 't')) => plain.push('\t'),
                Some((_, other)) => plain.push(other),
                None => break,
            },
            c => plain.push(c),
        }
    }
    (plain, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        /* the head */
        static const drive_settings builtin_knowndrives[] = {
          { "VERSION: 7.3/5319", "-", "-", "", "" },
          { "DEFAULT", "-", "-", "Default settings", "-v 1,raw48 " },
          { "Maker Blue (SMR)", // tested with X
            "MKR (10|20)EZ.*|" // two of them
              "MKR30EZ[^/]*",
            "", "", ""
          },
          { "Maker M4", "M4-CT(064|128)M4SSD[123]", "000[1-9]",
            "This drive may hang.\n" "See \"the page\"", "-v 170,raw48" },
          { "USB: stick; bridge", "0x1234:0x.*", "", "", "-d sat" },
        };"#;

    #[test]
    fn entries_are_read_with_comments_pieces_and_escapes() {
        let all = entries(TEXT);
        assert_eq!(all.len(), 2, "{all:?}");
        assert_eq!(all[0].model, "MKR (10|20)EZ.*|MKR30EZ[^/]*");
        assert_eq!(all[1].warning, "This drive may hang.\nSee \"the page\"");
        assert!(
            all[0].is_of("MKR 20EZRX", "any") && all[0].is_of("MKR30EZ", "") && !all[0].is_of("xMKR30EZ", "")
        );
        assert!(all[1].is_of("M4-CT064M4SSD2", "0002") && !all[1].is_of("M4-CT064M4SSD2", "0309"));
    }

    #[test]
    fn the_users_copy_is_asked() {
        let root = tempfile::tempdir().unwrap();
        let roots = Roots::at(root.path());
        let none = database(&roots, Some("MKR30EZ"), None);
        assert!(none.family.reason().unwrap().contains("not installed"));
        let folder = root.path().join("usr/share/smartmontools");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("drivedb.h"), TEXT).unwrap();
        let known = database(&roots, Some("MKR30EZ"), None);
        assert_eq!((known.shingled.get(), known.warning.value()), (Some(true), Some(&None)));
        let warned = database(&roots, Some("M4-CT128M4SSD1"), Some("0002"));
        assert!(warned.warning.value().unwrap().as_ref().unwrap().contains("may hang"));
        let other = database(&roots, Some("Something"), None);
        assert_eq!((other.family.value(), other.shingled.get()), (Some(&None), None));
    }

    /// Every pattern that an entry has.
    fn patterns(entry: &Entry) -> impl Iterator<Item = &String> {
        [&entry.model, &entry.firmware].into_iter().filter(|pattern| !pattern.is_empty())
    }

    #[test]
    fn the_database_that_smartmontools_ships_is_read_whole() {
        let roots = Roots::system();
        let Some(text) = PLACES[1..].iter().find_map(|place| roots.text(place).value().cloned()) else {
            return eprintln!("SKIPPED: smartmontools is not installed");
        };
        let all = entries(&text);
        // There each entry begins on a new line.
        let no_drives = ["USB:", "DEFAULT", "VERSION", "$"];
        let begins = text.lines().filter_map(|line| line.strip_prefix("  { \""));
        let expected = begins.filter(|name| !no_drives.iter().any(|none| name.starts_with(none))).count();
        assert!(expected > 400, "{expected} entries");
        assert_eq!(all.len(), expected);
        for pattern in all.iter().flat_map(patterns) {
            assert!(Regex::new(&format!("^(?:{pattern})$")).is_ok(), "{pattern}");
        }
        let known = |model: &str, firmware: &str| {
            let known = database(&roots, Some(model), Some(firmware));
            let family = known.family.value().unwrap().clone().unwrap_or_default();
            (family, known.warning.value().unwrap().clone().unwrap_or_default(), known.shingled.get())
        };
        let (family, warning, shingled) = known("M4-CT128M4SSD2", "0002");
        assert!(
            family.starts_with("Crucial/Micron RealSSD m4") && warning.contains("5184 hours"),
            "{warning}"
        );
        assert_eq!(shingled, Some(false));
        assert_eq!(known("M4-CT128M4SSD2", "070H").1, "", "the firmware that mends it");
        assert!(known("ST31000340AS", "SD15").1.contains("known problems"));
        assert_eq!(known("ST31000340AS", "SD1A").1, "");
        for model in ["ST8000AS0002-1NA17Z", "WDC WD60EFAX-68SHWN0"] {
            assert_eq!(known(model, "any").2, Some(true), "{model}");
        }
        let plain = known("WDC WD60EFRX-68MYMN1", "82.00A82");
        assert_eq!(plain, ("Western Digital Red".to_owned(), String::new(), Some(false)));
        let (family, warning, shingled) = known("FUJITSU MHL2300AT", "any");
        assert!(family.is_empty() && warning.contains("harmless") && shingled.is_none(), "{warning}");
        assert_eq!(known("LN FAST", "1.5"), (String::new(), String::new(), None));
    }

    #[test]
    fn what_is_no_database_has_no_entries() {
        for text in ["", "{", "{ \"", "{ \"a\", \"b\" }", "}}}}", "/*", "// {", "{\"a\\"] {
            assert_eq!(entries(text), [], "{text}");
        }
        assert!(!matches("(", "("), "what is no expression matches nothing");
    }
}
