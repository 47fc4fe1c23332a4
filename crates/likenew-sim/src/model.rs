//! A drive model as its TOML file describes it: identity, advertised speeds and the parameters of its mechanism.

mod flash;
pub(crate) mod in_situation;

use std::ops::{Range, RangeInclusive};

use likenew_core::region::Region;
use likenew_core::units::Nanos;
use wildmatch::WildMatch;

use crate::disk::arm::PlatterParameters;
use crate::disk::shingles::ShingleParameters;
use crate::disk::{CacheParameters, DiskParameters, LayoutError, SeekTimes};
use crate::drive_file::{ANY_COUNT, ANY_TIME, RATE, SECOND_NS, Section, SourceEntry, Text, parameters};
use crate::error::{Domain, FileError, SimError};
use crate::faults::{
    DriveFaults, NeighborParameters, OutlierParameters, StallParameters, ThrottleParameters,
};
use crate::flash::map_cache::HostShare;
use crate::flash::{FlashGeometry, FlashParameters};
use crate::front::LinkParameters;
use crate::situations::Situations;
use crate::situations::link_standard::LinkStandard;
use crate::volume::{self, CountingParameters, CreditParameters, LatencyParameters, VolumeParameters};

pub use flash::Layer;

/// Range of a rated number of I/Os per second.
const RATED_IOPS: RangeInclusive<u64> = 1..=100_000_000;

parameters! {
    /// Rated or reviewed speeds of a new drive. The simulation never uses them.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RatedSpeeds {
        /// Sequential read, bytes per second.
        pub read_bytes_per_s: Option<u64> = whole_or_none("read_bytes_per_s", RATE),
        /// Sequential write, bytes per second.
        pub write_bytes_per_s: Option<u64> = whole_or_none("write_bytes_per_s", RATE),
        /// Random 4 KiB reads per second.
        pub random_read_iops: Option<u64> = whole_or_none("random_read_iops", RATED_IOPS),
        /// Random 4 KiB writes per second.
        pub random_write_iops: Option<u64> = whole_or_none("random_write_iops", RATED_IOPS),
    }
}

/// How a drive stores data, with all parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "a drive has one, and is opened from it")]
pub enum Mechanism {
    /// Flash chips.
    Flash(FlashModel),
    /// Rotating platters.
    Disk(DiskParameters),
    /// A network volume.
    Volume(VolumeParameters),
}

impl Mechanism {
    /// The value of `kind` in files.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Flash(_) => KINDS[0],
            Self::Disk(_) => KINDS[1],
            Self::Volume(_) => KINDS[2],
        }
    }

    /// The link to the host.
    pub fn link(&self) -> LinkParameters {
        match self {
            Self::Flash(flash) => flash.parameters.link,
            Self::Disk(disk) => disk.link,
            Self::Volume(volume) => volume.link,
        }
    }

    pub(crate) fn link_mut(&mut self) -> &mut LinkParameters {
        match self {
            Self::Flash(flash) => &mut flash.parameters.link,
            Self::Disk(disk) => &mut disk.link,
            Self::Volume(volume) => &mut volume.link,
        }
    }

    /// The part of its mapping cache that may lie in host memory.
    pub fn host_share(&self) -> Option<HostShare> {
        match self {
            Self::Flash(flash) => flash.parameters.map_cache?.host,
            Self::Disk(_) | Self::Volume(_) => None,
        }
    }

    /// Whether its speed depends on how well data compresses.
    pub fn compresses(&self) -> bool {
        matches!(self, Self::Flash(flash) if matches!(flash.layer, Layer::Compressing(_)))
    }

    /// Whether its TRIM can be switched on and off; disks have none.
    pub fn can_trim(&self) -> bool {
        !matches!(self, Self::Disk(_))
    }

    /// Whether old data reads more slowly.
    pub fn ages(&self) -> bool {
        matches!(self, Self::Flash(flash) if flash.parameters.aging.is_some())
    }

    /// Whether it has a write cache that the host can switch off.
    pub fn can_switch_write_cache(&self) -> bool {
        match self {
            Self::Flash(_) | Self::Volume(_) => false,
            Self::Disk(disk) => disk.cache.write_cache_bytes > 0,
        }
    }
}

