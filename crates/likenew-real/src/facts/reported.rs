//! Facts of another machine, from what programs printed there: smartctl, nvme, lsblk, dmesg and others, in
//! one text or several. Each output is recognized by its content. A fact that no text tells stays unknown,
//! with the command that would show it.

/// A regular expression that is known to be valid.
macro_rules! pattern {
    ($(#[$doc:meta])* $name:ident = $text:expr) => {
        $(#[$doc])*
        static $name: LazyLock<Regex> = LazyLock::new(|| Regex::new($text).expect(stringify!($name)));
    };
}

mod blocks;
mod links;
mod log;
mod nvme_cli;
mod smartctl;
mod volumes;
mod windows;

use std::ops::Range;
use std::path::Path;
use std::sync::LazyLock;

use likenew_core::facts::{
    Drive, DriveKind, Fact, Facts, FileSystem, Layer, MissingOutput, Reported, ReportedSource,
};
use regex::Regex;
use serde_json::Value;

use super::kernel_log::Record;
use super::machine::Roots;
use super::smartmontools::Databases;
use super::{remove_placeholders, smartmontools};
use crate::block::begins_numbered;
use crate::wording::facts as wording;

/// A text and where it is from.
#[derive(Clone, Debug)]
pub struct PrintedText {
    /// The name of its file.
    pub name: String,
    /// The text itself.
    pub text: String,
}

/// Facts from the texts. [`Facts::reported`] says what was recognized and what is missing.
pub fn reported(texts: &[PrintedText]) -> Facts {
    reported_to(&Roots::system(), texts)
}

fn reported_to(roots: &Roots, texts: &[PrintedText]) -> Facts {
    let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.text.lines().collect()).collect();
    let mut sections: Vec<Section<'_>> =
        texts.iter().zip(&lines).flat_map(|(text, lines)| sections(text, lines)).collect();
    sections.sort_by_key(|section| section.program.turn);
    let mut reading = Reading { roots: roots.clone(), ..Reading::default() };
    for section in &sections {
        reading.program = section.program.name;
        reading.origin = Origin(format!("{} in {}", section.program.name, section.file));
        if (section.program.read)(section, &mut reading) {
            reading.sources.push(ReportedSource {
                file: section.file.to_owned(),
                line: section.lines.start as u64 + 1,
                program: section.program.name.to_owned(),
            });
        }
    }
    let is_unread = |text: &&PrintedText| reading.sources.iter().all(|source| source.file != text.name);
    let unread = texts.iter().filter(is_unread).map(|text| text.name.clone()).collect();
    reading.finish(unread)
}

/// A program whose output is read.
struct Program {
    name: &'static str,
    /// When it is read: programs that name drives come first.
    turn: u8,
    /// Whether a line begins its output.
    is_mark: fn(&str) -> bool,
    /// JSON pointers of which each leads somewhere in a document that is its output; none if it prints no JSON.
    json: &'static [&'static str],
    /// Reads an output; returns whether it said anything.
    read: fn(&Section<'_>, &mut Reading) -> bool,
}

/// All programs, in the order in which their marks are looked for.
static PROGRAMS: [Program; 19] = {
    type IsMark = fn(&str) -> bool;
    type Read = fn(&Section<'_>, &mut Reading) -> bool;
    type Json = &'static [&'static str];
    const fn row(turn: u8, name: &'static str, is_mark: IsMark, json: Json, read: Read) -> Program {
        Program { name, turn, is_mark, json, read }
    }
    const NO_TEXT: IsMark = |_| false;
    [
        row(0, "likenew facts", NO_TEXT, &["/likenew_facts"], read_bundle),
        row(13, "kernel log", log::is_record, &[], log::read),
        row(4, "smartctl", smartctl::is_mark, &["/smartctl"], smartctl::read),
        row(4, "smartctl", NO_TEXT, &["/json_format_version"], smartctl::read),
        row(1, "lsblk", blocks::is_lsblk_head, &["/blockdevices"], blocks::read_lsblk),
        row(11, "df", volumes::is_df_head, &[], volumes::read_df),
        row(10, "mount", volumes::is_mount, &[], volumes::read_mounts),
        row(3, "hdparm -I", blocks::is_hdparm_head, &[], blocks::read_hdparm),
        row(8, "/proc/mdstat", volumes::is_mdstat_head, &[], volumes::read_mdstat),
        row(9, "zpool status", volumes::is_pool_head, &[], volumes::read_pools),
        row(12, "systemctl list-timers", volumes::is_timer, &[], volumes::read_timers),
        row(14, "lspci -vv", links::is_pci_head, &[], links::read_pci),
        row(15, "lsusb -t", links::is_usb_head, &[], links::read_usb),
        row(2, "nvme list", nvme_cli::is_list_head, &["/Devices"], nvme_cli::read_list),
        row(6, "nvme smart-log", nvme_cli::is_smart_head, nvme_cli::SMART_JSON, nvme_cli::read_smart),
        row(5, "nvme id-ctrl", nvme_cli::is_identify_head, &["/mn", "/sn"], nvme_cli::read_identify),
        row(16, "iostat -x", blocks::is_iostat_head, &["/sysstat/hosts"], blocks::read_iostat),
        row(7, "PowerShell", windows::is_disk_head, &[], windows::read_disks),
        row(17, "fsutil", windows::is_fsutil, &[], windows::read_fsutil),
    ]
};

impl Program {
    /// Whether a JSON document is its output.
    fn is_json(&self, document: &Value) -> bool {
        !self.json.is_empty() && self.json.iter().all(|pointer| document.pointer(pointer).is_some())
    }
}

/// The key of a file that `facts --bundle` wrote, by which [`PROGRAMS`] knows it.
const BUNDLE: &str = "likenew_facts";

/// Facts as a file to pass on: serial numbers are hashes.
pub fn bundle(facts: &Facts) -> String {
    let value = serde_json::json!({ BUNDLE: env!("CARGO_PKG_VERSION"), "facts": facts });
    format!("{value:#}\n")
}

fn read_bundle(section: &Section<'_>, into: &mut Reading) -> bool {
    let facts = section.json.as_ref().and_then(|document| document.get("facts"));
    let Some(facts) = facts.and_then(|facts| serde_json::from_value(facts.clone()).ok()) else {
        return false;
    };
    into.facts = facts;
    into.known = vec![KnownBy::default(); into.facts.drives.len()];
    into.is_linux = Some(true);
    into.file_systems.extend(into.facts.file_system.take());
    true
}

/// The output of one program.
struct Section<'a> {
    program: &'static Program,
    file: &'a str,
    /// All lines of the text.
    all: &'a [&'a str],
    lines: Range<usize>,
    /// The document, if the output is JSON.
    json: Option<Value>,
}

