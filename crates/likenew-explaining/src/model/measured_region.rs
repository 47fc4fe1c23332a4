//! The addresses to measure, which must hold data: flash answers reads of addresses never written without its
//! medium, and takes small writes there without reading around them.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Evidence;
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::model_options::{ModelOptions, SPAN_STEP};
use super::wording;
use likenew_procedure_support::workloads::prepare;

/// The names of its workloads.
const READS_ALL: &str = "reads over all";
const PIECE: &str = "region write";
const READS_REGION: &str = "region reads";
const PREPARE: &str = "prepare";

/// Random reads that tell written addresses from blank ones.
const READS: u64 = 96;
/// Time limit of those reads. Chosen: 96 reads of a slow hard disk take about 2 s.
const READS_TIME: Nanos = Nanos::from_secs(3);
const READ: u32 = 4096;
/// Latency of blank addresses over that of written ones, as a ratio, below which an address counts as blank.
/// Chosen: a read that skips the flash saves well over a tenth.
const BLANK: f64 = 0.9;
const PIECE_BYTES: u64 = 64 << 20;
/// Most bytes to prepare, and the same as a share of the bytes that may be written.
const PREPARED_MAX: u64 = 4 << 30;
const PREPARED_SHARE: u64 = 4;

/// The region to measure.
pub(super) struct MeasuredRegion {
    /// Bytes from the start of the drive, as asked for.
    pub(super) span: u64,
    /// Addresses to measure.
    pub(super) region: Range<u64>,
    /// Whether this is only a part of the span, because the rest holds no data.
    pub(super) is_part: bool,
    /// Whether it is known that they hold data.
    pub(super) is_known: bool,
}

impl MeasuredRegion {
    /// The next workload before measuring can begin, or the region to measure.
    ///
    /// # Errors
    /// A sentence, when the span does not fit the drive.
    pub(super) fn choose(
        options: &ModelOptions,
        evidence: &Evidence,
    ) -> Result<Result<Self, Workload>, String> {
        let block = u64::from(evidence.geometry.block);
        let capacity = evidence.geometry.capacity - evidence.geometry.capacity % block;
        let span = options.span.unwrap_or(capacity);
        if span > capacity || span < 1 << 20 || !span.is_multiple_of(block) {
            return Err(wording::span_out_of_range(span, block, capacity));
        }
        let whole = |is_known| Self { span, region: 0..span, is_part: false, is_known };
        let writes = options.includes(Op::Write, evidence.geometry.writable);
        if evidence.identity.kind == Kind::Folder {
            let ready = evidence.segment_named(PREPARE).is_some();
            return Ok(if ready { Ok(whole(true)) } else { Err(prepare(span, span, options.data)) });
        }
        if !writes || evidence.identity.kind == Kind::Nop {
            return Ok(Ok(whole(!evidence.geometry.writable)));
        }
        let piece = PIECE_BYTES.min(span / 16);
        let piece = piece - piece % u64::from(READ).max(block);
        let steps = [
            reads(READS_ALL, span, block),
            Workload { flush: true, ..write_workload(PIECE, piece, options.data) },
            reads(READS_REGION, piece, block),
        ];
        for step in steps {
            if evidence.segment_named(&step.name).is_none() {
                return Ok(Err(step));
            }
        }
        if !is_blank(evidence) {
            return Ok(Ok(whole(true)));
        }
        let most = span.min(PREPARED_MAX).min(options.bytes_on(evidence) / PREPARED_SHARE);
        let prepared = if most >= SPAN_STEP { most - most % SPAN_STEP } else { most - most % block };
        if evidence.segment_named(PREPARE).is_none() {
            return Ok(Err(Workload { flush: true, ..write_workload(PREPARE, prepared, options.data) }));
        }
        Ok(Ok(Self { span, region: 0..prepared, is_part: prepared < span, is_known: true }))
    }
}

/// Whether addresses all over the span answer sooner than those just written. A dry run has no latencies and
/// takes them as blank, because that writes more.
fn is_blank(evidence: &Evidence) -> bool {
    let median = |name| evidence.segment_named(name).map_or(0, |segment| segment.latencies().quantile(0.5).0);
    let (everywhere, written) = (median(READS_ALL), median(READS_REGION));
    written == 0 || (everywhere as f64) < BLANK * written as f64
}

fn reads(name: &str, bytes: u64, block: u64) -> Workload {
    let length = u64::from(READ).max(block);
    let place = AccessPattern::Random(Region::bytes(0..bytes));
    let stream = Stream::closed(Mix::Only(Op::Read), length as u32, place, 1, DataClass::Random);
    Workload::new(name, Until { elapsed: Some(READS_TIME), ..Until::ops(READS) }, vec![stream])
}

fn write_workload(name: &str, bytes: u64, data: DataClass) -> Workload {
    Workload { name: name.to_owned(), ..prepare(bytes, bytes, data) }
}
