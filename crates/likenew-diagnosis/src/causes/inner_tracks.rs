//! A partition towards the inner edge of a hard disk.

use super::shared::*;

/// Share of the disk before the partition, from which its place alone makes it slow. Chosen: sequential I/O there
/// is at 84% of the outer edge, just below what counts as slow beside a baseline.
const INWARD: f64 = 0.4;
/// Rate of the innermost tracks over that of the outermost ones, typical of 3.5-inch and 2.5-inch disks.
const INNER_OVER_OUTER: f64 = 0.5;
/// Sequential reads over what the place explains, above which nothing else slows them down. Chosen: the ratio of
/// inner to outer tracks differs by that much between models.
const EXPLAINED: f64 = 0.8;
/// Random over sequential reads, each as a share of its reference, from which only sequential I/O is slow.
/// Chosen: above the scatter of checks.
const ONLY_SEQUENTIAL: f64 = 1.15;

pub(super) static CAUSE: Cause = Cause {
    name: "inner_tracks",
    title: "inner tracks",
    summary: "the partition lies towards the inner edge of the disk, where a turn passes fewer bytes",
    manual: include_str!("inner_tracks.md"),
    kind: CauseKind::ByDesign,
    prior: -2.0,
    explains: &[&[
        Below(Metric::SequentialRead),
        Below(Metric::SequentialWrite),
        Below(Metric::SustainedWrite),
    ]],
    evidence: &[
        hard_disk(0.5, -8.0),
        virtual_disk(-4.0),
        fact("starts_inward", 4.0, -6.0, |case| {
            let before = share_before(case)?;
            Some((before >= INWARD, format!("{} of the disk lie before the partition.", Share(before))))
        })
        .hint(Hint::facts("See where the partition starts")),
        measured("as_fast_as_its_place", 1.5, -3.0, EXPLAINED, |case| {
            let place = rate_at(share_before(case)?);
            let ratio = case.is_below(Metric::SequentialRead)?.scale_by(1.0 / place);
            let text = format!(
                "Sequential reads are at {} of their reference; {} is usual at this place of a disk.",
                share(case.is_below(Metric::SequentialRead)?),
                Share(place)
            );
            Some((ratio, text))
        }),
        measured("only_sequential", 1.5, -1.5, ONLY_SEQUENTIAL, |case| {
            let random = case.is_below(Metric::RandomRead)?;
            let ratio = random.divide_by(case.is_below(Metric::SequentialRead)?);
            let times = times(ratio);
            let text =
                format!("Against their references, 4K random reads are {times} as fast as sequential ones.");
            Some((ratio, text))
        }),
    ],
    actions: |_| {
        let why = "Keep what is read and written in long runs on a partition at the start of the disk";
        vec![Action::new("use_outer_tracks", why)]
    },
    costs: &[("use_outer_tracks", "moving files")],
    ..Cause::BLANK
};

/// Share of the disk that lies before the partition.
fn share_before(case: &Case<'_>) -> Option<f64> {
    let facts = case.facts?;
    let disk = facts.stack.iter().find(|layer| matches!(layer.kind, LayerKind::Disk | LayerKind::UsbDisk))?;
    let starts = facts.layers_of(LayerKind::Partition).map(|layer| layer.start_bytes.get());
    Some(starts.sum::<Option<u64>>()? as f64 / disk.capacity_bytes.get().filter(|bytes| *bytes > 0)? as f64)
}

/// Rate of sequential I/O at a place of a disk, over that of its outer edge. With equal density, a track of radius
/// r holds r times as much, and the share of the disk outside of it is (1 − r²) / (1 − r₀²).
fn rate_at(share_before: f64) -> f64 {
    (1.0 - share_before * (1.0 - INNER_OVER_OUTER * INNER_OVER_OUTER)).max(INNER_OVER_OUTER.powi(2)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inner_edge_is_half_as_fast_and_the_outer_edge_as_fast() {
        for (before, rate) in [(0.0, 1.0), (INWARD, 0.84), (1.0, INNER_OVER_OUTER), (2.0, INNER_OVER_OUTER)] {
            assert!((rate_at(before) - rate).abs() < 0.005, "{before}: {}", rate_at(before));
        }
    }
}
