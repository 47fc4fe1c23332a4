//! A drive without a write cache.

use super::shared::*;
use crate::settings::{WRITE_CACHE, write_cache};

/// Time of a 4K random write over that of a read above which nothing caches it. Chosen: an arm has to move for each.
const CACHED: f64 = 0.3;

pub(super) static CAUSE: Cause = Cause {
    name: "write_cache_off",
    title: "write cache off",
    summary: "the write cache is off, so each write waits for the medium",
    manual: include_str!("write_cache_off.md"),
    kind: CauseKind::NotTheDrive,
    prior: -1.5,
    explains: &[&[Below(Metric::RandomWrite), Below(Metric::SequentialWrite), Below(Metric::SustainedWrite)]],
    evidence: &[
        fact("write_through", 3.0, -7.0, |case| {
            let cache = case.facts?.stack.iter().rev().find_map(|layer| layer.write_cache.value())?;
            either(
                cache == "write through",
                "The kernel reports no write cache, or that it is off.",
                "Its write cache is on.",
            )
        })
        .hint(Hint::facts("See whether its write cache is on")),
        small_writes("cached_writes", 3.0, -3.0, CACHED),
        measured("writes_below", -4.0, 2.0, 0.7, |case| {
            let below = case.is_below(Metric::RandomWrite)?;
            Some((below, format!("4K random writes reach {} of their reference.", share(below))))
        })
        .hint(Hint::here("Give its rated IOPS with --advertised random_write=IOPS")),
        other_io(-4.0),
        virtual_disk(-5.0),
    ],
    actions: |case| {
        let change = case.drive().and_then(write_cache);
        change.map_or_else(|| vec![Action::new("enable_write_cache", WRITE_CACHE)], |change| change.actions())
    },
    ..Cause::BLANK
};
