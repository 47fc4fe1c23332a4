//! What a user's files contain and how far they compress: kinds, counts and shares, but no file name.

use likenew_core::findings::{Answer, Axis, Line, OverviewTable, Row, Series, Shape};
use likenew_core::quantity::{self, Size};
use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::summary::mean;
use serde::{Deserialize, Serialize};

use super::wording::{self, FileKind};

/// A scan of folders, as a plan keeps it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileScan {
    /// Files and folders that could not be read.
    pub unreadable: u64,
    /// Folders that were left out because another file system is mounted there.
    pub other_file_systems: u64,
    /// Whether time ran out before everything was scanned.
    pub out_of_time: bool,
    /// Each kind of file.
    #[serde(default)]
    pub types: Vec<FileType>,
}

/// One kind of file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileType {
    /// Such as `pictures`.
    #[serde(rename = "type")]
    pub kind: String,
    /// How many.
    pub files: u64,
    /// Their bytes, without holes.
    pub bytes: u64,
    /// Bytes that were read as samples.
    pub sampled_bytes: u64,
    /// Pieces that were read.
    pub pieces: u64,
    /// Compressed length over length, 4 KiB at a time; absent if nothing was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compresses_to: Option<Share>,
    /// Compressed length over length with zip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub zips_to: Option<f64>,
}

/// A share, `0 ..= 1`, with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// A kind's part of all bytes whose compressibility is known.
pub(super) struct Weight {
    pub(super) weight: f64,
    pub(super) share: Share,
}

/// Shares are rounded to one part in this many. Chosen: four digits, because people read plans.
const DIGITS: f64 = 1e4;

impl Share {
    /// From pieces that each byte was equally likely to be in. Student's interval of their mean is widened by what
    /// the pieces may miss: if n pieces lack a certain kind of content, up to 3/n of all may have it (the rule of
    /// three: Hanley and Lippman-Hand, "If nothing goes wrong, is everything all right?", JAMA 249 (1983) 1743–1745).
    /// Such content may compress to nothing or not at all.
    fn from_pieces(pieces: &[f64]) -> Option<Self> {
        let value = mean(pieces)?;
        let missed = (3.0 / pieces.len() as f64).min(1.0);
        let (mut low, mut high) = (value * (1.0 - missed), value + (1.0 - value) * missed);
        if let Some(interval) = mean_interval(pieces, CONFIDENCE_95) {
            (low, high) = (low.min(interval.low).max(0.0), high.max(interval.high).min(1.0));
        }
        let rounded = (value * DIGITS).round() / DIGITS;
        Some(Self {
            value: rounded,
            low: ((low * DIGITS).floor() / DIGITS).min(rounded),
            high: ((high * DIGITS).ceil() / DIGITS).clamp(rounded, 1.0),
        })
    }

    fn percent(self) -> Estimate {
        let interval = Some(Interval { low: self.low, high: self.high });
        Estimate { value: self.value, interval }.map(|share| 100.0 * share)
    }

    fn is_reliable(&self) -> bool {
        let Self { value, low, high } = *self;
        0.0 <= low && low <= value && value <= high && high <= 1.0
    }
}

impl FileType {
    /// From the result of each piece: 4 KiB at a time, and with zip.
    pub fn of_pieces(
        kind: &str,
        files: u64,
        bytes: u64,
        sampled_bytes: u64,
        in_units: &[f64],
        zipped: &[f64],
    ) -> Self {
        Self {
            kind: kind.to_owned(),
            files,
            bytes,
            sampled_bytes,
            pieces: in_units.len() as u64,
            compresses_to: Share::from_pieces(in_units),
            zips_to: mean(zipped).map(|share| (share * DIGITS).round() / DIGITS),
        }
    }
}

impl FileScan {
    /// Whether its shares are valid.
    pub fn check(&self) -> Result<(), String> {
        for FileType { kind, compresses_to, zips_to, .. } in &self.types {
            let sound = compresses_to.is_none_or(|share| share.is_reliable())
                && zips_to.is_none_or(|share| (0.0..=1.0).contains(&share));
            if !sound {
                return Err(wording::unsound_share(kind));
            }
        }
        Ok(())
    }

    fn bytes(&self) -> f64 {
        self.types.iter().map(|kind| kind.bytes as f64).sum()
    }

