//! What stands out among facts by itself. No cause is concluded from it.

use likenew_core::facts::{Drive, DriveKind, Fact, Facts, FileSystem, Layer, LayerKind};
use likenew_core::units::{amount, rate};
use serde::Serialize;

/// Something worth a look.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Remark {
    /// Whose it is: a layer, a drive, a mount point.
    pub(super) subject: String,
    /// What stands out, as a sentence.
    pub(super) words: String,
}

/// A link that carries less than this part of what it could is worth a look.
const LINK_PART: f64 = 0.95;
/// A file system is called full from here on, in percent.
const FULL_PERCENT: f64 = 90.0;
/// Others' I/O disturbs a measurement from here on, in bytes a second.
const OTHERS_BYTES_PER_S: u64 = 1_000_000;

/// Everything that stands out, from the folder down to the drives.
pub(super) fn remarks(facts: &Facts) -> Vec<Remark> {
    let mut all = Vec::new();
    if let Some(system) = &facts.file_system {
        of_file_system(system, facts, &mut all);
    }
    let rotates = facts.stack.last().and_then(|bottom| bottom.rotates.get()) == Some(true);
    if let Some(layer) = facts.trim_blocked_by().filter(|_| !rotates) {
        of_trim(layer, &mut all);
    }
    facts.stack.iter().for_each(|layer| of_layer(layer, facts, &mut all));
    for drive in &facts.drives {
        of_link(drive, &mut all);
        of_health(drive, &mut all);
        of_counts(drive, &mut all);
        of_knowledge(drive, &mut all);
    }
    all
}

fn remark(subject: &str, words: impl Into<String>) -> Remark {
    Remark { subject: subject.to_owned(), words: words.into() }
}

fn of_file_system(system: &FileSystem, facts: &Facts, all: &mut Vec<Remark>) {
    if let Some(percent) = system.used_percent.get().filter(|percent| *percent >= FULL_PERCENT) {
        all.push(remark(&system.point, format!("The file system is {percent:.0} % full.")));
    }
    if system.compresses.get() == Some(true) {
        all.push(remark(
            &system.point,
            "The file system compresses what is written, so the drive gets fewer bytes.",
        ));
    }
    let flash = facts.drives.iter().any(|drive| drive.identity.rotation_rpm.get() == Some(0));
    if system.trimming.is_sent() == Some(false) && flash && facts.trim_blocked_by().is_none() {
        let reason = system
            .trimming
            .timer_coverage_reason
            .value()
            .filter(|_| system.trimming.timer_enabled.get() == Some(true));
        let reason = reason.map_or_else(|| "no timer for fstrim is enabled".to_owned(), Clone::clone);
        all.push(remark(
            &system.point,
            format!("Nobody tells the drive what is free: it is mounted without discard, and {reason}."),
        ));
    }
}

/// The lowest layer that lets no TRIM pass. Where it is a drive whose bridge announces none, that is said of it anyway.
fn of_trim(layer: &Layer, all: &mut Vec<Remark>) {
    if !layer.kind.is_bottom() {
        let what = layer.kind.words();
        all.push(remark(
            &layer.name,
            format!("TRIM gets no further than this {what}, so that no drive below is told what is free."),
        ));
    } else if !is_unprovisioned(layer) {
        all.push(remark(&layer.name, "It takes no TRIM, so that it is never told what is free."));
    }
}

/// Whether the kernel sends it no TRIM for want of an announcement.
fn is_unprovisioned(layer: &Layer) -> bool {
    layer.provisioning_mode.value().is_some_and(|mode| mode == "full" || mode == "disabled")
}

fn of_layer(layer: &Layer, facts: &Facts, all: &mut Vec<Remark>) {
    let name = &layer.name;
    if let Some(offset) = layer.alignment_offset_bytes.get().filter(|offset| *offset != 0) {
        all.push(remark(
            name,
            format!("It starts {offset} bytes off the drive's own blocks (alignment_offset)."),
        ));
    } else if layer.kind == LayerKind::Partition {
        let below = facts.stack.iter().find(|below| layer.on.contains(&below.name));
        let block = below.and_then(|below| below.physical_block_bytes.get()).unwrap_or(4096).max(4096);
        if layer.misaligned_by(block).is_some_and(|bytes| bytes > 0) {
            all.push(remark(name, format!("It does not start at a multiple of {block} bytes.")));
        }
    }
    if let Some(missing) = layer.members_missing.get().filter(|missing| *missing > 0) {
        all.push(remark(name, format!("The array misses {missing} of its members.")));
    }
    if let Some(busy) = layer.busy_with.value().filter(|busy| !matches!(busy.as_str(), "idle" | "frozen")) {
        all.push(remark(name, format!("The array is busy with something of its own: {busy}.")));
    }
    if is_unprovisioned(layer) {
        all.push(remark(
            name,
            "The kernel sends it no TRIM, since its bridge or controller does not announce any.",
        ));
    }
}

