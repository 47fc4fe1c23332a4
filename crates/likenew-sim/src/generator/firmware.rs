//! What all flash drives have beside chips and map: firmware, aging, a past.

use super::chips::Chips;
use super::dice::Dice;
use super::file::File;
use super::link::Link;

/// The table `[firmware]` and what goes with it.
#[derive(Clone, Copy)]
pub(super) struct Firmware {
    read_command_ns: u64,
    write_command_ns: u64,
    pub(super) buffer_bytes: u64,
    idle_after_ns: u64,
    trim: &'static str,
    /// A bridge answers TRIM and drops it.
    drops_trim: bool,
}

impl Firmware {
    /// Firmware behind a link, with a buffer of so many bytes.
    pub(super) fn draw(dice: &mut Dice, link: &Link, buffer_bytes: u64) -> Self {
        let trim = dice.one_of(&["immediate", "immediate", "immediate", "lazy", "lazy", "ignored"]);
        Self {
            read_command_ns: link.command_ns(dice),
            write_command_ns: link.command_ns(dice),
            buffer_bytes,
            idle_after_ns: dice.steps(5e7, 5e9, 10_000_000),
            trim,
            drops_trim: trim == "immediate" && dice.chance(0.15),
        }
    }

    pub(super) fn write(&self, file: &mut File) {
        file.table("firmware");
        file.value("read_command_ns", self.read_command_ns);
        file.value("write_command_ns", self.write_command_ns);
        file.value("other_command_ns", self.write_command_ns);
        file.value("buffer_bytes", self.buffer_bytes);
        file.value("idle_after_ns", self.idle_after_ns);
        file.word("trim", self.trim);
        if self.drops_trim {
            file.table("faults");
            file.word("trim", "dropped");
        }
    }
}

/// A buffer of 64 KiB to 64 MiB in whole pages of the map, that holds at least two units, and mostly one for each die; but
/// never so large that what the dies do at the end of their blocks is lost in it.
pub(super) fn draw_buffer(
    dice: &mut Dice,
    chips: &Chips,
    page_bytes: u64,
    unit_bytes: u64,
    most: u64,
) -> u64 {
    let all_dies = (chips.programs_max + 1) * unit_bytes;
    let least = if dice.chance(0.85) { all_dies.max(2 * unit_bytes) } else { 2 * unit_bytes };
    let most = most.clamp(2 * unit_bytes, 64 << 20);
    let low = least.min(most).max(65_536);
    let bytes = dice.log(low as f64, most.max(low + low / 2) as f64) as u64;
    // A number that is no power of two says more about who measures it.
    bytes.next_multiple_of(page_bytes).max(2 * unit_bytes)
}

/// How data of this drive gets old, if it does, and what it has been through.
pub(super) struct GeneratedTreatment {
    /// Onset in seconds, retries a tenfold age, retries at most.
    aging: Option<(u64, u64, u64)>,
    /// As after the question mark of a target.
    pub(super) state: String,
    overwritten_share: f64,
}

impl GeneratedTreatment {
    /// Overwritten for a share of what it holds, at most so much.
    pub(super) fn draw(dice: &mut Dice, chips: &Chips, overwritten_share: (f64, f64)) -> Self {
        const DAY_S: u64 = 86_400;
        let ages = chips.technology.bits > 1;
        let aging = (ages && dice.chance(0.6))
            .then(|| (dice.integer(1..=20) * DAY_S, dice.integer(3..=12), dice.integer(6..=24)));
        let state = match dice.integer(0..=9) {
            0..=4 => String::new(),
            5..=6 => "state=used".to_owned(),
            _ => format!("state=used&age={}d", dice.integer(60..=720)),
        };
        let (low, high) = overwritten_share;
        let overwritten_share = (dice.log(low, high) * 1e4).round() / 1e4;
        Self { aging, state, overwritten_share }
    }

    pub(super) fn write(&self, file: &mut File) {
        if let Some((onset_s, retries_per_decade, retries_max)) = self.aging {
            file.table("aging");
            file.value("onset_s", onset_s);
            file.value("retries_per_decade", retries_per_decade);
            file.value("retries_max", retries_max);
        }
        file.table("used");
        file.value("overwritten_share", self.overwritten_share);
    }
}
