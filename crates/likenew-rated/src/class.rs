//! Classes: drives that are alike in how fast they can be, and what is usual for new drives of a class.

use std::fmt;

use likenew_core::facts::{Drive, DriveKind, Facts, Hop};
use likenew_core::quantity::{Iops, Rate, range};
use likenew_stats::summary::{median, quantile_of_sorted};

use crate::book::{Link, Product, Review};
use crate::{all, book, of_drive};

/// Fewest models that show what is usual. Chosen.
const MODELS_LEAST: usize = 5;
/// Ratio up to which capacities count as alike, if enough models are known: write speeds of SSDs, and all
/// speeds of hard disks, grow with capacity.
const CAPACITY: f64 = 2.0;
/// Quantiles of models between which a value is usual. Chosen: one in ten may lie beyond either end.
const USUAL: (f64, f64) = (0.1, 0.9);
/// Bytes of a small I/O, which reviews state as MB/s.
const SMALL: f64 = 4096.0;

/// A class of drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// NVMe by generation and lanes of PCI Express that the drive itself has.
    Nvme {
        /// Generation of PCI Express.
        generation: u8,
        /// Lanes of PCI Express.
        lanes: u8,
    },
    /// An SSD on SATA of so many Gb/s.
    SataSsd {
        /// Rounded down: 1, 3, 6.
        gbit: u8,
    },
    /// A hard disk, however it is connected: its medium is slower than any link since SATA.
    Disk {
        /// 5400, 7200, 10000 or 15000.
        rpm: u32,
    },
    /// An SSD in a case, by its USB link.
    UsbSsd(Link),
    /// A USB stick.
    Stick(Link),
    /// An SD card.
    Card,
    /// Flash on a board.
    Emmc,
}

impl Class {
    /// The class from what is known of a product.
    fn new(link: Option<Link>, rpm: Option<u32>, is_stick: bool) -> Option<Self> {
        if let Some(rpm) = rpm {
            return Self::disk(rpm);
        }
        let link = link?;
        if let Some((generation, lanes)) = link.pcie() {
            return Some(Self::Nvme { generation, lanes });
        }
        Some(match link {
            Link::Sata1 => Self::SataSsd { gbit: 1 },
            Link::Sata3g => Self::SataSsd { gbit: 3 },
            Link::Sata6g => Self::SataSsd { gbit: 6 },
            _ if link.is_external() && is_stick => Self::Stick(link),
            _ if link.is_external() => Self::UsbSsd(link),
            Link::Sd => Self::Card,
            Link::Emmc => Self::Emmc,
            _ => return None,
        })
    }

    /// From the rpm that a maker states: 5,700 and 5,900 are variants of 5,400.
    fn disk(rpm: u32) -> Option<Self> {
        let rpm = match rpm {
            4200..=6000 => 5400,
            7000..=7400 => 7200,
            10_000..=10_600 => 10_000,
            15_000..=15_100 => 15_000,
            _ => return None,
        };
        Some(Self::Disk { rpm })
    }

    /// The class of a product.
    pub fn of_product(product: &Product) -> Option<Self> {
        Self::new(product.link, product.rpm, product.stick)
    }

    fn of_review(review: &Review) -> Option<Self> {
        Self::new(review.link, review.rpm, review.stick)
    }