    /// The kinds that were sampled, each with its part of their bytes.
    pub(super) fn weights(&self) -> Vec<Weight> {
        let sampled = || self.types.iter().filter_map(|kind| Some((kind.bytes as f64, kind.compresses_to?)));
        let bytes: f64 = sampled().map(|(bytes, _)| bytes).sum();
        sampled()
            .filter(|(kind_bytes, _)| *kind_bytes > 0.0)
            .map(|(kind_bytes, share)| Weight { weight: kind_bytes / bytes, share })
            .collect()
    }

    /// What all files together compress to. The samples of the kinds are independent, so their half widths add as
    /// squares.
    pub fn compresses_to(&self) -> Option<Share> {
        let weights = self.weights();
        if weights.is_empty() {
            return None;
        }
        let sum = |term: &dyn Fn(&Weight) -> f64| weights.iter().map(term).sum::<f64>();
        let value = sum(&|kind| kind.weight * kind.share.value);
        let below = sum(&|kind| (kind.weight * (kind.share.value - kind.share.low)).powi(2)).sqrt();
        let above = sum(&|kind| (kind.weight * (kind.share.high - kind.share.value)).powi(2)).sqrt();
        Some(Share { value, low: (value - below).max(0.0), high: (value + above).min(1.0) })
    }

    fn zips_to(&self) -> Option<f64> {
        let known = || self.types.iter().filter_map(|kind| Some((kind.bytes as f64, kind.zips_to?)));
        let bytes: f64 = known().map(|(bytes, _)| bytes).sum();
        (bytes > 0.0).then(|| known().map(|(kind_bytes, share)| kind_bytes * share).sum::<f64>() / bytes)
    }

    /// The answer about what the files compress to.
    pub(super) fn answer(&self) -> Answer {
        let Some(whole) = self.compresses_to() else { return wording::files_unread() };
        let share = quantity::Share;
        let answer = wording::files(share(whole.value), share(whole.low), share(whole.high));
        let mut answer = whole.percent().put(answer, "%").with_evidence(self.largest());
        if let Some(zipped) = self.zips_to() {
            answer = answer.with_evidence(wording::zip_comparison(share(zipped)));
        }
        let sum = |metric: fn(&FileType) -> u64| self.types.iter().map(metric).sum::<u64>();
        let (sampled, bytes) = (sum(|kind| kind.sampled_bytes), sum(|kind| kind.bytes));
        let files = sum(|kind| kind.files);
        answer = answer.with_evidence(wording::files_sampled(Size(sampled), Size(bytes), files));
        self.with_limits(answer)
    }

