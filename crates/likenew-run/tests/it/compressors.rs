//! Compressors reach the share that the data generator was asked for, whichever of them is used.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use likenew_core::io::DataClass;
use likenew_run::generator::Generator;

/// Bytes that a drive compresses at a time, and twice zip's window.
const UNIT: usize = 4096;
const PIECE: usize = 64 << 10;

fn data(class: DataClass) -> Vec<u64> {
    let mut words = vec![0; (1 << 20) / size_of::<u64>()];
    Generator::new(3).fill(bytemuck::cast_slice_mut(&mut words), class, 0);
    words
}

fn lz4(bytes: &[u8]) -> usize {
    lz4_flex::block::compress(bytes).len()
}

fn zstd(bytes: &[u8]) -> usize {
    zstd::bulk::compress(bytes, 1).unwrap().len()
}

fn deflate(bytes: &[u8]) -> usize {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap().len()
}

/// Compressed length over length; incompressible data is stored as it is.
fn share(bytes: &[u8], at_once: usize, compressed: fn(&[u8]) -> usize) -> f64 {
    let sum: usize = bytes.chunks(at_once).map(|chunk| compressed(chunk).min(chunk.len())).sum();
    sum as f64 / bytes.len() as f64
}

#[test]
fn every_compressor_finds_the_share_that_was_asked_for() {
    for tenths in 0..=10u8 {
        let asked = f64::from(tenths) / 10.0;
        let class: DataClass = asked.to_string().parse().unwrap();
        let words = data(class);
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        let found = [
            ("LZ4 of 4 KiB", share(bytes, UNIT, lz4)),
            ("zstd of 4 KiB", share(bytes, UNIT, zstd)),
            ("DEFLATE of 4 KiB", share(bytes, UNIT, deflate)),
            ("DEFLATE of 64 KiB", share(bytes, PIECE, deflate)),
        ];
        for (name, found) in found {
            assert!((found - asked).abs() < 0.025, "asked for {asked}, {name} finds {found:.3}");
        }
    }
}
