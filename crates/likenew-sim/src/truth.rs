//! What `xray` should find inside a simulated drive: a true value for each property, derived from the drive's
//! parameters and never from a measurement.

mod causes;
mod flash;

use likenew_core::units::{Nanos, three_digits};

use crate::disk::DiskParameters;
use crate::error::SimError;
use crate::explain::{Fact, Value};
use crate::generator::GeneratedDrive;
use crate::model::{Mechanism, Model};
use crate::spec::{Spec, SpecName};
use crate::state::State;
use crate::volume::VolumeParameters;
use crate::wording;

pub use causes::causes;
pub(crate) use causes::trims_nothing;

/// The true value of a property.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TrueValue {
    /// This word.
    Word(&'static str),
    /// This number, in the unit of the property.
    Number(f64),
    /// The property exists, but nothing outside reveals it for sure. Finding nothing is right, and so is a
    /// number in this range.
    Hidden {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// The property is this word, but nothing outside reveals it for sure.
    HiddenWord(&'static str),
    /// The drive has no such property.
    #[default]
    Absent,
}

impl TrueValue {
    /// A number, or a hidden one unless it `shows`.
    fn number(number: f64, shows: bool) -> Self {
        if shows { Self::Number(number) } else { Self::Hidden { low: number, high: number } }
    }
}

/// The true internals of a drive. Each field is one row of `xray`, in the order of its table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Truth {
    /// `disk`, `shingled disk`, `flash` or `virtual`.
    pub medium: TrueValue,
    /// `page` (with or without compression), `hybrid` (BAST, FAST) or `block`; flash only.
    pub mapping: TrueValue,
    /// Bytes per mapping unit. Shorter writes cost a read of the rest.
    pub map_page_bytes: TrueValue,
    /// Bytes of sequential host writes between two erases of a die. With a page map, all dies reach the ends
    /// of their blocks together, so it is a block's data pages on every die. With a block map it is a
    /// cluster, one block on each of its dies.
    pub erase_unit_bytes: TrueValue,
    /// Bytes accepted at link speed before the medium has to keep up: the whole pages of a write buffer, or a
    /// disk's write cache. Hidden if flash programs at nine tenths of the link's rate or more, as the buffer
    /// never fills then.
    pub write_buffer_bytes: TrueValue,
    /// Bytes that an empty drive takes at the speed of its pseudo-SLC cache. On each die, static blocks come
    /// first, then as many dynamic ones as fit the share of the unreserved space (see the simulator's
    /// documentation). Data in the write buffer when these are full counts, too. Hidden on a used drive that
    /// nothing empties (dynamic cache and no TRIM).
    pub slc_cache_bytes: TrueValue,
    /// Bytes per second right after that: directly to native cells, or as fast as folding frees space.
    pub slc_speed_after_bytes_per_s: TrueValue,
    /// Idle time in nanoseconds until half of the cache is back: until folding begins, and until half of each die's
    /// blocks are folded. With a dynamic cache more than half must be folded, as folded data takes native space.
    pub slc_recovery_ns: TrueValue,
    /// Dies, or gangs, that read at the same time. Hidden if the drive takes too few commands at once, or if
    /// link, channels or firmware keep fewer dies busy. The range then goes from that number to all dies.
    pub parallelism: TrueValue,
    /// Consecutive bytes on one die in a sequential write: a program unit, or a page with a block map. With a
    /// pseudo-SLC cache whose rows are shorter than a native unit, it may be either.
    pub stripe_bytes: TrueValue,
    /// (T − U)/U × 100 with a page map. T counts all pages that can hold host data natively, including the
    /// reserve and open blocks, but not static SLC blocks or parity.
    pub over_provisioning_percent: TrueValue,
    /// Whether it compresses data: `yes` or `no`.
    pub compression: TrueValue,
    /// `immediate`, `idle` or `ignored`; absent if the target announces no TRIM.
    pub trim: TrueValue,
    /// Idle time in nanoseconds after which the drive begins to free space: garbage-collects beyond its
    /// reserve, folds its SLC cache, merges log blocks, or cleans bands.
    pub idle_collection_ns: TrueValue,
    /// Time of a single read of a page (at least 4 KiB) of the oldest data, over that of a page just written.
    pub old_data_read_ratio: TrueValue,
    /// Credits in a full bucket. Hidden if the bucket is empty at first.
    pub token_bucket_ios: TrueValue,
    /// Bytes of address space whose mappings fit the mapping cache.
    pub map_cache_bytes: TrueValue,
}

impl Truth {
    /// Every property absent, as a start.
    fn unknown() -> Self {
        Self { compression: TrueValue::HiddenWord("no"), ..Self::default() }
    }

    /// The true internals of a spec's drive.
    pub fn from_spec(spec: &Spec, model: &Model) -> Self {
        let model = &spec.in_situation(model);
        match &model.mechanism {
            Mechanism::Flash(flash) => flash::truth(spec, flash, model.faults.as_ref()),
            Mechanism::Disk(disk) => of_disk(spec, disk),
            Mechanism::Volume(volume) => of_volume(spec, volume),
        }
    }

    /// Keys of the properties, in the order of the table of `xray`.
    pub fn keys() -> [&'static str; 17] {
        Self::default().rows().map(|(key, ..)| key)
    }

    /// Key, unit (empty for words) and value of each property, in the order of the table of `xray`.
    pub fn rows(&self) -> [(&'static str, &'static str, TrueValue); 17] {
        [
            ("medium", "", self.medium),
            ("mapping", "", self.mapping),
            ("map_page_bytes", "bytes", self.map_page_bytes),
            ("erase_unit_bytes", "bytes", self.erase_unit_bytes),
            ("write_buffer_bytes", "bytes", self.write_buffer_bytes),
            ("slc_cache_bytes", "bytes", self.slc_cache_bytes),
            ("slc_speed_after_bytes_per_s", "bytes/s", self.slc_speed_after_bytes_per_s),
            ("slc_recovery_ns", "ns", self.slc_recovery_ns),
            ("parallelism", "1", self.parallelism),
            ("stripe_bytes", "bytes", self.stripe_bytes),
            ("over_provisioning_percent", "%", self.over_provisioning_percent),
            ("compression", "", self.compression),
            ("trim", "", self.trim),
            ("idle_collection_ns", "ns", self.idle_collection_ns),
            ("old_data_read_ratio", "1", self.old_data_read_ratio),
            ("token_bucket_ios", "1", self.token_bucket_ios),
            ("map_cache_bytes", "bytes", self.map_cache_bytes),
        ]
    }
}

impl GeneratedDrive {
    /// What a measurement should find.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model).
    pub fn truth(&self) -> Result<Truth, SimError> {
        Ok(Truth::from_spec(&Spec::parse(&self.target())?, &self.model()?))
    }
}

/// A disk has one arm, moves whole tracks and has no erase blocks; a shingled one cleans when idle.
fn of_disk(spec: &Spec, disk: &DiskParameters) -> Truth {
    let cached = if spec.cache == Some(false) { 0 } else { disk.cache.write_cache_bytes };
    Truth {
        medium: TrueValue::Word(if disk.shingles.is_some() { "shingled disk" } else { "disk" }),
        write_buffer_bytes: if cached == 0 { TrueValue::Absent } else { TrueValue::Number(cached as f64) },
        idle_collection_ns: disk
            .shingles
            .map_or(TrueValue::Absent, |shingles| TrueValue::Number(shingles.idle_after.0 as f64)),
        parallelism: TrueValue::Hidden { low: 1.0, high: 1.0 },
        ..Truth::unknown()
    }
}

/// A volume limits the I/Os that it admits, and shows nothing else.
fn of_volume(spec: &Spec, volume: &VolumeParameters) -> Truth {
    let credits = volume.credits;
    let bursts = credits.burst_iops > credits.baseline_iops && credits.credits_max > 0;
    Truth {
        medium: TrueValue::Word("virtual"),
        // Reads of trimmed data take as long as others.
        trim: if spec.trim.unwrap_or(volume.trims) {
            TrueValue::HiddenWord("immediate")
        } else {
            TrueValue::Absent
        },
        token_bucket_ios: if bursts {
            TrueValue::number(credits.credits_max as f64, spec.state == State::New)
        } else {
            TrueValue::Absent
        },
        parallelism: TrueValue::Hidden { low: 1.0, high: f64::from(volume.link.command_slots) },
        ..Truth::unknown()
    }
}

/// One fact per property of a generated drive; none for other drives.
pub(crate) fn inside(spec: &Spec, model: &Model) -> Vec<Fact> {
    if !matches!(spec.drive, SpecName::Generated(_)) {
        return Vec::new();
    }
    let rows = Truth::from_spec(spec, model).rows();
    rows.into_iter().map(|(key, unit, inside)| Fact::new(key, value(unit, inside))).collect()
}

fn value(unit: &str, inside: TrueValue) -> Value {
    match inside {
        TrueValue::Word(word) => Value::text(word),
        TrueValue::Number(number) => amount(unit, number),
        TrueValue::Hidden { low, high } if low == high => {
            Value::Text(wording::hidden(&amount(unit, low).to_string()))
        }
        TrueValue::Hidden { low, high } => {
            Value::Text(format!("{} to {}", amount(unit, low), amount(unit, high)))
        }
        TrueValue::HiddenWord(word) => Value::Text(wording::hidden(word)),
        TrueValue::Absent => Value::text("none"),
    }
}

fn amount(unit: &str, number: f64) -> Value {
    match unit {
        "bytes" => Value::Bytes(number.round() as u64),
        "bytes/s" => Value::BytesPerSecond(number),
        "ns" => Value::Span(Nanos(number.round() as u64)),
        "%" => Value::Share(number / 100.0),
        _ => Value::Text(three_digits(number)),
    }
}