    /// Kinds by their bytes, most first.
    fn kinds(&self) -> Vec<FileKind<'_>> {
        let bytes = self.bytes();
        let kinds = self.by_bytes().into_iter().filter(|kind| kind.bytes > 0);
        kinds
            .map(|kind| FileKind {
                name: &kind.kind,
                share: quantity::Share(kind.bytes as f64 / bytes),
                compresses_to: kind.compresses_to.map(|share| quantity::Share(share.value)),
            })
            .collect()
    }

    /// The three kinds with the most bytes.
    fn largest(&self) -> String {
        let kinds = self.kinds();
        wording::largest_kinds(&kinds[..kinds.len().min(3)])
    }

    fn with_limits(&self, answer: Answer) -> Answer {
        let Self { out_of_time, unreadable, other_file_systems, .. } = *self;
        let limits = [
            out_of_time.then(|| wording::SCAN_RAN_OUT_OF_TIME.to_owned()),
            (unreadable > 0).then(|| wording::files_unreadable(unreadable)),
            (other_file_systems > 0).then(|| wording::other_file_systems_left_out(other_file_systems)),
        ];
        limits.into_iter().flatten().fold(answer, Answer::caveat)
    }

    /// Each kind with its share of the bytes and what it compresses to.
    pub(super) fn table(&self) -> OverviewTable {
        wording::files_table(self.kinds().into_iter())
    }

    /// All kinds by their bytes, most first.
    fn by_bytes(&self) -> Vec<&FileType> {
        let mut kinds: Vec<&FileType> = self.types.iter().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.bytes));
        kinds
    }

    fn share_percent(&self, kind: &FileType) -> f64 {
        let bytes = self.bytes();
        if bytes > 0.0 { 100.0 * kind.bytes as f64 / bytes } else { 0.0 }
    }

    pub(super) fn rows(&self) -> Vec<Row> {
        let row = |kind: &FileType| {
            Row::new()
                .with("type", &kind.kind)
                .with("files", kind.files)
                .with("bytes", kind.bytes)
                .with("share_percent", self.share_percent(kind))
                .with_estimate("compresses_to_percent", kind.compresses_to.map(Share::percent))
                .with("zips_to_percent", kind.zips_to.map(|share| 100.0 * share))
                .with("sampled_bytes", kind.sampled_bytes)
        };
        self.by_bytes().into_iter().map(row).collect()
    }

    /// Each kind's part of the bytes, and what it compresses to.
    pub(super) fn series(&self) -> Option<Series> {
        let kinds: Vec<&FileType> = self.by_bytes().into_iter().filter(|kind| kind.bytes > 0).collect();
        let points = |value: &dyn Fn(&FileType) -> Option<f64>| {
            kinds.iter().enumerate().filter_map(|(x, kind)| Some([x as f64, value(kind)?])).collect()
        };
        let lines = [
            Line::new(wording::FILES_BYTES_LINE, points(&|kind| Some(self.share_percent(kind)))),
            Line::new(
                wording::FILES_COMPRESSED_LINE,
                points(&|kind| Some(kind.compresses_to?.percent().value)),
            ),
        ];
        let (x, y) = (Axis::new(wording::FILES_KIND_AXIS, ""), Axis::new(wording::FILES_SHARE_AXIS, "%"));
        let series = Series::new(wording::FILES_TITLE, Shape::Bars, x, y);
        (!kinds.is_empty())
            .then(|| series.categories(kinds.iter().map(|kind| kind.kind.clone())).lines(lines))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::findings::Standing;
    use proptest::prelude::*;

    fn kind(kind: &str, bytes: u64, pieces: &[f64]) -> FileType {
        FileType::of_pieces(kind, 1, bytes, pieces.len() as u64 * 65_536, pieces, pieces)
    }

    #[test]
    fn few_pieces_that_agree_are_not_certain() {
        let share = Share::from_pieces(&[1.0; 32]).unwrap();
        assert_eq!((share.value, share.high), (1.0, 1.0));
        assert!((share.low - (1.0 - 3.0 / 32.0)).abs() < 1e-3, "{share:?}");
        assert_eq!(Share::from_pieces(&[0.5]), Some(Share { value: 0.5, low: 0.0, high: 1.0 }));
        assert_eq!(Share::from_pieces(&[]), None);
    }

    #[test]
    fn the_whole_is_weighted_by_bytes_and_what_was_not_sampled_is_left_out() {
        let types =
            vec![kind("video", 3000, &[1.0; 1000]), kind("text", 1000, &[0.2; 1000]), kind("x", 500, &[])];
        let scan = FileScan { types, ..FileScan::default() };
        let whole = scan.compresses_to().unwrap();
        assert!(
            (whole.value - 0.8).abs() < 1e-9
                && whole.low < 0.8
                && whole.high > 0.8
                && whole.high - whole.low < 0.01
        );
        assert!(scan.rows()[2]["compresses_to_percent"].is_null());
        assert_eq!(scan.answer().id, "files");
        assert!((scan.answer().estimate.unwrap().value - 80.0).abs() < 1e-7);
    }

    #[test]
    fn nothing_read_is_unknown() {
        let scan = FileScan { types: vec![kind("x", 500, &[])], ..FileScan::default() };
        assert_eq!(scan.answer().standing, Standing::Unknown);
        assert_eq!(FileScan::default().answer().standing, Standing::Unknown);
        assert_eq!(FileScan::default().series(), None);
    }

    proptest! {
        #[test]
        fn every_share_is_sound_and_reads_back(pieces in prop::collection::vec(0.0..=1.0f64, 1..50)) {
            let scan = FileScan { types: vec![kind("x", 1, &pieces)], ..FileScan::default() };
            prop_assert_eq!(scan.check(), Ok(()));
            let text = toml::to_string(&scan).unwrap();
            prop_assert_eq!(toml::from_str::<FileScan>(&text).unwrap(), scan);
        }
    }
}