impl<'a> Section<'a> {
    fn text(&self) -> &'a [&'a str] {
        &self.all[self.lines.clone()]
    }

    /// The device in the command right above a line.
    fn device_above(&self, above: usize) -> Option<String> {
        const LINES_ABOVE: usize = 4;
        let near = self.all[above.saturating_sub(LINES_ABOVE)..above].iter().rev();
        near.filter_map(|line| device_path(line)).next()
    }
}

/// Whether a line has a shell's prompt and a command, which ends the output before it: `$ df`, `root@host:~#
/// mount`, `PS C:\\> fsutil`. A row of a table that begins with `# 1` does not.
fn is_prompt(line: &str) -> bool {
    pattern!(PROMPT = r"^(?:(?:\[?[\w.-]+@[\w.-]+[^$#]*?)?[$#]\s+[A-Za-z/.]|PS [A-Z]:.*>\s*\S)");
    PROMPT.is_match(line)
}

/// The lines of a table, up to an empty line.
fn table_lines<'a, 'b>(text: &'b [&'a str]) -> &'b [&'a str] {
    &text[..text.iter().position(|line| line.trim().is_empty()).unwrap_or(text.len())]
}

/// Splits a text where a program's output begins. Lines before the first output and after a prompt belong to none.
fn sections<'a>(printed_text: &'a PrintedText, lines: &'a [&'a str]) -> Vec<Section<'a>> {
    let PrintedText { name: file, text } = printed_text;
    let mut sections: Vec<Section<'a>> = Vec::new();
    let (mut at, mut is_cut_off, mut has_ended) = (0, false, false);
    while at < lines.len() {
        let line = lines[at];
        let begins = PROGRAMS.iter().find(|program| (program.is_mark)(line));
        if begins.is_none()
            && !is_cut_off
            && let Some((json, length)) =
                json_at(&text[line.as_ptr().addr() - text.as_ptr().addr()..], &mut is_cut_off)
        {
            if let Some(program) = PROGRAMS.iter().find(|program| program.is_json(&json)) {
                sections.push(Section {
                    program,
                    file,
                    all: lines,
                    lines: at..at + length,
                    json: Some(json),
                });
            }
            at += length;
            continue;
        }
        has_ended |= is_prompt(line);
        match (begins, sections.last_mut()) {
            (Some(program), Some(last))
                if last.program.turn == program.turn && last.json.is_none() && !has_ended =>
            {
                last.lines.end = at + 1;
            }
            (Some(program), _) => {
                sections.push(Section { program, file, all: lines, lines: at..at + 1, json: None });
                has_ended = false;
            }
            (None, Some(last)) if last.json.is_none() && !has_ended => last.lines.end = at + 1,
            (None, _) => {}
        }
        at += 1;
    }
    sections
}