/// A drive model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Maker and model.
    pub model: String,
    /// The technology, such as `50 nm MLC flash`.
    pub technology: String,
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// The smallest addressable unit.
    pub sector_bytes: u32,
    /// The models that a real drive of this kind reports.
    pub reported_models: Option<ReportedModels>,
    /// Published speeds.
    pub advertised: RatedSpeeds,
    /// Its mechanism.
    pub mechanism: Mechanism,
    /// The standard of its link, if it has a name.
    pub link_standard: Option<LinkStandard>,
    /// Its faults, if any.
    pub faults: Option<DriveFaults>,
    /// Situations in its file.
    pub situations: Situations,
    /// Every value of the file, with its source.
    pub sources: Vec<SourceEntry>,
}

/// The kinds of drives, in the order of lists.
pub const KINDS: [&str; 3] = ["flash", "disk", "volume"];

/// Range of a capacity in bytes.
const CAPACITY: RangeInclusive<u64> = 1 << 20..=1 << 44;

parameters! {
    struct Identity {
        model: String = line("model"),
        technology: String = line("technology"),
        capacity_bytes: u64 = whole("capacity_bytes", CAPACITY),
        sector_bytes: u32 = whole("sector_bytes", 512..=4096),
    }
}

impl Identity {
    /// Key and size of a sector, for values that must be multiples of it.
    fn sector(&self) -> (&'static str, u64) {
        ("identity.sector_bytes", self.sector_bytes.into())
    }
}

impl Model {
    /// Parses the text of a drive's file; `file` names it in messages.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown or missing key, a value out of its range or without a source, or
    /// describes a drive that cannot be built. The error names file, line, key, what was found and what is
    /// allowed.
    pub fn parse(file: &str, text: &str) -> Result<Self, SimError> {
        let mut root = Section::parse(Text { file, text })?;
        let kind = root.word("kind", &KINDS)?;
        let identity = root.table("identity", read_identity)?;
        let reported_models = root.table_or_none("sold", ReportedModels::read)?;
        let advertised = root.table("advertised", RatedSpeeds::read)?;
        let (link, link_standard) = root.table("link", read_link)?;
        let faults = root.table_or_none("faults", |section| read_faults(section, &identity))?;
        // The mechanism of a counterfeit drive has the real capacity.
        let real_capacity_bytes = faults.as_ref().and_then(|faults| faults.real_capacity_bytes);
        let capacity_bytes = identity.capacity_bytes;
        let identity = Identity { capacity_bytes: real_capacity_bytes.unwrap_or(capacity_bytes), ..identity };
        let mechanism = match kind {
            "flash" => Mechanism::Flash(flash::read(&mut root, &identity, link)?),
            "disk" => Mechanism::Disk(read_disk(&mut root, &identity, link)?),
            _ => Mechanism::Volume(read_volume(&mut root, &identity, link)?),
        };
        let read =
            root.table_or_none("situations", |section| Ok((section.site(), Situations::read(section)?)))?;
        let (site, situations) = read.unzip();
        let (situations, sources) = (situations.unwrap_or_default(), root.finish()?);
        let Identity { model, technology, sector_bytes, .. } = identity;
        let model = Self {
            model,
            technology,
            capacity_bytes,
            sector_bytes,
            reported_models,
            advertised,
            mechanism,
            link_standard,
            faults,
            situations,
            sources,
        };
        match site {
            None => Ok(model),
            Some(site) => {
                model.check_situations(&model.situations).map_err(|reason| site.error(reason)).map(|()| model)
            }
        }
    }
}

impl Model {
    /// Value and source of a key, such as `advertised.read_bytes_per_s`.
    pub fn source(&self, key: &str) -> Option<&SourceEntry> {
        self.sources.iter().find(|sourced| sourced.key == key)
    }
}

fn read_identity(section: &mut Section<'_>) -> Result<Identity, SimError> {
    let identity = Identity::read(section)?;
    if !identity.sector_bytes.is_power_of_two() {
        return section.refuse("sector_bytes", identity.sector_bytes, Domain::PowerOfTwo);
    }
    let (sector_key, sector) = identity.sector();
    if !identity.capacity_bytes.is_multiple_of(sector) {
        let domain = Domain::MultipleOf { key: sector_key, value: sector };
        return section.refuse("capacity_bytes", identity.capacity_bytes, domain);
    }
    Ok(identity)
}

