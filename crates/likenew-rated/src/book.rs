//! The types that the files of `catalog/rated` are read into: products with their drives, cloud volumes,
//! reviews of new drives, and faults of firmware.

use serde::{Deserialize, Serialize};

/// All files together.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Book {
    /// Products, each with its drives.
    #[serde(default, rename = "product")]
    pub products: Vec<Product>,
    /// Volumes of clouds.
    #[serde(default, rename = "volume")]
    pub volumes: Vec<Volume>,
    /// What new drives reached.
    #[serde(default, rename = "review")]
    pub reviews: Vec<Review>,
    /// Known faults of firmware.
    #[serde(default, rename = "fault")]
    pub faults: Vec<FirmwareFault>,
}

/// How a drive is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "each is what its name says: standard, generation and lanes")]
pub enum Link {
    Pata,
    #[serde(rename = "sata1.5g")]
    Sata1,
    Sata3g,
    Sata6g,
    Sas3g,
    Sas6g,
    Sas12g,
    Pcie2x2,
    Pcie2x4,
    Pcie3x1,
    Pcie3x2,
    Pcie3x4,
    Pcie3x8,
    Pcie4x2,
    Pcie4x4,
    Pcie4x8,
    Pcie5x2,
    Pcie5x4,
    Usb2,
    Usb5g,
    Usb10g,
    Usb20g,
    Usb40g,
    Thunderbolt3,
    Emmc,
    Sd,
    Cloud,
}

/// What is known of a link.
struct LinkProperties {
    words: &'static str,
    mb_per_s: u32,
    /// Generation and lanes.
    pcie: Option<(u8, u8)>,
}

impl Link {
    /// PATA and eMMC carry what their modes do (UDMA 6, HS400), SD what UHS-II does, the others their line rate with
    /// 8b/10b or 128b/130b coding. A network has no such limit.
    fn properties(self) -> LinkProperties {
        let link = |words, mb_per_s| LinkProperties { words, mb_per_s, pcie: None };
        let pcie = |generation, lanes, words, mb_per_s| LinkProperties {
            pcie: Some((generation, lanes)),
            ..link(words, mb_per_s)
        };
        match self {
            Self::Pata => link("PATA", 133),
            Self::Sata1 => link("SATA 1.5 Gb/s", 150),
            Self::Sata3g => link("SATA 3 Gb/s", 300),
            Self::Sata6g => link("SATA 6 Gb/s", 600),
            Self::Sas3g => link("SAS 3 Gb/s", 300),
            Self::Sas6g => link("SAS 6 Gb/s", 600),
            Self::Sas12g => link("SAS 12 Gb/s", 1_200),
            Self::Pcie2x2 => pcie(2, 2, "PCIe 2.0 ×2", 1_000),
            Self::Pcie2x4 => pcie(2, 4, "PCIe 2.0 ×4", 2_000),
            Self::Pcie3x1 => pcie(3, 1, "PCIe 3.0 ×1", 985),
            Self::Pcie3x2 => pcie(3, 2, "PCIe 3.0 ×2", 1_970),
            Self::Pcie3x4 => pcie(3, 4, "PCIe 3.0 ×4", 3_940),
            Self::Pcie3x8 => pcie(3, 8, "PCIe 3.0 ×8", 7_880),
            Self::Pcie4x2 => pcie(4, 2, "PCIe 4.0 ×2", 3_940),
            Self::Pcie4x4 => pcie(4, 4, "PCIe 4.0 ×4", 7_880),
            Self::Pcie4x8 => pcie(4, 8, "PCIe 4.0 ×8", 15_750),
            Self::Pcie5x2 => pcie(5, 2, "PCIe 5.0 ×2", 7_880),
            Self::Pcie5x4 => pcie(5, 4, "PCIe 5.0 ×4", 15_750),
            Self::Usb2 => link("USB 2.0", 60),
            Self::Usb5g => link("USB 5 Gb/s", 500),
            Self::Usb10g => link("USB 10 Gb/s", 1_212),
            Self::Usb20g => link("USB 20 Gb/s", 2_424),
            Self::Usb40g => link("USB 40 Gb/s", 4_850),
            Self::Thunderbolt3 => link("Thunderbolt 3", 4_850),
            Self::Emmc => link("eMMC", 400),
            Self::Sd => link("SD", 312),
            Self::Cloud => link("network", u32::MAX),
        }
    }

