//! Limits of cloud volumes, which follow from their size and type.

use wildmatch::WildMatch;

use crate::book::{self, Volume, plain};

/// What the limits of a type say of one volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// Its size alone decides.
    OfSize,
    /// It has at least as much; more may have been bought.
    Least,
    /// It has what was bought; this is the most that can be.
    Most,
}

/// What a volume of one type is limited to.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// Provider and type.
    pub name: &'static str,
    /// I/Os a second that it sustains.
    pub iops: Option<f64>,
    /// Bytes a second that it sustains.
    pub bytes_per_s: Option<f64>,
    /// I/Os a second while credits last.
    pub burst_iops: Option<f64>,
    /// Bytes a second while credits last.
    pub burst_bytes_per_s: Option<f64>,
    /// How certain the limits are.
    pub kind: LimitKind,
    /// Address of the text that has the figures.
    pub source: &'static str,
}

/// The limits of each type that a volume of this model may be, because systems do not report the type.
pub fn volumes(model: &str, capacity_bytes: u64) -> Vec<Limits> {
    let model = plain(model);
    let gib = capacity_bytes as f64 / f64::from(1u32 << 30);
    let is_model = |volume: &&Volume| {
        volume.models.split(',').any(|pattern| WildMatch::new(&plain(pattern)).matches(&model))
    };
    crate::book().volumes.iter().filter(is_model).map(|volume| limits(volume, gib)).collect()
}

fn limits(volume: &'static Volume, gib: f64) -> Limits {
    let tier = volume.tiers.iter().find(|tier| gib <= tier.gib).or(volume.tiers.last());
    let by_size = |base: Option<f64>, each: Option<f64>, least: Option<f64>, most: Option<f64>| {
        let any = base.or(each).or(least).or(most)?;
        let value = if base.is_none() && each.is_none() {
            any
        } else {
            base.unwrap_or(0.0) + each.unwrap_or(0.0) * gib
        };
        Some(value.max(least.unwrap_or(0.0)).min(most.unwrap_or(f64::INFINITY)))
    };
    let of_tier = |figure: fn(&book::Tier) -> Option<f64>| tier.and_then(figure);
    let iops = of_tier(|tier| tier.iops)
        .or_else(|| by_size(volume.iops_base, volume.iops_per_gib, volume.iops_min, volume.iops_max));
    let mb = of_tier(|tier| tier.mb)
        .or_else(|| by_size(volume.mb_base, volume.mb_per_gib, volume.mb_min, volume.mb_max));
    // A burst limit counts only if it exceeds the sustained one.
    let beyond = |burst: Option<f64>, always: Option<f64>| {
        burst.filter(|burst| always.is_none_or(|always| *burst > always))
    };
    let burst_of_size = by_size(None, volume.burst_mb_per_gib, None, volume.burst_mb);
    let burst_mb = beyond(of_tier(|tier| tier.burst_mb).or(burst_of_size), mb);
    Limits {
        name: &volume.name,
        iops,
        bytes_per_s: mb.map(|mb| mb * 1e6),
        burst_iops: beyond(of_tier(|tier| tier.burst_iops).or(volume.burst_iops), iops),
        burst_bytes_per_s: burst_mb.map(|mb| mb * 1e6),
        kind: if volume.default_for_size {
            LimitKind::OfSize
        } else if volume.iops_base.is_some() || volume.mb_base.is_some() {
            LimitKind::Least
        } else {
            LimitKind::Most
        },
        source: &volume.source,
    }
}
