//! What lies between drives and files: file systems, arrays, pools, and who sends TRIM.

use std::sync::LazyLock;

use likenew_core::facts::{Fact, FileSystem, LayerKind, Trimming};
use regex::Regex;

use super::{Reading, Row, Section, bytes_of, rows, table_lines};

pattern!(MOUNT = r"^(\S+) on (/.*?) type (\S+) \(([^)]*)\)");
pattern!(
    /// A line of /proc/mounts.
    MOUNTS = r"^(/dev/\S+) (/\S*) ([a-z0-9]+) ((?:rw|ro)\S*) \d \d$"
);

pub(super) fn is_mount(line: &str) -> bool {
    MOUNT.is_match(line) || MOUNTS.is_match(line)
}

pub(super) fn read_mounts(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let mut has_mounts = false;
    for line in text {
        let Some(mount) = MOUNT.captures(line).or_else(|| MOUNTS.captures(line)) else { continue };
        has_mounts = true;
        if !is_of_drive(&mount[1]) && &mount[3] != "zfs" {
            continue;
        }
        let options: Vec<String> = mount[4].split(',').map(str::to_owned).collect();
        let has = |name: &str| {
            options.iter().any(|option| option == name || option.starts_with(&format!("{name}=")))
        };
        let sends = matches!(&mount[3], "ext4" | "xfs" | "btrfs" | "f2fs" | "vfat" | "exfat" | "ntfs3");
        // Since Linux 6.2 btrfs sends TRIM by itself unless told not to, so no option says nothing.
        let immediate =
            if &mount[3] == "btrfs" { has("discard").then_some(true) } else { Some(has("discard")) };
        let compresses = has("compress") || has("compress-force");
        let (file_system, from) = into.file_system(&mount[2]);
        from.fill(&mut file_system.kind, Some(mount[3].to_owned()));
        from.fill(&mut file_system.source, Some(mount[1].to_owned()));
        from.fill(&mut file_system.compresses, (&mount[3] == "btrfs").then_some(compresses));
        from.fill(&mut file_system.trimming.immediate, immediate.filter(|_| sends));
        from.fill(&mut file_system.options, Some(options));
    }
    has_mounts
}

/// Whether a mount is from a block device that is a drive or lies on one.
fn is_of_drive(source: &str) -> bool {
    source.starts_with("/dev/") && !source.starts_with("/dev/loop") && !source.starts_with("/dev/sr")
}

pub(super) fn is_df_head(line: &str) -> bool {
    line.starts_with("Filesystem") && line.contains("Mounted on")
}

/// Reads `df`, with or without `-h`, `-T`, `-k`, `-B`.
pub(super) fn read_df(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let mut has_usage = false;
    let blocks = text[0].split_whitespace().find_map(|word| word.strip_suffix("-blocks").and_then(bytes_of));
    // `df -h` and `df -m` round to megabytes and more.
    let unit = blocks.unwrap_or(1);
    for row in rows(table_lines(text)) {
        has_usage |= read_usage(&row, unit, into);
    }
    has_usage
}

fn read_usage(row: &Row, unit: u64, into: &mut Reading) -> bool {
    let Some((source, point)) = row.get(&["Filesystem"]).zip(row.get(&["Mounted on"])) else {
        return false;
    };
    if !is_of_drive(source) {
        return true;
    }
    let bytes =
        |names: &[&str]| row.get(names).and_then(bytes_of).and_then(|number| number.checked_mul(unit));
    let percent =
        row.get(&["Use%", "Capacity", "%Used"]).and_then(|text| text.trim_end_matches('%').parse().ok());
    let (file_system, from) = into.file_system(point);
    from.fill(&mut file_system.source, Some(source.to_owned()));
    from.fill(&mut file_system.kind, row.get(&["Type"]).map(str::to_owned));
    from.fill(&mut file_system.used_bytes, bytes(&["Used"]));
    from.fill(&mut file_system.free_bytes, bytes(&["Available", "Avail"]));
    from.fill(&mut file_system.used_percent, percent);
    true
}

/// The file system that says most of a drive's speed: the fullest, where that is known.
pub(super) fn of_most_interest(reading: &mut Reading) -> Option<FileSystem> {
    let of_system = ["/boot", "/efi", "/snap", "/recovery"];
    let is_own =
        |file_system: &&FileSystem| !of_system.iter().any(|point| file_system.point.starts_with(point));
    let fullness = |file_system: &FileSystem| file_system.used_percent.get().unwrap_or(-1.0);
    let candidates = reading.file_systems.iter().filter(is_own);
    let mut chosen = candidates
        .max_by(|one, other| fullness(one).total_cmp(&fullness(other)).then(other.point.cmp(&one.point)))?
        .clone();
    let timer_enabled = std::mem::take(&mut reading.timer_enabled);
    let is_trimmed =
        matches!(chosen.kind.value().map(String::as_str), Some("ext4" | "xfs" | "btrfs" | "f2fs" | "vfat"));
    chosen.trimming = Trimming {
        timer_covers: match timer_enabled.get() {
            Some(true) if is_trimmed => timer_enabled.clone(),
            _ => Fact::NotQueried,
        },
        timer_enabled,
        ..chosen.trimming
    };
    Some(chosen)
}

