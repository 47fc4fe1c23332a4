//! Speed and latency along an axis, in constant memory.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Cells of equal width along an axis (time since the start, or bytes moved since the start). When the axis
/// grows beyond [`Windows::CELLS_MAX`] cells, pairs of cells are merged and the width doubles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Windows {
    /// Width of a cell, in the unit of the axis (nanoseconds or bytes).
    pub width: u64,
    /// From the start of the axis, without gaps.
    pub cells: Vec<Cell>,
}

/// What ended within one cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cell {
    /// I/Os that ended.
    pub ios: u64,
    /// Bytes they moved.
    pub bytes: u64,
    /// Sum of their latencies, in nanoseconds.
    pub latency_ns_sum: u64,
    /// The longest latency among them, in nanoseconds.
    pub latency_ns_max: u64,
    /// When the last of them ended, on the drive's clock.
    pub last: Nanos,
}

impl Cell {
    fn add(&mut self, bytes: u64, latency: Nanos, done: Nanos) {
        self.ios += 1;
        self.bytes += bytes;
        self.latency_ns_sum += latency.0;
        self.latency_ns_max = self.latency_ns_max.max(latency.0);
        self.last = self.last.max(done);
    }

    fn merge(&mut self, other: &Self) {
        self.ios += other.ios;
        self.bytes += other.bytes;
        self.latency_ns_sum += other.latency_ns_sum;
        self.latency_ns_max = self.latency_ns_max.max(other.latency_ns_max);
        self.last = self.last.max(other.last);
    }
}

impl Windows {
    /// More cells than this are never kept.
    pub const CELLS_MAX: usize = 2048;

    /// An empty axis with cells of this width.
    pub fn new(width: u64) -> Self {
        assert!(width > 0, "a window has a width");
        Self { width, cells: Vec::new() }
    }

    /// Counts one I/O at `position` on the axis.
    #[inline]
    pub fn add(&mut self, position: u64, bytes: u64, latency: Nanos, done: Nanos) {
        // Positions mostly grow, so the last cell is the usual place and needs no division.
        let last = self.cells.len().wrapping_sub(1);
        if last != usize::MAX && position.wrapping_sub(last as u64 * self.width) < self.width {
            return self.cells[last].add(bytes, latency, done);
        }
        self.cell_at(position).add(bytes, latency, done);
    }

    fn cell_at(&mut self, position: u64) -> &mut Cell {
        while position / self.width >= Self::CELLS_MAX as u64 {
            self.coarsen();
        }
        let index = (position / self.width) as usize;
        if index >= self.cells.len() {
            self.cells.resize(index + 1, Cell::default());
        }
        &mut self.cells[index]
    }

    fn coarsen(&mut self) {
        self.width *= 2;
        let merged = self.cells.chunks(2).map(|pair| {
            let mut cell = pair[0];
            pair.iter().skip(1).for_each(|other| cell.merge(other));
            cell
        });
        self.cells = merged.collect();
    }

    /// Adds what another lane counted on the same axis.
    pub fn merge(&mut self, mut other: Self) {
        while self.width < other.width {
            self.coarsen();
        }
        while other.width < self.width {
            other.coarsen();
        }
        assert_eq!(self.width, other.width, "lanes count in windows of widths that are a power of two apart");
        if self.cells.len() < other.cells.len() {
            std::mem::swap(self, &mut other);
        }
        for (mine, theirs) in self.cells.iter_mut().zip(&other.cells) {
            mine.merge(theirs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(windows: &Windows) -> (u64, u64) {
        (windows.cells.iter().map(|c| c.ios).sum(), windows.cells.iter().map(|c| c.bytes).sum())
    }

    #[test]
    fn a_long_axis_keeps_its_memory_and_its_totals() {
        let mut windows = Windows::new(10);
        for position in 0..1_000_000 {
            windows.add(position, 3, Nanos(position), Nanos(position));
        }
        assert!(windows.cells.len() <= Windows::CELLS_MAX);
        assert_eq!(windows.width, 640);
        assert_eq!(total(&windows), (1_000_000, 3_000_000));
        assert_eq!(windows.cells[0].latency_ns_max, 639);
    }

    proptest! {
        #[test]
        fn merging_loses_nothing(a in prop::collection::vec(0u64..100_000, 0..200), b in prop::collection::vec(0u64..10_000_000, 0..200)) {
            let fill = |positions: &[u64]| {
                let mut windows = Windows::new(10);
                for &position in positions {
                    windows.add(position, 1, Nanos(1), Nanos(position));
                }
                windows
            };
            let mut merged = fill(&a);
            merged.merge(fill(&b));
            prop_assert_eq!(total(&merged).0, (a.len() + b.len()) as u64);
            let both: Vec<u64> = a.iter().chain(&b).copied().collect();
            let together = fill(&both);
            prop_assert_eq!(merged.cells, together.cells);
        }
    }
}