/// The JSON document that begins a text, and how many lines it takes. A document that is cut off takes all
/// that follows, and no other is looked for.
fn json_at(text: &str, is_cut_off: &mut bool) -> Option<(Value, usize)> {
    text.trim_start().starts_with(['{', '[']).then_some(())?;
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let next = stream.next()?;
    *is_cut_off = next.as_ref().is_err_and(serde_json::Error::is_eof);
    let value = next.ok().filter(|value| value.is_object() || value.is_array())?;
    Some((value, text[..stream.byte_offset()].matches('\n').count() + 1))
}

/// The name of the device that a command names: `sda` for `/dev/sda`.
fn device_path(line: &str) -> Option<String> {
    let (_, rest) = line.split_once("/dev/")?;
    let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric()).collect();
    // `/dev/bus/0`, `/dev/disk/by-id/…` and `/dev/mapper/…` name no drive.
    (!name.is_empty() && !rest[name.len()..].starts_with('/')).then_some(name)
}

/// A device's name as a word of a file's name: `smartctl-sda.txt`, `nvme0n1.json`.
fn device_word(file: &str) -> Option<String> {
    let file = file.rsplit('/').next()?;
    let is_name = |word: &&str| {
        let letters = |prefix: &str| {
            word.strip_prefix(prefix)
                .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_lowercase()))
        };
        let numbered = |prefix: &str| begins_numbered(word, prefix) && word.len() <= prefix.len() + 6;
        letters("sd") && word.len() <= 5
            || letters("vd")
            || numbered("nvme")
            || numbered("ada")
            || numbered("da")
    };
    file.split(|c: char| !c.is_ascii_alphanumeric()).find(is_name).map(str::to_owned)
}

// Tables whose columns are aligned by blanks, as lsblk, df, nvme list and PowerShell print them.

/// A row: its cells by the names of their columns.
struct Row {
    /// Blanks and branches of a tree before its first word, in characters.
    indent: usize,
    cells: Vec<(String, String)>,
}

impl Row {
    /// The texts, numbers and flags of a JSON object; of a list its first text.
    fn of_json(value: &Value) -> Self {
        let cell = |value: &Value| match value {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            Value::Array(items) => items.iter().find_map(|item| Some(item.as_str()?.trim().to_owned())),
            _ => None,
        };
        let fields = value.as_object().into_iter().flatten();
        let cells = fields.filter_map(|(name, value)| Some((name.clone(), cell(value)?))).collect();
        Self { indent: 0, cells }
    }

    /// The cell in the first of these columns that the table has; `None` if it is empty.
    fn get(&self, names: &[&str]) -> Option<&str> {
        let is_it = |heading: &str, name: &str| {
            heading.replace('_', " ").eq_ignore_ascii_case(&name.replace('_', " "))
        };
        let cell = |name: &&str| self.cells.iter().find(|(heading, _)| is_it(heading, name));
        names.iter().find_map(cell).map(|(_, text)| &**text).filter(|text| !text.is_empty())
    }
}

/// Headings with a blank inside.
const TWO_WORDS: [&str; 2] = ["Mounted on", "FW Rev"];

