//! What a measurement of a simulated drive from outside should find inside: one value for each property of an
//! X-ray, derived from the drive's parameters by what its layers do with them, never from a measurement.

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

/// The true value of one property of a drive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TrueValue {
    /// This word.
    Word(&'static str),
    /// This number, in the property's unit.
    Number(f64),
    /// It exists and nothing outside shows it for certain: finding nothing is right, and so is a number
    /// between these.
    Hidden {
        /// From here.
        low: f64,
        /// To here.
        high: f64,
    },
    /// It exists, and nothing outside shows it for certain.
    HiddenWord(&'static str),
    /// There is none, or it does not apply to such a drive.
    #[default]
    Absent,
}

impl TrueValue {
    /// A number, hidden unless it shows.
    fn number(number: f64, shows: bool) -> Self {
        if shows { Self::Number(number) } else { Self::Hidden { low: number, high: number } }
    }
}

/// The true internals of a drive. Every field is one row of an X-ray, in the order of its table.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Truth {
    /// `disk`, `shingled disk`, `flash` or `virtual`.
    pub medium: TrueValue,
    /// `page` (compressing or not), `hybrid` (BAST, FAST) or `block`; flash only.
    pub mapping: TrueValue,
    /// Bytes of a mapping unit: a shorter write costs reading the rest of it.
    pub map_page_bytes: TrueValue,
    /// Bytes from the host, written sequentially, between two erases of a die. Dies of a page map take
    /// program units in turn, so they come to the ends of their blocks together: a block's data pages on
    /// every die. With a block map: the cluster, which is one block on each of its dies.
    pub erase_unit_bytes: TrueValue,
    /// Bytes that are taken at the link's speed before the medium has to keep up: the whole pages of a write
    /// buffer, the write cache of a disk. Hidden where the flash programs nine tenths of what the link moves,
    /// so that the buffer never fills.
    pub write_buffer_bytes: TrueValue,
    /// Bytes that an empty drive takes at the speed of its pseudo-SLC cache. Static blocks first, then as
    /// many dynamic ones as fit the share of the space that is not reserved, on each die (see the simulator's
    /// documentation), and what the write buffer holds when they are full. Hidden on a used drive that
    /// nothing empties (dynamic cache and no TRIM).
    pub slc_cache_bytes: TrueValue,
    /// Bytes a second right after that: straight to native cells, or as fast as folding frees space.
    pub slc_speed_after_bytes_per_s: TrueValue,
    /// Nanoseconds of idle time after which half of it is back: until folding begins, and until half of the
    /// blocks of each die are folded; of a dynamic cache more than half, as folded data takes native space.
    pub slc_recovery_ns: TrueValue,
    /// Dies, or gangs, that read at the same time. Hidden where the drive takes too few commands at once, or
    /// where link, channels or firmware let fewer be busy; then from those to all of them.
    pub parallelism: TrueValue,
    /// Bytes that follow one another on one die when written sequentially: a program unit; a page of block
    /// maps. With a pseudo-SLC cache of rows shorter than a native unit, either of the two.
    pub stripe_bytes: TrueValue,
    /// (T − U)/U × 100 of page maps. T: all pages that can hold the host's data natively, without static SLC blocks
    /// and parity, the reserve and open blocks included.
    pub over_provisioning_percent: TrueValue,
    /// Whether it compresses data: `yes` or `no`.
    pub compression: TrueValue,
    /// `immediate`, `idle` or `ignored`; absent where the target announces none.
    pub trim: TrueValue,
    /// Nanoseconds of idle time after which the drive begins to free space: garbage-collects beyond its
    /// reserve, folds its SLC cache, merges its log blocks, cleans its bands.
    pub idle_collection_ns: TrueValue,
    /// Time of reading a page (4 KiB at least) of the oldest data alone, over that of reading one that was
    /// just written.
    pub old_data_read_ratio: TrueValue,
    /// Credits of a full bucket. Hidden where it was empty to begin with.
    pub token_bucket_ios: TrueValue,
    /// Bytes of addresses whose mappings fit the mapping cache.
    pub map_cache_bytes: TrueValue,
}

impl Truth {
    /// Of a drive that nothing is known of yet.
    fn unknown() -> Self {
        Self { compression: TrueValue::HiddenWord("no"), ..Self::default() }
    }

    /// The true internals of the drive of a spec.
    pub fn from_spec(spec: &Spec, model: &Model) -> Self {
        let model = &spec.in_situation(model);
        match &model.mechanism {
            Mechanism::Flash(flash) => flash::truth(spec, flash, model.faults.as_ref()),
            Mechanism::Disk(disk) => of_disk(spec, disk),
            Mechanism::Volume(volume) => of_volume(spec, volume),
        }
    }

    /// The keys of the properties, in the order of an X-ray's table.
    pub fn keys() -> [&'static str; 17] {
        Self::default().rows().map(|(key, ..)| key)
    }

    /// Key, unit (empty of words) and what it is, in the order of an X-ray's table.
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
    /// What whoever measures it should find.
    ///
    /// # Errors
    /// The same as for [`model`](Self::model).
    pub fn truth(&self) -> Result<Truth, SimError> {
        Ok(Truth::from_spec(&Spec::parse(&self.target())?, &self.model()?))
    }
}

/// A disk has one arm, moves whole tracks and has no erase blocks; a shingled one cleans when it is idle.
fn of_disk(spec: &Spec, disk: &DiskParameters) -> Truth {
    let cached = if spec.cache == Some(false) { 0 } else { disk.write_cache_bytes };
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

/// A volume limits the I/Os it admits, and has nothing else to show.
fn of_volume(spec: &Spec, volume: &VolumeParameters) -> Truth {
    let credits = volume.credits;
    let bursts = credits.burst_iops > credits.baseline_iops && credits.credits_max > 0;
    Truth {
        medium: TrueValue::Word("virtual"),
        // Reads of trimmed data take as long as all others.
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

/// One fact for each property of a generated drive; nothing for others.
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
