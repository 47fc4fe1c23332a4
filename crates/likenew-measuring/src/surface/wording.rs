//! The sentences of surface.

use std::ops::Range;

use likenew_core::findings::{Action, Answer};
use likenew_core::io::Op;
use likenew_core::procedure::Descriptor;
use likenew_core::quantity::{Factor, Latency, Rate, Share, Size, SpeedChange, change_range, count, range};
use likenew_core::units::{Nanos, Number, digits, exact_size};
use likenew_core::workload::Mix;

use likenew_procedure_support::answers;
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{capitalize, number_of, use_nearest_multiple};

use super::{Finding, SlowRegion};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "surface",
    question: "Is the drive equally fast at all addresses, how long is a random access, and are there slow regions?",
    writes: "nothing, unless --op write is given; in a folder it first writes temporary files to read",
    manual: include_str!("../surface.md"),
};

pub(super) const CURVE_TITLE: &str = "Speed by address";
pub(super) const DISTANCE_TITLE: &str = "Access time by distance";
pub(super) const DISTANCE_AXIS: &str = "distance from the previous access";
pub(super) const OFFSET_TITLE: &str = "Access time by address";

/// The title of a chart along the addresses; it names the first bytes if only these were measured.
pub(super) fn by_address(title: &str, first: Option<Size>) -> String {
    first.map_or_else(|| title.to_owned(), |first| format!("{title}, first {first}"))
}

impl Finding {
    /// What a chart marks it with.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Unreadable => "unreadable",
            Self::Hiccup => "slow once",
            Self::Undecided => "slow?",
        }
    }
}

likenew_core::sentences! {
    pub(super) fn neither_read_nor_write(op: Mix) = "op = {op} cannot be mapped; use read or write";
    pub(super) fn bytes_are_not_of_blocks(bytes: u64, block: u64) =
        "bytes = {} is not a multiple of the block of {}; {}",
        exact_size(bytes), exact_size(block), use_nearest_multiple(bytes, block, block..=u64::MAX);
    pub(super) fn points_exceed_span(points: u32, each: Size, span: Size) =
        "{points} points of {each} exceed the target's {span}; use fewer points or fewer bytes";
    pub(super) fn target_too_small(span: Size) = "{span} is too small to measure; use a larger target";
    pub(super) fn only_a_share_was_measured(share: Share, bytes: Size) =
        "{share} of the addresses were measured ({bytes}); slow regions between the points are missed.";
    /// For a single region, whose other numbers are in the answer.
    pub(super) fn measured_again(again: Rate) = "Measured again, it reached {again}.";
    pub(super) fn more_regions(more: usize) =
        "{} in the table slow_regions.", count(more as u64, "more region");
    /// `ratio`: the first zone over the last.
    pub(super) fn several_zones(zones: usize, ratio: f64) =
        "There are {zones} zones; the first is {} as fast as the last.", Factor(ratio);
    pub(super) fn falls_smoothly(points: usize) =
        "Speed falls smoothly over {points} points; 1,000 points may show zones.";
    pub(super) fn all_accesses_take_the_same(probes: usize) =
        "All {} accesses took the same time.", Number(probes as f64);
    pub(super) fn band_of_one_turn(turn: Latency) =
        "Access times fill a uniform band above the seek curve, {turn} wide: one rotation.";
    pub(super) fn accesses_left_out(far: usize, accesses: usize) =
        "{far} of {accesses} accesses are far from that band and were left out of the fit.";
    pub(super) fn usual_speed(rpm: f64) =
        "Of the usual speeds only {} rpm is within the interval.", Number(rpm);
    /// `Read cache`.
    fn cache_question(op: Mix) = "{} cache", capitalize(operation(op));
    fn start_may_be(ratio: Estimate) =
        "The start may be {}.", change_range(SpeedChange(ratio.ends()[0]), SpeedChange(ratio.ends()[1]));
}

fn operation(op: Mix) -> &'static str {
    if op == Mix::Only(Op::Write) { "write" } else { "read" }
}

/// Mean, slowest and fastest speed along the addresses.
#[derive(Clone, Copy)]
pub(super) struct CurveSpeeds {
    pub(super) mean: Rate,
    pub(super) slowest: Rate,
    pub(super) fastest: Rate,
}

