//! What applications ask of a drive, as eight mixes of I/O, and the score that they make up.
//!
//! The shares of reads are those that Futuremark's white paper gives for the eight disk traces of PCMark Vantage (2007), as
//! AnandTech 3311 (2008) and others quote them; they are taken as shares of operations. What the traces do beyond that was
//! never published: every length, place and depth here is assumed. So this is **not** PCMark's score, and no number of the
//! two can be compared.

use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::size::Size;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Pace, Stream, Workload};

use super::ground::{Ground, region};

/// What one application asks: two streams side by side, each with one I/O in flight and the same share of reads.
pub(super) struct ApplicationMix {
    /// What tables call it.
    pub(super) name: &'static str,
    /// Reads in 10 000 operations.
    pub(super) reads: u32,
    /// Lengths at random places, where it jumps.
    random: Option<&'static str>,
    /// Length of I/Os in sequence, where it streams.
    sequential: Option<&'static str>,
}

const fn mix(
    name: &'static str,
    reads: u32,
    random: Option<&'static str>,
    sequential: Option<&'static str>,
) -> ApplicationMix {
    ApplicationMix { name, reads, random, sequential }
}

const SMALL: Option<&str> = Some("4KiB:50,8KiB:20,16KiB:20,32KiB:10");
const MIXED: Option<&str> = Some("4KiB:30,16KiB:30,32KiB:20,64KiB:20");
const LONG: Option<&str> = Some("64KiB");

/// The eight. No I/O is longer than 64 KiB, so that each fits into the files of a folder of small ones.
pub(super) static MIXES: [ApplicationMix; 8] = [
    mix("Windows Defender", 9950, MIXED, None),
    mix("gaming", 9995, None, LONG),
    mix("importing pictures", 8400, SMALL, LONG),
    mix("Vista startup", 8500, MIXED, None),
    mix("Movie Maker", 5400, None, LONG),
    mix("Media Center", 5000, None, LONG),
    mix("cataloguing music", 7800, SMALL, LONG),
    mix("application loading", 8700, MIXED, LONG),
];

impl ApplicationMix {
    /// How many workloads one pass takes.
    pub(super) fn parts(&self) -> usize {
        if self.reads.is_multiple_of(100) { 1 } else { 2 }
    }

    /// The workloads of one pass, called `name` and what follows a comma: a share of reads finer than a percent takes two,
    /// one of reads alone and one of 99 % reads, so much of each that the shares come out.
    pub(super) fn workloads(
        &self,
        name: &str,
        ground: &Ground,
        data: DataClass,
        bytes: u64,
        time: Nanos,
    ) -> Vec<Workload> {
        let part = |name: String, op: &str, share: f64| {
            let op = op.parse().expect("a share of reads is well spelled");
            let bytes = ((bytes as f64 * share) as u64).max(4096);
            let elapsed = Nanos((time.0 as f64 * share) as u64).max(Nanos(1));
            let until = Until { elapsed: Some(elapsed), bytes: Some(bytes), ops: None };
            Workload::new(name, until, self.streams(op, ground, data))
        };
        if self.parts() == 1 {
            return vec![part(name.to_owned(), &format!("mix:{}", self.reads / 100), 1.0)];
        }
        assert!(self.reads > 9_900, "finer shares than a percent are made of 99 % and 100 % reads");
        let mixed = f64::from(10_000 - self.reads) / 100.0;
        vec![
            part(format!("{name}, reads"), "read", 1.0 - mixed),
            part(format!("{name}, reads and writes"), "mix:99", mixed),
        ]
    }

    fn streams(&self, op: Mix, ground: &Ground, data: DataClass) -> Vec<Stream> {
        let zone = region(&ground.files);
        let stream = |sizes: &str, place| {
            let size: Size = sizes.parse().expect("the lengths of a mix are well spelled");
            Stream { op, size, place, pace: Pace::Closed { depth: 1 }, data }
        };
        let random = self.random.map(|sizes| stream(sizes, Place::Uniform(zone)));
        let sequential = self.sequential.map(|sizes| stream(sizes, Place::Forward(zone)));
        random.into_iter().chain(sequential).collect()
    }
}

/// The score of one pass: the geometric mean of the eight rates, in bytes a second. Each application counts the same,
/// however fast it is: twice the rate of one is worth twice the rate of another. `None` when one of them is missing or
/// moved nothing.
pub(super) fn score(bytes_per_s: &[f64]) -> Option<f64> {
    if bytes_per_s.len() != MIXES.len() || bytes_per_s.iter().any(|rate| *rate <= 0.0) {
        return None;
    }
    let logarithms: f64 = bytes_per_s.iter().map(|rate| rate.ln()).sum();
    Some((logarithms / MIXES.len() as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::target::{Clock, Geometry};

    fn ground(boundary: Option<u64>) -> (Ground, Geometry) {
        let geometry = Geometry {
            capacity: 1 << 30,
            block: 4096,
            boundary,
            writable: true,
            trims: true,
            carries_data: false,
            clock: Clock::Virtual,
        };
        (
            Ground::of(&super::super::AgeOptions { span: 64 << 20, ..Default::default() }, &geometry)
                .unwrap(),
            geometry,
        )
    }

    #[test]
    fn the_shares_of_reads_are_the_published_ones() {
        let (ground, _) = ground(None);
        let published = [0.995, 0.9995, 0.84, 0.85, 0.54, 0.50, 0.78, 0.87];
        for (mix, published) in MIXES.iter().zip(published) {
            let workloads = mix.workloads("m", &ground, DataClass::Random, 1 << 30, Nanos::from_secs(1));
            let (mut reads, mut all) = (0.0, 0.0);
            for workload in &workloads {
                let bytes = workload.until.bytes.unwrap() as f64;
                let share: f64 =
                    workload.streams[0].op.shares().iter().find(|(op, _)| op.name() == "read").unwrap().1;
                assert!(workload.streams.iter().all(|stream| stream.op == workload.streams[0].op));
                (reads, all) = (reads + share * bytes, all + bytes);
            }
            assert!((reads / all - published).abs() < 1e-6, "{}: {}", mix.name, reads / all);
        }
    }

    #[test]
    fn every_mix_fits_into_a_folder_of_small_files() {
        let (ground, geometry) = ground(Some(64 << 10));
        for mix in &MIXES {
            for workload in
                mix.workloads(mix.name, &ground, DataClass::Random, 1 << 20, Nanos::from_millis(1))
            {
                assert_eq!(workload.check(&geometry), Ok(()));
            }
        }
    }

    #[test]
    fn the_score_is_a_geometric_mean_of_all_eight() {
        assert!((score(&[1.0, 4.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(score(&[1.0; 7]), None);
        assert_eq!(score(&[1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0]), None);
    }
}
