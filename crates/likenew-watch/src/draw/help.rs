//! The keys, and what the numbers are.

use ratatui_core::layout::Rect;
use ratatui_core::style::Style;

use super::Canvas;

/// The keys first: a small terminal shows only them.
const LINES: [&str; 21] = [
    "↑ ↓ PgUp PgDn   choose a drive        Enter   its pictures, facts and layers",
    "< >             sort by a column      r       reverse the order",
    "/               filter by text        Esc     takes the filter away, goes back",
    "space           freeze, resume        + -     longer, shorter interval",
    "u               MB/s or MiB/s         q       quit",
    "a               also idle loop devices and empty slots",
    "p               also partitions",
    "",
    "MB/s     1,000,000 bytes a second that ended in the interval; MiB/s 1,048,576",
    "IOPS     I/Os per s at the device: adjacent requests may have been merged",
    "latency  mean from entering the queue to the end. The kernel counts whole ms:",
    "         < all together took less than one, ~ fewer than ten, so it is rough",
    "queue    mean number in flight; an I/O counts as a whole when it ends",
    "busy     share of time with something in flight. What serves many at once still",
    "         has more to give at 100%: only a drive that serves QD1 is full then",
    "waiting  I/Os are in flight and nothing has ended for that long",
    "trim     discards; what of them reaches the flash is the drive's own business",
    "°C       what the driver says, asked for every 10 s",
    "",
    "The sums above are of drives alone: layers and partitions count the same again.",
    "Programs that read from the page cache cause no I/O here.",
];

pub(super) fn draw(area: Rect, canvas: &mut Canvas) {
    for (line, text) in LINES.iter().take(usize::from(area.height)).enumerate() {
        canvas.put(0, area.y + line as u16, area.width, text, Style::new());
    }
}
