//! The sentences of explanations: what layers do, and names for figures that have no standard term.

use likenew_core::io::DataClass;
use likenew_core::quantity::Share;
use likenew_core::units::{Nanos, Number, amount};

use crate::flash::policies::Collection;

// Every drive

pub(super) const FAULTS: &str = "Faults of this drive.";
pub(super) const SITUATIONS: &str = "Conditions around the drive.";
pub(super) const ONE_COMMAND: &str = "Handles one command at a time.";
pub(super) const READ_ALL: &str = "sequential read of the whole drive";
pub(super) const WRITE_ALL: &str = "sequential write of the whole drive";

pub(super) fn link(is_duplex: bool) -> &'static str {
    if is_duplex { "Full duplex." } else { "Half duplex." }
}

// Flash drives

pub(super) const WRITE_QD1: &str = "a 4 KiB write at QD1, into the buffer";
pub(super) const WRITE_PAST_SLC_CACHE: &str = "sequential write past the SLC cache, before it folds";

likenew_core::sentences! {
    pub(super) fn after_idle(time: Nanos) = "after {time} without I/O";
    pub(super) fn dies(dies: u32, channels: u32) = "{dies} dies on {channels} channels";
}

pub(super) const WRITE_BUFFER: &str =
    "A write is acknowledged once all of it is in the buffer, where it waits for a free die.";
pub(super) const UNITS: &str = "capacity in program units";
pub(super) const WRITES_PER_UNIT: &str = "separate writes in a unit, at most";

pub(super) const DIES: &str = "A die does one operation at a time; the dies of a channel share its bus.";
pub(super) const PROGRAMMING_DIES: &str = "dies that program in parallel";

pub(super) const MAP_CACHE: &str =
    "Holds a part of the mapping table; other entries are read from flash before the data.";
pub(super) const MAPPED_DATA: &str = "host data that it maps";

pub(super) const AGING: &str = "Old data is read with retries.";
pub(super) const AGING_RETRIES: &str = "retries per tenfold age";

pub(super) const HEAT: &str = "Heats up with reads and programs.";

// The SLC cache of a flash drive

pub(super) const SLC_CACHE: &str =
    "Blocks with one bit per cell take the writes; they are folded into native blocks later.";
pub(super) const SLC_DYNAMIC: &str = "from free space, on an empty drive";
pub(super) const SLC_FULL: &str = "when it is full";
pub(super) const SLC_DIRECT: &str = "writes go past it";
pub(super) const SLC_FOLD: &str = "writes wait for folding";
pub(super) const SLC_KEPT: &str = "left unfolded when idle, on each die";

// The mapping table of a flash drive

pub(super) const KEPT_ERASED: &str = "kept erased on each die";

pub(super) const PAGE_MAP_NAME: &str = "translation layer: page map";
pub(super) const COLLECT_EMPTY: &str = "erasing an empty block";

pub(super) fn page_map(collection: Collection) -> String {
    let victim = match collection {
        Collection::Greedy => "its emptiest block".to_owned(),
        Collection::Fifo => "the block that was filled first".to_owned(),
        Collection::Choices(1) => "a random block".to_owned(),
        Collection::Choices(count) => format!("the emptiest of {count} random blocks"),
        Collection::CostBenefit => "the block with the best cost-benefit of age and emptiness".to_owned(),
    };
    format!("Any page can be anywhere. A die that runs short of erased blocks garbage-collects {victim}.")
}

/// How far a drive garbage-collects in idle time.
pub(super) fn idle_collection(free_blocks: u32) -> String {
    match free_blocks {
        0 => "no".to_owned(),
        count => format!("until {count} blocks of each die are erased"),
    }
}

pub(super) const COMPRESSING_MAP_NAME: &str = "compression and translation layer";
pub(super) const COMPRESSING_MAP: &str = "Compresses each page, packs the results, and garbage-collects the block \
    with the least valid data. Compression adds spare area, not capacity.";

/// Kinds of data whose compressed size an explanation shows.
pub(super) const COMPRESSED_PAGES: [(&str, DataClass); 3] = [
    ("a page of zeros takes", DataClass::Zero),
    ("a page that compresses to a half", DataClass::Ratio(0.5)),
    ("a page that does not compress", DataClass::Random),
];

/// The space that compressed data takes of a page of `page` bytes.
pub(super) fn compressed(share: f64, page: f64) -> String {
    format!("{} of {} B ({})", Number((share * page).round()), Number(page), Share(share))
}

/// `stripe` is the number of program units, one of them parity; 0 means no parity.
pub(super) fn parity(stripe: u32) -> String {
    match stripe {
        0 => "none".to_owned(),
        units => format!("one program unit of {units}"),
    }
}

pub(super) const BLOCK_MAP_NAME: &str = "translation layer: block map";
pub(super) const BLOCK_MAP: &str =
    "Block-mapped: a write that does not continue the last one copies its whole cluster.";
pub(super) const REPLACEMENT_BLOCKS: &str = "replacement blocks of a group";

pub(super) const BAST: &str = "Block-mapped, with a log block for each of the clusters written last: a write to \
    another cluster first merges one of those.";

pub(super) const FAST: &str = "Block-mapped, with a shared log: when it is full, every cluster in its oldest block \
    is merged.";

pub(super) const LOG_BLOCKS: &str = "log blocks of a group";
pub(super) const IDLE_MERGES: &str = "merges in idle time";

// Hard disks

pub(super) const RANDOM_READ_ALONE: &str = "a random read, alone (command + average seek + half a rotation)";
pub(super) const RANDOM_WRITE_ALONE: &str = "a random write past the cache, alone";

pub(super) fn disk_cache(takes_writes: bool) -> &'static str {
    if takes_writes {
        "Reads ahead after a request; caches writes and destages them in order of the shortest seeks."
    } else {
        "Reads ahead after a request; writes go to the platters."
    }
}

pub(super) const SHINGLES: &str = "Tracks overlap, so a band is written as a whole. Smaller writes go to the \
    persistent cache and are merged later.";

pub(super) fn cleaning(idle_after: Nanos) -> String {
    format!("after {idle_after} without I/O, or when it is full")
}

pub(super) const SEEKS: &str =
    "Serves the request it can reach first, seek and rotation included (SATF), with aging.";

pub(super) const PLATTERS: &str = "The first addresses are on the outer tracks, which hold most.";
pub(super) const MEAN_RATE: &str = "mean over all addresses";

// Network volumes

pub(super) const BURST_SPAN: &str = "full credits last, at burst rate";
pub(super) const REFILL_SPAN: &str = "empty credits refill, when idle";

pub(super) fn credits(can_burst: bool) -> &'static str {
    if can_burst {
        "An I/O takes a credit; credits arrive at the baseline rate. Without credits an I/O waits for one."
    } else {
        "The volume's size allows these IOPS, at least the burst rate."
    }
}

likenew_core::sentences! {
    /// Sequential I/Os count as one up to `bytes`, and those shorter than `small` up to `small_bytes`.
    pub(super) fn merged_ios(bytes: u64, small: u64, small_bytes: u64) =
        "up to {} (below {}: up to {})", amount(bytes), amount(small), amount(small_bytes);
    pub(super) fn store_limit(in_flight: f64) = "{in_flight} I/Os in flight / mean latency";
}

pub(super) const THROUGHPUT: &str = "Reads and writes share this throughput.";

pub(super) const STORE: &str = "Serves all I/Os in parallel; acknowledged writes are durable.";

pub(super) fn volume_trim(trims: bool) -> &'static str {
    if trims { "immediate" } else { "not supported" }
}