    /// Its name as an owner knows it.
    pub fn words(self) -> &'static str {
        self.properties().words
    }

    /// Most MB/s (10⁶) that it carries, after encoding.
    pub fn mb_per_s(self) -> u32 {
        self.properties().mb_per_s
    }

    /// Generation and lanes of PCI Express.
    pub fn pcie(self) -> Option<(u8, u8)> {
        self.properties().pcie
    }

    /// Whether it leads out of the case.
    pub fn is_external(self) -> bool {
        matches!(
            self,
            Self::Usb2 | Self::Usb5g | Self::Usb10g | Self::Usb20g | Self::Usb40g | Self::Thunderbolt3
        )
    }
}

/// What data is stored on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
#[allow(missing_docs, reason = "the field's names")]
pub enum Medium {
    Slc,
    Mlc,
    Tlc,
    Qlc,
    #[strum(serialize = "Optane")]
    Optane,
    Cmr,
    Smr,
}

impl Medium {
    /// Its name as on a data sheet.
    pub fn words(self) -> &'static str {
        self.into()
    }
}

/// Where an SSD keeps its mapping table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// In memory of its own.
    Dram,
    /// In a part of the host's memory (HMB).
    Hmb,
    /// In neither.
    None,
}

/// A product and its drives.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Product {
    /// Maker and product.
    pub name: String,
    /// One fact that is worth telling.
    pub note: Option<String>,
    /// Its own link, which decides little for a hard disk.
    pub link: Option<Link>,
    /// Its cells, or how a disk records.
    pub medium: Option<Medium>,
    /// Where it keeps its mapping table.
    pub memory: Option<Memory>,
    /// Rotation of a hard disk.
    pub rpm: Option<u32>,
    /// A USB stick rather than an SSD in a case.
    #[serde(default)]
    pub stick: bool,
    /// Address of the text that has the figures.
    pub source: String,
    /// One for each capacity.
    pub drives: Vec<RatedDrive>,
}

/// The drives of one capacity. Speeds in MB/s (10⁶), sizes in GB (10⁹), I/Os of 4 KiB.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatedDrive {
    /// Patterns of what the system reports as the model, with commas between: `*` for any characters, `?` for one.
    pub models: String,
    /// Capacity as sold.
    pub gb: Option<f64>,
    /// Sequential reads; of a hard disk, of its outer tracks.
    pub read: Option<f64>,
    /// Sequential writes.
    pub write: Option<f64>,
    /// Random reads a second.
    pub read_iops: Option<u32>,
    /// Random writes a second.
    pub write_iops: Option<u32>,
    /// Endurance, in TB (10¹²) written.
    pub tbw: Option<f64>,
    /// Its SLC cache, in GB.
    pub slc: Option<f64>,
    /// Sequential writes once that cache is full.
    pub after_slc: Option<f64>,
    /// Memory of a hard disk, in MB.
    pub cache: Option<u32>,
    /// Address of the text that has the figures, if not that of the product.
    pub source: Option<String>,
}

impl RatedDrive {
    /// Its patterns.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        list(&self.models)
    }
}

/// The items of a list with commas.
fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',').map(str::trim)
}