impl CurveSpeeds {
    fn text(&self) -> String {
        format!("{} on average ({} across the drive)", self.mean, range(self.slowest, self.fastest))
    }
}

pub(super) fn summary(op: Mix, speeds: &CurveSpeeds, access: Option<Latency>) -> String {
    let op = operation(op);
    match access {
        Some(access) => format!("Sequential {op} {}; a random access takes {access}.", speeds.text()),
        None => format!("Sequential {op} {}.", speeds.text()),
    }
}

pub(super) fn speed(op: Mix, speeds: &CurveSpeeds, points: usize, span: Size) -> Answer {
    let (op, points) = (operation(op), count(points as u64, "point"));
    Answer::info(format!("sequential_{op}"), format!("Sequential {op}"), speeds.text())
        .with_evidence(format!("{points} over {span} of addresses, each measured once."))
}

pub(super) const ADDRESSES_OF_A_FILE: &str =
    "These are addresses within a file; the file system decides where they are on the drive.";

impl SlowRegion {
    /// `8 MiB at 298 GiB, 12.0 MB/s instead of 95.1 MB/s`; if a single I/O was slow, its latency.
    fn short(&self) -> String {
        let place = format!("{} at {}", Size(self.to_bytes - self.from_bytes), Size(self.from_bytes));
        let latency_max = Nanos(self.latency_ns_max);
        match (self.bytes_per_s.map(Rate), self.expected_bytes_per_s.map(Rate)) {
            (Some(rate), Some(expected)) if rate < expected => {
                format!("{place}, {rate} instead of {expected}, slowest I/O {latency_max}")
            }
            _ => format!("{place}, slowest I/O {latency_max}"),
        }
    }
}

pub(super) fn region(region: &SlowRegion) -> String {
    match region.retest_bytes_per_s.map(Rate) {
        Some(again) => format!("{}; measured again: {again}.", region.short()),
        None => format!("{}.", region.short()),
    }
}

/// `1 region is slow every time; 8 MiB at …`: the first region, with what was found for `verb` of one or of several.
fn found_regions(regions: usize, verbs: [&str; 2], finding: &str, first: &SlowRegion) -> String {
    let [verb, which] = if regions == 1 { [verbs[0], ""] } else { [verbs[1], "the first: "] };
    format!("{} {verb} {finding}; {which}{}", count(regions as u64, "region"), first.short())
}

const IS: [&str; 2] = ["is", "are"];
const WAS: [&str; 2] = ["was", "were"];

/// `has_smart`: whether the drive can be asked for its health.
pub(super) fn replace_slow_drive(has_smart: bool) -> Action {
    let why = if has_smart {
        "Back up; replace the drive if it reports pending sectors (attribute 197) or media errors"
    } else {
        "Back up; replace the drive if these regions stay slow"
    };
    Action::new("back_up", why)
}

pub(super) const SCATTERED_DATA: &str = "So many regions at once are scattered data rather than a bad medium, as in the \
     persistent cache of a shingled disk. Leave the drive idle for some hours and measure again.";

/// `gaps`: number of points and their share of the addresses, if some were left out; `least`: the slowest point over
/// its expected speed; `limit`: the share below which a point is slow.
pub(super) fn no_slow_region(gaps: Option<(usize, Share)>, least: Share, limit: Share) -> Answer {
    let answer = match gaps {
        Some((points, share)) => {
            let points = count(points as u64, "point");
            format!("none at {points}, {share} of the addresses; --whole measures all")
        }
        None => "none".to_owned(),
    };
    Answer::good("slow_regions", "Slow regions", answer).with_evidence(format!(
        "The slowest point reaches {least} of the speed expected there; a region counts as slow below {limit}."
    ))
}

// What the actions are good for

pub(super) const MEASURE_ALL: &str = "Measure every address";
pub(super) const MEASURE_AGAIN: &str = "Measure the slow regions again";
pub(super) const MORE_POINTS: &str = "Measure more points";
pub(super) const LARGER_POINTS: &str =
    "Measure larger points, which vary less, while nothing else uses the drive";
