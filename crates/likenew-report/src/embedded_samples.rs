//! Embeds the time and latency of every I/O of a run in a page, rounded to what a screen can show. A million
//! I/Os take some 2 MB.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use likenew_core::io::Op;
use likenew_core::units::Nanos;
use serde::Serialize;

/// About how many I/Os a page has. Chosen: what a browser draws in a second.
const KEPT_MAX: u64 = 1_000_000;
/// One in this many I/Os, the slowest, is always kept. Chosen: outliers are what one looks for.
const SLOWEST_ONE_IN: u64 = 100;
/// Ratio of a latency to the next that it can be distinguished from. Chosen: nobody sees 1% on a logarithmic axis.
const LATENCY_STEP: f64 = 1.01;
/// Steps of time in a run. Chosen: a thousand for each pixel of a wide screen.
const TIME_PLACES: f64 = (1 << 22) as f64;

/// What a page shows of one I/O.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShownIo {
    /// What it did.
    pub op: Op,
    /// When it was due.
    pub at: Nanos,
    /// How long it took.
    pub latency: Nanos,
}

/// I/Os as the page reads them.
///
/// `data` is base64 of a deflated block. For each line in order it has the time from one I/O to the next, in
/// `time_unit_ns`, as an unsigned LEB128 number. The low bytes of all latency codes follow, then their high
/// bytes: a code c is `latency_step`^c nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EmbeddedSamples {
    lines: Vec<OpLine>,
    time_unit_ns: f64,
    latency_step: f64,
    /// Of I/Os below their line's `slow_from`, one in this many is kept.
    kept_of: u64,
    data: String,
}

/// The I/Os of one operation.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct OpLine {
    op: &'static str,
    count: usize,
    /// The code from which every I/O is kept.
    slow_from: u16,
}

impl EmbeddedSamples {
    /// Embeds I/Os in any order, which are read twice; `None` if there are none.
    ///
    /// # Errors
    /// The error of the first I/O that cannot be read.
    pub fn new<E, I>(read: impl Fn() -> Result<I, E>) -> Result<Option<Self>, E>
    where
        I: Iterator<Item = Result<ShownIo, E>>,
    {
        let mut survey = Survey::default();
        for io in read()? {
            survey.add(io?);
        }
        if survey.total() == 0 {
            return Ok(None);
        }
        let mut selection = Selection::new(&survey);
        for io in read()? {
            selection.add(io?);
        }
        Ok(Some(selection.encode()))
    }
}

fn code(latency: Nanos) -> u16 {
    // The longest time that Nanos can hold has code 4,459.
    ((latency.0.max(1) as f64).ln() / LATENCY_STEP.ln()).round() as u16
}

/// Counts of all I/Os.
#[derive(Default)]
struct Survey {
    /// Counts by operation and latency code.
    counts: [Vec<u64>; Op::ALL.len()],
    first: Option<Nanos>,
    last: Nanos,
}

impl Survey {
    fn add(&mut self, io: ShownIo) {
        let (counts, code) = (&mut self.counts[io.op.index()], usize::from(code(io.latency)));
        if counts.len() <= code {
            counts.resize(code + 1, 0);
        }
        counts[code] += 1;
        self.first = Some(self.first.map_or(io.at, |first| first.min(io.at)));
        self.last = self.last.max(io.at);
    }

    fn total(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }
}

/// The I/Os that are shown.
struct Selection {
    first: Nanos,
    time_unit_ns: f64,
    kept_of: u64,
    lines: [SelectedLine; Op::ALL.len()],
}

#[derive(Default)]
struct SelectedLine {
    /// The code from which every I/O is kept.
    slow_from: u16,
    seen: u64,
    /// Time in units, and latency code of each I/O.
    ios: Vec<(u32, u16)>,
}

impl Selection {
    fn new(survey: &Survey) -> Self {
        let (total, first) = (survey.total(), survey.first.unwrap_or_default());
        let slow = total / SLOWEST_ONE_IN;
        let kept_of = match total {
            0..=KEPT_MAX => 1,
            _ => (total - slow).div_ceil(KEPT_MAX.saturating_sub(slow).max(KEPT_MAX / 2)),
        };
        let lines = survey
            .counts
            .each_ref()
            .map(|counts| SelectedLine { slow_from: slow_from(counts), ..SelectedLine::default() });
        let span = survey.last.since(first).0 as f64;
        Self { first, time_unit_ns: (span / TIME_PLACES).max(1.0), kept_of, lines }
    }

    fn add(&mut self, io: ShownIo) {
        let (line, code) = (&mut self.lines[io.op.index()], code(io.latency));
        let is_kept = code >= line.slow_from || line.seen.is_multiple_of(self.kept_of);
        if code < line.slow_from {
            line.seen += 1;
        }
        if is_kept {
            let time = (io.at.since(self.first).0 as f64 / self.time_unit_ns).round() as u32;
            line.ios.push((time, code));
        }
    }

    fn encode(self) -> EmbeddedSamples {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        let mut lines = Vec::new();
        for (op, mut line) in Op::ALL.into_iter().zip(self.lines) {
            if line.ios.is_empty() {
                continue;
            }
            line.ios.sort_by_key(|(time, _)| *time);
            encoder.write_all(&line.block()).expect("memory takes what is written");
            lines.push(OpLine { op: op.name(), count: line.ios.len(), slow_from: line.slow_from });
        }
        let deflated = encoder.finish().expect("memory takes what is written");
        EmbeddedSamples {
            lines,
            time_unit_ns: self.time_unit_ns,
            latency_step: LATENCY_STEP,
            kept_of: self.kept_of,
            data: STANDARD.encode(deflated),
        }
    }
}