fn read_link(section: &mut Section<'_>) -> Result<(LinkParameters, Option<LinkStandard>), SimError> {
    let link = LinkParameters::read(section)?;
    let named =
        |section: &mut Section<'_>, key| section.parsed(key, Domain::LinkStandard, LinkStandard::by_name);
    Ok((link, section.optional("standard", named)?))
}

impl From<LayoutError> for FileError {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error.to_string())
    }
}

/// Reads the tables of a hard disk.
fn read_disk(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
) -> Result<DiskParameters, SimError> {
    let mut disk = DiskParameters { link, ..DiskParameters::default() };
    root.table("firmware", |section| {
        disk.command = section.span("command_ns")?;
        disk.aging_per_mille = section.whole("aging_per_mille", 0..=1_000_000)?;
        Ok(())
    })?;
    disk.shingles = root.table_or_none("shingles", |section| read_shingles(section, identity))?;
    let site = root.table("mechanics", |section| {
        read_mechanics(section, identity, &mut disk)?;
        Ok(section.site())
    })?;
    disk.cache = root.table("cache", CacheParameters::read)?;
    disk.check().map_err(|reason| site.error(reason))?;
    Ok(disk)
}

fn read_mechanics(
    section: &mut Section<'_>,
    identity: &Identity,
    disk: &mut DiskParameters,
) -> Result<(), SimError> {
    disk.head_switch = section.span("head_switch_ns")?;
    disk.read_seek = SeekTimes {
        track: section.span("track_seek_ns")?,
        average: section.span("average_seek_ns")?,
        full: section.span("full_seek_ns")?,
    };
    disk.write_seek = SeekTimes {
        track: section.span("write_track_seek_ns")?,
        average: section.span("write_average_seek_ns")?,
        full: section.span("write_full_seek_ns")?,
    };
    let addressed = identity.capacity_bytes / u64::from(identity.sector_bytes);
    let settle = disk.write_seek.track.since(disk.read_seek.track);
    disk.platters = PlatterParameters {
        sectors: disk.shingles.map_or(addressed, |shingles| shingles.sectors_for(addressed)),
        sector_bytes: identity.sector_bytes,
        revolution: Nanos(60 * SECOND_NS / section.whole("rotations_per_minute", 1000..=30_000)?),
        heads: section.whole("heads", 1..=64)?,
        zones: section.whole("zones", 1..=256)?,
        outer_bytes_per_s: section.whole("outer_bytes_per_s", RATE)?,
        inner_bytes_per_s: section.whole("inner_bytes_per_s", RATE)?,
        // Long enough for a write that continues across the change.
        head_skew: disk.head_switch + settle,
        cylinder_skew: disk.read_seek.track.max(disk.head_switch) + settle,
    };
    if disk.platters.inner_bytes_per_s > disk.platters.outer_bytes_per_s {
        let (key, limit) = ("mechanics.inner_bytes_per_s", "outer_bytes_per_s");
        return Err(section.error(FileError::Above { key, limit }));
    }
    let (sector_key, sector) = identity.sector();
    let physical = section.optional("physical_sector_bytes", |section, key| {
        section.multiple(key, sector..=65_536, (sector_key, sector))
    })?;
    disk.physical_sectors = physical.map_or(1, |bytes| bytes / sector);
    Ok(())
}

fn read_shingles(section: &mut Section<'_>, identity: &Identity) -> Result<ShingleParameters, SimError> {
    let (sector_key, sector) = identity.sector();
    let sectors = |section: &mut Section<'_>, key, least: u64, most| {
        section.multiple(key, least * sector..=most, (sector_key, sector)).map(|bytes| bytes / sector)
    };
    Ok(ShingleParameters {
        log_sectors: sectors(section, "media_cache_bytes", 1, 1 << 40)?,
        band_sectors: sectors(section, "band_bytes", 1, 1 << 32)?,
        map_entries: section.whole("map_entries", 4..=100_000_000)?,
        append_sectors_max: sectors(section, "append_bytes_max", 1, 1 << 32)?,
        header_sectors: sectors(section, "header_bytes", 0, 1 << 20)?,
        gather: section.span("gather_ns")?,
        idle_after: section.span("idle_after_ns")?,
    })
}