pub(super) const MORE_ACCESSES: &str = "Measure more accesses while nothing else uses the drive";
pub(super) const CHECK_OLD_DATA: &str = "Compare old data with data that was just written";

const ENDS_ID: &str = "start_vs_end";

answers! {
    ("slow_regions", "Slow regions") => {
        pub(super) fn slow_every_time(regions: usize, first: &SlowRegion) =
            problem("{}", found_regions(regions, IS, "slow every time", first));
        pub(super) fn slow_not_measured_again(regions: usize, first: &SlowRegion) =
            unknown("{}", found_regions(regions, WAS, "slow and not measured again", first));
        pub(super) fn slow_sometimes(regions: usize, first: &SlowRegion) =
            unknown("{}", found_regions(regions, WAS, "slow, but not every time", first));
        /// No slow region in a run in which I/Os failed, which another answer says.
        pub(super) fn no_slow_region_without_errors(limit: Share) =
            good("none among the points that read without errors")
            .with_evidence(format!("A region counts as slow below {limit}."));
        pub(super) fn too_few_points(points: usize) =
            unknown("{} are too few to find one", count(points as u64, "point"));
        pub(super) fn too_noisy() =
            unknown("speeds vary so much that a region at half the speed would not stand out");
    }
    ("slow_once", "Slow once") => {
        pub(super) fn slow_once(regions: usize, first: &SlowRegion) =
            info("{}", found_regions(regions, WAS, "slow once and normal when measured again", first))
            .caveat("Another program may have used the drive at that moment; a drive that does this often stalls.");
    }
    (ENDS_ID, "Start vs end") => {
        pub(super) fn ends_are_alike(rate: Rate) = info("equally fast, {rate}");
        /// `ratio`: the start over the end.
        pub(super) fn speed_falls(first: Rate, last: Rate, ratio: f64) =
            info("{} → {last}, {} slower; normal for a hard disk, not for flash",
                 number_of(first), Share(1.0 - 1.0 / ratio));
        /// The same fall on a hard disk, which is normal.
        pub(super) fn disk_falls(first: Rate, last: Rate) =
            info("{} → {last}, normal for a hard disk", number_of(first));
        pub(super) fn start_is_slower(first: Rate, last: Rate, ratio: f64) =
            info("the start is {} slower, {first} vs {last}", Share(1.0 - ratio));
        /// Reads of the start at one level and of the rest at another, which has two possible causes. `share`: of
        /// the start.
        pub(super) fn start_reads_slower(share: Share, first: Rate, last: Rate) =
            unknown("the first {share} reads at {first}, the rest at {last}: old data, or the rest is empty");
        pub(super) fn ends_are_open(first: Rate, last: Rate, ratio: Estimate) =
            unknown("{} vs {last}; no clear difference", number_of(first))
            .with_evidence(start_may_be(ratio));
    }
    ("access_time", "Access time") => {
        pub(super) fn access_grows_with_distance(mean: Latency) =
            info("{mean} on average, longer over longer distances, as on any hard disk");
        pub(super) fn access_ignores_distance(mean: Latency) =
            info("{mean} on average, independent of distance");
        pub(super) fn access_is_open(mean: Latency, probes: usize) =
            unknown("{mean} on average; {} cannot tell whether distance matters",
                    count(probes as u64, "measurement"));
    }
    ("rotation", "Rotation") => {
        pub(super) fn rotation_is_open(kept: usize, accesses: usize, kurtosis: f64, width: Latency) =
            unknown("not visible in the access times")
            .with_evidence(format!(
                "Waiting for a rotation makes a uniform band above the seek curve. Here {} of {} accesses make none: their \
                 width is {width}, their kurtosis {kurtosis:.2} instead of 1.8.",
                Number(kept as f64), Number(accesses as f64)));
    }
    (format!("cached_{}", operation(op)), cache_question(op)) => {
        /// `times`: ratio to the fastest point.
        pub(super) fn burst(op: Mix, bytes: Size, rate: Rate, times: f64) =
            info("{rate} for the same {bytes} repeatedly, {} the fastest point", Factor(times));
        /// A burst that is no faster than the medium.
        pub(super) fn no_burst(op: Mix, bytes: Size, rate: Rate) =
            info("none (the same {bytes} repeatedly: {rate})");
    }
}

