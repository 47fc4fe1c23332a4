//! The workloads that age a drive.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::size::Size;
use likenew_core::until::Until;
use likenew_core::workload::{Arrival, Stream, Workload};

use super::recipe::Recipe;
use super::zone_layout::{ZoneLayout, region, round_down};
use super::{AgeOptions, wording};

/// Prefix of every workload of the aging.
pub(super) const AGING: &str = "aging";

/// Lengths of the writes of small files. Half of all files are no larger than 4 KiB (Agrawal, Bolosky,
/// Douceur and Lorch, "A five-year study of file-system metadata", FAST 2007); the rest is assumed, up to
/// [`FILE_BYTES`].
const FILE_SIZES: &str = "4KiB:50,8KiB:20,16KiB:15,32KiB:10,64KiB:5";
/// Largest small file, and the length of a folder's files.
pub const FILE_BYTES: u32 = 64 << 10;
/// File-system metadata: a thousandth of the span, rewritten by Zipf's law (assumed).
const METADATA_PART: u64 = 1000;
const METADATA_THETA: f64 = 1.0;

const PAGE: u32 = 4096;
const FILL_DEPTH: u32 = 4;
const OVERWRITE_DEPTH: u32 = 32;
/// A pass over the span is split into this many workloads, so that progress shows and a stop takes effect …
const PARTS: u64 = 16;
/// … but a long aging in no more than this.
const PARTS_MAX: u64 = 512;

/// Every workload that ages the drive, in the order they run.
pub(super) fn workloads(options: &AgeOptions, zones: &ZoneLayout) -> Vec<Workload> {
    let span = zones.span.end;
    let bytes = options.bytes.unwrap_or(span);
    match options.recipe {
        Recipe::Fill => fill("fill", options, zones, &zones.span, bytes),
        Recipe::Overwrite => {
            let mut workloads = fill("fill", options, zones, &zones.span, span);
            let each = part_bytes(bytes, span, u64::from(PAGE));
            workloads.extend(parts(bytes, each).enumerate().map(|(index, bytes)| {
                let place = AccessPattern::Random(region(&zones.span));
                let stream = Stream::closed(write(), PAGE, place, OVERWRITE_DEPTH, options.data);
                Workload::new(format!("{AGING}: overwrite {}", index + 1), Until::bytes(bytes), vec![stream])
            }));
            workloads
        }
        Recipe::Churn => {
            let old = zones.span.start..zones.free.start;
            let mut workloads = fill("old files", options, zones, &old, old.end);
            workloads.extend(churn(options, zones, bytes));
            workloads
        }
    }
}

/// Writes a zone sequentially up to this many bytes, again from its start after its end.
fn fill(
    what: &str,
    options: &AgeOptions,
    zones: &ZoneLayout,
    zone: &Range<u64>,
    bytes: u64,
) -> Vec<Workload> {
    let length = zone.end - zone.start;
    let step = u64::from(zones.block);
    let each = part_bytes(bytes, length, step);
    let (mut workloads, mut left, mut at) = (Vec::new(), bytes, zone.start);
    while left > 0 {
        let end = if zone.end - at < 2 * each { zone.end } else { at + each };
        let amount = left.min(end - at);
        let place = AccessPattern::Sequential(region(&(at..end)));
        let stream = Stream::closed(write(), zones.block, place, FILL_DEPTH, options.data);
        let name = format!("{AGING}: {what} {}", workloads.len() + 1);
        workloads.push(Workload::new(name, Until::bytes(amount), vec![stream]));
        left -= amount;
        at = if end == zone.end { zone.start } else { end };
    }
    workloads
}

/// Rounds of files: deletes some first, if deleting has an effect, and creates new ones.
fn churn(options: &AgeOptions, zones: &ZoneLayout, bytes: u64) -> Vec<Workload> {
    let sizes: Size = FILE_SIZES.parse().expect("the sizes of small files are well spelled");
    let deletes = zones.is_folder || options.trim;
    let slots = (zones.free.end - zones.free.start) / u64::from(FILE_BYTES);
    // Half of the files of a full zone per round: some are chosen twice, so that about four in ten go.
    let usual = if deletes { (slots / 2).max(1) * sizes.mean() as u64 } else { zones.span.end / PARTS };
    let each = usual.max(bytes / PARTS_MAX).max(u64::from(FILE_BYTES));
    let mut workloads = Vec::new();
    for (round, bytes) in parts(bytes, each).enumerate() {
        if deletes && round > 0 {
            let place = AccessPattern::Random(region(&zones.free));
            let stream = Stream::closed(Mix::Only(Op::Trim), FILE_BYTES, place, 1, options.data);
            let name = format!("{AGING}: files deleted {}", round + 1);
            workloads.push(Workload::new(name, Until::ops((slots / 2).max(1)), vec![stream]));
        }
        let streams = small_files(&sizes, zones, options.data);
        let name = format!("{AGING}: files made {}", round + 1);
        workloads.push(Workload::new(name, Until::bytes(bytes), streams));
    }
    workloads
}

/// Small files in the holes of the free space. Without a file system, its metadata is written beside them.
fn small_files(sizes: &Size, zones: &ZoneLayout, data: DataClass) -> Vec<Stream> {
    let pattern = AccessPattern::Random(region(&zones.free));
    let arrival = Arrival::Closed { depth: 1 };
    let mut streams = vec![Stream { op: write(), size: sizes.clone(), pattern, arrival, data }];
    if !zones.is_folder {
        let pages = round_down(zones.span.end / METADATA_PART, u64::from(PAGE)).max(u64::from(PAGE));
        let place = AccessPattern::Zipf { region: region(&(0..pages)), theta: METADATA_THETA };
        streams.push(Stream::closed(write(), PAGE, place, 1, data));
    }
    streams
}

/// Bytes that every recipe writes by default, and the range allowed: up to a thousand times the span.
///
/// # Errors
/// A sentence with the allowed range.
pub(super) fn check_bytes(bytes: u64, span: u64) -> Result<(), String> {
    let most = span.saturating_mul(1000);
    if (u64::from(FILE_BYTES)..=most).contains(&bytes) && bytes.is_multiple_of(u64::from(PAGE)) {
        return Ok(());
    }
    Err(wording::bytes_out_of_range(bytes, u64::from(FILE_BYTES), most))
}

fn write() -> Mix {
    Mix::Only(Op::Write)
}

/// Bytes that one workload takes of `bytes`: a part of `length`, in whole steps.
fn part_bytes(bytes: u64, length: u64, step: u64) -> u64 {
    round_down((length / PARTS).max(bytes / PARTS_MAX), step).max(step)
}

/// `bytes` in parts of `each`, the last one with the rest.
fn parts(bytes: u64, each: u64) -> impl Iterator<Item = u64> {
    (0..bytes.div_ceil(each)).map(move |index| each.min(bytes - index * each))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_to_the_whole() {
        assert_eq!(parts(10, 4).collect::<Vec<_>>(), [4, 4, 2]);
        assert_eq!(parts(8, 4).sum::<u64>(), 8);
        assert_eq!(part_bytes(1 << 30, 1 << 30, 1 << 20), 64 << 20);
        assert_eq!(part_bytes(1 << 40, 1 << 30, 1 << 20), 2 << 30);
    }
}