/// Reads the tables of a network volume.
fn read_volume(
    root: &mut Section<'_>,
    identity: &Identity,
    link: LinkParameters,
) -> Result<VolumeParameters, SimError> {
    let credits = root.table("credits", |section| read_credits(section, identity))?;
    let counting = root.table("counting", read_counting)?;
    let bytes_per_s = root.table("throughput", |section| read_throughput(section, identity))?;
    let (latency, trims) = root.table("store", read_store)?;
    Ok(VolumeParameters { link, credits, counting, bytes_per_s, latency, trims })
}

fn read_credits(section: &mut Section<'_>, identity: &Identity) -> Result<CreditParameters, SimError> {
    let iops_per_gib: u64 = section.whole("iops_per_gib", 0..=1_000_000)?;
    let (iops_min, iops_max) =
        (section.whole("iops_min", volume::IOPS)?, section.whole("iops_max", volume::IOPS)?);
    if iops_min > iops_max {
        let domain = Domain::AtMost { key: "credits.iops_max", value: iops_max };
        return section.refuse("iops_min", iops_min, domain);
    }
    let by_size = (u128::from(identity.capacity_bytes) * u128::from(iops_per_gib)) >> 30;
    let by_size = u64::try_from(by_size).expect("at most 2⁴⁴ bytes and 10⁶ I/Os for a GiB");
    let baseline_iops = by_size.clamp(iops_min, iops_max);
    Ok(CreditParameters { baseline_iops, ..CreditParameters::read(section)? })
}

fn read_counting(section: &mut Section<'_>) -> Result<CountingParameters, SimError> {
    let counting = CountingParameters::read(section)?;
    let CountingParameters { io_bytes, small_io_bytes, small_merge_bytes } = counting;
    if small_io_bytes.max(small_merge_bytes) > io_bytes {
        let (small_io, small_merge, io) = (small_io_bytes, small_merge_bytes, io_bytes);
        return Err(section.error(FileError::LargeSmallIos { small_io, small_merge, io }));
    }
    Ok(counting)
}

fn read_throughput(section: &mut Section<'_>, identity: &Identity) -> Result<u64, SimError> {
    let small_capacity_max = section.whole("small_capacity_bytes_max", 0..=1 << 44)?;
    let small = section.whole("small_bytes_per_s", RATE)?;
    let large = section.whole("large_bytes_per_s", RATE)?;
    Ok(if identity.capacity_bytes <= small_capacity_max { small } else { large })
}

fn read_store(section: &mut Section<'_>) -> Result<(LatencyParameters, bool), SimError> {
    let latency = LatencyParameters::read(section)?;
    let LatencyParameters { median, p99 } = latency;
    // With a wider spread, single I/Os could take years.
    if p99 < median || p99.0 / median.0 > 100 {
        let domain = Domain::Times { most: 100, key: "store.latency_ns_median", value: median.0 };
        return section.refuse("latency_ns_p99", p99.0, domain);
    }
    Ok((latency, section.truth("trim")?))
}

/// Range of the time of one retry in nanoseconds.
const RETRY_NS: RangeInclusive<u64> = 0..=100_000_000_000;

/// Reads the table `[faults]`, whose keys are all optional.
fn read_faults(section: &mut Section<'_>, identity: &Identity) -> Result<DriveFaults, SimError> {
    let real_capacity_bytes = section.whole_or_none("real_capacity_bytes", CAPACITY)?;
    if let Some(real) = real_capacity_bytes {
        check_real_capacity(section, identity, real)?;
    }
    let wrap_bytes = match real_capacity_bytes {
        Some(real) => section.optional("wrap_bytes", |section, key| {
            section.multiple(key, real..=1 << 50, identity.sector())
        })?,
        None => None,
    };
    let flipped = ranges(section, "flipped", identity)?;
    let flipped_bits = if flipped.is_empty() { 0 } else { section.whole("flipped_bits", 1..=4096)? };
    let lost_write_every = section.whole_or_none("lost_write_every", ANY_COUNT)?;
    let unreadable = ranges(section, "unreadable", identity)?;
    let slow = ranges(section, "slow", identity)?;
    let bad_places = !unreadable.is_empty() || !slow.is_empty();
    let (retry, retries_max) = if bad_places {
        (section.time("retry_ns", RETRY_NS)?, section.whole("retries_max", 1..=1000)?)
    } else {
        (Nanos::ZERO, 0)
    };
    let read_only_after_bytes = section.whole_or_none("read_only_after_bytes", 0..=u64::MAX >> 1)?;
    let stall = read_stall(section)?;
    let trim = section.optional("trim", Section::one_of)?;
    Ok(DriveFaults {
        real_capacity_bytes,
        wrap_bytes,
        flipped,
        flipped_bits,
        lost_write_every,
        unreadable,
        slow,
        retry,
        retries_max,
        read_only_after_bytes,
        stall,
        trim,
        neighbor: read_neighbor(section, identity)?,
        outliers: section.optional("outlier_every_ios", |section, _| OutlierParameters::read(section))?,
        throttle: read_throttle(section)?,
    })
}