/// For a run with fewer points and accesses than by default.
pub(super) fn usual_measurement(again: &Rerun, points: u32, accesses: u32) -> Action {
    let (points, accesses) = (count(points.into(), "point"), Number(accesses.into()));
    again.action("more_points", &format!("Measure {points} and {accesses} accesses"))
}

/// Whether an answer is about start and end.
pub(super) fn is_about_ends(answer: &Answer) -> bool {
    answer.id == ENDS_ID
}

pub(super) const DISKS_FALL: &str =
    "Hard disks are built like this: the outer tracks come first and hold more data.";
pub(super) const FLASH_SHOULD_NOT_FALL: &str =
    "On flash, another program or heat may have slowed it down meanwhile.";

pub(super) const OLD_DATA_READS_SLOWLY: &str = "Flash reads data slowly that was written long ago, as it needs read retries; the oldest data is often at the start.";
pub(super) const EMPTY_END_LOOKS_FAST: &str =
    "Addresses that hold no data are answered without reading flash, so an empty end looks fast as well.";

pub(super) fn rank_correlation(correlation: Estimate, probes: usize) -> String {
    let (value, [low, high], probes) = (correlation.value, correlation.ends(), Number(probes as f64));
    format!(
        "The rank correlation of access time and distance is {value:.2} ({low:.2} to {high:.2}) over {probes} accesses."
    )
    .replace('-', "−")
}

pub(super) const WRITES_END_IN_MEMORY: &str =
    "A write ends once the drive's cache holds it, so only reads show seek times.";

/// `usual_rpm`: the one usual speed that fits.
pub(super) fn rotation(
    rpm: f64,
    usual_rpm: Option<f64>,
    average_seek: Latency,
    full_stroke: Latency,
) -> Answer {
    let speed = match usual_rpm {
        Some(usual_rpm) => format!("{} rpm (measured {})", Number(usual_rpm), digits(rpm)),
        None => format!("{} rpm", digits(rpm)),
    };
    let answer = format!("{speed}; seek time {average_seek} on average, {full_stroke} full stroke");
    Answer::info("rotation", "Rotation", answer)
}

pub(super) const SEEKS_INCLUDE_COMMAND: &str =
    "Seek times include command overhead, as the drive's cache did not answer.";

pub(super) const BURST_IS_CACHE: &str = "This is what the drive's cache and its link deliver.";
pub(super) const BURST_IS_MEDIUM: &str = "No cache of the drive answers faster than its medium.";
pub(super) const BURST_ONCE: &str = "It was measured once.";

// Names of workloads and metrics

likenew_core::sentences! {
    /// `8 MiB at 301 GiB`, by which the owner finds it.
    pub(super) fn point_name(range: &Range<u64>) =
        "{} at {}", Size(range.end - range.start), Size(range.start);
    pub(super) fn retest_name(point: usize, round: u32) = "point {point} again {round}";
    pub(super) fn points_do_not_fit(points: u32, block: u64, span: u64) =
        "{points} points of {} each do not fit into {}; give fewer --points or a smaller --block",
        Size(block), Size(span);
}

pub(super) const RANK_CORRELATION: &str = "rank correlation with distance";

#[cfg(test)]
mod tests {
    use likenew_procedure_support::wording::answer_as_summary;

    use likenew_stats::interval::Interval;

    use super::*;

    const READ: Mix = Mix::Only(Op::Read);

    #[test]
    fn the_summary_has_speed_and_access_time() {
        let speeds = CurveSpeeds { mean: Rate(91.2e6), slowest: Rate(57e6), fastest: Rate(114e6) };
        assert_eq!(
            summary(READ, &speeds, Some(Latency(12.34e6))),
            "Sequential read 91.2 MB/s on average (57.0–114 MB/s across the drive); a random access takes 12.3 ms."
        );
        assert_eq!(
            speed(READ, &speeds, 100, Size(640 << 30)).evidence,
            ["100 points over 640 GiB of addresses, each measured once."]
        );
    }