/// The rows below a line of headings. Columns are separated where all lines have a blank.
fn rows(lines: &[&str]) -> Vec<Row> {
    let joined = |line: &&str| {
        TWO_WORDS.iter().fold((*line).to_owned(), |line, words| line.replace(words, &words.replace(' ', "_")))
    };
    let head = lines.first().map(joined).unwrap_or_default();
    let lines = std::iter::once(&*head).chain(lines.iter().skip(1).copied());
    let lines: Vec<Vec<char>> = lines.map(|line| line.trim_end().chars().collect()).collect();
    let [head, rest @ ..] = &lines[..] else { return Vec::new() };
    let rest: Vec<&Vec<char>> = rest.iter().filter(|line| !is_rule(line)).collect();
    let width = lines.iter().map(Vec::len).max().unwrap_or_default();
    let is_blank = |at: usize| {
        std::iter::once(&head).chain(&rest).all(|line| line.get(at).is_none_or(|c| c.is_whitespace()))
    };
    let mut columns: Vec<Range<usize>> = Vec::new();
    for at in (0..width).filter(|at| !is_blank(*at)) {
        match columns.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => columns.push(at..at + 1),
        }
    }
    // A column without a heading belongs to the column before.
    let has_heading =
        |column: &Range<usize>| column.clone().any(|at| head.get(at).is_some_and(|c| !c.is_whitespace()));
    columns = columns.into_iter().fold(Vec::new(), |mut columns: Vec<Range<usize>>, column| {
        match columns.last_mut() {
            Some(last) if !has_heading(&column) => last.end = column.end,
            _ => columns.push(column),
        }
        columns
    });
    let cell = |line: &[char], column: &Range<usize>| -> String {
        let inside = line.get(column.start..column.end.min(line.len())).unwrap_or_default();
        inside.iter().collect::<String>().trim().to_owned()
    };
    let names: Vec<String> = columns.iter().map(|column| cell(head, column)).collect();
    let row = |line: &&Vec<char>| Row {
        indent: line.iter().take_while(|c| !c.is_alphanumeric()).count(),
        cells: names.iter().cloned().zip(columns.iter().map(|column| cell(line, column))).collect(),
    };
    rest.iter().map(row).collect()
}

/// A line that only separates.
fn is_rule(line: &[char]) -> bool {
    line.iter().all(|c| c.is_whitespace() || matches!(c, '-' | '='))
}

// Words and numbers as programs print them.

/// The first number in a text; thousands may be grouped by commas, points, apostrophes or narrow blanks.
fn first_number(text: &str) -> Option<u64> {
    let text = text.trim_start();
    let mut digits = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let groups = |next: Option<&char>| next.is_some_and(char::is_ascii_digit);
        match c {
            '0'..='9' => digits.push(c),
            ',' | '\'' | '’' | '\u{a0}' | '\u{202f}' if !digits.is_empty() && groups(chars.peek()) => {}
            _ => break,
        }
    }
    digits.parse().ok()
}

/// Bytes as programs print them: `1000204886016`, `1.8T`, `931.5G`, `512 B`, `4K`: units are powers of 1,024.
fn bytes_of(text: &str) -> Option<u64> {
    let text = text.trim();
    let number: String = text.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',')).collect();
    let unit = text[number.len()..].trim_start().chars().next().unwrap_or('B');
    let number: f64 = number.replace(',', ".").parse().ok()?;
    let power =
        ['B', 'K', 'M', 'G', 'T', 'P'].iter().position(|letter| letter.eq_ignore_ascii_case(&unit))?;
    let bytes = number * 1024f64.powi(i32::try_from(power).ok()?);
    (bytes.is_finite() && bytes >= 0.0 && bytes < 2f64.powi(63)).then_some(bytes.round() as u64)
}

/// Largest difference of two capacities of one drive, as a share: `lsblk` prints 1.8T for 2 TB.
const ROUNDED_SHARE_MAX: f64 = 0.05;

/// What identifies a drive in an output.
#[derive(Clone, Debug, Default)]
struct Mark {
    name: Option<String>,
    model: Option<String>,
    serial: Option<String>,
    /// Rounded by some programs.
    capacity_bytes: Option<u64>,
    /// For a drive whose kind no other output has shown.
    kind: DriveKind,
}

