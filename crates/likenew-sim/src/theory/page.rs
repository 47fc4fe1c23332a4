//! Write amplification of page-mapped flash in the limit of many blocks.
//!
//! `alpha` is always T/U: flash pages that take part over pages that hold data, without reserve and open
//! blocks (see
//! [`PageMapParameters::closed_pages`](crate::flash::page_map_parameters::PageMapParameters::closed_pages)).
//! The spare share (T − U)/T is 1 − 1/α. All functions but the last two take writes that hit every page with
//! equal probability.

/// Steps of a bisection: each halves an interval that starts at 1 or less, until the precision of `f64`.
const STEPS: u32 = 60;

/// The x in an interval where a falling function falls to zero.
fn fall(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if function(middle) > 0.0 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Collection of a random block: α/(α − 1), because a victim is as full as the flash.
pub fn random(alpha: f64) -> f64 {
    check(alpha);
    alpha / (alpha - 1.0)
}

/// Collection in the order of closing, for blocks of any size; also the limit of greedy collection for large blocks.
///
/// The share u of pages that are still valid when their block's turn comes solves u = exp(−α(1 − u)), and
/// 1/(1 − u) is the write amplification: α/(α + W₀(−α e^−α)) in terms of Lambert's function (Desnoyers,
/// "Analytic models of SSD write performance", ACM Transactions on Storage 10(2), 2014).
pub fn fifo(alpha: f64) -> f64 {
    fifo_of_classes(&[Class { writes: 1.0, pages: 1.0 }], alpha)
}

/// Greedy collection, exact for blocks of any number of pages n.
///
/// Victims hold one of two successive numbers m and m − 1 of valid pages (Bux and Iliadis, "Performance of
/// greedy garbage collection in flash-based solid-state drives", Performance Evaluation 67, 2010), the latter
/// with a frequency q. As many blocks pass from each number of valid pages to the next lower as victims are
/// collected, so with harmonic numbers H α = n (H(n) − H(m) + q/m) / (n − m + q), and the write amplification
/// is n / (n − m + q).
pub fn greedy(pages_per_block: u32, alpha: f64) -> f64 {
    check(alpha);
    let pages = f64::from(pages_per_block);
    let harmonic_above = |m: u32| (m + 1..=pages_per_block).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    let gained = |m: u32, q: f64| pages - f64::from(m) + q;
    let alpha_of = |m: u32, q: f64| pages * (harmonic_above(m) + q / f64::from(m)) / gained(m, q);
    // More valid pages in victims need less spare. With m = 1 the emptiest block holds nothing, which is all
    // there is to gain.
    let Some(m) = (1..pages_per_block).rev().find(|m| alpha_of(*m, 1.0) >= alpha) else {
        return 1.0;
    };
    let q = fall(0.0, 1.0, |q| alpha - alpha_of(m, q));
    pages / gained(m, q)
}

/// Collection of the emptiest of some random blocks, exact for blocks of any number of pages n.
///
/// With S(k) the share of blocks that hold at least k valid pages, a victim holds at least k with probability
/// S(k)^d. As many blocks leave S(k) by losing a page as come back full, so S(k) − S(k + 1) = c (1 −
/// S(k)^d)/k with c such that the pages that hold data are Σ S(k) = n/α; the write amplification is n / (n −
/// Σ S(k)^d) (Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based
/// solid state drives", SIGMETRICS 2013).
pub fn choices(pages_per_block: u32, count: u32, alpha: f64) -> f64 {
    check(alpha);
    assert!(count > 0, "one block at least is drawn");
    let pages = f64::from(pages_per_block);
    let exponent = i32::try_from(count).expect("a reasonable number of choices");
    // Valid pages of all blocks and of victims, both a block.
    let valid = |c: f64| {
        let mut share = 0.0;
        (1..=pages_per_block).rev().fold((0.0, 0.0), |(all, victims), k| {
            let (above, flow) = (share, c / f64::from(k));
            share = fall(above, 1.0, |share| above + flow * (1.0 - share.powi(exponent)) - share);
            (all + share, victims + share.powi(exponent))
        })
    };
    let mut high = 1.0;
    while valid(high).0 < pages / alpha {
        high *= 2.0;
    }
    let c = fall(0.0, high, |c| pages / alpha - valid(c).0);
    pages / (pages - valid(c).1)
}

/// Pages that are written equally often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Their share of the writes.
    pub writes: f64,
    /// Their share of all pages that hold data.
    pub pages: f64,
}

