//! Another program writes to the store between a cut and resuming: newer data is never lost.

use std::ops::Range;

use likenew_core::powercut::{End, Power, VolatileDevice};
use rand::{Rng as _, RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::rig::content;
use crate::plan::Task;
use crate::ranges::witnesses;
use crate::{InspectedRefresh, Refresh, RefreshError, Settings, scan_saved_pieces};

const IDENTITY: &str = "a drive";
const BYTES: usize = 2 << 20;
const CHUNK: u32 = 64 << 10;
/// A part of the last MiB without witnesses, which are only at the MiB's first page and its end.
const FREE: Range<usize> = 0x14_0000..0x15_0000;

/// A refresh that lost power with `FREE` in flight, and its drive after that.
struct Cut {
    device: VolatileDevice,
    journal: Vec<u8>,
    salvage: Vec<u8>,
    in_flight: Vec<Range<u64>>,
}

impl Cut {
    /// `None` if the loss of power itself tore something.
    fn new(seed: u64) -> Option<Self> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let power = Power::default();
        let mut device = VolatileDevice::new(content(BYTES, &mut random), 512, seed, &power);
        let task = Task {
            identity: IDENTITY.to_owned(),
            ranges: std::iter::once(0..BYTES as u64).collect(),
            settings: Settings { chunk_bytes: CHUNK, skips_zeros: false, ..Settings::default() },
            ..Task::default()
        };
        let mut journal = Vec::new();
        let mut refresh = Refresh::begin(&mut device, &mut journal, &task).unwrap();
        while refresh.progress().done_bytes < refresh.journal().ranges().bytes_before(FREE.end as u64) {
            refresh.step().unwrap().unwrap();
        }
        drop(refresh);
        device.restore_power(End::PowerLost);
        let mut cut = Self { device, journal, salvage: Vec::new(), in_flight: Vec::new() };
        let inspected = cut.inspect().unwrap();
        let (in_flight, torn) = (inspected.in_flight().collect::<Vec<_>>(), inspected.differences().count());
        assert!(in_flight.iter().any(|place| place.contains(&(FREE.end as u64 - 1))), "{in_flight:?}");
        cut.in_flight = in_flight;
        (torn == 0).then_some(cut)
    }

    fn inspect(&mut self) -> Result<InspectedRefresh<&mut VolatileDevice, &mut Vec<u8>>, RefreshError> {
        InspectedRefresh::inspect(&mut self.device, &mut self.journal, IDENTITY)
    }

    fn finish(&mut self) -> Result<(), RefreshError> {
        let Self { device, journal, salvage, .. } = self;
        let mut refresh = InspectedRefresh::inspect(device, journal, IDENTITY)?.resume(salvage)?;
        while refresh.step()?.is_some() {}
        Ok(())
    }

    /// Resumes, which must be refused without writing anything.
    #[track_caller]
    fn refuses(&mut self) -> RefreshError {
        let before = self.device.content().to_vec();
        let error = self.finish().unwrap_err();
        assert!(error.is_refusal() && self.device.content() == before, "{error}");
        error
    }
}

fn cuts() -> impl Iterator<Item = Cut> {
    let cuts: Vec<Cut> = (0..60).filter_map(Cut::new).collect();
    assert!(cuts.len() > 10, "{}", cuts.len());
    cuts.into_iter()
}

#[test]
fn whoever_left_a_mark_is_known_and_nothing_is_written() {
    for (index, mut cut) in cuts().enumerate() {
        let marks = witnesses(BYTES as u64, 512, &[]);
        let mark = &marks.as_slice()[index % marks.as_slice().len()];
        let at = mark.start as usize + 5;
        cut.device.scribble(at, &[cut.device.content()[at] ^ 1]);
        assert!(matches!(cut.refuses(), RefreshError::ChangedButWhole));
        // If a file was written over a chunk in flight, the saved chunk can still be extracted and compared.
        cut.device.scribble(FREE.start + 512, &[7; 1024]);
        let error = cut.refuses();
        assert!(matches!(error, RefreshError::Changed { sectors: 1 | 2, .. }), "{error}");
        let pieces = scan_saved_pieces(&mut cut.journal).unwrap();
        assert_eq!(pieces.len(), 2);
        let piece = pieces.iter().find(|piece| piece.range.contains(&(FREE.start as u64))).unwrap();
        let mut taken = Vec::new();
        piece.extract(&mut cut.journal, &mut taken).unwrap();
        assert_eq!(taken.len() as u64, piece.range.end - piece.range.start);
    }
}

