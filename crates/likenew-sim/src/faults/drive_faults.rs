//! The faults of a drive.

use std::ops::Range;

use likenew_core::units::Nanos;

use super::wording;

/// The faults of a drive. Addresses are those that the host uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveFaults {
    /// Bytes that really exist.
    pub real_capacity_bytes: Option<u64>,
    /// Addresses wrap around at so many bytes; those beyond the real bytes do not exist: writes to them are
    /// dropped, and reads return zeros. If it equals the real bytes, or is absent, it is what f3 calls
    /// *wraparound* among the kinds of counterfeit flash; if it is as large as the reported capacity,
    /// *limbo*; in between, *chain*.
    pub wrap_bytes: Option<u64>,
    /// Sectors of these bytes are read with flipped bits, the same ones each time, and without an error.
    pub flipped: Vec<Range<u64>>,
    /// Bits that are flipped in each sector of `flipped`.
    pub flipped_bits: u32,
    /// After every so many writes, one is answered and never done.
    pub lost_write_every: Option<u64>,
    /// Reads that touch these bytes end in the medium's error, after all retries.
    pub unreadable: Vec<Range<u64>>,
    /// Reads that touch these bytes take retries, from 1 to `retries_max`, each number equally often.
    pub slow: Vec<Range<u64>>,
    /// The time of one retry.
    pub retry: Nanos,
    /// Retries before the drive gives up.
    pub retries_max: u32,
    /// After so many bytes written, writes and TRIM end in the medium's error.
    pub read_only_after_bytes: Option<u64>,
    /// When the drive stops for a while.
    pub stall: Option<StallParameters>,
    /// How TRIM fails between the host and the drive.
    pub trim: Option<TrimDefect>,
    /// I/O of another program.
    pub neighbor: Option<NeighborParameters>,
    /// Single I/Os that take long.
    pub outliers: Option<OutlierParameters>,
    /// When the drive is slow for a while.
    pub throttle: Option<ThrottleParameters>,
}

/// Another program's I/Os on the same drive, at random moments and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborParameters {
    /// How many a second, on average.
    pub ios_per_s: u32,
    /// Bytes of each.
    pub io_bytes: u32,
    /// How many of a hundred are writes.
    pub write_percent: u32,
}

/// Single I/Os that are answered late; the drive serves others in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlierParameters {
    /// One of so many, at random.
    pub every_ios: u64,
    /// How much later they end.
    pub span: Nanos,
}

/// When a drive is slower for a while, as one that is too hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleParameters {
    /// Before each multiple of this.
    pub interval: Nanos,
    /// For so long.
    pub span: Nanos,
    /// Bytes a second at most.
    pub bytes_per_s: u64,
}

impl ThrottleParameters {
    /// Whether the drive is slow at a time.
    pub(crate) fn is_on(&self, now: Nanos) -> bool {
        self.interval.0 - now.0 % self.interval.0 <= self.span.0
    }

    /// How often it was slow until a time, and for how long in sum.
    pub(crate) fn until(&self, now: Nanos) -> (u64, Nanos) {
        let (times, within) = (now.0 / self.interval.0, now.0 % self.interval.0);
        let quiet = self.interval.0 - self.span.0;
        (times + u64::from(within > quiet), Nanos(times * self.span.0 + within.saturating_sub(quiet)))
    }
}

/// What a bridge between the host and a drive does to TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimDefect {
    /// It reports none, so that the host sends none.
    Hidden,
    /// It reports TRIM, answers that it was done, and passes nothing on.
    Dropped,
}

impl TrimDefect {
    /// As files spell them, in the order of the variants.
    pub(crate) const WORDS: [&str; 2] = ["hidden", "dropped"];
    pub(crate) const ALL: [Self; 2] = [Self::Hidden, Self::Dropped];
}

/// When a drive stops for a while: it takes nothing and answers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallParameters {
    /// Each time that it was given so many I/Os.
    pub every_ios: Option<u64>,
    /// Each time that its clock reaches a multiple of this.
    pub interval: Option<Nanos>,
    /// For how long.
    pub span: Nanos,
}

impl DriveFaults {
    /// Whether they change what is read of what was written, so that its bytes have to go through them.
    pub fn change_bytes(&self) -> bool {
        self.real_capacity_bytes.is_some() || !self.flipped.is_empty() || self.lost_write_every.is_some()
    }

    /// The faults for people, as name and value.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let (retry, retries) = (self.retry, self.retries_max);
        let described = [
            self.real_capacity_bytes.map(|real| wording::real_capacity(real, self.wrap_bytes)),
            wording::flipped(&self.flipped, self.flipped_bits),
            self.lost_write_every.map(wording::lost_writes),
            wording::unreadable(&self.unreadable, retries, retry),
            wording::slow(&self.slow, retries, retry),
            self.read_only_after_bytes.map(wording::read_only),
            self.stall.map(|stall| wording::stalls(stall.every_ios, stall.interval, stall.span)),
            self.trim.map(|trim| match trim {
                TrimDefect::Hidden => wording::hidden_trim(),
                TrimDefect::Dropped => wording::dropped_trim(),
            }),
            self.neighbor.map(|of| wording::neighbor(of.ios_per_s, of.io_bytes, of.write_percent)),
            self.outliers.map(|outliers| wording::outliers(outliers.every_ios, outliers.span)),
            self.throttle.map(|of| wording::throttled(of.bytes_per_s, of.span, of.interval)),
        ];
        described.into_iter().flatten().collect()
    }
}

impl DriveFaults {
    /// Where an address is, and how many of the `length` bytes from it are contiguous there; it may not
    /// exist.
    pub(crate) fn locate(&self, address: u64, length: u64) -> (Option<u64>, u64) {
        let Some(real) = self.real_capacity_bytes else { return (Some(address), length) };
        let wrap = self.wrap_bytes.unwrap_or(real);
        let place = address % wrap;
        if place < real {
            (Some(place), length.min(real - place))
        } else {
            // What is nowhere is done in parts, too, as a stand-in for it has to fit into what is there.
            (None, length.min(wrap - place).min(real))
        }
    }
}