    /// The class of a drive: that of its product, else by what the system reports. `None` for a drive of a
    /// hypervisor or a cloud, and if too little is known.
    pub fn of_drive(drive: &Drive) -> Option<Self> {
        if !drive.is_real() {
            return None;
        }
        if let Some(rated) = of_drive(drive) {
            return Self::of_product(rated.product);
        }
        let own = drive.link.hops.first();
        let line = own.and_then(line_bits);
        match (drive.kind, drive.identity.rotation_rpm.get()) {
            (_, Some(rpm @ 1..)) => Self::disk(rpm),
            (DriveKind::Nvme, _) => {
                let generation = match line? {
                    2_000_000_000..4_000_000_000 => 1,
                    4_000_000_000..8_000_000_000 => 2,
                    8_000_000_000..16_000_000_000 => 3,
                    16_000_000_000..32_000_000_000 => 4,
                    32_000_000_000..64_000_000_000 => 5,
                    _ => return None,
                };
                let hop = own?;
                let lanes = hop.lanes_max.get().or_else(|| hop.lanes.get())?;
                Some(Self::Nvme { generation, lanes: u8::try_from(lanes).ok()? })
            }
            (DriveKind::Sata, Some(0)) => Some(Self::SataSsd {
                gbit: match line? {
                    6_000_000_000.. => 6,
                    3_000_000_000.. => 3,
                    _ => 1,
                },
            }),
            (DriveKind::Card, _) => match drive.card.as_ref()?.kind.value()?.as_str() {
                "SD" => Some(Self::Card),
                "MMC" => Some(Self::Emmc),
                _ => None,
            },
            _ => None,
        }
    }

    /// With its article: `an NVMe SSD on PCIe 3.0 ×4`.
    pub fn words(self) -> String {
        match self {
            Self::Nvme { generation, lanes } => format!("an NVMe SSD on PCIe {generation}.0 ×{lanes}"),
            Self::SataSsd { gbit: 6 } => "a SATA SSD".into(),
            Self::SataSsd { gbit } => {
                format!("an SSD on SATA {} Gb/s", if gbit == 1 { "1.5" } else { "3" })
            }
            Self::Disk { rpm } => format!("a hard disk of {},{:03} rpm", rpm / 1000, rpm % 1000),
            Self::UsbSsd(link) => format!("a portable SSD on {}", link.words()),
            Self::Stick(link) => format!("a stick on {}", link.words()),
            Self::Card => "an SD card".into(),
            Self::Emmc => "eMMC flash".into(),
        }
    }
}

fn line_bits(own: &Hop) -> Option<u64> {
    own.line_bits_per_s_max.get().or_else(|| own.line_bits_per_s.get())
}

/// The figure that is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Figure {
    /// Sequential reads, in bytes a second.
    Read,
    /// Sequential writes, in bytes a second, as long as a cache takes them.
    Write,
    /// Random reads of 4 KiB at queue depth 1, a second.
    SmallRead,
    /// Random writes of 4 KiB at queue depth 1, a second.
    SmallWrite,
}

/// What new drives of a class reach, over its models.
#[derive(Clone, Debug, PartialEq)]
pub struct Usual {
    /// Which class.
    pub class: Class,
    /// Which figure.
    pub figure: Figure,
    /// The value of each model, ascending: its rating times the share of it that reviews found, or what reviews measured.
    pub values: Vec<f64>,
    /// What the slowest of them reached, at the smallest share that a review found.
    pub least: f64,
}

impl Usual {
    /// The median of the models.
    pub fn median(&self) -> f64 {
        quantile_of_sorted(&self.values, 0.5).unwrap_or(f64::NAN)
    }

    /// What four of five models reach.
    pub fn range(&self) -> (f64, f64) {
        let quantile = |share| quantile_of_sorted(&self.values, share).unwrap_or(f64::NAN);
        (quantile(USUAL.0), quantile(USUAL.1))
    }

    /// Share of the models that are faster than a value.
    pub fn share_faster(&self, value: f64) -> f64 {
        let slower = self.values.partition_point(|known| *known <= value);
        1.0 - slower as f64 / self.values.len() as f64
    }
}

impl fmt::Display for Usual {
    /// What four of five models reach: `2.10–3.50 GB/s`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = self.range();
        out.write_str(&match self.figure {
            Figure::Read | Figure::Write => range(Rate(low), Rate(high)),
            Figure::SmallRead | Figure::SmallWrite => range(Iops(low), Iops(high)),
        })
    }
}

