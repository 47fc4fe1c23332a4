//! Named sweeps: the familiar ones of the field, a quick one and a full one.

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::units::Nanos;
use likenew_procedure_support::pattern::Pattern;

use super::sweep_options::{Block, Order, SweepOptions};

/// A named sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Both patterns, reads and writes, five blocks, three depths.
    #[default]
    Default,
    /// The same in a quarter of a minute: three blocks, two depths.
    Quick,
    /// As ATTO Disk Benchmark: sequential, 512 B to 64 MiB, depth 4, over 256 MiB of data that compresses well.
    Atto,
    /// Like the access specifications that come with Iometer: 512 B to 32 KiB, reads and writes in quarters,
    /// at some queue depths.
    Iometer,
    /// Every power of two from 512 B to 16 MiB at every one from depth 1 to 256.
    Full,
}

impl Preset {
    /// All of them with their names on the command line.
    pub const ALL: [(&'static str, Self); 5] = [
        ("default", Self::Default),
        ("quick", Self::Quick),
        ("atto", Self::Atto),
        ("iometer", Self::Iometer),
        ("full", Self::Full),
    ];

    /// Its settings.
    pub fn options(self) -> SweepOptions {
        let usual = SweepOptions::default();
        let (reads, writes) = (Mix::Only(Op::Read), Mix::Only(Op::Write));
        match self {
            Self::Default => usual,
            Self::Quick => SweepOptions {
                blocks: vec![Block(4 << 10), Block(64 << 10), Block(1 << 20)],
                depths: vec![1, 32],
                time: Nanos::from_millis(200),
                bytes: 64 << 20,
                passes: 3,
                ..usual
            },
            Self::Atto => SweepOptions {
                patterns: vec![Pattern::Sequential],
                blocks: doublings(9..=26),
                depths: vec![4],
                data: vec![DataClass::Zero],
                span: 256 << 20,
                time: Nanos::from_secs(1),
                bytes: 256 << 20,
                passes: 3,
                order: Order::Listed,
                ..usual
            },
            Self::Iometer => SweepOptions {
                ops: vec![reads, Mix::Reads(75), Mix::Reads(50), Mix::Reads(25), writes],
                blocks: vec![Block(512), Block(4 << 10), Block(16 << 10), Block(32 << 10)],
                depths: vec![1, 8, 64],
                ..usual
            },
            Self::Full => SweepOptions {
                ops: vec![reads, Mix::Reads(70), writes],
                blocks: doublings(9..=24),
                depths: (0..=8).map(|power| 1 << power).collect(),
                passes: 3,
                ..usual
            },
        }
    }
}

fn doublings(powers: std::ops::RangeInclusive<u32>) -> Vec<Block> {
    powers.map(|power| Block(1 << power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_can_be_measured() {
        for (name, preset) in Preset::ALL {
            let options = preset.options();
            assert_eq!(options.clone().validate(), Ok(options), "{name}");
        }
    }

    #[test]
    fn atto_sweeps_what_atto_sweeps() {
        let atto = Preset::Atto.options();
        let blocks: Vec<String> = atto.blocks.iter().map(Block::to_string).collect();
        assert_eq!((blocks.len(), &*blocks[0], &*blocks[17]), (18, "512", "64MiB"));
        assert_eq!((atto.depths, atto.span), (vec![4], 256 << 20));
    }
}
