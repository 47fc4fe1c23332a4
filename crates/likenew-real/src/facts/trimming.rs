//! Who sends TRIM for a file system: its mount, or the timer of fstrim, and whether that really covers it.

use likenew_core::facts::{Fact, Trimming};

use super::machine_query::MachineQuery;
use super::roots::Roots;
use crate::mounts::{Mount, unescape};
use crate::trim::SENDERS;
use crate::wording::facts as wording;

/// Folders of systemd's units, the most important first (systemd.unit(5)).
const UNITS: [&str; 5] = [
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
];
const STAMP: &str = "/var/lib/systemd/timers/stamp-fstrim.timer";

/// What is set up for this mount.
pub(crate) fn trimming(roots: &Roots, queries: &dyn MachineQuery, mount: &Mount) -> Trimming {
    let sends = SENDERS.contains(&&*mount.kind);
    let immediate = mount.has_option("discard");
    let timer = unit(roots, "fstrim.timer");
    let (covers, because, origin) = match coverage(roots, mount) {
        Ok((covers, because, origin)) => (Fact::new(covers, origin.clone()), because, origin),
        Err(reason) => (Fact::unknown(reason.clone(), "fstrim.service"), reason, "fstrim.service".to_owned()),
    };
    Trimming {
        immediate: if sends { Fact::new(immediate, "/proc/self/mountinfo") } else { Fact::NotQueried },
        timer_present: present(roots, timer.as_deref()),
        timer_enabled: is_enabled(roots, timer.as_deref()),
        timer_last_run_age_s: last_run(roots, queries),
        timer_covers: covers,
        timer_coverage_reason: Fact::new(because, origin),
    }
}

/// The file of a unit, unless it is masked.
fn unit(roots: &Roots, name: &str) -> Option<String> {
    let path = UNITS.iter().map(|folder| format!("{folder}/{name}")).find(|path| roots.exists(path))?;
    let masked = roots.link(&path).is_some_and(|target| target == std::path::Path::new("/dev/null"));
    (!masked).then_some(path)
}

fn present(roots: &Roots, timer: Option<&str>) -> Fact<bool> {
    if let Some(path) = timer {
        return Fact::new(true, path);
    }
    // Without systemd, distributions run it by cron.
    let jobs = ["/etc/cron.daily/fstrim", "/etc/cron.weekly/fstrim", "/etc/periodic/weekly/fstrim"];
    match jobs.iter().find(|job| roots.exists(job)) {
        Some(job) => Fact::new(true, *job),
        None if UNITS.iter().any(|folder| roots.exists(folder)) => Fact::new(false, "fstrim.timer"),
        None => Fact::unknown(wording::NO_TRIM_JOB, "fstrim.timer"),
    }
}

fn is_enabled(roots: &Roots, timer: Option<&str>) -> Fact<bool> {
    if timer.is_none() {
        return present(roots, timer);
    }
    let wants = UNITS.iter().map(|folder| format!("{folder}/timers.target.wants/fstrim.timer"));
    match wants.into_iter().find(|link| roots.exists(link)) {
        Some(link) => Fact::new(true, link),
        None => Fact::new(false, "/etc/systemd/system/timers.target.wants"),
    }
}

fn last_run(roots: &Roots, queries: &dyn MachineQuery) -> Fact<u64> {
    match roots.changed_s(STAMP) {
        Some(changed) => Fact::new(u64::try_from(queries.now_s() - changed).unwrap_or(0), STAMP),
        None => Fact::unknown(wording::NO_TIME_STAMP, STAMP),
    }
}

/// Whether the service trims this mount, why, and how that is known.
fn coverage(roots: &Roots, mount: &Mount) -> Result<(bool, String, String), String> {
    let no = |reason: String, origin: &str| Ok((false, reason, origin.to_owned()));
    if !SENDERS.contains(&&*mount.kind) {
        return no(wording::kind_not_trimmed(&mount.kind), "/proc/self/mountinfo");
    }
    let path = unit(roots, "fstrim.service").ok_or(wording::SERVICE_MISSING)?;
    let text = roots.text(&path);
    let text = text.value().ok_or(wording::SERVICE_UNREADABLE)?;
    let in_container = ["/run/systemd/container", "/.dockerenv", "/run/.containerenv"];
    if text.contains("ConditionVirtualization=!container")
        && in_container.iter().any(|mark| roots.exists(mark))
    {
        return no(wording::NOT_IN_CONTAINERS.to_owned(), &path);
    }
    let command = text.lines().filter_map(|line| line.trim().strip_prefix("ExecStart=")).next_back();
    let command = command.ok_or(wording::SERVICE_WITHOUT_COMMAND)?;
    let words: Vec<&str> = command.split_whitespace().collect();
    let list = words.iter().position(|word| matches!(*word, "--listed-in" | "-I"));
    let list = list.and_then(|at| words.get(at + 1).copied());
    let list = list.or_else(|| words.iter().find_map(|word| word.strip_prefix("--listed-in=")));
    if let Some(list) = list {
        return listed_in(roots, mount, list);
    }
    if words.iter().any(|word| matches!(*word, "--fstab" | "-A")) {
        return listed_in(roots, mount, "/etc/fstab");
    }
    if words.iter().any(|word| matches!(*word, "--all" | "-a" | "-av")) {
        return Ok((true, wording::TRIMS_ALL.to_owned(), path));
    }
    let named = words.iter().skip(1).any(|word| *word == mount.point);
    Ok((named, wording::runs_command(command), path))
}

/// fstrim takes the first of these files that lists anything, and ignores the others (fstrim(8),
/// --listed-in).
fn listed_in(roots: &Roots, mount: &Mount, files: &str) -> Result<(bool, String, String), String> {
    for file in files.split(':') {
        let text = roots.text(file);
        let entries: Vec<Entry> = match text.value() {
            Some(text) => text.lines().filter_map(|line| Entry::parse(line, file)).collect(),
            None if text.reason() == Some(wording::NO_PERMISSION) => {
                return Err(wording::may_not_be_read(file));
            }
            None => continue,
        };
        if entries.is_empty() {
            continue;
        }
        let entry = entries.iter().find(|entry| entry.point == mount.point);
        let (covers, reason) = match entry {
            Some(entry) if entry.has("X-fstrim.notrim") => (false, wording::excluded(file)),
            Some(_) if mount.has_option("ro") => (false, wording::MOUNTED_READ_ONLY.to_owned()),
            Some(_) => (true, wording::listed(file)),
            None => (false, wording::not_listed(file, &mount.point)),
        };
        return Ok((covers, reason, file.to_owned()));
    }
    Ok((false, wording::nothing_listed(files), files.to_owned()))
}

/// A line of fstab(5), or of mountinfo.
struct Entry {
    point: String,
    options: String,
}

impl Entry {
    fn parse(line: &str, file: &str) -> Option<Self> {
        if file.ends_with("mountinfo") {
            let mount = Mount::parse(line)?;
            return Some(Self { point: mount.point, options: mount.options });
        }
        let line = line.trim();
        if line.starts_with('#') {
            return None;
        }
        let fields: Vec<&str> = line.split_whitespace().collect();
        Some(Self {
            point: unescape(fields.get(1)?),
            options: fields.get(3).copied().unwrap_or("").to_owned(),
        })
    }

    fn has(&self, name: &str) -> bool {
        self.options.split(',').any(|option| option == name)
    }
}
