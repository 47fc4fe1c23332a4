//! The loop: creates a file, runs the tests on it, deletes it, and continues with the next file at the next
//! addresses.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::procedure::{Evidence, Layout, Step};
use likenew_core::quantity::Size;
use likenew_core::region::Region;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_duration, exact_size, size_text};
use likenew_core::until::Until;
use likenew_core::workload::{Stream, Workload};
use likenew_stats::steady_state::ROUNDS;
use serde::{Deserialize, Serialize};

use likenew_procedure_support::profile::{Profile, Test};
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{no_operation, not_a_multiple, out_of_range};

use super::{Endure, EndureOptions, wording};

/// The settings of a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoopOptions {
    /// The tests.
    pub profile: Profile,
    /// The operations, in this order.
    pub ops: Vec<Mix>,
    /// Bytes of a loop's file.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Bytes of address space through which the files rotate. `None`: the whole of a simulated drive; in a
    /// folder, one file.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// The run ends with the loop that reaches this many bytes written. `None`: see
    /// [`LoopOptions::default_fills`].
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// The same in multiples of the span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fills: Option<f64>,
    /// Content of writes.
    pub data: DataClass,
    /// Whether a file is deleted after its tests, so that the drive receives TRIM.
    pub trim: bool,
    /// A test ends after this time, or once it has moved its bytes.
    #[serde(with = "duration_text")]
    pub time: Nanos,
}

impl Default for LoopOptions {
    /// As Puget Systems looped CrystalDiskMark.
    fn default() -> Self {
        Self {
            profile: Profile::Of2009,
            ops: vec![Mix::Only(Op::Read), Mix::Only(Op::Write)],
            file_size: 1000 << 20,
            span: None,
            bytes: None,
            fills: None,
            data: DataClass::Random,
            trim: false,
            time: Nanos::from_secs(60),
        }
    }
}

/// A loop's file is as large as in the study that this test follows, but at most a hundredth of the span, so that there are
/// loops enough to see a knee, and at least one in so many parts, so that a large drive is not looped for ever.
const FILE_SIZE_USUAL: u64 = 1000 << 20;
const FILES_MIN: u64 = 100;
const FILES_MAX: u64 = 256;

/// The file of a loop for a span of so many bytes.
pub fn default_file_size(span: u64) -> u64 {
    let file_size = (span / FILES_MIN).min(FILE_SIZE_USUAL).max(span / FILES_MAX);
    (file_size - file_size % FILE_SIZE_MIN).max(FILE_SIZE_MIN)
}

/// A file is a multiple of this: the largest block times the deepest queue of any profile.
pub const FILE_SIZE_MIN: u64 = 8 << 20;
/// An I/O, and so a piece of a deletion, is at most this long.
const PIECE_MAX: u64 = 1 << 30;
const MAKE_BLOCK: u32 = 1 << 20;
const MAKE_DEPTH: u32 = 8;
/// Blocks from this size on count as large.
const LARGE: u32 = 64 << 10;
/// Most fills of a plan. Chosen: more is a mistake.
const FILLS_MAX: f64 = 10_000.0;

impl LoopOptions {
    /// The options of the command line that differ from its defaults on a space of `capacity` bytes.
    fn arguments(&self, capacity: u64) -> String {
        let usual = Self::default();
        let mut arguments = Vec::new();
        let mut add = |differs: bool, name: &str, value: String| {
            if differs {
                arguments.push(format!("--{name} {value}"));
            }
        };
        let ops: Vec<String> = self.ops.iter().map(Mix::to_string).collect();
        let name = Profile::ALL.iter().find(|(_, one)| *one == self.profile).map_or("", |(name, _)| name);
        let span = self.span.unwrap_or(capacity);
        add(self.profile != usual.profile, "profile", name.into());
        add(self.ops != usual.ops, "op", ops.join(","));
        add(self.file_size != default_file_size(span), "file-size", exact_size(self.file_size));
        // The last of the space does not fill a file.
        add(span + self.file_size <= capacity, "span", exact_size(span));
        add(self.data != usual.data, "data", self.data.to_string());
        add(self.trim, "trim", "on".into());
        add(self.time != usual.time, "time", exact_duration(self.time));
        add(self.fills.is_some(), "fills", self.fills.unwrap_or_default().to_string());
        arguments.join(" ")
    }