/// What is usual for drives like the one below the target; `None` if something hides its own speed. Also `None` for
/// writes to a hard disk, which may go to inner tracks: they hold half as much as the outer ones, which are rated.
pub fn usual_for(facts: &Facts, figure: Figure) -> Option<Usual> {
    let drive = facts.plain_drive()?;
    let class = Class::of_drive(drive)?;
    let is_disk_write = matches!((class, figure), (Class::Disk { .. }, Figure::Write));
    if is_disk_write { None } else { usual(class, drive.identity.capacity_bytes.get(), figure) }
}

/// What is usual for drives of a class with about this capacity; `None` if too few models are known.
pub fn usual(class: Class, capacity_bytes: Option<u64>, figure: Figure) -> Option<Usual> {
    let (mut values, share_least) = match figure {
        Figure::Read | Figure::Write => {
            let reached = reached(class, figure);
            (rated(class, capacity_bytes, figure, reached.0), reached.1)
        }
        Figure::SmallRead | Figure::SmallWrite => (measured(class, figure), 1.0),
    };
    values.retain(|value| value.is_finite() && *value > 0.0);
    values.sort_by(f64::total_cmp);
    let least = *values.first()? * share_least;
    (values.len() >= MODELS_LEAST).then_some(Usual { class, figure, values, least })
}

/// Rated speeds of a class in bytes a second, times a share.
fn rated(class: Class, capacity_bytes: Option<u64>, figure: Figure, share: f64) -> Vec<f64> {
    let known = || {
        all().filter(|rated| Class::of_product(rated.product) == Some(class)).filter_map(|rated| {
            let mb = if figure == Figure::Read {
                rated.drive.read
            } else {
                rated.drive.write.or(disk_write(&rated))
            };
            Some((rated.drive.gb, mb? * 1e6 * share))
        })
    };
    let is_near = |gb: Option<f64>| {
        let (Some(gb), Some(bytes)) = (gb, capacity_bytes) else { return false };
        (1.0 / CAPACITY..=CAPACITY).contains(&(gb * 1e9 / bytes as f64))
    };
    let near: Vec<f64> = known().filter(|(gb, _)| is_near(*gb)).map(|(_, value)| value).collect();
    if near.len() >= MODELS_LEAST { near } else { known().map(|(_, value)| value).collect() }
}

/// A hard disk writes as fast as it reads: its medium decides both.
fn disk_write(rated: &crate::Rated) -> Option<f64> {
    rated.drive.read.filter(|_| rated.product.rpm.is_some())
}

/// The median and the smallest share of rated speeds that new drives reached in reviews: of the class, else
/// of all drives. Makers write "up to".
fn reached(class: Class, figure: Figure) -> (f64, f64) {
    let share = |review: &Review| match figure {
        Figure::Read => Some(review.read? / review.rated_read?),
        _ => Some(review.write? / review.rated_write?),
    };
    let middle_and_least = |reviews: Vec<&Review>| {
        let shares: Vec<f64> = reviews.into_iter().filter_map(share).collect();
        let least = shares.iter().copied().fold(f64::INFINITY, f64::min);
        (shares.len() >= MODELS_LEAST).then(|| (median(&shares).unwrap_or(1.0).min(1.0), least.min(1.0)))
    };
    let reviews = &book().reviews;
    let own = reviews.iter().filter(|review| Class::of_review(review) == Some(class)).collect();
    middle_and_least(own).or_else(|| middle_and_least(reviews.iter().collect())).unwrap_or((1.0, 1.0))
}

/// Small I/Os a second that reviews measured for a class.
fn measured(class: Class, figure: Figure) -> Vec<f64> {
    let own = book().reviews.iter().filter(|review| Class::of_review(review) == Some(class));
    let mb = |review: &Review| if figure == Figure::SmallRead { review.read_q1 } else { review.write_q1 };
    own.filter_map(|review| Some(mb(review)? * 1e6 / SMALL)).collect()
}