/// As models are compared: lower case, and single spaces where a system writes several or an underscore.
pub(crate) fn plain(model: &str) -> String {
    model.replace('_', " ").split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// A volume of a cloud, whose limits follow from its size and its type. Speeds in MB/s (10⁶).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Volume {
    /// Provider and type.
    pub name: String,
    /// What the system reports as the model.
    pub models: String,
    /// I/Os a second, whatever its size.
    pub iops_base: Option<f64>,
    /// Further I/Os a second for each GiB.
    pub iops_per_gib: Option<f64>,
    /// Fewest I/Os a second.
    pub iops_min: Option<f64>,
    /// Most I/Os a second.
    pub iops_max: Option<f64>,
    /// I/Os a second as long as credits last.
    pub burst_iops: Option<f64>,
    /// MB/s, whatever its size.
    pub mb_base: Option<f64>,
    /// Further MB/s for each GiB.
    pub mb_per_gib: Option<f64>,
    /// Lowest limit, in MB/s.
    pub mb_min: Option<f64>,
    /// Highest limit, in MB/s.
    pub mb_max: Option<f64>,
    /// MB/s as long as credits last.
    pub burst_mb: Option<f64>,
    /// MB/s for each GiB as long as credits last, up to `burst_mb`.
    pub burst_mb_per_gib: Option<f64>,
    /// Whether the limits follow from the size alone.
    pub default_for_size: bool,
    /// Limits by size, if no formula gives them; the first tier that is large enough counts.
    pub tiers: Vec<Tier>,
    /// Address of the text that has the figures.
    pub source: String,
}

/// Limits up to a size.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Tier {
    /// As the provider calls it.
    pub name: Option<String>,
    /// Largest size, in GiB.
    pub gib: f64,
    /// I/Os a second.
    pub iops: Option<f64>,
    /// MB/s.
    pub mb: Option<f64>,
    /// I/Os a second with credits.
    pub burst_iops: Option<f64>,
    /// MB/s with credits.
    pub burst_mb: Option<f64>,
}

/// What a new drive reached in a review, in MB/s (10⁶).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Review {
    /// Maker and product.
    pub product: String,
    /// Capacity as sold, in GB.
    pub gb: Option<f64>,
    /// Its link.
    pub link: Option<Link>,
    /// Its cells, or how a disk records.
    pub medium: Option<Medium>,
    /// Where it keeps its mapping table.
    pub memory: Option<Memory>,
    /// Rotation of a hard disk.
    pub rpm: Option<u32>,
    /// A USB stick rather than an SSD in a case.
    #[serde(default)]
    pub stick: bool,
    /// Its rated reads.
    pub rated_read: Option<f64>,
    /// Its rated writes.
    pub rated_write: Option<f64>,
    /// What it was measured with.
    pub tool: Option<String>,
    /// Sequential reads.
    pub read: Option<f64>,
    /// Sequential writes.
    pub write: Option<f64>,
    /// Random reads of 4 KiB at queue depth 1.
    pub read_q1: Option<f64>,
    /// Random writes of 4 KiB at queue depth 1.
    pub write_q1: Option<f64>,
    /// Address of the text that has the figures.
    pub source: String,
}

/// What a maker, the kernel or a good report says is wrong with some versions of the firmware of a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirmwareFault {
    /// Maker and product.
    pub product: String,
    /// Patterns of what the system reports as the model, as those of a rated drive.
    pub models: String,
    /// Patterns of the versions that have the fault, with commas between. Versions are never compared by their order.
    pub firmware: String,
    /// What happens, as one clause in lower case: `it locks itself read-only`.
    pub happens: String,
    /// A version without the fault; `None` if the source names none.
    pub fixed: Option<String>,
    /// Hours with power after which it happens.
    pub hours: Option<u32>,
    /// Whether data can be lost.
    #[serde(default)]
    pub data_at_risk: bool,
    /// Whether Linux avoids what does not work, so that its users do not meet the fault.
    #[serde(default)]
    pub linux_avoids: bool,
    /// Address of the text that says so.
    pub source: String,
}

impl FirmwareFault {
    /// Its patterns of models.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        list(&self.models)
    }

    /// Its patterns of versions.
    pub fn versions(&self) -> impl Iterator<Item = &str> {
        list(&self.firmware)
    }
}