impl Class {
    /// Hot pages and the others.
    pub fn hot_and_cold(writes: f64, pages: f64) -> [Self; 2] {
        [Self { writes, pages }, Self { writes: 1.0 - writes, pages: 1.0 - pages }]
    }
}

/// Collection in the order of closing, where all pages share their blocks: A = Σ rᵢ / (1 − exp(−α rᵢ / (A
/// fᵢ))), where rᵢ of the writes go to fᵢ of the pages (Desnoyers 2014: between two turns of a block the host
/// writes α/A times the pages that hold data, and rᵢ/fᵢ of it falls on each page of a class). Pages that are
/// never written are moved in every turn.
pub fn fifo_of_classes(classes: &[Class], alpha: f64) -> f64 {
    check(alpha);
    let needed = |amplification: f64| {
        let of_class = |class: &Class| {
            let turn = alpha / (amplification * class.pages);
            if class.writes > 0.0 { class.writes / -(-turn * class.writes).exp_m1() } else { 1.0 / turn }
        };
        classes.iter().map(of_class).sum::<f64>()
    };
    // In terms of 1/A, which is between 0 and 1.
    1.0 / fall(0.0, 1.0, |inverse| 1.0 / inverse - needed(1.0 / inverse))
}

/// The spare share that remains when a share of all operations trims a random page that holds data and the
/// others write any page with equal probability.
///
/// Of the pages that the host can address (1 − 2q)/(1 − q) hold data in the steady state (Frankie, Hughes and
/// Kreutz-Delgado, "Analysis of trim commands on overprovisioning and write amplification in solid state
/// drives", arXiv 1210.5975).
pub fn spare_share_with_trim(spare_share: f64, trims: f64) -> f64 {
    1.0 - held_share_with_trim(trims) * (1.0 - spare_share)
}

/// The share of the pages that the host can address which hold data; see [`spare_share_with_trim`].
pub fn held_share_with_trim(trims: f64) -> f64 {
    assert!((0.0..0.5).contains(&trims), "fewer pages are trimmed than written");
    (1.0 - 2.0 * trims) / (1.0 - trims)
}

/// Two pools of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Split {
    /// The share of the spare flash that goes to the first class of pages.
    pub spare_share: f64,
    /// Of both pools together.
    pub write_amplification: f64,
}

/// The best division of the spare flash between two classes of pages that never share a block: the least that
/// any policy which knows the classes can reach with a `uniform` write amplification, a function of α, within
/// each pool.
///
/// With a share x of the spare the first pool has α₁ = 1 + x(α − 1)/f₁, and the write amplification is the mean of both
/// weighted by writes (Desnoyers 2014).
pub fn best_split(classes: &[Class; 2], alpha: f64, uniform: impl Fn(f64) -> f64) -> Split {
    check(alpha);
    let amplification = |share: f64| {
        let pool =
            |class: &Class, share: f64| class.writes * uniform(1.0 + share * (alpha - 1.0) / class.pages);
        pool(&classes[0], share) + pool(&classes[1], 1.0 - share)
    };
    // There is one minimum between 0 and 1, where a pool without spare amplifies without bound: a ternary
    // search finds it.
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        if amplification(low + third) < amplification(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    let spare_share = (low + high) / 2.0;
    Split { spare_share, write_amplification: amplification(spare_share) }
}

fn check(alpha: f64) {
    assert!(alpha > 1.0, "there is more flash than data");
}

#[cfg(test)]
mod tests;