fn check_real_capacity(section: &Section<'_>, identity: &Identity, real: u64) -> Result<(), SimError> {
    let Identity { capacity_bytes, sector_bytes, .. } = *identity;
    if real >= capacity_bytes || !real.is_multiple_of(u64::from(sector_bytes)) {
        let domain = Domain::SectorsBelowCapacity { sector_bytes, capacity_bytes };
        return section.refuse("real_capacity_bytes", real, domain);
    }
    Ok(())
}

fn ranges(
    section: &mut Section<'_>,
    key: &'static str,
    identity: &Identity,
) -> Result<Vec<Range<u64>>, SimError> {
    let domain = Domain::Ranges { capacity_bytes: identity.capacity_bytes };
    let parse = |text: &str| -> Option<Vec<Range<u64>>> {
        let region = |part: &str| part.trim().parse::<Region>().ok();
        let resolve = |region: Region| region.resolve(identity.capacity_bytes, identity.sector_bytes).ok();
        text.split(',').map(|part| region(part).and_then(resolve)).collect()
    };
    Ok(section.optional(key, |section, key| section.parsed(key, domain, parse))?.unwrap_or_default())
}

fn read_stall(section: &mut Section<'_>) -> Result<Option<StallParameters>, SimError> {
    let every_ios = section.whole_or_none("stall_every_ios", ANY_COUNT)?;
    let interval = section.whole_or_none("stall_every_ns", ANY_TIME)?.map(Nanos);
    if every_ios.is_none() && interval.is_none() {
        return Ok(None);
    }
    let span = section.time("stall_ns", ANY_TIME)?;
    if interval.is_some_and(|interval| interval <= span) {
        let domain = Domain::LessThan { key: "faults.stall_every_ns" };
        return section.refuse("stall_ns", span.0, domain);
    }
    Ok(Some(StallParameters { every_ios, interval, span }))
}

fn read_neighbor(
    section: &mut Section<'_>,
    identity: &Identity,
) -> Result<Option<NeighborParameters>, SimError> {
    section.optional("neighbor_ios_per_s", |section, key| {
        let ios_per_s = section.whole(key, 1..=1_000_000)?;
        let io_bytes: u32 = section.whole("neighbor_io_bytes", 512..=16 << 20)?;
        let sector_bytes = identity.sector_bytes;
        if !io_bytes.is_multiple_of(sector_bytes) || u64::from(io_bytes) > identity.capacity_bytes {
            let domain = Domain::SectorsWithinDrive { sector_bytes };
            return section.refuse("neighbor_io_bytes", io_bytes, domain);
        }
        let write_percent = section.whole("neighbor_write_percent", 0..=100)?;
        Ok(NeighborParameters { ios_per_s, io_bytes, write_percent })
    })
}

fn read_throttle(section: &mut Section<'_>) -> Result<Option<ThrottleParameters>, SimError> {
    section.optional("throttle_every_ns", |section, _| {
        let throttle = ThrottleParameters::read(section)?;
        if throttle.interval <= throttle.span {
            let domain = Domain::LessThan { key: "faults.throttle_every_ns" };
            return section.refuse("throttle_ns", throttle.span.0, domain);
        }
        Ok(throttle)
    })
}