/// What tells a drive from others, beside its name and model.
#[derive(Clone, Debug, Default)]
struct KnownBy {
    serial: Option<String>,
    /// Programs with an output about it. A second output of one program is about another drive, unless name
    /// or serial number say otherwise.
    outputs: Vec<&'static str>,
}

/// Where the facts that are read now come from.
#[derive(Clone, Debug, Default)]
struct Origin(String);

impl Origin {
    /// A fact from there; not queried if there is no value.
    fn fact<T>(&self, value: Option<T>) -> Fact<T> {
        value.map_or(Fact::NotQueried, |value| Fact::new(value, self.0.clone()))
    }

    /// Takes a value where none is known.
    fn fill<T>(&self, own: &mut Fact<T>, value: Option<T>) {
        smartmontools::fill(own, self.fact(value));
    }
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    roots: Roots,
    facts: Facts,
    /// What tells each drive from the others.
    known: Vec<KnownBy>,
    /// The program whose output is read now.
    program: &'static str,
    origin: Origin,
    sources: Vec<ReportedSource>,
    file_systems: Vec<FileSystem>,
    records: Vec<Record>,
    /// Whether the outputs are from Linux, if one of them shows that.
    is_linux: Option<bool>,
    timer_enabled: Fact<bool>,
    ports: Vec<links::PciPort>,
}

impl Reading {
    /// The drive that is meant, and where its facts come from now; a new drive is added.
    fn drive(&mut self, mark: &Mark) -> (&mut Drive, &Origin) {
        let at = self.position(mark).unwrap_or_else(|| {
            self.facts.drives.push(Drive::default());
            self.known.push(KnownBy::default());
            self.known.len() - 1
        });
        let serial = super::drive_answers::hashed_serial(&self.roots, self.origin.fact(mark.serial.clone()));
        let (drive, known) = (&mut self.facts.drives[at], &mut self.known[at]);
        known.serial = known.serial.take().or_else(|| mark.serial.clone());
        if !known.outputs.contains(&self.program) {
            known.outputs.push(self.program);
        }
        if drive.name.is_empty() {
            drive.name = mark.name.clone().unwrap_or_default();
        }
        if drive.kind == DriveKind::Other {
            drive.kind = mark.kind;
        }
        self.origin.fill(&mut drive.identity.model, mark.model.clone());
        smartmontools::fill(&mut drive.identity.serial, serial);
        (drive, &self.origin)
    }

    fn position(&self, mark: &Mark) -> Option<usize> {
        let drives = || self.facts.drives.iter().zip(&self.known).enumerate();
        let serials = |known: &KnownBy| {
            let (one, other) = (known.serial.as_ref()?, mark.serial.as_ref()?);
            Some(one.trim() == other.trim())
        };
        let same_model = |drive: &Drive| {
            let (drive_model, model) = (drive.identity.model.value()?, mark.model.as_ref()?);
            Some(is_same_model(drive_model, model))
        };
        let is_other_size = |drive: &Drive| {
            let sizes = drive.identity.capacity_bytes.get().zip(mark.capacity_bytes);
            sizes.is_some_and(|(size, bytes)| size.abs_diff(bytes) as f64 > ROUNDED_SHARE_MAX * size as f64)
        };
        let named = || {
            let name = mark.name.as_ref();
            drives().filter(move |(_, (drive, known))| {
                name.is_some_and(|name| is_same_name(&drive.name, name))
                    && serials(known) != Some(false)
                    && !is_other_size(drive)
            })
        };
        let of_model = named().find(|(_, (drive, _))| same_model(drive) == Some(true));
        // Some bridges give all their drives one serial number.
        let numbered = || {
            drives().find(|(_, (drive, known))| {
                serials(known) == Some(true) && same_model(drive) != Some(false) && !is_other_size(drive)
            })
        };
        // Texts of two machines may have one name for two models; two programs may call one model differently.
        let unlike = || {
            named().find(|(_, (drive, known))| {
                !known.outputs.contains(&self.program) || same_model(drive) != Some(false)
            })
        };
        if let Some((at, _)) = of_model.or_else(numbered).or_else(unlike) {
            return Some(at);
        }
        let model = mark.model.as_ref()?;
        let mut alike = drives().filter(|(_, (drive, known))| {
            let may_be = drive.name.is_empty() || mark.name.is_none();
            let is_model =
                drive.identity.model.value().is_some_and(|drive_model| is_same_model(drive_model, model));
            may_be && is_model && serials(known).is_none() && !known.outputs.contains(&self.program)
        });
        match (alike.next(), alike.next()) {
            (Some((at, _)), None) => Some(at),
            _ => None,
        }
    }