/// Whether a line is about fstrim, in `systemctl list-timers`, `status` or `list-unit-files`.
pub(super) fn is_timer(line: &str) -> bool {
    line.contains("fstrim.timer")
}

pub(super) fn read_timers(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let line = text[0];
    let next = text.iter().take(4).any(|line| line.contains("Active: active"));
    let says = |states: &[&str]| line.split_whitespace().any(|word| states.contains(&word));
    let is_on = line.contains("fstrim.service") || next || says(&["enabled", "waiting"]);
    let is_known = is_on || says(&["disabled", "masked", "inactive"]);
    into.origin.fill(&mut into.timer_enabled, is_known.then_some(is_on));
    is_known
}

pub(super) fn is_mdstat_head(line: &str) -> bool {
    line.starts_with("Personalities :") || line.starts_with("md") && line.contains(" : active")
}

/// Reads `md0 : active raid1 sdb1[1] sda1[0]`, then `[2/1] [U_]` and what the array is busy with.
pub(super) fn read_mdstat(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    pattern!(COUNT = r"\[(\d+)/(\d+)\] \[[U_]+\]");
    pattern!(TASK = r"(resync|recovery|reshape|check)\s*=");
    pattern!(CHUNK = r"(\d+)k chunks?");
    let mut array: Option<String> = None;
    let mut has_arrays = false;
    for line in text {
        if let Some((name, rest)) = line.split_once(" : ").filter(|(name, _)| name.starts_with("md")) {
            let mut words = rest
                .split_whitespace()
                .filter(|word| !matches!(*word, "active" | "(read-only)" | "(auto-read-only)"));
            let level = words.next().map(str::to_owned);
            let members = words.filter_map(|word| Some(word.split_once('[')?.0.to_owned())).collect();
            let (layer, from) = into.layer(name);
            (layer.kind, layer.on, layer.level) = (LayerKind::Array, members, from.fact(level));
            array = Some(name.to_owned());
            has_arrays = true;
        }
        let Some(name) = array.clone() else { continue };
        let count =
            |group: usize| COUNT.captures(line).and_then(|captures| captures[group].parse::<u64>().ok());
        let (layer, from) = into.layer(&name);
        if let (Some(total), Some(there)) = (count(1), count(2)) {
            layer.members_missing = from.fact(Some(total.saturating_sub(there)));
        }
        if let Some(task) = TASK.captures(line) {
            let task = if &task[1] == "recovery" { "recover" } else { &task[1] };
            layer.busy_with = from.fact(Some(task.to_owned()));
        }
        if let Some(kib) = CHUNK.captures(line).and_then(|captures| captures[1].parse::<u64>().ok()) {
            layer.chunk_bytes = from.fact(kib.checked_mul(1024));
        }
    }
    has_arrays
}

pub(super) fn is_pool_head(line: &str) -> bool {
    line.trim_start().starts_with("pool: ")
}

/// Reads `zpool status`: a pool as an array, with devices that are not online, errors, and what it is busy with.
pub(super) fn read_pools(section: &Section<'_>, into: &mut Reading) -> bool {
    let text = section.text();
    let mut pool: Option<String> = None;
    let mut is_table = false;
    let mut has_pools = false;
    let (mut missing, mut errors) = (0, 0);
    for line in text {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["pool:", name, ..] => {
                (pool, is_table, missing, errors) = (Some(name.to_owned()), false, 0, 0);
                let (layer, from) = into.layer(name);
                (layer.kind, layer.level) = (LayerKind::Array, from.fact(Some("zfs".to_owned())));
                has_pools = true;
            }
            ["scan:", task @ ("resilver" | "scrub"), "in", "progress", ..] => {
                if let Some(name) = &pool {
                    let (layer, from) = into.layer(name);
                    layer.busy_with = from.fact(Some(task.to_owned()));
                }
            }
            ["NAME", "STATE", "READ", "WRITE", "CKSUM"] => is_table = true,
            ["errors:", ..] | [] => is_table = is_table && words.is_empty(),
            [name, state, read, write, checksum, ..] if is_table => {
                let is_group = ["mirror", "raidz", "draid", "spare", "replacing"]
                    .iter()
                    .any(|group| name.starts_with(group));
                let counts: u64 = [read, write, checksum].iter().filter_map(|text| bytes_of(text)).sum();
                let is_pool = pool.as_deref() == Some(name);
                if !is_group && !is_pool {
                    missing += u64::from(!matches!(state, "ONLINE" | "AVAIL" | "INUSE"));
                    errors += counts;
                }
                if let Some(pool) = &pool {
                    let (layer, from) = into.layer(pool);
                    layer.members_missing = from.fact(Some(missing));
                    layer.member_errors = from.fact(Some(errors));
                }
            }
            _ => {}
        }
    }
    has_pools
}