    /// Default number of fills: until the files have been through the span once, so that every address was
    /// written, and then as long as a steady state takes to show. 15 with profile 2009.
    pub fn default_fills(&self) -> f64 {
        (self.written_per_mille() as f64 / 1000.0).ceil() + ROUNDS as f64 + 1.0
    }

    /// Bytes written in a loop, in thousandths of its file, including the creation of the file.
    fn written_per_mille(&self) -> u64 {
        let of = |op: &Mix| self.profile.tests().iter().map(|test| per_mille(test, *op)).sum::<u64>();
        1000 + self.ops.iter().filter(|op| op.writes()).map(of).sum::<u64>()
    }
}

/// Bytes moved by a test, in thousandths of the file: chosen so that a loop of profile 2009 writes 9.2 GB
/// with a file of 1000 MiB, as Puget Systems counted for CrystalDiskMark with five passes of each test.
fn per_mille(test: &Test, op: Mix) -> u64 {
    match (test.random, test.block >= LARGE, op.writes()) {
        (false, _, true) => 5000,
        (true, true, true) => 2000,
        (true, false, true) => 387,
        (false, _, false) => 1000,
        (true, true, false) => 500,
        (true, false, false) => 100,
    }
}

/// One workload of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// Writes the file once sequentially.
    File,
    /// A test of the profile.
    Test(Test, Mix),
    /// Deletes the file.
    Delete,
}

/// The procedure of a loop.
pub(super) struct LoopTest {
    pub(super) options: LoopOptions,
}

impl LoopTest {
    pub(super) fn new(options: LoopOptions) -> Result<Self, String> {
        let LoopOptions { file_size, span, bytes, fills, time, .. } = options;
        if file_size < FILE_SIZE_MIN || !file_size.is_multiple_of(FILE_SIZE_MIN) {
            return Err(not_a_multiple("file_size", file_size, FILE_SIZE_MIN));
        }
        if let Some(span) = span.filter(|span| *span < file_size) {
            return Err(wording::span_below_file_size(Size(span), Size(file_size)));
        }
        if bytes.is_some() && fills.is_some() {
            return Err(wording::bytes_and_fills());
        }
        if bytes == Some(0) || fills.is_some_and(|fills| !(fills > 0.0 && fills <= FILLS_MAX)) {
            return Err(wording::wrong_bytes_or_fills(FILLS_MAX));
        }
        if !(Nanos::from_millis(1)..=Nanos::from_secs(86_400)).contains(&time) {
            return Err(out_of_range("time", time, "1ms", "24h"));
        }
        if options.ops.is_empty() || options.ops.contains(&Mix::Only(Op::Trim)) {
            return Err(no_operation());
        }
        Ok(Self { options })
    }

    /// Bytes through which the files rotate, in whole files.
    pub(super) fn span(&self, geometry: &Geometry) -> u64 {
        let span = self.options.span.unwrap_or(geometry.capacity);
        span - span % self.options.file_size
    }

    /// Number of files side by side in the span; at least one.
    pub(super) fn places(&self, geometry: &Geometry) -> u64 {
        (self.span(geometry) / self.options.file_size).max(1)
    }

    /// The run ends with the loop that reaches this many bytes.
    fn bytes(&self, geometry: &Geometry) -> u64 {
        let fills = self.options.fills.unwrap_or_else(|| self.options.default_fills());
        self.options.bytes.unwrap_or((fills * self.span(geometry) as f64) as u64)
    }

    /// The same run, with as much written as decides what this one left open.
    pub(super) fn rerun_to_decide(&self, evidence: &Evidence) -> Rerun {
        let LoopOptions { bytes, fills, .. } = self.options;
        let usual = self.options.default_fills();
        // A run of the default length that decided nothing is advised at twice the length.
        let was_short = bytes.is_some() || fills.is_some_and(|fills| fills < usual);
        let fills = if was_short { usual } else { 2.0 * fills.unwrap_or(usual) };
        let again = LoopOptions { fills: Some(fills), bytes: None, ..self.options.clone() };
        let text = again.arguments(evidence.geometry.capacity);
        Rerun::new(evidence, &text, Endure::new(EndureOptions::Loop(again)))
    }

