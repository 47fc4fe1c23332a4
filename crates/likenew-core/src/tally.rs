//! Counts and the latency histogram of one operation of one stream.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as HistogramReader, Serializer as _, V2Serializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::io::{Op, Outcome};
use crate::sample::Sample;
use crate::units::Nanos;

/// What one operation of one stream came to. Latencies are kept to three significant digits, up to an hour;
/// their sum is exact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// Index of the stream in its workload.
    pub stream: u16,
    /// The operation.
    pub op: Op,
    /// I/Os that ended, whatever the outcome.
    pub ios: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// I/Os that moved fewer bytes than asked.
    pub short: u64,
    /// I/Os that the drive refused. Their latency counts, too.
    pub errors: u64,
    /// Sum of all latencies, in nanoseconds.
    pub latency_ns_sum: u64,
    /// Distribution of latency in nanoseconds (HdrHistogram's V2 form in base 64, where it is stored).
    pub latency: Latencies,
}

/// A latency histogram in nanoseconds, 1 ns to 1 h, three significant digits.
#[derive(Clone, Debug, PartialEq)]
pub struct Latencies(Histogram<u64>);

const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

impl Default for Latencies {
    fn default() -> Self {
        Self(Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("these bounds are valid"))
    }
}

impl Latencies {
    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.0.saturating_record(latency.0);
    }

    /// Counts one latency `count` times.
    pub fn record_many(&mut self, latency: Nanos, count: u64) {
        self.0.saturating_record_n(latency.0, count);
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all histograms have the same bounds");
    }

    /// The latency that a share `quantile` of all I/Os did not exceed, `0 ..= 1`; zero of none.
    pub fn quantile(&self, quantile: f64) -> Nanos {
        Nanos(self.0.value_at_quantile(quantile))
    }

    /// The longest latency, to three digits; zero of none.
    pub fn max(&self) -> Nanos {
        Nanos(self.0.max())
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.0.len()
    }
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&self.0, &mut bytes).map_err(ser::Error::custom)?;
        out.serialize_str(&BASE64.encode(bytes))
    }
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let bytes = BASE64.decode(String::deserialize(input)?).map_err(de::Error::custom)?;
        let histogram =
            HistogramReader::new().deserialize(&mut bytes.as_slice()).map_err(de::Error::custom)?;
        let mut latencies = Self::default();
        latencies.0.add(&histogram).map_err(de::Error::custom)?;
        Ok(latencies)
    }
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(stream: u16, op: Op) -> Self {
        Self {
            stream,
            op,
            ios: 0,
            bytes: 0,
            short: 0,
            errors: 0,
            latency_ns_sum: 0,
            latency: Latencies::default(),
        }
    }

    /// Counts one I/O.
    #[inline]
    pub fn add(&mut self, sample: &Sample) {
        let latency = sample.latency();
        self.ios += 1;
        self.latency_ns_sum += latency.0;
        self.latency.record(latency);
        match sample.outcome {
            Outcome::Done => self.bytes += u64::from(sample.length),
            Outcome::Short(bytes) => {
                self.bytes += u64::from(bytes);
                self.short += 1;
            }
            Outcome::Error(_) => self.errors += 1,
        }
    }

    /// Adds what another lane counted.
    pub fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.short += other.short;
        self.errors += other.errors;
        self.latency_ns_sum += other.latency_ns_sum;
        self.latency.merge(&other.latency);
    }

    /// Mean latency in nanoseconds; 0 of none.
    pub fn latency_ns_mean(&self) -> f64 {
        if self.ios == 0 { 0.0 } else { self.latency_ns_sum as f64 / self.ios as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_is_stored_and_read_back() {
        let mut tally = Tally::new(3, Op::Write);
        for (index, outcome) in
            [Outcome::Done, Outcome::Short(512), Outcome::Error(5)].into_iter().enumerate()
        {
            let done = Nanos(1_000 << index);
            tally.add(&Sample {
                stream: 3,
                op: Op::Write,
                outcome,
                length: 4096,
                offset: 0,
                due: Nanos::ZERO,
                sent: Nanos::ZERO,
                done,
            });
        }
        assert_eq!((tally.ios, tally.bytes, tally.short, tally.errors), (3, 4608, 1, 1));
        assert_eq!(tally.latency_ns_mean(), 7000.0 / 3.0);
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
    }

    #[test]
    fn a_broken_histogram_is_an_error() {
        for text in ["\"\"", "\"!!\"", "\"AAAA\"", "7"] {
            assert!(serde_json::from_str::<Latencies>(text).is_err(), "{text}");
        }
    }
}