fn of_link(drive: &Drive, all: &mut Vec<Remark>) {
    let (link, name) = (&drive.link, &drive.name);
    if let (Some(now), Some(possible)) = (link.ceiling_bytes_per_s.get(), link.possible_bytes_per_s.get())
        && (now as f64) < LINK_PART * possible as f64
    {
        all.push(remark(
                name,
                format!(
                    "Its link carries {} at most now, and all of its parts could carry {}; a link that saves power may do so while nothing \
                     is asked of it.",
                    rate(now as f64),
                    rate(possible as f64)
                ),
            ));
    }
    if let [drive_link, above @ ..] = &link.hops[..] {
        let slowest = above
            .iter()
            .filter(|hop| hop.bytes_per_s_max.value().is_some())
            .min_by_key(|hop| hop.bytes_per_s_max.get());
        if let (Some(drive_link), Some(slowest)) = (drive_link.bytes_per_s_max.get(), slowest) {
            let most = slowest.bytes_per_s_max.get().unwrap_or(u64::MAX);
            if (most as f64) < LINK_PART * drive_link as f64 {
                all.push(remark(
                    name,
                    format!(
                        "It could take {}, and {} ({}) above it carries {} at most.",
                        rate(drive_link as f64),
                        slowest.kind,
                        slowest.name,
                        rate(most as f64)
                    ),
                ));
            }
        }
    }
    if drive.kind == DriveKind::Usb {
        let slow =
            link.hops.iter().find(|hop| hop.line_bits_per_s.get().is_some_and(|bits| bits <= 480_000_000));
        if let Some(hop) = slow {
            all.push(remark(name, format!("It is connected by USB 2 (at {} {}).", hop.kind, hop.name)));
        }
        if link.driver.value().is_some_and(|driver| driver == "usb-storage") {
            all.push(remark(name, "Its driver is usb-storage, which sends one command at a time."));
        }
    }
}

fn of_health(drive: &Drive, all: &mut Vec<Remark>) {
    let (health, name) = (&drive.health, &drive.name);
    for warning in health.warnings.value().into_iter().flatten() {
        all.push(remark(name, format!("It warns that {warning}.")));
    }
    if let (Some(now), Some(limit)) = (health.temperature_c.get(), health.temperature_warning_c.get())
        && now >= limit
    {
        all.push(remark(name, format!("It has {now:.0} °C, and warns from {limit:.0} °C on.")));
    }
    if health.throttling.get() == Some(true) {
        all.push(remark(name, "It is slowing itself down against heat now."));
    }
    if let Some(used) = health.used_percent.get().filter(|used| *used >= FULL_PERCENT) {
        all.push(remark(name, format!("{used:.0} % of its rated endurance are used.")));
    }
    if let Some(pending) = health.pending_sectors.get().filter(|pending| *pending > 0) {
        all.push(remark(
            name,
            format!("{pending} of its sectors could not be read and wait to be written again."),
        ));
    }
    if drive.host_memory.as_ref().and_then(|memory| memory.is_refused()) == Some(true) {
        let wanted = drive.host_memory.as_ref().and_then(|memory| memory.wanted_bytes.get()).unwrap_or(0);
        all.push(remark(
            name,
            format!("It asks for {} of the host's memory to keep its map in, and has none.", amount(wanted)),
        ));
    }
}

fn of_counts(drive: &Drive, all: &mut Vec<Remark>) {
    let counts = &drive.counts;
    let mut say = |count: &Fact<u64>, words: &dyn Fn(u64) -> String| {
        if let Some(count) = count.get().filter(|count| *count > 0) {
            all.push(remark(&drive.name, words(count)));
        }
    };
    say(&counts.crc_errors, &|count| {
        format!("{count} transfers over its cable came with a wrong checksum, since it was made.")
    });
    say(&counts.link_downshifts, &|count| format!("Its link became slower by itself {count} times."));
    say(&counts.pcie_corrected_errors, &|count| {
        format!("Its link had {count} errors that were put right, since the system started.")
    });
    say(&counts.pcie_uncorrected_errors, &|count| {
        format!("Its link had {count} errors that were not put right.")
    });
    say(&counts.media_errors, &|count| format!("{count} times it could not bring back data."));
    say(&counts.reallocated_sectors, &|count| format!("{count} of its sectors were replaced by spare ones."));
    say(&counts.uncorrectable_sectors, &|count| format!("{count} of its sectors can not be read."));
    say(&counts.throttled_light_s, &|count| {
        format!("It has throttled lightly for {count} s since it counts.")
    });
    say(&counts.throttled_heavy_s, &|count| {
        format!("It has throttled heavily for {count} s since it counts.")
    });
    say(&counts.hot_s, &|count| format!("It was critically hot for {} min since it was made.", count / 60));
    say(&counts.volume_iops_exceeded_us, &|count| {
        format!("The volume's limit of I/Os has held it back for {} s.", count / 1_000_000)
    });
    say(&counts.volume_throughput_exceeded_us, &|count| {
        format!("The volume's limit of bytes has held it back for {} s.", count / 1_000_000)
    });
    say(&counts.instance_iops_exceeded_us, &|count| {
        format!("The virtual machine's limit of I/Os has held it back for {} s.", count / 1_000_000)
    });
    say(&counts.instance_throughput_exceeded_us, &|count| {
        format!("The virtual machine's limit of bytes has held it back for {} s.", count / 1_000_000)
    });
    say(&counts.log_timeouts, &|count| format!("The kernel's log has {count} timeouts of it."));
    say(&counts.log_resets, &|count| format!("The kernel's log has {count} resets of it."));
    say(&counts.log_io_errors, &|count| format!("The kernel's log has {count} I/O errors of it."));
    say(&counts.log_link_errors, &|count| format!("The kernel's log has {count} errors of its link."));
}

