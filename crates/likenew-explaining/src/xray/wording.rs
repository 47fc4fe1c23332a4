//! Every sentence of an X-ray: the reason of each property, the answers, the summary, the first screen,
//! titles of charts and errors of settings.

use likenew_core::findings::{Action, Answer, Lead, Overview, OverviewTable};
use likenew_core::measurement_error::MeasurementError;
use likenew_core::quantity::{Factor, Iops, Latency, Rate, Share, Size, SpeedChange, range, with_range};
use likenew_core::units::{Nanos, Number, digits, exact_size};
use likenew_procedure_support::wording::{capitalize, lowercase_first};

use super::property::{Key, Property, Reason, Remedy, State};

/// Defines reasons, each a function of its typed parts: the table's words, the sentence as in
/// [`likenew_core::sentences`], and what would decide the property.
macro_rules! reasons {
    ($($(#[$doc:meta])* pub(super) fn $name:ident($($part:ident: $type:ty),*) =
        $how:expr, $text:literal $(, $value:expr)* $(=> $remedy:ident)?;)*) => {
        $($(#[$doc])* pub(super) fn $name($($part: $type),*) -> Reason {
            Reason::new($how, format!($text $(, $value)*))$(.decided_by(Remedy::$remedy))?
        })*
    };
}

// What it is for, and what it writes

pub(super) const QUESTION: &str =
    "What is inside this drive: medium, mapping, caches, parallelism, over-provisioning?";
pub(super) const WRITES: &str = "up to three times the drive, where it may be overwritten; temporary files in a folder; nothing where it may only be read";

// What prevents a test.

/// The table's words for a test that needs a filled drive.
pub(super) const NEEDS_FILL: &str = "needs the drive filled";
/// The table's words for a drive whose latencies vary for other reasons.
pub(super) const UNSTEADY: &str = "drive was not steady";

reasons! {
    pub(super) fn read_only() = "needs to write", "This target may only be read." => Consent;
    pub(super) fn too_few_writes(needed: u64, remaining: u64) = "needs more writes",
        "This test writes {}, and only {} may still be written.", Size(needed), Size(remaining) => MoreWrites;
    pub(super) fn part_of_drive() = "needs the whole drive",
        "This test needs all addresses of the drive, not a part of them." => WholeDrive;
    pub(super) fn no_drive() = "needs a whole drive",
        "This test empties and fills a whole drive, so a folder or a file cannot show it.";
    pub(super) fn fill_missing() = NEEDS_FILL, "The whole drive was not filled in this run." => OtherTests;
    pub(super) fn block_map_not_filled() = "skipped: block map",
        "Not filled, because a block-mapped drive shows the rest without.";
    pub(super) fn fill_unfinished() = "fill did not finish",
        "The sequential fill of the drive did not come to its end.";
    pub(super) fn fill_too_long() = "skipped: simulated fill",
        "Skipped, because a full fill of this simulated drive takes minutes.";
    pub(super) fn short_files() = "files too short", "The files in this folder are too short for this test.";
    pub(super) fn medium_unknown() = "medium unknown",
        "Only flash can be tested for this, and the medium is unknown." => OtherTests;
    pub(super) fn only_flash() = "only flash has one", "Only flash drives have this.";
    pub(super) fn other_mapping() = "only in page maps", "Only a page-mapped drive shows this.";
    pub(super) fn shared_drive() = "others used the drive",
        "Other programs used the drive during the test, and their writes count here, too." => Quiet;
    pub(super) fn not_tested() = "not tested", "No test of this run says anything about it.";
    pub(super) fn failed_io(error: &MeasurementError) = "I/O failed", "The test failed: {error}.";
}

pub(super) const MEASURED_IN_NOISE: &str = "The drive was in use or not steady during this test.";

// Medium.

reasons! {
    pub(super) fn lies_in_memory() = "the system says so",
        "Its bytes lie in memory; there is no drive below.";
    pub(super) fn equal_reads(median: Latency) = "reads equally fast",
        "The median random read takes {median}, independent of seek distance.";
    pub(super) fn rate_limited_reads(back_to_back: Latency, spaced: Latency) = "reads wait for a limit",
        "Reads of one address take {back_to_back} back to back and {spaced} when spaced apart: they wait \
         for a rate limit, not for a medium.";
}

likenew_core::sentences! {
    /// The spread of reads that are not equally fast.
    fn read_spread(median: Latency, spread: Latency) =
        "The median random read takes {median}; 80% of reads lie within {spread} of each other.";
    pub(super) fn rewritten_blocks(before: Latency, after: Latency, blocks: u64) =
        "Reading 8 MiB sequentially took {before}, and {after} after {blocks} of its blocks were \
         overwritten.";
}

pub(super) fn longer_seeks(median: Latency, spread: Latency, correlation: f64) -> Reason {
    Reason::new("latency grows with distance", read_spread(median, spread))
        .and(format!("Latency grows with seek distance (rank correlation {correlation:.2})."))
}

pub(super) fn platter_turns(median: Latency, spread: Latency, cached: Latency) -> Reason {
    Reason::new("reads wait for rotation", read_spread(median, spread))
        .and(format!("Reading the same address again takes {cached}, from the drive's memory."))
}

pub(super) fn network_reads(median: Latency, spread: Latency, log_deviation: f64) -> Reason {
    Reason::new("network-like latency", read_spread(median, spread)).and(format!(
        "Even reads of one address vary as over a network (standard deviation of the log latency {log_deviation:.2})."
    ))
}

pub(super) const BLOCKS_MOVED: &str = "overwritten blocks moved";
pub(super) const SHINGLES_UNCLEAR: &str = "hard disk, SMR unclear";

pub(super) const SHINGLES_UNTESTED: &str =
    "Whether it is shingled (SMR) shows only after some blocks are overwritten.";

// Burst credits.

reasons! {
    pub(super) fn long_reads_needed() = "needs 45 min of reads",
        "Burst credits show only after up to 45 minutes of reads." => LongReads;
    pub(super) fn empty_bucket(level: Iops) = "no credits at the start",
        "Reads ran at {level} from the start and faster after idle time: there are burst credits, and none \
         were left." => Rest;
    pub(super) fn unsteady_bucket(highest: Iops, level: Iops) = UNSTEADY,
        "Reads fell from {highest} to {level}, but the drive was not steady." => Quiet;
    pub(super) fn earned_credits(credits: f64, level: Iops) = "no credits at the start",
        "{} reads ran above the {level} baseline, as many as the idle time had earned; full credits may be \
         more.", Number(credits.round()) => Rest;
    pub(super) fn spent_credits(highest: Iops, credits: f64, level: Iops) = "reads until the rate fell",
        "Reads ran at {highest} for {} I/Os beyond the {level} baseline.", Number(credits.round());
    pub(super) fn unsettled_rate(highest: Iops, elapsed: Nanos) = "read rate did not settle",
        "Reads at up to {highest} had not settled after {elapsed}.";
    pub(super) fn steady_rate(reads: u64, elapsed: Nanos, rate: Iops) = "read rate never fell",
        "{} reads in {elapsed} ran at {rate} from first to last.", Number(reads as f64);
}

// Mapping cache.

reasons! {
    pub(super) fn equal_windows() = "addresses equally fast",
        "Random reads over all addresses are as fast as over a few.";
    pub(super) fn unordered_windows() = "no pattern in latency",
        "Reads over more addresses differ, but do not get slower the more addresses they cover.";
    pub(super) fn slower_windows(few: Latency, rise: Latency, covered: f64) = "more addresses are slower",
        "Reads over few addresses take {few} and over many up to {rise} longer, which fits a cache that \
         covers {}.", Size(covered as u64);
    pub(super) fn fast_start() = "first addresses faster",
        "The first addresses stay faster even among reads of all addresses, so the cache size is unknown.";
}

pub(super) const POOR_FIT: [&str; 2] = ["the fit is too poor", "The fit is too poor to name a size."];

// Parallelism.

reasons! {
    pub(super) fn no_collisions() = "reads never collide",
        "Reads never collide with a reader pinned to one page.";
    pub(super) fn collisions_everywhere() = "one command at a time",
        "Reads collide with a pinned reader at every address: link or firmware take one command at a time, \
         or there is one die.";
    pub(super) fn single_die(faster: Factor) = "all reads collide",
        "Reads collide with a pinned reader at every address, and reads of trimmed addresses run {faster} \
         as fast: flash holds them up, not the link.";
    pub(super) fn irregular_collisions(share: Share) = "collisions: no period",
        "Reads collide with a pinned reader at {share} of addresses, without a clear period.";
    pub(super) fn collisions(share: Share) = "two readers collide",
        "Reads collide with a pinned reader at {share} of addresses.";
    pub(super) fn collisions_when_full(share: Share) = "two readers collide",
        "On the full drive, reads collide with a pinned reader at {share} of addresses.";
}

likenew_core::sentences! {
    pub(super) fn depth_gain(gain: Factor) = "32 reads in flight run {gain} as fast as one.";
}

// Compression.

/// `write_ratio` is the time of writing zeros over that of random data.
pub(super) fn zeros_and_random(zeros: Latency, random: Latency, write_ratio: Share) -> String {
    let is_equal = (write_ratio.0 - 1.0).abs() < EQUAL_WITHIN;
    let writes =
        if is_equal { "equally fast".to_owned() } else { SpeedChange(1.0 / write_ratio.0).to_string() };
    let (zeros, random) = (zeros.to_string(), random.to_string());
    match (zeros == random, is_equal) {
        (true, true) => format!("Zeros and random data read in {zeros} and write equally fast."),
        (true, false) => format!("Zeros and random data read in {zeros}; zeros write {writes}."),
        (false, _) => format!("Zeros read in {zeros}, random data in {random}; zeros write {writes}."),
    }
}

/// A smaller difference between two times of writing is none to a reader. Chosen: timing varies by as much.
const EQUAL_WITHIN: f64 = 0.02;

pub(super) const ZEROS_FASTER: &str = "zeros are faster";
pub(super) const ZEROS_NO_FASTER: &str = "zeros are no faster";
pub(super) const ZEROS_UNCLEAR: &str = "reads and writes disagree";

likenew_core::sentences! {
    pub(super) fn write_pairs(pairs: usize, median: Share) =
        "Over {pairs} pairs of writes, zeros took {median} of the time of random data (median).";
}

// Mapping unit.

reasons! {
    pub(super) fn aligned_alike() = "alignment does not show",
        "Aligned and unaligned writes take equally long: flushes end in the buffer, or nothing is read \
         before a write.";
    pub(super) fn lengths_alike() = "write size does not show",
        "Neither alignment nor length of synced writes matters: flushes end in the buffer, or nothing is \
         read before a write.";
    pub(super) fn unaligned_slower(length: u64, slower: Share) = "unaligned writes slower",
        "Unaligned writes of {} are {slower} slower than aligned ones; longer writes are not.", Size(length);
    pub(super) fn longer_untested(length: u64, slower: Share) = "longer writes not tested",
        "Unaligned writes of {} are {slower} slower than aligned ones; longer writes were not tested.",
        Size(length);
    pub(super) fn shorter_rewritten(short: u64, short_time: Latency, long: u64, long_time: Latency) =
        "shorter writes slower",
        "Sequential synced writes of {} take {short_time} each and of {} only {long_time}, as these \
         continue where the last ended.", Size(short), Size(long);
}

// TRIM.

reasons! {
    pub(super) fn trim_unsupported() = "not announced",
        "The drive, or a layer above it, does not announce TRIM.";
    pub(super) fn trim_of_volume() = "hidden from latency",
        "The read latency of a virtual disk does not depend on what is stored.";
    pub(super) fn trim_of_disk() = "hidden from latency",
        "A hard disk takes equally long to read trimmed and other addresses.";
    pub(super) fn trim_of_folder() = "needs a whole drive",
        "In a folder the file system answers for deleted data; only a whole drive shows this.";
    pub(super) fn unequal_before_trim(one: Latency, other: Latency) = "equal areas read apart",
        "Two areas written alike took {one} and {other} to read before either of them was trimmed." => Quiet;
    pub(super) fn trimmed_at_once(trimmed: Latency, kept: Latency) = "trimmed reads are faster",
        "Right after the TRIM, trimmed addresses are read in {trimmed} and kept ones in {kept}.";
    pub(super) fn trimmed_when_idle(trimmed: Latency, kept: Latency, seconds: u64) =
        "trimmed reads are faster",
        "After {seconds} s of idle time, and not before, trimmed addresses are read in {trimmed} and kept \
         ones in {kept}.";
    pub(super) fn trim_ignored(trimmed: Latency, kept: Latency, seconds: u64) = "trimmed reads no faster",
        "Even after {seconds} s of idle time, trimmed addresses are read in {trimmed} and kept ones in \
         {kept}.";
    pub(super) fn trim_unclear() = TOO_CLOSE,
        "Trimmed and kept addresses take about equally long to read." => Quiet;
}

/// Caveat about a drive whose addresses may never have been written.
pub(super) const PERHAPS_EMPTY: &str =
    "Never-written addresses may be answered without reading flash, so an empty drive looks faster.";

pub(super) const TRIM_IGNORED_CAVEAT: &str =
    "A drive that reads its flash even for trimmed addresses would look the same.";

// SLC cache.

reasons! {
    pub(super) fn could_not_be_emptied() = "could not be emptied",
        "The drive was not empty and could not be emptied, so garbage collection may be what slows writes \
         down.";
    pub(super) fn filled_evenly(rate: Rate) = "filled at one speed",
        "The empty drive filled at {rate} throughout, without a write cliff.";
    pub(super) fn write_cliff(bytes: f64, before: Rate, after: Rate) = "write cliff of first fill",
        "The empty drive took {} at {before} and everything after that at {after}.", Size(bytes as u64);
    pub(super) fn speed_after_cliff(bytes: f64) = "speed after the cliff",
        "The fill continued at this speed after {}.", Size(bytes as u64);
    pub(super) fn cache_size_unknown() = "SLC cache size unknown", "The size of the SLC cache is unknown.";
    pub(super) fn no_room_to_recover() = "no space left to test",
        "No space was left for bursts after idle times.";
}

pub(super) const VAGUE_CLIFF: [&str; 2] =
    ["write cliff too gradual", "The cliff is too gradual to name a size."];

/// What was fast again after each idle time, as pairs of nanoseconds and bytes.
pub(super) fn recoveries(recovered: &[[f64; 2]]) -> Reason {
    let sentences = recovered.iter().map(|[idle, bytes]| {
        format!("After {} of idle time {} were fast again.", Latency(*idle), Size(*bytes as u64))
    });
    Reason { how: "bursts after idle times".into(), evidence: sentences.collect(), remedy: None }
}

pub(super) const RECOVERY_UNCLEAR: &str = "recovery time unclear";

// Idle garbage collection.

reasons! {
    pub(super) fn dies_at_work(short: Latency, long: Latency) = "slower reads after idling",
        "Reads were as fast as usual after up to {short} of idle time, and waited for busy dies after \
         {long} or more.";
    pub(super) fn head_at_work(short: Latency, long: Latency) = "slower reads after idling",
        "Reads were as fast as usual after up to {short} of idle time, and waited for a seek after {long} \
         or more.";
    pub(super) fn idle_without_effect(longest: Latency) = "no slower reads when idle",
        "Reads were as fast as usual even after {longest} of idle time.";
}

pub(super) const CONTRADICTORY_IDLING: [&str; 2] =
    ["idle tests contradict", "Results for other idle times contradict each other."];

// Old data.

reasons! {
    pub(super) fn old_and_fresh(old: Latency, fresh: Latency) = "before and after a rewrite",
        "Data as found took {old} to read, and {fresh} after it was rewritten.";
}

pub(super) const NO_OLD_DATA: [&str; 2] = ["no old data found", "There was no old data to read."];
/// The table's words for a difference that is neither one nor none.
pub(super) const TOO_CLOSE: &str = "too close to call";

// Mapping.

reasons! {
    pub(super) fn nothing_merged(sequential: Latency, first: Latency, random: Latency) =
        "small writes not merged",
        "Synced writes take {sequential} sequentially, {first} at the first address and {random} at random: \
         nothing is merged.";
    pub(super) fn unlocated_merges(sequential: Latency, random: Latency) = "merge type unknown",
        "Synced writes take {sequential} sequentially and {random} at random, so something is merged; \
         writes within one cluster were not measured.";
    pub(super) fn cluster_pauses(bytes: f64, count: usize) = "sequential writes pause",
        "Sequential writes pause every {} ({count} times), and writes to the start of such a cluster are \
         merged.", Size(bytes as u64);
    pub(super) fn merges(sequential: Latency, random: Latency, within: Latency, merge: Latency) =
        "log blocks absorb writes",
        "Synced writes take {sequential} sequentially, {random} at random, and {within} at random within one \
         cluster; a merge takes {merge}.";
}

pub(super) const NOT_FULL_BEFORE: &str =
    "The drive was not full before, so log blocks with nothing to merge would not show.";

/// The table's words for a map without log blocks.
pub(super) const EVERY_WRITE_MERGED: &str = "every write costs a merge";

// Write buffer.

reasons! {
    pub(super) fn buffer_of_unknown_medium() = "medium unknown",
        "How to keep a buffer from draining depends on the medium, which is unknown." => OtherTests;
    pub(super) fn buffer_of_volume() = "burst credits decide",
        "What a cloud volume accepts at once depends on its burst credits.";
    pub(super) fn unsteady_bursts() = "no steady write speed",
        "Bursts slow down and do not settle at one speed." => Quiet;
    pub(super) fn even_bursts(bytes: u64) = "flash keeps up",
        "Bursts of {} are as fast at their end as at their start.", Size(bytes);
    pub(super) fn burst_knee(before: Rate, after: Rate, intake: f64) = "bursts and flushes",
        "A burst is accepted at {before} at first and at {after} after {}.", Size(intake as u64);
    pub(super) fn no_write_waited_for_merges() = "no write had to wait",
        "No write had to wait, however many clusters were being merged.";
    pub(super) fn intake_during_merges(bytes: f64) = "writes during merges",
        "While clusters are merged, {} are accepted before a write has to wait.", Size(bytes as u64);
    pub(super) fn no_write_waited_for_head() = "no write had to wait",
        "No write had to wait while reads kept the head busy.";
    pub(super) fn every_write_waits() = "every write waits",
        "From the first one on, each write waits for the head.";
    pub(super) fn unequal_intake(least: u64, most: u64) = "bursts disagree",
        "Writes had to wait after {} in one burst and after {} in another.", Size(least), Size(most);
    pub(super) fn intake_behind_reads(bytes: u64) = "writes behind reads",
        "While reads keep the head busy, {} are accepted before a write has to wait.", Size(bytes);
}

pub(super) const FLUSHES_AGREE: &str = "Flushes show how much of that was still waiting for the flash.";
pub(super) const FLUSHES_DISAGREE: [&str; 2] =
    ["flushes disagree", "Flushes disagree on how much of that was still waiting for the flash."];
pub(super) const BURSTS_DISAGREE: [&str; 2] = ["bursts disagree", "The bursts disagree."];

pub(super) fn first_wait(bytes: f64, at_ns: f64, programmed: f64) -> Reason {
    let left = match programmed {
        0.0 => "Nothing had left the buffer by then.".to_owned(),
        bytes => {
            format!("By then {} had left the buffer: so much is flushed in that time.", Size(bytes as u64))
        }
    };
    let sentence =
        format!("Bursts have to wait after {}, {} after their start.", Size(bytes as u64), Latency(at_ns));
    Reason::new("bursts and flushes", sentence).and(left)
}

// Erase unit and over-provisioning of a full drive.

reasons! {
    pub(super) fn no_rhythm() = "no regular pauses", "Sequential overwrites do not pause at equal distances.";
    pub(super) fn rhythm(bytes: f64, autocorrelation: f64) = "sequential writes pause",
        "Sequential overwrites pause every {} (autocorrelation {autocorrelation:.2}).", Size(bytes as u64);
    pub(super) fn never_collected() = "no GC within the writes",
        "Scattered overwrites did not become slower for good.";
}

pub(super) const WEAK_RHYTHM: [&str; 2] =
    ["pauses too irregular", "The pauses are too weak or too rare to be sure."];

/// How a full drive took scattered overwrites.
pub(super) struct ScatteredWrites {
    /// Bytes until they became slower.
    pub(super) before: f64,
    /// Slowdown at the end.
    pub(super) slower: Factor,
    /// Bytes to empty blocks.
    pub(super) to_empty_blocks: f64,
    /// Bytes to a cache.
    pub(super) to_cache: f64,
}

pub(super) fn scattered_writes(writes: &ScatteredWrites) -> Reason {
    let reason = Reason::new(
        "writes until GC begins",
        format!(
            "The full drive took {} of scattered writes before they slowed down; in the end they took {} as long.",
            Size(writes.before as u64),
            writes.slower
        ),
    );
    let size = |bytes: f64| Size(bytes.max(0.0) as u64);
    let (empty, cached) = (size(writes.to_empty_blocks), size(writes.to_cache));
    match cached {
        Size(0) => reason.and(format!("In all, {empty} went to empty blocks.")),
        cached => reason.and(format!("In all, {empty} went to empty blocks and {cached} to the SLC cache.")),
    }
}

pub(super) const GRADUAL_COLLECTION: &str = "slowed too gradually";
pub(super) const UNCERTAIN_SPARE: [&str; 2] = ["too uncertain", "Too uncertain for a percentage."];

pub(super) const KEPT_BLOCKS_ASSUMED: &str =
    "Open and pre-erased blocks are assumed to be three or four on each die.";

// What disturbs a measurement.

likenew_core::sentences! {
    /// Difference between equal rounds of reads.
    pub(super) fn unequal_rounds(share: Share) = "Equal rounds of reads differ by {share}.";
    pub(super) fn outliers(share: Share, factor: Factor) =
        "At least {share} of reads took more than {factor} the usual time.";
    pub(super) fn slow_reads(share: Share) =
        "At least {share} of reads of one address took 1.5× the usual time or more.";
    /// I/Os of other programs, as the kernel counts them.
    pub(super) fn background_io(ios: u64, elapsed: Nanos, rate: Iops) =
        "The kernel counted {} I/Os of other programs in {elapsed} ({rate}).", Number(ios as f64);
}

/// The first answer if anything disturbs the measurement.
pub(super) fn disturbance(disturbances: Vec<String>, repeat: Option<Action>) -> Answer {
    let answer = Answer::unknown(
        DISTURBANCE,
        "Disturbance",
        "other programs use the drive, or its latency is not steady; results are less certain",
    );
    let answer = disturbances.into_iter().fold(answer, Answer::with_evidence);
    repeat.into_iter().fold(answer, Answer::action)
}

pub(super) const DISTURBANCE: &str = "disturbance";

// Answers.

/// Of each property the stable id of its answer, its question, and its words in the summary: with `{}` for the
/// value if it was found, and others if it is absent. A disk's write buffer is called a cache.
fn words(key: Key, is_disk: bool) -> [&'static str; 4] {
    match key {
        Key::Medium => ["medium", "Medium", "{}", ""],
        Key::Mapping => ["mapping", "Mapping", "{}", ""],
        Key::MapPageBytes => ["map_unit", "Mapping unit", "{} mapping unit", ""],
        Key::EraseUnitBytes => ["erase_unit", "Erase unit (superblock)", "{} erase unit", ""],
        Key::WriteBufferBytes if is_disk => {
            ["write_buffer", "Write cache", "{} write cache", "no write cache"]
        }
        Key::WriteBufferBytes => ["write_buffer", "Write buffer", "{} write buffer", "no write buffer"],
        Key::SlcCacheBytes => ["slc_cache", "SLC cache", "{} SLC cache", "no SLC cache"],
        Key::SlcSpeedAfterBytesPerS => ["slc_speed_after", "Writes after SLC cache", "", ""],
        Key::SlcRecoveryNs => ["slc_recovery", "SLC cache recovery (half)", "", ""],
        Key::Parallelism => ["parallel_dies", "Dies", "{} dies", ""],
        Key::StripeBytes => ["stripe", "Stripe per die", "", ""],
        Key::OverProvisioningPercent => {
            ["over_provisioning", "Over-provisioning", "{} over-provisioning", ""]
        }
        Key::Compression => {
            ["compression", "Compression", "the controller compresses data", "no compression"]
        }
        Key::Trim => ["trim", "TRIM", "TRIM {}", "TRIM not supported"],
        Key::IdleCollectionNs => ["idle_gc_start", "Idle GC starts after", "idle GC after {}", "no idle GC"],
        Key::OldDataReadRatio => [
            "old_data_reads",
            "Read time of old data",
            "old data takes {} as long to read",
            "old data as fast as fresh",
        ],
        Key::TokenBucketIos => ["burst_credits", "Burst credits", "burst credits for {}", "no burst credits"],
        Key::MapCacheBytes => {
            ["mapping_cache", "Mapping table", "mapping (FTL) cache for {}", "mapping table fully cached"]
        }
    }
}

fn word(key: Key, word: &'static str) -> &'static str {
    match (key, word) {
        (Key::Medium, "disk") => "hard disk",
        (Key::Medium, "shingled_disk") => "shingled hard disk",
        (Key::Medium, "virtual") => "virtual disk",
        (Key::Mapping, "page") => "page-mapped",
        (Key::Mapping, "block") => "block-mapped",
        (Key::Mapping, "hybrid") => "hybrid (log blocks)",
        (Key::Trim, "immediate") => "takes effect at once",
        (Key::Trim, "idle") => "takes effect when idle",
        (_, word) => word,
    }
}

/// The word of a property, short enough for a narrow column.
fn short_word(key: Key, text: &'static str) -> &'static str {
    match (key, text) {
        (Key::Mapping, "hybrid") => "hybrid",
        (Key::Trim, "immediate") => "at once",
        (Key::Trim, "idle") => "when idle",
        (key, text) => word(key, text),
    }
}

fn absence(key: Key) -> &'static str {
    match key {
        Key::Compression => "no",
        Key::Trim => "not supported",
        Key::MapCacheBytes => "fully cached",
        Key::OldDataReadRatio => "as for fresh data",
        _ => "none",
    }
}

/// The number of a property with its unit.
fn number(key: Key, value: f64) -> String {
    match key.unit() {
        "bytes" => Size(value.round() as u64).to_string(),
        "bytes/s" => Rate(value).to_string(),
        "ns" => Latency(value).to_string(),
        "%" => Share(value / 100.0).to_string(),
        _ if key == Key::TokenBucketIos => format!("{} I/Os", digits(value)),
        _ if key == Key::OldDataReadRatio => Factor(value).to_string(),
        _ => Number(value.round()).to_string(),
    }
}

fn value(property: &Property) -> String {
    match property.state {
        State::Word(text) => word(property.key, text).into(),
        State::Number { value, .. } => number(property.key, value),
        State::Absent => absence(property.key).into(),
        State::Undecided => "unknown".into(),
    }
}

/// The question of a property. A mapping table that is only partly in memory has a cache.
fn question(property: &Property, is_disk: bool) -> &'static str {
    match (property.key, &property.state) {
        (Key::MapCacheBytes, State::Number { .. }) => "Mapping (FTL) cache",
        (key, _) => words(key, is_disk)[1],
    }
}

/// Whether the medium was found to be a hard disk.
pub(super) fn is_disk(properties: &[Property]) -> bool {
    let medium = properties.iter().find(|property| property.key == Key::Medium);
    matches!(medium.and_then(Property::text), Some("disk" | "shingled_disk"))
}

/// The answer about a property, and what would decide it.
pub(super) fn answer(property: &Property, is_disk: bool, action: Option<Action>) -> Answer {
    let Property { key, state, confidence, reason, caveats, .. } = property;
    let ([id, ..], question) = (words(*key, is_disk), question(property, is_disk));
    let mut answer = match *state {
        State::Undecided => Answer::unknown(id, question, format!("unknown ({})", reason.how)),
        State::Number { value, low, high } => {
            let text = with_range(number(*key, value), number(*key, low), number(*key, high));
            Answer::info(id, question, text).estimate(value, low, high, key.unit())
        }
        State::Word(_) | State::Absent => Answer::info(id, question, value(property)),
    };
    answer.evidence.clone_from(&reason.evidence);
    answer.caveats.clone_from(caveats);
    if property.is_known() && *confidence < 0.9 {
        answer = answer.caveat(format!("This is {} likely.", Share(*confidence)));
    }
    answer.actions.extend(action);
    answer
}

// Summary and first screen.

/// A property in the summary; nothing for an unknown one.
fn summary_words(property: &Property, is_disk: bool) -> Option<String> {
    let [.., found, absent] = words(property.key, is_disk);
    match property.state {
        State::Undecided => None,
        State::Absent | State::Word("no") => Some(absent.into()),
        State::Word(_) | State::Number { .. } => Some(found.replace("{}", &value(property))),
    }
}

/// The most telling properties first.
const SUMMARY_ORDER: [Key; 14] = [
    Key::Medium,
    Key::Mapping,
    Key::Parallelism,
    Key::SlcCacheBytes,
    Key::OverProvisioningPercent,
    Key::WriteBufferBytes,
    Key::TokenBucketIos,
    Key::Trim,
    Key::Compression,
    Key::EraseUnitBytes,
    Key::MapPageBytes,
    Key::IdleCollectionNs,
    Key::OldDataReadRatio,
    Key::MapCacheBytes,
];
/// As many properties as fit into a sentence of 25 words.
const SUMMARY_PROPERTIES_MAX: usize = 5;

/// The result, in a sentence or two.
pub(super) fn summary(properties: &[Property], problem: Option<&Answer>, is_disturbed: bool) -> String {
    let is_disk = is_disk(properties);
    let describe = |key: &Key| {
        let property = properties.iter().find(|property| property.key == *key)?;
        summary_words(property, is_disk)
    };
    let words: Vec<String> = SUMMARY_ORDER.iter().filter_map(describe).take(SUMMARY_PROPERTIES_MAX).collect();
    let known = properties.iter().filter(|property| property.is_known()).count();
    let words = capitalize(&words.join(", "));
    let total = properties.len();
    let result = match known {
        0 => "No property of this drive could be found.".into(),
        known if known == total => format!("{words}."),
        known => format!("{words} ({known} of {total} properties found)."),
    };
    match problem {
        Some(problem) => format!("{}: {}. {result}", problem.question, problem.answer),
        None if is_disturbed => {
            format!("{result} The drive was in use or not steady, so this is less certain.")
        }
        None => result,
    }
}

/// The table of properties, known ones first; `remarks` are ids of answers that get a line.
pub(super) fn overview(properties: &[Property], remarks: Vec<String>) -> Overview {
    let mut table = OverviewTable::new(["property", "value", "range", "confidence", "how"]);
    let is_disk = is_disk(properties);
    let (known, unknown): (Vec<&Property>, Vec<&Property>) =
        properties.iter().partition(|property| property.is_known());
    for property in known.into_iter().chain(unknown) {
        let Property { key, state, confidence, reason, .. } = property;
        let shown = match *state {
            State::Word(text) => short_word(*key, text).into(),
            _ => value(property),
        };
        let interval = match *state {
            State::Number { low, high, .. } => range(number(*key, low), number(*key, high)),
            _ => String::new(),
        };
        let interval = if interval == shown { String::new() } else { interval };
        let confidence = if property.is_known() { Share(*confidence).to_string() } else { String::new() };
        table.push([label(property, is_disk), shown, interval, confidence, reason.how.clone()]);
    }
    Overview { lead: Lead::Summary, answers: remarks, table: Some(table), series: None }
}

/// The property as a row heading.
fn label(property: &Property, is_disk: bool) -> String {
    let key = property.key;
    match key {
        // The values "at once" and "when idle" have no verb.
        Key::Trim if matches!(property.state, State::Word("immediate" | "idle")) => {
            "TRIM takes effect".into()
        }
        Key::SlcCacheBytes | Key::SlcRecoveryNs | Key::Trim => question(property, is_disk).into(),
        _ => lowercase_first(question(property, is_disk)),
    }
}

// Actions.

/// What would decide an unknown property; `has_limit` if the plan limits what is written.
pub(super) fn action(remedy: Remedy, has_limit: bool) -> Action {
    let [id, why] = match remedy {
        Remedy::Quiet => ["repeat", "Run again while nothing else uses the drive"],
        Remedy::MoreWrites if has_limit => ["more_writes", "Run without a limit on what is written"],
        Remedy::MoreWrites => ["more_writes", "Run with more writes allowed"],
        Remedy::Consent => ["consent", "Run with --consent ID, which lets it overwrite the target"],
        Remedy::WholeDrive => ["whole_drive", "Run over the whole drive, which fills it"],
        Remedy::OtherTests => ["all_tests", "Run all tests, as some need what others find"],
        Remedy::LongReads => ["long_reads", "Read until the credits are used up"],
        Remedy::Rest => ["rest", "Leave the drive idle for some hours, then run this"],
    };
    Action::new(id, why)
}

/// For a drive that needs consent again.
pub(super) fn with_consent(action: Action) -> Action {
    Action { why: format!("{}, with the same --consent", action.why), ..action }
}

// Errors of settings.

likenew_core::sentences! {
    pub(super) fn no_such_test(name: &str, names: &[&str]) =
        "only: unknown test \"{name}\"; the tests are {}", names.join(", ");
    pub(super) fn too_few_bytes(least: u64) = "bytes: give at least {} in a folder", exact_size(least);
    pub(super) fn span_too_short(span: u64, least: u64) =
        "span: {} is too little to measure; give at least {}", Size(span), Size(least);
}

// Titles of charts.

pub(super) const READS_BY_DISTANCE: &str = "How long does a random read take, by seek distance?";
pub(super) const READS_IN_ORDER: &str = "How long do sequential reads take, before and after overwriting?";
pub(super) const READS_OVER_TIME: &str = "How fast are random reads over time?";
pub(super) const READS_BY_WINDOW: &str = "How long does a random read take, by the addresses read?";
pub(super) const CONFLICTS_BY_PLACE: &str =
    "How long does a read take, by its address, beside a pinned reader?";
pub(super) const OLD_AND_FRESH_READS: &str = "What share of reads takes how long, as found and rewritten?";
pub(super) const ZEROS_AND_RANDOM_DATA: &str = "Are zeros written and read faster than random data?";
pub(super) const ALIGNED_AND_SHIFTED: &str = "Does alignment of writes matter?";
pub(super) const SYNCED_SEQUENTIAL: &str = "How long does a synced sequential write take?";
pub(super) const TRIMMED_READS: &str = "How long do trimmed addresses take to read?";
pub(super) const PAUSES_IN_ORDER: &str = "Where do sequential writes pause?";
pub(super) const BUFFER_BURST: &str = "How much is accepted before the flash has to keep up?";
pub(super) const BUFFER_MERGES: &str = "How much is accepted while the flash is merging?";
pub(super) const BUFFER_DISK: &str = "When do writes begin to wait?";
pub(super) const FIRST_FILL: &str = "How fast does an empty drive fill?";
pub(super) const COST_OF_OVERWRITING: &str = "What do scattered overwrites of a full drive cost?";
pub(super) const PAUSES_OF_ERASING: &str = "When do writes pause, folded over one erase unit?";
pub(super) const READS_AFTER_REST: &str = "How long do reads take after an idle time?";

// Titles with a part, and labels at marks.

likenew_core::sentences! {
    pub(super) fn synced_writes_title(block: u64) = "How long does a synced write of {} take?", Size(block);
    pub(super) fn speed_drop(before: Rate, after: Rate) = "{before} to {after}";
    pub(super) fn buffer_full(bytes: f64) = "full: {}", Size(bytes as u64);
}

// Axes, lines and marks of pictures

pub(super) const UNTIL_FLUSHED: &str = "until it is flushed";
pub(super) const SINCE_WRITE: &str = "since the write before";
pub(super) const SINCE_BURST: &str = "since the burst began";
pub(super) const WRITTEN_SINCE_EMPTY: &str = "written since the cache was empty";
pub(super) const AROUND_TRIM: &str = "before and after the TRIM";
pub(super) const MEAN_PERIOD: &str = "mean of all periods";
pub(super) const CACHE_FULL: &str = "the cache is full";

// Names of workloads

pub(super) const ALL_ADDRESSES: &str = "two readers, whole span";
pub(super) const FULL_DRIVE_READS: &str = "reads, whole span";
pub(super) const READS_AFTER_NO_REST: &str = "reads after no rest";

#[cfg(test)]
mod tests {
    use likenew_core::findings::Standing;

    use super::*;

    fn flash() -> Property {
        Property::word(Key::Medium, "flash", 0.98, equal_reads(Latency(139_000.0)))
    }

    fn unit() -> Property {
        let interval = (8.2e6, 8.6e6);
        Property::number(Key::EraseUnitBytes, 8_388_608.0, interval, 0.85, rhythm(8_388_608.0, 0.97))
    }

    fn cache() -> Property {
        Property::undecided(Key::SlcCacheBytes, too_few_writes(80 << 30, 1 << 30))
    }

    #[test]
    fn properties_are_answered_in_plain_words() {
        let medium = answer(&flash(), false, None);
        assert_eq!((&*medium.id, &*medium.question, &*medium.answer), ("medium", "Medium", "flash"));
        assert_eq!(medium.evidence, ["The median random read takes 139 µs, independent of seek distance."]);
        let unit = answer(&unit(), false, None);
        assert_eq!(unit.question, "Erase unit (superblock)");
        assert_eq!(unit.answer, "8 MiB (7.82–8.20)");
        assert_eq!(unit.evidence, ["Sequential overwrites pause every 8 MiB (autocorrelation 0.97)."]);
        assert_eq!(unit.caveats, ["This is 85% likely."]);
        let none =
            answer(&Property::absent(Key::SlcCacheBytes, 0.97, filled_evenly(Rate(68.7e6))), false, None);
        assert_eq!(none.answer, "none");
        assert_eq!(none.evidence, ["The empty drive filled at 68.7 MB/s throughout, without a write cliff."]);
    }

    #[test]
    fn times_of_writing_are_said_as_speeds() {
        let told = |zeros: f64, random: f64, ratio: f64| {
            zeros_and_random(Latency(zeros), Latency(random), Share(ratio))
        };
        assert_eq!(told(182e3, 182e3, 1.0), "Zeros and random data read in 182 µs and write equally fast.");
        assert_eq!(
            told(167e3, 242e3, 0.4),
            "Zeros read in 167 µs, random data in 242 µs; zeros write 2.50× as fast."
        );
        assert_eq!(told(182e3, 182e3, 1.25), "Zeros and random data read in 182 µs; zeros write 20% slower.");
    }

    #[test]
    fn the_unknown_says_what_would_decide_it() {
        let action = action(Remedy::MoreWrites, true).command("likenew xray /mnt");
        let unknown = answer(&cache(), false, Some(action));
        assert_eq!((unknown.standing, &*unknown.answer), (Standing::Unknown, "unknown (needs more writes)"));
        assert_eq!(unknown.evidence, ["This test writes 80 GiB, and only 1 GiB may still be written."]);
        assert_eq!(unknown.actions[0].why, "Run without a limit on what is written");
    }

    #[test]
    fn a_summary_names_what_tells_most() {
        let properties = [flash(), unit(), cache()];
        assert_eq!(summary(&properties, None, false), "Flash, 8 MiB erase unit (2 of 3 properties found).");
        assert_eq!(
            summary(&properties[..1], None, true),
            "Flash. The drive was in use or not steady, so this is less certain."
        );
        assert_eq!(summary(&properties[2..], None, false), "No property of this drive could be found.");
        let problem = Answer::problem("io_errors", "I/O errors", "the drive failed 3 I/Os");
        assert_eq!(
            summary(&properties[..1], Some(&problem), false),
            "I/O errors: the drive failed 3 I/Os. Flash."
        );
    }

    #[test]
    fn the_table_has_what_was_found_first() {
        let overview = overview(&[cache(), unit(), flash()], Vec::new());
        let rows: Vec<Vec<String>> =
            overview.table.into_iter().flat_map(|table| table.rows).map(|row| row.cells).collect();
        assert_eq!(
            rows,
            [
                ["erase unit (superblock)", "8 MiB", "7.82–8.20 MiB", "85%", "sequential writes pause"],
                ["medium", "flash", "", "98%", "reads equally fast"],
                ["SLC cache", "unknown", "", "", "needs more writes"],
            ]
        );
    }

    #[test]
    fn what_disturbs_is_named_with_its_numbers() {
        let outliers = outliers(Share(0.002), Factor(4.0));
        let others = background_io(300, Nanos::from_secs(10), Iops(30.0));
        let said = disturbance(vec![outliers, others], None);
        assert_eq!(
            said.evidence,
            [
                "At least 0.2% of reads took more than 4.00× the usual time.",
                "The kernel counted 300 I/Os of other programs in 10.0 s (30.0 IOPS).",
            ]
        );
    }

    #[test]
    fn no_word_in_the_table_is_too_long_for_it() {
        // Beside the other columns, 100 columns have room for about this many characters.
        let scattered =
            ScatteredWrites { before: 1e9, slower: Factor(3.0), to_empty_blocks: 1e9, to_cache: 0.0 };
        for reason in [read_only(), no_drive(), fill_missing(), shared_drive(), scattered_writes(&scattered)]
        {
            assert!(reason.how.chars().count() <= 26, "{}", reason.how);
        }
    }
}