    /// The parts of a loop, in the order they run.
    pub(super) fn parts(&self, geometry: &Geometry) -> Vec<Part> {
        let tests = self.options.profile.tests();
        let tests = self.options.ops.iter().flat_map(|op| tests.iter().map(|test| Part::Test(*test, *op)));
        let delete = (self.options.trim && geometry.trims).then_some(Part::Delete);
        std::iter::once(Part::File).chain(tests).chain(delete).collect()
    }

    fn workload(&self, turn: u64, part: Part, geometry: &Geometry) -> Workload {
        let start = turn % self.places(geometry) * self.options.file_size;
        let file = start..start + self.options.file_size;
        let number = turn + 1;
        match part {
            Part::File => {
                let stream = self.stream(Mix::Only(Op::Write), MAKE_BLOCK, forward(&file), MAKE_DEPTH);
                Workload::new(
                    format!("loop {number} file"),
                    Until::bytes(self.options.file_size),
                    vec![stream],
                )
            }
            Part::Test(test, op) => self.test(number, &test, op, &file),
            Part::Delete => {
                let stream = self.stream(Mix::Only(Op::Trim), self.piece(), forward(&file), 1);
                Workload::new(
                    format!("loop {number} delete"),
                    Until::bytes(self.options.file_size),
                    vec![stream],
                )
            }
        }
    }

    fn test(&self, number: u64, test: &Test, op: Mix, file: &Range<u64>) -> Workload {
        let place =
            if test.random { AccessPattern::Random(Region::bytes(file.clone())) } else { forward(file) };
        let bytes =
            (self.options.file_size / 1000 * per_mille(test, op)).next_multiple_of(u64::from(test.block));
        let until = Until { elapsed: Some(self.options.time), bytes: Some(bytes), ops: None };
        let stream = self.stream(op, test.block, place, test.depth);
        let workload = Workload::new(wording::loop_name(number, test, op), until, vec![stream]);
        Workload { lanes: test.threads, ..workload }
    }

    fn stream(&self, op: Mix, block: u32, place: AccessPattern, depth: u32) -> Stream {
        Stream::closed(op, block, place, depth, self.options.data)
    }

    /// The longest piece in which a file can be deleted: all of it, if an I/O can be that long.
    fn piece(&self) -> u32 {
        let units = self.options.file_size / FILE_SIZE_MIN;
        let most = PIECE_MAX / FILE_SIZE_MIN;
        let fitting = (1..=most).rev().find(|count| units.is_multiple_of(*count));
        (fitting.expect("one unit fits") * FILE_SIZE_MIN) as u32
    }
}

fn forward(range: &Range<u64>) -> AccessPattern {
    AccessPattern::Sequential(Region::bytes(range.clone()))
}

impl LoopTest {
    /// The layout of a folder for it.
    pub(super) fn layout(&self) -> Layout {
        let LoopOptions { file_size, span, .. } = self.options;
        let files = span.unwrap_or(file_size) / file_size;
        Layout { files: u32::try_from(files).unwrap_or(u32::MAX), file_bytes: file_size }
    }

    /// What to run next.
    ///
    /// # Errors
    /// A sentence, when the plan does not fit the drive.
    pub(super) fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let geometry = &evidence.geometry;
        let (span, there) = (self.span(geometry), geometry.capacity);
        if span > there || self.options.file_size > there {
            return Err(wording::loop_does_not_fit(
                Size(span.max(self.options.file_size)),
                there,
                FILE_SIZE_MIN,
            ));
        }
        let parts = self.parts(geometry);
        let index = evidence.segments.len();
        let (turn, part) = (index / parts.len(), index % parts.len());
        // Only whole loops are run, so that every test is measured equally often.
        if part == 0 {
            let written: u64 = evidence.segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
            if written >= self.bytes(geometry) {
                return Ok(Step::Done);
            }
        }
        let workload = self.workload(turn as u64, parts[part], geometry);
        Ok(Step::Run(Workload { seed: evidence.plan.seed_of(index), ..workload }))
    }
}