#[test]
fn what_was_written_outside_of_chunks_in_flight_stays() {
    for mut cut in cuts() {
        let marks = witnesses(BYTES as u64, 512, &[]);
        let mut scribbled = cut.device.content().to_vec();
        for at in (0..BYTES).step_by(10 * 512) {
            let place = at as u64..at as u64 + 512;
            let overlaps = |other: &Range<u64>| other.start < place.end && place.start < other.end;
            if !cut.in_flight.iter().chain(marks.as_slice()).any(overlaps) {
                scribbled[at..at + 512].fill(0x5A);
                cut.device.scribble(at, &[0x5A; 512]);
            }
        }
        cut.finish().unwrap();
        assert!(cut.device.content() == scribbled);
        assert!(cut.salvage.is_empty());
    }
}

#[test]
fn what_no_witness_has_seen_is_kept() {
    for mut cut in cuts() {
        let before = cut.device.content().to_vec();
        cut.device.scribble(FREE.start + 512, &[7; 2048]);
        let places: Vec<_> =
            cut.inspect().unwrap().differences().map(|difference| difference.range.clone()).collect();
        let start = FREE.start as u64 + 512;
        assert!(places.len() == 1 && places[0] == (start..start + 2048), "{places:?}");
        cut.finish().unwrap();
        assert!(cut.device.content() == before, "it is restored");
        let [piece] = &scan_saved_pieces(&mut cut.salvage).unwrap()[..] else { panic!("one piece") };
        assert!(!piece.is_chunk && piece.range == (start..start + 2048));
        let mut taken = Vec::new();
        piece.extract(&mut cut.salvage, &mut taken).unwrap();
        assert_eq!(taken, [7; 2048]);
    }
}

#[test]
fn more_than_a_cut_tears_is_left_alone_without_the_owners_word() {
    for mut cut in cuts() {
        let before = cut.device.content().to_vec();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        let mut other = vec![0; FREE.len()];
        random.fill_bytes(&mut other);
        other[..random.random_range(0..4) * 512].fill(0);
        cut.device.scribble(FREE.start, &other);
        let error = cut.refuses();
        assert!(matches!(error, RefreshError::TooMuch { .. }), "{error}");
        let text = error.to_string();
        assert!(
            text.contains("Keep the journal") && !text.contains("confirm"),
            "no command confirms it: {text}"
        );
        let Cut { device, journal, salvage, .. } = &mut cut;
        let inspected =
            InspectedRefresh::inspect(device, journal, IDENTITY).unwrap().with_owner_confirmation();
        let mut refresh = inspected.resume(salvage).unwrap();
        while refresh.step().unwrap().is_some() {}
        assert!(cut.device.content() == before);
        let kept: u64 = scan_saved_pieces(&mut cut.salvage)
            .unwrap()
            .iter()
            .map(|piece| piece.range.end - piece.range.start)
            .sum();
        assert!(kept > FREE.len() as u64 / 2, "{kept}");
    }
}

#[test]
fn another_drive_is_refused() {
    let mut cut = cuts().next().unwrap();
    let mut other = VolatileDevice::new(vec![1; BYTES], 512, 1, &Power::default());
    let mut shorter = VolatileDevice::new(vec![1; BYTES / 2], 512, 1, &Power::default());
    for (device, identity) in [(&mut other, "another drive"), (&mut shorter, IDENTITY)] {
        let error = InspectedRefresh::inspect(device, &mut cut.journal, identity).unwrap_err();
        assert!(matches!(error, RefreshError::OtherStore { .. }), "{error}");
    }
    // A drive of the same name and size has other witnesses.
    let error = InspectedRefresh::inspect(&mut other, &mut cut.journal, IDENTITY).unwrap_err();
    assert!(matches!(error, RefreshError::Changed { .. }), "{error}");
}
