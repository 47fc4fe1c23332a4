//! Rated figures of sold drives, what is usual for their class, limits of cloud volumes, and known firmware
//! faults. They come from `catalog/rated`, where each has a source. This crate looks up and compares; whether
//! a drive is slow is decided elsewhere.

mod book;
mod class;
mod firmware;
#[cfg(test)]
mod reading;
mod volume;

use std::sync::LazyLock;

use likenew_core::facts::Drive;
use wildmatch::WildMatch;

pub use book::{Book, FirmwareFault, Link, Medium, Memory, Product, RatedDrive, Review, Volume};
pub use class::{Class, Figure, Usual, usual, usual_for};
pub use firmware::{firmware_faults, firmware_faults_of};
pub use volume::{LimitKind, Limits, volumes};

/// Share by which a reported capacity may differ from that as sold. Beyond it, as with a hidden part or
/// another unit, it is another drive.
const CAPACITY: f64 = 0.01;
/// The same for sticks and cards, whose makers count part of the spare flash.
const CAPACITY_OF_STICKS: f64 = 0.1;
/// Characters of a model that SCSI reports (INQUIRY, SPC-4); some systems show no more of an ATA drive.
const INQUIRY: usize = 16;

/// All files of `catalog/rated`.
pub fn book() -> &'static Book {
    static BOOK: LazyLock<Book> = LazyLock::new(|| {
        postcard::from_bytes(include_bytes!(concat!(env!("OUT_DIR"), "/rated.bin")))
            .expect("it was written by the same build")
    });
    &BOOK
}

/// A drive of one capacity, and its product.
#[derive(Clone, Copy, Debug)]
pub struct Rated {
    /// What is common to all capacities.
    pub product: &'static Product,
    /// What is rated for this capacity.
    pub drive: &'static RatedDrive,
}

impl Rated {
    /// Address of the text that has the figures.
    pub fn source(&self) -> &'static str {
        self.drive.source.as_ref().unwrap_or(&self.product.source)
    }

    /// Whether it has this capacity, in bytes; true if either capacity is unknown.
    fn is_as_large(&self, capacity_bytes: Option<u64>) -> bool {
        let (Some(gb), Some(bytes)) = (self.drive.gb, capacity_bytes) else { return true };
        let is_stick = matches!(self.product.link, Some(Link::Sd | Link::Emmc)) || self.product.stick;
        let tolerance = if is_stick { CAPACITY_OF_STICKS } else { CAPACITY };
        (bytes as f64 / (gb * 1e9) - 1.0).abs() <= tolerance
    }
}

/// A drive, and the patterns that its model may match.
struct Line {
    rated: Rated,
    patterns: Vec<(String, WildMatch)>,
}

/// Every drive, in the order of the files.
static LINES: LazyLock<Vec<Line>> = LazyLock::new(|| {
    let matcher = |pattern: &str| (book::plain(pattern), WildMatch::new(&book::plain(pattern)));
    all().map(|rated| Line { rated, patterns: rated.drive.patterns().map(matcher).collect() }).collect()
});

/// Every drive with its product.
fn all() -> impl Iterator<Item = Rated> {
    let drives = |product: &'static Product| product.drives.iter().map(move |drive| Rated { product, drive });
    book().products.iter().flat_map(drives)
}

/// The drives whose model this may be, of any capacity.
fn named(model: &str) -> Vec<Rated> {
    let model = book::plain(model);
    let is_named = |line: &&Line| line.patterns.iter().any(|(_, pattern)| pattern.matches(&model));
    LINES.iter().filter(is_named).map(|line| line.rated).collect()
}

/// The drive that reports this model and capacity; `None` if none does, or more than one. A line without a
/// capacity stands for those that no other line has.
pub fn by_reported_model(model: &str, capacity_bytes: Option<u64>) -> Option<Rated> {
    let named = named(model);
    let of_size = named.iter().filter(|rated| rated.drive.gb.is_some() && rated.is_as_large(capacity_bytes));
    match (only(of_size), named.is_empty()) {
        (Some(rated), _) => rated.ok().copied(),
        (None, false) => only(named.iter().filter(|rated| rated.drive.gb.is_none()))?.ok().copied(),
        (None, true) if model.len() == INQUIRY => by_inquiry(model, capacity_bytes?),
        (None, true) => None,
    }
}

/// The only item; `None` if there is none, and an error if there are several.
fn only<T>(mut items: impl Iterator<Item = T>) -> Option<Result<T, ()>> {
    let first = items.next()?;
    Some(if items.next().is_none() { Ok(first) } else { Err(()) })
}

/// Finds a drive by the first characters of its model, if these and the capacity leave one.
fn by_inquiry(model: &str, capacity_bytes: u64) -> Option<Rated> {
    let first = book::plain(model);
    let begins = |line: &&Line| line.patterns.iter().any(|(pattern, _)| pattern.starts_with(&first));
    let candidates = LINES.iter().filter(begins).map(|line| line.rated);
    only(candidates.filter(|rated| rated.drive.gb.is_some() && rated.is_as_large(Some(capacity_bytes))))?.ok()
}

/// The rated drive behind these facts; `None` for a drive of a hypervisor or a cloud.
pub fn of_drive(drive: &Drive) -> Option<Rated> {
    let model = drive.identity.model.value().filter(|_| drive.is_real())?;
    by_reported_model(model, drive.identity.capacity_bytes.get())
}

#[cfg(test)]
mod tests;
