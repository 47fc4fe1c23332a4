//! The weight of each piece of evidence for each cause: the only table of weights, with their origins.
//!
//! A weight is log₂ of how many times as probable a piece of evidence is with the cause at work as without
//! it: one for when it is present, and one for when it is known to be absent. `cargo xtask bench diagnosis
//! --fit` fits the table on simulated drives of even seeds, with these values as its prior, and reports on
//! drives of odd seeds how much that gains.

/// The weight of one piece of evidence for one cause.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// The cause, by its name in JSON.
    pub cause: &'static str,
    /// The piece of evidence.
    pub evidence_id: &'static str,
    /// Bits if it is present.
    pub when_present: f64,
    /// Bits if it is absent.
    pub when_absent: f64,
    /// Evidence of one group has one root and counts once.
    pub group: Option<&'static str>,
    /// Origin of both values.
    pub origin: Origin,
}

/// The origin of a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Set by hand, from how the mechanism works and from the sources that the cause's manual page cites.
    Hand,
}

const fn weight(
    cause: &'static str,
    evidence_id: &'static str,
    when_present: f64,
    when_absent: f64,
) -> Weight {
    Weight { cause, evidence_id, when_present, when_absent, group: None, origin: Origin::Hand }
}

impl Weight {
    const fn in_group(self, group: &'static str) -> Self {
        Self { group: Some(group), ..self }
    }

    /// The weight of a piece of evidence.
    ///
    /// # Panics
    /// The table has no such evidence: a bug.
    pub fn lookup(cause: &str, evidence_id: &str) -> Self {
        let found = WEIGHTS.iter().find(|weight| weight.cause == cause && weight.evidence_id == evidence_id);
        *found.unwrap_or_else(|| panic!("the table of weights has no evidence {evidence_id} of {cause}"))
    }
}

/// How common a cause is among drives that are checked, in bits of odds.
///
/// # Panics
/// The table has no such cause: a bug.
pub fn prior(cause: &str) -> f64 {
    let found = PRIORS.iter().find(|(name, _)| *name == cause);
    found.unwrap_or_else(|| panic!("the table of weights has no cause {cause}")).1
}

/// By cause; set by hand.
pub const PRIORS: &[(&str, f64)] = &[
    ("background_io", -1.0),
    ("compression", -2.0),
    ("counterfeit", -1.0),
    ("degraded_array", -2.0),
    ("encryption", -1.0),
    ("firmware", -2.5),
    ("fragmentation", -1.0),
    ("heat", -1.5),
    ("host_memory", -1.5),
    ("lazy_volume", -1.5),
    ("link_errors", -2.0),
    ("misalignment", -2.0),
    ("narrow_link", -1.0),
    ("nearly_full", -2.0),
    ("no_trim", -1.0),
    ("old_data", -0.5),
    ("power_saving", -0.5),
    ("read_cache", -0.5),
    ("scattered_data", -1.5),
    ("shingled", -2.0),
    ("slc_cache", 0.0),
    ("slow_usb", -1.0),
    ("token_bucket", -1.5),
    ("slow_region", -1.0),
    ("worn_out", -2.0),
    ("write_cache_off", -1.5),
];