    /// The layer of this name, and where its facts come from now; a new layer is added.
    fn layer(&mut self, name: &str) -> (&mut Layer, &Origin) {
        let new = || Layer { name: name.to_owned(), ..Layer::default() };
        (find_or_add(&mut self.facts.stack, |layer| layer.name == name, new), &self.origin)
    }

    /// The file system that is mounted there, and where its facts come from now; a new one is added.
    fn file_system(&mut self, point: &str) -> (&mut FileSystem, &Origin) {
        let new = || FileSystem { point: point.to_owned(), ..FileSystem::default() };
        let known = find_or_add(&mut self.file_systems, |file_system| file_system.point == point, new);
        (known, &self.origin)
    }

    fn finish(mut self, unread: Vec<String>) -> Facts {
        log::assign(&mut self);
        links::assign(&mut self);
        let databases = Databases::read(&self.roots);
        for (number, drive) in self.facts.drives.iter_mut().enumerate() {
            remove_placeholders(drive);
            complete_drive(&databases, drive);
            if drive.name.is_empty() {
                let model = drive.identity.model.value().cloned();
                drive.name = model.unwrap_or_else(|| wording::drive_number(number + 1));
            }
            if drive.health.failing.is_not_queried() {
                drive.health.failing = match drive.kind {
                    DriveKind::Virtual => Fact::unknown(wording::VIRTUAL_MEDIUM, wording::KIND_OF_DRIVE),
                    _ => Fact::unknown(wording::NO_HEALTH, "SMART"),
                };
            }
        }
        self.tell_apart();
        self.order_layers();
        self.facts.file_system = volumes::of_most_interest(&mut self);
        let missing = self.missing();
        self.facts.reported = Some(Reported { sources: self.sources, unread, missing });
        self.facts
    }

    /// Adds the model to the name of drives that share one name, as those of several machines can.
    fn tell_apart(&mut self) {
        let names: Vec<String> = self.facts.drives.iter().map(|drive| drive.name.clone()).collect();
        for drive in &mut self.facts.drives {
            let is_shared = names.iter().filter(|name| **name == drive.name).count() > 1;
            if let Some(model) = drive.identity.model.value().filter(|_| is_shared) {
                drive.name = format!("{} ({model})", drive.name);
            }
        }
    }

    /// Sorts the layers from the top down: each before what it is built on.
    fn order_layers(&mut self) {
        fn depth(stack: &[Layer], name: &str, left: usize) -> usize {
            let below = stack.iter().find(|layer| layer.name == name).filter(|_| left > 0);
            below.map_or(0, |layer| {
                1 + layer.on.iter().map(|on| depth(stack, on, left - 1)).max().unwrap_or_default()
            })
        }
        const DEPTH_MAX: usize = 32;
        let stack = self.facts.stack.clone();
        self.facts.stack.sort_by_key(|layer| std::cmp::Reverse(depth(&stack, &layer.name, DEPTH_MAX)));
    }

