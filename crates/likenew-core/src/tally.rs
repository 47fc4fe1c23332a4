//! Counts and the latency histogram of one operation of one stream.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer as HistogramReader, Serializer as _, V2Serializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use crate::io::{Op, Outcome, Sample};
use crate::units::Nanos;
use crate::wording;

/// The results of one operation of one stream. Latencies are kept to three significant digits, up to an hour;
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
    /// I/Os that the drive refused. Their latencies count, too.
    pub errors: u64,
    /// Sum of all latencies, in nanoseconds.
    pub latency_ns_sum: u64,
    /// Distribution of latency in nanoseconds. It is stored as HdrHistogram's V2 form in base 64, or as the
    /// values of another program.
    pub latency: Latencies,
}

/// A latency histogram in nanoseconds, 1 ns to 1 h, three significant digits.
///
/// While latencies are counted, it is a table with a bucket for each value. Afterward only the used buckets
/// are kept, so that a run of many thousand workloads fits into memory. Latencies of another program are kept
/// as given.
#[derive(Clone, Debug)]
pub struct Latencies(Form);

#[derive(Clone, Debug)]
enum Form {
    Counting(Histogram<u64>),
    /// The highest value of each used bucket, ascending, with its count.
    Kept(Vec<(u64, u64)>),
    Given(GivenLatencies),
}

/// Latencies as another program counted them, in nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GivenLatencies {
    /// The longest latency: it may be known more exactly than the distribution, or cover more I/Os.
    max: u64,
    /// Latencies, ascending, with the count of each.
    counts: Vec<(u64, u64)>,
}

impl GivenLatencies {
    /// Whether they are in order, in range, and few enough to count.
    fn is_whole(&self) -> bool {
        let sum = self.counts.iter().try_fold(0u64, |sum, (_, count)| sum.checked_add(*count));
        let longest = self.counts.last().map_or(0, |(ns, _)| *ns).max(self.max);
        sum.is_some() && longest <= LATENCY_NS_MAX && self.counts.is_sorted_by(|one, next| one.0 < next.0)
    }

    fn merge(&mut self, other: &Self) {
        let mut counts = BTreeMap::new();
        for (ns, count) in self.counts.iter().chain(&other.counts) {
            *counts.entry(*ns).or_insert(0) += count;
        }
        *self = Self { max: self.max.max(other.max), counts: counts.into_iter().collect() };
    }
}

const LATENCY_NS_MAX: u64 = 3_600_000_000_000;

impl Default for Latencies {
    fn default() -> Self {
        Self(Form::Kept(Vec::new()))
    }
}

impl PartialEq for Latencies {
    fn eq(&self, other: &Self) -> bool {
        self.places() == other.places()
    }
}