/// By cause, in the order in which pieces of evidence are scored.
pub const WEIGHTS: &[Weight] = &[
    weight("background_io", "background_io", 5.0, -5.0),
    weight("background_io", "array_busy", -4.0, 0.0),
    weight("background_io", "uneven_reads", 1.5, -0.5),
    weight("compression", "zeros_faster", 6.0, -7.0),
    weight("compression", "hard_disk", -6.0, 0.0),
    weight("compression", "virtual", -5.0, 0.0),
    weight("counterfeit", "wrong_data", 7.0, -3.0),
    weight("degraded_array", "array_degraded", 7.0, -7.0),
    weight("encryption", "encrypted", 2.0, -8.0),
    weight("encryption", "processor_busy", 4.0, -1.5),
    weight("encryption", "same_delay", -0.5, 4.0),
    weight("encryption", "reads_below_writes", 1.2, 0.0),
    weight("encryption", "alike_visible", 0.0, 2.0),
    weight("encryption", "alike_hidden", -2.0, 4.0),
    weight("firmware", "known_bug", 6.0, -3.0),
    weight("fragmentation", "many_pieces", 4.0, -6.0),
    weight("fragmentation", "hard_disk", 3.0, -3.0),
    weight("fragmentation", "new_file_faster", 2.0, -0.5),
    weight("fragmentation", "reads_fit_seeks", 1.5, -2.0),
    weight("heat", "slower_when_warm", 3.5, -3.0),
    weight("heat", "one_rate", -4.0, 0.0),
    weight("heat", "throttle_count", 8.0, -1.0).in_group("temperature"),
    weight("heat", "near_limit", 2.5, -2.0).in_group("temperature"),
    weight("heat", "cliff_at_half_rate", -4.0, 3.0),
    weight("heat", "virtual", -5.0, 0.0),
    weight("host_memory", "spread_costs", 3.0, -5.0),
    weight("host_memory", "memory_refused", 6.0, -4.0),
    weight("host_memory", "nvme", 0.0, -8.0),
    weight("host_memory", "hard_disk", -8.0, 0.0),
    weight("host_memory", "virtual", -4.0, 0.0),
    weight("lazy_volume", "full_speed", -3.0, 0.0),
    weight("lazy_volume", "just_written", -8.0, 0.0),
    weight("lazy_volume", "repeat_read_faster", 4.0, -6.0),
    weight("lazy_volume", "virtual", 3.5, -5.0),
    weight("lazy_volume", "slow_fetch", 0.5, -4.0),
    weight("lazy_volume", "counted_reads", 1.0, -4.0),
    weight("link_errors", "crc_during", 6.0, -2.5).in_group("crc"),
    weight("link_errors", "crc_before", 2.0, -0.5).in_group("crc"),
    weight("misalignment", "aligned_slower", 5.0, -4.0),
    weight("misalignment", "partition_off", 4.0, -5.0),
    weight("misalignment", "only_small_writes", 1.5, -1.0),
    weight("narrow_link", "link_share", 4.0, -6.0),
    weight("narrow_link", "usb", -8.0, 0.0),
    weight("narrow_link", "reads_at_ceiling", 4.0, -4.0),
    weight("nearly_full", "full", 5.0, -6.0),
    weight("nearly_full", "virtual", -4.0, 0.0),
    weight("nearly_full", "hard_disk", -4.0, 0.5),
    weight("no_trim", "trim_helps", 4.0, -0.5),
    weight("no_trim", "trim_blocked", 2.5, -0.3).in_group("arrival"),
    weight("no_trim", "trim_sent", -3.0, 5.0).in_group("arrival"),
    weight("no_trim", "hard_disk", -8.0, 0.5),
    weight("no_trim", "virtual", -3.0, 0.0),
    weight("no_trim", "writes_below_reads", -0.5, 2.0),
    weight("no_trim", "background_io", -2.0, 0.0).in_group("disturbance"),
    weight("no_trim", "crc_during", -3.0, 0.0).in_group("disturbance"),
    weight("no_trim", "rewritten_faster", 0.5, -2.0),
    weight("old_data", "new_data_faster", 5.0, -5.0),
    weight("old_data", "repeat_read_faster", -4.0, 1.0),
    weight("old_data", "background_io", -3.0, 0.0),
    weight("old_data", "faster_than_link", -4.0, 0.0),
    weight("old_data", "older_than_a_month", 1.5, -1.0).in_group("age"),
    weight("old_data", "written_this_week", -4.0, 0.0).in_group("age"),
    weight("old_data", "hard_disk", -6.0, 0.5),
    weight("old_data", "virtual", -6.0, 0.0),
    weight("power_saving", "pauses_cost", 4.0, -5.0),
    weight("power_saving", "sleeps", 1.5, -2.0),
    weight("power_saving", "virtual", -4.0, 0.0),
    weight("read_cache", "counted_reads", -0.5, 5.0),
    weight("read_cache", "repeat_read_faster", 5.0, -0.5),
    weight("read_cache", "background_io", -1.0, 0.0).in_group("disturbance"),
    weight("read_cache", "crc_during", -4.0, 0.0).in_group("disturbance"),
    weight("read_cache", "faster_than_link", 6.0, -1.0),
    weight("scattered_data", "rewritten_faster", 4.0, -3.0),
    weight("scattered_data", "trim_helps", -3.0, 1.0),
    weight("scattered_data", "trim_arrives", 0.5, -2.0),
    weight("scattered_data", "nothing_free", 1.5, -0.5).in_group("room"),
    weight("scattered_data", "hard_disk", -8.0, 0.5),
    weight("scattered_data", "virtual", -4.0, 0.0),
    weight("scattered_data", "writes_below_reads", -0.5, 2.0),
    weight("scattered_data", "writes_far_below", 0.0, 1.7).in_group("room"),
    weight("scattered_data", "slower_when_warm", -3.0, 0.0),
    weight("scattered_data", "throttle_count", -4.0, 0.0),
    weight("scattered_data", "background_io", -4.0, 0.0).in_group("disturbance"),
    weight("scattered_data", "crc_during", -3.0, 0.0).in_group("disturbance"),
    weight("shingled", "hard_disk", 2.0, -8.0),
    weight("shingled", "virtual", -6.0, 0.0),
    weight("shingled", "database", 6.0, 0.0),
    weight("shingled", "knows_trim", 3.0, -0.5),
    weight("shingled", "write_cliff", 3.0, -1.5),
    weight("shingled", "cached_writes", -1.0, 4.0),
    weight("shingled", "writes_beyond_seek", 6.0, 0.0),
    weight("slc_cache", "write_cliff", 3.0, -4.0),
    weight("slc_cache", "cliff_repeats", 3.0, -3.0),
    weight("slc_cache", "rewritten_faster", -6.0, 0.0),
    weight("slc_cache", "cliff_at_half_rate", 3.0, -5.0),
    weight("slc_cache", "slower_when_warm", -2.0, 0.0),
    weight("slc_cache", "cliff_beyond_normal", -6.0, 1.0),
    weight("slc_cache", "protected_memory", -8.0, 0.0),
    weight("slc_cache", "hard_disk", -8.0, 1.0),
    weight("slc_cache", "virtual", -3.0, 0.0),
    weight("slow_usb", "usb", 1.0, -8.0),
    weight("slow_usb", "slow_ceiling", 5.0, -1.0).in_group("port"),
    weight("slow_usb", "slow_possible", 1.0, -4.0).in_group("port"),
    weight("slow_usb", "reads_held", 6.0, -1.0).in_group("port"),
    weight("slow_usb", "storage_driver", 2.5, -1.5).in_group("bridge"),
    weight("slow_usb", "depth_helps", -2.0, 1.0).in_group("bridge"),
    weight("token_bucket", "burst", 4.0, -3.0),
    weight("token_bucket", "burst_of_load", 4.0, 0.0),
    weight("token_bucket", "virtual", -0.5, -5.0).in_group("shown"),
    weight("token_bucket", "cloud", 2.5, -1.0).in_group("shown"),
    weight("token_bucket", "deep_below", -4.0, 3.0),
    weight("token_bucket", "depth_helps", -2.0, 3.0),
    weight("token_bucket", "writes_above", -5.0, 0.5),
    weight("token_bucket", "throttle_count_cloud", 4.0, -2.0),
    weight("slow_region", "hard_disk", 2.0, -4.0),
    weight("slow_region", "slow_regions", 3.0, -4.0),
    weight("slow_region", "repeat_read_faster", -4.0, 1.5),
    weight("slow_region", "pending_sectors", 4.0, -2.0).in_group("defects"),
    weight("slow_region", "reallocated_sectors", 1.5, -0.5).in_group("defects"),
    weight("slow_region", "errors", 2.0, -0.5).in_group("defects"),
    weight("worn_out", "endurance_used", 6.0, -4.0).in_group("wear"),
    weight("worn_out", "endurance_half_used", 2.0, 0.0).in_group("wear"),
    weight("worn_out", "reads_below_writes", 3.0, -0.5),
    weight("worn_out", "new_data_faster", -2.0, 0.5),
    weight("worn_out", "spare_low", 5.0, -0.5).in_group("wear"),
    weight("worn_out", "failing", 3.0, -0.2).in_group("wear"),
    weight("worn_out", "hard_disk", -6.0, 0.0),
    weight("worn_out", "background_io", -2.0, 0.0).in_group("disturbance"),
    weight("worn_out", "crc_during", -3.0, 0.0).in_group("disturbance"),
    weight("worn_out", "encrypted", -1.5, 0.0),
    weight("worn_out", "virtual", -5.0, 0.0),
    weight("write_cache_off", "write_through", 3.0, -7.0),
    weight("write_cache_off", "cached_writes", 3.0, -3.0),
    weight("write_cache_off", "writes_below", -4.0, 2.0),
    weight("write_cache_off", "background_io", -4.0, 0.0),
    weight("write_cache_off", "virtual", -5.0, 0.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_evidence_has_one_weight_and_belongs_to_a_cause() {
        for (index, weight) in WEIGHTS.iter().enumerate() {
            let duplicate =
                |other: &&Weight| (other.cause, other.evidence_id) == (weight.cause, weight.evidence_id);
            assert!(!WEIGHTS[index + 1..].iter().any(|other| duplicate(&other)), "{weight:?}");
            assert!(crate::by_name(weight.cause).is_some() && prior(weight.cause).is_finite(), "{weight:?}");
            assert!(weight.when_present != weight.when_absent, "{weight:?} says nothing");
        }
        assert_eq!(PRIORS.len(), crate::ALL.len());
    }
}
