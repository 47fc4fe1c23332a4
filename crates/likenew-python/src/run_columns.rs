//! Converts a run's measurements to columns.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray, UInt32Array, UInt64Array};
use likenew_archive::{ArchiveError, SampleReader};
use likenew_core::counters::FlashCounters;
use likenew_core::io::Sample;
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;

use crate::columns::{Table, words};

fn whole(values: impl Iterator<Item = u64>) -> ArrayRef {
    Arc::new(UInt64Array::from_iter_values(values))
}

fn small(values: impl Iterator<Item = u32>) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(values))
}

fn numbers(values: impl Iterator<Item = Option<f64>>) -> ArrayRef {
    Arc::new(values.collect::<Float64Array>())
}

/// The names of the workloads.
fn names<'a>(segments: impl Iterator<Item = &'a Segment>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(segments.map(|segment| &segment.workload.name)))
}

/// One row for each operation of each stream of each workload.
pub(crate) fn segments(segments: &[Segment]) -> Table {
    let rows: Vec<(u32, &Segment, &Tally)> = (0..)
        .zip(segments)
        .flat_map(|(index, segment)| segment.tallies.iter().map(move |tally| (index, segment, tally)))
        .collect();
    let per_second = |count: fn(&Tally) -> u64| {
        numbers(rows.iter().map(|(_, segment, tally)| {
            let seconds = segment.elapsed().as_secs_f64();
            (seconds > 0.0).then(|| count(tally) as f64 / seconds)
        }))
    };
    let latency = |quantile: f64| whole(rows.iter().map(|(.., tally)| tally.latency.quantile(quantile).0));
    let means = rows
        .iter()
        .map(|(.., tally)| (tally.ios > 0).then(|| tally.latency_ns_sum as f64 / tally.ios as f64));
    let counters = |counter: fn(&FlashCounters) -> u64| -> ArrayRef {
        let values = rows.iter().map(|(_, segment, _)| segment.accounting.as_ref().map(counter));
        Arc::new(values.collect::<UInt64Array>())
    };
    Table::new(vec![
        ("segment", small(rows.iter().map(|(index, ..)| *index))),
        ("workload", names(rows.iter().map(|(_, segment, _)| *segment))),
        ("stream", small(rows.iter().map(|(.., tally)| u32::from(tally.stream)))),
        ("op", words(rows.iter().map(|(.., tally)| tally.op.name()))),
        ("started_ns", whole(rows.iter().map(|(_, segment, _)| segment.started_at.0))),
        ("ended_ns", whole(rows.iter().map(|(_, segment, _)| segment.ended_at.0))),
        ("ios", whole(rows.iter().map(|(.., tally)| tally.ios))),
        ("bytes", whole(rows.iter().map(|(.., tally)| tally.bytes))),
        ("errors", whole(rows.iter().map(|(.., tally)| tally.errors + tally.short))),
        ("bytes_per_s", per_second(|tally| tally.bytes)),
        ("iops", per_second(|tally| tally.ios)),
        ("latency_ns_mean", numbers(means)),
        ("latency_ns_p50", latency(0.5)),
        ("latency_ns_p99", latency(0.99)),
        ("latency_ns_p999", latency(0.999)),
        ("latency_ns_max", whole(rows.iter().map(|(.., tally)| tally.latency.max().0))),
        ("host_bytes_written", counters(|counters| counters.host_bytes_written)),
        ("flash_bytes_programmed", counters(|counters| counters.flash_bytes_programmed)),
        ("erases", counters(|counters| counters.erases)),
    ])
}

/// The axis that windows divide.
#[derive(Clone, Copy)]
pub(crate) enum WindowAxis {
    Time,
    Bytes,
}

/// One row for each window of each workload. `start` and `width` are nanoseconds or bytes since its start.
pub(crate) fn windows(segments: &[Segment], axis: WindowAxis) -> Table {
    let rows: Vec<_> = (0u32..)
        .zip(segments)
        .flat_map(|(index, segment)| {
            let windows = match axis {
                WindowAxis::Time => &segment.seconds,
                WindowAxis::Bytes => &segment.gigabytes,
            };
            let starts = (0u64..).map(move |place| place * windows.width);
            starts.zip(&windows.cells).map(move |(start, cell)| (index, segment, windows.width, start, cell))
        })
        .collect();
    let (start, width) = match axis {
        WindowAxis::Time => ("start_ns", "width_ns"),
        WindowAxis::Bytes => ("start_bytes", "width_bytes"),
    };
    let means =
        rows.iter().map(|(.., cell)| (cell.ios > 0).then(|| cell.latency_ns_sum as f64 / cell.ios as f64));
    Table::new(vec![
        ("segment", small(rows.iter().map(|(index, ..)| *index))),
        ("workload", names(rows.iter().map(|(_, segment, ..)| *segment))),
        (start, whole(rows.iter().map(|(.., start, _)| *start))),
        (width, whole(rows.iter().map(|(_, _, width, ..)| *width))),
        ("ios", whole(rows.iter().map(|(.., cell)| cell.ios))),
        ("bytes", whole(rows.iter().map(|(.., cell)| cell.bytes))),
        ("latency_ns_mean", numbers(means)),
        ("latency_ns_max", whole(rows.iter().map(|(.., cell)| cell.latency_ns_max))),
    ])
}

/// One row for each I/O, with the columns of a sample file. `outcome` is the number of bytes moved, or the negated
/// error number.
pub(crate) fn samples(samples: &[(u32, Sample)]) -> Table {
    let times = |time: fn(&Sample) -> Nanos| whole(samples.iter().map(|(_, sample)| time(sample).0));
    let outcomes = samples.iter().map(|(_, sample)| sample.signed_outcome());
    Table::new(vec![
        ("segment", small(samples.iter().map(|(segment, _)| *segment))),
        ("stream", small(samples.iter().map(|(_, sample)| u32::from(sample.stream)))),
        ("op", words(samples.iter().map(|(_, sample)| sample.op.name()))),
        ("outcome", Arc::new(Int64Array::from_iter_values(outcomes))),
        ("offset", whole(samples.iter().map(|(_, sample)| sample.offset))),
        ("length", small(samples.iter().map(|(_, sample)| sample.length))),
        ("due_ns", times(|sample| sample.due)),
        ("sent_ns", times(|sample| sample.sent)),
        ("done_ns", times(|sample| sample.done)),
    ])
}

/// All samples of a kept run, including its resumed parts.
///
/// # Errors
/// A sample file cannot be read.
pub(crate) fn kept_samples(folder: &Path) -> Result<Vec<(u32, Sample)>, ArchiveError> {
    let mut samples = Vec::new();
    for file in likenew_archive::sample_files(folder) {
        for row in SampleReader::open(&file)? {
            samples.push(row?);
        }
    }
    Ok(samples)
}