impl Latencies {
    /// Latencies that another program counted: the longest, and each latency with its count, in nanoseconds.
    pub fn given(max: u64, counts: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let mut latencies = GivenLatencies { max: max.min(LATENCY_NS_MAX), counts: Vec::new() };
        let counts = counts.into_iter().filter(|(_, count)| *count > 0);
        let counts = counts.map(|(ns, count)| (ns.min(LATENCY_NS_MAX), count)).collect();
        latencies.merge(&GivenLatencies { max: 0, counts });
        Self(Form::Given(latencies))
    }

    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, latency: Nanos) {
        self.record_n(latency, 1);
    }

    /// Counts the same latency `times` times.
    #[inline]
    pub fn record_n(&mut self, latency: Nanos, times: u64) {
        self.table().saturating_record_n(latency.0, times);
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        match (&mut self.0, &other.0) {
            (Form::Kept(mine), _) if mine.is_empty() => *self = other.clone(),
            (Form::Given(mine), Form::Given(theirs)) => mine.merge(theirs),
            (_, Form::Counting(theirs)) => self.table().add(theirs).expect("all have the same bounds"),
            (_, Form::Kept(theirs) | Form::Given(GivenLatencies { counts: theirs, .. })) => {
                let table = self.table();
                theirs.iter().for_each(|(value, count)| table.saturating_record_n(*value, *count));
            }
        }
    }

    /// Drops the unused buckets.
    pub fn compact(&mut self) {
        if let Form::Counting(_) = self.0 {
            self.0 = Form::Kept(self.places().into_owned());
        }
    }

    /// The latency that a share `quantile`, `0 ..= 1`, of all I/Os did not exceed; zero if none were counted.
    pub fn quantile(&self, quantile: f64) -> Nanos {
        let target = ((quantile.min(1.0) * self.count() as f64).ceil() as u64).max(1);
        let mut counted = 0;
        let places = self.places();
        let place = places.iter().find(|(_, count)| {
            counted += count;
            counted >= target
        });
        Nanos(place.map_or(0, |(value, _)| *value))
    }

    /// The longest latency, to three digits or as another program gave it; zero if none were counted.
    pub fn max(&self) -> Nanos {
        Nanos(match &self.0 {
            Form::Given(given) => given.max,
            Form::Counting(_) | Form::Kept(_) => self.places().last().map_or(0, |(value, _)| *value),
        })
    }

    /// How many latencies were counted.
    pub fn count(&self) -> u64 {
        match &self.0 {
            Form::Counting(table) => table.len(),
            Form::Kept(places) | Form::Given(GivenLatencies { counts: places, .. }) => {
                places.iter().map(|(_, count)| count).sum()
            }
        }
    }

    /// The longest latency of each used bucket, in nanoseconds, ascending, with the bucket's count.
    pub fn places(&self) -> Cow<'_, [(u64, u64)]> {
        match &self.0 {
            Form::Counting(table) => table
                .iter_recorded()
                .map(|place| (place.value_iterated_to(), place.count_at_value()))
                .collect(),
            Form::Kept(places) | Form::Given(GivenLatencies { counts: places, .. }) => Cow::Borrowed(places),
        }
    }

    #[inline]
    fn table(&mut self) -> &mut Histogram<u64> {
        if let Form::Kept(places) | Form::Given(GivenLatencies { counts: places, .. }) = &self.0 {
            self.0 = Form::Counting(table_of(places));
        }
        let Form::Counting(table) = &mut self.0 else { unreachable!("it was just made one") };
        table
    }
}

fn table_of(places: &[(u64, u64)]) -> Histogram<u64> {
    let mut table = Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("these bounds are valid");
    places.iter().for_each(|(value, count)| table.saturating_record_n(*value, *count));
    table
}

impl Serialize for Latencies {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        let (mut bytes, mut writer) = (Vec::new(), V2Serializer::new());
        match &self.0 {
            Form::Counting(table) => writer.serialize(table, &mut bytes),
            Form::Kept(places) => writer.serialize(&table_of(places), &mut bytes),
            Form::Given(given) => return given.serialize(out),
        }
        .map_err(ser::Error::custom)?;
        out.serialize_str(&BASE64.encode(bytes))
    }
}

/// The first bytes of a histogram as [`V2Serializer`] writes it.
const HISTOGRAM_MARK: [u8; 4] = [0x1C, 0x84, 0x93, 0x13];

/// A distribution as it is stored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored {
    Histogram(String),
    Given(GivenLatencies),
}

impl<'de> Deserialize<'de> for Latencies {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = match Stored::deserialize(input)? {
            Stored::Histogram(text) => text,
            Stored::Given(given) if given.is_whole() => return Ok(Self(Form::Given(given))),
            Stored::Given(_) => return Err(de::Error::custom(wording::NO_LATENCIES)),
        };
        let bytes = BASE64.decode(text).map_err(de::Error::custom)?;
        // The reader takes as much memory as the length behind the mark says before it reads that.
        let length = bytes.strip_prefix(&HISTOGRAM_MARK).and_then(|rest| rest.first_chunk::<4>());
        if length.is_none_or(|length| u32::from_be_bytes(*length) as usize > bytes.len()) {
            return Err(de::Error::custom(wording::NO_LATENCIES));
        }
        let histogram: Histogram<u64> =
            HistogramReader::new().deserialize(&mut bytes.as_slice()).map_err(de::Error::custom)?;
        let mut table = table_of(&[]);
        table.add(&histogram).map_err(de::Error::custom)?;
        let mut latencies = Self(Form::Counting(table));
        latencies.compact();
        Ok(latencies)
    }
}

