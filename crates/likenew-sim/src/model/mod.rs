//! A drive model as its file describes it: identity, advertised figures and the parameters of its mechanism.

use likenew_core::units::Nanos;

use crate::disk::disk_parameters::DiskParameters;
use crate::error::SimError;
use crate::faults::drive_faults::DriveFaults;
use crate::file_error::FileError;
use crate::file_text::Text;
use crate::flash::map_cache::HostShare;
use crate::host_link::LinkParameters;
use crate::section::{Section, SourceEntry};
use crate::situations::Situations;
use crate::situations::link_standard::LinkStandard;
use crate::volume::volume_parameters::VolumeParameters;
use crate::wording::domain::Domain;

mod disk;
mod extras;
mod faults;
mod flash;
mod flash_model;
mod layer;
mod policies;
mod reported_models;
mod situation_effects;
mod slc_cache;
mod volume;
pub(crate) mod wear;

pub use flash_model::FlashModel;
pub use layer::Layer;
pub use reported_models::ReportedModels;

/// Rated or reviewed figures of a new drive; never used by the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RatedSpeeds {
    /// Sequential read, bytes per second.
    pub read_bytes_per_s: Option<u64>,
    /// Sequential write, bytes per second.
    pub write_bytes_per_s: Option<u64>,
    /// Random 4 KiB reads per second.
    pub random_read_iops: Option<u64>,
    /// Random 4 KiB writes per second.
    pub random_write_iops: Option<u64>,
}

/// The mechanism of a drive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mechanism {
    /// Flash chips.
    Flash(FlashModel),
    /// Platters.
    Disk(DiskParameters),
    /// A network volume.
    Volume(VolumeParameters),
}

impl Mechanism {
    /// Its kind, as files spell it in `kind`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Flash(_) => KINDS[0],
            Self::Disk(_) => KINDS[1],
            Self::Volume(_) => KINDS[2],
        }
    }

    /// The link between it and the host.
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

    /// The part of its mapping cache that is in host memory, if it can be.
    pub fn host_share(&self) -> Option<HostShare> {
        match self {
            Self::Flash(flash) => flash.parameters.map_cache?.host,
            Self::Disk(_) | Self::Volume(_) => None,
        }
    }

    /// Whether its speed depends on how far data compresses.
    pub fn compresses(&self) -> bool {
        matches!(self, Self::Flash(flash) if matches!(flash.layer, Layer::Compressing(_)))
    }

    /// Whether TRIM can be switched on and off: a disk has none.
    pub fn can_trim(&self) -> bool {
        !matches!(self, Self::Disk(_))
    }

    /// Whether old data is read more slowly.
    pub fn ages(&self) -> bool {
        matches!(self, Self::Flash(flash) if flash.parameters.aging.is_some())
    }

    /// Whether it caches writes in a way that the host can switch off.
    pub fn can_switch_write_cache(&self) -> bool {
        match self {
            Self::Flash(_) | Self::Volume(_) => false,
            Self::Disk(disk) => disk.write_cache_bytes > 0,
        }
    }
}

/// A drive model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Maker and model.
    pub model: String,
    /// Such as `50 nm MLC flash`.
    pub technology: String,
    /// Bytes that the host can address.
    pub capacity_bytes: u64,
    /// Smallest unit of address.
    pub sector_bytes: u32,
    /// How a drive that was sold identifies itself.
    pub reported_models: Option<ReportedModels>,
    /// Its published figures.
    pub advertised: RatedSpeeds,
    /// Its mechanism.
    pub mechanism: Mechanism,
    /// The standard of its link, where that has a name.
    pub link_standard: Option<LinkStandard>,
    /// Its faults.
    pub faults: Option<DriveFaults>,
    /// Its situations.
    pub situations: Situations,
    /// Every value of the file with its source.
    pub sources: Vec<SourceEntry>,
}

/// The kinds of drives, in the order in which lists show them.
pub const KINDS: [&str; 3] = ["flash", "disk", "volume"];

const SECOND_NS: u64 = 1_000_000_000;
const RATE: std::ops::RangeInclusive<u64> = 1_000_000..=100_000_000_000;

struct Identity {
    model: String,
    technology: String,
    capacity_bytes: u64,
    sector_bytes: u32,
}