impl SelectedLine {
    fn block(&self) -> Vec<u8> {
        let mut block = Vec::with_capacity(self.ios.len() * 4);
        let mut before = 0;
        for (time, _) in &self.ios {
            let mut delta = time - before;
            before = *time;
            while delta >= 0x80 {
                block.push(delta as u8 | 0x80);
                delta >>= 7;
            }
            block.push(delta as u8);
        }
        block.extend(self.ios.iter().map(|(_, code)| code.to_le_bytes()[0]));
        block.extend(self.ios.iter().map(|(_, code)| code.to_le_bytes()[1]));
        block
    }
}

/// The lowest code with no more I/Os at or above it than are always kept.
fn slow_from(counts: &[u64]) -> u16 {
    let most = counts.iter().sum::<u64>() / SLOWEST_ONE_IN;
    let mut slower = 0;
    let above = counts.iter().rposition(|count| {
        slower += count;
        slower > most
    });
    above.map_or(0, |code| code as u16 + 1)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::io::Read as _;

    use super::*;

    fn io(op: Op, at: u64, latency: u64) -> ShownIo {
        ShownIo { op, at: Nanos(at), latency: Nanos(latency) }
    }

    fn embed(ios: &[ShownIo]) -> Option<EmbeddedSamples> {
        EmbeddedSamples::new(|| Ok::<_, Infallible>(ios.iter().copied().map(Ok))).unwrap()
    }

    /// Reads the data as the page does: operation, time and latency in nanoseconds.
    fn decode(embedded_samples: &EmbeddedSamples) -> Vec<(&'static str, f64, f64)> {
        let mut block = Vec::new();
        let deflated = STANDARD.decode(&embedded_samples.data).unwrap();
        flate2::read::DeflateDecoder::new(&deflated[..]).read_to_end(&mut block).unwrap();
        let mut bytes = block.into_iter();
        let mut ios = Vec::new();
        for line in &embedded_samples.lines {
            let mut time = 0u64;
            let times: Vec<u64> = (0..line.count)
                .map(|_| {
                    let (mut delta, mut shift) = (0, 0);
                    loop {
                        let byte = bytes.next().unwrap();
                        delta |= u64::from(byte & 0x7f) << shift;
                        shift += 7;
                        if byte < 0x80 {
                            break;
                        }
                    }
                    time += delta;
                    time
                })
                .collect();
            let low: Vec<u8> = bytes.by_ref().take(line.count).collect();
            let high: Vec<u8> = bytes.by_ref().take(line.count).collect();
            for (at, time) in times.into_iter().enumerate() {
                let code = f64::from(u16::from_le_bytes([low[at], high[at]]));
                ios.push((
                    line.op,
                    time as f64 * embedded_samples.time_unit_ns,
                    embedded_samples.latency_step.powf(code),
                ));
            }
        }
        assert_eq!(bytes.next(), None, "nothing is left");
        ios
    }

    #[test]
    fn each_io_comes_back_as_exactly_as_a_screen_shows_it() {
        let ios = [
            io(Op::Write, 5_000_000_000, 2_000_000),
            io(Op::Read, 1_000_000_000, 80_000),
            io(Op::Read, 61_000_000_000, 1),
            io(Op::Read, 1_000_000_500, 10_000_000_000),
        ];
        let decoded = decode(&embed(&ios).unwrap());
        let expected = [("read", 0.0, 80e3), ("read", 500.0, 1e10), ("read", 60e9, 1.0), ("write", 4e9, 2e6)];
        assert_eq!(decoded.len(), expected.len());
        for ((op, at, latency), (expected_op, expected_at, expected_latency)) in
            decoded.into_iter().zip(expected)
        {
            assert_eq!(op, expected_op);
            assert!((at - expected_at).abs() <= 60e9 / TIME_PLACES, "{at} {expected_at}");
            assert!((latency / expected_latency - 1.0).abs() <= 0.0051, "{latency} {expected_latency}");
        }
        assert_eq!(embed(&[]), None);
    }

    #[test]
    fn of_too_many_the_slow_ones_are_all_kept_and_the_others_thinned_alike() {
        let count = 3 * KEPT_MAX;
        let latency = |index: u64| if index % 1000 == 7 { 50_000_000 + index } else { 100_000 };
        let read =
            || Ok::<_, Infallible>((0..count).map(|index| Ok(io(Op::Read, index * 1000, latency(index)))));
        let embedded = EmbeddedSamples::new(read).unwrap().unwrap();
        assert_eq!(embedded.kept_of, 4);
        let kept = decode(&embedded);
        let slow = kept.iter().filter(|(.., latency)| *latency > 1e6).count() as u64;
        assert_eq!(slow, count / 1000);
        let others = kept.len() as u64 - slow;
        assert!(others.abs_diff((count - slow) / 4) <= 1, "{others}");
        assert!(kept.len() as u64 <= KEPT_MAX);
    }

    #[test]
    fn where_all_are_as_slow_none_is_an_outlier() {
        assert_eq!(slow_from(&[0, 0, 500]), 3);
        assert_eq!(slow_from(&[0, 495, 3, 2]), 2, "1% of 500 are 5");
        assert_eq!(slow_from(&[]), 0);
    }
}