impl Tally {
    /// An empty tally.
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

    /// I/Os that moved all bytes. Refused and short I/Os end early and say nothing about speed.
    pub fn done_ios(&self) -> u64 {
        self.ios.saturating_sub(self.errors).saturating_sub(self.short)
    }

    /// Mean latency in nanoseconds; 0 without I/Os.
    pub fn latency_ns_mean(&self) -> f64 {
        if self.ios == 0 { 0.0 } else { self.latency_ns_sum as f64 / self.ios as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_that_is_cut_off_is_refused_before_it_takes_memory() {
        let written = serde_json::to_string(&Latencies::default()).unwrap();
        let mut bytes = BASE64.decode(written.trim_matches('"')).unwrap();
        assert!(serde_json::from_str::<Latencies>(&written).is_ok());
        for (place, byte) in [(4, 0xFF), (0, 0), (3, 0x14)] {
            let before = std::mem::replace(&mut bytes[place], byte);
            let error = serde_json::from_value::<Latencies>(BASE64.encode(&bytes).into()).unwrap_err();
            assert_eq!(error.to_string(), wording::NO_LATENCIES);
            bytes[place] = before;
        }
    }

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
        assert_eq!(tally.done_ios(), 1);
        assert_eq!(tally.latency_ns_mean(), 7000.0 / 3.0);
        let text = serde_json::to_string(&tally).unwrap();
        assert_eq!(serde_json::from_str::<Tally>(&text).unwrap(), tally);
    }

    #[test]
    fn what_is_kept_says_what_was_counted() {
        let mut counting = Latencies::default();
        (1..100_000u64).for_each(|ns| counting.record(Nanos(ns * ns)));
        let mut kept = counting.clone();
        kept.compact();
        assert!(matches!((&counting.0, &kept.0), (Form::Counting(_), Form::Kept(_))));
        let says = |latencies: &Latencies| {
            ([0.0, 0.5, 0.99, 1.0].map(|share| latencies.quantile(share)), latencies.max(), latencies.count())
        };
        assert_eq!((says(&kept), &kept), (says(&counting), &counting));
        let mut both = kept.clone();
        both.merge(&kept);
        assert_eq!((both.count(), both.quantile(0.3)), (2 * kept.count(), kept.quantile(0.3)));
        counting.record(Nanos::NEVER);
        assert!(counting.max() >= Nanos(LATENCY_NS_MAX), "longer ones count as the longest");
    }

    #[test]
    fn what_another_program_counted_stays_as_it_was() {
        let given = Latencies::given(58_476, [(12_480, 9), (57_088, 1), (740, 0)]);
        let text = serde_json::to_string(&given).unwrap();
        let mut both = serde_json::from_str::<Latencies>(&text).unwrap();
        assert_eq!((&both, both.count()), (&given, 10));
        both.merge(&Latencies::given(60_001, [(12_480, 9), (23_168, 2)]));
        assert_eq!(both.places(), [(12_480, 18), (23_168, 2), (57_088, 1)].as_slice());
        assert_eq!((both.quantile(0.5), both.max()), (Nanos(12_480), Nanos(60_001)));
    }

    #[test]
    fn a_broken_histogram_is_an_error() {
        let full = format!("{{\"max\":1,\"counts\":[[1,{}],[2,1]]}}", u64::MAX);
        let disordered = "{\"max\":1,\"counts\":[[2,1],[1,1]]}";
        for text in ["\"\"", "\"!!\"", "\"AAAA\"", "7", &full, disordered] {
            assert!(serde_json::from_str::<Latencies>(text).is_err(), "{text}");
        }
    }
}