impl Model {
    /// Reads the text of a drive's file; `file` names it in messages.
    ///
    /// # Errors
    /// The text is not TOML, has an unknown or missing key, a value out of its range or without a source, or
    /// describes a drive that cannot be built. The error names file, line, key, what was found and what is
    /// allowed.
    pub fn parse(file: &str, text: &str) -> Result<Self, SimError> {
        let mut sources = Vec::new();
        let mut root = Section::parse(Text { file, text })?;
        let kind = root.word("kind", &KINDS)?;
        let identity = finish(root.section("identity")?, &mut sources, read_identity)?;
        let reported_models =
            finish_optional(root.section_or_none("sold")?, &mut sources, ReportedModels::read)?;
        let advertised = finish(root.section("advertised")?, &mut sources, read_advertised)?;
        let (link, link_standard) = finish(root.section("link")?, &mut sources, read_link)?;
        let faults = match root.section_or_none("faults")? {
            None => None,
            Some(section) => Some(finish(section, &mut sources, |section| faults::read(section, &identity))?),
        };
        // The mechanism is built for the real capacity.
        let real_capacity_bytes = faults.as_ref().and_then(|faults| faults.real_capacity_bytes);
        let capacity_bytes = identity.capacity_bytes;
        let identity = Identity { capacity_bytes: real_capacity_bytes.unwrap_or(capacity_bytes), ..identity };
        let mechanism = match kind {
            "flash" => Mechanism::Flash(flash::read(&mut root, &identity, link, &mut sources)?),
            "disk" => Mechanism::Disk(disk::read(&mut root, &identity, link, &mut sources)?),
            _ => Mechanism::Volume(volume::read(&mut root, &identity, link, &mut sources)?),
        };
        let situations = root.section_or_none("situations")?;
        let site = situations.as_ref().map(Section::site);
        let situations = finish_optional(situations, &mut sources, Situations::read)?.unwrap_or_default();
        root.finish()?;
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
    /// Where a value of the file comes from, by its key, such as `advertised.read_bytes_per_s`.
    pub fn source(&self, key: &str) -> Option<&SourceEntry> {
        self.sources.iter().find(|sourced| sourced.key == key)
    }
}

/// Reads a table completely: keys that `read` does not take are refused.
fn finish<'a, T>(
    mut section: Section<'a>,
    sources: &mut Vec<SourceEntry>,
    read: impl FnOnce(&mut Section<'a>) -> Result<T, SimError>,
) -> Result<T, SimError> {
    let value = read(&mut section)?;
    sources.extend(section.finish()?);
    Ok(value)
}

/// Reads a table completely, if it is there.
fn finish_optional<'a, T>(
    section: Option<Section<'a>>,
    sources: &mut Vec<SourceEntry>,
    read: impl FnOnce(&mut Section<'a>) -> Result<T, SimError>,
) -> Result<Option<T>, SimError> {
    section.map(|section| finish(section, sources, read)).transpose()
}

fn read_identity(section: &mut Section<'_>) -> Result<Identity, SimError> {
    let identity = Identity {
        model: section.line("model")?,
        technology: section.line("technology")?,
        capacity_bytes: section.integer("capacity_bytes", 1 << 20..=1 << 44)?,
        sector_bytes: section.count("sector_bytes", 512..=4096)?,
    };
    if !identity.sector_bytes.is_power_of_two() {
        let (found, domain) = (identity.sector_bytes, Domain::PowerOfTwo);
        return Err(section.error(FileError::wrong_value("identity.sector_bytes", found, domain)));
    }
    let sector = u64::from(identity.sector_bytes);
    if !identity.capacity_bytes.is_multiple_of(sector) {
        let domain = Domain::MultipleOf { key: "identity.sector_bytes", value: sector };
        let found = identity.capacity_bytes;
        return Err(section.error(FileError::wrong_value("identity.capacity_bytes", found, domain)));
    }
    Ok(identity)
}

fn read_advertised(section: &mut Section<'_>) -> Result<RatedSpeeds, SimError> {
    const IOPS: std::ops::RangeInclusive<u64> = 1..=100_000_000;
    Ok(RatedSpeeds {
        read_bytes_per_s: section.integer_or_none("read_bytes_per_s", RATE)?,
        write_bytes_per_s: section.integer_or_none("write_bytes_per_s", RATE)?,
        random_read_iops: section.integer_or_none("random_read_iops", IOPS)?,
        random_write_iops: section.integer_or_none("random_write_iops", IOPS)?,
    })
}

fn read_link(section: &mut Section<'_>) -> Result<(LinkParameters, Option<LinkStandard>), SimError> {
    let link = LinkParameters {
        bytes_per_s: section.integer("bytes_per_s", RATE)?,
        duplex: section.truth("duplex")?,
        command_slots: section.count("command_slots", 1..=65_535)?,
    };
    Ok((link, section.parsed_or_none("standard", Domain::LinkStandard, LinkStandard::by_name)?))
}

fn span(section: &mut Section<'_>, key: &'static str) -> Result<Nanos, SimError> {
    section.integer(key, 0..=10 * SECOND_NS).map(Nanos)
}