    #[test]
    fn slow_regions_have_a_place_and_a_speed() {
        let region_text = SlowRegion {
            from_bytes: 298 << 30,
            to_bytes: (298 << 30) + (8 << 20),
            finding: Finding::Slow,
            bytes_per_s: Some(12e6),
            expected_bytes_per_s: Some(95.1e6),
            retest_bytes_per_s: Some(11.8e6),
            latency_ns_max: 212_000_000,
            point: 1,
        };
        let summary = |answer: Answer| answer_as_summary(&answer);
        assert_eq!(
            summary(slow_every_time(1, &region_text)),
            "Slow regions: 1 region is slow every time; 8 MiB at 298 GiB, 12.0 MB/s instead of 95.1 MB/s, slowest I/O 212 ms."
        );
        assert_eq!(
            summary(slow_not_measured_again(2, &region_text)),
            "Slow regions: 2 regions were slow and not measured again; the first: 8 MiB at 298 GiB, 12.0 MB/s instead of \
             95.1 MB/s, slowest I/O 212 ms."
        );
        assert_eq!(
            region(&region_text),
            "8 MiB at 298 GiB, 12.0 MB/s instead of 95.1 MB/s, slowest I/O 212 ms; measured again: 11.8 MB/s."
        );
        assert_eq!(
            summary(no_slow_region(Some((100, Share(0.125))), Share(0.97), Share(0.8))),
            "Slow regions: none at 100 points, 12% of the addresses; --whole measures all."
        );
        let whole = no_slow_region(None, Share(0.97), Share(0.8));
        assert_eq!(summary(whole.clone()), "Slow regions: none.");
        assert_eq!(
            whole.evidence,
            ["The slowest point reaches 97% of the speed expected there; a region counts as slow below 80%."]
        );
        assert_eq!(summary(too_few_points(4)), "Slow regions: 4 points are too few to find one.");
    }

    #[test]
    fn ends_and_accesses_are_one_line() {
        let ratio = Estimate { value: 1.0, interval: Some(Interval { low: 0.93, high: 1.08 }) };
        let summary = |answer: Answer| answer_as_summary(&answer);
        assert_eq!(
            summary(speed_falls(Rate(114e6), Rate(57e6), 2.0)),
            "Start vs end: 114 → 57.0 MB/s, 50% slower; normal for a hard disk, not for flash."
        );
        assert_eq!(
            summary(start_is_slower(Rate(150e6), Rate(250e6), 0.6)),
            "Start vs end: the start is 40% slower, 150 MB/s vs 250 MB/s."
        );
        assert_eq!(
            summary(ends_are_open(Rate(250e6), Rate(249e6), ratio)),
            "Start vs end: 250 vs 249 MB/s; no clear difference."
        );
        assert_eq!(
            summary(access_ignores_distance(Latency(139e3))),
            "Access time: 139 µs on average, independent of distance."
        );
        assert_eq!(
            summary(rotation(7290.4, Some(7200.0), Latency(8.9e6), Latency(18e6))),
            "Rotation: 7,200 rpm (measured 7,290); seek time 8.90 ms on average, 18.0 ms full stroke."
        );
        assert_eq!(
            summary(rotation(6012.0, None, Latency(8.9e6), Latency(18e6))),
            "Rotation: 6,010 rpm; seek time 8.90 ms on average, 18.0 ms full stroke."
        );
        assert_eq!(
            summary(no_burst(READ, Size(256 << 10), Rate(81.5e6))),
            "Read cache: none (the same 256 KiB repeatedly: 81.5 MB/s)."
        );
        assert_eq!(
            summary(disk_falls(Rate(117e6), Rate(63.5e6))),
            "Start vs end: 117 → 63.5 MB/s, normal for a hard disk."
        );
        assert_eq!(
            summary(start_reads_slower(Share(0.44), Rate(81.5e6), Rate(280e6))),
            "Start vs end: the first 44% reads at 81.5 MB/s, the rest at 280 MB/s: old data, or the rest is empty."
        );
        assert_eq!(
            summary(burst(READ, Size(256 << 10), Rate(287e6), 2.514)),
            "Read cache: 287 MB/s for the same 256 KiB repeatedly, 2.51× the fastest point."
        );
    }
}
