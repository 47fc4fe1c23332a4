//! How many clusters a write leaves partly written, on average over where it may begin.

/// The mean number of partial clusters of a write of `length` bytes at a random multiple of `align`, in
/// clusters of `cluster` bytes: what the write does not cover of a cluster has to be read and written again.
/// A write within one cluster leaves one partial, whole clusters none, and the two ends of a longer write one
/// each. The length is a multiple of `align`.
///
/// Counted in units of g = gcd(align, cluster), a cluster has m = cluster/g places where a write may begin,
/// each as likely, and a write l = length/g. If l < m, m − l + 1 places keep it within one cluster, and at
/// the others both of its ends are partial. If l ≥ m, its start is partial at all places but one, and so is
/// its end.
pub(super) fn partial_clusters(length: u64, align: u64, cluster: u64) -> f64 {
    assert!(length > 0 && align > 0 && cluster > 0 && length.is_multiple_of(align));
    let unit = gcd(align, cluster);
    let (places, long) = ((cluster / unit) as f64, (length / unit) as f64);
    if long < places {
        return (places - long + 1.0 + 2.0 * (long - 1.0)) / places;
    }
    2.0 * (places - 1.0) / places
}

fn gcd(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by counting.
    fn count_partial(length: u64, align: u64, cluster: u64) -> f64 {
        let places = cluster / gcd(align, cluster);
        let partial = |place: u64| {
            let start = place * align;
            let end = start + length;
            let clusters = start / cluster..end.div_ceil(cluster);
            clusters.filter(|at| start > at * cluster || end < (at + 1) * cluster).count() as u64
        };
        (0..places).map(partial).sum::<u64>() as f64 / places as f64
    }

    #[test]
    fn the_formula_counts_partial_clusters() {
        for cluster in [1, 3, 8, 12, 40] {
            for align in 1..=45 {
                for times in 1..=5 {
                    let length = align * times;
                    let (expected, counted) =
                        (partial_clusters(length, align, cluster), count_partial(length, align, cluster));
                    assert!(
                        (expected - counted).abs() < 1e-12,
                        "{length} {align} {cluster}: {expected} is {counted}"
                    );
                }
            }
        }
    }

    #[test]
    fn tiny_writes_pay_one_whole_clusters_none_and_long_ones_two() {
        let cluster = 8 << 20;
        assert_eq!(partial_clusters(512, 512, cluster), 1.0);
        for times in [1, 2, 7] {
            assert_eq!(partial_clusters(times * cluster, times * cluster, cluster), 0.0);
        }
        let long = partial_clusters(512 << 20, 512, cluster);
        assert!((1.999..2.0).contains(&long), "{long}");
    }
}