fn of_knowledge(drive: &Drive, all: &mut Vec<Remark>) {
    let name = &drive.name;
    if let Some(Some(warning)) = drive.database.warning.value() {
        let warning = warning.split_whitespace().collect::<Vec<_>>().join(" ");
        all.push(remark(name, format!("The database of smartmontools warns: {warning}")));
    }
    if drive.database.shingled.get() == Some(true) {
        all.push(remark(name, "The database of smartmontools calls its family shingled (SMR)."));
    }
    if let Some(Some(by)) = drive.identity.virtual_by.value() {
        all.push(remark(
            name,
            format!("It is a virtual disk ({by}): the medium behind it can not be judged from here."),
        ));
    }
    let others =
        [&drive.others_read_bytes_per_s, &drive.others_write_bytes_per_s].map(|fact| fact.get().unwrap_or(0));
    if others[0].saturating_add(others[1]) >= OTHERS_BYTES_PER_S {
        all.push(remark(
            name,
            format!(
                "Others read {} and wrote {} while nothing was measured.",
                rate(others[0] as f64),
                rate(others[1] as f64)
            ),
        ));
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::Hop;

    use super::*;

    fn words(drive: Drive) -> Vec<String> {
        remarks(&Facts { drives: vec![drive], ..Facts::default() })
            .into_iter()
            .map(|remark| remark.words)
            .collect()
    }

    fn fact<T>(value: T) -> Fact<T> {
        Fact::new(value, "test")
    }

    #[test]
    fn a_link_below_what_its_parts_could_carry_stands_out() {
        let hop = |kind: &str, most| Hop { kind: kind.into(), bytes_per_s_max: fact(most), ..Hop::default() };
        let mut drive = Drive::default();
        drive.link.ceiling_bytes_per_s = fact(985_000_000);
        drive.link.possible_bytes_per_s = fact(3_938_000_000);
        assert!(words(drive.clone())[0].contains("985 MB/s"), "{:?}", words(drive));
        let mut drive = Drive::default();
        drive.link.hops = vec![hop("the drive", 7_877), hop("the port above", 1_969)];
        assert!(words(drive.clone())[0].contains("the port above"), "{:?}", words(drive));
        let mut drive = Drive::default();
        drive.link.hops = vec![hop("the drive", 3_938), hop("the port above", 7_877)];
        assert_eq!(words(drive), [""; 0], "a port may be better than its drive");
    }

    #[test]
    fn nothing_stands_out_of_what_is_not_known_or_zero() {
        let mut drive = Drive::default();
        drive.counts.crc_errors = fact(0);
        drive.health.temperature_c = fact(50.0);
        drive.counts.media_errors = Fact::unknown("it takes root", "SMART");
        assert_eq!(words(drive.clone()), [""; 0]);
        drive.health.temperature_warning_c = fact(50.0);
        drive.counts.crc_errors = fact(7);
        assert_eq!(words(drive).len(), 2);
    }

    #[test]
    fn a_drive_that_takes_no_trim_is_reported_once() {
        let of = |kind, mode: Option<&str>| {
            let provisioning_mode = mode.map_or(Fact::NotQueried, |mode| fact(mode.to_owned()));
            let layer = Layer { kind, takes_trim: fact(false), provisioning_mode, ..Layer::default() };
            let remarks = remarks(&Facts { stack: vec![layer], ..Facts::default() });
            let [remark] = &remarks[..] else { panic!("{remarks:?}") };
            remark.words.clone()
        };
        assert!(of(LayerKind::Crypt, None).contains("no further than this encryption"));
        assert!(of(LayerKind::Disk, None).starts_with("It takes no TRIM"));
        assert!(of(LayerKind::UsbDisk, Some("full")).contains("bridge or controller does not announce"));
    }

    #[test]
    fn a_partition_is_held_against_the_blocks_below_it() {
        let disk = Layer { name: "sda".into(), physical_block_bytes: fact(4096), ..Layer::default() };
        let part = |start| Layer {
            name: "sda1".into(),
            kind: LayerKind::Partition,
            on: vec!["sda".into()],
            start_bytes: fact(start),
            ..Layer::default()
        };
        let of = |start| remarks(&Facts { stack: vec![part(start), disk.clone()], ..Facts::default() }).len();
        assert_eq!((of(63 * 512), of(1 << 20)), (1, 0));
    }
}
