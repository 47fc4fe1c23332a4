//! Finds the data class of written bytes, for a simulated drive that needs only this.

use likenew_core::io::DataClass;

use crate::store::is_zero;

/// Bytes of a write that are compressed to estimate the whole.
const SAMPLE_BYTES: usize = 16 << 10;
/// The fastest of zstd's usual levels; a drive's own compressor has no more time.
const LEVEL: i32 = 1;

/// Finds the data class of bytes.
pub(crate) struct Content {
    /// `None` where the drive does not care.
    compressor: Option<zstd::bulk::Compressor<'static>>,
    compressed: Vec<u8>,
}

impl Content {
    /// `measures` asks for the share that bytes compress to.
    pub(crate) fn new(measures: bool) -> Self {
        let compressor =
            measures.then(|| zstd::bulk::Compressor::new(LEVEL).expect("zstd has this level, and memory"));
        Self { compressor, compressed: vec![0; zstd::zstd_safe::compress_bound(SAMPLE_BYTES)] }
    }

    /// The class of these bytes.
    pub(crate) fn class_of(&mut self, bytes: &[u8]) -> DataClass {
        if is_zero(bytes) {
            return DataClass::Zero;
        }
        let Some(compressor) = &mut self.compressor else { return DataClass::Random };
        let looked_at = &bytes[..bytes.len().min(SAMPLE_BYTES)];
        let length =
            compressor.compress_to_buffer(looked_at, &mut self.compressed[..]).unwrap_or(looked_at.len());
        let share = length as f32 / looked_at.len() as f32;
        if share < 1.0 { DataClass::Ratio(share) } else { DataClass::Random }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn bytes_are_reported_by_what_they_compress_to() {
        let mut random = vec![0; 64 << 10];
        Xoshiro256PlusPlus::seed_from_u64(1).fill_bytes(&mut random);
        let mut half = random.clone();
        half.chunks_mut(1024).for_each(|chunk| chunk[512..].fill(0));
        let mut content = Content::new(true);
        assert_eq!(content.class_of(&random), DataClass::Random);
        assert_eq!(content.class_of(&[0; 4096]), DataClass::Zero);
        let DataClass::Ratio(share) = content.class_of(&half) else { panic!("half of it is zeros") };
        assert!((0.45..0.6).contains(&share), "{share}");
        assert_eq!(Content::new(false).class_of(&half), DataClass::Random);
        assert_eq!(Content::new(false).class_of(&[0; 512]), DataClass::Zero);
    }
}