    /// Outputs that are missing, and what each would show.
    fn missing(&self) -> Vec<MissingOutput> {
        let mut missing = Vec::new();
        let mut add =
            |shows: &str, command: String| missing.push(MissingOutput { shows: shows.to_owned(), command });
        let drives = &self.facts.drives;
        let is_silent =
            |drive: &&Drive| drive.health.failing.value().is_none() && drive.kind != DriveKind::Virtual;
        for drive in drives.iter().filter(is_silent) {
            let is_path = !drive.name.is_empty() && drive.name.chars().all(|c| c.is_ascii_alphanumeric());
            let path = if is_path { format!("/dev/{}", drive.name) } else { "/dev/sdX".to_owned() };
            // Most unknown bridges pass commands on as SAT has them (smartctl(8), -d sat).
            let is_unknown_bridge =
                drive.health.failing.reason().is_some_and(|reason| reason.contains("USB bridge"));
            let through = if is_unknown_bridge { "-d sat " } else { "" };
            add(wording::SHOWS_HEALTH, format!("sudo smartctl -x -j {through}{path}"));
        }
        if self.is_linux == Some(false) || drives.is_empty() {
            return missing;
        }
        let is_flash = |drive: &Drive| drive.identity.rotation_rpm.get().is_none_or(|rpm| rpm == 0);
        if drives.iter().any(is_flash)
            && self.facts.stack.iter().all(|stack| stack.takes_trim.value().is_none())
        {
            add(wording::SHOWS_TRIM, "lsblk -O -J".to_owned());
        }
        let has_link = |drive: &Drive| drive.link.ceiling_bytes_per_s.value().is_some();
        let of_kind = |kind| drives.iter().any(|drive| drive.kind == kind && !has_link(drive));
        if of_kind(DriveKind::Nvme) {
            add(wording::SHOWS_LINK, "sudo lspci -vv".to_owned());
        }
        if of_kind(DriveKind::Usb) {
            add(wording::SHOWS_LINK, "lsusb -t".to_owned());
        }
        if self.file_systems.is_empty() {
            add(wording::SHOWS_FILE_SYSTEM, "df -T; mount".to_owned());
        }
        if self.records.is_empty() && drives.iter().all(|drive| drive.log.lines.value().is_none()) {
            add(wording::SHOWS_LOG, "sudo dmesg".to_owned());
        }
        missing
    }
}

fn find_or_add<T>(list: &mut Vec<T>, is_it: impl Fn(&T) -> bool, new: impl FnOnce() -> T) -> &mut T {
    let at = list.iter().position(is_it).unwrap_or_else(|| {
        list.push(new());
        list.len() - 1
    });
    &mut list[at]
}

/// Adds what follows from a drive's model, as on its own machine.
fn complete_drive(databases: &Databases, drive: &mut Drive) {
    let (model, firmware) = (drive.identity.model.value(), drive.identity.firmware.value());
    let Some(model) = model else { return };
    if let Some(volume) = super::drive_answers::volume_of(model) {
        drive.cloud = Some(likenew_core::facts::Cloud {
            volume: drive.identity.model.clone().map(|_| volume.to_owned()),
            ..Default::default()
        });
        return;
    }
    let presented_by = crate::identify::virtual_by(Some(model), None);
    if presented_by.is_some() {
        drive.identity.virtual_by = drive.identity.model.clone().map(|_| presented_by);
        drive.kind = DriveKind::Virtual;
        return;
    }
    if matches!(drive.kind, DriveKind::Nvme | DriveKind::Sata | DriveKind::Scsi | DriveKind::Usb) {
        drive.database = databases.of(Some(model), firmware.map(String::as_str));
    }
}

/// Whether two names mean one drive: `nvme0` is the controller of `nvme0n1`.
fn is_same_name(one: &str, other: &str) -> bool {
    let is_controller = |short: &str, long: &str| {
        short.starts_with("nvme")
            && long.strip_prefix(short).is_some_and(|rest| {
                rest.strip_prefix('n').is_some_and(|rest| rest.chars().all(|c| c.is_ascii_digit()))
            })
    };
    !one.is_empty() && (one == other || is_controller(one, other) || is_controller(other, one))
}

/// Whether two models are the same: some programs cut a model short, or write its blanks as underscores.
fn is_same_model(one: &str, other: &str) -> bool {
    /// Least characters of a model that was cut short: SCSI's field (SPC-4, standard INQUIRY data) has 16.
    const SHORT: usize = 12;
    let plain =
        |text: &str| text.replace('_', " ").split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let (one, other) = (plain(one), plain(other));
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    one == other
        || short.len() >= SHORT && (long.starts_with(short.as_str()) || long.ends_with(short.as_str()))
}

/// Reads outputs without the databases of this machine. Returns whether a drive is in them.
pub(crate) fn fuzz(text: String) -> bool {
    let facts =
        reported_to(&Roots::at(Path::new("/nowhere")), &[PrintedText { name: "sda.txt".to_owned(), text }]);
    assert!(
        facts.rows().iter().all(|row| row.unknown.is_some() == row.value.is_null()),
        "each fact is known or not"
    );
    !facts.drives.is_empty()
}

#[cfg(test)]
mod tests;
