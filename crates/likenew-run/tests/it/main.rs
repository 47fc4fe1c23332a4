//! The loop, replays and the runner of procedures, on drives in memory.

mod compressors;
mod the_conductor;
mod the_loop;
mod the_replay;
mod the_silent_drive;