/// The parameters of a flash drive, and how much was written to a used one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlashModel {
    /// The mechanism.
    pub parameters: FlashParameters,
    /// Its geometry.
    pub flash: FlashGeometry,
    /// Its translation layer.
    pub layer: Layer,
    /// Bytes of flash for user data and spare together.
    pub physical_bytes: u64,
    /// Random overwrites without TRIM that make a drive used, as a share of its data.
    pub overwritten_share: f64,
}

impl FlashModel {
    /// Spare flash over addressable capacity, (T − U)/U, and over all flash, (T − U)/T.
    pub(crate) fn spare_shares(&self) -> (f64, f64) {
        let user = f64::from(self.flash.user_pages) * f64::from(self.parameters.page_bytes);
        let physical = self.physical_bytes as f64;
        ((physical - user) / user, (physical - user) / physical)
    }
}

/// By how much a drive's capacity may differ from the catalog entry, in thousandths. Makers round, and some
/// drives hide a part (HPA); no two capacities sold under one name are that close.
const CAPACITY_PER_MILLE: u64 = 10;
/// The most model patterns in a file.
const PATTERNS_MAX: usize = 16;

/// The models that drives of this kind report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedModels {
    /// Patterns: `*` stands for any characters, `?` for one.
    pub patterns: Vec<String>,
    /// A model string that was observed.
    pub example: String,
}

impl ReportedModels {
    /// Reads the table `[sold]`.
    fn read(section: &mut Section<'_>) -> Result<Self, SimError> {
        let reported_models = Self {
            patterns: section.line("models")?.split(',').map(|pattern| pattern.trim().to_owned()).collect(),
            example: section.line("example")?,
        };
        // A pattern that begins with `*` would match other makers.
        let is_open = |pattern: &String| pattern.chars().take_while(|c| !matches!(c, '*' | '?')).count() < 5;
        if reported_models.patterns.len() > PATTERNS_MAX || reported_models.patterns.iter().any(is_open) {
            return Err(section.error(FileError::Patterns { most: PATTERNS_MAX }));
        }
        if !reported_models.patterns.iter().any(|pattern| is_like(pattern, &reported_models.example)) {
            return Err(section.error(FileError::OtherExample(reported_models.example)));
        }
        Ok(reported_models)
    }

    /// Whether a reported model and size match; `capacity_bytes` is the catalog entry's.
    pub fn is(&self, capacity_bytes: u64, model: &str, reported_bytes: u64) -> bool {
        let is_as_large =
            capacity_bytes.abs_diff(reported_bytes) <= capacity_bytes / 1000 * CAPACITY_PER_MILLE;
        // ATA pads model strings to 40 characters with blanks, and some tools join several.
        let model = model.split_whitespace().collect::<Vec<_>>().join(" ");
        is_as_large && self.patterns.iter().any(|pattern| is_like(pattern, &model))
    }
}

/// Whether a pattern matches a text, ignoring case.
fn is_like(pattern: &str, text: &str) -> bool {
    WildMatch::new_case_insensitive(pattern).matches(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_is_any_characters_and_a_question_mark_is_one() {
        for (pattern, text) in [
            ("WDC WD6400AAKS-*", "wdc wd6400aaks-22A7B0"),
            ("a*b*c", "axbxbc"),
            ("a?c*", "abc"),
            ("abc", "abc"),
            ("*", ""),
        ] {
            assert!(is_like(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a*b*c", "axbxb"), ("a?c", "ac"), ("abc", "abcd"), ("abcd", "abc"), ("?", ""), ("a*?", "a")]
        {
            assert!(!is_like(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn the_size_has_to_fit_as_well() {
        let reported_models =
            ReportedModels { patterns: vec!["OCZ-VERTEX3".into()], example: "OCZ-VERTEX3".into() };
        let fits = |model, bytes| reported_models.is(120_034_123_776, model, bytes);
        assert!(fits("OCZ-VERTEX3  ", 120_034_123_776) && fits("ocz-vertex3", 119_900_000_000));
        for bytes in [240_057_409_536, 90_028_302_336, 128_035_676_160, 0, u64::MAX] {
            assert!(!fits("OCZ-VERTEX3", bytes), "{bytes}");
        }
        assert!(!fits("OCZ-VERTEX3 MI", 120_034_123_776));
    }
}
